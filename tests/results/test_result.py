"""`Result`: columns, saving, other formats, print."""

import gc
import json
import pickle
import sys
import weakref

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import faultsim as fs
from faultsim.data.columns import JOBS
from faultsim.data.event_kinds import EVENT_KINDS
from faultsim.errors import InputError, MissingExtraError, OptionError
from faultsim.results.ledger import LEDGER_ACCOUNTS
from faultsim.results.result import Result
from faultsim.simulation.options import EngineName
from helpers.refusals import refused
from helpers.results import assert_equal, random_log
from helpers.runs import runs

LOG = fs.Workload(
    submit=[0, 1, 2, 3],
    runtime=[10, 10, 5, 8],
    size=[2, 4, 2, 2],
    estimate=[12, 10, 5, -1],
    id=[7, 8, 9, 10],
    user=[1, 2, -1, 1],
    name="logs/four.swf",
    dropped={"no run time": 3},
)


@pytest.fixture(scope="module")
def result():
    return fs.simulate(LOG, fs.Cluster(4), record=True)


@pytest.fixture(scope="module")
def on_torus():
    log = random_log(120, 29, seed=5, horizon=3000, longest=900)
    return fs.simulate(log, fs.Torus(4, 4, 4), migration=fs.Defragment(), record=True)


def same(a: Result, b: Result) -> None:
    assert_equal(a, b)
    assert list(a.jobs) == list(b.jobs)
    assert repr(a.metrics) == repr(b.metrics)
    assert (a.machine, dict(a.dropped)) == (b.machine, dict(b.dropped))
    assert {k: v.tobytes() for k, v in a.workload.items()} == {k: v.tobytes() for k, v in b.workload.items()}


# -- columns


def test_columns_are_those_of_the_data_dictionary(result):
    assert list(result.jobs) == [column.name for column in JOBS]
    assert len(result.jobs.keys()) == len(result.jobs.values()) == len(result.jobs.items()) == len(JOBS)
    assert len(result.jobs) == len(LOG)
    for column in JOBS:
        values = result.jobs[column.name]
        assert values.dtype == np.dtype(column.dtype)
        assert values.shape == (len(LOG),)
        assert values.flags.c_contiguous
        assert not values.flags.writeable
        assert column.name in result.jobs
    with pytest.raises(KeyError, match=r"no column .waits. \(did you mean .wait.\?\); columns: id, submit"):
        _ = result.jobs["waits"]
    assert "waits" not in result.jobs
    assert repr(result.jobs).startswith("<jobs: 4 rows; id, submit, ")


def test_derived_columns(result):
    jobs = result.jobs
    assert jobs["wait"].tolist() == (jobs["start"] - jobs["submit"]).tolist()
    assert jobs["response"].tolist() == (jobs["finish"] - jobs["submit"]).tolist()
    assert jobs["wait"] is jobs["wait"]


def test_the_log_is_not_copied(result):
    for name in ("id", "submit", "size"):
        assert result.jobs[name] is LOG.columns[name]


def test_nothing_can_be_changed(result):
    for table in (result.events, result.allocations, result.workload):
        for column in table.values():
            assert not column.flags.writeable
    with pytest.raises(TypeError):
        result.ledger["useful"] = 0.0
    with pytest.raises(TypeError):
        result.jobs["wait"] = 0


def test_events_and_allocations(result):
    assert result.events["time"].tolist() == sorted(result.events["time"].tolist())
    kinds = [EVENT_KINDS[kind] for kind in result.events["kind"]]
    assert {kind: kinds.count(kind) for kind in kinds} == {"arrival": 4, "start": 4, "finish": 4}
    held = result.allocations
    assert sorted(held["job"].tolist()) == [0, 1, 2, 3]
    assert held["node_offsets"].tolist()[-1] == len(held["nodes"]) == 2 + 4 + 2 + 2


def test_what_was_not_recorded():
    bare = fs.simulate(LOG, fs.Cluster(4))
    with pytest.raises(OptionError, match="recorded no events: simulate with record=True"):
        _ = bare.events
    with pytest.raises(OptionError, match="recorded no allocations: simulate with record=True"):
        _ = bare.allocations


def test_facts(result):
    assert len(result) == 4
    assert result.span == (0.0, float(result.jobs["finish"].max()))
    assert dict(result.dropped) == {"no run time": 3}
    assert result.warnings == (
        "3 jobs left out: no run time",
        "1 of 4 jobs have no requested time; their run time is used instead",
    )
    assert fs.simulate(LOG, fs.Cluster(4), estimates="actual").warnings == ("3 jobs left out: no run time",)
    assert list(result.ledger) == list(LEDGER_ACCOUNTS)
    assert set(result.counters) == {
        "migrations_attempted", "migrations_successful", "failures", "failures_hit", "checkpoints", "events", "passes"
    }  # fmt: skip


