"""Whether a reason is true, by brute force: sets of nodes, lists of all places, and releases one after the other.

Nothing here is taken from `faultsim.explain`; the state is that of the reference engine, and places are those of its
lists.  A count of nodes is treated as places, too: a job of k nodes has one "place" if k nodes are free.
"""

import math
from collections.abc import Iterable

from faultsim.reference.job import Job, expected_if_started
from faultsim.reference.state import State
from faultsim.results.reasons import Cause, Reason


class Truth:
    """The state at a moment, and the waiting jobs in queue order."""

    def __init__(self, state: State, order: list[Job]) -> None:
        self.state, self.order = state, order
        self.scheduler = state.settings["scheduler"]
        self.kept = state.left_alone
        self.spares = int(state.settings["machine"].get("spares", 0))

    # -- what is free

    def busy(self, t: float) -> tuple[int, int]:
        """Nodes taken at t >= now by running jobs and down nodes: how many, and which (placed); as `expected`."""
        count, mask = 0, 0
        for job in self.state.running:
            if max(job.expected, self.state.now) > t or t == -math.inf:
                count += job.allocated
                mask |= job.box.mask if job.box is not None else 0
        known = self.state.settings["scheduler"].get("repairs") == "known"
        held = [job for job in self.state.running if job.held]
        for node, up in self.state.up.items():
            in_job = any(job.has(node) for job in held)
            if t == -math.inf or not known or up > t:
                count += not in_job
                mask |= 1 << node
        return count, mask

    def now(self) -> tuple[int, int]:
        """What is really taken now."""
        return self.busy(-math.inf)

    def places(self, sizes: Iterable[int]) -> list[int]:
        """The masks of all places of these sizes."""
        table = self.state.table
        assert table is not None
        return [box.mask for size in sizes for box in table.of_size.get(size, [])]

    def allowed(self, mask: int, place: int) -> bool:
        """Whether no more cubes of a pod are in use than are not held back, with this place too."""
        if not self.spares:
            return True
        hosts = self.state.settings["machine"]["hosts"]
        down = sum(1 << node for node in self.state.up if not any(job.has(node) for job in self.state.running))
        used = mask & ~down | place
        cubes = sum(bool(used >> cube * hosts & ((1 << hosts) - 1)) for cube in range(self.state.nodes // hosts))
        return cubes <= self.state.nodes // hosts - self.spares

    def fits(self, job_needs: int, busy: tuple[int, int], limits: bool = True) -> bool:
        """Whether a job of any kind has room."""
        count, mask = busy
        if self.state.table is None:
            return job_needs + (self.kept if limits else 0) <= self.state.nodes - count
        sizes = [size for size in self.state.table.sizes if size >= job_needs]
        return any(not place & mask and (not limits or self.allowed(mask, place)) for place in self.places(sizes))

    def grown(self, job: Job) -> list[int]:
        """Free places that a backfilled job may have now."""
        assert self.state.table is not None
        _, mask = self.now()
        most = job.needs + self.scheduler["max_growth"]
        sizes = [size for size in self.state.table.sizes if job.needs <= size <= most]
        return [place for place in self.places(sizes) if not place & mask and self.allowed(mask, place)]

    def times(self) -> list[float]:
        """When something is expected to be free again."""
        ends = {max(job.expected, self.state.now) for job in self.state.running}
        if self.scheduler.get("repairs") == "known":
            ends |= set(self.state.up.values())
        return sorted(end for end in ends if end < math.inf)

    def room_at(self, needs: int, count: int = 0, mask: int = 0, until: float = -math.inf) -> float:
        """When a job has room by releases alone, if `count` nodes (`mask`) more are taken until a time."""
        for t in sorted({*self.times(), until} - {-math.inf}):
            taken, nodes = self.busy(t)
            more = until > t
            if self.fits(needs, (taken + count * more, nodes | (mask if more else 0))):
                return t
        return math.inf

    # -- reasons

    def check(self, job: Job, reason: Reason) -> None:
        """The reason is true of a waiting job."""
        state, ends = self.state, expected_if_started(job, self.state.now + self.state.delay)
        count, mask = self.now()
        fits = self.fits(job.needs, (count, mask))
        cause = reason.cause
        if cause in (Cause.NO_ROOM, Cause.FRAGMENTED, Cause.NODES_DOWN, Cause.LIMIT):
            assert not fits
            assert reason.needed == job.needs
            assert reason.free == state.nodes - count - self.kept
            assert reason.until == self.room_at(job.needs)
            down = len(state.up), sum(1 << node for node in state.up)
            never = not self.fits(job.needs, down, limits=state.table is None)
            assert never == (cause == Cause.NODES_DOWN)
            if not never:
                assert self.fits(job.needs, (count, mask), limits=False) == (cause == Cause.LIMIT)
                if cause != Cause.LIMIT:
                    assert (job.needs > reason.free) == (cause == Cause.NO_ROOM)
            if cause == Cause.FRAGMENTED:
                sizes = [q for q in state.table.sizes if self.fits(q, (count, mask))]
                assert reason.largest == max(sizes, default=0)
            return
        assert fits, reason
        head = self.order[0]
        if cause == Cause.BEHIND_HEAD:
            assert job is not head
            assert reason.blocker == head.index
            self.check(head, reason.because)
        elif cause == Cause.TOO_LARGE:
            assert not self.grown(job)
            assert reason.largest <= job.needs + self.scheduler["max_growth"]
        elif cause == Cause.WOULD_DELAY:
            assert reason.ends == ends > reason.begin == self.room_at(head.needs)
            assert reason.blocker == head.index != job.index
            self.check_delay(head, job, reason)
        elif cause == Cause.RESERVED:
            assert reason.ends == ends
            assert ends > reason.begin or reason.begin <= state.now
            self.check_reserved(job, reason)
        elif cause == Cause.NEXT_PASS and self.scheduler["name"] == "conservative":
            assert self.has_hole(job, [other for other in self.order if other is not job])
        else:
            assert cause in (Cause.OUTSIDE, Cause.NEXT_PASS)

    def check_delay(self, head: Job, job: Job, reason: Reason) -> None:
        """If the job started now, the head would find room later; with a fixed box, it would meet that."""
        ends = reason.ends
        if self.scheduler["name"] == "backfill":
            return  # other reservations may be in the way with it: `started_by_a_pass` says that a pass starts nothing
        if self.state.table is None:
            assert reason.extra < job.needs
            assert self.room_at(head.needs, job.needs, until=ends) > reason.begin
        elif self.scheduler["reservation"] == "any":
            places = self.grown(job)
            assert places
            assert all(self.room_at(head.needs, mask=place, until=ends) > reason.begin for place in places)

    def check_reserved(self, job: Job, reason: Reason) -> None:
        """The blocker is the first in queue order with whose reservation there is no hole any more."""
        blocker = next(other for other in self.order if other.index == reason.blocker)
        assert blocker is not job
        if self.scheduler["name"] != "conservative":
            return
        held = self.state.reservations[blocker.index]
        assert held.begin == reason.begin
        own = self.state.reservations.get(job.index)
        assert reason.until == (math.inf if own is None else own.begin)
        others = [other for other in self.order if other is not job]
        at = others.index(blocker)
        assert self.has_hole(job, others[:at])
        assert not self.has_hole(job, others[: at + 1])

    def has_hole(self, job: Job, others: list[Job]) -> bool:
        """Whether there is room from now to the expected end, at every moment, beside these jobs' reservations."""
        state, now = self.state, self.state.now
        ends = expected_if_started(job, now + state.delay)
        found = [state.reservations[other.index] for other in others if other.index in state.reservations]
        moments = [now] + [t for held in found for t in (held.begin, held.end) if now < t < ends]
        if state.table is None:
            for t in moments:
                used = self.busy(t)[0] + sum(held.size for held in found if held.begin <= t < held.end)
                if used + job.needs > state.nodes - self.kept:
                    return False
            return True
        taken = self.now()[1]
        for held in found:
            if any(held.begin <= t < held.end for t in moments):
                taken |= held.box.mask
        first = job is self.order[0]
        places = self.grown(job) if not first else self.places(q for q in state.table.sizes if q >= job.needs)
        return any(not place & taken for place in places)
