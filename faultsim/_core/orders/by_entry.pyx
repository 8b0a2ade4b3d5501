"""The waiting jobs in the order of entry; the contract is in by_entry.pxd."""

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t

from faultsim._core.containers.memory cimport own_jobs
from faultsim._core.orders.sorting cimport entry_of, open_sorter, reorder
from faultsim._core.state cimport JOB_QUEUED, sim_t
from faultsim._core.status cimport PYTHON_ERROR


cdef int open_by_entry(void *state, by_entry_t *p, int32_t n) except -1:
    own_jobs(state, &p.job, n, sizeof(int32_t))
    own_jobs(state, &p.known, n, sizeof(int64_t))
    own_jobs(state, &p.rank, n, sizeof(int32_t))
    own_jobs(state, &p.fresh, n, sizeof(int32_t))
    return open_sorter(state, &p.sorter, n)


cdef void add(by_entry_t *p, const sim_t *s, int32_t missing) noexcept nogil:
    """The jobs that entered since the last pass: the last of the queue, but for those that are back where they were."""
    cdef int32_t at = s.queue.end - 1, m = 0, i, job
    cdef int64_t number
    while m < missing:
        job = s.queue.job[at]
        at -= 1
        if p.known[job] == 0:
            number = entry_of(s, job)
            i = m            # from the end of the queue on, so nearly always the smallest number so far
            while i > 0 and entry_of(s, p.fresh[i - 1]) < number:
                p.fresh[i] = p.fresh[i - 1]
                i -= 1
            p.fresh[i] = job
            m += 1
    # Merged from behind: `fresh` descends.
    at = p.n - 1
    p.n += missing
    i = p.n - 1
    m = 0
    while m < missing:
        number = entry_of(s, p.fresh[m])
        while at >= 0 and entry_of(s, p.job[at]) > number:
            p.job[i] = p.job[at]
            p.rank[p.job[i]] = i
            i -= 1
            at -= 1
        p.job[i] = p.fresh[m]
        p.rank[p.job[i]] = i
        p.known[p.fresh[m]] = 1 + number
        i -= 1
        m += 1


cdef void follow_queue(by_entry_t *p, const sim_t *s) noexcept nogil:
    cdef int32_t count = s.queue.end - s.queue.head, kept = 0, i, job
    cdef const int64_t *entry = s.queue.entry
    for i in range(p.n):
        job = p.job[i]
        # A job that left and is back is where it was, unless it has another number of entry now.
        if s.state[job] == JOB_QUEUED and (entry == NULL or p.known[job] == 1 + entry[job]):
            p.job[kept] = job
            p.rank[job] = kept
            kept += 1
        else:
            p.known[job] = 0
    p.n = kept
    if kept < count:
        add(p, s, count - kept)


cdef void sort_by_keys(by_entry_t *p, sim_t *s, const double *key) noexcept nogil:
    cdef const int32_t *job = &s.queue.job[s.queue.head]
    cdef int32_t i, rank
    if p.n < 2:
        return
    for i in range(p.n):
        rank = p.rank[job[i]]
        p.sorter.item[i].key = key[rank]
        p.sorter.item[i].entry = rank
        p.sorter.item[i].job = job[i]
    reorder(&p.sorter, s)


cdef int32_t first_nan(const double *key, int32_t n) noexcept nogil:
    cdef int32_t i
    cdef bint wrong = False
    for i in range(n):
        wrong |= key[i] != key[i]
    if wrong:
        for i in range(n):
            if key[i] != key[i]:
                return i
    return -1


cdef int refuse_key(sim_t *s, PyObject *refused, int32_t job) noexcept nogil:
    with gil:
        try:
            error = (<object>refused)(job if s.row == NULL else s.row[job], s.now)
        except BaseException as other:
            error = other
        (<object><PyObject *>s.owner).keep_error(error)
    return PYTHON_ERROR
