# Heft: plan each workflow when it arrives, and follow the plan through failures (docs/background/workflow-model.md,
# "Heft").
#
# A transfer is an edge k out of a job (graph.after[k]) whose nodes differ.  It is `none` until its source is done, then
# waits for both nodes to be up, moves, and is there; a failure of one of the nodes makes it wait again.

from libc.stdint cimport int8_t, int32_t, int64_t

from faultsim._core.containers.memory cimport blocks_t
from faultsim._core.workflow.plan cimport plan_t
from faultsim._core.workflow.state cimport workflow_t

cdef struct follow_t:
    blocks_t blocks
    plan_t plan
    int32_t *turn            # (nodes) the first stay of the plan that is not done
    int32_t *missing         # (jobs) inputs that are not there
    int32_t *source          # (edges) job that edge k comes from
    double *ends             # (edges) when it is there, while it moves
    int64_t *place           # (edges) where it is in `waiting` or `moving`
    int8_t *state            # (edges) none, waiting, moving, there
    int64_t *waiting         # (edges) those that wait
    int64_t n_waiting
    int64_t *moving          # (edges) those that move
    int64_t n_moving

# 0 or NO_MEMORY (safe to free then); the tables are set.
cdef int follow_init(follow_t *f, const workflow_t *s) noexcept nogil
cdef void follow_free(follow_t *f) noexcept nogil

# As workflow_instant.
cdef int follow_instant(workflow_t *s, follow_t *f, double t) noexcept nogil
