"""Measure workflows and write the section "Workflows" of benchmarks/RESULTS.md.

    python benchmarks/run_workflows.py [--only PART ...] [--dry]

Times are CPU seconds of the measuring thread, least of several runs in one process.
"""

import time

import numpy as np
from results import run_parts, table

import faultsim as fs

#: Jobs a workflow, and seconds from one arrival to the next: about .8 of 128 nodes, transfers included.
JOBS, GAP = 1_000, 1_000.0
HEAD = """
CPU time of all of `simulate_workflows`, from checked workflows to columns, least of several runs; a decision is a job
put on a node.  The workflows are drawn by `synthetic.random_dag` (1,000 jobs, about two edges a job, costs and
transfers uniform from 1 to 100 s); nodes fail at random, each about four times in the time that the workflows take,
for a hundredth of it.
"""


def workflows(count):
    return [fs.synthetic.random_dag(JOBS, rng=number) for number in range(count)]


def failures(nodes, span, mtbf=None, downtime=None):
    mtbf, downtime = mtbf or span / 4, downtime or span / 100
    return fs.synthetic.exponential_failures(nodes, 2 * span, mtbf=mtbf, downtime=downtime, any_rate=True, rng=2010)


def measured(rounds, flows, nodes, **options):
    """Least CPU seconds, and the result."""
    least, found = float("inf"), None
    for _ in range(rounds):
        begin = time.thread_time()
        found = fs.simulate_workflows(flows, fs.Resources(nodes), **options)
        least = min(least, time.thread_time() - begin)
    return least, found


def row(least, result, **first):
    decisions = len(result.decisions["time"])
    return {
        **first,
        "decisions": f"{decisions:,}",
        "kills": f"{result.reschedulings:,}",
        "makespan, h": f"{result.makespan / 3600:.3g}",
        "CPU, ms": f"{least * 1e3:.3g}",
        "ns a decision": f"{least / decisions * 1e9:,.0f}",
    }


def settings(trace, nodes):
    half = fs.PredictionTrace.at_accuracy(trace, 0.5, 0.5, rng=np.random.default_rng(5), nodes=nodes)
    fails = {"failures": trace}
    return {
        "RankHybd, nothing fails": {},
        "RankHybd": fails,
        "RankHybd, events recorded": {**fails, "record": True},
        "RankHybd, transfers in turn": {**fails, "transfers": "in_turn"},
        "RankHybd, SharedOutputs": {**fails, "outputs": fs.SharedOutputs(1.0)},
        "Flaw, Perfect": {**fails, "scheduler": fs.Flaw(), "predictor": fs.Perfect()},
        "Flaw, accuracy .5": {**fails, "scheduler": fs.Flaw(), "predictor": half},
        "Fifo": {**fails, "scheduler": fs.Fifo()},
    }


def schedulers():
    flows = workflows(100)
    span = measured(1, flows, 128)[1].makespan
    trace = failures(128, span)
    rows = []
    for name, options in settings(trace, 128).items():
        rows.append(row(*measured(5, flows, 128, **options), what=name))
    for name, fails in (("nothing fails", None), ("with failures", trace)):
        found = measured(2, flows[:20], 128, scheduler=fs.Heft(), failures=fails)
        rows.append(row(*found, what=f"Heft, 20 of them, {name}"))
    return f"100 workflows of 1,000 jobs at once on 128 nodes, {len(trace):,} failures in the trace", table(rows)


def growth():
    """A decision must not cost more when many jobs are done."""
    rows, drawn = [], workflows(100)
    for count in (50, 100, 200, 400, 800, 1600):
        flows = [drawn[number % len(drawn)] for number in range(count)]
        arrivals = GAP * np.arange(count)
        trace = failures(128, GAP * count, mtbf=20_000.0, downtime=800.0)
        options = {"failures": trace, "arrivals": arrivals, "scheduler": fs.Flaw(), "predictor": fs.Perfect()}
        rows.append(row(*measured(3, flows, 128, **options), workflows=f"{count:,}", failures=f"{len(trace):,}"))
    title = "Workflows that arrive one after another, every 1,000 s, on 128 nodes that fail every 20,000 s each; Flaw"
    return title, table(rows)


def nodes():
    flows = workflows(100)
    rows = []
    for count in (32, 128, 512, 2048):
        span = measured(1, flows, count)[1].makespan
        rows.append(row(*measured(3, flows, count, failures=failures(count, span)), nodes=f"{count:,}"))
    return "100 workflows of 1,000 jobs at once; RankHybd on more and more nodes", table(rows)


def plain():
    """The compiled engine and its plain twin."""
    flows = [fs.synthetic.random_dag(100, rng=number) for number in range(5)]
    trace = failures(16, measured(1, flows, 16)[1].makespan)
    rows = []
    for engine, rounds in (("core", 20), ("reference", 2)):
        rows.append(row(*measured(rounds, flows, 16, failures=trace, engine=engine), engine=engine))
    return "5 workflows of 100 jobs on 16 nodes; RankHybd", table(rows)


PARTS = {part.__name__: part for part in (schedulers, growth, nodes, plain)}


def main():
    run_parts("workflows", "Workflows", HEAD, PARTS, __doc__)


if __name__ == "__main__":
    main()
