"""FCFS, EASY, backfilling and preemption on nodes that jobs share (model.md#site-schedulers)."""

import math

from faultsim.reference.capacity import Amounts
from faultsim.reference.job import Job, expected_if_started
from faultsim.reference.scheduling.placement import window_at
from faultsim.reference.scheduling.site_placement import choose, choose_beside
from faultsim.reference.scheduling.views import ends_to_try
from faultsim.reference.site.nodes import Ask, Grant, less, meet
from faultsim.reference.state import Reservation, State

Free = list[Amounts | None]


Plan = list[Reservation]  # in queue order; that of the head has no grant


# -- what is free


def free_now(state: State) -> Free:
    """What is really free of each node; None: it is down."""
    return [None if node in state.up else left for node, left in enumerate(state.left)]


def free_at(state: State, t: float) -> Free:
    """What is free at t or later, but for what begins later: running jobs have left that are expected to end by then,
    and nodes are up that are known to be.
    """
    free: Free = list(state.site.amounts)
    for job in state.running:
        if state.expected_end(job) > t:
            for node, share in job.grant.items():
                free[node] = less(free[node], share)
    for part in state.lost.values():
        if not state.repairs_known or part.until > t:
            free[part.node] = less(free[part.node], part.amounts)
    for node, up in state.up.items():
        if not state.repairs_known or up > t:
            free[node] = None
    return free


def open_to(state: State, job: Job, free: Free, t: float) -> Free:
    """What is free of nodes that are not closed to a job that would start at t (model.md#absences)."""
    closed = state.closed(job, t)
    return [None if closed >> node & 1 else left for node, left in enumerate(free)] if closed else free


def times_to_try(state: State, others: set[float]) -> list[float]:
    """The times, and the ends of absences that are tried beside them, in time order."""
    return sorted({*others, *ends_to_try(state, max(others, default=state.now))})


def releases(state: State) -> list[float]:
    """The times at which something is expected to be free again: model.md#releases."""
    times = {state.expected_end(job) for job in state.running}
    if state.repairs_known:
        times |= set(state.up.values()) | {part.until for part in state.lost.values()}
    return sorted(t for t in times if t < math.inf)


# -- FCFS and EASY


def start_as_head(state: State, job: Job) -> bool:
    """Start the head if it has room."""
    free = open_to(state, job, free_now(state), state.now)
    grant = choose(state, job, free, window_at(state, job, state.now))
    if grant is None:
        return False
    state.begin_shared(job, grant, backfilled=False)
    return True


def shadow_time(state: State, head: Job) -> float:
    """ "T is the first release after which the head has room on the nodes" """
    if state.site.fits(head.ask, open_to(state, head, free_now(state), state.now)):
        return state.now
    times = releases(state) if state.absences is None else times_to_try(state, {state.now, *releases(state)})
    fits = state.site.fits
    return next((T for T in times if fits(head.ask, open_to(state, head, free_at(state, T), T))), math.inf)


def backfill(state: State, head: Job, later: list[Job], T: float) -> None:
    """ "A job that would end after T may start on nodes beside which the head still has room at T, with all jobs that
    were backfilled earlier in this pass and end after T." """
    for job in later:
        window, free = window_at(state, job, state.now), open_to(state, job, free_now(state), state.now)
        if math.isinf(T) or expected_if_started(job, state.now + state.delay) <= T:
            grant = choose(state, job, free, window)
        else:
            grant = choose_beside(state, job, free, window, head.ask, open_to(state, head, free_at(state, T), T))
        if grant is not None:
            state.begin_shared(job, grant, backfilled=True)


# -- Backfill(depth)


def holds(promise: Reservation, t: float) -> bool:
    """ "It holds nodes at every t with T <= t < E" (model.md#backfill)."""
    return promise.begin <= t < promise.end


def asked(head: Reservation) -> Ask:
    """What the job of an open reservation asks for."""
    assert head.ask is not None
    return head.ask


def held(free: Free, plan: Plan, t: float, own: Reservation | None = None) -> Free:
    """What reservations leave at t; `own` is one of no length, which counts at its time."""
    left = list(free)
    for each in plan:
        if each.grant is not None and (holds(each, t) or each is own):
            for node, share in each.grant.items():
                left[node] = less(left[node], share)
    return left


def joined(state: State, plan: Plan, free: Free, t: float, end: float) -> Free:
    """What is free at t and stays so beside all reservations with t < T < end."""
    for each in plan:
        if each.grant is not None and t < each.begin < end:
            own = None if holds(each, each.begin) else each
            there = held(free_at(state, each.begin), plan, each.begin, own)
            free = [meet(mine, other) for mine, other in zip(free, there, strict=True)]
    return free


