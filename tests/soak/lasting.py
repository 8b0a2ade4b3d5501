"""Run random simulations of all kinds for long, and say now and then what the process holds.

python lasting.py RUNS: eleven lines of JSON with runs, resident bytes, blocks of Python, descriptors and threads, the
first after runs that do not count.
"""

import gc
import json
import os
import sys
import tempfile
import threading
import warnings
from pathlib import Path

import numpy as np

import faultsim as fs

sys.path.insert(0, str(Path(__file__).parents[1] / "verification"))
import digest_workflows
import digests

PARTS = 10
#: Runs after which allocators and caches have their size, or a tenth of all, if that is more.
FIRST = 1000
#: Of digests, whose cases come in turn.
FILES = ("random", "random", "pods", "random", "preemption", "random", "rescheduling")


def held():
    """What the process holds now."""
    gc.collect()
    return {
        "resident": int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"),
        "blocks": sys.getallocatedblocks(),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
    }


def simulated(seed):
    """A random run, stopped, looked at and copied as it was drawn."""
    case = digests.drawn_in(FILES[seed % len(FILES)])(seed)
    if not case.looks:
        return case.run().simulate()
    sim, copied = case.simulation(), None
    for number, until in enumerate(case.looks):
        sim.run(until=until)
        sim.step()
        sim.verify()
        if case.fork and number == 1:
            copied = sim.copy()
    sim.run()
    return (copied or sim).result(partial=copied is not None)


def other(seed, folder):
    """What is not a run of jobs by itself: one of these, in turn."""
    log = fs.synthetic.nasa_like(20, rng=seed)
    kind = seed // 20 % 6
    if kind == 0:
        digest_workflows.drawn(2, seed).run()
    elif kind == 1:
        base = {"log": lambda rng: fs.synthetic.nasa_like(20, rng=rng), "machine": fs.Cluster(128)}
        sweep = fs.Sweep(base, {"load": [0.7, 0.9]}, replicates=3)
        store = folder / f"{seed % 7}.db"
        sweep.run(store, workers=2)
        fs.load_sweep(store)
        store.unlink()
    elif kind == 2:
        fs.simulate(log, fs.Cluster(128), record=True).save(folder / "run.npz")
        str(fs.load_result(folder / "run.npz"))
    elif kind == 3:
        log.write_swf(folder / "log.swf.gz")
        fs.read_swf(folder / "log.swf.gz")
    elif kind == 4:
        fs.partition.find_partitions(np.random.default_rng(seed).random((4, 4, 8)) < 0.5, 4)
        fs.simulate_many([fs.Run(log, fs.Cluster(128), start_delay=delay) for delay in range(4)], threads=2)
    else:
        (folder / "bad.swf").write_text("1 2 3 x\n")
        fs.read_swf(folder / "bad.swf")


def main():
    """All runs."""
    warnings.simplefilter("ignore")
    runs, refused = int(sys.argv[1]), 0
    with tempfile.TemporaryDirectory() as scratch:
        first = max(FIRST, runs // PARTS)
        for seed in range(first + runs):
            try:
                simulated(seed) if seed % 20 else other(seed, Path(scratch))
            except fs.FaultsimError:
                refused += 1
            if seed + 1 >= first and (seed + 1 - first) % (runs // PARTS) == 0:
                print(json.dumps({"runs": seed + 1, "refused": refused, **held()}), flush=True)


if __name__ == "__main__":
    main()
