"""What the claims of [oliner2004] measure, over replicates, and when a difference counts.

Replicates differ in the failure trace only, and all settings of a replicate meet the same one.  A curve is the mean
over the replicates, as a figure shows it.  An improvement from setting A to B is 1 - mean(B)/mean(A) of the average
bounded slowdown, with the 95 % confidence interval of the paired replicates (jackknife).  "Clearly" means that the
whole interval lies on that side of the bound, which is a one-sided test at 97.5 %; with one replicate nothing is clear.
"""

import math

import numpy as np

from faultsim.arrays import Floats
from faultsim.reproduce.oliner2004.runs import Evidence
from faultsim.reproduce.replicates import difference, reduction
from faultsim.sweep.jackknife import Estimate, half_width


def improvement(
    e: Evidence, log: str, c: float, scheduler: str, a: float, *, base: float = 0.0, count: int | None = None
) -> Estimate:
    """Share by which the average bounded slowdown falls from confidence or accuracy `base` to `a`."""
    values = [e.values("slowdown", log, c, scheduler, level, count) for level in (base, a)]
    return reduction(*values)


def improvements(e: Evidence, log: str, c: float, scheduler: str) -> dict[float, Estimate]:
    """The improvement from no prediction to each confidence or accuracy above 0."""
    return {a: improvement(e, log, c, scheduler, a) for a in e.what.grid if a > 0}


def best(found: dict[float, Estimate]) -> tuple[float, Estimate]:
    """The confidence with the largest improvement, and that improvement."""
    a = max(found, key=lambda level: found[level].value)
    return a, found[a]


def rises(curve: Floats, counts: tuple[int, ...]) -> tuple[Estimate, Estimate, Estimate]:
    """Rises of a curve (counts, replicates) over its first and second half of failures, and half of the first less the
    second.

    Examples
    --------
    >>> rises(np.array([[1.0, 1.0], [5.0, 5.0], [6.0, 6.0]]), (0, 2000, 4000))[2]
    Estimate(value=1.0, half=0.0)
    """
    middle = min(range(len(counts)), key=lambda i: abs(counts[i] - counts[-1] / 2))
    start, half, end = curve[0], curve[middle], curve[-1]
    return difference(start, half), difference(half, end), difference(end - half, 0.5 * (half - start))


def slope(e: Evidence, column: str, log: str, c: float, scheduler: str) -> Estimate:
    """Slope of a straight line through a column over the confidences, in units of the column a unit of confidence."""
    x = np.asarray(e.what.grid)
    centred = x - x.mean()
    slopes = centred @ e.along(column, log, c, scheduler) / (centred @ centred)
    return Estimate(float(slopes.mean()), float(half_width(slopes)))


def correlation(e: Evidence, log: str, c: float, scheduler: str) -> float:
    """Correlation of confidence and slowdown over all confidences above 0 and replicates.

    Each replicate's slowdowns are divided by their mean first, so that easy and hard failure traces count alike.
    """
    x = np.array([a for a in e.what.grid if a > 0])
    y = e.along("slowdown", log, c, scheduler)[[a > 0 for a in e.what.grid]]
    relative = y / y.mean(axis=0)
    across = np.repeat(x[:, None], relative.shape[1], axis=1)
    if relative.std() < 1e-12:
        return math.nan
    return float(np.corrcoef(across.ravel(), relative.ravel())[0, 1])
