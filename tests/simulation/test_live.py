"""A caller that owns time, jobs and failures (model.md#owned); copies, pickles and rollouts of a running simulation.

What is told in time, piece by piece, must come out as if all had been known from the start.
"""

import heapq
import pickle
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulation.test_decisions import LOG, easy

import faultsim as fs
from helpers import thresholds
from helpers.refusals import refusals
from helpers.results import assert_equal

SCHEDULERS = [
    fs.Fcfs(),
    fs.EasyBackfill(),
    fs.EasyBackfill("shortest"),
    fs.EasyBackfill("wfp3"),
    fs.Backfill(3),
    fs.ConservativeBackfill(),
    fs.EasyBackfill(repairs="unknown"),
    fs.ConservativeBackfill(repairs="unknown"),
    fs.Fcfs(order=fs.Key("estimate * size - index")),
    fs.EasyBackfill(order="f1"),
    fs.ConservativeBackfill(order=fs.Key("wait / size")),
]

CHECKPOINTING = [None, fs.Periodic(4, cost=1), fs.Periodic(7, cost=0), fs.RiskBased(4, cost=1), fs.RiskBased(7, cost=0)]


@st.composite
def told_runs(draw):
    """Runs in which nothing told coincides with anything else: every time has a fraction of its own."""
    machine = draw(st.sampled_from([fs.Cluster(5), fs.Torus(2, 2, 2), fs.Torus(3, 1, 2, wrap=False)]))
    n, k = draw(st.integers(1, 12)), draw(st.integers(0, 5))
    whole = st.integers(0, 40)
    jobs = np.arange(n)
    submit = np.sort(draw(st.lists(whole, min_size=n, max_size=n))) + jobs / 2.0**12
    log = fs.Workload(
        submit=submit,
        runtime=np.array(draw(st.lists(whole, min_size=n, max_size=n))) + (jobs + 1) / 2.0**20,
        size=draw(st.lists(st.integers(1, machine.nodes), min_size=n, max_size=n)),
        estimate=np.array(draw(st.lists(st.integers(1, 60), min_size=n, max_size=n)), float),
    )
    times = np.sort(draw(st.lists(st.integers(1, 90), min_size=k, max_size=k))) + (np.arange(k) + 1) / 2.0**30
    failures = fs.FailureTrace(
        submit[0] + times,
        draw(st.lists(st.integers(0, machine.nodes - 1), min_size=k, max_size=k)),
        draw(st.lists(st.integers(0, 25), min_size=k, max_size=k)),
        span=400,
    )
    return fs.Run(
        log,
        machine,
        scheduler=draw(st.sampled_from(SCHEDULERS)),
        failures=failures,
        recovery=draw(st.sampled_from([fs.Requeue(), fs.Requeue("tail"), fs.Hold(), fs.Hold(3)])),
        checkpointing=draw(st.sampled_from(CHECKPOINTING)),
        predictor=fs.Blind(),
        overrun=draw(st.sampled_from(["extend", "kill"])),
        start_delay=draw(st.sampled_from([0.0, 2.0])),
        record=True,
    )


def rows(log, rows):
    return log[np.isin(np.arange(len(log)), rows)]


def told(run, *, by_hand, engine="core", ahead=None):
    """The run, told as it happens; `by_hand` also says when nodes are up again, and not before.

    Jobs are submitted at their time, or so many seconds `ahead` of it; then rows are in another order.
    """
    log, failures = run.log, run.failures
    sim = fs.Simulation(
        rows(log, [0]), run.machine, live=len(log), scheduler=run.scheduler, recovery=run.recovery,
        checkpointing=run.checkpointing, predictor=run.predictor, overrun=run.overrun, start_delay=run.start_delay,
        record=True, engine=engine,
    )  # fmt: skip
    early = [0.0] * len(log) if ahead is None else ahead
    coming = [(t - early[job], "submit", job, 0) for job, t in enumerate(log.submit.tolist()) if job]
    coming += [(t, "fail", row, 0) for row, t in enumerate(failures.time.tolist())]
    heapq.heapify(coming)
    stay = dict.fromkeys(range(len(log)), 0)  # so often did a job start or was killed
    up_at = {}
    job_of = [0]  # by row
    # The end of a job is easily foreseen here if all that it does is work.
    plain = run.checkpointing is None and isinstance(run.recovery, fs.Requeue)
    while not sim.done or any(kind == "submit" for _, kind, *_ in coming):
        kind, row, number = "", 0, 0
        t = sim.next_time
        if coming and coming[0][0] <= t:
            t, kind, row, number = heapq.heappop(coming)
        if kind == "submit":
            sim.submit(rows(log, [row]), unknown=plain and row % 2 == 1)
            job_of.append(row)
            continue
        d = sim.advance(until=t)
        for change, at_row, at, _ in d.changes:
            if change not in ("started", "moved", "ended", "timed out", "killed"):
                continue
            job = job_of[at_row]
            stay[job] += 1
            if change == "started" and job % 2 == 1 and plain:
                end = (at + run.start_delay) + float(log.runtime[job])
                heapq.heappush(coming, (end, "finish", job, stay[job]))
        if kind == "finish" and stay[row] == number:
            sim.finish(job_of.index(row))
        elif kind == "up" and up_at[row] == t:
            sim.up(row)
        elif kind == "fail":
            node, downtime = int(failures.node[row]), float(failures.downtime[row])
            if not (by_hand and downtime):
                sim.fail(node, downtime)
                continue
            sim.down(node)
            if t + downtime > up_at.get(node, t):
                up_at[node] = t + downtime
                heapq.heappush(coming, (t + downtime, "up", node, 0))
        sim.verify()
    return by_job(sim.result(), job_of) if ahead is not None else sim.result()


