"""Why a job waits where jobs share the nodes of a site, by the resource that is missing (model.md#site-reasons)."""

import math
from collections.abc import Callable
from dataclasses import replace

from faultsim.explain.moment import Moment
from faultsim.reference.capacity import Amounts
from faultsim.reference.job import Job
from faultsim.reference.scheduling.placement import window_at
from faultsim.reference.scheduling.site_placement import choose_beside
from faultsim.reference.scheduling.site_schedulers import free_at, free_now
from faultsim.reference.site.nodes import Ask, Nodes
from faultsim.reference.state import LostPart, State
from faultsim.results.reasons import RESOURCE_WORDS, Cause, Reason

Free = list[Amounts | None]
#: The reason of another job, which is in the way.
Rest = Callable[[Moment, Job], Reason]


def reason_on_nodes(moment: Moment, job: Job, reason: Rest) -> Reason | None:
    """Why a waiting job does not start; None if a pass would start it."""
    found = no_room(moment.state, job) or by_scheduler(moment, job, reason)
    return None if found is None else replace(found, request=request_of(job.ask))


def no_room(state: State, job: Job) -> Reason | None:
    """ "The job waits for each resource that is short: it would not fit if jobs held nothing but what they hold of this
    one." (model.md#site-reasons)
    """
    site, ask, free = state.site, job.ask, free_now(state)
    there = site.all_served(ask, free)
    if there >= ask.needed:
        return None
    found = Reason(Cause.NO_ROOM, until=room_at(state, ask), needed=ask.needed, free=there)
    there_is = state.there()
    empty: Free = [None if node in state.up else has for node, has in enumerate(there_is)]
    up = site.all_served(ask, empty)
    if up < ask.needed:
        return replace(found, cause=Cause.NODES_DOWN, up=up)
    short = ("empty nodes",) if ask.exclusive else short_of(site, ask, there_is, free)
    if not short:
        return replace(found, cause=Cause.FRAGMENTED, short=())
    return replace(found, short=short, beside=beside(ask.gpus > 0, short))


def short_of(site: Nodes, ask: Ask, there_is: list[Amounts], free: Free) -> tuple[str, ...]:
    """The resources of which alone so much is held that the job does not fit, GPUs first."""
    found = []
    for at in (2, 1, 0):
        alone: Free = [
            None if left is None else Amounts(*(left[i] if i == at else has[i] for i in range(3)))
            for has, left in zip(there_is, free, strict=True)
        ]
        if not site.fits(ask, alone):
            found.append(RESOURCE_WORDS[at])
    return tuple(found)


def beside(wants_gpus: bool, short: tuple[str, ...]) -> str | None:
    """ "beside free GPUs if the job requests some and they are not short, else beside free cores if these are not" """
    if "empty nodes" in short:
        return None
    if wants_gpus:
        return None if "GPUs" in short else "GPUs"
    return None if "cores" in short else "cores"


def room_at(state: State, ask: Ask) -> float:
    """T of a job: the first release after which it has room, if no other job starts (model.md#site-easy)."""
    site, free = state.site, free_now(state)
    there = site.all_served(ask, free)
    events: list[tuple[float, Job | LostPart | int]] = [(state.expected_end(job), job) for job in state.running]
    if state.repairs_known:
        events += [(part.until, part) for part in state.lost.values()]
        events += [(up, node) for node, up in state.up.items()]
    events.sort(key=lambda event: event[0])
    left, down = list(state.left), set(state.up)
    for at, (time, what) in enumerate(events):
        if time == math.inf:
            break
        if isinstance(what, LostPart):
            changed = {what.node: what.amounts}
        else:
            changed = what.grant if isinstance(what, Job) else {what: Amounts()}
        for node, share in changed.items():
            there -= site.served(ask, node, None if node in down else left[node])
            if isinstance(what, int):
                down.discard(node)
            left[node] = left[node].plus(share)
            there += site.served(ask, node, None if node in down else left[node])
        if there >= ask.needed and (at + 1 == len(events) or events[at + 1][0] > time):
            return time
    return math.inf


