"""`RunList`: runs that no grid describes, in a store."""

import math
import sqlite3
from contextlib import closing
from typing import NamedTuple

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import OptionError
from faultsim.simulation.workflow_run import WorkflowRun
from faultsim.sweep.kinds import WORKFLOW_RUNS
from faultsim.sweep.row_schema import COLUMNS as ROW
from faultsim.sweep.run_list import RunList
from faultsim.sweep.store import Store
from helpers.refusals import refused

LOG = fs.synthetic.nasa_like(60, rng=1)


class Key(NamedTuple):
    scheduler: str
    load: float


def longest_wait(result):
    return float(result.jobs["wait"].max())


def run(key, factor, replicate):
    return fs.Run(
        LOG.with_runtime_factor(factor),
        fs.Cluster(128),
        scheduler=key.scheduler,
        failures=fs.FailureTrace([50.0 * replicate], [replicate], [10.0], span=1e6),
    )


COLUMNS = {"wait": "mean_wait", "longest": longest_wait}
SETTINGS = {
    Key(scheduler, load): {"factor": (1.0, 2.0, 3.0)[: 2 + (scheduler == "easy")], "replicate": range(2)}
    for scheduler in ("fcfs", "easy")
    for load in (0.5, math.nan)
}


def listed(make=run, settings=SETTINGS, columns=COLUMNS, **options):
    return RunList("mine", settings, make, columns, **options)


def same(one, other):
    assert one.keys() == other.keys()
    for key in one:
        assert one[key].keys() == other[key].keys()
        for column in one[key]:
            np.testing.assert_array_equal(one[key][column], other[key][column])


def test_numbers_are_those_of_the_runs():
    made = listed().run(workers=1)
    for key, within in SETTINGS.items():
        for column, value in (("wait", lambda r: r.metrics["mean_wait"]), ("longest", longest_wait)):
            expected = [[value(run(key, f, r).simulate()) for r in within["replicate"]] for f in within["factor"]]
            np.testing.assert_array_equal(made[key][column], expected)


def test_order_and_executor_change_nothing():
    first = listed().run(workers=2)
    seen = []

    def noted(key, factor, replicate):
        seen.append(factor)
        return run(key, factor, replicate)

    same(first, listed(noted, order=lambda key, factor, replicate: -factor).run(workers=1))
    assert seen[1:] == sorted(seen[1:], reverse=True)  # the first is for the id
    same(first, listed().run(workers=2, executor="processes"))


def test_a_store_keeps_what_was_made(tmp_path):
    store, made = tmp_path / "a.db", []
    many = {key: {**within, "replicate": range(128)} for key, within in SETTINGS.items() if key.load == 0.5}

    def counted(result):
        made.append(result)
        return longest_wait(result)

    def stopping(done, total, seconds):
        if done >= 6:
            raise KeyboardInterrupt

    def longer():
        return listed(settings=many, columns={**COLUMNS, "longest": counted})

    with pytest.raises(KeyboardInterrupt, match=r"of 640 runs are kept in .*a\.db"):
        longer().run(store, workers=1, progress=stopping)
    with Store(store, write=False) as kept:
        (row,) = kept.sweeps()
    assert (row["name"], row["tasks"], row["axes"]) == ("mine", 640, ["scheduler", "load", "factor"])
    assert 6 <= row["done"] < 640
    made.clear()
    again = longer().run(store, workers=1)
    assert len(made) == 640 - row["done"]
    same(again, longer().run())
    table = fs.load_sweep(store, "mine")
    assert table.complete
    assert table.select(scheduler="easy", factor=3.0).n_rows == 128
    kept = table.select(scheduler="easy", factor=3.0, replicate=0)["longest"]
    assert kept.tolist() == [longest_wait(run(Key("easy", 0.5), 3.0, 0).simulate())]


def test_equal_runs_are_made_once(tmp_path):
    listed().run(tmp_path / "a.db", base={"seed": 1})
    listed().run(tmp_path / "a.db", base={"seed": 2})
    with Store(tmp_path / "a.db", write=False) as kept:
        assert [row["done"] for row in kept.sweeps()] == [20, 20]
        assert kept.count("run") == 10  # the load is only a name here


def test_a_store_that_is_closed_is_one_file_though_others_read_it(tmp_path):
    path, alone = tmp_path / "a.db", tmp_path / "alone.db"
    store = Store(path)
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("SELECT count(*) FROM run").fetchone()
        store.add([(f"{number:032}", "ok", None, "e", *[0.0] * len(ROW)) for number in range(3)], [], [])
        store.close()
        alone.write_bytes(path.read_bytes())
        with closing(sqlite3.connect(alone)) as kept:
            assert kept.execute("SELECT count(*) FROM run").fetchone() == (3,)


BROKEN = [True]


def broken(result):
    if BROKEN[0]:
        raise ZeroDivisionError("no")
    return 1.0


def test_a_failed_run_is_said_and_tried_again(tmp_path):
    settings = {Key("fcfs", 1.0): {"factor": [1.0], "replicate": [0]}}
    runs = RunList("mine", settings, run, {"mine": broken})
    with pytest.raises(OptionError, match=r"mine: scheduler=fcfs, load=1.0, factor=1.0, replicate=0: .*no"):
        runs.run(tmp_path / "a.db", workers=1)
    BROKEN[0] = False
    assert runs.run(tmp_path / "a.db", workers=1)[Key("fcfs", 1.0)]["mine"].tolist() == [[1.0]]


def test_workflows():
    class Flows(NamedTuple):
        nodes: int

    flow = fs.Workflow([4.0, 2.0, 3.0])
    runs = RunList(
        "flows",
        {Flows(1): {"times": [1, 2]}, Flows(3): {"times": [1, 2]}},
        lambda key, times: WorkflowRun((flow,) * times, fs.Resources(key.nodes)),
        {"span": "makespan", "count": len},
        kind=WORKFLOW_RUNS,
    )
    made = runs.run(workers=1)
    assert made[Flows(1)]["span"].tolist() == [9.0, 18.0]
    assert made[Flows(3)]["count"].tolist() == [1.0, 2.0]


class Other(NamedTuple):
    nodes: int


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "mine: no settings, or an axis without values"),
        ({Key("fcfs", 1.0): {"factor": ()}}, "mine: no settings, or an axis without values"),
        ({("fcfs", 1.0): {"factor": (1.0,)}}, "mine: a setting must be a named tuple, got"),
        ({Key("fcfs", 1.0): {"load": (1.0,)}}, "mine: the axis 'load' has the name of a field of Key"),
        ({Key("fcfs", 1.0): {"factor": (1.0,)}, Key("easy", 1.0): {"other": (1.0,)}}, "has other fields or axes"),
        ({Key("fcfs", 1.0): {"factor": (1.0,)}, Other(4): {"factor": (1.0,)}}, "has other fields or axes"),
    ],
)
def test_settings_that_are_refused(settings, said):
    refused(OptionError, said, RunList, "mine", settings, run, COLUMNS)
