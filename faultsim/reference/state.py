"""What the reference engine knows at one moment: the jobs, the clock, the machine, and the diary of what happened.

Nothing here decides anything.  `State.begin`, `State.leave`, `State.move`, `State.relocate`, `State.swap`,
`State.take_down` and `State.bring_up` are the only ways in which nodes change hands.
"""

import math
from bisect import insort
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, NamedTuple

from faultsim.policies.registry import find
from faultsim.policies.settings import Settings
from faultsim.policies.shapes import listed_shapes
from faultsim.reference.engine_inputs import WorldRows
from faultsim.reference.job import Job, close_stretch, expected_if_started, pause, set_out, unpause
from faultsim.reference.pod.table import PodTable
from faultsim.reference.torus.boxes import Box, BoxTable
from faultsim.reference.torus.listed_table import ListedTable

# Event kinds of the record; model.md#events fixes the order of those that are events.
FINISH, REPAIR, FAILURE, CHECKPOINT, THEFT, ARRIVAL, START, MOVE = 0, 1, 2, 3, 4, 5, 6, 7


@dataclass(eq=False, slots=True)
class Reservation:
    """A promise of conservative backfilling: the job has `size` nodes (on a torus: `box`) over [begin, end)."""

    begin: float
    end: float
    size: int
    box: Box | None = None


class Release(NamedTuple):
    """Nodes that are expected to be free again at some time."""

    time: float
    size: int
    mask: int  # torus


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
    ) -> None:
        self.settings = settings
        self.rules = rules  # kind of policy -> the part of this engine that does it
        self.jobs = jobs
        self.table = table
        self.nodes = nodes
        self.world = world or WorldRows(None)
        self.delay = float(settings.start_delay)
        self.checking = bool(settings.verify)
        self.recording = bool(settings.record)

        self.now = 0.0
        self.clock = 0.0  # up to where idle and down time are counted
        self.queue: list[Job] = []  # by (submit, index) and Requeue's place
        self.running: list[Job] = []  # in order of decision; those in their start delay and held ones too
        self.done: list[Job] = []
        self.free = nodes  # neither held by a job nor down
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
        )
        self.tracking = table is None and bool(self.recording or self.checking or named)
        self.free_nodes = list(range(nodes)) if self.tracking else []  # cluster, ascending

        self.reservations: dict[int, Reservation] = {}  # conservative: job index -> promise
        self.last_pass: float | None = None
        self.disturbed = False  # since the last pass
        self.promise: tuple[Job, float] | None = None  # EASY: the head and its T, for verify only
        self.last_attempt: int | None = None  # Defragment: the occupancy after the last attempt
        self.suspicious: frozenset[int] = frozenset()  # Fars: nodes predicted to fail in this interval
        self.waits: list[float] = []  # Fars: of each decision to start, in order

        self.n_decisions = 0  # the last of them is open
        self.wakes: list[float] = []  # passes that somebody outside has asked for
        self.told = 0, 0  # of so many lines of the diary, and places taken, the caller knows
        self.question: Question | None = None  # None: a pass
        self.acted = False  # by way of an answer
        #: Asks somebody outside; the run fills it in.
        self.ask: Callable[..., Generator[str, None, object]] = nobody

        self.attempted = self.successful = self.events = self.passes = 0
        self.failures = self.failures_hit = self.checkpoints = 0
        self.diary: list[tuple[float, int, int, int]] = []  # time, kind, job, node
        self.places: list[tuple[int, float, float, Box | list[int]]] = []  # job, begin, end, where
        self.open_place: dict[int, int] = {}  # job -> its row in places
        self.idle_no_demand = self.idle_demand = self.down_time = 0.0

    def catch_up(self) -> None:
        """Idle despite demand is "min(free, nodes requested by the queue), over time", down "nodes that are down and
        not held by a job, over time".
        """
        gap = self.now - self.clock
        if gap == 0.0:
            return
        wanted = min(self.free, sum(job.size for job in self.queue))
        self.idle_demand += wanted * gap
        self.idle_no_demand += (self.free - wanted) * gap
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
        self.free += job.allocated
        if job.box is not None:
            self.busy &= ~job.mask
        self.free_nodes = sorted(self.free_nodes + job.nodes)
        self._leave_place(job)

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
        self.done.append(job)
        if job.finish > job.expected:
            self.disturb()  # overrun: nothing was promised under that

    def arrive(self, job: Job) -> None:
        """ARRIVAL: into the queue."""
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
        if self.holder(node) is None:
            self.free -= 1
            self.down += 1
            if self.tracking:
                self.free_nodes.remove(node)
            self.tell_table()

    def bring_up(self, node: int) -> None:
        """A down node is up again."""
        del self.up[node]
        if self.holder(node) is None:
            self.free += 1
            self.down -= 1
            if self.tracking:
                insort(self.free_nodes, node)
            self.tell_table()

    def tell_table(self) -> None:
        """Which nodes are down and of no job."""
        if self.table is not None:
            self.table.keep_down(sum(1 << node for node in self.up if self.holder(node) is None))

    # -- questions

    def holder(self, node: int) -> Job | None:
        """The job whose node it is."""
        return next((job for job in self.running if job.has(node)), None)

    @property
    def open_to_start(self) -> int:
        """The free nodes that a pass sees: with `Static(m)` "m fewer free nodes than there are"."""
        return self.free - self.left_alone

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

    def write(self, kind: int, job: Job | None = None, node: int = -1) -> None:
        """One row of the events."""
        if self.recording:
            self.diary.append((self.now, kind, -1 if job is None else job.index, node))

    def place_of(self, job: Job) -> Box | list[int]:
        """What is seen of a job's place: on a torus the box, elsewhere the nodes, ascending."""
        if job.box is None:
            return job.nodes
        if self.table is not None and self.table.are_boxes:
            return job.box
        return [node for node in range(self.nodes) if job.mask >> node & 1]

    def _take_place(self, job: Job) -> None:
        if self.recording:
            self.open_place[job.index] = len(self.places)
            self.places.append((job.index, self.now, -1.0, self.place_of(job)))

    def _leave_place(self, job: Job) -> None:
        if self.recording:
            row = self.open_place.pop(job.index)
            index, begin, _, where = self.places[row]
            self.places[row] = (index, begin, self.now, where)


def nobody(*_: object, **__: object) -> Generator[str, None, Any]:
    """Nobody is asked."""
    yield from ()


def table_of(settings: Settings) -> tuple[BoxTable | None, int]:
    """The machine's boxes (None for a cluster) and its number of nodes."""
    machine = settings.machine
    if machine["name"] == "cluster":
        return None, int(machine["nodes"])
    if machine["name"] == "pod":
        pod = PodTable(machine)
        return pod, pod.nodes
    shape = (int(machine["x"]), int(machine["y"]), int(machine["z"]))
    if "shapes" in settings.placement:
        listed = ListedTable(shape, listed_shapes(settings))
        return listed, listed.nodes
    box_order = settings.placement.get("box_order", "extents-descending")
    table = BoxTable(shape, bool(machine.get("wrap", True)), box_order)
    return table, table.nodes
