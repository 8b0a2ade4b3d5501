"""Acts on running jobs (model.md#acts): cases by hand on both engines, refusals by name, copies and pickles."""

import contextlib
import pickle

import numpy as np
import pytest

import faultsim as fs
from helpers.answers import Recover
from helpers.deciders import ByHand, assert_same, easy

ENGINES = pytest.mark.parametrize("engine", ["core", "reference"])
LOG = fs.Workload(submit=[0, 1], runtime=[100, 50], size=[2, 2], estimate=[120, 50])
FAILURES = fs.FailureTrace([40, 60], [0, 2], [20, 0], span=1000)
ASK = ("schedule", "failure")


def run(answers, engine="core", machine=None, log=LOG, at=("schedule",), tick=None, **options):
    """`answers`: functions by kind, and by time for acts at a time between events."""
    options = {"record": True, **options}
    sim = fs.Simulation(
        log, machine or fs.Cluster(4), scheduler=fs.External(at=at, tick=tick), engine=engine, **options
    )
    for stop in [*sorted(key for key in answers if not isinstance(key, str)), None]:
        while (d := sim.advance(stop)) is not None:
            if d.kind == "time":
                answers[stop](d)
                break
            answers.get(d.kind, easy)(d)
    return sim.result()


@ENGINES
def test_a_killed_job_is_done_and_has_lost_what_it_had_not_saved(engine):
    result = run({30: lambda d: d.kill(0)}, engine)
    jobs = result.jobs
    assert jobs["finish"].tolist() == [30.0, 51.0]
    assert jobs["runtime"].tolist() == [0.0, 50.0]
    assert jobs["restarts"].tolist() == [1, 0]
    assert jobs["lost_work"].tolist() == [60.0, 0.0]
    assert result.ledger["lost"] == 60.0
    assert result.counters["events"] == 4
    assert jobs["state"].tolist() == [fs.JobState.KILLED, fs.JobState.ENDED]


@ENGINES
@pytest.mark.parametrize("overrun", ["extend", "kill"])
def test_who_was_killed_is_told_from_who_ended_and_who_timed_out(engine, overrun, tmp_path):
    """So far, when all have ended, in a file, and in the files that others read."""
    log = fs.Workload(submit=[0, 1, 2], runtime=[100, 50, 50], size=[1, 1, 1], estimate=[120, 50, 40])
    sim = fs.Simulation(log, fs.Cluster(3), scheduler=fs.External(), overrun=overrun, engine=engine)
    while (d := sim.advance(until=30)).kind != "time":
        easy(d)
    d.kill(0)
    assert sim.result(partial=True).jobs["state"].tolist() == ["killed", "running", "running"]
    while sim.advance() is not None:
        pass
    last = {"extend": fs.JobState.ENDED, "kill": fs.JobState.TIMED_OUT}[overrun]
    result = sim.result()
    assert result.jobs["state"].tolist() == [fs.JobState.KILLED, fs.JobState.ENDED, last]
    result.save(tmp_path / "run.npz")
    assert fs.load_result(tmp_path / "run.npz").jobs["state"].tolist() == result.jobs["state"].tolist()
    result.write_swf(tmp_path / "run.swf")
    rows = (tmp_path / "run.swf").read_text().splitlines()[-4:-1]
    assert [row.split()[10] for row in rows] == ["5", "1", {"extend": "1", "kill": "5"}[overrun]]
    result.write_batsim(tmp_path / "run.csv")
    assert (tmp_path / "run.csv").read_text().splitlines()[1].count("COMPLETED_KILLED") == 1


@ENGINES
@pytest.mark.parametrize("act", ["kill", "withdraw"])
def test_a_waiting_job_is_withdrawn(engine, act):
    log = fs.Workload(submit=[0, 0, 0], runtime=[30, 30, 30], size=[4, 4, 4])
    sim = fs.Simulation(log, fs.Cluster(4), scheduler=fs.External(), engine=engine)
    d = sim.advance()
    d.start(0)
    getattr(d, act)(1)
    assert d.queue.tolist() == [2]
    with pytest.raises(fs.DecisionError, match="job 1 cannot be withdrawn: it has ended"):
        d.withdraw(1)
    sim.advance().start(2)
    assert (sim.advance().now, sim.advance()) == (60, None)
    result = sim.result()
    assert result.jobs["state"].tolist() == ["ended", "withdrawn", "ended"]
    assert result.jobs["finish"].tolist() == [30, 0, 60]


