"""A job on its way; the contract is in progress.pxd."""

from libc.math cimport INFINITY, ceil, floor
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset

from faultsim._core.containers.event_queue cimport push_known
from faultsim._core.containers.releases cimport releases_add, releases_remove
from faultsim._core.faults.own_clock cimport full_speed, has_clock, own_time, slowed_between, time_from, time_shown
from faultsim._core.state cimport (
    ACC_CHECKPOINT, ACC_GROWTH, ACC_HELD_FOR_REPAIR, ACC_LOST, ACC_MIGRATION, ACC_RESTART, ACC_SLOWED,
    ACC_START_DELAY, EV_FINISH, JOB_HELD, LEAD_CHECKPOINT, LEAD_MIGRATION, LEAD_RESTART,
    book_work, progress_of, progress_t, tracking_t,
)
from faultsim._core.containers.memory cimport blocks_add, blocks_add_jobs, blocks_live, blocks_resize, blocks_room_jobs
from faultsim._core.status cimport NO_MEMORY, OK


# ---------------------------------------------------------------------------------------------- memory

cdef int progress_open(sim_t *s) noexcept nogil:
    cdef tracking_t *track = &s.track
    cdef size_t n = s.n
    track.spare = -1
    track.cap_pool = min(32, s.limit.first_room)
    blocks_add(&s.blocks, s, &track.pool, <size_t>track.cap_pool, sizeof(progress_t))
    blocks_room_jobs(&s.blocks, s, &track.at, n, sizeof(int64_t))
    blocks_live(&s.blocks)
    blocks_room_jobs(&s.blocks, s, &track.saved, n, sizeof(double))
    blocks_live(&s.blocks)
    blocks_room_jobs(&s.blocks, s, &track.killed_at, n, sizeof(double))
    blocks_live(&s.blocks)
    blocks_add_jobs(&s.blocks, s, &track.started, n, 1)
    blocks_live(&s.blocks)
    blocks_room_jobs(&s.blocks, s, &track.remaining, n, sizeof(double))
    blocks_live(&s.blocks)
    blocks_room_jobs(&s.blocks, s, &track.owed, n, sizeof(double))
    blocks_live(&s.blocks)
    if s.kill:
        blocks_add_jobs(&s.blocks, s, &track.pending, n, sizeof(double))
        blocks_live(&s.blocks)
    if s.blocks.failed:
        return NO_MEMORY
    progress_know(s, 0, s.n)
    s.remaining = track.remaining
    return OK


cdef void progress_know(sim_t *s, int32_t first, int32_t count) noexcept nogil:
    cdef tracking_t *track = &s.track
    cdef int32_t i
    memcpy(&track.remaining[first], &s.estimate[first], <size_t>count * sizeof(double))
    if track.interval != NULL:
        for i in range(first, first + count):
            track.remaining[i] += planned(track.interval[i], track.cost, track.remaining[i]) * track.cost


# ---------------------------------------------------------------------------------------------- arithmetic

cdef inline double not_before(const sim_t *s, int32_t job) noexcept nogil:
    """Now, or when the job will start."""
    return s.now if s.now > s.start[job] else s.start[job]


cdef double planned(double w, double c, double left) noexcept nogil:
    """The number of k >= 1 with left - k*interval > cost."""
    cdef double n
    if w == INFINITY or not left - w > c:
        return 0.0
    if left == INFINITY:
        return INFINITY
    n = ceil((left - c) / w) - 1.0
    while n > 0.0 and not left - n * w > c:
        n -= 1.0
    while left - (n + 1.0) * w > c:
        n += 1.0
    return n


cdef inline double checkpoint_end(const sim_t *s, const progress_t *p, double k) noexcept nogil:
    return p.t0 + k * (p.interval + s.track.cost) if k > 0.0 else p.t0


cdef inline double checkpoint_begin(const sim_t *s, const progress_t *p, double k) noexcept nogil:
    return p.t0 + ((k - 1.0) * (p.interval + s.track.cost) + p.interval)