# -- print


def test_print(result, on_torus):
    text = str(result)
    lines = text.splitlines()
    assert lines[0] == "4 jobs on cluster:4 (4 nodes): easy, first_fit"
    assert any(line.split() == ["mean_wait", f"{result.metrics['mean_wait']:.2f}", "s"] for line in lines)
    assert "capacity ledger" in text
    assert "note: 3 jobs left out: no run time" in text
    assert "failed_jobs" not in text
    assert max(map(len, lines)) <= 100
    assert repr(result) == "<Result: 4 jobs on cluster:4 (4 nodes): easy, first_fit>"
    assert "defragment" in str(on_torus)
    assert "migrations_attempted" in str(on_torus)


# -- save, load, rerun


@pytest.mark.parametrize("failing", [None, True])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_saved_results_come_back_exactly(tmp_path_factory, failing, data):
    path = tmp_path_factory.mktemp("saved") / "run.npz"
    run = data.draw(runs(failing=failing))
    made = run.simulate()
    made.save(path)
    loaded = fs.load_result(path)
    same(made, loaded)
    assert loaded.provenance == made.provenance
    assert loaded.failures == made.failures == run.failures
    assert loaded.warnings == made.warnings
    assert str(loaded) == str(made)
    loaded.save(path)
    again = fs.rerun(fs.load_result(path))
    same(made, again)
    for key in ("input", "settings", "failures"):
        assert again.provenance[key] == made.provenance[key]


def test_files_from_before_there_were_failures(result, tmp_path):
    path = tmp_path / "run.npz"
    result.save(path)
    later = ("jobs/restart_time", "jobs/failure_wait", "events_table/node")
    old = {name: column for name, column in np.load(path).items() if name not in later}
    facts = json.loads(old["facts.json"].tobytes())
    facts["schema"] = facts["provenance"]["schema"] = 1
    del facts["provenance"]["failures"]
    for name in ("failures", "failures_hit", "checkpoints"):
        del facts["counters"][name]
    old["facts.json"] = as_bytes(json.dumps(facts).encode())
    np.savez(path, **old)
    loaded = fs.load_result(path)
    same(result, loaded)
    same(result, fs.rerun(loaded))
    assert loaded.failures is None


def test_broken_failures_in_a_file(tmp_path):
    path = tmp_path / "run.npz"
    trace = fs.FailureTrace([5, 9], [0, 1], 2, span=100)
    predictor = fs.PredictionTrace([5], [0])
    fs.simulate(
        LOG,
        fs.Cluster(4),
        failures=trace,
        predictor=predictor,
        placement=fs.SafestFirst(),
    ).save(path)
    good = dict(np.load(path))

    def altered(**changes):
        np.savez(path, **{name: column for name, column in (good | changes).items() if column is not None})
        return path

    with pytest.raises(InputError, match=r"run.npz: the failures of this saved result are not those of its run"):
        fs.load_result(altered(**{"failures/node": np.array([0, 2], np.int32)}))
    with pytest.raises(InputError, match=r"run.npz: the failures of this saved result are corrupt \(time, row 0: nan"):
        fs.load_result(altered(**{"failures/time": np.array([np.nan, 2])}))
    with pytest.raises(InputError, match=r"the failures of this saved result are corrupt .*node"):
        fs.load_result(altered(**{"failures/node": None}))
    facts = json.loads(good["facts.json"].tobytes()) | {"schema": 3}
    good["facts.json"] = as_bytes(json.dumps(facts).encode())  # of before there were digests
    loaded = fs.load_result(altered(**{"policy/predictor/time": None, "policy/predictor/node": None}))
    refused(OptionError, "this PredictionTrace has 1 predictions, which were not saved with it", fs.rerun, loaded)


def test_a_trace_that_ends_before_the_last_job():
    log = fs.Workload(submit=[0], runtime=[5000], size=[1])
    trace = fs.FailureTrace([10], [0], span=3000)
    result = fs.simulate(log, fs.Cluster(1), failures=trace, estimates="actual")
    said = "the failure trace ends at 3,000 s, the last job at 5,010 s: nothing fails in between"
    assert result.warnings == (said,)
    assert f"note: {said}" in str(result)
    longer = fs.simulate(
        log,
        fs.Cluster(1),
        failures=fs.FailureTrace([10], [0], span=5010),
        estimates="actual",
    )
    assert longer.warnings == ()
    assert longer.failures.span == 5010
    assert str(longer).startswith(
        "1 job on cluster:1 (1 node): easy, first_fit, 1 failure, 1 within the run, requeue\n"
    )


