"""Conservative backfilling where any free nodes serve: every queued job has a reservation (model.md#conservative).

The plan is a profile of free nodes, the running jobs held until their expected ends and every reservation counted.  A
pass looks only at jobs that may move (reservations.pxd).  Nobody could when the last one ended, but where nodes have
come back since, or were left by a job that moved: a job moves up where the nodes just before its reservation have
become free, or it jumps into a gap that has grown (gaps.pxd).

A pass that changes nothing costs nothing, else a sixteenth of a step for each waiting job and, for each that moves, the
logarithm of the number of steps and the steps between its old place and its new one.  A disturbance costs the running
jobs, and the waiting ones if a reservation no longer fits.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.containers.memory cimport open_state, own_block
from faultsim._core.jobs cimport start_job
from faultsim._core.queue cimport close_gap, keep_range, nobody_waits, open_scan, sort_queue
from faultsim._core.scheduling.gaps cimport gap_that_admits, gaps_t, gaps_turn, gaps_want
from faultsim._core.scheduling.least_free cimport change_t, least_free, most_changes
from faultsim._core.scheduling.profile cimport (
    at_of, block_at, level_of, profile_add, profile_forget, profile_open, profile_reset, profile_t, spot_of, spot_t,
    step_on,
)
from faultsim._core.scheduling.reservations cimport (
    earlier_hole, first_hole, freed, is_marked, link, mark, plan_t, reserve, unlink, unmark,
)
from faultsim._core.state cimport end_if_started_at, promise_start, queue_t, sim_t, usable
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.scheduler cimport promise_t


cdef extern from *:
    int __builtin_ctzll(unsigned long long) noexcept nogil


# ---------------------------------------------------------------------------------------------- disturbances

cdef int held_until(plan_t *p, const sim_t *s, double *known, double end, int32_t nodes) noexcept nogil:
    """Somebody has so many nodes until `end`, and not until `known`."""
    cdef double was = known[0]
    known[0] = end
    if was < s.now:
        was = s.now
    if end < s.now:
        end = s.now
    if was < end:
        return profile_add(&p.free, p, was, end, -nodes)
    if end < was:
        if profile_add(&p.free, p, end, was, nodes) < 0:
            return NO_MEMORY
        freed(p, s, end, was, nodes)
    return OK


cdef int follow(plan_t *p, sim_t *s) noexcept nogil:
    """Let the profile know what has become of jobs that run and nodes that are down."""
    cdef int64_t lost = <int64_t>s.nodes - s.free
    cdef int32_t i, job, node, kept = 0
    for i in range(s.releases.n):
        job = s.releases.items[i].job
        lost -= s.releases.items[i].nodes
        if job >= 0:
            if held_until(p, s, &p.held[job], s.releases.items[i].end, s.releases.items[i].nodes) < 0:
                return NO_MEMORY
            continue
        node = -1 - job
        if p.down[node] == -INFINITY:
            p.outage[p.n_outages] = node
            p.n_outages += 1
        if held_until(p, s, &p.down[node], s.releases.items[i].end, 1) < 0:
            return NO_MEMORY
    for i in range(p.n_outages):
        node = p.outage[i]
        if s.trace.down[node]:
            p.outage[kept] = node
            kept += 1
        else:
            if held_until(p, s, &p.down[node], -INFINITY, 1) < 0:
                return NO_MEMORY
    p.n_outages = kept
    if lost != p.lost:
        if profile_add(&p.free, p, s.now, INFINITY, <int32_t>(p.lost - lost)) < 0:
            return NO_MEMORY
        if lost < p.lost:
            freed(p, s, s.now, INFINITY, <int32_t>(p.lost - lost))
        p.lost = lost
    return OK


cdef int32_t find_due(plan_t *p, sim_t *s) noexcept nogil:
    """Marks who is due; p.list: who should have started before, taken out of the plan.  How many; < 0: a code."""
    cdef profile_t *f = &p.free
    cdef spot_t spot
    cdef int32_t job, i, n = 0
    spot.b = spot.i = 0
    while at_of(f, spot) <= s.now:
        job = block_at(f, spot.b).first[spot.i]
        while job >= 0:
            if p.begin[job] < s.now or p.begin[job] == p.last_pass:
                p.list[n] = job
                n += 1
            else:
                mark(p, job)
            job = p.next[job]
        if not step_on(f, &spot):
            break
    for i in range(n):
        job = p.list[i]
        unlink(p, job)
        if profile_add(f, p, p.begin[job], p.end[job], s.need[job]) < 0:
            return NO_MEMORY
    return n


cdef void drop(plan_t *p, int32_t job) noexcept nogil:
    unlink(p, job)
    p.begin[job] = INFINITY
    mark(p, job)


cdef bint within(plan_t *p, double begin, double end, int32_t need) noexcept nogil:
    """Whether so many nodes are free in all of [begin, end), and at `begin`."""
    cdef profile_t *f = &p.free
    cdef spot_t spot = spot_of(f, begin)
    while level_of(f, spot) >= need:
        f.looked += 1
        if not step_on(f, &spot) or at_of(f, spot) >= end:
            return True
    return False


cdef int drop_what_is_broken(plan_t *p, sim_t *s) noexcept nogil:
    """More is promised than will be there: those reservations stay, in queue order, that fit beside those before."""
    cdef queue_t *q = &s.queue
    cdef profile_t *f = &p.free
    cdef double low = f.low_begin, high = f.low_end
    cdef int32_t i, job, n = 0, broken = 0
    for i in range(q.head, q.end):
        job = q.job[i]
        if (p.begin[job] < high and p.end[job] > low and p.begin[job] < p.end[job]
                and not within(p, max(p.begin[job], low), min(p.end[job], high), 0)):
            p.list[n] = job
            n += 1
    for i in range(n):
        job = p.list[i]
        if profile_add(f, p, p.begin[job], p.end[job], s.need[job]) < 0:
            return NO_MEMORY
    for i in range(n):
        job = p.list[i]
        if within(p, p.begin[job], p.end[job], s.need[job]):
            if profile_add(f, p, p.begin[job], p.end[job], -s.need[job]) < 0:
                return NO_MEMORY
        else:
            p.list[broken] = job
            broken += 1
    for i in range(broken):
        job = p.list[i]
        low = p.begin[job]
        drop(p, job)
        freed(p, s, low, p.end[job], s.need[job])
    return OK


cdef void drop_instants(plan_t *p, sim_t *s) noexcept nogil:
    """Reservations of no length stay if there is room at their instant beside those before them in the queue."""
    cdef queue_t *q = &s.queue
    cdef int32_t i, k, job, other
    cdef int64_t free
    for i in range(q.head, q.end):
        job = q.job[i]
        if p.begin[job] == INFINITY or p.begin[job] != p.end[job]:
            continue
        free = level_of(&p.free, spot_of(&p.free, p.begin[job]))
        for k in range(i + 1, q.end):
            other = q.job[k]
            if p.begin[other] <= p.begin[job] < p.end[other]:
                free += s.need[other]
        if free < s.need[job]:
            drop(p, job)


cdef int review(plan_t *p, sim_t *s, int32_t missed) noexcept nogil:
    """After a disturbance (model.md#disturbances); the first `missed` jobs of p.list are moved to now."""
    cdef int32_t i, job
    p.free.low_begin, p.free.low_end = INFINITY, -INFINITY
    if p.rebuild and follow(p, s) < 0:
        return NO_MEMORY
    for i in range(missed):
        job = p.list[i]
        mark(p, job)
        if (link(p, job, s.now, end_if_started_at(s, job, s.now)) < 0
                or profile_add(&p.free, p, s.now, p.end[job], -s.need[job]) < 0):
            return NO_MEMORY
    if p.free.low_begin < p.free.low_end and drop_what_is_broken(p, s) < 0:
        return NO_MEMORY
    if p.instants > 0:
        drop_instants(p, s)
    return OK


# ---------------------------------------------------------------------------------------------- passes

cdef int32_t next_marked(const plan_t *p, int32_t job, int32_t last) noexcept nogil:
    """The first job from `job` up to `last` that is marked; -1: none."""
    cdef int32_t word = job >> 6
    cdef uint64_t bits = p.marked[word] & (~<uint64_t>0 << (job & 63))
    while bits == 0:
        word += 1
        if word > last >> 6:
            return -1
        bits = p.marked[word]
    job = 64 * word + __builtin_ctzll(bits)
    return job if job <= last else -1


cdef int32_t place_in(const queue_t *q, int32_t at, int32_t job) noexcept nogil:
    """The first place from `at` on of a job that does not come before, where the queue is in order of arrival."""
    cdef int32_t low = at, high = q.end, mid
    while low < high:
        mid = (low + high) >> 1
        if q.job[mid] < job:
            low = mid + 1
        else:
            high = mid
    return low


cdef int32_t next_admitted(plan_t *p, const sim_t *s, int32_t at, int32_t end) noexcept nogil:
    """The first place in [at, end) of a job that a gap may admit."""
    cdef const int32_t *need = s.queue.need
    cdef const float *least = s.queue.least
    cdef gaps_t *gaps = &p.gaps
    cdef int32_t tallest = gaps.tallest, k, may
    cdef float longest = gaps.longest
    while at < end:
        if at + 16 <= end:
            may = 0
            for k in range(16):          # the compiler makes vectors of this
                may |= (need[at + k] <= tallest) & (least[at + k] <= longest)
            if not may:
                at += 16
                continue
        for k in range(at, min(at + 16, end)):
            if (need[k] <= tallest and least[k] <= longest
                    and gap_that_admits(gaps, need[k], least[k], p.begin[s.queue.job[k]], -INFINITY) != NULL):
                return k
        at += 16
    return end


cdef int32_t next_to_look_at(plan_t *p, const sim_t *s, int32_t at, bint by_number) noexcept nogil:
    """The first place from `at` on of a job that may find an earlier hole, or is due; the end: none."""
    cdef const queue_t *q = &s.queue
    cdef int32_t end = q.end, found
    if by_number:
        found = next_marked(p, q.job[at], q.job[end - 1])
        if found >= 0:
            end = place_in(q, at, found)
    else:
        found = at
        while found < end and not is_marked(p, q.job[found]):
            found += 1
        end = found
    return end if p.gaps.tallest == 0 else next_admitted(p, s, at, end)


cdef int sweep(plan_t *p, sim_t *s) noexcept nogil:
    cdef queue_t *q = &s.queue
    cdef bint by_number = s.order.sort == NULL and q.key == NULL and q.entry == NULL
    cdef int32_t at = q.head, keep = at, stays = at, job
    cdef double begin
    cdef int code
    while at < q.end:
        at = next_to_look_at(p, s, at, by_number)
        if at >= q.end:
            break
        job = q.job[at]
        at += 1
        unmark(p, job)
        begin = p.begin[job]
        begin = first_hole(p, s, job) if begin == INFINITY else earlier_hole(p, s, job)
        if begin < p.begin[job]:
            if reserve(p, s, job, begin) < 0:
                return NO_MEMORY
            promise_start(s, job, begin)
        if p.begin[job] == s.now and s.need[job] <= usable(s):
            unlink(p, job)
            p.begin[job] = INFINITY
            code = start_job(s, job, s.need[job], NULL, (keep - q.head) + (at - 1 - stays) > 0)
            if code < 0:
                return code
            p.held[job] = s.expected[job]
            keep = keep_range(q, keep, stays, at - 1)
            stays = at
    keep = keep_range(q, keep, stays, at)
    close_gap(q, keep, at)
    return OK


cdef int schedule(void *state, void *sim) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef int32_t missed
    cdef int code = sort_queue(s)
    if code < 0 or p.failed:
        return code if code < 0 else NO_MEMORY
    if not p.opened:
        profile_reset(&p.free, s.now, s.nodes - s.kept_back)
        p.opened = p.rebuild = True
    missed = find_due(p, s)
    if missed < 0 or profile_forget(&p.free, p, s.now) < 0:
        return NO_MEMORY
    s.epoch += missed > 0
    if p.rebuild or missed > 0 or (s.releases.n > 0 and s.releases.items[0].end <= s.now):
        if review(p, s, missed) < 0:
            return NO_MEMORY
    p.rebuild = False
    gaps_turn(&p.gaps)
    gaps_want(&p.gaps, &s.queue.need[s.queue.head], &s.queue.least[s.queue.head], s.queue.end - s.queue.head)
    code = sweep(p, s)
    if code < 0:
        return code
    nobody_waits(&s.queue)
    p.last_pass = s.now
    return OK


cdef void released(void *state, void *sim, int32_t job) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    if s.expected[job] < s.now:
        p.rebuild = True         # it outlived its estimate: a disturbance
    if p.opened and held_until(p, s, &p.held[job], -INFINITY, s.allocated[job]) < 0:
        p.failed = True


cdef void queued(void *state, void *sim, int32_t job) noexcept nogil:
    (<plan_t *>state).begin[job] = INFINITY      # who was killed has no reservation until the next pass
    mark(<plan_t *>state, job)


cdef void disturbed(void *state) noexcept nogil:
    (<plan_t *>state).rebuild = True


cdef int64_t spare(void *state, void *sim, int32_t sound, promise_t *promise) noexcept nogil:
    cdef plan_t *p = <plan_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef int64_t least
    if s.queue.head == s.queue.end:
        return sound
    least = least_free(s, p.begin, p.end, s.need, p.changes)
    return least if least < sound else sound


cdef int open_conservative(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef plan_t *p = <plan_t *>open_state(&s.scheduler, sizeof(plan_t))
    cdef int32_t i
    s.scheduler.schedule, s.scheduler.spare = schedule, spare
    s.scheduler.released, s.scheduler.queued, s.scheduler.disturbed = released, queued, disturbed
    profile_open(&p.free, p)
    own_block(p, &p.begin, s.n, sizeof(double))
    own_block(p, &p.end, s.n, sizeof(double))
    own_block(p, &p.held, s.n, sizeof(double))
    own_block(p, &p.next, s.n, sizeof(int32_t))
    own_block(p, &p.before, s.n, sizeof(int32_t))
    own_block(p, &p.list, s.n, sizeof(int32_t))
    own_block(p, &p.marked, s.n // 64 + 1, sizeof(uint64_t))
    own_block(p, &p.changes, most_changes(s), sizeof(change_t))
    if s.track.on:
        own_block(p, &p.down, s.nodes, sizeof(double))
        own_block(p, &p.outage, s.nodes, sizeof(int32_t))
        for i in range(s.nodes):
            p.down[i] = -INFINITY
    for i in range(s.n):
        p.begin[i] = INFINITY
        p.held[i] = -INFINITY
    p.last_pass = -INFINITY
    return open_scan(s)


CONSERVATIVE = factory(open_conservative)
