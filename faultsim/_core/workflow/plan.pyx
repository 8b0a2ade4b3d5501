"""Heft's plan; the contract is in workflow_plan.pxd."""

from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free as c_free, realloc
from libc.string cimport memmove

from faultsim._core.containers.bit_tree cimport bit_tree_next
from faultsim._core.record cimport room_for
from faultsim._core.workflow.state cimport (
    WF_NO_MEMORY, WF_OK, decision_t, duration, enter_pool, leave_pool, moving, workflow_t,
)


cdef int plan_init(plan_t *plan, int32_t nodes, int32_t jobs) noexcept nogil:
    plan.nodes = nodes
    plan.finish = <double *>calloc(<size_t>jobs, sizeof(double))
    plan.stay = <stay_t **>calloc(<size_t>nodes, sizeof(stay_t *))
    plan.n = <int32_t *>calloc(<size_t>nodes, sizeof(int32_t))
    plan.capacity = <int32_t *>calloc(<size_t>nodes, sizeof(int32_t))
    if plan.stay == NULL or plan.n == NULL or plan.capacity == NULL or plan.finish == NULL:
        return WF_NO_MEMORY
    return WF_OK


cdef void plan_free(plan_t *plan) noexcept nogil:
    cdef int32_t p
    if plan.stay != NULL:
        for p in range(plan.nodes):
            c_free(plan.stay[p])
    c_free(plan.stay)
    c_free(plan.n)
    c_free(plan.capacity)
    c_free(plan.finish)
    plan.finish = NULL
    plan.stay = NULL
    plan.n = NULL
    plan.capacity = NULL


cdef int32_t first_gap(const plan_t *plan, int32_t node, double ready, double length, double *start) noexcept nogil:
    """The place in the node's row where the first gap is that takes a job, and when it would start."""
    cdef const stay_t *stay = plan.stay[node]
    cdef int32_t low = 0, high = plan.n[node], mid
    # A gap whose end is before `ready` takes nothing.
    while low < high:
        mid = (low + high) >> 1
        if stay[mid].start < ready:
            low = mid + 1
        else:
            high = mid
    while True:
        start[0] = ready
        if low > 0 and stay[low - 1].finish > ready:
            start[0] = stay[low - 1].finish
        if low == plan.n[node] or start[0] + length <= stay[low].start:
            return low
        low += 1


cdef int insert(plan_t *plan, int32_t node, int32_t place, double start, double finish, int32_t job) noexcept nogil:
    cdef int32_t larger = 2 * plan.capacity[node] + 16
    cdef stay_t *moved
    if plan.n[node] == plan.capacity[node]:
        moved = <stay_t *>realloc(plan.stay[node], <size_t>larger * sizeof(stay_t))
        if moved == NULL:
            return WF_NO_MEMORY
        plan.stay[node] = moved
        plan.capacity[node] = larger
    # Stays of no length at one time: those planned earlier first, or a job might come before one that it needs.
    moved = plan.stay[node]
    while place < plan.n[node] and moved[place].start == start and moved[place].finish == finish:
        place += 1
    moved += place
    memmove(moved + 1, moved, <size_t>(plan.n[node] - place) * sizeof(stay_t))
    moved.start = start
    moved.finish = finish
    moved.job = job
    plan.n[node] += 1
    return WF_OK


cdef double inputs_there(const workflow_t *s, const plan_t *plan, int32_t job, int32_t node) noexcept nogil:
    """R(p) of the model page; the workflow arrives now."""
    cdef int64_t e
    cdef int32_t source
    cdef double there, latest = s.now
    for e in range(s.before_start[job], s.before_start[job + 1]):
        source = s.before[e]
        there = plan.finish[source]
        if s.node[source] != node:
            there = there + moving(s, s.before_size[e], s.node[source], node)
        if there > latest:
            latest = there
    return latest


cdef int plan_job(workflow_t *s, plan_t *plan, int32_t job) noexcept nogil:
    cdef int32_t node, place, best = -1, best_place = 0
    cdef double start = 0.0, length, finish, best_start = 0.0, best_finish = 0.0
    cdef decision_t *d
    s.n_looks += s.nodes
    for node in range(s.nodes):
        length = duration(s, job, node)
        place = first_gap(plan, node, inputs_there(s, plan, job, node), length, &start)
        finish = start + length
        if best < 0 or finish < best_finish:
            best, best_place, best_start, best_finish = node, place, start, finish
    if insert(plan, best, best_place, best_start, best_finish, job) < 0:
        return WF_NO_MEMORY
    s.node[job] = best
    plan.finish[job] = best_finish
    if room_for(<void **>&s.decision, &s.cap_decisions, s.n_decisions + 1, sizeof(decision_t)) < 0:
        return WF_NO_MEMORY
    d = &s.decision[s.n_decisions]
    s.n_decisions += 1
    d.time = s.now
    d.begin = best_start
    d.finish = best_finish
    d.job = job
    d.node = best
    d.asked = 0
    return WF_OK


cdef int plan_workflow(workflow_t *s, plan_t *plan, int32_t workflow) noexcept nogil:
    cdef int32_t job, other
    cdef int64_t k
    for k in range(s.first_job[workflow], s.first_job[workflow + 1]):
        if s.pending[k] == 0 and enter_pool(s, <int32_t>k) < 0:
            return WF_NO_MEMORY
    while s.n_pooled > 0:
        job = s.down_job[bit_tree_next(&s.down, 0)]
        leave_pool(s, job)
        if plan_job(s, plan, job) < 0:
            return WF_NO_MEMORY
        for k in range(s.after_start[job], s.after_start[job + 1]):
            other = s.after[k]
            s.pending[other] -= 1
            if s.pending[other] == 0 and enter_pool(s, other) < 0:
                return WF_NO_MEMORY
    return WF_OK
