"""What all reservations and what runs take, and where that has room; the contract is in placed_plan.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memset

from faultsim._core.avoidance cimport choose_growing
from faultsim._core.containers.bits cimport mask_count, mask_join
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.scheduling.refusals cimport refuse_from, refuse_none, refuse_until, refused_until, surely_before
from faultsim._core.scheduling.steps cimport (
    outline_at, step_at, step_t, steps_before, steps_begin, steps_give, steps_take, taken_at,
)
from faultsim._core.state cimport ask_of, end_if_started_at, nodes_asked, sim_t
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.machine cimport (
    machine_t, outline_grows, outline_join, outline_lift, outline_t, permit_t, place_t,
)

# ---------------------------------------------------------------------------------------------------------- the plan

cdef int take(plan_t *p, sim_t *s, double begin, double end, const place_t *place) noexcept nogil:
    if not begin < end or end <= s.now:
        return OK
    put_alone(s, p.window, place)
    widen(&p.changed, begin, end)
    return steps_take(p, &p.steps, &s.machine, s.now, begin, end, p.window)


cdef void give(plan_t *p, sim_t *s, double begin, double end, const place_t *place) noexcept nogil:
    if not begin < end or end <= s.now:
        return
    put_alone(s, p.window, place)
    widen(&p.changed, begin, end)
    steps_give(&p.steps, &s.machine, s.now, begin, end, p.window)
    refuse_from(&p.refused, s.now, s.start_delay, begin)


cdef inline void add_release(plan_t *p, sim_t *s, int32_t i) noexcept nogil:
    """What comes back with a release into p.window."""
    cdef machine_t *m = &s.machine
    cdef int32_t job = releases_all(&s.releases)[i].job
    cdef place_t place
    if job < 0:
        m.mark(m.state, p.window, -1 - job)
    else:
        place = m.place_of(m.state, job)
        m.put(m.state, p.window, &place)


cdef int build(plan_t *p, sim_t *s) noexcept nogil:
    cdef const release_t *items = releases_all(&s.releases)
    cdef machine_t *m = &s.machine
    cdef int32_t i, edges
    cdef double end
    memset(p.window, 0, <size_t>m.words * sizeof(uint64_t))
    if s.trace.n_down > 0 and not s.trace.repairs_known:
        for i in range(s.nodes):
            if s.trace.down[i]:
                m.mark(m.state, p.window, i)
    i = s.releases.n - 1
    while i >= 0 and items[i].end == INFINITY:
        add_release(p, s, i)
        i -= 1
    if steps_begin(p, &p.steps, m, s.now, p.window) < 0:
        return NO_MEMORY
    # From the last release to the first: each ends a step, in which it is taken and so is all that ends later.
    while i >= 0 and items[i].end > s.now:
        end = items[i].end
        edges = 0
        memset(p.window, 0, <size_t>m.words * sizeof(uint64_t))
        while i >= 0 and items[i].end == end:
            add_release(p, s, i)
            edges += 1
            i -= 1
        if steps_before(p, &p.steps, m, s.now, end, edges, p.window) < 0:
            return NO_MEMORY
    for i in range(s.queue.head, s.queue.end):
        p.begin[s.queue.job[i]] = INFINITY
    refuse_none(&p.refused)
    empty(&p.freed)
    return OK


# ------------------------------------------------------------------------------------------------- where it has room

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


cdef bint has_place(sim_t *s, const uint64_t *mask, int32_t ask, int32_t limit) noexcept nogil:
    """Whether some place of a size in [ask, limit], or of its shape, is free."""
    cdef machine_t *m = &s.machine
    if limit >= s.nodes or nodes_asked(s, ask) != ask:
        return m.has_free(m.state, mask, ask)
    while ask != 0 and ask <= limit:
        if m.has_place(m.state, mask, ask):
            return True
        ask = m.next_size(m.state, ask + 1)
    return False


cdef inline void join_step(plan_t *p, int32_t i, bint mine, uint64_t *into) noexcept nogil:
    """What others take in a step; `mine`: the reservation in p.own is in this step."""
    cdef const uint64_t *taken = taken_at(&p.steps, i)
    cdef const uint64_t *own = p.own
    cdef int32_t k, words = p.steps.words
    if mine:
        for k in range(words):
            into[k] |= taken[k] & ~own[k]
    else:
        for k in range(words):
            into[k] |= taken[k]


cdef bint widens(plan_t *p, int32_t i, bint mine, uint64_t *into) noexcept nogil:
    """`join_step`; did it add anything?"""
    cdef const uint64_t *taken = taken_at(&p.steps, i)
    cdef const uint64_t *own = p.own
    cdef uint64_t more, added = 0
    cdef int32_t k, words = p.steps.words
    if mine:
        for k in range(words):
            more = taken[k] & ~own[k]
            added |= more & ~into[k]
            into[k] |= more
    else:
        for k in range(words):
            added |= taken[k] & ~into[k]
            into[k] |= taken[k]
    return added != 0


cdef inline bint is_mine(const plan_t *p, const sim_t *s, int32_t job, int32_t i) noexcept nogil:
    cdef double t = p.steps.step[i].at
    if t < s.now:
        t = s.now
    return p.begin[job] <= t and t < p.end[job]


cdef inline bint is_by_parts(const sim_t *s, int32_t job) noexcept nogil:
    return s.machine.part > 0 and s.need[job] >= s.machine.part


cdef inline outline_t own_parts(plan_t *p, sim_t *s, int32_t job) noexcept nogil:
    """The outline of p.own, of a job that has a reservation; else nothing."""
    cdef outline_t own
    memset(&own, 0, sizeof(own))
    if p.begin[job] < INFINITY:
        s.machine.trace(s.machine.state, p.own, 0, s.machine.words, &own)
    return own


cdef inline int32_t next_begin(const plan_t *p, int32_t i, double end) noexcept nogil:
    """The first step after step i, and before `end`, with which something begins; steps.n: none.  What is taken in the
    others was taken before, too.
    """
    cdef const step_t *step = p.steps.step
    i += 1
    while i < p.steps.n and step[i].at < end:
        if step[i].begins > 0:
            return i
        i += 1
    return p.steps.n


cdef void find_window(plan_t *p, sim_t *s, int32_t job, double t, double end) noexcept nogil:
    """p.window: what others take in [t, end), or at t if that is empty; of parts that are taken, all nodes, if the job
    needs whole ones.
    """
    cdef const machine_t *m = &s.machine
    cdef int32_t i = step_at(&p.steps, t)
    cdef outline_t taken, own
    memset(p.window, 0, <size_t>p.steps.words * sizeof(uint64_t))
    if is_by_parts(s, job):
        own = own_parts(p, s, job)
        memset(&taken, 0, sizeof(taken))
        while i < p.steps.n:
            widens_parts(p, s, job, i, &own, &taken)
            i = next_begin(p, i, end)
        m.fill(m.state, &taken, p.window)
        return
    while i < p.steps.n:
        join_step(p, i, is_mine(p, s, job, i), p.window)
        s.work.steps += 1
        i = next_begin(p, i, end)


cdef int32_t begin_search(plan_t *p, sim_t *s, int32_t job, bint head, double owed, double stop) noexcept nogil:
    """The step from which on there may be a hole; -1: there is none before `stop`."""
    cdef double t
    if head:
        return 0
    t = refused_until(&p.refused, ask_of(s, job), owed, s.remaining[job])
    if p.begin[job] < INFINITY:
        # From here on its own reservation may be in the way.
        t = min(t, surely_before(p.begin[job], s.start_delay + owed + s.remaining[job]))
    if t >= stop:
        return -1
    return step_at(&p.steps, t) if t > s.now else 0


cdef inline bint may_have_place(sim_t *s, const uint64_t *mask, int32_t ask, int32_t limit) noexcept nogil:
    """Whether a place is free, where that is soon found, else whether so many nodes are."""
    if s.machine.part > 0:
        return has_place(s, mask, ask, limit)
    return s.nodes - mask_count(mask, s.machine.words) >= nodes_asked(s, ask)


cdef int32_t hole_by_nodes(plan_t *p, sim_t *s, int32_t job, bint head, double stop, int32_t i) noexcept nogil:
    """`first_hole` from step i on, which joins masks."""
    cdef const step_t *step = p.steps.step
    cdef int32_t need = s.need[job], ask = ask_of(s, job), limit = largest_size(p, s, job, head), k, last
    cdef size_t bytes = <size_t>p.steps.words * sizeof(uint64_t)
    cdef double t, end
    cdef bint room
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
        k = last = i
        room = True
        while room and k < p.steps.n:
            if widens(p, k, is_mine(p, s, job, k), p.window):
                room = may_have_place(s, p.window, ask, limit)
            s.work.steps += 1
            last = k
            k = next_begin(p, k, end)
        if room and has_place(s, p.window, ask, limit):
            return i
        if room:
            i += 1
            continue
        # Whatever begins later and takes in as much before this step has no room either.
        memset(p.window, 0, bytes)
        i = last + 1
        while True:
            i -= 1
            s.work.steps += 1
            if widens(p, i, is_mine(p, s, job, i), p.window) and not may_have_place(s, p.window, ask, limit):
                break
        i += 1
    return -1


cdef inline bint widens_parts(plan_t *p, sim_t *s, int32_t job, int32_t i, const outline_t *own,
                              outline_t *taken) noexcept nogil:
    """The outline of what others take in a step into `taken`; did it add anything?"""
    cdef outline_t more = outline_at(&p.steps, i)[0]
    s.work.steps += 1
    if is_mine(p, s, job, i):
        outline_lift(&more, own)
    if not outline_grows(taken, &more):
        return False
    outline_join(taken, &more)
    return True


cdef inline bint has_room(sim_t *s, const outline_t *taken, int32_t ask, int32_t limit) noexcept nogil:
    s.work.probes += 1
    return s.machine.has_beside(s.machine.state, taken, ask, limit, NULL, 0)


cdef int32_t hole_by_parts(plan_t *p, sim_t *s, int32_t job, bint head, double stop, int32_t i) noexcept nogil:
    """The same of a job that needs whole parts of the machine, which joins outlines."""
    cdef const machine_t *m = &s.machine
    cdef const step_t *step = p.steps.step
    cdef int32_t need = s.need[job], ask = ask_of(s, job), limit = largest_size(p, s, job, head), k, last
    cdef double t, end
    cdef bint room, is_full = False
    cdef outline_t taken, full, own = own_parts(p, s, job)
    memset(&full, 0, sizeof(full))
    while i < p.steps.n:
        t = step[i].at if step[i].at > s.now else s.now
        if t >= stop:
            break
        if step[i].left < need and not is_mine(p, s, job, i):
            i += 1
            continue
        memset(&taken, 0, sizeof(taken))
        widens_parts(p, s, job, i, &own, &taken)
        # Where nothing is free that was not when there was no room, there is none.
        if is_full and not outline_grows(&taken, &full):
            i += 1
            continue
        if not has_room(s, &taken, ask, limit):
            is_full, full = True, taken
            i += 1
            continue
        end = end_if_started_at(s, job, t)
        room = True
        last = i
        k = next_begin(p, i, end)
        while room and k < p.steps.n:
            if widens_parts(p, s, job, k, &own, &taken):
                room = has_room(s, &taken, ask, limit)
            last = k
            k = next_begin(p, k, end)
        if room:
            memset(p.window, 0, <size_t>p.steps.words * sizeof(uint64_t))
            m.fill(m.state, &taken, p.window)
            return i
        # Whatever begins later and takes in as much before this step has no room either.
        is_full, full = True, taken
        memset(&taken, 0, sizeof(taken))
        i = last + 1
        while True:
            i -= 1
            if widens_parts(p, s, job, i, &own, &taken) and not has_room(s, &taken, ask, limit):
                break
        i += 1
    return -1


cdef int32_t first_hole(plan_t *p, sim_t *s, int32_t job, bint head, double stop) noexcept nogil:
    """The earliest step that begins, or is now, before `stop`, from which on a place is free for long enough; -1: none.

    p.window is then what is taken.  The job's own reservation (p.own) is as good as free.
    """
    cdef double owed = s.track.owed[job] if s.track.on and s.restarts[job] > 0 else 0.0, until = stop
    cdef int32_t i = begin_search(p, s, job, head, owed, stop)
    if i < 0:
        return -1
    if is_by_parts(s, job):
        i = hole_by_parts(p, s, job, head, stop, i)
    else:
        i = hole_by_nodes(p, s, job, head, stop, i)
    if i >= 0:
        until = p.steps.step[i].at if p.steps.step[i].at > s.now else s.now
    if not head:
        refuse_until(&p.refused, ask_of(s, job), owed, s.remaining[job], until)
    return i


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
