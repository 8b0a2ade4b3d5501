"""The places of a pod in masks; the contract is in places.pxd."""

from libc.stdint cimport int32_t, uint64_t

from faultsim._core.containers.bits cimport fs_lowest, ones
from faultsim._core.pod.slices cimport (
    ask_has_shape, blocks_for, count_cubes, cubes_of, cubes_t, hosts_at, hosts_of, is_inside, is_within, pod_t, span_t,
)
from faultsim._core.tables.machine cimport nodes_of, place_t


cdef inline void change_nodes(uint64_t *mask, int32_t first, int32_t n, bint put) noexcept nogil:
    """Bits first to first + n - 1, n <= 64."""
    cdef int32_t word = first >> 6, shift = first & 63
    cdef uint64_t bits = ones(n)
    if put:
        mask[word] |= bits << shift
        if shift + n > 64:
            mask[word + 1] |= bits >> (64 - shift)
    else:
        mask[word] &= ~(bits << shift)
        if shift + n > 64:
            mask[word + 1] &= ~(bits >> (64 - shift))


cdef void change_place(const pod_t *m, uint64_t *mask, const place_t *place, bint put) noexcept nogil:
    cdef cubes_t set_
    cdef int32_t i
    if is_inside(place):
        change_nodes(mask, place.part[0] * m.hosts + place.part[1], place.part[2], put)
        return
    set_ = cubes_of(place)
    for i in range(3):
        while set_.word[i]:
            change_nodes(mask, ((i << 6) + fs_lowest(set_.word[i])) * m.hosts, m.hosts, put)
            set_.word[i] &= set_.word[i] - 1


cdef void pod_put(const pod_t *m, uint64_t *mask, const place_t *place) noexcept nogil:
    change_place(m, mask, place, True)


cdef void pod_lift(const pod_t *m, uint64_t *mask, const place_t *place) noexcept nogil:
    change_place(m, mask, place, False)


cdef bint pod_meets(const pod_t *m, const uint64_t *mask, const place_t *place) noexcept nogil:
    cdef cubes_t set_
    cdef int32_t i
    if is_inside(place):
        return hosts_at(mask, place.part[0] * m.hosts + place.part[1], place.part[2]) != 0
    set_ = cubes_of(place)
    for i in range(3):
        while set_.word[i]:
            if hosts_of(m, mask, (i << 6) + fs_lowest(set_.word[i])):
                return True
            set_.word[i] &= set_.word[i] - 1
    return False


cdef int32_t pod_size(const place_t *place) noexcept nogil:
    cdef cubes_t set_
    if is_inside(place):
        return place.part[2]
    set_ = cubes_of(place)
    return count_cubes(&set_) * place.part[5]


cdef bint is_one_of(const pod_t *m, const cubes_t *set_, span_t span) noexcept nogil:
    cdef int32_t i
    for i in range(span.first, span.end):
        if is_within(&m.block[i], set_):
            return True
    return False


cdef bint pod_is_place(pod_t *m, const place_t *place, int32_t ask) noexcept nogil:
    cdef cubes_t set_, all_
    cdef span_t shapes
    cdef int32_t i, n
    if is_inside(place):
        n = place.part[2]
        return (not ask_has_shape(ask) and 0 <= place.part[0] < m.cubes and 0 < n < m.hosts and m.next[n] == n
                and 0 <= place.part[1] < m.hosts and place.part[1] % n == 0
                and place.part[3] == 0 and place.part[4] == 0)
    set_ = cubes_of(place)
    for i in range(3):
        all_.word[i] = ones(max(0, min(64, m.cubes - 64 * i)))
    n = count_cubes(&set_)
    if place.part[5] != m.hosts or n == 0 or n > m.largest or not is_within(&set_, &all_):
        return False
    if m.switched:
        return True
    if ask_has_shape(ask):
        return n * m.hosts == nodes_of(ask) and is_one_of(m, &set_, blocks_for(m, ask))
    if is_one_of(m, &set_, blocks_for(m, n * m.hosts)):
        return True
    if ask > 0 or m.first_shape == NULL:
        return False
    shapes.first, shapes.end = m.shape_block[m.first_shape[n]], m.shape_block[m.first_shape[n + 1]]
    return is_one_of(m, &set_, shapes)
