# The state of one simulation: clock, jobs, queue, machine, releases, ledger, record, and the policies that decide.
#
# Contract
# - Jobs are numbered 0..n-1 in order of (submit, workload index); a job's number is its queue key.
# - Columns of inputs and results belong to the caller: the first are read only, the second are its NumPy arrays.
# - Times are seconds, float64.  `now` never runs backwards.
# - free + busy + down == capacity after every instant; `demand` is the sum of requested sizes of queued jobs.
# - A job holds `allocated` nodes from `decision` to `finish`; it runs from `start` = decision + start delay.
# - Data that only one policy uses is its own state, behind the functions of its table (scheduler.pxd, order.pxd,
#   placement.pxd, migration.pxd, recovery.pxd, checkpointing.pxd, rescheduling.pxd); machine.pxd is the machine's.

from libc.math cimport INFINITY
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t

from faultsim._core.containers.event_queue cimport heap_t
from faultsim._core.containers.memory cimport blocks_t, part_t
from faultsim._core.containers.releases cimport releases_t
from faultsim._core.tables.checkpointing cimport checkpointing_t
from faultsim._core.tables.eligibility cimport eligibility_t
from faultsim._core.tables.recovery cimport recovery_t
from faultsim._core.tables.rescheduling cimport rescheduling_t
from faultsim._core.tables.machine cimport RANK_AT, machine_t, nodes_of, place_t, range_t
from faultsim._core.tables.migration cimport migration_t
from faultsim._core.tables.order cimport order_t
from faultsim._core.tables.placement cimport placement_t
from faultsim._core.tables.scheduler cimport scheduler_t
from faultsim._core.thresholds cimport thresholds_t

# Kinds of events at one instant, in the order of their handling (model.md#events); starts, moves, withdrawals and
# changes are records only.
# faultsim/data/event_kinds.py has their names.
cdef enum event_kind:
    EV_FINISH = 0
    EV_REPAIR = 1
    EV_FAILURE = 2
    EV_CHECKPOINT = 3
    EV_RESCHEDULE = 4
    EV_ARRIVAL = 5
    EV_START = 6
    EV_MOVE = 7
    EV_WITHDRAWAL = 8        # a record only, of jobs that end without a run
    EV_CHANGE = 9            # a record only, of jobs that ask for something else (model.md#changed)
    EV_WAKE = 10             # a pass that a caller or policy has requested
    EV_READY = 11            # a job that was submitted earlier becomes eligible
    EV_LAST = 12             # withdrawals, in the order of an instant
    # What only `Decision.changes` shows; of a job, where the record has a node, is the cause of a kill.
    EV_KILLED = 13
    EV_REQUEUED = 14
    EV_HELD = 15
    EV_CONTINUED = 16
    EV_ON_HOLD = 17
    EV_RELEASED = 18
    EV_DRAINED = 19
    EV_RESUMED = 20
    # Failures recorded between the first two are of a part of the node, as is the repair after the third; in place of
    # a job they have the part that goes down or comes up: packed_part() of tables/machine.pxd.
    EV_PART_DOWN = 21
    EV_PART_FAILED = 22
    EV_PART_UP = 23

# What killed a job; changes.pyx has the words.
cdef enum kill_cause:
    BY_FAILURE = 0
    BY_PREEMPTION = 1
    BY_RESCHEDULING = 2
    BY_ACT = 3
    BY_WITHDRAWAL = 4
    BY_RESERVATION = 5

# State of a job.  HELD: it keeps its nodes until they are repaired.
cdef enum job_state:
    JOB_FUTURE = 0
    JOB_QUEUED = 1
    JOB_RUNNING = 2
    JOB_HELD = 3
    JOB_DONE = 4

# What changed since the last scheduling pass.
cdef enum change:
    CHANGED_NOTHING = 0
    CHANGED_TAIL = 1         # only arrivals, all at the end of the queue
    CHANGED_ALL = 2

