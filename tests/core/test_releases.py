"""The releases in chunks equal a sorted list, with any room in a chunk."""

import math
from bisect import insort

from hypothesis import given, settings
from hypothesis import strategies as st

from faultsim._core.containers.releases import Releases

# Few different ends, so that ties happen; held jobs never end.
ENDS = st.sampled_from([-1.0, 0.0, 1.0, 1.5, 2.0, 3.0, math.inf])


def shadow(held, now, free, need):
    """The rule of model.md#easy, and of model.md#releases: at equal times all count."""
    times = [now] if free >= need else []
    there = free
    for end, _, nodes in held:
        there += nodes
        if not times and there >= need:
            times = [max(end, now)]
    if not times:
        return math.inf, 0
    time = times[0]
    return time, free + sum(nodes for end, _, nodes in held if end <= time) - need


def agree(releases, held, draw):
    assert releases.verify()
    assert releases.show() == held
    total = sum(nodes for _, _, nodes in held)
    now, free, need = draw(st.sampled_from([-2.0, 1.0, 1.2, 9.0])), draw(st.integers(0, 5)), draw(st.integers(1, 9))
    for wanted in (need, free + total // 2, free + total, free + total + 1):
        assert releases.shadow(now, free, wanted) == shadow(held, now, free, wanted)


@given(st.integers(2, 9), st.data())
@settings(max_examples=200, deadline=None)
def test_chunks_equal_a_sorted_list(room, data):
    """Batches come and go, in any order; a copy goes on by itself."""
    releases, held, new = Releases(room), [], 0
    for _ in range(data.draw(st.integers(1, 8))):
        for end in data.draw(st.lists(ENDS, max_size=20)):
            # Repairs have numbers below zero.
            new += 1
            item = (end, new * (-1) ** (new % 3), data.draw(st.integers(1, 4)))
            insort(held, item)
            releases.add(*item)
        agree(releases, held, data.draw)
        before = releases.copy()
        kept = list(held)
        for _ in range(data.draw(st.integers(0, len(held)))):
            end, job, _ = held.pop(data.draw(st.sampled_from([0, len(held) - 1]) | st.integers(0, len(held) - 1)))
            releases.remove(end, job)
            assert releases.verify()
        agree(releases, held, data.draw)
        agree(before, kept, data.draw)
        # Two neighbours have more than half a room together.
        assert releases.chunks <= max(1, 2 * (2 * len(held) // (room // 2 + 1) + 1))


def test_one_chunk_again_after_many():
    releases = Releases(4)
    for job in range(1000):
        releases.add(float(job % 7), job, 1)
    assert releases.chunks > 250
    for job in range(1000):
        releases.remove(float(job % 7), job)
        assert releases.verify()
    assert releases.chunks == 1
    assert releases.show() == []
