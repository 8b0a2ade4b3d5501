"""What somebody outside sees when it is to decide; the contract is in outlook.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free as c_free, malloc
from libc.string cimport memcpy, memset

import numpy as np

from faultsim._core.changes cimport changes_since
from faultsim._core.containers.bits cimport FS_LITTLE_ENDIAN, mask_count
from faultsim._core.containers.releases cimport release_t, releases_all, releases_shadow
from faultsim._core.job_columns cimport Moment, Running, Waiting, ints
from faultsim._core.scheduling.shadow cimport placed_shadow
from faultsim._core.state cimport (
    JOB_DONE, JOB_FUTURE, JOB_HELD, JOB_QUEUED, JOB_RUNNING, ask_of, asks_shape, end_if_started_at, queue_t, sim_t,
    trace_t, usable,
)
from faultsim._core.tables.machine cimport machine_t, place_t

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
    cdef Py_ssize_t given = PyNumber_AsSsize_t(number, NULL)
    return <int32_t>max(-0x7FFFFFFF, min(given, 0x7FFFFFFF))


cdef object nodes_in(const uint64_t *mask, int32_t words):
    """The numbers of the bits of a mask whose bit i is node i."""
    bits = np.frombuffer((<const char *>mask)[:8 * words], np.uint8)
    if not FS_LITTLE_ENDIAN:
        bits = bits.view(np.uint64).byteswap().view(np.uint8)
    return np.flatnonzero(np.unpackbits(bits, bitorder="little"))


cdef class Outlook(Moment):
    """What there is at a decision; `Decision` adds what can be done."""

    def __dealloc__(self):
        c_free(self.later)

    def __repr__(self):
        if self.s != NULL:
            try:
                _inside = self.enter(True)
            except self.door.error:
                return f"<Decision: {self.kind} at {self.at:g} s, another thread acts>"
        if self.s == NULL or self.number != self.s.n_decisions:
            return f"<Decision: {self.kind} at {self.at:g} s, over>"
        return (f"<Decision: {self.kind} at {self.at:g} s, {self.s.queue.end - self.s.queue.head} waiting, "
                f"{self.s.running} running, {usable(self.s)} free>")

    # ------------------------------------------------------------------ below

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
        cdef int64_t n = self.s.known if self.s.live else self.n_rows
        self.check()
        if 0 <= row < n:
            job = row if self.job_of == NULL else self.job_of[row]
            if job < 0:
                self.refuse(f"job {given} was dropped from the log: it does not fit on the machine")
        else:
            self.refuse(f"there is no job {given}: the log has rows 0 to {n - 1}")
        return job

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
        self.refuse(f"job {self.row_of(job)} is not waiting: it {self.phrase(job)}")

    cdef str phrase(self, int32_t job):
        """What a job does now."""
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
        return Waiting.__new__(Waiting, self)

    @property
    def running(self):
        """The jobs that hold nodes, by row, with columns (`Running`)."""
        _inside = self.enter(True)
        self.check()
        return Running.__new__(Running, self)

    @property
    def free(self):
        """Free nodes."""
        _inside = self.enter(True)
        self.check()
        return usable(self.s)

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
        """Which nodes are taken or down: bool of shape (nodes,), on a pod of its hosts, on a torus (x, y, z)."""
        cdef machine_t *m = &self.s.machine
        cdef int32_t i
        _inside = self.enter(True)
        self.check()
        self.refuse_unless_named()
        busy = np.array([m.marked(m.state, m.occ, i) for i in range(self.s.nodes)], np.bool_)
        shape = self.engine.settings.machine
        return busy.reshape(shape["x"], shape["y"], shape["z"]) if m.boxes else busy

    @property
    def changes(self):
        """What happened since the last decision (`Changes`); only with ``live=`` or ``record=True``."""
        _inside = self.enter(True)
        self.check()
        if self.event < 0:
            self.refuse("only a simulation that was made with live= or record=True keeps what has changed")
        return changes_since(self.s, self.row, self.event, self.stay)

    def foreseen(self, double window):
        """Predictions that touch (now, now + window]: an array with fields node, begin, end and p, by begin."""
        cdef int64_t i
        cdef const double *begin
        cdef const double *end
        _inside = self.enter(True)
        self.check()
        begin, end = self.s.predictions.begin, self.s.predictions.end
        rows = [
            (self.s.predictions.node[i], begin[i], end[i], self.s.predictions.p)
            for i in range(self.s.predictions.next, self.s.predictions.n)
            if begin[i] <= self.now + window and (end[i] > self.now or begin[i] > self.now)
        ]
        return np.array(rows, [("node", np.int32), ("begin", float), ("end", float), ("p", float)])

    def fits(self, job):
        """Whether a job could be started now: enough nodes are free, on a torus in one box, on a pod in one slice."""
        _inside = self.enter(True)
        cdef int32_t j = self.find(job)
        cdef machine_t *m = &self.s.machine
        if self.s.state[j] != JOB_QUEUED or self.s.need[j] > usable(self.s):
            return False
        if asks_shape(self.s, j):
            return bool(m.has_free(m.state, m.occ, ask_of(self.s, j)))
        return not m.placed or self.s.need[j] <= m.largest_now(m.state)

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
        cdef long count, cap = 0
        if not m.boxes:
            self.refuse("a pod has no boxes: choose by d.slices or d.free_cubes" if m.placed else
                        "a cluster has no boxes: choose nodes by d.occupancy")
        count = m.free_places(m.state, m.occ, self.s.need[j] if size is None else clipped(size), NULL, &found, &cap)
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
            Hosts of a slice for which no shape is asked, n; by default as the job asks, rounded up to a slice's size.
        """
        _inside = self.enter(True)
        cdef int32_t j = self.find(job), n
        cdef machine_t *m = &self.s.machine
        cdef place_t *found = NULL
        cdef uint64_t *mask
        cdef long count, i, cap = 0
        pod = self.pod()
        n = self.s.need[j] if size is None else clipped(size)
        if pod["wiring"] == "ocs" and n >= pod["hosts"]:
            self.refuse("optical switches join any cubes of this pod: choose some of d.free_cubes")
        mask = <uint64_t *>malloc(<size_t>m.words * sizeof(uint64_t))
        asked = ask_of(self.s, j) if size is None else n
        count = -1 if mask == NULL else m.free_places(m.state, m.occ, asked, NULL, &found, &cap)
        try:
            if count < 0:
                raise MemoryError("no memory for the slices")
            rows = []
            for i in range(count):
                memset(mask, 0, <size_t>m.words * sizeof(uint64_t))
                m.put(m.state, mask, &found[i])
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

    cdef int look_ahead(self, int32_t head) except -1:
        """The shadow of a waiting job: when it could start, and what is left over then."""
        cdef sim_t *s = self.s
        cdef machine_t *m = &s.machine
        cdef const release_t *items
        cdef int32_t n = 0
        if self.head == head and self.epoch == s.epoch:
            return 0
        self.epoch = s.epoch
        if not m.placed:
            self.time = releases_shadow(&s.releases, s.now, usable(s), s.need[head], &self.extra)
            if self.time == INFINITY:
                self.extra = 0
        else:
            if self.later == NULL:
                self.later = <uint64_t *>malloc(<size_t>m.words * sizeof(uint64_t))
                if self.later == NULL:
                    raise MemoryError("no memory for an occupancy")
            items = releases_all(&s.releases)
            if m.has_free(m.state, m.occ, ask_of(s, head)):
                self.time = s.now
                memcpy(self.later, m.occ, <size_t>m.words * sizeof(uint64_t))
                while n < s.releases.n and items[n].end <= s.now:
                    n += 1
                m.release(m.state, items, n, self.later)
            else:
                self.time = placed_shadow(s, items, s.releases.n, m.occ, ask_of(s, head), self.later)
            self.extra = 0
            if self.time != INFINITY:
                self.extra = m.nodes - mask_count(self.later, m.words) - s.need[head]
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
        return end_if_started_at(self.s, j, self.s.now if at is None else at)

    def shadow(self, job):
        """When a waiting job could start if running jobs end as expected, and the nodes that it would leave over then.

        Returns
        -------
        (float, int)
            Seconds, ``inf`` if never (model.md#easy); nodes.
        """
        _inside = self.enter(True)
        cdef int32_t j = self.find(job)
        self.waiting_at(j)
        self.look_ahead(j)
        return self.time, self.extra
