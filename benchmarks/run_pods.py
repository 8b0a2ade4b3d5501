"""Measure a year of a TPU v5p pod, and write the section "A year of a pod" of benchmarks/RESULTS.md.

    python benchmarks/run_pods.py [--only PART ...] [--dry]

Jobs are drawn: the chips of a slice are a power of two from 4 to 2,048, one twice as large half as often, run times are
exponential, and arrivals come at a constant rate.  Every host fails at the rate that others report from Google's pods.
"""

import numpy as np
from long_runs import measured
from results import run_parts, table

import faultsim as fs

HOUR, DAY = 3600.0, 86_400.0
YEAR = 365 * DAY
#: Jobs a day, and offered load of the pod.
PER_DAY, LOAD = (100, 300), 0.8
#: Share of the machines that fail in a day, as others report of Google (NSDI 2024), and how long one is down (assumed).
RATE, DOWNTIME = 0.0008, 4 * HOUR
HEAD = f"""
TPU v5p: 140 cubes, 2,240 hosts, 365 days, load {LOAD}.  CPU time of `simulate`, once.  {RATE:.2%} of the hosts fail a
day and are down for {DOWNTIME / HOUR:g} hours.
"""


def jobs(pod: fs.Pod, per_day: int) -> fs.Workload:
    rng = np.random.default_rng(140)
    n = 365 * per_day
    chips = 2 ** rng.choice(np.arange(2, 12), n, p=(share := 0.5 ** np.arange(10)) / share.sum())
    runtime = rng.exponential(1.0, n)
    runtime *= LOAD * pod.chips * YEAR / (runtime * chips).sum()
    log = fs.Workload(np.sort(rng.uniform(0.0, YEAR, n)), runtime, chips, estimate=runtime * rng.uniform(1.0, 3.0, n))
    return pod.jobs(log, chips="size")


def runs(log: fs.Workload, pod: fs.Pod) -> dict[str, fs.Run]:
    """Each adds one thing to the one before, but other schedulers."""
    trace = fs.synthetic.exponential_failures(pod.nodes, YEAR, 1.0 / RATE * DAY, downtime=DOWNTIME, rng=17)
    fails = {"failures": trace, "checkpointing": fs.Periodic(HOUR, 60.0)}
    return {
        "FCFS": fs.Run(log, pod, scheduler="fcfs"),
        "EASY": fs.Run(log, pod, scheduler="easy"),
        "EASY, failures": fs.Run(log, pod, scheduler="easy", failures=trace),
        "and checkpoints every hour": fs.Run(log, pod, scheduler="easy", **fails),
        "backfill:depth=10, failures, checkpoints": fs.Run(log, pod, scheduler="backfill:depth=10", **fails),
        "conservative, failures, checkpoints": fs.Run(log, pod, scheduler="conservative", **fails),
    }


def year(wiring: str, per_day: int) -> tuple[str, str]:
    pod = fs.Pod.tpu_v5p(wiring)
    log = jobs(pod, per_day)
    rows = [measured(name, run) for name, run in runs(log, pod).items()]
    return f"{len(log):,} jobs, wiring={wiring!r}", table(rows)


def main() -> None:
    parts = {
        f"{wiring}-{per_day}": (lambda wiring=wiring, per_day=per_day: year(wiring, per_day))
        for wiring in ("ocs", "static")
        for per_day in PER_DAY
    }
    run_parts("pods", "A year of a pod", HEAD, parts, __doc__ or "")


if __name__ == "__main__":
    main()
