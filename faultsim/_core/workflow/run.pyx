"""The events of a simulation of workflows; the contract is in run.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.containers.event_queue cimport event_t, heap_pop, heap_push, heap_top
from faultsim._core.status cimport DONE, NO_MEMORY, OK, STUCK
from faultsim._core.workflow.state cimport (
    WF_ARRIVAL, WF_FAILURE, WF_FINISH, WF_KILL, WF_REPAIR, WF_WAKE_UP, enter_pool, leave_node, record_workflow_event,
    unpark, workflow_t,
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


cdef int handle_finish(workflow_t *s, int32_t job) noexcept nogil:
    cdef int32_t node = s.job.node[job]
    if s.job.done[job] or s.machine.on[node] != job or s.job.finish[job] != s.now:
        return OK                 # of a start that a kill ended
    s.changed = True
    s.n_events += 1
    leave_node(s, job)
    s.job.done[job] = True
    s.n_done += 1
    if record_workflow_event(s, WF_FINISH, s.job.of[job], job, node) < 0:
        return NO_MEMORY
    return s.scheduler.done(s, job)


cdef int handle_repair(workflow_t *s, int32_t node) noexcept nogil:
    if not s.machine.is_down[node] or s.machine.up_at[node] != s.now:
        return OK                 # a later failure moved it
    s.changed = True
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
    s.changed = True
    leave_node(s, job)
    s.count.loss += s.now - s.job.begun[job]
    s.count.kills += 1
    s.job.kills[job] += 1
    if record_workflow_event(s, WF_KILL, s.job.of[job], job, node) < 0:
        return NO_MEMORY
    return OK if s.scheduler.killed == NULL else s.scheduler.killed(s, job)


cdef int take_down(workflow_t *s, int32_t node, double up) noexcept nogil:
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
    s.changed = True
    s.machine.up_at[node] = up
    return OK if heap_push(&s.heap, up, WF_REPAIR, node) == 0 else NO_MEMORY


cdef int handle_failure(workflow_t *s, int32_t node, double downtime) noexcept nogil:
    s.faults.next += 1
    s.n_events += 1
    if record_workflow_event(s, WF_FAILURE, -1, -1, node) < 0:
        return NO_MEMORY
    if s.machine.on[node] >= 0 and kill_job(s, s.machine.on[node]) < 0:
        return NO_MEMORY
    if s.scheduler.failed(s, node) < 0:
        return NO_MEMORY
    return take_down(s, node, s.now + downtime)


cdef int handle_arrival(workflow_t *s, int32_t workflow) noexcept nogil:
    cdef int64_t job
    s.next_arrival += 1
    s.changed = True
    s.n_events += 1
    if record_workflow_event(s, WF_ARRIVAL, workflow, -1, -1) < 0:
        return NO_MEMORY
    for job in range(s.graph.first_job[workflow], s.graph.first_job[workflow + 1]):
        if s.job.pending[job] == 0 and enter_pool(s, <int32_t>job) < 0:
            return NO_MEMORY
    return OK if s.scheduler.arrived == NULL else s.scheduler.arrived(s)


cdef int workflow_instant(workflow_t *s, double t) noexcept nogil:
    cdef event_t event
    if s.n_done == s.n:
        return DONE
    if t == INFINITY:
        return STUCK
    s.now = t
    s.changed = False
    while s.heap.n > 0 and s.heap.items[0].time <= t:       # finishes, then repairs: in the heap's order
        heap_pop(&s.heap, &event)
        if event.kind != WF_FINISH:
            if handle_repair(s, <int32_t>event.serial) < 0:
                return NO_MEMORY
        elif event.serial >= s.n:
            s.scheduler.moved(s, event.serial - s.n)
        elif handle_finish(s, <int32_t>event.serial) < 0:
            return NO_MEMORY
        if s.n_done == s.n:
            return DONE
    while s.faults.next < s.faults.n and s.faults.time[s.faults.next] <= t:
        if handle_failure(s, s.faults.node[s.faults.next], s.faults.downtime[s.faults.next]) < 0:
            return NO_MEMORY
    if s.wake <= t:
        s.changed = True
        s.n_events += 1
        if record_workflow_event(s, WF_WAKE_UP, -1, -1, -1) < 0:
            return NO_MEMORY
    while s.next_arrival < s.workflows and s.graph.arrival[s.arrivals[s.next_arrival]] <= t:
        if handle_arrival(s, s.arrivals[s.next_arrival]) < 0:
            return NO_MEMORY
    return s.scheduler.act(s)
