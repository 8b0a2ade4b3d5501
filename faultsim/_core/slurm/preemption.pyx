"""Which running jobs end to make room for a job (model.md#slurm-preemption)."""

from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.containers.bits cimport mask_has
from faultsim._core.slurm.rules cimport slurm_form_t, slurm_record_t, slurm_run_t, slurm_t
from faultsim._core.slurm.selection cimport (
    slurm_choose, slurm_copy_room, slurm_fill, slurm_pick, slurm_refill, slurm_take,
)

cdef enum:
    LAST_REMOVED = 9999      # rank of the last job that was taken away, in the next round


cdef int32_t slurm_class(const slurm_t *s, int32_t job, int32_t partition) noexcept nogil:
    cdef int32_t own = s.job[job].qos if s.by_qos else partition
    return own if own < s.classes else -1


cdef bint slurm_takes(const slurm_t *s, int32_t one, int32_t other) noexcept nogil:
    return one >= 0 and other >= 0 and s.takes[one * s.classes + other]


cdef bint holds_some(const slurm_run_t *run, const uint64_t *nodes) noexcept nogil:
    cdef int32_t i
    for i in range(run.n):
        if mask_has(nodes, run.nodes[i]):
            return True
    return False


cdef int32_t slurm_victims(slurm_t *s, const slurm_record_t *r, double now) noexcept nogil:
    cdef int32_t i, own, n = 0
    cdef slurm_run_t *run
    own = slurm_class(s, r.job, r.partition) if s.preempts else -1
    if own < 0 or not s.takes_some[own]:
        return 0
    for i in range(s.n_running):
        run = s.running[i]
        run.rank = slurm_class(s, run.job, run.partition)
        if not slurm_takes(s, own, run.rank) or s.spared[run.rank]:
            continue
        if s.exempt and run.start > now - s.exempt:
            continue
        if holds_some(run, s.of_partition[r.partition]):
            s.victim[n] = run
            n += 1
    return n


cdef inline bint goes_first(const slurm_t *s, const slurm_run_t *one, const slurm_run_t *other) noexcept nogil:
    """Whether a victim is tried before another that has started before it."""
    if s.youngest_first and one.start != other.start:
        return one.start > other.start
    return one.rank < other.rank


cdef void sort_victims(slurm_t *s, int32_t n) noexcept nogil:
    """By the priority of their QOS, or by tier and number of nodes; or the latest starts first.  Equal ones stay."""
    cdef int32_t i, k
    cdef slurm_run_t *run
    for i in range(n):
        run = s.victim[i]
        run.rank = s.rank[run.rank] if s.by_qos else s.rank[run.rank] + run.n
        k = i
        while k and goes_first(s, run, s.victim[k - 1]):
            s.victim[k] = s.victim[k - 1]
            k -= 1
        s.victim[k] = run


cdef int32_t remove_until_it_fits(slurm_t *s, const slurm_form_t *f, int32_t n, int32_t *removed) noexcept nogil:
    """Take victims away one after the other until a form fits: the number of nodes found, or -1.

    Invariant: `avail` and `have` are those of the candidates in the room of `later`, without the victims before i.
    """
    cdef int32_t i, k, node, found
    cdef const slurm_run_t *run
    slurm_copy_room(s, &s.later, &s.room)
    slurm_fill(s, f, s.candidates, &s.later)
    for i in range(n):
        run = s.victim[i]
        slurm_take(s, &s.later, run, -1)
        for k in range(run.n):
            node = run.nodes[k]
            if mask_has(s.candidates, node) and mask_has(f.nodes, node):
                slurm_refill(s, f, node, &s.later)
        found = slurm_pick(s, f, &s.later, NULL)
        if found >= 0:
            removed[0] = i + 1
            return found
    return -1


cdef bint reorder_victims(slurm_t *s, int32_t n, int32_t removed) noexcept nogil:
    """Move the last removed victim to the front, and behind it those with the most nodes among the chosen ones; whether
    that changes the order."""
    cdef int32_t i, k
    cdef bint changed = False
    cdef slurm_run_t *run
    for i in range(n):
        run = s.victim[i]
        run.rank = 0
        for k in range(run.n if i < removed else 0):
            run.rank += mask_has(s.chosen, run.nodes[k])
        if i == removed - 1:
            run.rank = LAST_REMOVED
        k = i
        while k and run.rank > s.victim[k - 1].rank:
            s.victim[k] = s.victim[k - 1]
            k -= 1
            changed = True
        s.victim[k] = run
    return changed


cdef int32_t slurm_choose_with_victims(slurm_t *s, const slurm_record_t *r, const slurm_form_t *f,
                                       double now) noexcept nogil:
    cdef int32_t i, n, found, removed = 0
    cdef int64_t round_ = 0
    s.n_ended = 0
    found = slurm_choose(s, f, s.candidates, &s.room)
    if found >= 0 or not s.preempts or now - s.job[r.job].preempted < s.victimless:
        return found
    n = slurm_victims(s, r, now)
    if not n:
        return -1
    sort_victims(s, n)
    while True:
        found = remove_until_it_fits(s, f, n, &removed)
        if found < 0:
            return -1
        # An order that stays gives the same nodes again.
        if round_ > s.reorders - 1 or n == 1 or not reorder_victims(s, n, removed):
            break
        round_ += 1
    for i in range(removed):
        if holds_some(s.victim[i], s.chosen):
            s.ended[s.n_ended] = s.victim[i]
            s.n_ended += 1
    return found
