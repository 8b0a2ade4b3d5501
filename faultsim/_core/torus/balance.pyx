"""Placement rules that use predicted failures of nodes; see balance.pxd.

`choose_max_free` is asked first: where its box has no failing node, no box can be better.  Else candidates fall into
classes (k, left) by their failing nodes and the largest free box that they leave; all of a class have one value, which
rises with k and falls with `left`.  So only the *fronts* can be least: classes in which no more is left by any
candidate of k failing nodes or fewer, and as much by none of fewer.  The first front is what choose_max_free leaves,
with the least k that there is at that level; the next one follows from a search among candidates of fewer failing
nodes, which need not look at levels that could not pay.  The first candidate of the least class is the answer of the
scan in order, unless other values lie within 1e-9 or so: these are scanned by class (`_near_ties`).
"""

from libc.limits cimport INT_MAX
from libc.math cimport ceil, nextafter
from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset

from faultsim._core.containers.memory cimport arena_get
from faultsim._core.torus.choose cimport (
    choose_add, choose_apart, choose_candidates, choose_clear, choose_keep, choose_level, choose_open, choose_shape,
    permit_t,
)
from faultsim._core.torus.node_counts cimport counts_box, counts_cap, counts_least, counts_load, counts_shape
from faultsim._core.torus.finder_bitmap cimport finder_search, map_filter, map_next, map_pick
from faultsim._core.torus.finder cimport PLAIN, finder_t
from faultsim._core.torus.occupancy cimport BASES, box_t, occ_meets, shape_t

cdef double MARGIN = 1e-9           # a later box must be better by more than this, so that rounding never decides
cdef double APART = 2e-9            # values at least this far apart stay distinct however they are rounded: 2 * MARGIN


cdef struct case_t:                 # one decision
    finder_t *f
    int which, size, order, shapes
    bint guarded, rule_max
    double p
    int most                        # failing nodes that make a difference
    int fronts                      # class i: f.front[2*i] failing nodes, f.front[2*i + 1] nodes left; both fall with i


cdef inline double _chance(const case_t *c, int k) noexcept nogil:
    """P_f of a box with k failing nodes."""
    cdef double survives = 1.0
    cdef int _i
    if c.rule_max:
        return c.p if k > 0 else 0.0
    for _i in range(k):
        survives *= 1.0 - c.p
    return 1.0 - survives


cdef inline double _value(const case_t *c, int k, int left) noexcept nogil:
    return (c.f.before - left) + _chance(c, k) * c.size


cdef int _begin(case_t *c, finder_t *f, const uint64_t *occ, int size, int order, permit_t *permit,
                const uint64_t *failing, bint whether) noexcept nogil:
    """After choose_max_free has found a box: how many nodes fail.  0: that box it is; -1: no memory."""
    cdef bint level_known
    cdef int n = counts_load(
        &f.counts, f.torus, &f.word_maps if f.is_small else NULL, &f.row_maps, failing, occ,
        permit.forbidden if permit != NULL else NULL, whether, &f.memory)
    c.f, c.size, c.order, c.fronts = f, size, order, 0
    if n <= 0:
        return n
    c.shapes = f.torus.first_shape[size + 1] - f.torus.first_shape[size]
    c.which = choose_open(f, occ, size, permit, &c.guarded)
    level_known = f.held_shapes > 0
    if not _has_choice(c):
        return 0
    if f.after > 0 and not level_known:
        choose_level(f, f.after)
    return n


cdef uint64_t *_held(case_t *c, int k) noexcept nogil:
    """All candidates of the k-th shape, requested in order."""
    cdef finder_t *f = c.f
    cdef uint64_t *map = &f.held[k * <long> f.map_words]
    if k >= f.held_shapes:
        f.held_shapes = k + 1
        if not choose_candidates(f, c.which, c.guarded, choose_shape(f.torus, c.size, c.order, k), map):
            memset(map, 0, f.map_words * sizeof(uint64_t))
    return map


cdef bint _has_choice(case_t *c) noexcept nogil:
    """Are there two candidates?"""
    cdef box_t base
    cdef long at
    cdef int k, candidates = 0
    for k in range(c.shapes):
        at = 0
        while map_next(c.f, _held(c, k), &at, &base):
            candidates += 1
            if candidates > 1:
                return True
    return False


cdef bint _leaving(case_t *c, int k, const shape_t *s, int left) noexcept nogil:
    """Make f.map the candidates of the k-th shape that leave a box of f.room (`left` > 0) or any; is there one?"""
    cdef finder_t *f = c.f
    cdef box_t base
    memcpy(f.map, _held(c, k), f.map_words * sizeof(uint64_t))
    if left == 0:
        return map_pick(f, f.map, NULL, &base)
    choose_apart(f, f.room, s)
    return map_filter(f, f.map, f.set)


