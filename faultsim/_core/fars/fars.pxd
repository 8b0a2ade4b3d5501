# Fars: at ticks of its own, running jobs leave nodes that are predicted to fail (model.md#rescheduling, [li2009]
# section 4).
#
# Contract: `suspect` has the suspicious jobs of a tick, by job; those with `leaving` > 0 move that many of their
# suspicious nodes, the lowest (on placed machines: the whole job).  Masks are those of the machine.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from faultsim._core.fars.knapsack cimport knapsack_t
from faultsim._core.faults.progress cimport move_t
from faultsim._core.state cimport sim_t

cdef enum strategy:
    GAIN_SERVICE_UNITS = 0
    GAIN_FAILURE_RATE = 1
    GAIN_SLOWDOWN = 2

# A suspicious job at a tick.
cdef struct suspect_t:
    int32_t job
    int32_t nodes            # that are suspicious
    int32_t leaving          # that it is to leave; 0: it stays
    double gain

cdef struct fars_t:
    uint64_t *suspicious     # nodes; sim_t.avoid may be this: the first field
    # ticks, by time (the arrays are the caller's): from time[i] on nodes node[first[i]:first[i + 1]] are suspicious
    int64_t n, next
    const double *time
    const int64_t *first
    const int32_t *node
    bint some                # is any node suspicious now?
    double interval
    move_t cost              # of a move
    int strategy
    int32_t spares           # static; -1: dynamic
    bint last, mean, difference, steals
    double last_wait, sum_of_waits, n_waits      # between queueing and decision
    # Gives a job other nodes: 1 given, 0 it has to stay, < 0 a code.  What the move costs it is the caller's affair.
    int (*move)(sim_t *s, fars_t *f, const suspect_t *suspect) noexcept nogil
    int32_t word             # named clusters: words before it have no sound free node left at this tick
    # scratch: of placed machines; of at most one job a node
    uint64_t *without        # what is occupied but for one job
    uint64_t *forbidden      # where a move must not lead to
    suspect_t *suspect
    double *gain
    int64_t *weight
    uint8_t *taken
    knapsack_t sack
