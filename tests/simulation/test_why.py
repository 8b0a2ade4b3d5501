"""Why a job does not start now: true by brute force, equal on both engines, and what a pass would do."""

import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import DecisionError, OptionError
from faultsim.explain.moment import of_reference
from faultsim.explain.rules import reason
from faultsim.reference.rules import rules_of
from faultsim.reference.scheduling.queueing import queue_order
from helpers.why_cases import MACHINES, OPTIONS, SCHEDULERS, case, copied, instants, started_by_a_pass
from helpers.why_truth import Truth

WAITING = {
    fs.Cause.NO_ROOM, fs.Cause.FRAGMENTED, fs.Cause.NODES_DOWN, fs.Cause.LIMIT, fs.Cause.TOO_LARGE,
    fs.Cause.BEHIND_HEAD, fs.Cause.WOULD_DELAY, fs.Cause.RESERVED, fs.Cause.OUTSIDE, fs.Cause.NEXT_PASS,
}  # fmt: skip
CASES = [(machine, scheduler) for machine in MACHINES for scheduler in SCHEDULERS if case(machine, scheduler, 0)]


def check_run(run: fs.Run) -> set[fs.Cause]:
    """All reasons of a run, after each instant."""
    seen: set[fs.Cause] = set()
    for fast, plain in instants(run):
        state = plain._execution.engine.state
        order = as_of_last_pass(state)
        truth = Truth(state, order)
        waiting = {job.index: job for job in order}
        next_ones = set()
        for row in range(len(run.log)):
            reason = fast.why(row)
            assert reason == plain.why(row)
            assert (reason.cause in WAITING) == (row in waiting)
            seen.add(reason.cause)
            if row in waiting:
                truth.check(waiting[row], reason)
            if reason.cause == fs.Cause.NEXT_PASS:
                next_ones.add(row)
        plans = run.scheduler.is_written() or isinstance(run.scheduler, fs.ConservativeBackfill)
        if not plans and run.migration is None:  # a pass moves reservations and jobs before it starts any
            assert bool(started_by_a_pass(state)) == bool(next_ones)
    return seen


def as_of_last_pass(state):
    """The queue in the order of the last pass."""
    now = state.now
    state.now = now if state.last_pass is None else state.last_pass
    order = queue_order(state)
    state.now = now
    return order


@pytest.mark.parametrize(("machine", "scheduler"), CASES)
def test_reasons_are_true_and_equal_on_both_engines(machine, scheduler):
    seen = set().union(*(check_run(case(machine, scheduler, seed)) for seed in range(3)))
    assert fs.Cause.NO_ROOM in seen


@pytest.mark.slow
@pytest.mark.parametrize(("machine", "scheduler"), CASES)
def test_many_reasons_are_true(machine, scheduler):
    for seed in range(3, 40):
        check_run(case(machine, scheduler, seed))


# -- at moments at which jobs wait that a pass would start


class Slow(fs.Scheduler):
    """Starts one job in every third pass."""

    passes = 0

    def schedule(self, d):
        self.passes += 1
        fitting = [job for job in d.queue if d.fits(job)]
        if self.passes % 3 == 0 and fitting:
            d.start(fitting[-1])


def judged(state, scheduler):
    """The state as it would be with another scheduler, which has made no plan yet."""
    other = copied(state)
    other.settings = replace(state.settings, scheduler=scheduler.lower())
    other.rules = rules_of(other.settings)
    other.disturbed, other.last_pass = True, None
    return other


@pytest.mark.parametrize("name", ["fcfs", "easy", "backfill", "conservative"])
@pytest.mark.parametrize("machine", MACHINES)
def test_the_first_job_that_nothing_keeps_is_the_first_that_a_pass_starts(machine, name):
    found = 0
    for seed in range(8 if name == "backfill" else 3):
        run = case(machine, name, seed)
        if run is None:
            pytest.skip("no such scheduler on this machine")
        slow = run.with_options(scheduler=Slow(), migration=None, placement=None)
        options = {option: getattr(slow, option) for option in OPTIONS}
        plain = fs.Simulation(slow.log, slow.machine, engine="reference", **options)
        for t in np.arange(float(slow.log.submit[0]), 120.0, 3.0).tolist():
            try:
                plain.advance(until=t)
            except DecisionError:  # a deadlock
                break
            state = judged(plain._execution.engine.state, run.scheduler)
            moment = of_reference(state, slow.log.id)
            causes = [reason(moment, job).cause for job in moment.order]
            started = started_by_a_pass(state)
            first = next((at for at, job in enumerate(moment.order) if job.index in started), len(causes))
            assert fs.Cause.NEXT_PASS not in causes[:first]
            assert causes[first : first + 1] in ([], [fs.Cause.NEXT_PASS])
            found += first < len(causes)
    assert found > 20


