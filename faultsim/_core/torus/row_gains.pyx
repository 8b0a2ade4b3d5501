"""Free boxes that a view gains; see row_gains.pxd."""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from faultsim._core.containers.bits cimport fs_lowest, ones
from faultsim._core.containers.memory cimport arena_zeros
from faultsim._core.torus.occupancy cimport box_size, torus_t
from faultsim._core.torus.row_maps cimport view_load, view_reset
from faultsim._core.torus.row_slices cimport slices_gain, slices_init, slices_of, slices_pay, view_gain


cdef inline uint64_t _repeat(uint64_t pattern, int field) noexcept nogil:
    cdef uint64_t w = 0
    cdef int i = 0
    while i < 64:
        w |= pattern << i
        i += field
    return w


cdef void gains_init(gains_t *g, const row_maps_t *l, arena_t *memory) noexcept nogil:
    cdef const torus_t *t = l.torus
    cdef fs_flood *s = &g.steps
    cdef int k = 1
    g.able = l.words == 1 and not l.is_octet
    slices_init(&g.slices, l, memory)
    if not g.able:
        return
    while k < t.z:
        s.k[s.n], s.back[s.n] = k, t.z - k
        s.up[s.n] = _repeat(ones(t.z) & ~ones(k), t.field)
        s.down[s.n] = _repeat(ones(t.z - k), t.field)
        if t.wrap:
            s.up_ring[s.n] = _repeat(ones(k), t.field)
            s.down_ring[s.n] = _repeat(ones(t.z) & ~ones(t.z - k), t.field)
        s.n += 1
        k *= 2
    g.left = <uint64_t *> arena_zeros(memory, t.words, sizeof(uint64_t))
    g.flood = <uint64_t *> arena_zeros(memory, l.size, sizeof(uint64_t))
    g.window = <uint64_t *> arena_zeros(memory, 2 * <size_t> t.x * (l.wide_row + l.row + 1), sizeof(uint64_t))
    g.layer[0] = <uint64_t *> arena_zeros(memory, 2 * l.size, sizeof(uint64_t))
    g.layer[1] = <uint64_t *> arena_zeros(memory, 2 * l.size, sizeof(uint64_t))
    g.column = <uint64_t *> arena_zeros(memory, l.size, sizeof(uint64_t))
    g.reach = <int *> arena_zeros(memory, t.x + 1, sizeof(int))


# -- what became free ------------------------------------------------------------------------------------------------

cdef inline uint64_t _line(const torus_t *t, const uint64_t *occ, int x, int y) noexcept nogil:
    cdef int64_t bit = (<int64_t> x * t.y + y) * t.field
    return (occ[bit >> 6] >> (bit & 63)) & ones(t.z)


cdef inline bint _has_lines(const torus_t *t, const uint64_t *left, int x, int y, int b, uint64_t run) noexcept nogil:
    """Has each of b lines the run?"""
    cdef int i
    for i in range(b):
        if run & ~_line(t, left, x, y + i if y + i < t.y else y + i - t.y):
            return False
    return True


cdef inline int _before(int i, int n, bint wrap) noexcept nogil:
    """The coordinate before i; -1: there is none."""
    return i - 1 if i > 0 or not wrap else n - 1


cdef inline int _after(int i, int n, bint wrap) noexcept nogil:
    return i + 1 if i < n - 1 else (0 if wrap else -1)


cdef uint64_t _run(const torus_t *t, uint64_t line, box_t *p) noexcept nogil:
    """The run along z of the lowest bit, p.z and p.c set."""
    cdef int z = fs_lowest(line), i
    cdef uint64_t run = <uint64_t> 1 << z
    p.z, p.c = z, 1
    i = _after(z, t.z, t.wrap)
    while i >= 0 and i != z and (line >> i) & 1:
        run |= <uint64_t> 1 << i
        p.c += 1
        i = _after(i, t.z, t.wrap)
    i = _before(z, t.z, t.wrap)
    while i >= 0 and p.c < t.z and (line >> i) & 1:
        run |= <uint64_t> 1 << i
        p.c += 1
        p.z = i
        i = _before(i, t.z, t.wrap)
    return run


cdef void _grow(const torus_t *t, uint64_t *left, int x, int y, box_t *p) noexcept nogil:
    """A box of the nodes left that begins with the first bit of a line; it is taken away."""
    cdef uint64_t run = _run(t, _line(t, left, x, y), p)
    cdef int i, j, ix, iy
    cdef int64_t bit
    p.x, p.y, p.a, p.b = x, y, 1, 1
    i = _after(y, t.y, t.wrap)
    while i >= 0 and p.b < t.y and _has_lines(t, left, x, i, 1, run):
        p.b += 1
        i = _after(i, t.y, t.wrap)
    i = _before(y, t.y, t.wrap)
    while i >= 0 and p.b < t.y and _has_lines(t, left, x, i, 1, run):
        p.b += 1
        p.y = i
        i = _before(i, t.y, t.wrap)
    i = _after(x, t.x, t.wrap)
    while i >= 0 and p.a < t.x and _has_lines(t, left, i, p.y, p.b, run):
        p.a += 1
        i = _after(i, t.x, t.wrap)
    i = _before(x, t.x, t.wrap)
    while i >= 0 and p.a < t.x and _has_lines(t, left, i, p.y, p.b, run):
        p.a += 1
        p.x = i
        i = _before(i, t.x, t.wrap)
    for i in range(p.a):
        ix = p.x + i if p.x + i < t.x else p.x + i - t.x
        for j in range(p.b):
            iy = p.y + j if p.y + j < t.y else p.y + j - t.y
            bit = (<int64_t> ix * t.y + iy) * t.field
            left[bit >> 6] &= ~(run << (bit & 63))


