"""The exhaustive finder; see finder_naive.pxd."""

from libc.stdlib cimport free, malloc

from faultsim._core.torus.occupancy cimport EXTENTS_DESCENDING, axis_bases, boxes_push, boxes_sort, occ_unpack


cdef void *bytes_open(const torus_t *torus) noexcept nogil:
    cdef bytes_t *s = <bytes_t *> malloc(sizeof(bytes_t))
    if s != NULL:
        s.torus = torus
        s.busy = <unsigned char *> malloc(torus.nodes)
        if s.busy == NULL:
            free(s)
            s = NULL
    return s


cdef void bytes_close(void *state) noexcept nogil:
    free((<bytes_t *> state).busy)
    free(state)


cdef bint _is_free(const bytes_t *s, const box_t *box) noexcept nogil:
    cdef const torus_t *t = s.torus
    cdef const unsigned char *line
    cdef int _i, _j, _k, x = box.x, y, z
    for _i in range(box.a):
        y = box.y
        for _j in range(box.b):
            line = &s.busy[(x * t.y + y) * t.z]
            z = box.z
            for _k in range(box.c):
                if line[z]:
                    return False
                z = z + 1 if z + 1 < t.z else 0
            y = y + 1 if y + 1 < t.y else 0
        x = x + 1 if x + 1 < t.x else 0
    return True


cdef int _scan(bytes_t *s, const uint64_t *occ, int size, box_t *largest, boxes_t *list) noexcept nogil:
    """All boxes, shapes in contract order: the largest free one (the size is returned), or those of a size."""
    cdef const torus_t *t = s.torus
    cdef box_t box
    cdef int best = 0
    occ_unpack(t, occ, s.busy)
    box.a = t.x
    while box.a:
        box.b = t.y
        while box.b:
            box.c = t.z
            while box.c:
                for box.x in range(axis_bases(t.x, box.a, t.wrap)):
                    for box.y in range(axis_bases(t.y, box.b, t.wrap)):
                        for box.z in range(axis_bases(t.z, box.c, t.wrap)):
                            if not _is_free(s, &box):
                                continue
                            if list == NULL:
                                if box.a * box.b * box.c > best:
                                    best = box.a * box.b * box.c
                                    largest[0] = box
                            elif box.a * box.b * box.c == size and boxes_push(list, &box):
                                return -1
                box.c -= 1
            box.b -= 1
        box.a -= 1
    return best


cdef int naive_largest(void *state, const uint64_t *occ, box_t *out) noexcept nogil:
    return _scan(<bytes_t *> state, occ, 0, out, NULL)


cdef int naive_all(void *state, const uint64_t *occ, int size, int order, boxes_t *list) noexcept nogil:
    if _scan(<bytes_t *> state, occ, size, NULL, list):
        return -1
    if order != EXTENTS_DESCENDING:
        boxes_sort(list, order)
    return 0
