# Nodes for a job that starts now: those of sim_t.avoid only where no others will do (model.md#rescheduling).

from libc.stdint cimport int32_t, uint64_t

from faultsim._core.absences cimport absences_of, none_closed, take_open
from faultsim._core.tables.machine cimport permit_t, place_t
from faultsim._core.state cimport end_if_started, sim_t

# As `choose` and `take` of placement.pxd.
cdef int choose_now(sim_t *s, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit,
                    place_t *out) noexcept nogil
# A place at `t` of the smallest size, from the job's own up to `limit`, in which one is found; by choose_now if it
# `starts`.  The size; 0: none; < 0: a code.
cdef int choose_growing(sim_t *s, int32_t job, double t, const uint64_t *occ, int32_t limit, permit_t *permit,
                        bint starts, place_t *out) noexcept nogil
# How many nodes of a mask are free.
cdef int32_t free_of(const sim_t *s, const uint64_t *mask) noexcept nogil
cdef int take_sound_first(sim_t *s, int32_t job, int32_t count) noexcept nogil


cdef inline int take_now(sim_t *s, int32_t job, int32_t count) noexcept nogil:
    """The same if nodes are to be avoided; else what the rule takes."""
    if s.absences.state != NULL and (absences_of(s).spares or not none_closed(
            absences_of(s), s.now, end_if_started(s, job))):
        return take_open(s, job, count)
    if s.avoid == NULL:
        return s.placement.allot(s.placement.state, s, job, count)
    return take_sound_first(s, job, count)
