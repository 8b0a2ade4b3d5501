"""Decisions from outside where jobs share nodes (model.md#site-decisions)."""

import contextlib

import numpy as np
import pytest

import faultsim as fs
from helpers.deciders import assert_same, easy, fcfs, inside, outside
from helpers.site_runs import drawn_run

ENGINES = ("core", "reference")
SITE = fs.Site([fs.NodeClass("cpu", 3, cores=8, memory="64M"), fs.NodeClass("gpu", 1, cores=4, memory="32M", gpus=2)])


def log_of(cores, nodes=None, **columns):
    n = len(cores)
    columns |= {"cores": cores, "nodes": [1] * n if nodes is None else nodes}
    return fs.Workload([0] * n, [10] * n, [1] * n, columns=columns)


@pytest.mark.parametrize("part", range(4))
def test_built_in_schedulers_decided_from_outside_are_the_same(part):
    rng, of = np.random.default_rng([44, 1, part]), {"fcfs": fcfs, "easy": easy}
    for _ in range(12):
        run = drawn_run(rng, int(rng.integers(2, 30)))
        name = str(rng.choice(["fcfs", "easy"]))
        scheduler = {"fcfs": fs.Fcfs, "easy": fs.EasyBackfill}[name](run.scheduler.order)
        run = run.with_options(scheduler=scheduler, record=True)
        built_in = run.simulate()
        for how in (outside, inside):
            assert_same(how(run, of[name], verify=True), built_in)
        assert_same(outside(run, of[name], "reference"), built_in)


class Latest(fs.Recovery):
    """Odd jobs keep their nodes."""

    def react(self, decision):
        if decision.job % 2:
            decision.hold(decision.job)


class EverySecond(fs.Checkpointing):
    """At every second request."""

    cost = 1.0
    interval = 3.0

    def wants(self, decision):
        return decision.asked % 2 == 0


class Ticks(fs.Rescheduling):
    """Stops the oldest job now and then."""

    interval = 7.0

    def tick(self, decision):
        running = decision.running
        for job in running[(running.start < decision.now) & (running.restarts < 2)].tolist()[:1]:
            with contextlib.suppress(fs.DecisionError):  # it is held, or ends now
                decision.requeue(job)


@pytest.mark.parametrize("part", range(3))
def test_policies_in_python_answer_on_sites(part):
    rng = np.random.default_rng([44, 2, part])
    for _ in range(10):
        run = drawn_run(rng, int(rng.integers(2, 25)))
        kinds = {"recovery": Latest(), "rescheduling": Ticks(), "checkpointing": EverySecond()}
        options = {kind: policy for kind, policy in kinds.items() if rng.random() < 0.7}
        if isinstance(run.scheduler, fs.Preemptive):
            run = run.with_options(scheduler=fs.EasyBackfill())
        run = run.with_options(**options)
        assert_same(run.simulate(engine="reference"), run.simulate())


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_free_and_what_jobs_have(engine):
    sim = fs.Simulation(
        log_of([4, 6, 2], memory=[16, 1, 8], gpus=[0, 0, 1]), SITE, scheduler=fs.External(), engine=engine
    )
    d = sim.advance()
    assert d.free == 28
    assert d.free_amounts.tolist() == [[8, 64, 0]] * 3 + [[4, 32, 2]]
    d.start(0, nodes=[2])
    d.start(2)
    assert d.free == 22
    assert d.free_amounts.tolist() == [[8, 64, 0]] * 2 + [[4, 48, 0], [2, 24, 1]]
    assert d.occupancy.tolist() == [False, False, True, True]
    assert d.shares(0).tolist() == [[2, 4, 16, 0]]
    assert d.shares(2).tolist() == [[3, 2, 8, 1]]
    assert [where.tolist() for where in d.running.where] == [[2], [3]]
    with pytest.raises(fs.DecisionError, match="job 1 has no nodes: it is waiting"):
        d.shares(1)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_job_of_any_number_takes_the_nodes_in_the_order_in_which_they_are_named(engine):
    sim = fs.Simulation(log_of([11], nodes=[0]), SITE, scheduler=fs.External(), engine=engine)
    d = sim.advance()
    d.start(0, nodes=[3, 1])
    assert d.shares(0).tolist() == [[1, 7, 0, 0], [3, 4, 0, 0]]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("job", "nodes", "message"),
    [
        (0, [0], "job 0 asks for 2 nodes, got 1"),
        (0, [0, 3], "job 0 has no room on node 3"),
        (0, [1, 1], "nodes of job 0 are named twice"),
        (0, [1, 4], "there is no node 4"),
        (1, [0, 2, 3], "job 1 does not need node 3: those named before it offer 11 cores"),
        (1, [3], "the nodes named for job 1 offer 4 of its 11 cores"),
    ],
)
def test_nodes_that_do_not_suit_are_refused(engine, job, nodes, message):
    sim = fs.Simulation(log_of([10, 11], nodes=[2, 0]), SITE, scheduler=fs.External(), engine=engine)
    d = sim.advance()
    with pytest.raises(fs.DecisionError, match=message):
        d.start(job, nodes=nodes)
    assert d.running.tolist() == []


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_site_does_not_have_is_refused_by_name(engine):
    sim = fs.Simulation(log_of([1, 40]), "site:a=2x8c", scheduler=fs.External(), engine=engine, oversized="drop")
    d = sim.advance()
    d.start(0)
    for act, message in [
        (lambda: d.boxes(0), "a site has no boxes: choose nodes by d.free_amounts"),
        (lambda: d.slices(0), "only a pod has cubes and slices"),
        (lambda: d.start(0, box=[0] * 6), "job 0 is not waiting"),
        (lambda: d.move(0, nodes=[1]), "job 0 cannot move: jobs that share nodes do not move"),
    ]:
        with pytest.raises(fs.DecisionError, match=message):
            act()
    sim = fs.Simulation(fs.Workload([0], [1], [1]), fs.Cluster(2), scheduler=fs.External(), engine=engine)
    with pytest.raises(fs.DecisionError, match="only a site has nodes that jobs share"):
        _ = sim.advance().free_amounts


