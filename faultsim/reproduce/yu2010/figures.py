"""Figures 6 to 15 of [yu2010] in the paper's arrangement, and the numbers behind each as CSV."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from faultsim.arrays import Floats
from faultsim.plot import PALETTE, plot_curves
from faultsim.plot.base import new_figure, tidy
from faultsim.plot.curves import MARKERS
from faultsim.plot.failure_marks import halo
from faultsim.reproduce.pictures import IN_THE_PAPER, band, printed_points
from faultsim.reproduce.study import Drawing, Rows
from faultsim.reproduce.yu2010.checks import LOG, Example, steps
from faultsim.reproduce.yu2010.claims import PRINTED_TOTALS
from faultsim.reproduce.yu2010.inputs import DAY
from faultsim.reproduce.yu2010.runs import READINGS, Evidence, View
from faultsim.sweep.jackknife import half_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Label -> abscissae, and values of shape (abscissae, windows).
Curves = dict[str, tuple[Floats, Floats]]
Panel = tuple[Callable[[View], Curves], str, str]
#: Column -> axis label and scale.
_AXES = {
    "makespan": ("average makespan (days)", 1 / DAY),
    "loss": ("loss time (node-days)", 1 / DAY),
    "reschedulings": ("reschedulings", 1.0),
    "aaa": ("AAA (%)", 100.0),
    "saving": ("makespan saved, against AOA 0 (%)", 1.0),
    "saved": ("makespan saved, against AOA 0 (h)", 1 / 3600),
}
_BANDS = 4  # curves whose intervals can still be told apart


def _workflows(count: int) -> str:
    return f"{count} workflow{'s' if count > 1 else ''}"


def _band(ax: "Axes", x: Floats, values: Floats, colour: str, most: float) -> None:
    """The 95 % interval of the means over the windows, shape (x, windows)."""
    mean, half = values.mean(axis=1), np.nan_to_num(half_width(values))
    band(ax, x, mean - half, mean + half, colour, least=-np.inf, most=most)


def _curves(ax: "Axes", curves: Curves, *, x: str, y: str) -> None:
    """Means over the windows; with bands where few curves leave them readable."""
    if len(curves) <= _BANDS:
        for i, (at, values) in enumerate(curves.values()):
            _band(ax, at, values, PALETTE[i % len(PALETTE)], most=100.0 if y.endswith("(%)") else np.inf)
    plot_curves({label: (at, values.mean(axis=1)) for label, (at, values) in curves.items()}, ax=ax, x=x, y=y)


def _over_aoa(column: str) -> Callable[[View], Curves]:
    def curves(view: View) -> Curves:
        at, scale = np.array(view.what.aoas), _AXES[column][1]
        return {_workflows(flows): (at, scale * view.along(column, flows)) for flows in view.what.flows}

    return curves


def _saved_over_aoa(view: View) -> Curves:
    found = {}
    for flows in view.what.flows:
        values = view.along("makespan", flows)
        found[_workflows(flows)] = (np.array(view.what.aoas), 100 * (1 - values / view("makespan", flows, 0.0)))
    return found


def _fig9(view: View) -> Curves:
    at, many = np.array(view.what.aoas), view.what.many
    scale = _AXES["makespan"][1]
    return {
        label: (at, scale * np.array([view("makespan", many, aoa, scheduler) for aoa in at]))
        for label, scheduler in (("FIFO", "fifo"), ("FLAW", "flaw"))
    }


def _by_load(view: View, column: str) -> Curves:
    """Over the number of workflows, one curve per accuracy; what is saved is against accuracy 0."""
    flows, scale = np.array(view.what.flows, dtype=float), _AXES[column][1]
    found = {}
    for aoa in view.what.aoas:
        values = np.array([view("makespan", int(n), aoa) for n in flows])
        if column == "saved":
            values = np.array([view("makespan", int(n), 0.0) for n in flows]) - values
        found[f"AOA {aoa:g}"] = (flows, scale * values)
    return found


_AOA, _LOAD = "AOA", "concurrent workflows"
#: Name -> title and panels: curves, abscissa, column.
FIGURES: dict[str, tuple[str, list[Panel]]] = {
    "fig9": ("Fig. 9. FIFO and FLAW with 10 workflows", [(_fig9, _AOA, "makespan")]),
    "fig10": (
        "Fig. 10. Average makespan",
        [(_over_aoa("makespan"), _AOA, "makespan"), (_saved_over_aoa, _AOA, "saving")],
    ),
    "fig11": ("Fig. 11. Loss time", [(_over_aoa("loss"), _AOA, "loss")]),
    "fig12": ("Fig. 12. Reschedulings", [(_over_aoa("reschedulings"), _AOA, "reschedulings")]),
    "fig13": (
        "Fig. 13. Makespan by load",
        [
            (lambda view: _by_load(view, "makespan"), _LOAD, "makespan"),
            (lambda view: _by_load(view, "saved"), _LOAD, "saved"),
        ],
    ),
    "fig15": ("Fig. 15. AAA", [(_over_aoa("aaa"), _AOA, "aaa")]),
}


def _figure(view: View, name: str) -> "Figure":
    title, panels = FIGURES[name]
    figure = new_figure(5.6 * len(panels) + 0.8 * (len(panels) == 1), 4.2)
    for ax, (curves, x, column) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        _curves(ax, curves(view), x=x, y=_AXES[column][0])
        if column in ("loss", "reschedulings"):
            ax.set_ylim(bottom=0)
        if name == "fig15":
            printed_points(ax, [0.5], [96.0])  # L10
        if x == _LOAD:
            ax.set_xticks(view.what.flows)
    figure.axes[-1].legend(frameon=False, fontsize=8)  # of two panels the second has more room
    return _titled(figure, view, title)


def _titled(figure: "Figure", view: View, title: str) -> "Figure":
    quick = "  [quick run]" if view.evidence.quick else ""
    figure.suptitle(f"{title}: {view.evidence.sources[view.workload].label}{quick}", fontsize=11)
    return figure


def _figure_rows(view: View, name: str) -> Rows:
    """Every point as drawn, with the half width of its 95 % interval."""
    yield ("ordinate", "curve", "abscissa", "value", "mean", "half", "windows")
    for curves, x, column in FIGURES[name][1]:
        for label, (at, values) in curves(view).items():
            for where, row, half in zip(at, values.mean(axis=1), half_width(values), strict=True):
                yield (_AXES[column][0], label, x, f"{where:g}", f"{row:.6g}", f"{half:.6g}", values.shape[1])


# -- Figure 14


def _fig14(view: View) -> "Figure":
    figure = new_figure(6.4, 4.2)
    ax = figure.subplots()
    for i, aoa in enumerate(view.what.mix_aoas):
        makespan = view.mixed("makespan", aoa)
        relative = 100 * (makespan / makespan.mean(axis=0) - 1)
        share = np.repeat(view.what.shares, makespan.shape[1])
        label = f"AOA {aoa:g}"
        ax.plot(share, relative.ravel(), MARKERS[i], color=PALETTE[i], markersize=3.5, alpha=0.6, label=label, lw=0)
    ax.legend(frameon=False, fontsize=8)
    tidy(ax, x="false positives among the mistakes", y="makespan, from the window's mean (%)")
    return _titled(figure, view, "Fig. 14. False positives and false negatives")


def _fig14_rows(view: View) -> Rows:
    yield ("aoa", "share_of_false_positives", "window", "makespan_s")
    for aoa in view.what.mix_aoas:
        for share, row in zip(view.what.shares, view.mixed("makespan", aoa), strict=True):
            for window, value in enumerate(row.tolist()):
                yield (aoa, f"{share:.4f}", window, f"{value:.3f}")


# -- Figures 6 to 8


def _spans(run: Example) -> list[tuple[int, int, float, float, float, bool]]:
    """Every stay of a job on a node: job, node, from, computing from, to, whether it was killed."""
    table, events = run.result.decisions, run.result.events
    kills = [
        (float(t), int(job))
        for t, kind, job in zip(events["time"], events["kind"], events["job"], strict=True)
        if kind == 3
    ]
    found = []
    for row in range(len(table["job"])):
        job, begin, end = int(table["job"][row]), float(table["time"][row]), float(table["finish"][row])
        cut = [t for t, killed in kills if killed == job and begin < t < end]
        last = min([end, *cut])
        found.append((job, int(table["node"][row]), begin, min(float(table["begin"][row]), last), last, bool(cut)))
    return found


def _fig6(runs: dict[str, Example]) -> "Figure":
    """Who ran where and when: transfers light, computing dark, killed stays hatched, down times grey."""
    figure = new_figure(8.0, 4.4)
    axes = figure.subplots(2, 1, sharex=True)
    for ax, (label, run) in zip(axes, runs.items(), strict=True):
        trace = run.result.failures
        assert trace is not None
        for node, begin, down in zip(trace.node, trace.time, trace.downtime, strict=True):
            ax.barh(int(node), down, left=begin, color="#5F6368", height=0.8)
        for job, node, begin, computing, end, killed in _spans(run):
            style: dict[str, object] = {"hatch": "///"} if killed else {}
            ax.barh(node, computing - begin, left=begin, color=PALETTE[job], alpha=0.35, height=0.55, **style)
            ax.barh(
                node, end - computing, left=computing, color=PALETTE[job], alpha=0.9, height=0.55, ec="white", **style
            )
            where = (begin + end) / 2, node
            ax.text(*where, f"T{job}", ha="center", va="center", fontsize=8, path_effects=halo())
        makespan, loss, again = run.totals
        paper = " / ".join(map(str, PRINTED_TOTALS[label]))
        said = f"{label}: makespan {makespan:g}, loss time {loss:g}, {again} rescheduled ({IN_THE_PAPER} {paper})"
        ax.set_title(said, fontsize=9)
        ax.set_yticks(range(3), ["P0", "P1", "P2"])
        ax.invert_yaxis()
        tidy(ax, grid=False)
    axes[-1].set_xlabel("time", fontsize=10)
    figure.suptitle("Fig. 6. The worked example (hatched: killed; grey: node down)", fontsize=11)
    return figure


def _fig6_rows(runs: dict[str, Example]) -> Rows:
    yield ("scheduler", "job", "node", "begin", "computes", "end", "killed")
    for label, run in runs.items():
        for job, node, begin, computing, end, killed in _spans(run):
            yield (label, f"T{job}", f"P{node}", f"{begin:g}", f"{computing:g}", f"{end:g}", int(killed))


def drawn(evidence: Evidence) -> Iterator[Drawing]:
    """Every figure with its numbers; Figures 7 and 8 are tables."""
    runs = evidence.checks["example"]
    yield "fig6", _fig6(runs), _fig6_rows(runs)
    for name, run in zip(("fig7", "fig8"), runs.values(), strict=True):
        yield name, None, [LOG, *steps(run)]
    for workload in evidence.sources:
        view = evidence.view(workload, READINGS[0])
        suffix = "" if workload == "bench" else f"-{workload}"
        for name in FIGURES:
            yield f"{name}{suffix}", _figure(view, name), _figure_rows(view, name)
        yield f"fig14{suffix}", _fig14(view), _fig14_rows(view)
