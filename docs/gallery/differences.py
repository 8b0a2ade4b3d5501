"""
Which scheduler is better, and by how much
==========================================

Paired differences to EASY backfilling: each replicate has its own log, on which all schedulers are compared, and
the intervals are corrected for the number of comparisons.
"""

import faultsim as fs
from faultsim.plot import plot_differences, save

base = {"log": lambda rng: fs.synthetic.sdsc_like(500, rng=rng), "machine": fs.Cluster(128)}
axes = {"scheduler": ["easy", "backfill:4", "backfill:16", "conservative"], "load": [0.7, 0.9]}
table = fs.Sweep(base, axes, replicates=10).run()
save(plot_differences(table, "mean_bounded_slowdown", "scheduler", "easy"), "differences.png")
