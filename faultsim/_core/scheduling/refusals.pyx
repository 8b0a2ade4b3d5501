"""When jobs of some kind were refused; the contract is in refusals.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

from faultsim._core.containers.memory cimport own_block

cdef enum:
    SETS = 16                # a power of two
    WAYS = 8


cdef int refusals_open(void *owner, refusals_t *r) except -1:
    r.era = 1
    return own_block(owner, &r.row, SETS * WAYS, sizeof(refusal_t))


cdef double refused_until(const refusals_t *r, int32_t need, double owed, double remaining) noexcept nogil:
    cdef const refusal_t *row = r.row + WAYS * (need & (SETS - 1))
    cdef double until = -INFINITY
    cdef int32_t i
    for i in range(WAYS):
        if (row[i].era == r.era and row[i].need == need and row[i].until > until
                and row[i].remaining <= remaining and row[i].owed <= owed):
            until = row[i].until
    return until


cdef void refuse_until(refusals_t *r, int32_t need, double owed, double remaining, double until) noexcept nogil:
    # In the place of a row that is void, or says less, or reaches least far.
    cdef refusal_t *row = r.row + WAYS * (need & (SETS - 1))
    cdef int32_t i, at = 0
    for i in range(WAYS):
        if row[i].era != r.era or (row[i].need == need and row[i].until <= until
                                   and remaining <= row[i].remaining and owed <= row[i].owed):
            at = i
            break
        if row[i].until < row[at].until:
            at = i
    row[at].need, row[at].era, row[at].until = need, r.era, until
    row[at].remaining, row[at].owed = remaining, owed


cdef void refuse_from(refusals_t *r, double now, double delay, double t) noexcept nogil:
    cdef refusal_t *row = r.row
    cdef double until
    cdef int32_t i
    if t <= now:
        refuse_none(r)
        return
    for i in range(SETS * WAYS):
        until = surely_before(t, delay + row[i].owed + row[i].remaining)
        if until < row[i].until:
            row[i].until = until
