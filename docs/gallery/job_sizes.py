"""
Two logs that differ in their sizes
===================================

Jobs of the NASA machine came in powers of two, those of SDSC in all sizes, which makes holes on a torus.
"""

import faultsim as fs
from faultsim.plot import new_figure, plot_job_sizes, save

figure = new_figure(8.0, 6.0)
logs = fs.synthetic.nasa_like(10_000, rng=1), fs.synthetic.sdsc_like(10_000, rng=1)
for ax, log in zip(figure.subplots(2), logs, strict=True):
    plot_job_sizes(log, ax=ax, title=log.name)
save(figure, "job_sizes.png")
