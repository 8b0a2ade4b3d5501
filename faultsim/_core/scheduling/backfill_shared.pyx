"""Backfilling with reservations for the first k waiting jobs, on nodes that jobs share (model.md#site-schedulers).

A reservation has shares of nodes, but for the head's, which leaves open which ones.  Beside each there is what is left
for others at its begin: what is free then, less the shares of all reservations that hold nodes then.  What is free from
t to `end` is what is free at t, met with what is left at the begin of each reservation in between.
"""

from libc.math cimport INFINITY
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint64_t
from libc.string cimport memcpy

from faultsim._core.absences cimport last_release, next_end_tried
from faultsim._core.containers.memory cimport open_state, own_block, own_jobs, resize_block
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.jobs cimport start_job
from faultsim._core.queue cimport begin_pass, close_gap, is_empty, keep_range, sort_queue
from faultsim._core.scheduling.site_choice cimport (
    all_served, choose_beside, choose_shares, form_is_refused, free_then, hide_closed, open_site_choice,
    open_site_then, open_to, refuse_form, served_then, site_choice_t, site_now, site_release, site_then_t,
)
from faultsim._core.site.shares cimport (
    ask_t, chosen_cores, fits_in, is_node_repair, least_of_both, less, needed, offer_of, share_t, shares_returned,
    site_of, site_t,
)
from faultsim._core.state cimport end_if_started, end_if_started_at, promise_start, queue_t, sim_t
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.scheduler cimport promise_t
from faultsim._core.thresholds cimport thresholds

# There is no timeline: free amounts at a time are computed from the releases.
cdef struct reservation_t:
    double begin, end
    int32_t need             # cores
    int32_t first, n         # its shares; none: it is the head's

cdef struct backfill_t:
    int32_t depth
    int32_t examined
    reservation_t *reservation       # in queue order
    int32_t n, room
    double soonest
    bint any_instant
    bint open_head           # reservation[0] is the head's
    int32_t head             # its job
    site_choice_t choice
    share_t *share           # of all reservations, one after another
    int32_t n_shares, room_shares
    uint64_t *beside         # per reservation and node: what is left for others at its begin
    int32_t room_beside_
    uint64_t *for_head       # what the head has in its whole reservation
    int64_t slack
    int64_t of_changes       # `changes` when that was computed
    int64_t changes          # starts and new reservations
    int64_t *costly          # per form: `changes` when it was in the way of a reservation, and 1 more
    double *costly_end       # then it would have ended at this time, or later
    # scratch
    site_then_t then
    uint64_t *window


include "backfill.pxi"


cdef inline bint starts_afresh(backfill_t *p, const sim_t *s) noexcept nogil:
    p.changes += 1               # refusals of the last pass may not hold
    return True


cdef int start_queue_heads(sim_t *s) noexcept nogil:
    cdef backfill_t *p = <backfill_t *>s.scheduler.state
    cdef site_t *m = site_of(&s.machine)
    cdef queue_t *q = &s.queue
    cdef int32_t job
    cdef int code
    while q.head < q.end:
        job = q.job[q.head]
        if form_is_refused(&p.choice, s, job):
            return OK
        if not choose_shares(s, &p.choice, job, s.now, open_to(s, &p.choice, job)):
            refuse_form(&p.choice, m, job)
            return OK
        code = start_job(s, job, chosen_cores(m), NULL, False)
        if code < 0:
            return code
        q.head += 1
    return OK


cdef inline int open_line(backfill_t *p, sim_t *s) noexcept nogil:
    p.n = p.n_shares = 0
    p.open_head = p.any_instant = False
    p.soonest = INFINITY
    p.changes += 1
    return OK


cdef int32_t next_startable(backfill_t *p, sim_t *s, int32_t at) noexcept nogil:
    cdef const site_t *m = site_of(&s.machine)
    cdef const queue_t *q = &s.queue
    cdef int32_t form
    while at < q.end:
        form = m.form[q.job[at]]
        if not form_is_refused(&p.choice, s, q.job[at]) and s.need[q.job[at]] <= s.free and not (
                p.costly[form] == p.changes + 1 and end_if_started(s, q.job[at]) >= p.costly_end[form]
                and s.absences.state == NULL):
            break
        at += 1
    return at


cdef inline bint is_reserved_at(const reservation_t *r, double t) noexcept nogil:
    return r.begin <= t < r.end


cdef inline uint64_t *beside(const backfill_t *p, const site_t *m, int32_t i) noexcept nogil:
    return p.beside + <int64_t>i * m.nodes


cdef void meet_all(backfill_t *p, const site_t *m, uint64_t *free, double after, double before) noexcept nogil:
    """What is free, met with what is left at the begin of each reservation with shares in (after, before)."""
    cdef const uint64_t *other
    cdef int32_t i, node
    for i in range(1 if p.open_head else 0, p.n):
        if after < p.reservation[i].begin < before:
            other = beside(p, m, i)
            for node in range(m.nodes):
                free[node] = least_of_both(free[node], other[node])


