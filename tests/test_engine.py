"""The compiled engine equals the reference engine, job by job, on random cases and on the real logs."""

import numpy as np
import pytest
from hypothesis import given, settings

import faultsim as fs
from faultsim._core.engine import Engine
from faultsim.reference.engine import simulate as plainly
from tests.strategies import engine_cases

COUNTS = ["migrations_attempted", "migrations_successful", "events", "passes", "makespan_begin", "makespan_end"]


def compiled(config: dict, columns: dict, budget: int = 7) -> dict:
    """Run the compiled engine a few events at a time and check its invariants in between."""
    engine = Engine(config, **columns)
    while (reason := engine.run(budget)) != "done":
        assert reason == "budget"
        engine.verify()
    engine.verify()
    return engine.output()


def assert_same(fast: dict, slow: dict) -> None:
    """Every column, count and row equal; the ledger to 1e-9 of N*T."""
    assert set(fast) <= set(slow)  # the reference engine has columns of failures already
    for name in fast:
        value = slow[name]
        if name in COUNTS:
            assert fast[name] == value, name
        elif name == "ledger":
            assert list(fast[name]) == list(value)
            close = 1e-9 * max(sum(value.values()), 1.0)
            assert fast[name] == pytest.approx(value, rel=0, abs=close)
        elif isinstance(value, dict):  # events_table, allocations
            assert set(fast[name]) <= set(value)
            for column in fast[name]:
                np.testing.assert_array_equal(fast[name][column], value[column], f"{name}.{column}", strict=True)
        else:
            np.testing.assert_array_equal(fast[name], value, name, strict=True)


KINDS = [
    ("cluster", "fcfs", False),
    ("cluster", "easy", False),
    ("cluster", "conservative", False),
    ("torus", "fcfs", False),
    ("torus", "easy", False),
    ("torus", "conservative", False),
    ("torus", "fcfs", True),
    ("torus", "easy", True),
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
    "conservative": {"name": "conservative", "order": {"name": "arrival"}, "max_growth": 1, "repairs": "known"},
}
DEFRAGMENT = {
    "name": "defragment", "min_free": 0.1, "max_concentration": 0.7, "cost": 0.0, "when": "waiting",
    "keep_promise": False,
}  # fmt: skip
LOGS = {
    "NASA-iPSC-1993-3.1-cln": 128,
    "SDSC-SP2-1998-4.2-cln": 128,
    "CTC-SP2-1996-3.1-cln": 338,
    "KTH-SP2-1996-2.1-cln": 100,
    "CEA-Curie-2011-2.1-cln": 93312,
    "mira_walltime": 49152,
    "lublin_256": 256,
    "normalised-kth": 100,
    "normalised-nasa": 128,
    "normalised-lublin256": 256,
    "normalised-sdsc10k": 128,
}


@pytest.fixture(scope="module")
def first_jobs(data_dir):
    """The first 500 jobs of a log that fit its machine, read once."""
    read = {}

    def columns(name: str, estimates: str) -> dict:
        if name not in read:
            log = fs.read_swf(data_dir / "swf" / f"{name}.swf.gz")
            read[name] = log[log.size <= LOGS[name]].head(500)
        log = read[name]
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
    engine = Engine(config, **columns)
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
        engine = Engine(config, **columns)
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
    engine = Engine(config, **columns)
    engine.step()
    with pytest.raises(RuntimeError, match="0 of 2 jobs"):
        engine.output()
