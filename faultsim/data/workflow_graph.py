"""The graph of a workflow: checks and sorts its edges, orders its jobs topologically, names cycles."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks
from faultsim.arrays import Flags, Integers, LongIntegers, Values
from faultsim.data.columns import WORKFLOW_EDGES, as_column, by_name, in_seconds, read_only
from faultsim.errors import InputError

Edges: TypeAlias = ArrayLike | Sequence[tuple[int, int] | tuple[int, int, checks.Duration]]
_COLUMNS = by_name(WORKFLOW_EDGES)
_SHOWN = 12  # jobs of a long cycle that a message names


def edge_columns(edges: Edges, jobs: int, labels: Sequence[str] | None, unit: str = "s") -> dict[str, Values]:
    """Edges as columns sorted by (from, to), every row checked.

    Parameters
    ----------
    edges : array_like, shape (m, 2) or (m, 3)
        Rows (from, to) or (from, to, transfer).
    jobs : int
        Number of jobs.
    labels : sequence of str or None
        What messages call the jobs.
    unit : {"s", "bytes"}
        Of transfers; in seconds they may be durations of any kind.

    Raises
    ------
    InputError
        A wrong shape; an unknown job; a transfer that is negative or not finite; an edge given twice; an edge from a
        job to itself.

    Examples
    --------
    >>> edge_columns([(1, 2, 4.0), (0, 1, 3.0)], 3, None)["transfer"]
    array([3., 4.])
    >>> edge_columns([(0, 3, 1.0)], 3, None)
    Traceback (most recent call last):
    ...
    faultsim.errors.InputError: edges, row 0: job 3 is unknown; the jobs are 0 to 2
    """
    table = _table(edges, unit)
    transfer = table[:, 2] if table.shape[1] == 3 else np.zeros(len(table))
    given = {"edge_from": table[:, 0], "edge_to": table[:, 1], "transfer": transfer}
    columns = {name: _named_edges(values, name) for name, values in given.items()}
    source, target = columns["edge_from"], columns["edge_to"]
    for ends in (source, target):
        _refuse(ends >= jobs, lambda row, ends=ends: f"job {ends[row]} is unknown; the jobs are 0 to {jobs - 1}")
    _refuse(
        source == target, lambda row: f"job {_name(int(source[row]), labels)} depends on itself (a cycle of one job)"
    )
    order = np.lexsort((target, source))
    columns = {name: read_only(values[order]) for name, values in columns.items()}
    source, target = columns["edge_from"], columns["edge_to"]
    again = (source[1:] == source[:-1]) & (target[1:] == target[:-1])
    if again.any():
        place = int(np.argmax(again))
        pair = f"{_name(int(source[place]), labels)} -> {_name(int(target[place]), labels)}"
        first, second = sorted((int(order[place]), int(order[place + 1])))
        raise InputError(f"edges, row {second}: {pair} already appears in row {first}; give each edge once")
    return columns


def _table(edges: Edges, unit: str) -> Values:
    try:
        table: Values = np.asarray(edges)
        if table.dtype.kind not in "iufb" and table.ndim == 2:  # among text, or durations, NumPy spoils the numbers
            table = np.array(edges, dtype=object)
            if unit == "s" and table.shape[1] == 3:
                table[:, 2] = in_seconds([*table[:, 2]], table[:, 2])
    except ValueError:
        raise InputError("edges: expected rows (from, to, transfer) of one length, got a ragged list") from None
    if table.size == 0:
        return np.empty((0, 3))
    if table.ndim != 2 or table.shape[1] not in (2, 3):
        raise InputError(f"edges: expected rows (from, to) or (from, to, transfer), got shape {table.shape}")
    if table.dtype.kind not in "iufb":
        try:
            if any(hasattr(each, "dtype") and each.dtype.kind == "m" for each in table.ravel()):
                raise TypeError("NumPy would take 1 h for 1")
            table = table.astype("f8")
        except (TypeError, ValueError):
            raise InputError("edges: expected numbers; jobs are numbered from 0 in the order of cost") from None
    return table


def _named_edges(values: Values, name: str) -> Values:
    """A checked column; messages refer to the caller's rows of `edges`."""
    try:
        return as_column(values, _COLUMNS[name])
    except InputError as error:
        text = str(error)
        field, _, rest = text.partition(", row ")
        raise InputError(f"edges, row {rest} ({field})" if rest else f"edges: {text}") from None


def _refuse(bad: Flags, why: Callable[..., str]) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"edges, row {row}: {why(row)}")


def _name(job: int, labels: Sequence[str] | None) -> str:
    return str(job) if labels is None else repr(labels[job])


def row_starts(keys: Integers, rows: int) -> LongIntegers:
    """Where the entries of each row begin in a sorted list of keys: one more number than rows.

    Examples
    --------
    >>> row_starts(np.array([0, 0, 2], dtype=np.int32), 3)
    array([0, 2, 2, 3])
    """
    return read_only(np.searchsorted(keys, np.arange(rows + 1)).astype(np.int64))


def topological(
    start: LongIntegers, successor: Integers, indegree: LongIntegers, labels: Sequence[str] | None
) -> Integers:
    """The jobs in topological order; among those that may come next, the lowest number comes first.

    Parameters
    ----------
    start, successor : numpy.ndarray
        Edges in compressed rows.
    indegree : numpy.ndarray of int64
        Number of edges into each job.
    labels : sequence of str or None
        What messages call the jobs.

    Raises
    ------
    InputError
        A cycle; its jobs are named in order.

    Examples
    --------
    >>> topological(np.array([0, 0, 1, 2]), np.array([0, 1]), np.array([1, 1, 0]), None)
    array([2, 1, 0], dtype=int32)
    """
    left = indegree.tolist()
    starts, targets = start.tolist(), successor.tolist()
    ready = [job for job, count in enumerate(left) if count == 0]  # ascending, so a heap already
    order: list[int] = []
    while ready:
        job = heapq.heappop(ready)
        order.append(job)
        for target in targets[starts[job] : starts[job + 1]]:
            left[target] -= 1
            if left[target] == 0:
                heapq.heappush(ready, target)
    if len(order) < len(left):
        no_entry = "" if order else "no job can start, since each waits for another; "
        raise InputError(f"{no_entry}{_cycle(starts, targets, left, labels)}")
    return read_only(np.array(order, dtype=np.int32))


def _cycle(starts: list[int], targets: list[int], left: list[int], labels: Sequence[str] | None) -> str:
    """Name a cycle among the jobs that were never released: each of them has a predecessor among them."""
    before: dict[int, int] = {}
    for job, count in enumerate(left):
        if count:
            for target in targets[starts[job] : starts[job + 1]]:
                before.setdefault(target, job)
    at = min(job for job, count in enumerate(left) if count)
    path: dict[int, None] = {}
    while at not in path:
        path[at] = None
        at = before[at]
    jobs = list(path)
    cycle = jobs[jobs.index(at) :][::-1]
    lowest = cycle.index(min(cycle))
    cycle = cycle[lowest:] + cycle[:lowest]
    named = [_name(job, labels) for job in cycle]
    shown = named if len(named) <= _SHOWN else [*named[: _SHOWN - 1], "..."]
    size = "" if len(named) <= _SHOWN else f" ({len(named)} jobs)"
    return f"cycle: {' -> '.join([*shown, named[0]])}{size}"
