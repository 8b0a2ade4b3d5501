"""Further columns of a log and ids of any kind: from the log through every run to results, files and other formats."""

import csv
import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import faultsim as fs
from faultsim.data.further import TAKEN
from faultsim.errors import InputError, OptionError
from helpers.refusals import refusals, refused
from helpers.results import assert_equal

LOG = fs.Workload(
    submit=[0, 1, 2, 3],
    runtime=[10, 5, 5, 8],
    size=[2, 9, 1, 2],
    id=["a1", "b", "job-17", "b"],
    columns={
        "priority": np.array([3, 1, 2, 0], np.uint8),
        "account": ["physics", "x", "", "é"],
        "due": np.array(["2026-01-01", "NaT", "2026-01-03", "2026-01-04"], "M8[D]"),
        "a name": [0.5, np.nan, -0.0, 1.0],
    },
)
NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters="/"), min_size=1, max_size=5
)
TYPES = st.one_of(
    hnp.boolean_dtypes(), hnp.integer_dtypes(endianness="="), hnp.floating_dtypes(endianness="="),
    hnp.complex_number_dtypes(endianness="="), hnp.datetime64_dtypes(endianness="="),
    hnp.timedelta64_dtypes(endianness="="), hnp.byte_string_dtypes(min_len=1),
)  # fmt: skip
ENGINES = pytest.mark.parametrize("engine", ["core", "reference"])


@given(
    st.dictionaries(NAMES.filter(lambda name: name not in TAKEN), TYPES.flatmap(lambda t: hnp.arrays(t, 3)), max_size=3)
)
def test_columns_of_any_name_and_type_come_back(tmp_path_factory, columns):
    log = fs.Workload(submit=[0, 1, 2], runtime=[4, 5, 6], size=[1, 2, 1], columns=columns)
    assert log.further == tuple(columns)
    path = tmp_path_factory.mktemp("further") / "run.npz"
    result = fs.simulate(log, fs.Cluster(2))
    result.save(path)
    loaded = fs.load_result(path)
    for name, values in columns.items():
        for found in (
            log.columns[name],
            result.jobs[name],
            loaded.jobs[name],
            pickle.loads(pickle.dumps(log)).columns[name],
        ):
            assert found.tobytes() == values.tobytes()
            assert found.dtype == values.dtype
            assert not found.flags.writeable
    assert loaded.provenance["input"]["digest"] == log.digest()
    assert pickle.loads(pickle.dumps(log)) == log
    assert_equal(fs.rerun(loaded), result)


def test_they_travel_with_the_jobs():
    ran = fs.simulate(LOG, fs.Cluster(4), oversized="drop")
    assert ran.jobs["id"].tolist() == ["a1", "job-17", "b"]
    assert ran.jobs["account"].tolist() == ["physics", "", "é"]
    assert list(ran.jobs)[-4:] == ["priority", "account", "due", "a name"]
    assert LOG.head(2).columns["account"].tolist() == ["physics", "x"]
    assert LOG.drop(LOG.size > 4, "large").with_gap_factor(2).renamed("x").columns["priority"].tolist() == [3, 2, 0]
    assert LOG[LOG.columns["priority"] > 1].id.tolist() == ["a1", "job-17"]
    assert LOG.with_columns(priority=None, level=[1.0, 2, 3, 4]).further == ("account", "due", "a name", "level")
    both = fs.concat([LOG, LOG.with_columns(priority=np.full(4, 2.5))])
    assert both.columns["priority"].tolist() == [3.0, 2.5, 1.0, 2.5, 2.0, 2.5, 0.0, 2.5]


def test_equal_logs_have_equal_digests():
    wide = LOG.with_columns(account=np.array(LOG.columns["account"], "<U40"))
    assert wide == LOG
    assert wide.digest() == LOG[:].digest() == LOG.digest()
    other_order = fs.Workload(
        submit=LOG.submit, runtime=LOG.runtime, size=LOG.size, id=LOG.id,
        columns={name: LOG.columns[name] for name in reversed(LOG.further)},
    )  # fmt: skip
    assert (other_order == LOG, other_order.digest() == LOG.digest()) == (True, True)
    for different in (
        LOG.with_columns(priority=None),
        LOG.with_columns(priority=[3, 1, 2, 1]),
        LOG.with_columns(x=[0] * 4),
    ):
        assert different != LOG
        assert different.digest() != LOG.digest()


@ENGINES
def test_decisions_show_them(engine):
    sim = fs.Simulation(LOG, fs.Cluster(4), scheduler=fs.External(), engine=engine, oversized="drop")
    decision = sim.advance()
    assert decision.queue.id.tolist() == ["a1"]
    decision.start(0)
    while (decision := sim.advance()).queue.tolist() != [2, 3]:
        pass
    assert decision.queue.id.tolist() == ["job-17", "b"]
    assert decision.queue.account.tolist() == ["", "é"]
    assert decision.queue.due.dtype == np.dtype("M8[D]")
    assert decision.running.priority.tolist() == [3]
    refused(AttributeError, "jobs have no 'class'", getattr, decision.queue, "class")


