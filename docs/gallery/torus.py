"""
A torus at one instant
======================

The 4x4x8 supernodes of BlueGene/L layer by layer, at the time at which most of them are in use; ``view="space"`` draws
them as cubes.
"""

import faultsim as fs
from faultsim.plot import plot_occupancy, save

log = fs.synthetic.sdsc_like(300, rng=3)
result = fs.simulate(log, fs.Torus.bluegene_l(), scheduler="easy", record=True)
save(plot_occupancy(result), "torus.png")
