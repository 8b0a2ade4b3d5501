"""One moment of a simulation as the rules see it: the state of the reference engine, and the queue in its order.

The compiled engine gives a snapshot (`faultsim._core.snapshot`), of which `Moments` makes such a state; the reference
engine has one.  So the rules of `faultsim.explain.rules` are those of one program, whichever engine runs.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from faultsim.arrays import Integers, Values
from faultsim.data.world import AbsenceRows, World
from faultsim.explain.places import CountedTable, FinderTable, places_of
from faultsim.policies.settings import Settings
from faultsim.reference.absences import Absences, no_absences
from faultsim.reference.capacity import Amounts
from faultsim.reference.engine_inputs import WorldRows
from faultsim.reference.job import Job, expected_if_started
from faultsim.reference.rules import rules_of
from faultsim.reference.scheduling.queueing import queue_order
from faultsim.reference.scheduling.schedulers import Backfill, Conservative
from faultsim.reference.site.nodes import asks_of
from faultsim.reference.state import LostPart, Release, Reservation, State
from faultsim.reference.torus.boxes import Box, Segments
from faultsim.reference.torus.listed_table import ListedTable

#: Job numbers are int32.
MOST_JOBS = 2**31 - 1


class StateThen(State):
    """A state that does not change: what the rules ask for again and again is computed once."""

    holders: dict[int, Job | None]
    _releases: list[Release] | None = None

    def holder(self, node: int) -> Job | None:
        return self.holders[node]

    def releases(self) -> list[Release]:
        if self._releases is None:
            self._releases = super().releases()
        return self._releases


@dataclass
class Moment:
    """What there is at a moment.

    Attributes
    ----------
    state : State
        Of the reference engine, with the reservations of conservative backfilling as of the last pass.
    order : list of Job
        The waiting jobs, in queue order as of the last pass: all, or those that matter and the one to be explained.
    ids : array
        Row of `Simulation.log` -> id.
    absences : Absences, optional
        Nodes that are reserved or drained.
    free : int
        A set of nodes, where there are such nodes: those that are free.
    """

    state: State
    order: list[Job]
    ids: Values
    absences: Absences | None = None
    free: int = 0

    def row_of(self, job: Job) -> int:
        """The row of a job in `Simulation.log`, which lacks jobs that were dropped."""
        return job.row if self.state.world.live else job.index

    def id_of(self, job: Job) -> int | str:
        """The id of a job, as Python's own type."""
        id_: int | str = self.ids[self.row_of(job)].item()
        return id_

    def find(self, row: int) -> Job | None:
        """The job of a row, if it waits or holds nodes."""
        return next((job for job in (*self.order, *self.state.running) if self.row_of(job) == row), None)

    def ends(self, job: Job) -> float:
        """When a waiting job would be expected to end if it started now."""
        return expected_if_started(job, self.state.now + self.state.delay)


def jobs_that_matter(scheduler: object) -> int:
    """How many jobs, from the head of the queue on, have an influence on whether another one may start."""
    if isinstance(scheduler, Conservative):
        return MOST_JOBS
    if not isinstance(scheduler, Backfill):
        return 1
    depth = scheduler.rule["depth"]
    return MOST_JOBS if depth == "unlimited" else min(int(depth), MOST_JOBS)


def of_reference(state: State, ids: Values) -> Moment:
    """The moment at which the reference engine is."""
    now = state.now
    if state.last_pass is not None:
        state.now = state.last_pass
    try:
        order = queue_order(state)
    finally:
        state.now = now
    if state.absences is None:
        return Moment(state, order, ids)
    return Moment(state, order, ids, state.absences, state.free_mask)


def add_absences(
    moment: Moment, rows: AbsenceRows | None, groups: Integers | None, drained: list[int], held: list[Integers]
) -> None:
    """What is closed to jobs at a moment.

    `groups` are those of users, by row of the user's log; `held` are, on a cluster, the nodes of running jobs.
    """
    state = moment.state
    moment.absences = no_absences() if rows is None else Absences(rows)
    for job in (*moment.order, *state.running):
        job.user_group = 0 if groups is None else int(groups[job.row])
    for node in drained:
        moment.absences.set_drained(node, True)
    taken = state.blocked
    for nodes in held:
        taken |= sum(1 << node for node in nodes.tolist())
    moment.free = (1 << state.nodes) - 1 & ~taken


