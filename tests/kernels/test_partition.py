"""The finders: each equals the exhaustive one and the plain twin; the public face refuses what makes no sense."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import faultsim as fs
from faultsim._core.torus.chooser import Chooser
from faultsim._core.torus.finders import Finder
from faultsim._core.torus.occupancy import Torus
from faultsim.errors import InputError, OptionError
from faultsim.kernels.partition import ALGORITHMS, BOX_ORDERS, feasible_sizes, find_partitions, max_free_partition
from faultsim.reference.torus import partition as reference
from helpers.refusals import refused

# Every axis at 1, 2, 63, 64, 65 and 100; lines of 8, 16, 32, 64 bits and of several words; above and below 128 nodes.
SHAPES = [
    (1, 1, 1), (4, 4, 8), (2, 3, 5), (5, 5, 5), (1, 1, 63), (1, 1, 64), (1, 1, 65), (1, 1, 100), (63, 1, 1),
    (64, 1, 2), (65, 1, 1), (100, 2, 1), (1, 63, 1), (1, 64, 2), (1, 65, 1), (2, 100, 1), (2, 1, 63), (2, 2, 64),
    (2, 1, 65), (1, 2, 100), (3, 3, 16), (4, 5, 7), (6, 6, 6), (5, 3, 9), (3, 4, 17), (2, 3, 33), (8, 3, 8), (3, 7, 11),
    (1, 2, 130),
]  # fmt: skip


# More than 128 nodes and one word an x; where x is at most 8 there is a search of its own.
SLABS = [
    (8, 8, 8), (7, 8, 8), (8, 7, 8), (8, 8, 7), (3, 8, 8), (6, 6, 6), (5, 5, 6), (8, 4, 16), (8, 3, 16), (5, 4, 13),
    (8, 2, 32), (5, 2, 27), (8, 1, 64), (7, 1, 64), (8, 1, 33), (3, 1, 50), (9, 8, 8), (33, 8, 8), (33, 1, 7),
    (9, 3, 16),
]  # fmt: skip


@st.composite
def occupancies(draw, shapes=SHAPES):
    shape = draw(st.sampled_from(shapes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["random", "jobs"]))
    if kind == "jobs":
        busy = np.zeros(shape, bool)
        for _ in range(draw(st.integers(0, 6))):
            extent = [int(rng.integers(1, n // 2 + 2)) for n in shape]
            box = (*(int(rng.integers(n)) for n in shape), *extent)
            busy = reference.fill(busy, box)
        return busy
    return rng.random(shape) < draw(st.sampled_from([0.0, 0.02, 0.1, 0.3, 0.5, 0.9, 1.0]))


@settings(max_examples=150)
@given(occupancies(), st.booleans(), st.sampled_from(list(BOX_ORDERS)), st.data())
def test_every_finder_equals_naive(busy, wrap, box_order, data):
    largest = max_free_partition(busy, "naive", wrap)
    assert largest == reference.max_free_partition(busy, wrap)
    top = largest.size if largest else 1
    sizes = feasible_sizes(*busy.shape)
    size = data.draw(st.sampled_from([s for s in sizes if s <= top] + sizes[:1]))
    boxes = find_partitions(busy, size, "naive", wrap, box_order)
    assert boxes.tolist() == [list(box) for box in reference.find_partitions(busy, size, wrap, box_order)]
    for algorithm in ALGORITHMS:
        assert max_free_partition(busy, algorithm, wrap) == largest, algorithm
        assert np.array_equal(find_partitions(busy, size, algorithm, wrap, box_order), boxes), algorithm


@given(st.sampled_from(SHAPES[:9]), st.booleans(), st.integers(1, 4), st.integers(0, 2**32 - 1), st.data())
def test_many_occupancies_of_one_torus(shape, wrap, n, seed, data):
    """As benchmarks ask: each list is made anew, and the boxes of all lists are counted, each time."""
    rng = np.random.default_rng(seed)
    busy = rng.random((n, *shape)) < rng.choice([0.0, 0.2, 0.6, 1.0], (n, 1, 1, 1))
    size, times = data.draw(st.sampled_from(feasible_sizes(*shape))), data.draw(st.integers(1, 3))
    lists = [reference.find_partitions(one, size, wrap, "bases") for one in busy]
    largest = [reference.max_free_partition(one, wrap) for one in busy]
    for algorithm in ALGORITHMS.values():
        finder, out = Finder(Torus(*shape, wrap), algorithm.number, busy.astype(np.uint8)), np.empty((n, 6), np.int32)
        assert finder.count(size, times=times) == times * sum(map(len, lists)), algorithm
        for which, boxes in enumerate(lists):
            found = np.frombuffer(finder.boxes(size, 2, which), np.int32).reshape(-1, 6)
            assert found.tolist() == [list(box) for box in boxes], algorithm
        finder.largest(out, times)
        assert out.tolist() == [list(box) if box else [0] * 6 for box in largest], algorithm


@settings(max_examples=300)
@given(occupancies(SLABS), st.booleans(), st.integers(0, 2**32 - 1))
def test_slabs_of_one_word_equal_pop(busy, wrap, seed):
    largest = max_free_partition(busy, "pop", wrap)
    assert max_free_partition(busy, "bitmap", wrap) == largest
    if busy.size <= 200:
        assert max_free_partition(busy, "naive", wrap) == largest
    most = largest.size if largest else 0
    chooser = Chooser(Torus(*busy.shape, wrap))
    for at_least in (1, most // 2, most, most + 1):  # what it remembers from one to the next changes no answer
        box = chooser.has_free(busy, at_least)
        assert (box is not None) == (most >= max(at_least, 1))
        assert box is None or (np.prod(box[3:]) >= at_least and reference.is_free(busy, box))
        assert chooser.largest(busy) == (most, largest)
    fuller = busy | (np.random.default_rng(seed).random(busy.shape) < 0.03)
    less = max_free_partition(fuller, "pop", wrap)
    assert chooser.largest(fuller) == (less.size if less else 0, less)


def test_the_reference_counts_node_by_node():
    rng = np.random.default_rng(7)
    for wrap in (True, False):
        for shape in [(2, 3, 4), (1, 4, 3), (3, 3, 3)]:
            busy = rng.random(shape) < 0.3
            free = [box for box in reference.all_boxes(*shape, wrap) if reference.is_free(busy, box)]
            for size in reference.feasible_sizes(*shape):
                expected = sorted((b for b in free if b[3] * b[4] * b[5] == size), key=reference.BOX_ORDERS["bases"])
                assert reference.find_partitions(busy, size, wrap, "bases") == expected


def test_krevats_torus_has_38_feasible_sizes_and_9633_boxes():
    sizes = feasible_sizes(4, 4, 8)
    assert sizes[:24] == [*range(1, 11), 12, 14, 15, 16, 18, 20, 21, 24, 27, 28, 30, 32, 36, 40]
    assert sizes[24:] == [42, 45, 48, 54, 56, 60, 63, 64, 72, 80, 84, 96, 112, 128]
    assert len(sizes) == 38
    empty = np.zeros((4, 4, 8), bool)
    for algorithm in ALGORITHMS:
        assert sum(len(find_partitions(empty, s, algorithm)) for s in sizes) == 13 * 13 * 57 == 9633
    assert max_free_partition(empty) == fs.Box(0, 0, 0, 4, 4, 8)


def test_pop_takes_in_columns_as_in_figure_9():
    """K, appendix A, Fig. 9: 3, 4, 6, then a column that begins with a busy node (base (1, 2), counted from 1)."""
    busy = np.zeros((4, 4), bool)
    for x, y in [(1, 1), (2, 4), (4, 2)]:
        busy[x - 1, y - 1] = True
    assert reference.pop_steps(busy, (0, 1)) == [3, 4, 6]


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
def test_a_ring_answers_with_its_longest_run(algorithm):
    rng = np.random.default_rng(3)
    for n in (1, 7, 64, 65, 200):
        busy = rng.random(n) < 0.2
        unrolled = "".join("x" if b else "." for b in np.concatenate([busy, busy]))
        longest = n if not busy.any() else max(map(len, unrolled.split("x")))
        for shape in [(1, 1, n), (1, n, 1), (n, 1, 1)]:
            found = max_free_partition(busy.reshape(shape), algorithm)
            assert (found.size if found else 0) == longest


@given(occupancies(), st.permutations([0, 1, 2]), st.integers(0, 2**32 - 1))
def test_the_largest_size_knows_no_origin_and_no_axis_names(busy, axes, seed):
    shift = np.random.default_rng(seed).integers(0, busy.shape)
    moved = np.roll(busy, tuple(shift), (0, 1, 2)).transpose(axes)
    here, there = max_free_partition(busy), max_free_partition(moved)
    assert (here.size if here else 0) == (there.size if there else 0)


def test_the_whole_machine():
    """32 x 32 x 64 nodes: bitmap against pop, and the count of boxes on an empty machine."""
    rng = np.random.default_rng(5)
    busy = np.zeros((32, 32, 64), bool)
    for _ in range(40):
        busy = reference.fill(busy, (*rng.integers(0, (32, 32, 64)).tolist(), *rng.integers(1, (12, 12, 24)).tolist()))
    assert max_free_partition(busy) == max_free_partition(busy, "pop")
    assert np.array_equal(find_partitions(busy, 512), find_partitions(busy, 512, "divisor"))
    empty = find_partitions(np.zeros((32, 32, 64), bool), 32768)
    shapes = {tuple(row) for row in empty[:, 3:].tolist()}
    assert shapes == {(32, 32, 32), (32, 16, 64), (16, 32, 64)}
    assert len(empty) == 64 + 32 + 32


def test_busy_needs_three_axes_and_bools():
    refused(InputError, r"shape \(4, 4\).*busy\[:, :, None\]", max_free_partition, np.zeros((4, 4), bool))
    refused(InputError, "1 dimensions", find_partitions, np.zeros(4, bool), 1)
    refused(InputError, "float64", find_partitions, np.zeros((2, 2, 2)), 1)
    refused(InputError, r"\(2, 0, 2\)", max_free_partition, np.zeros((2, 0, 2), bool))


def test_options_are_checked():
    busy = np.zeros((2, 2, 2), bool)
    for size in (0, 9, -1, 2.5, 2.0, "2", None):
        refused(OptionError, "whole number of nodes, 1 to 8", find_partitions, busy, size)
    refused(OptionError, r"'quick'.*bitmap.*divisor.*pop.*naive", find_partitions, busy, 2, "quick")
    refused(OptionError, r"'quick'.*bitmap", max_free_partition, busy, "quick")
    refused(OptionError, r"'random'.*extents-descending.*bases", find_partitions, busy, 2, box_order="random")
    refused(OptionError, "y=0", feasible_sizes, 4, 0, 8)
    refused(OptionError, r"z=8\.5", feasible_sizes, 4, 4, 8.5)
    assert find_partitions(busy, np.int64(8)).tolist() == [[0, 0, 0, 2, 2, 2]]
    assert find_partitions(busy, 5).shape == (0, 6)


def test_busy_may_be_a_view_and_stays_as_it_is():
    wide = np.zeros((4, 6, 8), bool)
    wide[1, 2, 3] = True
    view = wide[::2, ::-1, 1::3]
    view.setflags(write=False)
    assert max_free_partition(view) == max_free_partition(view.copy())


def test_every_finder_names_its_source():
    for name, row in ALGORITHMS.items():
        assert row.name == name
        assert row.complexity.startswith("O(")
        assert row.source
