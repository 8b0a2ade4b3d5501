"""FCFS and EASY on a cluster whose nodes are absent at times, by trial of every instant: a program of its own.

It shares nothing with the package.  Time is whole seconds; at every second, whatever ends does so, then jobs start.
Estimates are run times, nothing fails, and a job is a tuple (submit, run time, size, user).
"""

from collections.abc import Sequence
from typing import NamedTuple

#: No run of a test is that long.
HORIZON = 4_000


class Window(NamedTuple):
    """Nodes that are absent in [begin, end), and every so many seconds after that (0: once)."""

    begin: int
    end: int
    every: int
    nodes: frozenset[int]
    users: frozenset[int]

    def covers(self, second: int) -> bool:
        if self.every and second >= self.begin:
            return (second - self.begin) % self.every < self.end - self.begin
        return self.begin <= second < self.end


Job = tuple[int, int, int, int]


def closed(windows: Sequence[Window], job: Job, begin: int) -> set[int]:
    """Nodes that some second of a job's stay would find absent."""
    _, runtime, _, user = job
    seconds = range(begin, begin + max(1, runtime))
    found: set[int] = set()
    for window in windows:
        if user not in window.users and any(map(window.covers, seconds)):
            found |= window.nodes
    return found


def starts(nodes: int, jobs: Sequence[Job], windows: Sequence[Window], backfills: bool) -> list[int]:
    """The second at which each job starts; `HORIZON`: it never does."""
    found = [HORIZON] * len(jobs)
    held: dict[int, set[int]] = {}  # running job -> its nodes
    queue: list[int] = []
    for now in range(HORIZON):
        for i in [i for i in held if found[i] + jobs[i][1] <= now]:
            del held[i]
        queue += [i for i, job in enumerate(jobs) if job[0] == now]
        if not queue and not held and now > max(job[0] for job in jobs):
            break
        started = True
        while started:  # jobs of no length make room at once
            started = one_pass(nodes, jobs, windows, backfills, now, queue, held, found)
            for i in [i for i in held if found[i] + jobs[i][1] <= now]:
                del held[i]
            started = started and any(jobs[i][1] == 0 for i in range(len(jobs)) if found[i] == now)
    return found


def free_nodes(nodes: int, held: dict[int, set[int]]) -> set[int]:
    return set(range(nodes)).difference(*held.values())


def one_pass(
    nodes: int,
    jobs: Sequence[Job],
    windows: Sequence[Window],
    backfills: bool,
    now: int,
    queue: list[int],
    held: dict[int, set[int]],
    found: list[int],
) -> bool:
    """Whether a job starts."""
    begun = list(found)

    def start(i: int, first: set[int]) -> None:
        usable = free_nodes(nodes, held) - closed(windows, jobs[i], now)
        order = sorted(usable & first) + sorted(usable - first)
        held[i], found[i] = set(order[: jobs[i][2]]), now
        queue.remove(i)

    def own(i: int) -> set[int]:
        of_users = [window.nodes for window in windows if jobs[i][3] in window.users and window.covers(now)]
        return set().union(*of_users)

    def fits(i: int) -> bool:
        return len(free_nodes(nodes, held) - closed(windows, jobs[i], now)) >= jobs[i][2]

    while queue and fits(queue[0]):
        start(queue[0], own(queue[0]))
    if not queue or not backfills:
        return found != begun
    head = queue[0]
    for at in range(now, HORIZON):
        there = free_nodes(nodes, {i: set_ for i, set_ in held.items() if found[i] + jobs[i][1] > at})
        shut = closed(windows, jobs[head], at)
        if len(there - shut) >= jobs[head][2]:
            break
    else:
        at, there, shut = HORIZON, set(), set()
    extra, open_extra = len(there) - jobs[head][2], len(there - shut) - jobs[head][2]
    for i in list(queue[1:]):
        if not fits(i):
            continue
        if now + jobs[i][1] <= at:
            start(i, own(i))
            continue
        beside = len((free_nodes(nodes, held) - closed(windows, jobs[i], now)) & shut)
        takes = max(0, jobs[i][2] - beside)
        if jobs[i][2] <= extra and takes <= open_extra:
            extra -= jobs[i][2]
            open_extra -= takes
            start(i, shut | own(i))
    return found != begun
