# Storage of the releases (releases.pxd): the running jobs in order of expected end.
#
# They are in chunks of at most `room` jobs, so that an insertion or removal moves few others.  Each chunk stores the
# sum of its jobs' nodes, so that a search for nodes skips a chunk in one step.  Two neighbours have more than room / 2
# jobs together.  As long as one chunk suffices it is a plain sorted array, without a sum.

from libc.stdint cimport int32_t, int64_t

cdef struct release_t:
    double end
    int32_t job
    int32_t nodes

cdef struct chunk_t:
    double end               # of the last one in it
    int64_t nodes            # of all in it
    int32_t job              # the last one
    int32_t n
    int32_t slot             # where they are: store[slot * room...]

cdef struct releases_t:
    release_t *first         # the first chunk: the first release if there is any, and all while they are one chunk
    int32_t n                # of all
    int32_t room
    int32_t n_chunks
    int32_t n_slots
    chunk_t *chunk           # in order; those from n_chunks on name the slots that are free
    release_t *store
    int64_t changes          # so often was one added or removed
    int64_t moved            # in chunks: releases, and chunks, that stood in the way of others
    release_t *flat          # scratch of releases_all
    int32_t cap_flat
    int64_t flat_changes     # when it was written

# Of releases that are more than one chunk, or come to be by the one that is added.
cdef int chunks_add(releases_t *r, double end, int32_t job, int32_t nodes) noexcept nogil       # 0, or -1 no memory
cdef void chunks_remove(releases_t *r, double end, int32_t job) noexcept nogil
cdef double chunks_shadow(const releases_t *r, double now, int64_t free, int64_t need, int64_t *extra) noexcept nogil


cdef inline release_t *chunk_items(const releases_t *r, int32_t c) noexcept nogil:
    return r.store + <size_t>r.chunk[c].slot * r.room
