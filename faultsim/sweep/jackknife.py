"""Estimates of statistics of replicates, with their 95 % intervals: of means, and of what is made of several means.

A statistic is a function of arrays whose last axis is the replicate; replicates share their random numbers over the
arrays, so the interval of a difference or a ratio is that of the paired runs.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from faultsim.arrays import Floats
from faultsim.sweep.hypothesis_tests import student

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


def half_width(values: Floats, level: float = LEVEL) -> Floats:
    """Half widths of Student's intervals of means over the last axis, 95 % by default; NaN for a single value.

    Examples
    --------
    >>> half_width(np.array([[1.0, 3.0], [2.0, 2.0]])).round(2).tolist()
    [12.71, 0.0]
    """
    n = values.shape[-1]
    if n < 2:
        return np.full(values.shape[:-1], np.nan)
    half: Floats = student(n - 1, level) * values.std(axis=-1, ddof=1) / math.sqrt(n)
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
