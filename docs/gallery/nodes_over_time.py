"""
How busy a machine is
=====================

A synthetic stand-in for the SDSC SP2 log on a cluster of 128 nodes with EASY backfilling: which share of the nodes is
in use.
"""

import faultsim as fs
from faultsim.plot import plot_utilization, save

log = fs.synthetic.sdsc_like(1000, rng=1)
result = fs.simulate(log, fs.Cluster(128), scheduler="easy")
save(plot_utilization(result), "nodes_over_time.png")

# %%
# The same run in numbers:
print(result)
