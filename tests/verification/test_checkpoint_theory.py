"""Checkpoints against theory: Young, Daly, the exact optimum, predictions (model.md#checkpoints).

Intervals are those of 99.9 % of independent replicates.  Where runs with several settings are compared, they meet the
same failures, and the interval is that of the differences.
"""

import math

import numpy as np
import pytest
from restarts import (
    assert_within,
    equal_jobs,
    expected_time,
    expected_with_checkpoints,
    generator,
    interval,
    run_through,
    times_one_by_one,
)
from scipy.integrate import solve_ivp
from scipy.special import lambertw

import faultsim as fs
from faultsim.policies.interval_reports import bucket_numbers
from faultsim.simulation.engine_inputs import make_world

REPLICATES = 40
#: Cost of a checkpoint, MTBF; the exact optimum, Daly's and Young's interval.
PRINTED = [
    (60.0, 86_400.0, 3180.063, 3180.062, 3219.938),
    (600.0, 21_600.0, 4699.276, 4699.026, 5091.169),
    (600.0, 3600.0, 1699.231, 1697.706, 2078.461),
]


def best_interval(cost, mtbf):
    """Where (W + C) costs least a second of work: (1 + L0(-e^(-C/M - 1))) M, L0 the Lambert function."""
    return mtbf * (1 + lambertw(-math.exp(-cost / mtbf - 1)).real)


@pytest.mark.parametrize(("cost", "mtbf", "exact", "daly", "young"), PRINTED)
def test_the_formulas_give_the_printed_table(cost, mtbf, exact, daly, young):
    assert best_interval(cost, mtbf) == pytest.approx(exact, abs=6e-4)
    for nodes in (1, 64):
        assert fs.Daly(cost, mtbf * nodes, any_rate=True).work_between([nodes]) == pytest.approx(daly, abs=6e-4)
        assert fs.Young(cost, mtbf * nodes, any_rate=True).work_between([nodes]) == pytest.approx(young, abs=6e-4)

    def a_second(w):
        return expected_time(1 / mtbf, w + cost) / w

    assert a_second(exact) < min(a_second(exact * 1.001), a_second(exact / 1.001))


def availability(period, cost, mtbf, repair):
    """Share of useful time: a period T has T - C of work, and each M seconds a failure costs R and T / 2."""
    return (1 - cost / period) / (1 + (repair + period / 2) / mtbf)


@pytest.mark.parametrize("repair", [0.0, 600.0, 86_400.0])
@pytest.mark.parametrize(("cost", "mtbf"), [(60.0, 86_400.0), (600.0, 21_600.0), (600.0, 3600.0), (1.0, 1.0)])
def test_availability_is_largest_at_its_period(cost, mtbf, repair):
    """No period of 2 million that are tried is better ([saxena2024])."""
    best = cost + fs.MaxAvailability(cost, 16 * mtbf, repair, any_rate=True).work_between([16])[0]
    tried = np.linspace(cost, 20 * best, 2_000_001)
    step = tried[1] - tried[0]
    assert abs(tried[availability(tried, cost, mtbf, repair).argmax()] - best) <= step
    assert availability(best, cost, mtbf, repair) >= availability(tried, cost, mtbf, repair).max()


def test_without_repairs_and_with_short_checkpoints_it_is_youngs():
    assert fs.MaxAvailability(1, 1e9, 0).work_between([1]) == pytest.approx(
        fs.Young(1, 1e9).work_between([1]), rel=1e-6
    )


def poisson(mtbf, horizon, *key):
    return fs.synthetic.exponential_failures(1, horizon, mtbf, rng=generator(*key), any_rate=True)


# -- periodic checkpoints


