"""Metrics of one's own in sweeps: their columns, their place in the store, their way to other processes."""

import contextlib
import copy
import functools
import json
import math
import pickle
import sqlite3
import sys

import numpy as np
import pytest

import faultsim as fs
from faultsim.sweep.merge import merge
from helpers import own_policies
from helpers.refusals import refused
from helpers.scripts import python

LOG = fs.synthetic.nasa_like(60, rng=2)
BASE = fs.Run(LOG, fs.Cluster(128))
GRID = {"start_delay": [0.0, 5.0, 50.0]}


def longest(result):
    return result.jobs["wait"].max()


def shifted(result, by):
    return longest(result) + by


class Share:
    """A metric with a state."""

    def __init__(self, limit):
        self.limit = limit

    def __call__(self, result):
        return np.mean(result.jobs["wait"] > self.limit)


METRICS = {"longest": longest, "shifted": functools.partial(shifted, by=1.0), "share": Share(60), "p95": "p95_wait"}


def expected():
    runs = [fs.simulate(LOG, fs.Cluster(128), start_delay=delay) for delay in GRID["start_delay"]]
    return {
        "longest": [run.jobs["wait"].max() for run in runs],
        "shifted": [run.jobs["wait"].max() + 1 for run in runs],
        "share": [(run.jobs["wait"] > 60).mean() for run in runs],
        "p95": [run.metrics["p95_wait"] for run in runs],
    }


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_they_are_columns_and_are_kept(tmp_path, executor):
    store = tmp_path / "own.db"
    sweep = fs.Sweep(BASE, GRID, metrics=METRICS, name="own")
    table = sweep.run(store, executor=executor, workers=1)
    for name, values in expected().items():
        np.testing.assert_array_equal(table[name], values)
        assert name in table.metrics
        np.testing.assert_array_equal(fs.load_sweep(store)[name], values)
    assert table.summary("longest")["mean"].tolist() == expected()["longest"]
    assert table.select(start_delay=5.0).metrics == table.metrics
    assert sweep.fill(store).made == 0
    assert fs.Sweep(BASE, GRID, metrics={**METRICS, "share": Share(61)}, name="own").fill(store).made == 3
    assert fs.Sweep(BASE, GRID, name="own").fill(store).made == 3
    assert fs.Sweep(BASE, GRID, name="own").fill(store).made == 0
    table.write_csv(tmp_path / "own.csv")
    assert "longest" in (tmp_path / "own.csv").read_text().splitlines()[0]


def test_without_them_the_rows_are_as_before():
    with_, without = fs.Sweep(BASE, GRID, metrics=["p95_wait"]).run(), fs.Sweep(BASE, GRID).run()
    assert set(with_) - set(without) == {"p95_wait"}
    for name in without:
        if name != "run":
            np.testing.assert_array_equal(with_[name], without[name])
    assert not set(with_["run"]) & set(without["run"])


def test_shards_are_merged_with_them(tmp_path):
    sweep = fs.Sweep(BASE, GRID, metrics=METRICS)
    for part in (1, 2):
        sweep.fill(tmp_path / f"{part}.db", shard=(part, 2))
    merge(tmp_path / "all.db", [tmp_path / "1.db", tmp_path / "2.db"])
    np.testing.assert_array_equal(fs.load_sweep(tmp_path / "all.db")["longest"], expected()["longest"])


def test_a_store_without_their_table_can_be_read(tmp_path):
    fs.Sweep(BASE, GRID).fill(tmp_path / "old.db")
    with contextlib.closing(sqlite3.connect(tmp_path / "old.db")) as db, db:
        db.execute("DROP TABLE own")
    assert len(fs.load_sweep(tmp_path / "old.db")) == 3
    assert fs.Sweep(BASE, GRID, metrics=METRICS).fill(tmp_path / "old.db").made == 3


def test_warmup_and_drain():
    table = fs.Sweep(BASE, GRID, metrics={"p95": "p95_wait", "jobs": len}, warmup=0.25, drain=0.25).run()
    assert table["jobs"].tolist() == [60, 60, 60]
    result = BASE.simulate()
    assert table["p95"][0] == np.percentile(result.jobs["wait"][15:45], 95)


def failing(result):
    raise ZeroDivisionError("no jobs")


def nothing(result):
    return None


def nan(result):
    return math.nan


def test_what_they_return_and_raise():
    table = fs.Sweep(BASE, GRID, metrics={"bad": failing}).run()
    assert set(table["status"]) == {"error"}
    assert table.errors[0] == "metric 'bad': ZeroDivisionError: no jobs"
    table = fs.Sweep(BASE, GRID, metrics={"nan": nan}).run()
    assert set(table["status"]) == {"ok"}
    assert np.isnan(table["nan"]).all()


def text(result):
    return "3"


def column(result):
    return result.jobs["wait"][:1]


def imaginary(result):
    return np.complex128(3j)


@pytest.mark.parametrize("executor", ["threads", "processes"])
@pytest.mark.parametrize(
    ("metric", "shown"), [(nothing, "None"), (text, "'3'"), (column, r"array\("), (imaginary, r"np\.complex128\(3j\)")]
)
def test_what_is_no_number_is_a_mistake_in_all_runs(tmp_path, metric, shown, executor):
    sweep = fs.Sweep(BASE, GRID, metrics={"mine": metric})
    with pytest.raises(fs.OptionError, match=rf"metric 'mine' must return a number, got {shown}.*float\('nan'\)"):
        sweep.run(tmp_path / "sweep.db", executor=executor, workers=2)