# The capacity ledger (model.md#ledger): every node-second is in one of these; faultsim/results/ledger.py names them.
cdef enum account:
    ACC_USEFUL = 0
    ACC_CUT_AT_LIMIT = 1
    ACC_LOST = 2
    ACC_CHECKPOINT = 3
    ACC_RESTART = 4
    ACC_MIGRATION = 5
    ACC_SLOWED = 6
    ACC_START_DELAY = 7
    ACC_GROWTH = 8
    ACC_HELD_FOR_REPAIR = 9
    ACC_DOWN = 10
    ACC_RESERVED = 11
    ACC_IDLE_NO_DEMAND = 12
    ACC_IDLE_DEMAND = 13
    N_ACCOUNTS = 14

# Waiting jobs in queue order: job[head..end).
cdef struct queue_t:
    int32_t *job
    const double *key        # per job number, smallest first; NULL: order of arrival
    const double *column     # further columns of the log that a key names, by row, one after another; NULL: none
    int64_t length           # of each
    int64_t *entry           # place of entry, where it is not that of the job number; else NULL
    int64_t next_entry
    bint keeps_entry         # a killed job has its old place of entry; else it goes to the tail
    int32_t head
    int32_t end
    double unsorted          # time of the last pass, if that left the queue as it was; -inf: it is in order
    # What a scan reads first of the job at a place, kept in the same places; NULL unless a scheduler requested it.
    int32_t *need            # nodes requested
    float *least             # a lower bound of the expected duration, rounded down
    # The same for a scheduler that looks for the first by slope (order.pxd), else NULL.
    float *slope             # rounded up
    float *since             # submit times, rounded down

# One row of record=True: an event, or a stay of a job on nodes.
cdef struct record_event_t:
    double time
    int32_t job
    int32_t node             # of a failure or a repair; -1 otherwise
    int8_t kind

cdef struct record_stay_t:
    double begin, end
    int32_t job
    place_t place            # where places are boxes
    int64_t first            # there: the stay of the first box of the place; elsewhere: the stay's first range
    int64_t nodes            # of all stays before it

cdef struct record_t:
    bint on
    record_event_t *event
    int64_t n_events, cap_events
    record_stay_t *stay
    int64_t n_stays, cap_stays
    range_t *range           # the nodes of all stays, one after another
    int64_t n_ranges, cap_ranges
    int64_t n_nodes          # in them
    int64_t *open_stay       # per job: index of its stay that has not ended
    # The first rows, which never change again, are also kept by Python for all copies (`shared_...`).  A copy has no
    # rows before `from_...` in the blocks above; indices count from the first row of the original.
    int64_t shared_events, shared_stays, shared_ranges
    int64_t from_event, from_stay, from_range

# Kinds of the lead phase of a job: the stretch before its work, which ends in a safe point (model.md#lead-phase).
cdef enum lead:
    LEAD_RESTART = 0
    LEAD_CHECKPOINT = 1
    LEAD_MIGRATION = 2
    N_LEADS = 3

# Clocks of jobs that are slow at times (model.md#slowness), each a polygon of time: k has the corners first[k] to
# first[k + 1] - 1.  `of` is NULL if no job is ever slow.
cdef struct clocks_t:
    const int32_t *of        # per job: its clock; -1: it is never slow
    const int64_t *first
    const double *time       # corners ascend
    const double *shown      # what the clock shows there
    const double *speed      # from there on; above 0

# Where a job is on its way (progress.pxd).  Progress is in seconds of its run time, and times are those of its own
# clock.
cdef struct progress_t:
    int64_t next             # in the list of spare ones
    double interval          # work between planned checkpoints; inf: none are planned
    # since the last safe point was requested: lead phase [begin, t0), then work and planned checkpoints
    double begin
    double t0
    double safe              # safe progress until t0
    double base              # safe progress from t0 on
    double unsaved           # seconds of work that are lost by a failure before t0 (and before safe_at)
    double safe_at           # a safe point inside the lead phase; inf: none
    double since             # by the clock: when the job was last safe, or started (model.md#gains) ...
    double points            # ... with so many of the stretch's planned checkpoints; -1: without its lead phase, too
    double planned           # checkpoints planned from t0 on
    double pause_until       # a migration's pause, inside of which its clock stands still
    double ends              # its finish
    int8_t kind              # of the lead phase
    bint eventful            # not all of this stay is start delay and work
    # seconds of this stay on nodes, by account
    double lost
    double held
    double slowed            # by which time was longer than its own clock
    double spent[3]          # by lead: restart, checkpoint, migration

