"""
Two parameters at once
======================

How long jobs wait on nodes that fail, by the load and by how often jobs save their progress.
"""

import faultsim as fs
from faultsim.plot import plot_heatmap, save


def log(rng):
    return fs.synthetic.sdsc_like(400, rng=rng)


def failures(rng, machine, log):
    span = float(log.submit[-1])
    return fs.synthetic.weibull_failures(machine.nodes, span, shape=0.85, scale="5h", downtime="1h", count=200, rng=rng)


base = {"log": log, "machine": fs.Cluster(128), "failures": failures, "checkpointing": fs.Periodic("1h", cost="1m")}
axes = {"checkpointing.interval": {"15 min": "15m", "1 h": "1h", "4 h": "4h"}, "load": [0.5, 0.6, 0.7, 0.8]}
table = fs.Sweep(base, axes, replicates=4).run()
save(plot_heatmap(table, "mean_wait", x="load", y="checkpointing.interval"), "heat_map.png")
