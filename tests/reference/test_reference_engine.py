"""The reference engine against cases worked by hand, each a sentence of model.md, and its invariants on random ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultsim.data.event_kinds import EventKind
from faultsim.errors import EngineError, NotAvailableError, OptionError
from faultsim.policies.settings import Settings
from faultsim.reference.engine import make_jobs
from faultsim.reference.rules import rules_of
from faultsim.reference.state import State
from faultsim.reference.torus.boxes import BoxTable
from faultsim.reference.verify import check_instant
from helpers.by_hand import (
    ARRIVAL,
    CONSERVATIVE,
    CORNER,
    DEFRAGMENT,
    EASY,
    FCFS,
    LEAST_FAILURES,
    MAX_FREE,
    cluster,
    config,
    ledger,
    places,
    rows,
    run,
    starts,
    torus,
    wanted,
)
from helpers.engine_inputs import simulate
from helpers.refusals import refusals, refused
from helpers.strategies import engine_cases, job_columns

# -- section 2: events


def test_all_ends_then_all_arrivals_then_one_pass():
    """ "After all events of an instant, one scheduling pass runs"."""
    result = run(cluster(2), FCFS, [(0, 10, 2), (0, 10, 1), (10, 5, 1), (20, 1, 2)])
    assert [row[:3] for row in rows(result)] == [
        (0, "arrival", 0), (0, "arrival", 1), (0, "start", 0),
        (10, "finish", 0), (10, "arrival", 2), (10, "start", 1), (10, "start", 2),
        (15, "finish", 2), (20, "finish", 1), (20, "arrival", 3), (20, "start", 3), (21, "finish", 3),
    ]  # fmt: skip
    assert result["events"] == 8
    assert result["passes"] == 5


def test_arrivals_of_an_instant_are_seen_together():
    """One pass after both arrivals, so the larger one can be first."""
    assert starts(cluster(3), {"name": "fcfs", "order": {"name": "largest"}}, [(0, 5, 1), (0, 5, 3)]) == [5, 0]


def test_jobs_of_no_length_are_drained_and_followed_by_another_pass():
    """ "Jobs of run time 0 that a pass starts (without start delay) finish at the same instant: these finishes are
    handled next, then another pass runs."
    """
    result = run(cluster(1), FCFS, [(0, 0, 1), (0, 0, 1), (0, 5, 1)])
    assert result["start"].tolist() == [0, 0, 0]
    assert result["passes"] == 4
    assert result["finish"].tolist() == [0, 0, 5]


# -- section 3: jobs


def test_overrun_extends():
    """ "its expected end is then `now` (its nodes are not free in this pass)"."""
    jobs = [(0, 10, 2, 5), (0, 1, 3), (7, 1, 1)]
    assert starts(cluster(3), EASY, jobs) == [0, 10, 11]  # at 7, T is 7: job 2 would end at 8
    assert starts(cluster(3), EASY, [*jobs[:2], (7, 1, 1, 0)]) == [0, 10, 7]  # and here at 7


def test_overrun_kills():
    """ "it ends at the estimate and counts as done with that run time"."""
    result = run(cluster(3), EASY, [(0, 10, 2, 5), (0, 1, 3), (7, 1, 1)], overrun="kill")
    assert result["start"].tolist() == [0, 5, 7]
    assert result["runtime"].tolist() == [5, 1, 1]
    assert result["finish"].tolist() == [5, 6, 8]
    assert (result["ledger"]["useful"], result["ledger"]["cut_at_limit"]) == (3 + 1, 2 * 5)


# -- sections 4 and 5: machines and boxes


def test_boxes_of_the_papers_torus():
    """ "4x4x8 has exactly 9,633 boxes"; 38 feasible sizes."""
    table = BoxTable((4, 4, 8), True, "extents-descending")
    assert sum(map(len, table.of_size.values())) == 9633
    assert len(table.sizes) == 38
    assert table.largest_free(0) == 128
    assert table.largest_free((1 << 128) - 1) == 0


@pytest.mark.parametrize(("size", "rounded"), [(11, 12), (13, 14), (65, 72), (97, 112), (113, 128), (64, 64)])
def test_sizes_round_up_at_arrival(size, rounded):
    """ "A size without a box is rounded up on arrival to the next size that has one"."""
    assert run(torus(4, 4, 8), FCFS, [(0, 1, size)])["allocated"].tolist() == [rounded]


@pytest.mark.parametrize(
    ("box_order", "box"),
    [
        ("extents-descending", (0, 0, 0, 2, 2, 1)),
        ("extents-ascending", (0, 0, 0, 1, 1, 4)),
        ("bases", (0, 0, 0, 1, 1, 4)),
    ],
)
def test_box_order_settles_ties(box_order, box):
    """ "Boxes are ordered by extents (a, b, c) descending, lexicographically, then by base ascending"."""
    result = run(torus(2, 2, 8), FCFS, [(0, 1, 4)], placement={"name": "first_fit", "box_order": box_order})
    assert places(result) == {0: [box]}


@pytest.mark.parametrize(
    ("box_order", "box"), [("extents-ascending", (0, 1, 0, 1, 1, 2)), ("bases", (0, 0, 1, 1, 2, 1))]
)
def test_bases_come_before_extents_or_after(box_order, box):
    """ "other readings"; with node 0 taken, the first base of a box of two is (0, 0, 1)."""
    placement = {"name": "first_fit", "box_order": box_order}
    result = run(torus(2, 2, 2, wrap=False), FCFS, [(0, 1, 1), (0, 1, 2)], placement=placement)
    assert places(result)[1] == [box]


def test_boxes_wrap_on_a_torus_and_not_on_a_mesh():
    """ "On a torus, or a mesh (`wrap=False`), a job holds a box"."""
    jobs = [(0, 2, 2), (0, 9, 4), (0, 9, 2), (2, 1, 3)]  # job 0 leaves nodes 0 and 1; 8 is free
    assert starts(torus(1, 1, 9), FCFS, jobs) == [0, 0, 0, 2]
    assert starts(torus(1, 1, 9, wrap=False), FCFS, jobs) == [0, 0, 0, 9]


# -- section 6: FCFS, EASY (conservative backfilling and migration have files of their own)


def test_fcfs_stops_at_the_first_job_that_cannot_start():
    """ "The head starts if it can, then the next, until one cannot"."""
    assert starts(cluster(2), FCFS, [(0, 10, 1), (0, 10, 2), (0, 1, 1)]) == [0, 10, 20]


def test_job_3_becomes_4():
    """The example of krevat2002#K1."""
    corner = wanted(j0=(0, 0, 0, 4, 2, 1), j1=(0, 2, 0, 2, 2, 1))
    result = run(torus(4, 4, 1), FCFS, [(0, 10, 8), (0, 10, 4), (0, 10, 3)], placement=corner)
    assert result["start"].tolist() == [0, 0, 0]
    assert result["allocated"].tolist() == [8, 4, 4]
    assert result["ledger"]["growth"] == 10


