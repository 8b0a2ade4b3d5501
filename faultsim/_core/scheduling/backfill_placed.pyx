"""Backfilling with reservations for the first k waiting jobs, where a job needs a place (model.md#backfill).

The plan is a list of reservations, rebuilt in every pass in which a job behind the head is small enough to start.
Each has a place, as a mask, but for the head's with reservation="any": it leaves open which one, and asks that a place
that is large enough stays free in `later`, what runs at its time, together with `beside`, the places of the others.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from faultsim._core.avoidance cimport choose_growing, choose_now
from faultsim._core.containers.bits cimport mask_count, mask_join
from faultsim._core.containers.memory cimport open_state, own_block, resize_block
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.jobs cimport start_job
from faultsim._core.queue cimport begin_pass, close_gap, nobody_waits, sort_queue
from faultsim._core.scheduling.easy_placed cimport run_fcfs
from faultsim._core.scheduling.shadow cimport later_t, lift_mover, settle_mover, shadow_from_now
from faultsim._core.state cimport end_if_started, end_if_started_at, promise_start, queue_t, set_window, sim_t
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport machine_t, outline_join, outline_t, permit_t, place_t
from faultsim._core.tables.scheduler cimport promise_t

cdef struct claim_t:         # a reservation
    double begin, end
    int32_t need

cdef struct plan_t:
    later_t later            # open: what runs, and is down, at the begin of claim[0]
    int32_t depth
    bint fixed               # reservation="fixed": the head has a place, too
    int32_t max_growth
    claim_t *claim           # in queue order
    uint64_t *mask           # of their places, one after another
    outline_t *outline       # of these; NULL: the machine has none
    int32_t n, capacity
    bint open                # claim[0] is the head's, and has no place
    uint64_t *beside         # open: the places of other reservations that meet it
    double *time             # when nodes come back, from now on, ascending, each once: what is tried
    int32_t n_times, time_capacity
    # With outlines: of what runs after so many releases, as long as no job starts.
    outline_t *gone
    int32_t n_gone, gone_capacity        # n_gone: so many are known
    uint64_t *going          # the mask of the last of them
    outline_t left           # open: of what `later` and `beside` have
    int32_t *none_free       # per size: there is no free place of it since this epoch
    int32_t epoch
    # scratch
    uint64_t *around
    uint64_t *running
    uint64_t *window
    uint64_t *instant


cdef inline uint64_t *mask_of(const plan_t *p, const sim_t *s, int32_t i) noexcept nogil:
    return p.mask + <size_t>i * <size_t>s.machine.words


cdef inline bint has_place(const plan_t *p, int32_t i) noexcept nogil:
    return i > 0 or not p.open


cdef inline bint holds(const claim_t *c, double t) noexcept nogil:
    return c.begin <= t and t < c.end


cdef inline bint meets(const claim_t *c, double t, double end) noexcept nogil:
    return holds(c, t) or (t < c.begin and c.begin < end)


# ---------------------------------------------------------------------------------------------- the plan

cdef int add_time(plan_t *p, double t) noexcept nogil:
    cdef int32_t low = 0, high = p.n_times, mid
    while low < high:
        mid = (low + high) >> 1
        if p.time[mid] < t:
            low = mid + 1
        else:
            high = mid
    if low < p.n_times and p.time[low] == t:
        return OK
    if p.n_times == p.time_capacity:
        if resize_block(p, &p.time, 2 * <size_t>p.time_capacity * sizeof(double)) < 0:
            return NO_MEMORY
        p.time_capacity *= 2
    memmove(&p.time[low + 1], &p.time[low], <size_t>(p.n_times - low) * sizeof(double))
    p.time[low] = t
    p.n_times += 1
    return OK


cdef int clear_plan(plan_t *p, sim_t *s) noexcept nogil:
    cdef const release_t *items = releases_all(&s.releases)
    cdef int32_t i
    p.n = 0
    p.open = False
    p.n_times = p.n_gone = 0
    for i in range(s.releases.n):
        if items[i].end == INFINITY:
            break
        if add_time(p, items[i].end if items[i].end > s.now else s.now) < 0:
            return NO_MEMORY
    return OK


cdef int add_claim(plan_t *p, sim_t *s, int32_t job, double begin, const place_t *place) noexcept nogil:
    """The job's reservation, in a place, or (NULL) the open one of the head."""
    cdef size_t bytes = <size_t>s.machine.words * sizeof(uint64_t)
    cdef size_t capacity = 2 * <size_t>p.capacity
    if p.n == p.capacity:
        if (resize_block(p, &p.claim, capacity * sizeof(claim_t)) < 0
                or resize_block(p, &p.mask, capacity * bytes) < 0
                or (p.outline != NULL and resize_block(p, &p.outline, capacity * sizeof(outline_t)) < 0)):
            return NO_MEMORY
        p.capacity *= 2
    p.claim[p.n].begin = begin
    p.claim[p.n].end = end_if_started_at(s, job, begin)
    p.claim[p.n].need = s.need[job]
    memset(mask_of(p, s, p.n), 0, bytes)
    if place == NULL:
        p.open = True
        memset(p.beside, 0, bytes)
    else:
        s.machine.put(s.machine.state, mask_of(p, s, p.n), place)
        if p.outline != NULL:
            memset(&p.outline[p.n], 0, sizeof(outline_t))
            s.machine.trace(s.machine.state, mask_of(p, s, p.n), 0, s.machine.words, &p.outline[p.n])
        if p.open and meets(&p.claim[0], begin, p.claim[p.n].end):
            mask_join(p.beside, mask_of(p, s, p.n), s.machine.words)
    p.n += 1
    return add_time(p, p.claim[p.n - 1].end)


