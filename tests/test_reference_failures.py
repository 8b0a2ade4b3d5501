"""Failures in the reference engine, worked by hand (MODEL.md sections 6 to 9, 11 and 14)."""

import math

import pytest
from hypothesis import given

from faultsim.errors import EngineError
from faultsim.reference.checkpointing import interval_of
from faultsim.reference.engine import simulate
from tests.by_hand import (
    ARRIVES,
    CHECKPOINT,
    CONSERVATIVE,
    DEFRAGMENT,
    EASY,
    FAILURE,
    FINISH,
    HOLD,
    LEAST_FAILURES,
    MOVE,
    REPAIR,
    REQUEUE,
    START,
    TAIL,
    cluster,
    failing,
    places,
    rows,
    run,
    torus,
)
from tests.failure_strategies import failure_cases

LINE = torus(1, 1, 4, wrap=False)
TEN = [(0, 10, 2)]  # one job of 10 s on both nodes of a cluster(2)


def ledger(result):
    """The accounts that are not zero."""
    return {account: seconds for account, seconds in result["ledger"].items() if seconds}


# -- section 9: Requeue


def test_a_failure_kills_and_the_job_starts_again_in_the_same_instant():
    """ "back to the queue; work since the last safe point is lost [...] it may restart in the same instant": 4 s on 2
    nodes are lost.
    """
    result = failing(TEN, [(4, 1, 0)], cluster(2))
    assert rows(result) == [
        (0, ARRIVES, 0, -1), (0, START, 0, -1), (4, FAILURE, 0, 1), (4, START, 0, -1), (14, FINISH, 0, -1),
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
    assert rows(result)[2:5] == [(4, FAILURE, 0, 1), (10, REPAIR, -1, 1), (10, START, 0, -1)]
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
    """ "Simultaneous failures are one instant: one kill a job."  Node 1 is down all the same."""
    result = failing(TEN, [(4, 0, 0), (4, 1, 3), (4, 1, 2)], cluster(2))
    assert rows(result)[2:6] == [(4, FAILURE, 0, 0), (4, FAILURE, -1, 1), (4, FAILURE, -1, 1), (7, REPAIR, -1, 1)]
    assert (result["restarts"][0], result["failures"], result["failures_hit"]) == (1, 3, 1)
    assert result["start"][0] == 7


def test_a_failure_during_a_down_time_extends_it():
    """ "A failure during a down time extends it to the later end.": [2, 7) becomes [2, 9); 6 + 1 changes nothing."""
    result = failing([(0, 1, 1), (3, 1, 2)], [(2, 1, 5), (4, 1, 5), (6, 1, 1)], cluster(2))
    assert result["start"].tolist() == [0, 9]
    assert result["ledger"]["down"] == 7
    assert [row for row in rows(result) if row[1] == REPAIR] == [(9, REPAIR, -1, 1)]
    # Passes: at 0, 1, 2, 3, 4 (it became later), 9, 10; none at 6.
    assert result["passes"] == 7
    assert result["events"] == 2 + 2 + 3 + 1


def test_a_failure_without_down_time_on_a_free_node_does_nothing():
    """ "Down time 0 never makes a node down and creates no repair; alone, on a free node, it runs no pass."."""
    result = failing([(0, 5, 1)], [(2, 1, 0)], cluster(2))
    assert (result["finish"][0], result["failures"], result["failures_hit"], result["passes"]) == (5, 1, 0, 2)
    assert rows(result)[2] == (2, FAILURE, -1, 1)


def test_repair_comes_before_the_failure_of_the_same_instant():
    """Down over [2, 5), up at 5, and down again until 8; nothing starts in between."""
    result = failing([(0, 1, 1), (3, 1, 2)], [(2, 1, 3), (5, 1, 3)], cluster(2))
    assert [row for row in rows(result) if row[1] in (REPAIR, FAILURE)] == [
        (2, FAILURE, -1, 1), (5, REPAIR, -1, 1), (5, FAILURE, -1, 1), (8, REPAIR, -1, 1),
    ]  # fmt: skip
    assert result["start"].tolist() == [0, 8]


def test_failures_before_the_first_submit():
    """Reading F6: the node is down until 22; a node whose up time is <= the first submit is up."""
    result = failing([(10, 5, 1)], [(2, 0, 20)], cluster(1))
    assert (result["start"][0], result["failures"], result["ledger"]["down"]) == (22, 0, 12)
    assert rows(result)[0] == (10, ARRIVES, 0, -1)
    result = failing([(10, 5, 1)], [(2, 0, 8)], cluster(1))
    assert result["start"][0] == 10
    assert all(row[1] != REPAIR for row in rows(result))


@pytest.mark.parametrize(("recovery", "finish"), [(REQUEUE, [15, 25, 35]), (TAIL, [25, 15, 35])])
def test_where_a_killed_job_waits(recovery, finish):
    """ "A requeued job keeps its key (`requeue="arrival"`; or `"tail"`)"; the tail of 5 is before the arrival of 5."""
    result = failing([(0, 10, 1), (1, 10, 1), (5, 10, 1)], [(5, 0, 0)], cluster(1), recovery=recovery)
    assert result["finish"].tolist() == finish


def test_the_tail_settles_ties_of_other_orders():
    """Jobs 0 and 1 are of one size: behind "tail" job 1 is first."""
    order = {"name": "fcfs", "order": {"name": "largest"}}
    result = failing([(0, 10, 1), (1, 10, 1)], [(5, 0, 0)], cluster(1), order, recovery=TAIL)
    assert result["finish"].tolist() == [25, 15]


def test_restart_cost():
    """ "`restart_cost`: at every start after a kill": [4, 7), then 10 s of work.  A failure at 5 breaks it off: one
    second more in its account, nothing lost.
    """
    recovery = {**REQUEUE, "restart_cost": 3.0}
    result = failing(TEN, [(4, 0, 0)], cluster(2), recovery=recovery)
    assert (result["start"][0], result["finish"][0], result["restart_time"][0]) == (4, 17, 3)
    result = failing(TEN, [(4, 0, 0), (5, 0, 0)], cluster(2), recovery=recovery)
    assert (result["finish"][0], result["restart_time"][0], result["restarts"][0]) == (18, 4, 2)
    assert ledger(result) == {"useful": 20, "lost": 8, "restart": 8}


def test_a_failure_in_the_start_delay_kills():
    """ "the nodes are held meanwhile; a failure then kills": it begins anew at 2 and starts at 5."""
    result = failing(TEN, [(2, 0, 0)], cluster(2), start_delay=3.0)
    assert (result["first_start"][0], result["start"][0], result["finish"][0]) == (5, 5, 15)
    assert (result["restarts"][0], result["lost_work"][0], result["failure_wait"][0]) == (1, 0, 3)
    assert ledger(result) == {"useful": 20, "start_delay": 10}


def test_nobody_said_what_becomes_of_killed_jobs():
    with pytest.raises(EngineError, match="recovery is None"):
        failing(TEN, [(4, 0, 0)], cluster(2), recovery=None)


# -- section 9: Hold


def test_hold():
    """ "the job stays on its nodes until the failed node is repaired, then pays the restart cost and resumes from the
    last safe point": held over [4, 10), restart to 12, 10 s again.  Job 1 cannot have the other node.
    """
    result = failing([(0, 10, 2), (5, 1, 1)], [(4, 1, 6)], cluster(2), recovery={**HOLD, "restart_cost": 2.0})
    assert (result["start"][0], result["finish"][0]) == (0, 22)
    assert (result["failure_wait"][0], result["restarts"][0], result["lost_work"][0]) == (6, 1, 8)
    assert result["start"][1] == 22
    assert ledger(result) == {"useful": 21, "lost": 8, "held_for_repair": 12, "restart": 4, "idle_no_demand": 1}
    assert result["allocations"]["begin"].tolist() == [0, 22]
    assert [row[0] for row in rows(result) if row[1] == REPAIR] == [10]


def test_failures_extend_a_hold():
    """ "Further failures on its nodes extend the hold; they are no second kill.": node 0 is down over [4, 7), node 1
    over [5, 9) and, by the failure at 8, until 12; one without down time does nothing.
    """
    result = failing(TEN, [(4, 0, 3), (5, 1, 4), (6, 0, 0), (8, 1, 4)], cluster(2), recovery=HOLD)
    assert (result["finish"][0], result["restarts"][0], result["failures_hit"]) == (22, 1, 1)
    assert [row[0] for row in rows(result) if row[1] == REPAIR] == [7, 12]
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
    """Reading F9: "a job killed in its start delay gets start = t"; no other delay when the hold ends."""
    result = failing(TEN, [(2, 0, 4)], cluster(2), start_delay=3.0, recovery=HOLD)
    assert (result["first_start"][0], result["start"][0], result["finish"][0]) == (2, 2, 16)
    assert ledger(result) == {"useful": 20, "start_delay": 4, "held_for_repair": 8}


# -- section 11: planned checkpoints


def periodic(failures, **options):
    rule = {"name": "periodic", "interval": 3.0, "cost": 1.0}
    return failing(TEN, failures, cluster(2), checkpointing=rule, **options)


def test_periodic_checkpoints():
    """ "skipped when the remaining work is <= cost": after 3 and 6 s of work, not after 9 (1 s remains)."""
    result = periodic([])
    assert (result["finish"][0], result["checkpoint_time"][0], result["checkpoints"]) == (12, 2, 0)
    assert ledger(result) == {"useful": 20, "checkpoint": 4}


@pytest.mark.parametrize(
    ("time", "finish", "lost", "spent"),
    [
        # Checkpoints are over [3, 4) and [7, 8).  From a safe 3 the rest takes 7 + 1, from 6 it takes 4 + 0 (work of
        # 3, then 1 = cost remains), from 0 it takes 12.
        (2, 14, 2, 2),
        (3, 15, 3, 2),  # it begins at 3
        (3.5, 15.5, 3, 2.5),
        (4, 12, 0, 2),  # "a checkpoint that completes exactly when its node fails is done"
        (6, 14, 2, 2),
        (7.75, 15.75, 3, 2.75),
        (8, 12, 0, 2),
        (11, 15, 3, 2),
    ],
)
def test_a_failure_rolls_back_to_the_last_checkpoint(time, finish, lost, spent):
    result = periodic([(time, 0, 0)])
    assert (result["finish"][0], result["lost_work"][0], result["checkpoint_time"][0]) == (finish, 2 * lost, spent)


def test_checkpoints_and_restart_cost():
    """Killed at 6 with 3 s safe: restart over [6, 8), work over [8, 11), checkpoint [11, 12), work to 16."""
    result = periodic([(6, 0, 0)], recovery={**REQUEUE, "restart_cost": 2.0})
    assert (result["finish"][0], result["checkpoint_time"][0], result["restart_time"][0]) == (16, 2, 2)


@pytest.mark.parametrize(("length", "starts"), [(10, [0, 12, 0]), (11, [0, 12, 13])])
def test_planned_checkpoints_are_expected(length, starts):
    """ "Expected duration [...] checkpoints planned": T is 12; 10 s take 12, 11 s take 14 (three checkpoints)."""
    rule = {"name": "periodic", "interval": 3.0, "cost": 1.0}
    result = run(cluster(2), EASY, [(0, 10, 1), (0, 1, 2), (0, length, 1)], checkpointing=rule)
    assert result["start"].tolist() == starts


def test_intervals_of_young_and_daly():
    """Young: sqrt(2*2*100/4) = 10.  Daly, m = 25, x = C/2m = 0.04: 10*(1 + 0.2/3 + 0.04/9) - 2; m if C >= 2m."""
    assert interval_of({"name": "young", "cost": 2.0, "mtbf": 100.0}, 4) == 10
    daly = interval_of({"name": "daly", "cost": 2.0, "mtbf": 100.0}, 4)
    assert daly == pytest.approx(8.7111111111, rel=1e-9)
    assert interval_of({"name": "daly", "cost": 50.0, "mtbf": 100.0}, 4) == 25


def test_young_counts_in_a_run():
    """On 2 nodes with C = 1 and M = 9: W = 3."""
    result = failing(TEN, [], cluster(2), checkpointing={"name": "young", "cost": 1.0, "mtbf": 9.0})
    assert result["finish"][0] == 12


# -- section 11: requested checkpoints


def before_failure(time, cost, job=10, **options):
    """A failure that is announced `cost` seconds before."""
    rule = {"name": "before_failure", "cost": float(cost)}
    return failing([(0, job, 2)], [(time, 0, 0)], cluster(2), alarms=[(time - cost, 0)], checkpointing=rule, **options)


def test_a_checkpoint_that_ends_when_the_node_fails():
    """Checkpoint over [6, 8), failure at 8: 6 s are safe, 4 remain."""
    result = before_failure(8, 2)
    assert (result["finish"][0], result["lost_work"][0], result["checkpoint_time"][0]) == (12, 0, 2)
    assert result["checkpoints"] == 1
    assert rows(result)[2:4] == [(6, CHECKPOINT, 0, -1), (8, FAILURE, 0, 0)]
    assert (result["events"], result["passes"]) == (4, 3)


def test_before_failure_without_cost_loses_nothing():
    """ "BeforeFailure(0) loses nothing": the request of the failure's instant is heard before it."""
    result = before_failure(8, 0)
    assert (result["finish"][0], result["lost_work"][0], result["restarts"][0]) == (10, 0, 1)


def test_a_request_needs_more_work_than_it_costs():
    """ "remaining work > cost": at 8 of 10 s, 2 remain.  The job is done at 10, before its node fails."""
    result = before_failure(10, 2)
    assert (result["checkpoints"], result["finish"][0], result["restarts"][0]) == (0, 10, 0)
    result = before_failure(10, 2, job=10.5)
    assert (result["checkpoints"], result["finish"][0], result["restarts"][0]) == (1, 12.5, 1)


def test_requests_that_nobody_can_meet():
    """At 0 there is nothing to save; at 6.5 the checkpoint of 6 goes on; node 1 of 3 is free at 7."""
    rule = {"name": "before_failure", "cost": 2.0}
    alarms = [(0, 0), (6, 0), (6.5, 0), (7, 1)]
    result = failing([(0, 10, 1)], [], cluster(3), alarms=alarms, checkpointing=rule)
    assert (result["checkpoints"], result["finish"][0]) == (1, 12)


def test_a_broken_off_checkpoint():
    """ "A broken-off checkpoint [...] stays in its own account": [6, 8) is broken off at 7; 6 s of work are lost."""
    rule = {"name": "before_failure", "cost": 2.0}
    result = failing(TEN, [(7, 1, 0)], cluster(2), alarms=[(6, 0)], checkpointing=rule)
    assert (result["finish"][0], result["lost_work"][0], result["checkpoint_time"][0]) == (17, 12, 1)


VICTIMS = [(0, 20, 1), (2, 20, 3), (3, 20, 2), (3, 20, 3)]


@pytest.mark.parametrize(
    ("victims", "jobs"),
    [
        ({"name": "all"}, [0, 1, 2, 3]),
        ({"name": "long", "seconds": 4.0}, [0, 1]),  # at 6: 6, 4, 3 and 3 s since the start
        ({"name": "big", "k": 1}, [1]),
        ({"name": "big", "k": 3}, [1, 2, 3]),
    ],
)
def test_victims(victims, jobs):
    rule = {"name": "predicted_windows", "cost": 1.0, "interval": 7200.0, "bucket": 1.0, "victims": victims}
    result = failing(VICTIMS, [], cluster(9), alarms=[(6, -1)], checkpointing=rule)
    assert [row[2] for row in rows(result) if row[1] == CHECKPOINT] == jobs
    assert [job for job in range(4) if result["checkpoint_time"][job]] == jobs


def test_the_largest_are_those_that_can():
    """ "the k largest then working": job 1 is in a checkpoint at 6.5, so the request takes job 3."""
    rule = {
        "name": "predicted_windows",
        "cost": 1.0,
        "interval": 0.5,
        "bucket": 1.0,
        "victims": {"name": "big", "k": 1},
    }
    result = failing(VICTIMS, [], cluster(9), alarms=[(6, -1), (6.5, -1)], checkpointing=rule)
    assert [row[2] for row in rows(result) if row[1] == CHECKPOINT] == [1, 3]


def risk(predictions, p, interval=3.0, **options):
    rule = {"name": "risk_based", "interval": interval, "cost": 1.0}
    return failing(TEN, [], cluster(2), predictions=predictions, p=p, checkpointing=rule, **options)


def test_risk_based():
    """ "at each request skip unless p_f * d * I >= C": asked at 3, 6 and 9.

    A prediction at 7 is not in (3, 7), but in (6, 10): 1*2*3 >= 1.  The next request is 3 s after the checkpoint, at
    10, when 1 s remains.
    """
    result = risk([(7, 0)], 1.0)
    assert [row[0] for row in rows(result) if row[1] == CHECKPOINT] == [6]
    assert (result["finish"][0], result["checkpoint_time"][0]) == (11, 1)


def test_risk_based_counts_nodes_and_intervals():
    """p = 0.125: at 2, 4 and 6 the chance is 0.125 for one node: 0.125*d*2 >= 1 from d = 4 on, at 8.  With both nodes
    it is 1 - 0.875^2 = 0.234375: from d = 3 on, at 6.
    """
    one = [(t, 0) for t in (3, 5, 7, 9)]
    both = sorted(one + [(t, 1) for t in (3, 5, 7, 9)])
    assert [row[0] for row in rows(risk(one, 0.125, 2.0)) if row[1] == CHECKPOINT] == [8]
    assert [row[0] for row in rows(risk(both, 0.125, 2.0)) if row[1] == CHECKPOINT] == [6]


def test_an_unforeseen_checkpoint_moves_the_expected_end():
    """ "Checkpoints by prediction [...] are not foreseen; the expected end moves when they happen."

    Job 0 takes a checkpoint over [4, 6) and is expected at 12.  At 5 a job of 7 s fits before the head's T of 12.
    """
    rule = {"name": "before_failure", "cost": 2.0}
    jobs = [(0, 10, 1), (0, 1, 2), (5, 7, 1)]
    assert failing(jobs, [], cluster(2), EASY, checkpointing=rule)["start"].tolist() == [0, 10, 11]
    assert failing(jobs, [], cluster(2), EASY, alarms=[(4, 0)], checkpointing=rule)["start"].tolist() == [0, 12, 5]


# -- section 7: placement with failures and predictions


def test_least_failures_first():
    """ "fewest failures so far, failures on idle and down nodes included, then lowest number": 1, 2 and 1 failures,
    those before the first submit and on node 1 while it is down too.
    """
    failures = [(0, 0, 0), (1, 1, 3), (2, 1, 0), (11, 2, 0)]
    result = failing(
        [(10, 1, 1), (12, 1, 1), (12, 1, 1)], failures, cluster(3), placement={"name": "least_failures_first"}
    )
    assert result["allocations"]["nodes"].tolist() == [2, 0, 2]


@pytest.mark.parametrize(("estimate", "predicted", "node"), [(10, 5, 1), (5, 5, 0), (10, 0, 0), (10, 9.5, 1)])
def test_safest_first(estimate, predicted, node):
    """ "predicted not to fail in the job's window first"; the window (0, estimate) is open."""
    result = failing(
        [(0, estimate, 1)], [], cluster(2), predictions=[(predicted, 0)], placement={"name": "safest_first"}
    )
    assert result["allocations"]["nodes"].tolist() == [node]


def base(placement, predictions, p=1.0):
    """Where a job of 2 nodes and 10 s goes on an empty line of 4.

    The boxes at 0, 1 and 2 leave an MFP of 2, 1 and 2 of 4.
    """
    placement = {"box_order": "extents-descending", **placement}
    result = failing([(0, 10, 2)], [], LINE, predictions=[(5, node) for node in predictions], p=p, placement=placement)
    return int(result["allocations"]["z"][0])


@pytest.mark.parametrize(
    ("rule", "predictions", "p", "chosen"),
    [
        ("prod", [0], 1.0, 2),  # 2 + 2, 3, 2
        ("prod", [0, 3], 1.0, 1),  # 2 + 2, 3, 2 + 2
        ("prod", [0, 3], 0.4, 0),  # 2 + 0.8, 3, 2 + 0.8
        ("prod", [0, 1, 2], 1.0, 0),  # 2 + 2, 3 + 2, 2 + 2
        ("prod", [0, 1, 3], 0.5, 2),  # 2 + 1.5, 3 + 1, 2 + 1
        ("max", [0, 1, 3], 0.5, 0),  # 2 + 1, 3 + 1, 2 + 1
        ("prod", [], 1.0, 0),
    ],
)
def test_balancing(rule, predictions, p, chosen):
    """ "least L_MFP + P_f * q"."""
    assert base({"name": "balancing", "rule": rule}, predictions, p) == chosen


@pytest.mark.parametrize(("predictions", "chosen"), [([], 0), ([0], 2), ([0, 3], 0), ([3], 0)])
def test_tie_breaking(predictions, chosen):
    """ "among the boxes that leave the largest MFP over all candidates, the first that is predicted not to fail; if all
    are, the first": never the one in the middle.
    """
    assert base({"name": "tie_breaking"}, predictions) == chosen


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
    """ "restart cost if it was killed + estimate": job 1 (10 s), killed at 5, waits for node 1 until 9; T is 20, so
    with a restart cost of more than 1 s it has to wait for the head.
    """
    recovery = {**REQUEUE, "restart_cost": cost}
    jobs = [(0, 20, 1), (0.5, 10, 1), (1, 1, 2)]
    result = failing(jobs, [(5, 1, 4)], cluster(2), {**EASY, "order": {"name": "largest"}}, recovery=recovery)
    assert result["start"].tolist() == starts


def test_easy_expects_the_safe_progress_no_more():
    """ "estimate - safe progress": job 1 (10 s, checkpoints of no cost every 3 s), killed at 5 with 3 s safe, has 7 s
    left, from 9 on to 16 <= T = 16.
    """
    rule = {"name": "periodic", "interval": 3.0, "cost": 0.0}
    jobs = [(0, 16, 1), (0, 10, 1), (1, 1, 2)]
    order = {**EASY, "order": {"name": "largest"}}
    assert failing(jobs, [(5, 1, 4)], cluster(2), order, checkpointing=rule)["start"].tolist() == [0, 9, 16]
    assert failing(jobs, [(5, 1, 4)], cluster(2), order)["start"].tolist() == [0, 17, 16]


# -- section 8: migration


def test_least_failures_migration():
    """At 5 job 0 ends, and job 1 (since 1, on node 1 with 2 failures) moves to node 0: 4 s done, a phase over [5, 8),
    then 6 s.
    """
    result = swapped([])
    assert (result["finish"][1], result["moves"][1]) == (14, 1)
    assert (result["migrations_attempted"], result["migrations_successful"]) == (1, 1)
    assert rows(result)[6:8] == [(5, FINISH, 0, -1), (5, MOVE, 1, -1)]
    assert result["allocations"]["nodes"].tolist() == [0, 1, 0]
    assert result["allocations"]["end"].tolist() == [5, 5, 14]
    assert result["ledger"]["migration"] == 3


def swapped(failures, jobs=((0, 5, 1), (1, 10, 1)), **options):
    """Node 1 has failed twice, at 0.5, while it was free."""
    migration = {**LEAST_FAILURES, "cost": 3.0, **options}
    return failing(jobs, [(0.5, 1, 0), (0.5, 1, 0), *failures], cluster(2), migration=migration)


def test_a_failure_in_a_migration():
    """ "its end is a safe point; a failure in it rolls back to the older one."."""
    result = swapped([(7, 0, 0)])
    assert (result["finish"][1], result["lost_work"][1], result["ledger"]["migration"]) == (17, 4, 2)
    result = swapped([(8, 0, 0)])
    assert (result["finish"][1], result["lost_work"][1], result["restarts"][1]) == (14, 0, 1)


def test_who_may_migrate():
    """ "while the difference of failure counts exceeds the threshold"; "jobs whose last start is later than the
    finished job's".
    """
    tolerant = swapped([], threshold=2.0)
    assert (tolerant["moves"].tolist(), tolerant["migrations_attempted"]) == ([0, 0], 1)
    together = swapped([], jobs=[(0.6, 5, 1), (0.6, 10, 1)])
    assert (together["moves"].tolist(), together["migrations_attempted"]) == ([0, 0], 0)


def test_a_migration_breaks_off_a_restart():
    """Job 1 is killed at 4 and restarts over [4, 6) on node 1, the only free one; at 5 it moves: 1 s of restart, then
    [5, 8), then all its 10 s.
    """
    recovery = {**REQUEUE, "restart_cost": 2.0}
    failures = [(0.5, 1, 0), (0.5, 1, 0), (4, 1, 0)]
    migration = {**LEAST_FAILURES, "cost": 3.0}
    result = failing([(0, 5, 1), (1, 10, 1)], failures, cluster(2), migration=migration, recovery=recovery)
    assert (result["finish"][1], result["restart_time"][1], result["lost_work"][1]) == (18, 1, 3)
    assert result["ledger"]["migration"] == 3


def test_a_migration_breaks_off_a_planned_checkpoint():
    """Job 1 (since 1, W = 3, C = 2) is at 5 in its checkpoint over [4, 6): 1 s of it is spent, 3 s of work are carried
    to 8; then 7 s with one checkpoint more.  A failure at 7 loses the 3 s.
    """
    rule = {"name": "periodic", "interval": 3.0, "cost": 2.0}
    options = {"migration": {**LEAST_FAILURES, "cost": 3.0}, "checkpointing": rule}
    worn = [(0.5, 1, 0), (0.5, 1, 0)]
    jobs = [(0, 5, 1), (1, 10, 1)]  # job 0 ends at 5: 5 - 3 <= 2, so it plans no checkpoint
    result = failing(jobs, worn, cluster(2), **options)
    # 10 s from 1: checkpoints planned after 3 and 6 (10 - 6 > 2, 10 - 9 = 1).  From 8 on 7 s: one after 3 (7 - 6 = 1).
    assert (result["finish"][1], result["checkpoint_time"][1]) == (8 + 7 + 2, 1 + 2)
    result = failing(jobs, [*worn, (7, 0, 0)], cluster(2), **options)
    assert result["lost_work"][1] == 3
    assert result["finish"][1] == 7 + 10 + 4


# A line of 8: job 2 (nodes 4 and 5) is moved to 2 and 3 at 6, when jobs 1 and 3 have ended and job 4 wants 4 nodes.
SCATTERED = [(0, 100, 2), (0, 5, 2), (0, 100, 2), (0, 6, 2), (0, 1, 4)]


def defragmented(failures, **options):
    rule = {**DEFRAGMENT, "cost": 3.0}
    return failing(SCATTERED, failures, torus(1, 1, 8, wrap=False), migration=rule, **options)


def test_a_failure_in_a_pause():
    """Paused over [6, 9), killed at 8: 6 s of work are lost, 2 s of the pause are spent."""
    result = defragmented([(8, 2, 0)])
    assert (result["moves"][2], result["finish"][2], result["lost_work"][2]) == (1, 108, 12)
    assert result["ledger"]["migration"] == 4


def test_a_failure_after_a_pause():
    """Killed at 10: 7 s of work are lost."""
    result = defragmented([(10, 2, 0)])
    assert (result["finish"][2], result["lost_work"][2], result["ledger"]["migration"]) == (110, 14, 6)


def test_a_pause_is_no_safe_point_and_takes_no_request():
    """At 8 job 2 is paused; at 10 it works: 7 s are done, its checkpoint is over [10, 11)."""
    rule = {"name": "before_failure", "cost": 1.0}
    result = defragmented([(11, 2, 0)], alarms=[(8, 2), (10, 2)], checkpointing=rule)
    assert (result["checkpoints"], result["lost_work"][2], result["finish"][2]) == (1, 0, 11 + 93)


def test_down_nodes_are_blocked():
    """With node 3 down, job 2 has no better place: nothing moves.  With node 7 down it does, but the largest free box
    has 3 nodes only, and job 4 waits for the repair.
    """
    assert defragmented([(5.5, 3, 500)])["moves"].tolist() == [0, 0, 0, 0, 0]
    result = defragmented([(6, 7, 50)])
    assert places(result)[2][1] == (0, 0, 2, 1, 1, 2)
    assert result["start"][4] == 56


def test_held_jobs_stay_where_they_are():
    """Job 2 is held over [5.5, 20), so the attempt at 6 finds nothing better.  At 20 the occupancy is that of the last
    attempt, so there is no other; job 4 waits for job 0.
    """
    result = defragmented([(5.5, 4, 14.5)], recovery=HOLD)
    assert (result["migrations_attempted"], result["moves"].sum()) == (1, 0)
    assert result["start"][4] == 100


# -- sections 14 and 16, on random cases


@given(failure_cases())
def test_invariants_hold(case):
    """`verify` is asked after every instant; here also what is seen from outside."""
    settings, columns, world = case
    result = simulate({**settings, "verify": True}, **columns, world=world)
    table = result["events_table"]
    times, kinds, jobs = table["time"], table["kind"], table["job"]
    assert (times[1:] >= times[:-1]).all()
    hit = (kinds == FAILURE) & (jobs >= 0)
    assert hit.sum() == result["failures_hit"] == result["restarts"].sum()
    assert (kinds == FAILURE).sum() == result["failures"]
    assert (kinds == CHECKPOINT).sum() == result["checkpoints"]
    assert (kinds == MOVE).sum() == result["moves"].sum()
    assert sorted(jobs[kinds == FINISH]) == list(range(len(columns["size"])))
    starts = len(columns["size"])
    if settings["recovery"]["name"] == "requeue":
        starts += result["restarts"].sum()
    assert (kinds == START).sum() == starts
    assert (result["lost_work"] >= 0).all()
    assert math.isclose(result["lost_work"].sum(), result["ledger"]["lost"], rel_tol=1e-9, abs_tol=1e-9)
