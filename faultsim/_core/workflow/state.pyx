"""State of a simulation of workflows, and how a job comes and goes; the contract is in workflow_state.pxd."""

from libc.math cimport INFINITY
from libc.stdlib cimport calloc, free as c_free
from libc.string cimport memset

from faultsim._core.containers.bit_tree cimport bit_tree_add, bit_tree_drop, bit_tree_free, bit_tree_init
from faultsim._core.containers.event_queue cimport event_t, heap_free, heap_init, heap_is_ordered, heap_push
from faultsim._core.contract cimport fs_require
from faultsim._core.record cimport room_for


# ---------------------------------------------------------------------------------------------- memory

cdef inline void *fresh(int64_t count, size_t each) noexcept nogil:
    return calloc(<size_t>count if count > 0 else 1, each)


cdef int workflow_alloc(workflow_t *s) noexcept nogil:
    cdef int64_t k
    cdef int32_t i, j
    s.words = (s.nodes + 63) // 64
    s.of = <int32_t *>fresh(s.n, sizeof(int32_t))
    s.pending = <int32_t *>fresh(s.n, sizeof(int32_t))
    s.pooled = <uint8_t *>fresh(s.n, 1)
    s.done = <uint8_t *>fresh(s.n, 1)
    s.ready = <double *>fresh(s.n, sizeof(double))
    s.rank = <double *>fresh(s.n, sizeof(double))
    s.pooled_of = <int32_t *>fresh(s.workflows, sizeof(int32_t))
    s.on = <int32_t *>fresh(s.nodes, sizeof(int32_t))
    s.is_down = <uint8_t *>fresh(s.nodes, 1)
    s.up_at = <double *>fresh(s.nodes, sizeof(double))
    s.free = <uint64_t *>fresh(s.words, sizeof(uint64_t))
    s.gathered = <int32_t *>fresh(s.nodes, sizeof(int32_t))
    s.finish_on = <double *>fresh(s.nodes, sizeof(double))
    s.seen = <int64_t *>fresh(s.nodes, sizeof(int64_t))
    if s.of == NULL or s.pending == NULL or s.pooled == NULL or s.done == NULL or s.ready == NULL or s.rank == NULL:
        return WF_NO_MEMORY
    if s.pooled_of == NULL or s.on == NULL or s.is_down == NULL or s.up_at == NULL or s.free == NULL:
        return WF_NO_MEMORY
    if s.gathered == NULL or s.finish_on == NULL or s.seen == NULL:
        return WF_NO_MEMORY
    s.parked = <int32_t *>fresh(s.nodes, sizeof(int32_t))
    s.parked_after = <int32_t *>fresh(s.n, sizeof(int32_t))
    if s.parked == NULL or s.parked_after == NULL:
        return WF_NO_MEMORY
    if s.fifo:
        s.entered = <double *>fresh(s.n, sizeof(double))
        if s.entered == NULL:
            return WF_NO_MEMORY
        s.stay = <event_t *>fresh(s.n, sizeof(event_t))
        if s.stay == NULL:
            return WF_NO_MEMORY
    if heap_init(&s.heap, 256) < 0 or heap_init(&s.queue, 256) < 0:
        return WF_NO_MEMORY
    if bit_tree_init(&s.up, s.n) < 0 or bit_tree_init(&s.down, s.n) < 0:
        return WF_NO_MEMORY
    for i in range(s.workflows):
        for k in range(s.first_job[i], s.first_job[i + 1]):
            s.of[k] = i
    for j in range(s.n):
        s.pending[j] = <int32_t>(s.before_start[j + 1] - s.before_start[j])
        s.node[j] = -1
    for i in range(s.nodes):
        s.on[i] = -1
        s.parked[i] = -1
        s.free[i >> 6] |= (<uint64_t>1) << (i & 63)
    s.n_free = s.nodes
    s.now = -INFINITY
    s.wake = INFINITY
    return WF_OK


cdef void by_node_free(by_node_t *table) noexcept nogil:
    c_free(table.start)
    c_free(table.next)
    c_free(table.begin)
    c_free(table.end)
    memset(table, 0, sizeof(by_node_t))


cdef void workflow_free(workflow_t *s) noexcept nogil:
    c_free(s.of)
    c_free(s.pending)
    c_free(s.pooled)
    c_free(s.done)
    c_free(s.ready)
    c_free(s.rank)
    c_free(s.pooled_of)
    c_free(s.on)
    c_free(s.is_down)
    c_free(s.up_at)
    c_free(s.free)
    c_free(s.gathered)
    c_free(s.finish_on)
    c_free(s.seen)
    c_free(s.stay)
    c_free(s.entered)
    c_free(s.parked)
    c_free(s.parked_after)
    c_free(s.decision)
    c_free(s.event)
    by_node_free(&s.foreseen)
    by_node_free(&s.failing)
    bit_tree_free(&s.up)
    bit_tree_free(&s.down)
    heap_free(&s.heap)
    heap_free(&s.queue)
    memset(s, 0, sizeof(workflow_t))