def by_job(result, job_of):
    """A result whose rows are those of the log; only what a comparison looks at."""
    rows, events = np.argsort(job_of), dict(result.events)
    events["job"] = np.where(events["job"] < 0, -1, np.array(job_of, np.int32)[events["job"]]).astype(np.int32)
    return SimpleNamespace(
        jobs={name: result.jobs[name][rows] for name in result.jobs if name != "id"}, events=events,
        allocations=result.allocations, settings=result.settings, ledger=result.ledger, counters=result.counters,
        span=result.span,
    )  # fmt: skip


@given(told_runs(), st.data())
def test_jobs_are_submitted_in_any_order(run, data):
    n = len(run.log)
    order = run.scheduler.order
    if isinstance(order, fs.Key) and "index" in order.text:  # rows are other ones
        run = run.with_options(scheduler=replace(run.scheduler, order=fs.ArrivalOrder()))
    whole = data.draw(st.lists(st.integers(0, 60), min_size=n, max_size=n))
    ahead = np.minimum(whole, np.floor(run.log.submit - run.log.submit[0])).tolist()
    expected = run.simulate()
    result = told(run, by_hand=False, ahead=ahead)
    assert_equal(result, expected, but=("runtime", "allocations"))
    np.testing.assert_allclose(result.jobs["runtime"], expected.jobs["runtime"], rtol=0, atol=1e-9)


ENGINES = pytest.mark.parametrize("engine", ["core", "reference"])


@ENGINES
@given(told_runs())
def test_what_is_told_in_time_is_as_if_known_from_the_start(engine, run):
    result, expected = told(run, by_hand=False, engine=engine), run.simulate(engine=engine)
    assert_equal(result, expected, but=("runtime",) if engine == "core" else ("runtime", "ledger"))
    np.testing.assert_allclose(result.jobs["runtime"], expected.jobs["runtime"], rtol=0, atol=1e-9)


@given(told_runs())
def test_repairs_that_nobody_foresees_are_as_if_unknown(run):
    scheduler = run.scheduler if hasattr(run.scheduler, "repairs") else fs.EasyBackfill()
    # A failure of a node that is down already would have no effect then: its repair was not known before either.
    run = run.with_options(scheduler=replace(scheduler, repairs="unknown"), failures=run.failures.merge_overlaps())
    assert_equal(told(run, by_hand=True), run.simulate(), but=("runtime", "passes"))


def test_a_waiting_job_may_be_cut_to_nothing():
    sim = live()
    sim.extend(1, -10)
    sim.run()
    jobs = sim.result().jobs
    assert jobs["runtime"].tolist() == [10, 0, 5, 4]
    assert jobs["finish"][1] == jobs["start"][1] >= 10


def test_a_run_time_that_changes_while_the_job_runs():
    sim = fs.Simulation(LOG, fs.Cluster(4), scheduler=fs.Fcfs(), live=10)
    sim.advance(until=5)
    sim.extend(0, 3)  # runs
    sim.extend(1, -4)  # waits
    assert sim.advance(until=12.5).running.index.tolist() == [0]
    sim.run()
    assert sim.result().jobs["finish"].tolist() == [13.0, 19.0, 24.0, 23.0]
    known = fs.Workload(submit=[0, 1, 2, 3], runtime=[13, 6, 5, 4], size=[2, 4, 2, 1])
    assert (
        sim.result().jobs["finish"].tolist()
        == fs.simulate(known, fs.Cluster(4), scheduler=fs.Fcfs()).jobs["finish"].tolist()
    )


def test_a_limit_is_told_from_an_end():
    sim = fs.Simulation(LOG, fs.Cluster(4), live=9, overrun="kill")
    sim.submit(fs.Workload(submit=[30, 30], runtime=[0, 0], size=[1, 1], estimate=[7, 8]), unknown=True)
    sim.advance(until=31)
    sim.finish(5)
    changes = sim.advance(until=40).changes
    assert changes.tolist() == [("ended", 5, 31.0, []), ("timed out", 4, 37.0, [])]
    assert (changes.kind, changes.index.tolist(), changes.time.tolist()) == (
        ["ended", "timed out"],
        [5, 4],
        [31.0, 37.0],
    )


