# What a caller that owns time, jobs and failures tells a simulation (model.md#owned).
#
# Jobs have their numbers in order of (submit, row): one that is submitted ahead of others which have not arrived yet
# takes its number among theirs.  A row never changes.

from libc.stdint cimport int32_t

from faultsim._core.border cimport Border

cdef class Live(Border):
    cdef tuple foreseen      # the arrays of predictions, once the caller has told some

    # The number of the job in a row; a node.
    cdef int32_t job_at(self, object row) except -1
    cdef int32_t node_at(self, object node) except -1
    cdef int refuse_unless_live(self) except -1
    cdef object refuse(self, str text)
    cdef int add(self, submit, runtime, estimate, size, interval, rank, key) except -1
    cdef int number(self, int32_t first) except -1
