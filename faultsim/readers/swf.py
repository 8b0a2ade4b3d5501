"""Reads job logs in the Standard Workload Format (SWF), quirks included: see `read_swf`."""

from __future__ import annotations

import codecs
import math
import os
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from faultsim import checks
from faultsim._core.number_lines import parse_block
from faultsim.arrays import Values
from faultsim.checks import parsed
from faultsim.data.complete_files import announces, complete
from faultsim.data.estimates import warn_of_estimates
from faultsim.data.swf_format import FIELDS
from faultsim.data.workload import Workload
from faultsim.entries import entry
from faultsim.errors import InputError, OptionError
from faultsim.readers.accounting import CANCELLED, Cancelled
from faultsim.readers.dropped_records import DroppedRecords
from faultsim.readers.input_lines import Lines, shown, stem
from faultsim.vocabulary import is_missing, is_unlimited

_WIDTH = len(FIELDS)
_WANTED = ("id", "submit", "runtime", "allocated", "requested", "requested_time", "user")
#: Fields that are kept only if a line has another value than these, and are missing otherwise.
_USUAL: dict[str, tuple[int, ...]] = {
    "wait": (-1,), "status": (-1, 0, 1, 5), "preceding_job": (-1, 0), "think_time": (-1, 0)
}  # fmt: skip
#: A line with one of them is a part of a job that was stopped and continued, whose sum is a line of its own.
_PARTS = (2, 3, 4)
#: Fields that can be read as further columns, of whole numbers but for the last four.
FURTHER = ("group", "executable", "queue", "partition", "status", "preceding_job",
           "cpu_time", "memory", "requested_memory", "think_time")  # fmt: skip
_SIZES = ("requested", "allocated")
_WHOLE = frozenset(("id", *_SIZES, "user", *FURTHER[:6]))
_DEPENDENCE = ("preceding_job", "think_time")
# Some logs write "no limit" as the largest 32-bit integer.
_NO_LIMIT = 2147483647
_SUFFIXES = (".gz", ".xz", ".bz2", ".swf", ".txt")

_Table = dict[str, Values]


