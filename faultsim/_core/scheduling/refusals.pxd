# When jobs of some kind were refused: where no search for a hole need begin.
#
# Contract.  A row says that beside all that is planned no job that asks for `need` (an ask of machine.pxd), and whose
# stay is at least as long in both of its parts, can begin before `until`.  What is planned besides leaves that true;
# `refuse_from` is told what does not.  Some are forgotten: there are a few rows for each need, and needs share them.

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from faultsim._core.containers.memory cimport own_block
from faultsim._core.thresholds cimport thresholds

cdef enum:
    SETS = 16                # at most; a power of two
    WAYS = 8                 # at most

cdef struct refusal_t:
    double owed              # the two parts of a stay
    double remaining
    double until
    int64_t era              # another one than that of the table: void
    int32_t need

cdef struct refusals_t:
    refusal_t *row           # WAYS for each set
    int32_t mask             # number of sets in use, less 1
    int32_t ways             # in use
    int64_t era


cdef inline void refuse_none(refusals_t *r) noexcept nogil:
    r.era += 1


cdef inline double surely_before(double t, double duration) noexcept nogil:
    """What takes so long and begins by then has ended by t, however sums are rounded."""
    return t - duration * (1.0 + 1e-9) - 1e-9 * t


# `owner` as in steps.pxd.
cdef inline int refusals_open(void *owner, refusals_t *r) except -1:
    r.era = 1
    r.mask, r.ways = thresholds.refused_needs - 1, thresholds.refused_stays
    return own_block(owner, &r.row, SETS * WAYS, sizeof(refusal_t))


# Before that time no such job finds a hole; -inf: who knows.
cdef inline double refused_until(const refusals_t *r, int32_t need, double owed, double remaining) noexcept nogil:
    cdef const refusal_t *row = r.row + WAYS * (need & r.mask)
    cdef double until = -INFINITY
    cdef int32_t i
    for i in range(r.ways):
        if (row[i].era == r.era and row[i].need == need and row[i].until > until
                and row[i].remaining <= remaining and row[i].owed <= owed):
            until = row[i].until
    return until


cdef inline void refuse_until(refusals_t *r, int32_t need, double owed, double remaining, double until) noexcept nogil:
    # In the place of a row that is void, or says less, or reaches least far.
    cdef refusal_t *row = r.row + WAYS * (need & r.mask)
    cdef int32_t i, at = 0
    for i in range(r.ways):
        if row[i].era != r.era or (row[i].need == need and row[i].until <= until
                                   and remaining <= row[i].remaining and owed <= row[i].owed):
            at = i
            break
        if row[i].until < row[at].until:
            at = i
    row[at].need, row[at].era, row[at].until = need, r.era, until
    row[at].remaining, row[at].owed = remaining, owed


# Nodes were given back, from t on.  Stays begin `delay` after they are decided.
cdef inline void refuse_from(refusals_t *r, double now, double delay, double t) noexcept nogil:
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
