"""`simulate`, `Simulation`, `simulate_many`, `rerun`: the same bytes whichever way."""

import dataclasses
import os
import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings

import faultsim as fs
from faultsim.errors import EngineError, InputError, NotAvailableError, OptionError
from faultsim.simulation import execution
from helpers.refusals import refused
from helpers.runs import runs
from helpers.scripts import begun

LOG = fs.Workload(submit=[0, 1, 2, 3], runtime=[10, 10, 5, 8], size=[2, 4, 2, 2], estimate=[12, 10, 5, 8])
FLAT = fs.Cluster(4)
SUMS = ("lost_work", "checkpoint_time", "restart_time", "failure_wait")


def columns(result):
    return {name: column.tobytes() for name, column in result.jobs.items()} | {"ledger": dict(result.ledger)}


def busy_log(n=400, nodes=64, seed=1):
    rng = np.random.default_rng(seed)
    runtime = rng.integers(0, 500, n)
    return fs.Workload(
        submit=np.sort(rng.integers(0, 20 * n, n)),
        runtime=runtime,
        estimate=runtime + rng.integers(0, 300, n),
        size=rng.integers(1, nodes // 2, n),
        name="busy",
    )


def test_easy_by_hand():
    # Job 0 holds 2 of 4 until 10 and may hold them until 12; job 1 waits for all 4, so its reservation is at 12.
    # Job 2 ends at 7 and starts at 2; job 3 would end at 7 + 8 = 15 > 12 and no node is extra.
    result = fs.simulate(LOG, FLAT)
    assert result.jobs["start"].tolist() == [0, 10, 2, 20]
    assert result.jobs["finish"].tolist() == [10, 20, 7, 28]
    assert result.jobs["backfilled"].tolist() == [False, False, True, False]


def test_fcfs_and_conservative_by_hand():
    assert fs.simulate(LOG, FLAT, scheduler=fs.Fcfs()).jobs["start"].tolist() == [0, 10, 20, 20]
    assert fs.simulate(LOG, FLAT, scheduler=fs.ConservativeBackfill()).jobs["start"].tolist() == [0, 10, 2, 20]


def test_start_delay_and_overrun():
    log = fs.Workload(submit=[0], runtime=[10], size=[1], estimate=[4])
    result = fs.simulate(log, FLAT, start_delay=1)
    assert (result.jobs["start"][0], result.jobs["finish"][0], result.jobs["wait"][0]) == (1, 11, 1)
    killed = fs.simulate(log, FLAT, overrun="kill")
    assert (killed.jobs["runtime"][0], killed.jobs["finish"][0]) == (4, 4)


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_failures_by_hand(engine):
    # Job 0 (nodes 0, 1) is killed at 6 with 6 s of work, node 1 is down until 9.  Job 1 wants 4 nodes: at 9.  Requeue
    # puts job 0 before it, so it starts again at once on 0 and 2 (restart 2 s) and ends at 6 + 2 + 10 = 18.
    log = fs.Workload(submit=[0, 1], runtime=[10, 10], size=[2, 4])
    trace = fs.FailureTrace([6, 30], [1, 3], [3, 0], span=100)

    def run(recovery, **options):
        return fs.simulate(log, FLAT, failures=trace, recovery=recovery, record=True, engine=engine, **options)

    jobs = run(fs.Requeue(restart_cost=2)).jobs
    assert (jobs["first_start"].tolist(), jobs["start"].tolist(), jobs["finish"].tolist()) == (
        [0, 18],
        [6, 18],
        [18, 28],
    )
    assert (jobs["lost_work"].tolist(), jobs["restarts"].tolist()) == ([12, 0], [1, 0])
    assert (jobs["restart_time"].tolist(), jobs["failure_wait"].tolist()) == ([2, 0], [0, 0])
    # At the tail it waits for job 1, which starts at 9 when all nodes are up.
    jobs = run(fs.Requeue("tail", 2)).jobs
    assert (jobs["start"].tolist(), jobs["finish"].tolist()) == ([19, 9], [31, 19])
    assert jobs["failure_wait"].tolist() == [13, 0]
    # Held until 9, restarted until 11, done at 21; job 1 starts then, and node 3 fails under it at 30.
    held = run(fs.Hold(2))
    jobs = held.jobs
    assert (jobs["start"].tolist(), jobs["finish"].tolist()) == ([0, 21], [21, 42])
    assert (jobs["failure_wait"].tolist(), jobs["restart_time"].tolist()) == ([3, 0], [2, 2])
    assert (jobs["lost_work"].tolist(), jobs["restarts"].tolist()) == ([12, 36], [1, 1])
    assert held.counters["failures"] == held.counters["failures_hit"] == 2
    assert (held.ledger["held_for_repair"], held.ledger["restart"], held.ledger["down"]) == (6, 12, 0)
    failures = held.events["kind"] == 2
    assert held.events["node"][failures].tolist() == [1, 3]
    assert held.events["job"][failures].tolist() == [0, 1]
    # A checkpoint after 4 s of work, 1 s each: at the kill 4 s are safe, and 1 s of work after 5 is lost.
    jobs = run(fs.Requeue(), checkpointing=fs.Periodic(4, 1)).jobs
    assert jobs["lost_work"].tolist() == [2, 0]
    assert jobs["finish"].tolist() == [6 + 6 + 1, 13 + 10 + 2]
    assert jobs["checkpoint_time"].tolist() == [2, 2]


@settings(max_examples=60)
@given(runs(max_jobs=8))
def test_the_reference_engine_agrees(run):
    fast, slow = run.simulate(), run.simulate(engine="reference")
    for name in fast.jobs:
        assert fast.jobs[name].dtype == slow.jobs[name].dtype
        if name in SUMS:  # over the kills of a job, which may be added up in another order
            assert fast.jobs[name] == pytest.approx(slow.jobs[name], rel=1e-12), name
        else:
            assert fast.jobs[name].tolist() == slow.jobs[name].tolist(), name
    assert fast.ledger == pytest.approx(slow.ledger)


@given(runs(record=True))
def test_every_way_of_running_gives_the_same_bytes(run):
    whole = run.simulate()
    assert columns(run.simulate(progress=lambda *_: None)) == columns(whole)

    options = {field.name: getattr(run, field.name) for field in dataclasses.fields(run) if field.kw_only}
    stepwise = fs.Simulation(run.log, run.machine, **options)
    while stepwise.step():
        stepwise.verify()
    assert columns(stepwise.result()) == columns(whole)
    assert stepwise.done
    assert stepwise.step() is False

    halves = fs.Simulation(run.log, run.machine, **options)
    halves.run(until=20)
    fork = halves.copy()
    halves.run()
    fork.verify()
    fork.run()
    assert columns(halves.result()) == columns(fork.result()) == columns(whole)
    assert columns(fs.rerun(whole)) == columns(whole)
    for name, column in whole.allocations.items():
        assert column.tobytes() == fork.result().allocations[name].tobytes()


def test_looking_inside():
    sim = fs.Simulation(LOG, FLAT)
    sim.run(until=5)
    assert sim.now <= 5
    assert sim.running.tolist() == [0, 2]
    assert sim.queue.tolist() == [1, 3]
    assert (sim.free, sim.n_done, sim.done, len(sim.log)) == (0, 0, False, 4)
    refused(OptionError, r"the simulation is not finished: at 3 s 0 of 4 jobs are done; call run\(\)", sim.result)
    fork = sim.copy()
    fork.run()
    assert (sim.n_done, fork.n_done) == (0, 4)
    sim.run(until=float("inf"))
    assert sim.done
    refused(OptionError, "until must be", sim.run, until=float("nan"))


def test_slices_do_not_show(monkeypatch):
    run = fs.Run(busy_log(), fs.Torus(4, 4, 4), migration=fs.Defragment())
    whole = columns(run.simulate())
    monkeypatch.setattr(fs.Torus, "first_events", lambda machine, many: 1)
    monkeypatch.setattr(execution, "SLICE", 0.0)
    assert columns(run.simulate()) == whole


def test_progress_is_told(monkeypatch):
    monkeypatch.setattr(fs.Cluster, "first_events", lambda machine, many: 16)
    heard = []
    log = busy_log()
    fs.simulate(log, fs.Cluster(64), progress=lambda *said: heard.append(said))
    assert len(heard) > 2
    done, total, now = zip(*heard, strict=True)
    assert list(done) == sorted(done)
    assert list(now) == sorted(now)
    assert set(total) == {len(log)}
    assert done[-1] == len(log)


def test_progress_that_raises_stops_the_run():
    def stop(done, total, now):
        raise KeyError("enough")

    refused(KeyError, "enough", fs.simulate, LOG, FLAT, progress=stop)
    refused(OptionError, "progress must be True, False or a callable", fs.simulate, LOG, FLAT, progress="bar")


# -- policies written in Python


class Shortest(fs.QueueOrder):
    def keys(self, queue, now):
        return queue.estimate


class First(fs.Placement):
    def choose(self, job, candidates, state):
        assert not state.busy[tuple(candidates[0][:3])]
        assert candidates.shape[1] == 6
        assert job.size <= np.prod(candidates[0][3:])
        return 0


@pytest.mark.parametrize("scheduler", [fs.Fcfs, fs.EasyBackfill, fs.ConservativeBackfill])
def test_python_policies_equal_their_built_in_twins(scheduler):
    log, torus = busy_log(80), fs.Torus(4, 4, 4)
    mine = fs.simulate(log, torus, scheduler=scheduler(Shortest()), placement=First())
    theirs = fs.simulate(log, torus, scheduler=scheduler("shortest"), placement=fs.FirstFit())
    assert columns(mine) == columns(theirs)


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize("recovery", [fs.Requeue("tail", 5), fs.Hold(5)])
@pytest.mark.parametrize("scheduler", [fs.Fcfs, fs.EasyBackfill, fs.ConservativeBackfill])
def test_python_policies_with_failures(scheduler, recovery, engine):
    log, torus = busy_log(60 if engine == "core" else 25), fs.Torus(4, 4, 4)
    trace = fs.FailureTrace(np.arange(0, 6000, 100), np.arange(60) * 7 % 64, [0, 200] * 30, span=9000)
    options = {"failures": trace, "recovery": recovery, "checkpointing": fs.Periodic(100, 5), "engine": engine}
    mine = fs.simulate(log, torus, scheduler=scheduler(Shortest()), placement=First(), **options)
    theirs = fs.simulate(log, torus, scheduler=scheduler("shortest"), placement=fs.FirstFit(), **options)
    assert columns(mine) == columns(theirs)
    assert mine.metrics["failures_hit"] > 0


def test_looking_inside_while_nodes_are_down():
    log = fs.Workload(submit=[0, 1, 20], runtime=[10, 10, 1], size=[2, 1, 1])
    trace = fs.FailureTrace([5, 5], [0, 3], [10, 2], span=100)
    requeued, held = (fs.Simulation(log, FLAT, failures=trace, recovery=r) for r in (fs.Requeue(), fs.Hold()))
    for sim in (requeued, held):
        sim.run(until=4)
        assert (sim.running.tolist(), sim.queue.tolist(), sim.free) == ([0, 1], [], 1)
        sim.run(until=6)
        sim.verify()
    # Nodes 0 and 3 are down.  Requeued, job 0 waits for two nodes; held, it keeps 0 and 1.
    assert (requeued.running.tolist(), requeued.queue.tolist(), requeued.free) == ([1], [0], 1)
    assert (held.running.tolist(), held.queue.tolist(), held.free) == ([0, 1], [], 0)
    fork = held.copy()
    for sim in (requeued, held, fork):
        sim.run()
    # Job 0 starts again at 7, on nodes 1 and 3; held, it goes on at 15 from the beginning.
    assert requeued.result().jobs["finish"].tolist() == [17, 11, 21]
    assert held.result().jobs["finish"].tolist() == fork.result().jobs["finish"].tolist() == [25, 11, 21]


def test_errors_of_python_policies_come_out():
    class Fails(fs.QueueOrder):
        def keys(self, queue, now):
            raise ZeroDivisionError("mine")

    class Wrong(fs.Placement):
        def choose(self, job, candidates, state):
            return len(candidates)

    sim = fs.Simulation(LOG, FLAT, scheduler=fs.Fcfs(Fails()))
    refused(ZeroDivisionError, "mine", sim.run)
    refused(EngineError, "broke off a scheduling pass of this simulation", sim.run)
    with pytest.raises(OptionError, match=r"Wrong.choose must return a whole number from 0 to"):
        fs.simulate(LOG, fs.Torus(2, 2, 2), placement=Wrong())


# -- many


def test_many_runs_keep_their_order_and_their_bytes():
    log = busy_log(60)
    many = [
        fs.Run(log, machine, scheduler=scheduler)
        for machine in (fs.Cluster(64), fs.Torus(4, 4, 4))
        for scheduler in (fs.Fcfs(), fs.EasyBackfill(), fs.ConservativeBackfill(), fs.Fcfs(Shortest()))
    ]
    heard = []
    alone = [columns(run.simulate()) for run in many]
    for threads in (1, 3):
        together = fs.simulate_many(many, threads=threads, progress=lambda *said: heard.append(said))
        assert [columns(result) for result in together] == alone
    assert [said[0] for said in heard] == [*range(1, 9)] * 2
    assert fs.simulate_many([]) == []
    in_chunks = fs.simulate_many(many * 20, threads=2)
    assert [result.settings for result in in_chunks] == [result.settings for result in together * 20]


def test_many_runs_with_a_bad_one():
    good = fs.Run(LOG, FLAT)
    refused(InputError, "larger than the machine", fs.simulate_many, [good, fs.Run(LOG, fs.Cluster(2)), good])
    refused(OptionError, "simulate_many takes Run objects, item 1 is 3", fs.simulate_many, [good, 3])
    refused(OptionError, "threads must be at least 1, got 0", fs.simulate_many, [good], threads=0)


def test_many_runs_in_many_threads_at_once():
    run = fs.Run(busy_log(100), fs.Torus(4, 4, 4))
    expected = columns(run.simulate())
    found = []
    threads = [threading.Thread(target=lambda: found.append(columns(run.simulate()))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 6


# -- the reference engine, Ctrl-C


def test_the_reference_engine_does_not_step():
    sim = fs.Simulation(LOG, FLAT, engine="reference")
    refused(NotAvailableError, "runs a whole log at once", sim.step)
    refused(NotAvailableError, "runs a whole log at once", sim.run, until=3)
    with pytest.raises(NotAvailableError, match="runs a whole log at once"):
        _ = sim.free
    refused(OptionError, r"unknown engine 'cor' \(did you mean 'core'\?\)", fs.simulate, LOG, FLAT, engine="cor")


LONG = """
import numpy as np
import faultsim as fs
rng = np.random.default_rng(0)
n = 200_000
submit, runtime = np.sort(rng.uniform(0, 1e7, n)), rng.uniform(0, 9e3, n)
log = fs.Workload(submit=submit, runtime=runtime, size=rng.integers(1, 60, n))
print("ready", flush=True)
try:
    {begin}
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
ONE = """sim = fs.Simulation(log, fs.Torus(4, 4, 8), migration=fs.Defragment(when="always"))
    sim.run()"""
AND_THEN = """
assert not sim.done
before = sim.n_done
sim.verify()
for _ in range(1000):
    sim.step()
sim.verify()
assert sim.n_done >= before
print("fine", flush=True)
"""
MANY = 'fs.simulate_many([fs.Run(log.head(50_000), fs.Torus(4, 4, 8), scheduler=fs.Fcfs("wfp3"))] * 40, threads=2)'


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize(("begin", "then", "slices"), [(ONE, AND_THEN, 50), (MANY, "", 100)], ids=["one", "many"])
def test_ctrl_c_is_answered_soon_and_breaks_nothing(begin, then, slices):
    child = begun("-c", LONG.format(begin=begin) + then)
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.4)
        began = time.monotonic()
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "stopped\n"
        # A slice is 0.03 s; a loaded machine is given its time.
        assert time.monotonic() - began < slices * execution.SLICE
        assert child.communicate(timeout=30)[0] == ("fine\n" if then else "")
        assert child.returncode == 0
    finally:
        child.kill()
        child.communicate()


def test_places_of_a_record_outlive_the_engine():
    """One stay is one row, which is contiguous as it is: its columns must be copies all the same."""
    log = fs.Workload(submit=[0], runtime=[10], size=[8])
    kept = [fs.simulate(log, fs.Torus(4, 4, 8), record=True).allocations for _ in range(50)]
    assert {tuple(int(places[axis][0]) for axis in "xyzabc") for places in kept} == {(0, 0, 0, 4, 2, 1)}


def test_engine_errors_are_ours():
    assert issubclass(EngineError, RuntimeError)
    refused(RuntimeError, "has not finished", execution.Execution(fs.Run(LOG, FLAT)).engine.output)


def test_growth_without_a_bound():
    log = fs.Workload(submit=[0, 0, 0], runtime=[10, 10, 5], size=[5, 8, 2])
    for scheduler in (fs.EasyBackfill, fs.ConservativeBackfill):
        most, enough = (
            fs.simulate(log, fs.Torus(2, 2, 2), scheduler=scheduler(max_growth=growth)) for growth in (10**30, 8)
        )
        assert most.jobs["allocated"].tolist() == enough.jobs["allocated"].tolist()
