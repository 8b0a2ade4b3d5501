"""Y. Zhang, M. S. Squillante, A. Sivasubramaniam, R. K. Sahoo, "Performance Implications of Failures in Large-Scale
Cluster Scheduling", JSSPP 2004.

Runs Table 1 and Figures 1-11 again and judges the claims Z1-Z19, on a workload drawn from a Hyper-Erlang fit as the
paper does, and beside it on a real log.  The paper does not say where in the queue a killed job goes: every run is made
with both readings, and a claim holds when it does under both.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from faultsim.reproduce.claims import Claim, Finding, Parts, Row, all_of
from faultsim.reproduce.report import Input
from faultsim.reproduce.study import Prepared, Rows, Study
from faultsim.reproduce.zhang2004 import claims, strategy_claims
from faultsim.reproduce.zhang2004.figures import drawn
from faultsim.reproduce.zhang2004.inputs import COUNTS, DAYS, FILE, SCALE, load, renewal_counts
from faultsim.reproduce.zhang2004.runs import COLUMNS, READINGS, Evidence, Plan, View, plan, run_list
from faultsim.sweep.jackknife import half_width

CLAIMS: list[Claim[View]] = [*claims.CLAIMS, *strategy_claims.CLAIMS]
REMARKS = (
    "The paper does not say where in the queue a killed job goes, so every run is made twice: by arrival (it keeps its "
    "place by submit time, and is often the head of the queue) and at the tail. The parts of a claim are counted under "
    "both readings, on the Hyper-Erlang workload. What the same rules find on the real log is given as notes and "
    "does not affect the verdicts.",
    "Values are means over replicates with 95 % confidence intervals; strategies compared share their jobs and "
    "failures. Over the factors is the plain mean of the relative changes at the run-time factors .3 to 1.1; low load "
    "is up to .5, medium .6 to .8, high from .9 on. Slowdown is response over run time, without a bound, as the paper "
    "defines it. Definitions, rules and tolerances were written before the runs, but for "
    "the rules that are marked as mended.",
    "The paper's own workload (LLNL's ASCI Blue-Pacific) is not public. The CTC SP2, to which the same model was first "
    "fitted, takes its place and is fitted again here.",
)
#: Reading -> how the table calls it.
_WORDS = {"arrival": "by arrival", "tail": "at the tail"}


def _prepare(what: Plan, *, data: str | Path | None, quick: bool, seed: int) -> Prepared[Evidence]:
    sources = load(data, replicates=what.replicates, seed=seed, days=what.days)
    return run_list(sources, what, seed), lambda made: Evidence(
        sources, what, made, {"Z1": renewal_counts(seed)}, seed, quick
    )


def judge(claims: Sequence[Claim[View]], evidence: Evidence) -> list[Row]:
    """Every claim under both readings; the real log's findings, if there is one, as a note."""
    rows = []
    for claim in claims:
        ours, parts = _both(claim, evidence, "fit")
        notes = [
            f"{evidence.sources[name].label}: {_both(claim, evidence, name)[0]}"
            for name in evidence.sources
            if name != "fit" and claim.id != "Z1"
        ]
        rows.append(Row(claim, Finding(ours.replace("nan", "n/a"), parts, "; ".join(notes).replace("nan", "n/a"))))
    return rows


def _both(claim: Claim[View], evidence: Evidence, workload: str) -> tuple[str, Parts]:
    findings = {reading: claim.judge(evidence.view(workload, reading)) for reading in READINGS}
    first, *rest = findings.values()
    if all(finding == first for finding in rest):  # nothing that a requeue could change
        return first.ours + (f" ({first.note})" if first.note else ""), first.parts
    words = [
        f"{_WORDS[reading]} ({finding.verdict}): {finding.ours}" + (f" ({finding.note})" if finding.note else "")
        for reading, finding in findings.items()
    ]
    return ". ".join(word[0].upper() + word[1:] for word in words), all_of(f.parts for f in findings.values())


def _inputs(evidence: Evidence) -> list[Input]:
    found = [
        Input(source.name, source.label, source.text, source.real, round(np.mean([len(log) for log in source.logs])))
        for source in evidence.sources.values()
    ]
    if "ctc" not in evidence.sources:
        found.append(Input("ctc", "CTC SP2", f"skipped: no --data with {FILE}.gz", False, 0))
    return found


def _table1(evidence: Evidence) -> Rows:
    yield ("scale_s", "shape", "failures", "failures_per_day", "drawn_mean", "drawn_5_percent", "drawn_95_percent")
    for shape, (low, mean, high) in evidence.checks["Z1"].items():
        yield (SCALE, shape, COUNTS[shape], f"{COUNTS[shape] / DAYS:.3f}", f"{mean:.1f}", low, high)


def _points(evidence: Evidence) -> Rows:
    """Mean and half width of the 95 % interval of every column at every point."""
    names = [name for column in COLUMNS for name in (column, f"{column}_half")]
    yield ("workload", "failures", "strategy", "requeue", "factor", *names)
    for (workload, kind, policy, reading), table in evidence.tables.items():
        means = {column: table[column].mean(axis=1) for column in COLUMNS}
        halves = {column: half_width(table[column]) for column in COLUMNS}
        for at, factor in enumerate(evidence.what.factors):
            values = [f"{half[column][at]:.6g}" for column in COLUMNS for half in (means, halves)]
            yield (evidence.sources[workload].label, kind or "none", policy, reading if kind else "", factor, *values)


STUDY = Study(
    name="zhang2004",
    title="Zhang, Squillante, Sivasubramaniam, Sahoo: Performance Implications of Failures in Large-Scale Cluster "
    "Scheduling (JSSPP 2004)",
    description="Run the experiments of Zhang, Squillante, Sivasubramaniam, Sahoo (JSSPP 2004) and judge their claims.",
    quick="three run-time factors, three replicates: under twenty seconds",
    files=(FILE,),
    plan=plan,
    prepare=_prepare,
    claims=CLAIMS,
    judge=judge,
    inputs=_inputs,
    settings=lambda evidence: claims.SETTINGS,
    remarks=lambda evidence: REMARKS,
    quick_note=lambda what: f"{len(what.factors)} run-time factors, {what.replicates} replicates",
    figures=drawn,
    tables={"table1.csv": _table1, "points.csv": _points},
    colours=256,  # with all the shades of its bands a picture is three times as large
)
reproduce = STUDY.reproduce
