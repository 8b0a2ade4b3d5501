"""The least number of free nodes in a plan; the contract is in least_free.pxd."""

from libc.stdlib cimport qsort

from faultsim._core.containers.releases cimport release_t, releases_all


cdef int by_time(const void *a, const void *b) noexcept nogil:
    cdef double p = (<const change_t *>a).time, q = (<const change_t *>b).time
    return (p > q) - (p < q)


cdef int64_t least_free(const sim_t *s, const double *begin, const double *end, const int32_t *nodes,
                        change_t *changes) noexcept nogil:
    cdef const release_t *items = releases_all(&s.releases)
    cdef int64_t level = s.free, least
    cdef int32_t i, job, n = 0
    for i in range(s.releases.n):
        changes[n].time = items[i].end
        changes[n].nodes = items[i].nodes
        n += 1
    for i in range(s.queue.head, s.queue.end):
        job = s.queue.job[i]
        if not begin[job] < end[job]:            # none, or of no length
            continue
        changes[n].time = begin[job]
        changes[n].nodes = -<int64_t>nodes[job]
        changes[n + 1].time = end[job]
        changes[n + 1].nodes = nodes[job]
        n += 2
    qsort(changes, <size_t>n, sizeof(change_t), by_time)
    i = 0
    while i < n and changes[i].time <= s.now:
        level += changes[i].nodes
        i += 1
    least = level
    while i < n:
        level += changes[i].nodes
        # All changes of one time count together.
        if (i + 1 == n or changes[i + 1].time > changes[i].time) and level < least:
            least = level
        i += 1
    return least if least > 0 else 0
