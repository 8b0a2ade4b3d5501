"""The slow, obvious engine: docs/background/model.md read aloud, for tests, for teaching and for trying out a policy.

It shares no code with the fast engine: when the two agree on every job of a random workload, a misreading must have
been made twice.  Each rule is one function beside the sentence of the model that it stands for: what is in quotation
marks is in the page's words.  Every module names its section.
"""

import math
import operator
from collections.abc import Generator, Mapping
from copy import copy
from functools import partial
from typing import Any, SupportsIndex, cast

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks
from faultsim.arrays import Values
from faultsim.data.world import World
from faultsim.errors import DecisionError, EngineError, NotAvailableError
from faultsim.policies.registry import MACHINES
from faultsim.policies.settings import Settings
from faultsim.reference.absences import Absences
from faultsim.reference.decisions import Decision
from faultsim.reference.drains import drained_nodes
from faultsim.reference.eligibility import (
    Eligibility,
    hold_back,
    let_go,
    make_ready,
    submitted,
    withdraw,
    withdraw_now,
)
from faultsim.reference.engine_inputs import WorldRows
from faultsim.reference.faults.absences import begin_or_end
from faultsim.reference.faults.checkpointing import alarm, ask
from faultsim.reference.faults.failures import (
    before_the_first_submit,
    end_holds,
    fail,
    kill_for_good,
    repair,
    repair_part,
)
from faultsim.reference.faults.hot_spares import HotSpares, unit_of
from faultsim.reference.job import Job
from faultsim.reference.ledger import advance, ledger
from faultsim.reference.own_clock import clocks
from faultsim.reference.questions import answerers
from faultsim.reference.questions import ask as ask_outside
from faultsim.reference.rules import rules_of
from faultsim.reference.scheduling.expressions import check_static
from faultsim.reference.scheduling.queueing import queue_order
from faultsim.reference.so_far import FUTURE, so_far, what_became_of
from faultsim.reference.state import CHANGE, State, table_of
from faultsim.reference.torus.boxes import Box, BoxTable
from faultsim.reference.verify import check_end, check_instant

#: The last time at which something can happen.
LATEST = np.finfo(np.float64).max
#: Begins and ends of absences at which no job starts, where nothing else is to come, before that is a deadlock.
IDLE_EDGES = 10_000


def simulate(
    settings: Settings,
    submit: ArrayLike,
    runtime: ArrayLike,
    estimate: ArrayLike,
    size: ArrayLike,
    world: World | None = None,
) -> dict[str, object]:
    """Run jobs on a machine and return their outcomes.

    Parameters
    ----------
    settings : Settings
        The lowered policies; with ``verify`` true the invariants (model.md#invariants) are checked after every instant.
    submit, runtime, estimate : array of shape (n,)
        Seconds; submit not decreasing, none negative, no NaN.
    size : array of shape (n,)
        Requested nodes, at least 1 and at most the machine's.
    world : World, optional
        Failures, predictions, requests for checkpoints and ticks, and what else the run gets from outside.

    Returns
    -------
    dict
        Columns of shape (n,), counts, and the ledger in node-seconds; with ``record`` the events and allocations too.

    Raises
    ------
    NotAvailableError
        A setting names a part of the model that is not there.
    EngineError
        An invariant does not hold (with ``verify``).

    Examples
    --------
    >>> from faultsim.policies.settings import Settings
    >>> fcfs = {"name": "fcfs", "order": {"name": "arrival"}}
    >>> settings = Settings({"name": "cluster", "nodes": 4}, scheduler=fcfs, placement={"name": "first_fit"})
    >>> simulate(settings, [0, 0], [10, 10], [10, 10], [3, 2])["start"]
    array([ 0., 10.])
    """
    return run_whole(Run(settings, submit, runtime, estimate, size, world))


def run_whole(run: "Run") -> dict[str, object]:
    """Its outcome, if no decision comes from outside."""
    for step in run.steps():
        if step == "decide":
            raise EngineError("decisions of this run come from outside: use Run.advance")
    return run.output()


