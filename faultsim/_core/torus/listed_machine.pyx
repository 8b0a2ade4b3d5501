"""A torus with listed boxes as places (model.md#slurm-torus), as a machine of the engine.

Every ask has a shape (tables/machine.pxd), so a job gets a box of exactly its size, and a place is free if and only if
a listed box of the size is.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport realloc
from libc.string cimport memcpy

import numpy as np

from faultsim._core.containers.bits cimport fs_lowest
from faultsim._core.containers.memory cimport own_block
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport machine_places_t, machine_t, nodes_of, permit_t, place_t
from faultsim._core.torus.listed cimport (
    free_bases, listed_add_shape, listed_add_torus, listed_begin, listed_end, listed_from_size, listed_has,
    listed_ready, listed_set_free, listed_torus_t,
)
from faultsim._core.torus.machine cimport close_boxes, copy_boxes, open_boxes, places_of_boxes
from faultsim._core.torus.occupancy cimport box_t, occ_fill, torus_t

cdef int32_t next_size(const void *state, int32_t size) noexcept nogil:
    cdef const listed_torus_t *t = (<const listed_machine_t *>state).rule.torus
    cdef int at = listed_from_size(t, size)
    return t.shape[at].size if at < t.n_shapes else 0


cdef bint has_place(void *state, const uint64_t *mask, int32_t ask) noexcept nogil:
    cdef listed_machine_t *m = listed_of(state)
    return listed_has(&m.rule, m.rule.torus, mask, nodes_of(ask))


cdef int32_t largest(void *state, const uint64_t *mask) noexcept nogil:
    cdef listed_machine_t *m = listed_of(state)
    cdef listed_torus_t *t = m.rule.torus
    cdef int i = t.n_shapes - 1
    while i >= 0:
        if listed_has(&m.rule, t, mask, t.shape[i].size):
            return t.shape[i].size
        i = listed_from_size(t, t.shape[i].size) - 1
    return 0


cdef int32_t largest_now(void *state) noexcept nogil:
    return largest(state, listed_of(state).boxes.occ)


cdef bint lacks(void *state, int32_t size) noexcept nogil:
    return False


cdef bint is_place(const void *state, const place_t *place) noexcept nogil:
    cdef const listed_torus_t *t = (<const listed_machine_t *>state).rule.torus
    cdef const box_t *b = <const box_t *>place
    cdef int64_t bit
    cdef int i
    if not (0 <= b.x < t.extent[0] and 0 <= b.y < t.extent[1] and 0 <= b.z < t.extent[2]
            and 0 < b.a <= t.extent[0] and 0 < b.b <= t.extent[1] and 0 < b.c <= t.extent[2]):
        return False
    bit = (<int64_t>b.x * t.extent[1] + b.y) * t.field + b.z
    for i in range(listed_from_size(t, b.a * b.b * b.c), listed_from_size(t, b.a * b.b * b.c + 1)):
        if (t.shape[i].extent[0] == b.a and t.shape[i].extent[1] == b.b and t.shape[i].extent[2] == b.c
                and t.shape[i].anchors[bit >> 6] >> (bit & 63) & 1):
            return True
    return False


cdef int64_t searched(const void *state) noexcept nogil:
    return (<const listed_machine_t *>state).rule.looked


cdef bint leaves_shape(void *context, const box_t *box) noexcept nogil:
    """Whether a free box for `need` remains in (later | box)."""
    cdef const permitted_t *p = <const permitted_t *>context
    cdef listed_machine_t *m = p.machine
    memcpy(m.around, p.permit.later, <size_t>m.boxes.torus.words * sizeof(uint64_t))
    occ_fill(&m.boxes.torus, m.around, box)
    return listed_has(&m.rule, m.rule.torus, m.around, nodes_of(p.permit.need))


cdef long free_places(void *state, const uint64_t *mask, int32_t ask, permit_t *permit, place_t **found,
                      long *capacity) noexcept nogil:
    cdef listed_machine_t *m = listed_of(state)
    cdef listed_torus_t *t = m.rule.torus
    cdef permitted_t context
    cdef box_t box
    cdef void *larger
    cdef long count = 0
    cdef int i, size = nodes_of(ask)
    cdef bint restricted = permit != NULL and permit.later != NULL and permit.need >= 1
    context.machine, context.permit = m, permit
    if permit != NULL:
        listed_set_free(t, mask, permit.forbidden)
    else:
        listed_set_free(t, mask, NULL)
    for i in range(listed_from_size(t, size), listed_from_size(t, size + 1)):
        if not free_bases(&m.rule, t, t.available, &t.shape[i], True, t.bases):
            continue
        while True:
            if not next_base(t, i, &box):
                break
            if restricted and not leaves_shape(&context, &box):
                continue
            if count == capacity[0]:
                larger = realloc(found[0], <size_t>(2 * count + 64) * sizeof(place_t))
                if larger == NULL:
                    return -1
                found[0], capacity[0] = <place_t *>larger, 2 * count + 64
            (<box_t *>&found[0][count])[0] = box
            count += 1
    return count


cdef bint next_base(listed_torus_t *t, int shape, box_t *out) noexcept nogil:
    """Takes the lowest base out of `bases`."""
    cdef int64_t bit, line
    cdef int32_t i
    for i in range(t.words):
        if t.bases[i]:
            bit = ((<int64_t>i) << 6) + fs_lowest(t.bases[i])
            t.bases[i] &= t.bases[i] - 1
            line = bit // t.field
            out.x, out.y, out.z = <int>(line // t.extent[1]), <int>(line % t.extent[1]), <int>(bit % t.field)
            out.a, out.b, out.c = t.shape[shape].extent[0], t.shape[shape].extent[1], t.shape[shape].extent[2]
            return True
    return False


# ---------------------------------------------------------------------------------------------- set up

cdef int set_up_shapes(listed_machine_t *m, const int32_t *rows, int n_shapes) noexcept nogil:
    """The rule for shapes in rows of nine numbers, by size; -1: no memory."""
    cdef const torus_t *t = &m.boxes.torus
    cdef int i
    if (listed_begin(&m.rule, 1) < 0
            or listed_add_torus(&m.rule, t.x, t.y, t.z, t.field, NULL, n_shapes) < 0):
        return -1
    for i in range(n_shapes):
        if listed_add_shape(&m.rule, 0, rows + 9 * i) < 0:
            return -1
    return listed_ready(&m.rule)


cdef void close(void *state) noexcept nogil:
    if state != NULL:
        listed_end(&listed_of(state).rule)
        close_boxes(state)


cdef void *copy(const void *state, const void *sim) noexcept nogil:
    cdef const listed_torus_t *t = (<const listed_machine_t *>state).rule.torus
    cdef listed_machine_t *m = <listed_machine_t *>copy_boxes(state, sim)
    cdef int32_t numbers[9]
    cdef int i, axis
    if m == NULL:
        return NULL
    if (listed_begin(&m.rule, 1) < 0
            or listed_add_torus(&m.rule, t.extent[0], t.extent[1], t.extent[2], t.field, NULL, t.n_shapes) < 0):
        close(m)
        return NULL
    for i in range(t.n_shapes):
        for axis in range(3):
            numbers[axis], numbers[3 + axis] = t.shape[i].extent[axis], t.shape[i].spacing[axis]
            numbers[6 + axis] = t.shape[i].seed[axis]
        if listed_add_shape(&m.rule, 0, numbers) < 0:
            close(m)
            return NULL
    if listed_ready(&m.rule) < 0:
        close(m)
        return NULL
    return m


cdef machine_places_t LISTED_PLACES = places_of_boxes()
LISTED_PLACES.has_place, LISTED_PLACES.has_free, LISTED_PLACES.lacks = has_place, has_place, lacks
LISTED_PLACES.largest, LISTED_PLACES.largest_now, LISTED_PLACES.searched = largest, largest_now, searched
LISTED_PLACES.is_place, LISTED_PLACES.free_places = is_place, free_places


cdef int open_listed(void *target, dict options, dict columns) except -1:
    cdef machine_t *machine = <machine_t *>target
    cdef listed_machine_t *m = <listed_machine_t *>open_boxes(machine, sizeof(listed_machine_t), options, columns)
    cdef const int32_t[:, ::1] rows = np.ascontiguousarray(columns["listed"], np.int32).reshape(-1, 9)
    own_block(m, &m.around, machine.words, sizeof(uint64_t))
    machine.copy, machine.close, machine.next_size = copy, close, next_size
    machine.placed = &LISTED_PLACES
    if set_up_shapes(m, &rows[0, 0], rows.shape[0]) < 0:
        raise MemoryError("no memory for the listed shapes")
    return 0


LISTED = factory(open_listed)
