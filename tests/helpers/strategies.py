"""Hypothesis strategies that several test modules share."""

import math

import numpy as np
from hypothesis import strategies as st

import faultsim as fs
from helpers.drawn_policies import policies

SECONDS = st.one_of(st.integers(0, 10**9).map(float), st.floats(0, 1e9, allow_nan=False))


@st.composite
def workloads(draw: st.DrawFn, max_jobs: int = 20) -> fs.Workload:
    n = draw(st.integers(1, max_jobs))

    def column(values: st.SearchStrategy) -> list:
        return draw(st.lists(values, min_size=n, max_size=n))

    return fs.Workload(
        submit=sorted(column(SECONDS)),
        runtime=column(SECONDS),
        size=column(st.integers(1, 2**31 - 1)),
        estimate=column(st.one_of(st.just(-1.0), SECONDS)),
        id=column(st.integers(-(2**40), 2**40)),
        user=column(st.integers(-1, 2**40)),
    )


# -- cases for the two engines: lowered settings and columns, in the form that `faultsim.simulate` hands to an engine

TORI = [(1, 1, 9), (1, 5, 2), (2, 2, 2), (2, 3, 4), (3, 3, 3), (4, 4, 1), (4, 4, 2), (4, 4, 8)]
#: Of clusters whose nodes have coordinates.
SHAPES = [(1, 1, 9), (4, 1, 5), (2, 2, 4), (2, 3, 3), (3, 2, 2)]
SCHEDULERS = ("fcfs", "easy", "backfill", "conservative")


@st.composite
def lowered_machines(draw: st.DrawFn, kinds: tuple[str, ...] = ("cluster", "torus")) -> dict:
    if draw(st.sampled_from(kinds)) == "cluster":
        if draw(st.booleans()):
            return {"name": "cluster", "nodes": draw(st.integers(1, 20))}
        shape = draw(st.sampled_from(SHAPES))
        return {"name": "cluster", "nodes": math.prod(shape), "shape": list(shape)}
    x, y, z = draw(st.sampled_from(TORI))
    return {"name": "torus", "x": x, "y": y, "z": z, "wrap": draw(st.booleans())}


def lowered_placements(machine: dict, without: tuple[str, ...] = ()) -> st.SearchStrategy[dict]:
    """Those that need nothing that a run is `without`."""
    lacking = (*without, *(() if "shape" in machine else ("coordinates",)))
    return policies("placement", machine["name"], lacking=lacking, written=True).map(lambda rule: rule.lower())


@st.composite
def job_columns(draw: st.DrawFn, nodes: int, max_jobs: int = 24, unit: float | None = None) -> dict:
    """Columns with many ties: whole seconds, equal submits, run times of 0, estimates below, at and above them.

    The unit, if none is given, is 1 s, or 0.1 s, where sums of doubles round.
    """
    n = draw(st.one_of(st.just(max_jobs), st.integers(1, max_jobs)))
    if unit is None:
        unit = draw(st.sampled_from([1.0, 1.0, 0.1]))
    dense = draw(st.sampled_from([1, 3, 8]))
    longest = draw(st.sampled_from([3, 10, 10]))
    off = draw(st.sampled_from([(0, 0), (0, 4), (-3, 4)]))
    largest = draw(st.sampled_from([nodes, max(1, nodes // 2), max(1, nodes // 4)]))
    gap = st.sampled_from([0] * dense + [1, 2, 5])
    job = st.tuples(gap, st.integers(0, longest), st.integers(*off), st.integers(1, largest))
    jobs = draw(st.lists(job, min_size=n, max_size=n))
    gaps, runtimes, offs, sizes = (np.array(column) for column in zip(*jobs, strict=True))
    return {
        "submit": np.cumsum(gaps) * unit,
        "runtime": runtimes * unit,
        "estimate": np.maximum(runtimes + offs, 0) * unit,
        "size": sizes.astype(np.int32),
    }


@st.composite
def engine_cases(
    draw: st.DrawFn,
    machines: tuple[str, ...] = ("cluster", "torus"),
    schedulers: tuple[str, ...] = SCHEDULERS,
    migration: bool | None = None,
    max_jobs: int = 24,
) -> tuple[dict, dict]:
    """(settings, columns) for one run.  `migration`: with, without, or (None) either."""
    machine = draw(lowered_machines(machines))
    torus = machine["name"] == "torus"
    nodes = machine["x"] * machine["y"] * machine["z"] if torus else machine["nodes"]
    migrates = torus and (draw(st.booleans()) if migration is None else migration)
    settings = {
        "machine": machine,
        "scheduler": draw(policies("scheduler", machine["name"], names=schedulers, written=True)).lower(),
        "placement": draw(lowered_placements(machine, without=("predictor",))),
        "migration": draw(policies("migration", machine["name"])).lower() if migrates else None,
        "overrun": draw(st.sampled_from(["extend", "kill"])),
        "start_delay": draw(st.sampled_from([0.0, 0.0, 1.0, 0.3])),
        "record": True,
    }
    return settings, draw(job_columns(nodes, max_jobs))
