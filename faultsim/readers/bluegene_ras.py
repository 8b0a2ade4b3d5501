"""Reads failures from Blue Gene/L's log of reliability, availability and serviceability: see `read_bluegene_ras`."""

from __future__ import annotations

import os
import re
from datetime import datetime
from typing import Literal

import numpy as np

from faultsim import checks
from faultsim.data.failures import FailureTrace
from faultsim.entries import entry
from faultsim.errors import InputError
from faultsim.readers.input_lines import Lines, shown
from faultsim.readers.timestamps import Moment, on_clock

# <timestamp> <location> <type> <facility> <severity> <message>, the type RAS or NULL; in the form with labels after
# <label> <seconds> <date> <location>.
_LINE = re.compile(
    rb"(?:(?P<label>\S+) \d+ \d{4}\.\d\d\.\d\d \S+ )?"
    rb"(?P<day>\d{4}-\d\d-\d\d)-(?P<hour>\d\d)\.(?P<minute>\d\d)\.(?P<second>\d\d\.\d{6}) "
    rb"(?P<place>\S+) (?:RAS|NULL) (?P<facility>\S+) (?P<severity>\S+)(?: (?P<message>.*))?"
)
# Racks are numbered by row and column, both octal; a midplane is half a rack.
_MIDPLANE = re.compile(rb"R([0-7])([0-7])-M([01])(?![0-9A-Za-z])(.*)")
# A node card of a midplane has 32 compute nodes, two a slot from J02 to J17; J18 is the I/O node.
_NODE = re.compile(rb"-N([0-9A-Fa-f])-C:J(0[2-9]|1[0-7])-U(01|11)")
_MIDPLANES, _NODES_PER_MIDPLANE, _NODES_PER_CARD = 128, 512, 32
# Consequences of a job's end or of a file system, not node faults.
_NO_HARDWARE = re.compile(rb"Lustre mount FAILED|unable to mount filesystem|kernel terminated")
_NO_ALERT = b"-"
_SHOWN = 3


