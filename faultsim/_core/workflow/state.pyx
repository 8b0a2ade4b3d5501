"""State of a simulation of workflows, and how a job comes and goes; the contract is in state.pxd."""

from libc.math cimport INFINITY
from libc.stdlib cimport free as c_free
from libc.string cimport memcpy

from faultsim._core.containers.bit_tree cimport bit_tree_add, bit_tree_drop, bit_tree_free, bit_tree_init
from faultsim._core.containers.event_queue cimport event_t, heap_free, heap_init, heap_is_ordered, heap_push
from faultsim._core.containers.memory cimport blocks_add, blocks_free, blocks_t, fresh
from faultsim._core.contract cimport fs_require
from faultsim._core.record cimport room_for
from faultsim._core.status cimport BROKEN, NO_MEMORY, OK
from faultsim._core.thresholds cimport thresholds


# ---------------------------------------------------------------------------------------------- memory

cdef int workflow_alloc(workflow_t *s) noexcept nogil:
    cdef blocks_t *blocks = &s.blocks
    cdef size_t n = s.n, nodes = s.nodes
    cdef int64_t k
    cdef int32_t i, j
    s.machine.words = (s.nodes + 63) // 64
    blocks_add(blocks, s, &s.job.of, n, sizeof(int32_t))
    blocks_add(blocks, s, &s.job.pending, n, sizeof(int32_t))
    blocks_add(blocks, s, &s.job.done, n, 1)
    blocks_add(blocks, s, &s.job.ready, n, sizeof(double))
    blocks_add(blocks, s, &s.job.rank, n, sizeof(double))
    blocks_add(blocks, s, &s.pool.has, n, 1)
    blocks_add(blocks, s, &s.pool.n_of, s.workflows, sizeof(int32_t))
    blocks_add(blocks, s, &s.pool.parked, nodes, sizeof(int32_t))
    blocks_add(blocks, s, &s.pool.parked_after, n, sizeof(int32_t))
    blocks_add(blocks, s, &s.machine.on, nodes, sizeof(int32_t))
    blocks_add(blocks, s, &s.machine.is_down, nodes, 1)
    blocks_add(blocks, s, &s.machine.up_at, nodes, sizeof(double))
    blocks_add(blocks, s, &s.machine.free, s.machine.words, sizeof(uint64_t))
    blocks_add(blocks, s, &s.scan.gathered, nodes, sizeof(int32_t))
    blocks_add(blocks, s, &s.scan.finish_on, nodes, sizeof(double))
    blocks_add(blocks, s, &s.scan.seen, nodes, sizeof(int64_t))
    blocks_add(blocks, s, &s.scan.counted, nodes, sizeof(int64_t))
    blocks_add(blocks, s, &s.record.decision, 0, sizeof(decision_t))
    blocks_add(blocks, s, &s.record.event, 0, sizeof(workflow_event_t))
    if s.pool.fifo:
        blocks_add(blocks, s, &s.pool.entered, n, sizeof(double))
        blocks_add(blocks, s, &s.scan.stay, n, sizeof(event_t))
    if blocks.failed or heap_init(&s.heap, 256) < 0 or heap_init(&s.pool.queue, 256) < 0:
        return NO_MEMORY
    if bit_tree_init(&s.pool.up, s.n) < 0 or bit_tree_init(&s.pool.down, s.n) < 0:
        return NO_MEMORY
    for i in range(s.workflows):
        for k in range(s.graph.first_job[i], s.graph.first_job[i + 1]):
            s.job.of[k] = i
    for j in range(s.n):
        s.job.pending[j] = <int32_t>(s.graph.before_start[j + 1] - s.graph.before_start[j])
        s.job.node[j] = -1
    for i in range(s.nodes):
        s.machine.on[i] = -1
        s.pool.parked[i] = -1
        s.machine.free[i >> 6] |= (<uint64_t>1) << (i & 63)
    s.machine.n_free = s.nodes
    s.now = -INFINITY
    s.wake = INFINITY
    return OK


cdef void workflow_free(workflow_t *s) noexcept nogil:
    if s.scheduler.close != NULL:
        s.scheduler.close(s.scheduler.state)
    blocks_free(&s.blocks, s)
    bit_tree_free(&s.pool.up)
    bit_tree_free(&s.pool.down)
    heap_free(&s.heap)
    heap_free(&s.pool.queue)


cdef int by_node_fill(workflow_t *s, by_node_t *table, const int32_t *node, const double *begin, const double *end,
                      int64_t rows) noexcept nogil:
    cdef int64_t k, row
    cdef int32_t p, nodes = s.nodes
    blocks_add(&s.blocks, s, &table.start, nodes + 1, sizeof(int64_t))
    blocks_add(&s.blocks, s, &table.next, nodes, sizeof(int64_t))
    blocks_add(&s.blocks, s, &table.begin, rows, sizeof(double))
    blocks_add(&s.blocks, s, &table.end, rows, sizeof(double))
    if s.blocks.failed:
        return NO_MEMORY
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
    return OK


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
                total += 1.0 / s.machine.links[<int64_t>p * s.nodes + q]
    return total / (<double>s.nodes * (s.nodes - 1))


