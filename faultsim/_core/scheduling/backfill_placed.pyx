"""Backfilling with reservations for the first k waiting jobs, on masks (model.md#backfill): a job needs a place.

Each reservation has a place, but for the head's with reservation="any" (`open_head`): that leaves open which one, and
requires that a place that is large enough stays free in what runs at its time, together with the other reservations.
"""

from libc.math cimport INFINITY, NAN
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from faultsim._core.absences cimport closed_to, ends_at, last_release, next_end_tried
from faultsim._core.avoidance cimport choose_growing
from faultsim._core.containers.bits cimport mask_count, mask_join
from faultsim._core.containers.memory cimport open_state, own_block, resize_block
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.contract cimport fs_require
from faultsim._core.jobs cimport start_job
from faultsim._core.queue cimport begin_pass, close_gap, is_empty, keep_range, sort_queue
from faultsim._core.scheduling.easy_placed cimport start_placed_heads
from faultsim._core.scheduling.place_search cimport forget_sizes, open_search, search_place, search_t
from faultsim._core.scheduling.shadow cimport (
    first_open_time, later_t, lift_mover, settle_mover, shadow_from_now,
)
from faultsim._core.state cimport (
    ask_of, asks_shape, end_if_started, end_if_started_at, promise_start, queue_t, sim_t,
)
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport (
    machine_t, outline_grows, outline_join, outline_lift, outline_t, permit_t, place_t,
)
from faultsim._core.tables.scheduler cimport promise_t
from faultsim._core.thresholds cimport thresholds

include "masks.pxi"
include "timeline.pxi"
include "refusal.pxi"
include "masks_line.pxi"

cdef struct reservation_t:
    double begin, end
    int32_t need             # nodes
    int32_t ask              # of the machine
    place_t place            # none for the open head

cdef struct backfill_t:
    later_t later            # open head: what runs, and is down, at its time (shadow.pxd)
    int32_t depth
    int32_t examined
    timeline_t line
    refusal_t refused
    reservation_t *reservation       # in queue order
    int32_t n, room
    double soonest
    bint any_instant         # some reservation has no length
    bint fixed               # reservation="fixed": the head has a place, too
    bint open_head           # reservation[0] is the head's, and has no place
    int32_t max_growth
    int32_t largest          # size of the largest free place; -1: unknown
    search_t search          # of this scan, in which the machine and the plan only fill
    window_t window
    # scratch: masks
    uint64_t *others         # of the window
    uint64_t *alone          # of a grant
    uint64_t *around         # what must leave a place to the open head
    uint64_t *beside         # the places of the reservations that meet that of the open head
    uint64_t *instant

include "backfill.pxi"


cdef inline bint starts_afresh(backfill_t *p, const sim_t *s) noexcept nogil:
    p.largest = -1
    return True


cdef inline int start_queue_heads(sim_t *s) noexcept nogil:
    cdef bint moved
    return start_placed_heads(s, True, &moved)


cdef int open_line(backfill_t *p, sim_t *s) noexcept nogil:
    p.n = 0
    p.open_head = p.any_instant = False
    p.soonest = INFINITY
    forget_sizes(&p.search)
    p.refused.until = -INFINITY
    return line_of_running(p, &p.line, s)


cdef inline int32_t next_startable(backfill_t *p, sim_t *s, int32_t at) noexcept nogil:
    cdef const queue_t *q = &s.queue
    if p.largest < 0:
        p.largest = s.machine.placed.largest_now(s.machine.state)
    while at < q.end and s.need[q.job[at]] > (s.free if asks_shape(s, q.job[at]) else p.largest):
        at += 1
    return at


cdef inline bint is_reserved_at(const reservation_t *r, double t) noexcept nogil:
    return r.begin <= t < r.end


cdef inline bint is_reserved_within(const reservation_t *r, double t, double end) noexcept nogil:
    return is_reserved_at(r, t) or t < r.begin < end


cdef void spare_head(backfill_t *p, sim_t *s, permit_t *permit) noexcept nogil:
    """Permit only what leaves a place to the open head."""
    memcpy(p.around, p.later.mask, <size_t>p.line.words * sizeof(uint64_t))
    mask_join(p.around, p.beside, p.line.words)
    permit.later, permit.need = p.around, p.reservation[0].ask


cdef double restrict(backfill_t *p, sim_t *s, double t, double end, permit_t *permit) noexcept nogil:
    """Permit only what is clear of the window, of reservations of no length within (t, end), and spares the open head.

    The first time at which less is forbidden than at t, but for the window; inf: there is none.
    """
    cdef const reservation_t *r
    cdef double first = INFINITY
    cdef int32_t i
    memset(permit, 0, sizeof(permit_t))
    permit.forbidden = p.others
    if p.open_head and is_reserved_within(&p.reservation[0], t, end):
        spare_head(p, s, permit)
        if t < p.reservation[0].end:
            first = p.reservation[0].end
    if p.any_instant:
        for i in range(p.n):
            r = &p.reservation[i]
            if r.begin == r.end and t < r.begin < end:
                first = min(first, r.begin)
                if i > 0 or not p.open_head:
                    s.machine.placed.put(s.machine.state, p.others, &r.place)
    return first


