"""A job on its way; the contract is in life.pxd."""

from libc.math cimport INFINITY, ceil, floor, sqrt
from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport calloc, free as c_free, malloc
from libc.string cimport memcpy

from faultsim._core.containers.event_queue cimport heap_push
from faultsim._core.containers.releases cimport releases_add, releases_remove
from faultsim._core.state cimport (
    ACC_CHECKPOINT, ACC_GROWTH, ACC_HELD, ACC_LOST, ACC_MIGRATION, ACC_RESTART, ACC_START_DELAY, ACC_USEFUL,
    EV_CHECKPOINT, EV_FINISH, LEAD_CHECKPOINT, LEAD_MIGRATION, LEAD_RESTART, NO_MEMORY, N_LEADS, OK, life_t,
)


cdef int life_alloc(sim_t *s) noexcept nogil:
    """Arrays a job; `ahead` is what the scheduler expects of a job that starts afresh."""
    cdef size_t n = s.n
    cdef int32_t i
    cdef life_t life
    s.life = <life_t **>calloc(n, sizeof(life_t *))
    s.saved = <double *>calloc(n, sizeof(double))
    s.killed_at = <double *>calloc(n, sizeof(double))
    s.started = <uint8_t *>calloc(n, 1)
    s.rest = <double *>malloc(n * sizeof(double))
    s.owed = <double *>calloc(n, sizeof(double))
    if s.life == NULL or s.saved == NULL or s.killed_at == NULL or s.started == NULL:
        return NO_MEMORY
    if s.rest == NULL or s.owed == NULL:
        return NO_MEMORY
    memcpy(s.rest, s.estimate, n * sizeof(double))
    if s.faults.plans:
        for i in range(s.n):
            life.interval = interval_of(s, i)
            s.rest[i] += planned(s, &life, s.rest[i]) * s.faults.cost
    s.ahead = s.rest
    return OK


cdef void life_free(sim_t *s) noexcept nogil:
    cdef int32_t i
    cdef life_t *life
    if s.life != NULL:
        for i in range(s.n):
            c_free(s.life[i])
        c_free(s.life)
    while s.spare_life != NULL:
        life = s.spare_life
        s.spare_life = life.next
        c_free(life)
    c_free(s.saved)
    c_free(s.killed_at)
    c_free(s.started)
    c_free(s.rest)
    c_free(s.owed)


cdef double interval_of(const sim_t *s, int32_t job) noexcept nogil:
    """Work between planned checkpoints."""
    if not s.faults.plans:
        return INFINITY
    if s.faults.young > 0:
        return sqrt(((2.0 * s.faults.cost) * s.faults.young) / s.size[job])
    if s.faults.daly > 0:
        return daly(s.faults.cost, s.faults.daly / s.size[job])
    return s.faults.interval


cdef double daly(double cost, double mtbf) noexcept nogil:
    """Daly 2006, equation 37 [NOTES 9.2]."""
    if not cost < 2.0 * mtbf:
        return mtbf
    return sqrt((2.0 * cost) * mtbf) * (
        (1.0 + sqrt(cost / (2.0 * mtbf)) / 3.0) + (cost / (2.0 * mtbf)) / 9.0) - cost


cdef double planned(const sim_t *s, const life_t *life, double left) noexcept nogil:
    """The number of k >= 1 with left - k*interval > cost."""
    cdef double w = life.interval, c = s.faults.cost, n
    if w == INFINITY or not left - w > c:
        return 0.0
    n = ceil((left - c) / w) - 1.0
    while n > 0.0 and not left - n * w > c:
        n -= 1.0
    while left - (n + 1.0) * w > c:
        n += 1.0
    return n


cdef inline double checkpoint_end(const sim_t *s, const life_t *life, double k) noexcept nogil:
    return life.t0 + k * (life.interval + s.faults.cost) if k > 0.0 else life.t0


cdef inline double checkpoint_begin(const sim_t *s, const life_t *life, double k) noexcept nogil:
    return life.t0 + ((k - 1.0) * (life.interval + s.faults.cost) + life.interval)


cdef double completed(const sim_t *s, const life_t *life, double t) noexcept nogil:
    """How many of the planned checkpoints have ended by t."""
    cdef double j
    if life.planned == 0.0:
        return 0.0
    j = floor((t - life.t0) / (life.interval + s.faults.cost))
    if j > life.planned:
        j = life.planned
    if j < 0.0:
        j = 0.0
    while j > 0.0 and checkpoint_end(s, life, j) > t:
        j -= 1.0
    while j < life.planned and checkpoint_end(s, life, j + 1.0) <= t:
        j += 1.0
    return j


