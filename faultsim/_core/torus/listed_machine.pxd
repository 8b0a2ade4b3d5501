# A torus with listed boxes as places (listed.pxd), as a machine of the engine.

from libc.stdint cimport uint64_t

from faultsim._core.tables.machine cimport permit_t
from faultsim._core.torus.listed cimport listed_t
from faultsim._core.torus.machine cimport torus_machine_t
from faultsim._core.torus.occupancy cimport box_t

cdef struct listed_machine_t:
    torus_machine_t boxes    # first, so that the functions of the torus work here
    listed_t rule
    uint64_t *around         # scratch: a mask with one more box in it

# What `leaves_shape` looks at: a permit with `later` and `need`.
cdef struct permitted_t:
    listed_machine_t *machine
    const permit_t *permit

# Whether a free box for `need` remains in (later | box); a permits_t with a permitted_t.
cdef bint leaves_shape(void *context, const box_t *box) noexcept nogil

cdef inline listed_machine_t *listed_of(void *state) noexcept nogil:
    return <listed_machine_t *>state
