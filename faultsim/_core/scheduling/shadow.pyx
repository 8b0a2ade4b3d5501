"""The shadow time of placed machines; the contract is in shadow.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcpy

from faultsim._core.containers.bits cimport mask_count
from faultsim._core.tables.machine cimport machine_t


cdef double placed_shadow(const sim_t *s, const release_t *items, int32_t count, const uint64_t *occ, int32_t need,
                          uint64_t *there) noexcept nogil:
    cdef const machine_t *m = &s.machine
    cdef size_t bytes = <size_t>m.words * sizeof(uint64_t)
    cdef int32_t low = -1, high, mid, n, free = m.nodes - mask_count(occ, m.words)
    cdef double shadow
    if count == 0:
        return INFINITY
    # Fewer than `need` nodes are free before items[low] has gone.
    while low + 1 < count and free < need:
        low += 1
        free += items[low].nodes
    if free < need:
        return INFINITY
    # The head could not start, so with nothing released there is no place; `low` releases at least are needed.
    low = low - 1 if low > 0 else -1
    high = count - 1
    # Free places only grow as jobs leave: bisect for the first release that is enough.
    while high - low > 1:
        mid = (low + high) >> 1
        memcpy(there, occ, bytes)
        m.release(m.state, items, mid + 1, there)
        if m.has_free(m.state, there, need):
            high = mid
        else:
            low = mid
    shadow = items[high].end if items[high].end > s.now else s.now
    n = 0
    while n < count and items[n].end <= shadow:
        n += 1
    memcpy(there, occ, bytes)
    m.release(m.state, items, n, there)
    return shadow if m.has_free(m.state, there, need) else INFINITY
