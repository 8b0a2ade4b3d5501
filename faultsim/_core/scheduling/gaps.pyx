"""Where a plan has become freer; the contract is in gaps.pxd."""

from libc.float cimport FLT_MAX
from libc.math cimport INFINITY
from libc.stdint cimport INT32_MAX, int64_t, uint64_t
from libc.string cimport memmove, memset

from faultsim._core.containers.bits cimport fs_highest, fs_lowest
from faultsim._core.scheduling.profile cimport at_of, level_of, step_back, step_on
from faultsim._core.scheduling.waiting cimport LANES, least_by_class

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
    for c in range(g.top):
        of = &g.of[c]
        kept = 0
        for i in range(of.n):
            if of.gap[i].told >= g.turn - 1:
                if kept < i:
                    of.gap[kept] = of.gap[i]
                kept += 1
        if kept < of.n:
            of.n = kept
            g.stale |= <uint64_t>1 << c
        if kept > 0:
            top = c + 1
    g.top = top
    if top > 0:
        g.tallest = <int32_t>(((<int64_t>1) << top) - 1)


cdef inline void admit(gaps_t *g, int32_t c, float most) noexcept nogil:
    while c < LANES:
        g.admits.most[c] = most
        c += g.classes


cdef void gaps_look_up(gaps_t *g) noexcept nogil:
    cdef uint64_t bits = g.stale & ((<uint64_t>1 << g.top) - 1)
    cdef const class_t *of
    cdef float most
    cdef int32_t c, k
    while bits:
        c = fs_lowest(bits)
        bits &= bits - 1
        of = &g.of[c]
        most = -1.0
        for k in range(of.n):
            most = max(most, of.gap[k].admits)
        admit(g, c, most)
    for c in range(g.top, g.admitting):
        admit(g, c, -1.0)
    g.admitting = g.top
    most = -1.0
    for k in range(g.top):
        most = max(most, g.admits.most[k])
    g.longest = most
    g.stale = 0


cdef void gaps_want(gaps_t *g, const int32_t *need, const float *least, int32_t n) noexcept nogil:
    cdef int32_t c, k, part
    for c in range(CLASSES):
        g.wanted[c] = INFINITY
        g.some[c] = 0
    g.good = GOOD
    memset(g.waiting, 0, sizeof(g.waiting))
    for k in range(n):
        c = class_of(need[k])
        if least[k] < g.wanted[c]:
            g.wanted[c] = least[k]
        part = part_of(need[k], c)
        g.waiting[64 * c + part] += 1
        g.some[c] |= <uint64_t>1 << part


cdef void gaps_want_again(gaps_t *g, const line_t *line) noexcept nogil:
    least_by_class(line, g.wanted)
    g.good = GOOD


cdef inline void set_gap(gap_t *gap, double begin, double end, double length, int32_t level,
                         int32_t told) noexcept nogil:
    gap.begin, gap.end, gap.length, gap.level, gap.told, gap.n = begin, end, length, level, told, 0
    gap.admits = <float>min(length, FLT_MAX)


cdef inline void shorten(gap_t *gap, double length) noexcept nogil:
    if length < gap.length:
        gap.length = length
        gap.admits = min(gap.admits, <float>length)


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
            made[0].end = begin
            shorten(&made[0], rounded_up(gap[first].begin, begin))
            n = 1
        set_gap(&made[n], begin, end, length, level, turn)
        n += 1
        if first < last and gap[last - 1].end > end:
            made[n] = gap[last - 1]
            made[n].begin = end
            shorten(&made[n], rounded_up(end, gap[last - 1].end))
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
        g.stale |= <uint64_t>1 << g.top
        g.top += 1
    g.tallest = max(g.tallest, peak)
    while c < top:
        if g.wanted[c] <= length:
            g.stale |= <uint64_t>1 << c
            put(&g.of[c], begin, end, length, peak, whole, g.turn)
        c += 1
        whole = True


cdef inline int32_t least_in(int32_t part, int32_t c) noexcept nogil:
    """The least need in a 64th of a class."""
    return (64 + part) << (c - 6) if c > 6 else (64 + part) >> (6 - c)


cdef inline int32_t fewest_above(const gaps_t *g, int32_t before) noexcept nogil:
    """No job that waits needs fewer nodes than that, and more than `before`."""
    cdef int32_t c = class_of(before + 1)
    cdef uint64_t bits = g.some[c] & (~<uint64_t>0 << part_of(before + 1, c))
    while bits == 0:
        c += 1
        if c >= CLASSES - 1:
            return INT32_MAX
        bits = g.some[c]
    return max(least_in(fs_lowest(bits), c), before + 1)


cdef inline int32_t most_up_to(const gaps_t *g, int32_t peak) noexcept nogil:
    """No job that waits needs more nodes than that, and no more than `peak`; 0: there is none."""
    cdef int32_t c
    cdef uint64_t bits
    if peak <= 0:
        return 0
    c = class_of(peak)
    bits = g.some[c] & (~<uint64_t>0 >> (63 - part_of(peak, c)))
    while bits == 0:
        c -= 1
        if c < 0:
            return 0
        bits = g.some[c]
    return min(least_in(fs_highest(bits), c) + (((1 << (c - 6)) - 1) if c > 6 else 0), peak)


cdef void gaps_tell(gaps_t *g, profile_t *f, spot_t here, double now, double end, int32_t before,
                    int32_t peak) noexcept nogil:
    cdef open_t stack[DEPTH]
    cdef open_t left[DEPTH]
    cdef open_t top
    cdef spot_t spot
    cdef int32_t n = 0, k = 0, level, low, floor
    cdef double t = max(at_of(f, here), now), first
    cdef bint more
    # Gaps of as few nodes as `before` have not grown.
    before = fewest_above(g, before) - 1
    peak = most_up_to(g, peak)
    if peak <= before:
        return
    # The gaps that are open where it begins.
    spot = here
    low = min(level_of(f, here), peak)
    first = t
    while low > before:
        if at_of(f, spot) <= now or not step_back(f, &spot):
            left[k].level, left[k].begin = low, first
            k += 1
            break
        f.looked += 1
        level = min(level_of(f, spot), peak)
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
        level = min(level_of(f, spot), peak) if more else -1
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
    cdef gap_t *gap
    if need > 1 and class_of(need - 1) == c:
        c += 1               # there are smaller ones in the class
    while c < g.top:
        for i in range(g.of[c].n):
            gap = &g.of[c].gap[i]
            if begin <= gap.begin and gap.end <= stop:
                shorten(gap, longest)
                g.stale |= <uint64_t>1 << c
        c += 1
