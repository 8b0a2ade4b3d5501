"""Placement rules on a torus; see choose.pxd."""

from libc.stdint cimport uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from faultsim._core.finder_bitmap cimport (
    all_free, finder_free, finder_init, finder_t, has_free, largest_free,
)
from faultsim._core.torus cimport Torus, box_t, boxes_meet, occ_fill, occ_meets, torus_t


cdef bint _permitted(finder_t *f, permit_t *permit, const box_t *box) noexcept nogil:
    cdef const torus_t *t = f.torus
    if permit == NULL:
        return True
    if permit.forbidden != NULL and occ_meets(t, permit.forbidden, box):
        return False
    if permit.later == NULL or permit.need < 1:
        return True
    if permit.has_witness and not boxes_meet(t, box, &permit.witness):
        return True
    memcpy(f.scratch, permit.later, t.words * sizeof(uint64_t))
    occ_fill(t, f.scratch, box)
    if has_free(f, f.scratch, permit.need, &permit.witness):
        permit.has_witness = True
        return True
    return False


cdef long list_permitted(finder_t *f, const uint64_t *occ, int size, int order, permit_t *permit,
                         box_t **buf, long *cap) noexcept nogil:
    cdef long i, n, kept = 0
    n = all_free(f, occ, size, order, buf, cap)
    for i in range(n):
        if _permitted(f, permit, &buf[0][i]):
            buf[0][kept] = buf[0][i]
            kept += 1
    return kept if n >= 0 else n


cdef bint choose_first_fit(finder_t *f, const uint64_t *occ, int size, int order, permit_t *permit, box_t *out) noexcept nogil:
    cdef box_t *buf = NULL
    cdef long i, n, cap = 0
    cdef bint found = False
    n = all_free(f, occ, size, order, &buf, &cap)
    for i in range(n):
        if _permitted(f, permit, &buf[i]):
            out[0] = buf[i]
            found = True
            break
    free(buf)
    return found


cdef bint choose_max_free(finder_t *f, const uint64_t *occ, int size, int order, permit_t *permit, box_t *out) noexcept nogil:
    cdef box_t *buf = NULL
    cdef long i, n, cap = 0
    cdef int left, best = -1
    n = list_permitted(f, occ, size, order, permit, &buf, &cap)
    for i in range(n):
        memcpy(f.scratch, occ, f.torus.words * sizeof(uint64_t))
        occ_fill(f.torus, f.scratch, &buf[i])
        left = largest_free(f, f.scratch, NULL)
        if left > best:
            best = left
            out[0] = buf[i]
    free(buf)
    return best >= 0


# -- Python's border: for tests and for placements tried by hand ---------------------------------------------------------

cdef tuple _row(const box_t *b):
    return (b.x, b.y, b.z, b.a, b.b, b.c)


def choose(Torus torus, str rule, const unsigned char[:, :, ::1] busy, int size, int order=0,
           const unsigned char[:, :, ::1] forbidden=None, const unsigned char[:, :, ::1] later=None, int need=0):
    """The box that `rule` ("first_fit", "max_free_partition" or "list") picks, as (x, y, z, a, b, c), None, or a list."""
    cdef finder_t f
    cdef permit_t permit
    cdef box_t out
    cdef box_t *buf = NULL
    cdef long i, n = 0, cap = 0
    cdef bint found = False
    cdef int which = ("first_fit", "max_free_partition", "list").index(rule)
    cdef int words = torus.t.words
    cdef uint64_t *occ = <uint64_t *> malloc(3 * words * sizeof(uint64_t))
    if occ == NULL or finder_init(&f, &torus.t):
        free(occ)
        raise MemoryError
    permit.forbidden, permit.later, permit.need, permit.has_witness = NULL, NULL, need, False
    torus.load(busy, occ)
    if forbidden is not None:
        torus.load(forbidden, occ + words)
        permit.forbidden = occ + words
    if later is not None:
        torus.load(later, occ + 2 * words)
        permit.later = occ + 2 * words
    with nogil:
        if which == 0:
            found = choose_first_fit(&f, occ, size, order, &permit, &out)
        elif which == 1:
            found = choose_max_free(&f, occ, size, order, &permit, &out)
        else:
            n = list_permitted(&f, occ, size, order, &permit, &buf, &cap)
    finder_free(&f)
    free(occ)
    if which < 2:
        return _row(&out) if found else None
    try:
        if n < 0:
            raise MemoryError
        return [_row(&buf[i]) for i in range(n)]
    finally:
        free(buf)