# -- each cause, with numbers by hand


def at(until, log, machine, row, **options):
    sim = fs.Simulation(log, machine, **options)
    sim.advance(until=until)
    plain = fs.Simulation(log, machine, engine="reference", **options)
    plain.advance(until=until)
    assert plain.why(row) == sim.why(row)
    return sim.why(row)


def log(*rows, **more):
    """Jobs as (submit, runtime, size)."""
    submit, runtime, size = zip(*rows, strict=True)
    return fs.Workload(submit, runtime, size, **more)


def test_no_room():
    reason = at(3, log((0, 10, 3), (1, 5, 2)), fs.Cluster(4), 1)
    assert reason == fs.Reason(fs.Cause.NO_ROOM, until=10.0, needed=2, free=1)
    assert str(reason) == "no room: needs 2 nodes, 1 is free; room is expected at 10 s"


def test_the_longest_estimate_counts_and_an_overrun_is_expected_to_end_now():
    jobs = log((0, 30, 3), (1, 5, 2), estimate=[20, 5])
    assert at(12, jobs, fs.Cluster(4), 1).until == 20.0
    assert at(25, jobs, fs.Cluster(4), 1).until == 25.0


def test_fragmented():
    jobs = log((0, 10, 1), (0, 90, 1), (0, 10, 1), (0, 90, 1), (1, 5, 2))
    reason = at(12, jobs, fs.Torus(1, 1, 4, wrap=False), 4, scheduler="fcfs")
    assert (reason.cause, reason.needed, reason.free, reason.largest) == (fs.Cause.FRAGMENTED, 2, 2, 1)
    assert reason.until == 90.0


def test_nodes_down():
    failures = fs.FailureTrace([2, 2], [0, 1], [50, 70], span=99)
    jobs = log((0, 10, 1), (3, 5, 3))
    for repairs, until in (("known", 52.0), ("unknown", np.inf)):
        scheduler = fs.EasyBackfill(repairs=repairs)
        reason = at(5, jobs, fs.Cluster(4), 1, scheduler=scheduler, failures=failures, placement=fs.FirstFit())
        assert reason == fs.Reason(fs.Cause.NODES_DOWN, until=until, needed=3, free=reason.free, up=2)
    assert "no release is known to make room" in str(reason)


def test_limit_of_spare_nodes_and_spare_cubes():
    failures = fs.FailureTrace([90], [0], 0, span=99)
    keeps = {"rescheduling": fs.Fars(7, fs.ServiceUnitLoss(), spares=fs.Static(2)), "predictor": fs.Perfect()}
    reason = at(3, log((0, 10, 4), (1, 5, 3)), fs.Cluster(8), 1, failures=failures, **keeps)
    assert reason == fs.Reason(fs.Cause.LIMIT, until=10.0, needed=3, free=2, kept_back=2)
    pod = fs.Pod((1, 1, 3), (2, 2, 2), 1, "ocs", spares=1)
    reason = at(3, log((0, 10, 2), (1, 5, 1)), pod, 1)
    assert reason == fs.Reason(fs.Cause.LIMIT, until=10.0, needed=1, free=1, kept_back=1)


@pytest.mark.parametrize("scheduler", [fs.EasyBackfill, partial(fs.Backfill, 2), fs.ConservativeBackfill])
def test_places_too_large(scheduler):
    """Five nodes are a row, of which none is free; a place of six is."""
    jobs, machine = log((0, 10, 4), (1, 5, 10), (2, 5, 5)), fs.Torus(2, 5, 1, wrap=False)
    reason = at(3, jobs, machine, 2, scheduler=scheduler(max_growth=0))
    assert reason == fs.Reason(fs.Cause.TOO_LARGE, needed=5, largest=5)
    assert at(3, jobs, machine, 2, scheduler=scheduler(max_growth=1)).cause == fs.Cause.RUNNING


