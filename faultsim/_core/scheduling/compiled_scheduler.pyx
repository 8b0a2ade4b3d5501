"""Schedulers compiled elsewhere: what a pass shows them and takes from them (faultsim/policy.h).

Places are those of the queue at the beginning of the pass; jobs leave it when the pass ends.
"""

from cpython.ref cimport PyObject
from libc.math cimport INFINITY, NAN
from libc.stdint cimport int32_t, int64_t, uint64_t, uintptr_t
from libc.stdlib cimport qsort
from libc.string cimport memset

from faultsim._core.absences cimport (
    absences_of, claimed_of_others, closed_to, find_open_time, join_closed, leaves_head, open_room, open_shadow_t,
    spare_none, spare_set,
)
from faultsim._core.avoidance cimport choose_growing
from faultsim._core.containers.bits cimport mask_count, mask_count_without
from faultsim._core.containers.event_queue cimport heap_push
from faultsim._core.containers.memory cimport open_state, own_block, own_jobs
from faultsim._core.containers.releases cimport releases_all, releases_shadow
from faultsim._core.jobs cimport start_job
from faultsim._core.queue cimport close_gap, keep_range, open_scan, sort_queue
from faultsim._core.scheduling.place_search cimport forget_permit, forget_sizes, open_search, search_place, search_t
from faultsim._core.scheduling.shadow cimport first_open_time, has_open_place, shadow_from_now
from faultsim._core.scheduling.site_view cimport (
    open_site_view, site_view_t, view_choose, view_choose_beside, view_has_room, view_shadow, view_take_chosen,
)
from faultsim._core.site.shares cimport chosen_cores, site_of
from faultsim._core.state cimport (
    CHANGED_ALL, EV_WAKE, JOB_QUEUED, ask_of, asks_shape, end_if_started, end_if_started_at, queue_t, sim_t, usable,
)
from faultsim._core.status cimport NO_MEMORY, OK, PYTHON_ERROR
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport machine_t, permit_t, place_t
from faultsim._core.tables.outside cimport (
    FAULTSIM_POLICY_VERSION, faultsim_pass_t, faultsim_release_t, faultsim_scheduler_t,
)

# What a scheduler did that is not possible: `CompiledScheduler.refused` has the words.
cdef enum fault:
    NO_PLACE = 0
    STARTED_BEFORE = 1
    NO_ROOM = 2
    AHEAD_OF_ITSELF = 3
    NOT_LATER = 4
    GAVE_UP = 5

cdef struct compiled_t:
    faultsim_pass_t look     # what the scheduler sees
    int (*schedule)(faultsim_pass_t *, void *state, void *data) noexcept nogil
    void *data               # as `schedule`: of the user's object, which the engine keeps
    char *memory             # the scheduler's own of this run
    PyObject *refused        # makes the exception for what is not possible
    sim_t *s                 # during a pass; else NULL
    int code                 # of what went wrong, or OK
    # Jobs that were started: those at the places before `first`, and at these.
    int32_t first
    int32_t *started
    int32_t n_started
    # The shadow that was computed last, while it is true.
    int32_t head             # number of the job; -1: none
    double time
    int64_t extra
    int64_t beside           # [clusters] nodes that it leaves outside of closed set `later_set` (0: none)
    int32_t later_set
    uint64_t *later          # [placed] the occupancy at `time`, with the jobs backfilled since that outlive it
    search_t search          # [placed]
    site_view_t view         # [sites]


cdef int report_fault(compiled_t *p, fault what, int32_t place, double number) noexcept nogil:
    """Something is not possible: the run ends with the exception."""
    cdef sim_t *s = p.s
    cdef int32_t job = p.look.job[place] if 0 <= place < p.look.waiting else -1
    p.code = PYTHON_ERROR
    with gil:
        try:
            row = job if job < 0 or s.row == NULL else s.row[job]
            need = s.need[job] if job >= 0 else 0
            error = (<object>p.refused)(
                <int>what, now=s.now, place=place, waiting=p.look.waiting, row=row, need=need, free=usable(s),
                placed=s.machine.placed != NULL, shared=s.machine.shared != NULL, number=number)
        except BaseException as other:
            error = other
        (<object><PyObject *>s.owner).keep_error(error)
    return -1


cdef inline int break_off(compiled_t *p, int code) noexcept nogil:
    """The engine itself cannot go on."""
    p.code = code
    return -1


cdef inline compiled_t *of_pass(faultsim_pass_t *look) noexcept nogil:
    """What is behind a pass; NULL: it is over, or something has gone wrong in it."""
    cdef compiled_t *p = <compiled_t *>look.engine
    return p if p.s != NULL and p.code == OK else NULL


