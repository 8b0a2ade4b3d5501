"""Conservative backfilling on a cluster where so many jobs wait that the plan is made only up to a horizon.

Without a horizon the plan is whole in each pass, as the model says; the two must not differ.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import faultsim as fs
from helpers.thresholds import at

NODES = 32
WHOLE = {"horizon_steps": 2**20}


def log_of(rng, jobs, overrun, gap):
    runtime = rng.integers(1, 400, jobs)
    early = runtime * rng.integers(1, 8, jobs)
    # Of 1,000 jobs `overrun` exceed their estimates; others end at them, and many have the same length.
    estimate = np.where(rng.integers(0, 1000, jobs) < overrun, np.maximum(runtime - 3, 1), early)
    estimate = np.where(rng.integers(0, 4, jobs) == 0, np.maximum(estimate, 600), estimate)
    return fs.Workload(
        submit=np.sort(rng.integers(0, gap * jobs, jobs)).astype(float),
        runtime=runtime.astype(float),
        size=np.minimum(rng.geometric(0.2, jobs), NODES),
        estimate=estimate.astype(float),
    )


def simulated(log, thresholds, failures=None):
    with at(**thresholds):
        simulation = fs.Simulation(
            log, fs.Cluster(NODES), scheduler=fs.ConservativeBackfill(), estimates="requested", failures=failures
        )
    simulation.run()
    jobs = simulation.result().jobs
    return jobs["start"].tolist(), jobs["backfilled"].tolist(), simulation._execution.engine.work["steps"]


def same(seed, jobs, overrun, gap, failures=None, **thresholds):
    log = log_of(np.random.default_rng(seed), jobs, overrun, gap)
    start, backfilled, steps = simulated(log, thresholds, failures)
    whole = simulated(log, WHOLE, failures)
    assert (start, backfilled) == whole[:2]
    return steps, whole[2]


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 20), st.integers(1, 16))
def test_a_plan_up_to_a_horizon_equals_a_whole_one(seed, overrun, gap):
    same(seed, 700, overrun, gap)
    same(seed, 700, overrun, gap, horizon_steps=1)


@settings(max_examples=4, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 20), st.integers(1, 4), st.integers(0, 300))
def test_a_plan_up_to_a_horizon_equals_a_whole_one_with_failures(seed, overrun, gap, count):
    span = 150_000.0
    trace = fs.synthetic.weibull_failures(NODES, span, 0.85, 18_000.0, downtime=300.0, count=count, rng=seed)
    same(seed, 1500, overrun, gap, trace if count else None)


def test_jobs_behind_the_horizon_are_not_planned():
    steps, whole = same(1, 1500, 20, 4)
    assert 0 < steps < 0.5 * whole


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 20), st.integers(1, 24))
def test_a_long_plan_up_to_a_horizon_equals_a_whole_one(seed, overrun, gap):
    same(seed, 2500, overrun, gap)
