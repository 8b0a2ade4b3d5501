"""Simulated beside recorded waits."""

from typing import TYPE_CHECKING, Literal

import numpy as np

from faultsim import checks
from faultsim.entries import entry
from faultsim.plot.base import PALETTE, axes, inked, legend_below, tidy, time_unit
from faultsim.plot.given import result_of
from faultsim.plot.theme import ThemeName, themed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from faultsim.results.result import Result


@entry
@themed
def plot_against_recorded(
    result: "Result",
    *,
    by: Literal["time", "size"] = "time",
    title: str = "Mean waits, recorded and simulated",
    ax: "Axes | None" = None,
    theme: ThemeName | None = None,
) -> "Axes":
    """Mean waits that the log recorded, and those of the run, over time or by size.

    Parameters
    ----------
    result : Result
        Of a log with `Workload.recorded_wait`.
    by : {"time", "size"}
        Weeks of submit times (longer periods of a log of more than 60 weeks), or classes of sizes.
    title : str
        Above the axes.

    Raises
    ------
    OptionError
        If the log has no recorded waits.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_against_recorded
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2], recorded_wait=[0, 12])
    >>> ax = plot_against_recorded(fs.simulate(log, fs.Cluster(2)), by="size")
    """
    compared = result_of("plot_against_recorded", result).against_recorded()
    over_time = checks.choice("by", by, ("time", "size")) == "time"
    table = compared.over_time if over_time else compared.by_size
    ax = axes(ax)
    unit, seconds = time_unit(float(max(table["recorded_mean_wait"].max(), table["simulated_mean_wait"].max())))
    if over_time:
        name, step = time_unit(float(table["begin"][-1] - table["begin"][0]))
        at = (table["begin"] - table["begin"][0]) / step
        label = f"submit time ({name} from the first period)"
    else:
        at = np.log2(table["size_class"])
        label = "size (nodes, up to)"
        ax.set_xticks(at, [f"{size:,}" for size in table["size_class"].tolist()])
    for kind, colour, marker in (("recorded", PALETTE[1], "o"), ("simulated", PALETTE[0], "s")):
        ax.plot(at, table[f"{kind}_mean_wait"] / seconds, marker=marker, ms=4, color=inked(colour), label=kind)
    ax.set_ylim(bottom=0)
    tidy(ax, x=label, y=f"mean wait ({unit})", title=title)
    legend_below(ax)
    return ax
