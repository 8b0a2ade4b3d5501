"""Migration on a torus (MODEL 8)."""

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport free as c_free, malloc, qsort
from libc.string cimport memcpy, memmove

from faultsim._core.torus.finder_bitmap cimport largest_free
from faultsim._core.scheduling.placement cimport current_mfp, same_box
from faultsim._core.containers.releases cimport release_t
from faultsim._core.scheduling.easy_placed cimport torus_shadow
from faultsim._core.state cimport JOB_RUNNING, NO_MEMORY, OK, move_job, mover_t
from faultsim._core.torus.occupancy cimport box_t, occ_drop, occ_equal, occ_fill


cdef int largest_first(const void *a, const void *b) noexcept nogil:
    # Largest allocated size, then earlier decision, then queue order.
    cdef const mover_t *p = <const mover_t *>a
    cdef const mover_t *q = <const mover_t *>b
    if p.nodes != q.nodes:
        return -1 if p.nodes > q.nodes else 1
    if p.decision != q.decision:
        return -1 if p.decision < q.decision else 1
    return (p.job > q.job) - (p.job < q.job)


cdef int by_job(const void *a, const void *b) noexcept nogil:
    cdef int32_t p = (<const mover_t *>a).job, q = (<const mover_t *>b).job
    return (p > q) - (p < q)


cdef int by_end(const void *a, const void *b) noexcept nogil:
    cdef const release_t *p = <const release_t *>a
    cdef const release_t *q = <const release_t *>b
    if p.end != q.end:
        return -1 if p.end < q.end else 1
    return (p.job > q.job) - (p.job < q.job)


cdef bint worth_trying(sim_t *s) noexcept nogil:
    if s.wait.head == s.wait.end and not s.policy.always:
        return False
    if s.running == 0 or s.free <= 0 or s.free < s.policy.min_free * s.nodes:
        return False
    if s.attempted_before and occ_equal(&s.torus, s.occ, s.last_attempt):
        return False
    return current_mfp(s) <= s.policy.max_concentration * s.free


cdef int replace_all(sim_t *s, int32_t *count) noexcept nogil:
    """Place the running jobs anew into s.trial; s.moving holds those that found a place."""
    cdef size_t bytes = <size_t>s.torus.words * sizeof(uint64_t)
    cdef int32_t n = 0, i, job, stuck
    cdef mover_t *m = s.moving
    cdef int code
    memcpy(s.blocked, s.occ, bytes)
    for i in range(s.releases.n):
        job = s.releases.items[i].job
        if job < 0 or s.state[job] != JOB_RUNNING:
            continue                    # down nodes and held jobs stay
        m[n].job = job
        m[n].nodes = s.releases.items[i].nodes
        m[n].decision = s.decision[job]
        occ_drop(&s.torus, s.blocked, &s.box[job])
        n += 1
    qsort(m, <size_t>n, sizeof(mover_t), largest_first)
    while True:
        memcpy(s.trial, s.blocked, bytes)
        stuck = -1
        for i in range(n):
            s.window_from = s.now        # until its expected end it must not fail
            s.window_to = s.expected[m[i].job] if s.expected[m[i].job] > s.now else s.now
            code = s.policy.place(s, m[i].job, s.trial, m[i].nodes, NULL, &m[i].box)
            if code < 0:
                return code
            if code == 0:
                stuck = i
                break
            occ_fill(&s.torus, s.trial, &m[i].box)
        if stuck < 0:
            break
        # It fits nowhere: it keeps its box, and the others are placed around it from the beginning.
        occ_fill(&s.torus, s.blocked, &s.box[m[stuck].job])
        n -= 1
        memmove(&m[stuck], &m[stuck + 1], <size_t>(n - stuck) * sizeof(mover_t))
    count[0] = n
    return OK


cdef void swap_boxes(sim_t *s, int32_t n) noexcept nogil:
    cdef int32_t i
    cdef box_t box
    for i in range(n):
        box = s.box[s.moving[i].job]
        s.box[s.moving[i].job] = s.moving[i].box
        s.moving[i].box = box


cdef int keeps_promise(sim_t *s, int32_t n, bint *kept) noexcept nogil:
    """Would the head's shadow time be no later in the new arrangement?"""
    cdef int32_t head, i, k, count = s.releases.n
    cdef double before, after
    cdef uint64_t *there
    cdef release_t *items
    kept[0] = True
    if s.wait.head == s.wait.end:
        return OK
    there = <uint64_t *>malloc(<size_t>s.torus.words * sizeof(uint64_t))
    items = <release_t *>malloc(<size_t>count * sizeof(release_t))
    if there == NULL or items == NULL:
        c_free(there)
        c_free(items)
        return NO_MEMORY
    head = s.wait.job[s.wait.head]
    before = torus_shadow(s, s.releases.items, count, s.occ, s.need[head], there)
    memcpy(items, s.releases.items, <size_t>count * sizeof(release_t))
    if s.policy.move_cost > 0:
        for i in range(n):
            if not same_box(&s.box[s.moving[i].job], &s.moving[i].box):
                for k in range(count):
                    if items[k].job == s.moving[i].job:
                        items[k].end += s.policy.move_cost
        qsort(items, <size_t>count, sizeof(release_t), by_end)
    swap_boxes(s, n)
    if largest_free(&s.finder, s.trial, NULL) >= s.need[head]:
        after = s.now           # it could start at once
    else:
        after = torus_shadow(s, items, count, s.trial, s.need[head], there)
    swap_boxes(s, n)
    c_free(there)
    c_free(items)
    kept[0] = after <= before
    return OK


cdef int defragment(sim_t *s) noexcept nogil:
    cdef size_t bytes = <size_t>s.torus.words * sizeof(uint64_t)
    cdef int32_t n = 0, i, mfp
    cdef bint kept = True
    cdef int code
    s.adopted = False
    if not worth_trying(s):
        return OK
    code = replace_all(s, &n)
    if code < 0:
        return code
    s.n_attempted += 1
    s.attempted_before = True
    mfp = largest_free(&s.finder, s.trial, NULL)
    if mfp > current_mfp(s):
        s.n_successful += 1
        if s.policy.keep_promise:
            code = keeps_promise(s, n, &kept)
            if code < 0:
                return code
        if kept:
            s.adopted = True
            s.epoch += 1        # promises may be missed after a migration (MODEL 16)
            memcpy(s.occ, s.trial, bytes)
            s.mfp = mfp
            qsort(s.moving, <size_t>n, sizeof(mover_t), by_job)
            for i in range(n):
                if not same_box(&s.box[s.moving[i].job], &s.moving[i].box):
                    code = move_job(s, s.moving[i].job, &s.moving[i].box)
                    if code < 0:
                        return code
    memcpy(s.last_attempt, s.occ, bytes)
    return OK
