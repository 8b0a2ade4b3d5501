"""Reservations and drained nodes where jobs share nodes (model.md#site-absences)."""

import numpy as np
import pytest
from core.test_site_engines import both

import faultsim as fs
from helpers.engines import assert_same
from helpers.site_runs import drawn_run

ENGINES = ("core", "reference")
SITE = fs.Site(
    [fs.NodeClass("cpu", 3, cores=8, memory="64M"), fs.NodeClass("gpu", 2, cores=4, memory="32M", gpus=2)],
    [fs.Partition("all", "cpu,gpu", default=True), fs.Partition("gpus", "gpu")],
)
SCHEDULERS = ("fcfs", "easy", "backfill:depth=3", "conservative")


def drawn(rng, n):
    """A run with reservations, of users or of none."""
    run = drawn_run(rng, n)
    while isinstance(run.scheduler, fs.Preemptive):
        run = drawn_run(rng, n)
    reservations = []
    for _ in range(int(rng.integers(1, 4))):
        begin, length = float(rng.integers(0, 3 * n)), float(rng.integers(1, 40))
        nodes = "all" if rng.random() < 0.2 else np.unique(rng.integers(0, run.machine.nodes, rng.integers(1, 5)))
        reservations.append(
            fs.Reservation(
                nodes if isinstance(nodes, str) else nodes.tolist(), begin, begin + length,
                users=None if rng.random() < 0.6 else 0, overrun=str(rng.choice(["wait", "wait", "kill"])),
                every=length + float(rng.integers(70, 190)) if rng.random() < 0.3 else None,
            )
        )  # fmt: skip
    return run.with_options(reservations=reservations)


@pytest.mark.parametrize("part", range(6))
def test_both_engines_agree(part):
    rng = np.random.default_rng([44, 3, part])
    for _ in range(12):
        assert_same(*both(drawn(rng, int(rng.integers(2, 30)))))


def drain(seed, engine):
    """A run with drains at random times; all nodes are resumed at the end."""
    rng = np.random.default_rng([44, 4, seed])
    run = drawn(rng, int(rng.integers(2, 20)))
    refused = run.machine.refusals(run.machine.prepared(run.log))
    kept = np.array([row not in refused for row in range(len(run.log))])
    run = run.with_options(log=run.log[kept], oversized="error")
    if rng.random() < 0.6:
        run = run.with_options(reservations=None)
    options = {name: getattr(run, name) for name in fs.Run.__dataclass_fields__ if name not in ("log", "machine", "_")}
    sim = fs.Simulation(run.log, run.machine, engine=engine, **options)
    seen, now = [], float(run.log.submit[0])
    for _ in range(int(rng.integers(1, 7))):
        now += float(rng.choice([0, 1, 5, 17]))
        decision = sim.advance(until=now)
        if decision is None:
            break
        queue = sorted(decision.queue.tolist())
        seen.append([str(sim.why(job)) for job in queue] if run.reservations or len(sim.drained) else "")
        seen.append([decision.shadow(job) for job in queue])
        for node in rng.choice(run.machine.nodes, rng.integers(1, 4)):
            (sim.resume if node in sim.drained else sim.drain)(int(node))
        if engine == "core":
            sim.verify()
        seen.append((sim.drained.tolist(), queue, decision.running.tolist()))
    for node in sim.drained.tolist():
        sim.resume(node)
    sim.advance()
    return sim.result(), seen


def test_both_engines_agree_on_drains_and_reasons():
    drained = 0
    for seed in range(40):
        (core, seen), (plain, expected) = drain(seed, "core"), drain(seed, "reference")
        assert seen == expected, seed
        for name in ("start", "finish", "allocated", "backfilled", "restarts"):
            np.testing.assert_array_equal(core.jobs[name], plain.jobs[name], err_msg=f"{seed} {name}")
        assert core.ledger == pytest.approx(plain.ledger, rel=1e-9, abs=1e-6), seed
        drained += core.ledger["drained"] > 0
    assert drained > 10


def log_of(cores, **columns):
    n = len(cores)
    return fs.Workload([0] * n, [10] * n, [1] * n, columns={"cores": cores, "nodes": [1] * n, **columns})


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("where", [[3, 4], "3-4", "classes=gpu", "partition=gpus"])
def test_jobs_stay_off_reserved_nodes(engine, scheduler, where):
    """Jobs of 10 s with GPUs wait for the end of the reservation, and others take the rest of the site."""
    log = log_of([2, 2, 2, 8, 8], gpus=[1, 0, 2, 0, 0])
    reservation = fs.Reservation(where, 5, 40, name="repair")
    found = fs.simulate(log, SITE, scheduler=scheduler, reservations=reservation, engine=engine)
    waits = [40, 40, 40, 40, 40] if scheduler == "fcfs" else [40, 0, 40, 0, 0]
    assert found.jobs["start"].tolist() == waits
    assert found.ledger["reserved"] == 8 * 35


