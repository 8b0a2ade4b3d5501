"""Listed shapes at listed anchors: the rule (model.md#slurm-torus); the contract is in listed.pxd."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

from faultsim._core.containers.bits cimport fs_lowest, mask_count, mask_has
from faultsim._core.containers.memory cimport arena_free, arena_get, arena_zeros

cdef extern from "anchor_maps.h" nogil:
    ctypedef struct fs_map_loops:
        void (*turn)(uint64_t *dst, const uint64_t *src, long n, const fs_turn_t *t) noexcept nogil
        uint64_t (*both)(uint64_t *dst, const uint64_t *a, long n) noexcept nogil
        uint64_t (*without)(uint64_t *dst, const uint64_t *a, const uint64_t *b, long n) noexcept nogil
        uint64_t (*half)(uint64_t *dst, uint64_t *carry, const uint64_t *a, const uint64_t *b, long n) noexcept nogil
        uint64_t (*full)(uint64_t *dst, uint64_t *carry, const uint64_t *a, const uint64_t *b, long n) noexcept nogil
    const fs_map_loops *fs_best_map_loops()

cdef const fs_map_loops *LOOPS = fs_best_map_loops()


# ---------------------------------------------------------------------------------------------- turns and windows

cdef const fs_turn_t *turn_of(listed_t *r, listed_torus_t *t, int axis, int k) noexcept nogil:
    """The turn by which a base meets what is true k further along an axis, 0 < k < extent; made once.  NULL: no memory.
    """
    cdef fs_turn_t **kept = &t.turn[axis * (t.extent[0] + t.extent[1] + t.extent[2]) + k]
    cdef fs_turn_t *turn = kept[0]
    cdef uint64_t *low
    cdef uint64_t *high
    cdef int64_t stride, bit
    cdef int x, y, z, at
    if turn != NULL:
        return turn
    turn = <fs_turn_t *>arena_get(&r.memory, 1, sizeof(fs_turn_t))
    low = <uint64_t *>arena_zeros(&r.memory, t.words, sizeof(uint64_t))
    high = <uint64_t *>arena_zeros(&r.memory, t.words, sizeof(uint64_t))
    if r.memory.failed:
        return NULL
    for x in range(t.extent[0]):
        for y in range(t.extent[1]):
            for z in range(t.extent[2]):
                at = x if axis == 0 else y if axis == 1 else z
                bit = base_bit(t, x, y, z)
                if at < t.extent[axis] - k:
                    low[bit >> 6] |= (<uint64_t>1) << (bit & 63)
                else:
                    high[bit >> 6] |= (<uint64_t>1) << (bit & 63)
    stride = 1 if axis == 2 else t.field if axis == 1 else <int64_t>t.extent[1] * t.field
    turn.low, turn.high, turn.right, turn.left = low, high, k * stride, (t.extent[axis] - k) * stride
    kept[0] = turn
    return turn


cdef inline uint64_t join_turned(listed_t *r, listed_torus_t *t, uint64_t *map_, int axis, int k) noexcept nogil:
    """A map and itself k further: whether a bit is left."""
    cdef const fs_turn_t *turn = turn_of(r, t, axis, k)
    if turn == NULL:
        return 0
    LOOPS.turn(t.turned, map_, t.words, turn)
    return LOOPS.both(map_, t.turned, t.words)


cdef bint free_bases(listed_t *r, listed_torus_t *t, const uint64_t *free, const listed_shape_t *s, bint complete,
                     uint64_t *out) noexcept nogil:
    """Bases of the shape's anchors, their boxes being in `free`; whether there is one."""
    cdef int axis, length, extent
    cdef uint64_t left = 1
    memcpy(out, free, <size_t>t.words * sizeof(uint64_t))
    for axis in range(2, -1, -1):
        extent, length = s.extent[axis], 1
        # Invariant: `out` has the bases from which runs of `length` along this axis are free.
        while length < extent and left:
            left = join_turned(r, t, out, axis, min(length, extent - length))
            length = min(2 * length, extent)
    r.looked += t.words
    return left and LOOPS.both(out, s.complete if complete else s.anchors, t.words)


