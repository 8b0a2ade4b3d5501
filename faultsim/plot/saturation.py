"""What grows as the offered load passes 1: a metric of a sweep, or anything measured at several loads."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from faultsim.arrays import Floats
from faultsim.entries import entry
from faultsim.errors import OptionError
from faultsim.plot.base import axes, legend_below, plain_number, room, tidy, verbatim
from faultsim.plot.curves import pairs_of, plain_log, plot_curves
from faultsim.plot.given import SWEEP, is_sweep, sweep_of
from faultsim.plot.sweeps import SweepLike, plot_sweep
from faultsim.plot.theme import ThemeName, current, themed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDE = 4.0  # ratio of the loads from which on their axis is logarithmic


@entry
@themed
def plot_saturation(
    costs: "SweepLike | Mapping[str, tuple[ArrayLike, ArrayLike]]",
    metric: str = "mean_wait",
    *,
    x: str = "load",
    y: str = "",
    ax: "Axes | None" = None,
    title: str = "",
    styles: Mapping[str, Mapping[str, object]] | None = None,
    theme: ThemeName | None = None,
) -> "Axes":
    """Draw what grows with the offered load, on a logarithmic axis, with a mark where the machine is full.

    Beyond a load of 1 no schedule keeps up: queues grow with the length of the log, and metrics with them.

    Parameters
    ----------
    costs : SweepTable, or mapping of str to (loads, values)
        A sweep with an axis of loads, drawn as by `plot_sweep`; or label -> loads and what was measured at them.
    metric : str
        The column of a sweep; not used with curves.
    x : str
        The axis of a sweep that has the loads.
    y : str
        Label of the ordinate, with its unit; by default that of the metric.
    title : str
        Title.
    styles : mapping, optional
        Label -> keywords of `Axes.plot` for that curve; not used with a sweep.

    Raises
    ------
    OptionError
        If there is no curve, no such axis or metric, or there are more than 14 lines.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_saturation
    >>> run = fs.Run(fs.synthetic.nasa_like(200, rng=1), fs.Cluster(128))
    >>> grid = {"load": [0.5, 0.8, 1.0, 1.5], "scheduler": ["fcfs", "easy"]}
    >>> ax = plot_saturation(fs.Sweep(run, grid).run(), "mean_bounded_slowdown")
    >>> ax.get_ylabel(), ax.get_yscale()
    ('mean bounded slowdown', 'log')
    >>> ax = plot_saturation({"EASY": ([0.5, 1.0, 5.0], [3.1, 4.0, 60.0])}, y="CPU time a job (us)")
    >>> ax.get_xscale()
    'log'
    """
    ax = axes(ax)
    if isinstance(costs, Mapping) and not is_sweep(costs):
        plot_curves(costs, ax=ax, log=True, styles=styles)
        loads = np.concatenate([at for at, _ in pairs_of("plot_saturation", costs, "(loads, values)").values()])
        tidy(ax, x="offered load", y=y or "cost", title=verbatim(title))
        several = len(costs) > 1
    else:
        table = sweep_of("plot_saturation", costs, f"{SWEEP}, or a mapping of labels to (loads, values)")
        if x in table.axes and table[x].dtype.kind not in "iuf":
            raise OptionError(f"x: axis {x} has no numbers; a saturation curve needs loads")
        plot_sweep(table, metric, x=x, ax=ax, log=True, title=title)
        if y:
            tidy(ax, y=y)
        loads, several = np.asarray(table[x], dtype=float), ax.get_legend() is not None
    if loads.min() > 0 and loads.max() >= _WIDE * loads.min():
        plain_log(ax.xaxis)
        ticks = _ticks(ax, loads)
        ax.set_xticks(ticks, [plain_number(tick) for tick in ticks])
        ax.set_xticks([], minor=True)
    if loads.min() <= 1.0 <= loads.max():
        ax.axvline(
            1.0, color=current().soft, linewidth=1.0, linestyle="--", label="load 1: the machine is full", zorder=1
        )
    wanted = ax.get_legend()
    said = wanted.get_title().get_text() if wanted is not None else ""
    if several or loads.min() <= 1.0 <= loads.max():
        legend_below(ax, title=said or None)
    return ax


def _ticks(ax: "Axes", loads: Floats) -> list[float]:
    """The loads themselves if there is room for them, else round numbers."""
    each = np.unique(loads.round(9))
    inch = room(ax) / np.log(each[-1] / each[0])
    if (inch * np.diff(np.log(each)) > 0.3).all():
        return list(map(float, each))
    round_numbers = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
    return [load for load in round_numbers if 0.95 * each[0] <= load <= 1.05 * each[-1]]
