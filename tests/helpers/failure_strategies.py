"""Hypothesis strategies for the engines with failures: settings, columns and a world full of coincidences."""

import math

import numpy as np
from hypothesis import strategies as st

from helpers.drawn_policies import policies
from helpers.strategies import SCHEDULERS, job_columns, lowered_machines, lowered_placements

MACHINES = ("cluster", "torus")


def multiples(*values: float) -> st.SearchStrategy[float]:
    return st.sampled_from(values)


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
            rows += [
                (k * width * unit + i * rule["interval"], -1) for i in range(math.ceil(width * unit / rule["interval"]))
            ]
        if not draw(st.integers(0, 3)):
            rows += [(time * unit, -1) for time in draw(moments)]
    return rows


@st.composite
def failure_cases(
    draw: st.DrawFn,
    machines: tuple[str, ...] = MACHINES,
    schedulers: tuple[str, ...] = SCHEDULERS,
    max_jobs: int = 20,
) -> tuple[dict, dict, dict]:
    """(settings, columns, world) for one run in which things fail.

    Times are whole multiples of one unit: failures of several nodes at one instant, at starts, ends and checkpoints.
    """
    machine = draw(lowered_machines(machines))
    torus = machine["name"] == "torus"
    nodes = machine["x"] * machine["y"] * machine["z"] if torus else machine["nodes"]
    unit = draw(st.sampled_from([1.0, 1.0, 0.1]))

    def drawn(kind, **options):
        return draw(policies(kind, machine["name"], unit=unit, **options)).lower()

    rule = drawn("checkpointing")
    settings = {
        "machine": machine,
        "scheduler": drawn("scheduler", names=schedulers, written=True),
        "placement": draw(lowered_placements(machine)),
        "migration": drawn("migration") if draw(st.booleans()) else None,
        "recovery": drawn("recovery", lacking=["staying"]),
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
