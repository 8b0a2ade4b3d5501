"""Conservative backfilling on a cluster where so many jobs wait that only the next part of the plan is made.

The reference has no horizon: it plans the whole queue in each pass, as the model says, and so is the plain version of
plans that have one, too.  It is slow where so many wait: most tests compare with an order that keeps plans whole.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import faultsim as fs
from faultsim.simulation.execution import Execution

NODES = 32


class ByIndex(fs.QueueOrder):
    """The order of arrival, but as one that may change: plans are then kept whole."""

    def keys(self, queue, now):
        return queue.index


def log_of(rng, jobs, overrun, gap):
    runtime = rng.integers(1, 400, jobs)
    early = runtime * rng.integers(1, 8, jobs)
    # Some outlive their estimates, in `overrun` of 1,000; others end when they said, and many are of the same length.
    estimate = np.where(rng.integers(0, 1000, jobs) < overrun, np.maximum(runtime - 3, 1), early)
    estimate = np.where(rng.integers(0, 4, jobs) == 0, np.maximum(estimate, 600), estimate)
    return fs.Workload(
        submit=np.sort(rng.integers(0, gap * jobs, jobs)).astype(float),
        runtime=runtime.astype(float),
        size=np.minimum(rng.geometric(0.2, jobs), NODES),
        estimate=estimate.astype(float),
    )


def done(log, scheduler, failures=None):
    simulation = fs.Simulation(log, fs.Cluster(NODES), scheduler=scheduler, estimates="requested", failures=failures)
    simulation.run()
    jobs = simulation.result().jobs
    return jobs["start"].tolist(), jobs["backfilled"].tolist(), simulation._execution.engine.work["looked"]


def same(seed, jobs, overrun, gap, failures=None):
    log = log_of(np.random.default_rng(seed), jobs, overrun, gap)
    start, backfilled, looked = done(log, fs.ConservativeBackfill(), failures)
    other = done(log, fs.ConservativeBackfill(order=ByIndex()), failures)
    assert (start, backfilled) == other[:2]
    return looked, other[2]


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 20), st.integers(1, 16))
def test_a_plan_right_up_to_a_horizon_is_as_good_as_a_whole_one(seed, overrun, gap):
    same(seed, 700, overrun, gap)


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 20), st.integers(1, 4), st.integers(0, 300))
def test_jobs_in_rows_are_planned_as_one_by_one(seed, overrun, gap, count):
    """From 1,024 waiting jobs on, in order of arrival, whoever cannot be in question is passed over by rows."""
    horizon = 150_000.0
    trace = fs.synthetic.weibull_failures(NODES, horizon, 0.85, 18_000.0, downtime=300.0, count=count, rng=seed)
    same(seed, 2200, overrun, gap, trace if count else None)


def test_thousands_wait_in_these_tests():
    log = log_of(np.random.default_rng(1), 2200, 10, 4)
    simulation = fs.Simulation(log, fs.Cluster(NODES), scheduler=fs.ConservativeBackfill(), estimates="requested")
    simulation.run(until=log.submit[-1])
    assert len(simulation.queue) > 1500


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 20), st.integers(1, 24))
def test_a_long_plan_right_up_to_a_horizon_is_as_good_as_a_whole_one(seed, overrun, gap):
    same(seed, 2500, overrun, gap)


def test_what_a_disturbance_drops_is_not_looked_at():
    looked, whole = same(1, 1500, 20, 4)
    assert 0 < looked < 0.7 * whole


@pytest.mark.parametrize("jobs", [700, 2200])
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 10_000), gap=st.integers(1, 8))
def test_who_asks_for_the_rest_of_a_plan_changes_nothing(jobs, seed, gap):
    """`verify` and copies, at any time; verify() also finds promises that are not kept."""
    rng = np.random.default_rng(seed)
    log = log_of(rng, jobs, 5, gap)
    run = fs.Run(log, fs.Cluster(NODES), scheduler=fs.ConservativeBackfill(), estimates="requested")
    start = run.simulate().jobs["start"].tolist()
    one = Execution(run)
    times = np.sort(rng.uniform(0, max(start), 6))
    for t in times[:3]:
        one.go_on(until=t)
        one.engine.verify()
    two = one.copy()
    for t in times[3:]:
        two.go_on(until=t)
        two.engine.verify()
    for execution in (one, two):
        execution.go_on()
        execution.engine.verify()
        assert execution.result().jobs["start"].tolist() == start


@pytest.mark.slow
def test_a_plan_up_to_a_horizon_is_that_of_the_reference():
    """400 jobs wait; all happens at multiples of 100 seconds, so that the reference has to plan not too often."""
    jobs = 420
    rng = np.random.default_rng(1)
    runtime = 100 * rng.integers(1, 4, jobs)
    said = runtime * rng.integers(1, 6, jobs) + rng.integers(0, 90, jobs)
    log = fs.Workload(
        submit=np.sort(np.where(np.arange(jobs) < 400, 0, 100 * rng.integers(1, 20, jobs))).astype(float),
        runtime=runtime.astype(float),
        size=np.minimum(rng.geometric(0.15, jobs), NODES),
        estimate=np.where(rng.integers(0, 100, jobs) < 8, runtime - 3, said).astype(float),
    )
    start, backfilled, looked = done(log, fs.ConservativeBackfill())
    assert looked < 0.8 * done(log, fs.ConservativeBackfill(order=ByIndex()))[2]
    slow = fs.Run(log, fs.Cluster(NODES), scheduler=fs.ConservativeBackfill(), estimates="requested")
    plain = slow.simulate(engine="reference").jobs
    assert (start, backfilled) == (plain["start"].tolist(), plain["backfilled"].tolist())
