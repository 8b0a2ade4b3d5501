"""The built-in schedulers again, decided from outside, and runs decided in that way."""

import math
from bisect import bisect_left
from collections import defaultdict
from itertools import accumulate

import numpy as np

import faultsim as fs
from helpers.scripts import script

fcfs, easy = script("deciders").fcfs, script("deciders").easy


class Conservative:
    """model.md#conservative, on a cluster: who waits has a reservation, and keeps it from pass to pass."""

    def __init__(self, nodes):
        self.nodes = nodes
        self.reserved = {}  # job: begin, end, size
        self.last = -math.inf

    def __call__(self, d):
        queue = d.queue
        waiting = list(zip(queue.tolist(), queue.size.tolist(), strict=True))
        self.reserved = {job: self.reserved[job] for job, _ in waiting if job in self.reserved}
        if d.disturbed or any(begin < d.now or begin == self.last for begin, _, _ in self.reserved.values()):
            self.reserved = {}
        self.last = d.now
        plan = Steps(self.in_use(d))
        for job, size in waiting:
            old = self.reserved.pop(job, None)
            if old is not None:
                plan.add(*old[:2], -size)
            new = plan.hole(d, job, size, self.nodes)
            if old is not None and (new is None or old[0] < new[0]):
                new = old
            if new is None:
                continue
            plan.add(*new[:2], size)
            if new[0] == d.now and size <= d.free:
                d.start(job)
            else:
                self.reserved[job] = new

    def in_use(self, d):
        """Time: by how much more nodes are in use from then on."""
        change = defaultdict(int)
        change[d.now] = 0
        held = set()
        running = d.running
        intervals = [(d.now, *row) for row in zip(running.expected_end.tolist(), running.size.tolist(), strict=True)]
        if len(d.down):
            held.update(*(nodes.tolist() for nodes in running.where))
        down = zip(d.down.tolist(), d.repairs.tolist(), strict=True)
        intervals += [(d.now, up, 1) for node, up in down if node not in held]
        for begin, end, size in (*intervals, *self.reserved.values()):
            if begin < end:
                change[begin] += size
                change[end] -= size
        return change


class Steps:
    """How many nodes are in use: used[i] of them from at[i] on; at[0] is now."""

    def __init__(self, change):
        self.at = sorted(change)
        self.used = list(accumulate(change[time] for time in self.at))

    def cut(self, time):
        i = bisect_left(self.at, time)
        if i == len(self.at) or self.at[i] != time:
            self.at.insert(i, time)
            self.used.insert(i, self.used[i - 1])
        return i

    def add(self, begin, end, size):
        """So many nodes more are in use; what takes no time takes no room."""
        if begin < end:
            first, last = self.cut(begin), self.cut(end)
            self.used[first:last] = [used + size for used in self.used[first:last]]

    def hole(self, d, job, size, nodes):
        """The earliest hole that is large enough for as long as the job is expected to take."""
        at, used, n, room = self.at, self.used, len(self.at), nodes - size
        first = 0
        while first < n and at[first] < math.inf:
            if used[first] > room:
                first += 1
                continue
            end = d.expected_end(job, at[first])
            last = first + 1
            while last < n and at[last] < end and used[last] <= room:
                last += 1
            if last == n or at[last] >= end:
                return at[first], end, size
            first = last
        return None


class ByHand(fs.Scheduler):
    """What decides from outside, inside."""

    def __init__(self, decide, order=None):
        self.decide = decide
        if order is not None:
            self.order = order

    def schedule(self, decision):
        self.decide(decision)


def decider_of(run):
    """What decides as the scheduler of a run does."""
    name = run.scheduler.name
    return Conservative(run.machine.nodes) if name == "conservative" else {"fcfs": fcfs, "easy": easy}[name]


def simulation(run, engine):
    options = {name: getattr(run, name) for name in run.__dataclass_fields__ if name not in ("log", "machine", "_")}
    return fs.Simulation(run.log, run.machine, engine=engine, **options)


def outside(run, decide, engine="core", verify=False):
    """A run whose passes the caller decides; `verify`: the invariants are checked after each act and each pass."""
    external = fs.External(order=run.scheduler.order, repairs=getattr(run.scheduler, "repairs", "known"))
    sim = simulation(run.with_options(scheduler=external), engine)
    while (d := sim.advance()) is not None:
        decide(Verified(d, sim) if verify else d)
        if verify:
            sim.verify()
    return sim.result()


class Verified:
    """A decision after each of whose acts the invariants are checked."""

    def __init__(self, decision, sim):
        self.decision, self.sim = decision, sim

    def __getattr__(self, name):
        return getattr(self.decision, name)

    def start(self, job):
        self.decision.start(job)
        self.sim.verify()

    def backfill(self, job):
        if self.decision.backfill(job):
            self.sim.verify()


def inside(run, decide, engine="core", verify=False):
    """A run whose passes a `Scheduler` decides; `verify`: the invariants are checked after each instant (core)."""
    run = run.with_options(scheduler=ByHand(decide, run.scheduler.order))
    if not verify or engine == "reference":
        return run.simulate(engine=engine)
    sim = simulation(run, engine)
    while sim.step():
        sim.verify()
    return sim.result()


def assert_same(result, expected):
    for name, column in expected.jobs.items():
        assert np.array_equal(result.jobs[name], column, equal_nan=column.dtype.kind == "f"), name
    assert result.ledger == expected.ledger
    assert result.counters == expected.counters
    if expected.record.settings["record"]:
        for name, column in expected.events.items():
            assert np.array_equal(result.events[name], column), name
