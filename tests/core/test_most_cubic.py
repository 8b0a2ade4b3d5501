"""MostCubic: each box that a job gets has the least surface of those that were free."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.policies import BOX_ORDERS
from faultsim.reference.torus import partition as reference
from helpers.runs import logs, machines


def surface(box):
    *_, a, b, c = box
    return 2 * (a * b + b * c + c * a)


@given(machines(torus=True), st.sampled_from(BOX_ORDERS), st.data())
def test_no_free_box_of_the_size_has_less_surface(torus, order, data):
    """Runs again from the record, one stay after another, in the order of the decisions."""
    log = data.draw(logs(torus.nodes))
    options = {"scheduler": fs.Fcfs(), "placement": fs.MostCubic(order), "start_delay": 1}
    result = fs.simulate(log, torus, record=True, **options)
    held = result.allocations
    boxes = list(zip(*(held[name].tolist() for name in "xyzabc"), strict=True))
    for row, box in enumerate(boxes):
        busy = np.zeros(torus.shape, bool)
        for other in np.flatnonzero(
            (held["begin"][:row] <= held["begin"][row]) & (held["end"][:row] > held["begin"][row])
        ):
            busy = reference.fill(busy, boxes[other])
        free = reference.find_partitions(busy, int(np.prod(box[3:])), torus.wrap, order)
        assert box == min(free, key=surface)  # min() keeps the first of equals


@pytest.mark.parametrize(
    ("order", "extents"), [(BOX_ORDERS[0], (4, 2, 2)), (BOX_ORDERS[1], (2, 2, 4)), (BOX_ORDERS[2], (2, 2, 4))]
)
def test_ties_go_to_the_first_in_box_order(order, extents):
    log = fs.Workload(submit=[0], runtime=[1], size=[16])
    held = fs.simulate(log, fs.Torus(4, 4, 8), placement=fs.MostCubic(order), record=True).allocations
    assert tuple(int(held[axis][0]) for axis in "abc") == extents
