"""Reads job logs from CSV and Parquet files whose columns the caller names: see `read_jobs`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from faultsim import checks, vocabulary
from faultsim.arrays import Values
from faultsim.data.columns import WORKLOAD, by_name
from faultsim.data.further import TAKEN
from faultsim.data.workload import Workload, reader_of_frames
from faultsim.entries import entry
from faultsim.errors import InputError, OptionError
from faultsim.readers.input_lines import stem
from faultsim.readers.job_rows import missing, workload
from faultsim.readers.named_columns import MOST_COMPARED, NamedColumns
from faultsim.readers.named_values import any_values, durations, ids, labels, moments, numbers
from faultsim.readers.timestamps import Moment
from faultsim.vocabulary import crosses_change, zone_of

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_SUFFIXES = (".gz", ".xz", ".bz2", ".csv", ".tsv", ".txt", ".parquet", ".pq")
_KEYS = (*by_name(WORKLOAD), "start", "finish")
_TIMES = ("submit", "runtime", "estimate", "start", "finish")
#: What reasons call the fields.
_FIELDS = {"submit": "submit time", "start": "start", "finish": "finish"}
_EXPECTED = "numbers, durations (10s, 02:03:04) and dates (2024-01-31T12:00)"
#: Columns that were left out and are named in a header line.
_LISTED = 5
#: Seconds of submit times from which on they are rather milliseconds since 1970: the year 5138, or March 1973.
_EPOCH_MS = 1e11
#: Seconds since 1970 that a date can say, about.
_CALENDAR = 2e11


@entry
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
    separator: str | None = None,
    decimal: Literal[".", ","] = ".",
    zone: str | None = None,
    strict: bool = False,
) -> Workload:
    """Read a job log from a CSV or Parquet file whose columns you name.

    Parameters
    ----------
    path : path
        A CSV whose first line names the columns (separated by comma, semicolon, tab, ``|`` or spaces; lines before it
        that begin with "#" are comments, of which the last may have the names), in UTF-8 or UTF-16, plain, gzip, xz or
        bzip2; or a Parquet file (needs pyarrow).  Told by content; "-" is standard input.
    submit, runtime, size : str, optional
        Names of these columns in the file, by default their own.  `runtime` may be missing if there are `start` and
        `finish`.
    estimate, id, user : str, optional
        The same; by default their own names, where the file has them. Users may have names, which are numbered in the
        order of the file and kept as the further column ``user_name``.
    start, finish : str, optional
        Columns of moments whose difference is the run time, without `runtime`.  By default their own names, where the
        file has them and no run time.  A start, or else a column ``wait``, is kept as `Workload.recorded_wait`.
    unit : {"s", "ms", "us", "ns", "min", "h", "d", "w"} or mapping of str to str
        Unit of times that are numbers, for all of them or for each by name: ``{"estimate": "min"}``.
    columns : sequence of str or mapping of str to str, optional
        Further columns to keep, or new names and the names in the file.  By default all others but those under
        names that jobs have already, such as ``wait``, and those that no log can have: without a name
        (``"Unnamed: 0"``, or ``""`` if there is one), of lists or bytes, or with "/" in the name.
        ``Workload.header["ColumnsLeftOut"]`` counts and names those; under a new name they are read, lists and bytes as
        text.
    begin, end : str, datetime.date, datetime.datetime or float, optional
        Only jobs submitted from `begin`, which becomes 0 s, to before `end`: dates (``"2024-01-31"``), or seconds on
        the clock of the file.
    name : str, optional
        Name of the log; that of the file, without its suffixes, by default.
    separator : str, optional
        One character between fields, if it is not the one that is most frequent in the line with the names.
    decimal : {".", ","}
        What separates decimals.
    zone : str, optional
        Time zone of dates without one, such as ``"Europe/Berlin"``.  Moments that its clock shows twice (the first is
        taken) or not at all are counted in ``Workload.header["DoubtfulMoments"]`` and logged, and so are runs from
        start to finish across a change of the clock.
    strict : bool
        Whether a record that cannot be read is an error; by default it is left out and counted.

    Returns
    -------
    Workload
        Sorted by submit time (equal times in the order of the file).  Moments are numbers, or dates and times such as
        ``2024-01-31T12:00:00``, with a time zone or on one clock without jumps; then 0 s is midnight before the first
        submit, unless `begin` says otherwise, and ``Workload.header["UnixStartTime"]`` says when that was. Durations
        are numbers, or text such as ``10s``, ``1h30m``, ``1-02:03:04`` or ``02:03:04``; a limit of ``UNLIMITED`` or
        ``inf`` is missing (-1).  Jobs without an id get new ones.  `Workload.dropped` counts what is left out:

        - ``"run time missing"``, ``"run time negative"``, ``"size missing"``, ``"submit time missing"``,
          ``"submit time negative"``: empty (or -1), negative, or a size of 0;
        - ``"unreadable record"``: more or fewer fields than names;
        - ``"unreadable size"`` and so on: no number, date or duration.

        The logger "faultsim" warns of unreadable records with the first three, and if most jobs run past their
        estimates.

    Raises
    ------
    InputError
        No such file; columns missing (all are named), misspelt or twice; no record that can be read; with ``strict``
        one that cannot (file, line and text are named); no job.
    OptionError
        An unknown unit, zone or separator; a unit of a time that is not read; `finish` without `start`, or beside
        `runtime`.
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
    checks.flag("strict", strict)
    if separator is not None and (not isinstance(separator, str) or len(separator) != 1 or separator in '"\n\r'):
        raise OptionError(f"separator: expected one character, got {checks.shown(separator)}")
    wanted = [said for said in given.values() if said is not None]
    file = NamedColumns(path, separator=separator or "", strict=strict, wanted=wanted)
    called = stem(path, _SUFFIXES) if name is None else name
    return jobs_of(
        file, given, unit=unit, columns=columns, begin=begin, end=end, name=called, decimal=decimal, zone=zone
    )


