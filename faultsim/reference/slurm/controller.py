"""Slurm's controller over time: which second it does what, from the jobs and nodes that it is told of.

It holds no clock.  A caller that has one reports what happens, calls `Controller.decide` in the whole second
`Controller.next` or in any second in which something happened, and does what it returns (model.md#slurm-time).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from faultsim.reference.slurm import priority as rules
from faultsim.reference.slurm import usage
from faultsim.reference.slurm.accounts import Association
from faultsim.reference.slurm.backfill import backfill_cycle
from faultsim.reference.slurm.compare_priorities import REQUEUE_DELAY, PrioritySite
from faultsim.reference.slurm.fair_share import Classic, FairTree
from faultsim.reference.slurm.limits import Limits
from faultsim.reference.slurm.main_pass import Decisions, main_pass
from faultsim.reference.slurm.preemption import grace_of, mode_of
from faultsim.reference.slurm.selection import Selection
from faultsim.reference.slurm.state import Booked, Room, Running, SlurmNodes, State, Waiting

#: Priority of the first job with ``PriorityType=priority/basic``.
FIRST = 4294901759
#: Seconds between two looks at time limits and grace times.
CHECK = 30.0
#: Seconds between two looks at reservations.
RESERVED = 5.0
#: Seconds for which the nodes of a job that was stopped take no other: until each has reported.
CLEAN_UP = 1.0


@dataclass
class Acts:
    """What is to be done in a second, in this order.

    Parameters
    ----------
    stop : list of tuple of (int, bool)
        Jobs that end, and whether they wait again.
    start : list of Running
        Jobs that start.
    """

    stop: list[tuple[int, bool]] = field(default_factory=list)
    start: list[Running] = field(default_factory=list)


@dataclass
class Submitted:
    """A job that has been submitted and has not ended.

    Parameters
    ----------
    waiting : Waiting
        What it asks for; its priorities are kept there.
    nice : float
        Subtracted from its priority.
    eligible : float
        Since when it may start; infinite while it may not.
    accrue : float, optional
        Since when its age counts.
    cpus : float
        CPUs of its last node selection.
    """

    waiting: Waiting
    nice: float = 0.0
    eligible: float = math.inf
    accrue: float | None = None
    cpus: float = 0.0
    preempted: float = -math.inf

    @property
    def job(self) -> int:
        """Its id."""
        return self.waiting.job


class Controller:
    """The state of a controller.

    Parameters
    ----------
    site : SlurmNodes
        Nodes, partitions and settings.
    priorities : PrioritySite
        What priorities depend on.
    begin : float
        The second in which it starts: periods are counted from it.
    booked : sequence of Booked
        Reservations.
    """

    def __init__(self, site: SlurmNodes, priorities: PrioritySite, begin: float, booked: Sequence[Booked] = ()) -> None:
        self.site, self.priorities, self.state = site, priorities, State(site, last_period=begin)
        self._limits = Limits(site)
        self._settings = site.conf.settings
        self._numbered: set[int] = set()
        self._rate = usage.decay_rate(priorities.half_life)
        self._classic = Classic(priorities.accounts, priorities.dampening)
        self._fair_tree = "NO_FAIR_TREE" not in priorities.weights.flags
        self._factors = FairTree(priorities.accounts, merge_tied=priorities.merge_tied).factors
        self._qos_usage: dict[str, float] = {}
        self._begin, self._booked = begin, booked
        self._edge = self._edge_after(begin)
        self._jobs: dict[int, Submitted] = {}
        self._running: dict[int, Running] = {}
        self._of: dict[int, Submitted] = {}
        self._later: dict[int, Submitted] = {}
        self._dirty: dict[int, float] = {}
        self._requested, self._at_once = False, False
        self._asked = -math.inf
        self._full = self._grid(begin, self._settings["sched_interval"])
        self._cycle = self._grid(begin, self._settings["bf_interval"])
        self._period = max(1.0, float(self._settings["PriorityCalcPeriod"]))

    # -- what it is told

    def submit(self, job: Waiting, now: float, nice: float = 0.0) -> None:
        """A job may start from now on: it has been submitted, and depends on nothing."""
        self._periods(now - 1)
        held = Submitted(job, nice, now, cpus=float(job.ask.need))
        self._jobs[job.job] = self._of[job.job] = held
        part = job.partitions[0]
        features = self.site.features_of(job.ask.features)
        nodes = [node for node in self.site.nodes_of[part] if features[node]]
        self.state.reset_keys(nodes)
        Selection(self.state.keys).choose(job.ask, nodes, Room(self.site), self.site.partitions[part])
        self._prioritise(held, now)
        self._requested = True

    def withdraw(self, job: int) -> None:
        """A waiting job is gone."""
        self._jobs.pop(job, None)
        self._later.pop(job, None)
        self._of.pop(job, None)

    def end(self, job: int, now: float, *, again: float | None = None) -> None:
        """A running job has ended; one that was requeued is submitted again at a time, and waits for a delay."""
        self._periods(now - 1)
        run = self._running.pop(job)
        self._charge(run, now)
        held = self._of[job]
        if again is not None:
            held.waiting.submit = max(again, held.waiting.submit + 1)
            held.eligible, held.accrue = again + REQUEUE_DELAY, None
            self._later[job] = held
        else:
            del self._of[job]
        self._at_once = True

    def node(self, node: int, up: bool) -> None:
        """A node goes down, or comes back."""
        (self.state.up.add if up else self.state.up.discard)(node)
        self._requested = self._requested or up

    # -- when it acts

    def next(self, now: float) -> float:
        """The next second in which it may do something if nothing happens before; infinite if there is none."""
        soon = [self._kill_at(run) for run in self._running.values()]
        soon += [held.eligible for held in self._later.values()]
        soon += self._dirty.values()
        if self._jobs:
            soon += [self._cycle, self._full]
            if self._requested:
                soon.append(self._asked + self._settings["batch_sched_delay"])
            soon.append(self._edge)
        return max(now + 1, min(soon, default=math.inf))

    def _grid(self, now: float, step: float) -> float:
        """The first second after now in which a loop with a period acts."""
        step = max(1.0, float(step))
        return self._begin + step * (math.floor((now - self._begin) / step) + 1)

    def _edge_after(self, now: float) -> float:
        """When the first begin or end of a reservation after now is noticed."""
        edge = min((each.next_edge(now) for each in self._booked), default=math.inf)
        return self._begin + RESERVED * math.ceil((edge - self._begin) / RESERVED) if edge < math.inf else edge

    def _kill_at(self, run: Running) -> float:
        """When the end of its time, of its grace time or of its reservation is noticed; that of the latter after it."""
        over = 0.0 if run.grace_end is not None else 60.0 * self._over(run)
        late = math.inf
        if math.isfinite(run.end):
            late = math.ceil((run.end + over - self._begin) / CHECK)
        if run.reserved_until < math.inf:
            late = min(late, math.floor((run.reserved_until - self._begin) / CHECK) + 1)
        return self._begin + CHECK * late

    def _over(self, run: Running) -> float:
        own = self.site.partitions[run.partition].over_time_limit
        return float(self._settings["OverTimeLimit"] if own is None else own)

    # -- what it does

    def decide(self, now: float) -> Acts:
        """Everything that is due in this second."""
        acts = Acts()
        self._periods(now)
        for run in [run for run in self._running.values() if self._kill_at(run) <= now]:
            self._stop(run, now, acts, again=run.grace_end is not None and self._waits_again(run))
        for node in [node for node, until in self._dirty.items() if until <= now]:
            del self._dirty[node]
            self._at_once = True
        if self._edge <= now:
            self._requested = True
            self._edge = self._edge_after(now)
        for job, held in list(self._later.items()):
            if held.eligible <= now:
                self._jobs[job] = self._later.pop(job)
        due_full, due_cycle = self._full <= now, self._cycle <= now
        if due_full:
            self._full = self._grid(now, self._settings["sched_interval"])
        if due_cycle:
            self._cycle = self._grid(now, self._settings["bf_interval"])
        if not self._jobs:
            self._requested = self._at_once = False
            return acts
        if self._at_once or (self._requested and now - self._asked >= self._settings["batch_sched_delay"]):
            self._asked = self._asked if self._at_once else now
            self._at_once = self._requested = False
            self._pass(now, acts, full=False)
        if due_full:
            self._pass(now, acts, full=True)
        if due_cycle and self._settings["SchedulerType"] == "sched/backfill":
            self._build(now)
            done = backfill_cycle(self.state, now, limits=self._limits)
            for plan in done.plans:
                self._select(plan.job, plan.nodes)
            self._apply(done, now, acts)
        return acts

    def _pass(self, now: float, acts: Acts, *, full: bool) -> None:
        self._build(now)
        self._apply(main_pass(self.state, now, full=full, limits=self._limits), now, acts)

    def _build(self, now: float) -> None:
        """The state from which a loop decides; building the queue notices that jobs are eligible."""
        state = self.state
        state.running = list(self._running.values())
        state.reservations = [each.at(now) for each in self._booked]
        state.cleaning = set(self._dirty)
        state.used_minutes = self._used_minutes()
        victimless = self._settings["KillWait"] + self._settings["MessageTimeout"]
        for held in self._jobs.values():
            if held.accrue is None:
                held.accrue = held.eligible
            held.waiting.no_victims = now - held.preempted < victimless
        state.waiting = [held.waiting for held in self._jobs.values()]

    def _apply(self, done: Decisions, now: float, acts: Acts) -> None:
        for run in done.started:
            held = self._jobs.pop(run.job)
            run.order = run.job
            own = next(
                (each for each in self.state.reservations if run.reservation and each.name == run.reservation), None
            )
            if own is not None:
                run.reserved_until = own.end + 60.0 * self._settings["ResvOverRun"]
            self._running[run.job] = run
            self._select(run.job, run.nodes)
            held.accrue = None
            acts.start.append(run)
        for victim, by in done.preempted:
            self._of[by].preempted = now
            grace = grace_of(self.site, victim)
            if grace:
                victim.grace_end = now + grace
            else:
                self._stop(victim, now, acts, again=self._waits_again(victim))

    def _waits_again(self, victim: Running) -> bool:
        """Whether a preempted job is requeued, not cancelled."""
        return bool(mode_of(self.site, victim) == "REQUEUE" and self._settings["JobRequeue"])

    def _stop(self, run: Running, now: float, acts: Acts, *, again: bool) -> None:
        started_now = run in acts.start
        if started_now:  # and gone before anybody knew
            acts.start.remove(run)
        if not (started_now and again):  # that one only goes on waiting
            acts.stop.append((run.job, again))
        for node in run.nodes:
            self._dirty[node] = now + CLEAN_UP
        self.end(run.job, now, again=now + CLEAN_UP if again else None)
        self._at_once = False  # its nodes are not free before they have reported

    def _select(self, job: int, nodes: list[int]) -> None:
        """The CPUs of a job's last selection: those of whole nodes for one that takes them."""
        held = self._of[job]
        if held.waiting.ask.exclusive:
            held.cpus = float(sum(self.site.cores[node] for node in nodes))

    # -- priorities

    def _periods(self, now: float) -> None:
        """Usage, fair share and priorities of all calculation periods up to now.

        It comes before each change, so nothing has changed since the last call but time, and only the priorities of
        the last period are ever read.
        """
        state = self.state
        done = False
        while state.last_period + self._period <= now:
            time = state.last_period + self._period
            if not self._running:
                # Usage only decays: all periods up to now are one.
                time = state.last_period + self._period * math.floor((now - state.last_period) / self._period)
            if not self._fair_tree:
                self._classic.begin_period()
            usage.decay(self.priorities.accounts, self._rate, time - state.last_period)
            for name in self._qos_usage:
                self._qos_usage[name] *= self._rate ** (time - state.last_period)
            for run in self._running.values():
                self._charge(run, time)
            state.last_period = time
            done = True
        if done and self._jobs | self._later:
            if self._fair_tree:
                self._factors = FairTree(self.priorities.accounts, merge_tied=self.priorities.merge_tied).factors
            for held in (*self._jobs.values(), *self._later.values()):
                self._prioritise(held, state.last_period)

    def _charge(self, run: Running, now: float) -> None:
        """Add what a job has used since the last period."""
        seconds = usage.unpaid(now, run.start, self.state.last_period)
        if seconds <= 0.0:
            return
        site = self.priorities
        amount = usage.billing(
            run.amounts(), site.billing.get(run.partition, {}), largest="MAX_TRES" in site.weights.flags
        )  # fmt: skip
        added = usage.charge(self._rate, seconds, amount, site.usage_factors.get(run.qos, 1.0))
        association = self._association(run.account, run.user)
        if association is not None:
            usage.add(association, added)
        self._qos_usage[run.qos] = self._qos_usage.get(run.qos, 0.0) + added

    def _association(self, account: str, user: str) -> Association | None:
        return self.priorities.accounts.find(account, user)

    def _prioritise(self, held: Submitted, now: float) -> None:
        """Compute a job's priority in each of its partitions."""
        site, job = self.priorities, held.waiting
        if self._settings["PriorityType"] != "priority/multifactor":  # in order of submission
            job.priority = job.priority or {"": FIRST - len(self._numbered)}
            self._numbered.add(job.job)
            return
        association = self._association(job.account, job.user)
        if association is None:
            share = 0.0
        elif self._fair_tree:
            share = self._factors.get((job.account, job.user), 0.0)
        else:
            share = self._classic.factor(association)
        request = rules.Request(
            max(1, job.ask.min_nodes), held.cpus, job.amounts, job.limit, site.qos.get(job.qos, 0), held.nice
        )
        age = 0.0 if held.accrue is None else max(0.0, now - held.accrue)
        found = {}
        for name in job.partitions:
            factors = rules.factors(
                request, site.partitions[name], site.cluster, site.weights,
                age=age, fair_share=share, assoc_priority=0 if association is None else association.own_priority(),
            )  # fmt: skip
            found[name] = rules.priority(factors, site.weights, request, several=len(job.partitions) > 1)
        if "INCR_ONLY" in site.weights.flags:
            found = {name: max(value, job.priority.get(name, 0)) for name, value in found.items()}
        job.priority = found

    def _used_minutes(self) -> dict[tuple[str, str], dict[str, float]]:
        """Decayed CPU minutes, for ``GrpTRESMins``."""
        found = {("QOS", name): {"cpu": used / 60.0} for name, used in self._qos_usage.items()}
        for each in self.priorities.accounts.root.all():
            found[each.account, each.user] = {"cpu": each.usage / 60.0}
        return found
