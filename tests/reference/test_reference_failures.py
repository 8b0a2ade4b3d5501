"""Failures, repairs and recovery in the reference engine, worked by hand (model.md#failures)."""

import math

import pytest
from hypothesis import given

from faultsim.data.event_kinds import EventKind
from faultsim.errors import EngineError
from helpers.by_hand import CONSERVATIVE, EASY, HOLD, REQUEUE, TAIL, cluster, failing, ledger, places, rows, torus
from helpers.engine_inputs import simulate
from helpers.failure_strategies import failure_cases

LINE = torus(1, 1, 4, wrap=False)
TEN = [(0, 10, 2)]  # one job of 10 s on both nodes of a cluster(2)


# -- section 9: Requeue


def test_a_failure_kills_and_the_job_starts_again_in_the_same_instant():
    """ "It may start again at the same instant": 4 s on 2 nodes are lost."""
    result = failing(TEN, [(4, 1, 0)], cluster(2))
    assert rows(result) == [
        (0, "arrival", 0, -1), (0, "start", 0, -1), (4, "failure", 0, 1), (4, "start", 0, -1), (14, "finish", 0, -1),
    ]  # fmt: skip
    assert (result["first_start"][0], result["start"][0], result["finish"][0]) == (0, 4, 14)
    assert (result["restarts"][0], result["lost_work"][0], result["failure_wait"][0]) == (1, 8, 0)
    assert (result["failures"], result["failures_hit"]) == (1, 1)
    assert (result["events"], result["passes"]) == (3, 3)
    assert ledger(result) == {"useful": 20, "lost": 8}
    assert result["allocations"]["begin"].tolist() == [0, 4]
    assert result["allocations"]["end"].tolist() == [4, 14]


def test_a_down_node_is_waited_for():
    """Node 1 is down over [4, 10); node 0 is free meanwhile, and wanted."""
    result = failing(TEN, [(4, 1, 6)], cluster(2))
    assert rows(result)[2:5] == [(4, "failure", 0, 1), (10, "repair", -1, 1), (10, "start", 0, -1)]
    assert (result["start"][0], result["finish"][0], result["failure_wait"][0]) == (10, 20, 6)
    assert ledger(result) == {"useful": 20, "lost": 8, "down": 6, "idle_demand": 6}
    assert (result["events"], result["passes"]) == (4, 4)


def test_the_other_nodes_of_a_killed_job_are_free_at_once():
    """Job 1 arrives at 4 and starts behind the killed one, which waits for node 0 until 9."""
    result = failing([(0, 10, 2), (4, 3, 1)], [(4, 0, 5)], cluster(2), EASY)
    assert result["start"].tolist() == [9, 4]
    assert result["allocations"]["nodes"].tolist() == [0, 1, 1, 0, 1]


def test_a_job_that_ends_when_its_node_fails_is_done():
    """ "So a job that ends [...] exactly when its node fails is done.": the failure at 10 hits nobody."""
    result = failing(TEN, [(10, 0, 0)], cluster(2))
    assert (result["restarts"][0], result["finish"][0]) == (0, 10)
    assert (result["failures"], result["failures_hit"], result["events"]) == (1, 0, 3)


def test_failures_after_the_last_finish_are_not_handled():
    """The one at 2 kills, so the job ends at 12; that of this instant is handled, the next is not."""
    result = failing(TEN, [(2, 0, 0), (12, 0, 5), (13, 0, 0)], cluster(2))
    assert (result["finish"][0], result["failures"], result["failures_hit"]) == (12, 2, 1)


def test_simultaneous_failures_are_one_kill():
    """ "One kill per job and instant, however many of its nodes fail."  Node 1 is down all the same."""
    result = failing(TEN, [(4, 0, 0), (4, 1, 3), (4, 1, 2)], cluster(2))
    assert rows(result)[2:6] == [
        (4, "failure", 0, 0),
        (4, "failure", -1, 1),
        (4, "failure", -1, 1),
        (7, "repair", -1, 1),
    ]
    assert (result["restarts"][0], result["failures"], result["failures_hit"]) == (1, 3, 1)
    assert result["start"][0] == 7


