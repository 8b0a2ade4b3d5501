"""Every table: rows by number, its length, pandas, and the Arrow interface."""

import pickle
import sys

import numpy as np
import pytest

import faultsim as fs
from faultsim.data.tabular import Columns
from helpers.refusals import refused

LOG = fs.synthetic.nasa_like(40, rng=1).with_columns(queue=["a", "bc"] * 20)
TRACE = fs.FailureTrace([60, 90.5], [0, 2], [0, 30], span=3600)


def runs():
    return {
        "cluster": fs.simulate(LOG, fs.Cluster(128), record=True),
        "torus": fs.simulate(LOG, fs.Torus(4, 4, 8), failures=TRACE, record=True),
        "reference": fs.simulate(LOG, fs.Cluster(128), record=True, engine="reference"),
    }


def sweep():
    grid = {"scheduler": [fs.EasyBackfill(), fs.Fcfs()], "start_delay": [0, 2.5], "placement": [None, fs.FirstFit()]}
    return fs.Sweep(fs.Run(LOG, fs.Cluster(128)), grid).run()


def tables():
    flow = fs.simulate_workflows(fs.Workflow([4, 4], [(0, 1, 1)]), fs.Resources(2), record=True)
    done = sweep()
    made = {"log": LOG, "trace": TRACE, "sweep": done, "summary": done.summary("mean_wait")}
    made |= {f"workflow {name}": getattr(flow, name) for name in ("jobs", "decisions", "events")}
    made |= {"workflow": flow}
    for what, result in runs().items():
        made |= {f"{what} {name}": getattr(result, name) for name in ("jobs", "events", "allocations", "workload")}
        made[what] = result
    return made


TABLES = tables()
WHOLE = ("cluster", "torus", "reference", "workflow")  # results, whose jobs they are


def rows_of(table):
    return table.jobs if hasattr(table, "jobs") else table


