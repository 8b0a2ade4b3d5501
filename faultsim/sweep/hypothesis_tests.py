"""Tests and quantiles: Student's t, Wilcoxon's signed ranks, Holm's correction, and how many replicates it takes."""

import math

import numpy as np

from faultsim.arrays import Floats

#: Share of sweeps with `needed` replicates that would show the difference.
POWER = 0.8
#: Pairs up to which Wilcoxon's distribution is enumerated; beyond, the normal approximation is good.
EXACT = 50


def student(n: int, level: float) -> float:
    """Quantile of Student's t with `n` degrees of freedom.

    Examples
    --------
    >>> round(student(4, 0.975), 3)
    2.776
    """
    from scipy.special import stdtrit

    return float(stdtrit(n, level)) if n > 0 else math.nan


def student_p(difference: Floats) -> float:
    """Two-sided p of the paired t test that the mean difference is 0; NaN for fewer than two pairs.

    Examples
    --------
    >>> round(student_p(np.array([1.0, 2.0, 3.0])), 4)
    0.0742
    """
    from scipy.special import stdtr

    n = len(difference)
    if n < 2:
        return math.nan
    mean, sd = float(difference.mean()), float(difference.std(ddof=1))
    if sd == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return float(2.0 * stdtr(n - 1, -abs(mean) / (sd / math.sqrt(n))))


def wilcoxon_p(difference: Floats) -> float:
    """Two-sided p of Wilcoxon's signed-rank test; zeros are dropped, ties share their ranks.

    Examples
    --------
    >>> wilcoxon_p(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    0.0625
    """
    other = difference[difference != 0.0]
    n = len(other)
    if n < 1:
        return math.nan if len(difference) < 2 else 1.0
    if n == 1:
        return math.nan if len(difference) < 2 else 1.0
    size = np.abs(other)
    # Twice the mean rank of each, a whole number even for ties.
    order = np.sort(size)
    ranks = np.searchsorted(order, size, "left") + np.searchsorted(order, size, "right") + 1
    positive, total = int(ranks[other > 0].sum()), int(ranks.sum())
    low = min(positive, total - positive)
    if n > EXACT:
        spread = math.sqrt(float((ranks.astype(np.float64) ** 2).sum()) / 4.0)
        return min(1.0, math.erfc((total / 2.0 - low) / spread / math.sqrt(2.0)))
    ways = np.zeros(total + 1)
    ways[0] = 1.0
    for rank in ranks.tolist():
        ways[rank:] += ways[: total + 1 - rank].copy()
    return min(1.0, float(2.0 * ways[: low + 1].sum() / 2.0**n))


def holm(p: Floats) -> Floats:
    """p values with Holm's correction for their number; NaN is kept and not counted.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, np.nan, 0.03])).tolist()
    [0.03, 0.06, nan, 0.06]
    """
    out = np.full(len(p), np.nan)
    there = np.flatnonzero(~np.isnan(p))
    order = there[np.argsort(p[there], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    out[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factors)) if len(order) else 0.0
    return out


def needed(mean: float, sd: float, level: float) -> float:
    """Number of pairs with which a paired t test shows a mean difference of this size with probability `POWER`.

    Examples
    --------
    >>> needed(1.0, 1.0, 0.975), needed(1.0, 0.0, 0.975)
    (10.0, 2.0)
    """
    if math.isnan(sd) or mean == 0.0:
        return math.nan
    ratio = (sd / mean) ** 2

    def enough(n: int) -> bool:
        return ratio * (student(n - 1, level) + student(n - 1, POWER)) ** 2 <= n

    high = 2
    while not enough(high) and high < 2**40:
        high *= 2
    low = max(2, high // 2)  # too few, or the least
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return float(high)
