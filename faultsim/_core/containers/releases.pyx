# cython: profile=False
"""The running jobs in order of expected end, as one sorted array; the contract is in releases.pxd."""

from libc.math cimport INFINITY
from libc.stdlib cimport free as c_free, malloc
from libc.string cimport memcpy, memmove, memset

from faultsim._core.containers.release_chunks cimport chunk_items, chunk_t, chunks_add, chunks_remove, chunks_shadow
from faultsim._core.contract cimport fs_require


cdef int releases_init(releases_t *r, int32_t room) noexcept nogil:
    memset(r, 0, sizeof(releases_t))
    r.room = room
    r.store = <release_t *>malloc(<size_t>room * sizeof(release_t))
    r.chunk = <chunk_t *>malloc(sizeof(chunk_t))
    if r.store == NULL or r.chunk == NULL:
        releases_free(r)
        return -1
    r.n_chunks = r.n_slots = 1
    r.chunk[0].slot = 0
    r.first = r.store
    return 0


cdef void releases_free(releases_t *r) noexcept nogil:
    c_free(r.store)
    c_free(r.chunk)
    c_free(r.flat)
    r.store = r.first = r.flat = NULL
    r.chunk = NULL


cdef int releases_copy(releases_t *to, const releases_t *source) noexcept nogil:
    memset(to, 0, sizeof(releases_t))
    to.store = <release_t *>malloc(<size_t>source.n_slots * source.room * sizeof(release_t))
    to.chunk = <chunk_t *>malloc(<size_t>source.n_slots * sizeof(chunk_t))
    if source.cap_flat > 0:
        to.flat = <release_t *>malloc(<size_t>source.cap_flat * sizeof(release_t))
    if to.store == NULL or to.chunk == NULL or (source.cap_flat > 0 and to.flat == NULL):
        releases_free(to)
        return -1
    to.n, to.room, to.n_chunks, to.n_slots = source.n, source.room, source.n_chunks, source.n_slots
    to.changes, to.moved, to.cap_flat, to.flat_changes = source.changes, source.moved, source.cap_flat, -1
    memcpy(to.chunk, source.chunk, <size_t>source.n_slots * sizeof(chunk_t))
    to.first = chunk_items(to, 0)
    if source.n_chunks == 1:
        memcpy(to.first, source.first, <size_t>source.n * sizeof(release_t))
    else:
        memcpy(to.store, source.store, <size_t>source.n_slots * source.room * sizeof(release_t))
    return 0


cdef inline int32_t release_index(const release_t *items, int32_t n, double end, int32_t job) noexcept nogil:
    # First index of a release not below (end, job).
    cdef int32_t low = 0, high = n, mid
    while low < high:
        mid = (low + high) >> 1
        if items[mid].end < end or (items[mid].end == end and items[mid].job < job):
            low = mid + 1
        else:
            high = mid
    return low


cdef int releases_add(releases_t *r, double end, int32_t job, int32_t nodes) noexcept nogil:
    cdef release_t *at
    cdef int32_t n = r.n, i
    if r.n_chunks > 1 or n == r.room:
        return chunks_add(r, end, job, nodes)
    i = release_index(r.first, n, end, job)
    at = r.first + i
    memmove(at + 1, at, <size_t>(n - i) * sizeof(release_t))
    at.end = end
    at.job = job
    at.nodes = nodes
    r.n = n + 1
    r.changes += 1
    return 0


cdef void releases_remove(releases_t *r, double end, int32_t job) noexcept nogil:
    cdef release_t *at
    cdef int32_t n = r.n, i
    if r.n_chunks > 1:
        chunks_remove(r, end, job)
        return
    i = release_index(r.first, n, end, job)
    fs_require(i < n and r.first[i].job == job and r.first[i].end == end)
    r.n = n - 1
    r.changes += 1
    at = r.first + i
    memmove(at, at + 1, <size_t>(n - 1 - i) * sizeof(release_t))


cdef double releases_shadow(const releases_t *r, double now, int64_t free, int64_t need, int64_t *extra) noexcept nogil:
    cdef int64_t there = free
    cdef int32_t i = 0
    cdef double shadow
    if r.n_chunks > 1:
        return chunks_shadow(r, now, free, need, extra)
    while i < r.n and there < need:
        there += r.first[i].nodes
        i += 1
    if there < need:
        extra[0] = 0
        return INFINITY
    shadow = r.first[i - 1].end if i > 0 else now
    if shadow < now:
        shadow = now
    # All that ends by then counts, ties and overrun jobs included (model.md#releases).
    while i < r.n and r.first[i].end <= shadow:
        there += r.first[i].nodes
        i += 1
    extra[0] = there - need
    return shadow


cdef release_t *releases_written(releases_t *r) noexcept nogil:
    cdef release_t *to = r.flat
    cdef int32_t c
    if r.flat_changes != r.changes:
        for c in range(r.n_chunks):
            memcpy(to, chunk_items(r, c), <size_t>r.chunk[c].n * sizeof(release_t))
            to += r.chunk[c].n
        r.flat_changes = r.changes
    return r.flat


# ---------------------------------------------------------------------------------------------- checks

cdef bint releases_are_right(const releases_t *r) noexcept nogil:
    cdef const release_t *items
    cdef const release_t *before = NULL
    cdef int32_t c, i, count, n = 0
    cdef int64_t nodes
    if not 1 <= r.n_chunks <= r.n_slots or r.first != chunk_items(r, 0):
        return False
    for c in range(r.n_chunks):
        items = chunk_items(r, c)
        count = r.n if r.n_chunks == 1 else r.chunk[c].n
        nodes = 0
        if count > r.room or (r.n_chunks > 1 and count < 1):
            return False
        if c > 0 and r.chunk[c - 1].n + count <= r.room >> 1:
            return False
        for i in range(count):
            if before != NULL and not (
                    before.end < items[i].end or (before.end == items[i].end and before.job < items[i].job)):
                return False
            before = &items[i]
            nodes += before.nodes
        if r.n_chunks > 1 and (
                r.chunk[c].nodes != nodes or r.chunk[c].end != before.end or r.chunk[c].job != before.job):
            return False
        n += count
    return n == r.n


cdef class Releases:
    """Releases of their own, for tests of what they do with any room."""

    cdef releases_t of

    def __cinit__(self, int32_t room):
        if releases_init(&self.of, room) < 0:
            raise MemoryError(f"no memory for {room} releases")

    def __dealloc__(self):
        releases_free(&self.of)

    def add(self, double end, int32_t job, int32_t nodes):
        if releases_add(&self.of, end, job, nodes) < 0:
            raise MemoryError(f"no memory for more than {self.of.n} releases")

    def remove(self, double end, int32_t job):
        releases_remove(&self.of, end, job)

    def shadow(self, double now, int64_t free, int64_t need):
        cdef int64_t extra = 0
        cdef double time = releases_shadow(&self.of, now, free, need, &extra)
        return time, extra

    def copy(self):
        cdef Releases other = Releases.__new__(Releases, 2)
        releases_free(&other.of)
        if releases_copy(&other.of, &self.of) < 0:
            raise MemoryError(f"no memory for a copy of {self.of.n} releases")
        return other

    def show(self):
        cdef const release_t *items = releases_all(&self.of)
        cdef int32_t i
        return [(items[i].end, items[i].job, items[i].nodes) for i in range(self.of.n)]

    @property
    def chunks(self):
        return self.of.n_chunks

    @property
    def moved(self):
        return self.of.moved

    def verify(self):
        return releases_are_right(&self.of)

    def __reduce__(self):
        raise TypeError("Releases holds C memory and is not pickled")
