"""A cluster whose nodes are known by number; the contracts are in named.pxd and tables/machine.pxd."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

from faultsim._core.cluster.node_sets cimport (
    nodes_add, nodes_add_range, nodes_copy, nodes_free, nodes_have, nodes_list, nodes_new, nodes_ranges,
    nodes_remove, nodes_swap, nodes_t, run_t,
)
from faultsim._core.containers.bits cimport fs_lowest, fs_lowest_bits, fs_popcount, mask_has, ones
from faultsim._core.containers.releases cimport release_t, releases_all, releases_t
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport machine_t, range_t
from faultsim._core.containers.memory cimport close_state, copy_state, open_state, own_block, resize_block
from faultsim._core.status cimport NO_MEMORY, OK


cdef enum:
    FEW = 8                  # nodes to take


# ---------------------------------------------------------------------------------------------- taking nodes

cdef inline nodes_t *set_of(named_t *m, int32_t job) noexcept nogil:
    """The nodes of a job, none so far if it has no set; NULL: no memory."""
    cdef nodes_t *mine = m.held[job]
    if mine == NULL:
        mine = m.spare
        if mine != NULL:
            m.spare = mine.next
            mine.next = NULL
        else:
            mine = nodes_new()
        m.held[job] = mine
    return mine


cdef void note(named_t *m, int32_t job, int32_t word, uint64_t bits) noexcept nogil:
    """These nodes of a word are the job's."""
    cdef int32_t i
    if bits == ~<uint64_t>0:
        for i in range(word << 6, (word + 1) << 6):
            m.owner[i] = job
        return
    while bits:
        m.owner[(word << 6) + fs_lowest(bits)] = job
        bits &= bits - 1


cdef int take_word(named_t *m, int32_t job, int32_t word, uint64_t bits) noexcept nogil:
    cdef nodes_t *mine = set_of(m, job)
    if mine == NULL:
        return NO_MEMORY
    m.occ[word] |= bits
    m.taken += fs_popcount(bits)
    if m.notes:
        note(m, job, word, bits)
    return nodes_add(mine, word, bits)


cdef int32_t next_wide(const named_t *m, int32_t at) noexcept nogil:
    """The first word in which a node may be free, from this word of `open` on."""
    cdef int32_t i = at >> 6, end = (m.words >> 12) + 1
    cdef uint64_t bits
    if i == end:
        return m.words
    bits = m.wide[i] & ((~<uint64_t>0) << (at & 63))
    while bits == 0:
        i += 1
        if i == end:
            return m.words
        bits = m.wide[i]
    at = (i << 6) + fs_lowest(bits)
    return (at << 6) + fs_lowest(m.open[at])


cdef inline void close_words(named_t *m, int32_t word, int32_t end) noexcept nogil:
    """No node of the words from this one up to `end` is free."""
    cdef int32_t next_, i
    while word < end:
        i = word >> 6
        next_ = (i + 1) << 6 if (i + 1) << 6 < end else end
        m.open[i] &= ~(ones(next_ - word) << (word & 63))
        if m.open[i] == 0:
            m.wide[i >> 6] &= ~((<uint64_t>1) << (i & 63))
        word = next_


cdef void free_words(named_t *m, int32_t word, int32_t end) noexcept nogil:
    cdef int32_t next_, i
    memset(&m.occ[word], 0, <size_t>(end - word) * sizeof(uint64_t))
    while word < end:
        i = word >> 6
        next_ = (i + 1) << 6 if (i + 1) << 6 < end else end
        m.open[i] |= ones(next_ - word) << (word & 63)
        m.wide[i >> 6] |= (<uint64_t>1) << (i & 63)
        word = next_


cdef inline int32_t end_of_zeros(const uint64_t *mask, int32_t word, int32_t last) noexcept nogil:
    """The first word that is not 0, or `last`."""
    while word + 4 <= last and mask[word] | mask[word + 1] | mask[word + 2] | mask[word + 3] == 0:
        word += 4
    while word < last and mask[word] == 0:
        word += 1
    return word


cdef int32_t take_whole(named_t *m, int32_t job, nodes_t *mine, int32_t word, int32_t most,
                        const uint64_t *avoid) noexcept nogil:
    """Words of which all nodes are free, from this one on, at most so many; how many, or NO_MEMORY."""
    cdef int32_t end, last = (m.nodes >> 6)
    if most < last - word:
        last = word + most
    end = end_of_zeros(m.occ, word, last)
    if avoid != NULL:
        end = end_of_zeros(avoid, word, end)
    if nodes_add_range(mine, word, end) < 0:
        return NO_MEMORY
    memset(&m.occ[word], 0xff, <size_t>(end - word) * sizeof(uint64_t))
    close_words(m, word, end)
    if m.notes:
        for most in range(word, end):
            note(m, job, most, ~<uint64_t>0)
    return end - word