def test_saving_takes_the_name_as_it_is(result, tmp_path):
    path = tmp_path / "result.faultsim"
    result.save(path)
    result.save(str(path))
    assert [entry.name for entry in tmp_path.iterdir()] == ["result.faultsim"]
    same(result, fs.load_result(str(path)))
    fs.load_result(path).save(path)
    same(result, fs.load_result(path))


def test_saving_into_nowhere(result, tmp_path):
    refused(OSError, "No such file", result.save, tmp_path / "nowhere" / "run.npz")


def test_results_can_be_sent_to_other_processes(result, on_torus):
    same(result, pickle.loads(pickle.dumps(result)))
    same(on_torus, pickle.loads(pickle.dumps(on_torus)))


class Longest(fs.QueueOrder):
    def keys(self, queue, now):
        return -queue.estimate


def test_rerun_with_a_policy_written_in_python(tmp_path):
    made = fs.simulate(LOG, fs.Cluster(4), scheduler=fs.Fcfs(Longest()))
    same(made, fs.rerun(made))
    made.save(tmp_path / "run.npz")
    loaded = fs.load_result(tmp_path / "run.npz")
    refused(OptionError, r"order written in Python \(.*Longest\), which is not saved; pass it again", fs.rerun, loaded)
    same(made, fs.rerun(loaded, scheduler=fs.Fcfs(Longest())))


def test_rerun_after_dropping(tmp_path):
    made = fs.simulate(LOG, fs.Cluster(3), oversized="drop")
    made.save(tmp_path / "run.npz")
    again = fs.rerun(fs.load_result(tmp_path / "run.npz"))
    same(made, again)
    assert dict(again.dropped) == {"no run time": 3, "larger than the machine": 1}


