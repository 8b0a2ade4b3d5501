"""What somebody outside does when it is to decide (model.md#decisions); the contract is in decisions.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

import numpy as np

from faultsim._core.avoidance cimport choose_now
from faultsim._core.checkpointing.requests cimport can_save, save
from faultsim._core.containers.event_queue cimport heap_push
from faultsim._core.event_loop cimport catch_up
from faultsim._core.faults.outages cimport roll_back
from faultsim._core.faults.progress cimport move_t
from faultsim._core.jobs cimport end_for_good, start_job, stop_job
from faultsim._core.outlook cimport clipped
from faultsim._core.places cimport Places, move_to_nodes, move_to_place
from faultsim._core.queue cimport sort_queue
from faultsim._core.record cimport record_event
from faultsim._core.recovery.rules cimport hold_job, requeue_job
from faultsim._core.state cimport (
    ASK_SCHEDULE, EV_RESCHEDULE, EV_WAKE, JOB_QUEUED, JOB_RUNNING, ask_of, asks_shape, disturb, end_if_started, grown,
    queue_t, set_window, sim_t, usable,
)
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.machine cimport machine_t, permit_t, place_t

# What can be done with jobs at decisions other than passes, and times between events.
_MAY = {
    "failure": ("requeued", "held", "killed"),
    "checkpoint": ("saved",),
    "tick": ("requeued", "killed", "saved", "moved"),
}


cdef Decision new_decision(object engine, sim_t *s, str kind, str reader, const int32_t *row, const int32_t *job_of,
                           int64_t n_rows):
    cdef Decision d = Decision.__new__(Decision)
    s.n_decisions += 1
    d.door = engine.door
    d.engine, d.s, d.number, d.kind, d.at, d.reader = engine, s, s.n_decisions, kind, s.now, reader
    d.row, d.job_of, d.n_rows = row, job_of, n_rows
    d.disturbed = s.disturbed if s.deciding and s.asked.question == ASK_SCHEDULE else s.unforeseen
    d.head = -1
    if kind in _MAY and s.asked.job >= 0:
        d.job = d.row_of(s.asked.job)
    if kind == "failure":
        hidden = engine.settings.scheduler.get("repairs") == "unknown" and s.asked.until > s.now
        d.node, d.until = s.asked.node, INFINITY if hidden else s.asked.until
    elif kind == "checkpoint":
        d.asked = int(s.asked.number)
    d.event = d.stay = -1
    return d


cdef class Decision(Places):
    """What can be seen and done when the simulation waits for a decision (model.md#decisions).

    `Simulation.advance` returns one, and `Scheduler.schedule` receives one.  Jobs are named by their row in the log
    that the user gave.  A decision is over once the simulation goes on; whatever is asked of it then raises
    `DecisionError`, but columns taken from it stay as they were.

    Attributes
    ----------
    kind : str
        ``"schedule"``: a scheduling pass; ``"time"``: ``until`` was reached; ``"failure"``, ``"checkpoint"`` and
        ``"tick"``: see `External` (model.md#asked).
    job : int or None
        Row of the job that a failure is about to kill, or that could save its progress.
    node : int or None
        The node that fails.
    until : float or None
        When that node will be up again (s); ``inf`` with ``repairs="unknown"``.
    asked : int or None
        How many requests of its own the job has made since it began to work (model.md#risk-based); 0: not its own.
    disturbed : bool
        Whether something has happened since the last pass that voids plans: a failure with an effect, a repair, a
        requested checkpoint, a move, a requeue, or a job that outlives its estimate (model.md#disturbances).

    Raises
    ------
    DecisionError
        By acts that the rules forbid, which change nothing; the simulation goes on as if they had not been tried.

    Examples
    --------
    First come, first served:

    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1, 2], runtime=[10, 10, 5], size=[2, 4, 2])
    >>> sim = fs.Simulation(log, fs.Cluster(4), scheduler=fs.External())
    >>> while (d := sim.advance()) is not None:
    ...     for job in d.queue:
    ...         if not d.fits(job):
    ...             break
    ...         d.start(job)
    >>> sim.result().jobs["start"]
    array([ 0., 10., 20.])
    """

    def __init__(self):
        raise TypeError("a Decision comes from Simulation.advance, or is given to Scheduler.schedule")

    cdef int act(self, str what) except -1:
        """Before anything changes."""
        self.check()
        if self.kind in _MAY:
            if what not in _MAY[self.kind]:
                self.refuse(f"jobs cannot be {what} at a decision of kind {self.kind!r}")
        elif not self.s.scheduler.elsewhere:
            name = self.engine.settings.scheduler["name"]
            self.refuse(f"the scheduler of this simulation ({name}) decides: use External() to do it yourself")
        catch_up(self.s)
        self.head = -1
        self.s.asked.acted = True
        return 0

    cdef int refuse_another(self, int32_t job, str what) except -1:
        """A failure and a request are about one job."""
        if self.kind in ("failure", "checkpoint") and job != self.s.asked.job:
            self.refuse(f"job {self.row_of(job)} cannot be {what}: this decision is about job {self.job}")
        return 0

    cdef int32_t stoppable(self, object row, str what) except -1:
        """The number of a job that can be stopped."""
        cdef int32_t job = self.find(row)
        cdef sim_t *s = self.s
        if s.state[job] != JOB_RUNNING:
            self.refuse(f"job {row} cannot be {what}: it {self.phrase(job)}")
        self.refuse_another(job, what)
        if self.kind != "failure":
            if s.start[job] > s.now:
                self.refuse(f"job {row} cannot be {what}: it is in its start delay until {s.start[job]:g} s")
            if s.finish[job] <= s.now:
                self.refuse(f"job {row} cannot be {what}: it ends now")
        return job

    cdef int launch(self, int32_t job, int32_t at, int32_t size, const place_t *place) except -1:
        """Start a job that waits at `at`, after `act`."""
        cdef int code
        self.s.closed = True
        code = start_job(self.s, job, size, place, at != self.s.queue.head)
        self.s.closed = False
        self.s.given = NULL
        self.conclude(code)
        return self.leave_queue(at)

    cdef int choose(self, int32_t job, int32_t size, permit_t *permit, place_t *place) except -1:
        """Whether a box is free; the placement rule, perhaps one in Python, chooses it."""
        cdef int code
        self.s.closed = True
        code = choose_now(self.s, job, self.s.machine.occ, size, permit, place)
        self.s.closed = False
        self.conclude(code)
        return code

    cdef int conclude(self, int code) except -1:
        if code < 0:
            self.s.n_decisions += 1
            self.engine.translate_outside(code)
        return 0

    cdef int note(self, str name, tuple arguments, dict options) except -1:
        acts = self.engine.acts
        if acts is not None and not self.inside:
            acts.append((True, name, arguments, options))
        return 0

    cdef int leave_queue(self, int32_t at) except -1:
        cdef queue_t *q = &self.s.queue
        cdef int32_t i
        if at == q.head:
            q.head += 1
        else:
            for i in range(at, q.end - 1):
                q.job[i] = q.job[i + 1]
            q.end -= 1
        if q.head == q.end:
            q.head = q.end = 0
        return 0

    cdef int32_t head_of(self, object head) except -1:
        """The number of a job that must not be delayed."""
        cdef int32_t j
        if head is None:
            if self.s.queue.head == self.s.queue.end:
                self.refuse("nobody is waiting")
            return self.s.queue.job[self.s.queue.head]
        j = self.find(head)
        self.waiting_at(j)
        return j

    def may_backfill(self, job, head=None, *, max_growth=1):
        """Whether a waiting job could start now without delaying another one, by default the first in the queue.

        That is: it fits and is expected to end by the shadow time of `head`, or leaves it enough nodes, on a torus a
        large enough box, on a pod a slice (model.md#easy).

        Parameters
        ----------
        job, head : int
            Rows.
        max_growth : int, default 1
            On a torus or a pod the job may take so many nodes more than its rounded size.
        """
        _inside = self.enter(False)          # the placement rule is asked, perhaps one in Python
        return bool(self.try_to_backfill(self.find(job), self.head_of(head), clipped(max_growth), False))

    def backfill(self, job, head=None, *, max_growth=1):
        """Start a job if `may_backfill` allows it, in a box or slice that does; whether it started."""
        _inside = self.enter(False)
        cdef int32_t j = self.find(job), of = self.head_of(head)
        if not self.try_to_backfill(j, of, clipped(max_growth), True):
            return False
        self.note("backfill", (self.row_of(j), None if head is None else self.row_of(of)), {"max_growth": max_growth})
        return True

    cdef int try_to_backfill(self, int32_t job, int32_t head, int32_t growth, bint do_it) except -1:
        cdef sim_t *s = self.s
        cdef machine_t *m = &s.machine
        cdef int32_t size = s.need[job], at
        cdef int64_t limit
        cdef bint outlives
        cdef permit_t permit
        cdef place_t place
        if s.state[job] != JOB_QUEUED or size > usable(s):
            return 0
        if job == head:
            self.refuse(f"job {self.row_of(job)} cannot be backfilled ahead of itself")
        self.look_ahead(head)
        outlives = end_if_started(s, job) > self.time
        if not m.placed:
            if outlives and size > self.extra:
                return 0
            if do_it:
                at = self.waiting_at(job)
                self.act("started")
                self.launch(job, at, size, NULL)
            return 1
        memset(&permit, 0, sizeof(permit))
        permit.later = self.later
        permit.need = ask_of(s, head)
        limit = min(<int64_t>size + growth, <int64_t>usable(s))
        set_window(s, job, s.now)
        while size != 0 and size <= limit:
            if self.choose(job, size, &permit if outlives else NULL, &place):
                if do_it:
                    at = self.waiting_at(job)
                    self.act("started")
                    self.launch(job, at, size, &place)
                return 1
            size = grown(s, job, size)
        return 0

    # ------------------------------------------------------------------ acts

    def start(self, job, *, nodes=None, box=None, cubes=None):
        """Start a waiting job now, where the placement rule says or the caller, by one of `nodes`, `box` and `cubes`.

        Parameters
        ----------
        job : int
            Its row.
        nodes : sequence of int, optional
            On a cluster as many free nodes as it asks for; on a pod the hosts of a free slice that is large enough.
        box : sequence of 6 int, optional
            On a torus: base x, y, z and extents a, b, c of a free box that is large enough, as `boxes` lists them; by
            default the placement rule chooses among those of the smallest size that has one.
        cubes : sequence of int, optional
            On a pod: the cubes of a free slice of whole cubes, by number.
        """
        given = self.said(job, {"nodes": nodes, "box": box, "cubes": cubes})
        _inside = self.enter(False)
        cdef int32_t j = self.find(job), at = self.waiting_at(j), size = self.s.need[j]
        cdef machine_t *m = &self.s.machine
        cdef place_t place
        cdef bint found = False
        if size > usable(self.s):
            self.refuse(f"job {job} cannot start: it needs {size} nodes and {usable(self.s)} are free")
        if given is not None:
            self.begin(j, at, size, given)
        elif not m.placed:
            self.act("started")
            self.launch(j, at, size, NULL)
        else:
            if asks_shape(self.s, j) or size <= m.largest_now(m.state):
                set_window(self.s, j, self.s.now)
                while size != 0 and size <= usable(self.s):
                    found = self.choose(j, size, NULL, &place)
                    if found:
                        break
                    size = grown(self.s, j, size)
            if not found:
                self.refuse(f"job {job} cannot start: no {'box' if m.boxes else 'slice'} of {self.s.need[j]} nodes or "
                            f"more is free")
            self.act("started")
            self.launch(j, at, size, &place)
        self.note("start", (self.row_of(j),), {} if given is None else {given[0]: given[1].tolist()})

    cdef int begin(self, int32_t job, int32_t at, int32_t size, tuple given) except -1:
        """Start a job where the caller says."""
        cdef sim_t *s = self.s
        cdef machine_t *m = &s.machine
        cdef const int32_t[::1] list_ = given[1]
        cdef place_t place
        if not m.placed:
            self.check_nodes(job, given[0], given[1], size, -1)
            self.act("started")
            s.given = &list_[0]
            self.launch(job, at, size, NULL)
        else:
            self.check_place(job, given[0], given[1], -1, &place)
            self.act("started")
            self.launch(job, at, m.size_of(&place), &place)
        return 0

    def requeue(self, job):
        """Stop a running job: it loses what it has not saved and waits again, as after a failure (model.md#kill)."""
        _inside = self.enter(False)
        cdef int32_t j = self.stoppable(job, "requeued")
        cdef sim_t *s = self.s
        cdef int code
        self.act("requeued")
        disturb(s)
        if self.kind == "failure":
            roll_back(s, j)
            self.conclude(requeue_job(NULL, s, j))
        else:
            self.conclude(stop_job(s, j))
            if s.record.on:
                self.conclude(record_event(s, EV_RESCHEDULE, j, -1))
        s.closed = True
        code = sort_queue(s) if s.scheduler.elsewhere else OK
        s.closed = False
        self.conclude(code)
        self.note("requeue", (self.row_of(j),), {})

    def hold(self, job):
        """The job that a failure hits keeps its nodes until they are repaired, as with `Hold` (model.md#hold)."""
        cdef int32_t j
        _inside = self.enter(False)
        if self.kind != "failure":
            self.check()
            self.refuse(f"job {job} cannot be held at a decision of kind {self.kind!r}: only a failure holds the job "
                        f"that it hits, and External(at=...) says whether you are asked then")
        j = self.stoppable(job, "held")
        self.act("held")
        roll_back(self.s, j)
        self.conclude(hold_job(self.s.recovery.state, self.s, j))
        self.note("hold", (self.row_of(j),), {})

    def kill(self, job):
        """Stop a running job for good: it loses what it has not saved, and does not come back (model.md#acts).

        It counts as done, with what it has saved as its run time, and its state in the result is `JobState.KILLED`.
        """
        _inside = self.enter(False)
        cdef int32_t j = self.stoppable(job, "killed")
        cdef sim_t *s = self.s
        self.act("killed")
        roll_back(s, j)
        disturb(s)
        self.conclude(end_for_good(s, j))
        self.note("kill", (self.row_of(j),), {})

    def checkpoint(self, job):
        """A running job saves its progress now, which takes the cost of `checkpointing` (model.md#requested)."""
        _inside = self.enter(False)
        cdef int32_t j = self.find(job)
        if "cost" not in (self.engine.settings.checkpointing or ()):
            self.refuse("this run takes no checkpoints: give checkpointing=, which says what one costs")
        self.refuse_another(j, "saved")
        if not can_save(self.s, j):
            self.refuse(f"job {job} cannot save now (model.md#requested)")
        self.act("saved")
        self.conclude(save(self.s, j))
        self.note("checkpoint", (self.row_of(j),), {})

    def move(self, job, *, nodes=None, box=None, cubes=None, double checkpoint_cost=30.0, double restart_cost=30.0,
             bint live=False):
        """A running job goes on elsewhere, as if `Fars` had moved it (model.md#move).

        Parameters
        ----------
        job : int
            Its row.
        nodes : sequence of int
            On a cluster as many nodes as it has, free ones or its own; on a pod the hosts of a slice of the size that
            it has, free but for its own.
        box : sequence of 6 int
            On a torus: base x, y, z and extents a, b, c of a box of the size that it has, free but for its own nodes.
        cubes : sequence of int
            On a pod: the cubes of a slice of whole cubes.
        checkpoint_cost, restart_cost : float, default 30
            Seconds that the move takes: a checkpoint, whose end is a safe point, then a restart.
        live : bool, default False
            The move costs only `restart_cost` and is no safe point.
        """
        given = self.said(job, {"nodes": nodes, "box": box, "cubes": cubes})
        _inside = self.enter(False)
        cdef int32_t j = self.stoppable(job, "moved")
        cdef machine_t *m = &self.s.machine
        cdef move_t cost
        cdef place_t place
        if not (0.0 <= checkpoint_cost < INFINITY and 0.0 <= restart_cost < INFINITY):
            self.refuse(f"the costs of a move must be 0 s or more, and finite: got {checkpoint_cost:g} s and "
                        f"{restart_cost:g} s")
        self.refuse_unless_named()
        cost.live, cost.checkpoint_cost, cost.restart_cost = live, checkpoint_cost, restart_cost
        if given is None:
            ways = "box=" if m.boxes else "cubes= or nodes=" if m.placed else "nodes="
            self.refuse(f"say where job {job} moves to: {ways}")
        elif not m.placed:
            self.change_nodes(j, given, &cost)
        else:
            self.check_place(j, given[0], given[1], j, &place)
            self.act("moved")
            self.conclude(move_to_place(self.s, j, &place, &cost))
        if not self.moved:
            self.moved = True
            self.s.n_attempted += 1
            self.s.n_successful += 1
        options = {"checkpoint_cost": checkpoint_cost, "restart_cost": restart_cost, "live": live}
        self.note("move", (self.row_of(j),), {**options, given[0]: given[1].tolist()})

    cdef int change_nodes(self, int32_t job, tuple given, const move_t *cost) except -1:
        cdef const int32_t[::1] left, taken
        where = given[1]
        self.check_nodes(job, given[0], where, self.s.allocated[job], job)
        own, new = set(self.engine.nodes_of(job).tolist()), set(where.tolist())
        left, taken = np.array(sorted(own - new), np.int32), np.array(sorted(new - own), np.int32)
        if not left.shape[0]:
            self.refuse(f"job {self.row_of(job)} already has these nodes")
        self.act("moved")
        return self.conclude(move_to_nodes(self.s, job, &left[0], &taken[0], <int32_t>left.shape[0], cost))

    def wake(self, double at):
        """Ask for a scheduling pass at a time, in seconds, whatever else happens."""
        _inside = self.enter(False)
        self.check()
        if not (at > self.s.now and at <= self.s.latest):
            self.refuse(
                f"wake({at:g}): the time must be later than now ({self.s.now:g} s), and at most {self.s.latest:.0f} s")
        if heap_push(&self.s.heap, at, EV_WAKE, 0) < 0:
            self.conclude(NO_MEMORY)
        self.note("wake", (at,), {})

    def finish(self):
        """End the pass: this decision is over.  `Simulation.advance` does the same."""
        _inside = self.enter(False)
        self.check()
        self.s.n_decisions += 1
