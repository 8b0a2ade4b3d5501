"""Migration that packs the running jobs of a placed machine again ([krevat2002] section 2, model.md#defragment)."""

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport qsort
from libc.string cimport memcpy, memmove, memset

from faultsim._core.absences cimport absences_of, closed_to_mover
from faultsim._core.containers.bits cimport mask_equal
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.tables.factory cimport factory
from faultsim._core.jobs cimport move_job
from faultsim._core.tables.machine cimport machine_t, permit_t, place_t, same_place
from faultsim._core.scheduling.shadow cimport first_open_of, first_open_time, placed_shadow
from faultsim._core.state cimport JOB_RUNNING, sim_t
from faultsim._core.containers.memory cimport blocks_add_jobs, open_state, own_block
from faultsim._core.status cimport OK

# A running job on its way to another place.
cdef struct mover_t:
    int32_t job
    int32_t nodes
    double decision
    place_t place            # where it goes, and while the promise is checked where it is


cdef struct defragment_t:
    double min_free, max_concentration, cost
    bint always, keep_promise
    bint attempted_before
    uint64_t *last_attempt   # the occupancy after it
    # scratch; at most `nodes` jobs hold nodes
    uint64_t *trial
    uint64_t *blocked
    uint64_t *there
    mover_t *moving
    release_t *items


cdef int movers_descending(const void *a, const void *b) noexcept nogil:
    # Largest allocated size, then earlier decision, then order in the log, which is (submit, index).
    cdef const mover_t *p = <const mover_t *>a
    cdef const mover_t *q = <const mover_t *>b
    if p.nodes != q.nodes:
        return -1 if p.nodes > q.nodes else 1
    if p.decision != q.decision:
        return -1 if p.decision < q.decision else 1
    return (p.job > q.job) - (p.job < q.job)


cdef int movers_by_job(const void *a, const void *b) noexcept nogil:
    cdef int32_t p = (<const mover_t *>a).job, q = (<const mover_t *>b).job
    return (p > q) - (p < q)


cdef int by_end(const void *a, const void *b) noexcept nogil:
    cdef const release_t *p = <const release_t *>a
    cdef const release_t *q = <const release_t *>b
    if p.end != q.end:
        return -1 if p.end < q.end else 1
    return (p.job > q.job) - (p.job < q.job)


cdef bint worth_trying(defragment_t *p, sim_t *s) noexcept nogil:
    cdef machine_t *m = &s.machine
    if s.queue.head == s.queue.end and not p.always:
        return False
    if s.running == 0 or s.free <= 0 or <double>s.free / s.nodes < p.min_free:
        return False
    if p.attempted_before and mask_equal(m.occ, p.last_attempt, m.words):
        return False
    return <double>m.placed.largest_now(m.state) / s.free <= p.max_concentration


cdef int replace_all(defragment_t *p, sim_t *s, int32_t *count) noexcept nogil:
    """Place the running jobs again, into p.trial; p.moving holds those that found a place."""
    cdef const release_t *items = releases_all(&s.releases)
    cdef machine_t *m = &s.machine
    cdef size_t bytes = <size_t>m.words * sizeof(uint64_t)
    cdef int32_t n = 0, i, job, stuck
    cdef mover_t *movers = p.moving
    cdef place_t place
    cdef permit_t permit
    cdef int code
    memcpy(p.blocked, m.occ, bytes)
    for i in range(s.releases.n):
        job = items[i].job
        if job < 0 or s.state[job] != JOB_RUNNING:
            continue                    # down nodes and held jobs stay
        movers[n].job = job
        movers[n].nodes = items[i].nodes
        movers[n].decision = s.decision[job]
        place = m.placed.place_of(m.state, job)
        m.placed.lift(m.state, p.blocked, &place)
        n += 1
    qsort(movers, <size_t>n, sizeof(mover_t), movers_descending)
    while True:
        memcpy(p.trial, p.blocked, bytes)
        stuck = -1
        for i in range(n):
            job = movers[i].job
            s.predictions.window_from = s.now        # until its expected end it must not fail
            s.predictions.window_to = s.expected[job] if s.expected[job] > s.now else s.now
            memset(&permit, 0, sizeof(permit_t))
            permit.forbidden = closed_to_mover(s, job, s.expected[job] + p.cost)
            code = s.placement.choose(s.placement.state, s, job, p.trial, movers[i].nodes,
                                      NULL if permit.forbidden == NULL else &permit, &movers[i].place)
            if code < 0:
                return code
            if code == 0:
                stuck = i
                break
            m.placed.put(m.state, p.trial, &movers[i].place)
        if stuck < 0:
            break
        # It fits nowhere: it keeps its place, and the others are placed around it from the beginning.
        place = m.placed.place_of(m.state, movers[stuck].job)
        m.placed.put(m.state, p.blocked, &place)
        n -= 1
        memmove(&movers[stuck], &movers[stuck + 1], <size_t>(n - stuck) * sizeof(mover_t))
    count[0] = n
    return OK


