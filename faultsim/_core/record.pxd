# What record=True keeps: every event, and every stay of a job on its nodes, in the order in which they happened.
#
# Contract: sim_t.record.on is set before sim_alloc.  A stay begins with the decision (or a move) and ends with the
# next move, the finish, or the kill that requeues the job; a job has at most one open stay, at record.open_stay[job].
# 0, or NO_MEMORY.

from libc.stdint cimport int32_t, int64_t

from faultsim._core.containers.memory cimport blocks_t
from faultsim._core.state cimport sim_t

# Make room for `wanted` items of `each` bytes in a block that grows by doubling: for every table of records.
cdef int room_for(blocks_t *blocks, void *owner, void *field, int64_t *capacity, int64_t wanted,
                  size_t each) noexcept nogil
cdef int record_event(sim_t *s, int kind, int32_t job, int32_t node) noexcept nogil     # node: or -1
# The same of what only `Decision.changes` shows; does nothing unless the record is on.
cdef int record_told(sim_t *s, int kind, int32_t job, int32_t node) noexcept nogil
cdef int open_stay(sim_t *s, int32_t job) noexcept nogil
cdef void close_stay(sim_t *s, int32_t job) noexcept nogil

# What copies of a simulation have in common, as columns: rows of records, and jobs that have ended.
cdef class Shared:
    cdef object events, stays, ranges, jobs      # `Chunks`
    cdef Shared copy(self)

# Add the rows that cannot change any more: events before `event`; stays before `stay` and before any open stay.
cdef int share_records(sim_t *s, Shared shared, int64_t event, int64_t stay) except -1

# What was kept, as columns, when the simulation has finished.  `lend_ranges` gives the block of ranges to the array
# that it returns; the caller must not free it with the simulation (sim_t.record.range = NULL before sim_free).
cdef object recorded_events(const sim_t *s, Shared shared)
cdef object lend_ranges(sim_t *s)                            # where n_ranges > 0: (first, count) of each
cdef object recorded_ranges(const sim_t *s, Shared shared)                  # a copy
cdef object recorded_stays(const sim_t *s, Shared shared, object ranges)    # one of these two; None on a torus
