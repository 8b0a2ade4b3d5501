"""The figures and tables of the study: one figure for each question of a site."""

import itertools
import math
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from faultsim.plot import PALETTE, plot_curves
from faultsim.plot.base import new_figure, plain_number, tidy
from faultsim.plot.curves import plain_log
from faultsim.reproduce.claims import Row
from faultsim.reproduce.report import Grid
from faultsim.reproduce.study import Rows
from faultsim.reproduce.torus3d.claims import ratio
from faultsim.reproduce.torus3d.runs import (
    COLUMNS,
    FORESEEING,
    KREVAT,
    LISTS,
    ON_TWO_TORI,
    REVERSED,
    SCORES,
    TWO_TORI,
    UNLISTED,
    USUAL,
    Evidence,
    Key,
)
from faultsim.sweep.jackknife import Estimate, half_width

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Numbers that a logarithmic axis shows between powers of ten.
_LEADING = re.compile(r"[2357]\.0*e")
_MARKERS = ("o", "s", "^", "D")
#: From a log and a machine to the estimate of a row, or None if it was not run.
Cell = Callable[[str, str], Estimate | None]


def _rows_figure(e: Evidence, rows: dict[str, Cell], label: str, title: str, *, ratios: bool) -> "Figure":
    """A panel for each log: a row for each choice, and in it a dot with its interval for each machine."""
    figure = new_figure(9.6, 1.6 + 0.5 * len(rows))
    panels = np.atleast_1d(figure.subplots(1, len(e.what.logs), sharey=True, sharex=True))
    names = list(rows)
    for ax, log in zip(panels, e.what.logs, strict=True):
        ax.axvline(1.0 if ratios else 0.0, color="#808080", linewidth=0.8)
        for number, machine in enumerate(e.what.machines):
            shift = 0.18 * (number - (len(e.what.machines) - 1) / 2)
            found = [(row, cell) for row, name in enumerate(names) if (cell := rows[name](log, machine)) is not None]
            if not found:
                continue
            middle = np.array([cell.value for _, cell in found])
            half = np.nan_to_num(np.array([cell.half for _, cell in found]))
            ends = [middle - half, middle, middle + half]
            low, at, high = (np.exp(each) if ratios else each for each in ends)
            ax.errorbar(
                at,
                [row + shift for row, _ in found],
                xerr=[at - low, high - at],
                fmt=_MARKERS[number],
                color=PALETTE[number],
                markersize=4,
                linewidth=1,
                label=machine,
            )
        if ratios:
            ax.set_xscale("log")
            plain_log(ax.xaxis)
            ax.xaxis.set_minor_formatter(lambda value, _: plain_number(value) if _LEADING.match(f"{value:e}") else "")
        ax.set_yticks(range(len(names)), names)
        ax.set_ylim(len(names) - 0.5, -0.5)
        tidy(ax, title=e.logs[log].label)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9)
    figure.suptitle(f"{title}{'  [quick run]' if e.quick else ''}\n{label}", fontsize=11)
    return figure


def _against(e: Evidence, base: Key, other: Key, column: str = "slowdown") -> Cell:
    """The logarithm of the ratio of a column of two settings, in each case."""

    def cell(log: str, machine: str) -> Estimate | None:
        keys = [key._replace(log=log, machine=machine) for key in (base, other)]
        return ratio(e, keys[0], keys[1], column) if all(key in e.runs for key in keys) else None

    return cell


def _points(e: Evidence, base: Key, other: Key) -> Cell:
    """Points of saturation of one setting above another, in each case."""

    def cell(log: str, machine: str) -> Estimate | None:
        keys = [key._replace(log=log, machine=machine) for key in (base, other)]
        if not all(key in e.runs for key in keys):
            return None
        more = 100 * (e.values("saturation", keys[1]) - e.values("saturation", keys[0]))
        return Estimate(float(more.mean()), float(half_width(more)))

    return cell


_FULL = Key("", "", 0.0, "fcfs", "one per size")
_EASY = Key("", "", USUAL, "easy", "one per size")
_OTHERS = [name for name in (*LISTS, REVERSED, KREVAT) if name != "one per size"]


def _lists(e: Evidence) -> "Figure":
    return _rows_figure(
        e,
        {name: _against(e, _EASY, _EASY._replace(shapes=name)) for name in _OTHERS},
        "slowdown, times that of one shape per size",
        f"Which shapes to list (EASY, load {USUAL:g})",
        ratios=True,
    )


def _scores(e: Evidence) -> "Figure":
    rows = {}
    for shapes in ("one per size", "rotations", "every box, every node"):
        base = _FULL._replace(shapes=shapes)
        for score in (*SCORES[1:], *(["next-size"] if shapes == "rotations" else [])):
            rows[f"{shapes}: {score}"] = _points(e, base, base._replace(score=score))
    title = "What the score is worth (FCFS, all jobs at once)"
    return _rows_figure(e, rows, "points of saturation above Slurm's score on the same list", title, ratios=False)


