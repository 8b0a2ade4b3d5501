"""Tori of topology.yaml: what is read and refused, decisions over several tori, and `faultsim torus check`
(model.md#tori).
"""

import json

import numpy as np
import pytest

import faultsim as fs
from faultsim.cli import main
from faultsim.errors import InputError
from helpers.refusals import refused
from helpers.seed_files import seeds
from helpers.torus3d import LEFT_OUT, OUTCOMES, available_in, cases_in

pytest.importorskip("yaml")

FILE = """
- topology: flat1
  cluster_default: true
  flat: true
- topology: pods
  torus3d:
    toruses:
    - name: a
      dims: {x: 2, y: 2, z: 4}
      nodes: "n[001-016]"
      placements:
      - dims: {x: 2, y: 2, z: 2}
      - dims: [1, 1, 2]
        spacing: [1, 1, 1]
        seed: {x: 0, y: 0, z: 1}
    - name: b
      dims: 1x1x8
      regions:
      - {start: [0, 0, 0], dims: [1, 1, 3], nodes: ["m1,m[2-3]"]}
      - {start: [0, 0, 5], dims: [1, 1, 2], nodes: "m[8,9]"}
      placements: [{dims: [1, 1, 2]}]
"""


@pytest.fixture
def path(tmp_path):
    (tmp_path / "topology.yaml").write_text(FILE)
    return tmp_path / "topology.yaml"


def shape_of(each):
    spacing = zip(each.get("spacing") or (0, 0, 0), each["dims"], strict=True)
    steps = tuple(step or extent for step, extent in spacing)
    return fs.TopologyShape(tuple(each["dims"]), steps, tuple(each.get("seed") or (0, 0, 0)))


def topology_of(case):
    tori = [
        fs.TopologyTorus(
            torus["name"], tuple(torus["dims"]), tuple(torus["cells"]), tuple(map(shape_of, torus["placements"]))
        )
        for torus in case["tori"]
    ]
    return fs.TorusTopology(tori, case["nodes"])


def test_decisions_are_those_of_slurm(data_dir):
    """Outcome, nodes and fragmentation of all cases, with segments, weights and required nodes."""
    for case in cases_in(data_dir):
        topology, available = topology_of(case), available_in(case)
        assert topology.fragmentation(available) == case["fragmentation"], case["id"]
        least, _, most = case["want"]
        found = topology.choose(
            available,
            least,
            segment=case.get("segment", 0),
            required=case.get("required", ()),
            most=most,
            weights=case.get("weights"),
        )
        if found.outcome == "elsewhere":
            assert case["kind"] in LEFT_OUT, case["id"]
            continue
        assert found.outcome == OUTCOMES[case["result"]], case["id"]
        assert list(found.nodes) == (case["chosen"] or []), case["id"]


