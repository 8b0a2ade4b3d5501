"""Comparisons of many runs: one metric against another, capacity as bars, and the sizes of a log's jobs."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks
from faultsim.arrays import Values
from faultsim.plot.base import PALETTE, axes, colour, inked, legend_below, name_ticks, on, tick, tidy, verbatim
from faultsim.plot.theme import ThemeName, current, themed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = ("o", "s", "^", "D", "v", "P", "X")


@themed
def plot_curves(
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    ax: "Axes | None" = None,
    x: str = "",
    y: str = "",
    title: str = "",
    log: bool = False,
    styles: Mapping[str, Mapping[str, object]] | None = None,
    theme: ThemeName | None = None,
) -> "Axes":
    """Draw curves of one metric against another, each with its own colour and marker.

    Parameters
    ----------
    curves : mapping of str to (x, y)
        Label -> abscissae and ordinates, in the order in which the points are joined.
    x, y, title : str
        Axis labels (with units) and title.
    log : bool
        Logarithmic ordinate.
    styles : mapping, optional
        Label -> keywords of `Axes.plot` for that curve.

    Examples
    --------
    >>> from faultsim.plot import plot_curves
    >>> ax = plot_curves({"FCFS": ([40, 50, 60], [1, 2, 9])}, x="utilization (%)", y="mean wait (h)")
    >>> len(ax.lines)
    1
    """
    ax = axes(ax)
    for i, (label, (across, up)) in enumerate(curves.items()):
        style: dict[str, Any] = {
            "color": colour(i),
            "marker": MARKERS[i % len(MARKERS)],
            "markersize": 4.5,
            "linewidth": 1.4,
            "markeredgecolor": current().ground,
            "markeredgewidth": 0.5,
        } | dict((styles or {}).get(label, {}))
        style |= {key: inked(value) for key, value in style.items() if isinstance(value, str)}
        ax.plot(np.asarray(across), np.asarray(up), label=label, **style)
    if log:
        plain_log(ax.yaxis)
    return tidy(ax, x=x, y=y, title=title)


def plain_log(axis: Any) -> None:
    """A logarithmic axis with numbers such as 0.5, 20 and 1,000 instead of powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogFormatter

    name = axis.axis_name
    getattr(axis.axes, f"set_{name}scale")("log")
    axis.set_major_formatter(FuncFormatter(tick))
    # Between the powers of ten, numbers only if fewer than two of these are visible.
    axis.set_minor_formatter(LogFormatter(minor_thresholds=(1.4, 0.7)))


@themed
def plot_capacity(
    shares: Mapping[str, tuple[float, float, float]],
    *,
    ax: "Axes | None" = None,
    title: str = "",
    theme: ThemeName | None = None,
) -> "Axes":
    """Draw utilized, unused and lost capacity as stacked bars ([krevat2002] Figure 8).

    On axes that are given there is no legend, as several panels share one: ``ax.legend()`` draws it.

    Parameters
    ----------
    shares : mapping of str to (utilized, unused, lost)
        Label of the bar -> fractions of the capacity, 0 to 1.
    title : str
        Title.

    Examples
    --------
    >>> from faultsim.plot import plot_capacity
    >>> plot_capacity({"FCFS": (0.6, 0.1, 0.3)}).get_ylabel()
    'share of the capacity (%)'
    """
    alone, ax = ax is None, axes(ax)  # panels of one figure share a legend
    labels = list(shares)
    below = np.zeros(len(labels))
    # Light enough for dark figures inside, and apart in brightness too.
    for part, name, fill in zip(
        range(3), ("utilized", "unused", "lost"), ("#56B4E9", current().free, "#D55E00"), strict=True
    ):
        height = np.array([100.0 * shares[label][part] for label in labels])
        across = range(len(labels))
        ax.bar(across, height, bottom=below, color=fill, width=0.62, label=name, edgecolor=current().ground)
        for i in np.flatnonzero(height >= 4.0).tolist():
            ax.text(
                i, below[i] + height[i] / 2, f"{height[i]:.1f}", ha="center", va="center", fontsize=9, color=on(fill)
            )
        below += height
    name_ticks(ax, list(map(verbatim, labels)))
    ax.set_ylim(0, 100)
    tidy(ax, y="share of the capacity (%)", title=title, grid=False)
    if alone:
        legend_below(ax)
    return ax


class _Log(Protocol):
    """The part of a `Workload` that `plot_job_sizes` needs."""

    @property
    def size(self) -> Values:
        """Nodes of each job."""

    @property
    def work(self) -> Values:
        """Node-seconds of each job."""


@themed
def plot_job_sizes(
    log: _Log,
    *,
    ax: "Axes | None" = None,
    by: str = "jobs",
    nodes: int = 128,
    title: str = "",
    theme: ThemeName | None = None,
) -> "Axes":
    """Draw how many jobs, or how much work, a log has for each size ([krevat2002] Figure 2).

    Parameters
    ----------
    log : Workload
        The log.
    by : {"jobs", "work"}
        Number of jobs, or their node-seconds.
    nodes : int
        Largest size drawn.
    title : str
        Title.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_job_sizes
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> plot_job_sizes(log, nodes=4).get_ylabel()
    'number of jobs'
    """
    checks.choice("by", by, ("jobs", "work"))
    ax = axes(ax)
    weights = None if by == "jobs" else log.work
    total = np.bincount(log.size, weights=weights, minlength=nodes + 1)[1 : nodes + 1] / (1 if by == "jobs" else 1e6)
    ax.stairs(total, np.arange(nodes + 1) + 0.5, fill=True, color=PALETTE[0 if by == "jobs" else 1], linewidth=0)
    ax.set_xlim(0, nodes + 1)
    ax.set_xticks(_ticks(nodes))
    y = "number of jobs" if by == "jobs" else "work (million node-seconds)"
    return tidy(ax, x="job size (nodes)", y=y, title=title)


def _ticks(nodes: int) -> Sequence[int]:
    step = max(1, nodes // 8)
    return [1, *range(step, nodes + 1, step)] if step > 1 else list(range(1, nodes + 1))
