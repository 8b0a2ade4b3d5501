"""The nodes that jobs hold, rebuilt from `Decision.changes` alone, are those of the record."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.data.node_parts import parts_down
from helpers.runs import pods, runs
from helpers.site_runs import drawn_run, with_parts


def options_of(run):
    kept = ("scheduler", "placement", "migration", "failures", "recovery", "predictor", "checkpointing", "rescheduling")
    more = ("estimates", "overrun", "start_delay", "seed", "oversized")
    return {name: getattr(run, name) for name in (*kept, *more)}


def rebuilt(changes):
    """(job, begin, end, nodes) of each stay, by begin."""
    where, stays = {}, []

    def leave(job, time):
        begin, nodes = where.pop(job)
        stays.append((job, begin, time, nodes))

    before, killed, at = "", -1, 0.0
    for kind, job, time, nodes in changes:
        if before == "killed" and kind not in ("requeued", "held"):
            leave(killed, at)  # for good
        if kind == "moved" or kind in ("ended", "timed out", "requeued"):
            leave(job, time)
        if kind in ("started", "moved"):
            where[job] = time, nodes
        before, killed, at = kind, job, time
    if before == "killed":
        leave(killed, at)
    assert not where
    return sorted(stays)


def recorded(result):
    held = result.allocations
    if "x" in held:
        boxes = zip(*(held[axis].tolist() for axis in "xyzabc"), strict=True)
        nodes = [list(box) for box in boxes]
    else:
        offsets = held["node_offsets"].tolist()
        nodes = [held["nodes"][i:j].tolist() for i, j in pairwise(offsets)]
    return sorted(zip(held["job"].tolist(), held["begin"].tolist(), held["end"].tolist(), nodes, strict=True))


ON_PODS = runs(on=pods()), runs(on=pods("ocs"), hot=True)
ANY = st.one_of(runs(failing=True), runs(), runs(failing=True, hot=True), *ON_PODS)


@given(ANY, st.lists(st.integers(0, 60), max_size=5))
def test_stays_of_any_run(run, stops):
    """Failures, checkpoints, migration, rescheduling and spares; changes read in several portions."""
    sim = fs.Simulation(run.log, run.machine, record=True, **options_of(run))
    changes = []
    for stop in sorted(stops):
        changes += sim.advance(until=max(sim.now, stop)).changes
    sim.run()
    changes += sim.advance(until=sim.now).changes
    assert rebuilt(changes) == recorded(sim.result())


@pytest.mark.parametrize("seed", range(20))
def test_stays_on_sites(seed):
    run = drawn_run(np.random.default_rng(seed), 30)
    sim = fs.Simulation(run.log, run.machine, record=True, **options_of(run))
    sim.run()
    changes = sim.advance(until=sim.now).changes
    kept = sorted({job for kind, job, *_ in changes if kind == "submitted"})  # rows without the jobs that were dropped
    assert [(kept.index(job), *stay) for job, *stay in rebuilt(changes)] == recorded(sim.result())


def out_of_service(log, machine, trace):
    """(time, part, node) of each part that goes down, and of each that comes up, while jobs are there."""
    rows = (trace.part_amounts().any(axis=1)) & (trace.downtime > 0)
    end = (trace.time + trace.downtime)[rows]
    parts = parts_down(trace.time[rows], end, trace.node[rows], trace.part_amounts()[rows], machine.node_amounts())
    down, up = [], []
    for begin, until, node, amounts in zip(*(column.tolist() for column in parts), strict=True):
        if any(amounts):
            (at,) = np.flatnonzero(amounts).tolist()
            part = ("cores:{}", "memory:{}M", "gpus:{}")[at].format(amounts[at])
            down += [(begin, part, node)] if begin >= log.submit[0] else []
            up += [(until, part, node)] if until > log.submit[0] else []
    return down, up


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize("seed", range(12))
def test_parts_of_nodes(engine, seed):
    rng = np.random.default_rng([3, seed])
    run = next(
        found for _ in range(99) if (found := with_parts(rng, drawn_run(rng, 30))) and found.failures.part is not None
    )
    options = options_of(run) | {"scheduler": fs.External()}
    sim = fs.Simulation(run.log, run.machine, record=True, engine=engine, **options)
    rows, parts = [], []
    while (decision := sim.advance()) is not None:
        changes = decision.changes
        rows += changes
        parts += changes.part
        for job in decision.queue.index.tolist():
            if decision.fits(job):
                decision.start(job)
    result = sim.result()
    kept = sorted({job for kind, job, *_ in rows if kind == "submitted"})
    assert [(kept.index(job), *stay) for job, *stay in rebuilt(rows)] == recorded(result)
    assert [bool(part) for part in parts] == [kind in ("part down", "part up") for kind, *_ in rows]
    for kind, known in zip(
        ("part down", "part up"), out_of_service(result.workload, run.machine, run.failures), strict=True
    ):
        seen = [(time, part, *nodes) for (word, _, time, nodes), part in zip(rows, parts, strict=True) if word == kind]
        assert sorted(seen) == sorted(row for row in known if row[0] <= rows[-1][2])[: len(seen)]
        assert len(seen) >= sum(row[0] < rows[-1][2] for row in known)


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_all_kinds(engine):
    log = fs.Workload(submit=[0, 0, 0, 9], runtime=[50, 20, 5, 5], size=[2, 2, 4, 1])
    sim = fs.Simulation(log, fs.Cluster(4), live=9, engine=engine)
    kinds = list(sim.advance(until=1).changes.kind)
    sim.hold(2)
    sim.release(2)
    sim.drain(3)
    sim.down(3)
    changes = sim.advance(until=2).changes
    assert list(zip(changes.kind, changes.index.tolist(), changes.cause, strict=True)) == [
        ("on hold", 2, ""), ("released", 2, ""), ("drained", -1, ""), ("killed", 1, "failure"), ("requeued", 1, ""),
        ("down", -1, ""), ("submitted", 2, ""),
    ]  # fmt: skip
    sim.up(3)
    sim.resume(3)
    sim.withdraw(0)
    sim.withdraw(2)
    changes = sim.advance(until=100).changes
    assert list(zip(changes.kind, changes.index.tolist(), changes.cause, strict=True)) == [
        ("up", -1, ""), ("resumed", -1, ""), ("killed", 0, "withdrawal"), ("withdrawn", 2, ""), ("started", 1, ""),
        ("submitted", 3, ""), ("started", 3, ""), ("ended", 3, ""), ("ended", 1, ""),
    ]  # fmt: skip
    assert kinds == ["submitted"] * 3 + ["started"] * 2
    assert sim.result().jobs["restarts"].tolist() == [1, 1, 0, 0]
