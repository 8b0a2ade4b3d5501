# What decisions read and choose where jobs share nodes (model.md#site-decisions).

from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.scheduling.site_choice cimport site_choice_t, site_then_t
from faultsim._core.state cimport sim_t

cdef struct site_view_t:
    site_choice_t choice
    site_then_t then
    uint64_t *later          # what is free of each node at the shadow time
    int64_t slack            # how much more of what the head needs serves it in `later`

# The scratch of one simulation on a site.
cdef class SiteView:
    cdef site_view_t *v
    cdef dict forms          # live=: requests -> their form

    # What the jobs from `first` to before `last` request, none of which has arrived; only with live=.
    cdef int read_requests(self, sim_t *s, object rows, int32_t first, int32_t last) except -1

    # The shadow of a waiting job; `extra` is 0 if the time is infinite.
    cdef double look_ahead(self, sim_t *s, int32_t head, int64_t *extra) noexcept
    cdef bint has_room(self, sim_t *s, int32_t job) noexcept
    # Whether a job may start now, with its shares in site_t.chosen.
    cdef bint choose(self, sim_t *s, int32_t job) noexcept
    # The same beside a head after `look_ahead`, which found this time.
    cdef bint choose_past(self, sim_t *s, int32_t job, int32_t head, double time) noexcept
    # The same on these nodes, in this order; "" or why not.
    cdef str choose_named(self, sim_t *s, int32_t job, object row, const int32_t *node, Py_ssize_t n)
    cdef str choose_with_cores(self, sim_t *s, int32_t job, object row, const int32_t *node, const int32_t *cores,
                               Py_ssize_t n)
    cdef int32_t cores_chosen(self, sim_t *s) noexcept
    # Arrays: whether a node is down or held in part; what is free of each node; the shares of a job.
    cdef object occupied(self, sim_t *s)
    cdef object free_amounts(self, sim_t *s)
    cdef object shares(self, sim_t *s, int32_t job)

cdef SiteView new_site_view(sim_t *s)
