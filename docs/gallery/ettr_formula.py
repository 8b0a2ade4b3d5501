"""
Where a formula for training time is off
========================================

By how many points Meta's formula is below the share of its time in which a job works in the simulation. The job has 64
nodes and is hit every 8 hours. By the formula a failure costs a restart and half an interval of work; it is off by more
than a point where that is more than about a seventh of those 8 hours.
"""

import faultsim as fs
from faultsim.plot import plot_heatmap, save

NODES, MTTF = 64, 8 * 3600.0
log = fs.Workload(submit=[0], runtime=[300 * MTTF], size=[NODES])


def failures(rng):
    return fs.synthetic.exponential_failures(NODES, 1500 * MTTF, NODES * MTTF, rng=rng)


def points(result):
    saves, again = result.settings["checkpointing"], result.settings["recovery"]["restart_cost"]
    said = fs.expected_ettr(NODES, NODES * MTTF, saves["interval"], cost=saves["cost"], restart_cost=again)
    return 100 * (result.metrics["ettr"] - said)


base = {"log": log, "machine": fs.Cluster(NODES), "failures": failures,
        "recovery": fs.Requeue(), "checkpointing": fs.Periodic("1h", cost="1m")}  # fmt: skip
intervals = {"15 min": "15m", "30 min": "30m", "1 h": "1h", "2 h": "2h", "4 h": "4h", "8 h": "8h"}
restarts = {"0": 0, "5 min": "5m", "15 min": "15m", "30 min": "30m", "1 h": "1h"}
axes = {"checkpointing.interval": intervals, "recovery.restart_cost": restarts}
table = fs.Sweep(base, axes, replicates=3, metrics={"points too low": points}).run()
chart = plot_heatmap(table, "points too low", x="checkpointing.interval", y="recovery.restart_cost")
save(chart, "ettr_formula.png")
