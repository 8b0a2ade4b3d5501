from libc.stdint cimport int32_t

from faultsim._core.slurm.rules cimport slurm_form_t, slurm_record_t, slurm_t

# The class of a job for preemption: its QOS, or its partition; -1: it takes no place, and loses none.
cdef int32_t slurm_class(const slurm_t *s, int32_t job, int32_t partition) noexcept nogil
# Whether a job of one class may take the place of a job of another.
cdef bint slurm_takes(const slurm_t *s, int32_t one, int32_t other) noexcept nogil
# Running jobs that a record may preempt, into `victim` in the order of their starts: their number.
cdef int32_t slurm_victims(slurm_t *s, const slurm_record_t *r, double now) noexcept nogil
# Nodes of `candidates` for a record: their number in `found`, or -1; running jobs that must end before are in `ended`.
cdef int32_t slurm_choose_with_victims(slurm_t *s, const slurm_record_t *r, const slurm_form_t *f,
                                       double now) noexcept nogil
