"""Random sites, jobs that share their nodes, and runs of them."""

import numpy as np

import faultsim as fs
from faultsim.simulation.execution import Execution
from helpers.engines import listed

SCHEDULERS = ("fcfs", "easy", "backfill", "conservative", "preemptive")
PLACEMENTS = ("consecutive_best_fit", "best_fit", "first_fit", "least_loaded", "least_failures_first", "safest_first")


def drawn_site(rng):
    classes = [
        fs.NodeClass(
            f"c{at}", int(rng.integers(1, 6)), cores=int(rng.integers(1, 9)), memory=f"{rng.integers(4, 16)}M",
            gpus=int(rng.integers(0, 4)), weight=int(rng.integers(0, 3)), features=f"f{at}",
        )
        for at in range(int(rng.integers(1, 4)))
    ]  # fmt: skip
    return fs.Site(classes)


def drawn_log(rng, site, n):
    runtime = rng.integers(0, 40, n).astype(float)
    estimate = np.maximum(1.0, runtime + rng.choice([-5, 0, 0, 3, 20], n))
    nodes = rng.choice([0, 1, 1, 1, 2, 3], n)
    by_core = (nodes == 0) & (rng.random(n) < 0.4)
    features = ["|".join(f"f{at}" for at in range(len(site.classes)) if rng.random() < 0.8) for _ in range(n)]
    return fs.Workload(
        np.sort(rng.integers(0, 3 * n, n)).astype(float), runtime, [1] * n, estimate=estimate, user=np.arange(n) % 2,
        columns={
            "cores": np.maximum(1, nodes) * rng.integers(1, 6, n), "nodes": nodes,
            "memory": np.where(by_core, rng.integers(0, 3, n), rng.integers(0, 9, n)),
            "memory_per": np.where(by_core, "core", "node"), "gpus": rng.choice([0, 0, 0, 1, 2], n),
            "exclusive": rng.random(n) < 0.12, "features": features, "priority": rng.integers(0, 4, n),
        },
    )  # fmt: skip


def drawn_run(rng, n):
    site = drawn_site(rng)
    scheduler = str(rng.choice(SCHEDULERS))
    order = str(rng.choice(["arrival", "shortest", "largest", "wfp3", "priority - wait"]))
    options = {"placement": str(rng.choice(PLACEMENTS)), "record": True, "oversized": "drop"}
    repairs = str(rng.choice(["known", "unknown"]))
    if scheduler == "preemptive":
        options["scheduler"] = fs.Preemptive(str(rng.choice(["shortest", "priority + 0"])), backfill=rng.random() < 0.7)
    elif scheduler == "fcfs":
        options["scheduler"] = fs.Fcfs(order)
    elif scheduler == "backfill":
        depth = [1, 2, 4, "unlimited"][rng.integers(4)]
        options["scheduler"] = fs.Backfill(depth, order, repairs=repairs)
    elif scheduler == "conservative":
        options["scheduler"] = fs.ConservativeBackfill(order, repairs=repairs)
    else:
        options["scheduler"] = fs.EasyBackfill(order, repairs=repairs)
    options["recovery"] = [
        fs.Requeue(), fs.Requeue(restart_cost=3, place="tail"), fs.Hold(), fs.Hold(restart_cost=2)
    ][rng.integers(4)]  # fmt: skip
    if rng.random() < 0.75 or options["placement"] == "safest_first":
        count = int(rng.integers(1, 2 + n // 3))
        time = np.sort(rng.integers(0, 4 * n, count))
        downtime = rng.choice([0, 1, 10, 50], count)
        options["failures"] = fs.FailureTrace(time, rng.integers(0, site.nodes, count), downtime, span=10**5)
        options["predictor"] = (
            fs.Confidence(0.3) if rng.random() < 0.8 or options["placement"] == "safest_first" else None
        )
    checkpointing = [
        None,
        fs.Periodic(7, 1),
        fs.BeforeFailure(2),
        fs.PredictedWindows("20s", cost=1, victims="all"),
        fs.RiskBased(6, 1),
    ]
    chosen = checkpointing[rng.integers(len(checkpointing))]
    if options.get("predictor") is None and not isinstance(chosen, fs.Periodic | None):
        chosen = None
    if isinstance(chosen, fs.PredictedWindows):
        options["predictor"] = fs.Buckets("20s")
        options["placement"] = options["placement"] if options["placement"] != "safest_first" else "best_fit"
    options["checkpointing"] = chosen
    options["start_delay"] = float(rng.choice([0, 0, 2]))
    options["overrun"] = str(rng.choice(["extend", "extend", "kill"]))
    log = drawn_log(rng, site, n)
    if len(site.refusals(site.prepared(log))) == n:  # no job would be left
        return drawn_run(rng, n)
    return fs.Run(log, site, **options)


def drawn_parts(rng, machine, trace):
    """A part of its node for each failure, and for some the whole node."""
    parts = []
    for row in machine.node_amounts()[trace.node]:
        at = int(rng.choice(np.flatnonzero(row)))
        amount = int(rng.integers(1, row[at] + 1))
        parts.append("" if rng.random() < 0.25 else f"{('cores', 'memory', 'gpus')[at]}:{amount}")
    return parts


def with_parts(rng, run):
    """The run with failures, most of which take a part of a node."""
    if run.failures is None or not len(run.failures):
        return None
    trace = run.failures
    parts = drawn_parts(rng, run.machine, trace)
    downtime = np.where(rng.random(len(trace)) < 0.4, rng.integers(20, 200, len(trace)), trace.downtime)
    named = fs.FailureTrace(trace.time, trace.node, downtime, coin=trace.coin, part=parts, span=trace.span)
    return run.with_options(failures=named)


def both(run):
    """What comes out of the core, verified every 9 events, and of the reference."""
    fast = Execution(run)
    while fast.engine.run(9) != "done":
        fast.engine.verify()
    fast.engine.verify()
    slow = Execution(run, "reference")
    slow.go_on()
    return listed(fast.engine.output()), slow.engine.output()
