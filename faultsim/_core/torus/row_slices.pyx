"""Free boxes that meet a given box, slice by slice; see row_slices.pxd."""

from libc.stdint cimport INT64_MAX
from libc.string cimport memcpy, memset

from faultsim._core.containers.bits cimport fs_highest, fs_lowest, ones
from faultsim._core.containers.memory cimport arena_zeros
from faultsim._core.torus.axis_sets cimport family_add
from faultsim._core.torus.occupancy cimport torus_t
from faultsim._core.torus.row_maps cimport row_map_free, view_load, view_reset

cdef enum:
    # Bytes of a row of bases that are read together: the width of a vector loop, so a constant.  Tori with an axis
    # of more than 32 nodes test it (tests/core/test_row_slices.py).
    STEP = 32

cdef enum aim_t:                    # the purpose of a search
    GAIN
    ANY_ROOM
    ALL_ROOMS

cdef struct slice_t:
    int axis, at                    # its axis, its coordinate there
    int rows, columns               # nodes of the other two axes
    int depth                       # and of its own
    bint deep                       # boxes that begin before it are searched for, too

cdef struct frame_t:                # the window around a box
    int row, column                 # where it begins
    int rows, columns               # in the window
    int base_rows, base_columns     # where boxes begin that meet the box
    int before_rows, before_columns     # of them before the box; 0 on a ring, where none is first
    int most_rows, most_columns     # the largest extents
    long pitch, wide


cdef void slices_init(slices_t *s, const row_maps_t *l, arena_t *memory) noexcept nogil:
    cdef const torus_t *t = l.torus
    cdef size_t rows = max(t.x, t.y), columns = max(t.y, t.z), wide = 2 * columns + 2 * <int>STEP
    cdef int i
    s.able = l.words == 1 and t.x <= 64 and t.y <= 64 and not l.is_octet
    if not s.able:
        return
    s.free = <uint64_t *> arena_zeros(memory, l.size, sizeof(uint64_t))
    s.bits = <uint64_t *> arena_zeros(memory, rows, sizeof(uint64_t))
    s.up = <uint8_t *> arena_zeros(memory, rows * columns, 1)
    s.down = <uint8_t *> arena_zeros(memory, rows * columns, 1)
    s.reach = <int *> arena_zeros(memory, rows + 1, sizeof(int))
    for i in range(2):
        s.window[i] = <uint8_t *> arena_zeros(memory, 2 * rows * wide, 1)
        s.least[i] = <uint8_t *> arena_zeros(memory, 2 * rows * (columns + <int>STEP), 1)
    for i in range(4):
        s.low[i] = <uint8_t *> arena_zeros(memory, 2 * rows * (columns + <int>STEP), 1)


# -- the runs on either side -------------------------------------------------------------------------------------------

cdef inline uint64_t _z_line(const row_maps_t *l, const uint64_t *map, int x, int y) noexcept nogil:
    cdef int bit = y * l.torus.field
    return (map[x * <long> l.row + (bit >> 6)] >> (bit & 63)) & ones(l.torus.z)


cdef inline int _beyond(int i, int by, int n, bint wrap) noexcept nogil:
    """The coordinate `by` further on, |by| < n; -1: there is none."""
    i += by
    if wrap:
        return i if 0 <= i < n else (i + n if i < 0 else i - n)
    return i if i < n else -1


cdef void _bits(slices_t *s, const row_maps_t *l, const uint64_t *free, const slice_t *q) noexcept nogil:
    """The free nodes of a slice."""
    cdef int row, y
    for row in range(q.rows):
        if q.axis < 2:
            s.bits[row] = _z_line(l, free, q.at, row) if q.axis == 0 else _z_line(l, free, row, q.at)
            continue
        if l.torus.field == 64:
            s.bits[row] = l.kernels.cut(&free[row * <long> l.row], q.at, q.columns)
            continue
        s.bits[row] = 0
        for y in range(q.columns):
            s.bits[row] |= ((_z_line(l, free, row, y) >> q.at) & 1) << y


cdef void _along_z(slices_t *s, const row_maps_t *l, const uint64_t *free, const slice_t *q, int x,
                   uint64_t columns) noexcept nogil:
    """The runs along z of a row: bits above a node and below it."""
    cdef const torus_t *t = l.torus
    cdef uint64_t line, w, lines = s.bits[x] & columns
    cdef int y, n
    cdef uint8_t *up = &s.up[x * q.columns]
    cdef uint8_t *down = &s.down[x * q.columns]
    while lines:
        y = fs_lowest(lines)
        lines &= lines - 1
        line = _z_line(l, free, x, y)
        w = line >> q.at
        if t.wrap and q.at > 0:
            w |= line << (t.z - q.at)
        w = ~(w & ones(t.z))
        n = fs_lowest(w) if w else 64
        up[y] = n
        if not q.deep or (q.at == 0 and not t.wrap):
            continue
        if n == t.z:
            down[y] = t.z - 1
            continue
        w = ~(~w << (64 - t.z)) if t.wrap else ~(line << (64 - q.at))
        down[y] = 63 - fs_highest(w) if w else 64       # bits from that below the slice on, downwards


