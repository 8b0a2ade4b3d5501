"""Placement rules on a torus: the core equals its plain twin, ties and permits included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultsim._core.choose import choose
from faultsim._core.torus import Torus
from faultsim.reference import partition as reference

ORDERS = list(reference.BOX_ORDERS)
SHAPES = [(4, 4, 8), (3, 4, 5), (2, 3, 7), (1, 1, 24), (5, 5, 2), (1, 6, 9), (4, 4, 4), (5, 5, 6), (2, 2, 40), (3, 3, 17), (1, 2, 70)]


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


@settings(max_examples=25, deadline=None)
@given(scenes(), st.booleans(), st.sampled_from(ORDERS))
def test_choices_equal_the_reference(scene, wrap, order):
    busy, size, forbidden, later, need = scene
    torus = Torus(*busy.shape, wrap)
    options = {"forbidden": forbidden, "later": later, "need": need}
    plain = {"wrap": wrap, "box_order": order, **options}
    number = ORDERS.index(order)
    assert choose(torus, "list", busy, size, number, **options) == reference.permitted(busy, size, **plain)
    for rule in ("first_fit", "max_free_partition"):
        assert choose(torus, rule, busy, size, number, **options) == reference.choose(rule, busy, size, **plain)


def test_a_tie_goes_to_the_first_box():
    torus, empty = Torus(4, 4, 8), np.zeros((4, 4, 8), bool)
    assert choose(torus, "max_free_partition", empty, 64, 0) == (0, 0, 0, 4, 4, 4)
    assert choose(torus, "max_free_partition", empty, 64, 1) == (0, 0, 0, 2, 4, 8)
    assert choose(torus, "max_free_partition", empty, 64, 2) == (0, 0, 0, 2, 4, 8)


def test_krevats_job_of_three_nodes_grows_to_four():
    """K 3.2: on a 4x4 torus with a free 2x2 a job of 3 nodes is given 4."""
    busy = np.ones((4, 4, 1), bool)
    busy[1:3, 2:4] = False
    torus = Torus(4, 4, 1)
    assert choose(torus, "first_fit", busy, 3) is None
    assert torus.next_feasible(3) == 3
    assert choose(torus, "first_fit", busy, 4) == (1, 2, 0, 2, 2, 1)


@pytest.mark.parametrize("need", [0, 1, 8, 9])
def test_a_candidate_must_leave_the_head_its_box(need):
    busy = np.ones((2, 2, 8), bool)
    busy[0, 0] = False
    later = np.zeros((2, 2, 8), bool)
    later[1] = True  # at the shadow time 2 lines are free: with one taken, 8 nodes are left
    picked = choose(Torus(2, 2, 8), "first_fit", busy, 8, later=later, need=need)
    assert picked == ((0, 0, 0, 1, 1, 8) if need <= 8 else None)
