# The torus as a machine of the engine (machine.pxd): boxes are its places.

from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.torus.finder cimport finder_t
from faultsim._core.torus.occupancy cimport box_t, torus_t

cdef struct torus_machine_t:
    uint64_t *occ
    torus_t torus
    finder_t finder
    box_t *box               # per job: where it is
    int32_t largest          # size of the largest free box of `occ`; -1: not known