def jobs_of(
    file: NamedColumns,
    given: Mapping[str, str | None],
    *,
    unit: str | Mapping[str, str],
    columns: Sequence[str] | Mapping[str, str] | None,
    begin: Moment | None,
    end: Moment | None,
    name: str,
    decimal: str = ".",
    zone: str | None = None,
) -> Workload:
    """The log in columns of a file or a frame: what `read_jobs` and `faultsim.Workload.from_pandas` share.

    Parameters
    ----------
    file : NamedColumns
        The columns.
    given : mapping of str to str, optional
        Our names of columns and those of the file.
    unit, columns, begin, end, name, decimal, zone : object
        As of `read_jobs`.
    """
    _check_runtime(given)
    units, clock = _units(unit), None if zone is None else zone_of(zone)
    checks.choice("decimal", decimal, (".", ","))
    file.refuse_twice([*(said for said in given.values() if said), *_KEYS])
    used = _used(file, given, columns)
    file.refuse_twice(None if columns is None else [*used.values(), *_kept(file, used, columns).values()])
    made: dict[str, Values] = {}

    def moments_of(key: str) -> tuple[NDArray[np.float64], bool]:
        return moments(file, used[key], units[key], field=_FIELDS[key], zone=clock, decimal=decimal)

    made["submit"], dates = moments_of("submit")
    latest = float(np.nanmax(made["submit"], initial=0.0))
    if latest > checks.LATEST and not dates:
        end = f"is beyond {checks.LATEST} s (272 years), where the clock ends"
        raise InputError(f"{file.name}: column {used['submit']!r}: {latest:.6g} s {end}{_epoch(latest)}")
    notes: list[str] = []
    if "runtime" in used:
        made["runtime"] = durations(file, used["runtime"], units["runtime"], field="run time", decimal=decimal)
    else:
        (first, first_dates), (last, last_dates) = moments_of("start"), moments_of("finish")
        if first_dates != last_dates:
            raise InputError(f"{file.name}: of {used['start']!r} and {used['finish']!r} one has dates, one numbers")
        made["runtime"] = np.round(last - first, 6)
        if clock is not None and first_dates:
            notes += _changes(first, last, clock, zone or "")
    made["estimate"] = np.full(file.rows, -1.0)
    if "estimate" in used:
        estimates = durations(file, used["estimate"], units["estimate"], field="estimate", limit=True, decimal=decimal)
        made["estimate"] = missing(estimates)
    made["size"] = numbers(file, used["size"], whole=True, field="size", decimal=decimal)
    made["id"], new_ids = ids(file, used["id"]) if "id" in used else (np.arange(1, file.rows + 1), 0)
    made["user"], names = labels(file, used["user"]) if "user" in used else (np.full(file.rows, -1), None)
    kept = _kept(file, used, columns)
    further = {key: any_values(file, file.take(column)) for key, column in kept.items()}
    if names is not None:
        further["user_name"] = names
    waits = _recorded_waits(file, given, made["submit"], dates, units, zone=clock, decimal=decimal)
    if waits is not None:
        made["recorded_wait"] = waits
    if not isinstance(unit, str):
        read = used.keys() | ({"start"} if waits is not None else set())
        if unread := [key for key in unit if key not in read]:
            raise OptionError(
                f"unit: {file.name} is read without {unread[0]!r}, so that its unit has no effect: leave it out, or "
                f"name the column: {unread[0]}=..."
            )
    file.dropped.finish(file.total, expected=_EXPECTED)
    notes += [f"; DoubtfulMoments: {count} in column {column!r}" for column, count in file.doubtful.items()]
    notes += [f"; NewIds: {new_ids}"] if new_ids else []
    notes += _left_out(file, list(kept.values()))
    log = workload(
        file.name,
        made,
        further,
        dates=dates,
        begin=begin,
        end=end,
        name=name,
        reasons={},
        dropped=file.dropped,
        rejected=file.rejected,
        comments=notes,
    )
    _tell(file.name, log, file.doubtful, made["submit"], dates)
    return log


