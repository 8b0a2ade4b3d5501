"""Reservations beside preemption, moves and spares: both engines agree (model.md#absences)."""

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from helpers.acted_runs import drawn, reservations_of
from helpers.engines import runs_agree
from helpers.runs import pods, runs

SITE = fs.Site([fs.NodeClass("cpu", 5, cores=4, memory="16G")])
ORDERS = (fs.ShortestFirst(), fs.LargestFirst(), fs.Key("-priority"), fs.Key("user"))


def reserved(rng: random.Random, nodes: int) -> list[fs.Reservation]:
    """One to three reservations, some of them for users or repeated."""
    given = []
    for _ in range(rng.randint(1, 3)):
        begin, length = rng.randint(0, 80), rng.choice([3, 10, 25])
        some = rng.choice(["all", sorted(rng.sample(range(nodes), rng.randint(1, nodes)))])
        every = rng.choice([None, None, length + 150, length + 200])
        users, overrun = rng.choice([None, None, 0, 1]), rng.choice(["wait", "wait", "kill"])
        given.append(fs.Reservation(some, begin, begin + length, users=users, every=every, overrun=overrun))
    return given


def preempting(rng: random.Random) -> tuple[fs.Workload, Any, dict[str, Any]]:
    log, machine, options = drawn(rng)
    while not isinstance(machine, fs.Cluster):
        log, machine, options = drawn(rng)
    log = log.with_columns(priority=[rng.randint(0, 3) for _ in range(len(log))])
    if rng.random() < 0.3:
        cores = [rng.randint(1, 20) for _ in range(len(log))]
        machine = SITE
        log = fs.Workload(submit=log.submit, runtime=log.runtime, size=cores, estimate=log.estimate, user=log.user)
        log = log.with_columns(cores=cores, priority=[rng.randint(0, 3) for _ in cores])
    options["scheduler"] = fs.Preemptive(order=rng.choice(ORDERS), backfill=rng.random() < 0.7)
    options["checkpointing"] = rng.choice([None, "periodic:7,1"])
    return log, machine, options


