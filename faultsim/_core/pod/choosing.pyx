"""Which place of a pod a job takes; the contract is in choosing.pxd."""

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport realloc
from libc.string cimport memcpy, memset

from faultsim._core.containers.bits cimport ones
from faultsim._core.pod.places cimport pod_put
from faultsim._core.pod.slices cimport (
    ask_has_shape, blocks_for, count_cubes, cubes_t, has_cubes, has_run, hosts_at, hosts_of, in_use, is_within,
    leaves_blocks, place_of_cubes, pod_free_cubes, pod_has_free, pod_room, pod_t, span_t, taken_of,
)
from faultsim._core.tables.machine cimport nodes_of, permit_t, place_t
from faultsim._core.thresholds cimport thresholds


cdef bint leaves(pod_t *m, const permit_t *permit, const place_t *place) noexcept nogil:
    """Does a slice of permit.need remain at the later time?"""
    if permit == NULL or permit.later == NULL or permit.need < 1:
        return True
    memcpy(m.scratch, permit.later, <size_t>m.words * sizeof(uint64_t))
    pod_put(m, m.scratch, place)
    return pod_has_free(m, m.scratch, permit.shut, permit.need)


cdef cubes_t useful(pod_t *m, const uint64_t *later, const uint64_t *shut, int32_t need) noexcept nogil:
    """The cubes that a slice of this need, or of the next size, could use, whole or a part of one."""
    cdef int32_t cube, size = m.next[need] if need <= m.nodes else 0
    cdef cubes_t set_
    if size >= m.hosts:
        return pod_free_cubes(m, later, shut)
    memset(&set_, 0, sizeof(set_))
    if size > 0:
        for cube in range(m.cubes):
            if has_run(taken_of(m, later, shut, cube), m.hosts, size):
                set_.word[cube >> 6] |= (<uint64_t>1) << (cube & 63)
    return set_


# A set of cubes of which at most `most` may be chosen.
cdef struct limit_t:
    cubes_t set
    int32_t most


cdef inline bint may_take(limit_t *limit, int32_t i, uint64_t bit) noexcept nogil:
    return not limit.set.word[i] & bit or limit.most > 0


cdef bint first_cubes(const cubes_t *free, int32_t n, limit_t few, limit_t all_, cubes_t *out) noexcept nogil:
    """The first of all sets of n of these cubes within two limits, of sets that are disjoint or one in the other."""
    cdef int32_t i
    cdef uint64_t bits, low
    memset(out, 0, sizeof(cubes_t))
    if few.most < 0 or all_.most < 0:
        return False
    # Sets within such limits are a matroid: taking each cube that is allowed gives the first of the largest sets.
    for i in range(3):
        bits = free.word[i]
        while bits and n > 0:
            low = bits & (~bits + 1)
            bits ^= low
            if may_take(&few, i, low) and may_take(&all_, i, low):
                few.most -= few.set.word[i] & low != 0
                all_.most -= all_.set.word[i] & low != 0
                out.word[i] |= low
                n -= 1
    return n == 0


cdef bint is_before(const cubes_t *one, const cubes_t *other) noexcept nogil:
    """Whether a set stands before another of as many cubes."""
    cdef int32_t i
    cdef uint64_t differ
    for i in range(3):
        differ = one.word[i] ^ other.word[i]
        if differ:
            return one.word[i] & differ & (~differ + 1) != 0
    return False


cdef cubes_t unused(const pod_t *m, const uint64_t *later) noexcept nogil:
    """The cubes that are not in use at the later time."""
    cdef int32_t cube
    cdef cubes_t set_
    memset(&set_, 0, sizeof(set_))
    for cube in range(m.cubes):
        if not in_use(m, later, NULL, cube):
            set_.word[cube >> 6] |= (<uint64_t>1) << (cube & 63)
    return set_


