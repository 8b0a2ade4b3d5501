# When the head of the queue can start on a placed machine, if the jobs that run end as expected (model.md#easy).

from libc.stdint cimport int32_t, uint64_t

from faultsim._core.containers.releases cimport release_t
from faultsim._core.state cimport sim_t

# When a place of at least `need` nodes is free, if `items` (sorted by end) leave `occ` one after another; `there`
# becomes the occupancy at that time, everything that ends by then left out.  inf: never.
cdef double placed_shadow(const sim_t *s, const release_t *items, int32_t count, const uint64_t *occ, int32_t need,
                          uint64_t *there) noexcept nogil
