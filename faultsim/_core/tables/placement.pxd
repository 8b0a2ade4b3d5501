# A placement rule: which free nodes a job gets.
#
# `choose` is called on placed machines, for any occupancy: 1 found, 0 no free and permitted place of exactly `size`
# nodes, < 0 a code.  `allot` is called on named clusters when a job starts: the job receives `count` free nodes in
# addition to those that it has (there may be two calls for one start); OK or a code.  Both may read the predictions in
# the window that the caller sets (sim_t.predictions).

from libc.stdint cimport int32_t, uint64_t

from faultsim._core.tables.machine cimport permit_t, place_t

cdef struct placement_t:
    void *state              # as the next two: part_t of memory.pxd
    void *(*copy)(const void *state, const void *sim) noexcept nogil
    void (*close)(void *state) noexcept nogil
    int (*choose)(void *state, void *sim, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit,
                  place_t *out) noexcept nogil
    int (*allot)(void *state, void *sim, int32_t job, int32_t count) noexcept nogil
    bint stable              # equal arguments give equal results: no Python, no clock