cdef inline uint64_t *plane_at(const listed_torus_t *t, int which, int i) noexcept nogil:
    return t.plane[which] + <int64_t>i * t.words


cdef int add_turned(listed_t *r, listed_torus_t *t, int into, int a, int na, int b, int nb, int axis,
                    int k) noexcept nogil:
    """Counters `into` = a + (b turned by k, not at all for 0), of na >= nb planes; the planes of the sum."""
    cdef const fs_turn_t *turn = NULL
    cdef const uint64_t *more
    cdef uint64_t any = 0
    cdef int i
    if k:
        turn = turn_of(r, t, axis, k)
        if turn == NULL:
            return 0
    for i in range(na):
        more = t.zero
        if i < nb and turn != NULL:
            LOOPS.turn(t.turned, plane_at(t, b, i), t.words, turn)
            more = t.turned
        elif i < nb:
            more = plane_at(t, b, i)
        if i == 0:
            any = LOOPS.half(plane_at(t, into, 0), t.carry, plane_at(t, a, 0), more, t.words)
        else:
            any = LOOPS.full(plane_at(t, into, i), t.carry, plane_at(t, a, i), more, t.words)
    if any and na < t.room_planes:
        memcpy(plane_at(t, into, na), t.carry, <size_t>t.words * sizeof(uint64_t))
        return na + 1
    return na


cdef inline void copy_planes(listed_torus_t *t, int into, int source, int n) noexcept nogil:
    memcpy(t.plane[into], t.plane[source], <size_t>n * t.words * sizeof(uint64_t))


cdef int count_meeting(listed_t *r, listed_torus_t *t, const listed_shape_t *s,
                       const listed_shape_t *other) noexcept nogil:
    """How many boxes of `others`, bases of another shape, the box at each base meets: plane[0]; the number of planes.

    A box of extent a at p meets one of extent A at q, on an axis, if and only if q is in [p - A + 1, p + a - 1].
    """
    cdef int axis, window, length, step, n = 1, n_each, at = 0, to = 1
    cdef const fs_turn_t *turn
    memcpy(t.plane[0], t.others, <size_t>t.words * sizeof(uint64_t))
    for axis in range(2, -1, -1):
        window = min(s.extent[axis] + other.extent[axis] - 1, t.extent[axis])
        if window < t.extent[axis] and other.extent[axis] > 1 and n == 1:
            turn = turn_of(r, t, axis, t.extent[axis] - other.extent[axis] + 1)
            if turn == NULL:
                return 0
            LOOPS.turn(t.turned, t.plane[at], t.words, turn)
            memcpy(t.plane[at], t.turned, <size_t>t.words * sizeof(uint64_t))
        elif window < t.extent[axis] and other.extent[axis] > 1:
            turn = turn_of(r, t, axis, t.extent[axis] - other.extent[axis] + 1)
            if turn == NULL:
                return 0
            for step in range(n):
                LOOPS.turn(plane_at(t, to, step), plane_at(t, at, step), t.words, turn)
            at, to = to, at
        if window == 1:
            continue
        n_each = n
        if window & (window - 1):
            copy_planes(t, 2, at, n)
        length, step = 1, 1
        while 2 * step <= window:
            step *= 2
        # Invariant: the counters have the sum over `length` bases along this axis, the leading bits of `window`.
        while length < window:
            step >>= 1
            n = add_turned(r, t, to, at, n, at, n, axis, length)
            at, to = to, at
            length *= 2
            if window & step:
                n = add_turned(r, t, to, at, n, 2, n_each, axis, length)
                at, to = to, at
                length += 1
    if at != 0:
        copy_planes(t, 0, at, n)
    r.looked += <int64_t>n * t.words
    return n


