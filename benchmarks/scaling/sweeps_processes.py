"""Sweeps of short runs in two processes, beside the same in threads."""

import os
import tempfile
from pathlib import Path

import faultsim as fs
from scaling.row import Row
from scaling.sweeps_short import sweep_of


def used(sweep: fs.Sweep, store: Path, executor: str) -> float:
    """CPU time of a sweep in seconds, its processes included."""
    before = os.times()
    sweep.fill(store, workers=2, executor=executor)
    return sum(os.times()[:4]) - sum(before[:4])


def measure(runs: int) -> tuple[float, float, int]:
    sweep = sweep_of(runs)
    with tempfile.TemporaryDirectory() as folder:
        took = {
            executor: min(used(sweep, Path(folder) / f"{executor}{turn}.db", executor) for turn in range(2))
            for executor in ("processes", "threads")
        }
    return took["processes"], took["threads"], runs


ROW = Row(
    title="Sweeps of runs of 20 jobs in two processes, their start and `simulate` included",
    grows="runs",
    sizes=(1_000, 4_000, 16_000, 64_000),
    measure=measure,
    run="processes",
    against="threads",
    reach="150 us a run",
)
