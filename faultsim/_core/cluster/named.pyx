"""A cluster with numbered nodes; the contracts are in named.pxd and tables/machine.pxd."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

from faultsim._core.cluster.node_sets cimport (
    nodes_add, nodes_add_range, nodes_append, nodes_copy, nodes_free, nodes_have, nodes_list, nodes_new, nodes_ranges,
    nodes_remove, nodes_swap, node_set_t, run_t,
)
from faultsim._core.containers.bits cimport fs_lowest, fs_lowest_bits, fs_popcount, mask_has
from faultsim._core.containers.releases cimport release_t, releases_all, releases_t
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport machine_nodes_t, machine_t, range_t
from faultsim._core.containers.memory cimport (
    close_state, copy_state, jobs_of, open_state, own_block, own_jobs, resize_block,
)
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.thresholds cimport thresholds


# ---------------------------------------------------------------------------------------------- taking nodes

cdef inline node_set_t *set_of(named_t *m, int32_t job) noexcept nogil:
    """The nodes of a job, none so far if it has no set; NULL: no memory."""
    cdef node_set_t *mine = m.held[job]
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
    cdef node_set_t *mine = set_of(m, job)
    if mine == NULL:
        return NO_MEMORY
    update_word(m, word)
    m.occ[word] |= bits
    m.taken += fs_popcount(bits)
    if m.notes:
        note(m, job, word, bits)
    return nodes_add(mine, word, bits)


cdef int32_t next_group(const named_t *m, int32_t at) noexcept nogil:
    """The first 64 words in which a node may be free, from these on; -1: there are none."""
    cdef int32_t i = at >> 6, end = (m.words >> 12) + 1
    cdef uint64_t bits
    if i == end:
        return -1
    bits = m.wide[i] & ((~<uint64_t>0) << (at & 63))
    while bits == 0:
        i += 1
        if i == end:
            return -1
        bits = m.wide[i]
    return (i << 6) + fs_lowest(bits)


cdef int32_t next_wide(const named_t *m, int32_t at) noexcept nogil:
    cdef int32_t group = next_group(m, at)
    return (group << 6) + fs_lowest(m.open[group]) if group >= 0 else m.words


cdef inline uint64_t bits_of(int32_t word, int32_t end) noexcept nogil:
    """Those of the words [word, end), of the same 64, in `open` and `whole`."""
    return ((~<uint64_t>0) >> (64 - (end - word))) << (word & 63)


cdef inline int32_t end_of_whole(const named_t *m, int32_t word, uint64_t whole, int32_t most,
                                 const uint64_t *avoid) noexcept nogil:
    """Where the words end, from this one on and at most so many, of which a job may have all 64 nodes.

    `whole`: their bits, that of the word first.
    """
    cdef int32_t i = word, n = fs_lowest(~whole) if ~whole else 64
    if n > most:
        n = most
    if avoid == NULL:
        return word + n                          # as many nodes are free: no last word that has fewer is among them
    while i < word + n and i < m.nodes >> 6 and avoid[i] == 0:
        i += 1
    return i


cdef inline int32_t keep_lowest(uint64_t *bits, int32_t count) noexcept nogil:
    """Keep the lowest bits, at most so many; how many."""
    cdef int32_t n = fs_popcount(bits[0])
    if n <= count:
        return n
    bits[0] = fs_lowest_bits(bits[0], count)
    return count


cdef inline int add_run(node_set_t *mine, bint later, int32_t word, int32_t end, uint64_t bits) noexcept nogil:
    """`later`: the job had nodes already, which may be anywhere."""
    if not later:
        return nodes_append(mine, word, end, bits)
    return nodes_add_range(mine, word, end) if end - word > 1 else nodes_add(mine, word, bits)


cdef inline int32_t take_from(named_t *m, int32_t job, int32_t count, const uint64_t *avoid, int64_t *words,
                              node_set_t *mine, bint notes, bint later) noexcept nogil:
    """take_lowest, into `mine`; `later` as in add_run."""
    cdef int32_t last = m.words - 1 if m.nodes & 63 else -1      # the one word that may have fewer nodes
    cdef int32_t group = 0, looked = 0, word, end, there, i
    cdef uint64_t *occ = m.occ
    cdef uint64_t left, kept, whole, busy, free, bits
    while count > 0 and group >= 0:
        left = m.open[group]                     # to look at; as the next, written back after all of these words
        whole = m.whole[group]
        kept = 0                                 # read, and still open
        while left:
            i = fs_lowest(left)
            word = (group << 6) + i
            left &= left - 1
            looked += 1
            bits = whole >> i
            busy = 0
            if bits & 1:
                end = end_of_whole(m, word, bits, count >> 6, avoid) if count >= 64 else word
                if end > word:
                    if add_run(mine, later, word, end, ~<uint64_t>0) < 0:
                        count = NO_MEMORY
                        break
                    bits = ~bits_of(word, end)
                    whole &= bits
                    left &= bits
                    looked += end - word - 1
                    count -= (end - word) << 6
                    if notes:
                        for word in range(word, end):
                            note(m, job, word, ~<uint64_t>0)
                    if count == 0:
                        break
                    continue
            else:
                busy = occ[word]
            free = ~busy
            if word == last:
                free &= all_nodes(m, word)
            bits = free
            if avoid != NULL:
                bits &= ~avoid[word]
            if bits:
                there = keep_lowest(&bits, count)
                if add_run(mine, later, word, word + 1, bits) < 0:
                    count = NO_MEMORY
                    break
                occ[word] = busy | bits
                whole &= ~((<uint64_t>1) << i)
                if notes:
                    note(m, job, word, bits)
                count -= there
            if bits != free:
                kept |= (<uint64_t>1) << i
            if count == 0:
                break
        left |= kept
        m.open[group], m.whole[group] = left, whole
        if left == 0:
            m.wide[group >> 6] &= ~((<uint64_t>1) << (group & 63))
        if count > 0:
            group = next_group(m, group + 1)
    words[0] += looked
    return count


cdef int32_t take_lowest(named_t *m, int32_t job, int32_t count, const uint64_t *avoid,
                         int64_t *words) noexcept nogil:
    cdef node_set_t *mine = set_of(m, job)
    if mine == NULL:
        return NO_MEMORY
    m.taken += count
    if avoid == NULL and not m.notes and mine.n == 0:        # as a rule: the compiler leaves out what is not requested
        return take_from(m, job, count, NULL, words, mine, False, False)
    return take_from(m, job, count, avoid, words, mine, m.notes, mine.n > 0)


cdef int change_node(named_t *m, int32_t job, int32_t out, int32_t into) noexcept nogil:
    unblock(m, out)
    block(m, into)
    if m.notes:
        m.owner[into] = job
    return nodes_swap(m.held[job], out, into)


cdef void update_occ(named_t *m) noexcept nogil:
    cdef int32_t word
    for word in range(m.words):
        m.occ[word] = busy_nodes(m, word)


cdef int32_t count_free(const named_t *m, const uint64_t *mask) noexcept nogil:
    cdef int32_t word, n = 0
    for word in range(m.words):
        if mask[word]:
            n += fs_popcount(mask[word] & free_nodes(m, word))
    return n


cdef bint are_busy(const named_t *m, const uint64_t *mask) noexcept nogil:
    cdef int32_t word
    for word in range(m.words):
        if busy_nodes(m, word) != mask[word]:
            return False
    return True


cdef bint named_is_right(const named_t *m) noexcept nogil:
    cdef int32_t word
    for word in range(m.words):
        if free_nodes(m, word) and not mask_has(m.open, word):
            return False
        if (mask_has(m.whole, word) > mask_has(m.open, word)
                or mask_has(m.open, word) > mask_has(m.wide, word >> 6)):
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
    if mask == (<const named_t *>state).occ:
        return is_busy(<const named_t *>state, node)
    return (mask[node >> 6] >> (node & 63)) & 1


cdef bint holds(const void *state, int32_t job, int32_t node) noexcept nogil:
    return nodes_have((<const named_t *>state).held[job], node)


cdef void take_notes(named_t *m, const release_t *items, int32_t n) noexcept nogil:
    """From now on; without memory for it, later or never."""
    cdef const node_set_t *mine
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
    """From `owner`, if that job still has the node; else by a search among all jobs."""
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
    if 64 * m.asked > m.limit.noted_looks * (m.taken + m.nodes):
        take_notes(m, items, running.n)
    return job


cdef void block(void *state, int32_t node) noexcept nogil:
    update_word(<named_t *>state, node >> 6)
    mark(state, (<named_t *>state).occ, node)


cdef void unblock(void *state, int32_t node) noexcept nogil:
    update_word(<named_t *>state, node >> 6)
    unmark(state, (<named_t *>state).occ, node)
    open_word(<named_t *>state, node >> 6)


cdef int32_t overlap(const void *state, int32_t job, const uint64_t *mask, const int32_t *list_,
                     int64_t n) noexcept nogil:
    cdef const node_set_t *mine = (<const named_t *>state).held[job]
    cdef const run_t *run = mine.run
    cdef const run_t *end = run + mine.n
    cdef int32_t word, k = 0
    while run < end:
        k += fs_popcount(run.bits & mask[run.word])
        for word in range(run.word + 1, run.end):
            k += fs_popcount(mask[word])
        run += 1
    return k


cdef inline void give_runs(named_t *m, const run_t *run, int32_t n) noexcept nogil:
    cdef int32_t i, word, group
    cdef uint64_t bits, busy
    for i in range(n):
        word = run[i].word
        group = word >> 6
        bits = bits_of(word, run[i].end)
        busy = m.occ[word] & ~run[i].bits        # 0 if all 64 are the job's, whatever is in `occ`
        m.occ[word] = busy
        m.open[group] |= bits
        m.whole[group] |= bits if busy == 0 else 0
        m.wide[group >> 6] |= (<uint64_t>1) << (group & 63)


cdef void return_nodes(void *state, int32_t job) noexcept nogil:
    cdef named_t *m = <named_t *>state
    cdef node_set_t *mine = m.held[job]
    cdef const run_t *run = mine.run
    cdef int32_t i, word
    give_runs(m, run, mine.n)
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
    cdef const node_set_t *mine = (<const named_t *>state).held[job]
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
    cdef node_set_t *set_
    cdef int32_t i
    if m == NULL:
        return
    if m.held != NULL:
        for i in range(<int32_t>jobs_of(m)):
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
    for i in range(<int32_t>jobs_of(m)):
        if m.held[i] != NULL:
            m.held[i] = NULL if bad else nodes_copy(m.held[i])
            bad |= m.held[i] == NULL
    if bad:
        close(m)
        return NULL
    return m


cdef machine_nodes_t CLUSTER_NODES
CLUSTER_NODES.mark, CLUSTER_NODES.unmark, CLUSTER_NODES.marked = mark, unmark, marked
CLUSTER_NODES.block, CLUSTER_NODES.unblock, CLUSTER_NODES.holds, CLUSTER_NODES.job_at = block, unblock, holds, job_at
CLUSTER_NODES.overlap, CLUSTER_NODES.add_job = overlap, add_job
CLUSTER_NODES.list_nodes, CLUSTER_NODES.list_ranges = list_nodes, list_ranges
CLUSTER_NODES.take_nodes, CLUSTER_NODES.return_nodes, CLUSTER_NODES.drop = take_nodes, return_nodes, drop


cdef int open_named(void *target, dict options, dict columns) except -1:
    cdef machine_t *machine = <machine_t *>target
    cdef named_t *m = <named_t *>open_state(machine, sizeof(named_t))
    cdef int32_t word
    machine.copy, machine.close = copy, close
    m.limit = thresholds
    m.nodes = options["nodes"]
    m.words = (m.nodes + 63) // 64
    own_block(m, &m.occ, m.words, sizeof(uint64_t))
    # One word more than there are, so that looking from the end on finds an empty one.
    own_block(m, &m.open, (m.words >> 6) + 1, sizeof(uint64_t))
    own_block(m, &m.whole, (m.words >> 6) + 1, sizeof(uint64_t))
    own_block(m, &m.wide, (m.words >> 12) + 1, sizeof(uint64_t))
    for word in range(m.words):
        open_word(m, word)
    own_block(m, &m.owner, 0, sizeof(int32_t))
    own_jobs(m, &m.held, columns["n_jobs"], sizeof(node_set_t *))
    machine.nodes, machine.words, machine.occ = m.nodes, m.words, m.occ
    machine.next_size = next_size
    machine.named = &CLUSTER_NODES
    return 0


NAMED = factory(open_named)
