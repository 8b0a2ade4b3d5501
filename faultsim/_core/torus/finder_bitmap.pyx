"""The bitmap finder; see finder_bitmap.pxd."""

from libc.stdint cimport uint64_t
from libc.string cimport memcmp, memcpy, memset

from faultsim._core.containers.memory cimport arena_free, arena_t, arena_zeros
from faultsim._core.contract cimport fs_require
from faultsim._core.torus.finder cimport FENCED, PLAIN
from faultsim._core.torus.row_maps cimport (
    row_map_any_run, row_map_canonical, row_map_column, row_map_filter, row_map_hunt, row_map_init, row_map_layer,
    row_map_list,
    row_map_next, row_map_next_column, row_map_next_column_run, row_map_pick, row_map_project, row_map_runs,
    row_map_spend, row_map_widen, row_maps_t, view_init, view_load, view_t,
)
from faultsim._core.torus.row_slices cimport slices_init, slices_load
from faultsim._core.torus.axis_sets cimport family_apart, family_init
from faultsim._core.torus.word_maps cimport (
    u128, word_map_base, word_map_canonical, word_map_fits, word_map_get, word_map_init, word_map_list,
    word_map_lowest,
    word_map_members, word_map_next, word_map_project, word_map_runs, word_map_shape, word_map_turn, word_maps_t,
)


cdef enum:
    UNKNOWN = 1 << 30               # given boxes: more than any threshold


