"""The invariants of MODEL 16."""

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free as c_free

from faultsim._core.containers.event_queue cimport heap_is_ordered
from faultsim._core.faults.failures cimport job_on
from faultsim._core.state cimport (
    JOB_DONE, JOB_FUTURE, JOB_HELD, JOB_QUEUED, JOB_RUNNING, N_ACCOUNTS, sim_t,
)
from faultsim._core.torus.occupancy cimport box_size, occ_count, occ_fill, occ_meets, occ_set_node


cdef const char *check_places(sim_t *s, uint64_t *seen) noexcept nogil:
    cdef int32_t i, k, job, node, down = 0
    cdef int64_t bits = 0
    for i in range(s.releases.n):
        job = s.releases.items[i].job
        if job < 0:
            continue
        if s.is_torus:
            if box_size(&s.box[job]) != s.allocated[job]:
                return b"a job's box is not of its allocated size"
            if occ_meets(&s.torus, seen, &s.box[job]):
                return b"a node holds two jobs"
            occ_fill(&s.torus, seen, &s.box[job])
        else:
            for k in range(s.held[job].n):
                node = s.held[job].word[k]
                if seen[node] & s.held[job].bits[k]:
                    return b"a node holds two jobs"
                seen[node] |= s.held[job].bits[k]
    if s.faults.on:
        for node in range(s.nodes):
            if not s.faults.down[node]:
                continue
            job = job_on(s, node)
            if job >= 0:
                if s.state[job] != JOB_HELD:
                    return b"a job runs on a node that is down"
                continue
            down += 1
            if s.is_torus:
                occ_set_node(&s.torus, seen, node)
            else:
                seen[node >> 6] |= (<uint64_t>1) << (node & 63)
        if down != s.faults.n_down:
            return b"down nodes are miscounted"
    if s.is_torus:
        for i in range(s.torus.words):
            if seen[i] != s.occ[i]:
                return b"the occupancy is not the union of the running jobs' boxes and the down nodes"
        if s.nodes - occ_count(&s.torus, s.occ) != s.free:
            return b"free + busy + down is not the number of nodes"
    else:
        for i in range((s.nodes + 63) // 64):
            if seen[i] != s.occ[i]:
                return b"the occupancy is not the union of the running jobs' nodes and the down nodes"
            for k in range(64):
                bits += (s.occ[i] >> k) & 1
        if s.nodes - bits != s.free:
            return b"free + busy + down is not the number of nodes"
    return NULL


cdef const char *check_ledger(sim_t *s) noexcept nogil:
    # What running jobs hold is booked when they end; until then it is counted here.
    cdef double total = 0.0, span = (s.clock - s.submit[0]) * <double>s.nodes, each
    cdef int32_t i, job
    for i in range(<int32_t>N_ACCOUNTS):
        # What is booked as a difference of times may be off by the last bits of the clock.
        if s.ledger[i] < -(1e-9 * span + 1e-15 * fabs(s.clock) * s.nodes):
            return b"an account of the ledger is negative"
        total += s.ledger[i]
    for i in range(s.releases.n):
        job = s.releases.items[i].job
        if job < 0:
            continue
        each = s.allocated[job] * (s.clock - s.decision[job])
        if s.life == NULL:          # migration costs are then booked when the move is made
            each -= s.size[job] * s.policy.move_cost * s.moves[job]
        total += each
    if fabs(total - span) > 1e-9 * span:
        return b"the capacity ledger does not sum to N*T"
    return NULL


cdef const char *broken_invariant(sim_t *s) noexcept nogil:
    cdef int32_t i, job, queued = 0, running = 0, kept = 0, done = 0, repairs = 0
    cdef int64_t held = 0, demand = 0
    cdef uint64_t *seen
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
            if s.life[i].down < 1:
                return b"a job is held although its nodes are up"
        elif s.state[i] == JOB_DONE:
            done += 1
            if not (s.submit[i] <= s.decision[i] <= s.start[i] <= s.finish[i] <= s.now):
                return b"a finished job's times are out of order"
        elif s.state[i] != JOB_FUTURE or i < s.next_arrival:
            return b"a job is in no known state"
    for i in range(s.releases.n):
        repairs += s.releases.items[i].job < 0
    if running != s.running or (s.faults.repairs_known and repairs != s.faults.n_down):
        return b"running jobs or repairs are counted wrongly"
    if done != s.n_done or running + kept + repairs != s.releases.n or queued != s.wait.end - s.wait.head:
        return b"jobs are lost or counted twice"
    if demand != s.demand:
        return b"the queue's demand is not the sum of its sizes"
    for i in range(s.wait.head, s.wait.end):
        if s.state[s.wait.job[i]] != JOB_QUEUED:
            return b"the queue holds a job that does not wait"
    for i in range(s.releases.n):
        job = s.releases.items[i].job
        if i > 0 and s.releases.items[i - 1].end > s.releases.items[i].end:
            return b"the releases are out of order"
        if job < 0:
            if not s.faults.down[-1 - job] or s.releases.items[i].end != s.faults.up_at[-1 - job]:
                return b"a repair is expected that will not come then"
            continue
        held += s.allocated[job]
        if s.releases.items[i].end != s.expected[job] or (s.state[job] != JOB_RUNNING and s.state[job] != JOB_HELD):
            return b"the releases are not those of the running jobs"
        if s.allocated[job] < s.size[job]:
            return b"a job holds fewer nodes than it asked for"
    if held + s.free + s.faults.n_down != s.nodes:
        return b"free + busy + down is not the number of nodes"
    if s.missed > 0:
        return b"a promised start was missed without an excuse"
    found = check_ledger(s)
    if found != NULL:
        return found
    if s.is_torus or s.identities:
        seen = <uint64_t *>calloc(<size_t>(s.torus.words if s.is_torus else (s.nodes + 63) // 64), sizeof(uint64_t))
        if seen == NULL:
            return b"no memory to check the places"
        found = check_places(s, seen)
        c_free(seen)
    return found
