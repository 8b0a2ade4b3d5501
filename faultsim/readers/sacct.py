"""Reads the accounting records of Slurm that ``sacct --parsable2`` prints: see `read_sacct`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from faultsim import checks
from faultsim.data.workload import Workload
from faultsim.errors import InputError, OptionError
from faultsim.readers.input_lines import stem
from faultsim.readers.job_rows import missing, workload
from faultsim.readers.named_columns import NamedColumns
from faultsim.readers.named_values import any_values, labels, moments, numbers, spans
from faultsim.readers.timestamps import Moment
from faultsim.vocabulary import clock

_SUFFIXES = (".gz", ".xz", ".bz2", ".txt", ".csv", ".sacct")
#: Fields that say how large a job was, the first that the file has, and the others where that one is 0 or empty.
_SIZES = {"nodes": ("AllocNodes", "NNodes", "ReqNodes"), "cpus": ("AllocCPUS", "NCPUS", "ReqCPUS")}
_KEPT = ("Partition", "Account", "QOS", "State")
_NO_LIMIT = ("unlimited", "partition_limit", "invalid")


def read_sacct(
    path: str | os.PathLike[str],
    *,
    size: Literal["nodes", "cpus"] = "nodes",
    columns: Sequence[str] | None = None,
    begin: Moment | None = None,
    end: Moment | None = None,
    name: str | None = None,
) -> Workload:
    """Read the job records of Slurm, as ``sacct --parsable2 --allusers`` prints them.

    Parameters
    ----------
    path : path
        Lines of fields between ``|``, the first with their names; plain, gzip, xz or bzip2; "-" is standard input.
        Needed are JobID, Submit, ElapsedRaw or Elapsed (else Start and End), and a size; Timelimit (or TimelimitRaw, in
        minutes), State, Start and User (or UID) are used where the file has them.
    size : {"nodes", "cpus"}
        Whether a job is as large as its nodes (AllocNodes, NNodes or ReqNodes, the first that is 1 or more) or as its
        processors (AllocCPUS, NCPUS or ReqCPUS).
    columns : sequence of str, optional
        Fields to keep as further columns; by default Partition, Account, QOS and State, of which the file has some.
    begin, end : str, datetime.date, datetime.datetime or float, optional
        Only jobs submitted from `begin`, which becomes 0 s, to before `end`: dates (``"2024-01-31"``), or seconds since
        1970, on the local clock of the records.
    name : str, optional
        Name of the log; that of the file, without its suffixes, by default.

    Returns
    -------
    Workload
        Sorted by submit time, from midnight before the first or from `begin`; ``Workload.header["UnixStartTime"]`` says
        when 0 s was.  Ids are numbers, or text if there are job arrays: each task ``12_3`` is a job.  The components
        ``12+0``, ``12+1`` of a heterogeneous job, which run together, are one job, ``12``: the sum of their sizes, from
        the first start to the last end.  A run time is the time elapsed, without suspensions; a limit of UNLIMITED or
        Partition_Limit is missing (-1).  Users are numbered in the order of the file, and their names kept as the
        further column ``user_name``.  `Workload.dropped` counts what is left out:

        - ``"job step"``: ``12.batch``, ``12.0``;
        - ``"earlier run of a requeued job"``: the same id again (``sacct --duplicates``); the last is kept;
        - ``"component of a heterogeneous job"``: those added to the first;
        - ``"never started"``: pending, or cancelled before it started;
        - ``"still running"``: running or suspended, with no end;
        - ``"run time missing"``, ``"size missing"``, ``"submit time missing"``.

    Raises
    ------
    InputError
        No such file; a field missing; a record that cannot be read (file, line and text are named); no job.

    Notes
    -----
    Times are on the local clock of the machine, which jumps twice a year where it saves daylight: submit times of jobs
    around that hour may be an hour off.  ``SLURM_TIME_FORMAT=%s sacct ...`` prints seconds since 1970, which are read,
    too.

    Examples
    --------
    >>> import faultsim as fs
    >>> with open("sacct.txt", "w") as file:
    ...     _ = file.write(
    ...         "JobID|User|Submit|Start|End|Elapsed|Timelimit|NNodes|State\\n"
    ...         "7|ann|2024-01-31T12:00:00|2024-01-31T12:05:00|2024-01-31T12:15:00|00:10:00|1-00:00:00|4|COMPLETED\\n"
    ...         "7.batch||2024-01-31T12:05:00|2024-01-31T12:05:00|2024-01-31T12:15:00|00:10:00||1|COMPLETED\\n"
    ...         "8|bob|2024-01-31T12:00:30|Unknown|Unknown|00:00:00|UNLIMITED|1|PENDING\\n"
    ...     )
    >>> log = fs.read_sacct("sacct.txt")
    >>> log
    <Workload 'sacct': 1 job, sizes 4-4, submit 43200-43200 s, 2 dropped>
    >>> dict(log.dropped), log.estimate
    ({'job step': 1, 'never started': 1}, array([86400.]))
    """
    checks.choice("size", size, _SIZES)
    file = NamedColumns(path, separator="|", quoted=False)
    ids = [text.strip() for text in _texts(file, "JobID")]
    dropped: dict[str, int] = {}
    rows = _jobs(ids, dropped)
    submit, _ = moments(file, _one_of(file, "Submit"), 1.0)
    made: dict[str, NDArray[Any]] = {
        "submit": submit,
        "runtime": _elapsed(file),
        "estimate": missing(_limits(file)),
        "size": _sizes(file, size),
    }
    made["user"], names = (
        labels(file, next(key for key in ("UID", "User") if key in file.columns))
        if {"UID", "User"} & file.columns.keys()
        else (np.full(file.rows, -1), None)
    )
    further = {key: any_values(file, key) for key in _kept(file, columns)}
    if names is not None or "User" in file.columns:
        further["user_name"] = np.array(_texts(file, "User"), dtype=np.str_) if names is None else names
    never, running = _unfinished(file)
    ids, rows = _together(file, ids, rows, made, dropped)
    made["id"] = np.array(ids, dtype=np.str_)
    return workload(
        file.name,
        {key: values[rows] for key, values in made.items()},
        {key: values[rows] for key, values in further.items()},
        dates=True,
        begin=begin,
        end=end,
        name=stem(path, _SUFFIXES) if name is None else name,
        reasons={"never started": never[rows], "still running": running[rows]},
        dropped=dropped,
    )


def _one_of(file: NamedColumns, *names: str) -> str:
    for name in names:
        if name in file.columns:
            return name
    listed = ", ".join(file.columns)
    raise InputError(f"{file.name}: no field {' or '.join(names)}; it has {listed}; ask sacct for it with --format")


def _texts(file: NamedColumns, name: str) -> list[str]:
    return file.text(_one_of(file, name))


def _jobs(ids: list[str], dropped: dict[str, int]) -> NDArray[np.int64]:
    """The rows that are jobs, not steps, the last of each id."""
    last = {text: row for row, text in enumerate(ids) if "." not in text}
    steps = sum("." in text for text in ids)
    if steps:
        dropped["job step"] = steps
    if earlier := len(ids) - steps - len(last):
        dropped["earlier run of a requeued job"] = earlier
    return np.array(sorted(last.values()), dtype=np.int64)


def _seconds(file: NamedColumns, name: str) -> NDArray[np.float64]:
    def read(text: str) -> float | None:
        if text.isascii() and text.isdecimal():
            return float(text)
        return float("nan") if text.lower() in _NO_LIMIT else clock(text, short=True)

    return spans(file, name, read)


def _elapsed(file: NamedColumns) -> NDArray[np.float64]:
    for name in ("ElapsedRaw", "Elapsed"):
        if name in file.columns:
            return _seconds(file, name)
    _one_of(file, *(("Start",) if "End" in file.columns else ("ElapsedRaw", "Elapsed", "End")))
    difference: NDArray[np.float64] = moments(file, "End", 1.0)[0] - moments(file, "Start", 1.0)[0]
    return difference


def _limits(file: NamedColumns) -> NDArray[np.float64]:
    if "TimelimitRaw" in file.columns:
        return 60.0 * _seconds(file, "TimelimitRaw")
    return _seconds(file, "Timelimit") if "Timelimit" in file.columns else np.full(file.rows, -1.0)


def _sizes(file: NamedColumns, size: str) -> NDArray[np.float64]:
    _one_of(file, *_SIZES[size])
    found = np.full(file.rows, np.nan)
    for name in _SIZES[size]:
        if name in file.columns:
            found = np.where(found >= 1, found, numbers(file, name, whole=True))
    return found


def _kept(file: NamedColumns, columns: Sequence[str] | None) -> list[str]:
    if columns is None:
        return [name for name in _KEPT if name in file.columns]
    if isinstance(columns, str):
        raise OptionError(f"columns: expected a list of names, got {columns!r}")
    for name in columns:
        if name not in file.columns:
            hint = checks.did_you_mean(name, file.columns)
            raise InputError(f"{file.name}: no field {name!r}{hint}; it has {', '.join(file.columns)}")
    return list(columns)


def _unfinished(file: NamedColumns) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which records are of jobs that never started, and which of jobs that have not ended."""
    nothing = np.zeros(file.rows, dtype=bool)
    begun = ~np.isnan(moments(file, "Start", 1.0)[0]) if "Start" in file.columns else ~nothing
    ended = ~np.isnan(moments(file, "End", 1.0)[0]) if "End" in file.columns else ~nothing
    states = np.array([text.partition(" ")[0] for text in _texts(file, "State")] if "State" in file.columns else [])
    if not len(states):
        return ~begun, begun & ~ended
    # Older releases give a job that was cancelled in the queue a start, equal to its end.
    ran = _elapsed(file) > 0
    never = ~begun | (states == "PENDING") | (states == "REVOKED") | ((states == "CANCELLED") & ~ran)
    return never, ~never & (~ended | np.isin(states, ("RUNNING", "SUSPENDED")))


