"""The free nodes of a cluster that failed least; the contract is in least_failed.pxd."""

from libc.stdint cimport INT32_MAX, uint64_t

from faultsim._core.cluster.named cimport free_nodes, take_word
from faultsim._core.containers.bits cimport fs_lowest, fs_lowest_bits, fs_popcount
from faultsim._core.containers.memory cimport own_block
from faultsim._core.status cimport NO_MEMORY, OK


cdef int least_failed_open(named_t *m) except -1:
    if m.least == NULL:
        own_block(m, &m.least, m.words, sizeof(int32_t))
        own_block(m, &m.least_of_64, (m.words + 63) >> 6, sizeof(int32_t))
        own_block(m, &m.floor, m.words, sizeof(int32_t))
    return 0


cdef uint64_t look(named_t *m, const int32_t *count, int32_t word, int32_t most, int32_t *rest) noexcept nogil:
    """The free nodes of a word with `most` failures, which none has less than; `rest`: the least of the others."""
    cdef const int32_t *mine = count + (<int64_t>word << 6)
    cdef uint64_t free = free_nodes(m, word), bits = 0
    cdef int32_t i, n = m.nodes - (word << 6), floor = INT32_MAX, least = INT32_MAX
    for i in range(n if n < 64 else 64):
        if mine[i] < floor:
            floor = mine[i]
        if (free >> i) & 1:
            if mine[i] == most:
                bits |= (<uint64_t>1) << i
            elif mine[i] < least:
                least = mine[i]
    m.floor[word] = floor
    rest[0] = least
    return bits


cdef inline int32_t least_of_all(const named_t *m, int64_t *looked) noexcept nogil:
    cdef int32_t i, groups = (m.words + 63) >> 6, least = INT32_MAX
    for i in range(groups):
        if m.least_of_64[i] < least:
            least = m.least_of_64[i]
    looked[0] += groups
    return least


cdef inline int32_t end_of(const named_t *m, int32_t group) noexcept nogil:
    return (group + 1) << 6 if (group + 1) << 6 < m.words else m.words


cdef inline void bound_group(named_t *m, int32_t group) noexcept nogil:
    cdef int32_t word, least = INT32_MAX
    for word in range(group << 6, end_of(m, group)):
        if m.least[word] < least:
            least = m.least[word]
    m.least_of_64[group] = least


cdef int32_t take_of_group(named_t *m, const int32_t *count, int32_t job, int32_t n, int32_t group, int32_t failures,
                           int64_t *looked) noexcept nogil:
    """Nodes with so many failures; how many are missing, or NO_MEMORY."""
    cdef int32_t word, rest = 0, there
    cdef uint64_t bits
    for word in range(group << 6, end_of(m, group)):
        if m.least[word] != failures:
            continue
        looked[0] += 1
        bits = look(m, count, word, failures, &rest)
        there = fs_popcount(bits)
        if there > n:
            bits = fs_lowest_bits(bits, n)
            there = n
            rest = failures
        m.least[word] = rest
        if there > 0 and take_word(m, job, word, bits) < 0:
            return NO_MEMORY
        n -= there
        if n == 0:
            break
    bound_group(m, group)
    return n


cdef int take_least_failed(named_t *m, const int32_t *count, int32_t job, int32_t n, int64_t *looked) noexcept nogil:
    cdef int32_t group, failures
    while n > 0:
        failures = least_of_all(m, looked)
        for group in range((m.words + 63) >> 6):
            if m.least_of_64[group] == failures:
                n = take_of_group(m, count, job, n, group, failures, looked)
                if n <= 0:
                    break
    return NO_MEMORY if n < 0 else OK


cdef int32_t find_least_failed(named_t *m, const int32_t *count, int64_t *looked) noexcept nogil:
    cdef int32_t group, word, failures, rest = 0
    cdef uint64_t bits
    while True:
        failures = least_of_all(m, looked)
        if failures == INT32_MAX:
            return -1
        group = 0
        while m.least_of_64[group] != failures:
            group += 1
        for word in range(group << 6, end_of(m, group)):
            if m.least[word] == failures:
                looked[0] += 1
                bits = look(m, count, word, failures, &rest)
                if bits:
                    return (word << 6) + fs_lowest(bits)
                m.least[word] = rest
        bound_group(m, group)
