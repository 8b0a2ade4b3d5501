"""Jobs that fail and begin again, against renewal theory (model.md#kill).

Confidence intervals are those of 99.9 % and must be narrow; seeds are fixed and were not chosen.  A wrong formula that
is near is refused where there is one.
"""

import math

import numpy as np
import pytest
from restarts import (
    assert_within,
    equal_jobs,
    expected_time,
    generator,
    restarted,
    run_through,
    times_one_by_one,
)
from scipy.integrate import quad

import faultsim as fs

JOBS, REPLICATES = 5_000, 40
#: Work, failure rate, down time, recovery; the printed mean and variance.
PRINTED = [
    (1.0, 1.0, 0.3, 0.2, 2.72833, None),
    (2.0, 0.5, 0.0, 0.0, 3.43656, 3.80997),
    (1.0, 1.5, 0.0, 0.0, 2.32112, 2.50688),
    (1.0, 0.5, 0.0, 0.0, 1.297443, 0.278242),
]


@pytest.mark.parametrize(("work", "rate", "down", "recovery", "mean", "variance"), PRINTED)
def test_the_formulas_give_the_printed_constants(work, rate, down, recovery, mean, variance):
    assert expected_time(rate, work, down, recovery) == pytest.approx(mean, rel=3e-6)
    exact, spread = restarted(rate, work, down, recovery)
    assert exact == pytest.approx(expected_time(rate, work, down, recovery), rel=1e-12)
    if variance is not None:
        assert spread == pytest.approx(variance, rel=3e-6)
        closed = (math.exp(2 * rate * work) - 1 - 2 * rate * work * math.exp(rate * work)) / rate**2
        assert spread == pytest.approx(closed, rel=1e-12)


def failures_when_up(rate, down, horizon, rng):
    """On one node: exponential up times, a constant down time without failures."""
    if down == 0.0:
        return fs.synthetic.exponential_failures(1, horizon, 1 / rate, rng=rng, any_rate=True)
    n = math.ceil(1.2 * horizon / (1 / rate + down))
    time = np.cumsum(rng.exponential(1 / rate, n) + down) - down
    return fs.FailureTrace(time, np.zeros(n, int), down, span=time[-1])


@pytest.mark.parametrize("recovery", [fs.Requeue, fs.Hold], ids=lambda f: f.__name__)
@pytest.mark.parametrize(("work", "rate", "down", "cost"), [case[:4] for case in PRINTED] + [(1.0, 0.7, 2.0, 0.5)])
def test_restart_from_scratch(work, rate, down, cost, recovery):
    mean, variance = restarted(rate, work, down, cost)
    kills = math.exp(rate * cost) * math.expm1(rate * work)
    means, variances, transforms, n_kills, unharmed, down_shares = [], [], [], [], [], []
    for replicate in range(REPLICATES):
        rng = generator(1, round(10 * rate), replicate)
        trace = failures_when_up(rate, down, 1.3 * mean * JOBS, rng)
        result = run_through(equal_jobs(JOBS, work), fs.Cluster(1), trace, recovery=recovery(restart_cost=cost))
        took = times_one_by_one(result)
        means.append(took.mean())
        variances.append(took.var(ddof=1))
        transforms.append(np.exp(-took).mean())
        n_kills.append(result.jobs["restarts"].mean())
        unharmed.append((result.jobs["restarts"] == 0).mean())
        down_shares.append((result.ledger["down"] + result.ledger["held_for_repair"]) / JOBS)
        idle = "held_for_repair" if recovery is fs.Requeue else "down"
        assert result.ledger[idle] == 0.0
        assert result.ledger["useful"] == pytest.approx(JOBS * work, rel=1e-9)
    # Without the recovery, or with one before the first attempt too, the mean would be another.
    wrong = (
        [expected_time(rate, work, down), expected_time(rate, work + cost, down)] if cost else [work / (1 - rate / 9)]
    )
    assert_within(means, mean, 0.01, wrong=wrong)
    assert_within(variances, variance, 0.1, wrong=[mean**2, variance / 1.2])
    assert_within(n_kills, kills, 0.02, wrong=[rate * work, rate * (work + cost)])
    assert_within(unharmed, math.exp(-rate * work), 0.02)
    if down:
        assert_within(down_shares, down * kills, 0.02)
    if down == cost == 0.0:  # Laplace transform at s = 1
        s, ends = 1.0, math.exp(-(rate + 1.0) * work)
        assert_within(transforms, (rate + s) * ends / (s + rate * ends), 0.02, wrong=[1 / (1 + s * mean)])


@pytest.mark.parametrize("recovery", [fs.Requeue, fs.Hold], ids=lambda f: f.__name__)
def test_failures_of_a_node_that_is_down_lengthen_its_down_time(recovery):
    """Poisson failures all the time: a down time ends with the first gap that is longer, as a recovery would."""
    work, rate, down, cost = 1.0, 0.8, 0.6, 0.3
    mean = math.exp(rate * (cost + down)) * math.expm1(rate * work) / rate
    means = []
    for replicate in range(REPLICATES):
        trace = fs.synthetic.exponential_failures(
            1, 1.3 * mean * JOBS, 1 / rate, downtime=down, rng=generator(2, replicate), any_rate=True
        )
        result = run_through(equal_jobs(JOBS, work), fs.Cluster(1), trace, recovery=recovery(restart_cost=cost))
        means.append(times_one_by_one(result).mean())
        assert result.counters["failures"] > result.counters["failures_hit"]
    assert_within(means, mean, 0.01, wrong=[expected_time(rate, work, down, cost)])


