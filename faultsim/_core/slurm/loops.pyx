"""Passes of the main loop, and cycles of the backfill loop (model.md#slurm-passes, model.md#slurm-backfill)."""

from libc.math cimport INFINITY, ceil, floor, fmod
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memmove, memset

from faultsim._core.containers.bits cimport fs_lowest, fs_popcount, mask_has
from faultsim._core.containers.memory cimport enlarged
from faultsim._core.slurm.limits cimport (
    SLURM_ALLOWED, SLURM_REFUSED_GROUP, slurm_after, slurm_amounts, slurm_before, slurm_count, slurm_refuses,
    slurm_verdict_t,
)
from faultsim._core.slurm.preemption cimport slurm_choose_with_victims, slurm_class, slurm_victims
from faultsim._core.slurm.rules cimport (
    SLURM_FEW, SLURM_RESOURCES, SLURM_RUNNING, SLURM_WAITING, slurm_answer_t, slurm_booked_t, slurm_end_t,
    slurm_form_t, slurm_job_t, slurm_preempted_t, slurm_record_t, slurm_room_t,
    slurm_rounded, slurm_run_t, slurm_slot_t, slurm_t,
)
from faultsim._core.slurm.selection cimport (
    slurm_choose, slurm_copy_room, slurm_pick, slurm_refill, slurm_reset_keys, slurm_take,
)
from faultsim._core.status cimport NO_MEMORY, OK

cdef enum:
    FIRST_WINDOW = 30        # seconds to which ends of jobs are taken together at first
    PUT_OFF = 500            # seconds by which a job that a limit refuses is put off, if there is no later time
    MOVES = 10               # times that maintenance may move the start of a job in one attempt


# -- jobs that run

cdef int32_t end_position(const slurm_t *s, double end, int32_t job) noexcept nogil:
    """Where a run stands, or would stand, in `by_end`."""
    cdef int32_t low = 0, high = s.n_running, middle
    cdef const slurm_end_t *each
    while low < high:
        middle = (low + high) // 2
        each = &s.by_end[middle]
        if each.end < end or (each.end == end and each.job < job):
            low = middle + 1
        else:
            high = middle
    return low


cdef void enter_end(slurm_t *s, slurm_run_t *run) noexcept nogil:
    """Enter a run into `by_end`, which has those of `running`."""
    cdef int32_t at = end_position(s, run.end, run.job)
    cdef slurm_end_t *ends = &s.by_end[at]
    memmove(s.by_end + at + 1, s.by_end + at, <size_t>(s.n_running - at) * sizeof(slurm_end_t))
    ends.end, ends.run, ends.job, ends.node, ends.partition = run.end, run, run.job, -1, run.partition
    ends.exclusive = run.exclusive
    if run.n == 1:
        ends.node, ends.cpus, ends.memory, ends.gpus = run.nodes[0], run.cpus[0], run.memory[0], run.gpus[0]


cdef slurm_run_t *enter(slurm_t *s, slurm_record_t *r, int32_t n, double now) noexcept nogil:
    """A job takes the n nodes that were found; NULL: no memory."""
    cdef const slurm_form_t *f = &s.form[r.form]
    cdef slurm_job_t *job = &s.job[r.job]
    cdef int32_t i, node, at
    cdef slurm_run_t *run
    if s.n_running == s.running_room:
        at = 2 * s.running_room + 64
        if not (enlarged(&s.running, at, sizeof(void *)) and enlarged(&s.victim, at, sizeof(void *))
                and enlarged(&s.ended, at, sizeof(void *)) and enlarged(&s.by_end, at, sizeof(slurm_end_t))):
            return NULL
        s.running_room = at
    if s.n_started == s.started_room:
        at = 2 * s.started_room + 64
        if not enlarged(&s.started, at, sizeof(void *)):
            return NULL
        s.started_room = at
    run = <slurm_run_t *>malloc(sizeof(slurm_run_t) + <size_t>n * (sizeof(int64_t) + 3 * sizeof(int32_t)))
    if run == NULL:
        return NULL
    run.memory = <int64_t *>(run + 1)
    run.nodes = <int32_t *>(run.memory + n)
    run.cpus = run.nodes + n
    run.gpus = run.cpus + n
    run.job, run.partition, run.n, run.exclusive = r.job, r.partition, n, f.exclusive
    run.chain, run.warned, run.gone = r.chain, False, -1
    run.start, run.end = now, now + 60.0 * job.limit
    run.kill_at = run.reserved_until = INFINITY
    run.billing, run.usage_factor = 0.0, job.usage_factor
    slurm_amounts(s, f, n, False, run.held)
    for i in range(n):
        node = s.found[i]
        run.nodes[i], run.cpus[i] = node, s.found_cpus[i]
        run.memory[i] = 0
        if s.manages_memory:
            run.memory[i] = f.memory * run.cpus[i] if f.per_cpu else f.memory if f.memory else s.empty.memory[node]
        run.gpus[i] = 0
        if f.gpus and mask_has(f.typed, node):
            run.gpus[i] = max(0, min(f.gpus, s.room.gpus[node]))
    slurm_take(s, &s.room, run, 1)
    slurm_count(s, run, 1)
    s.changes += 1
    enter_end(s, run)
    s.running[s.n_running] = run
    s.n_running += 1
    s.started[s.n_started] = run
    s.n_started += 1
    job.state, job.run = SLURM_RUNNING, run
    return run


