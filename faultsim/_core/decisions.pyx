"""What somebody outside sees and does when it is to decide (model.md#decisions); the contract is in decisions.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free as c_free, malloc
from libc.string cimport memcpy, memset
from cpython.bytes cimport PyBytes_FromStringAndSize

import numpy as np

from faultsim._core.avoidance cimport choose_now
from faultsim._core.changes cimport changes_since
from faultsim._core.containers.bits cimport mask_count
from faultsim._core.containers.event_queue cimport heap_push
from faultsim._core.containers.releases cimport releases_shadow
from faultsim._core.event_loop cimport catch_up
from faultsim._core.faults.progress cimport at_t, progress_locate
from faultsim._core.jobs cimport start_job, stop_job
from faultsim._core.queue cimport sort_queue
from faultsim._core.record cimport record_event
from faultsim._core.scheduling.shadow cimport placed_shadow
from faultsim._core.state cimport (
    EV_RESCHEDULE, EV_WAKE, JOB_DONE, JOB_FUTURE, JOB_HELD, JOB_QUEUED, JOB_RUNNING, disturb, end_if_started,
    end_if_started_at, queue_t, set_window, trace_t, usable,
)
from faultsim._core.status cimport NO_MEMORY
from faultsim._core.tables.machine cimport machine_t, permit_t, place_t

_PHRASES = {
    <int>JOB_FUTURE: "has not arrived yet",
    <int>JOB_QUEUED: "is waiting",
    <int>JOB_RUNNING: "is running",
    <int>JOB_HELD: "holds its nodes until they are repaired",
    <int>JOB_DONE: "has ended",
}


cdef object ints(const int32_t *values, Py_ssize_t n):
    """A read-only array of its own."""
    return np.frombuffer(PyBytes_FromStringAndSize(<const char *>values, n * sizeof(int32_t)), np.int32)


cdef Decision new_decision(object engine, sim_t *s, str kind, const int32_t *row, const int32_t *job_of,
                           int64_t n_rows):
    cdef Decision d = Decision.__new__(Decision)
    s.n_decisions += 1
    d.engine, d.s, d.number, d.kind, d.at = engine, s, s.n_decisions, kind, s.now
    d.row, d.job_of, d.n_rows = row, job_of, n_rows
    d.disturbed = s.disturbed if s.deciding else s.unforeseen
    d.head = -1
    d.event = d.stay = -1
    return d


cdef class Decision:
    """What can be seen and done when the simulation waits for a decision (model.md#decisions).

    `Simulation.advance` returns one, and `Scheduler.schedule` receives one.  Jobs are named by their row in the log
    that the user gave.  A decision is over once the simulation goes on; whatever is asked of it then raises
    `DecisionError`, but columns taken from it stay as they were.

    Attributes
    ----------
    kind : str
        ``"schedule"``: a scheduling pass; ``"time"``: ``until`` was reached.
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

    def __dealloc__(self):
        c_free(self.later)

    def __repr__(self):
        if self.s == NULL or self.number != self.s.n_decisions:
            return f"<Decision: {self.kind} at {self.at:g} s, over>"
        return (f"<Decision: {self.kind} at {self.at:g} s, {self.s.queue.end - self.s.queue.head} waiting, "
                f"{self.s.running} running, {usable(self.s)} free>")

    # ------------------------------------------------------------------ below

    cdef object refuse(self, str text):
        raise self.engine.settings["decision_error"](text)

    cdef int check(self) except -1:
        if self.s == NULL:
            raise TypeError("a Decision comes from Simulation.advance, or is given to Scheduler.schedule")
        if self.s.closed:
            self.refuse("the simulation is in the middle of an act, in another thread or in the policy that asks")
        if self.number != self.s.n_decisions:
            self.refuse(f"this decision (at {self.at:g} s) is over: the simulation has gone on")
        if self.at != self.s.now:        # what changed nothing has happened, and then it came to a deadlock
            self.at = self.s.now
            self.head = -1
        return 0

    cdef int act(self) except -1:
        """Before anything changes."""
        self.check()
        if not self.s.scheduler.elsewhere:
            name = self.engine.settings["scheduler"]["name"]
            self.refuse(f"the scheduler of this simulation ({name}) decides: use External() to do it yourself")
        catch_up(self.s)
        self.head = -1
        return 0

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

    cdef int32_t find(self, Py_ssize_t row) except -1:
        """The number of the job in a row."""
        cdef int32_t job = -1
        self.check()
        if 0 <= row < self.n_rows:
            job = <int32_t>row if self.job_of == NULL else self.job_of[row]
            if job < 0:
                self.refuse(f"job {row} was dropped from the log: it does not fit on the machine")
        else:
            self.refuse(f"there is no job {row}: the log has rows 0 to {self.n_rows - 1}")
        return job

    cdef int refuse_unless_named(self) except -1:
        if not self.s.machine.named:
            self.refuse("this run only counts its nodes, as nothing asks which they are: use External() or record=True")
        return 0

    cdef int32_t row_of(self, int32_t job) noexcept:
        return job if self.row == NULL else self.row[job]

    cdef int32_t waiting_at(self, int32_t job) except -1:
        """Where a waiting job is in the queue."""
        cdef queue_t *q = &self.s.queue
        cdef int32_t i
        if self.s.state[job] == JOB_QUEUED:
            for i in range(q.head, q.end):
                if q.job[i] == job:
                    return i
        self.refuse(f"job {self.row_of(job)} is not waiting: it {_PHRASES[self.s.state[job]]}")

    cdef int note(self, str name, tuple arguments, dict options) except -1:
        acts = self.engine.acts
        if acts is not None:
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

    # ------------------------------------------------------------------ what there is

    @property
    def now(self):
        """Seconds."""
        if self.s != NULL and self.number == self.s.n_decisions and self.at != self.s.now:
            self.at = self.s.now
            self.head = -1
        return self.at

    @property
    def queue(self):
        """The waiting jobs, in queue order: iterable, with columns (`Waiting`)."""
        self.check()
        return Waiting.__new__(Waiting, self)

    @property
    def running(self):
        """The jobs that hold nodes, by row, with columns (`Running`)."""
        self.check()
        return Running.__new__(Running, self)

    @property
    def free(self):
        """Free nodes."""
        self.check()
        return usable(self.s)

    @property
    def down(self):
        """Nodes that are down, ascending (int32)."""
        cdef int32_t i
        self.check()
        if self.s.trace.down == NULL:
            return np.empty(0, np.int32)
        return np.array([i for i in range(self.s.nodes) if self.s.trace.down[i]], np.int32)

    @property
    def repairs(self):
        """When the nodes of `down` will be up again (s); ``inf`` with ``repairs="unknown"``."""
        cdef trace_t *f = &self.s.trace
        cdef int32_t node
        known = f.repairs_known
        return np.array([f.up_at[node] if known else INFINITY for node in self.down.tolist()], np.float64)

    @property
    def occupancy(self):
        """Which nodes are taken or down: bool of shape (nodes,), on a torus (x, y, z)."""
        cdef machine_t *m = &self.s.machine
        cdef int32_t i
        self.check()
        self.refuse_unless_named()
        busy = np.array([m.marked(m.state, m.occ, i) for i in range(self.s.nodes)], np.bool_)
        shape = self.engine.settings["machine"]
        return busy.reshape(shape["x"], shape["y"], shape["z"]) if m.placed else busy

    @property
    def changes(self):
        """What happened since the last decision (`Changes`); only with ``live=``."""
        self.check()
        if self.event < 0:
            self.refuse("only a simulation that was made with live= keeps what has changed")
        return changes_since(self.s, self.row, self.event, self.stay)

    def foreseen(self, double window):
        """Predictions that touch (now, now + window]: an array with fields node, begin, end and p, by begin."""
        cdef int64_t i
        cdef const double *begin = self.s.predictions.begin
        cdef const double *end = self.s.predictions.end
        self.check()
        rows = [
            (self.s.predictions.node[i], begin[i], end[i], self.s.predictions.p)
            for i in range(self.s.predictions.next, self.s.predictions.n)
            if begin[i] <= self.now + window and (end[i] > self.now or begin[i] > self.now)
        ]
        return np.array(rows, [("node", np.int32), ("begin", float), ("end", float), ("p", float)])

    def fits(self, Py_ssize_t job):
        """Whether a job could be started now: enough nodes are free, on a torus in one box."""
        cdef int32_t j = self.find(job)
        cdef machine_t *m = &self.s.machine
        if self.s.state[j] != JOB_QUEUED or self.s.need[j] > usable(self.s):
            return False
        return not m.placed or self.s.need[j] <= m.largest_now(m.state)

    def boxes(self, Py_ssize_t job, size=None):
        """The free boxes that a job could take (torus): int32 of shape (k, 6), bases x, y, z and extents a, b, c.

        Parameters
        ----------
        job : int
            Row of the job.
        size : int, optional
            Nodes of the box; by default the job's size, rounded up to one that a box has.
        """
        cdef int32_t j = self.find(job)
        cdef machine_t *m = &self.s.machine
        cdef place_t *found = NULL
        cdef long count, cap = 0
        if not m.placed:
            self.refuse("a cluster has no boxes: choose nodes by d.occupancy")
        count = m.free_places(m.state, m.occ, self.s.need[j] if size is None else size, NULL, &found, &cap)
        try:
            if count < 0:
                raise MemoryError("no memory for the boxes")
            return ints(<const int32_t *>found, 6 * count).reshape(-1, 6)
        finally:
            c_free(found)

    cdef int look_ahead(self, int32_t head) except -1:
        """The shadow of a waiting job: when it could start, and what is left over then."""
        cdef sim_t *s = self.s
        cdef machine_t *m = &s.machine
        cdef int32_t n = 0
        if self.head == head:
            return 0
        if not m.placed:
            self.time = releases_shadow(&s.releases, s.now, usable(s), s.need[head], &self.extra)
        else:
            if self.later == NULL:
                self.later = <uint64_t *>malloc(<size_t>m.words * sizeof(uint64_t))
                if self.later == NULL:
                    raise MemoryError("no memory for an occupancy")
            if m.has_free(m.state, m.occ, s.need[head]):
                self.time = s.now
                memcpy(self.later, m.occ, <size_t>m.words * sizeof(uint64_t))
                while n < s.releases.n and s.releases.items[n].end <= s.now:
                    n += 1
                m.release(m.state, s.releases.items, n, self.later)
            else:
                self.time = placed_shadow(s, s.releases.items, s.releases.n, m.occ, s.need[head], self.later)
            self.extra = 0
            if self.time != INFINITY:
                self.extra = m.nodes - mask_count(self.later, m.words) - s.need[head]
        self.head = head
        return 0

    def expected_end(self, Py_ssize_t job, at=None):
        """When a waiting job would end by its estimate if it were started at a time (model.md#expected-end).

        Parameters
        ----------
        job : int
            Its row.
        at : float, optional
            Seconds; by default now.
        """
        cdef int32_t j = self.find(job)
        self.waiting_at(j)
        return end_if_started_at(self.s, j, self.s.now if at is None else at)

    def shadow(self, Py_ssize_t job):
        """When a waiting job could start if running jobs end as expected, and the nodes that it would leave over then.

        Returns
        -------
        (float, int)
            Seconds, ``inf`` if never (model.md#easy); nodes.
        """
        cdef int32_t j = self.find(job)
        self.waiting_at(j)
        self.look_ahead(j)
        return self.time, self.extra

    def may_backfill(self, Py_ssize_t job, head=None, *, int max_growth=1):
        """Whether a waiting job could start now without delaying another one, by default the first in the queue.

        That is: it fits and is expected to end by the shadow time of `head`, or leaves it enough nodes, on a torus a
        large enough box (model.md#easy).

        Parameters
        ----------
        job, head : int
            Rows.
        max_growth : int, default 1
            On a torus the job may take a box of so many nodes more than its rounded size.
        """
        return bool(self.try_to_backfill(self.find(job), self.head_of(head), max_growth, False))

    def backfill(self, Py_ssize_t job, head=None, *, int max_growth=1):
        """Start a job if `may_backfill` allows it, on a torus in a box that does; whether it started."""
        if not self.try_to_backfill(self.find(job), self.head_of(head), max_growth, True):
            return False
        self.note("backfill", (job, head), {"max_growth": max_growth})
        return True

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
                self.act()
                self.launch(job, at, size, NULL)
            return 1
        memset(&permit, 0, sizeof(permit))
        permit.later = self.later
        permit.need = s.need[head]
        limit = min(<int64_t>size + growth, <int64_t>usable(s))
        set_window(s, job, s.now)
        while size != 0 and size <= limit:
            if self.choose(job, size, &permit if outlives else NULL, &place):
                if do_it:
                    at = self.waiting_at(job)
                    self.act()
                    self.launch(job, at, size, &place)
                return 1
            size = m.next_size(m.state, size + 1)
        return 0

    # ------------------------------------------------------------------ acts

    def start(self, Py_ssize_t job, *, nodes=None, box=None):
        """Start a waiting job now.

        Parameters
        ----------
        job : int
            Its row.
        nodes : sequence of int, optional
            On a cluster: as many free nodes as it asks for; by default the placement rule chooses.
        box : sequence of 6 int, optional
            On a torus: base x, y, z and extents a, b, c of a free box that is large enough, as `boxes` lists them; by
            default the placement rule chooses among those of the smallest size that has one.
        """
        # Arrays of the caller's own run code of its own: first of all.
        given = None if nodes is None and box is None else self.whole_numbers(job, nodes, box)
        cdef int32_t j = self.find(job), at = self.waiting_at(j), size = self.s.need[j]
        cdef machine_t *m = &self.s.machine
        cdef place_t place
        cdef bint found = False
        if size > usable(self.s):
            self.refuse(f"job {job} cannot start: it needs {size} nodes and {usable(self.s)} are free")
        if given is not None:
            self.begin(j, at, size, given, nodes is None)
        elif not m.placed:
            self.act()
            self.launch(j, at, size, NULL)
        else:
            if size <= m.largest_now(m.state):
                set_window(self.s, j, self.s.now)
                while size != 0 and size <= usable(self.s):
                    found = self.choose(j, size, NULL, &place)
                    if found:
                        break
                    size = m.next_size(m.state, size + 1)
            if not found:
                self.refuse(f"job {job} cannot start: no box of {self.s.need[j]} nodes or more is free")
            self.act()
            self.launch(j, at, size, &place)
        taken = None if given is None else given.tolist()
        self.note("start", (job,), {"nodes": None if nodes is None else taken, "box": taken if nodes is None else None})

    cdef object whole_numbers(self, Py_ssize_t job, object nodes, object box):
        what, asked = ("nodes", nodes) if nodes is not None else ("box", box)
        try:
            given = np.ascontiguousarray(asked)
            if given.dtype.kind not in "iu":
                raise TypeError
        except (TypeError, ValueError, OverflowError):
            self.check()
            self.refuse(f"{what} of job {job} must be whole numbers, got {asked!r}")
        if given.dtype != np.int32:      # what does not fit is no node either
            given = np.clip(given, -1, 0x7FFFFFFF).astype(np.int32)
        return given.ravel()

    cdef int begin(self, int32_t job, int32_t at, int32_t size, object where, bint boxed) except -1:
        """Start a job where the caller says."""
        cdef sim_t *s = self.s
        cdef machine_t *m = &s.machine
        cdef const int32_t[::1] list_
        cdef place_t place
        cdef int i
        list_ = where
        if not boxed:
            if m.placed:
                self.refuse("jobs on a torus take boxes: give box=, not nodes=")
            if list_.shape[0] != size:
                self.refuse(f"job {self.row_of(job)} asks for {size} nodes, got {list_.shape[0]}")
            for i in range(size):
                if not 0 <= list_[i] < s.nodes:
                    self.refuse(f"there is no node {list_[i]}: nodes are 0 to {s.nodes - 1}")
                if m.marked(m.state, m.occ, list_[i]):
                    self.refuse(f"node {list_[i]} is not free")
            if len(set(where.tolist())) != size:
                self.refuse(f"nodes of job {self.row_of(job)} are named twice")
            self.act()
            s.given = &list_[0]
            self.launch(job, at, size, NULL)
        else:
            if not m.placed:
                self.refuse("jobs on a cluster take nodes: give nodes=, not box=")
            if list_.shape[0] != 6:
                self.refuse(f"a box is six numbers (x, y, z, a, b, c), got {list_.shape[0]}")
            for i in range(6):
                place.part[i] = list_[i]
            if not m.is_place(m.state, &place):
                self.refuse(f"{tuple(where.tolist())} is no box of this machine")
            if m.size_of(&place) < s.size[job]:
                self.refuse(f"job {self.row_of(job)} asks for {s.size[job]} nodes, and the box has {m.size_of(&place)}")
            if m.meets(m.state, m.occ, &place):
                self.refuse(f"box {tuple(where.tolist())} is not free")
            self.act()
            self.launch(job, at, m.size_of(&place), &place)
        return 0

    def requeue(self, Py_ssize_t job):
        """Stop a running job: it loses what it has not saved and waits again, as after a failure (model.md#kill)."""
        cdef int32_t j = self.find(job)
        cdef sim_t *s = self.s
        cdef int code
        if s.state[j] != JOB_RUNNING:
            self.refuse(f"job {job} cannot be requeued: it {_PHRASES[s.state[j]]}")
        if s.start[j] > s.now:
            self.refuse(f"job {job} cannot be requeued: it is in its start delay until {s.start[j]:g} s")
        if s.finish[j] <= s.now:
            self.refuse(f"job {job} cannot be requeued: it ends now")
        self.act()
        disturb(s)
        self.conclude(stop_job(s, j))
        if s.record.on:
            self.conclude(record_event(s, EV_RESCHEDULE, j, -1))
        s.closed = True
        code = sort_queue(s)
        s.closed = False
        self.conclude(code)
        self.note("requeue", (job,), {})

    def wake(self, double at):
        """Ask for a scheduling pass at a time, in seconds, whatever else happens."""
        self.check()
        if not (at > self.s.now and at < INFINITY):
            self.refuse(f"wake({at:g}): the time must be later than now ({self.s.now:g} s), and finite")
        if heap_push(&self.s.heap, at, EV_WAKE, 0) < 0:
            self.conclude(NO_MEMORY)
        self.note("wake", (at,), {})

    def finish(self):
        """End the pass: this decision is over.  `Simulation.advance` does the same."""
        self.check()
        self.s.n_decisions += 1


cdef class Waiting:
    """The waiting jobs in queue order, as columns.  Each look is at the queue as it is then."""

    cdef Decision decision

    def __cinit__(self, Decision decision not None):
        self.decision = decision

    def __len__(self):
        self.decision.check()
        return self.decision.s.queue.end - self.decision.s.queue.head

    def __iter__(self):
        return iter(self.tolist())

    def tolist(self):
        """Rows of the jobs, as a list of ints."""
        cdef Decision d = self.decision
        cdef queue_t *q = &d.s.queue
        cdef int32_t i
        d.check()
        if d.row == NULL:
            return [q.job[i] for i in range(q.head, q.end)]
        return [d.row[q.job[i]] for i in range(q.head, q.end)]

    cdef object numbers(self):
        cdef queue_t *q = &self.decision.s.queue
        self.decision.check()
        return ints(&q.job[q.head], q.end - q.head)

    @property
    def index(self):
        """Rows of the jobs (int32)."""
        cdef Decision d = self.decision
        if d.row == NULL:
            return self.numbers()
        return np.array(self.tolist(), np.int32)

    @property
    def submit(self):
        """Submit times (s)."""
        return column(self.decision.s, self.numbers(), 0)

    @property
    def wait(self):
        """Time since submission (s)."""
        return self.decision.s.now - self.submit

    @property
    def estimate(self):
        """Estimated run times (s)."""
        return column(self.decision.s, self.numbers(), 1)

    @property
    def size(self):
        """Nodes that the jobs ask for (int32)."""
        return counts(self.decision.s.size, self.numbers())

    @property
    def restarts(self):
        """How often each was killed (int32)."""
        return counts(self.decision.s.restarts, self.numbers())

    @property
    def saved(self):
        """Progress that each starts with (s of its run time)."""
        return column(self.decision.s, self.numbers(), 2)

    @property
    def fits(self):
        """Whether each could start now (bool), as `Decision.fits`."""
        cdef Decision d = self.decision
        return np.array([d.fits(job) for job in self.tolist()], np.bool_)

    def __getattr__(self, name):
        return self.decision.engine.column_of(name, self.index)


cdef class Running:
    """The jobs that hold nodes, ascending by row, as columns.  Each look is at the machine as it is then."""

    cdef Decision decision

    def __cinit__(self, Decision decision not None):
        self.decision = decision

    def __len__(self):
        return len(self.numbers())

    def __iter__(self):
        return iter(self.index.tolist())

    cdef object numbers(self):
        cdef sim_t *s = self.decision.s
        cdef int32_t i
        self.decision.check()
        jobs = [s.releases.items[i].job for i in range(s.releases.n) if s.releases.items[i].job >= 0]
        jobs.sort(key=self.decision.engine.row_key)
        return np.array(jobs, np.int32)

    cdef object followed(self):
        """The same, if it is known how far each is."""
        cdef sim_t *s = self.decision.s
        found = self.numbers()
        if not s.track.on and s.migration.cost > 0 and counts(s.moves, found).any():
            self.decision.refuse("this run does not follow jobs that pause: use External() to see how far they are")
        return found

    @property
    def index(self):
        """Rows of the jobs (int32)."""
        cdef Decision d = self.decision
        found = self.numbers()
        return found if d.row == NULL else np.array([d.row[<int32_t>job] for job in found.tolist()], np.int32)

    @property
    def size(self):
        """Nodes that the jobs hold (int32): on a torus those of their boxes."""
        return counts(self.decision.s.allocated, self.numbers())

    @property
    def start(self):
        """Start times (s)."""
        return column(self.decision.s, self.numbers(), 3)

    @property
    def expected_end(self):
        """When each is expected to end (s), by its estimate; it may have passed (model.md#overrun)."""
        return column(self.decision.s, self.numbers(), 4)

    @property
    def progress(self):
        """Work done (s of the run time)."""
        return column(self.decision.s, self.followed(), 5)

    @property
    def saved(self):
        """Work that a failure now would leave (s of the run time)."""
        return column(self.decision.s, self.followed(), 6)

    @property
    def where(self):
        """Where each is: boxes (x, y, z, a, b, c) as int32 of shape (k, 6), on a cluster a list of arrays of nodes."""
        jobs = self.numbers().tolist()
        self.decision.refuse_unless_named()
        return [self.decision.engine.nodes_of(job) for job in jobs]

    def __getattr__(self, name):
        return self.decision.engine.column_of(name, self.index)


cdef object counts(const int32_t *values, object jobs):
    cdef const int32_t[::1] job = jobs
    found = np.empty(job.shape[0], np.int32)
    cdef int32_t[::1] out = found
    cdef Py_ssize_t i
    for i in range(job.shape[0]):
        out[i] = values[job[i]]
    return found


cdef object column(const sim_t *s, object jobs, int which):
    cdef const int32_t[::1] job = jobs
    found = np.empty(job.shape[0], np.float64)
    cdef double[::1] out = found
    cdef Py_ssize_t i
    cdef int32_t j
    cdef at_t at
    for i in range(job.shape[0]):
        j = job[i]
        if which == 0:
            out[i] = s.submit[j]
        elif which == 1:
            out[i] = s.estimate[j]
        elif which == 2:
            out[i] = s.track.saved[j] if s.restarts[j] > 0 else 0.0
        elif which == 3:
            out[i] = s.start[j]
        elif which == 4:
            out[i] = s.expected[j]
        elif not s.track.on:
            out[i] = max(0.0, s.now - s.start[j]) if which == 5 else 0.0
        elif s.now < s.start[j]:
            out[i] = s.track.at[j].safe
        else:
            progress_locate(s, j, s.now, &at)
            out[i] = at.progress if which == 5 else at.safe
    return found
