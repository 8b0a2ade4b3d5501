"""Results of runs that are not over (model.md#partial), by both engines and by the record of the whole run."""

import csv
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulation.test_live import told_runs

import faultsim as fs
from faultsim.data.event_kinds import JobState
from faultsim.errors import InputError, OptionError
from faultsim.results.ledger import LEDGER_ACCOUNTS
from helpers.engines import SUMS
from helpers.refusals import refused
from helpers.results import assert_equal
from helpers.runs import runs

LOG = fs.Workload(
    submit=[0, 1, 2, 30], runtime=[10, 5, 5, 9], size=[2, 2, 1, 2], estimate=[10, 4, 20, 9], id=[7, 8, 9, 4]
)
BUSY = [account for account in LEDGER_ACCOUNTS if account not in ("down", "idle_no_demand", "idle_demand")]


def stopped(run, at, engine="core"):
    sim = fs.Simulation(run.log, run.machine, engine=engine, **options_of(run))
    sim.advance(until=at)
    return sim


def options_of(run):
    kept = ("scheduler", "placement", "migration", "failures", "recovery", "predictor", "checkpointing", "rescheduling")
    more = ("estimates", "overrun", "start_delay", "seed", "record", "oversized")
    return {name: getattr(run, name) for name in (*kept, *more)}


def agree(fast, slow):
    for name, column in slow.jobs.items():
        if column.dtype.kind == "U":
            assert fast.jobs[name].tolist() == column.tolist(), name
            continue
        close = 1e-9 * (1 + slow.span[1]) * (slow.jobs["size"] if name == "lost_work" else 1) if name in SUMS else 0
        unknown = np.isnan(column.astype(float))
        assert (np.isnan(fast.jobs[name].astype(float)) == unknown).all(), name
        apart = np.abs(fast.jobs[name].astype(float) - column)
        assert (unknown | (apart <= close)).all(), f"{name}: {fast.jobs[name]}, not {column}"
    assert fast.counters == slow.counters
    assert fast.span == slow.span
    assert fast.ledger == pytest.approx(slow.ledger, rel=0, abs=1e-9 * (1 + sum(slow.ledger.values())))
    for table in ("events", "allocations"):
        mine, theirs = getattr(fast, table), getattr(slow, table)
        for name in theirs:
            np.testing.assert_array_equal(mine[name], theirs[name], f"{table}.{name}")


@given(runs(), st.floats(0, 1) | st.integers(0, 60))
def test_a_run_that_is_not_over(run, share):
    run = run.with_options(record=True)
    whole = run.simulate()
    begin, end = whole.span
    at = begin + share * (end - begin) if isinstance(share, float) else begin + share
    sim = stopped(run, at)
    so_far = sim.result(partial=True)
    if sim.done:
        return
    agree(so_far, stopped(run, at, "reference").result(partial=True))
    # Nothing of it touches the simulation.
    sim.run()
    assert_equal(sim.result(), whole)
    # Every node-second until now is in one account, and those of jobs are what the record says that jobs held.
    assert math.fsum(so_far.ledger.values()) == pytest.approx(run.machine.nodes * (at - begin), rel=1e-9, abs=1e-6)
    held = whole.allocations
    nodes = np.diff(held["node_offsets"]) if "nodes" in held else held["a"] * held["b"] * held["c"]
    seconds = np.maximum(np.minimum(held["end"], at) - held["begin"], 0)
    assert math.fsum(so_far.ledger[name] for name in BUSY) == pytest.approx(nodes @ seconds, rel=1e-9, abs=1e-6)
    began = held["begin"] <= at
    np.testing.assert_array_equal(so_far.allocations["begin"], held["begin"][began])
    np.testing.assert_array_equal(so_far.allocations["end"], np.minimum(held["end"][began], at))
    # What has ended is what it will be, and the states are those of the record.
    ended = whole.jobs["finish"] <= at
    assert (so_far.ended == ended).all()
    for name, column in whole.jobs.items():
        np.testing.assert_array_equal(so_far.jobs[name][ended], column[ended], name)
    on_nodes = np.zeros(len(whole), bool)
    on_nodes[held["job"][began & (held["end"] > at)]] = True
    states = so_far.jobs["state"]
    assert (np.isin(states, [JobState.RUNNING, JobState.HELD]) == on_nodes).all()
    assert ((states == JobState.FUTURE) == (whole.jobs["submit"] > at)).all()
    assert ((states == JobState.WAITING) == (~ended & ~on_nodes & (whole.jobs["submit"] <= at))).all()


