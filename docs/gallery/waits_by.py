"""
Waits by partition
==================

Waits on a site with three partitions, as it is and with four more GPU nodes, which jobs of all partitions feel.
"""

import numpy as np

import faultsim as fs
from faultsim.plot import plot_waits_by, save

site = fs.Site(
    [fs.NodeClass("cpu", 8, cores=32, memory="187G"), fs.NodeClass("gpu", 4, cores=40, memory="187G", gpus="v100:2")],
    [fs.Partition("general", "cpu,gpu", default=True), fs.Partition("gpu", "gpu"), fs.Partition("short", "cpu")],
)
rng, n = np.random.default_rng(1), 900
gpus = rng.choice([0, 0, 0, 1], n)
partition = np.where(gpus > 0, "gpu", rng.choice(["general", "short"], n))
runtime = rng.exponential(np.where(partition == "short", 3000, 16000)).round() + 60
columns = {"cores": rng.choice([1, 4, 8, 32], n), "nodes": [1] * n, "gpus": gpus, "partition": partition}
log = fs.Workload(np.sort(rng.uniform(0, 4 * 86400, n)), runtime, [1] * n, columns=columns)
runs = {"now": fs.simulate(log, site), "4 GPU nodes more": fs.simulate(log, site.with_nodes("gpu", 8))}
save(plot_waits_by(runs), "waits_by.png")