cdef double search_completed(const sim_t *s, const progress_t *p, double t, double near) noexcept nogil:
    """The largest whole j of 0 to `planned` with checkpoint_end(j) <= t, or 0; in steps that double from `near` on."""
    cdef double low = near, high = near, step = 1.0, middle
    while low > 0.0 and checkpoint_end(s, p, low) > t:
        high = low
        low = low - step if low > step else 0.0
        step *= 2.0
    step = 1.0
    while high < p.planned and checkpoint_end(s, p, high) <= t:
        low = high
        high = high + step if high + step < p.planned else p.planned
        step *= 2.0
    if checkpoint_end(s, p, high) <= t:
        return high
    # Invariant: checkpoint_end(low) <= t or low is 0, and checkpoint_end(high) > t.
    while True:
        middle = floor(low + (high - low) / 2.0)
        if middle <= low or middle >= high:
            return low
        if checkpoint_end(s, p, middle) <= t:
            low = middle
        else:
            high = middle


cdef double completed(const sim_t *s, const progress_t *p, double t) noexcept nogil:
    """How many of the planned checkpoints have ended by t."""
    cdef double j
    if p.planned == 0.0:
        return 0.0
    j = floor((t - p.t0) / (p.interval + s.track.cost))
    if j > p.planned:
        j = p.planned
    if j < 0.0:
        j = 0.0
    # Rounding makes the quotient wrong by at most one where times are short.  At late times it may be wrong by many,
    # and beyond 2^53 an added 1 is lost: `search_completed` has no such limits.
    if j > 0.0 and checkpoint_end(s, p, j) > t:
        return j - 1.0 if j < 2.0 ** 52 and not checkpoint_end(s, p, j - 1.0) > t else search_completed(s, p, t, j)
    if j < p.planned and checkpoint_end(s, p, j + 1.0) <= t:
        j += 1.0
        if j >= 2.0 ** 52 or (j < p.planned and checkpoint_end(s, p, j + 1.0) <= t):
            return search_completed(s, p, t, j)
    return j


cdef void progress_locate(const sim_t *s, int32_t job, double t, at_t *out) noexcept nogil:
    cdef const progress_t *p = progress_of(s, job)
    cdef bint paused
    cdef double j, since
    t = own_time(s, job, t)
    paused = t < p.pause_until
    if paused:
        t = p.pause_until
    if t < p.t0:
        out.progress = p.base
        out.safe = p.safe if t < p.safe_at else p.base
        out.unsaved = p.unsaved if t < p.safe_at else 0.0
        out.works = False
        return
    j = completed(s, p, t)
    since = checkpoint_end(s, p, j)
    out.safe = p.base + j * p.interval if j > 0.0 else p.base
    out.works = not paused
    if j < p.planned and t >= checkpoint_begin(s, p, j + 1.0):
        out.works = False
        out.progress = out.safe + p.interval
        out.unsaved = checkpoint_begin(s, p, j + 1.0) - since
    else:
        out.progress = out.safe + (t - since)
        out.unsaved = t - since


cdef double expected_from(const sim_t *s, int32_t job, double progress) noexcept nogil:
    """Expected time from the begin of work to the end, planned checkpoints included."""
    cdef double left = s.estimate[job] - progress
    if left < 0.0:
        left = 0.0
    return left + planned(progress_of(s, job).interval, s.track.cost, left) * s.track.cost


cdef inline void settle_progress(sim_t *s, int32_t job, progress_t *p) noexcept nogil:
    """Computes `finish` of a job after t0 and base were set."""
    cdef double left = s.run[job] - p.base
    if left < 0.0:
        left = 0.0
    p.planned = planned(p.interval, s.track.cost, left)
    # Endless work is planned with endless checkpoints, which may cost nothing.
    p.ends = INFINITY if left == INFINITY else p.t0 + (left + p.planned * s.track.cost)
    s.finish[job] = time_from(s, job, not_before(s, job), p.ends) if has_clock(s, job) else p.ends


cdef int new_progress(sim_t *s, int32_t job) noexcept nogil:
    cdef tracking_t *track = &s.track
    if track.n_pool == track.cap_pool:
        if blocks_resize(&s.blocks, s, &track.pool, 2 * <size_t>track.cap_pool * sizeof(progress_t)) < 0:
            return NO_MEMORY
        track.cap_pool *= 2
    track.at[job] = track.n_pool * <int64_t>sizeof(progress_t)
    track.pool[track.n_pool].next = -1
    track.n_pool += 1
    return OK