cdef inline int32_t waiting_job(compiled_t *p, int32_t place) noexcept nogil:
    """The job that waits at a place, or -1."""
    if not 0 <= place < p.look.waiting:
        return report_fault(p, NO_PLACE, place, 0.0)
    if p.s.state[p.look.job[place]] != JOB_QUEUED:
        return report_fault(p, STARTED_BEFORE, place, 0.0)
    return p.look.job[place]


# ---------------------------------------------------------------------------------------------- what it can ask

cdef double expected_end(faultsim_pass_t *look, int32_t place) noexcept nogil:
    cdef compiled_t *p = of_pass(look)
    if p == NULL:
        return NAN
    if not 0 <= place < p.look.waiting:
        report_fault(p, NO_PLACE, place, 0.0)
        return NAN
    return end_if_started(p.s, p.look.job[place])


cdef inline bint has_room(compiled_t *p, int32_t job) noexcept nogil:
    cdef machine_t *m = &p.s.machine
    cdef int32_t need = p.s.need[job]
    if need > usable(p.s):
        return False
    if m.shared:
        return view_has_room(p.s, &p.view, job)
    if p.s.absences.state != NULL:
        return has_open_place(p.s, job) if m.placed else need <= open_room(p.s, job)
    if asks_shape(p.s, job):
        return m.placed.has_free(m.state, m.occ, ask_of(p.s, job))
    return not m.placed or need <= m.placed.largest_now(m.state)


cdef int fits(faultsim_pass_t *look, int32_t place) noexcept nogil:
    cdef compiled_t *p = of_pass(look)
    if p == NULL:
        return 0
    if not 0 <= place < p.look.waiting:
        report_fault(p, NO_PLACE, place, 0.0)
        return 0
    return p.s.state[p.look.job[place]] == JOB_QUEUED and has_room(p, p.look.job[place])


cdef int compute_shadow(compiled_t *p, int32_t head) noexcept nogil:
    cdef sim_t *s = p.s
    cdef open_shadow_t found
    if p.head == head:
        return OK
    p.head, p.extra, p.beside, p.later_set = head, 0, 0, 0
    if s.machine.shared:
        p.time = view_shadow(s, &p.view, head, &p.extra)
        return OK
    if not s.machine.placed:
        p.time = releases_shadow(&s.releases, s.now, usable(s), s.need[head], &p.extra)
        if s.absences.state != NULL and p.time < INFINITY:
            found.time = p.time
            if find_open_time(s, head, &found) < 0:
                return NO_MEMORY
            p.time, p.beside, p.later_set = found.time, found.beside, found.closed
            p.extra = found.extra if found.time < INFINITY else 0
        return OK
    forget_permit(&p.search)
    if s.absences.state == NULL:
        p.time = shadow_from_now(s, ask_of(s, head), p.later)
    else:
        p.time = first_open_time(s, head, p.later, absences_of(s).closed)
        if p.time != INFINITY:
            join_closed(s, head, p.time, end_if_started_at(s, head, p.time), absences_of(s).closed, p.later)
    if p.time != INFINITY:
        p.extra = s.nodes - mask_count(p.later, s.machine.words) - s.need[head]
        if s.absences.state != NULL:
            p.extra -= mask_count_without(absences_of(s).closed, p.later, s.machine.words)
    return OK


cdef double shadow(faultsim_pass_t *look, int32_t place, int64_t *extra) noexcept nogil:
    cdef compiled_t *p = of_pass(look)
    cdef int32_t job = -1 if p == NULL else waiting_job(p, place)
    if job < 0:
        return NAN
    if compute_shadow(p, job) < 0:
        break_off(p, NO_MEMORY)
        return NAN
    if extra != NULL:
        extra[0] = min(p.extra, p.beside) if p.later_set > 0 else p.extra
    return p.time


# ---------------------------------------------------------------------------------------------- what it can do

cdef int launch(compiled_t *p, int32_t place, int32_t size, const place_t *where) noexcept nogil:
    """A job starts, and its place is noted."""
    cdef sim_t *s = p.s
    cdef int code = start_job(s, p.look.job[place], size, where, place != p.first)
    if code < 0:
        return break_off(p, code)
    if place == p.first:
        p.first += 1
        while p.n_started and p.first < p.look.waiting and s.state[p.look.job[p.first]] != JOB_QUEUED:
            p.first += 1
    else:
        p.started[p.n_started] = place
        p.n_started += 1
    p.look.free = usable(s)
    p.look.release, p.look.running = <faultsim_release_t *>releases_all(&s.releases), s.releases.n
    return 0


