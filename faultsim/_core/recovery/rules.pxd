# `recovery_t.killed` of Hold and of Requeue, for modules that choose between them.

from libc.stdint cimport int32_t

cdef int hold_job(void *state, void *sim, int32_t job) noexcept nogil
cdef int requeue_job(void *state, void *sim, int32_t job) noexcept nogil
