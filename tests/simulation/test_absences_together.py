"""Reservations beside preemption, moves and spares: both engines agree (model.md#absences)."""

import random
from typing import Any

import numpy as np
import pytest

import faultsim as fs
from helpers.acted_runs import drawn

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


DRAWN = {"preempting": preempting}


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
    compared = 0
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
    assert compared > 140
