"""E. Krevat, J. G. Castanos, J. E. Moreira, "Job Scheduling for the BlueGene/L System", JSSPP 2002.

Runs Table 1 and Figures 2-8 again and judges the claims K1-K26. How long anything takes is in no claim but K3.
"""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faultsim.errors import OptionError
from faultsim.plot import require_matplotlib
from faultsim.progress import Progress
from faultsim.reproduce import claims as table
from faultsim.reproduce import krevat_claims, krevat_claims_migration
from faultsim.reproduce.claims import Claim, Row, Verdict
from faultsim.reproduce.krevat_checks import checks
from faultsim.reproduce.krevat_claims import SETTINGS
from faultsim.reproduce.krevat_figures import FIGURES, draw, write_csv
from faultsim.reproduce.krevat_inputs import load
from faultsim.reproduce.krevat_runs import COLUMNS, Evidence, Plan, collect, plan

__all__ = ["CLAIMS", "Reproduction", "reproduce"]

CLAIMS: list[Claim[Evidence]] = [*krevat_claims.CLAIMS, *krevat_claims_migration.CLAIMS]
TITLE = "Krevat, Castanos, Moreira: Job Scheduling for the BlueGene/L System (JSSPP 2002)"


@dataclass(frozen=True)
class Reproduction:
    """What `reproduce` gave: the evidence, the judged claims, the files written, the seconds it took."""

    evidence: Evidence
    rows: list[Row]
    out: Path
    files: list[Path]
    runs: int
    seconds: float

    @property
    def failed(self) -> list[str]:
        """Labels of the claims that do not hold."""
        return [row.claim.id for row in self.rows if row.finding.verdict is Verdict.FAILS]

    def logs(self) -> list[str]:
        """One line a log: which, and where it comes from."""
        return [f"{source.label}: {source.text}" for source in self.evidence.sources.values()]

    def text(self) -> str:
        """The claims as a table for the terminal."""
        lines = [TITLE, *self.logs()]
        if self.evidence.quick:
            lines.append("quick run: half of the load coefficients, one box order; leave --quick out for all of it")
        lines += [
            "",
            *(f"{letter}  {words}" for letter, words in SETTINGS.items()),
            "",
            table.text(self.rows),
            "",
            f"{len(self.rows)} claims: {table.counts(self.rows)}",
            f"{self.runs} runs in {self.seconds:.1f} s; figures, their data and the claims are in {self.out}",
        ]
        return "\n".join(lines)

    def document(self) -> dict[str, Any]:
        """The same as plain data for JSON."""
        sources = self.evidence.sources.values()
        return {
            "paper": TITLE,
            "quick": self.evidence.quick,
            "runs": self.runs,
            "seconds": round(self.seconds, 3),
            "logs": [{"name": s.name, "real": s.real, "source": s.text, "jobs": len(s.log)} for s in sources],
            "settings": SETTINGS,
            "claims": table.document(self.rows),
            "out": str(self.out),
            "files": [path.name for path in self.files],
        }

    def page(self, figures: str = "") -> str:
        """The claims as a Markdown page; `figures` is the way from the page to the figures."""
        lines = [
            f"# {TITLE}",
            "",
            "Written by `faultsim reproduce krevat2002`"
            + (" `--quick`" if self.evidence.quick else "")
            + "; nothing here is edited by hand.",
            "",
            *(f"- {line}" for line in self.logs()),
            "",
            f"{len(self.rows)} claims: {table.counts(self.rows)}. {self.runs} runs.",
            "",
            "Saturation is the highest utilization over the load coefficients that the paper plots (c = 0.7-1.4; "
            "on NASA with backfilling to 1.75). The knee, which decides nothing, is the utilization at which the "
            "mean wait passes ten mean run times. Definitions, rules and tolerances were written before the "
            "runs.",
            "",
            "Settings:",
            "",
            *(f"- **{letter}**: {words}" for letter, words in SETTINGS.items()),
            "",
            table.markdown(self.rows),
            "",
            "## Figures",
            "",
        ]
        lines += [f"![{name}]({figures}{name}.png)\n" for name in FIGURES]
        return "\n".join(lines)


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
    folder = _folder(out)
    chosen = plan(quick) if what is None else what
    sources = load(data, jobs=chosen.jobs, seed=seed)
    curves = collect(sources, chosen, workers=workers, progress=progress)
    evidence = Evidence(sources, curves, checks(quick), quick)
    rows = table.judge(CLAIMS, evidence)
    target = folder / "CLAIMS.md" if page is None else Path(page)
    files = [*draw(evidence, folder), folder / "runs.csv", target, folder / "claims.json"]
    write_csv(_all_runs(evidence), folder / "runs.csv")
    runs = sum(len(curve.c) for curve in curves.values())
    done = Reproduction(evidence, rows, folder, files, runs, time.perf_counter() - begin)
    relative = os.path.relpath(folder, target.parent).replace(os.sep, "/")
    target.write_text(done.page("" if relative == "." else f"{relative}/"))
    _write_json(done.document(), folder / "claims.json")
    return done


def _folder(out: str | Path) -> Path:
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"--out {out}: cannot be made a folder ({error.strerror})") from None
    return folder


def _write_json(document: dict[str, Any], path: Path) -> None:
    import json

    path.write_text(json.dumps(document, indent=1) + "\n")


def _all_runs(evidence: Evidence) -> Any:
    yield ("log", "series", "c", *COLUMNS)
    for (log, series), curve in evidence.curves.items():
        for i, c in enumerate(curve.c):
            yield (evidence.sources[log].label, series, float(c), *(float(curve[name][i]) for name in COLUMNS))
