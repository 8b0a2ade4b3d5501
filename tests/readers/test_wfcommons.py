"""`read_wfcommons`: documents that the test writes, fault by fault, and the real ones."""

import copy
import json
import time

import pytest

import faultsim as fs
from faultsim.errors import InputError
from helpers.refusals import refused


def document() -> dict:
    tasks = [
        {"id": "a", "name": "a", "parents": [], "children": ["b"], "inputFiles": ["in"], "outputFiles": ["f", "g"]},
        {"id": "b", "name": "b", "parents": ["a"], "children": [], "inputFiles": ["f", "in"], "outputFiles": []},
    ]
    runs = [{"id": "b", "runtimeInSeconds": 4}, {"id": "a", "runtimeInSeconds": 3.5}]
    files = [{"id": "f", "sizeInBytes": 1000}, {"id": "g", "sizeInBytes": 7}, {"id": "in", "sizeInBytes": 10}]
    return {
        "name": "two",
        "schemaVersion": "1.5",
        "workflow": {"specification": {"tasks": tasks, "files": files}, "execution": {"tasks": runs}},
    }


def written(tmp_path, content: object):
    path = tmp_path / "w.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def at(content: dict, path: str) -> tuple[dict, str]:
    """The object that holds a place, and the key there."""
    *above, last = path.split(".")
    for key in above:
        content = content[int(key)] if key.isdecimal() else content[key]
    return content, last


SPEC = "workflow.specification"
TASKS = f"{SPEC}.tasks"
RUNS = "workflow.execution.tasks"


def test_tasks_files_and_edges(tmp_path) -> None:
    wf = fs.read_wfcommons(written(tmp_path, document()))
    assert wf == fs.Workflow([3.5, 4], [(0, 1, 1000)], transfer_unit="bytes")
    assert (wf.name, wf.labels) == ("w", ("a", "b"))
    assert fs.read_wfcommons(written(tmp_path, document()), name="x").name == "x"


def test_what_may_be_left_out(tmp_path) -> None:
    content = document()
    for task in content["workflow"]["specification"]["tasks"]:
        for key in ("children", "inputFiles", "outputFiles"):
            del task[key]
    del content["workflow"]["specification"]["files"]
    assert fs.read_wfcommons(written(tmp_path, content)).transfer.tolist() == [0]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("workflow", [], "workflow: expected an object, got a list"),
        (TASKS, {}, f"{TASKS}: expected a list, got an object"),
        (f"{TASKS}.0", "a", rf"{TASKS}\[0\]: expected an object, got a string"),
        (f"{TASKS}.1.id", "a", rf"{TASKS}\[1\].id: 'a' already appears in {TASKS}\[0\]"),
        (f"{TASKS}.1.id", None, rf"{TASKS}\[1\].id: expected a string, got null"),
        (f"{TASKS}.1.parents", ["z"], rf"{TASKS}\[1\].parents: no task has the id 'z'"),
        (f"{TASKS}.1.parents", [3], rf"{TASKS}\[1\].parents\[0\]: expected a string, got a number"),
        (f"{TASKS}.1.parents", ["a", "a"], rf"{TASKS}\[1\].parents: 'a' appears twice; give each edge once"),
        (f"{TASKS}.1.parents", [], rf"{TASKS}\[1\].parents: 'a' is missing here, but {TASKS}\[0\].children says so"),
        (f"{TASKS}.0.children", [], rf"{TASKS}\[0\].children: 'b' is missing here, but {TASKS}\[1\].parents says"),
        (f"{TASKS}.0.outputFiles", ["q"], rf"{TASKS}\[0\].outputFiles: no file has the id 'q'"),
        (f"{SPEC}.files.0.sizeInBytes", -1, rf"{SPEC}.files\[0\].sizeInBytes: -1; expected a finite number"),
        (f"{SPEC}.files.1.id", "f", rf"{SPEC}.files\[1\].id: 'f' appears twice"),
        (f"{RUNS}.0.runtimeInSeconds", -1, rf"{RUNS}\[0\].runtimeInSeconds: -1; expected a finite number of 0 or more"),
        (f"{RUNS}.0.runtimeInSeconds", float("nan"), rf"{RUNS}\[0\].runtimeInSeconds: nan; expected a finite number"),
        (f"{RUNS}.0.runtimeInSeconds", 10**400, rf"{RUNS}\[0\].runtimeInSeconds: 1000"),
        (f"{RUNS}.0.runtimeInSeconds", True, rf"{RUNS}\[0\].runtimeInSeconds: expected a number, got true or false"),
        (f"{RUNS}.0.id", "z", rf"{RUNS}\[0\].id: no task has the id 'z'"),
        (RUNS, [{"id": "b", "runtimeInSeconds": 4}], rf"{TASKS}\[0\]: task 'a' has no entry in {RUNS}"),
    ],
)
def test_bad_documents_are_named_with_their_place(tmp_path, path: str, value: object, message: str) -> None:
    content = copy.deepcopy(document())
    holder, key = at(content, path)
    holder[int(key) if key.isdecimal() else key] = value
    refused(InputError, message, fs.read_wfcommons, written(tmp_path, content), strict=True)


