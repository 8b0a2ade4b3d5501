"""The search for the largest free box, in the maps of a finder: the contract.

It goes column by column: the map of (a, b, 1) follows from that of (a - 1, b, 1), and a box that beats the best so far
needs a run of c > best / (a*b) along z in it.  No run of that length: then none in any wider column either, and all
columns whose area cannot make up for it are left out (about M^5 / 64 steps at worst, far fewer as a rule).
"""

from libc.stdint cimport uint64_t

from faultsim._core.torus.finder cimport finder_t
from faultsim._core.torus.row_maps cimport view_t
from faultsim._core.torus.axis_sets cimport family_t
from faultsim._core.torus.word_maps cimport u128
from faultsim._core.torus.occupancy cimport box_t


# The size of the largest free box above `best` that keeps clear of some box of `mine` (NULL: any), else `best`.  A box
# of `enough` nodes ends the search; `witness` (may be NULL) is a free box of the size found, if that is above `best`.
cdef int search_words(finder_t *f, u128 vacant, int best, int enough, const family_t *mine,
                      box_t *witness) noexcept nogil
cdef int search_rows(finder_t *f, view_t *v, int best, int enough, const family_t *mine,
                     box_t *witness) noexcept nogil