cdef void _along(slices_t *s, const row_maps_t *l, const uint64_t *free, const slice_t *q, int row,
                 uint64_t columns) noexcept nogil:
    """The runs along x or y of a row."""
    cdef const torus_t *t = l.torus
    cdef uint64_t line = s.bits[row] & columns
    cdef uint8_t *side
    cdef int way, k, i
    if line:
        l.kernels.spread(&s.up[row * q.columns], line, q.columns)
    for way in range(2 if q.deep else 1):
        side = &s.down[row * q.columns] if way else &s.up[row * q.columns]
        line = s.bits[row] & columns
        for k in range(1, q.depth):
            i = _beyond(q.at, -k if way else k, q.depth, t.wrap)
            if i < 0:
                break
            line &= _z_line(l, free, i, row) if q.axis == 0 else _z_line(l, free, row, i)
            if line == 0:
                break
            l.kernels.spread(side, line, q.columns)


# -- the window ------------------------------------------------------------------------------------------------------

cdef int _arm_rows(const slices_t *s, const slice_t *q, int row, int most, int by, uint64_t columns,
                   bint wrap) noexcept nogil:
    """How many rows beyond this one some of the columns is free without a gap, at most `most`."""
    cdef uint64_t line = s.bits[row] & columns
    cdef int n = 0
    while n < most:
        row = _beyond(row, by, q.rows, wrap)
        if row < 0:
            return n
        line &= s.bits[row]
        if line == 0:
            return n
        n += 1
    return n


cdef int _arm_columns(const slices_t *s, const slice_t *q, int column, int most, int by, int row, int rows,
                      bint wrap) noexcept nogil:
    """The same of columns, in so many rows."""
    cdef int best = 0, n, at, _i
    cdef uint64_t line
    for _i in range(rows):
        line = s.bits[row]
        row = row + 1 if row + 1 < q.rows else 0
        n, at = 0, column
        while n <= most and at >= 0 and (line >> at) & 1:
            n += 1
            at = _beyond(at, by, q.columns, wrap)
        best = max(best, n - 1)
    return best


cdef inline uint64_t _ring(int base, int extent, int n) noexcept nogil:
    """So many coordinates from one on, as bits."""
    if extent >= n:
        return ones(n)
    if base + extent <= n:
        return ones(extent) << base
    return ones(n) & ~ones(base) | ones(base + extent - n)


cdef inline uint64_t _turned(uint64_t set, int by, int n) noexcept nogil:
    """All coordinates `by` < n further on, on a ring."""
    return set if by == 0 else (set << by | set >> (n - by)) & ones(n)


cdef void _frame(slices_t *s, const row_maps_t *l, const uint64_t *free, const slice_t *q, int row, int rows,
                 int column, int columns, frame_t *f) noexcept nogil:
    """Lay what is around the box out in rows without an end, as far as some box may reach that meets it."""
    cdef bint wrap = l.torus.wrap
    cdef int before, after, i, j, k, n, _i
    cdef uint8_t *to
    cdef const uint8_t *side
    cdef uint64_t mine = _ring(column, columns, q.columns)
    before = _arm_rows(s, q, row, q.rows - 1, -1, mine, wrap)
    after = _arm_rows(s, q, (row + rows - 1) % q.rows, q.rows - 1, 1, mine, wrap)
    f.row = (row - before + q.rows) % q.rows
    f.before_rows = before if before + rows <= q.rows else 0
    f.base_rows, f.most_rows = min(q.rows, before + rows), min(q.rows, before + rows + after)
    f.rows = min(f.base_rows + f.most_rows - 1, before + rows + after)
    before = _arm_columns(s, q, column, q.columns - 1, -1, row, rows, wrap)
    after = _arm_columns(s, q, (column + columns - 1) % q.columns, q.columns - 1, 1, row, rows, wrap)
    f.column = (column - before + q.columns) % q.columns
    f.before_columns = before if before + columns <= q.columns else 0
    f.base_columns, f.most_columns = min(q.columns, before + columns), min(q.columns, before + columns + after)
    f.columns = min(f.base_columns + f.most_columns - 1, before + columns + after)
    f.pitch = (f.base_columns + <int>STEP - 1) // <int>STEP * <int>STEP
    f.wide = f.pitch + f.most_columns
    mine = _ring(f.column, f.columns, q.columns)
    row = f.row
    for _i in range(min(f.rows, q.rows)):
        memset(&s.up[row * q.columns], 0, q.columns)
        memset(&s.down[row * q.columns], 0, q.columns)
        if q.axis == 2:
            _along_z(s, l, free, q, row, mine)
        else:
            _along(s, l, free, q, row, mine)
        row = row + 1 if row + 1 < q.rows else 0
    for k in range(2):
        to = s.window[k]
        row = f.row
        for _i in range(f.rows):
            side = &(s.down if k else s.up)[row * q.columns]
            memset(to, 0, f.wide)
            j, column = 0, f.column
            while j < f.columns:                        # a ring may be laid out twice
                n = min(f.columns - j, q.columns - column)
                memcpy(&to[j], &side[column], n)
                j, column = j + n, 0
            to += f.wide
            row = row + 1 if row + 1 < q.rows else 0
        for i in range(f.rows):
            memcpy(&s.low[k][i * f.pitch], &s.window[k][i * f.wide], f.base_columns)
            memset(&s.low[k][i * f.pitch + f.base_columns], 0, f.pitch - f.base_columns)


