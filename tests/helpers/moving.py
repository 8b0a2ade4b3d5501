"""What the cases of `Fars` worked by hand share: few words for settings and suspicion, and both engines at once."""

import numpy as np

from faultsim.reference.engine import simulate as plainly
from faultsim.simulation.engine_inputs import ticks
from helpers.by_hand import FCFS, REQUEUE, config, rows
from helpers.engines import assert_same, compiled

FARS = {
    "name": "fars", "interval": 10.0, "strategy": {"name": "job_failure_rate"}, "spares": "dynamic",
    "checkpoint_cost": 2.0, "restart_cost": 1.0, "live": False, "suspicious": "last", "queue_cost": "last",
    "residual": "printed",
}  # fmt: skip
LIVE = {"live": True}


def moving(jobs, machine, suspicious, scheduler=FCFS, *, failures=(), p=1.0, fars=(), alarms=(), **options):
    """A run with suspicious nodes {k: nodes in the interval from 10 k to 10 (k + 1)}, the same in both engines.

    Jobs are (submit, runtime, size) or (submit, runtime, size, estimate), failures (time, node, down time).
    """
    rule = {**FARS, **dict(fars)}
    seen = [(k * 10.0, (k + 1) * 10.0, node) for k, nodes in sorted(suspicious.items()) for node in nodes]
    begin, end, node = (np.array(column) for column in zip(*seen, strict=True)) if seen else [np.empty(0)] * 3
    table = {"begin": begin.astype(float), "end": end.astype(float), "node": node.astype(np.int32), "p": p}
    world = {"predictions": table, "ticks": ticks(table, rule["interval"])} if seen else {}
    for name, given, rest in (("failures", failures, ["downtime"]), ("alarms", alarms, [])):
        if given:
            columns = zip(("time", "node", *rest), zip(*given, strict=True), strict=True)
            world[name] = {key: np.array(column, np.int32 if key == "node" else float) for key, column in columns}
    settings = config(machine, scheduler, **{"recovery": REQUEUE, "rescheduling": rule, **options})
    given = [(*job, job[1]) if len(job) == 3 else job for job in jobs]
    columns = {
        name: np.array(column, np.int32 if name == "size" else float)
        for name, column in zip(("submit", "runtime", "size", "estimate"), zip(*given, strict=True), strict=True)
    }
    slow = plainly(settings, **columns, world=world)
    del settings["verify"]
    assert_same(compiled(settings, columns, world), slow)
    return slow


def ledger(result):
    """The accounts that are not zero, but for idle nodes."""
    return {name: value for name, value in result["ledger"].items() if value and not name.startswith("idle")}


def stays(result):
    """(job, begin, end, nodes) on a cluster, in order of taking them."""
    table = result["allocations"]
    nodes = np.split(table["nodes"], table["node_offsets"][1:-1])
    return [(*(table[name][i] for name in ("job", "begin", "end")), held.tolist()) for i, held in enumerate(nodes)]


def moves(result):
    """(time, job) of each move."""
    return [(time, job) for time, kind, job, _ in rows(result) if kind == "move"]
