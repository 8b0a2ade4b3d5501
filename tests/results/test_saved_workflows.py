"""Saved results of workflows: restored exactly; every changed value is told, and no crafted file
ends in another error than InputError."""

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import faultsim as fs
from faultsim.cli.app import main
from helpers.damage import flipped, members, packed
from helpers.refusals import refused

MATRIX = fs.Workflow([[3, 4, 5]], name="matrix")
EDGES = [(0, 1, 5), (0, 2, 5)]
NAMED = fs.Workflow([10, 20, 30], EDGES, "fork", 4, labels=["a", "b", "c"], dropped={"negative size": 2})
BYTES = fs.Workflow([[1, 2, 3], [4, 5, 6]], [(0, 1, 800)], submit=7, transfer_unit="bytes")
FAILURES = fs.FailureTrace([5, 15, 60], [2, 0, 1], 5, span=200, name="three")


def made(**options: Any) -> fs.WorkflowResult:
    given: dict[str, Any] = {
        "failures": FAILURES,
        "scheduler": fs.Flaw(),
        "predictor": fs.PredictionTrace([8, 18, 90], [2, 0, 2]),
        "outputs": fs.SharedOutputs(2),
        "record": True,
    }
    band = [[1, 20, 30], [40, 1, 60], [70, 80, 1]]
    return fs.simulate_workflows([MATRIX, NAMED, BYTES], fs.Resources(3, bandwidth=band), **{**given, **options})


def assert_same(one: fs.WorkflowResult, other: fs.WorkflowResult) -> None:
    for name in ("jobs", "decisions", *(["events"] if one.settings["record"] else [])):
        first, second = getattr(one, name), getattr(other, name)
        assert list(first) == list(second)
        for column in first:
            assert first[column].dtype == second[column].dtype
            np.testing.assert_array_equal(first[column], second[column], err_msg=f"{name}/{column}")
            assert not second[column].flags.writeable
    for a, b in zip(one.workflows, other.workflows, strict=True):
        assert (a, a.name, a.labels, dict(a.dropped)) == (b, b.name, b.labels, dict(b.dropped))
    assert (one.resources, one.arrivals.tolist()) == (other.resources, other.arrivals.tolist())
    assert (one.failures, one.matched, one.questions) == (other.failures, other.matched, other.questions)
    np.testing.assert_array_equal(list(one.metrics.values()), list(other.metrics.values()))
    assert dict(one.settings) == dict(other.settings)
    assert str(one) == str(other)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"record": False, "arrivals": [9, 1, 3]},
        {"failures": None, "predictor": None, "scheduler": fs.RankHybd(), "outputs": "node", "transfers": "in_turn"},
        {"engine": "reference"},
    ],
)
def test_everything_is_restored(options: dict[str, Any], tmp_path: Path) -> None:
    result = made(**options)
    result.save(tmp_path / "run.npz")
    loaded = fs.load_workflow_result(tmp_path / "run.npz")
    assert_same(result, loaded)
    if result.settings["record"]:
        assert loaded.log() == result.log()
    loaded.save(tmp_path / "again.npz")
    assert_same(result, pickle.loads(pickle.dumps(fs.load_workflow_result(tmp_path / "again.npz"))))


def test_one_small_workflow(tmp_path: Path) -> None:
    result = fs.simulate_workflows(fs.Workflow([4]), fs.Resources(speed=[1, 2], bandwidth=np.inf))
    result.save(tmp_path / "run")
    assert_same(result, fs.load_workflow_result(str(tmp_path / "run")))


def test_tables_are_exported(tmp_path: Path) -> None:
    result = made()
    result.write_csv(tmp_path / "jobs.csv")
    lines = (tmp_path / "jobs.csv").read_text().splitlines()
    assert lines[0] == "workflow,job,node,start,finish,kills"
    assert len(lines) == 7
    refused(fs.OptionError, "unknown table 'job'", result.write_csv, tmp_path / "x.csv", "job")
    quiet = made(record=False)
    refused(fs.OptionError, "recorded no events", quiet.write_csv, tmp_path / "x.csv", "events")
    assert not (tmp_path / "x.csv").exists()
    parquet = pytest.importorskip("pyarrow.parquet")
    result.write_parquet(tmp_path / "decisions.parquet", "decisions")
    table = parquet.read_table(tmp_path / "decisions.parquet")
    assert table.column("job").to_pylist() == result.decisions["job"].tolist()


