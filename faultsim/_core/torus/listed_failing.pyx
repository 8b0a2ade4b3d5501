"""Scores of listed boxes that use predictions; the contract is in listed_failing.pxd."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

from faultsim._core.containers.bits cimport fs_lowest, mask_has
from faultsim._core.containers.memory cimport arena_get
from faultsim._core.torus.listed cimport (
    base_bit, count_costs, drop_base, first_base, free_bases, has_any, least_anchor, listed_from_size, listed_shape_t,
    listed_torus_t, spare_of,
)

cdef double LEAST_GAIN = 1e-9    # a later box must be better by more than this, so that rounding never decides


# ---------------------------------------------------------------------------------------------- Slurm's, and ties

cdef bint safest_within(listed_torus_t *t, const listed_shape_t *s, const uint64_t *safe, permits_t permits,
                        void *context, box_t *out) noexcept nogil:
    """Of `bases`, the candidates of a shape, the first permitted one of least cost that is in `safe`, if one is."""
    cdef bint found
    cdef int32_t i
    while has_any(t, t.bases):
        memcpy(t.rest, t.bases, <size_t>t.words * sizeof(uint64_t))
        least_anchor(t, t.rest)
        found = False
        for i in range(t.words):
            found = found or (t.rest[i] & safe[i]) != 0
        if found:
            for i in range(t.words):
                t.rest[i] &= safe[i]
        first_base(t, s, t.rest, out)
        if permits == NULL or permits(context, out):
            return True
        drop_base(t, t.bases, out)
    return False


cdef bint listed_best_safe(listed_t *r, int torus, int size, const uint64_t *failing, permits_t permits, void *context,
                           box_t *out) noexcept nogil:
    cdef listed_torus_t *t = &r.torus[torus]
    cdef const listed_shape_t *s
    cdef uint64_t *safe
    cdef int32_t w
    cdef int i
    for i in range(listed_from_size(t, size), listed_from_size(t, size + 1)):
        s = &t.shape[i]
        if not free_bases(r, t, t.available, s, True, t.bases):
            continue
        count_costs(r, t, s)
        safe = t.others          # done with, and no function that `permits` calls writes it
        if failing == NULL:
            memcpy(safe, t.bases, <size_t>t.words * sizeof(uint64_t))
        else:
            for w in range(t.words):
                t.spare[w] = t.available[w] & ~failing[w]
            if not free_bases(r, t, t.spare, s, True, safe):
                memset(safe, 0, <size_t>t.words * sizeof(uint64_t))
        if safest_within(t, s, safe, permits, context, out):
            return True
    return False


# ---------------------------------------------------------------------------------------------- balancing

cdef bint room_for_balance(listed_t *r, listed_torus_t *t) noexcept nogil:
    """Scratch, made for the first decision."""
    if t.left == NULL:
        t.left = <int32_t *>arena_get(&r.memory, (<size_t>t.most_shapes * t.words) << 6, sizeof(int32_t))
        t.failing = <int32_t *>arena_get(&r.memory, 3 * <size_t>t.cells, sizeof(int32_t))
    return not r.memory.failed


cdef int list_failing(listed_torus_t *t, const uint64_t *failing) noexcept nogil:
    """Coordinates of the nodes that are predicted to fail; their number."""
    cdef uint64_t word
    cdef int64_t bit
    cdef int32_t i
    cdef int n = 0
    if failing == NULL:
        return 0
    for i in range(t.words):
        word = failing[i] & t.filled[i]
        while word:
            bit = ((<int64_t>i) << 6) + fs_lowest(word)
            word &= word - 1
            t.failing[3 * n] = <int32_t>(bit // t.field // t.extent[1])
            t.failing[3 * n + 1] = <int32_t>(bit // t.field % t.extent[1])
            t.failing[3 * n + 2] = <int32_t>(bit % t.field)
            n += 1
    return n


cdef int failing_in_box(const listed_torus_t *t, int n, const box_t *box) noexcept nogil:
    cdef const int32_t *at = t.failing
    cdef int _i, k = 0
    for _i in range(n):
        k += ((at[0] - box.x + t.extent[0]) % t.extent[0] < box.a
              and (at[1] - box.y + t.extent[1]) % t.extent[1] < box.b
              and (at[2] - box.z + t.extent[2]) % t.extent[2] < box.c)
        at += 3
    return k


cdef int note_largest_left(listed_t *r, listed_torus_t *t, int first, int end) noexcept nogil:
    """`left` = the size of the largest listed box that each candidate leaves free (0: none); the largest one now."""
    cdef int64_t open_ = 0, bit
    cdef int i, k, size, before = 0, group = t.n_shapes, after
    cdef int32_t w
    cdef int32_t *left
    cdef uint64_t word
    memset(t.left, 0, ((<size_t>(end - first) * t.words) << 6) * sizeof(int32_t))
    for i in range(first, end):
        for w in range(t.words):
            open_ += (t.alive[i - first][w] != 0)
    # Invariant: `left` is known of each candidate that leaves a box of the size of shape `group`, or of a larger one.
    while group > 0 and open_:
        after, size = group, t.shape[group - 1].size
        group = listed_from_size(t, size)
        for i in range(first, end):
            memset(t.level[i - first], 0, <size_t>t.words * sizeof(uint64_t))
        for k in range(group, after):
            if free_bases(r, t, t.available, &t.shape[k], True, t.others):
                before = max(before, size)
                for i in range(first, end):
                    if has_any(t, t.alive[i - first]):
                        spare_of(r, t, &t.shape[i], &t.shape[k], t.alive[i - first], t.level[i - first])
        open_ = 0
        for i in range(first, end):
            left = t.left + (<int64_t>(i - first) * t.words << 6)
            for w in range(t.words):
                word = t.level[i - first][w]
                while word:
                    bit = ((<int64_t>w) << 6) + fs_lowest(word)
                    word &= word - 1
                    left[bit] = max(left[bit], size)
                word = t.alive[i - first][w]
                while word and not open_:
                    open_ += left[((<int64_t>w) << 6) + fs_lowest(word)] == 0
                    word &= word - 1
    return before


cdef bint listed_best_balanced(listed_t *r, int torus, int size, const uint64_t *failing, double p, permits_t permits,
                               void *context, box_t *out) noexcept nogil:
    cdef listed_torus_t *t = &r.torus[torus]
    cdef int first = listed_from_size(t, size), end = listed_from_size(t, size + 1)
    cdef int i, j, k, a, _f, before, n
    cdef const listed_shape_t *s
    cdef const int32_t *left
    cdef bint found = False
    cdef double value, least = 0.0, survives
    cdef int64_t bit
    cdef box_t box
    for i in range(first, end):
        if free_bases(r, t, t.available, &t.shape[i], True, t.alive[i - first]):
            found = True
        else:
            memset(t.alive[i - first], 0, <size_t>t.words * sizeof(uint64_t))
    if not found or not room_for_balance(r, t):
        return False
    before, n, found = note_largest_left(r, t, first, end), list_failing(t, failing), False
    for i in range(first, end):
        s, left = &t.shape[i], t.left + (<int64_t>(i - first) * t.words << 6)
        box.a, box.b, box.c = s.extent[0], s.extent[1], s.extent[2]
        if not has_any(t, t.alive[i - first]):
            continue
        # Invariant: `out` is the answer of the scan so far, in the order of anchors.
        for a in range(s.positions[0]):
            for j in range(s.positions[1]):
                for k in range(s.positions[2]):
                    box.x, box.y, box.z = s.walk[0][a], s.walk[1][j], s.walk[2][k]
                    bit = base_bit(t, box.x, box.y, box.z)
                    if not mask_has(t.alive[i - first], bit):
                        continue
                    survives = 1.0
                    for _f in range(failing_in_box(t, n, &box)):
                        survives *= 1.0 - p
                    value = (before - left[bit]) + (1.0 - survives) * size
                    if found and not value < least - LEAST_GAIN:
                        continue
                    if permits == NULL or permits(context, &box):
                        found, least, out[0] = True, value, box
    return found
