# What the rules of schedulers depend on at one moment, as objects of Python (for faultsim/explain).

from libc.stdint cimport int32_t

from faultsim._core.state cimport sim_t
from faultsim._core.tables.machine cimport place_t

# A place of a placed machine: a box, a list of boxes where there are several, a set of cubes.  MemoryError.
cdef object place_for_python(sim_t *s, const place_t *place)

# By job number; of the queue, in the order of the last pass, the first `most` jobs and the one asked about.
# MemoryError if a plan cannot be completed.
cdef dict snapshot_of(sim_t *s, int32_t job_asked, int32_t most)
