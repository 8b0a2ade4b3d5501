"""
Held and stranded GPUs
======================

A site where jobs without GPUs fill the cores of GPU nodes. Hatched: GPUs that are free while jobs wait for GPUs, on
nodes without enough free cores or memory for any of them.
"""

import numpy as np

import faultsim as fs
from faultsim.plot import new_figure, plot_resources, save

rng, n = np.random.default_rng(1), 900
submit = np.sort(rng.uniform(0, 4 * 86400, n))
columns = {
    "cores": rng.choice([1, 4, 8, 32], n),
    "nodes": [1] * n,
    "memory": rng.choice([2000, 16000, 90000], n),
    "gpus": rng.choice([0, 0, 0, 1], n),
}
log = fs.Workload(submit, rng.exponential(14000, n).round() + 60, [1] * n, columns=columns)
run = fs.simulate(log, "site:cpu=8x32c187G@10,gpu=6x40c187Gx2v100@50", record=True)
figure = new_figure(8, 7)
for ax, resource in zip(figure.subplots(2, 1, sharex=True), ("cores", "gpus"), strict=True):
    plot_resources(run, resource, ax=ax)
save(figure, "resources.png")
