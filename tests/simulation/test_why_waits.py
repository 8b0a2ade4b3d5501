"""`Result.why`: the spans of a wait cover it, and are what a simulation says; what cannot be repeated is an error."""

import math
from itertools import pairwise

import numpy as np
import pytest

import faultsim as fs
from faultsim.data.event_kinds import EventKind
from faultsim.errors import DecisionError, OptionError
from faultsim.results.reasons import Span, merged
from helpers.why_cases import MACHINES, OPTIONS, SCHEDULERS, SmallestFits, case

CASES = [(machine, scheduler) for machine in MACHINES for scheduler in SCHEDULERS if case(machine, scheduler, 0)]


def finished(run: fs.Run) -> fs.Result | None:
    """Its result with its events; None if it comes to a deadlock."""
    try:
        return run.with_options(record=True).simulate()
    except DecisionError:
        return None


def waits_of(result: fs.Result, row: int) -> list[tuple[float, float]]:
    """The waits of a job by its recorded events: without nodes, in its start delay, and held."""
    found, since, delay = [], None, result.settings["start_delay"]
    events = result.events
    holds = (result.settings["recovery"] or {}).get("name") == "hold"
    mine = np.flatnonzero(events["job"] == row)
    for at in mine.tolist():
        time, kind = float(events["time"][at]), events["kind"][at]
        if kind == EventKind.ARRIVAL or (kind in (EventKind.FAILURE, EventKind.RESCHEDULE) and not holds):
            if found and found[-1][1] > time:  # it was killed in its start delay
                found[-1] = (found[-1][0], time)
            since = time
        elif kind == EventKind.START:
            found.append((since, time + delay))
    return found


@pytest.mark.parametrize(("machine", "scheduler"), CASES)
def test_spans_cover_the_wait_and_say_what_the_simulation_says(machine, scheduler):
    for seed in range(2):
        run = case(machine, scheduler, seed)
        result = finished(run)
        if result is None:
            continue
        for row in range(len(run.log)):
            why = result.why(row)
            jobs = result.jobs
            spans = [span for span in why if span.reason.cause != fs.Cause.HELD]
            assert all(before.end <= after.begin for before, after in pairwise(why))
            held = math.fsum(span.end - span.begin for span in why if span.reason.cause == fs.Cause.HELD)
            if isinstance(run.recovery, fs.Hold):
                if scheduler == "preemptive":  # others stop jobs, which then wait without nodes
                    assert held <= jobs["failure_wait"][row]
                    continue
                assert held == pytest.approx(jobs["failure_wait"][row])
            else:
                assert held == 0
                assert outline(spans) == outline([Span(*wait, spans) for wait in waits_of(result, row)])
            if jobs["restarts"][row] == 0:
                begins, ends = [s.begin for s in why], [s.end for s in why]
                assert (begins[1:], ends[:1]) == (ends[:-1], begins[1:2] or ends[:1])
                assert jobs["wait"][row] == (ends[-1] - begins[0] if begins else 0.0)
            check_against_simulation(run, row, why)


def outline(spans):
    """The stretches of time of spans, joined."""
    joined = merged([Span(begin, end, fs.Reason(fs.Cause.NO_ROOM)) for begin, end, _ in spans])
    return [(begin, end) for begin, end, _ in joined]


def check_against_simulation(run: fs.Run, row: int, why: fs.Why) -> None:
    """Each span begins with the reason that a simulation gives then, and no other one follows before its end."""
    sim = fs.Simulation(run.log, run.machine, **{name: getattr(run, name) for name in OPTIONS})
    while sim.step():
        now = [span for span in why if span.begin <= sim.now < span.end]
        reason = sim.why(row)
        if now:
            assert reason == now[0].reason
        else:
            assert reason.cause in (fs.Cause.NOT_SUBMITTED, fs.Cause.RUNNING, fs.Cause.ENDED)


def test_a_wait_of_no_time_has_no_spans():
    why = fs.simulate(fs.Workload([0], [1], [1]), fs.Cluster(1)).why(0)
    assert (len(why), dict(why.seconds), str(why)) == (0, {}, "job 1 waited 0 s")


