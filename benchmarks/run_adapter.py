"""Measure a simulation whose caller owns time, and write "Advances" and "Submissions" of benchmarks/RESULTS.md.

python benchmarks/run_adapter.py [--dry]
"""

import argparse
import time
from itertools import pairwise

from results import table, write_section

import faultsim as fs

HEAD = """
10,000 times `Simulation.advance(until=...)` with `Decision.changes` read row by row, as an engine with a clock of its
own does; best of five. 5,000 jobs by the model of Lublin and Feitelson, all known, on 128 nodes with EASY; the clock
stops at 10,000 even steps.
"""
JOBS, ADVANCES, REPEATS = 5000, 10_000, 5
SUBMISSIONS = """
`Simulation.submit` after so many jobs that were submitted one at a time, on 128 nodes with EASY: 100 more jobs one at
a time, 1,000 in one call with arrays, and a copy of the simulation; best of thirty.
"""
EARLIER, ALONE, TOGETHER, ROUNDS = (0, 1000, 64_000), 100, 1000, 30


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


def submissions(earlier):
    """Seconds of `ALONE` jobs one at a time, of `TOGETHER` in one call, and of a copy."""
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
    return [min(column) for column in zip(*times, strict=True)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry", action="store_true", help="print only, do not write RESULTS.md")
    arguments = parser.parse_args()
    log = fs.synthetic.lublin(JOBS, rng=0)
    spent, seen = min(follow(log) for _ in range(REPEATS))
    rows = [{"advances": ADVANCES, "changes": seen, "calls (s)": spent, "one call (µs)": 1e6 * spent / ADVANCES}]
    print(table(rows))
    if not arguments.dry:
        write_section("advances", "Advances", HEAD + "\n" + table(rows))
    rows = []
    for earlier in EARLIER:
        alone, together, copy = submissions(earlier)
        each = {"one at a time (µs a job)": 1e6 * alone / ALONE, "in arrays (µs a job)": 1e6 * together / TOGETHER}
        rows.append({"jobs before": earlier, **each, "copy (ms)": 1e3 * copy})
    print(table(rows))
    if not arguments.dry:
        write_section("submissions", "Submissions", SUBMISSIONS + "\n" + table(rows))


if __name__ == "__main__":
    main()
