"""Why a job waits where nodes are reserved or drained (model.md#reasons)."""

from collections.abc import Callable
from dataclasses import replace

from faultsim.explain.moment import Moment
from faultsim.reference.absences import Absences
from faultsim.reference.job import Job
from faultsim.reference.scheduling.site_schedulers import free_now
from faultsim.results.reasons import Cause, Reason


def beside_closed(
    moment: Moment, absences: Absences, job: Job, no_place: Reason | None, reason: Callable[[Moment, Job], Reason]
) -> Reason | None:
    """The reason of a job that holds no nodes; None if a pass would start it.

    `no_place` is the reason if no nodes were closed and it had no place.  When it will have room depends on
    reservations of nodes and jobs, and is not computed here.
    """
    state, head = moment.state, moment.order[0]
    if no_place is not None:
        return replace(no_place, until=None)
    needed, ends = int(job.ask.needed if state.shares else job.needs), moment.ends(job)
    if absences.drained and not has_open_place(moment, job, absences.drained):
        return Reason(Cause.DRAINED, needed=needed, free=open_to(moment, job, absences.drained))
    closed = absences.closed(job, state.now, ends)
    claimed = absences.claimed(job, state.now, ends)
    if closed and not has_open_place(moment, job, closed, claimed):
        begin, i = min(_occurrences(absences, job, state.now, ends))
        end = begin + absences.all[i].end - absences.all[i].begin
        return Reason(Cause.CLOSED, begin=begin, until=end, needed=needed, ends=ends, reservation=absences.names[i])
    if job is head:
        return None
    scheduler = state.settings.scheduler["name"]
    if scheduler in ("backfill", "conservative"):
        return Reason(Cause.RESERVED, needed=needed, ends=ends)
    waits = Reason(Cause.BEHIND_HEAD, because=reason(moment, head))
    if scheduler != "fcfs":
        waits = replace(waits, cause=Cause.WOULD_DELAY, needed=needed, ends=ends)
    return replace(waits, blocker=moment.row_of(head), blocker_id=moment.id_of(head))


def has_open_place(moment: Moment, job: Job, closed: int, claimed: int = 0) -> bool:
    """Whether the job has a place now outside of nodes that are closed to it, some of them `claimed` by users."""
    table = moment.state.table
    if moment.state.shares:
        return open_to(moment, job, closed) >= job.ask.needed
    if table is None:
        return job.needs <= open_to(moment, job, closed)
    return table.fits(moment.state.blocked | table.closing(closed, claimed), job.needs)


def open_to(moment: Moment, job: Job, closed: int) -> int:
    """How many nodes are free outside of closed ones; on a site, nodes or cores that can serve the job."""
    state = moment.state
    if not state.shares:
        return (moment.free & ~closed).bit_count()
    free = [None if closed >> node & 1 else left for node, left in enumerate(free_now(state))]
    return state.site.all_served(job.ask, free)


def _occurrences(absences: Absences, job: Job, now: float, ends: float) -> list[tuple[float, int]]:
    """When the reservations begin, or began, that a stay from now on meets; and which they are."""
    found = []
    for i, each in enumerate(absences.all):
        if not absences.is_open_to(i, job) and each.meets(now, ends):
            k = each.last_begun(now)
            found.append((each.begin_of(k if each.is_active(now) else k + 1), i))
    return found