def test_a_candidate_may_end_exactly_at_the_shadow_time():
    """ "A job may start if its expected end, were it started now [...], is T or earlier"."""
    jobs = [(0, 10, 3), (0, 1, 4), (0, 10, 1), (0, 10.5, 1)]
    assert starts(cluster(4), EASY, jobs) == [0, 10, 0, 11]
    assert starts(cluster(4), EASY, jobs, start_delay=1.0) == [1, 12, 1, 14]
    late = [(0, 10, 3), (0, 1, 4), (0, np.nextafter(10, 11), 1)]
    assert starts(cluster(4), EASY, late) == [0, 10, 11]


def test_backfilled_jobs_take_from_the_extra_nodes():
    """ "if it fits in the extra nodes [...]; it then uses them up"."""
    result = run(cluster(5), EASY, [(0, 10, 3), (0, 10, 4), (0, 100, 1), (0, 100, 1)])
    assert result["start"].tolist() == [0, 10, 0, 20]
    assert result["backfilled"].tolist() == [False, False, True, False]


def test_extra_nodes_count_every_release_at_the_shadow_time():
    """ "those free at T (counting all releases at T) less the head's size"."""
    assert starts(cluster(6), EASY, [(0, 10, 3), (0, 10, 2), (0, 10, 4), (0, 100, 1)]) == [0, 0, 10, 0]


def test_jobs_that_end_by_the_shadow_time_take_no_extra_node():
    """Only the job that ends after T takes the one extra node."""
    jobs = [(0, 10, 2), (0, 10, 4), (0, 5, 1), (0, 5, 1), (0, 100, 1)]
    assert starts(cluster(5), EASY, jobs) == [0, 10, 0, 0, 0]


def test_only_the_head_has_a_reservation():
    """ "the head gets a reservation": job 2 is delayed by job 3."""
    jobs = [(0, 10, 3), (0, 10, 3), (0, 10, 4), (0, 30, 1)]
    assert starts(cluster(4), EASY, jobs) == [0, 10, 30, 0]


def test_one_scan_without_restart():
    """ "the rest of the queue is scanned once, in order": job 2 fits only before job 3 has taken its nodes."""
    assert starts(cluster(4), EASY, [(0, 10, 2), (0, 10, 4), (0, 4, 2), (0, 4, 1)]) == [0, 10, 0, 4]


