"""The slices of a pod; the contract is in slices.pxd."""

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport realloc
from libc.string cimport memcpy, memset

from faultsim._core.containers.bits cimport fs_lowest, ones
from faultsim._core.tables.machine cimport outline_t, permit_t, place_t


# -- what is free ------------------------------------------------------------------------------------------------------

cdef inline void drop_beyond(const pod_t *m, cubes_t *set_) noexcept nogil:
    """Bits of no cube are 0."""
    cdef int32_t i
    for i in range(3):
        set_.word[i] &= ones(max(0, min(64, m.cubes - 64 * i)))


cdef inline uint64_t four_taken(uint64_t bits) noexcept nogil:
    """A word has four cubes of 16 hosts: a bit for each that has one in it."""
    bits |= bits >> 1
    bits |= bits >> 2
    bits |= bits >> 4
    bits |= bits >> 8
    # The product brings the lowest bits of the four together, at 48.
    return ((bits & <uint64_t>0x0001000100010001) * <uint64_t>0x0001000200040008) >> 48 & 15


cdef cubes_t pod_free_cubes(pod_t *m, const uint64_t *mask, const uint64_t *forbidden) noexcept nogil:
    cdef cubes_t free
    cdef int32_t cube, word
    cdef uint64_t bits
    memset(&free, 0, sizeof(free))
    m.looked += m.cubes
    if m.hosts == 16:
        for word in range(m.words):
            bits = mask[word]
            if forbidden != NULL:
                bits |= forbidden[word]
            free.word[word >> 4] |= (four_taken(bits) ^ 15) << (4 * (word & 15))
        drop_beyond(m, &free)
        return free
    for cube in range(m.cubes):
        bits = hosts_of(m, mask, cube)
        if bits == 0 and forbidden != NULL:
            bits = hosts_of(m, forbidden, cube)
        if bits == 0:
            free.word[cube >> 6] |= (<uint64_t>1) << (cube & 63)
    return free


cdef inline bint in_use(const pod_t *m, const uint64_t *mask, int32_t cube) noexcept nogil:
    """Does a job hold a host of it?"""
    return hosts_of(m, mask, cube) & ~hosts_of(m, m.down, cube) != 0


cdef int32_t pod_room(pod_t *m, const uint64_t *mask) noexcept nogil:
    """How many cubes more jobs may use; < 0: not even those that they have."""
    cdef int32_t cube, n = m.cubes - m.spares
    if m.spares > 0:
        m.looked += m.cubes
        for cube in range(m.cubes):
            n -= in_use(m, mask, cube)
    return n


