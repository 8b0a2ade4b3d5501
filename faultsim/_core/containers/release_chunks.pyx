# cython: profile=False
"""More running jobs than one chunk holds; the contract is in releases.pxd.

With n of them and a room of B, one comes or goes in O(log n + B + n / B^2): it is searched for by bisection, up to B
others make place, and now and then, after B / 4 changes or more, one of n / B chunks is split or joined.  The shadow is
found in O(n / B + B).
"""

from libc.math cimport INFINITY
from libc.stdlib cimport realloc
from libc.string cimport memcpy, memmove

from faultsim._core.contract cimport fs_prefetch, fs_require


cdef int32_t chunk_of(const releases_t *r, double end, int32_t job) noexcept nogil:
    """The first chunk with a last item not below (end, job), else the last chunk."""
    cdef const chunk_t *at = r.chunk
    cdef int32_t n = r.n_chunks - 1, half
    # Without branches: their outcomes are random, so a processor would mispredict half of them.
    while n > 0:
        half = (n + 1) >> 1
        at += half * ((at[half - 1].end < end) | ((at[half - 1].end == end) & (at[half - 1].job < job)))
        n -= half
    return <int32_t>(at - r.chunk)


cdef inline int32_t index_of_release(const release_t *items, int32_t n, double end, int32_t job) noexcept nogil:
    """The same of the releases in a chunk; n where all are below."""
    cdef const release_t *at = items
    cdef int32_t half, k
    # Where the search may look first, all at once.
    for k in range(1, 8):
        fs_prefetch(items + ((n * k) >> 3))
    while n > 0:
        half = (n + 1) >> 1
        at += half * ((at[half - 1].end < end) | ((at[half - 1].end == end) & (at[half - 1].job < job)))
        n -= half
    return <int32_t>(at - items)


cdef inline void note_last(releases_t *r, int32_t c) noexcept nogil:
    cdef const release_t *last = chunk_items(r, c) + r.chunk[c].n - 1
    r.chunk[c].end, r.chunk[c].job = last.end, last.job


cdef void note_all(releases_t *r, int32_t c) noexcept nogil:
    """Computes the fields of a chunk from its releases."""
    cdef const release_t *items = chunk_items(r, c)
    cdef int32_t i
    r.chunk[c].nodes = 0
    for i in range(r.chunk[c].n):
        r.chunk[c].nodes += items[i].nodes
    note_last(r, c)


cdef int more_slots(releases_t *r) noexcept nogil:
    cdef int32_t k
    cdef void *bigger = realloc(r.store, 2 * <size_t>r.n_slots * r.room * sizeof(release_t))
    if bigger == NULL:
        return -1
    r.store = <release_t *>bigger
    r.first = chunk_items(r, 0)
    bigger = realloc(r.chunk, 2 * <size_t>r.n_slots * sizeof(chunk_t))
    if bigger == NULL:
        return -1
    r.chunk = <chunk_t *>bigger
    for k in range(r.n_slots, 2 * r.n_slots):
        r.chunk[k].slot = k
    r.n_slots *= 2
    return 0


cdef int split(releases_t *r, int32_t c) noexcept nogil:
    """The upper half of a chunk goes to a new one."""
    cdef int32_t half = r.chunk[c].n >> 1, rest = r.chunk[c].n - half, slot
    if r.n_chunks == r.n_slots and more_slots(r) < 0:
        return -1
    slot = r.chunk[r.n_chunks].slot
    memmove(&r.chunk[c + 2], &r.chunk[c + 1], <size_t>(r.n_chunks - c - 1) * sizeof(chunk_t))
    r.moved += rest + r.n_chunks - c - 1
    r.n_chunks += 1
    r.chunk[c + 1].slot = slot
    r.chunk[c].n, r.chunk[c + 1].n = half, rest
    memcpy(chunk_items(r, c + 1), chunk_items(r, c) + half, <size_t>rest * sizeof(release_t))
    note_all(r, c)
    note_all(r, c + 1)
    return 0


cdef void drop_chunk(releases_t *r, int32_t c) noexcept nogil:
    """Removes a chunk that has no releases."""
    cdef int32_t slot = r.chunk[c].slot
    r.n_chunks -= 1
    memmove(&r.chunk[c], &r.chunk[c + 1], <size_t>(r.n_chunks - c) * sizeof(chunk_t))
    r.moved += r.n_chunks - c
    r.chunk[r.n_chunks].slot = slot
    r.first = chunk_items(r, 0)


