"""Conservative backfilling on clusters and tori (model.md#conservative).

"Every queued job has a reservation [...], and keeps it. A pass removes one job's reservation after another, in queue
order (a new job has none), and puts it into the earliest hole given all others, never later than it was."
"""

import math
from bisect import bisect_left, bisect_right

from faultsim.reference.job import Job, expected_if_started
from faultsim.reference.scheduling import site_schedulers as shared
from faultsim.reference.scheduling.placement import free_nodes_for, place, unsuspected, window_at
from faultsim.reference.scheduling.views import closed_to, ends_to_try, fits_views
from faultsim.reference.state import Reservation, State
from faultsim.reference.torus.boxes import union


def conservative(state: State, order: list[Job]) -> None:
    """One pass.  "Migration is tried after the sweep"."""
    rebuild = is_disturbed(state)
    state.disturbed = False
    if rebuild:
        state.reservations.clear()
    if state.shares:
        shared.sweep(state, order, compressing=not rebuild)
        return
    sweep(state, order, compressing=not rebuild)
    if state.rules["migration"].in_pass(state, order):
        state.reservations.clear()
        sweep(state, order, compressing=False)


def is_disturbed(state: State) -> bool:
    """ "a running job past its expected end, or one that was and has ended since the last pass; a reservation whose
    time has passed, or was that of the last pass, without a start; [...] a failure with an effect; a repair; a
    requested checkpoint since the last pass" (model.md#disturbances).  An adopted `Defragment` is dealt with in its
    own pass.
    """
    return (
        state.disturbed
        or state.overdue()
        or any(r.begin < state.now or r.begin == state.last_pass for r in state.reservations.values())
    )


def renew(state: State, order: list[Job]) -> None:
    """Before a tick of `Fars`: "after a disturbance since then they are dropped and recomputed, in queue order, as in a
    pass at t in which no job starts" (model.md#spares).  The next pass does so again.
    """
    if not is_disturbed(state):
        return
    state.disturbed = True
    state.reservations.clear()
    for job in order:
        new, _ = (cluster_hole if state.table is None else torus_hole)(state, job, job is order[0])
        if new is not None:
            state.reservations[job.index] = new


def sweep(state: State, order: list[Job], compressing: bool) -> None:
    """Give every waiting job the earliest hole, in queue order; jobs whose hole is now start and leave `order`.

    "A job that finds no hole at all [...] has no reservation until all are recomputed."
    """
    still_waiting: list[Job] = []
    for job in order:
        old = state.reservations.pop(job.index, None)
        first = not still_waiting  # no job earlier in queue order stays queued
        new, starts = (cluster_hole if state.table is None else torus_hole)(state, job, first)
        if old is not None and (new is None or old.begin < new.begin):
            # "never later than it was"
            new, starts = old, old.begin == state.now and is_really_free(state, job, old)
        if new is not None and starts:
            # "It counts as backfilled if a job earlier in queue order stays queued."
            spared = closed_to(list(state.reservations.values()))
            state.begin(job, new.box, free_nodes_for(state, job, spared), backfilled=not first)
            continue
        if new is not None:
            state.reservations[job.index] = new
        still_waiting.append(job)
    order[:] = still_waiting


def reservation_end(state: State, job: Job, begin: float) -> float:
    """ "from t to its expected end if decided at t"."""
    return expected_if_started(job, begin + state.delay)


def is_really_free(state: State, job: Job, promise: Reservation) -> bool:
    """Whether the nodes of a job's reservation are free now."""
    return promise.size <= state.room_for(job) if promise.box is None else not promise.box.mask & state.blocked


def holes_to_try(state: State) -> list[float]:
    """The releases from now on, in time order: expected ends of running jobs, known repairs, ends of reservations."""
    ends = {release.time for release in state.releases()}
    ends.update(promise.end for promise in state.reservations.values())
    ends.update(ends_to_try(state, max(ends, default=state.now)))
    return sorted(t for t in ends if t >= state.now)


