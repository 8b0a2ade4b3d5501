"""
Open and closed logs
====================

In a closed log a user submits the next job some time after the last one has ended, as the think times of the Standard
Workload Format say, so the arrival rate follows the speed of the machine. In an open log it does not. Both logs have
the same arrivals where no job waits.
"""

import matplotlib.pyplot as plt
import numpy as np

import faultsim as fs

users, rounds, think = 60, 40, 600.0
row = np.arange(users * rounds)
runtime = np.random.default_rng(1).exponential(1200.0, len(row)).round() + 1
one = np.ones(len(row), int)
last = {"preceding_job": np.where(row < users, -1, row - users + 1), "think_time": np.full(len(row), think)}
closed = fs.Workload(np.zeros(len(row)), runtime, one, user=row % users, columns=last)
roomy = fs.simulate(closed, fs.Cluster(users)).jobs["eligible"]
first = np.argsort(roomy, kind="stable")
opened = fs.Workload(roomy[first], runtime[first], one, user=(row % users)[first])

nodes = np.arange(15, 61, 5)
figure, (waits, rates) = plt.subplots(1, 2, figsize=(8, 4.2), layout="constrained")
for name, log in (("open", opened), ("closed", closed)):
    found = [fs.simulate(log, fs.Cluster(int(count))) for count in nodes]
    waits.plot(nodes, [result.metrics["mean_wait"] / 60 for result in found], "o-", label=name)
    hours = [np.ptp(result.jobs["eligible"]) / 3600 for result in found]
    rates.plot(nodes, [len(row) / span for span in hours], "o-", label=name)
waits.set(xlabel="nodes", ylabel="mean wait (minutes)", yscale="symlog")
waits.yaxis.set_major_formatter("{x:g}")
rates.set(xlabel="nodes", ylabel="arrivals per hour", ylim=(0, None))
waits.legend()
figure.savefig("closed_loop.png")
