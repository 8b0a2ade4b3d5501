"""Who waits, in blocks of job numbers, and its plain twin."""

import math

from hypothesis import given
from hypothesis import strategies as st

from faultsim._core.scheduling.waiting import Waiting

JOBS = 700

LENGTHS = st.integers(0, 200).map(float)  # which a float holds exactly
NODES = st.sampled_from([1, 24, 128, 255, 256, 5_000, 65_535, 65_536, 2_000_000])


@st.composite
def queues(draw):
    nodes = draw(NODES)
    # Needs of any size, or as many people choose them.
    powers = st.integers(0, nodes.bit_length() - 1).map(lambda c: 1 << c)
    need = draw(st.lists(st.integers(1, nodes) if draw(st.booleans()) else powers, min_size=1, max_size=60))
    need = (need * JOBS)[: draw(st.integers(1, JOBS))]
    # Of a few jobs, so that the same ones come and go.
    jobs = draw(st.lists(st.integers(0, len(need) - 1), min_size=1, max_size=30))
    return nodes, need, draw(st.lists(st.tuples(st.sampled_from(jobs), LENGTHS | st.none()), max_size=200))


def after(need, nodes, acts):
    """Both, after jobs have come to wait for at least so long, or have gone (None)."""
    fast, plain = Waiting(need, nodes), {}
    for job, least in acts:
        if least is None:
            fast.wait_no_more(job)
            plain.pop(job, None)
        elif job not in plain:
            fast.wait(job, least)
            plain[job] = least
    return fast, plain


@given(queues(), st.lists(st.tuples(st.integers(1, 2_000_000), LENGTHS), max_size=6), st.data())
def test_the_first_who_fits_on_a_stair_is_found(queue, stairs, data):
    nodes, need, acts = queue
    fast, plain = after(need, nodes, acts)
    # Each is lower than the one before, and longer.
    levels = sorted({level % nodes + 1 for level, _ in stairs}, reverse=True)
    stairs = list(zip(levels, sorted(length for _, length in stairs), strict=False))
    begin = data.draw(st.integers(0, len(need)))
    end = data.draw(st.integers(begin, len(need)))
    fits = [
        job
        for job in range(begin, end)
        if job in plain and any(need[job] <= level and plain[job] <= length for level, length in stairs)
    ]
    assert fast.next_short(stairs, begin, end) == (fits[0] if fits else end)


@given(queues(), st.data())
def test_the_least_of_a_class_is_that_of_its_jobs(queue, data):
    nodes, need, acts = queue
    fast, plain = after(need, nodes, acts)
    first = data.draw(st.integers(0, len(need) - 1))
    last = data.draw(st.integers(first, len(need) - 1))
    least = [math.inf] * 32
    row = 128 if nodes < 256 else 64 if nodes < 65_536 else 32
    for job, takes in plain.items():
        if first // row <= job // row <= last // row:
            c = need[job].bit_length() - 1
            least[c] = min(least[c], takes)
    assert fast.least(first, last) == least
