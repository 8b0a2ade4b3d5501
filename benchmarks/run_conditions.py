"""Measure runs with dependent and cancelled jobs, and write the section "Jobs that depend and give up" of RESULTS.md.

    python benchmarks/run_conditions.py [--repeat N]

The log is that of FAULTSIM_DATA, or of ../shared/data beside the checkout.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np
from results import table, write_section

import faultsim as fs

DATA = Path(os.environ.get("FAULTSIM_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data") / "swf"
HEAD = """
SDSC-SP2 on 128 nodes under EASY.  A tenth of the jobs waits for the end of one of the 20 before it (`afterany`), and a
fifth is cancelled, a minute after its submission: while it waits it is withdrawn, and while it runs it is killed.  CPU
milliseconds of `Run.simulate`, the least of {repeat} runs in turns; and of the first one with `Run`, which reads the
columns of the log.  The weekly reservation is of all nodes for 8 hours, for as long as the log.
"""


def logs():
    """The same jobs without and with these columns, and reservations."""
    log = fs.read_swf(DATA / "SDSC-SP2-1998-4.2-cln.swf.gz")
    n, rng = len(log), np.random.default_rng(1)
    other = np.maximum(np.arange(n) - rng.integers(1, 21, n), 0)
    waits = (rng.random(n) < 0.1) & (np.arange(n) > 0)
    after = np.where(waits, np.char.add("afterany:", log.id[other].astype(str)), "")
    cancel = np.where(rng.random(n) < 0.2, log.submit + 60, -1)
    weekly = fs.Reservation("all", begin="6d", end="6d8h", every="7d", name="maintenance")
    yield "plain", log, None
    yield "10 % dependent", log.with_columns(after=after), None
    yield "20 % cancelled", log.with_columns(cancel=cancel), None
    yield "both", log.with_columns(after=after, cancel=cancel), None
    yield "weekly reservation", log, weekly
    yield "all three", log.with_columns(after=after, cancel=cancel), weekly


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=40, metavar="N")
    repeat = parser.parse_args().repeat
    rows, runs = {}, {}
    for name, log, reservations in logs():
        begin = time.process_time()
        runs[name] = fs.Run(log, fs.Cluster(128), scheduler=fs.EasyBackfill(), reservations=reservations)
        result = runs[name].simulate()
        first = (time.process_time() - begin) * 1e3
        states = result.jobs["state"].tolist()
        jobs = {"withdrawn": states.count("withdrawn"), "killed": states.count("killed")}
        rows[name] = {"jobs": name, **jobs, "first": first, "least": np.inf}
    for _ in range(repeat):
        for name, run in runs.items():
            begin = time.process_time()
            run.simulate()
            rows[name]["least"] = min(rows[name]["least"], (time.process_time() - begin) * 1e3)
    for row in rows.values():
        row["ratio"] = row["least"] / rows["plain"]["least"]
    names = {"first": "Run and first, ms", "least": "least, ms", "ratio": "times plain"}
    text = f"{HEAD.format(repeat=repeat).strip()}\n\n{table(list(rows.values()), names)}"
    write_section("conditions", "Jobs that depend and give up", text)


if __name__ == "__main__":
    main()