@pytest.mark.parametrize("recovery", [fs.Requeue, fs.Hold], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    ("work", "w", "n"), [(20.0, 0.5, 300), (20.0, 1.5, 300), (3.05, 1.5, 1500), (3.2, 1.5, 1500), (3.0, 30.0, 2000)]
)
def test_time_with_periodic_checkpoints(work, w, n, recovery):
    """Stretches from safe point to safe point are jobs without checkpoints; the last one has none at its end."""
    cost, rate, restart = 0.1, 0.4, 0.3
    mean = expected_with_checkpoints(rate, work, w, cost, 0.0, restart)
    times = []
    for replicate in range(REPLICATES):
        trace = poisson(1 / rate, 1.3 * mean * n, 21, round(w * 10), round(work * 100), replicate)
        result = run_through(
            equal_jobs(n, work),
            fs.Cluster(1),
            trace,
            recovery=recovery(restart_cost=restart),
            checkpointing=fs.Periodic(w, cost),
        )
        times.append(times_one_by_one(result).mean())
    wrong = [expected_with_checkpoints(rate, work, w, cost)]  # restarts that cost nothing
    if w < work:  # nothing saved; checkpoints that cost nothing; one more, at the end
        wrong.append(expected_time(rate, work, 0.0, restart))
        wrong.append(expected_with_checkpoints(rate, work, w, 0.0, 0.0, restart))
        wrong.append(mean + expected_time(rate, cost, 0.0, restart))
    assert_within(times, mean, 0.02, wrong=wrong[:3] if work > 10 else wrong)


def simulated_times(checkpointing, cost, mtbf, work, replicates, *, size=1, recovery=None):
    """Of one job that is so long that failures at its ends do not matter; the same failures for every policy."""
    times = []
    for replicate in range(replicates):
        trace = poisson(mtbf, 4 * work, 22, round(cost), round(mtbf), replicate).map_nodes(size)
        result = run_through(
            equal_jobs(1, work, size), fs.Cluster(size), trace, recovery=recovery, checkpointing=checkpointing
        )
        times.append(result.jobs["finish"][0])
    return np.array(times)


FACTORS = (0.3, 0.5, 0.7, 0.85, 1.0, 1.2, 1.4, 2.0, 3.0)


@pytest.mark.parametrize(("cost", "mtbf", "exact", "daly", "young"), PRINTED[1:])
def test_waste_is_least_at_the_exact_optimum(cost, mtbf, exact, daly, young):
    work, rate, replicates = 1500 * mtbf, 1 / mtbf, 40
    theory = np.array([expected_with_checkpoints(rate, work, f * exact, cost) for f in FACTORS])
    best = FACTORS.index(1.0)
    assert theory.argmin() == best
    times = [simulated_times(fs.Periodic(f * exact, cost), cost, mtbf, work, replicates) for f in FACTORS]
    resolution = 0.0
    for f, time, mean in zip(FACTORS, times, theory, strict=True):
        assert_within(time, mean, 0.015)
        if f != 1.0:
            lost, half = interval(time - times[best])
            assert abs(lost - (mean - theory[best])) <= half
            resolution = max(resolution, half)
            if not 0.7 < f < 1.4:
                assert lost > half, f"{f} times the optimum should cost more"
    # The least of the simulated times is where the formula is flat, and the grid reaches far beyond that.
    flat = theory - theory[best] <= resolution
    assert flat[np.argmin([time.mean() for time in times])]
    assert flat.sum() <= 5
    assert not flat[[0, 1, -2, -1]].any()


@pytest.mark.parametrize(("cost", "mtbf", "exact", "daly", "young"), PRINTED[1:])
def test_daly_and_young_cost_what_their_intervals_cost(cost, mtbf, exact, daly, young):
    work, rate = 1500 * mtbf, 1 / mtbf
    least = simulated_times(fs.Periodic(exact, cost), cost, mtbf, work, 40)
    for policy, w in ((fs.Daly(cost, mtbf, any_rate=True), daly), (fs.Young(cost, mtbf, any_rate=True), young)):
        time = simulated_times(policy, cost, mtbf, work, 40)
        assert_within(time, expected_with_checkpoints(rate, work, w, cost), 0.01)
        assert np.array_equal(
            time, simulated_times(fs.Periodic(policy.work_between([1])[0], cost), cost, mtbf, work, 40)
        )
    more = expected_with_checkpoints(rate, work, young, cost) - expected_with_checkpoints(rate, work, exact, cost)
    mean, half = interval(time - least)
    assert abs(mean - more) <= half
    if cost > 0.1 * mtbf:  # Young's interval is too long where a checkpoint is not short against the MTBF
        assert mean > half
    daly_more = expected_with_checkpoints(rate, work, daly, cost) - expected_with_checkpoints(rate, work, exact, cost)
    assert abs(daly_more) < 0.05 * more


