"""Comparisons of many runs: one metric against another, capacity as bars, and the sizes of a log's jobs."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks
from faultsim.arrays import Floats, Values
from faultsim.entries import entry
from faultsim.errors import OptionError
from faultsim.plot.base import PALETTE, axes, colour, inked, legend_below, name_ticks, on, tick, tidy, verbatim
from faultsim.plot.given import mapping_of, refuse
from faultsim.plot.theme import ThemeName, current, themed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import XAxis, YAxis

MARKERS = ("o", "s", "^", "D", "v", "P", "X")


@entry
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
    pairs = pairs_of("plot_curves", curves, "(x, y)")
    ax = axes(ax)
    for i, (label, (across, up)) in enumerate(pairs.items()):
        style: dict[str, Any] = {
            "color": colour(i),
            "marker": MARKERS[i % len(MARKERS)],
            "markersize": 4.5,
            "linewidth": 1.4,
            "markeredgecolor": current().ground,
            "markeredgewidth": 0.5,
        } | dict((styles or {}).get(label, {}))
        style |= {key: inked(value) for key, value in style.items() if isinstance(value, str)}
        ax.plot(across, up, label=verbatim(label), **style)
    if log:
        log_from_zero(ax, [up for _, up in pairs.values()])
    return tidy(ax, x=x, y=y, title=title)


def pairs_of(
    caller: str, curves: Mapping[str, tuple[ArrayLike, ArrayLike]], words: str
) -> dict[str, tuple[Floats, Floats]]:
    """Label -> abscissae and ordinates as arrays of numbers of one length.

    Examples
    --------
    >>> pairs_of("plot_curves", {"FCFS": ([40, 50], [1, 2, 9])}, "(x, y)")
    Traceback (most recent call last):
    ...
    faultsim.errors.OptionError: plot_curves: curve 'FCFS' has 2 abscissae and 3 ordinates
    """
    wanted = f"a mapping of labels to {words}"
    found = {}
    for label, pair in mapping_of(caller, curves, wanted).items():
        try:
            across, up = (np.asarray(values, dtype=np.float64).ravel() for values in pair)
        except (TypeError, ValueError):
            refuse(f"{caller}, curve {label!r},", f"{words}, two sequences of numbers", pair)
        if len(across) != len(up):
            raise OptionError(f"{caller}: curve {label!r} has {len(across):,} abscissae and {len(up):,} ordinates")
        found[label] = across, up
    if not found:
        raise OptionError(f"{caller}: a figure needs at least one curve")
    return found


def log_from_zero(ax: "Axes", values: Sequence[Values]) -> None:
    """A logarithmic ordinate for what may be 0 here and there: it then ends in a linear part, down to 0.

    On a logarithmic axis alone a line falls out of the figure at each 0, as if from a cliff.

    Examples
    --------
    >>> from faultsim.plot import new_figure
    >>> ax = new_figure().add_subplot()
    >>> log_from_zero(ax, [np.array([0.0, 3.0, 400.0])])
    >>> ax.get_yscale()
    'symlog'
    """
    every = np.concatenate([np.asarray(part, dtype=np.float64).ravel() for part in values])
    every = every[np.isfinite(every)]
    above = every[every > 0]
    if len(above) == len(every) and len(every):
        plain_log(ax.yaxis)
        return
    if not len(above):
        return
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    top = math.floor(math.log10(above.max()))
    # At most four powers of ten: what is less is as good as 0 beside the largest value.
    least = 10.0 ** max(math.floor(math.log10(above.min())), top - 3)
    ax.set_yscale("symlog", linthresh=least, linscale=0.6)
    powers = [10.0**k for k in range(round(math.log10(least)), top + 1)]
    ticks = [0.0, *(m * power for power in powers for m in ((1, 2, 5) if len(powers) < 3 else (1,)))]
    ax.yaxis.set_major_locator(FixedLocator([at for at in ticks if at <= 1.05 * above.max()]))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(tick))
    ax.set_ylim(bottom=min(0.0, float(every.min())))


def plain_log(axis: "XAxis | YAxis") -> None:
    """A logarithmic axis with numbers such as 0.5, 20 and 1,000 instead of powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogFormatter

    name = axis.axis_name
    getattr(axis.axes, f"set_{name}scale")("log")
    axis.set_major_formatter(FuncFormatter(tick))
    # Between the powers of ten, numbers only if fewer than two of these are visible.
    axis.set_minor_formatter(LogFormatter(minor_thresholds=(1.4, 0.7)))


@entry
@themed
def plot_capacity(
    shares: Mapping[str, tuple[float, float, float]],
    *,
    ax: "Axes | None" = None,
    title: str = "",
    theme: ThemeName | None = None,
) -> "Axes":
    """Draw utilized, unused and lost capacity as stacked bars ([krevat2002] Figure 8).

    A part of less than 4 % has its number beside the bar. On axes that are given there is no legend, as several panels
    share one: ``ax.legend()`` draws it.

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
    wanted = "a mapping of labels to three shares, (utilized, unused, lost)"
    parts = {}
    for label, given in mapping_of("plot_capacity", shares, wanted).items():
        if not isinstance(given, tuple | list | np.ndarray) or len(given) != 3:
            refuse(f"plot_capacity, bar {label!r},", "three shares, (utilized, unused, lost)", given)
        parts[label] = [checks.number(f"plot_capacity, bar {label!r}", part, low=-0.01, high=1.01) for part in given]
    alone, ax = ax is None, axes(ax)  # panels of one figure share a legend
    labels = list(parts)
    below = np.zeros(len(labels))
    # Light enough for dark figures inside, and apart in brightness too.
    for part, name, fill in zip(
        range(3), ("utilized", "unused", "lost"), ("#56B4E9", current().free, "#D55E00"), strict=True
    ):
        height = np.array([100.0 * parts[label][part] for label in labels])
        across = range(len(labels))
        ax.bar(
            across, height, bottom=below, color=fill, width=0.62, label=name, edgecolor=current().ground, linewidth=0.4
        )
        for i in np.flatnonzero((height >= 0.05) & (height < 4.0)).tolist():  # beside the bar: a sliver holds no number
            ax.annotate(
                f"{height[i]:.1f}", (i + 0.31, below[i] + height[i] / 2), xytext=(3, 0), textcoords="offset points",
                va="center", fontsize=8, color=current().ink,
            )  # fmt: skip
        for i in np.flatnonzero(height >= 4.0).tolist():
            ax.text(
                i, below[i] + height[i] / 2, f"{height[i]:.1f}", ha="center", va="center", fontsize=9, color=on(fill)
            )
        below += height
    name_ticks(ax, list(map(verbatim, labels)))
    ax.set_xlim(-0.6, len(labels) - 0.3)
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


@entry
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
    log : Workload or Result
        The log, or a run of it.
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
    checks.whole("nodes", nodes, low=1)
    log = log if isinstance(log, type) else getattr(log, "workload", log)
    if isinstance(log, type) or not (hasattr(log, "size") and hasattr(log, "work")):
        refuse("plot_job_sizes", "a Workload, or the Result of one", log)
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
