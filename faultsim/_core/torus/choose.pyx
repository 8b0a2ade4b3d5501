"""Placement rules on a torus; see choose.pxd.

Nothing here looks at a candidate by itself.  A level is a size of free box that may be left; the boxes of that size
and the candidates of one shape are maps, and which candidates keep clear of such a box follows from their projections
on the axes (axis_sets.pxd).  The largest free box of all is tried as a level first; if every candidate destroys it, one
search finds the highest level that some candidate leaves.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from faultsim._core.containers.bits cimport mask_has, ones
from faultsim._core.containers.memory cimport arena_zeros
from faultsim._core.contract cimport fs_require
from faultsim._core.torus.finder_bitmap cimport (
    finder_absent, finder_largest, finder_load, finder_note_absent, finder_search, map_canonical, map_filter, map_list,
    map_pick, map_project, map_shape,
)
from faultsim._core.torus.finder cimport FENCED, FUTURE, PLAIN, stored_choice_t, finder_t
from faultsim._core.torus.axis_sets cimport (
    family_add, family_apart, family_clear, family_cover, family_shared, family_t, family_within,
)
from faultsim._core.torus.row_maps cimport view_t
from faultsim._core.torus.row_slices cimport slices_pay, slices_rooms
from faultsim._core.torus.word_maps cimport (
    u128, word_map_box, word_map_canonical, word_map_get, word_map_list, word_map_shape,
)
from faultsim._core.torus.occupancy cimport (
    BASES, EXTENTS_DESCENDING, box_t, boxes_sort, boxes_t, shape_t, torus_t,
)


cdef void choose_clear(family_t *three) noexcept nogil:
    family_clear(&three[0])
    family_clear(&three[1])
    family_clear(&three[2])


cdef void choose_add(finder_t *f, family_t *three, const shape_t *s, const uint64_t *map) noexcept nogil:
    map_project(f, map, f.set)
    family_add(&three[0], s.a, f.set[0])
    family_add(&three[1], s.b, f.set[1])
    family_add(&three[2], s.c, f.set[2])


cdef void choose_apart(finder_t *f, const family_t *three, const shape_t *s) noexcept nogil:
    family_apart(&three[0], s.a, f.set[0])
    family_apart(&three[1], s.b, f.set[1])
    family_apart(&three[2], s.c, f.set[2])


# -- candidates ------------------------------------------------------------------------------------------------------

cdef void _rooms(finder_t *f, int need) noexcept nogil:
    """Add the boxes of at least `need` nodes in the view FUTURE to f.guard, the least shape of each kind."""
    cdef const torus_t *t = f.torus
    cdef shape_t s
    for s.b in range(1, t.y + 1):
        for s.a in range(1, t.x + 1):
            s.c = (need + s.a * s.b - 1) // (s.a * s.b)
            if s.c > t.z or (s.a - 1) * s.b * s.c >= need or s.a * (s.b - 1) * s.c >= need:
                continue                                # a smaller shape serves as well
            if map_shape(f, FUTURE, &s, f.map):
                choose_add(f, f.guard, &s, f.map)


cdef void _share(finder_t *f) noexcept nogil:
    """Where all boxes of f.guard meet: a candidate with a node of these would destroy them all."""
    cdef const torus_t *t = f.torus
    cdef uint64_t sx, sy, sz
    cdef int64_t bit
    cdef int ix, iy
    f.has_shared = f.is_joined = False
    if f.is_small or f.row_maps.is_octet:
        return
    sx, sy, sz = family_shared(&f.guard[0]), family_shared(&f.guard[1]), family_shared(&f.guard[2])
    f.has_shared = sx != 0 and sy != 0 and sz != 0
    if not f.has_shared:
        return
    memset(f.shared, 0, t.words * sizeof(uint64_t))
    for ix in range(t.x):
        for iy in range(t.y if mask_has(&sx, ix) else 0):
            if mask_has(&sy, iy):
                bit = (<int64_t> ix * t.y + iy) * t.field
                f.shared[bit >> 6] |= sz << (bit & 63)


cdef bint _rooms_near(finder_t *f, const permit_t *permit) noexcept nogil:
    """_rooms, from what is free beside a few places; False: that is too much work, and f.guard is undefined.

    Large boxes have so many rooms beside them that a search of the whole machine costs less.
    """
    cdef int i
    cdef const box_t *near
    cdef int64_t enough = f.slices.looked + f.torus.limit.near_looks
    for i in range(permit.n_near):
        near = <const box_t *> &permit.near[i]
        if not (slices_pay(&f.row_maps, near)
                and slices_rooms(&f.slices, &f.row_maps, permit.later, near, permit.need, enough, f.guard)):
            return False
    return True


cdef bint _guard_holds(const finder_t *f, const uint64_t *later, bint *fewer) noexcept nogil:
    """Has this occupancy the same boxes as f.guard?  `fewer`: no node is free that was busy, so no boxes are new."""
    cdef const torus_t *t = f.torus
    cdef bint is_met = False, by_lines = not f.is_small and t.field <= 64
    cdef uint64_t more
    cdef int i, line
    fewer[0] = False
    for i in range(t.words):                            # up to here no node became free
        if f.guard_later[i] & ~later[i]:
            return False
        more = later[i] & ~f.guard_later[i]
        line = 64 * i // t.field
        while more and not is_met:                      # up to this line no box of f.guard has a node that became busy
            is_met = not by_lines or (more & ones(t.field) & f.guard_cover[2]
                                      and (f.guard_cover[0] >> line // t.y) & 1
                                      and (f.guard_cover[1] >> line % t.y) & 1)
            more = more >> t.field if t.field < 64 else 0
            line += 1
    fewer[0] = True
    return not is_met


cdef bint _guard(finder_t *f, const permit_t *permit) noexcept nogil:
    """Make f.guard the boxes of at least permit.need nodes in permit.later; True: it has none that it had not."""
    cdef bint was_made = f.guard_need > 0, fewer = False, is_within
    cdef int i
    if permit.same and permit == f.guard_permit and was_made:
        fs_require(memcmp(f.guard_later, permit.later, f.torus.words * sizeof(uint64_t)) == 0)
        return True
    f.guard_permit = permit
    if permit.need == f.guard_need and _guard_holds(f, permit.later, &fewer):
        memcpy(f.guard_later, permit.later, f.torus.words * sizeof(uint64_t))
        return True
    for i in range(3):
        f.guard[i], f.guard_before[i] = f.guard_before[i], f.guard[i]
    choose_clear(f.guard)
    if f.slices.able and permit.n_near > 0 and _rooms_near(f, permit):
        f.has_shared = False                            # bounds of candidates serve as well, and stay
    else:
        choose_clear(f.guard)
        finder_load(f, FUTURE, permit.later)
        _rooms(f, permit.need)
        _share(f)
    is_within = was_made
    for i in range(3):
        is_within = is_within and family_within(&f.guard[i], &f.guard_before[i])
        f.guard_cover[i] = family_cover(&f.guard[i])
    memcpy(f.guard_later, permit.later, f.torus.words * sizeof(uint64_t))
    f.guard_need = permit.need
    return fewer or is_within


cdef void _unblock(finder_t *f, int which, bint stays) noexcept nogil:
    """What was blocked stays so while it must: with no more boxes in f.guard, and no more free nodes in the view."""
    cdef view_t *v = &f.view[which]
    cdef int i
    if stays and f.blocked_life == v.life:
        return
    f.view[<int> PLAIN].blocked = f.blocked if which == PLAIN else NULL
    for i in range((f.torus.x + 1) * (f.torus.y + 1)):
        f.permitted[i] = f.torus.z
    f.blocked_life = v.life
    f.row_maps.lives += 1
    f.blocked_stamp = f.row_maps.lives


cdef int choose_open(finder_t *f, const uint64_t *occ, int size, permit_t *permit, bint *guarded) noexcept nogil:
    cdef const uint64_t *forbidden
    cdef int i, which = PLAIN
    cdef bint stays = False
    guarded[0] = f.some_free = False
    if size < 1 or size > f.torus.nodes:
        return -1
    finder_load(f, PLAIN, occ)
    if finder_absent(f, PLAIN, size):
        return -1
    if permit == NULL:
        return which
    forbidden = permit.forbidden
    if permit.later != NULL and permit.need > 0:
        guarded[0] = True
        stays = _guard(f, permit)
        if f.has_shared and forbidden == NULL:
            forbidden = f.shared
    if forbidden != NULL:
        which = FENCED
        if forbidden != f.shared or not f.is_joined:
            for i in range(f.torus.words):
                f.joined[i] = occ[i] | forbidden[i]
            finder_load(f, FENCED, f.joined)
            f.is_joined = forbidden == f.shared
    if guarded[0] and not f.is_small:
        _unblock(f, which, stays)                       # always: the next call of _guard compares with this one
        if f.blocked[size] == f.blocked_stamp:
            return -1
    return -1 if which == FENCED and finder_absent(f, FENCED, size) else which


cdef void _forbid(finder_t *f, const shape_t *s) noexcept nogil:
    """A shape has no candidate, and so no larger one has: each box in a candidate is a candidate, too."""
    cdef int a, b
    cdef int *cap
    for b in range(s.b, f.torus.y + 1):
        cap = &f.permitted[b * (f.torus.x + 1)]
        for a in range(s.a, f.torus.x + 1):
            cap[a] = min(cap[a], s.c - 1)


cdef bint choose_candidates(finder_t *f, int which, bint guarded, const shape_t *s, uint64_t *map) noexcept nogil:
    if guarded and not f.is_small and s.c > f.permitted[s.b * (f.torus.x + 1) + s.a]:
        f.some_free = True                              # not searched: `blocked` is reported, which is true
        return False
    if not map_shape(f, which, s, map):
        return False
    f.some_free = True
    map_canonical(f, s, map)
    if not guarded:
        return True
    choose_apart(f, f.guard, s)
    if map_filter(f, map, f.set):
        return True
    if not f.is_small:
        _forbid(f, s)
    return False


cdef void choose_none(finder_t *f, int which, bint guarded, int size) noexcept nogil:
    if f.some_free:
        f.blocked[size] = f.blocked_stamp
    else:
        finder_note_absent(f, which, size)


cdef int _list_words(const finder_t *f, int size, int order, boxes_t *list) noexcept nogil:
    """All free boxes of a size on a small torus."""
    cdef const shape_t *s
    cdef u128 map
    cdef int k
    for k in range(f.torus.first_shape[size + 1] - f.torus.first_shape[size]):
        s = choose_shape(f.torus, size, order, k)
        map = word_map_shape(&f.word_maps, f.vacant[<int> PLAIN], s.a, s.b, s.c)
        if map == 0:
            continue
        if f.torus.wrap:
            map = word_map_canonical(&f.word_maps, map, s.a, s.b, s.c)
        if word_map_list(&f.word_maps, map, s, list):
            return -1
    return 0


cdef long list_permitted(finder_t *f, const uint64_t *occ, int size, int order, permit_t *permit,
                         box_t **buf, long *cap) noexcept nogil:
    cdef bint guarded
    cdef int k, which = choose_open(f, occ, size, permit, &guarded)
    cdef const shape_t *s
    cdef boxes_t list
    if f.memory.failed:                                 # f.guard may lack boxes, so that candidates would be refused
        return -1
    if which < 0:
        return 0
    list.at, list.cap, list.n = buf[0], cap[0], 0
    if f.is_small and permit == NULL:
        k = _list_words(f, size, order, &list)
        if order == BASES:
            boxes_sort(&list, order)
        buf[0], cap[0] = list.at, list.cap
        return k if k < 0 else list.n
    for k in range(f.torus.first_shape[size + 1] - f.torus.first_shape[size]):
        s = choose_shape(f.torus, size, order, k)
        if not choose_candidates(f, which, guarded, s, f.map):
            continue
        if map_list(f, f.map, s, &list):
            buf[0], cap[0] = list.at, list.cap
            return -1
    if list.n == 0:
        choose_none(f, which, guarded, size)
    elif order == BASES:
        boxes_sort(&list, order)
    buf[0], cap[0] = list.at, list.cap
    return list.n


# -- the rules -------------------------------------------------------------------------------------------------------

cdef int largest_free(finder_t *f, const uint64_t *occ, box_t *out) noexcept nogil:
    cdef int size, k = 0
    cdef const shape_t *s
    cdef box_t base
    finder_load(f, PLAIN, occ)
    size = finder_largest(f, PLAIN)
    if out == NULL or size == 0:
        return size
    if f.row_maps.is_octet:
        out[0] = f.view[<int> PLAIN].witness
        return size
    s = choose_shape(f.torus, size, EXTENTS_DESCENDING, 0)
    while not map_shape(f, PLAIN, s, f.map):
        k += 1
        s = choose_shape(f.torus, size, EXTENTS_DESCENDING, k)
    map_canonical(f, s, f.map)
    map_pick(f, f.map, NULL, &base)
    choose_keep(s, &base, True, out)
    return size


cdef bint choose_first_fit(finder_t *f, const uint64_t *occ, int size, int order, permit_t *permit,
                           box_t *out) noexcept nogil:
    cdef bint guarded, found = False
    cdef int k, which = choose_open(f, occ, size, permit, &guarded)
    cdef const shape_t *s
    cdef box_t base
    if which < 0:
        return False
    for k in range(f.torus.first_shape[size + 1] - f.torus.first_shape[size]):
        s = choose_shape(f.torus, size, order, k)
        if not choose_candidates(f, which, guarded, s, f.map):
            continue
        map_pick(f, f.map, NULL, &base)
        choose_keep(s, &base, not found, out)
        found = True
        if order != BASES:
            return True
    if not found:
        choose_none(f, which, guarded, size)
    return found


cdef void choose_level(finder_t *f, int size) noexcept nogil:
    cdef int k
    cdef const shape_t *s
    if f.room_size == size:
        return
    f.room_size = size
    choose_clear(f.room)
    for k in range(f.torus.first_shape[size + 1] - f.torus.first_shape[size]):
        s = choose_shape(f.torus, size, BASES, k)
        if map_shape(f, PLAIN, s, f.map):
            choose_add(f, f.room, s, f.map)


cdef bint _held_pick(finder_t *f, const shape_t *s, const uint64_t *map, bint any, bint found,
                     box_t *out) noexcept nogil:
    """The first candidate of this shape that leaves a box of f.room, if it comes before `out` (by base)."""
    cdef box_t base
    if not any:
        choose_apart(f, f.room, s)
    if not map_pick(f, map, NULL if any else f.set, &base):
        return False
    choose_keep(s, &base, not found, out)
    return True


cdef bint _max_free(finder_t *f, const uint64_t *occ, int size, int order, permit_t *permit, box_t *out) noexcept nogil:
    cdef const torus_t *t = f.torus
    cdef bint guarded, found = False, some = False
    cdef int which = choose_open(f, occ, size, permit, &guarded)
    cdef int level, k, shapes = t.first_shape[size + 1] - t.first_shape[size] if which >= 0 else 0
    cdef const shape_t *s
    cdef uint64_t *map
    if which < 0:
        return False
    level = finder_largest(f, PLAIN)
    f.before = f.after = level
    if size > level:
        return False
    choose_level(f, level)
    choose_clear(f.mine)
    for k in range(shapes):
        s = choose_shape(t, size, order, k)
        map = &f.held[k * <long> f.map_words]
        f.held_shapes = k + 1
        if not choose_candidates(f, which, guarded, s, map):
            memset(map, 0, f.map_words * sizeof(uint64_t))
            continue
        some = True
        found |= _held_pick(f, s, map, False, found, out)
        if found and order != BASES:
            return True
        if not found:
            choose_add(f, f.mine, s, map)
    if found:
        return True
    if not some:
        choose_none(f, which, guarded, size)
        return False
    f.after = level = finder_search(f, PLAIN, 0, t.nodes, f.mine, NULL)
    if level:
        choose_level(f, level)
    for k in range(shapes):                             # level 0: no candidate leaves anything, the first will do
        s = choose_shape(t, size, order, k)
        found |= _held_pick(f, s, &f.held[k * <long> f.map_words], level == 0, found, out)
        if found and order != BASES:
            break
    return found


cdef inline stored_choice_t *_slot(finder_t *f, const uint64_t *occ, int size, int order) noexcept nogil:
    cdef uint64_t h = occ[0] * <uint64_t> 0x9E3779B97F4A7C15
    if f.torus.words > 1:
        h = (h ^ (h >> 29) ^ occ[1]) * <uint64_t> 0xBF58476D1CE4E5B9
    h = (h ^ (h >> 32) ^ <uint64_t> (4 * size + order)) * <uint64_t> 0x94D049BB133111EB
    return &f.memo[(h >> 40) & <uint64_t> (f.torus.limit.memo_choices - 1)]


cdef inline void _know_after(finder_t *f, const uint64_t *occ, const box_t *out) noexcept nogil:
    """The job will most likely start."""
    f.known_vacant = f.word_maps.all & ~(word_map_get(&f.word_maps, occ) | word_map_box(&f.word_maps, out))
    f.known_largest = f.after


cdef bint choose_max_free(finder_t *f, const uint64_t *occ, int size, int order, permit_t *permit,
                          box_t *out) noexcept nogil:
    cdef stored_choice_t *slot = NULL
    cdef uint64_t second = occ[1] if f.is_small and f.torus.words > 1 else 0
    cdef bint found
    f.held_shapes = 0
    if f.is_small and (permit == NULL or (permit.forbidden == NULL and (permit.later == NULL or permit.need < 1))):
        if f.memo == NULL:
            f.memo = <stored_choice_t *> arena_zeros(&f.memory, f.torus.limit.memo_choices, sizeof(stored_choice_t))
        if f.memo != NULL:
            slot = _slot(f, occ, size, order)
            if (slot.epoch == f.epoch and slot.occ[0] == occ[0] and slot.occ[1] == second and slot.size == size
                    and slot.order == order):
                if slot.found:
                    out[0] = slot.out
                    f.before, f.after = slot.before, slot.after
                    _know_after(f, occ, out)
                return slot.found
    found = _max_free(f, occ, size, order, permit, out)
    if slot != NULL:
        slot.occ[0], slot.occ[1], slot.size, slot.order = occ[0], second, size, order
        slot.epoch, slot.found = f.epoch, found
        if found:
            slot.out, slot.before, slot.after = out[0], f.before, f.after
    if found and f.is_small:
        _know_after(f, occ, out)
    return found
