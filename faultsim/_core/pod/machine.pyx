"""The pod as a machine of the engine; the contract is in tables/machine.pxd."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

from faultsim._core.containers.bits cimport fs_lowest, mask_has
from faultsim._core.containers.memory cimport open_state
from faultsim._core.containers.releases cimport release_t
from faultsim._core.pod.choosing cimport pod_list
from faultsim._core.pod.opening cimport pod_open
from faultsim._core.pod.places cimport pod_is_place, pod_lift, pod_meets, pod_put, pod_size
from faultsim._core.pod.slices cimport (
    MOST_CUBES, count_cubes, cubes_of, cubes_t, is_inside, place_of_cubes, pod_has, pod_has_beside,
    pod_has_free, pod_largest, pod_room, pod_t, pod_trace,
)
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport (
    machine_nodes_t, machine_outlines_t, machine_places_t, machine_t, outline_t, permit_t, place_t, range_t,
)


cdef int32_t next_size(const void *state, int32_t size) noexcept nogil:
    cdef const pod_t *m = <const pod_t *>state
    return m.next[size] if 0 <= size <= m.nodes else 0


cdef void mark(const void *state, uint64_t *mask, int32_t node) noexcept nogil:
    mask[node >> 6] |= (<uint64_t>1) << (node & 63)


cdef void unmark(const void *state, uint64_t *mask, int32_t node) noexcept nogil:
    mask[node >> 6] &= ~((<uint64_t>1) << (node & 63))


cdef bint marked(const void *state, const uint64_t *mask, int32_t node) noexcept nogil:
    return mask_has(mask, node)


cdef bint holds(const void *state, int32_t job, int32_t node) noexcept nogil:
    cdef const pod_t *m = <const pod_t *>state
    cdef const place_t *place = &m.place[job]
    cdef int32_t cube = node // m.hosts
    cdef cubes_t set_
    if is_inside(place):
        return cube == place.part[0] and 0 <= node - cube * m.hosts - place.part[1] < place.part[2]
    set_ = cubes_of(place)
    return mask_has(set_.word, cube)


cdef int32_t overlap(const void *state, int32_t job, const uint64_t *mask, const int32_t *list_,
                     int64_t n) noexcept nogil:
    cdef int32_t node, k = 0
    cdef int64_t at
    if list_ != NULL:
        for at in range(n):
            k += holds(state, job, list_[at])
        return k
    for node in range((<const pod_t *>state).nodes):
        k += mask_has(mask, node) and holds(state, job, node)
    return k


cdef void block(void *state, int32_t node) noexcept nogil:
    mark(state, (<pod_t *>state).occ, node)
    mark(state, (<pod_t *>state).down, node)


cdef void unblock(void *state, int32_t node) noexcept nogil:
    unmark(state, (<pod_t *>state).occ, node)
    unmark(state, (<pod_t *>state).down, node)


cdef void occupy(void *state, int32_t job, const place_t *place) noexcept nogil:
    cdef pod_t *m = <pod_t *>state
    m.place[job] = place[0]
    pod_put(m, m.occ, place)


cdef void return_nodes(void *state, int32_t job) noexcept nogil:
    cdef pod_t *m = <pod_t *>state
    pod_lift(m, m.occ, &m.place[job])


cdef int32_t drop(void *state, int32_t job, int32_t node) noexcept nogil:
    """A slice of whole cubes, of which several are left."""
    cdef pod_t *m = <pod_t *>state
    cdef cubes_t set_ = cubes_of(&m.place[job]), gone
    cdef int32_t cube = node // m.hosts
    cdef place_t place
    memset(&gone, 0, sizeof(gone))
    gone.word[cube >> 6] = (<uint64_t>1) << (cube & 63)
    set_.word[cube >> 6] ^= gone.word[cube >> 6]
    place = place_of_cubes(m, &gone)
    pod_lift(m, m.occ, &place)
    m.place[job] = place_of_cubes(m, &set_)
    return m.hosts


cdef int32_t list_ranges(const void *state, int32_t job, range_t *out) noexcept nogil:
    cdef const pod_t *m = <const pod_t *>state
    cdef const place_t *place = &m.place[job]
    cdef cubes_t set_
    cdef int32_t i, first, n = 0
    if is_inside(place):
        out[0].first, out[0].count = place.part[0] * m.hosts + place.part[1], place.part[2]
        return 1
    set_ = cubes_of(place)
    for i in range(3):
        while set_.word[i]:
            first = ((i << 6) + fs_lowest(set_.word[i])) * m.hosts
            set_.word[i] &= set_.word[i] - 1
            if n > 0 and out[n - 1].first + out[n - 1].count == first:
                out[n - 1].count += m.hosts
            else:
                out[n].first, out[n].count = first, m.hosts
                n += 1
    return n


cdef int32_t list_nodes(const void *state, int32_t job, int32_t *out) noexcept nogil:
    cdef range_t part[MOST_CUBES]
    cdef int32_t i, node, k = 0, n = list_ranges(state, job, part)
    for i in range(n):
        for node in range(part[i].first, part[i].first + part[i].count):
            out[k] = node
            k += 1
    return k


cdef place_t place_of(const void *state, int32_t job) noexcept nogil:
    return (<const pod_t *>state).place[job]


cdef void set_place(void *state, int32_t job, const place_t *place) noexcept nogil:
    (<pod_t *>state).place[job] = place[0]


cdef void set_occupancy(void *state, const uint64_t *occ, int32_t largest) noexcept nogil:
    cdef pod_t *m = <pod_t *>state
    memcpy(m.occ, occ, <size_t>m.words * sizeof(uint64_t))


cdef void put(const void *state, uint64_t *mask, const place_t *place) noexcept nogil:
    pod_put(<const pod_t *>state, mask, place)


cdef void lift(const void *state, uint64_t *mask, const place_t *place) noexcept nogil:
    pod_lift(<const pod_t *>state, mask, place)


cdef bint meets(const void *state, const uint64_t *mask, const place_t *place) noexcept nogil:
    return pod_meets(<const pod_t *>state, mask, place)


cdef bint add_job(const void *state, uint64_t *mask, int32_t job) noexcept nogil:
    cdef const pod_t *m = <const pod_t *>state
    if pod_meets(m, mask, &m.place[job]):
        return False
    pod_put(m, mask, &m.place[job])
    return True


cdef void release(const void *state, const release_t *items, int32_t n, uint64_t *mask) noexcept nogil:
    cdef const pod_t *m = <const pod_t *>state
    cdef int32_t i
    for i in range(n):
        if items[i].job >= 0:
            pod_lift(m, mask, &m.place[items[i].job])
        else:
            unmark(state, mask, -1 - items[i].job)


cdef void trace(const void *state, const uint64_t *mask, int32_t low, int32_t high, outline_t *into) noexcept nogil:
    pod_trace(<const pod_t *>state, mask, low, high, into)


cdef void fill(const void *state, const outline_t *taken, uint64_t *mask) noexcept nogil:
    cdef const pod_t *m = <const pod_t *>state
    cdef cubes_t set_
    cdef place_t place
    memcpy(set_.word, taken.word, sizeof(set_.word))
    place = place_of_cubes(m, &set_)
    pod_put(m, mask, &place)


cdef bint has_beside(void *state, const outline_t *taken, int32_t ask, int32_t limit, const outline_t *later,
                     int32_t need) noexcept nogil:
    return pod_has_beside(<pod_t *>state, taken, ask, limit, later, need)


cdef bint is_place(const void *state, const place_t *place) noexcept nogil:
    return pod_is_place(<pod_t *>state, place, 0)


cdef bint has_place(void *state, const uint64_t *mask, int32_t ask) noexcept nogil:
    return pod_has(<pod_t *>state, mask, NULL, ask)


cdef bint has_free(void *state, const uint64_t *mask, int32_t ask) noexcept nogil:
    return pod_has_free(<pod_t *>state, mask, NULL, ask)


cdef bint has_free_beside(void *state, const uint64_t *mask, const uint64_t *closed, int32_t ask) noexcept nogil:
    return pod_has_free(<pod_t *>state, mask, closed, ask)


cdef int32_t largest(void *state, const uint64_t *mask) noexcept nogil:
    return pod_largest(<pod_t *>state, mask)


cdef int32_t largest_now(void *state) noexcept nogil:
    return pod_largest(<pod_t *>state, (<pod_t *>state).occ)


cdef long free_places(void *state, const uint64_t *mask, int32_t ask, permit_t *permit, place_t **found,
                      long *capacity) noexcept nogil:
    return pod_list(<pod_t *>state, mask, ask, permit, found, capacity)


cdef bint place_with(const void *state, const int32_t *list_, int32_t count, int32_t ask,
                     place_t *out) noexcept nogil:
    cdef pod_t *m = <pod_t *>state
    cdef cubes_t set_
    cdef int32_t i, cube, low = m.nodes
    memset(out, 0, sizeof(place_t))
    for i in range(count):
        low = min(low, list_[i])
    if 0 < count < m.hosts:
        for i in range(count):
            if list_[i] >= low + count:
                return False
        out.part[0], out.part[1], out.part[2], out.part[5] = low // m.hosts, low % m.hosts, count, -1
        return pod_is_place(m, out, ask)
    memset(&set_, 0, sizeof(set_))
    for i in range(count):
        cube = list_[i] // m.hosts
        set_.word[cube >> 6] |= (<uint64_t>1) << (cube & 63)
    if count_cubes(&set_) * m.hosts != count:
        return False
    out[0] = place_of_cubes(m, &set_)
    return pod_is_place(m, out, ask)


cdef bint may_be_busy(void *state, const uint64_t *mask) noexcept nogil:
    return pod_room(<pod_t *>state, mask, NULL) >= 0


cdef bint lacks(void *state, int32_t size) noexcept nogil:
    return False


cdef const char *own_invariant(void *state) noexcept nogil:
    cdef pod_t *m = <pod_t *>state
    if pod_room(m, m.occ, NULL) < 0:
        return b"jobs use cubes that are held back"
    return NULL


cdef int64_t searched(const void *state) noexcept nogil:
    return (<const pod_t *>state).looked


cdef machine_nodes_t POD_NODES
POD_NODES.mark, POD_NODES.unmark, POD_NODES.marked = mark, unmark, marked
POD_NODES.block, POD_NODES.unblock, POD_NODES.holds = block, unblock, holds
POD_NODES.overlap, POD_NODES.add_job, POD_NODES.return_nodes, POD_NODES.drop = overlap, add_job, return_nodes, drop
POD_NODES.list_nodes, POD_NODES.list_ranges = list_nodes, list_ranges

cdef machine_places_t POD_PLACES
POD_PLACES.occupy, POD_PLACES.place_of = occupy, place_of
POD_PLACES.set_place, POD_PLACES.set_occupancy = set_place, set_occupancy
POD_PLACES.size_of, POD_PLACES.is_place = pod_size, is_place
POD_PLACES.place_with, POD_PLACES.free_places = place_with, free_places
POD_PLACES.put, POD_PLACES.lift, POD_PLACES.meets, POD_PLACES.release = put, lift, meets, release
POD_PLACES.has_place, POD_PLACES.has_free, POD_PLACES.lacks = has_place, has_free, lacks
POD_PLACES.largest, POD_PLACES.largest_now, POD_PLACES.searched = largest, largest_now, searched
POD_PLACES.may_be_busy = may_be_busy

# Of pods that hold cubes back.
cdef machine_places_t HELD_PLACES = POD_PLACES
HELD_PLACES.has_free_beside = has_free_beside

cdef machine_outlines_t POD_OUTLINES
POD_OUTLINES.trace, POD_OUTLINES.fill, POD_OUTLINES.has_beside = trace, fill, has_beside


cdef int open_pod(void *target, dict options, dict columns) except -1:
    cdef machine_t *machine = <machine_t *>target
    cdef pod_t *m = <pod_t *>open_state(machine, sizeof(pod_t))
    pod_open(m, options, columns["n_jobs"], columns["world"].shape_rank is not None)
    machine.nodes, machine.words, machine.occ = m.nodes, m.words, m.occ
    machine.next_size, machine.own_invariant = next_size, own_invariant
    machine.named, machine.placed = &POD_NODES, &POD_PLACES
    # Where cubes are held back, a free place may not be taken: outlines would not suffice (has_beside).
    if m.spares > 0:
        machine.placed = &HELD_PLACES
    else:
        machine.part, machine.outlined = m.hosts, &POD_OUTLINES
    return 0


POD = factory(open_pod)
