"""Waiting jobs that ask for something else (model.md#changed): by hand, refusals, and random runs on both engines."""

import contextlib
import pickle
import random
from typing import Any

import numpy as np
import pytest

import faultsim as fs
from faultsim.data.event_kinds import EventKind
from faultsim.errors import FaultsimError
from helpers.acted_runs import drawn
from helpers.deciders import ByHand, easy

ENGINES = pytest.mark.parametrize("engine", ["core", "reference"])
ORDERS = (
    "shortest",
    "largest",
    "wfp3",
    fs.Key("priority"),
    fs.Key("-priority * wait"),
    fs.Key("-size * wait / (estimate + 1)"),
)


def run(seed: int, engine: str, **given: Any) -> fs.Result | None:
    """A run with changes at random times; None on machines that cannot have what is `given`."""
    rng = random.Random(seed)
    log, machine, options = drawn(rng)
    if given and machine.name != "cluster":
        return None
    options |= given
    n = len(log)
    log = log.with_columns(priority=[float(rng.randint(0, 3)) for _ in range(n)])
    if rng.random() < 0.6 and ":" not in options["scheduler"]:
        options |= {"scheduler": fs.EasyBackfill(order=rng.choice(ORDERS))}
    if rng.random() < 0.3:
        options["overrun"] = "kill"
    sim = fs.Simulation(log, machine, engine=engine, **options)
    now = float(log.submit[0])
    for _ in range(rng.randint(1, 8)):
        now += rng.choice([0, 1, 5, 17])
        decision = sim.advance(until=now)
        assert decision is not None
        waiting = [
            job for job in decision.queue.tolist() if decision.queue.restarts[list(decision.queue).index(job)] == 0
        ]
        if waiting:
            changed: dict[str, Any] = {
                "estimate": rng.choice([0.5, 1, 7, 30]),
                "priority": rng.randint(0, 3),
                "size": rng.choice([1, 2, machine.largest_job]),
                "begin": now + rng.choice([1, 9]),
            }
            kept = rng.sample(sorted(changed), rng.randint(1, 3))
            sim.change(rng.choice(sorted(waiting)), **{name: changed[name] for name in kept})
    sim.advance()
    return sim.result()


@pytest.mark.parametrize(
    "given", [{}, {"scheduler": "preemptive:order=shortest"}, {"migration": "least_failures"}], ids=str
)
def test_both_engines_agree(given):
    for seed in range(150):
        core, plain = run(seed, "core", **given), run(seed, "reference", **given)
        if core is None or plain is None:
            continue
        for name in ("start", "finish", "size", "allocated", "backfilled", "restarts"):
            np.testing.assert_array_equal(core.jobs[name], plain.jobs[name], err_msg=f"{seed} {name}")
        assert core.ledger == pytest.approx(plain.ledger, rel=1e-9, abs=1e-6), seed


def by_scheduler(seed: int, engine: str, outside: bool) -> tuple[fs.Result, list[object]]:
    """A run whose scheduler backfills, changes jobs, and drains nodes at random, from outside or written in Python."""
    rng = random.Random(seed)
    log, machine, options = drawn(rng)
    log = log.with_columns(priority=[float(rng.randint(0, 3)) for _ in range(len(log))])
    options.pop("reservations", None)
    seen: list[object] = []
    order = rng.choice([*ORDERS, "arrival"])

    def decide(d: fs.Decision) -> None:
        easy(d)
        if len(seen) < 40 and len(d.queue):
            job = rng.choice(d.queue.tolist())
            given = {"estimate": rng.choice([0.5, 1, 7, 30]), "size": rng.choice([1, 2, machine.largest_job])}
            given |= {"priority": rng.randint(0, 3), "begin": d.now + rng.choice([0, 1, 9])}
            kept = rng.sample(sorted(given), rng.randint(1, 3))
            try:
                d.change(job, **{name: given[name] for name in kept})
            except fs.DecisionError as error:
                seen.append(str(error))
            drained = {*range(machine.nodes)} - {*np.flatnonzero(~d.occupancy.ravel()).tolist()}
            node = rng.randrange(machine.nodes)
            for act in rng.sample([d.drain, d.resume], 1 if node in drained else 2):
                try:
                    act(node)
                except fs.DecisionError as error:
                    seen.append(str(error))
            seen.append((d.free, d.queue.tolist(), d.queue.fits.tolist(), d.occupancy.tolist()))
            seen.append([d.shadow(row) for row in d.queue.tolist()])
            seen.append(d.changes.tolist() if outside else ())
            easy(d)
        else:
            for node in range(machine.nodes):
                with contextlib.suppress(fs.DecisionError):
                    d.resume(node)
            easy(d)
        if len(d.queue):
            d.wake(d.now + 1)

    scheduler = fs.External(order=order) if outside else ByHand(decide, order)
    sim = fs.Simulation(log, machine, engine=engine, **options | {"scheduler": scheduler})
    while outside and (d := sim.advance()) is not None:
        decide(d)
    if not outside:
        sim.run()
    return sim.result(), seen