cdef void slurm_leave(slurm_t *s, slurm_run_t *run) noexcept nogil:
    cdef int32_t at = end_position(s, run.end, run.job), i = 0
    s.n_running -= 1
    memmove(s.by_end + at, s.by_end + at + 1, <size_t>(s.n_running - at) * sizeof(slurm_end_t))
    while s.running[i] != run:
        i += 1
    memmove(s.running + i, s.running + i + 1, <size_t>(s.n_running - i) * sizeof(void *))
    slurm_take(s, &s.room, run, -1)
    slurm_count(s, run, -1)
    s.job[run.job].run = NULL


cdef void slurm_end_at(slurm_t *s, slurm_run_t *run, double end) noexcept nogil:
    cdef int32_t at = end_position(s, run.end, run.job)
    s.n_running -= 1
    memmove(s.by_end + at, s.by_end + at + 1, <size_t>(s.n_running - at) * sizeof(slurm_end_t))
    run.end = end
    enter_end(s, run)
    s.n_running += 1


cdef int end_victims(slurm_t *s, const slurm_record_t *r) noexcept nogil:
    """Let the jobs in `ended` make room for a record: those without grace time give their nodes back, which are in
    clean-up."""
    cdef int32_t i, k, room = 2 * s.preempted_room + 64
    cdef slurm_run_t *run
    if s.n_preempted + s.n_ended > s.preempted_room:
        room += s.n_ended
        if not enlarged(&s.preempted, room, sizeof(slurm_preempted_t)):
            return NO_MEMORY
        s.preempted_room = room
    for i in range(s.n_ended):
        run = s.ended[i]
        s.preempted[s.n_preempted].run, s.preempted[s.n_preempted].by = run, r.job
        s.n_preempted += 1
        if s.grace[slurm_class(s, run.job, run.partition)] > 0.0:
            continue
        slurm_leave(s, run)
        for k in range(run.n):
            s.cleaning[run.nodes[k] >> 6] |= <uint64_t>1 << (run.nodes[k] & 63)
        s.changes += 1
    return OK


# -- reservations

cdef void slurm_book(slurm_t *s, double now) noexcept nogil:
    cdef int32_t i
    cdef slurm_booked_t *b
    cdef double k
    for i in range(s.n_booked):
        b = &s.booked[i]
        k = 0.0
        if b.every > 0.0:
            k = max(0.0, floor((now - b.first_end) / b.every) - 1.0)
            while ceil(b.first_end + k * b.every) <= now:
                k += 1.0
        b.start, b.end = floor(b.first_start + k * b.every), ceil(b.first_end + k * b.every)


cdef double slurm_next_edge(const slurm_t *s, double now) noexcept nogil:
    cdef int32_t i
    cdef const slurm_booked_t *b
    cdef double first = INFINITY
    for i in range(s.n_booked):
        b = &s.booked[i]
        if b.start > now:
            first = min(first, b.start)
        elif b.end > now:
            first = min(first, b.end)
    return first


cdef inline bint booked_meets(const slurm_booked_t *b, double start, double end) noexcept nogil:
    """Whether a job of this interval would run into a reservation."""
    return b.start < end and start < b.end


cdef bint slurm_reservation_open(const slurm_t *s, const slurm_job_t *job, double now) noexcept nogil:
    cdef const slurm_booked_t *own
    if job.reservation < 0:
        return True
    own = &s.booked[job.reservation]
    return own.start <= now < own.end


cdef void reserve_away(slurm_t *s, const slurm_job_t *job, double start, double end) noexcept nogil:
    """Nodes that reservations of others keep from a job of this interval, into `away`."""
    cdef int32_t i, k
    memset(s.away, 0, <size_t>s.words * sizeof(uint64_t))
    for i in range(s.n_booked):
        if i != job.reservation and booked_meets(&s.booked[i], start, end):
            for k in range(s.words):
                s.away[k] |= s.booked[i].nodes[k]


cdef bint lies_within(const slurm_t *s, const uint64_t *one, const uint64_t *other) noexcept nogil:
    cdef int32_t i
    for i in range(s.words):
        if one[i] & ~other[i]:
            return False
    return True


