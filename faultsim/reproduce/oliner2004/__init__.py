"""A. J. Oliner, R. K. Sahoo, J. E. Moreira, M. Gupta, A. Sivasubramaniam, "Fault-aware Job Scheduling for BlueGene/L
Systems", IPDPS 2004.

Runs Figures 3-10 again and judges the claims O1-O15.  How long anything takes is in no claim but O15.
"""

from pathlib import Path

from faultsim.reproduce.oliner2004.checks import run_checks
from faultsim.reproduce.oliner2004.claims import CLAIMS, SETTINGS
from faultsim.reproduce.oliner2004.figures import FIGURES, run_rows
from faultsim.reproduce.oliner2004.inputs import FILES, load
from faultsim.reproduce.oliner2004.runs import Evidence, Plan, over_replicates, plan, run_list
from faultsim.reproduce.report import job_logs
from faultsim.reproduce.study import Prepared, Study, drawings, replicates

__all__ = ["CLAIMS", "STUDY", "reproduce"]


def _prepare(
    what: Plan, *, data: str | Path | None, quick: bool, seed: int, llnl: str | Path | None = None
) -> Prepared[Evidence]:
    sources = load(data, llnl=llnl, jobs=what.jobs, seed=seed)
    return run_list(sources, what, seed), lambda made: Evidence(
        sources, over_replicates(made, what), what, run_checks(quick), quick
    )


def _remarks(evidence: Evidence) -> tuple[str, ...]:
    count = evidence.what.replicates
    return (
        f"All numbers are means over {count} failure traces (replicates) with 95 % confidence intervals of "
        "the paired runs; an improvement is 1 - mean(with)/mean(without) of the average bounded slowdown, whose "
        "denominator is max(run time, 10 s) (the paper prints min, which its own axes exclude). Definitions, rules and "
        "tolerances were written and committed before the first full run, but for the rules that are marked as mended.",
        "The paper's failure trace (a year of a 350-node cluster) and the LLNL T3D log are not public, and the spans "
        "of its job logs are not given: the settings below say what stands in for them. Spans, bursts and locations "
        "were chosen in trial runs of other programs, partly because they bring the 70 % of section 1 and the axes of "
        "Figure 6 into reach, so O2 and O9 are weaker tests than the other claims.",
    )


STUDY = Study(
    name="oliner2004",
    title="Oliner, Sahoo, Moreira, Gupta, Sivasubramaniam: Fault-aware Job Scheduling for BlueGene/L Systems "
    "(IPDPS 2004)",
    description="Run the experiments of Oliner and others (IPDPS 2004) and judge their claims.",
    quick="three replicates, half of the confidences and failure counts: under twenty seconds",
    files=[name for names in FILES.values() for name in names],
    options=replicates(10)
    | {"--llnl": {"metavar": "FILE", "help": "the LLNL-T3D log (SWF, 256 nodes), which is not public"}},
    plan=plan,
    prepare=_prepare,
    claims=CLAIMS,
    inputs=lambda evidence: job_logs(evidence.sources.values()),
    settings=lambda evidence: SETTINGS,
    remarks=_remarks,
    quick_note=lambda what: (
        f"{what.replicates} replicates, so that little is significant; half of the confidences and counts"
    ),
    figures=drawings(FIGURES),
    tables={"runs.csv": run_rows},
)
reproduce = STUDY.reproduce
