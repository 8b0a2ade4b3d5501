# When jobs become eligible (model.md#eligibility): conditions on other jobs, earliest starts, and limits of arrays.
#
# Contract
# - Nothing here is called unless sim_t.eligibility.on.
# - sim_t.submit is the column `eligible` below: the submit time of the log until a job becomes eligible, and that time
#   from then on, so that waits, keys and records count from it; NaN for a job that ends without becoming eligible.
# - A job that is not eligible is JOB_FUTURE.  It is in no queue, and at most one event (EV_READY) of it is in the heap.
# - sim_t.queue.entry has the order in which jobs became eligible.

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t

from faultsim._core.state cimport sim_t

# Kinds of conditions on another job; faultsim/data/conditions.py has their names.
cdef enum condition_kind:
    AFTER_BEGIN = 0
    AFTER_OK = 1
    AFTER_ANY = 2
    AFTER_NOT_OK = 3

# Why a job ended without a run.
cdef enum fate:
    NO_FATE = 0
    WITHDRAWN = 1
    UNMET = 2

# Whether a job is on hold (model.md#on-hold).
cdef enum on_hold:
    NOT_ON_HOLD = 0
    ON_HOLD = 1
    READY_ON_HOLD = 2        # it would be in the queue, and no event of it is in the heap

cdef struct eligible_t:
    double *eligible         # sim_t.submit; the first field, which state.pyx reads
    int64_t *entry           # sim_t.queue.entry; the second field
    const double *submitted  # submit times of the log
    # conditions on job j: rows first[j] to first[j + 1], each with the job that waits
    const int64_t *first
    const int32_t *waiter
    const int8_t *kind
    const double *delay      # seconds
    bint of_begins           # some are on the begin of a job
    # groups of jobs of one user and name, for jobs with `singleton`: members by number
    int32_t n_groups
    const int32_t *group     # per job; -1: none
    const uint8_t *single    # per job: whether it waits for all earlier members
    const int64_t *group_first
    const int32_t *member
    int64_t *ended           # per group: the number of its first members that have ended, one after another
    # arrays
    const int32_t *array     # per job; -1: none with a limit
    const int32_t *most      # per array: tasks that are in the queue or hold nodes at a time
    int32_t *active          # of these
    uint8_t *has_slot        # per job: counted in `active`
    int32_t *first_task      # per array: list of tasks that wait for a slot; -1: none
    int32_t *last_task
    int32_t *next_task       # per job
    # withdrawals, by (time, job)
    const double *cancel     # per job; inf: none
    const int32_t *withdrawal
    int32_t n_withdrawals, next_withdrawal
    # per job
    int32_t *missing         # conditions that are not met yet
    double *ready            # the latest of its earliest start and the times of conditions that are met
    uint8_t *fate
    uint8_t *begun           # has held nodes, if `of_begins`
    int32_t n_fates          # jobs with one
    uint8_t *on_hold
    int32_t n_on_hold        # jobs that are


cdef inline eligible_t *eligible_of(const sim_t *s) noexcept nogil:
    return <eligible_t *>s.eligibility.state


# Before the policies are opened; `rows` is the EligibilityRows of the run, and `columns` keeps its arrays.
cdef int open_conditions(sim_t *s, dict columns, object rows) except -1
# The columns of all jobs of `rows`, once there is room for more of them.
cdef int point_to_conditions(sim_t *s, dict columns, object rows) except -1
# A job is submitted: 1 if it is eligible at once, 0 if not, or a status < 0.
cdef int is_eligible(sim_t *s, int32_t job) noexcept nogil
# Whether a task may take a slot of its array now; if not, it is put into the list of the array.
cdef bint takes_slot(eligible_t *e, int32_t job) noexcept nogil
# A job takes nodes, and a job has ended (`ok`: in time); both may make others eligible.  OK or a status < 0.
cdef int note_begin(sim_t *s, int32_t job) noexcept nogil
cdef int note_end(sim_t *s, int32_t job, bint ok) noexcept nogil
# The source of withdrawals has the next job that has not ended.
cdef void next_withdrawal(sim_t *s) noexcept nogil
