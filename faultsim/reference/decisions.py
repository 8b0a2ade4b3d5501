"""Decisions from outside (model.md#decisions): what is seen, and what can be done, in plain Python."""

import math
from collections.abc import Callable, Iterator
from typing import NoReturn

import numpy as np

from faultsim import checks
from faultsim.arrays import Integers, Values
from faultsim.errors import DecisionError
from faultsim.policies.base import hidden_runtime, no_column
from faultsim.reference.changes import Changes, changes_since
from faultsim.reference.drains import close_node
from faultsim.reference.eligibility import hold_back, let_go, withdraw_now
from faultsim.reference.fars.moves import Cost, interrupt, moved_end
from faultsim.reference.faults.checkpointing import may_begin, take
from faultsim.reference.faults.failures import hold, kill_for_good, requeue, roll_back
from faultsim.reference.job import Job, expected_if_started, where
from faultsim.reference.places import given_place, whole
from faultsim.reference.pod.table import PodTable
from faultsim.reference.scheduling import site_decisions as shared
from faultsim.reference.scheduling.placement import free_nodes_for, place, unsuspected, window_at
from faultsim.reference.scheduling.queueing import occupied_at, queue_order, shadow_time
from faultsim.reference.scheduling.views import free_mask_at, taken_of_view
from faultsim.reference.site.nodes import Grant
from faultsim.reference.state import THEFT, State
from faultsim.reference.torus.boxes import Box

#: What can be done with jobs at decisions other than passes, and times between events.
_MAY = {
    "failure": ("requeued", "held", "killed"),
    "checkpoint": ("saved",),
    "tick": ("requeued", "killed", "saved", "moved", "withdrawn", "put on hold", "released", "changed"),
}
_HOLD = "only a failure holds the job that it hits, and External(at=...) says whether you are asked then"


