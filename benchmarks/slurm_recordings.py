"""How many decisions of recorded runs of Slurm the model reproduces: the tables of
docs/background/slurm-exactness.md.

python benchmarks/slurm_recordings.py ../shared/data/slurm/runs
"""

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import faultsim as fs
from faultsim.cli.slurm_decisions import compare
from faultsim.readers.slurm_requests import read_slurm_requests
from faultsim.readers.slurmctld_log import read_slurmctld_log, written_clock
from faultsim.reference.slurm.compare_passes import PassComparison, compare_passes
from faultsim.reference.slurm.compare_priorities import Compared, PriorityComparison

HEADER = (
    "| recording | priorities | a second late | from the log alone | charges of usage | levels of fair share | "
    "seconds of running jobs |"
)
DECISIONS = "| recording | main passes | starts in them | backfill cycles | cycles with arrays | plans in cycles |"


@dataclass(frozen=True)
class Result:
    """The comparisons of a recording with, and without, what its jobs asked for; and those of its decisions."""

    name: str
    with_jobs: PriorityComparison
    alone: PriorityComparison
    decisions: PassComparison


def compared(folder: Path) -> Result:
    """All comparisons of a recording."""
    log = read_slurmctld_log(folder / "slurmctld.log.xz")
    conf = fs.read_slurm_conf(folder / "slurm.conf", [folder / "accounts.txt"], folder / "gres.conf")
    jobs = read_slurm_requests(folder / "sacct.txt")
    return Result(
        folder.name, compare(log, conf, jobs)[0], compare(log, conf, {})[0], compare_passes(log, conf, jobs)
    )  # fmt: skip


def _of(compared: Iterable[Compared]) -> str:
    results = list(compared)
    total = sum(result.total for result in results)
    return f"{sum(result.exact for result in results):,} of {total:,}" if total else "-"


def priorities_row(name: str, results: list[Result]) -> str:
    """A row of the table of priorities."""
    late = sum(result.with_jobs.priorities.late for result in results)
    kinds = ("charges", "levels", "run_seconds")
    cells = [
        _of(result.with_jobs.priorities for result in results), str(late),
        _of(result.alone.priorities for result in results),
        *(_of(getattr(result.with_jobs, kind) for result in results) for kind in kinds),
    ]  # fmt: skip
    return f"| {name} | {' | '.join(cells)} |"


def decisions_row(name: str, results: list[Result]) -> str:
    """A row of the table of decisions."""
    kinds = ("passes", "starts", "cycles", "array_cycles", "plans")
    cells = (_of(getattr(result.decisions, kind) for result in results) for kind in kinds)
    return f"| {name} | {' | '.join(cells)} |"


def tables(runs: Path) -> Iterator[str]:
    """The lines of both tables, the sum last, and the decisions that differ."""
    folders = sorted(path for path in runs.iterdir() if (path / "slurmctld.log.xz").is_file())
    results = [compared(folder) for folder in folders]
    for header, row in ((HEADER, priorities_row), (DECISIONS, decisions_row)):
        yield header
        yield "|---" * (header.count("|") - 1) + "|"
        for result in results:
            yield row(result.name, [result])
        yield row("**all**", results)
        yield ""
    for result in results:
        for kind in ("passes", "cycles", "array_cycles"):
            for each in getattr(result.decisions, kind).differences:
                clock = written_clock(each.time)[11:]
                yield f"- {result.name} {clock} job {each.job}: {each.recorded}; {each.computed}: {each.cause}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path, help="the folder of the recordings")
    for line in tables(parser.parse_args().runs):
        print(line)


if __name__ == "__main__":
    main()
