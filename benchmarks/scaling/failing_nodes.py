"""Failures on clusters of more and more nodes, which must be known by number then."""

from functools import cache

import numpy as np

import faultsim as fs
from scaling.row import DATA, Row, cpu_in_turn

NODES, JOBS = 80_640, 20_000
#: Events stretched over so much more time that failures leave no long queue.
STRETCH = 2.0


@cache
def curie():
    log = fs.read_swf(DATA / "CEA-Curie-2011-2.1-cln.swf.gz")
    log = log[(log.runtime > 0) & (log.size <= NODES)].head(JOBS)
    return fs.Workload(**{**log.columns, "submit": log.submit * STRETCH})


def copies(log, k):
    """Everything comes k times at once."""
    return fs.Workload(**{name: np.repeat(column, k) for name, column in log.columns.items()})


def measure(nodes):
    k = nodes // NODES
    log = copies(curie(), k)
    horizon = 1.2 * float(log.submit[-1])
    trace = fs.synthetic.weibull_failures(
        nodes, horizon, 0.85, 18_000.0, downtime=3600.0, count=round(4 * k * horizon / 86_400), rng=2004
    )
    never = fs.Run(log, fs.Cluster(nodes))
    saves = never.with_options(checkpointing=fs.Periodic(7200.0, 300.0))
    fails = saves.with_options(failures=trace)
    took, other, beside = cpu_in_turn(fails.simulate, never.simulate, saves.simulate, times=10)
    return took, other, len(log), beside


ROW = Row(
    title=f"Failures on large clusters: {JOBS:,} jobs of CEA-Curie on {NODES:,} nodes, and 4 to 64 copies of both",
    grows="nodes",
    sizes=[NODES, 4 * NODES, 16 * NODES, 64 * NODES],
    measure=measure,
    run="EASY, 4 failures a day and copy, checkpoints",
    against="no failures",
    beside="no failures, checkpoints",
    reach="at most 1.5 times the run without failures and with the same checkpoints, whatever the number of nodes; "
    "beside neither the checkpoints come on top, and what has to be known of the progress of each job",
    bound="The run without failures grows as fast, as its memory outgrows the caches; what failures add is about 700 "
    "instructions a job (counted with callgrind on 80,640 nodes).",
)