def test_changes_name_nodes_and_boxes():
    sim = fs.Simulation(LOG, fs.Cluster(4), live=9)
    changes = sim.advance(until=3).changes
    assert changes.tolist() == [
        ("submitted", 0, 0.0, []), ("started", 0, 0.0, [0, 1]), ("submitted", 1, 1.0, []),
        ("submitted", 2, 2.0, []), ("started", 2, 2.0, [2, 3]), ("submitted", 3, 3.0, []),
    ]  # fmt: skip
    assert (changes.nodes.tolist(), changes.offsets.tolist(), changes.intervals) == (
        [0, 1, 2, 3], [0, 0, 2, 2, 2, 4, 4], ["", "0-1", "", "", "2-3", ""]
    )  # fmt: skip
    sim.fail(1, 4)
    changes = sim.advance(until=3).changes
    assert changes.tolist() == [
        ("killed", 0, 3.0, []), ("requeued", 0, 3.0, []), ("down", -1, 3.0, [1]), ("started", 3, 3.0, [0]),
    ]  # fmt: skip
    assert changes.cause == ["failure", "", "", ""]
    sim = fs.Simulation(LOG, fs.Torus(2, 2, 1), live=9)
    assert sim.advance(until=0).changes.tolist()[1:] == [("started", 0, 0.0, [0, 0, 0, 2, 1, 1])]


def test_rows_are_those_of_the_submissions():
    sim = fs.Simulation(LOG, fs.Cluster(4), scheduler=fs.Fcfs(), live=9)
    sim.submit(fs.Workload(submit=[1, 2.5], runtime=[7, 8], size=[1, 2], user=[44, 55]))
    d = sim.advance(until=2)
    assert (d.queue.tolist(), sim.queue.tolist(), sim.running.tolist()) == ([1, 4, 2], [1, 4, 2], [0])
    assert (d.queue.submit.tolist(), d.queue.user.tolist()) == ([1.0, 1.0, 2.0], [-1, 44, -1])
    assert d.changes.tolist()[:2] == [("submitted", 0, 0.0, []), ("started", 0, 0.0, [0, 1])]
    assert [row[:3] for row in d.changes][2:] == [("submitted", row, t) for row, t in ((1, 1.0), (4, 1.0), (2, 2.0))]
    sim.extend(5, 100)  # has not come yet
    fork = sim.copy()
    for one in (sim, fork, pickle.loads(pickle.dumps(sim))):
        one.submit(fs.Workload(submit=[2.2], runtime=[1], size=[1]))
        one.run()
        jobs = one.result().jobs
        assert jobs["submit"].tolist() == [0, 1, 2, 3, 1, 2.5, 2.2]
        assert jobs["runtime"].tolist() == [10, 10, 5, 4, 7, 108, 1]
        assert one.result().workload["user"].tolist() == [-1, -1, -1, -1, 44, 55, -1]
        assert one.log.submit.tolist() == [0, 1, 1, 2, 2.2, 2.5, 3]
    assert one.result().events["job"][:3].tolist() == [0, 0, 1]


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_requests_of_jobs_without_an_end_are_not_waited_for(engine):
    options = {"checkpointing": fs.RiskBased(100, 5), "predictor": fs.Blind(), "scheduler": fs.Fcfs()}
    log = fs.Workload(submit=[0, 500], runtime=[1, 50], size=[1, 4], estimate=[1e5, 50])
    sim = fs.Simulation(log, fs.Cluster(4), live=5, unknown=[True, False], engine=engine, **options)
    for go_on in (sim.advance, sim.run):
        with pytest.raises(fs.DecisionError, match="1 jobs run without an end: nothing else will happen"):
            go_on()
        assert sim.now == 500  # whatever else there was has happened
    sim.advance(until=1e7)
    sim.finish(0)
    sim.run()
    assert sim.result().jobs["finish"].tolist() == [1e7, 1e7 + 50]


def test_run_times_that_nobody_knows_from_the_start():
    unknown = [True, False, False, True]
    sim = fs.Simulation(LIMITED, fs.Cluster(4), scheduler=fs.Fcfs(), live=4, unknown=unknown)
    for one in (sim, pickle.loads(pickle.dumps(sim))):
        with pytest.raises(fs.DecisionError, match="1 jobs run without an end: nothing else will happen"):
            one.run()
        with pytest.raises(fs.DecisionError, match="1 jobs run without an end: nothing else will happen"):
            one.advance()
        one.advance(until=40)
        one.finish(0)
        one.advance(until=77)
        one.finish(3)
        one.run()
        assert one.result().jobs["finish"].tolist() == [40, 50, 55, 77]


