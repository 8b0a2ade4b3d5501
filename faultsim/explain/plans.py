"""The reservations of `Backfill` at a moment, up to the job in question (model.md#backfill).

Each function quotes the sentence of the model that it computes.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from faultsim.reference.job import Job, expected_if_started
from faultsim.reference.pod.table import PodTable
from faultsim.reference.scheduling.placement import place, window_at
from faultsim.reference.scheduling.queueing import occupied_at, shadow_time
from faultsim.reference.state import State
from faultsim.reference.torus.boxes import Box, union


@dataclass
class Claim:
    """The reservation [begin, end) of a job; `box` is None on a cluster, and for the head with reservation="any"."""

    job: Job
    begin: float
    end: float
    box: Box | None = None

    def holds(self, t: float) -> bool:
        """ "It holds nodes at every t with T <= t < E"."""
        return self.begin <= t < self.end

    def meets(self, t: float, end: float) -> bool:
        """ "meets an interval [t, e) if T <= t < E or t < T < e"."""
        return self.holds(t) or t < self.begin < end


# -- cluster: a count of nodes


class Levels:
    """The nodes available over time: those free now, releases, and less those of reservations."""

    def __init__(self, state: State) -> None:
        self.at = [state.now]
        self.level = [state.open_to_start]
        self.tried = [state.now]
        self.claims: list[Claim] = []  # by begin
        for release in state.releases():
            self.change(release.time, release.size)
            self.try_at(release.time)

    def cut(self, t: float) -> int:
        """The step that begins at t, made if need be."""
        i = bisect_left(self.at, t)
        if i == len(self.at) or self.at[i] != t:
            self.at.insert(i, t)
            self.level.insert(i, self.level[i - 1])
        return i

    def change(self, t: float, nodes: int) -> None:
        """More nodes from t on."""
        for i in range(self.cut(t), len(self.at)):
            self.level[i] += nodes

    def try_at(self, t: float) -> None:
        i = bisect_left(self.tried, t)
        if i == len(self.tried) or self.tried[i] != t:
            self.tried.insert(i, t)

    def available(self, t: float) -> int:
        """ "the nodes available at t are those free at t [...] less the sizes of the reservations that hold nodes"."""
        return self.level[bisect_right(self.at, t) - 1]

    def room(self, claim: Claim) -> int:
        """ "what is available at its T, less its own size unless that is already counted"."""
        return self.available(claim.begin) - (0 if claim.holds(claim.begin) else claim.job.needs)

    def reserve(self, state: State, job: Job) -> Claim | None:
        """ "It can have the reservation [t, e) if its size exceeds neither what is available at t nor the room beside
        any reservation with t < T < e."  "The times tried for a reservation are now, the releases and the ends of
        earlier reservations, in time order."
        """
        i = 0
        while i < len(self.tried):
            t = self.tried[i]
            end = expected_if_started(job, t + state.delay)
            if self.available(t) < job.needs:
                i += 1
                continue
            first = bisect_right(self.claims, t, key=lambda claim: claim.begin)
            later = (claim for claim in self.claims[first:] if claim.begin < end and self.room(claim) < job.needs)
            narrow = next(later, None)
            if narrow is None:
                return self.add(Claim(job, t, end))
            i = bisect_left(self.tried, narrow.begin)  # whatever begins before it meets it too
        return None

    def add(self, claim: Claim) -> Claim:
        self.claims.insert(bisect_right(self.claims, claim.begin, key=lambda other: other.begin), claim)
        self.change(claim.begin, -claim.job.needs)
        self.change(claim.end, claim.job.needs)
        self.try_at(claim.end)
        return claim


def counted_claims(state: State, jobs: list[Job]) -> tuple[list[Claim], Levels]:
    """The reservations of these jobs, in queue order."""
    levels = Levels(state)
    made = [levels.reserve(state, job) for job in jobs]
    return [claim for claim in made if claim is not None], levels


# -- places


def is_switched(state: State, size: int) -> bool:
    """Whether any free cubes make a slice of this size, so that it is counted instead of looked for."""
    table = state.table
    return isinstance(table, PodTable) and table.slices.wiring == "ocs" and size >= table.slices.hosts


def has_permitted(
    state: State, size: int, occupied: int, forbidden: int = 0, later: int | None = None, need: int = 0
) -> bool:
    """Whether a free place of this size is clear of `forbidden`, and leaves one of at least `need` in `later`."""
    table = state.table
    assert table is not None
    if is_switched(state, size):
        assert isinstance(table, PodTable)
        return table.slices.choose(occupied, size, forbidden=forbidden, later=later, need=need) is not None
    free = table.free_of_size(occupied, size)
    return any(not box.mask & forbidden and (later is None or table.fits(later | box.mask, need)) for box in free)


def sizes_for(state: State, job: Job, first: bool) -> list[int]:
    """ "for the head its rounded size or any larger one, for the others up to s + `max_growth`"."""
    assert state.table is not None
    growth = int(state.settings["scheduler"]["max_growth"])
    return state.table.sizes_between(job.needs, state.nodes if first else job.needs + growth)


def left_for(state: State, head: Claim, claims: list[Claim]) -> int:
    """ "what is occupied at its T, together with the boxes of the other reservations that it meets"."""
    boxes = (claim.box.mask for claim in claims if claim.box is not None and head.meets(claim.begin, claim.end))
    return occupied_at(state, head.begin) | union(boxes)


def placed_claims(state: State, jobs: list[Job]) -> list[Claim]:
    """The reservations of these jobs, the head first, in queue order."""
    claims: list[Claim] = []
    for job in jobs:
        found = earliest_place(state, claims, job, job is jobs[0])
        claims += [found] if found is not None else []
    return claims


def earliest_place(state: State, claims: list[Claim], job: Job, first: bool) -> Claim | None:
    """ "The earliest time is preferred, then the smallest size"."""
    if first and state.settings["scheduler"]["reservation"] == "any":
        T = shadow_time(state, job)
        return Claim(job, T, expected_if_started(job, T + state.delay)) if float("inf") > T else None
    times = {state.now, *(release.time for release in state.releases()), *(claim.end for claim in claims)}
    for t in sorted(times):
        end = expected_if_started(job, t + state.delay)
        box = box_at(state, claims, job, first, t, end)
        if box is not None:
            return Claim(job, t, end, box)
    return None


def box_at(state: State, claims: list[Claim], job: Job, first: bool, t: float, end: float) -> Box | None:
    """ "On a torus a reservation is a box that is free at its T (counting all releases at T) and clear of the boxes of
    the earlier reservations that meet it. [...] The placement rule chooses the box, given what is occupied at T,
    including the boxes of reservations that hold nodes at T."
    """
    table = state.table
    assert table is not None
    running = occupied_at(state, t)
    met = [claim for claim in claims if claim.meets(t, end)]
    reserved = union(claim.box.mask for claim in met if claim.box is not None)
    head = next((claim for claim in met if claim.box is None), None)
    later, need = (None, 0) if head is None else (left_for(state, head, claims), head.job.needs)
    for size in sizes_for(state, job, first):
        if is_switched(state, size):
            assert isinstance(table, PodTable)
            found = table.slices.choose(running, size, forbidden=reserved, later=later, need=need)
            if found is not None:
                return Box(0, 0, 0, 0, 0, 0, found.size, found.mask)
            continue
        candidates = table.free_of_size(running | reserved, size)
        if later is not None:
            candidates = [box for box in candidates if table.fits(later | box.mask, need)]
        if candidates:
            holding = union(claim.box.mask for claim in claims if claim.box is not None and claim.holds(t))
            return place(state, job, candidates, running | holding, window_at(state, job, t))
    return None
