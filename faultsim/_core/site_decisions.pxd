# What decisions read and choose where jobs share nodes (model.md#site-decisions).

from libc.stdint cimport int32_t

from faultsim._core.scheduling.site_view cimport site_view_t
from faultsim._core.state cimport sim_t

# The scratch of one simulation on a site.
cdef class SiteView:
    cdef site_view_t *v
    cdef dict forms          # live=: requests -> their form

    # What the jobs from `first` to before `last` request, none of which has arrived; only with live=.
    cdef int read_requests(self, sim_t *s, object rows, int32_t first, int32_t last) except -1

    # Whether a job may start now on these nodes, in this order, with its shares in site_t.chosen; "" or why not.
    cdef str choose_named(self, sim_t *s, int32_t job, object row, const int32_t *node, Py_ssize_t n)
    cdef str choose_with_cores(self, sim_t *s, int32_t job, object row, const int32_t *node, const int32_t *cores,
                               Py_ssize_t n)
    # Arrays: whether a node is down or held in part; what is free of each node; the shares of a job.
    cdef object occupied(self, sim_t *s)
    cdef object free_amounts(self, sim_t *s)
    cdef object shares(self, sim_t *s, int32_t job)

cdef SiteView new_site_view(sim_t *s)
