"""What `Workload.summary` returns: the numbers that describe a job log, as a mapping that prints as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from faultsim.arrays import Floats, Values
from faultsim.data.estimates import doubtful_estimates
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


class Summary(SummaryTable):
    """Statistics of a job log: a read-only mapping from name to number, readable when printed.

    Krevat's Table 1 is `size_mean`, `size_sd`, `bin_work_mean` and `bin_work_sd`: "workload" there is the work of all
    jobs of one size, averaged over the sizes 1..nodes.  Standard deviations divide by n - 1.  A note follows the table
    if two fifths or more of the jobs that have an estimate run past it.

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

    def __init__(
        self,
        values: dict[str, float],
        name: str = "",
        dropped: Mapping[str, int] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        super().__init__(ROWS, values, name, dropped, notes)


def offered_load(submit: Values, work: Values, nodes: int) -> float:
    """Work over the capacity of `nodes` nodes between the first and the last arrival; infinite without a span.

    Examples
    --------
    >>> offered_load(np.array([0.0, 100.0]), np.array([50.0, 30.0]), 2)
    0.4
    """
    span = float(submit[-1] - submit[0])
    total = float(work.sum())
    return total / (nodes * span) if span > 0 else float("inf")


def bin_workload(size: Values, work: Values, nodes: int) -> Floats:
    """Work of all jobs of each size 1..nodes ([krevat2002] Table 1 and Figure 2 c, d).

    Examples
    --------
    >>> bin_workload(np.array([1, 3, 1]), np.array([10.0, 6.0, 5.0]), 4)
    array([15.,  0.,  6.,  0.])
    """
    fits = size <= nodes
    bins: Floats = np.bincount(size[fits], weights=work[fits], minlength=nodes + 1)[1:]  # type: ignore[assignment]
    return bins


def _sd(values: Values) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def summarize(
    columns: Mapping[str, Values], *, nodes: int | None, name: str = "", dropped: Mapping[str, int] | None = None
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
    doubt = doubtful_estimates(runtime, estimate)
    return Summary(values, name, dropped, () if doubt is None else (doubt,))