def _saturation(e: Evidence) -> "Figure":
    rows = {name: _points(e, _FULL, _FULL._replace(shapes=name)) for name in _OTHERS}
    for shapes in ("one per size", KREVAT):
        rows[f"{shapes}, migration"] = _points(e, _FULL, _FULL._replace(shapes=shapes, extra="migration"))
    for shapes in ("powers", "one per size"):
        rows[f"{shapes}, larger"] = _points(e, _FULL, _FULL._replace(shapes=shapes, extra="larger"))
    title = "How full the machine can be (FCFS, all jobs at once)"
    return _rows_figure(e, rows, "points of saturation above one shape per size", title, ratios=False)


def _unlisted(e: Evidence) -> "Figure":
    rows: dict[str, Cell] = {}
    for shapes in ("powers", "one per size"):
        for unlisted, word in UNLISTED.items():
            if (shapes, unlisted) != ("one per size", "round_up"):
                rows[f"{shapes}, {word}"] = _against(e, _EASY, _EASY._replace(shapes=shapes, unlisted=unlisted))
    label = "slowdown of the jobs that run, times that of one shape per size, rounded up"
    return _rows_figure(e, rows, label, f"Sizes without a shape (EASY, load {USUAL:g})", ratios=True)


def _curve_panels(e: Evidence, curves: Callable[[str], dict[str, tuple[Sequence[float], list[float]]]]) -> "Figure":
    figure = new_figure(9.6, 4.2)
    panels = np.atleast_1d(figure.subplots(1, len(e.what.logs), sharey=True))
    for ax, log in zip(panels, e.what.logs, strict=True):
        first = ax is panels[0]
        plot_curves(
            curves(log), ax=ax, x="offered load", y="slowdown (geometric mean)" if first else "",
            title=f"{e.logs[log].label} {e.failing}", log=True,
        )  # fmt: skip
    handles, labels = panels[0].get_legend_handles_labels()
    for ax in panels:
        ax.set_xticks(list(e.what.loads))
        if (own := ax.get_legend()) is not None:
            own.remove()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def _loads(e: Evidence) -> "Figure":
    def curves(log: str) -> dict[str, tuple[Sequence[float], list[float]]]:
        found = {}
        for name in (*e.what.lists(e.failing), KREVAT):
            keys = [Key(log, e.failing, at, "easy", name) for at in e.what.loads]
            means = [float(np.exp(np.log(e.values("slowdown", key)).mean())) for key in keys]
            found[name] = (e.what.loads, means)
        return found

    figure = _curve_panels(e, curves)
    figure.suptitle("At which load it matters (EASY)" + ("  [quick run]" if e.quick else ""), fontsize=12)
    return figure


def _failures(e: Evidence) -> "Figure":
    rows: dict[str, Cell] = {}
    for kind in e.what.failures[1:]:
        for name in ("powers", "one per size", e.what.lists(e.failing)[-1], KREVAT):
            base = _EASY._replace(shapes=name)
            rows[f"{kind}: {name}"] = _against(e, base, base._replace(failures=kind))
    title = f"What failures cost (EASY, load {USUAL:g})"
    return _rows_figure(e, rows, "slowdown, times that without failures", title, ratios=True)


def _predictor(e: Evidence) -> "Figure":
    per = 1000 / e.what.jobs

    def cell(name: str, score: str) -> Cell:
        base = _EASY._replace(shapes=name, failures=e.what.failures[-1])
        foreseen = base._replace(score="slurm" if name == KREVAT else score, extra="predictor")
        without = base if name == KREVAT else base._replace(score=FORESEEING[score])

        def stopped(log: str, machine: str) -> Estimate | None:
            keys = [key._replace(log=log, machine=machine) for key in (without, foreseen)]
            if not all(key in e.runs for key in keys):
                return None
            more = per * (e.values("kills", keys[1]) - e.values("kills", keys[0]))
            return Estimate(float(more.mean()), float(half_width(more)))

        return stopped

    rows = {f"{name}: {score}": cell(name, score) for name in e.what.lists(e.failing) for score in FORESEEING}
    rows["krevat: balancing"] = cell(KREVAT, "balancing")
    title = f"What a predictor saves (EASY, load {USUAL:g}, {e.what.failures[-1]})"
    return _rows_figure(e, rows, "stopped of 1,000 jobs, more than without it", title, ratios=False)


#: Name -> (the figure, no numbers of its own: runs.csv has those of all).
FIGURES: dict[str, tuple[Callable[[Evidence], "Figure"], None]] = {
    "lists": (_lists, None),
    "unlisted": (_unlisted, None),
    "scores": (_scores, None),
    "saturation": (_saturation, None),
    "loads": (_loads, None),
    "failures": (_failures, None),
    "predictor": (_predictor, None),
}