cdef void life_locate(const sim_t *s, int32_t job, double t, place_t *out) noexcept nogil:
    cdef const life_t *life = s.life[job]
    cdef bint paused = t < life.pause_until
    cdef double j, since
    if paused:
        t = life.pause_until
    if t < life.t0:
        out.progress = life.base
        out.safe = life.safe if t < life.safe_at else life.base
        out.unsaved = life.unsaved if t < life.safe_at else 0.0
        out.works = False
        return
    j = completed(s, life, t)
    since = checkpoint_end(s, life, j)
    out.safe = life.base + j * life.interval if j > 0.0 else life.base
    out.works = not paused
    if j < life.planned and t >= checkpoint_begin(s, life, j + 1.0):
        out.works = False
        out.progress = out.safe + life.interval
        out.unsaved = checkpoint_begin(s, life, j + 1.0) - since
    else:
        out.progress = out.safe + (t - since)
        out.unsaved = t - since


cdef double expected_from(const sim_t *s, int32_t job, double progress) noexcept nogil:
    """Expected time from the begin of work to the end, planned checkpoints included."""
    cdef double left = s.estimate[job] - progress
    if left < 0.0:
        left = 0.0
    return left + planned(s, s.life[job], left) * s.faults.cost


cdef inline void settle(sim_t *s, int32_t job) noexcept nogil:
    """finish of a job whose t0 and base are set."""
    cdef life_t *life = s.life[job]
    cdef double left = s.run[job] - life.base
    if left < 0.0:
        left = 0.0
    life.planned = planned(s, life, left)
    s.finish[job] = life.t0 + (left + life.planned * s.faults.cost)


cdef int life_request(sim_t *s, int32_t job) noexcept nogil:
    cdef life_t *life = s.life[job]
    life.request = life.t0 + life.request_number * s.faults.interval
    if life.request < s.finish[job] and heap_push(&s.heap, life.request, EV_CHECKPOINT, job) < 0:
        return NO_MEMORY
    return OK


cdef int life_start(sim_t *s, int32_t job) noexcept nogil:
    cdef life_t *life = s.spare_life
    cdef bint afresh = s.restarts[job] == 0          # then what a kill leaves behind is not looked at
    cdef int i
    if life != NULL:
        s.spare_life = life.next
    else:
        life = <life_t *>malloc(sizeof(life_t))
        if life == NULL:
            return NO_MEMORY
    s.life[job] = life
    life.interval = interval_of(s, job)
    life.begin = s.start[job]
    life.t0 = s.start[job] if afresh else s.start[job] + s.owed[job]
    life.kind = LEAD_RESTART
    life.safe = 0.0 if afresh else s.saved[job]
    life.base = life.safe
    life.unsaved = 0.0
    life.safe_at = INFINITY
    life.pause_until = -INFINITY
    life.request_number = 1.0
    life.struck = False
    life.lost = 0.0
    life.held = 0.0
    for i in range(<int>N_LEADS):
        life.spent[i] = 0.0
    settle(s, job)
    life.eventful = life.planned > 0.0 or life.t0 > life.begin
    s.expected[job] = life.t0 + s.ahead[job]
    return OK


cdef int set_expected(sim_t *s, int32_t job, double end) noexcept nogil:
    if end == s.expected[job]:
        return OK
    releases_remove(&s.releases, s.expected[job], job)
    s.expected[job] = end
    return OK if releases_add(&s.releases, end, job, s.allocated[job]) == 0 else NO_MEMORY


cdef void close_stretch(sim_t *s, int32_t job, double t) noexcept nogil:
    """Book the time from the begin of the lead phase to t: the lead, and planned checkpoints."""
    cdef life_t *life = s.life[job]
    cdef double j
    if t < s.start[job]:
        return
    if t < life.pause_until:
        t = life.pause_until
    if t < life.t0:
        life.spent[life.kind] += t - life.begin
        return
    life.spent[life.kind] += life.t0 - life.begin
    if life.planned == 0.0:
        return
    j = completed(s, life, t)
    life.spent[<int>LEAD_CHECKPOINT] += j * s.faults.cost
    if j < life.planned and t >= checkpoint_begin(s, life, j + 1.0):
        life.spent[<int>LEAD_CHECKPOINT] += t - checkpoint_begin(s, life, j + 1.0)


