"""Both engines agree on sites whose nodes jobs share: random runs with failures, checkpoints and all placements."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from helpers.conditions import with_conditions
from helpers.engines import assert_same
from helpers.site_runs import both, drawn_log, drawn_run, drawn_site
from helpers.thresholds import at, least


@pytest.mark.parametrize("part", range(8))
def test_both_engines_agree(part):
    rng = np.random.default_rng([44, part])
    for _ in range(15):
        run = drawn_run(rng, int(rng.integers(2, 40)))
        assert_same(*both(run))


@pytest.mark.parametrize("part", range(4))
def test_a_shadow_that_is_kept_is_the_first(part):
    """Long queues behind one head, of jobs that leave early, in time or late, with releases in chunks of two."""
    rng = np.random.default_rng([447, part])
    for _ in range(12):
        site = drawn_site(rng)
        log = drawn_log(rng, site, 90)
        log = log._derived(submit=np.sort(rng.integers(0, 90, 90)).astype(float))
        order = ["arrival", "shortest"][rng.integers(2)]
        delay = float(rng.integers(0, 3))
        run = fs.Run(log, site, scheduler=fs.EasyBackfill(order), start_delay=delay, oversized="drop", record=True)
        with least() if rng.random() < 0.5 else at(releases_room=2):
            assert_same(*both(run))


def whole_nodes_run(rng, n):
    """Jobs that take all cores of equal nodes, some in numbers of cores; nodes fail."""
    count, cores, gpus = int(rng.integers(1, 9)), int(rng.integers(1, 9)), int(rng.integers(0, 3))
    site = fs.Site([fs.NodeClass("n", count, cores=cores, memory="16M", gpus=gpus)])
    nodes, runtime, by_cores = rng.integers(1, count + 1, n), rng.integers(0, 40, n).astype(float), rng.random(n) < 0.3
    fewer = (cores > 1) & (nodes > 1) & ~by_cores & (rng.random(n) < 0.2)  # rounded up on each node
    log = fs.Workload(
        np.sort(rng.integers(0, int(rng.choice([1, 3])) * n, n)).astype(float), runtime, [1] * n,
        estimate=np.maximum(1.0, runtime + rng.choice([-5, 0, 0, 3, 20], n)),
        columns={
            "cores": nodes * cores - fewer, "nodes": np.where(by_cores, 0, nodes), "memory": rng.integers(0, 17, n),
            "gpus": np.where(rng.random(n) < 0.3, rng.integers(0, gpus + 1, n), 0),
        },
    )  # fmt: skip
    failures = int(rng.integers(1, 2 + n // 3))
    trace = fs.FailureTrace(
        np.sort(rng.integers(0, 4 * n, failures)), rng.integers(0, count, failures),
        rng.choice([0, 1, 10, 50], failures), span=10**5,
    )  # fmt: skip
    scheduler = [
        fs.EasyBackfill(repairs="known"), fs.EasyBackfill(), fs.EasyBackfill("shortest"), fs.EasyBackfill("wfp3"),
        fs.Fcfs(), fs.Preemptive("shortest"),
    ][rng.integers(6)]  # fmt: skip
    recovery = [fs.Requeue(), fs.Requeue(restart_cost=3, place="tail"), fs.Hold(restart_cost=2)][rng.integers(3)]
    placement = str(rng.choice(["consecutive_best_fit", "best_fit", "first_fit", "least_failures_first"]))
    checkpointing = [None, fs.Periodic(7, 1)][rng.integers(2)]
    return fs.Run(
        log, site, scheduler=scheduler, failures=trace, recovery=recovery, placement=placement,
        checkpointing=checkpointing, start_delay=float(rng.choice([0, 0, 2])), record=True,
    )  # fmt: skip


@pytest.mark.parametrize("part", range(8))
def test_both_engines_agree_on_whole_nodes(part):
    """Where each job takes whole nodes of one class, it is known what a job costs the head."""
    rng = np.random.default_rng([448, part])
    for _ in range(12):
        run = whole_nodes_run(rng, int(rng.integers(2, 80)))
        with least() if rng.random() < 0.5 else at():
            assert_same(*both(run))


def test_a_simulation_of_a_site_can_be_copied_and_goes_on():
    run = drawn_run(np.random.default_rng(5), 30)
    whole = run.simulate()
    sim = fs.Simulation(run.log, run.machine, **{name: getattr(run, name) for name in fs.Run.__dataclass_fields__
                                                if name not in ("log", "machine", "_")})  # fmt: skip
    for _ in range(12):
        sim.step()
    other = sim.copy()
    for each in (other, sim):
        each.run()
        assert each.result().jobs["finish"].tolist() == whole.jobs["finish"].tolist()


@pytest.mark.parametrize("scheduler", ["fcfs", "easy", "backfill:depth=2", "conservative"])
def test_more_nodes_become_free_at_once_than_are_stored(scheduler):
    """Gangs of up to 90 nodes: beyond the 64 nodes that the core stores between two looks at a refused request."""
    rng = np.random.default_rng(6)
    n = 40
    nodes = rng.choice([1, 2, 30, 70, 90], n)
    runtime = rng.integers(1, 30, n)
    log = fs.Workload(
        np.sort(rng.integers(0, 200, n)), runtime, [1] * n, estimate=runtime + rng.integers(0, 9, n),
        columns={"cores": nodes * rng.integers(1, 3, n), "nodes": nodes},
    )  # fmt: skip
    failures = fs.FailureTrace(np.arange(20, 200, 12), np.arange(15) * 6, [5] * 15, span=10**4)
    assert_same(*both(fs.Run(log, "site:n=100x2c", scheduler=scheduler, failures=failures, record=True)))


@given(st.integers(0, 2**32), st.data())
def test_both_engines_agree_on_jobs_with_conditions(seed, data):
    rng = np.random.default_rng(seed)
    run = drawn_run(rng, int(rng.integers(2, 14)))
    options = {"recovery": fs.Requeue()} if isinstance(run.recovery, fs.Hold) else {}
    assert_same(*both(run.with_options(log=data.draw(with_conditions(run.log)), **options)))
