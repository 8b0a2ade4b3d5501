"""The compiled engine equals the reference engine, job by job, on random cases and on the real logs."""

import numpy as np
import pytest
from hypothesis import given, settings

from faultsim.reference.engine import simulate as plainly
from faultsim.simulation.core_engine import core_engine
from helpers.engines import LOGS, assert_same, compiled, head_of
from helpers.strategies import engine_cases

KINDS = [
    ("cluster", "fcfs", False),
    ("cluster", "easy", False),
    ("cluster", "backfill", False),
    ("cluster", "conservative", False),
    ("torus", "fcfs", False),
    ("torus", "easy", False),
    ("torus", "backfill", False),
    ("torus", "conservative", False),
    ("torus", "fcfs", True),
    ("torus", "easy", True),
    ("torus", "backfill", True),
    ("torus", "conservative", True),
]


@pytest.mark.parametrize(("machine", "scheduler", "migration"), KINDS)
def test_engines_agree_on_random_cases(machine, scheduler, migration):
    @given(engine_cases((machine,), (scheduler,), migration))
    @settings(max_examples=2 * settings.default.max_examples)
    def agree(case):
        config, columns = case
        assert_same(compiled(config, columns), plainly({**config, "verify": True}, **columns))

    agree()


# -- real logs

EASY = {"name": "easy", "order": {"name": "arrival"}, "reservation": "any", "max_growth": 1, "repairs": "known"}
SCHEDULERS = {
    "fcfs": {"name": "fcfs", "order": {"name": "arrival"}},
    "easy": EASY,
    "backfill": {**EASY, "name": "backfill", "depth": 2},
    "conservative": {"name": "conservative", "order": {"name": "arrival"}, "max_growth": 1, "repairs": "known"},
}
DEFRAGMENT = {
    "name": "defragment", "min_free": 0.1, "max_concentration": 0.7, "cost": 0.0, "when": "waiting",
    "keep_promise": False,
}  # fmt: skip


@pytest.fixture(scope="module")
def first_jobs(data_dir):
    """Columns of the first 500 jobs of a log that fit its machine."""

    def columns(name: str, estimates: str) -> dict:
        log = head_of(data_dir, name)
        known = log.estimate >= 0
        estimate = log.runtime if estimates == "actual" else np.where(known, log.estimate, log.runtime)
        return {"submit": log.submit, "runtime": log.runtime, "estimate": estimate, "size": log.size}

    return columns


@pytest.mark.parametrize("estimates", ["requested", "actual"])
@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("name", LOGS)
def test_first_jobs_of_real_logs_on_a_cluster(first_jobs, name, scheduler, estimates):
    config = {
        "machine": {"name": "cluster", "nodes": LOGS[name]},
        "scheduler": SCHEDULERS[scheduler],
        "placement": {"name": "first_fit", "box_order": "extents-descending"},
        "migration": None,
        "overrun": "extend",
        "start_delay": 0.0,
        "record": LOGS[name] < 1000,
    }
    columns = first_jobs(name, estimates)
    assert len(columns["submit"]) == 500
    assert_same(compiled(config, columns, budget=100), plainly(config, **columns))


@pytest.mark.parametrize("migration", [None, DEFRAGMENT], ids=["stay", "defragment"])
@pytest.mark.parametrize("scheduler", ["fcfs", "easy"])
@pytest.mark.parametrize("name", ["NASA-iPSC-1993-3.1-cln", "SDSC-SP2-1998-4.2-cln"])
def test_krevat_schedulers_on_the_first_jobs_of_his_logs(first_jobs, name, scheduler, migration):
    config = {
        "machine": {"name": "torus", "x": 4, "y": 4, "z": 8, "wrap": True},
        "scheduler": SCHEDULERS[scheduler],
        "placement": {"name": "max_free_partition", "box_order": "extents-descending"},
        "migration": migration,
        "overrun": "extend",
        "start_delay": 1.0,
        "record": True,
    }
    columns = first_jobs(name, "actual")
    assert_same(compiled(config, columns, budget=100), plainly(config, **columns))


# -- the engine as an object


@given(engine_cases())
def test_a_copy_goes_on_by_itself(case):
    config, columns = case
    engine = core_engine(config, **columns)
    engine.run(len(columns["submit"]))
    copy = engine.copy()
    while engine.step():
        pass
    result = engine.output()
    copy.verify()
    copy.run()
    assert_same(copy.output(), result)
    assert_same(result, compiled(config, columns, budget=1))


def nodes_of(machine: dict) -> int:
    return machine["nodes"] if machine["name"] == "cluster" else machine["x"] * machine["y"] * machine["z"]


@given(engine_cases(max_jobs=12))
def test_run_until_handles_what_happens_by_then(case):
    config, columns = case
    whole = plainly(config, **columns)
    events = whole["events_table"]
    for t in np.unique(events["time"]):
        engine = core_engine(config, **columns)
        assert engine.run(until=float(t)) == ("done" if t == events["time"][-1] else "until")
        by_then = events["time"] <= t
        ended = set(events["job"][by_then & (events["kind"] == 0)])
        started = set(events["job"][by_then & (events["kind"] == 6)])
        arrived = set(events["job"][by_then & (events["kind"] == 5)])
        assert engine.now <= t
        assert engine.n_done == len(ended)
        assert set(engine.queue()) == arrived - started
        assert list(engine.running()) == sorted(started - ended)
        held = sum(int(whole["allocated"][job]) for job in started - ended)
        assert engine.free == nodes_of(config["machine"]) - held


def test_output_of_an_unfinished_run_is_refused():
    config, columns = {
        "machine": {"name": "cluster", "nodes": 1}, "scheduler": SCHEDULERS["fcfs"], "migration": None,
        "placement": {"name": "first_fit", "box_order": "extents-descending"}, "overrun": "extend",
        "start_delay": 0.0, "record": False,
    }, {
        "submit": np.zeros(2), "runtime": np.ones(2), "estimate": np.ones(2), "size": np.ones(2, dtype=np.int32),
    }  # fmt: skip
    engine = core_engine(config, **columns)
    engine.step()
    with pytest.raises(RuntimeError, match="0 of 2 jobs"):
        engine.output()
