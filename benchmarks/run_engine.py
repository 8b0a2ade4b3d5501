"""Measure the engine and write the section "Engine" of benchmarks/RESULTS.md.

    python benchmarks/run_engine.py [--only PART ...] [--dry]

Times are CPU seconds of the measuring thread (medians of several runs in one process), so that other work on the
machine disturbs them little.  The logs are those of FAULTSIM_DATA, or of ../shared/data beside the checkout.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
from results import run_parts
from results import table as markdown

import faultsim as fs
from faultsim.bench import knapsack as knapsack_bench
from faultsim.bench import queue as queue_bench
from faultsim.bench.engine import cases
from faultsim.simulation.core_engine import core_engine
from faultsim.simulation.lowering import lower

#: Jobs that MaxFreePartition places on 32x32x64 nodes.
MFP_JOBS = 10_000
#: How [krevat2002] simulates: exact estimates, a second between decision and start.
KREVAT = {"estimates": "actual", "start_delay": 1.0}
HEAD = """
CPU time of the measuring thread, medians of several runs in one process.  The jobs are those of public logs.

"""
HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("FAULTSIM_DATA") or HERE.parents[1] / "shared" / "data").resolve() / "swf"


def cpu(task, repeat):
    """Median CPU seconds of `task`, after one run to warm up (left out where only one is asked for)."""
    if repeat > 1:
        task()
    times = []
    for _ in range(repeat):
        begin = time.thread_time()
        task()
        times.append(time.thread_time() - begin)
    return statistics.median(times)


def table(head, rows):
    return markdown([dict(zip(head, row, strict=True)) for row in rows])


def seconds(value):
    return f"{value * 1e3:.3g} ms" if value < 1 else f"{value:.3g} s"


def read(name):
    return fs.read_swf(DATA / f"{name}.swf.gz")


def sdsc():
    """The 54,034 jobs of SDSC-SP2 with a run time and a size."""
    log = read("SDSC-SP2-1998-4.2-cln")
    return log[log.runtime > 0]


def flat():
    log, rows = sdsc(), []
    for name, run in cases(log)[:3]:
        fast, against = cpu(run.simulate, 15), ""
        if name == "EASY":
            slow = cpu(partial(run.simulate, engine="reference"), 1)
            against = f"{seconds(slow)}, {slow / fast:.0f} times"
        rows.append([name, f"{len(log):,}", seconds(fast), f"{len(log) / fast:,.0f}", against])
    title = "A flat machine of 128 nodes, the whole SDSC-SP2 log, all of `simulate`"
    return title, table(["scheduler", "jobs", "CPU", "jobs/s", "reference engine"], rows)


CURIE = """
import json, sys, time
from results import peak
import faultsim as fs
log = fs.read_swf(sys.argv[1])
read = peak()
begin = time.thread_time()
result = fs.simulate(log, fs.Cluster(int(sys.argv[3])), scheduler=getattr(fs, sys.argv[2])())
took = time.thread_time() - begin
print(json.dumps([len(log), took, read, peak()]))
"""


def curie():
    rows = []
    for scheduler, nodes in (
        ("Fcfs", 80_640),
        ("EasyBackfill", 80_640),
        ("EasyBackfill", 93_312),
        ("ConservativeBackfill", 80_640),
        ("ConservativeBackfill", 93_312),
    ):
        command = [sys.executable, "-c", CURIE, str(DATA / "CEA-Curie-2011-2.1-cln.swf.gz"), scheduler, str(nodes)]
        runs = [json.loads(subprocess.run(command, check=True, capture_output=True, cwd=HERE).stdout) for _ in range(3)]
        n, took, before, peak = (statistics.median(column) for column in zip(*runs, strict=True))
        rows.append(
            [
                scheduler,
                f"{nodes:,}",
                f"{n:,.0f}",
                seconds(took),
                f"{n / took:,.0f}",
                f"{before:.0f} MB",
                f"{peak:.0f} MB",
            ]
        )
    title = (
        "CEA-Curie on the 80,640 cores of its thin nodes and on all 93,312 of its log, each run in a fresh process "
        "(three runs, medians)"
    )
    head = ["scheduler", "nodes", "jobs", "CPU", "jobs/s", "peak memory after reading", "peak memory"]
    return title, table(head, rows)


def machine_size():
    log, rows = sdsc(), []
    for name, scheduler in (("EASY", fs.EasyBackfill()), ("conservative", fs.ConservativeBackfill())):
        for factor in (1, 10, 100, 1000, 10_000):
            larger = fs.Workload(**{**log.columns, "size": log.size.astype(np.int64) * factor})
            took = cpu(fs.Run(larger, fs.Cluster(128 * factor), scheduler=scheduler).simulate, 5)
            rows.append([name, f"{128 * factor:,}", seconds(took), f"{took / len(log) * 1e9:.0f} ns"])
    title = (
        "Cost of a job by the size of the machine: SDSC-SP2 with all sizes and the machine 1 to 10,000 times as large"
    )
    return title, table(["scheduler", "nodes", "CPU", "CPU a job"], rows)


def torus():
    span, rows = fs.krevat_span(read("SDSC-SP2-1998-4.2-cln"), "sdsc"), []
    kinds = {
        "FCFS": (fs.Fcfs(), None),
        "EASY": (fs.EasyBackfill(), None),
        "FCFS and migration": (fs.Fcfs(), fs.Defragment()),
        "EASY and migration": (fs.EasyBackfill(), fs.Defragment()),
    }
    for name, (scheduler, migration) in kinds.items():
        run = fs.Run(span, fs.Torus.bluegene_l(), scheduler=scheduler, migration=migration, **KREVAT)
        first_fit = run.with_options(placement=fs.FirstFit())
        rows.append([name, seconds(cpu(run.simulate, 5)), seconds(cpu(first_fit.simulate, 5))])
    title = "A 4x4x8 torus, Krevat's 10,000 jobs of SDSC-SP2 at c = 1.0, start delay 1 s"
    return title, table(["scheduler", "CPU, `MaxFreePartition`", "CPU, `FirstFit`"], rows)


def whole_machine():
    span, rows = fs.krevat_span(read("SDSC-SP2-1998-4.2-cln"), "sdsc"), []
    span = fs.Workload(**{**span.columns, "size": span.size.astype(np.int64) * 512})
    for placement, n in ((fs.FirstFit(), 10_000), (fs.MaxFreePartition(), MFP_JOBS)):
        run = fs.Run(span.head(n), fs.Torus.bluegene_l_nodes(), placement=placement, **KREVAT)
        took = cpu(run.simulate, 1)
        rows.append([placement.name, f"{n:,}", seconds(took), f"{took / n * 1e3:.3g} ms"])
    title = "The whole BlueGene/L, 32x32x64 nodes: the same jobs with sizes times 512 under EASY, one run each"
    return title, table(["placement", "jobs", "CPU", "CPU a job"], rows)


def overhead():
    log, rows = sdsc().head(500), []
    for name, run in cases(log)[:3]:
        given = lower(run)

        def alone(given=given):
            engine = core_engine(given.settings, *given.columns)
            engine.run()
            return engine.output()

        rows.append([name, *(f"{cpu(task, 301) * 1e6:.0f} us" for task in (run.simulate, alone))])
    title = "A run of 500 jobs on a flat machine: what `simulate` adds to the engine"
    return title, table(["scheduler", "simulate", "engine alone"], rows)


def rates():
    text = ""
    for title, module in (("event queue", queue_bench), ("knapsack", knapsack_bench)):
        rows = module.measure()
        text += f"The {title}, called from Python:\n\n"
        text += markdown(rows) + "\n\n"
    return "Kernels", text.rstrip()


def reading():
    rows = []
    for path in sorted(DATA.glob("*.swf.gz")):
        log = fs.read_swf(path)
        lines, took = len(log) + sum(log.dropped.values()), cpu(partial(fs.read_swf, path), 5)
        rows.append([path.name, f"{lines:,}", seconds(took), f"{lines / took:,.0f}"])
    return "Reading a log, decompression included", table(["log", "job lines", "CPU", "lines/s"], rows)


PARTS = {part.__name__: part for part in (flat, curie, machine_size, torus, whole_machine, overhead, rates, reading)}


def main():
    run_parts("engine", "The engine", HEAD, PARTS, __doc__)


if __name__ == "__main__":
    main()
