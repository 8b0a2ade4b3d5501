"""
What checkpoints cost, and what they save
=========================================

A thousand jobs on 128 nodes that fail every 20 days; they restart in five minutes and save their progress in two. Rare
checkpoints lose work, and frequent ones take the time themselves. The rule that maximizes availability finds the middle
for each size of job.
"""

import faultsim as fs
from faultsim.plot import plot_ledger, save

log = fs.synthetic.sdsc_like(1000, rng=1).with_load(0.8, nodes=128)
failures = fs.synthetic.exponential_failures(128, 2 * float(log.submit[-1]), "20d", downtime="4h", rng=2)
run = fs.Run(log, fs.Cluster(128), failures=failures, recovery=fs.Requeue(restart_cost="5m"))
rules = {
    "every 10 minutes": fs.Periodic("10m", "2m"),
    "every hour": fs.Periodic("1h", "2m"),
    "every 12 hours": fs.Periodic("12h", "2m"),
    "most available": fs.MaxAvailability("2m", "20d", "5m"),
}
results = {rule: run.with_options(checkpointing=each).simulate() for rule, each in rules.items()}
bars = {f"{rule}: ETTR {100 * each.metrics['ettr']:.1f} %": each for rule, each in results.items()}
save(plot_ledger(bars), "goodput.png")
