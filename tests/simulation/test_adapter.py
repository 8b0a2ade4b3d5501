"""A foreign engine that owns the clock and the run times, and the adapter of the guide that lets faultsim schedule it.

It must come out as if all had been known from the start.
"""

import pickle
import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from helpers.engines import head_of
from helpers.results import assert_equal, nodes_of
from helpers.ticking import TickingEngine

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "driving.md"
# The code of the guide, in a module, so that it can be pickled.
adapter_of_the_guide = types.ModuleType("adapter_of_the_guide")
sys.modules[adapter_of_the_guide.__name__] = adapter_of_the_guide
SOURCE = next(re.finditer(r"^```python\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))[1]
exec(SOURCE, vars(adapter_of_the_guide))
Adapter = adapter_of_the_guide.Adapter
EASY, CAUTIOUS = fs.EasyBackfill(), fs.ConservativeBackfill(repairs="unknown")


def follow(log, nodes, *, late=None, outages=(), **options):
    engine = TickingEngine(log, nodes, late=late, outages=outages)
    adapter = Adapter(engine, fs.Cluster(nodes), **options)
    while engine.left:
        adapter.tick()
        if adapter.sim is not None and adapter.engine.now % 16 == 0:
            adapter.sim.verify()
    adapter.sim.verify()
    return adapter


def check(adapter, expected, but=()):
    """Starts, ends and nodes of the engine, and of faultsim, are those of `simulate`."""
    engine, result = adapter.engine, adapter.sim.result()
    assert_equal(result, expected, but=("runtime", "passes", *but))
    jobs = range(len(expected))
    assert [engine.starts[job] for job in jobs] == expected.jobs["start"].tolist()
    assert [engine.ends[job] for job in jobs] == expected.jobs["finish"].tolist()


@st.composite
def logs(draw, nodes=5):
    n = draw(st.integers(1, 14))
    column = lambda low, high: draw(st.lists(st.integers(low, high), min_size=n, max_size=n))  # noqa: E731
    return fs.Workload(
        submit=np.cumsum(column(0, 5)), runtime=column(1, 30), size=column(1, nodes), estimate=column(1, 45)
    )


@given(logs(), st.data())
def test_jobs_that_are_stretched_while_they_run(log, data):
    late = data.draw(st.lists(st.integers(0, 9), min_size=len(log), max_size=len(log)))
    scheduler = data.draw(st.sampled_from([fs.Fcfs(), EASY, fs.Backfill(3), fs.ConservativeBackfill()]))
    adapter = follow(log, 5, late=late, scheduler=scheduler, record=True)
    known = fs.Workload(submit=log.submit, runtime=log.runtime + late, size=log.size, estimate=log.estimate)
    check(adapter, fs.simulate(known, fs.Cluster(5), scheduler=scheduler, record=True))


@given(logs(), st.lists(st.tuples(st.integers(0, 4), st.integers(1, 90), st.integers(1, 30)), max_size=6), st.data())
def test_nodes_that_go_down_without_notice(log, drawn, data):
    first = int(log.submit[0])
    outages = [(node, first + t, first + t + gone) for node, t, gone in drawn]
    scheduler = data.draw(st.sampled_from([fs.EasyBackfill(repairs="unknown"), CAUTIOUS]))
    adapter = follow(log, 5, outages=outages, scheduler=scheduler, record=True)
    engine = adapter.engine
    seen = [(down, node, up - down) for node, down, up in engine.outages]
    seen += [(down, node, 1e6) for node, down in engine.still_down()]
    time, node, downtime = zip(*sorted(seen), strict=True) if seen else ([], [], [])
    trace = fs.FailureTrace(time, node, downtime, span=1e4)
    check(adapter, fs.simulate(log, fs.Cluster(5), scheduler=scheduler, failures=trace, record=True), but=["events"])


@given(logs())
def test_jobs_that_reach_their_limits(log):
    adapter = follow(log, 5, scheduler=fs.Fcfs(), overrun="kill")
    expected = fs.simulate(log, fs.Cluster(5), scheduler=fs.Fcfs(), overrun="kill")
    for name in ("start", "finish"):
        np.testing.assert_array_equal(adapter.sim.result().jobs[name], expected.jobs[name])
    assert adapter.engine.ends == dict(enumerate(expected.jobs["finish"]))


def sdsc(data_dir, jobs):
    log = head_of(data_dir, "SDSC-SP2-1998-4.2-cln", jobs)
    runtime = np.maximum(log.runtime, 1.0)
    estimate = np.where(log.estimate < 0, runtime, log.estimate)
    return fs.Workload(submit=log.submit, runtime=runtime, size=log.size, estimate=estimate)


@pytest.mark.parametrize("jobs", [300, pytest.param(4000, marks=pytest.mark.slow)])
def test_a_real_log(data_dir, jobs):
    log = sdsc(data_dir, jobs)
    adapter = follow(log, 128, scheduler=EASY, record=True)
    check(adapter, fs.simulate(log, fs.Cluster(128), record=True))


class Replay:
    """Starts every job when and where it was started before."""

    def __init__(self, result):
        held = result.allocations
        self.start = dict(zip(held["job"].tolist(), held["begin"].tolist(), strict=True))
        self.nodes = dict(zip(held["job"].tolist(), nodes_of(held, None), strict=True))

    def __call__(self, adapter, decision):
        due = [row for row in decision.queue if self.start[row] == decision.now]
        for row in due:
            decision.start(row, nodes=self.nodes[row])
        return bool(due)


def test_a_recorded_schedule_on_its_nodes(data_dir):
    log = sdsc(data_dir, 150)
    expected = fs.simulate(log, fs.Cluster(128), scheduler=fs.EasyBackfill("shortest"), record=True)
    plan = Replay(expected)
    adapter = follow(log, 128, decide=plan, scheduler=fs.External())
    check(adapter, expected, but=["backfilled"])  # that says which job was first in the queue
    assert adapter.engine.held == {job: nodes.tolist() for job, nodes in plan.nodes.items()}


def test_a_pickle_in_the_middle(data_dir):
    log = sdsc(data_dir, 200)
    expected = fs.simulate(log, fs.Cluster(128), scheduler=EASY, record=True)
    middle = int(expected.jobs["start"][100])
    adapter = Adapter(TickingEngine(log, 128), fs.Cluster(128), scheduler=EASY, record=True)
    while adapter.engine.now < middle:
        adapter.tick()
    other = pickle.loads(pickle.dumps(adapter))
    for one in (adapter, other):
        while one.engine.left:
            one.tick()
        check(one, expected)


def test_a_job_ends_and_then_its_node_goes_down():
    log = fs.Workload(submit=[0, 1], runtime=[5, 5], size=[2, 2], estimate=[9, 9])
    engine = TickingEngine(log, 2, outages=[(1, 5, 8)], patient=False)
    adapter = Adapter(engine, fs.Cluster(2))
    while engine.left:
        adapter.tick()
    assert engine.ends == {0: 5, 1: 13}


def test_an_adapter_is_short():
    assert len(SOURCE.splitlines()) < 100
