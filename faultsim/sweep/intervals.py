"""Confidence intervals of means over replicates: Student's t, its transform by logarithms, and two bootstraps.

Waits and slowdowns of queues near saturation are skewed: few replicates with a long queue carry the mean.  Student's t
then misses the truth more often than it says, on the side of high values.  How often each interval covers it, is
measured in docs/guides/intervals.md.
"""

import math
from typing import Literal, get_args

import numpy as np

from faultsim import checks
from faultsim.arrays import Floats
from faultsim.errors import OptionError
from faultsim.sweep.hypothesis_tests import student
from faultsim.sweep.jackknife import half_width

Interval = Literal["t", "log", "bca", "bootstrap-t"]

#: Kinds of interval, the default first.
INTERVALS: tuple[str, ...] = get_args(Interval)
BOOTSTRAPS = ("bca", "bootstrap-t")
#: Samples that a bootstrap draws with replacement; the same ones at every call, so that a table prints the same twice.
RESAMPLES = 9_999
SEED = 20_040


def kind_of(interval: str) -> str:
    """The kind of interval that a word names."""
    return checks.choice("interval", interval, INTERVALS)


def interval_of_mean(sample: Floats, level: float, kind: str = "t") -> tuple[float, float]:
    """The ends of the confidence interval of a mean.

    Parameters
    ----------
    sample : (n,) array
        Independent values; NaN for fewer than two, and by a bootstrap for fewer than three.
    level : float
        Of the upper end: 0.975 for an interval of 95 %.
    kind : {"t", "log", "bca", "bootstrap-t"}
        ``"t"`` is Student's.  ``"log"`` is Student's for the logarithm of the mean (its standard error by the delta
        method): never below 0, longer upwards; needs values of at least 0.  ``"bca"`` is the bias-corrected and
        accelerated bootstrap (Efron 1987), ``"bootstrap-t"`` the studentized one.

    Raises
    ------
    OptionError
        For ``"log"`` with a value below 0.

    Examples
    --------
    >>> waits = np.array([10.0, 20.0, 30.0, 120.0])
    >>> [[round(end) for end in interval_of_mean(waits, 0.975, kind)] for kind in INTERVALS]
    [[-36, 126], [8, 270], [18, 98], [-6, 324]]
    """
    n = len(sample)
    if n < (3 if kind in BOOTSTRAPS else 2) or not np.isfinite(sample).all():
        return math.nan, math.nan
    mean, error = float(sample.mean()), float(sample.std(ddof=1)) / math.sqrt(n)
    if error == 0.0:
        return mean, mean
    if kind == "log":
        if (sample < 0).any():
            raise OptionError("interval 'log' is for values of at least 0; take 't' or 'bootstrap-t'")
        factor = math.exp(student(n - 1, level) * error / mean)
        return mean / factor, mean * factor
    if kind == "bca":
        return _bca(sample, level)
    if kind == "bootstrap-t":
        return _studentized(sample, level)
    half = float(half_width(sample, level))
    return mean - half, mean + half


def interval_of_ratio(one: Floats, other: Floats, level: float) -> tuple[float, float]:
    """The ends of the confidence interval of the mean of `one` over that of `other`, of pairs.

    Student's t for the logarithm of the ratio, its standard error by the delta method over the pairs, so that what both
    share cancels out; NaN for fewer than two pairs, values below 0 or a mean of 0.

    Examples
    --------
    >>> one, other = np.array([12.0, 24.0, 33.0]), np.array([10.0, 20.0, 30.0])
    >>> [round(end, 3) for end in interval_of_ratio(one, other, 0.975)]
    [0.997, 1.327]
    """
    n, mean, base = len(one), float(one.sum()), float(other.sum())
    if n < 2 or (one < 0).any() or (other < 0).any() or mean == 0.0 or base == 0.0:
        return math.nan, math.nan
    error = float((n * one / mean - n * other / base).std(ddof=1)) / math.sqrt(n)
    factor = math.exp(student(n - 1, level) * error)
    return mean / base / factor, mean / base * factor


def _bca(sample: Floats, level: float) -> tuple[float, float]:
    from scipy import stats

    # `random_state` is what SciPy 1.13 calls it; later versions take it as well.
    chance = np.random.default_rng(SEED)
    found = stats.bootstrap(
        (sample,), np.mean, confidence_level=2.0 * level - 1.0, n_resamples=RESAMPLES, method="BCa", random_state=chance
    ).confidence_interval
    return float(found.low), float(found.high)


def _studentized(sample: Floats, level: float) -> tuple[float, float]:
    n, mean = len(sample), float(sample.mean())
    drawn = sample[np.random.default_rng(SEED).integers(0, n, (RESAMPLES, n))]
    shift, error = drawn.mean(axis=1) - mean, drawn.std(axis=1, ddof=1) / math.sqrt(n)
    apart = error > 0  # a sample of one value drawn n times has none
    low, high = np.quantile(shift[apart] / error[apart], [level, 1.0 - level])
    scale = float(sample.std(ddof=1)) / math.sqrt(n)
    return mean - float(low) * scale, mean - float(high) * scale