def test_a_result_that_is_out_stays_as_it_is():
    sim = fs.Simulation(LOG, fs.Cluster(4), live=9)
    sim.run()
    before = sim.result()
    jobs, nodes = {name: before.jobs[name].copy() for name in before.jobs}, before.allocations["nodes"].copy()
    for _ in range(5):
        sim.submit(fs.Workload(submit=[sim.now], runtime=[3], size=[3]))
    sim.fail(0, 0)
    sim.run()
    assert len(sim.result()) == 9
    assert all((before.jobs[name] == jobs[name]).all() for name in jobs)
    assert (before.allocations["nodes"] == nodes).all()
    with pytest.raises(fs.OptionError, match="does not hold what it was told: it cannot be repeated"):
        fs.rerun(before)


def test_nodes_are_repaired_when_all_jobs_have_ended():
    sim = fs.Simulation(LOG, fs.Cluster(4), live=4)
    sim.run()
    sim.fail(1, 5)
    assert sim.advance(until=sim.now + 4).down.tolist() == [1]
    assert sim.advance(until=sim.now + 1).down.tolist() == []


def test_a_decision_is_the_same_until_it_is_over():
    sim = fs.Simulation(LOG, fs.Cluster(4), scheduler=fs.External(), live=9)
    d = sim.advance()
    assert sim.decision is d
    d.start(0)
    assert sim.decision is d
    sim.fail(3, 100)
    sim.submit(fs.Workload(submit=[50], runtime=[1], size=[1]))
    assert (sim.decision is d, d.now, d.down.tolist()) == (True, 0.0, [3])
    fork = sim.copy()
    assert fork.decision is not d
    assert fork.decision is fork.decision
    d.finish()
    assert sim.decision is not d
    other = sim.advance()
    assert (sim.decision is other, other.changes.kind) == (True, ["started", "down"])


def live():
    sim = fs.Simulation(LOG, fs.Cluster(4), live=5)
    sim.advance(until=5)
    return sim


NAMED = [2**63, 2**200, -1, 1.5, "a", None]
LATE = fs.Workload(submit=[4], runtime=[1], size=[1])
LIMITED = fs.Workload(submit=[0, 1, 2, 3], runtime=[0, 10, 5, 0], size=[2, 4, 2, 1], estimate=[60, 60, 15, 5])
TWO = fs.Workload(submit=[9, 9], runtime=[1, 1], size=[1, 1])


test_what_cannot_be_told = refusals(
    fs.DecisionError,
    lambda act: act(live()),
    (lambda sim: sim.submit(LATE), "a job cannot be submitted at 4 s: it is 5 s"),
    (lambda sim: (sim.finish(0), sim.extend(0, 5)), "job 0 ends now, as was told"),
    (lambda sim: sim.finish(1), "job 1 cannot end: it is not running at 5 s"),
    (lambda sim: sim.finish(9), "there is no job 9: the log has rows 0 to 3"),
    (lambda sim: sim.extend(0, -6), "job 0 cannot be extended by -6 s: it would have ended before 5 s"),
    (lambda sim: sim.extend(0, -60), "job 0 cannot be extended by -60 s: it runs for 10 s"),
    (lambda sim: (sim.finish(0), sim.fail(0, 1)), "node 0 has job 0, which ends now: let it end first"),
    (lambda sim: sim.fail(4, 1), "there is no node 4: nodes are 0 to 3"),
    (lambda sim: sim.up(2), "node 2 is not down"),
    (lambda sim: fs.Simulation(LOG, fs.Cluster(4)).down(1), "only a simulation that was made with live="),
    (
        lambda sim: fs.Simulation(LOG, fs.Cluster(4)).advance(until=1).changes,
        "with live= or record=True keeps what has",
    ),
)


test_what_is_not_live = refusals(
    fs.FaultsimError,
    lambda options: fs.Simulation(LOG, fs.Cluster(4), **options),
    ({"live": -1}, "live must be"),
    ({"live": 2**40}, "live must be at least 0 and at most 2147483646"),
    ({"unknown": True}, "unknown run times are told later: give live="),
    ({"live": 9, "unknown": [True]}, "unknown must be True, False or one of these for each of 4 jobs"),
    ({"live": 9, "unknown": True, "estimates": 2.0}, "estimates=2.0 are of run times, and some are unknown"),
    ({"live": 5, "oversized": "drop"}, "live= takes oversized='error'"),
)


