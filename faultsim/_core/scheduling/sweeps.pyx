"""The sweeps of conservative backfilling where any free nodes serve; the contract is in sweeps.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint64_t

from faultsim._core.containers.bits cimport fs_lowest
from faultsim._core.jobs cimport start_job
from faultsim._core.queue cimport TOGETHER, close_gap, keep_range
from faultsim._core.scheduling.gaps cimport class_of, gap_that_admits, gaps_look_up, gaps_t
from faultsim._core.scheduling.horizon cimport begin_turn, keep_pass, keep_start, settle
from faultsim._core.scheduling.profile cimport at_of, block_at, profile_forget, profile_t, spot_t, step_on
from faultsim._core.scheduling.reservations cimport (
    earlier_hole, first_hole, hole_before, is_by_number, is_marked, leaves, list_all, mark, plan_line, plan_t, reserve,
    shorter_t, unlink, unmark,
)
from faultsim._core.scheduling.waiting cimport job_at, line_t, next_group, place_in, place_of
from faultsim._core.state cimport promise_start, queue_t, sim_t, usable
from faultsim._core.status cimport NO_MEMORY, OK

cdef enum:
    COLLAPSED = 1             # the horizon is now


cdef bint is_missed(plan_t *p, const sim_t *s) noexcept nogil:
    cdef profile_t *f = &p.free
    cdef spot_t spot
    cdef int32_t job
    cdef int32_t i
    if not p.listed:
        if p.soonest > s.now:
            return False
        for i in range(s.queue.head, s.queue.end):
            if p.begin[s.queue.job[i]] < s.now or p.begin[s.queue.job[i]] == p.last_pass:
                return True
        return False
    spot.b = spot.i = 0
    while at_of(f, spot) <= s.now:
        job = block_at(f, spot.b).first[spot.i]
        while job >= 0:
            if p.begin[job] < s.now or p.begin[job] == p.last_pass:
                return True
            mark(p, job)
            job = p.next[job]
        if not step_on(f, &spot):
            break
    return False


cdef inline bint is_held(const plan_t *p, const sim_t *s, int32_t job) noexcept nogil:
    """Whether the nodes just before a job's reservation are known not to be free."""
    return p.begin[job] == p.held_at and s.need[job] > p.held_level


cdef int32_t next_marked(plan_t *p, const sim_t *s, int32_t job, int32_t last) noexcept nogil:
    """The first job from `job` up to `last` that is marked; -1: none."""
    cdef int32_t word = job >> 6
    cdef uint64_t bits = p.marked[word] & (~<uint64_t>0 << (job & 63))
    while True:
        while bits == 0:
            word += 1
            if word > last >> 6:
                return -1
            bits = p.marked[word]
        job = 64 * word + fs_lowest(bits)
        if job > last:
            return -1
        if not is_held(p, s, job):
            return job
        unmark(p, job)
        bits &= bits - 1


cdef int32_t next_admitted(plan_t *p, const line_t *line, int32_t at, int32_t end) noexcept nogil:
    """The first place in [at, end) of a job that a gap may admit."""
    cdef const int32_t *need
    cdef const float *least
    cdef gaps_t *gaps = &p.gaps
    cdef int32_t tallest = gaps.tallest, k, may
    cdef float longest, shut
    cdef double since
    if gaps.stale:
        gaps_look_up(gaps)
    longest = gaps.longest
    while True:
        at = next_group(line, &gaps.admits, at, end)
        if at >= end:
            return end
        need, least = line.need + at, line.least + at
        if at + TOGETHER <= line.room:
            may = 0
            for k in range(TOGETHER):    # the compiler makes vectors of this
                may |= (need[k] <= tallest) & (least[k] <= longest)
            if not may:
                at += TOGETHER
                continue
        for k in range(min(<int32_t>TOGETHER, end - at)):
            if need[k] <= tallest and least[k] <= longest and least[k] <= gaps.admits.most[class_of(need[k])]:
                since = -INFINITY
                if gap_that_admits(gaps, need[k], least[k], p.begin[job_at(line, at + k)], &since, &shut) != NULL:
                    return at + k
        at += TOGETHER


