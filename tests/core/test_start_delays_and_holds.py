"""Failures in start delays and holds, and jobs at their expected end, worked by hand, in both engines."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.data.event_kinds import EventKind

FINISH, REPAIR, FAILURE = EventKind.FINISH, EventKind.REPAIR, EventKind.FAILURE


@pytest.fixture(params=["core", "reference"])
def engine(request):
    return request.param


def run(engine, failures, recovery, runtime=10.0):
    """One job of two nodes on two nodes, with a start delay of 5 s; failures are (time, node, down time)."""
    time, node, down = zip(*failures, strict=True)
    return fs.simulate(
        fs.Workload(submit=[0], runtime=[runtime], size=[2]),
        fs.Cluster(2),
        failures=fs.FailureTrace(time, node, down, span=1e9),
        recovery=recovery,
        start_delay=5.0,
        engine=engine,
        record=True,
    )


def row(result):
    names = ("first_start", "start", "finish", "restarts", "failure_wait", "lost_work")
    return tuple(float(result.jobs[name][0]) for name in names)


@pytest.mark.parametrize(
    ("failures", "expected"),
    [
        # Killed in its first start delay: the wait begins with this kill, and the first start is the one that comes.
        ([(2, 0, 0)], (7, 7, 17, 1, 5, 0)),
        # Killed again in the next one: one wait from the first kill on, 9 - 2, not (9 - 2) + (9 - 4).
        ([(2, 0, 1), (4, 1, 0)], (9, 9, 19, 2, 7, 0)),
        # At the time of its start it has started.
        ([(5, 0, 0)], (5, 10, 20, 1, 5, 0)),
        # Killed at work and then in a start delay: one wait, 15 - 7.
        ([(7, 0, 1), (10, 1, 0)], (5, 15, 25, 2, 8, 4)),
        # Killed at work twice: two waits, (12 - 7) + (19 - 14).
        ([(7, 0, 0), (14, 1, 0)], (5, 19, 29, 2, 10, 8)),
    ],
)
def test_killed_in_a_start_delay(engine, failures, expected):
    assert row(run(engine, failures, fs.Requeue())) == expected


@pytest.mark.parametrize(
    ("failures", "expected"),
    [
        ([(2, 0, 3)], (2, 2, 15, 1, 3, 0)),  # its start is the kill; no start delay after the hold
        ([(2, 0, 3), (3, 1, 4)], (2, 2, 17, 1, 5, 0)),  # while it is held, a failure only makes the hold longer
        ([(2, 0, 0)], (2, 2, 12, 1, 0, 0)),  # a hold of no length
        ([(5, 0, 2)], (5, 5, 17, 1, 2, 0)),
        ([(2, 0, 3), (5, 1, 4)], (2, 2, 19, 2, 7, 0)),  # the hold has ended when the other node fails: killed again
        ([(2, 0, 0), (2, 1, 4)], (2, 2, 16, 1, 4, 0)),  # it ends after all failures of the instant: killed once
    ],
)
def test_held_from_a_start_delay(engine, failures, expected):
    assert row(run(engine, failures, fs.Hold())) == expected


@pytest.mark.parametrize(
    ("failures", "cost", "expected", "order"),
    [
        # Repaired at 5, it finishes before the other node fails.
        ([(2, 0, 3), (5, 1, 4)], 0.0, (2, 2, 5, 1, 3, 0), [FAILURE, REPAIR, FINISH, FAILURE]),
        # A restart cost is something left to do: killed again.
        ([(2, 0, 3), (5, 1, 4)], 2.0, (2, 2, 11, 2, 7, 0), [FAILURE, REPAIR, FAILURE, REPAIR, FINISH]),
        # Failures while it is held are no kills, at whichever of its nodes.
        ([(2, 0, 3), (4, 0, 4), (4, 1, 0)], 0.0, (2, 2, 8, 1, 6, 0), [FAILURE, FAILURE, FAILURE, REPAIR, FINISH]),
        # Without a node that is down it finishes after all failures of the instant.
        ([(2, 0, 0), (2, 1, 0)], 0.0, (2, 2, 2, 1, 0, 0), [FAILURE, FAILURE, FINISH]),
        ([(2, 0, 0), (2, 1, 4)], 0.0, (2, 2, 6, 1, 4, 0), [FAILURE, FAILURE, REPAIR, FINISH]),
    ],
)
def test_a_held_job_with_nothing_left_to_do(engine, failures, cost, expected, order):
    result = run(engine, failures, fs.Hold(cost), runtime=0.0)
    assert row(result) == expected
    kinds = result.events["kind"]
    assert kinds[np.isin(kinds, [FINISH, REPAIR, FAILURE])].tolist() == order


class RequeueThenHold(fs.Recovery):
    def react(self, decision):
        if decision.now > 7:
            decision.hold(decision.job)


def test_a_hold_ends_the_wait_since_an_earlier_kill(engine):
    """Killed at 7 and requeued; held from 9 to 12, from its start delay on: it waited 9 - 7, and 12 - 9."""
    result = run(engine, [(7, 0, 1), (9, 1, 3)], RequeueThenHold())
    assert row(result) == (5, 9, 22, 2, 5, 4)


def test_a_job_is_past_its_expected_end_when_that_is_now(engine):
    """At 13 job 1 ends and job 3, which should, does not: all reservations are dropped, and job 2 plans before job 4.

    Job 4 would otherwise start at 13 in its reservation, which it got at 8, between jobs 1 and 3 and job 2.
    """
    log = fs.Workload(submit=[3, 4, 6, 7, 7], runtime=[5, 5, 7, 8, 1], estimate=[6, 5, 7, 5, 1], size=[3, 1, 3, 1, 2])
    result = fs.simulate(log, fs.Cluster(3), scheduler=fs.ConservativeBackfill(), engine=engine)
    assert result.jobs["start"].tolist() == [3, 8, 16, 8, 23]
