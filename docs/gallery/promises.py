"""
What a pod can promise
======================

The share of 4,096 chips that are up at once as slices of one shape with a probability of 97 %, over the time that a
host is up: with optical switches any cubes that are up make a slice, with wires only fixed blocks do.
"""

import faultsim as fs
from faultsim.plot import plot_promises, save

plan = fs.plan("pod:tpu-v4,wiring=static", "4x4x4,4x8x8,8x8x16,8x16x16", availability=0.999)
save(plot_promises(plan), "promises.png")
