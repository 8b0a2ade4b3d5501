"""FCFS and EASY on masks (model.md#easy), with migration between them (model.md#migration): a job needs a place.

With reservation="any" the head has no place of its own: a job that outlives the shadow time must leave a place that is
large enough free in `occ`, the occupancy at that time.  With "fixed" it must be clear of `reserved`.

The shadow is kept from pass to pass (`kept`), also where jobs left meanwhile (`left`): it can then only be earlier, and
only by a place that meets one that was left.  Places that become free at the shadow time (`near`) bound the search for
one that a permit leaves to the head: every such place meets one of these.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

from faultsim._core.absences cimport join_closed
from faultsim._core.avoidance cimport choose_growing
from faultsim._core.containers.bits cimport mask_count, mask_join
from faultsim._core.containers.memory cimport open_state, own_block
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.jobs cimport start_job
from faultsim._core.queue cimport begin_pass, close_last_gap, is_empty, keep_range, sort_queue
from faultsim._core.scheduling.place_search cimport (
    forget_sizes, had_none, open_search, search_open, search_place, search_t,
)
from faultsim._core.scheduling.shadow cimport (
    first_open_time, later_t, left_t, lift_mover, note_left, placed_shadow, settle_mover, shadow_from_now,
    shadow_no_later,
)
from faultsim._core.state cimport (
    CHANGED_ALL, ask_of, asks_shape, end_if_started, end_if_started_at, grown, nodes_asked, promise_start, queue_t,
    sim_t, usable,
)
from faultsim._core.status cimport OK
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport machine_t, permit_t, place_t
from faultsim._core.tables.scheduler cimport promise_t

cdef struct easy_t:
    later_t later            # the promise to the head as rescheduling meets it, as the next three
    promise_t promise
    uint64_t *promised       # fixed: the promised place
    bint is_chosen           # `promised` is there
    bint backfills
    bint fixed               # reservation="fixed"
    int32_t max_growth
    int32_t examined
    bint valid
    double time
    uint64_t *occ            # the occupancy at `time`, backfilled jobs that outlive it included
    uint64_t *reserved       # fixed: the place of the head alone
    uint64_t *closed         # the nodes that are closed to the head at `time` (absences.pxd)
    permit_t permit          # of jobs that outlive `time`
    left_t near              # places that become free at `time`: each for the head meets one of them; none: unknown
    bint took_long           # a job that outlives `time` was backfilled in the last pass
    # Between passes.  A shadow found by search costs a bisection, or a look beside each release; yet after most events
    # the head is the same, and jobs have only left.  `kept`: `time` and `occ` are those of job `head`, but for that.
    bint kept
    left_t left              # places of jobs that left and were to hold them up to `time`: it may be earlier
    int32_t head
    int64_t changes          # of the releases, as they were then, and one for each job that left
    search_t search


cdef int start_fitting(sim_t *s) noexcept nogil:
    """The heads start, each in a place of the smallest size that has a free one; OK or a code."""
    cdef machine_t *m = &s.machine
    cdef place_t place
    cdef int32_t job, size
    cdef int code
    while s.queue.head < s.queue.end:
        job = s.queue.job[s.queue.head]
        if s.need[job] > s.free or not m.placed.has_free(m.state, m.occ, ask_of(s, job)):
            return OK
        if s.absences.state != NULL:
            size = search_open(s, job, s.nodes, NULL, &place)
        else:
            size = choose_growing(s, job, s.now, m.occ, s.nodes, NULL, True, &place)
        if size <= 0:
            return size
        code = start_job(s, job, size, &place, False)
        if code < 0:
            return code
        s.queue.head += 1
    return OK


cdef int start_placed_heads(sim_t *s, bint afresh, bint *moved) noexcept nogil:
    cdef int code = start_fitting(s) if afresh else OK
    moved[0] = False
    if code == OK and s.migration.rearrange != NULL:
        code = s.migration.rearrange(s.migration.state, s, moved)
        if code == OK and moved[0]:
            code = start_fitting(s)
    return code


cdef inline bint starts_afresh(const easy_t *p, const sim_t *s) noexcept nogil:
    if s.absences.state != NULL:
        return True              # what is closed to a job depends on the time
    # After arrivals alone an overrun moves the shadow; and the reserved place is chosen again where a job that outlives
    # the shadow time was backfilled.
    return (s.change == CHANGED_ALL or p.examined <= 0 or (p.valid and s.now > p.time)
            or (p.fixed and (p.took_long or not s.placement.stable)))


cdef inline int start_first(easy_t *p, sim_t *s, bint *afresh) noexcept nogil:
    cdef bint moved
    cdef int code = start_placed_heads(s, afresh[0], &moved)
    if moved:
        afresh[0], p.kept = True, False
    if afresh[0]:
        forget_sizes(&p.search)
    return code


cdef inline void begin_scan(easy_t *p, const sim_t *s) noexcept nogil:
    cdef permit_t *permit = &p.permit
    memset(permit, 0, sizeof(permit_t))
    if p.fixed:
        permit.forbidden = p.reserved
    else:
        permit.later, permit.need = p.occ, ask_of(s, s.queue.job[s.queue.head])
        permit.near, permit.n_near = p.near.place, p.near.n
        if s.absences.state != NULL and s.machine.placed.has_free_beside != NULL:
            permit.shut = p.closed
    p.took_long = False


cdef int mark_choice(sim_t *s, int32_t job, double t, const uint64_t *occ, permit_t *permit,
                     uint64_t *mask) noexcept nogil:
    """The rule's place for a job at t, of the smallest size that has one, as a mask (empty: there is none)."""
    cdef place_t place
    cdef int32_t size = choose_growing(s, job, t, occ, s.nodes, permit, False, &place)
    memset(mask, 0, <size_t>s.machine.words * sizeof(uint64_t))
    if size > 0:
        s.machine.placed.put(s.machine.state, mask, &place)
    return size if size < 0 else OK