class Decision:
    """The compiled engine's `faultsim.Decision`, over the state of this engine."""

    def __init__(self, state: State, kind: str, order: list[Job], reader: str = "caller") -> None:
        """For the policy of the kind `reader`, or the caller."""
        state.n_decisions += 1
        self._reader = reader
        self._state, self.kind, self._at, self._number = state, kind, state.now, state.n_decisions
        self._rows = [job.row for job in state.jobs]
        self._jobs = dict(zip(self._rows, state.jobs, strict=True))
        self._since = state.told
        self._order = order
        self.disturbed = state.disturbed or (kind == "schedule" and state.overdue())
        if kind == "schedule":
            state.disturbed = False
        self._moved = False
        question = state.question
        self.node: int | None = None
        self.until: float | None = None
        self.asked: int | None = None
        self.job = None if question is None or question.job is None else self._rows[question.job.index]
        if question is None:
            return
        if kind == "failure":
            hidden = state.settings.scheduler.get("repairs") == "unknown" and question.until > state.now
            self.node, self.until = question.node, math.inf if hidden else question.until
        elif kind == "checkpoint":
            self.asked = question.asked

    def __getattr__(self, name: str) -> NoReturn:
        raise checks.no_attribute(type(self), name)

    # -- what there is

    @property
    def now(self) -> float:
        """Seconds."""
        if self._number == self._state.n_decisions:
            self._at = self._state.now
        return self._at

    @property
    def queue(self) -> "Table":
        """The waiting jobs, in queue order."""
        self._check()
        return Table(self, lambda: self._order)

    @property
    def running(self) -> "Table":
        """The jobs that hold nodes, by row."""
        self._check()
        return Table(self, lambda: sorted(self._state.running, key=lambda job: job.row))

    @property
    def free(self) -> int:
        """Free nodes, without those that are drained."""
        self._check()
        return self._state.available

    @property
    def down(self) -> Integers:
        """Nodes that are down."""
        self._check()
        return np.array(sorted(self._state.up), np.int32)

    @property
    def repairs(self) -> object:
        """When the nodes that are down will be up again."""
        up = self._state.up
        return np.array([up[node] if self._state.repairs_known else math.inf for node in self.down.tolist()])

    @property
    def occupancy(self) -> object:
        """Which nodes are taken, down or drained."""
        self._check()
        state = self._state
        if state.shares:
            whole = zip(state.left, state.site.amounts, strict=True)
            taken = [node in state.up or left != has for node, (left, has) in enumerate(whole)]
            return np.array([busy or bool(state.drained_mask >> node & 1) for node, busy in enumerate(taken)])
        if state.table is None:
            busy = np.ones(state.nodes, np.bool_)
            busy[[node for node in state.free_nodes if not state.drained_mask >> node & 1]] = False
            return busy
        bits = state.blocked | state.drained_mask
        busy = np.array([bool(bits >> node & 1) for node in range(state.nodes)])
        return busy.reshape(state.table.shape) if state.table.are_boxes else busy

    @property
    def changes(self) -> Changes:
        """What happened since the last decision."""
        self._check()
        if not self._state.recording:
            self._refuse("only a simulation that was made with live= or record=True keeps what has changed")
        return changes_since(self._state, self._since)

    def foreseen(self, window: float) -> object:
        """Predictions that touch (now, now + window]."""
        self._check()
        now, world = self.now, self._state.world
        rows = [
            (node, begin, end, world.p)
            for begin, end, node in world.predictions
            if begin <= now + window and (end > now or begin > now)
        ]
        return np.array(rows, [("node", np.int32), ("begin", float), ("end", float), ("p", float)])

    def reserved(self, window: float) -> object:
        """Reservations that are active or begin in (now, now + window]."""
        self._check()
        if not math.isfinite(window):
            self._refuse(f"the window of reservations must be finite, got {window:g} s")
        absences = self._state.absences
        rows = [] if absences is None else absences.touching(self.now, self.now + window, checks.MOST_RESERVED + 1)
        if len(rows) > checks.MOST_RESERVED:
            self._refuse(f"the window of reservations is too long: there are more than {checks.MOST_RESERVED:,} rows")
        return np.array(rows, [("node", np.int32), ("begin", float), ("end", float), ("reservation", np.int32)])

    def closed(self, job: int) -> Integers:
        """The nodes that are closed to a job."""
        found = self._find(job)
        if found not in self._state.queue and found not in self._state.running:
            self._refuse(f"no nodes are closed to job {job}: it {self._phrase(found)}")
        nodes = self._closed(found)
        return np.array([node for node in range(self._state.nodes) if nodes >> node & 1], np.int32)

    def _closed(self, job: Job, *, shut: bool = False) -> int:
        """From now to the expected end of a job that waits, if it starts now, or runs; of others those of now."""
        state = self._state
        if job in state.queue:
            return (state.shut if shut else state.closed)(job, state.now)
        end = state.expected_end(job) if job in state.running else state.now
        return (state.shut_to if shut else state.closed_to)(job, end)

    def fits(self, job: int) -> bool:
        """Whether a job could start now."""
        found, state = self._find(job), self._state
        if state.shares:
            return found in state.queue and shared.fits(state, found)
        if found not in state.queue or found.needs > state.available:
            return False
        if state.table is None:
            return found.needs <= state.room_for(found)
        return state.table.fits(state.blocked | state.shut(found, state.now), found.needs)

    def boxes(self, job: int, size: int | None = None) -> object:
        """The free boxes that a job could take."""
        found, table = self._find(job), self._state.table
        if self._state.shares:
            self._refuse("a site has no boxes: choose nodes by d.free_amounts")
        if table is None:
            self._refuse("a cluster has no boxes: choose nodes by d.occupancy")
        if not table.are_boxes:
            self._refuse("a pod has no boxes: choose by d.slices or d.free_cubes")
        taken = self._state.blocked | self._closed(found, shut=True)
        free = table.free_of_size(taken, found.needs if size is None else size)
        rows = sorted((box[:6] for box in free), key=lambda box: (*(-extent for extent in box[3:]), *box[:3]))
        return np.array(rows, np.int32).reshape(-1, 6)

    @property
    def free_amounts(self) -> object:
        """What is free of each node."""
        self._check()
        self._check_shares()
        return shared.free_amounts(self._state)

    def shares(self, job: int) -> object:
        """What a job has of each of its nodes."""
        found = self._find(job)
        self._check_shares()
        if found not in self._state.running:
            self._refuse(f"job {job} has no nodes: it {self._phrase(found)}")
        return shared.shares(found)

    def slices(self, job: int, size: int | None = None) -> object:
        """The free slices that a job could take."""
        found, table = self._find(job), self._pod()
        wanted = found.needs if size is None else size
        if table.slices.wiring == "ocs" and wanted >= table.slices.hosts:
            self._refuse("optical switches join any cubes of this pod: choose some of d.free_cubes")
        occupied = self._state.blocked
        open_ = set(table.free_of_size(occupied | self._closed(found, shut=True), wanted))
        free = [box for box in table.free_of_size(occupied, wanted) if box in open_]  # in the order of all
        rows = [[node for node in range(table.nodes) if box.mask >> node & 1] for box in free]
        return np.array(rows, np.int32).reshape(len(rows), max(0, min(wanted, table.nodes)))

    @property
    def free_cubes(self) -> object:
        """The cubes of which all hosts are free."""
        self._check()
        return np.array(self._pod().slices.free_cubes(self._state.blocked | self._state.drained_mask), np.int32)

    def expected_end(self, job: int, at: float | None = None) -> float:
        """When a waiting job would end if it were started then."""
        found, state = self._waiting(job), self._state
        return expected_if_started(found, (state.now if at is None else at) + state.delay)

    def shadow(self, job: int) -> tuple[float, int]:
        """When a waiting job could start, and what it would leave over."""
        found = self._waiting(job)
        time = shadow_time(self._state, found)
        return time, self._extra(found, time)

    def may_backfill(self, job: int, head: int | None = None, *, max_growth: int = 1) -> bool:
        """Whether a job may start without delaying another."""
        return self._permitted(self._find(job), self._head(head), max_growth) is not None

    def backfill(self, job: int, head: int | None = None, *, max_growth: int = 1) -> bool:
        """Start a job if that delays nobody."""
        found, state = self._find(job), self._state
        waiting = self._head(head)
        boxes = self._permitted(found, waiting, max_growth)
        if boxes is None:
            return False
        if isinstance(boxes, dict):
            self._begin_shared(found, boxes)
        elif state.table is not None:
            self._begin(found, self._rule(found, boxes), [])
        else:
            T = shadow_time(state, waiting)
            spared = 0 if expected_if_started(found, state.now + state.delay) <= T else state.closed(waiting, T)
            self._begin(found, None, free_nodes_for(state, found, spared))
        return True

    # -- acts

    def start(
        self, job: int, *, nodes: object = None, box: object = None, cubes: object = None, cores: object = None
    ) -> None:
        """Start a waiting job."""
        found, state = self._waiting(job), self._state
        if found.needs > state.available and not state.shares:
            self._refuse(f"job {job} cannot start: it needs {found.needs} nodes and {state.available} are free")
        given = {"nodes": nodes, "box": box, "cubes": cubes}
        end = expected_if_started(found, state.now + state.delay)
        place = given_place(state, found, given, self._refuse, end, moves=False)
        number = None if cores is None else whole(cores)
        if cores is not None and (number is None or nodes is None or not state.shares):
            self._refuse(f"cores of job {job} must be whole numbers, one for each of nodes=, on nodes that jobs share")
        if state.shares:
            if place is None:
                grant = shared.chosen(state, found)
            elif number is None:
                grant = shared.named(state, found, place[1], self._refuse)
            else:
                grant = shared.named_with_cores(state, found, place[1], number, self._refuse)
            if grant is None:
                self._refuse(f"job {job} cannot start: it has no room on the nodes{self._reach(found, end)}")
            self._begin_shared(found, grant)
        elif place is not None:
            self._begin(found, *place)
        elif state.table is None:
            room = state.room_for(found)
            if found.needs > room:
                why = f"it needs {found.needs} nodes and {room} of those that are free are open to it"
                self._refuse(f"job {job} cannot start: {why}{self._reach(found, end)}")
            self._begin(found, None, free_nodes_for(state, found))
        else:
            closed = state.shut(found, state.now)
            for size in state.table.sizes_between(found.needs, state.available):
                boxes = state.table.free_of_size(state.blocked | closed, size)
                if boxes:
                    return self._begin(found, self._rule(found, boxes), [])
            kind = "box" if state.table.are_boxes else "slice"
            why = f"no {kind} of {found.needs} nodes or more is free"
            self._refuse(f"job {job} cannot start: {why}{self._reach(found, end)}")
        return None

    def _reach(self, job: Job, end: float) -> str:
        """The first reservation that a stay until `end` would reach into, wherever it is."""
        state = self._state
        why = "" if state.absences is None else state.absences.in_the_way(job, state.now, end, (1 << state.nodes) - 1)
        return f"; on reserved nodes {why}" if why else ""

    def requeue(self, job: int) -> None:
        """Stop a running job, which waits again."""
        found, state = self._stoppable(job, "requeued"), self._state
        self._act("requeued")
        state.disturb()
        roll_back(state, found)
        if self.kind != "failure":
            state.write(THEFT, found)
        place = state.settings.policy("recovery").get("place", "arrival")
        requeue(state, found, place, "failure" if self.kind == "failure" else "act")
        self._order[:] = queue_order(state)

    def hold(self, job: int) -> None:
        """A waiting job is on hold; at a failure, the job that it hits keeps its nodes until they are repaired."""
        if self.kind != "failure":
            waiting, state = self._find(job), self._state
            if waiting not in state.running and waiting not in state.done:
                self._hold_waiting(waiting, job)
                return
            self._refuse(f"job {job} cannot be held at a decision of kind {self.kind!r}: {_HOLD}")
        found, state = self._stoppable(job, "held"), self._state
        self._act("held")
        roll_back(state, found)
        hold(state, found)

    def _hold_waiting(self, found: Job, job: int) -> None:
        state = self._state
        rules = state.eligibility
        pending = rules is not None and found in rules.pending
        if not (found in state.queue or pending) or (rules is not None and found in rules.on_hold):
            self._refuse(f"job {job} cannot be put on hold: it {self._phrase(found)}")
        self._only(found, "put on hold")
        self._act("put on hold")
        hold_back(state, found)
        self._order[:] = [other for other in self._order if other is not found]

    def release(self, job: int) -> None:
        """A job on hold may enter the queue again."""
        found, state = self._find(job), self._state
        if state.eligibility is None or found not in state.eligibility.on_hold:
            self._refuse(f"job {job} cannot be released: it is not on hold")
        self._only(found, "released")
        self._act("released")
        let_go(state, found)

    def withdraw(self, job: int) -> None:
        """A waiting job ends without a run; a running one is killed."""
        found, state = self._find(job), self._state
        if found in state.running and not found.held:
            self.kill(job)
            return
        pending = () if state.eligibility is None else state.eligibility.pending
        if found not in state.queue and found not in pending:
            self._refuse(f"job {job} cannot be withdrawn: it {self._phrase(found)}")
        self._only(found, "withdrawn")
        self._act("withdrawn")
        withdraw_now(state, found)
        self._order[:] = [other for other in self._order if other is not found]

    def kill(self, job: int) -> None:
        """Stop a running job, which does not come back; a waiting one is withdrawn."""
        if self._find(job) in self._state.queue:
            self.withdraw(job)
            return
        found, state = self._stoppable(job, "killed"), self._state
        self._act("killed")
        kill_for_good(state, found, "act")

    def change(
        self,
        job: int,
        *,
        estimate: checks.Duration | None = None,
        size: int | None = None,
        priority: float | None = None,
        begin: checks.Duration | None = None,
    ) -> None:
        """A job that has had no nodes asks for something else (model.md#changed)."""
        found, state = self._find(job), self._state
        self._only(found, "changed")
        given = {"estimate": estimate, "size": size, "priority": priority, "begin": begin}
        acted = state.acted
        self._act("changed")
        try:
            state.engine.changer()(found.row, given)
        except BaseException:
            state.acted = acted
            raise
        self._order[:] = queue_order(state)

    def drain(self, node: int) -> None:
        """A node takes no new jobs from now on."""
        self._close_node("drain", node)

    def resume(self, node: int) -> None:
        """It takes jobs again."""
        self._close_node("resume", node)

    def _close_node(self, act: str, node: int) -> None:
        self._check()
        if self.kind in ("failure", "checkpoint"):
            self._refuse(
                f"{act} is not available at a decision of kind {self.kind!r}: this decision is about job {self.job}"
            )
        close_node(self._state, node, act == "drain", wake=self.kind == "time")
        self._state.acted = True

    def checkpoint(self, job: int) -> None:
        """A running job saves its progress."""
        found, state = self._find(job), self._state
        rule = state.settings.policy("checkpointing")
        if "cost" not in rule:
            self._refuse("this run takes no checkpoints: give checkpointing=, which says what one costs")
        self._only(found, "saved")
        cost = float(rule["cost"])
        if found not in state.running or found.finish <= state.now or not may_begin(state, found, cost):
            self._refuse(f"job {job} cannot save now (model.md#requested)")
        self._act("saved")
        take(state, found, cost)
        state.events += 1 if self.kind != "checkpoint" else 0

    def move(
        self,
        job: int,
        *,
        nodes: object = None,
        box: object = None,
        cubes: object = None,
        checkpoint_cost: float = 30.0,
        restart_cost: float = 30.0,
        live: bool = False,
    ) -> None:
        """A running job goes on elsewhere."""
        found, state = self._stoppable(job, "moved"), self._state
        cost = Cost(float(checkpoint_cost), float(restart_cost), live)
        if not all(0.0 <= seconds < math.inf for seconds in cost[:2]):
            self._refuse(f"the costs of a move must be 0 s or more, and finite: got {cost[0]:g} s and {cost[1]:g} s")
        if state.shares:
            self._refuse(f"job {job} cannot move: jobs that share nodes do not move")
        given = {"nodes": nodes, "box": box, "cubes": cubes}
        place = given_place(state, found, given, self._refuse, moved_end(state, found, cost), moves=True)
        if place is None:
            ways = "nodes=" if state.table is None else "box=" if state.table.are_boxes else "cubes= or nodes="
            self._refuse(f"say where job {job} moves to: {ways}")
        elif place[0] is None:
            left, taken = sorted(set(found.nodes) - set(place[1])), sorted(set(place[1]) - set(found.nodes))
            if not taken:
                self._refuse(f"job {job} already has these nodes")
            self._act("moved")
            state.swap(found, left, taken)
        else:
            self._act("moved")
            state.relocate(found, place[0])
        interrupt(state, found, cost)
        state.events += 1
        if not self._moved:
            state.attempted += 1
            state.successful += 1
            self._moved = True
        state.disturb()

    def wake(self, at: float) -> None:
        """Ask for a pass."""
        self._check()
        if not self.now < at <= checks.LATEST:
            self._refuse(
                f"wake({at:g}): the time must be later than now ({self.now:g} s), and at most {checks.LATEST} s"
            )
        self._state.wakes.append(at)

    def finish(self) -> None:
        """End the pass."""
        self._check()
        self._state.n_decisions += 1

    # -- below

    def is_of(self, state: State) -> bool:
        """Whether it is the one that is open."""
        return self._state is state and self._number == state.n_decisions

    def _refuse(self, text: str) -> NoReturn:
        raise DecisionError(text)

    def _is_for_oracle(self) -> bool:
        """Whether the policy, or the caller, that it is given to may read true run times (model.md#oracle)."""
        settings = self._state.settings
        if self._reader != "caller":
            return bool(settings.policy(self._reader).get("oracle_runtimes"))
        scheduler = settings.scheduler
        by_scheduler = "object" not in scheduler and bool(scheduler.get("oracle_runtimes"))  # External
        return self._state.world.oracle_runtimes or by_scheduler

    def _check(self) -> None:
        if self._number != self._state.n_decisions:
            self._refuse(f"this decision (at {self.now:g} s) is over: the simulation has gone on")
        if self._state.world.live:  # somebody may have told what changes the queue
            self._order[:] = queue_order(self._state)

    def _act(self, what: str) -> None:
        if self.kind not in _MAY:
            if self._state.rules["scheduler"].decides:
                name = self._state.settings.scheduler["name"]
                self._refuse(f"the scheduler of this simulation ({name}) decides: use External() to do it yourself")
        elif what not in _MAY[self.kind]:
            self._refuse(f"jobs cannot be {what} at a decision of kind {self.kind!r}")
        self._state.acted = True

    def _only(self, job: Job, what: str) -> None:
        """At a failure and at a request the job that it is about, and no other."""
        question = self._state.question
        if self.kind in ("failure", "checkpoint") and (question is None or job is not question.job):
            self._refuse(f"job {self._rows[job.index]} cannot be {what}: this decision is about job {self.job}")

    def _stoppable(self, row: int, what: str) -> Job:
        """A job that can be stopped."""
        job, state = self._find(row), self._state
        if job not in state.running or job.held:
            self._refuse(f"job {row} cannot be {what}: it {self._phrase(job)}")
        self._only(job, what)
        if self.kind != "failure":
            if job.start > state.now:
                self._refuse(f"job {row} cannot be {what}: it is in its start delay until {job.start:g} s")
            if job.finish <= state.now:
                self._refuse(f"job {row} cannot be {what}: it ends now")
        return job

    def _find(self, row: int) -> Job:
        self._check()
        if len(self._jobs) != len(self._state.jobs):
            self._jobs = {job.row: job for job in self._state.jobs}
        if row not in self._jobs:
            self._refuse(f"there is no job {row}")
        return self._jobs[row]

    def _phrase(self, job: Job) -> str:
        if job.held:
            return "holds its nodes until they are repaired"
        state = self._state
        if state.eligibility is not None and job in state.eligibility.pending:
            return "is on hold" if job in state.eligibility.on_hold else "is not eligible yet"
        places = {"is waiting": state.queue, "is running": state.running, "has ended": state.done}
        return next((phrase for phrase, jobs in places.items() if job in jobs), "has not arrived yet")

    def _waiting(self, row: int) -> Job:
        job = self._find(row)
        if job not in self._state.queue:
            self._refuse(f"job {row} is not waiting: it {self._phrase(job)}")
        return job

    def _pod(self) -> PodTable:
        table = self._state.table
        if not isinstance(table, PodTable):
            self._refuse("only a pod has cubes and slices")
        return table

    def _head(self, row: int | None) -> Job:
        if row is not None:
            return self._waiting(row)
        if not self._order:
            self._refuse("nobody is waiting")
        return self._order[0]

    def _extra(self, head: Job, time: float) -> int:
        state = self._state
        if state.shares:
            return shared.offered_beyond(state, head, time)
        if math.isinf(time):
            return 0
        if state.table is not None:
            return state.nodes - (occupied_at(state, time) | state.closed(head, time)).bit_count() - head.needs
        return min(self._left_at(head, time))

    def _left_at(self, head: Job, time: float) -> tuple[int, int]:
        """[clusters] What the head leaves of all nodes that are free then, and of those that are open to it."""
        state = self._state
        free = state.open_to_start + sum(row.size for row in state.releases() if row.time <= time)
        closed = state.closed(head, time)
        open_ = (free_mask_at(state, time) & ~closed).bit_count() if closed else free
        return free - head.needs, open_ - head.needs

    def _permitted(self, job: Job, head: Job, growth: int) -> list[Box] | Grant | None:
        """None: it may not start; else the boxes that it may take, none of them on a cluster; on a site its shares."""
        state = self._state
        if job not in state.queue or (job.needs > state.available and not state.shares):
            return None
        if job is head:
            self._refuse(f"job {self._rows[job.index]} cannot be backfilled ahead of itself")
        if state.shares:
            return shared.chosen_beside(state, job, head)
        time = shadow_time(state, head)
        in_time = expected_if_started(job, state.now + state.delay) <= time
        if state.table is None:
            return [] if job.needs <= state.room_for(job) and (in_time or self._leaves(job, head, time)) else None
        open_ = state.blocked | state.shut(job, state.now)
        for size in state.table.sizes_between(job.needs, min(job.needs + growth, state.available)):
            boxes = state.table.free_of_size(open_, size)
            if not in_time:
                later = occupied_at(state, time) | state.shut(head, time)
                boxes = [box for box in boxes if state.table.fits(later | box.mask, head.needs)]
            if boxes:
                return boxes
        return None

    def _leaves(self, job: Job, head: Job, time: float) -> bool:
        """[clusters] Whether a job that starts now and is there at T leaves the head its nodes."""
        closed = self._state.closed(head, time)
        extra, beside = self._left_at(head, time)
        return job.needs <= extra and (not closed or taken_of_view(self._state, job, closed) <= beside)

    def _rule(self, job: Job, boxes: list[Box]) -> Box:
        state = self._state
        return place(state, job, unsuspected(state, boxes), state.blocked, window_at(state, job, state.now))

    def _begin_shared(self, job: Job, grant: Grant) -> None:
        backfilled = job is not self._order[0]
        self._act("started")
        self._order.remove(job)
        self._state.begin_shared(job, grant, backfilled=backfilled)

    def _check_shares(self) -> None:
        if not self._state.shares:
            self._refuse("only a site has nodes that jobs share")

    def _begin(self, job: Job, box: Box | None, nodes: list[int]) -> None:
        backfilled = job is not self._order[0]
        self._act("started")
        self._order.remove(job)
        self._state.begin(job, box, nodes, backfilled=backfilled)


