# The slices of a pod: which of its cubes and hosts are free, and where a slice can be.  The contract.
#
# A node is a host; host h of a cube is bit cube * hosts + h of a mask.  Sizes are numbers of hosts.  A slice has whole
# cubes, or hosts of one cube from a multiple of their number on.  Whole cubes are any (optical switches), or one of
# the blocks that are listed for their number or shape (static wiring).  An `ask` is a size, or one with a shape
# (machine.pxd).
#
# A place (machine.pxd) is a set of cubes, one bit per cube in its first five parts, and the hosts of a cube; or, if its
# last part is -1, a cube, its first host, and how many.

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

from faultsim._core.containers.bits cimport FS_LITTLE_ENDIAN, fs_popcount, ones
from faultsim._core.tables.machine cimport RANK_AT, nodes_of, outline_t, place_t

cdef enum:
    MOST_CUBES = 160         # five parts of a place have 160 bits
    MOST_HOSTS = 64          # of a cube: bits of a word
    MOST_INSIDE = 6          # times that 64 can be halved: sizes inside a cube

cdef struct cubes_t:
    uint64_t word[3]         # bits of no cube 0

cdef struct span_t:          # of blocks
    int32_t first, end

cdef struct pod_t:
    uint64_t *occ
    int32_t cubes, hosts, nodes, words
    bint switched
    int32_t spares           # cubes that jobs leave alone: so many are never in use
    int32_t largest          # cubes of the largest slice
    int32_t n_inside
    int32_t inside[6]        # hosts of the slices inside a cube, ascending; each is half of the next, or of `hosts`
    int32_t *next            # [nodes + 1] the smallest size of a slice that is at least this; 0: none
    int32_t *first_block     # [cubes + 2] static: where the blocks of a number of cubes begin, if no shape is asked
    int32_t *first_shape     # [cubes + 2] where its shapes begin, the most cubic first; NULL: no job requests one
    int32_t *shape_block     # [shapes + 1] where the blocks of a shape begin
    cubes_t *block           # all of them, in order
    uint64_t *scratch        # a mask
    uint64_t *down           # the nodes that are down and of no job
    place_t *place           # per job
    int64_t looked           # at cubes and blocks

cdef cubes_t pod_free_cubes(pod_t *m, const uint64_t *mask, const uint64_t *forbidden) noexcept nogil
# The outline of a mask has a bit for each cube with a host in it.  (These ignore spare cubes.)
cdef void pod_trace(const pod_t *m, const uint64_t *mask, int32_t low, int32_t high, outline_t *into) noexcept nogil
cdef bint pod_has_beside(pod_t *m, const outline_t *taken, int32_t ask, int32_t limit, const outline_t *later,
                         int32_t need) noexcept nogil
# How many cubes more jobs may use than are in use in a mask, or have nodes of `used` (NULL: none); < 0: too many are.
cdef int32_t pod_room(pod_t *m, const uint64_t *mask, const uint64_t *used) noexcept nogil
# A slice is free if its nodes are, and if with it all but `spares` cubes are in use at most (model.md#held-back).
# Whether there is a free slice of exactly this ask; of at least so many nodes (with a shape: of this shape); the size
# of the largest free slice of any shape, 0: none.  The slice has no node of `closed` (NULL: no such condition), which
# are not in use by that.  With `closed` the pod must have spare cubes.
cdef bint pod_has(pod_t *m, const uint64_t *mask, const uint64_t *closed, int32_t ask) noexcept nogil
cdef bint pod_has_free(pod_t *m, const uint64_t *mask, const uint64_t *closed, int32_t ask) noexcept nogil
cdef int32_t pod_largest(pod_t *m, const uint64_t *mask) noexcept nogil
# Whether these cubes have a slice of n; whether those outside a block have a slice for an ask of at least one cube.
cdef bint has_cubes(pod_t *m, const cubes_t *free, int32_t n) noexcept nogil
cdef bint leaves_blocks(pod_t *m, const cubes_t *later, const cubes_t *block, int32_t need) noexcept nogil


cdef inline bint is_inside(const place_t *place) noexcept nogil:
    return place.part[5] == -1


cdef inline cubes_t cubes_of(const place_t *place) noexcept nogil:
    cdef cubes_t set_
    set_.word[2] = 0
    memcpy(&set_, place, 5 * sizeof(int32_t))
    if not FS_LITTLE_ENDIAN:
        set_.word[2] >>= 32
    return set_


cdef inline place_t place_of_cubes(const pod_t *m, const cubes_t *set_) noexcept nogil:
    cdef place_t place
    cdef cubes_t bits = set_[0]
    if not FS_LITTLE_ENDIAN:
        bits.word[2] <<= 32
    memcpy(&place, &bits, 5 * sizeof(int32_t))
    place.part[5] = m.hosts
    return place


cdef inline int32_t count_cubes(const cubes_t *set_) noexcept nogil:
    return fs_popcount(set_.word[0]) + fs_popcount(set_.word[1]) + fs_popcount(set_.word[2])


cdef inline uint64_t hosts_at(const uint64_t *mask, int32_t first, int32_t n) noexcept nogil:
    """Bits first to first + n - 1, n <= 64."""
    cdef int32_t word = first >> 6, shift = first & 63
    cdef uint64_t bits = mask[word] >> shift
    if shift + n > 64:
        bits |= mask[word + 1] << (64 - shift)
    return bits & ones(n)


cdef inline uint64_t hosts_of(const pod_t *m, const uint64_t *mask, int32_t cube) noexcept nogil:
    return hosts_at(mask, cube * m.hosts, m.hosts)


cdef inline bint ask_has_shape(int32_t ask) noexcept nogil:
    return ask >> RANK_AT > 0


cdef inline span_t blocks_for(const pod_t *m, int32_t ask) noexcept nogil:
    """The blocks of the shape that is requested, or of exactly so many cubes."""
    cdef int32_t n = nodes_of(ask) // m.hosts, shape
    cdef span_t span
    if ask_has_shape(ask):
        shape = m.first_shape[n] + (ask >> RANK_AT) - 1
        span.first, span.end = m.shape_block[shape], m.shape_block[shape + 1]
    else:
        span.first, span.end = m.first_block[n], m.first_block[n + 1]
    return span


cdef inline uint64_t taken_of(const pod_t *m, const uint64_t *mask, const uint64_t *closed,
                              int32_t cube) noexcept nogil:
    """The hosts of a cube in one of two masks, the second of which may be NULL."""
    return hosts_of(m, mask, cube) | (0 if closed == NULL else hosts_of(m, closed, cube))


cdef inline bint in_use(const pod_t *m, const uint64_t *mask, const uint64_t *used, int32_t cube) noexcept nogil:
    """Does a job hold a host of it, or is a host of it in `used`?"""
    return taken_of(m, mask, used, cube) & ~hosts_of(m, m.down, cube) != 0


cdef inline bint is_within(const cubes_t *block, const cubes_t *free) noexcept nogil:
    return not (block.word[0] & ~free.word[0] or block.word[1] & ~free.word[1] or block.word[2] & ~free.word[2])


cdef inline bint has_run(uint64_t busy, int32_t hosts, int32_t size) noexcept nogil:
    """Do the hosts of a cube have a slice of this size that is free?"""
    cdef int32_t i
    for i in range(hosts // size):
        if (busy >> (i * size)) & ones(size) == 0:
            return True
    return False
