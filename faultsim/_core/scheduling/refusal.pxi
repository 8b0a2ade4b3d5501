# The memory of refusals: where no search for room need begin.  Included after timeline.pxi.
#
# Contract.  Beside everything that is planned, a job with an ask that `ask` covers, and a stay of at least `least`
# seconds, is blocked within `least` seconds of every begin before `until`.  Reservations that are added leave that
# true.  Where capacity is given back from time t on, begins that are blocked before t stay blocked; `until` is lowered
# to these (refuse_from).  Only the last search is stored: more are worth 5 % at most.

cdef struct refusal_t:
    int32_t ask
    double least
    double until             # -inf: nothing is refused


cdef inline double refused_until(const refusal_t *r, int32_t ask, double stay, double *least) noexcept nogil:
    """The time before which such a job is blocked, within `least` seconds; -inf: that is not stored."""
    if r.until == -INFINITY or r.least > stay or not covers(r.ask, ask):
        return -INFINITY
    least[0] = r.least
    return r.until


cdef inline void refuse(refusal_t *r, int32_t ask, double least, double until) noexcept nogil:
    r.ask, r.least, r.until = ask, least, until


cdef inline void refuse_from(refusal_t *r, double t) noexcept nogil:
    """Capacity is given back from time t on."""
    r.until = min(r.until, surely_before(t, r.least))
