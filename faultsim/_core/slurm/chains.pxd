from libc.stdint cimport int32_t

from faultsim._core.containers.memory cimport arena_t
from faultsim._core.slurm.rules cimport slurm_check_t, slurm_t

# Which limits hold for which jobs.
cdef class Chains:
    cdef slurm_t *s
    cdef arena_t *arena
    cdef object conf
    cdef dict rows, of_partition, known, numbers, qos_numbers, accounts
    cdef bint enforced
    cdef readonly bint count_usage       # whether some limit counts usage
    cdef int open(self, slurm_t *s, arena_t *arena, site, dict qos_numbers, dict accounts) except -1
    cdef int32_t find(self, job, str partition) except -2
    cdef int32_t tally(self, tuple key, int32_t qos, int32_t account, bint nodes) except -1
    cdef int32_t enter(self, list before, list after, list tallies) except -2
    cdef slurm_check_t *checks(self, list rows) except NULL
    cdef void *zeros(self, size_t count, size_t each) except NULL
