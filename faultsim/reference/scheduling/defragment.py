"""`Defragment`, Krevat's migration: re-place the running jobs on an empty torus (model.md#defragment)."""

from faultsim.data.lowered import Lowered
from faultsim.reference.job import Job
from faultsim.reference.scheduling.migration import NoMigration
from faultsim.reference.scheduling.placement import Window, place
from faultsim.reference.scheduling.queueing import shadow_time
from faultsim.reference.state import State
from faultsim.reference.torus.boxes import Box


class Defragment(NoMigration):
    def in_pass(self, state: State, order: list[Job]) -> bool:
        return defragment(state, self.rule, order)


def defragment(state: State, rule: Lowered, order: list[Job]) -> bool:
    """One attempt, if it is due; whether an arrangement was adopted.  `order` is what still waits."""
    if not is_due(state, rule, order):
        return False
    assert state.table is not None
    arrangement = rearranged(state, rule["cost"])
    state.attempted += 1
    after = nodes_of(arrangement) | state.down_mask()
    grew = state.table.largest_free(after) > state.table.largest_free(state.blocked)
    state.successful += grew
    if grew and rule["keep_promise"] and order and delays_head(state, arrangement, order[0], rule["cost"]):
        grew = False
    if grew:
        adopt(state, arrangement, rule["cost"])
    state.last_attempt = state.blocked
    return grew


def is_due(state: State, rule: Lowered, order: list[Job]) -> bool:
    """ "if free / N >= `min_free`, MFP / free <= `max_concentration`, something is free and something runs that is not
    held, somebody waits (or `when="always"`), and the occupancy, down nodes included, differs from that after the last
    attempt".
    """
    assert state.table is not None
    return (
        (bool(order) or rule["when"] == "always")
        and state.free > 0
        and any(not job.held for job in state.running)
        and state.blocked != state.last_attempt
        and state.free / state.nodes >= rule["min_free"]
        and state.table.largest_free(state.blocked) / state.free <= rule["max_concentration"]
    )


def rearranged(state: State, cost: float) -> dict[Job, Box]:
    """Every running job's box in the new arrangement.

    "the placement rule places the running jobs again, at their size, on a torus that is empty except for down nodes and
    held jobs: largest allocated size first, then earlier decision, then index, wherever it stood
    in the queue. A job that fits nowhere keeps its
    box, and the placing starts over with that box blocked from the beginning."  Nodes that are closed to a job from now
    to its expected end after the pause are in no box of it (model.md#absences).  The window is "from now to the job's
    expected end, now if that has passed".
    """
    assert state.table is not None
    kept = {job: job.box for job in state.running if job.held and job.box is not None}
    while True:
        placed = dict(kept)
        for job in sorted(state.running, key=lambda job: (-job.allocated, job.decision, job.index)):
            if job in kept:
                continue
            occupied = nodes_of(placed) | state.down_mask()
            closed = state.shut_to(job, job.expected + cost)
            candidates = state.table.free_of_size(occupied | closed, job.allocated)
            if not candidates:
                assert job.box is not None
                kept[job] = job.box
                break
            window = Window(state.now, state.expected_end(job))
            placed[job] = place(state, job, candidates, occupied, window)
        else:
            return placed


def nodes_of(arrangement: dict[Job, Box]) -> int:
    """The occupancy of an arrangement."""
    occupied = 0
    for box in arrangement.values():
        occupied |= box.mask
    return occupied


def delays_head(state: State, arrangement: dict[Job, Box], head: Job, cost: float) -> bool:
    """Whether it would make the head's T later (`keep_promise`).

    The arrangement is tried on a copy of what `shadow_time` reads: boxes, occupancy and expected ends.
    """
    before = shadow_time(state, head)
    remembered = [(job, job.box, job.expected) for job in state.running], state.busy
    for job, box in arrangement.items():
        if box != job.box:
            job.box, job.expected = box, job.expected + cost
    state.busy = nodes_of(arrangement)
    after = shadow_time(state, head)
    boxes, state.busy = remembered
    for job, old, expected in boxes:
        job.box, job.expected = old, expected
    return after > before


def adopt(state: State, arrangement: dict[Job, Box], cost: float) -> None:
    """ "Each job whose box changes pauses for `cost` seconds"."""
    for job in sorted(arrangement, key=lambda job: job.index):
        if arrangement[job] != job.box:
            state.move(job, arrangement[job], cost)
    state.busy = nodes_of(arrangement)
    state.promise = None
