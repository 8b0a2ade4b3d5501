"""The table of partition finders, those that look at nodes, and their Python border; see finders.pxd."""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from faultsim._core.containers.bits cimport fs_unpack
from faultsim._core.containers.memory cimport arena_free, arena_get, arena_t
from faultsim._core.signals cimport raise_waiting, stopped
from faultsim._core.status cimport NO_MEMORY, PYTHON_ERROR
from faultsim._core.torus.choose cimport all_free, largest_free
from faultsim._core.torus.finder cimport finder_t
from faultsim._core.torus.finder_bitmap cimport finder_forget, finder_free, finder_init
from faultsim._core.torus.occupancy cimport (
    EXTENTS_DESCENDING, Torus, axis_bases, boxes_free, boxes_push, boxes_sort, occ_count, occ_pack,
)

# -- the bitmap finder as a row --------------------------------------------------------------------------------------

cdef void *_bitmap_open(const torus_t *torus) noexcept nogil:
    cdef finder_t *f = <finder_t *> malloc(sizeof(finder_t))
    if f != NULL and finder_init(f, torus):
        free(f)
        f = NULL
    return f


cdef void _bitmap_close(void *state) noexcept nogil:
    finder_free(<finder_t *> state)
    free(state)


cdef int _bitmap_largest(void *state, const uint64_t *occ, box_t *out) noexcept nogil:
    finder_forget(<finder_t *> state)                   # each question is answered from the occupancy alone
    return largest_free(<finder_t *> state, occ, out)


cdef int _bitmap_all(void *state, const uint64_t *occ, int size, int order, boxes_t *list) noexcept nogil:
    cdef long n
    finder_forget(<finder_t *> state)
    n = all_free(<finder_t *> state, occ, size, order, &list.at, &list.cap)
    list.n = max(n, 0)
    return -1 if n < 0 else 0


# -- finders that look at nodes --------------------------------------------------------------------------------------

cdef struct node_bytes_t:
    arena_t memory
    const torus_t *torus
    unsigned char *busy             # [x][y][2z]: each line twice, so that no run along z has to wrap around
    int64_t done                    # steps, for signals.pxd
    # of pop
    int32_t *run_y                  # [y][z][2x]: free nodes along y from here; twice along x (mesh: zeros)
    int32_t *run_z                  # [y][z][x]
    int32_t *least                  # [x]


cdef void *_nodes_open(const torus_t *torus) noexcept nogil:
    cdef node_bytes_t *s = <node_bytes_t *> calloc(1, sizeof(node_bytes_t))
    if s == NULL:
        return NULL
    s.torus = torus
    s.busy = <unsigned char *> arena_get(&s.memory, 2 * <size_t> torus.nodes, 1)
    s.run_y = <int32_t *> arena_get(&s.memory, 2 * <size_t> torus.nodes, sizeof(int32_t))
    s.run_z = <int32_t *> arena_get(&s.memory, torus.nodes, sizeof(int32_t))
    s.least = <int32_t *> arena_get(&s.memory, torus.x, sizeof(int32_t))
    if s.memory.failed:
        _nodes_close(s)
        return NULL
    return s


cdef void _nodes_close(void *state) noexcept nogil:
    arena_free(&(<node_bytes_t *> state).memory)
    free(state)


cdef void _unpack(const node_bytes_t *s, const uint64_t *occ) noexcept nogil:
    cdef int nz = s.torus.z, line, z, n, at
    cdef int64_t bit
    cdef uint64_t w
    cdef unsigned char *to = s.busy
    for line in range(s.torus.lines):
        z = 0
        while z < nz:                                   # 64 nodes at a time
            bit = <int64_t> line * s.torus.field + z
            at, n = bit & 63, min(64, nz - z)
            w = occ[bit >> 6] >> at
            if at + n > 64:
                w |= occ[(bit >> 6) + 1] << (64 - at)
            while n >= 8:
                fs_unpack(w, to + z)
                w, z, n = w >> 8, z + 8, n - 8
            while n:
                to[z] = w & 1
                w, z, n = w >> 1, z + 1, n - 1
        memcpy(to + nz, to, nz)
        to += 2 * nz


cdef inline const unsigned char *_line(const node_bytes_t *s, int x, int y) noexcept nogil:
    return &s.busy[2 * (x * <int64_t> s.torus.y + y) * s.torus.z]


