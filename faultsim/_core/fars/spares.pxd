# How many nodes Fars may move jobs to without breaking a promise of the scheduler (MODEL 12, Li 2009 section 3.2).

from libc.stdint cimport int32_t, int64_t

from faultsim._core.state cimport sim_t

# What the head of the queue was promised, as of a tick.
cdef struct promised_t:
    bint any                 # somebody waits, and has a reservation
    double time              # inf: nothing can delay it
    int32_t need             # nodes that the head asks for

# Spare nodes at a tick, of `sound` that are free and not suspicious; on a torus with backfilling fars.later becomes the
# occupancy at promised.time.  >= 0, or a status < 0.
cdef int64_t spare_nodes(sim_t *s, int32_t sound, promised_t *promised) noexcept nogil
