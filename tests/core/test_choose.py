"""Placement rules on a torus: the core equals its plain twin, ties and permits included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultsim._core.torus.chooser import Chooser
from faultsim._core.torus.occupancy import Torus
from faultsim.reference.torus import partition as reference

ORDERS = list(reference.BOX_ORDERS)
SHAPES = [(4, 4, 8), (3, 4, 5), (2, 3, 7), (1, 1, 24), (5, 5, 2), (1, 6, 9), (4, 4, 4), (5, 5, 6)]
SHAPES += [(2, 2, 40), (3, 3, 17), (1, 2, 70), (3, 4, 13), (7, 5, 4)]


@st.composite
def scenes(draw):
    x, y, z = draw(st.sampled_from(SHAPES))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    share = draw(st.sampled_from([0.0, 0.03, 0.1, 0.3, 0.6]))
    if draw(st.booleans()):
        busy = rng.random((x, y, z)) < share
    else:  # boxes, as jobs leave them
        busy = np.zeros((x, y, z), bool)
        for _ in range(draw(st.integers(0, 8))):
            base, extent = rng.integers(0, (x, y, z)), rng.integers(1, (x // 2 + 2, y // 2 + 2, z // 2 + 2))
            busy[np.ix_(*((base[i] + np.arange(extent[i])) % busy.shape[i] for i in range(3)))] = True
    largest = max(1, reference.max_free(busy))
    size = reference.next_feasible(x, y, z, draw(st.integers(1, max(1, min(largest, 24)))))
    later = busy & (rng.random(busy.shape) < 0.5) if draw(st.booleans()) else None
    forbidden = rng.random(busy.shape) < 0.1 if draw(st.booleans()) else None
    need = draw(st.integers(0, x * y * z))
    return busy, size, forbidden, later, need


def agree(chooser, busy, size, wrap, order, options):
    """Every rule, list and question of the core equals the plain twin."""
    plain = {"wrap": wrap, "box_order": order, **options}
    number = ORDERS.index(order)
    assert chooser.choose("list", busy, size, number, **options) == reference.permitted(busy, size, **plain)
    for rule in ("first_fit", "max_free_partition"):
        assert chooser.choose(rule, busy, size, number, **options) == reference.choose(rule, busy, size, **plain)


@settings(max_examples=100)
@given(scenes(), st.booleans(), st.sampled_from(ORDERS))
def test_choices_equal_the_reference(scene, wrap, order):
    busy, size, forbidden, later, need = scene
    options = {"forbidden": forbidden, "later": later, "need": need}
    agree(Chooser(Torus(*busy.shape, wrap)), busy, size, wrap, order, options)


@settings(max_examples=20)
@given(st.sampled_from(SHAPES), st.booleans(), st.sampled_from(ORDERS), st.integers(0, 2**32 - 1))
def test_what_a_finder_remembers_changes_no_answer(shape, wrap, order, seed):
    """One finder through a life of starts and ends, with the same sizes, shadow times and fences coming back."""
    rng = np.random.default_rng(seed)
    chooser = Chooser(Torus(*shape, wrap))
    busy, later, fence = np.zeros(shape, bool), np.zeros(shape, bool), rng.random(shape) < 0.1
    sizes = [reference.next_feasible(*shape, int(s)) for s in rng.integers(1, busy.size // 2 + 1, 3)]
    need, jobs = sizes[0], []
    for _ in range(12):
        size = int(rng.choice(sizes))
        options = {
            "forbidden": fence if rng.random() < 0.3 else None,
            "later": later if rng.random() < 0.6 else None,
            "need": need,
        }
        agree(chooser, busy, size, wrap, order, options)
        largest = reference.max_free_partition(busy, wrap)
        most = reference.max_free(busy, wrap)
        assert chooser.largest(busy) == (most, largest)
        at_least = int(rng.integers(0, busy.size + 1))
        box = chooser.has_free(busy, at_least)
        assert (box is not None) == (most >= max(at_least, 1))
        if box:
            assert reference.is_free(busy, box)
            assert np.prod(box[3:]) >= at_least
        box = reference.choose("max_free_partition", busy, size, wrap=wrap, box_order=order, **options)
        if box and rng.random() < 0.8:
            busy = reference.fill(busy, box)
            jobs.append(box)
            if rng.random() < 0.5:
                later = reference.fill(later, box)
        elif jobs:
            gone = jobs.pop(int(rng.integers(len(jobs))))
            busy = busy & reference.is_outside(shape, gone)
            later = later & busy
        if rng.random() < 0.2:
            need = int(rng.choice(sizes))


def test_a_tie_goes_to_the_first_box():
    chooser, empty = Chooser(Torus(4, 4, 8)), np.zeros((4, 4, 8), bool)
    for _ in range(2):  # the second time from memory
        assert chooser.choose("max_free_partition", empty, 64, 0) == (0, 0, 0, 4, 4, 4)
        assert chooser.choose("max_free_partition", empty, 64, 1) == (0, 0, 0, 2, 4, 8)
        assert chooser.choose("max_free_partition", empty, 64, 2) == (0, 0, 0, 2, 4, 8)


def test_krevats_job_of_three_nodes_grows_to_four():
    """K 3.2: on a 4x4 torus with a free 2x2 a job of 3 nodes is given 4."""
    busy = np.ones((4, 4, 1), bool)
    busy[1:3, 2:4] = False
    torus = Torus(4, 4, 1)
    assert Chooser(torus).choose("first_fit", busy, 3) is None
    assert torus.next_feasible(3) == 3
    assert Chooser(torus).choose("first_fit", busy, 4) == (1, 2, 0, 2, 2, 1)


@pytest.mark.parametrize("need", [0, 1, 8, 9])
def test_a_candidate_must_leave_the_head_its_box(need):
    busy = np.ones((2, 2, 8), bool)
    busy[0, 0] = False
    later = np.zeros((2, 2, 8), bool)
    later[1] = True  # at the shadow time 2 lines are free: with one taken, 8 nodes are left
    picked = Chooser(Torus(2, 2, 8)).choose("first_fit", busy, 8, later=later, need=need)
    assert picked == ((0, 0, 0, 1, 1, 8) if need <= 8 else None)
