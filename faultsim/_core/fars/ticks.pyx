"""Ticks at which a caller or a policy in Python decides, in place of those of Fars (model.md#decisions)."""

from libc.math cimport floor

from faultsim._core.containers.memory cimport open_state
from faultsim._core.questions cimport pose_question, open_questions
from faultsim._core.state cimport ASK_TICK, EV_RESCHEDULE, FROM_TICKS, add_source, sim_t, source_next
from faultsim._core.status cimport OK
from faultsim._core.tables.factory cimport factory

cdef struct ticks_t:
    double interval          # seconds
    double number            # of the next one, which is at number * interval


cdef int after_tick_answer(void *sim, bint *wanted) noexcept nogil:
    if (<sim_t *>sim).asked.acted:
        wanted[0] = True
    return OK


cdef int fire_tick(void *sim, bint *wanted) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef ticks_t *p = <ticks_t *>s.rescheduling.state
    s.n_ticks += 1
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
