"""Nodes that are closed to most jobs at known times; the contract is in absences.pxd."""

from libc.math cimport INFINITY, floor
from libc.string cimport memcpy, memset

from faultsim._core.cluster.named cimport count_free, free_nodes, named_of, named_t, open_word, update_word
from faultsim._core.containers.bits cimport mask_count, mask_count_without, mask_equal, mask_join
from faultsim._core.containers.memory cimport resize_block
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.state cimport ask_of, end_if_started, end_if_started_at, log_row, usable
from faultsim._core.status cimport NO_MEMORY, OK


cdef double last_begun(const absence_t *a, double t) noexcept nogil:
    cdef double k = a.latest
    if t < a.begin:
        return -1.0
    if a.every == 0.0:
        return 0.0
    if a.begin + k * a.every <= t < a.begin + (k + 1.0) * a.every:       # as a rule
        return k
    k = floor((t - a.begin) / a.every)
    while occurrence_begin(a, k) > t:
        k -= 1.0
    while occurrence_begin(a, k + 1.0) <= t:
        k += 1.0
    return k


# ---------------------------------------------------------------------------------------------- closed sets

cdef bint closed_to(const sim_t *s, int32_t job, double t, double end, uint64_t *out) noexcept nogil:
    cdef const absences_t *a = absences_of(s)
    cdef int32_t i, row = log_row(s, job)
    cdef bint any_closed = a.n_drained > 0
    if none_closed(a, t, end):
        memset(out, 0, <size_t>a.words * sizeof(uint64_t))
        return False
    memcpy(out, a.drained, <size_t>a.words * sizeof(uint64_t))
    for i in range(a.n):
        if not is_open_to(a, i, row) and meets_stay(&a.row[i], t, end):
            mask_join(out, a.nodes + <int64_t>i * a.words, a.words)
            any_closed = True
    return any_closed


cdef bint join_claimed(const sim_t *s, int32_t job, double t, double end, uint64_t *mask) noexcept nogil:
    cdef const absences_t *a = absences_of(s)
    cdef const uint64_t *nodes
    cdef int32_t i, k, row = log_row(s, job)
    cdef bint any_claimed = False
    if none_closed(a, t, end):
        return False
    for i in range(a.n):
        if a.row[i].for_users and not is_open_to(a, i, row) and meets_stay(&a.row[i], t, end):
            nodes = a.nodes + <int64_t>i * a.words
            any_claimed = True
            for k in range(a.words):
                mask[k] |= nodes[k] & ~a.drained[k]
    return any_claimed


cdef void join_closed(const sim_t *s, int32_t job, double t, double end, const uint64_t *closed,
                      uint64_t *mask) noexcept nogil:
    if s.machine.placed.has_free_beside == NULL:
        mask_join(mask, closed, s.machine.words)
    else:
        join_claimed(s, job, t, end, mask)


cdef bint has_open_at(const sim_t *s, int32_t job, double t, double end, const uint64_t *occ,
                      const uint64_t *closed) noexcept nogil:
    cdef uint64_t *mask = absences_of(s).part
    memcpy(mask, occ, <size_t>s.machine.words * sizeof(uint64_t))
    join_closed(s, job, t, end, closed, mask)
    if s.machine.placed.has_free_beside == NULL:
        return s.machine.placed.has_free(s.machine.state, mask, ask_of(s, job))
    return s.machine.placed.has_free_beside(s.machine.state, mask, closed, ask_of(s, job))


cdef const uint64_t *claimed_of_others(const sim_t *s, int32_t job, double end) noexcept nogil:
    cdef uint64_t *mask = absences_of(s).hidden
    if not s.machine.placed or s.machine.placed.has_free_beside == NULL:
        return NULL
    memset(mask, 0, <size_t>s.machine.words * sizeof(uint64_t))
    return mask if join_claimed(s, job, s.now, end, mask) else NULL


cdef int32_t closed_set(const sim_t *s, int32_t job, double t, double end) noexcept nogil:
    cdef absences_t *a = absences_of(s)
    cdef int32_t i
    if none_closed(a, t, end) or not closed_to(s, job, t, end, a.closed):
        return 0
    for i in range(1, a.n_sets):
        if mask_equal(a.closed, a.sets + <int64_t>i * a.words, a.words):
            return i
    if a.n_sets == a.room_sets:
        if resize_block(a, &a.sets, 2 * <size_t>a.room_sets * a.words * sizeof(uint64_t)) < 0:
            return NO_MEMORY
        a.room_sets *= 2
    memcpy(a.sets + <int64_t>a.n_sets * a.words, a.closed, <size_t>a.words * sizeof(uint64_t))
    a.n_sets += 1
    return a.n_sets - 1


cdef bint set_covers(const absences_t *a, int32_t one, int32_t other) noexcept nogil:
    cdef const uint64_t *inner = a.sets + <int64_t>other * a.words
    cdef const uint64_t *outer = a.sets + <int64_t>one * a.words
    cdef int32_t i
    for i in range(a.words):
        if inner[i] & ~outer[i]:
            return False
    return True


