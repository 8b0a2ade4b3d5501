# A cluster with numbered nodes (machine.pxd); bit i of a mask is node i.
#
# Free nodes are looked for where there may be some: a word of `occ` in which no node is free is passed over, and so are
# 64 such words at once.  A placement takes a step for each word that it takes nodes of, or for up to 64 that it takes
# as a whole; one for each that turns out to be full, which happens once each time that nodes of it are given back; and
# one for every 262,144 nodes.

from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint64_t

from faultsim._core.cluster.node_sets cimport node_set_t
from faultsim._core.containers.bits cimport fs_lowest, mask_has
from faultsim._core.tables.machine cimport machine_t
from faultsim._core.thresholds cimport thresholds_t

cdef struct named_t:
    # A job that takes all nodes of a word, or returns them, does not have to write to `occ`.  So a word of `occ` may be
    # out of date if its bit in `whole` is 1, or if its bit in `open` is 0 and one job has all of its nodes.  busy_nodes
    # returns the true value.
    uint64_t *occ
    thresholds_t limit
    int32_t nodes, words
    uint64_t *open           # one bit per word: 0 only if none of its nodes is free
    uint64_t *whole          # one bit per word: 1 only if all its nodes are free; then its bit in `open` is 1
    uint64_t *wide           # one bit per word of `open`: 0 only if that word is 0
    int32_t *latest          # [placement/safest.pyx] per word: no free node's first prediction is later; NULL: not kept
    # [least_failed.pxd] per word, or per 64 words; NULL: no policy uses them
    int32_t *least, *least_of_64
    int32_t *floor
    # `owner` is written from the moment on when searches among the jobs have cost as much as writing it would have.
    bint notes
    int32_t *owner           # per node: the job that took it last
    int64_t asked            # jobs examined in searches for the owner of a node
    int64_t taken            # nodes that jobs have taken
    node_set_t **held        # per job: its nodes; NULL: it has none
    node_set_t *spare        # sets of jobs that ended, to be used again

# Free nodes of a word for a job, besides those that it has; OK or NO_MEMORY.
cdef int take_word(named_t *m, int32_t job, int32_t word, uint64_t bits) noexcept nogil
# The `count` lowest free nodes that are not to be avoided (NULL: none are); returns how many are missing, or NO_MEMORY.
# `words` counts the words that were read.
cdef int32_t take_lowest(named_t *m, int32_t job, int32_t count, const uint64_t *avoid, int64_t *words) noexcept nogil
# All of `occ` is up to date until a job takes nodes or gives some back.
cdef void update_occ(named_t *m) noexcept nogil
# How many nodes of a mask are free.
cdef int32_t count_free(const named_t *m, const uint64_t *mask) noexcept nogil
# A job leaves a node for a free one; OK or NO_MEMORY.
cdef int change_node(named_t *m, int32_t job, int32_t out, int32_t into) noexcept nogil


cdef inline named_t *named_of(const machine_t *m) noexcept nogil:
    return <named_t *>m.state


# Some nodes of a word are free that were not: what is known of its free nodes.
cdef inline void loosen(named_t *m, int32_t word) noexcept nogil:
    if m.latest != NULL:
        m.latest[word] = INT32_MAX
    if m.least != NULL and m.floor[word] < m.least[word]:
        m.least[word] = m.floor[word]
        if m.floor[word] < m.least_of_64[word >> 6]:
            m.least_of_64[word >> 6] = m.floor[word]


# Nodes of the word have become free in `occ`, which is up to date.
cdef inline void open_word(named_t *m, int32_t word) noexcept nogil:
    m.open[word >> 6] |= (<uint64_t>1) << (word & 63)
    m.whole[word >> 6] |= <uint64_t>(m.occ[word] == 0) << (word & 63)
    m.wide[word >> 12] |= (<uint64_t>1) << ((word >> 6) & 63)
    loosen(m, word)


# No node of the word is free, and its word in `occ` is up to date.
cdef inline void close_word(named_t *m, int32_t word) noexcept nogil:
    m.open[word >> 6] &= ~((<uint64_t>1) << (word & 63))
    if m.open[word >> 6] == 0:
        m.wide[word >> 12] &= ~((<uint64_t>1) << ((word >> 6) & 63))


# The first word from this one on in which a node may be free; `words`: there is none.
cdef inline int32_t next_open_word(const named_t *m, int32_t word) noexcept nogil:
    cdef uint64_t bits = m.open[word >> 6] >> (word & 63)
    return word + fs_lowest(bits) if bits else next_wide(m, (word >> 6) + 1)


# The bits of a word that are nodes; those of them that are free.
cdef inline uint64_t all_nodes(const named_t *m, int32_t word) noexcept nogil:
    cdef int32_t rest = m.nodes - (word << 6)
    return ~(<uint64_t>0) if rest >= 64 else ((<uint64_t>1) << rest) - 1


cdef inline uint64_t busy_nodes(const named_t *m, int32_t word) noexcept nogil:
    if mask_has(m.whole, word):
        return 0
    return m.occ[word] if mask_has(m.open, word) else all_nodes(m, word)


cdef inline uint64_t free_nodes(const named_t *m, int32_t word) noexcept nogil:
    return ~busy_nodes(m, word) & all_nodes(m, word)


# Before bits of the word are changed in `occ`.
cdef inline void update_word(named_t *m, int32_t word) noexcept nogil:
    m.occ[word] = busy_nodes(m, word)
    m.whole[word >> 6] &= ~((<uint64_t>1) << (word & 63))


# The first word in which a node may be free, from this word of `open` on.
cdef int32_t next_wide(const named_t *m, int32_t at) noexcept nogil
# Whether the nodes of a mask are busy, and no others.
cdef bint are_busy(const named_t *m, const uint64_t *mask) noexcept nogil
# Whether words with free nodes are looked for, and whole ones are open.
cdef bint named_is_right(const named_t *m) noexcept nogil


cdef inline bint is_busy(const named_t *m, int32_t node) noexcept nogil:
    return (busy_nodes(m, node >> 6) >> (node & 63)) & 1
