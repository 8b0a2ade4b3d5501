"""An act happens wholly or not at all, whatever code of the user's raises inside it (model.md#acts)."""

import numpy as np
import pytest

import faultsim as fs


class Refused(Exception):
    """Raised by code of the user's."""


class Calls:
    """Counts calls of code of the user's, and raises at one of them."""

    def __init__(self, at: int = -1) -> None:
        self.n, self.at = 0, at

    def __call__(self) -> None:
        self.n += 1
        if self.n == self.at:
            raise Refused


class Nodes(fs.Placement):
    """The last free nodes."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls

    def choose_nodes(self, job, free, state):
        self.calls()
        return free[-job.size :]

    def choose(self, job, boxes, state):
        self.calls()
        return len(boxes) - 1


@pytest.mark.parametrize("machine", [fs.Cluster(6), fs.Torus(2, 2, 2)], ids=["cluster", "torus"])
@pytest.mark.parametrize("seed", range(2))
def test_start_that_a_placement_broke_off_changes_nothing(machine, seed):
    rng = np.random.default_rng(seed)
    log = fs.Workload(submit=np.zeros(8), runtime=rng.integers(1, 30, 8), size=rng.integers(1, 5, 8))

    def run(at):
        calls, refused = Calls(at), 0
        sim = fs.Simulation(log, machine, scheduler=fs.External(), placement=Nodes(calls), record=True)
        while (decision := sim.advance()) is not None:
            for job in decision.queue.index.tolist():
                for _ in range(2):
                    if not decision.fits(job):
                        break
                    try:
                        decision.start(job)
                        break
                    except Refused:
                        refused += 1
                        sim.verify()
        return sim.result().jobs, calls.n, refused

    whole, n, none = run(-1)
    assert none == 0
    assert n >= 8
    for at in range(1, n + 1):
        jobs, calls, refused = run(at)
        assert (calls, refused) == (n + 1, 1)
        for name in ("start", "finish"):
            np.testing.assert_array_equal(jobs[name], whole[name])


class Raising(fs.Scheduler):
    """Starts all that fits, and goes on where the placement raises."""

    def schedule(self, decision):
        for job in decision.queue.index.tolist():
            for _ in range(2):
                if decision.fits(job):
                    try:
                        decision.start(job)
                        break
                    except (Refused, fs.FaultsimError):
                        pass


@pytest.mark.parametrize("at", range(1, 7))
def test_scheduler_that_catches_the_error_of_a_placement_loses_no_job(at):
    log = fs.Workload(submit=[0, 0, 1, 2, 3, 4], runtime=[5, 6, 7, 8, 9, 3], size=[2, 1, 3, 2, 1, 4])
    result = fs.simulate(log, fs.Cluster(4), scheduler=Raising(), placement=Nodes(Calls(at)))
    assert np.isfinite(result.jobs["finish"]).all()


def test_wrong_answer_of_a_placement_loses_no_job():
    class Wrong(Nodes):
        def choose_nodes(self, job, free, state):
            self.calls.n += 1
            return [99] * job.size if self.calls.n == 2 else free[: job.size]

    log = fs.Workload(submit=[0, 0, 1], runtime=[5, 6, 7], size=[2, 1, 3])
    result = fs.simulate(log, fs.Cluster(4), scheduler=Raising(), placement=Wrong(Calls()))
    assert result.jobs["start"].tolist() == [0, 0, 5]


def test_requeue_is_whole_where_an_order_raises():
    class Once(fs.QueueOrder):
        broken = False

        def keys(self, queue, now):
            if self.broken:
                raise Refused
            return -np.asarray(queue.size, float)

    order = Once()
    log = fs.Workload(submit=[0, 1, 2], runtime=[10, 10, 10], size=[1, 4, 2])
    sim = fs.Simulation(log, fs.Cluster(4), scheduler=fs.External(order=order))
    sim.advance().start(0)
    decision = sim.advance()
    order.broken = True
    with pytest.raises(Refused):
        decision.requeue(0)
    with pytest.raises(Refused):
        decision.queue  # noqa: B018
    order.broken = False
    assert decision.queue.index.tolist() == [1, 0]
    sim.verify()
    decision.start(1)
    sim.verify()


# -- runs that would never end


def test_rollout_from_a_tick_takes_a_pass_at_once():
    log = fs.Workload(submit=[0, 1, 2], runtime=[100, 100, 50], size=[2, 4, 2])
    sim = fs.Simulation(log, fs.Cluster(4), scheduler=fs.External(at=("schedule", "tick"), tick=7))
    decision = sim.advance()
    while decision.now < 20:
        decision = sim.advance()
    assert decision.kind == "tick"
    assert sim.rollout(fs.EasyBackfill()).jobs["start"].tolist() == [21, 121, 21]


def test_ticks_without_end_are_a_deadlock():
    class Idle(fs.Rescheduling):
        interval = 5.0

        def tick(self, decision):
            pass

    class Never(fs.Scheduler):
        def schedule(self, decision):
            pass

    log = fs.Workload(submit=[0, 1], runtime=[100, 100], size=[2, 4])
    with pytest.raises(fs.DecisionError, match="deadlock: 2 jobs wait"):
        fs.simulate(log, fs.Cluster(4), scheduler=Never(), rescheduling=Idle())