@pytest.mark.parametrize("name", TABLES)
def test_rows_and_columns(name):
    table = rows_of(TABLES[name])
    rows = len(table)
    assert list(table) == list(table.keys())
    for key, values in table.items():
        assert values is table[key]
        if key not in ("node_offsets", "nodes"):
            assert len(values) == rows
    for one, other in ((table[0], table[np.int64(-rows)]), (table[0], table.row(0)), (table[-1], table[rows - 1])):
        np.testing.assert_equal(one, other)
    for key, value in table[rows // 2].items():
        if key == "nodes":
            offsets = table["node_offsets"]
            assert value == table["nodes"][offsets[rows // 2] : offsets[rows // 2 + 1]].tolist()
        else:
            assert not isinstance(value, np.generic)
            np.testing.assert_equal(value, table[key].tolist()[rows // 2])
    for number in (rows, -rows - 1):
        with pytest.raises(IndexError, match=rf"no row {number}: there are {rows}"):
            table[number]
    with pytest.raises(KeyError, match=r"no column 'nothing'|nothing"):
        table["nothing"]
    assert "nothing" not in table
    assert all(key in table for key in table)


def plain(values):
    """Lists of plain values, with NaN as None."""
    listed = [value.tolist() if isinstance(value, np.ndarray) else value for value in values]
    return [None if value != value else value for value in listed]


def columns_of(table):
    found = {key: [] for key in table[0]}
    for at in range(len(table)):
        for key, value in table[at].items():
            found[key].append(value)
    return found


@pytest.mark.parametrize("name", TABLES)
def test_pandas(name):
    pandas = pytest.importorskip("pandas")
    table, wanted = TABLES[name], columns_of(rows_of(TABLES[name]))
    frame = table.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame) == list(wanted)
    for key, values in wanted.items():
        assert plain(frame[key].tolist()) == plain(values)
    if hasattr(pandas.DataFrame, "from_arrow"):  # pandas 3
        pytest.importorskip("pyarrow")
        assert list(pandas.DataFrame.from_arrow(table)) == list(wanted)


@pytest.mark.parametrize("name", TABLES)
def test_the_arrow_interface(name):
    pyarrow = pytest.importorskip("pyarrow")
    table, wanted = TABLES[name], columns_of(rows_of(TABLES[name]))
    taken = pyarrow.table(table)
    assert taken.equals(table.to_arrow()) or "nan" in str(table.to_arrow().to_pydict())
    assert taken.column_names == list(wanted)
    for key, values in wanted.items():
        mixed = len({type(value) for value in values} - {type(None)}) > 1
        listed = [None if value is None else str(value) for value in values] if mixed else values
        assert plain(taken[key].to_pylist()) == plain(listed)


@pytest.mark.parametrize("name", ["log", "trace", "cluster", "torus jobs", "sweep", "cluster allocations"])
def test_polars(name):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    table = TABLES[name]
    # A mapping to polars 2, whose columns must be equally long: lists of nodes go through Arrow.
    frame = polars.from_arrow(table.to_arrow()) if name.endswith("allocations") else polars.DataFrame(table)
    assert frame.height == len(rows_of(table))
    assert frame.columns == table.to_arrow().column_names


def test_duckdb():
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    result = TABLES["cluster"]
    jobs = result.jobs  # noqa: F841 (DuckDB finds it by its name)
    found = duckdb.sql("SELECT queue, count(*), avg(wait) FROM jobs GROUP BY queue ORDER BY queue").fetchall()
    for queue, count, wait in found:
        rows = result.jobs["queue"] == queue
        assert (count, wait) == (rows.sum(), pytest.approx(result.jobs["wait"][rows].mean()))
    assert [row[0] for row in found] == ["a", "bc"]


def test_one_word_for_every_table():
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    for name, known in (("cluster", ("jobs", "events", "allocations")), ("workflow", ("jobs", "decisions", "events"))):
        result = TABLES[name]
        for table in known:
            assert list(result.to_pandas(table)) == result.to_arrow(table).column_names
        for method in (result.to_pandas, result.to_arrow):
            refused(fs.OptionError, r"unknown table 'event'.*did you mean 'events'", method, "event")
    silent = fs.simulate(LOG, fs.Cluster(128))
    refused(fs.OptionError, "recorded no events", silent.to_pandas, "events")


def test_without_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for table in (LOG, TABLES["cluster"], TABLES["sweep"]):
        for call, what in ((table.to_arrow, "to_arrow"), (table.__arrow_c_stream__, "the Arrow interface")):
            refused(fs.MissingExtraError, rf'^{what} needs pyarrow: pip install "faultsim\[arrow\]"$', call)


def test_the_workload_of_a_result_is_one():
    for name in ("cluster", "torus", "reference"):
        log = TABLES[name].workload
        assert isinstance(log, fs.Workload)
        assert log == LOG
        assert dict(log.dropped) == dict(TABLES[name].dropped)
        assert log["submit"] is log.submit
        assert dict(log) == dict(log.columns)
        again = fs.simulate(log, fs.Cluster(128))
        assert again.jobs["start"].tolist() == fs.simulate(LOG, fs.Cluster(128)).jobs["start"].tolist()


def test_parts_of_a_sweep():
    table = TABLES["sweep"]
    assert len(table) == table.n_rows == 8
    assert [len(table[:3]), len(table[::2]), len(table[-2:])] == [3, 4, 2]
    mask = table["scheduler"] == "easy"
    assert len(table[mask]) == len(table[mask.tolist()]) == 4
    assert table[3]["start_delay"] == table["start_delay"][3]
    assert table[[5, 1]]["start_delay"].tolist() == table["start_delay"][[5, 1]].tolist()
    refused(fs.OptionError, "mask of a table needs one value per row, 8, got 2", table.__getitem__, [True, False])
    refused(fs.OptionError, "a mask or a list of row numbers, got 2.5", table.__getitem__, 2.5)
    refused(IndexError, "no row 8: there are 8", table.__getitem__, [0, 8])


def test_pandas_takes_tables_as_they_are():
    pandas = pytest.importorskip("pandas")
    log = fs.Workload(submit=[0, 1, 2], runtime=[10, 5, 3], size=[2, 2, 1], user=[7, 8, 9], estimate=[20, -1, 3])
    result = fs.simulate(log, fs.Cluster(2), record=True)
    for table in (result.jobs, result.events, TABLES["sweep"], result.by("user")):
        frame = pandas.DataFrame(table)
        assert list(frame) == list(table)
        assert len(frame) == len(table)
        assert frame.equals(table.to_pandas())
    frame = pandas.DataFrame(result.jobs)
    assert frame["user"].tolist() == [7, 8, 9]
    assert frame["estimate"].tolist() == [20, -1, 3]
    assert set(frame["state"]) == {"ended"}
    assert pickle.loads(pickle.dumps(result.jobs))["wait"].tolist() == result.jobs["wait"].tolist()


def test_parts_of_jobs():
    log = fs.Workload(submit=[0, 1, 2], runtime=[10, 5, 3], size=[2, 2, 1])
    jobs = fs.simulate(log, fs.Cluster(2)).jobs
    assert jobs[:2]["id"].tolist() == [1, 2]
    assert jobs[jobs["wait"] > 9.5]["id"].tolist() == [3]
    assert jobs[[2, 0]]["id"].tolist() == [3, 1]
    assert list(jobs[:1]) == list(jobs)
    assert (jobs != jobs, jobs == jobs, jobs[:1] != jobs[:1]) == (False, True, True)
    for change in (jobs.clear, jobs.popitem, lambda: jobs.update(wait=1), lambda: jobs.__setitem__("wait", 1)):
        refused(TypeError, "a table is read-only", change)
    assert list(jobs.copy()) == list(jobs | {}) == list(jobs)


def test_wrong_names_get_the_nearest():
    log = fs.Workload(submit=[0], runtime=[10], size=[2])
    result = fs.simulate(log, fs.Cluster(2))
    flows = fs.simulate_workflows(fs.Workflow([1]), fs.Resources(1))
    for mapping, wrong, right in (
        (result.jobs, "waits", "wait"), (result.jobs, "ended", "finish"), (result.ledger, "used", "useful"),
        (result.metrics, "mean_waits", "mean_wait"), (fs.METRICS, "mean_waits", "mean_wait"),
        (result.counters, "event", "events"), (log, "sizes", "size"), (log.columns, "sizes", "size"),
        (flows.metrics, "makespans", "makespan"), (fs.partition.ALGORITHMS, "bitmaps", "bitmap"),
    ):  # fmt: skip
        refused(KeyError, f"{wrong}' \\(did you mean '{right}'", mapping.__getitem__, wrong)
    for thing, wrong, right in (
        (log, "sizes", "size"), (result, "job", "jobs"), (fs.Torus(2, 2, 2), "node", "nodes"),
        (fs.Resources(1), "node", "nodes"),
    ):  # fmt: skip
        refused(AttributeError, f"no attribute '{wrong}' \\(did you mean '{right}'", getattr, thing, wrong)


def test_tables_of_a_result_are_written_alike(tmp_path):
    log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 1])
    result = fs.simulate(log, fs.Cluster(2), record=True)
    result.write_csv(tmp_path / "jobs.csv")
    result.jobs.write_csv(tmp_path / "same.csv")
    assert (tmp_path / "jobs.csv").read_text() == (tmp_path / "same.csv").read_text()
    assert (tmp_path / "jobs.csv").read_text().splitlines()[0] == ",".join(result.jobs)
    result.write_csv(tmp_path / "held.csv", "allocations")
    assert (tmp_path / "held.csv").read_text().splitlines()[1].endswith(",0 1")
    pytest.importorskip("pyarrow")
    result.write_parquet(tmp_path / "jobs.parquet")
    assert (tmp_path / "jobs.parquet").stat().st_size


def test_an_empty_table():
    empty = Columns({"time": np.empty(0)}, "events")
    assert (len(empty), list(empty)) == (0, ["time"])
    with pytest.raises(IndexError, match="no row 0: there are 0"):
        empty[0]
    assert len(fs.FailureTrace([], [])) == 0
