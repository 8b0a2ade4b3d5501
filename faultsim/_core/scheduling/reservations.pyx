"""Reservations in a plan of free nodes; the contract is in reservations.pxd."""

from libc.float cimport FLT_MAX
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memset

from faultsim._core.queue cimport TOGETHER, least_of
from faultsim._core.scheduling.gaps cimport (
    class_of, gap_t, gap_that_admits, gaps_measured, gaps_none, gaps_one_less, gaps_one_more, gaps_t, gaps_tell,
    gaps_want, gaps_want_again, refuse, rounded_up,
)
from faultsim._core.scheduling.profile cimport (
    at_of, block_at, level_of, profile_add, profile_add_at, profile_cut, profile_list, profile_rise, profile_t,
    profile_tidy, spot_of, spot_t, step_back, step_on, steps_t,
)
from faultsim._core.scheduling.waiting cimport LANES, line_t, next_group, next_place, wait_no_more, wait_on
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


cdef inline void link_in(plan_t *p, int32_t job, spot_t spot) noexcept nogil:
    """The job comes into the list of a step."""
    cdef int32_t *first = &block_at(&p.free, spot.b).first[spot.i]
    p.next[job], p.before[job] = first[0], -1
    if first[0] >= 0:
        p.before[first[0]] = job
    first[0] = job


cdef int link(plan_t *p, int32_t job, double begin, double end) noexcept nogil:
    cdef spot_t spot
    if profile_cut(&p.free, p, begin, &spot) < 0:
        return NO_MEMORY
    link_in(p, job, spot)
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


cdef int give_back(plan_t *p, const sim_t *s, double begin, double end, int32_t nodes) noexcept nogil:
    cdef profile_t *f = &p.free
    cdef spot_t here, spot
    cdef int32_t level, least, most, job
    if not begin < end:
        return OK
    if profile_add_at(f, p, begin, end, nodes, &here) < 0:
        return NO_MEMORY
    p.n_found = 0
    p.held_at = -INFINITY
    if not p.listed:
        p.gained = max(p.gained, end)
        return OK
    if s.queue.head == s.queue.end or end <= s.now:
        return OK
    if begin < s.now:
        begin, here = s.now, spot_of(f, s.now)
    if p.until < INFINITY:
        if begin < p.until and p.until <= end:
            draw_in(p, end)
        if not begin < p.until:
            return OK
        end = min(end, p.until)
    spot = here
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
    return OK


cdef int move(plan_t *p, const sim_t *s, int32_t job, double begin) noexcept nogil:
    """Give a job without a reservation one at `begin`, or one that has one an earlier one."""
    cdef double old = p.begin[job], old_end = p.end[job], end = end_if_started_at(s, job, begin)
    cdef int32_t need = s.need[job]
    cdef spot_t spot
    if old < INFINITY:
        unlink(p, job)
    # What it has already is not given back in between.
    if begin < end and profile_add_at(&p.free, p, begin, min(end, old), -need, &spot) < 0:
        return NO_MEMORY
    if begin < end and at_of(&p.free, spot) == begin:
        link_in(p, job, spot)
        p.begin[job], p.end[job] = begin, end
    elif link(p, job, begin, end) < 0:
        return NO_MEMORY
    return OK if old == INFINITY else give_back(p, s, max(end, old), old_end, need)


cdef int slide(plan_t *p, const sim_t *s, int32_t job, double begin) noexcept nogil:
    """`move` where a job moves up as `earlier_hole` has found, and both places are known."""
    cdef profile_t *f = &p.free
    cdef double old = p.begin[job], old_end = p.end[job], end = end_if_started_at(s, job, begin)
    cdef int32_t need = s.need[job]
    cdef spot_t spot = p.slid_to
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
    link_in(p, job, p.slid_to)
    p.begin[job], p.end[job] = begin, end
    profile_tidy(f, spot)
    return give_back(p, s, end, old_end, need)


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


cdef double first_hole(plan_t *p, sim_t *s, int32_t job, double stop) noexcept nogil:
    cdef double t = p.free.begins[0], longest = 0.0, remaining = s.remaining[job], found, least = 0.0
    cdef int32_t need = s.need[job], i
    p.slides = False
    # As long as the plan only fills nobody fits before one who asked for no more.
    for i in range(p.n_found):
        if p.need[i] <= need and p.least[i] <= remaining and p.found[i] > t:
            t, least = p.found[i], p.least[i]
            if t >= stop:
                return INFINITY
    found = hole(p, s, job, t, stop, &longest)
    t = min(found, stop)
    least = max(least, longest)
    # Where one that says no more is known its place is taken, else that of the first found.
    i = 0
    while i < p.n_found and not (p.need[i] >= need and p.least[i] >= least and p.found[i] <= t):
        i += 1
    if i == p.n_found:
        if p.n_found < FOUND:
            p.n_found += 1
        else:
            i = p.oldest
            p.oldest = (p.oldest + 1) % FOUND
    p.need[i], p.least[i], p.found[i] = need, least, t
    p.n_holes += 1
    p.newest = i
    # And no others are needed that say no more.
    i += 1
    while i < p.n_found:
        if p.need[i] >= need and p.least[i] >= least and p.found[i] <= t:
            p.n_found -= 1
            p.need[i], p.least[i], p.found[i] = p.need[p.n_found], p.least[p.n_found], p.found[p.n_found]
        else:
            i += 1
    return found


