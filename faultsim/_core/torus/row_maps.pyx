"""Bit-parallel sets of bases; see row_maps.pxd."""

from libc.stdint cimport int64_t
from libc.string cimport memcmp, memcpy, memset

from faultsim._core.containers.bits cimport fs_lowest, mask_has, ones
from faultsim._core.containers.memory cimport arena_get, arena_zeros
from faultsim._core.torus.occupancy cimport boxes_push, occ_meets

cdef extern from "row_kernels.h" nogil:
    const fs_row_kernels *fs_best_row_kernels()
    const fs_row_kernels *fs_row_kernels_at(int i)


cdef const fs_row_kernels *KERNELS = fs_best_row_kernels()


cdef uint64_t _repeat(uint64_t pattern, int field) noexcept nogil:
    cdef uint64_t w = 0
    cdef int i = 0
    while i < 64:
        w |= pattern << i
        i += field
    return w


cdef void _steps(fs_steps *s, const torus_t *t, int c) noexcept nogil:
    cdef int have = 1, k
    s.n = 0
    s.whole = t.wrap and t.z == 64
    while have < c:
        k = min(have, c - have)
        s.k[s.n] = k
        s.back[s.n] = t.z - k
        s.lo[s.n] = _repeat(ones(t.z - k), t.field)
        s.hi[s.n] = _repeat(ones(t.z) & ~ones(t.z - k), t.field) if t.wrap else 0
        s.n += 1
        have += k