@ENGINES
@pytest.mark.parametrize("machine", [fs.Cluster(5), fs.Torus(2, 2, 2)], ids=str)
def test_what_is_foreseen_from_the_start_is_as_if_predicted(engine, machine):
    rng = np.random.default_rng(3)
    log = fs.Workload(
        submit=np.sort(rng.integers(0, 60, 20)), runtime=rng.integers(1, 30, 20), size=rng.integers(1, 4, 20)
    )
    time, node = np.sort(rng.integers(0, 90, 15)).astype(float), rng.integers(0, machine.nodes, 15)
    placements = [fs.SafestFirst()] if machine.name == "cluster" else [fs.Balancing(), fs.TieBreaking()]
    for placement in placements:
        options = {"placement": placement, "failures": fs.FailureTrace([], [], [], span=0), "record": True}
        trace = fs.PredictionTrace(time=time, node=node)
        expected = fs.simulate(log, machine, predictor=trace, engine=engine, **options)
        sim = fs.Simulation(log, machine, live=20, predictor=fs.Blind(), engine=engine, **options)
        for rows in (slice(0, None, 2), slice(1, None, 2)):
            sim.foresee(node=node[rows], time=time[rows])
        assert len(sim.advance(until=sim.now).foreseen(20)) == ((time > sim.now) & (time <= sim.now + 20)).sum()
        sim.run()
        assert_equal(sim.result(), expected)


test_what_cannot_be_foreseen = refusals(
    fs.FaultsimError,
    lambda columns, **options: fs.Simulation(
        LOG, fs.Cluster(4), live=9, predictor=fs.Perfect(), failures=fs.FailureTrace([7], [1], [2]), **options
    ).foresee(**columns),
    ({"node": [1], "time": [9], "p": 0.5}, "predictions have one probability: those so far have p=1, got 0.5"),
    ({"node": [4], "time": [9]}, "foresee: nodes must be whole numbers from 0 to 3"),
    ({"node": [1], "begin": [9], "end": [8]}, "foresee: the prediction from 9 s to 8 s ends before it begins"),
    ({"node": [1], "begin": [9]}, "foresee takes node, and begin and end or time, and p; got node, begin, p"),
)


@pytest.mark.parametrize(
    "options",
    [
        {"checkpointing": fs.BeforeFailure(5)},
        {"rescheduling": fs.Fars(30, fs.ServiceUnitLoss())},
    ],
    ids=lambda options: next(iter(options)),
)
def test_who_plans_before_the_run(options):
    failures = fs.FailureTrace([7], [1], [2])
    sim = fs.Simulation(LOG, fs.Cluster(4), live=9, predictor=fs.Perfect(), failures=failures, **options)
    with pytest.raises(fs.NotAvailableError, match=r"foresee is not available with .* before the run"):
        sim.foresee(node=[1], time=[9])


test_what_is_no_job = refusals(
    fs.InputError,
    lambda log, **options: live().submit(log, **options),
    ([1], "submit takes a Workload, got"),
    (fs.Workload(submit=[9], runtime=[1], size=[5]), "job 5 asks for 5 nodes, and there are 4"),
)


def test_unknown_jobs_have_limits():
    with pytest.raises(fs.InputError, match="job 5 has no requested time: one whose run time is unknown needs it"):
        live().submit(fs.Workload(submit=[9], runtime=[1], size=[1]), unknown=True)


@pytest.mark.parametrize("name", NAMED, ids=str)
def test_numbers_that_are_none(name):
    sim = live()
    for act in (sim.finish, lambda job: sim.extend(job, 5), sim.down, sim.up, lambda node: sim.fail(node, 2)):
        with pytest.raises(fs.DecisionError, match=r"there is no|whole number"):
            act(name)


def test_the_reference_engine_takes_no_copies():
    sim = fs.Simulation(LOG, fs.Cluster(4), live=9, engine="reference")
    for act in (sim.copy, lambda: pickle.dumps(sim)):
        with pytest.raises(fs.NotAvailableError, match="runs a whole log at once"):
            act()


# -- copies, pickles, rollouts


def half_way(machine, scheduler=None, passes=60):
    rng = np.random.default_rng(4)
    log = fs.Workload(
        submit=np.sort(rng.integers(0, 900, 120)), runtime=rng.integers(1, 90, 120), size=rng.integers(1, 9, 120)
    )
    sim = fs.Simulation(log, machine, scheduler=scheduler or fs.External())
    for _ in range(passes):
        easy(sim.advance())
    return sim


def to_the_end(sim):
    while (d := sim.advance()) is not None:
        easy(d)
    return sim.result()


MACHINES = [fs.Cluster(8), fs.Torus(2, 2, 2)]


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_a_pickle_goes_on_as_the_simulation_does(machine):
    sim = half_way(machine)
    fork = sim.copy()
    easy(sim.advance())
    other = pickle.loads(pickle.dumps(sim))
    assert (other.now, other.queue.tolist(), other.running.tolist()) == (
        sim.now, sim.queue.tolist(), sim.running.tolist()
    )  # fmt: skip
    again = pickle.loads(pickle.dumps(other))
    expected = fs.simulate(sim.log, machine)
    for one in (sim, other, again, fork, pickle.loads(pickle.dumps(fork))):
        assert_equal(to_the_end(one), expected)


def exhaust(sim, act):
    for _ in range(9):
        act(sim)