def before_head(reservation, *candidates):
    """A line of 8: nodes 0 and 1 are free at 2, 2-7 until 10, then comes the head of 4 nodes, then the candidates."""
    jobs = [(0, 1, 2), (0, 10, 6), (2, 5, 4), *candidates]
    return starts(torus(1, 1, 8, wrap=False), {**EASY, "reservation": reservation}, jobs)[2:]


def test_any_box_for_the_head():
    """ "the job may start in a box if, with it [...], such a box is still free at T"."""
    assert before_head("any", (3, 100, 2)) == [10, 3]


def test_fixed_box_for_the_head():
    """ "the box [...] that the placement rule picks on the occupancy at T is left alone by jobs that end after T"; it
    is 0-3, so the candidate waits, unless it ends by then.
    """
    assert before_head("fixed", (3, 100, 2)) == [10, 10]
    assert before_head("fixed", (3, 7, 2)) == [10, 3]


def test_backfilled_jobs_that_end_later_are_held_for_the_head():
    """ "and with the boxes of jobs backfilled earlier in this pass that end after T"."""
    line = torus(1, 1, 8, wrap=False)  # at 2, nodes 0 and 7 are free; the head needs 0-6 or 1-7
    jobs = [(0, 1, 1), (0, 10, 6), (2, 5, 7), (2, 100, 1), (2, 100, 1), (2, 8, 1)]
    assert starts(line, EASY, jobs) == [0, 0, 10, 2, 15, 2]


@pytest.mark.parametrize(("growth", "start", "held"), [(1, 1, 4), (0, 10, 3)])
def test_backfilled_jobs_grow_by_max_growth(growth, start, held):
    """ "or up to s + `max_growth` if no permitted box of a smaller size exists"."""
    corner = wanted(j0=(0, 0, 0, 4, 2, 1), j1=(0, 2, 0, 2, 2, 1))
    jobs = [(0, 10, 8), (0, 10, 4), (1, 1, 16), (1, 3, 3)]
    result = run(torus(4, 4, 1), {**EASY, "max_growth": growth}, jobs, placement=corner)
    assert result["start"].tolist() == [0, 0, 10, start if growth else 11]
    assert result["allocated"][3] == held


def test_the_head_grows_as_far_as_it_must():
    """ "if there is none, of the smallest larger size that has one".

    A 2x2x2 corner is free: 5 nodes (a line) become 8, past the feasible 6.  "`max_growth`" binds later jobs only.
    """
    assert run(CORNER, EASY, [(0, 9, 12), (0, 1, 5)])["allocated"].tolist() == [12, 8]
    for growth, start in [(2, 10), (3, 1)]:
        result = run(CORNER, {**EASY, "max_growth": growth}, [(0, 9, 12), (1, 1, 20), (1, 1, 5)])
        assert result["start"].tolist() == [0, 9, start]
        assert result["allocated"][2] == (8 if growth == 3 else 5)


# -- section 6: queue orders, start delay


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("arrival", [10, 20]),  # job 1, 1 node for 10 s; job 2, 4 nodes for 1 s
        ("shortest", [11, 10]),
        ("largest", [11, 10]),
        ("wfp3", [11, 10]),  # -(9/10)**3 * 1 = -0.729 against -(5/1)**3 * 4 = -500
        ("unicef", [11, 10]),  # -9/(1*10) = -0.9 against -5/(2*1) = -2.5
    ],
)
def test_queue_orders(order, expected):
    """Every order of model.md#orders."""
    jobs = [(0, 10, 4), (1, 10, 1), (5, 1, 4)]
    assert starts(cluster(4), {"name": "fcfs", "order": {"name": order}}, jobs)[1:] == expected


def test_wfp3_and_unicef_differ():
    """WFP3 counts size up: -(8/8)**3 * 4 = -4 against -(2/2)**3 * 1; UNICEF down: -8/(2*8) against -2/(1*2)."""
    jobs = [(0, 10, 4), (2, 8, 4), (8, 2, 1)]
    assert starts(cluster(4), {"name": "fcfs", "order": {"name": "wfp3"}}, jobs) == [0, 10, 18]
    assert starts(cluster(4), {"name": "fcfs", "order": {"name": "unicef"}}, jobs) == [0, 12, 10]


def test_ties_of_an_order_go_by_submit_and_index():
    """See model.md#orders."""
    assert starts(cluster(1), {"name": "fcfs", "order": {"name": "shortest"}}, [(0, 2, 1)] * 3) == [0, 2, 4]


