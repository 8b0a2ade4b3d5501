"""The bitmap finder; see finder_bitmap.pxd.  The search for the largest box is in bitmap_search.pyx."""

from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from faultsim._core.torus.bitmap_search cimport search_lines, search_small
from faultsim._core.torus.finder cimport FUTURE, PLAIN
from faultsim._core.torus.node_counts cimport counts_free
from faultsim._core.torus.row_maps cimport (
    view_t, lines_canonical, lines_filter, lines_free, lines_hunt, lines_init, lines_next, lines_pick, lines_project,
    lines_shape, view_free, view_init, view_load,
)
from faultsim._core.torus.axis_sets cimport family_add, family_free, family_init
from faultsim._core.torus.word_maps cimport (
    u128, small_base, small_canonical, small_fits, small_free, small_get, small_init, small_lowest, small_members,
    small_project, small_shape,
)
from faultsim._core.torus.occupancy cimport BASES, EXTENTS_DESCENDING, base_before, boxes_push, boxes_sort, boxes_t


cdef int finder_init(finder_t *f, const torus_t *torus) noexcept nogil:
    cdef int i, bad = 0, shapes = 0
    cdef int axes[3]
    memset(f, 0, sizeof(finder_t))
    f.torus = torus
    axes[0], axes[1], axes[2] = torus.x, torus.y, torus.z
    f.is_small = small_fits(torus)
    if f.is_small:
        f.map_words = sizeof(u128) // sizeof(uint64_t)
        f.small_free = <u128 *> calloc(3, sizeof(u128))
        bad = small_init(&f.small, torus) != 0 or f.small_free == NULL
    else:
        bad = lines_init(&f.lines, torus)
        if bad == 0:
            f.map_words = <int> f.lines.size
            for i in range(3):
                bad |= view_init(&f.view[i], &f.lines)
    for i in range(3):
        f.set[i] = <uint64_t *> calloc((axes[i] + 63) // 64, sizeof(uint64_t))
        bad |= (family_init(&f.mine[i], axes[i], torus.wrap) | family_init(&f.room[i], axes[i], torus.wrap)
                | family_init(&f.guard[i], axes[i], torus.wrap))
        bad |= f.set[i] == NULL
    for i in range(1, torus.nodes + 1):
        shapes = max(shapes, torus.first_shape[i + 1] - torus.first_shape[i])
    f.held = <uint64_t *> calloc(<size_t> shapes * f.map_words, sizeof(uint64_t))
    f.reach = <int *> malloc((torus.x + 1) * sizeof(int))
    f.cap = <int *> malloc(<size_t> (torus.x + 1) * (torus.y + 1) * sizeof(int))
    f.scratch = <uint64_t *> calloc(torus.words, sizeof(uint64_t))
    f.joined = <uint64_t *> calloc(torus.words, sizeof(uint64_t))
    f.guard_later = <uint64_t *> calloc(torus.words, sizeof(uint64_t))
    f.map = <uint64_t *> calloc(f.map_words, sizeof(uint64_t))
    f.reach_x = <uint64_t *> calloc(<size_t> (torus.x + 1) * ((torus.x + 63) // 64), sizeof(uint64_t))
    f.blocked = <unsigned short *> calloc(torus.nodes + 1, sizeof(unsigned short))
    f.blocked_stamp = 1
    f.epoch = 1
    if (bad or f.held == NULL or f.reach == NULL or f.cap == NULL or f.scratch == NULL or f.joined == NULL
            or f.guard_later == NULL or f.map == NULL
            or f.reach_x == NULL or f.blocked == NULL):
        finder_free(f)
        return -1
    return 0


cdef void finder_free(finder_t *f) noexcept nogil:
    cdef int i
    small_free(&f.small)
    lines_free(&f.lines)
    for i in range(3):
        view_free(&f.view[i])
    for i in range(3):
        free(f.set[i])
        family_free(&f.mine[i])
        family_free(&f.room[i])
        family_free(&f.guard[i])
    free(f.small_free)
    free(f.reach)
    free(f.cap)
    free(f.scratch)
    free(f.joined)
    free(f.guard_later)
    free(f.map)
    free(f.held)
    free(f.reach_x)
    free(f.blocked)
    free(f.memo)
    free(f.front)
    counts_free(&f.counts)
    memset(f, 0, sizeof(finder_t))


cdef void finder_forget(finder_t *f) noexcept nogil:
    cdef int i
    for i in range(3):
        f.view[i].valid = False
    f.guard_valid = False
    f.epoch += 1
    if f.epoch == 0:                                    # all numbers used up: begin again with an empty table
        free(f.memo)
        f.memo = NULL
        f.epoch = 1


# -- maps of either kind ---------------------------------------------------------------------------------------------

cdef void finder_load(finder_t *f, int which, const uint64_t *occ) noexcept nogil:
    if f.is_small:
        f.small_free[which] = f.small.all & ~small_get(&f.small, occ)
    else:
        view_load(&f.view[which], &f.lines, occ)


cdef bint finder_absent(const finder_t *f, int which, int size) noexcept nogil:
    cdef const view_t *v = &f.view[which]
    return not f.is_small and (size > v.ceiling or v.absent[size] == v.stamp)


cdef void finder_note_absent(finder_t *f, int which, int size) noexcept nogil:
    if not f.is_small:
        f.view[which].absent[size] = f.view[which].stamp


cdef bint map_shape(finder_t *f, int which, const shape_t *s, uint64_t *map) noexcept nogil:
    cdef u128 w
    if f.is_small:
        w = small_shape(&f.small, f.small_free[which], s.a, s.b, s.c)
        (<u128 *> map)[0] = w
        return w != 0
    return lines_shape(&f.lines, &f.view[which], s.a, s.b, s.c, map)


cdef void map_canonical(finder_t *f, const shape_t *s, uint64_t *map) noexcept nogil:
    if not f.torus.wrap:
        return
    if f.is_small:
        (<u128 *> map)[0] = small_canonical(&f.small, (<u128 *> map)[0], s.a, s.b, s.c)
    else:
        lines_canonical(&f.lines, s.a, s.b, s.c, map)


cdef void map_project(finder_t *f, const uint64_t *map, uint64_t **sets) noexcept nogil:
    if f.is_small:
        small_project(&f.small, (<const u128 *> map)[0], sets[0], sets[1], sets[2])
    else:
        lines_project(&f.lines, map, sets[0], sets[1], sets[2])


cdef inline u128 _sieve(const finder_t *f, uint64_t **sets) noexcept nogil:
    return (small_members(&f.small.x, sets[0]) | small_members(&f.small.y, sets[1])
            | small_members(&f.small.z, sets[2]))


cdef bint map_pick(finder_t *f, const uint64_t *map, uint64_t **sets, box_t *base) noexcept nogil:
    cdef u128 w
    if f.is_small:
        w = (<const u128 *> map)[0]
        if sets != NULL:
            w &= _sieve(f, sets)
        if w == 0:
            return False
        small_base(&f.small, small_lowest(w), base)
        return True
    if sets == NULL:
        return lines_pick(&f.lines, map, NULL, NULL, NULL, base)
    return lines_pick(&f.lines, map, sets[0], sets[1], sets[2], base)


cdef bint map_filter(finder_t *f, uint64_t *map, uint64_t **sets) noexcept nogil:
    if f.is_small:
        (<u128 *> map)[0] &= _sieve(f, sets)
        return (<u128 *> map)[0] != 0
    return lines_filter(&f.lines, map, sets[0], sets[1], sets[2])


cdef bint map_next(finder_t *f, const uint64_t *map, long *at, box_t *base) noexcept nogil:
    cdef u128 w
    if f.is_small:
        if at[0] >= f.torus.nodes:
            return False
        w = (<const u128 *> map)[0] >> <int> at[0] << <int> at[0]
        if w == 0:
            return False
        at[0] = small_lowest(w)
        small_base(&f.small, <int> at[0], base)
        at[0] += 1
        return True
    return lines_next(&f.lines, map, at, base)


# -- the search, and families of boxes -------------------------------------------------------------------------------

cdef int finder_search(finder_t *f, int which, int best, int enough, const family_t *mine,
                       box_t *witness) noexcept nogil:
    if f.is_small:
        return search_small(f, f.small_free[which], best, enough, mine, witness)
    return search_lines(f, &f.view[which], best, enough, mine, witness)


cdef int finder_rooms(finder_t *f, int which, int need, family_t *rooms) noexcept nogil:
    cdef const torus_t *t = f.torus
    cdef shape_t s
    cdef int a, b, c, i
    cdef int extents[3]
    cdef bint any
    for b in range(1, t.y + 1):
        for a in range(1, t.x + 1):
            c = (need + a * b - 1) // (a * b)
            if c > t.z or (a > 1 and (a - 1) * b * c >= need) or (b > 1 and a * (b - 1) * c >= need):
                continue                                # a smaller shape serves as well
            s.a, s.b, s.c = a, b, c
            any = map_shape(f, which, &s, f.map)
            if not any:
                continue
            map_project(f, f.map, f.set)
            extents[0], extents[1], extents[2] = a, b, c
            for i in range(3):
                if family_add(&rooms[i], extents[i], f.set[i]):
                    return -1
    return 0


# -- the questions ---------------------------------------------------------------------------------------------------

cdef int finder_largest(finder_t *f, int which) noexcept nogil:
    cdef view_t *v = &f.view[which]
    if f.is_small:
        return search_small(f, f.small_free[which], 0, f.torus.nodes, NULL, NULL)
    if v.largest < 0 and f.lines.is_octet:              # the witness is then the first box
        v.floor = v.largest = lines_hunt(&f.lines, v, max(v.floor, 1), f.torus.nodes, &v.witness)
        v.ceiling = v.largest
    if v.largest < 0:
        v.floor = v.largest = search_lines(f, v, v.floor, f.torus.nodes, NULL, &v.witness)
        v.ceiling = v.largest
    return v.largest


cdef bint _first(finder_t *f, int which, int size, int order, box_t *out) noexcept nogil:
    cdef const torus_t *t = f.torus
    cdef int lo = t.first_shape[size], hi = t.first_shape[size + 1], k
    cdef const shape_t *s
    cdef box_t box
    cdef bint found = False
    if finder_absent(f, which, size):
        return False
    for k in range(hi - lo):
        s = &t.shapes[hi - 1 - k if order == EXTENTS_DESCENDING else lo + k]
        if not map_shape(f, which, s, f.map):
            continue
        map_canonical(f, s, f.map)
        map_pick(f, f.map, NULL, &box)
        if not found or base_before(&box, out):
            box.a, box.b, box.c = s.a, s.b, s.c
            out[0] = box
        found = True
        if order != BASES:
            return True
    if not found:
        finder_note_absent(f, which, size)
    return found


cdef int largest_free(finder_t *f, const uint64_t *occ, box_t *out) noexcept nogil:
    cdef int size
    finder_load(f, PLAIN, occ)
    size = finder_largest(f, PLAIN)
    if out != NULL and size > 0 and f.lines.is_octet:
        out[0] = f.view[<int> PLAIN].witness
    elif out != NULL and size > 0:
        _first(f, PLAIN, size, EXTENTS_DESCENDING, out)
    return size


cdef bint has_free(finder_t *f, const uint64_t *occ, int at_least, box_t *witness) noexcept nogil:
    cdef view_t *v = &f.view[<int> FUTURE]
    cdef int size
    if at_least < 1:
        at_least = 1
    finder_load(f, FUTURE, occ)
    if f.is_small:
        return search_small(f, f.small_free[<int> FUTURE], at_least - 1, at_least, NULL, witness) >= at_least
    if at_least > v.ceiling:
        return False
    if v.floor < at_least:
        size = search_lines(f, v, at_least - 1, at_least, NULL, &v.witness)
        if size < at_least:
            v.ceiling = at_least - 1
            return False
        v.floor = size
    if witness != NULL:
        witness[0] = v.witness
    return True


cdef bint first_free(finder_t *f, const uint64_t *occ, int size, int order, box_t *out) noexcept nogil:
    if size < 1 or size > f.torus.nodes:
        return False
    finder_load(f, PLAIN, occ)
    return _first(f, PLAIN, size, order, out)


cdef long all_free(finder_t *f, const uint64_t *occ, int size, int order, box_t **buf, long *cap) noexcept nogil:
    cdef const torus_t *t = f.torus
    cdef boxes_t list
    cdef box_t box
    cdef const shape_t *s
    cdef int k, lo, hi
    cdef long at
    if size < 1 or size > t.nodes:
        return 0
    finder_load(f, PLAIN, occ)
    if finder_absent(f, PLAIN, size):
        return 0
    list.at, list.cap, list.n = buf[0], cap[0], 0
    lo, hi = t.first_shape[size], t.first_shape[size + 1]
    for k in range(hi - lo):
        s = &t.shapes[hi - 1 - k if order == EXTENTS_DESCENDING else lo + k]
        if not map_shape(f, PLAIN, s, f.map):
            continue
        map_canonical(f, s, f.map)
        box.a, box.b, box.c = s.a, s.b, s.c
        at = 0
        while map_next(f, f.map, &at, &box):
            if boxes_push(&list, &box):
                buf[0], cap[0] = list.at, list.cap
                return -1
    if order == BASES:
        boxes_sort(&list, order)
    elif list.n == 0:
        finder_note_absent(f, PLAIN, size)
    buf[0], cap[0] = list.at, list.cap
    return list.n
