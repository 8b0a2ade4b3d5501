"""The queue of waiting jobs; the contract is in queue.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memmove

from faultsim._core.containers.memory cimport blocks_queued, blocks_room_jobs
from faultsim._core.contract cimport fs_require
from faultsim._core.state cimport CHANGED_NOTHING, CHANGED_TAIL, JOB_FUTURE, JOB_QUEUED, JOB_RUNNING, usable
from faultsim._core.status cimport OK


cdef int open_scan(sim_t *s) except -1:
    if s.queue.need != NULL:
        return 0
    blocks_room_jobs(&s.blocks, s, &s.queue.need, s.n, sizeof(int32_t))
    blocks_queued(&s.blocks)
    blocks_room_jobs(&s.blocks, s, &s.queue.least, s.n, sizeof(float))
    blocks_queued(&s.blocks)
    if s.blocks.failed:
        raise MemoryError("no memory for the queue")
    return 0


cdef int open_slopes(sim_t *s) except -1:
    if s.order.slope_of == NULL or s.queue.slope != NULL:
        return 0
    blocks_room_jobs(&s.blocks, s, &s.queue.slope, s.n, sizeof(float))
    blocks_queued(&s.blocks)
    blocks_room_jobs(&s.blocks, s, &s.queue.since, s.n, sizeof(float))
    blocks_queued(&s.blocks)
    if s.blocks.failed:
        raise MemoryError("no memory for the queue")
    return 0


cdef void queue_again(sim_t *s) noexcept nogil:
    cdef queue_t *q = &s.queue
    cdef int32_t i, k, job
    q.unsorted = -INFINITY
    for i in range(q.head, q.end):
        job = q.job[i]
        k = i
        while k > q.head and queued_before(s, job, q.job[k - 1]):
            q.job[k] = q.job[k - 1]
            k -= 1
        q.job[k] = job
    for i in range(q.head, q.end):
        if q.need != NULL:
            set_scan(s, i)
        if s.scheduler.queued != NULL:
            s.scheduler.queued(s.scheduler.state, s, q.job[i])


cdef int sort_now(sim_t *s) noexcept nogil:
    cdef int32_t i
    cdef int code = s.order.sort(s.order.state, s)
    if code != OK:
        return code              # the queue is as it was
    s.queue.unsorted = -INFINITY
    if s.queue.need != NULL:
        for i in range(s.queue.head, s.queue.end):
            set_scan(s, i)
    return OK


cdef bint any_fits(const sim_t *s) noexcept nogil:
    """Whether any waiting job needs at most the nodes that a pass may use."""
    cdef const queue_t *q = &s.queue
    cdef int32_t i, free = usable(s)
    if free <= 0:
        return False
    if q.need != NULL:
        return next_fitting(q.need, q.head, q.end, free) < q.end
    for i in range(q.head, q.end):
        if s.need[q.job[i]] <= free:
            return True
    return False


cdef int sort_to_start(sim_t *s) noexcept nogil:
    # A migration depends on the first job of the queue.
    if s.migration.rearrange == NULL and not any_fits(s):
        s.queue.unsorted = s.now
        return OK
    return sort_now(s)


cdef int sort_as_of_pass(sim_t *s) noexcept nogil:
    cdef double now = s.now
    cdef int code
    if s.queue.unsorted == -INFINITY:
        return OK
    s.now = s.queue.unsorted
    code = sort_now(s)
    s.now = now
    return code


cdef int enqueue(sim_t *s, int32_t job) noexcept nogil:
    cdef queue_t *q = &s.queue
    cdef int32_t low, high, mid
    cdef bint is_last = False        # by its entry
    fs_require(s.state[job] == JOB_FUTURE or s.state[job] == JOB_RUNNING)
    if q.entry != NULL and (s.state[job] == JOB_FUTURE or not q.keeps_entry):
        q.entry[job] = q.next_entry
        q.next_entry += 1
        is_last = q.key == NULL
    s.state[job] = JOB_QUEUED
    s.demand += s.size[job]
    if s.scheduler.queued != NULL:
        s.scheduler.queued(s.scheduler.state, s, job)
    if q.end == s.n:        # the room in front is that of jobs which left
        memmove(q.job, &q.job[q.head], <size_t>(q.end - q.head) * sizeof(int32_t))
        if q.need != NULL:
            move_scan(q, 0, q.head, q.end - q.head)
        q.end -= q.head
        q.head = 0
    low = q.end
    if s.order.sort == NULL and q.end > q.head:
        high = q.end
        low = q.head
        # Nearly every arrival belongs at the end.
        if is_last or queued_before(s, q.job[high - 1], job):
            low = high
        while low < high:
            mid = (low + high) >> 1
            if queued_before(s, q.job[mid], job):
                low = mid + 1
            else:
                high = mid
    if low < q.end:
        memmove(&q.job[low + 1], &q.job[low], <size_t>(q.end - low) * sizeof(int32_t))
        if q.need != NULL:
            move_scan(q, low + 1, low, q.end - low)
        s.change = CHANGED_ALL
        s.epoch += 1         # a job entered ahead: promises to those behind may be missed
    elif s.change == CHANGED_NOTHING:
        s.change = CHANGED_TAIL
    q.job[low] = job
    if q.need != NULL:
        set_scan(s, low)
    q.end += 1
    return OK
