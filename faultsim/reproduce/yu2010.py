"""Z. Yu, C. Wang, W. Shi, "Failure-aware workflow scheduling in cluster environments", Cluster Computing 13(4), 2010.

Runs Figures 6-15 again and judges the claims L1-L11, on random workflows with the properties of the paper's bench,
which is not public, and beside it on recorded workflows of WfCommons and Pegasus.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from faultsim.plot import require_matplotlib
from faultsim.reproduce import claims as table
from faultsim.reproduce.claims import Row
from faultsim.reproduce.replicates import half_width
from faultsim.reproduce.report import Grid, Input, Report, folder, write_csv
from faultsim.reproduce.yu_checks import LOG, checks, steps
from faultsim.reproduce.yu_claims import CLAIMS, SETTINGS, UNITS
from faultsim.reproduce.yu_figures import draw
from faultsim.reproduce.yu_inputs import DAY, NODES, load, record
from faultsim.reproduce.yu_measures import saved, saving
from faultsim.reproduce.yu_runs import COLUMNS, COPY, VARIANTS, Evidence, Plan, View, collect, plan
from faultsim.simulation.progress import Progress

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
    "shows, and on recorded workflows of WfCommons and Pegasus stand in a table of their own and decide nothing. "
    "How many workflows run at a time is ours too, but for the 10 of Figure 9: 1, 5, 10 and 20.",
)
Reproduction = Report[Evidence]


#: Workload and reading -> the rows of the claims there.
Elsewhere = dict[tuple[str, str], list[Row]]


def judge(evidence: Evidence) -> list[Row]:
    """Every claim on the bench-like workflows, with the order ascending."""
    return table.judge(CLAIMS, evidence.view("bench"))


def elsewhere(evidence: Evidence) -> Elsewhere:
    """The same rules on the other workflows and with the other order; the claims that need no runs are left out."""
    judged = [claim for claim in CLAIMS if claim.id not in UNITS]
    return {
        (workload, reading): table.judge(judged, evidence.view(workload, reading))
        for workload in evidence.sources
        for reading in evidence.what.readings
    }


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
    keys, again = [key for workload in sources for key in chosen.sets(workload)], chosen.judged()
    step = _counted(progress, chosen.size(keys) + chosen.redraws * chosen.size(again))
    tables = collect(found, sources, chosen, keys, seed=seed, workers=workers, progress=step)
    evidence = Evidence(found, sources, chosen, tables, checks(), quick)
    rows, others = judge(evidence), elsewhere(evidence)
    redrawn = {}
    for other in range(seed + 1, seed + 1 + chosen.redraws):
        new = record(data, windows=chosen.windows, seed=other)
        bench = load(None, windows=chosen.windows, most=most, seed=other)
        made = collect(new, bench, chosen, again, seed=other, workers=workers, progress=step)
        redrawn[f"seed {other}"] = judge(Evidence(new, bench, chosen, made, evidence.checks, quick))
    target = out / "CLAIMS.md" if page is None else Path(page)
    files = [*draw(evidence, out), out / "points.csv", out / "elsewhere.csv", target, out / "claims.json"]
    write_csv(_points(evidence), out / "points.csv")
    write_csv(_details(evidence, others), out / "elsewhere.csv")
    done = Report(
        title=TITLE,
        command="yu2010",
        evidence=evidence,
        rows=rows,
        inputs=_inputs(evidence),
        settings=SETTINGS,
        quick=quick,
        quick_note=f"{chosen.windows} windows, {chosen.traces} prediction traces, so that little is significant",
        remarks=(*REMARKS, _scale(evidence), _overruns(evidence)),
        grids=_grids(evidence, others, {f"seed {seed}": rows, **redrawn}),
        figures=[path.stem for path in files if path.suffix == ".png"],
        out=out,
        files=files,
        runs=chosen.size(keys) + chosen.redraws * chosen.size(again),
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


def _scale(evidence: Evidence) -> str:
    """How long jobs and nodes last: an answer can be wrong only where a failure, or a prediction, falls into a job."""
    windows, groups = evidence.record.windows, evidence.sources["bench"].groups
    failures = sum(len(trace) for trace in windows)
    days = NODES * sum(trace.span for trace in windows) / failures / DAY
    hours = np.concatenate([flow.cost for group in groups for flow in group]).mean() / 3600
    return (
        f"In the windows a node fails every {days:.1f} days on average, and a job computes for {hours:.1f} h: without "
        "predictions nearly every answer is right. An AAA of about 50 %, as in L10, would need jobs about as long as "
        "the time between the failures of a node, which do not fit into two months by the hundred; what the "
        "paper counted remains open."
    )


def _overruns(evidence: Evidence) -> str:
    """How many runs outlast their window, after which nothing fails any more."""
    late, whole = [0, 0], [0, 0]
    for key, values in evidence.tables.items():
        if key.aoa == key.aoa:  # with failures
            part = bool(key.variant)
            spans = [trace.span for trace in evidence.record.windows]
            late[part] += int((values["end"] > spans).sum())
            whole[part] += values["end"].size
    return (
        f"{late[0]} of {whole[0]} runs with failures outlast their window of 60 days, after which nothing fails, and "
        f"{late[1]} of the {whole[1]} in which something open is read otherwise."
    )


def _counted(progress: Progress | None, total: int) -> Callable[[int], None]:
    """Reports runs done of all, from how many have been made each time."""
    began, done = time.perf_counter(), 0

    def step(runs: int) -> None:
        nonlocal done
        done += runs
        if progress is not None:
            progress(done, total, time.perf_counter() - began)

    return step


def _grids(evidence: Evidence, others: Elsewhere, seeds: Mapping[str, list[Row]]) -> list[Grid]:
    found = [
        Grid(f"Figure {number}: decisions of {name} in the worked example", [LOG, *steps(run)])
        for number, (name, run) in zip((7, 8), evidence.checks["example"].items(), strict=True)
    ]
    places = {f"{evidence.sources[workload].label}, {order}": rows for (workload, order), rows in others.items()}
    title = (
        "The same rules with both orders across workflows, and on recorded workflows (elsewhere.csv has the numbers)"
    )
    found.append(_verdicts(title, places))
    if len(seeds) > 1:
        title = "The same rules on other draws of windows, predictions and workflows: how firm the verdicts are"
        found.append(_verdicts(title, {name: rows[len(UNITS) :] for name, rows in seeds.items()}))
    for workload in evidence.sources:
        found += [_variants(evidence.view(workload)), _beyond(evidence.view(workload))]
    return found


def _verdicts(title: str, places: Mapping[str, list[Row]]) -> Grid:
    """Which claims hold where."""
    columns = [[str(row.finding.verdict) for row in rows] for rows in places.values()]
    labels = [row.claim.id for row in next(iter(places.values()))]
    rows = [[label, *cells] for label, *cells in zip(labels, *columns, strict=True)]
    return Grid(title, [["claim", *places], *rows])


def _details(evidence: Evidence, others: Elsewhere) -> Iterator[tuple[Any, ...]]:
    yield ("claim", "workflows", "order", "verdict", "ours", "note")
    for (workload, reading), rows in others.items():
        for row in rows:
            label, finding = evidence.sources[workload].label, row.finding
            yield (row.claim.id, label, reading, str(finding.verdict), finding.ours, finding.note)


def _variants(view: View) -> Grid:
    """What becomes of the main numbers when what the paper leaves open is read otherwise."""
    many = view.what.many
    head = ["reading", "makespan less at AOA .5", "at 1", "loss less at .9", "reschedulings less at .5"]
    rows = [[*head, "AAA at 0", "at .5"]]
    for variant in ("", *VARIANTS):
        cells = [
            saved(view(column, many, aoa, variant=variant), view(column, many, 0.0, variant=variant)).percent(1)
            for column, aoa in (("makespan", 0.5), ("makespan", 1.0), ("loss", 0.9), ("reschedulings", 0.5))
        ]
        right = [f"{100 * view('aaa', many, aoa, variant=variant).mean():.1f} %" for aoa in (0.0, 0.5)]
        rows.append([variant or "as judged", *cells, *right])
    label = view.evidence.sources[view.workload].label
    return Grid(f"What the paper leaves open, read otherwise: {many} workflows, {label}", rows)


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
    yield ("workload", "order", "scheduler", "workflows", "aoa", "nodes", "variant", "shares", "runs", *names)
    for key, values in evidence.tables.items():
        windows = {column: values[column].mean(axis=0) for column in COLUMNS}
        numbers = [f"{x:.6g}" for v in windows.values() for x in (v.mean(), float(half_width(v)))]
        aoa = "" if key.aoa != key.aoa else key.aoa
        which = "spread" if key.mix else "random"
        label = evidence.sources[key.workload].label
        runs = values["makespan"].size
        yield (label, key.reading, key.scheduler, key.flows, aoa, key.nodes, key.variant, which, runs, *numbers)
