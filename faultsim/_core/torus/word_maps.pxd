"""The same as row_maps.pxd for a torus of at most 128 nodes, with single integers as maps: bit = node number.

A *map* has the bases of the free boxes of one shape set.  Turning it along an axis is two shifts and a mask.
"""

from libc.stdint cimport uint64_t

from faultsim._core.containers.memory cimport arena_t
from faultsim._core.torus.occupancy cimport box_t, boxes_t, shape_t, torus_t


cdef extern from "word_maps.h" nogil:
    ctypedef unsigned long long u128 "fs_u128"
    int FS_WORD_NODES
    uint64_t FS_HIGH(u128 w)
    u128 FS_JOIN(uint64_t high, uint64_t low)


cdef struct axis_t:
    int n
    int stride                      # bits between neighbours on this axis
    bint halves                     # no ring of this axis crosses from one 64-bit half to the other
    u128 *at                        # [n]: the nodes with this coordinate
    u128 *lo                        # [n + 1]: the nodes with a coordinate below n - k
    u128 *hi                        # [n + 1]: the others; none on a mesh


cdef struct word_maps_t:
    const torus_t *torus
    u128 all                        # every node
    axis_t x, y, z


cdef bint word_map_fits(const torus_t *torus) noexcept nogil
# The maps are all zero before.  If memory is out, arena_t.failed is set.
cdef void word_map_init(word_maps_t *s, const torus_t *torus, arena_t *memory) noexcept nogil


cdef inline u128 word_map_turn(const axis_t *axis, u128 w, int k) noexcept nogil:
    """Bit of coordinate i = bit of coordinate i + k, 1 <= k < n."""
    cdef int right = k * axis.stride, left = (axis.n - k) * axis.stride
    cdef uint64_t low, high
    if axis.halves:                 # shifts of 128 bits are slow
        low, high = <uint64_t> w, FS_HIGH(w)
        low = ((low >> right) & <uint64_t> axis.lo[k]) | ((low << left) & <uint64_t> axis.hi[k])
        high = ((high >> right) & FS_HIGH(axis.lo[k])) | ((high << left) & FS_HIGH(axis.hi[k]))
        return FS_JOIN(high, low)
    return ((w >> right) & axis.lo[k]) | ((w << left) & axis.hi[k])


cdef inline u128 word_map_runs(const axis_t *axis, u128 w, int length) noexcept nogil:
    """Where `length` set bits follow each other along the axis."""
    cdef int have = 1, k
    while have < length and w:
        k = min(have, length - have)
        w &= word_map_turn(axis, w, k)
        have += k
    return w


cdef inline u128 word_map_interval(const axis_t *axis, int base, int extent) noexcept nogil:
    """The nodes of [base, base + extent) on an axis."""
    cdef int end = base + extent
    if end <= axis.n:
        return axis.lo[axis.n - end] & ~axis.lo[axis.n - base]
    return axis.lo[2 * axis.n - end] | ~axis.lo[axis.n - base]


cdef inline u128 word_map_box(const word_maps_t *s, const box_t *box) noexcept nogil:
    """The nodes of a box; perhaps with bits of no node."""
    return (word_map_interval(&s.x, box.x, box.a) & word_map_interval(&s.y, box.y, box.b)
            & word_map_interval(&s.z, box.z, box.c))


cdef inline void word_map_put(const word_maps_t *s, u128 map, uint64_t *occ) noexcept nogil:
    occ[0] = <uint64_t> map
    if s.torus.words > 1:
        occ[1] = FS_HIGH(map)


cdef inline u128 word_map_get(const word_maps_t *s, const uint64_t *occ) noexcept nogil:
    return FS_JOIN(occ[1], occ[0]) if s.torus.words > 1 else <u128> occ[0]


cdef inline u128 word_map_shape(const word_maps_t *s, u128 free, int a, int b, int c) noexcept nogil:
    """The map of a shape; every base of a full axis of a torus is set, or none."""
    return word_map_runs(&s.x, word_map_runs(&s.y, word_map_runs(&s.z, free, c), b), a)     # turns along x are dearest


cdef u128 word_map_canonical(const word_maps_t *s, u128 map, int a, int b, int c) noexcept nogil
cdef void word_map_project(const word_maps_t *s, u128 map, uint64_t *px, uint64_t *py, uint64_t *pz) noexcept nogil
# the nodes with a coordinate in the set
cdef u128 word_map_members(const axis_t *axis, const uint64_t *set) noexcept nogil
# index of the lowest bit; map != 0
cdef int word_map_lowest(u128 map) noexcept nogil
cdef void word_map_base(const word_maps_t *s, int node, box_t *base) noexcept nogil
# as row_map_next
cdef bint word_map_next(const word_maps_t *s, u128 map, long *at, box_t *base) noexcept nogil
# as row_map_list
cdef int word_map_list(const word_maps_t *s, u128 map, const shape_t *shape, boxes_t *list) noexcept nogil
