"""The shadow time of placed machines; the contract is in shadow.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcpy

from faultsim._core.absences cimport absences_of, closed_to, has_open_at, last_end, next_end_tried
from faultsim._core.containers.bits cimport mask_count
from faultsim._core.containers.releases cimport releases_all
from faultsim._core.state cimport end_if_started, end_if_started_at, nodes_asked
from faultsim._core.status cimport OK
from faultsim._core.tables.machine cimport machine_t, place_t


cdef inline void put_back(const machine_t *m, const release_t *items, int32_t n, uint64_t *mask) noexcept nogil:
    """Undo a `release`."""
    cdef int32_t i
    cdef place_t place
    for i in range(n):
        if items[i].job >= 0:
            place = m.placed.place_of(m.state, items[i].job)
            m.placed.put(m.state, mask, &place)
        else:
            m.named.mark(m.state, mask, -1 - items[i].job)


cdef double turn(const sim_t *s, const release_t *items, int32_t count, int32_t high, int32_t gone,
                 uint64_t *there) noexcept nogil:
    """The shadow time that the release items[high] makes; `there` is after items[:gone], gone <= high + 1."""
    cdef double shadow = items[high].end if items[high].end > s.now else s.now
    cdef int32_t n = high + 1
    while n < count and items[n].end <= shadow:
        n += 1
    s.machine.placed.release(s.machine.state, items + gone, n - gone, there)
    return shadow


cdef double first_place(sim_t *s, const release_t *items, int32_t count, const uint64_t *occ, int32_t need,
                        int32_t low, int32_t high, bint sure, uint64_t *there) noexcept nogil:
    """placed_shadow, where items[:low + 1] are not enough, and items[:high + 1] are, or (not `sure`) all that there is.
    """
    cdef const machine_t *m = &s.machine
    cdef int32_t mid
    cdef double shadow
    memcpy(there, occ, <size_t>m.words * sizeof(uint64_t))
    m.placed.release(m.state, items, low + 1, there)
    # Free places only grow as jobs leave: bisect for the first release that is enough.  `there` is after items[low].
    while high - low > 1:
        mid = (low + high) >> 1
        m.placed.release(m.state, items + low + 1, mid - low, there)
        s.work.probes += 1
        if m.placed.has_free(m.state, there, need):
            put_back(m, items + low + 1, mid - low, there)
            high = mid
            sure = True
        else:
            low = mid
    shadow = turn(s, items, count, high, low + 1, there)
    s.work.probes += not sure
    return shadow if sure or m.placed.has_free(m.state, there, need) else INFINITY


cdef int32_t first_left(sim_t *s, const release_t *items, int32_t count, const uint64_t *occ, int32_t need,
                        int32_t first, bint *found, uint64_t *there) noexcept nogil:
    """Release by release from items[first] on: the first that is enough, or (not `found`) one before which none is."""
    cdef const machine_t *m = &s.machine
    cdef int32_t i = first, end = first + min(count - first, s.limit.single_releases)
    cdef int enough
    cdef place_t place
    memcpy(there, occ, <size_t>m.words * sizeof(uint64_t))
    m.placed.release(m.state, items, first, there)
    found[0] = False
    while i < end and items[i].job >= 0:                # a repaired node is no place
        place = m.placed.place_of(m.state, items[i].job)
        m.placed.lift(m.state, there, &place)
        s.work.near += 1
        enough = m.placed.has_free_at(m.state, there, need, &place)
        if enough:
            found[0] = enough > 0
            return i
        i += 1
    return i


cdef double shadow_within(sim_t *s, const release_t *items, int32_t count, const uint64_t *occ, int32_t need,
                          int32_t last, uint64_t *there) noexcept nogil:
    """placed_shadow, where items[:last + 1] are enough; `last` == count: unknown."""
    cdef const machine_t *m = &s.machine
    cdef int32_t first = 0, high, nodes = nodes_asked(s, need), free = m.nodes - mask_count(occ, m.words)
    cdef bint found
    if count == 0:
        return INFINITY
    # Fewer than `nodes` are free before items[first] has gone.
    while first < count and free < nodes:
        free += items[first].nodes
        first += free < nodes
    if free < nodes:
        return INFINITY
    # The head could not start, so with nothing released there is no place (but a rule of the user's may have refused).
    if m.placed.has_free_at != NULL and (occ != m.occ or not m.placed.has_free(m.state, occ, need)):
        first = first_left(s, items, count, occ, need, first, &found, there)
        if found:
            return turn(s, items, count, first, first + 1, there)
        if first == count:
            return INFINITY
    # Enough is what a job leaves that has a place large enough, but not for a job that may not have its shape.
    high = first if s.rank == NULL else last
    while high < last and (items[high].job < 0 or items[high].nodes < nodes):
        high += 1
    if high < count:
        return first_place(s, items, count, occ, need, first - 1, high, True, there)
    return first_place(s, items, count, occ, need, first - 1, count - 1, False, there)


cdef double placed_shadow(sim_t *s, const release_t *items, int32_t count, const uint64_t *occ, int32_t need,
                          uint64_t *there) noexcept nogil:
    return shadow_within(s, items, count, occ, need, count, there)


cdef void note_left(left_t *left, const sim_t *s, const place_t *place) noexcept nogil:
    if left.n < s.limit.places_left:
        left.place[left.n] = place[0]
    left.n += 1


cdef bint has_free_since(sim_t *s, const uint64_t *mask, int32_t need, const left_t *left) noexcept nogil:
    """Is there a place in a mask that had none before these became free?"""
    cdef const machine_t *m = &s.machine
    cdef int32_t i
    cdef int enough = -1 if m.placed.has_free_at == NULL or left.n > s.limit.places_left else 0
    for i in range(left.n if enough == 0 else 0):
        s.work.near += 1
        enough = m.placed.has_free_at(m.state, mask, need, &left.place[i])
        if enough:
            break
    if enough < 0:
        s.work.probes += 1
        return m.placed.has_free(m.state, mask, need)
    return enough


cdef double shadow_no_later(sim_t *s, int32_t need, double time, const left_t *left, uint64_t *there) noexcept nogil:
    cdef const machine_t *m = &s.machine
    cdef const release_t *items = releases_all(&s.releases)
    cdef int32_t first = 0, n
    while first < s.releases.n and items[first].end < time:
        first += 1
    n = first
    while n < s.releases.n and items[n].end <= time:
        n += 1
    if n > first:
        put_back(m, items + first, n - first, there)
        if first == 0 or not has_free_since(s, there, need, left):
            m.placed.release(m.state, items + first, n - first, there)
            return time
    # n == 0: nothing was in the way, and yet the head did not start
    return shadow_within(s, items, s.releases.n, m.occ, need, first - 1 if n > 0 else s.releases.n, there)


cdef double shadow_from_now(sim_t *s, int32_t need, uint64_t *there) noexcept nogil:
    cdef machine_t *m = &s.machine
    cdef const release_t *items = releases_all(&s.releases)
    cdef int32_t n = 0
    if not m.placed.has_free(m.state, m.occ, need):
        return placed_shadow(s, items, s.releases.n, m.occ, need, there)
    memcpy(there, m.occ, <size_t>m.words * sizeof(uint64_t))
    while n < s.releases.n and items[n].end <= s.now:
        n += 1
    m.placed.release(m.state, items, n, there)
    return s.now


cdef double first_open_of(sim_t *s, const release_t *items, int32_t count, const uint64_t *occ, int32_t head,
                          uint64_t *there, uint64_t *closed) noexcept nogil:
    cdef const machine_t *m = &s.machine
    cdef int32_t i = 0, n
    cdef double t = s.now, end, last = last_end(items, count, s.now)
    memcpy(there, occ, <size_t>m.words * sizeof(uint64_t))
    # Invariant: no time before t that is tried has a place; `there` is after items[:i].
    while t < INFINITY:
        n = i
        while n < count and items[n].end <= t:
            n += 1
        m.placed.release(m.state, items + i, n - i, there)
        i = n
        end = end_if_started_at(s, head, t)
        closed_to(s, head, t, end, closed)
        if has_open_at(s, head, t, end, there, closed):
            return t
        t = min(items[i].end if i < count else INFINITY, next_end_tried(s, t, last))
    return INFINITY


cdef double first_open_time(sim_t *s, int32_t head, uint64_t *there, uint64_t *closed) noexcept nogil:
    return first_open_of(s, releases_all(&s.releases), s.releases.n, s.machine.occ, head, there, closed)


cdef bint has_open_place(const sim_t *s, int32_t job) noexcept nogil:
    cdef uint64_t *closed = absences_of(s).joined
    cdef double end = end_if_started(s, job)
    closed_to(s, job, s.now, end, closed)
    return has_open_at(s, job, s.now, end, s.machine.occ, closed)


cdef void lift_mover(later_t *later, const sim_t *s, int32_t job, double end, double time) noexcept nogil:
    cdef place_t now = s.machine.placed.place_of(s.machine.state, job)
    later.was_there = s.expected[job] > time
    later.outlives = end > time
    if later.was_there:
        s.machine.placed.lift(s.machine.state, later.mask, &now)


cdef int settle_mover(void *state, void *sim, int32_t job, const place_t *place) noexcept nogil:
    cdef later_t *later = <later_t *>state
    cdef machine_t *m = &(<sim_t *>sim).machine
    cdef place_t stays
    if place == NULL and later.was_there:
        stays = m.placed.place_of(m.state, job)
        m.placed.put(m.state, later.mask, &stays)
    elif place != NULL and later.outlives:
        m.placed.put(m.state, later.mask, place)
    return OK
