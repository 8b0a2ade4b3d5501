"""Random acts, legal and illegal, of a caller that owns time: nothing breaks, what is refused was never there, and the
reference engine agrees at each of them.
"""

import contextlib
import math
import pickle
import random
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulation.test_decision_fuzz import CHANGES, COLUMNS, outcome, random_act, random_way
from simulation.test_decision_fuzz import seen as seen_of_decision

import faultsim as fs
from helpers.deciders import easy
from helpers.results import assert_equal
from helpers.thresholds import at

ROOM = 14
MACHINES = [fs.Cluster(5), fs.Torus(2, 2, 2), fs.Torus(3, 1, 2, wrap=False)]
SCHEDULERS = [
    fs.External(),
    fs.External(order="largest"),
    fs.Fcfs(),
    fs.EasyBackfill(),
    fs.EasyBackfill(repairs="unknown"),
    fs.EasyBackfill(order="saf"),
    fs.Fcfs(order="wfp3"),
    fs.Backfill(2),
    fs.ConservativeBackfill(),
    fs.ConservativeBackfill(order=fs.Key("wait / estimate")),
]
RECOVERY = [fs.Requeue(), fs.Requeue("tail", 2), fs.Hold(), fs.Hold(3)]
CHECKPOINTING = [None, fs.Periodic(3, cost=1), fs.Periodic(5, cost=0), fs.RiskBased(3, cost=1), fs.RiskBased(5, cost=0)]
#: Names of jobs and nodes that are none.
STRANGE = [-1, 99, 2**31, 2**63, 2**80, -(2**70), 1.0, None, "0"]
ERRORS = (fs.DecisionError, fs.OptionError, fs.InputError)


def live_run(rng):
    """The first jobs of a live simulation, its machine and its options, with which of them have run times."""
    machine, scheduler = rng.choice(MACHINES), rng.choice(SCHEDULERS)
    log = jobs_at(rng, machine, rng.randint(1, 5), 0.0)
    options = {
        "scheduler": scheduler,
        "recovery": rng.choice(RECOVERY),
        "checkpointing": rng.choice(CHECKPOINTING),
        "overrun": rng.choice(["extend", "kill"]),
        "start_delay": rng.choice([0.0, 0.0, 2.0]),
        "unknown": rng.random() < 0.5,
        **policies_that_foresee(rng, machine),
        **policies_that_move(rng, machine, scheduler),
    }
    return log, machine, options


SITE = fs.Site(
    [fs.NodeClass("cpu", 3, cores=4, memory="8M"), fs.NodeClass("gpu", 2, cores=6, memory="16M", gpus=2)],
    [fs.Partition("all", "cpu,gpu", default=True), fs.Partition("gpus", "gpu")],
)


def live_run_on_a_site(rng):
    """The same where jobs share nodes."""
    placements = [None, fs.FirstFit(), fs.BestFit(), fs.LeastLoaded(), fs.LeastFailuresFirst(), fs.SafestFirst()]
    options = {
        "scheduler": rng.choice([fs.External(), *SCHEDULERS]),
        "recovery": rng.choice(RECOVERY),
        "checkpointing": rng.choice(CHECKPOINTING),
        "overrun": rng.choice(["extend", "kill"]),
        "start_delay": rng.choice([0.0, 0.0, 2.0]),
        "unknown": rng.random() < 0.5,
        "placement": rng.choice(placements),
        "predictor": fs.Blind(),
        **rng.choice([{}, {}, {"rescheduling": Restless()}]),
    }
    return jobs_at(rng, SITE, rng.randint(1, 5), 0.0), SITE, options


def policies_that_foresee(rng, machine):
    placements = [fs.Balancing(), fs.TieBreaking()] if machine.name == "torus" else [fs.SafestFirst()]
    return {"placement": rng.choice([None, *placements]), "predictor": fs.Blind()}


class Restless(fs.Rescheduling):
    """Stops and moves running jobs at ticks, and often what it tries is refused."""

    interval = 4.5

    def tick(self, decision):
        rng = random.Random(int(8 * decision.now))
        for job in decision.running.index.tolist():
            act = rng.choice(["", "", "requeue", "kill", "move"])
            costs = {"checkpoint_cost": rng.choice([0, 2]), "restart_cost": 1.5, "live": rng.random() < 0.5}
            more = random_way(rng, decision, job) | costs if act == "move" else {}
            with contextlib.suppress(fs.DecisionError):
                getattr(decision, act)(job, **more) if act else None