@pytest.mark.parametrize("engine", ENGINES)
def test_the_shadow_of_a_job_says_what_else_is_offered_to_it(engine):
    """Jobs of 10 s fill nodes 0 and 1; a gang of two nodes has room then, with one node more."""
    log = log_of([8, 8, 12, 2], nodes=[1, 1, 2, 1])
    sim = fs.Simulation(log, "site:a=3x8c", scheduler=fs.External(), engine=engine)
    d = sim.advance()
    d.start(0)
    d.start(1)
    assert d.shadow(2) == (10, 1)
    assert not d.fits(2)
    assert d.may_backfill(3, 2)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_caller_is_asked_about_each_job_of_a_node_that_fails(engine):
    log = log_of([2, 2, 2, 2])
    failures = fs.FailureTrace([4], [0], [3], span=10**6)
    asking = fs.External(at=("schedule", "failure"))
    sim = fs.Simulation(log, "site:a=1x8c", scheduler=asking, failures=failures, engine=engine, record=True)
    asked = []
    while (d := sim.advance()) is not None:
        if d.kind == "failure":
            asked.append((d.now, d.node, d.job, d.down.tolist()))
            {0: d.hold, 1: d.kill, 2: d.requeue}.get(d.job, lambda job: None)(d.job)
        else:
            easy(d)
    assert asked == [(4, 0, job, []) for job in range(4)]
    result = sim.result()
    assert result.jobs["finish"].tolist() == [17, 4, 17, 17]
    assert result.counters["failures_hit"] == 1


class Uneven(fs.Scheduler):
    """Takes one core of the first node, and the rest of the second."""

    def __init__(self, cores):
        self.cores = cores

    def schedule(self, decision):
        for job in decision.queue:
            decision.start(job, nodes=[0, 1], cores=self.cores[int(job)])


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_caller_says_how_many_cores_a_job_takes_of_each_node(engine):
    log = fs.Workload([0, 0, 0], [60, 60, 60], [1, 1, 1], columns={"cores": [6, 3, 5], "nodes": [2, 0, 2]})
    seen = []

    class Seeing(Uneven):
        def schedule(self, decision):
            super().schedule(decision)
            if len(decision.running):
                seen.append([decision.shares(int(job))[:, :2].tolist() for job in decision.running])

    fs.simulate(log, "site:a=2x9c", scheduler=Seeing([[1, 5], [2, 1], [3, 2]]), engine=engine)
    assert seen[0] == [[[0, 1], [1, 5]], [[0, 2], [1, 1]], [[0, 3], [1, 2]]]
    for cores, message in (
        ([[1, 6], [2, 1], [3, 2]], "asks for 6 cores in all, got 7"),
        ([[0, 6], [2, 1], [3, 2]], "has no room for 0 cores"),
        ([[6], [2, 1], [3, 2]], "as many as its nodes, 2, got 1"),
        ([[1, 5], [2, 1], [4, 1.0]], "whole numbers"),
    ):
        with pytest.raises(fs.FaultsimError, match=message):
            fs.simulate(log, "site:a=2x9c", scheduler=Uneven(cores), engine=engine)
    whole = fs.Workload([0], [1], [2])
    with pytest.raises(fs.FaultsimError, match="on nodes that jobs share"):
        fs.simulate(whole, "cluster:2", scheduler=Uneven([[1, 1]]), engine=engine)
