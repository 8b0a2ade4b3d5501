"""Figures of sweeps: a metric along an axis with confidence bands, heat maps, and paired differences."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from faultsim.arrays import Floats, LongIntegers, Values
from faultsim.checks import did_you_mean
from faultsim.entries import entry
from faultsim.errors import OptionError
from faultsim.plot.base import (
    PALETTE,
    axes,
    colour,
    legend_below,
    legend_of_figure,
    name_ticks,
    new_figure,
    room,
    three_digits,
    tick,
    tidy,
    verbatim,
    wide,
)
from faultsim.plot.curves import MARKERS, log_from_zero
from faultsim.plot.given import sweep_of
from faultsim.plot.theme import ThemeName, current, themed
from faultsim.results.metrics import METRICS
from faultsim.results.workflow_metrics import WORKFLOW_METRICS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Most lines that can be distinguished in one figure.
MOST_LINES = 14
_NUMBERS_UP_TO = 120  # most cells of a heat map that show their number


class Cells(Protocol):
    """What `summary` and `compare` of a sweep's table return: columns by name."""

    def __getitem__(self, name: str, /) -> Values: ...
    @property
    def notes(self) -> Sequence[str]:
        """What a reader should know."""


class SweepLike(Protocol):
    """The part of a `faultsim.SweepTable` that these figures need."""

    def __getitem__(self, name: str, /) -> Values: ...
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
    if not unit and name in WORKFLOW_METRICS:
        unit = WORKFLOW_METRICS[name].unit.removesuffix("1")
    if unit == "fraction":
        return f"{words} (%)", 100.0
    return f"{words} ({unit})" if unit else words, 1.0


def limits(metric: str) -> tuple[float, float]:
    """Where the values of a metric can lie, in the unit of its label.

    Examples
    --------
    >>> limits("mean_wait"), limits("utilization")
    ((0.0, inf), (0.0, 100.0))
    """
    name = metric.removeprefix("metric:")
    row = METRICS.get(name) or WORKFLOW_METRICS.get(name)
    if row is None:
        return -math.inf, math.inf
    return 0.0, 100.0 if row.unit == "fraction" else math.inf


#: Axes of sweeps that have a unit.
_AXIS_UNITS = {"start_delay": "s", "downtime": "s"}


def axis_label(axis: str) -> str:
    """An axis of a sweep in words, with its unit.

    Examples
    --------
    >>> axis_label("start_delay"), axis_label("scheduler")
    ('start_delay (s)', 'scheduler')
    """
    unit = _AXIS_UNITS.get(axis)
    return "offered load" if axis == "load" else f"{axis} ({unit})" if unit else axis


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


@entry
@themed
def plot_sweep(
    table: SweepLike,
    metric: str,
    *,
    x: str,
    ax: "Axes | None" = None,
    title: str = "",
    log: bool = False,
    confidence: float = 0.95,
    theme: ThemeName | None = None,
) -> "Axes":
    """Draw the mean of a metric along an axis of a sweep, one line per setting of the other axes.

    The band around a line is the confidence interval of the mean over the replicates, as far as the metric can go: no
    wait is below 0, no share above 100 %. A cell of one run has none.

    Parameters
    ----------
    table : SweepTable
        Rows of a sweep.
    metric : str
        A column of numbers.
    x : str
        The axis along which to draw. The values of one of words stand side by side in their order, as marks with their
        intervals that no line connects.
    title : str
        Title.
    log : bool
        Logarithmic ordinate.
    confidence : float
        Of the intervals, above 0 and below 1.

    Raises
    ------
    OptionError
        If there is no such axis or metric, or there are more than 14 lines.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_sweep
    >>> base = {"log": lambda rng: fs.synthetic.nasa_like(100, rng=rng), "machine": fs.Cluster(128)}
    >>> sweep = fs.Sweep(base, {"load": [0.7, 0.9], "scheduler": [fs.Fcfs(), fs.EasyBackfill()]}, replicates=3)
    >>> ax = plot_sweep(sweep.run(), "mean_wait", x="load")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['fcfs', 'easy']
    """
    sweep_of("plot_sweep", table)
    _known(table, x)
    found = table.summary(metric, confidence=confidence)
    others = [name for name in table.axes if name != x and _several(found[name])]
    lines, keys = _lines(found, others, x)
    ax = axes(ax)
    _draw_lines(ax, metric, found, x, lines, keys)
    label = metric_label(metric)[0]
    if log:
        log_from_zero(ax, _drawn(found, metric))
    tidy(ax, x=verbatim(axis_label(x)), y=label, title=verbatim(title))
    if len(lines) > 1:
        legend_below(ax, title=verbatim(", ".join(others)))
    return ax


