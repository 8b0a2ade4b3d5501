"""Queue orders compiled elsewhere: one call of a C function for the queue (faultsim/policy.h)."""

from cpython.ref cimport PyObject
from libc.math cimport NAN
from libc.stdint cimport int32_t, uintptr_t

from faultsim._core.containers.memory cimport open_state, own_block
from faultsim._core.scheduling.by_place cimport (
    by_place_t, first_nan, follow_queue, open_by_place, refuse_key, sort_by_keys,
)
from faultsim._core.state cimport sim_t
from faultsim._core.status cimport OK
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.outside cimport faultsim_queue_keys_t

cdef struct compiled_order_t:
    by_place_t line
    faultsim_queue_keys_t function
    void *user_data          # as `function`: what the user's object, which the engine keeps, keeps
    PyObject *refused        # makes the exception for a key that is no number
    double *submit           # the columns that the function sees
    double *estimate
    double *size
    double *key


cdef int sort(void *state, void *sim) noexcept nogil:
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
        p.key[i] = NAN       # what it does not write is told
    p.function(p.line.n, p.submit, p.estimate, p.size, s.now, p.key, p.user_data)
    i = first_nan(p.key, p.line.n)
    if i >= 0:
        return refuse_key(s, p.refused, p.line.job[i])
    sort_by_keys(&p.line, s, p.key)
    return OK


cdef int open_compiled(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef compiled_order_t *p = <compiled_order_t *>open_state(&s.order, sizeof(compiled_order_t))
    order = getattr(options["object"], "order", options["object"])
    refused = order.refused
    columns["kept"].append((order, refused))
    p.function = <faultsim_queue_keys_t><uintptr_t>order.address
    p.user_data = <void *><uintptr_t>order.user_data
    p.refused = <PyObject *>refused
    open_by_place(p, &p.line, s.n)
    own_block(p, &p.submit, s.n, sizeof(double))
    own_block(p, &p.estimate, s.n, sizeof(double))
    own_block(p, &p.size, s.n, sizeof(double))
    own_block(p, &p.key, s.n, sizeof(double))
    s.order.sort = sort
    return 0


COMPILED = factory(open_compiled)
