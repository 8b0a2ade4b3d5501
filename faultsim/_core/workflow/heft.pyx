"""Heft: plan each workflow when it arrives, into the gaps that earlier plans left, and follow the plan through failures
(workflow-model.md#heft).

A transfer is an edge k out of a job (graph.after[k]) between two different nodes.  It is `none` until its source is
done, then waits for both nodes to be up, moves, and is there; a failure of one of the nodes makes it wait again.
"""

from libc.stdint cimport int8_t, int32_t, int64_t, uint64_t
from libc.stdlib cimport free as c_free, realloc
from libc.string cimport memmove

from faultsim._core.containers.bit_tree cimport bit_tree_next
from faultsim._core.containers.bits cimport fs_lowest
from faultsim._core.containers.event_queue cimport heap_push
from faultsim._core.containers.memory cimport close_state, open_state, own_block
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.factory cimport factory
from faultsim._core.thresholds cimport thresholds
from faultsim._core.workflow.state cimport (
    WF_FINISH, duration, enter_pool, hold_node, keep_decision, leave_pool, moving, workflow_t,
)

cdef enum:
    NONE = 0
    WAITING = 1
    MOVING = 2
    THERE = 3

cdef struct stay_t:
    double start
    double finish
    int32_t job

cdef struct heft_t:
    # What is planned on each node, in order of (start, finish), then of planning; stays of a node never overlap.
    int32_t nodes
    stay_t **stay            # (nodes) each grown by doubling
    int32_t *n               # (nodes)
    int32_t *capacity        # (nodes)
    double *finish           # (jobs) finish by the plan
    # how far it has come
    int32_t *turn            # (nodes) the first stay of the plan that is not done
    int32_t *missing         # (jobs) inputs that are not there
    int32_t *source          # (edges) job that edge k comes from
    double *ends             # (edges) when it is there, while it moves
    int64_t *place           # (edges) where it is in `waiting` or `moving`
    int8_t *state            # (edges) none, waiting, moving, there
    int64_t *waiting         # (edges) those that wait
    int64_t n_waiting
    int64_t *moving          # (edges) those that move
    int64_t n_moving


# ---------------------------------------------------------------------------------------------- the plan

cdef int32_t first_gap(const heft_t *f, int32_t node, double ready, double length, double *start) noexcept nogil:
    """The place in the node's row where the first gap is that takes a job, and when it would start."""
    cdef const stay_t *stay = f.stay[node]
    cdef int32_t low = 0, high = f.n[node], mid
    # A gap that ends before `ready` takes nothing.
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
        if low == f.n[node] or start[0] + length <= stay[low].start:
            return low
        low += 1


cdef int insert(heft_t *f, int32_t node, int32_t place, double start, double finish, int32_t job) noexcept nogil:
    cdef int32_t larger = 2 * f.capacity[node] + min(16, thresholds.first_room)
    cdef stay_t *moved
    if f.n[node] == f.capacity[node]:
        moved = <stay_t *>realloc(f.stay[node], <size_t>larger * sizeof(stay_t))
        if moved == NULL:
            return NO_MEMORY
        f.stay[node] = moved
        f.capacity[node] = larger
    # Stays of no length at one time: those planned earlier first, or a job might come before one that it needs.
    moved = f.stay[node]
    while place < f.n[node] and moved[place].start == start and moved[place].finish == finish:
        place += 1
    moved += place
    memmove(moved + 1, moved, <size_t>(f.n[node] - place) * sizeof(stay_t))
    moved.start = start
    moved.finish = finish
    moved.job = job
    f.n[node] += 1
    return OK


cdef double inputs_there(const workflow_t *s, const heft_t *f, int32_t job, int32_t node) noexcept nogil:
    """R(p) of the model page; the workflow arrives now."""
    cdef int64_t e
    cdef int32_t source
    cdef double there, latest = s.now
    for e in range(s.graph.before_start[job], s.graph.before_start[job + 1]):
        source = s.graph.before[e]
        there = f.finish[source]
        if s.job.node[source] != node:
            there = there + moving(s, s.graph.before_size[e], s.job.node[source], node)
        if there > latest:
            latest = there
    return latest


cdef int plan_task(workflow_t *s, heft_t *f, int32_t job) noexcept nogil:
    cdef int32_t node, place, best = -1, best_place = 0
    cdef double start = 0.0, length, finish, best_start = 0.0, best_finish = 0.0
    s.n_looks += s.nodes
    for node in range(s.nodes):
        length = duration(s, job, node)
        place = first_gap(f, node, inputs_there(s, f, job, node), length, &start)
        finish = start + length
        if best < 0 or finish < best_finish:
            best, best_place, best_start, best_finish = node, place, start, finish
    if insert(f, best, best_place, best_start, best_finish, job) < 0:
        return NO_MEMORY
    s.job.node[job] = best
    f.finish[job] = best_finish
    return keep_decision(s, job, best, best_start, best_finish, 0)


cdef int plan_workflow(workflow_t *s) noexcept nogil:
    """All jobs of the pool, and those that wait for them: they have their nodes then, and a decision each."""
    cdef int32_t job, other
    cdef int64_t k
    while s.pool.n > 0:
        job = s.pool.down_job[bit_tree_next(&s.pool.down, 0)]
        leave_pool(s, job)
        if plan_task(s, <heft_t *>s.scheduler.state, job) < 0:
            return NO_MEMORY
        for k in range(s.graph.after_start[job], s.graph.after_start[job + 1]):
            other = s.graph.after[k]
            s.job.pending[other] -= 1
            if s.job.pending[other] == 0 and enter_pool(s, other) < 0:
                return NO_MEMORY
    return OK


