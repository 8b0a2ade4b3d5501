"""Dispersal: the mean distance of two nodes of a job, against brute force, and what contiguity costs."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

import faultsim as fs
from helpers.results import nodes_of
from helpers.runs import runs

LOG = fs.Workload(submit=[0, 0], runtime=[10, 5], size=[4, 1])


def distance(machine, one, other):
    """Hops between two nodes."""
    wrap = isinstance(machine, fs.Torus) and machine.wrap
    apart = [abs(int(a) - int(b)) for a, b in zip(one, other, strict=True)]
    return sum(min(d, length - d) if wrap else d for d, length in zip(apart, machine.shape, strict=True))


def points_of(result):
    """The coordinates of the nodes that each job held last."""
    held, shape = result.allocations, result.machine.shape
    places = (list(zip(*np.unravel_index(nodes, shape), strict=True)) for nodes in nodes_of(held, shape))
    return dict(zip(held["job"].tolist(), places, strict=True))


@given(runs(record=True))
def test_dispersal_by_brute_force(run):
    result = run.simulate()
    if result.machine.shape is None:
        assert math.isnan(result.metrics["mean_dispersal"])
        return
    expected = np.full(len(result), np.nan)
    for job, points in points_of(result).items():
        pairs = [distance(result.machine, one, other) for one, other in combinations(points, 2)]
        if pairs:
            expected[job] = sum(pairs) / len(pairs)
    assert result.dispersal == pytest.approx(expected, rel=1e-12, nan_ok=True)
    some = expected[~np.isnan(expected)]
    assert result.metrics["mean_dispersal"] == pytest.approx(some.mean() if len(some) else math.nan, nan_ok=True)


@pytest.mark.parametrize(
    ("machine", "expected"),
    [
        (fs.Torus(1, 1, 4), (2 * 2 + 4 * 1) / 6),  # a ring: the opposite ones are 2 apart
        (fs.Torus(1, 1, 4, wrap=False), (3 * 1 + 2 * 2 + 3) / 6),
        (fs.Cluster(4, shape=(1, 1, 4)), (3 * 1 + 2 * 2 + 3) / 6),
        (fs.Cluster(8, shape=(2, 2, 2)), (4 * 1 + 2 * 2) / 6),  # a square
    ],
)
def test_dispersal_by_hand(machine, expected):
    result = fs.simulate(LOG, machine, record=True)
    assert result.dispersal[0] == pytest.approx(expected)
    assert math.isnan(result.dispersal[1])
    assert result.metrics["mean_dispersal"] == pytest.approx(expected)
    assert "mean_dispersal" in str(result)


def test_where_there_is_none():
    without = fs.simulate(LOG, fs.Cluster(4), record=True)
    with pytest.raises(fs.OptionError, match=r"the nodes of cluster:4 have no coordinates; take Cluster\(4, shape="):
        _ = without.dispersal
    unrecorded = fs.simulate(LOG, fs.Torus(1, 1, 4))
    with pytest.raises(fs.OptionError, match="simulate with record=True"):
        _ = unrecorded.dispersal
    for result in (without, unrecorded):
        assert math.isnan(result.metrics["mean_dispersal"])
        assert "mean_dispersal" not in str(result)


def test_the_price_of_contiguity():
    """Boxes keep jobs together and make them wait; a curve lets every free node serve, and spreads them a little."""
    log = fs.synthetic.sdsc_like(1000, rng=1)
    boxes = fs.simulate(log, fs.Torus(4, 4, 8, wrap=False), record=True)
    cluster = fs.Cluster(128, shape=(4, 4, 8))
    curve = fs.simulate(log, cluster, placement=fs.CurveBestFit("hilbert"), record=True)
    anywhere = fs.simulate(log, cluster, record=True)
    assert curve.metrics["mean_wait"] < boxes.metrics["mean_wait"]
    assert curve.metrics["mean_wait"] == anywhere.metrics["mean_wait"]
    distances = [run.metrics["mean_dispersal"] for run in (boxes, curve, anywhere)]
    assert distances == sorted(distances)
    assert distances[1] < distances[2]


def test_sweeps_which_record_nothing_have_no_such_column():
    table = fs.Sweep(fs.Run(LOG, fs.Torus(1, 1, 4))).run()
    assert "mean_wait" in table.metrics
    assert "mean_dispersal" not in table.metrics
