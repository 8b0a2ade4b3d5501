# What happened between two decisions (model.md#owned), out of the record.

from libc.stdint cimport int32_t, int64_t

from faultsim._core.state cimport sim_t

cdef class Changes:
    cdef readonly list rows  # (kind, index, time, nodes or box), in their order
    cdef readonly list cause  # of each: of a kill what it was, else ""
    cdef readonly list part   # of each: of a part of a node how much it is, else ""

# The events from number `event` on, stays from number `stay` on.
cdef Changes changes_since(const sim_t *s, int64_t event, int64_t stay)