class Run:
    """A run that stops where somebody outside decides; the parameters are those of `simulate`."""

    def __init__(
        self,
        settings: Settings,
        submit: ArrayLike,
        runtime: ArrayLike,
        estimate: ArrayLike,
        size: ArrayLike,
        world: World | None = None,
    ) -> None:
        check_settings(settings)
        rules = rules_of(settings)
        table, nodes = table_of(settings)
        given = world or World()
        told = given.checkpoint_interval, given.shape_rank
        jobs = make_jobs(settings, rules, table, submit, runtime, estimate, size, *told)
        for job, clock in zip(jobs, clocks(given.clocks, len(jobs)), strict=True):
            job.clock = clock
        answers = answerers(settings)
        absences = None if given.absences is None else Absences(given.absences)
        self.state = state = State(settings, rules, jobs, table, nodes, WorldRows(given), bool(answers), absences)
        if answers:
            state.ask = partial(ask_outside, state, answers)
        for job in jobs:
            job.row = job.index if state.world.rows is None else int(state.world.rows[job.index])
            job.user_group = 0 if given.user_group is None else int(given.user_group[job.row])
        check_static(jobs, settings.scheduler["order"], state.world.columns)
        if given.eligibility is not None:
            state.eligibility = Eligibility(jobs, given.eligibility)
        state.now = state.clock = jobs[0].submit if jobs else 0.0
        self.coming = Coming(state, before_the_first_submit(state))
        self._steps, self._step = self.steps(), ""
        self._asked_at = -math.inf  # when the caller had to decide last
        self.waits: str | None = None  # the kind of decision that the caller has

    def steps(self) -> Generator[str, None, None]:
        """Run it: "instant" before each instant, "decide" where it waits for somebody outside."""
        state = self.state
        while state.world.live or len(state.done) < len(state.jobs):
            yield "instant"
            t = self.coming.next_time()
            if t == math.inf:
                raise DecisionError(self.deadlock())
            advance(state, t)
            while (yield from happens_now(state, self.coming)):
                if state.rules["scheduler"].outside:
                    state.passes += 1
                    yield "decide"
                    state.last_pass = state.now
                else:
                    scheduling_pass(state)
            if state.checking:
                check_instant(state)

    def advance(self, until: float = math.inf) -> Decision | None:
        """As `faultsim.Simulation.advance`."""
        if not until >= self.state.now:
            raise DecisionError(f"advance(until={until:g}): it is {self.state.now:g} s already")
        if self.go_on(until):
            return self.hand_out(self.state.question.kind if self.state.question else "schedule")
        if until == math.inf:
            return None
        self.state.now = max(until, self.state.now)
        return self.hand_out("time")

    def go_on(self, until: float) -> bool:
        """All events up to then; whether somebody outside has to decide before."""
        state = self.state
        before = state.n_decisions, self.waits
        state.n_decisions += 1
        state.until = until
        self.waits = None
        while not self.is_over(until):
            if until == math.inf and self._step == "instant" and self.only_requests():
                break
            if self._step == "instant" and not self.coming.next_time() <= min(until, LATEST):
                break
            self._step = next(self._steps, "")
            if self._step == "decide":
                self._asked_at = state.now
                return True
        if until == math.inf and len(state.done) < len(state.jobs):
            state.n_decisions, self.waits = before
            raise DecisionError(self.deadlock())
        state.fruitless = 0
        return False

    def hand_out(self, kind: str) -> Decision:
        """To the caller, who is told of changes once."""
        state = self.state
        self.waits = kind
        self.state.fruitless = 0
        decision = Decision(state, kind, queue_order(state))
        state.told = len(state.diary), len(state.places)
        return decision

    def is_over(self, until: float) -> bool:
        """Whether nothing is left to happen until then."""
        # Who was asked in the middle of an instant: the rest of it comes whatever the answer.
        in_the_middle = self._step == "decide" and self.coming.next_time() <= self._asked_at
        return len(self.state.done) == len(self.state.jobs) and self.state.question is None and not in_the_middle

    def only_requests(self) -> bool:
        """Whether nothing is left to happen but requests for checkpoints, by jobs that run without an end."""
        state, coming = self.state, self.coming
        asking = [job for job in state.running if job.finish == math.inf]
        found = (
            state.world.live
            and bool(asking)
            and "checkpoint" not in state.settings.scheduler.get("at", ())  # a caller may act
            and coming.next_time() == min(state.rules["checkpointing"].next_request(job) for job in asking)
            and coming.next_time(of_endless=False) == math.inf
        )
        if found and "object" in state.settings.policy("checkpointing"):
            state.refuse_endless()
            return False
        return found

    def withdraw(self, row: object) -> None:
        """A job that waits is withdrawn now, and one that runs is killed (model.md#withdrawal)."""
        state, job = self.state, self.job_at(row)
        if job in state.done:
            raise DecisionError(f"job {row} cannot be withdrawn: it has ended")
        if job.held:
            raise DecisionError(f"job {row} cannot be withdrawn: it holds its nodes until they are repaired")
        if job in self.coming.arrivals:
            raise DecisionError(f"job {row} cannot be withdrawn: it has not arrived yet")
        if job in state.running and job.finish <= state.now:
            raise DecisionError(f"job {row} cannot be withdrawn: it ends now")
        state.catch_up()
        if job in state.running:
            kill_for_good(state, job, "withdrawal")
        elif not withdraw_now(state, job):
            return
        state.wakes.append(state.now)

    def hold(self, row: object) -> None:
        """A job that waits is on hold from now on (model.md#on-hold)."""
        state, job = self.state, self.job_at(row)
        if job in self.coming.arrivals:
            raise DecisionError(f"job {row} cannot be put on hold: it has not arrived yet")
        if job in state.done or job in state.running:
            raise DecisionError(
                f"job {row} cannot be put on hold: it {'has ended' if job in state.done else 'has nodes'}"
            )
        if self.is_on_hold(row):
            raise DecisionError(f"job {row} is on hold already")
        if hold_back(state, job):
            state.wakes.append(state.now)

    def release(self, row: object) -> None:
        """It is not on hold any more."""
        job = self.job_at(row)
        if not self.is_on_hold(row):
            raise DecisionError(f"job {row} cannot be released: it is not on hold")
        self.state.catch_up()
        let_go(self.state, job)

    def change(
        self,
        row: object,
        estimate: float | None,
        size: int | None,
        columns: Mapping[str, Values],
        decided: bool = False,
    ) -> None:
        """A job that has had no nodes asks for something else (model.md#changed); None: as before."""
        state, job = self.state, self.changeable(row)
        state.catch_up()
        if estimate is not None:
            job.estimate = estimate
            job.runtime = min(job.wanted, estimate) if state.settings.overrun == "kill" else job.wanted
        if size is not None:
            job.size = size
            job.needs = size if state.table is None else state.table.round_up(size)
        state.world.columns = columns
        state.disturb()
        if not decided:
            state.wakes.append(state.now)

    def postpone(self, row: object, begin: float, decided: bool = False) -> None:
        """A job of the queue leaves it until `begin`, as if that were its earliest start."""
        state, job = self.state, self.changeable(row)
        if job not in state.queue:
            what = "on hold" if self.is_on_hold(row) else "not eligible yet"
            raise DecisionError(f"job {row} cannot get another earliest start: it is {what}")
        if not begin > state.now:
            raise DecisionError(f"job {row} cannot get the earliest start {begin:g} s: it is {state.now:g} s already")
        hold_back(state, job)
        let_go(state, job)
        job.earliest = begin
        if not decided:
            state.wakes.append(state.now)

    def changeable(self, row: object) -> Job:
        """A job that has had no nodes yet."""
        state, job = self.state, self.job_at(row)
        if job in self.coming.arrivals:
            raise DecisionError(f"job {row} cannot be changed: it has not arrived yet")
        if job in state.done or job in state.running:
            raise DecisionError(f"job {row} cannot be changed: it {'has ended' if job in state.done else 'has nodes'}")
        if job.restarts:
            raise DecisionError(f"job {row} cannot be changed: it has had nodes before")
        return job

    def is_on_hold(self, row: object) -> bool:
        """Whether a job is on hold."""
        job, rules = self.job_at(row), self.state.eligibility
        return rules is not None and job in rules.on_hold

    def job_at(self, row: object) -> Job:
        """The job of a row."""
        jobs = {job.row: job for job in self.state.jobs}
        try:
            number = operator.index(cast(SupportsIndex, row))
        except TypeError:
            raise DecisionError(f"a job is named by its row, a whole number, not by {checks.shown(row)}") from None
        if number not in jobs:
            raise DecisionError(f"there is no job {number}: the log has rows 0 to {len(jobs) - 1}")
        return jobs[number]

    def deadlock(self) -> str:
        """Jobs wait, and nothing will ever start one."""
        state = self.state
        gone = sum(up == math.inf for up in state.up.values())
        parts = sum(part.until == math.inf for part in state.lost.values())
        if (gone or parts) and not state.world.live:
            also = f", and {parts} parts of nodes" if parts else ""
            return (
                f"deadlock: {len(state.jobs) - len(state.done)} jobs have not ended, none runs, and nothing else will "
                f"happen after {state.now:g} s; {gone} of {state.nodes} nodes do not return{also}"
            )
        if self.state.world.live and self.state.running:
            return f"{len(self.state.running)} jobs run without an end: nothing else will happen"
        on_hold = len(state.eligibility.on_hold) if state.eligibility is not None else 0
        if on_hold:
            return (
                f"deadlock: {len(state.jobs) - len(state.done)} jobs have not ended, {on_hold} of them are on hold "
                f"(release them), and nothing else will happen after {state.now:g} s"
            )
        drained = len(drained_nodes(state))
        if drained:
            return (
                f"deadlock: {len(state.jobs) - len(state.done)} jobs have not ended, {drained} nodes are drained "
                f"(resume them), and nothing else will happen after {state.now:g} s"
            )
        return f"deadlock: {len(self.state.queue)} jobs wait, none was started, and nothing else will happen"

    @property
    def begin(self) -> float:
        """The first submit time: "nothing counts before the first job"."""
        state = self.state
        return state.jobs[0].logged if state.begun else state.clock

    def output(self) -> dict[str, object]:
        """What both engines hand back."""
        state = self.state
        accounts = ledger(state, state.jobs)
        if state.checking:
            check_end(state, accounts, self.begin, state.clock)
        found = output(state, by_row(state.jobs), accounts, self.begin)
        if state.eligibility is not None:
            found["eligible"] = eligible_times(state, by_row(state.jobs))
        if state.world.live or any(job.killed for job in state.jobs) or state.eligibility is not None:
            found["state"] = np.array([what_became_of(state, job) for job in by_row(state.jobs)], dtype=np.int8)
        return found

    def output_so_far(self) -> dict[str, object]:
        """The same of a run that is not over (model.md#partial)."""
        state = copy(self.state)
        state.catch_up()
        jobs = [so_far(state, job) for job in by_row(state.jobs)]
        found = output(state, jobs, ledger(state, jobs), self.begin)
        found["state"] = np.array([what_became_of(state, job) for job in by_row(state.jobs)], dtype=np.int8)
        if state.eligibility is not None:
            found["eligible"] = eligible_times(state, by_row(state.jobs))
        if state.recording:
            found["allocations"]["end"][[row for rows in state.open_place.values() for row in rows]] = state.now
        return found


