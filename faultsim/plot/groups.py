"""Waits of the jobs of each partition, account, user or size class."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from faultsim.entries import entry
from faultsim.errors import OptionError
from faultsim.plot.base import axes, colour, legend_below, tidy, verbatim
from faultsim.plot.curves import plain_log
from faultsim.plot.distribution import name_times
from faultsim.plot.given import results_of
from faultsim.plot.theme import ThemeName, themed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from faultsim.results.result import Result

#: Groups that a figure shows: those with the most jobs.
_MOST = 20


@entry
@themed
def plot_waits_by(
    runs: "Result | Mapping[str, Result]",
    column: str = "partition",
    *,
    ax: "Axes | None" = None,
    title: str = "",
    theme: ThemeName | None = None,
) -> "Axes":
    """Draw how long jobs of each partition, account, user or size class wait, a row for each.

    The dot is the mean and the bar reaches from the median to the 95th percentile, in a colour for each run, on a
    logarithmic axis; waits of at most 1 second are drawn there. Of more than 20 groups, those with the most jobs are
    shown, and the title says so.

    Parameters
    ----------
    runs : Result, or mapping of str to Result
        A run; or label -> run.
    column : str
        As of `Result.by`: ``"partition"``, ``"account"``, ``"user"``, ``"size_class"``, or any column of the jobs.
    title : str
        Title.

    Raises
    ------
    OptionError
        If there is no run, or a run has no such column or no job that has ended.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_waits_by
    >>> log = fs.Workload(submit=[0, 1, 2], runtime=[100, 50, 60], size=[2, 2, 1])
    >>> ax = plot_waits_by(fs.simulate(log, fs.Cluster(2)), "size_class")
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['1', '2']
    """
    named = results_of("plot_waits_by", runs)
    tables = {label: run.by(column, ["n_jobs", "mean_wait", "median_wait", "p95_wait"]) for label, run in named.items()}
    counts: dict[object, float] = {}
    for table in tables.values():
        for group, jobs in zip(table[column].tolist(), table["n_jobs"].tolist(), strict=True):
            counts[group] = max(jobs, counts.get(group, 0.0))
    if not counts:
        raise OptionError("plot_waits_by: no job has ended, so there are no waits")
    kept = sorted(sorted(counts, key=lambda group: -counts[group])[:_MOST], key=list(counts).index)
    ax, most = axes(ax, 7.0, 1.6 + 0.4 * len(kept)), 2.0
    for number, (label, table) in enumerate(tables.items()):
        shift = 0.22 * (number - (len(tables) - 1) / 2) if len(tables) < 5 else 0.0
        rows = [at for at, group in enumerate(table[column].tolist()) if group in kept]
        place = [kept.index(table[column].tolist()[at]) + shift for at in rows]
        mean, low, high = (np.maximum(table[name][rows], 1.0) for name in ("mean_wait", "median_wait", "p95_wait"))
        most = max(most, float(high.max()), float(mean.max()))
        ax.hlines(place, low, high, color=colour(number), linewidth=3.0, alpha=0.5)
        words = "mean; bar: median to 95th percentile"
        ax.plot(
            mean, place, "o", color=colour(number), markersize=6, clip_on=False,
            label=f"{verbatim(label)}: {words}" if label else words,
        )  # fmt: skip
    plain_log(ax.xaxis)
    ax.set_xlim(1.0, 1.5 * most)
    ax.set_yticks(range(len(kept)), [verbatim(str(group)) or "(none)" for group in kept])
    ax.set_ylim(len(kept) - 0.5, -0.5)
    said = f"the {len(kept)} of {len(counts)} groups with the most jobs" if len(counts) > len(kept) else ""
    tidy(ax, x="wait", y=column.replace("_", " "), title=", ".join(filter(None, (verbatim(title), said))))
    name_times(ax, most)
    legend_below(ax)
    return ax
