"""Passes of a cluster by trial of every second: Fcfs, EasyBackfill, Backfill and ConservativeBackfill.

Written from docs/background/model.md alone (sections 4.1, 4.2 and 5); it shares no code with the package.  Times are
whole seconds, nodes are sets, and what is free at a second is counted anew at every question.  `third_conditions` has
the jobs and the rest of a run.
"""

import math
from typing import NamedTuple


class Window(NamedTuple):
    """Nodes that are absent in [begin, end), and every so many seconds after that (0: once)."""

    begin: int
    end: int
    every: int
    nodes: frozenset
    users: frozenset
    kills: bool

    def covers(self, second):
        if self.every and second >= self.begin:
            return (second - self.begin) % self.every < self.end - self.begin
        return self.begin <= second < self.end

    def begins(self, second):
        return self.covers(second) and not self.covers(second - 1)

    def ends(self, second):
        return self.covers(second - 1) and not self.covers(second)

    def end_beyond(self, last):
        """The first end after `last`, in a list; none if there is none."""
        if not self.every:
            return [self.end] if self.end > last else []
        return [next(second for second in range(last + 1, last + self.every + self.end + 1) if self.ends(second))]


class Promise(NamedTuple):
    """A reservation of a job: `size` nodes in [begin, end), none of `closed`."""

    begin: int
    end: int
    size: int
    closed: frozenset

    def holds(self, second):
        return self.begin <= second < self.end

    def there(self, second):
        return self.holds(second) or self.begin == second


