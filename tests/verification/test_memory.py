"""Many small simulations, of every kind and ended in every way, leave no memory behind."""

import gc
import os
import weakref
from pathlib import Path

import numpy as np
import pytest

import faultsim as fs
from faultsim._core.torus.chooser import Chooser
from faultsim._core.torus.occupancy import Torus
from helpers.refusals import refused
from helpers.thresholds import default

STATM = Path("/proc/self/statm")


def resident():
    gc.collect()
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Breaks(Exception):
    pass


class BreakingOrder(fs.QueueOrder):
    def __init__(self, asked):
        self.asked = asked

    def keys(self, queue, now):
        self.asked -= 1
        if self.asked < 0:
            raise Breaks
        return queue.size


class BreakingPlacement(fs.Placement):
    def __init__(self, asked):
        self.asked = asked

    def choose(self, job, candidates, state):
        self.asked -= 1
        if self.asked < 0:
            raise Breaks
        return len(candidates) - 1


def some_kind(i, rng):
    n = 30
    log = fs.Workload(
        submit=np.sort(rng.integers(0, 60, n)), runtime=rng.integers(0, 40, n), estimate=rng.integers(0, 60, n),
        size=rng.integers(1, 33, n),
    )  # fmt: skip
    orders = [fs.ArrivalOrder(), fs.ShortestFirst(), fs.Wfp3(), BreakingOrder(i % 31)]
    schedulers = [fs.Fcfs, fs.EasyBackfill, fs.ConservativeBackfill]
    options = {
        "scheduler": schedulers[i % 3](order=orders[i // 3 % 4]),
        "record": i % 5 < 2,
        "start_delay": i % 2 * 2.0,
    }
    if i // 12 % 2:
        return log, fs.Cluster(32), options
    placements = [fs.FirstFit(), fs.MaxFreePartition(), BreakingPlacement(i % 23)]
    options |= {"placement": placements[i // 24 % 3], "migration": fs.Defragment(cost=1.0) if i % 7 < 3 else None}
    return log, fs.Torus(4, 4, 2), options


def simulate_some(first, last):
    broken = 0
    for i in range(first, last):
        log, machine, options = some_kind(i, np.random.default_rng(i))
        sim = fs.Simulation(log, machine, **options)
        try:
            for _ in range(i % 13):
                sim.step()
            fork = sim.copy()
            fork.copy().step()  # let go of half way
            fork.run()
            fork.result()
        except Breaks:
            broken += 1
    return broken


@pytest.mark.slow
@pytest.mark.skipif(not STATM.exists(), reason="the resident size is read from /proc")
def test_many_simulations_leave_nothing_behind():
    simulate_some(0, 1500)  # the allocators reach their working size
    before = resident()
    broken = simulate_some(1500, 9000)
    assert broken > 500
    assert resident() - before < 3_000_000  # a leak of 400 bytes a simulation would show


@pytest.mark.parametrize("policy", ["order", "placement"])
def test_what_an_exception_broke_off_cannot_go_on(policy):
    log = fs.Workload(submit=[0, 1, 2], runtime=[5, 5, 5], size=[2, 2, 2])
    rule = BreakingOrder(1) if policy == "order" else BreakingPlacement(1)
    options = {"scheduler": fs.EasyBackfill(order=rule)} if policy == "order" else {"placement": rule}
    sim = fs.Simulation(log, fs.Torus(1, 1, 4), **options)
    fork = sim.copy()
    with pytest.raises(Breaks):
        sim.run()
    for on in (sim.run, sim.step, sim.copy):
        refused(fs.errors.EngineError, "cannot go on", on)
    rule.asked = 100
    fork.run()
    assert fork.done


def test_a_policy_cannot_drive_the_simulation_that_asks_it():
    class Meddler(fs.QueueOrder):
        def keys(self, queue, now):
            refused(fs.BusyError, "in the middle of a step", self.sim.step)
            refused(fs.BusyError, "in the middle of a step", self.sim.copy)
            self.seen = self.sim.free, len(self.sim.running)
            return queue.size

    order = Meddler()
    log = fs.Workload(submit=[0, 1, 2], runtime=[5, 5, 5], size=[2, 2, 2])
    order.sim = fs.Simulation(log, fs.Cluster(4), scheduler=fs.Fcfs(order=order))
    order.sim.run()
    assert order.sim.result().metrics["n_jobs"] == 3
    assert order.seen[0] in (0, 2, 4)


def test_a_look_at_the_queue_inside_of_a_policy_lets_it_do_no_more():
    """Nor is the queue sorted while it is being sorted."""

    class Looks(fs.QueueOrder):
        def keys(self, queue, now):
            self.seen.append(len(self.sim.queue))
            refused(fs.BusyError, "in the middle of a step", self.sim.step)
            return queue.size

    order = Looks()
    order.seen = []
    log = fs.Workload(submit=[0, 1, 2], runtime=[5, 5, 5], size=[2, 2, 2])
    order.sim = fs.Simulation(log, fs.Cluster(2), scheduler=fs.Fcfs(order=order))
    order.sim.run(until=3)
    asked = len(order.seen)
    assert order.sim.queue.tolist() == [1, 2]
    assert order.seen[asked:] == [2]
    order.sim.run()
    assert order.sim.done


def test_a_look_at_the_queue_while_a_decision_asks_where_lets_nobody_act():
    class Looks(fs.Placement):
        def choose(self, job, candidates, state):
            self.seen.append(self.sim.queue.tolist())
            refused(fs.BusyError, "in the middle of a step", self.sim.step)
            return 0

    rule = Looks()
    rule.seen = []
    log = fs.Workload(submit=[0, 0, 0], runtime=[5, 5, 5], size=[2, 2, 2])
    rule.sim = fs.Simulation(log, fs.Torus(1, 1, 4), scheduler=fs.External(), placement=rule)
    d = rule.sim.advance()
    d.start(0)
    d.start(1)
    assert (rule.seen[0], rule.sim.now, rule.sim.free) == ([0, 1, 2], 0, 0)


def test_classes_of_policies_that_nobody_needs_are_forgotten():
    log = fs.Workload(submit=[0, 1], runtime=[5, 5], size=[2, 2])
    made = []
    for _ in range(600):

        class Own(fs.QueueOrder):
            def keys(self, queue, now):
                return queue.size

        fs.simulate(log, fs.Cluster(4), scheduler=fs.Fcfs(order=Own()))
        made.append(weakref.ref(Own))
    del Own
    gc.collect()
    assert sum(cls() is not None for cls in made) <= 300


@pytest.mark.skipif(not STATM.exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("rule", ["first_fit", "max_free_partition"])
@pytest.mark.parametrize("shape", [(4, 4, 8), (6, 5, 7)])
def test_questions_that_are_answered_afresh_need_no_more_memory(shape, rule):
    """As benchmarks ask, of a full machine, an empty one, and one with room for 4 nodes at most."""
    busy = np.ones((3, *shape), np.uint8)
    busy[1], busy[2, :2, :2, 0] = 0, 0
    with default():  # at the least, a choice is stored for one question alone
        chooser = Chooser(Torus(*shape))
    before = resident() if chooser.repeat(rule, busy, 4, 10) else 0
    for size, fits in ((4, 2), (5, 1)):
        assert chooser.repeat(rule, busy, size, 1000) == 1000 * fits
    assert resident() - before < 8 << 20
