"""Queue orders written in Python (model.md#orders): a call of `QueueOrder.keys` costs two microseconds and some
nanoseconds per job; columns that the order does not read cost nothing.
"""

from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBUF_WRITABLE, PyBuffer_Release, PyObject_CheckBuffer,
    PyObject_GetBuffer,
)
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

import numpy as np

from faultsim._core.containers.memory cimport open_state, own_jobs
from faultsim._core.orders.by_entry cimport by_entry_t, first_nan, follow_queue, open_by_entry, sort_by_keys
from faultsim._core.state cimport sim_t
from faultsim._core.status cimport OK, PYTHON_ERROR
from faultsim._core.tables.factory cimport factory

cdef object empty = np.empty
cdef object FLOAT = np.dtype(np.float64)
cdef object INT = np.dtype(np.int32)

cdef struct python_order_t:
    by_entry_t line
    double *key
    PyObject *ask            # keys(queue, now) of the user's order; the engine keeps these
    PyObject *check          # makes an array of what that gave, or raises


cdef object new_column(object dtype, int32_t n, Py_buffer *view):
    cdef object column = empty(n, dtype)
    PyObject_GetBuffer(column, view, PyBUF_WRITABLE)
    return column


cdef object doubles(const double *column, const int32_t *job, int32_t n):
    cdef Py_buffer view
    cdef object made = new_column(FLOAT, n, &view)
    cdef double *to = <double *>view.buf
    cdef int32_t i
    for i in range(n):
        to[i] = column[job[i]]
    PyBuffer_Release(&view)
    return made


cdef object integers(const int32_t *column, const int32_t *job, int32_t n):
    cdef Py_buffer view
    cdef object made = new_column(INT, n, &view)
    cdef int32_t *to = <int32_t *>view.buf
    cdef int32_t i
    if column == NULL:
        memcpy(to, job, <size_t>n * sizeof(int32_t))
    else:
        for i in range(n):
            to[i] = column[job[i]]
    PyBuffer_Release(&view)
    return made


cdef class QueueColumns:
    """The argument of `QueueOrder.keys`; a column is made when it is first read, and belongs to the order."""

    cdef object owner        # keeps the engine's columns
    cdef bytes jobs
    cdef int32_t n
    cdef const double *submits
    cdef const double *estimates
    cdef const int32_t *sizes
    cdef const int32_t *kills
    cdef const int32_t *row
    cdef object made_index, made_submit, made_estimate, made_size, made_restarts

    cdef const int32_t *job(self):
        return <const int32_t *><const char *>self.jobs

    def __len__(self):
        return self.n

    @property
    def index(self):
        """Row in the workload that the run was given."""
        if self.made_index is None:
            self.made_index = integers(self.row, self.job(), self.n)
        return self.made_index

    @property
    def submit(self):
        """Seconds."""
        if self.made_submit is None:
            self.made_submit = doubles(self.submits, self.job(), self.n)
        return self.made_submit

    @property
    def estimate(self):
        """Seconds."""
        if self.made_estimate is None:
            self.made_estimate = doubles(self.estimates, self.job(), self.n)
        return self.made_estimate

    @property
    def size(self):
        """Nodes."""
        if self.made_size is None:
            self.made_size = integers(self.sizes, self.job(), self.n)
        return self.made_size

    @property
    def restarts(self):
        """How often failures have killed the job."""
        if self.made_restarts is None:
            self.made_restarts = integers(self.kills, self.job(), self.n)
        return self.made_restarts

    def __getattr__(self, str name):
        """A further column of the log, or the true run times for an oracle (model.md#oracle)."""
        if name == "runtime":
            return self.owner.runtimes_of("order", np.frombuffer(self.jobs, np.int32))
        return self.owner.column_of(name, self.index, self)


cdef bint copy_keys(const Py_buffer *view, int32_t n, double *key) noexcept:
    """The numbers in a buffer; False if they are of another kind or number, or not all numbers."""
    cdef int32_t i
    if view.ndim != 1 or view.shape[0] != n or view.format == NULL or view.format[0] == 0 or view.format[1] != 0:
        return False
    if view.format[0] == c'd':
        memcpy(key, view.buf, <size_t>n * sizeof(double))
        return first_nan(key, n) < 0
    if view.format[0] in (c'i', c'l', c'q') and view.itemsize == sizeof(int32_t):
        for i in range(n):
            key[i] = (<const int32_t *>view.buf)[i]
        return True
    if view.format[0] in (c'l', c'q') and view.itemsize == sizeof(int64_t):
        for i in range(n):
            key[i] = <double>(<const int64_t *>view.buf)[i]
        return True
    return False


cdef bint take_array(object given, int32_t n, double *key) except -1:
    cdef Py_buffer view
    cdef bint taken
    if not PyObject_CheckBuffer(given):
        return False
    try:
        PyObject_GetBuffer(given, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
    except (BufferError, ValueError):       # not contiguous, or of objects
        return False
    taken = copy_keys(&view, n, key)
    PyBuffer_Release(&view)
    return taken


cdef int ask(python_order_t *p, sim_t *s) except -1:
    cdef QueueColumns queue = QueueColumns.__new__(QueueColumns)
    queue.owner = <object><PyObject *>s.owner
    queue.n = p.line.n
    queue.jobs = (<const char *>p.line.job)[:p.line.n * sizeof(int32_t)]
    queue.submits, queue.estimates, queue.sizes, queue.kills = s.submit, s.estimate, s.size, s.restarts
    queue.row = s.row
    given = (<object>p.ask)(queue, s.now)
    if not take_array(given, p.line.n, p.key):
        given = (<object>p.check)(given, queue, s.now)
        if not take_array(given, p.line.n, p.key):
            raise ValueError("keys: one number for each waiting job was expected")
    return 0


cdef int sort(void *state, void *sim) noexcept nogil:
    cdef python_order_t *p = <python_order_t *>state
    cdef sim_t *s = <sim_t *>sim
    if s.queue.end == s.queue.head:
        return OK
    follow_queue(&p.line, s)
    with gil:
        try:
            ask(p, s)
        except BaseException as error:
            (<object><PyObject *>s.owner).keep_error(error)
            return PYTHON_ERROR
    sort_by_keys(&p.line, s, p.key)
    return OK


def unchecked(given, queue, now):
    """For orders without a guard of their own."""
    return np.ascontiguousarray(given, np.float64)


cdef int open_python(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef python_order_t *p = <python_order_t *>open_state(&s.order, sizeof(python_order_t))
    order = options["object"]
    calls = getattr(order, "ask", order.keys), getattr(order, "checked", unchecked)
    columns["kept"].append(calls)
    p.ask, p.check = <PyObject *>calls[0], <PyObject *>calls[1]
    open_by_entry(p, &p.line, s.n)
    own_jobs(p, &p.key, s.n, sizeof(double))
    s.order.sort = sort
    return 0


PYTHON = factory(open_python)
