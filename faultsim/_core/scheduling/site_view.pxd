# What schedulers from outside ask where jobs share nodes (model.md#site-decisions).

from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.scheduling.site_choice cimport site_choice_t, site_then_t
from faultsim._core.state cimport sim_t

cdef struct site_view_t:
    site_choice_t choice
    site_then_t then
    uint64_t *later          # what is free of each node at the shadow time
    int64_t slack            # how much more of what the head needs serves it in `later`

cdef int open_site_view(void *owner, site_view_t *v, const sim_t *s) except -1
# The shadow of a waiting job; `extra` is 0 if the time is infinite.
cdef double view_shadow(const sim_t *s, site_view_t *v, int32_t head, int64_t *extra) noexcept nogil
cdef bint view_has_room(const sim_t *s, site_view_t *v, int32_t job) noexcept nogil
# Whether a job may start now, with its shares in site_t.chosen.
cdef bint view_choose(sim_t *s, site_view_t *v, int32_t job) noexcept nogil
# The same beside a head after `view_shadow`, which found this time.
cdef bint view_choose_beside(sim_t *s, site_view_t *v, int32_t job, int32_t head, double time) noexcept nogil
# What is chosen outlives the shadow time of the head.
cdef void view_take_chosen(const sim_t *s, site_view_t *v, int32_t head) noexcept nogil
