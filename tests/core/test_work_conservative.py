"""What a pass of conservative backfilling looks at on a cluster."""

import numpy as np

import faultsim as fs


def looked(jobs, failures=None, estimates="actual"):
    """Jobs looked at by the passes of a run in which all wait from the beginning, for each of them."""
    rng = np.random.default_rng(1)
    log = fs.Workload(
        submit=np.zeros(jobs),
        runtime=rng.integers(100, 10_000, jobs).astype(float),
        size=rng.integers(1, 17, jobs),
        estimate=np.full(jobs, 10_000.0),
    )
    options = {"estimates": estimates, "failures": failures}
    simulation = fs.Simulation(log, fs.Cluster(64), scheduler=fs.ConservativeBackfill(), **options)
    simulation.run()
    return simulation._execution.engine.work["looked"] / jobs


def test_work_a_pass_looks_only_at_jobs_that_may_move():
    """With exact estimates none moves: each job is looked at when it comes and when it is due."""
    assert looked(4000) <= 3
    assert looked(400) <= 3


def test_work_a_failure_that_breaks_nothing_is_looked_at_by_nobody():
    """A node that is down for no time kills nobody where it is free, and one that is killed moves few others."""
    trace = fs.FailureTrace(np.arange(1.0, 2000.0) * 500.0, np.zeros(1999, np.int64), 0.0, span=1e7)
    assert looked(2000, trace) <= 60
