"""Reads task graphs of the Standard Task Graph Set (STG): see `read_stg`."""

from __future__ import annotations

import os
from typing import NamedTuple

from faultsim import checks
from faultsim.data.workflow import Workflow
from faultsim.entries import entry
from faultsim.errors import InputError
from faultsim.readers.input_lines import Lines, shown, stem

_SUFFIXES = (".gz", ".xz", ".bz2", ".stg", ".txt")
_MOST_DIGITS = 10  # of a number of tasks: jobs have numbers of 32 bits, and Python reads no more than 4,300 digits


class _Row(NamedTuple):
    """A line: the time of a task and what it waits for."""

    line: int
    text: bytes
    time: float
    before: list[int]


@entry
def read_stg(
    path: str | os.PathLike[str], *, name: str | None = None, dummies: bool = False, strict: bool = False
) -> Workflow:
    """Read a task graph of the Standard Task Graph Set.

    Parameters
    ----------
    path : path
        Plain, gzip, xz or bzip2, detected by content; "-" is standard input.
    name : str, optional
        Name of the workflow; that of the file, without its suffixes, by default.
    dummies : bool
        Whether to keep the two tasks of time 0 that the format puts before and after all others.  By default they are
        omitted: as jobs they would gather all data on the one node where the first of them ran.
    strict : bool
        Whether a negative time is an error; by default it counts as 0, and `Workflow.dropped` counts those.

    Returns
    -------
    Workflow
        Labelled by the numbers of the file.  Costs are the times as written, whose unit is free (see
        `Workflow.with_cost_factor`); the format knows no transfers, so all are 0.

    Raises
    ------
    InputError
        No such file; another format; a line that cannot be read, a task out of order, a predecessor that is unknown or
        given twice (file, line and text are named); tasks missing; a cycle.

    Notes
    -----
    Source: [tobita2002].  A line is: number of the task, time, number of predecessors,
    predecessors; the first line is the number of tasks without the two dummies.

    Examples
    --------
    >>> import faultsim as fs
    >>> with open("two.stg", "w") as file:
    ...     _ = file.write("2\\n0 0 0\\n1 3 1 0\\n2 4 1 1\\n3 0 1 2\\n# CP Length : 7\\n")
    >>> wf = fs.read_stg("two.stg")
    >>> wf, wf.critical_path()
    (<Workflow 'two': 2 jobs, 1 edge>, 7.0)
    """
    keep = checks.flag("dummies", dummies)
    lines = Lines(path)
    rows, negative = _rows(lines, strict=checks.flag("strict", strict))
    n = len(rows)
    for row in rows:
        for other in row.before:
            if other >= n:
                raise _bad(lines.name, row.line, f"task {other} is unknown; the tasks are 0 to {n - 1}", row.text)
        if len(set(row.before)) < len(row.before):
            raise _bad(lines.name, row.line, "a predecessor appears twice", row.text)
    tasks = range(n) if keep else range(1, n - 1)
    first = tasks[0]
    edges = [(other - first, task - first) for task in tasks for other in rows[task].before if other in tasks]
    title = stem(path, _SUFFIXES) if name is None else str(name)
    costs = [max(rows[task].time, 0.0) for task in tasks]
    dropped = {"negative run time taken as 0": negative} if negative else {}
    try:
        return Workflow(costs, edges, title, labels=[str(task) for task in tasks], dropped=dropped)
    except InputError as error:
        raise InputError(f"{lines.name}: {error}") from None


def _rows(lines: Lines, *, strict: bool) -> tuple[list[_Row], int]:
    """Every line of the graph, the dummies included; and how many have a negative time."""
    name = lines.name
    count: int | None = None
    rows: list[_Row] = []
    for number, text in enumerate(b"".join(lines).splitlines(), start=1):
        words = text.partition(b"#")[0].split()
        if not words:
            continue
        if count is None:
            if len(words) != 1 or not words[0].isdigit() or len(words[0]) > _MOST_DIGITS or int(words[0]) < 1:
                raise _bad(name, number, "not a Standard Task Graph; expected the number of tasks alone", text)
            count = int(words[0])
            continue
        rows.append(_row(name, number, text, words, len(rows), strict=strict))
    if count is None:
        raise InputError(f"{name}: no number of tasks; expected a Standard Task Graph")
    if len(rows) != count + 2:
        raise InputError(f"{name}: {len(rows)} tasks; the first line promises {count} and 2 dummies")
    for dummy in (rows[0], rows[-1]):
        if dummy.time != 0:
            raise _bad(name, dummy.line, f"the dummy task {rows.index(dummy)} must take no time", dummy.text)
    return rows, sum(row.time < 0 for row in rows)


def _row(name: str, number: int, text: bytes, words: list[bytes], task: int, *, strict: bool) -> _Row:
    try:
        time = checks.parsed(words[1], float)
        whole = [checks.parsed(word, int) for word in (words[0], *words[2:])]
    except (IndexError, ValueError):
        raise _bad(name, number, "expected task, time, number of predecessors, predecessors", text) from None
    if not abs(time) < float("inf") or (strict and time < 0):
        raise _bad(name, number, f"time {words[1].decode()[:40]}; expected a finite number of 0 or more", text)
    if whole[0] != task:
        raise _bad(name, number, f"task {whole[0]}; expected task {task} here", text)
    if len(whole) < 2 or whole[1] != len(whole) - 2:
        given = len(whole) - 2
        promised = whole[1] if len(whole) > 1 else "no number of"
        raise _bad(name, number, f"{given if given > 0 else 0} predecessors, {promised} promised", text)
    before = whole[2:]
    if any(other < 0 for other in before):
        raise _bad(name, number, f"predecessor {min(before)} is negative", text)
    return _Row(number, text, time, before)


def _bad(name: str, line: int, what: str, text: bytes) -> InputError:
    return InputError(f"{name}, line {line}: {what}: {shown(text)}")
