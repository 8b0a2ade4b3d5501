"""True run times reach no policy in Python that is not declared an oracle (model.md#oracle), in either engine."""

import ctypes

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import OptionError

LOG = fs.Workload(submit=[0, 0, 0, 3], runtime=[100, 50, 30, 50], size=[2, 2, 2, 2], estimate=[200] * 4)
FAILURES = fs.FailureTrace([20, 31], [0, 1], 5, span=1000)
HIDDEN = "runtime is the true run time, which no scheduler has: use estimate, .* oracle_runtimes = True"
ENGINES = pytest.mark.parametrize("engine", ["core", "reference"])


class Order(fs.QueueOrder):
    def keys(self, queue, now):
        return queue.runtime


class Passes(fs.Scheduler):
    def schedule(self, decision):
        rows = np.array(decision.queue.tolist())
        for job in rows[np.argsort(decision.queue.runtime, kind="stable")].tolist():
            if decision.fits(job):
                decision.start(job)


class Reaction(fs.Recovery):
    def react(self, decision):
        row = decision.running.index.tolist().index(decision.job)
        if decision.running.runtime[row] > 60:
            decision.hold(decision.job)


class Plan(fs.Checkpointing):
    cost = 1.0

    def intervals(self, jobs):
        return jobs.runtime / 2


class Wish(fs.Checkpointing):
    interval, cost = 10.0, 1.0

    def wants(self, decision):
        row = decision.running.index.tolist().index(decision.job)
        return bool(decision.running.runtime[row] > 60)


class Ticks(fs.Rescheduling):
    interval = 10.0

    def tick(self, decision):
        running = decision.running
        for job, left in zip(running, (running.runtime - running.progress).tolist(), strict=True):
            if left > 80 and decision.now == 10:
                decision.requeue(job)


class Nodes(fs.Placement):
    def choose_nodes(self, job, free, state):
        return free[: job.size] if job.runtime > 40 else free[-job.size :]


class Boxes(fs.Placement):
    def choose(self, job, candidates, state):
        return int(job.runtime) % len(candidates)


CASES = {
    "order": (Order, lambda policy: {"scheduler": fs.Fcfs(order=policy)}),
    "scheduler": (Passes, lambda policy: {"scheduler": policy}),
    "recovery": (Reaction, lambda policy: {"recovery": policy, "failures": FAILURES}),
    "checkpointing": (Plan, lambda policy: {"checkpointing": policy, "failures": FAILURES}),
    "wants": (Wish, lambda policy: {"checkpointing": policy, "failures": FAILURES}),
    "rescheduling": (Ticks, lambda policy: {"rescheduling": policy}),
    "placement": (Nodes, lambda policy: {"placement": policy, "record": True}),
    "boxes": (Boxes, lambda policy: {"placement": policy, "machine": fs.Torus(2, 2, 1), "record": True}),
}


def run(case, engine, **attributes):
    base, options = CASES[case]
    policy = type(base.__name__, (base,), attributes)()
    return fs.simulate(**{"log": LOG, "machine": fs.Cluster(4), **options(policy), "engine": engine})


@ENGINES
@pytest.mark.parametrize("case", CASES)
def test_reading_a_run_time_is_refused(case, engine):
    with pytest.raises(OptionError, match=HIDDEN):
        run(case, engine)


@pytest.mark.parametrize("case", CASES)
def test_an_oracle_reads_the_same_in_both_engines(case):
    core, reference = (run(case, engine, oracle_runtimes=True) for engine in ("core", "reference"))
    for name in ("start", "finish", "checkpoint_time", "restarts"):
        assert core.jobs[name].tolist() == reference.jobs[name].tolist(), name
    assert [text for text in core.warnings if "read" in text and "true run times (oracle_runtimes)" in text]


def test_an_oracle_orders_by_true_run_times():
    assert run("order", "core", oracle_runtimes=True).jobs["start"].tolist() == [50, 0, 0, 30]
    assert run("scheduler", "core", oracle_runtimes=True).jobs["start"].tolist() == [50, 0, 0, 30]


@ENGINES
def test_decisions_of_the_caller(engine):
    def sim(scheduler, **options):
        return fs.Simulation(LOG, fs.Cluster(4), scheduler=scheduler, engine=engine, **options)

    with pytest.raises(OptionError, match=HIDDEN):
        _ = sim(fs.External()).advance().queue.runtime
    with pytest.raises(OptionError, match=HIDDEN):
        _ = sim(fs.Fcfs()).advance(until=5).running.runtime
    for found in (sim(fs.External(oracle_runtimes=True)), sim(fs.External(), oracle_runtimes=True)):
        decision = found.advance()
        assert decision.queue.runtime.tolist() == [100, 50, 30]
    assert sim(fs.Fcfs(), oracle_runtimes=True).advance(until=5).running.runtime.tolist() == [100, 50]
    at = fs.External(at=("schedule", "failure"), oracle_runtimes=True)
    asked = sim(at, failures=FAILURES)
    asked.advance().start(0)
    while (decision := asked.advance()).kind != "failure":
        pass
    assert decision.running.runtime.tolist() == [100]


