"""Z. Yu, C. Wang, W. Shi, "Failure-aware workflow scheduling in cluster environments", Cluster Computing 13(4), 2010.

Runs Figures 6-15 again and judges the claims L1-L11, on random workflows with the properties of the paper's bench,
which is not public, and beside it on recorded workflows of WfCommons and Pegasus.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from faultsim.plot import require_matplotlib
from faultsim.progress import Progress
from faultsim.reproduce import claims as table
from faultsim.reproduce.claims import Finding, Row
from faultsim.reproduce.replicates import half_width
from faultsim.reproduce.report import Grid, Input, Report, folder, write_csv
from faultsim.reproduce.yu_checks import checks, steps
from faultsim.reproduce.yu_claims import CLAIMS, SETTINGS, UNITS
from faultsim.reproduce.yu_figures import draw
from faultsim.reproduce.yu_inputs import load, record
from faultsim.reproduce.yu_measures import saved, saving
from faultsim.reproduce.yu_runs import COLUMNS, COPY, READINGS, Evidence, Plan, View, collect, plan

__all__ = ["CLAIMS", "Reproduction", "judge", "reproduce"]

TITLE = "Yu, Wang, Shi: Failure-aware workflow scheduling in cluster environments (Cluster Computing 2010)"
REMARKS = (
    "All numbers are means over the windows of the failure record with 95 % confidence intervals of the paired runs; a "
    "window's value is the mean over its prediction traces, a makespan the mean over the workflows of a run. "
    "Definitions, rules and tolerances were written and committed before the first full run.",
    "The bench of the paper is not public: in its place stand random workflows of its sizes with random meshing "
    "degree, edge length, weights and ratio of communication to computation, whose ranges are ours "
    "(`faultsim.synthetic.bench_dags`), on nodes of equal speed. The claims are judged on these, and with the order "
    "across workflows ascending. The same rules with the order descending, which is all that the paper's Figure 3 "
    "shows, and on recorded workflows of WfCommons and Pegasus stand beside it and decide nothing. How many workflows "
    "run at a time is ours too, but for the 10 of Figure 9: 1, 5, 10 and 20.",
)
Reproduction = Report[Evidence]


def judge(evidence: Evidence) -> list[Row]:
    """Every claim on the bench-like workflows; the other workflows and the other order as a note."""
    rows = []
    for row in table.judge(CLAIMS, evidence.view("bench")):
        if row.claim.id in UNITS:
            rows.append(row)
            continue
        notes = [row.finding.note] if row.finding.note else []
        for workload, source in evidence.sources.items():
            for reading in evidence.what.readings:
                if (workload, reading) == ("bench", READINGS[0]):
                    continue
                if row.claim.id == "L11" and reading != READINGS[0]:
                    continue  # it compares the two orders itself
                (other,) = table.judge([row.claim], evidence.view(workload, reading))
                notes.append(f"{source.label}, order {reading} ({other.finding.verdict}): {other.finding.ours}")
        rows.append(Row(row.claim, Finding(row.finding.ours, row.finding.verdict, "; ".join(notes))))
    return rows


def reproduce(
    *,
    data: str | Path | None = None,
    quick: bool = False,
    out: str | Path = "yu2010-out",
    workers: int = 1,
    seed: int = 0,
    page: str | Path | None = None,
    what: Plan | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Run the paper's experiments, draw its figures, judge its claims, and write all of it.

    Parameters
    ----------
    data : path, optional
        Folder with the LANL failure records, and with recorded workflows in ``wfcommons`` and ``dax`` (or in these
        folders of its folder ``dags``); without it a synthetic failure record and random workflows only.
    quick : bool
        Three windows, two prediction traces, two numbers of workflows.
    out : path
        Folder for figures (PNG), their numbers (CSV), CLAIMS.md and claims.json; made if needed.
    workers : int
        Threads.
    seed : int
        Seed of windows, predictions and workflows.
    page : path, optional
        Where the claims go as Markdown, with links to the figures in `out`, instead of CLAIMS.md in `out`.
    what : Plan, optional
        What to run, instead of the full or the quick plan.
    progress : callable, optional
        Called with (runs done, runs in all, seconds since the beginning).

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    OptionError
        If `data` does not have the failure records, or `out` cannot be a folder.
    """
    begin = time.perf_counter()
    require_matplotlib()
    out = folder(out)
    chosen = plan(quick) if what is None else what
    most = max(*chosen.flows, chosen.many)
    found = record(data, windows=chosen.windows, seed=seed)
    sources = load(data, windows=chosen.windows, most=most, seed=seed)
    tables = collect(found, sources, chosen, seed=seed, workers=workers, progress=progress)
    evidence = Evidence(found, sources, chosen, tables, checks(), quick)
    rows = judge(evidence)
    target = out / "CLAIMS.md" if page is None else Path(page)
    files = [*draw(evidence, out), out / "points.csv", target, out / "claims.json"]
    write_csv(_points(evidence), out / "points.csv")
    done = Report(
        title=TITLE,
        command="yu2010",
        evidence=evidence,
        rows=rows,
        inputs=_inputs(evidence),
        settings=SETTINGS,
        quick=quick,
        quick_note=f"{chosen.windows} windows, {chosen.traces} prediction traces, so that little is significant",
        remarks=(*REMARKS, _overruns(evidence)),
        grids=_grids(evidence),
        figures=[path.stem for path in files if path.suffix == ".png"],
        out=out,
        files=files,
        runs=sum(values["makespan"].size for values in tables.values()),
        seconds=time.perf_counter() - begin,
    )
    done.write(target)
    return done