@ENGINES
def test_a_run_whose_jobs_were_all_withdrawn_ends(engine):
    log = fs.Workload(submit=[0, 5], runtime=[30, 30], size=[4, 4])
    sim = fs.Simulation(log, fs.Cluster(4), scheduler=fs.External(), engine=engine)
    sim.advance().withdraw(0)
    sim.advance().withdraw(1)
    assert sim.advance() is None
    result = sim.result()
    assert (result.jobs["state"].tolist(), result.metrics["n_jobs"]) == (["withdrawn"] * 2, 0)


@ENGINES
def test_what_a_killed_job_has_saved_is_its_run_time(engine):
    saved = run({30: lambda d: d.kill(0)}, engine, checkpointing=fs.Periodic(10, 1))
    assert saved.jobs["runtime"].tolist() == [20.0, 50.0]  # safe at 11 and 22
    assert saved.jobs["lost_work"].tolist() == [2 * 8.0, 0.0]
    assert saved.jobs["checkpoint_time"].tolist() == [2.0, 4.0]


@ENGINES
@pytest.mark.parametrize(
    ("act", "finish"), [("requeue", [140.0, 51.0]), ("hold", [160.0, 51.0]), ("kill", [40.0, 51.0])]
)
def test_what_can_be_answered_at_a_failure(engine, act, finish):
    """At 40 node 0 of job 0 fails for 20 s; job 1 has nodes 2 and 3, and ends before node 2 fails."""
    log = fs.Workload(submit=[0, 1], runtime=[100, 50], size=[2, 2], estimate=[120, 50])
    seen = []

    def answer(d):
        seen.append((d.now, d.job, d.node, d.until, d.running.progress.tolist(), d.down.tolist()))
        getattr(d, act)(d.job)

    machine = fs.Cluster(5)  # so that job 0 can start again at once
    result = run({"failure": answer}, engine, machine, log, at=ASK, failures=FAILURES)
    assert seen == [(40.0, 0, 0, 60.0, [40.0, 39.0], [])]
    assert result.jobs["finish"].tolist() == finish
    assert result.jobs["restarts"].tolist() == [1, 0]
    assert result.jobs["lost_work"].tolist() == [80.0, 0.0]
    assert result.counters["failures_hit"] == 1


@ENGINES
@pytest.mark.parametrize(("live", "finish"), [(False, 100 + 5 + 3), (True, 100 + 3)])
def test_a_move_costs_what_the_caller_says(engine, live, finish):
    def move(d):
        d.move(0, nodes=[4, 0], checkpoint_cost=5, restart_cost=3, live=live)

    result = run({10: move}, engine, fs.Cluster(5))
    assert result.jobs["finish"].tolist() == [finish, 51.0]
    assert result.jobs["moves"].tolist() == [1, 0]
    stays = result.allocations
    held = np.split(stays["nodes"], stays["node_offsets"][1:-1])
    assert [nodes.tolist() for nodes, job in zip(held, stays["job"].tolist(), strict=True) if job == 0] == [
        [0, 1],
        [0, 4],
    ]
    assert result.counters["migrations_successful"] == 1
    assert result.ledger["migration"] == 2 * (finish - 100)


@ENGINES
@pytest.mark.parametrize("job", [-1, 2, 2**31, 2**63, 2**70, -(2**70)])
def test_a_row_that_is_none_is_refused_by_name(engine, job):
    """However large: no act and no question knows it."""
    d = fs.Simulation(
        LOG, fs.Torus(4, 1, 1), scheduler=fs.External(), engine=engine, checkpointing=fs.Periodic(5, 1)
    ).advance()
    for name in ("start", "backfill", "may_backfill", "requeue", "kill", "checkpoint", "fits", "boxes", "shadow"):
        with pytest.raises(fs.DecisionError, match=f"there is no job {job}"):
            getattr(d, name)(job)
    with pytest.raises(fs.DecisionError, match=f"there is no job {job}"):
        d.backfill(0, job)
    with pytest.raises(fs.DecisionError, match=f"there is no job {job}"):
        d.move(job, box=[0, 0, 0, 1, 1, 1])