def test_more_bad_documents(tmp_path) -> None:
    content = document()
    del content["workflow"]["execution"]
    with pytest.raises(InputError, match=r"w\.json, workflow\.execution: the field is missing"):
        fs.read_wfcommons(written(tmp_path, content))
    content = document()
    content["workflow"]["specification"]["tasks"] = content["workflow"]["execution"]["tasks"] = []
    with pytest.raises(InputError, match=r"w\.json: workflow\.specification\.tasks: no task"):
        fs.read_wfcommons(written(tmp_path, content))
    content = document()
    a, b = content["workflow"]["specification"]["tasks"]
    a["parents"], b["children"] = ["b"], ["a"]
    with pytest.raises(InputError, match=r"w\.json: no job can start, .* cycle: 'a' -> 'b' -> 'a'"):
        fs.read_wfcommons(written(tmp_path, content))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"name": "x",\n "workflow": }', r"w\.json, line 2, column 14: Expecting value"),
        ("", "line 1, column 1: Expecting value"),
        ("[1, 2]", r"w\.json: expected an object, got a list"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_broken_json(tmp_path, text: str, message: str) -> None:
    refused(InputError, message, fs.read_wfcommons, written(tmp_path, text))


def test_a_number_of_more_digits_than_python_reads(tmp_path) -> None:
    text = json.dumps(document()).replace("3.5", "9" * 5000)
    with pytest.raises(InputError, match=rf"w\.json, {RUNS}\[1\].runtimeInSeconds: inf; expected a finite number"):
        fs.read_wfcommons(written(tmp_path, text))


def test_no_text(tmp_path) -> None:
    path = tmp_path / "w.json"
    path.write_bytes(b'{"name": "\xff"}')
    refused(InputError, "byte 10: not UTF-8 text", fs.read_wfcommons, path)


def test_a_task_that_gathers_many_files_is_read_in_proportion(tmp_path) -> None:
    """Looking through all files of a task for each of its parents took minutes."""
    took = []
    for n in (2_000, 16_000):
        files = [f"f{i}" for i in range(n)]
        tasks = [{"id": f, "parents": [], "outputFiles": [f]} for f in files]
        tasks.append({"id": "all", "parents": files, "inputFiles": files})
        content = document()
        content["workflow"] = {
            "specification": {"tasks": tasks, "files": [{"id": f, "sizeInBytes": 3} for f in files]},
            "execution": {"tasks": [{"id": task["id"], "runtimeInSeconds": 1} for task in tasks]},
        }
        path = written(tmp_path, content)
        each = []
        for _ in range(3):  # the least: collections of a large heap and other processes only add
            began = time.thread_time()
            assert fs.read_wfcommons(path).transfer.sum() == 3 * n
            each.append(time.thread_time() - began)
        took.append(min(each))
    assert took[1] < 30 * took[0]  # 64 times as many pairs of a parent and a file


# Jobs, edges.
REAL = {
    "1000genome-chameleon-4ch-100k-001": (104, 152),
    "epigenomics-chameleon-hep-2seq-100k-001": (119, 144),
    "montage-chameleon-2mass-01d-001": (103, 231),
    "seismology-chameleon-100p-001": (101, 100),
    "soykb-chameleon-10fastq-10ch-001": (96, 194),
    "srasearch-chameleon-10a-001": (22, 30),
}


@pytest.mark.parametrize("name", REAL)
def test_real_files(data_dir, name: str) -> None:
    path = data_dir / "dags" / "wfcommons" / f"{name}.json"
    if not path.exists():
        pytest.skip(f"no dags/wfcommons/{name}.json in the folder of public logs")
    wf = fs.read_wfcommons(path)
    assert (wf.n_jobs, wf.n_edges) == REAL[name]
    whole = json.loads(path.read_text())["workflow"]
    size = {file["id"]: file["sizeInBytes"] for file in whole["specification"]["files"]}
    tasks = {task["id"]: task for task in whole["specification"]["tasks"]}
    runtime = {task["id"]: task["runtimeInSeconds"] for task in whole["execution"]["tasks"]}
    assert dict(zip(wf.labels, wf.cost.tolist(), strict=True)) == runtime
    for a, b, carried in zip(wf.edge_from, wf.edge_to, wf.transfer, strict=True):
        parent, child = tasks[wf.labels[a]], tasks[wf.labels[b]]
        assert parent["id"] in child["parents"]
        assert carried == sum(size[file] for file in set(parent["outputFiles"]) & set(child["inputFiles"])) > 0
    assert wf.critical_path() <= whole["execution"]["makespanInSeconds"]