cdef bint move_behind(slurm_t *s, const slurm_record_t *r, const slurm_job_t *job, double *start) noexcept nogil:
    """Move the start of a job behind maintenance that takes all nodes of its partition; whether it may start at all."""
    cdef int32_t i, _
    cdef const slurm_booked_t *b
    cdef double last
    if job.reservation >= 0:
        start[0] = max(start[0], s.booked[job.reservation].start)
        return True
    for _ in range(MOVES):
        last = -1.0
        for i in range(s.n_booked):
            b = &s.booked[i]
            if (b.maintenance or b.all_nodes) and booked_meets(b, start[0], start[0] + r.limit) and lies_within(
                s, s.of_partition[r.partition], b.nodes
            ):
                last = max(last, b.end)
        if last < 0.0:
            return True
        start[0] = last
    return False


cdef double after_others(slurm_t *s, const slurm_record_t *r, const slurm_job_t *job, double now, double start,
                         double later) noexcept nogil:
    """When to try again for a job that would start at a time, if reservations of others are in its way."""
    cdef int32_t i
    cdef const slurm_booked_t *b
    cdef const uint64_t *nodes = s.of_partition[r.partition]
    cdef bint overlap = False
    cdef double first = INFINITY, again
    if job.reservation >= 0:
        nodes = s.booked[job.reservation].nodes
    for i in range(s.n_booked):
        b = &s.booked[i]
        if b.end >= start:
            first = min(first, b.end)
        if i == job.reservation or (job.reservation >= 0 and b.maintenance):
            continue
        if booked_meets(b, start, start + r.limit):
            overlap = overlap or count_both(s, b.nodes, nodes) > 0
    if not overlap or first == INFINITY:
        return later
    again = ceil(first / s.resolution) * s.resolution + 1.0
    return again if again < now + s.window and (not later or again < later) else later


# -- the main loop

cdef int32_t count_both(const slurm_t *s, const uint64_t *one, const uint64_t *other) noexcept nogil:
    cdef int32_t i, n = 0
    for i in range(s.words):
        n += fs_popcount(one[i] & other[i])
    return n


cdef bint gives_no_place(const slurm_t *s, const slurm_record_t *r, double now) noexcept nogil:
    """Whether a job is too young or its priority too low to keep others from starting."""
    if s.min_age and now - s.job[r.job].submit < s.min_age:
        return True
    return s.min_priority and r.priority < s.min_priority


cdef void close_partition(slurm_t *s, const slurm_record_t *r, int32_t *open_) noexcept nogil:
    """Let no later job of a partition, or of a reservation, start in this pass."""
    cdef int32_t i
    if s.job[r.job].reservation >= 0:
        s.booked[s.job[r.job].reservation].closed = True
        return
    s.closed[r.partition] = True
    open_[0] -= 1
    for i in range(s.words):
        s.usable[i] &= ~s.of_partition[r.partition][i]


cdef void close_after(slurm_t *s, const slurm_record_t *r, double now, int32_t *open_) noexcept nogil:
    """Close the partition of a job that finds no nodes, if it may keep others from starting."""
    if not gives_no_place(s, r, now):
        close_partition(s, r, open_)


cdef bint finds_when_empty(slurm_t *s, const slurm_form_t *f) noexcept nogil:
    """Whether a job that found no nodes would find some if what it was offered were empty."""
    cdef int32_t i, n = 0
    cdef uint64_t rest
    cdef bint busy = False
    for i in range(s.words):
        rest = s.open_[i] & f.nodes[i]
        n += fs_popcount(rest)
        busy |= (rest & s.cleaning[i]) != 0
        s.candidates[i] = rest
        while rest and not s.preempts:
            busy |= s.room.whole[64 * i + fs_lowest(rest)] != 0
            rest &= rest - 1
    if busy and not f.gpus:
        return True              # a test that leaves no marks in the keys of nodes
    return (n >= f.least and slurm_choose(s, f, s.candidates, &s.empty) >= 0) or busy


cdef bint stays_clear(slurm_t *s, const slurm_job_t *job, const slurm_form_t *f, double now) noexcept nogil:
    """Offer a job only nodes of its reservation, and none that others' keep from it; False if its reservation has too
    few left, which then is closed to all in this pass."""
    cdef const uint64_t *own
    cdef int32_t k, n = 0
    reserve_away(s, job, now, now + 60.0 * job.limit)
    if job.reservation >= 0:
        own = s.booked[job.reservation].nodes
        for k in range(s.words):
            n += fs_popcount(own[k] & ~s.away[k])
            s.open_[k] &= own[k]
        if n < f.least:
            for k in range(s.words):
                s.usable[k] &= ~own[k]
            return False
    for k in range(s.words):
        s.open_[k] &= ~s.away[k]
    return True


cdef slurm_verdict_t allowed(slurm_t *s, const slurm_record_t *r, const slurm_form_t *f, int32_t n) noexcept nogil:
    """Whether limits allow a job on the n nodes that were found, or with its requested amounts if none were found."""
    cdef double amounts[SLURM_RESOURCES]
    cdef const slurm_job_t *job = &s.job[r.job]
    if r.chain < 0:
        return SLURM_ALLOWED
    if n < 0:
        return slurm_after(s, r.chain, job.limit, job.asked, NULL, 0)
    slurm_amounts(s, f, n, False, amounts)
    return slurm_after(s, r.chain, job.limit, amounts, s.chosen, n)


