"""What the reference engine knows at one moment: the jobs, the clock, the machine, and the diary of what happened.

Nothing here decides anything.  `State.begin`, `State.end` and `State.move` are the only ways in which nodes
change hands.
"""

from bisect import insort
from dataclasses import dataclass, field
from typing import Any

from faultsim.errors import EngineError, NotAvailableError, OptionError
from faultsim.reference.boxes import Box, BoxTable

__all__ = ["ARRIVAL", "FINISH", "MOVE", "START", "Job", "Reservation", "State"]

# Event kinds of the record; MODEL.md section 2 fixes the order of those that are events.
FINISH, ARRIVAL, START, MOVE = 0, 5, 6, 7


@dataclass(eq=False, slots=True)
class Job:
    """One job: what it asks for, and what became of it.  Times in seconds."""

    index: int
    submit: float
    runtime: float  # as executed: the estimate for a job that overrun="kill" ends there
    estimate: float
    size: int  # requested nodes
    needs: int  # size, rounded up to a feasible one on a torus
    decision: float = -1.0  # when its nodes were taken
    start: float = -1.0  # decision + start_delay
    finish: float = -1.0  # known to the engine, not to the scheduler
    expected: float = -1.0  # start + estimate, what the scheduler goes by
    allocated: int = 0
    box: Box | None = None  # torus
    nodes: list[int] = field(default_factory=list)  # cluster, ascending, when node identities are tracked
    moves: int = 0
    backfilled: bool = False

    @property
    def mask(self) -> int:
        """Its nodes on a torus as a bit mask."""
        if self.box is None:
            raise EngineError(f"job {self.index} has no box")
        return self.box.mask


@dataclass(eq=False, slots=True)
class Reservation:
    """A promise of conservative backfilling: the job has `size` nodes (on a torus: `box`) over [begin, end)."""

    begin: float
    end: float
    size: int
    box: Box | None = None


class State:
    """The machine, the queue, the running jobs and the clock."""

    def __init__(self, settings: dict[str, Any], jobs: list[Job], table: BoxTable | None, nodes: int) -> None:
        self.settings = settings
        self.jobs = jobs
        self.table = table
        self.nodes = nodes
        self.delay = float(settings["start_delay"])
        self.checking = bool(settings.get("verify", False))
        self.recording = bool(settings["record"])

        self.now = 0.0
        self.queue: list[Job] = []  # by (submit, index): the queue key of MODEL.md 3
        self.running: list[Job] = []  # in order of decision; those in their start delay too
        self.done: list[Job] = []
        self.free = nodes
        self.busy = 0  # torus: the occupied nodes as a mask
        self.tracking = table is None and (self.recording or self.checking)
        self.free_nodes = list(range(nodes)) if self.tracking else []  # cluster, ascending

        self.reservations: dict[int, Reservation] = {}  # conservative: job index -> promise
        self.last_pass: float | None = None
        self.overran = False  # a job has ended after its expected end since the last pass
        self.promise: tuple[Job, float] | None = None  # EASY: the head and its T, for verify only
        self.last_attempt: int | None = None  # migration: the occupancy after the last attempt

        self.attempted = self.successful = self.events = self.passes = 0
        self.diary: list[tuple[float, int, int]] = []  # time, kind, job
        self.places: list[tuple[int, float, float, Box | list[int]]] = []  # job, begin, end, where
        self.open_place: dict[int, int] = {}  # job -> its row in places
        self.idle_no_demand = self.idle_demand = 0.0

    # -- the only ways in which nodes change hands

    def begin(self, job: Job, box: Box | None, backfilled: bool) -> None:
        """The decision to start a queued job; its nodes are held from now on (MODEL.md 6, `start_delay`)."""
        self.queue.remove(job)
        self.running.append(job)
        job.decision = self.now
        job.start = self.now + self.delay
        job.expected = job.start + job.estimate
        job.finish = job.start + job.runtime
        job.box = box
        job.allocated = job.size if box is None else box.size
        job.backfilled = backfilled
        self.free -= job.allocated
        if box is not None:
            self.busy |= box.mask
        elif self.tracking:
            # MODEL.md 7: "Cluster: FirstFit (lowest numbers)".
            job.nodes, self.free_nodes = self.free_nodes[: job.size], self.free_nodes[job.size :]
        self._write(START, job)
        self._take_place(job)

    def end(self, job: Job) -> None:
        """FINISH: the job's nodes are free again."""
        self.running.remove(job)
        self.done.append(job)
        self.free += job.allocated
        if job.box is not None:
            self.busy &= ~job.mask
        for node in job.nodes:
            insort(self.free_nodes, node)
        if job.finish > job.expected:
            self.overran = True
            self.promise = None  # nothing was promised under that
        self._write(FINISH, job)
        self._leave_place(job)

    def arrive(self, job: Job) -> None:
        """ARRIVAL: into the queue."""
        self.queue.append(job)
        self._write(ARRIVAL, job)

    def move(self, job: Job, box: Box, cost: float) -> None:
        """One job's part of an adopted arrangement; `State.busy` is set by the caller once all have moved."""
        self._leave_place(job)
        job.box = box
        job.moves += 1
        job.finish += cost
        job.expected += cost
        self._write(MOVE, job)
        self._take_place(job)

    # -- questions

    def expected_end(self, job: Job) -> float:
        """MODEL.md 3, extend: "its expected end is max(now, start + estimate)"."""
        return max(self.now, job.expected)

    def by_expected_end(self) -> list[Job]:
        """The running jobs in order of expected end."""
        return sorted(self.running, key=self.expected_end)

    def overdue(self) -> bool:
        """Reading R4: some running job's start + estimate has come and it has not finished."""
        return any(job.expected <= self.now for job in self.running)

    # -- the diary

    def _write(self, kind: int, job: Job) -> None:
        if self.recording:
            self.diary.append((self.now, kind, job.index))

    def _take_place(self, job: Job) -> None:
        if self.recording:
            self.open_place[job.index] = len(self.places)
            self.places.append((job.index, self.now, -1.0, job.nodes if job.box is None else job.box))

    def _leave_place(self, job: Job) -> None:
        if self.recording:
            row = self.open_place.pop(job.index)
            index, begin, _, where = self.places[row]
            self.places[row] = (index, begin, self.now, where)


def table_of(settings: dict[str, Any]) -> tuple[BoxTable | None, int]:
    """The machine's boxes (None for a cluster) and its number of nodes."""
    machine, placement = settings["machine"], settings["placement"]
    if machine["name"] == "cluster":
        if placement["name"] != "first_fit":
            raise OptionError(f"placement {placement['name']!r}: a cluster has first_fit only")
        if settings["migration"] is not None:
            raise OptionError(f"migration {settings['migration']['name']!r}: needs a torus, got a cluster")
        return None, int(machine["nodes"])
    if machine["name"] == "torus":
        shape = (int(machine["x"]), int(machine["y"]), int(machine["z"]))
        table = BoxTable(shape, bool(machine.get("wrap", True)), placement.get("box_order", "extents-descending"))
        return table, table.nodes
    raise NotAvailableError(f"machine {machine['name']!r}: known are cluster, torus")
