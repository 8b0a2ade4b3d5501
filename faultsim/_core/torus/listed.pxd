"""Listed shapes at listed anchors (model.md#slurm-torus): which box a job gets.

A cell (x, y, z) of a torus is bit ``(x*Y + y)*field + z`` of a map, the layout of an occupancy (occupancy.pxd); bits of
no cell are 0.  A map of bases has the bit of a base where something is true of the box there, of a shape that the
context gives.  So all anchors of a shape are tested in a few word operations, whatever their number: the boxes that
are free are the AND of turned maps, and the number of free boxes of another shape that each box meets is the sum of
turned maps, in counters of one plane per bit.

A rule has several tori over numbered nodes; that of the engine has one, with a node in every cell.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.containers.memory cimport arena_t
from faultsim._core.torus.occupancy cimport box_t

cdef extern from "anchor_turn.h" nogil:
    ctypedef struct fs_turn_t:
        const uint64_t *low
        const uint64_t *high
        int64_t right, left

cdef enum score_t:
    SCORE_SLURM = 0          # cost of the reference shape, compared within a shape
    SCORE_FIRST = 1
    SCORE_NEXT_SIZE = 2      # cost of all shapes of the next size, compared across the shapes of a size
    SCORE_LARGEST_LEFT = 3   # MaxFreePartition, among listed boxes
    SCORE_RANDOM = 4

cdef struct listed_shape_t:
    int extent[3]
    int spacing[3]
    int seed[3]
    int size
    int positions[3]
    int32_t *walk[3]         # positions per axis, in walking order
    bint ascending           # that order ascends on all axes
    bint overlaps            # two of its boxes can meet, or one of them and one of another shape of its size
    int64_t n_anchors
    int larger               # the reference shape; -1: none
    uint64_t *anchors        # bases
    uint64_t *complete       # bases of the boxes without an empty cell

cdef struct listed_torus_t:
    int extent[3]
    int field, cells
    int32_t words
    bint full                # every cell has a node
    int32_t *node            # [cells], by (x*Y + y)*Z + z; -1: empty.  NULL: the cell's own number
    uint64_t *filled         # cells with a node
    fs_turn_t **turn         # [3][extent]; NULL: not needed so far
    listed_shape_t *shape    # by size
    int n_shapes
    # scratch maps
    uint64_t *available      # what the search is for
    uint64_t *open           # `available`, and cells without a node
    uint64_t *bases
    uint64_t *others         # bases of free boxes of another shape
    uint64_t *turned
    uint64_t *carry
    uint64_t *spare
    uint64_t *rest
    const uint64_t *zero     # a map without bits
    uint64_t **alive         # candidates of each shape of a size
    uint64_t **level         # those of them that leave a box of some size
    uint64_t *plane[4]       # counters: the sum, the next sum, what is added several times, the sum over shapes
    int n_planes, room_planes
    int most_shapes          # of one size
    # Of listed_failing.pyx; NULL: not needed so far.
    int32_t *left            # [most_shapes][64 words]
    int32_t *failing         # [3 cells]

cdef struct listed_t:
    listed_torus_t *torus
    int n_tori
    int64_t looked           # words read, for tests of how work grows
    arena_t memory

# A box that was found: its torus, its shape, its base.
cdef struct listed_box_t:
    int torus, shape
    box_t box

# Which candidates may be taken; NULL: all.
ctypedef bint (*permits_t)(void *context, const box_t *box) noexcept nogil

# 0, or -1: no memory.  Tori are added with their shapes by size; `listed_end` frees a rule in any state.
cdef int listed_begin(listed_t *r, int n_tori) noexcept nogil
cdef int listed_add_torus(listed_t *r, int x, int y, int z, int field, const int32_t *node, int n_shapes) noexcept nogil
cdef int listed_add_shape(listed_t *r, int torus, const int32_t *numbers) noexcept nogil
cdef int listed_ready(listed_t *r) noexcept nogil
cdef void listed_end(listed_t *r) noexcept nogil

# The first shape of a torus that has at least this size (n_shapes: none).
cdef int listed_from_size(const listed_torus_t *t, int size) noexcept nogil
# What is available on a torus: what is set in neither mask (the second may be NULL).
cdef void listed_set_free(listed_torus_t *t, const uint64_t *busy, const uint64_t *forbidden) noexcept nogil
# A box, which wraps around, is no longer available.
cdef void listed_drop(listed_torus_t *t, const box_t *box) noexcept nogil
# Whether a shape of exactly this size has a free box in what `busy` leaves; all such boxes, in the order of candidates.
cdef bint listed_has(listed_t *r, listed_torus_t *t, const uint64_t *busy, int size) noexcept nogil
cdef bint listed_best(listed_t *r, int torus, int size, int score, uint64_t key, permits_t permits, void *context,
                      box_t *out) noexcept nogil
cdef bint free_bases(listed_t *r, listed_torus_t *t, const uint64_t *free, const listed_shape_t *s, bint complete,
                     uint64_t *out) noexcept nogil
cdef int count_meeting(listed_t *r, listed_torus_t *t, const listed_shape_t *s,
                       const listed_shape_t *other) noexcept nogil
cdef int64_t least_anchor(listed_torus_t *t, uint64_t *alive) noexcept nogil
cdef void first_base(const listed_torus_t *t, const listed_shape_t *s, const uint64_t *bases, box_t *out) noexcept nogil
# plane[0] = Slurm's fragmentation cost of the box at each base; uses `others`.
cdef void count_costs(listed_t *r, listed_torus_t *t, const listed_shape_t *s) noexcept nogil
# Adds the candidates `alive` of a shape that leave one of `others`, free boxes of another, to `into`.
cdef void spare_of(listed_t *r, listed_torus_t *t, const listed_shape_t *s, const listed_shape_t *other,
                   const uint64_t *alive, uint64_t *into) noexcept nogil


cdef inline int64_t base_bit(const listed_torus_t *t, int x, int y, int z) noexcept nogil:
    return (<int64_t>x * t.extent[1] + y) * t.field + z


cdef inline void drop_base(const listed_torus_t *t, uint64_t *bases, const box_t *box) noexcept nogil:
    cdef int64_t bit = base_bit(t, box.x, box.y, box.z)
    bases[bit >> 6] &= ~((<uint64_t>1) << (bit & 63))


cdef inline bint has_any(const listed_torus_t *t, const uint64_t *map_) noexcept nogil:
    cdef int32_t i
    for i in range(t.words):
        if map_[i]:
            return True
    return False


cdef inline uint64_t splitmix64(uint64_t x) noexcept nogil:
    x = x + <uint64_t>0x9E3779B97F4A7C15
    x = (x ^ (x >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    x = (x ^ (x >> 27)) * <uint64_t>0x94D049BB133111EB
    return x ^ (x >> 31)