def meet(begin: float, end: float, other_begin: float, other_end: float) -> bool:
    """Whether the other half-open interval takes room from this one.

    "A reservation of zero length needs room at its instant and takes none from others."
    """
    if other_begin == other_end:
        return False
    return other_begin <= begin < other_end or begin <= other_begin < end


# -- cluster: a count of nodes


def cluster_hole(state: State, job: Job, first: bool) -> tuple[Reservation | None, bool]:
    """The earliest hole of a cluster, and whether the job starts in it now.

    "the size fits at now into the nodes expected to be free and not reserved, including those that an overrun job
    should have released, and does not exceed the number actually free." (model.md#holes)
    """
    times, used = usage(state)
    for t in [state.now, *holes_to_try(state)]:
        end = reservation_end(state, job, t)
        here = bisect_right(times, t) - 1
        over = max(bisect_left(times, end), here + 1)
        if max(used[here:over]) + job.needs > state.nodes - state.left_alone:
            continue
        if fits_views(state, list(state.reservations.values()), job, t, end):
            closed = state.closed(job, t)
            return Reservation(t, end, job.needs, None, closed), t == state.now and job.needs <= state.room_for(job)
    return None, False


def usage(state: State) -> tuple[list[float], list[int]]:
    """Nodes in use by running jobs (until their expected end) and by reservations, and those that are down (until they
    are up, if that is known): times, and the number from each time up to the next.  A reservation of no length takes
    nothing.
    """
    change: dict[float, int] = {state.now: 0}
    for job in state.running:
        end = state.expected_end(job)
        if end > state.now:
            change[state.now] += job.allocated
            change[end] = change.get(end, 0) - job.allocated
    for node, up in state.up.items():
        if state.holder(node) is None:
            end = up if state.repairs_known else math.inf
            change[state.now] += 1
            change[end] = change.get(end, 0) - 1
    for promise in state.reservations.values():
        change[promise.begin] = change.get(promise.begin, 0) + promise.size
        change[promise.end] = change.get(promise.end, 0) - promise.size
    times, used, level = sorted(change), [], 0
    for t in times:
        level += change[t]
        used.append(level)
    return times, used


# -- torus: boxes


def torus_hole(state: State, job: Job, first: bool) -> tuple[Reservation | None, bool]:
    """The earliest hole of a torus, and whether the job starts in it now: "The earliest time is preferred, then the
    smallest size".
    """
    assert state.table is not None
    sizes = state.table.sizes_between(job.needs, state.nodes)
    if not first:
        sizes = state.table.sizes_between(job.needs, job.needs + state.settings.scheduler["max_growth"])
    # Now, among nodes that are really free; then the releases.
    found = box_at(state, job, sizes, state.now, state.blocked, starting=True)
    if found is not None:
        return found, True
    for t in holes_to_try(state):
        running = union(other.mask for other in state.running if state.expected_end(other) > t)
        found = box_at(state, job, sizes, t, running | state.down_mask(after=t))
        if found is not None:
            return found, False
    return None, False


def box_at(
    state: State, job: Job, sizes: list[int], t: float, running: int, starting: bool = False
) -> Reservation | None:
    """A reservation at t, when running jobs hold these nodes, or they are down.

    "On a torus a reservation is a box that is free for the whole interval."; "The placement rule chooses the box, given
    what is occupied at t."
    """
    assert state.table is not None
    end = reservation_end(state, job, t)
    occupied = running
    blocked = running | state.closed(job, t)
    for promise in state.reservations.values():
        assert promise.box is not None
        if meet(t, end, promise.begin, promise.end):
            blocked |= promise.box.mask
        if meet(t, t, promise.begin, promise.end):
            occupied |= promise.box.mask
    for q in sizes:
        candidates = state.table.free_of_size(blocked, q)
        if starting:
            candidates = unsuspected(state, candidates)
        if candidates:
            return Reservation(t, end, q, place(state, job, candidates, occupied, window_at(state, job, t)))
    return None
