# The running jobs in order of expected end: when nodes come back.
#
# Contract: sorted by (end, job).  `end` is the raw expected end (decision + start delay + estimate, moved by migration
# costs); it may lie in the past when a job outlives its estimate, and the reader takes max(now, end)
# (model.md#overrun).  `nodes` is what the job holds (its allocated size).

from libc.stdint cimport int32_t, int64_t

from faultsim._core.containers.release_chunks cimport release_t, releases_t

cdef int releases_init(releases_t *r, int32_t room) noexcept nogil      # at least 2; 0, or -1 no memory
cdef void releases_free(releases_t *r) noexcept nogil
cdef int releases_copy(releases_t *to, const releases_t *source) noexcept nogil
cdef int releases_add(releases_t *r, double end, int32_t job, int32_t nodes) noexcept nogil
cdef void releases_remove(releases_t *r, double end, int32_t job) noexcept nogil
cdef bint releases_are_right(const releases_t *r) noexcept nogil

# Shadow time and extra nodes of a job of `need` nodes (EASY): the first release after which `need` nodes are
# free, every release at that time counted.  inf when the running jobs do not hold enough.
cdef double releases_shadow(const releases_t *r, double now, int64_t free, int64_t need, int64_t *extra) noexcept nogil

# All n in one array, valid until the next change: for functions that read most of them.
cdef release_t *releases_written(releases_t *r) noexcept nogil


cdef inline const release_t *releases_all(const releases_t *r) noexcept nogil:
    return r.first if r.n_chunks == 1 else releases_written(<releases_t *>r)
