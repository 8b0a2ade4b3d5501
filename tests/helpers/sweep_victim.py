"""A sweep in a process of its own, to be killed.

python sweep_victim.py STORE [EXECUTOR] [CELLS] [JOBS] [REPLICATES]
"""

import sys

import numpy as np

import faultsim as fs


def failures(rng, machine, log):
    horizon = float(log.submit[-1] + log.runtime.max())
    return fs.synthetic.exponential_failures(nodes=machine.nodes, span=horizon, mtbf=2_000_000, downtime=120, rng=rng)


class Log:
    """A factory that travels to other processes."""

    def __init__(self, jobs):
        self.jobs = jobs

    def __call__(self, rng):
        return fs.synthetic.nasa_like(self.jobs, rng=rng)


def sweep(cells=40, jobs=150, replicates=5):
    base = {"log": Log(jobs), "machine": fs.Torus(4, 4, 8), "failures": failures}
    policies = {
        "krevat": {"placement": fs.MaxFreePartition()},
        "oliner": {"placement": fs.Balancing(), "predictor": fs.Confidence(0.1)},
    }
    loads = {"load": np.linspace(0.5, 0.95, cells // 2).tolist(), "policy": policies}
    return fs.Sweep(base, loads, replicates=replicates, name="victim")


if __name__ == "__main__":
    store, executor = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "threads"
    size = [int(text) for text in sys.argv[3:6]]
    print("begun", flush=True)
    try:
        sweep(*size).run(store, workers=2, executor=executor)
    except KeyboardInterrupt as interrupt:
        print(f"interrupted: {interrupt}", flush=True)
        sys.exit(130)
    except fs.FaultsimError as error:
        print(f"{type(error).__name__}: {error}", flush=True)
        sys.exit(2)
    print("done", flush=True)
