"""What a pod has when it is opened: the sizes of its slices and, with wires, their blocks of cubes."""

from libc.stdint cimport int32_t, uint64_t

from itertools import permutations

from faultsim._core.containers.memory cimport own_block, own_jobs
from faultsim._core.pod.slices cimport MOST_CUBES, MOST_HOSTS, cubes_t, pod_t
from faultsim._core.tables.machine cimport place_t


def _shapes(int n, tuple cubes):
    """All (a, b, c) of n cubes that fit, a <= b <= c, the most cubic first."""
    cdef int a, b
    shortest, middle, longest = sorted(cubes)
    found = []
    for a in range(1, shortest + 1):
        if n % a == 0:
            for b in range(a, middle + 1):
                if n // a % b == 0 and b <= n // (a * b) <= longest:
                    found.append((a, b, n // (a * b)))
    return sorted(found, key=lambda s: (s[0] * s[1] + s[1] * s[2] + s[2] * s[0], s))


def _numbers(tuple base, tuple extents, tuple cubes):
    """The cubes of a box, which may wrap around."""
    return [
        ((base[0] + i) % cubes[0] * cubes[1] + (base[1] + j) % cubes[1]) * cubes[2] + (base[2] + k) % cubes[2]
        for i in range(extents[0]) for j in range(extents[1]) for k in range(extents[2])
    ]


def _aligned(tuple extents, tuple cubes):
    """The boxes with these extents along x, y and z at bases that are multiples of them, by base."""
    a, b, c = extents
    return [
        _numbers((x, y, z), extents, cubes)
        for x in range(0, cubes[0] - a + 1, a)
        for y in range(0, cubes[1] - b + 1, b)
        for z in range(0, cubes[2] - c + 1, c)
    ]


def _anywhere(tuple extents, tuple cubes):
    """The boxes with these extents on a torus of cubes, by base."""
    if any([extent > axis for extent, axis in zip(extents, cubes)]):
        return []
    x, y, z = [range(1 if extent == axis else axis) for extent, axis in zip(extents, cubes)]
    return [_numbers((i, j, k), extents, cubes) for i in x for j in y for k in z]


def _straight(tuple shape, tuple cubes):
    """Its shortest extent along the pod's shortest axis and so on."""
    extents = [0, 0, 0]
    for axis, extent in zip(sorted(range(3), key=cubes.__getitem__), shape):
        extents[axis] = extent
    return tuple(extents)


def _orientations(tuple shape, bint aligned, tuple cubes):
    """The orders of its extents in which they are tried (model.md#shapes)."""
    turned = sorted(set(permutations(shape)), reverse=True)
    if aligned:
        turned.sort(key=lambda extents: extents != _straight(shape, cubes))
    return turned


def _blocks(int n, tuple cubes, bint aligned):
    """The blocks of n cubes if no shape is asked: aligned ones of the most cubic shape that fits, or all boxes."""
    if aligned:
        return _aligned(_straight(_shapes(n, cubes)[0], cubes), cubes) if _shapes(n, cubes) else []
    found = []
    for a in range(cubes[0], 0, -1):
        for b in range(cubes[1], 0, -1):
            if n % (a * b) == 0:
                found += _anywhere((a, b, n // (a * b)), cubes)
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


cdef int32_t put_blocks(pod_t *m, int32_t at, list blocks) except -1:
    """From row `at` on; the row after them."""
    cdef int32_t cube
    for block in blocks:
        for cube in block:
            m.block[at].word[cube >> 6] |= (<uint64_t>1) << (cube & 63)
        at += 1
    return at


cdef int pod_open(pod_t *m, dict options, int32_t jobs, bint shapes) except -1:
    cdef int32_t n, size, at = 0, shape = 0
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
    own_jobs(m, &m.place, jobs, sizeof(place_t))
    listed, of_shape = [[]], [[]]
    if not m.switched:
        aligned, find = options["aligned"], _aligned if options["aligned"] else _anywhere
        listed += [_blocks(n, cubes, aligned) if n <= m.largest else [] for n in range(1, m.cubes + 1)]
        if shapes:
            of_shape += [
                [[block for extents in _orientations(each, aligned, cubes) for block in find(extents, cubes)]
                 for each in _shapes(n, cubes)] if n <= m.largest else []
                for n in range(1, m.cubes + 1)]
            own_block(m, &m.first_shape, m.cubes + 2, sizeof(int32_t))
            own_block(m, &m.shape_block, sum(map(len, of_shape)) + 1, sizeof(int32_t))
        own_block(m, &m.block, sum(map(len, listed)) + sum([len(each) for found in of_shape for each in found]),
                  sizeof(cubes_t))
        for n in range(1, m.cubes + 1):
            m.first_block[n] = at
            at = put_blocks(m, at, listed[n])
        m.first_block[m.cubes + 1] = at
        if shapes:
            for n in range(1, m.cubes + 1):
                m.first_shape[n] = shape
                for each in of_shape[n]:
                    m.shape_block[shape] = at
                    at = put_blocks(m, at, each)
                    shape += 1
            m.first_shape[m.cubes + 1], m.shape_block[shape] = shape, at
    size = 0
    for n in range(m.nodes, 0, -1):
        if n % m.hosts == 0 and (m.switched and n // m.hosts <= m.largest or not m.switched and listed[n // m.hosts]):
            size = n
        elif n < m.hosts and n in inside:
            size = n
        m.next[n] = size
    m.next[0] = size
    return 0
