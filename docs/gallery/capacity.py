"""
What backfilling and migration gain on a torus
==============================================

Useful, unused and lost capacity as in the last figure of Krevat, Castaños and Moreira (2002): on a torus, nodes are
lost where jobs wait and none of the free nodes form a box for them.
"""

import faultsim as fs
from faultsim.plot import plot_capacity, save

log = fs.synthetic.sdsc_like(2000, rng=1)
torus = fs.Torus.bluegene_l()
policies = {
    "FCFS": {"scheduler": "fcfs"},
    "migration": {"scheduler": "fcfs", "migration": "defragment"},
    "backfilling": {"scheduler": "easy"},
    "both": {"scheduler": "easy", "migration": "defragment"},
}
shares = {}
for name, options in policies.items():
    metrics = fs.simulate(log, torus, **options).metrics
    shares[name] = tuple(metrics[f"capacity_{part}"] for part in ("utilized", "unused", "lost"))
    print(f"{name:12} mean bounded slowdown {metrics['mean_bounded_slowdown']:6.1f}")
save(plot_capacity(shares), "capacity.png")