cdef inline bint surely_refused(slurm_t *s, const slurm_record_t *r, const slurm_form_t *f) noexcept nogil:
    """Whether limits refuse a job whatever its selection finds, and the selection would change no key."""
    return not f.gpus and slurm_refuses(s, r.chain, s.job[r.job].limit, r.least)


cdef int slurm_pass(slurm_t *s, double now, bint full) noexcept nogil:
    cdef int32_t i, k, n, open_ = 0
    cdef int64_t count = 0
    cdef slurm_record_t *r
    cdef const slurm_job_t *job
    cdef const slurm_form_t *f
    s.n_started = s.n_preempted = 0
    for i in range(s.n_booked):
        s.booked[i].closed = False
    memcpy(s.usable, s.up, <size_t>s.words * sizeof(uint64_t))
    memset(s.closed, 0, <size_t>s.partitions * sizeof(bint))
    memset(s.count_part, 0, <size_t>s.partitions * sizeof(int32_t))
    for i in range(s.partitions):
        open_ += s.in_queue[i] > 0
    for i in range(s.queued):
        if not open_:            # the rest is refused, and changes nothing
            break
        r = &s.record[s.queue[i]]
        job = &s.job[r.job]
        if job.state != SLURM_WAITING or not slurm_reservation_open(s, job, now):
            continue
        s.count_part[r.partition] += 1
        if s.part_depth and s.count_part[r.partition] > s.part_depth:
            continue
        if not full:
            if count > s.depth:
                break
            count += 1
        if s.closed[r.partition] or (job.reservation >= 0 and s.booked[job.reservation].closed):
            continue
        if slurm_before(s, r.chain, job.limit) != SLURM_ALLOWED:
            continue
        f = &s.form[r.form]
        if count_both(s, s.usable, s.of_partition[r.partition]) < f.least:
            close_after(s, r, now, &open_)
            continue
        slurm_reset_keys(s, f.nodes)
        for k in range(s.words):
            s.open_[k] = s.usable[k] & s.of_partition[r.partition][k]
        if s.n_booked and not stays_clear(s, job, f, now):
            continue
        if surely_refused(s, r, f):
            if s.limit_stops:
                close_partition(s, r, &open_)
            continue
        for k in range(s.words):
            s.candidates[k] = s.open_[k] & ~s.cleaning[k]
        n = slurm_choose_with_victims(s, r, f, now)
        if allowed(s, r, f, n) != SLURM_ALLOWED:
            if s.limit_stops:
                close_partition(s, r, &open_)
        elif n >= 0 and s.n_ended:
            if end_victims(s, r) != OK:
                return NO_MEMORY
            close_after(s, r, now, &open_)
        elif n < 0:
            if finds_when_empty(s, f):
                close_after(s, r, now, &open_)
        elif enter(s, r, n, now) == NULL:
            return NO_MEMORY
    return OK


# -- the table of a cycle

cdef int32_t slot_ending(const slurm_t *s, double time, bint at_it) noexcept nogil:
    """The first slot that ends after a time, or `at_it`; the number of slots if there is none."""
    cdef int32_t low = 0, high = s.slots, middle
    while low < high:
        middle = (low + high) // 2
        if s.slot[middle].end < time or (s.slot[middle].end == time and not at_it):
            low = middle + 1
        else:
            high = middle
    return low


cdef int grow_slots(slurm_t *s) noexcept nogil:
    """Room for two more slots.  Slots keep their place in memory while the table is sorted by pointers."""
    cdef int32_t i, room
    cdef slurm_slot_t *pool
    cdef slurm_slot_t **order
    cdef uint64_t *nodes
    if s.slots + 2 <= s.slot_room:
        return OK
    room = 2 * s.slot_room + 64
    pool = <slurm_slot_t *>malloc(<size_t>room * sizeof(slurm_slot_t))
    order = <slurm_slot_t **>malloc(<size_t>room * sizeof(void *))
    nodes = <uint64_t *>malloc(<size_t>room * <size_t>s.words * sizeof(uint64_t))
    if pool == NULL or order == NULL or nodes == NULL:
        free(pool)
        free(order)
        free(nodes)
        return NO_MEMORY
    for i in range(room):
        pool[i].nodes = nodes + <size_t>i * <size_t>s.words
        order[i] = &pool[i]
    for i in range(s.slots):
        pool[i].begin, pool[i].end = s.slot[i].begin, s.slot[i].end
        memcpy(pool[i].nodes, s.slot[i].nodes, <size_t>s.words * sizeof(uint64_t))
    free(s.pool)
    free(s.slot)
    free(s.pool_nodes)
    s.pool, s.slot, s.pool_nodes, s.slot_room = pool, order, nodes, room
    return OK


