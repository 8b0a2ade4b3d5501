"""Queue orders that change with time (model.md#orders): WFP3 and UNICEF of [tang2009], and those compiled elsewhere, by
one call of a C function for the queue (faultsim/policy.h).

Each sorts the queue by (key at now, number of entry), smallest first.
"""

import numpy as np

from cpython.ref cimport PyObject
from libc.math cimport NAN, cbrt, log2, pow
from libc.stdint cimport int32_t, uintptr_t

from faultsim._core.containers.memory cimport open_state, own_jobs
from faultsim._core.orders.by_entry cimport (
    by_entry_t, first_nan, follow_queue, open_by_entry, refuse_key, sort_by_keys,
)
from faultsim._core.orders.by_slope cimport sort_by_slope
from faultsim._core.orders.sorting cimport entry_of, open_sorter, reorder, sorter_t
from faultsim._core.state cimport sim_t
from faultsim._core.status cimport OK
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.outside cimport faultsim_queue_keys_t

# ------------------------------------------------------------------------------------------------------- of faultsim

cdef struct order_state_t:
    sorter_t sorter
    double *slope            # per job; NULL: jobs may come that are not known yet


cdef int sort(void *state, void *sim) noexcept nogil:
    cdef order_state_t *p = <order_state_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef int32_t count = s.queue.end - s.queue.head, i
    cdef int32_t *job = &s.queue.job[s.queue.head]
    if count < 2 or (p.slope != NULL and sort_by_slope(&p.sorter, s, p.slope)):
        return OK
    for i in range(count):
        p.sorter.item[i].job = job[i]
        p.sorter.item[i].entry = entry_of(s, job[i])
        p.sorter.item[i].key = s.order.key_of(s, job[i])
    reorder(&p.sorter, s)
    return OK


cdef inline double length(const sim_t *s, int32_t job) noexcept nogil:
    return s.estimate[job] if s.estimate[job] > 1.0 else 1.0


cdef inline double log_size(const sim_t *s, int32_t job) noexcept nogil:
    return log2(s.size[job] if s.size[job] > 2 else 2.0)


cdef double wfp3_key(const void *sim, int32_t job) noexcept nogil:
    cdef const sim_t *s = <const sim_t *>sim
    return -pow((s.now - s.submit[job]) / length(s, job), 3.0) * s.size[job]


cdef double slope_of(const void *sim, int32_t job) noexcept nogil:
    return (<const order_state_t *>(<const sim_t *>sim).order.state).slope[job]


cdef double wfp3_slope(const sim_t *s, int32_t job) noexcept nogil:
    """The cube root is a line."""
    return cbrt(s.size[job]) / length(s, job)


cdef double unicef_key(const void *sim, int32_t job) noexcept nogil:
    cdef const sim_t *s = <const sim_t *>sim
    return -(s.now - s.submit[job]) / (log_size(s, job) * length(s, job))


cdef double unicef_slope(const sim_t *s, int32_t job) noexcept nogil:
    return 1.0 / (log_size(s, job) * length(s, job))


cdef int open_order(void *sim, double (*key)(const void *, int32_t) noexcept nogil,
                    double (*slope)(const sim_t *, int32_t) noexcept nogil) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef order_state_t *p = <order_state_t *>open_state(&s.order, sizeof(order_state_t))
    cdef int32_t i
    s.order.sort, s.order.key_of = sort, key
    open_sorter(p, &p.sorter, s.n)
    if s.known == s.n:
        own_jobs(p, &p.slope, s.n, sizeof(double))
        for i in range(s.n):
            p.slope[i] = slope(s, i)
        s.order.slope_of = slope_of
    return 0


cdef int open_wfp3(void *sim, dict options, dict columns) except -1:
    return open_order(sim, wfp3_key, wfp3_slope)


cdef int open_unicef(void *sim, dict options, dict columns) except -1:
    return open_order(sim, unicef_key, unicef_slope)


cdef int open_static(void *sim, dict options, dict columns) except -1:
    """The arrival order, or one by a key that never changes: a column of one value per job."""
    cdef const double[::1] key
    if columns.get("queue_key") is not None:
        key = columns["queue_key"]
        if key.shape[0] != (<sim_t *>sim).n:
            raise ValueError(f"queue_key: expected {(<sim_t *>sim).n} values, got {key.shape[0]}")
        (<sim_t *>sim).queue.key = &key[0]
    return 0


# ------------------------------------------------------------------------------------------------ compiled elsewhere

cdef struct compiled_order_t:
    by_entry_t line
    faultsim_queue_keys_t function
    void *user_data          # as `function`: what the user's object, which the engine keeps, keeps
    PyObject *refused        # makes the exception for a key that is no number
    double *submit           # the columns that the function sees
    double *estimate
    double *size
    double *key


cdef int sort_by_function(void *state, void *sim) noexcept nogil:
    cdef compiled_order_t *p = <compiled_order_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef int32_t i, job
    if s.queue.end == s.queue.head:
        return OK
    follow_queue(&p.line, s)
    for i in range(p.line.n):
        job = p.line.job[i]
        p.submit[i] = s.submit[job]
        p.estimate[i] = s.estimate[job]
        p.size[i] = s.size[job]
        p.key[i] = NAN       # a key that the function does not write is reported
    p.function(p.line.n, p.submit, p.estimate, p.size, s.now, p.key, p.user_data)
    i = first_nan(p.key, p.line.n)
    if i >= 0:
        return refuse_key(s, p.refused, p.line.job[i])
    sort_by_keys(&p.line, s, p.key)
    return OK


cdef int open_compiled_order(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef compiled_order_t *p
    cdef const double[::1] key
    order = getattr(options["object"], "order", options["object"])
    if order.static:
        rows = range(s.known) if s.row == NULL else np.asarray(<const int32_t[:s.known]>s.row)
        key = order.static_keys(rows, np.asarray(<const double[:s.known]>s.submit),
                                np.asarray(<const double[:s.known]>s.estimate),
                                np.asarray(<const int32_t[:s.known]>s.size))
        columns["kept"].append(key)
        if s.known == s.n:       # else keys of jobs that come later are as easily computed with the others
            s.queue.key = &key[0]
            return 0
    p = <compiled_order_t *>open_state(&s.order, sizeof(compiled_order_t))
    refused = order.refused
    columns["kept"].append((order, refused))
    p.function = <faultsim_queue_keys_t><uintptr_t>order.address
    p.user_data = <void *><uintptr_t>order.user_data
    p.refused = <PyObject *>refused
    open_by_entry(p, &p.line, s.n)
    own_jobs(p, &p.submit, s.n, sizeof(double))
    own_jobs(p, &p.estimate, s.n, sizeof(double))
    own_jobs(p, &p.size, s.n, sizeof(double))
    own_jobs(p, &p.key, s.n, sizeof(double))
    s.order.sort = sort_by_function
    return 0


STATIC = factory(open_static)
WFP3 = factory(open_wfp3)
UNICEF = factory(open_unicef)
COMPILED = factory(open_compiled_order)