def by_scheduler(moment: Moment, job: Job, reason: Rest) -> Reason | None:
    """The reason of a job that fits, by the rule of the scheduler."""
    scheduler = moment.state.settings.scheduler
    rule = None if "object" in scheduler else _RULES.get(scheduler["name"])
    if rule is None:
        free = moment.state.site.all_served(job.ask, free_now(moment.state))
        return Reason(Cause.OUTSIDE, needed=job.ask.needed, free=free)
    return rule(moment, job, reason)


def fcfs(moment: Moment, job: Job, reason: Rest) -> Reason | None:
    """Behind the head; None of the head itself."""
    head = moment.order[0]
    return None if job is head else _because_of(moment, head, Reason(Cause.BEHIND_HEAD, because=reason(moment, head)))


def easy(moment: Moment, job: Job, reason: Rest) -> Reason | None:
    """Whether it would delay the head (model.md#site-easy)."""
    state, head, ends = moment.state, moment.order[0], moment.ends(job)
    if job is head:
        return None
    T = room_at(state, head.ask)
    if ends <= T or has_room_beside(state, job, head, T):
        return None
    return _because_of(moment, head, Reason(Cause.WOULD_DELAY, needed=job.ask.needed, begin=T, ends=ends))


def preemptive(moment: Moment, job: Job, reason: Rest) -> Reason | None:
    """As EASY, or as FCFS without backfilling."""
    return (easy if moment.state.settings.scheduler["backfill"] else fcfs)(moment, job, reason)


def backfill(moment: Moment, job: Job, reason: Rest) -> Reason | None:
    """As EASY; a job that does not delay the head may delay another reservation."""
    found = easy(moment, job, reason)
    if found is not None or job is moment.order[0] or moment.state.settings.scheduler["depth"] == 1:
        return found
    return Reason(Cause.RESERVED, needed=job.ask.needed, ends=moment.ends(job))


def conservative(moment: Moment, job: Job, reason: Rest) -> Reason | None:
    """Its own reservation, which others before it delay."""
    state = moment.state
    own = None if state.disturbed else state.reservations.get(job.index)
    until = None if own is None else own.begin
    return Reason(Cause.RESERVED, until=until, needed=job.ask.needed, ends=moment.ends(job))


def _because_of(moment: Moment, head: Job, found: Reason) -> Reason:
    return replace(found, blocker=moment.row_of(head), blocker_id=moment.id_of(head))


#: Name of a scheduler -> its rule.
_RULES: dict[str, Callable[[Moment, Job, Rest], Reason | None]] = {
    "fcfs": fcfs,
    "easy": easy,
    "preemptive": preemptive,
    "backfill": backfill,
    "conservative": conservative,
}


def has_room_beside(state: State, job: Job, head: Job, T: float) -> bool:
    """model.md#site-easy: "may start on nodes beside which the head still has room at T" """
    window = window_at(state, job, state.now)
    return choose_beside(state, job, free_now(state), window, head.ask, free_at(state, T)) is not None


def request_of(ask: Ask) -> str:
    """What a job requests, in words.

    Examples
    --------
    >>> request_of(Ask(2, 4, 1024, 1, by_core=False, exclusive=False, classes=1))
    '2 nodes with 4 cores, 1024 MiB and 1 GPU on each'
    >>> request_of(Ask(0, 40, 2000, 0, by_core=True, exclusive=False, classes=1))
    '40 cores with 2000 MiB for each'
    """
    memory = [f"{ask.memory} MiB"] if ask.memory else []
    gpus = [_count(ask.gpus, "GPU")] if ask.gpus else []
    if ask.nodes:
        first = _count(ask.nodes, "empty node" if ask.exclusive else "node")
        parts = [_count(ask.cores, "core"), *memory, *gpus]
        return f"{first} with {_joined(parts)}{' on each' if ask.nodes > 1 else ''}"
    parts = [*memory, *gpus]
    each = "for each" if ask.by_core else "on each node"
    return _count(ask.cores, "core") + (f" with {_joined(parts)} {each}" if parts else "")


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _joined(parts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
