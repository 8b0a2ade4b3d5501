"""
Waiting as the load grows
=========================

Schedulers at several loads, each on eight logs; bands are confidence intervals of the mean.
"""

import faultsim as fs
from faultsim.plot import plot_sweep, save

base = {"log": lambda rng: fs.synthetic.sdsc_like(500, rng=rng), "machine": fs.Cluster(128)}
axes = {"load": [0.5, 0.6, 0.7, 0.8, 0.9], "scheduler": ["fcfs", "easy", "conservative"]}
table = fs.Sweep(base, axes, replicates=8).run()
save(plot_sweep(table, "mean_wait", x="load"), "sweep.png")

# %%
# The same as a table, one row per cell:
table.summary("mean_wait")
