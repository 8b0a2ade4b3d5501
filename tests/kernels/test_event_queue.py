"""The event queue and its twin: the order of model.md#events."""

import copy
import heapq
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import faultsim as fs
from faultsim.reference.containers.event_queue import EventQueue as SlowQueue
from helpers.refusals import refused

QUEUES = {"fast": fs.EventQueue, "slow": SlowQueue}

# Few different times, so that ties happen; and the edges of every type.
times = st.sampled_from([-math.inf, -1.0, -0.0, 0.0, 0.5, 1.0, math.inf]) | st.floats(allow_nan=False)
kinds = st.integers(0, 5) | st.sampled_from([-(2**31), 2**31 - 1])
payloads = st.integers(0, 9) | st.sampled_from([-(2**63), 2**63 - 1])
events = st.tuples(times, kinds, payloads)


@pytest.fixture(params=list(QUEUES))
def make(request):
    return QUEUES[request.param]


def drain(queue):
    return [queue.pop() for _ in range(len(queue))]


class Machine(RuleBasedStateMachine):
    """Pushes, pops and copies in any order; the model is Python's own heap of tuples."""

    def __init__(self):
        super().__init__()
        self.queues = [make() for make in QUEUES.values()]
        self.model = []

    @rule(batch=st.lists(events, min_size=1, max_size=40))
    def push(self, batch):
        for event in batch:
            heapq.heappush(self.model, event)
            for queue in self.queues:
                queue.push(*event)

    @precondition(lambda self: self.model)
    @rule(share=st.floats(0, 1))
    def pop(self, share):
        for _ in range(max(1, int(share * len(self.model)))):
            expected = heapq.heappop(self.model)
            assert [queue.pop() for queue in self.queues] == [expected] * len(self.queues)

    @rule()
    def copy(self):
        copies = [queue.copy() for queue in self.queues]
        for queue in self.queues:
            queue.clear()
        self.queues = copies

    @rule()
    def clear(self):
        self.model.clear()
        for queue in self.queues:
            queue.clear()

    @invariant()
    def agrees(self):
        for queue in self.queues:
            assert len(queue) == len(self.model)
            assert bool(queue) == bool(self.model)
            if self.model:
                assert queue.peek() == self.model[0]
        assert self.queues[0]._heap.verify()


TestMachine = Machine.TestCase


@given(batch=st.lists(events, max_size=200))
def test_drains_in_sorted_order(batch):
    for queue_class in QUEUES.values():
        queue = queue_class()
        for event in batch:
            queue.push(*event)
        assert drain(queue) == sorted(batch)


def test_ties_are_broken_by_kind_then_payload(make):
    queue = make()
    for event in [(1.0, 5, 0), (1.0, 0, 9), (1.0, 0, 2), (0.5, 5, 7)]:
        queue.push(*event)
    assert drain(queue) == [(0.5, 5, 7), (1.0, 0, 2), (1.0, 0, 9), (1.0, 5, 0)]


def test_large_queue_holds_its_order(make):
    rng = np.random.default_rng(1)
    n = 20_000
    rows = list(zip(rng.integers(0, 500, n).astype(float), rng.integers(0, 6, n), rng.integers(0, 50, n), strict=True))
    queue = make()
    for row in rows:
        queue.push(*row)
    assert drain(queue) == sorted(rows)


def test_values_come_back_as_plain_numbers(make):
    queue = make()
    queue.push(np.float64(2), np.int8(3), np.uint16(4))
    assert [type(value) for value in queue.pop()] == [float, int, int]


def test_empty_queue_says_so(make):
    queue = make()
    refused(IndexError, "pop from an empty event queue", queue.pop)
    refused(IndexError, "peek at an empty event queue", queue.peek)
    queue.push(0.0, 0, 0)
    queue.pop()
    refused(IndexError, "empty", queue.pop)


@pytest.mark.parametrize(
    ("event", "says"),
    [
        ((math.nan, 0, 0), "time must be a number of seconds, not nan"),
        (("1", 0, 0), "time must be a number of seconds, not '1'"),
        ((None, 0, 0), "time must be a number of seconds, not None"),
        ((0.0, 1.5, 0), "kind must be a whole number, not 1.5"),
        ((0.0, 2**31, 0), "kind must lie in -2147483648..2147483647"),
        ((0.0, 0, "a"), "payload must be a whole number, not 'a'"),
        ((0.0, 0, 2**63), "payload must lie in"),
    ],
)
def test_bad_events_are_refused(event, says):
    queue = fs.EventQueue([(1.0, 2, 3)])
    refused(fs.InputError, says, queue.push, *event)
    assert drain(queue) == [(1.0, 2, 3)]


def test_copies_and_pickles_are_of_their_own():
    queue = fs.EventQueue([(2.0, 0, 1), (1.0, 0, 2)])
    for other in (copy.copy(queue), copy.deepcopy(queue), pickle.loads(pickle.dumps(queue))):
        assert drain(other) == [(1.0, 0, 2), (2.0, 0, 1)]
    assert len(queue) == 2


def test_repr_names_the_next_event():
    assert repr(fs.EventQueue()) == "<EventQueue: 0 events>"
    assert repr(fs.EventQueue([(2.0, 0, 1)])) == "<EventQueue: 1 event, next (2.0, 0, 1)>"
