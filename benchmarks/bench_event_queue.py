"""The event queue from Python: events a second, against the standard library's heap and the plain twin.

A hold step takes the next event and puts one at a random time after it, at a constant number of events held; that is
what a simulation does.  The engine calls the same heap without Python in between.

    pytest benchmarks/bench_event_queue.py --benchmark-enable -s
"""

import heapq

import numpy as np
import pytest

import faultsim as fs
from faultsim.reference.containers.event_queue import EventQueue as SlowQueue

STEPS = 20_000


class HeapQueue:
    """Tuples in a list under `heapq`, as most simulators in Python have it."""

    def __init__(self):
        self.events = []

    def push(self, time, kind, payload):
        heapq.heappush(self.events, (time, kind, payload))

    def pop(self):
        return heapq.heappop(self.events)


QUEUES = {"faultsim": fs.EventQueue, "heapq": HeapQueue, "reference": SlowQueue}


def hold(queue, gaps):
    for gap in gaps:
        time, kind, payload = queue.pop()
        queue.push(time + gap, kind, payload)


@pytest.mark.parametrize("held", [100, 10_000])
@pytest.mark.parametrize("name", QUEUES)
def test_event_queue(benchmark, name, held):
    rng = np.random.default_rng(0)
    queue = QUEUES[name]()
    for job, time in enumerate(rng.exponential(1.0, held).tolist()):
        queue.push(time, 0, job)
    benchmark.group = f"{held} events held"
    benchmark(hold, queue, rng.exponential(1.0, STEPS).tolist())
    assert queue.pop()[0] > 0
    if benchmark.stats:
        rate = STEPS / benchmark.stats.stats.min
        benchmark.extra_info["events/s"] = rate
        print(f"\n{name}, {held:,} events held: {rate:,.0f} events/s")
