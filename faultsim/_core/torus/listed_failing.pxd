# Scores of listed boxes that use predictions (model.md#scores), of what `available` and `open` have.
#
# `failing` has the nodes that are predicted to fail in the window, in the layout of `available`; NULL: none.

from libc.stdint cimport uint64_t

from faultsim._core.torus.listed cimport listed_t, permits_t
from faultsim._core.torus.occupancy cimport box_t

# Slurm's own choice, among boxes of least cost one without a node of `failing`.  False: there is none.
cdef bint listed_best_safe(listed_t *r, int torus, int size, const uint64_t *failing, permits_t permits, void *context,
                           box_t *out) noexcept nogil
# Balancing among listed boxes, each node of `failing` with probability p.  False: there is none, or no memory.
cdef bint listed_best_balanced(listed_t *r, int torus, int size, const uint64_t *failing, double p, permits_t permits,
                               void *context, box_t *out) noexcept nogil
