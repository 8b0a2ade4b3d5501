"""How a job comes to its nodes and leaves them; the contract is in jobs.pxd."""

from libc.math cimport INFINITY

from faultsim._core.avoidance cimport take_now
from faultsim._core.cluster.named cimport named_of
from faultsim._core.containers.event_queue cimport heap_push, push_known
from faultsim._core.containers.releases cimport releases_add, releases_remove
from faultsim._core.contract cimport fs_require
from faultsim._core.eligibility cimport note_begin, note_end
from faultsim._core.faults.progress cimport progress_book, progress_kill, progress_pause, progress_start
from faultsim._core.queue cimport enqueue
from faultsim._core.record cimport close_stay, open_stay, record_event, record_told
from faultsim._core.state cimport (
    ACC_GROWTH, ACC_MIGRATION, ACC_START_DELAY, CHANGED_ALL, EV_FINISH, EV_KILLED, EV_MOVE, EV_REQUEUED, EV_START,
    JOB_DONE, JOB_QUEUED, JOB_RUNNING, book_work, set_window, timed_out,
)
from faultsim._core.status cimport NO_MEMORY, OK, PYTHON_ERROR


cdef int start_tracked(sim_t *s, int32_t job) noexcept nogil:
    cdef double begin = s.start[job]
    cdef bint again = s.restarts[job] > 0
    if not s.track.started[job]:
        s.first_start[job] = begin
    if again:
        s.failure_wait[job] += begin - s.track.killed_at[job]
    if s.rescheduling.wait_ended != NULL:
        s.rescheduling.wait_ended(
            s.rescheduling.state, s, job, s.now - (s.track.killed_at[job] if again else s.submit[job]))
    return progress_start(s, job)


cdef int start_job(sim_t *s, int32_t job, int32_t nodes, const place_t *place, bint backfilled) noexcept nogil:
    cdef double begin = s.now + s.start_delay
    cdef int code
    fs_require(s.state[job] == JOB_QUEUED and s.submit[job] <= s.now)
    fs_require(s.size[job] <= nodes and nodes <= s.free)
    fs_require(not s.machine.placed or (
        s.machine.placed.size_of(place) == nodes and not s.machine.placed.meets(s.machine.state, s.machine.occ, place)))
    # A placement rule in Python may raise, so it is called before anything else changes.
    if s.machine.named and not s.machine.placed and not s.machine.shared and s.given == NULL:
        if s.predictions.n > 0:
            set_window(s, job, s.now)
        code = take_now(s, job, nodes)
        if code < 0:
            if code == PYTHON_ERROR and named_of(&s.machine).held[job] != NULL:
                s.machine.named.return_nodes(s.machine.state, job)     # sound nodes, taken before the error
            return code
    s.state[job] = JOB_RUNNING
    s.demand -= s.size[job]
    s.decision[job] = s.now
    s.start[job] = begin
    s.allocated[job] = nodes
    s.backfilled[job] = backfilled
    s.free -= nodes
    s.running += 1
    if not s.track.on:
        s.first_start[job] = begin
        s.finish[job] = begin + s.run[job]
        s.expected[job] = begin + s.estimate[job]
    elif start_tracked(s, job) < 0:
        return NO_MEMORY
    if s.promise_epoch[job] == s.epoch and s.now > s.promise[job]:
        s.missed += 1
    if s.machine.placed:
        s.machine.placed.occupy(s.machine.state, job, place)
    elif s.machine.shared:
        if s.machine.shared.take_shares(s.machine.state, job) < 0:
            return NO_MEMORY
    elif s.given != NULL:
        if s.machine.named.take_nodes(s.machine.state, job, s.given, nodes) < 0:
            return NO_MEMORY
    if s.migration.started != NULL:
        s.migration.started(s.migration.state, s, job)
    if releases_add(&s.releases, s.expected[job], job, nodes) < 0:
        return NO_MEMORY
    if push_known(&s.heap, s.finish[job], EV_FINISH, job) < 0:
        return NO_MEMORY
    if s.checkpointing.plan != NULL and s.checkpointing.plan(s.checkpointing.state, s, job, True) < 0:
        return NO_MEMORY
    if s.record.on:
        if record_event(s, EV_START, job, -1) < 0 or open_stay(s, job) < 0:
            return NO_MEMORY
    return note_begin(s, job) if s.eligibility.on else OK


cdef int start_fitting_heads(sim_t *s) noexcept nogil:
    cdef int32_t job
    cdef int code
    while head_fits(s):
        job = s.queue.job[s.queue.head]
        code = start_job(s, job, s.need[job], NULL, False)
        if code < 0:
            return code
        s.queue.head += 1
    return OK


