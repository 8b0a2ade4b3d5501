"""
The same hour under MFP and Slurm's listed shapes
=================================================

The same log on the same torus at the same time: Krevat's rule takes any box, Slurm's `topology/torus3d` only listed
shapes at listed anchors, so that sizes are rounded up and jobs stand in a grid.
"""

import faultsim as fs
from faultsim.plot import plot_occupancy, save

log = fs.synthetic.sdsc_like(300, rng=3)
rules = {"mfp": fs.MaxFreePartition(), "slurm": fs.SlurmTorus(unlisted="round_up")}
hour = float(log.submit[150])
for name, placement in rules.items():
    result = fs.simulate(log, "torus:4x4x8", scheduler="easy:reservation=fixed", placement=placement, record=True)
    save(plot_occupancy(result, hour), f"listed_shapes_{name}.png")
