"""Reads the failures of GPUs on Titan (Oak Ridge) from the history of their stays: see `read_titan`."""

from __future__ import annotations

import math
import os
import re
from datetime import datetime
from typing import Literal

import numpy as np

from faultsim import checks
from faultsim.data.failures import FailureTrace
from faultsim.entries import entry
from faultsim.errors import InputError
from faultsim.readers.csv_rows import csv_rows
from faultsim.readers.input_lines import Lines, shown
from faultsim.readers.timestamps import Moment, on_clock

_TITLES = ("SN", "location", "insert", "remove", "duration", "out", "event")
_KINDS = {"all": ("DBE", "OTB"), "dbe": ("DBE",), "otb": ("OTB",)}
# Column and row of the cabinet, its cage, the slot of the blade, the node on it.
_PLACE = re.compile(r"c(\d{1,4})-(\d{1,4})c(\d)s(\d)n(\d)", re.ASCII)
_EXTENTS = (25, 8, 3, 8, 4)
_EPOCH = datetime(1970, 1, 1)


@entry
def read_titan(
    path: str | os.PathLike[str],
    level: Literal["router", "node"] = "router",
    kinds: Literal["all", "dbe", "otb"] = "all",
    *,
    downtime: checks.Duration = 0.0,
    begin: Moment | None = None,
    end: Moment | None = None,
) -> FailureTrace:
    """Read the GPU failures of Titan, 18,688 nodes on a 3-D torus, 2014 to 2019: the file ``gc_full.csv``.

    Parameters
    ----------
    path : path
        Plain, gzip, xz or bzip2, detected by content; "-" is standard input.  A CSV with the columns SN, location,
        insert, remove, duration, out, event: a row per stay of a GPU at a place, with the failure that ended it.
    level : {"router", "node"}
        What fails: a Gemini router, which two nodes share, a node of ``Torus(25, 16, 24)``; or one of its two nodes,
        ``2 * router`` and the one after it.
    kinds : {"all", "dbe", "otb"}
        Double-bit errors (DBE), GPUs off the bus (OTB), or both.
    downtime : float
        Seconds that a failed node is down.  The history has no repairs: the next GPU at the place was inserted when
        the inventory was next taken, a month later in the median.
    begin, end : str, datetime.date, datetime.datetime or float, optional
        Only failures from `begin` to before `end`, as dates (``"2014-06-01"``) or in seconds since 1970, on the local
        clock of the records. `begin` becomes time 0; by default midnight before the first failure.

    Returns
    -------
    FailureTrace
        A failure at the time ``remove`` of each stay that ended in one.  Its place cC-RcGsSnN (column 0-24 and row 0-7
        of the cabinet, cage 0-2, slot 0-7, node 0-3) is x = C, y = 2 R + N // 2, z = 8 G + S on the torus.  This map is
        an assumption: it takes the cables of the cabinets as unfolded.  `FailureTrace.dropped` counts stays that ended
        without a failure, failures of another kind, and failures of one place and moment that are there again.

    Raises
    ------
    InputError
        No such file; another format; a record that cannot be read (file, line and text are named); no failure left.

    Notes
    -----
    Source: [ostrouchov2020].

    Examples
    --------
    >>> import faultsim as fs
    >>> with open("titan.csv", "w") as file:
    ...     _ = file.write(
    ...         "SN,location,insert,remove,duration,out,event\\n"
    ...         "1,c1-0c0s0n2,2014-01-21 00:00:00,2014-02-01 10:00:00,986400,TRUE,DBE\\n"
    ...         "2,c1-0c0s0n0,2014-01-21 00:00:00,2019-08-01 20:07:33,1,FALSE,\\n"
    ...     )
    >>> trace = fs.read_titan("titan.csv")
    >>> trace
    <FailureTrace 'Titan (0 s = 2014-02-01 00:00)': 1 failure, nodes 408-408, span 36000 s, 1 dropped>
    >>> (1 * 16 + 1) * 24 + 0  # x = 1, y = 1, z = 0
    408
    """
    checks.choice("level", level, ("router", "node"))
    wanted = _KINDS[checks.choice("kinds", kinds, _KINDS)]
    down = checks.number("downtime", downtime, low=0.0, unit="seconds")
    lines = Lines(path, ends=True)
    rows = csv_rows(lines)
    _, header = next(rows)
    if tuple(header) != _TITLES:
        raise InputError(
            f"{lines.name}: not the history of Titan's GPUs; line 1 is {shown(','.join(header).encode())}, expected "
            f"{','.join(_TITLES)}"
        )
    times, nodes = [], []
    seen: set[tuple[str, str]] = set()
    dropped: dict[str, int] = {}

    def drop(reason: str) -> None:
        dropped[reason] = dropped.get(reason, 0) + 1

    for line, row in rows:
        if len(row) != len(_TITLES):
            raise _bad(lines.name, line, row, f"{len(row)} fields, expected {len(_TITLES)}")
        _, location, _, remove, _, _, event = row
        if event not in ("", *_KINDS["all"]):
            raise _bad(lines.name, line, row, f"{event!r:.40} is no known event; expected DBE, OTB or nothing")
        if event not in wanted:
            drop("of another kind" if event else "no failure")
            continue
        if (location, remove) in seen:
            drop("the same failure again")
            continue
        seen.add((location, remove))
        node = _node(location)
        if node is None:
            raise _bad(lines.name, line, row, f"{location!r:.40} is no place of Titan such as c24-7c2s7n3")
        try:
            times.append((datetime.fromisoformat(remove) - _EPOCH).total_seconds())
        except (ValueError, TypeError):
            raise _bad(lines.name, line, row, f"{remove!r:.40} is no yyyy-mm-dd hh:mm:ss") from None
        nodes.append(node // 2 if level == "router" else node)
    if not times:
        reasons = ", ".join(f"{reason}: {count}" for reason, count in dropped.items())
        raise InputError(f"{lines.name}: no failures are left ({reasons or 'the file has none'})")
    return on_clock(
        "Titan",
        {"time": np.array(times), "node": np.array(nodes), "downtime": np.full(len(times), down)},
        dropped,
        first=min(times),
        last=max(times) + down,
        begin=begin,
        end=end,
        of=math.prod(_EXTENTS) // (2 if level == "router" else 1),
    )


def _node(location: str) -> int | None:
    """The number of a node by its place, two to each router; None if Titan has no such place."""
    found = _PLACE.fullmatch(location)
    if found is None:
        return None
    parts = tuple(map(int, found.groups()))
    if any(part >= extent for part, extent in zip(parts, _EXTENTS, strict=True)):
        return None
    column, row, cage, slot, node = parts
    return 2 * ((column * 16 + 2 * row + node // 2) * 24 + 8 * cage + slot) + node % 2


def _bad(name: str, line: int, row: list[str], what: str) -> InputError:
    return InputError(f"{name}, line {line}: {what}: {shown(','.join(row).encode())}")