def check_settings(settings: Settings) -> None:
    """Refuse by name what this version does not have, other than policies."""
    if settings.machine["name"] not in MACHINES:
        raise NotAvailableError(f"machine {settings.machine['name']!r}: known are {', '.join(MACHINES)}")
    if settings.overrun not in ("extend", "kill"):
        raise NotAvailableError(f"overrun {settings.overrun!r}: known are extend, kill")


def make_jobs(
    settings: Settings,
    rules: dict[str, Any],
    table: BoxTable | None,
    submit: ArrayLike,
    runtime: ArrayLike,
    estimate: ArrayLike,
    size: ArrayLike,
    intervals: ArrayLike | None = None,
    ranks: ArrayLike | None = None,
) -> list[Job]:
    """The jobs, by (submit, index).

    model.md#overrun: "it ends at the estimate and counts as done with that run time".
    """
    columns = (np.asarray(column, dtype=np.float64).tolist() for column in (submit, runtime, estimate))
    jobs = []
    checkpointing, recovery = settings.checkpointing, settings.recovery
    for i, (s, r, e, n) in enumerate(zip(*columns, np.asarray(size).tolist(), strict=True)):
        executed = min(r, e) if settings.overrun == "kill" else r
        job = Job(i, s, executed, e, n, n if table is None else table.round_up(n))
        job.wanted, job.logged = r, s
        job.interval = rules["checkpointing"].interval_of(n)
        if math.isinf(job.interval):
            job.interval = 0.0  # "no checkpoint at an infinite W"
        if intervals is not None and math.isfinite(planned := np.asarray(intervals)[i]):
            job.interval = float(planned)
        job.cost = float(checkpointing["cost"]) if checkpointing and job.interval > 0.0 else 0.0
        job.restart_cost = float(recovery["restart_cost"]) if recovery else 0.0
        if ranks is not None and table is not None:
            job.needs = table.asked(job.needs, int(np.asarray(ranks)[i]))
        if isinstance(rules["recovery"], HotSpares):
            job.spares = rules["recovery"].spares_of(job.needs, unit_of(settings))
            job.needs += job.spares
        jobs.append(job)
    return jobs


