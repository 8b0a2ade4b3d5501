"""The plan of conservative backfilling on clusters; the contract is in counted_plan.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint32_t

from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.queue cimport TOGETHER, least_of
from faultsim._core.scheduling.profile cimport (
    at_of, block_at, level_of, profile_add, profile_add_at, profile_append, profile_reset, profile_rise, profile_t,
    spot_of, spot_t, step_back, step_on, steps_t,
)
from faultsim._core.state cimport end_if_started_at, usable
from faultsim._core.status cimport NO_MEMORY, OK


cdef int plan_reset(plan_t *p, sim_t *s) noexcept nogil:
    cdef const release_t *items = releases_all(&s.releases)
    cdef int32_t i = 0, level = usable(s)
    cdef double end
    # Nodes whose release is overdue count from now on (model.md#holes).
    while i < s.releases.n and items[i].end <= s.now:
        level += items[i].nodes
        i += 1
    profile_reset(&p.free, s.now, level)
    while i < s.releases.n and items[i].end < INFINITY:
        end = items[i].end
        while i < s.releases.n and items[i].end == end:
            level += items[i].nodes
            i += 1
        if profile_append(&p.free, p, end, level) < 0:
            return NO_MEMORY
    p.n_refusals = p.next_refusal = 0
    p.held_at = -INFINITY
    p.soonest = p.until = INFINITY
    no_gain(&p.gain)
    return OK


cdef inline double rounded_up(double begin, double end) noexcept nogil:
    """The length of a stretch of time, rounded up: the end of a job is a sum of doubles."""
    return ((end - begin) + 4e-15 * (begin + end)) * (1.0 + 3e-7) + 1e-30


cdef void draw_in(plan_t *p) noexcept nogil:
    """Nodes were given back just before the horizon: it moves to the end of the last step without free nodes."""
    cdef profile_t *f = &p.free
    cdef spot_t spot = spot_of(f, p.until)
    if at_of(f, spot) >= p.until and not step_back(f, &spot):
        return
    while level_of(f, spot) > 0:
        p.until = at_of(f, spot)
        if not step_back(f, &spot):
            return


cdef int plan_give(plan_t *p, const sim_t *s, double begin, double end, int32_t nodes) noexcept nogil:
    cdef profile_t *f = &p.free
    cdef spot_t here, spot
    cdef gain_t gain
    cdef double low, high
    if not begin < end:
        return OK
    if profile_add_at(f, p, begin, end, nodes, &here) < 0:
        return NO_MEMORY
    p.n_refusals = p.next_refusal = 0
    p.held_at = -INFINITY
    if not begin < p.until or end <= s.now:
        return OK
    if end >= p.until:
        draw_in(p)
        if not begin < p.until:
            return OK
        end = min(end, p.until)
    if begin < s.now:
        begin, here = s.now, spot_of(f, s.now)
    gain.peak = 0
    low, high = at_of(f, here), INFINITY
    spot = here
    while True:
        gain.peak = max(gain.peak, level_of(f, spot))
        f.looked += 1
        if not step_on(f, &spot) or at_of(f, spot) >= end:
            break
    if p.until < INFINITY:
        # Nodes are free all over [begin, end); where does the stretch end that it is part of?
        while level_of(f, spot) > 0 and step_on(f, &spot):
            f.looked += 1
        high = at_of(f, spot)
        spot = here
        while low > s.now and step_back(f, &spot) and level_of(f, spot) > 0:
            low = at_of(f, spot)
            f.looked += 1
    gain.begin, gain.end = begin, end
    gain.longest = rounded_up(max(low, s.now), high) if p.until < INFINITY else INFINITY
    add_gain(&p.gain, &gain)
    return OK


cdef double hole(plan_t *p, const sim_t *s, int32_t job, double t, double stop, double *longest) noexcept nogil:
    """The earliest time from `t` on and before `stop` at which `job` fits for all of its expected duration; inf: none.

    Nodes whose release is overdue count from now on, although they are not free yet (model.md#holes): such a hole is at
    `now`, and the job waits.  `longest`: the stretches that were too short are shorter.
    """
    cdef profile_t *f = &p.free
    cdef int32_t need = s.need[job], i = 0, b = 0, first
    cdef double end
    cdef spot_t spot
    cdef const steps_t *steps
    if t > f.begins[0]:
        spot = spot_of(f, t)
        b, i = spot.b, spot.i
    steps = block_at(f, b)
    # Invariant: no hole begins before `t`, and step (b, i) holds at `t`.
    while True:
        # The first step with enough nodes; a block whose highest level is too low is skipped as a whole.
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
        # The first later step with too few nodes.
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


cdef inline bint says_no_more(const refusal_t *a, const refusal_t *b) noexcept nogil:
    """Whether everything that `a` refuses is refused by `b`, too."""
    return a.need >= b.need and a.least >= b.least and a.until <= b.until


cdef void remember(plan_t *p, const refusal_t *refusal) noexcept nogil:
    """In the place of one that says no more, else of the oldest."""
    cdef int32_t i = 0
    while i < p.n_refusals and not says_no_more(&p.refusal[i], refusal):
        i += 1
    if i == p.n_refusals:
        if p.n_refusals < p.limit.refusals:
            p.n_refusals += 1
        else:
            i = p.next_refusal
            p.next_refusal = (i + 1) % p.limit.refusals
    p.refusal[i] = refusal[0]


cdef double earliest_hole(plan_t *p, const sim_t *s, int32_t job, double stop) noexcept nogil:
    cdef double t = p.free.begins[0], longest = 0.0, found
    cdef refusal_t new
    cdef const refusal_t *old
    cdef int32_t i
    new.need, new.least = s.need[job], s.remaining[job]
    for i in range(p.n_refusals):
        old = &p.refusal[i]
        if old.until > t and old.need <= new.need and old.least <= new.least:
            t, longest = old.until, old.least
            if t >= stop:
                return INFINITY
    found = hole(p, s, job, t, stop, &longest)
    # Every earlier stretch with enough nodes is shorter than `longest`.
    new.until, new.least = min(found, stop), longest
    remember(p, &new)
    return found


cdef double joined_hole(plan_t *p, const sim_t *s, int32_t job) noexcept nogil:
    cdef profile_t *f = &p.free
    cdef int32_t need = s.need[job]
    cdef double begin = p.begin[job], t = begin
    cdef spot_t spot
    if begin == p.held_at and need > p.held_level:
        return INFINITY
    spot = spot_of(f, begin)
    if at_of(f, spot) == begin and not step_back(f, &spot):
        return INFINITY
    p.held_at, p.held_level = begin, level_of(f, spot)
    # Invariant: enough nodes are free from `t` up to the reservation.
    while level_of(f, spot) >= need:
        f.looked += 1
        t = at_of(f, spot)
        if not step_back(f, &spot):
            break
    return t if t < begin else INFINITY


cdef int plan_reserve(plan_t *p, const sim_t *s, int32_t job, double begin) noexcept nogil:
    cdef double old = p.begin[job], old_end = p.end[job], end = end_if_started_at(s, job, begin)
    cdef int32_t need = s.need[job]
    p.begin[job], p.end[job] = begin, end
    p.soonest = min(p.soonest, begin)
    if old == INFINITY:
        return profile_add(&p.free, p, begin, end, -need)
    # Nodes that the job has and keeps are not given back in between.
    if profile_add(&p.free, p, begin, min(end, old), -need) < 0:
        return NO_MEMORY
    return plan_give(p, s, max(end, old), old_end, need)


cdef uint32_t not_refused(const plan_t *p, const queue_t *q, int32_t at, int32_t n, double stop) noexcept nogil:
    cdef int32_t refused[TOGETHER]
    cdef int32_t i, k, need
    cdef uint32_t bits = 0
    cdef float least
    for k in range(TOGETHER):
        refused[k] = 0
    if stop < INFINITY:
        for i in range(p.n_refusals):
            if p.refusal[i].until < stop:
                continue
            need, least = p.refusal[i].need, least_of(p.refusal[i].least)
            if n == TOGETHER:
                for k in range(TOGETHER):        # the compiler makes vectors of this
                    refused[k] |= (q.need[at + k] >= need) & (q.least[at + k] > least)
            else:
                for k in range(n):
                    refused[k] |= (q.need[at + k] >= need) & (q.least[at + k] > least)
    for k in range(n):
        bits |= <uint32_t>(refused[k] == 0) << k
    return bits
