"""Other decisions than passes (model.md#asked): failures, requests for checkpoints and ticks, inside and outside."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from helpers.answers import Always, Leave, Recover, Risky, answered, leave
from helpers.deciders import assert_same, decider_of
from helpers.drawn_policies import policies
from helpers.runs import machines, pods, runs

ENGINES = pytest.mark.parametrize("engine", ["core", "reference"])


def decided(data, **changes):
    """A failing run under a scheduler that the helpers know, with a recovery."""
    run = data.draw(runs(failing=True, record=True, moving=False, on=machines() | pods()))
    scheduler = data.draw(st.sampled_from([fs.Fcfs, fs.EasyBackfill]))(
        order=data.draw(st.sampled_from(["arrival", "wfp3"]))
    )
    migration = None if isinstance(run.migration, fs.Defragment) else run.migration
    return run.with_options(scheduler=scheduler, migration=migration, **changes)


@ENGINES
@given(data=st.data())
def test_a_recovery_in_python_equals_the_one_that_it_repeats(engine, data):
    run = data.draw(runs(failing=True, record=True, on=machines() | pods()))
    rule = data.draw(policies("recovery", run.machine.name, lacking=["staying"]))
    run = run.with_options(recovery=rule)
    assert_same(run.with_options(recovery=Recover(rule)).simulate(engine=engine), run.simulate(engine=engine))


@ENGINES
@given(data=st.data())
def test_a_recovery_from_outside_equals_the_one_that_it_repeats(engine, data):
    run = decided(data)
    rule = data.draw(policies("recovery", run.machine.name, lacking=["staying"]))
    expected = run.with_options(recovery=rule).simulate(engine=engine)
    given = replace(rule, place="arrival") if data.draw(st.booleans()) and isinstance(rule, fs.Requeue) else rule
    answer = data.draw(st.sampled_from([Recover(rule).react, lambda d: None]))
    if given != rule:
        given = rule
    run = run.with_options(recovery=given)
    assert_same(answered(run, {"failure": answer}, decider_of(run), engine, verify=engine == "core"), expected)


@ENGINES
@given(data=st.data())
def test_requests_answered_in_python_equal_the_rule_that_they_repeat(engine, data):
    run = data.draw(runs(failing=True, record=True, on=machines() | pods()))
    rule = data.draw(policies("checkpointing", run.machine.name, names=("risk_based",)))
    predictor = run.predictor if run.predictor is not None and run.predictor.says_where else fs.Blind()
    run = run.with_options(checkpointing=rule, predictor=predictor)
    assert_same(run.with_options(checkpointing=Risky(rule)).simulate(engine=engine), run.simulate(engine=engine))


@ENGINES
@given(data=st.data())
def test_requests_answered_from_outside_equal_the_rules_that_they_repeat(engine, data):
    run = decided(data)
    kind = data.draw(st.sampled_from(["risk_based", "before_failure", "predicted_windows"]))
    rule = data.draw(policies("checkpointing", run.machine.name, names=(kind,)))
    asks = kind == "risk_based" or run.placement.name in ("balancing", "tie_breaking", "safest_first")
    seen = run.predictor if run.predictor is not None and run.predictor.says_where else None
    run = run.with_options(checkpointing=rule, predictor=fs.Perfect() if asks and seen is None else seen)

    def answer(d):
        if kind != "risk_based" or Risky(rule).wants(d):
            d.checkpoint(d.job)

    expected = run.simulate(engine=engine)
    assert_same(answered(run, {"checkpoint": answer}, decider_of(run), engine, verify=engine == "core"), expected)


@ENGINES
@given(data=st.data())
def test_requests_that_are_always_granted_are_periodic_checkpoints(engine, data):
    """Under Fcfs, which does not look at what it expects."""
    run = data.draw(runs(failing=True, moving=False)).with_options(scheduler=fs.Fcfs(), migration=None)
    interval = data.draw(st.sampled_from([1, 2, 5]))
    cost = data.draw(st.sampled_from([1, min(4, interval)]))  # at 0 the order of an instant shows
    rule = fs.Periodic(interval, cost)
    start = round(run.start_delay)
    placement = None if run.placement.name in ("balancing", "tie_breaking", "safest_first", "python") else run.placement
    whole = {"start_delay": start, "estimates": "requested", "placement": placement, "predictor": None}
    if run.recovery is not None:
        whole["recovery"] = replace(run.recovery, restart_cost=round(run.recovery.restart_cost))
    run = run.with_options(checkpointing=rule, **whole)
    expected, found = run.simulate(engine=engine), run.with_options(checkpointing=Always(rule)).simulate(engine=engine)
    for name in ("start", "finish", "restarts", "lost_work", "checkpoint_time", "failure_wait"):
        np.testing.assert_array_equal(found.jobs[name], expected.jobs[name], name)


def moving_runs(data):
    run = data.draw(runs(failing=True, record=True, torus=False, moving=False))
    live, residual = data.draw(st.booleans()), data.draw(st.sampled_from(["printed", "difference"]))
    rule = fs.Fars(
        7,
        fs.JobFailureRate(),
        live=live,
        residual=residual,
        suspicious="ignore",
        checkpoint_cost=data.draw(st.sampled_from([0, 2.5])),
        restart_cost=data.draw(st.sampled_from([0, 4])),
    )
    predictor = run.predictor if run.predictor is not None and run.predictor.says_where else fs.Perfect()
    checkpointing = None if isinstance(run.checkpointing, fs.PredictedWindows) else run.checkpointing
    return rule, run.with_options(
        scheduler=fs.Fcfs(), predictor=predictor, checkpointing=checkpointing, rescheduling=rule
    )


def assert_moved_alike(found, expected):
    for name, column in expected.jobs.items():
        np.testing.assert_array_equal(found.jobs[name], column, name)
    for account, amount in expected.ledger.items():  # idle time is summed from tick to tick
        assert found.ledger[account] == pytest.approx(amount, rel=1e-12, abs=1e-9), account
    for name, column in expected.events.items():
        np.testing.assert_array_equal(found.events[name], column, name)
    apart = ("migrations_attempted",)
    assert {k: v for k, v in found.counters.items() if k not in apart} == {
        k: v for k, v in expected.counters.items() if k not in apart
    }


@ENGINES
@given(data=st.data())
def test_ticks_in_python_equal_fars(engine, data):
    rule, run = moving_runs(data)
    assert_moved_alike(run.with_options(rescheduling=Leave(rule)).simulate(engine=engine), run.simulate(engine=engine))


@ENGINES
@given(data=st.data())
def test_ticks_from_outside_equal_fars(engine, data):
    rule, run = moving_runs(data)
    expected = run.simulate(engine=engine)
    run = run.with_options(rescheduling=None)
    answers = {"tick": lambda d: leave(d, rule)}
    assert_moved_alike(answered(run, answers, decider_of(run), engine, engine == "core", tick=7), expected)
