# The contract of compiled policies in C (policy.h), for Cython.

from libc.stdint cimport int64_t

cdef extern from "faultsim/policy.h" nogil:
    const int FAULTSIM_POLICY_VERSION
    ctypedef void (*faultsim_queue_keys_t)(int64_t n, const double *submit, const double *estimate, const double *size,
                                           double now, double *key, void *user_data) noexcept