@pytest.mark.parametrize("engine", ENGINES)
def test_jobs_that_are_still_there_are_killed_and_users_are_not(engine):
    log = fs.Workload([0] * 3, [10] * 3, [1] * 3, estimate=[3] * 3, user=[0, 1, 0], columns={"cores": [2, 2, 2]})
    reservation = fs.Reservation([0], 5, 40, users=1, overrun="kill")
    found = fs.simulate(log, "site:a=1x8c", reservations=reservation, engine=engine)
    assert found.jobs["finish"].tolist() == [5, 10, 5]


@pytest.mark.parametrize("engine", ENGINES)
def test_why_names_reservations_and_drains(engine):
    log = log_of([4, 4], gpus=[2, 2])
    repair = fs.Reservation("classes=gpu", 5, 40, name="repair")
    sim = fs.Simulation(log, SITE, reservations=repair, engine=engine)
    sim.advance(until=1)
    assert str(sim.why(0)).startswith("nodes reserved: would reach into reservation 'repair' of 5 s to 40 s")
    sim = fs.Simulation(log, SITE, engine=engine)
    sim.drain(3)
    sim.drain(4)
    sim.advance(until=1)
    assert str(sim.why(0)) == (
        "nodes drained: needs 1 node with 4 cores and 2 GPUs, 0 of those that are free are not drained"
    )


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"classes": "gpus"}, "the site has no node class 'gpus' .did you mean 'gpu'.*; it has cpu, gpu"),
        ({"partition": "night"}, "the site has no partition 'night'; it has all, gpus"),
        ({"nodes": [5]}, "has no node 5"),
    ],
)
def test_unknown_classes_partitions_and_nodes_are_named(where, message):
    with pytest.raises(fs.InputError, match=message):
        fs.simulate(log_of([1]), SITE, reservations=fs.Reservation(**where, begin=0, end=1))
    with pytest.raises(fs.InputError, match="has no node classes and no partitions"):
        fs.simulate(
            fs.Workload([0], [1], [1]), fs.Cluster(4), reservations=fs.Reservation("classes=cpu", begin=0, end=1)
        )


def test_reservations_of_classes_and_partitions_have_text_forms():
    for text in ("classes=cpu+gpu:begin=0.0,end=1.0", "partition=gpus:begin=0.0,end=1.0,name=x"):
        (each,) = fs.Run(log_of([1]), SITE, reservations=text).reservations
        assert str(each) == text
        assert repr(each).startswith("Reservation(classes='cpu+gpu'" if "cpu" in text else "Reservation(partition=")
    for given in ({"classes": [1]}, {"partition": 3}, {"classes": "a", "nodes": [1]}):
        with pytest.raises(fs.OptionError):
            fs.Reservation(**given, begin=0, end=1)


def change(seed, engine):
    """A run with changes of waiting jobs at random times."""
    rng = np.random.default_rng([44, 5, seed])
    run = drawn(rng, int(rng.integers(4, 20)))
    refused = run.machine.refusals(run.machine.prepared(run.log))
    kept = np.array([row not in refused for row in range(len(run.log))])
    run = run.with_options(log=run.log[kept], oversized="error", checkpointing=None, reservations=None)
    options = {name: getattr(run, name) for name in fs.Run.__dataclass_fields__ if name not in ("log", "machine", "_")}
    sim = fs.Simulation(run.log, run.machine, engine=engine, **options)
    seen, now = [], float(run.log.submit[0])
    for _ in range(int(rng.integers(1, 7))):
        now += float(rng.choice([0, 1, 5, 17]))
        if (decision := sim.advance(until=now)) is None or not len(decision.queue):
            continue
        given = {"estimate": float(rng.choice([0.5, 1, 7, 30])), "begin": now + float(rng.choice([1, 9]))}
        if "priority" in run.log.columns:
            given["priority"] = float(rng.integers(0, 4))
        names = rng.permutation(sorted(given))[: rng.integers(1, 3)]
        job = int(rng.choice(sorted(decision.queue.tolist())))
        try:
            sim.change(job, **{name: given[name] for name in names})
            seen.append((job, now))
        except fs.errors.FaultsimError as error:
            seen.append(str(error))
    sim.advance()
    return sim.result(), seen


@pytest.mark.parametrize("part", range(3))
def test_both_engines_agree_on_changes(part):
    changed = 0
    for seed in range(20 * part, 20 * part + 20):
        (core, said), (plain, plainly) = (change(seed, engine) for engine in ENGINES)
        assert said == plainly, seed
        for name in ("eligible", "start", "finish", "size", "allocated", "backfilled", "restarts"):
            np.testing.assert_array_equal(core.jobs[name], plain.jobs[name], err_msg=f"{seed} {name}")
        assert core.ledger == pytest.approx(plain.ledger, rel=1e-9, abs=1e-6), seed
        changed += sum(not isinstance(each, str) for each in said)
    assert changed > 5


@pytest.mark.parametrize("engine", ENGINES)
def test_sizes_do_not_change(engine):
    log = fs.Workload(submit=[0, 0], runtime=[9, 9], size=[32, 24]).with_columns(cores=[32, 24])
    sim = fs.Simulation(log, SITE, engine=engine)
    sim.advance(until=1)
    with pytest.raises(fs.errors.NotAvailableError, match="change is not available for sizes on a site"):
        sim.change(1, size=2)