def test_a_kill_begins_another_wait():
    log = fs.Workload([0, 1], [10, 5], [2, 1])
    failures = fs.FailureTrace([4], [0], [3], span=99)
    why = fs.simulate(log, fs.Cluster(2), failures=failures, scheduler="fcfs", start_delay=1).why(0)
    assert [(span.begin, span.end, span.reason.cause) for span in why] == [
        (0.0, 1.0, fs.Cause.START_DELAY), (4.0, 7.0, fs.Cause.NODES_DOWN), (7.0, 8.0, fs.Cause.START_DELAY),
    ]  # fmt: skip


def test_a_result_of_a_run_that_is_not_over_is_explained_until_now():
    log = fs.Workload([0, 1, 2], [10, 50, 5], [2, 2, 2])
    sim = fs.Simulation(log, fs.Cluster(2))
    sim.run(until=12)
    result = sim.result(partial=True)
    assert [(span.begin, span.end) for span in result.why(2)][-1][1] == result.span[1] == 10.0
    assert sum(result.why(2).seconds.values()) == 8.0
    assert sum(result.why(1).seconds.values()) == 9.0


def test_a_saved_result_is_explained_and_an_own_policy_is_given_again(tmp_path):
    log = fs.Workload([0, 1, 2], [10, 5, 20], [2, 3, 1])
    result = fs.simulate(log, fs.Cluster(3), scheduler=SmallestFits())
    result.save(tmp_path / "own.npz")
    loaded = fs.load_result(tmp_path / "own.npz")
    with pytest.raises(OptionError, match=r"why repeats the run, which is not possible: .*SmallestFits"):
        loaded.why(1)
    assert loaded.why(1, scheduler=SmallestFits()) == result.why(1)
    with pytest.raises(OptionError, match=r"why takes the policies scheduler, .* not 'machine'"):
        loaded.why(1, machine=fs.Cluster(3))


def test_what_cannot_be_repeated_is_an_error():
    log = fs.Workload([0, 1], [10, 5], [2, 2])
    sim = fs.Simulation(log, fs.Cluster(2), scheduler=fs.External())
    while (d := sim.advance()) is not None:
        for job in d.queue:
            if d.fits(job):
                d.start(job)
    with pytest.raises(OptionError, match="decided from outside"):
        sim.result().why(1)
    live = fs.Simulation(log, fs.Cluster(2), live=2)
    live.run()
    with pytest.raises(OptionError, match="live="):
        live.result().why(1)


def test_a_run_that_another_scheduler_took_over_gives_another_start():
    log = fs.Workload([0, 1, 2], [10, 10, 5], [2, 4, 2])
    sim = fs.Simulation(log, fs.Cluster(4), scheduler=fs.External())
    sim.advance()  # the first job does not start when it comes
    sim.advance(until=0.5)
    result = sim.rollout(fs.Fcfs())
    assert result.jobs["start"][0] == 1.0
    with pytest.raises(OptionError, match="another scheduler took over"):
        result.why(0)


def test_rows_are_checked():
    result = fs.simulate(fs.Workload([0], [1], [1]), fs.Cluster(1))
    for row in (-1, 1, "x"):
        with pytest.raises(OptionError, match="job, a row of the result"):
            result.why(row)


def test_dropped_jobs_have_no_rows():
    log = fs.Workload([0, 0, 1], [10, 10, 5], [2, 9, 2], id=[1, 2, 3])
    result = fs.simulate(log, fs.Cluster(2), oversized="drop")
    assert result.why(1).id == 3
    assert result.why(1)[0].reason.cause == fs.Cause.NO_ROOM


@pytest.mark.parametrize("scheduler", ["easy", "fcfs", "conservative", "backfill:depth=unlimited"])
def test_a_wait_in_a_real_log_is_explained_in_little_time(data_dir, scheduler):
    log = fs.read_swf(data_dir / "swf" / "SDSC-SP2-1998-4.2-cln.swf.gz")
    result = fs.simulate(log, fs.Cluster(128), scheduler=scheduler, oversized="drop")
    row = int(np.argmax(result.jobs["wait"]))
    why = result.why(row)
    assert (why[0].begin, why[-1].end) == (result.jobs["submit"][row], result.jobs["start"][row])
    assert len(why) > 100