@ENGINES
def test_an_order_in_python_sees_them(engine):
    class ByAccount(fs.QueueOrder):
        def keys(self, queue, now):
            return [len(account) for account in queue.account]

    log = LOG.with_gap_factor(0.001).head(1), LOG.with_gap_factor(0.001)[2:]
    log = fs.concat([log[0], log[1], log[1]])
    ran = fs.simulate(log, fs.Cluster(2), scheduler=fs.Fcfs(order=ByAccount()), engine=engine)
    assert [ran.jobs["account"][row] for row in np.argsort(ran.jobs["start"], kind="stable")] == [
        "physics",
        "",
        "",
        "é",
        "é",
    ]


@ENGINES
def test_a_caller_that_owns_jobs(engine):
    columns = {name: LOG.columns[name] for name in LOG.further}
    ids = ["a1", "b", "job-17", "b2"]  # of a caller's jobs no two are the same
    log = fs.Workload(LOG.submit, LOG.runtime, LOG.size, id=ids, columns=columns)
    sim = fs.Simulation(log.head(1), fs.Cluster(9), scheduler=fs.External(), live=9, engine=engine)
    sim.submit(log[1:3])
    fork = sim.copy() if engine == "core" else None
    sim.submit(log[3:])
    decision = sim.advance(until=3)
    while decision.kind != "time":
        decision = sim.advance(until=3)
    assert decision.queue.account.tolist() == LOG.columns["account"].tolist()
    assert decision.queue.id.tolist() == ids
    assert sim.result(partial=True).jobs["account"].tolist() == LOG.columns["account"].tolist()
    if fork is not None:
        decision = fork.advance(until=3)
        while decision.kind != "time":
            decision = fork.advance(until=3)
        assert decision.queue.account.tolist() == ["physics", "x", ""]
        again = pickle.loads(pickle.dumps(sim)).result(partial=True)
        assert again.jobs["account"].tolist() == LOG.columns["account"].tolist()
    refused(InputError, "row 0: another job has the id 'b'; give each its own$", sim.submit, LOG[3:])
    said = "the jobs submitted and the log before have not the same columns: a name, account, due, priority"
    plain = fs.Workload(submit=[9], runtime=[1], size=[1])
    refused(InputError, said, sim.submit, plain)
    numbered = plain.with_columns(**{name: LOG.columns[name][:1] for name in LOG.further})
    refused(InputError, "do not go together: column 'id' is of int64, and of <U", sim.submit, numbered)
    assert len(sim.log) == 4


def test_other_formats(tmp_path):
    ran = fs.simulate(LOG, fs.Cluster(9), record=True)
    ran.write_batsim(tmp_path / "jobs.csv")
    with (tmp_path / "jobs.csv").open() as file:
        assert [row["job_id"] for row in csv.DictReader(file)] == ["a1", "b", "job-17", "b"]
    frame = ran.to_pandas()
    assert frame["account"].tolist() == ["physics", "x", "", "é"]
    assert fs.Workload.from_pandas(LOG.to_pandas(), columns=LOG.further) == LOG
    refused(InputError, "from_pandas: no column 'x'", fs.Workload.from_pandas, LOG.to_pandas(), columns=["x"])
    for call in (LOG.write_swf, ran.write_swf):
        refused(InputError, "id: an SWF file has numbers only, and this is a1 and the like", call, tmp_path / "x.swf")


def test_fields_of_a_log(tmp_path):
    lines = ["; a log", "1 0 5 10 2 -1 -1 2 20 -1 1 4 7 8 3 2 -1 -1", "2 3 5 10 2 1.5 -1 2 20 64 0 4 7 8 1 -1 1 60"]
    (tmp_path / "a.swf").write_text("\n".join(lines) + "\n")
    log = fs.read_swf(tmp_path / "a.swf", columns=["queue", "partition", "cpu_time"])
    assert {name: log.columns[name].tolist() for name in log.further} == {
        "queue": [3, 1],
        "partition": [2, -1],
        "cpu_time": [-1.0, 1.5],
        "preceding_job": [-1, 1],
        "think_time": [-1.0, 60.0],
    }
    assert {name for name in log.further if log.columns[name].dtype == np.float64} == {"cpu_time", "think_time"}
    assert fs.read_swf(tmp_path / "a.swf").further == ("preceding_job", "think_time")
    log.write_swf(tmp_path / "b.swf")
    assert fs.read_swf(tmp_path / "b.swf", columns=["queue", "partition", "cpu_time"]) == log
    fs.simulate(log, fs.Cluster(2)).write_swf(tmp_path / "c.swf")
    assert fs.read_swf(tmp_path / "c.swf", columns=["queue"]).columns["queue"].tolist() == [3, 1]
    for wrong in (["user"], "queue", [3], 5):
        refused(
            OptionError, "columns: expected a list of group, executable", fs.read_swf, tmp_path / "a.swf", columns=wrong
        )
    (tmp_path / "d.swf").write_text(lines[1].replace(" 3 2 -1", " 3.5 2 -1") + "\n")
    assert fs.read_swf(tmp_path / "d.swf").id.tolist() == [1]
    refused(InputError, "line 1: queue 3.5 is not a whole number", fs.read_swf, tmp_path / "d.swf", columns=["queue"])


