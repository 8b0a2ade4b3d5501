"""
When the machine is full
========================

Beyond an offered load of 1 no schedule keeps up, and on a torus some capacity is lost before: mean waits where jobs
need boxes and where any nodes will do.
"""

import faultsim as fs
from faultsim.plot import plot_saturation, save

base = {"log": lambda rng: fs.synthetic.sdsc_like(1000, rng=rng), "scheduler": "easy", "machine": fs.Cluster(128)}
machines = {"any nodes": fs.Cluster(128), "boxes of a torus": fs.Torus.bluegene_l()}
axes = {"load": [0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2], "machine": machines}
table = fs.Sweep(base, axes, replicates=6).run()
save(plot_saturation(table, "mean_wait"), "saturation.png")