cdef int progress_start(sim_t *s, int32_t job) noexcept nogil:
    cdef progress_t *p
    cdef double begin = s.start[job]
    cdef bint afresh = s.restarts[job] == 0          # then what a kill leaves behind is not read
    s.track.at[job] = s.track.spare
    if s.track.spare < 0 and new_progress(s, job) < 0:
        return NO_MEMORY
    p = progress_of(s, job)
    s.track.spare = p.next
    p.interval = s.track.interval[job] if s.track.interval != NULL else INFINITY
    p.begin = own_time(s, job, begin)
    p.t0 = p.begin if afresh else p.begin + s.track.owed[job]
    p.kind = LEAD_RESTART
    p.safe = 0.0 if afresh else s.track.saved[job]
    p.base = p.safe
    p.unsaved = 0.0
    p.safe_at = INFINITY
    p.since = p.begin
    p.points = 0.0
    p.pause_until = -INFINITY
    p.lost = 0.0
    p.held = 0.0
    p.slowed = 0.0
    memset(&p.spent, 0, sizeof(p.spent))
    settle_progress(s, job, p)
    p.eventful = p.planned > 0.0 or p.t0 > p.begin or has_clock(s, job)
    s.expected[job] = (begin if afresh else begin + s.track.owed[job]) + s.remaining[job]
    return OK


cdef int set_expected(sim_t *s, int32_t job, double end) noexcept nogil:
    if end == s.expected[job]:
        return OK
    releases_remove(&s.releases, s.expected[job], job)
    s.expected[job] = end
    return OK if releases_add(&s.releases, end, job, s.allocated[job]) == 0 else NO_MEMORY


cdef void close_stretch(sim_t *s, int32_t job, double t) noexcept nogil:
    """Book the time from the begin of the lead phase to t: the lead, and planned checkpoints."""
    cdef progress_t *p = progress_of(s, job)
    cdef double j
    if t < s.start[job]:
        return
    t = own_time(s, job, t)
    if t < p.pause_until:
        t = p.pause_until
    if t < p.t0:
        p.spent[p.kind] += t - p.begin
        return
    p.spent[p.kind] += p.t0 - p.begin
    if p.planned == 0.0:
        return
    j = completed(s, p, t)
    p.spent[<int>LEAD_CHECKPOINT] += j * s.track.cost
    if j < p.planned and t >= checkpoint_begin(s, p, j + 1.0):
        p.spent[<int>LEAD_CHECKPOINT] += t - checkpoint_begin(s, p, j + 1.0)


cdef inline int plan_request(sim_t *s, int32_t job, bint afresh) noexcept nogil:
    return OK if s.checkpointing.plan == NULL else s.checkpointing.plan(s.checkpointing.state, s, job, afresh)


cdef int reckon(sim_t *s, int32_t job) noexcept nogil:
    """Computes `finish`, expected end and next request of a job on nodes after t0 and base have changed."""
    cdef progress_t *p = progress_of(s, job)
    settle_progress(s, job, p)
    if set_expected(s, job, full_speed(s, job, p.t0) + expected_from(s, job, p.base)) < 0:
        return NO_MEMORY
    if push_known(&s.heap, s.finish[job], EV_FINISH, job) < 0:          # the earlier event is stale now
        return NO_MEMORY
    return plan_request(s, job, True)


cdef int progress_resume(sim_t *s, int32_t job, int kind, double until, double safe, double base,
                         double unsaved) noexcept nogil:
    cdef progress_t *p = progress_of(s, job)
    p.eventful = True
    p.begin = own_time(s, job, s.now)
    p.t0 = until
    p.kind = <int>kind
    p.safe = safe
    p.base = base
    p.unsaved = unsaved
    p.safe_at = INFINITY
    p.since = p.begin
    p.points = 0.0
    p.pause_until = -INFINITY
    return reckon(s, job)