# The progress of all jobs, where failures or checkpoints make it matter; else a job ends `run` seconds after its start.
cdef struct tracking_t:
    bint on
    double cost              # of a planned checkpoint
    const double *interval   # per job: work between planned ones; NULL: none are planned
    double restart_cost      # after a kill
    progress_t *pool         # of the jobs on nodes, and spare ones
    int64_t n_pool, cap_pool
    int64_t *at              # of a job on nodes: where in the pool, in bytes
    int64_t spare            # the first spare one; -1: none
    double *saved            # safe progress of a job that was killed
    double *killed_at        # when it was killed last
    uint8_t *started         # a start has really come: its delay was not broken off
    double *remaining        # expected time from the begin of work to the end
    double *owed             # restart cost at the next start; inf: it was killed for good
    bint killed_for_good     # some job was, so that states do not follow from run times
    double *pending          # node-seconds of work before a kill, booked when the job ends; NULL: no limits
    clocks_t clocks

# The failure trace, by time, and what is down.  `down` and what follows are NULL unless tracking is on.
cdef struct trace_t:
    int64_t n, next
    const double *time
    const int32_t *node
    const double *downtime
    const int64_t *part      # cores, MiB and GPUs of each failure, 0: the whole node; NULL: whole nodes alone fail
    const double *unit       # in [0, 1), which units of the node they are; NULL as `part`
    bint endless             # some down time does not end
    bint repairs_known       # schedulers may use up_at
    uint8_t *down
    double *up_at            # while down: when it is repaired
    int32_t n_down           # down and in no held job, in what sim_t.capacity counts
    int32_t *count           # failures of a node so far; this and the next: NULL unless a policy uses it
    int32_t *rank            # nodes by (count, number)
    int64_t n_handled, n_hit

# Predictions that nodes fail, by begin; those before `next` have passed.
cdef struct predictions_t:
    int64_t n, next
    bint nested              # the ends do not ascend
    const double *begin
    const double *end
    const int32_t *node
    double p                 # probability of each
    double window_from, window_to    # of the placement that is requested
    uint64_t *failing        # scratch: the nodes that are predicted to fail in the window

# Requests for checkpoints, by time.
cdef struct requests_t:
    int64_t n, next
    const double *time
    const int32_t *node      # -1: to all jobs
    int64_t n_checkpoints    # begun

# Events that do not come from the heap: one row per source, in the order in which they are handled at an instant.
# A heap event of a smaller kind comes before.
cdef enum source_rank:
    FROM_EDGES = 0           # begins and ends of absences
    FROM_EARLY_REQUESTS = 1
    FROM_TRACE = 2
    FROM_HOLDS = 3           # what is settled after the last failure of an instant
    FROM_REQUESTS = 4
    FROM_TICKS = 5
    FROM_ARRIVALS = 6
    FROM_WITHDRAWALS = 7
    N_SOURCES = 8

cdef struct source_t:
    double time              # of its next event; inf: none
    int rank, kind
    # Handles its next event, at s.now, and sets `time`; `wanted`: a pass is due.
    int (*fire)(void *sim, bint *wanted) noexcept nogil

# Questions to a caller or a policy in Python (model.md#decisions): the kinds of decisions, except "time".
cdef enum question:
    ASK_SCHEDULE = 0         # in a pass; posed by the scheduler
    ASK_FAILURE = 1          # of a job that is about to be killed
    ASK_CHECKPOINT = 2       # of a job that could save
    ASK_TICK = 3
    N_QUESTIONS = 4

