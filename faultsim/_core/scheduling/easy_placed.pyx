"""FCFS and EASY backfilling where a job needs a place (model.md#easy), with migration between them
(model.md#migration).
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memmove, memset

from faultsim._core.avoidance cimport choose_growing, choose_now
from faultsim._core.containers.bits cimport mask_count, mask_join
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.tables.factory cimport factory
from faultsim._core.jobs cimport start_job
from faultsim._core.tables.machine cimport machine_t, permit_t, place_t
from faultsim._core.queue cimport begin_pass, close_gap, nobody_waits, sort_queue
from faultsim._core.tables.scheduler cimport promise_t
from faultsim._core.scheduling.shadow cimport (
    later_t, left_t, lift_mover, note_left, placed_shadow, settle_mover, shadow_from_now, shadow_no_later,
)
from faultsim._core.state cimport (
    CHANGED_ALL, ask_of, asks_shape, end_if_started, grown, nodes_asked, promise_start, queue_t, set_window, sim_t,
)
from faultsim._core.containers.memory cimport open_state, own_block
from faultsim._core.status cimport OK

cdef struct easy_t:
    later_t later            # a promise as rescheduling met it, as the next three
    promise_t promise
    uint64_t *promised       # fixed: the promised place
    bint is_chosen           # `promised` is there
    bint backfills
    bint fixed               # reservation="fixed": a place, else any that is large enough
    int32_t max_growth
    int32_t examined         # so many jobs from the head on were refused under the present shadow
    # The shadow: what was promised to the head, kept between passes while it stays true.
    bint valid
    double time
    uint64_t *occ            # the occupancy at `time`, later backfilled jobs included
    uint64_t *reserved       # fixed: the reserved place alone
    permit_t permit
    left_t near              # what becomes free at `time`, where no place for the head was free before; none: who knows
    bint took_long           # a job that ends after `time` was backfilled in the last pass
    # Between passes: what `time` and `occ` say is still true of job `head`, but for jobs that left since.
    bint kept
    left_t left              # what those left that were to hold nodes up to `time`: it may be earlier if there are any
    int32_t head
    int64_t changes          # of the releases, as they were then, and one for each job that left
    # Per size: there is no free place of it since this epoch; none permitted for jobs that end after the shadow time.
    int32_t *none_free
    int32_t *none_permitted
    int32_t epoch
    int64_t *refused         # per size that jobs ask for, growth included: 2 * epoch + 1, or 2 * epoch: of those jobs


cdef int start_fcfs(sim_t *s, int32_t job) noexcept nogil:
    """1: started in a place of the smallest size that has a free one; 0: none is large enough; < 0: status."""
    cdef machine_t *m = &s.machine
    cdef int32_t size = s.need[job]
    cdef place_t place
    cdef int code
    if size > s.free or not m.placed.has_free(m.state, m.occ, ask_of(s, job)):
        return 0
    size = choose_growing(s, job, s.now, m.occ, s.nodes, NULL, True, &place)
    if size <= 0:
        return size
    code = start_job(s, job, size, &place, False)
    return code if code < 0 else 1


cdef int run_fcfs(sim_t *s) noexcept nogil:
    cdef int code = 1
    while s.queue.head < s.queue.end:
        code = start_fcfs(s, s.queue.job[s.queue.head])
        if code <= 0:
            return code
        s.queue.head += 1
    return OK


cdef int choose_from(sim_t *s, int32_t job, double t, const uint64_t *occ, uint64_t *mask) noexcept nogil:
    """The rule's place for a job at t, of the smallest size that it finds, as a mask (empty: there is none)."""
    cdef place_t place
    cdef int size
    memset(mask, 0, <size_t>s.machine.words * sizeof(uint64_t))
    size = choose_growing(s, job, t, occ, s.nodes, NULL, False, &place)
    if size > 0:
        s.machine.placed.put(s.machine.state, mask, &place)
    return size if size < 0 else OK


cdef inline void point_permit(easy_t *p, int32_t need) noexcept nogil:
    """What jobs that outlive the shadow time must leave alone."""
    p.permit.forbidden = p.reserved if p.fixed else NULL
    p.permit.later = NULL if p.fixed else p.occ
    p.permit.need = 0 if p.fixed else need
    p.permit.near, p.permit.n_near = p.near.place, p.near.n
    p.permit.same = False


