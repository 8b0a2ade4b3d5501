"""A torus with listed boxes as places (model.md#slurm-torus), as a machine of the engine.

Every ask has a shape (tables/machine.pxd), so a job gets a box of exactly its size, and a place is free if and only if
a listed box of the size is; where larger boxes may stand in (model.md#larger), a size has no shape.  Or a job gets
boxes of a part of its size, which cannot overlap (model.md#unlisted), so that a place is free if and only if enough of
them are.

Several equal tori (model.md#equal-tori) are one torus of the occupancy, joined along x, and each has its maps; a box
that wraps around along x in its own torus is two boxes of the joined one.
"""

from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport realloc
from libc.string cimport memcpy, memset

import numpy as np

from faultsim._core.containers.bits cimport fs_lowest, mask_count
from faultsim._core.containers.memory cimport own_block, resize_block
from faultsim._core.containers.releases cimport release_t
from faultsim._core.status cimport OK
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport (
    RANK_AT, machine_nodes_t, machine_places_t, machine_t, nodes_of, permit_t, place_t,
)
from faultsim._core.torus.finder_bitmap cimport finder_note_replaced
from faultsim._core.torus.listed cimport (
    free_bases, listed_add_shape, listed_add_torus, listed_begin, listed_end, listed_from_size, listed_has,
    listed_ready, listed_set_free, listed_torus_t,
)
from faultsim._core.torus.machine cimport (
    close_boxes, copy_boxes, nodes_of_boxes, open_boxes, places_of_boxes, torus_machine_t,
)
from faultsim._core.torus.occupancy cimport box_of_node, box_size, box_t, boxes_meet, occ_fill, torus_t

cdef int32_t next_size(const void *state, int32_t size) noexcept nogil:
    cdef const listed_torus_t *t = (<const listed_machine_t *>state).rule.torus
    cdef int at = listed_from_size(t, size)
    if (<const listed_machine_t *>state).exact:
        return size
    return t.shape[at].size if at < t.n_shapes else 0


cdef const uint64_t *part_of(const listed_machine_t *m, const uint64_t *mask, int torus, int use) noexcept nogil:
    """The nodes of one torus of a mask of all, in the layout of its maps; what is behind them is of no cell."""
    cdef const listed_torus_t *t = &m.rule.torus[torus]
    cdef int64_t first = <int64_t>torus * t.extent[0] * t.extent[1] * t.field, at = first >> 6
    cdef int shift = first & 63
    cdef uint64_t *into = m.part[use]
    cdef int32_t i
    if m.rule.n_tori == 1 or mask == NULL:
        return mask
    for i in range(t.words):
        into[i] = mask[at + i] >> shift
        if shift and at + i + 1 < m.boxes.torus.words:
            into[i] |= mask[at + i + 1] << (64 - shift)
    return into


cdef void free_tori(listed_machine_t *m, const uint64_t *busy, const uint64_t *forbidden) noexcept nogil:
    cdef int i
    for i in range(m.rule.n_tori):
        listed_set_free(&m.rule.torus[i], part_of(m, busy, i, 0), part_of(m, forbidden, i, 1))


cdef bint has_size(listed_machine_t *m, const uint64_t *mask, int size) noexcept nogil:
    """Whether a torus has a free box of exactly this size."""
    cdef int i
    for i in range(m.rule.n_tori):
        if listed_has(&m.rule, &m.rule.torus[i], part_of(m, mask, i, 0), size):
            return True
    return False


cdef bint has_place(void *state, const uint64_t *mask, int32_t ask) noexcept nogil:
    cdef listed_machine_t *m = listed_of(state)
    cdef int32_t size = nodes_of(ask), each = segment_of(size, ask >> RANK_AT)
    if each < size:
        return count_free_boxes(m, mask, NULL, each) >= size // each
    return has_size(m, mask, size)


cdef bint has_free(void *state, const uint64_t *mask, int32_t ask) noexcept nogil:
    cdef listed_machine_t *m = listed_of(state)
    cdef listed_torus_t *t = m.rule.torus
    cdef int i
    if not m.larger:
        return has_place(state, mask, ask)
    i = listed_from_size(t, nodes_of(ask))
    while i < t.n_shapes:
        if has_size(m, mask, t.shape[i].size):
            return True
        i = listed_from_size(t, t.shape[i].size + 1)
    return False


