"""Limits of QOS and associations (model.md#slurm-limits)."""

from libc.math cimport floor
from libc.stdint cimport int32_t, uint64_t

from faultsim._core.containers.bits cimport fs_lowest, mask_has
from faultsim._core.slurm.rules cimport (
    SLURM_BILLING, SLURM_CPU, SLURM_GPU, SLURM_LEAST_ASKED, SLURM_MEMORY, SLURM_MOST_ASKED, SLURM_MOST_HELD,
    SLURM_MOST_JOBS, SLURM_MOST_LEFT, SLURM_MOST_MINUTES, SLURM_MOST_ON_NODE, SLURM_MOST_USED, SLURM_NODE, SLURM_OTHER,
    SLURM_RESOURCES, slurm_chain_t, slurm_check_t, slurm_form_t, slurm_run_t, slurm_t, slurm_tally_t,
)


cdef void slurm_count(slurm_t *s, const slurm_run_t *run, int32_t sign) noexcept nogil:
    cdef int32_t i, k
    cdef const slurm_chain_t *chain
    cdef slurm_tally_t *tally
    cdef int32_t *jobs
    if run.chain < 0:
        return
    chain = &s.chain[run.chain]
    for i in range(chain.tallies):
        tally = &s.tally[chain.tally[i]]
        tally.jobs += sign
        tally.summed = False
        for k in range(<int32_t>SLURM_RESOURCES):
            tally.held[k] += sign * run.held[k]
        if tally.on_node == NULL:
            continue
        for k in range(run.n):
            jobs = &tally.on_node[run.nodes[k]]
            tally.nodes -= jobs[0] > 0
            jobs[0] += sign
            tally.nodes += jobs[0] > 0


cdef void slurm_amounts(const slurm_t *s, const slurm_form_t *f, int32_t n, bint plan, double *amounts) noexcept nogil:
    cdef int32_t i, node
    cdef double cpus = 0.0, memory = 0.0, gpus = 0.0
    for i in range(n):
        node = s.found[i]
        cpus += s.found_cpus[i]
        if s.manages_memory:
            memory += f.memory * s.found_cpus[i] if f.per_cpu else f.memory if f.memory else s.empty.memory[node]
        if plan:
            gpus += f.gpus
        elif f.gpus and mask_has(f.typed, node):
            gpus += max(0, min(f.gpus, s.room.gpus[node]))
    amounts[<int32_t>SLURM_CPU] = amounts[<int32_t>SLURM_BILLING] = cpus
    amounts[<int32_t>SLURM_MEMORY], amounts[<int32_t>SLURM_NODE] = memory, n
    amounts[<int32_t>SLURM_GPU], amounts[<int32_t>SLURM_OTHER] = gpus, 0.0


cdef slurm_verdict_t slurm_before(const slurm_t *s, int32_t chain, double minutes) noexcept nogil:
    cdef int32_t i
    cdef const slurm_check_t *check
    if chain < 0:
        return SLURM_ALLOWED
    for i in range(s.chain[chain].n_before):
        check = &s.chain[chain].before[i]
        if check.kind == SLURM_MOST_JOBS:
            if s.tally[check.tally].jobs >= check.limit:
                return SLURM_REFUSED_GROUP if check.of_group else SLURM_REFUSED
        elif minutes > check.limit:
            return SLURM_REFUSED
    return SLURM_ALLOWED


cdef void sum_left(slurm_t *s, int32_t at) noexcept nogil:
    """What the jobs of a tally may still use, counted in the order of their starts."""
    cdef slurm_tally_t *tally = &s.tally[at]
    cdef const slurm_chain_t *chain
    cdef const slurm_run_t *run
    cdef int32_t i, k, own
    cdef double left
    tally.summed = True
    for k in range(<int32_t>SLURM_RESOURCES):
        tally.left[k] = 0.0
    for i in range(s.n_running):
        run = s.running[i]
        if run.chain < 0:
            continue
        chain, own = &s.chain[run.chain], 0
        while own < chain.tallies and chain.tally[own] != at:
            own += 1
        if own == chain.tallies:
            continue
        left = max(0.0, 60.0 * s.job[run.job].limit - max(0.0, s.last_period - run.start))
        for k in range(<int32_t>SLURM_RESOURCES):
            tally.left[k] += run.held[k] * left