cdef int _least_of_all(case_t *c) noexcept nogil:
    """The least number of failing nodes of all candidates."""
    cdef const shape_t *s
    cdef int k, least = INT_MAX
    for k in range(c.shapes):
        s = choose_shape(c.f.torus, c.size, c.order, k)
        if _leaving(c, k, s, 0):
            counts_shape(&c.f.counts, s.a, s.b, s.c)
            least = min(least, counts_least(&c.f.counts, c.f.map))
            if least == 0:
                break
    return least


cdef int _least(case_t *c, int left, box_t *out) noexcept nogil:
    """The least number of failing nodes among the candidates that leave a box of f.room, and the first with so many."""
    cdef finder_t *f = c.f
    cdef const shape_t *s
    cdef box_t base
    cdef int k, n, least = INT_MAX
    for k in range(c.shapes):
        s = choose_shape(f.torus, c.size, c.order, k)
        if not _leaving(c, k, s, left):
            continue
        counts_shape(&f.counts, s.a, s.b, s.c)
        n = counts_least(&f.counts, f.map)
        if n > least or (n == least and c.order != BASES):
            continue
        map_pick(f, f.map, NULL, &base)
        choose_keep(s, &base, n < least, out)
        least = n
        if n == 0 and c.order != BASES:
            break
    return least


cdef void _family(case_t *c, int k) noexcept nogil:
    """Make f.mine the candidates of at most k failing nodes."""
    cdef finder_t *f = c.f
    cdef const shape_t *s
    cdef int i
    choose_clear(f.mine)
    for i in range(c.shapes):
        s = choose_shape(f.torus, c.size, c.order, i)
        if not _leaving(c, i, s, 0):
            continue
        counts_shape(&f.counts, s.a, s.b, s.c)
        if not counts_cap(&f.counts, f.map, k):
            continue
        choose_add(f, f.mine, s, f.map)


cdef void _front(case_t *c, int k, int left) noexcept nogil:
    c.f.front[2 * c.fronts] = k
    c.f.front[2 * c.fronts + 1] = left
    c.fronts += 1


# -- near ties -------------------------------------------------------------------------------------------------------

cdef inline int _most(const case_t *c, int i) noexcept nogil:
    """The greatest number of failing nodes for which class i has the most left."""
    return c.most if i == 0 else c.f.front[2 * i - 2] - 1


cdef int _upto(const case_t *c, int i, double limit) noexcept nogil:
    """The greatest such number with a value of at most `limit`; one less than the least number: none."""
    cdef int k = c.f.front[2 * i], left = c.f.front[2 * i + 1], j, most = _most(c, i)
    cdef double survives = 1.0, chance
    for j in range(most + 1):
        chance = _chance(c, min(j, 1)) if c.rule_max else 1.0 - survives
        if j >= k and (c.f.before - left) + chance * c.size > limit:
            return j - 1
        if chance == 1.0 and j >= k:
            break
        survives *= 1.0 - c.p
    return most


cdef double _reach(const case_t *c, double best) noexcept nogil:
    """The greatest value that is not APART from the next lower one, down to the best."""
    cdef double reach = best, value
    cdef bint more = True
    cdef int i, k
    while more:
        more = False
        for i in range(c.fronts):
            k = _upto(c, i, reach) + 1
            if k <= _most(c, i):
                value = _value(c, k, c.f.front[2 * i + 1])
                if value <= reach + APART:
                    reach = value
                    more = True
    return reach


cdef bint _after(case_t *c, int left, int k, int shape, long at, int *next_shape, long *next_at,
                 box_t *out) noexcept nogil:
    """The first candidate after a place in the order, of at most k failing nodes, that leaves a box of f.room."""
    cdef finder_t *f = c.f
    cdef const shape_t *s
    cdef box_t base
    cdef bint found = False
    cdef long bit
    cdef int i
    # If `found`, next_shape and next_at are the first such candidate of the shapes before i.  With order BASES a later
    # shape can still come earlier; in other orders the first is final.
    for i in range(c.shapes):
        if c.order != BASES and i < shape:
            continue
        s = choose_shape(f.torus, c.size, c.order, i)
        if not _leaving(c, i, s, left):
            continue
        counts_shape(&f.counts, s.a, s.b, s.c)
        if not counts_cap(&f.counts, f.map, k):
            continue
        bit = 0
        if i <= shape:
            bit = at
        elif c.order == BASES:
            bit = max(at - 1, 0)                        # the same base serves for a later shape
        if not map_next(f, f.map, &bit, &base) or (found and bit >= next_at[0]):
            continue
        found = True
        next_shape[0], next_at[0] = i, bit
        out[0] = base
        out.a, out.b, out.c = s.a, s.b, s.c
        if c.order != BASES:
            break
    return found