cdef int32_t next_to_look_at(plan_t *p, const sim_t *s, const line_t *line, int32_t at, bint by_number) noexcept nogil:
    """The first place from `at` on of a job that may find an earlier hole, or is due; the end: none."""
    cdef int32_t end = line.end, found
    if by_number:
        found = next_marked(p, s, job_at(line, at), job_at(line, end - 1))
        if found >= 0:
            end = found if line.job == NULL else place_in(&s.queue, at, found)
    else:
        found = at
        while found < end and (not is_marked(p, line.job[found]) or is_held(p, s, line.job[found])):
            found += 1
        end = found
    return end if p.gaps.tallest == 0 else next_admitted(p, line, at, end)


cdef int sweep(plan_t *p, sim_t *s) noexcept nogil:
    """OK, COLLAPSED where the horizon comes to be now, or a status."""
    cdef queue_t *q = &s.queue
    cdef line_t line = plan_line(p, s)
    cdef bint by_number = is_by_number(s), promises = not p.settles or s.epoch == p.epoch, fresh, goes, starts
    cdef int32_t at = line.begin, keep = q.head, stays = q.head, job, place
    cdef double begin
    cdef int code = OK
    p.held_at = -INFINITY
    while at < line.end:
        at = next_to_look_at(p, s, &line, at, by_number)
        if at >= line.end:
            break
        job = job_at(&line, at)
        s.work.looked += 1
        # Behind a horizon there are others who have no reservation.
        fresh = p.begin[job] == INFINITY and (p.until == INFINITY or is_marked(p, job))
        unmark(p, job)
        begin = first_hole(p, s, job, p.until) if fresh else earlier_hole(p, s, job)
        if begin < p.begin[job]:
            if reserve(p, s, job, begin) < 0:
                return NO_MEMORY
            if promises and begin < p.until:
                promise_start(s, job, begin)
            if p.until <= s.now:
                code = COLLAPSED
                break
        # It has started in this pass, if that happens again.
        goes = p.has_room and p.gone[job] == p.number
        starts = not p.settles and p.begin[job] == s.now and s.need[job] <= usable(s)
        if goes or starts:
            unlink(p, job)
            leaves(p, s, job)
            place = place_of(q, &line, stays, at)
            if not goes:
                if p.recalls:
                    keep_start(p, job)
                code = start_job(s, job, s.need[job], NULL, (keep - q.head) + (place - stays) > 0)
                if code < 0:
                    return code
            keep = keep_range(q, keep, stays, place)
            stays = place + 1
        at += 1
    close_gap(q, keep_range(q, keep, stays, q.end), q.end)
    return code


cdef int sweep_listed(plan_t *p, sim_t *s) noexcept nogil:
    cdef int code = sweep(p, s)
    while code == COLLAPSED:
        code = settle(p, s, sweep, False)
        if code < 0:
            return code
        begin_turn(p, s)
        is_missed(p, s)          # which marks who is due
        profile_forget(&p.free, s.now)
        code = sweep(p, s)
    if code == OK and p.recalls:
        code = keep_pass(p, s)
    return code


cdef int sweep_few(plan_t *p, sim_t *s) noexcept nogil:
    """`sweep` where so few wait that to look at all of them costs less than to know who may move."""
    cdef queue_t *q = &s.queue
    cdef int32_t i, keep = q.head, stays = q.head, job
    cdef double begin, old, gained = p.gained, soonest = INFINITY
    cdef shorter_t shorter
    cdef int code
    p.gained = -INFINITY
    shorter.n = 0
    s.work.looked += q.end - q.head
    for i in range(q.head, q.end):
        job = q.job[i]
        old = p.begin[job]
        begin = INFINITY
        if s.now < old and s.now < gained or old == INFINITY:
            begin = hole_before(p, s, &shorter, job, old if old == INFINITY or old < gained else gained)
        if begin < old:
            if reserve(p, s, job, begin) < 0:
                return NO_MEMORY
            # What it leaves may serve those behind it now, and those before it in the next pass.
            gained = max(gained, p.gained)
            if old < INFINITY:
                shorter.n = 0
        if old == INFINITY:
            unmark(p, job)
        begin = p.begin[job]
        promise_start(s, job, begin)
        if begin == s.now and s.need[job] <= usable(s):
            leaves(p, s, job)
            code = start_job(s, job, s.need[job], NULL, keep + i - stays > q.head)
            if code < 0:
                return code
            keep = keep_range(q, keep, stays, i)
            stays = i + 1
        elif begin < soonest:
            soonest = begin
    p.soonest = soonest
    close_gap(q, keep_range(q, keep, stays, q.end), q.end)
    return list_all(p, s) if p.gained == -INFINITY and q.end - q.head > MANY else OK