def test_young_and_daly_go_by_the_rate_of_all_nodes_of_a_job():
    """8 nodes of an MTBF 8 times as long are one node: the same failures, wherever they strike, the same times."""
    cost, mtbf, work = 600.0, 3600.0, 500 * 1699.231
    for policy in (fs.Daly, fs.Young):
        one = simulated_times(policy(cost, mtbf, any_rate=True), cost, mtbf, work, 5)
        eight = simulated_times(policy(cost, 8 * mtbf, any_rate=True), cost, mtbf, work, 5, size=8)
        assert np.array_equal(one, eight)
        assert (simulated_times(policy(cost, mtbf, any_rate=True), cost, mtbf, work, 5, size=8) > one).all()


def test_first_order_waste_holds_for_short_checkpoints_only():
    """1 - (1 - C/P)(1 - (P/2 + R)/M) with the period P = W + C, against the simulated waste."""
    restart = 60.0
    for cost, mtbf, exact, _, _ in (PRINTED[0], PRINTED[2]):
        work = 2000 * mtbf
        time = simulated_times(
            fs.Periodic(exact, cost), cost, mtbf, work, REPLICATES, recovery=fs.Requeue(restart_cost=restart)
        )
        period = exact + cost
        waste = 1 - (1 - cost / period) * (1 - (period / 2 + restart) / mtbf)
        assert_within(time, expected_with_checkpoints(1 / mtbf, work, exact, cost, 0.0, restart), 0.01)
        if mtbf > 1000 * cost:
            assert_within(1 - work / time, waste, 0.02)
        else:
            mean, half = interval(1 - work / time)
            assert abs(mean - waste) > max(half, 0.02 * waste)


# -- checkpoints before predicted failures


def with_free_checkpoints(rate, work, recall, precision):
    """Mean time if `recall` of the failures are predicted and checkpoints cost nothing; 1 - precision are false.

    Safe points come at rate s (predictions, right or false), unforeseen failures at rate u; a = s + u.  With L left,
    E(L) (1 - (u/a) (1 - e^(-aL))) = (1 - e^(-aL)) / a + s G(L), where G(L) = integral of e^(-a (L - y)) E(y) dy.
    """
    s, u = recall * rate / precision, (1 - recall) * rate
    a = s + u

    def mean(left, g):
        ends = -math.expm1(-a * left)
        return (ends / a + s * g) / (1 - u / a * ends)

    solved = solve_ivp(lambda x, g: mean(x, g) - a * g, (0.0, work), [0.0], rtol=1e-10, atol=1e-12)
    return mean(work, solved.y[0][-1])


def test_the_formula_for_free_checkpoints_has_the_right_limits():
    assert with_free_checkpoints(0.5, 3.0, 0.0, 1.0) == pytest.approx(expected_time(0.5, 3.0), rel=1e-8)
    assert with_free_checkpoints(0.5, 3.0, 1.0, 1.0) == pytest.approx(3.0, rel=1e-8)
    assert with_free_checkpoints(0.5, 3.0, 0.5, 1e-4) == pytest.approx(3.0, rel=1e-3)


