"""
Where the node-seconds go when nodes fail
=========================================

The ledger accounts for every node-second of the machine. Here 128 nodes fail 400 times, and jobs begin again; or they
save their progress at Young's interval; or just before failures, of which seven in ten are predicted.
"""

import faultsim as fs
from faultsim.plot import plot_ledger, save

log = fs.synthetic.sdsc_like(1000, rng=1)
torus = fs.Torus.bluegene_l()
failures = fs.synthetic.weibull_failures(
    torus.nodes, float(log.submit[-1]), shape=0.85, scale=18_000, zipf=0.5, downtime="2m", count=400, rng=1
)
run = fs.Run(log, torus, scheduler="easy", failures=failures)
runs = {
    "no checkpoints": run.simulate(),
    "Young's interval": run.with_options(checkpointing="young:cost=60s,mtbf=30d").simulate(),
    "as predicted": run.with_options(checkpointing="before_failure:60s", predictor="accuracy:0.7").simulate(),
}
save(plot_ledger(runs), "where_the_time_goes.png")