cdef void find_for_head(backfill_t *p, sim_t *s) noexcept nogil:
    cdef const site_t *m = site_of(&s.machine)
    if p.of_changes == p.changes:
        return
    p.of_changes = p.changes
    memcpy(p.for_head, beside(p, m, 0), <size_t>m.nodes * sizeof(uint64_t))
    meet_all(p, m, p.for_head, p.reservation[0].begin, p.reservation[0].end)
    hide_closed(s, p.head, p.reservation[0].begin, p.for_head)
    p.slack = all_served(m, &m.ask[p.head], p.for_head) - needed(&m.ask[p.head])


cdef int try_start(backfill_t *p, sim_t *s, int32_t at) noexcept nogil:
    cdef int32_t job = s.queue.job[at]
    cdef site_t *m = site_of(&s.machine)
    cdef double end = end_if_started(s, job)
    cdef int32_t i, k, form = m.form[job]
    cdef bint found
    cdef int code
    if not fits_in(m, &m.ask[job], m.open):
        refuse_form(&p.choice, m, job)
        return 0
    memcpy(p.window, open_to(s, &p.choice, job), <size_t>m.nodes * sizeof(uint64_t))
    meet_all(p, m, p.window, -INFINITY, end)
    if p.open_head and p.reservation[0].begin < end:
        find_for_head(p, s)
        found = choose_beside(s, &p.choice, job, s.now, p.window, &m.ask[p.head], p.for_head, p.slack)
    else:
        found = choose_shares(s, &p.choice, job, s.now, p.window)
    if not found:
        if p.costly[form] != p.changes + 1 or end < p.costly_end[form]:
            p.costly[form], p.costly_end[form] = p.changes + 1, end
        return 0
    for i in range(p.n):
        if p.reservation[i].begin < end:
            for k in range(m.n_chosen):
                beside(p, m, i)[m.chosen[k].node] -= m.chosen[k].word
    p.changes += 1
    code = start_job(s, job, chosen_cores(m), NULL, True)
    return code if code < 0 else 1


# ---------------------------------------------------------------------------------------------- reservations

cdef int add_shares(backfill_t *p, sim_t *s, int32_t job, double begin, bint head) noexcept nogil:
    """A reservation at `begin` with the shares that are chosen, when `then` is that time."""
    cdef site_t *m = site_of(&s.machine)
    cdef reservation_t *r
    cdef uint64_t *mine
    cdef int32_t i, k, node
    if add_reservation(p, begin, end_if_started_at(s, job, begin), s.need[job]) < 0:
        return NO_MEMORY
    if p.n > p.room_beside_:
        if resize_block(p, &p.beside, 2 * <size_t>p.room_beside_ * <size_t>m.nodes * sizeof(uint64_t)) < 0:
            return NO_MEMORY
        p.room_beside_ *= 2
    r = &p.reservation[p.n - 1]
    r.first, r.n = p.n_shares, 0
    if head:
        p.open_head, p.head = True, job
    else:
        if p.n_shares + m.n_chosen > p.room_shares:
            k = 2 * p.room_shares + m.n_chosen
            if resize_block(p, &p.share, <size_t>k * sizeof(share_t)) < 0:
                return NO_MEMORY
            p.room_shares = k
        memcpy(p.share + p.n_shares, m.chosen, <size_t>m.n_chosen * sizeof(share_t))
        r.n = m.n_chosen
        p.n_shares += r.n
    p.changes += 1
    mine = beside(p, m, p.n - 1)
    for node in range(m.nodes):
        mine[node] = free_then(&p.then, node)
    # At the begin of each, what all that hold nodes then have; a reservation of no length counts at its own begin.
    for i in range(p.n):
        if i < p.n - 1 and is_reserved_at(r, p.reservation[i].begin):
            for k in range(r.n):
                node = p.share[r.first + k].node
                beside(p, m, i)[node] = less(beside(p, m, i)[node], p.share[r.first + k].word)
        if i == p.n - 1 or is_reserved_at(&p.reservation[i], begin):
            for k in range(p.reservation[i].n):
                node = p.share[p.reservation[i].first + k].node
                mine[node] = less(mine[node], p.share[p.reservation[i].first + k].word)
    return OK


cdef bint choose_shares_at(backfill_t *p, sim_t *s, int32_t job, double t) noexcept nogil:
    """Whether a job can have a reservation from t on, when `then` is t; chooses the shares."""
    cdef site_t *m = site_of(&s.machine)
    cdef const reservation_t *r
    cdef double end = end_if_started_at(s, job, t)
    cdef int32_t i, k, node
    for node in range(m.nodes):
        p.window[node] = free_then(&p.then, node)
    for i in range(1 if p.open_head else 0, p.n):
        r = &p.reservation[i]
        if is_reserved_at(r, t):
            for k in range(r.n):
                node = p.share[r.first + k].node
                p.window[node] = less(p.window[node], p.share[r.first + k].word)
    meet_all(p, m, p.window, t, end)
    hide_closed(s, job, t, p.window)
    if not p.open_head or not (is_reserved_at(&p.reservation[0], t) or t < p.reservation[0].begin < end):
        return choose_shares(s, &p.choice, job, t, p.window)
    find_for_head(p, s)
    return choose_beside(s, &p.choice, job, t, p.window, &m.ask[p.head], p.for_head, p.slack)