def policies_that_move(rng, machine, scheduler):
    migration = fs.LeastFailuresMigration(0, cost=3)
    if machine.name == "torus":
        migration = None if isinstance(scheduler, fs.External) or not machine.wrap else fs.Defragment(cost=3)
    return rng.choice([{}, {}, {"rescheduling": Restless()}, {"migration": migration}])


def jobs_at(rng, machine, n, begin):
    log = whole_jobs_at(rng, machine, n, begin)
    if machine.name != "site":
        return log
    nodes = [rng.choice([0, 1, 1, 2]) for _ in range(n)]
    return log.with_columns(
        cores=[rng.choice([1, 2, 4, 5]) * max(1, most) for most in nodes],
        nodes=nodes,
        memory=[rng.choice([0, 2, 8, 12]) for _ in range(n)],
        gpus=[rng.choice([0, 0, 1]) for _ in range(n)],
        exclusive=[rng.random() < 0.1 for _ in range(n)],
        partition=[
            rng.choice(["all", "all", "gpus", "none"] if rng.random() < 0.1 else ["all", "gpus"]) for _ in nodes
        ],
    )


def whole_jobs_at(rng, machine, n, begin):
    return fs.Workload(
        submit=np.sort([begin + rng.choice([0, 0, 1, 2.5, 7, 20]) for _ in range(n)]),
        runtime=[rng.choice([0, 1, 4, 9.5, 30]) for _ in range(n)],
        size=[rng.randint(1, machine.nodes) for _ in range(n)],
        estimate=[rng.choice([1, 5, 10, 40]) for _ in range(n)],
        user=[rng.randrange(3) for _ in range(n)],
    )


def random_told(rng, sim, machine, n):
    """A name, positional and keyword arguments: sensible or not."""
    running, now = sim.running.tolist(), sim.now
    job = rng.choice([*running, *running, rng.randrange(n + 1), rng.choice(STRANGE)])
    node = rng.choice([rng.randrange(machine.nodes)] * 6 + [rng.choice(STRANGE)])
    name = rng.choice(
        ["submit", "submit", "finish", "extend", "fail", "down", "up", "up", "foresee", "withdraw", "hold", "release"]
    )
    if name in ("withdraw", "hold"):
        waiting = sim.queue.tolist()
        return name, (rng.choice([job, *waiting, *waiting]),), {}
    if name == "release":
        return name, (rng.choice([job, *range(n)]),), {}
    if name == "foresee":
        return name, (), random_predictions(rng, machine, now)
    if name == "submit":
        begin = now if rng.random() < 0.9 else now - 1
        if machine.name != "site" and rng.random() < 0.5:
            return name, (), random_job(rng, machine, begin, n)
        log = jobs_at(rng, machine, rng.randint(1, 3), max(begin, 0.0))
        return name, (log,), {"unknown": rng.choice([False, True, [rng.random() < 0.5 for _ in range(len(log))], 3])}
    if name == "finish":
        return name, (job,), {}
    if name == "extend":
        return name, (job, rng.choice([0, 1, 3.5, -1, -2.5, -50, math.inf, -math.inf, math.nan, "a"])), {}
    if name == "fail":
        return name, (node, rng.choice([0, 0, 1, 2.5, 20, -1, math.inf, math.nan])), {}
    return name, (node,), {}


def random_job(rng, machine, begin, n):
    """Of one job, or two, without a log."""
    size = rng.choice([rng.randint(1, machine.nodes)] * 9 + [0, 99])
    job = {"submit": begin + rng.choice([0, 0, 1.5, 9]), "size": size}
    limit = {"estimate": rng.choice([1, 5, 40.0, -7, math.nan])}
    job |= rng.choice([{}, limit, limit | {"runtime": rng.choice([0, 4, 9.5, -2])}, {"runtime": rng.choice([4, 9.5])}])
    job |= rng.choice([{}, {}, {"id": rng.choice([n + 1, n + 7, 1])}])
    if rng.random() < 0.3:
        job = {name: [value, value + (name == "id")] for name, value in job.items()}
    return job


def random_predictions(rng, machine, now):
    n = rng.randrange(4)
    begin = [now + rng.choice([-3, 0, 1, 4.5, 12, 30]) for _ in range(n)]
    columns = {"node": [rng.choice([*range(machine.nodes)] * 4 + [-1, 77, 2.5]) for _ in range(n)]}
    if rng.random() < 0.5:
        columns["time"] = begin
    else:
        columns |= {"begin": begin, "end": [t + rng.choice([0, 1, 6, 40, 40, -1]) for t in begin]}
    return columns | {"p": rng.choice([0.5] * 8 + [0.25, 2])}


