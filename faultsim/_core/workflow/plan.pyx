"""Heft's plan; the contract is in plan.pxd."""

from libc.stdint cimport int64_t
from libc.stdlib cimport free as c_free, realloc
from libc.string cimport memmove

from faultsim._core.containers.bit_tree cimport bit_tree_next
from faultsim._core.containers.memory cimport blocks_add, blocks_free
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.workflow.state cimport duration, enter_pool, keep_decision, leave_pool, moving, workflow_t


cdef int plan_init(plan_t *plan, int32_t nodes, int32_t jobs) noexcept nogil:
    plan.nodes = nodes
    blocks_add(&plan.blocks, plan, &plan.finish, jobs, sizeof(double))
    blocks_add(&plan.blocks, plan, &plan.stay, nodes, sizeof(stay_t *))
    blocks_add(&plan.blocks, plan, &plan.n, nodes, sizeof(int32_t))
    blocks_add(&plan.blocks, plan, &plan.capacity, nodes, sizeof(int32_t))
    return NO_MEMORY if plan.blocks.failed else OK


cdef void plan_free(plan_t *plan) noexcept nogil:
    cdef int32_t p
    if plan.stay != NULL:
        for p in range(plan.nodes):
            c_free(plan.stay[p])
    blocks_free(&plan.blocks, plan)


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
            return NO_MEMORY
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
    return OK


cdef double inputs_there(const workflow_t *s, const plan_t *plan, int32_t job, int32_t node) noexcept nogil:
    """R(p) of the model page; the workflow arrives now."""
    cdef int64_t e
    cdef int32_t source
    cdef double there, latest = s.now
    for e in range(s.graph.before_start[job], s.graph.before_start[job + 1]):
        source = s.graph.before[e]
        there = plan.finish[source]
        if s.job.node[source] != node:
            there = there + moving(s, s.graph.before_size[e], s.job.node[source], node)
        if there > latest:
            latest = there
    return latest


cdef int plan_job(workflow_t *s, plan_t *plan, int32_t job) noexcept nogil:
    cdef int32_t node, place, best = -1, best_place = 0
    cdef double start = 0.0, length, finish, best_start = 0.0, best_finish = 0.0
    s.n_looks += s.nodes
    for node in range(s.nodes):
        length = duration(s, job, node)
        place = first_gap(plan, node, inputs_there(s, plan, job, node), length, &start)
        finish = start + length
        if best < 0 or finish < best_finish:
            best, best_place, best_start, best_finish = node, place, start, finish
    if insert(plan, best, best_place, best_start, best_finish, job) < 0:
        return NO_MEMORY
    s.job.node[job] = best
    plan.finish[job] = best_finish
    return keep_decision(s, job, best, best_start, best_finish, 0)


cdef int plan_workflow(workflow_t *s, plan_t *plan, int32_t workflow) noexcept nogil:
    cdef int32_t job, other
    cdef int64_t k
    for k in range(s.graph.first_job[workflow], s.graph.first_job[workflow + 1]):
        if s.job.pending[k] == 0 and enter_pool(s, <int32_t>k) < 0:
            return NO_MEMORY
    while s.pool.n > 0:
        job = s.pool.down_job[bit_tree_next(&s.pool.down, 0)]
        leave_pool(s, job)
        if plan_job(s, plan, job) < 0:
            return NO_MEMORY
        for k in range(s.graph.after_start[job], s.graph.after_start[job + 1]):
            other = s.graph.after[k]
            s.job.pending[other] -= 1
            if s.job.pending[other] == 0 and enter_pool(s, other) < 0:
                return NO_MEMORY
    return OK