cdef int64_t least_anchor(listed_torus_t *t, uint64_t *alive) noexcept nogil:
    """Keeps the bases of least count, of one at least; that count."""
    cdef int64_t least = 0
    cdef int i
    for i in range(t.n_planes - 1, -1, -1):
        if LOOPS.without(t.turned, alive, plane_at(t, 0, i), t.words):
            memcpy(alive, t.turned, <size_t>t.words * sizeof(uint64_t))
        else:
            least |= (<int64_t>1) << i
    return least


# ---------------------------------------------------------------------------------------------- the order of anchors

cdef bint any_between(const uint64_t *map_, int64_t first, int64_t end) noexcept nogil:
    cdef int64_t i, low = first >> 6, high = (end - 1) >> 6
    cdef uint64_t word
    for i in range(low, high + 1):
        word = map_[i]
        if i == low:
            word &= (~<uint64_t>0) << (first & 63)
        if i == high:
            word &= (~<uint64_t>0) >> (63 - ((end - 1) & 63))
        if word:
            return True
    return False


cdef inline void box_at(const listed_torus_t *t, const listed_shape_t *s, int64_t bit, box_t *out) noexcept nogil:
    cdef int64_t line = bit // t.field
    out.x, out.y, out.z = <int>(line // t.extent[1]), <int>(line % t.extent[1]), <int>(bit % t.field)
    out.a, out.b, out.c = s.extent[0], s.extent[1], s.extent[2]


cdef void first_base(const listed_torus_t *t, const listed_shape_t *s, const uint64_t *bases,
                     box_t *out) noexcept nogil:
    """The first of the bases, of which there is one, in the order of anchors."""
    cdef int64_t slab = <int64_t>t.extent[1] * t.field, line
    cdef int i, x = 0, y = 0
    if s.ascending:
        i = 0
        while bases[i] == 0:
            i += 1
        box_at(t, s, ((<int64_t>i) << 6) + fs_lowest(bases[i]), out)
        return
    for i in range(s.positions[0]):
        x = s.walk[0][i]
        if any_between(bases, x * slab, (x + 1) * slab):
            break
    for i in range(s.positions[1]):
        y = s.walk[1][i]
        line = x * slab + <int64_t>y * t.field
        if any_between(bases, line, line + t.field):
            break
    for i in range(s.positions[2]):
        if mask_has(bases, base_bit(t, x, y, s.walk[2][i])):
            box_at(t, s, base_bit(t, x, y, s.walk[2][i]), out)
            return


# ---------------------------------------------------------------------------------------------- scores

cdef void count_costs(listed_t *r, listed_torus_t *t, const listed_shape_t *s) noexcept nogil:
    t.n_planes = 0
    if s.larger >= 0 and free_bases(r, t, t.open, &t.shape[s.larger], False, t.others):
        t.n_planes = count_meeting(r, t, s, &t.shape[s.larger])


cdef bint best_within(listed_t *r, listed_torus_t *t, const listed_shape_t *s, bint counted, permits_t permits,
                      void *context, box_t *out) noexcept nogil:
    """Of `bases`, the candidates of a shape, the first permitted one of least cost."""
    t.n_planes = 0
    if counted:
        count_costs(r, t, s)
    while True:
        memcpy(t.rest, t.bases, <size_t>t.words * sizeof(uint64_t))
        least_anchor(t, t.rest)
        first_base(t, s, t.rest, out)
        if permits == NULL or permits(context, out):
            return True
        drop_base(t, t.bases, out)
        if not has_any(t, t.bases):
            return False


cdef int64_t cost_of_next_size(listed_t *r, listed_torus_t *t, const listed_shape_t *s,
                               const uint64_t *alive) noexcept nogil:
    """`rest` = the candidates of least cost over all shapes of the next larger size; that cost."""
    cdef int i, n = 1, more, size
    memset(t.plane[3], 0, <size_t>t.words * sizeof(uint64_t))
    if s.larger >= 0:
        i, size = s.larger, t.shape[s.larger].size
        while i < t.n_shapes and t.shape[i].size == size:
            if free_bases(r, t, t.open, &t.shape[i], False, t.others):
                more = count_meeting(r, t, s, &t.shape[i])
                # plane[0] is the larger summand in `add_turned`, by its planes.
                if more >= n:
                    n = add_turned(r, t, 1, 0, more, 3, n, 0, 0)
                else:
                    n = add_turned(r, t, 1, 3, n, 0, more, 0, 0)
                copy_planes(t, 3, 1, n)
            i += 1
    copy_planes(t, 0, 3, n)
    t.n_planes = n
    memcpy(t.rest, alive, <size_t>t.words * sizeof(uint64_t))
    return least_anchor(t, t.rest)


cdef bint best_of_next_size(listed_t *r, listed_torus_t *t, int first, int end, permits_t permits, void *context,
                            box_t *out) noexcept nogil:
    cdef int64_t least, cost
    cdef int i, best
    while True:
        best, least = -1, 0
        for i in range(first, end):
            if not has_any(t, t.alive[i - first]):
                continue
            cost = cost_of_next_size(r, t, &t.shape[i], t.alive[i - first])
            if best < 0 or cost < least:
                best, least = i, cost
                first_base(t, &t.shape[i], t.rest, out)
        if best < 0:
            return False
        if permits == NULL or permits(context, out):
            return True
        drop_base(t, t.alive[best - first], out)


cdef void spare_of(listed_t *r, listed_torus_t *t, const listed_shape_t *s, const listed_shape_t *other,
                   const uint64_t *alive, uint64_t *into) noexcept nogil:
    """Adds the candidates that leave one of `others` free: those that do not meet all of them."""
    cdef int64_t total = mask_count(t.others, t.words)
    cdef int i, n = count_meeting(r, t, s, other)
    cdef int32_t w
    cdef uint64_t equal, plane
    for w in range(t.words):
        equal = (~<uint64_t>0) if total >> n == 0 else 0
        for i in range(n):
            plane = plane_at(t, 0, i)[w]
            equal &= plane if total >> i & 1 else ~plane
        into[w] |= alive[w] & ~equal


cdef bint first_permitted(listed_torus_t *t, const listed_shape_t *s, uint64_t *bases, permits_t permits,
                          void *context, box_t *out) noexcept nogil:
    while has_any(t, bases):
        first_base(t, s, bases, out)
        if permits == NULL or permits(context, out):
            return True
        drop_base(t, bases, out)
    return False


cdef bint best_by_rest(listed_t *r, listed_torus_t *t, int first, int end, permits_t permits, void *context,
                       box_t *out) noexcept nogil:
    """The candidate that leaves the largest listed box, the first of these that is permitted."""
    cdef int group, after = t.n_shapes, i, k, size
    # Invariant: no candidate that leaves a box of the size of shape `after`, or of a larger one, is permitted.
    while after > 0:
        size = t.shape[after - 1].size
        group = listed_from_size(t, size)
        for i in range(first, end):
            memset(t.level[i - first], 0, <size_t>t.words * sizeof(uint64_t))
        for k in range(group, after):
            if free_bases(r, t, t.available, &t.shape[k], True, t.others):
                for i in range(first, end):
                    if has_any(t, t.alive[i - first]):
                        spare_of(r, t, &t.shape[i], &t.shape[k], t.alive[i - first], t.level[i - first])
        for i in range(first, end):
            if first_permitted(t, &t.shape[i], t.level[i - first], permits, context, out):
                return True
        after = group
    for i in range(first, end):
        if first_permitted(t, &t.shape[i], t.alive[i - first], permits, context, out):
            return True
    return False


cdef bint best_by_chance(listed_torus_t *t, int first, int end, uint64_t key, permits_t permits, void *context,
                         box_t *out) noexcept nogil:
    cdef uint64_t word, hash_, least = 0
    cdef bint found
    cdef box_t box
    cdef int32_t i
    cdef int k, best
    while True:
        found, best = False, first
        for k in range(first, end):
            for i in range(t.words):
                word = t.alive[k - first][i]
                while word:
                    box_at(t, &t.shape[k], ((<int64_t>i) << 6) + fs_lowest(word), &box)
                    word &= word - 1
                    hash_ = splitmix64(key + <uint64_t>((box.x * t.extent[1] + box.y) * t.extent[2] + box.z))
                    hash_ = splitmix64(hash_ + (<uint64_t>box.a << 42) + (<uint64_t>box.b << 21) + <uint64_t>box.c)
                    if not found or hash_ < least:
                        found, least, best, out[0] = True, hash_, k, box
        if not found or permits == NULL or permits(context, out):
            return found
        drop_base(t, t.alive[best - first], out)


cdef bint listed_best(listed_t *r, int torus, int size, int score, uint64_t key, permits_t permits, void *context,
                      box_t *out) noexcept nogil:
    """The box for a job of this size on one torus, with what `available` and `open` have; False: there is none."""
    cdef listed_torus_t *t = &r.torus[torus]
    cdef int i, first = listed_from_size(t, size), end
    cdef bint found = False
    end = listed_from_size(t, size + 1)
    for i in range(first, end):
        if score == SCORE_SLURM or score == SCORE_FIRST:
            if (free_bases(r, t, t.available, &t.shape[i], True, t.bases)
                    and best_within(r, t, &t.shape[i], score == SCORE_SLURM, permits, context, out)):
                return True
        elif free_bases(r, t, t.available, &t.shape[i], True, t.alive[i - first]):
            found = True
        else:
            memset(t.alive[i - first], 0, <size_t>t.words * sizeof(uint64_t))
    if not found:
        return False
    if score == SCORE_NEXT_SIZE:
        return best_of_next_size(r, t, first, end, permits, context, out)
    if score == SCORE_LARGEST_LEFT:
        return best_by_rest(r, t, first, end, permits, context, out)
    return best_by_chance(t, first, end, key, permits, context, out)


# ---------------------------------------------------------------------------------------------- what is free

cdef int listed_from_size(const listed_torus_t *t, int size) noexcept nogil:
    cdef int low = 0, high = t.n_shapes, mid
    while low < high:
        mid = (low + high) >> 1
        if t.shape[mid].size < size:
            low = mid + 1
        else:
            high = mid
    return low


cdef void listed_set_free(listed_torus_t *t, const uint64_t *busy, const uint64_t *forbidden) noexcept nogil:
    cdef int32_t i
    cdef uint64_t taken
    for i in range(t.words):
        taken = busy[i] if forbidden == NULL else busy[i] | forbidden[i]
        t.available[i] = t.filled[i] & ~taken
        t.open[i] = t.available[i]


cdef void listed_drop(listed_torus_t *t, const box_t *box) noexcept nogil:
    cdef int i, j, k
    cdef int64_t bit
    for i in range(box.a):
        for j in range(box.b):
            for k in range(box.c):
                bit = base_bit(t, (box.x + i) % t.extent[0], (box.y + j) % t.extent[1], (box.z + k) % t.extent[2])
                t.available[bit >> 6] &= ~((<uint64_t>1) << (bit & 63))
                t.open[bit >> 6] &= ~((<uint64_t>1) << (bit & 63))


cdef bint listed_has(listed_t *r, listed_torus_t *t, const uint64_t *busy, int size) noexcept nogil:
    cdef int i
    cdef int32_t w
    for w in range(t.words):
        t.spare[w] = t.filled[w] & ~busy[w]
    for i in range(listed_from_size(t, size), listed_from_size(t, size + 1)):
        if free_bases(r, t, t.spare, &t.shape[i], True, t.carry):
            return True
    return False


# ---------------------------------------------------------------------------------------------- set up

cdef int listed_begin(listed_t *r, int n_tori) noexcept nogil:
    memset(r, 0, sizeof(listed_t))
    r.torus = <listed_torus_t *>arena_zeros(&r.memory, n_tori, sizeof(listed_torus_t))
    return -1 if r.memory.failed else 0


cdef int listed_add_torus(listed_t *r, int x, int y, int z, int field, const int32_t *node,
                          int n_shapes) noexcept nogil:
    cdef listed_torus_t *t = &r.torus[r.n_tori]
    cdef size_t words
    cdef int64_t bit
    cdef int cell
    t.extent[0], t.extent[1], t.extent[2] = x, y, z
    t.field, t.cells, t.full = field, x * y * z, True
    t.words = <int32_t>((<int64_t>x * y * field + 63) >> 6)
    words = <size_t>t.words
    t.filled = <uint64_t *>arena_zeros(&r.memory, words, sizeof(uint64_t))
    t.turn = <fs_turn_t **>arena_zeros(&r.memory, 3 * (<size_t>x + y + z), sizeof(void *))
    t.shape = <listed_shape_t *>arena_zeros(&r.memory, n_shapes + 1, sizeof(listed_shape_t))
    t.available = <uint64_t *>arena_zeros(&r.memory, words, sizeof(uint64_t))
    t.open = <uint64_t *>arena_zeros(&r.memory, words, sizeof(uint64_t))
    t.bases = <uint64_t *>arena_zeros(&r.memory, words, sizeof(uint64_t))
    t.others = <uint64_t *>arena_zeros(&r.memory, words, sizeof(uint64_t))
    t.turned = <uint64_t *>arena_zeros(&r.memory, words, sizeof(uint64_t))
    t.carry = <uint64_t *>arena_zeros(&r.memory, words, sizeof(uint64_t))
    t.spare = <uint64_t *>arena_zeros(&r.memory, words, sizeof(uint64_t))
    t.rest = <uint64_t *>arena_zeros(&r.memory, words, sizeof(uint64_t))
    t.zero = <uint64_t *>arena_zeros(&r.memory, words, sizeof(uint64_t))
    if node != NULL:
        t.node = <int32_t *>arena_get(&r.memory, t.cells, sizeof(int32_t))
    if r.memory.failed:
        return -1
    for cell in range(t.cells):
        if node != NULL:
            t.node[cell] = node[cell]
            if node[cell] < 0:
                t.full = False
                continue
        bit = <int64_t>(cell // z) * field + cell % z
        t.filled[bit >> 6] |= (<uint64_t>1) << (bit & 63)
    r.n_tori += 1
    return 0


cdef int walk_along(listed_t *r, listed_torus_t *t, listed_shape_t *s, int axis) noexcept nogil:
    """The positions in walking order; -1: no memory."""
    cdef int at = s.seed[axis], n = 0
    s.walk[axis] = <int32_t *>arena_get(&r.memory, t.extent[axis], sizeof(int32_t))
    if r.memory.failed:
        return -1
    while n == 0 or at != s.seed[axis]:
        if n > 0 and at < s.walk[axis][n - 1]:
            s.ascending = False
        s.walk[axis][n] = at
        n += 1
        at = (at + s.spacing[axis]) % t.extent[axis]
    s.positions[axis] = n
    # The distance between neighbours of a ring is its length by the number of positions.
    if t.extent[axis] // n < s.extent[axis]:
        s.overlaps = True
    return 0


cdef inline int divisor_of_two(int a, int b) noexcept nogil:
    while b:
        a, b = b, a % b
    return a


cdef bint can_meet(const listed_torus_t *t, const listed_shape_t *p, const listed_shape_t *q) noexcept nogil:
    """Whether boxes of two shapes can meet: on all three axes."""
    cdef const listed_shape_t *low
    cdef const listed_shape_t *high
    cdef int axis, step, gap
    for axis in range(3):
        if p.seed[axis] == q.seed[axis]:
            continue
        low, high = (p, q) if p.seed[axis] < q.seed[axis] else (q, p)
        step = divisor_of_two(divisor_of_two(low.spacing[axis], high.spacing[axis]), t.extent[axis])
        gap = (high.seed[axis] - low.seed[axis]) % step
        if not (gap < low.extent[axis] or step - gap < high.extent[axis]):
            return False
    return True


cdef int listed_add_shape(listed_t *r, int torus, const int32_t *numbers) noexcept nogil:
    """A shape that is no smaller than the ones before: extents, spacings (0: as the extent), seeds."""
    cdef listed_torus_t *t = &r.torus[torus]
    cdef listed_shape_t *s = &t.shape[t.n_shapes]
    cdef int axis, i, j, k
    cdef int64_t bit
    s.ascending, s.larger = True, -1
    for axis in range(3):
        s.extent[axis], s.seed[axis] = numbers[axis], numbers[6 + axis]
        s.spacing[axis] = numbers[3 + axis] if numbers[3 + axis] else numbers[axis]
        if walk_along(r, t, s, axis) < 0:
            return -1
    s.size = s.extent[0] * s.extent[1] * s.extent[2]
    s.n_anchors = <int64_t>s.positions[0] * s.positions[1] * s.positions[2]
    s.anchors = <uint64_t *>arena_zeros(&r.memory, t.words, sizeof(uint64_t))
    s.complete = s.anchors if t.full else <uint64_t *>arena_zeros(&r.memory, t.words, sizeof(uint64_t))
    if r.memory.failed:
        return -1
    for i in range(s.positions[0]):
        for j in range(s.positions[1]):
            for k in range(s.positions[2]):
                bit = base_bit(t, s.walk[0][i], s.walk[1][j], s.walk[2][k])
                s.anchors[bit >> 6] |= (<uint64_t>1) << (bit & 63)
    if not t.full:
        if free_bases(r, t, t.filled, s, False, t.bases):
            memcpy(s.complete, t.bases, <size_t>t.words * sizeof(uint64_t))
        if r.memory.failed:
            return -1
    i = t.n_shapes - 1
    while i >= 0 and t.shape[i].size == s.size:
        if not (s.overlaps and t.shape[i].overlaps) and can_meet(t, s, &t.shape[i]):
            s.overlaps = t.shape[i].overlaps = True
        i -= 1
    t.n_shapes += 1
    return 0


cdef int listed_ready(listed_t *r) noexcept nogil:
    """After the last shape: reference shapes, and room for counters."""
    cdef listed_torus_t *t
    cdef int torus, i, most, k
    cdef int64_t anchors, largest
    for torus in range(r.n_tori):
        t = &r.torus[torus]
        most, largest, i = 0, 1, 0
        # Invariant: the shapes before i have their reference shape.
        while i < t.n_shapes:
            k, anchors = listed_from_size(t, t.shape[i].size + 1), 0
            most = max(most, k - i)
            while i < k:
                anchors += t.shape[i].n_anchors
                t.shape[i].larger = k if k < t.n_shapes else -1
                i += 1
            largest = max(largest, anchors)
        t.room_planes, t.most_shapes = 1, most
        while largest >> t.room_planes:
            t.room_planes += 1
        for i in range(4):
            t.plane[i] = <uint64_t *>arena_zeros(&r.memory, <size_t>t.room_planes * t.words, sizeof(uint64_t))
        t.alive = <uint64_t **>arena_zeros(&r.memory, most + 1, sizeof(void *))
        t.level = <uint64_t **>arena_zeros(&r.memory, most + 1, sizeof(void *))
        if r.memory.failed:
            return -1
        for i in range(most):
            t.alive[i] = <uint64_t *>arena_zeros(&r.memory, t.words, sizeof(uint64_t))
            t.level[i] = <uint64_t *>arena_zeros(&r.memory, t.words, sizeof(uint64_t))
    return -1 if r.memory.failed else 0


cdef void listed_end(listed_t *r) noexcept nogil:
    arena_free(&r.memory)
    memset(r, 0, sizeof(listed_t))
