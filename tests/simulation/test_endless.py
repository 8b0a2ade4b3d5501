"""Every run ends, or raises by name after a stated number of decisions without progress (model.md#endless)."""

import math
import signal

import numpy as np
import pytest

import faultsim as fs
from faultsim import checks

LOG = fs.Workload(submit=[0, 1, 2], runtime=[100, 100, 50], size=[2, 4, 2])


@pytest.fixture(params=["core", "reference"])
def engine(request, monkeypatch):
    monkeypatch.setattr(checks, "MOST_FRUITLESS", 2_000)  # policies in Python are slow
    return request.param


class Never(fs.Scheduler):
    """Starts nothing."""

    def schedule(self, decision):
        pass


class Waking(fs.Scheduler):
    """Starts nothing, and requests another pass."""

    def __init__(self, later):
        self.later = later

    def schedule(self, decision):
        decision.wake(self.later(decision.now))


class Greedy(fs.Scheduler):
    """Starts whatever fits."""

    def schedule(self, decision):
        for job in decision.queue.index.tolist():
            if decision.fits(job):
                decision.start(job)


class Ticks(fs.Rescheduling):
    interval = 5.0

    def tick(self, decision):
        pass


class Requeuing(Ticks):
    """Stops each job again and again."""

    def tick(self, decision):
        for row, start in zip(decision.running.index.tolist(), decision.running.start.tolist(), strict=True):
            if start < decision.now:
                decision.requeue(row)


class Moving(Ticks):
    """Moves the first job to and fro."""

    def tick(self, decision):
        if 0 in decision.running.index and decision.now > 0:
            free = np.flatnonzero(~decision.occupancy)
            if len(free) >= 2:
                decision.move(0, nodes=free[:2].tolist(), checkpoint_cost=3.0, restart_cost=3.0)


CASES = {
    "ticks at which nothing is left to come": (Never(), Ticks()),
    "wakes in steps of one second": (Waking(lambda now: now + 1.0), None),
    "wakes in the smallest steps": (Waking(lambda now: math.nextafter(now, math.inf)), None),
    "requeued at each tick": (Greedy(), Requeuing()),
    "moved at each tick": (Greedy(), Moving()),
    "wakes and ticks": (Waking(lambda now: now + 1e9), Ticks()),
}


@pytest.mark.parametrize("case", CASES)
def test_policies_that_come_to_nothing_are_refused(case, engine):
    scheduler, rescheduling = CASES[case]
    with pytest.raises(fs.DecisionError, match=r"no progress: policies have acted or requested a pass 2,000 times"):
        fs.simulate(LOG, fs.Cluster(4), scheduler=scheduler, rescheduling=rescheduling, engine=engine)


def test_limit_is_a_million():
    with pytest.raises(fs.DecisionError, match="requested a pass 1,000,000 times until 5e"):
        fs.simulate(LOG, fs.Cluster(4), scheduler=Never(), rescheduling=Ticks())


def test_progress_sets_the_count_back(engine):
    """A pass every second, more often than the limit in all, with a job that ends now and then."""

    class Polling(Greedy):
        passes = 0

        def schedule(self, decision):
            super().schedule(decision)
            self.passes += 1
            decision.wake(decision.now + 1.0)

    n = 3
    log = fs.Workload(submit=np.arange(n), runtime=[1_200.0] * n, size=[4] * n)
    scheduler = Polling()
    result = fs.simulate(log, fs.Cluster(4), scheduler=scheduler, engine=engine)
    assert result.jobs["finish"].tolist() == [1_200, 2_400, 3_600]
    assert scheduler.passes > 3_000


def test_ticks_without_acts_wait_for_a_long_job(engine):
    log = fs.Workload(submit=[0, 1], runtime=[2e4, 1], size=[4, 4])
    result = fs.simulate(log, fs.Cluster(4), scheduler=Greedy(), rescheduling=Ticks(), engine=engine)
    assert result.jobs["finish"].tolist() == [2e4, 2e4 + 1]


def test_caller_may_wait_for_any_time(monkeypatch):
    monkeypatch.setattr(checks, "MOST_FRUITLESS", 5)
    for engine in ("core", "reference"):
        sim = fs.Simulation(LOG, fs.Cluster(4), scheduler=fs.External(at=("schedule", "tick"), tick=7), engine=engine)
        for _ in range(20):
            decision = sim.advance()
        assert decision.kind == "tick"
        assert decision.now == 16 * 7


