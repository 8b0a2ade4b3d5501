"""The bitmap finder; see finder_bitmap.pxd.  The search for the largest box is in bitmap_search.pyx."""

from libc.stdlib cimport free
from libc.string cimport memset

from faultsim._core.containers.memory cimport blocks_add, blocks_free, blocks_t
from faultsim._core.torus.bitmap_search cimport search_rows, search_words
from faultsim._core.torus.finder cimport FUTURE, PLAIN
from faultsim._core.torus.node_counts cimport counts_free
from faultsim._core.torus.row_maps cimport (
    row_map_canonical, row_map_filter, row_map_free, row_map_hunt, row_map_init, row_map_next, row_map_pick,
    row_map_project, row_map_shape, view_free, view_init, view_load, view_t,
)
from faultsim._core.torus.axis_sets cimport family_add, family_free, family_init
from faultsim._core.torus.word_maps cimport (
    u128, word_map_base, word_map_canonical, word_map_fits, word_map_free, word_map_get, word_map_init, word_map_lowest,
    word_map_members, word_map_project, word_map_shape,
)
from faultsim._core.torus.occupancy cimport BASES, EXTENTS_DESCENDING, base_before, boxes_push, boxes_sort, boxes_t


cdef int finder_init(finder_t *f, const torus_t *torus) noexcept nogil:
    cdef int i, bad = 0, shapes = 0
    cdef int axes[3]
    cdef blocks_t *blocks = &f.blocks
    memset(f, 0, sizeof(finder_t))
    f.torus = torus
    axes[0], axes[1], axes[2] = torus.x, torus.y, torus.z
    f.is_small = word_map_fits(torus)
    if f.is_small:
        f.map_words = sizeof(u128) // sizeof(uint64_t)
        blocks_add(blocks, f, &f.vacant, 3, sizeof(u128))
        bad = word_map_init(&f.word_maps, torus)
    else:
        bad = row_map_init(&f.row_maps, torus)
        if bad == 0:
            f.map_words = <int> f.row_maps.size
            for i in range(3):
                bad |= view_init(&f.view[i], &f.row_maps)
    for i in range(3):
        blocks_add(blocks, f, &f.set[i], (axes[i] + 63) // 64, sizeof(uint64_t))
        bad |= (family_init(&f.mine[i], axes[i], torus.wrap) | family_init(&f.room[i], axes[i], torus.wrap)
                | family_init(&f.guard[i], axes[i], torus.wrap))
    for i in range(1, torus.nodes + 1):
        shapes = max(shapes, torus.first_shape[i + 1] - torus.first_shape[i])
    blocks_add(blocks, f, &f.held, <size_t> shapes * f.map_words, sizeof(uint64_t))
    blocks_add(blocks, f, &f.reach, torus.x + 1, sizeof(int))
    blocks_add(blocks, f, &f.cap, <size_t> (torus.x + 1) * (torus.y + 1), sizeof(int))
    blocks_add(blocks, f, &f.scratch, torus.words, sizeof(uint64_t))
    blocks_add(blocks, f, &f.joined, torus.words, sizeof(uint64_t))
    blocks_add(blocks, f, &f.guard_later, torus.words, sizeof(uint64_t))
    blocks_add(blocks, f, &f.map, f.map_words, sizeof(uint64_t))
    blocks_add(blocks, f, &f.reach_x, <size_t> (torus.x + 1) * ((torus.x + 63) // 64), sizeof(uint64_t))
    blocks_add(blocks, f, &f.blocked, torus.nodes + 1, sizeof(unsigned short))
    f.blocked_stamp = 1
    f.epoch = 1
    if bad or blocks.failed:
        finder_free(f)
        return -1
    return 0


cdef void finder_free(finder_t *f) noexcept nogil:
    cdef int i
    word_map_free(&f.word_maps)
    row_map_free(&f.row_maps)
    for i in range(3):
        view_free(&f.view[i])
        family_free(&f.mine[i])
        family_free(&f.room[i])
        family_free(&f.guard[i])
    blocks_free(&f.blocks, f)
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
        f.vacant[which] = f.word_maps.all & ~word_map_get(&f.word_maps, occ)
    else:
        view_load(&f.view[which], &f.row_maps, occ)


cdef bint finder_absent(const finder_t *f, int which, int size) noexcept nogil:
    cdef const view_t *v = &f.view[which]
    return not f.is_small and (size > v.ceiling or v.absent[size] == v.stamp)


cdef void finder_note_absent(finder_t *f, int which, int size) noexcept nogil:
    if not f.is_small:
        f.view[which].absent[size] = f.view[which].stamp


cdef bint map_shape(finder_t *f, int which, const shape_t *s, uint64_t *map) noexcept nogil:
    cdef u128 w
    if f.is_small:
        w = word_map_shape(&f.word_maps, f.vacant[which], s.a, s.b, s.c)
        (<u128 *> map)[0] = w
        return w != 0
    return row_map_shape(&f.row_maps, &f.view[which], s.a, s.b, s.c, map)


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
    cdef u128 w
    if f.is_small:
        if at[0] >= f.torus.nodes:
            return False
        w = (<const u128 *> map)[0] >> <int> at[0] << <int> at[0]
        if w == 0:
            return False
        at[0] = word_map_lowest(w)
        word_map_base(&f.word_maps, <int> at[0], base)
        at[0] += 1
        return True
    return row_map_next(&f.row_maps, map, at, base)


# -- the search, and families of boxes -------------------------------------------------------------------------------

cdef int finder_search(finder_t *f, int which, int best, int enough, const family_t *mine,
                       box_t *witness) noexcept nogil:
    if f.is_small:
        return search_words(f, f.vacant[which], best, enough, mine, witness)
    return search_rows(f, &f.view[which], best, enough, mine, witness)


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
        return search_words(f, f.vacant[which], 0, f.torus.nodes, NULL, NULL)
    if v.largest < 0 and f.row_maps.is_octet:              # the witness is then the first box
        v.floor = v.largest = row_map_hunt(&f.row_maps, v, max(v.floor, 1), f.torus.nodes, &v.witness)
        v.ceiling = v.largest
    if v.largest < 0:
        v.floor = v.largest = search_rows(f, v, v.floor, f.torus.nodes, NULL, &v.witness)
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
    if out != NULL and size > 0 and f.row_maps.is_octet:
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
        return search_words(f, f.vacant[<int> FUTURE], at_least - 1, at_least, NULL, witness) >= at_least
    if at_least > v.ceiling:
        return False
    if v.floor < at_least:
        size = search_rows(f, v, at_least - 1, at_least, NULL, &v.witness)
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