cdef void join_next(releases_t *r, int32_t c) noexcept nogil:
    """A chunk takes in the one after it, if few are in the two."""
    if r.chunk[c].n + r.chunk[c + 1].n > r.room >> 1:
        return
    memcpy(chunk_items(r, c) + r.chunk[c].n, chunk_items(r, c + 1), <size_t>r.chunk[c + 1].n * sizeof(release_t))
    r.moved += r.chunk[c + 1].n
    r.chunk[c].n += r.chunk[c + 1].n
    r.chunk[c].nodes += r.chunk[c + 1].nodes
    r.chunk[c].end, r.chunk[c].job = r.chunk[c + 1].end, r.chunk[c + 1].job
    drop_chunk(r, c + 1)


cdef int reserve_flat(releases_t *r) noexcept nogil:
    """Makes room for one more release while NO_MEMORY can still be returned."""
    cdef int32_t capacity = r.cap_flat
    cdef void *bigger
    if r.n < capacity:
        return 0
    capacity = 2 * (capacity if capacity > r.n else r.n)
    bigger = realloc(r.flat, <size_t>capacity * sizeof(release_t))
    if bigger == NULL:
        return -1
    r.flat = <release_t *>bigger
    r.cap_flat = capacity
    return 0


cdef int chunks_add(releases_t *r, double end, int32_t job, int32_t nodes) noexcept nogil:
    cdef int32_t c, i, n
    cdef release_t *items
    if reserve_flat(r) < 0:
        return -1
    if r.n_chunks == 1:
        r.chunk[0].n = r.n
        c = 0
    else:
        c = chunk_of(r, end, job)
    if r.chunk[c].n == r.room:
        if split(r, c) < 0:
            return -1
        c += r.chunk[c].end < end or (r.chunk[c].end == end and r.chunk[c].job < job)
    items = chunk_items(r, c)
    n = r.chunk[c].n
    i = index_of_release(items, n, end, job)
    memmove(&items[i + 1], &items[i], <size_t>(n - i) * sizeof(release_t))
    r.moved += n - i
    items[i].end = end
    items[i].job = job
    items[i].nodes = nodes
    r.chunk[c].n += 1
    r.chunk[c].nodes += nodes
    note_last(r, c)
    r.n += 1
    r.changes += 1
    return 0


cdef void chunks_remove(releases_t *r, double end, int32_t job) noexcept nogil:
    cdef int32_t c = 0, i = 0, n
    cdef release_t *items = r.first
    if items[0].job != job:              # it is the first one where estimates are right
        c = chunk_of(r, end, job)
        items = chunk_items(r, c)
        i = index_of_release(items, r.chunk[c].n, end, job)
    n = r.chunk[c].n
    fs_require(i < n and items[i].job == job and items[i].end == end)
    r.n -= 1
    r.changes += 1
    n -= 1
    r.chunk[c].n = n
    r.chunk[c].nodes -= items[i].nodes
    memmove(&items[i], &items[i + 1], <size_t>(n - i) * sizeof(release_t))
    r.moved += n - i
    if n == 0:
        drop_chunk(r, c)
        # Its neighbours are neighbours now, and each had more than half a room with it.
        return
    note_last(r, c)
    if c + 1 < r.n_chunks:
        join_next(r, c)
    if c > 0:
        join_next(r, c - 1)


cdef double chunks_shadow(const releases_t *r, double now, int64_t free, int64_t need,
                          int64_t *extra) noexcept nogil:
    cdef int64_t there = free
    cdef int32_t c = 0, i = 0
    cdef double shadow
    cdef const release_t *items
    while c < r.n_chunks and there + r.chunk[c].nodes < need:
        there += r.chunk[c].nodes
        c += 1
    if c == r.n_chunks:
        extra[0] = 0
        return INFINITY
    items = chunk_items(r, c)
    while there < need:
        there += items[i].nodes
        i += 1
    shadow = items[i - 1].end if i > 0 else now      # before the first of a later chunk there were too few
    if shadow < now:
        shadow = now
    while i < r.chunk[c].n and items[i].end <= shadow:
        there += items[i].nodes
        i += 1
    if i == r.chunk[c].n:
        c += 1
        while c < r.n_chunks and r.chunk[c].end <= shadow:
            there += r.chunk[c].nodes
            c += 1
        if c < r.n_chunks:
            items = chunk_items(r, c)
            i = 0
            while items[i].end <= shadow:
                there += items[i].nodes
                i += 1
    extra[0] = there - need
    return shadow