class OddFirst:
    def keys(self, queue, now):
        return -(queue.index % 2)


def test_an_order_in_python():
    """ "or your own function"."""
    order = {"name": "python", "object": OddFirst()}
    assert starts(cluster(1), {"name": "fcfs", "order": order}, [(0, 2, 1)] * 4) == [4, 0, 6, 2]


def test_start_delay():
    """ "`start_delay` seconds pass between the decision to start a job and its start; it holds its nodes meanwhile"."""
    result = run(cluster(1), FCFS, [(0, 10, 1), (0, 10, 1)], start_delay=1.0)
    assert result["start"].tolist() == [1, 12]
    assert result["finish"].tolist() == [11, 22]
    assert result["allocations"]["begin"].tolist() == [0, 11]
    assert result["ledger"]["start_delay"] == 2


# -- section 7: placement


def test_a_cluster_takes_the_lowest_numbers():
    """ "`FirstFit` takes the free nodes with the lowest numbers"."""
    table = run(cluster(5), FCFS, [(0, 2, 1), (0, 9, 2), (0, 9, 1), (2, 1, 2)])["allocations"]
    assert table["job"].tolist() == [0, 1, 2, 3]
    assert table["node_offsets"].tolist() == [0, 1, 3, 4, 6]
    assert table["nodes"].tolist() == [0, 1, 2, 3, 0, 4]


def test_the_box_that_leaves_the_largest_free_partition():
    """ "the one that leaves the largest free box": beside job 1, not where it splits the rest."""
    line = torus(1, 1, 9, wrap=False)
    jobs = [(0, 1, 3), (0, 9, 2), (2, 1, 1)]  # at 2: 0-2 free, 3-4 busy, 5-8 free
    assert places(run(line, FCFS, jobs, placement=MAX_FREE))[2] == [(0, 0, 0, 1, 1, 1)]
    jobs = [(0, 1, 5), (0, 9, 2), (2, 1, 1)]  # 0-4 free, 5-6 busy, 7-8 free
    assert places(run(line, FCFS, jobs, placement=MAX_FREE))[2] == [(0, 0, 7, 1, 1, 1)]


def test_a_placement_in_python():
    class Last:
        def choose(self, job, candidates, state):
            assert state.busy.shape == (1, 1, 4)
            return len(candidates) - 1

    rule = {"name": "python", "box_order": "bases", "object": Last()}
    assert places(run(torus(1, 1, 4), FCFS, [(0, 1, 1)], placement=rule)) == {0: [(0, 0, 3, 1, 1, 1)]}


# -- section 14: the ledger


def test_ledger_by_hand():
    """[0, 2): 1 idle, none asked for; [2, 10): 1 idle, 4 asked for; [10, 15): full."""
    result = run(cluster(4), FCFS, [(0, 10, 3), (2, 5, 4)])
    assert ledger(result) == {"useful": 50, "idle_no_demand": 2, "idle_demand": 8}
    assert sum(result["ledger"].values()) == 4 * 15


def test_ledger_of_a_grown_job():
    """growth = (allocated - requested) * (finish - decision): 11 on 4x4x8 holds 12 for 1 + 10 s."""
    result = run(torus(4, 4, 8), FCFS, [(0, 10, 11)], start_delay=1.0)
    assert ledger(result) == {"useful": 110, "start_delay": 11, "growth": 11, "idle_no_demand": 116 * 11}


# -- what is not there is refused by name


test_unknown_names = refusals(
    NotAvailableError,
    lambda change: simulate({**config(torus(2, 2, 2)), **change}, [0, 0], [1, 1], [1, 1], [1, 5]),
    ({"scheduler": {"name": "fars", "order": ARRIVAL}}, "fars"),
    ({"scheduler": {"name": "fcfs", "order": {"name": "slurm"}}}, "slurm"),
    ({"machine": {"name": "dragonfly"}}, "dragonfly"),
    ({"placement": {"name": "worst_fit", "box_order": "bases"}}, "worst_fit"),
    ({"placement": {"name": "first_fit", "box_order": "spiral"}}, "spiral"),
    ({"migration": {"name": "most_failures"}}, "most_failures"),
    ({"recovery": {"name": "give_up"}}, "give_up"),
    ({"checkpointing": {"name": "adaptive", "cost": 1.0}}, "adaptive"),
    ({"overrun": "suspend"}, "suspend"),
)


@pytest.mark.parametrize("change", [{"migration": DEFRAGMENT}, {"placement": MAX_FREE}])
def test_a_cluster_has_no_boxes(change):
    """What is not there is refused by name before anything runs."""
    with pytest.raises(OptionError):
        simulate({**config(cluster(2)), **change}, [0], [1], [1], [1])