cdef inline bint is_kept(const easy_t *p, const sim_t *s, int32_t head) noexcept nogil:
    """Is the shadow still that of the head, or of an earlier time?  Not if a job outlives its estimate."""
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
    # A free place at this time: a placement rule of the user's has refused it.
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


cdef int compute_shadow(easy_t *p, sim_t *s, int32_t head) noexcept nogil:
    p.valid = True
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
    point_permit(p, ask_of(s, head))
    return choose_from(s, head, p.time, p.occ, p.reserved) if p.fixed else OK


cdef int try_backfill(easy_t *p, sim_t *s, int32_t job) noexcept nogil:
    """1: started ahead of the head; 0: not permitted; < 0: status."""
    cdef machine_t *m = &s.machine
    cdef int32_t size = s.need[job], limit = size + p.max_growth
    # What is refused is known by size, and not by shape.
    cdef bint outlives = end_if_started(s, job) > p.time, nowhere = True, shaped = asks_shape(s, job)
    cdef int32_t *refused = p.none_permitted if outlives else p.none_free
    cdef place_t place
    cdef int code
    if limit > s.free:
        limit = s.free
    set_window(s, job, s.now)
    while size != 0 and size <= limit:
        # During a pass the machine only fills, so what had no place has none.
        if not shaped and p.none_free[size] != p.epoch and m.placed.lacks(m.state, size):
            p.none_free[size] = p.epoch
        if shaped or (p.none_free[size] != p.epoch and refused[size] != p.epoch):
            s.work.tried += 1
            code = choose_now(s, job, m.occ, size, &p.permit if outlives else NULL, &place)
            if code < 0:
                return code
            p.permit.same = p.permit.same or outlives
            if code:
                code = start_job(s, job, size, &place, True)
                if code < 0:
                    return code
                if outlives:
                    p.took_long = True
                    m.placed.put(m.state, p.occ, &place)
                    p.permit.same = False
                return 1
            if shaped:
                return 0
            refused[size] = p.epoch
        nowhere = nowhere and p.none_free[size] == p.epoch
        size = grown(s, job, size)
    p.refused[s.need[job]] = 2 * <int64_t>p.epoch + nowhere
    return 0


cdef inline bint is_refused(const easy_t *p, const sim_t *s, int32_t job) noexcept nogil:
    """Is it known that a job may not start, from those tried before it?"""
    cdef int32_t size = s.need[job]
    cdef int64_t known = p.refused[size] - 2 * <int64_t>p.epoch
    if asks_shape(s, job):
        return size > s.free
    return size > s.free or known > 0 or (known == 0 and end_if_started(s, job) > p.time)


cdef int32_t next_untried(const easy_t *p, const sim_t *s, int32_t at) noexcept nogil:
    """The first place in the queue, from this one on, of a job of which it is not known that it may not start."""
    cdef const int32_t *queue = s.queue.job
    cdef const int32_t *need = s.need
    cdef const int64_t *refused = p.refused
    cdef const double *remaining = s.remaining
    cdef int32_t end = s.queue.end, free = s.free, size
    cdef int64_t now = 2 * <int64_t>p.epoch, known
    cdef double begin = s.now + s.start_delay, time = p.time
    if s.rank != NULL or s.track.on:
        while at < end and is_refused(p, s, queue[at]):
            at += 1
        return at
    # The same with all of it in registers, as most of a long queue is passed over again and again.
    while at < end:
        size = need[queue[at]]
        known = refused[size] - now
        if size <= free and (known < 0 or (known == 0 and not begin + remaining[queue[at]] > time)):
            break
        at += 1
    return at


cdef int backfill(easy_t *p, sim_t *s) noexcept nogil:
    """One scan of the queue after its head, from the first job not yet refused under this shadow."""
    cdef queue_t *q = &s.queue
    cdef int32_t at = q.head + p.examined, keep = at, from_
    cdef int code = 0
    point_permit(p, ask_of(s, q.job[q.head]))       # also of a simulation that was copied
    while at < q.end and s.free > 0:
        from_, code = at, 0
        at = next_untried(p, s, at)
        if at < q.end:
            if not p.valid:
                code = compute_shadow(p, s, q.job[q.head])
                if code < 0:
                    return code
            code = try_backfill(p, s, q.job[at])
            if code < 0:
                return code
            at += 1 - code
        if keep != from_:
            memmove(&q.job[keep], &q.job[from_], <size_t>(at - from_) * sizeof(int32_t))
        keep += at - from_
        at += code
    close_gap(q, keep, at)
    p.examined = q.end - q.head
    if p.valid:
        p.changes = s.releases.changes           # who started: `time` and `occ` know of it
    return OK


