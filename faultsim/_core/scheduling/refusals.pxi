# The memory of refusals: where no search for room need begin.  Included after the functions of a capacity.
#
# Contract.  A refusal says: beside everything that is planned, a job whose ask it covers, and whose stay is at least
# `least` seconds, is blocked within `least` seconds of every begin before `until`.  Reservations that are added leave
# that true.  Where capacity is given back from time t on, begins that are blocked before t stay blocked; `until` is
# lowered to these (refuse_from).

cdef enum:
    MOST_REFUSALS = 64

cdef struct refusal_t:
    int32_t ask
    double least
    double until

cdef struct refusals_t:
    refusal_t row[MOST_REFUSALS]
    int32_t n, next          # `next` is replaced when all rows are in use
    int32_t most             # rows in use, at most


cdef inline void refuse_none(refusals_t *r) noexcept nogil:
    r.n = r.next = 0


cdef inline double rounded_up(double begin, double end) noexcept nogil:
    """The length of a stretch of time, rounded up: the end of a job is a sum of doubles."""
    return ((end - begin) + 4e-15 * (begin + end)) * (1.0 + 3e-7) + 1e-30


cdef inline double surely_before(double t, double duration) noexcept nogil:
    """A stay of this duration that begins by then has ended by time t, however sums are rounded."""
    return t - duration * (1.0 + 1e-9) - 1e-9 * t


cdef inline void refusal_of(const refusals_t *r, int32_t ask, double stay, refusal_t *found) noexcept nogil:
    """The refusal that reaches furthest for an ask and a stay, into `found`; its `until` is -inf if there is none."""
    cdef int32_t i
    found.ask, found.least, found.until = ask, 0.0, -INFINITY
    for i in range(r.n):
        if r.row[i].until > found.until and r.row[i].least <= stay and covers(r.row[i].ask, ask):
            found.least, found.until = r.row[i].least, r.row[i].until


cdef inline void refuse(refusals_t *r, int32_t ask, double least, double until) noexcept nogil:
    """A new refusal, in the place of one that says no more, else of the oldest one."""
    cdef refusal_t *row = r.row
    cdef int32_t i = 0
    while i < r.n and not (row[i].until <= until and row[i].least >= least and covers(ask, row[i].ask)):
        i += 1
    if i == r.n:
        if r.n < r.most:
            r.n += 1
        else:
            i = r.next
            r.next = (i + 1) % r.most
    row[i].ask, row[i].least, row[i].until = ask, least, until


cdef inline void refuse_from(refusals_t *r, double t) noexcept nogil:
    """Capacity is given back from time t on."""
    cdef int32_t i
    cdef double until
    for i in range(r.n):
        until = surely_before(t, r.row[i].least)
        if until < r.row[i].until:
            r.row[i].until = until
