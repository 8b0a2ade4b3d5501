"""CurveBestFit: the curves, and which intervals of them a job gets, by brute force."""

from itertools import groupby, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.policies.curves import CURVES, nodes_along
from faultsim.reference.cluster import curve_best_fit as reference
from helpers.runs import logs

SHAPES = list(product(range(1, 6), repeat=3))
EXTENT = st.integers(1, 4)


def steps(curve, shape):
    """How far apart the nodes are that follow each other."""
    return np.abs(np.diff(np.unravel_index(nodes_along(curve, shape), shape))).sum(axis=0)


@pytest.mark.parametrize("curve", CURVES)
def test_a_curve_visits_every_node_once(curve):
    for shape in SHAPES:
        assert sorted(nodes_along(curve, shape)) == list(range(np.prod(shape)))


@pytest.mark.parametrize("curve", CURVES)
def test_curves_equal_the_reference(curve):
    for shape in SHAPES:
        assert nodes_along(curve, shape).tolist() == reference.nodes_along(curve, shape)


def test_a_snake_makes_steps_of_one():
    assert all((steps("snake", shape) == 1).all() for shape in SHAPES)


@pytest.mark.parametrize("shape", [(8, 8, 8), (1, 8, 8), (8, 1, 8), (4, 4, 8), (8, 4, 8), (1, 9, 1), (32, 32, 64)])
def test_a_hilbert_curve_makes_steps_of_one_where_it_skips_nothing_in_between(shape):
    assert (steps("hilbert", shape) == 1).all()


def programmed(axes, bits):
    """[skilling2004]: from distances along the curve, their bits dealt to the axes, to coordinates."""
    distance = np.arange(2 ** (axes * bits))
    x = [np.zeros_like(distance) for _ in range(axes)]
    for bit in range(axes * bits):
        x[bit % axes] |= (distance >> (axes * bits - 1 - bit) & 1) << (bits - 1 - bit // axes)
    last = x[-1] >> 1
    for i in reversed(range(1, axes)):
        x[i] ^= x[i - 1]
    x[0] ^= last
    for q in (2**k for k in range(1, bits)):
        for i in reversed(range(axes)):
            inverts = x[i] & q != 0
            changed = np.where(inverts, 0, (x[0] ^ x[i]) & (q - 1))
            x[0] = np.where(inverts, x[0] ^ (q - 1), x[0] ^ changed)
            if i:
                x[i] = x[i] ^ changed
    return x


@pytest.mark.parametrize("shape", [(4, 4, 4), (8, 8, 8), (16, 16, 16), (1, 8, 8), (16, 1, 16)])
def test_a_hilbert_curve_is_that_of_the_paper(shape):
    extents = [extent for extent in shape if extent > 1]
    points = programmed(len(extents), max(shape).bit_length() - 1)
    assert nodes_along("hilbert", shape).tolist() == np.ravel_multi_index(points, extents).tolist()


@given(st.tuples(EXTENT, EXTENT, EXTENT), st.sampled_from(list(CURVES)), st.data())
def test_each_job_gets_the_best_intervals(shape, curve, data):
    """Runs again from the record, one stay after another."""
    machine = fs.Cluster(int(np.prod(shape)), shape=shape)
    options = {"scheduler": fs.Fcfs(), "placement": fs.CurveBestFit(curve), "start_delay": 1}
    held = fs.simulate(data.draw(logs(machine.nodes)), machine, record=True, **options).allocations
    cuts = held["node_offsets"]
    stays = [set(held["nodes"][begin:end].tolist()) for begin, end in pairwise(cuts)]
    for row, mine in enumerate(stays):
        before = (held["begin"][:row] <= held["begin"][row]) & (held["end"][:row] > held["begin"][row])
        busy = set().union(*(stays[other] for other in np.flatnonzero(before)))
        order = nodes_along(curve, shape).tolist()
        free = [list(nodes) for is_free, nodes in groupby(order, key=lambda node: node not in busy) if is_free]
        lengths = sorted(map(len, free), reverse=True)
        enough = [nodes for nodes in free if len(nodes) >= len(mine)]
        if enough:
            assert mine == set(min(enough, key=len)[: len(mine)])  # min() keeps the first of equals
        else:
            touched = [nodes for nodes in free if mine & set(nodes)]
            fewest = next(k for k in range(len(lengths) + 1) if sum(lengths[:k]) >= len(mine))
            assert len(touched) == fewest
            assert all(mine & set(nodes) == set(nodes[: len(mine & set(nodes))]) for nodes in touched)


def test_best_fit_by_hand():
    """In a row of 10 full nodes, 1-4 and 7-8 become free, in this order; then jobs of 2, 4 and 1 nodes arrive."""
    log = fs.Workload(
        submit=[0, 0, 0, 0, 0, 0, 5, 6, 7], runtime=[99, 2, 3, 99, 4, 99, 9, 9, 9], size=[1, 1, 3, 2, 2, 1, 2, 4, 1]
    )
    machine = fs.Cluster(10, shape=(1, 1, 10))
    result = fs.simulate(log, machine, placement=fs.CurveBestFit(), scheduler=fs.Fcfs(), record=True)
    cuts, nodes = result.allocations["node_offsets"], result.allocations["nodes"].tolist()
    last = [nodes[cuts[row] : cuts[row + 1]] for row in (6, 7, 8)]
    assert last == [[7, 8], [1, 2, 3, 4], [7]]


def test_coordinates_are_needed():
    log = fs.Workload(submit=[0], runtime=[1], size=[1])
    with pytest.raises(fs.OptionError, match=r"CurveBestFit .* cluster:8 has none: use Cluster\(8, shape="):
        fs.simulate(log, fs.Cluster(8), placement=fs.CurveBestFit())
    with pytest.raises(fs.OptionError, match="unknown curve 'peano'"):
        fs.CurveBestFit("peano")


def test_results_travel(tmp_path):
    log = fs.Workload(submit=[0, 0], runtime=[5, 5], size=[3, 4])
    result = fs.simulate(log, fs.Cluster(8, shape=(2, 2, 2)), placement=fs.CurveBestFit("hilbert"), record=True)
    result.save(tmp_path / "result.npz")
    loaded = fs.load_result(tmp_path / "result.npz")
    assert loaded.machine == result.machine
    assert fs.rerun(loaded).allocations["nodes"].tolist() == result.allocations["nodes"].tolist()
