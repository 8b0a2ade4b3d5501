"""Cycles of Slurm's backfill loop: the table of plans, when a job could start, and what a cycle decides."""

import random
from itertools import pairwise
from pathlib import Path

import pytest

import faultsim as fs
from faultsim.reference.slurm.backfill import CycleDecisions, backfill_cycle
from faultsim.reference.slurm.node_space import NodeSpace
from faultsim.reference.slurm.state import Ask, Reserved, Running, SlurmNodes, State, Waiting

CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/multifactor
NodeName=n[1-4] CPUs=8 Weight=1
PartitionName=batch Nodes=n[1-4] Default=YES MaxTime=600
{more}
"""


def site_of(tmp_path: Path, more: str = "") -> SlurmNodes:
    """Four nodes of eight cores."""
    path = tmp_path / "slurm.conf"
    path.write_text(CONF.format(more=more))
    return SlurmNodes(fs.read_slurm_conf(path))


def running(number: int, nodes: list[int], end: float, cpus: int = 8) -> Running:
    """A job whose limit ends at a time."""
    each = [cpus] * len(nodes)
    return Running(number, "batch", 0.0, end / 60, nodes, each, [0] * len(nodes), [{} for _ in nodes])


def waiting(number: int, nodes: int, limit: float, cpus: int = 8, priority: int = 0) -> Waiting:
    """A job of some nodes with as many cores on each."""
    ask = Ask(min_nodes=nodes, max_nodes=nodes, tasks=nodes * cpus)
    return Waiting(number, ask, partitions=("batch",), limit=limit, priority={"": priority or 100 - number})


def shown(done: CycleDecisions) -> tuple[list[tuple[int, list[int]]], list[tuple[int, float, list[int]]]]:
    """Starts and plans."""
    starts = [(each.job, each.nodes) for each in done.started]
    return starts, [(each.job, each.start, each.nodes) for each in done.plans]


def test_a_short_job_starts_before_the_plan_of_a_large_one(tmp_path: Path) -> None:
    """The large job waits for the node that runs; what ends before its start may begin, what does not waits."""
    state = State(site_of(tmp_path), waiting=[waiting(1, 4, 10), waiting(2, 1, 9), waiting(3, 1, 11)],
                  running=[running(9, [0], 600.0)])  # fmt: skip
    starts, plans = shown(backfill_cycle(state, 0.0))
    assert starts == [(2, [1])]
    assert plans == [(1, 600.0, [0, 1, 2, 3]), (3, 1200.0, [2])]


def test_plans_are_late_by_the_window_in_which_ends_are_taken_together(tmp_path: Path) -> None:
    """One node is needed and free at 610 s; the end at 625 s is in the same window, so the plan is for 625 s."""
    jobs = [running(8, [0, 1], 610.0), running(9, [2, 3], 625.0)]
    _, plans = shown(backfill_cycle(State(site_of(tmp_path), waiting=[waiting(1, 1, 5)], running=jobs), 0.0))
    assert plans == [(1, 625.0, [0])]


def test_a_node_in_clean_up_puts_a_start_off_by_a_second(tmp_path: Path) -> None:
    """The job is planned for the next second."""
    state = State(site_of(tmp_path), waiting=[waiting(1, 4, 5)], cleaning={3})
    assert shown(backfill_cycle(state, 7.0)) == ([], [(1, 8.0, [0, 1, 2, 3])])


def test_a_job_stays_off_a_reservation_that_its_limit_reaches(tmp_path: Path) -> None:
    """A short one starts before it; a long one is planned a second after its end, rounded up."""
    reserved = Reserved("maint", frozenset(range(4)), 600.0, 1230.0, maintenance=True)
    state = State(site_of(tmp_path), waiting=[waiting(1, 4, 10), waiting(2, 4, 11)], reservations=[reserved])
    starts, plans = shown(backfill_cycle(state, 0.0))
    assert starts == [(1, [0, 1, 2, 3])]
    assert plans == [(2, 1230.0, [0, 1, 2, 3])]


@pytest.mark.parametrize(("busy", "planned"), [("", [0, 1]), ("SchedulerParameters=bf_busy_nodes", [0, 1, 2])])
def test_with_busy_nodes_first_one_idle_node_more_is_taken(tmp_path: Path, busy: str, planned: list[int]) -> None:
    """Nodes 0 and 1, which are in use, are enough when they are free; of the idle ones Slurm takes one on top."""
    jobs = [running(8, [0], 600.0), running(9, [1], 600.0), running(7, [3], 6000.0)]
    job = Waiting(1, Ask(min_nodes=1, max_nodes=0, tasks=16), partitions=("batch",), limit=5.0, priority={"": 1})
    _, plans = shown(backfill_cycle(State(site_of(tmp_path, busy), waiting=[job], running=jobs), 0.0))
    assert plans == [(1, 600.0, planned)]


@pytest.mark.parametrize(
    ("more", "tested"),
    [
        ("", 6),
        ("SchedulerParameters=bf_max_job_test=2", 2),
        ("SchedulerParameters=bf_max_job_part=3", 3),
        ("SchedulerParameters=bf_node_space_size=1", 1),
    ],
)
def test_a_cycle_ends_early(tmp_path: Path, more: str, tested: int) -> None:
    """After so many jobs, or slots of its table."""
    state = State(site_of(tmp_path, more), waiting=[waiting(job, 4, 5) for job in range(1, 7)],
                  running=[running(9, [0], 600.0)])  # fmt: skip
    assert len(backfill_cycle(state, 0.0).plans) == tested


def test_jobs_below_a_priority_get_no_plan(tmp_path: Path) -> None:
    """They only start now."""
    site = site_of(tmp_path, "SchedulerParameters=bf_min_prio_reserve=50")
    state = State(site, waiting=[waiting(1, 4, 5, priority=60), waiting(2, 4, 5, priority=40),
                                 waiting(3, 1, 5, priority=30)], running=[running(9, [0], 600.0)])  # fmt: skip
    starts, plans = shown(backfill_cycle(state, 0.0))
    assert [job for job, _ in starts] == [3]
    assert [job for job, _, _ in plans] == [1]


def test_a_window_ends_plans(tmp_path: Path) -> None:
    """A job that would start behind the window has none."""
    site = site_of(tmp_path, "SchedulerParameters=bf_window=5")
    state = State(site, waiting=[waiting(1, 4, 5)], running=[running(9, [0], 600.0)])
    assert shown(backfill_cycle(state, 0.0)) == ([], [])


@pytest.mark.parametrize("seed", range(30))
def test_the_table_is_what_its_plans_leave(seed: int) -> None:
    """At every second a node is free if no plan holds it."""
    draw = random.Random(seed)
    space = NodeSpace(0.0, 100.0, frozenset(range(5)))
    plans: list[tuple[float, float, set[int]]] = []
    for _ in range(12):
        begin, end = sorted((draw.randrange(0, 100), draw.randrange(0, 120)))
        nodes = set(draw.sample(range(5), draw.randint(1, 3)))
        free = all(not (a < end and begin < b and nodes & held) for a, b, held in plans)
        assert space.collides(begin, end, nodes) == (not free)
        if free and end > begin:
            space.add(begin, end, nodes, 1.0)
            plans.append((begin, end, nodes))
    slots = list(space)
    assert all(one.end == two.begin for one, two in pairwise(slots))
    for second in range(100):
        slot = next(slot for slot in slots if slot.begin <= second < slot.end)
        held = set().union(*(nodes for begin, end, nodes in plans if begin <= second < end), set())
        assert slot.nodes == set(range(5)) - held


@pytest.mark.parametrize("seed", range(40))
def test_no_start_delays_the_plan_of_a_job_before_it(tmp_path: Path, seed: int) -> None:
    """Whole-node jobs that end at their limits: with all starts of the cycle, every plan is possible at its time."""
    draw = random.Random(seed)
    jobs, at = [], 0
    while at < 4 and draw.random() < 0.8:
        size = draw.randint(1, min(2, 4 - at))
        jobs.append(running(100 + at, list(range(at, at + size)), 60.0 * draw.randint(1, 20)))
        at += size
    queue = [waiting(job, draw.randint(1, 4), draw.randint(1, 20)) for job in range(1, 9)]
    done = backfill_cycle(State(site_of(tmp_path), waiting=queue, running=jobs), 0.0)
    limits = {job.job: 60.0 * job.limit for job in queue}
    assert {each.job for each in done.started}.isdisjoint(each.job for each in done.plans)
    for plan in done.plans:
        for run in (*jobs, *done.started):
            assert run.end <= plan.start or set(run.nodes).isdisjoint(plan.nodes)
        for other in done.plans:
            begin, end = plan.start // 60 * 60, (plan.start + limits[plan.job]) // 60 * 60
            apart = other.start // 60 * 60 >= end or (other.start + limits[other.job]) // 60 * 60 <= begin
            assert other is plan or apart or set(other.nodes).isdisjoint(plan.nodes)


def test_limits_count_the_gpus_of_a_plan(tmp_path: Path) -> None:
    """All four GPUs are in use now; a plan for four of them is above the three that a user may have."""
    conf, accounts = tmp_path / "slurm.conf", tmp_path / "accounts.txt"
    conf.write_text(
        "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nAccountingStorageEnforce=associations,limits,qos\n"
        "NodeName=g1 CPUs=8 Gres=gpu:4\nPartitionName=batch Nodes=g1 Default=YES MaxTime=600\n"
    )
    accounts.write_text(
        "add account a\nadd qos few MaxTRESPerUser=gres/gpu=3\nadd user u account=a qos=few defaultqos=few\n"
    )
    site = SlurmNodes(fs.read_slurm_conf(conf, [accounts]))
    busy = Running(9, "batch", 0.0, 10.0, [0], [8], [0], [{"": 4}])
    for gpus, count in ((4, 0), (3, 1)):
        job = Waiting(
            1, Ask(gpus=gpus), user="u", account="a", qos="few", partitions=("batch",), limit=5.0, priority={"": 1}
        )
        _, plans = shown(backfill_cycle(State(site, waiting=[job], running=[busy]), 0.0))
        assert len(plans) == count


def plans_of_array(site: SlurmNodes, nodes: int, elements: int) -> list[tuple[int, float, list[int]]]:
    """Plans of an array of jobs of five minutes, where all nodes are in use until 600 s."""
    ask = Ask(min_nodes=nodes, max_nodes=nodes, tasks=8 * nodes)
    array = Waiting(1, ask, partitions=("batch",), limit=5.0, priority={"": 9}, array=1, left=elements, free=-1)
    starts, plans = shown(backfill_cycle(State(site, waiting=[array], running=[running(9, [0, 1, 2, 3], 600.0)]), 0.0))
    assert starts == []
    return plans


def test_elements_of_arrays_count_one_by_one(tmp_path: Path) -> None:
    """Of four elements two are looked at with bf_max_job_part=2, and planned."""
    plans = plans_of_array(site_of(tmp_path, "SchedulerParameters=bf_max_job_part=2"), 1, 4)
    assert [job for job, _, _ in plans] == [1, 1]


def test_one_plan_is_for_each_element_of_an_array(tmp_path: Path) -> None:
    """bf_one_resv_per_job is about the partitions of a job: the second element does not take the nodes of the first."""
    plans = plans_of_array(site_of(tmp_path, "SchedulerParameters=bf_one_resv_per_job"), 4, 2)
    assert [start for _, start, _ in plans] == [600.0, 900.0]