ctypedef int (*resume_t)(void *sim, bint *wanted) noexcept nogil

# The question that waits for its answer, or the last one.
cdef struct asked_t:
    bint on[4]               # by question: it is posed in this run
    void *policy[4]          # borrowed PyObject* of the policy that answers; NULL: the caller answers
    int question
    int32_t job              # the job in question; -1: none
    int32_t node             # that fails
    double until             # when it will be up again
    double number            # of requests of the job's own, in this stretch of work
    bint granted             # the policy's answer at a request
    bint acted               # there was an act
    # Goes on after the answer of the caller; NULL: a pass waits for it.
    resume_t resume

# Counts of steps, for tests of how work grows with its input: kept in every build, and read by nothing else.
cdef struct work_t:
    int64_t looked           # positions of the queue that passes have read
    int64_t words            # words of 64 nodes of a cluster that were searched for free nodes
    int64_t asked            # jobs examined for the owner of a node of a cluster
    int64_t steps            # of conservative plans, read by searches for holes
    int64_t probes           # [placed] free places requested in searches of shadow times
    int64_t near             # [placed] releases around which such searches have searched for a place
    int64_t tried            # [placed] places requested in order to backfill
    int64_t foreseen         # predictions and nodes of a cluster, read by searches for safe nodes
    int64_t ranked           # nodes and words of a cluster, read by searches for nodes that failed least

cdef struct sim_t:
    blocks_t blocks          # what it owns, but for the parts, and what grows
    thresholds_t limit       # set before anything else is opened
    # inputs
    int32_t n
    int32_t known            # jobs that there are: all, unless the caller submits them as they come
    bint live                # the caller owns time: the end of all jobs is not that of the run
    const int32_t *row       # per job: its row in the user's log; NULL: the job number
    const int32_t *job_of    # per row of the user's log: its job, -1: it does not fit; NULL: the row
    int64_t n_rows           # of the user's log; with `live` only the first `known` are jobs yet
    const double *submit
    const double *runtime
    const double *estimate
    const int32_t *size
    bint kill                # overrun="kill"
    double start_delay
    double latest            # the last second of the clock (model.md#time)
    # per-job state and results
    int8_t *state
    int32_t *need            # nodes asked of the machine: the size, rounded up to one that it has
    const int32_t *rank      # per job: its shape's rank among those of its size, from 1 on; 0: none; NULL: all 0
    double *run              # run time as executed
    double *decision
    double *first_start
    double *start
    double *finish           # when it will end (true run time)
    double *expected         # raw expected end
    const double *remaining  # expected time from the begin of work to the end: the estimate, unless tracked
    int32_t *allocated
    int32_t *restarts
    int32_t *moves
    uint8_t *backfilled
    double *lost_work        # node-seconds
    double *checkpoint_time
    double *restart_time
    double *failure_wait
    double *slowed_time
    double *paused_until     # end of a job's last pause by a migration; NULL: it costs nothing, or progress is tracked
    double *promise          # earliest start promised in this epoch; inf: none
    int32_t *promise_epoch
    int32_t epoch            # of promises: raised by whatever excuses a missed one
    int64_t missed           # promises missed without an excuse (must stay 0)
    tracking_t track
    # machine
    machine_t machine
    int32_t nodes
    int32_t capacity         # what sizes, `free`, `demand` and the ledger count: nodes, or cores where nodes are shared
    int32_t free
    int32_t kept_back        # free nodes that passes leave alone
    int32_t running          # jobs that run (held ones do not)
    trace_t trace
    predictions_t predictions
    requests_t requests
    const uint64_t *avoid    # nodes that starting jobs take only where no others will do; NULL: none
    uint64_t *hidden         # scratch of these
    # time and events
    double now
    double clock             # up to where the ledger is integrated
    double until             # up to where it is to run; inf: to the end
    int32_t next_arrival
    # [live] Jobs before this have ended, and Python keeps their columns for all copies.
    int32_t shared_jobs
    int32_t from_job         # a copy has no items of jobs before this in columns and `live` blocks
    int32_t n_done
    heap_t heap
    releases_t releases      # running and held jobs, and (job < 0: node -1 - job) known repairs
    source_t source[8]
    int n_sources
    int source_at[8]         # by rank: where its row is; -1: there is none
    int64_t n_events, n_passes
    int64_t n_ticks          # requests of jobs and wakes, too: no events if nothing comes of them, but they take time
    int64_t progress         # arrivals, ends and failures when `fruitless` was 0
    int64_t fruitless        # decisions since then that count by model.md#endless
    int64_t most_fruitless   # more are refused
    work_t work
    bint deciding            # a pass, or another question, waits for an answer from outside the core
    asked_t asked
    bint wanted              # a pass is due at this instant
    bint closed              # reads and acts are refused: a policy in Python decides, or the queue is being sorted
    bint disturbed           # something unforeseen happened before it, since the pass before that one
    bint unforeseen          # something has happened since the last pass
    int64_t n_decisions      # number of decisions handed out; a Decision with another number is over
    int64_t n_attempted, n_successful        # moves of running jobs
    # queue and policies
    queue_t queue
    int64_t demand
    int change
    scheduler_t scheduler
    order_t order
    placement_t placement
    migration_t migration
    recovery_t recovery
    checkpointing_t checkpointing
    rescheduling_t rescheduling
    part_t absences          # absences.pxd
    eligibility_t eligibility
    const int32_t *given     # nodes that the caller has chosen for the job that starts; NULL: the rule chooses
    void *owner              # borrowed PyObject* of the Engine, for policies in Python
    double ledger[14]
    record_t record