@pytest.mark.parametrize(
    ("metrics", "said"),
    [
        ("p95_wait", "metrics must map names to functions, or list names of faultsim.METRICS, got 'p95_wait'"),
        (["p95_weight"], r"unknown metric 'p95_weight' \(did you mean 'p95_"),
        (["mean_wait"], "the table has a column 'mean_wait' already; choose another name"),
        ({"mean_wait": longest}, "the table has a column 'mean_wait' already"),
        ({"p95_wait": longest}, "the table has a column 'p95_wait' already"),
        ({"start_delay": longest}, "the table has a column 'start_delay' already"),
        ({"status": longest}, "the table has a column 'status' already"),
        ({"": longest}, "a name is printable text, got ''"),
        ({"x": 5}, "'x' must be a function of a Result, got 5"),
        (["p95_wait", "p95_wait"], "'p95_wait' is given twice"),
        (["mean_dispersal"], "mean_dispersal needs record=True, and sweeps record nothing"),
    ],
)
def test_refusals(metrics, said):
    refused(fs.OptionError, said, fs.Sweep, BASE, GRID, metrics=metrics)


def test_in_a_file(tmp_path):
    text = """
    metrics = METRICS
    [base]
    log = { synthetic = "nasa_like", jobs = 60 }
    machine = "cluster:128"
    """
    path = tmp_path / "sweep.toml"
    path.write_text(text.replace("METRICS", '["p95_wait", "worst_size_wait"]'))
    assert {"p95_wait", "worst_size_wait"} <= set(fs.read_sweep(path).run())
    path.write_text(text.replace("METRICS", '{ longest = "max_wait" }'))
    assert fs.read_sweep(path).run()["longest"].shape == (1,)
    path.write_text(text.replace("METRICS", '["p95_weight"]'))
    refused(
        fs.InputError, r"sweep.toml:2: metrics: unknown metric 'p95_weight' \(did you mean 'p95_", fs.read_sweep, path
    )


# -- to other processes


def test_a_function_that_cannot_travel_is_named_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    sweep = fs.Sweep(BASE, GRID, metrics={"p95": "p95_wait", "mine": lambda result: 1.0})
    with pytest.raises(fs.WorkerError, match=r"metric 'mine' cannot be sent to other processes unless its function is"):
        sweep.run(tmp_path / "a.db", executor="processes", workers=1)
    assert len(fs.load_sweep(tmp_path / "a.db")) == 0


def test_local_functions_and_classes_travel_by_value():
    pytest.importorskip("cloudpickle")
    limit = 7

    class Local(own_policies.Widest):
        def keys(self, queue, now):
            return -super().keys(queue, now) + limit

    grid = {"scheduler": [fs.Fcfs(order=Local()), fs.Fcfs(order=own_policies.Widest())]}
    sweep = fs.Sweep(BASE, grid, metrics={"mine": lambda result: limit * result.jobs["wait"].max()})
    ours, theirs = sweep.run(executor="processes", workers=1), sweep.run()
    assert (ours["status"] == "ok").all()
    for name in ("mine", "mean_wait"):
        np.testing.assert_array_equal(ours[name], theirs[name])


SESSION = """
import sys
import faultsim as fs

class Mine(fs.QueueOrder):
    def keys(self, queue, now):
        return -queue.size

def longest(result):
    return result.jobs["wait"].max()

BLOCK
base = {"log": fs.synthetic.nasa_like(40, rng=0), "machine": fs.Cluster(128)}
orders = {"builtin": fs.Fcfs(order=fs.LargestFirst()), "mine": fs.Fcfs(order=Mine())}
sweep = fs.Sweep(base, {"scheduler": orders}, metrics={"longest": longest})
try:
    table = sweep.run("STORE", executor="processes", workers=1)
except fs.WorkerError as error:
    print(error, len(fs.load_sweep("STORE")))
else:
    print(table["mean_wait"][0] == table["mean_wait"][1], table["longest"].tolist() == sweep.run()["longest"].tolist())
"""


def session(tmp_path, *, without):
    block = "sys.modules['cloudpickle'] = None" if without else ""
    return python("-c", SESSION.replace("BLOCK", block).replace("STORE", str(tmp_path / "a.db"))).stdout


def test_a_session_with_cloudpickle(tmp_path):
    pytest.importorskip("cloudpickle")
    assert session(tmp_path, without=False) == "True True\n"


def test_a_session_without_cloudpickle_is_told_before_any_work(tmp_path):
    said = session(tmp_path, without=True)
    assert said.startswith("a policy needs Mine, which other processes do not find: other processes cannot import an ")
    assert said.endswith('install what sends it as it is: pip install "faultsim[processes]" 0\n')


def test_what_the_store_keeps(tmp_path):
    fs.Sweep(BASE, GRID, metrics={"longest": longest}).fill(tmp_path / "a.db")
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as db, db:
        rows = [json.loads(row[0]) for row in db.execute("SELECT numbers FROM own")]
    assert sorted(row["longest"] for row in rows) == sorted(expected()["longest"])


def test_a_table_is_pickled_and_copied_with_all_that_it_has():
    log = fs.synthetic.nasa_like(20, rng=0)
    grid = {"estimates": ["requested", "actual"], "machine": [fs.Cluster(128), fs.Cluster(1)]}
    made = fs.Sweep({"log": log, "oversized": "error"}, grid, name="four").run()
    assert len(made.errors) == 2
    for again in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made), copy.copy(made)):
        assert (again.name, again.axes, again.expected, again.metrics) == ("four", made.axes, 4, made.metrics)
        assert dict(again.base) == dict(made.base)
        assert dict(again.errors) == dict(made.errors)
        for name in made:
            np.testing.assert_array_equal(again[name], made[name])
            assert not again[name].flags.writeable
        assert again.select(estimates="actual").n_rows == 2
