# Many simulations that wait for a decision each: which waiting job starts next (faultsim.rl.PickJob, which is the plain
# version of this, and defines decisions, observations and rewards).
#
# Contract
# - A simulation is a copy of a template: a cluster, the queue in order of arrival, nothing random; perhaps failures,
#   with a rule that requeues or holds jobs.  The template has been opened for an episode's number of jobs, and nothing
#   has happened in it.
# - An episode is a stretch of the log: its input columns point into the log's, which the caller keeps.  It draws where
#   each simulation's next episodes begin, some at a time, and again when all of these have begun.
# - What comes out is written to arrays of the caller, a row per simulation; rows are independent, so that threads may
#   step different ones at the same time.

from libc.stdint cimport int32_t, int64_t, uint8_t

from faultsim._core.state cimport sim_t
from faultsim._core.team cimport Team

cdef enum preset:
    COMPACT = 0
    RLSCHEDULER = 1

cdef enum metric:
    MEAN_WAIT = 0
    MEAN_RESPONSE = 1
    MEAN_BOUNDED_SLOWDOWN = 2

cdef enum autoreset:
    NEXT_STEP = 0
    SAME_STEP = 1
    DISABLED = 2

cdef struct slot_t:
    sim_t s
    bint used                # `s` is a simulation
    bint over                # and its episode has ended
    char *results            # the result columns of `s`
    double *counted          # among them, per job: what `started` counts for it
    double started           # what the jobs that have started add to the sum that the metric is the mean of
    double paid              # the metric as rewards have paid it
    int64_t illegal          # actions that were not possible
    int32_t shown            # places of the queue that the observation shows
    int64_t begun            # episodes of those that are drawn
    int64_t row              # of the log, where the episode begins
    int32_t *acted           # its actions so far, from which a copy repeats it
    int64_t n_acted, cap_acted

cdef class PickJobs(Team):
    cdef object kept         # owns what is pointed at
    cdef const sim_t *template
    cdef slot_t *slot
    cdef int64_t n
    cdef int32_t slots, jobs
    cdef int32_t n_still
    cdef int preset, metric, autoreset
    cdef bint telescoping
    # The log.
    cdef int64_t n_jobs
    cdef const double *submit
    cdef const double *runtime
    cdef const double *estimate
    cdef const int32_t *size
    cdef const double *divisor   # of a job in the metric: what its wait or response is divided by
    cdef const float *still      # what the observation shows of a job and never changes: 2 or 6 columns, a row per job
    # What comes out: observations of `row` floats each, masks of slots + 1.
    cdef int64_t row
    cdef float *seen
    cdef uint8_t *mask
    cdef double *reward
    cdef double *now
    cdef double *total       # the metric of an episode that has ended
    cdef uint8_t *ended
    cdef const int64_t[:, ::1] first         # rows of the log where next episodes begin
    cdef bint[2] told        # in this step: an episode ended; one used up what was drawn
    cdef const int64_t *actions
    cdef int64_t *illegal    # actions of the episode that were not possible

    cdef int one(self, int64_t at, int64_t action) noexcept nogil
    cdef int enter(self, int64_t at) noexcept nogil
    cdef int begin_at(self, int64_t at, int64_t first) noexcept nogil
    cdef int go_on(self, int64_t at, int64_t action) noexcept nogil
    cdef int settle(self, slot_t *e) noexcept nogil
    cdef bint any_fits(self, const sim_t *s) noexcept nogil
    cdef int act(self, int64_t at, int64_t action) noexcept nogil
    cdef bint possible(self, sim_t *s, int64_t action) noexcept nogil
    cdef int32_t first_that_fits(self, const sim_t *s) noexcept nogil
    cdef double cost(self, const sim_t *s, int32_t job) noexcept nogil
    cdef double of_response(self, const sim_t *s, int32_t job, double response) noexcept nogil
    cdef double sum_of_all(self, const sim_t *s) noexcept nogil
    cdef void pay(self, int64_t at) noexcept nogil
    cdef void show(self, int64_t at) noexcept nogil
    cdef void show_compact(self, slot_t *e, float *to, int32_t n) noexcept nogil
    cdef void show_rlscheduler(self, slot_t *e, float *to, int32_t n) noexcept nogil