cdef void set_bound(const plan_t *p, hope_t *hope, const line_t *line) noexcept nogil:
    """Whoever of a class takes longer is refused, however few nodes it needs."""
    cdef float *most = hope.bound.most
    cdef int32_t i, c
    for c in range(line.classes):
        most[c] = FLT_MAX
    for i in range(p.n_found):
        if p.found[i] >= hope.stop:
            c = class_of(p.need[i])
            if p.need[i] & (p.need[i] - 1):
                c += 1               # there are smaller ones in the class
            if c < line.classes:
                most[c] = min(most[c], least_of(p.least[i]))
    for c in range(1, line.classes):
        most[c] = min(most[c], most[c - 1])
    for c in range(line.classes, LANES):
        most[c] = most[c - line.classes]


cdef inline void refuse_together(const plan_t *p, hope_t *hope, const line_t *line, int32_t i) noexcept nogil:
    """Whoever of the group asks for as much as one who was refused is, too."""
    cdef const int32_t *need = line.need + TOGETHER * hope.group
    cdef const float *least = line.least + TOGETHER * hope.group
    cdef int32_t needs = p.need[i], k
    cdef float takes = least_of(p.least[i])
    if p.found[i] >= hope.stop:
        for k in range(TOGETHER):        # the compiler makes vectors of this
            hope.refused[k] |= (need[k] >= needs) & (least[k] > takes)


cdef void ask_together(const plan_t *p, hope_t *hope, const line_t *line) noexcept nogil:
    """Who of the group is refused, or does not wait?"""
    cdef const float *least = line.least + TOGETHER * hope.group
    cdef int32_t i, k
    for k in range(TOGETHER):
        hope.refused[k] = not least[k] <= <float>FLT_MAX
    for i in range(p.n_found):
        refuse_together(p, hope, line, i)
    hope.asked = p.n_holes


cdef int32_t next_hopeful(const plan_t *p, hope_t *hope, const line_t *line, int32_t at, int32_t end,
                          double stop) noexcept nogil:
    cdef int32_t first
    if stop != hope.stop:
        hope.group = -1
    while at < end:
        # As long as the plan only fills, who was refused still is.
        if at // TOGETHER != hope.group:
            if line.rows != NULL and (hope.group < 0 or hope.n_holes != p.n_holes):
                hope.stop, hope.n_holes = stop, p.n_holes
                set_bound(p, hope, line)
            hope.stop = stop
            at = next_group(line, &hope.bound, at, end)
            if at >= end:
                return end
            hope.group = at // TOGETHER
            if TOGETHER * hope.group + TOGETHER > line.room:
                hope.group = -1
                return next_place(line, at, end)
            ask_together(p, hope, line)
        elif hope.asked != p.n_holes:
            if hope.asked + 1 == p.n_holes:
                refuse_together(p, hope, line, p.newest)
                hope.asked = p.n_holes
            else:
                ask_together(p, hope, line)
        first = TOGETHER * hope.group
        while at < end and at < first + TOGETHER:
            if not hope.refused[at - first]:
                return at
            at += 1
    return end


cdef void comes(plan_t *p, const sim_t *s, int32_t job) noexcept nogil:
    cdef float least = least_of(s.remaining[job])
    p.begin[job] = INFINITY
    mark(p, job)
    wait_on(&p.waiting, job, s.need[job], least)
    gaps_one_more(&p.gaps, s.need[job], least)


cdef void leaves(plan_t *p, const sim_t *s, int32_t job) noexcept nogil:
    p.begin[job] = INFINITY
    gaps_one_less(&p.gaps, s.need[job], p.waiting.least[job])
    wait_no_more(&p.waiting, job)


cdef void drop_all(plan_t *p, const sim_t *s) noexcept nogil:
    cdef const queue_t *q = &s.queue
    cdef const profile_t *f = &p.free
    cdef const steps_t *steps
    cdef int32_t i, b, job
    if p.listed:
        for b in range(f.n):
            steps = block_at(f, b)
            for i in range(steps.n):
                job = steps.first[i]
                while job >= 0:
                    p.begin[job] = INFINITY
                    job = p.next[job]
    else:
        for i in range(q.head, q.end):
            p.begin[q.job[i]] = INFINITY
    if q.head == q.end:
        return
    if is_by_number(s):
        i = q.job[q.head] >> 6
        memset(&p.marked[i], 0, <size_t>((q.job[q.end - 1] >> 6) - i + 1) * sizeof(uint64_t))
        return
    for i in range(q.head, q.end):
        unmark(p, q.job[i])


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
        refuse(gaps, gap, need, max(shut, <float>(longest * (1.0 + 1.5e-7))), min(found, stop))
        if found != INFINITY:
            p.slides = False
            return found
        if since == gap.begin:
            gaps_measured(gaps, need, gap.begin, stop, longest)
        since = stop
        gap = gap_that_admits(gaps, need, s.remaining[job], limit, &since, &shut)
    return slid


cdef void want(plan_t *p, const sim_t *s) noexcept nogil:
    cdef line_t line
    if p.gaps.good > 0 or s.queue.head == s.queue.end:
        return
    line = plan_line(p, s)
    if line.rows != NULL:
        gaps_want_again(&p.gaps, &line)
    else:
        gaps_want(&p.gaps, &line.need[line.begin], &line.least[line.begin], line.end - line.begin)


cdef void begin_lists(plan_t *p, const sim_t *s) noexcept nogil:
    p.listed = True
    profile_list(&p.free)
    gaps_none(&p.gaps)
    want(p, s)


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
        if old != INFINITY and give_back(p, s, old, p.end[job], s.need[job]) < 0:
            return NO_MEMORY
        p.begin[job] = begin
        p.end[job] = end_if_started_at(s, job, begin)
        return profile_add(&p.free, p, begin, p.end[job], -s.need[job])
    return slide(p, s, job, begin) if p.slides else move(p, s, job, begin)