cdef int32_t largest(void *state, const uint64_t *mask) noexcept nogil:
    cdef listed_machine_t *m = listed_of(state)
    cdef listed_torus_t *t = m.rule.torus
    cdef int i = t.n_shapes - 1
    while i >= 0:
        if has_size(m, mask, t.shape[i].size):
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
    return has_free(m, m.around, nodes_of(p.permit.need))


cdef long free_places(void *state, const uint64_t *mask, int32_t ask, permit_t *permit, place_t **found,
                      long *capacity) noexcept nogil:
    cdef listed_machine_t *m = listed_of(state)
    cdef listed_torus_t *t = m.rule.torus
    cdef permitted_t context
    cdef box_t box
    cdef void *larger
    cdef long count = 0
    cdef int i, size = nodes_of(ask)
    if ask >> RANK_AT >= 2 or m.rule.n_tori > 1:
        return 0                 # no rule chooses among several boxes
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


# ---------------------------------------------------------------------------------------------- several boxes

cdef int64_t count_free_boxes(listed_machine_t *m, const uint64_t *busy, const uint64_t *forbidden,
                              int32_t size) noexcept nogil:
    cdef listed_torus_t *t
    cdef int64_t count = 0
    cdef int i, torus
    free_tori(m, busy, forbidden)
    for torus in range(m.rule.n_tori):
        t = &m.rule.torus[torus]
        for i in range(listed_from_size(t, size), listed_from_size(t, size + 1)):
            if free_bases(&m.rule, t, t.available, &t.shape[i], True, t.bases):
                count += mask_count(t.bases, t.words)
    return count


cdef void reuse_segments(listed_machine_t *m) noexcept nogil:
    """The boxes of the places of `recent` that no job holds."""
    cdef int32_t first = m.recent, last
    while first >= 0:
        m.segment[first].listed = False
        if not m.segment[first].held:
            last = m.segment[first].last
            m.segment[last].next = m.spare
            m.spare = first
        first = m.segment[first].later
    m.recent = -1


cdef void note_recent(listed_machine_t *m, int32_t first) noexcept nogil:
    if not m.segment[first].listed:
        m.segment[first].listed, m.segment[first].later = True, m.recent
        m.recent = first


cdef void begin_segments(listed_machine_t *m, double now, place_t *out) noexcept nogil:
    if now != m.since:
        reuse_segments(m)
        m.since = now
    memset(out, 0, sizeof(place_t))
    out.part[0] = -1


cdef int add_segment(listed_machine_t *m, place_t *place, const box_t *box) noexcept nogil:
    cdef int32_t at = m.spare, first = place.part[0]
    if at >= 0:
        m.spare = m.segment[at].next
    else:
        if m.used == m.room:
            if resize_block(m, &m.segment, (2 * <size_t>m.room + 64) * sizeof(segment_t)) != OK:
                return -1
            m.room = 2 * m.room + 64
        at = m.used
        m.used += 1
    memset(&m.segment[at], 0, sizeof(segment_t))
    m.segment[at].box, m.segment[at].next = box[0], -1
    place.part[4] += box_size(box)
    if first < 0:
        place.part[0] = first = at
        note_recent(m, at)
    else:
        m.segment[m.segment[first].last].next = at
    m.segment[first].last = at
    return 0


cdef int add_box(listed_machine_t *m, place_t *place, int torus, const box_t *box) noexcept nogil:
    cdef int whole = m.rule.torus[torus].extent[0]
    cdef box_t part = box[0]
    part.x += torus * whole
    if m.rule.n_tori > 1:
        part.a = min(box.a, whole - box.x)
    if add_segment(m, place, &part) < 0:
        return -1
    if part.a == box.a:
        return 0
    part.x, part.a = torus * whole, box.a - part.a
    return add_segment(m, place, &part)


cdef inline bint has_several(const place_t *place) noexcept nogil:
    return place.part[3] == 0


