"""Why the jobs of a run waited, in one line each, for those that waited longest."""

from typing import TYPE_CHECKING

import numpy as np

from faultsim.errors import FaultsimError
from faultsim.report.numbers import suited, three_digits

if TYPE_CHECKING:
    from faultsim.results.result import Result

#: Jobs that are explained by default.
MOST_REASONS = 40
#: Passes of the scheduler that are explained for a page: about a second on a cluster, and on machines with places,
#: where a pass takes some 50 times as long; and jobs that are simulated in the time of a pass. An explanation simulates
#: the run again and explains each pass of the wait. Passes are counted and not timed: the same run gives the same page.
_PASSES, _PASSES_PLACED, _JOBS_PER_PASS = 3000, 60, 50


def reasons_of(result: "Result", most: int | None = None) -> dict[int, str]:
    """Row of a job -> the causes of its wait with their durations, and the reason of the longest span.

    Empty if the run cannot be simulated again, as after decisions from outside.

    Parameters
    ----------
    most : int, optional
        Jobs, those that waited longest, however long that takes; by default at most 40, and jobs whose waits have too
        many passes are omitted.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> reasons_of(fs.simulate(log, fs.Cluster(2)))
    {1: 'no room 9.00 s. no room: needs 2 nodes, 0 are free; room is expected at 10 s'}
    """
    found: dict[int, str] = {}
    for job in _chosen(result, most):
        try:
            why = result.why(job)
        except FaultsimError:
            return {}
        causes = sorted(why.seconds.items(), key=lambda pair: -pair[1])[:3]
        longest = max(why, key=lambda span: span.end - span.begin, default=None)
        if longest is not None:
            said = ", ".join(f"{cause} {_duration(seconds)}" for cause, seconds in causes)
            found[job] = f"{said}. {longest.reason}"
    return found


def _chosen(result: "Result", most: int | None) -> list[int]:
    """Rows of the jobs to explain, those that waited longest first."""
    jobs = result.jobs
    order = np.argsort(-jobs["wait"], kind="stable")
    order = order[jobs["wait"][order] > 0]
    if most is not None:
        return list(map(int, order[:most]))
    times = [jobs["submit"], jobs["finish"]] + ([result.failures.time] if result.failures is not None else [])
    passes = np.unique(np.concatenate(times))
    # A job that a failure sent back waits again, up to its last start.
    last = np.where(jobs["restarts"] > 0, jobs["finish"], jobs["start"])
    cost = np.searchsorted(passes, last) - np.searchsorted(passes, jobs["submit"]) + len(result) // _JOBS_PER_PASS
    chosen: list[int] = []
    machine = result.machine
    left = _PASSES if machine.shape is None and machine.blocks is None else _PASSES_PLACED
    for job in order[: 4 * MOST_REASONS].tolist():
        if cost[job] <= left and len(chosen) < MOST_REASONS:
            chosen.append(job)
            left -= int(cost[job])
    return chosen


def _duration(seconds: float) -> str:
    unit, factor = suited("s", [seconds])
    return f"{three_digits(seconds * factor)} {unit}"
