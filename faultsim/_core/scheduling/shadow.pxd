# When the head of the queue can start on a placed machine, if the jobs that run end as expected (model.md#easy).

from libc.stdint cimport int32_t, uint64_t

from faultsim._core.containers.releases cimport release_t
from faultsim._core.state cimport sim_t
from faultsim._core.tables.machine cimport place_t

# What is taken when the head's turn comes, as rescheduling meets it: the state of a scheduler begins with this.
cdef struct later_t:
    uint64_t *mask           # jobs that moved included
    bint was_there           # the job that moves held nodes then
    bint outlives            # and will hold its new ones

# `need` is an ask (machine.pxd).

# When a place of at least `need` is free, if `items` (sorted by end) leave `occ` one after another; `there`
# becomes the occupancy at that time, everything that ends by then left out.  inf: never.
cdef double placed_shadow(sim_t *s, const release_t *items, int32_t count, const uint64_t *occ, int32_t need,
                          uint64_t *there) noexcept nogil

# Places that jobs have left, as many as are worth a look at each.
cdef struct left_t:
    int32_t n                # more than `places_left` of thresholds.pxd: not all are here
    place_t place[4]

cdef void note_left(left_t *left, const sim_t *s, const place_t *place) noexcept nogil

# What has become of a shadow time if all that happened since is that jobs left: `there` is the occupancy at that time,
# with nothing of theirs, and becomes that at the time returned, which is no later.  `left`: what they were to hold up
# to that time or beyond.
cdef double shadow_no_later(sim_t *s, int32_t need, double time, const left_t *left, uint64_t *there) noexcept nogil

# The same of the machine as it is now, where perhaps no pass has been run: now, if there is a place.
cdef double shadow_from_now(sim_t *s, int32_t need, uint64_t *there) noexcept nogil

# The same where nodes may be closed to job `head` (absences.pxd): of now, the releases, and the ends of absences that
# are tried, the first at which it has a place.  `there` is without what is closed to it then, which is `closed` (empty:
# nothing).
cdef double first_open_time(sim_t *s, int32_t head, uint64_t *there, uint64_t *closed) noexcept nogil
# Whether a place is free without nodes that are closed to a job that starts now.
cdef bint has_open_place(const sim_t *s, int32_t job) noexcept nogil
# `first_open_time` for an occupancy and these releases.
cdef double first_open_of(sim_t *s, const release_t *items, int32_t count, const uint64_t *occ, int32_t head,
                          uint64_t *there, uint64_t *closed) noexcept nogil

# For `guard`, of a job that moves and would end at `end`, while the head's turn comes at `time`; and `settled` of the
# scheduler's table.
cdef void lift_mover(later_t *later, const sim_t *s, int32_t job, double end, double time) noexcept nogil
cdef int settle_mover(void *state, void *sim, int32_t job, const place_t *place) noexcept nogil
