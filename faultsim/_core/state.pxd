# The state of one simulation: everything that the event loop and the policies read and write.
#
# Contract
# - Jobs are numbered 0..n-1 in order of (submit, workload index); a job's number is its queue key.
# - Columns at the top belong to the caller (read only).  Per-job results are the caller's NumPy arrays.
# - Times are seconds, float64.  `now` never runs backwards.
# - free + busy + down == nodes after every instant; `demand` is the sum of requested sizes of queued jobs.
# - A job holds `allocated` nodes from `decision` to `finish`; it runs from `start` = decision + start delay.
# - With failures or checkpoints (`faults.on`) `life` says where a job is on its way (life.pxd); else it is NULL, and a
#   job ends `run` seconds after its start.
# - Policies are function pointers in `sim_t.policy`, set once before the loop.  Nothing below reads a name.

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memmove

from faultsim._core.torus.choose cimport permit_t
from faultsim._core.containers.event_queue cimport heap_t
from faultsim._core.torus.finder_bitmap cimport finder_t
from faultsim._core.fars.knapsack cimport knapsack_t
from faultsim._core.containers.releases cimport releases_t
from faultsim._core.torus.occupancy cimport box_t, torus_t

# Kinds of events at one instant, in the order in which they are handled (MODEL 2); the last two are records only.
cdef enum event_kind:
    EV_FINISH = 0
    EV_REPAIR = 1
    EV_FAILURE = 2
    EV_CHECKPOINT = 3
    EV_RESCHEDULE = 4
    EV_ARRIVAL = 5
    EV_START = 6
    EV_MOVE = 7

# Status codes; engine.pyx turns them into exceptions, and an unknown one into EngineError.
cdef enum status:
    OK = 0
    DONE = 1
    NO_MEMORY = -1
    PYTHON_ERROR = -2        # a user's policy raised; the exception waits in the engine
    STUCK = -3               # jobs are queued, nothing runs and nothing will happen
    BROKEN = -4              # an invariant does not hold

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

# The capacity ledger (MODEL 14): every node-second is in one of these.
cdef enum account:
    ACC_USEFUL = 0
    ACC_LOST = 1
    ACC_CHECKPOINT = 2
    ACC_RESTART = 3
    ACC_MIGRATION = 4
    ACC_START_DELAY = 5
    ACC_GROWTH = 6
    ACC_HELD = 7
    ACC_DOWN = 8
    ACC_IDLE = 9             # idle without demand
    ACC_IDLE_DEMAND = 10     # idle despite demand
    N_ACCOUNTS = 11

# Waiting jobs in queue order: job[head..end).  `key` is NULL for the arrival order.  `look` has, in the same places,
# what the scans of EASY on a cluster ask first; else it is NULL.
cdef struct look_t:
    int32_t *need            # nodes asked for
    float *least             # a lower bound of the expected duration, rounded down

cdef struct wait_t:
    int32_t *job
    look_t look
    double *key              # per job number, for static orders
    int32_t head
    int32_t end

# Nodes of a cluster, as the non-zero words of a bitmap, ascending (nodes.pxd).
cdef struct nodes_t:
    int32_t n, capacity
    int32_t *word
    uint64_t *bits
    nodes_t *next            # in the list of spare ones

# One row of record=True: an event, or a stay of a job on nodes.
cdef struct record_event_t:
    double time
    int32_t job
    int32_t node             # of a failure or a repair; -1 otherwise
    int8_t kind

cdef struct record_stay_t:
    double begin, end
    int32_t job
    box_t box                # torus
    int64_t first            # cluster: its nodes are at nodes[first .. first + allocated)

cdef struct record_t:
    bint on
    record_event_t *event
    int64_t n_events, cap_events
    record_stay_t *stay
    int64_t n_stays, cap_stays
    int32_t *node            # cluster: node numbers of all stays, one after another
    int64_t n_nodes, cap_nodes
    int64_t *open_stay       # per job: index of its stay that has not ended

ctypedef int (*pass_fn)(sim_t *s) noexcept nogil
# Picks a box for `job` among the free boxes of exactly `size` in `occ` that `permit` permits: 1 found, 0 none, or a
# status < 0.
ctypedef int (*place_fn)(
    sim_t *s, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit, box_t *out) noexcept nogil
