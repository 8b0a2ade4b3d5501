"""The built-in schedulers again, decided from outside, and runs decided in that way."""

import math
from collections import defaultdict

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
        change = self.in_use(d)
        for job, size in waiting:
            old = self.reserved.pop(job, None)
            if old is not None:
                add(change, *old[:2], -size)
            new = self.hole(d, change, job, size)
            if old is not None and (new is None or old[0] < new[0]):
                new = old
            if new is None:
                continue
            add(change, *new[:2], size)
            if new[0] == d.now and size <= d.free:
                d.start(job)
            else:
                self.reserved[job] = new

    def in_use(self, d):
        """Time: by how much more nodes are in use from then on."""
        change = defaultdict(int)
        change[d.now] = 0
        running = d.running
        for end, size in zip(running.expected_end.tolist(), running.size.tolist(), strict=True):
            if end > d.now:
                add(change, d.now, end, size)
        held = set(np.concatenate([np.empty(0, int), *running.where]).tolist()) if len(d.down) else ()
        for node, up in zip(d.down.tolist(), d.repairs.tolist(), strict=True):
            if node not in held:
                add(change, d.now, up, 1)
        for begin, end, size in self.reserved.values():
            add(change, begin, end, size)
        return change

    def hole(self, d, change, job, size):
        """The earliest hole that is large enough for as long as the job is expected to take."""
        times = sorted(change)
        used = np.cumsum([change[t] for t in times]).tolist()
        n, room = len(times), self.nodes - size
        first = times.index(d.now)
        while first < n and times[first] < math.inf:
            if used[first] > room:
                first += 1
                continue
            end = d.expected_end(job, times[first])
            last = first + 1
            while last < n and times[last] < end and used[last] <= room:
                last += 1
            if last == n or times[last] >= end:
                return times[first], end, size
            first = last
        return None


def add(change, begin, end, size):
    """So many nodes more are in use; what takes no time takes no room."""
    if begin < end:
        change[begin] += size
        change[end] -= size


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


def outside(run, decide, engine="core", verify=False):
    """A run whose passes the caller decides; `verify`: the invariants are checked after each."""
    options = {name: getattr(run, name) for name in run.__dataclass_fields__ if name not in ("log", "machine", "_")}
    options["scheduler"] = fs.External(order=run.scheduler.order, repairs=getattr(run.scheduler, "repairs", "known"))
    sim = fs.Simulation(run.log, run.machine, engine=engine, **options)
    while (d := sim.advance()) is not None:
        decide(d)
        if verify:
            sim.verify()
    return sim.result()


def inside(run, decide, engine="core"):
    """A run whose passes a `Scheduler` decides."""
    return run.with_options(scheduler=ByHand(decide, run.scheduler.order)).simulate(engine=engine)


def assert_same(result, expected):
    for name, column in expected.jobs.items():
        assert np.array_equal(result.jobs[name], column), name
    assert result.ledger == expected.ledger
    assert result.counters == expected.counters
    if expected.record.settings["record"]:
        for name, column in expected.events.items():
            assert np.array_equal(result.events[name], column), name
