"""The plan of free nodes over time, and its plain twin."""

import math

from hypothesis import given
from hypothesis import strategies as st

from faultsim._core.scheduling.profile import Profile

TIMES = st.integers(0, 400).map(float)
ACTS = st.tuples(st.sampled_from(["add", "add", "add", "undo", "forget"]), TIMES, TIMES, st.integers(-40, 40))


class Plain:
    """Changes of the number of free nodes, by time."""

    def __init__(self, level):
        self.front, self.changes = 0.0, {0.0: level}

    def add(self, begin, end, nodes):
        if begin < end:
            for t, change in ((begin, nodes), (end, -nodes)):
                self.changes[t] = self.changes.get(t, 0) + change

    def level(self, t):
        return sum(change for at, change in self.changes.items() if at <= t)

    def forget(self, t):
        self.changes = {t: self.level(t), **{at: change for at, change in self.changes.items() if at > t}}
        self.front = t

    def steps(self):
        times = sorted(t for t, change in self.changes.items() if t == self.front or (change and t < math.inf))
        return [(t, self.level(t)) for t in times]


@given(st.integers(0, 60), st.lists(ACTS, max_size=300), TIMES, st.integers(1, 60))
def test_a_profile_is_its_plain_twin(level, acts, t, need):
    fast, plain, added = Profile(level), Plain(level), []
    for act, a, b, nodes in acts:
        begin, end = min(a, b), max(a, b)
        if act == "forget":
            if begin >= plain.front and begin <= 40:  # most of it stays
                fast.forget(begin)
                plain.forget(begin)
            continue
        if act == "undo" and added:
            begin, end, nodes = added.pop()
            nodes = -nodes
        elif act == "add" and nodes:
            end = math.inf if end == 400.0 else end
            added.append((begin, end, nodes))
        else:
            continue
        begin = max(begin, plain.front)
        fast.add(begin, end, nodes)
        plain.add(begin, end, nodes)
    assert fast.steps() == plain.steps()
    t = max(t, plain.front)
    here = max(at for at, _ in plain.steps() if at <= t)
    assert fast.rise(t, need) == next((at for at, free in plain.steps() if at >= here and free >= need), None)