cdef bint serves_at(const backfill_t *p, const sim_t *s, int32_t job, int32_t node, double t) noexcept nogil:
    """Whether a node may serve a job from t on, when `then` is t, beside the reservations that begin up to its end."""
    cdef const site_t *m = site_of(&s.machine)
    cdef const ask_t *ask = &m.ask[job]
    cdef double end = end_if_started_at(s, job, t)
    cdef uint64_t free = free_then(&p.then, node)
    cdef int32_t i
    if offer_of(m, ask, node, free) == 0:
        return False
    for i in range(1 if p.open_head else 0, p.n):
        if t < p.reservation[i].begin < end:
            free = least_of_both(free, beside(p, m, i)[node])
    return offer_of(m, ask, node, free) > 0


cdef bint gains_room(const backfill_t *p, const sim_t *s, int32_t job, int32_t first, int32_t end,
                     double t) noexcept nogil:
    """Whether a job that had no room before t may have some: with the releases [first, end), or after a reservation."""
    cdef const site_t *m = site_of(&s.machine)
    cdef const release_t *items = releases_all(&s.releases)
    cdef const reservation_t *r
    cdef const share_t *returned
    cdef int32_t i, k, n = 0
    for i in range(first, end):
        if is_node_repair(m, items[i].job):
            if serves_at(p, s, job, -1 - items[i].job, t):
                return True
            continue
        returned = shares_returned(m, items[i].job, &n)
        for k in range(n):
            if serves_at(p, s, job, returned[k].node, t):
                return True
    for i in range(p.n):
        r = &p.reservation[i]
        if r.end == t and i == 0 and p.open_head:
            return True
        for k in range(r.n if r.end == t else 0):
            if serves_at(p, s, job, p.share[r.first + k].node, t):
                return True
    return False


cdef inline bint may_be_at(backfill_t *p, sim_t *s, int32_t job, bint head, bint anyway, int32_t first, int32_t end,
                           double t) noexcept nogil:
    """Whether a job can have a reservation from t on, when `then` is t, after the releases [first, end)."""
    if head:
        return s.absences.state == NULL or served_then(s, &p.then, job, t) >= needed(&site_of(&s.machine).ask[job])
    return (anyway or gains_room(p, s, job, first, end, t)) and choose_shares_at(p, s, job, t)


cdef int reserve(backfill_t *p, sim_t *s, int32_t job, bint head) noexcept nogil:
    cdef site_t *m = site_of(&s.machine)
    cdef const ask_t *ask = &m.ask[job]
    cdef const release_t *items = releases_all(&s.releases)
    cdef int64_t there = all_served(m, ask, m.open)
    cdef int32_t i = 0, k, first
    cdef double t = s.now, next_, last = s.now
    cdef bint closes = s.absences.state != NULL
    for k in range(p.n):
        last = max(last, p.reservation[k].end)
    site_now(&p.then, m)
    # Invariant: no time before t that is tried has room; `then` is the time before.
    while t < INFINITY:
        first = i
        while i < s.releases.n and items[i].end <= t:
            site_release(&p.then, m, ask, &items[i], &there)
            i += 1
        if there >= needed(ask) and may_be_at(p, s, job, head, closes or t == s.now, first, i, t):
            if head:
                promise_start(s, job, t)
            return add_shares(p, s, job, t, head)
        next_ = items[i].end if i < s.releases.n else INFINITY
        for k in range(p.n):
            if t < p.reservation[k].end < next_:
                next_ = p.reservation[k].end
        if closes:
            next_ = min(next_, next_end_tried(s, t, max(last, last_release(s))))
        t = next_
    return OK


cdef inline int64_t least_room(const backfill_t *p, const sim_t *s, int32_t sound) noexcept nogil:
    return 0                     # jobs that share nodes do not move


cdef int open_backfill(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef site_t *m = site_of(&s.machine)
    cdef backfill_t *p = open_backfill_state(s, options)
    s.scheduler.spare = NULL
    open_site_choice(p, &p.choice, s)
    p.room_beside_ = p.room
    p.room_shares = 16
    own_block(p, &p.beside, <size_t>p.room_beside_ * <size_t>m.nodes, sizeof(uint64_t))
    own_block(p, &p.share, p.room_shares, sizeof(share_t))
    own_block(p, &p.for_head, m.nodes, sizeof(uint64_t))
    own_block(p, &p.window, m.nodes, sizeof(uint64_t))
    open_site_then(p, &p.then, m)
    own_jobs(p, &p.costly, m.forms, sizeof(int64_t))
    own_jobs(p, &p.costly_end, m.forms, sizeof(double))
    return 0


BACKFILL = factory(open_backfill)
