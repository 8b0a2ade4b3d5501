"""The slices of a pod: by brute force, as a torus of cubes, counted by hand, and how many can be promised."""

import itertools
import math
import random

import numpy as np
import pytest

from faultsim.machines.pod import Pod
from faultsim.reference.pod.promises import (
    at_least,
    binomial,
    mean,
    needed_availability,
    promised,
    slices_of_size,
    spare_cubes,
)
from faultsim.reference.pod.slices import Slices
from faultsim.reference.torus.partition import (
    all_boxes,
    feasible_sizes,
    find_partitions,
    max_free_partition,
    nodes,
    permitted,
)

HALVES = (1, 2, 4, 8)  # hosts of the slices inside a cube of 16


def twin(pod):
    """The plain slices of a `Pod`."""
    inside = [each.hosts for each in pod.slices if each.cubes == 0]
    return Slices(pod.cubes, pod.hosts, inside, pod.wiring, pod.aligned, pod.largest or 0)


def some_hosts(rng, n, share):
    return sum(1 << host for host in range(n) if rng.random() < share)


def some_cubes(rng, slices, share):
    """Whole cubes and a few single hosts."""
    masks = [slices.cube_mask(cube) for cube in range(slices.n_cubes) if rng.random() < share]
    return sum(masks) | some_hosts(rng, slices.n_cubes * slices.hosts, 0.03)


@pytest.mark.parametrize("preset", [Pod.tpu_v4, Pod.tpu_v5p, Pod.tpu7x])
@pytest.mark.parametrize("wiring", ["ocs", "static"])
def test_sizes_and_default_shapes_are_those_of_the_machine(preset, wiring):
    pod = preset(wiring)
    slices = twin(pod)
    assert slices.sizes == sorted({each.hosts for each in pod.slices})
    for size in slices.sizes:
        if size >= 16:
            shape = pod.slice_of(chips=4 * size).shape
            assert tuple(4 * n for n in slices.default_shape(size)) == shape


# -- static wiring, aligned


