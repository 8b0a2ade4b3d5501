"""The largest free box; see bitmap_search.pxd."""

from libc.string cimport memcpy

from faultsim._core.torus.finder cimport finder_t
from faultsim._core.torus.row_maps cimport (
    row_map_any_run, row_map_column, row_map_hunt, row_map_layer, row_map_next_column, row_map_next_column_run,
    row_map_pick, row_map_runs, row_map_widen, row_maps_t, view_t,
)
from faultsim._core.torus.axis_sets cimport family_apart
from faultsim._core.torus.word_maps cimport (
    u128, word_map_base, word_map_lowest, word_map_members, word_map_runs, word_map_turn, word_maps_t,
)
from faultsim._core.torus.occupancy cimport box_t, torus_t


cdef struct hunt_t:                 # a search over columns
    const family_t *mine            # NULL, or what a box must keep clear of
    int best, enough                # nodes; the search ends at `enough`
    box_t *witness                  # NULL, or the best box
    int *cap                        # bounds, as in view_t


cdef inline int _coarse_extent(int row, int n) noexcept nogil:
    """1, 2, 4, ... and n."""
    return min(1 << row, n)


cdef inline int _coarse_rows(int n) noexcept nogil:
    cdef int row = 0
    while _coarse_extent(row, n) < n:
        row += 1
    return row + 1


cdef inline bint _everywhere(const family_t *f, const uint64_t *set, int extent) noexcept nogil:
    """Does the set hold every base of this extent?"""
    cdef int bases = f.n if f.wrap else f.n - extent + 1
    cdef uint64_t full
    if f.words > 1:
        return False
    full = (~<uint64_t> 0) >> (64 - bases)
    return set[0] & full == full


cdef int search_words(finder_t *f, u128 vacant, int best, int enough, const family_t *mine,
                      box_t *witness) noexcept nogil:
    cdef const word_maps_t *s = &f.word_maps
    cdef int *reach = f.reach
    cdef int nx = s.x.n, ny = s.y.n, nz = s.z.n
    cdef int a, b, c, size
    cdef u128 layer = vacant, column, run, longer, near = 0
    cdef uint64_t set[2]
    for a in range(nx + 1):
        reach[a] = nz
    for b in range(1, ny + 1):
        if b > 1:
            layer &= word_map_turn(&s.y, vacant, b - 1)
        if layer == 0 or nx * ny * reach[1] <= best:
            break
        column = layer
        for a in range(1, nx + 1):
            if a > 1:
                column &= word_map_turn(&s.x, layer, a - 1)
                if reach[a] > reach[a - 1]:
                    reach[a] = reach[a - 1]
            if column == 0:
                reach[a] = 0
                break
            size = a * b
            if nx * b * reach[a] <= best:
                break
            if size * reach[a] <= best:
                continue
            c = best // size + 1
            run = word_map_runs(&s.z, column, c)
            if mine != NULL and run:
                family_apart(&mine[0], a, set)
                near = word_map_members(&s.x, set)
                family_apart(&mine[1], b, set)
                near |= word_map_members(&s.y, set)
                family_apart(&mine[2], c, set)
                if run & (near | word_map_members(&s.z, set)) == 0:
                    run = 0
            if run == 0:
                reach[a] = c - 1
                continue
            while c < reach[a]:
                longer = run & word_map_turn(&s.z, column, c)
                if longer == 0:
                    break
                if mine != NULL:
                    family_apart(&mine[2], c + 1, set)
                    if longer & (near | word_map_members(&s.z, set)) == 0:
                        break
                run = longer
                c += 1
            reach[a] = c
            best = size * c
            if witness != NULL:
                word_map_base(s, word_map_lowest(run), witness)
                witness.a, witness.b, witness.c = a, b, c
            if best >= enough:
                return best
    return best