@given(told_runs(), st.data())
def test_a_run_that_is_told_piece_by_piece(run, data):
    """Both engines say the same of it at any time, in the order in which its jobs were told."""
    log, failures = run.log.with_columns(level=np.arange(len(run.log))), run.failures
    kept = ("scheduler", "recovery", "overrun", "start_delay")
    options = {"live": len(log), "record": True, **{name: getattr(run, name) for name in kept}}
    sims = [fs.Simulation(log.head(1), run.machine, engine=engine, **options) for engine in ("core", "reference")]
    order = data.draw(st.permutations(range(1, len(log))))
    for sim in sims:
        for row in order:
            sim.submit(log[row : row + 1], unknown=row % 3 == 0)
    for at, node, downtime in zip(failures.time, failures.node, failures.downtime, strict=True):
        for sim in sims:
            sim.advance(until=float(at))
            sim.fail(int(node), float(downtime))
        fast, slow = (sim.result(partial=True) for sim in sims)
        agree(fast, slow)
        assert fast.jobs["level"].tolist() == [0, *order]
        assert (fast.jobs["submit"] == log.submit[[0, *order]]).all()


@given(runs())
def test_states_of_a_run_that_is_over(run):
    """A job is ended at its limit if it was to run longer than what it asked for, and only then."""
    result = run.simulate()
    wanted = result.workload["runtime"]
    factor = {"requested": 0.0, "actual": 1.0}.get(run.estimates, run.estimates)
    asked = result.workload["estimate"] if run.estimates == "requested" else wanted * factor
    limited = (run.overrun == "kill") & (asked >= 0) & (asked < wanted)
    np.testing.assert_array_equal(result.jobs["state"], np.where(limited, JobState.TIMED_OUT, JobState.ENDED))
    assert result.ended.all()
    assert result.is_over


def test_what_is_known_of_each_job():
    sim = fs.Simulation(LOG, fs.Cluster(2), scheduler=fs.Fcfs(), overrun="kill", start_delay=1)
    sim.advance(until=17)
    result = sim.result(partial=True)
    assert result.jobs["state"].tolist() == ["ended", "timed out", "running", "future"]
    assert result.jobs["runtime"].tolist()[:2] == [10.0, 4.0]
    np.testing.assert_array_equal(result.jobs["finish"], [11.0, 16.0, np.nan, np.nan])
    np.testing.assert_array_equal(result.jobs["start"], [1.0, 12.0, 17.0, np.nan])
    np.testing.assert_array_equal(result.jobs["wait"], [1.0, 11.0, 15.0, np.nan])
    assert result.jobs["allocated"].tolist() == [2, 2, 1, 0]
    assert {name: result.ledger[name] for name in ("useful", "cut_at_limit", "start_delay", "idle_no_demand")} == {
        "useful": 20, "cut_at_limit": 8, "start_delay": 2 + 2 + 1, "idle_no_demand": 1
    }  # fmt: skip


def test_metrics_say_which_jobs_they_count():
    sim = fs.Simulation(LOG, fs.Cluster(2), scheduler=fs.Fcfs())
    sim.advance(until=16)
    result = sim.result(partial=True)
    assert (result.metrics["n_jobs"], result.metrics["mean_wait"], result.metrics["mean_response"]) == (2, 4.5, 12.0)
    assert result.metrics["throughput"] == 2 / 16
    assert result.metrics["utilization"] == pytest.approx((20 + 10 + 1) / 32)
    for name in ("makespan", "capacity_utilized", "capacity_lost"):
        said = f"{name} is not known before the run is over; known so far: n_jobs, mean_wait, "
        refused(OptionError, said, result.metrics.__getitem__, name)
        assert name not in result.metrics
        assert name not in dict(result.metrics)
        assert name not in str(result)
    assert len(result.metrics) == len(fs.METRICS) - 3
    said = "note: the run is not over: at 16 s, of 4 jobs 1 future, 1 running, 2 ended; metrics of jobs count those"
    assert said in str(result)


def test_a_run_that_is_over_is_the_same_with_partial():
    sim = fs.Simulation(LOG, fs.Cluster(2), record=True)
    refused(OptionError, r"or result\(partial=True\)", sim.result)
    refused(OptionError, "partial must be True or False", sim.result, partial=1)
    assert not sim.result(partial=True).ended.any()  # at the very beginning
    sim.run()
    assert_equal(sim.result(partial=True), fs.simulate(LOG, fs.Cluster(2), record=True))


def test_saved_and_loaded(tmp_path):
    sim = fs.Simulation(LOG, fs.Torus(1, 2, 2), record=True)
    sim.advance(until=12)
    result = sim.result(partial=True)
    result.save(tmp_path / "run.npz")
    loaded = fs.load_result(tmp_path / "run.npz")
    assert_equal(loaded, result)
    assert (loaded.is_over, loaded.warnings, dict(loaded.metrics)) == (False, result.warnings, dict(result.metrics))
    with np.load(tmp_path / "run.npz") as file:
        arrays = dict(file)
    arrays["jobs/state"] = np.full(4, 9, np.int8)
    np.savez(tmp_path / "bad.npz", **arrays)
    refused(
        InputError, "column jobs/state of this saved result has a number that", fs.load_result, tmp_path / "bad.npz"
    )