def result_of(sim, act):
    """What came of an act, comparable."""
    name, args, kwargs = act
    try:
        return getattr(sim, name)(*args, **kwargs)
    except ERRORS as error:
        return f"{type(error).__name__}: {error}"


def seen(sim, d):
    """All that is to be seen."""
    shown = {name: getattr(sim, name) for name in ("now", "free", "n_done", "lost_work")}
    shown |= {"queue": sim.queue.tolist(), "running": sim.running.tolist()}
    if d is not None:
        columns = ["kind", "at", "left", "disturbed", "down", "repairs", "occupancy", "job", "node", "until", "asked"]
        columns += ["reserved", "closed", "foreseen", *COLUMNS, "runs", "sizes", "starts", "ends", "where"]
        columns += ["amounts", "shares", "first shadows", "slices", "cubes"]
        shown |= dict(zip(columns, seen_of_decision(d), strict=True)) | {"user": d.queue.user.tolist()}
        shown["shadows"] = [(d.shadow(row), d.fits(row)) for row in d.queue]
    return shown


#: What depends on the order of the queue.
_OF_QUEUE = ("disturbed", "user", "shadows", "first shadows")


def comparable(shown, kind):
    """What both engines show; where a built-in scheduler decides, a pass without starts leaves the queue as it was."""
    if kind is fs.External:
        return shown
    shown["queue"].sort()
    return {name: value for name, value in shown.items() if name not in (*COLUMNS, *_OF_QUEUE)}


def go_on(sim, until):
    try:
        return sim.advance(until)
    except fs.DecisionError as error:
        return f"deadlock: {type(error).__name__}"


def check(case, seed, steps=25, told=lambda sim: sim):
    """Random acts on one simulation; only those that it took on a second one, through `told`, and on the reference
    engine.
    """
    log, machine, options = case
    rng, kind = random.Random(seed), type(options["scheduler"])
    first = log if machine.name == "site" or rng.random() < 0.7 else None
    if first is None:
        options = options | {"unknown": False}
    room = rng.choice([1, ROOM, True])
    sims = [fs.Simulation(first, machine, live=room, engine=name, **options) for name in ("core", "core", "reference")]
    if first is None:
        for sim in sims:
            sim.submit(log)
    sims[1] = told(sims[1])
    found = [None] * 3
    while steps or not sims[0].done:
        steps = max(steps - 1, 0)
        if not steps:
            finish_all(sims, rng)
        for _ in range(rng.randrange(5) if steps else 0):
            told_now(rng, sims, found, machine, kind)
        if rng.random() < 0.15:
            sims[0] = rng.choice([sims[0].copy, lambda: pickle.loads(pickle.dumps(sims[0]))])()
            found[0] = sims[0].decision if found[0] is not None else None
        if not steps and kind is fs.External and found[0] is not None:
            for d in found:
                easy(d)
        endless = "rescheduling" in options  # while there are ticks there is no deadlock
        until = sims[0].now + rng.choice([0, 0.25, 1, 5, 17]) if steps or endless or rng.random() < 0.5 else None
        found = [go_on(sim, until) for sim in sims]
        assert len({isinstance(each, str) for each in found}) == 1, found
        if found[0] is None or isinstance(found[0], str):
            found = [None] * 3
            continue
        changes = [each.changes.tolist() for each in found]
        assert changes[0] == changes[1] == changes[2]
        shown = [seen(sim, d) for sim, d in zip(sims, found, strict=True)]
        assert shown[0] == shown[1]
        assert comparable(shown[0], kind) == comparable(shown[2], kind)
        for sim in sims:
            sim.verify()
    results = [sim.result() for sim in sims]
    assert_equal(results[0], results[1])
    assert_equal(results[0], results[2], but=("ledger", *SUMS))
    for name in SUMS:
        np.testing.assert_allclose(results[0].jobs[name], results[2].jobs[name], rtol=1e-9, atol=1e-7)
    assert results[0].ledger == pytest.approx(results[2].ledger, rel=1e-9, abs=1e-7)


SUMS = ("runtime", "lost_work", "checkpoint_time", "restart_time", "failure_wait", "bounded_slowdown")


