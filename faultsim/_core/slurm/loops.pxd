from libc.stdint cimport int32_t

from faultsim._core.slurm.rules cimport slurm_job_t, slurm_run_t, slurm_t

# A pass of the main loop, and a cycle of the backfill loop: jobs start, into `started` and `running`, and
# end for others or are warned, into `preempted`: those without grace time have left `running`.  OK or NO_MEMORY.
cdef int slurm_pass(slurm_t *s, double now, bint full) noexcept nogil
cdef int slurm_cycle(slurm_t *s, double now) noexcept nogil
# A run that has ended leaves `running` and `by_end`, and gives its nodes back; its memory is the caller's.
cdef void slurm_leave(slurm_t *s, slurm_run_t *run) noexcept nogil
# Give a run another end than that of its limit.
cdef void slurm_end_at(slurm_t *s, slurm_run_t *run, double end) noexcept nogil
# Whether a job's reservation, if it has one, is active.
cdef bint slurm_reservation_open(const slurm_t *s, const slurm_job_t *job, double now) noexcept nogil
# Reservations as they are at a time.
cdef void slurm_book(slurm_t *s, double now) noexcept nogil
# The first begin or end of a reservation after a time, after `slurm_book`; infinite if there is none.
cdef double slurm_next_edge(const slurm_t *s, double now) noexcept nogil