@pytest.mark.parametrize("cubes", [(4, 4, 4), (2, 3, 4), (4, 3, 2), (1, 5, 2)])
def test_aligned_blocks_by_brute_force(cubes):
    """Of all boxes in the pod's position of a shape, those whose base is a multiple of the extents, by base."""
    slices = Slices(cubes, 1, wiring="static")
    for shape in slices.shapes:
        extents = slices.along_axes(shape)
        assert sorted(extents) == list(shape)
        expected = [
            sorted(np.arange(math.prod(cubes)).reshape(cubes)[nodes(cubes, box)].flat)
            for box in sorted(all_boxes(*cubes, wrap=False, size=math.prod(shape)))
            if box[3:] == extents and all(box[i] % extents[i] == 0 for i in range(3))
        ]
        found = slices.blocks(shape)
        assert [sorted(block) for block in found] == expected
        assert len(found) == math.prod(n // a for n, a in zip(cubes, extents, strict=True))
        assert len(set(itertools.chain(*found))) == len(found) * math.prod(shape), "no cube is in two blocks"


def test_free_aligned_blocks():
    rng = random.Random(1)
    slices = Slices((2, 3, 4), 4, (1, 2), "static")
    for _ in range(300):
        busy, size = some_cubes(rng, slices, rng.random()), rng.choice(slices.sizes[2:])
        blocks = [slices.place(block) for block in slices.blocks(slices.default_shape(size))]
        free = [place for place in blocks if all(not busy >> h & 1 for h in range(96) if place.mask >> h & 1)]
        assert slices.free_of_size(busy, size) == free
        assert slices.choose(busy, size) == (free[0] if free else None)


@pytest.mark.parametrize(
    ("slice_", "where", "before", "after"),
    [
        ((1, 1, 1), (0, 0, 0), 64, 63),
        ((2, 2, 2), (0, 0, 0), 8, 7),
        ((2, 2, 2), (1, 2, 1), 8, 7),  # wherever it is, one block of 8 cubes goes
        ((2, 2, 4), (3, 3, 3), 4, 3),
        ((2, 4, 4), (1, 2, 2), 2, 1),
        ((4, 4, 4), (2, 1, 2), 1, 0),
        ((3, 4, 4), (2, 0, 0), 1, 0),
        ((3, 4, 4), (3, 0, 0), 1, 1),  # the fourth plane belongs to no block
        ((3, 3, 3), (0, 0, 0), 1, 0),
        ((3, 3, 3), (3, 3, 3), 1, 1),
    ],
)
def test_what_one_failed_cube_takes_away(slice_, where, before, after):
    """Counted by hand for 4x4x4 aligned cubes; one host is enough."""
    slices = twin(Pod.tpu_v4("static"))
    size = 16 * math.prod(slice_)
    cube = (where[0] * 4 + where[1]) * 4 + where[2]
    assert len(slices.free_of_size(0, size, slice_)) == before
    assert len(slices.free_of_size(1 << (cube * 16 + 5), size, slice_)) == after


@pytest.mark.parametrize(
    ("wiring", "aligned", "left"), [("ocs", True, 63), ("static", True, 48), ("static", False, 48)]
)
@pytest.mark.parametrize("cube", [0, 21, 42, 63])
def test_the_largest_slice_beside_one_failed_cube(wiring, aligned, left, cube):
    """Switches lose the cube, and a torus a plane of it, wherever it is.  Of aligned blocks only those of 3x4x4 cubes
    are as large, and these have one place, without the last cube.
    """
    slices = twin(Pod.tpu_v4(wiring, aligned=aligned))
    if aligned and wiring == "static" and cube != 63:
        left = 32
    assert slices.largest_free(1 << (cube * 16)) == 16 * left


# -- static wiring, not aligned: a torus of cubes


def as_array(slices, busy):
    taken = [bool(slices.cube_mask(cube) & busy) for cube in range(slices.n_cubes)]
    return np.array(taken).reshape(slices.cubes)


@pytest.mark.parametrize("cubes", [(2, 2, 3), (3, 3, 2), (1, 4, 3)])
def test_without_alignment_it_is_a_torus_of_cubes(cubes):
    rng = random.Random(2)
    slices = Slices(cubes, 2, (1,), "static", aligned=False)
    assert [size // 2 for size in slices.sizes[1:]] == feasible_sizes(*cubes)
    numbers = np.arange(slices.n_cubes).reshape(cubes)
    for _ in range(150):
        busy = some_cubes(rng, slices, rng.random() * 0.6)
        later = some_cubes(rng, slices, rng.random() * 0.6)
        forbidden = some_cubes(rng, slices, 0.1)
        torus = as_array(slices, busy)
        for n in feasible_sizes(*cubes):
            boxes = find_partitions(torus, n)
            expected = [sorted(numbers[nodes(cubes, box)].flat) for box in boxes]
            assert [list(place.cubes) for place in slices.free_of_size(busy, 2 * n)] == expected
            need = rng.randrange(1, slices.n_cubes + 1)
            found = permitted(torus, n, forbidden=as_array(slices, forbidden), later=as_array(slices, later), need=need)
            place = slices.choose(busy, 2 * n, None, forbidden, later, 2 * need)
            assert (place and list(place.cubes)) == (sorted(numbers[nodes(cubes, found[0])].flat) if found else None)
        largest = max_free_partition(torus)
        size = 2 * math.prod(largest[3:]) if largest else 0
        assert slices.largest_free(busy) == size or (size == 0 and slices.largest_free(busy) == 1)


def test_a_shape_of_a_torus_may_be_turned():
    slices = Slices((2, 3, 4), 1, wiring="static", aligned=False)
    found = {place.cubes for place in slices.free_of_size(0, 4, (1, 2, 2))}
    expected = set()
    for box in all_boxes(2, 3, 4, size=4):
        if sorted(box[3:]) == [1, 2, 2]:
            expected.add(tuple(sorted(np.arange(24).reshape(2, 3, 4)[nodes((2, 3, 4), box)].flat)))
    assert found == expected


# -- optical switches


def test_switches_join_any_cubes_by_trying_all():
    """The first of all permitted sets of cubes is chosen, cube by cube."""
    rng = random.Random(3)
    slices = Slices((1, 2, 3), 4, (1, 2))
    for _ in range(400):
        busy = some_cubes(rng, slices, rng.random() * 0.5)
        later = some_cubes(rng, slices, rng.random()) | busy & some_hosts(rng, 24, 0.5)
        forbidden = some_cubes(rng, slices, 0.1)
        size, need = rng.choice(slices.sizes), rng.choice([0, 1, 2, 3, 4, 8, 9, 12, 24])
        if size < 4:
            every = [slices.inside_of(cube, first, size) for cube in range(6) for first in range(0, 4, size)]
        else:
            every = [slices.place(chosen) for chosen in itertools.combinations(range(6), size // 4)]
        free = [place for place in every if not place.mask & busy]
        assert bool(slices.free_of_size(busy, size)) == bool(free)
        good = [p for p in free if not p.mask & forbidden and (need == 0 or slices.fits(later | p.mask, need))]
        chosen = slices.choose(busy, size, None, forbidden, later, need)
        if size < 4:
            good.sort(key=slices.free_of_size(busy, size).index)
        assert chosen == (good[0] if good else None)
        assert slices.has(busy, size) == bool(free)


# -- inside a cube


def test_a_slice_inside_a_cube_breaks_up_least():
    slices = Slices((1, 1, 2), 16, HALVES)
    place = slices.free_of_size(1 << 17, 1)[0]
    assert (place.cubes, place.first) == ((1,), 0), "the host beside the busy one, not the first of the whole cube"
    place = slices.free_of_size(1 << 17, 4)[0]
    assert (place.cubes, place.first) == ((1,), 4)
    place = slices.free_of_size(1 << 17, 8)[0]
    assert (place.cubes, place.first) == ((1,), 8)
    assert slices.free_of_size(1 << 17, 8)[1].cubes == (0,)
    assert slices.free_of_size(0, 2)[0].mask == 0b11


@pytest.mark.parametrize(("wiring", "aligned"), [("ocs", True), ("static", True), ("static", False)])
def test_a_long_time_of_slices_that_come_and_go(wiring, aligned):
    """No host is in two slices, cubes and hosts add up, and a size is refused only where no place of it is free."""
    rng = random.Random(4)
    slices = Slices((2, 2, 2), 16, HALVES, wiring, aligned)
    held, busy = [], 0
    for _ in range(600):
        if held and rng.random() < 0.45:
            busy &= ~held.pop(rng.randrange(len(held))).mask
        else:
            size = rng.choice(slices.sizes[:7])
            place = slices.choose(busy, size)
            if place is None:
                assert not slices.has(busy, size)
                continue
            assert place.mask.bit_count() == place.size == size
            assert not place.mask & busy
            assert place.mask >> 128 == 0
            held.append(place)
            busy |= place.mask
        assert busy.bit_count() == sum(place.size for place in held)
        whole = {cube for place in held if place.size >= 16 for cube in place.cubes}
        broken = {cube for place in held if place.size < 16 for cube in place.cubes}
        assert len(slices.free_cubes(busy)) == 8 - len(whole) - len(broken)
        assert not whole & broken


# -- what can be promised

# Slice in cubes -> for 99 %, 99.5 % and 99.9 %: static and switched, as a share of 64 cubes, promised with 97 %; then
# the means at 99.9 %.
TABLE = {
    1: [0.766, 0.766, 0.859, 0.859, 0.953, 0.953, 0.984, 0.984],
    4: [0.3125, 0.750, 0.500, 0.8125, 0.8125, 0.9375, 0.938, 0.960],
    8: [0, 0.750, 0.250, 0.750, 0.625, 0.875, 0.880, 0.920],
    16: [0, 0.750, 0, 0.750, 0.250, 0.750, 0.774, 0.840],
    32: [0, 0.500, 0, 0.500, 0, 0.500, 0.599, 0.679],
    48: [0, 0.750, 0, 0.750, 0, 0.750, 0.348, 0.750],
}


@pytest.mark.parametrize("cubes", TABLE)
def test_the_share_of_a_pod_that_can_be_promised(cubes):
    slices, size = twin(Pod.tpu_v4("static")), 16 * cubes
    blocks = len(slices.blocks(slices.default_shape(size)))
    row = [
        promised(slices_of_size(64, size, a, 16, wiring), 0.97) * cubes / 64
        for a in (0.99, 0.995, 0.999)
        for wiring in (blocks, None)
    ]
    row += [mean(slices_of_size(64, size, 0.999, 16, wiring)) * cubes / 64 for wiring in (blocks, None)]
    assert row == pytest.approx(TABLE[cubes], abs=0.0005)


@pytest.mark.parametrize(
    ("size", "hosts", "cubes"),
    [(1, 2, (1, 2, 3)), (2, 2, (1, 2, 3)), (4, 2, (1, 2, 3)), (6, 2, (1, 2, 3)), (2, 1, (2, 2, 2)), (4, 1, (2, 2, 2))],
)
@pytest.mark.parametrize("wiring", ["ocs", "static"])
def test_promises_by_going_through_all_states_of_the_hosts(size, hosts, cubes, wiring):
    """Every set of hosts that are down, with its probability."""
    slices = Slices(cubes, hosts, (1,) if hosts == 2 else (), wiring)
    n, a = slices.n_cubes * hosts, 0.8
    expected = [0.0] * (n // size + 1)
    for down in range(1 << n):
        failed = down.bit_count()
        if wiring == "static" or size < hosts:
            s = len(slices.free_of_size(down, size))
        else:
            s = len(slices.free_cubes(down)) * hosts // size
        expected[s] += a ** (n - failed) * (1 - a) ** failed
    blocks = None
    if wiring == "static" and size >= hosts:
        blocks = len(slices.blocks(slices.default_shape(size)))
    found = slices_of_size(slices.n_cubes, size, a, hosts, blocks)
    assert found == pytest.approx(expected[: len(found)], abs=1e-12)
    assert not any(expected[len(found) :])
    assert mean(found) == pytest.approx(math.fsum(s * p for s, p in enumerate(expected)))
    for probability in (0.5, 0.9, 0.999):
        s = promised(found, probability)
        assert s == 0 or sum(expected[s:]) >= probability
        assert sum(expected[s + 1 :]) < probability


@pytest.mark.parametrize("n", [1, 64, 999, 1001, 3000])
def test_binomial_adds_up(n):
    for p in (0.0, 0.3, 0.98, 1.0):
        chances = [binomial(n, k, p) for k in range(n + 1)]
        assert math.fsum(chances) == pytest.approx(1.0, abs=1e-9)
        assert mean(chances) == pytest.approx(n * p, rel=1e-9)
    assert at_least(n, 0, 0.3) == pytest.approx(1.0)
    assert at_least(n, n + 1, 0.3) == 0.0


def test_the_availability_behind_130_healthy_cubes_of_144():
    """130 of 144 cubes with 95 %: cubes are up 93.47 % of the time, hosts 99.58 %."""
    cube = needed_availability(144, 130, 0.95)
    assert cube == pytest.approx(0.9347, abs=5e-5)
    assert cube ** (1 / 16) == pytest.approx(0.9958, abs=5e-5)
    assert at_least(144, 130, cube) >= 0.95 > at_least(144, 130, cube - 1e-6)


def test_spare_cubes():
    """By hand: one cube of one host, up half of the time, needs 1 - 2**-n >= 0.9, so four in all."""
    assert spare_cubes(1, 0.5, 1, 0.9, 10) == 3
    assert spare_cubes(1, 0.5, 1, 0.9, 4) == 3
    assert spare_cubes(1, 0.5, 1, 0.9, 3) is None
    spare = spare_cubes(48, 0.999, 16, 0.97, 64)
    assert at_least(48 + spare, 48, 0.999**16) >= 0.97 > at_least(48 + spare - 1, 48, 0.999**16)
