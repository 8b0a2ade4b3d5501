"""FCFS and EASY on a torus (MODEL 6)."""

from libc.math cimport INFINITY
from libc.string cimport memcpy, memset

from faultsim._core.torus.finder_bitmap cimport has_free
from faultsim._core.scheduling.placement cimport current_mfp
from faultsim._core.state cimport (
    CHANGED_ALL, OK, aim, close_gap, end_if_started, promise_start, shadow_t, start_job, wait_t,
)
from faultsim._core.fars.suspicion cimport place_warily
from faultsim._core.torus.occupancy cimport box_t, next_feasible, occ_count, occ_drop, occ_drop_node, occ_fill


cdef int start_fcfs(sim_t *s, int32_t job) noexcept nogil:
    """1: started in a box of the smallest feasible size that has a free one; 0: no box is large enough; < 0: status."""
    cdef int32_t size = s.need[job]
    cdef box_t box
    cdef int code
    if size > s.free or size > current_mfp(s):
        return 0
    aim(s, job, s.now)
    while size != 0 and size <= s.mfp:
        code = place_warily(s, job, s.occ, size, NULL, &box)
        if code < 0:
            return code
        if code:
            code = start_job(s, job, size, &box, False)
            return code if code < 0 else 1
        size = next_feasible(&s.torus, size + 1)
    return 0


cdef int run_fcfs(sim_t *s) noexcept nogil:
    cdef int code = 1
    while s.wait.head < s.wait.end:
        code = start_fcfs(s, s.wait.job[s.wait.head])
        if code <= 0:
            return code
        s.wait.head += 1
    return OK


cdef void give(const sim_t *s, const release_t *item, uint64_t *occ) noexcept nogil:
    if item.job >= 0:
        occ_drop(&s.torus, occ, &s.box[item.job])
    else:
        occ_drop_node(&s.torus, occ, -1 - item.job)      # a repair


cdef double torus_shadow(sim_t *s, const release_t *items, int32_t count, const uint64_t *occ, int32_t need,
                         uint64_t *there) noexcept nogil:
    cdef size_t bytes = <size_t>s.torus.words * sizeof(uint64_t)
    cdef int32_t low = -1, high, mid, i, free = s.torus.nodes - occ_count(&s.torus, occ)
    cdef double shadow
    if count == 0:
        return INFINITY
    # Fewer than `need` nodes are free before items[low] has gone.
    while low + 1 < count and free < need:
        low += 1
        free += items[low].nodes
    if free < need:
        return INFINITY
    # The head could not start, so with nothing released there is no box; `low` releases at least are needed.
    low = low - 1 if low > 0 else -1
    high = count - 1
    # Free boxes only grow as jobs leave: bisect for the first release that is enough.
    while high - low > 1:
        mid = (low + high) >> 1
        memcpy(there, occ, bytes)
        for i in range(mid + 1):
            give(s, &items[i], there)
        if has_free(&s.finder, there, need, NULL):
            high = mid
        else:
            low = mid
    shadow = items[high].end if items[high].end > s.now else s.now
    memcpy(there, occ, bytes)
    for i in range(count):
        if items[i].end > shadow:
            break
        give(s, &items[i], there)
    if not has_free(&s.finder, there, need, NULL):
        return INFINITY
    return shadow


cdef int compute_shadow(sim_t *s, int32_t head) noexcept nogil:
    cdef shadow_t *h = &s.shadow
    cdef int32_t size = s.need[head]
    cdef box_t box
    cdef int code
    h.valid = True
    h.time = torus_shadow(s, s.releases.items, s.releases.n, s.occ, size, h.occ)
    memset(&h.permit, 0, sizeof(h.permit))
    if h.time == INFINITY:
        return OK               # nothing can delay a head that no release helps
    promise_start(s, head, h.time)
    if not s.policy.fixed:
        h.permit.later = h.occ
        h.permit.need = size
        return OK
    aim(s, head, h.time)
    while size != 0:
        code = s.policy.place(s, head, h.occ, size, NULL, &box)
        if code < 0:
            return code
        if code:
            break
        size = next_feasible(&s.torus, size + 1)
    memset(h.fixed, 0, <size_t>s.torus.words * sizeof(uint64_t))
    occ_fill(&s.torus, h.fixed, &box)
    h.permit.forbidden = h.fixed
    return OK


