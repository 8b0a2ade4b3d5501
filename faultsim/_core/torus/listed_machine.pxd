# A torus with listed boxes as places (listed.pxd), as a machine of the engine.
#
# A job of segments has several boxes, and so may any job on several tori; a place (tables/machine.pxd) is too small for
# them.  It has the number of the first one in `segment` (part[0]), 0 in part[3], and the number of nodes (part[4]).
# The ask of a job of segments has the rank 2 + i for boxes of 2^i nodes; that of a job in one box has rank 1.

from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.tables.machine cimport permit_t, place_t
from faultsim._core.torus.listed cimport listed_t
from faultsim._core.torus.machine cimport torus_machine_t
from faultsim._core.torus.occupancy cimport box_t

# A box of a job of segments, or of a search for one.
cdef struct segment_t:
    box_t box
    int32_t next             # of the same place; -1: the last one
    # of the first one of a place
    int32_t last             # box of it
    int32_t later            # the next place in the list `recent`
    bint held                # by a job
    bint listed              # in `recent`

cdef struct listed_machine_t:
    torus_machine_t boxes    # first, so that the functions of the torus work here
    listed_t rule
    uint64_t *around         # scratch: a mask with one more box in it
    uint64_t *part[3]        # scratch: what is busy, forbidden or predicted to fail on one torus of several
    int64_t *idle            # scratch: available nodes of each torus
    bint exact               # no size is rounded up
    bint larger              # a larger box may stand in for one of the size (model.md#larger)
    segment_t *segment
    int32_t room             # for so many
    int32_t used             # the first ones
    int32_t spare            # of these the first that is not in use; -1: none
    # Places of searches, and of jobs that left, are in use until time goes on: reservations are made in every pass.
    int32_t recent           # -1: none
    double since

# What `leaves_shape` looks at: a permit with `later` and `need`.
cdef struct permitted_t:
    listed_machine_t *machine
    const permit_t *permit

# Whether a free box for `need` remains in (later | box); a permits_t with a permitted_t.
cdef bint leaves_shape(void *context, const box_t *box) noexcept nogil

# Nodes of each box of a job of this rank.
cdef inline int32_t segment_of(int32_t size, int32_t rank) noexcept nogil:
    return size if rank < 2 else 1 << (rank - 2)

# A new place without boxes, at a time; one box more.  0, or -1: no memory.
cdef void begin_segments(listed_machine_t *m, double now, place_t *out) noexcept nogil
cdef int add_segment(listed_machine_t *m, place_t *place, const box_t *box) noexcept nogil
# A box of a torus, which may be two boxes of the place.
cdef int add_box(listed_machine_t *m, place_t *place, int torus, const box_t *box) noexcept nogil
# The nodes of one torus of a mask of all, as its maps have them (NULL stays NULL); `use` is one of m.part.
cdef const uint64_t *part_of(const listed_machine_t *m, const uint64_t *mask, int torus, int use) noexcept nogil
# What is available on each torus: what is set in neither mask (the second may be NULL).
cdef void free_tori(listed_machine_t *m, const uint64_t *busy, const uint64_t *forbidden) noexcept nogil
# How many free boxes of a size there are; `free_tori` first.
cdef int64_t count_free_boxes(listed_machine_t *m, const uint64_t *busy, const uint64_t *forbidden,
                              int32_t size) noexcept nogil

cdef inline listed_machine_t *listed_of(void *state) noexcept nogil:
    return <listed_machine_t *>state