def test_the_place_in_the_queue_does_not_change_how_long_all_jobs_take():
    """Failures have no memory: which job has its turn after a kill does not matter to the machine."""
    work, rate, cost = 1.0, 0.5, 0.2
    makespans = []
    for replicate in range(REPLICATES):
        rng = generator(3, replicate)
        trace = failures_when_up(rate, 0.0, 1.5 * expected_time(rate, work, 0.0, cost) * 2000, rng)
        log = equal_jobs(2000, work)
        tail = run_through(log, fs.Cluster(1), trace, recovery=fs.Requeue("tail", restart_cost=cost))
        makespans.append(tail.metrics["makespan"] / 2000)
        arrival = run_through(log, fs.Cluster(1), trace, recovery=fs.Requeue(restart_cost=cost))
        # Those killed wait for all others; and since nobody waits for them, the others are done earlier.
        killed = tail.jobs["restarts"] > 0
        assert tail.jobs["response"][killed].mean() > 1.5 * tail.jobs["response"][~killed].mean()
        assert tail.jobs["response"].mean() < 0.98 * arrival.jobs["response"].mean()
    assert_within(makespans, expected_time(rate, work, 0.0, cost), 0.01)


@pytest.mark.parametrize(
    ("machine", "size", "placement"),
    [
        (fs.Cluster(8), 8, None),
        (fs.Cluster(8), 5, None),
        (fs.Cluster(8), 5, fs.LeastFailuresFirst()),
        (fs.Torus(2, 2, 2), 8, None),
        (fs.Torus(2, 2, 3), 8, fs.FirstFit()),
    ],
    ids=str,
)
@pytest.mark.parametrize("recovery", [fs.Requeue(restart_cost=0.2), fs.Hold(0.2)], ids=["Requeue", "Hold"])
def test_a_parallel_job_fails_with_any_of_its_nodes(machine, size, placement, recovery):
    """The rate is that of one node times their number; nodes that it does not hold do not matter."""
    work, each = 1.0, 0.15
    mean = expected_time(size * each, work, 0.0, 0.2)
    means = []
    for replicate in range(REPLICATES):
        rng = generator(4, machine.nodes, size, replicate)
        trace = fs.synthetic.exponential_failures(machine.nodes, 1.4 * mean * 1000, 1 / each, rng=rng, any_rate=True)
        result = run_through(equal_jobs(1000, work, size), machine, trace, recovery=recovery, placement=placement)
        means.append(times_one_by_one(result).mean())
    wrong = [expected_time(n * each, work, 0.0, 0.2) for n in (1, size - 1, size + 1, machine.nodes) if n != size]
    assert_within(means, mean, 0.02, wrong=wrong)


# -- gaps that are not exponential


@pytest.mark.parametrize(("shape", "printed"), [(0.55, 30_644), (0.65, 24_593), (0.85, 19_583)])
def test_mean_gap_of_weibull_failures(shape, printed):
    mean = 18_000 * math.gamma(1 + 1 / shape)
    assert mean == pytest.approx(printed, abs=0.5)
    means = []
    for replicate in range(REPLICATES):
        # The first 2,000 gaps, whatever the horizon cuts off: those within it alone would be too short.
        trace = fs.synthetic.weibull_failures(16, 4000 * mean, shape, 18_000, rng=generator(5, replicate))
        assert len(trace) > 2000
        means.append(trace.time[1999] / 2000)
    assert_within(means, mean, 0.03, wrong=[18_000.0])


def test_mean_gap_of_the_shape_that_the_papers_table_cannot_have():
    """Shape 0.2: 18,000 s * 5! = 2.16e6 s between failures, of which 62 days would have 14 and not 78."""
    assert 18_000 * math.gamma(1 + 1 / 0.2) == pytest.approx(2.16e6)
    days = 62 * 86_400
    counts = [len(fs.synthetic.weibull_failures(320, days, 0.2, 18_000, rng=generator(6, k))) for k in range(1000)]
    assert_within(counts, 14.2, 0.1, wrong=[78, days / 2.16e6])


@pytest.mark.parametrize("shape", [0.65, 2.0])
def test_restarts_of_jobs_on_nodes_that_age(shape):
    """A failure makes the node as new: E = E[min(X, T)] / P(X > T), X Weibull.  Every job has its node to itself."""
    nodes, work, scale = 1000, 1.0, 1.2

    def survives(x):
        return math.exp(-((x / scale) ** shape))

    mean = quad(survives, 0.0, work)[0] / survives(work)
    rate = 1 / (scale * math.gamma(1 + 1 / shape))
    means = []
    for replicate in range(30):
        gaps = scale * generator(7, round(shape * 100), replicate).weibull(shape, (nodes, 60))
        time, node = np.cumsum(gaps, axis=1), np.repeat(np.arange(nodes), 60)
        end = time[:, -1].min()
        trace = fs.FailureTrace(time.ravel()[time.ravel() <= end], node[time.ravel() <= end], 0.0, span=end)
        result = run_through(equal_jobs(nodes, work), fs.Cluster(nodes), trace, recovery=fs.Hold())
        means.append(result.jobs["finish"].mean())
    assert_within(means, mean, 0.02, wrong=[expected_time(rate, work)])