def _drawn(found: Cells, metric: str) -> list[Values]:
    """Means and ends of intervals as they are drawn."""
    scale, (least, most) = metric_label(metric)[1], limits(metric)
    return [np.clip(scale * np.asarray(found[name], dtype=float), least, most) for name in ("mean", "low", "high")]


def _draw_lines(
    ax: "Axes",
    metric: str,
    found: "Cells | Mapping[str, Values]",
    x: str,
    lines: Sequence[tuple[object, ...]],
    keys: Sequence[tuple[object, ...]],
) -> None:
    """A line with its band for each of `lines`, of the cells whose key it is; of an axis of words, marks with bars."""
    from matplotlib.colors import to_rgba

    label, scale = metric_label(metric)
    least, most = limits(metric)
    places, names = _places(found[x])
    for i, line in enumerate(lines):
        rows = np.array([key == line for key in keys])
        if not rows.any():
            continue
        order = np.argsort(places[rows], kind="stable")
        at, mean, low, high = (
            np.asarray(column, dtype=float)[rows][order]
            for column in (places, scale * found["mean"], scale * found["low"], scale * found["high"])
        )
        shade, text = colour(i), verbatim(", ".join(map(value_text, line))) or label
        if not np.isnan(low).all():
            low, high = np.clip(low, least, most), np.clip(high, least, most)
        if names is not None:
            beside = at + (i - (len(lines) - 1) / 2) * min(0.12, 0.7 / len(lines))
            reach = np.nan_to_num(np.abs(np.array([low, high]) - mean))
            ax.errorbar(
                beside, mean, yerr=reach, fmt=MARKERS[i % len(MARKERS)], color=shade, markersize=6, capsize=3,
                linewidth=1.2, markeredgecolor=current().ground, markeredgewidth=0.5, label=text,
                markerfacecolor=shade if i < len(PALETTE) else current().ground,
            )  # fmt: skip
            continue
        if not np.isnan(low).all():
            # Outlined, so that bands that overlap can be told apart.
            inside, edge = to_rgba(shade, 0.12), to_rgba(shade, 0.7)
            ax.fill_between(at, low, high, facecolor=inside, edgecolor=edge, linewidth=0.6)
        ax.plot(
            at, mean, color=shade, marker=MARKERS[i % len(MARKERS)], markersize=5, linewidth=1.5,
            markeredgecolor=current().ground, markeredgewidth=0.5,
            linestyle="-" if i < len(PALETTE) else "--", label=text, clip_on=False,
        )  # fmt: skip
    if names is not None:
        ax.set_xlim(-0.5, len(names) - 0.5)
        name_ticks(ax, names)


