"""What happens at an instant; the contract is in event_loop.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from faultsim._core.absences cimport absences_of, any_closed, free_and_drained, free_and_reserved
from faultsim._core.containers.event_queue cimport event_t, heap_pop
from faultsim._core.contract cimport FAULTSIM_DEBUG, FS_VERIFY_EVERY, fs_prefetch, fs_require
from faultsim._core.eligibility cimport is_eligible
from faultsim._core.faults.outages cimport repair
from faultsim._core.jobs cimport finish_job
from faultsim._core.queue cimport enqueue
from faultsim._core.record cimport record_event
from faultsim._core.state cimport (
    ACC_DOWN, ACC_IDLE_DEMAND, ACC_IDLE_NO_DEMAND, ACC_RESERVED, ASK_CHECKPOINT, ASK_SCHEDULE, CHANGED_NOTHING,
    EV_ARRIVAL, EV_CHECKPOINT, EV_FINISH, EV_READY, EV_REPAIR, EV_WAKE, FROM_ARRIVALS, JOB_FUTURE, JOB_RUNNING,
    is_endless, source_next, source_t,
)
from faultsim._core.status cimport DONE, ENDLESS, NO_MEMORY, OK, STUCK
from faultsim._core.withdrawal cimport fire_ready
from faultsim._core.verify cimport check_invariants


cdef inline bint is_stale(const sim_t *s, const event_t *e) noexcept nogil:
    if e.kind == EV_FINISH:
        if s.state[e.serial] == JOB_RUNNING and s.finish[e.serial] == e.time:
            return False         # a branch, where the value of a comparison would be made and tested
        return True
    if e.kind == EV_REPAIR:
        if e.serial >= s.nodes:
            return False         # of a part of a node, which is down until then
        return not s.trace.down[e.serial] or s.trace.up_at[e.serial] != e.time
    if e.kind >= EV_WAKE:
        return e.kind == EV_READY and s.state[e.serial] != JOB_FUTURE
    return s.state[e.serial] != JOB_RUNNING or not s.checkpointing.is_due(
        s.checkpointing.state, <int32_t>e.serial, e.time)


cdef inline void drop_stale(sim_t *s) noexcept nogil:
    cdef event_t e
    while s.heap.n > 0 and is_stale(s, &s.heap.items[0]):
        heap_pop(&s.heap, &e)


cdef inline double soonest(sim_t *s, source_t **due) noexcept nogil:
    """Time of the next event; `due`: the first source that has one then, or the end of them all."""
    cdef double t = INFINITY
    cdef source_t *source = &s.source[0] + s.n_sources
    due[0] = source
    drop_stale(s)
    if s.heap.n > 0:
        t = s.heap.items[0].time
    while source != &s.source[0]:
        source -= 1
        if source.time <= t:
            t = source.time
            due[0] = source
    return t


cdef double next_time(sim_t *s) noexcept nogil:
    cdef source_t *due
    return INFINITY if s.n_done == s.n and not s.live else soonest(s, &due)


cdef bint only_requests(sim_t *s) noexcept nogil:
    cdef const event_t *e
    cdef bint asks = s.asked.on[<int>ASK_CHECKPOINT]
    cdef int i
    drop_stale(s)
    if s.heap.n == 0 or s.heap.items[0].kind != EV_CHECKPOINT or (asks and s.asked.policy[<int>ASK_CHECKPOINT] == NULL):
        return False         # a caller that is asked may act
    for i in range(s.n_sources):
        if s.source[i].time < INFINITY:
            return False
    for i in range(s.heap.n):
        e = &s.heap.items[i]
        if not is_stale(s, e) and (e.kind != EV_CHECKPOINT or s.finish[e.serial] < INFINITY):
            return False
    return not asks or is_endless(s)     # a policy that is asked may act, too


cdef int fire_arrival(void *sim, bint *wanted) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef int32_t job = s.next_arrival
    cdef int code
    s.next_arrival += 1
    source_next(s, FROM_ARRIVALS, s.submit[job + 1] if job + 1 < s.known else INFINITY)
    if s.eligibility.on:
        code = is_eligible(s, job)
        if code != 1:
            return code
    if s.record.on and record_event(s, EV_ARRIVAL, job, -1) < 0:
        return NO_MEMORY
    s.n_events += 1
    wanted[0] = True
    return enqueue(s, job)


cdef inline int handle(sim_t *s, const event_t *e, bint *wanted) noexcept nogil:
    """An event of the heap, which is not stale; it makes no source due at this instant."""
    cdef int32_t serial = <int32_t>e.serial
    cdef int code
    if e.kind == EV_FINISH:
        wanted[0] = True
        s.n_events += 1
        code = finish_job(s, serial)
        if s.migration.finished != NULL and code == OK:
            return s.migration.finished(s.migration.state, s, serial)
        return code
    if e.kind == EV_REPAIR:
        wanted[0] = True
        return repair(s, serial)
    if e.kind == EV_WAKE:
        wanted[0] = True
        s.n_ticks += 1
        return ENDLESS if is_endless(s) else OK
    if e.kind == EV_READY:
        return fire_ready(s, serial, wanted)
    return s.checkpointing.due(s.checkpointing.state, s, serial)


cdef inline int drain(sim_t *s, double t, source_t *source, bint *wanted) noexcept nogil:
    """All events of the instant, always the first that is left: one may bring about another of an earlier kind.
    No source before this one has any yet.
    """
    cdef source_t *end = &s.source[0] + s.n_sources
    cdef event_t e
    cdef int64_t next_job
    cdef int code
    while True:
        while source != end and source.time != t:
            source += 1
        while s.heap.n > 0 and s.heap.items[0].time == t and (source == end or s.heap.items[0].kind < source.kind):
            heap_pop(&s.heap, &e)
            if s.releases.n_chunks > 1 and s.heap.n > 0 and s.heap.items[0].kind == EV_FINISH:
                # Of many jobs: what there is of the one that ends next comes out of main memory in the meantime.
                # (Not in a function of its own, as gcc takes one that only fetches for one that does nothing.)
                next_job = s.heap.items[0].serial
                fs_prefetch(&s.state[next_job])
                fs_prefetch(&s.finish[next_job])
                fs_prefetch(&s.expected[next_job])
                fs_prefetch(&s.start[next_job])
                fs_prefetch(&s.decision[next_job])
                fs_prefetch(&s.allocated[next_job])
                fs_prefetch(&s.size[next_job])
                fs_prefetch(&s.moves[next_job])
            if is_stale(s, &e):
                continue
            code = handle(s, &e, wanted)
            if code != OK:
                return code
        if source == end:
            return OK
        code = source.fire(s, wanted)
        if code != OK:
            return code
        source = s.source


cdef inline void advance_ledger(sim_t *s, double t) noexcept nogil:
    """Idle accounts up to `t`; what jobs hold is booked when they end."""
    cdef double dt = t - s.clock
    cdef int64_t wanted, free = s.free
    if dt > 0 and s.next_arrival == 0:       # nothing counts before the first job
        s.clock = t
    elif dt > 0:
        if s.absences.state != NULL and any_closed(absences_of(s)):
            free -= free_and_reserved(s)
            s.ledger[<int>ACC_RESERVED] += dt * <double>(s.free - free)
            wanted = free_and_drained(s)
            free -= wanted
            absences_of(s).drained_time += dt * <double>wanted
        wanted = s.demand if s.demand < free else free
        s.ledger[<int>ACC_IDLE_DEMAND] += dt * <double>wanted
        s.ledger[<int>ACC_IDLE_NO_DEMAND] += dt * <double>(free - wanted)
        s.ledger[<int>ACC_DOWN] += dt * <double>s.trace.n_down
        s.clock = t


cdef void catch_up(sim_t *s) noexcept nogil:
    advance_ledger(s, s.now)


cdef inline int settle_sources(sim_t *s, double t, source_t *due) noexcept nogil:
    """Events and passes of an instant, until nothing is left of it or a pass has to be decided outside."""
    cdef int code
    while True:
        code = drain(s, t, due, &s.wanted)
        if code != OK:
            return code              # DECIDE: end_pass goes on from here
        if s.wanted:
            s.wanted = False
            s.asked.question = ASK_SCHEDULE
            s.n_passes += 1
            if s.releases.n > 0 and s.releases.first[0].end <= t:
                s.epoch += 1     # a job outlives its estimate: promises are excused
            code = s.scheduler.schedule(s.scheduler.state, s)
            if code != OK:
                return code
            s.change = CHANGED_NOTHING
        # A pass may have made events at this very instant (run time 0): drain, then another pass.
        if s.heap.n == 0 or s.heap.items[0].time != t:
            return OK
        due = s.source


cdef int go_on(sim_t *s, how_far far, int64_t budget, double until) noexcept nogil:
    cdef int64_t limit = (s.n_events + s.n_ticks) + budget, look = s.n_events + FS_VERIFY_EVERY
    cdef source_t *due = s.source
    cdef const char *found
    cdef double t = s.now
    cdef int code
    s.until = until
    # Each round handles one instant `t` completely; before it, all events before s.now are handled.
    while True:
        if far == ALL:
            if s.n_events + s.n_ticks >= limit:
                return R_BUDGET
            if FAULTSIM_DEBUG and (s.n_events >= look or s.n_done == s.known):
                look = s.n_events + FS_VERIFY_EVERY
                code = check_invariants(s, &found)
                if code < 0:
                    return code
        if s.n_done == s.known and far != REST and (not s.live or (far == ALL and until == INFINITY)):
            return DONE
        if s.live and far == ALL and until == INFINITY and only_requests(s):
            s.fruitless = 0
            return STUCK
        if far != REST:
            t = soonest(s, &due)
            if t > until:
                s.fruitless = 0      # the caller acts now
                return DONE if s.n_done == s.known else R_UNTIL
            if t == INFINITY:
                return DONE if s.n_done == s.known else STUCK
            fs_require(t >= s.now)
            advance_ledger(s, t)
            s.now = t
        code = settle_sources(s, t, due)
        if code != OK:
            return code
        if far != ALL:
            return OK
