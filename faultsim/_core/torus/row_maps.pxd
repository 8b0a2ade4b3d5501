"""Free boxes of a torus as bit-parallel sets of bases: the contract.

A *map* is an array of ``size`` uint64 words in which bit ``(iy*field + iz)`` of row ix stands for node (ix, iy, iz);
rows begin at whole words, and bits that belong to no node are 0.  The map of a shape has the bases of its free boxes
set; it is the free nodes ANDed over the shape, first along y, then x, then z (shift and AND, doubling: log2 of the
extent steps). On a full axis of a torus every base is set or none is, until `row_map_canonical` keeps base 0 alone.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t

from faultsim._core.containers.memory cimport arena_t
from faultsim._core.torus.occupancy cimport box_t, boxes_t, shape_t, torus_t


cdef extern from "row_maps.h" nogil:
    ctypedef struct fs_steps:
        int n
        int whole
        int k[6]
        int back[6]
        uint64_t lo[6]
        uint64_t hi[6]
    ctypedef struct fs_octet:
        int x, y, z, field
        uint64_t all
        uint64_t ring
        uint64_t lo
        uint64_t hi
        const fs_steps *steps
    ctypedef struct fs_row_kernels:         # n words each; see row_loops.h
        uint64_t (*both)(uint64_t *dst, const uint64_t *a, const void *b, long n) noexcept nogil
        uint64_t (*rows)(uint64_t *dst, const uint64_t *a, long step_a, const void *b, long step_b, long n,
                         long row) noexcept nogil
        uint64_t (*into)(uint64_t *dst, const void *b, long n) noexcept nogil
        int (*any_run)(const uint64_t *q, long n, const fs_steps *s) noexcept nogil
        uint64_t (*runs)(uint64_t *dst, const uint64_t *q, long n, const fs_steps *s) noexcept nogil
        int (*into_run)(uint64_t *dst, const uint64_t *b, long n, const fs_steps *s) noexcept nogil
        uint64_t (*fold)(uint64_t *acc, const uint64_t *row, long n) noexcept nogil
        int (*within)(const uint64_t *a, const uint64_t *b, long n) noexcept nogil
        long (*count)(const uint64_t *a, long n) noexcept nogil
        uint64_t (*cut)(const uint64_t *a, int at, long n) noexcept nogil
        void (*spread)(uint8_t *u, uint64_t w, long n) noexcept nogil
        int (*lower)(uint8_t *dst, const uint8_t *a, const uint8_t *b, long step_b, long rows,
                     long pitch) noexcept nogil
        int (*narrow)(uint8_t *u, uint8_t *d, const uint8_t *a, const uint8_t *b, long n) noexcept nogil
        int (*hunt)(const uint64_t *vacant, const fs_octet *g, int least, int enough, int *box) noexcept nogil


cdef struct view_t:                 # one occupancy, and the results of searches in it
    bint valid
    uint64_t *occ                   # a copy of the occupancy [torus.words]
    uint64_t *free                  # its free nodes, a map
    uint64_t *wide                  # the same, each row followed by itself (mesh: by zeros); rows of `wide_row` words
    int largest                     # size of the largest free box; -1 = not searched for yet
    int ceiling                     # an upper bound of it
    int floor                       # size of `witness`, a free box; 0 = none known
    box_t witness
    int *cap                        # [y + 1][x + 1]: bounds of the runs in columns (a, b, 1), at cap[b*(x+1) + a]
    uint64_t *layers                # [y + 1] maps of (1, b, 1), as far as known; NULL where they would be too large
    unsigned char *layer_state      # [y + 1]: 0 = not known, 1 = known, 2 = known to be empty
    int64_t spent                   # words of maps read in order to find bounds, since all was forgotten
    uint64_t life                   # a number of row_maps_t.lives, another one for each time that all was forgotten
    uint64_t *absent                # [nodes + 1]: == life: there is no free box of this size
    # What the finder stores of candidates in this view (finder.pxd), to be raised as the bounds are:
    uint64_t *blocked               # NULL: of candidates in another view
    int *permitted


cdef struct row_maps_t:
    const torus_t *torus
    const fs_row_kernels *kernels
    int words                       # uint64 words a line where z > 64, else 1
    int line_bytes
    int row, wide_row               # words a row of a map, of `wide`
    long size                       # words a map: x * row
    long wide_size
    uint64_t row_tail               # bits of a row's last word that belong to nodes
    fs_steps *steps                 # [z + 1] where words == 1
    bint is_octet                   # x <= 8 and a row is one word: `row_map_hunt` may be called
    fs_octet octet
    uint64_t *row_mask              # [row]: bits that belong to nodes
    uint64_t *ping                  # scratch of wide_size
    uint64_t *pong
    uint64_t *turn                  # scratch of 2 lines
    uint64_t *layer                 # scratch maps of the search
    uint64_t *column
    uint64_t *spare
    uint64_t *run
    int64_t looked                  # words of maps read in order to find boxes, since it was made
    uint64_t lives                  # counts what views forget, and what a finder forgets of candidates; from 1 on


# Words of maps that were read: of this occupancy, and in all.
cdef inline void row_map_spend(row_maps_t *l, view_t *v, int64_t words) noexcept nogil:
    v.spent += words
    l.looked += words


# What is made is all zero before.  If memory is out, arena_t.failed is set.
cdef void row_map_init(row_maps_t *l, const torus_t *torus, arena_t *memory) noexcept nogil
cdef void view_init(view_t *v, row_maps_t *l, arena_t *memory) noexcept nogil

# Make the view one of `occ`.  Results stay where they still hold: that a size has no free box, in any superset.
# False: it was so before.  `keep`: the caller raises the bounds (row_slices.pxd); view_reset: nothing is known.
cdef bint view_load(view_t *v, row_maps_t *l, const uint64_t *occ, bint keep) noexcept nogil
cdef void view_reset(view_t *v, row_maps_t *l) noexcept nogil

# The free nodes of an occupancy as a map.
cdef void row_map_free(const row_maps_t *l, const uint64_t *occ, uint64_t *free) noexcept nogil

# The map of a shape into `out`; False = empty (out is then not filled in).
cdef bint row_map_shape(row_maps_t *l, view_t *v, int a, int b, int c, uint64_t *out) noexcept nogil
cdef void row_map_canonical(const row_maps_t *l, int a, int b, int c, uint64_t *map) noexcept nogil

# Single steps, for loops over all shapes.  Each returns whether a bit is left.
# The layer (1, b, 1), NULL = empty; good until the next call.
cdef const uint64_t *row_map_layer(row_maps_t *l, view_t *v, int b) noexcept nogil
# Columns (a, b, 1) from layers: any a at once, from a layer; of a + more from those of a >= more; of a from those of
# a - 1, in place; the same (if `step`) with a look for runs of c along z: 0 = nothing left, 1 = no run, 2 = a run.
cdef bint row_map_column(row_maps_t *l, const uint64_t *layer, int a, uint64_t *column) noexcept nogil
cdef bint row_map_widen(const row_maps_t *l, const uint64_t *column, int more, uint64_t *wider) noexcept nogil
cdef bint row_map_next_column(const row_maps_t *l, const uint64_t *layer, int a, uint64_t *column) noexcept nogil
cdef int row_map_next_column_run(row_maps_t *l, const uint64_t *layer, int a, bint step, int c,
                                 uint64_t *column) noexcept nogil
# Runs (a, b, c): where they begin; whether there is one.
cdef bint row_map_runs(row_maps_t *l, const uint64_t *column, int c, uint64_t *out) noexcept nogil
cdef bint row_map_any_run(row_maps_t *l, const uint64_t *column, int c) noexcept nogil

# Where is_octet: the size of the largest free box, 0 = none of `least` >= 1 nodes.  `box` is the first of that size in
# contract order (a, then b, then c falling, then the base); but a box of `enough` nodes ends the search, and is any.
cdef int row_map_hunt(const row_maps_t *l, const view_t *v, int least, int enough, box_t *box) noexcept nogil

# The projections of a map on the axes; the sets are overwritten.
cdef void row_map_project(row_maps_t *l, const uint64_t *map, uint64_t *px, uint64_t *py, uint64_t *pz) noexcept nogil

# The first base p of a map, or the first with p.x in ux, p.y in uy or p.z in uz (ux NULL: any); False = none.
cdef bint row_map_pick(const row_maps_t *l, const uint64_t *map, const uint64_t *ux, const uint64_t *uy,
                       const uint64_t *uz, box_t *base) noexcept nogil
# Clear the bases that lie in none of the three sets; returns whether one is left.
cdef bint row_map_filter(const row_maps_t *l, uint64_t *map, const uint64_t *ux, const uint64_t *uy,
                         const uint64_t *uz) noexcept nogil
# The first base at or after bit `*at` (a running index; begin with 0; moved past it); False = no more.
cdef bint row_map_next(const row_maps_t *l, const uint64_t *map, long *at, box_t *base) noexcept nogil
# Append the boxes of a shape at these bases: 0; -1 no memory.
cdef int row_map_list(const row_maps_t *l, const uint64_t *map, const shape_t *s, boxes_t *list) noexcept nogil