cdef inline int64_t place_value(double value) noexcept nogil:
    """The bits of a number: the next one has 1 more; from the 53rd on they are its exponent in base two."""
    cdef int64_t bits
    memcpy(&bits, &value, sizeof(double))
    return bits


cdef double repeated_sum(double term, int64_t count, int32_t few) noexcept nogil:
    """`term` added up `count` times, rounded each time; in steps of the sum's powers of two, not of terms.

    Fewer than `few` terms are added one by one.

    A sum between two powers of two is a whole number of its last places, and so is what a term adds to it, always the
    same, as soon as one was added there: a tie is rounded to even, so that the first sum may be odd, but no later one.
    """
    cdef double total = 0.0, before
    cdef int64_t here, step, jump
    cdef int _i
    while count > 0:
        if count < few:          # to find the step takes as long
            for _i in range(<int>count):
                total += term
            return total
        for _i in range(few - 1):    # the first ones are the first of several powers of two
            total += term
        count -= few - 1
        before = total
        total += term
        count -= 1
        here = place_value(total)
        if here >> 52 != place_value(before) >> 52:
            continue             # the first sum here
        step = place_value(total + term) - here
        if (here + step) >> 52 != here >> 52:
            continue
        if step < 1:
            return total
        jump = ((here | (<int64_t>1 << 52) - 1) - here) // step
        if jump > count:
            jump = count
        here += jump * step
        memcpy(&total, &here, sizeof(double))
        count -= jump
    return total


cdef int workflow_ranks(workflow_t *s) noexcept nogil:
    cdef int32_t *order = <int32_t *>fresh(s.n, sizeof(int32_t))
    cdef int32_t *waits = <int32_t *>fresh(s.n, sizeof(int32_t))
    cdef int32_t head = 0, tail = 0, j, p
    cdef int64_t e
    cdef double total, best, way, mean = mean_moving(s) if s.machine.links != NULL else 0.0
    if order == NULL or waits == NULL:
        c_free(order)
        c_free(waits)
        return NO_MEMORY
    for j in range(s.n):
        waits[j] = <int32_t>(s.graph.after_start[j + 1] - s.graph.after_start[j])
        if waits[j] == 0:
            order[tail] = j
            tail += 1
    # From the exits backwards: when a job's turn comes, all its successors have their ranks.
    while head < tail:
        j = order[head]
        head += 1
        best = 0.0
        for e in range(s.graph.after_start[j], s.graph.after_start[j + 1]):
            way = s.graph.after_size[e]
            way = way * mean if s.machine.links != NULL else way / s.machine.bandwidth
            way = way + s.job.rank[s.graph.after[e]]
            if way > best:
                best = way
        if s.machine.alike:
            total = repeated_sum(duration(s, j, 0), s.nodes, thresholds.summed_terms)
        else:
            total = 0.0
            for p in range(s.nodes):
                total += duration(s, j, p)
        s.job.rank[j] = total / s.nodes + best
        for e in range(s.graph.before_start[j], s.graph.before_start[j + 1]):
            waits[s.graph.before[e]] -= 1
            if waits[s.graph.before[e]] == 0:
                order[tail] = s.graph.before[e]
                tail += 1
    c_free(order)
    c_free(waits)
    return OK if tail == s.n else BROKEN


# ---------------------------------------------------------------------------------------------- moves

cdef int put_in_order(workflow_t *s, int32_t job) noexcept nogil:
    """Into the orders that a pass walks."""
    if s.pool.up_place != NULL:
        bit_tree_add(&s.pool.up, s.pool.up_place[job])
    if s.pool.down_place != NULL:
        bit_tree_add(&s.pool.down, s.pool.down_place[job])
    if s.pool.fifo and heap_push(&s.pool.queue, s.pool.entered[job], 0, job) < 0:
        return NO_MEMORY
    return OK


cdef void drop_from_order(workflow_t *s, int32_t job) noexcept nogil:
    if s.pool.up_place != NULL:
        bit_tree_drop(&s.pool.up, s.pool.up_place[job])
    if s.pool.down_place != NULL:
        bit_tree_drop(&s.pool.down, s.pool.down_place[job])


cdef int enter_pool(workflow_t *s, int32_t job) noexcept nogil:
    cdef int32_t i = s.job.of[job]
    s.pool.has[job] = True
    s.pool.n += 1
    s.pool.n_workflows += s.pool.n_of[i] == 0
    s.pool.n_of[i] += 1
    if s.pool.fifo:
        s.pool.entered[job] = s.now
    return put_in_order(s, job)


cdef void leave_pool(workflow_t *s, int32_t job) noexcept nogil:
    cdef int32_t i = s.job.of[job]
    s.pool.has[job] = False
    s.pool.n -= 1
    s.pool.n_of[i] -= 1
    s.pool.n_workflows -= s.pool.n_of[i] == 0
    drop_from_order(s, job)


