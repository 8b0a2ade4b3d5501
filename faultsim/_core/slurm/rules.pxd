# What Slurm's rules decide from (model.md#slurm): nodes, forms of jobs, records of the queue, jobs that run.
#
# Nodes are numbers in Slurm's order, and sets of nodes are masks.  A form is what distinct jobs ask for in a partition.

from libc.math cimport floor, fmod
from libc.stdint cimport int32_t, int64_t, uint64_t

cdef enum:
    MANY_NODES = 1 << 30     # more than any cluster has
    SLURM_FEW = 4            # nodes of an answer that is kept

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
    uint64_t *typed          # nodes of which GPUs would serve

# A job in one of the partitions that it names.
cdef struct slurm_record_t:
    int32_t job, form, partition, tier
    bint allowed             # by the bounds of the partition
    int64_t priority
    double of_partition, of_resources        # terms of the priority
    double limit             # seconds for which it is planned
    int64_t tested           # number of the last cycle that tested it

cdef enum slurm_state_t:
    SLURM_GONE = 0
    SLURM_WAITING = 1
    SLURM_LATER = 2          # requeued, and not eligible yet
    SLURM_RUNNING = 3

cdef struct slurm_job_t:
    int32_t state
    int32_t first, records   # its records
    int32_t association      # in the tree of accounts; -1: none
    int32_t user, pair       # number of the user, and of the user in the account
    int32_t reservation      # in which it runs; -1: none
    int32_t nodes            # at least one
    double submit, limit     # seconds; minutes
    double eligible, accrue  # accrue < 0: not yet
    double nice, cpus
    double of_association, of_qos            # terms of the priority
    double usage_factor
    int64_t planned          # number of the last cycle that planned it
    int64_t refused          # number of the last cycle in which its real selection failed
    slurm_run_t *run

# A job on its nodes: n of each array.
cdef struct slurm_run_t:
    int32_t job, partition, n
    bint exclusive
    double start, end, kill_at       # kill_at: when the end of its time, or of its reservation, is noticed
    double billing, usage_factor
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
    int32_t form, n
    int32_t nodes[SLURM_FEW]
    uint64_t *candidates

cdef struct slurm_t:
    int32_t nodes, words, partitions
    slurm_room_t room, empty, later          # now; without jobs; scratch of a test in the future
    int32_t *gpu_type
    int64_t *weight
    int64_t *keys            # sort keys, which tests change (model.md#slurm-nodes)
    uint64_t *up
    uint64_t *cleaning       # where a job's clean-up is not over
    uint64_t **of_partition
    bint manages_memory, least_loaded, serial_at_end, busy_first, preempts
    slurm_form_t *form
    int32_t forms, form_room
    slurm_record_t *record
    int32_t records, record_room
    slurm_job_t *job
    int32_t jobs
    int32_t *queue           # records of waiting jobs, in their order
    int32_t queued, queue_room
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
    int32_t *tasks_on
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
