"""Backfilling with reservations for the first k waiting jobs, where a job needs a place (model.md#backfill).

The plan (placed_claims.pxd) is rebuilt in every pass in which a job behind the head is small enough to start.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

from faultsim._core.avoidance cimport choose_growing, choose_now
from faultsim._core.containers.bits cimport mask_count, mask_join
from faultsim._core.containers.memory cimport open_state, own_block
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.jobs cimport start_job
from faultsim._core.queue cimport begin_pass, close_gap, nobody_waits, sort_queue
from faultsim._core.scheduling.easy_placed cimport run_fcfs
from faultsim._core.scheduling.placed_claims cimport (
    add_claim, add_time, claim_t, clear_plan, forget_gone, has_place, holds, hopeful_from, known_t, mask_of, meets,
    plan_t, spare_head, turn_of_parts,
)
from faultsim._core.scheduling.shadow cimport lift_mover, settle_mover, shadow_from_now
from faultsim._core.state cimport (
    ask_of, asks_shape, end_if_started, end_if_started_at, grown, promise_start, queue_t, set_window, sim_t,
)
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport machine_t, outline_t, permit_t, place_t
from faultsim._core.tables.scheduler cimport promise_t

cdef int reserve_for_head(plan_t *p, sim_t *s, int32_t job) noexcept nogil:
    """What EASY promises to the head (model.md#easy)."""
    cdef double t = INFINITY
    cdef place_t place
    cdef int size, code
    if s.machine.part > 0 and s.need[job] >= s.machine.part:
        code = turn_of_parts(p, s, job, &t)
        if code < 0:
            return code
    else:
        t = shadow_from_now(s, ask_of(s, job), p.later.mask)
    if t == INFINITY:
        return OK
    promise_start(s, job, t)
    if not p.fixed:
        return add_claim(p, s, job, t, NULL)
    size = choose_growing(s, job, t, p.later.mask, s.nodes, NULL, False, &place)
    return add_claim(p, s, job, t, &place) if size > 0 else size


cdef int try_at(plan_t *p, sim_t *s, int32_t job, double t, place_t *place) noexcept nogil:
    """The size of a place for the job from t on, where p.running runs at t; 0: none; < 0: status."""
    cdef machine_t *m = &s.machine
    cdef size_t bytes = <size_t>m.words * sizeof(uint64_t)
    cdef double end = end_if_started_at(s, job, t)
    cdef int32_t i
    cdef permit_t permit
    memset(&permit, 0, sizeof(permit))
    memcpy(p.window, p.running, bytes)
    memcpy(p.instant, p.running, bytes)
    for i in range(p.n):
        if not meets(&p.claim[i], t, end):
            continue
        if not has_place(p, i):
            spare_head(p, s, &permit)
            continue
        mask_join(p.window, mask_of(p, s, i), m.words)
        if holds(&p.claim[i], t):
            mask_join(p.instant, mask_of(p, s, i), m.words)
    if m.nodes - mask_count(p.window, m.words) < s.need[job]:
        return 0
    permit.forbidden = p.window
    return choose_growing(s, job, t, p.instant, s.need[job] + p.max_growth, &permit, False, place)


cdef int reserve(plan_t *p, sim_t *s, int32_t job) noexcept nogil:
    """The job's reservation, at the earliest time with a place, into the plan; none if there is no such time."""
    cdef const release_t *items = releases_all(&s.releases)
    cdef machine_t *m = &s.machine
    cdef int32_t i = 0, n = 0
    cdef place_t place
    cdef int code
    if m.part > 0 and s.need[job] >= m.part and hopeful_from(p, s, job, &i) < 0:
        return NO_MEMORY
    while i < p.n_times:
        while n < s.releases.n and items[n].end <= p.time[i]:
            n += 1
        if not 0 <= p.n_left <= n:
            memcpy(p.running, m.occ, <size_t>m.words * sizeof(uint64_t))
            p.n_left = 0
        m.release(m.state, items + p.n_left, n - p.n_left, p.running)
        p.n_left = n
        code = try_at(p, s, job, p.time[i], &place)
        if code != 0:
            return code if code < 0 else add_claim(p, s, job, p.time[i], &place)
        i += 1
    return OK


# ---------------------------------------------------------------------------------------------- a pass

cdef int try_start(plan_t *p, sim_t *s, int32_t job) noexcept nogil:
    """1: started, ahead of others; 0: not permitted; < 0: status."""
    cdef machine_t *m = &s.machine
    cdef int32_t size = s.need[job], limit = size + p.max_growth, i
    cdef double end = end_if_started(s, job)
    # What has no place is known by size, and not by shape.
    cdef bint restricted = False, shaped = asks_shape(s, job)
    cdef permit_t permit
    cdef known_t *known
    cdef place_t place
    cdef int code
    memset(&permit, 0, sizeof(permit))
    for i in range(p.n):
        if not p.claim[i].begin < end:
            continue
        restricted = True
        if not has_place(p, i):
            spare_head(p, s, &permit)
            continue
        if permit.forbidden == NULL:
            memset(p.window, 0, <size_t>m.words * sizeof(uint64_t))
            permit.forbidden = p.window
        mask_join(p.window, mask_of(p, s, i), m.words)
    if limit > s.free:
        limit = s.free
    set_window(s, job, s.now)
    while size != 0 and size <= limit:
        # During a pass the machine only fills, so what had no place has none.
        known = &p.known[size]
        if shaped or (known.none_free != p.epoch and not (known.none_beside == p.epoch and known.end <= end)):
            s.work.tried += 1
            code = choose_now(s, job, m.occ, size, &permit if restricted else NULL, &place)
            if code < 0:
                return code
            if code:
                code = start_job(s, job, size, &place, True)
                if code < 0:
                    return code
                if p.open and p.claim[0].begin < end:
                    m.put(m.state, p.later.mask, &place)
                forget_gone(p)
                code = add_time(p, end)
                return code if code < 0 else 1
            if shaped:
                return 0
            if not restricted:
                known.none_free = p.epoch
            else:
                known.none_beside, known.end = p.epoch, end
        size = grown(s, job, size)
    return 0


cdef inline int32_t next_small(const sim_t *s, int32_t at, int32_t largest) noexcept nogil:
    while at < s.queue.end and s.need[s.queue.job[at]] > (s.free if asks_shape(s, s.queue.job[at]) else largest):
        at += 1
    return at


cdef int backfill(plan_t *p, sim_t *s) noexcept nogil:
    """One sweep of the queue, up to the last job that is small enough to start."""
    cdef queue_t *q = &s.queue
    cdef int32_t at = q.head + 1, keep = at, asked = 1, job
    cdef int32_t largest = s.machine.largest_now(s.machine.state), small = next_small(s, at, largest)
    cdef int code
    if small == q.end:
        return OK
    code = clear_plan(p, s)
    if code == OK:
        code = reserve_for_head(p, s, q.job[q.head])
    while code >= 0 and small < q.end:
        job = q.job[at]
        code = 0
        if at == small:
            code = try_start(p, s, job)
            if code == 1:
                largest = s.machine.largest_now(s.machine.state)
            small = next_small(s, at + 1, largest)
        if code == 0:
            if asked < p.depth:
                asked += 1
                code = reserve(p, s, job)
            q.job[keep] = job
            keep += 1
        at += 1
    close_gap(q, keep, at)
    return code if code < 0 else OK


cdef int schedule(void *state, void *sim) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef bint adopted = False
    cdef int code = begin_pass(s)
    if code < 0:
        return code
    code = run_fcfs(s)
    if code == OK and s.migration.rearrange != NULL:
        code = s.migration.rearrange(s.migration.state, s, &adopted)
        if code == OK and adopted:
            code = run_fcfs(s)
    if code < 0:
        return code
    if nobody_waits(&s.queue):
        return OK
    return backfill(p, s)


# ---------------------------------------------------------------------------------------------- rescheduling

cdef int64_t room(const plan_t *p, const sim_t *s, int32_t i) noexcept nogil:
    """Free nodes beside a reservation, at its begin."""
    cdef const release_t *items = releases_all(&s.releases)
    cdef double t = p.claim[i].begin
    cdef int64_t free = s.free
    cdef int32_t k
    for k in range(s.releases.n):
        if items[k].end <= t:
            free += items[k].nodes
    for k in range(p.n):
        if k == i or holds(&p.claim[k], t):
            free -= p.claim[k].need
    return free


cdef int64_t spare(void *state, void *sim, int32_t sound, promise_t *promise) noexcept nogil:
    """The least room beside the reservations that a pass would make if nobody could start."""
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef queue_t *q = &s.queue
    cdef int64_t least = sound
    cdef int32_t i
    cdef int code = sort_queue(s)
    if code == OK:
        code = clear_plan(p, s)
    if code == OK:
        code = add_time(p, s.now)                # no pass has tried it
    for i in range(q.head, q.end):
        if code < 0 or i - q.head == p.depth:
            break
        code = reserve(p, s, q.job[i]) if i > q.head else reserve_for_head(p, s, q.job[i])
    if code < 0:
        return code
    for i in range(p.n):
        if room(p, s, i) < least:
            least = room(p, s, i)
    return least if least > 0 else 0


cdef int guard(void *state, void *sim, int32_t job, double end, uint64_t *forbidden, permit_t *permit) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef int32_t i
    lift_mover(&p.later, s, job, end, p.claim[0].begin if p.open else INFINITY)
    if p.later.outlives:
        spare_head(p, s, permit)
    for i in range(p.n):
        if has_place(p, i) and p.claim[i].begin < end:
            mask_join(forbidden, mask_of(p, s, i), s.machine.words)
    return OK


cdef int open_backfill(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef size_t words = s.machine.words
    cdef plan_t *p = <plan_t *>open_state(&s.scheduler, sizeof(plan_t))
    s.scheduler.schedule = schedule
    s.scheduler.spare, s.scheduler.guard, s.scheduler.settled = spare, guard, settle_mover
    p.depth = s.n if options["depth"] == "unlimited" else min(options["depth"], <object>s.n)
    p.fixed = options["reservation"] == "fixed"
    p.max_growth = min(options["max_growth"], <object>s.nodes)
    p.capacity = min(16, s.limit.first_room)
    p.time_capacity = min(64, s.limit.first_room)
    own_block(p, &p.claim, p.capacity, sizeof(claim_t))
    own_block(p, &p.mask, p.capacity * words, sizeof(uint64_t))
    own_block(p, &p.time, p.time_capacity, sizeof(double))
    own_block(p, &p.known, <size_t>s.nodes + 1, sizeof(known_t))
    own_block(p, &p.later.mask, words, sizeof(uint64_t))
    own_block(p, &p.beside, words, sizeof(uint64_t))
    own_block(p, &p.around, words, sizeof(uint64_t))
    own_block(p, &p.running, words, sizeof(uint64_t))
    own_block(p, &p.window, words, sizeof(uint64_t))
    own_block(p, &p.instant, words, sizeof(uint64_t))
    if s.machine.part > 0:
        p.gone_capacity = min(64, s.limit.first_room)
        own_block(p, &p.outline, p.capacity, sizeof(outline_t))
        own_block(p, &p.gone, p.gone_capacity, sizeof(outline_t))
        own_block(p, &p.going, words, sizeof(uint64_t))
    return 0


BACKFILL = factory(open_backfill)