def _cell(e: Evidence, column: str, key: Key, factor: float = 1.0, digits: int = 1) -> str:
    if key not in e.runs:
        return ""
    values = factor * e.values(column, key)
    values = values[np.isfinite(values)]
    if not len(values):
        return ""
    if column in ("slowdown", "small", "middle", "large"):
        return f"{math.exp(float(np.log(values).mean())):,.2f}"
    return f"{values.mean():,.{digits}f}"


def grids(e: Evidence, judged: Sequence[Row]) -> list[Grid]:
    """A table for each log on the machine of the runs with failures: every list under EASY and FCFS."""
    found = []
    for log in e.what.logs:
        classes = ("at most 1/16", "to 1/4", "above")
        rows = [["shapes", "slowdown", *classes, "lost, %", "waits beside free, %", "refused, %", "saturation, %"]]
        for name in (*e.what.lists(e.failing), KREVAT):
            for unlisted, word in UNLISTED.items():
                easy = Key(log, e.failing, USUAL, "easy", name, unlisted=unlisted)
                full = easy._replace(load=0.0, scheduler="fcfs")
                if easy not in e.runs:
                    continue
                cells = [_cell(e, column, easy) for column in ("slowdown", "small", "middle", "large")]
                cells += [_cell(e, column, easy, 100.0) for column in ("lost", "beside", "refused")]
                called = name if unlisted == "round_up" else f"{name}, {word}"
                rows.append([called, *cells, _cell(e, "saturation", full, 100.0)])
        found.append(Grid(f"{e.logs[log].label} on {e.failing}: EASY at load {USUAL:g}; the last column FCFS", rows))
    kinds = [(kind, "easy") for kind in e.what.failures] + [("none", "backfill")]
    for log, column in itertools.product(e.what.logs, ("slowdown", "large")):
        rows = [["shapes", *(" ".join(filter(None, (kind, s if s != "easy" else ""))) for kind, s in kinds)]]
        for name in (*e.what.lists(e.failing), KREVAT):
            keys = [Key(log, e.failing, USUAL, s, name, failures=kind) for kind, s in kinds]
            rows.append([name, *(_cell(e, column, key) for key in keys)])
        which = "" if column == "slowdown" else " of jobs above 1/4 of the machine"
        title = f"{e.logs[log].label} on {e.failing}: slowdown{which} at load {USUAL:g}, by failures and scheduler"
        found.append(Grid(title, rows))
    return [*found, *_foreseen(e), *_parted(e)]


def _parted(e: Evidence) -> list[Grid]:
    """A table for each log: one torus and two of half the nodes."""
    found = []
    for log in e.what.logs:
        columns = ("slowdown", "slowdown above 1/4", "refused, %", "saturation, %")
        rows = [["shapes", *(f"{what}, {word}" for what in columns for word in ("one", "two"))]]
        for name, unlisted in ON_TWO_TORI:
            easy = Key(log, e.what.parted, USUAL, "easy", name, unlisted=unlisted)
            pairs = [easy, easy._replace(extra=TWO_TORI)]
            full = [key._replace(load=0.0, scheduler="fcfs") for key in pairs]
            cells = [_cell(e, column, key) for column in ("slowdown", "large") for key in pairs]
            cells += [_cell(e, "refused", key, 100.0) for key in pairs]
            cells += [_cell(e, "saturation", key, 100.0) for key in full]
            rows.append([name if unlisted == "round_up" else f"{name}, {UNLISTED[unlisted]}", *cells])
        title = f"{e.logs[log].label}: {e.what.parted} as one torus, and as two of half the last extent"
        found.append(Grid(title, rows))
    return found


def _foreseen(e: Evidence) -> list[Grid]:
    """A table for each log: what a predictor saves, by list and score."""
    found = []
    scores = [score for pair in FORESEEING.items() for score in reversed(pair)]
    for log in e.what.logs:
        rows = [["shapes", *(f"{score}, {what}" for what in ("stopped of 1,000", "slowdown") for score in scores)]]
        for name in (*e.what.lists(e.failing), KREVAT):
            easy = Key(log, e.failing, USUAL, "easy", name, failures=e.what.failures[-1])
            keys = [easy._replace(score=s, extra="predictor" if s in FORESEEING else "") for s in scores]
            if name == KREVAT:  # its own score is MFP, or Balancing
                keys[2:] = [key._replace(score="slurm") for key in keys[2:]]
                keys[:2] = [key._replace(extra="none") for key in keys[:2]]
            stopped = [_cell(e, "kills", key, 1000 / e.what.jobs) for key in keys]
            rows.append([name, *stopped, *(_cell(e, "slowdown", key) for key in keys)])
        title = f"{e.logs[log].label} on {e.failing}: {e.what.failures[-1]}, foreseen with probability 1/2"
        found.append(Grid(title, rows))
    return found


def run_rows(e: Evidence) -> Rows:
    """Every run: its setting, its window, its columns."""
    yield (*Key._fields, "window", *COLUMNS)
    for key, columns in e.runs.items():
        for i in range(e.what.replicates):
            yield (e.logs[key.log].label, *key[1:], i, *(f"{float(columns[name][i]):.4g}" for name in COLUMNS))
