"""A third program: FCFS, EASY and conservative backfilling on a cluster, from docs/background/model.md alone.

It shares nothing with the engines: no class, no helper, no data structure.  Everything that the fast engine keeps
between passes is computed anew here at every pass, from the list of running jobs.

`easy` can also be wrong on purpose, in three ways, so that a test can show that the logs tell them from the textbook.
"""

import heapq
import math


class Textbook:
    """Jobs are numbered by (submit, index); times are doubles; no start delay; overruns extend."""

    def __init__(self, nodes, submit, runtime, estimate, size):
        self.free = nodes
        self.nodes = nodes
        self.submit, self.runtime, self.estimate, self.size = (
            column.tolist() for column in (submit, runtime, estimate, size)
        )
        self.start = [math.nan] * len(submit)
        self.queue = []
        self.running = []
        self.ends = []
        self.reserved = {}

    def run(self, one_pass, pass_per_event=False):
        """All ends of an instant, then all arrivals, then one pass; again if the pass made an end at this instant."""
        n, arrived = len(self.start), 0
        while self.ends or arrived < n:
            now = min(self.ends[0][0] if self.ends else math.inf, self.submit[arrived] if arrived < n else math.inf)
            while self.ends and self.ends[0][0] == now:
                _, job = heapq.heappop(self.ends)
                self.running.remove(job)
                self.free += self.size[job]
                if pass_per_event:
                    one_pass(now)
            while arrived < n and self.submit[arrived] == now:
                self.queue.append(arrived)
                arrived += 1
                if pass_per_event:
                    one_pass(now)
            one_pass(now)
        return self.start

    def begin(self, job, now):
        self.start[job] = now
        self.free -= self.size[job]
        self.running.append(job)
        heapq.heappush(self.ends, (now + self.runtime[job], job))

    def expected_end(self, job, now):
        return max(now, self.start[job] + self.estimate[job])


def fcfs(*machine_and_columns):
    """Start times of first come, first served."""
    t = Textbook(*machine_and_columns)

    def one_pass(now):
        while t.queue and t.size[t.queue[0]] <= t.free:
            t.begin(t.queue.pop(0), now)

    return t.run(one_pass)


def easy(*machine_and_columns, pass_per_event=False, extra_of_first_release=False, strictly_before=False):
    """Start times of EASY backfilling."""
    t = Textbook(*machine_and_columns)

    def one_pass(now):
        while t.queue and t.size[t.queue[0]] <= t.free:
            t.begin(t.queue.pop(0), now)
        if not t.queue or t.free == 0:
            return
        head, *others = t.queue
        releases = sorted((t.expected_end(job, now), t.size[job]) for job in t.running)
        there, shadow = t.free, None
        for end, size in releases:
            if shadow is not None and (end > shadow or extra_of_first_release):
                break
            there += size
            if shadow is None and there >= t.size[head]:
                shadow = end
        extra = there - t.size[head]
        t.queue = [head]
        for job in others:
            in_time = now + t.estimate[job] <= shadow and not (strictly_before and now + t.estimate[job] == shadow)
            if t.size[job] <= t.free and (in_time or t.size[job] <= extra):
                if not in_time:
                    extra -= t.size[job]
                t.begin(job, now)
            else:
                t.queue.append(job)

    return t.run(one_pass, pass_per_event)


def conservative(*machine_and_columns):
    """Start times of conservative backfilling, for logs in which no job outlives its estimate."""
    t = Textbook(*machine_and_columns)
    previous = -math.inf

    def earliest_hole(job, now, times, steps):
        """`steps` holds the change of the number of free nodes at each of the sorted `times` from now on."""
        free, begin = 0, None
        for at, change in zip(times, steps, strict=True):
            if begin is not None and at >= begin + t.estimate[job]:
                return begin
            free += change
            if free < t.size[job]:
                begin = None
            elif begin is None:
                begin = at
        return begin

    def change(steps, at, by):
        steps[at] = steps.get(at, 0) + by

    def one_pass(now):
        nonlocal previous
        # A reservation whose time went by without an event, or at which the job could not start: all are given anew.
        if any(t.reserved[job] < now or t.reserved[job] == previous for job in t.queue if job in t.reserved):
            t.reserved.clear()
        steps = {now: t.free}
        for job in t.running:
            change(steps, t.expected_end(job, now), t.size[job])
        for job, begin in t.reserved.items():
            change(steps, begin, -t.size[job])
            change(steps, begin + t.estimate[job], t.size[job])
        waiting = []
        for job in t.queue:
            if job in t.reserved:
                begin = t.reserved.pop(job)
                change(steps, begin, t.size[job])
                change(steps, begin + t.estimate[job], -t.size[job])
            times = sorted(at for at, by in steps.items() if by or at == now)
            begin = earliest_hole(job, now, times, [steps[at] for at in times])
            change(steps, begin, -t.size[job])
            change(steps, begin + t.estimate[job], t.size[job])
            if begin == now:
                t.begin(job, now)
            else:
                t.reserved[job] = begin
                waiting.append(job)
        t.queue = waiting
        previous = now

    return t.run(one_pass)