@pytest.mark.parametrize("change", [{"migration": LEAST_FAILURES}, {"placement": {"name": "safest_first"}}])
def test_a_torus_moves_whole_boxes(change):
    """The same the other way round."""
    with pytest.raises(OptionError):
        simulate({**config(torus(1, 1, 2)), **change}, [0], [1], [1], [1])


# -- section 16: invariants, on random cases


@given(engine_cases())
def test_invariants_hold(case):
    """`verify` is asked after every instant; here also what is seen from outside."""
    settings, columns = case
    result = simulate({**settings, "verify": True}, **columns)
    assert (result["start"] >= columns["submit"] + settings["start_delay"]).all()
    assert (result["finish"] >= result["start"] + result["runtime"]).all()
    assert (result["allocated"] >= columns["size"]).all()
    table = result["events_table"]
    assert (np.diff(table["time"]) >= 0).all()
    for kind in (EventKind.FINISH, EventKind.ARRIVAL, EventKind.START):
        assert sorted(table["job"][table["kind"] == kind]) == list(range(len(columns["size"])))
    rows = result["allocations"]
    assert len(rows["job"]) == len(columns["size"]) + result["moves"].sum()


def test_verify_sees_a_broken_state():
    """The checks can fail: two jobs on one node, and a lost one."""
    settings = Settings(**config(torus(1, 1, 4)))
    table, rules = BoxTable((1, 1, 4), True, "extents-descending"), rules_of(settings)
    state = State(settings, rules, make_jobs(settings, rules, table, [0, 0], [5, 5], [5, 5], [2, 2]), table, 4)
    for job in state.jobs:
        state.arrive(job)
        state.begin(job, table.of_size[2][0], [], backfilled=False)
    refused(EngineError, "two jobs", check_instant, state)
    state = State(settings, rules, make_jobs(settings, rules, table, [0], [5], [5], [2]), table, 4)
    refused(EngineError, "lost", check_instant, state)


# -- identities


@given(st.data(), st.integers(1, 6))
def test_one_node_jobs_need_no_backfilling(data, nodes):
    """With one node a job, EASY and conservative are FCFS, and EASY on a ring is, too.

    (Not conservative on a ring: its promises are places, and a later job may be promised the one that becomes free.)
    """
    columns = data.draw(job_columns(nodes))
    columns["size"][:] = 1
    base = simulate(config(cluster(nodes)), **columns)
    ring, line = torus(1, 1, nodes), torus(nodes, 1, 1, wrap=False)
    for machine, scheduler in [(cluster(nodes), EASY), (cluster(nodes), CONSERVATIVE), (ring, FCFS), (line, EASY)]:
        result = simulate(config(machine, scheduler), **columns)
        np.testing.assert_array_equal(result["start"], base["start"])
        assert not result["backfilled"].any()


@given(st.data(), st.sampled_from([(1, 1, 5), (2, 2, 2)]))
def test_whole_machine_jobs_run_one_after_the_other(data, shape):
    """Backfilling changes nothing."""
    nodes = int(np.prod(shape))
    columns = data.draw(job_columns(nodes))
    columns["size"][:] = nodes
    columns["estimate"] = columns["runtime"] + 1
    base = simulate(config(cluster(nodes)), **columns)
    for machine in (cluster(nodes), torus(*shape)):
        for scheduler in (EASY, CONSERVATIVE):
            np.testing.assert_array_equal(simulate(config(machine, scheduler), **columns)["start"], base["start"])


@given(engine_cases())
def test_recording_and_checking_change_nothing(case):
    settings, columns = case
    plain = simulate({**settings, "record": False}, **columns)
    checked = simulate({**settings, "verify": True}, **columns)
    assert set(checked) - set(plain) == {"events_table", "allocations"}
    for name, value in plain.items():
        np.testing.assert_array_equal(checked[name], value, name)


@given(engine_cases(machines=("torus",), schedulers=("fcfs", "easy")))
def test_growth_has_its_bounds(case):
    """A job holds its rounded size or more; a backfilled one at most `max_growth` more."""
    settings, columns = case
    machine = settings["machine"]
    table = BoxTable((machine["x"], machine["y"], machine["z"]), machine["wrap"], "bases")
    rounded = np.array([table.round_up(size) for size in columns["size"].tolist()])
    result = simulate(settings, **columns)
    assert (result["allocated"] >= rounded).all()
    growth = settings["scheduler"].get("max_growth", 0)
    assert (result["allocated"] - rounded)[result["backfilled"]].max(initial=0) <= growth
