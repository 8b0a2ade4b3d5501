"""Machines whose nodes fail: queues, availability, placement away from failures (model.md#failures).

Intervals are those of 99.9 % of independent replicates; seeds are fixed and were not chosen.
"""

import math

import numpy as np
import pytest
from restarts import assert_within, equal_jobs, expected_time, generator, restarted, run_through

import faultsim as fs

REPLICATES = 40
SCHEDULERS = (fs.EasyBackfill(), fs.ConservativeBackfill())


def poisson_log(rng, n, rate, work, size):
    submit = np.cumsum(rng.exponential(1 / rate, n))
    return fs.Workload(submit=submit, runtime=np.full(n, work), size=np.full(n, size), estimate=np.full(n, work))


def pollaczek_khinchine(arrivals, mean, variance):
    """Mean wait of M/G/1."""
    return arrivals * (variance + mean**2) / (2 * (1 - arrivals * mean))


def test_the_formulas_give_the_printed_constants():
    mean, variance = restarted(0.5, 1.0)
    assert (mean, variance) == pytest.approx((1.297443, 0.278242), abs=6e-7)
    assert 0.5 * mean == pytest.approx(0.648721, abs=6e-7)
    assert pollaczek_khinchine(0.5, mean, variance) == pytest.approx(1.396042, abs=6e-7)


