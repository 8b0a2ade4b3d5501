"""Measure 10,000 advances of a simulation whose caller owns time, and write "Advances" of benchmarks/RESULTS.md.

python benchmarks/run_adapter.py [--dry]
"""

import argparse
import time

from results import table, write_section

import faultsim as fs

HEAD = """
10,000 times `Simulation.advance(until=...)` with `Decision.changes` read row by row, as an engine with a clock of its
own does; best of five. 5,000 jobs by the model of Lublin and Feitelson, all known, on 128 nodes with EASY; the clock
stops at 10,000 even steps.
"""
JOBS, ADVANCES, REPEATS = 5000, 10_000, 5


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


if __name__ == "__main__":
    main()
