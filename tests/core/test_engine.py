"""The compiled engine equals the reference engine, job by job: on random cases of every kind and on the real logs."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings

from helpers.engine_inputs import core_engine
from helpers.engine_inputs import simulate as plainly
from helpers.engines import LOGS, assert_same, both_agree, compiled, head_of, listed
from helpers.failure_strategies import MACHINES, failure_cases
from helpers.rescheduling_strategies import fars_cases
from helpers.strategies import SCHEDULERS as NAMES
from helpers.strategies import engine_cases

CASES = {
    "stay": partial(engine_cases, migration=False),
    "defragment": partial(engine_cases, migration=True),
    "failing": failure_cases,
    "moving": fars_cases,
}
KINDS = [
    (cases, machine, scheduler)
    for cases in CASES
    for machine in (MACHINES if cases != "defragment" else ("torus",))
    for scheduler in NAMES
]


def agree_on(cases, examples, budget=7):
    @given(cases)
    @settings(max_examples=examples)
    def agree(case):
        both_agree(case, budget)

    agree()


@pytest.mark.parametrize(("cases", "machine", "scheduler"), KINDS)
def test_engines_agree_on_random_cases(cases, machine, scheduler):
    examples = 100 if cases == "moving" else settings.default.max_examples
    agree_on(CASES[cases]((machine,), (scheduler,)), examples)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cases", "machine", "scheduler"), [kind for kind in KINDS if kind[0] in ("failing", "moving")]
)
def test_engines_agree_on_many_random_cases(cases, machine, scheduler):
    agree_on(CASES[cases]((machine,), (scheduler,)), 2000, budget=3)


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
@pytest.mark.parametrize("cases", [engine_cases(), failure_cases(max_jobs=10)], ids=["plain", "failing"])
def test_a_copy_goes_on_by_itself(cases):
    @given(cases)
    def goes_on(case):
        config, columns, *world = case
        engine = core_engine(config, **columns, world=world[0] if world else None)
        engine.run(len(columns["submit"]) * (1 + len(world)))
        copy = engine.copy()
        while engine.step():
            pass
        result = engine.output()
        copy.verify()
        copy.run()
        assert_same(copy.output(), result)
        assert_same(listed(result), compiled(config, columns, *world, budget=1))

    goes_on()


def nodes_of(machine: dict) -> int:
    return machine["nodes"] if machine["name"] == "cluster" else machine["x"] * machine["y"] * machine["z"]


@pytest.mark.parametrize("cases", [engine_cases(max_jobs=12), failure_cases(max_jobs=10)], ids=["plain", "failing"])
def test_run_until_handles_what_happens_by_then(cases):
    @given(cases)
    def handles(case):
        config, columns, *world = case
        whole = plainly(config, **columns, world=world[0] if world else None)
        events, rows = whole["events_table"], whole["allocations"]
        for t in np.unique(events["time"]):
            engine = core_engine(config, **columns, world=world[0] if world else None)
            assert engine.run(until=float(t)) == ("done" if t == events["time"][-1] else "until")
            by_then = events["time"] <= t
            ended, arrived, started = (set(events["job"][by_then & (events["kind"] == kind)]) for kind in (0, 5, 6))
            assert engine.now <= t
            assert engine.n_done == len(ended)
            assert list(engine.running()) == sorted(rows["job"][(rows["begin"] <= t) & (t < rows["end"])])
            if not world:
                assert set(engine.queue()) == arrived - started
                assert set(engine.running()) == started - ended
                assert engine.free == nodes_of(config["machine"]) - whole["allocated"][list(started - ended)].sum()

    handles()


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