cdef void leave_nodes(sim_t *s, int32_t job) noexcept nogil:
    s.running -= 1
    releases_remove(&s.releases, s.expected[job], job)
    if s.machine.shared:
        s.machine.shared.return_shares(s.machine.state, job, &s.free, &s.trace.n_down)
    else:
        s.free += s.allocated[job]
        if s.machine.named:
            s.machine.named.return_nodes(s.machine.state, job)
    s.change = CHANGED_ALL
    if s.scheduler.released != NULL:
        s.scheduler.released(s.scheduler.state, s, job)
    if s.record.on:
        close_stay(s, job)


cdef int finish_job(sim_t *s, int32_t job) noexcept nogil:
    cdef double size = s.size[job]
    fs_require(s.state[job] == JOB_RUNNING and s.finish[job] == s.now)
    if s.expected[job] < s.now:
        s.epoch += 1         # it outlived its estimate: promises that used it are excused (model.md#invariants)
        s.unforeseen = True
    leave_nodes(s, job)
    s.state[job] = JOB_DONE
    s.n_done += 1
    if s.track.on:
        progress_book(s, job, True)
    else:
        # By the clock, so that the accounts sum to N*T to its last bit however short the job and late the time.
        book_work(s, job, size * ((s.now - s.start[job]) - s.migration.cost * s.moves[job]))
        s.ledger[<int>ACC_START_DELAY] += size * (s.start[job] - s.decision[job])
        s.ledger[<int>ACC_GROWTH] += (s.allocated[job] - size) * (s.now - s.decision[job])
    if s.record.on and record_event(s, EV_FINISH, job, -1) < 0:
        return NO_MEMORY
    return note_end(s, job, not timed_out(s, job)) if s.eligibility.on else OK


cdef int stop_job(sim_t *s, int32_t job, int cause) noexcept nogil:
    fs_require(s.state[job] == JOB_RUNNING and s.finish[job] > s.now and s.start[job] <= s.now)
    progress_kill(s, job)
    s.track.started[job] = True
    leave_nodes(s, job)
    progress_book(s, job, False)
    if record_told(s, EV_KILLED, job, cause) < 0 or record_told(s, EV_REQUEUED, job, -1) < 0:
        return NO_MEMORY
    return enqueue(s, job)


cdef int end_for_good(sim_t *s, int32_t job, int cause) noexcept nogil:
    if s.start[job] > s.now:             # its start delay is broken off
        s.start[job] = s.now
        if s.first_start[job] > s.now:
            s.first_start[job] = s.now
    s.run[job] = s.track.saved[job]
    s.track.owed[job] = INFINITY         # it never starts again
    s.track.killed_for_good = True
    s.finish[job] = s.now
    s.state[job] = JOB_DONE
    s.n_done += 1
    s.n_events += 1
    leave_nodes(s, job)
    progress_book(s, job, False)
    if s.record.on and (record_told(s, EV_KILLED, job, cause) < 0 or record_event(s, EV_FINISH, job, -1) < 0):
        return NO_MEMORY
    return note_end(s, job, False) if s.eligibility.on else OK


cdef int move_job(sim_t *s, int32_t job, const place_t *place, double cost) noexcept nogil:
    cdef double begin
    fs_require(s.state[job] == JOB_RUNNING and s.machine.placed.size_of(place) == s.allocated[job])
    s.machine.placed.set_place(s.machine.state, job, place)
    s.moves[job] += 1
    if cost > 0 and s.track.on:
        if progress_pause(s, job, cost) < 0:
            return NO_MEMORY
    elif cost > 0:
        releases_remove(&s.releases, s.expected[job], job)
        s.expected[job] += cost
        s.finish[job] += cost
        s.ledger[<int>ACC_MIGRATION] += s.size[job] * cost
        begin = s.now if s.now > s.start[job] else s.start[job]
        s.paused_until[job] = cost + (begin if begin > s.paused_until[job] else s.paused_until[job])
        if releases_add(&s.releases, s.expected[job], job, s.allocated[job]) < 0:
            return NO_MEMORY
        if heap_push(&s.heap, s.finish[job], EV_FINISH, job) < 0:      # the earlier event is stale now
            return NO_MEMORY
    if s.record.on:
        close_stay(s, job)
        if record_event(s, EV_MOVE, job, -1) < 0 or open_stay(s, job) < 0:
            return NO_MEMORY
    return OK
