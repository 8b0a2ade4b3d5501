"""Heft's plan, followed; the contract is in workflow_follow.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free as c_free

from faultsim._core.containers.bits cimport fs_lowest
from faultsim._core.containers.event_queue cimport event_t, heap_pop, heap_push, heap_top
from faultsim._core.workflow.plan cimport plan_free, plan_init, plan_workflow
from faultsim._core.workflow.run cimport end_job, kill_job, repair_node, take_down
from faultsim._core.workflow.state cimport (
    WF_ARRIVAL, WF_DONE, WF_FAILURE, WF_FINISH, WF_NO_MEMORY, WF_OK, WF_STUCK, duration, hold_node, moving,
    record_workflow_event,
)

cdef enum:
    NONE = 0
    WAITING = 1
    MOVING = 2
    THERE = 3


cdef inline void *fresh(int64_t count, size_t each) noexcept nogil:
    return calloc(<size_t>count if count > 0 else 1, each)


cdef int follow_init(follow_t *f, const workflow_t *s) noexcept nogil:
    cdef int64_t edges = s.after_start[s.n], k
    cdef int32_t job
    f.turn = <int32_t *>fresh(s.nodes, sizeof(int32_t))
    f.missing = <int32_t *>fresh(s.n, sizeof(int32_t))
    f.source = <int32_t *>fresh(edges, sizeof(int32_t))
    f.ends = <double *>fresh(edges, sizeof(double))
    f.place = <int64_t *>fresh(edges, sizeof(int64_t))
    f.state = <int8_t *>fresh(edges, sizeof(int8_t))
    f.waiting = <int64_t *>fresh(edges, sizeof(int64_t))
    f.moving = <int64_t *>fresh(edges, sizeof(int64_t))
    if f.turn == NULL or f.missing == NULL or f.source == NULL or f.ends == NULL or f.place == NULL:
        return WF_NO_MEMORY
    if f.state == NULL or f.waiting == NULL or f.moving == NULL or plan_init(&f.plan, s.nodes, s.n) < 0:
        return WF_NO_MEMORY
    for job in range(s.n):
        f.missing[job] = <int32_t>(s.before_start[job + 1] - s.before_start[job])
        for k in range(s.after_start[job], s.after_start[job + 1]):
            f.source[k] = job
    return WF_OK


cdef void follow_free(follow_t *f) noexcept nogil:
    plan_free(&f.plan)
    c_free(f.turn)
    c_free(f.missing)
    c_free(f.source)
    c_free(f.ends)
    c_free(f.place)
    c_free(f.state)
    c_free(f.waiting)
    c_free(f.moving)


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
    f.missing[s.after[k]] -= 1


cdef void break_transfers(workflow_t *s, follow_t *f, int32_t node) noexcept nogil:
    cdef int64_t i = 0, k
    while i < f.n_moving:
        k = f.moving[i]
        if s.node[f.source[k]] == node or s.node[s.after[k]] == node:
            strike(f, f.moving, &f.n_moving, k)
            enlist(f, f.waiting, &f.n_waiting, k, WAITING)
        else:
            i += 1


cdef int begin_transfers(workflow_t *s, follow_t *f) noexcept nogil:
    cdef int64_t i = 0, k
    cdef int32_t source, target
    while i < f.n_waiting:
        k = f.waiting[i]
        source, target = s.node[f.source[k]], s.node[s.after[k]]
        if s.is_down[source] or s.is_down[target]:
            i += 1
            continue
        strike(f, f.waiting, &f.n_waiting, k)
        enlist(f, f.moving, &f.n_moving, k, MOVING)
        f.ends[k] = s.now + moving(s, s.after_size[k], source, target)
        # After the jobs of this instant: they are numbered below.
        if heap_push(&s.heap, f.ends[k], WF_FINISH, s.n + k) < 0:
            return WF_NO_MEMORY
    return WF_OK


# ---------------------------------------------------------------------------------------------- jobs

cdef int handle_end(workflow_t *s, follow_t *f, int32_t job) noexcept nogil:
    """A job is done: its output is there on its node, and is to be sent to others."""
    cdef bint ended = False
    cdef int64_t k
    if end_job(s, job, &ended) < 0:
        return WF_NO_MEMORY
    if not ended:
        return WF_OK
    f.turn[s.node[job]] += 1
    for k in range(s.after_start[job], s.after_start[job + 1]):
        if s.node[s.after[k]] == s.node[job]:
            f.state[k] = THERE
            f.missing[s.after[k]] -= 1
        else:
            enlist(f, f.waiting, &f.n_waiting, k, WAITING)
    return WF_OK


cdef int start_jobs(workflow_t *s, follow_t *f) noexcept nogil:
    cdef int32_t i, node, job
    cdef uint64_t word
    for i in range(s.words):
        word = s.free[i]
        while word:
            node = (i << 6) + fs_lowest(word)
            word &= word - 1
            if f.turn[node] == f.plan.n[node]:
                continue
            job = f.plan.stay[node][f.turn[node]].job
            if f.missing[job] == 0 and hold_node(s, job, node, s.now, s.now + duration(s, job, node)) < 0:
                return WF_NO_MEMORY
    return WF_OK


cdef int handle_failure(workflow_t *s, follow_t *f, int32_t node, double downtime) noexcept nogil:
    cdef bint effect = False
    s.n_events += 1
    if record_workflow_event(s, WF_FAILURE, -1, -1, node) < 0:
        return WF_NO_MEMORY
    if s.on[node] >= 0 and kill_job(s, s.on[node]) < 0:
        return WF_NO_MEMORY
    break_transfers(s, f, node)
    return take_down(s, node, downtime, &effect)


cdef int handle_arrival(workflow_t *s, follow_t *f, int32_t workflow) noexcept nogil:
    s.n_events += 1
    if record_workflow_event(s, WF_ARRIVAL, workflow, -1, -1) < 0:
        return WF_NO_MEMORY
    return plan_workflow(s, &f.plan, workflow)


cdef int follow_instant(workflow_t *s, follow_t *f, double t) noexcept nogil:
    cdef const event_t *top
    cdef event_t event
    cdef bint effect = False
    cdef int code
    if s.n_done == s.n:
        return WF_DONE
    if t == INFINITY:
        return WF_STUCK
    s.now = t
    while True:                      # jobs, then transfers, then repairs: in the heap's order
        top = heap_top(&s.heap)
        if top == NULL or top.time > t:
            break
        heap_pop(&s.heap, &event)
        code = WF_OK
        if event.kind != WF_FINISH:
            code = repair_node(s, <int32_t>event.serial, &effect)
        elif event.serial < s.n:
            code = handle_end(s, f, <int32_t>event.serial)
        else:
            end_transfer(s, f, event.serial - s.n)
        if code < 0:
            return code
        if s.n_done == s.n:
            return WF_DONE
    while s.next_failure < s.n_failures and s.failure_time[s.next_failure] <= t:
        code = handle_failure(s, f, s.failure_node[s.next_failure], s.failure_down[s.next_failure])
        s.next_failure += 1
        if code < 0:
            return code
    while s.next_arrival < s.workflows and s.arrival[s.arrivals[s.next_arrival]] <= t:
        code = handle_arrival(s, f, s.arrivals[s.next_arrival])
        s.next_arrival += 1
        if code < 0:
            return code
    if begin_transfers(s, f) < 0:
        return WF_NO_MEMORY
    return start_jobs(s, f)