# -- rectangles --------------------------------------------------------------------------------------------------------

cdef inline void _add(const row_maps_t *l, view_t *v, int a, int b, int c) noexcept nogil:
    """The view has a free box of (a, b, c)."""
    cdef int at = b * (l.torus.x + 1) + a, size = a * b * c
    v.cap[at] = max(v.cap[at], c)
    v.ceiling = max(v.ceiling, size)
    v.absent[size] = 0
    if v.blocked != NULL:
        v.blocked[size] = 0
        v.permitted[at] = max(v.permitted[at], c)


cdef void _gain(const row_maps_t *l, view_t *v, int axis, int rows, int columns, int depth) noexcept nogil:
    cdef int k
    for k in range(1, depth + 1):
        if axis == 0:
            _add(l, v, k, rows, columns)
        elif axis == 1:
            _add(l, v, rows, k, columns)
        else:
            _add(l, v, rows, columns, k)


cdef void _project(slices_t *s, const slice_t *q, const frame_t *f, int base_rows, int rows, int columns,
                   int depth, family_t *three) noexcept nogil:
    """Add the bases of the rooms of a rectangle that are so deep."""
    cdef int axis_rows = 0 if q.axis else 1, axis_columns = 1 if q.axis == 2 else 2
    cdef const uint8_t *up = s.least[0]
    cdef const uint8_t *down = s.least[1]
    cdef int j, row = f.row, more, _i
    cdef uint64_t row_set = 0, column_set = 0, own_set = 0, columns_here
    s.looked += base_rows * f.base_columns
    for _i in range(base_rows):
        columns_here = 0
        for j in range(f.base_columns):
            more = up[j] + down[j] - depth              # so many further bases has this rectangle, below the first
            if up[j] == 0 or more < 0:
                continue
            columns_here |= <uint64_t> 1 << j
            own_set |= _ring((q.at - down[j] + q.depth) % q.depth, more + 1, q.depth)
        if columns_here:
            row_set |= <uint64_t> 1 << row
            column_set |= columns_here
        row = row + 1 if row + 1 < q.rows else 0
        up += f.pitch
        down += f.pitch
    column_set = _turned(column_set, f.column, q.columns)
    family_add(&three[axis_rows], rows, &row_set)
    family_add(&three[axis_columns], columns, &column_set)
    family_add(&three[q.axis], depth, &own_set)


cdef inline int _last(const slices_t *s, int most, int columns, int need) noexcept nogil:
    """The most rows, of at most so many, that may make a room with so many columns; 0: none."""
    while most > 0 and most * columns * s.reach[most] < need:
        most -= 1
    return most


