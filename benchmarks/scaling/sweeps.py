"""A sweep whose store is complete, resumed: beside the same without its note that it is."""

import contextlib
import sqlite3
import tempfile
from pathlib import Path

import faultsim as fs
from scaling.row import Row, cpu


def measure(runs):
    log = fs.synthetic.nasa_like(20, rng=0)
    sweep = fs.Sweep(fs.Run(log, fs.Cluster(128)), {"start_delay": [1e-3 * i for i in range(runs)]})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sweep.db"
        sweep.fill(path)
        whole = cpu(lambda: sweep.fill(path))

        def looked_at():
            with contextlib.closing(sqlite3.connect(path)) as db, db:
                db.execute("DELETE FROM whole")
            sweep.fill(path)

        return whole, cpu(looked_at, 1), runs


ROW = Row(
    title="Sweeps, a complete store resumed",
    grows="runs",
    sizes=(200, 1_000, 5_000, 20_000),
    measure=measure,
    run="known to be complete",
    against="every run looked up",
    reach="10 us a run",
)