cdef void cut_slot(slurm_t *s, int32_t at, double time) noexcept nogil:
    """Cut a slot in two; the pointer behind the last slot is that of a spare one."""
    cdef slurm_slot_t *spare = s.slot[s.slots]
    memmove(s.slot + at + 2, s.slot + at + 1, <size_t>(s.slots - at - 1) * sizeof(void *))
    s.slot[at + 1] = spare
    spare.begin, spare.end = time, s.slot[at].end
    memcpy(spare.nodes, s.slot[at].nodes, <size_t>s.words * sizeof(uint64_t))
    s.slot[at].end = time
    s.slots += 1
    s.cut += 1


cdef bint same_nodes(const slurm_t *s, const uint64_t *one, const uint64_t *other) noexcept nogil:
    cdef int32_t i
    for i in range(s.words):
        if one[i] != other[i]:
            return False
    return True


cdef int add_plan(slurm_t *s, double begin, double end, const uint64_t *nodes) noexcept nogil:
    """Enter a plan: take whole nodes out of [begin, end), which lasts at least `resolution` seconds."""
    cdef int32_t first, at, i
    cdef slurm_slot_t *spare
    end = max(end, begin + s.resolution)
    first = slot_ending(s, begin, True)
    if first == s.slots:
        return OK
    if grow_slots(s) != OK:
        return NO_MEMORY
    if s.slot[first].end > begin:
        # A plan at the begin of the first slot leaves an empty slot before it, as in Slurm.
        cut_slot(s, first, begin)
    for at in range(first + 1, s.slots):
        if end < s.slot[at].end:
            cut_slot(s, at, end)
            break
        if end == s.slot[at].end:
            break
    for at in range(first, s.slots):
        if s.slot[at].end > end:
            break
        if s.slot[at].begin >= begin and s.slot[at].end > begin:
            for i in range(s.words):
                s.slot[at].nodes[i] &= ~nodes[i]
    # The first two neighbours that are equal become one.
    for at in range(first, s.slots - 1):
        if same_nodes(s, s.slot[at].nodes, s.slot[at + 1].nodes):
            s.slot[at].end = s.slot[at + 1].end
            spare = s.slot[at + 1]
            s.slots -= 1
            memmove(s.slot + at + 1, s.slot + at + 2, <size_t>(s.slots - at - 1) * sizeof(void *))
            s.slot[s.slots] = spare
            break
    return OK


cdef bint collides(const slurm_t *s, double begin, double end, const uint64_t *nodes) noexcept nogil:
    """Whether some of the nodes are not free somewhere in [begin, end)."""
    cdef int32_t at, i
    for at in range(slot_ending(s, begin, False), s.slots):
        if s.slot[at].begin >= end:
            break
        for i in range(s.words):
            if nodes[i] & ~s.slot[at].nodes[i]:
                return True
    return False


# -- when a job could start

cdef inline bint gives_back(slurm_t *s, const slurm_end_t *each) noexcept nogil:
    """End a job in the room of `later`, if it holds a candidate."""
    cdef slurm_room_t *room = &s.later
    cdef const slurm_run_t *run = each.run
    cdef int32_t i
    if each.node >= 0:
        if not mask_has(s.candidates, each.node):
            return False
        room.cores[each.node] += each.cpus
        room.memory[each.node] += each.memory
        room.gpus[each.node] += each.gpus
        room.jobs[each.node] -= 1
        room.whole[each.node] -= each.exclusive
        room.held[each.node * s.partitions + each.partition] -= each.cpus
        s.touched[each.node >> 6] |= <uint64_t>1 << (each.node & 63)
        return True
    i = 0
    while i < run.n and not mask_has(s.candidates, run.nodes[i]):
        i += 1
    if i == run.n:
        return False
    slurm_take(s, room, run, -1)
    for i in range(run.n):
        s.touched[run.nodes[i] >> 6] |= <uint64_t>1 << (run.nodes[i] & 63)
    return True


cdef inline void skip_gone(const slurm_t *s, int32_t *at, int64_t gone) noexcept nogil:
    """Move to the next run that the test has not taken away."""
    while gone and at[0] < s.n_running and s.by_end[at[0]].run.gone == gone:
        at[0] += 1


cdef void refill_touched(slurm_t *s, const slurm_form_t *f) noexcept nogil:
    """Bring `avail` and `have` of touched candidates up to the room of `later`."""
    cdef int32_t i
    cdef uint64_t rest
    for i in range(s.words):
        rest = s.touched[i] & s.candidates[i] & f.nodes[i]
        while rest:
            slurm_refill(s, f, 64 * i + fs_lowest(rest), &s.later)
            rest &= rest - 1
    memset(s.touched, 0, <size_t>s.words * sizeof(uint64_t))