cdef void spare_head(plan_t *p, sim_t *s, permit_t *permit) noexcept nogil:
    """Permit only what leaves a place to the open reservation of the head."""
    memcpy(p.around, p.later.mask, <size_t>s.machine.words * sizeof(uint64_t))
    mask_join(p.around, p.beside, s.machine.words)
    permit.later = p.around
    permit.need = p.claim[0].need


cdef int reserve_for_head(plan_t *p, sim_t *s, int32_t job) noexcept nogil:
    """What EASY promises to the head (model.md#easy)."""
    cdef double t = shadow_from_now(s, s.need[job], p.later.mask)
    cdef place_t place
    cdef int size
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


cdef int find_gone(plan_t *p, sim_t *s, int32_t n) noexcept nogil:
    """The outlines after up to n releases."""
    cdef const release_t *items = releases_all(&s.releases)
    cdef machine_t *m = &s.machine
    while p.n_gone <= n:
        if p.n_gone == p.gone_capacity:
            if resize_block(p, &p.gone, 2 * <size_t>p.gone_capacity * sizeof(outline_t)) < 0:
                return NO_MEMORY
            p.gone_capacity *= 2
        if p.n_gone == 0:
            memcpy(p.going, m.occ, <size_t>m.words * sizeof(uint64_t))
            memset(p.gone, 0, sizeof(outline_t))
            m.trace(m.state, p.going, 0, m.words, p.gone)
        else:
            p.gone[p.n_gone] = p.gone[p.n_gone - 1]
            m.release_parts(m.state, items + p.n_gone - 1, 1, p.going, &p.gone[p.n_gone])
        p.n_gone += 1
    return OK


cdef bint is_hopeless(plan_t *p, sim_t *s, int32_t job, double t, int32_t n) noexcept nogil:
    """Do outlines tell that a job finds no place at t, after n releases?"""
    cdef machine_t *m = &s.machine
    cdef double end = end_if_started_at(s, job, t)
    cdef const outline_t *later = NULL
    cdef outline_t taken = p.gone[n]
    cdef int32_t i
    for i in range(p.n):
        if not meets(&p.claim[i], t, end):
            continue
        if has_place(p, i):
            outline_join(&taken, &p.outline[i])
        else:
            later = &p.left
    return not m.has_beside(m.state, &taken, s.need[job], s.need[job] + p.max_growth, later, p.claim[0].need)


