"""Reservations in a plan of free nodes; the contract is in reservations.pxd."""

from libc.float cimport DBL_MAX as LATE
from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memset

from faultsim._core.queue cimport TOGETHER, least_of
from faultsim._core.scheduling.gaps cimport (
    class_of, gap_t, gap_that_admits, gaps_measured, gaps_t, gaps_tell, gaps_want, refuse, rounded_up,
)
from faultsim._core.scheduling.profile cimport (
    at_of, block_at, level_of, profile_add, profile_cut, profile_list, profile_rise, profile_t, profile_tidy, spot_of,
    spot_t, step_back, step_on, steps_t,
)
from faultsim._core.state cimport end_if_started_at, queue_t, sim_t
from faultsim._core.status cimport NO_MEMORY, OK


cdef void unlink(plan_t *p, int32_t job) noexcept nogil:
    cdef spot_t spot
    if p.next[job] >= 0:
        p.before[p.next[job]] = p.before[job]
    if p.before[job] >= 0:
        p.next[p.before[job]] = p.next[job]
    else:
        spot = spot_of(&p.free, p.begin[job])
        block_at(&p.free, spot.b).first[spot.i] = p.next[job]


cdef int link(plan_t *p, int32_t job, double begin, double end) noexcept nogil:
    cdef spot_t spot
    cdef int32_t *first
    if profile_cut(&p.free, p, begin, &spot) < 0:
        return NO_MEMORY
    first = &block_at(&p.free, spot.b).first[spot.i]
    p.next[job], p.before[job] = first[0], -1
    if first[0] >= 0:
        p.before[first[0]] = job
    first[0] = job
    p.begin[job], p.end[job] = begin, end
    return OK


cdef void draw_in(plan_t *p, double end) noexcept nogil:
    """Nodes have come back before the horizon, up to `end`: it goes back to where none are free just before it."""
    cdef profile_t *f = &p.free
    cdef spot_t spot = spot_of(f, p.until)
    cdef double low = p.until
    if at_of(f, spot) >= low and not step_back(f, &spot):
        return
    while level_of(f, spot) > 0:
        low = at_of(f, spot)
        if not step_back(f, &spot):
            break
    if end > low:
        p.until = low


cdef void freed(plan_t *p, const sim_t *s, double begin, double end, int32_t nodes) noexcept nogil:
    cdef profile_t *f = &p.free
    cdef spot_t here, spot
    cdef int32_t level, least, most, job
    p.n_found = 0
    p.held_at = -INFINITY
    if not p.listed:
        p.gained = max(p.gained, end)
        return
    if begin < s.now:
        begin = s.now
    if s.queue.head == s.queue.end or not begin < end:
        return
    if p.until < INFINITY:
        if begin < p.until:
            draw_in(p, end)
        if not begin < p.until:
            return
        end = min(end, p.until)
    here = spot = spot_of(f, begin)
    level = least = most = level_of(f, spot)
    while step_on(f, &spot) and at_of(f, spot) <= end:
        job = block_at(f, spot.b).first[spot.i]
        while job >= 0:
            if s.need[job] <= level:
                mark(p, job)
            job = p.next[job]
        f.looked += 1
        if at_of(f, spot) == end:
            break
        level = level_of(f, spot)
        least, most = min(least, level), max(most, level)
    gaps_tell(&p.gaps, f, here, s.now, end, max(least - nodes, 0), most)


cdef int move(plan_t *p, const sim_t *s, int32_t job, double begin) noexcept nogil:
    """Give a job without a reservation one at `begin`, or one that has one an earlier one."""
    cdef double old = p.begin[job], old_end = p.end[job], end = end_if_started_at(s, job, begin), left = old
    cdef int32_t need = s.need[job]
    if old < LATE:
        unlink(p, job)
    if link(p, job, begin, end) < 0:
        return NO_MEMORY
    if not old < LATE:
        return profile_add(&p.free, p, begin, end, -need)
    if end <= old:
        if profile_add(&p.free, p, old, old_end, need) < 0 or profile_add(&p.free, p, begin, end, -need) < 0:
            return NO_MEMORY
    else:
        left = end
        if profile_add(&p.free, p, begin, old, -need) < 0 or profile_add(&p.free, p, end, old_end, need) < 0:
            return NO_MEMORY
    freed(p, s, left, old_end, need)
    return OK


