"""A cluster whose nodes are known by number; the contracts are in named.pxd and tables/machine.pxd."""

from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.cluster.node_sets cimport (
    nodes_add, nodes_copy, nodes_free, nodes_have, nodes_list, nodes_new, nodes_ranges, nodes_swap, nodes_t,
)
from faultsim._core.containers.bits cimport fs_popcount
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport machine_t, range_t
from faultsim._core.containers.memory cimport close_state, copy_state, open_state, own_block
from faultsim._core.status cimport NO_MEMORY, OK


# ---------------------------------------------------------------------------------------------- taking nodes

cdef int take_word(named_t *m, int32_t job, int32_t word, uint64_t bits) noexcept nogil:
    cdef nodes_t *mine = m.held[job]
    if mine == NULL:
        mine = m.spare
        if mine != NULL:
            m.spare = mine.next
            mine.next = NULL
        else:
            mine = nodes_new()
            if mine == NULL:
                return NO_MEMORY
        m.held[job] = mine
    m.occ[word] |= bits
    return nodes_add(mine, word, bits)


cdef inline uint64_t all_nodes(const named_t *m, int32_t word) noexcept nogil:
    """The bits of a word that are nodes."""
    cdef int32_t rest = m.nodes - (word << 6)
    return ~(<uint64_t>0) if rest >= 64 else ((<uint64_t>1) << rest) - 1


cdef inline uint64_t lowest_bits(uint64_t bits, int32_t count) noexcept nogil:
    """The `count` lowest of at least so many bits."""
    cdef uint64_t rest = bits
    cdef int32_t _i
    for _i in range(count):
        rest &= rest - 1
    return bits & ~rest


cdef int32_t take_lowest(named_t *m, int32_t job, int32_t count, const uint64_t *avoid) noexcept nogil:
    cdef int32_t word = 0, there
    cdef uint64_t bits
    while count > 0 and word < m.words:
        bits = ~m.occ[word] & all_nodes(m, word)
        if avoid != NULL:
            bits &= ~avoid[word]
        if bits:
            there = fs_popcount(bits)
            if there > count:
                bits = lowest_bits(bits, count)
                there = count
            if take_word(m, job, word, bits) < 0:
                return NO_MEMORY
            count -= there
        word += 1
    return count


cdef int change_node(named_t *m, int32_t job, int32_t out, int32_t into) noexcept nogil:
    unmark(m, m.occ, out)
    mark(m, m.occ, into)
    return nodes_swap(m.held[job], out, into)


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


cdef void block(void *state, int32_t node) noexcept nogil:
    mark(state, (<named_t *>state).occ, node)


cdef void unblock(void *state, int32_t node) noexcept nogil:
    unmark(state, (<named_t *>state).occ, node)


cdef int32_t overlap(const void *state, int32_t job, const uint64_t *mask, const int32_t *list_,
                     int64_t n) noexcept nogil:
    cdef const nodes_t *mine = (<const named_t *>state).held[job]
    cdef int32_t i, k = 0
    for i in range(mine.n):
        k += fs_popcount(mine.bits[i] & mask[mine.word[i]])
    return k


cdef void give(void *state, int32_t job) noexcept nogil:
    cdef named_t *m = <named_t *>state
    cdef nodes_t *mine = m.held[job]
    cdef int32_t i
    for i in range(mine.n):
        m.occ[mine.word[i]] &= ~mine.bits[i]
    mine.n = 0
    mine.next = m.spare
    m.spare = mine
    m.held[job] = NULL


cdef bint add_job(const void *state, uint64_t *mask, int32_t job) noexcept nogil:
    cdef const nodes_t *mine = (<const named_t *>state).held[job]
    cdef int32_t i
    for i in range(mine.n):
        if mask[mine.word[i]] & mine.bits[i]:
            return False
        mask[mine.word[i]] |= mine.bits[i]
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
    machine.copy, machine.close = copy, close
    m.nodes, m.jobs = options["nodes"], columns["n_jobs"]
    m.words = (m.nodes + 63) // 64
    own_block(m, &m.occ, m.words, sizeof(uint64_t))
    own_block(m, &m.held, m.jobs, sizeof(nodes_t *))
    machine.nodes, machine.words, machine.occ = m.nodes, m.words, m.occ
    machine.named = True
    machine.next_size, machine.mark, machine.unmark, machine.marked = next_size, mark, unmark, marked
    machine.holds, machine.overlap, machine.block, machine.unblock = holds, overlap, block, unblock
    machine.give, machine.add_job, machine.list_nodes = give, add_job, list_nodes
    machine.take_nodes, machine.list_ranges = take_nodes, list_ranges
    return 0


NAMED = factory(open_named)
