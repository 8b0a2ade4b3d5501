"""Suspicious nodes; the contract is in suspicion.pxd."""

from libc.stdint cimport uint8_t
from libc.stdlib cimport calloc, free as c_free
from libc.string cimport memcpy, memset

from faultsim._core.faults.failures cimport box_has_node
from faultsim._core.fars.knapsack cimport knapsack_free, knapsack_init
from faultsim._core.cluster.node_sets cimport nodes_join
from faultsim._core.state cimport NO_MEMORY, OK, fars_t, nodes_t, suspect_t
from faultsim._core.torus.occupancy cimport occ_drop_node, occ_set_node

cdef extern from * nogil:
    """
    #if defined(__GNUC__)
    #define fs_bits(w) __builtin_popcountll(w)
    #else
    static int fs_bits(unsigned long long w) { int n = 0; while (w) { w &= w - 1; n++; } return n; }
    #endif
    """
    int fs_bits(unsigned long long w)


# ---------------------------------------------------------------------------------------------- memory

cdef inline size_t words_of(const sim_t *s) noexcept nogil:
    return <size_t>(s.torus.words if s.is_torus else (s.nodes + 63) // 64)


cdef int fars_alloc(sim_t *s) noexcept nogil:
    cdef fars_t *f = &s.fars
    cdef size_t words = words_of(s), nodes = s.nodes
    f.suspicious = <uint64_t *>calloc(words, sizeof(uint64_t))
    f.wary = <uint64_t *>calloc(words, sizeof(uint64_t))
    f.suspect = <suspect_t *>calloc(nodes, sizeof(suspect_t))
    f.gain = <double *>calloc(nodes, sizeof(double))
    f.weight = <int64_t *>calloc(nodes, sizeof(int64_t))
    f.taken = <uint8_t *>calloc(nodes, 1)
    knapsack_init(&f.sack)
    if f.suspicious == NULL or f.wary == NULL or f.suspect == NULL or f.gain == NULL:
        return NO_MEMORY
    if f.weight == NULL or f.taken == NULL:
        return NO_MEMORY
    if s.is_torus:
        f.later = <uint64_t *>calloc(words, sizeof(uint64_t))
        f.without = <uint64_t *>calloc(words, sizeof(uint64_t))
        f.forbidden = <uint64_t *>calloc(words, sizeof(uint64_t))
        if f.later == NULL or f.without == NULL or f.forbidden == NULL:
            return NO_MEMORY
    return OK


cdef void fars_free(sim_t *s) noexcept nogil:
    cdef fars_t *f = &s.fars
    c_free(f.suspicious)
    c_free(f.wary)
    c_free(f.suspect)
    c_free(f.gain)
    c_free(f.weight)
    c_free(f.taken)
    c_free(f.later)
    c_free(f.without)
    c_free(f.forbidden)
    knapsack_free(&f.sack)


cdef int fars_copy(sim_t *to, const sim_t *source) noexcept nogil:
    to.fars.suspicious = NULL
    to.fars.wary = NULL
    to.fars.suspect = NULL
    to.fars.gain = NULL
    to.fars.weight = NULL
    to.fars.taken = NULL
    to.fars.later = NULL
    to.fars.without = NULL
    to.fars.forbidden = NULL
    knapsack_init(&to.fars.sack)
    if not source.fars.on:
        return OK
    if fars_alloc(to) < 0:
        return NO_MEMORY
    memcpy(to.fars.suspicious, source.fars.suspicious, words_of(source) * sizeof(uint64_t))
    return OK


# ---------------------------------------------------------------------------------------------- which nodes

cdef void suspect_nodes(sim_t *s, int64_t i) noexcept nogil:
    cdef fars_t *f = &s.fars
    cdef int64_t k
    cdef int32_t node
    if f.some:
        # The nodes of the tick before are those that are marked.
        for k in range(f.first[i - 1], f.first[i]):
            node = f.node[k]
            if s.is_torus:
                occ_drop_node(&s.torus, f.suspicious, node)
            else:
                f.suspicious[node >> 6] &= ~((<uint64_t>1) << (node & 63))
    for k in range(f.first[i], f.first[i + 1]):
        node = f.node[k]
        if s.is_torus:
            occ_set_node(&s.torus, f.suspicious, node)
        else:
            f.suspicious[node >> 6] |= (<uint64_t>1) << (node & 63)
    f.some = f.first[i + 1] > f.first[i]


cdef int32_t suspicious_free(const sim_t *s) noexcept nogil:
    cdef int32_t i, n = 0
    for i in range(<int32_t>words_of(s)):
        n += fs_bits(s.fars.suspicious[i] & ~s.occ[i])
    return n


cdef int32_t healthy(const sim_t *s) noexcept nogil:
    return s.free - suspicious_free(s)


cdef int32_t suspicious_nodes(const sim_t *s, int32_t job) noexcept nogil:
    cdef const nodes_t *mine
    cdef int32_t i, n = 0
    cdef int64_t k
    if s.is_torus:
        for k in range(s.fars.first[s.fars.next - 1], s.fars.first[s.fars.next]):
            n += box_has_node(s, &s.box[job], s.fars.node[k])
        return n
    mine = s.held[job]
    for i in range(mine.n):
        n += fs_bits(mine.bits[i] & s.fars.suspicious[mine.word[i]])
    return n


# ---------------------------------------------------------------------------------------------- starts

cdef inline bint tempts(const sim_t *s) noexcept nogil:
    """Is a free node suspicious, and to be taken last?"""
    cdef int32_t i
    if not s.fars.some or not s.fars.last:
        return False
    for i in range(<int32_t>words_of(s)):
        if s.fars.suspicious[i] & ~s.occ[i]:
            return True
    return False


cdef int take_warily(sim_t *s, int32_t job, int32_t count) noexcept nogil:
    """What the rule takes of the nodes that are not suspicious; then, if they are too few, of the others."""
    cdef uint64_t *hidden = s.fars.wary
    cdef int32_t i, words, sound
    cdef nodes_t *first = NULL
    cdef int code
    if not tempts(s):
        return s.policy.take(s, job, count)
    words = <int32_t>words_of(s)
    sound = s.free + count - suspicious_free(s)          # start_job has taken `count` off already
    if sound > count:
        sound = count
    if sound > 0:
        for i in range(words):
            hidden[i] = s.fars.suspicious[i] & ~s.occ[i]
            s.occ[i] |= hidden[i]
        code = s.policy.take(s, job, sound)
        for i in range(words):
            s.occ[i] &= ~hidden[i]
        if code < 0 or sound == count:
            return code
        first = s.held[job]
    code = s.policy.take(s, job, count - sound)
    if code < 0 or first == NULL:
        return code
    code = nodes_join(s.held[job], first)
    first.next = s.spare
    s.spare = first
    return code


cdef int place_warily(
        sim_t *s, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit, box_t *out) noexcept nogil:
    """A box without a suspicious node if there is one, else any."""
    cdef permit_t wary
    cdef int32_t i
    cdef int code
    if tempts(s):
        memset(&wary, 0, sizeof(wary))
        if permit != NULL:
            wary = permit[0]
        for i in range(s.torus.words):
            s.fars.wary[i] = s.fars.suspicious[i]
            if wary.forbidden != NULL:
                s.fars.wary[i] |= wary.forbidden[i]
        wary.forbidden = s.fars.wary
        code = s.policy.place(s, job, occ, size, &wary, out)
        if code != 0:
            return code
    return s.policy.place(s, job, occ, size, permit, out)
