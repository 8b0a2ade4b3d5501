"""Hypothesis strategies for the engines with failures: settings, columns and a world full of coincidences."""

import math

import numpy as np
from hypothesis import strategies as st

from helpers.strategies import (
    BOX_ORDERS,
    SCHEDULERS,
    MiddleBox,
    job_columns,
    lowered_defragments,
    lowered_machines,
    lowered_schedulers,
)

MACHINES = ("cluster", "torus")
CHECKPOINTING = (
    "none", "periodic", "young", "daly", "max_availability", "before_failure", "predicted_windows", "risk_based",
)  # fmt: skip


def multiples(*values: float) -> st.SearchStrategy[float]:
    return st.sampled_from(values)


@st.composite
def placements(draw: st.DrawFn, machine: dict) -> dict:
    names = ["first_fit", "least_failures_first", "safest_first"]
    if "shape" in machine:
        names += ["curve_best_fit", "curve_best_fit"]
    if machine["name"] == "torus":
        names = ["balancing", "tie_breaking", "balancing", "first_fit", "max_free_partition", "most_cubic", "python"]
    placement = {"name": draw(st.sampled_from(names)), "box_order": draw(st.sampled_from(BOX_ORDERS))}
    if placement["name"] == "curve_best_fit":
        placement["curve"] = draw(st.sampled_from(["snake", "hilbert"]))
    if placement["name"] == "balancing":
        placement["rule"] = draw(st.sampled_from(["prod", "max"]))
    if placement["name"] == "python":
        placement["object"] = MiddleBox()
    return placement


@st.composite
def migrations(draw: st.DrawFn, torus: bool, unit: float) -> dict:
    if torus:
        return draw(lowered_defragments()) | {"cost": draw(multiples(0, 1, 3, 25)) * unit}
    threshold, cost = draw(multiples(1.0, 0.0, 2.0)), draw(multiples(0, 1, 3, 8)) * unit
    return {"name": "least_failures", "threshold": threshold, "cost": cost}


@st.composite
def recoveries(draw: st.DrawFn, unit: float) -> dict:
    cost = draw(multiples(0, 1, 3)) * unit
    if draw(st.sampled_from(["requeue", "requeue", "hold"])) == "hold":
        return {"name": "hold", "restart_cost": cost}
    return {"name": "requeue", "place": draw(st.sampled_from(["arrival", "tail"])), "restart_cost": cost}


@st.composite
def checkpointings(draw: st.DrawFn, name: str, unit: float) -> dict:
    cost = draw(multiples(1, 0, 2, 4)) * unit
    if name == "none":
        return {"name": name}
    if name == "periodic":
        return {"name": name, "interval": draw(multiples(2, 1, 3, 5, 2.5)) * unit, "cost": cost}
    if name in ("young", "daly", "max_availability"):
        rule = {"name": name, "cost": max(cost, unit), "mtbf": draw(multiples(20, 1, 5, 60)) * unit}
        return rule | ({"repair": draw(multiples(0, 3)) * unit} if name == "max_availability" else {})
    if name == "risk_based":
        return {"name": name, "interval": draw(multiples(1, 2, 3)) * unit, "cost": cost}
    rule = {"name": name, "cost": cost}
    if name == "predicted_windows":
        k, seconds = draw(st.integers(1, 2)), draw(multiples(0, 2, 4)) * unit
        victims = [{"name": "all"}, {"name": "long", "seconds": seconds}, {"name": "big", "k": k}]
        rule |= {"interval": 3 * unit, "bucket": 1.0, "victims": draw(st.sampled_from(victims))}
    return rule


def by_time(rows: list[tuple], **types: type) -> dict:
    """Rows as columns, the first of which is ascending; ties stay as they are."""
    rows = sorted(rows, key=lambda row: row[0])
    columns = zip(*rows, strict=True) if rows else ((),) * len(types)
    return {name: np.array(column, dtype=types[name]) for name, column in zip(types, columns, strict=True)}