# ---------------------------------------------------------------------------------------------- transfers

cdef inline void enlist(heft_t *f, int64_t *row, int64_t *n, int64_t k, int8_t state) noexcept nogil:
    f.state[k] = state
    f.place[k] = n[0]
    row[n[0]] = k
    n[0] += 1


cdef inline void remove_row(heft_t *f, int64_t *row, int64_t *n, int64_t k) noexcept nogil:
    n[0] -= 1
    row[f.place[k]] = row[n[0]]
    f.place[row[n[0]]] = f.place[k]


cdef void end_transfer(workflow_t *s, int64_t k) noexcept nogil:
    cdef heft_t *f = <heft_t *>s.scheduler.state
    if f.state[k] != MOVING or f.ends[k] != s.now:
        return                       # a failure broke it off
    remove_row(f, f.moving, &f.n_moving, k)
    f.state[k] = THERE
    f.missing[s.graph.after[k]] -= 1


cdef int break_transfers(workflow_t *s, int32_t node) noexcept nogil:
    cdef heft_t *f = <heft_t *>s.scheduler.state
    cdef int64_t i = 0, k
    while i < f.n_moving:
        k = f.moving[i]
        if s.job.node[f.source[k]] == node or s.job.node[s.graph.after[k]] == node:
            remove_row(f, f.moving, &f.n_moving, k)
            enlist(f, f.waiting, &f.n_waiting, k, WAITING)
        else:
            i += 1
    return OK


cdef int begin_transfers(workflow_t *s, heft_t *f) noexcept nogil:
    cdef int64_t i = 0, k
    cdef int32_t source, target
    while i < f.n_waiting:
        k = f.waiting[i]
        source, target = s.job.node[f.source[k]], s.job.node[s.graph.after[k]]
        if s.machine.is_down[source] or s.machine.is_down[target]:
            i += 1
            continue
        remove_row(f, f.waiting, &f.n_waiting, k)
        enlist(f, f.moving, &f.n_moving, k, MOVING)
        f.ends[k] = s.now + moving(s, s.graph.after_size[k], source, target)
        # After the jobs of this instant: they are numbered below.
        if heap_push(&s.heap, f.ends[k], WF_FINISH, s.n + k) < 0:
            return NO_MEMORY
    return OK


# ---------------------------------------------------------------------------------------------- jobs

cdef int send_output(workflow_t *s, int32_t job) noexcept nogil:
    """A job is done: its output is there on its node, and is to be sent to others."""
    cdef heft_t *f = <heft_t *>s.scheduler.state
    cdef int64_t k
    f.turn[s.job.node[job]] += 1
    for k in range(s.graph.after_start[job], s.graph.after_start[job + 1]):
        if s.job.node[s.graph.after[k]] == s.job.node[job]:
            f.state[k] = THERE
            f.missing[s.graph.after[k]] -= 1
        else:
            enlist(f, f.waiting, &f.n_waiting, k, WAITING)
    return OK


cdef int start_jobs(workflow_t *s) noexcept nogil:
    cdef heft_t *f = <heft_t *>s.scheduler.state
    cdef int32_t i, node, job
    cdef uint64_t word
    if begin_transfers(s, f) < 0:
        return NO_MEMORY
    for i in range(s.machine.words):
        word = s.machine.free[i]
        while word:
            node = (i << 6) + fs_lowest(word)
            word &= word - 1
            if f.turn[node] == f.n[node]:
                continue
            job = f.stay[node][f.turn[node]].job
            if f.missing[job] == 0 and hold_node(s, job, node, s.now, s.now + duration(s, job, node)) < 0:
                return NO_MEMORY
    return OK


# ---------------------------------------------------------------------------------------------- memory

cdef void close_heft(void *state) noexcept nogil:
    cdef heft_t *f = <heft_t *>state
    cdef int32_t p
    if f.stay != NULL:
        for p in range(f.nodes):
            c_free(f.stay[p])
    close_state(f)


cdef int open_heft(void *workflows, dict options, dict columns) except -1:
    cdef workflow_t *s = <workflow_t *>workflows
    cdef heft_t *f = <heft_t *>open_state(&s.scheduler, sizeof(heft_t))
    cdef int64_t edges = s.graph.after_start[s.n], k
    cdef int32_t job
    s.scheduler.close, s.scheduler.plans = close_heft, True
    s.scheduler.arrived, s.scheduler.done, s.scheduler.moved = plan_workflow, send_output, end_transfer
    s.scheduler.failed, s.scheduler.act = break_transfers, start_jobs
    f.nodes = s.nodes
    own_block(f, &f.stay, s.nodes, sizeof(stay_t *))
    own_block(f, &f.n, s.nodes, sizeof(int32_t))
    own_block(f, &f.capacity, s.nodes, sizeof(int32_t))
    own_block(f, &f.finish, s.n, sizeof(double))
    own_block(f, &f.turn, s.nodes, sizeof(int32_t))
    own_block(f, &f.missing, s.n, sizeof(int32_t))
    own_block(f, &f.source, edges, sizeof(int32_t))
    own_block(f, &f.ends, edges, sizeof(double))
    own_block(f, &f.place, edges, sizeof(int64_t))
    own_block(f, &f.state, edges, sizeof(int8_t))
    own_block(f, &f.waiting, edges, sizeof(int64_t))
    own_block(f, &f.moving, edges, sizeof(int64_t))
    for job in range(s.n):
        f.missing[job] = <int32_t>(s.graph.before_start[job + 1] - s.graph.before_start[job])
        for k in range(s.graph.after_start[job], s.graph.after_start[job + 1]):
            f.source[k] = job
    return 0


HEFT = factory(open_heft)
