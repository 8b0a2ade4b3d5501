"""Requests for checkpoints, pauses and acts in live runs, where what was said of a job may change (model.md#owned)."""

import numpy as np
import pytest

import faultsim as fs

ENGINES = pytest.mark.parametrize("engine", ["core", "reference"])
ONE = fs.Workload(submit=[0], runtime=[9.5], size=[1], estimate=[10])
ANOTHER = fs.Workload(submit=[20], runtime=[9.5], size=[1], estimate=[10])


class Never(fs.Checkpointing):
    """Is asked, and says no."""

    interval, cost = 3.0, 1.0

    def wants(self, decision):
        return False


def live(engine, checkpointing=None, log=ONE, **options):
    options = {"scheduler": fs.Fcfs(), "checkpointing": checkpointing, "predictor": fs.Blind()} | options
    return fs.Simulation(log, fs.Cluster(2), live=9, engine=engine, **options)


@ENGINES
@pytest.mark.parametrize("checkpointing", [fs.RiskBased(3, cost=1), Never()], ids=["risk-based", "asked"])
def test_who_only_asks_plans_nothing(engine, checkpointing):
    """Of jobs from the start, and of those that come later."""
    sim = live(engine, checkpointing)
    sim.submit(ANOTHER)
    assert sim.advance(until=25).running.expected_end.tolist() == [30]
    sim.run()
    assert sim.result().jobs["finish"].tolist() == [9.5, 29.5]
    assert not sim.result().jobs["checkpoint_time"].any()


@ENGINES
def test_a_job_that_runs_longer_goes_on_asking(engine):
    """Requests come up to its end, wherever that is by then."""
    sim = live(engine, fs.RiskBased(3, cost=0))
    sim.advance(until=9.25)
    sim.extend(0, 10)
    sim.advance(until=15)
    sim.fail(0, 0)
    assert sim.result(partial=True).jobs["lost_work"].tolist() == [0]
    sim.run()
    assert sim.result().jobs["finish"].tolist() == [19.5]
    assert sim.result().counters["checkpoints"] == 6


@ENGINES
def test_a_job_that_runs_shorter_asks_no_more(engine):
    sim = live(engine, fs.RiskBased(3, cost=0))
    sim.advance(until=4)
    sim.extend(0, -4)
    sim.run()
    assert (sim.result().jobs["finish"].tolist(), sim.result().counters["checkpoints"]) == ([5.5], 1)


@ENGINES
@pytest.mark.parametrize("start_delay", [0, 2])
def test_the_rest_of_a_pause_in_which_a_job_ends_was_not_spent(engine, start_delay):
    """The account of migrations has the pause until then, and no more; what it had done is its run time."""
    sim = live(engine, scheduler=fs.External(), start_delay=start_delay)
    sim.advance().start(0)
    d = sim.advance(until=start_delay + 4)
    d.move(0, nodes=[1], live=True, restart_cost=5)
    sim.advance(until=start_delay + 6)
    sim.finish(0)
    sim.advance(until=30)
    sim.verify()
    result = sim.result()
    assert result.jobs["runtime"].tolist() == [4]
    assert (result.ledger["migration"], result.ledger["useful"]) == (2, 4)


@ENGINES
def test_a_killed_job_that_has_saved_its_estimate_was_not_ended_by_it(engine):
    log = fs.Workload(submit=[0], runtime=[40], size=[1], estimate=[5])
    sim = live(engine, fs.RiskBased(5, cost=0), log, scheduler=fs.External())
    sim.advance().start(0)
    sim.advance(until=7).kill(0)
    changes = sim.advance(until=8).changes.tolist()
    assert sim.result().jobs["runtime"].tolist() == [5]
    assert [row[0] for row in changes] == ["killed"]
    assert sim.result().jobs["state"].tolist() == [fs.JobState.KILLED]
    np.testing.assert_array_equal(sim.result().jobs["lost_work"], [2])
