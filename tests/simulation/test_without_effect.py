"""Nothing is accepted without effect: it is refused, or the result names it."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import DecisionError, InputError, OptionError

LOG = fs.Workload(submit=[0, 0, 1], runtime=[100, 90, 50], size=[2, 2, 2], estimate=[200] * 3)
FAILURES = fs.FailureTrace([20, 31], [0, 1], 5, span=1000)
ENGINES = pytest.mark.parametrize("engine", ["core", "reference"])


def idle(**options):
    """What the result says of options that have no effect."""
    result = fs.simulate(LOG, fs.Cluster(4), **options)
    again = [text for text in fs.rerun(result).warnings if "has no effect" in text]
    found = [text.partition(" has no effect")[0] for text in result.warnings if "has no effect" in text]
    assert [text.partition(" has no effect")[0] for text in again] == found
    return found


# -- options of a run


class HalfBlind(fs.Predictor):
    def predict(self, trace, machine, rng):
        return {"time": trace.time, "node": trace.node}


class Looking(fs.Recovery):
    def react(self, decision):
        decision.foreseen(10.0)


@pytest.mark.parametrize(
    ("predictor", "options", "unused"),
    [
        (fs.Perfect(), {}, True),
        (fs.Confidence(0.5), {"checkpointing": "young:cost=30,mtbf=9d"}, True),
        (fs.PredictionTrace([5.0], [0]), {}, True),
        (HalfBlind(), {"recovery": "hold"}, True),
        (fs.Buckets("1h"), {}, True),
        (fs.Perfect(), {"checkpointing": "predicted_windows:1h"}, True),
        (fs.Blind(), {}, False),
        (fs.Perfect(), {"placement": "safest"}, False),
        (fs.Perfect(), {"checkpointing": "before_failure:30"}, False),
        (fs.Perfect(), {"checkpointing": "risk_based:600,30"}, False),
        (fs.Perfect(), {"rescheduling": "fars:300,sul"}, False),
        (fs.Perfect(), {"recovery": Looking()}, False),
        (fs.Buckets("1h"), {"checkpointing": "predicted_windows:1h"}, False),
    ],
)
def test_a_predictor_that_nothing_uses(predictor, options, unused):
    found = idle(failures=FAILURES, predictor=predictor, **options)
    assert found == ([f"predictor={type(predictor).__name__}"] if unused else [])


def test_a_predictor_that_no_workflow_scheduler_asks():
    flow = fs.Workflow([4, 5], [(0, 1)])
    options = {"failures": FAILURES, "predictor": fs.Perfect()}
    said = "predictor=Perfect has no effect: no policy of this run uses what it predicts"
    assert fs.simulate_workflows(flow, fs.Resources(2), scheduler=fs.Fifo(), **options).warnings[0] == said
    assert said in str(fs.simulate_workflows(flow, fs.Resources(2), scheduler=fs.RankHybd(), **options))
    asked = fs.simulate_workflows(flow, fs.Resources(2), scheduler=fs.Fifo(aware=True), **options)
    assert said not in asked.warnings


@pytest.mark.parametrize(
    ("options", "unused"),
    [
        ({"recovery": fs.Hold(30)}, ["recovery=Hold"]),
        ({"recovery": fs.Requeue("tail", restart_cost=30)}, ["recovery=Requeue"]),
        ({"scheduler": fs.EasyBackfill(repairs="unknown")}, ["repairs='unknown'"]),
        ({"checkpointing": fs.BeforeFailure(30)}, ["checkpointing=BeforeFailure"]),
        ({"checkpointing": fs.PredictedWindows("4h")}, ["checkpointing=PredictedWindows"]),
        ({"migration": fs.LeastFailuresMigration()}, ["migration=LeastFailuresMigration"]),
        ({"checkpointing": fs.Periodic(30, 5)}, []),
        ({"recovery": fs.HotSpares(1)}, []),
        ({"checkpointing": fs.BeforeFailure(5), "predictor": fs.PredictionTrace([50.0], [0])}, []),
        ({"recovery": fs.Hold(30), "failures": FAILURES}, []),
    ],
)
def test_options_of_failures_where_nothing_fails(options, unused):
    assert idle(**options) == unused


def test_parameters_of_fars_that_others_make_idle():
    base = {"failures": FAILURES, "predictor": "perfect"}
    live = fs.Fars(300, "sul", live=True, checkpoint_cost=5, queue_cost="mean")
    assert idle(rescheduling=live, **base) == ["checkpoint_cost=5 of Fars", "queue_cost='mean' of Fars"]
    assert idle(rescheduling=fs.Fars(300, "fsd", checkpoint_cost=5, queue_cost="mean"), **base) == []


@ENGINES
def test_requeued_by_the_caller_as_the_recovery_says_although_nothing_fails(engine):
    sim = fs.Simulation(
        LOG, fs.Cluster(4), scheduler=fs.External(), recovery=fs.Requeue("tail", restart_cost=30), engine=engine
    )
    stopped = False
    while (decision := sim.advance()) is not None:
        if decision.now == 1 and not stopped:
            stopped = True
            decision.requeue(0)
        for job in decision.queue:
            if decision.fits(job):
                decision.start(job)
    assert sim.result().jobs["restart_time"].tolist() == [30, 0, 0]
    assert sim.result().jobs["start"].tolist() == [51, 0, 1]  # behind the job that came last


@ENGINES
@pytest.mark.parametrize("cost", [0, 30])
def test_stolen_nodes_requeue_as_the_recovery_says_although_nothing_fails(engine, cost):
    log = fs.Workload(submit=[0, 0, 1], runtime=[3000, 900, 50], size=[3, 1, 1], estimate=[4000, 1000, 60])
    result = fs.simulate(
        log,
        fs.Cluster(4),
        predictor=fs.PredictionTrace([700.0], [0]),
        rescheduling=fs.Fars(300, fs.NodeStealing()),
        checkpointing=fs.Periodic(500, 1),
        recovery=fs.Requeue(restart_cost=cost),
        engine=engine,
    )
    assert result.jobs["restarts"].tolist() == [0, 1, 0]
    assert result.jobs["finish"].tolist() == [3065, 1000 + cost, 1050 + cost]


# -- what policies in Python return, and have


class Reacts(fs.Recovery):
    def react(self, decision):
        return "hold"


class Passes(fs.Scheduler):
    def schedule(self, decision):
        yield from decision.queue


class Ticks(fs.Rescheduling):
    interval = 50.0

    def tick(self, decision):
        return False


@ENGINES
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"recovery": Reacts(), "failures": FAILURES}, "Reacts.react must act .* return nothing, got 'hold'"),
        ({"scheduler": Passes()}, "Passes.schedule must act .* return nothing, got <generator"),
        ({"rescheduling": Ticks()}, "Ticks.tick must act .* return nothing, got False"),
    ],
)
def test_what_a_method_returns_that_acts(engine, options, said):
    with pytest.raises(OptionError, match=said):
        fs.simulate(LOG, fs.Cluster(4), engine=engine, **options)


def test_a_checkpoint_rule_that_both_plans_and_is_asked():
    class Both(fs.Checkpointing):
        interval, cost = 10.0, 1.0

        def intervals(self, jobs):
            return np.full(len(jobs), 10.0)

        def wants(self, decision):
            return True

    with pytest.raises(OptionError, match="Both defines intervals and wants, of which only one is called"):
        fs.simulate(LOG, fs.Cluster(4), checkpointing=Both())


@ENGINES
def test_a_scheduler_in_python_may_not_know_repairs(engine):
    class Heads(fs.Scheduler):
        seen: tuple[float, ...] = ()

        def schedule(self, decision):
            Heads.seen = (*Heads.seen, *decision.repairs.tolist())
            for job in decision.queue:
                if decision.fits(job):
                    decision.start(job)

    class Blindly(Heads):
        repairs = "unknown"

    failures = fs.FailureTrace([0.5], [3], 50, span=1000)
    for scheduler, until in ((Heads(), 50.5), (Blindly(), np.inf)):
        Heads.seen = ()
        fs.simulate(LOG, fs.Cluster(4), scheduler=scheduler, failures=failures, engine=engine)
        assert Heads.seen[0] == until
    Blindly.repairs = "never"
    with pytest.raises(OptionError, match="unknown repairs of Blindly 'never'"):
        fs.simulate(LOG, fs.Cluster(4), scheduler=Blindly())


# -- a caller that owns time


def live(engine="core", **options):
    sim = fs.Simulation(LOG, fs.Cluster(4), live=9, engine=engine, **options)
    sim.advance(until=5)
    return sim


@ENGINES
def test_a_node_that_is_down_already(engine):
    sim = live(engine)
    sim.down(3)
    for act in (sim.down, lambda node: sim.fail(node, 7)):
        with pytest.raises(DecisionError, match=r"node 3 is down already, for an unknown time: call up\(3\) first"):
            act(3)
    sim.up(3)
    sim.down(3)
    sim.fail(2, 10)
    sim.fail(2, 100)  # as in a trace: down until the later of the two
    assert sim.advance(until=6).repairs.tolist() == [105, np.inf]
    sim.down(2)  # which is news
    assert sim.advance(until=7).repairs.tolist() == [np.inf, np.inf]
    sim.verify()


@ENGINES
def test_a_job_that_ends_already(engine):
    sim = live(engine)
    sim.finish(0)
    with pytest.raises(DecisionError, match="job 0 ends now, as was told"):
        sim.finish(0)
    sim.run()
    assert sim.result().jobs["finish"][0] == 5


@ENGINES
@pytest.mark.parametrize("overrun", ["extend", "kill"])
def test_an_unknown_run_time_cannot_be_extended(engine, overrun):
    sim = live(engine, overrun=overrun, unknown=[True, False, False])
    for seconds in (1000, -1):
        with pytest.raises(DecisionError, match="job 0 cannot be extended: its run time is unknown"):
            sim.extend(0, seconds)
    sim.extend(1, 9)
    sim.advance(until=150)
    if overrun == "extend":
        sim.finish(0)
    sim.run()
    assert sim.result().jobs["finish"].tolist() == [200 if overrun == "kill" else 150, 99, 149]


def late(**options):
    return fs.Workload(submit=[9], runtime=[1], size=[1], estimate=[5], **options)


@ENGINES
def test_default_ids_go_on(engine):
    sim = live(engine)
    sim.submit(late())
    sim.submit(late().with_columns().renamed("b"))
    sim.submit(late(id=[40]))
    sim.submit(fs.Workload(submit=[9, 9], runtime=[1, 1], size=[1, 1]))
    assert sim.log.id.tolist() == [1, 2, 3, 4, 5, 40, 41, 42]
    for log, name in ((late(id=[1]), 1), (late(id=[41]), 41), (fs.concat([late(id=[7]), late(id=[7])]), 7)):
        with pytest.raises(InputError, match=f"another job has the id {name}; give each its own, or no ids"):
            sim.submit(log)
    sim.submit(late(id=[7]))
    sim.run()
    assert sim.result().jobs["id"].tolist() == [1, 2, 3, 4, 5, 40, 41, 42, 7]


def test_ids_in_copies_and_pickles():
    import pickle

    sim = live()
    sim.submit(pickle.loads(pickle.dumps(late())))
    fork = sim.copy()
    fork.submit(late(id=[50]))
    sim.submit(late())
    fork.submit(late())
    again = pickle.loads(pickle.dumps(sim))
    again.submit(late())
    assert sim.log.id.tolist() == [1, 2, 3, 4, 5]
    assert fork.log.id.tolist() == [1, 2, 3, 4, 50, 51]
    assert again.log.id.tolist() == [1, 2, 3, 4, 5, 6]
    with pytest.raises(InputError, match="the id 50"):
        fork.submit(late(id=[50]))
    sim.submit(late(id=[50]))
    with pytest.raises(DecisionError, match="it is 5 s already"):
        sim.submit(fs.Workload(submit=[1], runtime=[1], size=[1]))
    sim.submit(late())
    assert sim.log.id.tolist() == [1, 2, 3, 4, 5, 50, 51]
