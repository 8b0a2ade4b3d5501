"""More and more jobs that run at once: the same number of jobs on larger and larger clusters."""

from functools import cache

import numpy as np

import faultsim as fs
from scaling.row import Row, cpu

JOBS, FEWEST = 100_000, 128


def run(nodes):
    """Jobs of 10 nodes on average, at a load of 0.8."""
    draw = np.random.default_rng(5)
    size = draw.integers(1, 20, JOBS)
    runtime = draw.lognormal(7, 1.5, JOBS).round() + 1
    span = float((size * runtime).sum()) / (0.8 * nodes)
    log = fs.Workload(submit=np.sort(draw.random(JOBS)) * span, runtime=runtime, size=size)
    return fs.Run(log, fs.Cluster(nodes))


@cache
def on_the_fewest():
    return cpu(run(FEWEST).simulate, 5)


def measure(nodes):
    return cpu(run(nodes).simulate, 5), on_the_fewest(), JOBS


ROW = Row(
    title=f"Many running jobs: {JOBS:,} jobs of 10 nodes on average, of which up to 58,000 run at once",
    grows="nodes",
    sizes=(FEWEST, 2048, 32_768, 131_072, 1_048_576),
    measure=measure,
    run="EASY",
    against=f"on {FEWEST} nodes",
    reach=f"at most 3 times as long as on {FEWEST} nodes",
)