def test_a_failure_during_a_down_time_extends_it():
    """ "its up time becomes the later of the old one and t + d": [2, 7) becomes [2, 9); 6 + 1 changes nothing."""
    result = failing([(0, 1, 1), (3, 1, 2)], [(2, 1, 5), (4, 1, 5), (6, 1, 1)], cluster(2))
    assert result["start"].tolist() == [0, 9]
    assert result["ledger"]["down"] == 7
    assert [row for row in rows(result) if row[1] == "repair"] == [(9, "repair", -1, 1)]
    # Passes: at 0, 1, 2, 3, 4 (it became later), 9, 10; none at 6.
    assert result["passes"] == 7
    assert result["events"] == 2 + 2 + 3 + 1


def test_a_failure_without_down_time_on_a_free_node_does_nothing():
    """ "with d = 0 nothing happens"."""
    result = failing([(0, 5, 1)], [(2, 1, 0)], cluster(2))
    assert (result["finish"][0], result["failures"], result["failures_hit"], result["passes"]) == (5, 1, 0, 2)
    assert rows(result)[2] == (2, "failure", -1, 1)


def test_repair_comes_before_the_failure_of_the_same_instant():
    """Down over [2, 5), up at 5, and down again until 8; nothing starts in between."""
    result = failing([(0, 1, 1), (3, 1, 2)], [(2, 1, 3), (5, 1, 3)], cluster(2))
    assert [row for row in rows(result) if row[1] in ("repair", "failure")] == [
        (2, "failure", -1, 1), (5, "repair", -1, 1), (5, "failure", -1, 1), (8, "repair", -1, 1),
    ]  # fmt: skip
    assert result["start"].tolist() == [0, 8]


def test_failures_before_the_first_submit():
    """The node is down until 22; a node whose up time is <= the first submit is up."""
    result = failing([(10, 5, 1)], [(2, 0, 20)], cluster(1))
    assert (result["start"][0], result["failures"], result["ledger"]["down"]) == (22, 0, 12)
    assert rows(result)[0] == (10, "arrival", 0, -1)
    result = failing([(10, 5, 1)], [(2, 0, 8)], cluster(1))
    assert result["start"][0] == 10
    assert all(row[1] != "repair" for row in rows(result))


@pytest.mark.parametrize(("recovery", "finish"), [(REQUEUE, [15, 25, 35]), (TAIL, [25, 15, 35])])
def test_where_a_killed_job_waits(recovery, finish):
    """ "With `place="arrival"` it has its old key [...]; with `"tail"` it is behind all jobs that wait now"; the tail
    of 5 is ahead of the arrival of 5.
    """
    result = failing([(0, 10, 1), (1, 10, 1), (5, 10, 1)], [(5, 0, 0)], cluster(1), recovery=recovery)
    assert result["finish"].tolist() == finish


def test_the_tail_settles_ties_of_other_orders():
    """Jobs 0 and 1 are of one size: behind "tail" job 1 is first."""
    order = {"name": "fcfs", "order": {"name": "largest"}}
    result = failing([(0, 10, 1), (1, 10, 1)], [(5, 0, 0)], cluster(1), order, recovery=TAIL)
    assert result["finish"].tolist() == [25, 15]


def test_restart_cost():
    """ "If it was killed before, a lead phase of `restart_cost` seconds follows": [4, 7), then 10 s of work.  A
    failure at 5 breaks it off: one second more in its account, nothing lost.
    """
    recovery = {**REQUEUE, "restart_cost": 3.0}
    result = failing(TEN, [(4, 0, 0)], cluster(2), recovery=recovery)
    assert (result["start"][0], result["finish"][0], result["restart_time"][0]) == (4, 17, 3)
    result = failing(TEN, [(4, 0, 0), (5, 0, 0)], cluster(2), recovery=recovery)
    assert (result["finish"][0], result["restart_time"][0], result["restarts"][0]) == (18, 4, 2)
    assert ledger(result) == {"useful": 20, "lost": 8, "restart": 8}


def test_a_failure_in_the_start_delay_kills():
    """ "it holds its nodes meanwhile, and a failure then kills it": it begins anew at 2 and starts at 5."""
    result = failing(TEN, [(2, 0, 0)], cluster(2), start_delay=3.0)
    assert (result["first_start"][0], result["start"][0], result["finish"][0]) == (5, 5, 15)
    assert (result["restarts"][0], result["lost_work"][0], result["failure_wait"][0]) == (1, 0, 3)
    assert ledger(result) == {"useful": 20, "start_delay": 10}


