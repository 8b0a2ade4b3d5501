"""Reservations in places, and the times that are tried; the contract is in placed_claims.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from faultsim._core.containers.bits cimport mask_join
from faultsim._core.containers.memory cimport resize_block
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.state cimport ask_of, asks_shape, end_if_started_at, sim_t
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.machine cimport machine_t, outline_grows, outline_join, outline_t, permit_t, place_t

# ------------------------------------------------------------------------------------------------------ reservations

cdef int32_t first_time(const plan_t *p, double t) noexcept nogil:
    cdef int32_t low = 0, high = p.n_times, mid
    if high > 0 and p.time[high - 1] < t:
        return high
    while low < high:
        mid = (low + high) >> 1
        if p.time[mid] < t:
            low = mid + 1
        else:
            high = mid
    return low


cdef int add_time(plan_t *p, double t) noexcept nogil:
    cdef int32_t low = first_time(p, t)
    if low < p.n_times and p.time[low] == t:
        return OK
    if p.n_times == p.time_capacity:
        if resize_block(p, &p.time, 2 * <size_t>p.time_capacity * sizeof(double)) < 0:
            return NO_MEMORY
        p.time_capacity *= 2
    if low < p.n_times:
        memmove(&p.time[low + 1], &p.time[low], <size_t>(p.n_times - low) * sizeof(double))
    p.time[low] = t
    p.n_times += 1
    return OK


cdef int clear_plan(plan_t *p, sim_t *s) noexcept nogil:
    cdef const release_t *items = releases_all(&s.releases)
    cdef int32_t i
    p.n = 0
    p.open = False
    p.n_times = 0
    p.epoch += 1
    forget_gone(p)
    for i in range(s.releases.n):
        if items[i].end == INFINITY:
            break
        if add_time(p, items[i].end if items[i].end > s.now else s.now) < 0:
            return NO_MEMORY
    return OK


cdef int add_claim(plan_t *p, sim_t *s, int32_t job, double begin, const place_t *place) noexcept nogil:
    cdef size_t bytes = <size_t>s.machine.words * sizeof(uint64_t)
    cdef size_t capacity = 2 * <size_t>p.capacity
    if p.n == p.capacity:
        if (resize_block(p, &p.claim, capacity * sizeof(claim_t)) < 0
                or resize_block(p, &p.mask, capacity * bytes) < 0
                or (p.outline != NULL and resize_block(p, &p.outline, capacity * sizeof(outline_t)) < 0)):
            return NO_MEMORY
        p.capacity *= 2
    p.claim[p.n].begin = begin
    p.claim[p.n].end = end_if_started_at(s, job, begin)
    p.claim[p.n].need, p.claim[p.n].ask = s.need[job], ask_of(s, job)
    memset(mask_of(p, s, p.n), 0, bytes)
    if place == NULL:
        p.open = True
        memset(p.beside, 0, bytes)
    else:
        s.machine.put(s.machine.state, mask_of(p, s, p.n), place)
        if p.outline != NULL:
            memset(&p.outline[p.n], 0, sizeof(outline_t))
            s.machine.trace(s.machine.state, mask_of(p, s, p.n), 0, s.machine.words, &p.outline[p.n])
        if p.open and meets(&p.claim[0], begin, p.claim[p.n].end):
            mask_join(p.beside, mask_of(p, s, p.n), s.machine.words)
    p.n += 1
    return add_time(p, p.claim[p.n - 1].end)


cdef void spare_head(plan_t *p, sim_t *s, permit_t *permit) noexcept nogil:
    memcpy(p.around, p.later.mask, <size_t>s.machine.words * sizeof(uint64_t))
    mask_join(p.around, p.beside, s.machine.words)
    permit.later = p.around
    permit.need = p.claim[0].ask


# ---------------------------------------------------------------------------------------------------- by whole parts

cdef struct full_t:          # what was seen to have no place for a job
    outline_t taken
    bint any
    bint beside              # one had to be left for the head


cdef int find_gone(plan_t *p, sim_t *s, int32_t n) noexcept nogil:
    """The outlines after up to n releases."""
    cdef const release_t *items = releases_all(&s.releases)
    cdef machine_t *m = &s.machine
    while p.n_gone <= n:
        if p.n_gone == p.gone_capacity:
            if resize_block(p, &p.gone, 2 * <size_t>p.gone_capacity * sizeof(outline_t)) < 0:
                return NO_MEMORY
            p.gone_capacity *= 2
        if p.n_gone == 0:
            memcpy(p.going, m.occ, <size_t>m.words * sizeof(uint64_t))
            memset(p.gone, 0, sizeof(outline_t))
            m.trace(m.state, p.going, 0, m.words, p.gone)
        else:
            p.gone[p.n_gone] = p.gone[p.n_gone - 1]
            m.release_parts(m.state, items + p.n_gone - 1, 1, p.going, &p.gone[p.n_gone])
        p.n_gone += 1
    return OK


cdef int first_fit(plan_t *p, sim_t *s, int32_t ask, int32_t limit, int32_t *fits) noexcept nogil:
    """As few releases as leave a place of a size in [ask, limit], or -1: OK, or NO_MEMORY.  Jobs only leave."""
    cdef const release_t *items = releases_all(&s.releases)
    cdef machine_t *m = &s.machine
    cdef int32_t low = -1, high = 0, mid, last = s.releases.n
    while last > 0 and items[last - 1].end == INFINITY:
        last -= 1
    fits[0] = -1
    while True:
        if find_gone(p, s, high) < 0:
            return NO_MEMORY
        s.work.probes += 1
        if m.has_beside(m.state, &p.gone[high], ask, limit, NULL, 0):
            break
        if high == last:
            return OK
        low = high
        high = min(2 * high + 1, last)
    while high - low > 1:
        mid = (low + high) >> 1
        s.work.probes += 1
        if m.has_beside(m.state, &p.gone[mid], ask, limit, NULL, 0):
            high = mid
        else:
            low = mid
    fits[0] = high
    return OK


cdef int turn_of_parts(plan_t *p, sim_t *s, int32_t job, double *t) noexcept nogil:
    cdef const release_t *items = releases_all(&s.releases)
    cdef int32_t n
    if first_fit(p, s, ask_of(s, job), s.nodes, &n) < 0:
        return NO_MEMORY
    t[0] = INFINITY
    if n < 0:
        return OK
    t[0] = s.now if n == 0 or items[n - 1].end < s.now else items[n - 1].end
    while n < s.releases.n and items[n].end <= t[0]:
        n += 1
    memcpy(p.later.mask, s.machine.occ, <size_t>s.machine.words * sizeof(uint64_t))
    s.machine.release(s.machine.state, items, n, p.later.mask)
    return OK


cdef bint is_hopeless(plan_t *p, sim_t *s, int32_t job, double t, int32_t n, full_t *full) noexcept nogil:
    """Do outlines tell that a job finds no place at t, after n releases?"""
    cdef machine_t *m = &s.machine
    cdef double end = end_if_started_at(s, job, t)
    cdef const outline_t *later = NULL
    cdef outline_t taken = p.gone[n]
    cdef int32_t i
    for i in range(p.n):
        if not meets(&p.claim[i], t, end):
            continue
        if has_place(p, i):
            outline_join(&taken, &p.outline[i])
        else:
            later = &p.left
    # What has no place has none where as much is taken and as much must be left.
    if full.any and (later != NULL or not full.beside) and not outline_grows(&taken, &full.taken):
        return True
    s.work.probes += 1
    if m.has_beside(m.state, &taken, ask_of(s, job), s.need[job] + p.max_growth, later, p.claim[0].ask):
        return False
    full.any, full.beside, full.taken = True, later != NULL, taken
    return True


cdef int hopeful_from(plan_t *p, sim_t *s, int32_t job, int32_t *first) noexcept nogil:
    cdef const release_t *items = releases_all(&s.releases)
    cdef machine_t *m = &s.machine
    cdef int32_t n = 0, i
    cdef double owed = s.track.owed[job] if s.track.on and s.restarts[job] > 0 else 0.0
    # It is known by size, and not by shape.
    cdef known_t unknown
    cdef known_t *known = &unknown if asks_shape(s, job) else &p.known[s.need[job]]
    cdef full_t full
    cdef permit_t permit
    memset(&full, 0, sizeof(full))
    memset(&unknown, 0, sizeof(unknown))
    unknown.stock, unknown.refused = p.stock - 1, p.epoch - 1
    if known.stock != p.stock:
        if first_fit(p, s, ask_of(s, job), s.need[job] + p.max_growth, &known.fits) < 0:
            return NO_MEMORY
        known.stock = p.stock
    first[0] = p.n_times
    if known.fits < 0:
        return OK
    i = first_time(p, items[known.fits - 1].end) if known.fits > 0 else 0
    if known.refused == p.epoch and known.owed <= owed and known.remaining <= s.remaining[job]:
        i = max(i, first_time(p, known.until))
    if p.open:
        spare_head(p, s, &permit)
        memset(&p.left, 0, sizeof(outline_t))
        m.trace(m.state, p.around, 0, m.words, &p.left)
    while i < p.n_times:
        while n < s.releases.n and items[n].end <= p.time[i]:
            n += 1
        if find_gone(p, s, n) < 0:
            return NO_MEMORY
        if not is_hopeless(p, s, job, p.time[i], n, &full):
            break
        i += 1
    first[0] = i
    known.refused, known.owed, known.remaining = p.epoch, owed, s.remaining[job]
    known.until = p.time[i] if i < p.n_times else INFINITY
    return OK
