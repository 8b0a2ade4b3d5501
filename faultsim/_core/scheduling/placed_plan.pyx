"""What all reservations and what runs take; the contract is in placed_plan.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memset

from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.scheduling.refusals cimport refuse_from, refuse_none
from faultsim._core.scheduling.steps cimport steps_before, steps_begin, steps_give, steps_take
from faultsim._core.state cimport sim_t
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.machine cimport machine_t, place_t


cdef int take(plan_t *p, sim_t *s, double begin, double end, const place_t *place) noexcept nogil:
    if not begin < end or end <= s.now:
        return OK
    put_alone(s, p.window, place)
    widen(&p.changed, begin, end)
    return steps_take(p, &p.steps, &s.machine, s.now, begin, end, p.window)


cdef void give(plan_t *p, sim_t *s, double begin, double end, const place_t *place) noexcept nogil:
    if not begin < end or end <= s.now:
        return
    put_alone(s, p.window, place)
    widen(&p.changed, begin, end)
    steps_give(&p.steps, &s.machine, s.now, begin, end, p.window)
    refuse_from(&p.refused, s.now, s.start_delay, begin)


cdef inline void add_release(plan_t *p, sim_t *s, int32_t i) noexcept nogil:
    """What comes back with a release into p.window."""
    cdef machine_t *m = &s.machine
    cdef int32_t job = releases_all(&s.releases)[i].job
    cdef place_t place
    if job < 0:
        m.mark(m.state, p.window, -1 - job)
    else:
        place = m.place_of(m.state, job)
        m.put(m.state, p.window, &place)


cdef int build(plan_t *p, sim_t *s) noexcept nogil:
    cdef const release_t *items = releases_all(&s.releases)
    cdef machine_t *m = &s.machine
    cdef int32_t i, edges
    cdef double end
    memset(p.window, 0, <size_t>m.words * sizeof(uint64_t))
    if s.trace.n_down > 0 and not s.trace.repairs_known:
        for i in range(s.nodes):
            if s.trace.down[i]:
                m.mark(m.state, p.window, i)
    i = s.releases.n - 1
    while i >= 0 and items[i].end == INFINITY:
        add_release(p, s, i)
        i -= 1
    if steps_begin(p, &p.steps, m, s.now, p.window) < 0:
        return NO_MEMORY
    # From the last release to the first: each ends a step, in which it is taken and so is all that ends later.
    while i >= 0 and items[i].end > s.now:
        end = items[i].end
        edges = 0
        memset(p.window, 0, <size_t>m.words * sizeof(uint64_t))
        while i >= 0 and items[i].end == end:
            add_release(p, s, i)
            edges += 1
            i -= 1
        if steps_before(p, &p.steps, m, s.now, end, edges, p.window) < 0:
            return NO_MEMORY
    for i in range(s.queue.head, s.queue.end):
        p.begin[s.queue.job[i]] = INFINITY
    refuse_none(&p.refused)
    empty(&p.freed)
    return OK