cdef bint _fits(finder_t *f, const hunt_t *h, const uint64_t *column, int a, int b, int c) noexcept nogil:
    """Has the column map a run of c, one that keeps clear of some box of h.mine?  f.set[1] is that of b."""
    cdef row_maps_t *rows = &f.row_maps
    cdef const uint64_t *sx = &f.reach_x[a * ((f.torus.x + 63) // 64)]
    cdef box_t base
    if h.mine == NULL or _everywhere(&h.mine[0], sx, a) or _everywhere(&h.mine[1], f.set[1], b):
        return row_map_any_run(rows, column, c)
    family_apart(&h.mine[2], c, f.set[2])
    if _everywhere(&h.mine[2], f.set[2], c):
        return row_map_any_run(rows, column, c)
    return row_map_runs(rows, column, c, rows.run) and row_map_pick(rows, rows.run, sx, f.set[1], f.set[2], &base)


cdef int _lengthen(finder_t *f, hunt_t *h, const uint64_t *column, int a, int b, int c, int high) noexcept nogil:
    """The column has a run of c, enough to be the best: how far does the longest go?  At most `high`."""
    cdef row_maps_t *rows = &f.row_maps
    cdef int middle = high                              # an axis that is free throughout is common: try all of it first
    while c < high:
        if _fits(f, h, column, a, b, middle):
            c = middle
        else:
            high = middle - 1
        middle = (c + high + 1) // 2
    h.best = a * b * c
    if h.witness != NULL:
        row_map_runs(rows, column, c, rows.run)
        row_map_pick(rows, rows.run, NULL, NULL, NULL, h.witness)
        h.witness.a, h.witness.b, h.witness.c = a, b, c
    return c


cdef void _coarse(finder_t *f, view_t *v, hunt_t *h) noexcept nogil:
    """Columns of 1, 2, 4, ..., X by 1, 2, 4, ..., Y: a good box to begin with, and bounds for all wider columns."""
    cdef const torus_t *t = f.torus
    cdef row_maps_t *rows = &f.row_maps
    cdef const uint64_t *column
    cdef uint64_t *target
    cdef int row, i, a, b, c, have, level
    for row in range(_coarse_rows(t.y) - 1, -1, -1):
        b = _coarse_extent(row, t.y)
        if h.best >= h.enough:
            return
        if <long> t.x * b * t.z <= h.best:
            continue
        if h.mine != NULL:
            family_apart(&h.mine[1], b, f.set[1])
        level, column, target, have = t.z, NULL, rows.column, 1
        for i in range(_coarse_rows(t.x)):
            a = _coarse_extent(i, t.x)
            level = min(level, h.cap[b * (t.x + 1) + a])
            if <long> t.x * b * level <= h.best:
                break
            if column == NULL:
                column = row_map_layer(rows, v, b)
                if column == NULL:
                    level = 0
            if level and a > have:
                if not row_map_widen(rows, column, a - have, target):
                    level = 0
                column, target, have = target, rows.spare if target == rows.column else rows.column, a
            c = h.best // (a * b) + 1
            if c <= level:
                if _fits(f, h, column, a, b, c):
                    level = _lengthen(f, h, column, a, b, c, min(level, v.ceiling // (a * b)))
                else:
                    level = c - 1
            h.cap[b * (t.x + 1) + a] = level
            if level == 0:
                break


cdef void _fine(finder_t *f, view_t *v, hunt_t *h) noexcept nogil:
    """All columns that may hold a larger box than the best."""
    cdef const torus_t *t = f.torus
    cdef row_maps_t *rows = &f.row_maps
    cdef int *reach = f.reach
    cdef int *cap
    cdef const uint64_t *layer
    cdef int a, b, c, first, code
    for a in range(t.x + 1):
        reach[a] = t.z
    for b in range(1, t.y + 1):
        if h.best >= h.enough or <long> t.x * t.y * reach[1] <= h.best:
            return
        cap = &h.cap[b * (t.x + 1)]
        first = 0                                       # the narrowest column that can hold a larger box
        for a in range(1, t.x + 1):
            reach[a] = min(min(reach[a], cap[a]), reach[a - 1])
            if first == 0 and <long> a * b * reach[a] > h.best:
                first = a
        if first == 0:
            continue
        if h.mine != NULL:
            family_apart(&h.mine[1], b, f.set[1])
        layer = row_map_layer(rows, v, b)
        if layer == NULL or not row_map_column(rows, layer, first, rows.column):
            for a in range(first, t.x + 1):
                reach[a] = cap[a] = 0
            continue
        for a in range(first, t.x + 1):
            reach[a] = min(reach[a], reach[a - 1])
            if <long> t.x * b * reach[a] <= h.best:
                break
            c = h.best // (a * b) + 1
            if c > reach[a]:
                if a > first and not row_map_next_column(rows, layer, a, rows.column):
                    reach[a] = cap[a] = 0
                    break
                continue
            if h.mine == NULL:
                code = row_map_next_column_run(rows, layer, a, a > first, c, rows.column)
            else:
                code = 1
                if a > first:
                    code = row_map_next_column(rows, layer, a, rows.column)
                if code and _fits(f, h, rows.column, a, b, c):
                    code = 2
            if code == 2:
                reach[a] = _lengthen(f, h, rows.column, a, b, c, min(reach[a], v.ceiling // (a * b)))
            else:
                reach[a] = c - 1 if code else 0
            cap[a] = reach[a]
            if code == 0:
                break
            if h.best >= h.enough:
                return


cdef int search_rows(finder_t *f, view_t *v, int best, int enough, const family_t *mine,
                     box_t *witness) noexcept nogil:
    cdef const torus_t *t = f.torus
    cdef hunt_t h
    cdef box_t box
    cdef int a
    h.mine, h.best, h.enough, h.witness, h.cap = mine, best, min(enough, v.ceiling), witness, v.cap
    if h.best >= h.enough:
        return best
    if mine == NULL and f.row_maps.is_octet:
        a = row_map_hunt(&f.row_maps, v, best + 1, h.enough, &box)
        if a > 0 and witness != NULL:
            witness[0] = box
        return max(a, best)
    if mine != NULL:                                    # what is found out holds for these candidates only
        h.cap = f.cap
        memcpy(f.cap, v.cap, <size_t> (t.x + 1) * (t.y + 1) * sizeof(int))
        for a in range(1, t.x + 1):
            family_apart(&mine[0], a, &f.reach_x[a * ((t.x + 63) // 64)])
    _coarse(f, v, &h)
    _fine(f, v, &h)
    return h.best
