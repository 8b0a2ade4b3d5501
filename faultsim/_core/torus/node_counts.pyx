"""How many of some marked nodes a box holds; see node_counts.pxd."""

from libc.limits cimport INT_MAX
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memset

from faultsim._core.containers.bits cimport fs_lowest, fs_popcount, ones
from faultsim._core.containers.memory cimport arena_get
from faultsim._core.torus.row_maps cimport row_map_next
from faultsim._core.torus.word_maps cimport (
    FS_HIGH, axis_t, u128, word_map_box, word_map_get, word_map_next, word_map_turn, word_maps_t,
)
from faultsim._core.torus.occupancy cimport box_t, torus_t


cdef int counts_load(counts_t *c, const torus_t *torus, const word_maps_t *word_maps, row_maps_t *row_maps,
                     const uint64_t *mask, const uint64_t *occ, const uint64_t *other, bint whether,
                     arena_t *memory) noexcept nogil:
    cdef int i, line
    cdef int64_t bit
    cdef uint64_t w
    c.torus, c.word_maps, c.row_maps, c.whether, c.n = torus, word_maps, row_maps, whether, 0
    if not c.has_memory and not _reserve(c, memory):
        return -1
    for i in range(torus.words):
        w = mask[i] & ~occ[i]
        if other != NULL:
            w &= ~other[i]
        c.mark[i] = w
        while w:
            bit = <int64_t> i * 64 + fs_lowest(w)
            w &= w - 1
            line = <int> (bit // torus.field)
            c.node[c.n] = line * torus.z + <int> (bit - <int64_t> line * torus.field)
            c.n += 1
    c.planes = 1
    while not whether and (<int64_t> 1 << c.planes) <= c.n:
        c.planes += 1
    return c.n


cdef inline bint _is_dense(const counts_t *c, int a, int b) noexcept nogil:
    """Is it cheaper to add up numbers (some steps a node of the machine) than planes (some a row of each marked node)?
    """
    cdef int64_t least = c.torus.limit.dense_counts * <int64_t> c.torus.nodes
    return c.word_maps == NULL and <int64_t> c.n * (a * c.row_maps.row + b) > least


cdef bint _reserve(counts_t *c, arena_t *memory) noexcept nogil:
    """Memory for counts up to the number of nodes; False: there is none."""
    cdef const torus_t *t = c.torus
    cdef int planes = 1
    while (<int64_t> 1 << planes) <= t.nodes:
        planes += 1
    c.words = sizeof(u128) // sizeof(uint64_t) if c.word_maps != NULL else c.row_maps.size
    c.node = <int32_t *> arena_get(memory, t.nodes, sizeof(int32_t))
    c.mark = <uint64_t *> arena_get(memory, t.words, sizeof(uint64_t))
    c.plane = <uint64_t *> arena_get(memory, planes * c.words, sizeof(uint64_t))
    if c.word_maps == NULL:
        c.row = <uint64_t *> arena_get(memory, c.row_maps.row, sizeof(uint64_t))
        c.sum = <uint32_t *> arena_get(memory, 3 * <size_t> t.nodes, sizeof(uint32_t))
    c.has_memory = not memory.failed
    return c.has_memory


# -- a torus in one integer ------------------------------------------------------------------------------------------

cdef inline u128 _spread(const axis_t *axis, u128 w, int extent) noexcept nogil:
    """The bases of this extent that cover a node of w."""
    cdef int have = 1, k
    while have < extent:
        k = min(have, extent - have)
        w |= word_map_turn(axis, w, k)
        have += k
    return w


cdef void _planes_words(counts_t *c) noexcept nogil:
    cdef const word_maps_t *s = c.word_maps
    cdef u128 *plane = <u128 *> c.plane
    cdef u128 carry, w
    cdef int i, j
    if c.whether:
        w = 0
        for i in range(c.n):
            w |= (<u128> 1) << c.node[i]
        plane[0] = _spread(&s.x, _spread(&s.y, _spread(&s.z, w, c.c), c.b), c.a)
        return
    for i in range(c.n):
        w = (<u128> 1) << c.node[i]
        carry = _spread(&s.x, _spread(&s.y, _spread(&s.z, w, c.c), c.b), c.a)
        j = 0
        while carry:
            w = plane[j] & carry
            plane[j] ^= carry
            carry = w
            j += 1


# -- row maps --------------------------------------------------------------------------------------------------------

cdef void _cover_row(counts_t *c, int y, int z) noexcept nogil:
    """The bases in a row from which the shape covers (y, z)."""
    cdef const torus_t *t = c.torus
    cdef int b = c.b, d = c.c, i, k, iy, iz
    cdef int64_t bit
    cdef uint64_t run = 0
    memset(c.row, 0, c.row_maps.row * sizeof(uint64_t))
    if c.row_maps.words == 1:
        run = ones(d) << (z - d + 1) if z >= d - 1 else ones(z + 1) | (ones(d - z - 1) << (z - d + 1 + t.z))
    for i in range(b):
        iy = y - i if y >= i else y - i + t.y
        bit = <int64_t> iy * t.field
        c.row[bit >> 6] |= run << (bit & 63)
        for k in range(d if c.row_maps.words > 1 else 0):
            iz = z - k if z >= k else z - k + t.z
            c.row[(bit + iz) >> 6] |= <uint64_t> 1 << ((bit + iz) & 63)


cdef void _planes_rows(counts_t *c) noexcept nogil:
    cdef const torus_t *t = c.torus
    cdef int row = c.row_maps.row, i, k, word, x
    cdef long j
    cdef uint64_t carry, w
    cdef uint64_t *plane
    for i in range(c.n):
        x = c.node[i] // (t.y * t.z)
        _cover_row(c, c.node[i] // t.z % t.y, c.node[i] % t.z)
        for k in range(c.a):
            plane = &c.plane[(x - k if x >= k else x - k + t.x) * row]
            for word in range(row):
                carry = c.row[word]
                if c.whether:
                    plane[word] |= carry
                    continue
                j = word
                while carry:
                    w = plane[j] & carry
                    plane[j] ^= carry
                    carry = w
                    j += c.words


cdef void _window(const uint32_t *src, uint32_t *dst, int blocks, int n, long inner, int extent) noexcept nogil:
    """Sums of `extent` neighbours along the middle axis of (blocks, n, inner), on a ring."""
    cdef long block, i, k, at
    cdef const uint32_t *s
    cdef const uint32_t *gained
    cdef uint32_t *d
    for block in range(blocks):
        s, d = &src[block * n * inner], &dst[block * n * inner]
        memset(d, 0, inner * sizeof(uint32_t))
        for i in range(extent):
            for k in range(inner):
                d[k] += s[i * inner + k]
        for i in range(1, n):
            at = i * inner
            gained = &s[(i - 1 + extent) % n * inner]
            for k in range(inner):
                d[at + k] = d[at - inner + k] + gained[k] - s[at - inner + k]


cdef void _numbers(counts_t *c) noexcept nogil:
    cdef const torus_t *t = c.torus
    cdef uint32_t *flag = &c.sum[t.nodes]
    cdef int i
    memset(flag, 0, t.nodes * sizeof(uint32_t))
    for i in range(c.n):
        flag[c.node[i]] = 1
    _window(flag, c.sum, t.x * t.y, t.z, 1, c.c)
    _window(c.sum, &flag[t.nodes], t.x, t.y, t.z, c.b)
    _window(&flag[t.nodes], c.sum, 1, t.x, <long> t.y * t.z, c.a)


# -- base by base ----------------------------------------------------------------------------------------------------

cdef int counts_box(const counts_t *c, const box_t *box) noexcept nogil:
    cdef const torus_t *t = c.torus
    cdef u128 nodes
    cdef int i, x, y, z, k = 0
    if c.word_maps != NULL:
        nodes = word_map_box(c.word_maps, box) & word_map_get(c.word_maps, c.mark)
        k = fs_popcount(<uint64_t> nodes) + fs_popcount(FS_HIGH(nodes))
    else:
        for i in range(c.n):
            x = c.node[i] // (t.y * t.z) - box.x
            y = c.node[i] // t.z % t.y - box.y
            z = c.node[i] % t.z - box.z
            if ((x if x >= 0 else x + t.x) < box.a and (y if y >= 0 else y + t.y) < box.b
                    and (z if z >= 0 else z + t.z) < box.c):
                k += 1
    return min(k, 1) if c.whether else k


cdef bint _next(counts_t *c, const uint64_t *map, long *at, int *count) noexcept nogil:
    """The next base of a map, and its count."""
    cdef box_t box
    cdef int k
    if c.word_maps != NULL:
        if not word_map_next(c.word_maps, (<const u128 *> map)[0], at, &box):
            return False
    elif not row_map_next(c.row_maps, map, at, &box):
        return False
    if c.has_sum:
        k = <int> c.sum[(box.x * c.torus.y + box.y) * c.torus.z + box.z]
        count[0] = min(k, 1) if c.whether else k
    else:
        box.a, box.b, box.c = c.a, c.b, c.c
        count[0] = counts_box(c, &box)
    return True


cdef bint _cap_each(counts_t *c, uint64_t *map, int k) noexcept nogil:
    cdef long at = 0
    cdef int count
    cdef bint any = False
    while _next(c, map, &at, &count):
        if count <= k:
            any = True
        else:
            map[(at - 1) >> 6] &= ~(<uint64_t> 1 << ((at - 1) & 63))
    return any


cdef int _least_each(counts_t *c, uint64_t *map) noexcept nogil:
    cdef long at = 0, first = -1, i
    cdef int count, least = INT_MAX
    while _next(c, map, &at, &count):
        if count < least:
            least, first = count, at - 1
    if first < 0:
        return least
    # those before the first have more; so have, as a rule, most of the others
    for i in range(first >> 6):
        map[i] = 0
    map[first >> 6] &= ~<uint64_t> 0 << (first & 63)
    _cap_each(c, map, least)
    return least


cdef inline void _ready(counts_t *c, const uint64_t *map) noexcept nogil:
    """Count all bases at once unless the map has few."""
    cdef int64_t bases = 0, one, all
    cdef long i
    if c.has_planes or c.has_sum:
        return
    if c.word_maps != NULL:
        one, all = 1, c.n // 2
    else:
        one = 2 * c.n
        all = c.n * (<int64_t> 2 * c.a * c.row_maps.row + c.b) + 2 * c.planes * c.words
    all *= c.torus.limit.single_bases
    for i in range(c.words):
        bases += fs_popcount(map[i])
        if bases * one > all:
            break
    if bases * one <= all:
        return
    c.has_sum = _is_dense(c, c.a, c.b)
    c.has_planes = not c.has_sum
    if c.has_sum:
        _numbers(c)
        return
    memset(c.plane, 0, c.planes * c.words * sizeof(uint64_t))
    if c.word_maps != NULL:
        _planes_words(c)
    else:
        _planes_rows(c)


# -- the questions ---------------------------------------------------------------------------------------------------

cdef void counts_shape(counts_t *c, int a, int b, int d) noexcept nogil:
    c.a, c.b, c.c, c.has_planes, c.has_sum = a, b, d, False, False


cdef bint counts_cap(counts_t *c, uint64_t *map, int k) noexcept nogil:
    cdef uint64_t more, same, any = 0
    cdef const uint64_t *plane
    cdef long i
    cdef int j
    _ready(c, map)
    if not c.has_planes:
        return _cap_each(c, map, k)
    for i in range(c.words):
        if map[i] == 0:
            continue
        more, same = 0, map[i]
        if k >> c.planes:
            same = 0
        for j in range(c.planes - 1, -1, -1):
            plane = &c.plane[j * c.words]
            if (k >> j) & 1:
                same &= plane[i]
            else:
                more |= same & plane[i]
                same &= ~plane[i]
        map[i] &= ~more
        any |= map[i]
    return any != 0


cdef int counts_least(counts_t *c, uint64_t *map) noexcept nogil:
    cdef uint64_t any
    cdef const uint64_t *plane
    cdef int j, least = 0
    cdef long i
    _ready(c, map)
    if not c.has_planes:
        return _least_each(c, map)
    for j in range(c.planes - 1, -1, -1):
        plane = &c.plane[j * c.words]
        any = 0
        for i in range(c.words):
            any |= map[i] & ~plane[i]
        if any == 0:
            least |= 1 << j
            continue
        for i in range(c.words):
            map[i] &= ~plane[i]
    return least
