"""How many jobs conservative backfilling on a cluster searches holes for, and how many steps the searches read."""

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


def test_a_queue_is_not_planned_again_while_no_job_can_start():
    """Each of 1,000 arrivals is a pass in which the first job is past its estimate, which disturbs."""
    jobs = 1000
    done = work(log_of(jobs, np.arange(jobs, dtype=float), jobs))
    assert 0 < done["steps"] < 1000 * jobs
    assert jobs <= done["looked"] < 20 * jobs


def test_a_pass_looks_only_at_jobs_that_may_move():
    """With exact estimates none moves: each job is looked at when it comes and when it is due, until few wait."""
    jobs = 4000
    assert jobs <= work(log_of(jobs, np.zeros(jobs), 1.0))["looked"] <= 6 * jobs


def test_jobs_behind_the_horizon_are_not_planned_before_a_job_that_may_start():
    """Each of 200 small jobs starts when it comes, which is a disturbed pass, behind 1,000 that wait for the first."""
    wide, small = 1000, 200
    runtime = np.random.default_rng(1).integers(100, 10_000, 1 + wide + small).astype(float)
    size = np.random.default_rng(2).integers(2, 17, 1 + wide + small)
    estimate = runtime.copy()
    runtime[0], size[0], estimate[0] = small + 10.0, 63, 1.0
    runtime[1 + wide :] = estimate[1 + wide :] = 0.5
    size[1 + wide :] = 1
    submit = np.concatenate([np.zeros(1 + wide), np.arange(2.0, 2.0 + small)])
    log = fs.Workload(submit=submit, runtime=runtime, size=size, estimate=estimate)
    simulation = fs.Simulation(log, fs.Cluster(64), scheduler=fs.ConservativeBackfill(), estimates="requested")
    simulation.run()
    assert np.all(simulation.result().jobs["wait"][1 + wide :] == 0)
    done = simulation._execution.engine.work
    assert 0 < done["steps"] < 40 * wide * small


def test_a_refusal_counts_for_all_larger_asks():
    """Jobs say one of a few lengths, as people do; some are killed and come again, and there are many disturbances."""
    jobs = 4000
    rng = np.random.default_rng(1)
    estimate = rng.choice([600.0, 3600.0, 7200.0, 14400.0, 43200.0], jobs)
    runtime = np.minimum(rng.exponential(3000, jobs) + 60, estimate * np.where(rng.random(jobs) < 0.05, 1.3, 1.0))
    size = 1 << rng.integers(0, 7, jobs)
    submit = np.sort(rng.uniform(0, 200 * jobs, jobs))
    log = fs.Workload(submit=submit, runtime=runtime, size=size, estimate=estimate)
    trace = fs.synthetic.weibull_failures(128, 2000.0 * jobs, 0.85, 18_000.0, downtime=3600.0, count=jobs, rng=3)
    simulation = fs.Simulation(
        log, fs.Cluster(128), scheduler=fs.ConservativeBackfill(), estimates="requested", failures=trace
    )
    simulation.run()
    assert simulation.result().metrics["failures_hit"] > 500
    assert 10 * jobs < simulation._execution.engine.work["looked"] < 600 * jobs