cdef inline bint is_kept(const easy_t *p, const sim_t *s, int32_t head) noexcept nogil:
    """Whether the shadow is still that of the head, or of an earlier time: not if a job outlives its estimate."""
    return (p.kept and p.head == head and p.changes == s.releases.changes and s.now < p.time
            and s.releases.n > 0 and s.releases.first[0].end > s.now)


cdef void released(void *state, void *sim, int32_t job) noexcept nogil:
    """What a job leaves is free at the shadow time, too; but was it so before it, then as early as before."""
    cdef easy_t *p = <easy_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef place_t place
    if not p.kept:
        return
    p.changes += 1
    if s.expected[job] < p.time:
        return
    place = s.machine.placed.place_of(s.machine.state, job)
    note_left(&p.left, s, &place)
    if s.expected[job] > p.time:
        s.machine.placed.lift(s.machine.state, p.occ, &place)


cdef void disturbed(void *state) noexcept nogil:
    (<easy_t *>state).kept = False


cdef void find_near(easy_t *p, sim_t *s, int32_t need) noexcept nogil:
    cdef const machine_t *m = &s.machine
    cdef const release_t *items = releases_all(&s.releases)
    cdef int32_t i = 0
    cdef place_t place
    p.near.n = 0
    # Where a place is free now, a placement rule of the user's may have refused it.
    if p.fixed or m.placed.has_free_at == NULL or m.placed.has_free(m.state, m.occ, need):
        return
    while i < s.releases.n and items[i].end < p.time and p.time > s.now:
        i += 1
    while i < s.releases.n and items[i].end <= p.time:
        if items[i].job < 0 or p.near.n == s.limit.places_left:                 # a repaired node, or too many
            p.near.n = 0
            return
        place = m.placed.place_of(m.state, items[i].job)
        note_left(&p.near, s, &place)
        i += 1


cdef int find_open_shadow(easy_t *p, sim_t *s, int32_t head) noexcept nogil:
    """The shadow where nodes may be closed to the head (model.md#absences)."""
    cdef permit_t permit
    p.kept = False
    p.near.n = p.left.n = 0
    p.time = first_open_time(s, head, p.occ, p.closed)
    if p.time == INFINITY:
        return OK
    promise_start(s, head, p.time)
    if not p.fixed:
        join_closed(s, head, p.time, end_if_started_at(s, head, p.time), p.closed, p.occ)
    begin_scan(p, s)
    memset(&permit, 0, sizeof(permit_t))
    permit.forbidden = p.closed
    return mark_choice(s, head, p.time, p.occ, &permit, p.reserved) if p.fixed else OK


cdef int find_shadow(easy_t *p, sim_t *s, int32_t head) noexcept nogil:
    if s.absences.state != NULL:
        return find_open_shadow(p, s, head)
    if not is_kept(p, s, head):
        p.time = placed_shadow(s, releases_all(&s.releases), s.releases.n, s.machine.occ, ask_of(s, head), p.occ)
    elif p.left.n > 0:
        p.time = shadow_no_later(s, ask_of(s, head), p.time, &p.left, p.occ)
    p.head = head
    p.left.n = 0
    # A job that is held may have nodes that are down: they are not free when it leaves.
    p.kept = p.time != INFINITY and not s.recovery.keeps_nodes
    p.changes = s.releases.changes
    if p.time == INFINITY:
        return OK               # nothing can delay a head that no release helps
    promise_start(s, head, p.time)
    find_near(p, s, ask_of(s, head))
    begin_scan(p, s)
    return mark_choice(s, head, p.time, p.occ, NULL, p.reserved) if p.fixed else OK