cdef int64_t remove_victims(slurm_t *s, const slurm_record_t *r, double now) noexcept nogil:
    """Take all jobs that a record may preempt out of the room of `later`: the number of the test, 0 if none."""
    cdef int32_t i, k, n = slurm_victims(s, r, now)
    cdef slurm_run_t *run
    if not n:
        return 0
    s.removals += 1
    for i in range(n):
        run = s.victim[i]
        run.gone = s.removals
        slurm_take(s, &s.later, run, -1)
        for k in range(run.n):
            s.touched[run.nodes[k] >> 6] |= <uint64_t>1 << (run.nodes[k] & 63)
    return s.removals


cdef int32_t will_run(slurm_t *s, const slurm_record_t *r, double now, double *start) noexcept nogil:
    """The earliest time, as Slurm computes it, at which a form fits on `candidates`: sets `start`, and returns the
    number of nodes found, or -1 if it never does."""
    cdef const slurm_form_t *f = &s.form[r.form]
    cdef int32_t at = 0, i, n
    cdef int64_t gone = 0
    cdef const slurm_end_t *each
    cdef const slurm_end_t *last
    cdef const uint64_t *idle = NULL
    cdef double window = FIRST_WINDOW, base = 0.0
    cdef bint begun = False
    n = slurm_choose(s, f, s.candidates, &s.room)
    if n >= 0:
        start[0] = now
        return n
    slurm_copy_room(s, &s.later, &s.room)
    # Invariant: `avail` and `have` are those of the candidates in the room of `later`, without the victims and without
    # the jobs before `at`; both but for the nodes in `touched`.
    memset(s.touched, 0, <size_t>s.words * sizeof(uint64_t))
    if s.preempts:
        gone = remove_victims(s, r, now)
    if gone:
        refill_touched(s, f)
        n = slurm_pick(s, f, &s.later, NULL)
        if n >= 0:
            start[0] = now
            return n
        skip_gone(s, &at, gone)
    if s.busy_first:
        for i in range(s.nodes):
            if s.room.jobs[i]:
                s.idle[i >> 6] &= ~(<uint64_t>1 << (i & 63))
            else:
                s.idle[i >> 6] |= <uint64_t>1 << (i & 63)
        idle = s.idle
    while at < s.n_running:
        last = NULL
        while at < s.n_running:
            each = &s.by_end[at]
            at += 1
            skip_gone(s, &at, gone)
            if not gives_back(s, each):
                continue
            last = each
            if not begun:
                base = each.end + FIRST_WINDOW - fmod(each.end, FIRST_WINDOW)
                begun = True
            if at < s.n_running and s.by_end[at].end > base + window:
                break
        if last == NULL:
            return -1
        refill_touched(s, f)
        window = window + s.linear if s.linear else 2 * window
        while at < s.n_running and s.by_end[at].end > base + window:
            window = window + s.linear if s.linear else 2 * window
        n = slurm_pick(s, f, &s.later, idle)
        if n >= 0:
            start[0] = last.end if last.end > now else max(last.end + s.late, now + 1)
            return n
    return -1


cdef int32_t answer_for(slurm_t *s, const slurm_record_t *r, double now, double *start) noexcept nogil:
    """The same, from an answer to the same question if nothing has changed since."""
    cdef uint64_t mixed = <uint64_t>r.form
    cdef int64_t before = s.changes
    cdef slurm_answer_t *a
    cdef int32_t i, n, qos = s.job[r.job].qos if s.by_qos else 0
    mixed ^= <uint64_t>qos << 32
    for i in range(s.words):
        mixed = (mixed ^ s.candidates[i]) * <uint64_t>0x9E3779B97F4A7C15
        mixed ^= mixed >> 32
    a = &s.answer[mixed & <uint64_t>(s.answers - 1)]
    if a.changes == before and a.form == r.form and a.qos == qos and same_nodes(s, a.candidates, s.candidates):
        for i in range(a.n):
            s.found[i], s.found_cpus[i] = a.nodes[i], a.cpus[i]
        start[0] = a.start
        return a.n
    n = will_run(s, r, now, start)
    if n <= SLURM_FEW and s.changes == before:
        a.changes, a.form, a.qos, a.n, a.start = before, r.form, qos, n, start[0]
        memcpy(a.candidates, s.candidates, <size_t>s.words * sizeof(uint64_t))
        for i in range(n):
            a.nodes[i], a.cpus[i] = s.found[i], s.found_cpus[i]
    return n


# -- a cycle

# What `offered` returns.
cdef enum offer_t:
    TOO_FEW = 0
    ENOUGH = 1
    GIVEN_UP = 2


