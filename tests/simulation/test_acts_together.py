"""Conditions, withdrawals, holds, earliest starts, drains and reservations in one run, on both engines.

With failures, checkpoints, and what does not go with closed nodes: jobs that stop others, migration, spare cubes.
"""

import random
from typing import Any

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import FaultsimError
from helpers.acted_runs import drawn

CONDITIONS = ("after", "afterok", "afterany", "afternotok")


def conditional(rng: random.Random, log: fs.Workload) -> fs.Workload:
    """The log with conditions on earlier jobs, earliest starts, arrays and withdrawals, some of them."""
    n = len(log)
    columns: dict[str, Any] = {}
    if rng.random() < 0.7:
        columns["after"] = [
            f"{rng.choice(CONDITIONS)}:{log.id[rng.randrange(row)]}{rng.choice(['', '+3'])}"
            if row and rng.random() < 0.4
            else ""
            for row in range(n)
        ]
    if rng.random() < 0.5:
        columns["begin"] = [rng.choice([-1, -1, rng.randint(0, 60)]) for _ in range(n)]
    if rng.random() < 0.5:
        columns["array"] = [rng.choice([-1, 0]) for _ in range(n)]
        columns["array_limit"] = [rng.choice([1, 2])] * n
        columns["array_limit"] = [-1 if array < 0 else columns["array_limit"][0] for array in columns["array"]]
    if rng.random() < 0.5:
        columns["cancel"] = [rng.choice([-1, -1, float(submit) + rng.randint(0, 40)]) for submit in log.submit]
    return log.with_columns(**columns)


def run(seed: int, engine: str) -> tuple[fs.Result, list[object], set[str]]:
    """A run with random acts between its steps; nodes are resumed and jobs released at the end."""
    rng = random.Random(seed)
    log, machine, options = drawn(rng)
    if rng.random() < 0.4:
        options["checkpointing"] = rng.choice([fs.Periodic(7, 1), fs.Periodic(3, 2)])
    other = rng.random()
    if other < 0.3:
        options.pop("reservations", None)
        if other < 0.15 and isinstance(machine, fs.Cluster):
            options["scheduler"] = fs.Preemptive(order="largest")
        elif isinstance(machine, fs.Torus):
            options["migration"] = "defragment"
        elif isinstance(machine, fs.Pod):
            machine, options["scheduler"] = fs.Pod((1, 2, 2), spares=1), rng.choice(["fcfs", "easy"])
            log = log[log.size <= machine.largest_job]
    log = conditional(rng, log)
    if "cancel" in log.columns and options.get("recovery") == "hold":
        options["recovery"] = "requeue"
    sim = fs.Simulation(log, machine, engine=engine, **options)
    seen: list[object] = []
    done = set()
    now, held = float(log.submit[0]), set()
    for _ in range(rng.randint(2, 10)):
        now += rng.choice([0, 1, 5, 17])
        decision = sim.advance(until=now)
        node, job = rng.randrange(machine.nodes), rng.randrange(len(log))
        name = rng.choice(["drain", "drain", "resume", "hold", "hold", "release", "withdraw", "change"])
        if name in ("resume", "release") and rng.random() < 0.8:
            node, job = rng.choice([*sim.drained.tolist(), node]), rng.choice([*sorted(held), job])
        if (
            decision is not None
            and len(decision.queue)
            and name in ("hold", "change", "withdraw")
            and rng.random() < 0.7
        ):
            job = rng.choice(sorted(decision.queue.tolist()))
        running = [] if decision is None else decision.running.tolist()
        if name == "withdraw" and job in running and "failures" not in options:
            continue  # the core does not follow what running jobs have done (`Simulation.withdraw`)
        try:
            if name in ("drain", "resume"):
                getattr(sim, name)(node)
            elif name == "change":
                sim.change(job, begin=now + rng.choice([1, 9]))
            else:
                getattr(sim, name)(job)
                (held.add if name == "hold" else held.discard)(job)
            done.add(name)
            seen.append((name, job, node, sim.drained.tolist()))
        except FaultsimError as error:
            seen.append(str(error))
    sim.advance(until=now + rng.choice([0, 40]))
    for node in sim.drained.tolist():
        sim.resume(node)
    for job in sorted(held):
        try:
            sim.release(job)
        except FaultsimError as error:
            seen.append(str(error))
    sim.advance()
    return sim.result(), seen, done


def check(first: int, last: int) -> dict[str, int]:
    """How many of the runs had each act."""
    counts: dict[str, int] = {}
    for seed in range(first, last):
        (core, seen, done), (plain, expected, _) = run(seed, "core"), run(seed, "reference")
        assert seen == expected, seed
        for name in ("eligible", "start", "finish", "allocated", "backfilled", "restarts", "state"):
            np.testing.assert_array_equal(core.jobs[name], plain.jobs[name], err_msg=f"{seed} {name}")
        for name in core.allocations:
            np.testing.assert_array_equal(core.allocations[name], plain.allocations[name], err_msg=f"{seed} {name}")
        assert core.ledger == pytest.approx(plain.ledger, rel=1e-9, abs=1e-6), seed
        for name in done:
            counts[name] = counts.get(name, 0) + 1
    return counts


def test_both_engines_agree():
    counts = check(0, 120)
    assert min(counts[name] for name in ("drain", "resume", "hold", "release", "withdraw", "change")) > 5, counts


@pytest.mark.slow
def test_both_engines_agree_on_many():
    check(120, 2000)
