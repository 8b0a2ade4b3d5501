"""Which nodes of a cluster a job has; the contract is in nodes.pxd."""

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport free as c_free, malloc, realloc
from libc.string cimport memcpy, memmove

from faultsim._core.faults.predictions cimport failing_nodes
from faultsim._core.state cimport NO_MEMORY, OK

cdef extern from "contract.h" nogil:
    void fs_require(bint condition)

cdef extern from * nogil:
    """
    #if defined(__GNUC__)
    #define fs_popcount(w) __builtin_popcountll(w)
    #define fs_lowest(w) __builtin_ctzll(w)
    #else
    static int fs_popcount(unsigned long long w) { int n = 0; while (w) { w &= w - 1; n++; } return n; }
    static int fs_lowest(unsigned long long w) { int n = 0; while (!(w & 1)) { w >>= 1; n++; } return n; }
    #endif
    """
    int fs_popcount(unsigned long long w)
    int fs_lowest(unsigned long long w)


# ---------------------------------------------------------------------------------------------- sets

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


cdef nodes_t *fresh_set(int32_t capacity) noexcept nogil:
    cdef nodes_t *set_ = <nodes_t *>malloc(sizeof(nodes_t))
    if set_ == NULL:
        return NULL
    set_.n = 0
    set_.capacity = 0
    set_.word = NULL
    set_.bits = NULL
    set_.next = NULL
    if reserve(set_, capacity) < 0:
        nodes_free(set_)
        return NULL
    return set_


cdef nodes_t *nodes_copy(const nodes_t *source) noexcept nogil:
    cdef nodes_t *to = fresh_set(source.n if source.n > 0 else 1)
    if to != NULL:
        to.n = source.n
        memcpy(to.word, source.word, <size_t>source.n * sizeof(int32_t))
        memcpy(to.bits, source.bits, <size_t>source.n * sizeof(uint64_t))
    return to


cdef inline nodes_t *new_set(sim_t *s) noexcept nogil:
    cdef nodes_t *set_ = s.spare
    if set_ == NULL:
        return fresh_set(4)
    s.spare = set_.next
    set_.next = NULL
    set_.n = 0
    return set_


cdef bint nodes_have(const nodes_t *set_, int32_t node) noexcept nogil:
    cdef int32_t word = node >> 6, low = 0, high = set_.n, mid
    while low < high:
        mid = (low + high) >> 1
        if set_.word[mid] < word:
            low = mid + 1
        else:
            high = mid
    return low < set_.n and set_.word[low] == word and (set_.bits[low] >> (node & 63)) & 1


cdef int insert(nodes_t *set_, int32_t node) noexcept nogil:
    cdef int32_t word = node >> 6, i = 0
    while i < set_.n and set_.word[i] < word:
        i += 1
    if i == set_.n or set_.word[i] != word:
        if reserve(set_, set_.n + 1) < 0:
            return NO_MEMORY
        memmove(&set_.word[i + 1], &set_.word[i], <size_t>(set_.n - i) * sizeof(int32_t))
        memmove(&set_.bits[i + 1], &set_.bits[i], <size_t>(set_.n - i) * sizeof(uint64_t))
        set_.word[i] = word
        set_.bits[i] = 0
        set_.n += 1
    set_.bits[i] |= (<uint64_t>1) << (node & 63)
    return OK


cdef int nodes_swap(nodes_t *set_, int32_t out, int32_t into) noexcept nogil:
    cdef int32_t i
    for i in range(set_.n):
        if set_.word[i] == out >> 6:
            set_.bits[i] &= ~((<uint64_t>1) << (out & 63))
            if set_.bits[i] == 0:
                set_.n -= 1
                memmove(&set_.word[i], &set_.word[i + 1], <size_t>(set_.n - i) * sizeof(int32_t))
                memmove(&set_.bits[i], &set_.bits[i + 1], <size_t>(set_.n - i) * sizeof(uint64_t))
            break
    return insert(set_, into)


cdef int nodes_join(nodes_t *set_, const nodes_t *more) noexcept nogil:
    cdef int32_t i
    cdef uint64_t bits
    for i in range(more.n):
        bits = more.bits[i]
        while bits:
            if insert(set_, (more.word[i] << 6) + fs_lowest(bits)) < 0:
                return NO_MEMORY
            bits &= bits - 1
    return OK


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


# ---------------------------------------------------------------------------------------------- picking

cdef inline uint64_t valid_bits(const sim_t *s, int32_t word) noexcept nogil:
    """The bits of a word that are nodes."""
    cdef int32_t rest = s.nodes - (word << 6)
    return ~(<uint64_t>0) if rest >= 64 else ((<uint64_t>1) << rest) - 1


cdef inline uint64_t lowest_bits(uint64_t bits, int32_t count) noexcept nogil:
    """The `count` lowest of at least so many bits."""
    cdef uint64_t rest = bits
    cdef int32_t _i
    for _i in range(count):
        rest &= rest - 1
    return bits & ~rest


