"""When a job may begin, and when it is withdrawn (model.md#eligibility, model.md#withdrawal).

Everything is looked up when it is needed: no count is kept of what is still to come.
"""

import math
from typing import NamedTuple

from faultsim.data.conditions import KINDS
from faultsim.data.world import EligibilityRows
from faultsim.reference.faults.failures import kill_for_good
from faultsim.reference.job import Job
from faultsim.reference.state import ON_HOLD, RELEASED, WITHDRAWAL, State

NEVER = math.inf


class Condition(NamedTuple):
    """That a job waits for another."""

    kind: str
    other: Job
    delay: float


class Eligibility:
    """The conditions of all jobs; those of `pending` are submitted and not eligible yet, in the order of submission."""

    def __init__(self, jobs: list[Job], rows: EligibilityRows | None = None) -> None:
        self.pending: list[Job] = []
        self.waiting: dict[int, list[Job]] = {}  # array -> tasks that wait for a slot, in order
        self.slots: dict[int, set[Job]] = {}  # array -> tasks that have one
        self.conditions: dict[Job, list[Condition]] = {job: [] for job in jobs}
        self.unmet: set[Job] = set()
        self.on_hold: set[Job] = set()  # of `pending`
        self.most: list[int] = []
        self.leaving: list[Job] = []
        if rows is not None:
            self._read(jobs, rows)

    def _read(self, jobs: list[Job], rows: EligibilityRows) -> None:
        self.unmet = {jobs[index] for index in rows.unmet.tolist()}
        self.most = rows.most.tolist()
        for other in jobs:
            for row in range(int(rows.first[other.index]), int(rows.first[other.index + 1])):
                waiter = jobs[int(rows.waiter[row])]
                self.conditions[waiter].append(Condition(KINDS[rows.kind[row]], other, float(rows.delay[row])))
        for job in jobs:
            job.earliest, job.cancel = float(rows.begin[job.index]), float(rows.cancel[job.index])
            job.array = int(rows.array[job.index])
            if rows.single[job.index]:
                earlier = [other for other in jobs[: job.index] if rows.group[other.index] == rows.group[job.index]]
                self.conditions[job] += [Condition("afterany", other, 0.0) for other in earlier]
        self.leaving = sorted((job for job in jobs if job.cancel < NEVER), key=lambda job: (job.cancel, job.index))

    def ready_time(self, job: Job) -> float | None:
        """The earliest time that the conditions allow; None if that is not known yet, infinite if it never comes."""
        if job in self.unmet:
            return NEVER
        times = [met_at(condition) for condition in self.conditions.get(job, ())]
        if NEVER in times:
            return NEVER
        known = [t for t in times if t is not None]
        return max([job.submit, job.earliest, *known]) if len(known) == len(times) else None

    def next_time(self, now: float) -> float:
        """When the next job becomes ready or is withdrawn."""
        free = [job for job in self.pending if job not in self.queued_tasks]
        found = [(job, self.ready_time(job)) for job in free]
        ready = [t for job, t in found if t is not None and (t == NEVER or job not in self.on_hold)]
        times = [now if t == NEVER else max(t, now) for t in ready]
        times += [now for array, tasks in self.waiting.items() if tasks and self.room(array)]
        leaving = [job.cancel for job in self.leaving if not job.over]
        return min(times + leaving[:1], default=NEVER)

    @property
    def queued_tasks(self) -> set[Job]:
        """Tasks that wait for a slot of their array and for nothing else."""
        return {job for tasks in self.waiting.values() for job in tasks}

    def room(self, array: int) -> int:
        """How many more tasks of the array may enter the queue."""
        return int(self.most[array]) - len([job for job in self.slots.get(array, ()) if not job.over])

    def may_enter(self, job: Job) -> bool:
        """Whether the array of a ready task has a slot, which the task takes; else it waits for one."""
        if job.array < 0 or job in self.slots.get(job.array, ()):
            return True
        # Of what is free, the tasks that wait have theirs: each goes "at once to the first that waits".
        if self.room(job.array) > len(self.waiting.get(job.array, ())):
            self.slots.setdefault(job.array, set()).add(job)
            return True
        self.waiting.setdefault(job.array, []).append(job)
        return False