cdef int reckon(sim_t *s, int32_t job) noexcept nogil:
    """finish, expected end and request of a job on nodes whose t0 and base are new."""
    settle(s, job)
    if set_expected(s, job, s.life[job].t0 + expected_from(s, job, s.life[job].base)) < 0:
        return NO_MEMORY
    if heap_push(&s.heap, s.finish[job], EV_FINISH, job) < 0:          # the earlier event is stale now
        return NO_MEMORY
    return life_request(s, job) if s.faults.risk else OK


cdef int life_resume(sim_t *s, int32_t job, int kind, double until, double safe, double base,
                     double unsaved) noexcept nogil:
    cdef life_t *life = s.life[job]
    life.eventful = True
    life.begin = s.now
    life.t0 = until
    life.kind = <int>kind
    life.safe = safe
    life.base = base
    life.unsaved = unsaved
    life.safe_at = INFINITY
    life.pause_until = -INFINITY
    life.request_number = 1.0
    return reckon(s, job)


cdef inline void give_back_pause(sim_t *s, int32_t job) noexcept nogil:
    """What is left of a pause that is broken off now was not spent."""
    cdef life_t *life = s.life[job]
    if s.now < life.pause_until:
        life.spent[<int>LEAD_MIGRATION] -= life.pause_until - (s.now if s.now > s.start[job] else s.start[job])


cdef int life_lead(sim_t *s, int32_t job, int kind, double until, double safe, double base,
                   double unsaved) noexcept nogil:
    close_stretch(s, job, s.now)
    give_back_pause(s, job)
    return life_resume(s, job, kind, until, safe, base, unsaved)


cdef int life_pause(sim_t *s, int32_t job, double cost) noexcept nogil:
    cdef life_t *life = s.life[job]
    cdef double begin = s.now if s.now > s.start[job] else s.start[job]
    if life.pause_until > begin:
        begin = life.pause_until
    life.eventful = True
    life.pause_until = begin + cost
    if life.safe_at > begin:
        life.safe_at += cost
    life.begin += cost
    life.t0 += cost
    s.finish[job] += cost
    life.spent[<int>LEAD_MIGRATION] += cost
    if set_expected(s, job, s.expected[job] + cost) < 0:
        return NO_MEMORY
    if heap_push(&s.heap, s.finish[job], EV_FINISH, job) < 0:
        return NO_MEMORY
    return life_request(s, job) if s.faults.risk else OK


# ---------------------------------------------------------------------------------------------- moves of Fars

cdef double life_last_safe(const sim_t *s, int32_t job) noexcept nogil:
    cdef const life_t *life = s.life[job]
    cdef double t = s.now if s.now > life.pause_until else life.pause_until
    if t < life.t0:
        return life.safe_at if t >= life.safe_at else life.begin - life.unsaved
    return checkpoint_end(s, life, completed(s, life, t))


cdef enum moved:
    MOVED_LEAD = 0           # a lead phase, then work from t0 on
    MOVED_SHIFT = 1          # all that is to come is later
    MOVED_VIRTUAL = 2        # unsaved work of a broken-off phase: t0 lies before the pause


cdef int moved_t0(const sim_t *s, int32_t job, double *t0, double *base, double *shift) noexcept nogil:
    """How a move changes a job: its t0 and the progress there, or by how much it all shifts."""
    cdef const life_t *life = s.life[job]
    cdef double j, t = s.now, restart = s.fars.restart_cost
    cdef place_t at
    life_locate(s, job, t, &at)
    if not s.fars.live:
        t0[0] = (t + s.fars.checkpoint_cost) + restart
        base[0] = at.progress
        return MOVED_LEAD
    shift[0] = restart
    if t < life.pause_until:
        return MOVED_SHIFT
    if t < life.t0:
        t0[0] = (t + restart) - at.unsaved
        base[0] = at.safe
        return MOVED_VIRTUAL if at.unsaved > 0.0 else MOVED_LEAD
    j = completed(s, life, t)
    if j < life.planned and t >= checkpoint_begin(s, life, j + 1.0):
        shift[0] = (t - checkpoint_begin(s, life, j + 1.0)) + restart
    return MOVED_SHIFT


cdef double life_moved_end(const sim_t *s, int32_t job) noexcept nogil:
    cdef double t0 = 0.0, base = 0.0, shift = 0.0
    if moved_t0(s, job, &t0, &base, &shift) == MOVED_SHIFT:
        return s.expected[job] + shift
    return t0 + expected_from(s, job, base)


