"""Reads ``lsb.acct``, the accounting file of LSF: see `read_lsf`."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Sequence
from typing import Literal

from faultsim import checks
from faultsim.data.workload import Workload
from faultsim.entries import entry
from faultsim.readers.accounting import JobRecord, records_log, runs_joined
from faultsim.readers.dropped_records import DroppedRecords
from faultsim.readers.input_lines import Lines, stem
from faultsim.readers.timestamps import Moment

_SUFFIXES = (".gz", ".xz", ".bz2", ".txt", ".acct")
#: A text in quotes, in which a quote is doubled, or a number.
_FIELD = re.compile(r'"((?:[^"]|"")*+)"|([^\s"]+)')
_EVENT = re.compile(r'"[A-Z][A-Z_]+" ')
_SIZES = ("cpus", "nodes")
_COLUMNS = ("partition", "account", "features", "exit_status", "nodes", "cores")
#: Positions in a JOB_FINISH record: from the type of the event to the queue, and the number of hosts asked for.
_TIME, _JOB, _SLOTS, _SUBMIT, _START, _USER, _QUEUE, _REQUIREMENT, _ASKED = 2, 3, 6, 7, 10, 11, 12, 13, 22
_LEAST = 13
#: Fields of resource usage, and those between the number of hosts used and it: status, factor, name, command.
_USAGE, _BEFORE_USAGE = 19, 4
#: Most lines of a record: its texts may contain line breaks.
_MOST_LINES = 200


@entry
def read_lsf(
    path: str | os.PathLike[str],
    *,
    size: Literal["cpus", "nodes"] = "cpus",
    columns: Sequence[str] | None = None,
    begin: Moment | None = None,
    end: Moment | None = None,
    name: str | None = None,
    strict: bool = False,
) -> Workload:
    """Read the accounting of IBM Spectrum LSF (or Platform LSF), ``logdir/lsb.acct``.

    Parameters
    ----------
    path : path
        Records of fields between blanks, texts in double quotes, lsb.acct(5).  Plain, gzip, xz or bzip2; "-" is
        standard input.
    size : {"cpus", "nodes"}
        Whether a job is as large as its slots (those used, else those requested) or as its hosts.
    columns : sequence of str, optional
        Further columns to keep; by default all those below.
    begin, end : str, datetime.date, datetime.datetime or float, optional
        Only jobs submitted from `begin`, which becomes 0 s, to before `end`: dates (``"2024-01-31"``, UTC), or seconds
        since 1970.
    name : str, optional
        Name of the log; that of the file, without its suffixes, by default.
    strict : bool
        Whether an unreadable record is an error; by default such records are left out and counted in `dropped`.

    Returns
    -------
    Workload
        A job for each JOB_FINISH record: the run time is that from its dispatch to its end, the limit is ``runLimit``
        of LSF 9 and newer.  Ids of array elements are ``12[3]``.  Of several records of one job, with the same submit
        time, the last counts, and the others are in `Workload.lost_runs`.  Sorted by submit time, from midnight (UTC)
        before the first or from `begin`.

        Further columns, where the file has them: ``partition`` (the queue), ``account`` (the project), ``features``
        (the resource requirement), ``exit_status``, ``nodes`` or ``cores``, and ``user_name``.

        `Workload.dropped` counts records that are left out: ``"record of no job's end"``, ``"never started"``,
        ``"earlier run of a requeued job"``, ``"repeated record"`` and unreadable records.

    Raises
    ------
    InputError
        No such file; no job; with `strict`, a record that cannot be read (file, line and text are named).

    Notes
    -----
    Format: IBM Spectrum LSF Configuration Reference, "lsb.acct".

    Examples
    --------
    >>> import faultsim as fs
    >>> with open("lsb.acct", "w") as file:
    ...     _ = file.write(
    ...         '"JOB_FINISH" "10.1" 1719821400 7 1000 0 16 1719820800 0 0 1719820803 "ann" "normal" "" "" "" "login" '
    ...         '"/home" "" "" "" "" 0 2 "n1" "n2" 64 60.0 "" "sleep 597"\\n'
    ...     )
    >>> log = fs.read_lsf("lsb.acct", size="nodes")
    >>> log.size, log.runtime, log.columns["partition"]
    (array([2], dtype=int32), array([597.]), array(['normal'], dtype='<U6'))
    """
    checks.choice("size", size, _SIZES)
    lines = Lines(path, ends=True)
    dropped = DroppedRecords(lines.name, strict=strict)
    content = b"".join(lines)
    jobs: list[JobRecord] = []
    total = 0
    for number, text in _records(content.decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n")):
        total += 1
        fields = [(hit[1].replace('""', '"'), True) if hit[2] is None else (hit[2], False)
                  for hit in _FIELD.finditer(text)]  # fmt: skip
        if not fields or not fields[0][1]:
            problem = 'expected a record such as "JOB_FINISH" "10.1" ...'
            dropped.unreadable("record", f"line {number}", problem, text)
        elif fields[0][0] != "JOB_FINISH":
            dropped.left_out("record of no job's end")
        elif len(fields) < _LEAST:
            problem = f"{len(fields)} fields, expected at least {_LEAST}"
            dropped.unreadable("record", f"line {number}", problem, text)
        elif not all(_is_number(fields[at][0]) for at in (_TIME, _JOB, _SLOTS, _SUBMIT, _START)):
            problem = "event time, job, slots, submit and start time are whole numbers"
            dropped.unreadable("record", f"line {number}", problem, text)
        elif float(fields[_START][0]) == 0:
            dropped.left_out("never started")
        else:
            jobs.append(_job(fields, size))
    dropped.finish(total, expected='records "JOB_FINISH" "version" time job ... of lsb.acct of LSF')
    jobs = runs_joined(jobs, lambda before, after: after.start >= before.end, dropped)
    return records_log(
        lines.name,
        jobs,
        columns,
        [key for key in _COLUMNS if key != {"cpus": "cores"}.get(size, size)] if columns is None else _COLUMNS,
        len(content),
        begin=begin,
        end=end,
        name=stem(path, _SUFFIXES) if name is None else name,
        dropped=dropped,
    )


def _records(lines: list[str]) -> Iterator[tuple[int, str]]:
    """First line and text of each record; texts in quotes may go on in the next line.

    Invariant: `begun` are the lines of a record whose quotes are open, `quotes` of them.
    """
    begun: list[str] = []
    quotes, place = 0, 0
    for number, line in enumerate(lines, 1):
        if begun and (_EVENT.match(line) or len(begun) == _MOST_LINES):
            yield place, "\n".join(begun)
            begun, quotes = [], 0
        if not begun:
            if not line.strip() or line.startswith("#"):
                continue
            place = number
        begun.append(line)
        quotes += line.count('"')
        if quotes % 2 == 0:
            yield place, "\n".join(begun)
            begun, quotes = [], 0
    if begun:
        yield place, "\n".join(begun)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 16


def _job(fields: list[tuple[str, bool]], size: str) -> JobRecord:
    hosts, rest = _hosts(fields)
    slots = sum(hosts.values()) or float(fields[_SLOTS][0])
    nodes = float(len(hosts)) if hosts else math.nan
    usage = rest + _BEFORE_USAGE + _USAGE if rest else len(fields)
    # After the usage: mail user, project, exit status, most processors, shell, time event, index of an array.
    index = _value(fields, usage + 6)
    further: dict[str, str | float] = {
        "partition": fields[_QUEUE][0],
        "account": _text(fields, usage + 1),
        "features": _text(fields, _REQUIREMENT),
        "exit_status": _value(fields, usage + 2),
        "nodes": nodes,
        "cores": slots,
    }
    job = fields[_JOB][0]
    return JobRecord(
        id=f"{job}[{index:.0f}]" if index > 0 else job,
        user=fields[_USER][0],
        submit=float(fields[_SUBMIT][0]),
        start=float(fields[_START][0]),
        end=float(fields[_TIME][0]),
        limit=_limit(fields, usage + 6),
        size=nodes if size == "nodes" else slots,
        further=further,
        host=next(iter(hosts), ""),
    )


def _value(fields: list[tuple[str, bool]], at: int) -> float:
    """The number at a position, NaN if there is none."""
    if at >= len(fields) or fields[at][1]:
        return math.nan
    text = fields[at][0].removeprefix("-")
    return float(fields[at][0]) if _is_number(text) else math.nan


def _text(fields: list[tuple[str, bool]], at: int) -> str:
    return fields[at][0] if at < len(fields) and fields[at][1] else ""


def _hosts(fields: list[tuple[str, bool]]) -> tuple[dict[str, float], int]:
    """Slots by host, and the position of the job's status; nothing and 0 of a record that is cut or otherwise made.

    A host is there once per slot, or once as ``16*n1`` in the short form.
    """
    asked = _value(fields, _ASKED)
    used = _value(fields, _ASKED + 1 + int(asked)) if 0 <= asked < len(fields) else math.nan
    if not 0 <= used < len(fields):
        return {}, 0
    first = _ASKED + 2 + int(asked)
    listed = fields[first : first + int(used)]
    if len(listed) < used or not all(quoted for _, quoted in listed):
        return {}, 0
    found: dict[str, float] = {}
    for text, _ in listed:
        times, star, host = text.partition("*")
        if star and _is_number(times):
            found[host] = found.get(host, 0.0) + float(times)
        else:
            found[text] = found.get(text, 0.0) + 1.0
    return found, first + int(used)


def _limit(fields: list[tuple[str, bool]], index: int) -> float:
    """The run limit in seconds, which is behind lists of varying length; NaN if it is not there.

    The array index and 21 fields, up to the last resize time; then one or two texts (an advance reservation of a long
    name, the description), pairs of texts and their number, usage by host and its number, and options.
    """
    at = index + 22
    texts = 0
    while at < len(fields) and fields[at][1] and texts < 2:
        at, texts = at + 1, texts + 1
    for each in (2, 5):  # pairs, then usage by host
        count = _value(fields, at)
        if not texts or not 0 <= count < len(fields):
            return math.nan
        at += 1 + each * int(count)
    limit = _value(fields, at + 1)
    return limit if limit > 0 else math.nan
