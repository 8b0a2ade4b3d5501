"""
Who held which nodes, and when
==============================

On a torus each job holds a contiguous box of nodes. Only a run with ``record=True`` keeps who ran where.
"""

import faultsim as fs
from faultsim.plot import plot_gantt, save

log = fs.synthetic.sdsc_like(120, rng=3)
result = fs.simulate(log, fs.Torus.bluegene_l(), scheduler="easy", record=True)
save(plot_gantt(result), "gantt.png")
