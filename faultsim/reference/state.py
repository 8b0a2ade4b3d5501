"""What the reference engine knows at one moment: the jobs, the clock, the machine, and the diary of what happened.

Nothing here decides anything.  `State.begin`, `State.leave`, `State.move`, `State.relocate`, `State.swap`,
`State.take_down` and `State.bring_up` are the only ways in which nodes change hands.
"""

import math
from bisect import insort
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from faultsim import checks
from faultsim.errors import DecisionError
from faultsim.policies.registry import find
from faultsim.policies.settings import Settings
from faultsim.policies.shapes import listed_shapes
from faultsim.reference.absences import Absences
from faultsim.reference.capacity import Amounts
from faultsim.reference.engine_inputs import WorldRows
from faultsim.reference.job import Job, close_stretch, expected_if_started, pause, set_out, unpause
from faultsim.reference.pod.table import PodTable
from faultsim.reference.site.nodes import Ask, Grant, Nodes, asks_of
from faultsim.reference.torus.boxes import Box, BoxTable, Segments
from faultsim.reference.torus.listed_table import ListedTable

# Event kinds of the record; model.md#events fixes the order of those that are events.
FINISH, REPAIR, FAILURE, CHECKPOINT, THEFT, ARRIVAL, START, MOVE, WITHDRAWAL, CHANGE = range(10)
# What only `Decision.changes` shows, in place of a kind and (of a kill) with its cause in place of the node.
REQUEUED, HELD, CONTINUED, ON_HOLD, RELEASED, DRAINED, RESUMED, KILLED = range(10, 18)
# Failures between the first two are of a part of the node, as is the repair after the third; in place of a job they
# have the number of the part among those that went down, -1: none.
PART_DOWN, PART_FAILED, PART_UP = range(18, 21)
CAUSES = ("failure", "preemption", "rescheduling", "act", "withdrawal", "reservation")


@dataclass(eq=False, slots=True)
class Reservation:
    """A promise of backfilling: the job has `size` nodes over [begin, end), on a torus `box`.

    Where nodes are shared it has the `grant`; without one any nodes that serve the `ask`.
    """

    begin: float
    end: float
    size: int
    box: Box | None = None
    closed: int = 0  # the nodes that the job may not hold then
    grant: Grant | None = None
    ask: Ask | None = None


class Release(NamedTuple):
    """Nodes that are expected to be free again at some time."""

    time: float
    size: int
    mask: int  # torus


class LostPart(NamedTuple):
    """A part of a node that is down (model.md#site-parts)."""

    node: int
    amounts: Amounts  # that no job has
    until: float
    held: Mapping[int, Amounts] = {}  # what held jobs have of it, by index


@dataclass(frozen=True, slots=True)
class Question:
    """What somebody outside is asked besides passes (model.md#decisions)."""

    kind: str
    job: Job | None
    node: int  # that fails
    until: float  # when it will be up again
    asked: int  # requests of the job's own in this stretch


