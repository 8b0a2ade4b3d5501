"""The torus and its occupancy bitmap: the contract.

A torus (or mesh, ``wrap`` false) has ``x * y * z`` nodes; node number = (ix*Y + iy)*Z + iz (model.md#time).  A box is a
base and extents; it may wrap around if ``wrap``. A full extent has only base 0, so every set of nodes has one name.

An occupancy is ``words`` plain uint64 words owned by the caller: bit ``line*field + iz`` with ``line = ix*Y + iy`` is
set iff the node is busy.  Bits that belong to no node are always 0, so occupancies of one torus may be copied with
memcpy, compared with memcmp and joined word by word.  ``field`` is the length of a line in bits:

* Z itself where all nodes fit into one integer of 128 bits, or of `limit.word_nodes` (word_maps.pxd): a bit is then a
  node number,
* else 8, 16, 32, 64 or a multiple of 64: the least that holds Z (row_maps.pxd).
"""

from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.containers.memory cimport arena_t
from faultsim._core.thresholds cimport thresholds_t


cdef struct box_t:                  # what Python sees as one row of int32 (k, 6)
    int x, y, z                     # base
    int a, b, c                     # extents, each 1 .. axis


cdef struct shape_t:
    int a, b, c


cdef struct boxes_t:                # a growing list of boxes
    box_t *at
    long n, cap


cdef enum box_order_t:              # model.md#box-order; a reading of "first"
    EXTENTS_DESCENDING = 0          # (a, b, c) lexicographically descending, then (x, y, z) ascending
    EXTENTS_ASCENDING = 1           # (a, b, c) ascending, then (x, y, z) ascending
    BASES = 2                       # (x, y, z) ascending, then (a, b, c) ascending


cdef struct torus_t:                # read-only after torus_init; any number of occupancies and threads share it
    int x, y, z                     # extents
    bint wrap                       # False: a mesh
    int nodes                       # x * y * z
    int lines                       # x * y
    int field                       # bits from one line to the next
    int words                       # uint64 words an occupancy
    int32_t *feasible               # [0 .. nodes]: the smallest size >= s that some box has; feasible[0] = 1
    int32_t *first_shape            # [0 .. nodes+1]: shapes of size s are shapes[first_shape[s] : first_shape[s+1]]
    shape_t *shapes                 # all shapes by size, extents ascending within a size
    thresholds_t limit              # of the torus and all finders on it
    arena_t memory


cdef int torus_init(torus_t *t, int x, int y, int z, bint wrap) noexcept nogil      # 0; -1 no memory (t is then empty)
# The same in slices of signals.pxd; PYTHON_ERROR: stopped, and t is empty.
cdef int torus_set_up(torus_t *t, int x, int y, int z, bint wrap, const thresholds_t *limit,
                      int64_t *done) noexcept nogil
cdef void torus_free(torus_t *t) noexcept nogil


cdef inline int next_feasible(const torus_t *t, int size) noexcept nogil:
    """The smallest size >= `size` that a box of this torus can have; 0 = none."""
    if size > t.nodes:
        return 0
    return t.feasible[size] if size > 0 else 1


cdef inline int axis_bases(int n, int extent, bint wrap) noexcept nogil:
    """How many bases a run of `extent` has on an axis of n."""
    return 1 if extent == n else (n if wrap else n - extent + 1)


cdef inline int box_size(const box_t *b) noexcept nogil:
    return b.a * b.b * b.c


cdef inline box_t box_of_node(const torus_t *t, int node) noexcept nogil:
    cdef box_t box
    box.x, box.y, box.z = node // (t.z * t.y), node // t.z % t.y, node % t.z
    box.a = box.b = box.c = 1
    return box


cdef inline bint base_before(const box_t *p, const box_t *q) noexcept nogil:
    """(x, y, z) of p below that of q?"""
    if p.x != q.x:
        return p.x < q.x
    if p.y != q.y:
        return p.y < q.y
    return p.z < q.z


cdef inline int64_t node_bit(const torus_t *t, int node) noexcept nogil:
    return <int64_t> (node // t.z) * t.field + node % t.z


cdef inline bint occ_node(const torus_t *t, const uint64_t *occ, int node) noexcept nogil:
    """Is the node busy?"""
    cdef int64_t bit = node_bit(t, node)
    return (occ[bit >> 6] >> (bit & 63)) & 1


cdef inline void occ_set_node(const torus_t *t, uint64_t *occ, int node) noexcept nogil:
    cdef int64_t bit = node_bit(t, node)
    occ[bit >> 6] |= <uint64_t> 1 << (bit & 63)


cdef inline void occ_drop_node(const torus_t *t, uint64_t *occ, int node) noexcept nogil:
    cdef int64_t bit = node_bit(t, node)
    occ[bit >> 6] &= ~(<uint64_t> 1 << (bit & 63))


cdef inline bint ring_meet(int n, bint wrap, int p, int s, int q, int m) noexcept nogil:
    """Do [p, p+s) and [q, q+m) share a coordinate of an axis of length n (on a ring iff wrap)?"""
    cdef int d = q - p
    if not wrap:
        return d < s and -d < m
    if d < 0:
        d += n
    return d < s or n - d < m           # q lies in [p, p+s), or p lies in [q, q+m)


cdef inline bint boxes_meet(const torus_t *t, const box_t *p, const box_t *q) noexcept nogil:
    return (ring_meet(t.x, t.wrap, p.x, p.a, q.x, q.a) and ring_meet(t.y, t.wrap, p.y, p.b, q.y, q.b)
            and ring_meet(t.z, t.wrap, p.z, p.c, q.z, q.c))


cdef void occ_fill(const torus_t *t, uint64_t *occ, const box_t *box) noexcept nogil         # make a box busy
cdef void occ_drop(const torus_t *t, uint64_t *occ, const box_t *box) noexcept nogil         # make a box free
cdef bint occ_meets(const torus_t *t, const uint64_t *occ, const box_t *box) noexcept nogil  # any busy node in the box?
cdef int occ_count(const torus_t *t, const uint64_t *occ) noexcept nogil                     # busy nodes
cdef bint occ_equal(const torus_t *t, const uint64_t *a, const uint64_t *b) noexcept nogil
cdef void occ_pack(const torus_t *t, const unsigned char *busy, uint64_t *occ) noexcept nogil    # of one byte per node


cdef inline int boxes_push(boxes_t *list, const box_t *box) noexcept nogil:
    """0; -1 no memory"""
    if list.n == list.cap and boxes_grow(list):
        return -1
    list.at[list.n] = box[0]
    list.n += 1
    return 0


cdef int boxes_grow(boxes_t *list) noexcept nogil                                            # room; 0, or -1 no memory
cdef void boxes_free(boxes_t *list) noexcept nogil
cdef void boxes_sort(boxes_t *list, int order) noexcept nogil                                # into a box_order_t


cdef class Torus:
    """Python's handle: owns a torus_t; hands out nothing but copies."""
    cdef torus_t t