cdef int _pieces(gains_t *g, const row_maps_t *l, const uint64_t *before, const uint64_t *occ) noexcept nogil:
    """The nodes that became free as boxes, g.piece: how many; -1: more than `gain_pieces`."""
    cdef const torus_t *t = l.torus
    cdef uint64_t any = 0
    cdef int i, n = 0, line
    for i in range(t.words):
        g.left[i] = before[i] & ~occ[i]
        any |= g.left[i]
    if any == 0:
        return 0
    for i in range(t.words):
        while g.left[i]:
            if n == t.limit.gain_pieces:
                return -1
            line = (64 * i + fs_lowest(g.left[i])) // t.field
            _grow(t, g.left, line // t.y, line % t.y, &g.piece[n])
            n += 1
    return n


# -- the window around a piece ---------------------------------------------------------------------------------------

cdef struct window_t:
    int x, y                        # its first row and line
    int rows, lines                 # in the window
    int bases_x, bases_y            # where boxes begin that meet the piece
    int a, b                        # the largest extents
    int row, wide_row               # words of a row of bases, of the window


cdef int _arm_x(gains_t *g, const row_maps_t *l, const box_t *p, int x, bint forward) noexcept nogil:
    """How many rows beyond x some free line of the piece's goes on."""
    cdef const torus_t *t = l.torus
    cdef uint64_t *line = g.column
    cdef uint64_t any
    cdef int n = 0, i = x, j, y
    memset(line, 0, l.row * sizeof(uint64_t))
    for i in range(p.b):
        y = (p.y + i) % t.y * l.line_bytes
        memcpy(<char *> line + y, <const char *> &g.flood[x * <long> l.row] + y, l.line_bytes)
    i = x
    while n < t.x - 1:
        i = _after(i, t.x, t.wrap) if forward else _before(i, t.x, t.wrap)
        if i < 0:
            return n
        any = 0
        for j in range(l.row):
            line[j] &= g.flood[i * <long> l.row + j]
            any |= line[j]
        if any == 0:
            return n
        n += 1
    return n


cdef inline uint64_t _map_line(const row_maps_t *l, const uint64_t *map, int x, int y) noexcept nogil:
    cdef int bit = y * l.torus.field
    return (map[x * <long> l.row + (bit >> 6)] >> (bit & 63)) & ones(l.torus.z)


cdef int _arm_y(gains_t *g, const row_maps_t *l, const box_t *p, int y, bint forward) noexcept nogil:
    cdef const torus_t *t = l.torus
    cdef uint64_t *line = g.column          # of each x of the piece
    cdef uint64_t any
    cdef int n = 0, i = y, x
    for x in range(p.a):
        line[x] = _map_line(l, g.flood, (p.x + x) % t.x, y)
    while n < t.y - 1:
        i = _after(i, t.y, t.wrap) if forward else _before(i, t.y, t.wrap)
        if i < 0:
            return n
        any = 0
        for x in range(p.a):
            line[x] &= _map_line(l, g.flood, (p.x + x) % t.x, i)
            any |= line[x]
        if any == 0:
            return n
        n += 1
    return n


cdef void _open_window(gains_t *g, const row_maps_t *l, const view_t *v, const box_t *p, window_t *w) noexcept nogil:
    """Lay the lines around the piece out in a row."""
    cdef const torus_t *t = l.torus
    cdef uint64_t mask = 0
    cdef int i, j, n, before, after, x, y
    cdef char *to
    cdef const char *line
    for i in range(p.c):
        mask |= <uint64_t> 1 << (p.z + i if p.z + i < t.z else p.z + i - t.z)
    l.kernels.flood(g.flood, v.free, _repeat(mask, t.field), l.size, &g.steps)
    before = _arm_x(g, l, p, p.x, False)
    after = _arm_x(g, l, p, (p.x + p.a - 1) % t.x, True)
    w.x = (p.x - before + t.x) % t.x
    w.bases_x, w.a = min(t.x, before + p.a), min(t.x, before + p.a + after)
    w.rows = min(w.bases_x + w.a - 1, before + p.a + after)
    before = _arm_y(g, l, p, p.y, False)
    after = _arm_y(g, l, p, (p.y + p.b - 1) % t.y, True)
    w.y = (p.y - before + t.y) % t.y
    w.bases_y, w.b = min(t.y, before + p.b), min(t.y, before + p.b + after)
    w.lines = min(w.bases_y + w.b - 1, before + p.b + after)
    w.row = (w.bases_y * l.line_bytes + 7) // 8
    w.wide_row = w.row + ((w.b - 1) * l.line_bytes + 7) // 8
    memset(g.window, 0, <size_t> w.rows * w.wide_row * sizeof(uint64_t))
    x = w.x
    for i in range(w.rows):
        to = <char *> &g.window[i * <long> w.wide_row]
        line = <const char *> &g.flood[x * <long> l.row]
        j, y = 0, w.y
        while j < w.lines:                              # a ring may be laid out twice
            n = min(w.lines - j, t.y - y)
            memcpy(to + j * l.line_bytes, line + y * l.line_bytes, n * l.line_bytes)
            j, y = j + n, 0
        x = x + 1 if x + 1 < t.x else 0


cdef int _longest(const row_maps_t *l, const uint64_t *column, long n, int most) noexcept nogil:
    """The longest run of at most so many; 0: there is none."""
    cdef int low = 0, middle
    while low < most:
        middle = (low + most + 1) // 2
        if l.kernels.any_run(column, n, &l.steps[middle]):
            low = middle
        else:
            most = middle - 1
    return low


cdef bint _add(gains_t *g, const row_maps_t *l, view_t *v, const box_t *p, int64_t enough) noexcept nogil:
    """Raise the bounds by the free boxes that meet a piece; False: it is too much."""
    cdef window_t w
    cdef int i, a, b, c, code, most, now = 0
    cdef long n
    cdef uint64_t *layer
    _open_window(g, l, v, p, &w)
    for a in range(1, w.a + 1):
        g.reach[a] = l.torus.z
    most = w.a
    for b in range(1, w.b + 1):
        layer = g.layer[now]
        if b == 1:
            for i in range(w.rows):
                memcpy(&layer[i * w.row], &g.window[i * <long> w.wide_row], w.row * sizeof(uint64_t))
        else:
            now = 1 - now
            if l.kernels.rows(g.layer[now], layer, w.row, <const char *> g.window + (b - 1) * l.line_bytes,
                              w.wide_row, w.rows, w.row) == 0:
                return True
            layer = g.layer[now]
        for a in range(1, most + 1):
            n = min(w.bases_x, w.rows - a + 1) * <long> w.row
            c = g.reach[a] = min(g.reach[a], g.reach[a - 1]) if a > 1 else g.reach[a]
            g.looked += n
            if g.looked > enough:
                return False
            if a == 1:
                memcpy(g.column, layer, n * sizeof(uint64_t))
                code = 2 if l.kernels.any_run(g.column, n, &l.steps[c]) else 1
            else:
                code = l.kernels.into_run(g.column, &layer[(a - 1) * <long> w.row], n, &l.steps[c])
            if code == 0:
                most = a - 1
                break
            if code == 1:
                c = _longest(l, g.column, n, c - 1)
            if c == 0:                  # a == 1, and nothing is left
                most = 0
                break
            g.reach[a] = c
            for i in range(1, c + 1):
                view_gain(l, v, a, b, i)
        if most == 0:
            return True
    return True


cdef inline int64_t _allowed(const torus_t *t, const view_t *v) noexcept nogil:
    """Words that may be looked at for one occupancy."""
    if t.limit.gain_part == 0:
        return t.limit.gain_words
    return min(<int64_t> t.limit.gain_words, v.spent // t.limit.gain_part)


cdef bint gains_load(gains_t *g, row_maps_t *l, view_t *v, const uint64_t *occ) noexcept nogil:
    cdef const torus_t *t = l.torus
    cdef int n = -1, i, most = v.ceiling
    cdef int64_t enough = g.looked + g.slices.looked + _allowed(t, v)
    cdef bint known
    if not (g.able and v.valid and v.spent > 0):
        return view_load(v, l, occ, False)
    if memcmp(v.occ, occ, t.words * sizeof(uint64_t)) == 0:
        return False
    n = _pieces(g, l, v.occ, occ)
    if n <= 0:
        return view_load(v, l, occ, False)
    v.ceiling = t.nodes
    view_load(v, l, occ, True)
    v.gained = 0
    for i in range(n):
        if g.slices.able and slices_of(&g.piece[i]) <= t.limit.thin_slices and slices_pay(l, &g.piece[i]):
            known = slices_gain(&g.slices, l, v, &g.piece[i], enough - g.looked)
        else:
            known = _add(g, l, v, &g.piece[i], enough - g.slices.looked)
        if not known:
            view_reset(v, l)
            return True
        if box_size(&g.piece[i]) > v.floor:
            v.floor, v.witness = box_size(&g.piece[i]), g.piece[i]
    v.ceiling = min(v.ceiling, max(most, v.gained))
    return True
