"""Machines: values, presets, text forms, and what is refused."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given

import faultsim as fs
from faultsim.errors import OptionError
from faultsim.machines import machine_from_lowered, parse_machine
from helpers.refusals import refusals, refused
from helpers.runs import machines


def test_presets():
    assert fs.Torus.bluegene_l() == fs.Torus(4, 4, 8)
    assert fs.Torus.bluegene_l_nodes() == fs.Torus(32, 32, 64)
    assert fs.Torus.bluegene_l_nodes().nodes == 65536
    assert fs.Torus.tpu_v4() == fs.Torus(16, 16, 16)


def test_numpy_integers_become_ints():
    torus = fs.Torus(np.int64(2), np.int32(3), np.uint8(4))
    assert [type(extent) for extent in torus.shape] == [int] * 3
    assert torus.nodes == 24
    assert type(fs.Cluster(np.int64(5)).nodes) is int


def test_machines_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        fs.Cluster(4).nodes = 5


@pytest.mark.parametrize("extent", [0, -1, -100])
@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_a_torus_that_is_not_one(axis, extent):
    with pytest.raises(OptionError, match=f"the extent {axis} of a torus must be at least 1, got {extent}; use 1 for"):
        fs.Torus(**({"x": 2, "y": 2, "z": 2} | {axis: extent}))


@pytest.mark.parametrize("extent", [2.5, 4.0, "4", None, True])
def test_extents_are_whole_numbers(extent):
    refused(OptionError, "the extent y of a torus must be a whole number, got", fs.Torus, 4, extent, 4)
    refused(OptionError, "nodes of a cluster must be a whole number, got", fs.Cluster, extent)


@pytest.mark.parametrize("nodes", [0, -5, 2**31])
def test_clusters_have_nodes(nodes):
    refused(OptionError, r"nodes of a cluster must be at least 1 and at most 2.*, got", fs.Cluster, nodes)


def test_a_torus_of_too_many_nodes():
    refused(OptionError, "at most 2147483647 nodes, got 2048x1024x1024 = 2147483648", fs.Torus, 2048, 1024, 1024)


def test_wrap_is_a_flag():
    refused(OptionError, "wrap must be True or False, got 'no'", fs.Torus, 2, 2, 2, wrap="no")


@given(machines())
def test_text_and_lowered_forms_come_back(machine):
    assert parse_machine(str(machine)) == machine
    assert machine_from_lowered(machine.lower()) == machine


def test_text_forms():
    assert parse_machine("mesh:4x4x8") == fs.Torus(4, 4, 8, wrap=False)
    assert parse_machine(" TORUS:4X4X8 ") == fs.Torus(4, 4, 8)
    assert parse_machine("bluegene-l") == parse_machine("bluegene_l") == fs.Torus.bluegene_l()


test_bad_text = refusals(
    OptionError,
    parse_machine,
    ("tours:4x4x8", r"unknown machine 'tours:4x4x8' \(did you mean 'torus'\?\); write 'cluster:128'"),
    ("torus:4x4", "machine 'torus:4x4' needs three extents"),
    ("torus:4", "machine 'torus:4' needs three extents"),
    ("cluster:4x4", "machine 'cluster:4x4' needs one number, or three extents"),
    ("torus:4x4x", "needs whole numbers after the colon"),
    ("torus:4x4x2.5", "needs whole numbers after the colon"),
    ("torus:0x4x4", "the extent x of a torus must be at least 1, got 0"),
    ("torus:4x-4x4", "the extent y of a torus must be at least 1, got -4"),
    ("cluster:12x4", "needs one number"),
    ("cluster:many", "needs whole numbers"),
    ("cluster", "needs whole numbers"),
    ("cluster:0", "nodes of a cluster must be at least 1"),
    ("", "unknown machine ''"),
)


def test_clusters_with_coordinates():
    cluster = fs.Cluster(24, shape=[np.int64(2), 3, 4])
    assert cluster == parse_machine("cluster:2x3x4")
    assert cluster.shape == (2, 3, 4)
    assert cluster.lower() == {"name": "cluster", "nodes": 24, "shape": [2, 3, 4]}
    assert fs.Cluster(24).lower() == {"name": "cluster", "nodes": 24}  # as it was before there were shapes


test_shapes_that_are_none = refusals(
    OptionError,
    lambda shape: fs.Cluster(8, shape=shape),
    ((2, 3), "must be three extents"),
    ("4x4x8", "must be three extents"),
    (8, "must be three extents"),
    ((2, 2, 2.5), "must be a whole number"),
    ((2, 2, 0), "must be at least 1"),
    ((2, 2, 3), "the shape 2x2x3 of a cluster has 12 nodes, not 8"),
)


def test_bad_lowered_form():
    refused(OptionError, "unknown machine 'ring'", machine_from_lowered, {"name": "ring"})