def _recorded_waits(
    file: NamedColumns,
    given: Mapping[str, str | None],
    submit: NDArray[np.float64],
    dates: bool,
    units: Mapping[str, float],
    *,
    zone: ZoneInfo | None,
    decimal: str,
) -> NDArray[np.float64] | None:
    """Waits by a column of starts, else by one of waits, -1 where missing; None without either.

    They are not needed, so that a value that cannot be read is missing, and its row stays.
    """
    for key in ("start", "wait"):
        name = given.get(key) or key
        if name not in file.columns:
            continue
        alone = NamedColumns.of_columns(file.name, [name], [file.columns[name]], {}, strict=False)
        try:
            if key == "wait":
                return missing(durations(alone, name, units["runtime"], decimal=decimal))
            start, start_dates = moments(alone, name, units["start"], zone=zone, decimal=decimal)
        except InputError:  # a column of another type
            continue
        if start_dates == dates:
            return missing(np.round(start - submit, 6))
    return None


def _changes(start: NDArray[np.float64], finish: NDArray[np.float64], zone: ZoneInfo, name: str) -> list[str]:
    """A header line that counts the runs across a change of the clock of a zone."""
    known = np.isfinite(start) & np.isfinite(finish) & (abs(start) < _CALENDAR) & (abs(finish) < _CALENDAR)
    pairs = zip(start[known].tolist(), finish[known].tolist(), strict=True)
    count = sum(crosses_change(begin, end, zone) for begin, end in pairs)
    return [f"; RunsAcrossClockChange: {count} in {name}"] if count else []


def _left_out(file: NamedColumns, kept: Sequence[str]) -> list[str]:
    """A header line that counts and names the columns that were left out."""
    out = file.count_left_out(kept)
    if not out:
        return []
    listed = ", ".join(f"{name!r} ({why})" for name, why in list(out.items())[:_LISTED])
    more = f" and {len(out) - _LISTED:,} more" if len(out) > _LISTED else ""
    return [f"; ColumnsLeftOut: {len(out)}: {listed}{more}"]


def _epoch(seconds: float) -> str:
    """The unit that moments of this size have if they are dates."""
    unit = "ms" if seconds < 1000 * _EPOCH_MS else "us" if seconds < 1e6 * _EPOCH_MS else "ns"
    return f": are they in {unit}? unit={{'submit': {unit!r}}}"


def _tell(where: str, log: Workload, doubtful: Mapping[str, int], submit: NDArray[np.float64], dates: bool) -> None:
    """Log what may be wrong with a log that could be read."""
    said: list[str] = []
    for column, count in doubtful.items():
        said.append(f"column {column!r} has {count:,} moments that the clock of the zone shows twice or not at all")
    if across := log.header.get("RunsAcrossClockChange"):
        said.append(f"runs across a change of the clock: {across}")
    if not dates and float(log.submit[0]) > _EPOCH_MS:
        said.append(f"submit times begin at {log.submit[0]:.15g} s{_epoch(float(log.submit[0]))}")
    if said:
        import logging

        for text in said:
            logging.getLogger("faultsim").warning("%s: %s", where, text)