cdef void swap_places(defragment_t *p, sim_t *s, int32_t n) noexcept nogil:
    cdef machine_t *m = &s.machine
    cdef int32_t i
    cdef place_t place
    for i in range(n):
        place = m.placed.place_of(m.state, p.moving[i].job)
        m.placed.set_place(m.state, p.moving[i].job, &p.moving[i].place)
        p.moving[i].place = place


cdef inline bint mover_stays(const defragment_t *p, const sim_t *s, int32_t i) noexcept nogil:
    cdef place_t place = s.machine.placed.place_of(s.machine.state, p.moving[i].job)
    return same_place(&place, &p.moving[i].place)


cdef bint keeps_promise(defragment_t *p, sim_t *s, int32_t n, int32_t largest) noexcept nogil:
    """Whether the head's shadow time is no later in the new arrangement, given the size of its largest free place."""
    cdef const release_t *items = releases_all(&s.releases)
    cdef machine_t *m = &s.machine
    cdef int32_t head, i, k, count = s.releases.n
    cdef double before, after
    if s.queue.head == s.queue.end:
        return True
    head = s.queue.job[s.queue.head]
    if s.absences.state != NULL:
        before = first_open_time(s, head, p.there, absences_of(s).closed)
    else:
        before = placed_shadow(s, items, count, m.occ, s.need[head], p.there)
    memcpy(p.items, items, <size_t>count * sizeof(release_t))
    if p.cost > 0:
        for i in range(n):
            if not mover_stays(p, s, i):
                for k in range(count):
                    if p.items[k].job == p.moving[i].job:
                        p.items[k].end += p.cost
        qsort(p.items, <size_t>count, sizeof(release_t), by_end)
    swap_places(p, s, n)
    if s.absences.state != NULL:
        after = first_open_of(s, p.items, count, p.trial, head, p.there, absences_of(s).closed)
    elif largest >= s.need[head]:
        after = s.now           # it could start at once
    else:
        after = placed_shadow(s, p.items, count, p.trial, s.need[head], p.there)
    swap_places(p, s, n)
    return after <= before


cdef int rearrange(void *state, void *sim, bint *adopted) noexcept nogil:
    cdef defragment_t *p = <defragment_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef machine_t *m = &s.machine
    cdef int32_t n = 0, i, largest
    cdef int code
    adopted[0] = False
    if not worth_trying(p, s):
        return OK
    code = replace_all(p, s, &n)
    if code < 0:
        return code
    s.n_attempted += 1
    p.attempted_before = True
    largest = m.placed.largest(m.state, p.trial)
    if largest > m.placed.largest_now(m.state):
        s.n_successful += 1
        if not p.keep_promise or keeps_promise(p, s, n, largest):
            adopted[0] = True
            s.epoch += 1        # promises may be missed after a migration (model.md#invariants)
            m.placed.set_occupancy(m.state, p.trial, largest)
            qsort(p.moving, <size_t>n, sizeof(mover_t), movers_by_job)
            for i in range(n):
                if not mover_stays(p, s, i):
                    code = move_job(s, p.moving[i].job, &p.moving[i].place, p.cost)
                    if code < 0:
                        return code
    memcpy(p.last_attempt, m.occ, <size_t>m.words * sizeof(uint64_t))
    return OK


cdef int open_defragment(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef defragment_t *p = <defragment_t *>open_state(&s.migration, sizeof(defragment_t))
    s.migration.rearrange = rearrange
    # What they are compared with are quotients: 63 / 90 is the double 0.7, though 0.7 * 90 is less than 63.
    p.min_free, p.max_concentration = options["min_free"], options["max_concentration"]
    p.cost = s.migration.cost = options["cost"]
    if p.cost > 0 and not s.track.on:
        blocks_add_jobs(&s.blocks, s, &s.paused_until, s.n, sizeof(double))
        if s.blocks.failed:
            raise MemoryError("no memory for the pauses of jobs")
    p.always, p.keep_promise = options["when"] == "always", options["keep_promise"]
    own_block(p, &p.last_attempt, s.machine.words, sizeof(uint64_t))
    own_block(p, &p.trial, s.machine.words, sizeof(uint64_t))
    own_block(p, &p.blocked, s.machine.words, sizeof(uint64_t))
    own_block(p, &p.there, s.machine.words, sizeof(uint64_t))
    own_block(p, &p.moving, s.nodes, sizeof(mover_t))
    own_block(p, &p.items, s.nodes, sizeof(release_t))
    return 0


DEFRAGMENT = factory(open_defragment)
