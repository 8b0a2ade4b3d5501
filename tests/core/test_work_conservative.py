"""How much of its plan conservative backfilling on a cluster looks at."""

import numpy as np

import faultsim as fs


def work(log):
    simulation = fs.Simulation(log, fs.Cluster(64), scheduler=fs.ConservativeBackfill(), estimates="requested")
    simulation.run()
    return simulation._execution.engine.work


def test_a_queue_is_not_planned_anew_while_nobody_can_start():
    """Each of 1,000 arrivals is a pass in which the first job outlives its estimate, which disturbs."""
    jobs = 1000
    runtime = np.random.default_rng(1).integers(100, 10_000, jobs).astype(float)
    runtime[0] = jobs
    size = np.random.default_rng(2).integers(1, 17, jobs)
    size[0] = 64
    estimate = runtime.copy()
    estimate[0] = 1.0
    log = fs.Workload(submit=np.arange(jobs, dtype=float), runtime=runtime, size=size, estimate=estimate)
    assert 0 < work(log)["steps"] < 300 * jobs
