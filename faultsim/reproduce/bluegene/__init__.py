"""Oliner's balancing and tie-breaking schedulers on the failure record of a real Blue Gene/L.

No paper has these runs: the record (LLNL, 2005-06) is younger than [oliner2004], and its 128 midplanes are that paper's
128 supernodes.
"""

from pathlib import Path

from faultsim.reproduce.bluegene.claims import CLAIMS, SETTINGS
from faultsim.reproduce.bluegene.figures import FIGURES, grids, run_rows
from faultsim.reproduce.bluegene.inputs import FILES, load
from faultsim.reproduce.bluegene.runs import Evidence, Plan, plan, run_list
from faultsim.reproduce.report import Input, job_logs
from faultsim.reproduce.study import Prepared, Study, drawings, replicates

__all__ = ["CLAIMS", "STUDY", "reproduce"]


def _prepare(what: Plan, *, data: str | Path | None, quick: bool, seed: int) -> Prepared[Evidence]:
    records, logs = load(data, seed=seed)
    return run_list(records, logs, what, seed), lambda made: Evidence(records, logs, made, what, quick)


def _inputs(evidence: Evidence) -> list[Input]:
    records = [Input(r.name, r.label, r.text, r.real, len(r.trace), "failures") for r in evidence.records.values()]
    return records + job_logs(evidence.logs.values())


def _remarks(evidence: Evidence) -> tuple[str, ...]:
    count = evidence.what.replicates
    return (
        f"Numbers are means over {count} alignments of jobs and failures with 95 % confidence intervals; the "
        "alignments share jobs, so the intervals are somewhat too narrow. Expectations and rules were written and "
        "committed before the first full run.",
        "The record does not say where a midplane lies on the torus. The natural map takes them by row of racks, "
        "column and midplane; the permuted one shows how much that assumption matters.",
    )


STUDY = Study(
    name="bluegene",
    title="Fault-aware scheduling on the failure record of a real Blue Gene/L (after Oliner et al., IPDPS 2004)",
    paper=False,
    description="Run Oliner's schedulers on the failure record of a real Blue Gene/L.",
    quick="two replicates, two loads, fewer policies: under twenty seconds",
    files=tuple(FILES.values()),
    options=replicates(10),
    plan=plan,
    prepare=_prepare,
    claims=CLAIMS,
    inputs=_inputs,
    settings=lambda evidence: SETTINGS,
    remarks=_remarks,
    quick_note=lambda what: f"{what.replicates} replicates, so that little is significant; two loads, fewer policies",
    grids=grids,
    figures=drawings(FIGURES),
    tables={"runs.csv": run_rows},
)
reproduce = STUDY.reproduce
