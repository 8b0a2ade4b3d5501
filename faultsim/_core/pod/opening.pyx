"""What a pod has when it is opened: the sizes of its slices and, with wires, their blocks of cubes."""

from libc.stdint cimport int32_t, uint64_t

from faultsim._core.containers.memory cimport own_block
from faultsim._core.pod.slices cimport MOST_CUBES, MOST_HOSTS, cubes_t, pod_t
from faultsim._core.tables.machine cimport place_t


def _shapes(int n):
    """All (a, b, c) of n cubes, a <= b <= c, the most cubic first."""
    cdef int a, b
    found = []
    for a in range(1, n + 1):
        if n % a == 0:
            for b in range(a, n // a + 1):
                if n // a % b == 0 and n // (a * b) >= b:
                    found.append((a, b, n // (a * b)))
    return sorted(found, key=lambda s: (s[0] * s[1] + s[1] * s[2] + s[2] * s[0], s))


def _numbers(tuple base, tuple extents, tuple cubes):
    """The cubes of a box, which may wrap around."""
    return [
        ((base[0] + i) % cubes[0] * cubes[1] + (base[1] + j) % cubes[1]) * cubes[2] + (base[2] + k) % cubes[2]
        for i in range(extents[0]) for j in range(extents[1]) for k in range(extents[2])
    ]


def _blocks(int n, tuple cubes):
    """The aligned blocks of n cubes of the most cubic shape that fits, by base."""
    axes = sorted(range(3), key=cubes.__getitem__)
    for shape in _shapes(n):
        extents = [0, 0, 0]
        for axis, extent in zip(axes, shape):
            extents[axis] = extent
        a, b, c = extents
        if a <= cubes[0] and b <= cubes[1] and c <= cubes[2]:
            return [
                _numbers((x, y, z), (a, b, c), cubes)
                for x in range(0, cubes[0] - a + 1, a)
                for y in range(0, cubes[1] - b + 1, b)
                for z in range(0, cubes[2] - c + 1, c)
            ]
    return []


def _boxes(int n, tuple cubes):
    """The boxes of n cubes of a torus of cubes (model.md#box-order)."""
    found = []
    for a in range(cubes[0], 0, -1):
        for b in range(cubes[1], 0, -1):
            c = n // (a * b)
            if a * b * c == n and c <= cubes[2]:
                bases = [range(1 if extent == axis else axis) for extent, axis in zip((a, b, c), cubes)]
                found += [_numbers((x, y, z), (a, b, c), cubes) for x in bases[0] for y in bases[1] for z in bases[2]]
    return found


def _inside(int edge, int hosts):
    """The sizes of slices inside a cube, ascending."""
    extents, found = [edge, edge, edge], []
    while hosts % 2 == 0 and extents[2] % 2 == 0:
        extents[2] //= 2
        extents.sort()
        hosts //= 2
        found.insert(0, hosts)
    return found


cdef int pod_open(pod_t *m, dict options, int32_t jobs) except -1:
    cdef int32_t n, size, cube, at = 0
    cubes = tuple(options["cubes"])
    m.hosts, m.cubes = options["hosts"], cubes[0] * cubes[1] * cubes[2]
    if m.cubes > <int32_t>MOST_CUBES or m.hosts > <int32_t>MOST_HOSTS:
        raise ValueError(f"a pod may have {<int>MOST_CUBES} cubes of {<int>MOST_HOSTS} hosts")
    m.nodes = m.cubes * m.hosts
    m.words = (m.nodes + 63) // 64
    m.switched = options["wiring"] == "ocs"
    m.spares = options.get("spares", 0)
    m.largest = min(options["largest"] or m.cubes, m.cubes - m.spares)
    inside = _inside(options["cube"][0], m.hosts)
    m.n_inside = len(inside)
    for n in range(m.n_inside):
        m.inside[n] = inside[n]
    own_block(m, &m.occ, m.words, sizeof(uint64_t))
    own_block(m, &m.scratch, m.words, sizeof(uint64_t))
    own_block(m, &m.down, m.words, sizeof(uint64_t))
    own_block(m, &m.next, m.nodes + 1, sizeof(int32_t))
    own_block(m, &m.first_block, m.cubes + 2, sizeof(int32_t))
    own_block(m, &m.place, jobs, sizeof(place_t))
    listed = [[]]
    if not m.switched:
        find = _blocks if options["aligned"] else _boxes
        listed += [find(n, cubes) if n <= m.largest else [] for n in range(1, m.cubes + 1)]
        own_block(m, &m.block, sum(map(len, listed)), sizeof(cubes_t))
        for n in range(1, m.cubes + 1):
            m.first_block[n] = at
            for block in listed[n]:
                for cube in block:
                    m.block[at].word[cube >> 6] |= (<uint64_t>1) << (cube & 63)
                at += 1
        m.first_block[m.cubes + 1] = at
    size = 0
    for n in range(m.nodes, 0, -1):
        if n % m.hosts == 0 and (m.switched and n // m.hosts <= m.largest or not m.switched and listed[n // m.hosts]):
            size = n
        elif n < m.hosts and n in inside:
            size = n
        m.next[n] = size
    m.next[0] = size
    return 0
