"""Which nodes are taken when; the contract is in steps.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from faultsim._core.containers.bits cimport mask_count, mask_count_without
from faultsim._core.containers.memory cimport open_state, own_block, part_t, resize_block
from faultsim._core.contract cimport fs_require
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.machine cimport machine_t, outline_join, outline_lift, outline_t
from faultsim._core.thresholds cimport thresholds


cdef int steps_open(void *owner, steps_t *s, const machine_t *m) except -1:
    s.words = m.words
    s.capacity = s.cap_masks = min(64, thresholds.first_room)
    s.spare = -1
    own_block(owner, &s.step, s.capacity, sizeof(step_t))
    own_block(owner, &s.masks, <size_t>s.cap_masks * <size_t>s.words, sizeof(uint64_t))
    if m.part > 0:
        own_block(owner, &s.outlines, s.cap_masks, sizeof(outline_t))
    return 0


cdef inline uint64_t *mask_at(const steps_t *s, int32_t mask) noexcept nogil:
    return s.masks + <int64_t>mask * s.words


cdef int32_t new_mask(void *owner, steps_t *s) noexcept nogil:
    """-1: no memory."""
    cdef int32_t mask = s.spare
    if mask >= 0:
        s.spare = <int32_t>mask_at(s, mask)[0]
        return mask
    if s.n_masks == s.cap_masks:
        if resize_block(owner, &s.masks, 2 * <size_t>s.cap_masks * <size_t>s.words * sizeof(uint64_t)) < 0:
            return -1
        if (s.outlines != NULL
                and resize_block(owner, &s.outlines, 2 * <size_t>s.cap_masks * sizeof(outline_t)) < 0):
            return -1
        s.cap_masks *= 2
    s.n_masks += 1
    return s.n_masks - 1


cdef inline void free_mask(steps_t *s, int32_t mask) noexcept nogil:
    mask_at(s, mask)[0] = <uint64_t><int64_t>s.spare
    s.spare = mask


cdef int insert(void *owner, steps_t *s, int32_t i, double at) noexcept nogil:
    """A step in front of step i, in which as much is taken as in the one before it (or in step 0)."""
    cdef int32_t mask, like = i - 1 if i > 0 else 0
    if s.n == s.capacity:
        if resize_block(owner, &s.step, 2 * <size_t>s.capacity * sizeof(step_t)) < 0:
            return NO_MEMORY
        s.capacity *= 2
    mask = new_mask(owner, s)
    if mask < 0:
        return NO_MEMORY
    memcpy(mask_at(s, mask), mask_at(s, s.step[like].taken), <size_t>s.words * sizeof(uint64_t))
    if s.outlines != NULL:
        s.outlines[mask] = s.outlines[s.step[like].taken]
    memmove(&s.step[i + 1], &s.step[i], <size_t>(s.n - i) * sizeof(step_t))
    s.n += 1
    if i > 0:
        s.step[i] = s.step[like]
    s.step[i].at = at
    s.step[i].taken = mask
    s.step[i].edges = s.step[i].begins = 0
    return OK


cdef inline void bounds(const steps_t *s, const uint64_t *mask, int32_t *low, int32_t *high) noexcept nogil:
    """The words of a mask that have bits."""
    low[0], high[0] = 0, s.words
    while low[0] < high[0] and mask[low[0]] == 0:
        low[0] += 1
    while low[0] < high[0] and mask[high[0] - 1] == 0:
        high[0] -= 1


cdef int steps_begin(void *owner, steps_t *s, const machine_t *m, double now, const uint64_t *taken) noexcept nogil:
    s.n_masks = 0
    s.spare = -1
    s.stamp += 1
    s.n = 1
    s.step[0].taken = new_mask(owner, s)
    memcpy(mask_at(s, 0), taken, <size_t>s.words * sizeof(uint64_t))
    s.step[0].at = now
    s.step[0].stamp = s.stamp
    s.step[0].left = m.nodes - mask_count(taken, s.words)
    s.step[0].edges = s.step[0].begins = 0
    if s.outlines != NULL:
        memset(s.outlines, 0, sizeof(outline_t))
        m.trace(m.state, taken, 0, s.words, s.outlines)
    return OK


cdef int steps_before(void *owner, steps_t *s, const machine_t *m, double now, double end, int32_t edges,
                      const uint64_t *more) noexcept nogil:
    cdef uint64_t *mask
    cdef int32_t i, low, high
    if insert(owner, s, 0, now) < 0:
        return NO_MEMORY
    s.step[1].at = end
    s.step[1].edges = edges
    mask = mask_at(s, s.step[0].taken)
    bounds(s, more, &low, &high)
    s.step[0].left = s.step[1].left - mask_count_without(more + low, mask + low, high - low)
    for i in range(low, high):
        mask[i] |= more[i]
    if s.outlines != NULL:
        m.trace(m.state, mask, low, high, s.outlines + s.step[0].taken)
    return OK


cdef void steps_forget(steps_t *s, double now) noexcept nogil:
    cdef int32_t i = step_at(s, now), k
    if i > 0:
        for k in range(i):
            free_mask(s, s.step[k].taken)
        s.n -= i
        memmove(s.step, &s.step[i], <size_t>s.n * sizeof(step_t))


cdef int32_t cut(void *owner, steps_t *s, double t) noexcept nogil:
    """The step that begins at t, which is beyond now; -1: no memory."""
    cdef int32_t i = step_at(s, t)
    if s.step[i].at == t:
        return i
    return i + 1 if insert(owner, s, i + 1, t) == OK else -1


cdef inline void close(steps_t *s, int32_t i) noexcept nogil:
    """One thing less begins or ends with step i."""
    s.step[i].edges -= 1
    if s.step[i].edges > 0:
        return
    if s.step[i - 1].stamp < s.step[i].stamp:
        s.step[i - 1].stamp = s.step[i].stamp
    free_mask(s, s.step[i].taken)
    s.n -= 1
    memmove(&s.step[i], &s.step[i + 1], <size_t>(s.n - i) * sizeof(step_t))


cdef inline void trace_alone(const machine_t *m, const uint64_t *mask, int32_t low, int32_t high,
                             outline_t *into) noexcept nogil:
    memset(into, 0, sizeof(outline_t))
    m.trace(m.state, mask, low, high, into)


cdef int steps_take(void *owner, steps_t *s, const machine_t *m, double now, double begin, double end,
                    const uint64_t *mask) noexcept nogil:
    cdef int32_t i, k, w, low, high, size
    cdef uint64_t *taken
    cdef outline_t parts
    i = step_at(s, now)
    if begin > now:
        i = cut(owner, s, begin)
        if i < 0:
            return NO_MEMORY
        s.step[i].edges += 1
        s.step[i].begins += 1
    k = s.n
    if end < INFINITY:
        k = cut(owner, s, end)
        if k < 0:
            return NO_MEMORY
        s.step[k].edges += 1
    bounds(s, mask, &low, &high)
    size = mask_count(mask + low, high - low)
    if s.outlines != NULL:
        trace_alone(m, mask, low, high, &parts)
    s.stamp += 1
    while i < k:
        taken = mask_at(s, s.step[i].taken)
        for w in range(low, high):
            fs_require(taken[w] & mask[w] == 0)
            taken[w] |= mask[w]
        if s.outlines != NULL:
            outline_join(s.outlines + s.step[i].taken, &parts)
        s.step[i].left -= size
        s.step[i].stamp = s.stamp
        i += 1
    return OK


cdef void steps_give(steps_t *s, const machine_t *m, double now, double begin, double end,
                     const uint64_t *mask) noexcept nogil:
    cdef int32_t first = step_at(s, now if now > begin else begin), i = first, k = s.n, w, low, high, size
    cdef uint64_t *taken
    cdef outline_t parts
    if end < INFINITY:
        k = step_at(s, end)
        fs_require(s.step[k].at == end)
    bounds(s, mask, &low, &high)
    size = mask_count(mask + low, high - low)
    if s.outlines != NULL:
        trace_alone(m, mask, low, high, &parts)
    s.stamp += 1
    while i < k:
        taken = mask_at(s, s.step[i].taken)
        for w in range(low, high):
            fs_require(taken[w] & mask[w] == mask[w])
            taken[w] &= ~mask[w]
        if s.outlines != NULL:
            if size >= m.part:
                outline_lift(s.outlines + s.step[i].taken, &parts)
            else:
                m.trace(m.state, taken, low, high, s.outlines + s.step[i].taken)
        s.step[i].left += size
        s.step[i].stamp = s.stamp
        i += 1
    if k < s.n:
        close(s, k)
    if begin > now:
        fs_require(s.step[first].at == begin)
        s.step[first].begins -= 1
        close(s, first)


# -- Python's handle -------------------------------------------------------------------------------------------------

cdef class Steps:
    """For tests: masks are whole numbers below 2**63."""
    cdef part_t part
    cdef steps_t *s
    cdef machine_t m

    def __cinit__(self):
        self.s = <steps_t *>open_state(&self.part, sizeof(steps_t))
        self.m.nodes, self.m.words = 64, 1
        steps_open(self.s, self.s, &self.m)

    def __dealloc__(self):
        if self.part.close != NULL:
            self.part.close(self.part.state)

    def begin(self, double now, uint64_t taken):
        if steps_begin(self.s, self.s, &self.m, now, &taken) < 0:
            raise MemoryError

    def before(self, double now, double end, int32_t edges, uint64_t more):
        if steps_before(self.s, self.s, &self.m, now, end, edges, &more) < 0:
            raise MemoryError

    def forget(self, double now):
        steps_forget(self.s, now)

    def take(self, double now, double begin, double end, uint64_t mask):
        if steps_take(self.s, self.s, &self.m, now, begin, end, &mask) < 0:
            raise MemoryError

    def give(self, double now, double begin, double end, uint64_t mask):
        steps_give(self.s, &self.m, now, begin, end, &mask)

    def show(self):
        """Begin, mask, nodes left and stamp of each step, and the last stamp."""
        return [(self.s.step[i].at, taken_at(self.s, i)[0], self.s.step[i].left, self.s.step[i].stamp)
                for i in range(self.s.n)], self.s.stamp

    def begins(self):
        """How many things begin with each step."""
        return [self.s.step[i].begins for i in range(self.s.n)]