@entry
def read_swf(
    path: str | os.PathLike[str],
    *,
    size: str = "requested",
    columns: Sequence[str] = (),
    name: str | None = None,
    strict: bool = False,
    cancelled: Cancelled = "drop",
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
    strict : bool
        Whether a line that cannot be read is an error. By default such lines are left out and counted, and the first
        three of each reason are logged (`logging`, "faultsim").
    cancelled : {"drop", "keep"}
        What becomes of jobs that were cancelled while they waited: status 5, with a wait and no run time.  "keep":
        they have the further column ``cancel``, the time at which they are withdrawn (model.md#withdrawal), and their
        requested time as run time; without a requested time they are left out.

    Returns
    -------
    Workload
        Sorted by submit time (equal times in the order of the file).  `Workload.dropped` counts the records omitted:

        - ``"part of a job"``: status 2, 3 or 4, one execution of a job that was stopped and continued; the job itself
          is a line of status 0 or 1;
        - ``"run time missing"``: -1, a job cancelled before it started (but see `cancelled`);
        - ``"size missing"``: neither size field is 1 or more;
        - ``"submit time missing"``: -1;
        - ``"run time negative"``, ``"submit time negative"``: below -1, or between -1 and 0;
        - ``"unreadable record"``: fewer than 18 fields, or a field that is no number.

        A run time of 0 is valid.  Requested times that are negative, or the sentinel 2147483647, are missing (-1).
        Waits (field 3), where the log has any, are `Workload.recorded_wait`.  If a job names a preceding one (field
        17), that and the think time are the further columns ``preceding_job`` and ``think_time``, which runs follow
        (model.md#conditions).

    Raises
    ------
    InputError
        No such file; not an SWF; no job; no line that can be read or, with `strict`, any that cannot (file, line
        number and text are named).

    Notes
    -----
    Text after the 18th field is ignored.  Fields may be separated by semicolons or commas instead of spaces, and may
    say ``nan`` or ``NULL`` where a value is missing.  Header lines are kept in `Workload.comments`, wherever they are.
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
            raise OptionError(f"columns: expected a list of {', '.join(FURTHER)}, got {checks.shown(columns)}")
    checks.choice("cancelled", cancelled, CANCELLED)
    lines = Lines(path, ends=True)
    dropped = DroppedRecords(lines.name, strict=checks.flag("strict", strict))
    read = _Log(lines.name, dropped, columns, size, keeps=cancelled == "keep")
    for block in complete(lines.name, lines):
        read.add(block)
    table = read.table()
    if not len(table["submit"]):
        reasons = ", ".join(f"{reason}: {count}" for reason, count in dropped.counts.items())
        raise InputError(f"{lines.name}: no jobs are left ({reasons})")
    further = [*columns]
    withdrawn = table.pop("cancel", None)
    if "preceding_job" in table and (table["preceding_job"] > 0).any():
        further += _DEPENDENCE
    missing = np.full(len(table["submit"]), -1)
    try:
        log = Workload(
            **{key: values for key, values in table.items() if key not in FURTHER},
            columns={
                key: table.get(key, missing).astype(np.int64 if key in _WHOLE else np.float64)
                for key in FURTHER
                if key in further
            }
            | ({} if withdrawn is None or (withdrawn < 0).all() else {"cancel": withdrawn.astype(np.float64)}),
            dropped=dropped.counts,
            name=stem(path, _SUFFIXES) if name is None else name,
            comments=read.comments,
        )
    except InputError as error:
        raise InputError(f"{lines.name}: {error}") from error
    warn_of_estimates(lines.name, log.runtime, log.estimate)
    return log


class _Log:
    """The jobs of the blocks of a log so far, as columns."""

    def __init__(self, name: str, dropped: DroppedRecords, columns: Sequence[str], size: str, keeps: bool) -> None:
        self.comments: list[str] = []
        self.name, self.dropped = name, dropped
        self._size = size
        self._tables: list[_Table] = []
        self._lines = 0
        self._records = 0
        # Fields that may be missing in all lines are read from the first block on in which they are not.
        self._wanted = tuple(dict.fromkeys((*_WANTED, *columns, *(("wait", "status") if keeps else ()))))
        self._keeps = keeps
        self._usual = {key: values for key, values in _USUAL.items() if key not in self._wanted}

    def comment(self, line: bytes) -> None:
        """Keep a comment, unless it announces the last line, as each file that is written has one of its own."""
        if not announces(line):
            self.comments.append(line.decode("utf-8", "replace"))

    def add(self, block: bytes) -> None:
        """Read one block of whole lines."""
        if self._lines == 0:
            block = block.removeprefix(codecs.BOM_UTF8)
            _refuse_other_formats(block, self.name)
        if b"\r" in block and b"\n" not in block:
            block = block.replace(b"\r", b"\n")  # else the whole file would be one line, with one job
        table = self.parse(block) if b";" not in block else None
        if table is not None:
            self._lines += len(table["id"])  # nothing but job lines
        else:
            table = _read_block(self, block)
            self._lines += block.count(b"\n")
        if table is not None:
            self._records += len(table["id"])
            # Block by block, for what a block takes stays in the caches of the processor.
            self._tables.append(_jobs_of(table, self._size, self.dropped, self._keeps))

    def table(self) -> _Table:
        """All jobs, sorted by submit time, with -1 where a block does not have a field that others have."""
        unreadable = self.dropped.count_unreadable
        self.dropped.finish(self._records + unreadable, expected=f"lines of {_WIDTH} numbers and ';' comments")
        if not self._records:
            raise InputError(f"{self.name}: an empty log; expected at least one job line of {_WIDTH} numbers")
        found = {key: None for part in self._tables for key in part}
        table = {
            key: np.concatenate([part[key] if key in part else np.full(len(part["id"]), -1) for part in self._tables])
            for key in found
        }
        submit = table["submit"]
        if (submit[1:] < submit[:-1]).any():
            order = np.argsort(submit, kind="stable")
            table = {key: values.take(order) for key, values in table.items()}
        return table

    def parse(self, block: bytes) -> _Table | None:
        """The fast path: every line a job line as it should be, or None."""
        table = _columns(block, self._wanted, self._usual)
        if table is not None or not self._usual:
            return table
        table = _columns(block, (*self._wanted, *self._usual), {})
        if table is None:
            return None
        odd = [key for key, values in self._usual.items() if not np.isin(table[key], values).all()]
        self._want(odd or list(self._usual))  # if all are usual, they are written as nobody expects, such as -1.0
        return {key: table[key] for key in self._wanted}

    def _want(self, keys: Sequence[str]) -> None:
        self._wanted = (*self._wanted, *keys)
        self._usual = {key: values for key, values in self._usual.items() if key not in keys}

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields to read of lines that are read one by one."""
        return (*self._wanted, *self._usual)

    @property
    def is_empty(self) -> bool:
        """Whether no job line was found so far."""
        return not self._records

    def at_line(self, line: int) -> int:
        """The number of a line of the block that is being read."""
        return self._lines + 1 + line

    def found(self, wanted: Sequence[str], rows: list[list[float]]) -> _Table | None:
        """A table of the rows of a block."""
        self._want(list(self._usual))
        return dict(zip(wanted, np.array(rows, dtype=np.float64).T, strict=True)) if rows else None


def _read_block(log: _Log, block: bytes) -> _Table | None:
    """The job lines of a block with other lines, or with text after their fields; comments are kept."""
    rows = []
    for line in block.split(b"\n"):
        text = line.strip()
        if text[:1] == b";":
            log.comment(text)
        elif text:
            rows.append(line)
    if not rows:
        return None
    table = log.parse(b"\n".join(rows))
    if table is None:
        table = log.parse(b"\n".join(b" ".join(row.split(None, _WIDTH)[:_WIDTH]) for row in rows))
    return _read_lines(log, block) if table is None else table


def _read_lines(log: _Log, block: bytes) -> _Table | None:
    """The job lines of a block, line by line: slower, but what is merely unusual is read, and the rest counted."""
    wanted = log.fields
    rows: list[list[float]] = []
    for number, line in enumerate(block.split(b"\n"), log.at_line(0)):
        text = line.strip()
        if not text or text[:1] == b";":
            continue
        fields = _fields(text)
        if log.is_empty and not rows and _number("id", fields[0]) is None:
            what = f"line {number} is {shown(text)}, expected {_WIDTH} numbers"
            has_names = text[:1].isalpha() and any(text.count(sign) > 1 for sign in (b",", b"|", b"\t", b";"))
            mend = "; fs.read judges what a file is, and reads tables" if has_names else ""
            raise InputError(f"{log.name}: not an SWF log; {what}{mend}")
        if len(fields) < _WIDTH:
            log.dropped.unreadable("record", f"line {number}", f"{len(fields)} fields, expected {_WIDTH}", text)
            continue
        row = []
        for key in wanted:
            field = fields[FIELDS.index(key)]
            value = _number(key, field)
            problem = ""
            if value is None:
                problem = f"{shown(field)} is not a number"
            elif key in _WHOLE and not value.is_integer():
                problem = f"{key} {value!r} is not a whole number"
            elif key in _WHOLE and not _fits(value):
                problem = f"{key} {value!r} does not fit into int64"
            if value is None or problem:
                log.dropped.unreadable(key, f"line {number}", problem, text)
                break
            row.append(value)
        else:
            rows.append(row)
    return log.found(wanted, rows)


def _refuse_other_formats(block: bytes, name: str) -> None:
    looks = ""
    if b"\0" in block:
        looks = "binary"
    elif block.lstrip()[:1] == b"<":
        looks = "HTML or XML"
    elif block.lstrip()[:1] in (b"{", b"["):
        looks = "JSON"
    elif block.lstrip().startswith((b"pegasus:", b"x-pegasus:", b"---\n", b"%YAML")):
        looks = "YAML, such as a workflow of Pegasus 5 (its DAX and WfFormat are read)"
    if looks:
        raise InputError(f"{name}: not an SWF log but {looks}; expected lines of {_WIDTH} numbers and ';' comments")


def _columns(block: bytes, wanted: tuple[str, ...], usual: Mapping[str, tuple[int, ...]]) -> _Table | None:
    """Fields of lines that are all as they should be, or None."""
    at = FIELDS.index
    columns = parse_block(block, tuple(map(at, wanted)), _WIDTH, {at(key): values for key, values in usual.items()})
    if columns is None:
        return None
    table = dict(zip(wanted, columns, strict=True))
    numbers = [table[key] for key in wanted if key in _WHOLE and table[key].dtype.kind == "f"]
    whole = all((column == np.floor(column)).all() for column in numbers)
    fit = all(map(_fits, numbers))
    return table if whole and fit else None


def _fits(values: object) -> bool:
    """Whether whole numbers fit into int64; 2**63 is the first that does not."""
    return bool((np.abs(np.asarray(values, dtype=np.float64)) < 2.0**63).all())


def _fields(text: bytes) -> list[bytes]:
    """The fields of a job line, without what follows them."""
    fields = text.partition(b";")[0].split(None, _WIDTH)
    if len(fields) < _WIDTH:
        for separator in (b";", b","):
            if text.count(separator) >= _WIDTH - 1:
                return [field.strip() for field in text.split(separator)][:_WIDTH]
    return fields[:_WIDTH]


def _number(key: str, field: bytes) -> float | None:
    """The value of a field, -1 where it says that it is missing, None if it is no number."""
    try:
        value = parsed(field, float)
    except ValueError:
        word = field.decode("utf-8", "replace")
        return -1.0 if is_missing(word) or (key == "requested_time" and is_unlimited(word)) else None
    if math.isfinite(value):
        return value
    return -1.0 if math.isnan(value) or (key == "requested_time" and value > 0) else None


def _jobs_of(table: _Table, size: str, dropped: DroppedRecords, keeps: bool) -> _Table:
    """The jobs of a block: with the size chosen, without what cannot be simulated, which is counted."""
    chosen, other = table[size], table[_SIZES[1 - _SIZES.index(size)]]
    sizes = np.where(chosen >= 1, chosen, other)
    runtime, submit, estimate = table["runtime"], table["submit"], table["requested_time"]
    columns = {
        "id": table["id"],
        "submit": submit,
        "runtime": runtime,
        "estimate": np.where((estimate < 0) | (estimate >= _NO_LIMIT), -1, estimate),
        "size": sizes,
        "user": np.maximum(table["user"], -1),
        **{key: table[key] for key in FURTHER if key in table},
    }
    if "wait" in table:
        columns["recorded_wait"] = np.maximum(table["wait"], -1)
    if keeps:
        estimate, wait = columns["estimate"], table["wait"]
        left = (table["status"] == 5) & (runtime < 0) & (wait >= 0) & (estimate >= 0)
        columns["runtime"] = runtime = np.where(left, estimate, runtime)
        columns["cancel"] = np.where(left, submit + wait, -1.0)
        columns["recorded_wait"] = np.where(left, -1.0, columns["recorded_wait"])
    reasons = {
        "part of a job": np.isin(table["status"], _PARTS) if "status" in table else None,
        **_below_zero(runtime, "run time"),
        "size missing": sizes < 1,
        **_below_zero(submit, "submit time"),
    }
    keep = np.ones(len(submit), dtype=bool)
    for reason, out in reasons.items():
        if out is not None and (count := int(np.count_nonzero(out & keep))):
            dropped.left_out(reason, count)
            keep &= ~out
    if keep.all():
        return columns
    rows = np.flatnonzero(keep)
    return {key: values.take(rows) for key, values in columns.items()}


def _below_zero(times: Values, what: str) -> dict[str, NDArray[np.bool_] | None]:
    """Times that are missing, which is -1, and other negative ones, each with its reason."""
    below, missing = times < 0, times == -1
    negative = below if np.count_nonzero(below) > np.count_nonzero(missing) else None
    return {f"{what} missing": missing, f"{what} negative": negative}
