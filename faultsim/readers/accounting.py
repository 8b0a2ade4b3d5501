"""From the records of a batch system's accounting to a `Workload`, its lost runs included: see `accounting_log`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from faultsim import checks
from faultsim.arrays import Values
from faultsim.data.failures import FailureTrace
from faultsim.data.limits import check_unpacked
from faultsim.data.workload import Workload
from faultsim.errors import InputError
from faultsim.readers.dropped_records import DroppedRecords
from faultsim.readers.job_rows import missing, workload
from faultsim.readers.named_values import typed
from faultsim.readers.slurm_values import natural
from faultsim.readers.timestamps import Moment

#: Up to which all whole numbers are floats.
_MOST_WHOLE = 2.0**53


#: What becomes of jobs that were cancelled while they waited.
Cancelled: TypeAlias = Literal["drop", "keep"]
CANCELLED: tuple[Cancelled, ...] = ("drop", "keep")


class LostRun(NamedTuple):
    """A run of a job that ended before the job was done, and was followed by another.

    Parameters
    ----------
    time : float
        Its end, on the clock of the records.
    node : str
        The first of its nodes, "" if unknown.
    reason : str
        Why it ended.
    """

    time: float
    node: str
    reason: str


def accounting_log(
    where: str,
    columns: Mapping[str, Values],
    further: Mapping[str, Values],
    *,
    begin: Moment | None,
    end: Moment | None,
    name: str,
    dropped: Mapping[str, int],
    reasons: Mapping[str, NDArray[np.bool_]] | None = None,
    lost: Sequence[LostRun] = (),
    notes: Sequence[str] = (),
) -> Workload:
    """A log of jobs in any order, whose moments are seconds since 1970: `workload`, with lost runs and notes.

    Parameters
    ----------
    where, columns, further, begin, end, name, dropped, reasons
        As in `faultsim.readers.job_rows.workload`.
    lost : sequence of LostRun
        The runs that `Workload.lost_runs` has, in any order.
    notes : sequence of str
        Sentences for the header.
    """
    log = workload(
        where,
        columns,
        further,
        dates=True,
        begin=begin,
        end=end,
        name=name,
        reasons=reasons or {},
        dropped=dropped,
        comments=[f"; Note: {note}" for note in notes],
    )
    zero = float(log.header["UnixStartTime"])
    until = float(np.max(log.submit + log.runtime))
    inside = sorted((round(run.time - zero, 6), run.node, run.reason) for run in lost if zero <= run.time == run.time)
    if begin is not None or end is not None:
        inside = [run for run in inside if run[0] <= until]
    if not inside:
        return log
    times = [time for time, _, _ in inside]
    names = tuple(sorted({node for _, node, _ in inside if node}, key=natural))
    number = {node: at for at, node in enumerate(names)}
    trace = FailureTrace(
        times,
        [number.get(node, len(names) + at) for at, (_, node, _) in enumerate(inside)],
        0.0,
        span=max(until, times[-1]),
        name=f"lost runs of {log.name}",
    )
    return log._with_lost_runs(trace._with_names(names, [reason for _, _, reason in inside]))


@dataclass
class JobRecord:
    """A job of an accounting file; numbers are NaN where missing.

    Parameters
    ----------
    id, user : str
        As the file has them.
    submit, start, end : float
        In seconds since 1970.
    limit : float
        In seconds.
    size : float
        In what the reader counts.
    further : dict of str to str or float
        Values of further columns.
    host : str
        The first of its nodes, "" if unknown.
    lost : list of LostRun
        Its earlier runs.
    """

    id: str
    user: str
    submit: float
    start: float
    end: float
    limit: float
    size: float
    further: dict[str, str | float]
    host: str = ""
    lost: list[LostRun] = field(default_factory=list)


def records_log(
    where: str,
    jobs: Sequence[JobRecord],
    columns: Sequence[str] | None,
    known: Sequence[str],
    content: int,
    *,
    begin: Moment | None,
    end: Moment | None,
    name: str,
    dropped: DroppedRecords,
    notes: Sequence[str] = (),
) -> Workload:
    """A log of jobs that have ended.

    Parameters
    ----------
    where : str
        The file, for messages.
    jobs : sequence of JobRecord
        In any order.
    columns : sequence of str or None
        Further columns to keep; by default those of `known` that any job has.
    known : sequence of str
        Further columns of the format.
    content : int
        Bytes of the file, unpacked.
    begin, end, name, notes
        As in `accounting_log`.
    dropped : DroppedRecords
        What was left out.

    Raises
    ------
    InputError
        If no job is left, or a column is unknown.
    """
    columns = None if columns is None else checks.names("columns", columns)
    for key in columns or ():
        if key not in known:
            raise InputError(f"{where}: no column {key!r}{checks.did_you_mean(key, known)}; it has {', '.join(known)}")
    further: dict[str, Values] = {}
    for key in known if columns is None else columns:
        values = [job.further.get(key, "") for job in jobs]
        if columns is not None or any(value not in ("", 0) and value == value for value in values):
            further[key] = _column(where, key, values, content)
    user, named = user_numbers([job.user for job in jobs])
    if named and columns is None:
        further["user_name"] = _column(where, "user_name", [job.user for job in jobs], content)
    numbers = {
        key: np.array([getattr(job, key) for job in jobs], dtype=np.float64)
        for key in ("submit", "start", "end", "limit", "size")
    }
    made: dict[str, Values] = {
        "id": _column(where, "id", [job.id for job in jobs], content),
        "submit": numbers["submit"],
        "runtime": numbers["end"] - numbers["start"],
        "estimate": missing(numbers["limit"]),
        "size": numbers["size"],
        "user": user,
        "recorded_wait": missing(np.round(numbers["start"] - numbers["submit"], 6)),
    }
    return accounting_log(
        where,
        made,
        further,
        begin=begin,
        end=end,
        name=name,
        dropped=dropped.counts,
        lost=[run for job in jobs for run in job.lost],
        notes=notes,
    )


def _column(where: str, key: str, values: Sequence[str | float], content: int) -> Values:
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) < len(values):
        numbers = np.array([value if isinstance(value, float) else math.nan for value in values])
        whole = (np.abs(numbers) <= _MOST_WHOLE) & (numbers == np.floor(numbers))
        return numbers.astype(np.int64) if bool(whole.all()) else numbers
    check_unpacked(f"{where}: column {key!r}", 4 * len(texts) * max(map(len, texts), default=0), content)
    return np.array(texts, dtype=np.str_) if key in ("id", "user_name") else typed(texts)


def runs_joined(
    jobs: Sequence[JobRecord], is_lost: Callable[[JobRecord, JobRecord], bool], dropped: DroppedRecords
) -> list[JobRecord]:
    """The jobs among records of runs, some of which have the same id, user and submit time.

    Parameters
    ----------
    jobs : sequence of JobRecord
        In the order of the file.
    is_lost : callable
        Whether a run was lost, so that the next, its second argument, is of the same job.
    dropped : DroppedRecords
        Counts what is left out: ``"earlier run of a requeued job"`` and ``"repeated record"``.
    """
    found: list[JobRecord] = []
    known: dict[tuple[str, str, float], JobRecord] = {}
    for job in jobs:
        key = (job.id, job.user, job.submit)
        before = known.get(key)
        if before is None:
            known[key] = job
            found.append(job)
        elif (before.start, before.end) == (job.start, job.end):
            dropped.left_out("repeated record")
        elif is_lost(before, job):
            dropped.left_out("earlier run of a requeued job")
            before.lost.append(LostRun(before.end, before.host, str(before.further.get("State", "")) or "REQUEUED"))
            for each in ("start", "end", "limit", "size", "further", "host"):
                setattr(before, each, getattr(job, each))
        else:
            known[key] = job
            found.append(job)
    return found


def user_numbers(texts: Sequence[str]) -> tuple[NDArray[np.int64], bool]:
    """Numbers of users in the order of the file, -1 where missing; and whether the texts are names, not numbers.

    Examples
    --------
    >>> user_numbers(["ann", "", "bob", "ann"])
    (array([ 0, -1,  1,  0]), True)
    >>> user_numbers(["1000", "", "12"])
    (array([1000,   -1,   12]), False)
    """
    if all(not text or (text.isascii() and text.isdigit() and len(text) < 18) for text in texts):
        return np.array([int(text) if text else -1 for text in texts], dtype=np.int64), False
    known: dict[str, int] = {}
    found = [known.setdefault(text, len(known)) if text else -1 for text in texts]
    return np.array(found, dtype=np.int64), True
