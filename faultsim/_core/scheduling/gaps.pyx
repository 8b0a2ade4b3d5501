"""Where a plan has become freer; the contract is in gaps.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t
from libc.string cimport memmove

from faultsim._core.scheduling.profile cimport at_of, level_of, step_back, step_on

cdef enum:
    GOOD = 2                 # jobs that take least of all and leave, until that is looked up again

# A gap that is open on the right: `level` nodes are free since `begin`, and no more than that all along.
cdef struct open_t:
    int32_t level
    double begin


cdef void gaps_turn(gaps_t *g) noexcept nogil:
    cdef class_t *of
    cdef int32_t c, i, kept, top = 0
    g.turn += 1
    g.tallest = 0
    g.longest = -1.0
    for c in range(g.top):
        of = &g.of[c]
        kept = 0
        of.longest = -1.0
        for i in range(of.n):
            if of.gap[i].told >= g.turn - 1:
                if kept < i:
                    of.gap[kept] = of.gap[i]
                kept += 1
                of.longest = max(of.longest, <float>of.gap[i].length)
        of.n = kept
        g.longest = max(g.longest, of.longest)
        if kept > 0:
            top = c + 1
    g.top = top
    if top > 0:
        g.tallest = <int32_t>(((<int64_t>1) << top) - 1)


cdef void gaps_want(gaps_t *g, const int32_t *need, const float *least, int32_t n) noexcept nogil:
    cdef int32_t c, k
    for c in range(CLASSES):
        g.wanted[c] = INFINITY
    g.good = GOOD
    for k in range(n):
        c = class_of(need[k])
        if least[k] < g.wanted[c]:
            g.wanted[c] = least[k]


cdef inline double rounded_up(double begin, double end) noexcept nogil:
    """A length: the end of a job is a sum of doubles, and its least duration may be a float."""
    return ((end - begin) + 4e-15 * (begin + end)) * (1.0 + 3e-7) + 1e-30


cdef inline void set_gap(gap_t *gap, double begin, double end, double length, int32_t level,
                         int32_t told) noexcept nogil:
    gap.begin, gap.end, gap.length, gap.level, gap.told, gap.n = begin, end, length, level, told, 0


cdef void join(class_t *of) noexcept nogil:
    """Two neighbours become one: those that are nearest.  So what never ends, which is of any length, stays apart."""
    cdef gap_t *gap = of.gap
    cdef int32_t i, best = 0
    cdef double least = INFINITY
    for i in range(of.n - 1):
        if gap[i + 1].end - gap[i].begin < least:
            least = gap[i + 1].end - gap[i].begin
            best = i
    gap += best
    set_gap(gap, gap[0].begin, gap[1].end, max(gap[0].length, gap[1].length), max(gap[0].level, gap[1].level),
            max(gap[0].told, gap[1].told))
    of.n -= 1
    memmove(gap + 1, gap + 2, <size_t>(of.n - best - 1) * sizeof(gap_t))


cdef void put(class_t *of, double begin, double end, double length, int32_t level, bint whole,
              int32_t turn) noexcept nogil:
    """One more gap.  `whole`: nothing beside it is part of it, so what was known there was cut in two by it."""
    cdef gap_t made[3]
    cdef gap_t *gap = of.gap
    cdef int32_t first = 0, last, n = 0, k, more
    while first < of.n and gap[first].end <= begin:
        first += 1
    last = first
    while last < of.n and gap[last].begin < end:
        last += 1
    # Those at [first, last) meet it; some of them may be narrower and taller.
    for k in range(first, last):
        level = max(level, gap[k].level)
    if whole:
        if first < last and gap[first].begin < begin:
            made[0] = gap[first]
            made[0].end, made[0].length = begin, min(gap[first].length, rounded_up(gap[first].begin, begin))
            n = 1
        set_gap(&made[n], begin, end, length, level, turn)
        n += 1
        if first < last and gap[last - 1].end > end:
            made[n] = gap[last - 1]
            made[n].begin, made[n].length = end, min(gap[last - 1].length, rounded_up(end, gap[last - 1].end))
            n += 1
    else:
        set_gap(&made[0], begin, end, length, level, turn)
        n = 1
        for k in range(first, last):
            set_gap(&made[0], min(made[0].begin, gap[k].begin), max(made[0].end, gap[k].end),
                    max(made[0].length, gap[k].length), level, turn)
    more = n - (last - first)
    if more > 0:
        for k in range(of.n - 1, last - 1, -1):
            gap[k + more] = gap[k]
    elif more < 0:
        for k in range(last, of.n):
            gap[k + more] = gap[k]
    of.n += more
    for k in range(n):
        gap[first + k] = made[k]
    while of.n > GAPS:
        join(of)


cdef void widen(gaps_t *g, int32_t level, int32_t floor, int32_t before, int32_t peak, double begin,
                double end) noexcept nogil:
    """A gap of `level` nodes, `peak` somewhere in it; wider ones will be told for `floor` nodes and fewer.

    A class is told once, of the gap for the fewest nodes of its needs that are more than `before`.
    """
    cdef double length = rounded_up(begin, end)
    cdef int32_t c = class_of(floor + 1), top = class_of(level) + 1
    cdef bint whole = (floor & (floor + 1)) == 0         # no needs of the class are as small as `floor`
    if not whole and floor > before:
        c += 1
        whole = True
    while c < top and g.wanted[c] > length:
        c += 1
        whole = True
    if c == top:
        return
    while g.top < top:
        g.of[g.top].n = 0
        g.of[g.top].longest = -1.0
        g.top += 1
    g.tallest = max(g.tallest, peak)
    if length > g.longest:
        g.longest = <float>length
    while c < top:
        if g.wanted[c] <= length:
            g.of[c].longest = max(g.of[c].longest, <float>length)
            put(&g.of[c], begin, end, length, peak, whole, g.turn)
        c += 1
        whole = True


cdef void gaps_tell(gaps_t *g, profile_t *f, spot_t here, double now, double end, int32_t before,
                    int32_t peak) noexcept nogil:
    cdef open_t stack[DEPTH]
    cdef open_t left[DEPTH]
    cdef open_t top
    cdef spot_t spot
    cdef int32_t n = 0, k = 0, level = level_of(f, here), low, floor
    cdef double t = max(at_of(f, here), now), first
    cdef bint more
    if peak <= before:
        return               # gaps of as few nodes as `before` have not grown
    low = class_of(before + 1)
    while g.wanted[low] == INFINITY:
        if low == class_of(peak):
            return
        low += 1
    # The gaps that are open where it begins.
    spot = here
    low = level
    first = t
    while low > before:
        if at_of(f, spot) <= now or not step_back(f, &spot):
            left[k].level, left[k].begin = low, first
            k += 1
            break
        f.looked += 1
        level = level_of(f, spot)
        if level < low:
            if k < DEPTH - 1:
                left[k].level, left[k].begin = low, first
                k += 1
            else:
                left[k - 1].begin = first        # lower than it is, which is more
            low = level
        first = max(at_of(f, spot), now)
    while k > 0:
        k -= 1
        stack[n] = left[k]
        n += 1
    # From there on, until the last gap that it is part of ends.
    spot = here
    while True:
        more = step_on(f, &spot)
        t = at_of(f, spot) if more else INFINITY
        level = level_of(f, spot) if more else -1
        f.looked += 1
        first = t
        while n > 0 and stack[n - 1].level > level:
            n -= 1
            top = stack[n]
            first = top.begin
            floor = max(max(level, before), stack[n - 1].level if n > 0 else 0)
            widen(g, top.level, floor, before, peak, first, t)
        if level > before and (n == 0 or stack[n - 1].level < level) and first < (t if t >= end else INFINITY):
            if n < DEPTH:
                n += 1
                stack[n - 1].begin = first
            stack[n - 1].level = level
        if not more or (t >= end and n == 0):
            return


cdef void gaps_measured(gaps_t *g, int32_t need, double begin, double stop, double longest) noexcept nogil:
    cdef int32_t c = class_of(need), i
    cdef double length = rounded_up(begin, begin + longest)
    cdef gap_t *gap
    if need > 1 and class_of(need - 1) == c:
        c += 1               # there are smaller ones in the class
    while c < g.top:
        for i in range(g.of[c].n):
            gap = &g.of[c].gap[i]
            if begin <= gap.begin and gap.end <= stop:
                gap.length = min(gap.length, length)
        c += 1
