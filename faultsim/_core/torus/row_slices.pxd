"""Free boxes that meet a given box, slice by slice: the contract.

A slice is the set of nodes with one coordinate on one axis.  Each of them has a run of free nodes on either side, one
or two bytes per node.  A box that meets the slice is a rectangle of it, and reaches as far on either side as the least
of its runs.  So all rectangles are visited, 32 bases at a step, in a window that ends where no free line goes on: at
most P*P*Q*Q / 32 steps for a window of P by Q nodes.  A box is searched along the axis where it is thinnest; it then
has one slice or a few.  A *room* is a free box of at least so many nodes.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t

from faultsim._core.containers.memory cimport arena_t
from faultsim._core.torus.axis_sets cimport family_t
from faultsim._core.torus.occupancy cimport box_size, box_t
from faultsim._core.torus.row_maps cimport row_maps_t, view_t

cdef struct slices_t:
    bint able                       # no axis is longer than 64, and the machine is not a small one
    uint64_t *free                  # a map
    uint64_t *bits                  # [rows] free nodes of the slice
    uint8_t *up                     # [rows][columns] runs that begin in the slice
    uint8_t *down                   # runs below it
    uint8_t *window[2]              # those around a box, in rows of `wide`
    uint8_t *low[4]                 # the least of so many columns, in rows of `pitch`: up and down, twice
    uint8_t *least[2]               # the least of so many rows of those
    int *reach                      # [rows + 1]
    int64_t looked                  # words that were read, since it was made

# If memory is out, arena_t.failed is set.
cdef void slices_init(slices_t *s, const row_maps_t *l, arena_t *memory) noexcept nogil

# Make the view one of `occ`, in which no node is free that was busy, except in these boxes.  What has been found out
# about larger sizes stays, and the bounds of runs are raised by the free boxes that meet these; but where that would be
# more work than a part of what it took to find the bounds (`gain_part` of thresholds.pxd), all is forgotten.
# False: it was so before.
cdef bint slices_load(slices_t *s, row_maps_t *l, view_t *v, const uint64_t *occ, const box_t *given,
                      int n) noexcept nogil

# Is there a room of at least `need` >= 1 nodes that meets a box?  One that does not may be found, too.
cdef bint slices_room(slices_t *s, const row_maps_t *l, const uint64_t *occ, const box_t *p, int need) noexcept nogil
# Add the projections of all rooms that meet the box to three families, one an axis, but for shapes of which a smaller
# one is a room.  False: `looked` would pass `enough`, and some are missing.
cdef bint slices_rooms(slices_t *s, const row_maps_t *l, const uint64_t *occ, const box_t *p, int need,
                       int64_t enough, family_t *three) noexcept nogil

# Whether the box is small enough that a search beside it takes less time than one of the whole machine.
cdef inline bint slices_pay(const row_maps_t *l, const box_t *p) noexcept nogil:
    return <int64_t> l.torus.limit.slice_part * box_size(p) <= l.torus.nodes
