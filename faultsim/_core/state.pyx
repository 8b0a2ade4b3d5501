"""State of one simulation, and how a job comes and goes; the contract is in sim.pxd."""

from libc.math cimport INFINITY
from libc.stdlib cimport calloc, free as c_free, malloc
from libc.string cimport memcpy, memmove

from faultsim._core.containers.event_queue cimport heap_copy, heap_free, heap_init, heap_push
from faultsim._core.torus.finder_bitmap cimport finder_free, finder_init
from faultsim._core.faults.progress cimport life_alloc, life_book, life_free, life_pause, life_request, life_start
from faultsim._core.cluster.node_sets cimport give_back, most_failures, nodes_copy, nodes_free, take_least_failures
from faultsim._core.record cimport close_stay, open_stay, record_event, record_free
from faultsim._core.containers.releases cimport releases_add, releases_copy, releases_free, releases_init, releases_remove
from faultsim._core.fars.suspicion cimport fars_alloc, fars_copy, fars_free, take_warily
from faultsim._core.torus.occupancy cimport box_size, next_feasible, occ_drop, occ_fill, occ_meets, torus_free, torus_init

cdef extern from "contract.h" nogil:
    void fs_require(bint condition)


# ---------------------------------------------------------------------------------------------- memory

cdef inline void *fresh(size_t count, size_t each) noexcept nogil:
    return calloc(count if count > 0 else 1, each)


