"""The jobs of a moment as columns; the contract is in job_columns.pxd."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t

import numpy as np

from faultsim import checks
from faultsim.errors import DecisionError

from faultsim._core.containers.releases cimport releases_all
from faultsim._core.door cimport Inside
from faultsim._core.faults.progress cimport at_t, progress_locate
from faultsim._core.state cimport JOB_HELD, JOB_QUEUED, JOB_RUNNING, log_row, queue_t, sim_t

cdef enum column_of:
    C_SUBMIT
    C_ESTIMATE
    C_KEPT
    C_START
    C_EXPECTED
    C_PROGRESS
    C_SAFE


cdef object ints(const int32_t *values, Py_ssize_t n):
    """A read-only array of its own."""
    return np.frombuffer(PyBytes_FromStringAndSize(<const char *>values, n * sizeof(int32_t)), np.int32)


cdef class Moment:
    """What can be read until the simulation goes on."""

    cdef Inside enter(self, bint brief):
        if self.s == NULL:
            raise DecisionError("a Decision comes from Simulation.advance, or is given to Scheduler.schedule")
        return self.door.enter(brief)

    cdef int check(self) except -1:
        if self.s.closed:
            self.refuse("the simulation is in the middle of an act, and the policy that is asked cannot look at it")
        if self.number != self.s.n_decisions:
            self.refuse(f"this decision (at {self.at:g} s) is over: the simulation has gone on")
        return 0

    cdef object refuse(self, str text):
        raise DecisionError(text)

    cdef int refuse_unless_named(self) except -1:
        if not self.s.machine.named:
            self.refuse("this run only counts its nodes, as nothing asks which they are: use External() or record=True")
        return 0


cdef class Rows:
    """The rows of jobs at one moment, one by one."""

    cdef const int32_t[::1] rows
    cdef Py_ssize_t at

    def __cinit__(self, const int32_t[::1] rows):
        self.rows = rows

    def __iter__(self):
        return self

    def __next__(self):
        if self.at == self.rows.shape[0]:
            raise StopIteration
        self.at += 1
        return self.rows[self.at - 1]


cdef class Jobs:
    """Jobs as columns.  Each look is at the jobs as they are then.

    Further columns of the log are there by their names.  `runtime`, the true run times (s), is for oracles only
    (model.md#oracle).

    With a number in brackets, `jobs[0]`, it is the row of a job; with a slice, a mask or an array of numbers, these
    jobs with the same columns, as long as they wait, or hold nodes; with a name, `jobs["size"]`, a column.
    """

    columns = ()     # that are attributes

    def __cinit__(self, Moment moment not None):
        _inside = moment.enter(True)
        moment.check()       # its memory is read from here on
        self.moment = moment

    cdef object numbers(self):
        raise NotImplementedError

    cdef bint is_there(self, int32_t job):
        """Whether a chosen job is still among those of this kind."""
        raise NotImplementedError

    cdef object those_left(self):
        """Of the chosen jobs."""
        cdef const int32_t[::1] job = self.chosen
        cdef int32_t[::1] out
        cdef Py_ssize_t i, n = 0
        self.moment.check()
        found = np.empty(job.shape[0], np.int32)
        out = found
        for i in range(job.shape[0]):
            if self.is_there(job[i]):
                out[n] = job[i]
                n += 1
        return found[:n]

    cdef object pick(self, object places):
        """The numbers of the jobs at a slice or an array of places."""
        return self.numbers()[places]

    def __getitem__(self, key):
        cdef Jobs other
        _inside = self.moment.enter(True)
        if isinstance(key, str):
            return self.named(key)
        if isinstance(key, slice):
            places = key
        elif not isinstance(key, (list, np.ndarray)):
            return self.row_at(key)
        else:
            places = np.asarray(key)
            n = len(self)
            if places.dtype == np.bool_ and places.shape != (n,):
                raise IndexError(f"a mask of these jobs has {n} booleans, got an array of shape {places.shape}")
            if places.ndim != 1 or places.dtype.kind not in "bui" and len(places):
                raise IndexError(f"jobs are chosen by a slice, a mask or whole numbers, got {key!r:.60}")
            if places.dtype != np.bool_:
                places = places.astype(np.int64)
                if ((places >= n) | (places < -n)).any():
                    raise IndexError(f"there are {n} of these jobs, got {key!r:.60}")
        chosen = np.ascontiguousarray(self.pick(places), np.int32)
        other = type(self).__new__(type(self), self.moment)
        other.chosen = chosen
        return other

    cdef object row_at(self, object key):
        """The row of the job at a place."""
        cdef Py_ssize_t n = len(self), at
        cdef const int32_t[::1] one
        if not hasattr(key, "__index__") or isinstance(key, (bool, np.bool_)):
            raise TypeError(
                f"jobs are chosen by a whole number, a slice, a mask or the name of a column, got {key!r:.60}")
        place = key.__index__()
        if not -n <= place < n:
            raise IndexError(f"there are {n} of these jobs, got {key}")
        at = place + n if place < 0 else place
        one = self.pick(slice(at, at + 1))
        return log_row(self.moment.s, one[0])

    cdef object named(self, str name):
        if name in self.columns:
            return getattr(self, name)
        try:
            return self.__getattr__(name)
        except AttributeError:
            known = dict.fromkeys([*self.columns, *self.moment.engine.names_of_columns()])
            raise KeyError(f"there is no column {name!r} of these jobs{checks.did_you_mean(name, known)}; known: "
                           f"{', '.join(known)}") from None

    def __len__(self):
        _inside = self.moment.enter(True)
        return len(self.numbers())

    def __iter__(self):
        return Rows(self.index)

    def tolist(self):
        """Rows of the jobs, as a list of ints."""
        return self.index.tolist()

    @property
    def index(self):
        """Rows of the jobs (int32)."""
        _inside = self.moment.enter(True)
        found = self.numbers()
        return found if self.moment.s.row == NULL else counts(self.moment.s.row, found)

    @property
    def submit(self):
        """Submit times (s)."""
        _inside = self.moment.enter(True)
        return job_column(self.moment.s, self.numbers(), C_SUBMIT)

    @property
    def estimate(self):
        """Estimated run times (s)."""
        _inside = self.moment.enter(True)
        return job_column(self.moment.s, self.numbers(), C_ESTIMATE)

    @property
    def restarts(self):
        """How often each was killed (int32)."""
        _inside = self.moment.enter(True)
        return counts(self.moment.s.restarts, self.numbers())

    def __getattr__(self, name):
        _inside = self.moment.enter(True)
        if name == "runtime":
            return self.moment.engine.runtimes_of(self.moment.reader, self.numbers())
        return self.moment.engine.column_of(name, self.index, self)


cdef class Waiting(Jobs):
    """The waiting jobs in queue order."""

    columns = ("index", "submit", "wait", "estimate", "size", "restarts", "saved", "fits")

    cdef object numbers(self):
        cdef queue_t *q = &self.moment.s.queue
        if self.chosen is not None:
            return self.those_left()
        self.moment.check()
        return ints(&q.job[q.head], q.end - q.head)

    cdef bint is_there(self, int32_t job):
        return self.moment.s.state[job] == JOB_QUEUED

    cdef object pick(self, object places):
        """A slice costs what it has, however long the queue is."""
        cdef const queue_t *q = &self.moment.s.queue
        cdef int32_t[::1] out
        cdef Py_ssize_t begin, end, step, i
        if self.chosen is not None or not isinstance(places, slice):
            return self.numbers()[places]
        self.moment.check()
        begin, end, step = places.indices(q.end - q.head)
        found = np.empty(len(range(begin, end, step)), np.int32)
        out = found
        for i in range(out.shape[0]):
            out[i] = q.job[q.head + begin + i * step]
        return found

    def __len__(self):
        _inside = self.moment.enter(True)
        if self.chosen is not None:
            return len(self.those_left())
        self.moment.check()
        return self.moment.s.queue.end - self.moment.s.queue.head

    def tolist(self):
        """Rows of the jobs, as a list of ints."""
        cdef Moment d = self.moment
        cdef queue_t *q = &d.s.queue
        cdef int32_t i
        _inside = d.enter(True)
        if self.chosen is not None:
            return self.index.tolist()
        d.check()
        return [log_row(d.s, q.job[i]) for i in range(q.head, q.end)]

    @property
    def wait(self):
        """Time since submission (s)."""
        _inside = self.moment.enter(True)
        return self.moment.s.now - self.submit

    @property
    def size(self):
        """Nodes that the jobs ask for (int32)."""
        _inside = self.moment.enter(True)
        return counts(self.moment.s.size, self.numbers())

    @property
    def saved(self):
        """Progress that each starts with (s of its run time)."""
        _inside = self.moment.enter(True)
        return job_column(self.moment.s, self.numbers(), C_KEPT)

    @property
    def fits(self):
        """Whether each could start now (bool), as `Decision.fits`."""
        _inside = self.moment.enter(True)
        fits = self.moment.fits
        return np.array([fits(job) for job in self.tolist()], np.bool_)


cdef class Running(Jobs):
    """The jobs that hold nodes, ascending by row."""

    columns = (
        "index", "submit", "estimate", "size", "restarts", "start", "expected_end", "progress", "saved", "where",
    )

    cdef object numbers(self):
        cdef sim_t *s = self.moment.s
        cdef int32_t[::1] out
        cdef int32_t i
        cdef Py_ssize_t n = 0
        if self.chosen is not None:
            return self.those_left()
        self.moment.check()
        items = releases_all(&s.releases)
        found = np.empty(s.releases.n, np.int32)
        out = found
        for i in range(s.releases.n):
            if items[i].job >= 0:
                out[n] = items[i].job
                n += 1
        found = found[:n]
        found.sort()
        return found if s.row == NULL else np.array(sorted(found.tolist(), key=self.moment.engine.row_key), np.int32)

    def __len__(self):
        cdef int32_t i
        cdef Py_ssize_t n = 0
        _inside = self.moment.enter(True)
        if self.chosen is not None:
            return len(self.those_left())
        self.moment.check()
        items = releases_all(&self.moment.s.releases)
        for i in range(self.moment.s.releases.n):
            n += items[i].job >= 0
        return n

    cdef bint is_there(self, int32_t job):
        return self.moment.s.state[job] == JOB_RUNNING or self.moment.s.state[job] == JOB_HELD

    cdef object followed(self):
        """The same, if it is known how far each is."""
        cdef sim_t *s = self.moment.s
        found = self.numbers()
        if not s.track.on and s.migration.cost > 0 and counts(s.moves, found).any():
            self.moment.refuse("this run does not follow jobs that pause: use External() to see how far they are")
        return found

    @property
    def size(self):
        """Nodes that the jobs hold (int32): on a torus those of their boxes."""
        _inside = self.moment.enter(True)
        return counts(self.moment.s.allocated, self.numbers())

    @property
    def start(self):
        """Start times (s)."""
        _inside = self.moment.enter(True)
        return job_column(self.moment.s, self.numbers(), C_START)

    @property
    def expected_end(self):
        """When each is expected to end (s), by its estimate; it may have passed (model.md#overrun)."""
        _inside = self.moment.enter(True)
        return job_column(self.moment.s, self.numbers(), C_EXPECTED)

    @property
    def progress(self):
        """Work done (s of the run time)."""
        _inside = self.moment.enter(True)
        return job_column(self.moment.s, self.followed(), C_PROGRESS)

    @property
    def saved(self):
        """Work that a failure now would leave (s of the run time)."""
        _inside = self.moment.enter(True)
        return job_column(self.moment.s, self.followed(), C_SAFE)

    @property
    def where(self):
        """Where each is: a box (x, y, z, a, b, c) or a list of boxes per job; on a cluster arrays of nodes."""
        _inside = self.moment.enter(True)
        jobs = self.numbers().tolist()
        self.moment.refuse_unless_named()
        return [self.moment.engine.nodes_of(job) for job in jobs]


cdef object counts(const int32_t *values, object jobs):
    cdef const int32_t[::1] job = jobs
    found = np.empty(job.shape[0], np.int32)
    cdef int32_t[::1] out = found
    cdef Py_ssize_t i
    for i in range(job.shape[0]):
        out[i] = values[job[i]]
    return found


cdef object job_column(const sim_t *s, object jobs, column_of which):
    cdef const int32_t[::1] job = jobs
    found = np.empty(job.shape[0], np.float64)
    cdef double[::1] out = found
    cdef Py_ssize_t i
    cdef int32_t j
    cdef at_t at
    for i in range(job.shape[0]):
        j = job[i]
        if which == C_SUBMIT:
            out[i] = s.submit[j]
        elif which == C_ESTIMATE:
            out[i] = s.estimate[j]
        elif which == C_KEPT:
            out[i] = s.track.saved[j] if s.restarts[j] > 0 else 0.0
        elif which == C_START:
            out[i] = s.start[j]
        elif which == C_EXPECTED:
            out[i] = s.expected[j]
        elif not s.track.on:
            out[i] = max(0.0, s.now - s.start[j]) if which == C_PROGRESS else 0.0
        elif s.now < s.start[j]:
            out[i] = s.track.at[j].safe
        else:
            progress_locate(s, j, s.now, &at)
            out[i] = at.progress if which == C_PROGRESS else at.safe
    return found
