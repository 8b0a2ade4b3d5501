"""Decisions from outside (model.md#decisions): the built-in schedulers, decided by the caller and by a `Scheduler`."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import faultsim as fs
from helpers.deciders import assert_same, decider_of, easy, inside, outside
from helpers.engines import head_of
from helpers.runs import runs

LOG = fs.Workload(submit=[0, 1, 2, 3], runtime=[10, 10, 5, 4], size=[2, 4, 2, 1], estimate=[12, 10, 5, 9])


@st.composite
def decided_runs(draw, kind, **options):
    """Runs that a caller can decide: nothing that a scheduler promises to others is asked for."""
    run = draw(runs(**({"torus": False} if kind is fs.ConservativeBackfill else options)))
    scheduler = kind(order=draw(st.sampled_from(["arrival", "shortest", "largest", "wfp3"])))
    if kind is not fs.Fcfs and draw(st.booleans()):
        scheduler = replace(scheduler, repairs="unknown")
    migration = None if isinstance(run.migration, fs.Defragment) else run.migration
    return run.with_options(scheduler=scheduler, migration=migration, rescheduling=None, record=True)


def check_decided(run, engine, verify=False):
    expected = run.simulate(engine=engine)
    assert_same(outside(run, decider_of(run), engine, verify), expected)
    if getattr(run.scheduler, "repairs", "known") == "known":
        assert_same(inside(run, decider_of(run), engine, verify), expected)


SCHEDULERS = [fs.Fcfs, fs.EasyBackfill, fs.ConservativeBackfill]


@pytest.mark.parametrize("kind", SCHEDULERS)
@given(st.data())
def test_built_in_schedulers_decided_from_outside_give_the_same_bytes(kind, data):
    check_decided(data.draw(decided_runs(kind)), "core", verify=True)


@pytest.mark.parametrize("kind", SCHEDULERS)
@given(st.data())
def test_the_reference_engine_decides_the_same(kind, data):
    check_decided(data.draw(decided_runs(kind)), "reference")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize(
    ("kind", "options"), [*((kind, {}) for kind in SCHEDULERS), (fs.EasyBackfill, {"torus": True, "failing": True})]
)
def test_thousands_of_random_runs_decided_from_outside(kind, options, engine):
    @given(decided_runs(kind, **options))
    @settings(max_examples=1000)
    def check(run):
        check_decided(run, engine, verify=True)

    check()


@pytest.mark.parametrize("kind", SCHEDULERS)
def test_a_real_log_decided_from_outside(kind, data_dir):
    run = fs.Run(head_of(data_dir, "SDSC-SP2-1998-4.2-cln", 2000), fs.Cluster(128), scheduler=kind(), record=True)
    expected = run.simulate()
    assert_same(outside(run, decider_of(run)), expected)
    assert_same(inside(run, decider_of(run)), expected)


# -- what can be seen


def simulation(**options):
    return fs.Simulation(LOG, fs.Cluster(4), scheduler=fs.External(), **options)


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_columns_of_queue_and_machine(engine):
    sim = simulation(engine=engine)
    sim.advance().start(0, nodes=[1, 3])
    d = sim.advance()
    assert (d.kind, d.now, d.free, d.queue.tolist(), len(d.queue)) == ("schedule", 1.0, 2, [1], 1)
    assert d.occupancy.tolist() == [False, True, False, True]
    running = d.running
    assert (running.index.tolist(), running.size.tolist(), running.start.tolist()) == ([0], [2], [0.0])
    assert (running.expected_end.tolist(), running.progress.tolist(), running.saved.tolist()) == ([12.0], [1.0], [0.0])
    assert [nodes.tolist() for nodes in running.where] == [[1, 3]]
    d = sim.advance()
    queue = d.queue
    assert (queue.index.tolist(), queue.submit.tolist(), queue.wait.tolist()) == ([1, 2], [1.0, 2.0], [1.0, 0.0])
    assert (queue.estimate.tolist(), queue.size.tolist(), queue.fits.tolist()) == ([10.0, 5.0], [4, 2], [False, True])
    assert (queue.restarts.tolist(), queue.saved.tolist(), queue.id.tolist()) == ([0, 0], [0.0, 0.0], [2, 3])
    assert d.shadow(1) == (12.0, 0)
    assert (d.expected_end(2), d.expected_end(2, at=12), d.disturbed) == (7.0, 17.0, False)
    assert (d.may_backfill(2), d.backfill(2), d.queue.tolist()) == (True, True, [1])
    with pytest.raises(AttributeError, match="no 'colour'"):
        _ = queue.colour


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_boxes_of_a_torus(engine):
    sim = fs.Simulation(LOG, fs.Torus(2, 2, 1), scheduler=fs.External(), engine=engine)
    d = sim.advance()
    assert d.boxes(0).tolist() == [[0, 0, 0, 2, 1, 1], [0, 1, 0, 2, 1, 1], [0, 0, 0, 1, 2, 1], [1, 0, 0, 1, 2, 1]]
    assert d.boxes(0, 3).shape == (0, 6)
    d.start(0, box=(1, 0, 0, 1, 2, 1))
    assert d.occupancy[:, :, 0].tolist() == [[False, False], [True, True]]
    assert d.running.where == [(1, 0, 0, 1, 2, 1)]


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_what_is_foreseen_and_what_is_down(engine):
    failures = fs.FailureTrace([1, 20], [3, 0], [5, 5], span=60, coin=[0.1, 0.1])
    sim = simulation(engine=engine, failures=failures, predictor=fs.Confidence(0.4))
    d = sim.advance()
    assert d.foreseen(19).tolist() == [(3, 1.0, 1.0, 0.4)]
    assert d.foreseen(20).tolist() == [(3, 1.0, 1.0, 0.4), (0, 20.0, 20.0, 0.4)]
    d = sim.advance()
    assert (d.down.tolist(), d.repairs.tolist(), d.free, d.disturbed) == ([3], [6.0], 3, True)
    assert d.shadow(1) == (6.0, 0)


def test_a_dropped_job_keeps_its_row():
    log = fs.Workload(submit=[0, 1, 2], runtime=[5, 5, 5], size=[2, 9, 3])
    sim = fs.Simulation(log, fs.Cluster(4), scheduler=fs.External(), oversized="drop")
    d = sim.advance()
    d.start(0)
    d = sim.advance()
    assert (d.queue.tolist(), d.queue.index.tolist(), d.queue.id.tolist()) == ([2], [2], [3])
    with pytest.raises(fs.DecisionError, match="job 1 was dropped"):
        d.start(1)


# -- what can be done, and what cannot


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda d: d.start(1), "job 1 cannot start: it needs 4 nodes and 2 are free"),
        (lambda d: d.start(0), "job 0 is not waiting: it is running"),
        (lambda d: d.start(3), "job 3 is not waiting: it has not arrived yet"),
        (lambda d: d.start(7), "there is no job 7"),
        (lambda d: d.start(2, nodes=[0, 1]), "node 0 is not free"),
        (lambda d: d.start(2, nodes=[2]), "job 2 asks for 2 nodes, got 1"),
        (lambda d: d.start(2, nodes=[2, 2]), "nodes of job 2 are named twice"),
        (lambda d: d.start(2, nodes=[2, 4]), "there is no node 4: nodes are 0 to 3"),
        (lambda d: d.start(2, nodes=[2**32 + 2, 3]), "there is no node"),
        (lambda d: d.start(2, nodes="ab"), "nodes of job 2 must be whole numbers, got 'ab'"),
        (lambda d: d.start(2, nodes=[2.0, 3.0]), "nodes of job 2 must be whole numbers"),
        (lambda d: d.start(2, box=(0, 0, 0, 1, 1, 1)), "jobs on a cluster take nodes"),
        (lambda d: d.boxes(2), "a cluster has no boxes"),
        (lambda d: d.backfill(2, head=2), "job 2 cannot be backfilled ahead of itself"),
        (lambda d: d.requeue(2), "job 2 cannot be requeued: it is waiting"),
        (lambda d: d.wake(1), r"wake\(1\): the time must be later than now"),
        (lambda d: d.wake(float("nan")), "wake"),
    ],
)
def test_illegal_acts_are_refused_by_name_and_change_nothing(engine, act, words):
    sim = simulation(engine=engine)
    sim.advance().start(0)
    sim.advance()
    d = sim.advance()
    with pytest.raises(fs.DecisionError, match=words):
        act(d)
    easy(d)
    while (d := sim.advance()) is not None:
        easy(d)
    assert sim.result().jobs["start"].tolist() == fs.simulate(LOG, fs.Cluster(4)).jobs["start"].tolist()


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_pass_that_was_ended_is_over(engine):
    sim = simulation(engine=engine)
    d = sim.advance()
    d.finish()
    for act in (lambda: d.start(0), lambda: d.wake(9.0), d.finish):
        with pytest.raises(fs.DecisionError, match=r"this decision \(at 0 s\) is over"):
            act()


@pytest.mark.parametrize(
    ("box", "words"),
    [
        ((0, 0, 0, 2, 2), "six numbers"),
        ((0, 0, 0, 3, 1, 1), "is no box of this machine"),
        ((1, 0, 0, 2, 1, 1), "is no box of this machine"),
        ((0, 0, 0, 1, 1, 1), "job 2 asks for 2 nodes, and the box has 1"),
        ((0, 0, 0, 2, 1, 1), "is not free"),
    ],
)
@pytest.mark.parametrize("engine", ["core", "reference"])
def test_boxes_that_cannot_be_taken(engine, box, words):
    sim = fs.Simulation(LOG, fs.Torus(2, 2, 1), scheduler=fs.External(), engine=engine)
    sim.advance().start(0, box=(0, 0, 0, 2, 1, 1))
    sim.advance()
    d = sim.advance()
    with pytest.raises(fs.DecisionError, match=words):
        d.start(2, box=box)
    with pytest.raises(fs.DecisionError, match="jobs on a torus take boxes"):
        d.start(2, nodes=[2, 3])
    d.start(2, box=(0, 1, 0, 2, 1, 1))


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_decision_is_over_when_the_simulation_goes_on(engine):
    sim = simulation(engine=engine)
    first = sim.advance()
    queue = first.queue
    column = queue.index
    sim.advance()
    for use in (lambda: first.start(0), lambda: first.queue, lambda: queue.index, lambda: first.free):
        with pytest.raises(fs.DecisionError, match=r"this decision \(at 0 s\) is over"):
            use()
    assert column.tolist() == [0]


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_deadlock_is_named_and_can_be_resolved(engine):
    sim = simulation(engine=engine)
    d = sim.advance()
    while len(d.queue) < len(LOG):
        d = sim.advance()
    with pytest.raises(fs.DecisionError, match=r"deadlock: .* wait"):
        sim.advance()
    while d is not None:
        easy(d)
        d = sim.advance()
    assert sim.done


def test_a_scheduler_that_starts_nobody_is_told():
    class Never(fs.Scheduler):
        def schedule(self, decision):
            pass

    for engine in ("core", "reference"):
        with pytest.raises(fs.DecisionError, match="deadlock: 4 jobs wait"):
            fs.simulate(LOG, fs.Cluster(4), scheduler=Never(), engine=engine)
    with pytest.raises(fs.OptionError, match=r"Bare must define schedule\(self, decision\)"):
        fs.simulate(LOG, fs.Cluster(4), scheduler=type("Bare", (fs.Scheduler,), {})())


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_requeue_and_wake(engine):
    sim = simulation(engine=engine)
    d = sim.advance()
    d.start(0)
    d.wake(0.5)
    d = sim.advance()
    assert (d.now, len(d.queue)) == (0.5, 0)
    d.requeue(0)
    assert (d.queue.tolist(), d.queue.restarts.tolist(), d.free) == ([0], [1], 4)
    easy(d)
    while (d := sim.advance()) is not None:
        easy(d)
    result = sim.result()
    assert result.jobs["restarts"].tolist() == [1, 0, 0, 0]
    assert result.jobs["lost_work"].tolist() == [1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_time_can_be_stopped_between_events(engine):
    sim = fs.Simulation(LOG, fs.Cluster(4), scheduler=fs.External(), engine=engine)
    sim.advance()
    d = sim.advance(until=0.5)
    assert (d.kind, d.now, d.queue.tolist()) == ("time", 0.5, [0])
    d.start(0)
    with pytest.raises(fs.DecisionError, match=r"it is 0\.5 s already"):
        sim.advance(until=0.1)
    while (d := sim.advance()) is not None:
        easy(d)
    assert sim.result().jobs["start"][0] == 0.5
    sim.verify()


def test_copies_are_independent():
    sim = simulation()
    d = sim.advance()
    for fork in (sim.copy(), copy.copy(sim), copy.deepcopy(sim)):
        other = fork.decision
        other.start(0)
        assert (other.free, d.free) == (2, 4)
    d.start(0)
    assert sim.decision.queue.tolist() == []


def test_what_was_decided_from_outside_is_not_repeated():
    sim = fs.Simulation(LOG, fs.Cluster(4), scheduler=fs.External())
    while (d := sim.advance()) is not None:
        easy(d)
    with pytest.raises(fs.OptionError, match="decided from outside, which is not saved"):
        fs.rerun(sim.result())
    assert_same(fs.rerun(sim.result(), scheduler=fs.EasyBackfill()), sim.result())


def test_nobody_else_decides():
    with pytest.raises(fs.OptionError, match=r"External\(\) leaves every decision to the caller"):
        fs.simulate(LOG, fs.Cluster(4), scheduler=fs.External())
    sim = fs.Simulation(LOG, fs.Cluster(4))
    assert sim.advance(until=1).queue.tolist() == [1]
    assert sim.decision.kind == "time"
    assert fs.Simulation(LOG, fs.Cluster(4)).decision is None
    d = sim.advance(until=13)
    with pytest.raises(fs.DecisionError, match=r"the scheduler of this simulation \(easy\) decides"):
        d.requeue(1)
    with pytest.raises(fs.DecisionError, match=r"comes from Simulation\.advance"):
        fs.Decision()


def test_an_error_in_a_scheduler_comes_out():
    class Broken(fs.Scheduler):
        def schedule(self, decision):
            decision.start(0)
            raise ZeroDivisionError("mine")

    for engine in ("core", "reference"):
        with pytest.raises(ZeroDivisionError, match="mine"):
            fs.simulate(LOG, fs.Cluster(4), scheduler=Broken(), engine=engine)


# -- what broke once


def test_a_run_that_counts_nodes_does_not_say_which():
    d = fs.Simulation(LOG, fs.Cluster(4)).advance(until=1)
    assert (d.running.progress.tolist(), d.running.saved.tolist(), d.down.tolist()) == ([1.0], [0.0], [])
    for look in (lambda: d.occupancy, lambda: d.running.where):
        with pytest.raises(fs.DecisionError, match="only counts its nodes"):
            look()


def test_decisions_and_columns_come_from_a_simulation():
    d = simulation().advance()
    empty = fs.Decision.__new__(fs.Decision)
    assert "over" in repr(empty)
    with pytest.raises(fs.DecisionError, match=r"comes from Simulation\.advance"):
        _ = empty.free
    for columns in (d.queue, d.running):
        with pytest.raises(TypeError):
            type(columns).__new__(type(columns))


def test_what_is_given_may_run_code_of_its_own():
    class Sly:
        def __init__(self, act):
            self.act = act

        def __array__(self, *_, **__):
            self.act()
            return np.array([2, 3])

    sim = simulation()
    d = sim.advance()
    with pytest.raises(fs.DecisionError, match="job 0 is not waiting: it is running"):
        d.start(0, nodes=Sly(lambda: d.start(0)))
    with pytest.raises(fs.DecisionError, match="is over"):
        d.start(0, nodes=Sly(sim.advance))
    sim.verify()


@pytest.mark.parametrize("act", [lambda sim, d: d.start(1), lambda sim, d: sim.advance(), lambda sim, d: sim.copy()])
def test_a_policy_that_is_asked_cannot_act(act):
    class Order(fs.QueueOrder):
        def keys(self, queue, now):
            if acts:
                acts.pop()(sim, d)
            return queue.submit

    acts = []
    sim = fs.Simulation(LOG, fs.Cluster(4), scheduler=fs.External(order=Order()))
    sim.advance().start(0)
    d = sim.advance()
    acts.append(act)
    with pytest.raises((fs.DecisionError, fs.BusyError), match="in the middle of"):
        d.requeue(0)
    sim.verify()


def test_a_scheduler_that_failed_has_nothing_more_to_decide():
    class Broken(fs.Scheduler):
        def schedule(self, decision):
            self.kept = decision
            raise KeyboardInterrupt

    scheduler = Broken()
    sim = fs.Simulation(LOG, fs.Cluster(4), scheduler=scheduler)
    with pytest.raises(KeyboardInterrupt):
        sim.run()
    with pytest.raises(fs.DecisionError, match="is over"):
        scheduler.kept.start(0)
    sim.verify()


def test_time_goes_on_after_the_last_job():
    sim = simulation()
    d = sim.advance()
    while d is not None:
        easy(d)
        d = sim.advance()
    sim.advance(until=1000).wake(2000)
    assert sim.advance(until=3000).now == 3000
    sim.verify()
    with pytest.raises(fs.DecisionError, match=r"advance\(until=nan\)"):
        sim.advance(until=float("nan"))


def test_a_decision_is_over_however_the_simulation_goes_on():
    sim = simulation()
    d = sim.advance()
    sim.step()
    with pytest.raises(fs.DecisionError, match="is over"):
        d.start(0)


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_deadlock_after_a_stop_can_be_resolved(engine):
    sim = simulation(engine=engine)
    while len(sim.advance().queue) < len(LOG):
        pass
    d = sim.advance(until=20)
    with pytest.raises(fs.DecisionError, match="deadlock"):
        sim.advance()
    assert (d.now, d.free) == (20, 4)
    while d is not None:
        easy(d)
        d = sim.advance()
    assert sim.done
