"""Checkpointing (checkpointing.pxd): checkpoints at planned intervals, whatever rule computes the interval; and jobs
that request checkpoints themselves and save if failures are likely enough (model.md#risk-based) or the caller
decides so.
"""

from libc.math cimport floor
from libc.stdint cimport int32_t

import numpy as np

from faultsim._core.checkpointing.requests cimport can_save, save
from faultsim._core.containers.event_queue cimport heap_push
from faultsim._core.containers.memory cimport open_jobs_state
from faultsim._core.faults.own_clock cimport time_from
from faultsim._core.faults.predictions cimport failing_of_job
from faultsim._core.inputs cimport input_column
from faultsim._core.questions cimport pose_question, open_questions
from faultsim._core.state cimport ASK_CHECKPOINT, EV_CHECKPOINT, progress_of, progress_t, sim_t
from faultsim._core.status cimport OK
from faultsim._core.tables.factory cimport factory

# ----------------------------------------------------------------------------------------------- planned checkpoints

cdef int open_planned(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    given = columns["world"].checkpoint_interval
    cdef const double[::1] interval = input_column(columns, given, "checkpoint_interval", np.float64, s.n)
    s.track.cost = options["cost"]
    s.track.interval = &interval[0]
    return 0


# ----------------------------------------------------------------------------------------------------------- by risk

# One row per job; the state is these rows.
cdef struct risk_t:
    double interval          # of work between requests
    double time              # of its next request
    double number            # how many intervals after t0 that is


cdef int plan(void *state, void *sim, int32_t job, bint afresh) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef risk_t *p = <risk_t *>state + job
    cdef const progress_t *at = progress_of(s, job)
    cdef double asks, skipped
    if afresh:
        p.number = 1.0
    # After a live move, t0 is before the pause.  Requests that would fall inside the pause are skipped: by division,
    # and by steps as far as rounding goes.
    skipped = floor((at.pause_until - at.t0) / p.interval) - 2.0
    if skipped > p.number:
        p.number = skipped
    while at.t0 + p.number * p.interval < at.pause_until:
        p.number += 1.0
    asks = at.t0 + p.number * p.interval
    p.time = time_from(s, job, s.now, asks)
    return heap_push(&s.heap, p.time, EV_CHECKPOINT, job) if asks < at.ends else OK       # -1 is NO_MEMORY


cdef bint is_due(const void *state, int32_t job, double time) noexcept nogil:
    return (<const risk_t *>state)[job].time == time


cdef inline bint is_worth_it(sim_t *s, int32_t job, const risk_t *p) noexcept nogil:
    """Whether p_f d I >= C (model.md#risk-based)."""
    cdef double survives = 1.0
    cdef int32_t _k
    for _k in range(failing_of_job(s, job, s.now, s.now + (p.interval + s.track.cost))):
        survives *= 1.0 - s.predictions.p
    return ((1.0 - survives) * p.number) * p.interval >= s.track.cost


cdef int due(void *state, void *sim, int32_t job) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef risk_t *p = <risk_t *>state + job
    s.n_ticks += 1
    if s.asked.on[<int>ASK_CHECKPOINT]:
        if can_save(s, job):
            s.asked.number = p.number
            return pose_question(s, <int>ASK_CHECKPOINT, job, after_checkpoint_answer)
    elif is_worth_it(s, job, p) and can_save(s, job):
        return save(s, job)
    p.number += 1.0
    return plan(state, sim, job, False)


cdef int after_checkpoint_answer(void *sim, bint *wanted) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef int32_t job = s.asked.job
    if s.asked.acted:
        return OK
    if s.asked.granted:
        return save(s, job)
    (<risk_t *>s.checkpointing.state)[job].number += 1.0
    return plan(s.checkpointing.state, s, job, False)


cdef int open_risk(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef double interval = options["interval"]
    cdef risk_t *p = <risk_t *>open_jobs_state(&s.checkpointing, s.n, sizeof(risk_t))
    cdef int32_t i
    for i in range(s.n):
        p[i].interval = interval
    s.checkpointing.plan, s.checkpointing.is_due, s.checkpointing.due = plan, is_due, due
    s.track.cost = options["cost"]
    return 0


cdef int open_asked(void *sim, dict options, dict columns) except -1:
    open_risk(sim, options, columns)
    return open_questions(<sim_t *>sim, <int>ASK_CHECKPOINT, options["object"])


PLANNED = factory(open_planned)
RISK_BASED = factory(open_risk)
ASKED = factory(open_asked)
