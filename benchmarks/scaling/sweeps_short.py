"""Sweeps of short runs: what each costs beside its simulation."""

import tempfile
from pathlib import Path

import faultsim as fs
from scaling.row import Row, cpu


def sweep_of(runs: int) -> fs.Sweep:
    log = fs.synthetic.nasa_like(20, rng=0)
    return fs.Sweep(fs.Run(log, fs.Cluster(128)), {"start_delay": [1e-3 * i for i in range(runs)]})


def measure(runs: int) -> tuple[float, float, int]:
    sweep = sweep_of(runs)
    with tempfile.TemporaryDirectory() as folder:
        stores = (Path(folder) / f"{turn}.db" for turn in range(3))
        whole = cpu(lambda: sweep.fill(next(stores), workers=1))
    tasks = [task.run for task in sweep.tasks()]
    alone = cpu(lambda: [run.simulate() for run in tasks])
    return whole - alone, alone, runs


ROW = Row(
    title="Sweeps of runs of 20 jobs, outside `simulate`",
    grows="runs",
    sizes=(300, 1_200, 5_000, 20_000),
    measure=measure,
    run="all but `simulate`",
    against="`simulate` alone",
    reach="50 us a run",
)