cdef int by_node_fill(by_node_t *table, int32_t nodes, const int32_t *node, const double *begin, const double *end,
                      int64_t rows) noexcept nogil:
    cdef int64_t k, row
    cdef int32_t p
    table.start = <int64_t *>fresh(nodes + 1, sizeof(int64_t))
    table.next = <int64_t *>fresh(nodes, sizeof(int64_t))
    table.begin = <double *>fresh(rows, sizeof(double))
    table.end = <double *>fresh(rows, sizeof(double))
    if table.start == NULL or table.next == NULL or table.begin == NULL or table.end == NULL:
        return WF_NO_MEMORY
    for k in range(rows):
        table.start[node[k] + 1] += 1
    for p in range(nodes):
        table.start[p + 1] += table.start[p]
        table.next[p] = table.start[p]
    for k in range(rows):
        row = table.next[node[k]]
        table.begin[row] = begin[k]
        table.end[row] = end[k]
        table.next[node[k]] = row + 1
    for p in range(nodes):
        table.next[p] = table.start[p]
    return WF_OK


# ---------------------------------------------------------------------------------------------- ranks

cdef double mean_moving(const workflow_t *s) noexcept nogil:
    """B of the model page: what an edge's size is multiplied by in a rank, with a matrix of bandwidths."""
    cdef double total = 0.0
    cdef int32_t p, q
    if s.nodes == 1:
        return 0.0
    for p in range(s.nodes):
        for q in range(s.nodes):
            if q != p:
                total += 1.0 / s.links[<int64_t>p * s.nodes + q]
    return total / (<double>s.nodes * (s.nodes - 1))


cdef int workflow_ranks(workflow_t *s) noexcept nogil:
    cdef int32_t *order = <int32_t *>fresh(s.n, sizeof(int32_t))
    cdef int32_t *waits = <int32_t *>fresh(s.n, sizeof(int32_t))
    cdef int32_t head = 0, tail = 0, j, p
    cdef int64_t e
    cdef double total, best, way, mean = mean_moving(s) if s.links != NULL else 0.0
    if order == NULL or waits == NULL:
        c_free(order)
        c_free(waits)
        return WF_NO_MEMORY
    for j in range(s.n):
        waits[j] = <int32_t>(s.after_start[j + 1] - s.after_start[j])
        if waits[j] == 0:
            order[tail] = j
            tail += 1
    # From the exits backwards: when a job's turn comes, all its successors have their ranks.
    while head < tail:
        j = order[head]
        head += 1
        best = 0.0
        for e in range(s.after_start[j], s.after_start[j + 1]):
            way = s.after_size[e] * mean if s.links != NULL else s.after_size[e] / s.bandwidth
            way = way + s.rank[s.after[e]]
            if way > best:
                best = way
        total = 0.0
        for p in range(s.nodes):
            total += duration(s, j, p)
        s.rank[j] = total / s.nodes + best
        for e in range(s.before_start[j], s.before_start[j + 1]):
            waits[s.before[e]] -= 1
            if waits[s.before[e]] == 0:
                order[tail] = s.before[e]
                tail += 1
    c_free(order)
    c_free(waits)
    return WF_OK if tail == s.n else WF_BROKEN


# ---------------------------------------------------------------------------------------------- moves

cdef int put_in_order(workflow_t *s, int32_t job) noexcept nogil:
    """Into the orders that a pass walks."""
    if s.up_place != NULL:
        bit_tree_add(&s.up, s.up_place[job])
    if s.down_place != NULL:
        bit_tree_add(&s.down, s.down_place[job])
    if s.fifo and heap_push(&s.queue, s.entered[job], 0, job) < 0:
        return WF_NO_MEMORY
    return WF_OK


cdef void drop_from_order(workflow_t *s, int32_t job) noexcept nogil:
    if s.up_place != NULL:
        bit_tree_drop(&s.up, s.up_place[job])
    if s.down_place != NULL:
        bit_tree_drop(&s.down, s.down_place[job])


cdef int enter_pool(workflow_t *s, int32_t job) noexcept nogil:
    cdef int32_t i = s.of[job]
    s.pooled[job] = True
    s.n_pooled += 1
    s.kinds_pooled += s.pooled_of[i] == 0
    s.pooled_of[i] += 1
    if s.fifo:
        s.entered[job] = s.now
    return put_in_order(s, job)


cdef void leave_pool(workflow_t *s, int32_t job) noexcept nogil:
    cdef int32_t i = s.of[job]
    s.pooled[job] = False
    s.n_pooled -= 1
    s.pooled_of[i] -= 1
    s.kinds_pooled -= s.pooled_of[i] == 0
    drop_from_order(s, job)


