# The queue of waiting jobs (queue_t of state.pxd), in its order.

from libc.math cimport fabs
from libc.stdint cimport int32_t
from libc.string cimport memmove

from faultsim._core.state cimport CHANGED_ALL, queue_t, sim_t

cdef enum:
    # Jobs that are read together: the width of a vector loop, so a constant; of 16 the compiler makes no vectors, but a
    # list of instructions.  Queues of 33 jobs and more test it (tests/core/test_conservative_many.py, the soak of
    # tests/verification/plain_cluster.py).
    TOGETHER = 32

# A job that has arrived or was killed enters the queue in its place; OK or a status < 0.
cdef int enqueue(sim_t *s, int32_t job) noexcept nogil
cdef int sort_now(sim_t *s) noexcept nogil
# For a scheduler that scans: keep queue_t.need and queue_t.least from now on.
cdef int open_scan(sim_t *s) except -1
# The same of queue_t.slope, if the order has any.
cdef int open_slopes(sim_t *s) except -1
# Whether any waiting job needs at most the nodes that a pass may use.
cdef bint any_fits(const sim_t *s) noexcept nogil
# Another order, and another scheduler, meet the jobs that wait already.
cdef void queue_again(sim_t *s) noexcept nogil


cdef inline float least_of(double remaining) noexcept nogil:
    """Rounded down, with no call, and finite.  What is less for two jobs is less for what remains of them."""
    return <float>min(remaining * (1.0 - 1.5e-7), 3.4e38)


# Bounds of what a score is made of (by_slope.pyx), so that half as much is read.  A slope too small for a float is as
# good as the largest, and time_after(now) is after time_before(submit) even where both are 0: no product is NaN.
cdef inline float slope_above(double slope) noexcept nogil:
    return <float>(slope * (1.0 + 1.5e-7)) if slope >= 1e-30 else <float>3e38


cdef inline float time_before(double t) noexcept nogil:
    return <float>min(t - fabs(t) * 1.5e-7, 3e38)


cdef inline float time_after(double t) noexcept nogil:
    return <float>(t + fabs(t) * 1.5e-7 + 1e-30)


cdef inline void set_scan(sim_t *s, int32_t at) noexcept nogil:
    """What a scan sees of the job at a place."""
    s.queue.need[at] = s.need[s.queue.job[at]]
    s.queue.least[at] = least_of(s.remaining[s.queue.job[at]])
    if s.queue.slope != NULL and s.order.slope_of != NULL:
        s.queue.slope[at] = slope_above(s.order.slope_of(s, s.queue.job[at]))
        s.queue.since[at] = time_before(s.submit[s.queue.job[at]])


# A queue order that changes with time, if there is one, brings the queue into its order; OK or a status < 0.
cdef inline int sort_queue(sim_t *s) noexcept nogil:
    return 0 if s.order.sort == NULL else sort_now(s)


# The same for a pass in which only jobs that start depend on the order: if no job can start, the queue stays unsorted,
# with arrivals at its end.
cdef int sort_to_start(sim_t *s) noexcept nogil
# For readers of the queue between two instants: sorts it as at the last pass.
cdef int sort_as_of_pass(sim_t *s) noexcept nogil


# At the beginning of a pass that keeps no reservations: another head may come first now, and promises are excused.
cdef inline int begin_pass(sim_t *s) noexcept nogil:
    if s.order.sort == NULL:
        return 0
    s.change = CHANGED_ALL
    s.epoch += 1
    return sort_to_start(s)


cdef inline bint is_empty(queue_t *q) noexcept nogil:
    if q.head != q.end:
        return False
    q.head = 0
    q.end = 0
    return True


# Does `a` come before `b` in the queue, keys and all?
cdef inline bint queued_before(const sim_t *s, int32_t a, int32_t b) noexcept nogil:
    if s.queue.key != NULL and s.queue.key[a] != s.queue.key[b]:
        return s.queue.key[a] < s.queue.key[b]
    if s.queue.entry != NULL:
        return s.queue.entry[a] < s.queue.entry[b]
    return a < b


cdef inline void move_scan(queue_t *q, int32_t to, int32_t at, int32_t count) noexcept nogil:
    memmove(&q.need[to], &q.need[at], <size_t>count * sizeof(int32_t))
    memmove(&q.least[to], &q.least[at], <size_t>count * sizeof(float))
    if q.slope != NULL:
        memmove(&q.slope[to], &q.slope[at], <size_t>count * sizeof(float))
        memmove(&q.since[to], &q.since[at], <size_t>count * sizeof(float))


# Takes the started jobs, those at [keep, at), out of the queue.
cdef inline void close_gap(queue_t *q, int32_t keep, int32_t at) noexcept nogil:
    if keep != at:
        memmove(&q.job[keep], &q.job[at], <size_t>(q.end - at) * sizeof(int32_t))
        if q.need != NULL:
            move_scan(q, keep, at, q.end - at)
        q.end -= at - keep


cdef inline int32_t keep_range(queue_t *q, int32_t keep, int32_t begin, int32_t end) noexcept nogil:
    """Close the gap in front of the jobs at [begin, end), which stay; where the next one belongs."""
    if keep != begin and begin < end:
        memmove(&q.job[keep], &q.job[begin], <size_t>(end - begin) * sizeof(int32_t))
        if q.need != NULL:
            move_scan(q, keep, begin, end - begin)
    return keep + (end - begin)


# Closes the last gap, that at [keep, begin), by moving the shorter part of the queue.
cdef inline void close_last_gap(queue_t *q, int32_t keep, int32_t begin) noexcept nogil:
    cdef int32_t front = keep - q.head, gap = begin - keep
    if gap == 0 or front >= q.end - begin:
        close_gap(q, keep, begin)
        return
    memmove(&q.job[q.head + gap], &q.job[q.head], <size_t>front * sizeof(int32_t))
    if q.need != NULL:
        move_scan(q, q.head + gap, q.head, front)
    q.head += gap


cdef inline int32_t next_fitting(const int32_t *need, int32_t at, int32_t end, int32_t free) noexcept nogil:
    """The first position from `at` on of a job that needs at most `free` nodes; `end`: none."""
    cdef const int32_t *here
    cdef int32_t k, fits
    while at + TOGETHER <= end:
        here, fits = need + at, 0
        for k in range(TOGETHER):        # the compiler makes vectors of this
            fits |= here[k] <= free
        if fits:
            break
        at += TOGETHER
    while at < end and need[at] > free:
        at += 1
    return at
