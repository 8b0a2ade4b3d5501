"""Runs with failures that must equal other runs, to the bit; the ledger balances in every one of them."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import faultsim as fs
from faultsim.policies.registry import row_of
from faultsim.results.metrics import ledger_error
from helpers.drawn_policies import policies
from helpers.results import assert_equal as assert_same
from helpers.runs import SHORT, failure_traces, leaves_time, runs

both_engines = pytest.mark.parametrize("engine", ["core", "reference"])
#: Nothing but failures stops a job.
failing_runs = runs(failing=True, record=True, moving=False, preempting=False)
some = settings(max_examples=settings.default.max_examples // 2)  # these runs take long to draw


def simulated(run, engine):
    result = run.simulate(engine=engine)
    assert ledger_error(result) <= 1e-9
    return result


def asks(run):
    """Whether something besides the placement would notice another predictor."""
    return isinstance(run.checkpointing, fs.BeforeFailure | fs.RiskBased)


@both_engines
@some
@given(run=runs(failing=True, record=True, torus=True, moving=False), rule=st.sampled_from(["prod", "max"]))
def test_balancing_without_confidence_is_the_largest_free_partition(engine, run, rule):
    assume(not asks(run))
    box_order = run.placement.box_order
    krevat = run.with_options(placement=fs.MaxFreePartition(box_order), predictor=None)
    for predictor in (fs.Confidence(0), fs.Blind()):
        balancing = run.with_options(placement=fs.Balancing(rule, box_order), predictor=predictor)
        assert_same(simulated(balancing, engine), simulated(krevat, engine))


@both_engines
@some
@given(run=failing_runs, recovery=st.sampled_from([fs.Requeue(), fs.Requeue("tail", 3), fs.Hold(2)]))
def test_no_failures_in_the_trace_is_a_run_without_failures(engine, run, recovery):
    quiet = run.with_options(failures=fs.FailureTrace([], [], span=90), recovery=recovery)
    if run.predictor is not None and run.predictor.needs_failures:
        quiet = quiet.with_options(predictor=fs.Perfect())
        without = quiet.with_options(failures=None, recovery=None, predictor=fs.Blind())
    else:
        without = quiet.with_options(failures=None, recovery=None)
    assert_same(simulated(quiet, engine), simulated(without, engine))


@both_engines
@some
@given(run=failing_runs, cost=SHORT, beyond=st.sampled_from([0, 1, 1e6]))
def test_an_interval_longer_than_every_job_is_no_checkpoint(engine, run, cost, beyond):
    longest = max(run.log.runtime.max(), run.expected_runtimes(run.log).max())
    periodic = run.with_options(checkpointing=fs.Periodic(max(longest, cost, 1) + beyond, cost))
    for none in (fs.NoCheckpoint(), None):
        assert_same(simulated(periodic, engine), simulated(run.with_options(checkpointing=none), engine))


@both_engines
@some
@given(run=failing_runs)
def test_a_free_checkpoint_before_each_failure_loses_nothing(engine, run):
    """All failures strike while the job works, or in a restart, which has nothing to lose: nobody moves or pauses."""
    predictor = run.predictor if "predictor" in row_of(type(run.placement)).needs else None
    assume(predictor is None or predictor == fs.Perfect())
    result = simulated(run.with_options(checkpointing=fs.BeforeFailure(0), predictor=predictor, migration=None), engine)
    assert not result.jobs["lost_work"].any()
    assert not result.jobs["checkpoint_time"].any()
    assert result.ledger["lost"] == result.ledger["checkpoint"] == 0


@both_engines
@some
@given(run=failing_runs)
def test_what_a_moved_job_loses_before_a_failure_that_was_foreseen(engine, run):
    """With migrations, only work that was not safe yet when the move began: none is lost where no job moves."""
    predictor = run.predictor if "predictor" in row_of(type(run.placement)).needs else None
    assume(predictor is None or predictor == fs.Perfect())
    result = simulated(run.with_options(checkpointing=fs.BeforeFailure(0), predictor=predictor), engine)
    assert (result.jobs["moves"] > 0)[result.jobs["lost_work"] > 0].all()


@st.composite
def lonely_jobs(draw: st.DrawFn) -> fs.Run:
    machine = draw(st.sampled_from([fs.Cluster(4), fs.Torus(2, 2, 1)]))
    trace = draw(failure_traces(4))
    seconds = st.integers(0, 60)
    checkpointing = draw(policies("checkpointing", machine.name).filter(leaves_time))
    # The last start, by which this one chooses, is another under `Hold`.
    assume(not (isinstance(checkpointing, fs.PredictedWindows) and isinstance(checkpointing.victims, fs.LongJobs)))
    log = fs.Workload(
        submit=[draw(st.integers(0, 10))],
        runtime=[draw(seconds)],
        size=[draw(st.integers(1, 4))],
        estimate=[draw(seconds)],
    )
    return fs.Run(
        log,
        machine,
        failures=fs.FailureTrace(trace.time, trace.node, 0, coin=trace.coin),
        predictor=draw(st.sampled_from([fs.Perfect(), fs.Accuracy(0.5)])),
        checkpointing=checkpointing,
        overrun=draw(st.sampled_from(["extend", "kill"])),
        record=True,
    )


@both_engines
@some
@given(run=lonely_jobs(), cost=SHORT, place=st.sampled_from(["arrival", "tail"]))
def test_one_job_does_not_care_where_it_waits_for_no_repair(engine, run, cost, place):
    requeue = simulated(run.with_options(recovery=fs.Requeue(place, cost)), engine)
    hold = simulated(run.with_options(recovery=fs.Hold(cost)), engine)
    # A requeued job starts again, a held one goes on: `start`, and what records it, differ; and the time held is added
    # up in other pieces, which may round otherwise.
    assert_same(requeue, hold, but=("start", "wait", "events", "allocations", "passes", "ledger"))
    assert requeue.ledger == pytest.approx(hold.ledger, rel=1e-12)
    assert np.array_equal(hold.jobs["start"], hold.jobs["first_start"])
