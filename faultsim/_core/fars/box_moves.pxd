# A job of a torus moves as a whole, into another box (MODEL 12).

from libc.stdint cimport int32_t

from faultsim._core.fars.spares cimport promised_t
from faultsim._core.state cimport sim_t

# Moves a running job into a box without a suspicious node: 1 moved; 0: no box will do; < 0: a status.
cdef int move_box(sim_t *s, int32_t job, const promised_t *promised) noexcept nogil
# reservation="fixed": the box that the head has been promised, as an occupancy in fars.wary; OK or a status < 0.
cdef int promised_box(sim_t *s, const promised_t *promised) noexcept nogil
