"""
A queue order of your own
=========================

Any expression of what is known of a waiting job orders the queue. Five orders under EASY backfilling, by the bounded
slowdown that a share of the jobs stays below.
"""

import faultsim as fs
from faultsim.plot import plot_distribution, save

log = fs.synthetic.sdsc_like(2000, rng=1).with_load(0.9, nodes=128)
orders = {
    "arrival": "submit", "shortest first": "estimate", "smallest first": "size",
    "smallest area": "estimate * size", "mine": "estimate * sqrt(size) - 3 * wait",
}  # fmt: skip
runs = {
    name: fs.simulate(log, fs.Cluster(128), scheduler=fs.EasyBackfill(order=fs.Key(text)))
    for name, text in orders.items()
}
save(plot_distribution(runs, "slowdown"), "own_order.png")
