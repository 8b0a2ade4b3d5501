"""Heft's plan, followed; the contract is in follow.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport uint64_t

from faultsim._core.containers.bits cimport fs_lowest
from faultsim._core.containers.event_queue cimport event_t, heap_pop, heap_push, heap_top
from faultsim._core.containers.memory cimport blocks_add, blocks_free, blocks_t
from faultsim._core.status cimport DONE, NO_MEMORY, OK, STUCK
from faultsim._core.workflow.plan cimport plan_free, plan_init, plan_workflow
from faultsim._core.workflow.run cimport end_job, kill_job, repair_node, take_down
from faultsim._core.workflow.state cimport (
    WF_ARRIVAL, WF_FAILURE, WF_FINISH, duration, hold_node, moving, record_workflow_event,
)

cdef enum:
    NONE = 0
    WAITING = 1
    MOVING = 2
    THERE = 3


cdef int follow_init(follow_t *f, const workflow_t *s) noexcept nogil:
    cdef blocks_t *blocks = &f.blocks
    cdef int64_t edges = s.graph.after_start[s.n], k
    cdef int32_t job
    blocks_add(blocks, f, &f.turn, s.nodes, sizeof(int32_t))
    blocks_add(blocks, f, &f.missing, s.n, sizeof(int32_t))
    blocks_add(blocks, f, &f.source, edges, sizeof(int32_t))
    blocks_add(blocks, f, &f.ends, edges, sizeof(double))
    blocks_add(blocks, f, &f.place, edges, sizeof(int64_t))
    blocks_add(blocks, f, &f.state, edges, sizeof(int8_t))
    blocks_add(blocks, f, &f.waiting, edges, sizeof(int64_t))
    blocks_add(blocks, f, &f.moving, edges, sizeof(int64_t))
    if blocks.failed or plan_init(&f.plan, s.nodes, s.n) < 0:
        return NO_MEMORY
    for job in range(s.n):
        f.missing[job] = <int32_t>(s.graph.before_start[job + 1] - s.graph.before_start[job])
        for k in range(s.graph.after_start[job], s.graph.after_start[job + 1]):
            f.source[k] = job
    return OK


cdef void follow_free(follow_t *f) noexcept nogil:
    plan_free(&f.plan)
    blocks_free(&f.blocks, f)


# ---------------------------------------------------------------------------------------------- transfers

cdef inline void enlist(follow_t *f, int64_t *row, int64_t *n, int64_t k, int8_t state) noexcept nogil:
    f.state[k] = state
    f.place[k] = n[0]
    row[n[0]] = k
    n[0] += 1


cdef inline void strike(follow_t *f, int64_t *row, int64_t *n, int64_t k) noexcept nogil:
    n[0] -= 1
    row[f.place[k]] = row[n[0]]
    f.place[row[n[0]]] = f.place[k]


cdef void end_transfer(workflow_t *s, follow_t *f, int64_t k) noexcept nogil:
    if f.state[k] != MOVING or f.ends[k] != s.now:
        return                       # a failure broke it off
    strike(f, f.moving, &f.n_moving, k)
    f.state[k] = THERE
    f.missing[s.graph.after[k]] -= 1


cdef void break_transfers(workflow_t *s, follow_t *f, int32_t node) noexcept nogil:
    cdef int64_t i = 0, k
    while i < f.n_moving:
        k = f.moving[i]
        if s.job.node[f.source[k]] == node or s.job.node[s.graph.after[k]] == node:
            strike(f, f.moving, &f.n_moving, k)
            enlist(f, f.waiting, &f.n_waiting, k, WAITING)
        else:
            i += 1


cdef int begin_transfers(workflow_t *s, follow_t *f) noexcept nogil:
    cdef int64_t i = 0, k
    cdef int32_t source, target
    while i < f.n_waiting:
        k = f.waiting[i]
        source, target = s.job.node[f.source[k]], s.job.node[s.graph.after[k]]
        if s.machine.is_down[source] or s.machine.is_down[target]:
            i += 1
            continue
        strike(f, f.waiting, &f.n_waiting, k)
        enlist(f, f.moving, &f.n_moving, k, MOVING)
        f.ends[k] = s.now + moving(s, s.graph.after_size[k], source, target)
        # After the jobs of this instant: they are numbered below.
        if heap_push(&s.heap, f.ends[k], WF_FINISH, s.n + k) < 0:
            return NO_MEMORY
    return OK


# ---------------------------------------------------------------------------------------------- jobs

cdef int handle_end(workflow_t *s, follow_t *f, int32_t job) noexcept nogil:
    """A job is done: its output is there on its node, and is to be sent to others."""
    cdef bint ended = False
    cdef int64_t k
    if end_job(s, job, &ended) < 0:
        return NO_MEMORY
    if not ended:
        return OK
    f.turn[s.job.node[job]] += 1
    for k in range(s.graph.after_start[job], s.graph.after_start[job + 1]):
        if s.job.node[s.graph.after[k]] == s.job.node[job]:
            f.state[k] = THERE
            f.missing[s.graph.after[k]] -= 1
        else:
            enlist(f, f.waiting, &f.n_waiting, k, WAITING)
    return OK


cdef int start_jobs(workflow_t *s, follow_t *f) noexcept nogil:
    cdef int32_t i, node, job
    cdef uint64_t word
    for i in range(s.machine.words):
        word = s.machine.free[i]
        while word:
            node = (i << 6) + fs_lowest(word)
            word &= word - 1
            if f.turn[node] == f.plan.n[node]:
                continue
            job = f.plan.stay[node][f.turn[node]].job
            if f.missing[job] == 0 and hold_node(s, job, node, s.now, s.now + duration(s, job, node)) < 0:
                return NO_MEMORY
    return OK


cdef int handle_failure(workflow_t *s, follow_t *f, int32_t node, double downtime) noexcept nogil:
    cdef bint effect = False
    s.n_events += 1
    if record_workflow_event(s, WF_FAILURE, -1, -1, node) < 0:
        return NO_MEMORY
    if s.machine.on[node] >= 0 and kill_job(s, s.machine.on[node]) < 0:
        return NO_MEMORY
    break_transfers(s, f, node)
    return take_down(s, node, downtime, &effect)


cdef int handle_arrival(workflow_t *s, follow_t *f, int32_t workflow) noexcept nogil:
    s.n_events += 1
    if record_workflow_event(s, WF_ARRIVAL, workflow, -1, -1) < 0:
        return NO_MEMORY
    return plan_workflow(s, &f.plan, workflow)


cdef int follow_instant(workflow_t *s, follow_t *f, double t) noexcept nogil:
    cdef const event_t *top
    cdef event_t event
    cdef bint effect = False
    cdef int code
    if s.n_done == s.n:
        return DONE
    if t == INFINITY:
        return STUCK
    s.now = t
    while True:                      # jobs, then transfers, then repairs: in the heap's order
        top = heap_top(&s.heap)
        if top == NULL or top.time > t:
            break
        heap_pop(&s.heap, &event)
        code = OK
        if event.kind != WF_FINISH:
            code = repair_node(s, <int32_t>event.serial, &effect)
        elif event.serial < s.n:
            code = handle_end(s, f, <int32_t>event.serial)
        else:
            end_transfer(s, f, event.serial - s.n)
        if code < 0:
            return code
        if s.n_done == s.n:
            return DONE
    while s.faults.next < s.faults.n and s.faults.time[s.faults.next] <= t:
        code = handle_failure(s, f, s.faults.node[s.faults.next], s.faults.downtime[s.faults.next])
        s.faults.next += 1
        if code < 0:
            return code
    while s.next_arrival < s.workflows and s.graph.arrival[s.arrivals[s.next_arrival]] <= t:
        code = handle_arrival(s, f, s.arrivals[s.next_arrival])
        s.next_arrival += 1
        if code < 0:
            return code
    if begin_transfers(s, f) < 0:
        return NO_MEMORY
    return start_jobs(s, f)