class MovesAtTen(fs.Rescheduling):
    """Its tick moves job 0 from one end of a line of four nodes to the other."""

    interval = 10.0

    def tick(self, decision):
        if decision.now == 10:
            decision.move(0, box=[3, 0, 0, 1, 1, 1], live=True, restart_cost=0)


@ENGINES
@pytest.mark.parametrize("scheduler", [fs.EasyBackfill(), fs.ConservativeBackfill(), fs.Backfill(4)], ids=str)
def test_reservations_are_beside_jobs_that_were_told_to_move(engine, scheduler):
    """Job 2 waits for nodes 0 to 2 from 50 to 60, since job 0 has node 3 now; job 3 must not be in its way."""
    log = fs.Workload(submit=[0, 0, 0, 20], runtime=[100, 50, 10, 100], size=[1, 2, 3, 1])
    machine = fs.Torus(4, 1, 1, wrap=False)
    result = fs.simulate(log, machine, scheduler=scheduler, rescheduling=MovesAtTen(), engine=engine)
    assert result.jobs["start"].tolist() == [0, 0, 50, 60]
    assert result.jobs["moves"].tolist() == [1, 0, 0, 0]


@ENGINES
def test_a_box_may_overlap_the_one_that_the_job_leaves(engine):
    log = fs.Workload(submit=[0], runtime=[100], size=[2])
    found = []

    def move(d):
        d.move(0, box=[1, 0, 0, 2, 1, 1], checkpoint_cost=0, restart_cost=0)
        found.append(d.occupancy[:, 0, 0].tolist())

    result = run({10: move}, engine, fs.Torus(4, 1, 1), log)
    assert found == [[False, True, True, False]]
    assert result.jobs["finish"].tolist() == [100.0]


@ENGINES
def test_a_checkpoint_beside_those_that_are_planned(engine):
    """Planned at 50 (10 s each): asked for at 30, then 50 s of work later, and so on from the end of each."""
    log = fs.Workload(submit=[0], runtime=[100], size=[1])
    result = run({30: lambda d: d.checkpoint(0)}, engine, log=log, checkpointing=fs.Periodic(50, 10))
    assert result.jobs["checkpoint_time"].tolist() == [20.0]
    assert result.jobs["finish"].tolist() == [120.0]
    assert result.counters["checkpoints"] == 1


TORUS = {"machine": fs.Torus(4, 1, 1), "log": fs.Workload(submit=[0], runtime=[100], size=[2])}
BOTH = fs.Workload(submit=[0, 1], runtime=[99, 9], size=[4, 4])
RISKY = {"checkpointing": fs.RiskBased(9, 95, any_rate=True), "predictor": fs.Blind()}
WIDER = {"machine": fs.Cluster(5)}
REFUSED = [
    (lambda d: d.hold(0), "cannot be held at a decision of kind 'time': only a failure holds", {}),
    (lambda d: d.withdraw(7), "there is no job 7", {}),
    (lambda d: d.withdraw(0), "in its start delay until 50 s", {"start_delay": 50}),
    (lambda d: d.kill(7), "there is no job 7", {}),
    (lambda d: d.kill(0), "in its start delay until 50 s", {"start_delay": 50}),
    (lambda d: d.checkpoint(0), "takes no checkpoints: give checkpointing=", {}),
    (lambda d: d.checkpoint(0), "job 0 cannot save now", RISKY),
    (lambda d: d.move(0), "say where job 0 moves to: nodes=", {}),
    (lambda d: d.move(0, nodes=[0, 1]), "job 0 already has these nodes", {}),
    (lambda d: d.move(0, nodes=[0, 2]), "node 2 is not free", {}),
    (lambda d: d.move(0, nodes=[0]), "asks for 2 nodes, got 1", {}),
    (lambda d: d.move(0, nodes=[0, 0]), "named twice", {}),
    (lambda d: d.move(0, nodes=[0, 9]), "there is no node 9", {}),
    (lambda d: d.move(0, nodes="ab"), "must be whole numbers", {}),
    (lambda d: d.move(0, box=[0] * 6), "jobs on a cluster take nodes", {}),
    (lambda d: d.move(0, nodes=[0, 4], restart_cost=-1), "the costs of a move must be 0 s or more", WIDER),
    (lambda d: d.move(0, nodes=[0, 4]), "jobs on a torus take boxes", TORUS),
    (lambda d: d.move(0, box=[0, 0, 0, 2, 1, 1]), "job 0 already has this box", TORUS),
    (lambda d: d.move(0, box=[0, 0, 0, 3, 1, 1]), "a box of the 2 nodes that it has, got 3", TORUS),
]  # fmt: skip


