"""When jobs may begin, and when they are withdrawn (model.md#eligibility, model.md#withdrawal)."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import faultsim as fs
from faultsim.reference.engine import simulate as plainly
from faultsim.simulation.execution import Execution
from faultsim.simulation.lowering import lower
from helpers.conditions import with_conditions
from helpers.engines import assert_same, copies_agree, listed
from helpers.runs import pods, runs


@st.composite
def conditional_runs(draw, **options):
    run = draw(runs(**options))
    log = draw(with_conditions(run.log))
    if isinstance(run.recovery, fs.Hold) and "cancel" in log.further:
        log = log.with_columns(cancel=None)
    return run.with_options(log=log)


def both_engines_agree(run: fs.Run) -> dict:
    """All columns, counts, accounts and records; the invariants are checked every few events in both."""
    execution = Execution(run)
    while execution.engine.run(5) != "done":
        execution.engine.verify()
    execution.engine.verify()
    given = lower(run, "reference")
    slow = plainly(replace(given.settings, verify=True), *given.columns, world=given.world)
    assert_same(listed(execution.engine.output()), slow)
    return slow


@given(conditional_runs())
@settings(max_examples=60)
def test_engines_agree(run):
    both_engines_agree(run)


@given(conditional_runs(failing=True, record=True))
@settings(max_examples=60)
def test_engines_agree_with_failures(run):
    both_engines_agree(run)


@given(conditional_runs(on=pods(), record=True))
def test_engines_agree_on_pods(run):
    both_engines_agree(run)


@given(conditional_runs(failing=True, hot=True))
def test_engines_agree_with_hot_spares(run):
    both_engines_agree(run)


@given(conditional_runs(), st.floats(0, 80))
def test_copies_agree(run, when):
    copies_agree(run, when)


# -- by hand


def a_log(n=3, **columns):
    return fs.Workload([0.0] * n, [10.0] * n, [1] * n, columns=columns)


def jobs_of(log, nodes=8, **options):
    return fs.simulate(log, fs.Cluster(nodes), **options).jobs


def test_a_condition_may_have_a_delay():
    jobs = jobs_of(a_log(after=["", "afterok:1+5m", "after:1+2.5"]))
    assert jobs["start"].tolist() == [0, 310, 2.5]
    assert jobs["wait"].tolist() == [0, 0, 0]


def test_a_job_that_is_cut_at_its_limit_has_not_ended_in_time():
    log = fs.Workload(
        [0, 0, 0], [10, 1, 1], [1, 1, 1], estimate=[5, 1, 1], columns={"after": ["", "afterok:1", "afternotok:1"]}
    )
    assert jobs_of(log, overrun="kill")["state"].tolist() == ["timed out", "unmet", "ended"]
    assert jobs_of(log)["state"].tolist() == ["ended", "ended", "unmet"]


def test_dependents_of_a_job_that_never_ran_follow_in_turn():
    log = a_log(5, after=["", "afternotok:1", "afterok:2", "afterany:3", "afternotok:3"])
    jobs = jobs_of(log)
    assert jobs["state"].tolist() == ["ended", "unmet", "unmet", "ended", "ended"]
    assert jobs["eligible"][3:].tolist() == [10, 10]


def test_a_requeued_job_has_not_ended_and_keeps_its_slot():
    failures = fs.FailureTrace([4], [0], 0, span=100)
    log = a_log(after=["", "afterok:1", "after:1"])
    assert jobs_of(log, failures=failures)["start"].tolist() == [4, 14, 0]
    array = a_log(array=[1, 1, 1], array_limit=[1, 1, 1])
    assert jobs_of(array, failures=failures)["start"].tolist() == [4, 14, 24]


def test_ineligible_jobs_take_part_in_no_reservation():
    """The wide job would be the head with a reservation, and hold back the long narrow one."""
    log = fs.Workload([0, 1, 2], [10, 5, 50], [3, 4, 1], columns={"begin": [-1, 30, -1]})
    jobs = jobs_of(log, nodes=4)
    assert jobs["start"].tolist() == [0, 52, 2]
    assert jobs["eligible"].tolist() == [0, 30, 2]


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_placement_sees_when_a_job_became_eligible(engine):
    seen = []

    class Noting(fs.Placement):
        def choose(self, job, candidates, state):
            seen.append((job.index, job.submit, job.estimate))
            return 0

    log = fs.Workload([0, 5], [50, 10], [4, 8], id=[1, 2], estimate=[60, 20]).with_columns(begin=[0, 30])
    sim = fs.Simulation(log, fs.Torus(4, 4, 4), placement=Noting(), engine=engine)
    sim.advance()
    assert seen == [(0, 0.0, 60.0), (1, 30.0, 20.0)]


def test_arrays_begin_tasks_in_order_and_at_most_so_many():
    jobs = jobs_of(a_log(5, array=["a"] * 5, array_limit=[2] * 5))
    assert jobs["start"].tolist() == [0, 0, 10, 10, 20]


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_task_takes_a_slot_that_no_other_waits_for(engine):
    log = fs.Workload(submit=[0, 0, 0, 9], runtime=[9, 9, 5, 5], size=[1, 1, 2, 1])
    log = log.with_columns(array=[0] * 4, array_limit=[2] * 4)
    # Both slots are free at 9: one is that of the third job, which enters the queue after jobs that are submitted then.
    result = jobs_of(log, nodes=2, engine=engine)
    assert (result["start"].tolist(), result["eligible"].tolist()) == ([0, 0, 14, 9], [0, 0, 9, 9])


def test_a_singleton_goes_by_user_and_name():
    log = fs.Workload(
        [0] * 4, [10] * 4, [1] * 4, user=[1, 1, 2, 1],
        columns={"name": ["x", "x", "x", "y"], "after": ["singleton"] * 4},
    )  # fmt: skip
    assert jobs_of(log)["start"].tolist() == [0, 10, 0, 0]


def test_a_waiting_job_is_withdrawn_and_a_running_one_killed():
    jobs = jobs_of(a_log(cancel=[4, 14, 6]), nodes=1)
    assert jobs["state"].tolist() == ["killed", "ended", "withdrawn"]  # at 14 the job has ended: its finish comes first
    assert (jobs["finish"].tolist(), jobs["runtime"].tolist()) == ([4, 14, 6], [0, 10, 0])


def test_metrics_do_not_count_withdrawn_jobs():
    result = fs.simulate(a_log(cancel=[-1, 4, -1]), fs.Cluster(1))
    assert result.metrics["n_jobs"] == 2
    assert result.metrics["mean_wait"] == 5
    assert (result.metrics["withdrawn_jobs"], result.metrics["unmet_jobs"]) == (1, 0)
    assert result.ended.tolist() == [True, False, True]
    assert np.isnan(result.jobs["wait"][1])
    assert any("1 were withdrawn" in text for text in result.warnings)
    assert result.by("user", ["n_jobs"])["n_jobs"].tolist() == [2]
    table = fs.Sweep(fs.Run(a_log(cancel=[-1, 4, -1]), fs.Cluster(1)), {"seed": [0]}, metrics=["p95_wait"]).run()
    assert [table[name][0] for name in ("n_jobs", "mean_wait", "withdrawn_jobs", "p95_wait")] == [2, 5, 1, 9.5]


def test_a_run_whose_jobs_are_all_withdrawn_ends():
    log = a_log(begin=[9, 9, 9], cancel=[5, 6, 7])
    for engine in ("core", "reference"):
        result = fs.simulate(log, fs.Cluster(1), engine=engine)
        assert result.jobs["state"].tolist() == ["withdrawn"] * 3
        assert result.metrics["n_jobs"] == 0
        assert np.isnan(result.metrics["mean_wait"])
        assert result.span == (0, 7)


# -- there and back


def test_results_with_withdrawn_jobs_are_saved_and_loaded(tmp_path):
    result = fs.simulate(a_log(after=["", "afterok:1", ""], cancel=[-1, -1, 0]), fs.Cluster(1), record=True)
    result.save(tmp_path / "run.npz")
    loaded = fs.load_result(tmp_path / "run.npz")
    for name, column in result.jobs.items():
        np.testing.assert_array_equal(loaded.jobs[name], column, name)
    assert dict(loaded.metrics) == pytest.approx(dict(result.metrics), nan_ok=True)


def test_logs_with_conditions_survive_csv_and_swf(tmp_path):
    log = a_log(after=["", "afterok:1+5m,after:1", "singleton"], name=["a", "b", "b"], cancel=[-1.0, -1.0, 90.0])
    log.write_csv(tmp_path / "log.csv")
    assert fs.read_jobs(tmp_path / "log.csv") == log
    closed = a_log(preceding_job=[-1, 1, 2], think_time=[-1.0, 30.0, 7.5])
    closed.write_swf(tmp_path / "log.swf")
    read = fs.read_swf(tmp_path / "log.swf")
    assert read == closed
    assert jobs_of(read)["start"].tolist() == [0, 40, 57.5]


def test_times_move_with_submit_times():
    log = fs.Workload([10, 20], [1, 1], [1, 1], columns={"begin": [15, -1], "cancel": [-1.0, 30.0]})
    assert log.from_zero().columns["begin"].tolist() == [5, -1]
    assert log.with_gap_factor(2).columns["cancel"].tolist() == [-1, 40]


# -- what cannot be


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        ({"after": ["", "afterok:9", ""]}, r"after, row 1: 'afterok:9' names job '9', and the log has no such job"),
        ({"after": ["", "aftrok:1", ""]}, r"after, row 1: unknown condition 'aftrok' .did you mean 'afterok'"),
        ({"after": ["", "afterok", ""]}, r"after, row 1: 'afterok' names no job"),
        ({"after": ["", "afterok:1?afterok:3", ""]}, r"after, row 1: .* '\?' \(any one of them\) is not available"),
        ({"after": ["", "afterok:1+soon", ""]}, r"after, row 1: the delay 'soon' is no time"),
        ({"after": ["", "afterok:1+-3", ""]}, r"after, row 1: the delay '-3' is no time"),
        ({"after": [1, 2, 3]}, r"after, row 0: .* is not text"),
        ({"after": ["afterok:2", "afterany:3", "after:1"]}, r"row 0: jobs wait for each other, 1 -> 2 -> 3 -> 1"),
        ({"after": ["", "afterany:2", ""]}, r"after, row 1: jobs wait for each other, 2 -> 2"),
        ({"after": ["", "singleton", ""]}, r"after, row 1: 'singleton' goes by user and name, .* no column 'name'"),
        ({"after": ["", "singleton", ""], "name": ["a"] * 3}, r"after, row 1: 'singleton' .* the user is missing"),
        ({"begin": [0, -2, 0]}, r"begin, row 1: -2 is no time on the clock of the log"),
        ({"begin": ["0", "1", "2"]}, r"begin, row 0: '0' is not a time in seconds; .*with_columns\(begin=None\)"),
        ({"cancel": [5, 1e12, -1]}, r"cancel, row 1: 1e\+12 is no time on the clock of the log"),
        ({"array": [1, 1, 1], "array_limit": [2, 3, 2]}, r"array_limit, row 1: 3 differs from 2 in row 0 of"),
        ({"array": [1, -1, 1], "array_limit": [2, 2, 2]}, r"array_limit, row 1: 2 tasks of no array"),
        ({"array": [1, 1, 1], "array_limit": [1.5] * 3}, r"array_limit, row 0: 1.5 is no number of tasks"),
        ({"array_limit": [1, 1, 1]}, r"array_limit: the log has no column 'array'"),
        ({"preceding_job": [-1, 1, 1], "think_time": [0, -5, 0]}, r"think_time, row 1: -5 is no time"),
        ({"preceding_job": [3, -1, 1]}, r"preceding_job, row 0: jobs wait for each other, 1 -> 3 -> 1"),
    ],
)  # fmt: skip
def test_bad_columns_are_refused_with_their_row(columns, what):
    with pytest.raises(fs.InputError, match=what):
        fs.simulate(a_log(**columns), fs.Cluster(4))


def test_a_withdrawal_before_the_submit_time_is_refused():
    log = fs.Workload([0, 10], [1, 1], [1, 1], columns={"cancel": [-1, 9]})
    with pytest.raises(fs.InputError, match="cancel, row 1: 9 s is before the submit time, 10 s"):
        fs.simulate(log, fs.Cluster(1))


def test_circles_through_singletons_are_refused():
    log = fs.Workload(
        [0, 1], [1, 1], [1, 1], user=[1, 1], columns={"name": ["a", "a"], "after": ["afterany:2", "singleton"]}
    )
    with pytest.raises(fs.InputError, match="jobs wait for each other, 1 -> 2 -> 1"):
        fs.simulate(log, fs.Cluster(1))


def test_what_does_not_go_with_conditions_is_refused_by_name():
    log = a_log(cancel=[-1, 4, -1])
    with pytest.raises(fs.OptionError, match=r"cancel is not available with recovery=Hold\(\)"):
        fs.simulate(log, fs.Cluster(1), recovery=fs.Hold(), failures=fs.FailureTrace([1], [0], 1))
    with pytest.raises(fs.NotAvailableError, match="live= does not follow the columns cancel"):
        fs.Simulation(log, fs.Cluster(1), live=9)
    sim = fs.Simulation(a_log(array=[1, 2, 2]), fs.Cluster(1), live=9)  # without a limit the column has no effect
    with pytest.raises(fs.NotAvailableError, match="live= does not follow the columns cancel"):
        sim.submit(log)


def test_dependents_of_a_job_that_is_left_out():
    log = fs.Workload([0] * 3, [10] * 3, [9, 1, 1], columns={"after": ["", "afterok:1", "afterany:1"]})
    jobs = jobs_of(log, oversized="drop")
    assert jobs["state"].tolist() == ["unmet", "ended"]


# -- why, and files of results


def test_why_knows_jobs_that_are_not_eligible_or_were_withdrawn():
    log = fs.Workload(
        [0, 0, 0, 1], [10] * 4, [2] * 4, columns={"after": ["", "", "", "afterok:1+5"], "cancel": [-1, -1, 6, -1]}
    )
    result = fs.simulate(log, fs.Cluster(2))
    assert [span.reason.cause for span in result.why(2)] == [fs.Cause.NO_ROOM]
    assert (result.why(2)[-1].end, result.why(3)[0].begin) == (6, 15)
    sim = fs.Simulation(log, fs.Cluster(2))
    assert sim.why(3).cause == fs.Cause.NOT_SUBMITTED
    sim.run(until=7)
    assert sim.why(3).cause == fs.Cause.NOT_ELIGIBLE
    assert sim.why(2).cause == fs.Cause.ENDED
    partial = sim.result(partial=True)
    assert partial.jobs["state"].tolist() == ["running", "waiting", "withdrawn", "future"]
    assert partial.jobs["eligible"][:3].tolist() == [0, 0, 0]
    assert np.isnan(partial.jobs["eligible"][3])


def test_other_programs_get_jobs_that_ended_without_a_run(tmp_path):
    result = fs.simulate(a_log(after=["", "afternotok:1", ""], cancel=[-1, -1, 4]), fs.Cluster(1), record=True)
    result.write_batsim(tmp_path / "jobs.csv")
    states = [line.split(",")[7] for line in (tmp_path / "jobs.csv").read_text().splitlines()[1:]]
    assert states == ["COMPLETED_SUCCESSFULLY", "REJECTED", "REJECTED"]
    result.write_swf(tmp_path / "run.swf")
    rows = [line.split() for line in (tmp_path / "run.swf").read_text().splitlines() if line[0] != ";"]
    assert [(row[2], row[3], row[10]) for row in rows] == [("0", "10", "1"), ("10", "-1", "5"), ("4", "-1", "5")]


@pytest.mark.parametrize("record", [True, False])
def test_pictures_and_reports_of_jobs_that_ended_without_a_run(record):
    pytest.importorskip("matplotlib").use("Agg")
    from faultsim.plot.timeline import _steps, _waiting
    from faultsim.report import report_run

    log = a_log(6, after=["", "", "", "afternotok:1", "afterok:1+5", ""], cancel=[-1, -1, 15, -1, -1, 6])
    result = fs.simulate(log, fs.Cluster(1), record=record)
    assert result.jobs["state"].tolist() == ["ended", "ended", "withdrawn", "unmet", "ended", "withdrawn"]
    at, waiting = _steps(*_waiting(result))
    assert dict(zip(at.tolist(), waiting.tolist(), strict=True)) == {0: 3, 6: 2, 10: 1, 15: 1, 20: 0}
    assert "withdrawn" in str(report_run(result))


# -- from outside


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize("live", [0, 9])
def test_what_is_withdrawn_from_outside_is_as_in_the_log(engine, live):
    log = a_log(4)
    told = fs.simulate(log.with_columns(cancel=[-1.0, 4.0, 15.0, -1.0]), fs.Cluster(1), engine=engine)
    follows = {"live": live} if live else {"failures": fs.FailureTrace([500], [0], span=900)}
    sim = fs.Simulation(log, fs.Cluster(1), engine=engine, **follows)
    for time, job in ((4.0, 1), (15.0, 2)):
        sim.advance(until=time)
        sim.withdraw(job)
    assert sim.advance() is None
    result = sim.result()
    assert result.jobs["state"].tolist() == ["ended", "withdrawn", "killed", "ended"]
    for name in ("state", "eligible", "start", "finish", "runtime", "lost_work"):
        np.testing.assert_array_equal(result.jobs[name], told.jobs[name], name)


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_changes_name_withdrawn_jobs(engine):
    sim = fs.Simulation(a_log(), fs.Cluster(1), live=9, engine=engine)
    sim.advance(until=4)
    sim.withdraw(1)
    changes = sim.advance(until=11).changes
    assert [row[:3] for row in changes.tolist()] == [("withdrawn", 1, 4), ("ended", 0, 10), ("started", 2, 10)]


def test_a_simulation_in_which_jobs_were_withdrawn_is_copied_and_pickled():
    sim = fs.Simulation(a_log(5), fs.Cluster(1), scheduler=fs.EasyBackfill())
    sim.advance(until=4)
    sim.withdraw(1)
    others = [sim.copy(), pickle.loads(pickle.dumps(sim))]
    for each in (sim, *others):
        each.advance(until=12)
        each.withdraw(4)
        each.run()
    assert sim.result().jobs["state"].tolist() == ["ended", "withdrawn", "ended", "ended", "withdrawn"]
    for other in others:
        for name, column in sim.result().jobs.items():
            np.testing.assert_array_equal(other.result().jobs[name], column, name)


def test_what_cannot_be_withdrawn():
    sim = fs.Simulation(fs.Workload([0, 0, 50], [10, 10, 10], [1, 1, 1]), fs.Cluster(1))
    sim.advance(until=4)
    for job, what in {
        0: "job 0 cannot be withdrawn: it runs, and only a simulation with failures=",
        2: "job 2 cannot be withdrawn: it has not arrived yet",
        3: "there is no job 3: the log has rows 0 to 2",
        "a": "a job is named by its row, a whole number, not by 'a'",
    }.items():
        with pytest.raises(fs.DecisionError, match=what):
            sim.withdraw(job)
    sim.advance(until=12)
    with pytest.raises(fs.DecisionError, match="job 0 cannot be withdrawn: it has ended"):
        sim.withdraw(0)


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize("live", [0, 9])
def test_a_job_on_hold_waits_until_it_is_released(engine, live):
    sim = fs.Simulation(a_log(4), fs.Cluster(1), engine=engine, live=live)
    sim.advance(until=4)
    sim.hold(1)
    d = sim.advance(until=12)
    assert (d.queue.tolist(), d.running.tolist()) == ([3], [2])
    assert str(sim.why(1)) == "on hold: until it is released"
    sim.release(1)
    assert sim.advance() is None
    jobs = sim.result().jobs
    assert jobs["start"].tolist() == [0, 30, 10, 20]  # it has lost its place to job 3
    assert jobs["eligible"].tolist() == [0, 12, 0, 0]
    assert jobs["wait"].tolist() == [0, 18, 10, 20]


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_hold_is_as_an_earliest_start_in_the_log(engine):
    """A job that is held before its first pass, and released at t, begins as with begin=t."""
    told = fs.simulate(a_log(4).with_columns(begin=[-1.0, 12.0, -1.0, -1.0]), fs.Cluster(1), engine=engine)
    sim = fs.Simulation(a_log(4), fs.Cluster(1), engine=engine)
    sim.advance(until=1)
    sim.hold(1)
    sim.advance(until=12)
    sim.release(1)
    sim.advance()
    for name in ("eligible", "start", "finish"):
        np.testing.assert_array_equal(sim.result().jobs[name], told.jobs[name], name)


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_hold_outlasts_the_conditions_of_a_job(engine):
    log = a_log(4).with_columns(after=["", "afterok:1", "", ""], begin=[-1.0, -1.0, 5.0, -1.0])
    sim = fs.Simulation(log, fs.Cluster(4), engine=engine)
    sim.advance(until=3)
    sim.hold(1)
    sim.hold(2)
    sim.release(2)  # before its earliest start
    d = sim.advance(until=20)
    assert (d.running.tolist(), d.queue.tolist()) == ([], [])
    with pytest.raises(fs.DecisionError, match=r"1 jobs? .*not ended, 1 of them (is|are) on hold"):
        sim.advance()
    sim.release(1)
    sim.advance()
    assert sim.result().jobs["start"].tolist() == [0, 20, 5, 0]


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_task_on_hold_keeps_its_slot(engine):
    log = a_log(3).with_columns(array=[1, 1, 1], array_limit=[1, 1, 1])
    sim = fs.Simulation(log, fs.Cluster(3), engine=engine)
    sim.advance(until=5)
    sim.hold(1)
    sim.advance(until=40)
    assert sim.n_done == 1
    sim.release(1)
    sim.advance()
    assert sim.result().jobs["start"].tolist() == [0, 40, 50]


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_killed_job_on_hold_counts_its_wait_from_before(engine):
    failures = fs.FailureTrace([5], [0], [1])
    sim = fs.Simulation(a_log(2), fs.Cluster(1), engine=engine, failures=failures, scheduler=fs.External())
    sim.advance().start(0)
    d = sim.advance(until=5)
    d.hold(0)
    d = sim.advance(until=5.5)
    assert sim.result(partial=True).jobs["eligible"].tolist() == [0, 0]
    d = sim.advance(until=8)
    d.start(1)
    with pytest.raises(fs.DecisionError, match="job 0 is not waiting: it is on hold"):
        d.start(0)
    d.release(0)
    while (d := sim.advance()) is not None:
        for job in d.queue.tolist():
            if d.fits(job):
                d.start(job)
    jobs = sim.result().jobs
    assert (jobs["start"].tolist(), jobs["eligible"].tolist()) == ([16, 6], [0, 0])
    assert jobs["failure_wait"].tolist() == [11, 0]


def test_a_job_on_hold_is_withdrawn():
    sim = fs.Simulation(a_log(2), fs.Cluster(1))
    sim.advance(until=4)
    sim.hold(1)
    sim.advance(until=6)
    others = [sim.copy(), pickle.loads(pickle.dumps(sim))]
    for each in (sim, *others):
        each.withdraw(1)
        with pytest.raises(fs.DecisionError, match="job 1 cannot be released: it is not on hold"):
            each.release(1)
        each.run()
        assert each.result().jobs["state"].tolist() == ["ended", "withdrawn"]


def test_what_cannot_be_put_on_hold_or_released():
    sim = fs.Simulation(fs.Workload([0, 0, 50], [10, 10, 10], [1, 1, 1]), fs.Cluster(1))
    sim.advance(until=4)
    sim.hold(1)
    for job, what in {
        0: "job 0 cannot be put on hold: it has nodes",
        1: "job 1 is on hold already",
        2: "job 2 cannot be put on hold: it has not arrived yet",
        3: "there is no job 3: the log has rows 0 to 2",
        "a": "a job is named by its row, a whole number, not by 'a'",
    }.items():
        with pytest.raises(fs.DecisionError, match=what):
            sim.hold(job)
    with pytest.raises(fs.DecisionError, match="job 0 cannot be released: it is not on hold"):
        sim.release(0)
    sim.advance(until=12)
    with pytest.raises(fs.DecisionError, match="job 0 cannot be put on hold: it has ended"):
        sim.hold(0)


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_why_names_what_a_job_waits_for(engine):
    log = a_log(4).with_columns(after=["", "afterok:1", "after:2", ""], begin=[-1.0, 50.0, -1.0, 60.0])
    sim = fs.Simulation(log, fs.Cluster(4), engine=engine)
    sim.advance(until=3)
    assert [str(sim.why(job)) for job in (1, 2, 3)] == [
        "not eligible: waits for job 1",
        "not eligible: waits for job 2",
        "not eligible: its earliest start is 60 s",
    ]
    assert (sim.why(1).blocker, sim.why(3).until) == (0, 60)
    sim.advance(until=20)
    assert str(sim.why(1)) == "not eligible: its earliest start is 50 s"
