"""`Resources`: how long jobs and transfers take, and workflows that do not fit."""

import pickle
from operator import call

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import InputError, OptionError
from helpers.refusals import refusals

WF = fs.Workflow([10, 30], [(0, 1, 600)], name="two")


def test_durations_and_transfers() -> None:
    assert fs.Resources(2).durations(WF).tolist() == [[10, 10], [30, 30]]
    assert fs.Resources(speed=[1, 4]).durations(WF).tolist() == [[10, 2.5], [30, 7.5]]
    matrix = WF.with_cost([[1, 2], [3, 4]])
    assert fs.Resources(2).durations(matrix) is matrix.cost
    assert fs.Resources(2).transfer_times(WF, 0, 1).tolist() == [600]
    assert fs.Resources(2).transfer_times(WF, 1, 1).tolist() == [0]
    assert fs.Resources(2, bandwidth=100).transfer_times(WF, 0, 1).tolist() == [6]
    uneven = fs.Resources(2, bandwidth=[[0, 100], [50, 0]])
    assert uneven.transfer_times(WF, 0, 1).tolist() == [6]
    assert uneven.transfer_times(WF, 1, 0).tolist() == [12]
    assert fs.Resources(2, bandwidth=np.inf).transfer_times(WF, 0, 1).tolist() == [0]


test_bad_options = refusals(
    OptionError,
    call,
    (lambda: fs.Resources(), "needs a number of nodes, or speed="),
    (lambda: fs.Resources(0), "nodes of Resources must be at least 1"),
    (lambda: fs.Resources(2.0), "must be a whole number"),
    (lambda: fs.Resources(3, speed=[1, 2]), "speed: 2 values for 3 nodes"),
    (lambda: fs.Resources(speed=[]), "speed: expected one number for each node, got none"),
    (lambda: fs.Resources(speed=[1, 0]), "speed, node 1: 0 is not above 0"),
    (lambda: fs.Resources(speed=[1, float("nan")]), "speed, node 1: nan is not a finite number"),
    (lambda: fs.Resources(2, bandwidth=0), "bandwidth must be above 0"),
    (lambda: fs.Resources(2, bandwidth="fast"), "bandwidth must be a number"),
    (lambda: fs.Resources(2, bandwidth=[1, 2]), r"bandwidth: expected a number or shape \(2, 2\), got \(2,\)"),
    (lambda: fs.Resources(2, bandwidth=[[0, 1], [-1, 0]]), "bandwidth from node 1 to node 0: -1 is not above 0"),
    (lambda: fs.Resources(2, bandwidth=[[0, float("nan")], [1, 0]]), "from node 0 to node 1: nan is not above 0"),
    (lambda: fs.Resources(2, bandwidth=[["a"]]), "expected a number, or a matrix of numbers"),
    (lambda: fs.Resources(2).transfer_times(WF, 2, 0), "source must be at least 0 and at most 1, got 2"),
    (lambda: fs.Resources(2).transfer_times(WF, 0, 2), "target must be at least 0 and at most 1, got 2"),
    (lambda: fs.Resources(2).transfer_times(WF, 0, -1), "target must be at least 0 and at most 1, got -1"),
)


def test_workflows_that_do_not_fit() -> None:
    matrix = WF.with_cost(np.ones((2, 4)))
    with pytest.raises(InputError, match="workflow 'two': its costs are for 4 nodes, the resources have 3"):
        fs.Resources(3).durations(matrix)
    with pytest.raises(InputError, match="its costs are a matrix, so the speeds of the resources must all be 1"):
        fs.Resources(speed=[1, 1, 1, 2]).check(matrix)
    in_bytes = WF.with_transfer([600], "bytes")
    with pytest.raises(InputError, match="transfers are in bytes; give the resources a bandwidth"):
        fs.Resources(2).transfer_times(in_bytes, 0, 1)
    fs.Resources(2, bandwidth=100).check(in_bytes)
    fs.Resources(2).check(in_bytes.with_transfer_factor(0))


def test_equality_print_pickle() -> None:
    uneven = fs.Resources(2, bandwidth=[[5, 100], [50, 7]])
    assert uneven == fs.Resources(2, bandwidth=[[0, 100], [50, 0]])
    assert uneven != fs.Resources(2)
    assert pickle.loads(pickle.dumps(uneven)) == uneven
    assert hash(fs.Resources(2)) == hash(fs.Resources(speed=[1, 1]))
    assert not uneven.bandwidth.flags.writeable
    assert repr(uneven) == "Resources(2, bandwidth=<2 x 2>)"
    assert repr(fs.Resources(speed=range(1, 10))) == "Resources(speed=[1, 2, 3, 4, 5, 6, 7, 8, ...])"
    assert repr(fs.Resources(3, bandwidth=1e6)) == "Resources(3, bandwidth=1e+06)"
    assert fs.Resources(3).lower() == {"nodes": 3, "speed": None, "bandwidth": None}
    with pytest.raises(AttributeError, match="read-only"):
        uneven.nodes = 3
    with pytest.raises(AttributeError, match="read-only"):
        del uneven.speed
