"""Oliner's balancing and tie-breaking schedulers on the failure record of a real Blue Gene/L.

No paper has these runs: the record (LLNL, 2005-06) is younger than [oliner2004], and its 128 midplanes are that paper's
128 supernodes.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from faultsim.plot import PALETTE, plot_curves, require_matplotlib, save
from faultsim.plot.base import new_figure, tidy
from faultsim.reproduce import claims as table
from faultsim.reproduce.bluegene_claims import CLAIMS, SETTINGS
from faultsim.reproduce.bluegene_inputs import MAPS, load
from faultsim.reproduce.bluegene_runs import CLEAN, COLUMNS, WITH_ALL, Evidence, Key, Plan, collect, plan
from faultsim.reproduce.replicates import half_width
from faultsim.reproduce.report import Grid, Input, Report, folder, write_csv
from faultsim.simulation.progress import Progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "Reproduction", "reproduce"]

TITLE = "Fault-aware scheduling on the failure record of a real Blue Gene/L (after Oliner et al., IPDPS 2004)"
Reproduction = Report[Evidence]
#: Column -> title of its table, factor, digits.
_TABLES = {
    "slowdown": ("average bounded slowdown", 1.0, 1),
    "lost_work": ("work lost, % of what the jobs need", 100.0, 2),
    "kills": ("jobs killed", 1.0, 0),
}
_DAY = 86_400.0
# A colour a scheduler, a marker and a line a confidence.
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


def grids(e: Evidence) -> list[Grid]:
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
    ax.set_xlabel("day", fontsize=10)
    ax.set_ylabel("midplane (16 a row of racks)", fontsize=10)
    tidy(ax)
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


FIGURES: dict[str, Callable[[Evidence], "Figure"]] = {
    "record": _record_figure,
    "slowdown": _versus_load("slowdown", "average bounded slowdown", 1.0),
    "lost_work": _versus_load("lost_work", "work lost (% of the jobs' work)", 100.0),
}


def _rows(e: Evidence) -> Iterator[Sequence[object]]:
    yield ("record", "log", "load", "map", "policy", "replicate", *COLUMNS)
    for key, columns in e.runs.items():
        for i in range(e.what.replicates):
            label = e.logs[key.log].label
            yield (key.record, label, *key[2:], i, *(float(columns[name][i]) for name in COLUMNS))


def _remarks(what: Plan) -> tuple[str, ...]:
    return (
        f"Numbers are means over {what.replicates} alignments of jobs and failures with 95 % confidence intervals; the "
        "alignments share jobs, so the intervals are rather too narrow. Expectations and rules were written and "
        "committed before the first full run.",
        "The record does not say where a midplane lies on the torus. The natural map takes them by row of racks, "
        "column and midplane; the permuted one shows how much that assumption matters.",
    )


def reproduce(
    *,
    data: str | Path | None = None,
    quick: bool = False,
    replicates: int | None = None,
    out: str | Path = "bluegene-out",
    workers: int = 1,
    seed: int = 0,
    page: str | Path | None = None,
    what: Plan | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Run Oliner's schedulers against the record, judge the expectations, and write all of it.

    Parameters
    ----------
    data : path, optional
        Folder with the real record and logs; what is not there is replaced by a stand-in.
    quick : bool
        Two replicates, two loads, fewer policies.
    replicates : int, optional
        Alignments of jobs and failures: by default 10 (quick: 2).
    out : path
        Folder for figures (PNG), runs.csv, CLAIMS.md and claims.json; made if needed.
    workers : int
        Threads.
    seed : int
        Seed of stand-ins and permuted maps.
    page : path, optional
        Where the tables go as Markdown, with links to the figures in `out`, instead of CLAIMS.md in `out`.
    what : Plan, optional
        What to run, instead of the full or the quick plan.
    progress : callable, optional
        Called with (runs done, runs in all, seconds since the beginning).

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    OptionError
        If `data` has none of the files, or `out` cannot be a folder.
    """
    begin = time.perf_counter()
    require_matplotlib()
    out = folder(out)
    chosen = plan(quick, replicates) if what is None else what
    records, logs = load(data, seed=seed)
    runs = collect(records, logs, chosen, seed=seed, workers=workers, progress=progress)
    evidence = Evidence(records, logs, runs, chosen, quick)
    rows = table.judge(CLAIMS, evidence)
    target = out / "CLAIMS.md" if page is None else Path(page)
    for name, figure in FIGURES.items():
        save(figure(evidence), out / f"{name}.png")
    write_csv(_rows(evidence), out / "runs.csv")
    inputs = [Input(r.name, r.label, r.text, r.real, len(r.trace), "failures") for r in records.values()]
    inputs += [Input(jobs.name, jobs.label, jobs.text, jobs.real, len(jobs.log)) for jobs in logs.values()]
    done = Report(
        title=TITLE,
        command="bluegene",
        evidence=evidence,
        rows=rows,
        inputs=inputs,
        settings=SETTINGS,
        quick=quick,
        quick_note=f"{chosen.replicates} replicates, so that little is significant; two loads, fewer policies",
        remarks=_remarks(chosen),
        grids=grids(evidence),
        figures=list(FIGURES),
        out=out,
        files=[*(out / f"{name}.png" for name in FIGURES), out / "runs.csv", target, out / "claims.json"],
        runs=len(runs) * chosen.replicates,
        seconds=time.perf_counter() - begin,
    )
    done.write(target)
    return done
