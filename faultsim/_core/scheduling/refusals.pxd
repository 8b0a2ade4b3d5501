# When jobs of some kind were refused: where no search for a hole need begin.
#
# Contract.  A row says that beside all that is planned no job that asks for `need` (an ask of machine.pxd), and whose
# stay is at least as long in both of its parts, can begin before `until`.  What is planned besides leaves that true;
# `refuse_from` is told what does not.  Some are forgotten: there are a few rows for each need, and needs share them.

from libc.stdint cimport int32_t, int64_t

cdef struct refusal_t:
    double owed              # the two parts of a stay
    double remaining
    double until
    int64_t era              # another one than that of the table: void
    int32_t need

cdef struct refusals_t:
    refusal_t *row
    int64_t era

# `owner` as in steps.pxd.
cdef int refusals_open(void *owner, refusals_t *r) except -1
# Before that time no such job finds a hole; -inf: who knows.
cdef double refused_until(const refusals_t *r, int32_t need, double owed, double remaining) noexcept nogil
cdef void refuse_until(refusals_t *r, int32_t need, double owed, double remaining, double until) noexcept nogil
# Nodes were given back, from t on.  Stays begin `delay` after they are decided.
cdef void refuse_from(refusals_t *r, double now, double delay, double t) noexcept nogil


cdef inline void refuse_none(refusals_t *r) noexcept nogil:
    r.era += 1


cdef inline double surely_before(double t, double duration) noexcept nogil:
    """What takes so long and begins by then has ended by t, however sums are rounded."""
    return t - duration * (1.0 + 1e-9) - 1e-9 * t
