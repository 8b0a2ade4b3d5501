"""`Backfill(depth=k)`: the first k jobs that wait have reservations, recomputed in every pass (model.md#backfill)."""

from faultsim.reference.job import Job, expected_if_started
from faultsim.reference.scheduling import site_schedulers as shared
from faultsim.reference.scheduling.placement import free_nodes_for, place, unsuspected, window_at
from faultsim.reference.scheduling.queueing import check_promise, occupied_at
from faultsim.reference.scheduling.views import closed_to, delays_view, ends_to_try, fits_views
from faultsim.reference.state import Reservation, State
from faultsim.reference.torus.boxes import Box, union

Plan = list[Reservation]  # in queue order; the head of a torus with reservation="any" has no box


def backfill_in_depth(state: State, order: list[Job]) -> None:
    """ "the queue is scanned once, in order. The head stays. Each later job starts if it may; otherwise, while fewer
    than k jobs have been considered for a reservation, it gets the earliest one."  `order` has the head first.
    """
    plan: Plan = []
    asked = 0
    for job in order:
        if job is not order[0] and start(state, plan, job):
            continue
        if asked < depth(state, order):
            asked += 1
            found = earliest(state, plan, job, first=job is order[0])
            plan += [found] if found is not None else []
            if job is order[0]:
                check_promise(state, job, found.begin if found is not None else float("inf"))


def promises(state: State, order: list[Job]) -> Plan:
    """What a tick of `Fars` must respect: the reservations "of a scan at t in which no job starts"."""
    plan: Plan = []
    for job in order[: depth(state, order)]:
        found = earliest(state, plan, job, first=job is order[0])
        plan += [found] if found is not None else []
    return plan


def depth(state: State, order: list[Job]) -> int:
    """k."""
    k = state.settings.scheduler["depth"]
    return len(order) if k == "unlimited" else int(k)


def start(state: State, plan: Plan, job: Job) -> bool:
    """Start a job now if that delays no reservation."""
    if state.shares:
        return shared.start_in_plan(state, plan, job)
    end = expected_if_started(job, state.now + state.delay)
    # "It stands in the way of a job that would start now if T is before that job's expected end."
    ahead = [promise for promise in plan if promise.begin < end]
    if state.table is None:
        if job.needs > state.room_for(job) or any(job.needs > room(state, plan, promise) for promise in ahead):
            return False
        if delays_view(state, plan, job, ahead):
            return False
        state.begin(job, None, free_nodes_for(state, job, closed_to(ahead)), backfilled=True)
        return True
    closed = state.closed(job, state.now)
    for q in state.table.sizes_between(job.needs, min(job.needs + growth(state), state.free)):
        candidates = permitted(state, plan, ahead, state.blocked | closed, q)
        if candidates:
            window = window_at(state, job, state.now)
            box = place(state, job, unsuspected(state, candidates), state.blocked, window, boxes_of(ahead))
            state.begin(job, box, [], backfilled=True)
            return True
    return False


def earliest(state: State, plan: Plan, job: Job, first: bool) -> Reservation | None:
    """ "The times tried [...] are now, the releases and the ends of earlier reservations, in time order"."""
    if state.shares:
        return shared.earliest(state, plan, job, first)
    times = {state.now, *(release.time for release in state.releases()), *(promise.end for promise in plan)}
    times.update(ends_to_try(state, max(times)))
    for t in sorted(times):
        end = expected_if_started(job, t + state.delay)
        if state.table is not None:
            found = box_at(state, plan, job, first, t, end)
            if found is not None:
                return found
        elif (
            job.needs <= free_at(state, plan, t)
            and all(job.needs <= room(state, plan, promise) for promise in plan if t < promise.begin < end)
            and fits_views(state, plan, job, t, end)
        ):
            return Reservation(t, end, job.needs, closed=state.closed(job, t))
    return None


def holds(promise: Reservation, t: float) -> bool:
    """ "It holds nodes at every t with T <= t < E"; at none, if it has zero length."""
    return promise.begin <= t < promise.end


def meets(promise: Reservation, t: float, end: float) -> bool:
    """ "meets an interval [t, e) if T <= t < E or t < T < e"."""
    return holds(promise, t) or t < promise.begin < end


# -- cluster: a count of nodes


def free_at(state: State, plan: Plan, t: float) -> int:
    """ "those free at t (counting all releases at t) less the sizes of the reservations that hold nodes at t"."""
    free = state.open_to_start + sum(release.size for release in state.releases() if release.time <= t)
    return free - sum(nodes_of(promise) for promise in plan if holds(promise, t))


def nodes_of(promise: Reservation) -> int:
    """ "a reservation with a box holds all nodes of the box, which may be larger" """
    return promise.size if promise.box is None else promise.box.size


def room(state: State, plan: Plan, promise: Reservation) -> int:
    """ "what is available at its T, less its own size unless that is already counted"."""
    own = 0 if holds(promise, promise.begin) else promise.size
    return free_at(state, plan, promise.begin) - own


# -- torus: boxes


def growth(state: State) -> int:
    """max_growth."""
    return int(state.settings.scheduler["max_growth"])


def box_at(state: State, plan: Plan, job: Job, first: bool, t: float, end: float) -> Reservation | None:
    """A reservation at t: "for the head its rounded size or any larger one, for the others up to s + `max_growth`. The
    placement rule chooses the box, given what is occupied at T, including the boxes of reservations that hold nodes at
    T."
    """
    assert state.table is not None
    running, closed = occupied_at(state, t), state.closed(job, t)
    if first and state.settings.scheduler["reservation"] == "any":
        return Reservation(t, end, job.needs, None, closed) if state.table.fits(running | closed, job.needs) else None
    occupied = running | union(promise.box.mask for promise in plan if promise.box is not None and holds(promise, t))
    met = [promise for promise in plan if meets(promise, t, end)]
    for q in state.table.sizes_between(job.needs, state.nodes if first else job.needs + growth(state)):
        candidates = permitted(state, plan, met, running | closed, q)
        if candidates:
            window = window_at(state, job, t)
            return Reservation(t, end, job.needs, place(state, job, candidates, occupied, window, boxes_of(met)))
    return None


def boxes_of(ahead: Plan) -> int:
    """What reservations claim."""
    return union(promise.box.mask for promise in ahead if promise.box is not None)


def permitted(state: State, plan: Plan, ahead: Plan, occupied: int, q: int) -> list[Box]:
    """Boxes of a size that are free, clear of the boxes of the reservations in `ahead`, and leave one for the head."""
    assert state.table is not None
    candidates = state.table.free_of_size(occupied | boxes_of(ahead), q)
    head = next((promise for promise in ahead if promise.box is None), None)
    return candidates if head is None else [box for box in candidates if leaves_room(state, plan, head, box)]


def leaves_room(state: State, plan: Plan, head: Reservation, box: Box, besides: Job | None = None) -> bool:
    """ "if a box of at least the head's rounded size remains free in what is occupied at its T, together with the boxes
    of the other reservations that it meets"; of running jobs `besides` is left out.
    """
    assert state.table is not None
    occupied = occupied_at(state, head.begin, [job for job in state.running if job is not besides]) | head.closed
    for other in plan:
        if other.box is not None and meets(head, other.begin, other.end):
            occupied |= other.box.mask
    return state.table.fits(occupied | box.mask, head.size)