@pytest.mark.parametrize("act", [fs.Simulation.advance, fs.Simulation.step])
def test_a_pickle_of_a_simulation_in_which_nothing_will_ever_happen(act):
    """Job 1 waits and nobody starts it: time passed until that was seen, and a pickle is there, too."""
    log = fs.Workload(submit=[0, 5], runtime=[1, 1], size=[1, 1])
    sim = fs.Simulation(log, fs.Cluster(1), scheduler=fs.External())
    sim.advance().start(0)
    with pytest.raises(fs.DecisionError, match="wait"):
        exhaust(sim, act)
    assert sim.now == 5
    for one in (pickle.loads(pickle.dumps(sim)), sim.copy()):
        assert (one.now, one.queue.tolist(), one.running.tolist()) == (5, [1], [])
        with pytest.raises(fs.DecisionError, match="wait"):
            act(one)


def test_a_pickle_of_what_was_told():
    sim = fs.Simulation(LOG, fs.Cluster(4), live=9)
    sim.run(until=2)
    sim.down(3)
    sim.step()
    sim.submit(fs.Workload(submit=[8], runtime=[0], size=[1], estimate=[9]), unknown=True)
    sim.advance(until=9)
    sim.extend(0, 2)
    other = pickle.loads(pickle.dumps(sim))
    assert (other.decision.kind, other.decision.now) == ("time", 9.0)
    for one in (sim, other):
        one.up(3)
        one.advance(until=60)
        one.finish(4)
        one.run()
    assert_equal(other.result(), sim.result())


@pytest.mark.parametrize("machine", MACHINES, ids=str)
@pytest.mark.parametrize("order", ["arrival", "shortest", "wfp3"])
def test_a_rollout_from_the_start_is_the_whole_run(machine, order):
    sim = half_way(machine, passes=0)
    sim.advance()
    for kind in (fs.Fcfs, fs.EasyBackfill, fs.ConservativeBackfill, lambda order: fs.Backfill(3, order)):
        scheduler = kind(order=order)
        expected = fs.simulate(sim.log, machine, scheduler=scheduler)
        assert_equal(sim.rollout(scheduler), expected)
    assert sim.decision.queue.tolist() == [0]


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_a_rollout_in_the_middle(machine):
    sim = half_way(machine)
    sim.advance()
    for scheduler in (fs.Fcfs(), fs.ConservativeBackfill(), fs.Backfill(2), fs.EasyBackfill("shortest")):
        result = sim.rollout(scheduler)
        begun = sim.n_done
        assert (result.jobs["finish"] <= sim.now).sum() >= begun
    assert_equal(sim.rollout(fs.EasyBackfill()), fs.simulate(sim.log, machine))


test_who_cannot_take_over = refusals(
    fs.FaultsimError,
    lambda sim, scheduler: sim.rollout(scheduler),
    (fs.Simulation(LOG, fs.Cluster(4)), fs.Fcfs(), "a built-in scheduler take over from scheduler=External"),
    (live(), fs.Slurm(), "a built-in scheduler take over"),
    (half_way(MACHINES[0]), fs.External(), "a built-in scheduler take over"),
    (half_way(MACHINES[0]), fs.EasyBackfill(repairs="unknown"), "give the scheduler that takes over the same"),
)


# -- rollouts to a time, and of live simulations


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_a_rollout_to_a_time_is_a_copy_that_went_there(machine):
    sim = half_way(machine)
    sim.advance()
    whole, scheduler = sim.rollout("easy"), "easy:order=arrival"
    for end in ({"horizon": 50}, {"until": sim.now + 50}, {"horizon": "50s"}):
        result = sim.rollout(scheduler, **end)
        assert result.span[1] == sim.now + 50
        begun = whole.jobs["start"] <= sim.now + 50
        np.testing.assert_array_equal(result.jobs["start"], np.where(begun, whole.jobs["start"], np.nan))
    assert_equal(sim.rollout("easy", horizon="365d"), whole)
    assert np.isnan(sim.rollout("fcfs", horizon=0).jobs["finish"]).sum() == 120 - sim.n_done


def twins(known, machine, overrun):
    """Two live simulations of the same jobs, one of which does not know any run time."""
    estimate = [30, 20, 10, 40, 5]
    jobs = {"submit": [0, 1, 2, 3, 4], "size": [2, 2, 4, 1, 2], "estimate": estimate}
    log = fs.Workload(runtime=estimate if known else [0] * 5, **jobs)
    options = {"scheduler": fs.External(), "overrun": overrun, "checkpointing": fs.Periodic(7, cost=1)}
    return fs.Simulation(log, machine, live=True, unknown=not known, **options)