def test_on_the_command_line_and_in_sweep_files(tmp_path, monkeypatch, capsys):
    from faultsim.cli.app import main

    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    log = fs.synthetic.sdsc_like(60, rng=rng).with_columns(queue=rng.integers(0, 4, 60))
    log.write_swf("a.swf")
    expected = fs.simulate(log, fs.Cluster(128), scheduler=fs.Fcfs(order=fs.Key("-queue")))
    run = ["run", "a.swf", "--machine", "cluster:128", "--scheduler", "fcfs:order='-queue'"]
    assert main([*run, "--columns", "queue", "--csv", "out.csv"]) == 0
    with open("out.csv") as file:
        table = list(csv.DictReader(file))
    assert [float(row["start"]) for row in table] == expected.jobs["start"].tolist()
    assert [int(row["queue"]) for row in table] == log.columns["queue"].tolist()
    capsys.readouterr()
    assert main(run) == 2
    assert "key '-queue', column 2: unknown name 'queue'" in capsys.readouterr().err
    assert main(["run", "--columns", "queue"]) == 2
    text = """
        [base]
        machine = "cluster:128"
        log = { file = "a.swf", columns = ["queue"] }
        [grid]
        scheduler = ["fcfs", "fcfs:order='-queue'"]
    """
    (tmp_path / "sweep.toml").write_text(text)
    table = fs.read_sweep("sweep.toml").run()
    assert table["mean_wait"].tolist()[1] == expected.metrics["mean_wait"]
    (tmp_path / "sweep.toml").write_text(text.replace("'-queue'", "'-quee'"))
    refused(InputError, "sweep.toml:5: .*column 2: unknown name .quee.", fs.read_sweep, "sweep.toml")


class Ordered:
    """A factory of logs with a column."""

    def __call__(self, rng):
        return fs.Workload(submit=[0, 0, 0], runtime=[5, 6, 7], size=[1, 1, 1], columns={"level": [1, 3, 2]})


def test_a_sweep_whose_logs_are_drawn():
    keys = [fs.Fcfs(order=fs.Key(text)) for text in ("level", "-level")]
    table = fs.Sweep({"log": Ordered(), "machine": fs.Cluster(1)}, {"scheduler": keys}).run()
    assert table["mean_wait"].tolist() == [(5 + 12) / 3, (6 + 13) / 3]
    wrong = fs.Sweep({"log": Ordered(), "machine": fs.Cluster(1), "scheduler": fs.Fcfs(order=fs.Key("levle"))})
    with pytest.raises(OptionError, match="unknown name 'levle'"):
        wrong.run()


def test_a_client_names_jobs_by_their_ids():
    from faultsim.cli.serve import Server

    log = fs.Workload(submit=[0, 0], runtime=[5, 5], size=[1, 1], id=["x", "y"])
    server = Server(fs.Simulation(log, fs.Cluster(1), scheduler=fs.External()), decides=True)
    assert [job["id"] for job in server.answer(b'{"request": "ADVANCE"}')["queue"]] == ["x", "y"]
    assert server.answer(b'{"request": "START", "id": "y"}') == {"ok": True}
    assert "there is no job 'z'" in server.answer(b'{"request": "START", "id": "z"}')["error"]
    assert json.dumps(server.answer(b'{"request": "ADVANCE"}'))


def workload(**more):
    return fs.Workload(submit=[0, 1], runtime=[1, 1], size=[1, 1], **more)


test_what_is_no_column = refusals(
    InputError,
    lambda name, values: workload(columns={name: values}),
    ("wait", [1, 2], "columns: jobs have a column 'wait' already; choose another name"),
    ("index", [1, 2], "columns: jobs have a column 'index' already"),
    ("a/b", [1, 2], "columns: the name of a column is printable text without '/', got 'a/b'"),
    (3, [1, 2], "the name of a column is printable text without '/', got 3"),
    ("x", [1, 2, 3], "x: 3 values for 2 rows"),
    ("x", [[1, 2], [3, 4]], "x: expected one dimension, got 2"),
    ("x", [[1, 2], 3], "x: expected a one-dimensional array, got a ragged list"),
    ("x", ["a", 3], "x, row 1: 3 is not text, and others are; give one type"),
    ("x", [None, 3], "x, row 0: None is not text, and others are; give one type"),
)


def test_ids():
    assert workload(id=["a", "b"]).id.tolist() == ["a", "b"]
    assert workload(id=np.array(["a", "b"], object)).id.dtype == np.dtype("<U1")
    assert workload(id=[7, 2]).id.dtype == np.int64
    refused(InputError, "id, row 1: 3 is not text, and others are", workload, id=["a", 3])
    refused(InputError, "id, row 1: 'a' is not a number", workload, id=[3, "a"])
    refused(InputError, "columns must be a mapping of names to columns, got", workload, columns=[1, 2])
    refused(InputError, "krevat_span: expected the NASA iPSC log", fs.krevat_span, LOG, "nasa")
