"""A queue order, `smallest_area`, which Cython keeps as a capsule with its signature."""

from libc.stdint cimport int64_t

from faultsim.policy cimport faultsim_queue_keys_t


cdef api void smallest_area(int64_t n, const double *submit, const double *estimate, const double *size, double now,
                            double *key, void *user_data) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        key[i] = estimate[i] * size[i]

cdef faultsim_queue_keys_t checked = smallest_area