@entry
def read_bluegene_ras(
    path: str | os.PathLike[str],
    level: Literal["midplane", "node"] = "midplane",
    gap: checks.Duration = 600.0,
    kinds: Literal["hardware", "all"] = "hardware",
    *,
    downtime: checks.Duration = 0.0,
    begin: Moment | None = None,
    end: Moment | None = None,
    strict: bool = False,
) -> FailureTrace:
    """Read failures from a RAS log of Blue Gene/L (the machine at LLNL: 64 racks, 128 midplanes, 65,536 nodes).

    Parameters
    ----------
    path : path
        Plain, gzip, xz or bzip2, detected by content; "-" is standard input.  Lines are
        ``timestamp location RAS facility severity message`` (or NULL for RAS), with or without the four fields
        ``label seconds date location`` before them; of lines with a label, only alerts (a label other than "-") count.
    level : {"midplane", "node"}
        What fails: a midplane, which is one 8x8x8 supernode of Krevat's and Oliner's 4x4x8 torus, or a compute node.
    gap : float
        Messages from one midplane (or node) at most this many seconds apart count as one failure.
    kinds : {"hardware", "all"}
        "hardware" omits messages caused by a job's end, a file system or the application: "Lustre mount
        FAILED", "unable to mount filesystem", "kernel terminated", and the facility APP.
    downtime : float
        Down time of each failure in seconds; the log has no repair times.
    begin, end : str, datetime.date, datetime.datetime or float, optional
        Only failures from `begin` to before `end`, as dates or in seconds since 1970, on the log's clock.  `begin`
        becomes time 0; by default midnight before the first message.
    strict : bool
        Whether an unreadable line is an error. By default such lines are counted in `FailureTrace.dropped`, with file,
        line and text of the first three.

    Returns
    -------
    FailureTrace
        Midplane ``R<row><column>-M<half>`` has the number ``2 * (8 * row + column) + half``.  Its place on the torus is
        not in the log: this order is an assumption (`FailureTrace.map_nodes` can change it).  Node
        ``N<card>-C:J<slot>-U<01 or 11>`` of a midplane has the number ``512 * midplane + 32 * card + 2 * (slot - 2)``,
        plus 1 for U11.  The span ends with the log's last message.

    Raises
    ------
    InputError
        No such file; no RAS line in it; with `strict`, a line that cannot be read; no failure left.

    Notes
    -----
    The public list of failure-suggesting messages of 2005-06-05 to 2006-01-04 gives 537 failures of midplanes with a
    gap of 600 s and 502 with 3,600 s, about 2.5 a day.

    Source: [oliner2007].

    Examples
    --------
    >>> import faultsim as fs
    >>> with open("ras.log", "w") as file:
    ...     _ = file.write(
    ...         "2005-06-05-01.55.06.697467 R11-M0-NB-C:J07-U11 RAS KERNEL FATAL rts panic! - stopping execution\\n"
    ...         "2005-06-05-01.56.00.000000 R11-M0-N0-C:J02-U01 RAS KERNEL FATAL rts internal error\\n"
    ...         "2005-06-05-04.23.03.807985 R22-M1-NE-C:J13-U01 RAS KERNEL FATAL rts internal error\\n"
    ...     )
    >>> fs.read_bluegene_ras("ras.log").node
    array([18, 37], dtype=int32)
    >>> fs.read_bluegene_ras("ras.log", level="node").node
    array([ 9579,  9216, 19414], dtype=int32)
    """
    checks.choice("level", level, ("midplane", "node"))
    checks.choice("kinds", kinds, ("hardware", "all"))
    longest = checks.number("gap", gap, low=0.0, unit="s")
    down = checks.number("downtime", downtime, low=0.0, unit="s")
    strict = checks.flag("strict", strict)
    lines = Lines(path, ends=True)
    moments: list[float] = []
    units: list[int] = []
    dropped: dict[str, int] = {}
    unreadable: list[str] = []
    midnights: dict[bytes, float | None] = {}
    first, last, number, bad = np.inf, -np.inf, 0, 0

    def drop(reason: str) -> None:
        dropped[reason] = dropped.get(reason, 0) + 1

    for block in lines:
        for line in block.split(b"\n")[: block.count(b"\n") + (not block.endswith(b"\n"))]:
            number += 1
            text = line.rstrip(b"\r")
            if not text:
                continue
            match = _LINE.fullmatch(text)
            moment = None if match is None else _seconds(match, midnights)
            if match is None or moment is None:
                if strict:
                    raise InputError(f"{lines.name}, line {number}: not a RAS message: {shown(text)}")
                bad += 1
                if len(unreadable) < _SHOWN:
                    unreadable.append(f"line {number}: {shown(text)}")
                continue
            first, last = min(first, moment), max(last, moment)
            if match["label"] == _NO_ALERT:
                drop("no alert")
            elif kinds == "hardware" and (match["facility"] == b"APP" or _NO_HARDWARE.search(match["message"] or b"")):
                drop("no hardware fault")
            elif (unit := _unit(match["place"], level)) is None:
                drop(f"location is no {level if level == 'midplane' else 'compute node'}")
            else:
                moments.append(moment)
                units.append(unit)
    if first == np.inf:
        start = f", beginning with {unreadable[0]}" if unreadable else ""
        raise InputError(
            f"{lines.name}: no RAS message among {number} lines{start}; expected lines such as "
            f"'2005-06-05-01.55.06.697467 R11-M0-NB-C:J07-U11 RAS KERNEL FATAL ...'"
        )
    if bad:
        dropped[f"unreadable line ({lines.name}, {'; '.join(unreadable)}{', ...' if bad > _SHOWN else ''})"] = bad
    time, unit_of = np.array(moments, dtype=np.float64), np.array(units, dtype=np.int64)
    order = np.lexsort((time, unit_of))
    time, unit_of = time[order], unit_of[order]
    new = np.ones(len(time), dtype=bool)
    new[1:] = (unit_of[1:] != unit_of[:-1]) | (time[1:] - time[:-1] > longest)
    if len(time) > new.sum():
        dropped["message of a failure already counted"] = len(time) - int(new.sum())
    return on_clock(
        f"Blue Gene/L {level}s",
        {"time": time[new], "node": unit_of[new], "downtime": np.full(int(new.sum()), down)},
        dropped,
        first=first,
        last=last,
        begin=begin,
        end=end,
        of=_MIDPLANES * (1 if level == "midplane" else _NODES_PER_MIDPLANE),
    )


def _seconds(match: re.Match[bytes], midnights: dict[bytes, float | None]) -> float | None:
    """Seconds since 1970 on the log's clock; None for a day or an hour that does not exist."""
    day = match["day"]
    if day not in midnights:
        try:
            midnights[day] = (datetime.fromisoformat(day.decode()) - datetime(1970, 1, 1)).total_seconds()
        except ValueError:
            midnights[day] = None
    midnight = midnights[day]
    hour, minute, second = int(match["hour"]), int(match["minute"]), float(match["second"])
    if midnight is None or hour > 23 or minute > 59 or second >= 61:
        return None
    return midnight + 3600 * hour + 60 * minute + second


def _unit(place: bytes, level: str) -> int | None:
    """Number of the midplane or of the node at a location; None where it names none."""
    found = _MIDPLANE.fullmatch(place)
    if found is None:
        return None
    row, column, half, rest = found.groups()
    midplane = 2 * (8 * int(row) + int(column)) + int(half)
    if level == "midplane":
        return midplane
    node = _NODE.fullmatch(rest)
    if node is None:
        return None
    card, slot, unit = node.groups()
    return _NODES_PER_MIDPLANE * midplane + _NODES_PER_CARD * int(card, 16) + 2 * (int(slot) - 2) + (unit == b"11")
