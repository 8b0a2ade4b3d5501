"""RLScheduler's table of heuristics ([zhang2020]): to the printed digit under its own rules, and under the textbook's.

It measures how much of a published difference between schedulers is a difference between simulators.
"""

from pathlib import Path

from faultsim.reproduce.report import job_logs
from faultsim.reproduce.rlscheduler.claims import CLAIMS, SETTINGS
from faultsim.reproduce.rlscheduler.figures import FIGURES, grids, run_rows
from faultsim.reproduce.rlscheduler.inputs import FILES, load
from faultsim.reproduce.rlscheduler.remarks import remarks
from faultsim.reproduce.rlscheduler.runs import Evidence, Plan, plan, run_list
from faultsim.reproduce.study import Prepared, Study, drawings

__all__ = ["CLAIMS", "STUDY", "reproduce"]


def _prepare(what: Plan, *, data: str | Path | None, quick: bool, seed: int) -> Prepared[Evidence]:
    logs = load(data, seed=seed)
    return run_list(logs, what), lambda made: Evidence(logs, made, what, quick)


STUDY = Study(
    name="rlscheduler",
    title="Zhang, Dai, He, Bao, Xie: RLScheduler: An Automated HPC Batch Job Scheduler Using Reinforcement Learning "
    "(SC 2020): its heuristics",
    description="Run the heuristics of RLScheduler's table under its simulator's rules and under the textbook's.",
    quick="three of the ten sequences: under half a minute",
    files=tuple(FILES.values()),
    plan=plan,
    prepare=_prepare,
    claims=CLAIMS,
    inputs=lambda evidence: job_logs(evidence.logs.values()),
    settings=lambda evidence: SETTINGS,
    remarks=remarks,
    quick_note=lambda what: f"{what.sequences} of ten sequences, so that no number can be held against a published one",
    grids=grids,
    figures=drawings(FIGURES),
    tables={"runs.csv": run_rows},
)
reproduce = STUDY.reproduce
