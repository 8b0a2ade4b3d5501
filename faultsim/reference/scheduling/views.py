"""Clusters: what is free beside nodes that are closed to a job (model.md#absences).

Plans of clusters count nodes, which any job may have.  Where nodes are closed to a job, they also count what is open to
it: a *view* is the machine without a set of closed nodes.  Of the promises, those count in a view to which all of the
set is closed, since only these must have nodes of the view.
"""

import math

from faultsim.reference.job import Job
from faultsim.reference.state import Reservation, State


def free_mask_at(state: State, t: float) -> int:
    """The nodes that are free at t, if running jobs end as expected and no other starts."""
    taken = 0
    for job in state.running:
        if state.expected_end(job) > t:
            taken |= job.node_mask
    return (1 << state.nodes) - 1 & ~taken & ~state.down_mask(after=t)


def ends_to_try(state: State, last: float) -> list[float]:
    """The ends of absences up to the last of the other times, and one period beyond (model.md#absences)."""
    return [] if state.absences is None else state.absences.ends(state.now, last)


def fits_views(state: State, plan: list[Reservation], job: Job, t: float, end: float) -> bool:
    """Whether a stay from t to `end` leaves each promise its room in the views that both have in common."""
    closed = state.closed(job, t)
    if not closed:
        return True
    views = {closed, *(each.closed for each in plan if each.closed and each.closed | closed == closed)}
    times = [t, *(each.begin for each in plan if t < each.begin < end)]
    return all(job.needs <= room_in_view(state, plan, view, u) for view in views for u in times)


def room_in_view(state: State, plan: list[Reservation], view: int, u: float, besides: Reservation | None = None) -> int:
    """What is free at u outside of the closed nodes `view`, less the promises that are held there, or begin, at u."""
    free = (free_mask_at(state, u) & ~view).bit_count()
    held = [each for each in plan if each.begin <= u < each.end or each.begin == u == each.end]
    return free - sum(each.size for each in held if each is not besides and each.closed | view == each.closed)


def taken_of_view(state: State, job: Job, view: int) -> int:
    """How many nodes of a view a job takes that starts now, if it takes nodes outside of it first."""
    beside = (state.free_mask & ~state.closed(job, state.now) & view).bit_count()
    return max(0, job.needs - beside)


def delays_view(state: State, plan: list[Reservation], job: Job, ahead: list[Reservation]) -> bool:
    """Whether a job that starts now takes room that one of these promises needs in its view."""
    for promise in ahead:
        if not promise.closed:
            continue
        takes = taken_of_view(state, job, promise.closed)
        if takes > room_in_view(state, plan, promise.closed, promise.begin, promise) - promise.size:
            return True
    return False


def least_beside(state: State, plan: list[Reservation]) -> float:
    """The least room beside a promise in its view; infinite if nodes are closed to none."""
    beside = (room_in_view(state, plan, each.closed, each.begin, each) - each.size for each in plan if each.closed)
    return math.inf if state.table is not None else min(beside, default=math.inf)


def closed_to(plan: list[Reservation]) -> int:
    """The nodes that are closed to some promise."""
    nodes = 0
    for promise in plan:
        nodes |= promise.closed
    return nodes
