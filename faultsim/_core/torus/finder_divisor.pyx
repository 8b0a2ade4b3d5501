"""Oliner's finder; see finder_divisor.pxd."""

from faultsim._core.torus.finder_naive cimport bytes_t
from faultsim._core.torus.occupancy cimport (
    EXTENTS_DESCENDING, axis_bases, boxes_push, boxes_sort, occ_count, occ_unpack, torus_t,
)


cdef inline int _first_busy(const bytes_t *s, const box_t *box) noexcept nogil:
    """How far along z the first busy node found is from the base; -1 = the box is free."""
    cdef const torus_t *t = s.torus
    cdef const unsigned char *line
    cdef int _i, _j, k, x = box.x, y, rest = min(box.c, t.z - box.z)
    for _i in range(box.a):
        y = box.y
        for _j in range(box.b):
            line = &s.busy[(x * t.y + y) * t.z]
            for k in range(rest):
                if line[box.z + k]:
                    return k
            for k in range(box.c - rest):
                if line[k]:
                    return rest + k
            y = y + 1 if y + 1 < t.y else 0
        x = x + 1 if x + 1 < t.x else 0
    return -1


cdef int _scan(bytes_t *s, int size, bint only_first, boxes_t *list) noexcept nogil:
    """Free boxes of a size in contract order, or the first of them.  0; -1 no memory"""
    cdef const torus_t *t = s.torus
    cdef box_t box
    cdef int hit, last
    box.a = min(size, t.x)
    while box.a:
        if size % box.a == 0:
            box.b = min(size // box.a, t.y)
            while box.b:
                box.c = size // box.a // box.b
                if box.c <= t.z and box.a * box.b * box.c == size:
                    last = axis_bases(t.z, box.c, t.wrap)
                    for box.x in range(axis_bases(t.x, box.a, t.wrap)):
                        for box.y in range(axis_bases(t.y, box.b, t.wrap)):
                            box.z = 0
                            while box.z < last:
                                hit = _first_busy(s, &box)
                                if hit >= 0:
                                    box.z += hit + 1
                                    continue
                                if boxes_push(list, &box):
                                    return -1
                                if only_first:
                                    return 0
                                box.z += 1
                box.b -= 1
        box.a -= 1
    return 0


cdef int divisor_largest(void *state, const uint64_t *occ, box_t *out) noexcept nogil:
    cdef bytes_t *s = <bytes_t *> state
    cdef const torus_t *t = s.torus
    cdef boxes_t list
    cdef int size = t.nodes - occ_count(t, occ)
    list.at, list.n, list.cap = out, 0, 1               # room for the one box that is asked for
    occ_unpack(t, occ, s.busy)
    while size > 0:
        if t.feasible[size] == size:
            _scan(s, size, True, &list)
            if list.n:
                return size
        size -= 1
    return 0


cdef int divisor_all(void *state, const uint64_t *occ, int size, int order, boxes_t *list) noexcept nogil:
    cdef bytes_t *s = <bytes_t *> state
    occ_unpack(s.torus, occ, s.busy)
    if _scan(s, size, False, list):
        return -1
    if order != EXTENTS_DESCENDING:
        boxes_sort(list, order)
    return 0
