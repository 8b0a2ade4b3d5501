# Where a plan has become freer: a bound that tells, job by job, who may find an earlier hole there.
#
# Contract: a gap is a stretch of time in which at least so many nodes are free.  Needs are in classes, one for each
# power of two, with a list of bounds on the gaps in which as many nodes are free as the least need of the class.  They
# are those that were told in this turn and the last.  A job to whom no gap is admitted finds no hole in any of them
# that begins before its reservation.
#
# Telling costs the steps of the stretch and those beside it up to where as few nodes are free as before.

from libc.stdint cimport int32_t, uint64_t

from faultsim._core.containers.bits cimport fs_highest
from faultsim._core.scheduling.profile cimport profile_t, spot_t
from faultsim._core.scheduling.waiting cimport bound_t, line_t

cdef enum:
    CLASSES = 32
    GAPS = 8                # of a class; of more, neighbours are joined
    DEPTH = 64
    REFUSED = 4             # of a gap

# Nobody who asks for as many nodes and takes as long finds a hole that begins in the gap, and before `until`: where as
# many nodes are free they are for less long.
cdef struct refused_t:
    int32_t need
    float least
    double until

cdef struct gap_t:
    double begin
    double end
    double length            # no hole in it is longer; rounded up
    float admits             # nor is one for a job of the class that has not been refused
    int32_t level            # nor of more nodes
    int32_t told             # in this turn
    int32_t n                # refusals; the last REFUSED are kept
    refused_t refused[REFUSED]

cdef struct class_t:
    int32_t n
    gap_t gap[GAPS + 2]      # in order of time; they do not overlap

cdef struct gaps_t:
    class_t of[CLASSES]
    int32_t turn
    int32_t top              # classes in use: those below
    int32_t tallest          # nodes free at most
    bound_t admits           # nobody else is admitted to any of them, once it has been looked up
    float longest            # of it
    uint64_t stale           # a bit for each class of which it is to be looked up again
    int32_t admitting        # classes of it that may admit somebody
    int32_t classes          # of a bound
    float wanted[CLASSES]    # no job of the class that waits takes less; inf: there is none
    # The jobs of each 64th of a class that wait, or more, and for each a bit whether there are any.
    int32_t waiting[CLASSES * 64]
    uint64_t some[CLASSES]
    int32_t good             # so many more of those that take least may leave before these are looked up again

# Look up `admits`.
cdef void gaps_look_up(gaps_t *g) noexcept nogil
# Another turn: what was told in the last one stays, and what was told before goes.
cdef void gaps_turn(gaps_t *g) noexcept nogil
# These jobs wait: gaps too short for them all go untold.
cdef void gaps_want(gaps_t *g, const int32_t *need, const float *least, int32_t n) noexcept nogil
# The same of those who are counted, in order of their numbers.
cdef void gaps_want_again(gaps_t *g, const line_t *line) noexcept nogil
# A stretch up to `end` has become freer: no fewer than `before` nodes were free all along, and no more than `peak` are
# now.  `here` is the step that holds where it begins.
cdef void gaps_tell(gaps_t *g, profile_t *f, spot_t here, double now, double end, int32_t before,
                    int32_t peak) noexcept nogil
# Where so many nodes are free from a time in [begin, stop) on, they are for less than `longest`.
cdef void gaps_measured(gaps_t *g, int32_t need, double begin, double stop, double longest) noexcept nogil


cdef inline void gaps_none(gaps_t *g) noexcept nogil:
    g.top = g.tallest = 0
    g.stale = ~<uint64_t>0


cdef inline int32_t class_of(int32_t need) noexcept nogil:
    return fs_highest(<uint64_t>need)


cdef inline int32_t part_of(int32_t need, int32_t c) noexcept nogil:
    """Which 64th of its class a need is in, in order."""
    return (need >> (c - 6) if c > 6 else need << (6 - c)) & 63


cdef inline void gaps_one_more(gaps_t *g, int32_t need, float least) noexcept nogil:
    """Another job waits."""
    cdef int32_t c = class_of(need), part
    if least < g.wanted[c]:
        g.wanted[c] = least
    part = part_of(need, c)
    g.waiting[64 * c + part] += 1
    g.some[c] |= <uint64_t>1 << part


cdef inline void gaps_one_less(gaps_t *g, int32_t need, float least) noexcept nogil:
    """A job that was counted waits no more."""
    cdef int32_t c = class_of(need), part = part_of(need, c)
    g.waiting[64 * c + part] -= 1
    if g.waiting[64 * c + part] == 0:
        g.some[c] &= ~(<uint64_t>1 << part)
    if g.good > 0 and least <= g.wanted[c]:
        g.good -= 1


cdef inline double rounded_up(double begin, double end) noexcept nogil:
    """A length: the end of a job is a sum of doubles, and its least duration may be a float."""
    return ((end - begin) + 4e-15 * (begin + end)) * (1.0 + 3e-7) + 1e-30


cdef inline double admitted_from(const gap_t *gap, int32_t need, double least, float *shut) noexcept nogil:
    """Before that, no hole in the gap begins in which such a job fits, and they are all shorter than `shut`."""
    cdef double since = gap.begin
    cdef int32_t i
    shut[0] = 0.0
    for i in range(min(gap.n, <int32_t>REFUSED)):
        if gap.refused[i].need <= need and gap.refused[i].least <= least and gap.refused[i].until > since:
            since = gap.refused[i].until
            shut[0] = gap.refused[i].least
    return since


cdef inline void refuse(gaps_t *g, gap_t *gap, int32_t need, float least, double until) noexcept nogil:
    cdef refused_t *to = gap.refused
    cdef int32_t i = 0, n = min(gap.n, <int32_t>REFUSED), c = class_of(need)
    if need == 1 << c and until >= gap.end and least < gap.admits:
        gap.admits = least
        g.stale |= <uint64_t>1 << c
    while i < n and not (to[i].need >= need and to[i].least >= least and to[i].until <= until):
        i += 1
    if i == n:
        i = gap.n % REFUSED
        gap.n += 1
    to[i].need, to[i].least, to[i].until = need, least, until


cdef inline gap_t *gap_that_admits(gaps_t *g, int32_t need, double least, double begin, double *since,
                                   float *shut) noexcept nogil:
    """The first gap in which a job that takes at least so long may find a hole that begins at `since` or later, and
    earlier than `begin`; NULL: none.  `since` becomes the time from which on to look, `shut` as above.
    """
    cdef class_t *of = &g.of[class_of(need)]
    cdef gap_t *gap = of.gap
    cdef gap_t *end = gap + of.n
    cdef double t
    while gap != end and gap.begin < begin:
        if least <= gap.length and need <= gap.level and gap.end > since[0]:
            t = max(since[0], admitted_from(gap, need, least, shut))
            if t < begin and t < gap.end:
                since[0] = t
                return gap
        gap += 1
    return NULL
