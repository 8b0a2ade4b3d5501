"""What finding nodes costs on a large cluster: counted, so that a slip back fails."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.simulation.execution import Execution


def work_of(run):
    """What the engine has done in a run, and the jobs that it has seen."""
    one = Execution(run)
    one.go_on()
    one.engine.verify()
    return one.engine.work, one.result()


def crowd(nodes, n, size=8):
    """Jobs of about `size` nodes that fill nine tenths of a machine; they come one after another and then stay long."""
    draw = np.random.default_rng(5)
    running = nodes * 0.9 / size
    runtime = draw.exponential(1e5, n).clip(1)
    submit = np.concatenate([np.zeros(int(running)), np.cumsum(draw.exponential(1e5 / running, n - int(running)))])
    return fs.Workload(submit=submit, runtime=runtime, size=draw.integers(1, 2 * size, n))


def failures(log, nodes, n):
    """Transient failures, spread over the time of the log."""
    draw = np.random.default_rng(6)
    return fs.FailureTrace(time=np.sort(draw.uniform(0, log.submit[-1], n)), node=draw.integers(0, nodes, n))


@pytest.mark.parametrize("nodes", [1024, 16_384, 65_536])
def test_words_without_a_free_node_are_passed_over(nodes):
    log = crowd(nodes, nodes // 4)
    work, result = work_of(fs.Run(log, fs.Cluster(nodes), failures=failures(log, nodes, 100)))
    starts = len(log) + int(result.jobs["restarts"].sum())
    # Of a job with 8 nodes: the words that it gets, and those that it fills up.
    assert work["words"] < 8 * starts


@pytest.mark.parametrize("nodes", [1024, 16_384])
def test_many_failures_do_not_ask_all_jobs_who_was_hit(nodes):
    log = crowd(nodes, nodes // 4)
    work, result = work_of(fs.Run(log, fs.Cluster(nodes), failures=failures(log, nodes, 20_000)))
    assert result.counters["failures_hit"] > 10_000
    taken = 16 * (len(log) + int(result.jobs["restarts"].sum()))  # at most
    assert 0 < work["asked"] < (taken + nodes) / 8 + nodes
    assert work["asked"] < 20_000 * 3
