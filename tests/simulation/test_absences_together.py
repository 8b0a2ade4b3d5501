"""Reservations beside preemption, moves and spares: both engines agree (model.md#absences)."""

import random
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
    rng = random.Random(seed)
    try:
        run = run.with_options(reservations=reservations_of(run, rng))
    except fs.NotAvailableError:
        return
    runs_agree(run)


@given(runs(failing=True, record=True), st.integers(0, 2**32))
def test_any_policies(run: fs.Run, seed: int) -> None:
    check(run, seed)


@given(runs(record=True, on=pods()), st.integers(0, 2**32))
def test_any_policies_on_pods(run: fs.Run, seed: int) -> None:
    check(run, seed)


@given(runs(failing=True, record=True, hot=True), st.integers(0, 2**32))
def test_any_policies_with_hot_spares(run: fs.Run, seed: int) -> None:
    check(run, seed)
