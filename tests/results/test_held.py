"""Nodes that jobs held, kept as ranges: the same as lists, and no more of them on a larger machine."""

from dataclasses import asdict
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.results import held as module
from faultsim.results.held import Held, nodes_of
from faultsim.simulation.lowering import lower
from helpers.engines import compiled

NODES = st.lists(st.sets(st.integers(0, 40), min_size=1).map(sorted), max_size=8)


def ranges(nodes):
    """By definition: a node begins a range unless the one before it is there."""
    found = []
    for node in nodes:
        if found and node == sum(found[-1]):
            found[-1][1] += 1
        else:
            found.append([node, 1])
    return found


def held_of(stays):
    parts = [ranges(nodes) for nodes in stays]
    return Held(
        {
            "job": np.arange(len(stays)),
            "node_offsets": np.cumsum([0] + [len(nodes) for nodes in stays]),
            "range_offsets": np.cumsum([0] + [len(part) for part in parts]),
            "ranges": np.array([part for row in parts for part in row], np.int32).reshape(-1, 2),
        }
    )


@given(NODES, st.integers(1, 60), st.data())
def test_ranges_list_the_same_nodes(stays, block, data):
    flat = np.array([node for nodes in stays for node in nodes], np.int32)
    held = held_of(stays)
    assert list(held) == ["job", "node_offsets", "nodes"]
    assert (len(held), len(held.keys())) == (len(stays), 3)
    assert "nodes" in held
    assert "ranges" not in held
    with patch.object(module, "_BLOCK", block):
        np.testing.assert_array_equal(np.concatenate([np.empty(0, np.int32), *held.blocks()]), flat, strict=True)
    rows = np.array(data.draw(st.lists(st.integers(0, len(stays) - 1))) if stays else [], int)
    plain = {"node_offsets": held["node_offsets"], "nodes": flat}
    wanted = np.array([node for row in rows for node in stays[row]], np.int32)
    np.testing.assert_array_equal(nodes_of(held, rows), wanted, strict=True)
    np.testing.assert_array_equal(nodes_of(plain, rows), wanted, strict=True)
    np.testing.assert_array_equal(held["nodes"], flat, strict=True)
    assert held["nodes"] is held["nodes"]
    assert not held["nodes"].flags.writeable


@pytest.fixture(scope="module")
def run():
    rng = np.random.default_rng(8)
    log = fs.Workload(
        submit=np.sort(rng.integers(0, 400, 120)), runtime=rng.integers(1, 90, 120), size=rng.integers(1, 150, 120)
    )
    return fs.Run(log, fs.Cluster(200, shape=(2, 10, 10)), record=True)


def test_files_hold_the_nodes_as_the_plain_engine_lists_them(run, tmp_path, monkeypatch):
    fast, slow = run.simulate(), run.simulate(engine="reference")
    assert isinstance(fast.allocations, Held)
    monkeypatch.setattr(module, "_BLOCK", 100)
    for name, result in (("fast", fast), ("slow", slow)):
        result.save(tmp_path / name)
        result.write_batsim(tmp_path / f"{name}.csv")
    assert "nodes" not in fast.allocations._columns  # nobody needed all of them at once
    assert (tmp_path / "fast.csv").read_bytes() == (tmp_path / "slow.csv").read_bytes()
    with np.load(tmp_path / "fast") as mine, np.load(tmp_path / "slow") as theirs:
        assert mine.files == theirs.files
        for name in theirs.files:
            if name != "facts.json":  # it has the times of day
                np.testing.assert_array_equal(mine[name], theirs[name], name, strict=True)
    np.testing.assert_array_equal(fast.dispersal, slow.dispersal, strict=True)
    loaded = fs.load_result(tmp_path / "fast")
    for name in fast.allocations:
        np.testing.assert_array_equal(loaded.allocations[name], fast.allocations[name], name, strict=True)


def recorded_ranges(nodes):
    """How many are kept of jobs that hold between a quarter and a half of the machine."""
    rng = np.random.default_rng(1)
    size = (rng.integers(16, 33, 200) * (nodes // 64)).astype(np.int32)
    runtime = rng.integers(1, 60, 200).astype(float)
    columns = {"submit": np.arange(200.0) * 10.0, "runtime": runtime, "estimate": runtime, "size": size}
    given = lower(fs.Run(fs.Workload(**columns), fs.Cluster(nodes), record=True))
    held = compiled(asdict(given.settings), columns)["allocations"]
    assert held["node_offsets"][-1] == size.sum()
    return len(held.ranges)


def test_work_what_is_recorded_does_not_grow_with_the_machine():
    assert recorded_ranges(1 << 16) == recorded_ranges(1 << 8) < 1000
