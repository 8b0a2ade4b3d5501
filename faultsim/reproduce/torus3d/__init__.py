"""Slurm's topology/torus3d against Krevat's rule: lists of shapes, scores, and sizes without a shape, varied apart."""

from pathlib import Path

from faultsim.reproduce.report import job_logs
from faultsim.reproduce.study import Prepared, Study, drawings, replicates
from faultsim.reproduce.torus3d.claims import CLAIMS, SETTINGS
from faultsim.reproduce.torus3d.figures import FIGURES, grids, run_rows
from faultsim.reproduce.torus3d.inputs import FILES, load
from faultsim.reproduce.torus3d.remarks import remarks
from faultsim.reproduce.torus3d.runs import Evidence, Plan, plan, run_list

__all__ = ["CLAIMS", "STUDY", "reproduce"]


def _prepare(what: Plan, *, data: str | Path | None, quick: bool, seed: int) -> Prepared[Evidence]:
    logs = {name: jobs for name, jobs in load(data, seed=seed).items() if name in what.logs}
    return run_list(logs, what, seed), lambda made: Evidence(logs, made, what, quick)


STUDY = Study(
    name="torus3d",
    title="Slurm's torus3d rule of 2026 against MFP of 2002",
    paper=False,
    description="Vary shapes, score and rounding of Slurm's topology/torus3d apart.",
    quick="three windows of 300 jobs, one machine, two logs: under a minute",
    files=tuple(FILES.values()),
    options=replicates(12),
    plan=plan,
    prepare=_prepare,
    claims=CLAIMS,
    inputs=lambda evidence: job_logs(evidence.logs.values()),
    settings=lambda evidence: SETTINGS,
    remarks=remarks,
    quick_note=lambda what: (
        f"{what.replicates} windows of {what.jobs} jobs, so that little is clear; one machine, two logs"
    ),
    grids=grids,
    figures=drawings(FIGURES),
    tables={"runs.csv": run_rows},
)
reproduce = STUDY.reproduce
