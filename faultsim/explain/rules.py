"""Why a job waits, by the rule of each scheduler (model.md#reasons).

`reason` first looks for what keeps the job from starting whatever the scheduler: the machine.  If it fits, the rule of
the scheduler is asked, which is one function of the table `_RULES`.  Each quotes the sentence of the model.
"""

import math
from collections.abc import Callable
from dataclasses import replace

from faultsim.explain.closed import beside_closed
from faultsim.explain.moment import Moment
from faultsim.explain.places import places_of
from faultsim.explain.plans import (
    Claim,
    counted_claims,
    has_permitted,
    left_for,
    placed_claims,
    sizes_for,
)
from faultsim.explain.shared import no_room, reason_on_nodes, request_of
from faultsim.reference.job import Job
from faultsim.reference.scheduling.conservative import cluster_hole, meet, torus_hole
from faultsim.reference.scheduling.queueing import fixed_box, occupied_at, shadow_time
from faultsim.reference.state import Reservation, State
from faultsim.reference.torus.boxes import union
from faultsim.results.reasons import Cause, Reason


def reason(moment: Moment, job: Job) -> Reason:
    """Why a job that waits or holds nodes does not start."""
    state = moment.state
    if job.held:
        return Reason(Cause.HELD, until=max(up_times(state, job), default=state.now))
    if job in state.running:
        if job.start > state.now:
            return Reason(Cause.START_DELAY, until=job.start, start=job.start)
        return Reason(Cause.RUNNING, until=state.expected_end(job), start=job.start)
    if state.shares and moment.absences is None:
        return reason_on_nodes(moment, job, reason) or Reason(Cause.NEXT_PASS)
    if state.shares and moment.absences is not None:
        found = beside_closed(moment, moment.absences, job, no_room(state, job), reason)
        return Reason(Cause.NEXT_PASS) if found is None else replace(found, request=request_of(job.ask))
    scheduler = state.settings.scheduler
    found = no_place(state, job)
    if moment.absences is not None:
        found = beside_closed(moment, moment.absences, job, found, reason)
    elif found is None:
        found = _RULES.get("" if "object" in scheduler else scheduler["name"], outside)(moment, job)
    return Reason(Cause.NEXT_PASS) if found is None else found


def up_times(state: State, job: Job) -> list[float]:
    """When the nodes of a held job that are down are expected to be up."""
    mine = job.grant.__contains__ if state.shares else lambda node: state.holder(node) is job
    held = (up for node, up in state.up.items() if mine(node))
    return [up if state.repairs_known else math.inf for up in held]


# -- the machine


def no_place(state: State, job: Job) -> Reason | None:
    """Why no place is free for the job, whatever the scheduler."""
    table, free = state.table, state.open_to_start
    if table is None and job.needs <= free:
        return None
    if table is not None and job.needs <= free and table.fits(state.blocked, job.needs):
        return None
    found = Reason(Cause.NO_ROOM, until=shadow_time(state, job), needed=int(job.needs), free=free)
    up = state.nodes - len(state.up)
    if not has_room(state, job, up - state.left_alone, state.down_mask()):
        return replace(found, cause=Cause.NODES_DOWN, up=up)
    if has_room(state, job, state.free, state.blocked):
        spares = int(state.settings.machine.get("spares", 0))
        return replace(found, cause=Cause.LIMIT, kept_back=state.left_alone if table is None else spares)
    if table is None or job.needs > free:
        return found
    return replace(found, cause=Cause.FRAGMENTED, largest=table.largest_free(state.blocked))


def has_room(state: State, job: Job, free: int, occupied: int) -> bool:
    """Whether the job has room if so many nodes are free, on a torus or pod outside of `occupied`; a pod then holds
    nothing back.
    """
    table, machine = state.table, state.settings.machine
    if table is None:
        return job.needs <= free
    if machine.get("spares", 0):
        table, _ = places_of(replace(state.settings, machine={**machine, "spares": 0}))
    assert table is not None
    return table.fits(occupied, job.needs)


# -- schedulers: None if a pass would start the job


def outside(moment: Moment, job: Job) -> Reason:
    """`External`, a scheduler written in Python, and a compiled one."""
    return Reason(Cause.OUTSIDE, needed=int(job.needs), free=moment.state.open_to_start)


