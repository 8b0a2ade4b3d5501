"""The pool of spare nodes; the contract is in fars_spares.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport uint64_t
from libc.stdlib cimport free as c_free, malloc, qsort
from libc.string cimport memcpy

from faultsim._core.torus.finder_bitmap cimport has_free
from faultsim._core.containers.releases cimport releases_shadow
from faultsim._core.scheduling.easy_placed cimport give, torus_shadow
from faultsim._core.state cimport NO_MEMORY, plan_t
from faultsim._core.torus.occupancy cimport box_size, occ_count

cdef struct change_t:        # of the number of free nodes
    double time
    int64_t nodes


cdef int by_time(const void *a, const void *b) noexcept nogil:
    cdef double p = (<const change_t *>a).time, q = (<const change_t *>b).time
    return (p > q) - (p < q)


cdef int64_t least_free(sim_t *s) noexcept nogil:
    """The least number of nodes free at any time from now on, with all reservations of the last pass in."""
    cdef const plan_t *p = &s.plan
    cdef change_t *c
    cdef int64_t level = s.free, least, reserved
    cdef int32_t i, job, n = 0
    c = <change_t *>malloc(<size_t>(s.releases.n + 2 * (s.wait.end - s.wait.head) + 1) * sizeof(change_t))
    if c == NULL:
        return NO_MEMORY
    for i in range(s.releases.n):
        c[n].time = s.releases.items[i].end
        c[n].nodes = s.releases.items[i].nodes
        n += 1
    for i in range(s.wait.head, s.wait.end):
        job = s.wait.job[i]
        if not p.begin[job] < p.end[job]:        # none, or of no length
            continue
        reserved = box_size(&p.box[job]) if s.is_torus else s.need[job]
        c[n].time = p.begin[job]
        c[n].nodes = -reserved
        c[n + 1].time = p.end[job]
        c[n + 1].nodes = reserved
        n += 2
    qsort(c, <size_t>n, sizeof(change_t), by_time)
    i = 0
    while i < n and c[i].time <= s.now:
        level += c[i].nodes
        i += 1
    least = level
    while i < n:
        level += c[i].nodes
        # All changes of one time count together.
        if (i + 1 == n or c[i + 1].time > c[i].time) and level < least:
            least = level
        i += 1
    c_free(c)
    return least if least > 0 else 0


cdef int64_t extra_on_torus(sim_t *s, promised_t *promised) noexcept nogil:
    """Nodes free at the head's time less those that it asks for; fars.later: the occupancy then."""
    cdef uint64_t *later = s.fars.later
    cdef int32_t i
    if has_free(&s.finder, s.occ, promised.need, NULL):
        promised.time = s.now
        memcpy(later, s.occ, <size_t>s.torus.words * sizeof(uint64_t))
        for i in range(s.releases.n):
            if s.releases.items[i].end > s.now:
                break
            give(s, &s.releases.items[i], later)
    else:
        promised.time = torus_shadow(s, s.releases.items, s.releases.n, s.occ, promised.need, later)
        if promised.time == INFINITY:
            return 0
    return s.nodes - occ_count(&s.torus, later) - promised.need


cdef int64_t spare_nodes(sim_t *s, int32_t sound, promised_t *promised) noexcept nogil:
    cdef int64_t extra = 0
    cdef int code
    promised.any = False
    promised.time = INFINITY
    promised.need = 0
    if s.fars.spares >= 0:
        return s.fars.spares if s.fars.spares < sound else sound
    if s.wait.head == s.wait.end:
        return sound
    if s.plan.begin != NULL:
        extra = least_free(s)
    elif not s.policy.backfill:
        return sound
    else:
        if s.policy.order != NULL:
            code = s.policy.order(s)
            if code < 0:
                return code
        promised.need = s.need[s.wait.job[s.wait.head]]
        if s.is_torus:
            extra = extra_on_torus(s, promised)
        else:
            promised.time = releases_shadow(&s.releases, s.now, s.free, promised.need, &extra)
        if promised.time == INFINITY:
            return sound
        promised.any = True
    return extra if extra < sound else sound
