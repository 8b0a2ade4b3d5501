"""One move of `Fars`: where a job goes, and what the move does to it (model.md#rescheduling)."""

import math
from copy import copy
from typing import NamedTuple

from faultsim.data.lowered import Lowered
from faultsim.reference.job import Job, break_off, close_stretch, pause, set_out, unpause, where
from faultsim.reference.scheduling.depth import leaves_room
from faultsim.reference.scheduling.placement import Window, place
from faultsim.reference.scheduling.queueing import occupied_at, queue_order
from faultsim.reference.state import State
from faultsim.reference.torus.boxes import Box

# -- where to


def change_nodes(state: State, job: Job, given: list[int]) -> bool:
    """Cluster: "suspicious nodes, ascending, are exchanged for the lowest nodes that are free and not suspicious; the
    ones left are free at once"; "If too few of these are open to the job until its new expected end, it stays."
    """
    cost = Cost.of(state.settings.policy("rescheduling"))
    closed = state.closed_to(job, moved_end(state, job, cost)) if state.absences is not None else 0
    healthy = [node for node in state.free_nodes if node not in state.suspicious and not closed >> node & 1]
    if len(healthy) < len(given):
        return False
    state.swap(job, given, healthy[: len(given)])
    interrupt(state, job, cost)
    return True


def change_box(state: State, job: Job, promise: "Promise") -> bool:
    """Torus: "the job moves as a whole, into a box of its size without a suspicious node that the placement rule picks
    on what is occupied without the job (its other nodes may be used again), in the window from t to its new expected
    end"; "If there is no such box, the job stays."
    """
    assert state.table is not None
    cost = Cost.of(state.settings.policy("rescheduling"))
    end = moved_end(state, job, cost)
    occupied = state.blocked & ~job.mask
    suspicious = sum(1 << node for node in state.suspicious)
    candidates = [
        box
        for box in state.table.free_of_size(occupied | state.shut_to(job, end), job.allocated)
        if not box.mask & suspicious and promise.allows(state, job, box, end)
    ]
    if not candidates:
        return False
    state.relocate(job, place(state, job, candidates, occupied, Window(state.now, end)))
    interrupt(state, job, cost)
    return True


class Promise:
    """What a torus has promised to jobs that wait, as of before the first move of a tick."""

    def __init__(self, state: State) -> None:
        scheduler = state.rules["scheduler"]
        self.T, self.needs, self.fixed = scheduler.promised(state)
        self.closed = 0 if math.isinf(self.T) else state.shut(queue_order(state)[0], self.T)
        self.plan = scheduler.plan(state)

    def allows(self, state: State, job: Job, box: Box, end: float) -> bool:
        """Whether the job may be in this box until its expected end.

        "With EasyBackfill, if a job waits and the new expected end is later than T, the box must, held at T, leave a
        free box of the head's rounded size (jobs moved before in this tick are where they are now, and the job itself
        is not in its old box), or with `reservation="fixed"` keep clear of the reserved box, which is picked before the
        first move; with ConservativeBackfill it must keep clear of all reservations of nonzero length that begin before
        the new expected end. With Backfill it must keep clear of the boxes of all reservations that begin before the
        new expected end, and if the head's does and has no box, it must leave one for the head".
        """
        assert state.table is not None
        for reservation in state.reservations.values():
            assert reservation.box is not None
            if reservation.begin < min(reservation.end, end) and reservation.box.mask & box.mask:
                return False
        for promise in self.plan:
            if promise.begin < end and (
                promise.box.mask & box.mask
                if promise.box is not None
                else not leaves_room(state, self.plan, promise, box, besides=job)
            ):
                return False
        if end <= self.T:
            return True
        if self.fixed is not None:
            return not self.fixed.mask & box.mask
        others = [other for other in state.running if other is not job]
        return state.table.fits(occupied_at(state, self.T, others) | self.closed | box.mask, self.needs)


# -- what it costs


class Cost(NamedTuple):
    """What a move costs a job."""

    checkpoint: float
    restart: float
    live: bool

    @classmethod
    def of(cls, rule: Lowered) -> "Cost":
        """That of a rule."""
        return cls(float(rule["checkpoint_cost"]), float(rule["restart_cost"]), rule["live"])


def interrupt(state: State, job: Job, cost: Cost) -> None:
    """The job stops for the move."""
    now, restart = state.now, cost.restart
    if cost.live:
        live(job, now, restart)
        state.rules["checkpointing"].skip_requests(job)
        return
    # "Stop and restart is a lead phase, in the account of migrations, with t0 = (t + `checkpoint_cost`) +
    # `restart_cost`; the progress, or that to which an interrupted phase leads, is safe from t + `checkpoint_cost` on,
    # and a kill before that loses the work since the old safe point."
    here = close_stretch(job, now)
    unpause(job, now)
    begin = job.own(now)
    safe_at = begin + cost.checkpoint
    set_out(
        job,
        "move",
        begin,
        safe_at + restart,
        here.safe,
        here.progress,
        here.unsaved,
        since=here.since,
        now=now,
        saves=True,
        safe_at=safe_at,
    )


def moved_end(state: State, job: Job, cost: Cost) -> float:
    """The expected end that a job would have after a move."""
    moved = copy(job)
    interrupt(state, moved, cost)
    return state.expected_end(moved)


def live(job: Job, now: float, restart: float) -> None:
    """ "With `live=True` the job pauses from t to t + `restart_cost`, which is not a safe point"."""
    here, begin = where(job, now), job.own(now)
    if here.phase == "work":
        # "a job that works pauses as with `Defragment`: begin of work, finish and expected end shift by `restart_cost`"
        break_off(job, now)
        pause(job, now, restart)
    elif here.phase == "planned":
        # "one in a planned checkpoint that began at b repeats it after the pause: they shift by (t - b) +
        # `restart_cost`"
        break_off(job, now)
        pause(job, now, restart, again=here.again)
    elif here.unsaved == 0.0:
        # "one in a lead phase in which no work is unsafe (a restart) has a lead phase of `restart_cost` instead"
        close_stretch(job, now)
        unpause(job, now)
        set_out(job, "move", begin, begin + restart, here.safe, here.safe, 0.0, since=here.since, now=now)
    else:
        # "one in another lead phase [...] with u > 0 seconds of work that are not safe continues from its safe progress
        # with t0 = (t + `restart_cost`) - u, as if it had worked since"
        close_stretch(job, now)
        unpause(job, now)
        t0 = (begin + restart) - here.unsaved
        set_out(job, "move", t0, t0, here.safe, here.safe, 0.0, since=here.since, now=now)
        job.pause_until = begin + restart
        job.migration += restart
