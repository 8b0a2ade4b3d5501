# A job on its way: restart, work, checkpoints, pauses (model.md#running-job).  Only with sim_t.track.on.
#
# Contract.  From `start` a job is in a lead phase [begin, t0) (restart cost, checkpoint or migration; perhaps of length
# 0), then works from t0 on, with `planned` checkpoints after every `interval` of work:
#   checkpoint k is [t0 + ((k-1)*(W+C) + W), t0 + k*(W+C)); the job ends at t0 + (left + planned*C).
# `base` is the progress at t0 and is safe from then on; before, `safe` is.  A phase that ends at t is over at t.
# A pause (Defragment) shifts begin, t0, finish and expected end, and freezes the job's clock until pause_until.
# All of these are times of the job's own clock (model.md#slowness), as are all arguments called `until`; `t` is time.
# Time on nodes is booked by the clock, so that the ledger balances whatever doubles do to progress.
# Functions of type int: OK, or NO_MEMORY.

from libc.stdint cimport int32_t

from faultsim._core.state cimport sim_t

# What was in progress at a time, as if the job stopped there.
cdef struct at_t:
    double progress          # work done, safe or not; of a lead phase, what it leads to
    double safe              # progress that a restart begins with
    double unsaved           # seconds of work since the safe point
    bint works               # neither in a lead phase, nor in a planned checkpoint, nor paused

# How rescheduling moves a job: live, or by a checkpoint and a restart.
cdef struct move_t:
    bint live
    double checkpoint_cost, restart_cost

# After the policies: their costs and intervals are in sim_t.track.
cdef int progress_open(sim_t *s) noexcept nogil
# Estimates of `count` jobs from `first` on have come.
cdef void progress_know(sim_t *s, int32_t first, int32_t count) noexcept nogil

cdef void progress_locate(const sim_t *s, int32_t job, double t, at_t *out) noexcept nogil
# A queued job starts: sets finish and expected end from decision and start.
cdef int progress_start(sim_t *s, int32_t job) noexcept nogil
# A new lead phase [now, until), after which work goes on from `base`; pushes the new FINISH, moves the release.
cdef int progress_lead(sim_t *s, int32_t job, int kind, double until, double safe, double base,
                       double unsaved) noexcept nogil
# The same for a job that stood still (held), where nothing is broken off.
cdef int progress_resume(sim_t *s, int32_t job, int kind, double until, double safe, double base,
                         double unsaved) noexcept nogil
# A job on nodes has another run time, known or not (inf): TOO_LATE, and as before, if it would have ended before now.
cdef enum:
    TOO_LATE = 1
cdef int progress_extend(sim_t *s, int32_t job, double run) noexcept nogil
# It ends now, with what it has done as run time.
cdef int progress_end(sim_t *s, int32_t job) noexcept nogil
cdef int progress_pause(sim_t *s, int32_t job, double cost) noexcept nogil
# A move of rescheduling interrupts what is in progress: the new expected end that it would have; and do it.
cdef double progress_moved_end(const sim_t *s, int32_t job, const move_t *move) noexcept nogil
cdef int progress_move(sim_t *s, int32_t job, const move_t *move) noexcept nogil
# When, by the clock, the job was last safe since its start, or that start (model.md#gains).
cdef double last_safe_time(const sim_t *s, int32_t job) noexcept nogil
# The work since the safe point is lost; `owed` and `remaining` are those of the next start.
cdef void progress_kill(sim_t *s, int32_t job) noexcept nogil
# It has stood still since its kill; returns for how long.
cdef double progress_held(sim_t *s, int32_t job) noexcept nogil
# The stay on its nodes is over (finish, or killed and requeued): into the ledger.
cdef void progress_book(sim_t *s, int32_t job, bint finished) noexcept nogil
# The same for a job that is on its nodes now and loses nothing: called on a copy, for results between two events.
cdef void progress_book_so_far(sim_t *s, int32_t job) noexcept nogil
# Sets another expected end; inf: unknown.
cdef int set_expected(sim_t *s, int32_t job, double end) noexcept nogil
