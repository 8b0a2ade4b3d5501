# State of one simulation of workflows (docs/background/workflow-model.md), and the few moves that everything else is
# made of.
#
# Jobs of all workflows are numbered one after the other; "job" below is such a number, so that a smaller one comes
# first wherever the model has "in the order of jobs across workflows".
#
# A job is waiting for others (pending > 0), in the pool, on a node, or done:
#     pending[j] > 0  ->  pool.has[j]  ->  machine.on[node[j]] == j  ->  done[j]      (a kill leads back to the pool)
# The columns of the tables and of the results are the caller's and outlive this.
#
# Invariants (see `workflow_broken`): free + busy + down = nodes; a bit of `machine.free` is set iff the node is up and
# has no job; the pool's counts are those of the jobs in it.

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t

from faultsim._core.containers.bit_tree cimport bit_tree_t
from faultsim._core.containers.event_queue cimport event_t, heap_t
from faultsim._core.containers.memory cimport blocks_t

# Kinds of events (workflow-model.md#workflow-events); faultsim/data/event_kinds.py has their names.
cdef enum workflow_kind:
    WF_FINISH = 0
    WF_REPAIR = 1
    WF_FAILURE = 2
    WF_KILL = 3
    WF_WAKE_UP = 4
    WF_ARRIVAL = 5
    WF_START = 6

# What happens to each node at which times: row k is of node p for start[p] <= k < start[p + 1], ascending in both
# columns; `next` is the first row that ends after now, and only goes forward.
cdef struct by_node_t:
    int64_t *start       # (nodes + 1)
    int64_t *next        # (nodes)
    double *begin        # (rows)
    double *end          # (rows); the same as `begin` for what is dated

cdef struct decision_t:
    double time
    double begin         # now + input time
    double finish
    int32_t job
    int32_t node
    int32_t asked

cdef struct workflow_event_t:
    double time
    int32_t workflow
    int32_t job
    int32_t node
    int8_t kind

cdef struct workflow_t

# The tables of all workflows; the caller's.
cdef struct graph_t:
    const int64_t *first_job           # (workflows + 1)
    const double *arrival              # (workflows) s
    const int64_t *before_start        # (n + 1): edges into a job
    const int32_t *before
    const double *before_size
    const int64_t *after_start         # (n + 1): edges out of a job
    const int32_t *after
    const double *after_size

# The jobs, by number.  The first four columns are results, the caller's.
cdef struct jobs_t:
    int32_t *node                      # last node, -1 before the first
    double *begun                      # when it was last put there
    double *finish                     # when it is done, or will be
    int32_t *kills
    int32_t *of                        # its workflow
    int32_t *pending                   # predecessors that are not done
    uint8_t *done
    double *ready                      # now + input time of the last start: all inputs are there
    double *rank

# The ready jobs that wait for a node, in the orders that a pass walks.
cdef struct pool_t:
    bint fifo
    bint ascending                     # shortest first, while several workflows are in the pool
    uint8_t *has                       # (n) is a job in it?
    int32_t *n_of                      # (workflows) jobs in it
    int32_t n_workflows                # with a job in it
    int32_t n
    int32_t *up_place                  # place of a job in the order of ascending rank, and back; NULL if not needed
    int32_t *up_job
    int32_t *down_place                # the same, descending
    int32_t *down_job
    bit_tree_t up
    bit_tree_t down
    heap_t queue                       # Fifo: (time, 0, job)
    double *entered                    # Fifo only: when a job last entered
    int32_t *parked                    # (nodes) first of the jobs that wait for a node that is down, -1: none;
    int32_t *parked_after              # and the job after each: they are in no tree and no queue meanwhile

# The nodes: what jobs take on them (the caller's columns), and what they do now.
cdef struct workflow_nodes_t:
    const double *cost                 # (n) or (n, nodes) s
    bint per_node                      # cost has one column per node
    const double *speed                # (nodes)
    double bandwidth                   # of every pair of nodes, where `links` is NULL
    const double *links                # (nodes, nodes) or NULL
    bint alike                         # a job takes the same time on all nodes, wherever its inputs come from
    int32_t *on                        # job on it, -1: none
    uint8_t *is_down
    double *up_at
    uint64_t *free
    int32_t words
    int32_t n_free
    int32_t n_busy
    int32_t n_down

cdef struct moves_t:
    bint in_turn                       # transfers one after another
    bint shared                        # outputs are copied to shared storage
    double copy                        # s that a job with a successor takes for it

cdef struct faults_t:
    const double *time                 # (n), ascending; the caller's, as the next two
    const double *downtime
    const int32_t *node
    int64_t n
    int64_t next
    by_node_t failing                  # failures: begin = end = the time
    by_node_t foreseen                 # predictions
    const double *warned_from          # the same of all nodes, ascending in both columns; the caller's
    const double *warned_until
    const int32_t *warned
    int64_t n_warned
    int64_t next_warned                # the first that ends after now

# Scratch of a pass.
cdef struct scan_t:
    int32_t *gathered                  # (nodes)
    double *finish_on                  # (nodes) F(p) of the job at hand, of free nodes
    int64_t *seen                      # (nodes) stamp of the last job with an input on the node; + 1: it is gathered
    int64_t stamp                      # even
    int64_t *counted                   # (nodes) stamp of the last pass that counted an answer about the node
    event_t *stay                      # (n, Fifo only) jobs that a pass read and left in the pool

