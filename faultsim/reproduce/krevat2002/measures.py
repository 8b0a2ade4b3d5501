"""What the claims of [krevat2002] measure on the curves, and how near is near enough.

The paper says "saturates at about 77 %" without a definition and its figures are not readable as numbers, so these
definitions were chosen before the runs were looked at:

Saturation
    The highest utilization (w_util) over the load coefficients that the paper plots: c = 0.7 to 1.4, and on NASA for
    the schedulers with backfilling up to 1.75, because the paper extends those curves.
Knee
    The utilization at which the mean wait passes ten times the log's mean run time (at c = 1). It is printed beside
    the saturation, and never decides.

The order in which boxes are searched (model.md#box-order) moves saturation by up to two points (FCFS) and four
(migration), so no claim about saturation is held tighter than that.
"""

import numpy as np

from faultsim.arrays import Floats
from faultsim.reproduce.krevat2002.runs import Curve, Evidence


def plotted(evidence: Evidence, log: str, series: str) -> Curve:
    """The part of a curve that the paper plots."""
    curve = evidence.curve(log, series)
    extended = log == "nasa" and series in ("Backfill", "B+M", "Flat Backfill")
    return curve if extended else curve.upto(1.4)


def saturation(evidence: Evidence, log: str, series: str) -> float:
    """The highest utilization over the load coefficients that the paper plots, in percent."""
    return 100.0 * float(plotted(evidence, log, series)["utilization"].max())


def knee(evidence: Evidence, log: str, series: str) -> float:
    """The utilization in percent at which the mean wait passes ten mean run times; NaN if it never does."""
    curve = evidence.curve(log, series)
    bound = 10.0 * float(evidence.sources[log].log.runtime.mean())
    wait, u = curve["mean_wait"], curve["utilization"]
    over = np.flatnonzero(wait >= bound)
    if not len(over):
        return float("nan")
    i = int(over[0])
    if i == 0:
        return 100.0 * float(u[0])
    share = (bound - wait[i - 1]) / (wait[i] - wait[i - 1])
    return 100.0 * float(u[i - 1] + share * (u[i] - u[i - 1]))


def relative_reduction(worse: Floats, better: Floats) -> Floats:
    """By which share `better` is below `worse` (negative: above); NaN where either is missing."""
    return 1.0 - over(better, worse)


def over(upper: Floats, lower: Floats) -> Floats:
    """`upper` / `lower`, NaN where `lower` is 0.

    Examples
    --------
    >>> over(np.array([1.0, 2.0]), np.array([2.0, 0.0])).tolist()
    [0.5, nan]
    """
    ratio: Floats = np.divide(upper, lower, out=np.full(len(upper), np.nan), where=lower != 0)
    return ratio


def portion(lower: Floats, upper: Floats) -> float:
    """At which share of the points one is below the other; NaN if a value is missing."""
    if np.isnan(lower).any() or np.isnan(upper).any():
        return float("nan")
    return float(np.mean(lower < upper))


def middle(values: Floats) -> float:
    """The median of what is not NaN; NaN if all is."""
    kept = values[~np.isnan(values)]
    return float(np.median(kept)) if len(kept) else float("nan")


def largest(values: Floats) -> float:
    """The largest of what is not NaN; NaN if all is."""
    return float(np.fmax.reduce(values, initial=np.nan))


def change(value: float, base: float) -> float:
    """Relative change of `value` against `base`, in percent.

    Examples
    --------
    >>> change(0.72, 0.6)
    20.0
    """
    return round(100.0 * (value / base - 1.0), 9) if base else float("nan")


def percent(value: float, digits: int = 1) -> str:
    """A percentage, or "not reached".

    Examples
    --------
    >>> percent(77.04)
    '77.0 %'
    """
    return "not reached" if np.isnan(value) else f"{value:.{digits}f} %"
