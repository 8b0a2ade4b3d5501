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


# -- random runs, with an error at each call of the user's code


class Order(fs.QueueOrder):
    """Larger jobs first."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls

    def keys(self, queue, now):
        self.calls()
        return -np.asarray(queue.size, float)


class Asked(fs.Checkpointing):
    """Jobs save when they have worked for a while."""

    interval, cost = 20.0, 2.0

    def wants(self, decision):
        return decision.asked % 2 == 0


def seen(sim):
    """All that can be read of a simulation without a call of the user's code."""
    partial = sim.result(partial=True)
    jobs = {
        name: np.array(partial.jobs[name]).tolist() for name in ("start", "finish", "restarts", "lost_work", "moves")
    }
    engine = sim._execution.engine
    return repr((sim.now, sim.free, sim.running.tolist(), engine.n_events, jobs, sorted(partial.ledger.items())))


class Driver:
    """Decides at random, but the same at each decision of a run, and repeats what the user's code has broken off."""

    def __init__(self, sim, seed: int) -> None:
        self.sim, self.seed, self.n, self.refused = sim, seed, 0, 0

    def whole(self, act, *arguments, repeat: bool = True, **options):
        before = seen(self.sim)
        try:
            return act(*arguments, **options)
        except Refused:
            self.refused += 1
            self.sim.verify()
            if not repeat:
                return None
            assert seen(self.sim) == before
            return act(*arguments, **options)

    def advance(self):
        try:
            return self.sim.advance()
        except Refused:
            self.refused += 1
            self.sim.verify()
            return self.sim.advance()

    def run(self):
        while (decision := self.advance()) is not None:
            self.n += 1
            rng = np.random.default_rng([self.seed, self.n])
            getattr(self, decision.kind)(decision, rng)
        return self.sim.result()

    def schedule(self, decision, rng):
        waiting = self.whole(lambda: decision.queue.index.tolist())
        for job in rng.permutation(waiting).tolist():
            if decision.fits(job):
                self.whole(decision.start, job)

    def failure(self, decision, rng):
        if rng.random() < 0.6:
            self.stop(decision, decision.job)

    def tick(self, decision, rng):
        running = decision.running.index.tolist()
        if running and rng.random() < 0.3:
            self.stop(decision, int(rng.choice(running)))

    def stop(self, decision, job):
        """A requeue happens whatever the order does."""
        try:
            self.whole(decision.requeue, job, repeat=False)
        except fs.DecisionError:  # it ends now
            return


@pytest.mark.parametrize("machine", [fs.Cluster(6), fs.Torus(2, 2, 2)], ids=["cluster", "torus"])
@pytest.mark.parametrize("seed", range(3))
def test_error_at_any_call_of_the_users_code_leaves_the_simulation_as_it_was(machine, seed):
    rng = np.random.default_rng(seed)
    n = 8
    log = fs.Workload(
        submit=np.sort(rng.integers(0, 60, n)), runtime=rng.integers(5, 60, n), size=rng.integers(1, 5, n)
    )
    failures = fs.FailureTrace(np.sort(rng.uniform(0, 150, 6)), rng.integers(0, 6, 6), rng.uniform(1, 9, 6))

    def run(at):
        calls = Calls(at)
        sim = fs.Simulation(
            log,
            machine,
            scheduler=fs.External(order=Order(calls), at=("schedule", "failure", "tick"), tick=13.0),
            placement=Nodes(calls),
            checkpointing=Asked(),
            failures=failures,
        )
        driver = Driver(sim, seed)
        return driver.run(), calls.n, driver.refused

    whole, n_calls, none = run(-1)
    assert none == 0
    for at in range(1, n_calls + 1):
        result, _, refused = run(at)
        assert refused == 1
        for name in ("start", "finish", "restarts", "lost_work"):
            np.testing.assert_array_equal(result.jobs[name], whole.jobs[name])
        assert result.ledger == whole.ledger


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize(("repairs", "end"), [("known", 61.0), ("unknown", np.inf)])
def test_a_held_job_shows_its_new_end_at_the_next_failure_of_the_instant(engine, repairs, end):
    log = fs.Workload(submit=[0, 0], runtime=[30, 30], size=[1, 1], estimate=[30, 30])
    trace = fs.FailureTrace([10, 10], [0, 1], [20, 20])
    asked = fs.External(at=["schedule", "failure"], repairs=repairs)
    sim = fs.Simulation(
        log, fs.Cluster(2), engine=engine, failures=trace, recovery=fs.Hold(restart_cost=1), scheduler=asked
    )
    first = sim.advance()
    for job in first.queue.tolist():
        first.start(job)
    seen = []
    while (decision := sim.advance()) is not None and decision.kind == "failure":
        seen.append(decision.running.expected_end.tolist())
    assert seen == [[30.0, 30.0], [end, 30.0]]
