"""Moments of failure records, and the clock of a trace made from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import TypeAlias

import numpy as np

from faultsim import checks
from faultsim.arrays import Values
from faultsim.data.failures import FailureTrace
from faultsim.errors import InputError, OptionError

#: What ``begin=`` and ``end=`` of the readers take: seconds since 1970, "2001-01-31", "2001-01-31 12:00", a datetime.
Moment: TypeAlias = str | date | float

_DAY = 86_400.0
_CALENDAR = 1e13  # seconds that a date can say, about


def seconds(what: str, moment: Moment) -> float:
    """A moment as seconds since 1970 on the clock of the records (one without time zone is used as is).

    Examples
    --------
    >>> seconds("begin", "1970-01-02"), seconds("begin", "1970-01-02 00:00:30"), seconds("begin", 5)
    (86400.0, 86430.0, 5.0)
    """
    checks.refuse_missing(what, moment)
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment.strip())
        except ValueError:
            raise OptionError(
                f"{what}: {moment!r} is not a date; expected one such as '2001-01-31' or '2001-01-31 12:00'"
            ) from None
    if isinstance(moment, date):
        if not isinstance(moment, datetime):
            moment = datetime(moment.year, moment.month, moment.day)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if (
        isinstance(moment, bool | np.timedelta64)
        or not isinstance(moment, int | float | np.number)
        or not abs(moment) < 1e18
    ):
        raise OptionError(
            f"{what}: expected a date, a text such as '2001-01-31', or seconds since 1970, got {moment!r}"
        )
    return float(moment)


def written(moment: float) -> str:
    """Seconds since 1970 as a date and time, to the minute.

    Examples
    --------
    >>> written(86_430.0)
    '1970-01-02 00:00'
    """
    if abs(moment) > _CALENDAR:
        return f"{moment:.15g} s"
    return str(np.datetime64(math.floor(moment), "s").astype("datetime64[m]")).replace("T", " ")


def on_clock(
    name: str,
    columns: Mapping[str, Values],
    dropped: Mapping[str, int],
    *,
    first: float,
    last: float,
    begin: Moment | None,
    end: Moment | None,
    under_way: bool = False,
    merge: bool = False,
    of: int | None = None,
    names: Sequence[str] = (),
    reasons: Sequence[str] | None = None,
) -> FailureTrace:
    """A trace from records at seconds since 1970.

    Parameters
    ----------
    name : str
        What to call it; the moment of time 0 is added.
    columns : mapping of str to array
        time, node, downtime, in any order.
    dropped : mapping of str to int
        Reasons and counts of records left out.
    first, last : float
        The moments between which there are records.
    begin, end : Moment, optional
        The period to use. `begin` is time 0; by default midnight before `first`.  The span ends at `end`, or at
        `last` if that is earlier.
    under_way : bool
        As in `FailureTrace.window`.
    merge : bool
        Whether to merge overlapping outages first.
    of : int, optional
        Nodes of the machine, if the numbers are those of its nodes.
    names : sequence of str
        Names of the nodes by their numbers, `FailureTrace.nodes`.
    reasons : sequence of str, optional
        A reason for each record, `FailureTrace.reasons`; the records must be sorted by time.

    Raises
    ------
    InputError
        No failures in this period.

    Examples
    --------
    >>> columns = {"time": np.array([86_430.0]), "node": np.array([3]), "downtime": np.array([60.0])}
    >>> on_clock("sample", columns, {}, first=86_430.0, last=86_490.0, begin=None, end=None)
    <FailureTrace 'sample (0 s = 1970-01-02 00:00)': 1 failure, nodes 3-3, span 90 s>
    """
    midnight = math.floor(first / _DAY) * _DAY
    zero = midnight if begin is None else seconds("begin", begin)
    until = math.inf if end is None else seconds("end", end)
    if under_way and begin is None:
        raise OptionError(
            "under_way is about outages in progress at begin=, and none is given: give it, or leave it out"
        )
    if until <= zero:
        raise OptionError(f"end: {written(until)} is not after the begin, {written(zero)}")
    shift = min(midnight, zero)
    # Seconds since 1970 have microseconds but no more.
    trace = FailureTrace(
        np.round(columns["time"] - shift, 6),
        columns["node"],
        columns["downtime"],
        part=columns.get("part"),
        span=max(round(last - shift, 6), 0.0),
        of=of,
        dropped=dropped,
    )._with_names(names, reasons)
    if merge:
        trace = trace.merge_overlaps()
    if begin is not None or end is not None:
        trace = trace.window(zero - shift, until - shift, under_way=under_way)
    if not len(trace):
        reasons = "".join(f"; {reason}: {count}" for reason, count in dropped.items())
        part = "" if begin is None and end is None else " in the period requested"
        raise InputError(
            f"{name}: no failures{part}; its records run from {written(first)} to {written(last)}{reasons}"
        )
    return trace.renamed(f"{name} (0 s = {written(zero)})")
