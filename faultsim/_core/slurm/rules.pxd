# What Slurm's rules decide from (model.md#slurm): nodes, forms of jobs, records of the queue, jobs that run.
#
# Nodes are numbers in Slurm's order, and sets of nodes are masks.  A form is what distinct jobs ask for in a partition.

from libc.math cimport floor, fmod
from libc.stdint cimport int32_t, int64_t, uint64_t

cdef enum:
    MANY_NODES = 1 << 30     # more than any cluster has
    SLURM_FEW = 4            # nodes of an answer that is kept

# Resources that limits count.  SLURM_OTHER stands for all others, of which no job holds any.
cdef enum slurm_resource_t:
    SLURM_CPU = 0
    SLURM_MEMORY = 1         # MiB
    SLURM_NODE = 2
    SLURM_BILLING = 3
    SLURM_GPU = 4
    SLURM_OTHER = 5
    SLURM_RESOURCES = 6

# What is free of each node.
cdef struct slurm_room_t:
    int32_t *cores
    int64_t *memory          # MiB
    int32_t *gpus
    int32_t *jobs            # that hold some of it
    int32_t *whole           # of them those that let no other on it
    int32_t *held            # per node and partition: CPUs that its jobs hold

cdef struct slurm_form_t:
    int32_t partition
    int32_t min_nodes, max_nodes, least      # least = max(1, min_nodes)
    int32_t tasks, per_task, need
    int32_t most             # nodes
    int64_t memory           # 0: all of a node
    bint per_cpu
    int32_t gpus
    int32_t most_cpus        # of a node that jobs of the partition have; -1: any number
    bint exclusive, takes_whole      # in the partition; by its own wish
    bint least_loaded
    uint64_t *nodes          # of the partition, with the features
    uint64_t *fitting        # those of `nodes` that may serve while empty, as backfilling tests before a selection
    uint64_t *typed          # nodes that have enough GPUs of the type

# A job in one of the partitions that it names.
cdef struct slurm_record_t:
    int32_t job, form, partition, tier
    int32_t chain            # of the limits that hold for it; -1: none
    bint allowed             # by the bounds of the partition
    int64_t priority
    double of_partition, of_resources        # terms of the priority
    double limit             # seconds for which it is planned
    int64_t tested           # number of the last cycle that tested it
    double least[SLURM_RESOURCES]            # amounts that limits test at least, whatever nodes are found

cdef enum slurm_state_t:
    SLURM_GONE = 0
    SLURM_WAITING = 1
    SLURM_LATER = 2          # requeued, and not eligible yet
    SLURM_RUNNING = 3

cdef struct slurm_job_t:
    int32_t state
    int32_t first, records   # its records
    int32_t association      # in the tree of accounts; -1: none
    int32_t user, pair, qos  # number of the user, of the user in the account, and of the QOS
    int32_t reservation      # in which it runs; -1: none
    int32_t nodes            # at least one
    double submit, limit     # seconds; minutes
    double eligible, accrue  # accrue < 0: not yet
    double nice, cpus
    double of_association, of_qos            # terms of the priority
    double usage_factor
    double asked[SLURM_RESOURCES]            # amounts
    double preempted         # when others last ended for it
    int64_t planned          # number of the last cycle that planned it
    int64_t refused          # number of the last cycle in which its real selection failed
    slurm_run_t *run

# A job on its nodes: n of each array.
cdef struct slurm_run_t:
    int32_t job, partition, chain, n
    bint exclusive
    double start, end
    double kill_at           # when the end of its time, or of its reservation, is noticed
    double reserved_until    # the latter; infinite without one
    double billing, usage_factor
    double held[SLURM_RESOURCES]
    bint warned              # it is preempted, and ends after its grace time
    int64_t rank             # scratch of preemption
    int64_t gone             # number of the last test that took it away as one that may be preempted
    int32_t *nodes
    int32_t *cpus
    int64_t *memory
    int32_t *gpus

# A run among those by end; of one on a single node with all that it holds there, else node is -1.
cdef struct slurm_end_t:
    double end
    int64_t memory
    slurm_run_t *run
    int32_t job, node, cpus, gpus, partition
    bint exclusive

# A job that ends, or is warned, for another.
cdef struct slurm_preempted_t:
    slurm_run_t *run
    int32_t by

# Nodes that are reserved in [start, end), in whole seconds: the occurrence that is not over of one that comes again
# `every` seconds after `first_start`; 0: it comes once.
cdef struct slurm_booked_t:
    double first_start, first_end, every
    double start, end
    uint64_t *nodes
    bint maintenance, all_nodes
    bint closed              # in this pass

# An interval [begin, end) and the nodes that no plan holds in it; slots follow each other without a gap.
cdef struct slurm_slot_t:
    double begin, end
    uint64_t *nodes

# An answer of a test: when a form starts on some candidates, and its nodes; n is -1 if it never does.  It holds while
# `changes` stays.
cdef struct slurm_answer_t:
    int64_t changes
    double start
    int32_t form, qos, n     # qos: what it may preempt, if that depends on it
    int32_t nodes[SLURM_FEW]
    int32_t cpus[SLURM_FEW]
    uint64_t *candidates

# Running jobs that a limit counts: those of a QOS, of a user or an account in it, of a user in an account, or of an
# account and all below it.
cdef struct slurm_tally_t:
    int32_t jobs
    double held[SLURM_RESOURCES]     # sums of their amounts
    int32_t *on_node         # how many of them are on each node; NULL if no limit counts their nodes
    int32_t nodes            # with some of them, if there is `on_node`
    int32_t qos, account     # the QOS with this usage, or its place in the tree of accounts; -1
    double used              # that usage, in CPU seconds, at the begin of a loop
    double left[SLURM_RESOURCES]     # amounts times seconds that the jobs may still use, at the last period
    bint summed              # whether `left` is that of now

