"""What is said of reservations that are given wrong."""

import pytest

import faultsim as fs
from faultsim.errors import OptionError

LOG = fs.Workload(submit=[0], runtime=[1], size=[1])
USERS = "numbers of the log's column 'user'"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: fs.Reservation("all", 0, 1, users="ann"), f"are {USERS}, such as users=7 or users=.7, 9., not names"),
        (
            lambda: fs.Reservation("all", 0, 1, users=["ann"]),
            "whole numbers, those of the log's column 'user', got 'ann'",
        ),
        (
            lambda: fs.simulate(LOG, "cluster:4", reservations="all:begin=0,end=1,users=ann"),
            f"'ann' is none of {USERS}",
        ),
    ],
)
def test_users_are_numbers(made, said):
    with pytest.raises(OptionError, match=said):
        made()


@pytest.mark.parametrize(
    ("scheduler", "second", "third"),
    [
        (
            "fcfs",
            "nodes reserved: would reach into reservation 'repair' of 20 s to 40 s",
            "behind the head: job 2 is first",
        ),
        ("easy", "nodes reserved: would reach into reservation 'repair' of 20 s to 40 s", "ended: from 0 s to 9 s"),
    ],
)
def test_a_job_waits_for_the_end_of_a_reservation(scheduler, second, third):
    log = fs.Workload(submit=[0, 0, 0], runtime=[10, 15, 9], size=[2, 4, 1])
    repair = fs.Reservation([3], 20, 40, name="repair")
    for engine in ("core", "reference"):
        sim = fs.Simulation(log, "cluster:4", scheduler=scheduler, reservations=repair, engine=engine, record=True)
        sim.advance(until=12)
        assert str(sim.why(1)).startswith(second)
        assert str(sim.why(2)).startswith(third)
    assert (sim.why(1).begin, sim.why(1).until, sim.why(1).ends, sim.why(1).reservation) == (20, 40, 27, "repair")


def test_a_job_waits_for_a_drained_node():
    sim = fs.Simulation(fs.Workload(submit=[5], runtime=[1], size=[4]), "cluster:4", record=True)
    sim.drain(0)
    sim.advance(until=9)
    assert sim.why(0) == fs.Reason(fs.Cause.DRAINED, needed=4, free=3)
    assert str(sim.why(0)) == "nodes drained: needs 4 nodes, 3 of those that are free are not drained"


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize("scheduler", ["fcfs", "easy", "backfill:3", "conservative"])
@pytest.mark.parametrize("machine", ["cluster:4", "torus:2x2x1"])
def test_jobs_of_a_caller_that_owns_time_wait_for_the_end_of_a_reservation(engine, scheduler, machine):
    sim = fs.Simulation(LOG, machine, live=5, scheduler=scheduler, reservations="all:begin=20,end=40", engine=engine)
    sim.advance(until=5)
    sim.submit(fs.Workload(submit=[6, 7], runtime=[30, 13], size=[4, 4]))
    sim.advance(until=100)
    expected = [0, 40, 70] if scheduler == "fcfs" else [0, 40, 7]
    assert sim.result().jobs["start"].tolist() == expected
    assert sim.result().ledger["reserved"] == 4 * 20


@pytest.mark.parametrize("scheduler", [fs.Backfill(3), fs.ConservativeBackfill()], ids=str)
@pytest.mark.parametrize("machine", [fs.Torus(6, 1, 1, wrap=False), fs.Cluster(6)], ids=str)
def test_plans_try_an_end_of_a_reservation_behind_those_of_planned_jobs(machine, scheduler):
    """Node 5 is reserved for the last 2 s of every 20 s.  Job 1 is planned from 10 s to 65 s, and job 2, of all nodes,
    from 80 s on: from 65 s on it would reach into the reservation of 78 s.  So job 3 would delay it on node 4.
    """
    log = fs.Workload(submit=[0, 1, 1, 1], runtime=[10, 55, 15, 200], size=[4, 4, 6, 1])
    repair = fs.Reservation([5], 18, 20, every=20)
    for engine in ("core", "reference"):
        result = fs.simulate(log, machine, scheduler=scheduler, reservations=repair, engine=engine)
        assert result.jobs["start"].tolist() == [0, 10, 80, 95], engine
