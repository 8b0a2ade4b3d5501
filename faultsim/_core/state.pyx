"""Memory of one simulation; the contract is in state.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from faultsim._core.containers.event_queue cimport heap_copy, heap_free, heap_init
from faultsim._core.containers.memory cimport (
    blocks_add, blocks_add_jobs, blocks_copy, blocks_cut, blocks_free, blocks_grow, blocks_live,
    blocks_queued, blocks_room_jobs, grow_state, part_t, copy_window_t,
)
from faultsim._core.containers.releases cimport releases_copy, releases_free, releases_init
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.machine cimport range_t


cdef int sim_alloc(sim_t *s) noexcept nogil:
    cdef size_t n = s.n, nodes = s.nodes
    cdef int32_t i
    for i in range(<int>N_SOURCES):
        s.source_at[i] = -1
    blocks_add_jobs(&s.blocks, s, &s.state, n, 1)
    blocks_room_jobs(&s.blocks, s, &s.need, n, sizeof(int32_t))      # a decision names places for any job
    blocks_add_jobs(&s.blocks, s, &s.decision, n, sizeof(double))
    blocks_live(&s.blocks)
    blocks_add_jobs(&s.blocks, s, &s.expected, n, sizeof(double))
    blocks_live(&s.blocks)
    blocks_room_jobs(&s.blocks, s, &s.promise, n, sizeof(double))
    blocks_live(&s.blocks)
    blocks_add_jobs(&s.blocks, s, &s.promise_epoch, n, sizeof(int32_t))
    blocks_live(&s.blocks)
    blocks_room_jobs(&s.blocks, s, &s.queue.job, n, sizeof(int32_t))
    blocks_queued(&s.blocks)
    if s.track.on:
        blocks_add(&s.blocks, s, &s.trace.up_at, nodes, sizeof(double))
        blocks_add(&s.blocks, s, &s.trace.down, nodes, 1)
        blocks_add(&s.blocks, s, &s.predictions.failing, s.machine.words, sizeof(uint64_t))
    if s.record.on:
        blocks_add_jobs(&s.blocks, s, &s.record.open_stay, n, sizeof(int64_t))
        blocks_live(&s.blocks)
        blocks_add(&s.blocks, s, &s.record.event, 0, sizeof(record_event_t))
        blocks_add(&s.blocks, s, &s.record.stay, 0, sizeof(record_stay_t))
        blocks_add(&s.blocks, s, &s.record.range, 0, sizeof(range_t))
    if s.blocks.failed or heap_init(&s.heap, 256) < 0 or releases_init(&s.releases, s.limit.releases_room) < 0:
        return NO_MEMORY
    s.queue.unsorted = -INFINITY
    s.epoch = 1
    s.free = s.capacity
    s.now = s.submit[0] if s.known > 0 else 0.0
    s.clock = s.now
    s.remaining = s.estimate
    if s.machine.placed:
        for i in range(s.n):
            s.need[i] = s.machine.next_size(s.machine.state, s.size[i])
    else:
        memcpy(s.need, s.size, n * sizeof(int32_t))
    if s.kill:
        for i in range(s.n):
            s.run[i] = executed(s, i)
    else:
        memcpy(s.run, s.runtime, n * sizeof(double))
    return OK


cdef void add_source(sim_t *s, int rank, int kind, double time,
                     int (*fire)(void *, bint *) noexcept nogil) noexcept nogil:
    cdef int i = s.n_sources, k
    while i > 0 and s.source[i - 1].rank > rank:
        s.source[i] = s.source[i - 1]
        i -= 1
    s.source[i].rank = rank
    s.source[i].kind = kind
    s.source[i].time = time
    s.source[i].fire = fire
    s.n_sources += 1
    for k in range(s.n_sources):
        s.source_at[s.source[k].rank] = k


cdef enum:
    N_PARTS = 10


cdef void list_parts(sim_t *s, part_t **part) noexcept nogil:
    """The machine and the policies, those first that others build on."""
    part[0] = <part_t *>&s.machine
    part[1] = <part_t *>&s.placement
    part[2] = <part_t *>&s.order
    part[3] = <part_t *>&s.scheduler
    part[4] = <part_t *>&s.migration
    part[5] = <part_t *>&s.recovery
    part[6] = <part_t *>&s.checkpointing
    part[7] = <part_t *>&s.rescheduling
    part[8] = <part_t *>&s.eligibility
    part[9] = &s.absences


cdef void sim_free(sim_t *s) noexcept nogil:
    cdef part_t *part[N_PARTS]
    cdef int i
    list_parts(s, part)
    for i in range(N_PARTS - 1, -1, -1):
        if part[i].close != NULL:
            part[i].close(part[i].state)
    blocks_free(&s.blocks, s)
    heap_free(&s.heap)
    releases_free(&s.releases)


cdef inline void point_to_eligibility(sim_t *s) noexcept nogil:
    if s.eligibility.on:                 # the first two fields of its state
        s.submit = (<const double **>s.eligibility.state)[0]
        if s.queue.keeps_entry:
            s.queue.entry = (<int64_t **>s.eligibility.state)[1]


cdef inline int64_t cut_rows(sim_t *s, void *field, size_t each, int64_t first, int64_t n, int64_t room) noexcept nogil:
    """Leaves out the first rows of a record, of which there are n, and most of the room; how much of that there is."""
    cdef int64_t kept = min(room - first, n - first + s.limit.shared_rows)
    blocks_cut(&s.blocks, s, field, first * each, kept * each)
    return kept


cdef void cut_record(sim_t *s) noexcept nogil:
    """A copy has no rows of the record that Python keeps for all copies."""
    cdef record_t *r = &s.record
    r.cap_events = cut_rows(s, &r.event, sizeof(record_event_t), r.shared_events - r.from_event,
                            r.n_events - r.from_event, r.cap_events)
    r.cap_stays = cut_rows(s, &r.stay, sizeof(record_stay_t), r.shared_stays - r.from_stay,
                           r.n_stays - r.from_stay, r.cap_stays)
    r.cap_ranges = cut_rows(s, &r.range, sizeof(range_t), r.shared_ranges - r.from_range,
                            r.n_ranges - r.from_range, r.cap_ranges)
    r.from_event, r.from_stay, r.from_range = r.shared_events, r.shared_stays, r.shared_ranges


cdef void clear_job(sim_t *s, int32_t job) noexcept nogil:
    s.decision[job] = s.expected[job] = s.first_start[job] = s.start[job] = s.finish[job] = s.run[job] = 0.0
    s.lost_work[job] = s.checkpoint_time[job] = s.restart_time[job] = s.failure_wait[job] = s.slowed_time[job] = 0.0
    s.promise_epoch[job] = s.allocated[job] = s.restarts[job] = s.moves[job] = 0
    s.backfilled[job] = False
    if s.record.on:
        s.record.open_stay[job] = 0
    if s.track.on:
        s.track.started[job] = False
        if s.track.pending != NULL:
            s.track.pending[job] = 0.0


cdef int sim_copy(sim_t *to, const sim_t *source, int32_t first=0) noexcept nogil:
    cdef part_t *part[N_PARTS]
    cdef void (*close[N_PARTS])(void *state) noexcept nogil
    cdef copy_window_t window
    cdef int i, code
    memcpy(to, source, sizeof(sim_t))
    # What it has only borrowed so far it must not free if memory runs out half way.
    list_parts(to, part)
    for i in range(N_PARTS):
        close[i], part[i].close = part[i].close, NULL
    memset(&to.heap, 0, sizeof(to.heap))
    memset(&to.releases, 0, sizeof(to.releases))
    if to.record.on:
        cut_record(to)
    if first > 0:
        to.from_job = first
        window.first, window.end, window.head, window.tail = first, to.known, to.queue.head, to.queue.end
    code = blocks_copy(&to.blocks, to, &window if first > 0 else NULL)
    if code < 0 or heap_copy(&to.heap, &source.heap) < 0 or releases_copy(&to.releases, &source.releases) < 0:
        return NO_MEMORY
    if to.track.on:
        to.remaining = to.track.remaining
    for i in range(N_PARTS):
        if part[i].copy != NULL:
            part[i].state = part[i].copy(part[i].state, to)
            if part[i].state == NULL:
                return NO_MEMORY
        part[i].close = close[i]
        if i == 0 and to.machine.named:
            to.machine.occ = (<uint64_t **>to.machine.state)[0]
    point_to_eligibility(to)
    if source.avoid != NULL:
        to.avoid = (<const uint64_t **>to.rescheduling.state)[0]     # the first field of the state that sets it
    return OK


cdef int sim_grow(sim_t *s, int32_t n) noexcept nogil:
    cdef part_t *part[N_PARTS]
    cdef int i
    list_parts(s, part)
    if blocks_grow(&s.blocks, s, n) < 0:
        return NO_MEMORY
    for i in range(N_PARTS):
        if grow_state(part[i], n) < 0:
            return NO_MEMORY
    s.n = n
    if s.track.on:
        s.remaining = s.track.remaining
    point_to_eligibility(s)
    if s.avoid != NULL:
        s.avoid = (<const uint64_t **>s.rescheduling.state)[0]
    return OK