cdef bint _walk(slices_t *s, const row_maps_t *l, const slice_t *q, const frame_t *f, int aim, int need, view_t *v,
                int64_t enough, family_t *three) noexcept nogil:
    """Of ANY_ROOM: is there one?  Of others: False: that is too much."""
    cdef int rows, columns, depth, i, last, most = f.most_rows, now = 0
    cdef long n, first, add
    cdef bint found = False
    cdef const uint8_t *down = s.low[1]                 # all 0 unless deep
    # s.low[2 * now] and `down` are, for each base, the least runs over `columns` nodes of a row, and s.least those over
    # `rows` rows of these.  s.reach[rows] bounds the depth of all rectangles of so many rows and at least `columns`.
    for i in range(1, most + 1):
        s.reach[i] = q.depth
    for columns in range(1, f.most_columns + 1):
        if columns > 1:
            n = 0
            i = l.kernels.lower(s.low[2 - 2 * now], s.low[2 * now], &s.window[0][columns - 1], f.wide, f.rows, f.pitch)
            if i == 0:
                break
            if q.deep:
                l.kernels.lower(s.low[3 - 2 * now], down, &s.window[1][columns - 1], f.wide, f.rows, f.pitch)
                down = s.low[3 - 2 * now]
            now = 1 - now
        last = most
        if aim != GAIN:
            if _last(s, most, f.most_columns, need) == 0:
                break
            last = _last(s, most, columns, need)
        # Rectangles of fewer rows are done: s.least has the least runs over rows - 1 rows; `most` bounds the rows of a
        # free rectangle of so many columns or more.
        for rows in range(1, last + 1):
            n = min(f.base_rows, f.rows - rows + 1) * f.pitch
            s.looked += n >> 3
            if rows == 1:
                memcpy(s.least[0], s.low[2 * now], n)
                memcpy(s.least[1], down, n)
                first = f.before_columns - columns + 1
                for i in range(n // f.pitch if first > 0 else 0):       # these end before the box
                    memset(&s.least[0][i * f.pitch], 0, first)
                    memset(&s.least[1][i * f.pitch], 0, first)
            first = min(n, max(0, f.before_rows - rows + 1) * f.pitch)
            add = (rows - 1) * f.pitch
            if first > 0:                               # and these
                l.kernels.narrow(s.least[0], s.least[1], &s.low[2 * now][add], &down[add], first)
            depth = l.kernels.narrow(&s.least[0][first], &s.least[1][first], &s.low[2 * now][add + first],
                                     &down[add + first], n - first)
            if depth == 0:
                most = rows - 1
                break
            s.reach[rows] = depth = min(depth, q.depth)
            if aim == GAIN:
                _gain(l, v, q.axis, rows, columns, depth)
                if s.looked > enough:
                    return False
            elif rows * columns * depth >= need:
                if aim == ANY_ROOM:
                    return True
                found = True
                depth = (need + rows * columns - 1) // (rows * columns)
                if (rows - 1) * columns * depth < need and rows * (columns - 1) * depth < need:
                    _project(s, q, f, min(f.base_rows, f.rows - rows + 1), rows, columns, depth, three)
                if s.looked > enough:
                    return False
        if most == 0:
            break
    return found if aim == ANY_ROOM else True


cdef bint _go(slices_t *s, const row_maps_t *l, const uint64_t *free, const box_t *p, int aim, int need, view_t *v,
              int64_t enough, family_t *three) noexcept nogil:
    """Through all slices of a box; returns the value of _walk."""
    cdef const torus_t *t = l.torus
    cdef slice_t q
    cdef frame_t f
    cdef int k, n = min(p.a, p.b, p.c), first
    q.axis = 2 if n == p.c else (1 if n == p.b else 0)
    q.rows, q.columns = t.x if q.axis else t.y, t.y if q.axis == 2 else t.z
    q.depth = t.z if q.axis == 2 else (t.y if q.axis else t.x)
    first = p.z if q.axis == 2 else (p.y if q.axis else p.x)
    for k in range(n):
        # What begins before a slice but the first meets the one before.
        q.at, q.deep = (first + k) % q.depth, k == 0
        _bits(s, l, free, &q)
        if q.axis == 2:
            _frame(s, l, free, &q, p.x, p.a, p.y, p.b, &f)
        elif q.axis == 1:
            _frame(s, l, free, &q, p.x, p.a, p.z, p.c, &f)
        else:
            _frame(s, l, free, &q, p.y, p.b, p.z, p.c, &f)
        s.looked += t.lines // 4
        if _walk(s, l, &q, &f, aim, need, v, enough, three) == (aim == ANY_ROOM):
            return aim == ANY_ROOM
    return aim != ANY_ROOM


cdef bint slices_load(slices_t *s, row_maps_t *l, view_t *v, const uint64_t *occ, const box_t *given,
                      int n) noexcept nogil:
    cdef int64_t enough = s.looked + (v.spent // l.torus.limit.gain_part if l.torus.limit.gain_part else INT64_MAX // 2)
    cdef bint keep = s.able and v.valid and v.spent > 0
    cdef int i
    for i in range(n):
        keep = keep and slices_pay(l, &given[i])
    if not view_load(v, l, occ, keep):
        return False
    for i in range(n if keep else 0):
        if not _go(s, l, v.free, &given[i], GAIN, 0, v, enough, NULL):
            view_reset(v, l)
            break
    return True


cdef bint slices_room(slices_t *s, const row_maps_t *l, const uint64_t *occ, const box_t *p, int need) noexcept nogil:
    row_map_free(l, occ, s.free)
    return _go(s, l, s.free, p, ANY_ROOM, need, NULL, 0, NULL)


cdef bint slices_rooms(slices_t *s, const row_maps_t *l, const uint64_t *occ, const box_t *p, int need,
                       int64_t enough, family_t *three) noexcept nogil:
    row_map_free(l, occ, s.free)
    return _go(s, l, s.free, p, ALL_ROOMS, need, NULL, enough, three)