cdef int finder_init(finder_t *f, const torus_t *torus) noexcept nogil:
    cdef arena_t *memory = &f.memory
    cdef int i, words, shapes = 0
    cdef int axes[3]
    memset(f, 0, sizeof(finder_t))
    f.torus = torus
    f.epoch = 1
    f.known_largest = -1
    f.n_given = UNKNOWN
    axes[0], axes[1], axes[2] = torus.x, torus.y, torus.z
    f.is_small = word_map_fits(torus)
    if f.is_small:
        f.map_words = sizeof(u128) // sizeof(uint64_t)
        f.vacant = <u128 *> arena_zeros(memory, 3, sizeof(u128))
        word_map_init(&f.word_maps, torus, memory)
    else:
        row_map_init(&f.row_maps, torus, memory)
        f.map_words = <int> f.row_maps.size
        for i in range(3):
            view_init(&f.view[i], &f.row_maps, memory)
        slices_init(&f.slices, &f.row_maps, memory)
    for i in range(3):
        f.set[i] = <uint64_t *> arena_zeros(memory, (axes[i] + 63) // 64, sizeof(uint64_t))
        family_init(&f.mine[i], axes[i], torus.wrap, memory)
        family_init(&f.room[i], axes[i], torus.wrap, memory)
        family_init(&f.guard[i], axes[i], torus.wrap, memory)
        family_init(&f.guard_before[i], axes[i], torus.wrap, memory)
    for i in range(1, torus.nodes + 1):
        shapes = max(shapes, torus.first_shape[i + 1] - torus.first_shape[i])
    words = (torus.x + 63) // 64
    f.held = <uint64_t *> arena_zeros(memory, <size_t> shapes * f.map_words, sizeof(uint64_t))
    f.reach = <int *> arena_zeros(memory, torus.x + 1, sizeof(int))
    f.cap = <int *> arena_zeros(memory, <size_t> (torus.x + 1) * (torus.y + 1), sizeof(int))
    f.joined = <uint64_t *> arena_zeros(memory, torus.words, sizeof(uint64_t))
    f.shared = <uint64_t *> arena_zeros(memory, torus.words, sizeof(uint64_t))
    f.guard_later = <uint64_t *> arena_zeros(memory, torus.words, sizeof(uint64_t))
    f.map = <uint64_t *> arena_zeros(memory, f.map_words, sizeof(uint64_t))
    f.reach_x = <uint64_t *> arena_zeros(memory, <size_t> (torus.x + 1) * words, sizeof(uint64_t))
    f.blocked = <uint64_t *> arena_zeros(memory, torus.nodes + 1, sizeof(uint64_t))
    f.permitted = <int *> arena_zeros(memory, <size_t> (torus.x + 1) * (torus.y + 1), sizeof(int))
    f.view[<int> PLAIN].permitted = f.permitted
    if memory.failed:
        finder_free(f)
        return -1
    return 0


cdef void finder_free(finder_t *f) noexcept nogil:
    arena_free(&f.memory)
    memset(f, 0, sizeof(finder_t))


cdef void finder_forget(finder_t *f) noexcept nogil:
    cdef int i
    for i in range(3):
        f.view[i].valid = False
    f.known_largest = -1
    f.is_current = False
    f.n_given = UNKNOWN
    f.room_size = 0
    f.guard_need = 0
    f.epoch += 1
    if f.epoch == 0:                                    # all numbers used up: begin again with an empty table
        f.memo = NULL
        f.epoch = 1


# -- maps of either kind ---------------------------------------------------------------------------------------------

cdef void finder_load(finder_t *f, int which, const uint64_t *occ) noexcept nogil:
    cdef u128 vacant
    cdef view_t *v = &f.view[which]
    cdef bint is_new, is_own = which == PLAIN and occ == f.own
    if f.is_small:
        vacant = f.word_maps.all & ~word_map_get(&f.word_maps, occ)
        is_new = vacant != f.vacant[which]
        f.vacant[which] = vacant
    elif is_own and f.is_current:
        fs_require(memcmp(v.occ, occ, f.torus.words * sizeof(uint64_t)) == 0)
        return
    elif is_own and 0 < f.n_given <= f.torus.limit.places_left:
        is_new = slices_load(&f.slices, &f.row_maps, v, occ, f.given, f.n_given)
    else:
        is_new = view_load(v, &f.row_maps, occ, False)
    if which == PLAIN:
        f.is_current = is_own
        f.n_given = 0 if is_own else UNKNOWN
        if is_new:
            f.room_size = 0
            f.is_joined = False
    elif which == FENCED:
        f.is_joined = False


cdef void finder_note_taken(finder_t *f) noexcept nogil:
    f.is_current = False


cdef void finder_note_given(finder_t *f, const box_t *box) noexcept nogil:
    f.is_current = False
    if f.n_given < f.torus.limit.places_left:
        f.given[f.n_given] = box[0]
        f.n_given += 1
    else:
        f.n_given = UNKNOWN


cdef void finder_note_replaced(finder_t *f) noexcept nogil:
    f.is_current = False
    f.n_given = UNKNOWN


cdef bint finder_absent(const finder_t *f, int which, int size) noexcept nogil:
    cdef const view_t *v = &f.view[which]
    return not f.is_small and (size > v.ceiling or v.absent[size] == v.life)


cdef void finder_note_absent(finder_t *f, int which, int size) noexcept nogil:
    if not f.is_small:
        f.view[which].absent[size] = f.view[which].life


cdef bint map_shape_words(const finder_t *f, int which, const shape_t *s, uint64_t *map) noexcept nogil:
    cdef u128 w = word_map_shape(&f.word_maps, f.vacant[which], s.a, s.b, s.c)
    (<u128 *> map)[0] = w
    return w != 0


cdef void map_canonical(finder_t *f, const shape_t *s, uint64_t *map) noexcept nogil:
    if not f.torus.wrap:
        return
    if f.is_small:
        (<u128 *> map)[0] = word_map_canonical(&f.word_maps, (<u128 *> map)[0], s.a, s.b, s.c)
    else:
        row_map_canonical(&f.row_maps, s.a, s.b, s.c, map)


cdef void map_project(finder_t *f, const uint64_t *map, uint64_t **sets) noexcept nogil:
    if f.is_small:
        word_map_project(&f.word_maps, (<const u128 *> map)[0], sets[0], sets[1], sets[2])
    else:
        row_map_project(&f.row_maps, map, sets[0], sets[1], sets[2])


cdef inline u128 _sieve(const finder_t *f, uint64_t **sets) noexcept nogil:
    return (word_map_members(&f.word_maps.x, sets[0]) | word_map_members(&f.word_maps.y, sets[1])
            | word_map_members(&f.word_maps.z, sets[2]))


cdef bint map_pick(finder_t *f, const uint64_t *map, uint64_t **sets, box_t *base) noexcept nogil:
    cdef u128 w
    if f.is_small:
        w = (<const u128 *> map)[0]
        if sets != NULL:
            w &= _sieve(f, sets)
        if w == 0:
            return False
        word_map_base(&f.word_maps, word_map_lowest(w), base)
        return True
    if sets == NULL:
        return row_map_pick(&f.row_maps, map, NULL, NULL, NULL, base)
    return row_map_pick(&f.row_maps, map, sets[0], sets[1], sets[2], base)


cdef bint map_filter(finder_t *f, uint64_t *map, uint64_t **sets) noexcept nogil:
    if f.is_small:
        (<u128 *> map)[0] &= _sieve(f, sets)
        return (<u128 *> map)[0] != 0
    return row_map_filter(&f.row_maps, map, sets[0], sets[1], sets[2])


cdef bint map_next(finder_t *f, const uint64_t *map, long *at, box_t *base) noexcept nogil:
    if f.is_small:
        return word_map_next(&f.word_maps, (<const u128 *> map)[0], at, base)
    return row_map_next(&f.row_maps, map, at, base)


cdef int map_list(const finder_t *f, const uint64_t *map, const shape_t *s, boxes_t *list) noexcept nogil:
    if f.is_small:
        return word_map_list(&f.word_maps, (<const u128 *> map)[0], s, list)
    return row_map_list(&f.row_maps, map, s, list)


# -- the search for the largest free box -----------------------------------------------------------------------------
#
# It goes column by column: the map of (a, b, 1) follows from that of (a - 1, b, 1), and a box that beats the best so
# far needs a run of c > best / (a*b) along z in it.  No run of that length: then none in any wider column either, and
# all columns with too small an area to make up for it are left out (about M^5 / 64 steps at worst, far fewer as a
# rule).


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
    """Whether the set has every base of this extent."""
    cdef int bases = f.n if f.wrap else f.n - extent + 1
    cdef uint64_t full
    if f.words > 1:
        return False
    full = (~<uint64_t> 0) >> (64 - bases)
    return set[0] & full == full


cdef int _search_words(finder_t *f, u128 vacant, int best, int enough, const family_t *mine,
                       box_t *witness) noexcept nogil:
    cdef const word_maps_t *s = &f.word_maps
    cdef int *reach = f.reach
    cdef int nx = s.x.n, ny = s.y.n, nz = s.z.n
    cdef int a, b, c, size
    cdef u128 layer = vacant, column, run, longer, near = 0
    cdef uint64_t set[2]
    for a in range(nx + 1):
        reach[a] = nz
    # `layer` is the map of the bases of free (1, b, 1).  `best` is the size of the largest box found so far, and
    # reach[a] bounds c of a free (a, b, c) for this b and all larger ones.
    for b in range(1, ny + 1):
        if b > 1:
            layer &= word_map_turn(&s.y, vacant, b - 1)
        if layer == 0 or nx * ny * reach[1] <= best:
            break
        column = layer
        # `column` is the map of free (a, b, 1): reach falls with a, because a wider box contains a narrower one.
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
    """Whether the column map has a run of c that avoids some box of h.mine; f.set[1] is the set of b."""
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
    """The length of the longest run of a column, up to `high`; it has one of c, enough to be the best."""
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


cdef bint _best_first(finder_t *f, view_t *v, hunt_t *h) noexcept nogil:
    """The columns of the highest bounds, one after another; False: too many are so high."""
    cdef const torus_t *t = f.torus
    cdef row_maps_t *rows = &f.row_maps
    cdef const uint64_t *layer
    cdef int a, b, c, bound, most, wide = 0, deep = 0, above, _i
    cdef int *cap
    # All caps are valid bounds; each round searches the column with the largest bound and makes its cap exact or lower.
    for _i in range(t.limit.single_columns):
        most, above = h.best, 0
        for b in range(1, t.y + 1):
            cap = &h.cap[b * (t.x + 1)]
            for a in range(1, t.x + 1):
                bound = a * b * cap[a]
                above += bound > h.best
                if bound > most:
                    most, wide, deep = bound, a, b
        if most <= h.best or h.best >= h.enough:
            return True
        if _i == 0 and above > t.limit.single_columns:
            return False
        a, b = wide, deep
        cap = &h.cap[b * (t.x + 1) + a]
        row_map_spend(rows, v, 4 * rows.size)
        layer = row_map_layer(rows, v, b)
        if layer == NULL or not row_map_column(rows, layer, a, rows.column):
            cap[0] = 0
            continue
        if h.mine != NULL:
            family_apart(&h.mine[1], b, f.set[1])
        c = h.best // (a * b) + 1
        if _fits(f, h, rows.column, a, b, c):
            cap[0] = _lengthen(f, h, rows.column, a, b, c, min(cap[0], v.ceiling // (a * b)))
        else:
            cap[0] = c - 1
    return False


cdef void _coarse(finder_t *f, view_t *v, hunt_t *h) noexcept nogil:
    """Columns of 1, 2, 4, ..., X by 1, 2, 4, ..., Y: a good box to begin with, and bounds for all wider columns."""
    cdef const torus_t *t = f.torus
    cdef row_maps_t *rows = &f.row_maps
    cdef const uint64_t *column
    cdef uint64_t *target
    cdef int row, i, a, b, c, have, level
    # In a row, `level` bounds c of a free (a, b, c) for this a and all larger ones; it is stored in h.cap.
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
    # reach[a] bounds c of a free (a, b, c) for this b and all larger ones.  Columns that cannot beat h.best by it are
    # skipped; the others are searched: reach[a] becomes exact if one beats h.best, else too small to beat it.
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
        row_map_spend(rows, v, (t.x - first) * rows.size)
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


cdef int _search_rows(finder_t *f, view_t *v, int best, int enough, const family_t *mine,
                      box_t *witness) noexcept nogil:
    cdef const torus_t *t = f.torus
    cdef hunt_t h
    cdef box_t box
    cdef int a
    cdef bint was_learnt = v.spent > 0
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
    if was_learnt and _best_first(f, v, &h):
        return h.best
    _coarse(f, v, &h)
    _fine(f, v, &h)
    return h.best


cdef int finder_search(finder_t *f, int which, int best, int enough, const family_t *mine,
                       box_t *witness) noexcept nogil:
    if f.is_small:
        return _search_words(f, f.vacant[which], best, enough, mine, witness)
    return _search_rows(f, &f.view[which], best, enough, mine, witness)


cdef int _largest_words(finder_t *f, u128 vacant) noexcept nogil:
    """What is known of another occupancy bounds it, if one of both has all the free nodes of the other."""
    cdef int least = 0, most = f.torus.nodes
    cdef u128 both = vacant & f.known_vacant
    if f.known_largest >= 0:
        if both == f.known_vacant:
            least = f.known_largest
        if both == vacant:
            most = f.known_largest
    f.known_largest = least if least == most else _search_words(f, vacant, least, most, NULL, NULL)
    f.known_vacant = vacant
    return f.known_largest


cdef int finder_largest(finder_t *f, int which) noexcept nogil:
    cdef view_t *v = &f.view[which]
    if f.is_small:
        return _largest_words(f, f.vacant[which])
    if v.largest < 0 and f.row_maps.is_octet:              # the witness is then the first box
        v.floor = v.largest = row_map_hunt(&f.row_maps, v, max(v.floor, 1), f.torus.nodes, &v.witness)
        v.ceiling = v.largest
    if v.largest < 0:
        v.floor = v.largest = _search_rows(f, v, v.floor, f.torus.nodes, NULL, &v.witness)
        v.ceiling = v.largest
    return v.largest


cdef bint has_free_in(finder_t *f, int which, const uint64_t *occ, int at_least, box_t *witness) noexcept nogil:
    cdef view_t *v = &f.view[which]
    cdef int size
    if at_least < 1:
        at_least = 1
    finder_load(f, which, occ)
    if f.is_small:
        return _search_words(f, f.vacant[which], at_least - 1, at_least, NULL, witness) >= at_least
    if at_least > v.ceiling:
        return False
    if v.floor < at_least:
        size = _search_rows(f, v, at_least - 1, at_least, NULL, &v.witness)
        if size < at_least:
            v.ceiling = at_least - 1
            return False
        v.floor = size
    if witness != NULL:
        witness[0] = v.witness
    return True
