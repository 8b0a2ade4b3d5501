"""Reservations and schedulers from outside: what they see, what is refused, and EASY by hand (model.md#decisions)."""

import random
from typing import Any

import numpy as np
import pytest

import faultsim as fs
from helpers.acted_runs import drawn
from helpers.deciders import ByHand, easy, fcfs

ENGINES = pytest.mark.parametrize("engine", ["core", "reference"])
REPAIR = fs.Reservation([2, 3], 20, 40, name="repair")
WHY = "it would end at 30 s and reach into reservation 'repair' of 20 s to 40 s"


def reserved(rng: random.Random, machine: Any) -> list[fs.Reservation]:
    """One to three reservations, some of them for users or repeated."""
    given = []
    for _ in range(rng.randint(1, 3)):
        begin, length, nodes = rng.randint(0, 80), rng.choice([3, 10, 25]), machine.nodes
        some = rng.choice(["all", sorted(rng.sample(range(nodes), rng.randint(1, nodes)))])
        every = rng.choice([None, None, length + 150, length + 200])
        given.append(fs.Reservation(some, begin, begin + length, users=rng.choice([None, None, 0, 1]), every=every))
    return given


@pytest.mark.parametrize("part", range(3))
def test_easy_by_hand_is_easy_on_both_engines(part: int) -> None:
    for seed in range(100 * part, 100 * part + 100):
        rng = random.Random(seed)
        log, machine, options = drawn(rng)
        order = rng.choice([None, None, fs.ShortestFirst()])
        name, decide = rng.choice([("fcfs", fcfs), ("easy", easy), ("easy", easy)])
        options |= {"reservations": reserved(rng, machine), "scheduler": ByHand(decide, order)}
        built_in = fs.Fcfs(order=order) if name == "fcfs" else fs.EasyBackfill(order=order)
        expected = fs.simulate(log, machine, **{**options, "scheduler": built_in})
        for engine in ("core", "reference"):
            result = fs.simulate(log, machine, engine=engine, **options)
            for column in ("start", "finish", "allocated", "backfilled", "restarts"):
                np.testing.assert_array_equal(result.jobs[column], expected.jobs[column], f"{seed} {engine}")
            for column in result.allocations:
                np.testing.assert_array_equal(result.allocations[column], expected.allocations[column], f"{seed}")
            assert result.ledger == pytest.approx(expected.ledger, rel=1e-9, abs=1e-6), seed


def decision(machine: Any, engine: str, size: int = 2, **options: Any) -> tuple[fs.Simulation, Any]:
    log = fs.Workload(submit=[0, 0], runtime=[30, 10], size=[size, size])
    if isinstance(machine, fs.Site):
        log = log.with_columns(cores=[size, size])
    options = {"reservations": REPAIR, "scheduler": fs.External(), "record": True} | options
    sim = fs.Simulation(log, machine, engine=engine, **options)
    return sim, sim.advance()


@ENGINES
def test_what_is_seen(engine: str) -> None:
    _, d = decision(fs.Cluster(4), engine)
    assert (d.closed(0).tolist(), d.closed(1).tolist(), d.free) == ([2, 3], [], 4)
    assert d.reserved(19).tolist() == []
    assert d.reserved(20).tolist() == [(2, 20, 40, 0), (3, 20, 40, 0)]
    assert (d.fits(0), d.fits(1), d.expected_end(0)) == (True, True, 30)
    assert (d.shadow(0), d.shadow(1)) == ((0, 0), (0, 2))
    with pytest.raises(fs.DecisionError, match="the window of reservations must be finite, got inf s"):
        d.reserved(np.inf)


@ENGINES
def test_occurrences_of_a_reservation_that_is_repeated(engine: str) -> None:
    sim, d = decision(fs.Cluster(4), engine, reservations=fs.Reservation([1], 5, 10, every=20))
    d.start(1, nodes=[2, 3])
    seen = {}
    while seen.keys() != {10, 26, 30}:
        d = sim.advance(until=30 if 26 in seen else 26)
        seen[d.now] = [row[1:3] for row in d.reserved(40).tolist()]
    assert seen == {10: [(25, 30), (45, 50)], 26: [(25, 30), (45, 50), (65, 70)], 30: [(45, 50), (65, 70)]}