@st.composite
def predictions(draw: st.DrawFn, failures: list[tuple], nodes: int, horizon: int, unit: float) -> list[tuple]:
    """Dated ones of some failures, the intervals that have some, or false ones; each (begin, end, node)."""
    kind = draw(st.sampled_from(["dated", "interval", "false"]))
    seen = [row for row in failures if draw(st.integers(0, 3))]
    anywhere = st.tuples(st.integers(0, horizon), st.integers(0, nodes - 1))
    if kind == "dated":
        return [(time * unit, time * unit, node) for time, node, _ in seen]
    if kind == "false":
        return [(time * unit, time * unit, node) for time, node in draw(st.lists(anywhere, max_size=8))]
    width = draw(st.sampled_from([2, 4, 10]))
    pairs = {((time - 1) // width, node) for time, node, _ in seen if time > 0}
    pairs |= {(time // width, node) for time, node in draw(st.lists(anywhere, max_size=4))}
    return [(k * width * unit, (k + 1) * width * unit, node) for k, node in sorted(pairs)]


@st.composite
def alarms(
    draw: st.DrawFn, rule: dict, failures: list[tuple], announced: list[tuple], nodes: int, horizon: int, unit: float
) -> list[tuple]:
    """Requests for checkpoints, as the policies have them, sometimes with others among them."""
    moments = st.lists(st.integers(0, horizon), max_size=8)
    rows = []
    if rule["name"] == "before_failure":
        if announced and draw(st.booleans()):
            rows = [(begin - rule["cost"], node) for begin, _, node in announced]
        else:
            rows = [(time * unit - rule["cost"], node) for time, node, _ in failures]
        if not draw(st.integers(0, 3)):
            rows += [(time * unit, draw(st.integers(0, nodes - 1))) for time in draw(moments)]
    if rule["name"] == "predicted_windows":
        width = draw(st.sampled_from([4, 7, 12]))
        for k in sorted({(time - 1) // width for time, _, _ in failures if time > 0}):
            rows += [(k * width * unit + i * rule["interval"], -1) for i in range(math.ceil(width / 3))]
        if not draw(st.integers(0, 3)):
            rows += [(time * unit, -1) for time in draw(moments)]
    return rows


@st.composite
def failure_cases(
    draw: st.DrawFn,
    machines: tuple[str, ...] = MACHINES,
    schedulers: tuple[str, ...] = SCHEDULERS,
    checkpointing: tuple[str, ...] = CHECKPOINTING,
    max_jobs: int = 20,
) -> tuple[dict, dict, dict]:
    """(settings, columns, world) for one run in which things fail.

    Times are whole multiples of one unit: failures of several nodes at one instant, at starts, ends and checkpoints.
    """
    machine = draw(lowered_machines(machines))
    torus = machine["name"] == "torus"
    nodes = machine["x"] * machine["y"] * machine["z"] if torus else machine["nodes"]
    unit = draw(st.sampled_from([1.0, 1.0, 0.1]))
    scheduler = draw(lowered_schedulers(schedulers))
    if scheduler["name"] != "fcfs":
        scheduler["repairs"] = draw(st.sampled_from(["known", "unknown"]))
    rule = draw(checkpointings(draw(st.sampled_from(checkpointing)), unit))
    settings = {
        "machine": machine,
        "scheduler": scheduler,
        "placement": draw(placements(machine)),
        "migration": draw(st.none() | migrations(torus, unit)),
        "recovery": draw(recoveries(unit)),
        "checkpointing": rule,
        "overrun": draw(st.sampled_from(["extend", "kill"])),
        "start_delay": draw(multiples(0, 0, 1, 3)) * unit,
        "record": True,
    }
    columns = draw(job_columns(nodes, max_jobs, unit))
    columns["submit"] = columns["submit"] + draw(multiples(0, 6)) * unit

    horizon = draw(st.sampled_from([8, 25, 80]))
    down = draw(st.sampled_from([[0], [0, 1, 2, 5], [1, 2, 4, 9, 40]]))
    failure = st.tuples(st.integers(0, horizon), st.integers(0, nodes - 1), st.sampled_from(down))
    failures = sorted(draw(st.lists(failure, max_size=25)), key=lambda row: row[0])
    announced = draw(predictions(failures, nodes, horizon, unit)) if draw(st.booleans()) else []
    world = {
        "failures": by_time(
            [(t * unit, v, d * unit) for t, v, d in failures], time=float, node=np.int32, downtime=float
        ),
        "predictions": by_time(announced, begin=float, end=float, node=np.int32)
        | {"p": draw(st.sampled_from([1.0, 0.1, 0.5, 0.9]))},
    }
    if rule["name"] in ("before_failure", "predicted_windows"):
        requests = draw(alarms(rule, failures, announced, nodes, horizon, unit))
        world["alarms"] = by_time(requests, time=float, node=np.int32)
    return settings, columns, world