@ENGINES
@pytest.mark.parametrize(("act", "message", "options"), REFUSED, ids=[str(i) for i in range(len(REFUSED))])
def test_what_is_not_possible_is_refused_and_changes_nothing(engine, act, message, options):
    def refused(d):
        with pytest.raises(fs.DecisionError, match=message):
            act(d)

    expected = run({10: lambda d: None}, engine, **options)
    assert_same(run({10: refused}, engine, **options), expected)


@ENGINES
def test_each_kind_takes_its_own_acts(engine):
    seen = []

    def refused(d, *acts):
        for act, job in acts:
            with pytest.raises(fs.DecisionError) as error:
                getattr(d, act)(job)
            seen.append(str(error.value))

    def failure(d):
        refused(d, ("hold", 1), ("checkpoint", 0), ("start", 1))
        d.wake(d.now + 1)
        d.hold(0)
        refused(d, ("hold", 0), ("requeue", 0), ("kill", 0))

    def tick(d):
        refused(d, ("hold", 0), *([("start", 2)] if 2 in d.queue.tolist() else []))

    log = fs.Workload(submit=[0, 1, 2], runtime=[100, 50, 5], size=[2, 2, 4])
    run(
        {"failure": failure, "tick": tick},
        engine,
        at=("schedule", "failure", "tick"),
        tick=40,
        failures=FAILURES,
        log=log,
    )
    words = "; ".join(seen)
    assert "job 1 cannot be held: this decision is about job 0" in words
    assert "job 0 cannot be requeued: it holds its nodes until they are repaired" in words
    assert "cannot be held at a decision of kind 'tick'" in words


@ENGINES
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheduler": lambda: fs.External(at=("failure",))}, "leaves the passes to nobody"),
        ({"scheduler": lambda: fs.External(at=("schedule", "tick"))}, "give tick="),
        ({"scheduler": lambda: fs.External(tick=5)}, 'give at= with "tick"'),
        ({"scheduler": lambda: fs.External(at=("schedule", "tock"))}, "unknown kind of decision 'tock'"),
        ({"scheduler": lambda: fs.External(at=5)}, "at must list kinds of decisions"),
        ({"scheduler": lambda: fs.External(at=("schedule", "tick"), tick=1e-300)}, "ticks every 1e-300 s are too many"),
        ({"scheduler": lambda: fs.External(at=("schedule", "checkpoint"))}, "give checkpointing=BeforeFailure"),
        (
            {"scheduler": lambda: fs.External(at=("schedule", "tick"), tick=5), "rescheduling": lambda: Silent()},
            "both answer at a tick",
        ),
        (
            {"scheduler": lambda: fs.External(at=ASK), "recovery": lambda: Shrug(), "failures": lambda: FAILURES},
            "both answer at a failure",
        ),
        ({"recovery": lambda: fs.Recovery(), "failures": lambda: FAILURES}, r"must define react\(self, decision\)"),
        ({"rescheduling": lambda: fs.Rescheduling()}, r"must define tick\(self, decision\)"),
        ({"rescheduling": lambda: type("Never", (Silent,), {"interval": 0})()}, "Never.interval"),
        ({"checkpointing": lambda: type("Free", (Wanting,), {"cost": -1})()}, "Free.cost"),
        ({"checkpointing": lambda: Wanting()}, "Wanting.wants must return True or False, got 'perhaps'"),
    ],
)
def test_combinations_and_classes_that_do_not_work_are_refused(engine, options, message):
    with pytest.raises(fs.OptionError, match=message):
        fs.simulate(LOG, fs.Cluster(4), engine=engine, **{name: make() for name, make in options.items()})