cdef int reserve(plan_t *p, sim_t *s, int32_t job) noexcept nogil:
    """The job's reservation, at the earliest time with a place, into the plan; none if there is no such time."""
    cdef const release_t *items = releases_all(&s.releases)
    cdef machine_t *m = &s.machine
    cdef int32_t i, n = 0, since = 0, tight = -1
    cdef bint by_parts = m.part > 0 and s.need[job] >= m.part, fits = False
    cdef place_t place
    cdef int code
    cdef permit_t permit
    memcpy(p.running, m.occ, <size_t>m.words * sizeof(uint64_t))
    if by_parts and p.open:
        spare_head(p, s, &permit)
        memset(&p.left, 0, sizeof(outline_t))
        m.trace(m.state, p.around, 0, m.words, &p.left)
    for i in range(p.n_times):
        while n < s.releases.n and items[n].end <= p.time[i]:
            n += 1
        if by_parts:
            # Jobs only leave: after `tight` releases there is no place even without the reservations.
            if n == tight:
                continue
            if find_gone(p, s, n) < 0:
                return NO_MEMORY
            fits = fits or m.has_beside(m.state, &p.gone[n], s.need[job], s.need[job] + p.max_growth, NULL, 0)
            if not fits:
                tight = n
            if not fits or is_hopeless(p, s, job, p.time[i], n):
                continue
        m.release(m.state, items + since, n - since, p.running)
        since = n
        code = try_at(p, s, job, p.time[i], &place)
        if code != 0:
            return code if code < 0 else add_claim(p, s, job, p.time[i], &place)
    return OK


# ---------------------------------------------------------------------------------------------- a pass

cdef int try_start(plan_t *p, sim_t *s, int32_t job) noexcept nogil:
    """1: started, ahead of others; 0: not permitted; < 0: status."""
    cdef machine_t *m = &s.machine
    cdef int32_t size = s.need[job], limit = size + p.max_growth, i
    cdef double end = end_if_started(s, job)
    cdef bint restricted = False
    cdef permit_t permit
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
        if p.none_free[size] != p.epoch:
            code = choose_now(s, job, m.occ, size, &permit if restricted else NULL, &place)
            if code < 0:
                return code
            if code:
                code = start_job(s, job, size, &place, True)
                if code < 0:
                    return code
                if p.open and p.claim[0].begin < end:
                    m.put(m.state, p.later.mask, &place)
                p.n_gone = 0
                code = add_time(p, end)
                return code if code < 0 else 1
            if not restricted:
                p.none_free[size] = p.epoch
        size = m.next_size(m.state, size + 1)
    return 0


cdef inline int32_t next_small(const sim_t *s, int32_t at, int32_t largest) noexcept nogil:
    while at < s.queue.end and s.need[s.queue.job[at]] > largest:
        at += 1
    return at


cdef int backfill(plan_t *p, sim_t *s) noexcept nogil:
    """One sweep of the queue, up to the last job that is small enough to start."""
    cdef queue_t *q = &s.queue
    cdef int32_t at = q.head + 1, keep = at, asked = 1, job
    cdef int32_t small = next_small(s, at, s.machine.largest_now(s.machine.state))
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
            small = next_small(s, at + 1, s.machine.largest_now(s.machine.state))
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
    p.epoch += 1
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
    p.capacity = 16
    p.time_capacity = 64
    own_block(p, &p.claim, p.capacity, sizeof(claim_t))
    own_block(p, &p.mask, p.capacity * words, sizeof(uint64_t))
    own_block(p, &p.time, p.time_capacity, sizeof(double))
    own_block(p, &p.none_free, <size_t>s.nodes + 1, sizeof(int32_t))
    own_block(p, &p.later.mask, words, sizeof(uint64_t))
    own_block(p, &p.beside, words, sizeof(uint64_t))
    own_block(p, &p.around, words, sizeof(uint64_t))
    own_block(p, &p.running, words, sizeof(uint64_t))
    own_block(p, &p.window, words, sizeof(uint64_t))
    own_block(p, &p.instant, words, sizeof(uint64_t))
    if s.machine.part > 0:
        p.gone_capacity = 64
        own_block(p, &p.outline, p.capacity, sizeof(outline_t))
        own_block(p, &p.gone, p.gone_capacity, sizeof(outline_t))
        own_block(p, &p.going, words, sizeof(uint64_t))
    return 0


BACKFILL = factory(open_backfill)