cdef int progress_extend(sim_t *s, int32_t job, double run) noexcept nogil:
    cdef progress_t *p = progress_of(s, job)
    cdef double before = s.run[job], finish = s.finish[job], plan = p.planned, ends = p.ends
    s.run[job] = run
    settle_progress(s, job, p)
    if s.finish[job] < s.now:
        s.run[job], s.finish[job], p.planned, p.ends = before, finish, plan, ends
        return TOO_LATE
    p.eventful |= p.planned > 0.0
    if push_known(&s.heap, s.finish[job], EV_FINISH, job) < 0:
        return NO_MEMORY
    return plan_request(s, job, False)


cdef int progress_end(sim_t *s, int32_t job) noexcept nogil:
    cdef at_t at
    progress_locate(s, job, s.now, &at)
    s.run[job] = at.progress
    s.finish[job] = s.now
    return push_known(&s.heap, s.now, EV_FINISH, job)


cdef inline void give_back_pause(sim_t *s, int32_t job) noexcept nogil:
    """What is left of a pause that is broken off now was not spent."""
    cdef progress_t *p = progress_of(s, job)
    if own_time(s, job, s.now) < p.pause_until:
        p.spent[<int>LEAD_MIGRATION] -= p.pause_until - own_time(s, job, not_before(s, job))


cdef int progress_lead(sim_t *s, int32_t job, int kind, double until, double safe, double base,
                       double unsaved) noexcept nogil:
    cdef double points, since = last_safe(s, job, &points)
    cdef progress_t *p = progress_of(s, job)
    close_stretch(s, job, s.now)
    give_back_pause(s, job)
    if progress_resume(s, job, kind, until, safe, base, unsaved) < 0:
        return NO_MEMORY
    p.since = since
    p.points = -1.0
    return OK


cdef double last_safe(const sim_t *s, int32_t job, double *points) noexcept nogil:
    """When, by its own clock, it was last safe, and with how many of the stretch's planned checkpoints (-1: not even
    its lead).
    """
    cdef const progress_t *p = progress_of(s, job)
    cdef double t = own_time(s, job, s.now), j = -1.0
    if t < p.pause_until:
        t = p.pause_until
    if t >= p.t0:
        j = completed(s, p, t)
    elif t >= p.safe_at:
        j = 0.0
    points[0] = j if j > p.points else p.points
    if not j > p.points:
        return p.since
    return p.safe_at if j == 0.0 and p.safe_at < p.t0 else checkpoint_end(s, p, j)


cdef double last_safe_time(const sim_t *s, int32_t job) noexcept nogil:
    cdef double points, u = last_safe(s, job, &points)
    return time_shown(s, job, u)


cdef void keep_safe_time(sim_t *s, int32_t job) noexcept nogil:
    """Before all times of the stretch shift, lest one that has passed does."""
    cdef progress_t *p = progress_of(s, job)
    cdef double points
    p.since = last_safe(s, job, &points)
    p.points = points


cdef int progress_pause(sim_t *s, int32_t job, double cost) noexcept nogil:
    cdef progress_t *p = progress_of(s, job)
    cdef double begin = own_time(s, job, not_before(s, job))
    if p.pause_until > begin:
        begin = p.pause_until
    keep_safe_time(s, job)
    p.eventful = True
    p.pause_until = begin + cost
    if p.safe_at > begin:
        p.safe_at += cost
    p.begin += cost
    p.t0 += cost
    p.ends += cost
    s.finish[job] = time_from(s, job, not_before(s, job), p.ends)
    p.spent[<int>LEAD_MIGRATION] += cost
    if set_expected(s, job, s.expected[job] + cost) < 0:
        return NO_MEMORY
    if push_known(&s.heap, s.finish[job], EV_FINISH, job) < 0:
        return NO_MEMORY
    return plan_request(s, job, False)


# ---------------------------------------------------------------------------------------------- moves of rescheduling

cdef inline double rest_of_pause(const sim_t *s, int32_t job) noexcept nogil:
    cdef double rest = progress_of(s, job).pause_until - own_time(s, job, s.now)
    return rest if rest > 0.0 else 0.0


cdef int abandon_checkpoint(sim_t *s, int32_t job) noexcept nogil:
    """All that is to come is as if the pause ended now."""
    cdef progress_t *p = progress_of(s, job)
    cdef double rest = rest_of_pause(s, job)
    if rest == 0.0:
        return OK
    if p.safe_at > p.pause_until:
        p.safe_at -= rest
    p.begin -= rest
    p.t0 -= rest
    p.ends -= rest
    p.pause_until = own_time(s, job, s.now)
    if p.ends < p.pause_until:
        p.ends = p.pause_until           # by rounding
    s.finish[job] = time_from(s, job, s.now, p.ends)
    p.spent[<int>LEAD_MIGRATION] -= rest
    return set_expected(s, job, s.expected[job] - rest)


