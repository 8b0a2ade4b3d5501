"""Y. Zhang, M. S. Squillante, A. Sivasubramaniam, R. K. Sahoo, "Performance Implications of Failures in Large-Scale
Cluster Scheduling", JSSPP 2004.

Runs Table 1 and Figures 1-11 again and judges the claims Z1-Z19, on a workload drawn from a Hyper-Erlang fit as the
paper does, and beside it on a real log.  The paper does not say where in the queue a killed job goes: every run is made
with both readings, and a claim holds when it does under both.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from faultsim.plot import require_matplotlib
from faultsim.reproduce import zhang_claims, zhang_claims_strategies
from faultsim.reproduce.claims import Claim, Finding, Row, Verdict, all_of
from faultsim.reproduce.replicates import half_width
from faultsim.reproduce.report import Input, Report, folder, write_csv
from faultsim.reproduce.zhang_claims import SETTINGS
from faultsim.reproduce.zhang_figures import draw
from faultsim.reproduce.zhang_inputs import COUNTS, DAYS, FILE, SCALE, load, renewal_counts
from faultsim.reproduce.zhang_runs import COLUMNS, READINGS, Evidence, Plan, View, collect, plan
from faultsim.simulation.progress import Progress

__all__ = ["CLAIMS", "Reproduction", "judge", "reproduce"]

CLAIMS: list[Claim[View]] = [*zhang_claims.CLAIMS, *zhang_claims_strategies.CLAIMS]
TITLE = (
    "Zhang, Squillante, Sivasubramaniam, Sahoo: Performance Implications of Failures in Large-Scale Cluster Scheduling "
    "(JSSPP 2004)"
)
REMARKS = (
    "The paper does not say where in the queue a killed job goes, so every run is made twice: by arrival (it keeps its "
    "place by submit time, and is often the head of the queue) and at the tail. A claim holds if it does under both "
    "readings on the Hyper-Erlang workload, does not if it fails under both, and else holds partly. The same rules on "
    "the real log stand beside it and decide nothing.",
    "Values are means over replicates with 95 % confidence intervals; strategies compared share their jobs and "
    "failures. Over the factors is the plain mean of the relative changes at the run-time factors .3 to 1.1; low load "
    "is up to .5, medium .6 to .8, high from .9 on. Slowdown is response over run time, without a bound, as the paper "
    "defines it. Definitions, rules and tolerances were written before the runs.",
    "The paper's own workload (LLNL's ASCI Blue-Pacific) is not public. In its place stands the CTC SP2, to which the "
    "same model was first fitted, and which is fitted again here.",
)
Reproduction = Report[Evidence]
#: Reading -> how the table calls it.
_WORDS = {"arrival": "by arrival", "tail": "at the tail"}


def judge(evidence: Evidence) -> list[Row]:
    """Every claim under both readings; the real log's findings, if there is one, as a note."""
    rows = []
    for claim in CLAIMS:
        ours, verdict = _both(claim, evidence, "fit")
        notes = [
            f"{evidence.sources[name].label}: {_both(claim, evidence, name)[0]}"
            for name in evidence.sources
            if name != "fit" and claim.id != "Z1"
        ]
        rows.append(Row(claim, Finding(ours.replace("nan", "n/a"), verdict, "; ".join(notes).replace("nan", "n/a"))))
    return rows


def _both(claim: Claim[View], evidence: Evidence, workload: str) -> tuple[str, Verdict]:
    findings = {reading: claim.judge(evidence.view(workload, reading)) for reading in READINGS}
    verdict = all_of(finding.verdict for finding in findings.values())
    first, *rest = findings.values()
    if all(finding == first for finding in rest):  # nothing that a requeue could change
        return first.ours + (f" ({first.note})" if first.note else ""), verdict
    words = [
        f"{_WORDS[reading]} ({finding.verdict}): {finding.ours}" + (f" ({finding.note})" if finding.note else "")
        for reading, finding in findings.items()
    ]
    return ". ".join(word[0].upper() + word[1:] for word in words), verdict


def reproduce(
    *,
    data: str | Path | None = None,
    quick: bool = False,
    out: str | Path = "zhang2004-out",
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
        Folder with the CTC SP2 log; without it only the Hyper-Erlang workload runs.
    quick : bool
        Three run-time factors and few replicates.
    out : path
        Folder for figures (PNG), their numbers (CSV), CLAIMS.md and claims.json; made if needed.
    workers : int
        Threads.
    seed : int
        Seed of workloads and failures.
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
        If `data` does not have the log, or `out` cannot be a folder.
    """
    begin = time.perf_counter()
    require_matplotlib()
    out = folder(out)
    chosen = plan(quick) if what is None else what
    sources = load(data, replicates=chosen.replicates, seed=seed, days=chosen.days)
    tables = collect(sources, chosen, seed=seed, workers=workers, progress=progress)
    evidence = Evidence(sources, chosen, tables, {"Z1": renewal_counts(seed)}, seed, quick)
    rows = judge(evidence)
    target = out / "CLAIMS.md" if page is None else Path(page)
    files = [*draw(evidence, out), out / "table1.csv", out / "points.csv", target, out / "claims.json"]
    write_csv(_table1(evidence), out / "table1.csv")
    write_csv(_points(evidence), out / "points.csv")
    done = Report(
        title=TITLE,
        command="zhang2004",
        evidence=evidence,
        rows=rows,
        inputs=_inputs(evidence),
        settings=SETTINGS,
        quick=quick,
        quick_note=f"{len(chosen.factors)} run-time factors, {chosen.replicates} replicates",
        remarks=REMARKS,
        figures=[path.stem for path in files if path.suffix == ".png"],
        out=out,
        files=files,
        runs=sum(table["slowdown"].size for table in tables.values()),
        seconds=time.perf_counter() - begin,
    )
    done.write(target)
    return done


def _inputs(evidence: Evidence) -> list[Input]:
    found = [
        Input(source.name, source.label, source.text, source.real, round(np.mean([len(log) for log in source.logs])))
        for source in evidence.sources.values()
    ]
    if "ctc" not in evidence.sources:
        found.append(Input("ctc", "CTC SP2", f"skipped: no --data with {FILE}.gz", False, 0))
    return found


def _table1(evidence: Evidence) -> Iterator[tuple[Any, ...]]:
    yield ("scale_s", "shape", "failures", "failures_per_day", "drawn_mean", "drawn_5_percent", "drawn_95_percent")
    for shape, (low, mean, high) in evidence.checks["Z1"].items():
        yield (SCALE, shape, COUNTS[shape], f"{COUNTS[shape] / DAYS:.3f}", f"{mean:.1f}", low, high)


def _points(evidence: Evidence) -> Iterator[tuple[Any, ...]]:
    """Mean and half width of the 95 % interval of every column at every point."""
    names = [name for column in COLUMNS for name in (column, f"{column}_half")]
    yield ("workload", "failures", "strategy", "requeue", "factor", *names)
    for (workload, kind, policy, reading), table in evidence.tables.items():
        means = {column: table[column].mean(axis=1) for column in COLUMNS}
        halves = {column: half_width(table[column]) for column in COLUMNS}
        for at, factor in enumerate(evidence.what.factors):
            values = [f"{half[column][at]:.6g}" for column in COLUMNS for half in (means, halves)]
            yield (evidence.sources[workload].label, kind or "none", policy, reading if kind else "", factor, *values)
