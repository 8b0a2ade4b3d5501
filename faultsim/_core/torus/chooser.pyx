"""Python's border to the placement rules: for tests, benchmarks, and placements tried by hand."""

from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free

from faultsim._core.containers.memory cimport arena_zeros
from faultsim._core.torus.balance cimport settle_balancing, settle_tie_breaking
from faultsim._core.tables.machine cimport permit_t, place_t
from faultsim._core.torus.choose cimport choose_first_fit, choose_max_free, largest_free, list_permitted
from faultsim._core.torus.finder_bitmap cimport (
    finder_forget, finder_free, finder_init, finder_note_given, finder_note_taken, finder_has_free,
)
from faultsim._core.torus.finder cimport finder_t
from faultsim._core.torus.row_slices cimport slices_room
from faultsim._core.torus.occupancy cimport Torus, box_t, occ_pack, torus_t

_RULES = ("first_fit", "max_free_partition", "balancing", "tie_breaking", "list")


cdef tuple _row(const box_t *b):
    return (b.x, b.y, b.z, b.a, b.b, b.c)


cdef class Chooser:
    """A finder of one torus that serves many calls, as that of the engine does.

    `follows`: the occupancies are one that changes.  Where `busy` has free nodes that were busy in the call before,
    `give` has announced boxes with all of these.
    """
    cdef Torus torus
    cdef finder_t finder
    cdef uint64_t *occ              # [4][words]: busy, forbidden, later, failing

    def __cinit__(self, Torus torus, bint follows=False):
        self.torus = torus
        if finder_init(&self.finder, &torus.t):
            raise MemoryError
        self.occ = <uint64_t *> arena_zeros(&self.finder.memory, 4 * <size_t> torus.t.words, sizeof(uint64_t))
        if self.occ == NULL:
            raise MemoryError
        if follows:
            self.finder.own = self.occ

    def __dealloc__(self):
        finder_free(&self.finder)

    cdef uint64_t *_load(self, const unsigned char[:, :, ::1] busy, int which) except NULL:
        cdef uint64_t *occ = self.occ + which * self.torus.t.words
        if busy.shape[0] != self.torus.t.x or busy.shape[1] != self.torus.t.y or busy.shape[2] != self.torus.t.z:
            raise ValueError("the occupancy is not one of this torus")
        occ_pack(&self.torus.t, &busy[0, 0, 0], occ)
        if which == 0:
            finder_note_taken(&self.finder)
        return occ

    def give(self, tuple box):
        """A box became free."""
        cdef box_t given
        given.x, given.y, given.z, given.a, given.b, given.c = box
        finder_note_given(&self.finder, &given)

    def largest(self, busy):
        """The size of the largest free box, and the first such box."""
        cdef uint64_t *occ = self._load(busy, 0)
        cdef box_t out
        cdef int size
        with nogil:
            size = largest_free(&self.finder, occ, &out)
        return (size, _row(&out)) if size else (0, None)

    def has_free(self, busy, int at_least):
        """A free box of at least so many nodes, or None."""
        cdef uint64_t *occ = self._load(busy, 0)
        cdef box_t out
        cdef bint found
        with nogil:
            found = finder_has_free(&self.finder, occ, at_least, &out)
        return _row(&out) if found else None

    def has_room(self, busy, int need, tuple box):
        """Whether there is a free box of at least so many nodes that overlaps a box.  None: not computed on this torus.

        True also where one that does not meet it was found.
        """
        cdef uint64_t *occ = self._load(busy, 0)
        cdef box_t near
        if not self.finder.slices.able:
            return None
        near.x, near.y, near.z, near.a, near.b, near.c = box
        return slices_room(&self.finder.slices, &self.finder.row_maps, occ, &near, need)

    cdef bint _ask(self, int rule, const uint64_t *occ, int size, int order, permit_t *permit,
                   const uint64_t *failing, double p, bint rule_max, box_t *out) noexcept nogil:
        cdef finder_t *f = &self.finder
        if rule == 0:
            return choose_first_fit(f, occ, size, order, permit, out)
        if not choose_max_free(f, occ, size, order, permit, out):
            return False
        if rule == 2:
            settle_balancing(f, occ, size, order, permit, failing, p, rule_max, out)
        elif rule == 3:
            settle_tie_breaking(f, occ, size, order, permit, failing, out)
        return True

    def choose(self, str rule, busy, int size, int order=0, forbidden=None, later=None, int need=0, failing=None,
               double p=0.0, bint rule_max=False, list near=None):
        """The box that a rule picks, or None; "list": all candidates.

        Rules are "first_fit", "max_free_partition", "balancing" and "tie_breaking"; `failing` are the nodes predicted
        to fail, `p` their probability; `near` are at most four boxes, as in permit_t.
        """
        cdef permit_t permit
        cdef place_t beside[4]
        cdef box_t out
        cdef box_t *buf = NULL
        cdef long i, n = 0, cap = 0
        cdef bint found = False
        cdef int which = _RULES.index(rule)
        cdef uint64_t *occ = self._load(busy, 0)
        cdef const uint64_t *stained = NULL if failing is None else self._load(failing, 3)
        permit.need, permit.same = need, False
        permit.near, permit.n_near = beside, 0
        for row in near or ():
            for i in range(6):
                beside[permit.n_near].part[i] = row[i]
            permit.n_near += 1
        permit.forbidden = NULL if forbidden is None else self._load(forbidden, 1)
        permit.later = NULL if later is None else self._load(later, 2)
        with nogil:
            if which < 4:
                found = self._ask(which, occ, size, order, &permit, stained, p, rule_max, &out)
            else:
                n = list_permitted(&self.finder, occ, size, order, &permit, &buf, &cap)
        try:
            if n < 0 or self.finder.memory.failed:
                raise MemoryError
            if which == 4:
                return [_row(&buf[i]) for i in range(n)]
            return _row(&out) if found else None
        finally:
            free(buf)

    def repeat(self, str rule, const unsigned char[:, :, :, ::1] busy, int size, int times=1,
               const unsigned char[:, :, :, ::1] failing=None, double p=0.1, bint rule_max=False):
        """Place a job on each of many occupancies, from scratch each time and without the GIL; how often it fitted."""
        cdef const torus_t *t = &self.torus.t
        cdef int n = busy.shape[0], which = _RULES[:4].index(rule), i, _k
        cdef size_t words = t.words
        cdef long fitted = 0
        cdef box_t out
        cdef uint64_t *all
        cdef uint64_t *occ
        cdef const uint64_t *stained
        if busy.shape[1] != t.x or busy.shape[2] != t.y or busy.shape[3] != t.z or not 1 <= size <= t.nodes:
            raise ValueError("the occupancies or the size are not of this torus")
        if failing is not None and not (failing.shape[0] == n and failing.shape[1] == t.x and failing.shape[2] == t.y
                                        and failing.shape[3] == t.z):
            raise ValueError("as many failing masks as occupancies, of this torus")
        all = <uint64_t *> calloc(2 * n * words, sizeof(uint64_t))
        if all == NULL:
            raise MemoryError
        for i in range(n):
            occ_pack(t, &busy[i, 0, 0, 0], &all[i * words])
            if failing is not None:
                occ_pack(t, &failing[i, 0, 0, 0], &all[(n + i) * words])
        with nogil:
            for _k in range(times):
                for i in range(n):
                    occ, stained = &all[i * words], &all[(n + i) * words]
                    finder_forget(&self.finder)
                    fitted += self._ask(which, occ, size, 0, NULL, stained, p, rule_max, &out)
        free(all)
        return fitted