def test_behind_the_head_says_why_the_head_waits():
    reason = at(3, log((0, 10, 3), (1, 5, 2), (2, 1, 1), id=[7, 8, 9]), fs.Cluster(4), 2, scheduler="fcfs")
    assert (reason.cause, reason.blocker, reason.blocker_id) == (fs.Cause.BEHIND_HEAD, 1, 8)
    assert reason.because == fs.Reason(fs.Cause.NO_ROOM, until=10.0, needed=2, free=1)
    assert str(reason) == (
        "behind the head: job 8 is first, and waits: no room: needs 2 nodes, 1 is free; room is expected at 10 s"
    )


def test_would_delay_the_head():
    reason = at(3, log((0, 10, 3), (1, 5, 3), (2, 9, 1), (2, 9, 2)), fs.Cluster(5), 3)
    assert reason == fs.Reason(
        fs.Cause.NO_ROOM, until=10.0, needed=2, free=1
    )  # job 2 takes one of the two free nodes, which the head leaves
    reason = at(3, log((0, 10, 3), (1, 5, 4), (2, 9, 2)), fs.Cluster(5), 2)
    assert reason == fs.Reason(fs.Cause.WOULD_DELAY, needed=2, blocker=1, blocker_id=2, begin=10.0, extra=1, ends=12.0)


@pytest.mark.parametrize("scheduler", [fs.EasyBackfill(), fs.Backfill(1), fs.Backfill("unlimited")])
def test_backfill_of_depth_1_gives_the_reasons_of_easy(scheduler):
    reason = at(3, log((0, 10, 3), (1, 5, 4), (2, 9, 2)), fs.Cluster(5), 2, scheduler=scheduler)
    assert (reason.cause, reason.blocker, reason.begin, reason.ends) == (fs.Cause.WOULD_DELAY, 1, 10.0, 12.0)


@pytest.mark.parametrize("scheduler", [fs.Backfill(2), fs.ConservativeBackfill()])
def test_reserved_for_another_job(scheduler):
    jobs = log((0, 10, 3), (1, 10, 3), (2, 10, 4), (3, 30, 1))
    reason = at(3, jobs, fs.Cluster(4), 3, scheduler=scheduler)
    assert (reason.cause, reason.blocker, reason.begin, reason.ends) == (fs.Cause.RESERVED, 2, 20.0, 33.0)
    assert reason.until == (30.0 if isinstance(scheduler, fs.ConservativeBackfill) else None)


def test_outside():
    sim = fs.Simulation(log((0, 10, 3), (1, 5, 1)), fs.Cluster(4), scheduler=fs.External())
    sim.advance().start(0)
    sim.advance(until=3)
    assert sim.why(1) == fs.Reason(fs.Cause.OUTSIDE, needed=1, free=1)
    assert sim.why(0).cause == fs.Cause.RUNNING


def test_held_until_the_repair_that_is_known():
    failures = fs.FailureTrace([2], [0], [50], span=99)
    for repairs, until in (("known", 52.0), ("unknown", np.inf)):
        options = {"scheduler": fs.EasyBackfill(repairs=repairs), "failures": failures, "recovery": fs.Hold()}
        assert at(5, log((0, 10, 2)), fs.Cluster(4), 0, **options) == fs.Reason(fs.Cause.HELD, until=until)


def test_where_a_job_is_that_does_not_wait():
    sim = fs.Simulation(log((0, 10, 1), (7, 1, 1)), fs.Cluster(1), start_delay=2)
    sim.advance(until=1)
    assert sim.why(0) == fs.Reason(fs.Cause.START_DELAY, until=2.0, start=2.0)
    assert sim.why(1) == fs.Reason(fs.Cause.NOT_SUBMITTED, until=7.0)
    sim.advance(until=5)
    assert sim.why(0) == fs.Reason(fs.Cause.RUNNING, until=12.0, start=2.0)
    sim.run()
    assert sim.why(0) == fs.Reason(fs.Cause.ENDED, start=2.0, finish=12.0)


def test_a_caller_that_owns_time_names_jobs_by_their_rows():
    sim = fs.Simulation(log((0, 10, 3)), fs.Cluster(4), live=9)
    sim.submit(log((3, 4, 2), (5, 4, 1), id=[50, 60]))
    sim.submit(log((2, 50, 1), (4, 4, 4), id=[70, 80]))
    sim.advance(until=4)
    assert sim.why(2) == fs.Reason(fs.Cause.NOT_SUBMITTED, until=5.0)
    assert (sim.why(1).cause, sim.why(4).cause) == (fs.Cause.NO_ROOM, fs.Cause.NO_ROOM)
    assert sim.why(3).cause == fs.Cause.RUNNING
    sim.down(3)
    assert sim.why(4).cause == fs.Cause.NODES_DOWN
    with pytest.raises(OptionError, match="row of the log"):
        sim.why(5)