cdef int move_live(sim_t *s, int32_t job, double t0, double base) noexcept nogil:
    """A phase with unsaved work is broken off and the job goes on with that work, after a pause, as if never asked."""
    cdef life_t *life = s.life[job]
    close_stretch(s, job, s.now)
    life.eventful = True
    life.begin = t0
    life.t0 = t0
    life.kind = <int>LEAD_MIGRATION
    life.safe = base
    life.base = base
    life.unsaved = 0.0
    life.safe_at = INFINITY
    life.pause_until = s.now + s.fars.restart_cost
    life.spent[<int>LEAD_MIGRATION] += s.fars.restart_cost
    life.request_number = 1.0
    if s.faults.risk:
        while t0 + life.request_number * s.faults.interval < life.pause_until:
            life.request_number += 1.0
    return reckon(s, job)


cdef int shift_live(sim_t *s, int32_t job, double shift) noexcept nogil:
    """A planned checkpoint is broken off and made anew after the pause."""
    cdef life_t *life = s.life[job]
    life.eventful = True
    life.spent[<int>LEAD_CHECKPOINT] += shift - s.fars.restart_cost
    life.spent[<int>LEAD_MIGRATION] += s.fars.restart_cost
    life.pause_until = s.now + s.fars.restart_cost
    life.begin += shift
    life.t0 += shift
    s.finish[job] += shift
    if set_expected(s, job, s.expected[job] + shift) < 0:
        return NO_MEMORY
    return OK if heap_push(&s.heap, s.finish[job], EV_FINISH, job) == 0 else NO_MEMORY


cdef int life_move(sim_t *s, int32_t job) noexcept nogil:
    cdef double t0 = 0.0, base = 0.0, shift = 0.0
    cdef place_t at
    cdef int how = moved_t0(s, job, &t0, &base, &shift)
    if how == MOVED_VIRTUAL:
        return move_live(s, job, t0, base)
    if how == MOVED_SHIFT:
        if shift != s.fars.restart_cost:
            return shift_live(s, job, shift)
        return life_pause(s, job, s.fars.restart_cost)
    life_locate(s, job, s.now, &at)
    if s.fars.live:
        return life_lead(s, job, <int>LEAD_MIGRATION, t0, at.safe, base, 0.0)
    if life_lead(s, job, <int>LEAD_MIGRATION, t0, at.safe, base, at.unsaved) < 0:
        return NO_MEMORY
    s.life[job].safe_at = s.now + s.fars.checkpoint_cost
    return OK


cdef void life_kill(sim_t *s, int32_t job) noexcept nogil:
    cdef life_t *life = s.life[job]
    cdef place_t at
    cdef double t = s.now
    if t < s.start[job]:
        at.safe = life.safe         # nothing has begun
        at.unsaved = 0.0
    else:
        life_locate(s, job, t, &at)
    close_stretch(s, job, t)
    give_back_pause(s, job)
    life.eventful = True
    life.pause_until = -INFINITY
    life.lost += at.unsaved
    s.lost_work[job] += s.size[job] * at.unsaved
    s.restarts[job] += 1
    s.saved[job] = at.safe
    s.killed_at[job] = t
    s.owed[job] = s.faults.restart_cost
    s.rest[job] = expected_from(s, job, at.safe)


cdef void life_book(sim_t *s, int32_t job, bint finished) noexcept nogil:
    cdef life_t *life = s.life[job]
    cdef double size = s.size[job], stay = s.now - s.decision[job], delay
    if finished and life.eventful:
        close_stretch(s, job, s.now)
    delay = (s.start[job] if s.start[job] < s.now else s.now) - s.decision[job]
    stay -= delay
    s.ledger[<int>ACC_START_DELAY] += size * delay
    s.ledger[<int>ACC_GROWTH] += (s.allocated[job] - size) * (stay + delay)
    if life.eventful:
        stay -= life.lost + life.held + life.spent[<int>LEAD_RESTART] + life.spent[<int>LEAD_CHECKPOINT]
        stay -= life.spent[<int>LEAD_MIGRATION]
        s.ledger[<int>ACC_LOST] += size * life.lost
        s.ledger[<int>ACC_HELD] += size * life.held
        s.ledger[<int>ACC_RESTART] += size * life.spent[<int>LEAD_RESTART]
        s.ledger[<int>ACC_CHECKPOINT] += size * life.spent[<int>LEAD_CHECKPOINT]
        s.ledger[<int>ACC_MIGRATION] += size * life.spent[<int>LEAD_MIGRATION]
        s.checkpoint_time[job] += life.spent[<int>LEAD_CHECKPOINT]
        s.restart_time[job] += life.spent[<int>LEAD_RESTART]
    s.ledger[<int>ACC_USEFUL] += size * stay
    life.next = s.spare_life
    s.spare_life = life
    s.life[job] = NULL
