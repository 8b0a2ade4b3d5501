"""What the claims of [yu2010] measure; fixed before the runs were looked at.

The paper's figures have no readable numbers, so:

Saving
    1 less the ratio of two means over the windows: of a column at an accuracy, against the same at accuracy 0 (the
    failure-blind RANK_HYBD).
Trend
    The slope of a straight line through the means at all accuracies (the abscissa is AOA), relative to the mean at
    accuracy 0.
Column
    Of a window: the mean over its prediction traces.  Makespans are means over the workflows of a run.

Intervals are at 95 %, by leaving out one window at a time; all that is compared shares its windows and workflows.
"Clearly" means that the interval lies on one side of 0.
"""

import numpy as np

from faultsim.arrays import Floats
from faultsim.reproduce.yu2010.runs import View
from faultsim.sweep.jackknife import Estimate, jackknife


def _saving(ours: Floats, base: Floats) -> float:
    lower = float(base.mean())
    return 1.0 - float(ours.mean()) / lower if lower else float("nan")


def saving(view: View, column: str, flows: int, aoa: float) -> Estimate:
    """Relative saving of a column at an accuracy against accuracy 0."""
    return jackknife(_saving, view(column, flows, aoa), view(column, flows, 0.0))


def saved(ours: Floats, base: Floats) -> Estimate:
    """Relative saving of one column of windows against another."""
    return jackknife(_saving, ours, base)


def trend(view: View, column: str, flows: int) -> Estimate:
    """Slope over the accuracies, relative to the mean at accuracy 0."""
    at = np.array(view.what.aoas)

    def slope(values: Floats) -> float:
        means = values.mean(axis=-1)
        return float(np.polyfit(at, means, 1)[0] / means[0]) if means[0] else float("nan")

    return jackknife(slope, view.along(column, flows))


def growth(a: tuple[Floats, Floats], b: tuple[Floats, Floats], *, relative: bool) -> Estimate:
    """How much more is saved in `b` than in `a`; each is (ours, base), and relative or in the column's own unit."""

    def difference(x: Floats, x0: Floats, y: Floats, y0: Floats) -> float:
        if relative:
            return _saving(y, y0) - _saving(x, x0)
        return float((y0 - y).mean() - (x0 - x).mean())

    return jackknife(difference, *a, *b)


def correlation(view: View, aoa: float) -> Estimate:
    """Correlation of the share of false positives with the makespan, relative to its mean in the window.

    0 where nothing varies.
    """

    def of(makespan: Floats) -> float:
        relative = (makespan / makespan.mean(axis=0)).ravel()
        share = np.repeat(view.what.shares, makespan.shape[1])
        return 0.0 if relative.std() < 1e-12 else float(np.corrcoef(share, relative)[0, 1])

    return jackknife(of, view.mixed("makespan", aoa))


def mean(*columns: Floats) -> Estimate:
    """Of all values of columns that share their windows."""
    return jackknife(lambda *drawn: float(np.mean([column.mean() for column in drawn])), *columns)


def rise(before: Floats, after: Floats) -> Estimate:
    """By how much the mean of one column of windows is above that of another."""
    return jackknife(lambda a, b: float(b.mean() - a.mean()), before, after)


def listed(estimates: dict[str, Estimate], digits: int | None = None) -> str:
    """Estimates by label, in percent.

    Examples
    --------
    >>> listed({"1": Estimate(0.1, 0.02), "10": Estimate(0.2, 0.1)})
    '1: +10 +- 2 %, 10: +20 +- 10 %'
    """
    return ", ".join(f"{label}: {estimate.percent(digits)}" for label, estimate in estimates.items())
