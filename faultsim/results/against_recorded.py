"""Simulated waits beside those that the log recorded: see `Result.against_recorded`."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappop, heappush
from typing import Protocol

import numpy as np

from faultsim.arrays import Flags, Floats, Integers, Values
from faultsim.data.summary_table import SummaryTable
from faultsim.data.tabular import Columns
from faultsim.data.workload import Workload
from faultsim.errors import OptionError
from faultsim.machines.machine import Machine
from faultsim.results.metrics import size_class

_DAY = 86_400.0
#: Most periods into which the time of a log is divided: weeks, or longer ones.
_PERIODS = 60

# key -> (unit, meaning); the order is the order in which it prints.
ROWS: dict[str, tuple[str, str]] = {
    "n_jobs": ("jobs", "jobs with a recorded wait"),
    "n_without": ("jobs", "jobs without one, or that have not ended"),
    "recorded_mean_wait": ("s", "mean wait, recorded"),
    "simulated_mean_wait": ("s", "mean wait, simulated"),
    "wait_ratio": ("", "simulated over recorded mean wait"),
    "recorded_median_wait": ("s", "median wait, recorded"),
    "simulated_median_wait": ("s", "median wait, simulated"),
    "recorded_p95_wait": ("s", "95th percentile of waits, recorded"),
    "simulated_p95_wait": ("s", "95th percentile of waits, simulated"),
    "rank_correlation": ("", "rank correlation of the two waits of a job (Spearman)"),
    "recorded_utilization": ("", "work over nodes and makespan, recorded"),
    "simulated_utilization": ("", "work over nodes and makespan, simulated"),
    "load": ("", "work over nodes and span of arrivals: the same for both"),
    "nodes": ("nodes", "nodes of the modelled machine"),
    "recorded_most_nodes": ("nodes", "most nodes that recorded jobs held at once"),
    "n_unfit": ("jobs", "recorded starts that do not fit on the modelled machine"),
    "n_out_of_order": ("jobs", "recorded starts past a waiting job for which enough nodes were idle"),
    "n_passed": ("jobs", "jobs that waited beside enough idle nodes while others started"),
}


class Compared(Protocol):
    """The part of a `Result` that is compared."""

    @property
    def jobs(self) -> Mapping[str, Values]: ...
    @property
    def ended(self) -> Flags: ...
    @property
    def workload(self) -> Workload: ...
    @property
    def machine(self) -> Machine: ...


class AgainstRecorded(SummaryTable):
    """Simulated waits of a run beside the recorded ones: numbers by name, and two tables; readable when printed.

    Attributes
    ----------
    by_size : table
        A row per class of sizes (1, 2, 3-4, 5-8, ... nodes, by the largest): ``jobs``, and mean and median of recorded
        and simulated waits, in seconds.
    over_time : table
        The same for each week of submit times, or longer periods of a log of more than 60 weeks, by its ``begin``.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2], recorded_wait=[0, 12])
    >>> compared = fs.simulate(log, fs.Cluster(2)).against_recorded()
    >>> compared["recorded_mean_wait"], compared["simulated_mean_wait"], compared["n_unfit"]
    (6.0, 4.5, 0)
    >>> compared.by_size["size_class"], compared.by_size["recorded_mean_wait"]
    (array([2]), array([6.]))
    """

    __slots__ = ("by_size", "over_time")

    def __init__(self, values: dict[str, float], by_size: Columns, over_time: Columns) -> None:
        super().__init__(ROWS, values, "simulated against recorded")
        self.by_size, self.over_time = by_size, over_time

    @property
    def findings(self) -> tuple[str, ...]:
        """What the numbers mean for the question whether the model is the machine, one sentence each."""
        jobs, nodes, most, unfit, out_of_order, passed = (
            f"{int(self[key]):,}"
            for key in ("n_jobs", "nodes", "recorded_most_nodes", "n_unfit", "n_out_of_order", "n_passed")
        )
        said = []
        if self["n_unfit"]:
            said.append(
                f"{unfit} of {jobs} recorded starts do not fit on {nodes} nodes (recorded jobs hold up to {most}): "
                "the machine or the sizes are not those of the log"
            )
        if self["n_out_of_order"]:
            said.append(
                f"{out_of_order} of {jobs} recorded starts pass one of {passed} jobs that wait beside enough idle "
                "nodes: limits, reservations or decisions by hand that the model does not have"
            )
        return tuple(said)

    def __str__(self) -> str:
        parts = [super().__str__()]
        for title, table in (("by size", self.by_size), ("over time", self.over_time)):
            parts.append(f"\n{title}\n{_printed(table)}")
        return "\n".join([*parts, *(f"note: {text}" for text in self.findings)])


def _printed(table: Columns) -> str:
    names = list(table)
    lines = [" ".join(f"{name:>{max(len(name), 12)}}" for name in names)]
    for row in range(len(table)):
        lines.append(" ".join(f"{table[name][row]:>{max(len(name), 12)},.0f}" for name in names))
    return "\n".join(lines)


def against_recorded(result: Compared) -> AgainstRecorded:
    """Compare the waits of a run with those that its log recorded.

    Raises
    ------
    OptionError
        If the log has no recorded waits, or none of a job that has ended.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2], recorded_wait=[0, 5])
    >>> against_recorded(fs.simulate(log, fs.Cluster(2)))["n_unfit"]  # the second started while the first ran
    1
    """
    log = result.workload
    waits = log.recorded_wait
    if waits is None:
        raise OptionError(
            "against_recorded: the log has no recorded waits (field 3 of an SWF log, start times of other logs; "
            "changes of load, sizes or run times leave them out)"
        )
    known = (waits >= 0) & result.ended
    if not known.any():
        raise OptionError("against_recorded: no job with a recorded wait has ended")
    nodes, jobs = result.machine.capacity_for(result.workload.columns), result.jobs
    recorded, simulated = waits[known], jobs["wait"][known]
    submit, size, runtime = log.submit[known], log.size[known], log.runtime[known]
    begin = float(submit.min())
    most, unfit, out_of_order, passed = replayed(submit, submit + recorded, runtime, size, nodes)
    work = float((size * runtime).sum())
    values: dict[str, float] = {
        "n_jobs": len(recorded),
        "n_without": int(len(waits) - len(recorded)),
        "recorded_mean_wait": float(recorded.mean()),
        "simulated_mean_wait": float(simulated.mean()),
        "wait_ratio": _ratio(float(simulated.mean()), float(recorded.mean())),
        "recorded_median_wait": float(np.median(recorded)),
        "simulated_median_wait": float(np.median(simulated)),
        "recorded_p95_wait": float(np.percentile(recorded, 95)),
        "simulated_p95_wait": float(np.percentile(simulated, 95)),
        "rank_correlation": _rank_correlation(recorded, simulated),
        "recorded_utilization": _ratio(work, nodes * (float((submit + recorded + runtime).max()) - begin)),
        "simulated_utilization": _ratio(work, nodes * (float(jobs["finish"][known].max()) - begin)),
        "load": _ratio(work, nodes * (float(submit.max()) - begin)),
        "nodes": nodes,
        "recorded_most_nodes": most,
        "n_unfit": unfit,
        "n_out_of_order": out_of_order,
        "n_passed": passed,
    }
    weeks = max(1.0, np.ceil((float(submit.max()) - begin) / (7 * _DAY * _PERIODS)))
    period = begin + np.floor((submit - begin) / (7 * _DAY * weeks)) * 7 * _DAY * weeks
    by_size = _table("size_class", size_class(size), recorded, simulated)
    return AgainstRecorded(values, by_size, _table("begin", period, recorded, simulated))


def replayed(
    submit: Floats,
    start: Floats,
    runtime: Floats,
    size: Integers,
    nodes: int,
) -> tuple[int, int, int, int]:
    """The recorded schedule on a machine of `nodes` nodes.

    Returns
    -------
    most : int
        Most nodes that jobs hold at once.
    unfit : int
        Starts with which jobs hold more nodes than there are.
    out_of_order : int
        Starts of a job while the job that has waited longest would fit into the idle nodes.
    passed : int
        Jobs that were passed so.

    Examples
    --------
    >>> replayed(np.array([0., 1.]), np.array([9., 2.]), np.array([5., 5.]), np.array([1, 1]), 4)
    (1, 0, 1, 1)
    """
    # What ends at a time is released before anything starts then; jobs that start together do so as in the log.
    starts = np.argsort(start, kind="stable").tolist()
    begun = [False] * len(starts)
    starts_at, ends_at, sizes = start.tolist(), (start + runtime).tolist(), size.tolist()
    running: list[tuple[float, int]] = []  # end and size of the jobs that hold nodes, a heap
    passed: set[int] = set()
    head = held = most = unfit = out_of_order = 0
    for job in starts:
        now = starts_at[job]
        while running and running[0][0] <= now:
            held -= heappop(running)[1]
        while begun[head]:
            head += 1
        # Jobs are in the order of their submit times, so that the head was submitted no later than this job.
        if head < job and sizes[head] <= nodes - held:
            out_of_order += 1
            passed.add(head)
        begun[job] = True
        held += sizes[job]
        heappush(running, (ends_at[job], sizes[job]))
        most = max(most, held)
        unfit += held > nodes
    return most, unfit, out_of_order, len(passed)


def _ratio(value: float, of: float) -> float:
    return value / of if of > 0 else float("nan")


def _rank_correlation(a: Floats, b: Floats) -> float:
    """Spearman's, with mean ranks of equal values."""
    ranks = []
    for values in (a, b):
        _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
        ends = np.cumsum(counts)
        ranks.append((ends - (counts - 1) / 2.0)[which])
    if any(rank.std() == 0 for rank in ranks):
        return float("nan")
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _table(name: str, labels: Values, recorded: Values, simulated: Values) -> Columns:
    values, group = np.unique(labels, return_inverse=True)
    counts = np.bincount(group)
    order = np.argsort(group, kind="stable")
    parts = np.split(order, np.cumsum(counts)[:-1])
    columns: dict[str, Values] = {name: values, "jobs": counts}
    for kind, waits in (("recorded", recorded), ("simulated", simulated)):
        columns[f"{kind}_mean_wait"] = np.bincount(group, waits) / counts
    for kind, waits in (("recorded", recorded), ("simulated", simulated)):
        columns[f"{kind}_median_wait"] = np.array([np.median(waits[rows]) for rows in parts])
    return Columns(columns, f"waits by {name}")