class Coming:
    """What is still to come from outside: arrivals, failures, alarms, ticks; each the next one first."""

    def __init__(self, state: State, early: int) -> None:
        self.state = state
        self.arrivals = list(state.jobs)
        self.failures = state.world.failures[early:]
        takes_alarms = state.rules["checkpointing"].takes_alarms
        self.alarms = [row for row in state.world.alarms if takes_alarms and row[0] >= state.now]
        ticks = state.world.ticks if state.settings.rescheduling else []
        # "A tick before the first submit only determines which nodes are suspicious."
        for time, nodes in ticks:
            if time < state.now:
                state.suspicious = nodes
        self.ticks = [row for row in ticks if row[0] >= state.now]
        # Those of somebody outside, at whole multiples of the interval.
        self.idle_edges = 0  # since something else was to come
        self.edge = math.inf if state.absences is None else state.absences.next_edge(state.now)
        rule = state.settings.policy("rescheduling")
        self.interval = rule.get("interval") if "object" in rule else state.settings.scheduler.get("tick")
        self.tick = 0 if self.interval is None else math.floor(state.now / self.interval) - 1
        while self.tick_time < state.now:
            self.tick += 1

    @property
    def tick_time(self) -> float:
        """When somebody outside is asked at a tick next."""
        return math.inf if self.interval is None else float(self.tick) * self.interval

    def next_time(self, of_endless: bool = True) -> float:
        """When something happens next; `of_endless`: that jobs which run without an end ask for checkpoints, too."""
        state = self.state
        times = [job.finish for job in state.running]
        asking = state.running if of_endless else [job for job in state.running if job.finish < math.inf]
        times += [state.rules["checkpointing"].next_request(job) for job in asking]
        times += state.up.values()
        times += [part.until for part in state.lost.values()]
        times += [job.submit for job in self.arrivals[:1]]
        times += [row[0] for row in self.failures[:1]]
        times += [row[0] for row in self.alarms[:1]]
        times += [row[0] for row in self.ticks[:1]] + [self.tick_time]
        if state.eligibility is not None:
            times.append(state.eligibility.next_time(state.now))
        soonest = min(times + state.wakes, default=math.inf)
        if soonest < math.inf:
            self.idle_edges = 0
        return soonest if self.idle_edges > IDLE_EDGES else min(soonest, self.edge)