cdef int start(faultsim_pass_t *look, int32_t place) noexcept nogil:
    cdef compiled_t *p = of_pass(look)
    cdef int32_t job = -1 if p == NULL else waiting_job(p, place), size, limit
    cdef machine_t *m
    cdef permit_t permit
    cdef place_t where
    if job < 0:
        return -1
    m = &p.s.machine
    size = p.s.need[job]
    if not has_room(p, job):
        return report_fault(p, NO_ROOM, place, 0.0)
    p.head = -1
    if m.shared:
        view_choose(p.s, &p.view, job)
        return launch(p, place, chosen_cores(site_of(m)), NULL)
    if not m.placed:
        return launch(p, place, size, NULL)
    limit = size if asks_shape(p.s, job) else m.placed.largest_now(m.state)
    memset(&permit, 0, sizeof(permit))
    if p.s.absences.state != NULL and closed_to(
            p.s, job, p.s.now, end_if_started(p.s, job), absences_of(p.s).joined):
        permit.forbidden = absences_of(p.s).joined
        permit.used = claimed_of_others(p.s, job, end_if_started(p.s, job))
    size = choose_growing(p.s, job, p.s.now, m.occ, limit, NULL if permit.forbidden == NULL else &permit, True, &where)
    if size <= 0:
        return break_off(p, size) if size < 0 else report_fault(p, NO_ROOM, place, 0.0)
    return launch(p, place, size, &where)


cdef int backfill_placed(compiled_t *p, int32_t place, int32_t head, int32_t limit) noexcept nogil:
    cdef sim_t *s = p.s
    cdef machine_t *m = &s.machine
    cdef int32_t job = p.look.job[place], size
    cdef bint outlives
    cdef permit_t permit
    cdef place_t where
    cdef int code
    compute_shadow(p, head)
    outlives = end_if_started(s, job) > p.time
    if outlives:
        memset(&permit, 0, sizeof(permit))
        permit.later, permit.need = p.later, ask_of(s, head)
        if s.absences.state != NULL and m.placed.has_free_beside != NULL:
            permit.shut = absences_of(s).closed              # as compute_shadow left it
    size = search_place(s, &p.search, job, limit, p.time, &permit if outlives else NULL, &where)
    if size <= 0:
        return break_off(p, size) if size < 0 else 0
    code = launch(p, place, size, &where)
    if outlives and code == 0:
        m.placed.put(m.state, p.later, &where)
        p.extra -= size
    if s.absences.state != NULL:
        p.head = -1              # what is closed to the head may overlap the place
    return code if code < 0 else 1


cdef int backfill_open(compiled_t *p, int32_t place, bint outlives) noexcept nogil:
    """[clusters] `backfill` where nodes may be closed to jobs."""
    cdef sim_t *s = p.s
    cdef int32_t job = p.look.job[place], need = s.need[job]
    cdef int code
    if need > open_room(s, job) or (outlives and not leaves_head(s, job, p.extra, p.beside, p.later_set)):
        return 0
    if outlives:
        spare_set(s, p.later_set)
    code = launch(p, place, need, NULL)
    spare_none(s)
    p.head = -1
    return code if code < 0 else 1


cdef int backfill_shared(compiled_t *p, int32_t place, int32_t head) noexcept nogil:
    """[sites] `backfill` after `compute_shadow`."""
    cdef sim_t *s = p.s
    cdef int32_t job = p.look.job[place]
    cdef bint outlives = end_if_started(s, job) > p.time
    if not view_choose_beside(s, &p.view, job, head, p.time):
        return 0
    if outlives:
        view_take_chosen(s, &p.view, head)
        p.extra = p.view.slack
    if launch(p, place, chosen_cores(site_of(&s.machine)), NULL) < 0:
        return -1
    if s.absences.state != NULL:
        p.head = -1
    return 1


cdef int backfill(faultsim_pass_t *look, int32_t place, int32_t head, int32_t growth) noexcept nogil:
    cdef compiled_t *p = of_pass(look)
    cdef int32_t job = -1 if p == NULL else waiting_job(p, place), first, need
    cdef bint outlives
    if job < 0:
        return -1
    need = p.s.need[job]
    if need > usable(p.s) and place != head:
        return 0
    first = waiting_job(p, head)
    if first < 0:
        return -1
    if place == head:
        return report_fault(p, AHEAD_OF_ITSELF, place, 0.0)
    if p.s.machine.placed:
        growth = min(growth, usable(p.s) - need) if growth > 0 else 0
        return backfill_placed(p, place, first, need + growth)
    if compute_shadow(p, first) < 0:
        return break_off(p, NO_MEMORY)
    if p.s.machine.shared:
        return backfill_shared(p, place, first)
    outlives = end_if_started(p.s, job) > p.time
    if p.s.absences.state != NULL:
        return backfill_open(p, place, outlives)
    if outlives and need > p.extra:
        return 0
    if launch(p, place, need, NULL) < 0:
        return -1
    if outlives:
        p.extra -= need
    return 1


