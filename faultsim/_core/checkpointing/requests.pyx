"""Checkpointing (checkpointing.pxd): at the requests of sim_t.requests, before failures or in predicted windows."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.stdlib cimport qsort

from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.tables.factory cimport factory
from faultsim._core.faults.outages cimport job_on
from faultsim._core.faults.own_clock cimport own_time
from faultsim._core.faults.progress cimport at_t, progress_lead, progress_locate
from faultsim._core.questions cimport pose_question
from faultsim._core.record cimport record_event
from faultsim._core.state cimport (
    ASK_CHECKPOINT, EV_CHECKPOINT, EV_FAILURE, FROM_EARLY_REQUESTS, FROM_REQUESTS, JOB_RUNNING, LEAD_CHECKPOINT,
    add_source, disturb, requests_t, sim_t, source_next,
)
from faultsim._core.containers.memory cimport open_state, own_block
from faultsim._core.status cimport NO_MEMORY, OK

cdef struct requested_t:
    int32_t job
    int32_t size

cdef struct asking_t:
    int source               # rank of the source of requests
    double seconds           # victims have run for so long; -inf: all
    int32_t k                # number of jobs that save, the largest first
    requested_t *victim      # these jobs; room for one per node, or per core where nodes are shared
    int32_t n, next          # number of these jobs; index of the next one to save


# ---------------------------------------------------------------------------------------------- saving

cdef bint can_save(const sim_t *s, int32_t job) noexcept nogil:
    cdef at_t at
    if s.state[job] != JOB_RUNNING or s.start[job] > s.now or s.finish[job] <= s.now:
        return False
    progress_locate(s, job, s.now, &at)
    return at.works and at.unsaved > 0.0 and s.run[job] - at.progress > s.track.cost


cdef int save(sim_t *s, int32_t job) noexcept nogil:
    cdef at_t at
    progress_locate(s, job, s.now, &at)
    s.requests.n_checkpoints += 1
    s.n_events += 1
    disturb(s)
    if progress_lead(
            s, job, <int>LEAD_CHECKPOINT, own_time(s, job, s.now) + s.track.cost, at.safe, at.progress,
            at.unsaved) < 0:
        return NO_MEMORY
    return record_event(s, EV_CHECKPOINT, job, -1) if s.record.on else OK


# ------------------------------------------------------------------------------------------- jobs that save

cdef int requested_descending(const void *a, const void *b) noexcept nogil:
    cdef const requested_t *p = <const requested_t *>a
    cdef const requested_t *q = <const requested_t *>b
    if p.size != q.size:
        return -1 if p.size > q.size else 1
    return (p.job > q.job) - (p.job < q.job)


cdef int requested_by_job(const void *a, const void *b) noexcept nogil:
    cdef int32_t p = (<const requested_t *>a).job, q = (<const requested_t *>b).job
    return (p > q) - (p < q)


cdef void find_victims(sim_t *s, asking_t *p) noexcept nogil:
    """The running jobs that run for long enough, or the k largest, in order of index."""
    cdef const release_t *items = releases_all(&s.releases)
    cdef requested_t *victim = p.victim
    cdef int32_t i, job, n = 0
    for i in range(s.releases.n):
        job = items[i].job
        if job >= 0 and s.state[job] == JOB_RUNNING and s.now - s.start[job] >= p.seconds:
            victim[n].job = job
            victim[n].size = s.size[job]
            n += 1
    if n > p.k:
        qsort(victim, <size_t>n, sizeof(requested_t), requested_descending)
        n = p.k
    qsort(victim, <size_t>n, sizeof(requested_t), requested_by_job)
    p.n = n


cdef int ask_victims(void *sim, bint *wanted) noexcept nogil:
    """The jobs from `next` on save, if they can; where a caller decides, it is asked about each."""
    cdef sim_t *s = <sim_t *>sim
    cdef asking_t *p = <asking_t *>s.checkpointing.state
    cdef int32_t job
    while p.next < p.n:
        job = p.victim[p.next].job
        p.next += 1
        if not can_save(s, job):
            continue
        if s.asked.on[<int>ASK_CHECKPOINT]:
            s.asked.number = 0.0
            return pose_question(s, <int>ASK_CHECKPOINT, job, ask_victims)
        if save(s, job) < 0:
            return NO_MEMORY
    return OK


cdef int asked(void *state, void *sim, int32_t node) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef asking_t *p = <asking_t *>state
    cdef const int32_t *found
    cdef int32_t i
    p.next = 0
    if node < 0:
        find_victims(s, p)
    elif s.machine.shared:
        found = s.machine.shared.jobs_on(s.machine.state, node, &s.releases, &p.n)
        if found == NULL:
            return NO_MEMORY
        for i in range(p.n):
            p.victim[i].job = found[i]
    else:
        p.victim[0].job = job_on(s, node)
        p.n = 1 if p.victim[0].job >= 0 else 0
    return ask_victims(s, NULL)


cdef int fire_request(void *sim, bint *wanted) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef requests_t *r = &s.requests
    cdef int32_t node = r.node[r.next]
    r.next += 1
    source_next(s, (<asking_t *>s.checkpointing.state).source, r.time[r.next] if r.next < r.n else INFINITY)
    return s.checkpointing.asked(s.checkpointing.state, s, node)


# ---------------------------------------------------------------------------------------------- factories

cdef asking_t *open_asking(sim_t *s, dict options, int source, int kind) except NULL:
    cdef requests_t *r = &s.requests
    cdef asking_t *p = <asking_t *>open_state(&s.checkpointing, sizeof(asking_t))
    own_block(p, &p.victim, min(s.capacity, s.n) if s.machine.shared else s.nodes, sizeof(requested_t))
    p.source = source
    s.track.cost = options["cost"]
    s.checkpointing.asked = asked
    while r.next < r.n and r.time[r.next] < s.now:
        r.next += 1
    add_source(s, source, kind, r.time[r.next] if r.next < r.n else INFINITY, fire_request)
    return p


cdef int open_before_failure(void *sim, dict options, dict columns) except -1:
    # A checkpoint that costs nothing comes before the failure of its instant.
    if options["cost"] == 0:
        open_asking(<sim_t *>sim, options, <int>FROM_EARLY_REQUESTS, EV_FAILURE)
    else:
        open_asking(<sim_t *>sim, options, <int>FROM_REQUESTS, EV_CHECKPOINT)
    return 0


cdef int open_predicted_windows(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef asking_t *p = open_asking(s, options, <int>FROM_REQUESTS, EV_CHECKPOINT)
    rule = options["victims"]
    p.seconds = rule.get("seconds", -INFINITY)
    p.k = min(rule.get("count", s.capacity), <object>s.capacity)
    return 0


BEFORE_FAILURE = factory(open_before_failure)
PREDICTED_WINDOWS = factory(open_predicted_windows)