cdef double last_time(const backfill_t *p, const sim_t *s) noexcept nogil:
    """The last time at which a job, a reservation or a repair ends."""
    cdef double last = last_release(s)
    cdef int32_t i
    for i in range(p.n):
        last = max(last, p.reservation[i].end)
    return last


cdef bint is_tried(const backfill_t *p, const sim_t *s, int32_t i, double t) noexcept nogil:
    """Whether a time, in step i, is now or one at which a job, a reservation, a repair or an absence ends."""
    cdef int32_t k
    if s.absences.state != NULL and ends_at(s, t):
        return True
    if i == 0 or t > p.line.at[i] or p.line.edges[i] > p.line.begins[i]:
        return True
    if p.open_head and t == p.reservation[0].end:
        return True
    if p.any_instant:
        for k in range(p.n):
            if p.reservation[k].begin == p.reservation[k].end == t:
                return True
    return False


cdef bint spares_parts(backfill_t *p, sim_t *s) noexcept nogil:
    """Whether the window has a place that leaves one to the open head, as far as outlines show that."""
    cdef machine_t *m = &s.machine
    cdef outline_t later
    if not p.window.by_parts:
        return True
    memset(&later, 0, sizeof(outline_t))
    m.outlined.trace(m.state, p.around, 0, p.line.words, &later)
    s.work.probes += 1
    return m.outlined.has_beside(m.state, &p.window.taken, p.window.ask, p.window.limit, &later, p.reservation[0].ask)


cdef void describe_window(backfill_t *p, sim_t *s, int32_t job, int32_t limit) noexcept nogil:
    cdef window_t *w = &p.window
    memset(w, 0, sizeof(window_t))
    w.s, w.ask, w.need, w.limit = s, ask_of(s, job), s.need[job], limit
    w.own_begin = w.own_end = INFINITY
    w.mask = p.others
    w.by_parts = s.machine.part > 0 and w.need >= s.machine.part


cdef int try_start(backfill_t *p, sim_t *s, int32_t at) noexcept nogil:
    cdef machine_t *m = &s.machine
    cdef int32_t job = s.queue.job[at]
    cdef int32_t limit = min(s.need[job] + p.max_growth, s.free), size
    cdef double end = end_if_started(s, job)
    cdef bint restricted = p.soonest < end
    cdef permit_t permit
    cdef place_t place
    cdef granted_t grant
    cdef int code
    if restricted:
        describe_window(p, s, job, limit)
        join_steps(&p.window, &p.line, s.now, end)
        restrict(p, s, -INFINITY, end, &permit)
    size = search_place(s, &p.search, job, limit, end, &permit if restricted else NULL, &place)
    if size <= 0:
        return size
    code = start_job(s, job, size, &place, True)
    if code < 0:
        return code
    p.largest = -1
    if p.open_head and p.reservation[0].begin < end:
        m.placed.put(m.state, p.later.mask, &place)
    if end > s.now:
        grant = granted(&p.line, m, &place, p.alone)
        if take(p, &p.line, s.now, end, &grant) < 0:
            return NO_MEMORY
    return 1


cdef int add_place(backfill_t *p, sim_t *s, int32_t job, double begin, const place_t *place) noexcept nogil:
    """The job's reservation in a place, or (NULL) that of the open head."""
    cdef double end = end_if_started_at(s, job, begin)
    cdef granted_t grant
    if add_reservation(p, begin, end, s.need[job]) < 0:
        return NO_MEMORY
    p.reservation[p.n - 1].ask = ask_of(s, job)
    if place == NULL:
        p.open_head = True
        memset(p.beside, 0, <size_t>p.line.words * sizeof(uint64_t))
        return OK
    p.reservation[p.n - 1].place = place[0]
    grant = granted(&p.line, &s.machine, place, p.alone)
    if p.open_head and is_reserved_within(&p.reservation[0], begin, end):
        mask_join(p.beside, p.alone, p.line.words)
    return take(p, &p.line, begin, end, &grant)


