"""The free nodes of a cluster that failed least; the contract is in least_failed.pxd."""

from libc.stdint cimport INT32_MAX, uint64_t
from libc.string cimport memset

from faultsim._core.cluster.named cimport free_nodes, take_word
from faultsim._core.containers.bits cimport fs_lowest, fs_lowest_bits, fs_popcount
from faultsim._core.containers.memory cimport own_block
from faultsim._core.contract cimport fs_require
from faultsim._core.status cimport NO_MEMORY, OK


cdef int least_failed_open(named_t *m, void *state, levels_t **levels) except -1:
    cdef int32_t word
    if m.least == NULL:
        own_block(m, &m.least, m.words, sizeof(int32_t))
        own_block(m, &m.least_of_64, (m.words + 63) >> 6, sizeof(int32_t))
        own_block(m, &m.floor, m.words, sizeof(int32_t))
    own_block(state, levels, m.words, sizeof(levels_t))
    for word in range(m.words):
        levels[0][word].base = -<int>LEVELS          # below any number of failures: nothing is remembered
    return 0


cdef void remember(levels_t *at, const int32_t *mine, int32_t n, int32_t most, int32_t levels,
                   int32_t *floor) noexcept nogil:
    """The failures of `n` nodes, from their least number on, or from `most` if that is less."""
    cdef int32_t i, level, base, least = INT32_MAX
    for i in range(n):
        least = min(least, mine[i])
    floor[0] = least
    base = min(least, most)
    memset(at, 0, sizeof(levels_t))
    at.base = base
    for i in range(n):
        level = max(mine[i] - base, 0)
        if level < levels:
            at.at[level] |= (<uint64_t>1) << i


cdef inline bint still(levels_t *at, const int32_t *mine, int32_t level, int32_t levels, int32_t i) noexcept nogil:
    """Whether a free node has not failed since, else it moves up."""
    cdef int64_t now = mine[i] - at.base
    if now == level:
        return True
    at.at[level] &= ~((<uint64_t>1) << i)
    if now < levels:
        at.at[now] |= (<uint64_t>1) << i
    return False


cdef uint64_t look_afresh(const int32_t *mine, uint64_t free, int32_t most, int32_t *rest) noexcept nogil:
    """The free nodes with `most` failures; `rest`: the least of the others."""
    cdef int32_t i, least = INT32_MAX
    cdef uint64_t bits = 0
    while free:
        i = fs_lowest(free)
        if mine[i] == most:
            bits |= free & -free
        else:
            least = min(least, mine[i])
        free &= free - 1
    rest[0] = least
    return bits


cdef int32_t least_beyond(const levels_t *at, const int32_t *mine, uint64_t free) noexcept nogil:
    """The fewest failures of free nodes that nothing is remembered of."""
    cdef int32_t i, rest
    for i in range(<int>LEVELS):
        free &= ~at.at[i]
    look_afresh(mine, free, -1, &rest)
    return rest


cdef uint64_t scan_word(named_t *m, levels_t *at, const int32_t *count, int32_t word, int32_t most, int32_t n,
                        int32_t *rest) noexcept nogil:
    """The `n` lowest free nodes of a word, or all, with `most` failures, which no free one has less than.

    `rest`: no other free node has fewer.
    """
    cdef const int32_t *mine = count + (<int64_t>word << 6)
    cdef uint64_t free = free_nodes(m, word), bits = 0, left
    cdef int32_t i, k, level, levels = m.limit.failure_levels
    if not 0 <= most - at.base < levels:
        if most - m.floor[word] >= levels:       # storing these would drop levels that the next search reads
            bits = look_afresh(mine, free, most, rest)
            if fs_popcount(bits) > n:
                bits = fs_lowest_bits(bits, n)
                rest[0] = most
            return bits
        remember(at, mine, min(m.nodes - (word << 6), 64), most, levels, &m.floor[word])
    level = <int32_t>(most - at.base)
    fs_require(0 <= level < levels)
    for i in range(level):
        left = at.at[i] & free
        while left:
            still(at, mine, i, levels, fs_lowest(left))
            left &= left - 1
    left = at.at[level] & free
    while left and n > 0:
        i = fs_lowest(left)
        if still(at, mine, level, levels, i):
            bits |= left & -left
            n -= 1
        left &= left - 1
    if at.at[0] == 0:
        k = 1
        while k < levels and at.at[k] == 0:
            k += 1
        m.floor[word] = max(m.floor[word], <int32_t>at.base + k)
    if left:
        rest[0] = most
        return bits
    for k in range(level + 1, levels):
        if at.at[k] & free:
            rest[0] = <int32_t>at.base + k
            return bits
    rest[0] = least_beyond(at, mine, free)
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


cdef int32_t take_of_group(named_t *m, levels_t *levels, const int32_t *count, int32_t job, int32_t n, int32_t group,
                           int32_t failures, int64_t *looked) noexcept nogil:
    """Nodes with so many failures; how many are missing, or NO_MEMORY."""
    cdef int32_t word
    cdef uint64_t bits
    for word in range(group << 6, end_of(m, group)):
        if m.least[word] != failures:
            continue
        looked[0] += 1
        bits = scan_word(m, &levels[word], count, word, failures, n, &m.least[word])
        if bits and take_word(m, job, word, bits) < 0:
            return NO_MEMORY
        n -= fs_popcount(bits)
        if n == 0:
            break
    bound_group(m, group)
    return n


cdef int take_least_failed(named_t *m, levels_t *levels, const int32_t *count, int32_t job, int32_t n,
                           int64_t *looked) noexcept nogil:
    cdef int32_t group, failures
    while n > 0:
        failures = least_of_all(m, looked)
        for group in range((m.words + 63) >> 6):
            if m.least_of_64[group] == failures:
                n = take_of_group(m, levels, count, job, n, group, failures, looked)
                if n <= 0:
                    break
    return NO_MEMORY if n < 0 else OK


cdef int32_t find_least_failed(named_t *m, levels_t *levels, const int32_t *count, int64_t *looked) noexcept nogil:
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
                bits = scan_word(m, &levels[word], count, word, failures, 1, &rest)
                if bits:
                    return (word << 6) + fs_lowest(bits)
                m.least[word] = rest
        bound_group(m, group)