cdef int wake(faultsim_pass_t *look, double time) noexcept nogil:
    cdef compiled_t *p = of_pass(look)
    if p == NULL:
        return -1
    if not (time > p.s.now and time <= p.s.latest):
        return report_fault(p, NOT_LATER, -1, time)
    return break_off(p, NO_MEMORY) if heap_push(&p.s.heap, time, EV_WAKE, 0) < 0 else 0


# ---------------------------------------------------------------------------------------------- the pass

cdef int by_number(const void *a, const void *b) noexcept nogil:
    return (<const int32_t *>a)[0] - (<const int32_t *>b)[0]


cdef void take_out(compiled_t *p, queue_t *q) noexcept nogil:
    """Started jobs leave the queue: one sweep over what stays between them."""
    cdef int32_t keep, stays, i
    cdef bint ascending = True
    for i in range(1, p.n_started):
        ascending &= p.started[i - 1] < p.started[i]
    if not ascending:
        qsort(p.started, <size_t>p.n_started, sizeof(int32_t), by_number)
    keep = stays = q.head + p.first
    for i in range(p.n_started):
        if p.started[i] >= p.first:
            keep = keep_range(q, keep, stays, q.head + p.started[i])
            stays = q.head + p.started[i] + 1
    close_gap(q, keep, stays)


cdef int schedule(void *state, void *sim) noexcept nogil:
    cdef compiled_t *p = <compiled_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef queue_t *q = &s.queue
    cdef faultsim_pass_t *look = &p.look
    cdef int code = sort_queue(s)
    if code < 0:
        return code
    if s.order.sort != NULL:
        s.change = CHANGED_ALL
    if look.engine != p:         # the first pass, also of a copy, which has columns of its own
        look.engine = p
        look.submit, look.estimate, look.size, look.restarts = s.submit, s.estimate, s.size, s.restarts
        look.row = s.row
    look.change = s.change
    look.disturbed = s.unforeseen or (s.releases.n > 0 and s.releases.first[0].end <= s.now)
    s.unforeseen = False
    look.free, look.waiting, look.now = usable(s), q.end - q.head, s.now
    look.job, look.need, look.least = &q.job[q.head], &q.need[q.head], &q.least[q.head]
    look.release, look.running = <faultsim_release_t *>releases_all(&s.releases), s.releases.n
    if s.change == CHANGED_ALL:
        forget_sizes(&p.search)
        p.head = -1
    elif s.now > p.time or s.absences.state != NULL:
        p.head = -1              # a job outlives its estimate; what is closed to a job depends on the time
    p.first = p.n_started = 0
    p.s = s
    code = p.schedule(look, p.memory, p.data)
    if code != 0 and p.code == OK:
        report_fault(p, GAVE_UP, -1, code)
    p.s = NULL
    if p.n_started:
        take_out(p, q)
    q.head += p.first
    if q.head == q.end:
        q.head = q.end = 0
    return p.code


cdef int open_compiled(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef compiled_t *p = <compiled_t *>open_state(&s.scheduler, sizeof(compiled_t))
    cdef faultsim_scheduler_t *table
    scheduler = options["object"]
    refused = scheduler.refused
    columns["kept"].append((scheduler, refused))
    table = <faultsim_scheduler_t *><uintptr_t>scheduler.address
    p.schedule, p.data = table.schedule, table.data
    p.refused = <PyObject *>refused
    p.head = -1
    own_jobs(p, &p.memory, s.n, table.job_bytes, table.state_bytes + 1)
    own_jobs(p, &p.started, s.n, sizeof(int32_t))
    if s.machine.placed:
        own_block(p, &p.later, s.machine.words, sizeof(uint64_t))
        open_search(p, &p.search, s)
    if s.machine.shared:
        open_site_view(p, &p.view, s)
    p.look.version, p.look.nodes = FAULTSIM_POLICY_VERSION, s.nodes
    p.look.placed = s.machine.placed != NULL or s.machine.shared != NULL
    p.look.expected_end, p.look.fits, p.look.start = expected_end, fits, start
    p.look.shadow, p.look.backfill, p.look.wake = shadow, backfill, wake
    s.scheduler.schedule = schedule
    return open_scan(s)


COMPILED = factory(open_compiled)
