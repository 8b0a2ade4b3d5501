"""Rows of a chart for jobs on a torus: each job gets rows as it is allocated, side by side wherever it can.

A box of a torus is many runs of node numbers; as many rows as it has nodes are one bar.
"""

import heapq
from bisect import bisect_left

import numpy as np

from faultsim.arrays import Floats, LongIntegers
from faultsim.plot.held_runs import Runs


class Rows:
    """Free rows of a chart, as runs.

    Examples
    --------
    >>> rows = Rows(8)
    >>> rows.take(3), rows.take(2)
    ([(0, 3)], [(3, 2)])
    >>> rows.give([(0, 3)])
    >>> rows.take(4)
    [(0, 3), (5, 1)]
    """

    def __init__(self, count: int) -> None:
        self._first, self._count = [0], [count]

    def take(self, size: int) -> list[tuple[int, int]]:
        """The smallest free run that holds `size` rows, or the lowest runs together; fewer if there are no more."""
        fits = [i for i, count in enumerate(self._count) if count >= size]
        if fits:
            return [self._cut(min(fits, key=self._count.__getitem__), size)]
        found = []
        while size and self._count:
            part = min(size, self._count[0])
            found.append(self._cut(0, part))
            size -= part
        return found

    def _cut(self, i: int, size: int) -> tuple[int, int]:
        first = self._first[i]
        if size == self._count[i]:
            del self._first[i], self._count[i]
        else:
            self._first[i] += size
            self._count[i] -= size
        return first, size

    def give(self, runs: list[tuple[int, int]]) -> None:
        """Take rows back."""
        for first, count in runs:
            i = bisect_left(self._first, first)
            self._first.insert(i, first)
            self._count.insert(i, count)
            for j in (i, i - 1):  # join with the next, then with the one before
                if 0 <= j < len(self._first) - 1 and self._first[j] + self._count[j] == self._first[j + 1]:
                    self._count[j] += self._count.pop(j + 1)
                    del self._first[j + 1]


def lanes(begin: Floats, end: Floats, size: LongIntegers, rows: int) -> Runs:
    """Rows of each stay, in the order in which they begin; rows are free again when a stay ends.

    Examples
    --------
    >>> row, first, count = lanes(np.array([0.0, 0.0, 5.0]), np.array([5.0, 9.0, 8.0]), np.array([2, 1, 2]), 4)
    >>> row.tolist(), first.tolist(), count.tolist()
    ([1, 0, 2], [0, 1, 1], [1, 2, 2])
    """
    free = Rows(rows)
    ends: list[tuple[float, int, list[tuple[int, int]]]] = []
    found: list[tuple[int, int, int]] = []
    begins, until, sizes = begin.tolist(), end.tolist(), size.tolist()
    # Of those that begin at a time the ones that end later lie lower, and what is long stays together.
    for stay in np.lexsort((np.arange(len(begin)), -end, begin)).tolist():
        now = begins[stay]
        while ends and ends[0][0] <= now:
            free.give(heapq.heappop(ends)[2])
        if until[stay] <= now:
            continue
        runs = free.take(sizes[stay])
        heapq.heappush(ends, (until[stay], stay, runs))
        found += [(stay, first, count) for first, count in runs]
    row, first, count = np.array(found, dtype=np.int64).reshape(-1, 3).T
    return row, first, count
