"""Torus geometry, occupancy bitmaps and box lists; see occupancy.pxd."""

from libc.stdlib cimport free, qsort, realloc
from libc.string cimport memset

from faultsim._core.containers.bits cimport FS_LITTLE_ENDIAN, fs_pack, mask_count, mask_equal
from faultsim._core.containers.memory cimport arena_free, arena_get, arena_zeros
from faultsim._core.signals cimport raise_waiting, stopped
from faultsim._core.status cimport PYTHON_ERROR
from faultsim._core.thresholds cimport thresholds

cdef extern from "word_maps.h" nogil:
    int FS_WORD_NODES


cdef int _field(int z, int nodes, int word_nodes) noexcept nogil:
    if nodes <= word_nodes and nodes <= FS_WORD_NODES:
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
    return torus_set_up(t, x, y, z, wrap, &thresholds, NULL)


cdef int torus_set_up(torus_t *t, int x, int y, int z, bint wrap, const thresholds_t *limit,
                      int64_t *done) noexcept nogil:
    cdef int a, b, c, s
    cdef int32_t *fill              # per size: where its next shape goes
    memset(t, 0, sizeof(torus_t))
    t.x, t.y, t.z, t.wrap = x, y, z, wrap
    t.limit = limit[0]
    t.nodes = x * y * z
    t.lines = x * y
    t.field = _field(z, t.nodes, t.limit.word_nodes)
    t.words = <int> ((<int64_t> t.lines * t.field + 63) // 64)
    t.feasible = fill = <int32_t *> arena_get(&t.memory, t.nodes + 1, sizeof(int32_t))
    t.first_shape = <int32_t *> arena_zeros(&t.memory, t.nodes + 2, sizeof(int32_t))
    t.shapes = <shape_t *> arena_get(&t.memory, t.nodes, sizeof(shape_t))
    if t.memory.failed:
        torus_free(t)
        return -1
    for a in range(1, x + 1):
        for b in range(1, y + 1):
            for c in range(1, z + 1):
                t.first_shape[a * b * c + 1] += 1
            if stopped(done, z):
                torus_free(t)
                return PYTHON_ERROR
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
            if stopped(done, z):
                torus_free(t)
                return PYTHON_ERROR
    t.feasible[t.nodes] = t.nodes
    for s in range(t.nodes - 1, -1, -1):
        t.feasible[s] = s if t.first_shape[s + 1] > t.first_shape[s] else t.feasible[s + 1]
    return 0


cdef void torus_free(torus_t *t) noexcept nogil:
    arena_free(&t.memory)
    memset(t, 0, sizeof(torus_t))


# -- bit ranges ------------------------------------------------------------------------------------------------------

cdef enum visit_t:
    FILL, DROP, MEET


cdef inline bint _visit_word(uint64_t *word, uint64_t mask, visit_t what) noexcept nogil:
    """Of MEET: has a bit been set?"""
    if what == FILL:
        word[0] |= mask
    elif what == DROP:
        word[0] &= ~mask
    return what == MEET and word[0] & mask != 0


cdef inline bint _visit_run(uint64_t *occ, int64_t bit, int n, visit_t what) noexcept nogil:
    cdef int at = bit & 63
    while n > 64 - at:              # it goes on in the next word
        if _visit_word(&occ[bit >> 6], ~<uint64_t> 0 << at, what):
            return True
        bit += 64 - at
        n -= 64 - at
        at = 0
    return _visit_word(&occ[bit >> 6], ~<uint64_t> 0 >> (64 - n) << at, what)


cdef inline bint _visit_box(const torus_t *t, uint64_t *occ, const box_t *box, visit_t what) noexcept nogil:
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
            if _visit_run(occ, line + box.z, first, what):
                return True
            if first < box.c and _visit_run(occ, line, box.c - first, what):
                return True
    return False


cdef void occ_fill(const torus_t *t, uint64_t *occ, const box_t *box) noexcept nogil:
    _visit_box(t, occ, box, FILL)


cdef void occ_drop(const torus_t *t, uint64_t *occ, const box_t *box) noexcept nogil:
    _visit_box(t, occ, box, DROP)


cdef bint occ_meets(const torus_t *t, const uint64_t *occ, const box_t *box) noexcept nogil:
    return _visit_box(t, <uint64_t *> occ, box, MEET)


cdef int occ_count(const torus_t *t, const uint64_t *occ) noexcept nogil:
    return mask_count(occ, t.words)


cdef bint occ_equal(const torus_t *t, const uint64_t *a, const uint64_t *b) noexcept nogil:
    return mask_equal(a, b, t.words)


cdef void occ_pack(const torus_t *t, const unsigned char *busy, uint64_t *occ) noexcept nogil:
    cdef bint whole = t.field == t.z                    # the nodes of all lines follow each other
    cdef int line, n, nodes = t.nodes if whole else t.z, lines = 1 if whole else t.lines, field = t.field
    cdef int64_t bit
    cdef uint64_t w
    memset(occ, 0, t.words * sizeof(uint64_t))
    for line in range(lines):
        bit = <int64_t> line * field
        n = nodes
        while n >= 8:
            w = fs_pack(busy)
            occ[bit >> 6] |= w << (bit & 63)
            if bit & 63 > 56:                           # some go into the next word
                occ[(bit >> 6) + 1] |= w >> (64 - (bit & 63))
            bit, n, busy = bit + 8, n - 8, busy + 8
        while n:
            occ[bit >> 6] |= <uint64_t> (busy[0] != 0) << (bit & 63)
            bit, n, busy = bit + 1, n - 1, busy + 1


# -- lists of boxes --------------------------------------------------------------------------------------------------

cdef int boxes_grow(boxes_t *list) noexcept nogil:
    cdef long cap = list.cap * 2 if list.cap else min(64, thresholds.first_room)
    cdef box_t *at = <box_t *> realloc(list.at, cap * sizeof(box_t))
    if at == NULL:
        return -1
    list.at, list.cap = at, cap
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
    return _by_extents(<const box_t *> q, <const box_t *> p) or _by_base(<const box_t *> p, <const box_t *> q)


cdef int _ascending(const void *p, const void *q) noexcept nogil:
    return _by_extents(<const box_t *> p, <const box_t *> q) or _by_base(<const box_t *> p, <const box_t *> q)


cdef int _bases(const void *p, const void *q) noexcept nogil:
    return _by_base(<const box_t *> p, <const box_t *> q) or _by_extents(<const box_t *> p, <const box_t *> q)


cdef void boxes_sort(boxes_t *list, int order) noexcept nogil:
    if list.n < 2:  # a list that never had an item has no block, and qsort must not get NULL
        return
    if order == EXTENTS_DESCENDING:
        qsort(list.at, list.n, sizeof(box_t), _descending)
    elif order == EXTENTS_ASCENDING:
        qsort(list.at, list.n, sizeof(box_t), _ascending)
    else:
        qsort(list.at, list.n, sizeof(box_t), _bases)


# -- Python's handle -------------------------------------------------------------------------------------------------

cdef class Torus:
    def __cinit__(self, int x, int y, int z, bint wrap=True):
        cdef int64_t done = 0
        cdef int code
        if x < 1 or y < 1 or z < 1 or <double> x * y * z > 2**31 - 2:
            raise ValueError("extents must be at least 1 and their product below 2**31 - 1")
        code = torus_set_up(&self.t, x, y, z, wrap, &thresholds, &done)
        if code == PYTHON_ERROR:
            raise_waiting()
        if code < 0:
            raise MemoryError(f"no memory for a torus of {x}x{y}x{z} nodes")

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
