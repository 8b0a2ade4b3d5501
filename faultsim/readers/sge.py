"""Reads the accounting file of Grid Engine: see `read_sge`."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence

from faultsim import vocabulary
from faultsim.data.workload import Workload
from faultsim.entries import entry
from faultsim.readers.accounting import JobRecord, records_log, runs_joined
from faultsim.readers.dropped_records import DroppedRecords
from faultsim.readers.input_lines import Lines, stem
from faultsim.readers.timestamps import Moment

_SUFFIXES = (".gz", ".xz", ".bz2", ".txt", ".log", ".acct")
#: Positions of fields, accounting(5); records of fewer than 14 fields have no times.
_QUEUE, _HOST, _OWNER, _JOB, _ACCOUNT, _PRIORITY = 0, 1, 3, 5, 6, 7
_SUBMIT, _START, _END, _FAILED, _EXIT = 8, 9, 10, 11, 12
_PROJECT, _SLOTS, _TASK, _CATEGORY, _PE_TASK = 31, 34, 35, 39, 41
_LEAST, _WITH_SLOTS = 14, 35
_COLUMNS = ("partition", "account", "project", "priority", "exit_status", "memory", "gpus")
#: Codes of the field failed after which Grid Engine runs the job again: migrating and rescheduling; and the exit status
#: with which a job asks for it.
_AGAIN, _EXIT_AGAIN = (24.0, 25.0), 99.0
#: A number of seconds beyond the year 5138: it is in ms, as Univa Grid Engine 8.2 and newer write it.
_IN_MS = 1e11
_LIMIT = re.compile(r"\bh_rt=([\d:.]+)")
_MEMORY = re.compile(r"\b(?:h_vmem|mem_free|virtual_free|m_mem_free)=([\d.]+[KMGTkmgt]?)")
_GPUS = re.compile(r"\b(?:gpu|gpus|ngpus)=(\d{1,6})\b")
#: The field pe_taskid of a task of a parallel job; a category with times such as 10:00:00 moves other text there.
_TASK_ON_HOST = re.compile(r"\d+\.[A-Za-z]")
_MIB = 1024.0**2


@entry
def read_sge(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    begin: Moment | None = None,
    end: Moment | None = None,
    name: str | None = None,
    strict: bool = False,
) -> Workload:
    """Read the accounting file of Grid Engine (Sun, Son of, Open, Univa, Altair), ``$SGE_CELL/common/accounting``.

    Parameters
    ----------
    path : path
        Lines of fields between ``:``, accounting(5).  Plain, gzip, xz or bzip2; "-" is standard input.
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
        A job's size is its slots; the file has no number of nodes.  A record that ends before the field slots is of
        size 1, which ``Workload.header["Note"]`` says.  The run time is that from start to end, the limit is ``h_rt``
        of the field category.  Ids of array tasks are ``12_3``.  A run after which the job ran again (failed 24 or 25,
        exit status 99) is in `Workload.lost_runs`.  Sorted by submit time, from midnight (UTC) before the first or from
        `begin`.

        Further columns, where the file has them: ``partition`` (the queue), ``account``, ``project``, ``priority``,
        ``exit_status``, ``memory`` (MiB of the whole job, from ``h_vmem`` or ``mem_free`` per slot), ``gpus`` and
        ``user_name``.

        `Workload.dropped` counts records that are left out: ``"task of a parallel job"``, ``"never started"``,
        ``"earlier run of a requeued job"``, ``"repeated record"`` and unreadable records.

    Raises
    ------
    InputError
        No such file; no job; with `strict`, a record that cannot be read (file, line and text are named).

    Notes
    -----
    Format: accounting(5) of Grid Engine; Univa's has times in ms.

    Examples
    --------
    >>> import faultsim as fs
    >>> fields = ["all.q", "n1", "users", "ann", "job", "7", "sge", "0", "1719820800", "1719820803", "1719821400"]
    >>> fields += ["0"] * 23 + ["16", "0", "1", "1", "0", "-l h_rt=3600 -pe mpi 16", "0", "NONE", "0"]
    >>> with open("accounting", "w") as file:
    ...     _ = file.write(":".join(fields))
    >>> log = fs.read_sge("accounting")
    >>> log.size, log.runtime, log.estimate
    (array([16], dtype=int32), array([597.]), array([3600.]))
    """
    lines = Lines(path, ends=True)
    dropped = DroppedRecords(lines.name, strict=strict)
    content = b"".join(lines)
    jobs: list[JobRecord] = []
    total = without_slots = 0
    for number, line in enumerate(content.decode("utf-8-sig", "replace").split("\n"), 1):
        if len(line.strip()) < 2 or line.startswith("#"):
            continue
        total += 1
        fields = line.strip().split(":")
        if len(fields) < _LEAST:
            problem = f"{len(fields)} fields, expected at least {_LEAST}"
            dropped.unreadable("record", f"line {number}", problem, line)
            continue
        values = [_number(fields[at]) for at in (_JOB, _SUBMIT, _START, _END)]
        if any(value is None for value in values):
            problem = "job number, submission, start and end time are whole numbers"
            dropped.unreadable("record", f"line {number}", problem, line)
            continue
        if len(fields) > _PE_TASK and _TASK_ON_HOST.match(fields[_PE_TASK]):
            dropped.left_out("task of a parallel job")
            continue
        job = _job(fields)
        if not job.start > 0:
            dropped.left_out("never started")
            continue
        without_slots += len(fields) < _WITH_SLOTS
        jobs.append(job)
    dropped.finish(total, expected="lines of accounting(5) of Grid Engine, with fields between ':'")
    jobs = runs_joined(jobs, _is_lost, dropped)
    notes = [f"records without slots, taken for 1 slot: {without_slots}"] if without_slots else []
    return records_log(
        lines.name,
        jobs,
        columns,
        _COLUMNS,
        len(content),
        begin=begin,
        end=end,
        name=stem(path, _SUFFIXES) if name is None else name,
        dropped=dropped,
        notes=notes,
    )


def _is_lost(before: JobRecord, after: JobRecord) -> bool:
    """Whether the job ran again, because Grid Engine rescheduled it or its exit status asked for it."""
    return before.further["State"] != ""


def _number(text: str) -> float | None:
    return float(text) if text.isascii() and text.isdigit() and len(text) < 16 else None


def _seconds(text: str) -> float:
    value = _number(text) or 0.0
    return value / 1000.0 if value > _IN_MS else value


def _job(fields: list[str]) -> JobRecord:
    def at(position: int) -> str:
        return fields[position].strip() if position < len(fields) else ""

    def named(position: int) -> str:
        return "" if at(position).upper() == "NONE" else at(position)

    slots = max(_number(at(_SLOTS)) or 1.0, 1.0)
    category = ":".join(fields[_CATEGORY:])
    limit, memory, gpus = _LIMIT.search(category), _MEMORY.search(category), _GPUS.search(category)
    task = _number(at(_TASK)) or 0.0
    end = _seconds(at(_END))
    failed, status = _number(at(_FAILED).partition(" ")[0]), _number(at(_EXIT))
    further: dict[str, str | float] = {
        "partition": at(_QUEUE),
        "account": named(_ACCOUNT),
        "project": named(_PROJECT),
        "priority": at(_PRIORITY),
        "exit_status": at(_EXIT),
        "memory": slots * (vocabulary.size(memory[1], binary=True) or math.nan) / _MIB if memory else math.nan,
        "gpus": float(gpus[1]) if gpus else 0.0,
        "State": "rescheduled" if failed in _AGAIN else "exit status 99" if status == _EXIT_AGAIN else "",
    }
    return JobRecord(
        id=f"{at(_JOB)}_{task:.0f}" if task else at(_JOB),
        user=at(_OWNER),
        submit=_seconds(at(_SUBMIT)),
        start=_seconds(at(_START)),
        end=end if end > 0 else math.nan,
        limit=_span(limit[1]) if limit else math.nan,
        size=slots,
        further=further,
        host=at(_HOST),
    )


def _span(text: str) -> float:
    found = vocabulary.duration(text, short=True) if ":" in text else None
    if found is not None:
        return found
    try:
        return float(text)
    except ValueError:
        return math.nan