cdef void _near_ties(case_t *c, double reach, box_t *out) noexcept nogil:
    """The scan in order, of the classes with values up to `reach` alone: it would take no other box after one of them,
    and takes the first of them after any other."""
    cdef double limit = reach
    cdef bint found = True
    cdef int i, k, left, shape = 0, new_shape = 0, its_shape
    cdef long at = 0, new_at = 0, its_at
    cdef box_t box
    while found:
        found = False
        for i in range(c.fronts):
            left, k = c.f.front[2 * i + 1], _upto(c, i, limit)
            if k < c.f.front[2 * i]:
                continue
            if left > 0:
                choose_level(c.f, left)
            if not _after(c, left, k, shape, at, &its_shape, &its_at, &box):
                continue
            if found and (its_at > new_at or (its_at == new_at and its_shape > new_shape) if c.order == BASES else
                          its_shape > new_shape or (its_shape == new_shape and its_at > new_at)):
                continue
            found = True
            new_shape, new_at, out[0] = its_shape, its_at, box
        if found:
            shape, at = new_shape, new_at
            k = counts_box(&c.f.counts, out)
            i = 0
            while k < c.f.front[2 * i]:
                i += 1
            # the greatest value that is less than best - MARGIN
            limit = nextafter(_value(c, k, c.f.front[2 * i + 1]) - MARGIN, -1.0)


# -- the rules -------------------------------------------------------------------------------------------------------

cdef void _balance(case_t *c, int n, box_t *out) noexcept nogil:
    cdef finder_t *f = c.f
    cdef double best, value, lowest, slack
    cdef int k, least, left = f.after, floor, ties
    cdef box_t box
    if f.front == NULL:
        f.front = <int *> arena_get(&f.memory, 2 * (<size_t> f.torus.nodes + 2), sizeof(int))
    if f.front == NULL:
        return
    k = _least(c, left, out)
    c.most = 1 if f.counts.whether else min(n, c.size)
    slack = APART * (c.most + 3.0)                      # a chain of near ties is no longer
    best = _value(c, k, left)
    _front(c, k, left)
    least = _least_of_all(c) if k > 0 and left > 0 else k
    while k > least and left > 0:
        # the least left that could still be good, with as few failing nodes as there are
        lowest = ceil(f.before + _chance(c, least) * c.size - best - slack)
        floor = <int> lowest if lowest > 0 else 0
        if floor >= left:
            break
        _family(c, k - 1)
        left = finder_search(f, PLAIN, max(floor - 1, 0), left - 1, f.mine, NULL) if left > 1 else 0
        if left < floor:
            break
        if left > 0:
            choose_level(f, left)
        k = _least(c, left, &box)
        _front(c, k, left)
        value = _value(c, k, left)
        if value < best:
            best = value
            out[0] = box
    value = _reach(c, best)
    ties = 0
    for k in range(c.fronts):
        ties += _upto(c, k, value) - f.front[2 * k] + 1
    if ties > 1:
        _near_ties(c, value, out)


cdef void settle_balancing(finder_t *f, const uint64_t *occ, int size, int order, permit_t *permit,
                           const uint64_t *failing, double p, bint rule_max, box_t *out) noexcept nogil:
    cdef case_t c
    cdef int n
    if failing == NULL or p <= 0.0:
        return
    # the first box of all that leave most; any failing node would make a box worse for certain
    if (1.0 - (1.0 - p)) * size > APART and not occ_meets(f.torus, failing, out):
        return
    c.p, c.rule_max = p, rule_max
    n = _begin(&c, f, occ, size, order, permit, failing, rule_max or p == 1.0)
    if n > 0:
        _balance(&c, n, out)


cdef void settle_tie_breaking(finder_t *f, const uint64_t *occ, int size, int order, permit_t *permit,
                              const uint64_t *failing, box_t *out) noexcept nogil:
    cdef case_t c
    cdef box_t box
    if failing == NULL or not occ_meets(f.torus, failing, out):
        return
    if _begin(&c, f, occ, size, order, permit, failing, True) > 0 and _least(&c, f.after, &box) == 0:
        out[0] = box
