"""
How unevenly jobs wait
======================

Most jobs wait for seconds and a few for days, which a mean hides: the share of jobs that wait at most so long.
"""

import faultsim as fs
from faultsim.plot import plot_distribution, save

log = fs.synthetic.sdsc_like(2000, rng=1).with_load(0.85, nodes=128)
runs = {name: fs.simulate(log, fs.Cluster(128), scheduler=name) for name in ("fcfs", "easy", "conservative")}
save(plot_distribution(runs, "wait"), "waits.png")
