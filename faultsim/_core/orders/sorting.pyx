"""A merge sort that goes by the runs that are there already; the contract is in sorting.pxd."""

from libc.stdint cimport int32_t
from libc.string cimport memcpy

from faultsim._core.containers.memory cimport own_jobs
from faultsim._core.state cimport sim_t


cdef inline bint item_before(const keyed_t *a, const keyed_t *b) noexcept nogil:
    return a.key < b.key or (a.key == b.key and a.entry < b.entry)


cdef int open_sorter(void *state, sorter_t *sorter, int32_t n) except -1:
    own_jobs(state, &sorter.item, n, sizeof(keyed_t))
    own_jobs(state, &sorter.spare, n, sizeof(keyed_t))
    own_jobs(state, &sorter.run, n, sizeof(int32_t), 3 * sizeof(int32_t))
    return 0


cdef int32_t end_of_run(const keyed_t *item, int32_t begin, int32_t n) noexcept nogil:
    """Where the run that begins here ends."""
    cdef int32_t end = begin + 1
    while end < n and not item_before(&item[end], &item[end - 1]):
        end += 1
    return end


cdef int32_t first_behind(const keyed_t *item, int32_t low, int32_t high, const keyed_t *x) noexcept nogil:
    """The first of item[low..high), which is sorted, that is not item_before x."""
    cdef int32_t mid
    while low < high:
        mid = (low + high) >> 1
        if item_before(&item[mid], x):
            low = mid + 1
        else:
            high = mid
    return low


cdef void merge(keyed_t *item, keyed_t *spare, int32_t begin, int32_t mid, int32_t end) noexcept nogil:
    """Two runs become one; what is in its place already stays there."""
    cdef int32_t i = 0, j = mid, to, left
    begin = first_behind(item, begin, mid, &item[mid])
    if begin == mid:
        return
    end = first_behind(item, mid, end, &item[mid - 1])
    left = mid - begin
    memcpy(spare, &item[begin], <size_t>left * sizeof(keyed_t))
    to = begin
    while i < left and j < end:
        if item_before(&item[j], &spare[i]):
            item[to] = item[j]
            j += 1
        else:
            item[to] = spare[i]
            i += 1
        to += 1
    memcpy(&item[to], &spare[i], <size_t>(left - i) * sizeof(keyed_t))


cdef void merge_sort(sorter_t *sorter, int32_t n) noexcept nogil:
    cdef int32_t *run = sorter.run
    cdef int32_t n_runs = 0, at = 0, i, kept
    while at < n:
        run[n_runs] = at
        n_runs += 1
        at = end_of_run(sorter.item, at, n)
    run[n_runs] = n
    while n_runs > 1:
        kept = 0
        i = 0
        while i < n_runs:
            if i + 1 < n_runs:
                merge(sorter.item, sorter.spare, run[i], run[i + 1], run[i + 2])
            run[kept] = run[i]
            kept += 1
            i += 2
        n_runs = kept
        run[n_runs] = n


cdef void reorder(sorter_t *sorter, sim_t *s) noexcept nogil:
    cdef int32_t n = s.queue.end - s.queue.head, i
    cdef int32_t *job = &s.queue.job[s.queue.head]
    merge_sort(sorter, n)
    for i in range(n):
        job[i] = sorter.item[i].job