cdef bint next_box(const void *state, const place_t *place, int32_t *at, place_t *out) noexcept nogil:
    """`at` is 0, then 2 + the number of the next box in `segment` (1: there is none)."""
    cdef const listed_machine_t *m = <const listed_machine_t *>state
    cdef int32_t i = at[0] - 2
    if not has_several(place):
        out[0] = place[0]
        at[0] += 1
        return at[0] == 1
    if at[0] == 0:
        i = place.part[0]
    if i < 0:
        return False
    (<box_t *>out)[0] = m.segment[i].box
    at[0] = 2 + m.segment[i].next
    return True


cdef int32_t size_of(const place_t *place) noexcept nogil:
    return place.part[4] if has_several(place) else box_size(<const box_t *>place)


cdef void put(const void *state, uint64_t *mask, const place_t *place) noexcept nogil:
    cdef int32_t at = 0
    cdef place_t box
    while next_box(state, place, &at, &box):
        BOXES.put(state, mask, &box)


cdef void lift(const void *state, uint64_t *mask, const place_t *place) noexcept nogil:
    cdef int32_t at = 0
    cdef place_t box
    while next_box(state, place, &at, &box):
        BOXES.lift(state, mask, &box)


cdef bint meets(const void *state, const uint64_t *mask, const place_t *place) noexcept nogil:
    cdef int32_t at = 0
    cdef place_t box
    while next_box(state, place, &at, &box):
        if BOXES.meets(state, mask, &box):
            return True
    return False


cdef bint holds(const void *state, int32_t job, int32_t node) noexcept nogil:
    cdef const torus_machine_t *m = &(<const listed_machine_t *>state).boxes
    cdef place_t place = BOXES.place_of(state, job), box
    cdef box_t alone = box_of_node(&m.torus, node)
    cdef int32_t at = 0
    while next_box(state, &place, &at, &box):
        if boxes_meet(&m.torus, <box_t *>&box, &alone):
            return True
    return False


cdef int32_t overlap(const void *state, int32_t job, const uint64_t *mask, const int32_t *list_,
                     int64_t n) noexcept nogil:
    cdef place_t place = BOXES.place_of(state, job)
    cdef int32_t node, k = 0
    cdef int64_t at
    if not has_several(&place):
        return BOX_NODES.overlap(state, job, mask, list_, n)
    if list_ != NULL:
        for at in range(n):
            k += holds(state, job, list_[at])
        return k
    for node in range((<const listed_machine_t *>state).boxes.torus.nodes):
        k += BOX_NODES.marked(state, mask, node) and holds(state, job, node)
    return k


cdef bint add_job(const void *state, uint64_t *mask, int32_t job) noexcept nogil:
    cdef place_t place = BOXES.place_of(state, job)
    if meets(state, mask, &place):
        return False
    put(state, mask, &place)
    return True


cdef void release(const void *state, const release_t *items, int32_t n, uint64_t *mask) noexcept nogil:
    cdef place_t place
    cdef int32_t i
    for i in range(n):
        if items[i].job >= 0:
            place = BOXES.place_of(state, items[i].job)
            lift(state, mask, &place)
        else:
            BOXES.release(state, items + i, 1, mask)


cdef void occupy(void *state, int32_t job, const place_t *place) noexcept nogil:
    cdef listed_machine_t *m = listed_of(state)
    if not has_several(place):
        BOXES.occupy(state, job, place)
        return
    m.segment[place.part[0]].held = True
    m.boxes.box[job] = (<const box_t *>place)[0]
    put(state, m.boxes.occ, place)
    m.boxes.largest = -1
    finder_note_replaced(&m.boxes.finder)


cdef void return_nodes(void *state, int32_t job) noexcept nogil:
    cdef listed_machine_t *m = listed_of(state)
    cdef place_t place = BOXES.place_of(state, job)
    if not has_several(&place):
        BOX_NODES.return_nodes(state, job)
        return
    lift(state, m.boxes.occ, &place)
    m.segment[place.part[0]].held = False
    note_recent(m, place.part[0])
    m.boxes.largest = -1
    finder_note_replaced(&m.boxes.finder)


# ---------------------------------------------------------------------------------------------- set up

