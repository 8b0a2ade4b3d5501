# The C surface: what other Cython code gets from `cimport faultsim`.
#
# Everything is `noexcept nogil`.  The contract of each part is the header that it comes from, which is shipped with the
# package; names that are not listed here may change without notice.  Put `faultsim.get_include()` on Cython's include
# path; tests/core/test_c_surface.py shows a whole module.

# The event heap: (time, kind, serial), smallest first.
from faultsim._core.containers.event_queue cimport (
    event_precedes,
    event_t,
    heap_clear,
    heap_copy,
    heap_free,
    heap_init,
    heap_pop,
    heap_push,
    heap_t,
    heap_top,
)

# The bitmap finder: the largest free box, and the free boxes of a size.
from faultsim._core.torus.choose cimport all_free, first_free, largest_free
from faultsim._core.torus.finder_bitmap cimport finder_free, finder_has_free as has_free, finder_init
from faultsim._core.torus.finder cimport finder_t

# A finder's signature, and the table of all finders by number.
from faultsim._core.torus.finders cimport (
    finder_all_t,
    finder_close_t,
    finder_largest_t,
    finder_open_t,
    finder_row,
    finder_row_t,
)

# The 0-1 knapsack.
from faultsim._core.fars.knapsack cimport knapsack_free, knapsack_init, knapsack_solve, knapsack_t

# The torus, boxes on it and its occupancy.
from faultsim._core.torus.occupancy cimport (
    box_order_t,
    box_size,
    box_t,
    boxes_free,
    boxes_meet,
    boxes_t,
    next_feasible,
    node_bit,
    occ_count,
    occ_drop,
    occ_drop_node,
    occ_equal,
    occ_fill,
    occ_meets,
    occ_node,
    occ_set_node,
    torus_free,
    torus_init,
    torus_t,
)
