"""The invariants (model.md#invariants)."""

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free as c_free

from faultsim._core.absences cimport absences_of
from faultsim._core.cluster.named cimport are_busy, named_is_right, named_of
from faultsim._core.containers.bits cimport mask_count, mask_equal
from faultsim._core.containers.event_queue cimport heap_is_ordered
from faultsim._core.containers.releases cimport release_t, releases_all, releases_are_right
from faultsim._core.eligibility cimport NO_FATE, eligible_of
from faultsim._core.faults.outages cimport job_on
from faultsim._core.status cimport BROKEN, NO_MEMORY, OK
from faultsim._core.tables.machine cimport machine_t, place_t
from faultsim._core.state cimport (
    JOB_DONE, JOB_FUTURE, JOB_HELD, JOB_QUEUED, JOB_RUNNING, N_ACCOUNTS, sim_t,
)


cdef const char *check_places(sim_t *s, uint64_t *seen) noexcept nogil:
    cdef const release_t *items = releases_all(&s.releases)
    cdef machine_t *m = &s.machine
    cdef int32_t i, job, node, down = 0
    cdef place_t place
    for i in range(s.releases.n):
        job = items[i].job
        if job < 0:
            continue
        if m.placed:
            place = m.placed.place_of(m.state, job)
            if m.placed.size_of(&place) != s.allocated[job]:
                return b"a job's place is not of its allocated size"
        if not m.named.add_job(m.state, seen, job):
            return b"a node holds two jobs"
    if m.shared:
        return m.own_invariant(m.state)
    if s.track.on:
        for node in range(s.nodes):
            if not s.trace.down[node]:
                continue
            job = job_on(s, node)
            if job >= 0:
                if s.state[job] != JOB_HELD:
                    return b"a job runs on a node that is down"
                continue
            down += 1
            m.named.mark(m.state, seen, node)
        if down != s.trace.n_down:
            return b"down nodes are miscounted"
    if not (mask_equal(seen, m.occ, m.words) if m.placed else are_busy(named_of(m), seen)):
        return b"the occupancy is not the union of the running jobs' nodes and the down nodes"
    if s.nodes - mask_count(seen, m.words) != s.free:
        return b"free + busy + down is not the number of nodes"
    if not m.placed and not named_is_right(named_of(m)):
        return b"free nodes are where none are looked for"
    return m.own_invariant(m.state) if m.own_invariant != NULL else NULL


cdef inline double first_submit(const sim_t *s) noexcept nogil:
    return eligible_of(s).submitted[0] if s.eligibility.on else s.submit[0]


cdef const char *check_ledger(sim_t *s) noexcept nogil:
    cdef const release_t *items = releases_all(&s.releases)
    # What running jobs hold is booked when they end; until then it is counted here.
    cdef double total = 0.0, span = 0.0, each
    cdef int32_t i, job
    if s.next_arrival > 0:
        span = (s.clock - first_submit(s)) * <double>s.capacity
    for i in range(<int32_t>N_ACCOUNTS):
        # What is booked as a difference of times may be off by the last bits of the clock.
        if s.ledger[i] < -(1e-9 * span + 1e-15 * fabs(s.clock) * s.capacity):
            return b"an account of the ledger is negative"
        total += s.ledger[i]
    if s.absences.state != NULL:
        total += absences_of(s).drained_time
    for i in range(s.releases.n):
        job = items[i].job
        if job < 0:
            continue
        each = s.allocated[job] * (s.clock - s.decision[job])
        if not s.track.on:          # migration costs are then booked when the move is made
            each -= s.size[job] * s.migration.cost * s.moves[job]
        total += each
    if s.kill and s.track.on:
        for job in range(s.from_job, s.known):
            total += s.track.pending[job]
    if fabs(total - span) > 1e-9 * span:
        return b"the capacity ledger does not sum to N*T"
    return NULL


cdef int check_invariants(sim_t *s, const char **found) noexcept nogil:
    cdef uint64_t *seen = NULL
    if s.machine.named:
        seen = <uint64_t *>calloc(s.machine.words, sizeof(uint64_t))
        if seen == NULL:
            return NO_MEMORY
    found[0] = broken_invariant(s, seen)
    c_free(seen)
    return OK if found[0] == NULL else BROKEN


cdef const char *broken_invariant(sim_t *s, uint64_t *seen) noexcept nogil:
    cdef const release_t *items = releases_all(&s.releases)
    cdef int32_t i, job, queued = 0, running = 0, kept = 0, done = 0, repairs = 0
    cdef int64_t held = 0, demand = 0
    cdef const char *found
    if not heap_is_ordered(&s.heap):
        return b"the event heap is out of order"
    if s.heap.n > 0 and s.heap.items[0].time < s.now:
        return b"an event lies in the past"
    for i in range(s.n):
        if s.state[i] == JOB_QUEUED:
            queued += 1
            demand += s.size[i]
        elif s.state[i] == JOB_RUNNING:
            running += 1
            if s.finish[i] < s.now:
                return b"a job runs past its end"
        elif s.state[i] == JOB_HELD:
            kept += 1
        elif s.state[i] == JOB_DONE:
            done += 1
            if i < s.from_job:
                continue
            if s.eligibility.on and eligible_of(s).fate[i] != NO_FATE:
                continue
            if not (s.submit[i] <= s.decision[i] <= s.start[i] <= s.finish[i] <= s.now):
                return b"a finished job's times are out of order"
        elif s.state[i] != JOB_FUTURE or (i < s.next_arrival and not s.eligibility.on):
            return b"a job is in no known state"
    if not releases_are_right(&s.releases):
        return b"the releases are out of order"
    for i in range(s.releases.n):
        repairs += items[i].job < 0
    if running != s.running or (s.trace.repairs_known and not s.machine.shared and repairs != s.trace.n_down):
        return b"running jobs or repairs are counted wrongly"
    if done != s.n_done or running + kept + repairs != s.releases.n or queued != s.queue.end - s.queue.head:
        return b"jobs are lost or counted twice"
    if demand != s.demand:
        return b"the queue's demand is not the sum of its sizes"
    for i in range(s.queue.head, s.queue.end):
        if s.state[s.queue.job[i]] != JOB_QUEUED:
            return b"the queue holds a job that does not wait"
    for i in range(s.releases.n):
        job = items[i].job
        if job < 0:
            if -1 - job >= s.nodes:
                if items[i].end != s.machine.shared.lost_until(s.machine.state, -1 - job - s.nodes):
                    return b"a part of a node is expected that will not come then"
                continue
            if not s.trace.down[-1 - job] or items[i].end != s.trace.up_at[-1 - job]:
                return b"a repair is expected that will not come then"
            continue
        held += s.allocated[job]
        if items[i].end != s.expected[job] or (s.state[job] != JOB_RUNNING and s.state[job] != JOB_HELD):
            return b"the releases are not those of the running jobs"
        if s.allocated[job] < s.size[job]:
            return b"a job holds fewer nodes than it asked for"
    if held + s.free + s.trace.n_down != s.capacity:
        return b"free + busy + down is not the number of nodes"
    if s.missed > 0:
        return b"a promised start was missed without an excuse"
    found = check_ledger(s)
    if found != NULL:
        return found
    if s.recovery.check != NULL:
        found = s.recovery.check(s.recovery.state, s)
        if found != NULL:
            return found
    return check_places(s, seen) if s.machine.named else NULL