@entry
@themed
def plot_panels(
    table: SweepLike,
    metric: str,
    *,
    x: str,
    panels: str,
    title: str = "",
    log: bool = False,
    confidence: float = 0.95,
    width: float = 9.0,
    theme: ThemeName | None = None,
) -> "Figure":
    """Draw `plot_sweep` once for each value of an axis, in panels with the same ordinate.

    Parameters
    ----------
    table : SweepTable
        Rows of a sweep.
    metric : str
        A column of numbers.
    x : str
        The axis along which to draw.
    panels : str
        The axis of which each value has a panel.
    title : str
        Title of the figure.
    log : bool
        Logarithmic ordinate.
    confidence : float
        Of the intervals, above 0 and below 1.
    width : float
        Of the figure, in inches; there are as many panels side by side as have 2.8 inches each, at most four.

    Raises
    ------
    OptionError
        If there is no such axis or metric, `x` and `panels` are the same, or a panel has more than 14 lines.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_panels
    >>> run = fs.Run(fs.synthetic.nasa_like(100, rng=1), fs.Cluster(128))
    >>> grid = {"load": [0.7, 0.9], "scheduler": [fs.Fcfs(), fs.EasyBackfill()], "start_delay": [0.0, 60.0]}
    >>> figure = plot_panels(fs.Sweep(run, grid).run(), "mean_wait", x="load", panels="start_delay")
    >>> [ax.get_title() for ax in figure.axes]
    ['start_delay 0 s', 'start_delay 60 s']
    """
    sweep_of("plot_panels", table)
    for name in (x, panels):
        _known(table, name)
    if x == panels:
        raise OptionError(f"x and panels are both {x!r}; give two axes")
    found = table.summary(metric, confidence=confidence)
    others = [name for name in table.axes if name not in (x, panels) and _several(found[name])]
    lines, keys = _lines(found, others, x)
    chosen = [_key(value) for value in found[panels].tolist()]
    values = list(dict.fromkeys(chosen))
    columns = max(1, min(4, len(values), int(width / 2.8)))
    rows = -(-len(values) // columns)
    figure = new_figure(width, 0.9 + 2.5 * rows)
    grid = figure.subplots(rows, columns, sharey=True, squeeze=False)
    label = metric_label(metric)[0]
    for i, ax in enumerate(grid.flat):
        if i >= len(values):
            ax.set_axis_off()
            continue
        here = np.array([value == values[i] for value in chosen])
        part = {name: np.asarray(found[name])[here] for name in (x, "mean", "low", "high")}
        _draw_lines(ax, metric, part, x, lines, [key for key, inside in zip(keys, here, strict=True) if inside])
        if log:
            log_from_zero(ax, _drawn(found, metric))
        last = i + columns >= len(values)
        tidy(
            ax, x=verbatim(axis_label(x)) if last else None, y=label if i % columns == 0 else None,
            title=verbatim(f"{panels} {value_text(values[i])} {_AXIS_UNITS.get(panels, '')}".strip()),
        )  # fmt: skip
    if title:
        figure.suptitle(verbatim(title), fontsize=12, color=current().ink)
    if len(lines) > 1:
        legend_of_figure(figure, grid[0, 0], title=verbatim(", ".join(others)))
    return figure


def _lines(found: Cells, others: Sequence[str], x: str) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """Each combination of values of the other axes once, and that of each cell."""
    keys = list(zip(*(map(_key, found[name].tolist()) for name in others), strict=True)) or [()] * len(found[x])
    lines = list(dict.fromkeys(keys))
    if len(lines) > MOST_LINES:
        raise OptionError(
            f"{len(lines)} lines ({', '.join(others)}) are more than the {MOST_LINES} that a figure can show; "
            f"use a part of the table by select({others[-1]}=...) or where(...)"
        )
    return lines, keys


@entry
@themed
def plot_heatmap(
    table: SweepLike,
    metric: str,
    *,
    x: str,
    y: str,
    ax: "Axes | None" = None,
    title: str = "",
    theme: ThemeName | None = None,
) -> "Axes":
    """Draw the mean of a metric over two axes of a sweep as colours, with the numbers where there is room.

    Parameters
    ----------
    table : SweepTable
        Rows of a sweep, in which the other axes have one value each.
    metric : str
        A column of numbers.
    x, y : str
        The axes across and up.
    title : str
        Title.

    Raises
    ------
    OptionError
        If there is no such axis or metric, or another axis has several values.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_heatmap
    >>> run = fs.Run(fs.synthetic.nasa_like(100, rng=1), fs.Cluster(128))
    >>> table = fs.Sweep(run, {"load": [0.7, 0.9], "start_delay": [0.0, 60.0]}).run()
    >>> ax = plot_heatmap(table, "mean_wait", x="load", y="start_delay")
    >>> ax.images[0].get_array().shape
    (2, 2)
    """
    sweep_of("plot_heatmap", table)
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
    from matplotlib.ticker import FuncFormatter

    grid = np.full((len(y_names), len(x_names)), np.nan)
    grid[up, across] = scale * found["mean"]
    ax = axes(ax, 1.8 + 0.75 * len(x_names), 1.4 + 0.5 * len(y_names))
    image = ax.imshow(grid, origin="lower", aspect="auto", cmap="cividis")
    bar = ax.figure.colorbar(image, ax=ax)
    bar.set_label(label, color=current().ink, fontsize=10)
    bar.ax.tick_params(color=current().soft, labelcolor=current().ink, labelsize=9)
    bar.ax.yaxis.set_major_formatter(FuncFormatter(tick))
    bar.outline.set_visible(False)
    low, high = (np.nanmin(grid), np.nanmax(grid)) if not np.isnan(grid).all() else (0.0, 0.0)
    if grid.size <= _NUMBERS_UP_TO and room(ax) / len(x_names) > 0.42 and room(ax, across=False) / len(y_names) > 0.16:
        for (row, column), value in np.ndenumerate(grid):
            if not np.isnan(value):
                ink = "#1B1C1E" if value > low + 0.45 * (high - low) else "#FAFAFA"
                ax.text(column, row, three_digits(value), ha="center", va="center", fontsize=8, color=ink)
    tidy(ax, x=verbatim(axis_label(x)), y=verbatim(axis_label(y)), title=verbatim(title), grid=False)
    name_ticks(ax, x_names, taken=0.6 + wide(y_names, 9))
    every = max(1, math.ceil(0.16 * len(y_names) / room(ax, across=False)))
    ax.set_yticks(range(0, len(y_names), every), y_names[::every])
    return ax


@entry
@themed
def plot_differences(
    table: SweepLike,
    metric: str,
    axis: str,
    baseline: object,
    *,
    ax: "Axes | None" = None,
    title: str = "",
    confidence: float = 0.95,
    theme: ThemeName | None = None,
) -> "Axes":
    """Draw how much the values of an axis differ from a baseline, replicate by replicate, with intervals.

    A full mark is a difference that the paired test calls significant with Holm's correction for the number of rows, an
    open one a difference that the replicates do not show. Intervals are of one row each, without the correction: with
    many rows one may be clear of 0 although its difference is not significant, and the legend says so.

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
    title : str
        Title.
    confidence : float
        Of the intervals and tests, above 0 and below 1.

    Raises
    ------
    OptionError
        If there is no such metric, axis or value.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_differences
    >>> base = {"log": lambda rng: fs.synthetic.nasa_like(200, rng=rng), "machine": fs.Cluster(128), "load": 0.9}
    >>> table = fs.Sweep(base, {"scheduler": [fs.Fcfs(), fs.EasyBackfill()]}, replicates=5).run()
    >>> ax = plot_differences(table, "mean_wait", "scheduler", "fcfs")
    >>> ax.get_xlabel()
    'difference of the mean wait (s) from fcfs'
    """
    sweep_of("plot_differences", table)
    found = table.compare(metric, axis, baseline, confidence=confidence)
    label, scale = metric_label(metric)
    names = [name for name in table.axes if name == axis or _several(table[name])]
    rows = [
        verbatim(", ".join(map(value_text, row))) for row in zip(*(found[name].tolist() for name in names), strict=True)
    ]
    mean, low, high = (scale * np.asarray(found[name], dtype=float) for name in ("difference", "low", "high"))
    sure = np.asarray(found["significant"], dtype=bool)
    clear = ~sure & ((low > 0) | (high < 0))
    holm = "after Holm's correction" if len(rows) > 1 else ""
    ax = axes(ax, 7.0, 1.6 + 0.32 * len(rows))
    shown = current()
    at = np.arange(len(rows))
    for row in at[::2].tolist():  # a stripe under every second row, so that the eye keeps to it
        ax.axhspan(row - 0.5, row + 0.5, color=shown.line, alpha=0.35, linewidth=0, zorder=0)
    ax.axvline(0.0, color=shown.soft, linewidth=1.0, zorder=1)
    for chosen, shade, face, words in (
        (sure, colour(0), colour(0), f"significant {holm}"),
        (clear, colour(0), shown.ground, f"significant alone,\nnot {holm}\nfor {len(rows)} rows"),
        (~sure & ~clear, shown.soft, shown.ground, "not significant"),
    ):
        if chosen.any():
            reach = np.abs(np.array([low, high])[:, chosen] - mean[chosen])
            ax.errorbar(
                mean[chosen], at[chosen], xerr=np.nan_to_num(reach), fmt="o", color=shade, markerfacecolor=face,
                markersize=6, capsize=3, linewidth=1.2, label=words.strip(),
            )  # fmt: skip
    ax.set_ylim(len(rows) - 0.5, -0.5)
    of, beside = f"difference of the {label}", f"from {verbatim(value_text(baseline))}"
    shown_rows = [textwrap.shorten(row, 60, placeholder="...") for row in rows]
    taken = max(0.0, wide(shown_rows, 9) - 0.2)
    tidy(ax, x=f"{of} {beside}", y=verbatim(", ".join(names)), title=verbatim(title), taken=taken)
    ax.grid(False, axis="y")
    ax.set_yticks(at, shown_rows)
    legend_below(ax)
    return ax


def _known(table: SweepLike, axis: str) -> None:
    if axis not in table.axes:
        raise OptionError(f"no axis {axis!r}{did_you_mean(axis, table.axes)}; axes: {', '.join(table.axes)}")


def _key(value: object) -> object:
    """NaN equals nothing, also not itself."""
    return None if isinstance(value, float) and math.isnan(value) else value


def _several(column: Values) -> bool:
    return len({str(_key(value)) for value in column.tolist()}) > 1


def _places(column: Values) -> tuple[Floats, list[str] | None]:
    """Numbers at their positions, words side by side with their names."""
    if column.dtype.kind in "iuf" and not np.isnan(column.astype(float)).any():
        return column.astype(float), None
    order: Mapping[object, int] = {value: i for i, value in enumerate(dict.fromkeys(map(_key, column.tolist())))}
    places = np.array([order[_key(value)] for value in column.tolist()], dtype=float)
    return places, [verbatim(value_text(value)) for value in order]


def _ranks(column: Values) -> tuple[LongIntegers, list[str]]:
    """Numbers in their order, words in the order in which they come, each with its name."""
    values = list(dict.fromkeys(map(_key, column.tolist())))
    if column.dtype.kind in "iuf":
        values.sort(key=lambda value: (value is None, value))
    rank = {value: i for i, value in enumerate(values)}
    return np.array([rank[_key(value)] for value in column.tolist()]), [verbatim(value_text(value)) for value in values]
