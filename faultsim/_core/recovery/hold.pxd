# For who has both recoveries: `recovery_t.killed` of this one, and its factory.

from libc.stdint cimport int32_t

cdef int hold_job(void *state, void *sim, int32_t job) noexcept nogil
cdef int open_hold(void *sim, dict options, dict columns) except -1