def test_nobody_said_what_becomes_of_killed_jobs():
    with pytest.raises(EngineError, match="recovery is None"):
        failing(TEN, [(4, 0, 0)], cluster(2), recovery=None)


# -- section 9: Hold


def test_hold():
    """ "the job keeps its nodes [...] a lead phase of `restart_cost` seconds begins, and then it works": held over [4,
    10), restart to 12, 10 s again.  Job 1 cannot have the other node.
    """
    result = failing([(0, 10, 2), (5, 1, 1)], [(4, 1, 6)], cluster(2), recovery={**HOLD, "restart_cost": 2.0})
    assert (result["start"][0], result["finish"][0]) == (0, 22)
    assert (result["failure_wait"][0], result["restarts"][0], result["lost_work"][0]) == (6, 1, 8)
    assert result["start"][1] == 22
    assert ledger(result) == {"useful": 21, "lost": 8, "held_for_repair": 12, "restart": 4, "idle_no_demand": 1}
    assert result["allocations"]["begin"].tolist() == [0, 22]
    assert [row[0] for row in rows(result) if row[1] == "repair"] == [10]


def test_failures_extend_a_hold():
    """ "no kill; with d > 0 the node is down until the latest of its up time, t, and t + d": node 0 is down over [4,
    7), node 1 over [5, 9) and, by the failure at 8, until 12; one without down time does nothing.
    """
    result = failing(TEN, [(4, 0, 3), (5, 1, 4), (6, 0, 0), (8, 1, 4)], cluster(2), recovery=HOLD)
    assert (result["finish"][0], result["restarts"][0], result["failures_hit"]) == (22, 1, 1)
    assert [row[0] for row in rows(result) if row[1] == "repair"] == [7, 12]
    assert ledger(result) == {"useful": 20, "lost": 8, "held_for_repair": 16}
    assert result["passes"] == 1 + 1 + 1 + 0 + 1 + 1 + 1 + 1  # at 0, 4, 5, 7, 8, 12, 22; none at 6 ...


def test_a_hold_without_down_time_ends_at_once():
    result = failing(TEN, [(4, 0, 0)], cluster(2), recovery={**HOLD, "restart_cost": 2.0})
    assert (result["start"][0], result["finish"][0]) == (0, 16)
    assert ledger(result) == {"useful": 20, "lost": 8, "restart": 4}


def test_a_hold_that_ends_when_a_node_fails_is_over():
    """Repairs come first: the hold ends at 7, the failure at 7 is a second kill."""
    result = failing(TEN, [(4, 0, 3), (7, 1, 2)], cluster(2), recovery=HOLD)
    assert (result["restarts"][0], result["finish"][0], result["lost_work"][0]) == (2, 19, 8)
    assert ledger(result)["held_for_repair"] == 2 * (3 + 2)


def test_held_in_the_start_delay():
    """ "a job killed in its start delay gets start = t" (model.md#hold); no other delay when the hold ends."""
    result = failing(TEN, [(2, 0, 4)], cluster(2), start_delay=3.0, recovery=HOLD)
    assert (result["first_start"][0], result["start"][0], result["finish"][0]) == (2, 2, 16)
    assert ledger(result) == {"useful": 20, "start_delay": 4, "held_for_repair": 8}


def test_a_killed_job_goes_elsewhere_on_a_torus():
    """Node 0 is down from 4 on; nodes 1 to 3 are free, so the job has another box at once."""
    result = failing([(0, 10, 2)], [(4, 0, 100)], LINE)
    assert places(result) == {0: [(0, 0, 0, 1, 1, 2), (0, 0, 1, 1, 1, 2)]}
    assert result["finish"][0] == 14


# -- section 6: schedulers and down nodes


@pytest.mark.parametrize("machine", [cluster(3), torus(1, 1, 3, wrap=False)])
@pytest.mark.parametrize("reservation", ["any", "fixed"])
@pytest.mark.parametrize(("repairs", "starts"), [("known", [0, 20, 21]), ("unknown", [0, 25, 0])])
def test_easy_with_a_down_node(machine, reservation, repairs, starts):
    """Node 2 is down until 20, and the head wants all three: T is 20, or never, so that 25 s on node 1 do no harm."""
    scheduler = {**EASY, "reservation": reservation, "repairs": repairs}
    result = failing([(0, 10, 1), (0, 1, 3), (0, 25, 1)], [(0, 2, 20)], machine, scheduler)
    assert result["start"].tolist() == starts


