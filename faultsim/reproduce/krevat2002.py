"""E. Krevat, J. G. Castanos, J. E. Moreira, "Job Scheduling for the BlueGene/L System", JSSPP 2002.

Runs Table 1 and Figures 2-8 again and judges the claims K1-K26. How long anything takes is in no claim but K3.
"""

import time
from pathlib import Path
from typing import Any

from faultsim.plot import require_matplotlib
from faultsim.reproduce import claims as table
from faultsim.reproduce import krevat_claims, krevat_claims_migration
from faultsim.reproduce.claims import Claim
from faultsim.reproduce.krevat_checks import checks
from faultsim.reproduce.krevat_claims import SETTINGS
from faultsim.reproduce.krevat_figures import FIGURES, draw
from faultsim.reproduce.krevat_inputs import load
from faultsim.reproduce.krevat_runs import COLUMNS, Evidence, Plan, collect, plan
from faultsim.reproduce.report import Input, Report, folder, write_csv
from faultsim.simulation.progress import Progress

__all__ = ["CLAIMS", "Reproduction", "reproduce"]

CLAIMS: list[Claim[Evidence]] = [*krevat_claims.CLAIMS, *krevat_claims_migration.CLAIMS]
TITLE = "Krevat, Castanos, Moreira: Job Scheduling for the BlueGene/L System (JSSPP 2002)"


REMARKS = (
    "Saturation is the highest utilization over the load coefficients that the paper plots (c = 0.7-1.4; "
    "on NASA with backfilling to 1.75). The knee, which decides nothing, is the utilization at which the "
    "mean wait passes ten mean run times. Definitions, rules and tolerances were written before the "
    "runs.",
)
Reproduction = Report[Evidence]


def reproduce(
    *,
    data: str | Path | None = None,
    quick: bool = False,
    out: str | Path = "krevat2002-out",
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
        Folder with the real logs (see `krevat_inputs.find_log`); a log that is not there is replaced by its look-alike.
    quick : bool
        Half of the load coefficients, and one box order.
    out : path
        Folder for figures (PNG), their numbers (CSV), CLAIMS.md and claims.json; made if needed.
    workers : int
        Threads.
    seed : int
        Seed of the look-alikes.
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
        If `data` has neither log, or `out` cannot be a folder.
    """
    begin = time.perf_counter()
    require_matplotlib()
    out = folder(out)
    chosen = plan(quick) if what is None else what
    sources = load(data, jobs=chosen.jobs, seed=seed)
    curves = collect(sources, chosen, workers=workers, progress=progress)
    evidence = Evidence(sources, curves, checks(quick), quick)
    rows = table.judge(CLAIMS, evidence)
    target = out / "CLAIMS.md" if page is None else Path(page)
    files = [*draw(evidence, out), out / "runs.csv", target, out / "claims.json"]
    write_csv(_all_runs(evidence), out / "runs.csv")
    done = Report(
        title=TITLE,
        command="krevat2002",
        evidence=evidence,
        rows=rows,
        inputs=[Input(s.name, s.label, s.text, s.real, len(s.log)) for s in sources.values()],
        settings=SETTINGS,
        quick=quick,
        quick_note="half of the load coefficients, one box order",
        remarks=REMARKS,
        figures=list(FIGURES),
        out=out,
        files=files,
        runs=sum(len(curve.c) for curve in curves.values()),
        seconds=time.perf_counter() - begin,
    )
    done.write(target)
    return done


def _all_runs(evidence: Evidence) -> Any:
    yield ("log", "series", "c", *COLUMNS)
    for (log, series), curve in evidence.curves.items():
        for i, c in enumerate(curve.c):
            yield (evidence.sources[log].label, series, float(c), *(float(curve[name][i]) for name in COLUMNS))
