# Jobs that enter the queue late, and jobs that end without a run (model.md#eligibility, model.md#withdrawal).

from libc.stdint cimport int32_t

from faultsim._core.state cimport sim_t

# Events of kind EV_READY: the job becomes eligible, or its condition can never be met.
cdef int fire_ready(sim_t *s, int32_t job, bint *wanted) noexcept nogil
# A job that holds no nodes ends: `fate` states why.  `wanted` is set if it was in the queue.
cdef int end_without_run(sim_t *s, int32_t job, int fate, bint *wanted) noexcept nogil
# A submitted job that holds no nodes, and is not on hold, is put on hold; and one that is on hold is released.
cdef int hold_back(sim_t *s, int32_t job, bint *wanted) noexcept nogil
cdef int let_go(sim_t *s, int32_t job) noexcept nogil
# A job that runs is withdrawn: it is killed for good.
cdef int kill_withdrawn(sim_t *s, int32_t job) noexcept nogil
# The source of withdrawals (FROM_WITHDRAWALS).
cdef int fire_withdrawal(void *sim, bint *wanted) noexcept nogil
