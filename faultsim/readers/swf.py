"""Reads job logs in the Standard Workload Format (SWF), quirks included: see `read_swf`."""

from __future__ import annotations

import codecs
import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faultsim._core.number_lines import parse_block
from faultsim.checks import parsed
from faultsim.data.estimates import warn_of_estimates
from faultsim.data.swf_format import FIELDS
from faultsim.data.workload import Workload
from faultsim.errors import InputError, OptionError
from faultsim.readers.input_lines import Lines, shown, stem

_WIDTH = len(FIELDS)
_WANTED = ("id", "submit", "runtime", "allocated", "requested", "requested_time", "user")
#: Fields that can be read as further columns, of whole numbers but for the last four.
FURTHER = ("group", "executable", "queue", "partition", "status", "preceding_job",
           "cpu_time", "memory", "requested_memory", "think_time")  # fmt: skip
_SIZES = ("requested", "allocated")
_WHOLE = ("id", *_SIZES, "user", *FURTHER[:6])
# Some logs write "no limit" as the largest 32-bit integer.
_NO_LIMIT = 2147483647
_SUFFIXES = (".gz", ".xz", ".bz2", ".swf", ".txt")

_Table = dict[str, NDArray[Any]]


def read_swf(
    path: str | os.PathLike[str], *, size: str = "requested", columns: Sequence[str] = (), name: str | None = None
) -> Workload:
    """Read a job log in the Standard Workload Format.

    Parameters
    ----------
    path : path
        Plain, gzip, xz or bzip2, detected by content; "-" is standard input.
    size : {"requested", "allocated"}
        Which field is the size of a job: the processors requested (field 8) or allocated (field 5). If the chosen one
        is missing, the other is used.
    columns : sequence of str
        Fields to keep as further columns (`Workload.further`): ``group``, ``executable``, ``queue``, ``partition``,
        ``status``, ``preceding_job`` (int64, -1 where missing), ``cpu_time``, ``memory``, ``requested_memory``,
        ``think_time`` (float64).
    name : str, optional
        Name of the workload; that of the file, without its suffixes, by default.

    Returns
    -------
    Workload
        Sorted by submit time (equal times in the order of the file).  `Workload.dropped` counts the records omitted:

        - ``"run time missing"``: negative run time, a job cancelled before it started;
        - ``"size missing"``: neither size field is 1 or more;
        - ``"submit time missing"``: negative submit time.

        A run time of 0 is valid.  Requested times that are negative, or the sentinel 2147483647, are missing (-1).

    Raises
    ------
    InputError
        No such file; not an SWF; a line with fewer than 18 fields or with letters (file, line number and text are
        named); no job.

    Notes
    -----
    Fields after the 18th are ignored.  Header lines are kept in `Workload.comments`, wherever they are in the file.
    Real logs have text after header numbers (``MaxNodes: 338 (batch partition; 512 total)``), no space after the
    semicolon, unsorted lines, decimals, carriage returns (even alone) and a byte order mark; all are understood.

    Source: the Standard Workload Format, version 2.2, of the Parallel Workloads Archive ([feitelson2014]).

    Examples
    --------
    >>> import os, tempfile
    >>> import faultsim as fs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "tiny.swf")
    ...     fs.Workload(submit=[0, 60], runtime=[100, 30], size=[4, 1]).write_swf(path)
    ...     log = fs.read_swf(path)
    >>> log
    <Workload 'tiny': 2 jobs, sizes 1-4, submit 0-60 s>
    """
    if size not in _SIZES:
        raise OptionError(f"size: expected one of {', '.join(map(repr, _SIZES))}, got {size!r}")
    for key in columns if isinstance(columns, list | tuple) else [None]:
        if key not in FURTHER:
            raise OptionError(f"columns: expected a list of {', '.join(FURTHER)}, got {columns!r:.60}")
    wanted = (*_WANTED, *dict.fromkeys(columns))
    lines = Lines(path)
    comments: list[str] = []
    tables: list[_Table] = []
    line_number = 0
    for block in lines:
        if line_number == 0:
            block = block.removeprefix(codecs.BOM_UTF8)
            _refuse_other_formats(block, lines.name)
        if b"\r" in block and b"\n" not in block:
            block = block.replace(b"\r", b"\n")  # else the whole file would be one line, with one job
        table = _parse(block, wanted) if b";" not in block else None
        if table is not None:
            line_number += len(table["id"])  # nothing but job lines
        else:
            table = _read_block(block, comments, lines.name, line_number, bool(tables), wanted)
            line_number += block.count(b"\n")
        if table is not None:
            tables.append(table)
    if not tables:
        raise InputError(f"{lines.name}: an empty log; expected at least one job line of {_WIDTH} numbers")
    table = {key: np.concatenate([part[key] for part in tables]) for key in wanted}
    cleaned, dropped = _clean(table, size)
    if not len(cleaned["submit"]):
        reasons = ", ".join(f"{reason}: {count}" for reason, count in dropped.items())
        raise InputError(f"{lines.name}: no jobs are left ({reasons})")
    try:
        log = Workload(
            **{key: cleaned.pop(key) for key in tuple(cleaned) if key not in FURTHER},
            columns={key: cleaned[key].astype(np.int64 if key in _WHOLE else np.float64) for key in cleaned},
            dropped=dropped,
            name=stem(path, _SUFFIXES) if name is None else name,
            comments=comments,
        )
    except InputError as error:
        raise InputError(f"{lines.name}: {error}") from error
    warn_of_estimates(lines.name, log.runtime, log.estimate)
    return log


