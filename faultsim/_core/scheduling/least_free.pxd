# The least number of nodes that are free at any time from now on: what rescheduling may use of a plan
# (model.md#spares).

from libc.stdint cimport int32_t, int64_t

from faultsim._core.state cimport sim_t

cdef struct change_t:        # of the number of free nodes
    double time
    int64_t nodes

# With the reservations of all jobs that wait, per job: `nodes` in [begin, end).  `changes` is scratch.
cdef int64_t least_free(const sim_t *s, const double *begin, const double *end, const int32_t *nodes,
                        change_t *changes) noexcept nogil


# The length of the scratch: releases (at most one a node), begins and ends of reservations.
cdef inline size_t most_changes(const sim_t *s) noexcept nogil:
    return <size_t>s.nodes + 2 * <size_t>s.n + 1