def test_written_in_other_formats(tmp_path):
    sim = fs.Simulation(LOG, fs.Cluster(2), scheduler=fs.Fcfs(), overrun="kill")
    sim.advance(until=15)
    result = sim.result(partial=True)
    result.write_swf(tmp_path / "out.swf")
    rows = [line.split() for line in (tmp_path / "out.swf").read_text().splitlines() if not line.startswith(";")]
    assert [(row[2], row[3], row[4], row[10]) for row in rows] == [
        ("0", "10", "2", "1"), ("9", "4", "2", "5"), ("12", "-1", "1", "-1"), ("-1", "-1", "-1", "-1")
    ]  # fmt: skip
    result.write_batsim(tmp_path / "jobs.csv")
    with (tmp_path / "jobs.csv").open() as file:
        table = list(csv.DictReader(file))
    assert [row["final_state"] for row in table] == [
        "COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED", "RUNNING", "NOT_SUBMITTED"
    ]  # fmt: skip
    assert [(row["starting_time"], row["finish_time"]) for row in table] == [
        ("0.0", "10.0"), ("10.0", "14.0"), ("14.0", ""), ("", "")
    ]  # fmt: skip
    frame = result.to_pandas()
    assert frame["state"].tolist() == ["ended", "timed out", "running", "future"]


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_in_the_middle_of_a_decision(engine):
    sim = fs.Simulation(LOG, fs.Cluster(2), scheduler=fs.External(), engine=engine)
    sim.advance().start(0)
    sim.advance()
    result = sim.result(partial=True)
    assert result.jobs["state"].tolist() == ["running", "waiting", "future", "future"]
    assert result.ledger["useful"] == 2.0
    assert sim.decision.queue.tolist() == [1] if engine == "core" else True


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_caller_that_owns_run_times(engine):
    sim = fs.Simulation(LOG, fs.Cluster(2), live=9, overrun="kill", engine=engine)
    sim.submit(fs.Workload(submit=[40, 40, 60], runtime=[0, 0, 0], size=[1, 1, 2], estimate=[7, 8, 5]), unknown=True)
    sim.advance(until=45)
    sim.finish(5)
    sim.advance(until=48)
    result = sim.result(partial=True)
    assert result.jobs["state"].tolist()[4:] == ["timed out", "ended", "future"]
    np.testing.assert_array_equal(result.jobs["runtime"][4:], [7.0, 5.0, np.nan])
    sim.run()
    over = sim.result()
    assert over.jobs["state"].tolist()[4:] == ["timed out", "ended", "timed out"]
    assert over.is_over


@given(runs(), st.lists(st.integers(0, 60), max_size=5))
def test_changes_of_any_recorded_run_are_what_the_record_has(run, stops):
    """Told apart in every run: who timed out, who ended, who was killed; against the events of the result."""
    run = run.with_options(record=True)
    sim = fs.Simulation(run.log, run.machine, **options_of(run))
    slow = fs.Simulation(run.log, run.machine, engine="reference", **options_of(run))
    changes = []
    for stop in sorted(stops):
        at = max(sim.now, stop)
        found = sim.advance(until=at).changes.tolist()
        assert found == slow.advance(until=at).changes.tolist()
        changes += found
    sim.run()
    result = sim.result()
    changes += sim.advance(until=sim.now).changes.tolist()
    names = {0: "ended", 1: "up", 3: "checkpointed", 5: "submitted", 6: "started", 7: "moved"}
    events = result.events
    rows = zip(events["kind"].tolist(), events["job"].tolist(), events["time"].tolist(), strict=True)
    told = [(names[kind], job, time) for kind, job, time in rows if kind in names]
    found = [(kind.replace("timed out", "ended"), job, time) for kind, job, time, _ in changes]
    assert [row for row in found if row[0] in names.values()] == told
    hit = np.isin(events["kind"], (2, 4)) & (events["job"] >= 0)
    assert sorted(row[1:] for row in found if row[0] == "killed") == sorted(
        zip(events["job"][hit].tolist(), events["time"][hit].tolist(), strict=True)
    )
    timed_out = [job for kind, job, *_ in changes if kind == "timed out"]
    assert sorted(timed_out) == np.flatnonzero(result.jobs["state"] == JobState.TIMED_OUT).tolist()


def test_pictures_that_need_a_whole_run():
    pytest.importorskip("matplotlib")
    from faultsim.plot import plot_gantt, plot_ledger, plot_queue, plot_utilization
    from faultsim.report import report_run

    for record in (False, True):
        sim = fs.Simulation(LOG, fs.Cluster(2), record=record)
        sim.advance(until=12)
        result = sim.result(partial=True)
        refused(OptionError, "a picture of the queue is made of runs that are over", plot_queue, result)
        refused(OptionError, "a report is made of runs that are over", report_run, result)
        plot_ledger(result)
    refused(OptionError, "a report is made of", report_run, fs.simulate(LOG, fs.Cluster(2)), against={"b": result})
    plot_gantt(result)
    plot_utilization(result)
