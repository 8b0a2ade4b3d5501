# Free nodes over time: a step function that stays fast when it has many thousands of steps.
#
# Contract: level nodes are free from a step's time until that of the next, the last for ever.  The steps are in blocks
# of up to `room` steps, so that one that comes or goes moves few others; `order` has the blocks in the order of time
# and `begins` the time of the first step of each.  There is a step wherever the level changes, and at the front.
#
# Finding a time costs the logarithm of the number of steps, and adding to a stretch of time as much and its steps.

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from faultsim._core.contract cimport fs_require

cdef enum:
    STEPS_IN_BLOCK = 64      # at most; `block_steps` of thresholds.pxd are used
    # Steps compared together: the width of a vector loop, so a constant.  Profiles of 9 steps and more test it
    # (tests/core/test_profile.py).
    ROW = 8

cdef struct steps_t:
    int32_t n
    int32_t high             # no level of the block is above
    double at[STEPS_IN_BLOCK]        # inf: behind the last
    int32_t level[STEPS_IN_BLOCK]

cdef struct profile_t:
    steps_t *block
    int32_t *order
    double *begins
    int32_t n                # blocks in use
    int32_t capacity         # blocks that there is room for
    int32_t made             # blocks that have ever been in use
    int32_t room             # steps of a block
    int32_t spare            # the first of those that are not now, whose `n` leads to the next; -1: none
    int64_t looked           # steps looked at or changed, for tests

# A step: a place in `order`, and one in the block.
cdef struct spot_t:
    int32_t b
    int32_t i

# `owner` is the state (memory.pxd) that the profile is part of.  One step, from time `at` on.
cdef int profile_open(profile_t *f, void *owner) except -1
cdef void profile_reset(profile_t *f, double at, int32_t level) noexcept nogil
# One more step, after all others; OK or NO_MEMORY.
cdef int profile_append(profile_t *f, void *owner, double at, int32_t level) noexcept nogil
# `nodes`, not 0, more (or fewer) are free in [begin, end).
cdef int profile_add(profile_t *f, void *owner, double begin, double end, int32_t nodes) noexcept nogil
# The same, which is not empty; `here` becomes the step that holds at `begin`.
cdef int profile_add_at(profile_t *f, void *owner, double begin, double end, int32_t nodes,
                        spot_t *here) noexcept nogil
# Let the front be at `t`; earlier steps go.
cdef void profile_forget(profile_t *f, double t) noexcept nogil
# From that step on: the first one whose level is at least `need`; False: there is none, or none in a block that begins
# before `stop`.
cdef bint profile_rise(profile_t *f, spot_t *spot, int32_t need, double stop) noexcept nogil


cdef inline steps_t *block_at(const profile_t *f, int32_t b) noexcept nogil:
    return &f.block[f.order[b]]


cdef inline int32_t last_by(const steps_t *s, double t) noexcept nogil:
    """The last step of a block that begins by time t, or its first one.

    The times are compared a row after the other, each all at once: nothing waits for what was found in between.
    """
    cdef const double *at = s.at
    cdef int32_t found = 0, i = 0, k
    if s.n > ROW:
        for k in range(1, STEPS_IN_BLOCK // ROW):
            found += at[ROW * k] <= t
        found *= ROW
        at += found
    for k in range(1, ROW):
        i += at[k] <= t
    return found + i


cdef inline spot_t spot_of(const profile_t *f, double t) noexcept nogil:
    """The step that holds at time t < inf: the last one with at <= t, or the front."""
    cdef spot_t spot
    cdef int32_t low = 0, high = f.n, mid
    fs_require(t < INFINITY)
    while high - low > 1:
        mid = (low + high) >> 1
        if f.begins[mid] <= t:
            low = mid
        else:
            high = mid
    spot.b = low
    spot.i = last_by(block_at(f, low), t)
    return spot


cdef inline bint step_on(const profile_t *f, spot_t *spot) noexcept nogil:
    """Go to the next step, if there is one."""
    if spot.i + 1 < block_at(f, spot.b).n:
        spot.i += 1
        return True
    if spot.b + 1 < f.n:
        spot.b += 1
        spot.i = 0
        return True
    return False


cdef inline bint step_back(const profile_t *f, spot_t *spot) noexcept nogil:
    if spot.i > 0:
        spot.i -= 1
        return True
    if spot.b > 0:
        spot.b -= 1
        spot.i = block_at(f, spot.b).n - 1
        return True
    return False


cdef inline double at_of(const profile_t *f, spot_t spot) noexcept nogil:
    return block_at(f, spot.b).at[spot.i]


cdef inline int32_t level_of(const profile_t *f, spot_t spot) noexcept nogil:
    return block_at(f, spot.b).level[spot.i]


cdef inline double end_of(const profile_t *f, spot_t spot) noexcept nogil:
    """Until when the level of a step holds."""
    return at_of(f, spot) if step_on(f, &spot) else INFINITY
