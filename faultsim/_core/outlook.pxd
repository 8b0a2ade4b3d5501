# What somebody outside sees when it is to decide (model.md#decisions).

from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.job_columns cimport Moment

cdef int32_t clipped(object number) except? -1

cdef class Outlook(Moment):
    cdef readonly str kind
    cdef readonly bint disturbed
    cdef readonly object job, node, until, asked     # what the question is about; None where it does not apply
    cdef bint moved              # a job was moved
    cdef bint inside             # it is given to a policy in Python, which acts again wherever the run is repeated
    cdef int64_t event, stay     # numbers of the first that came since the decision before; -1: nobody counts them
    # The shadow of `head`, until something changes.
    cdef int32_t head
    cdef int32_t epoch       # nobody has told anything since
    cdef double time
    cdef int64_t extra
    cdef uint64_t *later     # [placed] the occupancy then

    cdef int32_t find(self, object given) except -1
    cdef int32_t row_of(self, int32_t job) noexcept
    cdef int32_t waiting_at(self, int32_t job) except -1
    cdef int look_ahead(self, int32_t head) except -1
    cdef dict pod(self)
    cdef str phrase(self, int32_t job)
