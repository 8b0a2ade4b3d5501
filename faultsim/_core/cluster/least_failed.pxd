# The free nodes of a cluster that failed least.
#
# Numbers of failures never fall.  So a lower bound on the failures of the free nodes of a word stays valid until nodes
# of the word are released; then the bound of all its nodes replaces it.  Such bounds are kept per word and per 64
# words, and become exact whenever a word is searched.  A placement searches the words from which it takes nodes, one
# word for each piece of a job that was released since, and the bounds of 64 words each: one step per 4,096 nodes and
# number of failures.
#
# A search of a word reads the failures of only those nodes that it returns: the nodes with the few least numbers of
# failures are stored per word (levels_t), and a node that has failed since is moved to its new level when it is read.

from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.cluster.named cimport named_t

# On machines of up to `ranked_nodes` (thresholds.pxd) they are kept in order instead (sim_t.trace.rank), which takes
# less time there.

cdef enum:
    LEVELS = 7               # at most; `failure_levels` of thresholds.pxd are used

# Nodes of one word by number of failures; each policy that uses them has its own.
cdef struct levels_t:
    int64_t base
    uint64_t at[LEVELS]      # nodes that had base + i failures, `at[0]` or fewer, and may have failed again since

# Before the simulation begins; `levels`: a field of `state`, one per word.
cdef int least_failed_open(named_t *m, void *state, levels_t **levels) except -1
# The `n` free nodes with the fewest failures (`count`, by node), ties to the lower number; `looked` counts steps.
cdef int take_least_failed(named_t *m, levels_t *levels, const int32_t *count, int32_t job, int32_t n,
                           int64_t *looked) noexcept nogil
# The first of them; -1: none is free.
cdef int32_t find_least_failed(named_t *m, levels_t *levels, const int32_t *count, int64_t *looked) noexcept nogil