@pytest.mark.parametrize("overrun", ["extend", "kill"])
@pytest.mark.parametrize("scheduler", ["fcfs", "easy:order=shortest", "conservative", fs.Backfill(2)], ids=str)
@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_jobs_of_unknown_ends_end_as_expected_in_a_rollout(machine, scheduler, overrun):
    sims = [twins(known, machine, overrun) for known in (False, True)]
    results = []
    for sim in sims:
        while (d := sim.advance(until=9)).kind != "time":
            easy(d)
        sim.down(0)
        sim.up(0)
        results.append([sim.rollout(scheduler, **given) for given in ({}, {"horizon": 12}, {"until": 60})])
        assert sim.now == 9
        assert not np.isfinite(sim.result(partial=True).jobs["finish"][:2]).any()
    for unknown, known in zip(*results, strict=True):
        for name in ("start", "finish", "runtime", "wait", "lost_work", "checkpoint_time"):
            np.testing.assert_array_equal(unknown.jobs[name], known.jobs[name])
        if overrun == "extend":  # else they are cut at their limits
            assert unknown.ledger == known.ledger


@pytest.mark.parametrize("rows", [1, 64])
@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_copies_share_what_has_ended(machine, rows):
    """Copies of copies, each of which goes on alone, give what a simulation without copies gives."""
    rng, sims = np.random.default_rng(3), []
    for _ in range(2):
        with thresholds.at(shared_rows=rows):
            sims.append(fs.Simulation(None, machine, live=True, overrun="kill", recovery=fs.Requeue()))
    others = []
    for i in range(400):
        begin, size, estimate = sims[1].now, int(rng.integers(1, machine.nodes + 1)), float(rng.integers(1, 9))
        known = {"runtime": float(rng.integers(1, 12))} if i % 3 else {}
        for sim in sims:
            sim.submit(submit=begin + float(i % 5), size=size, estimate=estimate, **known)
            if i % 11 == 0:
                sim.fail(i % machine.nodes, 2)
            sim.advance(until=begin + 3)
        if i % 40 == 7:
            others.append(sims[0])
            sims[0] = sims[0].copy()
            others[-1].submit(submit=sims[0].now, size=1, estimate=5)  # not in the copy
            assert len(sims[0].log) == i + 1
            assert sims[0].lost_work == sims[1].lost_work
    for sim in sims:
        sim.verify()
    assert_equal(sims[0].rollout("fcfs", horizon=50), sims[1].rollout("fcfs", horizon=50))
    for sim in [*sims, *others]:
        sim.run(until=1e6)
        sim.verify()
    assert_equal(sims[0].result(), sims[1].result())
    for sim in others:
        assert_equal(sim.result(), sim.copy().result())
        assert_equal(sim.result(), pickle.loads(pickle.dumps(sim)).result())


@pytest.mark.parametrize("ahead", [False, True])
def test_a_result_names_all_logs(ahead):
    """As `concat` does, whatever came between them."""
    jobs = {"runtime": [9], "size": [1]}
    logs = [
        fs.Workload(submit=[0], name="a", dropped={"late": 2}, comments=["; a"], **jobs),
        fs.Workload(submit=[1], **jobs),
        fs.Workload(submit=[1], name="b", dropped={"late": 1, "empty": 4}, comments=["; b"], **jobs),
        fs.Workload(submit=[4], name="a", **jobs),
    ]
    sim = fs.Simulation(None if ahead else logs.pop(0), fs.Cluster(4), live=True, scheduler=fs.External())
    if ahead:
        sim.submit(submit=2, size=1, runtime=5)
    fork = sim.copy()
    for log in logs:
        sim.submit(log)
    sim.submit(submit=4, size=1, runtime=5)
    log = sim.log
    for result in (sim.result(partial=True), sim.rollout("easy"), sim.rollout("fcfs"), sim.rollout("fcfs", horizon=9)):
        record = result._record
        assert (record.source, record.dropped, record.comments) == (log.name, log.dropped, log.comments)
    assert (log.name, log.comments) == ("a+b", () if ahead else ("; a",))
    assert log.dropped == {"late": 3, "empty": 4}
    assert fork.rollout("easy")._record.source == ("" if ahead else "a")


def test_a_rollout_by_an_order_where_jobs_came_ahead_of_others():
    sim = fs.Simulation(None, fs.Cluster(4), live=True)
    sim.submit(submit=[0, 3, 4], size=[4, 4, 4], estimate=[10, 7, 5])
    sim.submit(submit=[1, 2], size=[4, 4], estimate=[6, 8])  # rows 3 and 4 arrive before rows 1 and 2
    sim.advance(until=9)
    for order in ("shortest", fs.Key("estimate"), fs.Key("estimate + 0 * wait")):
        assert sim.rollout(fs.Fcfs(order)).jobs["start"].tolist() == [0, 21, 10, 15, 28]


def test_a_job_past_its_expected_end_ends_now_in_a_rollout():
    sim = fs.Simulation(None, fs.Cluster(4), live=True)
    sim.submit(submit=[0, 1], size=[4, 2], estimate=[10, 20])
    sim.advance(until=25)
    result = sim.rollout("easy")
    assert (result.jobs["finish"].tolist(), result.jobs["runtime"].tolist()) == ([25, 45], [25, 20])
    assert sim.running.tolist() == [0]
    sim.finish(0)
    sim.advance(until=30)
    assert sim.rollout("fcfs", horizon=1).jobs["start"].tolist() == [0, 25]


