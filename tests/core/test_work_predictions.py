"""What looking for safe nodes costs with many predictions: counted, so that a slip back fails."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import faultsim as fs
from faultsim.simulation.execution import Execution


def log_of(nodes, n, seed=3):
    draw = np.random.default_rng(seed)
    runtime = draw.exponential(3600, n).clip(1).round()
    gap = 3600 * 10 / (0.7 * nodes)
    return fs.Workload(
        submit=np.cumsum(draw.exponential(gap, n)).round(), runtime=runtime, size=draw.integers(1, 20, n)
    )


def failures(log, nodes, n, seed=4):
    draw = np.random.default_rng(seed)
    time = np.sort(draw.uniform(0, 1.2 * log.submit[-1], n)).round()
    return fs.FailureTrace(time=time, node=draw.integers(0, nodes, n))


def run_of(nodes, jobs, n):
    log = log_of(nodes, jobs)
    options = {"predictor": fs.Perfect(), "placement": fs.SafestFirst(), "scheduler": fs.Fcfs()}
    return fs.Run(log, fs.Cluster(nodes), failures=failures(log, nodes, n), **options)


@pytest.mark.parametrize("n", [10_000, 40_000])
def test_predictions_are_looked_at_once(n):
    one = Execution(run_of(16_384, 4000, n))
    one.go_on()
    one.engine.verify()
    work, kills = one.engine.work, int(one.result().jobs["restarts"].sum())
    # Besides each of them once: of a start, a few words that have one in the window.
    assert 0 < work["foreseen"] < n + 64 * 16 * (4000 + kills)


@given(st.sampled_from([70, 700, 5000]), st.integers(1, 2000), st.integers(0, 99))
@settings(max_examples=12, deadline=None)
def test_the_same_nodes_as_by_the_reference(nodes, n, seed):
    log = log_of(nodes, 40, seed)
    run = fs.Run(
        log,
        fs.Cluster(nodes),
        failures=failures(log, nodes, n, seed),
        predictor=fs.Perfect(),
        placement=fs.SafestFirst(),
        scheduler=fs.EasyBackfill(),
        record=True,
    )
    fast, slow = run.simulate(), run.simulate(engine="reference")
    assert np.array_equal(fast.jobs["start"], slow.jobs["start"])
    for name in fast.allocations:
        assert np.array_equal(fast.allocations[name], slow.allocations[name]), name