def for_head(state: State, plan: Plan, head: Reservation) -> Free:
    """What is free for the head in its whole reservation."""
    free = joined(state, plan, held(free_at(state, head.begin), plan, head.begin), head.begin, head.end)
    return [None if head.closed >> node & 1 else left for node, left in enumerate(free)]


def grant_in(state: State, plan: Plan, job: Job, free: Free, t: float, end: float) -> Grant | None:
    """Nodes for [t, end), of what is free at t, that leave room for the open reservation of the head if they meet."""
    free, window = open_to(state, job, joined(state, plan, free, t, end), t), window_at(state, job, t)
    head = next((each for each in plan if each.grant is None), None)
    if head is None or not (holds(head, t) or t < head.begin < end):
        return choose(state, job, free, window)
    return choose_beside(state, job, free, window, asked(head), for_head(state, plan, head))


def earliest(state: State, plan: Plan, job: Job, first: bool) -> Reservation | None:
    """model.md#backfill: "now, the releases and the ends of earlier reservations, in time order"."""
    for t in times_to_try(state, {state.now, *releases(state), *(each.end for each in plan)}):
        end = expected_if_started(job, t + state.delay)
        if first:
            if state.site.fits(job.ask, open_to(state, job, free_at(state, t), t)):
                return Reservation(t, end, job.needs, closed=state.closed(job, t), ask=job.ask)
            continue
        grant = grant_in(state, plan, job, held(free_at(state, t), plan, t), t, end)
        if grant is not None:
            return Reservation(t, end, job.needs, grant=grant)
    return None


def start_in_plan(state: State, plan: Plan, job: Job) -> bool:
    """Start a job now if that delays no reservation."""
    end = expected_if_started(job, state.now + state.delay)
    ahead = [each for each in plan if each.begin < end]
    # Reservations that hold nodes now (of overrun jobs) stand in the way as those that begin later do.
    free = free_now(state)
    for each in ahead:
        if each.grant is not None and each.begin <= state.now:
            own = None if holds(each, each.begin) else each
            there = held(free_at(state, each.begin), plan, each.begin, own)
            free = [meet(mine, other) for mine, other in zip(free, there, strict=True)]
    free = open_to(state, job, joined(state, plan, free, state.now, end), state.now)
    window = window_at(state, job, state.now)
    head = next((each for each in ahead if each.grant is None), None)
    if head is None:
        grant = choose(state, job, free, window)
    else:
        grant = choose_beside(state, job, free, window, asked(head), for_head(state, plan, head))
    if grant is None:
        return False
    state.begin_shared(job, grant, backfilled=True)
    return True


# -- ConservativeBackfill


def hole(state: State, job: Job) -> tuple[Reservation | None, bool]:
    """The earliest hole, and whether the job starts in it now.

    model.md#holes: "`now`, in nodes that are actually free; such a job starts at once, in the sweep." Then "the ends of
    running and held jobs".
    """
    plan = [each for each in state.reservations.values() if each.begin < each.end]
    ends = {each.end for each in state.reservations.values()}
    times = [t for t in times_to_try(state, {*releases(state), *ends}) if t >= state.now]
    for t, really in [(state.now, True), *((t, False) for t in times)]:
        end = expected_if_started(job, t + state.delay)
        free = held(free_now(state) if really else free_at(state, t), plan, t)
        grant = choose(state, job, open_to(state, job, joined(state, plan, free, t, end), t), window_at(state, job, t))
        if grant is not None:
            return Reservation(t, end, job.needs, grant=grant), really
    return None, False


def is_really_free(state: State, promise: Reservation) -> bool:
    """Whether the nodes of a reservation are free now."""
    free = free_now(state)
    assert promise.grant is not None
    return all((left := free[node]) is not None and share.within(left) for node, share in promise.grant.items())


def sweep(state: State, order: list[Job], compressing: bool) -> None:
    """That of model.md#conservative: each job in queue order gets the earliest hole, "never later than it was"."""
    still_waiting: list[Job] = []
    for job in order:
        old = state.reservations.pop(job.index, None)
        new, starts = hole(state, job)
        if old is not None and (new is None or old.begin < new.begin):
            new, starts = old, old.begin == state.now and is_really_free(state, old)
        if new is not None and starts:
            assert new.grant is not None
            state.begin_shared(job, new.grant, backfilled=bool(still_waiting))
            continue
        if new is not None:
            state.reservations[job.index] = new
        still_waiting.append(job)
    order[:] = still_waiting


# -- Preemptive


def room_without(state: State, head: Job, stopped: list[Job]) -> bool:
    """Whether the head has room once these jobs have been stopped."""
    free = free_now(state)
    for job in stopped:
        for node, share in job.grant.items():
            if (left := free[node]) is not None:
                free[node] = left.plus(share)
    return state.site.fits(head.ask, open_to(state, head, free, state.now))
