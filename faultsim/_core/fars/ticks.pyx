"""Ticks at which a caller or a policy in Python decides, in place of those of Fars (model.md#decisions)."""

from libc.math cimport INFINITY, floor

from faultsim._core.containers.memory cimport open_state
from faultsim._core.questions cimport pose_question, open_questions
from faultsim._core.state cimport (
    ASK_TICK, EV_REPAIR, EV_RESCHEDULE, FROM_TICKS, add_source, is_endless, sim_t, source_next,
)
from faultsim._core.status cimport ENDLESS, OK
from faultsim._core.tables.factory cimport factory

cdef struct ticks_t:
    double interval          # seconds
    double number            # of the next one, which is at number * interval


cdef int after_tick_answer(void *sim, bint *wanted) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    wanted[0] |= s.asked.acted
    if s.asked.acted and s.asked.policy[<int>ASK_TICK] != NULL and is_endless(s):
        return ENDLESS
    return OK


cdef bint nothing_else_comes(const sim_t *s) noexcept nogil:
    """Whether ticks and wakes alone are left to come."""
    cdef int i
    if s.running > 0 or s.wanted:
        return False
    for i in range(s.n_sources):
        if i != s.source_at[<int>FROM_TICKS] and s.source[i].time < INFINITY:
            return False
    for i in range(s.heap.n):        # what is there of jobs is stale, as none runs
        if s.heap.items[i].kind == EV_REPAIR:
            return False
    return True


cdef int fire_tick(void *sim, bint *wanted) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef ticks_t *p = <ticks_t *>s.rescheduling.state
    cdef bint caller_waits = s.asked.on[<int>ASK_TICK] and s.asked.policy[<int>ASK_TICK] == NULL
    s.n_ticks += 1
    p.number += 1.0
    source_next(s, <int>FROM_TICKS, p.number * p.interval)
    if not caller_waits and not (s.live and s.until < INFINITY) and nothing_else_comes(s) and is_endless(s):
        return ENDLESS
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