cdef int reserve_head(backfill_t *p, sim_t *s, int32_t job) noexcept nogil:
    """What EASY promises to the head (model.md#easy)."""
    cdef permit_t permit
    cdef place_t place
    cdef double t
    cdef int size
    memset(&permit, 0, sizeof(permit_t))
    if s.absences.state == NULL:
        t = shadow_from_now(s, ask_of(s, job), p.later.mask)
    else:
        t = first_open_time(s, job, p.later.mask, p.around)
        permit.forbidden = p.around
    if t == INFINITY:
        return OK
    promise_start(s, job, t)
    if not p.fixed:
        if permit.forbidden != NULL:
            mask_join(p.later.mask, p.around, p.line.words)
        return add_place(p, s, job, t, NULL)
    size = choose_growing(s, job, t, p.later.mask, s.nodes, &permit, False, &place)
    return add_place(p, s, job, t, &place) if size > 0 else size


cdef int reserve(backfill_t *p, sim_t *s, int32_t job, bint head) noexcept nogil:
    cdef timeline_t *f = &p.line
    cdef int32_t i, limit = s.need[job] + p.max_growth
    cdef double t = INFINITY, end, start, longest = 0.0
    cdef bint sure = True
    cdef permit_t permit
    cdef place_t place
    cdef int code
    if head:
        return reserve_head(p, s, job)
    describe_window(p, s, job, limit)
    start = refused_until(&p.refused, p.window.ask, s.remaining[job], &longest)
    # Invariant: no time before `start` that is tried has a place.
    while start < INFINITY:
        i = earliest(f, &p.window, s, job, start, INFINITY, &longest, &t)
        if sure:
            sure = False         # from here on, places are refused for the sake of the open head, too
            refuse(&p.refused, p.window.ask, longest, INFINITY if i < 0 else t)
        if i < 0:
            break
        end = end_if_started_at(s, job, t)
        fill_window(&p.window, f)
        start = min(restrict(p, s, t, end, &permit), f.at[i + 1] if i + 1 < f.n else INFINITY)
        if s.absences.state != NULL:
            closed_to(s, job, t, end, p.alone)
            mask_join(p.others, p.alone, f.words)
            start = min(start, next_end_tried(s, t, last_time(p, s)))
        if not is_tried(p, s, i, t) or (permit.later != NULL and not spares_parts(p, s)):
            continue
        memcpy(p.instant, mask_at(f, i), <size_t>f.words * sizeof(uint64_t))
        code = choose_growing(s, job, t, p.instant, limit, &permit, False, &place)
        if code != 0:
            return code if code < 0 else add_place(p, s, job, t, &place)
    return OK


# ---------------------------------------------------------------------------------------------- rescheduling

cdef int64_t least_room(const backfill_t *p, const sim_t *s, int32_t sound) noexcept nogil:
    cdef const reservation_t *r
    cdef int64_t least = sound, room
    cdef int32_t i
    for i in range(p.n):
        r = &p.reservation[i]
        room = p.line.left[index_at(&p.line, r.begin)]
        if p.open_head and (i == 0 or is_reserved_at(&p.reservation[0], r.begin)):
            room -= p.reservation[0].need
        if r.begin == r.end and not (i == 0 and p.open_head):
            room -= r.need
        least = min(least, room)
    return least


cdef int guard(void *state, void *sim, int32_t job, double end, uint64_t *forbidden, permit_t *permit) noexcept nogil:
    cdef backfill_t *p = <backfill_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef int32_t i, head
    lift_mover(&p.later, s, job, end, p.reservation[0].begin if p.open_head else INFINITY)
    if p.later.outlives:
        spare_head(p, s, permit)
        if s.absences.state != NULL:     # those of the job, too, which has been lifted
            head = s.queue.job[s.queue.head]
            closed_to(s, head, p.reservation[0].begin, end_if_started_at(s, head, p.reservation[0].begin), p.alone)
            mask_join(p.around, p.alone, p.line.words)
    for i in range(1 if p.open_head else 0, p.n):
        if p.reservation[i].begin < end:
            s.machine.placed.put(s.machine.state, forbidden, &p.reservation[i].place)
    return OK


cdef int open_backfill(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef size_t words = s.machine.words
    cdef backfill_t *p = open_backfill_state(s, options)
    s.scheduler.guard, s.scheduler.settled = guard, settle_mover
    describe_line(&p.line, s)
    open_timeline(p, &p.line, min(256, thresholds.first_room))
    p.fixed = options["reservation"] == "fixed"
    p.max_growth = min(options["max_growth"], <object>s.nodes)
    open_search(p, &p.search, s)
    own_block(p, &p.later.mask, words, sizeof(uint64_t))
    own_block(p, &p.others, words, sizeof(uint64_t))
    own_block(p, &p.alone, words, sizeof(uint64_t))
    own_block(p, &p.around, words, sizeof(uint64_t))
    own_block(p, &p.beside, words, sizeof(uint64_t))
    own_block(p, &p.instant, words, sizeof(uint64_t))
    return 0


BACKFILL = factory(open_backfill)