class State:
    """The machine, the queue, the running jobs and the clock."""

    def __init__(
        self,
        settings: Settings,
        rules: dict[str, Any],
        jobs: list[Job],
        table: BoxTable | None,
        nodes: int,
        world: WorldRows | None = None,
        asks: bool = False,
        absences: Absences | None = None,
    ) -> None:
        self.settings = settings
        self.rules = rules  # kind of policy -> the part of this engine that does it
        self.jobs = jobs
        self.table = table
        self.nodes = nodes
        self.world = world or WorldRows(None)
        self.absences = absences
        self.shares = settings.machine["name"] == "site"  # whether jobs share nodes
        self.site = Nodes(settings.machine if self.shares else {"classes": []})
        # Site: what no job holds of each node, but for parts that are down, whether the node is up or not.
        self.left = list(self.site.amounts)
        self.lost: dict[int, LostPart] = {}  # parts that are down, by the order in which they failed
        self.all_lost: list[LostPart] = []
        self.capacity = self.site.cores if self.shares else nodes  # what sizes count
        if self.world.asks is not None:
            for job, ask in zip(jobs, asks_of(self.world.asks)[: len(jobs)], strict=True):
                job.ask = ask
        self.delay = float(settings.start_delay)
        self.checking = bool(settings.verify)
        self.recording = bool(settings.record)

        self.now = 0.0
        self.clock = 0.0  # up to where idle and down time are counted
        self.queue: list[Job] = []  # by (submit, index) and Requeue's place
        self.running: list[Job] = []  # in order of decision; those in their start delay and held ones too
        self.done: list[Job] = []
        self.free = self.capacity  # neither held by a job nor down
        self.busy = 0  # torus: the nodes of jobs as a mask
        self.up: dict[int, float] = {}  # nodes that are down, of held jobs too -> the time at which they are up
        self.down = 0  # how many of these no job holds
        self.failures_of = [0] * nodes
        placement = find("placement", settings.placement["name"])
        scheduler = find("scheduler", settings.scheduler["name"])
        named = (
            self.world.failures
            or self.world.predictions
            or settings.migration
            or settings.rescheduling
            or (scheduler is not None and scheduler.follows)
            or placement is None
            or placement.follows
            or asks
            or absences is not None
        )
        self.tracking = table is None and not self.shares and bool(self.recording or self.checking or named)
        self.free_nodes = list(range(nodes)) if self.tracking else []  # cluster, ascending

        self.reservations: dict[int, Reservation] = {}  # conservative: job index -> promise
        self.last_pass: float | None = None
        self.disturbed = False  # since the last pass
        self.promise: tuple[Job, float] | None = None  # EASY: the head and its T, for verify only
        self.last_attempt: int | None = None  # Defragment: the occupancy after the last attempt
        self.suspicious: frozenset[int] = frozenset()  # Fars: nodes predicted to fail in this interval
        self.waits: list[float] = []  # Fars: of each decision to start, in order

        self.entries = 0  # jobs that have entered the queue
        self.begun = False  # some job has been submitted
        self.n_decisions = 0  # the last of them is open
        self.wakes: list[float] = []  # passes that somebody outside has asked for
        self.progress = self.fruitless = 0  # decisions without progress since there was so much of it
        self.until = math.inf  # up to where the run goes on
        self.hit: list[Job] = []  # held jobs that a failure of this instant has hit
        self.told = 0, 0  # of so many lines of the diary, and places taken, the caller knows
        self.question: Question | None = None  # None: a pass
        self.acted = False  # by way of an answer
        self.engine: Any = None  # `faultsim.reference.as_engine.ReferenceEngine`, by which decisions change jobs
        self.eligibility: Any = None  # `faultsim.reference.eligibility.Eligibility`, where jobs have conditions
        #: Asks somebody outside; the run fills it in.
        self.ask: Callable[..., Generator[str, None, object]] = nobody

        self.attempted = self.successful = self.events = self.passes = 0
        self.failures = self.failures_hit = self.checkpoints = 0
        self.diary: list[tuple[float, int, int, int]] = []  # time, kind, job, node
        self.places: list[tuple[int, float, float, Box | list[int]]] = []  # job, begin, end, where
        self.open_place: dict[int, range] = {}  # job -> its rows in places, one per box
        self.idle_no_demand = self.idle_demand = self.down_time = self.reserved = self.drained = 0.0

    def refuse_endless(self) -> None:
        """model.md#endless: "A run ends with an error after a million decisions without progress. Progress is an
        arrival, the end of a job or a failure."
        """
        arrived = sum(len(jobs) for jobs in (self.queue, self.running, self.done))
        progress = arrived + len(self.done) + self.failures
        if progress != self.progress:
            self.progress, self.fruitless = progress, 0
        self.fruitless += 1
        if self.fruitless > checks.MOST_FRUITLESS:
            raise DecisionError(
                f"no progress: policies have acted or requested a pass {checks.MOST_FRUITLESS:,} times until "
                f"{self.now:g} s, and no job arrived or ended and no node failed; {len(self.queue)} jobs wait and "
                f"{len(self.running)} run (model.md#endless)"
            )

    def catch_up(self) -> None:
        """Idle despite demand is "min(free, nodes requested by the queue), over time", down "nodes that are down and
        not held by a job, over time", reserved what is free of active absences, drained what is free of drained
        nodes; these are idle nowhere else.
        """
        gap = self.now - self.clock
        if gap == 0.0:
            return
        if not self.begun:  # "nothing counts before the first job"
            self.clock = self.now
            return
        reserved, drained = self.free_and_reserved(self.clock), self.free_and_drained()
        closed = reserved + drained
        wanted = min(self.free - closed, sum(job.size for job in self.queue))
        self.idle_demand += wanted * gap
        self.idle_no_demand += (self.free - closed - wanted) * gap
        self.reserved += reserved * gap
        self.drained += drained * gap
        self.down_time += self.down * gap
        self.clock = self.now

    # -- the only ways in which nodes change hands

    def begin(self, job: Job, box: Box | None, nodes: list[int], backfilled: bool) -> None:
        """The decision to start a queued job; its nodes are held from now on.

        model.md#lead-phase: "A job decided at t starts at `start` = t + start_delay. If it was killed before, a *lead
        phase* of `restart_cost` seconds follows".
        """
        self.catch_up()
        self.queue.remove(job)
        self.running.append(job)
        job.decision = self.now
        if job.first_decision is None:
            job.first_decision = self.now
        self.waits.append(self.now - max(job.submit, job.last_kill))
        job.start = self.now + self.delay
        job.box, job.nodes = box, nodes
        job.allocated = job.needs if box is None or box.size == job.needs else box.size  # with the shape, if it has one
        job.backfilled = backfilled
        r = job.restart_cost if job.restarts else 0.0
        begin = job.own(job.start)
        set_out(job, "restart", begin, begin + r, job.safe, job.safe, 0.0, since=begin, now=job.start)
        job.expected = expected_if_started(job, job.start)
        self.free -= job.allocated
        if box is not None:
            self.busy |= box.mask
        if nodes:
            self.free_nodes = sorted(set(self.free_nodes).difference(nodes))
        self.write(START, job)
        self._take_place(job)

    def begin_shared(self, job: Job, grant: Grant, backfilled: bool) -> None:
        """The same on nodes that jobs share: it takes these amounts."""
        for node, share in grant.items():
            self.left[node] = self.left[node].plus(share, -1)
        job.grant = grant
        job.needs = sum(share.cores for share in grant.values())
        self.begin(job, None, sorted(grant), backfilled)

    def leave(self, job: Job) -> None:
        """The job leaves its nodes, at its finish or when it is killed: its holding period is over."""
        self.catch_up()
        self.running.remove(job)
        started = min(job.start, self.now)
        job.start_delay += started - job.decision
        job.holding += self.now - job.decision
        job.growth += (job.allocated - job.size) * (self.now - job.decision)
        job.slowed += job.slowed_between(started, self.now)
        if self.now >= job.start:
            self.note_start(job)
        if self.shares:
            self._give_back(job)
            self._leave_place(job)
            return
        self.free += job.allocated
        if job.box is not None:
            self.busy &= ~job.mask
        self.free_nodes = sorted(self.free_nodes + job.nodes)
        self._leave_place(job)

    def _give_back(self, job: Job) -> None:
        """What a job has of nodes that are up is free, that of others is down."""
        for node, share in job.grant.items():
            self.left[node] = self.left[node].plus(share)
            if node in self.up:
                self.down += share.cores
            else:
                self.free += share.cores

    def note_start(self, job: Job) -> None:
        """The job's start has come; what it waited for since it was killed is known."""
        if job.first_start < 0:
            job.first_start = job.start
        if job.waiting_since is not None:
            job.failure_wait += job.start - job.waiting_since
            job.waiting_since = None

    def end(self, job: Job) -> None:
        """FINISH: the job's nodes are free again."""
        close_stretch(job, self.now)
        unpause(job, self.now)
        if job.done is not None:
            job.runtime = job.done
        self.write(FINISH, job)
        self.leave(job)
        self.close(job)
        if job.finish > job.expected:
            self.disturb()  # overrun: nothing was promised under that

    def close(self, job: Job) -> None:
        """The job is done."""
        job.over_at = self.now
        self.done.append(job)

    def arrive(self, job: Job) -> None:
        """ARRIVAL: into the queue."""
        self.entries += 1
        job.entry = self.entries
        self.queue.append(job)
        self.write(ARRIVAL, job)

    def move(self, job: Job, box: Box, cost: float) -> None:
        """One job's part of an adopted arrangement; `State.busy` is set by the caller once all have moved."""
        self._leave_place(job)
        job.box = box
        job.moves += 1
        pause(job, self.now, cost)
        self.write(MOVE, job)
        self._take_place(job)

    def relocate(self, job: Job, box: Box) -> None:
        """Torus: one running job moves to a box that is free but for its own nodes."""
        self._leave_place(job)
        self.busy = self.busy & ~job.mask | box.mask
        job.box = box
        job.moves += 1
        self.write(MOVE, job)
        self._take_place(job)

    def drop(self, job: Job, nodes: list[int]) -> None:
        """A running job gives some of its nodes back; on a pod, whole cubes."""
        self._leave_place(job)
        job.growth += len(nodes) * (self.now - job.decision)
        job.allocated -= len(nodes)
        self.free += len(nodes)
        if job.box is None:
            job.nodes = sorted(set(job.nodes) - set(nodes))
            self.free_nodes = sorted(self.free_nodes + nodes)
        else:
            assert self.table is not None
            left = job.mask & ~sum(1 << node for node in nodes)
            self.busy &= left | ~job.mask
            job.box = next(box for box in self.table.of_size[job.allocated] if box.mask == left)
        self.write(MOVE, job)
        self._take_place(job)

    def swap(self, job: Job, given: list[int], taken: list[int]) -> None:
        """Cluster: a running job moves from some of its nodes to as many free ones."""
        self._leave_place(job)
        job.nodes = sorted((set(job.nodes) - set(given)) | set(taken))
        self.free_nodes = sorted((set(self.free_nodes) - set(taken)) | set(given))
        job.moves += 1
        self.write(MOVE, job)
        self._take_place(job)

    def take_down(self, node: int, until: float) -> None:
        """A free node, or one of a held job, is down from now on."""
        self.up[node] = until
        if self.shares:
            self.free -= self.left[node].cores
            self.down += self.left[node].cores
        elif self.holder(node) is None:
            self.free -= 1
            self.down += 1
            if self.tracking:
                self.free_nodes.remove(node)
            self.tell_table()

    def bring_up(self, node: int) -> None:
        """A down node is up again."""
        del self.up[node]
        if self.shares:
            self.free += self.left[node].cores
            self.down -= self.left[node].cores
        elif self.holder(node) is None:
            self.free += 1
            self.down -= 1
            if self.tracking:
                insort(self.free_nodes, node)
            self.tell_table()

    def lose(self, part: LostPart) -> None:
        """A part of a node is down from now on."""
        self.catch_up()
        self.lost[len(self.all_lost)] = part
        self.all_lost.append(part)
        self.left[part.node] = self.left[part.node].plus(part.amounts, -1)
        if part.node not in self.up:
            self.free -= part.amounts.cores
            self.down += part.amounts.cores

    def regain(self, number: int) -> None:
        """A part that was down is up again."""
        self.catch_up()
        part = self.lost.pop(number)
        self.left[part.node] = self.left[part.node].plus(part.amounts)
        if part.node not in self.up:
            self.free += part.amounts.cores
            self.down -= part.amounts.cores

    def there(self) -> list[Amounts]:
        """What each node has but for parts that are down."""
        found = list(self.site.amounts)
        for part in self.lost.values():
            for amounts in (part.amounts, *part.held.values()):
                found[part.node] = found[part.node].plus(amounts, -1)
        return found

    def units_down(self, job: Job, node: int, at: int) -> int:
        """How many of a held job's units of one resource are down on a node."""
        return sum(
            part.held[job.index][at] for part in self.lost.values() if part.node == node and job.index in part.held
        )

    def tell_table(self) -> None:
        """Which nodes are down and of no job."""
        if self.table is not None:
            self.table.keep_down(sum(1 << node for node in self.up if self.holder(node) is None))

    # -- questions

    def holder(self, node: int) -> Job | None:
        """The job whose node it is."""
        return next((job for job in self.running if job.has(node)), None)

    def jobs_on(self, node: int) -> list[Job]:
        """All jobs on a node, by index; more than one where nodes are shared."""
        return sorted((job for job in self.running if job.has(node)), key=lambda job: job.index)

    @property
    def open_to_start(self) -> int:
        """The free nodes that a pass sees: with `Static(m)` "m fewer free nodes than there are"."""
        return self.free - self.left_alone

    @property
    def available(self) -> int:
        """The free nodes on which jobs may start: "a decision counts drained nodes as taken" (model.md#drained)."""
        return min(self.open_to_start, self.free - self.free_and_drained())

    @property
    def drained_mask(self) -> int:
        """The nodes that are drained."""
        return 0 if self.absences is None else self.absences.drained

    @property
    def left_alone(self) -> int:
        """m of `Static(m)`."""
        rule = self.settings.rescheduling
        return 0 if rule is None or rule.get("spares", "dynamic") == "dynamic" else int(rule["spares"]["nodes"])

    @property
    def avoided(self) -> frozenset[int]:
        """The nodes that a start takes only if no other will do."""
        rule = self.settings.rescheduling
        return self.suspicious if rule is not None and rule.get("suspicious") == "last" else frozenset()

    @property
    def blocked(self) -> int:
        """Torus: the nodes that nobody can take now, busy or down."""
        return self.busy | self.down_mask()

    def down_mask(self, after: float = -math.inf) -> int:
        """Torus: the nodes that are still expected to be down after some time.

        "with `repairs="known"` they are known once the node is down, with `"unknown"` reservations
        assume that such nodes never come back" (model.md#releases).
        """
        still = (node for node, up in self.up.items() if not self.repairs_known or up > after)
        return sum(1 << node for node in still)

    @property
    def repairs_known(self) -> bool:
        """Whether the scheduler knows when down nodes come back; FCFS reserves nothing and does not ask."""
        return bool(self.settings.scheduler.get("repairs", "unknown") == "known")

    # -- absences

    def closed(self, job: Job, begin: float) -> int:
        """The nodes that a job may not hold if it is decided at `begin`."""
        if self.absences is None:
            return 0
        return self.absences.closed(job, begin, expected_if_started(job, begin + self.delay))

    def shut(self, job: Job, begin: float) -> int:
        """Torus: the same, as a part of an occupancy in which the job has its place."""
        if self.absences is None:
            return 0
        return self._shut(job, begin, expected_if_started(job, begin + self.delay))

    def shut_to(self, job: Job, end: float) -> int:
        """Torus: the same from now to `end`."""
        return 0 if self.absences is None else self._shut(job, self.now, max(self.now, end))

    def _shut(self, job: Job, begin: float, end: float) -> int:
        assert self.table is not None
        assert self.absences is not None
        return self.table.closing(self.absences.closed(job, begin, end), self.absences.claimed(job, begin, end))

    def closed_to(self, job: Job, end: float) -> int:
        """The nodes that a job may not hold from now to `end`, if it has not got them."""
        return 0 if self.absences is None else self.absences.closed(job, self.now, max(self.now, end))

    def free_and_reserved(self, t: float) -> int:
        """How many of the free nodes are reserved at t."""
        if self.absences is None:
            return 0
        return self.free_of(self.absences.active(t))

    def free_and_drained(self) -> int:
        """How many of the free nodes are drained."""
        return 0 if self.absences is None else self.free_of(self.absences.drained)

    def free_of(self, mask: int) -> int:
        """How many nodes of a mask are free; on a site, how many of their cores."""
        if self.shares:
            up = (node for node in range(self.nodes) if mask >> node & 1 and node not in self.up)
            return sum(self.left[node].cores for node in up)
        return (mask & self.free_mask).bit_count()

    @property
    def free_mask(self) -> int:
        """The nodes that are free now."""
        if self.table is None:
            return sum(1 << node for node in self.free_nodes)
        return (1 << self.nodes) - 1 & ~self.blocked

    def room_for(self, job: Job) -> int:
        """Cluster: how many of the free nodes a job may have that starts now."""
        room = self.open_to_start
        closed = self.closed(job, self.now)
        return min(room, (self.free_mask & ~closed).bit_count()) if closed else room

    def expected_end(self, job: Job) -> float:
        """ "and `now` once that has passed" (model.md#expected-end)."""
        return max(self.now, job.expected)

    def releases(self) -> list[Release]:
        """What is expected to be free again, by time.

        "Releases are the expected ends of running and held jobs, `now` where that has passed, and the up times of down
        nodes, one node each".
        """
        found = [
            Release(self.expected_end(job), job.allocated, job.mask if self.table is not None else 0)
            for job in self.running
        ]
        if self.repairs_known:
            found += [Release(up, 1, 1 << node) for node, up in self.up.items() if self.holder(node) is None]
        return sorted((release for release in found if release.time < math.inf), key=lambda release: release.time)

    def overdue(self) -> bool:
        """Some running job's expected end has come and it has not finished."""
        return any(job.expected <= self.now for job in self.running)

    def disturb(self) -> None:
        """Something that no plan foresaw (model.md#disturbances, model.md#invariants)."""
        self.disturbed = True
        self.promise = None

    # -- the diary

    def write_kill(self, job: Job, cause: str) -> None:
        """A kill, for `Decision.changes`."""
        self.write(KILLED, job, CAUSES.index(cause))

    def write(self, kind: int, job: Job | None = None, node: int = -1) -> None:
        """One row of the events."""
        if self.recording:
            self.diary.append((self.now, kind, -1 if job is None else job.index, node))

    def write_part(self, kind: int, number: int, node: int) -> None:
        """A failure or repair of a part, for `Decision.changes`."""
        if self.recording:
            self.diary.append((self.now, kind, number, node))

    def place_of(self, job: Job) -> Box | list[int]:
        """What is seen of a job's place: on a torus the box, elsewhere the nodes, ascending."""
        if job.box is None:
            return job.nodes
        if self.table is not None and self.table.are_boxes:
            return job.box
        return [node for node in range(self.nodes) if job.mask >> node & 1]

    def _take_place(self, job: Job) -> None:
        if self.recording:
            rows = [*job.box.parts] if isinstance(job.box, Segments) else [self.place_of(job)]
            self.open_place[job.index] = range(len(self.places), len(self.places) + len(rows))
            self.places += [(job.index, self.now, -1.0, row) for row in rows]

    def _leave_place(self, job: Job) -> None:
        if self.recording:
            for row in self.open_place.pop(job.index):
                index, begin, _, where = self.places[row]
                self.places[row] = (index, begin, self.now, where)


def nobody(*_: object, **__: object) -> Generator[str, None, None]:
    """Nobody is asked."""
    yield from ()


def table_of(settings: Settings) -> tuple[BoxTable | None, int]:
    """The machine's boxes (None for a cluster) and its number of nodes."""
    machine = settings.machine
    if machine["name"] == "cluster":
        return None, int(machine["nodes"])
    if machine["name"] == "site":
        return None, sum(int(row["count"]) for row in machine["classes"])
    if machine["name"] == "pod":
        pod = PodTable(machine)
        return pod, pod.nodes
    shape = (int(machine["x"]), int(machine["y"]), int(machine["z"]))
    if "shapes" in settings.placement:
        given = settings.placement
        exact = given["unlisted"] == "segments"
        listed = ListedTable(shape, listed_shapes(settings), exact, given["larger"], given["tori"])
        return listed, listed.nodes
    box_order = settings.placement.get("box_order", "extents-descending")
    table = BoxTable(shape, bool(machine.get("wrap", True)), box_order)
    return table, table.nodes
