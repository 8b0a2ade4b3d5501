# The plan of Backfill where a job needs a place (model.md#backfill): reservations, and the times that are tried.
#
# Contract.  It is rebuilt in every pass, and in a pass it only fills: reservations are added, and jobs start.  Each
# reservation has a place, as a mask, but for the head's with reservation="any": it leaves open which one, and asks that
# a place that is large enough stays free in `later`, what runs at its time, together with `beside`, the places of the
# others.

from libc.stdint cimport int32_t, uint64_t

from faultsim._core.scheduling.shadow cimport later_t
from faultsim._core.state cimport sim_t
from faultsim._core.tables.machine cimport outline_t, permit_t, place_t

cdef struct claim_t:         # a reservation
    double begin, end
    int32_t need             # nodes
    int32_t ask              # of the machine

cdef struct known_t:         # of a size
    int32_t none_free        # there is no free place since this epoch
    int32_t none_beside      # nor one beside the reservations, in this epoch, for jobs that end by `end` or later
    double end
    int32_t stock            # of `fits`
    int32_t fits             # as many releases leave a place, and no fewer
    # In this epoch no reservation of a stay that is at least as long in both of its parts begins before `until`.
    int32_t refused
    double owed, remaining, until

cdef struct plan_t:
    later_t later            # open: what runs, and is down, at the begin of claim[0]
    int32_t depth
    bint fixed               # reservation="fixed": the head has a place, too
    int32_t max_growth
    claim_t *claim           # in queue order
    uint64_t *mask           # of their places, one after another
    outline_t *outline       # of these; NULL: the machine has none
    int32_t n, capacity
    bint open                # claim[0] is the head's, and has no place
    uint64_t *beside         # open: the places of other reservations that meet it
    double *time             # when nodes come back, from now on, ascending, each once: what is tried
    int32_t n_times, time_capacity
    # With outlines: of what runs after so many releases, as long as no job starts.
    outline_t *gone
    int32_t n_gone, gone_capacity        # n_gone: so many are known
    int32_t stock            # counts how often they were forgotten
    uint64_t *going          # the mask of the last of them
    outline_t left           # open: of what `later` and `beside` have
    known_t *known           # per size
    int32_t epoch            # a pass, in which the machine and the plan only fill
    # scratch
    uint64_t *around
    uint64_t *running        # after `n_left` releases
    int32_t n_left
    uint64_t *window
    uint64_t *instant

# What runs, and none of the reservations.
cdef int clear_plan(plan_t *p, sim_t *s) noexcept nogil
cdef int add_time(plan_t *p, double t) noexcept nogil
# Index of the first time to be tried that is not before t.
cdef int32_t first_time(const plan_t *p, double t) noexcept nogil
# The job's reservation, in a place, or (NULL) the open one of the head.
cdef int add_claim(plan_t *p, sim_t *s, int32_t job, double begin, const place_t *place) noexcept nogil
# Permit only what leaves a place to the open reservation of the head.
cdef void spare_head(plan_t *p, sim_t *s, permit_t *permit) noexcept nogil

# When the plan may have room for a job that needs whole parts of the machine, told by outlines.  What was found is kept
# as long as it is true: as many releases as leave a place until a job starts, and a time before which nothing of a size
# is reserved to the end of the pass.
#
# `shadow_from_now` (shadow.pxd) of such a job, and p.later.mask as that leaves it; OK, or a status code.
cdef int turn_of_parts(plan_t *p, sim_t *s, int32_t job, double *t) noexcept nogil
# The index of the first time to be tried at which such a job may find a place, or p.n_times; OK, or a status code.
cdef int hopeful_from(plan_t *p, sim_t *s, int32_t job, int32_t *first) noexcept nogil


cdef inline void forget_gone(plan_t *p) noexcept nogil:
    """Jobs start or leave."""
    p.n_gone = 0
    p.n_left = -1
    p.stock += 1


cdef inline uint64_t *mask_of(const plan_t *p, const sim_t *s, int32_t i) noexcept nogil:
    return p.mask + <size_t>i * <size_t>s.machine.words


cdef inline bint has_place(const plan_t *p, int32_t i) noexcept nogil:
    return i > 0 or not p.open


cdef inline bint holds(const claim_t *c, double t) noexcept nogil:
    return c.begin <= t and t < c.end


cdef inline bint meets(const claim_t *c, double t, double end) noexcept nogil:
    return holds(c, t) or (t < c.begin and c.begin < end)
