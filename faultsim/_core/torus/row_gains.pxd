"""What free boxes a view gains where nodes become free, so that what it remembers stays true: the contract.

A view that is loaded with an occupancy of fewer busy nodes than before has forgotten everything (row_maps.pxd).  But
as a rule a job or two have left, and each new free box meets one of the boxes that they left.  So the bounds of runs
are raised by the boxes that meet these, and nothing else changes: what did not fit still does not.

A box that is thin on some axis is gone through by slices (row_slices.pxd).  Else only nodes that are free and hang
together along z with the nodes left are looked at, in a window that ends where no free line goes on: at most A*A*B*B
words for a window of A by B lines.  Where that would be more than a quarter of what it took to find the bounds
(`gain_part` and `gain_words` of thresholds.pxd), all is forgotten.
"""

from libc.stdint cimport int64_t, uint64_t

from faultsim._core.containers.memory cimport arena_t
from faultsim._core.torus.occupancy cimport box_t
from faultsim._core.torus.row_maps cimport fs_flood, row_maps_t, view_t
from faultsim._core.torus.row_slices cimport slices_t

cdef struct gains_t:
    bint able                       # lines are words or parts of them, and the machine is not a small one
    fs_flood steps
    uint64_t *left                  # [torus.words] nodes that became free
    uint64_t *flood                 # a map: free nodes that hang together with a piece along z
    uint64_t *window                # its lines around the piece, rows of `window_row` words
    uint64_t *layer[2]
    uint64_t *column
    int *reach                      # [x + 1]
    box_t piece[4]                  # boxes that are left at a time
    slices_t slices
    int64_t looked                  # words of columns looked at, since it was made

# Where memory is out, the arena says so.
cdef void gains_init(gains_t *g, const row_maps_t *l, arena_t *memory) noexcept nogil
# Make the view one of `occ`; False: it was so before.  v.gained bounds the size of new free boxes.
cdef bint gains_load(gains_t *g, row_maps_t *l, view_t *v, const uint64_t *occ) noexcept nogil