def fcfs(moment: Moment, job: Job) -> Reason | None:
    """ "The head starts if it can, then the next, until one cannot." (model.md#fcfs)"""
    head = moment.order[0]
    if job is head:
        return None
    return behind(moment, head, Reason(Cause.BEHIND_HEAD, because=reason(moment, head)))


def behind(moment: Moment, blocker: Job, found: Reason) -> Reason:
    """The reason with the job that is in the way."""
    return replace(found, blocker=moment.row_of(blocker), blocker_id=moment.id_of(blocker))


def easy(moment: Moment, job: Job) -> Reason | None:
    """model.md#easy: "A job may start if its expected end, were it started now, is T or earlier, or [...] on a cluster:
    if it fits in the extra nodes".
    """
    state, head = moment.state, moment.order[0]
    if job is head:
        return None
    T, ends = shadow_time(state, head), moment.ends(job)
    if state.table is not None:
        return easy_placed(moment, job, T, ends)
    released = sum(release.size for release in state.releases() if release.time <= T)
    extra = state.open_to_start + released - head.needs
    return None if ends <= T or job.needs <= extra else delays(moment, job, T, ends, extra)


def easy_placed(moment: Moment, job: Job, T: float, ends: float) -> Reason | None:
    """ "with `reservation="any"` [...] the job may start in a box if, with it and with the boxes of jobs backfilled
    earlier in this pass that end after T, such a box is still free at T"; "with `"fixed"` [...] the box [...] is left
    alone by jobs that end after T."
    """
    state, head = moment.state, moment.order[0]
    sizes = sizes_for(state, job, False)
    if not any(has_permitted(state, size, state.blocked) for size in sizes):
        return too_large(job, sizes)
    if ends <= T:
        return None
    if state.settings.scheduler["reservation"] == "fixed":
        mask = fixed_box(state, head, T).mask
        permitted = any(has_permitted(state, size, state.blocked, forbidden=mask) for size in sizes)
    else:
        later = occupied_at(state, T)
        permitted = any(has_permitted(state, size, state.blocked, later=later, need=head.needs) for size in sizes)
    return None if permitted else delays(moment, job, T, ends)


def too_large(job: Job, sizes: list[int]) -> Reason:
    """ "A backfilled job takes a box of its rounded size s, or up to s + `max_growth`"."""
    return Reason(Cause.TOO_LARGE, needed=int(job.needs), largest=int(sizes[-1]))


def delays(moment: Moment, job: Job, T: float, ends: float, extra: int | None = None) -> Reason:
    found = Reason(Cause.WOULD_DELAY, needed=int(job.needs), begin=T, ends=ends, extra=extra)
    return behind(moment, moment.order[0], found)


def preemptive(moment: Moment, job: Job) -> Reason | None:
    """ "Only when the head can neither start nor stop anybody the rest is backfilled as with EasyBackfill, or not, with
    `backfill=False`." (model.md#preemptive)
    """
    return (easy if moment.state.settings.scheduler["backfill"] else fcfs)(moment, job)


def backfill(moment: Moment, job: Job) -> Reason | None:
    """ "Each later job starts if it may" (model.md#backfill); of several reservations in the way, the first in queue
    order with which the job has no place is named.
    """
    state, order = moment.state, moment.order
    at, depth = order.index(job), state.settings.scheduler["depth"]
    if at == 0:
        return None
    ahead = order[: at if depth == "unlimited" else min(at, int(depth))]
    ends = moment.ends(job)
    if state.table is None:
        claims, levels = counted_claims(state, ahead)
        # "A job may start now if its size exceeds neither the number of free nodes nor the room beside any reservation
        # in its way."
        blocking = next((claim for claim in claims if claim.begin < ends and job.needs > levels.room(claim)), None)
        return None if blocking is None else in_the_way(moment, job, blocking, ends)
    claims = placed_claims(state, ahead)
    sizes = sizes_for(state, job, False)
    if not any(has_permitted(state, size, state.blocked) for size in sizes):
        return too_large(job, sizes)
    return next(
        (
            in_the_way(moment, job, claim, ends)
            for n, claim in enumerate(claims, start=1)
            if claim.begin < ends and not may_start(state, job, claims, claims[:n], ends)
        ),
        None,
    )


