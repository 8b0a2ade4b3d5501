"""What conservative backfilling on a cluster looks at."""

import numpy as np

import faultsim as fs


def work(log):
    simulation = fs.Simulation(log, fs.Cluster(64), scheduler=fs.ConservativeBackfill(), estimates="requested")
    simulation.run()
    return simulation._execution.engine.work


def log_of(jobs, submit, first):
    """The first job takes all nodes, so long, and says that it takes a second."""
    runtime = np.random.default_rng(1).integers(100, 10_000, jobs).astype(float)
    size = np.random.default_rng(2).integers(1, 17, jobs)
    runtime[0], size[0] = first, 64
    return fs.Workload(submit=submit, runtime=runtime, size=size, estimate=np.where(np.arange(jobs) > 0, runtime, 1.0))


def test_a_queue_is_not_planned_again_while_nobody_can_start():
    """Each of 1,000 arrivals is a pass in which the first job outlives its estimate, which disturbs."""
    jobs = 1000
    done = work(log_of(jobs, np.arange(jobs, dtype=float), jobs))
    assert 0 < done["steps"] < 500 * jobs
    assert jobs <= done["looked"] < 5 * jobs


def test_a_pass_looks_only_at_jobs_that_may_move():
    """With exact estimates none moves: each job is looked at when it comes and when it is due, until few wait."""
    jobs = 4000
    assert jobs <= work(log_of(jobs, np.zeros(jobs), 1.0))["looked"] <= 5 * jobs
