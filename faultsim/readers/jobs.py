"""Reads job logs from CSV and Parquet files whose columns the caller names: see `read_jobs`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faultsim import checks
from faultsim.data.columns import WORKLOAD, by_name
from faultsim.data.further import TAKEN
from faultsim.data.workload import Workload
from faultsim.errors import InputError, OptionError
from faultsim.readers.input_lines import stem
from faultsim.readers.job_rows import missing, workload
from faultsim.readers.named_columns import NamedColumns
from faultsim.readers.named_values import any_values, durations, labels, moments, numbers
from faultsim.readers.timestamps import Moment
from faultsim.vocabulary import UNITS

_SUFFIXES = (".gz", ".xz", ".bz2", ".csv", ".tsv", ".txt", ".parquet", ".pq")
_OWN = (*by_name(WORKLOAD), "start", "finish")
_TIMES = ("submit", "runtime", "estimate", "start", "finish")


def read_jobs(
    path: str | os.PathLike[str],
    *,
    submit: str | None = None,
    runtime: str | None = None,
    size: str | None = None,
    estimate: str | None = None,
    id: str | None = None,
    user: str | None = None,
    start: str | None = None,
    finish: str | None = None,
    unit: str | Mapping[str, str] = "s",
    columns: Sequence[str] | Mapping[str, str] | None = None,
    begin: Moment | None = None,
    end: Moment | None = None,
    name: str | None = None,
) -> Workload:
    """Read a job log from a CSV or Parquet file whose columns you name.

    Parameters
    ----------
    path : path
        A CSV whose first line names the columns (separated by comma, semicolon, tab or ``|``; lines before it that
        begin with "#" are comments), plain, gzip, xz or bzip2; or a Parquet file (needs pyarrow).  Told by content; "-"
        is standard input.
    submit, runtime, size : str, optional
        Names of these columns in the file, by default their own.  `runtime` may be missing if there are `start` and
        `finish`.
    estimate, id, user : str, optional
        The same; by default their own names, where the file has them. Users may have names, which are numbered in the
        order of the file and kept as the further column ``user_name``.
    start, finish : str, optional
        Columns of moments whose difference is the run time, if no column is.
    unit : {"s", "ms", "min", "h", "d"} or mapping of str to str
        Unit of times that are numbers, for all of them or for each by name: ``{"estimate": "min"}``.
    columns : sequence of str or mapping of str to str, optional
        Further columns to keep, or new names and the names in the file.  By default all others but those under
        names that jobs have already, such as ``wait``.
    begin, end : str, datetime.date, datetime.datetime or float, optional
        Only jobs submitted from `begin`, which becomes 0 s, to before `end`: dates (``"2024-01-31"``), or seconds on
        the clock of the file.
    name : str, optional
        Name of the log; that of the file, without its suffixes, by default.

    Returns
    -------
    Workload
        Sorted by submit time (equal times in the order of the file).  Moments are numbers, or dates and times such as
        ``2024-01-31T12:00:00``, with a time zone or on one clock without jumps; then 0 s is midnight before the first
        submit, unless `begin` says otherwise, and ``Workload.header["UnixStartTime"]`` says when that was. Durations
        are numbers, ``1-02:03:04`` or ``02:03:04``.  `Workload.dropped` counts what is left out, empty or negative
        values: ``"run time missing"``, ``"size missing"``, ``"submit time missing"``.

    Raises
    ------
    InputError
        No such file; a column missing, misspelt or twice; a value that cannot be read (file, line and text are
        named); no job.
    OptionError
        An unknown unit.
    MissingExtraError
        A Parquet file, without pyarrow.

    Examples
    --------
    >>> import faultsim as fs
    >>> with open("jobs.csv", "w") as file:
    ...     _ = file.write(
    ...         "submitted,elapsed,nodes,who,queue\\n"
    ...         "2024-01-31T12:00:00,00:10:00,4,ann,long\\n"
    ...         "2024-01-31T12:00:30,1-00:00:00,1,bob,short\\n"
    ...     )
    >>> log = fs.read_jobs("jobs.csv", submit="submitted", runtime="elapsed", size="nodes", user="who")
    >>> log.submit, log.runtime
    (array([43200., 43230.]), array([  600., 86400.]))
    >>> log.further, log.header["Note"]
    (('queue', 'user_name'), '0 s is 2024-01-31 00:00')
    """
    given = {
        "submit": submit, "runtime": runtime, "size": size, "estimate": estimate, "id": id, "user": user,
        "start": start, "finish": finish,
    }  # fmt: skip
    units = _units(unit)
    file = NamedColumns(path)
    used = _used(file, given, columns)
    made: dict[str, NDArray[Any]] = {}
    made["submit"], dates = moments(file, used["submit"], units["submit"])
    if "runtime" in used:
        made["runtime"] = durations(file, used["runtime"], units["runtime"])
    else:
        (first, first_dates), (last, last_dates) = (moments(file, used[key], units[key]) for key in ("start", "finish"))
        if first_dates != last_dates:
            raise InputError(f"{file.name}: of {used['start']!r} and {used['finish']!r} one has dates, one numbers")
        made["runtime"] = np.round(last - first, 6)
    estimates = durations(file, used["estimate"], units["estimate"]) if "estimate" in used else np.full(file.rows, -1.0)
    made["estimate"] = missing(estimates)
    made["size"] = numbers(file, used["size"], whole=True)
    made["id"] = any_values(file, used["id"]) if "id" in used else np.arange(1, file.rows + 1)
    made["user"], names = labels(file, used["user"]) if "user" in used else (np.full(file.rows, -1), None)
    further = _further(file, set(used.values()), columns)
    if names is not None:
        further["user_name"] = names
    called = stem(path, _SUFFIXES) if name is None else name
    return workload(file.name, made, further, dates=dates, begin=begin, end=end, name=called, reasons={})


def _units(unit: str | Mapping[str, str]) -> dict[str, float]:
    given = dict.fromkeys(_TIMES, unit) if isinstance(unit, str) else dict(unit)
    for key in given:
        if key not in _TIMES:
            raise OptionError(f"unit: {key!r} is no time{checks.did_you_mean(key, _TIMES)}; times: {', '.join(_TIMES)}")
    return {key: UNITS[checks.choice("unit", given.get(key, "s"), UNITS)] for key in _TIMES}


def _used(
    file: NamedColumns, given: Mapping[str, str | None], columns: Sequence[str] | Mapping[str, str] | None
) -> dict[str, str]:
    """Our names of columns and those of the file."""
    there, listed = file.columns, ", ".join(file.columns)
    kept = columns.values() if isinstance(columns, Mapping) else columns or ()
    used: dict[str, str] = {}
    for key, said in given.items():
        if said is not None:
            if said not in there:
                raise InputError(f"{file.name}: no column {said!r}{checks.did_you_mean(said, there)}; it has {listed}")
            used[key] = said
        elif key in there:
            used[key] = key
    if "runtime" in used or not {"start", "finish"} <= used.keys():
        for key in ("start", "finish"):
            used.pop(key, None)
    from difflib import get_close_matches

    claimed = {*used.values(), *kept}
    for key in by_name(WORKLOAD):
        if key in used or (key == "runtime" and "start" in used):
            continue
        if near := get_close_matches(key, [name for name in there if name not in claimed], n=1, cutoff=0.85):
            raise InputError(f"{file.name}: column {near[0]!r} is not known; if it is the {key}: {key}={near[0]!r}")
        if key in ("submit", "runtime", "size"):
            raise InputError(f"{file.name}: no column {key!r}; it has {listed}; name the one that is: {key}=...")
    return used


def _further(
    file: NamedColumns, used: set[str], columns: Sequence[str] | Mapping[str, str] | None
) -> dict[str, NDArray[Any]]:
    if columns is None:
        kept = {name: name for name in file.columns if name not in used and name not in TAKEN}
    elif isinstance(columns, str):
        raise OptionError(f"columns: expected a list of names, got {columns!r}")
    else:
        kept = dict(columns) if isinstance(columns, Mapping) else {name: name for name in columns}
    for name in kept.values():
        if name not in file.columns:
            hint = checks.did_you_mean(name, file.columns)
            raise InputError(f"{file.name}: no column {name!r}{hint}; it has {', '.join(file.columns)}")
    return {key: any_values(file, name) for key, name in kept.items()}
