"""Which nodes a job gets: ``select/cons_tres`` (model.md#slurm-nodes)."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

from faultsim._core.containers.bits cimport fs_lowest, mask_has
from faultsim._core.slurm.rules cimport slurm_form_t, slurm_room_t, slurm_run_t, slurm_t

# Nodes that are taken one after the other until a job has enough: `cpus` and `nodes` are still needed, at most `most`
# nodes may come, and `wanted` CPUs are not given yet.
cdef struct fill_t:
    int64_t cpus, wanted
    int64_t nodes, most


cdef void slurm_take(slurm_t *s, slurm_room_t *room, const slurm_run_t *run, int32_t sign) noexcept nogil:
    cdef int32_t i, node
    for i in range(run.n):
        node = run.nodes[i]
        room.cores[node] -= sign * run.cpus[i]
        room.memory[node] -= sign * run.memory[i]
        room.gpus[node] -= sign * run.gpus[i]
        room.jobs[node] += sign
        room.whole[node] += sign * run.exclusive
        room.held[node * s.partitions + run.partition] += sign * run.cpus[i]


cdef void slurm_copy_room(slurm_t *s, slurm_room_t *into, const slurm_room_t *room) noexcept nogil:
    cdef size_t n = <size_t>s.nodes
    memcpy(into.cores, room.cores, n * sizeof(int32_t))
    memcpy(into.memory, room.memory, n * sizeof(int64_t))
    memcpy(into.gpus, room.gpus, n * sizeof(int32_t))
    memcpy(into.jobs, room.jobs, n * sizeof(int32_t))
    memcpy(into.whole, room.whole, n * sizeof(int32_t))
    memcpy(into.held, room.held, n * <size_t>s.partitions * sizeof(int32_t))


cdef inline void set_key(slurm_t *s, int32_t node, int64_t key) noexcept nogil:
    cdef int64_t plain = s.weight[node] * 256 + 255
    s.changes += s.keys[node] != key
    cdef uint64_t bit = <uint64_t>1 << (node & 63)
    s.n_lowered += (key != plain) - (s.keys[node] != plain)
    s.keys[node] = key
    if key == plain:
        s.lowered[node >> 6] &= ~bit
    else:
        s.lowered[node >> 6] |= bit


cdef void slurm_reset_keys(slurm_t *s, const uint64_t *mask) noexcept nogil:
    cdef int32_t i, node
    cdef uint64_t rest
    for i in range(s.words if s.n_lowered else 0):
        rest = mask[i] & s.lowered[i]
        while rest:
            node = 64 * i + fs_lowest(rest)
            rest &= rest - 1
            set_key(s, node, s.weight[node] * 256 + 255)


cdef inline int32_t cpus_of(const slurm_t *s, const slurm_form_t *f, int32_t node, const slurm_room_t *room,
                            bint all_cores) noexcept nogil:
    """CPUs of a node that a job could have; 0 if it cannot use the node.  With `all_cores`, cores that other jobs hold
    count as free."""
    cdef int64_t cpus, free
    cdef int32_t held, least
    if room.whole[node] or (f.exclusive and room.jobs[node]):
        return 0
    cpus = s.empty.cores[node] if all_cores or f.exclusive else room.cores[node]
    if f.most_cpus >= 0:
        held = 0 if all_cores else room.held[node * s.partitions + f.partition]
        cpus = min(cpus, max(0, f.most_cpus - held))
    if s.manages_memory:
        free = room.memory[node]
        if not f.memory:
            if free < s.empty.memory[node]:
                return 0
        elif not f.per_cpu:
            if free < f.memory:
                return 0
        elif f.exclusive:
            if free < f.memory * cpus:
                return 0
        else:
            if free < f.memory * f.per_task:
                return 0
            cpus = min(cpus, free // f.memory)
            if f.per_task > 1:
                cpus -= cpus % f.per_task
    if f.gpus and (not mask_has(f.typed, node) or room.gpus[node] < f.gpus):
        return 0
    least = f.tasks * f.per_task if f.max_nodes == 1 else f.per_task
    if cpus < max(1, least):
        return 0
    if f.max_nodes == 1 and f.gpus and not f.exclusive:
        cpus = least
    return <int32_t>cpus


cdef void slurm_refill(slurm_t *s, const slurm_form_t *f, int32_t node, const slurm_room_t *room) noexcept nogil:
    cdef int32_t cpus
    cdef int64_t number
    if f.gpus and cpus_of(s, f, node, room, True):
        number = s.empty.gpus[node] if f.exclusive else f.gpus
        set_key(s, node, (s.keys[node] | 255) - min(number, 255))
    if mask_has(s.have, node):
        s.have[node >> 6] &= ~(<uint64_t>1 << (node & 63))
        s.n_have -= 1
        s.sum_have -= s.avail[node]
    cpus = cpus_of(s, f, node, room, False)
    if cpus:
        s.have[node >> 6] |= <uint64_t>1 << (node & 63)
        s.n_have += 1
        s.sum_have += cpus
        s.avail[node] = cpus


cdef void slurm_fill(slurm_t *s, const slurm_form_t *f, const uint64_t *mask, const slurm_room_t *room) noexcept nogil:
    cdef int32_t i, node, least = max(1, f.tasks * f.per_task if f.max_nodes == 1 else f.per_task)
    cdef bint by_cores = not f.gpus and not f.exclusive
    cdef uint64_t rest
    memset(s.have, 0, <size_t>s.words * sizeof(uint64_t))
    s.n_have = 0
    s.sum_have = 0
    for i in range(s.words):
        rest = mask[i] & f.nodes[i]
        if f.gpus:
            rest &= f.typed[i]
        while rest:
            node = 64 * i + fs_lowest(rest)
            rest &= rest - 1
            if by_cores and room.cores[node] < least:
                continue
            slurm_refill(s, f, node, room)


cdef int32_t slurm_choose(slurm_t *s, const slurm_form_t *f, const uint64_t *mask,
                          const slurm_room_t *room) noexcept nogil:
    slurm_fill(s, f, mask, room)
    return slurm_pick(s, f, room, NULL)


cdef inline bint fill_done(const fill_t *fill) noexcept nogil:
    return fill.nodes <= 0 and fill.cpus <= 0


cdef void fill_take(slurm_t *s, const slurm_form_t *f, fill_t *fill, int32_t node) noexcept nogil:
    """Take a node, and of it no more CPUs than leave one for each further node."""
    cdef int64_t cpus = s.avail[node], still
    if not f.exclusive:
        still = max(1, f.least - s.n_chosen)
        cpus = min(cpus, max(fill.wanted - (still - 1), f.per_task))
    s.chosen[node >> 6] |= <uint64_t>1 << (node & 63)
    s.chosen_cpus[node] = <int32_t>cpus
    s.n_chosen += 1
    fill.cpus -= cpus
    fill.wanted -= cpus
    fill.nodes -= 1
    fill.most -= 1


cdef bint try_listed(slurm_t *s, const slurm_form_t *f, const slurm_room_t *room, const uint64_t *idle) noexcept nogil:
    """Whether the listed nodes are enough: one of the ways of choosing them."""
    cdef fill_t fill
    cdef int32_t i, best = -1
    memset(s.chosen, 0, <size_t>s.words * sizeof(uint64_t))
    s.n_chosen = 0
    fill.cpus = fill.wanted = f.need
    fill.nodes = max(f.least, f.max_nodes)
    fill.most = f.most
    if idle != NULL:
        busy_first(s, f, &fill, idle)
    elif f.least_loaded:
        least_loaded(s, f, &fill, room)
    elif s.serial_at_end and f.need == 1 and f.min_nodes <= 1:
        for i in range(s.n_listed):
            if best < 0 or s.keys[s.listed[i]] <= s.keys[best]:
                best = s.listed[i]
        fill_take(s, f, &fill, best)
    else:
        consecutive_best_fit(s, f, &fill)
    return fill.cpus <= 0 and (fill.nodes <= 0 or s.n_chosen >= f.least)


cdef bint find_lowest_key(const slurm_t *s, int64_t *lowest) noexcept nogil:
    """The lowest key of the listed nodes that are not chosen; False if all are."""
    cdef int32_t i, node
    cdef bint found = False
    for i in range(s.n_listed):
        node = s.listed[i]
        if not mask_has(s.chosen, node) and (not found or s.keys[node] < lowest[0]):
            lowest[0], found = s.keys[node], True
    return found


cdef void busy_first(slurm_t *s, const slurm_form_t *f, fill_t *fill, const uint64_t *idle) noexcept nogil:
    """By weight; within a weight first the nodes that hold a job now, then the idle ones, by index.

    Slurm turns to the idle nodes of a weight also where the others were enough, so that one more node is taken.
    """
    cdef int32_t i, node, is_idle
    cdef int64_t lowest = 0
    cdef bint over = fill_done(fill) or fill.most == 0
    while not over:
        if not find_lowest_key(s, &lowest):
            return
        for is_idle in range(2):
            for i in range(s.n_listed):
                node = s.listed[i]
                if s.keys[node] != lowest or mask_has(idle, node) != is_idle or mask_has(s.chosen, node):
                    continue
                fill_take(s, f, fill, node)
                if fill_done(fill) or fill.most == 0:
                    over = True
                    break


cdef void least_loaded(slurm_t *s, const slurm_form_t *f, fill_t *fill, const slurm_room_t *room) noexcept nogil:
    """By weight; within a weight the node with the largest share of free cores."""
    cdef int32_t i, node, best, last
    cdef int64_t lowest = 0
    cdef double share, own
    fill.most = min(fill.most, max(1, f.tasks))
    while fill.most > 0 and not fill_done(fill):
        if not find_lowest_key(s, &lowest):
            return
        last = -1
        while fill.most > 0 and not fill_done(fill):
            best, share = -1, -1.0
            for i in range(s.n_listed):
                node = s.listed[i]
                if mask_has(s.chosen, node) or s.keys[node] != lowest:
                    continue
                own = <double>room.cores[node] / <double>s.empty.cores[node]
                if best < 0 or own > share:
                    if own > share:
                        best, share = node, own
                        if last >= 0 and room.cores[node] == last:
                            break
                    else:
                        best = node
            if best < 0:
                break
            last = room.cores[best]
            fill_take(s, f, fill, best)


cdef void consecutive_best_fit(slurm_t *s, const slurm_form_t *f, fill_t *fill) noexcept nogil:
    """Consecutive best fit: runs of neighbours of equal key, the fullest that is sufficient first."""
    cdef int32_t i, k, node, last = -2, runs = 0, best, fit
    cdef int64_t slack = max(0, f.max_nodes - f.min_nodes) if f.max_nodes else 0
    cdef int64_t total, best_sum, key, best_key
    cdef bint enough, best_enough
    for i in range(s.n_listed):
        node = s.listed[i]
        if node != last + 1 or s.keys[node] != s.keys[last]:
            s.run_first[runs] = i
            s.run_n[runs] = 0
            s.run_sum[runs] = 0
            runs += 1
        s.run_n[runs - 1] += 1
        s.run_sum[runs - 1] += s.avail[node]
        last = node
    # Each turn takes the best of the runs that are left, and drops it: its number of nodes becomes 0.
    while fill.most > 0 and not fill_done(fill):
        best, best_sum, best_enough, best_key = -1, 0, False, 0
        for i in range(runs):
            if not s.run_n[i]:
                continue
            total, key = s.run_sum[i], s.keys[s.listed[s.run_first[i]]]
            enough = total >= fill.cpus and s.run_n[i] >= fill.nodes - slack
            if best < 0 or key < best_key or (
                key == best_key and (
                    (enough and not best_enough) or (enough and total < best_sum)
                    or (not enough and total > best_sum)
                )
            ):
                best, best_sum, best_enough, best_key = i, total, enough, key
        if best < 0:
            return
        fit = -1
        if fill.nodes <= 1:
            for k in range(s.run_first[best], s.run_first[best] + s.run_n[best]):
                node = s.listed[k]
                if s.avail[node] >= fill.cpus and (fit < 0 or s.avail[node] < s.avail[fit]):
                    fit = node
        if fit >= 0:
            fill_take(s, f, fill, fit)
        else:
            for k in range(s.run_first[best], s.run_first[best] + s.run_n[best]):
                node = s.listed[k]
                if fill.most <= 0 or fill_done(fill):
                    break
                if fill.most == 1 and s.avail[node] < fill.cpus:
                    continue
                fill_take(s, f, fill, node)
        s.run_n[best] = 0


cdef int32_t lay_out(slurm_t *s, const slurm_form_t *f) noexcept nogil:
    """CPUs on each chosen node: one task on each, then one more on each in turn that has room for a whole one.

    After a turn that leaves no node room for a whole task, the other tasks are laid on all nodes in turn: each gets the
    CPUs that are left of a node, down to none.
    """
    cdef int32_t i, most, n = 0
    cdef int64_t left
    cdef uint64_t rest
    cdef bint anywhere = True, room_for_more
    for i in range(s.words):
        rest = s.chosen[i]
        while rest:
            s.found[n] = 64 * i + fs_lowest(rest)
            rest &= rest - 1
            n += 1
    if f.exclusive:
        for i in range(n):
            s.found_cpus[i] = s.empty.cores[s.found[i]]
        return n
    for i in range(n):
        most = s.chosen_cpus[s.found[i]]
        s.found_cpus[i] = min(f.per_task, most)
        anywhere &= s.found_cpus[i] == most
    left = max(f.tasks, f.need // max(1, f.per_task)) - n
    while left > 0:
        room_for_more = False
        for i in range(n):
            most = s.chosen_cpus[s.found[i]]
            if left > 0 and (anywhere or most - s.found_cpus[i] >= f.per_task):
                s.found_cpus[i] = min(s.found_cpus[i] + f.per_task, most)
                left -= 1
                room_for_more |= most - s.found_cpus[i] >= f.per_task
        anywhere |= not room_for_more
    return n


cdef int32_t slurm_pick(slurm_t *s, const slurm_form_t *f, const slurm_room_t *room,
                        const uint64_t *idle) noexcept nogil:
    cdef int32_t i, k, node, own, least_cpus, next_cpus
    cdef int64_t total
    cdef uint64_t rest
    cdef bint removed
    # No way of choosing takes more of a node than it has, so too few CPUs are too few for all of them.
    if s.n_have < f.least or s.sum_have < f.need:
        return -1
    s.n_listed = 0
    for i in range(s.words):
        rest = s.have[i]
        while rest:
            s.listed[s.n_listed] = 64 * i + fs_lowest(rest)
            rest &= rest - 1
            s.n_listed += 1
    if try_listed(s, f, room, idle):
        return lay_out(s, f)
    # Again without the nodes of fewest CPUs.  A turn that drops none would choose as the turn before.
    least_cpus, total = 1, s.sum_have
    while s.n_listed > f.least:
        k, removed, next_cpus = 0, False, MANY
        for i in range(s.n_listed):
            node = s.listed[i]
            own = s.avail[node] + (room.gpus[node] if f.gpus else 0)
            if own <= least_cpus and s.n_listed - (i - k) > f.least:
                removed = True
                total -= s.avail[node]
                continue
            next_cpus = min(next_cpus, own)
            s.listed[k] = node
            k += 1
        s.n_listed = k
        if total < f.need:
            return -1
        if removed and try_listed(s, f, room, idle):
            return lay_out(s, f)
        least_cpus = max(least_cpus + 1, next_cpus)
    return -1


cdef enum:
    MANY = 1 << 30
