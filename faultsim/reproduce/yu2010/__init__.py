"""Z. Yu, C. Wang, W. Shi, "Failure-aware workflow scheduling in cluster environments", Cluster Computing 13(4), 2010.

Runs Figures 6-15 again and judges the claims L1-L11, on random workflows with the properties of the paper's bench,
which is not public, and beside it on recorded workflows of WfCommons and Pegasus.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from faultsim.arrays import Floats
from faultsim.reproduce import claims as table
from faultsim.reproduce.claims import Claim, Row
from faultsim.reproduce.report import Input
from faultsim.reproduce.study import Prepared, Study
from faultsim.reproduce.yu2010.checks import run_checks
from faultsim.reproduce.yu2010.claims import CLAIMS, SETTINGS
from faultsim.reproduce.yu2010.figures import drawn
from faultsim.reproduce.yu2010.inputs import DAY, FILE, NODES, load, record
from faultsim.reproduce.yu2010.runs import Evidence, Key, Plan, View, plan, run_list
from faultsim.reproduce.yu2010.tables import detail_rows, grids, point_rows

__all__ = ["CLAIMS", "STUDY", "judge", "prepared", "reproduce"]

REMARKS = (
    "All numbers are means over the windows of the failure record with 95 % confidence intervals of the paired runs; a "
    "window's value is the mean over its prediction traces, a makespan the mean over the workflows of a run. "
    "Definitions, rules and tolerances were written and committed before the first full run, but for the rules that "
    "are marked as mended.",
    "The bench of the paper is not public: its place is taken by random workflows of its sizes with random meshing "
    "degree, edge length, weights and ratio of communication to computation, whose ranges are ours "
    "(`faultsim.synthetic.bench_dags`), on nodes of equal speed. The claims are judged on these, and with the order "
    "across workflows ascending. The same rules with the order descending, which is all that the paper's Figure 3 "
    "shows, and on recorded workflows of WfCommons and Pegasus are in a separate table and do not affect the verdicts. "
    "The numbers of concurrent workflows (1, 5, 10 and 20) are ours too, except the 10 of Figure 9.",
)


def judge(claims: Sequence[Claim[View]], evidence: Evidence) -> list[Row]:
    """Every claim on the bench-like workflows, with the order ascending."""
    return table.judge(claims, evidence.view("bench"))


def prepared(what: Plan, *, data: str | Path | None, quick: bool, seed: int) -> Prepared[Evidence]:
    """The runs of a plan, and what makes them the evidence."""
    most = max(*what.flows, what.many)
    draws = [
        (
            record(data, windows=what.windows, seed=seed + redraw),
            load(None if redraw else data, windows=what.windows, most=most, seed=seed + redraw),
        )
        for redraw in range(1 + what.redraws)
    ]
    keys = [key for workload in draws[0][1] for key in what.sets(workload)]
    keys += [key._replace(redraw=redraw) for redraw in range(1, len(draws)) for key in what.judged()]

    def evidence(made: Mapping[Key, Mapping[str, Floats]]) -> Evidence:
        checks, found = run_checks(), []
        for redraw, inputs in enumerate(draws):
            tables = {key._replace(redraw=0): columns for key, columns in made.items() if key.redraw == redraw}
            found.append(Evidence(*inputs, what, tables, checks, quick, seed + redraw))
        return replace(found[0], redraws=found[1:])

    return run_list(draws, what, keys, seed), evidence


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


STUDY = Study(
    name="yu2010",
    title="Yu, Wang, Shi: Failure-aware workflow scheduling in cluster environments (Cluster Computing 2010)",
    description="Run the experiments of Yu, Wang, Shi (Cluster Computing 2010) and judge their claims.\n\n"
    "Workflows that are in the folders dags/wfcommons and dags/dax of --data are run as well.",
    quick="three windows, two prediction traces, two numbers of workflows: under twenty seconds",
    files=(FILE,),
    plan=plan,
    prepare=prepared,
    claims=CLAIMS,
    judge=judge,
    inputs=_inputs,
    settings=lambda evidence: SETTINGS,
    remarks=lambda evidence: (*REMARKS, _scale(evidence), _overruns(evidence)),
    quick_note=lambda what: f"{what.windows} windows, {what.traces} prediction traces, so that little is significant",
    grids=grids,
    figures=drawn,
    tables={"points.csv": point_rows, "elsewhere.csv": detail_rows},
)
reproduce = STUDY.reproduce
