"""What machines answer about themselves, so that nothing outside their folder has to test for a class."""

import ast
from math import prod
from pathlib import Path

import pytest

import faultsim as fs
from faultsim.machines.kinds import KINDS

PACKAGE = Path(fs.__file__).parent
CLASSES = {cls.__name__ for cls in KINDS.values()}
MACHINES = [
    fs.Cluster(12),
    fs.Cluster(12, shape=(2, 2, 3)),
    fs.Torus(2, 3, 4),
    fs.Torus(2, 3, 4, wrap=False),
    fs.Pod.tpu_v4(),
    fs.Pod((2, 2, 3), wiring="static", aligned=False, largest=4),
    fs.Pod((2, 2, 3), spares=2),
]


def lines_that_test(text: str) -> list[int]:
    """The lines that test for a class of machine, or compare the name of one."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
            named = {getattr(each, "id", getattr(each, "attr", "")) for each in ast.walk(node.args[1])}
            if named & CLASSES:
                found.append(node.lineno)
        if isinstance(node, ast.Compare) and ast.unparse(node.left).endswith("machine.name"):
            found.append(node.lineno)
    return found


def test_nothing_outside_machines_tests_for_a_class():
    paths = [path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE / "machines"]
    found = {str(path): lines for path in paths if (lines := lines_that_test(path.read_text(encoding="utf-8")))}
    assert found == {}


def test_the_search_finds_such_tests():
    lines = (
        "isinstance(run.machine, Pod)\nisinstance(m, Torus | Pod)\nrun.machine.name == 'pod'\nisinstance(log, Workload)"
    )
    assert sorted(lines_that_test(lines)) == [1, 2, 3]


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_answers_agree(machine):
    assert machine.any_nodes + machine.has_boxes + (machine.blocks is not None) == 1
    assert prod(machine.array_shape) == machine.nodes
    assert machine.has_boxes == (len(machine.array_shape) == 3)
    blocks, size = machine.blocks or (machine.nodes, 1)
    assert blocks * size == machine.nodes
    assert machine.largest_job <= (blocks - machine.held_back) * size
    assert 1 <= machine.first_events(4096) <= 4096
    log = fs.Workload([0, 0], [5, 5], [1, machine.largest_job])
    forms, which = machine.speed_forms(log)
    assert forms[which[0]].along == (1, 1, 1)
    assert fs.Run(log, machine).simulate().jobs["finish"].tolist()[0] == 5.0


def test_the_largest_job_is_the_largest_that_runs():
    for machine in MACHINES:
        with pytest.raises(fs.InputError, match=f"larger than the {machine.largest_place}"):
            fs.simulate(fs.Workload([0], [5], [machine.largest_job + 1]), machine)


def test_a_machine_that_only_answers_is_drawn_and_measured():
    """The defaults are those of a machine whose jobs take any free nodes."""

    class Rack(fs.Cluster):
        """Blocks of two nodes, of which one is held back."""

        @property
        def blocks(self):
            return self.nodes // 2, 2

        @property
        def largest_job(self):
            return self.nodes - 2

    run = fs.Run(fs.Workload([0], [5], [6]), Rack(8))
    assert run.simulate().jobs["finish"].tolist() == [5.0]
    with pytest.raises(fs.InputError, match="6 nodes"):
        fs.simulate(fs.Workload([0], [5], [7]), Rack(8))