@pytest.mark.parametrize("outside", [True, False])
def test_schedulers_from_outside_change_jobs_and_drain_nodes(outside):
    changed = 0
    for seed in range(60):
        (core, seen), (plain, expected) = (by_scheduler(seed, engine, outside) for engine in ("core", "reference"))
        assert seen == expected, seed
        for name in ("start", "finish", "size", "allocated", "backfilled", "restarts"):
            np.testing.assert_array_equal(core.jobs[name], plain.jobs[name], err_msg=f"{seed} {name}")
        assert core.ledger == pytest.approx(plain.ledger, rel=1e-9, abs=1e-6), seed
        assert core.events["kind"].tolist() == plain.events["kind"].tolist(), seed
        changed += EventKind.CHANGE in core.events["kind"]
    assert changed > 20


LOG = fs.Workload(submit=[0, 1, 2, 3], runtime=[10, 10, 10, 10], size=[2, 4, 2, 4], estimate=[10, 10, 30, 10])
RANKED = LOG.with_columns(priority=[0, 5, 5, 7])


def at(until: float, engine: str = "core", log: fs.Workload = LOG, **options: Any) -> fs.Simulation:
    sim = fs.Simulation(log, fs.Cluster(4), engine=engine, **options)
    sim.advance(until=until)
    return sim


def starts(sim: fs.Simulation) -> list[float]:
    sim.advance()
    return sim.result().jobs["start"].tolist()


@ENGINES
def test_what_changes(engine):
    assert starts(at(5, engine)) == [0, 10, 20, 30]
    sim = at(5, engine)
    sim.change(1, size=2)
    assert starts(sim) == [0, 5, 10, 15 + 5]
    assert sim.result().jobs["size"].tolist() == [2, 2, 2, 4]
    sim = at(5, engine)
    sim.change(2, estimate=5)
    assert starts(sim) == [0, 15, 5, 25]
    sim = at(5, engine, RANKED, scheduler=fs.EasyBackfill(order=fs.Key("priority")))
    sim.change(3, priority=1)
    assert starts(sim) == [0, 20, 30, 10]


@ENGINES
def test_a_limit_that_kills_changes_with_the_estimate(engine):
    sim = at(5, engine, overrun="kill")
    sim.change(1, estimate="4s")
    assert starts(sim) == [0, 10, 14, 24]
    assert sim.result().jobs["state"].tolist() == ["ended", "timed out", "ended", "ended"]


@ENGINES
@pytest.mark.parametrize(
    ("job", "given", "options", "said"),
    [
        (0, {"size": 1}, {}, "job 0 cannot be changed: it has nodes"),
        (3, {"size": 1}, {}, "job 3 cannot be changed: it has not arrived yet"),
        (9, {"size": 1}, {}, "there is no job 9: the log has rows 0 to 3"),
        (1, {"size": 5}, {}, "job 1 cannot have 5 nodes: the largest job of cluster:4 has 4"),
        (1, {"size": 0}, {}, "size must be"),
        (1, {"estimate": -1}, {}, "estimate must be"),
        (1, {}, {}, "change: give estimate=, size=, priority= or begin="),
        (1, {"priority": 3}, {}, "the log has no column 'priority' that could change"),
        (1, {"size": 1}, {"recovery": fs.HotSpares(0, restart_cost=1)}, "change is not available with recovery="),
        (1, {"size": 1}, {"checkpointing": fs.Periodic(10, 1)}, "change is not available with checkpointing="),
        (1, {"estimate": 1}, {"estimates": "actual"}, "change is not available for estimates with estimates='actual'"),
    ],
)
def test_what_is_refused(engine, job, given, options, said):
    sim = fs.Simulation(LOG, fs.Cluster(4), engine=engine, **options)
    sim.advance(until=2.5)
    with pytest.raises(FaultsimError, match=said):
        sim.change(job, **given)


