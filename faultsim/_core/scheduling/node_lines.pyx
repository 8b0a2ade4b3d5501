"""What is free of each node of a site from now on; the contract is in node_lines.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

from faultsim._core.containers.memory cimport own_block, resize_block
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.contract cimport fs_require
from faultsim._core.site.shares cimport (
    amounts, ask_t, cores_of, gpus_of, has, is_node_repair, least_of_both, less, mebibytes_of, needed, node_is_down,
    offer_of, served, share_t, shares_returned, site_of,
)
from faultsim._core.state cimport end_if_started_at
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.thresholds cimport thresholds


cdef int open_node_lines(void *owner, node_lines_t *f, int32_t nodes) except -1:
    f.nodes = nodes
    f.room = nodes + min(256, thresholds.first_room)
    own_block(owner, &f.step, f.room, sizeof(step_t))
    own_block(owner, &f.first, nodes, sizeof(int32_t))
    own_block(owner, &f.late, nodes, sizeof(uint64_t))
    return own_block(owner, &f.start, nodes, sizeof(double))


cdef int32_t new_step(void *owner, node_lines_t *f, double at, uint64_t free, int32_t next_) noexcept nogil:
    """Its position; -1: no memory."""
    cdef int32_t i = f.unused
    if i >= 0:
        f.unused = f.step[i].next
    else:
        if f.n == f.room:
            if resize_block(owner, &f.step, 2 * <size_t>f.room * sizeof(step_t)) < 0:
                return -1
            f.room *= 2
        i = f.n
        f.n += 1
    f.step[i].at, f.step[i].free, f.step[i].next = at, free, next_
    return i


cdef inline void unlink_next(node_lines_t *f, int32_t i) noexcept nogil:
    cdef int32_t gone = f.step[i].next
    f.step[i].next = f.step[gone].next
    f.step[gone].next = f.unused
    f.unused = gone


cdef int free_from(void *owner, node_lines_t *f, int32_t *last, int32_t node, double t, uint64_t free) noexcept nogil:
    """From t on, after all steps of a node or with the last one, so much is free of it."""
    cdef int32_t i
    if t <= f.step[last[0]].at:
        f.step[last[0]].free = free
        return OK
    i = new_step(owner, f, t, free, -1)
    if i < 0:
        return NO_MEMORY
    f.step[last[0]].next = i
    last[0] = i
    return OK


cdef int32_t last_of(const node_lines_t *f, int32_t node) noexcept nogil:
    cdef int32_t i = f.first[node]
    while f.step[i].next >= 0:
        i = f.step[i].next
    return i


cdef int lines_of_running(void *owner, node_lines_t *f, const sim_t *s) noexcept nogil:
    cdef const site_t *m = site_of(&s.machine)
    cdef const release_t *items = releases_all(&s.releases)
    cdef uint64_t *left = f.late         # what no job holds any more, up to the release in question
    cdef const share_t *returned
    cdef uint64_t free
    cdef int32_t node, i, k, last, n = 0
    f.n, f.unused, f.any_late = 0, -1, False
    for node in range(m.nodes):
        f.first[node] = new_step(owner, f, s.now, m.open[node], -1)
        if f.first[node] < 0:
            return NO_MEMORY
        left[node] = m.left[node]
        f.start[node] = 1.0 if node_is_down(m, node) else 0.0
    # Invariant: the lines have all releases before the i-th one.
    for i in range(s.releases.n):
        if items[i].end == INFINITY:
            break
        if is_node_repair(m, items[i].job):
            node = -1 - items[i].job
            f.start[node] = 0.0
            last = last_of(f, node)
            if free_from(owner, f, &last, node, items[i].end, left[node]) < 0:
                return NO_MEMORY
            continue
        returned = shares_returned(m, items[i].job, &n)
        for k in range(n):
            node = returned[k].node
            left[node] += returned[k].word
            if f.start[node] == 1.0:     # still down
                continue
            last = last_of(f, node)
            if free_from(owner, f, &last, node, items[i].end, left[node]) < 0:
                return NO_MEMORY
    for node in range(m.nodes):
        free = f.step[f.first[node]].free
        f.late[node] = free - m.open[node]
        f.any_late |= f.late[node] != 0
    return OK


cdef void forget_until(node_lines_t *f, int32_t node, double t) noexcept nogil:
    cdef int32_t i = f.first[node], next_ = f.step[i].next
    while next_ >= 0 and f.step[next_].at <= t:
        f.step[i].at, f.step[i].free = f.step[next_].at, f.step[next_].free
        unlink_next(f, i)
        next_ = f.step[i].next


cdef int change_line_of(void *owner, node_lines_t *f, int32_t node, double begin, double end, uint64_t word,
                        bint takes) noexcept nogil:
    cdef int32_t before = -1, i = f.first[node], k
    if not begin < end:
        return OK
    # Step `i` begins at `begin`, or holds then and is the first.
    while f.step[i].next >= 0 and f.step[f.step[i].next].at <= begin:
        before, i = i, f.step[i].next
    if f.step[i].at < begin:
        k = new_step(owner, f, begin, f.step[i].free, f.step[i].next)
        if k < 0:
            return NO_MEMORY
        f.step[i].next = k
        before, i = i, k
    while True:
        k = f.step[i].next
        if (k < 0 or f.step[k].at > end) and end < INFINITY:
            k = new_step(owner, f, end, f.step[i].free, k)
            if k < 0:
                return NO_MEMORY
            f.step[i].next = k
        if takes:
            fs_require(has(f.step[i].free, word))
            f.step[i].free -= word
        else:
            f.step[i].free += word
        if before >= 0 and f.step[before].free == f.step[i].free:
            unlink_next(f, before)
        else:
            before = i
        if k < 0:
            return OK
        i = k
        if f.step[i].at >= end:
            break
    if f.step[before].free == f.step[i].free:
        unlink_next(f, before)
    return OK


cdef inline int32_t step_at(const node_lines_t *f, int32_t node, double t) noexcept nogil:
    cdef int32_t i = f.first[node], k = f.step[i].next
    while k >= 0 and f.step[k].at <= t:
        i = k
        k = f.step[i].next
    return i


cdef uint64_t free_throughout(const node_lines_t *f, int32_t node, double t, double end) noexcept nogil:
    cdef int32_t i = step_at(f, node, t)
    cdef uint64_t free = f.step[i].free
    i = f.step[i].next
    while i >= 0 and f.step[i].at < end:
        free = least_of_both(free, f.step[i].free)
        i = f.step[i].next
    return free


cdef uint64_t free_for(const node_lines_t *f, const site_t *m, const ask_t *ask, int32_t node, double t,
                       double end) noexcept nogil:
    cdef int32_t i
    cdef uint64_t free
    if not m.bit[node] & ask.classes:
        return 0
    i = step_at(f, node, t)
    free = f.step[i].free
    while offer_of(m, ask, node, free) > 0:
        i = f.step[i].next
        if i < 0 or not f.step[i].at < end:
            return free
        free = least_of_both(free, f.step[i].free)
    return 0


cdef uint64_t most_free(const node_lines_t *f, int32_t node, double t, double end) noexcept nogil:
    cdef int32_t i = step_at(f, node, t)
    cdef uint64_t free = f.step[i].free, other
    i = f.step[i].next
    while i >= 0 and f.step[i].at < end:
        other = f.step[i].free
        free = amounts(max(cores_of(free), cores_of(other)), max(mebibytes_of(free), mebibytes_of(other)),
                       max(gpus_of(free), gpus_of(other)))
        i = f.step[i].next
    return free


cdef void none_late(node_lines_t *f) noexcept nogil:
    if f.any_late:
        memset(f.late, 0, <size_t>f.nodes * sizeof(uint64_t))
    f.any_late = False


cdef void hold_late(node_lines_t *f, const share_t *share, int32_t n) noexcept nogil:
    cdef int32_t i
    for i in range(n):
        f.late[share[i].node] += share[i].word
    f.any_late = True


cdef uint64_t really_free(const node_lines_t *f, int32_t node, uint64_t free) noexcept nogil:
    return less(free, f.late[node])


cdef double next_start(const node_lines_t *f, const site_t *m, const sim_t *s, int32_t job, int32_t node, double t,
                       double stop) noexcept nogil:
    cdef const ask_t *ask = &m.ask[job]
    cdef int32_t i, k
    cdef double end
    if not m.bit[node] & ask.classes:
        return INFINITY
    i = step_at(f, node, t)
    # Invariant: no time before t serves; step `i` holds at t.
    while t <= stop:
        while offer_of(m, ask, node, f.step[i].free) == 0:
            i = f.step[i].next
            if i < 0:
                return INFINITY
            t = f.step[i].at
            if t > stop:
                return INFINITY
        end = end_if_started_at(s, job, t)
        k = f.step[i].next
        while k >= 0 and f.step[k].at < end and offer_of(m, ask, node, f.step[k].free) > 0:
            k = f.step[k].next
        if k < 0 or not f.step[k].at < end:
            return t
        i, t = k, f.step[k].at
    return INFINITY


cdef double first_of_any(node_lines_t *f, const site_t *m, const sim_t *s, int32_t job, double t,
                         double stop) noexcept nogil:
    """`earliest_start` of a job that takes any number of nodes: what a node offers may grow in steps."""
    cdef const ask_t *ask = &m.ask[job]
    cdef double end, after
    cdef int64_t there
    cdef int32_t node, k
    while t <= stop:
        end, after, there = end_if_started_at(s, job, t), INFINITY, 0
        for node in range(m.nodes):
            if not m.bit[node] & ask.classes:
                continue
            there += served(m, ask, node, free_throughout(f, node, t, end))
            k = f.step[step_at(f, node, t)].next
            if k >= 0:
                after = min(after, f.step[k].at)
        if there >= needed(ask):
            return t
        if after == INFINITY:
            return INFINITY
        t = after
    return INFINITY


cdef double earliest_start(node_lines_t *f, const site_t *m, const sim_t *s, int32_t job, double t,
                           double stop) noexcept nogil:
    cdef const ask_t *ask = &m.ask[job]
    cdef double best = INFINITY, after
    cdef int32_t node, n
    if ask.nodes == 0:
        return first_of_any(f, m, s, job, t, stop)
    if ask.nodes == 1:
        for node in range(m.nodes):
            best = min(best, next_start(f, m, s, job, node, t, min(stop, best)))
            if best <= t:
                break
        return best
    for node in range(m.nodes):
        f.start[node] = -INFINITY
    while t <= stop:
        n, after = 0, INFINITY
        for node in range(m.nodes):
            if f.start[node] < t:
                f.start[node] = next_start(f, m, s, job, node, t, stop)
            if f.start[node] <= t:
                n += 1
            else:
                after = min(after, f.start[node])
        if n >= ask.nodes:
            return t
        t = after
        if t == INFINITY:
            break
    return INFINITY