@ENGINES
def test_a_job_is_refused_by_name(engine: str) -> None:
    _, d = decision(fs.Cluster(4), engine)
    with pytest.raises(fs.DecisionError, match=f"^job 0 cannot have node 3: {WHY}$"):
        d.start(0, nodes=[0, 3])
    d.start(1, nodes=[0, 2])
    open_ = "it needs 2 nodes and 1 of those that are free are open to it"
    with pytest.raises(fs.DecisionError, match=f"^job 0 cannot start: {open_}; on reserved nodes {WHY}$"):
        d.start(0)
    assert d.shadow(0) == (10, 0)


@ENGINES
def test_boxes_and_slices_leave_out_closed_nodes(engine: str) -> None:
    _, d = decision(fs.Torus(4, 1, 1), engine)
    assert d.boxes(0).tolist() == [[0, 0, 0, 2, 1, 1]]
    assert len(d.boxes(1)) == 4
    with pytest.raises(fs.DecisionError, match=rf"^job 0 cannot have box \(1, 0, 0, 2, 1, 1\): {WHY}$"):
        d.start(0, box=(1, 0, 0, 2, 1, 1))
    d.start(1, box=(0, 0, 0, 2, 1, 1))
    with pytest.raises(fs.DecisionError, match=f"no box of 2 nodes or more is free; on reserved nodes {WHY}$"):
        d.start(0)
    _, d = decision(fs.Pod((1, 1, 1), (2, 2, 2), 4), engine)
    assert d.slices(0).tolist() == [[0, 1]]
    with pytest.raises(fs.DecisionError, match=f"^job 0 cannot have node 2: {WHY}$"):
        d.start(0, nodes=[2, 3])
    _, d = decision(fs.Pod((1, 1, 4), (1, 1, 1), 1), engine, size=1)
    with pytest.raises(fs.DecisionError, match=f"^job 0 cannot have cube 3: {WHY}$"):
        d.start(0, cubes=[3])


@ENGINES
def test_nodes_that_jobs_share(engine: str) -> None:
    _, d = decision(fs.Site([fs.NodeClass("cpu", 4, cores=2, memory="8G")]), engine, size=5)
    assert (d.closed(0).tolist(), d.fits(0), d.fits(1)) == ([2, 3], False, True)
    with pytest.raises(fs.DecisionError, match=f"^job 0 cannot have node 2: {WHY}$"):
        d.start(0, nodes=[0, 1, 2])
    with pytest.raises(fs.DecisionError, match=f"it has no room on the nodes; on reserved nodes {WHY}$"):
        d.start(0)


@ENGINES
def test_a_job_does_not_move_to_where_it_would_reach_into_a_reservation(engine: str) -> None:
    sim, d = decision(fs.Cluster(4), engine, size=1, reservations=fs.Reservation([2, 3], 32, 40, name="repair"))
    d.start(0, nodes=[2])  # until 30
    d = sim.advance(until=5)
    with pytest.raises(fs.DecisionError, match="job 0 cannot have node 3: it would end at 33 s and reach into"):
        d.move(0, nodes=[3], checkpoint_cost=1, restart_cost=2)
    d.move(0, nodes=[3], checkpoint_cost=1, restart_cost=1)
    assert d.running.where[0].tolist() == [3]


@ENGINES
def test_its_users_may_have_the_nodes(engine: str) -> None:
    log = fs.Workload(submit=[0, 0], runtime=[30, 30], size=[2, 2], user=[7, 8])
    theirs = fs.Reservation([2, 3], 20, 40, users=7)
    sim = fs.Simulation(log, fs.Cluster(4), scheduler=fs.External(), reservations=theirs, engine=engine)
    d = sim.advance()
    assert (d.closed(0).tolist(), d.closed(1).tolist()) == ([], [2, 3])
    d.start(0, nodes=[1, 2])
    assert not d.fits(1)


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_window_with_too_many_reservations_is_refused(engine):
    log, every = fs.Workload([0.0], [1.0], [1]), fs.Reservation([0], 10, 11, every=20)
    sim = fs.Simulation(log, fs.Cluster(2), scheduler=fs.External(), reservations=[every], engine=engine)
    d = sim.advance()
    assert len(d.reserved(2e6)) == 100_000
    with pytest.raises(fs.DecisionError, match="too long: there are more than 1,000,000 rows"):
        d.reserved(1e300)