class Moments:
    """Makes moments of snapshots of the compiled engine.

    Parameters
    ----------
    settings : Settings
        The lowered policies, as an engine takes them.
    world : World
        The predictions of the run, as an engine takes them.

    Attributes
    ----------
    most : int
        So many jobs from the head of the queue on matter to the others.
    """

    def __init__(self, settings: Settings, world: World) -> None:
        self.settings = settings
        self.rules = rules_of(settings)
        self.most = jobs_that_matter(self.rules["scheduler"])
        self.table, self.nodes = places_of(settings)
        #: What jobs request of nodes that they share, by number; of a caller that owns time, by row.
        self.asks = None if world.asks is None else asks_of(world.asks)
        if self.asks is not None:  # heads are all that the rules of `faultsim.explain.shared` compare with
            self.most = 1
        self.by_row = world.live
        self.world = WorldRows(World(predictions=world.predictions, columns=world.columns))
        recovery, checkpointing = settings.recovery, settings.checkpointing
        self.restart_cost = float(recovery["restart_cost"]) if recovery else 0.0
        self.cost = float(checkpointing["cost"]) if checkpointing and "cost" in checkpointing else 0.0

    def of(self, snapshot: dict[str, Any], ids: Values) -> Moment:
        """The moment of a snapshot."""
        state = StateThen(self.settings, self.rules, [], self.table, self.nodes, self.world)
        state.now = snapshot["now"]
        if snapshot["predictions"] is not None:  # of a caller that owns time, whose rows need not be in order
            self.world.live = True
            self.world.predictions, self.world.p = snapshot["predictions"], snapshot["p"]
        jobs = self._running(snapshot)
        state.running = list(jobs.values())
        for job in state.running if state.shares else ():
            for node, share in job.grant.items():
                state.left[node] = state.left[node].plus(share, -1)
        for node, amounts, until, held in snapshot["lost"]:
            of_jobs = {job: Amounts(*each) for job, each in held.items()}
            state.lose(LostPart(node, Amounts(*amounts), until, of_jobs))
        state.failures_of = snapshot["failures"] or state.failures_of
        state.queue = self._waiting(snapshot)
        state.up = {node: up for node, up, _ in snapshot["down"]}
        state.holders = {node: jobs.get(job) for node, _, job in snapshot["down"]}
        state.down = sum(job is None for job in state.holders.values())
        if state.shares:
            state.down = sum(state.left[node].cores for node in state.up)
            state.down += sum(part.amounts.cores for part in state.lost.values())
        state.free = state.capacity - state.down - sum(job.allocated for job in state.running)
        if self.table is not None:
            state.busy = sum(job.mask for job in state.running)
            state.tell_table()
        for job, reserved in zip(state.queue, snapshot["reserved"], strict=True):
            if reserved is not None:
                begin, place = reserved
                end = expected_if_started(job, begin + state.delay)
                box = None if place is None else self._box(place)
                state.reservations[job.index] = Reservation(begin, end, job.needs if box is None else box.size, box)
        return Moment(state, state.queue, ids)

    def _running(self, snapshot: dict[str, Any]) -> dict[int, Job]:
        """The jobs with nodes, by number."""
        names = ("running", "running_rows", "decision", "start", "expected", "allocated", "held")
        found = {}
        for number, row, decision, start, expected, allocated, held in zip(
            *(snapshot[name] for name in names), strict=True
        ):
            job = Job(number, 0.0, 0.0, 0.0, allocated, allocated, row=row)
            job.decision, job.start, job.expected, job.allocated, job.held = decision, start, expected, allocated, held
            found[number] = job
        for job, place in zip(found.values(), snapshot["place"] or (), strict=False):
            job.box = self._box(place)
        for job, shares in zip(found.values(), snapshot["shares"] or (), strict=False):
            job.grant = {node: Amounts(*amounts) for node, *amounts in shares}
        self._add_asks(found.values())
        return found

    def _add_asks(self, jobs: Iterable[Job]) -> None:
        if self.asks is not None:
            for job in jobs:
                job.ask = self.asks[job.row if self.by_row else job.index]

    def _waiting(self, snapshot: dict[str, object]) -> list[Job]:
        names = ("queue", "queue_rows", "submit", "estimate", "size", "need", "rank", "interval", "restarts", "saved")
        found = []
        for number, row, submit, estimate, size, need, rank, interval, restarts, saved in zip(
            *(snapshot[name] for name in names), strict=True
        ):
            job = Job(number, submit, 0.0, estimate, size, need, row=row, restart_cost=self.restart_cost)
            if isinstance(self.table, CountedTable | ListedTable):
                job.needs = self.table.asked(need, rank)
            if math.isfinite(interval):
                job.interval, job.cost = interval, self.cost
            job.restarts, job.safe = restarts, saved
            found.append(job)
        self._add_asks(found)
        return found

    def _box(self, place: tuple[int, ...] | list[tuple[int, ...]] | int) -> Box:
        """A place of a snapshot as a box of the table."""
        if isinstance(place, int):
            return Box(0, 0, 0, 0, 0, 0, place.bit_count(), place)
        if isinstance(place, list):
            return Segments.of(tuple(self._box(part) for part in place))
        if isinstance(self.table, ListedTable):
            return self.table.box(place)
        assert isinstance(self.table, FinderTable)
        return self.table.box(place)
