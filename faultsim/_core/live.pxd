# What a caller that owns time, jobs and failures tells a simulation (model.md#owned).

from libc.stdint cimport int32_t

from faultsim._core.border cimport Border

cdef class Live(Border):
    cdef int32_t job_at(self, Py_ssize_t row) except -1
    cdef int act(self) except -1
    cdef object refuse(self, str text)
    cdef int refuse_unless_node(self, Py_ssize_t node) except -1