cdef int start_afresh(easy_t *p, sim_t *s) noexcept nogil:
    p.valid = False
    p.epoch += 1
    return run_fcfs(s)


cdef int schedule(void *state, void *sim) noexcept nogil:
    cdef easy_t *p = <easy_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef queue_t *q = &s.queue
    cdef bint afresh, adopted = False
    cdef int code = begin_pass(s)
    if code < 0:
        return code
    # As where nodes are counted: after arrivals alone what was refused stays refused, unless an overrun moves the
    # shadow, or the reserved place is chosen again because a job that outlives the shadow came in.
    afresh = (s.change == CHANGED_ALL or p.examined <= 0 or (p.valid and s.now > p.time)
              or (p.fixed and (p.took_long or not s.placement.stable)))
    if afresh:
        code = start_afresh(p, s)
        if code < 0:
            return code
    p.took_long = False
    if s.migration.rearrange != NULL:
        code = s.migration.rearrange(s.migration.state, s, &adopted)
        if code < 0:
            return code
        if adopted:
            afresh = True
            p.kept = False
            code = start_afresh(p, s)
            if code < 0:
                return code
    if nobody_waits(q):
        p.examined = 0
        return OK
    if afresh:
        p.examined = 1
    if not p.backfills:
        p.examined = q.end - q.head
        return OK
    return backfill(p, s)


# ---------------------------------------------------------------------------------------------- rescheduling

cdef int64_t spare(void *state, void *sim, int32_t sound, promise_t *promise) noexcept nogil:
    """The nodes that the head leaves over when its turn comes."""
    cdef easy_t *p = <easy_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef machine_t *m = &s.machine
    cdef int64_t extra
    cdef int code = sort_queue(s)
    if code < 0:
        return code
    p.is_chosen = False
    promise.need = ask_of(s, s.queue.job[s.queue.head])
    promise.time = shadow_from_now(s, promise.need, p.later.mask)
    promise.any = promise.time != INFINITY
    p.promise = promise[0]
    if not promise.any:
        return sound
    extra = m.nodes - mask_count(p.later.mask, m.words) - nodes_asked(s, promise.need)
    return extra if extra < sound else sound


cdef int guard(void *state, void *sim, int32_t job, double end, uint64_t *forbidden, permit_t *permit) noexcept nogil:
    cdef easy_t *p = <easy_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef int code
    if p.fixed and p.promise.any and not p.is_chosen:
        p.is_chosen = True
        code = choose_from(s, s.queue.job[s.queue.head], p.promise.time, p.later.mask, p.promised)
        if code < 0:
            return code
    lift_mover(&p.later, s, job, end, p.promise.time)
    if p.later.outlives and p.fixed:
        mask_join(forbidden, p.promised, s.machine.words)
    elif p.later.outlives:
        permit.later = p.later.mask
        permit.need = p.promise.need
    return OK


cdef int open_fcfs(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    open_state(&s.scheduler, sizeof(easy_t))
    s.scheduler.schedule = schedule
    return 0


cdef int open_easy(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef easy_t *p
    open_fcfs(sim, options, columns)
    p = <easy_t *>s.scheduler.state
    p.backfills = True
    p.fixed = options["reservation"] == "fixed"
    p.max_growth = min(options["max_growth"], <object>s.nodes)
    s.scheduler.spare, s.scheduler.guard, s.scheduler.settled = spare, guard, settle_mover
    s.scheduler.released, s.scheduler.disturbed = released, disturbed
    own_block(p, &p.occ, s.machine.words, sizeof(uint64_t))
    own_block(p, &p.reserved, s.machine.words, sizeof(uint64_t))
    own_block(p, &p.later.mask, s.machine.words, sizeof(uint64_t))
    own_block(p, &p.promised, s.machine.words, sizeof(uint64_t))
    own_block(p, &p.none_free, s.nodes + 1, sizeof(int32_t))
    own_block(p, &p.none_permitted, s.nodes + 1, sizeof(int32_t))
    own_block(p, &p.refused, s.nodes + 1, sizeof(int64_t))
    return 0


FCFS = factory(open_fcfs)
EASY = factory(open_easy)