# -- damage


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("saved") / "run.npz"
    made().save(path)
    return path.read_bytes()


def test_every_value_that_changes_is_told(saved: bytes, tmp_path: Path) -> None:
    path, survived, expected = tmp_path / "bad", 0, made()
    for seed in range(300):
        path.write_bytes(flipped(saved, seed))
        try:
            loaded = fs.load_workflow_result(path)
        except fs.InputError:
            continue
        assert_same(expected, loaded)
        survived += 1
    # The container says some things twice or for nobody: the hour of writing, sizes before and after.
    assert survived < 150


def column(name: str, row: int, value: float) -> Callable[[dict[str, Any]], None]:
    def change(arrays: dict[str, Any]) -> None:
        arrays[name][row] = value

    return change


def fact(value: Any, *keys: Any) -> Callable[[dict[str, Any]], None]:
    def change(arrays: dict[str, Any]) -> None:
        facts = inner = json.loads(arrays["facts.json"].tobytes())
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = value
        arrays["facts.json"] = np.frombuffer(json.dumps(facts).encode(), np.uint8)

    return change


def without(name: str) -> Callable[[dict[str, Any]], None]:
    return lambda arrays: arrays.pop(name)


def replaced(name: str, values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda arrays: arrays.update({name: values})


def bandwidth(value: Any) -> Callable[[dict[str, Any]], None]:
    """In the facts, where a single number would be."""

    def change(arrays: dict[str, Any]) -> None:
        del arrays["resources/bandwidth"]
        fact(value, "bandwidth")(arrays)

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (column("jobs/node", 0, 3), "column jobs/node of this saved result has 3 in row 0"),
        (column("jobs/job", 2, 0), "column jobs/job of this saved result does not number all jobs"),
        (column("jobs/workflow", 0, 3), "column jobs/workflow of this saved result has 3 in row 0"),
        (column("jobs/finish", 1, 0.0), "jobs/finish of this saved result is before jobs/start in row 1"),
        (column("jobs/start", 1, np.nan), "column jobs/start of this saved result has nan in row 1"),
        (column("decisions/job", 0, 3), "decisions/job .* has 3 in row 0, and its workflow has no such job"),
        (column("decisions/begin", 0, np.inf), "column decisions/begin of this saved result has inf"),
        (column("events/kind", 0, 99), "column events/kind of this saved result has 99 in row 0"),
        (column("events/workflow", 0, -2), "column events/workflow of this saved result has -2"),
        (column("workflow_jobs/cost", 0, -1), "workflow 0 of this saved result is corrupt .*negative"),
        (column("workflow_edges/edge_to", 0, 0), "workflow 1 of this saved result is corrupt"),
        (column("workflows/jobs", 0, 2), "column workflow_jobs/cost of this saved result is .* of shape"),
        (column("workflows/jobs", 0, 0), "column workflows/jobs of this saved result has 0"),
        (column("workflows/submit", 0, -1), "workflow 0 of this saved result is corrupt"),
        (column("workflows/arrival", 0, -1), "column workflows/arrival of this saved result has -1"),
        (column("resources/speed", 0, 0), "the resources of this saved result are corrupt .speed, node 0"),
        (column("resources/bandwidth", (0, 1), -1), "the resources of this saved result are corrupt .bandwidth"),
        (column("failures/node", 0, 1), "the failures of this saved result are not those of its run"),
        (column("failures/time", 0, np.nan), "the failures of this saved result are corrupt"),
        (column("jobs/kills", 0, 9), "column jobs/kills of this saved result is not the one that was saved"),
        (without("decisions/time"), "column decisions/time is missing"),
        (without("jobs/node"), "column jobs/node is missing"),
        (without("facts.json"), "not a saved result"),
        (replaced("jobs/other", np.zeros(6)), "jobs/other is no column of a result of workflows"),
        (replaced("jobs/node", np.zeros(6)), "jobs/node .* is float64 of shape .6,., expected int32"),
        (replaced("resources/bandwidth", np.ones((2, 2))), "resources/bandwidth is no matrix"),
        (
            replaced("events/time", np.zeros(0)),
            r"column events/kind of this saved result is int8 of shape .*, expected int8 of shape \(0,\)",
        ),
        (fact("faultsim result", "kind"), "faultsim.load_result reads it"),
        (fact(2, "schema"), "saved in layout 2, this version reads layouts 1 to 1"),
        (fact("x", "loss_time"), "its loss_time is 'x'"),
        (fact(-1, "counters", "hits"), "counter hits is -1"),
        (fact({}, "counters"), "its counters are not"),
        (fact({}, "settings"), "its settings are not"),
        (fact({}, "settings", "scheduler"), "a policy has no name"),
        (fact("x", "settings", "seed"), "setting seed is 'x'"),
        (fact([], "workflows"), "its workflows are not described"),
        (fact({}, "workflows", 0), "workflow 0 of this saved result is corrupt"),
        (fact(["a", "a", "b"], "workflows", 1, "labels"), "workflow 1 of this saved result is corrupt .*appears twice"),
        (fact({"a": float("inf")}, "workflows", 0, "dropped"), "workflow 0 of this saved result is corrupt"),
        (bandwidth([[1, [2]]]), "the resources of this saved result are corrupt"),
        (fact("lb", "workflows", 2, "transfer_unit"), "workflow 2 of this saved result is corrupt"),
        (fact(3, "failures"), "its failures are not described"),
        (fact({}, "failures"), "the failures of this saved result are corrupt"),
        (fact(1, "settings", "seed"), "facts of this saved result are not those that were saved"),
    ],
)
def test_what_is_wrong_is_told(
    change: Callable[[dict[str, Any]], None], said: str, saved: bytes, tmp_path: Path
) -> None:
    arrays = members(saved)
    change(arrays)
    (tmp_path / "bad.npz").write_bytes(packed(arrays))
    refused(fs.InputError, f"bad.npz: .*{said}", fs.load_workflow_result, tmp_path / "bad.npz")


