"""Nodes that jobs share (machine.pxd); the contract is in shares.pxd."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free as c_free, malloc, qsort
from libc.string cimport memcpy

import numpy as np

from faultsim._core.containers.memory cimport (
    close_state, copy_state, jobs_of, open_state, own_block, own_jobs, resize_block,
)
from faultsim._core.containers.releases cimport release_t, releases_all, releases_t
from faultsim._core.contract cimport fs_require
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport hit_t, machine_nodes_t, machine_shares_t, packed_part, range_t
from faultsim._core.thresholds cimport thresholds

# The bits of each amount of a word.
cdef uint64_t CORES = 0x1FFF
cdef uint64_t MEMORY = <uint64_t>0xFFFFFF << MEMORY_AT
cdef uint64_t GPUS = <uint64_t>0xFF << GPUS_AT


cdef bint fits_in(const site_t *m, const ask_t *ask, const uint64_t *free) noexcept nogil:
    cdef int64_t missing = needed(ask)
    cdef const node_block_t *each
    cdef int32_t i = next_block(m, ask, free, 0), node
    while i < m.blocks:
        each = &m.block[i]
        for node in range(each.first, each.first + each.n):
            missing -= served(m, ask, node, free[node])
            if missing <= 0:
                return True
        i = next_block(m, ask, free, i + 1)
    return False


cdef int32_t chosen_cores(const site_t *m) noexcept nogil:
    cdef int32_t i, cores = 0
    for i in range(m.n_chosen):
        cores += cores_of(m.chosen[i].word)
    return cores


# ---------------------------------------------------------------------------------------------- shares of jobs

cdef inline uint64_t most_of_both(uint64_t a, uint64_t b) noexcept nogil:
    return max(a & CORES, b & CORES) | max(a & MEMORY, b & MEMORY) | max(a & GPUS, b & GPUS)


cdef void look_at_block(site_t *m, node_block_t *b) noexcept nogil:
    """`open` of some of its nodes has changed."""
    cdef node_section_t *part = &m.section[b.section]
    cdef uint64_t word = m.open[b.first], most = word
    cdef int32_t i
    b.equal = True
    for i in range(b.first + 1, b.first + b.n):
        b.equal &= m.open[i] == word
        most = most_of_both(most, m.open[i])
    if most == b.most:
        return
    b.most = most
    for i in range(part.first, part.first + part.n):
        most = most_of_both(most, m.block[i].most)
    part.most = most


cdef inline void note_node(site_t *m, int32_t node) noexcept nogil:
    m.changed[m.changes & (N_CHANGED - 1)] = node
    m.changes += 1
    m.section[m.block[m.block_of[node]].section].changes = m.changes


cdef void note_change(site_t *m, int32_t node) noexcept nogil:
    """`open` of a node has changed."""
    note_node(m, node)
    look_at_block(m, &m.block[m.block_of[node]])


cdef void look_at_blocks(site_t *m, const shares_t *mine) noexcept nogil:
    """`open` of the nodes of a job, which are in order, has changed."""
    cdef int32_t i, at, last = -1
    for i in range(mine.n):
        at = m.block_of[mine.item[i].node]
        if at != last:
            look_at_block(m, &m.block[at])
        last = at


cdef int take_shares(void *state, int32_t job) noexcept nogil:
    cdef site_t *m = <site_t *>state
    cdef shares_t *mine = &m.held[job]
    cdef share_t *each
    cdef int32_t i
    mine.item = <share_t *>malloc(<size_t>m.n_chosen * sizeof(share_t))
    if mine.item == NULL:
        return NO_MEMORY
    mine.n = m.n_chosen
    memcpy(mine.item, m.chosen, <size_t>m.n_chosen * sizeof(share_t))
    for i in range(mine.n):
        each = &mine.item[i]
        fs_require(has(m.open[each.node], each.word))
        m.left[each.node] -= each.word
        m.open[each.node] -= each.word
        note_node(m, each.node)
    look_at_blocks(m, mine)
    return OK


cdef inline void note_given(site_t *m, int32_t node) noexcept nogil:
    m.given[m.gives & (N_GIVEN - 1)] = node
    m.gives += 1


cdef void return_shares(void *state, int32_t job, int32_t *free, int32_t *down) noexcept nogil:
    cdef site_t *m = <site_t *>state
    cdef shares_t *mine = &m.held[job]
    cdef share_t *each
    cdef int32_t i
    m.n_chosen = mine.n
    memcpy(m.chosen, mine.item, <size_t>mine.n * sizeof(share_t))
    for i in range(mine.n):
        each = &mine.item[i]
        m.left[each.node] += each.word
        if node_is_down(m, each.node):
            down[0] += cores_of(each.word)
        else:
            m.open[each.node] += each.word
            note_node(m, each.node)
            free[0] += cores_of(each.word)
            note_given(m, each.node)
    look_at_blocks(m, mine)
    c_free(mine.item)
    mine.item, mine.n = NULL, 0


cdef int32_t left_cores(const void *state, int32_t node) noexcept nogil:
    return cores_of((<const site_t *>state).left[node])


cdef int32_t free_cores_of(const void *state, const uint64_t *mask) noexcept nogil:
    cdef const site_t *m = <const site_t *>state
    cdef int32_t node, cores = 0
    for node in range(m.nodes):
        if marked(state, mask, node):
            cores += cores_of(m.open[node])
    return cores


cdef int32_t count_nodes(const void *state, int32_t job) noexcept nogil:
    return (<const site_t *>state).held[job].n


cdef int jobs_ascending(const void *a, const void *b) noexcept nogil:
    cdef int32_t p = (<const int32_t *>a)[0], q = (<const int32_t *>b)[0]
    return (p > q) - (p < q)


cdef const int32_t *jobs_on(void *state, int32_t node, const releases_t *running, int32_t *n) noexcept nogil:
    cdef site_t *m = <site_t *>state
    cdef const release_t *items = releases_all(running)
    cdef int32_t i
    n[0] = 0
    for i in range(running.n):
        if items[i].job < 0 or not holds(m, items[i].job, node):
            continue
        if n[0] == m.cap_found:
            if (resize_block(m, &m.found, 2 * <size_t>m.cap_found * sizeof(int32_t)) < 0
                    or resize_block(m, &m.hit, 2 * <size_t>m.cap_found * sizeof(hit_t)) < 0):
                return NULL
            m.cap_found *= 2
        m.found[n[0]] = items[i].job
        n[0] += 1
    qsort(m.found, <size_t>n[0], sizeof(int32_t), jobs_ascending)
    return m.found


# ---------------------------------------------------------------------------------------------- parts that fail

cdef inline int32_t amount_in(uint64_t word, const int64_t *part) noexcept nogil:
    """How much a node or share has of the one resource that a part names."""
    return cores_of(word) if part[0] > 0 else mebibytes_of(word) if part[1] > 0 else gpus_of(word)


cdef inline uint64_t part_word(const int64_t *part, int64_t fails) noexcept nogil:
    return amounts(fails if part[0] > 0 else 0, fails if part[1] > 0 else 0, fails if part[2] > 0 else 0)


cdef uint64_t share_on(const site_t *m, int32_t job, int32_t node) noexcept nogil:
    cdef const shares_t *mine = &m.held[job]
    cdef int32_t i
    for i in range(mine.n):
        if mine.item[i].node == node:
            return mine.item[i].word
    return 0


cdef int64_t units_up(const site_t *m, int32_t job, int32_t node, const int64_t *part) noexcept nogil:
    """How much a job has of a resource on a node, but for what is down of it."""
    cdef int64_t up = amount_in(share_on(m, job, node), part)
    cdef int32_t i
    for i in range(m.n_kept):
        if m.kept[i].job == job and m.lost[m.kept[i].number].share.node == node:
            up -= amount_in(m.kept[i].word, part)
    return up


cdef inline int64_t overlap_of(int64_t begin, int64_t end, int64_t first, int64_t last) noexcept nogil:
    """How many numbers are in both of two intervals."""
    return max(<int64_t>0, min(end, last) - max(begin, first))


cdef const hit_t *jobs_hit(void *state, int32_t node, const releases_t *running, const int64_t *part, double unit,
                           int64_t *fails, int32_t *n) noexcept nogil:
    cdef site_t *m = <site_t *>state
    cdef int64_t up = amount_in(m.left[node], part), first, last, begin = 0, units
    cdef int32_t i, k = 0, there = 0
    if jobs_on(state, node, running, &there) == NULL:
        return NULL
    for i in range(there):
        m.hit[i].job, m.hit[i].units = m.found[i], units_up(m, m.found[i], node, part)
        up += m.hit[i].units
    fails[0] = min(up, part[0] + part[1] + part[2])
    first = <int64_t>(unit * <double>up)
    last = first + fails[0]
    # Invariant: the units of the jobs before the i-th one end at `begin`; those of them that are hit are the first k.
    for i in range(there):
        units = m.hit[i].units
        m.hit[k].job = m.hit[i].job
        m.hit[k].units = (overlap_of(begin, begin + units, first, last)
                          + overlap_of(begin, begin + units, 0, last - up))
        k += m.hit[k].units > 0
        begin += units
    n[0] = k
    return m.hit


cdef void part_is_down(site_t *m, const share_t *each, int32_t *free, int32_t *down) noexcept nogil:
    fs_require(has(m.left[each.node], each.word))
    m.left[each.node] -= each.word
    if node_is_down(m, each.node):
        return                           # its cores are counted as down already
    m.open[each.node] -= each.word
    note_change(m, each.node)
    free[0] -= cores_of(each.word)
    down[0] += cores_of(each.word)


cdef int32_t lose(void *state, int32_t node, const int64_t *part, int64_t fails, double until, int32_t *free,
                  int32_t *down) noexcept nogil:
    cdef site_t *m = <site_t *>state
    cdef lost_part_t *each = &m.lost[m.n_lost]
    m.n_lost += 1
    each.share.node, each.share.word, each.until = node, part_word(part, fails), until
    part_is_down(m, &each.share, free, down)
    return m.n_lost - 1


cdef int hold_units(void *state, int32_t number, const int64_t *part, const hit_t *held) noexcept nogil:
    cdef site_t *m = <site_t *>state
    cdef kept_part_t *each
    if m.n_kept == m.cap_kept:
        if resize_block(m, &m.kept, 2 * <size_t>m.cap_kept * sizeof(kept_part_t)) < 0:
            return NO_MEMORY
        m.cap_kept *= 2
    each = &m.kept[m.n_kept]
    each.job, each.number, each.word = held.job, number, part_word(part, held.units)
    m.n_kept += 1
    return OK


cdef int32_t regain(void *state, int32_t number, int32_t *free, int32_t *down, const int32_t **jobs,
                    int32_t *n) noexcept nogil:
    cdef site_t *m = <site_t *>state
    cdef share_t *each = &m.lost[number].share
    cdef int32_t i, k = 0
    m.lost[number].until = -1.0
    m.left[each.node] += each.word
    if not node_is_down(m, each.node):
        m.open[each.node] += each.word
        note_change(m, each.node)
        note_given(m, each.node)
        free[0] += cores_of(each.word)
        down[0] -= cores_of(each.word)
    n[0] = 0
    # Invariant: of the first i, the k of other parts are the first ones.  There are no more jobs than were hit.
    for i in range(m.n_kept):
        if m.kept[i].number == number:
            m.found[n[0]] = m.kept[i].job
            n[0] += 1
        else:
            m.kept[k] = m.kept[i]
            k += 1
    m.n_kept = k
    jobs[0] = m.found
    return each.node


cdef int32_t lost_part(const void *state, int32_t number) noexcept nogil:
    cdef const site_t *m = <const site_t *>state
    cdef uint64_t word = m.lost[number].share.word
    cdef int32_t i
    for i in range(m.n_kept):
        if m.kept[i].number == number:
            word += m.kept[i].word
    if word & CORES:
        return packed_part(cores_of(word), 0)
    return packed_part(mebibytes_of(word), 1) if word & MEMORY else packed_part(gpus_of(word), 2)


cdef double kept_until(const void *state, int32_t job) noexcept nogil:
    cdef const site_t *m = <const site_t *>state
    cdef double until = -1.0
    cdef int32_t i
    for i in range(m.n_kept):
        if m.kept[i].job == job:
            until = max(until, m.lost[m.kept[i].number].until)
    return until


cdef double lost_until(const void *state, int32_t number) noexcept nogil:
    return (<const site_t *>state).lost[number].until


cdef int32_t n_lost(const void *state) noexcept nogil:
    return (<const site_t *>state).n_lost


cdef int64_t lose_early(void *state, int32_t node, const int64_t *part, double time, double until) noexcept nogil:
    cdef site_t *m = <site_t *>state
    cdef int64_t up = amount_in(m.total[node], part)
    cdef int32_t i
    for i in range(m.n_lost):
        if m.lost[i].share.node == node and m.lost[i].until > time:
            up -= amount_in(m.lost[i].share.word, part)
    up = min(up, part[0] + part[1] + part[2])
    m.lost[m.n_lost].share.node, m.lost[m.n_lost].share.word = node, part_word(part, up)
    m.lost[m.n_lost].until = until
    m.n_lost += 1
    return up


cdef void keep_early(void *state, double now, int32_t *free, int32_t *down) noexcept nogil:
    cdef site_t *m = <site_t *>state
    cdef int32_t i, k = 0
    for i in range(m.n_lost):
        if m.lost[i].until > now and m.lost[i].share.word:
            m.lost[k] = m.lost[i]
            part_is_down(m, &m.lost[k].share, free, down)
            k += 1
    m.n_lost = k


# ---------------------------------------------------------------------------------------------- the machine

cdef int32_t next_size(const void *state, int32_t size) noexcept nogil:
    return size


cdef void mark(const void *state, uint64_t *mask, int32_t node) noexcept nogil:
    mask[node >> 6] |= (<uint64_t>1) << (node & 63)


cdef void unmark(const void *state, uint64_t *mask, int32_t node) noexcept nogil:
    mask[node >> 6] &= ~((<uint64_t>1) << (node & 63))


cdef bint marked(const void *state, const uint64_t *mask, int32_t node) noexcept nogil:
    return (mask[node >> 6] >> (node & 63)) & 1


cdef void block(void *state, int32_t node) noexcept nogil:
    cdef site_t *m = <site_t *>state
    mark(state, m.occ, node)
    m.open[node] = 0
    note_change(m, node)


cdef void unblock(void *state, int32_t node) noexcept nogil:
    cdef site_t *m = <site_t *>state
    unmark(state, m.occ, node)
    m.open[node] = m.left[node]
    note_change(m, node)
    note_given(m, node)


cdef bint holds(const void *state, int32_t job, int32_t node) noexcept nogil:
    cdef const shares_t *mine = &(<const site_t *>state).held[job]
    cdef int32_t i
    for i in range(mine.n):
        if mine.item[i].node == node:
            return True
    return False


cdef int32_t job_at(void *state, int32_t node, const releases_t *running, int64_t *asked) noexcept nogil:
    """The first of several."""
    cdef int32_t n = 0
    cdef const int32_t *found = jobs_on(state, node, running, &n)
    asked[0] += running.n
    return found[0] if found != NULL and n > 0 else -1


cdef int32_t overlap(const void *state, int32_t job, const uint64_t *mask, const int32_t *list_,
                     int64_t n) noexcept nogil:
    cdef const shares_t *mine = &(<const site_t *>state).held[job]
    cdef int32_t i, k = 0
    for i in range(mine.n):
        k += marked(state, mask, mine.item[i].node)
    return k


cdef bint add_job(const void *state, uint64_t *mask, int32_t job) noexcept nogil:
    cdef const shares_t *mine = &(<const site_t *>state).held[job]
    cdef int32_t i
    for i in range(mine.n):
        mark(state, mask, mine.item[i].node)
    return True


cdef int32_t list_nodes(const void *state, int32_t job, int32_t *out) noexcept nogil:
    cdef const shares_t *mine = &(<const site_t *>state).held[job]
    cdef int32_t i
    for i in range(mine.n):
        out[i] = mine.item[i].node
    return mine.n


cdef int32_t list_ranges(const void *state, int32_t job, range_t *out) noexcept nogil:
    cdef const shares_t *mine = &(<const site_t *>state).held[job]
    cdef int32_t i, n = 0
    for i in range(mine.n):
        if n > 0 and out[n - 1].first + out[n - 1].count == mine.item[i].node:
            out[n - 1].count += 1
        else:
            out[n].first, out[n].count = mine.item[i].node, 1
            n += 1
    return n


cdef const char *own_invariant(void *state) noexcept nogil:
    cdef const site_t *m = <const site_t *>state
    cdef int32_t node, i
    for node in range(m.nodes):
        if not has(m.total[node], m.left[node]):
            return b"more of a node is free than it has"
        if m.open[node] != (0 if node_is_down(m, node) else m.left[node]):
            return b"what is free of a node is not what its jobs leave"
        if not has(m.block[m.block_of[node]].most, m.open[node]):
            return b"more of a node is free than a block of nodes has"
    for i in range(m.blocks):
        if not has(m.section[m.block[i].section].most, m.block[i].most):
            return b"more of a block of nodes is free than a section has"
    return NULL


cdef void close(void *state) noexcept nogil:
    cdef site_t *m = <site_t *>state
    cdef int32_t i
    if m == NULL:
        return
    if m.held != NULL:
        for i in range(<int32_t>jobs_of(m)):
            c_free(m.held[i].item)
    close_state(m)


cdef void *copy(const void *state, const void *sim) noexcept nogil:
    cdef site_t *m = <site_t *>copy_state(state, sim)
    cdef share_t *item
    cdef bint bad = False
    cdef int32_t i
    if m == NULL:
        return NULL
    for i in range(<int32_t>jobs_of(m)):
        if m.held[i].item == NULL:
            continue
        item = NULL if bad else <share_t *>malloc(<size_t>m.held[i].n * sizeof(share_t))
        bad |= item == NULL
        if item != NULL:
            memcpy(item, m.held[i].item, <size_t>m.held[i].n * sizeof(share_t))
        m.held[i].item = item
    if bad:
        close(m)
        return NULL
    return m


cdef machine_nodes_t SITE_NODES
SITE_NODES.mark, SITE_NODES.unmark, SITE_NODES.marked = mark, unmark, marked
SITE_NODES.block, SITE_NODES.unblock, SITE_NODES.holds, SITE_NODES.job_at = block, unblock, holds, job_at
SITE_NODES.overlap, SITE_NODES.add_job = overlap, add_job
SITE_NODES.list_nodes, SITE_NODES.list_ranges = list_nodes, list_ranges

cdef machine_shares_t SITE_SHARES
SITE_SHARES.take_shares, SITE_SHARES.return_shares, SITE_SHARES.left = take_shares, return_shares, left_cores
SITE_SHARES.count, SITE_SHARES.free_on, SITE_SHARES.jobs_on = count_nodes, free_cores_of, jobs_on
SITE_SHARES.jobs_hit, SITE_SHARES.lose, SITE_SHARES.regain = jobs_hit, lose, regain
SITE_SHARES.hold_units, SITE_SHARES.lost_part, SITE_SHARES.kept_until = hold_units, lost_part, kept_until
SITE_SHARES.lost, SITE_SHARES.lost_until = n_lost, lost_until
SITE_SHARES.lose_early, SITE_SHARES.keep_early = lose_early, keep_early


cdef int set_ask(site_t *m, int32_t job, int32_t nodes, int32_t cores, int32_t memory, int32_t gpus, bint by_core,
                 bint exclusive, uint64_t classes) except -1:
    cdef ask_t *ask = &m.ask[job]
    ask.nodes, ask.cores, ask.memory, ask.gpus = nodes, cores, min(memory, 0xFFFFFF), min(gpus, 0xFF)
    ask.by_core, ask.exclusive, ask.classes = by_core, exclusive, classes
    ask.least = amounts(min(ask.cores, 0x1FFF) if ask.nodes else 1, ask.memory, ask.gpus)
    if ask.by_core and ask.nodes:
        raise ValueError("memory for each core is of jobs of any number of nodes")
    return 0


cdef object numbers_of_rows(tuple columns):
    """A number for each row, from 0 on; equal rows have the same."""
    order = np.lexsort(columns)
    begins = np.zeros(len(order), np.int64)
    for column in columns:
        ordered = np.asarray(column)[order]
        begins[1:] |= ordered[1:] != ordered[:-1]
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(begins)
    return numbers


cdef int read_asks(site_t *m, object rows) except -1:
    """What each job requests, and which requests are equal."""
    cdef const int32_t[::1] nodes = rows.nodes, cores = rows.cores, memory = rows.memory, gpus = rows.gpus
    cdef const uint8_t[::1] by_core = np.asarray(rows.by_core).view(np.uint8)
    cdef const uint8_t[::1] exclusive = np.asarray(rows.exclusive).view(np.uint8)
    cdef const uint64_t[::1] classes = rows.classes
    cdef const int64_t[::1] forms
    cdef int32_t i
    numbers = numbers_of_rows((rows.nodes, rows.cores, rows.memory, rows.gpus, rows.by_core, rows.exclusive,
                               rows.classes))
    forms, m.forms = numbers, int(numbers.max(initial=-1)) + 1
    for i in range(m.jobs):
        set_ask(m, i, nodes[i], cores[i], memory[i], gpus[i], by_core[i], exclusive[i], classes[i])
        m.form[i] = <int32_t>forms[i]
    return 0


cdef int make_blocks(site_t *m, object classes) except -1:
    """Each class is cut into sections, and these into blocks; all nodes are empty."""
    cdef int32_t most = thresholds.block_nodes, many = thresholds.section_blocks, node = 0, at = 0, i, left, n
    counts = [-(-row["count"] // most) for row in classes]
    m.blocks, m.sections = sum(counts), sum([-(-count // many) for count in counts])
    own_block(m, &m.block, m.blocks, sizeof(node_block_t))
    own_block(m, &m.block_of, m.nodes, sizeof(int32_t))
    own_block(m, &m.section, m.sections, sizeof(node_section_t))
    own_block(m, &m.by_weight, m.sections, sizeof(int32_t))
    m.sections = 0
    for row in classes:
        left, n = row["count"], 0
        while left > 0:
            if n % many == 0:
                m.section[m.sections].first, m.section[m.sections].most = at, m.open[node]
                m.section[m.sections].weight = m.weight[node]
                m.sections += 1
            m.section[m.sections - 1].n += 1
            m.block[at].first, m.block[at].n, m.block[at].section = node, min(left, most), m.sections - 1
            m.block[at].most, m.block[at].equal = m.open[node], True
            for i in range(m.block[at].n):
                m.block_of[node + i] = at
            node, left, at, n = node + m.block[at].n, left - m.block[at].n, at + 1, n + 1
    for i, at in enumerate(sorted(range(m.sections), key=lambda k: m.section[k].weight)):
        m.by_weight[i] = at
    return 0


cdef int open_site(void *target, dict options, dict columns) except -1:
    cdef machine_t *machine = <machine_t *>target
    cdef site_t *m = <site_t *>open_state(machine, sizeof(site_t))
    cdef int32_t node = 0, at, _i
    machine.copy, machine.close = copy, close
    m.nodes, m.jobs = options["nodes"], columns["n_jobs"]
    m.words = (m.nodes + 63) // 64
    own_block(m, &m.occ, m.words, sizeof(uint64_t))
    own_block(m, &m.total, m.nodes, sizeof(uint64_t))
    own_block(m, &m.left, m.nodes, sizeof(uint64_t))
    own_block(m, &m.open, m.nodes, sizeof(uint64_t))
    own_block(m, &m.bit, m.nodes, sizeof(uint64_t))
    own_block(m, &m.weight, m.nodes, sizeof(int32_t))
    own_block(m, &m.chosen, m.nodes, sizeof(share_t))
    own_jobs(m, &m.ask, m.jobs, sizeof(ask_t))
    own_jobs(m, &m.form, m.jobs, sizeof(int32_t))
    own_jobs(m, &m.held, m.jobs, sizeof(shares_t))
    failures = columns["world"].failures
    if failures is not None and failures.part is not None:
        m.cap_kept = 8
        own_block(m, &m.kept, m.cap_kept, sizeof(kept_part_t))
        own_block(m, &m.lost, <Py_ssize_t>np.count_nonzero(np.asarray(failures.part).any(axis=1)) + 1,
                  sizeof(lost_part_t))
    m.cap_found = 16
    own_block(m, &m.found, m.cap_found, sizeof(int32_t))
    own_block(m, &m.hit, m.cap_found, sizeof(hit_t))
    # Only the order of weights counts.
    order = sorted({row["weight"] for row in options["classes"]})
    for at, row in enumerate(options["classes"]):
        for _i in range(<int32_t>row["count"]):
            m.total[node] = m.left[node] = m.open[node] = amounts(row["cores"], row["memory"], row["gpus"])
            m.bit[node], m.weight[node] = (<uint64_t>1) << at, order.index(row["weight"])
            machine.capacity += cores_of(m.total[node])
            node += 1
    make_blocks(m, options["classes"])
    read_asks(m, columns["world"].asks)
    if columns["world"].live:            # see SiteView.read_requests
        m.forms = m.jobs
    machine.nodes, machine.words, machine.occ = m.nodes, m.words, m.occ
    machine.next_size, machine.own_invariant = next_size, own_invariant
    machine.named, machine.shared = &SITE_NODES, &SITE_SHARES
    return 0


SITE = factory(open_site)
