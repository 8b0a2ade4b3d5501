# The books of a run that is not over (model.md#partial).

from faultsim._core.state cimport sim_t

# Book until now what the jobs on nodes have done, and close their stays in the record.  The simulation cannot go on: it
# is a copy that was made for this.
cdef void book_so_far(sim_t *s) noexcept nogil
# Columns of the jobs as of now in those of the engine, which it overwrites; what is not known yet is NaN.
cdef dict columns_so_far(const sim_t *s, dict columns)
# What has become of each job, by faultsim.data.event_kinds.JobState.
cdef object states_of(const sim_t *s)