cdef int slide(plan_t *p, const sim_t *s, int32_t job, double begin) noexcept nogil:
    """`move` where a job moves up as `earlier_hole` has found, and both places are known."""
    cdef profile_t *f = &p.free
    cdef double old = p.begin[job], old_end = p.end[job], end = end_if_started_at(s, job, begin)
    cdef int32_t need = s.need[job]
    cdef spot_t spot = p.slid_to
    cdef int32_t *first = &block_at(f, spot.b).first[spot.i]
    if end <= old:
        return move(p, s, job, begin)
    while spot.b != p.slid_from.b or spot.i != p.slid_from.i:
        block_at(f, spot.b).level[spot.i] -= need
        f.looked += 1
        step_on(f, &spot)
    if p.next[job] >= 0:
        p.before[p.next[job]] = p.before[job]
    if p.before[job] >= 0:
        p.next[p.before[job]] = p.next[job]
    else:
        block_at(f, spot.b).first[spot.i] = p.next[job]
    p.next[job], p.before[job] = first[0], -1
    if first[0] >= 0:
        p.before[first[0]] = job
    first[0] = job
    p.begin[job], p.end[job] = begin, end
    profile_tidy(f, spot)
    if profile_add(f, p, end, old_end, need) < 0:
        return NO_MEMORY
    freed(p, s, end, old_end, need)
    return OK


cdef double hole(plan_t *p, const sim_t *s, int32_t job, double t, double stop, double *longest) noexcept nogil:
    """Earliest time from `t` on and before `stop` at which `job` fits for all of its expected duration; inf: none.

    What `job` itself has reserved is as good as free for it, so its own reservation need not be taken out first.
    Nodes of a job that outlives its estimate count from now on, yet cannot be had now (model.md#overrun): such a
    hole is at `now` and waits.  `longest`: the stretches that were too short are shorter.
    """
    cdef profile_t *f = &p.free
    cdef int32_t need = s.need[job], i = 0, b = 0, first
    cdef double own = p.begin[job], end
    cdef spot_t spot
    cdef const steps_t *steps
    if t > f.begins[0]:
        spot = spot_of(f, t)
        b, i = spot.b, spot.i
    steps = block_at(f, b)
    while True:
        # The first step that has as many nodes; blocks are passed that are too low all along.
        if steps.level[i] < need:
            first = i
            i += 1
            while i < steps.n and steps.level[i] < need:
                i += 1
            f.looked += i - first
            if i == steps.n:
                spot.b, spot.i = b + 1, 0
                if not profile_rise(f, &spot, need, stop):
                    return INFINITY
                b, i = spot.b, spot.i
                steps = block_at(f, b)
            t = steps.at[i]
        if not t < stop:
            return INFINITY
        end = end_if_started_at(s, job, t)
        if end > own:
            end = own
        # Until there are fewer.
        i += 1
        while True:
            first = i
            while i < steps.n and steps.at[i] < end and steps.level[i] >= need:
                i += 1
            f.looked += i - first
            if i < steps.n:
                break
            b += 1
            if b == f.n:
                return t
            steps = block_at(f, b)
            i = 0
        if steps.at[i] >= end:
            return t
        longest[0] = max(longest[0], rounded_up(t, steps.at[i]))


cdef double hole_before(plan_t *p, const sim_t *s, shorter_t *shorter, int32_t job, double stop) noexcept nogil:
    cdef double t = s.now, begin = p.begin[job], remaining = s.remaining[job], longest = 0.0, least = 0.0, found
    cdef int32_t need = s.need[job], i
    cdef short_t *of = shorter.of
    for i in range(min(shorter.n, <int32_t>SHORTER)):
        if of[i].until > t and of[i].need <= need and of[i].begin <= begin and of[i].least <= remaining:
            t = of[i].until
            least = of[i].least
    if t >= stop:
        return INFINITY
    found = hole(p, s, job, t, stop, &longest)
    of = &of[shorter.n % SHORTER]
    shorter.n += 1
    of.need, of.least, of.begin, of.until = need, max(least, longest), begin, min(found, stop)
    return found


cdef inline bint is_restarted(const sim_t *s, int32_t job) noexcept nogil:
    """Whether more than its remaining time decides when it ends."""
    return s.track.on and s.restarts[job] > 0


cdef double first_hole(plan_t *p, sim_t *s, int32_t job, double stop) noexcept nogil:
    cdef double t = p.free.begins[0], longest = 0.0, remaining = s.remaining[job], found
    cdef int32_t need = s.need[job], i
    p.slides = False
    if is_restarted(s, job):
        return hole(p, s, job, t, stop, &longest)
    # As long as the plan only fills nobody fits before one who asked for no more.
    for i in range(p.n_found):
        if p.need[i] <= need and p.remaining[i] <= remaining and p.found[i] > t:
            t = p.found[i]
            if t >= stop:
                return INFINITY
    found = hole(p, s, job, t, stop, &longest)
    t = min(found, stop)
    # Where one that says no more is known its place is taken, else that of the first found.
    i = 0
    while i < p.n_found and not (p.need[i] >= need and p.remaining[i] >= remaining and p.found[i] <= t):
        i += 1
    if i == p.n_found:
        if p.n_found < FOUND:
            p.n_found += 1
        else:
            i = p.oldest
            p.oldest = (p.oldest + 1) % FOUND
    p.need[i], p.remaining[i], p.found[i] = need, remaining, t
    # And no others are needed that say no more.
    i += 1
    while i < p.n_found:
        if p.need[i] >= need and p.remaining[i] >= remaining and p.found[i] <= t:
            p.n_found -= 1
            p.need[i], p.remaining[i], p.found[i] = p.need[p.n_found], p.remaining[p.n_found], p.found[p.n_found]
        else:
            i += 1
    return found


