"""Reads the failure traces that `FailureTrace.write_csv` writes: see `read_failures`."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from faultsim.checks import parsed
from faultsim.data.columns import FAILURES, by_name
from faultsim.data.failures import FailureTrace
from faultsim.data.numbering import Numbering, numbering_of_text
from faultsim.data.slowdowns import SlowOutage, slow_outage
from faultsim.errors import InputError
from faultsim.readers.input_lines import Lines, shown, stem

_NAMES = tuple(by_name(FAILURES))
_SUFFIXES = (".gz", ".xz", ".bz2", ".csv", ".txt")


def read_failures(path: str | os.PathLike[str]) -> FailureTrace:
    """Read a failure trace from a CSV file, faultsim's own or any with the columns time and node.

    Parameters
    ----------
    path : path
        Plain, gzip, xz or bzip2, detected by content; "-" is standard input.  Lines that begin with "#" are comments,
        of which ``# span: seconds``, ``# name: text``, ``# numbers: nodes of 128`` (`FailureTrace.of`) and those of
        slowdowns are read. The first other line names the columns: time and node, optionally downtime and coin; further
        columns are ignored.  Rows may come in any order.

    Returns
    -------
    FailureTrace
        Identical, bit for bit, to the one that `FailureTrace.write_csv` wrote.

    Raises
    ------
    InputError
        No such file; a column missing; a line that cannot be read, or a bad value (file, line and text are named).

    Examples
    --------
    >>> import faultsim as fs
    >>> trace = fs.FailureTrace([60, 90.5], [0, 2], [0, 30], span=3600)
    >>> trace.write_csv("trace.csv.gz")
    >>> fs.read_failures("trace.csv.gz") == trace
    True
    """
    lines = Lines(path)
    text = b"".join(lines)
    facts: dict[str, str] = {}
    header: list[str] = []
    slow: list[SlowOutage] = []
    of: Numbering | None = None
    rows: list[list[float]] = []
    where: list[int] = []
    places: list[int] = []
    for number, line in enumerate(text.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        stripped = line.strip()
        if stripped.startswith(b"#"):
            key, colon, value = stripped.lstrip(b"# ").decode("utf-8", "replace").partition(":")
            if colon and key.strip() in ("slowdown", "numbers"):
                try:
                    if key.strip() == "numbers":
                        of = numbering_of_text(value.strip())
                    else:
                        slow.append(slow_outage(value.strip()))
                except InputError as error:
                    raise InputError(f"{lines.name}, line {number}: {error}") from None
            elif colon:
                facts[key.strip()] = value.strip()
        elif stripped and not header:
            header = [name.strip() for name in stripped.decode("utf-8", "replace").split(",")]
            places = _places(header, lines.name, number, stripped)
        elif stripped:
            fields = stripped.split(b",")
            if len(fields) != len(header):
                raise _bad(lines.name, number, stripped, f"{len(fields)} fields, expected {len(header)}")
            try:
                rows.append([parsed(fields[place], float) for place in places])
            except ValueError:
                raise _bad(lines.name, number, stripped, "expected numbers") from None
            where.append(number)
    if not header:
        raise InputError(f"{lines.name}: empty; expected a line with the names of the columns, {','.join(_NAMES)}")
    table: dict[str, Any] = dict(
        zip([header[place] for place in places], np.array(rows).reshape(-1, len(places)).T, strict=True)
    )
    span = facts.get("span")
    try:
        until = None if span is None else parsed(span, float)
    except ValueError:
        raise InputError(f"{lines.name}: span: {span!r:.60} is not a number") from None
    try:
        trace = FailureTrace(**table, span=until, of=of, name=facts.get("name") or stem(path, _SUFFIXES))
        return trace._made(trace.columns, slow=slow) if slow else trace
    except ValueError as error:
        raise InputError(f"{lines.name}{_line_of(str(error), where)}: {error}") from error


def _places(header: list[str], name: str, number: int, text: bytes) -> list[int]:
    from difflib import get_close_matches

    for wanted in _NAMES:
        if wanted in header:
            continue
        if near := get_close_matches(wanted, header, n=1, cutoff=0.85):
            raise _bad(name, number, text, f"column {near[0]!r} is not known; did you mean {wanted!r}?")
        if wanted in ("time", "node"):
            raise _bad(name, number, text, f"no column {wanted!r}; expected {','.join(_NAMES)}")
    return [header.index(wanted) for wanted in _NAMES if wanted in header]


def _line_of(message: str, where: list[int]) -> str:
    """``, line N`` for a message that names a row."""
    _, found, rest = message.partition(", row ")
    row = rest.partition(":")[0]
    return f", line {where[int(row)]}" if found and row.isdecimal() and int(row) < len(where) else ""


def _bad(name: str, line: int, text: bytes, what: str) -> InputError:
    return InputError(f"{name}, line {line}: {what}: {shown(text)}")
