"""What disturbances do to conservative backfilling: waits and slowdowns on public logs, failing and not.

    python benchmarks/run_disturbances.py

Prints a table for docs/guides/backfilling.md; run it with two versions to compare their rules for disturbances
(model.md#disturbances).  Without failures, what disturbs is jobs that outlive their estimates.  The logs are those of
FAULTSIM_DATA, or of ../shared/data beside the checkout.
"""

import os
from pathlib import Path

import numpy as np
from results import table

import faultsim as fs

DATA = Path(os.environ.get("FAULTSIM_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data") / "swf"
HOUR, DAY = 3600.0, 86_400.0
SCHEDULERS = {"EASY": fs.EasyBackfill(), "conservative": fs.ConservativeBackfill()}
#: Name, file, nodes, jobs (None: all), failures a day that take a node down for an hour.
LOGS = [
    ("KTH", "KTH-SP2-1996-2.1-cln", 100, None, 0),
    ("KTH", "KTH-SP2-1996-2.1-cln", 100, None, 4),
    ("SDSC", "SDSC-SP2-1998-4.2-cln", 128, None, 0),
    ("SDSC", "SDSC-SP2-1998-4.2-cln", 128, 10_000, 2),
    ("CTC", "CTC-SP2-1996-3.1-cln", 338, None, 0),
    ("CTC", "CTC-SP2-1996-3.1-cln", 338, 20_000, 4),
]


def row(name, file, nodes, jobs, a_day):
    log = fs.read_swf(DATA / f"{file}.swf.gz")
    log = log[(log.runtime > 0) & (log.size <= nodes)]
    log = log if jobs is None else log[:jobs]
    more = {}
    if a_day:
        horizon = 1.2 * float(log.submit[-1] - log.submit[0])
        count = round(a_day * horizon / DAY)
        more["failures"] = fs.synthetic.weibull_failures(
            nodes, horizon, 0.85, 18_000.0, downtime=HOUR, count=count, rng=2004
        )
    for which, scheduler in SCHEDULERS.items():
        found = fs.simulate(log, fs.Cluster(nodes), scheduler=scheduler, **more)
        waits = found.jobs["wait"] / HOUR
        yield {
            "log": name,
            "jobs": f"{len(log):,}",
            "failures a day": a_day,
            "scheduler": which,
            "mean wait, h": f"{waits.mean():.2f}",
            "99 % wait at most, h": f"{np.percentile(waits, 99):.0f}",
            "longest wait, h": f"{waits.max():.0f}",
            "mean bounded slowdown": f"{found.metrics['mean_bounded_slowdown']:.1f}",
        }


def main():
    print(table([line for log in LOGS for line in row(*log)]))


if __name__ == "__main__":
    main()