cdef bint cubes_beside(pod_t *m, const cubes_t *free, int32_t n, const permit_t *permit, cubes_t *out) noexcept nogil:
    """The first set of n free cubes that leaves a slice of permit.need at the later time: of those that are of use then
    it has no more than can be spared, and of those that are not in use then no more than jobs may use beside the slice.
    """
    cdef int32_t i, size = m.next[permit.need] if permit.need <= m.nodes else 0, room
    cdef limit_t few, all_
    cdef cubes_t used_ones, other
    cdef bint found
    if size == 0:
        return False
    few.set = useful(m, permit.later, permit.shut, permit.need)
    few.most = count_cubes(&few.set) - max(1, size // m.hosts)
    memset(&all_, 0, sizeof(all_))
    if m.spares == 0:
        return first_cubes(free, n, few, all_, out)
    all_.set = unused(m, permit.later)
    room = pod_room(m, permit.later, NULL)
    if size >= m.hosts:
        all_.most = room - size // m.hosts
        return first_cubes(free, n, few, all_, out)
    # A slice inside a cube that is in use then, which needs no further cube, or inside another.
    used_ones = few.set
    for i in range(3):
        used_ones.word[i] &= ~all_.set.word[i]
        few.set.word[i] &= all_.set.word[i]
    few.most = count_cubes(&few.set) - 1
    all_.most = room - 1
    found = first_cubes(free, n, few, all_, out)
    few.set, few.most, all_.most = used_ones, count_cubes(&used_ones) - 1, room
    if first_cubes(free, n, few, all_, &other) and (not found or is_before(&other, out)):
        found, out[0] = True, other
    return found


cdef bint choose_switched(pod_t *m, const cubes_t *free, int32_t n, const permit_t *permit,
                          place_t *out) noexcept nogil:
    """The first of all sets of n free cubes that is permitted."""
    cdef cubes_t chosen
    cdef limit_t none
    if not has_cubes(m, free, n):
        return False
    if permit != NULL and permit.later != NULL and permit.need > 0:
        if not cubes_beside(m, free, n, permit, &chosen):
            return False
    else:
        memset(&none, 0, sizeof(none))
        if not first_cubes(free, n, none, none, &chosen):
            return False
    out[0] = place_of_cubes(m, &chosen)
    return True


cdef int32_t around(const pod_t *m, uint64_t busy, int32_t first, int32_t size) noexcept nogil:
    """The hosts of the largest free slice around one of this size; 0: it is not free itself."""
    cdef int32_t i, begin, most = 0
    if (busy >> first) & ones(size):
        return 0
    if busy == 0:
        return m.hosts
    for i in range(m.n_inside):
        if m.inside[i] >= size:
            begin = first - first % m.inside[i]
            if (busy >> begin) & ones(m.inside[i]) == 0:
                most = m.inside[i]
    return most


cdef int keep(place_t **found, long *capacity, long n, const place_t *place) noexcept nogil:
    """One more in the buffer; -1: no memory."""
    cdef long more
    cdef place_t *grown
    if n == capacity[0]:
        more = 2 * n if n else min(64, thresholds.first_room)
        grown = <place_t *>realloc(found[0], <size_t>more * sizeof(place_t))
        if grown == NULL:
            return -1
        found[0], capacity[0] = grown, more
    found[0][n] = place[0]
    return 0


cdef int add_found(place_t **found, long *capacity, long *n, const place_t *place, place_t *first_one) noexcept nogil:
    """One more in the buffer, or the only one that is wanted.  1: this is enough; -1: no memory."""
    if found == NULL:
        first_one[0] = place[0]
        return 1
    if keep(found, capacity, n[0], place) < 0:
        return -1
    n[0] += 1
    return 0


cdef inline const uint64_t *forbidden_by(const permit_t *permit) noexcept nogil:
    if permit == NULL:
        return NULL
    return permit.forbidden


cdef inline const uint64_t *used_by(const permit_t *permit) noexcept nogil:
    if permit == NULL:
        return NULL
    return permit.used


cdef inline int32_t cubes_needed(const pod_t *m, const permit_t *permit) noexcept nogil:
    """What is to remain at the later time, an ask of whole cubes; 0: there are also other things to see to."""
    if permit == NULL or permit.later == NULL or m.spares > 0:
        return 0
    if ask_has_shape(permit.need):
        return permit.need
    if not 1 <= permit.need <= m.nodes or m.next[permit.need] < m.hosts:
        return 0
    return m.next[permit.need]


cdef long find_inside(pod_t *m, const uint64_t *occ, int32_t size, const permit_t *permit, place_t **found,
                      long *capacity, place_t *first_one) noexcept nogil:
    """Into the buffer, or only the first (`found` is NULL)."""
    cdef const uint64_t *forbidden = forbidden_by(permit)
    cdef int32_t level, cube, i, first, most
    cdef const uint64_t *used = used_by(permit)
    cdef int32_t more = pod_room(m, occ, used)
    cdef int32_t need = cubes_needed(m, permit)
    cdef uint64_t busy
    cdef bint remains = True, asked
    cdef cubes_t later, alone
    cdef place_t place
    cdef long n = 0
    cdef int enough
    memset(&place, 0, sizeof(place))
    place.part[2], place.part[5] = size, -1
    if need > 0:
        later = pod_free_cubes(m, permit.later, NULL)
        memset(&alone, 0, sizeof(alone))
        if not leaves_blocks(m, &later, &alone, need):
            return 0
    for level in range(m.n_inside + 1):           # what is broken up: the smallest first, whole cubes at last
        most = m.inside[level] if level < m.n_inside else m.hosts
        if most < size:
            continue
        # All permitted places in smaller gaps, and those in gaps of `most` hosts of cubes before this one, are in
        # `found`.
        for cube in range(m.cubes):
            m.looked += 1
            busy = hosts_of(m, occ, cube)
            if busy == ones(m.hosts):
                continue
            if (busy == 0) != (level == m.n_inside) or (more <= 0 and (more < 0 or not in_use(m, occ, used, cube))):
                continue
            asked = False
            for i in range(m.hosts // size):
                first = i * size
                if around(m, busy, first, size) != most:
                    continue
                if forbidden != NULL and hosts_at(forbidden, cube * m.hosts + first, size):
                    continue
                place.part[0], place.part[1] = cube, first
                if need > 0 and not asked:                # the answer is that of the cube
                    asked = True
                    alone.word[cube >> 6] = (<uint64_t>1) << (cube & 63)
                    remains = (later.word[cube >> 6] & alone.word[cube >> 6] == 0
                               or leaves_blocks(m, &later, &alone, need))
                    alone.word[cube >> 6] = 0
                if not (remains if need > 0 else leaves(m, permit, &place)):
                    continue
                enough = add_found(found, capacity, &n, &place, first_one)
                if enough:
                    return enough
    return n


cdef long find_blocks(pod_t *m, const cubes_t *free, int32_t ask, const permit_t *permit, place_t **found,
                      long *capacity, place_t *first_one) noexcept nogil:
    cdef span_t span = blocks_for(m, ask)
    cdef int32_t i, need = cubes_needed(m, permit)
    cdef cubes_t later
    cdef place_t place
    cdef long n = 0
    cdef int enough
    if need > 0:
        later = pod_free_cubes(m, permit.later, NULL)
    for i in range(span.first, span.end):
        m.looked += 1
        if not is_within(&m.block[i], free):
            continue
        place = place_of_cubes(m, &m.block[i])
        if not (leaves_blocks(m, &later, &m.block[i], need) if need > 0 else leaves(m, permit, &place)):
            continue
        enough = add_found(found, capacity, &n, &place, first_one)
        if enough:
            return enough
    return n


cdef long find(pod_t *m, const uint64_t *occ, int32_t ask, const permit_t *permit, place_t **found, long *capacity,
               place_t *out) noexcept nogil:
    cdef cubes_t free
    cdef int32_t size = nodes_of(ask)
    if size < 1 or size > m.nodes or m.next[size] != size:
        return 0
    if size < m.hosts:
        return find_inside(m, occ, size, permit, found, capacity, out)
    free = pod_free_cubes(m, occ, forbidden_by(permit))
    if size // m.hosts > pod_room(m, occ, used_by(permit)):
        return 0
    if not m.switched:
        return find_blocks(m, &free, ask, permit, found, capacity, out)
    if not choose_switched(m, &free, size // m.hosts, permit, out):
        return 0
    return 1 if found == NULL or keep(found, capacity, 0, out) == 0 else -1


cdef bint pod_choose(pod_t *m, const uint64_t *occ, int32_t ask, const permit_t *permit, place_t *out) noexcept nogil:
    return find(m, occ, ask, permit, NULL, NULL, out) > 0


cdef long pod_list(pod_t *m, const uint64_t *occ, int32_t ask, const permit_t *permit, place_t **found,
                   long *capacity) noexcept nogil:
    cdef place_t first
    return find(m, occ, ask, permit, found, capacity, &first)
