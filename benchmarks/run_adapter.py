"""Measure a simulation whose caller owns time.

These are "Advances", "Submissions", "Copies" and "Rollouts" of benchmarks/RESULTS.md.

The log is that of FAULTSIM_DATA, or of ../shared/data beside the checkout.

    python benchmarks/run_adapter.py [--only SECTION ...] [--dry]
"""

import argparse
import json
import os
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
from deciders import easy
from results import table, write_section

import faultsim as fs
from faultsim.cli.serve import Server

HEAD = """
10,000 times `Simulation.advance(until=...)` with `Decision.changes` read row by row, as an engine with a clock of its
own does; best of five. 5,000 jobs by the model of Lublin and Feitelson, all known, on 128 nodes with EASY; the clock
stops at 10,000 even steps.
"""
JOBS, ADVANCES, REPEATS = 5000, 10_000, 5
SUBMISSIONS = """
`Simulation.submit` after so many jobs that were submitted one at a time, on 128 nodes with EASY: 100 more jobs one at
a time, 1,000 in one call with arrays, a copy of the simulation, and 100 answers of `faultsim serve` to a SUBMIT of one
job, without the socket; best of thirty.
"""
EARLIER, ALONE, TOGETHER, ROUNDS = (0, 1000, 64_000), 100, 1000, 30
COPIES = """
`Simulation.copy`, and `rollout` of a day under EASY, of a live simulation on 128 nodes in which all jobs but one have
ended, and a copy of such a copy. Milliseconds of the processor; best of nine.
"""
ENDED = (1000, 10_000, 100_000, 1_000_000)
LOG = "SDSC-SP2-1998-4.2-cln"
DATA = Path(os.environ.get("FAULTSIM_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data") / "swf"
ROLLOUTS = f"""
`Simulation.copy` and `Simulation.rollout("easy", horizon=...)` after 180 days of {LOG} on 128 nodes, under EASY from
outside: with all jobs known; live, where the ends of jobs that have not ended by then are unknown if they have an
estimate; and the same with each job submitted alone. Milliseconds of the processor; best of a hundred, and the median.
"""
BEGIN = 180 * 86_400.0


def follow(log):
    """Seconds of the advances alone, and how many changes there were."""
    sim = fs.Simulation(log, fs.Cluster(128), live=JOBS)
    first, last = float(log.submit[0]), float(log.submit[-1])
    step = (last - first) / ADVANCES
    times = [first + step * (i + 1) for i in range(ADVANCES)]
    seen = 0
    began = time.perf_counter()
    for at in times:
        for _kind, _row, _when, _nodes in sim.advance(until=at).changes:
            seen += 1
    return time.perf_counter() - began, seen


def answered(sim, at):
    """Seconds of `ALONE` messages that submit a job each."""
    server, times = Server(sim, live=True), []
    message = json.dumps({"request": "SUBMIT", "jobs": [{"submit": at, "size": 2, "estimate": 60}]}).encode()
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for _ in range(ALONE):
            server.answer(message)
        times.append(time.perf_counter() - began)
    return min(times)


def submissions(earlier):
    """Seconds of `ALONE` jobs one at a time, of `TOGETHER` in one call, of a copy, and of a SUBMIT to a server."""
    sim = fs.Simulation(None, fs.Cluster(128), live=True)

    def one(i):
        sim.submit(submit=float(i), runtime=30.0, size=2, estimate=60.0)

    for i in range(earlier):
        one(i)
        if i % 100 == 99:
            sim.advance(until=i)
    times = []
    for begin in range(earlier, earlier + ROUNDS * (ALONE + TOGETHER), ALONE + TOGETHER):
        clock = [time.perf_counter()]
        for i in range(begin, begin + ALONE):
            one(i)
        clock.append(time.perf_counter())
        rows = range(begin + ALONE, begin + ALONE + TOGETHER)
        columns = {"runtime": [30.0] * TOGETHER, "size": [2] * TOGETHER, "estimate": [60.0] * TOGETHER}
        sim.submit(submit=[*map(float, rows)], **columns)
        clock.append(time.perf_counter())
        sim.copy()
        clock.append(time.perf_counter())
        sim.advance(until=rows[-1])
        times.append([b - a for a, b in pairwise(clock)])
    return [*(min(column) for column in zip(*times, strict=True)), answered(sim, float(rows[-1]))]


def rollouts():
    """Rows of copies and rollouts in the middle of a log."""
    log = fs.read_swf(DATA / f"{LOG}.swf.gz")
    log = log[log.size <= 128]
    options = {"machine": fs.Cluster(128), "scheduler": fs.External()}
    unknown = (log.estimate >= 0) & (log.submit + log.runtime > BEGIN)
    sims = {
        "known": fs.Simulation(log, **options),
        "live": fs.Simulation(log, live=len(log), unknown=unknown, **options),
        "one at a time": fs.Simulation(None, live=True, **options),
    }
    for at, hidden, size, runtime, estimate in zip(
        *(column.tolist() for column in (log.submit, unknown, log.size, log.runtime, log.estimate)), strict=True
    ):
        known = {} if hidden else {"runtime": runtime}
        sims["one at a time"].submit(submit=at, size=size, estimate=estimate if estimate >= 0 else None, **known)
    rows = []
    for name, sim in sims.items():
        while (d := sim.advance(until=BEGIN)).kind != "time":
            easy(d)
        calls = {
            "copy": sim.copy,
            "1 h": lambda sim=sim: sim.rollout("easy", horizon="1h"),
            "1 d": lambda sim=sim: sim.rollout("easy", horizon="1d"),
        }
        row = {"jobs": name, "waiting": len(sim.queue), "running": len(sim.running)}
        for what, call in calls.items():
            times = []
            for _ in range(100):
                began = time.process_time()
                call()
                times.append(1e3 * (time.process_time() - began))
            row |= {f"{what} (ms)": min(times), f"{what}, median": sorted(times)[50]}
        rows.append(row)
    return rows


def least(call):
    """Milliseconds of the processor, of the best of nine calls."""
    times = []
    for _ in range(9):
        began = time.process_time()
        call()
        times.append(1e3 * (time.process_time() - began))
    return min(times)


def copies():
    """Rows of simulations with one job that runs."""
    rows = []
    for ended in ENDED:
        sim = fs.Simulation(None, fs.Cluster(128), live=True)
        for begin in range(0, ended, 1000):
            submit = np.arange(begin, begin + 1000.0)
            sim.submit(submit=submit, runtime=np.full(1000, 30.0), size=np.full(1000, 2), estimate=np.full(1000, 60.0))
            sim.advance(until=begin + 1000.0)
        sim.advance(until=ended + 100.0)
        sim.submit(submit=ended + 101.0, size=2, estimate=1e5)
        sim.advance(until=ended + 102.0)
        row = {"ended": ended, "copy (ms)": least(sim.copy), "of the copy (ms)": least(sim.copy().copy)}
        rows.append(row | {"rollout (ms)": least(lambda sim=sim: sim.rollout("easy", horizon="1d"))})
    return rows


def advances():
    log = fs.synthetic.lublin(JOBS, rng=0)
    spent, seen = min(follow(log) for _ in range(REPEATS))
    return [{"advances": ADVANCES, "changes": seen, "calls (s)": spent, "one call (µs)": 1e6 * spent / ADVANCES}]


def submitted():
    rows = []
    for earlier in EARLIER:
        alone, together, copy, served = submissions(earlier)
        each = {"one at a time (µs a job)": 1e6 * alone / ALONE, "in arrays (µs a job)": 1e6 * together / TOGETHER}
        rows.append({"jobs before": earlier, **each, "copy (ms)": 1e3 * copy, "SUBMIT (µs)": 1e6 * served / ALONE})
    return rows


SECTIONS = {
    "advances": (HEAD, advances),
    "submissions": (SUBMISSIONS, submitted),
    "copies": (COPIES, copies),
    "rollouts": (ROLLOUTS, rollouts),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS), metavar="SECTION")
    parser.add_argument("--dry", action="store_true", help="print only, do not write RESULTS.md")
    arguments = parser.parse_args()
    for name in arguments.only:
        head, measure = SECTIONS[name]
        rows = table(measure())
        print(rows)
        if not arguments.dry:
            write_section(name, name.capitalize(), head + "\n" + rows)


if __name__ == "__main__":
    main()
