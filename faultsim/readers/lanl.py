"""Reads the failure records of the Los Alamos National Laboratory (LA-UR-05-7318): see `read_lanl`."""

from __future__ import annotations

import os
import re
from datetime import datetime

import numpy as np

from faultsim import checks
from faultsim.data.failures import FailureTrace
from faultsim.entries import entry
from faultsim.errors import InputError, OptionError
from faultsim.readers.csv_rows import csv_rows
from faultsim.readers.input_lines import Lines, shown
from faultsim.readers.timestamps import Moment, on_clock

# How the header's titles begin.
_TITLES = ("System", "nodenumz", "Prob Started", "Prob Fixed", "Down Time")
_MOMENT = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4}) (\d{1,2}):(\d\d)", re.ASCII)
_WHOLE = re.compile(r"[0-9]{1,15}")
_EPOCH = datetime(1970, 1, 1)


@entry
def read_lanl(
    path: str | os.PathLike[str],
    system: int | None = None,
    *,
    begin: Moment | None = None,
    end: Moment | None = None,
    merge: bool = True,
    under_way: bool = False,
) -> FailureTrace:
    """Read one system of the LANL failure records, ``LA-UR-05-7318-failure-data-1996-2005.csv``.

    Parameters
    ----------
    path : path
        Plain, gzip, xz or bzip2, detected by content; "-" is standard input.
    system : int, optional
        Number of the system, as in the file's first column; needed if the file has records of several.
    begin, end : str, datetime.date, datetime.datetime or float, optional
        Only failures from `begin` to before `end`, as dates (``"2001-01-01"``) or in seconds since 1970, on the local
        clock of the records.  `begin` becomes time 0; by default midnight before the system's first record.
    merge : bool
        Whether overlapping outages of a node become one (`FailureTrace.merge_overlaps`).
    under_way : bool
        Whether an outage that began before `begin` is included, at time 0 with its rest.

    Returns
    -------
    FailureTrace
        Node numbers are those of the column ``nodenumz``.  Down times are those of the column ``Down Time`` (minutes),
        which, unlike the two times, do not jump when daylight saving begins or ends.  The span ends with the system's
        last record.  `FailureTrace.dropped` counts exact duplicates, records without a node number (all of system 17)
        and merged outages.

    Raises
    ------
    InputError
        No such file; another format; a record that cannot be read (file, line and text are named); no failure left.
    OptionError
        An unknown system, or none where there are several; the known ones are named.

    Notes
    -----
    Times are to the minute, as typed by an operator.  A few node numbers lie outside their system (14, and one record
    of 11): see `FailureTrace.drop_outside` and `FailureTrace.map_nodes`.

    Source: [schroeder2006].
    [yu2010] section 5 takes its "Cluster 2" from system 2.

    Examples
    --------
    >>> import faultsim as fs
    >>> with open("lanl.csv", "w") as file:
    ...     _ = file.write(
    ...         "System,nodenumz,Prob Started (mm/dd/yy hh:mm),Prob Fixed (mm/dd/yy hh:mm),Down Time\\n"
    ...         "2,0,6/21/2005 10:54,6/21/2005 11:00,6\\n"
    ...         "2,5,6/22/2005 0:30,6/22/2005 1:30,60\\n"
    ...     )
    >>> trace = fs.read_lanl("lanl.csv", system=2)
    >>> trace
    <FailureTrace 'LANL system 2 (0 s = 2005-06-21 00:00)': 2 failures, nodes 0-5, span 91800 s>
    >>> trace.downtime
    array([ 360., 3600.])
    """
    wanted = "" if system is None else str(checks.whole("system", system))
    lines = Lines(path, ends=True)
    rows = csv_rows(lines)
    columns = _columns(next(rows)[1], lines.name)
    times, ends, nodes, downs = [], [], [], []
    width = max(columns) + 1
    systems: dict[str, int] = {}
    seen: set[tuple[str, ...]] = set()
    dropped: dict[str, int] = {}

    def drop(reason: str) -> None:
        dropped[reason] = dropped.get(reason, 0) + 1

    for line, row in rows:
        systems[row[0]] = systems.get(row[0], 0) + 1
        wanted = wanted or row[0]
        if len(row) < width:
            raise _bad(lines.name, line, row, f"{len(row)} fields, expected {width} or more")
        number, node, start, fixed, minutes = (row[column] for column in columns)
        if number != wanted:
            continue
        if tuple(row) in seen:
            drop("exact duplicate")
            continue
        seen.add(tuple(row))
        if not node:
            drop("node missing")
            continue
        begins, fixes = _seconds(start), _seconds(fixed)
        if begins is None or fixes is None:
            raise _bad(lines.name, line, row, f"{start if begins is None else fixed!r:.40} is no m/d/yyyy h:mm")
        for text, what in ((node, "node number"), (minutes, "down time in minutes")):
            if not _WHOLE.fullmatch(text):
                raise _bad(lines.name, line, row, f"{text!r:.40} is not a {what}")
        times.append(begins)
        ends.append(fixes)
        nodes.append(int(node))
        downs.append(60 * int(minutes))
    known = ", ".join(sorted(systems, key=lambda name: (len(name), name)))
    if system is None and not systems:
        raise InputError(f"{lines.name}: no records of any system below the first line")
    if system is None and len(systems) > 1:
        raise OptionError(
            f"system: {lines.name} has the records of {len(systems)} systems, {known}; give one by system= (--system), "
            f"such as {wanted}"
        )
    if wanted not in systems:
        raise OptionError(f"system: {lines.name} has no system {wanted}; it has {known or 'none'}")
    if not times:
        reasons = ", ".join(f"{reason}: {count}" for reason, count in dropped.items())
        raise InputError(f"{lines.name}: no failures of system {wanted} are left ({reasons})")
    return on_clock(
        f"LANL system {wanted}",
        {"time": np.array(times, dtype=float), "node": np.array(nodes), "downtime": np.array(downs, dtype=float)},
        dropped,
        first=min(times),
        last=max(*times, *ends),
        begin=begin,
        end=end,
        under_way=under_way,
        merge=merge,
    )


def _columns(header: list[str], name: str) -> list[int]:
    found = []
    for title in _TITLES:
        places = [place for place, text in enumerate(header) if text.strip().startswith(title)]
        if not places:
            start = shown(",".join(header).encode())
            raise InputError(f"{name}: not the LANL failure records; no column {title!r} in the first line, {start}")
        found.append(places[0])
    return found


def _seconds(text: str) -> float | None:
    """``m/d/yyyy h:mm`` as seconds since 1970 on the same clock."""
    match = _MOMENT.fullmatch(text)
    if match is None:
        return None
    month, day, year, hour, minute = map(int, match.groups())
    try:
        return (datetime(year, month, day, hour, minute) - _EPOCH).total_seconds()
    except ValueError:
        return None


def _bad(name: str, line: int, row: list[str], what: str) -> InputError:
    return InputError(f"{name}, line {line}: {what}: {shown(','.join(row).encode())}")
