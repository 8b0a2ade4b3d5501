"""What must hold between two runs with failures, whatever the right answer is: equalities to the bit."""

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import faultsim as fs
from helpers.results import assert_equal
from helpers.runs import runs

failing_runs = runs(failing=True, record=True)
still_runs = runs(failing=True, record=True, moving=False)  # without `Fars`
some = settings(max_examples=settings.default.max_examples // 2)  # these runs take long to draw


def with_trace(run, time, node, downtime, coin, span):
    return run.with_options(failures=fs.FailureTrace(time, node, downtime, coin=coin, span=span))


@some
@given(failing_runs)
def test_recording_changes_nothing(run):
    assert_equal(run.simulate(), run.with_options(record=False).simulate())


def test_any_number_of_threads_gives_the_same_bytes():
    log = fs.synthetic.sdsc_like(300, rng=np.random.default_rng(4))
    trace = fs.synthetic.weibull_failures(128, float(log.submit[-1]), 0.65, 9000, downtime=600, burst=3, rng=2)
    many = [
        fs.Run(log, machine, failures=trace, recovery=recovery, checkpointing=checkpointing, predictor=predictor)
        for machine in (fs.Cluster(128), fs.Torus(4, 4, 8))
        for recovery in (fs.Requeue("tail", 30), fs.Hold(30))
        for predictor in (fs.Accuracy(0.5), fs.IntervalPredictor(0.5, 0.5, 600))
        for checkpointing in (fs.Young(60, 3e6), fs.BeforeFailure(60), fs.RiskBased(1800, 60))
    ]
    alone = fs.simulate_many(many, threads=1)
    assert all(result.metrics["failures_hit"] > 0 for result in alone)
    for one, other in zip(alone, fs.simulate_many(many, threads=3), strict=True):
        assert all(one.jobs[name].tobytes() == other.jobs[name].tobytes() for name in one.jobs)


@some
@given(failing_runs, st.sampled_from([(700.0, 100), (3000.5, 0)]))
def test_failures_after_the_end_change_nothing(run, late):
    whole, trace = run.simulate(), run.failures
    # Predictions are made of the whole trace, and bucket and interval predictors look at its span.
    assume(not isinstance(run.predictor, fs.IntervalPredictor | fs.Buckets))
    time, downtime = late[0] + whole.span[1], late[1]
    more = with_trace(
        run, [*trace.time, time], [*trace.node, 0], [*trace.downtime, downtime], [*trace.coin, 0.5], time + trace.span
    )
    assert_equal(whole, more.simulate())


@some
@given(failing_runs)
def test_a_failure_twice_is_a_failure_once(run):
    """One kill a job and instant; nodes that are counted by their failures would see a difference."""
    trace = run.failures
    assume(not isinstance(run.placement, fs.LeastFailuresFirst) and run.placement.name != "python")
    assume(not isinstance(run.migration, fs.LeastFailuresMigration))
    twice = with_trace(run, *(np.repeat(column, 2) for column in trace.columns.values()), trace.span).simulate()
    once = run.simulate()
    assert twice.counters["failures"] == 2 * once.counters["failures"]
    assert_equal(once, twice, but=("failures", "events"))


def scaled(policy, factor, **names):
    """A policy with the seconds among its parameters times a factor."""
    if policy is None:
        return None
    seconds = ("cost", "interval", "checkpoint_cost", "restart_cost", "mtbf", "downtime", "seconds")
    changes = {
        field.name: getattr(policy, field.name) * factor
        for field in dataclasses.fields(policy)
        if field.name in seconds
    }
    return dataclasses.replace(policy, **changes, **names)


@some
@given(failing_runs, st.sampled_from([0.125, 64.0]))
def test_time_has_no_unit(run, factor):
    """A power of two scales doubles without rounding; rules with a threshold in seconds are left out."""
    assume(run.scheduler.order.name not in ("wfp3", "unicef", "key"))
    assume(run.rescheduling is None or not isinstance(run.rescheduling.strategy, fs.FailureSlowdown))
    # A bucket is at most a day, and its length in hours is not exact in seconds.
    assume(not isinstance(run.predictor, fs.Buckets) and not isinstance(run.checkpointing, fs.PredictedWindows))
    log, trace, predictor = run.log, run.failures, run.predictor
    if isinstance(predictor, fs.PredictionTrace):
        predictor = fs.PredictionTrace(predictor.time * factor, predictor.node)
    elif isinstance(predictor, fs.IntervalPredictor):
        predictor = scaled(predictor, factor)
    changes = {
        "log": fs.Workload(**{
            **log.columns,
            "submit": log.submit * factor,
            "runtime": log.runtime * factor,
            "estimate": np.where(log.estimate < 0, -1, log.estimate * factor),
        }),
        "failures": fs.FailureTrace(
            trace.time * factor, trace.node, trace.downtime * factor, coin=trace.coin, span=trace.span * factor
        ),
        "predictor": predictor,
        "recovery": scaled(run.recovery, factor),
        "checkpointing": scaled(run.checkpointing, factor),
        "migration": scaled(run.migration, factor),
        "rescheduling": scaled(run.rescheduling, factor),
        "start_delay": run.start_delay * factor,
    }  # fmt: skip
    one, other = run.simulate(), run.with_options(**changes).simulate()
    for name in ("first_start", "start", "finish", "runtime", "checkpoint_time", "lost_work", "failure_wait"):
        assert np.array_equal(one.jobs[name] * factor, other.jobs[name]), name
    for name in ("allocated", "moves", "backfilled", "restarts"):
        assert np.array_equal(one.jobs[name], other.jobs[name]), name
    assert {account: value * factor for account, value in one.ledger.items()} == other.ledger
    assert one.counters == other.counters


@some
@given(still_runs, st.sampled_from([7.0, 4096.0]))
def test_time_has_no_origin(run, later):
    """Halves of seconds are exact in doubles; buckets, intervals and ticks count from 0."""
    assume(run.scheduler.order.name != "key")  # it may look at the time of day
    assume(not isinstance(run.predictor, fs.IntervalPredictor | fs.Buckets))
    assume(not isinstance(run.checkpointing, fs.PredictedWindows | fs.Young | fs.Daly | fs.MaxAvailability))
    log, trace, predictor = run.log, run.failures, run.predictor
    if isinstance(predictor, fs.PredictionTrace):
        predictor = fs.PredictionTrace(predictor.time + later, predictor.node)
    moved = run.with_options(
        log=fs.Workload(**{**log.columns, "submit": log.submit + later}),
        failures=fs.FailureTrace(
            trace.time + later, trace.node, trace.downtime, coin=trace.coin, span=trace.span + later
        ),
        predictor=predictor,
    )
    one, other = run.simulate(), moved.simulate()
    for name in ("start", "finish"):
        assert np.array_equal(one.jobs[name] + later, other.jobs[name]), name
    for name in ("lost_work", "restarts", "checkpoint_time", "restart_time", "failure_wait", "moves"):
        assert np.array_equal(one.jobs[name], other.jobs[name]), name
    assert one.ledger == other.ledger
    assert one.counters == other.counters


@some
@given(still_runs)  # ticks look at whole intervals, the one of the first submit too
def test_a_wider_margin_of_the_same_failures(run):
    """Failures before the first submit, over by then, change nothing but what counts failures."""
    assume(not isinstance(run.placement, fs.LeastFailuresFirst))
    assume(not isinstance(run.migration, fs.LeastFailuresMigration))
    assume(not isinstance(run.predictor, fs.IntervalPredictor | fs.Buckets))
    assume(not isinstance(run.checkpointing, fs.PredictedWindows))
    trace, begin = run.failures, float(run.log.submit[0])
    over = trace.time + trace.downtime <= begin
    early = over & (trace.time < begin)
    rest = {name: column[~early] for name, column in trace.columns.items()}
    assert_equal(run.simulate(), with_trace(run, *rest.values(), trace.span).simulate())


def test_the_properties_meet_failures_that_matter():
    """The tests above would hold as well if nothing ever failed: among 100 runs like theirs, jobs are killed."""
    rng = np.random.default_rng(1)
    kills = 0
    for _ in range(100):
        n = 6
        log = fs.Workload(
            submit=np.sort(rng.integers(0, 40, n)), runtime=rng.integers(0, 40, n), size=rng.integers(1, 9, n)
        )
        trace = fs.FailureTrace(rng.integers(0, 90, 8), rng.integers(0, 8, 8), rng.choice([0, 5, 30], 8), span=90)
        kills += fs.simulate(log, fs.Cluster(8), failures=trace).metrics["failures_hit"]
    assert kills > 200


@pytest.mark.parametrize(
    "checkpointing", [fs.Periodic(3600, 60), fs.Young(60, 3e6), fs.Daly(60, 3e6), fs.MaxAvailability(60, 3e6, 600)]
)
def test_planned_checkpoints_lose_less_than_none_on_a_busy_machine(checkpointing):
    """Not a law for each job; over 600 of them the rolled-back work must shrink."""
    log = fs.synthetic.sdsc_like(600, rng=np.random.default_rng(8))
    trace = fs.synthetic.weibull_failures(128, float(log.submit[-1]), 0.85, 6000, downtime=120, rng=3)
    without = fs.simulate(log, fs.Cluster(128), failures=trace)
    saved = fs.simulate(log, fs.Cluster(128), failures=trace, checkpointing=checkpointing)
    assert saved.ledger["lost"] < 0.5 * without.ledger["lost"]
    assert saved.metrics["checkpoint_overhead_ratio"] < 0.1