@ENGINES
def test_a_caller_that_owns_time(engine):
    def sim(**options):
        return fs.Simulation(LOG, fs.Cluster(4), live=9, unknown=[True, False, False, False], engine=engine, **options)

    with pytest.raises(OptionError, match=HIDDEN):
        _ = sim().advance(until=5).running.runtime
    told = sim(oracle_runtimes=True)
    told.advance(until=5)
    told.extend(1, 7)
    assert told.advance(until=6).running.runtime.tolist() == [np.inf, 57]


@ENGINES
def test_an_oracle_of_one_kind_does_not_open_the_others(engine):
    order = type("Known", (Order,), {"oracle_runtimes": True})()
    passes = Passes()
    passes.order = order
    with pytest.raises(OptionError, match=HIDDEN):  # by the scheduler, after its order has read them
        fs.simulate(LOG, fs.Cluster(4), scheduler=passes, engine=engine)
    oracle = type("Knows", (Passes,), {"oracle_runtimes": True})()
    decision = fs.Simulation(LOG, fs.Cluster(4), scheduler=oracle, engine=engine).advance(until=5)
    with pytest.raises(OptionError, match=HIDDEN):  # the caller is not the policy
        _ = decision.queue.runtime


def test_pickles_and_copies_keep_what_a_caller_may_read():
    import pickle

    sim = fs.Simulation(LOG, fs.Cluster(4), scheduler=fs.External(), oracle_runtimes=True)
    sim.advance().start(0)
    for other in (pickle.loads(pickle.dumps(sim)), sim.copy()):
        assert other.decision.running.runtime.tolist() == [100]
    sim = fs.Simulation(LOG, fs.Cluster(4), scheduler=fs.External())
    sim.advance().start(0)
    for other in (pickle.loads(pickle.dumps(sim)), sim.copy()):
        with pytest.raises(OptionError, match=HIDDEN):
            _ = other.decision.running.runtime


def test_a_rollout_obeys_the_order_of_the_scheduler_that_takes_over():
    sim = fs.Simulation(LOG, fs.Cluster(4), scheduler=fs.External(), oracle_runtimes=True)
    sim.advance()
    with pytest.raises(OptionError, match=HIDDEN):
        sim.rollout(fs.Fcfs(order=Order()))
    oracle = type("Known", (Order,), {"oracle_runtimes": True})()
    assert sim.rollout(fs.Fcfs(order=oracle)).jobs["start"].tolist() == [50, 0, 0, 30]


def test_columns_given_before_the_run_have_no_run_times():
    seen = []

    class Nosy(fs.QueueOrder):
        def check_columns(self, columns):
            seen.append(sorted(columns))

        def keys(self, queue, now):
            with pytest.raises(AttributeError, match="jobs have no 'finish'"):
                _ = queue.finish
            return queue.priority

    log = LOG.with_columns(priority=[3, 2, 1, 0])
    fs.simulate(log, fs.Cluster(4), scheduler=fs.Fcfs(order=Nosy()))
    assert seen
    assert all("priority" in names and "runtime" not in names for names in seen)


def test_what_a_checkpoint_rule_sees():
    seen = []

    class Look(fs.Checkpointing):
        cost = 1.0

        def intervals(self, jobs):
            seen.append(jobs)
            return np.full(len(jobs), 50.0)

    log = fs.Workload(submit=[0, 1], runtime=[77, 88], size=[1, 2], estimate=[100, 200], columns={"queue": ["a", "b"]})
    fs.simulate(log, fs.Cluster(4), checkpointing=Look(), estimates="requested")
    for jobs in seen:
        assert jobs.estimate.tolist() == [100, 200]
        assert jobs.size.tolist() == [1, 2]
        assert jobs.queue.tolist() == ["a", "b"]
        assert "77" not in repr(jobs)
        assert not hasattr(jobs, "columns")
        with pytest.raises(ValueError, match="read-only"):
            jobs.estimate[0] = 1.0


def test_where_an_oracle_would_have_no_effect_it_is_refused():
    class Seer(fs.Predictor):
        oracle_runtimes = True

        def predict(self, trace, machine, rng):
            return {"node": [], "time": []}

    class Word(Order):
        oracle_runtimes = "yes"

    options = {"failures": FAILURES, "predictor": Seer(), "placement": fs.SafestFirst()}
    with pytest.raises(OptionError, match="oracle_runtimes of Seer has no effect"):
        fs.simulate(LOG, fs.Cluster(4), **options)
    with pytest.raises(OptionError, match="oracle_runtimes of Word must be True or False, got 'yes'"):
        fs.simulate(LOG, fs.Cluster(4), scheduler=fs.Fcfs(order=Word()))
    doubles = ctypes.POINTER(ctypes.c_double)
    kind = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[doubles] * 3, ctypes.c_double, doubles, ctypes.c_void_p)

    class Compiled(fs.CompiledOrder):
        oracle_runtimes = True

    with pytest.raises(OptionError, match="oracle_runtimes of Compiled has no effect: it receives no run times"):
        fs.simulate(LOG, fs.Cluster(4), scheduler=fs.Fcfs(order=Compiled(kind(lambda *_: None))))
    with pytest.raises(OptionError, match="oracle_runtimes of External must be True or False"):
        fs.External(oracle_runtimes=1)
    with pytest.raises(OptionError, match="oracle_runtimes must be True or False"):
        fs.Simulation(LOG, fs.Cluster(4), oracle_runtimes="yes")
