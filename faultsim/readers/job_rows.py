"""From the columns of a file to a `Workload`: what is left out and why, the clock, the order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from faultsim.arrays import Values
from faultsim.data.estimates import warn_of_estimates
from faultsim.data.further import further_columns
from faultsim.data.workload import Workload
from faultsim.errors import InputError, OptionError
from faultsim.readers.dropped_records import DroppedRecords
from faultsim.readers.named_values import typed
from faultsim.readers.timestamps import Moment, seconds, written

_DAY = 86_400.0


def missing(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The numbers, -1 for those that are missing or negative."""
    known: NDArray[np.float64] = np.where(values >= 0, values, -1.0)
    return known


def workload(
    where: str,
    columns: Mapping[str, Values],
    further: Mapping[str, Values],
    *,
    dates: bool,
    begin: Moment | None,
    end: Moment | None,
    name: str,
    reasons: Mapping[str, NDArray[np.bool_]],
    dropped: DroppedRecords | Mapping[str, int] | None = None,
    rejected: NDArray[np.bool_] | None = None,
    comments: Sequence[str] = (),
) -> Workload:
    """A log from rows in any order, sorted by submit time, ties in the order of the file.

    Parameters
    ----------
    where : str
        The file, for messages.
    columns : mapping of str to array
        id, submit (s), runtime (s), estimate (s), size, user, and perhaps recorded_wait (s, -1 where missing); NaN or
        negative where missing.  Ids that are text
        become numbers if those of all jobs kept are.
    further : mapping of str to array
        Further columns.
    dates : bool
        Whether `submit` is in seconds since 1970; then midnight before the first becomes 0 s.
    begin, end : Moment, optional
        Only jobs submitted from `begin`, which becomes 0 s, to before `end`.
    name : str
        Name of the log.
    reasons : mapping of str to array of bool
        Further reasons to leave rows out, which come first.
    dropped : DroppedRecords or mapping of str to int, optional
        What was left out before.
    rejected : array of bool, optional
        Rows that are counted there already.
    comments : sequence of str
        Further header lines.

    Raises
    ------
    InputError
        If no job is left, or a value is not valid.

    Warns
    -----
    The logger "faultsim" of estimates that most jobs run past.
    """
    submit, rows = columns["submit"], len(columns["submit"])
    every = {
        **reasons,
        "run time negative": _negative(columns["runtime"]),
        "run time missing": ~(columns["runtime"] >= 0),
        "size missing": ~(columns["size"] >= 1),
        "submit time negative": _negative(submit),
        "submit time missing": ~(submit >= 0),
    }
    keep = np.ones(rows, dtype=bool) if rejected is None else ~rejected
    counts = dict(dropped.counts if isinstance(dropped, DroppedRecords) else dropped or {})
    for reason, out in every.items():
        if count := int((out & keep).sum()):
            counts[reason] = counts.get(reason, 0) + count
            keep &= ~out
    if not keep.any():
        listed = ", ".join(f"{reason}: {count}" for reason, count in counts.items())
        raise InputError(f"{where}: no jobs are left ({listed or 'the file has none'})")
    zero = _zero(submit[keep], dates, begin)
    if begin is not None or end is not None:
        first, last = float(submit[keep].min()), float(submit[keep].max())
        until = math.inf if end is None else seconds("end", end)
        if until <= zero:
            raise OptionError("end: it is not after the begin")
        keep &= (submit >= zero) & (submit < until)
        if not keep.any():
            span = f"{written(first)} to {written(last)}" if dates else f"{first:g} s to {last:g} s"
            raise InputError(f"{where}: no jobs in the period requested; they were submitted from {span}")
    order = np.flatnonzero(keep)
    order = order[np.argsort(submit[order], kind="stable")]
    chosen = {key: values[order] for key, values in columns.items()}
    if chosen["id"].dtype.kind == "U":
        chosen["id"] = typed(chosen["id"].tolist())
    # Seconds since 1970 have microseconds but no more.
    chosen["submit"] = np.round(chosen["submit"] - zero, 6) if zero else chosen["submit"]
    try:
        log = Workload(
            **chosen,
            columns=further_columns({key: values[order] for key, values in further.items()}, len(order)),
            dropped=counts,
            name=name,
            comments=[
                *([f"; UnixStartTime: {zero:.15g}", f"; Note: 0 s is {written(zero)}"] if dates else ()),
                *comments,
            ],
        )
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
    warn_of_estimates(where, log.runtime, log.estimate)
    return log


def _negative(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which times are negative; -1 is the word of many formats for "missing"."""
    negative: NDArray[np.bool_] = (values < 0) & (values != -1)
    return negative


def _zero(submit: NDArray[np.float64], dates: bool, begin: Moment | None) -> float:
    if begin is not None:
        return seconds("begin", begin)
    return math.floor(float(submit.min()) / _DAY) * _DAY if dates else 0.0
