"""Maps of a torus of at most 128 nodes; see word_maps.pxd."""

from faultsim._core.containers.bits cimport fs_lowest
from faultsim._core.containers.memory cimport arena_zeros
from faultsim._core.torus.occupancy cimport boxes_push


cdef bint word_map_fits(const torus_t *torus) noexcept nogil:
    return torus.nodes <= torus.limit.word_nodes and torus.nodes <= FS_WORD_NODES and torus.field == torus.z


cdef void _axis(axis_t *axis, u128 **memory, int n, int stride, const torus_t *t, u128 all) noexcept nogil:
    cdef int i, k, node
    axis.n, axis.stride = n, stride
    axis.halves = t.nodes <= 64 or 64 % (n * stride) == 0
    axis.at = memory[0]
    axis.lo = axis.at + n
    axis.hi = axis.lo + n + 1
    memory[0] = axis.hi + n + 1
    for node in range(t.nodes):
        axis.at[node // stride % n] |= (<u128> 1) << node
    for k in range(n + 1):
        for i in range(n - k):
            axis.lo[k] |= axis.at[i]
        axis.hi[k] = (all & ~axis.lo[k]) if t.wrap else 0


cdef void word_map_init(word_maps_t *s, const torus_t *torus, arena_t *memory) noexcept nogil:
    cdef u128 *at = <u128 *> arena_zeros(memory, 3 * (torus.x + torus.y + torus.z + 2), sizeof(u128))
    cdef int node
    if at == NULL:
        return
    s.torus = torus
    for node in range(torus.nodes):
        s.all |= (<u128> 1) << node
    _axis(&s.x, &at, torus.x, torus.y * torus.z, torus, s.all)
    _axis(&s.y, &at, torus.y, torus.z, torus, s.all)
    _axis(&s.z, &at, torus.z, 1, torus, s.all)


cdef u128 word_map_canonical(const word_maps_t *s, u128 map, int a, int b, int c) noexcept nogil:
    if a == s.x.n:
        map &= s.x.at[0]
    if b == s.y.n:
        map &= s.y.at[0]
    if c == s.z.n:
        map &= s.z.at[0]
    return map


cdef inline void _project_axis(const axis_t *axis, u128 map, uint64_t *out) noexcept nogil:
    cdef int i
    cdef uint64_t w = 0
    out[0] = 0
    if axis.n > 64:
        out[1] = 0
    for i in range(axis.n):
        if map & axis.at[i]:
            w |= <uint64_t> 1 << (i & 63)
        if i == 63 or i == axis.n - 1:
            out[i >> 6] = w
            w = 0


cdef void word_map_project(const word_maps_t *s, u128 map, uint64_t *px, uint64_t *py, uint64_t *pz) noexcept nogil:
    _project_axis(&s.x, map, px)
    _project_axis(&s.y, map, py)
    _project_axis(&s.z, map, pz)


cdef u128 word_map_members(const axis_t *axis, const uint64_t *set) noexcept nogil:
    cdef int i, word
    cdef uint64_t w
    cdef u128 nodes = 0
    for word in range((axis.n + 63) // 64):
        w = set[word]
        while w:
            i = fs_lowest(w)
            w &= w - 1
            nodes |= axis.at[64 * word + i]
    return nodes


cdef int word_map_lowest(u128 map) noexcept nogil:
    cdef uint64_t low = <uint64_t> map
    if low or FS_WORD_NODES == 64:
        return fs_lowest(low)
    return 64 + fs_lowest(FS_HIGH(map))


cdef void word_map_base(const word_maps_t *s, int node, box_t *base) noexcept nogil:
    base.z = node % s.z.n
    base.y = node // s.z.n % s.y.n
    base.x = node // s.x.stride


cdef bint word_map_next(const word_maps_t *s, u128 map, long *at, box_t *base) noexcept nogil:
    cdef int node
    map = map >> <int> at[0] << <int> at[0] if at[0] < s.torus.nodes else 0
    if map == 0:
        return False
    node = word_map_lowest(map)
    word_map_base(s, node, base)
    at[0] = node + 1
    return True


cdef int word_map_list(const word_maps_t *s, u128 map, const shape_t *shape, boxes_t *list) noexcept nogil:
    cdef int node
    cdef box_t box
    box.a, box.b, box.c = shape.a, shape.b, shape.c
    while map:
        node = word_map_lowest(map)
        map &= map - 1
        word_map_base(s, node, &box)
        if boxes_push(list, &box):
            return -1
    return 0