cdef bint ends_at(const sim_t *s, double t) noexcept nogil:
    cdef const absences_t *a = absences_of(s)
    cdef int32_t i
    cdef double k
    for i in range(a.n):
        k = last_begun(&a.row[i], t)
        if (k >= 0.0 and occurrence_end(&a.row[i], k) == t) or (k > 0.0 and occurrence_end(&a.row[i], k - 1.0) == t):
            return True
    return False


cdef double last_end(const release_t *items, int32_t n, double now) noexcept nogil:
    while n > 0 and items[n - 1].end == INFINITY:
        n -= 1
    return max(items[n - 1].end, now) if n > 0 else now


cdef double last_release(const sim_t *s) noexcept nogil:
    return last_end(releases_all(&s.releases), s.releases.n, s.now)


cdef const uint64_t *closed_to_mover(const sim_t *s, int32_t job, double end) noexcept nogil:
    cdef absences_t *a = absences_of(s)
    if a == NULL or not closed_to(s, job, s.now, max(s.now, end), a.closed):
        return NULL
    return a.closed


cdef double next_end_tried(const sim_t *s, double t, double last) noexcept nogil:
    cdef const absences_t *a = absences_of(s)
    cdef double first = INFINITY, end
    cdef int32_t i
    for i in range(a.n):
        end = next_end(&a.row[i], t)
        # One end beyond `last` is tried, too: this one, if the one before it is not later than `last`, or has passed.
        if end - a.row[i].every <= max(last, s.now) or end == next_end(&a.row[i], s.now):
            first = min(first, end)
    return first


cdef double first_end_after(const sim_t *s, double t) noexcept nogil:
    cdef const absences_t *a = absences_of(s)
    cdef double first = INFINITY
    cdef int32_t i
    for i in range(a.n):
        first = min(first, next_end(&a.row[i], t))
    return first


cdef double next_tried(const sim_t *s, double t, double first, double last) noexcept nogil:
    cdef const release_t *items = releases_all(&s.releases)
    cdef int32_t i = 0
    while i < s.releases.n and items[i].end <= t:
        i += 1
    if i < s.releases.n:
        first = min(first, items[i].end)
    return min(first, next_end_tried(s, t, max(last, last_release(s))))


# ---------------------------------------------------------------------------------------------- clusters

cdef int32_t room_outside(const sim_t *s, int32_t job) noexcept nogil:
    cdef absences_t *a = absences_of(s)
    cdef int32_t room = usable(s)
    if not closed_to(s, job, s.now, end_if_started(s, job), a.closed):
        return room
    return min(room, s.free - count_free(named_of(&s.machine), a.closed))


cdef int32_t room_ahead(const sim_t *s) noexcept nogil:
    return s.free - count_free(named_of(&s.machine), absences_of(s).ahead)


cdef bint leaves_nodes(const sim_t *s, int32_t set_, int32_t need) noexcept nogil:
    cdef const absences_t *a = absences_of(s)
    return need <= s.nodes - mask_count(a.sets + <int64_t>set_ * a.words, a.words)


cdef int32_t free_outside(const sim_t *s, int32_t set_, double t) noexcept nogil:
    cdef const absences_t *a = absences_of(s)
    cdef const uint64_t *closed = a.sets + <int64_t>set_ * a.words
    cdef const release_t *items = releases_all(&s.releases)
    cdef int32_t i = 0, node, free = s.free - count_free(named_of(&s.machine), closed)
    while i < s.releases.n and (items[i].end <= t or items[i].end <= s.now):
        if items[i].job >= 0:
            free += items[i].nodes - s.machine.named.overlap(s.machine.state, items[i].job, closed, NULL, 0)
        else:
            node = -1 - items[i].job
            free += not s.machine.named.marked(s.machine.state, closed, node)
        i += 1
    return free


cdef int32_t free_inside(const sim_t *s, int32_t set_, int32_t job) noexcept nogil:
    cdef absences_t *a = absences_of(s)
    cdef const uint64_t *closed = a.sets + <int64_t>set_ * a.words
    cdef int32_t i
    if closed_to(s, job, s.now, end_if_started(s, job), a.closed):
        for i in range(a.words):
            a.closed[i] = closed[i] & ~a.closed[i]
        closed = a.closed
    return count_free(named_of(&s.machine), closed)