cdef struct count_t:
    double loss
    int64_t kills
    int64_t pass_asked
    int64_t pass_right
    int64_t node_asked
    int64_t node_right

cdef struct kept_t:
    bint on                            # events, too
    decision_t *decision
    int64_t n_decisions
    int64_t cap_decisions
    workflow_event_t *event
    int64_t n_events
    int64_t cap_events

# A scheduler: what follows from the events of an instant, and which jobs get nodes then.  Codes are OK or NO_MEMORY.
cdef struct workflow_scheduler_t:
    void *state                        # as the next two: part_t of memory.pxd
    void *(*copy)(const void *state, const void *sim) noexcept nogil
    void (*close)(void *state) noexcept nogil
    bint plans                         # each workflow when it arrives: `pending` is then about the plan
    # The jobs of a workflow that wait for no others have entered the pool; the output of a job is there.
    int (*arrived)(workflow_t *s) noexcept nogil                       # may be NULL
    int (*done)(workflow_t *s, int32_t job) noexcept nogil
    # A job was killed; a node fails, after its own job was killed; an edge has its event (a FINISH of n + edge).
    int (*killed)(workflow_t *s, int32_t job) noexcept nogil           # may be NULL
    int (*failed)(workflow_t *s, int32_t node) noexcept nogil
    void (*moved)(workflow_t *s, int64_t edge) noexcept nogil          # may be NULL, where nothing pushes it
    # All events of the instant were handled: put jobs on free nodes, and set s.wake.
    int (*act)(workflow_t *s) noexcept nogil

cdef struct workflow_t:
    blocks_t blocks                    # what it owns, but for heaps, trees and the scheduler's state
    int32_t nodes
    int32_t n                          # jobs
    int32_t workflows
    graph_t graph
    jobs_t job
    pool_t pool
    workflow_nodes_t machine
    moves_t moves
    faults_t faults
    workflow_scheduler_t scheduler
    bint asks                          # it uses the predictor
    bint changed                       # an event of this instant had an effect: a pass is due
    scan_t scan
    heap_t heap
    double now
    double wake                        # inf: none
    int32_t next_arrival
    int32_t *arrivals                  # workflows by (arrival, number); the caller's
    int32_t n_done
    int64_t n_events
    int64_t n_looks                    # nodes that were read for a job: what passes and plans take
    count_t count
    kept_t record

# 0 or NO_MEMORY.  The sizes, tables, results and rules are set; everything else is zero.
cdef int workflow_alloc(workflow_t *s) noexcept nogil
cdef void workflow_free(workflow_t *s) noexcept nogil

# Jobs in topological order into `order` (n), and their ranks into s.job.rank.  0, or NO_MEMORY.
cdef int workflow_ranks(workflow_t *s) noexcept nogil

# Sort rows by node, keeping their order, into a table of `s`: 0 or NO_MEMORY.
cdef int by_node_fill(workflow_t *s, by_node_t *table, const int32_t *node, const double *begin, const double *end,
                      int64_t rows) noexcept nogil

# The moves.  0 or NO_MEMORY.
cdef int enter_pool(workflow_t *s, int32_t job) noexcept nogil
cdef void leave_pool(workflow_t *s, int32_t job) noexcept nogil      # not out of `queue`: the pass has popped it
cdef void park(workflow_t *s, int32_t job, int32_t node) noexcept nogil         # the same for `queue`
cdef int unpark(workflow_t *s, int32_t node) noexcept nogil
# What was decided, for the table of decisions; and then: a job is on a node from now on, until `finish`.
cdef int hold_node(workflow_t *s, int32_t job, int32_t node, double ready, double finish) noexcept nogil
cdef int keep_decision(workflow_t *s, int32_t job, int32_t node, double begin, double finish,
                       int32_t asked) noexcept nogil
cdef void leave_node(workflow_t *s, int32_t job) noexcept nogil
cdef int record_workflow_event(workflow_t *s, int kind, int32_t workflow, int32_t job, int32_t node) noexcept nogil

# NULL, or what does not hold.
cdef const char *workflow_broken(const workflow_t *s) noexcept nogil


# W(j, p): seconds that a job computes, and copies, on a node.
cdef inline double duration(const workflow_t *s, int32_t job, int32_t node) noexcept nogil:
    cdef double d
    if s.machine.per_node:
        d = s.machine.cost[<int64_t>job * s.nodes + node]
    else:
        d = s.machine.cost[job] / s.machine.speed[node]
    if s.moves.shared and s.graph.after_start[job] < s.graph.after_start[job + 1]:
        d = d + s.moves.copy
    return d


# Seconds that `size` takes from one node to another.
cdef inline double moving(const workflow_t *s, double size, int32_t source, int32_t target) noexcept nogil:
    if source == target:
        return 0.0
    if s.machine.links != NULL:
        return size / s.machine.links[<int64_t>source * s.nodes + target]
    return size / s.machine.bandwidth


# The first row of a node that ends after now, or the end of its rows.
cdef inline int64_t ahead(by_node_t *table, int32_t node, double now) noexcept nogil:
    cdef int64_t k = table.next[node], last = table.start[node + 1]
    while k < last and table.end[k] <= now:
        k += 1
    table.next[node] = k
    return k
