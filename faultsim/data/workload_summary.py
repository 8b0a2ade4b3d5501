"""What `Workload.summary` returns: the numbers that describe a job log, as a mapping that prints as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faultsim.data.summary_table import SummaryTable

# key -> (unit, meaning); the order is the order in which a summary prints.
ROWS: dict[str, tuple[str, str]] = {
    "n_jobs": ("", "jobs"),
    "n_dropped": ("", "records left out by the reader"),
    "n_users": ("", "distinct users"),
    "n_estimates": ("", "jobs with a requested run time"),
    "n_overruns": ("", "jobs with a run time above their estimate"),
    "first_submit": ("s", "first arrival"),
    "last_submit": ("s", "last arrival"),
    "span": ("s", "time between them"),
    "runtime_mean": ("s", "run time, mean"),
    "runtime_sd": ("s", "run time, standard deviation"),
    "runtime_max": ("s", "run time, largest"),
    "size_mean": ("nodes", "size, mean"),
    "size_sd": ("nodes", "size, standard deviation"),
    "size_max": ("nodes", "size, largest"),
    "power_of_two_share": ("", "share of jobs whose size is a power of two"),
    "work_total": ("node-s", "work, all jobs"),
    "work_mean": ("node-s", "work of a job, mean"),
    "work_sd": ("node-s", "work of a job, standard deviation"),
    "nodes": ("nodes", "machine that the rows below are for"),
    "n_oversize": ("", "jobs larger than the machine"),
    "offered_load": ("", "work / (nodes * span)"),
    "bin_work_mean": ("node-s", "work of all jobs of one size, mean over the sizes 1..nodes"),
    "bin_work_sd": ("node-s", "work of all jobs of one size, standard deviation"),
}


#: Share of the jobs, or of their work, beyond their estimates above which the unit of estimates is doubtful.  Logs of
#: the Parallel Workloads Archive have up to a fifth of such jobs; half would mean that limits are not enforced.
MOST_PAST = 0.5
#: Jobs with an estimate that are needed to judge.
LEAST_LIMITS = 3


class Summary(SummaryTable):
    """Statistics of a job log: a read-only mapping from name to number, readable when printed.

    Krevat's Table 1 is `size_mean`, `size_sd`, `bin_work_mean` and `bin_work_sd`: "workload" there is the work of all
    jobs of one size, averaged over the sizes 1..nodes.  Standard deviations divide by n - 1.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 50, 100], runtime=[10, 20, 30], size=[1, 2, 4])
    >>> summary = log.summary(nodes=4)
    >>> summary["offered_load"]
    0.425
    >>> print(summary)  # doctest: +ELLIPSIS
    n_jobs                           3         jobs
    ...
    offered_load                 0.425         work / (nodes * span)
    ...
    """

    __slots__ = ()

    def __init__(self, values: dict[str, float], name: str = "", dropped: Mapping[str, int] | None = None) -> None:
        super().__init__(ROWS, values, name, dropped)


def offered_load(submit: NDArray[Any], work: NDArray[Any], nodes: int) -> float:
    """Work over the capacity of `nodes` nodes between the first and the last arrival; infinite without a span.

    Examples
    --------
    >>> offered_load(np.array([0.0, 100.0]), np.array([50.0, 30.0]), 2)
    0.4
    """
    span = float(submit[-1] - submit[0])
    total = float(work.sum())
    return total / (nodes * span) if span > 0 else float("inf")


def past_estimates(columns: Mapping[str, NDArray[Any]]) -> Iterator[str]:
    """A sentence if most jobs, or most of the work, run past their estimates: their unit is probably wrong.

    Examples
    --------
    >>> columns = {"runtime": [300, 1200, 60], "estimate": [10, 30, 5], "size": [4, 8, 1]}
    >>> print(*past_estimates({name: np.array(values) for name, values in columns.items()}))  # doctest: +ELLIPSIS
    100 % of the jobs run past their limit, and by 97 % of the work: is the limit in minutes? ...
    """
    runtime, estimate, size = columns["runtime"], columns["estimate"], columns["size"]
    known = (estimate >= 0) & (runtime > 0)
    if int(known.sum()) < LEAST_LIMITS:
        return
    runtime, estimate, size = runtime[known], estimate[known], size[known].astype(np.float64)
    past = float((runtime > estimate).mean())
    work = float((runtime * size).sum())
    beyond = float((np.maximum(runtime - estimate, 0.0) * size).sum()) / work
    if past <= MOST_PAST and beyond <= MOST_PAST:
        return
    unit = ""
    for word, name, factor in (("minutes", "min", 60.0), ("hours", "h", 3600.0)):
        if float((runtime > factor * estimate).mean()) <= past / 4:
            unit = f"is the limit in {word}? unit={{'estimate': {name!r}}}"
            break
    share = f"{100 * past:.0f} % of the jobs run past their limit, and by {100 * beyond:.0f} % of the work"
    yield f"{share}: {unit or 'check the unit of the estimates'}"


def bin_workload(size: NDArray[Any], work: NDArray[Any], nodes: int) -> NDArray[np.float64]:
    """Work of all jobs of each size 1..nodes ([krevat2002] Table 1 and Figure 2 c, d).

    Examples
    --------
    >>> bin_workload(np.array([1, 3, 1]), np.array([10.0, 6.0, 5.0]), 4)
    array([15.,  0.,  6.,  0.])
    """
    fits = size <= nodes
    bins: NDArray[np.float64] = np.bincount(size[fits], weights=work[fits], minlength=nodes + 1)[1:]  # type: ignore[assignment]
    return bins


def _sd(values: NDArray[Any]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def summarize(
    columns: Mapping[str, NDArray[Any]], *, nodes: int | None, name: str = "", dropped: Mapping[str, int] | None = None
) -> Summary:
    """Compute a `Summary` from workload columns; rows about the machine require `nodes`.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 50], runtime=[10, 20], size=[1, 2])
    >>> summarize(log.columns, nodes=None)["work_total"]
    50.0
    """
    submit, runtime, estimate = columns["submit"], columns["runtime"], columns["estimate"]
    size, user = columns["size"], columns["user"]
    work = size * runtime
    values: dict[str, float] = {
        "n_jobs": len(submit),
        "n_dropped": sum((dropped or {}).values()),
        "n_users": len(np.unique(user[user >= 0])),
        "n_estimates": int((estimate >= 0).sum()),
        "n_overruns": int(((estimate >= 0) & (runtime > estimate)).sum()),
        "first_submit": float(submit[0]),
        "last_submit": float(submit[-1]),
        "span": float(submit[-1] - submit[0]),
        "runtime_mean": float(runtime.mean()),
        "runtime_sd": _sd(runtime),
        "runtime_max": float(runtime.max()),
        "size_mean": float(size.mean()),
        "size_sd": _sd(size),
        "size_max": int(size.max()),
        "power_of_two_share": float(((size & (size - 1)) == 0).mean()),
        "work_total": float(work.sum()),
        "work_mean": float(work.mean()),
        "work_sd": _sd(work),
    }
    if nodes is not None:
        bins = bin_workload(size, work, nodes)
        values |= {
            "nodes": nodes,
            "n_oversize": int((size > nodes).sum()),
            "offered_load": offered_load(submit, work, nodes),
            "bin_work_mean": float(bins.mean()),
            "bin_work_sd": _sd(bins),
        }
    return Summary(values, name, dropped)
