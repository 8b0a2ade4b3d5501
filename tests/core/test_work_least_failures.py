"""What looking for the nodes that failed least costs on large clusters: counted, so that a slip back fails."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import faultsim as fs
from faultsim.simulation.execution import Execution
from helpers.thresholds import at


def run_of(nodes, jobs, n, seed=3, **options):
    """Jobs of about 10 nodes that fill two thirds of the machine, and transient failures, some nodes' more often."""
    draw = np.random.default_rng(seed)
    runtime = draw.exponential(3600, jobs).clip(1).round()
    submit = np.cumsum(draw.exponential(3600 * 10 / (0.66 * nodes), jobs)).round()
    log = fs.Workload(submit=submit, runtime=runtime, size=draw.integers(1, 20, jobs))
    time = np.sort(draw.uniform(0, submit[-1] + 1, n)).round()
    node = (nodes * draw.uniform(0, 1, n) ** 2).astype(int)
    trace = fs.FailureTrace(time=time, node=node)
    return fs.Run(log, fs.Cluster(nodes), failures=trace, placement=fs.LeastFailuresFirst(), **options)


@pytest.mark.parametrize("nodes", [4096, 16_384, 65_536])
def test_few_words_are_looked_at(nodes):
    jobs = nodes // 2
    one = Execution(run_of(nodes, jobs, jobs))
    one.go_on()
    one.engine.verify()
    starts = jobs + int(one.result().jobs["restarts"].sum())
    # The words of a job and of one that has left; and the bounds of 64 words each, for a few numbers of failures.
    assert 0 < one.engine.work["ranked"] < starts * (40 + 8 * nodes / 4096)


def test_words_without_free_nodes_are_not_looked_at():
    """Four jobs take a word of 64 nodes each: one bound of all words is read for each, and one word."""
    log = fs.Workload(submit=[0, 1, 2, 3], runtime=[9] * 4, size=[64] * 4)
    trace = fs.FailureTrace(time=[100.0], node=[0])
    with at(ranked_nodes=0):
        one = Execution(fs.Run(log, fs.Cluster(256), failures=trace, placement=fs.LeastFailuresFirst()))
        one.go_on()
    assert one.engine.work["ranked"] == 4 * (1 + 1)


@given(st.sampled_from([100, 1100, 4100, 5000]), st.integers(1, 3000), st.integers(0, 99), st.booleans())
@settings(max_examples=12, deadline=None)
def test_the_same_nodes_as_by_the_reference(nodes, n, seed, moves):
    options = {"migration": fs.LeastFailuresMigration()} if moves else {}
    run = run_of(nodes, 40, n, seed, scheduler=fs.EasyBackfill(), record=True, **options)
    fast, slow = run.simulate(), run.simulate(engine="reference")
    assert np.array_equal(fast.jobs["start"], slow.jobs["start"])
    for name in fast.allocations:
        assert np.array_equal(fast.allocations[name], slow.allocations[name]), name


@given(st.sampled_from([1100, 1200]), st.integers(0, 99), st.sampled_from([3, 9]), st.booleans())
@settings(max_examples=3, deadline=None)
def test_the_same_nodes_where_all_of_a_word_have_failed(nodes, seed, most, moves):
    """Before anybody looks, while jobs have them, and so often that few of the numbers are next to each other."""
    draw = np.random.default_rng(seed)
    often = np.repeat(draw.integers(0, most, nodes // 64 + 1), 64)[:nodes] + draw.integers(0, 3, nodes)
    often[draw.uniform(size=nodes) < 0.1] //= draw.integers(1, 5)
    node = np.repeat(np.arange(nodes), often)
    time = np.sort(draw.uniform(0, 1000 * draw.integers(1, 5), len(node)).round())
    log = fs.Workload(
        submit=np.sort(draw.integers(500, 4000, 40)),
        runtime=draw.integers(1, 900, 40),
        size=draw.integers(1, nodes // 8, 40),
    )
    trace = fs.FailureTrace(time=time, node=draw.permutation(node))
    options = {"migration": fs.LeastFailuresMigration()} if moves else {}
    run = fs.Run(
        log,
        fs.Cluster(nodes),
        scheduler=fs.EasyBackfill(),
        failures=trace,
        checkpointing=fs.Periodic(100.0, 1.0),
        placement=fs.LeastFailuresFirst(),
        record=True,
        **options,
    )
    fast, slow = run.simulate(), run.simulate(engine="reference")
    for name in fast.allocations:
        assert np.array_equal(fast.allocations[name], slow.allocations[name]), name