# Brings the queue into the order of this instant (dynamic orders only; NULL otherwise).
ctypedef int (*order_fn)(sim_t *s) noexcept nogil
# Told of every job that gives its nodes back, after it left `releases` (conservative backfilling; NULL otherwise).
ctypedef void (*released_fn)(sim_t *s, int32_t job) noexcept nogil
# Cluster: gives `count` free nodes to a job and marks them busy; OK or a status < 0.
ctypedef int (*take_fn)(sim_t *s, int32_t job, int32_t count) noexcept nogil

cdef struct policy_t:
    pass_fn schedule         # one scheduling pass
    place_fn place           # torus: placement rule
    take_fn take             # cluster with identities: placement rule
    order_fn order           # NULL: the queue keeps itself in order
    pass_fn migrate          # NULL, or Defragment: tried once a pass after FCFS stopped; sets s.adopted
    released_fn released
    bint backfill            # EASY after FCFS
    bint fixed               # EASY on a torus: reservation="fixed"
    int32_t max_growth
    int box_order
    double min_free, max_concentration, move_cost
    bint always, keep_promise
    bint rule_max            # Balancing: rule="max"
    bint kill                # overrun="kill"
    double start_delay
    int32_t kept_back        # cluster: free nodes that passes leave alone
    void *python_order       # borrowed PyObject*, or NULL
    void *python_place
    void *owner              # borrowed PyObject* of the Engine, for Python policies

# A shadow: what EASY promised the head, kept between passes while it stays true.
cdef struct shadow_t:
    bint valid
    double time
    int64_t extra            # cluster
    uint64_t *occ            # torus: the occupancy at `time`, later backfilled jobs included
    uint64_t *fixed          # torus, reservation="fixed": the reserved box alone
    permit_t permit
    bint took_long           # a job that ends after `time` was backfilled in the last pass

# Conservative backfilling: a reservation a queued job (index: job number).
cdef struct plan_t:
    double *begin            # inf: none yet
    double *end
    box_t *box               # torus
    double gained            # the plan has become freer up to here since no job could move
    int32_t head             # torus: the first job in the queue that still waited after the last sweep
    bint rebuild             # a disturbance since the last pass
    double last_pass
    # cluster: step function of free nodes, level[i] from at[i] until at[i + 1]
    double *at
    int64_t *level
    int32_t n, capacity
    # torus: an occupancy mask of each job that waits or runs (NULL else), and scratch
    uint64_t **mask
    uint64_t *window
    uint64_t *instant
    double *times

# A running job on its way to another box.
cdef struct mover_t:
    int32_t job
    int32_t nodes
    double decision
    box_t box

# What the lead phase of a job is: the stretch before its work, whose end is a safe point (MODEL 9, 11).
cdef enum lead:
    LEAD_RESTART = 0
    LEAD_CHECKPOINT = 1
    LEAD_MIGRATION = 2
    N_LEADS = 3

# Where a job is on its way.  Progress is in seconds of its run time.
cdef struct life_t:
    life_t *next             # in the list of spare ones
    double interval          # work between planned checkpoints; inf: none are planned
    # since the last safe point was asked for: lead phase [begin, t0), then work and planned checkpoints
    double begin
    double t0
    double safe              # safe progress until t0
    double base              # safe progress from t0 on
    double unsaved           # seconds of work that are lost by a failure before t0 (and before safe_at)
    double safe_at           # a safe point inside the lead phase; inf: none
    double planned           # checkpoints planned from t0 on
    double pause_until       # Defragment's pause, inside of which its clock stands still
    double request           # risk-based: next request, and how many intervals after t0 it is
    double request_number
    double hold_until        # held: latest known repair of its nodes
    int32_t down             # held: how many of its nodes are down
    int32_t worst            # faults.evades: most failures of any of its nodes
    int8_t kind              # of the lead phase
    bint struck              # in faults.struck
    bint eventful            # not all of this stay is start delay and work
    # seconds of this stay on nodes, by account
    double lost
    double held
    double spent[3]          # by lead: restart, checkpoint, migration

cdef enum victims:
    VICTIMS_ALL = 0
    VICTIMS_LONG = 1
    VICTIMS_BIG = 2

