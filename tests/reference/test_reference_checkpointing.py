"""Checkpoints in the reference engine, worked by hand (model.md#checkpoints)."""

import pytest

from faultsim.reference.faults.checkpointing import Daly, MaxAvailability, Young
from helpers.by_hand import EASY, REQUEUE, cluster, failing, ledger, rows, run

TEN = [(0, 10, 2)]  # one job of 10 s on both nodes of a cluster(2)


# -- planned


def periodic(failures, **options):
    rule = {"name": "periodic", "interval": 3.0, "cost": 1.0}
    return failing(TEN, failures, cluster(2), checkpointing=rule, **options)


def test_periodic_checkpoints():
    """ "a checkpoint is skipped when what remains then is C or less": after 3 and 6 s of work, not after 9 (1 s
    remains).
    """
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
        (4, 12, 0, 2),  # "a checkpoint that completes, exactly when its node fails is done"
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
    """ "expected end = t0 + (Le + n(Le) C)": T is 12; 10 s take 12, 11 s take 14 (three checkpoints)."""
    rule = {"name": "periodic", "interval": 3.0, "cost": 1.0}
    result = run(cluster(2), EASY, [(0, 10, 1), (0, 1, 2), (0, length, 1)], checkpointing=rule)
    assert result["start"].tolist() == starts


def test_interval_of_the_most_availability():
    """m = 100 / 4 = 25: sqrt(2 (25 + 7) 2 + 2 * 2) = sqrt(132)."""
    rule = {"name": "max_availability", "cost": 2.0, "mtbf": 100.0, "downtime": 7.0}
    assert MaxAvailability(rule).interval_of(4) == pytest.approx(132**0.5, rel=1e-15)


def test_intervals_of_young_and_daly():
    """Young: sqrt(2*2*100/4) = 10.  Daly, m = 25, x = C/2m = 0.04: 10*(1 + 0.2/3 + 0.04/9) - 2; m if C >= 2m."""
    assert Young({"cost": 2.0, "mtbf": 100.0}).interval_of(4) == 10
    daly = Daly({"cost": 2.0, "mtbf": 100.0}).interval_of(4)
    assert daly == pytest.approx(8.7111111111, rel=1e-9)
    assert Daly({"cost": 50.0, "mtbf": 100.0}).interval_of(4) == 25


def test_young_counts_in_a_run():
    """On 2 nodes with C = 1 and M = 9: W = 3."""
    result = failing(TEN, [], cluster(2), checkpointing={"name": "young", "cost": 1.0, "mtbf": 9.0, "any_rate": True})
    assert result["finish"][0] == 12


# -- requested


def before_failure(time, cost, job=10, **options):
    """A failure that is announced `cost` seconds before."""
    rule = {"name": "before_failure", "cost": float(cost)}
    return failing([(0, job, 2)], [(time, 0, 0)], cluster(2), alarms=[(time - cost, 0)], checkpointing=rule, **options)


def test_a_checkpoint_that_ends_when_the_node_fails():
    """Checkpoint over [6, 8), failure at 8: 6 s are safe, 4 remain."""
    result = before_failure(8, 2)
    assert (result["finish"][0], result["lost_work"][0], result["checkpoint_time"][0]) == (12, 0, 2)
    assert result["checkpoints"] == 1
    assert rows(result)[2:4] == [(6, "checkpoint", 0, -1), (8, "failure", 0, 0)]
    assert (result["events"], result["passes"]) == (4, 3)


def test_before_failure_without_cost_loses_nothing():
    """ "`BeforeFailure` with cost 0": the request of the failure's instant is heard before it."""
    result = before_failure(8, 0)
    assert (result["finish"][0], result["lost_work"][0], result["restarts"][0]) == (10, 0, 1)


def test_a_request_needs_more_work_than_it_costs():
    """ "runtime - progress > C": at 8 of 10 s, 2 remain.  The job is done at 10, before its node fails."""
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


def test_a_request_at_the_very_start():
    """The job works from 2 on: at 2 it has nothing to save, at 2.5 it has."""
    rule = {"name": "before_failure", "cost": 1.0}
    result = failing(TEN, [], cluster(2), alarms=[(2, 0), (2.5, 0)], checkpointing=rule, start_delay=2.0)
    assert [row[0] for row in rows(result) if row[1] == "checkpoint"] == [2.5]


