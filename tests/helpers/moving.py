"""What the cases of `Fars` worked by hand share: few words for settings and suspicion."""

import numpy as np

from helpers.by_hand import FCFS, failing, rows

FARS = {
    "name": "fars", "interval": 10.0, "strategy": {"name": "job_failure_rate"}, "spares": "dynamic",
    "checkpoint_cost": 2.0, "restart_cost": 1.0, "live": False, "suspicious": "last", "queue_cost": "last",
    "residual": "printed",
}  # fmt: skip
LIVE = {"live": True}


def moving(jobs, machine, suspicious, scheduler=FCFS, *, failures=(), fars=(), **options):
    """A run with suspicious nodes {k: nodes in the interval from 10 k to 10 (k + 1)}; otherwise as `failing`."""
    rule = {**FARS, **dict(fars)}
    seen = [(k * 10.0, (k + 1) * 10.0, node) for k, nodes in sorted(suspicious.items()) for node in nodes]
    options |= {"predictions": seen, "interval": rule["interval"], "rescheduling": rule}
    return failing(jobs, failures, machine, scheduler, **options)


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