cdef void park(workflow_t *s, int32_t job, int32_t node) noexcept nogil:
    fs_require(s.machine.is_down[node] and s.pool.has[job])
    drop_from_order(s, job)
    s.pool.parked_after[job] = s.pool.parked[node]
    s.pool.parked[node] = job


cdef int unpark(workflow_t *s, int32_t node) noexcept nogil:
    cdef int32_t job = s.pool.parked[node]
    s.pool.parked[node] = -1
    while job >= 0:
        if put_in_order(s, job) < 0:
            return NO_MEMORY
        job = s.pool.parked_after[job]
    return OK


cdef int hold_node(workflow_t *s, int32_t job, int32_t node, double ready, double finish) noexcept nogil:
    fs_require(s.machine.on[node] < 0 and not s.machine.is_down[node] and not s.pool.has[job] and not s.job.done[job])
    s.machine.on[node] = job
    s.machine.free[node >> 6] &= ~((<uint64_t>1) << (node & 63))
    s.machine.n_free -= 1
    s.machine.n_busy += 1
    s.job.node[job] = node
    s.job.begun[job] = s.now
    s.job.ready[job] = ready
    s.job.finish[job] = finish
    if heap_push(&s.heap, finish, WF_FINISH, job) < 0:
        return NO_MEMORY
    return record_workflow_event(s, WF_START, s.job.of[job], job, node)


cdef int keep_decision(workflow_t *s, int32_t job, int32_t node, double begin, double finish,
                       int32_t asked) noexcept nogil:
    cdef kept_t *r = &s.record
    cdef decision_t *d
    if r.n_decisions == r.cap_decisions and room_for(
            &s.blocks, s, &r.decision, &r.cap_decisions, r.n_decisions + 1, sizeof(decision_t)) < 0:
        return NO_MEMORY
    d = &r.decision[r.n_decisions]
    r.n_decisions += 1
    d.time, d.begin, d.finish, d.job, d.node, d.asked = s.now, begin, finish, job, node, asked
    return OK


cdef void leave_node(workflow_t *s, int32_t job) noexcept nogil:
    cdef int32_t node = s.job.node[job]
    fs_require(s.machine.on[node] == job)
    s.machine.on[node] = -1
    s.machine.n_busy -= 1
    if not s.machine.is_down[node]:
        s.machine.free[node >> 6] |= (<uint64_t>1) << (node & 63)
        s.machine.n_free += 1


cdef int record_workflow_event(workflow_t *s, int kind, int32_t workflow, int32_t job, int32_t node) noexcept nogil:
    cdef kept_t *r = &s.record
    cdef workflow_event_t *e
    if not r.on:
        return OK
    if room_for(&s.blocks, s, &r.event, &r.cap_events, r.n_events + 1, sizeof(workflow_event_t)) < 0:
        return NO_MEMORY
    e = &r.event[r.n_events]
    r.n_events += 1
    e.time, e.kind, e.workflow, e.job, e.node = s.now, <int8_t>kind, workflow, job, node
    return OK


# ---------------------------------------------------------------------------------------------- invariants

cdef const char *workflow_broken(const workflow_t *s) noexcept nogil:
    cdef int32_t p, j, i, free = 0, busy = 0, down = 0, pooled = 0, done = 0, kinds = 0
    cdef int64_t e
    if s.scheduler.plans:
        return NULL
    if not heap_is_ordered(&s.heap) or not heap_is_ordered(&s.pool.queue):
        return b"a heap is out of order"
    for p in range(s.nodes):
        j = s.machine.on[p]
        busy += j >= 0
        down += s.machine.is_down[p] != 0
        if j >= 0 and s.machine.is_down[p]:
            return b"a job is on a node that is down"
        if (s.machine.free[p >> 6] >> (p & 63) & 1) != (j < 0 and not s.machine.is_down[p]):
            return b"the free nodes are not those that are up and without a job"
        free += j < 0 and not s.machine.is_down[p]
        if j >= 0 and (s.job.node[j] != p or s.pool.has[j] or s.job.done[j] or s.job.pending[j] != 0
                       or s.job.finish[j] < s.now):
            return b"a job on a node is waiting, done, late, or elsewhere"
    if (free != s.machine.n_free or busy != s.machine.n_busy or down != s.machine.n_down
            or free + busy + down != s.nodes):
        return b"free + busy + down is not the number of nodes"
    for j in range(s.n):
        pooled += s.pool.has[j] != 0
        done += s.job.done[j] != 0
        if s.pool.has[j] and (s.job.done[j] or s.job.pending[j] != 0):
            return b"a job in the pool is done, or waits for others"
        i = 0
        for e in range(s.graph.before_start[j], s.graph.before_start[j + 1]):
            i += not s.job.done[s.graph.before[e]]
        if i != s.job.pending[j]:
            return b"a job waits for another number of jobs than those that are not done"
    for i in range(s.workflows):
        kinds += s.pool.n_of[i] > 0
    if pooled != s.pool.n or kinds != s.pool.n_workflows or done != s.n_done:
        return b"the jobs in the pool, their workflows, or those done are miscounted"
    return NULL
