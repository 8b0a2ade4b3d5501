"""The running jobs that are stopped for the head of the queue; the contract is in preemption.pxd."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport qsort

from faultsim._core.absences cimport absences_of, closed_to
from faultsim._core.avoidance cimport free_of
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.contract cimport fs_require
from faultsim._core.jobs cimport stop_job
from faultsim._core.record cimport record_event
from faultsim._core.state cimport BY_PREEMPTION, EV_RESCHEDULE, JOB_RUNNING, disturb, end_if_started, usable
from faultsim._core.status cimport NO_MEMORY


cdef int lowest_first(const void *one, const void *other) noexcept nogil:
    """The lowest rank first, then the latest decision, then the last job."""
    cdef const victim_t *a = <const victim_t *>one
    cdef const victim_t *b = <const victim_t *>other
    if a.key != b.key:
        return -1 if a.key > b.key else 1
    if a.decision != b.decision:
        return -1 if a.decision > b.decision else 1
    return -1 if a.job > b.job else 1


cdef int32_t open_nodes(const sim_t *s, int32_t job, const uint64_t *closed) noexcept nogil:
    """The nodes of a running job that are not closed to the head (NULL: none are)."""
    if closed == NULL:
        return s.allocated[job]
    return s.allocated[job] - s.machine.named.overlap(s.machine.state, job, closed, NULL, 0)


cdef int preempt(sim_t *s, victim_t *victim) noexcept nogil:
    cdef const double *key = s.queue.key
    cdef const release_t *items
    cdef int32_t head = s.queue.job[s.queue.head], i, job, n = 0, n_chosen = 0
    cdef int64_t missing = <int64_t>s.need[head] - usable(s), missing_open = missing, there = 0, there_open = 0
    cdef const uint64_t *closed = NULL
    cdef int code
    fs_require(key != NULL)      # an order of arrival is refused: it ranks no job before another one that runs
    if s.absences.state != NULL and closed_to(s, head, s.now, end_if_started(s, head), absences_of(s).closed):
        closed = absences_of(s).closed
        missing_open = <int64_t>s.need[head] - (s.free - free_of(s, closed))
    items = releases_all(&s.releases)
    for i in range(s.releases.n):
        job = items[i].job
        if job < 0 or not key[job] > key[head]:
            continue
        if s.state[job] != JOB_RUNNING or s.start[job] > s.now or not s.finish[job] > s.now:
            continue
        victim[n].key, victim[n].decision, victim[n].job = key[job], s.decision[job], job
        n += 1
        there += s.allocated[job]
        there_open += open_nodes(s, job, closed)
    if n == 0 or there < missing or there_open < missing_open:
        return 0
    qsort(victim, <size_t>n, sizeof(victim_t), lowest_first)
    while missing > 0 or missing_open > 0:
        missing -= s.allocated[victim[n_chosen].job]
        missing_open -= open_nodes(s, victim[n_chosen].job, closed)
        n_chosen += 1
    # A chosen job that is not needed after all continues: the highest rank first.
    for i in range(n_chosen - 1, -1, -1):
        job = victim[i].job
        if missing + s.allocated[job] <= 0 and missing_open + open_nodes(s, job, closed) <= 0:
            missing += s.allocated[job]
            missing_open += open_nodes(s, job, closed)
            victim[i].job = -1
    for i in range(n_chosen):
        job = victim[i].job
        if job < 0:
            continue
        if s.record.on and record_event(s, EV_RESCHEDULE, job, -1) < 0:
            return NO_MEMORY
        code = stop_job(s, job, <int>BY_PREEMPTION)
        if code < 0:
            return code
    disturb(s)
    return 1