def test_a_broken_off_checkpoint():
    """ "Time already spent [...] stays in its own account": [6, 8) is broken off at 7; 6 s of work are lost."""
    rule = {"name": "before_failure", "cost": 2.0}
    result = failing(TEN, [(7, 1, 0)], cluster(2), alarms=[(6, 0)], checkpointing=rule)
    assert (result["finish"][0], result["lost_work"][0], result["checkpoint_time"][0]) == (17, 12, 1)


VICTIMS = [(0, 20, 1), (2, 20, 3), (3, 20, 2), (3, 20, 3)]


@pytest.mark.parametrize(
    ("victims", "jobs"),
    [
        ({"name": "all"}, [0, 1, 2, 3]),
        ({"name": "long", "seconds": 4.0}, [0, 1]),  # at 6: 6, 4, 3 and 3 s since the start
        ({"name": "big", "count": 1}, [1]),
        ({"name": "big", "count": 3}, [1, 2, 3]),
    ],
)
def test_victims(victims, jobs):
    rule = {"name": "predicted_windows", "cost": 1.0, "interval": 7200.0, "bucket": 1.0, "victims": victims}
    result = failing(VICTIMS, [], cluster(9), alarms=[(6, -1)], checkpointing=rule)
    assert [row[2] for row in rows(result) if row[1] == "checkpoint"] == jobs
    assert [job for job in range(4) if result["checkpoint_time"][job]] == jobs


def test_the_largest_are_those_that_run():
    """Job 1 is the largest and in a checkpoint at 6.5, so nobody saves then."""
    rule = {
        "name": "predicted_windows",
        "cost": 1.0,
        "interval": 0.5,
        "bucket": 1.0,
        "victims": {"name": "big", "count": 1},
    }
    result = failing(VICTIMS, [], cluster(9), alarms=[(6, -1), (6.5, -1)], checkpointing=rule)
    assert [row[2] for row in rows(result) if row[1] == "checkpoint"] == [1]


def risk(predictions, p, interval=3.0, **options):
    rule = {"name": "risk_based", "interval": interval, "cost": 1.0}
    return failing(TEN, [], cluster(2), predictions=predictions, p=p, checkpointing=rule, **options)


def test_risk_based():
    """ "granted only if also (P i) W >= C": asked at 3, 6 and 9.

    A prediction at 7 is not in (3, 7), but in (6, 10): 1*2*3 >= 1.  The next request is 3 s after the checkpoint, at
    10, when 1 s remains.
    """
    result = risk([(7, 0)], 1.0)
    assert [row[0] for row in rows(result) if row[1] == "checkpoint"] == [6]
    assert (result["finish"][0], result["checkpoint_time"][0]) == (11, 1)


def test_risk_based_looks_ahead_until_the_next_checkpoint_would_end():
    """At 3 the window is (3, 3 + 3 + 1); it is taken, the next request is at 7."""
    assert [row[0] for row in rows(risk([(6.5, 0)], 1.0)) if row[1] == "checkpoint"] == [3]


def test_risk_based_counts_nodes_and_intervals():
    """p = 0.125: at 2, 4 and 6 the chance is 0.125 for one node: 0.125*d*2 >= 1 from d = 4 on, at 8.  With both nodes
    it is 1 - 0.875^2 = 0.234375: from d = 3 on, at 6.
    """
    one = [(t, 0) for t in (3, 5, 7, 9)]
    both = sorted(one + [(t, 1) for t in (3, 5, 7, 9)])
    assert [row[0] for row in rows(risk(one, 0.125, 2.0)) if row[1] == "checkpoint"] == [8]
    assert [row[0] for row in rows(risk(both, 0.125, 2.0)) if row[1] == "checkpoint"] == [6]


def test_an_unforeseen_checkpoint_moves_the_expected_end():
    """ "The scheduler does not foresee *requested* checkpoints."

    Job 0 takes a checkpoint over [4, 6) and is expected at 12.  At 5 a job of 7 s fits before the head's T of 12.
    """
    rule = {"name": "before_failure", "cost": 2.0}
    jobs = [(0, 10, 1), (0, 1, 2), (5, 7, 1)]
    assert failing(jobs, [], cluster(2), EASY, checkpointing=rule)["start"].tolist() == [0, 10, 11]
    assert failing(jobs, [], cluster(2), EASY, alarms=[(4, 0)], checkpointing=rule)["start"].tolist() == [0, 12, 5]
