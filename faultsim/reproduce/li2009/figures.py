"""Figures 4 to 10 of [li2009] in the paper's arrangement, and one that no paper has: FARS with what it may go with.

Bars and curves are means over the replicates, whiskers and bands their 95 % confidence intervals (from five on).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from faultsim.arrays import Floats
from faultsim.plot import PALETTE, plot_curves, plot_kiviat
from faultsim.plot.base import new_figure, tidy
from faultsim.reproduce.li2009.claims import DISTRIBUTIONS, FIG4, FIG5, FIG9, label
from faultsim.reproduce.li2009.inputs import HOUR
from faultsim.reproduce.li2009.measures import composites, grid, means, relative
from faultsim.reproduce.li2009.runs import COMBINED, COMBINED_LOADS, DRAWN, EASY, METHODS, STRATEGIES, Evidence, Place
from faultsim.reproduce.li2009.tables import ROWS
from faultsim.reproduce.pictures import IN_THE_PAPER, band, printed_points, titled
from faultsim.reproduce.study import Rows
from faultsim.sweep.jackknife import Estimate, half_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

#: Replicates from which on intervals are drawn.
_LEAST = 5
#: Metric -> title of its panel, and what it is multiplied by.
_PANELS = {
    "mean_response": ("response time (s)", 1.0),
    "utilization": ("utilization (%)", 100.0),
    "throughput": ("throughput (jobs/h)", HOUR),
    "service_unit_loss": ("service unit loss (1000 CPU-h)", 1e-3 / HOUR),
    "job_failure_rate": ("job failure rate (%)", 100.0),
    "failure_slowdown": ("failure slowdown", 1.0),
}
#: What the paper prints: composite gains of the strategies (%, F1 to F3), response times of EASY and of them (s, F5),
#: and of the gains over the load and the MTBF (days) what is reached, and what is exceeded (F8, F11, F13).
PRINTED_GAINS = {"exp": FIG4, "weibull": FIG5, "trace": FIG9}
PRINTED_RESPONSE = {"exp": (19_400.0, 18_000.0)}
PRINTED_COMPOSITE = {
    6: {False: [(0.7, 30.0)], True: [(0.95, 15.0)]},
    7: {True: [(7.0, 20.0), (14.0, 30.0), (120.0, 35.0)]},
}
PRINTED_METRICS = {7: [(3.5, 40.0), (448.0, 0.0)]}
_CURVES = {
    "mean_response": "Resp",
    "utilization": "Util",
    "throughput": "Thru",
    "service_unit_loss": "SUL",
    "job_failure_rate": "JFR",
    "failure_slowdown": "FSD",
}


def _bars(ax: "Axes", e: Evidence, place: Place, metric: str) -> None:
    title, scale = _PANELS[metric]
    found = [scale * e.at(place, name)[metric] for name in METHODS]
    middle = [v.mean() for v in found]
    half = [half_width(v) for v in found] if e.what.replicates >= _LEAST else None
    ax.bar(range(len(METHODS)), middle, yerr=half, color=PALETTE[: len(METHODS)], error_kw={"elinewidth": 0.8})
    if metric == "job_failure_rate":  # "the data label indicates the actual number of failed jobs"
        for x, (name, y) in enumerate(zip(METHODS, middle, strict=True)):
            count = e.at(place, name)["failed_jobs"].mean()
            ax.annotate(f"{count:.0f}", (x, 0.5 * y), ha="center", fontsize=8, color="white")
    ax.set_xticks(range(len(METHODS)), ["EASY", *STRATEGIES], fontsize=8)
    tidy(ax, title=title)
    if metric == "mean_response" and place.source in PRINTED_RESPONSE:
        clean, ours = PRINTED_RESPONSE[place.source]
        printed_points(ax, range(len(METHODS)), [clean] + [ours] * len(STRATEGIES))
        ax.set_ylim(top=1.25 * clean)
        ax.legend(frameon=False, fontsize=8, loc="upper right")
    ax.tick_params(axis="x", labelsize=8)


def _baseline(figure: Any, e: Evidence, place: Place, title: str) -> None:
    """Six panels and the Kiviat graph beside them, on a figure or a part of one."""
    left, right = figure.subfigures(1, 2, width_ratios=(2.1, 1))
    panels = left.subplots(2, 3)
    for ax, metric in zip(panels.flat, _PANELS, strict=True):
        _bars(ax, e, place, metric)
    kiviat = {name: means(e.at(place, name)) for name in METHODS}
    gains = ", ".join(f"{name} {gain:.1f} %" for name, gain in PRINTED_GAINS[place.source].items())
    plot_kiviat(kiviat, baseline=EASY, ax=right.subplots(), title=f"{title}\n{IN_THE_PAPER} (%): {gains}")


def _one(number: int, source: str) -> Callable[[Evidence], "Figure"]:
    def draw_it(e: Evidence) -> "Figure":
        figure = new_figure(13.0, 5.4)
        _baseline(figure, e, Place(source), "composite gain over EASY")
        titled(figure, f"Fig. {number}. {e.sources[source].label.capitalize()}", e)
        return figure

    return draw_it


def _fig9(e: Evidence) -> "Figure":
    figure = new_figure(13.0, 10.4)
    parts = figure.subfigures(len(e.what.trace_loads), 1, squeeze=False)
    for part, load in zip(parts.flat, e.what.trace_loads, strict=True):
        _baseline(part, e, Place("trace", load), f"failure-free load {load:g}")
    titled(figure, f"Fig. 9. System trace{'' if e.sources['trace'].real else ' (stand-in)'}", e)
    return figure


def _band(ax: "Axes", x: Sequence[float], found: Sequence[Estimate], which: int, shown: bool) -> None:
    middle, half = (np.array([getattr(estimate, name) for estimate in found]) for name in ("value", "half"))
    if shown and np.isfinite(half).all():
        band(ax, x, 100 * (middle - half), 100 * (middle + half), PALETTE[which], least=-np.inf)


def _gains(
    ax: "Axes", e: Evidence, x: Sequence[float], curves: Mapping[str, list[Estimate]], words: str, title: str
) -> None:
    lines = {name: (x, [100 * gain.value for gain in found]) for name, found in curves.items()}
    plot_curves(lines, ax=ax, x=words, y="gain over EASY (%)", title=title)
    for which, found in enumerate(curves.values()):
        _band(ax, x, found, which, e.what.replicates >= _LEAST)
    ax.axhline(0, color="#5F6368", linewidth=0.8)


def _sensitivity(
    number: int, text: str, words: str, places: Callable[[Evidence, str], tuple[list[float], list[Place]]]
) -> Callable[[Evidence], "Figure"]:
    def draw_it(e: Evidence) -> "Figure":
        figure = new_figure(11.0, 8.4)
        axes = figure.subplots(2, 2)
        for column, source in enumerate(DRAWN):
            x, where = places(e, source)
            single = {name: [relative(e, p, "SUL-D", m) for p in where] for m, name in _CURVES.items()}
            found = [composites(e, place) for place in where]
            whole = {name: [gains[name] for gains in found] for name in STRATEGIES}
            name = DISTRIBUTIONS[source]
            _gains(axes[0, column], e, x, single, words, f"({'ab'[column]}) {name}: each metric, SUL-D")
            _gains(axes[1, column], e, x, whole, words, f"({'cd'[column]}) {name}: composite")
            if number == 7:
                for ax in axes[:, column]:
                    ax.set_xscale("log", base=2)
                    ax.set_xticks(x, [f"{value:g}" for value in x])
                    ax.minorticks_off()
            for least, points in PRINTED_COMPOSITE[number].items():
                printed_points(axes[1, column], *zip(*points, strict=True), least=least)
            if number in PRINTED_METRICS:
                printed_points(axes[0, column], *zip(*PRINTED_METRICS[number], strict=True))
            for ax in axes[:, column]:
                ax.legend(frameon=False, fontsize=8, ncols=2)
        for ax in axes[0]:
            low = min(0.0, *(min(line.get_ydata()) for line in ax.lines))
            ax.set_ylim(bottom=max(1.1 * low, -60))
        titled(figure, f"Fig. {number}. {text}", e)
        return figure

    return draw_it


def _loads(e: Evidence, source: str) -> tuple[list[float], list[Place]]:
    return list(e.what.loads), [Place(source, load) for load in e.what.loads]


def _mtbfs(e: Evidence, source: str) -> tuple[list[float], list[Place]]:
    days = [e.parameters.mtbf * ratio for ratio in e.what.ratios]
    return days, [Place(source, mtbf=value) for value in days]


def _heat(ax: "Axes", values: Sequence[float], table: Floats, title: str, limit: float) -> "AxesImage":
    """Gains over precision (across) and recall (up), each cell with its number."""
    image = ax.imshow(100 * table.T, origin="lower", cmap="RdBu", vmin=-limit, vmax=limit, aspect="auto")
    for (i, j), value in np.ndenumerate(table):
        colour = "white" if abs(100 * value) > 0.65 * limit else "black"
        ax.text(i, j, f"{100 * value:.0f}", ha="center", va="center", fontsize=8, color=colour)
    ticks = [f"{value:g}" for value in values]
    ax.set_xticks(range(len(values)), ticks, fontsize=8)
    ax.set_yticks(range(len(values)), ticks, fontsize=8)
    ax.set_xlabel("precision", fontsize=10)
    ax.set_ylabel("recall", fontsize=10)
    ax.set_title(title, fontsize=11)
    return image


def _heats(
    e: Evidence, tables: Mapping[str, Floats], values: Sequence[float], text: str, columns: int, width: float = 5.6
) -> "Figure":
    rows = -(-len(tables) // columns)
    figure = new_figure(width * columns + 0.8, 0.84 * width * rows)
    axes = np.atleast_1d(figure.subplots(rows, columns)).ravel()
    limit = max(60.0, *(100 * float(np.abs(table).max()) for table in tables.values()))
    for ax, (title, table) in zip(axes, tables.items(), strict=True):
        image = _heat(ax, values, table, title, min(limit, 100.0))
    figure.colorbar(image, ax=axes.tolist(), label="composite gain over EASY (%)", shrink=0.8)
    titled(figure, text, e)
    return figure


def _fig8(e: Evidence) -> "Figure":
    tables = {e.sources[source].label: grid(e, Place(source)) for source in DRAWN}
    return _heats(e, tables, e.what.grid, "Fig. 8. Gain of SUL-D over precision and recall", 2)


def _fig10(e: Evidence) -> "Figure":
    tables = {label(Place("trace", load)): grid(e, Place("trace", load)) for load in e.what.trace_loads}
    stand_in = "" if e.sources["trace"].real else " (stand-in)"
    text = f"Fig. 10. Gain of SUL-D over precision and recall, system trace{stand_in}"
    return _heats(e, tables, e.what.grid, text, 2)


def _combined(e: Evidence) -> "Figure":
    titles = {
        "FARS": "FARS (SUL-D)",
        "placement": "placement (SafestFirst)",
        "both": "both",
        "both + checkpoints": "both, sqrt(2 C M / (1 - recall))",
    }
    tables = {
        f"load {load:g}: {titles[name]}": grid(e, Place("exp", load), method, e.what.combined)
        for load in COMBINED_LOADS
        for name, method in COMBINED.items()
    }
    text = "FARS, fault-aware placement, both, and both with checkpoints set by the prediction"
    return _heats(e, tables, e.what.combined, text, len(COMBINED), width=3.9)


FIGURES: Mapping[str, tuple[Callable[[Evidence], "Figure"], Callable[[Evidence], Rows]]] = {
    "fig4": (_one(4, "exp"), ROWS["fig4"]),
    "fig5": (_one(5, "weibull"), ROWS["fig5"]),
    "fig6": (_sensitivity(6, "Sensitivity to system load", "failure-free load", _loads), ROWS["fig6"]),
    "fig7": (_sensitivity(7, "Sensitivity to the node MTBF", "node MTBF (days)", _mtbfs), ROWS["fig7"]),
    "fig8": (_fig8, ROWS["fig8"]),
    "fig9": (_fig9, ROWS["fig9"]),
    "fig10": (_fig10, ROWS["fig10"]),
    "combined": (_combined, ROWS["combined"]),
}
