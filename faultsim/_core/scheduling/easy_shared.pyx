"""FCFS, EASY and preemptive scheduling of nodes that jobs share (model.md#site-schedulers).

The third capacity of easy.pxi: what is free of each node.  A job that outlives the shadow time must leave the head room
in `later`, what is free then.  Refusals are stored by form (jobs of equal requests): of jobs without room now they hold
until something becomes free; of jobs that cost the head too much, until a job starts, as a job that takes a node from
the head makes this node free of cost for others.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport qsort
from libc.string cimport memcpy

from faultsim._core.containers.memory cimport open_state, own_block
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.jobs cimport start_job, stop_job
from faultsim._core.queue cimport begin_pass, close_gap, is_empty, keep_range, sort_queue
from faultsim._core.record cimport record_event
from faultsim._core.scheduling.preemption cimport lowest_first, victim_t
from faultsim._core.scheduling.site_choice cimport (
    choose_beside, choose_shares, chosen_cost, form_is_refused, free_then, hide_closed, open_site_choice,
    open_site_then, open_to, refuse_form, site_choice_t, site_shadow, site_then_t,
)
from faultsim._core.site.shares cimport chosen_cores, fits_in, less, needed, site_of, site_t
from faultsim._core.state cimport (
    CHANGED_ALL, EV_RESCHEDULE, JOB_RUNNING, ask_of, disturb, end_if_started, promise_start, queue_t, sim_t, usable,
)
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.scheduler cimport promise_t

cdef struct easy_t:
    bint backfills
    int32_t examined
    bint valid
    double time
    victim_t *victim         # scratch of preemption; NULL: heads do not stop other jobs
    site_choice_t choice
    uint64_t *later          # what is free at `time`, beside jobs that were backfilled and outlive it
    site_then_t then         # scratch
    int64_t slack            # how much more of what the head needs serves it in `later`
    int64_t *costly          # per form: `starts` when it cost the head too much, and 1 more
    int64_t starts           # and new shadows


cdef inline bint starts_afresh(const easy_t *p, const sim_t *s) noexcept nogil:
    # After arrivals alone only an overrun moves the shadow.
    return (s.absences.state != NULL or s.change == CHANGED_ALL or p.examined <= 0 or p.victim != NULL
            or (p.valid and s.now > p.time))


cdef int start_chosen(easy_t *p, sim_t *s, int32_t job, bint backfilled) noexcept nogil:
    p.starts += 1
    return start_job(s, job, chosen_cores(site_of(&s.machine)), NULL, backfilled)


cdef bint chooses(easy_t *p, sim_t *s, int32_t job) noexcept nogil:
    """Chooses nodes of what is free now; stores a refusal."""
    cdef site_t *m = site_of(&s.machine)
    if form_is_refused(&p.choice, s, job):
        return False
    if s.need[job] <= s.free and choose_shares(s, &p.choice, job, s.now, open_to(s, &p.choice, job)):
        return True
    refuse_form(&p.choice, m, job)
    return False


cdef int start_fitting(easy_t *p, sim_t *s) noexcept nogil:
    cdef queue_t *q = &s.queue
    cdef int code
    while q.head < q.end and chooses(p, s, q.job[q.head]):
        code = start_chosen(p, s, q.job[q.head], False)
        if code < 0:
            return code
        q.head += 1
    return OK


cdef bint has_room_without(easy_t *p, sim_t *s, int32_t head, int32_t n) noexcept nogil:
    """Whether the head fits once the first n victims, but for those that continue (-1), have been stopped."""
    cdef site_t *m = site_of(&s.machine)
    cdef int32_t i, k, job
    memcpy(p.then.left, m.open, <size_t>m.nodes * sizeof(uint64_t))
    for i in range(n):
        job = p.victim[i].job
        if job < 0:
            continue
        for k in range(m.held[job].n):       # jobs that run are on nodes that are up
            p.then.left[m.held[job].item[k].node] += m.held[job].item[k].word
    return fits_in(m, &m.ask[head], p.then.left)


cdef int preempt_shared(easy_t *p, sim_t *s) noexcept nogil:
    """`preempt` of preemption.pyx, where the head needs room on nodes."""
    cdef const double *key = s.queue.key
    cdef const release_t *items = releases_all(&s.releases)
    cdef int32_t head = s.queue.job[s.queue.head], i, job, n = 0, n_chosen = 0
    cdef int code
    if key == NULL:
        return 0
    for i in range(s.releases.n):
        job = items[i].job
        if job < 0 or not key[job] > key[head]:
            continue
        if s.state[job] != JOB_RUNNING or s.start[job] > s.now or not s.finish[job] > s.now:
            continue
        p.victim[n].key, p.victim[n].decision, p.victim[n].job = key[job], s.decision[job], job
        n += 1
    if n == 0:
        return 0
    qsort(p.victim, <size_t>n, sizeof(victim_t), lowest_first)
    if not has_room_without(p, s, head, n):
        return 0
    while not has_room_without(p, s, head, n_chosen):
        n_chosen += 1
    # A chosen job that is not needed after all continues: the highest rank first.
    for i in range(n_chosen - 1, -1, -1):
        job, p.victim[i].job = p.victim[i].job, -1
        if not has_room_without(p, s, head, n_chosen):
            p.victim[i].job = job
    for i in range(n_chosen):
        job = p.victim[i].job
        if job < 0:
            continue
        if s.record.on and record_event(s, EV_RESCHEDULE, job, -1) < 0:
            return NO_MEMORY
        code = stop_job(s, job)
        if code < 0:
            return code
    disturb(s)
    return 1


cdef inline int start_first(easy_t *p, sim_t *s, bint *afresh) noexcept nogil:
    cdef int code = start_fitting(p, s) if afresh[0] else OK
    while p.victim != NULL and code == OK and not is_empty(&s.queue):
        code = preempt_shared(p, s)
        if code <= 0:
            return code
        code = start_fitting(p, s)
    # A job that took a node from the head may have made room for one that was refused before it.
    p.examined = min(p.examined, 1)
    return code


cdef inline void begin_scan(easy_t *p, const sim_t *s) noexcept nogil:
    pass


cdef inline int find_shadow(easy_t *p, sim_t *s, int32_t head) noexcept nogil:
    cdef site_t *m = site_of(&s.machine)
    cdef int64_t there = 0
    cdef int32_t node
    p.time = site_shadow(s, &p.then, head, &there)
    p.starts += 1
    if p.time == INFINITY:
        return OK                # nothing can delay a head that no release helps
    promise_start(s, head, p.time)
    p.slack = there - needed(&m.ask[head])
    for node in range(m.nodes):
        p.later[node] = free_then(&p.then, node)
    hide_closed(s, head, p.time, p.later)
    return OK


cdef inline int32_t next_candidate(easy_t *p, const sim_t *s, int32_t at) noexcept nogil:
    cdef const site_t *m = site_of(&s.machine)
    cdef const int32_t *job = s.queue.job
    cdef int32_t end = s.queue.end, form
    cdef int64_t late = p.starts + 1
    while at < end:
        form = m.form[job[at]]
        if not form_is_refused(&p.choice, s, job[at]) and not (
                p.valid and p.costly[form] == late and end_if_started(s, job[at]) > p.time and s.absences.state == NULL):
            break
        at += 1
    return at


cdef inline int try_start(easy_t *p, sim_t *s, int32_t at) noexcept nogil:
    cdef site_t *m = site_of(&s.machine)
    cdef int32_t job = s.queue.job[at], i, head = s.queue.job[s.queue.head]
    cdef bint outlives = end_if_started(s, job) > p.time
    cdef int code
    if s.need[job] > s.free:
        return 0
    if not outlives:
        if not chooses(p, s, job):
            return 0
    elif not choose_beside(s, &p.choice, job, s.now, open_to(s, &p.choice, job), &m.ask[head], p.later, p.slack):
        if m.n_chosen == 0 and not fits_in(m, &m.ask[job], m.open):
            refuse_form(&p.choice, m, job)
        p.costly[m.form[job]] = p.starts + 1
        return 0
    if outlives:
        p.slack -= chosen_cost(m, &m.ask[head], p.later)
        for i in range(m.n_chosen):  # of nodes that are closed to the head nothing is left in `later`
            p.later[m.chosen[i].node] = less(p.later[m.chosen[i].node], m.chosen[i].word)
    code = start_chosen(p, s, job, True)
    return code if code < 0 else 1


cdef inline int64_t room_beside(easy_t *p, const sim_t *s, promise_t *promise) noexcept nogil:
    return 0                     # jobs that share nodes do not move


include "easy.pxi"


cdef easy_t *open_on_capacity(sim_t *s, bint backfills) except NULL:
    cdef easy_t *p = open_easy_state(s, backfills)
    cdef site_t *m = site_of(&s.machine)
    s.scheduler.spare = NULL
    open_site_choice(p, &p.choice, s)
    own_block(p, &p.later, m.nodes, sizeof(uint64_t))
    open_site_then(p, &p.then, m)
    own_block(p, &p.costly, m.forms, sizeof(int64_t))
    return p


include "easy_openings.pxi"
