"""Conservative backfilling on nodes that jobs share (model.md#conservative): a reservation has shares of nodes.

A job is planned again only after a change that may matter to it: of what is free of a node that may serve it, where it
may have earlier room or where the placement rule chooses its nodes.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memmove

from faultsim._core.absences cimport next_tried
from faultsim._core.containers.memory cimport open_state, own_block, own_jobs, resize_block
from faultsim._core.jobs cimport start_job
from faultsim._core.queue cimport close_gap, is_empty, keep_range, sort_queue
from faultsim._core.scheduling.gains cimport gain_t, no_gain
from faultsim._core.scheduling.node_lines cimport (
    change_line_of, earliest_start, forget_until, free_for, free_throughout, hold_late, lines_of_running, most_free,
    next_start, node_lines_t, none_late, open_node_lines, really_free,
)
from faultsim._core.scheduling.site_choice cimport (
    BY_FAILURES, BY_SAFETY, choose_shares, hide_closed, open_site_choice, site_choice_t,
)
from faultsim._core.signals cimport keep_interrupt
from faultsim._core.site.shares cimport ask_t, chosen_cores, has, least_of_both, share_t, site_of, site_t
from faultsim._core.state cimport end_if_started_at, promise_start, queue_t, sim_t
from faultsim._core.status cimport NO_MEMORY, OK, PYTHON_ERROR
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport place_t
from faultsim._core.tables.scheduler cimport promise_t
from faultsim._core.thresholds cimport thresholds

cdef struct reserved_t:
    share_t share
    int32_t next             # -1: it is the last

# Amounts of a node were taken in [begin, end), or given back.
cdef struct noted_t:
    double begin, end
    uint64_t most            # no more was free there before, or after
    int32_t node
    bint taken

cdef struct plan_t:
    node_lines_t line
    double *begin
    double *end
    gain_t gain, gains
    double soonest
    bint rebuild
    bint only_plans
    double last_pass
    site_choice_t choice
    reserved_t *reserved     # the shares of all reservations, linked by position
    int32_t *first           # per job: its shares; -1: none
    int32_t n_reserved, room_reserved, unused
    noted_t *noted           # changes since the last sweep began
    int32_t n_noted, room_noted
    int64_t dropped          # changes before these
    int64_t *seen            # per job: changes when it was planned last; -1: it is new
    int64_t swept            # changes when this sweep began
    bint again               # in a sweep: all promises are made again
    int32_t epoch            # of the promises that were made in the last sweep
    # scratch, per node
    uint64_t *window
    share_t *old
    int32_t n_old

cdef enum:
    PLANNED_WITHOUT_LOOK = 1024

include "conservative.pxi"


# ---------------------------------------------------------------------------------------------- the plan

cdef inline void forget_ended(plan_t *p, const sim_t *s) noexcept nogil:
    pass                         # the line of a node when it changes


cdef int base_plan(plan_t *p, sim_t *s) noexcept nogil:
    cdef int32_t i
    p.n_reserved, p.unused = 0, -1
    p.dropped += p.n_noted
    p.n_noted = 0
    for i in range(s.queue.head, s.queue.end):
        p.first[s.queue.job[i]] = p.seen[s.queue.job[i]] = -1
    return lines_of_running(p, &p.line, s)


cdef void drop_shares(plan_t *p, int32_t job) noexcept nogil:
    cdef int32_t i
    while p.first[job] >= 0:
        i = p.first[job]
        p.first[job] = p.reserved[i].next
        p.reserved[i].next = p.unused
        p.unused = i


cdef int store_shares(plan_t *p, int32_t job, const share_t *share, int32_t n) noexcept nogil:
    cdef int32_t i, k
    for k in range(n - 1, -1, -1):
        i = p.unused
        if i >= 0:
            p.unused = p.reserved[i].next
        else:
            if p.n_reserved == p.room_reserved:
                if resize_block(p, &p.reserved, 2 * <size_t>p.room_reserved * sizeof(reserved_t)) < 0:
                    return NO_MEMORY
                p.room_reserved *= 2
            i = p.n_reserved
            p.n_reserved += 1
        p.reserved[i].share, p.reserved[i].next = share[k], p.first[job]
        p.first[job] = i
    return OK


cdef int change_lines(plan_t *p, const sim_t *s, const share_t *share, int32_t n, double begin, double end,
                      bint takes) noexcept nogil:
    """The shares are taken in [begin, end), or given back; OK or NO_MEMORY."""
    cdef int32_t i
    for i in range(n):
        forget_until(&p.line, share[i].node, s.now)
        if change_line_of(p, &p.line, share[i].node, max(begin, s.now), end, share[i].word, takes) < 0:
            return NO_MEMORY
    return OK


cdef int note_changes(plan_t *p, const share_t *share, int32_t n, double begin, double end,
                      bint taken) noexcept nogil:
    """What is noted when the shares are not in the lines: after they were given back, or before they are taken."""
    cdef noted_t *c
    cdef int32_t i
    if not begin < end:
        return OK
    for i in range(n):
        if p.n_noted == p.room_noted:
            if resize_block(p, &p.noted, 2 * <size_t>p.room_noted * sizeof(noted_t)) < 0:
                return NO_MEMORY
            p.room_noted *= 2
        c = &p.noted[p.n_noted]
        c.begin, c.end, c.node, c.taken = begin, end, share[i].node, taken
        c.most = most_free(&p.line, c.node, begin, end)
        p.n_noted += 1
    return OK


# ---------------------------------------------------------------------------------------------- a sweep

cdef inline void open_sweep(plan_t *p, sim_t *s, bint replans) noexcept nogil:
    p.again = p.epoch != s.epoch
    p.epoch = s.epoch
    p.swept = p.dropped + p.n_noted


cdef inline void close_sweep(plan_t *p) noexcept nogil:
    """Every job has seen what happened before the sweep."""
    cdef int32_t n = <int32_t>(p.swept - p.dropped)
    p.n_noted -= n
    p.dropped += n
    if n > 0 and p.n_noted > 0:
        memmove(p.noted, p.noted + n, <size_t>p.n_noted * sizeof(noted_t))


cdef bint reserves(const plan_t *p, int32_t job, int32_t node) noexcept nogil:
    cdef int32_t i = p.first[job]
    while i >= 0 and p.reserved[i].share.node != node:
        i = p.reserved[i].next
    return i >= 0


cdef bint matters(const plan_t *p, const sim_t *s, const noted_t *c, int32_t job) noexcept nogil:
    """Whether a job may be given earlier room, or other nodes, after this change."""
    cdef const site_t *m = site_of(&s.machine)
    cdef const ask_t *ask = &m.ask[job]
    cdef double begin = p.begin[job]
    if c.end <= s.now or (c.begin >= p.end[job] and c.begin > begin) or (c.taken and c.end <= begin):
        return False
    if not m.bit[c.node] & ask.classes:
        return False
    if reserves(p, job, c.node):
        return True              # for the job, its own share is free, too
    if not has(c.most, ask.least):
        return False
    return c.taken or next_start(&p.line, m, s, job, c.node, s.now, begin) < INFINITY


cdef bint stays(plan_t *p, const sim_t *s, int32_t job) noexcept nogil:
    """Whether it is certain that a job keeps its reservation, or has none, in this sweep."""
    cdef const site_t *m = site_of(&s.machine)
    cdef int32_t i
    if p.seen[job] < 0 or p.begin[job] <= s.now or m.rule == BY_FAILURES or m.rule == BY_SAFETY:
        return False
    for i in range(<int32_t>max(0, p.seen[job] - p.dropped), p.n_noted):
        if matters(p, s, &p.noted[i], job):
            return False
    p.seen[job] = p.dropped + p.n_noted
    return True


cdef int32_t next_to_plan(plan_t *p, sim_t *s, int32_t at) noexcept nogil:
    cdef const queue_t *q = &s.queue
    cdef int32_t job
    if s.absences.state != NULL:
        return at                # what is closed to a job depends on the time
    while at < q.end:
        job = q.job[at]
        if not stays(p, s, job):
            return at
        if p.again and p.begin[job] < INFINITY:
            promise_start(s, job, p.begin[job])
        at += 1
    return at


cdef bint choose_at(plan_t *p, sim_t *s, int32_t job, double t, bint really) noexcept nogil:
    """Chooses nodes from t on, when there is room as expected; `really`: only of what is free now."""
    cdef const site_t *m = site_of(&s.machine)
    cdef const ask_t *ask = &m.ask[job]
    cdef double end = end_if_started_at(s, job, t)
    cdef uint64_t now
    cdef int32_t node
    for node in range(m.nodes):
        p.window[node] = free_for(&p.line, m, ask, node, t, end)
        if really and p.line.any_late and p.window[node]:
            now = really_free(&p.line, node, free_throughout(&p.line, node, t, t))
            p.window[node] = least_of_both(p.window[node], now)
    hide_closed(s, job, t, p.window)
    return choose_shares(s, &p.choice, job, t, p.window)


cdef double find_open_start(plan_t *p, sim_t *s, int32_t job, double stop, bint *starts) noexcept nogil:
    """The first time up to `stop` with room for a job that has no shares in the lines, where nodes may be closed to it
    (model.md#absences), and its nodes into site_t.chosen; inf: none.  `starts`: the nodes are free now.
    """
    cdef const queue_t *q = &s.queue
    cdef double t = s.now, first, last
    cdef int32_t i, other
    starts[0] = choose_at(p, s, job, t, True)
    # Invariant: no time before t that is tried has room.
    while not starts[0] and t <= stop and not choose_at(p, s, job, t, False):
        first, last = INFINITY, -INFINITY
        for i in range(q.head, q.end):
            other = q.job[i]
            if other != job and p.begin[other] < INFINITY:
                last = max(last, p.end[other])
                if p.end[other] > t:
                    first = min(first, p.end[other])
        t = next_tried(s, t, first, last)
        if t == INFINITY:
            return INFINITY
    return t if t <= stop else INFINITY


cdef bint is_open(const site_t *m, const share_t *share, int32_t n) noexcept nogil:
    """Whether the shares are free now."""
    cdef int32_t i
    for i in range(n):
        if not has(m.open[share[i].node], share[i].word):
            return False
    return True


cdef bint are_equal(const share_t *a, const share_t *b, int32_t n) noexcept nogil:
    cdef int32_t i
    for i in range(n):
        if a[i].node != b[i].node or a[i].word != b[i].word:
            return False
    return True


cdef int plan_job(plan_t *p, sim_t *s, int32_t job, bint behind) noexcept nogil:
    cdef site_t *m = site_of(&s.machine)
    cdef double old = p.begin[job], old_end = p.end[job], begin, end
    cdef int32_t i = p.first[job]
    cdef bint starts = False, moves
    cdef int code = OK
    s.work.looked += 1
    p.n_old = 0
    while i >= 0:
        p.old[p.n_old] = p.reserved[i].share
        p.n_old += 1
        i = p.reserved[i].next
    if change_lines(p, s, p.old, p.n_old, old, old_end, False) < 0:
        return NO_MEMORY
    if s.absences.state != NULL:
        begin = find_open_start(p, s, job, old, &starts)
    else:
        begin = earliest_start(&p.line, m, s, job, s.now, old)
        starts = begin == s.now and choose_at(p, s, job, begin, True)
        # Room at now that counts on what jobs hold that should have left is not room to start in.
        if not starts and begin < INFINITY:
            choose_at(p, s, job, begin, False)
    if begin > old:              # never later than it was
        begin = old
        memcpy(m.chosen, p.old, <size_t>p.n_old * sizeof(share_t))
        m.n_chosen = p.n_old
        starts = old == s.now and is_open(m, p.old, p.n_old)
    end = end_if_started_at(s, job, begin) if begin < INFINITY else INFINITY
    starts = starts and not p.only_plans
    if begin < INFINITY:
        if not p.only_plans:
            promise_start(s, job, begin)
        if starts:
            code = start_job(s, job, chosen_cores(m), NULL, behind)
            if code < 0:
                return code
            end = s.expected[job]
            if not end > s.now:
                hold_late(&p.line, m.chosen, m.n_chosen)
        moves = begin != old or end != old_end or m.n_chosen != p.n_old or not are_equal(m.chosen, p.old, p.n_old)
        if moves and (note_changes(p, p.old, p.n_old, old, old_end, False) < 0
                      or note_changes(p, m.chosen, m.n_chosen, begin, end, True) < 0):
            return NO_MEMORY
        if change_lines(p, s, m.chosen, m.n_chosen, begin, end, True) < 0:
            return NO_MEMORY
        if moves or starts:
            drop_shares(p, job)
            if not starts and store_shares(p, job, m.chosen, m.n_chosen) < 0:
                return NO_MEMORY
    p.begin[job], p.end[job] = INFINITY if starts else begin, end
    p.soonest = min(p.soonest, p.begin[job])
    p.seen[job] = p.dropped + p.n_noted
    return STARTED if starts else OK


# ---------------------------------------------------------------------------------------------- a pass

cdef inline void open_pass(plan_t *p) noexcept nogil:
    none_late(&p.line)           # else the plan is made from nothing


cdef inline int close_pass(plan_t *p, sim_t *s, bint upset) noexcept nogil:
    return OK


cdef inline int extend(plan_t *p, sim_t *s) noexcept nogil:
    return OK


cdef inline int complete(plan_t *p, sim_t *s) noexcept nogil:
    return OK


cdef int give_back(plan_t *p, sim_t *s, int32_t job) noexcept nogil:
    cdef const site_t *m = site_of(&s.machine)       # which has chosen what the job had
    if change_lines(p, s, m.chosen, m.n_chosen, s.now, s.expected[job], False) < 0:
        return NO_MEMORY
    return note_changes(p, m.chosen, m.n_chosen, s.now, s.expected[job], False)


cdef inline void entered(plan_t *p, sim_t *s, int32_t job) noexcept nogil:
    p.first[job] = p.seen[job] = -1


cdef inline int migrate_jobs(sim_t *s, bint *again) noexcept nogil:
    return OK


cdef inline void store_place(const plan_t *p, int32_t job, place_t *place) noexcept nogil:
    pass


cdef inline int64_t least_planned(const plan_t *p, const sim_t *s) noexcept nogil:
    return 0                     # jobs that share nodes do not move


cdef int open_conservative(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef site_t *m = site_of(&s.machine)
    cdef plan_t *p = open_plan(s)
    cdef int32_t i
    s.scheduler.spare = NULL
    open_node_lines(p, &p.line, m.nodes)
    open_site_choice(p, &p.choice, s)
    p.room_reserved = p.room_noted = min(64, thresholds.first_room)
    own_block(p, &p.reserved, p.room_reserved, sizeof(reserved_t))
    own_block(p, &p.noted, p.room_noted, sizeof(noted_t))
    own_jobs(p, &p.first, s.n, sizeof(int32_t))
    own_jobs(p, &p.seen, s.n, sizeof(int64_t))
    own_block(p, &p.window, m.nodes, sizeof(uint64_t))
    own_block(p, &p.old, m.nodes, sizeof(share_t))
    for i in range(s.n):
        p.first[i] = p.seen[i] = -1
    p.epoch = p.unused = -1
    return 0


CONSERVATIVE = factory(open_conservative)