def met_at(condition: Condition) -> float | None:
    """When a condition is met, delay included; None if that is not known yet, infinite if never.

    model.md#conditions: "`afterok`: the other job has ended, in time. `afternotok`: it has ended in any other way.
    `afterany`: it has ended. `after`: it holds nodes for the first time, or has ended without."
    """
    kind, other, delay = condition
    if kind == "after" and other.first_decision is not None:
        return other.first_decision + delay
    if not other.over:
        return None
    if (kind == "afterok" and not other.in_time) or (kind == "afternotok" and other.in_time):
        return NEVER
    return other.over_at + delay


def submitted(state: State, rules: Eligibility, job: Job) -> bool:
    """At its submit time; whether it is eligible at once."""
    t = rules.ready_time(job)
    if t is not None and t <= state.now and rules.may_enter(job):
        return True
    rules.pending.append(job)
    return False


def make_ready(state: State, rules: Eligibility) -> bool | None:
    """The job of the lowest index that becomes eligible now, or never can; None if there is none."""
    give_slots(rules)
    queued = rules.queued_tasks
    ready = []
    for job in rules.pending:
        t = rules.ready_time(job)
        if job in queued:
            if job in rules.waiting[job.array][: rules.room(job.array)] and job not in rules.on_hold:
                ready.append(job)
        elif t is not None and (t == NEVER or (t <= state.now and job not in rules.on_hold)):
            ready.append(job)
    if not ready:
        return None
    job = min(ready, key=lambda each: each.index)
    if rules.ready_time(job) == NEVER:
        end_without_run(state, rules, job, "unmet")
        return False
    if job in queued:
        rules.waiting[job.array].remove(job)
        rules.slots.setdefault(job.array, set()).add(job)
    elif not rules.may_enter(job):
        return False
    rules.pending.remove(job)
    if not job.restarts:
        job.submit = state.now  # all that the page says of submit times is about this from now on
    state.arrive(job)
    state.events += 1
    return True


def give_slots(rules: Eligibility) -> None:
    """ "If it waits for one", a task on hold "takes the slot that comes to it"."""
    for array, tasks in rules.waiting.items():
        while tasks and tasks[0] in rules.on_hold and rules.room(array):
            rules.slots.setdefault(array, set()).add(tasks.pop(0))


def hold_back(state: State, job: Job) -> bool:
    """A job that holds no nodes is put on hold; whether it waited in the queue (model.md#on-hold)."""
    if state.eligibility is None:
        state.eligibility = Eligibility(state.jobs)
    state.eligibility.on_hold.add(job)
    state.write(ON_HOLD, job)
    if job not in state.queue:
        return False
    state.catch_up()
    state.queue.remove(job)
    state.disturb()
    state.eligibility.pending.append(job)
    return True


def let_go(state: State, job: Job) -> None:
    """It may become eligible again."""
    assert state.eligibility is not None
    state.eligibility.on_hold.remove(job)
    state.write(RELEASED, job)


def withdraw_now(state: State, job: Job) -> bool:
    """A job that holds no nodes is withdrawn, by somebody outside; whether it waited in the queue."""
    if state.eligibility is None:
        state.eligibility = Eligibility(state.jobs)
    waited = job in state.queue
    end_without_run(state, state.eligibility, job, "withdrawn")
    return waited


def withdraw(state: State, rules: Eligibility) -> bool | None:
    """The first withdrawal of this instant; whether a pass is due, None if there is none."""
    leaving = [job for job in rules.leaving if job.cancel == state.now and not job.over]
    if not leaving:
        return None
    job = leaving[0]
    rules.leaving.remove(job)
    if job.held:
        return False
    if job in state.running:
        kill_for_good(state, job, "withdrawal")
        return True
    waited = job in state.queue
    end_without_run(state, rules, job, "withdrawn")
    return waited


def end_without_run(state: State, rules: Eligibility, job: Job, why: str) -> None:
    """ "It is done, with no run time but what it has saved before"."""
    state.catch_up()
    if job in state.queue:
        state.queue.remove(job)
        state.disturb()
    else:
        rules.pending.remove(job)
        rules.on_hold.discard(job)
        if not job.restarts:
            job.submit = math.nan
        if job.array >= 0 and job in rules.waiting.get(job.array, ()):
            rules.waiting[job.array].remove(job)
    job.fate = why
    job.start = math.nan
    if job.first_start < 0:
        job.first_start = math.nan
    job.runtime = job.done = job.safe
    if job.waiting_since is not None:
        job.failure_wait += state.now - job.waiting_since
        job.waiting_since = None
    job.finish = state.now
    job.allocated, job.backfilled = 0, False
    state.write(WITHDRAWAL, job)
    state.close(job)
    state.events += 1