def happens_now(state: State, coming: Coming) -> Generator[str, None, bool]:
    """Handle all events of this instant; whether a pass is due.

    model.md#events: "Events are ordered by (time, kind, serial)."  Always the first of what is there: a job that has
    nothing left to do but rounding may finish at its checkpoint.

    "After all events of an instant, one scheduling pass runs if they included a finish, an arrival, a repair that
    brought a node up, a failure with an effect [...], a tick at which a job moved, or a withdrawal of a job that waited
    in the queue."
    """
    kinds = [finish, edge, repairs, failures, request, tick, arrival, ready, withdrawal, wake]
    if state.rules["checkpointing"].alarms_come_first:
        kinds = [finish, edge, repairs, request, failures, tick, arrival, ready, withdrawal, wake]
    due = False
    while True:
        for kind in kinds:
            found = kind(state, coming)
            if found is not None:
                due |= found if isinstance(found, bool) else (yield from found)
                break
        else:
            return due


# Events of one kind: None if there is none now, else whether a pass is due, or what says so once the caller, for whom
# it yields, has been asked.

Asking = Generator[str, None, bool]
Event = bool | None | Asking


def finish(state: State, coming: Coming) -> Event:
    """By job index.

    "Jobs of run time 0 that a pass starts (without start delay) finish at the same instant: these finishes are handled
    next, then another pass runs."
    """
    ending = [job for job in state.running if job.finish <= state.now]
    if not ending:
        return None
    job = min(ending, key=lambda job: job.index)
    state.end(job)
    state.rules["migration"].at_finish(state, job)
    state.events += 1
    return True


