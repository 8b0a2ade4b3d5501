"""Measure decisions from outside and write the section "Decisions from outside" of benchmarks/RESULTS.md.

    python benchmarks/run_decisions.py [--only PART ...] [--dry]

The logs are those of FAULTSIM_DATA, or of ../shared/data beside the checkout.
"""

import os
import time
from pathlib import Path

from deciders import easy, fcfs
from results import run_parts, table

import faultsim as fs

DATA = Path(os.environ.get("FAULTSIM_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data") / "swf"
LOG = "SDSC-SP2-1998-4.2-cln"
ROUNDS = 5
HEAD = """
Seconds of the processor, the best of several rounds in which all take turns.
"""


class Easy(fs.Scheduler):
    def schedule(self, decision):
        easy(decision)


def from_outside(log, decide, machine):
    sim = fs.Simulation(log, machine, scheduler=fs.External())
    while (d := sim.advance()) is not None:
        decide(d)
    return sim.result()


def least(calls):
    """Least seconds of the processor of each call, in turns."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(ROUNDS):
        for name, call in calls.items():
            begin = time.process_time()
            call()
            best[name] = min(best[name], time.process_time() - begin)
    return best


def whole_logs():
    """FCFS and EASY over a whole log: built in, a method in Python, and decided by the caller."""
    log = fs.read_swf(DATA / f"{LOG}.swf.gz")
    log = log[log.size <= 128]
    machine = fs.Cluster(128)
    calls = {
        "EASY, built in": lambda: fs.simulate(log, machine),
        "EASY, `fs.Scheduler`": lambda: fs.simulate(log, machine, scheduler=Easy()),
        "EASY, `advance`": lambda: from_outside(log, easy, machine),
        "FCFS, built in": lambda: fs.simulate(log, machine, scheduler=fs.Fcfs()),
        "FCFS, `advance`": lambda: from_outside(log, fcfs, machine),
    }
    best = least(calls)
    passes = fs.simulate(log, machine).counters["passes"]
    rows = [
        {"what": name, "s": seconds, "us a pass": 1e6 * seconds / passes, "built in": seconds / best["EASY, built in"]}
        for name, seconds in best.items()
    ]
    return f"{len(log):,} jobs of {LOG} on 128 nodes, {passes:,} passes of EASY", table(rows)


def one_decision():
    """Advance, look at the queue, start: jobs that come one by one and start at once."""
    n = 100_000
    log = fs.Workload(submit=[10.0 * i for i in range(n)], runtime=[5.0] * n, size=[1] * n)

    def look_and_start(d):
        for job in d.queue:
            if d.fits(job):
                d.start(job)

    best = least({"all": lambda: from_outside(log, look_and_start, fs.Cluster(4))})["all"]
    row = {"decisions": 2 * n, "us a decision": 1e6 * best / (2 * n), "us a job": 1e6 * best / n}
    return "Jobs that come one by one: advance, look at the queue, start", table([row])


def copies():
    """`Simulation.copy` in the middle of a run, and `rollout` from there."""
    log = fs.read_swf(DATA / f"{LOG}.swf.gz")
    log = log[log.size <= 128].head(10_000)
    sim = fs.Simulation(log, fs.Cluster(128), scheduler=fs.External())
    while sim.n_done < 5_000:
        easy(sim.advance())
    sim.advance()
    times = []
    for _ in range(200):
        begin = time.perf_counter()
        sim.copy()
        times.append(time.perf_counter() - begin)
    best = least({"rollout": lambda: sim.rollout(fs.EasyBackfill())})["rollout"]
    row = {"copy, us": 1e6 * min(times), "median, us": 1e6 * sorted(times)[100], "rollout with EASY, ms": 1e3 * best}
    return "In the middle of 10,000 jobs", table([row])


if __name__ == "__main__":
    parts = {part.__name__: part for part in (whole_logs, one_decision, copies)}
    run_parts("decisions", "Decisions from outside", HEAD, parts, __doc__)
