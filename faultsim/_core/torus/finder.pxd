# The state of a bitmap finder, for its own modules (finder_bitmap.pxd is the contract).

from libc.stdint cimport uint64_t
from faultsim._core.containers.memory cimport arena_t
from faultsim._core.tables.machine cimport permit_t
from faultsim._core.torus.node_counts cimport counts_t
from faultsim._core.torus.row_maps cimport row_maps_t, view_t
from faultsim._core.torus.row_slices cimport slices_t
from faultsim._core.torus.axis_sets cimport family_t
from faultsim._core.torus.word_maps cimport u128, word_maps_t
from faultsim._core.torus.occupancy cimport box_t, shape_t, torus_t


cdef enum which_t:                  # the occupancies that a finder keeps in view
    PLAIN = 0                       # the one of the call
    FENCED = 1                      # the same with forbidden nodes
    FUTURE = 2                      # another one, such as that of a shadow time


cdef struct stored_choice_t:               # a stored result of choose_max_free on a small torus
    uint64_t occ[2]
    int size, order
    unsigned int epoch              # that of the finder, else the slot is empty
    bint found
    int before, after               # as in finder_t
    box_t out


cdef struct finder_t:
    const torus_t *torus
    arena_t memory                  # failed: a growing list could not grow, results since then may be wrong
    bint is_small                   # all maps are 128-bit integers (word_maps.pxd), else row_maps.pxd
    word_maps_t word_maps
    row_maps_t row_maps
    u128 *vacant                    # [3] the free nodes of each view, where maps are words
    view_t view[3]
    slices_t slices
    # The mask `own` (NULL: none) is an occupancy each change of which is reported by finder_note_*.
    const uint64_t *own
    bint is_current                 # the view PLAIN is that of `own` as it is now
    box_t given[4]                  # boxes that became free in `own` since it was loaded as the view PLAIN ...
    int n_given                     # ... more than `places_left` of thresholds.pxd: unknown ones
    u128 known_vacant               # where maps are words: an occupancy (its free nodes) of which the largest free box
    int known_largest               # has this size; -1 = none
    int map_words                   # uint64 words a map
    int *reach                      # [x + 1] scratch of the search: an upper bound of the runs below columns of a
    int *cap                        # scratch of the search: as in view_t
    # scratch of choose.pyx
    uint64_t *map                   # one map
    uint64_t *held                  # a map for each shape of the size requested
    uint64_t *joined                # [torus.words] occupied or forbidden
    uint64_t *set[3]                # one set of coordinates an axis
    uint64_t *reach_x               # [x + 1] sets
    family_t mine[3]                # projections of the candidates
    family_t room[3]                # projections of the free boxes of the size read
    int room_size                   # which it is, if these are the boxes of the view PLAIN; else 0
    family_t guard[3]               # projections of the boxes that must remain by the permit
    family_t guard_before[3]        # what it was before; scratch
    uint64_t guard_cover[3]         # the coordinates of these boxes, one set an axis
    uint64_t *guard_later           # the occupancy in which these boxes are free: [torus.words]
    int guard_need                  # their least size; 0: `guard` has not been made
    const permit_t *guard_permit    # the last permit that requested them
    uint64_t *shared                # [torus.words] nodes that all these boxes have in common: no candidate has one
    bint has_shared                 # there are some, and they are looked for
    bint is_joined                  # the view FENCED is the view PLAIN with `shared`
    bint some_free                  # a box of the size requested was free, if not permitted
    # where maps are of rows, with `guard`, in the view of this life (view_t):
    uint64_t blocked_life
    uint64_t blocked_stamp          # blocked[size] == blocked_stamp: no candidate, for any more busy nodes either
    uint64_t *blocked               # [nodes + 1]
    int *permitted                  # as `cap` of a view: bounds of candidates, until `blocked_stamp` changes
    stored_choice_t *memo                  # a direct-mapped table
    int before, after               # largest free boxes before and after the last choice of choose_max_free
    int held_shapes                 # so many shapes of its size it left in `held`, and in `room` the boxes of `after`
    counts_t counts                 # for balance.pyx
    int *front                      # the same: [2][nodes + 2]
    unsigned int epoch              # never 0
