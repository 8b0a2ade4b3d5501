# cython: profile=False
"""The running jobs in order of expected end; the contract is in releases.pxd."""

from libc.math cimport INFINITY
from libc.stdlib cimport free as c_free, malloc, realloc
from libc.string cimport memcpy, memmove

from faultsim._core.contract cimport fs_require


cdef int releases_init(releases_t *r, int32_t capacity) noexcept nogil:
    r.n = 0
    r.changes = 0
    r.capacity = capacity if capacity > 16 else 16
    r.items = <release_t *>malloc(<size_t>r.capacity * sizeof(release_t))
    return 0 if r.items != NULL else -1


cdef void releases_free(releases_t *r) noexcept nogil:
    c_free(r.items)
    r.items = NULL


cdef int releases_copy(releases_t *to, const releases_t *source) noexcept nogil:
    if releases_init(to, source.capacity) < 0:
        return -1
    to.n = source.n
    to.changes = source.changes
    memcpy(to.items, source.items, <size_t>source.n * sizeof(release_t))
    return 0


cdef inline int32_t place_of(const releases_t *r, double end, int32_t job) noexcept nogil:
    # First index whose (end, job) is not below the wanted one.
    cdef int32_t low = 0, high = r.n, mid
    while low < high:
        mid = (low + high) >> 1
        if r.items[mid].end < end or (r.items[mid].end == end and r.items[mid].job < job):
            low = mid + 1
        else:
            high = mid
    return low


cdef int releases_add(releases_t *r, double end, int32_t job, int32_t nodes) noexcept nogil:
    cdef int32_t i
    cdef release_t *bigger
    if r.n == r.capacity:
        bigger = <release_t *>realloc(r.items, 2 * <size_t>r.capacity * sizeof(release_t))
        if bigger == NULL:
            return -1
        r.items = bigger
        r.capacity *= 2
    i = place_of(r, end, job)
    memmove(&r.items[i + 1], &r.items[i], <size_t>(r.n - i) * sizeof(release_t))
    r.items[i].end = end
    r.items[i].job = job
    r.items[i].nodes = nodes
    r.n += 1
    r.changes += 1
    return 0


cdef void releases_remove(releases_t *r, double end, int32_t job) noexcept nogil:
    cdef int32_t i = place_of(r, end, job)
    fs_require(i < r.n and r.items[i].job == job and r.items[i].end == end)
    r.n -= 1
    r.changes += 1
    memmove(&r.items[i], &r.items[i + 1], <size_t>(r.n - i) * sizeof(release_t))


cdef double releases_shadow(const releases_t *r, double now, int64_t free, int64_t need, int64_t *extra) noexcept nogil:
    cdef int64_t there = free
    cdef int32_t i = 0
    cdef double shadow
    while i < r.n and there < need:
        there += r.items[i].nodes
        i += 1
    if there < need:
        extra[0] = 0
        return INFINITY
    shadow = r.items[i - 1].end if i > 0 else now
    if shadow < now:
        shadow = now
    # All that ends by then counts, ties and overrun jobs included (model.md#releases).
    while i < r.n and r.items[i].end <= shadow:
        there += r.items[i].nodes
        i += 1
    extra[0] = there - need
    return shadow
