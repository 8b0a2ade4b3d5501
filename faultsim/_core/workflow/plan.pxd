# Heft: a plan of one workflow into the gaps that earlier plans left (docs/background/workflow-model.md, "Heft").

from libc.stdint cimport int32_t

from faultsim._core.containers.memory cimport blocks_t
from faultsim._core.workflow.state cimport workflow_t

cdef struct stay_t:
    double start
    double finish
    int32_t job

# What is planned on each node, in order of (start, finish), then of planning; stays of a node never overlap.
cdef struct plan_t:
    blocks_t blocks
    int32_t nodes
    stay_t **stay        # (nodes) each grown by doubling
    int32_t *n           # (nodes)
    int32_t *capacity    # (nodes)
    double *finish       # (jobs) finish by the plan

# 0, or NO_MEMORY (safe to free then).
cdef int plan_init(plan_t *plan, int32_t nodes, int32_t jobs) noexcept nogil
cdef void plan_free(plan_t *plan) noexcept nogil

# Plan a workflow that arrives now: its jobs have their nodes then, and a decision each.  0 or NO_MEMORY.
cdef int plan_workflow(workflow_t *s, plan_t *plan, int32_t workflow) noexcept nogil
