"""The metrics of jobs by user, by size, or by any column: see `Result.by`."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks
from faultsim.arrays import Flags, Values
from faultsim.data.tabular import Columns
from faultsim.errors import OptionError
from faultsim.results.metric_table import Measured
from faultsim.results.metrics import METRICS, size_class
from faultsim.results.part import Part

#: Metrics that jobs have, whose rows are the jobs of a group.
OF_JOBS = tuple(name for name, row in METRICS.items() if row.per_job and not row.recorded)
_OF_LIMITS = tuple(name for name, row in METRICS.items() if row.zero_without == "limits")
_OF_FAILURES = tuple(name for name, row in METRICS.items() if row.zero_without or row.goodput)
_USUAL = tuple(name for name in OF_JOBS if name not in _OF_FAILURES and not name.startswith("worst"))


def grouped(result: Measured, among: Flags, by: str | ArrayLike, metrics: Sequence[str] | None) -> Columns:
    """A row per group with the metrics of those of its jobs that are meant, groups ascending.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1, 2], runtime=[10, 5, 5], size=[1, 2, 2])
    >>> result = fs.simulate(log, fs.Cluster(2))
    >>> table = grouped(result, result.ended, "size_class", ["n_jobs", "mean_wait"])
    >>> table["size_class"], table["n_jobs"], table["mean_wait"]
    (array([1, 2]), array([1, 2]), array([ 0., 11.]))
    """
    name, labels = labels_of(result, by)
    if metrics is None:
        # What must be 0 is left out.
        wanted = _USUAL if not result.counters["failures"] else tuple(n for n in OF_JOBS if not n.startswith("worst"))
        wanted = tuple(name for name in wanted if name not in _OF_LIMITS)
        wanted += _OF_LIMITS if result.settings["overrun"] == "kill" else ()
    else:
        wanted = tuple(checks.choice("metric of jobs", metric, OF_JOBS) for metric in metrics)
    ended = np.flatnonzero(among)
    values, group = np.unique(labels[ended], return_inverse=True)
    order = np.argsort(group, kind="stable")
    parts = [
        Part(result, ended[rows]) for rows in np.split(order, np.cumsum(np.bincount(group, minlength=len(values)))[:-1])
    ]
    columns: dict[str, Values] = {name: values}
    for metric in wanted:
        # As in the table of a sweep, where an axis has the name of a metric.
        called = f"metric:{metric}" if metric == name else metric
        columns[called] = np.array([METRICS[metric].function(part) for part in parts] if len(values) else [])
    return Columns(columns, f"jobs by {name}")


def labels_of(result: Measured, by: str | ArrayLike) -> tuple[str, Values]:
    """The name of a column and its values, one per job, or the labels that are given."""
    if isinstance(by, str):
        if by == "size_class":
            return by, size_class(result.jobs["size"])
        known = ("size_class", "user", *result.jobs)
        checks.choice("column", by, known)
        return by, result.users if by == "user" else result.jobs[by]
    labels = np.asarray(by)
    if labels.shape != (len(result),):
        raise OptionError(
            f"by: expected the name of a column or {len(result):,} labels, one per job, got shape {labels.shape}"
        )
    return "group", labels
