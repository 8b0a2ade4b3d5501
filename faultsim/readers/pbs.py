"""Reads the accounting files of PBS Professional, OpenPBS and Torque: see `read_pbs`."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from typing import Literal

from faultsim import checks, vocabulary
from faultsim.data.workload import Workload
from faultsim.entries import entry
from faultsim.readers.accounting import JobRecord, LostRun, records_log, runs_joined
from faultsim.readers.dropped_records import DroppedRecords
from faultsim.readers.input_lines import Lines, stem
from faultsim.readers.timestamps import Moment

_SUFFIXES = (".gz", ".xz", ".bz2", ".txt", ".log", ".acct")
_LINE = re.compile(r"(\d\d)/(\d\d)/(\d{4}) (\d\d:\d\d:\d\d);([A-Za-z]{1,2});([^;]*);?(.*)", re.DOTALL)
_KEY = re.compile(r"(?:^|\s)([A-Za-z_][\w.]*)=")
_SIZES = ("nodes", "cpus", "gpus")
_COLUMNS = ("partition", "account", "qos", "reservation", "exit_status", "nodes", "cores", "memory", "gpus")
_MIB = 1024.0**2
#: Record types of jobs: end, rerun, start, delete, abort, queue, move, restart, checkpoint; others are of reservations.
_TYPES = frozenset("ERSDAQMTC")
_MOMENTS = ("ctime", "qtime", "start", "end")
#: More processors are no count, but a mistake.
_MOST = 2.0**31


@entry
def read_pbs(
    path: str | os.PathLike[str],
    *,
    size: Literal["nodes", "cpus", "gpus"] = "nodes",
    columns: Sequence[str] | None = None,
    begin: Moment | None = None,
    end: Moment | None = None,
    name: str | None = None,
    strict: bool = False,
) -> Workload:
    """Read the accounting of PBS Professional, OpenPBS or Torque, ``server_priv/accounting/YYYYMMDD``.

    Parameters
    ----------
    path : path
        Lines ``MM/DD/YYYY HH:MM:SS;TYPE;ID;key=value key=value ...``; files of several days may be appended.  Plain,
        gzip, xz or bzip2; "-" is standard input.
    size : {"nodes", "cpus", "gpus"}
        Whether a job is as large as its nodes (``Resource_List.nodect``, else its hosts in ``exec_host``, else
        ``Resource_List.select`` or ``.nodes``), as its processors (``Resource_List.ncpus``, ``exec_host``, ...) or as
        its GPUs (``Resource_List.ngpus``, ...).
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
        A job for each E record: submitted at ``ctime`` (else ``qtime``), with the run time from ``start`` to ``end``
        and the limit ``Resource_List.walltime``.  Runs that ended in a rerun (R records) are in `Workload.lost_runs`.
        Sorted by submit time, from midnight (UTC) before the first or from `begin`.  Ids are without the server's name.

        Further columns, where the file has them: ``partition`` (the queue), ``account`` (else the project), ``qos``,
        ``reservation``, ``exit_status``, ``nodes``, ``cores``, ``memory`` (MiB of the whole job), ``gpus`` and
        ``user_name``.

        `Workload.dropped` counts records that are left out: ``"record of no job's end"`` (queued, started, deleted),
        ``"job array"`` (whose tasks are jobs), ``"earlier run of a requeued job"``, ``"repeated record"``, jobs that
        are ``"never started"`` or ``"still running"``, and unreadable records.

    Raises
    ------
    InputError
        No such file; no job; with `strict`, a record that cannot be read (file, line and text are named).

    Notes
    -----
    Formats: Altair PBS Professional Administrator's Guide, "Accounting"; Adaptive Computing Torque Administrator Guide,
    "Accounting records".

    Examples
    --------
    >>> import faultsim as fs
    >>> with open("20240701", "w") as file:
    ...     _ = file.write(
    ...         "07/01/2024 10:10:00;E;1.srv;user=ann queue=batch ctime=1719820800 start=1719820803 end=1719821400 "
    ...         "Resource_List.nodect=2 Resource_List.walltime=01:00:00\\n"
    ...     )
    >>> log = fs.read_pbs("20240701")
    >>> log.size, log.runtime, log.estimate, log.columns["partition"]
    (array([2], dtype=int32), array([597.]), array([3600.]), array(['batch'], dtype='<U5'))
    """
    checks.choice("size", size, _SIZES)
    lines = Lines(path, ends=True)
    dropped = DroppedRecords(lines.name, strict=strict)
    content = b"".join(lines)
    jobs: list[JobRecord] = []
    begun: dict[str, tuple[float, str]] = {}
    queued: set[str] = set()
    reruns: dict[str, list[LostRun]] = {}
    total, offset = 0, 0.0
    for number, line in enumerate(content.decode("utf-8-sig", "replace").split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        total += 1
        found = _LINE.fullmatch(line.strip("\r"))
        stamp = None if found is None else vocabulary.moment(f"{found[3]}-{found[1]}-{found[2]}T{found[4]}")
        if found is None or stamp is None:
            dropped.unreadable("record", f"line {number}", "expected 'MM/DD/YYYY HH:MM:SS;TYPE;ID;key=value ...'", line)
            continue
        kind, full = found[5], found[6].strip()
        job, facts = full.partition(".")[0], _facts(found[7])
        if kind not in _TYPES or not job:
            dropped.left_out("record of no job's end")
            continue
        if kind == "E":
            if job.endswith("[]"):
                dropped.left_out("job array")
                continue
            if wrong := [key for key in _MOMENTS if facts.get(key) and not _is_whole(facts[key])]:
                problem = f"{wrong[0]}={facts[wrong[0]]:.40} is no number of seconds since 1970"
                dropped.unreadable("record", f"line {number}", problem)
                continue
            record = _job(job, facts, size, stamp[0] - offset)
            # The stamp is on the server's clock, the moments are seconds since 1970: zones differ by quarters of hours.
            if record.end == record.end and "end" in facts:
                offset = 900.0 * round((stamp[0] - record.end) / 900.0)
            record.lost = reruns.pop(job, [])
            begun.pop(job, None)
            queued.discard(job)
            jobs.append(record)
            continue
        dropped.left_out("record of no job's end")
        if kind == "Q":
            queued.add(job)
        elif kind == "S":
            queued.discard(job)
            begun[job] = (_seconds(facts, "start"), _first_host(facts))
        elif kind == "R":
            start, host = begun.pop(job, (math.nan, ""))
            if "start" in facts or start == start:
                ended = _seconds(facts, "end")
                ended = ended if ended == ended else stamp[0] - offset
                reruns.setdefault(job, []).append(LostRun(ended, _first_host(facts) or host, "rerun"))
    dropped.finish(total, expected="lines 'MM/DD/YYYY HH:MM:SS;TYPE;ID;key=value ...' of PBS or Torque")
    jobs = runs_joined(jobs, lambda before, after: after.start >= before.end, dropped)
    dropped.left_out("never started", len(queued))
    dropped.left_out("still running", len(begun))
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


def _facts(text: str) -> dict[str, str]:
    """Keys and values; a value ends where a space and the next key follow."""
    found = list(_KEY.finditer(text))
    ends = [hit.start() for hit in found[1:]] + [len(text)] * bool(found)
    return {hit[1]: text[hit.end() : stop].strip() for hit, stop in zip(found, ends, strict=True)}


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 16


def _seconds(facts: dict[str, str], *keys: str) -> float:
    return next((float(facts[key]) for key in keys if _is_whole(facts.get(key, ""))), math.nan)


def _job(job: str, facts: dict[str, str], size: str, stamp: float) -> JobRecord:
    start, ended = _seconds(facts, "start"), _seconds(facts, "end")
    if ended != ended:
        used = _span(facts.get("resources_used.walltime", ""))
        ended = start + used if used == used else stamp
    hosts = _hosts(facts.get("exec_host", ""))
    asked = _chunks(facts.get("Resource_List.select") or facts.get("Resource_List.nodes") or "")
    nodes = _first(
        _count(facts, "Resource_List.nodect"), _count(facts, "unique_node_count"), float(len(hosts)), asked[0]
    )
    cores = _first(
        _count(facts, "Resource_List.ncpus"), _count(facts, "total_execution_slots"), sum(hosts.values()), asked[1]
    )
    gpus = _first(_count(facts, "Resource_List.ngpus"), _count(facts, "Resource_List.gpus"), asked[2])
    account = facts.get("account") or facts.get("project") or ""
    further: dict[str, str | float] = {
        "partition": facts.get("queue", ""),
        "account": account.strip('"'),
        "qos": facts.get("Resource_List.qos", ""),
        "reservation": facts.get("resvname") or facts.get("resvID") or "",
        "exit_status": facts.get("Exit_status", ""),
        "nodes": nodes,
        "cores": cores,
        "memory": _memory(facts.get("Resource_List.mem", "")),
        "gpus": 0.0 if gpus != gpus else gpus,
    }
    return JobRecord(
        id=job,
        user=facts.get("user", ""),
        submit=_seconds(facts, "ctime", "qtime", "etime"),
        start=start,
        end=ended,
        limit=_span(facts.get("Resource_List.walltime", "")),
        size={"nodes": nodes, "cpus": cores, "gpus": gpus}[size],
        further=further,
        host=next(iter(hosts), ""),
    )


def _first(*values: float) -> float:
    """The first number that is 1 or more."""
    return next((value for value in values if 1 <= value <= _MOST), math.nan)


def _span(text: str) -> float:
    if _is_whole(text):
        return float(text)
    found = vocabulary.duration(text, short=True)
    return math.nan if found is None or not 0 <= found < math.inf else found


def _count(facts: dict[str, str], key: str) -> float:
    return float(facts[key]) if _is_whole(facts.get(key, "")) else math.nan


def _memory(text: str) -> float:
    """MiB of ``4gb``, ``1024kb`` or a number of bytes."""
    found = vocabulary.size(text, binary=True)
    return math.nan if found is None else found / _MIB


def _first_host(facts: dict[str, str]) -> str:
    return next(iter(_hosts(facts.get("exec_host", ""))), "")


def _hosts(text: str) -> dict[str, float]:
    """Processors by host of ``n1/0*8+n2/0*8`` (PBS), ``n1/0+n1/1`` or ``n1/0-7,12`` (Torque).

    Examples
    --------
    >>> _hosts("n1/0*8+n2/0*8"), _hosts("n1/0+n1/1"), _hosts("n1/0-7,12")
    ({'n1': 8.0, 'n2': 8.0}, {'n1': 2.0}, {'n1': 9.0})
    """
    found: dict[str, float] = {}
    for part in text.split("+") if text else ():
        host, _, cores = part.strip().partition("/")
        if host:
            found[host] = found.get(host, 0.0) + _cores(cores)
    return found


def _cores(text: str) -> float:
    _, times, count = text.partition("*")
    if times:
        return float(count) if _is_whole(count) else 1.0
    total = 0.0
    for part in text.split(","):
        first, dash, last = part.partition("-")
        whole = dash and _is_whole(first) and _is_whole(last)
        total += max(float(last) - float(first) + 1.0, 1.0) if whole else 1.0
    return total


def _chunks(text: str) -> tuple[float, float, float]:
    """Nodes, processors and GPUs of ``2:ncpus=8:ngpus=1+1:ncpus=4`` (PBS) or ``2:ppn=8:gpus=1`` (Torque).

    Examples
    --------
    >>> _chunks("2:ncpus=8:ngpus=1+1:ncpus=4"), _chunks("2:ppn=6"), _chunks("n1+n2")
    ((3.0, 20.0, 2.0), (2.0, 12.0, 0.0), (2.0, 2.0, 0.0))
    """
    nodes = cores = gpus = 0.0
    for chunk in text.split("+") if text else ():
        first, *rest = chunk.strip().split(":")
        times = float(first) if _is_whole(first) else 1.0
        facts = dict(word.partition("=")[::2] for word in rest)
        per = _first(_count(facts, "ncpus"), _count(facts, "ppn"), 1.0)
        each = _first(_count(facts, "ngpus"), _count(facts, "gpus"))
        nodes, cores, gpus = nodes + times, cores + times * per, gpus + (times * each if each == each else 0.0)
    return nodes, cores, gpus