def test_what_a_file_says(path):
    found = fs.read_topology_yaml(path)
    assert (found.name, found.nodes, found.skipped) == ("pods", 21, ("flat1 (flat)",))
    assert found.names[:2] == ("n001", "n002")
    assert found.names[-2:] == ("m8", "m9")
    a, b = found.tori
    assert (a.dims, a.listed) == ((2, 2, 4), "2x2x2+1x1x2/1x1x1@0x0x1")
    assert b.cells == (16, 17, 18, -1, -1, 19, 20, -1)
    assert fs.SlurmTorus(a.listed).shapes == a.listed
    assert found.choose(range(16), 2).nodes == (8, 12)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("torus3d:", "tree:", "no topology is of the kind torus3d; there are flat1 .flat., pods .tree."),
        ('"n[001-016]"', '"n[001-015]"', "2x2x4 has 16 cells, got 15 nodes"),
        ('"n[001-016]"', '"n[016-001]"', "does not ascend"),
        ('"n[001-016]"', '"n[001-016"', "no host list"),
        ("dims: 1x1x8", "dims: 1x1", "torus 'b', dims: three whole numbers"),
        ("{x: 2, y: 2, z: 2}", "{x: 2, y: 2, z: 9}", "extent along z must be 1 to 4, got 9"),
        ("spacing: [1, 1, 1]", "spaceing: [1, 1, 1]", "unknown key 'spaceing' .did you mean 'spacing'"),
        ("seed: {x: 0, y: 0, z: 1}", "seed: {x: 2, y: 0, z: 1}", "seed along x must be 0 to 1, got 2"),
        ("start: [0, 0, 5]", "start: [0, 0, 2]", "region 2: overlaps an earlier region"),
        ("start: [0, 0, 5]", "start: [0, 0, 7]", "regions do not wrap"),
        ('"m[8,9]"', '"m[1,9]"', "node m1 is twice: a node has one cell"),
        ("name: b", "name: a", "two tori are called 'a'"),
        ("- topology: pods", "- topology: [", "is no YAML file"),
        ("toruses:", "torus:", "unknown key 'torus'"),
        ('nodes: "n[001-016]"', "regions: 5", "torus 'a': a list of regions is needed, got 5"),
    ],
)
def test_what_is_wrong_is_said_where_it_is(path, old, new, message):
    assert old in FILE
    path.write_text(FILE.replace(old, new))
    with pytest.raises(InputError, match=message):
        fs.read_topology_yaml(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        fs.read_topology_yaml(tmp_path / "topology.yaml")


def test_check_prints_what_lacks(path, capsys):
    assert main(["torus", "check", str(path)]) == 0
    text = capsys.readouterr().out
    assert "skipped, as they are of other kinds: flat1 (flat)" in text
    assert "sizes without one: 1, 3-7, 9-16" in text
    assert "no box of 2 nodes reaches 60.0 % of the nodes" in text


def test_check_in_json(path, capsys):
    assert main(["torus", "check", str(path), "--json"]) == 0
    a, b = json.loads(capsys.readouterr().out)["tori"]
    assert [shape["anchors"] for shape in a["shapes"]] == [16, 2]
    assert [shape["overlaps"] for shape in a["shapes"]] == [True, False]
    assert (b["empty_cells"], b["shapes"][0]["complete_anchors"], b["unreached_share"]) == (3, 1, {"2": 0.6})


def test_numbers_of_a_torus_and_a_shape_that_are_not_there(tmp_path):
    """A shape beyond the last was read beyond the end of an array."""
    path = tmp_path / "topology.yaml"
    path.write_bytes(seeds(tmp_path)["topology"])
    found = fs.read_topology_yaml(path)
    assert found.anchors(0, 0)[0] > 0
    for call in (found.anchors, found.overlaps):
        refused(fs.OptionError, "shape must be at least 0 and at most 0, got 1", call, 0, 1)
        refused(fs.OptionError, "torus must be at least 0 and at most 0, got 1", call, 1, 0)
    refused(fs.OptionError, "torus must be at least 0", found.filled, 1)
    refused(fs.OptionError, "size must be at least 1 and at most 8, got 0", found.reached, 0, 0)
    refused(fs.InputError, "available: expected a list or an array", found.fragmentation, [[1, 2], [3]])


EQUAL = """
- topology: pods
  torus3d:
    toruses:
    - {name: a, dims: [2, 1, 4], nodes: "n[1-8]", placements: [{dims: [1, 1, 2]}, {dims: [2, 1, 4]}]}
    - {name: b, dims: [2, 1, 4], nodes: "m[1-8]", placements: [{dims: [1, 1, 2]}, {dims: [2, 1, 4]}]}
"""


def test_equal_tori_are_a_machine_of_simulations(tmp_path):
    """Every decision of a simulation is that of the topology, node by node."""
    path = tmp_path / "topology.yaml"
    path.write_text(EQUAL)
    topology = fs.read_topology_yaml(path)
    listed = fs.SlurmTorus(topology.tori[0].listed, tori=len(topology.tori))
    log = fs.Workload(submit=range(7), runtime=[50, 9, 50, 50, 2, 50, 50], size=[2, 2, 8, 2, 2, 2, 2])
    machine = fs.Torus(*topology.joined)
    held = fs.simulate(log, machine, placement=listed, scheduler="fcfs", record=True).allocations
    free, numbers = set(range(16)), np.array(topology.joined_nodes).reshape(machine.shape)
    boxes = zip(*(held[name].tolist() for name in ("job", "begin", "end", *"xyzabc")), strict=True)
    ended = []
    for _, begin, end, x, y, z, a, b, c in sorted(boxes, key=lambda row: row[1]):
        for nodes in [nodes for until, nodes in ended if until <= begin]:
            free |= nodes
        ended = [(until, nodes) for until, nodes in ended if until > begin]
        nodes = set(numbers[x : x + a, y : y + b, z : z + c].ravel().tolist())
        assert topology.choose(sorted(free), a * b * c).nodes == tuple(sorted(nodes))
        free -= nodes
        ended.append((end, nodes))
    assert len(held["job"]) == len(log)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("b, dims: [2, 1, 4]", "b, dims: [1, 2, 4]", "'a' and 'b' differ in extents: 2x1x4 and 1x2x4"),
        ("{dims: [2, 1, 4]}]}\n    - {name: b", "{dims: [2, 1, 2]}]}\n    - {name: b", "differ in shapes"),
        ('nodes: "m[1-8]"', "regions: [{start: [0, 0, 0], dims: [2, 1, 3], nodes: 'm[1-6]'}]", "'b' has 2"),
    ],
)
def test_other_tori_are_none(tmp_path, old, new, message):
    path = tmp_path / "topology.yaml"
    assert old in EQUAL
    text = EQUAL.replace(old, new)
    path.write_text(text.replace("{dims: [2, 1, 4]}", "{dims: [1, 1, 4]}") if "[1, 2, 4]" in new else text)
    with pytest.raises(InputError, match=message):
        fs.read_topology_yaml(path).joined  # noqa: B018