# Allocate and free what the simulation owns; the machine and the policies are opened by their factories.
cdef int sim_alloc(sim_t *s) noexcept nogil
cdef void sim_free(sim_t *s) noexcept nogil
# Fork: `to` becomes independent, but for the result columns, the caller's arrays.  Jobs before `first` have ended, and
# `live` blocks are not copied for them.
cdef int sim_copy(sim_t *to, const sim_t *source, int32_t first=*) noexcept nogil
# Reset the items of a job that is being submitted, in columns and `live` blocks, which are undefined there in a copy.
cdef void clear_job(sim_t *s, int32_t job) noexcept nogil
# Room for `n` jobs, of which the last so far was never submitted.  The columns are the caller's.  OK or NO_MEMORY.
cdef int sim_grow(sim_t *s, int32_t n) noexcept nogil
# Add a source of events, before the simulation begins.
cdef void add_source(sim_t *s, int rank, int kind, double time,
                     int (*fire)(void *, bint *) noexcept nogil) noexcept nogil


cdef inline progress_t *progress_of(const sim_t *s, int32_t job) noexcept nogil:
    """Good until another job starts."""
    return <progress_t *>(<char *>s.track.pool + s.track.at[job])


cdef inline int32_t log_row(const sim_t *s, int32_t job) noexcept nogil:
    """The row of a job in the user's log."""
    return job if s.row == NULL else s.row[job]


cdef inline double executed(const sim_t *s, int32_t job) noexcept nogil:
    """The run time of a job as executed: overrun="kill" ends it at its estimate."""
    return s.estimate[job] if s.kill and s.estimate[job] < s.runtime[job] else s.runtime[job]


cdef inline bint timed_out(const sim_t *s, int32_t job) noexcept nogil:
    """Whether a job that has ended was ended at its estimate."""
    return s.kill and s.run[job] == s.estimate[job] and s.runtime[job] > s.estimate[job]


cdef inline bint was_killed(const sim_t *s, int32_t job) noexcept nogil:
    """Whether an act has killed it for good."""
    return s.track.on and s.state[job] == JOB_DONE and s.restarts[job] > 0 and s.track.owed[job] == INFINITY


