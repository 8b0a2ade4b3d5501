"""Figures of sweeps: a metric along an axis with confidence bands, heat maps, and paired differences."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from faultsim.checks import did_you_mean
from faultsim.errors import OptionError
from faultsim.plot.base import GREY, PALETTE, axes, tidy, verbatim
from faultsim.plot.curves import MARKERS
from faultsim.results.metrics import METRICS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Most lines that can be distinguished in one figure.
MOST_LINES = 14
_NUMBERS_UP_TO = 120  # most cells of a heat map that show their number


class Cells(Protocol):
    """What `summary` and `compare` of a sweep's table return: columns by name."""

    def __getitem__(self, name: str, /) -> NDArray[Any]: ...
    @property
    def notes(self) -> Sequence[str]:
        """What a reader should know."""


class SweepLike(Protocol):
    """The part of a `faultsim.SweepTable` that these figures need."""

    def __getitem__(self, name: str, /) -> NDArray[Any]: ...
    @property
    def axes(self) -> Sequence[str]:
        """Names of the columns that identify the cell."""

    def summary(self, metric: str, *, confidence: float = ...) -> Cells: ...
    def compare(self, metric: str, axis: str, baseline: object, *, confidence: float = ...) -> Cells: ...


def metric_label(metric: str) -> tuple[str, float]:
    """A metric in words with its unit, and the factor to that unit.

    Examples
    --------
    >>> metric_label("mean_wait"), metric_label("utilization")
    (('mean wait (s)', 1.0), ('utilization (%)', 100.0))
    """
    name = metric.removeprefix("metric:")
    words = name.replace("_", " ")
    unit = METRICS[name].unit if name in METRICS else ""
    if unit == "fraction":
        return f"{words} (%)", 100.0
    return f"{words} ({unit})" if unit else words, 1.0


