"""Dynamic queue orders (MODEL 6): WFP3 and UNICEF of Tang et al. 2009, and a user's own in Python."""

from cpython.ref cimport PyObject
from libc.math cimport log2, pow
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free as c_free, malloc, qsort

from faultsim._core.state cimport NO_MEMORY, OK, PYTHON_ERROR, sim_t

cdef struct keyed_t:
    double key
    int64_t place            # ties: who entered the queue first
    int32_t job


cdef int by_key(const void *a, const void *b) noexcept nogil:
    cdef const keyed_t *p = <const keyed_t *>a
    cdef const keyed_t *q = <const keyed_t *>b
    if p.key != q.key:
        return -1 if p.key < q.key else 1
    return (p.place > q.place) - (p.place < q.place)


cdef int sort_by(sim_t *s, double (*key_of)(const sim_t *s, int32_t job) noexcept nogil) noexcept nogil:
    cdef int32_t count = s.wait.end - s.wait.head, i
    cdef int32_t *job = &s.wait.job[s.wait.head]
    cdef keyed_t *items
    if count < 2:
        return OK
    items = <keyed_t *>malloc(<size_t>count * sizeof(keyed_t))
    if items == NULL:
        return NO_MEMORY
    for i in range(count):
        items[i].job = job[i]
        items[i].place = s.entry[job[i]] if s.entry != NULL else job[i]
        items[i].key = key_of(s, job[i])
    qsort(items, <size_t>count, sizeof(keyed_t), by_key)
    for i in range(count):
        job[i] = items[i].job
    c_free(items)
    return OK


cdef double wfp3_key(const sim_t *s, int32_t job) noexcept nogil:
    cdef double estimate = s.estimate[job] if s.estimate[job] > 1.0 else 1.0
    return -pow((s.now - s.submit[job]) / estimate, 3.0) * s.size[job]


cdef double unicef_key(const sim_t *s, int32_t job) noexcept nogil:
    cdef double estimate = s.estimate[job] if s.estimate[job] > 1.0 else 1.0
    cdef double size = s.size[job] if s.size[job] > 2 else 2.0
    return -(s.now - s.submit[job]) / (log2(size) * estimate)


cdef int order_wfp3(sim_t *s) noexcept nogil:
    return sort_by(s, wfp3_key)


cdef int order_unicef(sim_t *s) noexcept nogil:
    return sort_by(s, unicef_key)


cdef int order_python(sim_t *s) noexcept nogil:
    cdef int32_t count = s.wait.end - s.wait.head, i
    cdef int32_t[::1] job
    if count == 0:
        return OK
    with gil:
        try:
            order = (<object><PyObject *>s.policy.owner).sorted_by_python(
                <object><PyObject *>s.policy.python_order, [s.wait.job[s.wait.head + i] for i in range(count)], s.now)
            job = order
            for i in range(count):
                s.wait.job[s.wait.head + i] = job[i]
        except BaseException as error:
            (<object><PyObject *>s.policy.owner).keep_error(error)
            return PYTHON_ERROR
    return OK
