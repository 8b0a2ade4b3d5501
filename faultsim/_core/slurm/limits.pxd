from libc.stdint cimport int32_t, uint64_t

from faultsim._core.slurm.rules cimport slurm_form_t, slurm_run_t, slurm_t

# Whether a job may start by a chain of limits; in REFUSED_GROUP one of all jobs of a QOS together refuses it.
cdef enum slurm_verdict_t:
    SLURM_ALLOWED = 0
    SLURM_REFUSED = 1
    SLURM_REFUSED_GROUP = 2

# Enter a job that starts (sign 1), or ends (-1), in what limits count.
cdef void slurm_count(slurm_t *s, const slurm_run_t *run, int32_t sign) noexcept nogil
# Amounts of a form on the n nodes that were found.  A plan counts all GPUs of its request: others may hold them now.
cdef void slurm_amounts(const slurm_t *s, const slurm_form_t *f, int32_t n, bint plan, double *amounts) noexcept nogil
# The limits of a chain (-1: none) that need no nodes, for a job of so many minutes.
cdef slurm_verdict_t slurm_before(const slurm_t *s, int32_t chain, double minutes) noexcept nogil
# Whether those on amounts refuse a job that has at least these, on whatever nodes.
cdef bint slurm_refuses(slurm_t *s, int32_t chain, double minutes, const double *least) noexcept nogil
# Those on amounts, for a job that would have these on these n nodes.
cdef slurm_verdict_t slurm_after(slurm_t *s, int32_t chain, double minutes, const double *amounts,
                                 const uint64_t *nodes, int32_t n) noexcept nogil