def test_files_that_are_none(saved: bytes, tmp_path: Path) -> None:
    refused(fs.InputError, "nothing.npz: no such file", fs.load_workflow_result, tmp_path / "nothing.npz")
    refused(fs.InputError, "a folder, expected a file that WorkflowResult.save", fs.load_workflow_result, tmp_path)
    (tmp_path / "text").write_text("text")
    refused(fs.InputError, "text: not a saved result of workflows", fs.load_workflow_result, tmp_path / "text")
    (tmp_path / "flows.npz").write_bytes(saved)
    refused(fs.InputError, "faultsim.load_workflow_result reads it", fs.load_result, tmp_path / "flows.npz")
    fs.simulate(fs.synthetic.nasa_like(5, rng=0), fs.Cluster(128)).save(tmp_path / "jobs.npz")
    refused(fs.InputError, "faultsim.load_result reads it", fs.load_workflow_result, tmp_path / "jobs.npz")


# -- the command line


def test_show(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--count", "2", "--nodes", "8", "--failures", "synthetic:exponential,mtbf=10d"]
    assert main(["workflow", "run", *options, "--save", "run.npz"]) == 0
    said = capsys.readouterr().out
    assert "written  run.npz" in said
    assert main(["show", "run.npz", "--csv", "jobs.csv"]) == 0
    again = capsys.readouterr().out
    assert again.startswith("result   run.npz\n2 workflows")
    assert again.splitlines()[2:-1] == said.splitlines()[3:-1]
    assert len(Path("jobs.csv").read_text().splitlines()) == 1 + len(fs.load_workflow_result("run.npz").jobs["job"])
    assert main(["show", "run.npz", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["reschedulings"] == fs.load_workflow_result("run.npz").reschedulings
    assert main(["show", "run.npz", "--events", "events.csv"]) == 2
    assert "recorded no events" in capsys.readouterr().err
    assert not Path("events.csv").exists()
    assert main(["workflow", "run", *options, "--record"]) == 2
    assert "--record is for --save FILE" in capsys.readouterr().err
    assert main(["workflow", "run", *options, "--record", "--save", "run.npz", "--events", "events.csv"]) == 0
    recorded = Path("events.csv").read_text()
    assert main(["show", "run.npz", "--events", "again.csv", "-q"]) == 0
    assert Path("again.csv").read_text() == recorded
    Path("run.npz").write_bytes(Path("run.npz").read_bytes()[:-200])
    assert main(["show", "run.npz"]) == 2
    assert "not a saved result" in capsys.readouterr().err