def test_copies_and_pickles_have_jobs_of_their_own():
    sim = at(5)
    before = sim.copy()
    sim.change(1, size=2)
    after, stored = sim.copy(), pickle.loads(pickle.dumps(sim))
    sim.change(2, size=1)
    assert starts(before) == [0, 10, 20, 30]
    for one in (sim, after, stored):
        assert starts(one) == [0, 5, 10, 20]
    assert LOG.size.tolist() == [2, 4, 2, 4]
    assert sim.result().jobs["size"].tolist() == [2, 2, 1, 4]


@ENGINES
@pytest.mark.parametrize("scheduler", ["fcfs", "easy", "conservative"])
def test_an_earliest_start_takes_a_job_out_of_the_queue(engine, scheduler):
    sim = at(5, engine, scheduler=scheduler)
    sim.change(1, begin=12)
    assert str(sim.why(1)) == "not eligible: its earliest start is 12 s"
    assert starts(sim) == [0, 25, 5, 15]
    assert sim.result().jobs["eligible"].tolist() == [0, 12, 2, 3]


@ENGINES
def test_an_earliest_start_is_to_come_and_of_a_job_in_the_queue(engine):
    sim = at(5, engine)
    with pytest.raises(fs.DecisionError, match="job 1 cannot get the earliest start 5 s: it is 5 s already"):
        sim.change(1, begin=5, size=1)
    sim.hold(1)
    with pytest.raises(fs.DecisionError, match="job 1 cannot get another earliest start: it is on hold"):
        sim.change(1, begin=50)
    sim.release(1)
    assert starts(sim) == [0, 25, 5, 15]  # it waits as a job that has come at 5 s


@ENGINES
def test_a_caller_that_decides_changes_jobs(engine):
    sim = fs.Simulation(LOG, fs.Cluster(4), engine=engine, scheduler=fs.External(), record=True)
    for at in (0, 1, 2):
        d = sim.advance()
        if at == 0:
            d.start(0)
    d.change(1, size=2)
    with pytest.raises(fs.DecisionError, match="job 0 cannot be changed: it has nodes"):
        d.change(0, size=1)
    with pytest.raises(fs.DecisionError, match="job 3 cannot be changed: it has not arrived yet"):
        d.change(3, size=1)
    with pytest.raises(FaultsimError, match="change: give estimate="):
        d.change(1)
    d.start(1)
    for one in (sim.copy(), pickle.loads(pickle.dumps(sim))) if engine == "core" else ():
        one.decision.change(2, begin=30)
        assert one.decision.queue.tolist() == []
    d = sim.advance()
    assert d.changes.tolist()[:2] == [("changed", 1, 2.0, []), ("started", 1, 2.0, [2, 3])]
    d.drain(3)
    assert (d.free, d.occupancy.tolist(), d.fits(2)) == (0, [True] * 4, False)
    assert sim.advance().queue.tolist() == [2, 3]
    assert (sim.now, sim.decision.free) == (10, 2)
    sim.decision.start(2)
    assert sim.advance().free == 1
    with pytest.raises(fs.DecisionError, match="job 3 cannot start: it needs 4 nodes and 1 are free"):
        sim.decision.start(3)
    sim.advance().resume(3)
    sim.decision.start(3)
    while sim.advance() is not None:
        pass
    assert sim.result().jobs["start"].tolist() == [0, 2, 10, 20]


@ENGINES
def test_a_decision_about_a_job_changes_none_and_drains_nothing(engine):
    failures = fs.FailureTrace([5], [0], [1])
    scheduler = fs.External(at=["schedule", "failure"])
    sim = fs.Simulation(LOG, fs.Cluster(4), engine=engine, scheduler=scheduler, failures=failures)
    sim.advance().start(0)
    while (d := sim.advance()).kind != "failure":
        pass
    with pytest.raises(fs.DecisionError, match="job 1 cannot be changed: this decision is about job 0"):
        d.change(1, size=1)
    with pytest.raises(fs.DecisionError, match="drain is not available at a decision of kind 'failure'"):
        d.drain(2)
