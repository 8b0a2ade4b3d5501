"""Sets of coordinates on one axis; see axis_sets.pxd."""

from libc.string cimport memcpy, memset

from faultsim._core.containers.bits cimport fs_highest, fs_lowest, mask_has, mask_join, ones
from faultsim._core.containers.memory cimport arena_get
from faultsim._core.thresholds cimport thresholds


cdef void family_init(family_t *f, int n, bint wrap, arena_t *memory) noexcept nogil:
    f.n, f.wrap, f.words, f.memory = n, wrap, (n + 63) // 64, memory
    f.slot = <int32_t *> arena_get(memory, n + 1, sizeof(int32_t))
    if f.slot != NULL:
        memset(f.slot, 0xff, (n + 1) * sizeof(int32_t))
    _enlarge(f, min(8, thresholds.first_room))


cdef bint _enlarge(family_t *f, int cap) noexcept nogil:
    """Room for so many sets; False: no memory.  What it had stays in the arena: no more than it gets."""
    cdef int32_t *extent = <int32_t *> arena_get(f.memory, cap, sizeof(int32_t))
    cdef uint64_t *sets = <uint64_t *> arena_get(f.memory, <size_t> cap * f.words, sizeof(uint64_t))
    if extent == NULL or sets == NULL:
        return False
    if f.used:
        memcpy(extent, f.extent, f.used * sizeof(int32_t))
        memcpy(sets, f.sets, <size_t> f.used * f.words * sizeof(uint64_t))
    f.extent, f.sets, f.cap = extent, sets, cap
    return True


cdef void family_clear(family_t *f) noexcept nogil:
    cdef int i
    for i in range(f.used):
        f.slot[f.extent[i]] = -1
    f.used = 0


cdef void family_add(family_t *f, int extent, const uint64_t *set) noexcept nogil:
    cdef int i, at = f.slot[extent]
    if at >= 0:
        mask_join(&f.sets[at * f.words], set, f.words)
    elif f.used < f.cap or _enlarge(f, 2 * f.cap):
        at = f.used
        f.used += 1
        f.slot[extent] = at
        f.extent[at] = extent
        for i in range(f.words):
            f.sets[at * f.words + i] = set[i]


cdef bint family_within(const family_t *f, const family_t *g) noexcept nogil:
    cdef int i, k, at
    for i in range(f.used):
        at = g.slot[f.extent[i]]
        if at < 0:
            return False
        for k in range(f.words):
            if f.sets[i * f.words + k] & ~g.sets[at * f.words + k]:
                return False
    return True


cdef inline uint64_t _turn(uint64_t w, int k, int n) noexcept nogil:        # bit i to bit (i + k) % n, 0 < k < n <= 64
    return ((w << k) | (w >> (n - k))) & ones(n)


cdef inline uint64_t _apart_word(int n, bint wrap, uint64_t q, int m, int s) noexcept nogil:
    cdef int length, have = 1, k
    cdef uint64_t w
    if q == 0:
        return 0
    if wrap:
        length = n - s - m + 1              # p - q may be m, m + 1, ..., n - s
        if length <= 0:
            return 0
        w = _turn(q, m, n)
        while have < length:
            k = min(have, length - have)
            w |= _turn(w, k, n)
            have += k
        return w
    w = ones(max(0, fs_highest(q) - s + 1))
    if fs_lowest(q) + m < n:
        w |= ones(n) & ~ones(fs_lowest(q) + m)
    return w


cdef void _apart_words(int n, bint wrap, const uint64_t *q, int m, int s, uint64_t *out) noexcept nogil:
    cdef int i, low = -1, high = -1, length = n - s - m + 1
    cdef long at, following
    if wrap:
        if length <= 0:
            return
        following = 4 * <long> n            # the nearest q at or after `at`, on an unrolled ring
        for at in range(2 * <long> n + s - 1, s - 1, -1):
            if mask_has(q, at % n):
                following = at
            if at - s < n and following - at < length:
                out[(at - s) >> 6] |= <uint64_t> 1 << ((at - s) & 63)
        return
    for i in range(n):
        if mask_has(q, i):
            if low < 0:
                low = i
            high = i
    if low < 0:
        return
    for i in range(n):
        if i + s <= high or i >= low + m:
            out[i >> 6] |= <uint64_t> 1 << (i & 63)


cdef void family_apart(const family_t *f, int s, uint64_t *out) noexcept nogil:
    cdef int i
    cdef uint64_t w = 0
    if f.words == 1:
        for i in range(f.used):
            w |= _apart_word(f.n, f.wrap, f.sets[i], f.extent[i], s)
        out[0] = w
        return
    memset(out, 0, f.words * sizeof(uint64_t))
    for i in range(f.used):
        _apart_words(f.n, f.wrap, &f.sets[i * f.words], f.extent[i], s, out)


cdef uint64_t family_cover(const family_t *f) noexcept nogil:
    cdef uint64_t all = 0, w
    cdef int i, have, k
    if f.words > 1:
        return ~<uint64_t> 0
    for i in range(f.used):
        w, have = f.sets[i], 1
        while have < f.extent[i]:
            k = min(have, f.extent[i] - have)
            w |= _turn(w, k, f.n)                       # on a mesh no interval goes beyond the end
            have += k
        all |= w
    return all


cdef uint64_t family_shared(const family_t *f) noexcept nogil:
    cdef uint64_t all = ones(f.n) if f.words == 1 else 0, w
    cdef int i, q, end
    for i in range(f.used if f.words == 1 else 0):
        w = f.sets[i]
        while w and all:
            q = fs_lowest(w)
            w &= w - 1
            end = q + f.extent[i]
            if end <= f.n:
                all &= ones(end) & ~ones(q)
            else:
                all &= ones(end - f.n) | ~ones(q)
    return all
