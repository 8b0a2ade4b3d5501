"""The bitmap finder (ours, the default): the contract.

A finder answers questions about free boxes of one occupancy; ``order`` is a box_order_t of torus.pxd.  It owns its
scratch memory, so one finder serves one thread.  It remembers the last occupancies and what it found out about them;
that never changes an answer, and makes the same question, or one about an occupancy with more busy nodes, cheap.
"""

from libc.stdint cimport uint64_t

from faultsim._core.torus.node_counts cimport counts_t
from faultsim._core.torus.row_maps cimport lines_t, view_t
from faultsim._core.torus.axis_sets cimport family_t
from faultsim._core.torus.word_maps cimport small_t, u128
from faultsim._core.torus.occupancy cimport box_t, shape_t, torus_t


cdef enum which_t:                  # the occupancies that a finder keeps in view
    PLAIN = 0                       # the one that is asked about
    FENCED = 1                      # the same with forbidden nodes
    FUTURE = 2                      # another one, such as that of a shadow time


cdef struct choice_t:               # a remembered choose_max_free on a small torus
    uint64_t occ[2]
    int size, order
    unsigned int epoch              # that of the finder, else the slot is empty
    bint found
    int before, after               # as in finder_t
    box_t out


cdef struct finder_t:
    const torus_t *torus
    bint is_small                   # all maps are 128-bit integers (small.pxd), else lines.pxd
    small_t small
    lines_t lines
    u128 *small_free                # [3] the free nodes of each view; owns `small` 's views
    view_t view[3]
    int map_words                   # uint64 words a map
    int *reach                      # [x + 1] scratch of the search: an upper bound of the runs below columns of a
    int *cap                        # scratch of the search: as in view_t
    uint64_t *scratch               # [torus.words] for callers
    # scratch of choose.pyx
    uint64_t *map                   # one map
    uint64_t *held                  # a map for each shape of the size asked for
    uint64_t *joined                # [torus.words] occupied or forbidden
    uint64_t *set[3]                # one set of coordinates an axis
    uint64_t *reach_x               # [x + 1] sets
    family_t mine[3]                # projections of the candidates
    family_t room[3]                # projections of the free boxes of the size looked at
    family_t guard[3]               # projections of the boxes that the permit asks to be left
    bint guard_valid
    uint64_t *guard_later           # what `guard` was made of: [torus.words]
    int guard_need
    int blocked_which               # blocked[size] == blocked_stamp: no candidate, for any more busy nodes either
    uint64_t blocked_life
    unsigned short blocked_stamp
    unsigned short *blocked         # [nodes + 1]
    choice_t *memo                  # a direct-mapped table
    int before, after               # largest free boxes before and after the last choice of choose_max_free
    int held_shapes                 # so many shapes of its size it left in `held`, and in `room` the boxes of `after`
    counts_t counts                 # for balance.pyx
    int *front                      # the same: [2][nodes + 2]
    unsigned int epoch              # never 0
    bint out_of_memory              # set when a growing list could not grow: what was answered since then may be wrong


cdef int finder_init(finder_t *f, const torus_t *torus) noexcept nogil          # 0; -1 no memory (f is then empty)
cdef void finder_free(finder_t *f) noexcept nogil
cdef void finder_forget(finder_t *f) noexcept nogil                             # drop all that is remembered

# The size of the largest free box, 0 = none; `out` (may be NULL) is the first of that size in contract order.
cdef int largest_free(finder_t *f, const uint64_t *occ, box_t *out) noexcept nogil

# Is there a free box of at least `at_least` nodes?  `witness` (may be NULL) is some such box.
cdef bint has_free(finder_t *f, const uint64_t *occ, int at_least, box_t *witness) noexcept nogil

# The first free box of exactly `size` nodes.
cdef bint first_free(finder_t *f, const uint64_t *occ, int size, int order, box_t *out) noexcept nogil

# All free boxes of exactly `size` nodes, in order, into a buffer that grows (`*buf` may be NULL, with *cap 0; the
# caller frees it with free()).  How many, or -1: no memory.
cdef long all_free(finder_t *f, const uint64_t *occ, int size, int order, box_t **buf, long *cap) noexcept nogil

# -- for choose.pyx: maps (lines.pxd) whatever their kind ------------------------------------------------------------

cdef void finder_load(finder_t *f, int which, const uint64_t *occ) noexcept nogil
cdef int finder_largest(finder_t *f, int which) noexcept nogil
cdef bint finder_absent(const finder_t *f, int which, int size) noexcept nogil  # known to have no free box of this size
cdef void finder_note_absent(finder_t *f, int which, int size) noexcept nogil

# The size of the largest free box above `best` that keeps clear of some box of `mine` (NULL: any), else `best`.  A
# box of `enough` nodes ends the search.
cdef int finder_search(finder_t *f, int which, int best, int enough, const family_t *mine,
                       box_t *witness) noexcept nogil
# False = empty, map undefined
cdef bint map_shape(finder_t *f, int which, const shape_t *s, uint64_t *map) noexcept nogil
cdef void map_canonical(finder_t *f, const shape_t *s, uint64_t *map) noexcept nogil
cdef void map_project(finder_t *f, const uint64_t *map, uint64_t **sets) noexcept nogil
cdef bint map_pick(finder_t *f, const uint64_t *map, uint64_t **sets, box_t *base) noexcept nogil       # sets NULL: any
cdef bint map_filter(finder_t *f, uint64_t *map, uint64_t **sets) noexcept nogil
cdef bint map_next(finder_t *f, const uint64_t *map, long *at, box_t *base) noexcept nogil
# Boxes of at least `need` nodes in a view, the least shape of each kind, into three families.  0; -1 no memory
cdef int finder_rooms(finder_t *f, int which, int need, family_t *rooms) noexcept nogil
