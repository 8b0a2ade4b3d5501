"""What happens at an instant; the contract is in instant.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from faultsim._core.faults.checkpoints cimport alarm, risk_request
from faultsim._core.containers.event_queue cimport event_t, heap_pop
from faultsim._core.faults.failures cimport repair, settle_struck, strike
from faultsim._core.fars.ticks cimport tick
from faultsim._core.faults.least_failures cimport evade
from faultsim._core.record cimport record_event
from faultsim._core.state cimport (
    ACC_DOWN, ACC_IDLE, ACC_IDLE_DEMAND, CHANGED_NOTHING, DONE, EV_ARRIVAL, EV_CHECKPOINT, EV_FINISH, EV_REPAIR,
    JOB_RUNNING, NO_MEMORY, OK, STUCK, enqueue, faults_t, finish_job,
)

cdef extern from "contract.h" nogil:
    void fs_require(bint condition)


cdef inline bint is_stale(const sim_t *s, const event_t *e) noexcept nogil:
    if e.kind == EV_FINISH:
        return s.state[e.serial] != JOB_RUNNING or s.finish[e.serial] != e.time
    if e.kind == EV_REPAIR:
        return not s.faults.down[e.serial] or s.faults.up_at[e.serial] != e.time
    return s.state[e.serial] != JOB_RUNNING or s.life[e.serial].request != e.time


cdef inline void drop_stale(sim_t *s) noexcept nogil:
    cdef event_t e
    while s.heap.n > 0 and is_stale(s, &s.heap.items[0]):
        heap_pop(&s.heap, &e)


cdef double next_time(sim_t *s) noexcept nogil:
    cdef faults_t *f = &s.faults
    cdef double t = INFINITY
    drop_stale(s)
    if s.heap.n > 0:
        t = s.heap.items[0].time
    if s.next_arrival < s.n and s.submit[s.next_arrival] < t:
        t = s.submit[s.next_arrival]
    if f.on:
        if s.n_done == s.n:
            return INFINITY
        if f.next < f.n and f.time[f.next] < t:
            t = f.time[f.next]
        if f.next_alarm < f.n_alarms and f.alarm_time[f.next_alarm] < t:
            t = f.alarm_time[f.next_alarm]
        if s.fars.next < s.fars.n and s.fars.time[s.fars.next] < t:
            t = s.fars.time[s.fars.next]
    return t


cdef int arrive(sim_t *s) noexcept nogil:
    cdef int32_t job = s.next_arrival
    s.next_arrival += 1
    if s.record.on and record_event(s, EV_ARRIVAL, job, -1) < 0:
        return NO_MEMORY
    s.n_events += 1
    return enqueue(s, job)


cdef int handle(sim_t *s, const event_t *e, bint *wanted) noexcept nogil:
    cdef int32_t serial = <int32_t>e.serial
    cdef int code
    if e.kind == EV_CHECKPOINT:
        return risk_request(s, serial)
    wanted[0] = True
    if e.kind == EV_REPAIR:
        return repair(s, serial)
    s.n_events += 1
    code = finish_job(s, serial)
    return evade(s, serial) if s.faults.evades and code == OK else code


cdef inline bint is_hit(const sim_t *s, double t) noexcept nogil:
    """Is there a failure of the trace, a request, or a tick at t?"""
    cdef const faults_t *f = &s.faults
    return ((f.next < f.n and f.time[f.next] == t) or (f.next_alarm < f.n_alarms and f.alarm_time[f.next_alarm] == t)
            or (s.fars.next < s.fars.n and s.fars.time[s.fars.next] == t))


cdef int drain(sim_t *s, double t, bint *wanted) noexcept nogil:
    """What the heap has, in its order, then arrivals."""
    cdef event_t e
    cdef int code
    while s.heap.n > 0 and s.heap.items[0].time == t:
        heap_pop(&s.heap, &e)
        if is_stale(s, &e):
            continue
        code = handle(s, &e, wanted)
        if code < 0:
            return code
    while s.next_arrival < s.n and s.submit[s.next_arrival] == t:
        code = arrive(s)
        if code < 0:
            return code
        wanted[0] = True
    return OK


cdef int drain_faults(sim_t *s, double t, bint *wanted) noexcept nogil:
    """All events of the instant, always the first kind that is left: one may bring about an earlier kind."""
    cdef faults_t *f = &s.faults
    cdef event_t e
    cdef int code
    while True:
        drop_stale(s)
        if s.heap.n > 0 and s.heap.items[0].time == t and s.heap.items[0].kind <= EV_REPAIR:
            heap_pop(&s.heap, &e)
            code = handle(s, &e, wanted)
        elif f.early and f.next_alarm < f.n_alarms and f.alarm_time[f.next_alarm] == t:
            code = alarm(s)
        elif f.next < f.n and f.time[f.next] == t:
            code = strike(s, wanted)
        elif f.n_struck > 0:
            code = settle_struck(s)
        elif f.next_alarm < f.n_alarms and f.alarm_time[f.next_alarm] == t:
            code = alarm(s)
        elif s.heap.n > 0 and s.heap.items[0].time == t:
            heap_pop(&s.heap, &e)
            code = handle(s, &e, wanted)
        elif s.fars.next < s.fars.n and s.fars.time[s.fars.next] == t:
            code = tick(s, wanted)
        elif s.next_arrival < s.n and s.submit[s.next_arrival] == t:
            wanted[0] = True
            code = arrive(s)
        else:
            return OK
        if code < 0:
            return code


cdef inline void advance_ledger(sim_t *s, double t) noexcept nogil:
    """Idle accounts up to `t`; what jobs hold is booked when they end."""
    cdef double dt = t - s.clock
    cdef int64_t wanted
    if dt > 0:
        wanted = s.demand if s.demand < s.free else s.free
        s.ledger[<int>ACC_IDLE_DEMAND] += dt * <double>wanted
        s.ledger[<int>ACC_IDLE] += dt * <double>(s.free - wanted)
        s.ledger[<int>ACC_DOWN] += dt * <double>s.faults.n_down
        s.clock = t


cdef int run_instant(sim_t *s, double t) noexcept nogil:
    cdef bint wanted
    cdef int code
    if t == INFINITY:
        return DONE if s.n_done == s.n else STUCK
    fs_require(t >= s.now)
    advance_ledger(s, t)
    s.now = t
    while True:
        wanted = False
        code = drain_faults(s, t, &wanted) if is_hit(s, t) else drain(s, t, &wanted)
        if code < 0:
            return code
        if wanted:
            s.n_passes += 1
            if s.releases.n > 0 and s.releases.items[0].end <= t:
                s.epoch += 1     # somebody outlives its estimate: promises are excused
            code = s.policy.schedule(s)
            if code < 0:
                return code
            s.change = CHANGED_NOTHING
        # A pass may have made events at this very instant (run time 0): drain, then another pass.
        if s.heap.n == 0 or s.heap.items[0].time != t:
            return OK
