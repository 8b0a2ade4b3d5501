"""Decisions of a caller or a policy in Python (model.md#decisions); the contract is in decisions.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free as c_free, malloc
from libc.string cimport memcpy, memset

import numpy as np

from faultsim.checks import no_attribute

from faultsim._core.absences cimport (
    absences_of, absences_t, any_drained, claimed_of_others, closed_to, find_open_time, free_and_drained, is_open_to,
    join_claimed, join_closed, last_begun, leaves_head, meets_stay, none_closed, occurrence_begin, occurrence_end,
    open_room, open_shadow_t, spare_none, spare_set,
)
from faultsim._core.avoidance cimport choose_now
from faultsim._core.changes cimport changes_since
from faultsim._core.checkpointing.requests cimport can_save, save
from faultsim._core.cluster.named cimport change_node, named_of
from faultsim._core.containers.bits cimport FS_LITTLE_ENDIAN, mask_count, mask_count_without, mask_join
from faultsim._core.containers.event_queue cimport heap_push
from faultsim._core.containers.releases cimport release_t, releases_all, releases_shadow
from faultsim._core.eligibility cimport NOT_ON_HOLD, eligible_of
from faultsim._core.edges cimport is_drained
from faultsim._core.event_loop cimport catch_up
from faultsim._core.faults.outages cimport roll_back
from faultsim._core.faults.progress cimport move_t, progress_move, progress_moved_end
from faultsim._core.job_columns cimport ints, Moment, Running, Waiting
from faultsim._core.jobs cimport end_for_good, start_job, stop_job
from faultsim._core.queue cimport sort_queue
from faultsim._core.record cimport close_stay, open_stay, record_event
from faultsim._core.recovery.rules cimport hold_job, requeue_job
from faultsim._core.scheduling.shadow cimport first_open_time, has_open_place, placed_shadow
from faultsim._core.state cimport (
    ASK_SCHEDULE, BY_ACT, EV_MOVE, EV_RESCHEDULE, EV_WAKE, JOB_DONE, JOB_FUTURE, JOB_HELD, JOB_QUEUED, JOB_RUNNING,
    ask_of, asks_shape, disturb, end_if_started, end_if_started_at, grown, log_row, queue_t, set_window, sim_t, trace_t,
    usable,
)
from faultsim._core.scheduling.site_view cimport view_choose, view_choose_beside, view_has_room, view_shadow
from faultsim._core.site.shares cimport chosen_cores, site_of
from faultsim._core.status cimport NO_MEMORY, OK, PYTHON_ERROR
from faultsim._core.tables.machine cimport machine_t, permit_t, place_t, same_place

from faultsim import checks
from faultsim.errors import DecisionError, OptionError

cdef extern from "Python.h":
    Py_ssize_t PyNumber_AsSsize_t(object number, void *error) except? -1

_PHRASES = {
    <int>JOB_FUTURE: "has not arrived yet",
    <int>JOB_QUEUED: "is waiting",
    <int>JOB_RUNNING: "is running",
    <int>JOB_HELD: "holds its nodes until they are repaired",
    <int>JOB_DONE: "has ended",
}


cdef int32_t clipped(object number) except? -1:
    """A whole number, or the nearest that there is: of what goes by nodes, both are as many as too many."""
    cdef Py_ssize_t given
    try:
        given = PyNumber_AsSsize_t(number, NULL)
    except TypeError:
        raise DecisionError(f"rows, sizes and counts must be whole numbers, got {number!r:.60}") from None
    return <int32_t>max(-0x7FFFFFFF, min(given, 0x7FFFFFFF))


cdef double real(str what, object number) except? -1.0:
    """A number of seconds, which may be infinite or NaN."""
    if type(number) is float:
        return number
    try:
        return checks.number(what, number, unit="seconds", finite=False)
    except OptionError as error:
        raise DecisionError(str(error)) from None


cdef bint flag(str what, object value) except -1:
    if value is True or value is False:
        return value
    raise DecisionError(f"{what} must be True or False, got {value!r:.60}")


cdef object nodes_in(const uint64_t *mask, int32_t words):
    """The nodes of a mask with node i as bit i."""
    bits = np.frombuffer((<const char *>mask)[:8 * words], np.uint8)
    if not FS_LITTLE_ENDIAN:
        bits = bits.view(np.uint64).byteswap().view(np.uint8)
    return np.flatnonzero(np.unpackbits(bits, bitorder="little"))


cdef inline int32_t available(const sim_t *s) noexcept nogil:
    """The free nodes on which jobs may start: a decision counts drained nodes as taken."""
    return min(usable(s), s.free - free_and_drained(s)) if any_drained(s) else usable(s)


cdef permit_t permit_open(const sim_t *s, int32_t job, double end) noexcept nogil:
    """Places without nodes that are closed to a job from now to `end`."""
    cdef permit_t permit
    memset(&permit, 0, sizeof(permit))
    if s.absences.state != NULL and closed_to(s, job, s.now, end, absences_of(s).joined):
        permit.forbidden = absences_of(s).joined
        permit.used = claimed_of_others(s, job, end)
    return permit


# What jobs of a machine take, in words of messages.
_TAKEN = {
    "cluster": ("nodes", ("nodes",)),
    "torus": ("boxes", ("box",)),
    "pod": ("slices", ("cubes", "nodes")),
    "site": ("shares of nodes", ("nodes",)),
}


cdef int end_move(sim_t *s, int32_t job, const move_t *cost) noexcept nogil:
    s.n_events += 1
    s.moves[job] += 1
    if progress_move(s, job, cost) < 0:
        return NO_MEMORY
    if s.record.on and (record_event(s, EV_MOVE, job, -1) < 0 or open_stay(s, job) < 0):
        return NO_MEMORY
    disturb(s)
    return OK


cdef int move_to_nodes(sim_t *s, int32_t job, const int32_t *out, const int32_t *into, int32_t n,
                       const move_t *cost) noexcept nogil:
    cdef int32_t i
    if s.record.on:
        close_stay(s, job)
    for i in range(n):
        if change_node(named_of(&s.machine), job, out[i], into[i]) < 0:
            return NO_MEMORY
    if s.migration.failed != NULL:
        s.migration.failed(s.migration.state, s, job, -1)
    return end_move(s, job, cost)


cdef int move_to_place(sim_t *s, int32_t job, const place_t *place, const move_t *cost) noexcept nogil:
    cdef int code = OK
    if s.record.on:
        close_stay(s, job)
    s.machine.named.return_nodes(s.machine.state, job)
    s.machine.placed.occupy(s.machine.state, job, place)
    if s.scheduler.adopt != NULL:
        code = s.scheduler.adopt(s.scheduler.state, s, job)
    return end_move(s, job, cost) if code == OK else code


# What can be done with jobs at decisions other than passes, and times between events.
_MAY = {
    "failure": ("requeued", "held", "killed"),
    "checkpoint": ("saved",),
    "tick": ("requeued", "killed", "saved", "moved", "withdrawn", "put on hold", "released", "changed"),
}


cdef Decision new_decision(object engine, sim_t *s, str kind, str reader):
    cdef Decision d = Decision.__new__(Decision)
    s.n_decisions += 1
    d.door = engine.door
    d.site = engine.site_view
    d.engine, d.s, d.number, d.kind, d.at, d.reader = engine, s, s.n_decisions, kind, s.now, reader
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


cdef class Decision(Moment):
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

    def __dealloc__(self):
        c_free(self.later)

    def __getattr__(self, str name):
        raise no_attribute(type(self), name)

    def __repr__(self):
        if self.s != NULL:
            try:
                _inside = self.enter(True)
            except self.door.error:
                return f"<Decision: {self.kind} at {self.at:g} s, another thread acts>"
        if self.s == NULL or self.number != self.s.n_decisions:
            return f"<Decision: {self.kind} at {self.at:g} s, over>"
        return (f"<Decision: {self.kind} at {self.at:g} s, {self.s.queue.end - self.s.queue.head} waiting, "
                f"{self.s.running} running, {available(self.s)} free>")

    cdef int check(self) except -1:
        Moment.check(self)
        if self.at != self.s.now:        # what changed nothing has happened, and then it came to a deadlock
            self.at = self.s.now
            self.head = -1
        return 0

    cdef int32_t find(self, object given) except -1:
        """The number of the job in a row."""
        cdef int32_t job = -1
        cdef int32_t row = clipped(given)        # the nearest one, of which there is no job either
        cdef int64_t n = self.s.known if self.s.live else self.s.n_rows
        self.check()
        if 0 <= row < n:
            job = row if self.s.job_of == NULL else self.s.job_of[row]
            if job < 0:
                self.refuse(f"job {given} was dropped from the log: it does not fit on the machine")
        else:
            self.refuse(f"there is no job {given}: the log has rows 0 to {n - 1}")
        return job

    cdef int sort(self) except -1:
        """Sort the queue if its order raised when a job was requeued."""
        if self.s.queue.unsorted != -INFINITY and self.s.scheduler.elsewhere and not self.s.closed:
            self.engine.sort_by_now()
        return 0

    cdef int32_t row_of(self, int32_t job) noexcept:
        return log_row(self.s, job)

    cdef int32_t waiting_at(self, int32_t job) except -1:
        """Where a waiting job is in the queue."""
        cdef queue_t *q = &self.s.queue
        cdef int32_t i
        self.sort()
        if self.s.state[job] == JOB_QUEUED:
            for i in range(q.head, q.end):
                if q.job[i] == job:
                    return i
        self.refuse(f"job {self.row_of(job)} is not waiting: it {self.phrase(job)}")

    cdef bint is_on_hold(self, int32_t job):
        return self.s.eligibility.on and eligible_of(self.s).on_hold[job] != NOT_ON_HOLD

    cdef str phrase(self, int32_t job):
        """What a job does now."""
        if self.s.state[job] == JOB_FUTURE and job < self.s.next_arrival:
            return "is on hold" if self.is_on_hold(job) else "is not eligible yet"
        return _PHRASES[self.s.state[job]]

    # ------------------------------------------------------------------ what there is

    @property
    def now(self):
        """Seconds."""
        _inside = self.enter(True) if self.s != NULL else None
        if self.s != NULL and self.number == self.s.n_decisions and self.at != self.s.now:
            self.at = self.s.now
            self.head = -1
        return self.at

    @property
    def queue(self):
        """The waiting jobs, in queue order: iterable, with columns (`Waiting`)."""
        _inside = self.enter(True)
        self.check()
        self.sort()
        return Waiting.__new__(Waiting, self)

    @property
    def running(self):
        """The jobs that hold nodes, by row, with columns (`Running`)."""
        _inside = self.enter(True)
        self.check()
        return Running.__new__(Running, self)

    @property
    def free(self):
        """Free nodes, on a site free cores, without those that are drained."""
        _inside = self.enter(True)
        self.check()
        return available(self.s)

    @property
    def down(self):
        """Nodes that are down, ascending (int32)."""
        cdef int32_t i
        _inside = self.enter(True)
        self.check()
        if self.s.trace.down == NULL:
            return np.empty(0, np.int32)
        return np.array([i for i in range(self.s.nodes) if self.s.trace.down[i]], np.int32)

    @property
    def repairs(self):
        """When the nodes of `down` will be up again (s); ``inf`` with ``repairs="unknown"``."""
        cdef trace_t *f = &self.s.trace
        cdef int32_t node
        _inside = self.enter(True)
        known = f.repairs_known
        return np.array([f.up_at[node] if known else INFINITY for node in self.down.tolist()], np.float64)

    @property
    def occupancy(self):
        """Nodes that are down, drained, or have jobs: bool of shape (nodes,), on a torus (x, y, z)."""
        cdef machine_t *m = &self.s.machine
        cdef int32_t i
        _inside = self.enter(True)
        self.check()
        self.refuse_unless_named()
        if self.site is not None:
            return self.site.occupied(self.s)
        busy = np.array([m.named.marked(m.state, m.occ, i) or is_drained(self.s, i) for i in range(self.s.nodes)],
                        np.bool_)
        shape = self.engine.settings.machine
        return busy.reshape(shape["x"], shape["y"], shape["z"]) if m.boxes else busy

    @property
    def changes(self):
        """What happened since the last decision (`Changes`); only with ``live=`` or ``record=True``."""
        _inside = self.enter(True)
        self.check()
        if self.event < 0:
            self.refuse("only a simulation that was made with live= or record=True keeps what has changed")
        return changes_since(self.s, self.event, self.stay)

    def foreseen(self, window):
        """Predictions that touch (now, now + window]: an array with fields node, begin, end and p, by begin."""
        cdef int64_t i
        cdef const double *begin
        cdef const double *end
        cdef double until = self.now + real("window", window)
        _inside = self.enter(True)
        self.check()
        begin, end = self.s.predictions.begin, self.s.predictions.end
        rows = [
            (self.s.predictions.node[i], begin[i], end[i], self.s.predictions.p)
            for i in range(self.s.predictions.next, self.s.predictions.n)
            if begin[i] <= until and (end[i] > self.now or begin[i] > self.now)
        ]
        return np.array(rows, [("node", np.int32), ("begin", float), ("end", float), ("p", float)])

    def reserved(self, window):
        """Reservations that are active or begin in (now, now + window], with one row for each of their nodes.

        Parameters
        ----------
        window : float
            Seconds, with no more than a million of these rows.

        Returns
        -------
        numpy.ndarray
            Fields node, begin and end (s) and reservation (its number in ``reservations=``), by begin.
        """
        cdef absences_t *a
        cdef int32_t i
        cdef double k, seconds = real("window", window), now = self.now
        _inside = self.enter(True)
        self.check()
        if not -INFINITY < seconds < INFINITY:
            self.refuse(f"the window of reservations must be finite, got {seconds:g} s")
        rows = []
        a = absences_of(self.s)
        for i in range(0 if a == NULL else a.n):
            k = max(0.0, last_begun(&a.row[i], now))
            if occurrence_end(&a.row[i], k) <= now:
                k += 1.0
            while occurrence_begin(&a.row[i], k) <= now + seconds and occurrence_begin(&a.row[i], k) < INFINITY:
                begin, end = occurrence_begin(&a.row[i], k), occurrence_end(&a.row[i], k)
                rows += [(node, begin, end, i) for node in self.marked_nodes(a.nodes + <int64_t>i * a.words)]
                k += 1.0
                if len(rows) > checks.MOST_RESERVED:
                    self.refuse(f"the window of reservations is too long: there are more than {checks.MOST_RESERVED:,} "
                                f"rows")
        rows.sort(key=lambda row: (row[1], row[3], row[0]))
        return np.array(rows, [("node", np.int32), ("begin", float), ("end", float), ("reservation", np.int32)])

    def closed(self, job):
        """The nodes that are closed to a job, ascending (int32): reserved for others or drained (model.md#absences).

        Those that a job that waits may not hold if it starts now, and one that runs, until its expected end, if it
        moves there.
        """
        _inside = self.enter(True)
        cdef int32_t j = self.find(job)
        cdef permit_t permit
        if self.s.state[j] not in (JOB_QUEUED, JOB_RUNNING, JOB_HELD):
            self.refuse(f"no nodes are closed to job {job}: it {self.phrase(j)}")
        permit = permit_open(self.s, j, self.end_of(j))
        return np.array([] if permit.forbidden == NULL else self.marked_nodes(permit.forbidden), np.int32)

    cdef double end_of(self, int32_t job) noexcept:
        """The expected end of a job that waits, if it starts now, or runs; of others now."""
        if self.s.state[job] == JOB_QUEUED:
            return end_if_started(self.s, job)
        if self.s.state[job] == JOB_RUNNING or self.s.state[job] == JOB_HELD:
            return max(self.s.now, self.s.expected[job])
        return self.s.now

    cdef list marked_nodes(self, const uint64_t *mask):
        """The nodes of a mask, ascending."""
        cdef machine_t *m = &self.s.machine
        cdef int32_t node
        return [node for node in range(self.s.nodes) if m.named.marked(m.state, mask, node)]

    cdef str reach(self, int32_t job, double end, object nodes):
        """Why a job may not hold some of these nodes from now to `end`: the first reservation; "": it may."""
        cdef const sim_t *s = self.s
        cdef const absences_t *a = absences_of(s)
        cdef int32_t i, row = log_row(s, job)
        cdef int32_t node
        cdef double k
        met = []
        for i in range(0 if a == NULL else a.n):
            if is_open_to(a, i, row) or not meets_stay(&a.row[i], s.now, end):
                continue
            for node in nodes:
                if s.machine.named.marked(s.machine.state, a.nodes + <int64_t>i * a.words, node):
                    k = last_begun(&a.row[i], s.now)
                    if k < 0.0 or s.now >= occurrence_end(&a.row[i], k):
                        k += 1.0
                    met.append((occurrence_begin(&a.row[i], k), i, occurrence_end(&a.row[i], k)))
                    break
        if not met:
            return ""
        first, number, last = min(met)
        return self.engine.reach_words(number, first, last, end)

    cdef str reach_anywhere(self, int32_t job):
        """The same, after why a job cannot start, of all nodes."""
        why = self.reach(job, end_if_started(self.s, job), range(self.s.nodes))
        return f"; on reserved nodes {why}" if why else ""

    cdef int check_open(self, int32_t job, str name, object nodes, double end, int32_t owner) except -1:
        """Refuse nodes that are closed to a job from now to `end`; `owner` keeps those that it has."""
        cdef machine_t *m = &self.s.machine
        cdef int32_t node
        if self.s.absences.state == NULL:
            return 0
        nodes = [node for node in nodes if owner < 0 or not m.named.holds(m.state, owner, node)]
        why = self.reach(job, end, nodes)
        if why:
            self.refuse(f"job {self.row_of(job)} cannot have {name}: {why}")
        return 0

    def fits(self, job):
        """Whether a job could start now: enough nodes are free that are open to it, where it needs one in a place."""
        _inside = self.enter(True)
        cdef int32_t j = self.find(job)
        cdef machine_t *m = &self.s.machine
        if self.site is not None:
            return self.s.state[j] == JOB_QUEUED and view_has_room(self.s, self.site.v, j)
        if self.s.state[j] != JOB_QUEUED or self.s.need[j] > available(self.s):
            return False
        if self.s.absences.state != NULL:
            return has_open_place(self.s, j) if m.placed else self.s.need[j] <= open_room(self.s, j)
        if asks_shape(self.s, j):
            return bool(m.placed.has_free(m.state, m.occ, ask_of(self.s, j)))
        return not m.placed or self.s.need[j] <= m.placed.largest_now(m.state)

    def boxes(self, job, size=None):
        """The free boxes that a job could take (torus): int32 of shape (k, 6), bases x, y, z and extents a, b, c.

        Parameters
        ----------
        job : int
            Row of the job.
        size : int, optional
            Nodes of the box; by default the job's size, rounded up to one that a box has.
        """
        _inside = self.enter(True)
        cdef int32_t j = self.find(job)
        cdef machine_t *m = &self.s.machine
        cdef place_t *found = NULL
        cdef permit_t permit = permit_open(self.s, j, self.end_of(j))
        cdef int32_t nodes
        cdef long count, cap = 0
        if self.site is not None:
            self.refuse("a site has no boxes: choose nodes by d.free_amounts")
        if not m.boxes:
            self.refuse("a pod has no boxes: choose by d.slices or d.free_cubes" if m.placed else
                        "a cluster has no boxes: choose nodes by d.occupancy")
        nodes = self.s.need[j] if size is None else clipped(size)
        count = m.placed.free_places(m.state, m.occ, nodes, &permit, &found, &cap)
        try:
            if count < 0:
                raise MemoryError("no memory for the boxes")
            return ints(<const int32_t *>found, 6 * count).reshape(-1, 6)
        finally:
            c_free(found)

    def slices(self, job, size=None):
        """The free slices that a job could take (pod), in the order of the model: hosts of each, int32 of shape (k, n).

        Of a slice of whole cubes that optical switches join there is no list, as any of `free_cubes` will do.

        Parameters
        ----------
        job : int
            Row of the job.
        size : int, optional
            Hosts n of a slice of any shape; by default the job's size, rounded up to that of a slice.
        """
        _inside = self.enter(True)
        cdef int32_t j = self.find(job), n
        cdef machine_t *m = &self.s.machine
        cdef place_t *found = NULL
        cdef permit_t permit = permit_open(self.s, j, self.end_of(j))
        cdef uint64_t *mask
        cdef long count, i, cap = 0
        pod = self.pod()
        n = self.s.need[j] if size is None else clipped(size)
        if pod["wiring"] == "ocs" and n >= pod["hosts"]:
            self.refuse("optical switches join any cubes of this pod: choose some of d.free_cubes")
        mask = <uint64_t *>malloc(<size_t>m.words * sizeof(uint64_t))
        asked = ask_of(self.s, j) if size is None else n
        count = -1 if mask == NULL else m.placed.free_places(m.state, m.occ, asked, &permit, &found, &cap)
        try:
            if count < 0:
                raise MemoryError("no memory for the slices")
            rows = []
            for i in range(count):
                memset(mask, 0, <size_t>m.words * sizeof(uint64_t))
                m.placed.put(m.state, mask, &found[i])
                rows.append(nodes_in(mask, m.words))
            return np.array(rows, np.int32).reshape(count, max(0, min(n, m.nodes)))
        finally:
            c_free(mask)
            c_free(found)

    @property
    def free_cubes(self):
        """Cubes of a pod of which all hosts are free, ascending (int32); those that it holds back count, too."""
        _inside = self.enter(True)
        self.check()
        hosts = self.pod()["hosts"]
        return np.flatnonzero(~self.occupancy.reshape(-1, hosts).any(axis=1)).astype(np.int32)

    cdef dict pod(self):
        """What the machine is, which must be a pod."""
        machine = self.engine.settings.machine
        if machine["name"] != "pod":
            self.refuse("only a pod has cubes and slices")
        return machine

    @property
    def free_amounts(self):
        """What is free of each node of a site: cores, MiB and GPUs, int64 (nodes, 3); 0 on nodes that are down."""
        _inside = self.enter(True)
        self.check()
        return self.on_site().free_amounts(self.s)

    def shares(self, job):
        """What a running job has of nodes of a site: node, cores, MiB and GPUs, int64 of shape (k, 4), by node."""
        _inside = self.enter(True)
        cdef int32_t j = self.find(job)
        self.on_site()
        if self.s.state[j] != JOB_RUNNING and self.s.state[j] != JOB_HELD:
            self.refuse(f"job {job} has no nodes: it {self.phrase(j)}")
        return self.site.shares(self.s, j)

    cdef SiteView on_site(self):
        if self.site is None:
            self.refuse("only a site has nodes that jobs share")
        return self.site

    cdef int look_ahead(self, int32_t head) except -1:
        """The shadow of a waiting job: when it could start, and what is left over then."""
        cdef sim_t *s = self.s
        cdef machine_t *m = &s.machine
        cdef const release_t *items
        cdef open_shadow_t shadow
        cdef int32_t n = 0
        if self.head == head and self.epoch == s.epoch:
            return 0
        self.epoch = s.epoch
        self.later_set, self.beside = 0, 0
        if self.site is not None:
            self.time = view_shadow(s, self.site.v, head, &self.extra)
        elif not m.placed:
            self.time = releases_shadow(&s.releases, s.now, usable(s), s.need[head], &self.extra)
            if s.absences.state != NULL and not none_closed(
                    absences_of(s), self.time, end_if_started_at(s, head, self.time)):
                shadow.time = self.time
                self.conclude(find_open_time(s, head, &shadow))
                self.time, self.extra, self.beside, self.later_set = (
                    shadow.time, shadow.extra, shadow.beside, shadow.closed)
            if self.time == INFINITY:
                self.extra = 0
        else:
            if self.later == NULL:
                self.later = <uint64_t *>malloc(2 * <size_t>m.words * sizeof(uint64_t))
                if self.later == NULL:
                    raise MemoryError("no memory for an occupancy")
            self.shut = NULL
            items = releases_all(&s.releases)
            if s.absences.state != NULL:
                self.time = first_open_time(s, head, self.later, absences_of(s).closed)
                if self.time < INFINITY:
                    join_closed(s, head, self.time, end_if_started_at(s, head, self.time), absences_of(s).closed,
                                self.later)
                    self.shut = self.later + m.words
                    memcpy(self.shut, absences_of(s).closed, <size_t>m.words * sizeof(uint64_t))
            elif m.placed.has_free(m.state, m.occ, ask_of(s, head)):
                self.time = s.now
                memcpy(self.later, m.occ, <size_t>m.words * sizeof(uint64_t))
                while n < s.releases.n and items[n].end <= s.now:
                    n += 1
                m.placed.release(m.state, items, n, self.later)
            else:
                self.time = placed_shadow(s, items, s.releases.n, m.occ, ask_of(s, head), self.later)
            self.extra = 0
            if self.time != INFINITY:
                self.extra = m.nodes - mask_count(self.later, m.words) - s.need[head]
                if self.shut != NULL:
                    self.extra -= mask_count_without(self.shut, self.later, m.words)
        self.head = head
        return 0

    def expected_end(self, job, at=None):
        """When a waiting job would end by its estimate if it were started at a time (model.md#expected-end).

        Parameters
        ----------
        job : int
            Its row.
        at : float, optional
            Seconds; by default now.
        """
        _inside = self.enter(True)
        cdef int32_t j = self.find(job)
        self.waiting_at(j)
        return end_if_started_at(self.s, j, self.s.now if at is None else real("at", at))

    def shadow(self, job):
        """When a waiting job could start if running jobs end as expected, and the nodes that it would leave over then.

        Returns
        -------
        (float, int)
            Seconds, ``inf`` if never (model.md#easy); nodes, of those that are open to the job, on a site those (or the
            cores, for a job of any number of nodes) that are offered to it beyond what it needs.
        """
        _inside = self.enter(True)
        cdef int32_t j = self.find(job)
        self.waiting_at(j)
        self.look_ahead(j)
        return self.time, min(self.extra, self.beside) if self.later_set > 0 else self.extra

    # ------------------------------------------------------------------ where jobs start, or go

    cdef tuple said(self, object job, dict given):
        named = [what for what in given if given[what] is not None]
        if not named:
            return None
        if len(named) > 1:
            _inside = self.enter(True)
            self.check()
            self.refuse(f"say where job {job} goes by one of nodes=, box= and cubes=, got "
                        f"{' and '.join([f'{what}=' for what in named])}")
        what = named[0]
        asked = given[what]
        try:
            numbers = np.ascontiguousarray(asked)
            if numbers.dtype.kind not in "iu":
                raise TypeError
        except (TypeError, ValueError, OverflowError):
            _inside = self.enter(True)
            self.check()
            self.refuse(f"{what} of job {job} must be whole numbers, got {asked!r}")
        if numbers.dtype != np.int32:    # what does not fit is no node either
            numbers = np.clip(numbers, -1, 0x7FFFFFFF).astype(np.int32)
        return what, numbers.ravel()

    cdef int check_kind(self, str what) except -1:
        """Whether jobs of this machine are placed in this way."""
        machine = self.engine.settings.machine["name"]
        taken, ways = _TAKEN[machine]
        if what not in ways:
            self.refuse(f"jobs on a {machine} take {taken}: give {' or '.join([f'{way}=' for way in ways])}, not "
                        f"{what}=")
        return 0

    cdef int check_distinct(self, int32_t job, const int32_t[::1] numbers, int32_t end, str what) except -1:
        cdef Py_ssize_t i
        for i in range(numbers.shape[0]):
            if not 0 <= numbers[i] < end:
                self.refuse(f"there is no {what} {numbers[i]}: {what}s are 0 to {end - 1}")
        if len(set(np.asarray(numbers).tolist())) != numbers.shape[0]:
            self.refuse(f"{what}s of job {self.row_of(job)} are named twice")
        return 0

    cdef int check_nodes(self, int32_t job, str what, object numbers, int32_t size, int32_t owner,
                         double end) except -1:
        cdef sim_t *s = self.s
        cdef machine_t *m = &s.machine
        cdef const int32_t[::1] node = numbers
        cdef Py_ssize_t i
        self.check_kind(what)
        if node.shape[0] != size:
            self.refuse(f"job {self.row_of(job)} asks for {size} nodes, got {node.shape[0]}")
        self.check_distinct(job, node, s.nodes, "node")
        for i in range(node.shape[0]):
            if ((m.named.marked(m.state, m.occ, node[i]) or is_drained(s, node[i]))
                    and (owner < 0 or not m.named.holds(m.state, owner, node[i]))):
                self.refuse(f"node {node[i]} is not free")
        for i in range(node.shape[0] if s.absences.state != NULL else 0):
            self.check_open(job, f"node {node[i]}", (node[i],), end, owner)
        return 0

    cdef int check_place(self, int32_t job, str what, object numbers, int32_t owner, double end,
                         place_t *place) except -1:
        cdef machine_t *m = &self.s.machine
        cdef absences_t *a = absences_of(self.s)
        self.check_kind(what)
        if what == "box":
            self.check_box(numbers, place)
        else:
            self.check_slice(job, what, numbers, place)
        self.check_free(job, what, numbers, place, owner, end)
        if a == NULL:
            return 0
        if what == "box":
            memset(a.joined, 0, <size_t>a.words * sizeof(uint64_t))
            m.placed.put(m.state, a.joined, place)
            return self.check_open(job, f"box {tuple(numbers.tolist())}", self.marked_nodes(a.joined), end, owner)
        hosts = self.engine.settings.machine["hosts"] if what == "cubes" else 1
        for number in numbers.tolist():
            nodes = range(number * hosts, (number + 1) * hosts)
            self.check_open(job, f"{what[:-1]} {number}", nodes, end, owner)
        return 0

    cdef int check_box(self, object numbers, place_t *place) except -1:
        """Whether it is one."""
        cdef machine_t *m = &self.s.machine
        cdef const int32_t[::1] part = numbers
        cdef int i
        if part.shape[0] != 6:
            self.refuse(f"a box is six numbers (x, y, z, a, b, c), got {part.shape[0]}")
        for i in range(6):
            place.part[i] = part[i]
        if not m.placed.is_place(m.state, place):
            self.refuse(f"{tuple(numbers.tolist())} is no box of this machine")
        return 0

    cdef int check_slice(self, int32_t job, str what, object numbers, place_t *place) except -1:
        """The slice of these nodes, or of these whole cubes."""
        cdef machine_t *m = &self.s.machine
        cdef const int32_t[::1] node
        cdef int32_t hosts = self.engine.settings.machine["hosts"], ask = ask_of(self.s, job)
        if what == "cubes":
            self.check_distinct(job, numbers, self.s.nodes // hosts, "cube")
            numbers = (numbers[:, None] * hosts + np.arange(hosts, dtype=np.int32)).ravel()
        node = numbers
        self.check_distinct(job, node, self.s.nodes, "node")
        if node.shape[0] == 0 or not m.placed.place_with(m.state, &node[0], <int32_t>node.shape[0], ask, place):
            row = self.row_of(job)
            shape = f" of the shape {self.engine.column_of('shape', row)}" if asks_shape(self.s, job) else ""
            self.refuse(f"the {node.shape[0]} nodes given for job {row} are no slice of this pod{shape}")
        return 0

    cdef int check_free(self, int32_t job, str what, object numbers, const place_t *place, int32_t owner,
                        double end) except -1:
        """Checks that a place is large enough and free of other jobs, and that cubes held back stay free."""
        cdef sim_t *s = self.s
        cdef machine_t *m = &s.machine
        cdef size_t bytes = <size_t>m.words * sizeof(uint64_t)
        cdef int32_t size = m.placed.size_of(place)
        cdef uint64_t *mask
        cdef place_t old
        cdef bint too_many = False
        kind = "box" if what == "box" else "slice"
        if owner >= 0 and size != s.allocated[owner]:
            self.refuse(f"job {self.row_of(job)} moves to a {kind} of the {s.allocated[owner]} nodes that it has, got "
                        f"{size}")
        if size < s.size[job]:
            self.refuse(f"job {self.row_of(job)} asks for {s.size[job]} nodes, and the {kind} has {size}")
        mask = <uint64_t *>malloc(bytes)
        if mask == NULL:
            raise MemoryError("no memory for an occupancy")
        try:
            memcpy(mask, m.occ, bytes)
            if any_drained(s):
                mask_join(mask, absences_of(s).drained, m.words)
            if owner >= 0:
                old = m.placed.place_of(m.state, owner)
                m.placed.lift(m.state, mask, &old)
            if m.placed.meets(m.state, mask, place):
                self.refuse(f"{self.taken(what, numbers, mask)} is not free")
            if m.placed.may_be_busy != NULL:
                memcpy(mask, m.occ, bytes)
                if owner >= 0:
                    m.placed.lift(m.state, mask, &old)
                m.placed.put(m.state, mask, place)
                if s.absences.state != NULL:
                    join_claimed(s, job, s.now, end, mask)
                too_many = not m.placed.may_be_busy(m.state, mask)
        finally:
            c_free(mask)
        if too_many:
            self.refuse(f"job {self.row_of(job)} cannot have this slice: it would use cubes that are held back")
        if owner >= 0 and same_place(&old, place):
            self.refuse(f"job {self.row_of(job)} already has this {kind}")
        return 0

    cdef str taken(self, str what, object numbers, const uint64_t *mask):
        """The box; or the first of the nodes or cubes of a pod that has a node in a mask."""
        cdef machine_t *m = &self.s.machine
        cdef int32_t node, hosts
        if what == "box":
            return f"box {tuple(numbers.tolist())}"
        hosts = self.engine.settings.machine["hosts"] if what == "cubes" else 1
        for number in numbers.tolist():
            for node in range(number * hosts, (number + 1) * hosts):
                if m.named.marked(m.state, mask, node):
                    return f"{what[:-1]} {number}"

    # ------------------------------------------------------------------ below the acts

    def __init__(self):
        raise DecisionError("a Decision comes from Simulation.advance, or is given to Scheduler.schedule")

    cdef int act(self, str what) except -1:
        """Before anything changes."""
        self.refuse_act(what)
        catch_up(self.s)
        self.head = -1
        self.acted = self.s.asked.acted
        self.s.asked.acted = True
        return 0

    cdef int refuse_act(self, str what) except -1:
        """Refuse an act that this decision does not have."""
        self.check()
        if self.kind in _MAY:
            if what not in _MAY[self.kind]:
                self.refuse(f"jobs cannot be {what} at a decision of kind {self.kind!r}")
        elif not self.s.scheduler.elsewhere:
            name = self.engine.settings.scheduler["name"]
            self.refuse(f"the scheduler of this simulation ({name}) decides: use External() to do it yourself")
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
        if code == PYTHON_ERROR:
            self.s.asked.acted = self.acted      # the job has not started
        self.conclude(code)
        return self.leave_queue(at)

    cdef int choose(self, int32_t job, int32_t size, permit_t *permit, place_t *place) except -1:
        """Whether a box is free; the placement rule, perhaps one in Python, chooses it."""
        cdef int code
        cdef permit_t narrower
        if self.s.absences.state != NULL:
            narrower = permit_open(self.s, job, end_if_started(self.s, job))
            if permit != NULL:
                narrower.later, narrower.need, narrower.shut = permit.later, permit.need, permit.shut
            permit = &narrower
        self.s.closed = True
        code = choose_now(self.s, job, self.s.machine.occ, size, permit, place)
        self.s.closed = False
        self.conclude(code)
        return code

    cdef int conclude(self, int code) except -1:
        """The exception of a status.  User code is called before anything changes: its error leaves all as it was."""
        if code == PYTHON_ERROR:
            self.engine.raise_kept()
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
        self.sort()
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
        if s.state[job] != JOB_QUEUED or (size > available(s) and self.site is None):
            return 0
        if job == head:
            self.refuse(f"job {self.row_of(job)} cannot be backfilled ahead of itself")
        self.look_ahead(head)
        if self.site is not None:
            if not view_choose_beside(s, self.site.v, job, head, self.time):
                return 0
            if do_it:
                at = self.waiting_at(job)
                self.act("started")
                self.launch(job, at, chosen_cores(site_of(&s.machine)), NULL)
            return 1
        outlives = end_if_started(s, job) > self.time
        if not m.placed:
            if (outlives and not leaves_head(s, job, self.extra, self.beside, self.later_set)) or (
                    s.absences.state != NULL and size > open_room(s, job)):
                return 0
            if do_it:
                at = self.waiting_at(job)
                self.act("started")
                if outlives and self.later_set > 0:
                    spare_set(s, self.later_set)
                try:
                    self.launch(job, at, size, NULL)
                finally:
                    if s.absences.state != NULL:
                        spare_none(s)
            return 1
        memset(&permit, 0, sizeof(permit))
        permit.later = self.later
        if m.placed.has_free_beside != NULL:
            permit.shut = self.shut
        permit.need = ask_of(s, head)
        limit = min(<int64_t>size + growth, <int64_t>available(s))
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

    def start(self, job, *, nodes=None, box=None, cubes=None, cores=None):
        """Start a waiting job now, at `nodes`, `box` or `cubes` if one is given, else where the placement rule chooses.

        Parameters
        ----------
        job : int
            Its row.
        nodes : sequence of int, optional
            On a cluster as many free nodes as its size; on a pod the hosts of a free slice that is large enough; on a
            site nodes that have room for it, of each of which, in this order, it takes what it needs.
        box : sequence of 6 int, optional
            On a torus: base x, y, z and extents a, b, c of a free box that is large enough, as `boxes` lists them; by
            default the placement rule chooses among those of the smallest size that has one.
        cubes : sequence of int, optional
            On a pod: the cubes of a free slice of whole cubes, by number.
        cores : sequence of int, optional
            On a site, with `nodes`: how many cores it takes of each.
        """
        given = self.said(job, {"nodes": nodes, "box": box, "cubes": cubes})
        each = None if cores is None else self.said_cores(job, nodes, cores)
        _inside = self.enter(False)
        cdef int32_t j = self.find(job), at = self.waiting_at(j), size = self.s.need[j]
        cdef machine_t *m = &self.s.machine
        cdef place_t place
        cdef bint found = False
        if self.site is not None:
            self.begin_on_site(j, at, job, given, each)
        elif size > available(self.s):
            self.refuse(f"job {job} cannot start: it needs {size} nodes and {available(self.s)} are free")
        elif given is not None:
            self.begin(j, at, size, given)
        elif not m.placed:
            if self.s.absences.state != NULL and size > open_room(self.s, j):
                self.refuse(f"job {job} cannot start: it needs {size} nodes and {open_room(self.s, j)} of those that "
                            f"are free are open to it{self.reach_anywhere(j)}")
            self.act("started")
            self.launch(j, at, size, NULL)
        else:
            if asks_shape(self.s, j) or self.s.absences.state != NULL or size <= m.placed.largest_now(m.state):
                set_window(self.s, j, self.s.now)
                while size != 0 and size <= available(self.s):
                    found = self.choose(j, size, NULL, &place)
                    if found:
                        break
                    size = grown(self.s, j, size)
            if not found:
                self.refuse(f"job {job} cannot start: no {'box' if m.boxes else 'slice'} of {self.s.need[j]} nodes or "
                            f"more is free{self.reach_anywhere(j)}")
            self.act("started")
            self.launch(j, at, size, &place)
        said = {} if given is None else {given[0]: given[1].tolist()}
        self.note("start", (self.row_of(j),), said if each is None else {**said, "cores": each.tolist()})

    cdef object said_cores(self, object job, object nodes, object cores):
        """The cores of each node, checked as far as they can be without the job."""
        found = self.said(job, {"cores": cores})[1]
        if nodes is None or self.site is None or found.shape[0] != len(nodes):
            _inside = self.enter(True)
            self.check()
            if nodes is not None and self.site is not None:
                self.refuse(f"cores of job {job} must be as many as its nodes, {len(nodes)}, got {found.shape[0]}")
            self.refuse(f"cores of job {job} must be whole numbers, one for each of nodes=, on nodes that jobs share")
        return found

    cdef int begin_on_site(self, int32_t job, int32_t at, object row, tuple given, object each) except -1:
        """Start a job on its shares of nodes."""
        cdef const int32_t[::1] node, cores
        cdef str why
        if given is None:
            if not view_choose(self.s, self.site.v, job):
                self.refuse(f"job {row} cannot start: it has no room on the nodes{self.reach_anywhere(job)}")
        else:
            self.check_kind(given[0])
            node = given[1]
            self.check_distinct(job, node, self.s.nodes, "node")
            for number in given[1].tolist() if self.s.absences.state != NULL else ():
                self.check_open(job, f"node {number}", (number,), end_if_started(self.s, job), -1)
            if each is None:
                why = self.site.choose_named(self.s, job, row, &node[0] if node.shape[0] else NULL, node.shape[0])
            elif node.shape[0] == 0:
                why = f"job {row} asks for nodes, got none"
            else:
                cores = each
                why = self.site.choose_with_cores(self.s, job, row, &node[0], &cores[0], node.shape[0])
            if why:
                self.refuse(why)
        self.act("started")
        return self.launch(job, at, chosen_cores(site_of(&self.s.machine)), NULL)

    cdef int begin(self, int32_t job, int32_t at, int32_t size, tuple given) except -1:
        """Start a job on the nodes that the caller chose."""
        cdef sim_t *s = self.s
        cdef machine_t *m = &s.machine
        cdef const int32_t[::1] list_ = given[1]
        cdef place_t place
        if not m.placed:
            self.check_nodes(job, given[0], given[1], size, -1, end_if_started(s, job))
            self.act("started")
            s.given = &list_[0]
            self.launch(job, at, size, NULL)
        else:
            self.check_place(job, given[0], given[1], -1, end_if_started(s, job), &place)
            self.act("started")
            self.launch(job, at, m.placed.size_of(&place), &place)
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
            self.conclude(stop_job(s, j, <int>BY_ACT))
            if s.record.on:
                self.conclude(record_event(s, EV_RESCHEDULE, j, -1))
        s.closed = True
        code = sort_queue(s) if s.scheduler.elsewhere else OK
        s.closed = False
        self.note("requeue", (self.row_of(j),), {})
        if code == PYTHON_ERROR:         # the job waits; the next look at the queue sorts it
            s.queue.unsorted = s.now
        self.conclude(code)

    def hold(self, job):
        """A job that waits is on hold: it is not in the queue until `release` (model.md#on-hold).

        At a failure, instead, the job that it hits keeps its nodes until they are repaired, as with `Hold`
        (model.md#hold).
        """
        cdef int32_t j
        _inside = self.enter(False)
        if self.kind != "failure":
            j = self.find(job)
            if self.s.state[j] == JOB_QUEUED or self.s.state[j] == JOB_FUTURE:
                self.hold_waiting(job, j)
                return
        if self.kind != "failure":
            self.check()
            self.refuse(f"job {job} cannot be held at a decision of kind {self.kind!r}: only a failure holds the job "
                        f"that it hits, and External(at=...) says whether you are asked then")
        j = self.stoppable(job, "held")
        self.act("held")
        roll_back(self.s, j)
        self.conclude(hold_job(self.s.recovery.state, self.s, j))
        self.note("hold", (self.row_of(j),), {})

    cdef int hold_waiting(self, object job, int32_t j) except -1:
        if self.s.state[j] == JOB_FUTURE and (j >= self.s.next_arrival or self.is_on_hold(j)):
            self.refuse(f"job {job} cannot be put on hold: it {self.phrase(j)}")
        self.refuse_another(j, "put on hold")
        self.act("put on hold")
        self.engine.hold_waiting(j)
        self.note("hold", (self.row_of(j),), {})
        return 0

    def release(self, job):
        """A job that is on hold may enter the queue again, now if nothing else is in its way (model.md#on-hold)."""
        _inside = self.enter(False)
        cdef int32_t j = self.find(job)
        if not self.is_on_hold(j):
            self.refuse(f"job {job} cannot be released: it is not on hold")
        self.refuse_another(j, "released")
        self.act("released")
        self.engine.release_waiting(j)
        self.note("release", (self.row_of(j),), {})

    def withdraw(self, job):
        """A job that waits ends without a run; one that runs is killed, as by `kill` (model.md#withdrawal).

        Its state in the result is `JobState.WITHDRAWN`, and metrics of jobs do not count it.
        """
        _inside = self.enter(False)
        cdef int32_t j = self.find(job)
        cdef sim_t *s = self.s
        if s.state[j] == JOB_DONE or s.state[j] == JOB_HELD or (s.state[j] == JOB_FUTURE and j >= s.next_arrival):
            self.refuse(f"job {job} cannot be withdrawn: it {self.phrase(j)}")
        if s.state[j] == JOB_RUNNING:
            self.kill(job)
            return
        self.refuse_another(j, "withdrawn")
        self.act("withdrawn")
        self.engine.withdraw_waiting(j)
        self.note("withdraw", (self.row_of(j),), {})

    def kill(self, job):
        """Stop a running job for good: it loses what it has not saved, and does not come back (model.md#acts).

        It counts as done, with what it has saved as its run time, and its state in the result is `JobState.KILLED`.
        A job that waits is withdrawn, as by `withdraw`.
        """
        _inside = self.enter(False)
        if self.s.state[self.find(job)] == JOB_QUEUED:
            self.withdraw(job)
            return
        cdef int32_t j = self.stoppable(job, "killed")
        cdef sim_t *s = self.s
        self.act("killed")
        roll_back(s, j)
        disturb(s)
        self.conclude(end_for_good(s, j, <int>BY_ACT))
        self.note("kill", (self.row_of(j),), {})

    def change(self, job, *, estimate=None, size=None, priority=None, begin=None):
        """A job that waits and has had no nodes requests something else from now on (model.md#changed).

        Parameters
        ----------
        job : int
            Its row.
        estimate, size, priority, begin : float, int, float and float, optional
            As of `Simulation.change`.
        """
        given = {"estimate": estimate, "size": size, "priority": priority, "begin": begin}
        _inside = self.enter(False)
        cdef int32_t j = self.find(job)
        self.refuse_another(j, "changed")
        change = None if self.engine.changer is None else self.engine.changer()
        if change is None:
            self.refuse("jobs change in a simulation, and that of this decision is gone")
        self.refuse_act("changed")
        row = self.row_of(j)
        change(row, given)
        self.act("changed")
        self.note("change", (row,), given)

    def drain(self, node):
        """A node takes no new jobs from now on, until `resume` (model.md#drained)."""
        self.close_node("drain", node)

    def resume(self, node):
        """A drained node takes jobs again."""
        self.close_node("resume", node)

    cdef int close_node(self, str act, object node) except -1:
        _inside = self.enter(False)
        self.check()
        if self.kind == "failure" or self.kind == "checkpoint":
            self.refuse(f"{act} is not available at a decision of kind {self.kind!r}: this decision is about job "
                        f"{self.job}")
        self.engine.close_node(node, act == "drain", self.kind == "time")
        self.head = -1
        self.s.asked.acted = True
        self.note(act, (node,), {})
        return 0

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

    def move(self, job, *, nodes=None, box=None, cubes=None, checkpoint_cost=30.0, restart_cost=30.0, live=False):
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
            Seconds that the move takes: a checkpoint, which ends in a safe point, then a restart.
        live : bool, default False
            The move costs only `restart_cost` and is no safe point.
        """
        given = self.said(job, {"nodes": nodes, "box": box, "cubes": cubes})
        cdef double saving = real("checkpoint_cost", checkpoint_cost)
        cdef double restarting = real("restart_cost", restart_cost)
        cdef bint is_live = flag("live", live)
        _inside = self.enter(False)
        cdef int32_t j = self.stoppable(job, "moved")
        cdef machine_t *m = &self.s.machine
        cdef move_t cost
        cdef place_t place
        if not (0.0 <= saving < INFINITY and 0.0 <= restarting < INFINITY):
            self.refuse(f"the costs of a move must be 0 s or more, and finite: got {saving:g} s and {restarting:g} s")
        self.refuse_unless_named()
        if self.site is not None:
            self.refuse(f"job {job} cannot move: jobs that share nodes do not move")
        cost.live, cost.checkpoint_cost, cost.restart_cost = is_live, saving, restarting
        if given is None:
            ways = "box=" if m.boxes else "cubes= or nodes=" if m.placed else "nodes="
            self.refuse(f"say where job {job} moves to: {ways}")
        elif not m.placed:
            self.change_nodes(j, given, &cost)
        else:
            self.check_place(j, given[0], given[1], j, self.moved_end(j, &cost), &place)
            self.act("moved")
            self.conclude(move_to_place(self.s, j, &place, &cost))
        if not self.moved:
            self.moved = True
            self.s.n_attempted += 1
            self.s.n_successful += 1
        options = {"checkpoint_cost": saving, "restart_cost": restarting, "live": is_live}
        self.note("move", (self.row_of(j),), {**options, given[0]: given[1].tolist()})

    cdef double moved_end(self, int32_t job, const move_t *cost) noexcept:
        """The expected end of a job after a move."""
        return max(self.s.now, progress_moved_end(self.s, job, cost))

    cdef int change_nodes(self, int32_t job, tuple given, const move_t *cost) except -1:
        cdef const int32_t[::1] left, taken
        where = given[1]
        self.check_nodes(job, given[0], where, self.s.allocated[job], job, self.moved_end(job, cost))
        own, new = set(self.engine.nodes_of(job).tolist()), set(where.tolist())
        left, taken = np.array(sorted(own - new), np.int32), np.array(sorted(new - own), np.int32)
        if not left.shape[0]:
            self.refuse(f"job {self.row_of(job)} already has these nodes")
        self.act("moved")
        return self.conclude(move_to_nodes(self.s, job, &left[0], &taken[0], <int32_t>left.shape[0], cost))

    def wake(self, at):
        """Ask for a scheduling pass at a time, in seconds, whatever else happens."""
        cdef double time = real("at", at)
        _inside = self.enter(False)
        self.check()
        if not (time > self.s.now and time <= self.s.latest):
            self.refuse(
                f"wake({time:g}): the time must be later than now ({self.s.now:g} s), "
                f"and at most {self.s.latest:.0f} s")
        if heap_push(&self.s.heap, time, EV_WAKE, 0) < 0:
            self.conclude(NO_MEMORY)
        self.note("wake", (time,), {})

    def finish(self):
        """End the pass: this decision is over.  `Simulation.advance` does the same."""
        _inside = self.enter(False)
        self.check()
        self.s.n_decisions += 1
