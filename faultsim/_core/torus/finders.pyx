"""The table of partition finders and their Python border; see finders.pxd."""

from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from faultsim._core.torus.finder_bitmap cimport all_free, finder_forget, finder_free, finder_init, largest_free
from faultsim._core.torus.finder cimport finder_t
from faultsim._core.torus.finder_divisor cimport divisor_all, divisor_largest
from faultsim._core.torus.finder_naive cimport bytes_close, bytes_open, naive_all, naive_largest
from faultsim._core.torus.finder_pop cimport pop_all, pop_close, pop_largest, pop_open
from faultsim._core.torus.occupancy cimport Torus, boxes_free, occ_pack


# -- the bitmap finder as a row --------------------------------------------------------------------------------------

cdef void *_bitmap_open(const torus_t *torus) noexcept nogil:
    cdef finder_t *f = <finder_t *> malloc(sizeof(finder_t))
    if f != NULL and finder_init(f, torus):
        free(f)
        f = NULL
    return f


cdef void _bitmap_close(void *state) noexcept nogil:
    finder_free(<finder_t *> state)
    free(state)


cdef int _bitmap_largest(void *state, const uint64_t *occ, box_t *out) noexcept nogil:
    finder_forget(<finder_t *> state)                   # each question is answered from the occupancy alone
    return largest_free(<finder_t *> state, occ, out)


cdef int _bitmap_all(void *state, const uint64_t *occ, int size, int order, boxes_t *list) noexcept nogil:
    cdef long n
    finder_forget(<finder_t *> state)
    n = all_free(<finder_t *> state, occ, size, order, &list.at, &list.cap)
    list.n = max(n, 0)
    return -1 if n < 0 else 0


cdef finder_row_t[4] FINDERS

FINDERS[0] = finder_row_t(b"bitmap", b"O(M^5 / 64), about", b"faultsim: a bit a node, shift and AND, an area bound",
                          _bitmap_open, _bitmap_close, _bitmap_largest, _bitmap_all)
FINDERS[1] = finder_row_t(b"divisor", b"O(M^3 s f(s)^2) a size s", b"[oliner2004] appendix 9",
                          bytes_open, bytes_close, divisor_largest, divisor_all)
FINDERS[2] = finder_row_t(b"pop", b"O(M^5)", b"[krevat2002] appendix A",
                          pop_open, pop_close, pop_largest, pop_all)
FINDERS[3] = finder_row_t(b"naive", b"O(M^9)", b"[krevat2002] section 2",
                          bytes_open, bytes_close, naive_largest, naive_all)


cdef const finder_row_t *finder_row(int number) noexcept nogil:
    return &FINDERS[number] if 0 <= number < 4 else NULL


# -- Python's border -------------------------------------------------------------------------------------------------

def table():
    """(name, complexity, source) of each finder, in the order of their numbers."""
    return [(FINDERS[i].name.decode(), FINDERS[i].complexity.decode(), FINDERS[i].source.decode()) for i in range(4)]


cdef class Finder:
    """Many occupancies of one torus, asked in one call without the GIL; each question is answered afresh."""
    cdef Torus torus
    cdef const finder_row_t *row
    cdef void *state
    cdef uint64_t *occ              # [n][words]
    cdef boxes_t list
    cdef readonly int n

    def __cinit__(self, Torus torus, int number, const unsigned char[:, :, :, ::1] busy):
        cdef int i
        cdef int words = torus.t.words
        self.torus, self.n = torus, busy.shape[0]
        self.row = finder_row(number)
        if self.row == NULL:
            raise ValueError(f"no finder has number {number}")
        if busy.shape[1] != torus.t.x or busy.shape[2] != torus.t.y or busy.shape[3] != torus.t.z:
            raise ValueError("the occupancies are not those of the torus")
        self.state = self.row.open(&torus.t)
        self.occ = <uint64_t *> calloc(<size_t> self.n * words, sizeof(uint64_t))
        if self.state == NULL or self.occ == NULL:
            raise MemoryError
        with nogil:
            for i in range(self.n):
                occ_pack(&torus.t, &busy[i, 0, 0, 0], &self.occ[i * <size_t> words])

    def __dealloc__(self):
        if self.state != NULL:
            self.row.close(self.state)
        free(self.occ)
        boxes_free(&self.list)

    def largest(self, int32_t[:, ::1] out, int times=1):
        """The largest free box of each occupancy into a row (x, y, z, a, b, c), zeros where there is none."""
        cdef int i, _k, size
        cdef box_t box
        if out.shape[0] != self.n or out.shape[1] != 6:
            raise ValueError("out has a row of 6 for each occupancy")
        with nogil:
            for _k in range(times):
                for i in range(self.n):
                    size = self.row.largest(self.state, &self.occ[i * <size_t> self.torus.t.words], &box)
                    if size == 0:
                        memset(&box, 0, sizeof(box))
                    memcpy(&out[i, 0], &box, sizeof(box))

    def count(self, int size, int order=0, int times=1):
        """How many free boxes of a size there are in all occupancies together; each list is made and dropped."""
        cdef int i, _k, bad = 0
        cdef long total = 0
        self._check(size, order)
        with nogil:
            for _k in range(times):
                for i in range(self.n):
                    self.list.n = 0
                    bad |= self.row.all(self.state, &self.occ[i * <size_t> self.torus.t.words], size, order, &self.list)
                    total += self.list.n
        if bad:
            raise MemoryError
        return total

    def boxes(self, int size, int order=0, int which=0):
        """Every free box of a size of one occupancy: bytes, six int32 a box."""
        cdef int bad
        self._check(size, order)
        if not 0 <= which < self.n:
            raise IndexError(which)
        self.list.n = 0
        with nogil:
            bad = self.row.all(self.state, &self.occ[which * <size_t> self.torus.t.words], size, order, &self.list)
        if bad:
            raise MemoryError
        return (<char *> self.list.at)[:self.list.n * sizeof(box_t)] if self.list.n else b""

    cdef int _check(self, int size, int order) except -1:
        if not 1 <= size <= self.torus.t.nodes or not 0 <= order <= 2:
            raise ValueError("size or order out of range")
        return 0
