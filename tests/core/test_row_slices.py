"""Free boxes beside a box that jobs left, found slice by slice: as if all boxes had been looked at."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultsim._core.torus.chooser import Chooser
from faultsim._core.torus.occupancy import Torus
from faultsim._core.torus.row_maps import use_kernels
from helpers.thresholds import at

#: Few enough nodes to look at every box.
SMALL = [(9, 3, 6), (3, 9, 6), (2, 8, 9), (10, 2, 7)]
#: Lines of 8, 16, 32 and 64 bits, rows of one word and of several, and the longest axes.
SHAPES = [(9, 3, 6), (10, 4, 5), (3, 12, 15), (9, 2, 20), (5, 3, 32), (2, 2, 40), (2, 3, 64), (64, 3, 4), (3, 64, 5)]


def torus_of(shape, wrap, **limits):
    """A torus that is searched beside all boxes, however small it is and however large these are."""
    with at(**{"octet_rows": 0, "slice_part": 0, **limits}):
        return Torus(*shape, wrap)


def nodes_of(box, shape):
    x, y, z, a, b, c = box
    return np.ix_((x + np.arange(a)) % shape[0], (y + np.arange(b)) % shape[1], (z + np.arange(c)) % shape[2])


def draw_box(rng, shape, wrap, least):
    """A box, thin on some axis as a rule."""
    extents = [int(rng.integers(1, n + 1)) for n in shape]
    extents[rng.integers(3)] = int(rng.integers(1, least + 1))
    extents = [min(e, n) for e, n in zip(extents, shape, strict=True)]
    bases = [0 if e == n else int(rng.integers(n if wrap else n - e + 1)) for e, n in zip(extents, shape, strict=True)]
    return (*bases, *extents)


def counts(nodes, extents, wrap):
    """How many of the nodes each box of these extents has."""
    shape = nodes.shape
    sums = np.zeros([2 * n + 1 for n in shape], int)
    sums[1:, 1:, 1:] = np.tile(nodes, (2, 2, 2)).cumsum(0).cumsum(1).cumsum(2)
    for axis, (n, extent) in enumerate(zip(shape, extents, strict=True)):
        bases = np.arange(1 if extent == n else n if wrap else n - extent + 1)
        sums = sums.take(bases + extent, axis) - sums.take(bases, axis)
    return sums


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SMALL), st.booleans(), st.integers(0, 2**32 - 1))
def test_a_room_is_found_if_one_meets_the_box_and_only_if_there_is_one(shape, wrap, seed):
    rng = np.random.default_rng(seed)
    finder = Chooser(torus_of(shape, wrap))
    busy = rng.random(shape) < rng.choice([0.1, 0.3, 0.6])
    left = draw_box(rng, shape, wrap, 2)
    if rng.random() < 0.8:
        busy[nodes_of(left, shape)] = False
    near = np.zeros(shape, bool)
    near[nodes_of(left, shape)] = True
    largest = meets = 0
    for extents in itertools.product(*(range(1, n + 1) for n in shape)):
        size = int(np.prod(extents))
        free = counts(~busy, extents, wrap) == size
        if free.any():
            largest = max(largest, size)
        if (free & (counts(near, extents, wrap) > 0)).any():
            meets = max(meets, size)
    answers = [finder.has_room(busy, need, left) for need in range(1, busy.size + 1)]
    assert None not in answers
    assert all(answers[:meets])
    assert not any(answers[largest:])


@pytest.mark.parametrize("wrap", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_all_loops_give_the_same(shape, wrap):
    rng = np.random.default_rng(5)
    asked = []
    for _ in range(30):
        busy = rng.random(shape) < rng.choice([0.02, 0.2])
        left = draw_box(rng, shape, wrap, 3)
        busy[nodes_of(left, shape)] = False
        asked.append((busy, int(rng.integers(1, 3 * np.prod(left[3:]) + 1)), left))
    torus, answers = torus_of(shape, wrap), []
    try:
        for i in (-1, 0, 1, 2):
            if use_kernels(i):
                finder = Chooser(torus)
                answers.append([finder.has_room(*each) for each in asked])
    finally:
        use_kernels(-1)
    assert all(each == answers[0] for each in answers[1:])
    assert set(answers[0]) == {False, True}


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SHAPES), st.booleans(), st.integers(0, 2**32 - 1))
def test_rooms_that_must_stay_are_found_beside_what_becomes_free(shape, wrap, seed):
    """Each answer is that of a new finder, which looks at all of the machine, as these rooms become fewer or others."""
    rng = np.random.default_rng(seed)
    torus = torus_of(shape, wrap)
    kept = Chooser(torus)
    for _ in range(4):
        later = rng.random(shape) < rng.choice([0.05, 0.2])
        left = [draw_box(rng, shape, wrap, 2) for _ in range(rng.integers(1, 3))]
        for box in left:
            later[nodes_of(box, shape)] = True
        need = kept.largest(later)[0] + 1
        for box in left:
            later[nodes_of(box, shape)] = False
        busy = rng.random(shape) < rng.choice([0.05, 0.3])
        for _ in range(6):
            size = int(rng.integers(1, 12))
            options = {"later": later, "need": need}
            new = Chooser(torus)
            box = new.choose("first_fit", busy, size, **options)
            assert kept.choose("first_fit", busy, size, **options, near=left) == box
            for rule in ("max_free_partition", "list"):
                assert kept.choose(rule, busy, size, **options, near=left) == new.choose(rule, busy, size, **options)
            if box:
                busy[nodes_of(box, shape)] = later[nodes_of(box, shape)] = True
            elif rng.random() < 0.5:
                busy &= rng.random(shape) < 0.9


@pytest.mark.parametrize("near", [None, [(4, 0, 0, 1, 4, 1)]])
def test_a_new_room_frees_sizes_even_if_it_is_met_by_one_that_is_not_there(near):
    """Two rooms that meet, and a box that meets both on the other side of the ring; then a third room beside it."""
    shape = (9, 4, 10)
    kept = Chooser(torus_of(shape, True))
    busy, later = np.ones(shape, bool), np.ones(shape, bool)
    busy[[8, 0], 1, 0] = busy[4, 1, [9, 0, 1]] = False
    later[0:5, 0:2, 0] = later[4:9, 1:3, 0] = False
    options = {"later": later, "need": 10, "near": near}
    assert [kept.choose("first_fit", busy, size, **options) for size in (3, 2)] == [None, None]
    later[4, 1] = False
    # The size 3 needs a node that all three rooms have.
    assert [kept.choose("first_fit", busy, size, **options) for size in (3, 2)] == [None, (8, 1, 0, 2, 1, 1)]


@pytest.mark.parametrize("need", [40, 700, 8192])
def test_rooms_beside_large_boxes_are_looked_for_everywhere(need):
    """There are more than are looked at beside the boxes: the answer is that of a search of the whole machine."""
    shape = (32, 32, 64)
    rng = np.random.default_rng(need)
    kept = Chooser(torus_of(shape, True))
    everywhere = [(0, 0, 0, *shape)]  # each room meets it
    for _ in range(4):
        later = np.zeros(shape, bool)
        for _ in range(25):
            sides = [(rng.integers(extent) + np.arange(rng.integers(2, 14))) % extent for extent in shape]
            later[np.ix_(*sides)] = True
        busy = later | (rng.random(shape) < 0.001)
        for size in (8, 96, 1024):
            options = {"later": later, "need": need}
            answer = kept.choose("first_fit", busy, size, **options, near=everywhere)
            assert answer == Chooser(torus_of(shape, True)).choose("first_fit", busy, size, **options)
