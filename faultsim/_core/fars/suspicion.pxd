# Nodes that Fars takes for suspicious until the next tick, and what jobs that start make of it (MODEL 12).
#
# Contract: fars.suspicious has the layout of `occ`; with `last`, starts take such nodes only where no others will do.

from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.torus.choose cimport permit_t
from faultsim._core.state cimport sim_t
from faultsim._core.torus.occupancy cimport box_t

cdef int fars_alloc(sim_t *s) noexcept nogil
cdef void fars_free(sim_t *s) noexcept nogil
# The scratch and the mask of a copy; the rest has been copied.
cdef int fars_copy(sim_t *to, const sim_t *source) noexcept nogil

# The nodes of tick i, and no others, are suspicious from now on.
cdef void suspect_nodes(sim_t *s, int64_t i) noexcept nogil
# Free nodes that are not suspicious.
cdef int32_t healthy(const sim_t *s) noexcept nogil
# How many nodes of a running job are suspicious.
cdef int32_t suspicious_nodes(const sim_t *s, int32_t job) noexcept nogil

# s.policy.take, and s.policy.place at now, for a job that starts.
cdef int take_warily(sim_t *s, int32_t job, int32_t count) noexcept nogil
cdef int place_warily(
    sim_t *s, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit, box_t *out) noexcept nogil