class Silent(fs.Rescheduling):
    interval = 10.0

    def tick(self, decision):
        pass


class Shrug(fs.Recovery):
    def react(self, decision):
        pass


class Wanting(fs.Checkpointing):
    interval, cost = 10.0, 1.0

    def wants(self, decision):
        return "perhaps"


class Broken(fs.Recovery):
    def react(self, decision):
        raise ZeroDivisionError("mine")


@ENGINES
def test_an_exception_comes_out_of_the_run(engine):
    with pytest.raises(ZeroDivisionError, match="mine"):
        fs.simulate(LOG, fs.Cluster(4), failures=FAILURES, recovery=Broken(), engine=engine)


def test_live_simulations_know_their_failures():
    for options in ({"scheduler": fs.External(at=ASK)}, {"recovery": Shrug()}):
        with pytest.raises(fs.NotAvailableError, match="live= is not available with"):
            fs.Simulation(LOG, fs.Cluster(4), live=10, **options)


def answer(d):
    if d.kind == "failure":
        d.hold(d.job)
    elif d.kind == "tick":
        for job in d.running if d.now < 60 else ():
            with contextlib.suppress(fs.DecisionError):
                d.requeue(job)
    else:
        easy(d)


def test_copies_and_pickles_go_on_in_the_middle_of_an_instant():
    scheduler = fs.External(at=("schedule", "failure", "tick"), tick=25)
    sim = fs.Simulation(LOG, fs.Cluster(4), scheduler=scheduler, failures=FAILURES, record=True)
    results = []
    while (d := sim.advance()) is not None:
        for other in (sim.copy(), pickle.loads(pickle.dumps(sim))):
            there = other.decision
            while there is not None:
                answer(there)
                there = other.advance()
            results.append(other.result())
        answer(d)
    for result in results:
        assert_same(result, sim.result())
    assert len(results) > 12


@pytest.mark.parametrize(
    "own", [{"recovery": Recover(fs.Hold())}, {"scheduler": ByHand(easy)}], ids=["recovery", "scheduler"]
)
def test_acts_of_policies_inside_are_not_repeated_by_a_pickle(own):
    sim = fs.Simulation(LOG, fs.Cluster(4), failures=FAILURES, record=True, **own)
    sim.run(until=50)
    other = pickle.loads(pickle.dumps(sim))
    sim.run()
    other.run()
    assert_same(other.result(), sim.result())


def test_a_built_in_scheduler_takes_over_at_any_kind():
    sim = fs.Simulation(LOG, fs.Cluster(4), scheduler=fs.External(at=("schedule", "failure", "tick"), tick=20),
                        failures=FAILURES, record=True)  # fmt: skip
    expected = fs.simulate(LOG, fs.Cluster(4), scheduler=fs.EasyBackfill(), failures=FAILURES, record=True)
    while (d := sim.advance()) is not None:
        taken = sim.rollout(fs.EasyBackfill())
        for name, column in expected.jobs.items():
            assert np.array_equal(taken.jobs[name], column), name
        easy(d) if d.kind == "schedule" else None


@pytest.mark.parametrize("options", [{"recovery": Shrug(), "failures": FAILURES}, {"rescheduling": Silent()}])
def test_own_policies_are_named_and_wanted_again(options, tmp_path):
    result = fs.simulate(LOG, fs.Cluster(4), **options)
    assert "python" in repr(result)
    result.save(tmp_path / "run.npz")
    loaded = fs.load_result(tmp_path / "run.npz")
    with pytest.raises(fs.OptionError, match="written in Python"):
        fs.rerun(loaded)
    own = {name: policy for name, policy in options.items() if name != "failures"}
    assert_same(fs.rerun(loaded, **own), result)
