"""Queue orders that change with time (model.md#orders): WFP3 and UNICEF of [tang2009].

Each sorts the queue by (key at now, place of entry), smallest first.
"""

from libc.math cimport log2, pow
from libc.stdint cimport int32_t

from faultsim._core.containers.memory cimport open_state
from faultsim._core.scheduling.sorting cimport open_sorter, place_of, reorder, sorter_t
from faultsim._core.tables.factory cimport factory
from faultsim._core.state cimport sim_t
from faultsim._core.status cimport OK

cdef struct order_state_t:
    double (*key_of)(const sim_t *s, int32_t job) noexcept nogil
    sorter_t sorter


cdef int sort(void *state, void *sim) noexcept nogil:
    cdef order_state_t *p = <order_state_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef int32_t count = s.queue.end - s.queue.head, i
    cdef int32_t *job = &s.queue.job[s.queue.head]
    if count < 2:
        return OK
    for i in range(count):
        p.sorter.item[i].job = job[i]
        p.sorter.item[i].place = place_of(s, job[i])
        p.sorter.item[i].key = p.key_of(s, job[i])
    reorder(&p.sorter, s)
    return OK


cdef double wfp3_key(const sim_t *s, int32_t job) noexcept nogil:
    cdef double estimate = s.estimate[job] if s.estimate[job] > 1.0 else 1.0
    return -pow((s.now - s.submit[job]) / estimate, 3.0) * s.size[job]


cdef double unicef_key(const sim_t *s, int32_t job) noexcept nogil:
    cdef double estimate = s.estimate[job] if s.estimate[job] > 1.0 else 1.0
    cdef double size = s.size[job] if s.size[job] > 2 else 2.0
    return -(s.now - s.submit[job]) / (log2(size) * estimate)


cdef order_state_t *open_order(void *sim) except NULL:
    cdef sim_t *s = <sim_t *>sim
    cdef order_state_t *p = <order_state_t *>open_state(&s.order, sizeof(order_state_t))
    s.order.sort = sort
    open_sorter(p, &p.sorter, s.n)
    return p


cdef int open_wfp3(void *sim, dict options, dict columns) except -1:
    open_order(sim).key_of = wfp3_key
    return 0


cdef int open_unicef(void *sim, dict options, dict columns) except -1:
    open_order(sim).key_of = unicef_key
    return 0


cdef int open_static(void *sim, dict options, dict columns) except -1:
    """The arrival order, or one by a key that never changes: a column of one value per job."""
    cdef const double[::1] key
    if columns.get("queue_key") is not None:
        key = columns["queue_key"]
        if key.shape[0] != (<sim_t *>sim).n:
            raise ValueError(f"queue_key: expected {(<sim_t *>sim).n} values, got {key.shape[0]}")
        (<sim_t *>sim).queue.key = &key[0]
    return 0


STATIC = factory(open_static)
WFP3 = factory(open_wfp3)
UNICEF = factory(open_unicef)
