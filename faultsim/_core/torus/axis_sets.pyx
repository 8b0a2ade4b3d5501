"""Sets of coordinates on one axis; see axis_sets.pxd."""

from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memset

from faultsim._core.containers.bits cimport fs_highest, fs_lowest


cdef int family_init(family_t *f, int n, bint wrap) noexcept nogil:
    memset(f, 0, sizeof(family_t))
    f.n, f.wrap, f.words, f.cap = n, wrap, (n + 63) // 64, 8
    f.slot = <int32_t *> malloc((n + 1) * sizeof(int32_t))
    f.extent = <int32_t *> malloc(f.cap * sizeof(int32_t))
    f.sets = <uint64_t *> malloc(f.cap * f.words * sizeof(uint64_t))
    if f.slot == NULL or f.extent == NULL or f.sets == NULL:
        family_free(f)
        return -1
    memset(f.slot, 0xff, (n + 1) * sizeof(int32_t))
    return 0


cdef void family_free(family_t *f) noexcept nogil:
    free(f.slot)
    free(f.extent)
    free(f.sets)
    memset(f, 0, sizeof(family_t))


cdef void family_clear(family_t *f) noexcept nogil:
    cdef int i
    for i in range(f.used):
        f.slot[f.extent[i]] = -1
    f.used = 0


cdef int family_add(family_t *f, int extent, const uint64_t *set) noexcept nogil:
    cdef int i, at = f.slot[extent]
    cdef void *p
    if at < 0:
        if f.used == f.cap:
            p = realloc(f.extent, 2 * f.cap * sizeof(int32_t))
            if p == NULL:
                return -1
            f.extent = <int32_t *> p
            p = realloc(f.sets, 2 * <size_t> f.cap * f.words * sizeof(uint64_t))
            if p == NULL:
                return -1
            f.sets = <uint64_t *> p
            f.cap *= 2
        at = f.used
        f.used += 1
        f.slot[extent] = at
        f.extent[at] = extent
        for i in range(f.words):
            f.sets[at * f.words + i] = set[i]
        return 0
    for i in range(f.words):
        f.sets[at * f.words + i] |= set[i]
    return 0


cdef inline uint64_t _ones(int n) noexcept nogil:       # the lowest n bits, 0 <= n <= 64
    return (~<uint64_t> 0) >> (64 - n) if n > 0 else 0


cdef inline uint64_t _turn(uint64_t w, int k, int n) noexcept nogil:        # bit i to bit (i + k) % n, 0 < k < n <= 64
    return ((w << k) | (w >> (n - k))) & _ones(n)


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
    w = _ones(max(0, fs_highest(q) - s + 1))
    if fs_lowest(q) + m < n:
        w |= _ones(n) & ~_ones(fs_lowest(q) + m)
    return w


cdef inline bint _has(const uint64_t *q, int i) noexcept nogil:
    return (q[i >> 6] >> (i & 63)) & 1


cdef void _apart_words(int n, bint wrap, const uint64_t *q, int m, int s, uint64_t *out) noexcept nogil:
    cdef int i, low = -1, high = -1, length = n - s - m + 1
    cdef long at, following
    if wrap:
        if length <= 0:
            return
        following = 4 * <long> n            # the nearest q at or after `at`, on an unrolled ring
        for at in range(2 * <long> n + s - 1, s - 1, -1):
            if _has(q, at % n):
                following = at
            if at - s < n and following - at < length:
                out[(at - s) >> 6] |= <uint64_t> 1 << ((at - s) & 63)
        return
    for i in range(n):
        if _has(q, i):
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
