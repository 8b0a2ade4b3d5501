"""The events of a simulation of workflows; the contract is in run.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.containers.event_queue cimport event_t, heap_pop, heap_push, heap_top
from faultsim._core.status cimport DONE, NO_MEMORY, OK, STUCK
from faultsim._core.workflow.schedule cimport workflow_pass
from faultsim._core.workflow.state cimport (
    WF_ARRIVAL, WF_FAILURE, WF_FINISH, WF_KILL, WF_REPAIR, WF_WAKE_UP, enter_pool, leave_node, moving,
    record_workflow_event, unpark, workflow_t,
)


cdef double workflow_next(const workflow_t *s) noexcept nogil:
    cdef const event_t *top = heap_top(&s.heap)
    cdef double t = s.wake
    if top != NULL and top.time < t:
        t = top.time
    if s.faults.next < s.faults.n and s.faults.time[s.faults.next] < t:
        t = s.faults.time[s.faults.next]
    if s.next_arrival < s.workflows and s.graph.arrival[s.arrivals[s.next_arrival]] < t:
        t = s.graph.arrival[s.arrivals[s.next_arrival]]
    return t


cdef int end_job(workflow_t *s, int32_t job, bint *effect) noexcept nogil:
    cdef int32_t node = s.job.node[job]
    if s.job.done[job] or s.machine.on[node] != job or s.job.finish[job] != s.now:
        return OK                 # of a start that a kill ended
    effect[0] = True
    s.n_events += 1
    leave_node(s, job)
    s.job.done[job] = True
    s.n_done += 1
    return record_workflow_event(s, WF_FINISH, s.job.of[job], job, node)


cdef int handle_finish(workflow_t *s, int32_t job, bint *effect) noexcept nogil:
    """A job is done, and those that waited for nothing else enter the pool."""
    cdef bint ended = False
    cdef int32_t other
    cdef int64_t e
    if end_job(s, job, &ended) < 0:
        return NO_MEMORY
    if not ended:
        return OK
    effect[0] = True
    for e in range(s.graph.after_start[job], s.graph.after_start[job + 1]):
        other = s.graph.after[e]
        s.job.pending[other] -= 1
        if s.job.pending[other] == 0 and enter_pool(s, other) < 0:
            return NO_MEMORY
    return OK


cdef int repair_node(workflow_t *s, int32_t node, bint *effect) noexcept nogil:
    if not s.machine.is_down[node] or s.machine.up_at[node] != s.now:
        return OK                 # a later failure moved it
    effect[0] = True
    s.n_events += 1
    s.machine.is_down[node] = False
    s.machine.n_down -= 1
    s.machine.free[node >> 6] |= (<uint64_t>1) << (node & 63)
    s.machine.n_free += 1
    if unpark(s, node) < 0:
        return NO_MEMORY
    return record_workflow_event(s, WF_REPAIR, -1, -1, node)


cdef int kill_job(workflow_t *s, int32_t job) noexcept nogil:
    cdef int32_t node = s.job.node[job]
    leave_node(s, job)
    s.count.loss += s.now - s.job.begun[job]
    s.count.kills += 1
    s.job.kills[job] += 1
    return record_workflow_event(s, WF_KILL, s.job.of[job], job, node)


cdef inline int kill(workflow_t *s, int32_t job) noexcept nogil:
    """Kill it, and back into the pool."""
    return NO_MEMORY if kill_job(s, job) < 0 else enter_pool(s, job)


cdef bint is_receiving(const workflow_t *s, int32_t job, int32_t source) noexcept nogil:
    """Whether a transfer to a job on a node is not over, from an output on `source`."""
    cdef int64_t e
    cdef double time, total = 0.0, begun = s.job.begun[job]
    if s.job.ready[job] <= s.now:
        return False
    for e in range(s.graph.before_start[job], s.graph.before_start[job + 1]):
        time = moving(s, s.graph.before_size[e], s.job.node[s.graph.before[e]], s.job.node[job])
        total += time
        if s.job.node[s.graph.before[e]] == source and begun + (total if s.moves.in_turn else time) > s.now:
            return True
    return False


cdef int kill_receivers(workflow_t *s, int32_t source, bint *effect) noexcept nogil:
    """What is being sent from a node that fails, in the order of jobs."""
    cdef int32_t node, job, n = 0, i
    for node in range(s.nodes):
        job = s.machine.on[node]
        if job < 0 or not is_receiving(s, job, source):
            continue
        i = n
        while i > 0 and s.scan.gathered[i - 1] > job:
            s.scan.gathered[i] = s.scan.gathered[i - 1]
            i -= 1
        s.scan.gathered[i] = job
        n += 1
    for i in range(n):
        effect[0] = True
        if kill(s, s.scan.gathered[i]) < 0:
            return NO_MEMORY
    return OK


cdef int handle_failure(workflow_t *s, int32_t node, double downtime, bint *effect) noexcept nogil:
    s.n_events += 1
    if record_workflow_event(s, WF_FAILURE, -1, -1, node) < 0:
        return NO_MEMORY
    if s.machine.on[node] >= 0:
        effect[0] = True
        if kill(s, s.machine.on[node]) < 0:
            return NO_MEMORY
    if not s.moves.shared and s.machine.n_busy > 0 and kill_receivers(s, node, effect) < 0:
        return NO_MEMORY
    return take_down(s, node, downtime, effect)


cdef int take_down(workflow_t *s, int32_t node, double downtime, bint *effect) noexcept nogil:
    cdef double up = s.now + downtime
    if s.machine.is_down[node]:
        if not up > s.machine.up_at[node]:
            return OK
    elif up > s.now:
        s.machine.is_down[node] = True
        s.machine.n_down += 1
        s.machine.free[node >> 6] &= ~((<uint64_t>1) << (node & 63))
        s.machine.n_free -= 1
    else:
        return OK
    effect[0] = True
    s.machine.up_at[node] = up
    return OK if heap_push(&s.heap, up, WF_REPAIR, node) == 0 else NO_MEMORY


cdef int handle_arrival(workflow_t *s, int32_t workflow) noexcept nogil:
    cdef int64_t job
    s.n_events += 1
    if record_workflow_event(s, WF_ARRIVAL, workflow, -1, -1) < 0:
        return NO_MEMORY
    for job in range(s.graph.first_job[workflow], s.graph.first_job[workflow + 1]):
        if s.job.pending[job] == 0 and enter_pool(s, <int32_t>job) < 0:
            return NO_MEMORY
    return OK


cdef int workflow_instant(workflow_t *s, double t) noexcept nogil:
    cdef const event_t *top
    cdef event_t event
    cdef bint effect = False
    cdef int code
    if s.n_done == s.n:
        return DONE
    if t == INFINITY:
        return STUCK
    s.now = t
    while True:                      # finishes, then repairs: in the heap's order
        top = heap_top(&s.heap)
        if top == NULL or top.time > t:
            break
        heap_pop(&s.heap, &event)
        if event.kind == WF_FINISH:
            code = handle_finish(s, <int32_t>event.serial, &effect)
        else:
            code = repair_node(s, <int32_t>event.serial, &effect)
        if code < 0:
            return code
        if s.n_done == s.n:
            return DONE
    while s.faults.next < s.faults.n and s.faults.time[s.faults.next] <= t:
        code = handle_failure(s, s.faults.node[s.faults.next], s.faults.downtime[s.faults.next], &effect)
        s.faults.next += 1
        if code < 0:
            return code
    if s.wake <= t:
        effect = True
        s.n_events += 1
        if record_workflow_event(s, WF_WAKE_UP, -1, -1, -1) < 0:
            return NO_MEMORY
    while s.next_arrival < s.workflows and s.graph.arrival[s.arrivals[s.next_arrival]] <= t:
        effect = True
        code = handle_arrival(s, s.arrivals[s.next_arrival])
        s.next_arrival += 1
        if code < 0:
            return code
    return workflow_pass(s) if effect else OK
