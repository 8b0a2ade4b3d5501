"""What claims ask of replicates: correlations, reductions and differences."""

import math

import numpy as np

from faultsim.arrays import Floats
from faultsim.sweep.jackknife import Estimate, half_width, jackknife


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