@pytest.mark.parametrize("recovery", [fs.Requeue(), fs.Hold()], ids=["Requeue", "Hold"])
@pytest.mark.parametrize("machine", [fs.Cluster(1), fs.Cluster(16), fs.Torus(2, 2, 4)], ids=str)
def test_jobs_of_the_whole_machine_with_restarts_are_the_queue_mg1(machine, recovery):
    """Its service time is that of a job with restarts; failures of an idle machine change nothing."""
    n, work, failing, arrivals = 20_000, 1.0, 0.5, 0.5
    theory = pollaczek_khinchine(arrivals, *restarted(failing, work))
    wait, idle = [], []
    for replicate in range(REPLICATES if machine.nodes == 1 else 15):
        rng = generator(41, replicate)
        log = poisson_log(rng, n, arrivals, work, machine.nodes)
        horizon = 1.1 * n / arrivals
        trace = fs.synthetic.exponential_failures(
            machine.nodes, horizon, machine.nodes / failing, rng=rng, any_rate=True
        )
        result = run_through(log, machine, trace, recovery=recovery)
        wait.append((result.jobs["first_start"] - result.jobs["submit"])[n // 5 :].mean())
        idle.append(result.ledger["idle_no_demand"] / sum(result.ledger.values()))
        if replicate < 2:  # backfilling changes nothing
            for other in SCHEDULERS:
                same = fs.simulate(log, machine, scheduler=other, failures=trace, recovery=recovery)
                assert np.array_equal(same.jobs["finish"], result.jobs["finish"])
    # The waits of the same queue without failures, and with exponential service times of the same mean.
    mean = expected_time(failing, work)
    wrong = [pollaczek_khinchine(arrivals, work, 0.0), pollaczek_khinchine(arrivals, mean, mean**2)]
    assert_within(wait, theory, 0.1, wrong=wrong)
    assert_within(idle, 1 - arrivals * mean, 0.03, wrong=[1 - arrivals * work])


@pytest.mark.slow
def test_the_mg1_queue_with_restarts_to_half_a_percent():
    n, wait = 200_000, []
    for replicate in range(300):
        rng = generator(42, replicate)
        log = poisson_log(rng, n, 0.5, 1.0, 1)
        trace = fs.synthetic.exponential_failures(1, 2.2 * n, 2.0, rng=rng, any_rate=True)
        result = run_through(log, fs.Cluster(1), trace)
        wait.append((result.jobs["first_start"] - result.jobs["submit"])[n // 20 :].mean())
    assert_within(wait, 1.396042, 0.005)


# -- how many nodes are up


def sparse_log(rng, horizon, nodes, load):
    """One-node jobs of mean length 1 that come all the time from 0 to `horizon`."""
    n = round(load * nodes * horizon)
    submit = np.sort(np.append(rng.uniform(0, horizon, n - 2), [0.0, horizon]))
    runtime = rng.exponential(1.0, n)
    return fs.Workload(submit=submit, runtime=runtime, size=np.ones(n, int), estimate=runtime)


@pytest.mark.parametrize(
    ("mtbf", "mttr", "horizon", "nodes"), [(9.0, 1.0, 100.0, 50), (3.0, 2.0, 100.0, 50), (30.0, 10.0, 20.0, 600)]
)
def test_share_of_nodes_that_are_down(mtbf, mttr, horizon, nodes):
    """All are up at first; then it is MTTR / (MTBF + MTTR), approached at rate 1 / MTBF + 1 / MTTR."""
    pace = 1 / mtbf + 1 / mttr
    eventually = mttr / (mtbf + mttr)
    warming = -math.expm1(-pace * horizon) / pace  # the share that is missing, integrated over time
    share = eventually * (1 - warming / horizon)
    number = (horizon - eventually * (horizon - warming)) / mtbf  # failures come to nodes that are up
    down, failures = [], []
    for replicate in range(REPLICATES):
        rng = generator(43, round(mtbf), replicate)
        trace = fs.synthetic.renewal_failures(nodes, horizon, mtbf, mttr, rng=rng, any_rate=True)
        result = fs.simulate(
            sparse_log(rng, horizon, nodes, 0.05), fs.Cluster(nodes), failures=trace, scheduler=fs.Fcfs()
        )
        begin, end = result.span
        # The last job ends somewhat after the horizon; what is down then is known from the trace.
        after = np.clip(np.minimum(trace.time + trace.downtime, end) - horizon, 0.0, None).sum()
        down.append((result.ledger["down"] - after) / (nodes * horizon))
        failures.append(result.counters["failures"] / nodes)
        exact = np.clip(np.minimum(trace.time + trace.downtime, end) - trace.time, 0.0, None).sum()
        assert result.ledger["down"] == pytest.approx(exact, rel=1e-9)
        assert begin == 0.0
        assert sum(result.ledger.values()) == pytest.approx(nodes * end, rel=1e-9)
    assert_within(down, share, 0.04, wrong=[mttr / mtbf, *([eventually] if horizon < 50 else [])])
    assert_within(failures, number, 0.04, wrong=[horizon / mtbf, *([horizon / (mtbf + mttr)] if horizon < 50 else [])])
    if horizon > 50:  # the rule of thumb, which forgets that all begin up
        assert share == pytest.approx(eventually, rel=0.05)
        assert number == pytest.approx(horizon / (mtbf + mttr), rel=0.05)


@pytest.mark.parametrize("up_shape", [0.7, 1.0, 3.0])
def test_availability_depends_on_the_means_only(up_shape):
    """Alternating renewals, Weibull up times and constant down times: A = MTBF / (MTBF + MTTR)."""
    nodes, mtbf, mttr, horizon = 50, 4.0, 1.0, 400.0
    down = []
    for replicate in range(20):
        rng = generator(44, round(10 * up_shape), replicate)
        ups = mtbf / math.gamma(1 + 1 / up_shape) * rng.weibull(up_shape, (nodes, 160))
        time = np.cumsum(ups + mttr, axis=1) - mttr
        assert time[:, -1].min() > horizon
        within = time < horizon
        trace = fs.FailureTrace(time[within], np.nonzero(within)[0], mttr, span=horizon)
        result = fs.simulate(
            sparse_log(rng, horizon, nodes, 0.01), fs.Cluster(nodes), failures=trace, scheduler=fs.Fcfs()
        )
        after = np.clip(np.minimum(trace.time + mttr, result.span[1]) - horizon, 0.0, None).sum()
        down.append((result.ledger["down"] - after) / (nodes * horizon))
    # All begin as new: up to a whole MTTR of a horizon less is down than in the long run.
    assert_within(down, mttr / (mtbf + mttr), 0.02, wrong=[mttr / mtbf])


@pytest.mark.parametrize("recovery", [fs.Requeue(), fs.Hold()], ids=["Requeue", "Hold"])
def test_the_capacity_of_a_machine_is_that_of_its_nodes_that_are_up(recovery):
    """A queue that is never empty, and free checkpoints before failures: N A node-seconds a second are useful."""
    nodes, mtbf, mttr, horizon = 10, 4.0, 1.0, 3000.0
    useful = []
    for replicate in range(20):
        rng = generator(45, replicate)
        trace = fs.synthetic.renewal_failures(nodes, 1.2 * horizon, mtbf, mttr, rng=rng, any_rate=True)
        log = equal_jobs(round(0.8 * nodes * horizon), 1.0)
        result = run_through(log, fs.Cluster(nodes), trace, recovery=recovery, checkpointing=fs.BeforeFailure(0))
        assert result.ledger["lost"] == 0.0
        useful.append(result.ledger["useful"] / (nodes * result.metrics["makespan"]))
    # All nodes are up at first, and some idle at the end: each is worth a few seconds of 3,000.
    assert_within(useful, mtbf / (mtbf + mttr), 0.02, wrong=[1.0, 1 - mttr / mtbf])


# -- placement away from failures


def half_empty(rng, nodes, n):
    """Jobs that never hold more than half of the nodes: one comes when the one before has ended."""
    runtime = rng.uniform(5.0, 15.0, n)
    submit = np.arange(n) * 16.0
    return fs.Workload(submit=submit, runtime=runtime, size=rng.integers(1, nodes // 2 + 1, n), estimate=runtime)


@pytest.mark.parametrize("scheduler", [fs.Fcfs(), *SCHEDULERS], ids=lambda policy: policy.name)
def test_safest_first_with_perfect_predictions_loses_no_job_on_a_half_empty_cluster(scheduler):
    """As long as half of the nodes do not fail during a job, it is on nodes that do not."""
    nodes, n = 32, 400
    for replicate in range(5):
        rng = generator(46, replicate)
        log = half_empty(rng, nodes, n)
        trace = fs.synthetic.exponential_failures(nodes, 16.0 * n, 60.0, downtime=1.0, rng=rng, any_rate=True)
        failing = [
            len(np.unique(trace.node[(trace.time > s - 1) & (trace.time < s + r)]))
            for s, r in zip(log.submit, log.runtime, strict=True)
        ]
        assert max(failing) <= nodes // 2  # down ones included
        run = fs.Run(log, fs.Cluster(nodes), scheduler=scheduler, failures=trace)
        safe = run.with_options(placement=fs.SafestFirst(), predictor=fs.Perfect()).simulate()
        assert safe.counters["failures"] > 0.9 * len(trace)
        assert not safe.jobs["restarts"].any()
        assert safe.counters["failures_hit"] == 0
        assert np.array_equal(safe.jobs["finish"], log.submit + log.runtime)
        blind = run.with_options(placement=fs.SafestFirst(), predictor=fs.Blind()).simulate()
        first = run.simulate()
        assert np.array_equal(blind.jobs["finish"], first.jobs["finish"])
        assert first.jobs["restarts"].sum() > n // 2


@pytest.mark.parametrize("recall", [0.25, 0.75])
def test_safest_first_is_hit_by_what_it_does_not_foresee(recall):
    """One-node jobs one after another on a machine of many nodes: a share 1 - recall of the hits is left."""
    nodes, n, rate = 64, 2000, 0.05
    kept = []
    for replicate in range(REPLICATES):
        rng = generator(47, round(100 * recall), replicate)
        log = fs.Workload(submit=np.arange(n) * 2.0, runtime=np.ones(n), size=np.ones(n, int), estimate=np.ones(n))
        trace = fs.synthetic.exponential_failures(nodes, 2.0 * n + 100, 1 / rate, rng=rng, any_rate=True)
        run = fs.Run(log, fs.Cluster(nodes), failures=trace, placement=fs.SafestFirst(), predictor=fs.Accuracy(recall))
        result = run.simulate()
        kept.append((result.jobs["restarts"] > 0).mean())
    # Given that none is seen on the chosen node, unseen failures come to it at rate (1 - recall) * rate.
    theory = -math.expm1(-(1 - recall) * rate)
    assert_within(kept, theory, 0.15, wrong=[-math.expm1(-rate)])


def test_least_failures_first_avoids_the_nodes_that_always_fail():
    """Half of the nodes, the lower numbers, fail again and again; after the first failure of each nobody is there."""
    nodes, n = 32, 300
    rng = generator(48)
    log = half_empty(rng, nodes, n)
    early = fs.FailureTrace(np.full(nodes // 2, 0.0), np.arange(nodes // 2), 0.0, span=1.0)
    later = fs.synthetic.exponential_failures(nodes // 2, 16.0 * n, 60.0, rng=rng, any_rate=True).map_nodes(nodes)
    log = fs.Workload(**{**log.columns, "submit": log.submit + 1.0})
    run = fs.Run(log, fs.Cluster(nodes), failures=early.merge(later), scheduler=fs.Fcfs())
    assert run.simulate().jobs["restarts"].sum() > n // 2
    result = run.with_options(placement=fs.LeastFailuresFirst()).simulate()
    assert not result.jobs["restarts"].any()
    assert np.array_equal(result.jobs["finish"], log.submit + log.runtime)
