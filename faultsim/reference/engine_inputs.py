"""What befalls a run from outside: failures, predictions, requests for checkpoints.  All drawn before it begins."""

from typing import Any

import numpy as np

from faultsim.data.world import FailureRows, TickRows, World
from faultsim.reference.capacity import Amounts

#: Time, node, down time, and the part of the node and where it is.
Failure = tuple[float, int, float, Amounts | None, float]


class WorldRows:
    """The tables of a `World` as plain lists.

    Attributes
    ----------
    failures : list of (time, node, down time, part, unit)
        By time, in trace order; the part is what fails of the node, None for all of it, and `unit` chooses where.
    alarms : list of (time, node)
        Requests for checkpoints; node -1: to victims among all jobs.
    predictions : list of (begin, end, node)
        begin == end for a dated one.
    p : float
        Probability of each prediction.
    live : bool
        Whether the caller owns time, jobs and failures.
    oracle_runtimes : bool
        Whether decisions that the caller gets have true run times.
    rows, columns : array or None, mapping
        Rows of the jobs in the user's log (None: the same), and the columns of that.
    asks : AskRows or None
        What jobs request of nodes that they share.
    ticks : list of (time, nodes)
        When `Fars` acts, and which nodes are suspicious from then until the next one.
    """

    def __init__(self, world: World | None) -> None:
        given = world or World()
        self.failures = failures(given.failures)
        self.alarms: list[tuple[float, int]] = rows(given.alarms, "time", "node")
        self.predictions: list[tuple[float, float, int]] = rows(given.predictions, "begin", "end", "node")
        self.p = 0.0 if given.predictions is None else float(given.predictions.p)
        self.rows, self.columns, self.asks = given.rows, given.columns, given.asks
        self.live, self.oracle_runtimes = given.live, given.oracle_runtimes
        self.ticks: list[tuple[float, frozenset[int]]] = ticks(given.ticks)

    def failing(self, begin: float, end: float) -> set[int]:
        """The nodes with a prediction in a window.

        model.md#window: "A prediction from b to e [...] counts in (w0, w1) if b < w1 and e > w0."
        """
        return {node for b, e, node in self.predictions if b < end and e > begin}

    def probability(self, k: int) -> float:
        """model.md#balancing: "P = 1 - x where x starts at 1 and is multiplied k times by (1 - p)"."""
        survives = 1.0
        for _ in range(k):
            survives *= 1.0 - self.p
        return 1.0 - survives


def failures(table: FailureRows | None) -> list[Failure]:
    """The rows of failures."""
    if table is None:
        return []
    plain = rows(table, "time", "node", "downtime")
    if table.part is None or table.unit is None:
        return [(*row, None, 0.0) for row in plain]
    parts = [Amounts(*row) if any(row) else None for row in table.part.tolist()]
    return [(*row, part, unit) for row, part, unit in zip(plain, parts, table.unit.tolist(), strict=True)]


def ticks(table: TickRows | None) -> list[tuple[float, frozenset[int]]]:
    """Times, with the nodes between two offsets each."""
    if table is None:
        return []
    times, first, node = (np.asarray(column).tolist() for column in (table.time, table.first, table.node))
    return [(t, frozenset(node[first[i] : first[i + 1]])) for i, t in enumerate(times)]


def rows(table: object, *names: str) -> list[tuple[Any, ...]]:
    """The rows of a table; None is no row."""
    if table is None:
        return []
    return list(zip(*(np.asarray(getattr(table, name)).tolist() for name in names), strict=True))