# Failures, predictions, checkpoints (MODEL 9-11).  The arrays of the trace, of predictions and alarms are the caller's.
cdef struct faults_t:
    bint on                  # `life` is kept
    int64_t n, next          # the failure trace, by time
    const double *time
    const int32_t *node
    const double *downtime
    int64_t n_predictions, next_prediction       # by begin; those before next_prediction have passed
    const double *prediction_begin
    const double *prediction_end
    const int32_t *prediction_node
    double p                 # probability of each
    int64_t n_alarms, next_alarm                 # requests for checkpoints, by time
    const double *alarm_time
    const int32_t *alarm_node                    # -1: to all jobs
    # recovery
    bint hold, tail, repairs_known
    double restart_cost
    # checkpointing
    double cost, interval
    bint plans               # periodic, young, daly
    double young, daly       # their MTBF of a node; 0: the interval is given
    bint risk
    bint early               # alarms of an instant come before its failures
    int victims
    double long_seconds
    int32_t big
    # migration to the nodes that failed least
    bint evades
    double threshold, move_cost
    # nodes
    double *up_at            # while down: when it is repaired
    uint8_t *down
    int32_t *count           # failures so far
    int32_t *rank            # nodes by (count, number); NULL where nobody asks
    uint64_t *failing        # scratch: nodes predicted to fail, in the layout of `occ`
    uint64_t *picked         # scratch of LeastFailuresFirst, all zero between calls
    int32_t n_down           # down and in no held job
    int32_t *struck          # held jobs that were hit in this instant
    int32_t n_struck
    int64_t next_entry       # of the queue, requeue="tail"
    int64_t n_handled, n_hit, n_checkpoints

cdef enum strategy:
    GAIN_SERVICE_UNITS = 0
    GAIN_FAILURE_RATE = 1
    GAIN_SLOWDOWN = 2

# A suspicious job at a tick of Fars.
cdef struct suspect_t:
    int32_t job
    int32_t nodes            # that are suspicious
    int32_t leaving          # that it is to leave; 0: it stays
    double gain

# Fars (MODEL 12).  The ticks are the caller's: from time[i] on nodes node[first[i]:first[i + 1]] are suspicious.
cdef struct fars_t:
    bint on                  # there are ticks
    int64_t n, next
    const double *time
    const int64_t *first
    const int32_t *node
    double interval, checkpoint_cost, restart_cost
    int strategy
    int32_t spares           # Static; -1: dynamic
    bint live, last, mean, difference, steals
    bint some                # is any node suspicious now?
    double last_wait, sum_of_waits, n_waits      # between queueing and decision
    uint64_t *suspicious     # in the layout of `occ`, as the next three
    uint64_t *wary           # scratch of placements
    uint64_t *later          # torus: what is occupied when the head's turn comes
    uint64_t *without        # torus: what is occupied but for one job
    uint64_t *forbidden      # torus: where a move must not lead to
    suspect_t *suspect       # scratch, as the next three: at most one job a node
    double *gain
    int64_t *weight
    uint8_t *taken
    knapsack_t sack

cdef struct sim_t:
    # inputs
    int32_t n
    const double *submit
    const double *runtime
    const double *estimate
    const int32_t *size
    # per-job state and results
    int8_t *state
    int32_t *need            # nodes asked of the machine: the size, rounded up to a feasible one on a torus
    double *run              # run time as executed
    double *decision
    double *first_start
    double *start
    double *finish           # when it will end (true run time)
    double *expected         # raw expected end
    int32_t *allocated
    int32_t *restarts
    int32_t *moves
    uint8_t *backfilled
    double *lost_work        # node-seconds
    double *checkpoint_time
    double *restart_time
    double *failure_wait
    life_t **life            # of jobs on nodes; NULL unless faults.on
    life_t *spare_life
    double *saved            # safe progress of a job that was killed; NULL unless faults.on, as the next two
    double *killed_at        # when it was killed last
    uint8_t *started         # a start has really come: its delay was not broken off
    const double *ahead      # expected time from the begin of work to the end: the estimate, without faults
    double *rest             # owns `ahead` where it is not the estimate
    double *owed             # restart cost at the next start; NULL unless faults.on
    int64_t *entry           # requeue="tail": place in the queue; NULL: the job number
    double *promise          # earliest start promised in this epoch; inf: none
    int32_t *promise_epoch
    # machine
    int32_t nodes
    int32_t free
    bint is_torus
    torus_t torus
    finder_t finder
    uint64_t *occ            # torus: busy or down nodes; cluster with identities: the same, a bit a node
    box_t *box               # torus: where a running job is
    bint identities          # cluster: node numbers are tracked
    nodes_t **held           # cluster with identities: a running job's nodes
    nodes_t *spare           # cluster with identities: node sets to use again
    int32_t running          # jobs that run (held ones do not)
    int32_t mfp              # torus: largest free box of `occ`; -1: not known
    # time and events
    double now
    double clock             # up to where the ledger is integrated
    int32_t next_arrival
    int32_t n_done
    heap_t heap
    releases_t releases      # running and held jobs, and (job < 0: node -1 - job) known repairs
    faults_t faults
    fars_t fars
    double window_from, window_to    # of the placement that is asked for
    int64_t n_events, n_passes
    # queue and scheduling
    wait_t wait
    int64_t demand
    int change
    int32_t examined         # queue positions up to here were refused under the present shadow
    shadow_t shadow
    plan_t plan
    int32_t *fit_epoch_any   # torus, per size: no free box of it since this fit_epoch
    int32_t *fit_epoch_long  # torus, per size: none permitted for jobs that end after the shadow time
    int32_t fit_epoch
    int32_t epoch            # of promises: raised by whatever excuses a missed one
    int64_t missed           # promises missed without an excuse (must stay 0)
    # migration
    bint adopted
    bint attempted_before
    uint64_t *last_attempt   # occupancy after the last attempt
    uint64_t *trial
    uint64_t *blocked
    mover_t *moving          # at most one a node
    int64_t n_attempted, n_successful
    double ledger[11]
    record_t record
    policy_t policy