cdef bint ask_together(const plan_t *p, hope_t *hope, const int32_t *need, const float *least) noexcept nogil:
    """Who of TOGETHER jobs is refused?  False: nobody is."""
    cdef int32_t i, k, needs
    cdef float takes
    cdef bint some = False
    for i in range(p.n_found):
        if p.found[i] >= hope.stop:
            if not some:
                memset(hope.refused, 0, sizeof(hope.refused))
                some = True
            needs, takes = p.need[i], least_of(p.remaining[i])
            for k in range(TOGETHER):    # the compiler makes vectors of this
                hope.refused[k] |= (need[k] >= needs) & (least[k] > takes)
    return some


cdef int32_t next_hopeful(const plan_t *p, hope_t *hope, const int32_t *need, const float *least, int32_t at,
                          int32_t end, int32_t n, double stop) noexcept nogil:
    while at < end:
        # As long as the plan only fills, who was refused still is.
        if at >= hope.end or stop != hope.stop:
            hope.stop = stop
            hope.end = 0
            if at + TOGETHER > n or not ask_together(p, hope, need + at, least + at):
                return at
            hope.end = at + TOGETHER
        while at < hope.end:
            if not hope.refused[at + TOGETHER - hope.end]:
                return min(at, end)
            at += 1
    return end


cdef double earlier_hole(plan_t *p, const sim_t *s, int32_t job) noexcept nogil:
    cdef profile_t *f = &p.free
    cdef double old = p.begin[job], slid = INFINITY, limit, found, stop, longest, since = -INFINITY
    cdef float shut
    cdef int32_t need = s.need[job]
    cdef gaps_t *gaps = &p.gaps
    cdef gap_t *gap
    # It may begin sooner on the nodes that are free just before.
    cdef spot_t spot
    p.slides = False
    if old < p.until or p.until == INFINITY:
        spot = spot_of(f, old)
        p.slid_from = spot
        while at_of(f, spot) > s.now and step_back(f, &spot):
            if level_of(f, spot) < need:
                if not p.slides:
                    p.held_at, p.held_level = old, level_of(f, spot)
                break
            f.looked += 1
            p.slides = True
            p.slid_to = spot
    else:
        old = p.until        # it may come before the horizon, where no nodes are free up to it
    if p.slides:
        slid = at_of(f, p.slid_to)
    if gaps.top <= class_of(need):
        return slid
    # Or in a gap before that.
    limit = min(old, slid)
    gap = gap_that_admits(gaps, need, s.remaining[job], limit, &since, &shut)
    while gap != NULL:
        stop = min(limit, gap.end)
        longest = 0.0
        found = hole(p, s, job, max(since, s.now), stop, &longest)
        refuse(gap, need, max(shut, <float>(longest * (1.0 + 1.5e-7))), min(found, stop))
        if found != INFINITY:
            p.slides = False
            return found
        if since == gap.begin:
            gaps_measured(gaps, need, gap.begin, stop, longest)
        since = stop
        gap = gap_that_admits(gaps, need, s.remaining[job], limit, &since, &shut)
    return slid


cdef void begin_lists(plan_t *p, const sim_t *s) noexcept nogil:
    cdef const queue_t *q = &s.queue
    p.listed = True
    profile_list(&p.free)
    p.gaps.top = p.gaps.tallest = 0
    if p.gaps.good == 0:
        gaps_want(&p.gaps, &q.need[q.head], &q.least[q.head], q.end - q.head)


cdef int list_all(plan_t *p, const sim_t *s) noexcept nogil:
    cdef int32_t i, job
    begin_lists(p, s)
    for i in range(s.queue.head, s.queue.end):
        job = s.queue.job[i]
        if p.begin[job] < INFINITY and link(p, job, p.begin[job], p.end[job]) < 0:
            return NO_MEMORY
    return OK


cdef int reserve(plan_t *p, const sim_t *s, int32_t job, double begin) noexcept nogil:
    cdef double old
    if not p.listed:
        old = p.begin[job]
        if old != INFINITY:
            if profile_add(&p.free, p, old, p.end[job], s.need[job]) < 0:
                return NO_MEMORY
            freed(p, s, old, p.end[job], s.need[job])
        p.begin[job] = begin
        p.end[job] = end_if_started_at(s, job, begin)
        return profile_add(&p.free, p, begin, p.end[job], -s.need[job])
    return slide(p, s, job, begin) if p.slides else move(p, s, job, begin)
