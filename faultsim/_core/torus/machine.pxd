# The torus as a machine of the engine (machine.pxd): boxes are its places.

from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.tables.machine cimport machine_nodes_t, machine_places_t, machine_t
from faultsim._core.torus.finder cimport finder_t
from faultsim._core.torus.occupancy cimport box_t, torus_t

cdef struct torus_machine_t:
    uint64_t *occ
    torus_t torus
    finder_t finder
    box_t *box               # per job: where it is
    int32_t largest          # size of the largest free box of `occ`; -1: not known

# For machines on which some of the boxes are places.  Their state of `bytes` begins with a torus_machine_t; this fills
# in all of a torus, and what copies and frees it.
cdef void *open_boxes(machine_t *machine, size_t bytes, dict options, dict columns) except NULL
cdef void *copy_boxes(const void *state, const void *sim) noexcept nogil
cdef void close_boxes(void *state) noexcept nogil
cdef machine_places_t places_of_boxes() noexcept
cdef machine_nodes_t nodes_of_boxes() noexcept