def broken_files(saved: bytes):
    other = dict(np.load(__import__("io").BytesIO(saved)))
    yield "text", b"not a result\n", "not a saved result, or a corrupt one"
    yield "empty", b"", "not a saved result, or a corrupt one"
    yield "half", saved[: len(saved) // 2], "not a saved result, or a corrupt one"
    flipped = bytearray(saved)
    flipped[len(saved) // 3] ^= 0xFF
    yield "flipped", bytes(flipped), "not a saved result|broken|missing"
    facts = bytes(other["facts.json"])
    yield "other", packed({"x": np.zeros(3)}), "not a saved result"
    yield (
        "kind",
        packed(other | {"facts.json": as_bytes(facts.replace(b"faultsim result", b"something else!"))}),
        "kind is",
    )
    yield (
        "schema",
        packed(
            other | {"facts.json": as_bytes(facts.replace(b'"schema": 4, "provenance"', b'"schema": 9, "provenance"'))}
        ),
        "in layout 9",
    )
    yield "json", packed(other | {"facts.json": as_bytes(facts[:-5])}), "not a saved result"
    missing = {name: column for name, column in other.items() if name != "jobs/finish"}
    yield "missing", packed(missing), "column jobs/finish is missing"
    yield (
        "short",
        packed(other | {"jobs/finish": np.zeros(2)}),
        r"column jobs/finish .* of shape \(2,\), expected float64",
    )
    yield "type", packed(other | {"jobs/moves": np.zeros(4)}), "column jobs/moves .* is float64 .* expected int32"
    yield "pickled", packed(other | {"jobs/finish": np.array([{}] * 4)}), "not a saved result, or a corrupt one"


def as_bytes(document: bytes):
    return np.frombuffer(document, np.uint8)


def packed(arrays):
    import io

    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def test_broken_files(result, tmp_path):
    good = tmp_path / "good.npz"
    result.save(good)
    for name, content, said in broken_files(good.read_bytes()):
        path = tmp_path / f"{name}.npz"
        path.write_bytes(content)
        with pytest.raises(InputError, match=said) as caught:
            fs.load_result(path)
        assert str(path) in str(caught.value), name
        assert "\n" not in str(caught.value)


def test_files_that_are_none(tmp_path):
    refused(InputError, r"nothing.npz: no such file", fs.load_result, tmp_path / "nothing.npz")
    refused(InputError, "a folder", fs.load_result, tmp_path)


# -- other formats


def test_to_pandas(result):
    pandas = pytest.importorskip("pandas")
    frame = result.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame) == list(result.jobs)
    for name in frame:
        assert name == "state" or frame[name].dtype == result.jobs[name].dtype
        assert frame[name].tolist() == result.jobs[name].tolist()


def test_to_arrow(result):
    pyarrow = pytest.importorskip("pyarrow")
    table = result.to_arrow()
    assert isinstance(table, pyarrow.Table)
    assert table.column_names == list(result.jobs)
    assert table["wait"].to_pylist() == result.jobs["wait"].tolist()


@pytest.mark.parametrize(
    ("method", "package", "extra"), [("to_pandas", "pandas", "pandas"), ("to_arrow", "pyarrow", "arrow")]
)
def test_missing_extras(result, monkeypatch, method, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    refused(MissingExtraError, rf'{method} needs {package}: pip install "faultsim\[{extra}\]"', getattr(result, method))


@pytest.mark.parametrize("name", ["schedule.swf", "schedule.swf.gz"])
def test_write_swf(result, tmp_path, name):
    path = tmp_path / name
    result.write_swf(path)
    back = fs.read_swf(path)
    for column in ("id", "submit", "runtime", "estimate", "user"):
        assert getattr(back, column).tolist() == LOG.columns[column].tolist()
    if name.endswith(".swf"):
        rows = [line.split() for line in path.read_text().splitlines() if not line.startswith(";")]
        assert [float(row[2]) for row in rows] == result.jobs["wait"].tolist()
        assert [int(row[4]) for row in rows] == result.jobs["allocated"].tolist()
        assert [int(row[7]) for row in rows] == LOG.size.tolist()
        assert [row[10] for row in rows] == ["1"] * 4
        assert all(len(row) == 18 for row in rows)


def test_killed_jobs_in_other_formats(tmp_path):
    log = fs.Workload(submit=[0, 0], runtime=[10, 3], size=[1, 1], estimate=[4, 5])
    killed = fs.simulate(log, fs.Cluster(2), overrun="kill")
    killed.write_swf(tmp_path / "killed.swf")
    rows = [line.split() for line in (tmp_path / "killed.swf").read_text().splitlines() if line[0] != ";"]
    assert [(row[3], row[10]) for row in rows] == [("4", "5"), ("3", "1")]
    killed.write_batsim(tmp_path / "killed.csv")
    assert ",0,COMPLETED_WALLTIME_REACHED," in (tmp_path / "killed.csv").read_text()


def test_write_jobs_csv(result, on_torus, tmp_path):
    import csv

    result.write_batsim(tmp_path / "jobs.csv")
    with open(tmp_path / "jobs.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows[0]) == 17
    assert [int(row["job_id"]) for row in rows] == LOG.id.tolist()
    assert [float(row["waiting_time"]) for row in rows] == result.jobs["wait"].tolist()
    assert [float(row["finish_time"]) for row in rows] == result.jobs["finish"].tolist()
    assert rows[0]["workload_name"] == "four.swf"
    assert rows[0]["allocated_resources"] == "0-1"
    assert rows[1]["allocated_resources"] == "0-3"

    on_torus.write_batsim(tmp_path / "torus.csv")
    with open(tmp_path / "torus.csv", newline="") as file:
        sizes = [nodes_in(row["allocated_resources"]) for row in csv.DictReader(file)]
    assert sizes == on_torus.jobs["allocated"].tolist()

    fs.simulate(LOG, fs.Cluster(4)).write_batsim(tmp_path / "bare.csv")
    with open(tmp_path / "bare.csv", newline="") as file:
        assert {row["allocated_resources"] for row in csv.DictReader(file)} == {""}


def nodes_in(intervals: str) -> int:
    ends = [part.split("-") for part in intervals.split()]
    return sum(int(part[-1]) - int(part[0]) + 1 for part in ends)


def test_writing_to_standard_output(result, capsys):
    result.write_batsim("-")
    assert capsys.readouterr().out.startswith("job_id,workload_name,profile,")
    result.write_swf("-")
    assert "\n; Version: 2.2\n" in capsys.readouterr().out


def test_a_box_that_wraps_in_intervals(tmp_path):
    # Node = (x * 2 + y) * 4 + z on a 1x2x4 torus: a job of 4 whose box wraps along z would hold z = 3, 0.
    from faultsim.results.files import _places

    held = {name: np.array([value], np.int32) for name, value in zip("xyzabc", (0, 0, 3, 1, 2, 2), strict=True)}
    held |= {"job": np.array([0], np.int32), "begin": np.array([0.0]), "end": np.array([1.0])}
    record = fs.simulate(fs.Workload(submit=[0], runtime=[1], size=[4]), fs.Torus(1, 2, 4)).record
    assert _places(1, record, held) == ["0 3-4 7"]


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_result_ends_with_its_last_user(engine: EngineName) -> None:
    result = fs.simulate(LOG, fs.Cluster(4), record=True, engine=engine)
    metrics, seen = result.metrics, weakref.ref(result)
    assert metrics["mean_wait"] == result.metrics["mean_wait"]
    gc.disable()  # its columns are not to wait for the collector
    try:
        del result
        assert seen() is not None
        del metrics
        assert seen() is None
    finally:
        gc.enable()
