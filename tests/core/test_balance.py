"""Oliner's placement rules: the core equals its plain twin, near-ties and permits included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultsim._core.torus.chooser import Chooser
from faultsim._core.torus.occupancy import Torus
from faultsim.reference.torus import balance as twin
from faultsim.reference.torus import partition as reference

ORDERS = list(reference.BOX_ORDERS)
SHAPES = [(4, 4, 8), (4, 4, 4), (3, 4, 5), (2, 3, 7), (1, 1, 24), (5, 5, 2), (5, 5, 6), (3, 3, 17), (1, 2, 70)]
PROBABILITIES = [0.01, 0.1, 0.5, 0.9, 1.0, 1e-9, 4e-10, 1 - 1e-9]


def busy_nodes(rng, shape, boxes):
    """Nodes at random, or boxes as jobs leave them."""
    if not boxes:
        return rng.random(shape) < rng.choice([0.0, 0.03, 0.1, 0.3, 0.6])
    busy = np.zeros(shape, bool)
    for _ in range(rng.integers(0, 8)):
        base, extent = rng.integers(0, shape), rng.integers(1, [n // 2 + 2 for n in shape])
        busy[np.ix_(*((base[i] + np.arange(extent[i])) % shape[i] for i in range(3)))] = True
    return busy


def scene(rng, shape, wrap):
    """An occupancy, a feasible size, failing nodes and a permit."""
    busy = busy_nodes(rng, shape, rng.random() < 0.5)
    largest = max(1, reference.max_free(busy, wrap))
    size = reference.next_feasible(*shape, int(rng.integers(1, max(2, min(largest, 24) + 1))))
    failing = rng.random(shape) < rng.choice([0.01, 0.05, 0.2, 0.5, 0.95, 1.0])
    options = {"need": int(rng.integers(0, busy.size + 1))}
    options["later"] = busy & (rng.random(shape) < 0.5) if rng.random() < 0.25 else None
    options["forbidden"] = rng.random(shape) < 0.1 if rng.random() < 0.25 else None
    return busy, size, failing, options


def agree(chooser, wrap, order, p, rule, busy, size, failing, options):
    """Both rules pick what the twin picks."""
    plain = {"wrap": wrap, "box_order": order, **options}
    core = {"order": ORDERS.index(order), "failing": failing, **options}
    picked = chooser.choose("balancing", busy, size, p=p, rule_max=rule == "max", **core)
    assert picked == twin.balancing(busy, size, failing, p, rule, **plain)
    assert chooser.choose("tie_breaking", busy, size, **core) == twin.tie_breaking(busy, size, failing, **plain)


@settings(max_examples=150)
@given(
    st.sampled_from(SHAPES),
    st.booleans(),
    st.sampled_from(ORDERS),
    st.sampled_from(PROBABILITIES),
    st.sampled_from(["prod", "max"]),
    st.integers(0, 2**32 - 1),
)
def test_choices_equal_the_twin(shape, wrap, order, p, rule, seed):
    rng = np.random.default_rng(seed)
    agree(Chooser(Torus(*shape, wrap)), wrap, order, p, rule, *scene(rng, shape, wrap))


@settings(max_examples=20)
@given(
    st.sampled_from(SHAPES[:7]),
    st.booleans(),
    st.sampled_from(ORDERS),
    st.sampled_from(PROBABILITIES),
    st.integers(0, 99),
)
def test_what_a_finder_remembers_changes_no_answer(shape, wrap, order, p, seed):
    """One finder, the same occupancy with other predictions, permits and probabilities, between other questions."""
    rng = np.random.default_rng(seed)
    chooser = Chooser(Torus(*shape, wrap))
    busy, size, failing, options = scene(rng, shape, wrap)
    for _ in range(8):
        if rng.random() < 0.3:
            busy, size, failing, options = scene(rng, shape, wrap)
        if rng.random() < 0.5:
            failing = rng.random(shape) < 0.1
        if rng.random() < 0.3:
            options = {}
        rule = "prod" if rng.random() < 0.5 else "max"
        agree(chooser, wrap, order, p, rule, busy, size, failing, options)
        plain = {"wrap": wrap, "box_order": order, **options}
        picked = chooser.choose("max_free_partition", busy, size, order=ORDERS.index(order), **options)
        assert picked == reference.choose("max_free_partition", busy, size, **plain)


@pytest.mark.parametrize("failing", [None, "busy", "none", "forbidden"])
@pytest.mark.parametrize("p", [0.0, 0.1, 1.0])
def test_without_failing_free_nodes_it_is_max_free_partition(failing, p):
    rng = np.random.default_rng(1)
    chooser = Chooser(Torus(4, 4, 8))
    for _ in range(20):
        busy = busy_nodes(rng, (4, 4, 8), boxes=True)
        forbidden = rng.random(busy.shape) < 0.1
        mask = {None: None, "busy": busy, "none": np.zeros_like(busy), "forbidden": forbidden}[failing]
        options = {"forbidden": forbidden if failing == "forbidden" else None, "failing": mask, "p": p}
        for size in (1, 4, 12):
            wanted = chooser.choose("max_free_partition", busy, size, forbidden=options["forbidden"])
            assert chooser.choose("balancing", busy, size, **options) == wanted
            assert chooser.choose("tie_breaking", busy, size, **options) == wanted


# -- Oliner's figure 2 -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["prod", "max"])
@pytest.mark.parametrize("p", [0.01, 0.1, 0.49, 0.5, 0.51, 0.9, 1.0])
def test_figure_2_a_and_b_three_and_four_times_p_against_five(p, rule):
    """O Fig. 2 (a), (b): a job of 4 nodes on a mesh of 3 rows; `#` busy, `x` predicted to fail, `J` the job::

        # . . .      (a)  # . . .   the 9 free nodes to the    (b)  # J J .   4 are left: L_MFP = 5, P_f = 0,
        # . . .           # . . .   right become 6: L_MFP = 3       # J J .   value 5
        x . . .           J J J J   value 3 + 4 P_f                 x . . .

    (b) is chosen iff P_f > 0.5; at 0.5 both are worth 5, and (b) with its larger extent in x is the first.
    """
    busy, failing = np.zeros((3, 4, 1), bool), np.zeros((3, 4, 1), bool)
    busy[:2, 0] = True
    failing[2, 0] = True
    chooser = Chooser(Torus(3, 4, 1, False))
    picked = chooser.choose("balancing", busy, 4, failing=failing, p=p, rule_max=rule == "max")
    assert picked == ((0, 1, 0, 2, 2, 1) if p >= 0.5 else (2, 0, 0, 1, 4, 1))
    assert chooser.choose("max_free_partition", busy, 4) == (2, 0, 0, 1, 4, 1)


@pytest.mark.parametrize("p", [1e-8, 0.1, 1.0])
def test_figure_2_c_and_d_of_equal_boxes_the_one_that_does_not_fail(p):
    """O Fig. 2 (c), (d): both halves of a mesh leave the other half; the one with `x` is the first in order::

    x . . .      (c)  J J . .      (d)  x . J J
    . . . .           J J . .           . . J J
    """
    busy, failing = np.zeros((2, 4, 1), bool), np.zeros((2, 4, 1), bool)
    failing[0, 0] = True
    chooser = Chooser(Torus(2, 4, 1, False))
    assert chooser.choose("max_free_partition", busy, 4) == (0, 0, 0, 2, 2, 1)
    assert chooser.choose("balancing", busy, 4, failing=failing, p=p) == (0, 2, 0, 2, 2, 1)
    assert chooser.choose("tie_breaking", busy, 4, failing=failing) == (0, 2, 0, 2, 2, 1)


def test_tie_breaking_never_gives_up_free_space_for_a_node():
    """Figure 2 (a) again: no other box leaves as much, so the one that will fail is taken."""
    busy, failing = np.zeros((3, 4, 1), bool), np.zeros((3, 4, 1), bool)
    busy[:2, 0] = failing[2, 0] = True
    chooser = Chooser(Torus(3, 4, 1, False))
    assert chooser.choose("tie_breaking", busy, 4, failing=failing) == (2, 0, 0, 1, 4, 1)
    failing[:] = True
    assert chooser.choose("tie_breaking", busy, 4, failing=failing) == (2, 0, 0, 1, 4, 1)


# -- values that are nearly equal ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "size", "p", "share"),
    [
        ((4, 4, 8), 10, 0.3, 0.3),  # 10 P_f(1) is 3 + 4e-16
        ((3, 4, 5), 2, 4e-10, 0.6),  # a chain: 0.8e-9 from one failing node to two
        ((4, 4, 4), 8, 5e-11, 0.5),
        ((4, 4, 4), 12, 0.9, 0.95),  # 1e-10 from 11 to 12 failing nodes
    ],
)
def test_a_later_box_must_be_better_by_more_than_the_margin(shape, size, p, share):
    rng = np.random.default_rng(7)
    chooser = Chooser(Torus(*shape))
    by_margin = 0
    for _ in range(60):
        busy, failing = rng.random(shape) < 0.1, rng.random(shape) < share
        order = ORDERS[rng.integers(3)]
        agree(chooser, True, order, p, "prod", busy, size, failing, {})
        picked = twin.balancing(busy, size, failing, p, box_order=order)
        boxes = reference.permitted(busy, size, box_order=order)
        if boxes:
            before, table = reference.max_free(busy), reference.masks(*shape, True)
            values = [
                (before - reference.max_free(busy, True, table[box]))
                + twin.failure_probability(twin.failing_nodes(failing, box), p) * size
                for box in boxes
            ]
            by_margin += picked != boxes[int(np.argmin(values))]
    assert by_margin > 0  # else the cases say nothing about the margin


# -- ways to count ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(5, 5, 6), (3, 3, 17), (2, 9, 9), (1, 2, 70)])
@pytest.mark.parametrize("share", [0.03, 0.3, 0.8])
def test_counts_of_few_and_of_many_failing_nodes(shape, share):
    """Box by box, in planes and as numbers: machines of more than one integer, with nearly every node free."""
    rng = np.random.default_rng(5)
    for wrap in (False, True):
        chooser = Chooser(Torus(*shape, wrap))
        for size in (8, 18):
            busy, failing = rng.random(shape) < 0.02, rng.random(shape) < share
            order = ORDERS[rng.integers(3)]
            agree(chooser, wrap, order, 0.02, "prod", busy, size, failing, {})
