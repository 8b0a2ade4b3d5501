# Places of a pod in masks, and whether one is a slice.

from libc.stdint cimport int32_t, uint64_t

from faultsim._core.pod.slices cimport pod_t
from faultsim._core.tables.machine cimport place_t

cdef int32_t pod_size(const place_t *place) noexcept nogil
cdef void pod_put(const pod_t *m, uint64_t *mask, const place_t *place) noexcept nogil
cdef void pod_lift(const pod_t *m, uint64_t *mask, const place_t *place) noexcept nogil
cdef bint pod_meets(const pod_t *m, const uint64_t *mask, const place_t *place) noexcept nogil
# Whether a place is a slice for this ask, with or without a shape; ask 0: for any job.
cdef bint pod_is_place(pod_t *m, const place_t *place, int32_t ask) noexcept nogil
