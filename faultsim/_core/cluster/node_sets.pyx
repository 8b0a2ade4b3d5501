"""Sets of a cluster's nodes; the contract is in node_sets.pxd."""

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport free as c_free, realloc
from libc.string cimport memcpy, memmove

from faultsim._core.containers.bits cimport fs_lowest, ones
from faultsim._core.containers.memory cimport fresh
from faultsim._core.status cimport NO_MEMORY, OK


cdef void nodes_free(nodes_t *set_) noexcept nogil:
    if set_ != NULL:
        c_free(set_.word)
        c_free(set_.bits)
        c_free(set_)


cdef int reserve(nodes_t *set_, int32_t words) noexcept nogil:
    cdef void *word
    cdef void *bits
    cdef int32_t capacity = 2 * set_.capacity
    if words <= set_.capacity:
        return OK
    if capacity < words:
        capacity = words
    word = realloc(set_.word, <size_t>capacity * sizeof(int32_t))
    if word == NULL:
        return NO_MEMORY
    set_.word = <int32_t *>word
    bits = realloc(set_.bits, <size_t>capacity * sizeof(uint64_t))
    if bits == NULL:
        return NO_MEMORY
    set_.bits = <uint64_t *>bits
    set_.capacity = capacity
    return OK


cdef nodes_t *with_room(int32_t words) noexcept nogil:
    cdef nodes_t *set_ = <nodes_t *>fresh(1, sizeof(nodes_t))
    if set_ != NULL and reserve(set_, words) < 0:
        nodes_free(set_)
        return NULL
    return set_


cdef nodes_t *nodes_new() noexcept nogil:
    return with_room(4)


cdef nodes_t *nodes_copy(const nodes_t *source) noexcept nogil:
    cdef nodes_t *to = with_room(source.n if source.n > 0 else 1)
    if to != NULL:
        to.n = source.n
        memcpy(to.word, source.word, <size_t>source.n * sizeof(int32_t))
        memcpy(to.bits, source.bits, <size_t>source.n * sizeof(uint64_t))
    return to


cdef int32_t place_of(const nodes_t *set_, int32_t word) noexcept nogil:
    """The first place of a word that is not below this one."""
    cdef int32_t low = 0, high = set_.n, mid
    while low < high:
        mid = (low + high) >> 1
        if set_.word[mid] < word:
            low = mid + 1
        else:
            high = mid
    return low


cdef bint nodes_have(const nodes_t *set_, int32_t node) noexcept nogil:
    cdef int32_t i = place_of(set_, node >> 6)
    return i < set_.n and set_.word[i] == node >> 6 and (set_.bits[i] >> (node & 63)) & 1


cdef inline int make_room(nodes_t *set_, int32_t i, int32_t count) noexcept nogil:
    if reserve(set_, set_.n + count) < 0:
        return NO_MEMORY
    memmove(&set_.word[i + count], &set_.word[i], <size_t>(set_.n - i) * sizeof(int32_t))
    memmove(&set_.bits[i + count], &set_.bits[i], <size_t>(set_.n - i) * sizeof(uint64_t))
    set_.n += count
    return OK


cdef int nodes_insert(nodes_t *set_, int32_t word, uint64_t bits) noexcept nogil:
    cdef int32_t i = place_of(set_, word)
    if i == set_.n or set_.word[i] != word:
        if make_room(set_, i, 1) < 0:
            return NO_MEMORY
        set_.word[i] = word
        set_.bits[i] = 0
    set_.bits[i] |= bits
    return OK


cdef int nodes_add_range(nodes_t *set_, int32_t first, int32_t end) noexcept nogil:
    cdef int32_t i = set_.n, word
    if i > 0 and set_.word[i - 1] >= first:
        i = place_of(set_, first)
    if make_room(set_, i, end - first) < 0:
        return NO_MEMORY
    for word in range(first, end):
        set_.word[i] = word
        set_.bits[i] = ~<uint64_t>0
        i += 1
    return OK


cdef void nodes_remove(nodes_t *set_, int32_t node) noexcept nogil:
    cdef int32_t i = place_of(set_, node >> 6)
    if i < set_.n and set_.word[i] == node >> 6:
        set_.bits[i] &= ~((<uint64_t>1) << (node & 63))
        if set_.bits[i] == 0:
            set_.n -= 1
            memmove(&set_.word[i], &set_.word[i + 1], <size_t>(set_.n - i) * sizeof(int32_t))
            memmove(&set_.bits[i], &set_.bits[i + 1], <size_t>(set_.n - i) * sizeof(uint64_t))


cdef int nodes_swap(nodes_t *set_, int32_t out, int32_t into) noexcept nogil:
    nodes_remove(set_, out)
    return nodes_insert(set_, into >> 6, (<uint64_t>1) << (into & 63))


cdef int32_t nodes_list(const nodes_t *set_, int32_t *out) noexcept nogil:
    cdef int32_t i, n = 0
    cdef uint64_t bits
    for i in range(set_.n):
        bits = set_.bits[i]
        while bits:
            out[n] = (set_.word[i] << 6) + fs_lowest(bits)
            n += 1
            bits &= bits - 1
    return n


cdef int32_t nodes_ranges(const nodes_t *set_, range_t *out) noexcept nogil:
    cdef int32_t i, first, count, end = -1, n = 0
    cdef uint64_t bits, rest
    for i in range(set_.n):
        bits = set_.bits[i]
        while bits:
            first = fs_lowest(bits)
            rest = ~(bits >> first)
            count = fs_lowest(rest) if rest else 64
            bits &= ~(ones(count) << first)
            first += set_.word[i] << 6
            if first == end:
                out[n - 1].count += count
            else:
                out[n].first = first
                out[n].count = count
                n += 1
            end = first + count
    return n