def test_live_run_to_a_time_waits_for_its_caller(engine):
    sim = fs.Simulation(LOG, fs.Cluster(4), scheduler=Never(), rescheduling=Ticks(), live=3, engine=engine)
    sim.run(until=2e4)
    assert sim.now <= 2e4
    with pytest.raises(fs.DecisionError, match="no progress"):
        sim.run()


def test_policy_that_is_asked_about_jobs_without_an_end(engine):
    class Asked(fs.Checkpointing):
        interval, cost = 5.0, 1.0

        def wants(self, decision):
            return False

    log = fs.Workload(submit=[0], runtime=[1], estimate=[60], size=[2])
    sim = fs.Simulation(log, fs.Cluster(4), checkpointing=Asked(), live=1, unknown=True, engine=engine)
    with pytest.raises(fs.DecisionError, match=r"without an end|no progress"):
        sim.run()


def test_rollout_from_a_tick_takes_a_pass_at_once():
    sim = fs.Simulation(LOG, fs.Cluster(4), scheduler=fs.External(at=("schedule", "tick"), tick=7))
    decision = sim.advance()
    while decision.now < 20:
        decision = sim.advance()
    assert decision.kind == "tick"
    assert sim.rollout(fs.EasyBackfill()).jobs["start"].tolist() == [21, 121, 21]


# -- arithmetic of checkpoints at late times


@pytest.mark.parametrize("rounds", [1, 3_000, 30_000])
@pytest.mark.parametrize("cost", [0.0, 1e-6, 1.0])
def test_end_of_a_job_with_many_checkpoints_at_a_late_time(rounds, cost):
    """Its checkpoints are more than a double counts in steps of 1."""
    long = 2.0**33
    runtime = np.r_[5.0, np.full(rounds, long)]
    log = fs.Workload(submit=np.zeros(rounds + 1), runtime=runtime, estimate=runtime, size=np.ones(rounds + 1, int))

    class FirstOnly(fs.Checkpointing):
        def intervals(self, jobs):
            return np.where(np.asarray(jobs.estimate) < 100, 1e-6, np.inf)

    FirstOnly.cost = cost
    unknown = np.arange(rounds + 1) == 0
    sim = fs.Simulation(log, fs.Cluster(2), checkpointing=FirstOnly(), live=rounds + 1, unknown=unknown)
    with pytest.raises(fs.DecisionError, match="without an end"):
        sim.run()
    sim.finish(0)
    sim.run()
    jobs = sim.result().jobs
    assert jobs["finish"][0] == rounds * long
    assert jobs["checkpoint_time"][0] == pytest.approx(rounds * long * cost / (1e-6 + cost), rel=1e-6)


def test_requests_inside_a_long_pause_are_skipped_at_once():
    class Asked(fs.Checkpointing):
        interval, cost = 1e-6, 1.0

        def wants(self, decision):
            return False

    log = fs.Workload(submit=[0], runtime=[1e-3], size=[2])
    sim = fs.Simulation(log, fs.Cluster(4), scheduler=fs.External(), checkpointing=Asked())
    sim.advance().start(0, nodes=[0, 1])
    sim.advance(until=5e-4).move(0, nodes=[2, 3], restart_cost=1e9, live=True)
    assert sim.advance().now == pytest.approx(1e9 + 1e-3)


# -- interrupts


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
def test_long_pass_is_interrupted():
    """A plan of 20,000 jobs on a torus takes seconds; without an interrupt in the pass, the simulation could go on."""

    class Interrupted(Exception):
        pass

    def interrupt(number, frame):
        raise Interrupted

    n = 20_000
    rng = np.random.default_rng(0)
    log = fs.Workload(submit=np.zeros(n), runtime=rng.integers(1, 10**5, n), size=rng.integers(1, 64, n))
    sim = fs.Simulation(log, fs.Torus(4, 4, 8), scheduler=fs.ConservativeBackfill())
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Interrupted):
            sim.step()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    with pytest.raises(fs.EngineError, match="broke off a scheduling pass"):
        sim.step()