cdef inline bint is_refused(const easy_t *p, const sim_t *s, int32_t job) noexcept nogil:
    """Whether jobs tried before it show that a job may not start."""
    cdef int32_t size = s.need[job], limit = min(size + p.max_growth, s.free)
    cdef bint outlives
    if size > s.free or asks_shape(s, job):
        return size > s.free
    outlives = end_if_started(s, job) > p.time
    while 0 < size <= limit and had_none(&p.search, size, outlives, p.time):
        size = grown(s, job, size)
    return not 0 < size <= limit


cdef inline int32_t next_candidate(const easy_t *p, const sim_t *s, int32_t at) noexcept nogil:
    cdef const int32_t *queue = s.queue.job
    cdef const int32_t *need = s.need
    cdef const double *remaining = s.remaining
    cdef int32_t end = s.queue.end, free = s.free, size
    cdef double begin = s.now + s.start_delay, time = p.time
    if s.rank != NULL or s.track.on:
        while at < end and is_refused(p, s, queue[at]):
            at += 1
        return at
    # The same with all of it in registers, as most of a long queue is passed over again and again.
    while at < end:
        size = need[queue[at]]
        if size <= free and not (had_none(&p.search, size, begin + remaining[queue[at]] > time, time)
                                 and (p.max_growth == 0 or is_refused(p, s, queue[at]))):
            break
        at += 1
    return at


cdef inline int try_start(easy_t *p, sim_t *s, int32_t at) noexcept nogil:
    cdef int32_t job = s.queue.job[at], need = s.need[job], size
    cdef bint outlives = end_if_started(s, job) > p.time
    cdef place_t place
    cdef int code
    size = search_place(s, &p.search, job, min(need + p.max_growth, s.free), p.time,
                        &p.permit if outlives else NULL, &place)
    if size <= 0:
        return size
    code = start_job(s, job, size, &place, True)
    if code < 0:
        return code
    p.changes = s.releases.changes       # `time` and `occ` allow for this one
    if outlives:
        p.took_long = True
        s.machine.placed.put(s.machine.state, p.occ, &place)
        p.permit.same = False
    return 1


cdef int64_t room_beside(easy_t *p, sim_t *s, promise_t *promise) noexcept nogil:
    if s.absences.state != NULL:
        promise.time = first_open_time(s, s.queue.job[s.queue.head], p.later.mask, p.closed)
    else:
        promise.time = shadow_from_now(s, promise.need, p.later.mask)
    p.promise = promise[0]
    p.is_chosen = False
    return s.machine.nodes - mask_count(p.later.mask, s.machine.words) - nodes_asked(s, promise.need)


include "easy.pxi"


cdef int guard(void *state, void *sim, int32_t job, double end, uint64_t *forbidden, permit_t *permit) noexcept nogil:
    cdef easy_t *p = <easy_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef permit_t clear
    cdef int32_t head
    cdef int code
    if p.fixed and p.promise.time < INFINITY and not p.is_chosen:
        p.is_chosen = True
        memset(&clear, 0, sizeof(permit_t))
        clear.forbidden = NULL if s.absences.state == NULL else p.closed
        code = mark_choice(s, s.queue.job[s.queue.head], p.promise.time, p.later.mask,
                           NULL if clear.forbidden == NULL else &clear, p.promised)
        if code < 0:
            return code
    lift_mover(&p.later, s, job, end, p.promise.time)
    if p.later.outlives and p.fixed:
        mask_join(forbidden, p.promised, s.machine.words)
    elif p.later.outlives:
        permit.later = p.later.mask
        permit.need = p.promise.need
        if s.absences.state != NULL:
            memcpy(p.occ, p.later.mask, <size_t>s.machine.words * sizeof(uint64_t))
            head = s.queue.job[s.queue.head]
            join_closed(s, head, p.promise.time, end_if_started_at(s, head, p.promise.time), p.closed, p.occ)
            permit.later = p.occ
            if s.machine.placed.has_free_beside != NULL:
                permit.shut = p.closed
    return OK


cdef int open_fcfs_placed(void *sim, dict options, dict columns) except -1:
    open_easy_state(<sim_t *>sim, False)
    return 0


cdef int open_easy_placed(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef easy_t *p = open_easy_state(s, True)
    p.fixed = options["reservation"] == "fixed"
    p.max_growth = min(options["max_growth"], <object>s.nodes)
    s.scheduler.guard, s.scheduler.settled = guard, settle_mover
    s.scheduler.released, s.scheduler.disturbed = released, disturbed
    own_block(p, &p.occ, s.machine.words, sizeof(uint64_t))
    own_block(p, &p.reserved, s.machine.words, sizeof(uint64_t))
    own_block(p, &p.closed, s.machine.words, sizeof(uint64_t))
    own_block(p, &p.later.mask, s.machine.words, sizeof(uint64_t))
    own_block(p, &p.promised, s.machine.words, sizeof(uint64_t))
    return open_search(p, &p.search, s)


FCFS = factory(open_fcfs_placed)
EASY = factory(open_easy_placed)