cdef inline int32_t take_few(uint64_t *bits, int32_t count) noexcept nogil:
    """Keep the lowest bits, at most so many; how many.  Sooner done one by one than counted."""
    cdef uint64_t rest = bits[0]
    cdef int32_t n = 0
    while n < count and rest:
        rest &= rest - 1
        n += 1
    bits[0] ^= rest
    return n


cdef int32_t take_lowest(named_t *m, int32_t job, int32_t count, const uint64_t *avoid,
                         int64_t *words) noexcept nogil:
    cdef int32_t word = next_open(m, 0), there
    cdef uint64_t free, bits
    cdef nodes_t *mine = set_of(m, job)
    if mine == NULL:
        return NO_MEMORY
    m.taken += count
    while count > 0 and word < m.words:
        words[0] += 1
        if m.occ[word] == 0 and count >= 128:
            there = take_whole(m, job, mine, word, count >> 6, avoid)
            if there < 0:
                return NO_MEMORY
            if there > 0:
                words[0] += there - 1
                count -= there << 6
                word = next_open(m, word + there)
                continue
        free = bits = free_nodes(m, word)
        if avoid != NULL:
            bits &= ~avoid[word]
        if bits:
            if count <= <int>FEW:
                there = take_few(&bits, count)
            else:
                there = fs_popcount(bits)
                if there > count:
                    bits = fs_lowest_bits(bits, count)
                    there = count
            m.occ[word] |= bits
            if m.notes:
                note(m, job, word, bits)
            if nodes_add(mine, word, bits) < 0:
                return NO_MEMORY
            count -= there
        if bits == free:
            close_word(m, word)
        if count > 0:
            word = next_open(m, word + 1)
    return count


cdef int change_node(named_t *m, int32_t job, int32_t out, int32_t into) noexcept nogil:
    unblock(m, out)
    mark(m, m.occ, into)
    if m.notes:
        m.owner[into] = job
    return nodes_swap(m.held[job], out, into)


cdef bint named_is_right(const named_t *m) noexcept nogil:
    cdef int32_t word
    for word in range(m.words):
        if free_nodes(m, word) and not (
                mask_has(m.open, word) and mask_has(m.wide, word >> 6)):
            return False
    return True


# ---------------------------------------------------------------------------------------------- the machine

cdef int32_t next_size(const void *state, int32_t size) noexcept nogil:
    return size if size <= (<const named_t *>state).nodes else 0


cdef void mark(const void *state, uint64_t *mask, int32_t node) noexcept nogil:
    mask[node >> 6] |= (<uint64_t>1) << (node & 63)


cdef void unmark(const void *state, uint64_t *mask, int32_t node) noexcept nogil:
    mask[node >> 6] &= ~((<uint64_t>1) << (node & 63))


cdef bint marked(const void *state, const uint64_t *mask, int32_t node) noexcept nogil:
    return (mask[node >> 6] >> (node & 63)) & 1


cdef bint holds(const void *state, int32_t job, int32_t node) noexcept nogil:
    return nodes_have((<const named_t *>state).held[job], node)


cdef void take_notes(named_t *m, const release_t *items, int32_t n) noexcept nogil:
    """From now on; without memory for it, later or never."""
    cdef const nodes_t *mine
    cdef int32_t i, k, word
    if resize_block(m, &m.owner, <size_t>m.nodes * sizeof(int32_t)) < 0:
        return
    m.notes = True
    memset(m.owner, 0, <size_t>m.nodes * sizeof(int32_t))
    for i in range(n):
        if items[i].job >= 0:
            mine = m.held[items[i].job]
            for k in range(mine.n):
                for word in range(mine.run[k].word, mine.run[k].end):
                    note(m, items[i].job, word, mine.run[k].bits)


cdef int32_t job_at(void *state, int32_t node, const releases_t *running, int64_t *asked) noexcept nogil:
    """From the notes, which may be of a job that has left; or by asking all jobs."""
    cdef named_t *m = <named_t *>state
    cdef const release_t *items
    cdef int32_t i, job, n = running.n
    if m.notes:
        job = m.owner[node]
        return job if m.held[job] != NULL and nodes_have(m.held[job], node) else -1
    job = -1
    items = releases_all(running)
    for i in range(n):
        if items[i].job >= 0 and nodes_have(m.held[items[i].job], node):
            job = items[i].job
            n = i + 1
            break
    asked[0] += n
    m.asked += n
    if m.asked > (m.taken + m.nodes) >> 3:        # a look at a job takes about as long as eight notes
        take_notes(m, items, running.n)
    return job


cdef void block(void *state, int32_t node) noexcept nogil:
    mark(state, (<named_t *>state).occ, node)


cdef void unblock(void *state, int32_t node) noexcept nogil:
    unmark(state, (<named_t *>state).occ, node)
    open_word(<named_t *>state, node >> 6)


