"""Krevat's projection of partitions; see finder_pop.pxd."""

from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc

from faultsim._core.torus.occupancy cimport axis_bases, boxes_push, boxes_sort, occ_unpack, shape_t


cdef struct pop_t:
    const torus_t *torus
    unsigned char *busy             # [x][y][z]
    int32_t *run_y                  # [y][z][2x]: free nodes along y from here; twice along x (mesh: zeros)
    int32_t *run_z                  # [y][z][x]
    int32_t *least                  # [x]


cdef void *pop_open(const torus_t *torus) noexcept nogil:
    cdef pop_t *s = <pop_t *> malloc(sizeof(pop_t))
    cdef size_t n = torus.nodes
    if s == NULL:
        return NULL
    s.torus = torus
    s.busy = <unsigned char *> malloc(n)
    s.run_y = <int32_t *> malloc(2 * n * sizeof(int32_t))
    s.run_z = <int32_t *> malloc(n * sizeof(int32_t))
    s.least = <int32_t *> malloc(torus.x * sizeof(int32_t))
    if s.busy == NULL or s.run_y == NULL or s.run_z == NULL or s.least == NULL:
        pop_close(s)
        return NULL
    return s


cdef void pop_close(void *state) noexcept nogil:
    cdef pop_t *s = <pop_t *> state
    free(s.busy)
    free(s.run_y)
    free(s.run_z)
    free(s.least)
    free(s)


cdef void _tables(pop_t *s, const uint64_t *occ) noexcept nogil:
    """The runs, from the last coordinate to the first; on a torus a second round extends those that wrap around."""
    cdef const torus_t *t = s.torus
    cdef int x, y, z, i, rounds = 2 if t.wrap else 1
    cdef int32_t *here
    cdef const int32_t *ahead
    occ_unpack(t, occ, s.busy)
    for y in range(t.y):
        for z in range(t.z):
            here = &s.run_y[2 * (y * t.z + z) * t.x]
            for x in range(t.x):
                here[x] = s.run_z[(y * t.z + z) * t.x + x] = 1 - s.busy[(x * t.y + y) * t.z + z]
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


cdef bint _box_free(const pop_t *s, const box_t *box) noexcept nogil:
    cdef const torus_t *t = s.torus
    cdef const int32_t *row
    cdef int x, _i, z = box.z
    for _i in range(box.c):
        row = &s.run_y[2 * (box.y * t.z + z) * t.x + box.x]
        for x in range(box.a):
            if row[x] < box.b:
                return False
        z = z + 1 if z + 1 < t.z else 0
    return True


cdef void _first_of(const pop_t *s, int size, box_t *out) noexcept nogil:
    """The first free box of a size that is known to have one, in contract order."""
    cdef const torus_t *t = s.torus
    cdef int k
    cdef shape_t shape
    for k in range(t.first_shape[size + 1] - 1, t.first_shape[size] - 1, -1):
        shape = t.shapes[k]
        out.a, out.b, out.c = shape.a, shape.b, shape.c
        for out.x in range(axis_bases(t.x, shape.a, t.wrap)):
            for out.y in range(axis_bases(t.y, shape.b, t.wrap)):
                for out.z in range(axis_bases(t.z, shape.c, t.wrap)):
                    if _box_free(s, out):
                        return


cdef int pop_largest(void *state, const uint64_t *occ, box_t *out) noexcept nogil:
    cdef pop_t *s = <pop_t *> state
    cdef const torus_t *t = s.torus
    cdef const int32_t *row
    cdef int32_t *least = s.least
    cdef int x, y, z, plane, i, run, end, low, best = 0
    _tables(s, occ)
    for y in range(t.y):
        for z in range(t.z):
            for x in range(t.x):
                run = s.run_z[(y * t.z + z) * t.x + x]
                end = t.x
                plane = 0
                while plane < run:
                    row = &s.run_y[2 * (y * t.z + (z + plane) % t.z) * t.x + x]
                    if plane == 0:
                        for i in range(end):
                            least[i] = row[i]
                    plane += 1
                    low = t.y
                    for i in range(end):
                        if row[i] < least[i]:
                            least[i] = row[i]
                        if least[i] < low:
                            low = least[i]
                            if low == 0:
                                end = i
                                break
                        if (i + 1) * low * plane > best:
                            best = (i + 1) * low * plane
                    if end * least[0] * run <= best:
                        break
    if out != NULL and best:
        _first_of(s, best, out)
    return best


cdef int pop_all(void *state, const uint64_t *occ, int size, int order, boxes_t *list) noexcept nogil:
    cdef pop_t *s = <pop_t *> state
    cdef const torus_t *t = s.torus
    cdef const int32_t *row
    cdef int32_t *least = s.least
    cdef int plane, i, run, end, low
    cdef box_t box
    _tables(s, occ)
    for box.x in range(t.x):
        for box.y in range(t.y):
            for box.z in range(t.z):
                run = s.run_z[(box.y * t.z + box.z) * t.x + box.x]
                end = t.x
                for i in range(end):
                    least[i] = t.y
                plane = 0
                while plane < run:
                    row = &s.run_y[2 * (box.y * t.z + (box.z + plane) % t.z) * t.x + box.x]
                    plane += 1
                    end = min(end, size // plane)
                    low = t.y
                    for i in range(end):
                        if row[i] < least[i]:
                            least[i] = row[i]
                        if least[i] < low:
                            low = least[i]
                            if low == 0:
                                end = i
                                break
                        box.a, box.c = i + 1, plane
                        if (i + 1) * plane * low < size or size % ((i + 1) * plane):
                            continue
                        box.b = size // ((i + 1) * plane)
                        if (box.x < axis_bases(t.x, box.a, t.wrap) and box.y < axis_bases(t.y, box.b, t.wrap)
                                and box.z < axis_bases(t.z, box.c, t.wrap)) and boxes_push(list, &box):
                            return -1
                    if end == 0:
                        break
    boxes_sort(list, order)
    return 0
