"""
Queues with and without backfilling
===================================

The jobs that wait under first come, first served, and under EASY backfilling, which lets short ones go ahead.
"""

import faultsim as fs
from faultsim.plot import plot_queue, save
from faultsim.plot.base import new_figure

log = fs.synthetic.sdsc_like(1000, rng=1)
figure = new_figure(7.0, 6.0)
for ax, scheduler in zip(figure.subplots(2, sharex=True), ("fcfs", "easy"), strict=True):
    plot_queue(fs.simulate(log, fs.Cluster(128), scheduler=scheduler), ax=ax)
    ax.set_title(scheduler.upper())
save(figure, "queues.png")
