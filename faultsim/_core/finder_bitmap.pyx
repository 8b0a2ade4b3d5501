"""The bitmap finder; see finder_bitmap.pxd."""

from libc.stdint cimport uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from faultsim._core.torus cimport (
    BASES, EXTENTS_DESCENDING, box_t, boxes_push, boxes_sort, boxes_t, occ_count, occ_meets, shape_t, torus_t,
)


cdef int finder_init(finder_t *f, const torus_t *torus) noexcept nogil:
    memset(f, 0, sizeof(finder_t))
    f.torus = torus
    f.scratch = <uint64_t *> malloc(torus.words * sizeof(uint64_t))
    return 0 if f.scratch != NULL else -1


cdef void finder_free(finder_t *f) noexcept nogil:
    free(f.scratch)
    memset(f, 0, sizeof(finder_t))


cdef inline int _bases(int n, int extent, bint wrap) noexcept nogil:
    return 1 if extent == n else (n if wrap else n - extent + 1)


cdef int _scan(const torus_t *t, const uint64_t *occ, int size, int order, box_t *first, boxes_t *list) noexcept nogil:
    """The first free box, or all of them in extents order."""
    cdef int lo = t.first_shape[size], hi = t.first_shape[size + 1]
    cdef int k, i, j, l
    cdef shape_t s
    cdef box_t box
    for k in range(hi - lo):
        s = t.shapes[hi - 1 - k if order == EXTENTS_DESCENDING else lo + k]
        box.a, box.b, box.c = s.a, s.b, s.c
        for i in range(_bases(t.x, s.a, t.wrap)):
            for j in range(_bases(t.y, s.b, t.wrap)):
                for l in range(_bases(t.z, s.c, t.wrap)):
                    box.x, box.y, box.z = i, j, l
                    if not occ_meets(t, occ, &box):
                        if list == NULL:
                            first[0] = box
                            return 1
                        if boxes_push(list, &box):
                            return -1
    return 0


cdef int largest_free(finder_t *f, const uint64_t *occ, box_t *out) noexcept nogil:
    cdef box_t box
    cdef int s = f.torus.nodes - occ_count(f.torus, occ)
    while s > 0:
        if first_free(f, occ, s, EXTENTS_DESCENDING, &box):
            if out != NULL:
                out[0] = box
            return s
        s -= 1
    return 0


cdef bint has_free(finder_t *f, const uint64_t *occ, int at_least, box_t *witness) noexcept nogil:
    cdef box_t box
    cdef int s = largest_free(f, occ, &box)
    if s < at_least or s == 0:
        return False
    if witness != NULL:
        witness[0] = box
    return True


cdef bint first_free(finder_t *f, const uint64_t *occ, int size, int order, box_t *out) noexcept nogil:
    cdef boxes_t list
    cdef bint found
    if size < 1 or size > f.torus.nodes:
        return False
    if order != BASES:
        return _scan(f.torus, occ, size, order, out, NULL) == 1
    memset(&list, 0, sizeof(list))
    found = all_free(f, occ, size, order, &list.at, &list.cap) > 0
    if found:
        out[0] = list.at[0]
    free(list.at)
    return found


cdef long all_free(finder_t *f, const uint64_t *occ, int size, int order, box_t **buf, long *cap) noexcept nogil:
    cdef boxes_t list
    cdef int code = 0
    list.at, list.cap, list.n = buf[0], cap[0], 0
    if 1 <= size <= f.torus.nodes:
        code = _scan(f.torus, occ, size, order, NULL, &list)
    if order == BASES:
        boxes_sort(&list, order)
    buf[0] = list.at
    cap[0] = list.cap
    return list.n if code == 0 else -1
