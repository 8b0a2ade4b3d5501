"""Python's border to the rule of listed shapes: decisions over several tori with weights, required nodes and segments
(model.md#tori), and benchmarks of one decision.
"""

from libc.stdint cimport int32_t, int64_t

import numpy as np

from faultsim._core.torus.listed cimport (
    permits_t, SCORE_SLURM, free_bases, listed_add_shape, listed_add_torus, listed_begin, listed_best, listed_end,
    listed_from_size, listed_ready, listed_t, listed_torus_t,
)
from faultsim._core.torus.occupancy cimport box_t


cdef struct required_t:
    const listed_torus_t *torus
    const unsigned char *wanted      # per node
    int count


cdef inline int node_in(const listed_torus_t *t, const box_t *box, int i) noexcept nogil:
    """The i-th node of a box; -1: its cell is empty."""
    cdef int z = (box.z + i % box.c) % t.extent[2], y = (box.y + i // box.c % box.b) % t.extent[1]
    cdef int x = (box.x + i // (box.c * box.b)) % t.extent[0]
    cdef int cell = (x * t.extent[1] + y) * t.extent[2] + z
    return cell if t.node == NULL else t.node[cell]


cdef bint has_required(void *context, const box_t *box) noexcept nogil:
    cdef const required_t *required = <const required_t *>context
    cdef int i, node, found = 0
    for i in range(box.a * box.b * box.c):
        node = node_in(required.torus, box, i)
        if node >= 0 and required.wanted[node]:
            found += 1
    return found == required.count


cdef class ListedRule:
    """Tori as (x, y, z, node per cell or None, rows of nine numbers per shape by size), over nodes 0 to `nodes` - 1."""

    cdef listed_t rule
    cdef readonly int nodes

    def __cinit__(self, list tori, int nodes):
        cdef const int32_t[::1] cells
        cdef const int32_t[:, ::1] rows
        cdef const int32_t *node
        cdef int i, x, y, z
        self.nodes = nodes
        if listed_begin(&self.rule, len(tori)) < 0:
            raise MemoryError
        for x, y, z, given, shapes in tori:
            node = NULL
            if given is not None:
                cells = np.ascontiguousarray(given, np.int32)
                if cells.shape[0] != x * y * z:
                    raise ValueError("one node per cell")
                node = &cells[0]
            rows = np.ascontiguousarray(shapes, np.int32).reshape(-1, 9)
            if listed_add_torus(&self.rule, x, y, z, z, node, rows.shape[0]) < 0:
                raise MemoryError
            for i in range(rows.shape[0]):
                if listed_add_shape(&self.rule, self.rule.n_tori - 1, &rows[i, 0]) < 0:
                    raise MemoryError
        if listed_ready(&self.rule) < 0:
            raise MemoryError

    def __dealloc__(self):
        listed_end(&self.rule)

    cdef int64_t load(self, int torus, const unsigned char[::1] free, const int64_t[::1] weight, int64_t most) noexcept:
        """What is available on a torus, of nodes of at most this weight; the idle count, of all weights."""
        cdef listed_torus_t *t = &self.rule.torus[torus]
        cdef int64_t bit, idle = 0
        cdef int cell, node, i
        for i in range(t.words):
            t.available[i] = t.open[i] = 0
        for cell in range(t.cells):
            node = cell if t.node == NULL else t.node[cell]
            bit = <int64_t>(cell // t.extent[2]) * t.field + cell % t.extent[2]
            if node >= 0 and not free[node]:
                continue
            t.open[bit >> 6] |= (<unsigned long long>1) << (bit & 63)
            if node >= 0:
                idle += 1
                if weight.shape[0] == 0 or weight[node] <= most:
                    t.available[bit >> 6] |= (<unsigned long long>1) << (bit & 63)
        return idle

    def best(self, const unsigned char[::1] free, int size, const int64_t[::1] weight, required, int score=SCORE_SLURM,
             unsigned long long key=0):
        """(torus, shape, nodes) of the best candidate, or None; `weight` is empty where all are equal."""
        cdef unsigned char[::1] wanted = np.zeros(self.nodes, np.uint8)
        cdef required_t context
        cdef box_t box
        cdef int torus, node, i
        cdef permits_t permits = NULL
        for node in required:
            wanted[node] = 1
        context.wanted, context.count = &wanted[0], len(required)
        if context.count:
            permits = has_required
        for level in (np.unique(np.asarray(weight)).tolist() or [0]):
            idle = [(self.load(torus, free, weight, level), torus) for torus in range(self.rule.n_tori)]
            for _, torus in sorted(idle):
                context.torus = &self.rule.torus[torus]
                if listed_best(&self.rule, torus, size, score, key, permits, &context, &box):
                    nodes = [node_in(context.torus, &box, i) for i in range(box.a * box.b * box.c)]
                    return torus, self.shape_at(torus, &box, size), nodes
            if self.rule.memory.failed:
                raise MemoryError
        return None

    cdef int shape_at(self, int torus, const box_t *box, int size) noexcept:
        """A shape with these extents at this base."""
        cdef const listed_torus_t *t = &self.rule.torus[torus]
        cdef int64_t bit = (<int64_t>box.x * t.extent[1] + box.y) * t.field + box.z
        cdef int i
        for i in range(listed_from_size(t, size), t.n_shapes):
            if (t.shape[i].extent[0] == box.a and t.shape[i].extent[1] == box.b and t.shape[i].extent[2] == box.c
                    and t.shape[i].complete[bit >> 6] >> (bit & 63) & 1):
                return i
        return -1

    def has_shape(self, int size):
        """Whether a torus has a shape of exactly this size."""
        return any(listed_from_size(&self.rule.torus[torus], size) < listed_from_size(&self.rule.torus[torus], size + 1)
                   for torus in range(self.rule.n_tori))

    def overlaps(self, int torus, int shape):
        """Whether boxes of a shape can meet others of its size."""
        return bool(self.rule.torus[torus].shape[shape].overlaps)

    def anchors(self, int torus, int shape):
        """The number of anchors of a shape, and of those without an empty cell."""
        cdef const listed_torus_t *t = &self.rule.torus[torus]
        cdef object complete = 0
        cdef int w
        for w in range(t.words):
            complete += (<object>int(t.shape[shape].complete[w])).bit_count()
        return t.shape[shape].n_anchors, complete

    def fragmentation(self, const unsigned char[::1] free):
        """The sum of sizes over all anchors with a box that meets nodes that are not available."""
        cdef listed_torus_t *t
        cdef int torus, i, w
        cdef int64_t count
        cdef object total = 0
        for torus in range(self.rule.n_tori):
            t = &self.rule.torus[torus]
            self.load(torus, free, np.empty(0, np.int64), 0)
            for i in range(t.n_shapes):
                count = t.shape[i].n_anchors
                if free_bases(&self.rule, t, t.open, &t.shape[i], False, t.others):
                    for w in range(t.words):
                        count -= (<object>int(t.others[w])).bit_count()
                total += int(count) * t.shape[i].size
        return total

    def reached(self, int torus, int size):
        """Cells of a torus in a complete box of this size: bool per cell."""
        cdef listed_torus_t *t = &self.rule.torus[torus]
        cdef int i, k, x, y, z
        found = np.zeros((t.extent[0], t.extent[1], t.extent[2]), bool)
        for i in range(listed_from_size(t, size), listed_from_size(t, size + 1)):
            for x in range(t.extent[0]):
                for y in range(t.extent[1]):
                    for z in range(t.extent[2]):
                        k = (x * t.extent[1] + y) * t.field + z
                        if t.shape[i].complete[k >> 6] >> (k & 63) & 1:
                            axes = [(at + np.arange(extent)) % whole for at, extent, whole in zip(
                                (x, y, z), t.shape[i].extent, t.extent, strict=True)]
                            found[np.ix_(*axes)] = True
        return found.ravel()

    def repeat(self, const unsigned char[::1] free, const int32_t[::1] sizes, int times, int score=SCORE_SLURM):
        """Decide for each size in turn on the first torus, all `times` over, and return how many found a box."""
        cdef box_t box
        cdef int64_t found = 0
        cdef int _, k
        self.load(0, free, np.empty(0, np.int64), 0)
        with nogil:
            for _ in range(times):
                for k in range(sizes.shape[0]):
                    found += listed_best(&self.rule, 0, sizes[k], score, 0, NULL, NULL, &box)
        return found
