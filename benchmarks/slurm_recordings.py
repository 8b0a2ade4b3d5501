"""How many decisions of recorded runs of Slurm the model reproduces: the table of docs/background/slurm-exactness.md.

python benchmarks/slurm_recordings.py ../shared/data/slurm/runs
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import faultsim as fs
from faultsim.cli.slurm_decisions import compare
from faultsim.readers.slurm_requests import read_slurm_requests
from faultsim.readers.slurmctld_log import read_slurmctld_log
from faultsim.reference.slurm.compare_priorities import PriorityComparison

HEADER = (
    "| recording | priorities | a second late | from the log alone | charges of usage | levels of fair share | "
    "seconds of running jobs |"
)


def compared(folder: Path) -> tuple[PriorityComparison, PriorityComparison]:
    """The comparisons of a recording with, and without, what its jobs asked for."""
    log = read_slurmctld_log(folder / "slurmctld.log.xz")
    conf = fs.read_slurm_conf(folder / "slurm.conf", [folder / "accounts.txt"], folder / "gres.conf")
    requests = read_slurm_requests(folder / "sacct.txt")
    return compare(log, conf, requests)[0], compare(log, conf, {})[0]


def row(name: str, with_jobs: list[PriorityComparison], alone: list[PriorityComparison]) -> str:
    """A row of the table."""

    def of(each: str, results: list[PriorityComparison]) -> str:
        exact = sum(getattr(result, each).exact for result in results)
        total = sum(getattr(result, each).total for result in results)
        return f"{exact:,} of {total:,}" if total else "-"

    late = sum(result.priorities.late for result in with_jobs)
    return (
        f"| {name} | {of('priorities', with_jobs)} | {late} | {of('priorities', alone)} | "
        f"{of('charges', with_jobs)} | {of('levels', with_jobs)} | {of('run_seconds', with_jobs)} |"
    )


def table(runs: Path) -> Iterator[str]:
    """The lines of the table, the sum last."""
    yield HEADER
    yield "|---|---|---|---|---|---|---|"
    with_jobs, alone = [], []
    for folder in sorted(path for path in runs.iterdir() if (path / "slurmctld.log.xz").is_file()):
        one, other = compared(folder)
        with_jobs.append(one)
        alone.append(other)
        yield row(folder.name, [one], [other])
    yield row("**all**", with_jobs, alone)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path, help="the folder of the recordings")
    for line in table(parser.parse_args().runs):
        print(line)


if __name__ == "__main__":
    main()