cdef void pod_trace(const pod_t *m, const uint64_t *mask, int32_t low, int32_t high, outline_t *into) noexcept nogil:
    cdef int32_t word, cube, shift
    cdef uint64_t bit
    if m.hosts == 16:
        for word in range(low, high):
            shift = 4 * (word & 15)
            into.word[word >> 4] &= ~((<uint64_t>15) << shift)
            into.word[word >> 4] |= four_taken(mask[word]) << shift
        return
    for cube in range(64 * low // m.hosts, min(m.cubes, (64 * high + m.hosts - 1) // m.hosts)):
        bit = (<uint64_t>1) << (cube & 63)
        if hosts_of(m, mask, cube):
            into.word[cube >> 6] |= bit
        else:
            into.word[cube >> 6] &= ~bit


cdef inline bint is_within(const cubes_t *block, const cubes_t *free) noexcept nogil:
    return not (block.word[0] & ~free.word[0] or block.word[1] & ~free.word[1] or block.word[2] & ~free.word[2])


cdef inline bint has_run(uint64_t busy, int32_t hosts, int32_t size) noexcept nogil:
    """Do the hosts of a cube have a slice of this size that is free?"""
    cdef int32_t i
    for i in range(hosts // size):
        if (busy >> (i * size)) & ones(size) == 0:
            return True
    return False


cdef bint has_run_in_words(pod_t *m, const uint64_t *mask, int32_t size) noexcept nogil:
    """`has_inside` where words have whole cubes."""
    cdef uint64_t aligned = ones(64) // ones(size), free
    cdef int32_t word, shift, last = m.nodes & 63
    for word in range(m.words):
        m.looked += 1
        free = ~mask[word]
        if last > 0 and word == m.words - 1:
            free &= ones(last)
        shift = 1
        while shift < size:
            free &= free >> shift
            shift *= 2
        if free & aligned:
            return True
    return False


cdef bint has_inside(pod_t *m, const uint64_t *mask, int32_t size) noexcept nogil:
    cdef int32_t cube, more
    if m.spares == 0 and 64 % m.hosts == 0:
        return has_run_in_words(m, mask, size)
    more = pod_room(m, mask)
    for cube in range(m.cubes):
        m.looked += 1
        if has_run(hosts_of(m, mask, cube), m.hosts, size) and (more > 0 or (more == 0 and in_use(m, mask, cube))):
            return True
    return False


cdef bint has_cubes(pod_t *m, const cubes_t *free, int32_t n) noexcept nogil:
    """Do these cubes have a slice of n?"""
    cdef int32_t i
    if m.switched:
        return n <= m.largest and n <= count_cubes(free)
    for i in range(m.first_block[n], m.first_block[n + 1]):
        m.looked += 1
        if is_within(&m.block[i], free):
            return True
    return False


cdef inline cubes_t free_beside(const pod_t *m, const outline_t *taken) noexcept nogil:
    cdef cubes_t free
    cdef int32_t i
    for i in range(3):
        free.word[i] = ~taken.word[i]
    drop_beyond(m, &free)
    return free


cdef bint has_blocks(pod_t *m, const cubes_t *free, int32_t n, int32_t most) noexcept nogil:
    """Do these cubes have a slice of n to `most` cubes?  A larger block may have no smaller one in it."""
    cdef int32_t count = count_cubes(free)
    if m.switched:
        return has_cubes(m, free, n)
    if most > count:
        most = count
    while n <= most:
        if has_cubes(m, free, n):
            return True
        n += 1
    return False


cdef bint leaves_blocks(pod_t *m, const cubes_t *later, const cubes_t *block, int32_t n) noexcept nogil:
    """Have those of the cubes that are not in the block a slice of at least n?"""
    cdef cubes_t rest
    cdef int32_t i
    for i in range(3):
        rest.word[i] = later.word[i] & ~block.word[i]
    return has_blocks(m, &rest, n, m.cubes)


cdef bint pod_has_beside(pod_t *m, const outline_t *taken, int32_t size, int32_t limit, const outline_t *later,
                         int32_t need) noexcept nogil:
    cdef cubes_t free = free_beside(m, taken), kept, both
    cdef int32_t i, spare, n = (size + m.hosts - 1) // m.hosts, most = m.cubes if limit >= m.nodes else limit // m.hosts
    m.looked += 1
    if later == NULL or need < m.hosts:
        return has_blocks(m, &free, n, most)
    if need > m.nodes or m.next[need] == 0:
        return False
    need = m.next[need] // m.hosts
    kept = free_beside(m, later)
    if m.switched:
        for i in range(3):
            both.word[i] = free.word[i] & kept.word[i]
        spare = count_cubes(&kept) - need
        return n <= m.largest and spare >= 0 and count_cubes(&free) - max(0, count_cubes(&both) - spare) >= n
    if most > count_cubes(&free):
        most = count_cubes(&free)
    if n <= most:
        for i in range(m.first_block[n], m.first_block[most + 1]):
            m.looked += 1
            if is_within(&m.block[i], &free) and leaves_blocks(m, &kept, &m.block[i], need):
                return True
    return False


cdef bint pod_has(pod_t *m, const uint64_t *mask, int32_t size) noexcept nogil:
    cdef cubes_t free
    if size < 1 or size > m.nodes or m.next[size] != size:
        return False
    if size < m.hosts:
        return has_inside(m, mask, size)
    free = pod_free_cubes(m, mask, NULL)
    return size // m.hosts <= pod_room(m, mask) and has_cubes(m, &free, size // m.hosts)


cdef bint pod_has_free(pod_t *m, const uint64_t *mask, int32_t need) noexcept nogil:
    cdef cubes_t free
    cdef int32_t n, count, size = m.next[need] if need <= m.nodes else 0
    if size == 0:
        return False
    if size < m.hosts:
        return has_inside(m, mask, size)
    free = pod_free_cubes(m, mask, NULL)
    if m.switched:
        return size // m.hosts <= pod_room(m, mask) and has_cubes(m, &free, size // m.hosts)
    count = min(count_cubes(&free), pod_room(m, mask))
    for n in range(size // m.hosts, count + 1):      # a larger block may have no smaller one in it
        if has_cubes(m, &free, n):
            return True
    return False


cdef int32_t pod_largest(pod_t *m, const uint64_t *mask) noexcept nogil:
    cdef cubes_t free = pod_free_cubes(m, mask, NULL)
    cdef int32_t i, n = min(min(count_cubes(&free), m.largest), pod_room(m, mask))
    while n > 0:
        if has_cubes(m, &free, n):
            return n * m.hosts
        n -= 1
    for i in range(m.n_inside - 1, -1, -1):
        if has_inside(m, mask, m.inside[i]):
            return m.inside[i]
    return 0


# -- places in masks ---------------------------------------------------------------------------------------------------

cdef inline void change(uint64_t *mask, int32_t first, int32_t n, bint put) noexcept nogil:
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
        change(mask, place.part[0] * m.hosts + place.part[1], place.part[2], put)
        return
    set_ = cubes_of(place)
    for i in range(3):
        while set_.word[i]:
            change(mask, ((i << 6) + fs_lowest(set_.word[i])) * m.hosts, m.hosts, put)
            set_.word[i] &= set_.word[i] - 1


cdef void pod_put(const pod_t *m, uint64_t *mask, const place_t *place) noexcept nogil:
    change_place(m, mask, place, True)


cdef void pod_lift(const pod_t *m, uint64_t *mask, const place_t *place) noexcept nogil:
    change_place(m, mask, place, False)


cdef void pod_lift_parts(const pod_t *m, uint64_t *mask, const place_t *place, outline_t *taken) noexcept nogil:
    cdef cubes_t set_
    cdef int32_t i
    pod_lift(m, mask, place)
    if is_inside(place):
        if hosts_of(m, mask, place.part[0]) == 0:
            taken.word[place.part[0] >> 6] &= ~((<uint64_t>1) << (place.part[0] & 63))
        return
    set_ = cubes_of(place)
    for i in range(3):
        taken.word[i] &= ~set_.word[i]


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


cdef bint pod_is_place(pod_t *m, const place_t *place) noexcept nogil:
    cdef cubes_t set_, all_
    cdef int32_t i, n
    if is_inside(place):
        n = place.part[2]
        return (0 <= place.part[0] < m.cubes and 0 < n < m.hosts and m.next[n] == n
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
    for i in range(m.first_block[n], m.first_block[n + 1]):
        if is_within(&m.block[i], &set_):
            return True
    return False


# -- choosing ----------------------------------------------------------------------------------------------------------

cdef bint leaves(pod_t *m, const permit_t *permit, const place_t *place) noexcept nogil:
    """Does a slice of permit.need remain at the later time?"""
    if permit == NULL or permit.later == NULL or permit.need < 1:
        return True
    memcpy(m.scratch, permit.later, <size_t>m.words * sizeof(uint64_t))
    pod_put(m, m.scratch, place)
    return pod_has_free(m, m.scratch, permit.need)


cdef cubes_t useful(pod_t *m, const uint64_t *later, int32_t need) noexcept nogil:
    """The cubes that a slice of this need, or of the next size, could use, whole or a part of one."""
    cdef int32_t cube, size = m.next[need] if need <= m.nodes else 0
    cdef cubes_t set_
    if size >= m.hosts:
        return pod_free_cubes(m, later, NULL)
    memset(&set_, 0, sizeof(set_))
    if size > 0:
        for cube in range(m.cubes):
            if has_run(hosts_of(m, later, cube), m.hosts, size):
                set_.word[cube >> 6] |= (<uint64_t>1) << (cube & 63)
    return set_


cdef bint leaves_room(pod_t *m, const uint64_t *later, int32_t n, int32_t need) noexcept nogil:
    """May jobs use n cubes that are free until then, too, and a slice of `need` at the later time?"""
    cdef int32_t cube, more
    if m.spares == 0:
        return True
    more = pod_room(m, later) - n
    if need >= m.hosts or more != 0:
        return more >= max(1, need // m.hosts)
    for cube in range(m.cubes):
        if in_use(m, later, cube) and has_run(hosts_of(m, later, cube), m.hosts, need):
            return True
    return False


cdef bint choose_switched(pod_t *m, const cubes_t *free, int32_t n, const permit_t *permit,
                          place_t *out) noexcept nogil:
    """The first of all sets of n free cubes that is permitted: of those that are of use at the later time it has no
    more than can be spared.
    """
    cdef cubes_t chosen, use
    cdef int32_t i, need, spare = n
    cdef uint64_t bits, low
    memset(&chosen, 0, sizeof(chosen))
    memset(&use, 0, sizeof(use))
    if not has_cubes(m, free, n):
        return False
    if permit != NULL and permit.later != NULL and permit.need > 0:
        need = m.next[permit.need] if permit.need <= m.nodes else 0
        use = useful(m, permit.later, permit.need)
        spare = count_cubes(&use) - max(1, need // m.hosts)
        if spare < 0 or not leaves_room(m, permit.later, n, need):
            return False
    for i in range(3):
        bits = free.word[i]
        while bits and n > 0:
            low = bits & (~bits + 1)
            bits ^= low
            if use.word[i] & low:
                if spare == 0:
                    continue
                spare -= 1
            chosen.word[i] |= low
            n -= 1
    out[0] = place_of_cubes(m, &chosen)
    return n == 0


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
        more = 2 * n if n else 64
        grown = <place_t *>realloc(found[0], <size_t>more * sizeof(place_t))
        if grown == NULL:
            return -1
        found[0], capacity[0] = grown, more
    found[0][n] = place[0]
    return 0


cdef inline const uint64_t *forbidden_by(const permit_t *permit) noexcept nogil:
    if permit == NULL:
        return NULL
    return permit.forbidden


cdef inline int32_t cubes_needed(const pod_t *m, const permit_t *permit) noexcept nogil:
    """Of a slice of whole cubes that is to remain at the later time; 0: there are also other things to see to."""
    if permit == NULL or permit.later == NULL or m.spares > 0 or not 1 <= permit.need <= m.nodes:
        return 0
    return m.next[permit.need] // m.hosts


cdef long find_inside(pod_t *m, const uint64_t *occ, int32_t size, const permit_t *permit, place_t **found,
                      long *capacity, place_t *first_one) noexcept nogil:
    """Into the buffer, or only the first (`found` is NULL)."""
    cdef const uint64_t *forbidden = forbidden_by(permit)
    cdef int32_t level, cube, i, first, most
    cdef int32_t more = pod_room(m, occ)
    cdef int32_t need = cubes_needed(m, permit)
    cdef uint64_t busy
    cdef bint remains = True, asked
    cdef cubes_t later, alone
    cdef place_t place
    cdef long n = 0
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
        for cube in range(m.cubes):
            m.looked += 1
            busy = hosts_of(m, occ, cube)
            if busy == ones(m.hosts):
                continue
            if (busy == 0) != (level == m.n_inside) or (more <= 0 and (more < 0 or not in_use(m, occ, cube))):
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
                if found == NULL:
                    first_one[0] = place
                    return 1
                if keep(found, capacity, n, &place) < 0:
                    return -1
                n += 1
    return n


cdef long find_blocks(pod_t *m, const cubes_t *free, int32_t cubes, const permit_t *permit, place_t **found,
                      long *capacity, place_t *first_one) noexcept nogil:
    cdef int32_t i, need = cubes_needed(m, permit)
    cdef cubes_t later
    cdef place_t place
    cdef long n = 0
    if need > 0:
        later = pod_free_cubes(m, permit.later, NULL)
    for i in range(m.first_block[cubes], m.first_block[cubes + 1]):
        m.looked += 1
        if not is_within(&m.block[i], free):
            continue
        place = place_of_cubes(m, &m.block[i])
        if not (leaves_blocks(m, &later, &m.block[i], need) if need > 0 else leaves(m, permit, &place)):
            continue
        if found == NULL:
            first_one[0] = place
            return 1
        if keep(found, capacity, n, &place) < 0:
            return -1
        n += 1
    return n


cdef long find(pod_t *m, const uint64_t *occ, int32_t size, const permit_t *permit, place_t **found, long *capacity,
               place_t *out) noexcept nogil:
    cdef cubes_t free
    if size < 1 or size > m.nodes or m.next[size] != size:
        return 0
    if size < m.hosts:
        return find_inside(m, occ, size, permit, found, capacity, out)
    free = pod_free_cubes(m, occ, forbidden_by(permit))
    if size // m.hosts > pod_room(m, occ):
        return 0
    if not m.switched:
        return find_blocks(m, &free, size // m.hosts, permit, found, capacity, out)
    if not choose_switched(m, &free, size // m.hosts, permit, out):
        return 0
    return 1 if found == NULL or keep(found, capacity, 0, out) == 0 else -1


cdef bint pod_choose(pod_t *m, const uint64_t *occ, int32_t size, const permit_t *permit, place_t *out) noexcept nogil:
    return find(m, occ, size, permit, NULL, NULL, out) > 0


cdef long pod_list(pod_t *m, const uint64_t *occ, int32_t size, const permit_t *permit, place_t **found,
                   long *capacity) noexcept nogil:
    cdef place_t first
    return find(m, occ, size, permit, found, capacity, &first)
