"""Sweeps and many runs on threads, and threads that misuse each public object, for the thread sanitizer to look at.

python racing.py SECONDS: for each object that is misused.
"""

import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import faultsim as fs

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "verification"))
import test_threads

from helpers import sweep_victim


def many_runs():
    """One log that all runs share, on each machine."""
    log = fs.synthetic.lublin(200, rng=2, nodes=64)
    trace = fs.synthetic.exponential_failures(
        nodes=64, span=10**6, mtbf=10**6, downtime=600, rng=np.random.default_rng(1), any_rate=True
    )
    options = [
        {"machine": fs.Cluster(64), "scheduler": fs.EasyBackfill(order=fs.Wfp3())},
        {"machine": fs.Cluster(64), "scheduler": fs.ConservativeBackfill(), "record": True},
        {"machine": fs.Cluster(64), "scheduler": fs.EasyBackfill(order=fs.Key("size * (now - submit)"))},
        {"machine": fs.Cluster(64), "failures": trace, "predictor": fs.Perfect(), "placement": fs.SafestFirst()},
        {"machine": fs.Torus(4, 4, 4)},
        {"machine": fs.Torus(4, 4, 4), "migration": fs.Defragment(cost=1.0), "record": True},
        {"machine": fs.Torus(4, 4, 4), "failures": trace, "predictor": fs.Perfect(), "placement": fs.Balancing()},
    ]
    runs = [fs.Run(log, **{**each, "start_delay": delay}) for delay in (0.0, 5.0, 9.0) for each in options]
    fs.simulate_many(runs, threads=4)
    log.summary()


def sweeps(seconds):
    """As many as fit."""
    cells = max(2, 2 * round(2 * seconds))
    with tempfile.TemporaryDirectory() as folder:
        sweep_victim.sweep(cells, 100, 4).run(Path(folder, "a.db"), workers=4)


def main():
    """All; how many kinds there were, and which engine."""
    from faultsim._core import engine

    seconds = float(sys.argv[1])
    threads = test_threads.TestFourThreads()
    acts = {
        "many runs": many_runs,
        "sweeps": lambda: sweeps(seconds),
        "decisions": lambda: threads.test_decisions(fs.Cluster(64), seconds),
        "decisions on a torus": lambda: threads.test_decisions(fs.Torus(4, 4, 4), seconds),
        "simulation": lambda: threads.test_simulation(seconds),
        "live": lambda: threads.test_live(seconds),
        "event queue": lambda: threads.test_event_queue(seconds),
    }
    if find_spec("gymnasium"):
        acts["environments"] = lambda: threads.test_environments(seconds)
    for name, act in acts.items():
        print(name, file=sys.stderr, flush=True)
        act()
    print(len(acts), engine.__file__)


if __name__ == "__main__":
    main()
