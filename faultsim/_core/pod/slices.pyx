"""What is free of a pod, and which slices there are in it; the contract is in slices.pxd."""

from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memset

from faultsim._core.containers.bits cimport ones
from faultsim._core.tables.machine cimport nodes_of, outline_t


cdef inline void drop_beyond(const pod_t *m, cubes_t *set_) noexcept nogil:
    """Bits of no cube are 0."""
    cdef int32_t i
    for i in range(3):
        set_.word[i] &= ones(max(0, min(64, m.cubes - 64 * i)))


cdef inline uint64_t four_taken(uint64_t bits) noexcept nogil:
    """A word has four cubes of 16 hosts: a bit for each that has one in it."""
    bits |= bits >> 1
    bits |= bits >> 2
    bits |= bits >> 4
    bits |= bits >> 8
    # The product brings the lowest bits of the four together, at 48.
    return ((bits & <uint64_t>0x0001000100010001) * <uint64_t>0x0001000200040008) >> 48 & 15


cdef cubes_t pod_free_cubes(pod_t *m, const uint64_t *mask, const uint64_t *forbidden) noexcept nogil:
    cdef cubes_t free
    cdef int32_t cube, word
    cdef uint64_t bits
    memset(&free, 0, sizeof(free))
    m.looked += m.cubes
    if m.hosts == 16:
        for word in range(m.words):
            bits = mask[word]
            if forbidden != NULL:
                bits |= forbidden[word]
            free.word[word >> 4] |= (four_taken(bits) ^ 15) << (4 * (word & 15))
        drop_beyond(m, &free)
        return free
    for cube in range(m.cubes):
        bits = hosts_of(m, mask, cube)
        if bits == 0 and forbidden != NULL:
            bits = hosts_of(m, forbidden, cube)
        if bits == 0:
            free.word[cube >> 6] |= (<uint64_t>1) << (cube & 63)
    return free


cdef int32_t pod_room(pod_t *m, const uint64_t *mask, const uint64_t *used) noexcept nogil:
    """How many cubes more jobs may use; < 0: not even those that they have."""
    cdef int32_t cube, n = m.cubes - m.spares
    if m.spares > 0:
        m.looked += m.cubes
        for cube in range(m.cubes):
            n -= in_use(m, mask, used, cube)
    return n