cdef inline size_t occ_bytes(const sim_t *s) noexcept nogil:
    if s.is_torus:
        return <size_t>s.torus.words * sizeof(uint64_t)
    return <size_t>((s.nodes + 63) // 64) * sizeof(uint64_t)


cdef int faults_alloc(sim_t *s, size_t words) noexcept nogil:
    cdef faults_t *f = &s.faults
    cdef size_t nodes = s.nodes
    cdef int32_t i
    f.up_at = <double *>fresh(nodes, sizeof(double))
    f.down = <uint8_t *>fresh(nodes, 1)
    f.count = <int32_t *>fresh(nodes, sizeof(int32_t))
    f.struck = <int32_t *>fresh(nodes, sizeof(int32_t))
    f.failing = <uint64_t *>fresh(words, sizeof(uint64_t))
    f.picked = <uint64_t *>fresh(words, sizeof(uint64_t))
    if f.up_at == NULL or f.down == NULL or f.count == NULL or f.struck == NULL or f.failing == NULL:
        return NO_MEMORY
    if f.picked == NULL:
        return NO_MEMORY
    if s.policy.take == take_least_failures or f.evades:
        f.rank = <int32_t *>fresh(nodes, sizeof(int32_t))
        if f.rank == NULL:
            return NO_MEMORY
        for i in range(s.nodes):
            f.rank[i] = i
    if f.tail:
        s.entry = <int64_t *>fresh(s.n, sizeof(int64_t))
        if s.entry == NULL:
            return NO_MEMORY
        for i in range(s.n):
            s.entry[i] = i
        f.next_entry = s.n
    return OK


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
        s.held = <nodes_t **>fresh(n, sizeof(nodes_t *))
        if s.held == NULL:
            return NO_MEMORY
    if s.faults.on and faults_alloc(s, words) < 0:
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
    s.ahead = s.estimate
    if s.fars.on and fars_alloc(s) < 0:
        return NO_MEMORY
    return life_alloc(s) if s.faults.on else OK


cdef void sim_free(sim_t *s) noexcept nogil:
    cdef int32_t i
    cdef nodes_t *set_
    life_free(s)
    fars_free(s)
    c_free(s.faults.up_at)
    c_free(s.faults.down)
    c_free(s.faults.count)
    c_free(s.faults.rank)
    c_free(s.faults.struck)
    c_free(s.faults.failing)
    c_free(s.faults.picked)
    c_free(s.entry)
    c_free(s.state)
    c_free(s.need)
    c_free(s.decision)
    c_free(s.expected)
    c_free(s.promise)
    c_free(s.promise_epoch)
    c_free(s.wait.job)
    c_free(s.wait.look.need)
    c_free(s.wait.look.least)
    c_free(s.wait.key)
    heap_free(&s.heap)
    releases_free(&s.releases)
    c_free(s.occ)
    if s.held != NULL:
        for i in range(s.n):
            nodes_free(s.held[i])
        c_free(s.held)
    while s.spare != NULL:
        set_ = s.spare
        s.spare = set_.next
        nodes_free(set_)
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
    cdef size_t n = source.n, nodes = source.nodes, bytes = occ_bytes(source)
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
    to.wait.look.need = <int32_t *>twin(source.wait.look.need, n * sizeof(int32_t), &bad)
    to.wait.look.least = <float *>twin(source.wait.look.least, n * sizeof(float), &bad)
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
    to.spare = NULL
    if source.held != NULL:
        to.held = <nodes_t **>fresh(n, sizeof(nodes_t *))
        if to.held == NULL:
            bad = 1
        else:
            for i in range(source.n):
                if source.held[i] != NULL:
                    to.held[i] = nodes_copy(source.held[i])
                    if to.held[i] == NULL:
                        bad = 1
    to.life = NULL
    to.spare_life = NULL
    if source.life != NULL:
        to.life = <life_t **>fresh(n, sizeof(life_t *))
        if to.life == NULL:
            bad = 1
        else:
            for i in range(source.n):
                to.life[i] = <life_t *>twin(source.life[i], sizeof(life_t), &bad)
    to.saved = <double *>twin(source.saved, n * sizeof(double), &bad)
    to.killed_at = <double *>twin(source.killed_at, n * sizeof(double), &bad)
    to.started = <uint8_t *>twin(source.started, n, &bad)
    to.rest = <double *>twin(source.rest, n * sizeof(double), &bad)
    to.owed = <double *>twin(source.owed, n * sizeof(double), &bad)
    to.entry = <int64_t *>twin(source.entry, n * sizeof(int64_t), &bad)
    if source.rest != NULL:
        to.ahead = to.rest
    to.faults.up_at = <double *>twin(source.faults.up_at, nodes * sizeof(double), &bad)
    to.faults.down = <uint8_t *>twin(source.faults.down, nodes, &bad)
    to.faults.count = <int32_t *>twin(source.faults.count, nodes * sizeof(int32_t), &bad)
    to.faults.rank = <int32_t *>twin(source.faults.rank, nodes * sizeof(int32_t), &bad)
    to.faults.struck = <int32_t *>twin(source.faults.struck, nodes * sizeof(int32_t), &bad)
    to.faults.picked = <uint64_t *>twin(source.faults.picked, bytes, &bad)
    to.faults.failing = <uint64_t *>twin(source.faults.failing, bytes, &bad)
    if fars_copy(to, source) < 0:
        bad = 1
    return NO_MEMORY if bad else OK


# ---------------------------------------------------------------------------------------------- jobs

cdef int enqueue(sim_t *s, int32_t job) noexcept nogil:
    cdef wait_t *w = &s.wait
    cdef int32_t low, high, mid
    fs_require(s.state[job] == JOB_FUTURE or s.state[job] == JOB_RUNNING)
    if s.entry != NULL:
        s.entry[job] = s.faults.next_entry
        s.faults.next_entry += 1
    s.state[job] = JOB_QUEUED
    s.demand += s.size[job]
    if s.plan.begin != NULL:
        s.plan.begin[job] = INFINITY         # a job that was killed has no reservation until the next pass
    if w.end == s.n:        # the room in front is that of jobs which left
        memmove(w.job, &w.job[w.head], <size_t>(w.end - w.head) * sizeof(int32_t))
        if w.look.need != NULL:
            move_looks(w, 0, w.head, w.end - w.head)
        w.end -= w.head
        s.examined = s.examined - w.head if s.examined > w.head else 0
        w.head = 0
    low = w.end
    if s.policy.order == NULL and w.end > w.head:
        high = w.end
        low = w.head
        # Nearly every arrival belongs at the end.
        if queued_before(s, w.job[high - 1], job):
            low = high
        while low < high:
            mid = (low + high) >> 1
            if queued_before(s, w.job[mid], job):
                low = mid + 1
            else:
                high = mid
    if low < w.end:
        memmove(&w.job[low + 1], &w.job[low], <size_t>(w.end - low) * sizeof(int32_t))
        if w.look.need != NULL:
            move_looks(w, low + 1, low, w.end - low)
        s.change = CHANGED_ALL
        s.epoch += 1         # somebody entered ahead: promises to those behind may be missed
    elif s.change == CHANGED_NOTHING:
        s.change = CHANGED_TAIL
    w.job[low] = job
    if w.look.need != NULL:
        set_look(s, low)
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
    s.allocated[job] = nodes
    s.backfilled[job] = backfilled
    s.free -= nodes
    s.running += 1
    if s.life == NULL:
        s.first_start[job] = begin
        s.finish[job] = begin + s.run[job]
        s.expected[job] = begin + s.estimate[job]
    else:
        if not s.started[job]:
            s.first_start[job] = begin
        if s.restarts[job] > 0:
            s.failure_wait[job] += begin - s.killed_at[job]
        if s.fars.on:
            s.fars.last_wait = s.now - (s.killed_at[job] if s.restarts[job] > 0 else s.submit[job])
            s.fars.sum_of_waits += s.fars.last_wait
            s.fars.n_waits += 1.0
        if life_start(s, job) < 0:
            return NO_MEMORY
    if s.promise_epoch[job] == s.epoch and s.now > s.promise[job]:
        s.missed += 1
    if s.is_torus:
        s.box[job] = box[0]
        occ_fill(&s.torus, s.occ, box)
        s.mfp = -1
    elif s.identities:
        if s.faults.n_predictions > 0:
            aim(s, job, s.now)
        if take_warily(s, job, nodes) < 0:
            return NO_MEMORY
        if s.faults.evades:
            s.life[job].worst = most_failures(s, job)
    if releases_add(&s.releases, s.expected[job], job, nodes) < 0:
        return NO_MEMORY
    if heap_push(&s.heap, s.finish[job], EV_FINISH, job) < 0:
        return NO_MEMORY
    if s.faults.risk and life_request(s, job) < 0:
        return NO_MEMORY
    if s.record.on:
        if record_event(s, EV_START, job, -1) < 0 or open_stay(s, job) < 0:
            return NO_MEMORY
    return OK


cdef void leave_nodes(sim_t *s, int32_t job) noexcept nogil:
    """A running job gives its nodes back: they are free."""
    s.running -= 1
    s.free += s.allocated[job]
    releases_remove(&s.releases, s.expected[job], job)
    if s.is_torus:
        occ_drop(&s.torus, s.occ, &s.box[job])
        s.mfp = -1
    elif s.identities:
        give_back(s, job)
    s.change = CHANGED_ALL
    if s.policy.released != NULL:
        s.policy.released(s, job)
    if s.record.on:
        close_stay(s, job)


cdef void disturb(sim_t *s) noexcept nogil:
    """Something unforeseen: promises are excused, plans are made anew (MODEL 6, 16)."""
    s.change = CHANGED_ALL
    s.epoch += 1
    s.plan.rebuild = True


cdef int finish_job(sim_t *s, int32_t job) noexcept nogil:
    cdef double size = s.size[job]
    fs_require(s.state[job] == JOB_RUNNING and s.finish[job] == s.now)
    if s.expected[job] < s.now:
        s.epoch += 1         # it outlived its estimate: whoever counted on its nodes is excused (MODEL 16)
    leave_nodes(s, job)
    s.state[job] = JOB_DONE
    s.n_done += 1
    if s.life != NULL:
        life_book(s, job, True)
    else:
        # By the clock, so that the accounts sum to N*T to its last bit however short the job and late the time.
        s.ledger[<int>ACC_USEFUL] += size * ((s.now - s.start[job]) - s.policy.move_cost * s.moves[job])
        s.ledger[<int>ACC_START_DELAY] += size * (s.start[job] - s.decision[job])
        s.ledger[<int>ACC_GROWTH] += (s.allocated[job] - size) * (s.now - s.decision[job])
    return record_event(s, EV_FINISH, job, -1) if s.record.on else OK


cdef int move_job(sim_t *s, int32_t job, const box_t *box) noexcept nogil:
    """A migration took a running job to `box`; the caller has rebuilt `occ`."""
    cdef double cost = s.policy.move_cost
    fs_require(s.state[job] == JOB_RUNNING and box_size(box) == s.allocated[job])
    s.box[job] = box[0]
    s.moves[job] += 1
    if cost > 0 and s.life != NULL:
        if life_pause(s, job, cost) < 0:
            return NO_MEMORY
    elif cost > 0:
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
        if record_event(s, EV_MOVE, job, -1) < 0 or open_stay(s, job) < 0:
            return NO_MEMORY
    return OK
