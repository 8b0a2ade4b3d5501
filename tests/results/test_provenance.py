"""Provenance: what made a result, in plain values."""

import datetime
import json

import numpy as np
import pytest

import faultsim as fs
from faultsim.results.provenance import SCHEMA, digest, environment, plain

LOG = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2], estimate=[-1, 8], name="two jobs")


class Mine(fs.QueueOrder):
    def __repr__(self):
        return "Mine()"

    def keys(self, queue, now):
        return queue.size


def test_what_it_holds():
    before = datetime.datetime.now(datetime.UTC)
    result = fs.simulate(LOG, fs.Cluster(2), scheduler=fs.Fcfs("largest"), seed=7, start_delay=1)
    found = result.provenance
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["schema"] == SCHEMA
    assert found["faultsim"] == fs.__version__
    assert found["numpy"] == np.__version__
    assert found["seed"] == found["settings"]["seed"] == 7
    assert found["settings"]["machine"] == {"name": "cluster", "nodes": 2}
    assert found["settings"]["scheduler"] == {"name": "fcfs", "order": {"name": "largest"}}
    assert found["settings"]["engine"] == "core"
    assert found["input"] == {"digest": LOG.digest(), "source": "two jobs", "jobs": 2, "dropped": {}}
    started = datetime.datetime.fromisoformat(found["started"])
    assert before <= started <= datetime.datetime.now(datetime.UTC)
    assert 0 < found["elapsed"] < 60


def test_the_digest_is_that_of_the_workload():
    assert digest(LOG.columns) == LOG.digest()
    assert digest(LOG.columns) != digest(LOG.with_runtime_factor(2).columns)


def test_settings_say_all_that_simulate_takes():
    import inspect

    settings = fs.simulate(LOG, fs.Cluster(2)).provenance["settings"]
    assert set(settings) == set(inspect.signature(fs.simulate).parameters) - {"log", "progress"}


def test_failures_are_identified():
    assert fs.simulate(LOG, fs.Cluster(2)).provenance["failures"] is None
    trace = fs.FailureTrace([5, 9], [0, 1], 2, span=100, name="two", dropped={"software": 3})
    result = fs.simulate(LOG, fs.Cluster(2), failures=trace, predictor=fs.Perfect())
    found = result.provenance
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["failures"] == {
        "count": 2, "span": 100, "digest": trace.digest(), "name": "two", "dropped": {"software": 3}
    }  # fmt: skip
    settings = found["settings"]
    assert settings["failures"] == {"count": 2, "span": 100.0}
    assert settings["recovery"] == {"name": "requeue", "place": "arrival", "restart_cost": 0.0}
    assert settings["predictor"] == {"name": "perfect"}


def test_python_policies_are_named():
    found = fs.simulate(LOG, fs.Cluster(2), scheduler=fs.Fcfs(Mine())).provenance
    order = found["settings"]["scheduler"]["order"]
    assert order == {"name": "python", "class": f"{__name__}.Mine", "repr": "Mine()"}
    assert json.loads(json.dumps(found)) == found
    assert plain([{"object": 3}, (1, "a")]) == [{"class": "builtins.int", "repr": "3"}, [1, "a"]]


def test_environment_is_made_once():
    assert environment() is environment()


@pytest.mark.parametrize("change", [{"seed": 1}, {"record": True}, {"overrun": "kill"}])
def test_settings_show_every_change(change):
    run = fs.Run(LOG, fs.Cluster(2))
    assert run.simulate().provenance["settings"] != run.with_options(**change).simulate().provenance["settings"]
