"""
A maintenance window
====================

Every node is reserved from hour 10 to hour 14. No job is placed where its estimate reaches into the window: first come,
first served leaves nodes idle before it, and backfilling fills them with jobs that end in time.
"""

import matplotlib.pyplot as plt
import numpy as np

import faultsim as fs
from faultsim.plot import plot_gantt

rng = np.random.default_rng(4)
n = 70
submit = np.linspace(0, 12, n).round(1) * 3600
runtime = rng.choice([0.5, 1, 2, 4, 6], n, p=[0.35, 0.3, 0.2, 0.1, 0.05]) * 3600
log = fs.Workload(submit, runtime * rng.uniform(0.6, 1.0, n), rng.choice([2, 4, 8, 12, 16], n), estimate=runtime)
window = fs.Reservation("all", begin="10h", end="14h", name="maintenance")

figure, rows = plt.subplots(3, 1, figsize=(8, 8), sharex=True, layout="constrained")
for ax, (name, scheduler) in zip(
    rows, {"FCFS": "fcfs", "EASY": "easy", "Conservative": "conservative"}.items(), strict=True
):
    result = fs.simulate(log, fs.Cluster(32), scheduler=scheduler, reservations=window, record=True)
    plot_gantt(result, ax=ax)
    wait = result.metrics["mean_wait"] / 3600
    ax.set(title=f"{name}: mean wait {wait:.1f} h", xlabel="")
    if ax is not rows[-1]:
        ax.get_legend().remove()
rows[-1].set(xlabel="time since the first submit (hours)", xlim=(0, None))
figure.savefig("maintenance.png")