def told_now(rng, sims, found, machine, kind):
    """One act on all three, which must agree; a refused one changes nothing."""
    d = found[0]
    n = len(sims[0].log)
    by_decision = d is not None and kind is fs.External and rng.random() < 0.4
    act = random_act(rng, d, n) if by_decision else random_told(rng, sims[0], machine, n)
    before = seen(sims[0], d)
    if by_decision:
        came = outcome(d, act)
        assert came == outcome(found[2], act), act
        taken = came != "refused" and act[0] in CHANGES
        if taken:
            assert outcome(found[1], act) == came
    else:
        came = result_of(sims[0], act)
        assert came == result_of(sims[2], act), act
        taken = came is None
        if taken:
            assert result_of(sims[1], act) is None
    for sim in (sims[0], sims[2]):
        sim.verify()
    if not taken:
        assert seen(sims[0], d) == before, act
    assert comparable(seen(sims[0], d), kind) == comparable(seen(sims[2], found[2]), kind), act


def finish_all(sims, rng):
    """All nodes come up and take jobs, no job is on hold, and all jobs end by and by."""
    jobs = [job for job in sims[0].running.tolist() if rng.random() < 0.7]
    released = [("release", job) for job in range(len(sims[0].log))]
    nodes = [(name, node) for name in ("up", "resume") for node in range(8)]
    for act in nodes + [("finish", job) for job in jobs] + released:
        assert len({result_of(sim, (act[0], act[1:], {})) for sim in sims}) == 1, act


def check_drawn(drawn, seed, **options):
    """A run that there is, by `seed`."""
    log, machine, policies = drawn(random.Random(seed))
    try:
        fs.Simulation(log, machine, live=ROOM, **policies)
    except fs.InputError:  # an unknown partition, or nodes that it does not have
        return
    check((log, machine, policies), seed, **options)


@pytest.mark.parametrize("drawn", [live_run, live_run_on_a_site])
@given(st.integers(0, 2**32))
def test_random_acts_of_a_caller_that_owns_time(drawn, seed):
    check_drawn(drawn, seed)


@pytest.mark.parametrize("drawn", [live_run, live_run_on_a_site])
@given(st.integers(0, 2**32))
def test_random_acts_where_copies_share_all_rows_of_records(drawn, seed):
    with at(shared_rows=1):
        check_drawn(drawn, seed)


def test_acts_from_another_thread():
    log, machine = fs.synthetic.lublin(400, rng=1, nodes=64), fs.Cluster(64)
    sim = fs.Simulation(log, machine, live=3000, scheduler=fs.External())
    rng, broken, told, over = random.Random(1), [], set(), []

    def go_on_alone():
        while not over:
            try:
                easy(sim.advance(sim.now + 100))
                time.sleep(rng.choice([0, 0.0004]))  # nearly always the threads meet inside the engine
            except (fs.DecisionError, fs.BusyError) as error:
                with contextlib.suppress(fs.DecisionError, fs.BusyError):
                    easy(sim.decision or sim.advance(sim.now))
                broken.extend([error] if not any(word in str(error) for word in EXPECTED) else [])

    thread = threading.Thread(target=go_on_alone)
    thread.start()
    for _ in range(600):
        time.sleep(0.0002)
        with contextlib.suppress(*ERRORS, fs.BusyError):
            act = random_told(rng, sim, machine, 400)
            getattr(sim, act[0])(*act[1], **act[2] | ({"unknown": False} if act[0] == "submit" else {}))
            told.add(act[0])
        with contextlib.suppress(fs.DecisionError, fs.BusyError):
            rng.choice([sim.verify, sim.copy, lambda: sim.decision])()
    over.append(True)
    thread.join()
    sim.verify()
    assert not broken, broken
    assert told >= {"submit", "fail", "down", "up"}


#: What a thread may hear when another one acts.
EXPECTED = ("middle", "over", "deadlock", "not waiting", "without an end", "already", "is not running", "cannot start")


class Stumbles(fs.Scheduler):
    """Raises once."""

    def __init__(self, at):
        self.left = at

    def schedule(self, d):
        self.left -= 1
        if self.left == 0:
            raise ZeroDivisionError("mine")
        easy(d)


@given(st.integers(0, 2**32), st.integers(1, 6))
def test_an_exception_in_a_scheduler_of_a_live_run(seed, at):
    rng = random.Random(seed)
    log, machine, options = live_run(rng)
    sim = fs.Simulation(log, machine, live=ROOM, **options | {"scheduler": Stumbles(at)})
    try:
        for _ in range(20):
            result_of(sim, random_told(rng, sim, machine, len(sim.log)))
            sim.advance(sim.now + rng.choice([0, 1, 9]))
            sim.verify()
    except ZeroDivisionError:
        for name, act in (("down", (0,)), ("finish", (0,)), ("submit", (jobs_at(rng, machine, 1, sim.now),))):
            with pytest.raises(fs.EngineError, match="an exception broke off a scheduling pass"):
                getattr(sim, name)(*act)
    sim.verify()
