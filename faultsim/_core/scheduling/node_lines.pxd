# What is free of each node of a site from now on: one step function of time per node.
#
# A step holds until the next one of its node, the last for ever; the first holds in the past, too.  The steps of all
# nodes are in one block, linked by their positions.

from libc.stdint cimport int32_t, uint64_t

from faultsim._core.site.shares cimport ask_t, share_t, site_t
from faultsim._core.state cimport sim_t

cdef struct step_t:
    double at
    uint64_t free
    int32_t next             # -1: it is the last

cdef struct node_lines_t:
    int32_t nodes
    step_t *step
    int32_t *first           # per node
    int32_t n, room
    int32_t unused           # steps that are linked no more; -1: none
    uint64_t *late           # per node: what jobs hold that should have left; all of a node that should be up
    bint any_late
    double *start            # scratch of earliest_start, per node

cdef int open_node_lines(void *owner, node_lines_t *f, int32_t nodes) except -1
# The lines of the running jobs and of the nodes that are down, alone.  OK or NO_MEMORY
cdef int lines_of_running(void *owner, node_lines_t *f, const sim_t *s) noexcept nogil
# Of a node, amounts are taken in [begin, end), or given back; nothing where that is empty.  OK or NO_MEMORY.
cdef int change_line_of(void *owner, node_lines_t *f, int32_t node, double begin, double end, uint64_t word,
                        bint takes) noexcept nogil
# Steps that have ended by time t are removed from the line of a node.
cdef void forget_until(node_lines_t *f, int32_t node, double t) noexcept nogil
# What is free of a node in all of [t, end), and at t; the most that is free of each amount there.
cdef uint64_t free_throughout(const node_lines_t *f, int32_t node, double t, double end) noexcept nogil
# The same for a job; 0 where the node does not serve it.
cdef uint64_t free_for(const node_lines_t *f, const site_t *m, const ask_t *ask, int32_t node, double t,
                       double end) noexcept nogil
cdef uint64_t most_free(const node_lines_t *f, int32_t node, double t, double end) noexcept nogil
# Nothing is late any more; a job that should leave at once holds its shares.
cdef void none_late(node_lines_t *f) noexcept nogil
cdef void hold_late(node_lines_t *f, const share_t *share, int32_t n) noexcept nogil
# What is really free of a node now, where `free` is free as expected.
cdef uint64_t really_free(const node_lines_t *f, int32_t node, uint64_t free) noexcept nogil
# The first time from t on, up to and with `stop`, from which on a node serves a job for its whole stay; inf: none.
cdef double next_start(const node_lines_t *f, const site_t *m, const sim_t *s, int32_t job, int32_t node, double t,
                       double stop) noexcept nogil
# The same of a job with all that it needs.  Room is tried at t and wherever some becomes free.
cdef double earliest_start(node_lines_t *f, const site_t *m, const sim_t *s, int32_t job, double t,
                           double stop) noexcept nogil
