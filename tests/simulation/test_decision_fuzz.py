"""Random acts, legal and illegal, on running simulations: nothing breaks, and what is refused was never there."""

import contextlib
import math
import random
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from helpers.acted_runs import reservations_of
from helpers.deciders import ByHand, assert_same, easy
from helpers.runs import pods, runs
from helpers.site_runs import drawn_run

CHANGES = ("start", "backfill", "requeue", "wake", "hold", "kill", "checkpoint", "move", "withdraw", "hold", "release")
CHANGES = (*CHANGES, "change", "drain", "resume")
STOPS = ("requeue", "hold", "kill", "checkpoint", "withdraw", "release")
COLUMNS = ("index", "submit", "wait", "estimate", "size", "restarts", "saved", "fits")


def random_act(rng, d, n, hosts=0):
    """A name, positional and keyword arguments: sensible or not; `hosts` of a cube of a pod."""
    waiting, running = d.queue.tolist(), list(d.running)
    job = rng.choice([*waiting, *waiting, *running, rng.randrange(-1, n + 1), rng.choice([-(2**70), 2**63, n])])
    name = rng.choice(["start", "start", "start", *CHANGES, "may_backfill", "shadow", "fits", "expected_end", "boxes"])
    if d.kind not in ("schedule", "time") and rng.random() < 0.6:
        name = rng.choice([*STOPS, "move"])
        job = job if d.job is None or rng.random() < 0.2 else d.job
    if name == "wake":
        return name, (d.now + rng.choice([-1, 0, 0.5, 3, math.nan, math.inf]),), {}
    if name in ("drain", "resume"):
        return name, (rng.randrange(-1, d.occupancy.size + 1),), {}
    if name == "change":
        given = {
            "estimate": rng.choice([0, 1, 30]),
            "size": rng.choice([1, 2, 99]),
            "begin": rng.choice([0, d.now + 3]),
        }
        return name, (job,), {each: given[each] for each in rng.sample(sorted(given), rng.randint(0, 2))}
    if name in ("backfill", "may_backfill"):
        return name, (job, rng.choice([None, None, rng.randrange(n)])), {"max_growth": rng.choice([0, 1, 1, 5])}
    if name in STOPS:
        return name, (job if d.job is not None else rng.choice([job, *running]),), {}
    if name == "move":
        job = rng.choice([job, *running])
        where = random_way(rng, d, job, hosts) if rng.random() < 0.9 else {}
        return name, (job,), {**where, "live": rng.random() < 0.4, "checkpoint_cost": rng.choice([0, 2.5, 2.5, -1])}
    if name == "start" and rng.random() < 0.4:
        return name, (job,), random_place(rng, d, job, hosts)
    return name, (job,), {}