def _together(
    file: NamedColumns,
    ids: list[str],
    rows: NDArray[np.int64],
    made: Mapping[str, NDArray[Any]],
    dropped: dict[str, int],
) -> tuple[list[str], NDArray[np.int64]]:
    """Ids and rows with the components of each heterogeneous job added to the first of them that ran."""
    parts: dict[str, list[int]] = {}
    for row in rows.tolist():
        if "+" in ids[row]:
            parts.setdefault(ids[row].partition("+")[0], []).append(row)
    if not parts:
        return ids, rows
    ids, start = list(ids), moments(file, "Start", 1.0)[0] if "Start" in file.columns else made["submit"]
    never, _ = _unfinished(file)
    gone: list[int] = []
    for job, components in parts.items():
        ran = [row for row in components if not never[row]] or components
        first = ran[0]
        ids[first] = job
        made["size"][first] = sum(made["size"][row] for row in ran)
        made["runtime"][first] = max(start[row] + made["runtime"][row] for row in ran) - min(start[row] for row in ran)
        limits = [made["estimate"][row] for row in ran]
        made["estimate"][first] = max(limits) if min(limits) >= 0 else -1.0
        gone += [row for row in components if row != first]
    dropped["component of a heterogeneous job"] = len(gone)
    return ids, np.setdiff1d(rows, gone)