class Plans:
    """The passes of one run.

    `machine` has ``nodes``, ``down`` (node -> when it is up), ``windows``, ``drained``, ``jobs``, ``queue()`` in order
    and ``start(job, now, nodes)``; a job that runs has nodes, others have none.
    """

    def __init__(self, machine, scheduler, depth, known):
        self.machine, self.scheduler, self.depth, self.known = machine, scheduler, depth, known
        self.promises = {}
        self.disturbed = False
        self.last_pass = None

    # -- what is free

    def closed(self, job, begin):
        """The nodes that a job may not hold from `begin` to its expected end then."""
        seconds = range(begin, max(begin + 1, begin + job.estimate))
        found = set(self.machine.drained)
        for window in self.machine.windows:
            if job.user not in window.users and any(map(window.covers, seconds)):
                found |= window.nodes
        return frozenset(found)

    def free(self):
        held = {node for job in self.machine.jobs for node in job.nodes}
        return set(range(self.machine.nodes)) - held - set(self.machine.down)

    def free_at(self, second, now):
        """Nodes that are free then by what is expected now: at `now` also those of jobs that overrun."""
        held = {node for job in self.running() if max(now, job.start + job.estimate) > second for node in job.nodes}
        down = {node for node, up in self.machine.down.items() if not self.known or up > second}
        return set(range(self.machine.nodes)) - held - down

    def running(self):
        return [job for job in self.machine.jobs if job.nodes]

    def tried(self, now, promises=()):
        """Every second up to the last of the releases and ends of promises, and then an end of each window."""
        ends = [now, *(job.start + job.estimate for job in self.running()), *(each.end for each in promises)]
        if self.known:
            ends += self.machine.down.values()
        last = max(ends)
        return [*range(now, last + 1), *sorted(end for each in self.machine.windows for end in each.end_beyond(last))]

    # -- starts

    def fits_now(self, job, now):
        return len(self.free() - self.closed(job, now)) >= job.size

    def start(self, job, now, first=frozenset()):
        """Start a job on the lowest free nodes, those of `first` before others, or else those of its users."""
        open_ = self.free() - self.closed(job, now)
        for window in self.machine.windows:
            if job.user in window.users and window.covers(now):
                first |= window.nodes
        self.machine.start(job, now, [*sorted(open_ & first), *sorted(open_ - first)][: job.size])

    def taken(self, job, now, closed):
        """How many nodes outside of `closed` a job takes that starts now and takes those inside first."""
        return max(0, job.size - len((self.free() - self.closed(job, now)) & closed))

    # -- passes

    def schedule(self, now):
        queue = self.machine.queue()
        if self.scheduler == "conservative":
            self.sweep(queue, now)
        else:
            while queue and self.fits_now(queue[0], now):
                self.start(queue.pop(0), now)
            if queue and self.scheduler == "easy":
                self.easy(queue, now)
            if queue and self.scheduler == "backfill":
                self.backfill(queue, now)
        self.last_pass, self.disturbed = now, False

    def easy(self, queue, now):
        head = queue[0]
        shadow, extra, beside, shut = math.inf, 0, 0, frozenset()
        for second in self.tried(now):
            free, closed = self.free_at(second, now), self.closed(head, second)
            if len(free - closed) >= head.size:
                shadow, shut = second, closed
                extra, beside = len(free) - head.size, len(free - closed) - head.size
                break
        for job in queue[1:]:
            if not self.fits_now(job, now):
                continue
            if now + job.estimate <= shadow:
                self.start(job, now)
                continue
            takes = self.taken(job, now, shut)
            if job.size <= extra and takes <= beside:
                extra, beside = extra - job.size, beside - takes
                self.start(job, now, shut)

    # -- Backfill

    def backfill(self, queue, now):
        plan, considered = [], 0
        for job in queue:
            if job is not queue[0] and self.may_start(job, plan, now):
                ahead = [each for each in plan if each.begin < now + job.estimate]
                self.start(job, now, frozenset().union(*(each.closed for each in ahead)))
            elif considered < self.depth:
                considered += 1
                plan += self.earliest(job, plan, now)

    def available(self, plan, second, now):
        return len(self.free_at(second, now)) - sum(each.size for each in plan if each.holds(second))

    def room(self, plan, promise, now):
        own = 0 if promise.holds(promise.begin) else promise.size
        return self.available(plan, promise.begin, now) - own

    def open_room(self, plan, view, second, now):
        """What is left at a second outside of the nodes `view`, beside the promises to which all of it is closed."""
        there = sum(each.size for each in plan if each.there(second) and view <= each.closed)
        return len(self.free_at(second, now) - view) - there

    def may_start(self, job, plan, now):
        ahead = [each for each in plan if each.begin < now + job.estimate]
        if not self.fits_now(job, now) or any(job.size > self.room(plan, each, now) for each in ahead):
            return False
        return all(
            self.taken(job, now, each.closed) <= self.open_room(plan, each.closed, each.begin, now)
            for each in ahead
            if each.closed
        )

    def earliest(self, job, plan, now):
        for second in self.tried(now, plan):
            end = second + job.estimate
            inside = [each for each in plan if second < each.begin < end]
            if job.size > self.available(plan, second, now) or any(
                job.size > self.room(plan, each, now) for each in inside
            ):
                continue
            if self.is_open(job, plan, second, [each.begin for each in inside], now):
                return [Promise(second, end, job.size, self.closed(job, second))]
        return []

    def is_open(self, job, plan, second, begins, now):
        """Whether a stay fits beside closed nodes, at its begin and at those of promises."""
        closed = self.closed(job, second)
        if not closed:
            return True
        views = {closed, *(each.closed for each in plan if each.closed and each.closed <= closed)}
        return all(job.size <= self.open_room(plan, view, at, now) for view in views for at in (second, *begins))

    # -- ConservativeBackfill

    def sweep(self, queue, now):
        late = any(job.start + job.estimate <= now for job in self.running())
        passed = any(each.begin < now or each.begin == self.last_pass for each in self.promises.values())
        if self.disturbed or late or passed:
            self.promises = {}
        for job in queue:
            old = self.promises.pop(job.row, None)
            others = list(self.promises.values())
            new, starts = self.hole(job, others, now)
            if old is not None and (new is None or new.begin > old.begin):
                new, starts = old, old.begin == now and self.fits_now(job, now)
            if new is not None and starts:
                self.start(job, now, frozenset().union(*(each.closed for each in others)))
            elif new is not None:
                self.promises[job.row] = new

    def hole(self, job, others, now):
        """The earliest one, and whether the job starts in it."""
        for second in self.tried(now, others):
            end = second + job.estimate
            if any(self.available(others, at, now) < job.size for at in range(second, max(end, second + 1))):
                continue
            if self.is_open(job, others, second, [each.begin for each in others if second < each.begin < end], now):
                found = Promise(second, end, job.size, self.closed(job, second))
                return found, second == now and self.fits_now(job, now)
        return None, False