def test_large_machines_agree_with_what_a_decision_may_do():
    """The compiled `Decision.fits` and `may_backfill` on machines whose places the reference cannot list."""
    for machine in (fs.Torus(8, 8, 16), fs.Pod((4, 4, 4), (4, 4, 4), 16), fs.Pod((4, 4, 4), (4, 4, 4), 16, "static")):
        rng = np.random.default_rng(5)
        n = 60
        sizes = rng.integers(1, machine.nodes // 3, n)
        jobs = fs.Workload(np.sort(rng.integers(0, 500, n)), rng.integers(50, 400, n), sizes)
        sim = fs.Simulation(jobs, machine, scheduler=fs.EasyBackfill(max_growth=1))
        seen = set()
        for t in range(100, 900, 100):
            decision = sim.advance(until=t)
            for row in decision.queue.tolist():
                cause = sim.why(row).cause
                seen.add(cause)
                assert (cause in (fs.Cause.NO_ROOM, fs.Cause.FRAGMENTED)) == (not decision.fits(row))
                if cause in (fs.Cause.WOULD_DELAY, fs.Cause.TOO_LARGE):
                    assert not decision.may_backfill(row, max_growth=1)
        assert fs.Cause.NO_ROOM in seen


class Asking(fs.Scheduler):
    """Asks why a job waits in the middle of a pass."""

    def schedule(self, d):
        self.sim.why(0)


def test_a_policy_cannot_ask_in_the_middle_of_a_pass():
    scheduler = Asking()
    scheduler.sim = fs.Simulation(log((0, 10, 1)), fs.Cluster(1), scheduler=scheduler)
    with pytest.raises(fs.BusyError):
        scheduler.sim.run()


class Backwards(fs.QueueOrder):
    """The last job first."""

    def keys(self, queue, now):
        return -np.asarray(queue.index, float)


class Highest(fs.Placement):
    """The last of the free boxes."""

    def choose(self, job, candidates, state):
        return len(candidates) - 1


@pytest.mark.parametrize("scheduler", [fs.Fcfs, fs.EasyBackfill, partial(fs.Backfill, 3), fs.ConservativeBackfill])
def test_own_orders_and_placements(scheduler):
    rng = np.random.default_rng(3)
    jobs = fs.Workload(np.sort(rng.integers(0, 30, 25)), rng.integers(1, 20, 25), rng.integers(1, 9, 25))
    placed = {"placement": Highest()}
    for machine, options in ((fs.Cluster(9), {}), (fs.Torus(3, 3, 1), placed)):
        check_run(fs.Run(jobs, machine, scheduler=scheduler(order=Backwards()), **options))


# -- the objects


def test_a_wrong_row_is_named():
    sim = fs.Simulation(log((0, 10, 1)), fs.Cluster(1))
    for row in (-1, 1, 0.5, "a", None):
        with pytest.raises(OptionError, match="job, a row of the log"):
            sim.why(row)


def test_reasons_and_spans_are_values():
    result = fs.simulate(log((0, 10, 3), (1, 5, 4), (2, 9, 2)), fs.Cluster(5))
    why = result.why(2)
    assert pickle.loads(pickle.dumps(why)) == why == result.why(2)
    assert hash(why) == hash(result.why(2))
    assert why != result.why(1)
    assert why[0].reason.as_dict() == {
        "cause": "would delay the head", "needed": 2, "blocker": 1, "blocker_id": 2, "begin": 10.0, "extra": 1,
        "ends": 11.0,
    }  # fmt: skip
    assert eval(repr(why[0].reason), {"Reason": fs.Reason, "Cause": fs.Cause}) == why[0].reason
    assert [span.begin for span in why] == [2.0, 10.0]
    assert isinstance(why[:1], tuple)


@pytest.mark.parametrize("cause", fs.Cause)
def test_every_cause_has_a_text(cause):
    text = str(fs.Reason(cause, 1.0, 2, 3, 4, 5, 6, 7, 8, 9.0, 10, 11.0, fs.Reason(fs.Cause.NEXT_PASS), 12.0, 13.0))
    assert text.startswith(cause)
    assert "None" not in text
    assert "\n" not in text