cdef inline void book_work(sim_t *s, int32_t job, double amount) noexcept nogil:
    """Node-seconds of a stay that are in no other account: useful, or those of a job that is cut at its limit
    (model.md#ledger).

    Work before a kill is pending until the job ends if its account is not certain yet: an act may still end a job
    before its limit, and a caller that owns time may change any run time.
    """
    if not s.kill:
        s.ledger[<int>ACC_USEFUL] += amount
    elif s.state[job] != JOB_DONE:
        if s.live or timed_out(s, job):
            s.track.pending[job] += amount
        else:
            s.ledger[<int>ACC_USEFUL] += amount
    else:
        if s.track.on:
            amount += s.track.pending[job]
            s.track.pending[job] = 0.0
        s.ledger[<int>ACC_CUT_AT_LIMIT if timed_out(s, job) and not was_killed(s, job) else <int>ACC_USEFUL] += amount


cdef inline void source_next(sim_t *s, int rank, double time) noexcept nogil:
    """When the source of this rank has its next event."""
    s.source[s.source_at[rank]].time = time


# The end that a job would have if it were started at t, in exactly the arithmetic of start_job (model.md#expected-end).
cdef inline double end_if_started_at(const sim_t *s, int32_t job, double t) noexcept nogil:
    t = t + s.start_delay
    if s.track.on and s.restarts[job] > 0:
        t = t + s.track.owed[job]
    return t + s.remaining[job]


cdef inline double end_if_started(const sim_t *s, int32_t job) noexcept nogil:
    return end_if_started_at(s, job, s.now)


# The ask of a job on a placed machine (machine.pxd): its need, with the shape if it has one.
cdef inline int32_t ask_of(const sim_t *s, int32_t job) noexcept nogil:
    return s.need[job] if s.rank == NULL else s.need[job] | s.rank[job] << RANK_AT


cdef inline int32_t nodes_asked(const sim_t *s, int32_t ask) noexcept nogil:
    return ask if s.rank == NULL else nodes_of(ask)


cdef inline bint asks_shape(const sim_t *s, int32_t job) noexcept nogil:
    return s.rank != NULL and s.rank[job] > 0


# The next larger size that a job may have; 0: none.  A shape has no other (model.md#shapes).
cdef inline int32_t grown(const sim_t *s, int32_t job, int32_t size) noexcept nogil:
    if asks_shape(s, job):
        return 0
    return s.machine.next_size(s.machine.state, size + 1)


# Free nodes that a pass may use.
cdef inline int32_t usable(const sim_t *s) noexcept nogil:
    return s.free - s.kept_back


# The placement that is requested next is of a job that would start at t: when it must not fail (model.md#window).
cdef inline void set_window(sim_t *s, int32_t job, double t) noexcept nogil:
    s.predictions.window_from = t
    s.predictions.window_to = (t + s.start_delay) + s.estimate[job]


# The earliest start that a scheduler has promised to a job in this epoch; verify() checks that it is kept.
cdef inline void promise_start(sim_t *s, int32_t job, double t) noexcept nogil:
    if s.promise_epoch[job] != s.epoch:
        s.promise_epoch[job] = s.epoch
        s.promise[job] = t
    elif t < s.promise[job]:
        s.promise[job] = t


# Something unforeseen: promises are excused, plans are void (model.md#disturbances).
cdef inline bint is_endless(sim_t *s) noexcept nogil:
    """Whether another decision without progress is one too many."""
    cdef int64_t progress = s.n_done + s.next_arrival + s.trace.n_handled
    if s.progress != progress:
        s.progress, s.fruitless = progress, 0
    s.fruitless += 1
    return s.fruitless > s.most_fruitless


cdef inline void disturb(sim_t *s) noexcept nogil:
    s.change = CHANGED_ALL
    s.epoch += 1
    s.unforeseen = True
    if s.scheduler.disturbed != NULL:
        s.scheduler.disturbed(s.scheduler.state)
