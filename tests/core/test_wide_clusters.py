"""Jobs of hundreds of nodes, whose nodes the compiled engine keeps as runs of words: moved, dropped, killed, copied."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.simulation.execution import Execution
from helpers.engines import copies_agree, runs_agree
from helpers.runs import runs

# 300 nodes end within a word.
WIDE = st.sampled_from([300, 448, 640]).map(fs.Cluster) | st.just(fs.Cluster(480, shape=(5, 8, 12)))


@given(runs(on=WIDE, failing=True))
def test_runs_agree(run):
    runs_agree(run)


@given(runs(on=WIDE, failing=True, hot=True))
def test_runs_with_hot_spares_agree(run):
    runs_agree(run)


@given(runs(on=WIDE, failing=True, moving=False), st.integers(0, 90))
def test_a_copy_goes_on_alike(run, when):
    copies_agree(run, when)


@pytest.mark.parametrize("node", [0, 63, 64, 127, 128, 191, 255])
def test_a_job_leaves_one_node_for_another(node):
    """And keeps the 255 others, whatever their words."""
    run = fs.Run(
        fs.Workload(submit=[0], runtime=[1000], size=[256]),
        fs.Cluster(320),
        predictor=fs.IntervalPredictor.from_pairs([1], [node], interval=300, precision=1.0),
        checkpointing=fs.Periodic(100, 1),
        rescheduling=fs.Fars(300, fs.ServiceUnitLoss()),
        record=True,
    )
    held = runs_agree(run).allocations
    before, after = (set(held["nodes"][i : i + 256].tolist()) for i in (0, 256))
    assert before == set(range(256))
    assert after == before - {node} | {256}


def test_whole_words_come_before_those_that_a_job_has():
    """Nodes that are about to fail are taken last; of three words of them the job needs two."""
    doomed = list(range(64, 256))
    run = fs.Run(
        fs.Workload(submit=[0], runtime=[1000], size=[384]),
        fs.Cluster(448),
        placement=fs.SafestFirst(),
        predictor=fs.PredictionTrace([500] * len(doomed), doomed),
        record=True,
    )
    assert runs_agree(run).allocations["nodes"].tolist() == [*range(192), *range(256, 448)]
    assert run.simulate().allocations.ranges.tolist() == [[0, 192], [256, 192]]


PLACING = {
    "safest": {"placement": fs.SafestFirst()},
    "least": {"placement": fs.LeastFailuresFirst(), "migration": fs.LeastFailuresMigration()},
    "plain": {},
}


@pytest.mark.parametrize("placing", PLACING.values(), ids=PLACING)
def test_jobs_of_whole_words_and_of_others(placing):
    """Many on one machine, with so many failures that the engine notes down who has a node."""
    draw = np.random.default_rng(23)
    for nodes in (704, 700, 1000):
        n, words = 80, nodes // 64
        size = np.where(draw.random(n) < 0.5, 64 * draw.integers(1, words, n), draw.integers(1, nodes // 2, n))
        log = fs.Workload(submit=np.cumsum(draw.integers(0, 8, n)), runtime=draw.integers(5, 60, n), size=size)
        at = np.sort(draw.integers(0, 900, 150))
        failures = fs.FailureTrace(at, draw.integers(0, nodes, 150), draw.choice([0, 3, 40], 150))
        seen = np.sort(draw.integers(0, 900, 400))
        predicted = fs.PredictionTrace(seen, draw.integers(0, nodes, 400))
        run = fs.Run(log, fs.Cluster(nodes), failures=failures, predictor=predicted, record=True, **placing)
        slow = runs_agree(run)
        assert slow.counters["failures_hit"] > 20
        one = Execution(run)
        for second in range(0, 1000, 25):
            one.go_on(until=second)
            one.engine.verify()


def test_notes_of_who_has_a_node_begin_while_jobs_run():
    """After two looks among 321 jobs the engine notes down all nodes, also those of whole words."""
    run = fs.Run(
        fs.Workload(submit=[0] * 321, runtime=[1000] * 321, size=[*[1] * 320, 384]),
        fs.Cluster(704),
        failures=fs.FailureTrace([100, 200, 300, 400, 500], [319, 318, 320, 511, 703], [0] * 5),
        recovery=fs.Hold(),
    )
    assert runs_agree(run).jobs["restarts"][-1] == 3
