"""Placement rules that know which nodes are predicted to fail; see balance.pxd."""

from libc.stdint cimport uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from faultsim._core.choose cimport choose_max_free, list_permitted, permit_t
from faultsim._core.finder_bitmap cimport FUTURE, PLAIN, finder_largest, finder_load, finder_t
from faultsim._core.torus cimport box_t, occ_count, occ_drop, occ_fill


cdef bint _any_failing(const finder_t *f, const uint64_t *occ, const permit_t *permit,
                       const uint64_t *failing) noexcept nogil:
    """Does any node that a candidate may have fail?"""
    cdef int i
    cdef uint64_t w, any = 0
    if failing == NULL:
        return False
    for i in range(f.torus.words):
        w = failing[i] & ~occ[i]
        if permit != NULL and permit.forbidden != NULL:
            w &= ~permit.forbidden[i]
        any |= w
    return any != 0


cdef int _left(finder_t *f, const uint64_t *occ, const box_t *box) noexcept nogil:
    memcpy(f.scratch, occ, f.torus.words * sizeof(uint64_t))
    occ_fill(f.torus, f.scratch, box)
    finder_load(f, FUTURE, f.scratch)
    return finder_largest(f, FUTURE)


cdef int _failing_in(finder_t *f, const uint64_t *failing, const box_t *box) noexcept nogil:
    cdef int k = occ_count(f.torus, failing)
    memcpy(f.scratch, failing, f.torus.words * sizeof(uint64_t))
    occ_drop(f.torus, f.scratch, box)
    return k - occ_count(f.torus, f.scratch)


cdef bint choose_balancing(finder_t *f, const uint64_t *occ, int size, int order, permit_t *permit,
                           const uint64_t *failing, double p, bint rule_max, box_t *out) noexcept nogil:
    cdef box_t *list_ = NULL
    cdef long cap = 0, n, i
    cdef int before, k, j
    cdef double survives, value, best = 0.0
    if p <= 0.0 or not _any_failing(f, occ, permit, failing):
        return choose_max_free(f, occ, size, order, permit, out)
    n = list_permitted(f, occ, size, order, permit, &list_, &cap)
    if n < 0:
        f.out_of_memory = True
    if n > 0:
        finder_load(f, PLAIN, occ)
        before = finder_largest(f, PLAIN)
    for i in range(n):
        k = _failing_in(f, failing, &list_[i])
        survives = 1.0
        for j in range(min(k, 1) if rule_max else k):
            survives *= 1.0 - p
        value = (before - _left(f, occ, &list_[i])) + (1.0 - survives if not rule_max else (p if k else 0.0)) * size
        if i == 0 or value < best - 1e-9:
            best = value
            out[0] = list_[i]
    free(list_)
    return n > 0


cdef bint choose_tie_breaking(finder_t *f, const uint64_t *occ, int size, int order, permit_t *permit,
                              const uint64_t *failing, box_t *out) noexcept nogil:
    cdef box_t *list_ = NULL
    cdef long cap = 0, n, i
    cdef int left, most = -1
    cdef bint clean, best_clean = False
    if not _any_failing(f, occ, permit, failing):
        return choose_max_free(f, occ, size, order, permit, out)
    n = list_permitted(f, occ, size, order, permit, &list_, &cap)
    if n < 0:
        f.out_of_memory = True
    for i in range(n):
        left = _left(f, occ, &list_[i])
        clean = _failing_in(f, failing, &list_[i]) == 0
        if left > most or (left == most and clean and not best_clean):
            most, best_clean = left, clean
            out[0] = list_[i]
    free(list_)
    return n > 0