def may_start(state: State, job: Job, claims: list[Claim], some: list[Claim], ends: float) -> bool:
    """ "permitted are the boxes that are free now and clear of the boxes of all reservations in its way", of `some`."""
    ahead = [claim for claim in some if claim.begin < ends]
    forbidden = union(claim.box.mask for claim in ahead if claim.box is not None)
    head = next((claim for claim in ahead if claim.box is None), None)
    later, need = (None, 0) if head is None else (left_for(state, head, claims), head.job.needs)
    return any(
        has_permitted(state, size, state.blocked, forbidden, later, need) for size in sizes_for(state, job, False)
    )


def in_the_way(moment: Moment, job: Job, claim: Claim, ends: float) -> Reason:
    if claim.job is moment.order[0]:
        return delays(moment, job, claim.begin, ends)
    found = Reason(Cause.RESERVED, needed=int(job.needs), begin=claim.begin, ends=ends)
    return behind(moment, claim.job, found)


def conservative(moment: Moment, job: Job) -> Reason | None:
    """ "`now`, in nodes that are actually free" (model.md#holes): given all other reservations, of which the first in
    queue order with which there is no hole now is named.
    """
    state, order = moment.state, moment.order
    reservations = {other: state.reservations.get(other.index) for other in order}
    if state.disturbed or not any(reservations.values()):
        reservations = made_again(moment, order[: order.index(job)])
    others = [(other, found) for other, found in reservations.items() if found is not None and other is not job]
    own = reservations.get(job)
    ends, first = moment.ends(job), job is order[0]
    if state.table is not None:
        sizes = sizes_for(state, job, first)
        if not any(has_permitted(state, size, state.blocked) for size in sizes):
            return too_large(job, sizes)
    if has_hole(state, job, first, [found for _, found in others], ends):
        return None
    low, high = 0, len(others)  # there is a hole beside the first `low`, and none beside the first `high`
    while high - low > 1:
        middle = (low + high) // 2
        fits = has_hole(state, job, first, [found for _, found in others[:middle]], ends)
        low, high = (middle, high) if fits else (low, middle)
    blocker, found = others[low]
    until = math.inf if own is None else own.begin
    return behind(
        moment, blocker, Reason(Cause.RESERVED, until=until, needed=int(job.needs), begin=found.begin, ends=ends)
    )


def has_hole(state: State, job: Job, first: bool, others: list[Reservation], ends: float) -> bool:
    """Whether the job has a hole now beside these reservations."""
    if state.table is not None:
        met = (found.box.mask for found in others if found.box and meet(state.now, ends, found.begin, found.end))
        blocked = state.blocked | union(met)
        return any(has_permitted(state, size, blocked) for size in sizes_for(state, job, first))
    # "the size fits at now into the nodes expected to be free and not reserved, including those that an overrun job
    # should have released, and does not exceed the number actually free"
    expected = state.open_to_start + sum(release.size for release in state.releases() if release.time <= state.now)
    begins = [state.now, *(found.begin for found in others if state.now < found.begin < ends)]
    return all(job.needs <= expected + due(state, t) - held(others, t) for t in begins)


def due(state: State, t: float) -> int:
    """Nodes that are expected to be free after now, and by t."""
    return sum(release.size for release in state.releases() if state.now < release.time <= t)


def held(others: list[Reservation], t: float) -> int:
    """Nodes of the reservations at t."""
    return sum(found.size for found in others if found.begin <= t < found.end)


def made_again(moment: Moment, ahead: list[Job]) -> dict[Job, Reservation | None]:
    """ "After a disturbance all reservations are dropped and recomputed in queue order": those of jobs that come first,
    at a moment at which no pass has done so yet.
    """
    state, kept_ones = moment.state, dict(moment.state.reservations)
    state.reservations.clear()
    try:
        for job in ahead:
            hole = cluster_hole if state.table is None else torus_hole
            found, _ = hole(state, job, job is moment.order[0])
            if found is not None:
                state.reservations[job.index] = found
        return {job: state.reservations.get(job.index) for job in ahead}
    finally:
        state.reservations.clear()
        state.reservations.update(kept_ones)


#: Name of a scheduler -> its rule.
_RULES: dict[str, Callable[[Moment, Job], Reason | None]] = {
    "fcfs": fcfs,
    "easy": easy,
    "preemptive": preemptive,
    "backfill": backfill,
    "conservative": conservative,
}
