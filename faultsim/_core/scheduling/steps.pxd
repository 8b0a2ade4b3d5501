# Which nodes are taken when: a step function of masks, from the present on.
#
# Contract.  step[i] holds from step[i].at until step[i + 1].at, the last one for ever; step[0].at <= now once the past
# is forgotten.  `taken` is the mask of what holds nodes over all of that time, `left` the number of the others.  What
# holds nodes at one time has none of them in common.  A step begins only where something that is still known begins or
# ends (`edges` counts these), so that what is taken over [begin, end) is taken over whole steps of it, `begin` in the
# past being as good as now.  `stamp` tells when a step was changed last: it is at most `steps_t.stamp`, which every
# change raises.  On a machine with outlines (machine.pxd) each step has that of its mask.
#
# With n steps of w words, taking nodes and giving them back costs O(n) bytes moved and w words a step of the time in
# question.

from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.tables.machine cimport machine_t, outline_t

cdef struct step_t:
    double at
    int64_t stamp
    int32_t taken            # number of its mask
    int32_t left
    int32_t edges
    int32_t begins           # of these; where none do, no more is taken than in the step before

cdef struct steps_t:
    step_t *step
    int32_t n, capacity
    int32_t words
    int64_t stamp
    uint64_t *masks
    outline_t *outlines      # of the masks; NULL: of none
    int32_t n_masks, cap_masks
    int32_t spare            # the first spare mask, whose first word leads to the next; -1: none

# `owner` owns the blocks of `s` (memory.pxd), here and in what follows: it is what `s` is part of.  `m` is the machine.
cdef int steps_open(void *owner, steps_t *s, const machine_t *m) except -1
# From `now` on one step, in which only what is in `taken` is taken.
cdef int steps_begin(void *owner, steps_t *s, const machine_t *m, double now, const uint64_t *taken) noexcept nogil
# Before all steps, which are to begin at `end`: a step that begins at `now`, in which `more` is taken besides what is
# taken then.  `edges` things end there.
cdef int steps_before(void *owner, steps_t *s, const machine_t *m, double now, double end, int32_t edges,
                      const uint64_t *more) noexcept nogil
cdef void steps_forget(steps_t *s, double now) noexcept nogil
# All nodes of `mask`, which are free, are taken in [begin, end), which is not empty; they are given back.
cdef int steps_take(void *owner, steps_t *s, const machine_t *m, double now, double begin, double end,
                    const uint64_t *mask) noexcept nogil
cdef void steps_give(steps_t *s, const machine_t *m, double now, double begin, double end,
                     const uint64_t *mask) noexcept nogil


cdef inline int32_t step_at(const steps_t *s, double t) noexcept nogil:
    """Index of the step that holds at time t: the last one that begins by then, or the first."""
    cdef int32_t low = 0, high = s.n, mid
    while high - low > 1:
        mid = (low + high) >> 1
        if s.step[mid].at <= t:
            low = mid
        else:
            high = mid
    return low


cdef inline const uint64_t *taken_at(const steps_t *s, int32_t i) noexcept nogil:
    return s.masks + <int64_t>s.step[i].taken * s.words


cdef inline const outline_t *outline_at(const steps_t *s, int32_t i) noexcept nogil:
    return s.outlines + s.step[i].taken
