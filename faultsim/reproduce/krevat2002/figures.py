"""Figures 2 to 8 of [krevat2002] in the paper's arrangement, and the numbers behind each as CSV."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from faultsim.arrays import Floats
from faultsim.plot import PALETTE, plot_capacity, plot_curves, plot_job_sizes
from faultsim.plot.base import new_figure
from faultsim.reproduce.krevat2002.inputs import NODES
from faultsim.reproduce.krevat2002.measures import plotted
from faultsim.reproduce.krevat2002.migration_claims import K24_PAPER
from faultsim.reproduce.krevat2002.runs import SCHEDULERS, Curve, Evidence
from faultsim.reproduce.pictures import HOLLOW, legend_below, printed_edges, printed_lines, printed_points
from faultsim.reproduce.study import Rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOGS = ("nasa", "sdsc")
_COLOURS = dict(zip(SCHEDULERS, (PALETTE[1], PALETTE[0], PALETTE[4], PALETTE[2]), strict=True))
_MARKERS = dict(zip(SCHEDULERS, ("o", "s", "^", "D"), strict=True))
STYLES: dict[str, dict[str, Any]] = {
    name: {"color": _COLOURS[name], "marker": _MARKERS[name]} for name in SCHEDULERS
} | {
    "Flat FCFS": HOLLOW,
    "Flat Backfill": HOLLOW | {"marker": "s"},
}
#: The full migration policy.
CROSSES = {"marker": "x", "linestyle": ":", "markersize": 5, "markeredgewidth": 1.2}
UTILIZATION = "system utilization (%)"
#: What the paper prints: utilizations (%) at which curves end (K9, K11, K14) and at which the bells of Figure 6b fall
#: (K21).
SATURATION = {"nasa": {"FCFS": 77.0, "Migration": 80.0}, "sdsc": {"FCFS": 63.0, "Migration": 73.0, "Flat FCFS": 80.0}}
BELLS = {"Migration": 70.0, "B+M": 77.0}
#: Minutes between migrations on NASA at the least and at the largest utilization (K20).
BETWEEN = (90.0, 30.0)


def _percent(curve: Curve) -> Floats:
    return 100.0 * curve["utilization"]


def _panel(evidence: Evidence, log: str, letter: str) -> str:
    return f"({letter}) {evidence.sources[log].label}"


def _title(figure: "Figure", text: str, evidence: Evidence) -> None:
    figure.suptitle(text + ("  [quick run]" if evidence.quick else ""), fontsize=12)


def _versus_utilization(
    title: str, column: str, label: str, names: Sequence[str] = SCHEDULERS, scale: float = 1.0
) -> Callable[[Evidence], "Figure"]:
    """Two panels, NASA and SDSC: a metric against utilization, one curve per scheduler."""

    def draw(evidence: Evidence) -> "Figure":
        figure = new_figure(9.6, 4.4)
        panels = figure.subplots(1, 2)
        for ax, log, letter in zip(panels, LOGS, "ab", strict=True):
            shown = {name: plotted(evidence, log, name) for name in names}
            curves = {name: (_percent(curve), curve[column] * scale) for name, curve in shown.items()}
            panel = _panel(evidence, log, letter)
            plot_curves(curves, ax=ax, x=UTILIZATION, y=label, log=True, styles=STYLES, title=panel)
            ends = [(at, STYLES[name]["color"]) for name, at in SATURATION[log].items() if name in names]
            printed_lines(ax, ends, words="saturation")
        legend_below(figure, panels[0], 4)
        _title(figure, title, evidence)
        return figure

    return draw


def _fig2(evidence: Evidence) -> "Figure":
    figure = new_figure(9.6, 6.2)
    panels = figure.subplots(2, 2)
    for row, by, letters in ((0, "jobs", "ab"), (1, "work", "cd")):
        for ax, log, letter in zip(panels[row], LOGS, letters, strict=True):
            what = "job sizes" if by == "jobs" else "total work"
            plot_job_sizes(
                evidence.sources[log].log, ax=ax, by=by, nodes=NODES, title=f"{_panel(evidence, log, letter)}: {what}"
            )
    _title(figure, "Fig. 2. Job sizes and total workload", evidence)
    return figure


def _minutes(curve: Curve, column: str) -> Floats:
    count = np.where(curve[column] > 0, curve[column], np.nan)
    return curve["makespan"] / count / 60.0


def _fig6(evidence: Evidence) -> "Figure":
    """Counts above, time between below; total, successful, and most possible (the full policy)."""
    figure = new_figure(10.4, 7.4)
    panels = figure.subplots(2, 2)
    for column, log in enumerate(LOGS):
        for name in ("Migration", "B+M"):
            standard = evidence.curve(log, name + ", always").upto(1.4)
            full = evidence.curve(log, name + ", full").upto(1.4)
            base = {"color": _COLOURS[name]}
            edge = {"markeredgecolor": _COLOURS[name]}
            hollow = edge | {"markerfacecolor": "white", "markeredgewidth": 1.0}
            kinds: list[tuple[str, Curve, str, dict[str, object]]] = [
                ("total", standard, "attempted", {"marker": _MARKERS[name], "linestyle": "-"}),
                ("successful", standard, "successful", {"marker": _MARKERS[name], "linestyle": "--"} | hollow),
                ("max successful", full, "successful", CROSSES | edge),
            ]
            for label, curve, count, style in kinds:
                key = f"{name}: {label}"
                plot_curves(
                    {key: (_percent(curve), curve[count])},
                    ax=panels[0][column],
                    x=UTILIZATION,
                    y="migrations",
                    styles={key: base | style},
                    title=f"{_panel(evidence, log, 'ab'[column])}: number of migrations",
                )
                plot_curves(
                    {key: (_percent(curve), _minutes(curve, count))},
                    ax=panels[1][column],
                    x=UTILIZATION,
                    y="time between migrations (minutes)",
                    styles={key: base | style},
                    title=f"{_panel(evidence, log, 'cd'[column])}: time between migrations",
                )
        if log == "sdsc":
            printed_lines(
                panels[0][column], [(at, _COLOURS[name]) for name, at in BELLS.items()], words="falls from here"
            )
            for name, at in BELLS.items():
                _beside_line(panels[0][column], at, f"{name} falls\nfrom {at:g} %", name == "Migration")
        else:
            ends = _percent(evidence.curve(log, "Migration, always").upto(1.4))
            printed_points(panels[1][column], [float(ends[0]), float(ends[-1])], BETWEEN)
            for at, minutes, side, drop in zip((ends[0], ends[-1]), BETWEEN, ("left", "right"), (-48, 12), strict=True):
                panels[1][column].annotate(
                    f"{minutes:g} min in the paper", (float(at), minutes), xytext=(0, drop), fontsize=8, ha=side,
                    textcoords="offset points",
                )  # fmt: skip
        for row in panels:
            row[column].set_ylim(bottom=0)
    legend_below(figure, panels[0][1], 4)
    _title(figure, "Fig. 6. Migrations against utilization", evidence)
    return figure


def _beside_line(ax: "Axes", at: float, words: str, left: bool) -> None:
    """What a line at `at` means, at its foot."""
    ax.annotate(
        words, (at, 0.03), xycoords=("data", "axes fraction"), xytext=(-4 if left else 4, 0), fontsize=8, va="bottom",
        textcoords="offset points", ha="right" if left else "left",
    )  # fmt: skip


def _fig7(evidence: Evidence) -> "Figure":
    figure = new_figure(9.6, 4.6)
    panels = figure.subplots(1, 2)
    for ax, log, letter in zip(panels, LOGS, "ab", strict=True):
        curves: dict[str, tuple[Floats, Floats]] = {}
        styles: dict[str, dict[str, object]] = {}
        for name in ("Migration", "B+M"):
            for label, which in (("standard policy", ", always"), ("full policy", ", full")):
                curve = evidence.curve(log, name + which).upto(1.4)
                key = f"{name}: {label}"
                curves[key] = (_percent(curve), curve["mean_wait"] / 3600.0)
                styles[key] = {"color": _COLOURS[name], "marker": _MARKERS[name]}
                if which == ", full":
                    styles[key] |= CROSSES | {"markeredgecolor": _COLOURS[name]}
        panel = _panel(evidence, log, letter)
        plot_curves(curves, ax=ax, x=UTILIZATION, y="mean wait (hours)", log=True, styles=styles, title=panel)
    legend_below(figure, panels[0], 4)
    _title(figure, "Fig. 7. Mean job wait time: standard and full migration policy", evidence)
    return figure


def _shares(evidence: Evidence, log: str) -> dict[str, tuple[float, float, float]]:
    points = {name: evidence.curve(log, name).at(1.0) for name in SCHEDULERS}
    return {name: (p["utilization"], p["unused"], p["lost"]) for name, p in points.items()}


def _fig8(evidence: Evidence) -> "Figure":
    figure = new_figure(9.0, 4.4)
    panels = figure.subplots(1, 2, sharey=True)
    for ax, log in zip(panels, LOGS, strict=True):
        shares = _shares(evidence, log)
        plot_capacity(shares, ax=ax, title=evidence.sources[log].label)
        if log == "sdsc":
            utilized, _, lost = shares["FCFS"]
            at = [list(shares).index(name) for name in K24_PAPER]
            tops = [100 * utilized * (1 + more / 100) for more, _ in K24_PAPER.values()]
            edges = [100 - 100 * lost * (1 + less / 100) for _, less in K24_PAPER.values()]
            printed_edges(ax, [*at, *at], [*tops, *edges], "edges of utilized and lost")
    panels[1].set_ylabel("")
    legend_below(figure, panels[1], 4)
    _title(figure, "Fig. 8. Capacity utilized, unused and lost (c = 1.0)", evidence)
    return figure


def _size_rows(evidence: Evidence) -> Rows:
    yield ("log", "size", "jobs", "work_node_seconds")
    for log in LOGS:
        source = evidence.sources[log]
        jobs = np.bincount(source.log.size, minlength=NODES + 1)
        work = np.bincount(source.log.size, weights=source.log.work, minlength=NODES + 1)
        yield from ((source.label, size, int(jobs[size]), float(work[size])) for size in range(1, NODES + 1))


def _curve_rows(names: Sequence[str], columns: Sequence[str]) -> Callable[[Evidence], Rows]:
    def rows(evidence: Evidence) -> Rows:
        yield ("log", "series", "c", *columns)
        for log in LOGS:
            for name in names:
                if (log, name) not in evidence.curves:
                    continue
                curve = evidence.curve(log, name)
                for i, c in enumerate(curve.c):
                    yield (evidence.sources[log].label, name, float(c), *(float(curve[key][i]) for key in columns))

    return rows


def _fig8_rows(evidence: Evidence) -> Rows:
    yield ("log", "scheduler", "utilized", "unused", "lost")
    for log in LOGS:
        yield from ((evidence.sources[log].label, name, *shares) for name, shares in _shares(evidence, log).items())


_MIGRATIONS = tuple(f"{name}{which}" for name in ("Migration", "B+M") for which in (", always", ", full", ""))
_COUNTS = ("utilization", "attempted", "successful", "passes", "makespan")
_SLOWDOWN = ("mean_bounded_slowdown", "mean bounded slowdown")
_WITH_FLAT = (*SCHEDULERS, "Flat FCFS", "Flat Backfill")
#: Name -> (the figure, its numbers).
FIGURES: Mapping[str, tuple[Callable[[Evidence], "Figure"], Callable[[Evidence], Rows]]] = {
    "fig2": (_fig2, _size_rows),
    "fig3": (
        _versus_utilization(
            "Fig. 3. Mean job wait time against utilization", "mean_wait", "mean wait (hours)", scale=1 / 3600.0
        ),
        _curve_rows(SCHEDULERS, ("utilization", "mean_wait")),
    ),
    "fig4": (
        _versus_utilization("Fig. 4. Mean bounded slowdown against utilization", *_SLOWDOWN),
        _curve_rows(SCHEDULERS, ("utilization", "mean_bounded_slowdown")),
    ),
    "fig5": (
        _versus_utilization(
            "Fig. 5. Mean bounded slowdown against utilization: torus and flat machine", *_SLOWDOWN, _WITH_FLAT
        ),
        _curve_rows(_WITH_FLAT, ("utilization", "mean_bounded_slowdown")),
    ),
    "fig6": (_fig6, _curve_rows(_MIGRATIONS, _COUNTS)),
    "fig7": (_fig7, _curve_rows(_MIGRATIONS, ("utilization", "mean_wait"))),
    "fig8": (_fig8, _fig8_rows),
}