@pytest.mark.parametrize("machine", [cluster(2), torus(1, 1, 2, wrap=False)])
@pytest.mark.parametrize(("repairs", "starts"), [("known", [20, 25]), ("unknown", [25, 0])])
def test_conservative_with_a_down_node(machine, repairs, starts):
    """Job 0 is promised 20, or nothing."""
    result = failing([(0, 5, 2), (0, 25, 1)], [(0, 1, 20)], machine, {**CONSERVATIVE, "repairs": repairs})
    assert result["start"].tolist() == starts


@pytest.mark.parametrize("machine", [cluster(2), torus(1, 1, 2, wrap=False)])
def test_conservative_rebuilds_after_a_failure(machine):
    """Job 1 was promised 10 and job 2 20.  At 4 job 0 is killed, and node 0 is down until 12: job 0 is promised 12, job
    1 22, and job 2 starts on node 1.
    """
    result = failing([(0, 10, 2), (0, 10, 2), (1, 5, 1)], [(4, 0, 8)], machine, CONSERVATIVE)
    assert result["start"].tolist() == [12, 22, 4]
    assert result["backfilled"].tolist() == [False, False, True]


@pytest.mark.parametrize("machine", [cluster(3), torus(1, 1, 3, wrap=False)])
@pytest.mark.parametrize(
    ("scheduler", "repairs", "starts"),
    [
        (EASY, "known", [0, 10, 11]),
        (EASY, "unknown", [0, 25, 0]),
        (CONSERVATIVE, "known", [0, 10, 15]),
        (CONSERVATIVE, "unknown", [0, 25, 0]),
    ],
)
def test_a_node_that_is_up_before_the_head_can_start(machine, scheduler, repairs, starts):
    """Node 2 is down until 5, and job 0 runs until 10: all three nodes are promised for 10, or never."""
    length = 1 if scheduler is EASY else 5
    jobs = [(0, 10, 1), (0, length, 3), (0, 25, 1)]
    result = failing(jobs, [(0, 2, 5)], machine, {**scheduler, "repairs": repairs})
    assert result["start"].tolist() == starts


@pytest.mark.parametrize("machine", [cluster(3), torus(1, 1, 3, wrap=False)])
def test_conservative_waits_for_a_node_that_is_up_late(machine):
    """Job 0 ends at 10, node 2 is up at 20: job 1 is promised 20, so job 2 (15 s) starts on node 1 at once."""
    result = failing([(0, 10, 1), (0, 5, 3), (0, 15, 1)], [(0, 2, 20)], machine, CONSERVATIVE)
    assert result["start"].tolist() == [0, 20, 0]


def test_a_failure_of_an_idle_node_disturbs():
    """Job 1 (both nodes) was promised 10.  At 4 node 1 goes down until 24, and it is promised 24: at 10 node 0 has room
    for job 2 (14 s).
    """
    result = failing([(0, 10, 1), (0, 5, 2), (5, 14, 1)], [(4, 1, 20)], cluster(2), CONSERVATIVE)
    assert result["start"].tolist() == [0, 24, 10]


def test_a_repair_disturbs():
    """Node 1 is down until 20, which nobody knows: job 1 (both nodes) has no reservation, job 2 (15 s) has 30.  In the
    new plan of 20 job 1 comes first, at 30, and job 2 would be in its way before.
    """
    scheduler = {**CONSERVATIVE, "repairs": "unknown"}
    result = failing([(0, 30, 1), (1, 10, 2), (2, 15, 1)], [(0, 1, 20)], cluster(2), scheduler)
    assert result["start"].tolist() == [0, 30, 40]


def test_an_unknown_repair_never_comes_in_a_reservation():
    """ "reservations assume that such nodes never come back": job 2 may run for ever, since T is."""
    result = failing(
        [(0, 10, 2), (3, 1, 3), (3, 1e9, 1)], [(2, 0, 2)], cluster(3), {**EASY, "repairs": "unknown"}, recovery=HOLD
    )
    assert result["start"].tolist() == [0, 1e9 + 3, 3]


