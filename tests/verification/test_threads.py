"""Public objects that several threads use at once (docs/background/threads.md): an answer, or an error by name."""

import contextlib
import pickle
import random
import threading
import time
from collections import Counter

import numpy as np
import pytest

import faultsim as fs
from faultsim._core.door import Door
from helpers.deciders import easy
from helpers.refusals import refused

#: Seconds that four threads misuse each object.
SOON, LONG = 0.3, 20.0
LOG = fs.synthetic.lublin(600, rng=1, nodes=64)
#: What a simulation may be asked, and told.
LOOKS = ("now", "next_time", "free", "queue", "running", "n_done", "lost_work", "done", "decision", "log")
CALLS = ("verify", "copy", "__copy__", "__getstate__")
ACTS = ("run", "step", "advance")


def in_threads(*acts):
    """Call each in a thread of its own; what they raised."""
    errors = []

    def guarded(act):
        try:
            act()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def misuse(acts, allowed=(), seconds=SOON, threads=4):
    """Let threads do at random, for some time, what they may; how often each did what it was asked to do."""
    done, end = Counter(), time.monotonic() + seconds

    def go_on(seed):
        rng = random.Random(seed)
        while time.monotonic() < end:
            at = rng.randrange(len(acts))
            try:
                acts[at]()
                done[at] += 1
            except allowed:
                pass

    errors = in_threads(*(lambda seed=seed: go_on(seed) for seed in range(threads)))
    assert not errors, errors
    return done


def same(one, other):
    pairs = ((one.jobs[name], other.jobs[name]) for name in one.jobs)
    return all(np.array_equal(mine, theirs, equal_nan=mine.dtype.kind == "f") for mine, theirs in pairs)


class Waits(fs.QueueOrder):
    """First come, first served; when it is asked, another thread gets its turn."""

    def __init__(self):
        self.asked, self.answer, self.done = threading.Event(), threading.Event(), False

    def keys(self, queue, now):
        if not self.done:
            self.asked.set()
            assert self.answer.wait(30)
            self.done = True
        return queue.submit


class Shows(fs.Scheduler):
    """EASY; the first decision is shown to another thread."""

    def __init__(self):
        self.asked, self.answer, self.decision = threading.Event(), threading.Event(), None

    def schedule(self, decision):
        if self.decision is None:
            self.decision = decision
            self.asked.set()
            assert self.answer.wait(30)
        easy(decision)


def test_a_simulation_that_goes_on_refuses_other_threads_by_name():
    order = Waits()
    sim = fs.Simulation(LOG, fs.Cluster(64), scheduler=fs.EasyBackfill(order=order), live=700)
    acts = [lambda name=name: getattr(sim, name) for name in LOOKS]
    acts += [getattr(sim, name) for name in (*CALLS, *ACTS)]
    acts += [lambda: sim.result(partial=True), lambda: sim.submit(LOG), lambda: sim.finish(0)]
    acts += [lambda: sim.extend(0, 1), lambda: sim.fail(0, 1), lambda: sim.down(0), lambda: sim.up(0)]
    acts += [lambda: sim.foresee(node=[0], time=[1e9]), lambda: pickle.dumps(sim)]
    runs = threading.Thread(target=sim.run)
    runs.start()
    assert order.asked.wait(30)
    try:
        for act in acts:
            refused(fs.BusyError, "another thread is in the middle of a step of this simulation", act)
    finally:
        order.answer.set()
        runs.join()
    sim.verify()
    assert same(sim.result(), fs.simulate(LOG, fs.Cluster(64)))


def test_a_decision_refuses_other_threads_too():
    scheduler = Shows()
    sim = fs.Simulation(LOG, fs.Cluster(64), scheduler=scheduler, record=True)
    runs = threading.Thread(target=sim.run)
    runs.start()
    assert scheduler.asked.wait(30)
    d = scheduler.decision
    names = ("now", "queue", "running", "free", "down", "repairs", "occupancy", "changes")
    acts = [lambda name=name: getattr(d, name) for name in names]
    acts += [lambda: d.fits(0), lambda: d.shadow(0), lambda: d.expected_end(0), lambda: d.foreseen(9)]
    acts += [
        lambda: d.boxes(0),
        lambda: d.slices(0),
        lambda: d.free_cubes,
        lambda: d.free_amounts,
        lambda: d.shares(0),
        lambda: d.start(0, cubes=[1]),
        lambda: d.may_backfill(0),
        lambda: d.backfill(0),
        lambda: d.start(0),
        lambda: d.start(0, nodes=[1]),
    ]
    acts += [lambda: d.requeue(0), lambda: d.hold(0), lambda: d.kill(0), lambda: d.checkpoint(0), d.finish]
    acts += [lambda: d.move(0, nodes=[1]), lambda: d.wake(1e9)]
    try:
        for act in acts:
            refused(fs.BusyError, "another thread is in the middle of a step", act)
        assert repr(d) == "<Decision: schedule at 0 s, another thread acts>".replace("0 s", f"{LOG.submit[0]:g} s")
    finally:
        scheduler.answer.set()
        runs.join()
    refused(fs.DecisionError, "is over", lambda: d.free)
    assert same(sim.result(), fs.simulate(LOG, fs.Cluster(64), record=True))


