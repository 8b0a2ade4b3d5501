# The free nodes of a cluster that failed least.
#
# Failures only add up, so a number of failures that no free node of a word is below stays right until nodes of the word
# are given back; then it falls to one that no node of the word is below.  Such bounds are kept of words and of 64
# words, and come closer whenever a word is looked at.  A placement looks at the words that it takes nodes of, at one
# for each piece of a job that was given back since, and at the bounds of all 64 words: a step for every 4,096 nodes and
# number of failures that it meets.
#
# A look at a word reads the failures of those nodes only that it gives: which nodes had how many is remembered of the
# few least numbers of the word, and whoever failed since is found out and moves up when its turn comes.

from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.cluster.named cimport named_t

# On machines of up to `ranked_nodes` (thresholds.pxd) they are kept in order instead (sim_t.trace.rank), which takes
# less time there.

cdef enum:
    LEVELS = 7               # at most; `failure_levels` of thresholds.pxd are used

# Of one word, as each policy that asks remembers it.
cdef struct levels_t:
    int64_t base
    uint64_t at[LEVELS]      # nodes that had base + i failures, `at[0]` or fewer, and may have failed again since

# Before the simulation begins; `levels`: a field of `state`, one a word.
cdef int least_failed_open(named_t *m, void *state, levels_t **levels) except -1
# The `n` free nodes with the fewest failures (`count`, by node), ties to the lower number; `looked` counts steps.
cdef int take_least_failed(named_t *m, levels_t *levels, const int32_t *count, int32_t job, int32_t n,
                           int64_t *looked) noexcept nogil
# The first of them; -1: none is free.
cdef int32_t find_least_failed(named_t *m, levels_t *levels, const int32_t *count, int64_t *looked) noexcept nogil
