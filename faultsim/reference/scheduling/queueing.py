"""FCFS and EASY backfilling, and the order of the queue (model.md#queue)."""

import math

from faultsim.errors import EngineError
from faultsim.reference.job import Job, expected_if_started
from faultsim.reference.scheduling import site_schedulers as shared
from faultsim.reference.scheduling.placement import free_nodes_for, place, unsuspected, window_at
from faultsim.reference.scheduling.views import ends_to_try, free_mask_at, taken_of_view
from faultsim.reference.state import State
from faultsim.reference.torus.boxes import Box, union


def queue_order(state: State) -> list[Job]:
    """The queue, head first, as it is gone through in this whole pass."""
    queue = list(state.queue)  # already by its place, and sorting is stable
    rule = state.settings.scheduler["order"]
    keys = state.rules["order"](queue, state.now, rule, state.world.columns) if queue else []
    return [queue[i] for i in sorted(range(len(queue)), key=keys.__getitem__)]


# -- FCFS


def fcfs(state: State, order: list[Job]) -> None:
    """ "The head starts if it can, then the next, until one cannot." (model.md#fcfs)  Started jobs leave `order`."""
    while order and start_as_head(state, order[0]):
        del order[0]


def start_as_head(state: State, job: Job) -> bool:
    """Start the head of the queue if it can start now.

    "On a torus a job gets a free box of its (rounded) size or, if there is none, of the smallest larger size that has
    one; the placement rule chooses which."
    """
    if state.shares:
        return shared.start_as_head(state, job)
    if job.needs > state.open_to_start:
        return False
    if state.table is None:
        if job.needs > state.room_for(job):
            return False
        state.begin(job, None, free_nodes_for(state, job), backfilled=False)
        return True
    closed = state.shut(job, state.now)
    for q in state.table.sizes_between(job.needs, state.free):
        candidates = unsuspected(state, state.table.free_of_size(state.blocked | closed, q))
        if candidates:
            box = place(state, job, candidates, state.blocked, window_at(state, job, state.now))
            state.begin(job, box, [], backfilled=False)
            return True
    return False


# -- EASY


def backfill(state: State, order: list[Job]) -> None:
    """model.md#easy: "the head gets a reservation, computed once per pass, and the rest of the queue is scanned once,
    in order." `order` has the head first.
    """
    head, T = order[0], shadow_time(state, order[0])
    check_promise(state, head, T)
    if state.shares:
        shared.backfill(state, head, order[1:], T)
    elif state.table is None:
        backfill_cluster(state, head, order[1:], T)
    else:
        backfill_torus(state, head, order[1:], T)


def shadow_time(state: State, head: Job) -> float:
    """T: the first release at which the head finds room, running jobs released in order of expected end.

    "At equal times all count. T is infinite if the releases never suffice, and then it excludes no job."
    Now, if there is room without a release (EASY never asks then).
    """
    if state.shares:
        return shared.shadow_time(state, head)
    if state.absences is not None:
        return first_time(state, head)
    if state.table is None:
        free = state.open_to_start
        if free >= head.needs:
            return state.now
        for release in state.releases():
            free += release.size
            if free >= head.needs:
                return release.time
    else:
        if state.table.fits(state.blocked, head.needs):
            return state.now
        for T in sorted({release.time for release in state.releases()}):
            if state.table.fits(occupied_at(state, T), head.needs):
                return T
    return math.inf


def first_time(state: State, head: Job) -> float:
    """The same where nodes may be closed to the head: of now, the releases, and the ends of absences that are tried,
    the first at which it has room (model.md#absences).
    """
    times = [state.now, *(release.time for release in state.releases())]
    for t in sorted({*times, *ends_to_try(state, max(times))}):
        if state.table is not None:
            if state.table.fits(occupied_at(state, t) | state.shut(head, t), head.needs):
                return t
        else:
            free, closed = free_mask_at(state, t), state.closed(head, t)
            if head.needs <= min(free.bit_count() - state.left_alone, (free & ~closed).bit_count()):
                return t
    return math.inf


def occupied_at(state: State, T: float, running: list[Job] | None = None) -> int:
    """Torus: the occupancy once every running job expected to end by T has, and every node known to be up by T is."""
    running = state.running if running is None else running
    return union(job.mask for job in running if state.expected_end(job) > T) | state.down_mask(after=T)


def ends_by(state: State, job: Job, T: float) -> bool:
    """ "A job may start if its expected end, were it started now [...], is T or earlier"."""
    return expected_if_started(job, state.now + state.delay) <= T