def test_a_policy_that_waits_for_a_thread_that_looks_does_not_wait_for_ever():
    class Asks(fs.QueueOrder):
        def keys(self, queue, now):
            if not told:
                told.extend(in_threads(lambda: self.sim.free, self.sim.copy))
                told.append(len(self.sim.running))  # in this thread it may look
            return queue.submit

    order, told = Asks(), []
    order.sim = fs.Simulation(LOG, fs.Cluster(64), scheduler=fs.Fcfs(order=order))
    order.sim.run()
    assert [type(each) for each in told] == [fs.BusyError, fs.BusyError, int]


def test_looks_wait_for_each_other_and_copies_are_whole():
    sim = fs.Simulation(LOG, fs.Cluster(64), record=True)
    sim.run(until=float(LOG.submit[300]))
    whole, copies = fs.simulate(LOG, fs.Cluster(64), record=True), []
    acts = [lambda name=name: getattr(sim, name) for name in LOOKS] + [getattr(sim, name) for name in CALLS]
    acts += [lambda: sim.result(partial=True).metrics, lambda: copies.append(sim.copy())]
    done = misuse(acts)
    assert len(done) == len(acts)
    for copy in copies[:: len(copies) // 5 + 1]:
        copy.run()
        assert same(copy.result(), whole)


@pytest.mark.parametrize("seconds", [SOON, pytest.param(LONG, marks=pytest.mark.slow)], ids=["soon", "long"])
class TestFourThreads:
    """Some of them look while others act, until the time is up."""

    def test_simulation(self, seconds):
        runs, end = [], time.monotonic() + seconds
        whole = fs.simulate(LOG, fs.Cluster(64))
        while time.monotonic() < end:
            sim = fs.Simulation(LOG, fs.Cluster(64))
            acts = [lambda name=name, sim=sim: getattr(sim, name) for name in LOOKS]
            acts += [getattr(sim, name) for name in (*CALLS, "step", "step", "step")]
            acts += [lambda sim=sim: sim.run(sim.now + 5000), lambda sim=sim: runs.append(sim.copy())]
            misuse(acts, fs.BusyError, min(0.1, seconds))
            sim.run()
            sim.verify()
            assert same(sim.result(), whole)
        assert runs
        for run in runs[-3:]:
            run.run()
            assert same(run.result(), whole)

    @pytest.mark.parametrize("machine", [fs.Cluster(64), fs.Torus(4, 4, 4)], ids=["cluster", "torus"])
    def test_decisions(self, machine, seconds):
        sim = fs.Simulation(LOG, machine, scheduler=fs.External(), record=True)
        held = [sim.advance()]

        def go_on():
            easy(held[0])
            held[0] = sim.advance() or held[0]

        look = ("wait", "size", "index", "fits", "saved", "restarts")
        acts = [lambda name=name: getattr(held[0].queue, name) for name in look]
        acts += [lambda name=name: getattr(held[0].running, name) for name in ("start", "where", "progress", "index")]
        acts += [lambda name=name: getattr(held[0], name) for name in ("now", "free", "occupancy", "changes", "down")]
        acts += [lambda: held[0].fits(0), lambda: held[0].shadow(5), lambda: held[0].may_backfill(7), sim.verify]
        acts += [lambda: repr(held[0]), lambda: pickle.loads(pickle.dumps(sim)), sim.copy, go_on, go_on, go_on]
        misuse(acts, (fs.BusyError, fs.DecisionError), seconds)
        sim.verify()

    def test_live(self, seconds):
        sim = fs.Simulation(LOG, fs.Cluster(64), live=100_000, scheduler=fs.EasyBackfill())
        acts = [lambda: sim.submit(fs.Workload(submit=[sim.now + 9], runtime=[50], size=[3])), sim.step, sim.verify]
        acts += [lambda: sim.fail(random.randrange(64), 100.0), lambda: sim.advance(sim.now + 500)]
        acts += [lambda: sim.finish(random.randrange(len(sim.log))), lambda: sim.extend(random.randrange(600), 5.0)]
        acts += [lambda: sim.result(partial=True), lambda: sim.queue, lambda: sim.running, sim.copy]
        misuse(acts, (fs.BusyError, fs.DecisionError), seconds)
        sim.verify()

    def test_event_queue(self, seconds):
        queue, pushed, popped = fs.EventQueue(), [], []

        def push():
            event = (float(random.randrange(1000)), 0, random.randrange(10**12))
            queue.push(*event)
            pushed.append(event)

        def pop():
            with contextlib.suppress(IndexError):
                popped.append(queue.pop())

        misuse([push, push, pop, lambda: len(queue), lambda: repr(queue), queue.copy, lambda: pickle.dumps(queue)],
               (IndexError,), seconds)  # fmt: skip
        popped += [queue.pop() for _ in range(len(queue))]
        assert sorted(popped) == sorted(pushed)

    def test_kernels_and_data(self, seconds):
        rng = np.random.default_rng(1)
        busy = [rng.random((4, 4, 8)) < p for p in (0.1, 0.5, 0.8)]
        gain, weight = rng.random(20), rng.integers(1, 9, 20)
        log, result = fs.synthetic.lublin(300, rng=2, nodes=64), fs.simulate(LOG, fs.Cluster(64), record=True)
        trace = fs.FailureTrace([50.0, 900.0], [1, 2], [60.0, 60.0], span=1000.0)
        run = fs.Run(log, fs.Cluster(64), scheduler=fs.EasyBackfill(order=fs.Key("-size * (now - submit)")))
        acts = [lambda b=b: fs.partition.find_partitions(b, 4).tolist() for b in busy]
        acts += [lambda b=b: fs.partition.max_free_partition(b, "pop") for b in busy]
        acts += [lambda: fs.partition.feasible_sizes(4, 4, 8), lambda: str(fs.knapsack(gain, weight, 40))]
        acts += [lambda: repr(log.summary()), lambda: log[5:50].submit.tolist(), lambda: repr(trace.summary())]
        acts += [lambda: result.metrics["mean_wait"], lambda: len(result.allocations), lambda: dict(result.ledger)]
        acts += [lambda: run.simulate().metrics["mean_wait"], lambda: pickle.loads(pickle.dumps(run)).log.size.sum()]
        alone = [act() for act in acts]
        told = []
        misuse([lambda at=at, act=act: told.append((at, act())) for at, act in enumerate(acts)], (), seconds)
        assert {at for at, _ in told} == set(range(len(acts)))
        assert all(answer == alone[at] for at, answer in told)

    def test_many_runs_and_sweeps(self, seconds, tmp_path):
        log = fs.synthetic.lublin(100, rng=2, nodes=64)
        sweep = fs.Sweep(fs.Run(log, fs.Cluster(64)), {"start_delay": list(range(40))})
        whole = sweep.run(tmp_path / "alone.db")
        runs = [fs.Run(log, fs.Cluster(64), start_delay=d) for d in range(10)]
        acts = [lambda i=i: sweep.run(tmp_path / f"{i}.db")["mean_wait"].tolist() for i in range(2)]
        acts += [lambda: [each.metrics["mean_wait"] for each in fs.simulate_many(runs, threads=2)]]
        acts += [lambda: fs.load_sweep(tmp_path / "alone.db").n_rows, lambda: repr(whole.summary("mean_wait"))]
        alone = [act() for act in acts]
        told = []
        misuse([lambda at=at, act=act: told.append((at, act())) for at, act in enumerate(acts)], (), seconds)
        assert all(answer == alone[at] for at, answer in told)

    def test_environments(self, seconds):
        pytest.importorskip("gymnasium")
        from faultsim.rl import PickJob, VectorPickJob

        def play(env, first=lambda mask: int(mask.argmax())):
            action = first(env.unwrapped.action_masks())
            if env.step(action)[2] is True:
                env.reset()

        one, many = PickJob(jobs=20), VectorPickJob(4, jobs=20, threads=2)
        one.reset(seed=1)
        many.reset(seed=1)
        acts = [lambda: play(one), lambda: one.reset(), one.action_masks, lambda: one.result]
        acts += [lambda: many.step(many.action_masks().argmax(axis=1)), lambda: many.reset(), many.action_masks]
        misuse(acts, (fs.BusyError, fs.OptionError), seconds)
        one.reset(seed=2)
        seen = one.step(int(one.action_masks().argmax()))[0]
        again = PickJob(jobs=20)
        again.reset(seed=2)
        assert np.array_equal(again.step(int(again.action_masks().argmax()))[0], seen)
        many.close()


def test_one_thread_at_a_time_is_behind_a_door():
    door, count = Door(fs.BusyError, "counter"), [0]

    def add():
        for _ in range(2000):
            with door.enter(True):
                before = count[0]
                if before % 100 == 0:
                    time.sleep(0)
                count[0] = before + 1

    assert not in_threads(*[add] * 4)
    assert count == [8000]


def test_a_door_lets_its_own_thread_in_again_but_not_to_act():
    door = Door(fs.BusyError, "counter")
    with door.enter(), door.enter(), door.enter(True):
        (error,) = in_threads(door.enter)
        assert str(error).startswith("another thread is in the middle of a step of this counter")
    with door.enter(True):
        refused(fs.BusyError, "this thread is looking at the counter", door.enter)
    assert not in_threads(door.enter)
    inside = door.enter()
    assert len(in_threads(door.enter)) == 1
    inside.leave()
    inside.leave()
    assert not in_threads(door.enter)
    assert not in_threads(pickle.loads(pickle.dumps(door)).enter)
