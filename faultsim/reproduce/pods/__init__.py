"""Pods: what can be promised of tori of cubes whose hosts fail, by theory and by simulation; no paper has these runs.

The published statements about such machines, and about the training jobs on them, are held against the simulation; each
says whether it was read, or is as others report it.
"""

from pathlib import Path

from faultsim.reproduce.pods.claims import CLAIMS, SETTINGS
from faultsim.reproduce.pods.figures import FIGURES
from faultsim.reproduce.pods.inputs import FILES, inputs_of, load, load_jobs
from faultsim.reproduce.pods.runs import Evidence, Plan, plan, run_list
from faultsim.reproduce.pods.tables import grids, run_rows
from faultsim.reproduce.study import Prepared, Study, drawings, replicates

__all__ = ["CLAIMS", "STUDY", "reproduce"]


def _prepare(what: Plan, *, data: str | Path | None, quick: bool, seed: int) -> Prepared[Evidence]:
    records, jobs = load(data, seed=seed), load_jobs(data, seed=seed)
    return run_list(records, jobs, what, seed), lambda made: Evidence(records, jobs, made, what, quick)


def _remarks(evidence: Evidence) -> tuple[str, ...]:
    what = evidence.what
    return (
        f"Numbers are means over {what.replicates} replicates of {what.repairs:,.0f} mean repair times each "
        f"({what.replays} placements of a record). What is held against theory has 99.9 % intervals, so that of some "
        "fifty numbers all are inside with 95 % if all are right; everything else has 95 % intervals. Rules and "
        "tolerances were written and committed before the first full run, but for the rules that are marked as mended.",
        "*Promised with 97 %* is the most slices of one size that are up at once for 97 % of the time. The closed form "
        "is exact in the long run whatever the distributions of times up and down, if hosts are independent. The "
        "simulation has time, a queue and repairs, so a share of the time is measured, with an interval, and a cell is "
        "called the same only if the interval leaves no other number of slices.",
        "*Read* is a statement that stands in the abstract that was read; *as reported by others* is one whose source "
        "was not read.",
    )


STUDY = Study(
    name="pods",
    title="Pods: what can be promised of tori of cubes behind optical switches when hosts fail",
    paper=False,
    description="Hold theory and published statements about pods against the simulation.",
    quick="four short replicates, so that much is left open: under ten seconds",
    files=[name for names in FILES.values() for name in ([names] if isinstance(names, str) else names)],
    options=replicates(20),
    plan=plan,
    prepare=_prepare,
    claims=CLAIMS,
    inputs=lambda evidence: inputs_of(evidence.records.values(), evidence.jobs),
    settings=lambda evidence: SETTINGS,
    remarks=_remarks,
    quick_note=lambda what: f"{what.replicates} replicates of {what.repairs:g} repair times, so that much is left open",
    grids=grids,
    figures=drawings(FIGURES),
    tables={"runs.csv": run_rows},
    colours=64,
)
reproduce = STUDY.reproduce
