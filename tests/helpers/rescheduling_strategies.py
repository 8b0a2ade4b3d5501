"""Hypothesis strategies for runs in which `Fars` moves jobs: those of failing machines, with suspicion everywhere."""

import numpy as np
from hypothesis import strategies as st

from faultsim.simulation.engine_inputs import ticks
from helpers.failure_strategies import by_time, failure_cases, multiples

STRATEGIES = ("service_unit_loss", "job_failure_rate", "failure_slowdown", "node_stealing")


@st.composite
def rescheduling(draw: st.DrawFn, torus: bool, nodes: int, unit: float, static: bool) -> dict:
    """A lowered `Fars`."""
    pool = {"name": "static", "k": min(draw(st.integers(0, 3)), nodes - 1)} if static and not torus else "dynamic"
    return {
        "name": "fars",
        "interval": draw(multiples(2, 1, 4, 10)) * unit,
        "strategy": {"name": draw(st.sampled_from(STRATEGIES[:3] if torus else STRATEGIES))},
        "spares": pool,
        "checkpoint_cost": draw(multiples(1, 0, 2, 5)) * unit,
        "restart_cost": draw(multiples(1, 0, 3)) * unit,
        "live": draw(st.booleans()),
        "suspicious": draw(st.sampled_from(["last", "ignore"])),
        "queue_cost": draw(st.sampled_from(["last", "mean"])),
        "residual": draw(st.sampled_from(["printed", "difference"])),
    }


@st.composite
def suspicions(draw: st.DrawFn, nodes: int, failures: dict, unit: float) -> list[tuple]:
    """Intervals of one length and nodes that are said to fail in them: (begin, end, node)."""
    width = draw(st.sampled_from([4, 2, 10, 1]))
    some = st.integers(1, 2**nodes - 1)  # a set of nodes
    pairs = set()
    for k in range(24 // width):
        chosen = draw(some) & draw(some)
        pairs |= {(k, node) for node in range(nodes) if chosen >> node & 1}
    if draw(st.booleans()):  # and what does fail
        whole = np.rint(failures["time"] / unit).astype(int).tolist()
        pairs |= {((time - 1) // width, node) for time, node in zip(whole, failures["node"], strict=True) if time > 0}
    return [(k * width * unit, (k + 1) * width * unit, node) for k, node in sorted(pairs)]


@st.composite
def fars_cases(draw: st.DrawFn, machines: tuple[str, ...], schedulers: tuple[str, ...]) -> tuple[dict, dict, dict]:
    """(settings, columns, world) for one run in which things fail and jobs move."""
    settings, columns, world = draw(failure_cases(machines, schedulers))
    machine = settings["machine"]
    torus = machine["name"] == "torus"
    nodes = machine["x"] * machine["y"] * machine["z"] if torus else machine["nodes"]
    unit = 0.1 if any(float(t) % 1 for t in (*columns["submit"], *columns["runtime"], *columns["estimate"])) else 1.0
    rule = draw(rescheduling(torus, nodes, unit, static=not draw(st.integers(0, 2))))
    settings["rescheduling"] = rule
    if rule["spares"] != "dynamic":  # what the pool leaves
        columns["size"] = np.minimum(columns["size"], nodes - rule["spares"]["k"]).astype(np.int32)
    if draw(st.integers(0, 3)):
        seen = draw(suspicions(nodes, world["failures"], unit))
        world["predictions"] = by_time(seen, begin=float, end=float, node=np.int32) | {"p": world["predictions"]["p"]}
    world["ticks"] = ticks(world["predictions"], rule["interval"])
    return settings, columns, world
