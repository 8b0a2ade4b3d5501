"""Workflows in every form that is about: the files of shared/data/cases, and others of their kinds."""

import json
from pathlib import Path
from typing import Any

import pytest

import faultsim as fs
from faultsim.cli import main
from helpers.refusals import refused


@pytest.fixture
def case(data_dir: Path) -> Any:
    """The path of a case by its name."""
    if not (data_dir / "cases").is_dir():
        pytest.skip("the folder of data has no cases")
    return lambda name: data_dir / "cases" / name


@pytest.mark.parametrize(
    ("name", "labels", "costs", "carried"),
    [
        ("J01-wf13.json", ("a", "b"), [10, 20.5], 100),
        ("J02-wf14.json", ("ID1", "ID2"), [10, 20.5], 0),
        ("J04-wf12-jobs.json", ("a", "b"), [10, 5], 0),
        ("J05-wf15-multicore.json", ("ID1", "ID2"), [10, 5], 0),
    ],
)
def test_every_form(case: Any, name: str, labels: tuple[str, ...], costs: list[float], carried: float) -> None:
    flow = fs.read_wfcommons(case(name))
    assert (flow.labels, flow.cost.tolist()) == (labels, costs)
    assert (flow.edge_from.tolist(), flow.edge_to.tolist(), flow.transfer.tolist()) == ([0], [1], [carried])
    assert main(["show", str(case(name))]) == 0


def test_no_execution_and_contradictions(case: Any) -> None:
    refused(fs.InputError, "workflow.execution: the field is missing", fs.read_wfcommons, case("J03-wf15-no-exec.json"))
    refused(fs.InputError, "is missing here", fs.read_wfcommons, case("J06-children-only.json"))


def test_negative_run_time_of_dax(case: Any) -> None:  # D01
    flow = fs.read_dax(case("D01-neg-runtime.dax"))
    assert flow.cost.tolist() == [10.5, 0, 3]
    assert flow.dropped == {"negative run time taken as 0": 1}
    refused(fs.InputError, "line 4: runtime '-1.03'", fs.read_dax, case("D01-neg-runtime.dax"), strict=True)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("D02-missing-runtime.dax", "job 'ID00001' has no runtime"),
        ("D05-cycle.dax", "cycle"),
        ("D06-unknown-parent.dax", "no job has the id 'Z'"),
    ],
)
def test_dax_that_is_refused(case: Any, name: str, what: str) -> None:
    refused(fs.InputError, what, fs.read_dax, case(name))


def test_dax_3_6(case: Any) -> None:  # D03
    assert fs.read_dax(case("D03-dax3.6.dax")).cost.tolist() == [12.5, 3]


def test_stg(case: Any) -> None:  # G01 to G03
    assert fs.read_stg(case("G01.stg")).cost.tolist() == [5, 7, 2]
    refused(fs.InputError, "expected task 0 here", fs.read_stg, case("G02-no-dummies.stg"))
    refused(fs.InputError, "line 3: 0 predecessors, 1 promised", fs.read_stg, case("G03-stg-comm.stg"))


def older(tmp_path: Path, *tasks: dict[str, Any], where: str = "tasks", **options: Any) -> fs.Workflow:
    path = tmp_path / "flow.json"
    path.write_text(json.dumps({"name": "x", "schemaVersion": "1.?", "workflow": {where: tasks}}))
    return fs.read_wfcommons(path, **options)


@pytest.mark.parametrize(
    ("tasks", "edges"),
    [
        ([{"name": "a", "runtime": 1}, {"name": "b", "runtime": 2, "parents": ["a"]}], [(0, 1)]),
        ([{"name": "a", "runtime": 1, "children": ["b"]}, {"name": "b", "runtime": 2}], [(0, 1)]),
        ([{"name": "x", "id": "1", "runtime": 1, "children": ["2"]}, {"name": "x", "id": "2", "runtime": 2}], [(0, 1)]),
        ([{"name": "a", "id": "1", "runtime": 1}, {"name": "b", "id": "2", "runtime": 2, "parents": ["a"]}], [(0, 1)]),
        ([{"id": "1", "runtimeInSeconds": 1}, {"id": "2", "runtimeInSeconds": 2}], []),
    ],
)
@pytest.mark.parametrize("where", ["tasks", "jobs"])
def test_older_forms(tmp_path: Path, tasks: list[dict[str, Any]], edges: list[tuple[int, int]], where: str) -> None:
    flow = older(tmp_path, *tasks, where=where)
    assert flow.cost.tolist() == [1, 2]
    assert list(zip(flow.edge_from.tolist(), flow.edge_to.tolist(), strict=True)) == edges


def test_older_sizes_of_files(tmp_path: Path) -> None:
    one = {"name": "a", "runtime": 1, "files": [{"link": "output", "name": "f", "sizeInBytes": 7}]}
    two = {"name": "b", "runtime": 1, "parents": ["a"], "files": [{"link": "input", "name": "f"}]}
    assert older(tmp_path, one, two).transfer.tolist() == [7]


@pytest.mark.parametrize(
    ("task", "what"),
    [
        ({"name": "a"}, r"workflow.tasks\[0\].runtime: the field is missing"),
        ({"name": "a", "runtime": "x"}, "expected a number, got a string"),
        ({"name": "a", "runtime": 1, "parents": ["q"]}, "no task has the id or name 'q'"),
        ({"runtime": 1}, "name: the field is missing"),
        ({"name": "a", "runtime": 1, "parents": ["a"]}, "cycle|itself|same job"),
    ],
)
def test_older_forms_that_are_refused(tmp_path: Path, task: dict[str, Any], what: str) -> None:
    refused(fs.InputError, what, older, tmp_path, task)


def test_negative_run_times(tmp_path: Path) -> None:
    bad = {"name": "a", "runtime": -1.5}
    assert older(tmp_path, bad).dropped == {"negative run time taken as 0": 1}
    refused(fs.InputError, "run time -1.5", older, tmp_path, bad, strict=True)
    path = tmp_path / "x.stg"
    path.write_text("1\n0 0 0\n1 -3 1 0\n2 0 1 1\n")
    assert fs.read_stg(path).dropped == {"negative run time taken as 0": 1}
    refused(fs.InputError, "line 3: time -3", fs.read_stg, path, strict=True)
    runs = {"tasks": [{"id": "a", "runtimeInSeconds": -2}]}
    flow = {"specification": {"tasks": [{"id": "a", "parents": []}]}, "execution": runs}
    (tmp_path / "y.json").write_text(json.dumps({"schemaVersion": "1.6", "workflow": flow}))
    assert fs.read_wfcommons(tmp_path / "y.json").cost.tolist() == [0]
    refused(fs.InputError, "-2; expected", fs.read_wfcommons, tmp_path / "y.json", strict=True)