cdef inline int _first_busy(const node_bytes_t *s, int x, int y, int z, int a, int b, int c,
                            int64_t *looked) noexcept nogil:
    """How far along z the first busy node found is from the base; -1 = the box is free.  Counts rows of lines."""
    cdef int nx = s.torus.x, ny = s.torus.y, at, _i, _j, k
    cdef int64_t pitch = 2 * <int64_t> s.torus.z
    cdef const unsigned char *row
    cdef const unsigned char *line
    for _i in range(a):
        looked[0] += 1
        row = &s.busy[x * ny * pitch + z]
        at = y
        for _j in range(b):
            line = row + at * pitch
            for k in range(c):
                if line[k]:
                    return k
            at = at + 1 if at + 1 < ny else 0
        x = x + 1 if x + 1 < nx else 0
    return -1


# -- naive: every box of every shape is read node by node -------------------------------------------------------

cdef int _naive(node_bytes_t *s, const uint64_t *occ, int size, box_t *largest, boxes_t *list) noexcept nogil:
    """All boxes, shapes in contract order: the largest free one (the size is returned), or those of a size."""
    cdef const torus_t *t = s.torus
    cdef box_t box
    cdef const unsigned char *base
    cdef int best = 0, a, b, c, x, y, z, last
    cdef int64_t looked
    _unpack(s, occ)
    # `best` is the size of `largest`, the first largest free box among the shapes so far; or `list` has their free
    # boxes.
    for a in range(t.x, 0, -1):
        for b in range(t.y, 0, -1):
            for c in range(t.z, 0, -1):
                last = axis_bases(t.z, c, t.wrap)
                for x in range(axis_bases(t.x, a, t.wrap)):
                    for y in range(axis_bases(t.y, b, t.wrap)):
                        looked = 0
                        base = _line(s, x, y)
                        for z in range(last):
                            if base[z] or _first_busy(s, x, y, z, a, b, c, &looked) >= 0:
                                continue
                            if a * b * c <= best if list == NULL else a * b * c != size:
                                continue
                            box.x, box.y, box.z, box.a, box.b, box.c = x, y, z, a, b, c
                            if list == NULL:
                                best = a * b * c
                                largest[0] = box
                            elif boxes_push(list, &box):
                                return NO_MEMORY
                        if stopped(&s.done, looked * b * c + last):
                            return PYTHON_ERROR
    return best


cdef int _naive_largest(void *state, const uint64_t *occ, box_t *out) noexcept nogil:
    return _naive(<node_bytes_t *> state, occ, 0, out, NULL)


cdef int _naive_all(void *state, const uint64_t *occ, int size, int order, boxes_t *list) noexcept nogil:
    cdef int code = _naive(<node_bytes_t *> state, occ, size, NULL, list)
    if code < 0:
        return code
    if order != EXTENTS_DESCENDING:
        boxes_sort(list, order)
    return 0


# -- divisor: the shapes of a size follow from its divisors ----------------------------------------------------------
#
# Bases are taken in increasing order of x, y, z and the nodes of a box likewise; the first busy node ends the look at a
# base, and all further bases along z with the same node in their box are skipped ("no need to search in any of
# the dimensions further").  The largest free box is found by trying one size after the other, from the number of
# free nodes downwards.

cdef int _of_shape(node_bytes_t *s, int a, int b, int c, bint only_first, boxes_t *list) noexcept nogil:
    """Free boxes of a shape, or the first of them.  0; or a status < 0"""
    cdef const torus_t *t = s.torus
    cdef box_t box
    cdef const unsigned char *base
    cdef int x, y, z, hit, last = axis_bases(t.z, c, t.wrap)
    cdef int64_t looked
    for x in range(axis_bases(t.x, a, t.wrap)):
        for y in range(axis_bases(t.y, b, t.wrap)):
            z = 0
            looked = 0
            base = _line(s, x, y)
            while z < last:
                if base[z]:
                    z += 1
                    continue
                hit = _first_busy(s, x, y, z, a, b, c, &looked)
                if hit < 0:
                    box.x, box.y, box.z, box.a, box.b, box.c = x, y, z, a, b, c
                    if boxes_push(list, &box):
                        return NO_MEMORY
                    if only_first:
                        return 0
                    hit = 0
                z += hit + 1
            if stopped(&s.done, looked * b * c + last):
                return PYTHON_ERROR
    return 0


