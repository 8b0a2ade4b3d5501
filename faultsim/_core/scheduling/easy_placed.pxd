# FCFS and EASY backfilling on a torus (MODEL 6), with migration between them (MODEL 8).

from libc.stdint cimport int32_t, uint64_t

from faultsim._core.containers.releases cimport release_t
from faultsim._core.state cimport sim_t

cdef int schedule_torus(sim_t *s) noexcept nogil

# When a box of at least `need` nodes is free, if the jobs of `items` (sorted by end) leave `occ` one after another;
# `there` becomes the occupancy at that time, everything that ends by then left out.  inf: never.
cdef double torus_shadow(sim_t *s, const release_t *items, int32_t count, const uint64_t *occ, int32_t need,
                         uint64_t *there) noexcept nogil

# What leaves gives its nodes in `occ` back.
cdef void give(const sim_t *s, const release_t *item, uint64_t *occ) noexcept nogil
