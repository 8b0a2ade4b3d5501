"""What claims ask of replicates: reductions, differences, and whether they are clearly on one side."""

import math

import numpy as np

from faultsim.sweep.jackknife import LEVEL, Estimate, Floats, half_width, jackknife

__all__ = [
    "LEVEL",
    "Estimate",
    "Floats",
    "above",
    "below",
    "correlation",
    "difference",
    "half_width",
    "jackknife",
    "reduction",
    "significant",
]


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
