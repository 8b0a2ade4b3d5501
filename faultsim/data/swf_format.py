"""The Standard Workload Format as text: its 18 fields, its header, and how a row is written.

Format: [chapin1999], as revised in version 2.2 by the Parallel Workloads Archive ([feitelson2014]).
The reader is in `faultsim.readers.swf`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from faultsim.arrays import Values
from faultsim.data.complete_files import with_end
from faultsim.data.text_files import shortest, write_text
from faultsim.errors import InputError

#: Names of the 18 fields, in order.
FIELDS = (
    "id",
    "submit",
    "wait",
    "runtime",
    "allocated",
    "cpu_time",
    "memory",
    "requested",
    "requested_time",
    "requested_memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding_job",
    "think_time",
)

#: Nodes of a machine are below it.
MOST_NODES = 2**31

#: Means "unknown" in every field.
MISSING = -1

# Header keys begin near the semicolon, in some logs without a space; continuation lines are indented deeper.
_KEY = re.compile(r"^;[ \t]{0,2}([A-Za-z][A-Za-z0-9]*)[ \t]*:[ \t]*(.*)$")
# "26,304" and "1.5e3" are whole numbers, too; of "338,5" and "128x16" the number before is meant.
_LEADING_NUMBER = re.compile(
    r"\s*([+-]?)([0-9]{1,3}(?:[,'_][0-9]{3})+(?![0-9])|[0-9]{1,18}(?![0-9]))((?:\.[0-9]{1,18})?(?:[eE]\+?[0-9]{1,2})?)"
)
_SPELLED = re.compile(r"^;[ \t]*(max(?:procs|nodes))[ \t]*[:=][ \t]*(.*)$", re.IGNORECASE)


def header_fields(comments: Sequence[str]) -> dict[str, str]:
    """Header keys and their values; a repeated key, or a continuation line, adds a line to the value.

    Examples
    --------
    >>> header_fields(["; Version: 2.2", ";MaxNodes: 338 (batch partition; 512 total)"])
    {'Version': '2.2', 'MaxNodes': '338 (batch partition; 512 total)'}
    """
    found: dict[str, list[str]] = {}
    last: list[str] = []
    for line in comments:
        match = _KEY.match(line)
        if match:
            last = found.setdefault(match.group(1), [])
            last.append(match.group(2).strip())
        elif found and (value := line.lstrip("; \t").rstrip()):
            last.append(value)
    return {key: "\n".join(values) for key, values in found.items()}


def leading_integer(text: str) -> int | None:
    """The whole part of the number with which a header value begins, perhaps with separators of thousands, or None.

    Examples
    --------
    >>> leading_integer("338 (batch partition; 512 total)"), leading_integer("26,304"), leading_integer("1.5e3")
    (338, 26304, 1500)
    >>> leading_integer("5544.5"), leading_integer("unknown") is None
    (5544, True)
    """
    match = _LEADING_NUMBER.match(text)
    if not match:
        return None
    sign, digits, rest = match.groups()
    whole = re.sub("[,'_]", "", digits)
    if not rest:
        return int(sign + whole)
    value = float(sign + whole + rest)
    return int(value) if abs(value) < MOST_NODES else None


def nodes_of_header(comments: Sequence[str]) -> int | None:
    """The size of the machine that header lines name: ``MaxProcs``, else ``MaxNodes``, in any spelling of the two.

    Examples
    --------
    >>> nodes_of_header(["; MaxNodes: 5,544", "; maxprocs = 93312"])
    93312
    """
    named = {key.lower(): value for key, value in header_fields(comments).items()}
    for line in comments:
        if (match := _SPELLED.match(line)) is not None:
            named.setdefault(match.group(1).lower(), match.group(2))
    for key in ("maxprocs", "maxnodes"):
        value = leading_integer(named.get(key, ""))
        if value is not None and value > 0:
            return value
    return None


def _comment_lines(comments: Sequence[str]) -> Iterator[str]:
    """Each with its semicolon: a line without one would be a job."""
    for comment in comments:
        for line in comment.splitlines():
            if line.strip():
                yield line if line.startswith(";") else f"; {line}"


def write_rows(path: str | os.PathLike[str], fields: Mapping[str, Values], comments: Sequence[str]) -> None:
    """Write an SWF file: header lines, then a row per job with `MISSING` in every field that is not given.

    The first line announces the last, which lets the reader check that the file is whole.

    Parameters
    ----------
    path : path
        ``.gz``, ``.xz`` and ``.bz2`` are compressed; "-" is standard output.
    fields : mapping of str to array
        Columns by their names in `FIELDS`, all of one length.
    comments : sequence of str
        Header lines; one of several lines, or without a ";", is written as lines that begin with ";".

    Raises
    ------
    InputError
        A field that is not part of the format, or whose values are not numbers.
    OSError
        The file cannot be written.

    Examples
    --------
    >>> import numpy as np
    >>> write_rows("-", {"id": np.array([1]), "submit": np.array([0.5])}, ["; Version: 2.2"])
    ; Complete: if the last line is End, with the count and CRC-32 of the lines before it
    ; Version: 2.2
    1 0.5 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1
    ; End: 3 lines, crc32 ba0d5dea
    """
    unknown = [name for name in fields if name not in FIELDS]
    if unknown:
        raise InputError(f"{unknown[0]}: not a field of an SWF file; the fields are {', '.join(FIELDS)}")
    for name, values in fields.items():
        if values.dtype.kind not in "iufb":
            raise InputError(f"{name}: an SWF file has numbers only, and this is {values[0]!s:.40} and the like")
    rows = len(next(iter(fields.values())))
    missing = [str(MISSING)] * rows
    columns = [shortest(fields[name]) if name in fields else missing for name in FIELDS]
    lines = [*_comment_lines(comments), *map(" ".join, zip(*columns, strict=True)), ""]
    write_text(path, with_end(";", "\n".join(lines)))