class Table:
    """Jobs as columns.  Each look is at the jobs as they are then."""

    def __init__(self, decision: Decision, look: Callable[[], list[Job]], chosen: list[Job] | None = None) -> None:
        self._decision, self._look, self._chosen = decision, look, chosen

    @property
    def _jobs(self) -> list[Job]:
        self._decision._check()
        there = self._look()
        return there if self._chosen is None else [job for job in self._chosen if job in there]

    def __getitem__(self, key: str | int | slice | Values) -> object:
        """A row, some of the jobs, or a column."""
        if isinstance(key, str):
            return getattr(self, key)
        jobs = self._jobs
        if isinstance(key, slice):
            chosen = jobs[key]
        elif isinstance(key, list | np.ndarray):
            chosen = [jobs[place] for place in np.arange(len(jobs))[np.asarray(key, None if len(key) else np.intp)]]
        else:
            return self._decision._rows[jobs[key].index]
        return Table(self._decision, self._look, chosen)

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def tolist(self) -> list[int]:
        return [self._decision._rows[job.index] for job in self._jobs]

    def __getattr__(self, name: str) -> Values:
        if name == "runtime":
            if not self._decision._is_for_oracle():
                raise hidden_runtime()
            return np.array([job.wanted for job in self._jobs], np.float64)
        if name not in _COLUMNS:
            try:
                return self._decision._state.world.columns[name][self.index]
            except KeyError:
                raise no_column(name, self, [*_COLUMNS, *self._decision._state.world.columns]) from None
        value, dtype = _COLUMNS[name]
        return np.array([value(self._decision, job) for job in self._jobs], dtype)

    @property
    def where(self) -> list[object]:
        """Where each is."""
        places = [self._decision._state.place_of(job) for job in self._jobs]
        return [np.array(place, np.int32) if isinstance(place, list) else tuple(place[:6]) for place in places]


def _progress(decision: Decision, job: Job) -> float:
    now = decision.now
    return job.safe if now < job.start else where(job, now).progress


def _saved(decision: Decision, job: Job) -> float:
    now, is_running = decision.now, job in decision._state.running
    return where(job, now).safe if is_running and now >= job.start else job.safe


_COLUMNS: dict[str, tuple[Callable[[Decision, Job], object], type]] = {
    "index": (lambda decision, job: decision._rows[job.index], np.int32),
    "submit": (lambda decision, job: job.submit, np.float64),
    "wait": (lambda decision, job: decision.now - job.submit, np.float64),
    "estimate": (lambda decision, job: job.estimate, np.float64),
    "size": (lambda decision, job: job.allocated if job in decision._state.running else job.size, np.int32),
    "restarts": (lambda decision, job: job.restarts, np.int32),
    "fits": (lambda decision, job: decision.fits(decision._rows[job.index]), np.bool_),
    "start": (lambda decision, job: job.start, np.float64),
    "expected_end": (lambda decision, job: job.expected, np.float64),
    "progress": (_progress, np.float64),
    "saved": (_saved, np.float64),
}