def _refuse_other_formats(block: bytes, name: str) -> None:
    looks = ""
    if b"\0" in block:
        looks = "binary"
    elif block.lstrip()[:1] == b"<":
        looks = "HTML or XML"
    elif block.lstrip()[:1] in (b"{", b"["):
        looks = "JSON"
    if looks:
        raise InputError(f"{name}: not an SWF log but {looks}; expected lines of {_WIDTH} numbers and ';' comments")


def _parse(block: bytes, wanted: tuple[str, ...]) -> _Table | None:
    """The fast path: every line a job line as it should be, or None."""
    columns = parse_block(block, tuple(map(FIELDS.index, wanted)), _WIDTH)
    if columns is None:
        return None
    table = dict(zip(wanted, columns, strict=True))
    numbers = [table[key] for key in wanted if key in _WHOLE and table[key].dtype.kind == "f"]
    whole = all((column == np.floor(column)).all() for column in numbers)
    return table if whole else None


def _read_block(
    block: bytes, comments: list[str], name: str, first_line: int, begun: bool, wanted: tuple[str, ...]
) -> _Table | None:
    """The job lines of a block with other lines or errors in it; comments go to `comments`."""
    rows = []
    for line in block.split(b"\n"):
        text = line.strip()
        if text[:1] == b";":
            comments.append(text.decode("utf-8", "replace"))
        elif text:
            rows.append(line)
    if not rows:
        return None
    table = _parse(b"\n".join(rows), wanted)
    return _read_lines(block, name, first_line, begun, wanted) if table is None else table


def _read_lines(block: bytes, name: str, first_line: int, begun: bool, wanted: tuple[str, ...]) -> _Table | None:
    """The same, line by line: slower, but it accepts what is merely unusual and reports errors."""
    rows: list[list[float]] = []
    for number, line in enumerate(block.split(b"\n"), first_line + 1):
        text = line.partition(b";")[0].strip()
        if not text:
            continue
        fields = text.split()
        if len(fields) < _WIDTH:
            if not begun and not rows and any(_number(field) is None for field in fields):
                raise InputError(f"{name}: not an SWF log; line {number} is {shown(text)}, expected {_WIDTH} numbers")
            raise _bad_line(name, number, text, f"{len(fields)} fields, expected {_WIDTH}")
        row = []
        for field in fields:
            value = _number(field)
            if value is None:
                raise _bad_line(name, number, text, f"{shown(field)} is not a number")
            row.append(value)
        for key in (key for key in wanted if key in _WHOLE):
            if not row[FIELDS.index(key)].is_integer():
                raise _bad_line(name, number, text, f"{key} {row[FIELDS.index(key)]!r} is not a whole number")
        rows.append([row[FIELDS.index(key)] for key in wanted])
    if not rows:
        return None
    return dict(zip(wanted, np.array(rows, dtype=np.float64).T, strict=True))


def _number(field: bytes) -> float | None:
    try:
        value = parsed(field, float)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _bad_line(name: str, number: int, text: bytes, what: str) -> InputError:
    return InputError(f"{name}, line {number}: {what}: {shown(text)}")


def _clean(table: _Table, size: str) -> tuple[_Table, dict[str, int]]:
    """Choose the size, omit what cannot be simulated, sort by submit time."""
    chosen, other = table[size], table[_SIZES[1 - _SIZES.index(size)]]
    sizes = np.where(chosen >= 1, chosen, other)
    runtime, submit, estimate = table["runtime"], table["submit"], table["requested_time"]
    reasons = {
        "run time missing": runtime < 0,
        "size missing": sizes < 1,
        "submit time missing": submit < 0,
    }
    keep = np.ones(len(submit), dtype=bool)
    dropped: dict[str, int] = {}
    for reason, out in reasons.items():
        if count := int((out & keep).sum()):
            dropped[reason] = count
            keep &= ~out
    columns = {
        "id": table["id"],
        "submit": submit,
        "runtime": runtime,
        "estimate": np.where((estimate < 0) | (estimate >= _NO_LIMIT), -1, estimate),
        "size": sizes,
        "user": np.maximum(table["user"], -1),
        **{key: table[key] for key in FURTHER if key in table},
    }
    if dropped:
        columns = {key: values[keep] for key, values in columns.items()}
    submit = columns["submit"]
    if (submit[1:] < submit[:-1]).any():
        order = np.argsort(submit, kind="stable")
        columns = {key: values[order] for key, values in columns.items()}
    return columns, dropped