cdef offer_t offered(slurm_t *s, const slurm_record_t *r, const slurm_form_t *f, double now, double *start_at,
                     double *later) noexcept nogil:
    """Nodes that are free of plans for a job from a time on, into `candidates`, and when to try again (0: never).
    Whether the job could use enough of them if they were empty; reservations may move the time."""
    cdef int32_t at, i
    cdef bint enough = True
    cdef uint64_t some
    cdef double start, end
    cdef const uint64_t *part = s.of_partition[r.partition]
    cdef const slurm_job_t *job = &s.job[r.job]
    cdef const slurm_slot_t *slot
    later[0] = 0.0
    if s.n_booked:
        if not move_behind(s, r, job, start_at):
            return GIVEN_UP
        if job.reservation >= 0 and start_at[0] >= s.booked[job.reservation].end:
            return GIVEN_UP
        reserve_away(s, job, start_at[0], start_at[0] + r.limit)
        for i in range(s.words):
            s.open_[i] = part[i] & ~s.away[i]
            if job.reservation >= 0:
                s.open_[i] &= s.booked[job.reservation].nodes[i]
        part = s.open_
    start = start_at[0]
    end = start + r.limit
    for i in range(s.words):
        s.candidates[i] = f.fitting[i] & s.up[i] & part[i]
    for at in range(slot_ending(s, start, False), s.slots):
        slot = s.slot[at]
        if not later[0] and at + 1 < s.slots:
            for i in range(s.words):
                if s.slot[at + 1].nodes[i] & part[i] & s.up[i] & ~slot.nodes[i]:
                    later[0] = slot.end
                    break
        if slot.begin > end:
            break
        if enough:
            some = 0
            for i in range(s.words):
                s.candidates[i] &= slot.nodes[i]
                some |= s.candidates[i]
            enough = some != 0 and (f.least == 1 or count_both(s, s.candidates, s.candidates) >= f.least)
        elif later[0]:       # slots that follow only take nodes away
            break
    if s.n_booked:
        later[0] = after_others(s, r, job, now, start, later[0])
    return ENOUGH if enough and count_both(s, s.candidates, s.candidates) >= f.least else TOO_FEW


cdef bint too_many(slurm_t *s, const slurm_record_t *r) noexcept nogil:
    """Whether enough jobs of its partition, user or association have been considered; else counts it."""
    cdef const slurm_job_t *job = &s.job[r.job]
    if s.most_part:
        if s.count_part[r.partition] >= s.most_part:
            return True
        s.count_part[r.partition] += 1
    if s.most_user:
        if s.count_user[job.user] >= s.most_user:
            return True
        s.count_user[job.user] += 1
    if s.most_pair:
        if s.count_pair[job.pair] >= s.most_pair:
            return True
        s.count_pair[job.pair] += 1
    if s.most_user_part:
        if s.count_user_part[job.user * s.partitions + r.partition] >= s.most_user_part:
            return True
        s.count_user_part[job.user * s.partitions + r.partition] += 1
    return False


# What `place` returns, besides NO_MEMORY.
cdef enum placed_t:
    GOES_ON = 101
    STOPS = 102


cdef int place(slurm_t *s, slurm_record_t *r, double now, int64_t *tests) noexcept nogil:
    """Start a job, plan it, or neither."""
    cdef const slurm_form_t *f = &s.form[r.form]
    cdef slurm_job_t *job = &s.job[r.job]
    cdef double start = now, later, at = now, begin, end
    cdef double amounts[SLURM_RESOURCES]         # of the plan
    cdef bint no_plan = gives_no_place(s, r, now), cleaning, counted, refused
    cdef int32_t n, i, node, many
    cdef offer_t offer
    cdef slurm_verdict_t verdict
    if s.put_off_in[job.qos] == s.cycles:
        start = max(start, s.put_off[job.qos])
    refused = not s.limit_stops and surely_refused(s, r, f)      # neither started nor planned
    while True:
        n = -1
        offer = offered(s, r, f, now, &start, &later)
        if offer == GIVEN_UP:
            return GOES_ON
        if offer == ENOUGH:
            if r.tested != s.cycles:
                r.tested = s.cycles
                tests[0] += 1
            if refused and not s.n_lowered:
                return GOES_ON
            n = answer_for(s, r, now, &at)
        if n < 0:
            if later and not no_plan:
                start = later
                continue
            return GOES_ON
        at = max(at, start)
        memset(s.planned, 0, <size_t>s.words * sizeof(uint64_t))
        cleaning = False
        for i in range(n):
            node = s.found[i]
            s.planned[node >> 6] |= <uint64_t>1 << (node & 63)
            cleaning = cleaning or mask_has(s.cleaning, node)
        many, counted = n, r.chain >= 0 and not s.limit_stops
        if counted:
            slurm_amounts(s, f, n, True, amounts)
        if at <= now and cleaning:
            at, later = now + 1, 0.0
        if at <= now:
            verdict = SLURM_ALLOWED
            if s.limit_stops:
                verdict = slurm_before(s, r.chain, job.limit)
            if verdict == SLURM_ALLOWED:
                for i in range(s.words):
                    s.candidates[i] &= ~s.cleaning[i]
                slurm_reset_keys(s, s.candidates)
                if refused:
                    return GOES_ON
                n = slurm_choose_with_victims(s, r, f, now)
                verdict = allowed(s, r, f, n)
                if verdict == SLURM_ALLOWED and n >= 0 and not s.n_ended:
                    return start_one(s, r, f, n, now)
            if verdict == SLURM_ALLOWED:
                job.refused = s.cycles
                if n >= 0 and end_victims(s, r) != OK:
                    return NO_MEMORY
                at, later = now, 0.0
            elif s.limit_stops:
                at = put_off(s, job, verdict, later, now)
            else:
                return GOES_ON
        if no_plan:
            return GOES_ON
        if later and at > later:
            start = later
            continue
        if at > now + s.window:
            return GOES_ON
        begin, end = slurm_rounded(at, s.resolution), slurm_rounded(at + r.limit, s.resolution)
        if collides(s, begin, end, s.planned):
            start = at
            continue
        if counted and slurm_after(s, r.chain, job.limit, amounts, s.planned, many) != SLURM_ALLOWED:
            return GOES_ON
        return plan_one(s, r, f, begin, end, job)