def value_text(value: object) -> str:
    """The value of an axis in words.

    Examples
    --------
    >>> value_text(0.5), value_text("easy"), value_text(float("nan"))
    ('0.5', 'easy', 'none')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "none"
    return f"{value:,.6g}" if isinstance(value, float) else str(value)


def plot_sweep(
    table: SweepLike,
    metric: str,
    *,
    x: str,
    ax: "Axes | None" = None,
    title: str = "",
    log: bool = False,
    confidence: float = 0.95,
) -> "Axes":
    """Draw the mean of a metric along an axis of a sweep, one line per setting of the other axes.

    The band around a line is the confidence interval of the mean over the replicates; a cell of one run has none.

    Parameters
    ----------
    table : SweepTable
        Rows of a sweep.
    metric : str
        A column of numbers.
    x : str
        The axis along which to draw; one of words is drawn in the order of its values.
    ax : Axes, optional
        Where to draw; by default a new figure.
    title : str
        Title.
    log : bool
        Logarithmic ordinate.
    confidence : float
        Of the intervals, above 0 and below 1.

    Returns
    -------
    Axes

    Raises
    ------
    OptionError
        If there is no such axis or metric, or there are more than 14 lines.
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_sweep
    >>> base = {"log": lambda rng: fs.synthetic.nasa_like(100, rng), "machine": fs.Cluster(128)}
    >>> sweep = fs.Sweep(base, {"load": [0.7, 0.9], "scheduler": [fs.Fcfs(), fs.EasyBackfill()]}, replicates=3)
    >>> ax = plot_sweep(sweep.run(), "mean_wait", x="load")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['fcfs', 'easy']
    """
    _known(table, x)
    found = table.summary(metric, confidence=confidence)
    others = [name for name in table.axes if name != x and _several(found[name])]
    keys = list(zip(*(map(_key, found[name].tolist()) for name in others), strict=True)) or [()] * len(found[x])
    lines = list(dict.fromkeys(keys))
    if len(lines) > MOST_LINES:
        raise OptionError(
            f"{len(lines)} lines ({', '.join(others)}) are more than the {MOST_LINES} that a figure can show; "
            f"use a part of the table by select({others[-1]}=...) or where(...)"
        )
    ax = axes(ax)
    label, scale = metric_label(metric)
    places, names = _places(found[x])
    for i, line in enumerate(lines):
        rows = np.array([key == line for key in keys])
        order = np.argsort(places[rows], kind="stable")
        at, mean, low, high = (
            np.asarray(column, dtype=float)[rows][order]
            for column in (places, scale * found["mean"], scale * found["low"], scale * found["high"])
        )
        colour = PALETTE[i % len(PALETTE)]
        if not np.isnan(low).all():
            ax.fill_between(at, low, high, color=colour, alpha=0.15, linewidth=0)
        ax.plot(
            at, mean, color=colour, marker=MARKERS[i % len(MARKERS)], markersize=4.5, linewidth=1.4,
            linestyle="-" if i < len(PALETTE) else "--", label=verbatim(", ".join(map(value_text, line))) or label,
        )  # fmt: skip
    if log:
        ax.set_yscale("log")
    if names is not None:
        _name_ticks(ax, names, 70.0 / len(names))
    if len(lines) > 1:
        ax.legend(fontsize=9, title=verbatim(", ".join(others)), title_fontsize=9, frameon=False)
    return tidy(ax, x=verbatim(x), y=label, title=title)


def plot_heatmap(table: SweepLike, metric: str, *, x: str, y: str, ax: "Axes | None" = None, title: str = "") -> "Axes":
    """Draw the mean of a metric over two axes of a sweep as colours, with the numbers where there is room.

    Parameters
    ----------
    table : SweepTable
        Rows of a sweep, in which the other axes have one value each.
    metric : str
        A column of numbers.
    x, y : str
        The axes across and up.
    ax : Axes, optional
        Where to draw; by default a new figure.
    title : str
        Title.

    Returns
    -------
    Axes

    Raises
    ------
    OptionError
        If there is no such axis or metric, or another axis has several values.
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_heatmap
    >>> run = fs.Run(fs.synthetic.nasa_like(100, 1), fs.Cluster(128))
    >>> table = fs.Sweep(run, {"load": [0.7, 0.9], "start_delay": [0.0, 60.0]}).run()
    >>> ax = plot_heatmap(table, "mean_wait", x="load", y="start_delay")
    >>> ax.images[0].get_array().shape
    (2, 2)
    """
    for name in (x, y):
        _known(table, name)
    if x == y:
        raise OptionError(f"x and y are both {x!r}; a heat map needs two axes")
    found = table.summary(metric)
    for name in table.axes:
        if name not in (x, y) and _several(found[name]):
            raise OptionError(f"axis {name} has several values; choose one by table.select({name}=...)")
    label, scale = metric_label(metric)
    across, x_names = _ranks(found[x])
    up, y_names = _ranks(found[y])
    grid = np.full((len(y_names), len(x_names)), np.nan)
    grid[up, across] = scale * found["mean"]
    ax = axes(ax, 1.8 + 0.75 * len(x_names), 1.4 + 0.5 * len(y_names))
    image = ax.imshow(grid, origin="lower", aspect="auto", cmap="cividis")
    ax.figure.colorbar(image, ax=ax, label=label)
    middle = np.nanmean([np.nanmin(grid), np.nanmax(grid)]) if not np.isnan(grid).all() else 0.0
    if grid.size <= _NUMBERS_UP_TO:
        for (row, column), value in np.ndenumerate(grid):
            colour = "#202124" if value > middle else "white"
            text = "" if np.isnan(value) else f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
            ax.text(column, row, text, ha="center", va="center", fontsize=8, color=colour)
    _name_ticks(ax, x_names, 8.0)
    ax.set_yticks(range(len(y_names)), y_names)
    return tidy(ax, x=verbatim(x), y=verbatim(y), title=title, grid=False)


def plot_differences(
    table: SweepLike,
    metric: str,
    axis: str,
    baseline: object,
    *,
    ax: "Axes | None" = None,
    title: str = "",
    confidence: float = 0.95,
) -> "Axes":
    """Draw how much the values of an axis differ from a baseline, replicate by replicate, with intervals.

    A full mark is a difference that the paired test calls significant (with Holm's correction for the number of rows),
    an open one a difference that the replicates do not show.

    Parameters
    ----------
    table : SweepTable
        Rows of a sweep with replicates.
    metric : str
        A column of numbers.
    axis : str
        What differs.
    baseline : label
        The value of `axis` that the others are compared with.
    ax : Axes, optional
        Where to draw; by default a new figure.
    title : str
        Title.
    confidence : float
        Of the intervals and tests, above 0 and below 1.

    Returns
    -------
    Axes

    Raises
    ------
    OptionError
        If there is no such metric, axis or value.
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_differences
    >>> base = {"log": lambda rng: fs.synthetic.nasa_like(200, rng), "machine": fs.Cluster(128), "load": 0.9}
    >>> table = fs.Sweep(base, {"scheduler": [fs.Fcfs(), fs.EasyBackfill()]}, replicates=5).run()
    >>> ax = plot_differences(table, "mean_wait", "scheduler", "fcfs")
    >>> ax.get_xlabel()
    'difference of the mean wait (s) from fcfs'
    """
    found = table.compare(metric, axis, baseline, confidence=confidence)
    label, scale = metric_label(metric)
    names = [name for name in table.axes if name == axis or _several(table[name])]
    rows = [
        verbatim(", ".join(map(value_text, row))) for row in zip(*(found[name].tolist() for name in names), strict=True)
    ]
    mean, low, high = (scale * np.asarray(found[name], dtype=float) for name in ("difference", "low", "high"))
    sure = np.asarray(found["significant"], dtype=bool)
    ax = axes(ax, 7.0, 1.2 + 0.32 * len(rows))
    ax.axvline(0.0, color=GREY, linewidth=1.0)
    at = np.arange(len(rows))
    for chosen, colour, face, words in (
        (sure, PALETTE[0], PALETTE[0], "significant"),
        (~sure, GREY, "white", "not significant"),
    ):
        if chosen.any():
            reach = np.abs(np.array([low, high])[:, chosen] - mean[chosen])
            ax.errorbar(
                mean[chosen], at[chosen], xerr=np.nan_to_num(reach), fmt="o", color=colour, markerfacecolor=face,
                markersize=6, capsize=3, linewidth=1.2, label=words,
            )  # fmt: skip
    ax.set_yticks(at, rows)
    ax.invert_yaxis()
    of, beside = f"difference of the {label}", f"from {value_text(baseline)}"
    ax.legend(fontsize=8, frameon=False, loc="best")
    words = f"{of}{' ' if len(of) + len(beside) < 48 else chr(10)}{verbatim(beside)}"
    return tidy(ax, x=words, y=verbatim(", ".join(names)), title=title)


def _name_ticks(ax: "Axes", names: Sequence[str], room: float) -> None:
    """Names below the axis, slanted if one is too long for the space."""
    if max(map(len, names)) > room:
        ax.set_xticks(range(len(names)), names, rotation=30, ha="right", rotation_mode="anchor")
    else:
        ax.set_xticks(range(len(names)), names)


def _known(table: SweepLike, axis: str) -> None:
    if axis not in table.axes:
        raise OptionError(f"no axis {axis!r}{did_you_mean(axis, table.axes)}; axes: {', '.join(table.axes)}")


def _key(value: object) -> object:
    """NaN equals nothing, also not itself."""
    return None if isinstance(value, float) and math.isnan(value) else value


def _several(column: NDArray[Any]) -> bool:
    return len({str(_key(value)) for value in column.tolist()}) > 1


def _places(column: NDArray[Any]) -> tuple[NDArray[np.float64], list[str] | None]:
    """Numbers at their positions, words side by side with their names."""
    if column.dtype.kind in "iuf" and not np.isnan(column.astype(float)).any():
        return column.astype(float), None
    order: Mapping[Any, int] = {value: i for i, value in enumerate(dict.fromkeys(map(_key, column.tolist())))}
    places = np.array([order[_key(value)] for value in column.tolist()], dtype=float)
    return places, [verbatim(value_text(value)) for value in order]


def _ranks(column: NDArray[Any]) -> tuple[NDArray[np.int64], list[str]]:
    """Numbers in their order, words in the order in which they come, each with its name."""
    values = list(dict.fromkeys(map(_key, column.tolist())))
    if column.dtype.kind in "iuf":
        values.sort(key=lambda value: (value is None, value))
    rank = {value: i for i, value in enumerate(values)}
    return np.array([rank[_key(value)] for value in column.tolist()]), [verbatim(value_text(value)) for value in values]
