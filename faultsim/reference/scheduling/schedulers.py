"""The schedulers: what a pass does, and what it has promised to jobs that wait."""

import math

from faultsim.data.lowered import Lowered
from faultsim.reference.job import Job
from faultsim.reference.scheduling.conservative import conservative, renew
from faultsim.reference.scheduling.depth import backfill_in_depth, promises, room
from faultsim.reference.scheduling.queueing import backfill, check_start, fcfs, fixed_box, queue_order, shadow_time
from faultsim.reference.scheduling.views import least_beside
from faultsim.reference.state import Reservation, State
from faultsim.reference.torus.boxes import Box


class Fcfs:
    """First come first served (model.md#fcfs).  It promises nothing."""

    #: Whether passes wait for the caller to decide; whether it decides itself.
    outside, decides = False, True

    def __init__(self, rule: Lowered) -> None:
        self.rule = rule

    def goes_by_order(self, state: State) -> bool:
        """Whether the order of the queue matters to the next pass: whether any job could start.

        "But with `Defragment`, with `ConservativeBackfill`, with `Preemptive` and where decisions come from outside
        every pass goes by the order" (model.md#orders).
        """
        if not self.decides or (state.table is not None and state.settings.migration):
            return True
        room = state.open_to_start
        return any(job.needs <= room for job in state.queue)

    def run_pass(self, state: State, order: list[Job]) -> None:
        """Krevat's order with everything on: FCFS, migrate, FCFS, backfill."""
        head = order[0] if order else None
        fcfs(state, order)
        if state.rules["migration"].in_pass(state, order):
            fcfs(state, order)
        check_start(state, head)
        if order:
            self.backfill(state, order)

    def backfill(self, state: State, order: list[Job]) -> None:
        """What follows while somebody waits."""

    def unpromised(self, state: State) -> float:
        """How many nodes are promised to nobody of the jobs that wait."""
        return math.inf

    def promised(self, state: State) -> tuple[float, int, Box | None]:
        """T of the head, the size that it needs then, and the box if one is reserved; T is infinite without any."""
        return math.inf, 0, None

    def plan(self, state: State) -> list[Reservation]:
        """The reservations that a pass would make now, if it keeps none from one pass to the next."""
        return []


class Easy(Fcfs):
    """EASY backfilling (model.md#easy)."""

    def backfill(self, state: State, order: list[Job]) -> None:
        backfill(state, order)

    def unpromised(self, state: State) -> float:
        """ "x the nodes that are free at T, releases at T counted, less those that the head needs; with T infinite,
        S = H"; "On a cluster x is at most the room that is left beside a reservation, here and below, if only nodes are
        counted that are not closed to its job."
        """
        head = queue_order(state)[0]
        T = shadow_time(state, head)
        if math.isinf(T):
            return T
        promise = Reservation(T, T, head.needs, closed=state.closed(head, T))
        return min(free_at(state, T) - head.needs, least_beside(state, [promise]))

    def promised(self, state: State) -> tuple[float, int, Box | None]:
        if not state.queue:
            return math.inf, 0, None
        head = queue_order(state)[0]
        T = shadow_time(state, head)
        is_fixed = self.rule["reservation"] == "fixed" and not math.isinf(T)
        return T, head.needs, fixed_box(state, head, T) if is_fixed else None


class Backfill(Fcfs):
    """Backfilling with several reservations (model.md#backfill)."""

    def backfill(self, state: State, order: list[Job]) -> None:
        backfill_in_depth(state, order)

    def plan(self, state: State) -> list[Reservation]:
        return promises(state, queue_order(state)) if state.queue else []

    def unpromised(self, state: State) -> float:
        """ "x is the least room beside a reservation, and 0 at least"."""
        plan = self.plan(state)
        least = min((room(state, plan, promise) for promise in plan), default=state.nodes)
        return min(least, least_beside(state, plan))


class Conservative(Fcfs):
    """Conservative backfilling (model.md#conservative)."""

    def goes_by_order(self, state: State) -> bool:
        return True

    def run_pass(self, state: State, order: list[Job]) -> None:
        conservative(state, order)

    def unpromised(self, state: State) -> float:
        """ "the least number, over all times u >= t, and 0 at least, of nodes free at u: [...] less those of
        reservations [begin, end) with begin <= u < end."

        The number falls only where a reservation begins.
        """
        renew(state, queue_order(state))
        promises = state.reservations.values()
        times = [state.now] + [promise.begin for promise in promises if promise.begin > state.now]
        least = min(
            free_at(state, u) - sum(promise.size for promise in promises if promise.begin <= u < promise.end)
            for u in times
        )
        return min(least, least_beside(state, list(promises)))


def free_at(state: State, u: float) -> int:
    """ "those free now, and those of releases at u or earlier"."""
    return state.free + sum(release.size for release in state.releases() if release.time <= u)