def test_a_rollout_of_a_live_simulation_that_cannot_go_on():
    sim = fs.Simulation(None, fs.Cluster(2), live=True)
    sim.submit(submit=0, size=2, estimate=10)
    sim.down(1)
    sim.advance(until=1)
    with pytest.raises(fs.DecisionError, match="deadlock"):
        sim.rollout("easy")
    result = sim.rollout("easy", horizon="1h")
    assert (result.jobs["state"].tolist(), result.span) == (["waiting"], (0, 3601))


test_ends_of_rollouts = refusals(
    fs.OptionError,
    lambda sim, given: sim.rollout("easy", **given),
    (half_way(MACHINES[0]), {"until": 5, "horizon": 5}, "until= or horizon=, not both"),
    (half_way(MACHINES[0]), {"until": 5}, "until must be at least"),
    (half_way(MACHINES[0]), {"horizon": -1}, "horizon must be at least 0"),
    (half_way(MACHINES[0]), {"horizon": "soon"}, "horizon must be"),
)


@pytest.mark.parametrize(
    ("order", "key"),
    [
        ("-prio", [-5, -1, -9]),
        ("-prio + 0 * wait", [-5, -1, -9]),
        ("2 * size", [3, 2, 4]),
        ("-size + 0 * wait", [-3, -2, -4]),
    ],
)
def test_a_scheduler_that_takes_over_reads_the_columns_of_all_logs(order, key):
    """Jobs 2 and 3 arrive before job 1, so that rows are not in the order of arrival."""
    first = fs.Workload(submit=[0, 7], runtime=[10, 10], size=[4, 3], columns={"prio": [5, 5]})
    sim = fs.Simulation(first, fs.Cluster(4), live=9, scheduler=fs.External())
    sim.advance().start(0)
    sim.submit(fs.Workload(submit=[2, 2], runtime=[10, 10], size=[2, 4], columns={"prio": [1, 9]}))
    execution = sim._execution.copy()
    execution.take_over(sim._given[0].with_options(scheduler=fs.Fcfs(order)))
    execution.go_on()
    begun = execution.engine.output()["start"]
    assert np.argsort(begun[1:]).tolist() == np.argsort(key).tolist()


def test_one_job_with_several_unknown_run_times():
    sim = fs.Simulation(None, fs.Cluster(4), live=True)
    with pytest.raises(fs.FaultsimError, match="unknown"):
        sim.submit(submit=0.0, runtime=1.0, size=1, estimate=2.0, unknown=np.array([1, 2, 3]))
    assert sim.n_done == 0
    assert not len(sim.queue)


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_node_that_comes_up_in_the_instant_of_the_last_end(engine):
    """Who was asked in an instant is asked again in it, also when all jobs have ended."""
    log = fs.Workload([0.0], [4.0], [1], estimate=[4.0])
    sim = fs.Simulation(log, fs.Cluster(2), live=True, engine=engine, scheduler=fs.External())
    sim.advance().start(0)
    sim.down(1)
    assert sim.advance().changes.tolist() == [("started", 0, 0.0, [0]), ("down", -1, 0.0, [1])]
    assert sim.advance().changes.tolist() == [("ended", 0, 4.0, [])]
    sim.up(1)
    asked = sim.advance()
    assert (asked.kind, asked.now, asked.free) == ("schedule", 4.0, 2)
    assert sim.advance() is None


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_decision_knows_jobs_that_are_submitted_after_it(engine):
    """Also where there is more room since then, and where a job goes ahead of others."""
    log = fs.Workload([0.0], [4.0], [1])
    sim = fs.Simulation(log, fs.Cluster(2), live=1, engine=engine, scheduler=fs.External())
    d = sim.advance()
    n = 300
    sim.submit(submit=np.full(n, 9.0), runtime=np.ones(n), size=np.ones(n, int))
    sim.submit(submit=5.0, runtime=1.0, size=1)
    for job in range(1, n + 2):
        with pytest.raises(fs.DecisionError, match=f"job {job} is not waiting: it has not arrived yet"):
            d.start(job)
    d.start(0)
    while not len((d := sim.advance()).queue):
        pass
    assert (d.now, d.queue.tolist()) == (5.0, [n + 1])


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_nodes_stay_down_after_the_last_job(engine):
    log = fs.Workload([0.0], [10.0], [1])
    failures = fs.FailureTrace(time=[8], node=[1], downtime=[100], span=1000)
    sim = fs.Simulation(log, fs.Cluster(2), failures=failures, recovery=fs.Requeue(), engine=engine)
    sim.advance(until=50.0)
    assert sim.advance(until=5000.0).down.tolist() == [1]
    sim.verify()
