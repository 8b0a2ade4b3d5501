"""
Queues with and without backfilling
===================================

The nodes that waiting jobs ask for under first come, first served, and under EASY backfilling, which lets short jobs go
ahead.
"""

import faultsim as fs
from faultsim.plot import plot_queue, save

log = fs.synthetic.sdsc_like(1000, rng=1)
runs = {name: fs.simulate(log, fs.Cluster(128), scheduler=name) for name in ("fcfs", "easy")}
save(plot_queue(runs), "queues.png")
