"""FCFS, EASY and preemptive scheduling of nodes that jobs share (model.md#site-schedulers).

The third capacity of easy.pxi: what is free of each node.  A job that outlives the shadow time must leave the head room
in what is free then.  Refusals are stored by form (jobs of equal requests): of jobs without room now they hold
until something becomes free; of jobs that cost the head too much, until a job starts, as a job that takes a node from
the head makes this node free of cost for others.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport qsort
from libc.string cimport memcpy

from faultsim._core.containers.memory cimport open_state, own_block, own_jobs
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.jobs cimport start_job, stop_job
from faultsim._core.contract cimport fs_require
from faultsim._core.queue cimport begin_pass, close_last_gap, is_empty, keep_range, queued_before, sort_queue
from faultsim._core.record cimport record_event
from faultsim._core.scheduling.preemption cimport lowest_first, victim_t
from faultsim._core.scheduling.site_choice cimport (
    choose_beside, choose_shares, chosen_cost, form_is_refused, hide_closed, kept_shadow, open_site_choice,
    open_site_then, open_to, refuse_form, site_choice_t, site_then_t, then_left, then_started, touch_node,
)
from faultsim._core.site.shares cimport (
    ask_t, chosen_cores, cores_of, fits_in, less, mebibytes_of, needed, site_of, site_t,
)
from faultsim._core.state cimport (
    BY_PREEMPTION, CHANGED_ALL, EV_RESCHEDULE, JOB_QUEUED, JOB_RUNNING, ask_of, disturb, end_if_started, promise_start,
    queue_t,
    sim_t, usable,
)
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.scheduler cimport promise_t
from faultsim._core.thresholds cimport thresholds

# The waiting jobs of a form in the order of the queue; some of them may have left it otherwise than by a start.
cdef struct form_queue_t:
    int32_t first, last      # -1: none
    bint is_active           # it is in the list of forms
    double least             # none of them would take less time (s)
    int32_t next             # the first that this scan has not passed, if `scan` is its number
    int64_t scan

cdef struct easy_t:
    bint backfills
    int32_t examined
    bint valid
    double time
    victim_t *victim         # scratch of preemption; NULL: heads do not stop other jobs
    site_choice_t choice
    site_then_t then         # what is free at `time`, beside jobs that were backfilled and outlive it
    uint64_t *room           # scratch of preemption
    int32_t node_cores       # that each job takes of each of its nodes, which are equal; 0: jobs share nodes
    int64_t *costly          # per form: `starts` when it cost the head too much, and 1 more
    int64_t starts           # and new shadows
    int32_t form_jobs        # threshold
    int64_t scan             # its number
    form_queue_t *form       # per form
    int32_t *active          # numbers of the forms that have jobs in their list
    int32_t n_active
    int32_t *before          # per job: its neighbours in the list of its form
    int32_t *behind
    uint8_t *is_listed


cdef inline bint starts_afresh(const easy_t *p, const sim_t *s) noexcept nogil:
    # After arrivals alone only an overrun moves the shadow.
    return (s.absences.state != NULL or s.change == CHANGED_ALL or p.examined <= 0 or p.victim != NULL
            or (p.valid and s.now > p.time))


cdef void unlist_job(easy_t *p, const site_t *m, int32_t job) noexcept nogil:
    cdef form_queue_t *f = &p.form[m.form[job]]
    cdef int32_t before = p.before[job], behind = p.behind[job]
    if f.next == job:
        f.next = behind
    if before >= 0:
        p.behind[before] = behind
    else:
        f.first = behind
    if behind >= 0:
        p.before[behind] = before
    else:
        f.last = before
    p.is_listed[job] = 0


cdef int start_chosen(easy_t *p, sim_t *s, int32_t job, bint backfilled) noexcept nogil:
    p.starts += 1
    if s.scheduler.queued != NULL and p.is_listed[job]:
        unlist_job(p, site_of(&s.machine), job)
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
    memcpy(p.room, m.open, <size_t>m.nodes * sizeof(uint64_t))
    for i in range(n):
        job = p.victim[i].job
        if job < 0:
            continue
        for k in range(m.held[job].n):       # jobs that run are on nodes that are up
            p.room[m.held[job].item[k].node] += m.held[job].item[k].word
    if s.absences.state != NULL:
        hide_closed(s, head, s.now, p.room)
    return fits_in(m, &m.ask[head], p.room)


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
        code = stop_job(s, job, <int>BY_PREEMPTION)
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


cdef void list_queued(void *state, void *sim, int32_t job) noexcept nogil:
    """A job enters the queue, perhaps at another place than before."""
    cdef easy_t *p = <easy_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef site_t *m = site_of(&s.machine)
    cdef form_queue_t *f = &p.form[m.form[job]]
    cdef int32_t before, behind
    if p.is_listed[job]:
        unlist_job(p, m, job)
    if not f.is_active:
        f.is_active, f.least = True, INFINITY
        p.active[p.n_active] = m.form[job]
        p.n_active += 1
    before = f.last
    while before >= 0 and s.order.sort == NULL and queued_before(s, job, before):
        before = p.before[before]
    behind = f.first if before < 0 else p.behind[before]
    p.before[job], p.behind[job] = before, behind
    if before < 0:
        f.first = job
    else:
        p.behind[before] = job
    if behind < 0:
        f.last = job
    else:
        p.before[behind] = job
    f.scan, f.least = -1, min(f.least, end_if_started(s, job) - s.now)
    p.is_listed[job] = 1


cdef inline bint takes_too_many(const easy_t *p, const sim_t *s, int32_t job) noexcept nogil:
    """Whether a job that takes whole nodes, and would outlive the shadow time, costs the head too much.

    A node that is free now has lost none of it to jobs that outlive the shadow time, so all of it is free then, and
    serves the head, as all nodes are equal: each node that the job takes costs the head one.
    """
    cdef const site_t *m = site_of(&s.machine)
    cdef const ask_t *head = &m.ask[s.queue.job[s.queue.head]]
    cdef const ask_t *ask = &m.ask[job]
    cdef int64_t nodes
    if p.node_cores == 0:
        return False
    nodes = ask.nodes if ask.nodes else ask.cores // p.node_cores
    return (nodes if head.nodes else nodes * p.node_cores) > p.then.there - needed(head)


cdef inline bint is_costly(const easy_t *p, const sim_t *s, int32_t job) noexcept nogil:
    """Whether it is known that jobs of the form of a job that would outlive the shadow time cost the head too much."""
    return (p.valid and s.absences.state == NULL and p.time < INFINITY
            and (p.costly[site_of(&s.machine).form[job]] == p.starts + 1 or takes_too_many(p, s, job)))


cdef inline bint is_late(const easy_t *p, const sim_t *s, int32_t job) noexcept nogil:
    return is_costly(p, s, job) and end_if_started(s, job) > p.time


cdef inline int32_t job_from(const easy_t *p, const sim_t *s, const form_queue_t *f, int32_t first) noexcept nogil:
    """The first job of a form that is not before another one; -1: there is none."""
    cdef int32_t job = -1, before = f.last
    while before >= 0 and not queued_before(s, before, first):
        job, before = before, p.before[before]
    return job


cdef int32_t next_of_form(easy_t *p, const sim_t *s, form_queue_t *f, int32_t first) noexcept nogil:
    """The first job of a form, from `first` on, that may start; -1: none.  Jobs that wait no more leave the list."""
    cdef const site_t *m = site_of(&s.machine)
    cdef int32_t job, behind
    cdef double least = INFINITY
    # A millisecond is far more than what rounding can make of an expected end.
    if is_costly(p, s, f.first) and s.now + f.least > p.time + 1e-3:
        return -1
    if queued_before(s, f.last, first):
        return -1
    if f.scan != p.scan:
        f.scan, f.next = p.scan, f.first
        if p.examined > 1:       # `first` is one of the jobs that came last
            f.next = job_from(p, s, f, first)
    job = f.next
    # Invariant: jobs of the form before `job` wait no more, or are before `first`, or (in the second loop) late.
    while job >= 0 and (s.state[job] != JOB_QUEUED or queued_before(s, job, first)):
        behind = p.behind[job]
        if s.state[job] != JOB_QUEUED:
            unlist_job(p, m, job)
        job = behind
    f.next = job
    while job >= 0 and (s.state[job] != JOB_QUEUED or is_late(p, s, job)):
        behind = p.behind[job]
        if s.state[job] != JOB_QUEUED:
            unlist_job(p, m, job)
        else:
            least = min(least, end_if_started(s, job) - s.now)
        job = behind
    if job < 0 and f.next == f.first:
        f.least = least
    if p.node_cores > 0:         # what is late stays so in this scan: starts take from what the head leaves
        f.next = job
    return job


cdef int32_t next_by_form(easy_t *p, const sim_t *s, int32_t at) noexcept nogil:
    """`next_candidate`, form by form."""
    cdef const int32_t *job = s.queue.job
    cdef int32_t i = 0, best = -1, other, low = at, high = s.queue.end, mid
    cdef form_queue_t *f
    while i < p.n_active:
        f = &p.form[p.active[i]]
        if f.first < 0:
            f.is_active = False
            p.n_active -= 1
            p.active[i] = p.active[p.n_active]
            continue
        i += 1
        if form_is_refused(&p.choice, s, f.first) or (p.node_cores > 0 and s.need[f.first] > s.free):
            continue
        other = next_of_form(p, s, f, job[at])
        if other >= 0 and (best < 0 or queued_before(s, other, best)):
            best = other
    if best < 0:
        return high
    while low < high:
        mid = (low + high) >> 1
        if queued_before(s, job[mid], best):
            low = mid + 1
        else:
            high = mid
    fs_require(job[low] == best)
    return low


cdef inline void begin_scan(easy_t *p, const sim_t *s) noexcept nogil:
    p.scan += 1


cdef inline int find_shadow(easy_t *p, sim_t *s, int32_t head) noexcept nogil:
    p.time = kept_shadow(s, &p.then, head)
    p.starts += 1
    if p.time == INFINITY:
        return OK                # nothing can delay a head that no release helps
    promise_start(s, head, p.time)
    if s.absences.state != NULL:
        hide_closed(s, head, p.time, p.then.free)
        p.then.seen = -1
    return OK


cdef inline int32_t next_candidate(easy_t *p, const sim_t *s, int32_t at) noexcept nogil:
    cdef const int32_t *job = s.queue.job
    cdef int32_t end = s.queue.end, near = end
    # After a start, the next candidate is often near; where there is none for long, the forms are fewer than the jobs.
    if s.scheduler.queued != NULL and s.order.sort == NULL:
        near = <int32_t>min(<int64_t>end, at + <int64_t>p.form_jobs * p.n_active)
    while at < near and (s.need[job[at]] > s.free or form_is_refused(&p.choice, s, job[at]) or is_late(p, s, job[at])):
        at += 1
    return at if at < near or at == end else next_by_form(p, s, at)


cdef void note_departure(void *state, void *sim, int32_t job) noexcept nogil:
    then_left(<sim_t *>sim, &(<easy_t *>state).then, job)


cdef inline int try_start(easy_t *p, sim_t *s, int32_t at) noexcept nogil:
    cdef site_t *m = site_of(&s.machine)
    cdef int32_t job = s.queue.job[at], i, head = s.queue.job[s.queue.head]
    cdef bint outlives = end_if_started(s, job) > p.time
    cdef int code
    if s.need[job] > s.free:
        refuse_form(&p.choice, m, job)
        return 0
    if outlives and s.absences.state == NULL and takes_too_many(p, s, job):
        return 0
    if not outlives:
        if not chooses(p, s, job):
            return 0
    elif not choose_beside(s, &p.choice, job, s.now, open_to(s, &p.choice, job), &m.ask[head], p.then.free,
                           p.then.there - needed(&m.ask[head])):
        if m.n_chosen == 0 and not fits_in(m, &m.ask[job], m.open):
            refuse_form(&p.choice, m, job)
        p.costly[m.form[job]] = p.starts + 1
        return 0
    if outlives:
        p.then.there -= chosen_cost(m, &m.ask[head], p.then.free)
        for i in range(m.n_chosen):  # of nodes that are closed to the head nothing is free then
            touch_node(&p.then, m.chosen[i].node)
            p.then.free[m.chosen[i].node] = less(p.then.free[m.chosen[i].node], m.chosen[i].word)
    code = start_chosen(p, s, job, True)
    then_started(s, &p.then, job, outlives)
    return code if code < 0 else 1


cdef inline int64_t room_beside(easy_t *p, const sim_t *s, promise_t *promise) noexcept nogil:
    return 0                     # jobs that share nodes do not move


include "easy.pxi"


cdef int32_t cores_of_whole_nodes(const sim_t *s) noexcept nogil:
    """What each node has, if all are equal and each job takes all cores of its nodes; else 0."""
    cdef const site_t *m = site_of(&s.machine)
    cdef const ask_t *ask
    cdef int32_t i, cores = cores_of(m.total[0])
    if s.live or s.trace.part != NULL:
        return 0
    for i in range(1, m.nodes):
        if m.total[i] != m.total[0] or m.bit[i] != m.bit[0]:
            return 0
    for i in range(s.n):
        ask = &m.ask[i]
        if ask.by_core and <int64_t>ask.memory * cores > mebibytes_of(m.total[0]):
            return 0
        if ask.cores != cores if ask.nodes else ask.cores % cores != 0:
            return 0
    return cores


cdef easy_t *open_on_capacity(sim_t *s, bint backfills) except NULL:
    cdef easy_t *p = open_easy_state(s, backfills)
    cdef site_t *m = site_of(&s.machine)
    cdef int32_t i
    s.scheduler.spare = NULL
    open_site_choice(p, &p.choice, s)
    p.node_cores = cores_of_whole_nodes(s)
    own_block(p, &p.room, m.nodes, sizeof(uint64_t))
    open_site_then(p, &p.then, m)
    own_jobs(p, &p.costly, m.forms, sizeof(int64_t))
    if backfills:
        s.scheduler.released = note_departure
    s.scheduler.queued = NULL
    if s.live:               # jobs to come may be of any number of forms: they are found one by one
        return p
    own_block(p, &p.form, m.forms, sizeof(form_queue_t))
    own_block(p, &p.active, m.forms, sizeof(int32_t))
    own_block(p, &p.before, s.n, sizeof(int32_t))
    own_block(p, &p.behind, s.n, sizeof(int32_t))
    own_block(p, &p.is_listed, s.n, sizeof(uint8_t))
    for i in range(m.forms):
        p.form[i].first = p.form[i].last = p.form[i].next = -1
    p.form_jobs = thresholds.form_jobs
    s.scheduler.queued = list_queued
    return p


include "easy_openings.pxi"