cdef int set_up_shapes(listed_machine_t *m, int tori, const int32_t *rows, int n_shapes) noexcept nogil:
    """The rule for equal tori, with shapes in rows of nine numbers, by size; -1: no memory."""
    cdef const torus_t *t = &m.boxes.torus
    cdef int i, torus
    if listed_begin(&m.rule, tori) < 0:
        return -1
    for torus in range(tori):
        if listed_add_torus(&m.rule, t.x // tori, t.y, t.z, t.field, NULL, n_shapes) < 0:
            return -1
        for i in range(n_shapes):
            if listed_add_shape(&m.rule, torus, rows + 9 * i) < 0:
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
    cdef int i, axis, torus, tori = (<const listed_machine_t *>state).rule.n_tori
    if m == NULL:
        return NULL
    if listed_begin(&m.rule, tori) < 0:
        close(m)
        return NULL
    for torus in range(tori):
        if listed_add_torus(&m.rule, t.extent[0], t.extent[1], t.extent[2], t.field, NULL, t.n_shapes) < 0:
            close(m)
            return NULL
        for i in range(t.n_shapes):
            for axis in range(3):
                numbers[axis], numbers[3 + axis] = t.shape[i].extent[axis], t.shape[i].spacing[axis]
                numbers[6 + axis] = t.shape[i].seed[axis]
            if listed_add_shape(&m.rule, torus, numbers) < 0:
                close(m)
                return NULL
    if listed_ready(&m.rule) < 0:
        close(m)
        return NULL
    return m


cdef machine_places_t BOXES = places_of_boxes()
cdef machine_nodes_t BOX_NODES = nodes_of_boxes()

cdef machine_places_t LISTED_PLACES = BOXES
LISTED_PLACES.has_place, LISTED_PLACES.has_free, LISTED_PLACES.lacks = has_place, has_free, lacks
LISTED_PLACES.largest, LISTED_PLACES.largest_now, LISTED_PLACES.searched = largest, largest_now, searched
LISTED_PLACES.is_place, LISTED_PLACES.free_places = is_place, free_places

# Where jobs may have several boxes.
cdef machine_places_t SEGMENT_PLACES = LISTED_PLACES
SEGMENT_PLACES.next_box, SEGMENT_PLACES.size_of, SEGMENT_PLACES.occupy = next_box, size_of, occupy
SEGMENT_PLACES.put, SEGMENT_PLACES.lift, SEGMENT_PLACES.meets, SEGMENT_PLACES.release = put, lift, meets, release

cdef machine_nodes_t SEGMENT_NODES = BOX_NODES
SEGMENT_NODES.holds, SEGMENT_NODES.overlap, SEGMENT_NODES.add_job = holds, overlap, add_job
SEGMENT_NODES.return_nodes = return_nodes


cdef int open_listed(void *target, dict options, dict columns) except -1:
    cdef machine_t *machine = <machine_t *>target
    cdef listed_machine_t *m = <listed_machine_t *>open_boxes(machine, sizeof(listed_machine_t), options, columns)
    cdef const int32_t[:, ::1] rows = np.ascontiguousarray(columns["listed"], np.int32).reshape(-1, 9)
    cdef int i, tori = columns["tori"]
    own_block(m, &m.around, machine.words, sizeof(uint64_t))
    machine.copy, machine.close, machine.next_size = copy, close, next_size
    machine.placed = &LISTED_PLACES
    m.recent = m.spare = -1
    m.since = NAN
    m.exact, m.larger = columns["world"].shape_rank is not None, columns["larger"]
    own_block(m, &m.idle, tori, sizeof(int64_t))
    for i in range(3):
        own_block(m, &m.part[i], machine.words, sizeof(uint64_t))
    if m.exact or tori > 1:
        own_block(m, &m.segment, 64, sizeof(segment_t))
        m.room = 64
        machine.named, machine.placed = &SEGMENT_NODES, &SEGMENT_PLACES
    if set_up_shapes(m, tori, &rows[0, 0], rows.shape[0]) < 0:
        raise MemoryError("no memory for the listed shapes")
    return 0


LISTED = factory(open_listed)