cdef inline double minutes_left(slurm_t *s, int32_t at, int32_t resource) noexcept nogil:
    if not s.tally[at].summed:
        sum_left(s, at)
    return floor(s.tally[at].left[resource] / 60.0)


cdef double held_by(const slurm_t *s, const slurm_check_t *check, const uint64_t *nodes) noexcept nogil:
    """What jobs hold of a resource; of nodes those that are not among some."""
    cdef const slurm_tally_t *tally = &s.tally[check.tally]
    cdef int32_t i, others
    cdef uint64_t rest
    if check.resource != SLURM_NODE:
        return tally.held[check.resource]
    others = tally.nodes
    if nodes != NULL and others:
        for i in range(s.words):
            rest = nodes[i]
            while rest:
                others -= tally.on_node[64 * i + fs_lowest(rest)] > 0
                rest &= rest - 1
    return others


cdef bint exceeds(slurm_t *s, const slurm_check_t *check, double minutes, const double *amounts,
                  const uint64_t *nodes, int32_t n) noexcept nogil:
    """Whether a job with these amounts would break a limit."""
    cdef double amount = amounts[check.resource], used = 0.0
    if check.kind == SLURM_MOST_USED:
        if check.resource == SLURM_CPU:
            used = s.tally[check.tally].used / 60.0
        if used >= check.limit:
            return True
        if not s.safe:
            return False
        return floor(used) + minutes_left(s, check.tally, check.resource) + minutes * amount > check.limit
    if check.kind == SLURM_MOST_HELD:
        return held_by(s, check, nodes) + amount > check.limit
    if check.kind == SLURM_MOST_LEFT:
        return minutes_left(s, check.tally, check.resource) + minutes * amount > check.limit
    if check.kind == SLURM_MOST_MINUTES:
        return minutes * amount > check.limit
    if check.kind == SLURM_MOST_ASKED:
        return amount > check.limit
    if check.kind == SLURM_MOST_ON_NODE:
        return amount / max(1, n) > check.limit
    return check.kind == SLURM_LEAST_ASKED and amount < check.limit


cdef bint slurm_refuses(slurm_t *s, int32_t chain, double minutes, const double *least) noexcept nogil:
    cdef int32_t i
    cdef const slurm_check_t *check
    if chain < 0:
        return False
    minutes = floor(minutes)
    for i in range(s.chain[chain].n_after):
        check = &s.chain[chain].after[i]
        if check.kind == SLURM_MOST_ON_NODE or check.kind == SLURM_LEAST_ASKED:
            continue             # more amounts, or nodes, may be allowed
        if check.kind == SLURM_MOST_HELD and check.resource == SLURM_NODE:
            # Nodes that other jobs hold already count once.
            if max(<double>s.tally[check.tally].nodes, least[<int32_t>SLURM_NODE]) > check.limit:
                return True
        elif exceeds(s, check, minutes, least, NULL, 0):
            return True
    return False


cdef slurm_verdict_t slurm_after(slurm_t *s, int32_t chain, double minutes, const double *amounts,
                                 const uint64_t *nodes, int32_t n) noexcept nogil:
    cdef int32_t i
    cdef const slurm_check_t *check
    if chain < 0:
        return SLURM_ALLOWED
    minutes = floor(minutes)
    for i in range(s.chain[chain].n_after):
        check = &s.chain[chain].after[i]
        if exceeds(s, check, minutes, amounts, nodes, n):
            return SLURM_REFUSED_GROUP if check.of_group else SLURM_REFUSED
    return SLURM_ALLOWED
