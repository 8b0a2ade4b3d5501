"""The figures and tables of the runs on a real failure record."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from faultsim.plot import PALETTE, plot_curves
from faultsim.plot.base import new_figure, tidy
from faultsim.reproduce.bluegene.inputs import MAPS
from faultsim.reproduce.bluegene.runs import CLEAN, COLUMNS, WITH_ALL, Evidence, Key
from faultsim.reproduce.claims import Row
from faultsim.reproduce.report import Grid
from faultsim.reproduce.study import Rows
from faultsim.sweep.jackknife import half_width

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Column -> title of its table, factor, digits.
_TABLES = {
    "slowdown": ("average bounded slowdown", 1.0, 1),
    "lost_work": ("work lost, % of what the jobs need", 100.0, 2),
    "kills": ("jobs killed", 1.0, 0),
}
_DAY = 86_400.0
# One colour per scheduler, one marker and line per confidence.
_LINES = {"0.1": ("o", ":"), "0.5": ("s", "--"), "1": ("^", "-")}
STYLES: dict[str, dict[str, object]] = {
    CLEAN: {"color": "#000000", "marker": "x", "linestyle": "--", "markeredgecolor": "#000000"},
    "no prediction": {"color": PALETTE[1], "marker": "D"},
    **{
        f"{name} {a}": {"color": colour, "marker": marker, "linestyle": line}
        for name, colour in (("balancing", PALETTE[0]), ("tie-breaking", PALETTE[2]))
        for a, (marker, line) in _LINES.items()
    },
}


def _cell(e: Evidence, column: str, key: Key, factor: float, digits: int) -> str:
    values = factor * e.runs[key][column]
    half = float(half_width(values))
    return f"{values.mean():,.{digits}f}" + ("" if np.isnan(half) else f" +- {half:,.{digits}f}")


def grids(e: Evidence, judged: Sequence[Row]) -> list[Grid]:
    """Policy against load and map, a table a log and metric; and the same schedulers on all messages."""
    found = []
    for log, jobs in e.logs.items():
        for column, (words, factor, digits) in _TABLES.items():
            rows = [["policy", *(f"{load:g} {m}" for load in e.what.loads for m in MAPS)]]
            for policy in (CLEAN, *e.what.policies):
                cells = []
                for load_ in e.what.loads:
                    for m in MAPS:
                        key = Key("hardware", log, load_, m, policy)
                        cells.append(_cell(e, column, key, factor, digits) if key in e.runs else "")
                rows.append([policy, *cells])
            if column != "slowdown":
                rows = [row for row in rows if row[0] != CLEAN]
            found.append(Grid(f"{jobs.label}: {words}, by offered load and map", rows))
    if "all" in e.records:
        middle = e.what.loads[len(e.what.loads) // 2]
        names = ("slowdown", "work lost, %")
        rows = [["policy", *(f"{jobs.label}: {name}" for jobs in e.logs.values() for name in names)]]
        for policy in (p for p in WITH_ALL if p in e.what.policies):
            keys = [Key("all", log, middle, MAPS[0], policy) for log in e.logs]
            cells = [_cell(e, name, key, *_TABLES[name][1:]) for key in keys for name in ("slowdown", "lost_work")]
            rows.append([policy, *cells])
        count = len(e.records["all"].trace)
        found.append(Grid(f"All {count:,} messages as failures, load {middle:g}, natural map", rows))
    return found


def _record_figure(e: Evidence) -> "Figure":
    """Each failure as a dot: when, and which midplane in natural order."""
    figure = new_figure(9.6, 4.6)
    ax = figure.subplots()
    trace = e.records["hardware"].trace
    ax.plot(trace.time / _DAY, trace.node, ".", color=PALETTE[1], markersize=4)
    ax.set_yticks(range(0, 129, 16))
    tidy(ax, x="day", y="midplane (16 a row of racks)")
    figure.suptitle("Failures of midplanes" + ("" if e.records["hardware"].real else " (stand-in)"), fontsize=12)
    return figure


def _versus_load(column: str, label: str, scale: float) -> Callable[[Evidence], "Figure"]:
    def draw(e: Evidence) -> "Figure":
        figure = new_figure(9.6, 4.6)
        panels = figure.subplots(1, 2)
        for ax, (log, jobs) in zip(panels, e.logs.items(), strict=True):
            shown = [p for p in (CLEAN, *e.what.policies) if not (p == CLEAN and column != "slowdown")]
            curves = {
                p: (e.what.loads, [scale * e.values(column, log, at, p).mean() for at in e.what.loads]) for p in shown
            }
            plot_curves(
                curves, ax=ax, x="offered load", y=label, title=jobs.label, log=column == "slowdown", styles=STYLES
            )
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
        figure.suptitle(f"{label.capitalize()}, natural map" + ("  [quick run]" if e.quick else ""), fontsize=12)
        return figure

    return draw


#: Name -> (the figure, no numbers of its own: runs.csv has those of all).
FIGURES: dict[str, tuple[Callable[[Evidence], "Figure"], None]] = {
    "record": (_record_figure, None),
    "slowdown": (_versus_load("slowdown", "average bounded slowdown", 1.0), None),
    "lost_work": (_versus_load("lost_work", "work lost (% of the jobs' work)", 100.0), None),
}


def run_rows(e: Evidence) -> Rows:
    """Every run: its setting, its replicate, its columns."""
    yield ("record", "log", "load", "map", "policy", "replicate", *COLUMNS)
    for key, columns in e.runs.items():
        for i in range(e.what.replicates):
            label = e.logs[key.log].label
            yield (key.record, label, *key[2:], i, *(float(columns[name][i]) for name in COLUMNS))