def moving(rng: random.Random) -> tuple[fs.Workload, Any, dict[str, Any]]:
    """Long jobs, of which many move away from predicted failures or from nodes that failed."""
    log, machine, options = drawn(rng)
    machine = rng.choice([fs.Cluster(5), fs.Cluster(13), fs.Cluster(70), fs.Torus(2, 3, 2), fs.Torus(4, 2, 1)])
    most, n = machine.nodes, len(log)
    size = [rng.randint(1, max(1, most // 2)) for _ in range(n)]
    runtime = [rng.randint(5, 90) for _ in range(n)]
    log = fs.Workload(submit=log.submit, runtime=runtime, size=size, user=log.user)
    count = rng.randint(4, 16)
    times = sorted(rng.randint(1, 150) for _ in range(count))
    nodes = [rng.randrange(most) for _ in range(count)]
    options["failures"] = fs.FailureTrace(times, nodes, [rng.choice([0, 5])] * count)
    options["recovery"] = rng.choice(["requeue", "hold"])
    if rng.random() < 0.3:
        options["migration"] = (
            "defragment:cost=2,when=always"
            if isinstance(machine, fs.Torus)
            else fs.LeastFailuresMigration(threshold=rng.choice([0, 1]), cost=3)
        )
        options["scheduler"] = rng.choice(["fcfs", "easy"])
    else:
        options["checkpointing"] = "periodic:7,1"
        options["predictor"] = fs.PredictionTrace(time=times, node=nodes)
        words = "node-stealing" if isinstance(machine, fs.Cluster) and rng.random() < 0.3 else "sul"
        options["rescheduling"] = fs.Fars(
            rng.choice([7, 20]), words, checkpoint_cost=1, restart_cost=1, live=rng.random() < 0.5
        )
        fixed = ["easy:reservation=fixed"] if isinstance(machine, fs.Torus) else []
        options["scheduler"] = rng.choice(["fcfs", "easy", "backfill:1", "backfill:3", "conservative", *fixed])
    options.pop("start_delay", None)
    return log, machine, options


DRAWN = {"preempting": preempting, "moving": moving}


def both(kind: str, seed: int) -> tuple[fs.Result | str, fs.Result | str]:
    """The results of both engines; "deadlock" where some job is longer than the time between two reservations."""
    rng = random.Random(f"{kind} {seed}")
    log, machine, options = DRAWN[kind](rng)
    options["reservations"] = reserved(rng, machine.nodes)
    found: list[fs.Result | str] = []
    for engine in ("core", "reference"):
        try:
            found.append(fs.simulate(log, machine, engine=engine, **options))
        except fs.DecisionError as error:
            found.append("deadlock" if "deadlock" in str(error) else str(error))
    return found[0], found[1]


@pytest.mark.parametrize("part", range(2))
@pytest.mark.parametrize("kind", DRAWN)
def test_both_engines_agree(kind: str, part: int) -> None:
    compared = moved = 0
    for seed in range(150 * part, 150 * part + 150):
        core, plain = both(kind, seed)
        if isinstance(core, str) or isinstance(plain, str):
            assert core == plain, seed
            continue
        for name in ("start", "finish", "allocated", "backfilled", "restarts", "moves", "lost_work"):
            np.testing.assert_array_equal(core.jobs[name], plain.jobs[name], err_msg=f"{kind} {seed} {name}")
        for name in core.allocations:
            np.testing.assert_array_equal(core.allocations[name], plain.allocations[name], f"{kind} {seed} {name}")
        assert core.ledger == pytest.approx(plain.ledger, rel=1e-9, abs=1e-6), seed
        compared += 1
        moved += bool(core.jobs["moves"].any())
    assert compared > 140
    assert moved > 50 or kind == "preempting"


def check(run: fs.Run, seed: int) -> None:
    """A run of any policies with reservations is the same on both engines."""
    runs_agree(run.with_options(reservations=reservations_of(run, random.Random(seed))))


@given(runs(failing=True, record=True), st.integers(0, 2**32))
def test_any_policies(run: fs.Run, seed: int) -> None:
    check(run, seed)


@given(runs(record=True, on=pods()), st.integers(0, 2**32))
def test_any_policies_on_pods(run: fs.Run, seed: int) -> None:
    check(run, seed)


@given(runs(failing=True, record=True, hot=True), st.integers(0, 2**32))
def test_any_policies_with_hot_spares(run: fs.Run, seed: int) -> None:
    check(run, seed)


def told_later(log: fs.Workload, machine: Any, options: dict[str, Any], rng: random.Random) -> fs.Result:
    """The result of jobs that a caller submits one by one or several at a time, some ahead of others."""
    alone = machine is not SITE and len(log.columns) == len(fs.Workload(submit=[0], runtime=[1], size=[1]).columns)
    sim = fs.Simulation(None if alone else log[:1], machine, live=rng.choice([True, len(log) + 3]), **options)
    row = 0 if alone else 1
    while row < len(log):
        parts = [log[row : row + rng.randint(1, 3)]]
        row += len(parts[0])
        if row < len(log) and log.submit[row - 1] < log.submit[row] and rng.random() < 0.5:
            parts.insert(0, log[row : row + 2])  # ahead of others
            row += len(parts[0])
        for part in parts:
            if alone and len(part) == 1 and rng.random() < 0.5:
                each = {name: part.columns[name][0].item() for name in ("submit", "runtime", "size", "estimate")}
                sim.submit(**each, user=int(part.user[0]), id=int(part.id[0]))
            else:
                sim.submit(part)
        if options["engine"] == "core" and rng.random() < 0.3:
            sim = sim.copy()
        if row < len(log) and log.submit[row] > 0.5 and rng.random() < 0.5:
            sim.advance(until=float(log.submit[row]) - 0.5)
    sim.run()
    return sim.result()


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_users_of_reservations_may_submit_their_jobs_later(engine: str) -> None:
    """Jobs that are told one by one start as those of a log, whoever their users are."""
    compared = theirs = 0
    for seed in range(120 if engine == "core" else 40):
        rng = random.Random(f"later {seed}")
        log, machine, options = drawn(rng) if rng.random() < 0.6 else preempting(rng)
        options = {name: value for name, value in options.items() if name in ("scheduler", "start_delay")}
        options["reservations"] = reserved(rng, machine.nodes)
        options["engine"] = engine
        try:
            whole = fs.simulate(log, machine, **options)
        except fs.DecisionError:
            continue
        later = told_later(log, machine, options, rng)
        by_id = np.argsort(later.jobs["id"])
        for name in ("id", "start", "finish", "allocated", "backfilled"):
            assert later.jobs[name][by_id].tolist() == whole.jobs[name].tolist(), (seed, name)
        others = [replace(each, users=None) for each in options["reservations"]]
        try:
            closed = fs.simulate(log, machine, **options | {"reservations": others})
            theirs += whole.jobs["start"].tolist() != closed.jobs["start"].tolist()
        except fs.DecisionError:
            theirs += 1
        compared += 1
    assert compared > (100 if engine == "core" else 30)
    assert theirs > compared // 8  # that they are the users' matters


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_why_knows_users_who_came_later(engine: str) -> None:
    window = fs.Reservation([2, 3], 0, 50, users=7, name="theirs")
    sim = fs.Simulation(None, fs.Cluster(4), live=True, reservations=window, engine=engine)
    sim.submit(submit=[0, 0], runtime=[20, 20], size=[2, 2], user=[8, 9])
    sim.advance(until=1)
    assert sim.why(1).cause == fs.Cause.CLOSED
    assert "'theirs'" in str(sim.why(1))
    sim.submit(submit=1, runtime=20, size=2, user=7)
    sim.run()
    assert sim.result().jobs["start"].tolist() == [0, 20, 1]


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize("scheduler", [fs.Backfill(depth=2), fs.ConservativeBackfill()])
def test_a_promise_with_fewer_closed_nodes_has_room_in_its_own_view(scheduler, engine):
    """Four nodes are in service when the second job begins at 50, and two of them only for its user.

    It takes three, so that the third job, for which two nodes are open, has none beside it until 150; else it would be
    in the way of the last job, which starts at once on the node that is free.
    """
    log = fs.Workload(submit=[0, 1, 1, 1], runtime=[50, 100, 100, 100], size=[5, 3, 2, 1], user=[9, 1, 2, 2])
    reserved = [fs.Reservation([0, 1], 50, 1000), fs.Reservation([2, 3], 50, 1000, users=[1])]
    result = fs.simulate(log, fs.Cluster(6), scheduler=scheduler, reservations=reserved, engine=engine)
    assert result.jobs["start"].tolist() == [0.0, 50.0, 150.0, 1.0]
