"""
A queue order of your own
=========================

Any expression of what is known of a waiting job orders the queue. Five orders under EASY backfilling, by
the bounded slowdown that a share of the jobs stays below.
"""

import numpy as np

import faultsim as fs
from faultsim.plot import plot_curves, save

log = fs.synthetic.sdsc_like(2000, rng=1).with_load(0.9, nodes=128)
orders = {
    "arrival": "submit", "shortest first": "estimate", "smallest first": "size",
    "smallest area": "estimate * size", "mine": "estimate * sqrt(size) - 3 * wait",
}  # fmt: skip
shares, curves = np.linspace(50, 100, 26), {}
for name, text in orders.items():
    result = fs.simulate(log, fs.Cluster(128), scheduler=fs.EasyBackfill(order=fs.Key(text)))
    curves[name] = shares, np.percentile(result.jobs["bounded_slowdown"], shares)
ax = plot_curves(curves, x="share of jobs below (%)", y="bounded slowdown", log=True)
ax.legend(frameon=False)
save(ax, "own_order.png")
