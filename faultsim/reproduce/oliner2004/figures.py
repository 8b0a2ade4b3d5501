"""Figures 3 to 10 of [oliner2004] in the paper's arrangement, and the numbers behind each as CSV.

Curves are means over the replicates; the band is the 95 % confidence interval of the mean.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from faultsim.arrays import Floats
from faultsim.plot import PALETTE, plot_curves
from faultsim.plot.base import new_figure, tidy
from faultsim.reproduce.oliner2004.claims import AXES
from faultsim.reproduce.oliner2004.inputs import TRACES
from faultsim.reproduce.oliner2004.runs import COLUMNS, FIGURE_3, LOADS, LOGS, Evidence, key
from faultsim.reproduce.pictures import band, legend_below, printed_lines, titled
from faultsim.reproduce.study import Rows
from faultsim.sweep.jackknife import half_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SLOWDOWN = "average bounded slowdown"
FAILURES = "node failures"
_LOAD_COLOURS = {1.0: PALETTE[0], 1.2: PALETTE[1]}
_LOAD_MARKERS = {1.0: "o", 1.2: "s"}
_PARTS = {"utilized": "#56B4E9", "unused": "#E8EAED", "lost": "#D55E00"}


def _curves(ax: "Axes", curves: Mapping[str, tuple[Sequence[float], Floats, int]], x: str, title: str) -> None:
    """Mean curves with their bands: label -> (x, values of shape (x, replicates), number of the colour)."""
    styles = {label: {"color": PALETTE[which], "marker": "os^D"[which]} for label, (_, _, which) in curves.items()}
    means = {label: (across, values.mean(axis=1)) for label, (across, values, _) in curves.items()}
    plot_curves(means, ax=ax, x=x, y=SLOWDOWN, title=title, styles=styles)
    for across, values, which in curves.values():
        middle, half = values.mean(axis=1), half_width(values)
        if np.isfinite(half).all():
            band(ax, across, middle - half, middle + half, PALETTE[which])
    ax.set_ylim(bottom=0)


def _shares(ax: "Axes", across: Sequence[float], shares: Sequence[Floats], x: str, title: str) -> None:
    """Utilized, unused and lost capacity as stacked areas."""
    heights = [100 * values.mean(axis=1) for values in shares]
    ax.stackplot(across, heights, colors=list(_PARTS.values()), labels=list(_PARTS), edgecolor="white", linewidth=0.6)
    ax.set(xlim=(across[0], across[-1]), ylim=(0, 100))
    tidy(ax, x=x, y="share of the capacity (%)", title=title, grid=False)


def _fig3(e: Evidence) -> "Figure":
    figure = new_figure(7.6, 4.6)
    ax = figure.subplots()
    curves = {f"a = {a}": (e.what.counts, e.over_counts("slowdown", 1.0, a), i) for i, a in enumerate(FIGURE_3)}
    _curves(ax, curves, FAILURES, f"{e.sources['sdsc'].label}, c = 1.0")
    legend_below(figure, ax, 3)
    titled(figure, "Fig. 3. Slowdown against failures, with and without prediction", e)
    return figure


def _fig4(e: Evidence) -> "Figure":
    figure = new_figure(7.6, 4.6)
    ax = figure.subplots()
    curves = {f"c = {c}": (e.what.counts, e.over_counts("slowdown", c, 0.1), i) for i, c in enumerate(LOADS)}
    _curves(ax, curves, FAILURES, f"{e.sources['sdsc'].label}, balancing, a = 0.1")
    legend_below(figure, ax, 2)
    titled(figure, "Fig. 4. Slowdown against failures for two loads", e)
    return figure


def _fig5(e: Evidence) -> "Figure":
    figure = new_figure(9.6, 4.4)
    panels = figure.subplots(1, 2, sharey=True)
    for ax, c, letter in zip(panels, LOADS, "ab", strict=True):
        shares = [e.over_counts(part, c, 0.1) for part in _PARTS]
        _shares(ax, e.what.counts, shares, FAILURES, f"({letter}) c = {c}")
    panels[1].set_ylabel("")
    legend_below(figure, panels[0], 3)
    titled(figure, f"Fig. 5. Capacity against failures, {e.sources['sdsc'].label}, balancing, a = 0.1", e)
    return figure


def _versus_prediction(number: int, scheduler: str, x: str) -> Callable[[Evidence], "Figure"]:
    def draw_it(e: Evidence) -> "Figure":
        figure = new_figure(12.6, 4.4)
        panels = figure.subplots(1, 3)
        for ax, log, letter in zip(panels, LOGS, "abc", strict=True):
            curves = {f"c = {c}": (e.what.grid, e.along("slowdown", log, c, scheduler), i) for i, c in enumerate(LOADS)}
            _curves(ax, curves, x, f"({letter}) {e.sources[log].label}")
            if number == 6 and e.sources[log].real:
                printed_lines(ax, [(end, "#000000") for end in AXES[log]], across=True, words="ends of the axis")
        legend_below(figure, panels[0], 3)
        titled(figure, f"Fig. {number}. Slowdown against {x}, {scheduler}", e)
        return figure

    return draw_it


def _capacity(number: int, log: str, scheduler: str, x: str) -> Callable[[Evidence], "Figure"]:
    def draw_it(e: Evidence) -> "Figure":
        figure = new_figure(9.6, 4.4)
        panels = figure.subplots(1, 2, sharey=True)
        for ax, c, letter in zip(panels, LOADS, "ab", strict=True):
            shares = [e.along(part, log, c, scheduler) for part in _PARTS]
            _shares(ax, e.what.grid, shares, x, f"({letter}) c = {c}")
        panels[1].set_ylabel("")
        legend_below(figure, panels[0], 3)
        titled(figure, f"Fig. {number}. Capacity against {x}, {e.sources[log].label}, {scheduler}", e)
        return figure

    return draw_it


_METRICS = ("slowdown", "slowdown_min", "response", "utilized", "unused", "lost", "kills")
_HEAD = ("log", "c", "scheduler", "a", "failures", *(f"{name}{end}" for name in _METRICS for end in ("", "_half")))


def _row(e: Evidence, log: str, c: float, scheduler: str, a: float, count: int) -> list[object]:
    """Means over the replicates and the half widths of their 95 % intervals."""
    columns = e.runs[key(log, c, scheduler, a, count)]
    values = [float(v) for name in _METRICS for v in (columns[name].mean(), half_width(columns[name]))]
    return [e.sources[log].label, c, scheduler, a, count, *values]


def _count_rows(settings: Sequence[tuple[float, float]]) -> Callable[[Evidence], Rows]:
    def rows(e: Evidence) -> Rows:
        yield _HEAD
        for c, a in settings:
            yield from (_row(e, "sdsc", c, "balancing", a, count) for count in e.what.counts)

    return rows


def _prediction_rows(logs: Sequence[str], scheduler: str) -> Callable[[Evidence], Rows]:
    def rows(e: Evidence) -> Rows:
        yield _HEAD
        for log in logs:
            for c in LOADS:
                yield from (_row(e, log, c, scheduler, a, TRACES[log].count) for a in e.what.grid)

    return rows


_BOTH_LOADS = tuple((c, 0.1) for c in LOADS)
#: Name -> (the figure, its numbers).
FIGURES: Mapping[str, tuple[Callable[[Evidence], "Figure"], Callable[[Evidence], Rows]]] = {
    "fig3": (_fig3, _count_rows([(1.0, a) for a in FIGURE_3])),
    "fig4": (_fig4, _count_rows(_BOTH_LOADS)),
    "fig5": (_fig5, _count_rows(_BOTH_LOADS)),
    "fig6": (_versus_prediction(6, "balancing", "confidence"), _prediction_rows(LOGS, "balancing")),
    "fig7": (_capacity(7, "nasa", "balancing", "confidence"), _prediction_rows(("nasa",), "balancing")),
    "fig8": (_capacity(8, "llnl", "balancing", "confidence"), _prediction_rows(("llnl",), "balancing")),
    "fig9": (_versus_prediction(9, "tie-breaking", "accuracy"), _prediction_rows(LOGS, "tie-breaking")),
    "fig10": (_capacity(10, "llnl", "tie-breaking", "accuracy"), _prediction_rows(("llnl",), "tie-breaking")),
}


def run_rows(e: Evidence) -> Rows:
    """Every run: its setting, its replicate, its columns."""
    yield ("log", "c", "scheduler", "a", "failures", "replicate", *COLUMNS)
    for setting, columns in e.runs.items():
        for i in range(e.what.replicates if setting.failures else 1):
            label = e.sources[setting.log].label
            yield (label, *setting[1:], i, *(float(columns[name][i]) for name in COLUMNS))
