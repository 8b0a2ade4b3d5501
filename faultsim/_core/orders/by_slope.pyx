"""The first of a queue without sorting it; the contract is in by_slope.pxd."""

from libc.stdint cimport INT32_MAX, int32_t

from faultsim._core.queue cimport time_after
from faultsim._core.orders.sorting cimport entry_of, keyed_t, reorder, sorter_t
from faultsim._core.state cimport JOB_QUEUED, queue_t, sim_t

cdef enum:
    # Jobs that are read together: the width of a vector loop, so a constant.  Queues of 17 jobs and more test it
    # (tests/core/test_by_slope.py, test_slopes_of_any_size.py).
    BLOCK = 16

# Key and score are each right to a few units in the last place, and no power of a score between these bounds that an
# order may take leaves the range of a double.
cdef const double NEAR = 1e-12
cdef const double LEAST = 1e-90
cdef const double MOST = 1e90


# The jobs of a search: the arguments of first_candidate.
cdef struct room_t:
    int32_t free, extra
    float time


cdef inline double score_at(const sim_t *s, int32_t at) noexcept nogil:
    return s.order.slope_of(s, s.queue.job[at]) * (s.now - s.submit[s.queue.job[at]])


cdef inline bint clearly(double a, double b) noexcept nogil:
    """Whether a score is so much larger that its key is the smaller one."""
    return a - b > NEAR * a and LEAST < a < MOST


cdef bint keyed_before(const sim_t *s, int32_t a, int32_t b) noexcept nogil:
    cdef int32_t one = s.queue.job[a], other = s.queue.job[b]
    cdef double key = s.order.key_of(s, one), key_of_other = s.order.key_of(s, other)
    return key < key_of_other or (key == key_of_other and entry_of(s, one) < entry_of(s, other))


cdef inline bint before(const sim_t *s, int32_t a, double score, int32_t b, double score_of_other) noexcept nogil:
    return clearly(score, score_of_other) or (not clearly(score_of_other, score) and keyed_before(s, a, b))


cdef inline double as_good(double first) noexcept nogil:
    """The least score of a job that may come before one with this score."""
    return first * (1.0 - 2.0 * NEAR) if LEAST < first < MOST else -1.0      # no score is negative


cdef inline bint may_start(const queue_t *q, int32_t at, const room_t *room) noexcept nogil:
    return q.need[at] <= room.free and (q.need[at] <= room.extra or q.least[at] <= room.time)


cdef int32_t next_near(const queue_t *q, double now, int32_t at, double score, const room_t *room) noexcept nogil:
    """The beginning of the first block of positions from `at` on with a job that may start and have such a score."""
    cdef const int32_t *need
    cdef const float *least
    cdef const float *slope
    cdef const float *since
    cdef float later = time_after(now), time = room.time
    cdef float enough = <float>(score * (1.0 - 1e-6)) if score >= 1e-30 else 0.0
    cdef int32_t end = q.end, free = room.free, extra = room.extra, near, k
    while at + BLOCK <= end:
        need, least, slope, since, near = &q.need[at], &q.least[at], &q.slope[at], &q.since[at], 0
        for k in range(BLOCK):               # the compiler makes vectors of this
            near |= ((need[k] <= free) & ((need[k] <= extra) | (least[k] <= time))
                     & (slope[k] * (later - since[k]) >= enough))
        if near:
            break
        at += BLOCK
    return at


cdef int32_t first_candidate(sim_t *s, int32_t free, int32_t extra, float time) noexcept nogil:
    cdef const queue_t *q = &s.queue
    cdef double first = -1.0, score
    cdef int32_t at = -1, block = q.head, k
    cdef room_t room
    room.free, room.extra, room.time = free, extra, time
    s.work.looked += q.end - q.head
    while True:
        block = next_near(q, s.now, block, as_good(first), &room)
        if block >= q.end:
            return at
        for k in range(block, min(block + BLOCK, q.end)):
            if may_start(q, k, &room):
                score = score_at(s, k)
                if at < 0 or before(s, k, score, at, first):
                    at, first = k, score
        block += BLOCK


cdef int32_t first_job(sim_t *s) noexcept nogil:
    return first_candidate(s, INT32_MAX, INT32_MAX, 0.0)


cdef void remove_at(sim_t *s, int32_t at) noexcept nogil:
    cdef queue_t *q = &s.queue
    while q.end > q.head and s.state[q.job[q.end - 1]] != JOB_QUEUED:
        q.end -= 1
    if at < q.end:
        q.end -= 1
        q.job[at], q.need[at], q.least[at] = q.job[q.end], q.need[q.end], q.least[q.end]
        q.slope[at], q.since[at] = q.slope[q.end], q.since[q.end]


cdef bint sort_by_slope(sorter_t *sorter, sim_t *s, const double *slope) noexcept nogil:
    cdef int32_t n = s.queue.end - s.queue.head, i
    cdef int32_t *job = &s.queue.job[s.queue.head]
    cdef keyed_t *item = sorter.item
    for i in range(n):
        item[i].job = job[i]
        item[i].entry = entry_of(s, job[i])
        item[i].key = -slope[job[i]] * (s.now - s.submit[job[i]])
    reorder(sorter, s)
    item = sorter.item
    for i in range(1, n):
        if not clearly(-item[i - 1].key, -item[i].key):
            return False
    return True
