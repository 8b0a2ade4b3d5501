"""What the cases worked by hand share: settings in few words, jobs as rows, and where they went."""

import numpy as np

from faultsim.data.event_kinds import EVENT_KINDS
from faultsim.data.world import PredictionRows
from faultsim.policies.interval_reports import ticks
from helpers.engine_inputs import simulate
from helpers.engines import assert_same, compiled

ARRIVAL = {"name": "arrival"}
FCFS = {"name": "fcfs", "order": ARRIVAL}
EASY = {"name": "easy", "order": ARRIVAL, "reservation": "any", "max_growth": 1, "repairs": "known"}
CONSERVATIVE = {"name": "conservative", "order": ARRIVAL, "max_growth": 1, "repairs": "known"}
FIRST_FIT = {"name": "first_fit", "box_order": "extents-descending"}
MAX_FREE = {"name": "max_free_partition", "box_order": "extents-descending"}
DEFRAGMENT = {
    "name": "defragment", "min_free": 0.1, "max_concentration": 0.7, "cost": 0.0, "when": "waiting",
    "keep_promise": False,
}  # fmt: skip
LEAST_FAILURES = {"name": "least_failures", "threshold": 1.0, "cost": 0.0}


# A mesh where job 0, of 12 nodes, leaves a corner of 2x2x2.
CORNER = {"name": "torus", "x": 2, "y": 2, "z": 5, "wrap": False}


def cluster(nodes):
    return {"name": "cluster", "nodes": nodes}


def torus(x, y, z, wrap=True):
    return {"name": "torus", "x": x, "y": y, "z": z, "wrap": wrap}


def config(machine, scheduler=FCFS, **options):
    rest = {"placement": FIRST_FIT, "migration": None, "overrun": "extend", "start_delay": 0.0, "record": True}
    return {"machine": machine, "scheduler": scheduler, "verify": True, **rest, **options}


REQUEUE = {"name": "requeue", "place": "arrival", "restart_cost": 0.0}
TAIL = {**REQUEUE, "place": "tail"}
HOLD = {"name": "hold", "restart_cost": 0.0}


def table(rows, *names):
    """Rows as columns, nodes and sizes whole."""
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    types = {"node": np.int32, "size": np.int32}
    return {name: np.array(column, types.get(name, float)) for name, column in zip(names, columns, strict=True)}


def run(machine, scheduler, jobs, world=None, **options):
    """The same in both engines; jobs are (submit, runtime, size) or (submit, runtime, size, estimate)."""
    settings = config(machine, scheduler, **options)
    columns = table([(*job, job[1])[:4] for job in jobs], "submit", "runtime", "size", "estimate")
    slow = simulate(settings, **columns, world=world)
    del settings["verify"]
    assert_same(compiled(settings, columns, world), slow)
    return slow


def failing(jobs, failures, machine, scheduler=FCFS, *, predictions=(), p=1.0, alarms=(), interval=None, **options):
    """A run with failures (time, node, down time), predictions (time, node) or (begin, end, node), alarms (time, node).

    With an `interval` a tick of `Fars` comes after every so many seconds.
    """
    world = {"failures": table(failures, "time", "node", "downtime")}
    if predictions:
        spans = [row if len(row) == 3 else (row[0], *row) for row in predictions]
        world["predictions"] = table(spans, "begin", "end", "node") | {"p": p}
    if predictions and interval:
        world["ticks"] = ticks(PredictionRows(**world["predictions"]), interval)
    if alarms:
        world["alarms"] = table(alarms, "time", "node")
    return run(machine, scheduler, jobs, world, **{"recovery": REQUEUE, **options})


def rows(result):
    """The events as tuples (time, name of the kind, job, node)."""
    columns = {name: column.tolist() for name, column in result["events_table"].items()}
    kinds = [EVENT_KINDS[kind] for kind in columns["kind"]]
    return list(zip(columns["time"], kinds, columns["job"], columns["node"], strict=True))


def ledger(result):
    """The accounts that are not zero."""
    return {account: seconds for account, seconds in result["ledger"].items() if seconds}


def starts(machine, scheduler, jobs, **options):
    return run(machine, scheduler, jobs, **options)["start"].tolist()


def places(result):
    """job -> its boxes, in turn."""
    rows = result["allocations"]
    found = {}
    for i, job in enumerate(rows["job"].tolist()):
        found.setdefault(job, []).append(tuple(int(rows[axis][i]) for axis in "xyzabc"))
    return found


class Wanted:
    """A placement that gives each job the box named for it, or the first."""

    def __init__(self, **boxes):
        self.boxes = {int(name[1:]): box for name, box in boxes.items()}

    def choose(self, job, candidates, state):
        return candidates.tolist().index(list(self.boxes.get(job.index, candidates[0].tolist())))


def wanted(**boxes):
    return {"name": "python", "box_order": "extents-descending", "object": Wanted(**boxes)}
