"""The nodes that failed least, on clusters of more and more nodes."""

import numpy as np

import faultsim as fs
from scaling.row import Row, cpu

JOBS = 50_000


def measure(nodes):
    draw = np.random.default_rng(1)
    runtime = draw.exponential(36_000.0, JOBS).clip(1)
    submit = np.cumsum(draw.exponential(36_000.0 * 10 / (0.6 * min(nodes, 65_536)), JOBS))
    log = fs.Workload(submit=submit, runtime=runtime, size=draw.geometric(0.1, JOBS).clip(1, nodes))
    trace = fs.synthetic.weibull_failures(nodes, float(submit[-1]), 0.85, 18_000.0, count=20_000, rng=2004)
    plain = fs.Run(log, fs.Cluster(nodes), failures=trace, checkpointing=fs.Periodic(7200.0, 300.0))
    least = plain.with_options(placement=fs.LeastFailuresFirst())
    return cpu(least.simulate, 2), cpu(plain.simulate, 2), JOBS


ROW = Row(
    title=f"Nodes that failed least: {JOBS:,} jobs of 10 nodes on average, 20,000 failures",
    grows="nodes",
    sizes=[16_384, 65_536, 262_144, 1_048_576],
    measure=measure,
    run="LeastFailuresFirst",
    against="FirstFit",
    reach="at most 1.5 times FirstFit",
)
