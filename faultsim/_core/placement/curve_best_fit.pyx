"""CurveBestFit (model.md#curve-best-fit): the smallest sufficient free interval of an order of the nodes, or few."""

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport qsort

import numpy as np

from faultsim._core.cluster.named cimport named_of, named_t, take_word, update_occ
from faultsim._core.containers.bits cimport mask_has
from faultsim._core.containers.memory cimport open_state, own_block
from faultsim._core.contract cimport fs_require
from faultsim._core.inputs cimport check_nodes, input_column
from faultsim._core.state cimport sim_t
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.factory cimport factory

cdef struct interval_t:
    int32_t begin, length

cdef struct curve_rule_t:
    const int32_t *curve     # the nodes in their order
    uint64_t *picked         # a mask, all zero between calls
    interval_t *free         # scratch: the free intervals


cdef int intervals_descending(const void *a, const void *b) noexcept nogil:
    cdef const interval_t *p = <const interval_t *>a
    cdef const interval_t *q = <const interval_t *>b
    if p.length != q.length:
        return q.length - p.length
    return p.begin - q.begin


cdef int32_t find_free(const curve_rule_t *rule, named_t *m) noexcept nogil:
    """The free intervals, along the curve; how many."""
    cdef int32_t i, count = 0
    cdef bint inside = False
    update_occ(m)
    for i in range(m.nodes):
        if mask_has(m.occ, rule.curve[i]):
            inside = False
            continue
        if not inside:
            rule.free[count].begin, rule.free[count].length = i, 0
            count += 1
            inside = True
        rule.free[count - 1].length += 1
    return count


cdef int32_t best_fit(const curve_rule_t *rule, int32_t first, int32_t count, int32_t size) noexcept nogil:
    """The first of the smallest intervals in [first, count) of at least `size` nodes; -1: none has as many."""
    cdef int32_t i, best = -1
    for i in range(first, count):
        if rule.free[i].length >= size and (best < 0 or rule.free[i].length < rule.free[best].length):
            best = i
    return best


cdef int allot(void *state, void *sim, int32_t job, int32_t count) noexcept nogil:
    cdef const curve_rule_t *rule = <const curve_rule_t *>state
    cdef named_t *m = named_of(&(<sim_t *>sim).machine)
    cdef int32_t intervals = find_free(rule, m), next_ = 0, best, taken, node, i, low = m.words, high = -1
    while count > 0:
        best = best_fit(rule, next_, intervals, count)
        if best < 0:
            fs_require(next_ < intervals)
            if next_ == 0:
                qsort(rule.free, <size_t>intervals, sizeof(interval_t), intervals_descending)
            best = next_
            next_ += 1
        taken = min(count, rule.free[best].length)
        for i in range(rule.free[best].begin, rule.free[best].begin + taken):
            node = rule.curve[i]
            rule.picked[node >> 6] |= (<uint64_t>1) << (node & 63)
            low, high = min(low, node >> 6), max(high, node >> 6)
        count -= taken
    for i in range(low, high + 1):
        if rule.picked[i]:
            if take_word(m, job, i, rule.picked[i]) < 0:
                return NO_MEMORY
            rule.picked[i] = 0
    return OK


cdef int open_curve_best_fit(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef const int32_t[::1] curve = input_column(columns, columns["curve"], "curve", np.int32, s.nodes)
    cdef curve_rule_t *rule = <curve_rule_t *>open_state(&s.placement, sizeof(curve_rule_t))
    own_block(rule, &rule.picked, s.machine.words, sizeof(uint64_t))
    own_block(rule, &rule.free, s.nodes // 2 + 1, sizeof(interval_t))
    s.placement.allot = allot
    check_nodes(s, np.asarray(curve), 0)
    rule.curve = &curve[0]
    return 0


CURVE_BEST_FIT = factory(open_curve_best_fit)