cdef enum moved:
    MOVED_LEAD = 0           # a lead phase, then work from t0 on
    MOVED_SHIFT = 1          # all that is to come is later
    MOVED_VIRTUAL = 2        # unsaved work of a broken-off phase: t0 lies before the pause


cdef int moved_t0(const sim_t *s, int32_t job, const move_t *move, double *t0, double *base,
                  double *shift) noexcept nogil:
    """How a move changes a job: its t0 and the progress there, or by how much it all shifts."""
    cdef const progress_t *p = progress_of(s, job)
    cdef double j, t = own_time(s, job, s.now), restart = move.restart_cost
    cdef at_t at
    progress_locate(s, job, s.now, &at)
    if not move.live:
        t0[0] = (t + move.checkpoint_cost) + restart
        base[0] = at.progress
        return MOVED_LEAD
    shift[0] = restart
    if t < p.pause_until:
        t = p.pause_until        # where a pause stands still, which is broken off
    if t < p.t0:
        t0[0] = (own_time(s, job, s.now) + restart) - at.unsaved
        base[0] = at.safe
        return MOVED_VIRTUAL if at.unsaved > 0.0 else MOVED_LEAD
    j = completed(s, p, t)
    if j < p.planned and t >= checkpoint_begin(s, p, j + 1.0):
        shift[0] = (t - checkpoint_begin(s, p, j + 1.0)) + restart
    return MOVED_SHIFT


cdef double progress_moved_end(const sim_t *s, int32_t job, const move_t *move) noexcept nogil:
    cdef double t0 = 0.0, base = 0.0, shift = 0.0, rest = rest_of_pause(s, job)
    if moved_t0(s, job, move, &t0, &base, &shift) == MOVED_SHIFT:
        return (s.expected[job] - rest) + shift
    return full_speed(s, job, t0) + expected_from(s, job, base)


cdef int move_live(sim_t *s, int32_t job, const move_t *move, double t0, double base) noexcept nogil:
    """A phase with unsaved work is broken off and the job goes on with that work, after a pause, as if never asked."""
    cdef progress_t *p = progress_of(s, job)
    keep_safe_time(s, job)
    close_stretch(s, job, s.now)
    give_back_pause(s, job)
    p.eventful = True
    p.points = 0.0
    p.begin = t0
    p.t0 = t0
    p.kind = <int>LEAD_MIGRATION
    p.safe = base
    p.base = base
    p.unsaved = 0.0
    p.safe_at = INFINITY
    p.pause_until = own_time(s, job, s.now) + move.restart_cost
    p.spent[<int>LEAD_MIGRATION] += move.restart_cost
    return reckon(s, job)


cdef int shift_live(sim_t *s, int32_t job, const move_t *move, double shift) noexcept nogil:
    """A planned checkpoint is interrupted and repeated after the pause."""
    cdef progress_t *p = progress_of(s, job)
    keep_safe_time(s, job)
    p.eventful = True
    p.spent[<int>LEAD_CHECKPOINT] += shift - move.restart_cost
    p.spent[<int>LEAD_MIGRATION] += move.restart_cost
    p.pause_until = own_time(s, job, s.now) + move.restart_cost
    p.begin += shift
    p.t0 += shift
    p.ends += shift
    s.finish[job] = time_from(s, job, s.now, p.ends)
    if set_expected(s, job, s.expected[job] + shift) < 0:
        return NO_MEMORY
    return OK if push_known(&s.heap, s.finish[job], EV_FINISH, job) == 0 else NO_MEMORY