cdef double put_off(slurm_t *s, const slurm_job_t *job, slurm_verdict_t verdict, double later,
                    double now) noexcept nogil:
    """When a job that a limit refuses is planned (``assoc_limit_stop``).

    If the limit is one of all jobs of the QOS together, later records of the QOS begin there."""
    cdef double start = later if later else now + PUT_OFF
    if verdict == SLURM_REFUSED_GROUP:
        s.put_off[job.qos], s.put_off_in[job.qos] = start, s.cycles
    return start


cdef int start_one(slurm_t *s, slurm_record_t *r, const slurm_form_t *f, int32_t n, double now) noexcept nogil:
    cdef int32_t i
    cdef slurm_run_t *run = enter(s, r, n, now)
    if run == NULL:
        return NO_MEMORY
    if f.exclusive:
        memset(s.planned, 0, <size_t>s.words * sizeof(uint64_t))
        for i in range(n):
            s.planned[run.nodes[i] >> 6] |= <uint64_t>1 << (run.nodes[i] & 63)
        if add_plan(s, slurm_rounded(now, s.resolution), slurm_rounded(now + r.limit, s.resolution), s.planned) != OK:
            return NO_MEMORY
    if s.most_starts and s.n_started >= s.most_starts:
        return STOPS
    return GOES_ON


cdef int plan_one(slurm_t *s, slurm_record_t *r, const slurm_form_t *f, double begin, double end,
                  slurm_job_t *job) noexcept nogil:
    cdef int32_t i
    cdef uint64_t rest
    cdef bint again = job.planned == s.cycles
    if f.takes_whole:        # the CPUs of its last selection are those of whole nodes
        job.cpus = 0.0
        for i in range(s.words):
            rest = s.planned[i]
            while rest:
                job.cpus += s.empty.cores[64 * i + fs_lowest(rest)]
                rest &= rest - 1
    job.planned = s.cycles
    if s.one_plan and again:
        return GOES_ON
    if s.cut >= s.most_records:
        return STOPS
    if add_plan(s, begin, end, s.planned) != OK:
        return NO_MEMORY
    return GOES_ON


cdef int slurm_cycle(slurm_t *s, double now) noexcept nogil:
    cdef int32_t i
    cdef int64_t tests = 0
    cdef slurm_record_t *r
    cdef int code
    s.cycles += 1
    s.changes += 1
    s.n_started = s.n_preempted = 0
    s.slots = 0
    if grow_slots(s) != OK:
        return NO_MEMORY
    s.slots, s.cut = 1, 1
    s.slot[0].begin, s.slot[0].end = slurm_rounded(now, s.resolution), slurm_rounded(now + s.window, s.resolution)
    memcpy(s.slot[0].nodes, s.up, <size_t>s.words * sizeof(uint64_t))
    memset(s.count_part, 0, <size_t>s.partitions * sizeof(int32_t))
    memset(s.count_user, 0, <size_t>s.users * sizeof(int32_t))
    memset(s.count_pair, 0, <size_t>s.pairs * sizeof(int32_t))
    memset(s.count_user_part, 0, <size_t>s.users * <size_t>s.partitions * sizeof(int32_t))
    for i in range(s.queued):
        r = &s.record[s.queue[i]]
        if s.job[r.job].state != SLURM_WAITING or s.job[r.job].refused == s.cycles:
            continue
        if not slurm_reservation_open(s, &s.job[r.job], now):
            continue
        if tests >= s.most_tests:
            break
        if not s.limit_stops and slurm_before(s, r.chain, s.job[r.job].limit) != SLURM_ALLOWED:
            continue
        if too_many(s, r):
            continue
        code = place(s, r, now, &tests)
        if code == STOPS:
            break
        if code != GOES_ON:
            return code
    return OK
