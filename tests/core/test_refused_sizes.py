"""Sizes that EASY may not place on a torus are remembered from question to question: as if all boxes were looked at.

A size stays refused while the head keeps only rooms that it had.  A new room frees each size of which some free box
leaves it, and on a ring that may be a box that met two rooms and nothing that these share.
"""

import functools
import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from faultsim._core.torus.chooser import Chooser
from faultsim._core.torus.occupancy import Torus

#: Rings of 1, 2, primes and others, one longer than a word; with too many nodes for the small machines.
SHAPES = [(11, 13, 1), (1, 12, 11), (2, 7, 11), (2, 1, 67), (3, 7, 7), (4, 17, 2)]
#: 2k + 1, some, and 2k + 2 nodes: see `two_rooms`.
RING = (5, 9, 6)


@functools.cache
def all_boxes(shape):
    """Every box of a torus in the order of "first", and its nodes; by size."""
    boxes = np.array(
        [
            (*base, *extents)
            for extents in itertools.product(*(range(n, 0, -1) for n in shape))
            for base in itertools.product(*(range(1 if e == n else n) for e, n in zip(extents, shape, strict=True)))
        ]
    )
    x, y, z = ((np.arange(n) - boxes[:, [i]]) % n < boxes[:, [i + 3]] for i, n in enumerate(shape))
    nodes = (x[:, :, None, None] & y[:, None, :, None] & z[:, None, None, :]).reshape(len(boxes), -1)
    return boxes, boxes[:, 3:].prod(1), nodes


def free_boxes(shape, busy, least, most):
    """Which boxes of so many nodes are free."""
    _, sizes, nodes = all_boxes(shape)
    found = np.flatnonzero((least <= sizes) & (sizes <= most))
    return found[~nodes[np.ix_(found, np.flatnonzero(busy))].any(1)]


def first_permitted(shape, busy, size, rooms):
    """The first free box of a size that leaves one of the rooms, or None."""
    boxes, _, nodes = all_boxes(shape)
    rooms = nodes[rooms].astype(np.float32)
    for box in free_boxes(shape, busy, size, size):
        if (rooms @ nodes[box] == 0).any():
            return tuple(map(int, boxes[box]))
    return None


def box_mask(rng, shape, most):
    mask = np.zeros(shape, bool)
    extents = [int(rng.integers(1, min(n, most) + 1)) for n in shape]
    mask[tuple(slice(0, extent) for extent in extents)] = True
    return np.roll(mask, [int(rng.integers(n)) for n in shape], (0, 1, 2))


def two_rooms(rng, shape):
    """Two rooms that share one node; what is free: a box beyond both, and one with that node; a third room with it."""
    n, k = shape[0], shape[0] // 2
    busy, later, third = np.ones(shape, bool), np.ones(shape, bool), np.zeros(shape, bool)
    busy[[n - 1, 0], 1, 0] = busy[k, 1, [-1, 0, 1]] = False
    later[: k + 1, 0:2, 0] = later[k:, 1:3, 0] = False
    third[k, 1] = True
    turn, axes = [int(rng.integers(n)) for n in shape], [(0, 1, 2), (2, 1, 0), (1, 0, 2)][rng.integers(3)]
    return [np.ascontiguousarray(np.roll(m, turn, (0, 1, 2)).transpose(axes)) for m in (busy, later, third)]


def check(rng, kept, busy, later, need, changes):
    """Ask for sizes in any order, before and after each change of the shadow time's occupancy, or of this one."""
    for change in [None, *changes]:
        if change is not None:
            mask, nodes, value = change
            mask[nodes] = value
        rooms = free_boxes(busy.shape, later, need, busy.size)
        for size in rng.permutation(range(1, 5)).tolist():
            box = first_permitted(busy.shape, busy, size, rooms)
            assert kept.choose("first_fit", busy, size, later=later, need=need) == box


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SHAPES), st.integers(0, 2**32 - 1))
def test_what_was_refused_is_permitted_where_some_room_stays(shape, seed):
    rng = np.random.default_rng(seed)
    kept, busy, later = Chooser(Torus(*shape, True)), np.ones(shape, bool), np.ones(shape, bool)
    for mask, most in ((busy, 3), (busy, 3), (later, 5), (later, 5)):
        mask[box_mask(rng, shape, most)] = False
    need = kept.largest(later)[0] if rng.random() < 0.7 else int(rng.integers(1, 12))
    masks = [(later, busy)[int(rng.random() < 0.3)] for _ in range(4)]
    check(rng, kept, busy, later, need, [(mask, box_mask(rng, shape, 3), rng.random() < 0.3) for mask in masks])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_third_room_frees_what_met_two(seed):
    rng = np.random.default_rng(seed)
    busy, later, third = two_rooms(rng, RING)
    changes = [(later, third, False), (later, box_mask(rng, busy.shape, 3), True)]
    check(rng, Chooser(Torus(*busy.shape, True)), busy, later, RING[2], changes)
