"""Ticks at which a caller or a policy in Python decides, in place of those of Fars (model.md#decisions)."""

from libc.math cimport INFINITY, floor
from libc.stdint cimport int64_t

from faultsim._core.containers.memory cimport open_state
from faultsim._core.questions cimport pose_question, open_questions
from faultsim._core.state cimport ASK_TICK, EV_RESCHEDULE, FROM_TICKS, add_source, sim_t, source_next
from faultsim._core.status cimport OK, STUCK
from faultsim._core.tables.factory cimport factory

cdef struct ticks_t:
    double interval          # seconds
    double number            # of the next one, which is at number * interval
    int64_t events           # at the last tick
    int64_t idle             # ticks since then at which nothing but ticks was left to come

# Ticks in a row at which jobs wait, none runs, nothing else will happen and no act follows: then it is a deadlock.  A
# larger number lets a policy wait for longer; a run that would never end takes about a second to be refused.
cdef enum:
    MOST_IDLE = 1000000


cdef int after_tick_answer(void *sim, bint *wanted) noexcept nogil:
    if (<sim_t *>sim).asked.acted:
        wanted[0] = True
    return OK


cdef bint is_idle(sim_t *s) noexcept nogil:
    """Whether ticks alone are left to come."""
    cdef int i
    if s.running > 0 or s.heap.n > 0 or s.wanted:
        return False
    for i in range(s.n_sources):
        if i != s.source_at[<int>FROM_TICKS] and s.source[i].time < INFINITY:
            return False
    return True


cdef int fire_tick(void *sim, bint *wanted) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef ticks_t *p = <ticks_t *>s.rescheduling.state
    s.n_ticks += 1
    if s.n_events != p.events or not is_idle(s):
        p.events, p.idle = s.n_events, 0
    p.idle += 1
    if p.idle > MOST_IDLE and not (s.asked.on[<int>ASK_TICK] and s.asked.policy[<int>ASK_TICK] == NULL):
        return STUCK
    p.number += 1.0
    source_next(s, <int>FROM_TICKS, p.number * p.interval)
    return pose_question(s, <int>ASK_TICK, -1, after_tick_answer) if s.asked.on[<int>ASK_TICK] else OK


cdef int open_ticks(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef ticks_t *p = <ticks_t *>open_state(&s.rescheduling, sizeof(ticks_t))
    p.interval = options["interval"]
    p.number = floor(s.now / p.interval) - 1.0
    while p.number * p.interval < s.now:
        p.number += 1.0
    add_source(s, <int>FROM_TICKS, EV_RESCHEDULE, p.number * p.interval, fire_tick)
    return open_questions(s, <int>ASK_TICK, options.get("object"))


TICKS = factory(open_ticks)