@pytest.mark.parametrize(("length", "starts"), [(15, [0, 18, 3]), (16, [0, 18, 19])])
def test_a_hold_is_expected_to_last_until_the_latest_repair(length, starts):
    """Nodes 0 and 1 are up at 4 and 8: job 0 is expected at 8 + 10; job 2 would run from 3 on, on node 2."""
    jobs = [(0, 10, 2), (3, 1, 3), (3, length, 1)]
    result = failing(jobs, [(2, 1, 6), (2, 0, 2)], cluster(3), EASY, recovery=HOLD)
    assert result["start"].tolist() == starts


@pytest.mark.parametrize(("repairs", "starts"), [("known", [0, 14, 15]), ("unknown", [0, 20, 3])])
@pytest.mark.parametrize("machine", [cluster(3), torus(1, 1, 3, wrap=False)])
def test_easy_and_a_held_job(machine, repairs, starts):
    """Job 0, killed at 2, is held until 4 and expected to end at 14; while its repair is unknown, never.

    At 3 job 2 (17 s on node 2) would delay the head, or delays nothing known.
    """
    scheduler = {**EASY, "repairs": repairs}
    result = failing([(0, 10, 2), (3, 1, 3), (3, 17, 1)], [(2, 0, 2)], machine, scheduler, recovery=HOLD)
    assert result["start"].tolist() == starts


@pytest.mark.parametrize(("cost", "starts"), [(0.0, [0, 9, 20]), (1.0, [0, 9, 20]), (1.5, [0, 21, 20])])
def test_easy_expects_a_restart_cost(cost, starts):
    """ "((t + start_delay) + r) + (Le + n(Le) C)": job 1 (10 s), killed at 5, waits for node 1 until 9; T is 20, so
    with a restart cost of more than 1 s it has to wait for the head.
    """
    recovery = {**REQUEUE, "restart_cost": cost}
    jobs = [(0, 20, 1), (0.5, 10, 1), (1, 1, 2)]
    result = failing(jobs, [(5, 1, 4)], cluster(2), {**EASY, "order": {"name": "largest"}}, recovery=recovery)
    assert result["start"].tolist() == starts


def test_easy_expects_the_safe_progress_no_more():
    """ "Le = max(0, estimate - p)": job 1 (10 s, checkpoints of no cost every 3 s), killed at 5 with 3 s safe, has 7 s
    left, from 9 on to 16 <= T = 16.
    """
    rule = {"name": "periodic", "interval": 3.0, "cost": 0.0}
    jobs = [(0, 16, 1), (0, 10, 1), (1, 1, 2)]
    order = {**EASY, "order": {"name": "largest"}}
    assert failing(jobs, [(5, 1, 4)], cluster(2), order, checkpointing=rule)["start"].tolist() == [0, 9, 16]
    assert failing(jobs, [(5, 1, 4)], cluster(2), order)["start"].tolist() == [0, 17, 16]


# -- sections 14 and 16, on random cases


@given(failure_cases())
def test_invariants_hold(case):
    """`verify` is asked after every instant; here also what is seen from outside."""
    settings, columns, world = case
    result = simulate({**settings, "verify": True}, **columns, world=world)
    table = result["events_table"]
    times, kinds, jobs = table["time"], table["kind"], table["job"]
    assert (times[1:] >= times[:-1]).all()
    hit = (kinds == EventKind.FAILURE) & (jobs >= 0)
    assert hit.sum() == result["failures_hit"] == result["restarts"].sum()
    assert (kinds == EventKind.FAILURE).sum() == result["failures"]
    assert (kinds == EventKind.CHECKPOINT).sum() == result["checkpoints"]
    assert (kinds == EventKind.MOVE).sum() == result["moves"].sum()
    assert sorted(jobs[kinds == EventKind.FINISH]) == list(range(len(columns["size"])))
    starts = len(columns["size"])
    if settings["recovery"]["name"] == "requeue":
        starts += result["restarts"].sum()
    assert (kinds == EventKind.START).sum() == starts
    assert (result["lost_work"] >= 0).all()
    assert math.isclose(result["lost_work"].sum(), result["ledger"]["lost"], rel_tol=1e-9, abs_tol=1e-9)