def _inputs(evidence: Evidence) -> list[Input]:
    failures = evidence.record
    found = [Input("lanl", "Failures", failures.text, failures.real, len(failures.whole), "failures")]
    found += [Input(s.name, s.label, s.text, s.real, s.count) for s in evidence.sources.values()]
    if "real" not in evidence.sources:
        found.append(Input("real", "WfCommons and Pegasus", "skipped: no --data with them", False, 0))
    return found


def _overruns(evidence: Evidence) -> str:
    """How many runs outlast their window, after which nothing fails any more."""
    late = whole = 0
    for key, values in evidence.tables.items():
        if key.aoa == key.aoa:  # with failures
            spans = [trace.span for trace in evidence.record.windows]
            late += int((values["end"] > spans).sum())
            whole += values["end"].size
    return f"{late} of {whole} runs with failures outlast their window of 60 days, after which nothing fails."


def _grids(evidence: Evidence) -> list[Grid]:
    head = ["time", "event", "decisions"]
    found = [
        Grid(f"Figure {number}: decisions of {name} in the worked example", [head, *steps(run)])
        for number, (name, run) in zip((7, 8), evidence.checks["example"].items(), strict=True)
    ]
    return [*found, *(_beyond(evidence.view(workload)) for workload in evidence.sources)]


def _beyond(view: View) -> Grid:
    """What the paper leaves out: outputs that are also copied to shared storage."""
    many = view.what.many
    head = ["AOA", "makespan: on the node (h)", f"copied in {COPY:g} s (h)", "less", "less than AOA 0 on the node"]
    rows = []
    for aoa in (0.0, 0.5, 1.0):
        node, shared = (view("makespan", many, aoa, name) for name in ("flaw", "flaw, shared"))
        blind = saving(view, "makespan", many, aoa) if aoa else None
        rows.append(
            [
                f"{aoa:g}",
                f"{node.mean() / 3600:.1f}",
                f"{shared.mean() / 3600:.1f}",
                saved(shared, node).percent(),
                "" if blind is None else blind.percent(),
            ]
        )
    label = view.evidence.sources[view.workload].label
    return Grid(f"Beyond the paper: copies of outputs in shared storage, {many} workflows, {label}", [head, *rows])


def _points(evidence: Evidence) -> Iterator[tuple[Any, ...]]:
    """Mean over the windows and half width of the 95 % interval of every column of every set of runs."""
    names = [name for column in COLUMNS for name in (column, f"{column}_half")]
    yield ("workload", "order", "scheduler", "workflows", "aoa", "nodes", "shares", "runs", *names)
    for key, values in evidence.tables.items():
        windows = {column: values[column].mean(axis=0) for column in COLUMNS}
        numbers = [f"{x:.6g}" for v in windows.values() for x in (v.mean(), float(half_width(v)))]
        aoa = "" if key.aoa != key.aoa else key.aoa
        which = "spread" if key.mix else "random"
        label = evidence.sources[key.workload].label
        runs = values["makespan"].size
        yield (label, key.reading, key.scheduler, key.flows, aoa, key.nodes, which, runs, *numbers)
