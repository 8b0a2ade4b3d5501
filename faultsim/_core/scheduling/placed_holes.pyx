"""Where a plan has room for a job; the contract is in placed_holes.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memset

from faultsim._core.avoidance cimport choose_growing
from faultsim._core.containers.bits cimport mask_count, mask_join
from faultsim._core.scheduling.placed_plan cimport meet, plan_t, put_alone
from faultsim._core.scheduling.refusals cimport refuse_until, refused_until, surely_before
from faultsim._core.scheduling.steps cimport step_at, step_t, taken_at
from faultsim._core.state cimport end_if_started_at, sim_t
from faultsim._core.tables.machine cimport machine_t, permit_t, place_t


cdef bint is_touched(const plan_t *p, int32_t job) noexcept nogil:
    cdef const step_t *step = p.steps.step
    cdef double begin = p.begin[job], end = p.end[job]
    cdef int32_t i
    if not p.sure or p.seen[job] <= p.trusted:
        return True
    if not meet(&p.changed, begin, end) and not meet(&p.changed_before, begin, end):
        return False
    i = step_at(&p.steps, begin)
    while True:
        if step[i].stamp > p.seen[job]:
            return True
        i += 1
        if i == p.steps.n or step[i].at >= end:
            return False


cdef inline int32_t largest_size(const plan_t *p, const sim_t *s, int32_t job, bint head) noexcept nogil:
    return s.nodes if head else s.need[job] + p.max_growth


cdef bint has_place(sim_t *s, const uint64_t *mask, int32_t size, int32_t limit) noexcept nogil:
    """Whether some place of a size in [size, limit] is free."""
    cdef machine_t *m = &s.machine
    if limit >= s.nodes:
        return m.has_free(m.state, mask, size)
    while size != 0 and size <= limit:
        if m.has_place(m.state, mask, size):
            return True
        size = m.next_size(m.state, size + 1)
    return False


cdef inline void join_step(plan_t *p, int32_t i, bint mine, uint64_t *into) noexcept nogil:
    """What others take in a step; `mine`: the reservation in p.own is in this step."""
    cdef const uint64_t *taken = taken_at(&p.steps, i)
    cdef int32_t k
    if mine:
        for k in range(p.steps.words):
            into[k] |= taken[k] & ~p.own[k]
    else:
        for k in range(p.steps.words):
            into[k] |= taken[k]


cdef inline bint is_mine(const plan_t *p, const sim_t *s, int32_t job, int32_t i) noexcept nogil:
    cdef double t = p.steps.step[i].at
    if t < s.now:
        t = s.now
    return p.begin[job] <= t and t < p.end[job]


cdef void find_window(plan_t *p, sim_t *s, int32_t job, double t, double end) noexcept nogil:
    """p.window: what others take in [t, end), or at t if that is empty."""
    cdef const step_t *step = p.steps.step
    cdef int32_t i = step_at(&p.steps, t)
    memset(p.window, 0, <size_t>p.steps.words * sizeof(uint64_t))
    while True:
        join_step(p, i, is_mine(p, s, job, i), p.window)
        s.work.steps += 1
        i += 1
        if i == p.steps.n or step[i].at >= end:
            return


cdef int32_t first_hole(plan_t *p, sim_t *s, int32_t job, bint head, double stop) noexcept nogil:
    """The earliest step that begins, or is now, before `stop`, from which on a place is free for long enough; -1: none.

    p.window is then what is taken.  The job's own reservation (p.own) is as good as free.
    """
    cdef const step_t *step = p.steps.step
    cdef int32_t need = s.need[job], limit = largest_size(p, s, job, head), i = 0, k
    cdef size_t bytes = <size_t>p.steps.words * sizeof(uint64_t)
    cdef double owed = s.track.owed[job] if s.track.on and s.restarts[job] > 0 else 0.0, t, end
    cdef bint room
    if not head:
        t = refused_until(&p.refused, need, owed, s.remaining[job])
        if p.begin[job] < INFINITY:
            # From here on its own reservation may be in the way.
            t = min(t, surely_before(p.begin[job], s.start_delay + owed + s.remaining[job]))
        if t >= stop:
            return -1
        if t > s.now:
            i = step_at(&p.steps, t)
    while i < p.steps.n:
        t = step[i].at if step[i].at > s.now else s.now
        s.work.steps += 1
        if t >= stop:
            break
        if step[i].left < need and not is_mine(p, s, job, i):
            i += 1
            continue
        end = end_if_started_at(s, job, t)
        memset(p.window, 0, bytes)
        k = i
        room = True
        while room and (k == i or (k < p.steps.n and step[k].at < end)):
            join_step(p, k, is_mine(p, s, job, k), p.window)
            s.work.steps += 1
            room = s.nodes - mask_count(p.window, p.steps.words) >= need
            k += 1
        if room and has_place(s, p.window, need, limit):
            if not head:
                refuse_until(&p.refused, need, owed, s.remaining[job], t)
            return i
        if room:
            i += 1
            continue
        # Whatever begins later and takes in as much before this step has no room either.
        memset(p.window, 0, bytes)
        i = k
        while True:
            i -= 1
            s.work.steps += 1
            join_step(p, i, is_mine(p, s, job, i), p.window)
            if s.nodes - mask_count(p.window, p.steps.words) < need:
                break
        i += 1
    if not head:
        refuse_until(&p.refused, need, owed, s.remaining[job], stop)
    return -1


cdef int choose_at(plan_t *p, sim_t *s, int32_t job, bint head, double t, bint starts, place_t *place) noexcept nogil:
    """The size of the place that the rule gives a job from t on, clear of p.window; 0: there is none; < 0: a code."""
    cdef permit_t permit
    cdef int32_t i = step_at(&p.steps, t)
    memset(p.instant, 0, <size_t>p.steps.words * sizeof(uint64_t))
    join_step(p, i, is_mine(p, s, job, i), p.instant)
    if starts:
        mask_join(p.instant, s.machine.occ, p.steps.words)
        mask_join(p.window, s.machine.occ, p.steps.words)
    memset(&permit, 0, sizeof(permit))
    permit.forbidden = p.window
    return choose_growing(s, job, t, p.instant, largest_size(p, s, job, head), &permit, starts, place)


cdef int find_hole(plan_t *p, sim_t *s, int32_t job, bint head, double *begin, place_t *place,
                   bint *starts) noexcept nogil:
    cdef double old = p.begin[job], stop = old
    cdef int32_t i = -1
    cdef int size
    if old != INFINITY:
        put_alone(s, p.own, &p.place[job])
    if old != INFINITY and p.freed.end < stop and (not head or p.head == job):
        stop = p.freed.end
    if old == s.now:
        find_window(p, s, job, s.now, end_if_started_at(s, job, s.now))
        i = 0
    elif s.now < stop:
        i = first_hole(p, s, job, head, stop)
    if i >= 0:
        begin[0] = p.steps.step[i].at
        if begin[0] <= s.now:
            begin[0] = s.now
            starts[0] = True
            size = choose_at(p, s, job, head, s.now, True, place)
            if size != 0:
                return size
            # A hole at now that counts on nodes of an overrun job is not one to start in.
            find_window(p, s, job, s.now, end_if_started_at(s, job, s.now))
        starts[0] = False
        return choose_at(p, s, job, head, begin[0], False, place)
    starts[0] = False
    begin[0] = old
    if old == INFINITY or not ((head and p.head != job) or is_touched(p, job)):
        return 0
    find_window(p, s, job, old, end_if_started_at(s, job, old))
    if p.sure and old < p.end[job] and s.nodes - mask_count(p.window, p.steps.words) == p.nodes[job]:
        return 0                 # nothing is free but its own place
    return choose_at(p, s, job, head, old, False, place)