def random_slice(rng, d, job, size, hosts, own=()):
    """Hosts or cubes of a pod: a slice that the job could have, often."""
    listed = outcome(d, ("slices", (job, size), {}))
    if listed != "refused" and listed and rng.random() < 0.7:
        return {"nodes": rng.choice(listed)}
    cubes = {*d.free_cubes.tolist(), *(node // hosts for node in own)}
    cubes = sorted(cubes) if rng.random() < 0.8 else list(range(-1, d.occupancy.size // hosts + 1))
    chosen = rng.sample(cubes, min(len(cubes), max(1, size // hosts)))
    if rng.random() < 0.5:
        return {"cubes": rng.choice([chosen, chosen, np.array(chosen, np.int64), [*chosen, 2**32], "ab"])}
    return {"nodes": [cube * hosts + host for cube in chosen for host in range(hosts)]}


def random_place(rng, d, job, hosts=0):
    busy = d.occupancy
    if hosts and rng.random() < 0.9:
        sizes = [size for row, size in zip(d.queue.tolist(), d.queue.size.tolist(), strict=True) if row == job]
        return random_slice(rng, d, job, rng.choice([*sizes, *sizes, *sizes, rng.randrange(1, 9)]), hosts)
    if outcome(d, ("free_amounts", (), {})) != "refused":  # a site
        few = [rng.randrange(-1, busy.size + 1) if rng.random() < 0.1 else rng.randrange(busy.size) for _ in range(9)]
        return {"nodes": [*dict.fromkeys(few[: rng.choice([1, 1, 1, 2, 3, 9])])]}
    if busy.ndim == 1:
        free = np.flatnonzero(~busy).tolist() if rng.random() < 0.7 else list(range(-1, busy.size + 1))
        sizes = [size for row, size in zip(d.queue.tolist(), d.queue.size.tolist(), strict=True) if row == job]
        nodes = rng.sample(free, min(len(free), rng.choice([*sizes, *sizes, rng.randrange(4)])))
        return {"nodes": rng.choice([nodes, nodes, np.array(nodes, np.int64), [*nodes, 2**32], "ab"])}
    boxes = d.boxes(job).tolist() if job in d.queue.tolist() and rng.random() < 0.7 else []
    return {"box": rng.choice([*boxes, [rng.randrange(-1, 4) for _ in range(6)], [0, 0, 0, 1, 1]])}


def random_way(rng, d, job, hosts=0):
    """Where a running job could go, or not: some of its nodes and some others, or a box or slice of its size."""
    where = dict(zip(d.running.index.tolist(), d.running.where, strict=True)).get(job)
    busy = d.occupancy
    if where is not None and hosts and rng.random() < 0.9:
        return random_slice(rng, d, job, len(where), hosts, where.tolist())
    if where is None or rng.random() < 0.1:
        return {"nodes": [0]} if busy.ndim == 1 else {"box": [0, 0, 0, 1, 1, 1]}
    if busy.ndim == 1:
        free, kept = np.flatnonzero(~busy).tolist(), where.tolist()
        rng.shuffle(kept)
        change = rng.randrange(min(len(free), len(kept)) + 1)
        return {"nodes": kept[change:] + rng.sample(free, change)}
    base = [rng.randrange(extent) for extent in busy.shape]
    return {"box": [*base, *rng.sample(where[3:], 3)]}


def outcome(d, act):
    """What came of an act, comparable."""
    name, args, kwargs = act
    try:
        value = getattr(d, name)
        value = value(*args, **kwargs) if callable(value) else value
    except (fs.DecisionError, fs.OptionError, fs.NotAvailableError):
        return "refused"
    return value.tolist() if isinstance(value, np.ndarray) else value


def seen(d):
    """All that a decision shows."""
    queue, running = d.queue, d.running
    shown: list = [d.kind, d.now, d.free, d.disturbed, d.down.tolist(), d.repairs.tolist(), d.occupancy.tolist()]
    shown += [d.job, d.node, d.until, d.asked]
    shown += [d.reserved(30).tolist(), [d.closed(job).tolist() for job in (*queue, *running)]]
    shown += [d.foreseen(20).tolist(), *(getattr(queue, name).tolist() for name in COLUMNS)]
    shown += [getattr(running, name).tolist() for name in ("index", "size", "start", "expected_end")]
    shown += [[np.asarray(where).tolist() for where in running.where]]
    shown += [outcome(d, ("free_amounts", (), {})), [outcome(d, ("shares", (job,), {})) for job in running]]
    shown += [[outcome(d, ("shadow", (job,), {})) for job in queue[:2]]]
    return [*shown, [outcome(d, ("slices", (job,), {})) for job in queue], outcome(d, ("free_cubes", (), {}))]


def advanced(sim, until):
    try:
        return sim.advance(until)
    except fs.DecisionError:
        return "deadlock"


def kinds_of(run, rng):
    """Kinds of decisions, any that the run has."""
    asks = isinstance(run.checkpointing, fs.BeforeFailure | fs.PredictedWindows | fs.RiskBased)
    kinds = ["failure", *(["checkpoint"] if asks else []), *([] if run.rescheduling else ["tick"])]
    at = ["schedule", *(kind for kind in kinds if rng.random() < 0.6)]
    return {"at": at, "tick": rng.choice([3, 7.5]) if "tick" in at else None}


def check_run(run, seed, steps=30, verify=True):
    """Random acts on one simulation; only those that it took on a second one and on the reference engine."""
    rng, n = random.Random(seed), len(run.log)
    run = run.with_options(reservations=reservations_of(run, rng, (0, 0, 1, 3)))
    options = {name: getattr(run, name) for name in run.__dataclass_fields__ if name not in ("log", "machine", "_")}
    options |= {"scheduler": fs.External(order=run.scheduler.order, **kinds_of(run, rng)), "record": True}
    sims = [fs.Simulation(run.log, run.machine, engine=name, **options) for name in ("core", "core", "reference")]
    found, stale = [sim.advance() for sim in sims], []
    while found[0] is not None:
        d = found[0]
        steps -= 1
        assert seen(d) == seen(found[1]) == seen(found[2])
        for _ in range(rng.randrange(6) if steps > 0 else 0):
            act = random_act(rng, d, n, getattr(run.machine, "hosts", 0))
            before = seen(d)
            result = outcome(d, act)
            if verify:
                sims[0].verify()
            assert result == outcome(found[2], act), act
            if result == "refused" or act[0] not in CHANGES:
                assert seen(d) == before, act
            else:
                assert outcome(found[1], act) == result
            for old in stale:
                assert outcome(old, act) == "refused"
        if rng.random() < 0.2 and d.kind != "time":
            sims[0], stale = sims[0].copy(), []
            found[0] = sims[0].decision
        if steps <= 0 and d.kind in ("schedule", "time", "tick"):
            for job in range(n):
                assert len({outcome(each, ("release", (job,), {})) for each in found}) == 1
            for node in range(run.machine.nodes):
                assert len({outcome(each, ("resume", (node,), {})) for each in found}) == 1
        if steps <= 0 and d.kind in ("schedule", "time"):
            for each in found:
                easy(each)
        elif steps <= 0 and d.kind == "tick":  # where somebody waits, nothing else may ever happen
            for each in found:
                each.wake(d.now + 1)
        stale = [*stale[-3:], found[0]]
        until = d.now + rng.choice([0, 0.25, 5]) if steps > 0 and rng.random() < 0.3 else math.inf
        if steps > 0 or until < math.inf:
            followed = [advanced(sim, until) for sim in sims]
        else:
            followed = [sim.advance() for sim in sims]
        assert len({each == "deadlock" for each in followed}) == 1
        if followed[0] == "deadlock":
            steps, stale = 0, []
            continue
        found = followed
    assert_same(sims[0].result(), sims[1].result())
    for name in ("start", "finish", "runtime", "restarts", "allocated", "backfilled", "moves", "lost_work"):
        np.testing.assert_array_equal(sims[0].result().jobs[name], sims[2].result().jobs[name], name)


@given(runs(), st.integers(0, 2**32))
def test_random_acts_change_nothing_unless_they_are_taken(run, seed):
    check_run(run, seed)


@given(runs(on=pods()), st.integers(0, 2**32))
def test_the_same_on_pods(run, seed):
    check_run(run, seed)


@given(st.integers(0, 2**32))
def test_the_same_on_sites(seed):
    rng = np.random.default_rng(seed)
    check_run(drawn_run(rng, int(rng.integers(2, 14))), seed)


@given(runs(), st.integers(0, 2**32), st.sampled_from([ZeroDivisionError, KeyboardInterrupt, SystemExit]))
def test_an_exception_in_a_scheduler_leaves_everything_in_order(run, seed, kind):
    rng, kept, at = random.Random(seed), [], random.Random(seed).randrange(8)

    def decide(d):
        kept.append(d)
        for _ in range(rng.randrange(4)):
            outcome(d, random_act(rng, d, len(run.log)))
        if len(kept) > at:
            raise kind("mine")
        easy(d)

    options = {name: getattr(run, name) for name in run.__dataclass_fields__ if name not in ("log", "machine", "_")}
    sim = fs.Simulation(run.log, run.machine, **options | {"scheduler": ByHand(decide)})
    try:
        sim.run()
    except fs.DecisionError:  # all that wait are on hold, or for drained nodes
        assert len(sim.drained) or any(sim.why(job).cause == fs.Cause.ON_HOLD for job in range(len(run.log)))
    except kind:
        with pytest.raises(fs.EngineError, match="an exception broke off a scheduling pass"):
            sim.run()
        with pytest.raises(fs.EngineError, match="an exception broke off a scheduling pass"):
            sim.copy()
    assert {outcome(d, ("start", (0,), {})) for d in kept} <= {"refused"}
    sim.verify()


@pytest.mark.parametrize("scheduler", [fs.External(), fs.EasyBackfill(), ByHand(easy)], ids=lambda each: each.name)
def test_acts_from_another_thread(scheduler):
    sim = fs.Simulation(fs.synthetic.lublin(2000, rng=1, nodes=64), fs.Cluster(64), scheduler=scheduler, record=True)
    rng, broken = random.Random(1), []

    def go_on():
        while not broken:
            try:
                if sim.done:
                    return
                d = sim.advance()
                easy(d) if d is not None else None
            except (fs.DecisionError, fs.BusyError) as error:
                broken.extend([error] if "middle" not in str(error) and "over" not in str(error) else [])
                with contextlib.suppress(fs.DecisionError, fs.BusyError):
                    d = sim.decision  # where the other thread has spoiled a pass, all may wait
                    easy(d) if d is not None and "deadlock" in str(error) else None
                broken[:] = [each for each in broken if "deadlock" not in str(each)]

    acts = [lambda: sim.queue, lambda: sim.running, lambda: sim.next_time, sim.verify, sim.copy, lambda: sim.decision]
    acts += [lambda: d.start(rng.randrange(2000)), lambda: d.queue.wait, lambda: d.occupancy, lambda: d.requeue(d.now)]
    thread = threading.Thread(target=go_on)
    thread.start()
    d = None
    while thread.is_alive():
        with contextlib.suppress(fs.BusyError, fs.DecisionError, AttributeError, TypeError):
            d = sim.decision if rng.random() < 0.1 else d
            rng.choice(acts)()
    sim.verify()
    assert not broken