def edge(state: State, coming: Coming) -> Event:
    """All begins and ends of absences of this instant, which are no events of the count."""
    if state.absences is None or coming.edge > state.now:
        return None
    coming.edge = state.absences.next_edge(state.now)
    coming.idle_edges += 1
    return begin_or_end(state, state.absences)


def repairs(state: State, coming: Coming) -> Event:
    """By node, then parts of nodes in the order in which they failed."""
    repaired = [node for node, up in state.up.items() if up <= state.now]
    parts = [number for number, part in state.lost.items() if part.until <= state.now]
    if not repaired and not parts:
        return None
    if repaired:
        repair(state, min(repaired))
    else:
        repair_part(state, min(parts))
    state.events += 1
    return True


def failures(state: State, coming: Coming) -> Event:
    """In the order of the trace, all at once: "One kill per job and instant, however many of its nodes fail"."""
    if not coming.failures or coming.failures[0][0] > state.now:
        return None
    return fail_all(state, coming)


def fail_all(state: State, coming: Coming) -> Asking:
    """Those of this instant."""
    effect = False
    while coming.failures and coming.failures[0][0] == state.now:
        _, node, downtime, part, unit = coming.failures.pop(0)
        effect |= yield from fail(state, node, downtime, part, unit)
        state.events += 1
    end_holds(state)
    return effect


def request(state: State, coming: Coming) -> Event:
    """Requests for checkpoints, "in the order of the predictions or failures that they come from, those of a job itself
    by job index".
    """
    asking = [job for job in state.running if state.rules["checkpointing"].next_request(job) <= state.now]
    if coming.alarms and coming.alarms[0][0] == state.now:
        return begin_checkpoints(state, alarm(state, coming.alarms.pop(0)[1]))
    if asking:
        return begin_checkpoints(state, ask(state, min(asking, key=lambda job: job.index)))
    return None


def begin_checkpoints(state: State, asked: Generator[str, None, None]) -> Asking:
    """Those that a request leads to."""
    begun = state.checkpoints
    yield from asked
    state.events += state.checkpoints - begun
    return False


def tick(state: State, coming: Coming) -> Event:
    """ "Ticks come after the requested checkpoints of an instant and before its arrivals"; a pass follows "a tick
    at which a job moved"; "`events` counts each job moved".
    """
    if coming.interval is not None and coming.tick_time <= state.now:
        coming.tick += 1
        return ask_at_tick(state, coming)
    if not coming.ticks or coming.ticks[0][0] > state.now:
        return None
    state.suspicious = coming.ticks.pop(0)[1]
    moved: int = state.rules["rescheduling"](state)
    state.events += moved
    return moved > 0


def ask_at_tick(state: State, coming: Coming) -> Asking:
    """The caller or a policy in Python, which may act.

    model.md#endless: "ticks at which a policy acts, ticks at which no job runs and nothing but ticks and wakes is left
    to come".
    """
    by_policy = "object" in state.settings.policy("rescheduling") or "tick" not in state.settings.scheduler.get(
        "at", ()
    )
    others = [*coming.arrivals, *coming.failures, *coming.alarms, *coming.ticks, *state.running]
    repairs = [up for up in (*state.up.values(), *(part.until for part in state.lost.values())) if up < math.inf]
    if by_policy and not (others or repairs or (state.world.live and state.until < math.inf)):
        state.refuse_endless()
    yield from state.ask("tick")
    if by_policy and state.acted:
        state.refuse_endless()
    return state.acted


def arrival(state: State, coming: Coming) -> Event:
    """By order in the workload."""
    if not coming.arrivals or coming.arrivals[0].submit > state.now:
        return None
    job = coming.arrivals.pop(0)
    state.catch_up()
    state.begun = True
    if state.eligibility is not None and not submitted(state, state.eligibility, job):
        return False
    state.arrive(job)
    state.events += 1
    return True


def ready(state: State, coming: Coming) -> Event:
    """A job that was submitted earlier, "by index"."""
    return None if state.eligibility is None else make_ready(state, state.eligibility)


