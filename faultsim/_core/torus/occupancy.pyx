"""Torus geometry, occupancy bitmaps and box lists; see occupancy.pxd."""

from libc.stdlib cimport calloc, free, malloc, qsort, realloc
from libc.string cimport memcmp, memset

from faultsim._core.containers.bits cimport FS_LITTLE_ENDIAN, fs_popcount

cdef extern from "word_maps.h" nogil:
    int FS_WORD_NODES


cdef int _field(int z, int nodes) noexcept nogil:
    if nodes <= FS_WORD_NODES:
        return z
    if FS_LITTLE_ENDIAN:
        if z <= 8:
            return 8
        if z <= 16:
            return 16
        if z <= 32:
            return 32
    return (z + 63) // 64 * 64


cdef int torus_init(torus_t *t, int x, int y, int z, bint wrap) noexcept nogil:
    cdef int a, b, c, s
    cdef int32_t *fill
    memset(t, 0, sizeof(torus_t))
    t.x, t.y, t.z, t.wrap = x, y, z, wrap
    t.nodes = x * y * z
    t.lines = x * y
    t.field = _field(z, t.nodes)
    t.words = <int> ((<int64_t> t.lines * t.field + 63) // 64)
    t.feasible = <int32_t *> malloc((t.nodes + 1) * sizeof(int32_t))
    t.first_shape = <int32_t *> calloc(t.nodes + 2, sizeof(int32_t))
    t.shapes = <shape_t *> malloc(t.nodes * sizeof(shape_t))
    fill = <int32_t *> malloc((t.nodes + 1) * sizeof(int32_t))
    if t.feasible == NULL or t.first_shape == NULL or t.shapes == NULL or fill == NULL:
        free(fill)
        torus_free(t)
        return -1
    for a in range(1, x + 1):
        for b in range(1, y + 1):
            for c in range(1, z + 1):
                t.first_shape[a * b * c + 1] += 1
    for s in range(t.nodes + 1):
        t.first_shape[s + 1] += t.first_shape[s]
        fill[s] = t.first_shape[s]
    for a in range(1, x + 1):
        for b in range(1, y + 1):
            for c in range(1, z + 1):
                s = a * b * c
                t.shapes[fill[s]].a = a
                t.shapes[fill[s]].b = b
                t.shapes[fill[s]].c = c
                fill[s] += 1
    free(fill)
    t.feasible[t.nodes] = t.nodes
    for s in range(t.nodes - 1, -1, -1):
        t.feasible[s] = s if t.first_shape[s + 1] > t.first_shape[s] else t.feasible[s + 1]
    return 0


cdef void torus_free(torus_t *t) noexcept nogil:
    free(t.feasible)
    free(t.first_shape)
    free(t.shapes)
    memset(t, 0, sizeof(torus_t))


# -- bit ranges ------------------------------------------------------------------------------------------------------

cdef inline uint64_t _ones(int n) noexcept nogil:       # the lowest n bits, 1 <= n <= 64
    return (~<uint64_t> 0) >> (64 - n)


cdef inline void _fill_run(uint64_t *occ, int64_t bit, int n, bint busy) noexcept nogil:
    cdef int at, take
    cdef uint64_t mask
    while n > 0:
        at = bit & 63
        take = min(n, 64 - at)
        mask = _ones(take) << at
        if busy:
            occ[bit >> 6] |= mask
        else:
            occ[bit >> 6] &= ~mask
        bit += take
        n -= take


cdef inline bint _run_meets(const uint64_t *occ, int64_t bit, int n) noexcept nogil:
    cdef int at, take
    while n > 0:
        at = bit & 63
        take = min(n, 64 - at)
        if (occ[bit >> 6] >> at) & _ones(take):
            return True
        bit += take
        n -= take
    return False


cdef void _fill_box(const torus_t *t, uint64_t *occ, const box_t *box, bint busy) noexcept nogil:
    cdef int i, j, ix, iy
    cdef int first = min(box.c, t.z - box.z)            # the part of the z-run before it wraps
    cdef int64_t line
    for i in range(box.a):
        ix = box.x + i
        if ix >= t.x:
            ix -= t.x
        for j in range(box.b):
            iy = box.y + j
            if iy >= t.y:
                iy -= t.y
            line = (<int64_t> ix * t.y + iy) * t.field
            _fill_run(occ, line + box.z, first, busy)
            if first < box.c:
                _fill_run(occ, line, box.c - first, busy)


cdef void occ_fill(const torus_t *t, uint64_t *occ, const box_t *box) noexcept nogil:
    _fill_box(t, occ, box, True)


cdef void occ_drop(const torus_t *t, uint64_t *occ, const box_t *box) noexcept nogil:
    _fill_box(t, occ, box, False)


cdef bint occ_meets(const torus_t *t, const uint64_t *occ, const box_t *box) noexcept nogil:
    cdef int i, j, ix, iy
    cdef int first = min(box.c, t.z - box.z)
    cdef int64_t line
    for i in range(box.a):
        ix = box.x + i
        if ix >= t.x:
            ix -= t.x
        for j in range(box.b):
            iy = box.y + j
            if iy >= t.y:
                iy -= t.y
            line = (<int64_t> ix * t.y + iy) * t.field
            if _run_meets(occ, line + box.z, first):
                return True
            if first < box.c and _run_meets(occ, line, box.c - first):
                return True
    return False


cdef int occ_count(const torus_t *t, const uint64_t *occ) noexcept nogil:
    cdef int i, n = 0
    for i in range(t.words):
        n += fs_popcount(occ[i])
    return n


cdef bint occ_equal(const torus_t *t, const uint64_t *a, const uint64_t *b) noexcept nogil:
    return memcmp(a, b, t.words * sizeof(uint64_t)) == 0


cdef void occ_pack(const torus_t *t, const unsigned char *busy, uint64_t *occ) noexcept nogil:
    cdef int line, _z, node = 0
    cdef int64_t bit
    memset(occ, 0, t.words * sizeof(uint64_t))
    for line in range(t.lines):
        bit = <int64_t> line * t.field
        for _z in range(t.z):
            occ[bit >> 6] |= <uint64_t> (busy[node] != 0) << (bit & 63)
            bit += 1
            node += 1


cdef void occ_unpack(const torus_t *t, const uint64_t *occ, unsigned char *busy) noexcept nogil:
    cdef int line, _z, node = 0
    cdef int64_t bit
    for line in range(t.lines):
        bit = <int64_t> line * t.field
        for _z in range(t.z):
            busy[node] = (occ[bit >> 6] >> (bit & 63)) & 1
            bit += 1
            node += 1


# -- lists of boxes --------------------------------------------------------------------------------------------------

cdef int boxes_push(boxes_t *list, const box_t *box) noexcept nogil:
    cdef long cap
    cdef box_t *at
    if list.n == list.cap:
        cap = list.cap * 2 if list.cap else 64
        at = <box_t *> realloc(list.at, cap * sizeof(box_t))
        if at == NULL:
            return -1
        list.at = at
        list.cap = cap
    list.at[list.n] = box[0]
    list.n += 1
    return 0


cdef void boxes_free(boxes_t *list) noexcept nogil:
    free(list.at)
    memset(list, 0, sizeof(boxes_t))


cdef inline int _by_extents(const box_t *p, const box_t *q) noexcept nogil:
    if p.a != q.a:
        return -1 if p.a < q.a else 1
    if p.b != q.b:
        return -1 if p.b < q.b else 1
    if p.c != q.c:
        return -1 if p.c < q.c else 1
    return 0


cdef inline int _by_base(const box_t *p, const box_t *q) noexcept nogil:
    if p.x != q.x:
        return -1 if p.x < q.x else 1
    if p.y != q.y:
        return -1 if p.y < q.y else 1
    if p.z != q.z:
        return -1 if p.z < q.z else 1
    return 0


cdef int _descending(const void *p, const void *q) noexcept nogil:
    cdef int sign = -_by_extents(<const box_t *> p, <const box_t *> q)
    return sign if sign else _by_base(<const box_t *> p, <const box_t *> q)


cdef int _ascending(const void *p, const void *q) noexcept nogil:
    cdef int sign = _by_extents(<const box_t *> p, <const box_t *> q)
    return sign if sign else _by_base(<const box_t *> p, <const box_t *> q)


cdef int _bases(const void *p, const void *q) noexcept nogil:
    cdef int sign = _by_base(<const box_t *> p, <const box_t *> q)
    return sign if sign else _by_extents(<const box_t *> p, <const box_t *> q)


cdef void boxes_sort(boxes_t *list, int order) noexcept nogil:
    if order == EXTENTS_DESCENDING:
        qsort(list.at, list.n, sizeof(box_t), _descending)
    elif order == EXTENTS_ASCENDING:
        qsort(list.at, list.n, sizeof(box_t), _ascending)
    else:
        qsort(list.at, list.n, sizeof(box_t), _bases)


# -- Python's handle -------------------------------------------------------------------------------------------------

cdef class Torus:
    def __cinit__(self, int x, int y, int z, bint wrap=True):
        if x < 1 or y < 1 or z < 1 or <double> x * y * z > 2**31 - 2:
            raise ValueError("extents must be at least 1 and their product below 2**31 - 1")
        if torus_init(&self.t, x, y, z, wrap):
            raise MemoryError

    def __dealloc__(self):
        torus_free(&self.t)

    @property
    def words(self):
        return self.t.words

    def feasible_sizes(self):
        """All sizes that some box has, ascending."""
        cdef int s
        return [s for s in range(1, self.t.nodes + 1) if self.t.feasible[s] == s]

    def next_feasible(self, int size):
        return next_feasible(&self.t, size)
