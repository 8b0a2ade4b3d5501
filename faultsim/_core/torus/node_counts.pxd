"""How many of some marked nodes a box holds, for the bases of a shape in a map: the contract.

Counts are found base by base where a map has few, else bit-sliced for all bases at once: plane j is a map
(word_maps.pxd or row_maps.pxd) with bit j of the count of each base.  Where there are many marked nodes on a large
machine, each base has its count as a number instead.
"""

from libc.stdint cimport int32_t, uint32_t, uint64_t

from faultsim._core.containers.memory cimport arena_t
from faultsim._core.torus.row_maps cimport row_maps_t
from faultsim._core.torus.word_maps cimport word_maps_t
from faultsim._core.torus.occupancy cimport box_t, torus_t


cdef struct counts_t:               # all zero is an empty one
    bint has_memory
    const torus_t *torus            # good while a decision lasts, as the next two are; one of these is NULL
    const word_maps_t *word_maps
    row_maps_t *row_maps
    bint whether                    # counts are 0 or 1: whether there is one
    int n                           # marked nodes
    int32_t *node                   # [torus.nodes]: their numbers
    uint64_t *mark                  # [torus.words]: the same as a mask
    int a, b, c                     # the current shape
    bint has_planes, has_sum        # whether there are counts of all its bases, and how
    int planes
    long words                      # uint64 words a plane
    uint64_t *plane                 # [as many as a count can need][words]
    uint64_t *row                   # [words] of one row, and
    uint32_t *sum                   # [3][torus.nodes]: counts; flags; scratch; where maps are of rows


# Mark the nodes of `mask` that are in neither `occ` nor `other` (may be NULL).  How many, or -1: no memory, which
# is taken from the arena at first.
cdef int counts_load(counts_t *c, const torus_t *torus, const word_maps_t *word_maps, row_maps_t *row_maps,
                     const uint64_t *mask, const uint64_t *occ, const uint64_t *other, bint whether,
                     arena_t *memory) noexcept nogil
# Sets the current shape, for the next two functions.
cdef void counts_shape(counts_t *c, int a, int b, int d) noexcept nogil
# Keep the bases of at most k marked nodes; returns whether one is left.
cdef bint counts_cap(counts_t *c, uint64_t *map, int k) noexcept nogil
# The least count in a map that is not empty; the bases of that count are kept.
cdef int counts_least(counts_t *c, uint64_t *map) noexcept nogil
# The count of one box of any shape.
cdef int counts_box(const counts_t *c, const box_t *box) noexcept nogil
