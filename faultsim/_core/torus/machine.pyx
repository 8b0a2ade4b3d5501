"""The torus as a machine of the engine; the contract is in tables/machine.pxd."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

from faultsim._core.containers.memory cimport close_state, copy_state, open_state, own_block, own_jobs
from faultsim._core.containers.releases cimport release_t
from faultsim._core.signals cimport raise_waiting
from faultsim._core.status cimport PYTHON_ERROR
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport machine_nodes_t, machine_places_t, machine_t, permit_t, place_t
from faultsim._core.thresholds cimport thresholds, thresholds_t
from faultsim._core.torus.choose cimport first_free, largest_free, list_permitted
from faultsim._core.torus.finder_bitmap cimport (
    finder_absent, finder_free, finder_init, finder_load, finder_note_given, finder_note_replaced,
    finder_note_taken, finder_has_free, has_free_in,
)
from faultsim._core.torus.finder cimport PLAIN, finder_t
from faultsim._core.torus.row_slices cimport slices_pay, slices_room
from faultsim._core.torus.word_maps cimport word_map_box, word_map_get, word_map_put, word_maps_t
from faultsim._core.torus.occupancy cimport (
    EXTENTS_DESCENDING, axis_bases, box_of_node, box_size, box_t, next_feasible, occ_drop, occ_drop_node, occ_fill,
    occ_meets, occ_node, occ_set_node, torus_free, torus_set_up, torus_t,
)


cdef int32_t next_size(const void *state, int32_t size) noexcept nogil:
    return next_feasible(&(<const torus_machine_t *>state).torus, size)


cdef void mark(const void *state, uint64_t *mask, int32_t node) noexcept nogil:
    occ_set_node(&(<const torus_machine_t *>state).torus, mask, node)


cdef void unmark(const void *state, uint64_t *mask, int32_t node) noexcept nogil:
    occ_drop_node(&(<const torus_machine_t *>state).torus, mask, node)


cdef bint marked(const void *state, const uint64_t *mask, int32_t node) noexcept nogil:
    return occ_node(&(<const torus_machine_t *>state).torus, mask, node)


cdef inline bint within(int32_t i, int32_t base, int32_t extent, int32_t n) noexcept nogil:
    # A box may wrap around.
    return (i - base if i >= base else i - base + n) < extent


cdef bint holds(const void *state, int32_t job, int32_t node) noexcept nogil:
    cdef const torus_t *t = &(<const torus_machine_t *>state).torus
    cdef const box_t *b = &(<const torus_machine_t *>state).box[job]
    return (within(node // (t.z * t.y), b.x, b.a, t.x) and within(node // t.z % t.y, b.y, b.b, t.y)
            and within(node % t.z, b.z, b.c, t.z))


cdef int32_t overlap(const void *state, int32_t job, const uint64_t *mask, const int32_t *list_,
                     int64_t n) noexcept nogil:
    cdef const torus_t *t = &(<const torus_machine_t *>state).torus
    cdef const box_t *b = &(<const torus_machine_t *>state).box[job]
    cdef int32_t k = 0, i, x, y, z
    cdef int64_t at
    if list_ != NULL:
        for at in range(n):
            k += holds(state, job, list_[at])
        return k
    for i in range(box_size(b)):
        z = (b.z + i % b.c) % t.z
        y = (b.y + i // b.c % b.b) % t.y
        x = (b.x + i // (b.c * b.b)) % t.x
        k += occ_node(t, mask, (x * t.y + y) * t.z + z)
    return k


# -- boxes, in one step where the machine is two words at most --------------------------------------------------------

cdef inline void fill_box(const torus_machine_t *m, uint64_t *mask, const box_t *box) noexcept nogil:
    cdef const word_maps_t *s = &m.finder.word_maps
    if m.finder.is_small:
        word_map_put(s, word_map_get(s, mask) | (word_map_box(s, box) & s.all), mask)
    else:
        occ_fill(&m.torus, mask, box)


cdef inline void clear_box(const torus_machine_t *m, uint64_t *mask, const box_t *box) noexcept nogil:
    cdef const word_maps_t *s = &m.finder.word_maps
    if m.finder.is_small:
        word_map_put(s, word_map_get(s, mask) & ~word_map_box(s, box), mask)
    else:
        occ_drop(&m.torus, mask, box)


cdef inline bint meets_box(const torus_machine_t *m, const uint64_t *mask, const box_t *box) noexcept nogil:
    cdef const word_maps_t *s = &m.finder.word_maps
    if m.finder.is_small:
        return word_map_get(s, mask) & word_map_box(s, box) != 0
    return occ_meets(&m.torus, mask, box)


cdef void block(void *state, int32_t node) noexcept nogil:
    cdef torus_machine_t *m = <torus_machine_t *>state
    occ_set_node(&m.torus, m.occ, node)
    m.largest = -1
    finder_note_taken(&m.finder)


cdef void unblock(void *state, int32_t node) noexcept nogil:
    cdef torus_machine_t *m = <torus_machine_t *>state
    cdef box_t box = box_of_node(&m.torus, node)
    occ_drop_node(&m.torus, m.occ, node)
    m.largest = -1
    finder_note_given(&m.finder, &box)


cdef void occupy(void *state, int32_t job, const place_t *place) noexcept nogil:
    cdef torus_machine_t *m = <torus_machine_t *>state
    m.box[job] = (<const box_t *>place)[0]
    fill_box(m, m.occ, &m.box[job])
    m.largest = -1
    finder_note_taken(&m.finder)


cdef void return_nodes(void *state, int32_t job) noexcept nogil:
    cdef torus_machine_t *m = <torus_machine_t *>state
    clear_box(m, m.occ, &m.box[job])
    m.largest = -1
    finder_note_given(&m.finder, &m.box[job])


cdef place_t place_of(const void *state, int32_t job) noexcept nogil:
    return (<const place_t *>&(<const torus_machine_t *>state).box[job])[0]


cdef void set_place(void *state, int32_t job, const place_t *place) noexcept nogil:
    (<torus_machine_t *>state).box[job] = (<const box_t *>place)[0]


cdef void set_occupancy(void *state, const uint64_t *occ, int32_t largest) noexcept nogil:
    cdef torus_machine_t *m = <torus_machine_t *>state
    memcpy(m.occ, occ, <size_t>m.torus.words * sizeof(uint64_t))
    m.largest = largest
    finder_note_replaced(&m.finder)


cdef int32_t size_of(const place_t *place) noexcept nogil:
    return box_size(<const box_t *>place)


cdef void put(const void *state, uint64_t *mask, const place_t *place) noexcept nogil:
    fill_box(<const torus_machine_t *>state, mask, <const box_t *>place)


cdef void lift(const void *state, uint64_t *mask, const place_t *place) noexcept nogil:
    clear_box(<const torus_machine_t *>state, mask, <const box_t *>place)


cdef bint meets(const void *state, const uint64_t *mask, const place_t *place) noexcept nogil:
    return meets_box(<const torus_machine_t *>state, mask, <const box_t *>place)


cdef bint add_job(const void *state, uint64_t *mask, int32_t job) noexcept nogil:
    cdef const torus_machine_t *m = <const torus_machine_t *>state
    if meets_box(m, mask, &m.box[job]):
        return False
    fill_box(m, mask, &m.box[job])
    return True


cdef void release(const void *state, const release_t *items, int32_t n, uint64_t *mask) noexcept nogil:
    cdef const torus_machine_t *m = <const torus_machine_t *>state
    cdef int32_t i
    for i in range(n):
        if items[i].job >= 0:
            clear_box(m, mask, &m.box[items[i].job])
        else:
            occ_drop_node(&m.torus, mask, -1 - items[i].job)


cdef bint has_place(void *state, const uint64_t *mask, int32_t size) noexcept nogil:
    cdef box_t box
    return first_free(&(<torus_machine_t *>state).finder, mask, size, EXTENTS_DESCENDING, &box)


cdef int32_t largest_box(void *state, const uint64_t *mask) noexcept nogil:
    return largest_free(&(<torus_machine_t *>state).finder, mask, NULL)


cdef bint on_axis(int32_t base, int32_t extent, int32_t n, bint wrap) noexcept nogil:
    return 1 <= extent <= n and 0 <= base < axis_bases(n, extent, wrap)


cdef bint is_place(const void *state, const place_t *place) noexcept nogil:
    cdef const torus_t *t = &(<const torus_machine_t *>state).torus
    cdef const box_t *b = <const box_t *>place
    return on_axis(b.x, b.a, t.x, t.wrap) and on_axis(b.y, b.b, t.y, t.wrap) and on_axis(b.z, b.c, t.z, t.wrap)


cdef long free_places(void *state, const uint64_t *mask, int32_t size, permit_t *permit, place_t **found,
                      long *capacity) noexcept nogil:
    cdef torus_machine_t *m = <torus_machine_t *>state
    if size < 1 or next_feasible(&m.torus, size) != size:
        return 0
    return list_permitted(&m.finder, mask, size, EXTENTS_DESCENDING, permit, <box_t **>found, capacity)


cdef int32_t largest_now(void *state) noexcept nogil:
    cdef torus_machine_t *m = <torus_machine_t *>state
    if m.largest < 0:
        m.largest = largest_free(&m.finder, m.occ, NULL)
    return m.largest


cdef bint lacks(void *state, int32_t size) noexcept nogil:
    cdef torus_machine_t *m = <torus_machine_t *>state
    if m.finder.is_small:
        return False
    finder_load(&m.finder, PLAIN, m.occ)
    return finder_absent(&m.finder, PLAIN, size)


cdef int64_t searched(const void *state) noexcept nogil:
    cdef const finder_t *f = &(<const torus_machine_t *>state).finder
    return f.row_maps.looked + f.slices.looked


cdef bint has_free_box(void *state, const uint64_t *mask, int32_t need) noexcept nogil:
    cdef torus_machine_t *m = <torus_machine_t *>state
    if mask != m.occ:
        return finder_has_free(&m.finder, mask, need, NULL)
    if m.finder.is_small or m.largest >= 0:
        return need <= largest_now(state)
    return has_free_in(&m.finder, PLAIN, mask, need, NULL)


cdef int has_free_at(void *state, const uint64_t *mask, int32_t need, const place_t *left) noexcept nogil:
    cdef finder_t *f = &(<torus_machine_t *>state).finder
    if not slices_pay(&f.row_maps, <const box_t *>left):
        return -1
    return slices_room(&f.slices, &f.row_maps, mask, <const box_t *>left, need)


cdef void close_boxes(void *state) noexcept nogil:
    cdef torus_machine_t *m = <torus_machine_t *>state
    if m == NULL:
        return
    finder_free(&m.finder)
    torus_free(&m.torus)
    close_state(m)


cdef int set_up(torus_machine_t *m, int x, int y, int z, bint wrap, const thresholds_t *limit,
                int64_t *done) noexcept nogil:
    """The geometry, and a finder for it: 0, or as `torus_set_up`, and both are empty."""
    cdef int code = torus_set_up(&m.torus, x, y, z, wrap, limit, done)
    if code < 0:
        return code
    if finder_init(&m.finder, &m.torus) < 0:
        torus_free(&m.torus)
        return -1
    return 0


cdef void *copy_boxes(const void *state, const void *sim) noexcept nogil:
    cdef const torus_t *t = &(<const torus_machine_t *>state).torus
    cdef torus_machine_t *m = <torus_machine_t *>copy_state(state, sim)
    if m != NULL and set_up(m, t.x, t.y, t.z, t.wrap, &t.limit, NULL) < 0:
        close_state(m)
        return NULL
    if m != NULL:
        m.finder.own = m.occ
    return m


cdef machine_nodes_t TORUS_NODES
TORUS_NODES.mark, TORUS_NODES.unmark, TORUS_NODES.marked = mark, unmark, marked
TORUS_NODES.block, TORUS_NODES.unblock, TORUS_NODES.holds = block, unblock, holds
TORUS_NODES.overlap, TORUS_NODES.add_job, TORUS_NODES.return_nodes = overlap, add_job, return_nodes

cdef machine_places_t TORUS_PLACES
TORUS_PLACES.occupy, TORUS_PLACES.place_of = occupy, place_of
TORUS_PLACES.set_place, TORUS_PLACES.set_occupancy = set_place, set_occupancy
TORUS_PLACES.size_of, TORUS_PLACES.is_place, TORUS_PLACES.free_places = size_of, is_place, free_places
TORUS_PLACES.put, TORUS_PLACES.lift, TORUS_PLACES.meets, TORUS_PLACES.release = put, lift, meets, release
TORUS_PLACES.has_place, TORUS_PLACES.has_free, TORUS_PLACES.lacks = has_place, has_free_box, lacks
TORUS_PLACES.largest, TORUS_PLACES.largest_now, TORUS_PLACES.searched = largest_box, largest_now, searched

# On tori where slices are kept, a search around one place is possible (row_slices.pxd).
cdef machine_places_t TORUS_PLACES_WITH_SLICES = TORUS_PLACES
TORUS_PLACES_WITH_SLICES.has_free_at = has_free_at


cdef machine_places_t places_of_boxes() noexcept:
    return TORUS_PLACES


cdef machine_nodes_t nodes_of_boxes() noexcept:
    return TORUS_NODES


cdef void *open_boxes(machine_t *machine, size_t bytes, dict options, dict columns) except NULL:
    cdef torus_machine_t *m = <torus_machine_t *>open_state(machine, bytes)
    cdef int64_t done = 0
    cdef int code = set_up(m, options["x"], options["y"], options["z"], options["wrap"], &thresholds, &done)
    if code == PYTHON_ERROR:
        raise_waiting()
    if code < 0:
        raise MemoryError("no memory for the torus")
    machine.copy, machine.close = copy_boxes, close_boxes
    m.largest = -1
    own_block(m, &m.occ, m.torus.words, sizeof(uint64_t))
    m.finder.own = m.occ
    own_jobs(m, &m.box, columns["n_jobs"], sizeof(box_t))
    machine.nodes, machine.words, machine.occ = m.torus.nodes, m.torus.words, m.occ
    machine.boxes = True
    machine.next_size = next_size
    machine.named = &TORUS_NODES
    machine.placed = &TORUS_PLACES_WITH_SLICES if m.finder.slices.able else &TORUS_PLACES
    return m


cdef int open_torus(void *target, dict options, dict columns) except -1:
    open_boxes(<machine_t *>target, sizeof(torus_machine_t), options, columns)
    return 0


TORUS = factory(open_torus)