cdef int32_t take_from(sim_t *s, nodes_t *mine, int32_t count, const uint64_t *avoid) noexcept nogil:
    """The `count` lowest free nodes that are not to be avoided, into an empty set; how many are missing, or a code."""
    cdef int32_t word = 0, words = (s.nodes + 63) // 64, there
    cdef uint64_t bits
    while count > 0 and word < words:
        bits = ~s.occ[word] & valid_bits(s, word)
        if avoid != NULL:
            bits &= ~avoid[word]
        if bits:
            there = fs_popcount(bits)
            if there > count:
                bits = lowest_bits(bits, count)
                there = count
            if mine.n == mine.capacity and reserve(mine, mine.n + 1) < 0:
                return NO_MEMORY
            mine.word[mine.n] = word
            mine.bits[mine.n] = bits
            mine.n += 1
            s.occ[word] |= bits
            count -= there
        word += 1
    return count


cdef int take_first_fit(sim_t *s, int32_t job, int32_t count) noexcept nogil:
    """The lowest free node numbers."""
    cdef nodes_t *mine = new_set(s)
    cdef int32_t missing
    if mine == NULL:
        return NO_MEMORY
    s.held[job] = mine
    missing = take_from(s, mine, count, NULL)
    fs_require(missing <= 0)
    return NO_MEMORY if missing < 0 else OK


cdef int take_safest(sim_t *s, int32_t job, int32_t count) noexcept nogil:
    """Nodes that are not predicted to fail in the job's window, by number; then the others, by number."""
    cdef const uint64_t *failing = failing_nodes(s)
    cdef nodes_t *mine
    cdef int32_t missing, word, there
    cdef uint64_t bits
    if failing == NULL:
        return take_first_fit(s, job, count)
    mine = new_set(s)
    if mine == NULL:
        return NO_MEMORY
    s.held[job] = mine
    missing = take_from(s, mine, count, failing)
    word = 0
    while missing > 0:
        fs_require(word << 6 < s.nodes)
        bits = ~s.occ[word] & valid_bits(s, word)
        if bits:
            there = fs_popcount(bits)
            if there > missing:
                bits = lowest_bits(bits, missing)
                there = missing
            s.occ[word] |= bits
            missing -= there
            while bits:
                if insert(mine, (word << 6) + fs_lowest(bits)) < 0:
                    return NO_MEMORY
                bits &= bits - 1
        word += 1
    return NO_MEMORY if missing < 0 else OK


cdef int take_least_failures(sim_t *s, int32_t job, int32_t count) noexcept nogil:
    """Fewest failures so far, then lowest number [Zhang 2004, section 5.2.3]."""
    cdef nodes_t *mine = new_set(s)
    cdef uint64_t *picked = s.faults.picked
    cdef int32_t i = 0, node, low = s.nodes, high = 0
    if mine == NULL:
        return NO_MEMORY
    s.held[job] = mine
    while count > 0:
        fs_require(i < s.nodes)
        node = s.faults.rank[i]
        i += 1
        if (s.occ[node >> 6] >> (node & 63)) & 1:
            continue
        picked[node >> 6] |= (<uint64_t>1) << (node & 63)
        count -= 1
        node >>= 6
        if node < low:
            low = node
        if node > high:
            high = node
    for i in range(low, high + 1):
        if picked[i]:
            if reserve(mine, mine.n + 1) < 0:
                return NO_MEMORY
            mine.word[mine.n] = i
            mine.bits[mine.n] = picked[i]
            mine.n += 1
            s.occ[i] |= picked[i]
            picked[i] = 0
    return OK


cdef int32_t most_failures(const sim_t *s, int32_t job) noexcept nogil:
    cdef const nodes_t *mine = s.held[job]
    cdef int32_t i, node, most = 0
    cdef uint64_t bits
    for i in range(mine.n):
        bits = mine.bits[i]
        while bits:
            node = (mine.word[i] << 6) + fs_lowest(bits)
            if s.faults.count[node] > most:
                most = s.faults.count[node]
            bits &= bits - 1
    return most


cdef void give_back(sim_t *s, int32_t job) noexcept nogil:
    cdef nodes_t *mine = s.held[job]
    cdef int32_t i
    for i in range(mine.n):
        s.occ[mine.word[i]] &= ~mine.bits[i]
    s.held[job] = NULL
    mine.next = s.spare
    s.spare = mine


cdef void rank_failed(sim_t *s, int32_t node) noexcept nogil:
    cdef int32_t *rank = s.faults.rank
    cdef const int32_t *count = s.faults.count
    cdef int32_t i = 0, other
    while rank[i] != node:
        i += 1
    while i + 1 < s.nodes:
        other = rank[i + 1]
        if count[other] > count[node] or (count[other] == count[node] and other > node):
            break
        rank[i] = other
        i += 1
    rank[i] = node
