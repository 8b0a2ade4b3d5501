"""Means over replicates with confidence intervals.

A statistic is a function of arrays whose last axis is the replicate; replicates share their random numbers over the
arrays, so the interval of a difference or a ratio is that of the paired runs.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from faultsim.sweep.hypothesis_tests import student

Floats = NDArray[np.float64]

#: Of the upper end of an interval of 95 %.
LEVEL = 0.975


@dataclass(frozen=True)
class Estimate:
    """A value and the half width of its 95 % confidence interval (NaN for a single replicate)."""

    value: float
    half: float

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.value - self.half

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.value + self.half

    def percent(self, digits: int | None = None, sign: str = "+") -> str:
        """The value in percent with its half width; by default one digit after the point below 10 %.

        Examples
        --------
        >>> Estimate(0.123, 0.02).percent(), Estimate(0.0012, 0.0001).percent(3, "")
        ('+12 +- 2 %', '0.120 +- 0.010 %')
        """
        if digits is None:
            digits = 1 if abs(self.value) < 0.1 else 0
        half = "" if math.isnan(self.half) else f" +- {100 * self.half:.{digits}f}"
        return f"{100 * self.value:{sign}.{digits}f}{half} %"


def half_width(values: Floats) -> Floats:
    """Half widths of the 95 % intervals of means over the last axis.

    Examples
    --------
    >>> half_width(np.array([[1.0, 3.0], [2.0, 2.0]])).round(2).tolist()
    [12.71, 0.0]
    """
    n = values.shape[-1]
    if n < 2:
        return np.full(values.shape[:-1], np.nan)
    half: Floats = student(n - 1, LEVEL) * values.std(axis=-1, ddof=1) / math.sqrt(n)
    return half


def jackknife(statistic: Callable[..., float], *arrays: Floats) -> Estimate:
    """A statistic of all replicates, and its interval from leaving out one at a time.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 3.0, 4.0])
    >>> bool(jackknife(lambda a: float(a.mean()), x).half == half_width(x))
    True
    >>> jackknife(lambda a, b: float(a.mean() / b.mean()), 2 * x, x)
    Estimate(value=2.0, half=0.0)
    """
    n = arrays[0].shape[-1]
    value = statistic(*arrays)
    if n < 2:
        return Estimate(value, math.nan)
    left = np.array([statistic(*(np.delete(a, i, axis=-1) for a in arrays)) for i in range(n)])
    variance = (n - 1) / n * float(((left - left.mean()) ** 2).sum())
    return Estimate(value, student(n - 1, LEVEL) * math.sqrt(variance))


def correlation(x: Floats, y: Floats) -> float:
    """Pearson's correlation; NaN where one of the two does not vary."""
    if len(x) < 2 or not x.std() or not y.std():
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])


def reduction(base: Floats, better: Floats) -> Estimate:
    """By which share the mean of `better` is below that of `base`; both with one value per replicate.

    Examples
    --------
    >>> reduction(np.array([10.0, 20.0]), np.array([5.0, 10.0]))
    Estimate(value=0.5, half=0.0)
    """
    return jackknife(lambda a, b: float(1.0 - b.mean() / a.mean()) if a.mean() else math.nan, base, better)


def difference(low: Floats, high: Floats) -> Estimate:
    """The mean of ``high - low`` over the replicates.

    Examples
    --------
    >>> difference(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    Estimate(value=1.0, half=0.0)
    """
    return Estimate(float((high - low).mean()), float(half_width(high - low)))


def significant(estimate: Estimate) -> bool:
    """Whether the whole interval lies above 0.

    Examples
    --------
    >>> significant(Estimate(0.3, 0.2)), significant(Estimate(0.3, 0.4)), significant(Estimate(0.3, math.nan))
    (True, False, False)
    """
    return bool(estimate.low > 0)


def above(estimate: Estimate, bound: float = 0.0) -> bool:
    """Whether the value, and its interval if there is one, is above `bound`.

    Examples
    --------
    >>> above(Estimate(0.2, 0.1)), above(Estimate(0.2, 0.3))
    (True, False)
    """
    return estimate.value > bound and not estimate.low <= bound


def below(estimate: Estimate, bound: float = 0.0) -> bool:
    """Whether the value, and its interval if there is one, is below `bound`."""
    return estimate.value < bound and not estimate.high >= bound
