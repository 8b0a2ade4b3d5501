"""Placement rules on a torus that use predicted failures of nodes ([oliner2004]): the contract.

``failing`` is a mask in the layout of an occupancy, of the nodes predicted to fail in the job's window; NULL or all
zero is none, and bits on busy or forbidden nodes count for nothing.  Candidates, order and permit as in choose.pxd.
"""

from libc.stdint cimport uint64_t

from faultsim._core.tables.machine cimport permit_t
from faultsim._core.torus.finder cimport finder_t
from faultsim._core.torus.occupancy cimport box_t


# Both are asked right after choose_max_free has found `out` for the same question, and put a better box there.

# The candidate of least value L_MFP + P_f * q (O 4.1): L_MFP = MFP before - MFP after, P_f = 1 - (1-p)^k for the k
# failing nodes of the box by k multiplications, or p if k > 0 (`rule_max`).  As a scan in order finds it, in which a
# later box replaces the best only if its value is less by more than 1e-9.
cdef void settle_balancing(finder_t *f, const uint64_t *occ, int size, int order, permit_t *permit,
                           const uint64_t *failing, double p, bint rule_max, box_t *out) noexcept nogil

# Among the candidates that leave the largest MFP of all, the first without a failing node; if none, the first.
cdef void settle_tie_breaking(finder_t *f, const uint64_t *occ, int size, int order, permit_t *permit,
                              const uint64_t *failing, box_t *out) noexcept nogil