cdef void pod_trace(const pod_t *m, const uint64_t *mask, int32_t low, int32_t high, outline_t *into) noexcept nogil:
    cdef int32_t word, cube, shift
    cdef uint64_t bit
    if m.hosts == 16:
        for word in range(low, high):
            shift = 4 * (word & 15)
            into.word[word >> 4] &= ~((<uint64_t>15) << shift)
            into.word[word >> 4] |= four_taken(mask[word]) << shift
        return
    for cube in range(64 * low // m.hosts, min(m.cubes, (64 * high + m.hosts - 1) // m.hosts)):
        bit = (<uint64_t>1) << (cube & 63)
        if hosts_of(m, mask, cube):
            into.word[cube >> 6] |= bit
        else:
            into.word[cube >> 6] &= ~bit


cdef bint has_run_in_words(pod_t *m, const uint64_t *mask, int32_t size) noexcept nogil:
    """`has_inside` where words have whole cubes."""
    cdef uint64_t aligned = ones(64) // ones(size), free
    cdef int32_t word, shift, last = m.nodes & 63
    for word in range(m.words):
        m.looked += 1
        free = ~mask[word]
        if last > 0 and word == m.words - 1:
            free &= ones(last)
        shift = 1
        while shift < size:
            free &= free >> shift
            shift *= 2
        if free & aligned:
            return True
    return False


cdef bint has_inside(pod_t *m, const uint64_t *mask, const uint64_t *closed, int32_t size) noexcept nogil:
    cdef int32_t cube, more
    if m.spares == 0 and 64 % m.hosts == 0:
        return has_run_in_words(m, mask, size)
    more = pod_room(m, mask, NULL)
    for cube in range(m.cubes):
        m.looked += 1
        if has_run(taken_of(m, mask, closed, cube), m.hosts, size) and (
                more > 0 or (more == 0 and in_use(m, mask, NULL, cube))):
            return True
    return False


cdef bint has_cubes(pod_t *m, const cubes_t *free, int32_t n) noexcept nogil:
    """Do these cubes have a slice of n?"""
    cdef int32_t i
    if m.switched:
        return n <= m.largest and n <= count_cubes(free)
    for i in range(m.first_block[n], m.first_block[n + 1]):
        m.looked += 1
        if is_within(&m.block[i], free):
            return True
    return False


cdef inline cubes_t free_beside(const pod_t *m, const outline_t *taken) noexcept nogil:
    cdef cubes_t free
    cdef int32_t i
    for i in range(3):
        free.word[i] = ~taken.word[i]
    drop_beyond(m, &free)
    return free


cdef bint has_within(pod_t *m, const cubes_t *free, span_t span) noexcept nogil:
    """Is one of these blocks among the cubes?"""
    cdef int32_t i
    for i in range(span.first, span.end):
        m.looked += 1
        if is_within(&m.block[i], free):
            return True
    return False


cdef bint has_blocks(pod_t *m, const cubes_t *free, int32_t ask, int32_t most) noexcept nogil:
    """Whether these cubes have a slice of the requested shape, or of so many nodes with up to `most` cubes."""
    cdef int32_t count = count_cubes(free), n = (nodes_of(ask) + m.hosts - 1) // m.hosts
    if m.switched:
        return has_cubes(m, free, n)
    if most > count:
        most = count
    if ask_has_shape(ask):
        return n <= count and has_within(m, free, blocks_for(m, ask))
    while n <= most:                                 # a larger block may have no smaller one in it
        if has_cubes(m, free, n):
            return True
        n += 1
    return False


cdef bint leaves_blocks(pod_t *m, const cubes_t *later, const cubes_t *block, int32_t need) noexcept nogil:
    """Whether the cubes outside the block have a slice for the ask."""
    cdef cubes_t rest
    cdef int32_t i
    for i in range(3):
        rest.word[i] = later.word[i] & ~block.word[i]
    return has_blocks(m, &rest, need, m.cubes)


cdef bint pod_has_beside(pod_t *m, const outline_t *taken, int32_t ask, int32_t limit, const outline_t *later,
                         int32_t need) noexcept nogil:
    cdef cubes_t free = free_beside(m, taken), kept, both
    cdef int32_t i, spare, n = (nodes_of(ask) + m.hosts - 1) // m.hosts
    cdef int32_t most = m.cubes if limit >= m.nodes else limit // m.hosts
    cdef span_t span
    m.looked += 1
    if later == NULL or need < m.hosts:
        return has_blocks(m, &free, ask, most)
    if not ask_has_shape(need):
        if need > m.nodes or m.next[need] == 0:
            return False
        need = m.next[need]
    kept = free_beside(m, later)
    if m.switched:
        need //= m.hosts
        for i in range(3):
            both.word[i] = free.word[i] & kept.word[i]
        spare = count_cubes(&kept) - need
        return n <= m.largest and spare >= 0 and count_cubes(&free) - max(0, count_cubes(&both) - spare) >= n
    most = min(n if ask_has_shape(ask) else most, count_cubes(&free))
    if n > most:
        return False
    span = blocks_for(m, ask)
    if not ask_has_shape(ask):
        span.first, span.end = m.first_block[n], m.first_block[most + 1]
    for i in range(span.first, span.end):
        m.looked += 1
        if is_within(&m.block[i], &free) and leaves_blocks(m, &kept, &m.block[i], need):
            return True
    return False


cdef bint pod_has(pod_t *m, const uint64_t *mask, const uint64_t *closed, int32_t ask) noexcept nogil:
    cdef cubes_t free
    cdef int32_t size = nodes_of(ask)
    if size < 1 or size > m.nodes or m.next[size] != size:
        return False
    if size < m.hosts:
        return has_inside(m, mask, closed, size)
    free = pod_free_cubes(m, mask, closed)
    if size // m.hosts > pod_room(m, mask, NULL):
        return False
    return has_within(m, &free, blocks_for(m, ask)) if ask_has_shape(ask) else has_cubes(m, &free, size // m.hosts)


cdef bint pod_has_free(pod_t *m, const uint64_t *mask, const uint64_t *closed, int32_t ask) noexcept nogil:
    cdef cubes_t free
    cdef int32_t size
    if ask_has_shape(ask):
        return pod_has(m, mask, closed, ask)
    size = m.next[ask] if ask <= m.nodes else 0
    if size == 0:
        return False
    if size < m.hosts:
        return has_inside(m, mask, closed, size)
    free = pod_free_cubes(m, mask, closed)
    if m.switched:
        return size // m.hosts <= pod_room(m, mask, NULL) and has_cubes(m, &free, size // m.hosts)
    return has_blocks(m, &free, size, pod_room(m, mask, NULL))


cdef int32_t pod_largest(pod_t *m, const uint64_t *mask) noexcept nogil:
    cdef cubes_t free = pod_free_cubes(m, mask, NULL)
    cdef int32_t i, n = min(min(count_cubes(&free), m.largest), pod_room(m, mask, NULL))
    while n > 0:
        if has_cubes(m, &free, n):
            return n * m.hosts
        n -= 1
    for i in range(m.n_inside - 1, -1, -1):
        if has_inside(m, mask, NULL, m.inside[i]):
            return m.inside[i]
    return 0
