# Factories of FCFS, EASY and preemptive scheduling.  Included after easy.pxi and, of a capacity:
#
# open_on_capacity
#                 the state of a scheduler; its `victim` is NULL


cdef int open_fcfs(void *sim, dict options, dict columns) except -1:
    open_on_capacity(<sim_t *>sim, False)
    return 0


cdef int open_easy(void *sim, dict options, dict columns) except -1:
    open_on_capacity(<sim_t *>sim, True)
    return 0


cdef int open_preemptive(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef easy_t *p
    if not s.track.on:
        raise ValueError("preemption needs the progress of jobs to be tracked")
    p = open_on_capacity(s, options["backfill"])
    return own_jobs(p, &p.victim, s.n, sizeof(victim_t))


FCFS = factory(open_fcfs)
EASY = factory(open_easy)
PREEMPTIVE = factory(open_preemptive)