cdef int find_open_time(const sim_t *s, int32_t job, open_shadow_t *out) noexcept nogil:
    cdef const release_t *items = releases_all(&s.releases)
    cdef int64_t free = usable(s)
    cdef int32_t i = 0, count = s.releases.n, need = s.need[job]
    cdef double t = out.time, last = last_release(s), end
    out.beside = 0
    while count > 0 and items[count - 1].end == INFINITY:
        count -= 1
    # Invariant: no time before t that is tried has room; `free` nodes are free at t, if closed sets are left out.
    while t < INFINITY:
        while i < count and items[i].end <= t:
            free += items[i].nodes
            i += 1
        out.closed = closed_set(s, job, t, end_if_started_at(s, job, t))
        if out.closed < 0:
            return NO_MEMORY
        if out.closed == 0 or leaves_nodes(s, out.closed, need):
            out.beside = free_outside(s, out.closed, t) - need if out.closed > 0 else 0
            if out.beside >= 0:
                break
        else:
            end = first_end_after(s, t)
            while i < count and items[i].end < end:
                free += items[i].nodes
                i += 1
        t = min(items[i].end if i < count else INFINITY, next_end_tried(s, t, last))
    out.time, out.extra = t, free - need
    if t == INFINITY:
        out.closed = 0
    return OK


cdef int32_t hide_nodes(const sim_t *s, const uint64_t *nodes) noexcept nogil:
    cdef absences_t *a = absences_of(s)
    cdef named_t *m = named_of(&s.machine)
    cdef int32_t i
    for i in range(m.words):
        a.hidden[i] = nodes[i] & free_nodes(m, i) if nodes[i] else 0
        if a.hidden[i]:
            update_word(m, i)
            m.occ[i] |= a.hidden[i]
    return <int32_t>mask_count(a.hidden, m.words)


cdef void show_nodes(const sim_t *s) noexcept nogil:
    cdef absences_t *a = absences_of(s)
    cdef named_t *m = named_of(&s.machine)
    cdef int32_t i
    for i in range(m.words):
        if a.hidden[i]:
            m.occ[i] &= ~a.hidden[i]
            open_word(m, i)


cdef int allot_of(sim_t *s, int32_t job, int32_t count, const uint64_t *hidden) noexcept nogil:
    """What the placement rule takes if the nodes of `hidden` are not free."""
    cdef int code
    hide_nodes(s, hidden)
    code = s.placement.allot(s.placement.state, s, job, count)
    show_nodes(s)
    return code


cdef int take_part(sim_t *s, int32_t job, int32_t *missing, bint preferred, bint avoided) noexcept nogil:
    """What the rule takes of the open nodes that are in `joined` or not, and in sim_t.avoid or not."""
    cdef absences_t *a = absences_of(s)
    cdef int32_t i, count
    for i in range(a.words):
        a.part[i] = ~a.closed[i] & (a.joined[i] if preferred else ~a.joined[i])
        if s.avoid != NULL:
            a.part[i] &= s.avoid[i] if avoided else ~s.avoid[i]
    count = min(missing[0], count_free(named_of(&s.machine), a.part))
    for i in range(a.words):
        a.part[i] = ~a.part[i]
    missing[0] -= count
    return allot_of(s, job, count, a.part) if count > 0 else OK


cdef int take_open(sim_t *s, int32_t job, int32_t count) noexcept nogil:
    cdef absences_t *a = absences_of(s)
    cdef int32_t i, missing = count, row = log_row(s, job)
    cdef int code = OK
    cdef bint some = a.spares, avoids
    if some:
        memcpy(a.joined, a.spared, <size_t>a.words * sizeof(uint64_t))
    else:
        memset(a.joined, 0, <size_t>a.words * sizeof(uint64_t))
    for i in range(a.n):
        if is_open_to(a, i, row) and is_active(&a.row[i], s.now):
            mask_join(a.joined, a.nodes + <int64_t>i * a.words, a.words)
            some = True
    closed_to(s, job, s.now, end_if_started(s, job), a.closed)
    for avoids in range(1 if s.avoid == NULL else 2):
        if some and missing > 0 and code >= 0:
            code = take_part(s, job, &missing, True, avoids)
        if missing > 0 and code >= 0:
            code = take_part(s, job, &missing, False, avoids)
    return code


cdef void spare_none(const sim_t *s) noexcept nogil:
    cdef absences_t *a = absences_of(s)
    if a.spares:
        memset(a.spared, 0, <size_t>a.words * sizeof(uint64_t))
        a.spares = False


cdef void spare_set(const sim_t *s, int32_t set_) noexcept nogil:
    cdef absences_t *a = absences_of(s)
    if set_ > 0:
        mask_join(a.spared, a.sets + <int64_t>set_ * a.words, a.words)
        a.spares = True


cdef int32_t free_and_reserved(const sim_t *s) noexcept nogil:
    cdef const absences_t *a = absences_of(s)
    return free_of_set(s, a.active) if a.any_active else 0


cdef int32_t free_and_drained(const sim_t *s) noexcept nogil:
    cdef const absences_t *a = absences_of(s)
    return free_of_set(s, a.drained) if a.n_drained > 0 else 0


cdef int32_t free_of_set(const sim_t *s, const uint64_t *nodes) noexcept nogil:
    if s.machine.shared:
        return s.machine.shared.free_on(s.machine.state, nodes)
    if not s.machine.placed:
        return count_free(named_of(&s.machine), nodes)
    return mask_count_without(nodes, s.machine.occ, s.machine.words)