cdef int try_backfill(sim_t *s, int32_t job) noexcept nogil:
    """1: started behind the head's back; 0: not permitted; < 0: status."""
    cdef shadow_t *h = &s.shadow
    cdef int32_t size = s.need[job], limit = size + s.policy.max_growth
    cdef bint outlives = end_if_started(s, job) > h.time
    cdef int32_t *refused = s.fit_epoch_long if outlives else s.fit_epoch_any
    cdef box_t box
    cdef int code
    if limit > s.free:
        limit = s.free
    aim(s, job, s.now)
    while size != 0 and size <= limit:
        # During a pass the machine only fills, so what had no box has none.
        if s.fit_epoch_any[size] != s.fit_epoch and refused[size] != s.fit_epoch:
            code = place_warily(s, job, s.occ, size, &h.permit if outlives else NULL, &box)
            if code < 0:
                return code
            if code:
                code = start_job(s, job, size, &box, True)
                if code < 0:
                    return code
                if outlives:
                    h.took_long = True
                    occ_fill(&s.torus, h.occ, &box)
                return 1
            refused[size] = s.fit_epoch
        size = next_feasible(&s.torus, size + 1)
    return 0


cdef int backfill(sim_t *s) noexcept nogil:
    """One scan of the queue behind the head, from the first job not yet refused under this shadow."""
    cdef wait_t *w = &s.wait
    cdef int32_t at = s.examined, keep = s.examined, job
    cdef int code
    while at < w.end and s.free > 0:
        job = w.job[at]
        if s.need[job] <= s.free and (s.policy.max_growth > 0 or s.fit_epoch_any[s.need[job]] != s.fit_epoch):
            if not s.shadow.valid:
                code = compute_shadow(s, w.job[w.head])
                if code < 0:
                    return code
            code = try_backfill(s, job)
            if code < 0:
                return code
            if code:
                at += 1
                continue
        if keep != at:
            w.job[keep] = job
        keep += 1
        at += 1
    close_gap(w, keep, at)
    s.examined = w.end
    return OK


cdef int schedule_torus(sim_t *s) noexcept nogil:
    cdef wait_t *w = &s.wait
    cdef bint afresh
    cdef int code
    if s.policy.order != NULL:
        code = s.policy.order(s)
        if code < 0:
            return code
        s.change = CHANGED_ALL
        s.epoch += 1         # another head may come first now: promises are excused
    # As on a cluster: after arrivals alone what was refused stays refused, unless an overrun moves the shadow, or the
    # reserved box is picked anew because a job that outlives the shadow came in.
    afresh = (s.change == CHANGED_ALL or s.examined <= w.head or (s.shadow.valid and s.now > s.shadow.time)
              or (s.policy.fixed and (s.shadow.took_long or s.policy.python_place != NULL)))
    if afresh:
        s.shadow.valid = False
        s.fit_epoch += 1
        code = run_fcfs(s)
        if code < 0:
            return code
    s.shadow.took_long = False
    if s.policy.migrate != NULL:
        code = s.policy.migrate(s)
        if code < 0:
            return code
        if s.adopted:
            afresh = True
            s.shadow.valid = False
            s.fit_epoch += 1
            code = run_fcfs(s)
            if code < 0:
                return code
    if w.head == w.end:
        w.head = 0
        w.end = 0
        s.examined = 0
        return OK
    if afresh:
        s.examined = w.head + 1
    if not s.policy.backfill:
        s.examined = w.end
        return OK
    return backfill(s)