def _of_frame(frame: object, given: Mapping[str, str | None], **options: Any) -> Workload:
    """The log in a frame, as `read_jobs` reads it from a CSV with the same columns."""
    from faultsim.readers.frames import columns_of_frame

    strict = checks.flag("strict", options.pop("strict"))
    return jobs_of(columns_of_frame(frame, strict=strict), given, **options)


reader_of_frames["jobs"] = _of_frame


def _units(unit: str | Mapping[str, str]) -> dict[str, float]:
    given = dict.fromkeys(_TIMES, unit) if isinstance(unit, str) else dict(unit)
    for key in given:
        if key not in _TIMES:
            raise OptionError(f"unit: {key!r} is no time{checks.did_you_mean(key, _TIMES)}; times: {', '.join(_TIMES)}")
    return {key: vocabulary.unit(given.get(key, "s")) for key in _TIMES}


def _check_runtime(given: Mapping[str, str | None]) -> None:
    """The run time is one column, or the difference of two."""
    finish, runtime = given.get("finish"), given.get("runtime")
    if runtime is not None and finish is not None:
        raise OptionError(
            f"read_jobs: the run time is the column {runtime!r} or finish - start: give runtime=, or start= and finish="
        )


def _used(
    file: NamedColumns, given: Mapping[str, str | None], columns: Sequence[str] | Mapping[str, str] | None
) -> dict[str, str]:
    """Our names of columns and those of the file; all that are missing are named at once."""
    there = file.columns
    kept = (
        ()
        if columns is None
        else columns.values()
        if isinstance(columns, Mapping)
        else checks.names("columns", columns)
    )
    used: dict[str, str] = {}
    absent: list[str] = []
    for key, said in given.items():
        if said is not None:
            if not isinstance(said, str):
                raise OptionError(f"{key}: expected the name of a column, got {checks.shown(said)}")
            if said not in there and not file.has(said):
                absent.append(f"{said!r}{file.suggested(said)}")
                continue
            used[key] = file.take(said)
        elif key in there:
            used[key] = key
    if absent:
        raise InputError(f"{file.name}: no column {', '.join(absent)}; it has {file.listed()}")
    if given.get("finish") is not None:
        used.pop("runtime", None)  # of its own name, which was not given
        if "start" not in used:
            raise OptionError(
                f"read_jobs: finish={given['finish']!r} needs start=, the column of the other moment: their difference "
                f"is the run time; {file.name} has {file.listed()}"
            )
    if "runtime" in used or not {"start", "finish"} <= used.keys():
        for key in ("start", "finish"):
            used.pop(key, None)
    from difflib import get_close_matches

    claimed = {*used.values(), *kept}
    candidates = [name for name in list(there)[:MOST_COMPARED] if name not in claimed]
    lacking: list[str] = []
    near: dict[str, str] = {}
    for key in by_name(WORKLOAD):
        if key in used or (key == "runtime" and "start" in used):
            continue
        needed = key in ("submit", "runtime", "size")
        if found := get_close_matches(key, candidates, n=1, cutoff=0.85):
            near[key] = found[0]
        if needed:
            lacking.append(key)
    if len(lacking) > 1 or (lacking and not near):
        names = " and ".join(map(repr, lacking)) if len(lacking) < 3 else ", ".join(map(repr, lacking))
        mend = ", ".join(f"{key}={near[key]!r}" if key in near else f"{key}=..." for key in lacking)
        which = "the one that is" if len(lacking) == 1 else "those that are"
        raise InputError(f"{file.name}: no column {names}; it has {file.listed()}; name {which}: {mend}")
    for key, name in near.items():
        raise InputError(f"{file.name}: column {name!r} is not known; if it is the {key}: {key}={name!r}")
    return used


def _kept(
    file: NamedColumns, used: Mapping[str, str], columns: Sequence[str] | Mapping[str, str] | None
) -> dict[str, str]:
    """New names of further columns and those in the file."""
    taken = set(used.values())
    if columns is None:
        return {name: name for name in file.columns if name not in taken and name not in TAKEN}
    if isinstance(columns, str):
        raise OptionError(f"columns: expected a list of names, got {columns!r}")
    kept = dict(columns) if isinstance(columns, Mapping) else {name: name for name in columns}
    file.refuse_twice(list(kept.values()))
    for name in kept.values():
        if not file.has(name):
            raise InputError(f"{file.name}: no column {name!r}{file.suggested(name)}; it has {file.listed()}")
    return kept
