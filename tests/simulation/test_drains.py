"""Drained nodes (model.md#drained): cases by hand, refusals, and random runs on both engines."""

import pickle
import random

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import FaultsimError
from helpers.acted_runs import drawn

ENGINES = pytest.mark.parametrize("engine", ["core", "reference"])


def run(seed: int, engine: str, **given: object) -> tuple[fs.Result, list[object]] | None:
    """A run with drains at random times; all nodes are resumed at the end.

    None where the machine cannot have what is `given`.
    """
    rng = random.Random(seed)
    log, machine, options = drawn(rng)
    if given:
        if machine.name != "cluster":
            return None
        log, options = log[log.size < machine.nodes], options | given  # a spare node has room, too
    sim = fs.Simulation(log, machine, engine=engine, **options)
    seen: list[object] = []
    now = float(log.submit[0])
    for _ in range(rng.randint(1, 8)):
        now += rng.choice([0, 1, 5, 17])
        decision = sim.advance(until=now)
        assert decision is not None
        reasons = [sim.why(row) for row in decision.queue.tolist()]
        assert not [each for each in reasons if each.cause == fs.Cause.NEXT_PASS], seed
        seen.append([str(each) for each in reasons] if options.get("reservations") or len(sim.drained) else "")
        act = decision if rng.random() < 0.3 else sim
        for node in rng.sample(range(machine.nodes), rng.randint(1, min(5, machine.nodes))):
            (act.resume if node in sim.drained else act.drain)(node)
        seen.append((sim.drained.tolist(), decision.queue.tolist(), decision.running.tolist()))
    sim.advance(until=now + rng.choice([0, 40]))
    for node in sim.drained.tolist():
        sim.resume(node)
    sim.advance()
    return sim.result(), seen


def check(first: int, last: int, **given: object) -> int:
    drains = 0
    for seed in range(first, last):
        found, other = run(seed, "core", **given), run(seed, "reference", **given)
        if found is None or other is None:
            continue
        (core, seen), (plain, expected) = found, other
        assert seen == expected, seed
        for name in ("start", "finish", "allocated", "backfilled", "restarts"):
            np.testing.assert_array_equal(core.jobs[name], plain.jobs[name], err_msg=f"{seed} {name}")
        for name in core.allocations:
            np.testing.assert_array_equal(core.allocations[name], plain.allocations[name], err_msg=f"{seed} {name}")
        assert core.ledger == pytest.approx(plain.ledger, rel=1e-9, abs=1e-6), seed
        drains += core.ledger["drained"] > 0
    return drains


@pytest.mark.parametrize(
    ("given", "least"),
    [
        ({}, 60),
        ({"scheduler": "preemptive:order=shortest"}, 30),
        ({"migration": "least_failures"}, 30),
        ({"recovery": fs.HotSpares(1, restart_cost=1)}, 30),
    ],
    ids=str,
)
def test_both_engines_agree(given, least):
    assert check(0, 150, **given) > least


LOG = fs.Workload(submit=[0, 0, 0], runtime=[10, 20, 5], size=[2, 2, 4])


@ENGINES
@pytest.mark.parametrize("scheduler", ["fcfs", "easy", "backfill:3", "conservative"])
@pytest.mark.parametrize("machine", [fs.Cluster(4), fs.Torus(2, 2, 1), fs.Pod((1, 1, 1), (2, 2, 2), 4)])
def test_jobs_go_on_and_none_starts(engine, scheduler, machine):
    sim = fs.Simulation(LOG, machine, scheduler=scheduler, engine=engine, record=True)
    sim.advance(until=4)
    sim.drain(0)
    assert (sim.advance(until=30).running.tolist(), sim.drained.tolist()) == ([], [0])
    sim.resume(0)
    sim.advance()
    result = sim.result()
    assert result.jobs["start"].tolist() == [0, 0, 30]
    assert result.jobs["finish"].tolist() == [10, 20, 35]
    assert result.ledger["drained"] in (30 - 10, 30 - 20)  # as job 0 or job 1 had node 0
    assert sum(result.ledger.values()) == 4 * 35


@ENGINES
def test_other_jobs_pass_one_that_needs_a_drained_node(engine):
    log = fs.Workload(submit=[1, 2], runtime=[10, 500], size=[4, 3])
    starts = {}
    for scheduler in ("fcfs", "easy"):
        sim = fs.Simulation(log, fs.Cluster(4), scheduler=scheduler, engine=engine, record=True)
        sim.drain(3)
        sim.advance(until=1000)
        sim.resume(3)
        sim.advance()
        starts[scheduler] = sim.result().jobs["start"].tolist()
    assert starts == {"fcfs": [1000, 1010], "easy": [1000, 2]}


@ENGINES
def test_a_run_that_waits_for_a_drained_node_goes_on_after_resume(engine):
    sim = fs.Simulation(LOG, fs.Cluster(4), engine=engine, record=True)
    sim.drain(0)
    with pytest.raises(fs.DecisionError, match=r"deadlock: .* 1 nodes are drained \(resume them\)"):
        sim.advance()
    sim.resume(0)
    sim.advance()
    assert sim.result().jobs["start"].tolist() == [0, 10, 30]


@ENGINES
@pytest.mark.parametrize(
    ("options", "act", "node", "said"),
    [
        ({"record": True}, "drain", 4, "there is no node 4: nodes are 0 to 3"),
        ({"record": True}, "drain", "a", "a node is named by a whole number, not by 'a'"),
        ({"record": True}, "resume", 1, "node 1 is not drained"),
        ({}, "drain", 1, "drain needs: give record=True"),
    ],
)
def test_what_is_refused(engine, options, act, node, said):
    sim = fs.Simulation(LOG, fs.Cluster(4), engine=engine, **options)
    with pytest.raises(FaultsimError, match=said):
        getattr(sim, act)(node)
    assert sim.drained.tolist() == []


@ENGINES
def test_a_node_is_drained_once(engine):
    sim = fs.Simulation(LOG, fs.Cluster(4), engine=engine, record=True)
    sim.drain(2)
    with pytest.raises(fs.DecisionError, match="node 2 is drained already"):
        sim.drain(2)


def test_copies_and_pickles_have_drains_of_their_own():
    sim = fs.Simulation(LOG, fs.Cluster(4), scheduler="conservative", record=True)
    sim.advance(until=4).drain(0)
    copy, stored = sim.copy(), pickle.loads(pickle.dumps(sim))
    sim.resume(0)
    sim.run()
    assert sim.result().jobs["start"].tolist() == [0, 0, 20]
    for other in (copy, stored):
        assert other.drained.tolist() == [0]
        other.advance(until=50)
        other.resume(0)
        other.run()
        assert other.result().jobs["start"].tolist() == [0, 0, 50]


def test_a_caller_that_owns_time_drains_nodes():
    sim = fs.Simulation(LOG, fs.Cluster(4), live=10)
    sim.advance(until=4)
    sim.drain(0)
    sim.submit(fs.Workload(submit=[5], runtime=[3], size=[3]))
    assert sim.advance(until=30).queue.tolist() == [2]
    sim.resume(0)
    sim.run()
    assert sim.result().jobs["start"].tolist() == [0, 0, 30, 20]  # nothing is known to end the wait of job 2
