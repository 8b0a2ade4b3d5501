"""Nodes that are predicted not to fail, for more and more failures."""

from functools import cache

import numpy as np

import faultsim as fs
from scaling.row import Row, cpu

NODES, JOBS = 1_000_000, 20_000


@cache
def jobs():
    draw = np.random.default_rng(1)
    runtime = draw.exponential(36_000.0, JOBS).clip(1)
    submit = np.cumsum(draw.exponential(36_000.0 / 5000, JOBS))
    return fs.Workload(
        submit=submit, runtime=runtime, size=draw.geometric(0.02, JOBS), estimate=runtime * draw.uniform(1, 4, JOBS)
    )


def measure(failures):
    trace = fs.synthetic.weibull_failures(NODES, float(jobs().submit[-1]), 0.85, 18_000.0, count=failures, rng=2004)
    plain = fs.Run(jobs(), fs.Cluster(NODES), failures=trace, checkpointing=fs.Periodic(7200.0, 300.0))
    safest = plain.with_options(predictor=fs.Confidence(0.5), placement=fs.SafestFirst())
    return cpu(safest.simulate, 1), cpu(plain.simulate, 1), JOBS


ROW = Row(
    title=f"Predictions: {JOBS:,} jobs on {NODES:,} nodes",
    grows="failures",
    sizes=[15_625, 62_500, 250_000, 1_000_000],
    measure=measure,
    run="SafestFirst, Confidence",
    against="FirstFit",
    reach="at most 2 times FirstFit, and linear in failures",
)
