# Which place of a pod a job takes.

from libc.stdint cimport int32_t, uint64_t

from faultsim._core.pod.slices cimport pod_t
from faultsim._core.tables.machine cimport permit_t, place_t

# The first permitted place of exactly what is asked; False: none.  Sets of switched cubes are ordered by their numbers.
cdef bint pod_choose(pod_t *m, const uint64_t *occ, int32_t ask, const permit_t *permit, place_t *out) noexcept nogil
# All permitted places in order (of switched cubes: the first alone), into a buffer that grows, which the caller frees;
# how many, or -1: no memory.
cdef long pod_list(pod_t *m, const uint64_t *occ, int32_t ask, const permit_t *permit, place_t **found,
                   long *capacity) noexcept nogil
