"""
Moving jobs away from predicted failures
========================================

FARS moves running jobs off nodes that are predicted to fail. Each axis of the Kiviat graph is a metric of which less is
better, so that the smaller area wins.
"""

import faultsim as fs
from faultsim.plot import plot_kiviat, save

log = fs.synthetic.exponential(1000, rng=1, mean_gap=320, mean_runtime=15_000, mean_size=10, max_size=512)
failures = fs.synthetic.exponential_failures(512, float(log.submit[-1]), mtbf="40d", downtime="1h", rng=1)
run = fs.Run(
    log, fs.Cluster(512), scheduler="easy", failures=failures, checkpointing=fs.Young(cost=60, mtbf=40 * 86_400),
    predictor=fs.IntervalPredictor(precision=0.7, recall=0.7, interval="5m"),
)  # fmt: skip
runs = {
    "stay": run.simulate(),
    "move": run.with_options(rescheduling=fs.Fars(interval="5m", strategy=fs.ServiceUnitLoss())).simulate(),
}
save(plot_kiviat(runs, baseline="stay"), "moved_away.png")
print(f"kills: {runs['stay'].metrics['failures_hit']} -> {runs['move'].metrics['failures_hit']}")
