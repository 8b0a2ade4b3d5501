"""The accuracy of predictions themselves: hits, missed failures and false predictions."""

from dataclasses import dataclass

import numpy as np

from faultsim.arrays import Floats, Integers


@dataclass(frozen=True)
class Matched:
    """How predictions and failures match, over a whole trace, regardless of what runs.

    Attributes
    ----------
    hits : int
        Failures that a prediction matches.
    missed : int
        Failures that none matches.
    false : int
        Predictions that match no failure.

    References
    ----------
    [yu2010] section 3.

    Examples
    --------
    >>> Matched(hits=2, missed=1, false=1).aoa
    0.5
    """

    hits: int
    missed: int
    false: int

    @property
    def aoa(self) -> float:
        """Application oblivious accuracy (equation 1): hits / (hits + missed + false); NaN if there are none."""
        total = self.hits + self.missed + self.false
        return self.hits / total if total else float("nan")


def matched(
    time: Floats,
    downtime: Floats,
    node: Integers,
    begin: Floats,
    end: Floats,
    about: Integers,
) -> Matched:
    """Match predictions with failures, node by node.

    A prediction from `begin` to `end` matches a failure of its node at `time` if it ends at that time or later and
    begins by the end of the down time.

    Parameters
    ----------
    time, downtime, node : numpy.ndarray
        The failures, in order of time (s, s, node number).
    begin, end, about : numpy.ndarray
        The predictions, in order of both times (s, s, node number); dated ones begin when they end.

    Examples
    --------
    The example of the paper (its Figure 5): two hits, one failure missed, one false prediction.

    >>> down = np.array([5.0, 15.0, 60.0]), np.array([5.0, 5.0, 5.0]), np.array([2, 0, 1])
    >>> when = np.array([8.0, 18.0, 90.0])
    >>> matched(*down, when, when, np.array([2, 0, 2]))
    Matched(hits=2, missed=1, false=1)
    """
    hits = right = 0
    if not (len(node) and len(about)):
        return Matched(0, len(node), len(about))
    by_failure, by_prediction = np.argsort(node, kind="stable"), np.argsort(about, kind="stable")
    failing, foreseen = node[by_failure], about[by_prediction]
    for number in np.intersect1d(failing, foreseen):
        rows = by_failure[slice(*np.searchsorted(failing, [number, number + 1]))]
        said = by_prediction[slice(*np.searchsorted(foreseen, [number, number + 1]))]
        fails, up = time[rows], time[rows] + downtime[rows]
        # The first prediction that does not end before the failure also begins first among them.
        first = np.searchsorted(end[said], fails, side="left")
        near = np.minimum(first, len(said) - 1)
        hits += int(((first < len(said)) & (begin[said][near] <= up)).sum())
        # Among the failures up to the end of a prediction, the one that ends last decides.
        latest = np.maximum.accumulate(up)
        before = np.searchsorted(fails, end[said], side="right") - 1
        right += int(((before >= 0) & (latest[before] >= begin[said])).sum())
    return Matched(hits, len(node) - hits, len(about) - right)
