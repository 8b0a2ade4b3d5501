"""Sets of a cluster's nodes; the contract is in node_sets.pxd."""

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport free as c_free, realloc
from libc.string cimport memcpy, memmove

from faultsim._core.containers.bits cimport fs_lowest, ones
from faultsim._core.containers.memory cimport fresh
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.thresholds cimport thresholds


cdef void nodes_free(node_set_t *set_) noexcept nogil:
    if set_ != NULL:
        c_free(set_.run)
        c_free(set_)


cdef int nodes_reserve(node_set_t *set_, int32_t runs) noexcept nogil:
    cdef void *run
    cdef int32_t capacity = 2 * set_.capacity
    if runs <= set_.capacity:
        return OK
    if capacity < runs:
        capacity = runs
    run = realloc(set_.run, <size_t>capacity * sizeof(run_t))
    if run == NULL:
        return NO_MEMORY
    set_.run = <run_t *>run
    set_.capacity = capacity
    return OK


cdef node_set_t *with_room(int32_t runs) noexcept nogil:
    cdef node_set_t *set_ = <node_set_t *>fresh(1, sizeof(node_set_t))
    if set_ != NULL and nodes_reserve(set_, runs) < 0:
        nodes_free(set_)
        return NULL
    return set_


cdef node_set_t *nodes_new() noexcept nogil:
    return with_room(min(4, thresholds.first_room))


cdef node_set_t *nodes_copy(const node_set_t *source) noexcept nogil:
    cdef node_set_t *to = with_room(source.n if source.n > 0 else 1)
    if to != NULL:
        to.n = source.n
        memcpy(to.run, source.run, <size_t>source.n * sizeof(run_t))
    return to


cdef int32_t run_index(const node_set_t *set_, int32_t word) noexcept nogil:
    """The first run that does not end before this word."""
    cdef int32_t low = 0, high = set_.n, mid
    while low < high:
        mid = (low + high) >> 1
        if set_.run[mid].end <= word:
            low = mid + 1
        else:
            high = mid
    return low


cdef bint nodes_have(const node_set_t *set_, int32_t node) noexcept nogil:
    cdef int32_t i = run_index(set_, node >> 6)
    return i < set_.n and set_.run[i].word <= node >> 6 and (set_.run[i].bits >> (node & 63)) & 1


cdef inline int make_room(node_set_t *set_, int32_t i, int32_t count) noexcept nogil:
    if nodes_reserve(set_, set_.n + count) < 0:
        return NO_MEMORY
    memmove(&set_.run[i + count], &set_.run[i], <size_t>(set_.n - i) * sizeof(run_t))
    set_.n += count
    return OK


cdef inline void set_run(run_t *run, int32_t word, int32_t end, uint64_t bits) noexcept nogil:
    run.word, run.end, run.bits = word, end, bits


cdef int nodes_insert(node_set_t *set_, int32_t word, uint64_t bits) noexcept nogil:
    cdef int32_t i = run_index(set_, word)
    if i < set_.n and set_.run[i].word <= word:
        set_.run[i].bits |= bits                 # which a run of several words has already
        return OK
    if make_room(set_, i, 1) < 0:
        return NO_MEMORY
    set_run(&set_.run[i], word, word + 1, bits)
    return OK


cdef int nodes_add_range(node_set_t *set_, int32_t first, int32_t end) noexcept nogil:
    cdef int32_t i = set_.n
    if end == first:
        return OK
    if i > 0 and set_.run[i - 1].word >= first:
        i = run_index(set_, first)
    if make_room(set_, i, 1) < 0:
        return NO_MEMORY
    set_run(&set_.run[i], first, end, ~<uint64_t>0)
    return OK


cdef int nodes_split(node_set_t *set_, int32_t i, int32_t word) noexcept nogil:
    cdef int32_t first = set_.run[i].word, end = set_.run[i].end
    if make_room(set_, i + 1, (first < word) + (word + 1 < end)) < 0:
        return NO_MEMORY
    if first < word:
        set_run(&set_.run[i], first, word, ~<uint64_t>0)
        i += 1
    set_run(&set_.run[i], word, word + 1, ~<uint64_t>0)
    if word + 1 < end:
        set_run(&set_.run[i + 1], word + 1, end, ~<uint64_t>0)
    return OK


cdef int nodes_remove(node_set_t *set_, int32_t node) noexcept nogil:
    cdef int32_t i = run_index(set_, node >> 6), word = node >> 6
    if i == set_.n or set_.run[i].word > word:
        return OK
    if set_.run[i].end - set_.run[i].word > 1:
        if nodes_split(set_, i, word) < 0:
            return NO_MEMORY
        i = run_index(set_, word)
    set_.run[i].bits &= ~((<uint64_t>1) << (node & 63))
    if set_.run[i].bits == 0:
        set_.n -= 1
        memmove(&set_.run[i], &set_.run[i + 1], <size_t>(set_.n - i) * sizeof(run_t))
    return OK


cdef int nodes_swap(node_set_t *set_, int32_t out, int32_t into) noexcept nogil:
    if nodes_remove(set_, out) < 0:
        return NO_MEMORY
    return nodes_insert(set_, into >> 6, (<uint64_t>1) << (into & 63))


cdef int32_t nodes_lowest_in(const node_set_t *set_, const uint64_t *mask) noexcept nogil:
    cdef const run_t *run
    cdef int32_t i, word
    for i in range(set_.n):
        run = &set_.run[i]
        for word in range(run.word, run.end):
            if mask[word] & run.bits:
                return (word << 6) + fs_lowest(mask[word] & run.bits)
    return -1


cdef int32_t nodes_list(const node_set_t *set_, int32_t *out) noexcept nogil:
    cdef const run_t *run
    cdef int32_t i, node, n = 0
    cdef uint64_t bits
    for i in range(set_.n):
        run = &set_.run[i]
        if run.bits == ~<uint64_t>0:
            for node in range(run.word << 6, run.end << 6):
                out[n] = node
                n += 1
            continue
        bits = run.bits
        while bits:
            out[n] = (run.word << 6) + fs_lowest(bits)
            n += 1
            bits &= bits - 1
    return n


cdef inline int32_t append(range_t *out, int32_t n, int32_t first, int32_t count) noexcept nogil:
    """One more range, which may go on with the last; how many."""
    if n > 0 and out[n - 1].first + out[n - 1].count == first:
        out[n - 1].count += count
        return n
    out[n].first = first
    out[n].count = count
    return n + 1


cdef int32_t nodes_ranges(const node_set_t *set_, range_t *out) noexcept nogil:
    cdef const run_t *run
    cdef int32_t i, first, count, n = 0
    cdef uint64_t bits
    for i in range(set_.n):
        run = &set_.run[i]
        bits = run.bits
        if bits == ~<uint64_t>0:
            n = append(out, n, run.word << 6, (run.end - run.word) << 6)
            continue
        while bits:
            first = fs_lowest(bits)
            count = fs_lowest(~(bits >> first))
            bits &= ~(ones(count) << first)
            n = append(out, n, (run.word << 6) + first, count)
    return n
