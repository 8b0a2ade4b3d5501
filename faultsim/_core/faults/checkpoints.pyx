"""Requested checkpoints; the contract is in checkpoints.pxd."""

from libc.stdint cimport int32_t
from libc.stdlib cimport free as c_free, malloc, qsort

from faultsim._core.faults.failures cimport job_on
from faultsim._core.faults.progress cimport life_lead, life_request
from faultsim._core.faults.predictions cimport failing_of_job
from faultsim._core.record cimport record_event
from faultsim._core.state cimport (
    EV_CHECKPOINT, JOB_RUNNING, LEAD_CHECKPOINT, NO_MEMORY, OK, VICTIMS_BIG, VICTIMS_LONG, disturb, faults_t, life_t,
)


cdef bint can_save(const sim_t *s, int32_t job) noexcept nogil:
    """It works, has something to save, and more than the cost of a checkpoint to go."""
    cdef const life_t *life = s.life[job]
    cdef double t = s.now
    return (s.state[job] == JOB_RUNNING and t > life.t0 and t >= life.pause_until and s.finish[job] > t
            and s.run[job] - (life.base + (t - life.t0)) > s.faults.cost)


cdef int save(sim_t *s, int32_t job) noexcept nogil:
    cdef life_t *life = s.life[job]
    cdef double work = s.now - life.t0
    s.faults.n_checkpoints += 1
    s.n_events += 1
    disturb(s)
    if life_lead(s, job, <int>LEAD_CHECKPOINT, s.now + s.faults.cost, life.base, life.base + work, work) < 0:
        return NO_MEMORY
    return record_event(s, EV_CHECKPOINT, job, -1) if s.record.on else OK


cdef struct victim_t:
    int32_t job
    int32_t size


cdef int largest_first(const void *a, const void *b) noexcept nogil:
    cdef const victim_t *p = <const victim_t *>a
    cdef const victim_t *q = <const victim_t *>b
    if p.size != q.size:
        return -1 if p.size > q.size else 1
    return (p.job > q.job) - (p.job < q.job)


cdef int by_job(const void *a, const void *b) noexcept nogil:
    cdef int32_t p = (<const victim_t *>a).job, q = (<const victim_t *>b).job
    return (p > q) - (p < q)


cdef int save_victims(sim_t *s) noexcept nogil:
    """All jobs, those that run for long enough, or the k largest; they begin in order of index."""
    cdef faults_t *f = &s.faults
    cdef victim_t *victim
    cdef int32_t i, job, n = 0
    cdef int code = OK
    victim = <victim_t *>malloc(<size_t>(s.running + 1) * sizeof(victim_t))
    if victim == NULL:
        return NO_MEMORY
    for i in range(s.releases.n):
        job = s.releases.items[i].job
        if job >= 0 and can_save(s, job) and (
                f.victims != VICTIMS_LONG or s.now - s.start[job] >= f.long_seconds):
            victim[n].job = job
            victim[n].size = s.size[job]
            n += 1
    if f.victims == VICTIMS_BIG and n > f.big:
        qsort(victim, <size_t>n, sizeof(victim_t), largest_first)
        n = f.big
    qsort(victim, <size_t>n, sizeof(victim_t), by_job)
    for i in range(n):
        code = save(s, victim[i].job)
        if code < 0:
            break
    c_free(victim)
    return code


cdef int alarm(sim_t *s) noexcept nogil:
    cdef faults_t *f = &s.faults
    cdef int32_t node = f.alarm_node[f.next_alarm], job
    f.next_alarm += 1
    if node < 0:
        return save_victims(s)
    job = job_on(s, node)
    return save(s, job) if job >= 0 and can_save(s, job) else OK


cdef int risk_request(sim_t *s, int32_t job) noexcept nogil:
    """Written if p_f d I >= C [Oliner, Rudolph and Sahoo 2006]."""
    cdef faults_t *f = &s.faults
    cdef life_t *life = s.life[job]
    cdef double survives = 1.0
    cdef int32_t _k
    if can_save(s, job):
        for _k in range(failing_of_job(s, job, s.now, s.now + (f.interval + f.cost))):
            survives *= 1.0 - f.p
        if ((1.0 - survives) * life.request_number) * f.interval >= f.cost:
            return save(s, job)
    life.request_number += 1.0
    return life_request(s, job)