cdef void row_map_init(row_maps_t *l, const torus_t *torus, arena_t *memory) noexcept nogil:
    cdef int i, iy
    cdef int64_t bit
    l.torus = torus
    l.kernels = KERNELS
    l.words = max(1, torus.field // 64)
    l.line_bytes = torus.field // 8
    l.row = (torus.y * l.line_bytes + 7) // 8
    l.wide_row = (2 * torus.y * l.line_bytes + 7) // 8
    l.size = <long> torus.x * l.row
    l.wide_size = <long> torus.x * l.wide_row + l.row + 1        # room to read past the last row
    l.row_mask = <uint64_t *> arena_zeros(memory, l.row, sizeof(uint64_t))
    l.ping = <uint64_t *> arena_zeros(memory, l.wide_size, sizeof(uint64_t))
    l.pong = <uint64_t *> arena_zeros(memory, l.wide_size, sizeof(uint64_t))
    l.turn = <uint64_t *> arena_zeros(memory, 2 * l.words, sizeof(uint64_t))
    l.layer = <uint64_t *> arena_zeros(memory, l.size, sizeof(uint64_t))
    l.column = <uint64_t *> arena_zeros(memory, l.size, sizeof(uint64_t))
    l.spare = <uint64_t *> arena_zeros(memory, l.size, sizeof(uint64_t))
    l.run = <uint64_t *> arena_zeros(memory, l.size, sizeof(uint64_t))
    if l.words == 1:
        l.steps = <fs_steps *> arena_zeros(memory, torus.z + 1, sizeof(fs_steps))
    if memory.failed:
        return
    if l.words == 1:
        for i in range(1, torus.z + 1):
            _steps(&l.steps[i], torus, i)
    for iy in range(torus.y):
        for i in range(torus.z):
            bit = <int64_t> iy * torus.field + i
            l.row_mask[bit >> 6] |= <uint64_t> 1 << (bit & 63)
    l.row_tail = l.row_mask[l.row - 1]
    l.is_octet = torus.x <= torus.limit.octet_rows and l.row == 1
    if l.is_octet:
        l.octet.x, l.octet.y, l.octet.z, l.octet.field = torus.x, torus.y, torus.z, torus.field
        l.octet.all = l.row_tail
        l.octet.ring = ~<uint64_t> 0 if torus.wrap else 0
        l.octet.lo = _repeat(ones(torus.z - 1), torus.field)
        l.octet.hi = _repeat(ones(torus.z) & ~ones(torus.z - 1), torus.field) if torus.wrap else 0
        l.octet.steps = l.steps


# -- views -----------------------------------------------------------------------------------------------------------

cdef void view_init(view_t *v, row_maps_t *l, arena_t *memory) noexcept nogil:
    v.occ = <uint64_t *> arena_zeros(memory, l.torus.words, sizeof(uint64_t))
    v.free = <uint64_t *> arena_zeros(memory, l.size, sizeof(uint64_t))
    v.wide = <uint64_t *> arena_zeros(memory, l.wide_size, sizeof(uint64_t))
    v.absent = <uint64_t *> arena_zeros(memory, l.torus.nodes + 1, sizeof(uint64_t))
    v.cap = <int *> arena_zeros(memory, <size_t> (l.torus.x + 1) * (l.torus.y + 1), sizeof(int))
    v.layer_state = <unsigned char *> arena_zeros(memory, l.torus.y + 1, 1)
    if <size_t> (l.torus.y + 1) * l.size * sizeof(uint64_t) <= <size_t> l.torus.limit.layer_bytes:
        v.layers = <uint64_t *> arena_get(memory, (l.torus.y + 1) * l.size, sizeof(uint64_t))


cdef void view_reset(view_t *v, row_maps_t *l) noexcept nogil:
    cdef const torus_t *t = l.torus
    cdef int i, z = t.z
    cdef int *cap = v.cap
    v.ceiling = t.nodes
    for i in range((t.x + 1) * (t.y + 1)):
        cap[i] = z
    v.spent = 0
    l.lives += 1
    v.life = l.lives


cdef bint view_load(view_t *v, row_maps_t *l, const uint64_t *occ, bint keep) noexcept nogil:
    cdef const torus_t *t = l.torus
    cdef int ix, i, row_bytes = t.y * l.line_bytes
    cdef uint64_t *row
    cdef unsigned char *wide
    cdef uint64_t w, tail = l.row_tail, ring = ~<uint64_t> 0 if t.wrap else 0
    if v.valid and memcmp(v.occ, occ, t.words * sizeof(uint64_t)) == 0:
        return False
    if not v.valid:
        v.floor = 0
    if not (v.valid and (keep or l.kernels.within(v.occ, occ, t.words))):
        view_reset(v, l)
    memset(v.layer_state, 0, t.y + 1)
    memcpy(v.occ, occ, t.words * sizeof(uint64_t))
    v.valid = True
    v.largest = -1
    if v.floor and occ_meets(t, occ, &v.witness):
        v.floor = 0
    v.ceiling = <int> min(v.ceiling, t.nodes - l.kernels.count(occ, t.words))
    if row_bytes == 8:                                  # a loop of its own, as memcpy of so little is mostly calls
        row, wide = v.free, <unsigned char *> v.wide
        for ix in range(t.x):
            w = ~occ[ix] & tail
            row[ix] = (<uint64_t *> wide)[2 * ix] = w
            (<uint64_t *> wide)[2 * ix + 1] = w & ring
        return True
    for ix in range(t.x):
        row = &v.free[ix * l.row]
        row[l.row - 1] = 0
        memcpy(row, <const char *> occ + <int64_t> ix * row_bytes, row_bytes)
        for i in range(l.row):
            row[i] = ~row[i] & l.row_mask[i]
        wide = <unsigned char *> &v.wide[ix * l.wide_row]
        memcpy(wide, row, row_bytes)
        if t.wrap:
            memcpy(wide + row_bytes, row, row_bytes)
    return True


cdef void row_map_free(const row_maps_t *l, const uint64_t *occ, uint64_t *free) noexcept nogil:
    cdef int ix, i, row_bytes = l.torus.y * l.line_bytes
    cdef uint64_t *row
    if row_bytes == 8 * l.row:
        for ix in range(l.torus.x):
            for i in range(l.row):
                free[ix * <long> l.row + i] = ~occ[ix * <long> l.row + i] & l.row_mask[i]
        return
    for ix in range(l.torus.x):
        row = &free[ix * <long> l.row]
        row[l.row - 1] = 0
        memcpy(row, <const char *> occ + <int64_t> ix * row_bytes, row_bytes)
        for i in range(l.row):
            row[i] = ~row[i] & l.row_mask[i]


# -- maps of shapes --------------------------------------------------------------------------------------------------

cdef bint _make_layer(row_maps_t *l, const view_t *v, int b, uint64_t *layer) noexcept nogil:
    cdef const uint64_t *src = v.wide
    cdef uint64_t *dst = l.ping
    cdef int have = 1, k, rows = l.torus.x
    cdef long row = l.row, ix
    cdef uint64_t any = 0, tail = l.row_tail
    if v.layers != NULL and v.layer_state[b - 1] == 1:      # one step from the layer below
        return l.kernels.rows(layer, &v.layers[(b - 1) * l.size], l.row, <const char *> src + (b - 1) * l.line_bytes,
                              l.wide_row, l.torus.x, l.row) != 0
    while 2 * have < b:
        l.kernels.both(dst, src, <const char *> src + have * l.line_bytes, l.wide_size - l.row - 1)
        have *= 2
        src = dst
        dst = l.pong if src == l.ping else l.ping
    k = b - have
    l.kernels.rows(layer, src, l.wide_row, <const char *> src + k * l.line_bytes, l.wide_row, l.torus.x, l.row)
    for ix in range(rows):
        layer[(ix + 1) * row - 1] &= tail
    for ix in range(rows * row):
        any |= layer[ix]
    return any != 0


cdef const uint64_t *row_map_layer(row_maps_t *l, view_t *v, int b) noexcept nogil:
    cdef uint64_t *layer
    if b == 1:
        return v.free
    if v.layers == NULL:
        return l.layer if _make_layer(l, v, b, l.layer) else NULL
    layer = &v.layers[b * l.size]
    if v.layer_state[b] == 0:
        v.layer_state[b] = 1 if _make_layer(l, v, b, layer) else 2
    return layer if v.layer_state[b] == 1 else NULL


cdef bint _turn_x(const row_maps_t *l, const uint64_t *a, const uint64_t *b, int k, uint64_t *dst) noexcept nogil:
    """dst[x] = a[x] & b[x + k]."""
    cdef long head = (l.torus.x - k) * <long> l.row
    cdef uint64_t any = l.kernels.both(dst, a, &b[k * <long> l.row], head)
    if l.torus.wrap:
        any |= l.kernels.both(&dst[head], &a[head], b, k * <long> l.row)
    else:
        memset(&dst[head], 0, k * <size_t> l.row * sizeof(uint64_t))
    return any != 0


cdef bint row_map_next_column(const row_maps_t *l, const uint64_t *layer, int a, uint64_t *column) noexcept nogil:
    cdef long head = (l.torus.x - a + 1) * <long> l.row
    cdef uint64_t any
    if a == 1:
        memcpy(column, layer, l.size * sizeof(uint64_t))
        return True
    any = l.kernels.into(column, &layer[l.size - head], head)
    if l.torus.wrap:
        any |= l.kernels.into(&column[head], layer, l.size - head)
    else:
        memset(&column[head], 0, (l.size - head) * sizeof(uint64_t))
    return any != 0


cdef int row_map_next_column_run(row_maps_t *l, const uint64_t *layer, int a, bint step, int c,
                                 uint64_t *column) noexcept nogil:
    cdef long head = (l.torus.x - a + 1) * <long> l.row
    cdef int code, tail = 0
    if not step or l.words > 1:
        if step and not row_map_next_column(l, layer, a, column):
            return 0
        return 2 if row_map_any_run(l, column, c) else 1
    code = l.kernels.into_run(column, &layer[l.size - head], head, &l.steps[c])
    if l.torus.wrap:
        tail = l.kernels.into_run(&column[head], layer, l.size - head, &l.steps[c])
    else:
        memset(&column[head], 0, (l.size - head) * sizeof(uint64_t))
    return max(code, tail)


cdef bint row_map_widen(const row_maps_t *l, const uint64_t *column, int more, uint64_t *wider) noexcept nogil:
    return _turn_x(l, column, column, more, wider)


cdef bint row_map_column(row_maps_t *l, const uint64_t *layer, int a, uint64_t *column) noexcept nogil:
    """Columns of any a: doubling between `column` and `spare`."""
    cdef const uint64_t *src = layer
    cdef uint64_t *dst
    cdef int have = 1, k, left = 0
    if a == 1:
        memcpy(column, layer, l.size * sizeof(uint64_t))
        return True
    while (1 << left) < a:
        left += 1
    while have < a:
        k = min(have, a - have)
        dst = column if left & 1 else l.spare           # the last step writes to `column`
        if not _turn_x(l, src, src, k, dst):
            return False
        src = dst
        have += k
        left -= 1
    return True


cdef void _turn_line(const row_maps_t *l, const uint64_t *src, int k, uint64_t *dst) noexcept nogil:
    """dst bit i = src bit i + k (on a torus modulo z), for lines of several words."""
    cdef int z = l.torus.z, n = l.words, i, q = k >> 6, r = k & 63
    cdef uint64_t w
    for i in range(n):
        w = 0
        if i + q < n:
            w = src[i + q] >> r
            if r and i + q + 1 < n:
                w |= src[i + q + 1] << (64 - r)
        dst[i] = w
    if not l.torus.wrap:
        return
    q, r = (z - k) >> 6, (z - k) & 63
    for i in range(q, n):
        w = src[i - q] << r
        if r and i > q:
            w |= src[i - q - 1] >> (64 - r)
        dst[i] |= w
    if z & 63:
        dst[n - 1] &= ones(z & 63)


cdef bint _run_line(const row_maps_t *l, const uint64_t *line, int c, uint64_t *out) noexcept nogil:
    cdef int have = 1, k, i
    cdef uint64_t any = 1
    cdef uint64_t *turned = &l.turn[l.words]
    memcpy(out, line, l.words * sizeof(uint64_t))
    while have < c and any:
        k = min(have, c - have)
        _turn_line(l, out, k, turned)
        any = 0
        for i in range(l.words):
            out[i] &= turned[i]
            any |= out[i]
        have += k
    any = 0
    for i in range(l.words):
        any |= out[i]
    return any != 0


cdef bint row_map_runs(row_maps_t *l, const uint64_t *column, int c, uint64_t *out) noexcept nogil:
    cdef long i
    cdef bint any = False
    if l.words == 1:
        return l.kernels.runs(out, column, l.size, &l.steps[c]) != 0
    for i in range(l.size // l.words):
        any |= _run_line(l, &column[i * l.words], c, &out[i * l.words])
    return any


cdef bint row_map_any_run(row_maps_t *l, const uint64_t *column, int c) noexcept nogil:
    cdef long i
    if l.words == 1:
        return l.kernels.any_run(column, l.size, &l.steps[c])
    for i in range(l.size // l.words):
        if _run_line(l, &column[i * l.words], c, l.turn):
            return True
    return False


cdef bint row_map_shape(row_maps_t *l, view_t *v, int a, int b, int c, uint64_t *out) noexcept nogil:
    cdef int *cap = &v.cap[b * (l.torus.x + 1) + a]
    cdef const uint64_t *map
    if c > cap[0]:
        return False
    row_map_spend(l, v, 4 * l.size)
    map = row_map_layer(l, v, b)
    if map != NULL and a > 1:
        map = l.column if row_map_column(l, map, a, l.column) else NULL
    if map == NULL:
        cap[0] = 0
        return False
    if not row_map_runs(l, map, c, out):
        cap[0] = c - 1
        return False
    return True


cdef void row_map_canonical(const row_maps_t *l, int a, int b, int c, uint64_t *map) noexcept nogil:
    cdef const torus_t *t = l.torus
    cdef int ix, i, rows = t.x
    if a == t.x:
        rows = 1
        memset(&map[l.row], 0, (l.size - l.row) * sizeof(uint64_t))
    if b == t.y:
        for ix in range(rows):
            if l.line_bytes < 8:
                map[ix * l.row] &= ones(t.field)
            for i in range(l.words, l.row):
                map[ix * l.row + i] = 0
    if c == t.z:
        for i in range(rows * l.row):
            if l.words == 1:
                map[i] &= _repeat(1, t.field)
            elif i % l.words:
                map[i] = 0
            else:
                map[i] &= 1


cdef int row_map_hunt(const row_maps_t *l, const view_t *v, int least, int enough, box_t *box) noexcept nogil:
    return l.kernels.hunt(v.free, &l.octet, least, enough, <int *> box)


# -- tests of a map  -------------------------------------------------------------------------------------------------

cdef void row_map_project(row_maps_t *l, const uint64_t *map, uint64_t *px, uint64_t *py, uint64_t *pz) noexcept nogil:
    cdef const torus_t *t = l.torus
    cdef uint64_t *acc = l.ping                         # OR of all rows
    cdef uint64_t w
    cdef int ix, iy, i
    memset(acc, 0, l.row * sizeof(uint64_t))
    memset(px, 0, (t.x + 63) // 64 * sizeof(uint64_t))
    memset(py, 0, (t.y + 63) // 64 * sizeof(uint64_t))
    memset(pz, 0, (t.z + 63) // 64 * sizeof(uint64_t))
    for ix in range(t.x):
        if l.kernels.fold(acc, &map[ix * l.row], l.row):
            px[ix >> 6] |= <uint64_t> 1 << (ix & 63)
    if l.words > 1:
        for iy in range(t.y):
            w = 0
            for i in range(l.words):
                w |= acc[iy * l.words + i]
                pz[i] |= acc[iy * l.words + i]
            if w:
                py[iy >> 6] |= <uint64_t> 1 << (iy & 63)
        return
    for iy in range(t.y):
        i = iy * t.field
        w = (acc[i >> 6] >> (i & 63)) & ones(t.z)
        pz[0] |= w
        if w:
            py[iy >> 6] |= <uint64_t> 1 << (iy & 63)


cdef inline void _row_sieve(const row_maps_t *l, const uint64_t *uy, const uint64_t *uz,
                            uint64_t *sieve) noexcept nogil:
    """The bits of a row with y in uy or z in uz."""
    cdef const torus_t *t = l.torus
    cdef int iy, i
    if l.words == 1:
        memset(sieve, 0, l.row * sizeof(uint64_t))
        for iy in range(t.y):
            i = iy * t.field
            sieve[i >> 6] |= (ones(t.z) if mask_has(uy, iy) else uz[0]) << (i & 63)
        return
    for iy in range(t.y):
        for i in range(l.words):
            sieve[iy * l.words + i] = ~<uint64_t> 0 if mask_has(uy, iy) else uz[i]


cdef inline void _base(const row_maps_t *l, long word, int bit, box_t *base) noexcept nogil:
    cdef int64_t at = (word % l.row) * 64 + bit
    base.x = <int> (word // l.row)
    base.y = <int> (at // l.torus.field)
    base.z = <int> (at % l.torus.field)


cdef bint row_map_pick(const row_maps_t *l, const uint64_t *map, const uint64_t *ux, const uint64_t *uy,
                       const uint64_t *uz, box_t *base) noexcept nogil:
    cdef uint64_t *sieve = l.pong
    cdef uint64_t w
    cdef long i
    cdef int ix, j
    if ux == NULL:
        for i in range(l.size):
            if map[i]:
                _base(l, i, fs_lowest(map[i]), base)
                return True
        return False
    _row_sieve(l, uy, uz, sieve)
    for ix in range(l.torus.x):
        for j in range(l.row):
            w = map[ix * l.row + j]
            if w and not mask_has(ux, ix):
                w &= sieve[j]
            if w:
                _base(l, ix * <long> l.row + j, fs_lowest(w), base)
                return True
    return False


cdef bint row_map_filter(const row_maps_t *l, uint64_t *map, const uint64_t *ux, const uint64_t *uy,
                         const uint64_t *uz) noexcept nogil:
    cdef uint64_t *sieve = l.pong
    cdef uint64_t any = 0
    cdef int ix, j
    _row_sieve(l, uy, uz, sieve)
    for ix in range(l.torus.x):
        for j in range(l.row):
            if not mask_has(ux, ix):
                map[ix * l.row + j] &= sieve[j]
            any |= map[ix * l.row + j]
    return any != 0


cdef bint row_map_next(const row_maps_t *l, const uint64_t *map, long *at, box_t *base) noexcept nogil:
    cdef long i = at[0] >> 6
    cdef uint64_t w
    if i >= l.size:
        return False
    w = map[i] >> (at[0] & 63) << (at[0] & 63)
    while w == 0:
        i += 1
        if i >= l.size:
            return False
        w = map[i]
    at[0] = i * 64 + fs_lowest(w)
    _base(l, i, fs_lowest(w), base)
    at[0] += 1
    return True


cdef int row_map_list(const row_maps_t *l, const uint64_t *map, const shape_t *s, boxes_t *list) noexcept nogil:
    cdef int row = l.row, rows = l.torus.x, words = l.words, field = min(l.torus.field, 64), shift = fs_lowest(field)
    cdef int ix, j, y, z, bit
    cdef uint64_t w
    cdef box_t box
    box.a, box.b, box.c = s.a, s.b, s.c
    for ix in range(rows):
        box.x = ix
        for j in range(row):
            w = map[j]
            if words == 1:
                y, z = j << (6 - shift), 0
            else:
                y, z = j // words, j % words * 64
            while w:
                bit = fs_lowest(w)
                w &= w - 1
                box.y, box.z = y + (bit >> shift), z + (bit & (field - 1))
                if boxes_push(list, &box):
                    return -1
        map += row
    return 0


# -- for tests -------------------------------------------------------------------------------------------------------

def use_kernels(int i):
    """Give maps made from now on the i-th table of word loops, or (-1) the fastest; False: there is no such one."""
    global KERNELS
    cdef const fs_row_kernels *table = fs_best_row_kernels() if i < 0 else fs_row_kernels_at(i)
    KERNELS = table if table != NULL else KERNELS
    return table != NULL
