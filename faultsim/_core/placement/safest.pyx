"""Placement on a cluster: nodes that are not predicted to fail come first (model.md#safest-first).

Begins and ends of predictions both ascend, so the first prediction of a node that has not ended decides whether the
node is predicted to fail in a window that begins now.  Two bounds are kept per word of 64 nodes: a lower bound on the
first predictions of its nodes, so that a word without predictions in the window is taken whole; and an upper bound on
those of its free nodes, so that a word without a safe node is skipped.  Each prediction is passed once in a run.
Besides, a placement reads the nodes of the words with free nodes and predictions in the window, up to the last node
that it takes.
"""

from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint64_t

from faultsim._core.cluster.named cimport (
    close_word, free_nodes, named_of, named_t, next_open_word, take_lowest, take_word,
)
from faultsim._core.containers.bits cimport fs_lowest_bits, fs_popcount
from faultsim._core.containers.memory cimport open_state, own_block
from faultsim._core.contract cimport fs_require
from faultsim._core.faults.predictions cimport failing_nodes
from faultsim._core.state cimport predictions_t, sim_t
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.factory cimport factory

cdef struct safest_t:
    int32_t passed           # the predictions before this one have ended
    int32_t *first           # per node: its first prediction that has not ended; INT32_MAX: there is none
    int32_t *follows         # per prediction: the next one of its node; NULL: not kept
    int32_t *soonest         # per word: the least `first` of its nodes, or less


cdef void pass_ended(safest_t *p, sim_t *s) noexcept nogil:
    cdef const predictions_t *all_ = &s.predictions
    cdef int32_t *latest = named_of(&s.machine).latest
    cdef int32_t node, follows
    while p.passed < all_.n and all_.end[p.passed] <= s.now:
        node, follows = all_.node[p.passed], p.follows[p.passed]
        p.first[node] = follows
        if latest[node >> 6] < follows:
            latest[node >> 6] = follows
        p.passed += 1
        s.work.foreseen += 1
    if s.predictions.next < p.passed:
        s.predictions.next = p.passed


cdef int32_t first_after(const safest_t *p, const predictions_t *all_) noexcept nogil:
    """The first prediction that begins after the window."""
    cdef int32_t low = p.passed, high = <int32_t>all_.n, mid
    while low < high:
        mid = low + ((high - low) >> 1)
        if all_.begin[mid] < all_.window_to:
            low = mid + 1
        else:
            high = mid
    return low


cdef inline bint are_few(const sim_t *s) noexcept nogil:
    """Whether marking all nodes with a prediction in the window takes less time than looking at a word of them."""
    cdef const predictions_t *all_ = &s.predictions
    cdef int64_t i = all_.next + 64 - s.machine.words
    return s.machine.words < 64 and (i >= all_.n or all_.begin[i] >= all_.window_to)


cdef inline uint64_t safe_of(safest_t *p, int32_t *latest, int32_t word, uint64_t free, int32_t after,
                             int64_t *looked) noexcept nogil:
    """Of the free nodes of a word those without a prediction before `after`."""
    cdef const int32_t *first = p.first + (<int64_t>word << 6)
    cdef int32_t least = INT32_MAX, most = 0, i
    cdef uint64_t bits = 0
    if p.soonest[word] >= after:
        return free
    if latest[word] < after:
        return 0
    looked[0] += 64
    for i in range(64):
        bits |= <uint64_t>(first[i] >= after) << i
        if first[i] < least:
            least = first[i]
        if (free >> i) & 1 and first[i] > most:
            most = first[i]
    p.soonest[word], latest[word] = least, most
    return free & bits


cdef int32_t take_safe(safest_t *p, sim_t *s, int32_t job, int32_t count, int32_t after) noexcept nogil:
    """The lowest free nodes without a prediction before `after`; how many are missing, or NO_MEMORY."""
    cdef named_t *m = named_of(&s.machine)
    cdef int32_t word = next_open_word(m, 0), there
    cdef uint64_t free, bits
    while count > 0 and word < m.words:
        s.work.words += 1
        free = free_nodes(m, word)
        bits = safe_of(p, m.latest, word, free, after, &s.work.foreseen) if free else 0
        if bits:
            there = fs_popcount(bits)
            if there > count:
                bits = fs_lowest_bits(bits, count)
                there = count
            if take_word(m, job, word, bits) < 0:
                return NO_MEMORY
            count -= there
        if bits == free:
            close_word(m, word)
        word = next_open_word(m, word + 1)
    return count


cdef int allot(void *state, void *sim, int32_t job, int32_t count) noexcept nogil:
    """Nodes that are not predicted to fail in the job's window, by number; then the others, by number."""
    cdef sim_t *s = <sim_t *>sim
    cdef safest_t *p = <safest_t *>state
    cdef const uint64_t *failing
    cdef int32_t after
    if p.follows != NULL and s.predictions.window_from == s.now and not are_few(s):
        pass_ended(p, s)
        after = first_after(p, &s.predictions)
        if after > p.passed:
            count = take_safe(p, s, job, count, after)
    else:
        failing = failing_nodes(s)
        if failing != NULL:
            count = take_lowest(named_of(&s.machine), job, count, failing, &s.work.words)
    if count > 0:
        count = take_lowest(named_of(&s.machine), job, count, NULL, &s.work.words)
    fs_require(count <= 0)
    return NO_MEMORY if count < 0 else OK


cdef int open_safest(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef const predictions_t *all_ = &s.predictions
    cdef safest_t *p = <safest_t *>open_state(&s.placement, sizeof(safest_t))
    cdef int32_t i, node
    s.placement.allot = allot
    # A caller that owns time may add predictions that do not end in order.
    if s.live or all_.n == 0 or all_.n >= INT32_MAX:
        return 0
    own_block(p, &p.first, 64 * <size_t>s.machine.words, sizeof(int32_t))
    own_block(p, &p.follows, <size_t>all_.n, sizeof(int32_t))
    own_block(p, &p.soonest, <size_t>s.machine.words, sizeof(int32_t))
    own_block(named_of(&s.machine), &named_of(&s.machine).latest, <size_t>s.machine.words, sizeof(int32_t))
    for i in range(s.machine.words):
        named_of(&s.machine).latest[i] = INT32_MAX
    for i in range(64 * s.machine.words):
        p.first[i] = INT32_MAX
    for i in range(<int32_t>all_.n - 1, -1, -1):
        node = all_.node[i]
        p.follows[i] = p.first[node]
        p.first[node] = i
    return 0


SAFEST_FIRST = factory(open_safest)
