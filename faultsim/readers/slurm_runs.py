"""Which records of Slurm's accounting are runs of one job: requeued, resized, recycled and repeated ids."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from faultsim.readers.slurm_values import LOST, UNFINISHED

#: Seconds after the end of a lost run within which its job is submitted again.  Slurm requeues a job in the second in
#: which its run ends; ids are used again after at least days.
_SOON = 86_400.0


@dataclass(slots=True)
class Runs:
    """The runs of a job.

    Parameters
    ----------
    last : int
        The record of the run that counts.
    submit : int
        The record with the first submit.
    lost : list of int
        Records of runs that ended in NODE_FAIL, BOOT_FAIL, PREEMPTED or REQUEUED, before the last.
    resized : int or None
        The record of the part before, if this is a part of a job that was resized while it ran.
    """

    last: int
    submit: int
    lost: list[int] = field(default_factory=list)
    resized: int | None = None


def runs_of_jobs(
    rows: Sequence[int],
    keys: Sequence[tuple[str, str]],
    states: Sequence[str],
    submit: Sequence[float],
    start: Sequence[float],
    end: Sequence[float],
) -> tuple[list[Runs], int]:
    """The jobs among records, the parts of each in the order of time; and how many records repeat another.

    Records of the same id and user are one job if the earlier run was lost (`LOST`) and the next was submitted within a
    day of its end; if the earlier one is RESIZING, the next is the job's next part; else they are different jobs, whose
    ids were recycled.  Of records of one run (exports that overlap, a job that was first exported while it ran) the one
    that has ended counts.

    Parameters
    ----------
    rows : sequence of int
        The records to look at.
    keys : sequence of (str, str)
        Id and user of each record.
    states : sequence of str
        As `state_of` returns them.
    submit, start, end : sequence of float
        In seconds; NaN where missing.

    Examples
    --------
    >>> runs, repeated = runs_of_jobs(
    ...     range(3), [("7", "ann")] * 3, ["NODE_FAIL", "COMPLETED", "COMPLETED"],
    ...     [0, 60, 9e7], [5, 70, 9e7], [60, 80, 9e7],
    ... )
    >>> [(job.last, job.submit, job.lost) for job in runs], repeated
    ([(1, 0, [0]), (2, 2, [])], 0)
    """
    known: dict[tuple[str, str], int | list[int]] = {}
    for row in rows:
        key = keys[row]
        before = known.setdefault(key, row)
        if isinstance(before, list):
            before.append(row)
        elif before != row:
            known[key] = [before, row]
    jobs: list[Runs] = []
    repeated = 0
    for found in known.values():
        if isinstance(found, int):
            jobs.append(Runs(found, found))
            continue
        found.sort(key=lambda row: (_late(submit[row]), _late(start[row]), _late(end[row]), row))
        single: list[int] = []
        for row in found:
            if single and _same_run(single[-1], row, states, submit, start):
                repeated += 1
                if states[single[-1]] in UNFINISHED:
                    single[-1] = row
            else:
                single.append(row)
        job = Runs(single[0], single[0])
        for row in single[1:]:
            last = job.last
            gap = submit[row] - end[last]
            if states[last] in LOST and not gap > _SOON:
                job.lost.append(last)
                job.last = row
            else:
                jobs.append(job)
                job = Runs(row, row, resized=last if states[last] == "RESIZING" else None)
        jobs.append(job)
    return jobs, repeated


def _late(value: float) -> float:
    """A moment by which to sort: one that is missing comes last."""
    return value if value == value else math.inf


def _same_run(one: int, other: int, states: Sequence[str], submit: Sequence[float], start: Sequence[float]) -> bool:
    """Whether two records, the first with the earlier or equal submit and start, are of one run."""
    if submit[one] != submit[other]:
        return False
    if start[one] == start[other] or (start[one] != start[one] and start[other] != start[other]):
        return states[one] == states[other] or bool({states[one], states[other]} & UNFINISHED)
    # One of them without a start: the run had not begun when it was exported.
    return states[one] not in LOST and states[other] in UNFINISHED and start[other] != start[other]