cdef enum slurm_limit_t:
    SLURM_MOST_JOBS = 0      # jobs that run
    SLURM_MOST_WALL = 1      # minutes of a job
    SLURM_MOST_USED = 2      # CPU minutes used; with ``safe`` also those that jobs may still use
    SLURM_MOST_HELD = 3      # amount held by jobs that run
    SLURM_MOST_LEFT = 4      # amount times minutes that jobs may still use
    SLURM_MOST_MINUTES = 5   # amount times minutes of a job
    SLURM_MOST_ASKED = 6     # amount of a job
    SLURM_MOST_ON_NODE = 7   # amount of a job per node
    SLURM_LEAST_ASKED = 8    # amount of a job

cdef struct slurm_check_t:
    slurm_limit_t kind
    int32_t tally, resource  # tally: -1 if it counts no other jobs
    double limit
    bint of_group            # a limit of all jobs of a QOS together

# Limits for jobs of a user, an account and a QOS in a partition, in the order in which they are tested: before and
# after the selection of nodes.
cdef struct slurm_chain_t:
    slurm_check_t *before
    slurm_check_t *after
    int32_t n_before, n_after
    int32_t *tally           # in which such jobs count while they run
    int32_t tallies

cdef struct slurm_t:
    int32_t nodes, words, partitions
    slurm_room_t room, empty, later          # now; without jobs; scratch of a test in the future
    int32_t *gpu_type
    int64_t *weight
    int64_t *keys            # sort keys, which tests change (model.md#slurm-nodes)
    uint64_t *lowered        # nodes with another key than that of their weight
    int32_t n_lowered
    uint64_t *up
    uint64_t *cleaning       # where a job's clean-up is not over
    uint64_t **of_partition
    bint manages_memory, least_loaded, serial_at_end, busy_first
    slurm_form_t *form
    int32_t forms, form_room
    slurm_record_t *record
    int32_t records, record_room
    slurm_job_t *job
    int32_t jobs
    int32_t *queue           # records of waiting jobs, in their order
    int32_t queued
    int32_t *in_queue        # per partition: its records there
    slurm_run_t **running    # in the order of their starts
    slurm_end_t *by_end      # by end and job
    int32_t n_running, running_room
    slurm_run_t **started    # by the last loop, in order
    int32_t n_started, started_room
    slurm_booked_t *booked
    int32_t n_booked
    # settings
    double window, resolution, late, linear, min_age
    int64_t min_priority
    int64_t most_records, most_tests, most_starts, most_part, most_user, most_pair, most_user_part
    int64_t depth, part_depth
    bint one_plan
    # limits
    slurm_tally_t *tally
    slurm_chain_t *chain
    int32_t tallies, tally_room, chains, chain_room
    bint safe                # ``AccountingStorageEnforce=safe``
    bint limit_stops         # ``assoc_limit_stop``
    double last_period
    # preemption by QOS or by partition: of classes, which are numbers of these
    bint preempts, by_qos, youngest_first
    int32_t classes
    bint *takes              # per class and class: whether jobs of the first take the place of those of the second
    bint *takes_some         # per class
    bint *spared             # per class: ``PreemptMode=OFF``
    double *grace            # per class: seconds
    int64_t *rank            # per class: order in which its jobs end
    double exempt, victimless        # seconds for which a job is safe, and may not preempt again
    int64_t reorders, removals       # ``preempt_reorder_count``; number of the last test without victims
    slurm_run_t **victim     # scratch of a selection
    slurm_run_t **ended      # of the last selection
    int32_t n_ended
    slurm_preempted_t *preempted     # by the last loop, in order
    int32_t n_preempted, preempted_room
    double *put_off          # per QOS: when its jobs are tried first, in the cycle of `put_off_in`
    int64_t *put_off_in
    # scratch of a selection: nodes that can serve, their CPUs, and the chosen ones
    int32_t *avail
    uint64_t *have
    int32_t n_have
    int64_t sum_have
    int32_t *listed
    int32_t n_listed
    int32_t *run_first
    int32_t *run_n
    int64_t *run_sum
    uint64_t *chosen
    int32_t *chosen_cpus
    int32_t n_chosen
    int32_t *found           # rising, with found_cpus
    int32_t *found_cpus
    uint64_t *candidates
    uint64_t *planned
    uint64_t *usable
    uint64_t *open_          # what a job is offered of `usable`
    uint64_t *away           # nodes that reservations of others keep from a job
    uint64_t *idle
    uint64_t *touched        # nodes that a test in the future has given something back to
    bint *closed
    int32_t *count_part
    int32_t *count_user
    int32_t *count_pair
    int32_t *count_user_part
    int32_t users, pairs
    # the table of a cycle
    slurm_slot_t **slot
    int32_t slots, slot_room
    slurm_slot_t *pool
    uint64_t *pool_nodes
    int64_t cut              # records that Slurm's table would have taken
    int64_t cycles
    slurm_answer_t *answer
    int32_t answers          # that are stored, a power of two
    int64_t changes          # of what answers depend on: cycles, starts and keys


cdef inline double slurm_rounded(double time, double step) noexcept nogil:
    """`time // step * step`, as Python computes it."""
    cdef double mod = fmod(time, step), div
    div = (time - mod) / step
    if mod != 0.0 and (mod < 0) != (step < 0):
        div -= 1.0
    cdef double low = floor(div)
    if div - low > 0.5:
        low += 1.0
    return low * step
