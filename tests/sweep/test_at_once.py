"""Rows of sweeps: the metrics at once are those of the table one by one, and the work beside a simulation."""

import contextlib
import math
import sqlite3
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim._core.job_terms import COLUMNS as TERM_COLUMNS
from faultsim._core.job_terms import job_terms
from faultsim.results.ledger import LEDGER_ACCOUNTS
from faultsim.results.metrics import METRICS
from faultsim.results.part import Part
from faultsim.results.result import COUNTERS
from faultsim.simulation.execution import Execution
from faultsim.sweep import task_hash
from faultsim.sweep.row_schema import COLUMNS, numbers, row_of
from faultsim.sweep.store import Store
from faultsim.sweep.task_hash import Texts, canonical, task_id
from helpers.refusals import refused
from helpers.runs import runs

METRIC_NAMES = [name for name, metric in METRICS.items() if not (metric.recorded or metric.on_request)]


def bits(numbers):
    return [struct.pack("<d", number) for number in numbers]


def one_by_one(result, cut):
    """A row by the functions of the table."""
    n = len(result)
    part = Part(result, slice(math.floor(cut[0] * n), n - math.floor(cut[1] * n)))
    made = [METRICS[name].function(part if METRICS[name].per_job else result) for name in METRIC_NAMES]
    made += [result.ledger[account] for account in LEDGER_ACCOUNTS]
    return made + [result.counters[name] for name in COUNTERS if name not in METRICS]


def assert_same_row(run, cut):
    execution = Execution(run)
    execution.go_on()
    row = row_of(*execution.output(), cut)
    wanted = one_by_one(execution.result(), cut)
    assert dict(zip(COLUMNS, bits(row), strict=True)) == dict(zip(COLUMNS, bits(wanted), strict=True))
    assert bits(numbers(execution.result(), cut)) == bits(row)


@given(runs(max_jobs=40, record=False), st.sampled_from([(0.0, 0.0), (0.1, 0.2), (0.0, 0.4)]))
def test_metrics_at_once_are_those_of_the_table(run, cut):
    assert_same_row(run, cut)


def test_jobs_that_are_preempted_without_a_failure_lose_work():
    log = fs.Workload([0, 1], [100, 10], [1, 1])
    run = fs.Run(log, fs.Cluster(1), scheduler=fs.Preemptive(order=fs.Key("-index")))
    assert run.simulate().metrics["failed_jobs"] == 1
    assert_same_row(run, (0.0, 0.0))


@pytest.mark.parametrize("jobs", [7, 8, 127, 128, 129, 1000, 20_000])
@pytest.mark.parametrize("idle", [0, 3], ids=["all ran", "some did not"])
def test_sums_of_many_jobs_are_added_in_the_same_pairs(jobs, idle):
    log = fs.synthetic.nasa_like(jobs, rng=1)
    runtime = log.runtime * 1.1
    runtime[:idle] = 0.0
    log = fs.Workload(submit=log.submit, runtime=runtime, size=log.size)
    assert_same_row(fs.Run(log, fs.Cluster(128), start_delay=0.1), (0.0, 0.0))
    assert_same_row(fs.Run(log, fs.Cluster(128), start_delay=0.1), (0.1, 0.3))


def test_terms_are_of_whole_columns():
    result = fs.simulate(fs.synthetic.nasa_like(20, rng=0), fs.Cluster(128))
    assert set(TERM_COLUMNS) <= set(result.jobs)
    refused(ValueError, "jobs 5..5 of 20", job_terms, result.jobs, 5, 5, False, False)
    refused(ValueError, "jobs 0..21 of 20", job_terms, result.jobs, 0, 21, False, False)
    short = {**result.jobs, "size": result.jobs["size"][:3]}
    refused(ValueError, "column size: 12 bytes of 20 jobs", job_terms, short, 0, 20, False, False)


# -- names of runs


def plainly_named(run, failures):
    lowered = {key: value for key, value in run.lower().items() if key != "record"}
    document = {"rows": task_hash.ROWS, "faultsim": fs.__version__, "run": lowered, "log": "a", "failures": failures}
    document["model"] = fs.MODEL_REVISION
    arrays = {} if run.predictor is None else run.predictor.arrays()
    more = {"predictions": task_hash.content_hash(arrays)} if arrays else {}
    return task_hash.name_of({**document, **more, "cut": (0.0, 0.25)})


@given(st.lists(runs(), min_size=1, max_size=4), st.none() | st.just("b"))
def test_names_do_not_depend_on_the_runs_before(several, failures):
    texts = Texts()
    for run in several:
        assert task_id(run, "a", failures, (0.0, 0.25), texts) == plainly_named(run, failures)
        changed = run.with_options(start_delay=7.5, seed=3)
        assert task_id(changed, "a", failures, (0.0, 0.25), texts) == plainly_named(changed, failures)


class Counting(fs.Placement):
    """A policy that changes as it runs."""

    def __init__(self):
        self.calls = 0

    def choose(self, job, candidates, state):
        self.calls += 1
        return 0


def test_a_policy_in_python_is_identified_before_it_runs(tmp_path):
    """What it counts is no reason to make its runs again, and the caller's change of it is one."""
    texts, placement = Texts(), Counting()
    run = fs.Run(fs.Workload(submit=[0], runtime=[1], size=[1]), fs.Torus(2, 2, 2), placement=placement)
    before = texts.of(run)
    placement.calls = 5
    assert texts.of(run) == before
    assert Texts().of(run) != before
    assert Texts().of(run) == canonical({key: value for key, value in run.lower().items() if key != "record"})

    sweep = fs.Sweep(run, {"start_delay": [float(delay) for delay in range(100)]})
    placement.calls = 0
    names = [task.id for task in sweep.tasks()]
    assert sweep.run(tmp_path / "a.db", workers=2)["run"].tolist() == names
    assert placement.calls >= 100
    assert sweep.fill(tmp_path / "a.db").made == 100
    placement.calls = 0
    assert sweep.fill(tmp_path / "a.db").made == 0


# -- work


def test_work_of_short_runs(tmp_path, monkeypatch):
    """No metric by itself, no text of an option that is as it was, few transactions."""
    texts, transactions, asked = [0], [0], [0]
    text, add, known = Texts.text, Store.add, Store.known

    def counted(count, function):
        def counting(*args, **options):
            count[0] += 1
            return function(*args, **options)

        return counting

    monkeypatch.setattr(Texts, "text", counted(texts, text))
    monkeypatch.setattr(Store, "add", counted(transactions, add))
    monkeypatch.setattr(Store, "known", counted(asked, known))
    for metric in METRICS.values():
        monkeypatch.setitem(vars(metric), "function", None)
    n = 8000
    log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    sweep = fs.Sweep(fs.Run(log, fs.Cluster(4)), {"start_delay": [0.5 * i for i in range(n)]})
    assert sweep.fill(tmp_path / "a.db", workers=1).made == n
    assert texts[0] < n + 50
    assert transactions[0] < n / 100
    assert asked[0] < n / 60
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as db, db:
        waits = np.array(db.execute("SELECT mean_wait FROM results ORDER BY task").fetchall())
    np.testing.assert_array_equal(waits[:, 0], 0.5 * np.arange(n))
