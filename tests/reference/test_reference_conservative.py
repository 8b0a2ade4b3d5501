"""Conservative backfilling of the reference engine, worked by hand (model.md#conservative)."""

import pytest

from helpers.by_hand import CONSERVATIVE, CORNER, cluster, run, starts, torus


def test_every_queued_job_has_a_reservation():
    """ "Every queued job has a reservation [...], and keeps it": job 3 may not delay job 2 (compare EASY above)."""
    jobs = [(0, 10, 3), (0, 10, 3), (0, 10, 4), (0, 30, 1)]
    result = run(cluster(4), CONSERVATIVE, jobs)
    assert result["start"].tolist() == [0, 10, 20, 30]
    assert not result["backfilled"].any()


@pytest.mark.parametrize("machine", [cluster(4), torus(1, 1, 4)])
def test_a_job_starts_in_a_hole(machine):
    """Jobs 2 and 3 fit before job 1's reservation at 10, one to the second; job 4 only after it."""
    result = run(machine, CONSERVATIVE, [(0, 10, 2), (0, 10, 4), (0, 10, 1), (0, 4, 1), (0, 10.5, 1)])
    assert result["start"].tolist() == [0, 10, 0, 0, 20]
    assert result["backfilled"].tolist() == [False, False, True, True, False]


@pytest.mark.parametrize("machine", [cluster(4), torus(1, 1, 4)])
def test_compress_in_queue_order(machine):
    """ "A pass removes one job's reservation after another, in queue order": at 4 both move up; job 2 was promised
    15.
    """
    assert starts(machine, CONSERVATIVE, [(0, 4, 4, 10), (0, 5, 4), (0, 5, 4)]) == [0, 4, 9]


def test_compress_takes_one_reservation_out_at_a_time():
    """ "and puts it into the earliest hole given all others".

    At 0: job 1 is promised 10, jobs 2 and 3 (2 nodes, 10 s) 15.  Job 0 ends early, at 4: job 1 starts, jobs 2 and 3
    move to 9 together.
    """
    assert starts(cluster(4), CONSERVATIVE, [(0, 4, 4, 10), (0, 5, 3), (0, 10, 2), (0, 10, 2)]) == [0, 4, 9, 9]


def test_conservative_rebuilds_after_an_overrun():
    """ "After a disturbance all reservations are dropped and recomputed in queue order."

    Jobs 1 and 2 (whole machine) are promised 5 and 10.  Job 0 runs until 8; at 6 job 1 is promised "now", so job 3, for
    which a node is free, has to wait.
    """
    jobs = [(0, 8, 2, 5), (0, 5, 3), (0, 5, 3), (6, 2, 1)]
    assert starts(cluster(3), CONSERVATIVE, jobs) == [0, 8, 13, 18]


def test_an_overrun_disturbs_while_it_lasts():
    """ "a running job past its expected end": job 2 (all nodes, 9 s) is promised 9, so job 3 (8 s) is promised 18.  At
    6 job 0 is late, and in the new plan the shorter job 3 goes first: it starts at once.
    """
    shortest = {**CONSERVATIVE, "order": {"name": "shortest"}}
    assert starts(cluster(5), shortest, [(0, 7, 1, 5), (0, 9, 2), (1, 9, 5), (2, 8, 1), (6, 1, 1)]) == [0, 0, 14, 6, 6]


def test_an_overrun_that_has_ended_did_disturb():
    """ "or one that was and has ended since the last pass".

    Job 0 holds 1 of 7 nodes until 9, as expected; job 1 is expected at 4 and ends at 5 with no pass in between.  Job 3
    (shorter, promised a place after job 2's) goes first in the new plan.
    """
    shortest = {**CONSERVATIVE, "order": {"name": "shortest"}}
    jobs = [(0, 9, 1), (0, 5, 2, 4), (1, 4, 7), (2, 3, 7)]
    assert starts(cluster(7), shortest, jobs) == [0, 0, 12, 9]
    assert starts(cluster(7), shortest, [(0, 9, 1), (0, 5, 2), *jobs[2:]]) == [0, 0, 9, 13]


def test_reservations_of_no_length():
    """ "A reservation of zero length needs room at its instant": job 2 waits for the end of job 1's promise."""
    assert starts(cluster(4), CONSERVATIVE, [(0, 10, 3), (0, 5, 4), (0, 0, 2), (0, 10, 1)]) == [0, 10, 15, 0]


@pytest.mark.parametrize("machine", [cluster(4), torus(1, 1, 4)])
def test_reservations_of_no_length_take_nothing(machine):
    """[t, t) is empty: job 3 runs across job 2's promise, which is for all nodes at 20, and so is missed."""
    assert starts(machine, CONSERVATIVE, [(0, 10, 4), (0, 10, 3), (0, 0, 4), (2, 15, 1)]) == [0, 10, 25, 10]


@pytest.mark.parametrize("machine", [cluster(11), torus(1, 1, 11)])
def test_a_sweep_makes_no_promise_later(machine):
    """ "never later than it was": jobs 1 and 2 are promised 1, where job 2's would leave no room for job 1's."""
    assert starts(machine, CONSERVATIVE, [(0, 1, 10), (0, 0, 6), (0, 2, 8)]) == [0, 1, 1]


def test_conservative_growth_is_for_the_first_job():
    """ "for the first job in the queue its rounded size or any larger one, for the others up to s + `max_growth`"."""
    assert run(CORNER, CONSERVATIVE, [(0, 9, 12), (0, 1, 5)])["allocated"].tolist() == [12, 8]
    for growth, start in [(2, 10), (3, 1)]:
        scheduler = {**CONSERVATIVE, "max_growth": growth}
        assert starts(CORNER, scheduler, [(0, 9, 12), (1, 1, 20), (1, 1, 5)]) == [0, 9, start]
