"""Measure sweeps and write the section "Sweeps" of benchmarks/RESULTS.md.

    python benchmarks/run_sweep.py [--quick] [--dry]

Throughput is wall time, so other work on the machine disturbs it: the load average is printed beside it.  Overheads are
CPU time of the whole process.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from results import table as markdown
from results import write_section

import faultsim as fs
from faultsim.simulation.execution import Execution
from faultsim.sweep.store import Store

HEAD = """
Wall time unless it says CPU.  `engine` is the compiled engine on its own; `outside` is all the rest, in CPU time a run:
the task, its name by content, the checks, the metrics, the row in the store.

"""


def load():
    return f"{os.getloadavg()[0]:.1f}"


def threads(jobs, cells, folder):
    """Throughput of 1 and of 2 threads on torus runs, alternating; the same rows."""
    log = fs.synthetic.nasa_like(jobs, rng=0)
    sweep = fs.Sweep(fs.Run(log, fs.Torus(4, 4, 8)), {"runtime_factor": np.linspace(0.7, 1.2, cells).tolist()})
    best, contents = {1: np.inf, 2: np.inf}, []
    for turn in range(3):
        for workers in (1, 2):
            path = folder / f"{turn}-{workers}.db"
            best[workers] = min(best[workers], sweep.fill(path, workers=workers).seconds)
            with Store(path, write=False) as store:
                contents.append((list(store.read("SELECT * FROM run")), list(store.read("SELECT * FROM task"))))
    assert all(content == contents[0] for content in contents)
    return {
        "runs": f"{cells} of {jobs:,} jobs on 4x4x8",
        "1 thread, runs/s": cells / best[1],
        "2 threads, runs/s": cells / best[2],
        "ratio": f"{best[1] / best[2]:.2f}",
        "rows": "the same bytes",
        "load average": load(),
    }


def overhead(jobs, runs, folder):
    """CPU time a run outside the engine: the least of several, since other work drives it out of the caches."""
    log = fs.synthetic.nasa_like(jobs, rng=0)
    sweep = fs.Sweep(fs.Run(log, fs.Cluster(128)), {"start_delay": [1e-3 * i for i in range(runs)]})
    took = np.inf
    for turn in range(8):
        begin = time.process_time()
        sweep.fill(folder / f"{jobs}-{turn}.db", workers=1)
        took = min(took, time.process_time() - begin)
    engine = np.inf
    tasks = [task.run for task, _ in zip(sweep.tasks(), range(300), strict=False)]
    for _ in range(8):
        spent = 0.0
        for run in tasks:
            engine = Execution(run).engine
            begin = time.thread_time()
            engine.run(10**9, float("inf"))
            engine.output()
            spent += time.thread_time() - begin
        engine = min(engine, spent / len(tasks))
    return {
        "jobs": jobs,
        "CPU, us a run": 1e6 * took / runs,
        "engine, us": 1e6 * engine,
        "outside, us": 1e6 * (took / runs - engine),
        "load average": load(),
    }


MANY = """
import sys, time
from results import peak
import faultsim as fs
runs, store = int(sys.argv[1]), sys.argv[2]
model = {"mean_gap": 60, "mean_runtime": 600, "mean_size": 8, "max_size": 64}
base = {"log": lambda rng: fs.synthetic.exponential(500, rng=rng, **model), "machine": fs.Cluster(128)}
sweep = fs.Sweep(base, replicates=runs)
began = time.perf_counter()
sweep.fill(store, workers=2)
print(time.perf_counter() - began, peak())
"""


def many(runs, folder):
    """Runs of 500 jobs, each drawn anew; a process of its own, for its memory."""
    store = folder / f"many{runs}.db"
    out = subprocess.run(
        [sys.executable, "-c", MANY, str(runs), str(store)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).resolve().parent,
    ).stdout.split()
    seconds = float(out[0])
    return {
        "runs": f"{runs:,} of 500 jobs",
        "seconds": seconds,
        "runs/s": runs / seconds,
        "most memory, MB": float(out[1]),
        "store, MB": store.stat().st_size / 1e6,
        "load average": load(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the runs")
    parser.add_argument("--dry", action="store_true", help="print, and leave RESULTS.md")
    args = parser.parse_args()
    part = 10 if args.quick else 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        body = HEAD
        body += "### Threads\n\n" + markdown([threads(5000, 200 // part, folder)]) + "\n\n"
        body += "### Outside the engine\n\n"
        body += markdown([overhead(jobs, 2000, folder) for jobs in (20, 100, 500)]) + "\n\n"
        body += "### Many runs\n\n" + markdown([many(runs // part, folder) for runs in (10_000, 100_000)]) + "\n"
    print(body)
    if not args.dry:
        write_section("sweeps", "Sweeps", body)


if __name__ == "__main__":
    main()
