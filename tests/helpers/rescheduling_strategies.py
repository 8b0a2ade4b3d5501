"""Hypothesis strategies for runs in which `Fars` moves jobs: those of failing machines, with suspicion everywhere."""

import numpy as np
from hypothesis import strategies as st

import faultsim as fs
from faultsim.data.world import PredictionRows
from faultsim.policies.interval_reports import ticks
from helpers.drawn_policies import policies
from helpers.failure_strategies import by_time, failure_cases


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
    pool = not torus and not draw(st.integers(0, 2))
    spares = st.just(fs.Static(min(draw(st.integers(0, 3)), nodes - 1)) if pool else "dynamic")
    rule = draw(policies("rescheduling", machine["name"], unit=unit, spares=spares)).lower()
    settings["rescheduling"] = rule
    if rule["spares"] != "dynamic":  # what the pool leaves
        columns["size"] = np.minimum(columns["size"], nodes - rule["spares"]["nodes"]).astype(np.int32)
    if draw(st.integers(0, 3)):
        seen = draw(suspicions(nodes, world["failures"], unit))
        world["predictions"] = by_time(seen, begin=float, end=float, node=np.int32) | {"p": world["predictions"]["p"]}
    world["ticks"] = ticks(PredictionRows(**world["predictions"]), rule["interval"])
    return settings, columns, world