cdef int sim_alloc(sim_t *s) noexcept nogil
cdef void sim_free(sim_t *s) noexcept nogil
cdef int sim_copy(sim_t *to, const sim_t *source) noexcept nogil

cdef int enqueue(sim_t *s, int32_t job) noexcept nogil
cdef int start_job(sim_t *s, int32_t job, int32_t nodes, const box_t *box, bint backfilled) noexcept nogil
cdef int finish_job(sim_t *s, int32_t job) noexcept nogil
cdef int move_job(sim_t *s, int32_t job, const box_t *box) noexcept nogil
cdef void promise_start(sim_t *s, int32_t job, double t) noexcept nogil
cdef void leave_nodes(sim_t *s, int32_t job) noexcept nogil
cdef void disturb(sim_t *s) noexcept nogil


# The end that a job would have if it were started at t, in exactly the arithmetic of start_job (MODEL 6).
cdef inline double end_if_started_at(const sim_t *s, int32_t job, double t) noexcept nogil:
    t = t + s.policy.start_delay
    if s.owed != NULL and s.restarts[job] > 0:
        t = t + s.owed[job]
    return t + s.ahead[job]


cdef inline double end_if_started(const sim_t *s, int32_t job) noexcept nogil:
    return end_if_started_at(s, job, s.now)


# Free nodes that a pass of a cluster may use.
cdef inline int32_t usable(const sim_t *s) noexcept nogil:
    return s.free - s.policy.kept_back


# The placement that is asked for next is of a job that would start at t: when it must not fail (MODEL 7).
cdef inline void aim(sim_t *s, int32_t job, double t) noexcept nogil:
    s.window_from = t
    s.window_to = (t + s.policy.start_delay) + s.estimate[job]


# Does `a` come before `b` in the queue, keys and all?
cdef inline bint queued_before(const sim_t *s, int32_t a, int32_t b) noexcept nogil:
    if s.wait.key != NULL and s.wait.key[a] != s.wait.key[b]:
        return s.wait.key[a] < s.wait.key[b]
    if s.entry != NULL:
        return s.entry[a] < s.entry[b]
    return a < b


# What a scan sees first of the job at a place.
cdef inline void set_look(sim_t *s, int32_t at) noexcept nogil:
    s.wait.look.need[at] = s.need[s.wait.job[at]]
    s.wait.look.least[at] = <float>(s.ahead[s.wait.job[at]] * (1.0 - 1.5e-7))     # rounded down, with no call


cdef inline void move_looks(wait_t *w, int32_t to, int32_t at, int32_t count) noexcept nogil:
    memmove(&w.look.need[to], &w.look.need[at], <size_t>count * sizeof(int32_t))
    memmove(&w.look.least[to], &w.look.least[at], <size_t>count * sizeof(float))


# Takes the started jobs, those at [keep, at), out of the queue.
cdef inline void close_gap(wait_t *w, int32_t keep, int32_t at) noexcept nogil:
    if keep != at:
        memmove(&w.job[keep], &w.job[at], <size_t>(w.end - at) * sizeof(int32_t))
        if w.look.need != NULL:
            move_looks(w, keep, at, w.end - at)
        w.end -= at - keep
