"""Intervals of means and ratios: against SciPy, plain loops and invariances, and how often they hold."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from faultsim.errors import OptionError
from faultsim.sweep.intervals import (
    BOOTSTRAPS,
    INTERVALS,
    RESAMPLES,
    SEED,
    interval_of_mean,
    interval_of_ratio,
    kind_of,
)
from faultsim.sweep.statistics import compare, summary
from helpers.refusals import refused
from helpers.sweep_tables import table

LEVEL = 0.975
samples = st.lists(st.floats(0.1, 1e6), min_size=3, max_size=12, unique=True).map(np.array)


@given(samples)
def test_the_interval_of_a_logarithm_is_students_of_the_mean_stretched(sample):
    low, high = interval_of_mean(sample, LEVEL, "log")
    mean, error = sample.mean(), stats.sem(sample)
    assert low * high == pytest.approx(mean**2)
    assert math.log(high / mean) == pytest.approx(stats.t.ppf(LEVEL, len(sample) - 1) * error / mean)


@given(samples, st.floats(0.01, 100))
def test_units_do_not_matter(sample, unit):
    for kind in ("t", "log"):
        ends = np.array(interval_of_mean(sample, LEVEL, kind))
        np.testing.assert_allclose(interval_of_mean(unit * sample, LEVEL, kind), unit * ends, rtol=1e-9)


@given(st.integers(0, 2**32), st.integers(3, 20), st.floats(0.5, 2))
def test_ratios_turned_round_have_intervals_turned_round(seed, n, factor):
    rng = np.random.default_rng(seed)
    other = rng.lognormal(size=n)
    one = factor * other * rng.lognormal(0, 0.1, n)
    low, high = interval_of_ratio(one, other, LEVEL)
    assert low <= one.mean() / other.mean() <= high
    assert (1 / high, 1 / low) == pytest.approx(interval_of_ratio(other, one, LEVEL))


def test_what_both_share_cancels_out_of_a_ratio():
    common = np.random.default_rng(0).lognormal(0, 2, 8)
    assert interval_of_ratio(1.5 * common, common, LEVEL) == pytest.approx((1.5, 1.5))


def test_bootstraps_against_plain_ones():
    sample = np.array([1.0, 2.0, 4.0, 8.0, 30.0])
    n, mean = len(sample), sample.mean()
    shifts, means = [], []
    for places in np.random.default_rng(SEED).integers(0, n, (RESAMPLES, n)):
        drawn = sample[places]
        means.append(drawn.mean())
        if len(set(places.tolist())) > 1:
            shifts.append((drawn.mean() - mean) / (drawn.std(ddof=1) / math.sqrt(n)))
    error = stats.sem(sample)
    studentized = (mean - np.quantile(shifts, 0.975) * error, mean - np.quantile(shifts, 0.025) * error)
    assert interval_of_mean(sample, LEVEL, "bootstrap-t") == pytest.approx(studentized)
    # Efron 1987, with other resamples: the bias from where the mean lies, the acceleration from the sample's skew.
    means = np.array(means)
    bias = stats.norm.ppf((np.sum(means < mean) + 0.5 * np.sum(means == mean)) / RESAMPLES)
    left = (sample.sum() - sample) / (n - 1)
    apart = left.mean() - left
    speed = (apart**3).sum() / (6 * (apart**2).sum() ** 1.5)
    z = bias + stats.norm.ppf([1 - LEVEL, LEVEL])
    plain = np.quantile(means, stats.norm.cdf(bias + z / (1 - speed * z)))
    np.testing.assert_allclose(interval_of_mean(sample, LEVEL, "bca"), plain, rtol=0.02)


@pytest.mark.parametrize("kind", INTERVALS)
def test_samples_that_say_nothing(kind):
    assert np.isnan(interval_of_mean(np.array([3.0]), LEVEL, kind)).all()
    assert interval_of_mean(np.array([3.0, 3.0, 3.0]), LEVEL, kind) == (3.0, 3.0)
    assert interval_of_mean(np.zeros(3), LEVEL, kind) == (0.0, 0.0)
    two = interval_of_mean(np.array([1.0, 2.0]), LEVEL, kind)
    assert np.isnan(two).all() if kind in BOOTSTRAPS else two[0] < 1.5 < two[1]
    three = interval_of_mean(np.array([1.0, 2.0, 4.0]), LEVEL, kind)
    assert three[0] < 7 / 3 < three[1]
    assert three == interval_of_mean(np.array([1.0, 2.0, 4.0]), LEVEL, kind)


def test_ratios_that_are_none():
    for one, other in (([1.0], [2.0]), ([0.0, 0.0], [1.0, 2.0]), ([1.0, 2.0], [0.0, 0.0]), ([-1.0, 2.0], [1.0, 2.0])):
        assert np.isnan(interval_of_ratio(np.array(one), np.array(other), LEVEL)).all()


def test_in_tables():
    rng = np.random.default_rng(0)
    values = rng.lognormal(3, 1, (2, 6))
    rows = table(values)
    for kind in INTERVALS:
        found = summary(rows, "mean_wait", interval=kind)
        assert (found["low"][1], found["high"][1]) == interval_of_mean(values[1], LEVEL, kind)
        assert found["half"][1] == pytest.approx(0.5 * (found["high"][1] - found["low"][1]))
        assert found.what == "mean_wait: mean with 95 % interval" + ("" if kind == "t" else f" ({kind})")
        if kind != "log":
            test = compare(rows, "mean_wait", "policy", "a", interval=kind)
            assert (test["low"][0], test["high"][0]) == interval_of_mean(values[1] - values[0], LEVEL, kind)
            assert test["p"] == compare(rows, "mean_wait", "policy", "a")["p"]
    low, high = interval_of_ratio(values[1], values[0], LEVEL)
    assert (test["relative_low"][0], test["relative_high"][0]) == (low - 1, high - 1)


def test_what_is_refused():
    below = np.array([-1.0, 2.0])
    refused(OptionError, "interval 'log' is for values of at least 0", interval_of_mean, below, LEVEL, "log")
    rows = table(np.ones((2, 3)))
    refused(OptionError, r"unknown interval 'bcs' \(did you mean 'bca'", kind_of, "bcs")
    refused(
        OptionError, "interval 'log' is for means, as of", compare, rows, "mean_wait", "policy", "a", interval="log"
    )


@pytest.mark.slow
def test_how_often_intervals_cover_the_mean_of_skewed_values():
    """What docs/guides/intervals.md says, for a distribution whose mean is known: log-normal of skewness 6."""
    rng = np.random.default_rng(7)
    truth = math.exp(0.5)
    cover = {}
    for n in (5, 20):
        for kind in INTERVALS:
            ends = np.array([interval_of_mean(rng.lognormal(size=n), LEVEL, kind) for _ in range(2000)])
            cover[kind, n] = np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
    error = 3 * math.sqrt(0.15 * 0.85 / 2000)
    for n in (5, 20):
        assert cover["t", n] < 0.88 + error  # nowhere near .95
        assert cover["log", n] > cover["t", n]
        assert cover["bootstrap-t", n] > cover["t", n]
    assert cover["bca", 5] < cover["t", 5]  # a bootstrap of five values knows too little of their tail
