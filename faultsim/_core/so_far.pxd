# The books of a run that is not over (model.md#partial).

from libc.stdint cimport int32_t

from faultsim._core.state cimport sim_t

# Book until now what the jobs on nodes have done, and close their stays in the record.  The simulation cannot go on: it
# is a copy that was made for this.
cdef void book_so_far(sim_t *s) noexcept nogil
# Columns of the jobs as of now in those of the engine, which it overwrites, and their states; what is not known yet is
# NaN.
cdef dict columns_so_far(const sim_t *s, dict columns, object states)
# When each job became eligible; NaN where it did not.
cdef object eligible_times(const sim_t *s)
# What has become of a job, and of those from `first` to `end`, by faultsim.data.event_kinds.JobState.  Jobs are from
# sim_t.from_job on.
cdef int state_now(const sim_t *s, int32_t job) noexcept nogil
cdef object states_between(const sim_t *s, int32_t first, int32_t end)