def backfill_cluster(state: State, head: Job, later: list[Job], T: float) -> None:
    """ "if it fits in the extra nodes, which are those free at T (counting all releases at T) less the head's size; it
    then uses them up".  Of the nodes that are open to the head at T, it uses up those that it must have: "it takes
    nodes that are closed to the head first" (model.md#absences).
    """
    room = state.open_to_start
    extra = room + sum(release.size for release in state.releases() if release.time <= T) - head.needs
    closed = 0 if math.isinf(T) else state.closed(head, T)
    beside = (free_mask_at(state, T) & ~closed).bit_count() - head.needs if closed else 0
    for job in later:
        if job.needs > min(room, state.room_for(job)):
            continue
        spared = 0
        if not ends_by(state, job, T):
            spared = closed
            takes = taken_of_view(state, job, closed) if closed else 0
            if job.needs > extra or takes > beside:
                continue
            extra -= job.needs
            beside -= takes
        state.begin(job, None, free_nodes_for(state, job, spared), backfilled=True)
        room = state.open_to_start


def backfill_torus(state: State, head: Job, later: list[Job], T: float) -> None:
    """Both reservations of a torus.

    "any": "the job may start in a box if, with it and with the boxes of jobs backfilled earlier in this pass that end
    after T, such a box is still free at T".  "fixed": "the box of the smallest feasible size that the placement rule
    picks on the occupancy at T is left alone by jobs that end after T". "The placement rule chooses among the permitted
    boxes only. A backfilled job takes a box of its rounded size s, or up to s + `max_growth` if no permitted box of a
    smaller size exists."
    """
    assert state.table is not None
    scheduler = state.settings.scheduler
    fixed = scheduler["reservation"] == "fixed"
    if math.isinf(T):
        for_head = []  # nothing is promised, and every job ends by then
    elif fixed:
        for_head = [fixed_box(state, head, T)]
    else:
        at_T = occupied_at(state, T) | state.shut(head, T)
        for_head = state.table.free_of_at_least(at_T, head.needs)  # where the head could be at T
    at_T = occupied_at(state, T) | (0 if math.isinf(T) else state.shut(head, T))
    for job in later:
        by_T, closed = ends_by(state, job, T), state.shut(job, state.now)
        for q in state.table.sizes_between(job.needs, min(job.needs + scheduler["max_growth"], state.free)):
            spared = 0 if by_T or not fixed else union(box.mask for box in for_head)
            candidates = state.table.free_of_size(state.blocked | closed | spared, q)
            permitted = candidates if by_T else [box for box in candidates if leaves_one(box, for_head)]
            if not by_T and not fixed:  # fewer cubes may be held back than jobs leave
                permitted = [box for box in permitted if state.table.fits(at_T | box.mask, head.needs)]
            if permitted:
                window = window_at(state, job, state.now)
                box = place(state, job, unsuspected(state, permitted), state.blocked, window, spared)
                state.begin(job, box, [], backfilled=True)
                if not by_T and not fixed:
                    for_head = [other for other in for_head if not other.mask & box.mask]
                    at_T |= box.mask
                break


def leaves_one(box: Box, for_head: list[Box]) -> bool:
    """Whether some box that the head could have stays free when this one is held."""
    return any(not other.mask & box.mask for other in for_head)


def fixed_box(state: State, head: Job, T: float) -> Box:
    """The head's own box at T."""
    assert state.table is not None
    occupied = occupied_at(state, T)
    for q in state.table.sizes_between(head.needs, state.nodes):
        candidates = state.table.free_of_size(occupied | state.shut(head, T), q)
        if candidates:
            return place(state, head, candidates, occupied, window_at(state, head, T))
    raise EngineError(f"job {head.index} has no box at its shadow time {T}")


# -- what verify asks: "a start promised by EASY or conservative backfilling is not missed" (model.md#invariants)


def check_promise(state: State, head: Job, T: float) -> None:
    """While the same job stays the head and nothing disturbs, T never becomes later."""
    if state.checking and state.promise is not None and state.promise[0] is head and state.promise[1] < T:
        raise EngineError(f"EASY promised job {head.index} {state.promise[1]}, now {T} (at time {state.now})")
    state.promise = (head, T)


def check_start(state: State, head: Job | None) -> None:
    """The promised job started in time; `head` is the head of the queue at the beginning of the pass.

    A promise ends when another job has come ahead, or a running job outlives its estimate; also with any failure,
    repair, migration or unforeseen checkpoint (`State.disturb`).
    """
    if state.promise is None:
        return
    job, T = state.promise
    if job is not head or state.overdue():
        state.promise = None
    elif state.checking and job.decision >= 0 and job.decision > T:
        raise EngineError(f"EASY promised job {job.index} {T}, it started at {job.decision}")
