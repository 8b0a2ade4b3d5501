"""State of one simulation and what happens at an instant; the contract is in sim.pxd."""

from libc.math cimport INFINITY
from libc.stdlib cimport calloc, free as c_free, malloc
from libc.string cimport memcpy, memmove

from faultsim._core.event_queue cimport event_t, heap_copy, heap_free, heap_init, heap_pop, heap_push
from faultsim._core.finder_bitmap cimport finder_free, finder_init
from faultsim._core.recording cimport close_stay, open_stay, record_event, record_free
from faultsim._core.releases cimport releases_add, releases_copy, releases_free, releases_init, releases_remove
from faultsim._core.torus cimport box_size, next_feasible, occ_drop, occ_fill, occ_meets, torus_free, torus_init

cdef extern from "contract.h" nogil:
    void fs_require(bint condition)


# ---------------------------------------------------------------------------------------------- memory

cdef inline void *fresh(size_t count, size_t each) noexcept nogil:
    return calloc(count if count > 0 else 1, each)


cdef inline size_t occ_bytes(const sim_t *s) noexcept nogil:
    if s.is_torus:
        return <size_t>s.torus.words * sizeof(uint64_t)
    return <size_t>((s.nodes + 63) // 64) * sizeof(uint64_t)


cdef int sim_alloc(sim_t *s) noexcept nogil:
    """Allocate all internal memory.  `n`, `nodes`, `is_torus`, `identities`, the torus and the policy are set."""
    cdef size_t n = s.n, bytes = occ_bytes(s), words = bytes // sizeof(uint64_t)
    cdef int32_t i
    s.state = <int8_t *>fresh(n, 1)
    s.need = <int32_t *>fresh(n, sizeof(int32_t))
    s.decision = <double *>fresh(n, sizeof(double))
    s.expected = <double *>fresh(n, sizeof(double))
    s.promise = <double *>fresh(n, sizeof(double))
    s.promise_epoch = <int32_t *>fresh(n, sizeof(int32_t))
    s.wait.job = <int32_t *>fresh(n, sizeof(int32_t))
    if s.state == NULL or s.need == NULL or s.decision == NULL or s.expected == NULL:
        return NO_MEMORY
    if s.promise == NULL or s.promise_epoch == NULL or s.wait.job == NULL:
        return NO_MEMORY
    if heap_init(&s.heap, 256) < 0 or releases_init(&s.releases, 256) < 0:
        return NO_MEMORY
    if s.is_torus or s.identities:
        s.occ = <uint64_t *>fresh(words, sizeof(uint64_t))
        if s.occ == NULL:
            return NO_MEMORY
    if s.identities:
        s.held = <int32_t **>fresh(n, sizeof(int32_t *))
        if s.held == NULL:
            return NO_MEMORY
    if s.is_torus:
        if finder_init(&s.finder, &s.torus) < 0:
            return NO_MEMORY
        s.box = <box_t *>fresh(n, sizeof(box_t))
        s.shadow.occ = <uint64_t *>fresh(words, sizeof(uint64_t))
        s.shadow.fixed = <uint64_t *>fresh(words, sizeof(uint64_t))
        s.last_attempt = <uint64_t *>fresh(words, sizeof(uint64_t))
        s.trial = <uint64_t *>fresh(words, sizeof(uint64_t))
        s.blocked = <uint64_t *>fresh(words, sizeof(uint64_t))
        s.fit_epoch_any = <int32_t *>fresh(s.nodes + 1, sizeof(int32_t))
        s.fit_epoch_long = <int32_t *>fresh(s.nodes + 1, sizeof(int32_t))
        # At most `nodes` jobs run at once (sizes are at least 1).
        s.moving = <mover_t *>fresh(s.nodes, sizeof(mover_t))
        if s.box == NULL or s.shadow.occ == NULL or s.shadow.fixed == NULL or s.last_attempt == NULL:
            return NO_MEMORY
        if s.trial == NULL or s.blocked == NULL or s.fit_epoch_any == NULL or s.fit_epoch_long == NULL:
            return NO_MEMORY
        if s.moving == NULL:
            return NO_MEMORY
    if s.record.on:
        s.record.open_stay = <int64_t *>fresh(n, sizeof(int64_t))
        if s.record.open_stay == NULL:
            return NO_MEMORY
    s.fit_epoch = 1
    s.epoch = 1
    s.mfp = -1
    s.free = s.nodes
    s.now = s.submit[0]
    s.clock = s.submit[0]
    for i in range(s.n):
        s.need[i] = next_feasible(&s.torus, s.size[i]) if s.is_torus else s.size[i]
        s.run[i] = s.runtime[i]
        if s.policy.kill and s.estimate[i] < s.runtime[i]:
            s.run[i] = s.estimate[i]
    return OK


cdef void sim_free(sim_t *s) noexcept nogil:
    cdef int32_t i
    c_free(s.state)
    c_free(s.need)
    c_free(s.decision)
    c_free(s.expected)
    c_free(s.promise)
    c_free(s.promise_epoch)
    c_free(s.wait.job)
    c_free(s.wait.key)
    heap_free(&s.heap)
    releases_free(&s.releases)
    c_free(s.occ)
    if s.held != NULL:
        for i in range(s.n):
            c_free(s.held[i])
        c_free(s.held)
    if s.is_torus:
        finder_free(&s.finder)
        torus_free(&s.torus)
    c_free(s.box)
    c_free(s.shadow.occ)
    c_free(s.shadow.fixed)
    c_free(s.last_attempt)
    c_free(s.trial)
    c_free(s.blocked)
    c_free(s.fit_epoch_any)
    c_free(s.fit_epoch_long)
    c_free(s.moving)
    record_free(&s.record)
    c_free(s.plan.begin)
    c_free(s.plan.end)
    c_free(s.plan.box)
    c_free(s.plan.at)
    c_free(s.plan.level)
    if s.plan.mask != NULL:
        for i in range(s.n):
            c_free(s.plan.mask[i])
        c_free(s.plan.mask)
    c_free(s.plan.window)
    c_free(s.plan.instant)
    c_free(s.plan.times)


cdef inline void *twin(const void *source, size_t bytes, int *bad) noexcept nogil:
    cdef void *to
    if source == NULL:
        return NULL
    to = malloc(bytes if bytes > 0 else 1)
    if to == NULL:
        bad[0] = 1
    else:
        memcpy(to, source, bytes)
    return to


cdef int sim_copy(sim_t *to, const sim_t *source) noexcept nogil:
    """Fork: `to` becomes an independent twin.  The caller sets the result columns, its own arrays, afterwards."""
    cdef size_t n = source.n, bytes = occ_bytes(source)
    cdef int bad = 0
    cdef int32_t i
    to[0] = source[0]
    # Own nothing of the source's before the first thing that can fail.
    to.heap.items = NULL
    to.heap.n = 0
    to.heap.capacity = 0
    if source.is_torus and torus_init(&to.torus, source.torus.x, source.torus.y, source.torus.z, source.torus.wrap) < 0:
        bad = 1
    if source.is_torus and finder_init(&to.finder, &to.torus) < 0:
        bad = 1
    if heap_copy(&to.heap, &source.heap) < 0:
        bad = 1
    if releases_copy(&to.releases, &source.releases) < 0:
        bad = 1
    to.state = <int8_t *>twin(source.state, n, &bad)
    to.need = <int32_t *>twin(source.need, n * sizeof(int32_t), &bad)
    to.decision = <double *>twin(source.decision, n * sizeof(double), &bad)
    to.expected = <double *>twin(source.expected, n * sizeof(double), &bad)
    to.promise = <double *>twin(source.promise, n * sizeof(double), &bad)
    to.promise_epoch = <int32_t *>twin(source.promise_epoch, n * sizeof(int32_t), &bad)
    to.wait.job = <int32_t *>twin(source.wait.job, n * sizeof(int32_t), &bad)
    to.wait.key = <double *>twin(source.wait.key, n * sizeof(double), &bad)
    to.occ = <uint64_t *>twin(source.occ, bytes, &bad)
    to.box = <box_t *>twin(source.box, n * sizeof(box_t), &bad)
    to.shadow.occ = <uint64_t *>twin(source.shadow.occ, bytes, &bad)
    to.shadow.fixed = <uint64_t *>twin(source.shadow.fixed, bytes, &bad)
    if source.shadow.permit.later != NULL:
        to.shadow.permit.later = to.shadow.occ
    if source.shadow.permit.forbidden != NULL:
        to.shadow.permit.forbidden = to.shadow.fixed
    to.last_attempt = <uint64_t *>twin(source.last_attempt, bytes, &bad)
    to.trial = <uint64_t *>twin(source.trial, bytes, &bad)
    to.blocked = <uint64_t *>twin(source.blocked, bytes, &bad)
    to.fit_epoch_any = <int32_t *>twin(source.fit_epoch_any, <size_t>(source.nodes + 1) * sizeof(int32_t), &bad)
    to.fit_epoch_long = <int32_t *>twin(source.fit_epoch_long, <size_t>(source.nodes + 1) * sizeof(int32_t), &bad)
    to.moving = <mover_t *>twin(source.moving, <size_t>source.nodes * sizeof(mover_t), &bad)
    to.record.event = <record_event_t *>twin(
        source.record.event, <size_t>source.record.cap_events * sizeof(record_event_t), &bad)
    to.record.stay = <record_stay_t *>twin(
        source.record.stay, <size_t>source.record.cap_stays * sizeof(record_stay_t), &bad)
    to.record.node = <int32_t *>twin(source.record.node, <size_t>source.record.cap_nodes * sizeof(int32_t), &bad)
    to.record.open_stay = <int64_t *>twin(source.record.open_stay, n * sizeof(int64_t), &bad)
    to.plan.begin = <double *>twin(source.plan.begin, n * sizeof(double), &bad)
    to.plan.end = <double *>twin(source.plan.end, n * sizeof(double), &bad)
    to.plan.box = <box_t *>twin(source.plan.box, n * sizeof(box_t), &bad)
    to.plan.at = <double *>twin(source.plan.at, <size_t>source.plan.capacity * sizeof(double), &bad)
    to.plan.level = <int64_t *>twin(source.plan.level, <size_t>source.plan.capacity * sizeof(int64_t), &bad)
    to.plan.window = <uint64_t *>twin(source.plan.window, bytes, &bad)
    to.plan.instant = <uint64_t *>twin(source.plan.instant, bytes, &bad)
    to.plan.times = <double *>twin(source.plan.times, (n + <size_t>source.nodes + 1) * sizeof(double), &bad)
    to.plan.mask = NULL
    if source.plan.mask != NULL:
        to.plan.mask = <uint64_t **>fresh(n, sizeof(uint64_t *))
        if to.plan.mask == NULL:
            bad = 1
        else:
            for i in range(source.n):
                to.plan.mask[i] = <uint64_t *>twin(source.plan.mask[i], bytes, &bad)
    to.held = NULL
    if source.held != NULL:
        to.held = <int32_t **>fresh(n, sizeof(int32_t *))
        if to.held == NULL:
            bad = 1
        else:
            for i in range(source.n):
                if source.held[i] != NULL:
                    to.held[i] = <int32_t *>twin(
                        source.held[i], <size_t>source.allocated[i] * sizeof(int32_t), &bad)
    return NO_MEMORY if bad else OK


# ---------------------------------------------------------------------------------------------- cluster nodes

cdef int take_lowest(sim_t *s, int32_t job, int32_t count) noexcept nogil:
    """First fit on a cluster (MODEL 7): the lowest free node numbers."""
    cdef int32_t *mine = <int32_t *>malloc(<size_t>count * sizeof(int32_t))
    cdef int32_t node = 0, got = 0
    cdef uint64_t word
    if mine == NULL:
        return NO_MEMORY
    while got < count:
        fs_require(node < s.nodes)
        word = s.occ[node >> 6]
        if word == ~(<uint64_t>0):
            node = ((node >> 6) + 1) << 6
            continue
        if not (word >> (node & 63)) & 1:
            s.occ[node >> 6] = word | ((<uint64_t>1) << (node & 63))
            mine[got] = node
            got += 1
        node += 1
    s.held[job] = mine
    return OK


cdef void give_back(sim_t *s, int32_t job) noexcept nogil:
    cdef int32_t i, node
    for i in range(s.allocated[job]):
        node = s.held[job][i]
        s.occ[node >> 6] &= ~((<uint64_t>1) << (node & 63))
    c_free(s.held[job])
    s.held[job] = NULL


# ---------------------------------------------------------------------------------------------- jobs

cdef void advance_ledger(sim_t *s, double t) noexcept nogil:
    """Idle accounts up to `t`; what jobs hold is booked when they end."""
    cdef double dt = t - s.clock
    cdef int64_t wanted
    if dt > 0:
        wanted = s.demand if s.demand < s.free else s.free
        s.ledger[<int>ACC_IDLE_DEMAND] += dt * <double>wanted
        s.ledger[<int>ACC_IDLE] += dt * <double>(s.free - wanted)
        s.clock = t


cdef int enqueue(sim_t *s, int32_t job) noexcept nogil:
    cdef wait_t *w = &s.wait
    cdef int32_t low, high, mid, other
    fs_require(s.state[job] == JOB_FUTURE)
    s.state[job] = JOB_QUEUED
    s.demand += s.size[job]
    if w.end == s.n:        # the room in front is that of jobs which left
        memmove(w.job, &w.job[w.head], <size_t>(w.end - w.head) * sizeof(int32_t))
        w.end -= w.head
        s.examined = s.examined - w.head if s.examined > w.head else 0
        w.head = 0
    low = w.end
    if s.policy.order == NULL and w.end > w.head:
        high = w.end
        low = w.head
        # Nearly every arrival belongs at the end.
        other = w.job[high - 1]
        if (other < job) if w.key == NULL else (
                w.key[other] < w.key[job] or (w.key[other] == w.key[job] and other < job)):
            low = high
        while low < high:
            mid = (low + high) >> 1
            other = w.job[mid]
            if (other < job) if w.key == NULL else (
                    w.key[other] < w.key[job] or (w.key[other] == w.key[job] and other < job)):
                low = mid + 1
            else:
                high = mid
    if low < w.end:
        memmove(&w.job[low + 1], &w.job[low], <size_t>(w.end - low) * sizeof(int32_t))
        s.change = CHANGED_ALL
        s.epoch += 1         # somebody entered ahead: promises to those behind may be missed
    elif s.change == CHANGED_NOTHING:
        s.change = CHANGED_TAIL
    w.job[low] = job
    w.end += 1
    return OK


cdef void promise_start(sim_t *s, int32_t job, double t) noexcept nogil:
    if s.promise_epoch[job] != s.epoch:
        s.promise_epoch[job] = s.epoch
        s.promise[job] = t
    elif t < s.promise[job]:
        s.promise[job] = t


cdef int start_job(sim_t *s, int32_t job, int32_t nodes, const box_t *box, bint backfilled) noexcept nogil:
    """Give `nodes` nodes (on a torus: `box`) to a queued job; the caller takes it out of the queue."""
    cdef double begin = s.now + s.policy.start_delay
    fs_require(s.state[job] == JOB_QUEUED and s.submit[job] <= s.now)
    fs_require(s.size[job] <= nodes and nodes <= s.free)
    fs_require(not s.is_torus or (box_size(box) == nodes and not occ_meets(&s.torus, s.occ, box)))
    s.state[job] = JOB_RUNNING
    s.demand -= s.size[job]
    s.decision[job] = s.now
    s.start[job] = begin
    s.first_start[job] = begin
    s.finish[job] = begin + s.run[job]
    s.expected[job] = begin + s.estimate[job]
    s.allocated[job] = nodes
    s.backfilled[job] = backfilled
    s.free -= nodes
    if s.promise_epoch[job] == s.epoch and s.now > s.promise[job]:
        s.missed += 1
    if s.is_torus:
        s.box[job] = box[0]
        occ_fill(&s.torus, s.occ, box)
        s.mfp = -1
    elif s.identities and take_lowest(s, job, nodes) < 0:
        return NO_MEMORY
    if releases_add(&s.releases, s.expected[job], job, nodes) < 0:
        return NO_MEMORY
    if heap_push(&s.heap, s.finish[job], EV_FINISH, job) < 0:
        return NO_MEMORY
    if s.record.on:
        if record_event(s, EV_START, job) < 0 or open_stay(s, job) < 0:
            return NO_MEMORY
    return OK


cdef int finish_job(sim_t *s, int32_t job) noexcept nogil:
    cdef double size = s.size[job]
    fs_require(s.state[job] == JOB_RUNNING and s.finish[job] == s.now)
    s.state[job] = JOB_DONE
    s.n_done += 1
    s.free += s.allocated[job]
    # By the clock, so that the accounts sum to N*T to its last bit however short the job and late the time.
    s.ledger[<int>ACC_USEFUL] += size * ((s.now - s.start[job]) - s.policy.move_cost * s.moves[job])
    s.ledger[<int>ACC_START_DELAY] += size * (s.start[job] - s.decision[job])
    s.ledger[<int>ACC_GROWTH] += (s.allocated[job] - size) * (s.now - s.decision[job])
    releases_remove(&s.releases, s.expected[job], job)
    if s.is_torus:
        occ_drop(&s.torus, s.occ, &s.box[job])
        s.mfp = -1
    elif s.identities:
        give_back(s, job)
    s.change = CHANGED_ALL
    if s.expected[job] < s.now:
        s.epoch += 1         # it outlived its estimate: whoever counted on its nodes is excused (MODEL 16)
    if s.policy.released != NULL:
        s.policy.released(s, job)
    if s.record.on:
        close_stay(s, job)
        return record_event(s, EV_FINISH, job)
    return OK


cdef int move_job(sim_t *s, int32_t job, const box_t *box) noexcept nogil:
    """A migration took a running job to `box`; the caller has rebuilt `occ`."""
    cdef double cost = s.policy.move_cost
    fs_require(s.state[job] == JOB_RUNNING and box_size(box) == s.allocated[job])
    s.box[job] = box[0]
    s.moves[job] += 1
    if cost > 0:
        releases_remove(&s.releases, s.expected[job], job)
        s.expected[job] += cost
        s.finish[job] += cost
        s.ledger[<int>ACC_MIGRATION] += s.size[job] * cost
        if releases_add(&s.releases, s.expected[job], job, s.allocated[job]) < 0:
            return NO_MEMORY
        if heap_push(&s.heap, s.finish[job], EV_FINISH, job) < 0:      # the earlier event is stale now
            return NO_MEMORY
    if s.record.on:
        close_stay(s, job)
        if record_event(s, EV_MOVE, job) < 0 or open_stay(s, job) < 0:
            return NO_MEMORY
    return OK


# ---------------------------------------------------------------------------------------------- events

cdef inline bint is_stale(const sim_t *s, const event_t *e) noexcept nogil:
    return s.state[e.serial] != JOB_RUNNING or s.finish[e.serial] != e.time


cdef double next_time(sim_t *s) noexcept nogil:
    """Time of the next event; inf when none is left."""
    cdef event_t e
    cdef double t = INFINITY
    while s.heap.n > 0 and is_stale(s, &s.heap.items[0]):
        heap_pop(&s.heap, &e)
    if s.heap.n > 0:
        t = s.heap.items[0].time
    if s.next_arrival < s.n and s.submit[s.next_arrival] < t:
        t = s.submit[s.next_arrival]
    return t


cdef int run_instant(sim_t *s, double t) noexcept nogil:
    """All events of the instant `t` = next_time(s), in the order of MODEL 2, and the passes they ask for."""
    cdef event_t e
    cdef bint wanted
    cdef int code
    cdef int32_t job
    if t == INFINITY:
        return DONE if s.n_done == s.n else STUCK
    fs_require(t >= s.now)
    advance_ledger(s, t)
    s.now = t
    while True:
        wanted = False
        while s.heap.n > 0 and s.heap.items[0].time == t:
            heap_pop(&s.heap, &e)
            if is_stale(s, &e):
                continue
            code = finish_job(s, <int32_t>e.serial)
            if code < 0:
                return code
            s.n_events += 1
            wanted = True
        while s.next_arrival < s.n and s.submit[s.next_arrival] == t:
            job = s.next_arrival
            s.next_arrival += 1
            if s.record.on and record_event(s, EV_ARRIVAL, job) < 0:
                return NO_MEMORY
            code = enqueue(s, job)
            if code < 0:
                return code
            s.n_events += 1
            wanted = True
        if wanted:
            s.n_passes += 1
            if s.releases.n > 0 and s.releases.items[0].end <= t:
                s.epoch += 1     # somebody outlives its estimate: promises are excused
            code = s.policy.schedule(s)
            if code < 0:
                return code
            s.change = CHANGED_NOTHING
        # A pass may have made events at this very instant (run time 0): drain, then another pass.
        if s.heap.n == 0 or s.heap.items[0].time != t:
            return OK