cdef int progress_move(sim_t *s, int32_t job, const move_t *move) noexcept nogil:
    cdef double t0 = 0.0, base = 0.0, shift = 0.0
    cdef at_t at
    cdef int how = moved_t0(s, job, move, &t0, &base, &shift)
    if how == MOVED_VIRTUAL:
        return move_live(s, job, move, t0, base)
    if how == MOVED_SHIFT:
        if abandon_checkpoint(s, job) < 0:
            return NO_MEMORY
        if shift != move.restart_cost:
            return shift_live(s, job, move, shift)
        return progress_pause(s, job, move.restart_cost)
    progress_locate(s, job, s.now, &at)
    if move.live:
        if progress_lead(s, job, <int>LEAD_MIGRATION, t0, at.safe, base, 0.0) < 0:
            return NO_MEMORY
        progress_of(s, job).points = 0.0         # nothing is made safe
        return OK
    if progress_lead(s, job, <int>LEAD_MIGRATION, t0, at.safe, base, at.unsaved) < 0:
        return NO_MEMORY
    progress_of(s, job).safe_at = own_time(s, job, s.now) + move.checkpoint_cost
    return OK


cdef void progress_kill(sim_t *s, int32_t job) noexcept nogil:
    cdef progress_t *p = progress_of(s, job)
    cdef at_t at
    cdef double t = s.now
    if t < s.start[job]:
        at.safe = p.safe         # nothing has begun
        at.unsaved = 0.0
    else:
        progress_locate(s, job, t, &at)
    close_stretch(s, job, t)
    give_back_pause(s, job)
    p.eventful = True
    p.pause_until = -INFINITY
    p.lost += at.unsaved
    s.lost_work[job] += s.size[job] * at.unsaved
    s.restarts[job] += 1
    s.track.saved[job] = at.safe
    s.track.killed_at[job] = t
    s.track.owed[job] = s.track.restart_cost
    s.track.remaining[job] = expected_from(s, job, at.safe)


cdef double progress_held(sim_t *s, int32_t job) noexcept nogil:
    cdef double since = s.track.killed_at[job], held = s.now - since
    progress_of(s, job).held += held
    progress_of(s, job).slowed -= slowed_between(s, job, since, s.now)
    return held


cdef void progress_book(sim_t *s, int32_t job, bint finished) noexcept nogil:
    cdef progress_t *p = progress_of(s, job)
    cdef double size = s.size[job], stay = s.now - s.decision[job], delay
    if finished and p.eventful:
        close_stretch(s, job, s.now)
        give_back_pause(s, job)          # a job that an act ends may be in a pause
    delay = (s.start[job] if s.start[job] < s.now else s.now) - s.decision[job]
    stay -= delay
    s.ledger[<int>ACC_START_DELAY] += size * delay
    s.ledger[<int>ACC_GROWTH] += (s.allocated[job] - size) * (stay + delay)
    if p.eventful:
        stay -= p.lost + p.held + p.spent[<int>LEAD_RESTART] + p.spent[<int>LEAD_CHECKPOINT]
        stay -= p.spent[<int>LEAD_MIGRATION]
        if has_clock(s, job):
            p.slowed += slowed_between(s, job, s.start[job] if s.start[job] < s.now else s.now, s.now)
            stay -= p.slowed
            s.ledger[<int>ACC_SLOWED] += size * p.slowed
            s.slowed_time[job] += p.slowed
        s.ledger[<int>ACC_LOST] += size * p.lost
        s.ledger[<int>ACC_HELD_FOR_REPAIR] += size * p.held
        s.ledger[<int>ACC_RESTART] += size * p.spent[<int>LEAD_RESTART]
        s.ledger[<int>ACC_CHECKPOINT] += size * p.spent[<int>LEAD_CHECKPOINT]
        s.ledger[<int>ACC_MIGRATION] += size * p.spent[<int>LEAD_MIGRATION]
        s.checkpoint_time[job] += p.spent[<int>LEAD_CHECKPOINT]
        s.restart_time[job] += p.spent[<int>LEAD_RESTART]
    book_work(s, job, size * stay)
    p.next = s.track.spare
    s.track.spare = s.track.at[job]


cdef void progress_book_so_far(sim_t *s, int32_t job) noexcept nogil:
    cdef progress_t *p = progress_of(s, job)
    if s.state[job] == JOB_HELD:         # the kill has closed its stretch
        s.failure_wait[job] += progress_held(s, job)
    else:
        close_stretch(s, job, s.now)
        give_back_pause(s, job)
    p.eventful = True
    progress_book(s, job, False)