@pytest.mark.parametrize(
    ("recall", "precision"), [(0.0, 1.0), (0.5, 1.0), (0.5, 0.8), (0.8, 0.4), (0.9, 0.9), (1.0, 1.0)]
)
def test_time_with_free_checkpoints_before_predicted_failures(recall, precision):
    rate, work, n = 0.6, 4.0, 1000
    mean = with_free_checkpoints(rate, work, recall, precision)
    times = []
    for replicate in range(REPLICATES):
        rng = generator(23, round(100 * recall), round(100 * precision), replicate)
        horizon = (1.4 if recall < 0.9 else 1.05) * mean * n
        trace = fs.synthetic.exponential_failures(1, horizon, 1 / rate, rng=rng, any_rate=True)
        predictor = fs.Accuracy(recall)
        if precision < 1:
            seen = trace.time[trace.coin < recall]
            false = rng.uniform(0, horizon, rng.poisson(recall * rate * horizon * (1 - precision) / precision))
            told = np.concatenate([seen, false])
            predictor = fs.PredictionTrace(told, np.zeros(len(told), int))
        result = run_through(
            equal_jobs(n, work), fs.Cluster(1), trace, predictor=predictor, checkpointing=fs.BeforeFailure(0)
        )
        times.append(times_one_by_one(result).mean())
    if recall == 1:
        assert times == pytest.approx([work] * REPLICATES, rel=1e-12)
        return
    wrong = (
        [with_free_checkpoints(rate, work, recall, 1.0)]
        if precision < 1
        else [with_free_checkpoints(rate, work, 0.7, 1)]
    )
    assert_within(times, mean, 0.02, wrong=wrong)


#: Recall, precision, waste by the first-order formula, waste that another program simulated.
PREDICTED = [
    (0.5, 0.8, 0.03317, 0.0327),
    (0.8, 0.4, 0.02307, 0.0222),
    (0.9, 0.9, 0.01628, 0.0153),
    (0.0, 1.0, 0.04539, None),
]
MU, COST, DOWN, RESTART = 1e5, 100.0, 20.0, 100.0


def best_period(recall):
    """sqrt(2 mu C / (1 - r)): proactive checkpoints cost as much as periodic ones."""
    return math.sqrt(2 * MU * COST / (1 - recall))


def predicted_waste(recall, precision, period, *, counted=False):
    """First order: an unforeseen failure loses half a period.

    With `counted`, checkpoints before predicted failures and false alarms count as safe points, and so does a restart:
    they come at rate a, and what is lost is E[min(U(0, period), X)] with X exponential of that rate.
    """
    a = (recall / precision + 1 - recall) / MU
    lost = 1 / a + math.expm1(-a * period) / (a**2 * period) if counted else period / 2
    return 1 - (1 - COST / period) * (1 - ((1 - recall) * lost + DOWN + RESTART + recall / precision * COST) / MU)


def simulated_waste(recall, precision, period, replicates=20):
    """Of one long job with a checkpoint at each multiple of `period` and one before each predicted failure.

    Periodic checkpoints by the clock are predictions of failures that do not happen: `BeforeFailure` takes them like
    those before failures that do.
    """
    work, wastes = 4000 * MU, []
    for replicate in range(replicates):
        rng = generator(24, replicate)
        n = 4800
        time = np.cumsum(rng.exponential(MU, n) + DOWN) - DOWN
        trace = fs.FailureTrace(time, np.zeros(n, int), DOWN, coin=rng.random(n), span=time[-1])
        false = rng.uniform(0, time[-1], rng.poisson(recall / MU * time[-1] * (1 - precision) / precision))
        clock = np.arange(period, time[-1], period)
        told = np.concatenate([time[trace.coin < recall], false, clock])
        result = run_through(
            equal_jobs(1, work),
            fs.Cluster(1),
            trace,
            recovery=fs.Hold(RESTART),
            predictor=fs.PredictionTrace(told, np.zeros(len(told), int)),
            checkpointing=fs.BeforeFailure(COST),
        )
        wastes.append(1 - work / result.metrics["makespan"])
    return np.array(wastes)