def withdrawal(state: State, coming: Coming) -> Event:
    """By index."""
    return None if state.eligibility is None else withdraw(state, state.eligibility)


def wake(state: State, coming: Coming) -> Event:
    """A pass that somebody outside has asked for; the last of its instant, and no event of the count."""
    if state.now not in state.wakes:
        return None
    state.wakes.remove(state.now)
    state.refuse_endless()
    return True


def scheduling_pass(state: State) -> None:
    """One pass.

    model.md#orders: "A pass in which no job could start leaves the queue as it is".
    """
    state.passes += 1
    order = queue_order(state) if state.rules["scheduler"].goes_by_order(state) else list(state.queue)
    state.rules["scheduler"].run_pass(state, order)
    state.last_pass = state.now


def output(state: State, jobs: list[Job], accounts: dict[str, float], begin: float) -> dict[str, Any]:
    """What both engines hand back."""

    def column(name: str, dtype: type) -> Values:
        return np.array([getattr(job, name) for job in jobs], dtype=dtype)

    result: dict[str, Any] = {
        "first_start": column("first_start", np.float64),
        "start": column("start", np.float64),
        "finish": column("finish", np.float64),
        "runtime": column("runtime", np.float64),
        "allocated": column("allocated", np.int32),
        "restarts": column("restarts", np.int32),
        "lost_work": column("lost_work", np.float64),
        "checkpoint_time": column("checkpoint", np.float64),
        "restart_time": column("restart", np.float64),
        "failure_wait": column("failure_wait", np.float64),
        "slowed_time": column("slowed", np.float64),
        "moves": column("moves", np.int32),
        "backfilled": column("backfilled", np.bool_),
        "migrations_attempted": state.attempted,
        "migrations_successful": state.successful,
        "failures": state.failures,
        "failures_hit": state.failures_hit,
        "checkpoints": state.checkpoints,
        "events": state.events,
        "passes": state.passes,
        "ledger": accounts,
        "makespan_begin": begin,
        "makespan_end": state.clock,
    }
    if state.recording:
        result["events_table"] = events_table(state)
        result["allocations"] = allocations(state)
        place = {job.index: i for i, job in enumerate(jobs)} | {-1: -1}
        for table in (result["events_table"], result["allocations"]):
            table["job"] = np.array([place[index] for index in table["job"].tolist()], dtype=np.int32)
    return result


def eligible_times(state: State, jobs: list[Job]) -> Values:
    """When each job entered the queue; NaN where it has not."""
    return np.array(
        [math.nan if what_became_of(state, job) == FUTURE and not job.restarts else job.submit for job in jobs],
        dtype=np.float64,
    )


def by_row(jobs: list[Job]) -> list[Job]:
    """In the order in which they were submitted to the simulation."""
    return sorted(jobs, key=lambda job: job.row)


def events_table(state: State) -> dict[str, Values]:
    """Every start, finish, arrival, move, failure, repair and requested checkpoint in the order in which they happened;
    job and node are -1 where there is none.
    """
    diary = [row for row in state.diary if row[1] <= CHANGE]
    return {
        "time": np.array([row[0] for row in diary], dtype=np.float64),
        "kind": np.array([row[1] for row in diary], dtype=np.int8),
        "job": np.array([row[2] for row in diary], dtype=np.int32),
        "node": np.array([row[3] for row in diary], dtype=np.int32),
    }


def allocations(state: State) -> dict[str, Values]:
    """Who held which nodes from when to when, in order of taking them; a moved job has one row per place."""
    rows: dict[str, Values] = {
        "job": np.array([row[0] for row in state.places], dtype=np.int32),
        "begin": np.array([row[1] for row in state.places], dtype=np.float64),
        "end": np.array([row[2] for row in state.places], dtype=np.float64),
    }
    where = [row[3] for row in state.places]
    if state.table is not None and state.table.are_boxes:
        for i, axis in enumerate(Box._fields[:6]):
            rows[axis] = np.array([place[i] for place in where], dtype=np.int32)
    else:
        rows["node_offsets"] = np.cumsum([0] + [len(place) for place in where], dtype=np.int64)
        rows["nodes"] = np.array([node for place in where for node in place], dtype=np.int32)
    return rows
