"""Sets of coordinates on one axis, and which intervals keep clear of which: the contract.

What makes placement cheap is that boxes separate by axis.  Two boxes are disjoint iff they are disjoint on some axis,
so for a set C of bases of one shape and a set G of bases of another, whether some pair of them is disjoint depends on
the projections of C and G on the axes alone; and the bases p of C that keep clear of some box of G are those with p.x
in K_x or p.y in K_y or p.z in K_z, where K_x = {p : [p, p+a) misses [q, q+m) for some q of G's projection on x}. A
family keeps such projections, one set an extent.
"""

from libc.stdint cimport int32_t, uint64_t

from faultsim._core.containers.memory cimport arena_t


cdef struct family_t:               # sets of coordinates of one axis, one for each extent at most
    int n                           # length of the axis
    int words                       # uint64 words a set
    bint wrap
    int used, cap
    int32_t *slot                   # [n + 1]: where the set of an extent is; -1 = nowhere
    int32_t *extent                 # [used]
    uint64_t *sets                  # [used][words]
    arena_t *memory


# The family is all zero before.  If memory is out, arena_t.failed is set.
cdef void family_init(family_t *f, int n, bint wrap, arena_t *memory) noexcept nogil
cdef void family_clear(family_t *f) noexcept nogil
cdef void family_add(family_t *f, int extent, const uint64_t *set) noexcept nogil

# Has every set of the first a superset in the second?
cdef bint family_within(const family_t *f, const family_t *g) noexcept nogil

# The coordinates that all intervals [q, q+m) have in common; all if there are none; 0 also where sets take words.
cdef uint64_t family_shared(const family_t *f) noexcept nogil

# The coordinates that some interval [q, q+m) has; all of them where sets take words.
cdef uint64_t family_cover(const family_t *f) noexcept nogil

# out = {p : [p, p+s) misses [q, q+m) for some extent m and some q in its set}
cdef void family_apart(const family_t *f, int s, uint64_t *out) noexcept nogil