cdef int32_t overlap(const void *state, int32_t job, const uint64_t *mask, const int32_t *list_,
                     int64_t n) noexcept nogil:
    cdef const nodes_t *mine = (<const named_t *>state).held[job]
    cdef const run_t *run = mine.run
    cdef const run_t *end = run + mine.n
    cdef int32_t word, k = 0
    while run < end:
        k += fs_popcount(run.bits & mask[run.word])
        for word in range(run.word + 1, run.end):
            k += fs_popcount(mask[word])
        run += 1
    return k


cdef void give(void *state, int32_t job) noexcept nogil:
    cdef named_t *m = <named_t *>state
    cdef nodes_t *mine = m.held[job]
    cdef uint64_t *open_ = m.open
    cdef const run_t *run = mine.run
    cdef int32_t i, word, end, wide = -1
    for i in range(mine.n):
        word, end = run[i].word, run[i].end
        if end - word > 1:
            free_words(m, word, end)
            continue
        m.occ[word] &= ~run[i].bits
        open_[word >> 6] |= (<uint64_t>1) << (word & 63)
        if word >> 6 != wide:
            wide = word >> 6
            m.wide[wide >> 6] |= (<uint64_t>1) << (wide & 63)
    if m.latest != NULL or m.least != NULL:
        for i in range(mine.n):
            for word in range(run[i].word, run[i].end):
                loosen(m, word)
    mine.n = 0
    mine.next = m.spare
    m.spare = mine
    m.held[job] = NULL


cdef int32_t drop(void *state, int32_t job, int32_t node) noexcept nogil:
    if nodes_remove((<named_t *>state).held[job], node) < 0:
        return NO_MEMORY
    unblock(state, node)
    return 1


cdef bint add_job(const void *state, uint64_t *mask, int32_t job) noexcept nogil:
    cdef const nodes_t *mine = (<const named_t *>state).held[job]
    cdef const run_t *run = mine.run
    cdef int32_t i, word
    for i in range(mine.n):
        for word in range(run[i].word, run[i].end):
            if mask[word] & run[i].bits:
                return False
            mask[word] |= run[i].bits
    return True


cdef int32_t list_nodes(const void *state, int32_t job, int32_t *out) noexcept nogil:
    return nodes_list((<const named_t *>state).held[job], out)


cdef int32_t list_ranges(const void *state, int32_t job, range_t *out) noexcept nogil:
    return nodes_ranges((<const named_t *>state).held[job], out)


cdef int take_nodes(void *state, int32_t job, const int32_t *list_, int32_t count) noexcept nogil:
    cdef int32_t i
    for i in range(count):
        if take_word(<named_t *>state, job, list_[i] >> 6, (<uint64_t>1) << (list_[i] & 63)) < 0:
            return NO_MEMORY
    return OK


cdef void close(void *state) noexcept nogil:
    cdef named_t *m = <named_t *>state
    cdef nodes_t *set_
    cdef int32_t i
    if m == NULL:
        return
    if m.held != NULL:
        for i in range(m.jobs):
            nodes_free(m.held[i])
    while m.spare != NULL:
        set_ = m.spare
        m.spare = set_.next
        nodes_free(set_)
    close_state(m)


cdef void *copy(const void *state, const void *sim) noexcept nogil:
    cdef named_t *m = <named_t *>copy_state(state, sim)
    cdef bint bad = False
    cdef int32_t i
    if m == NULL:
        return NULL
    m.spare = NULL
    for i in range(m.jobs):
        if m.held[i] != NULL:
            m.held[i] = NULL if bad else nodes_copy(m.held[i])
            bad |= m.held[i] == NULL
    if bad:
        close(m)
        return NULL
    return m


cdef int open_named(void *target, dict options, dict columns) except -1:
    cdef machine_t *machine = <machine_t *>target
    cdef named_t *m = <named_t *>open_state(machine, sizeof(named_t))
    cdef int32_t word
    machine.copy, machine.close = copy, close
    m.nodes, m.jobs = options["nodes"], columns["n_jobs"]
    m.words = (m.nodes + 63) // 64
    own_block(m, &m.occ, m.words, sizeof(uint64_t))
    # One word more than there are, so that looking from the end on finds an empty one.
    own_block(m, &m.open, (m.words >> 6) + 1, sizeof(uint64_t))
    own_block(m, &m.wide, (m.words >> 12) + 1, sizeof(uint64_t))
    for word in range(m.words):
        open_word(m, word)
    own_block(m, &m.owner, 0, sizeof(int32_t))
    own_block(m, &m.held, m.jobs, sizeof(nodes_t *))
    machine.nodes, machine.words, machine.occ = m.nodes, m.words, m.occ
    machine.named = True
    machine.next_size, machine.mark, machine.unmark, machine.marked = next_size, mark, unmark, marked
    machine.holds, machine.overlap, machine.block, machine.unblock = holds, overlap, block, unblock
    machine.give, machine.drop, machine.add_job, machine.list_nodes = give, drop, add_job, list_nodes
    machine.take_nodes, machine.list_ranges, machine.job_at = take_nodes, list_ranges, job_at
    return 0


NAMED = factory(open_named)