@pytest.mark.parametrize(("recall", "precision", "printed", "other"), PREDICTED)
def test_waste_with_periodic_checkpoints_and_predictions(recall, precision, printed, other):
    period = best_period(recall)
    formula = predicted_waste(recall, precision, period)
    assert formula == pytest.approx(printed, abs=6e-6)
    wastes = simulated_waste(recall, precision, period)
    wrong = [] if recall == 0 else [predicted_waste(0.0, 1.0, period), predicted_waste(recall / 2, precision, period)]
    assert_within(wastes, predicted_waste(recall, precision, period, counted=True), 0.03, wrong=wrong)
    mean, half = interval(wastes)
    assert mean - half < formula  # which counts no work saved by proactive checkpoints
    if other is not None:
        assert abs(mean - other) <= half + 0.00005  # as many digits as are printed


def test_with_predictions_the_best_period_is_longer():
    """With 9 of 10 predicted the best is sqrt(10) times as long; 0.3 and 4 times that waste more."""
    recall, precision, factors = 0.9, 0.9, (0.3, 0.6, 1.0, 1.6, 4.0)
    best = best_period(recall)
    assert best == pytest.approx(math.sqrt(10) * best_period(0.0))
    wastes = [simulated_waste(recall, precision, f * best) for f in factors]
    for f, waste in zip(factors, wastes, strict=True):
        assert_within(waste, predicted_waste(recall, precision, f * best, counted=True), 0.06)
        if f in (0.3, 4.0):
            more, half = interval(waste - wastes[2])
            assert more > half
            # That the first-order formula holds for 0.3 but not for 4 times it, the simulation tells.
            mean, half = interval(waste)
            assert (abs(mean - predicted_waste(recall, precision, f * best)) <= half) == (f == 0.3)
    assert np.argmin([waste.mean() for waste in wastes]) in (1, 2, 3)


@pytest.mark.parametrize(("precision", "recall"), [(0.7, 0.6), (0.2, 0.35), (1.0, 1.0), (1.0, 1e-3)])
def test_an_interval_predictor_has_the_precision_and_recall_that_it_is_given(precision, recall):
    length, nodes = 300.0, 16
    trace = fs.synthetic.exponential_failures(nodes, 2000 * length, 50 * length, rng=generator(25), any_rate=True)
    run = fs.Run(
        equal_jobs(1, 10.0),
        fs.Cluster(nodes),
        failures=trace,
        predictor=fs.IntervalPredictor(precision, recall, length),
        checkpointing=fs.BeforeFailure(0),
    )
    told = make_world(run, run.log, run.log.runtime).predictions
    failing = set(zip(bucket_numbers(trace.time, length).tolist(), trace.node.tolist(), strict=True))
    if told is None:
        assert round(recall * len(failing)) == 0
        return
    pairs = list(zip((told.begin / length).astype(int).tolist(), told.node.tolist(), strict=True))
    right = sum(pair in failing for pair in pairs)
    assert len(set(pairs)) == len(pairs)
    assert abs(right - recall * len(failing)) <= 0.5
    assert abs(right / precision - len(pairs)) <= 0.5 / precision
    assert ((told.end - told.begin) == length).all()


def test_interval_predictions_lose_what_was_done_since_the_interval_began():
    """With full recall, the time since the interval began or the last failure: E[min(U(0, I), X)], X exponential."""
    rate, length, work = 0.2, 1.0, 20_000.0
    lost = 1 / rate + math.expm1(-rate * length) / (rate**2 * length)
    losses = []
    for replicate in range(REPLICATES):
        result = run_through(
            equal_jobs(1, work),
            fs.Cluster(1),
            poisson(1 / rate, 1.4 * work, 26, replicate),
            predictor=fs.IntervalPredictor(1.0, 1.0, length),
            checkpointing=fs.BeforeFailure(0),
        )
        losses.append(result.jobs["lost_work"].sum() / result.counters["failures_hit"])
    assert_within(losses, lost, 0.02, wrong=[length / 2])