cdef int _divisor(node_bytes_t *s, int size, bint only_first, boxes_t *list) noexcept nogil:
    """Free boxes of a size in contract order, or the first of them.  0; or a status < 0"""
    cdef const torus_t *t = s.torus
    cdef int a, b, c, code
    for a in range(min(size, t.x), 0, -1):
        if size % a:
            continue
        for b in range(min(size // a, t.y), 0, -1):
            c = size // a // b
            if c > t.z or a * b * c != size:
                continue
            code = _of_shape(s, a, b, c, only_first, list)
            if code < 0 or (only_first and list.n):
                return code
    return 0


cdef int _divisor_largest(void *state, const uint64_t *occ, box_t *out) noexcept nogil:
    cdef node_bytes_t *s = <node_bytes_t *> state
    cdef const torus_t *t = s.torus
    cdef boxes_t list
    cdef int size = t.nodes - occ_count(t, occ), code
    list.at, list.n, list.cap = out, 0, 1               # room for the one box that is requested
    _unpack(s, occ)
    while size > 0:
        if t.feasible[size] == size:
            code = _divisor(s, size, True, &list)
            if code < 0:
                return code
            if list.n:
                return size
        size -= 1
    return 0


cdef int _divisor_all(void *state, const uint64_t *occ, int size, int order, boxes_t *list) noexcept nogil:
    cdef node_bytes_t *s = <node_bytes_t *> state
    cdef int code
    _unpack(s, occ)
    code = _divisor(s, size, False, list)
    if code < 0:
        return code
    if order != EXTENTS_DESCENDING:
        boxes_sort(list, order)
    return 0


# -- pop: Krevat's projection of partitions, the baseline of our measurements ----------------------------------------
#
# Tables hold the runs of free nodes that begin at each node.  For a base (i, j, k), planes are taken in one after the
# other along z; least[x] is the shortest y-run at (i + x, j) over the planes so far, and the largest box on them is
# found in one walk along x: (x + 1) * min(least[0 .. x]) * planes.  A run of 0 ends the walk, and no later plane goes
# beyond it.  A base is left early if its runs along the three axes cannot make up a larger box than the best so far
# (not in K; it is free).

cdef void _tables(node_bytes_t *s, const uint64_t *occ) noexcept nogil:
    """The runs, from the last coordinate to the first; on a torus a second round extends those that wrap around."""
    cdef const torus_t *t = s.torus
    cdef int x, y, z, i, rounds = 2 if t.wrap else 1
    cdef int32_t *here
    cdef const int32_t *ahead
    _unpack(s, occ)
    for y in range(t.y):
        for z in range(t.z):
            here = &s.run_y[2 * (y * t.z + z) * t.x]
            for x in range(t.x):
                here[x] = s.run_z[(y * t.z + z) * t.x + x] = 1 - s.busy[2 * (x * <int64_t> t.y + y) * t.z + z]
    for i in range(rounds * t.y - 2, -1, -1):
        y = i % t.y
        for z in range(t.z):
            here = &s.run_y[2 * (y * t.z + z) * t.x]
            ahead = &s.run_y[2 * ((y + 1) % t.y * t.z + z) * t.x]
            for x in range(t.x):
                here[x] = min(ahead[x] + 1, t.y) if here[x] else 0
    for y in range(t.y):
        for i in range(rounds * t.z - 2, -1, -1):
            z = i % t.z
            here = &s.run_z[(y * t.z + z) * t.x]
            ahead = &s.run_z[(y * t.z + (z + 1) % t.z) * t.x]
            for x in range(t.x):
                here[x] = min(ahead[x] + 1, t.z) if here[x] else 0
    for i in range(t.y * t.z):
        here = &s.run_y[2 * i * t.x]
        for x in range(t.x):
            here[t.x + x] = here[x] if t.wrap else 0


cdef inline bint _box_free(const int32_t *runs, int pitch, int nz, int z, int a, int b, int c) noexcept nogil:
    """Whether the box with its base at z of these runs along y is free."""
    cdef const int32_t *row = runs + z * pitch
    cdef int i, k
    for k in range(c):
        if z + k == nz:
            row -= nz * pitch
        for i in range(a):
            if row[i] < b:
                return False
        row += pitch
    return True


cdef int _first_of(node_bytes_t *s, int size, box_t *out) noexcept nogil:
    """The first free box of a size that is known to have one, in contract order; 0, or a status < 0."""
    cdef const torus_t *t = s.torus
    cdef int i, a, b, c, x, y, z
    cdef const int32_t *runs
    for i in range(t.first_shape[size + 1] - 1, t.first_shape[size] - 1, -1):
        a, b, c = t.shapes[i].a, t.shapes[i].b, t.shapes[i].c
        for x in range(axis_bases(t.x, a, t.wrap)):
            for y in range(axis_bases(t.y, b, t.wrap)):
                runs = &s.run_y[2 * y * t.z * t.x + x]
                for z in range(axis_bases(t.z, c, t.wrap)):
                    if _box_free(runs, 2 * t.x, t.z, z, a, b, c):
                        out.x, out.y, out.z, out.a, out.b, out.c = x, y, z, a, b, c
                        return 0
                if stopped(&s.done, <int64_t> t.z * a):
                    return PYTHON_ERROR
    return 0


cdef inline int _pop(node_bytes_t *s, const uint64_t *occ, bint all, int size, boxes_t *list) noexcept nogil:
    """The size of the largest free box; or `all` boxes of a size into a list.  Or a status < 0."""
    cdef const torus_t *t = s.torus
    cdef const int32_t *row
    cdef int32_t *least = s.least
    cdef int x, y, z, plane, i, run, end, low, best = 0
    cdef int64_t looked
    cdef box_t box
    _tables(s, occ)
    # `best` is the size of the largest free box with a base before (x, y, z).  At a base, least[i] is the least run
    # along y at x + i over the planes so far, and `end` bounds the extent along x, which only falls with more planes.
    for x in range(t.x):
        for y in range(t.y):
            looked = t.z
            for z in range(t.z):
                run = s.run_z[(y * t.z + z) * t.x + x]
                end = t.x
                if not all and end * s.run_y[2 * (y * t.z + z) * t.x + x] * run <= best:
                    continue
                plane = 0
                while plane < run:
                    row = &s.run_y[2 * (y * t.z + (z + plane) % t.z) * t.x + x]
                    plane += 1
                    if all:
                        end = min(end, size // plane)
                    low = t.y
                    for i in range(end):
                        if plane == 1 or row[i] < least[i]:
                            least[i] = row[i]
                        if least[i] < low:
                            best = max(best, i * low * plane)
                            low = least[i]
                            if low == 0:
                                end = i
                                break
                        if all and (i + 1) * low * plane >= size and size % ((i + 1) * plane) == 0:
                            box.x, box.y, box.z = x, y, z
                            box.a, box.b, box.c = i + 1, size // ((i + 1) * plane), plane
                            if (x < axis_bases(t.x, box.a, t.wrap) and y < axis_bases(t.y, box.b, t.wrap)
                                    and z < axis_bases(t.z, plane, t.wrap)) and boxes_push(list, &box):
                                return NO_MEMORY
                    best = max(best, end * low * plane)
                    looked += end + 1
                    if end == 0 or (not all and end * least[0] * run <= best):
                        break
            if stopped(&s.done, looked):
                return PYTHON_ERROR
    return best


cdef int _pop_largest(void *state, const uint64_t *occ, box_t *out) noexcept nogil:
    cdef int best = _pop(<node_bytes_t *> state, occ, False, 0, NULL), code = 0
    if out != NULL and best > 0:
        code = _first_of(<node_bytes_t *> state, best, out)
    return best if code == 0 else code


cdef int _pop_all(void *state, const uint64_t *occ, int size, int order, boxes_t *list) noexcept nogil:
    cdef int code = _pop(<node_bytes_t *> state, occ, True, size, list)
    if code < 0:
        return code
    boxes_sort(list, order)
    return 0


# -- the table -------------------------------------------------------------------------------------------------------

cdef finder_row_t[4] FINDERS

FINDERS[0] = finder_row_t(b"bitmap", b"O(M^5 / 64), about", b"faultsim: a bit a node, shift and AND, an area bound",
                          _bitmap_open, _bitmap_close, _bitmap_largest, _bitmap_all)
FINDERS[1] = finder_row_t(b"divisor", b"O(M^3 s f(s)^2) a size s", b"[oliner2004] appendix 9",
                          _nodes_open, _nodes_close, _divisor_largest, _divisor_all)
FINDERS[2] = finder_row_t(b"pop", b"O(M^5)", b"[krevat2002] appendix A",
                          _nodes_open, _nodes_close, _pop_largest, _pop_all)
FINDERS[3] = finder_row_t(b"naive", b"O(M^9)", b"[krevat2002] section 2",
                          _nodes_open, _nodes_close, _naive_largest, _naive_all)


cdef const finder_row_t *finder_row(int number) noexcept nogil:
    return &FINDERS[number] if 0 <= number < 4 else NULL


# -- Python's border -------------------------------------------------------------------------------------------------

def table():
    """(name, complexity, source) of each finder, in the order of their numbers."""
    return [(FINDERS[i].name.decode(), FINDERS[i].complexity.decode(), FINDERS[i].source.decode()) for i in range(4)]


cdef class Finder:
    """Many occupancies of one torus, asked in one call without the GIL; each question is answered afresh."""
    cdef Torus torus
    cdef const finder_row_t *row
    cdef void *state
    cdef uint64_t *occ              # [n][words]
    cdef boxes_t list
    cdef readonly int n

    def __cinit__(self, Torus torus, int number, const unsigned char[:, :, :, ::1] busy):
        cdef int i
        cdef int words = torus.t.words
        self.torus, self.n = torus, busy.shape[0]
        self.row = finder_row(number)
        if self.row == NULL:
            raise ValueError(f"no finder has number {number}")
        if busy.shape[1] != torus.t.x or busy.shape[2] != torus.t.y or busy.shape[3] != torus.t.z:
            raise ValueError("the occupancies are not those of the torus")
        self.state = self.row.open(&torus.t)
        self.occ = <uint64_t *> calloc(<size_t> self.n * words, sizeof(uint64_t))
        if self.state == NULL or self.occ == NULL:
            raise MemoryError
        with nogil:
            for i in range(self.n):
                occ_pack(&torus.t, &busy[i, 0, 0, 0], &self.occ[i * <size_t> words])

    def __dealloc__(self):
        if self.state != NULL:
            self.row.close(self.state)
        free(self.occ)
        boxes_free(&self.list)

    def largest(self, int32_t[:, ::1] out, int times=1):
        """The largest free box of each occupancy into a row (x, y, z, a, b, c), zeros where there is none."""
        cdef int i, _k, size = 0
        cdef box_t box
        if out.shape[0] != self.n or out.shape[1] != 6:
            raise ValueError("out has a row of 6 for each occupancy")
        with nogil:
            for _k in range(times):
                for i in range(self.n):
                    size = self.row.largest(self.state, &self.occ[i * <size_t> self.torus.t.words], &box)
                    if size <= 0:
                        memset(&box, 0, sizeof(box))
                    memcpy(&out[i, 0], &box, sizeof(box))
                    if size < 0:
                        break
                if size < 0:
                    break
        self._conclude(size)

    def count(self, int size, int order=0, int times=1):
        """How many free boxes of a size there are in all occupancies together; each list is made and dropped."""
        cdef int i, _k, bad = 0
        cdef long total = 0
        self._check(size, order)
        with nogil:
            for _k in range(times):
                for i in range(self.n):
                    self.list.n = 0
                    bad = self.row.all(self.state, &self.occ[i * <size_t> self.torus.t.words], size, order, &self.list)
                    total += self.list.n
                    if bad < 0:
                        break
                if bad < 0:
                    break
        self._conclude(bad)
        return total

    def boxes(self, int size, int order=0, int which=0):
        """Every free box of a size of one occupancy: bytes, six int32 a box."""
        cdef int bad
        self._check(size, order)
        if not 0 <= which < self.n:
            raise IndexError(which)
        self.list.n = 0
        with nogil:
            bad = self.row.all(self.state, &self.occ[which * <size_t> self.torus.t.words], size, order, &self.list)
        self._conclude(bad)
        return (<char *> self.list.at)[:self.list.n * sizeof(box_t)] if self.list.n else b""

    cdef int _conclude(self, int code) except -1:
        if code == PYTHON_ERROR:
            raise_waiting()
        if code < 0:
            raise MemoryError("no memory for the free boxes")
        return 0

    cdef int _check(self, int size, int order) except -1:
        if not 1 <= size <= self.torus.t.nodes or not 0 <= order <= 2:
            raise ValueError("size or order out of range")
        return 0
