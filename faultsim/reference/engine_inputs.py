"""What befalls a run from outside: failures, predictions, requests for checkpoints.  All drawn before it begins."""

from typing import Any

import numpy as np


class World:
    """The arrays of one run as plain lists.

    Attributes
    ----------
    failures : list of (time, node, down time)
        By time, in trace order.
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
    ticks : list of (time, nodes)
        When `Fars` acts, and which nodes are suspicious from then until the next one.
    """

    def __init__(self, world: dict[str, Any] | None) -> None:
        given = world or {}
        self.failures: list[tuple[float, int, float]] = rows(given.get("failures"), "time", "node", "downtime")
        self.alarms: list[tuple[float, int]] = rows(given.get("alarms"), "time", "node")
        predictions = given.get("predictions")
        self.predictions: list[tuple[float, float, int]] = rows(predictions, "begin", "end", "node")
        self.p = float(predictions["p"]) if predictions else 0.0
        self.rows, self.columns = given.get("rows"), given.get("columns", {})
        self.live = bool(given.get("live", False))
        self.oracle_runtimes = bool(given.get("oracle_runtimes", False))
        self.ticks: list[tuple[float, frozenset[int]]] = ticks(given.get("ticks"))

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


def ticks(columns: dict[str, Any] | None) -> list[tuple[float, frozenset[int]]]:
    """Times, with the nodes between two offsets each."""
    if not columns:
        return []
    times, first, node = (np.asarray(columns[name]).tolist() for name in ("time", "first", "node"))
    return [(t, frozenset(node[first[i] : first[i + 1]])) for i, t in enumerate(times)]


def rows(columns: dict[str, Any] | None, *names: str) -> list[Any]:
    """The rows of some arrays; nothing given is no row."""
    if not columns:
        return []
    return list(zip(*(np.asarray(columns[name]).tolist() for name in names), strict=True))