cdef void park(workflow_t *s, int32_t job, int32_t node) noexcept nogil:
    fs_require(s.is_down[node] and s.pooled[job])
    drop_from_order(s, job)
    s.parked_after[job] = s.parked[node]
    s.parked[node] = job


cdef int unpark(workflow_t *s, int32_t node) noexcept nogil:
    cdef int32_t job = s.parked[node]
    s.parked[node] = -1
    while job >= 0:
        if put_in_order(s, job) < 0:
            return WF_NO_MEMORY
        job = s.parked_after[job]
    return WF_OK


cdef int hold_node(workflow_t *s, int32_t job, int32_t node, double ready, double finish) noexcept nogil:
    fs_require(s.on[node] < 0 and not s.is_down[node] and not s.pooled[job] and not s.done[job])
    s.on[node] = job
    s.free[node >> 6] &= ~((<uint64_t>1) << (node & 63))
    s.n_free -= 1
    s.n_busy += 1
    s.node[job] = node
    s.begun[job] = s.now
    s.ready[job] = ready
    s.finish[job] = finish
    if heap_push(&s.heap, finish, WF_FINISH, job) < 0:
        return WF_NO_MEMORY
    return record_workflow_event(s, WF_START, s.of[job], job, node)


cdef int take_node(workflow_t *s, int32_t job, int32_t node, double ready, double finish,
                   int32_t asked) noexcept nogil:
    cdef decision_t *d
    if room_for(<void **>&s.decision, &s.cap_decisions, s.n_decisions + 1, sizeof(decision_t)) < 0:
        return WF_NO_MEMORY
    d = &s.decision[s.n_decisions]
    s.n_decisions += 1
    d.time = s.now
    d.begin = ready
    d.finish = finish
    d.job = job
    d.node = node
    d.asked = asked
    return hold_node(s, job, node, ready, finish)


cdef void leave_node(workflow_t *s, int32_t job) noexcept nogil:
    cdef int32_t node = s.node[job]
    fs_require(s.on[node] == job)
    s.on[node] = -1
    s.n_busy -= 1
    if not s.is_down[node]:
        s.free[node >> 6] |= (<uint64_t>1) << (node & 63)
        s.n_free += 1


cdef int record_workflow_event(workflow_t *s, int kind, int32_t workflow, int32_t job, int32_t node) noexcept nogil:
    cdef workflow_event_t *e
    if not s.record:
        return WF_OK
    if room_for(<void **>&s.event, &s.cap_recorded, s.n_recorded + 1, sizeof(workflow_event_t)) < 0:
        return WF_NO_MEMORY
    e = &s.event[s.n_recorded]
    s.n_recorded += 1
    e.time = s.now
    e.kind = <int8_t>kind
    e.workflow = workflow
    e.job = job
    e.node = node
    return WF_OK


# ---------------------------------------------------------------------------------------------- invariants

cdef const char *workflow_broken(const workflow_t *s) noexcept nogil:
    cdef int32_t p, j, i, free = 0, busy = 0, down = 0, pooled = 0, done = 0, kinds = 0
    cdef int64_t e
    if not heap_is_ordered(&s.heap) or not heap_is_ordered(&s.queue):
        return b"a heap is out of order"
    for p in range(s.nodes):
        j = s.on[p]
        busy += j >= 0
        down += s.is_down[p] != 0
        if j >= 0 and s.is_down[p]:
            return b"a job is on a node that is down"
        if (s.free[p >> 6] >> (p & 63) & 1) != (j < 0 and not s.is_down[p]):
            return b"the free nodes are not those that are up and without a job"
        free += j < 0 and not s.is_down[p]
        if j >= 0 and (s.node[j] != p or s.pooled[j] or s.done[j] or s.pending[j] != 0 or s.finish[j] < s.now):
            return b"a job on a node is waiting, done, late, or elsewhere"
    if free != s.n_free or busy != s.n_busy or down != s.n_down or free + busy + down != s.nodes:
        return b"free + busy + down is not the number of nodes"
    for j in range(s.n):
        pooled += s.pooled[j] != 0
        done += s.done[j] != 0
        if s.pooled[j] and (s.done[j] or s.pending[j] != 0):
            return b"a job in the pool is done, or waits for others"
        i = 0
        for e in range(s.before_start[j], s.before_start[j + 1]):
            i += not s.done[s.before[e]]
        if i != s.pending[j]:
            return b"a job waits for another number of jobs than those that are not done"
    for i in range(s.workflows):
        kinds += s.pooled_of[i] > 0
    if pooled != s.n_pooled or kinds != s.kinds_pooled or done != s.n_done:
        return b"the jobs in the pool, their workflows, or those done are miscounted"
    return NULL
