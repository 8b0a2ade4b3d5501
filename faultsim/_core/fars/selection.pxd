# Which suspicious jobs leave their nodes (model.md#rescheduling, [li2009] section 4.3 to 4.5).

from libc.stdint cimport int32_t, int64_t

from faultsim._core.fars.fars cimport fars_t
from faultsim._core.state cimport sim_t

# The running jobs with suspicious nodes become f.suspect; how many.
cdef int32_t find_suspects(sim_t *s, fars_t *f) noexcept nogil
# Say who leaves, with `spare` nodes to go to; OK or a status < 0.
cdef int select_jobs(sim_t *s, fars_t *f, int32_t n, int64_t spare) noexcept nogil
