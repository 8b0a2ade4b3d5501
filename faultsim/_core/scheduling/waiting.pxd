# Waiting jobs by number, and for each block of numbers how long its jobs of a kind take at least, so that who may do
# something is found without a look at each job.
#
# Contract
# - `least` is a lower bound of the expected duration of a job that waits, and infinite where none does.
# - Needs are in classes, one for each power of two.  `rows` has for each block of TOGETHER numbers and each class the
#   least of those who wait, or something less where the block is `loose`: somebody has left, and nobody has looked
#   there since.  A row of LANES values is that of one block, of two, or (up to 255 nodes) of four.
# - A line is what a pass goes along: the places of those who wait, in the order of the queue.  They are places of the
#   queue (state.pxd), all of which have to be looked at; or, where that is the order of numbers, these, with rows.
#
# A change costs next to nothing, and a look at a block that is loose its jobs.  To pass over a row of jobs of whom none
# is in question costs a comparison of LANES values.

from libc.float cimport FLT_MAX
from libc.stdint cimport int32_t, uint8_t

from faultsim._core.queue cimport TOGETHER
from faultsim._core.state cimport queue_t, sim_t

cdef enum:
    LANES = 32
    SHORT = 32               # so few places are sooner looked at
    STAIRS = 6

cdef struct waiting_t:
    float *least
    float *rows
    uint8_t *loose
    int32_t classes          # 8, 16 or 32
    int32_t blocks           # of a row

cdef struct line_t:
    const int32_t *job       # at a place; NULL: its number is that of the place
    const int32_t *need
    const float *least
    float *rows              # NULL: there are none
    uint8_t *loose
    int32_t classes, blocks
    int32_t begin, end       # of places where somebody waits
    int32_t room             # places that may be read

# So many nodes for so long, or fewer for longer: each stair is lower than the one before.
cdef struct stairs_t:
    int32_t n
    int32_t level[STAIRS]
    float length[STAIRS]     # or more
    double until[STAIRS]     # the same as a time

# No job of a class that takes longer is in question; -1: none at all.  As often as a row has the class.
cdef struct bound_t:
    float most[LANES]

cdef int waiting_open(waiting_t *w, void *owner, const sim_t *s) except -1
# A job waits, or no more.
cdef void wait_on(waiting_t *w, int32_t job, int32_t need, float least) noexcept nogil
cdef void wait_no_more(waiting_t *w, int32_t job) noexcept nogil
# By class, LANES in all, of a line with rows: no job takes less; inf: none waits.
cdef void least_by_class(const line_t *line, float *least) noexcept nogil
# Of the queue as it is.
cdef line_t line_of(const waiting_t *w, const sim_t *s, bint by_number) noexcept nogil
# The first place in [at, end) of a job that asks for no more than one of the stairs; `end`: none.
cdef int32_t next_short(const line_t *line, const stairs_t *stairs, int32_t at, int32_t end) noexcept nogil
# The same of a job that `bound` lets through, or of one in its block; there are rows.
cdef int32_t next_in_rows(const line_t *line, const bound_t *bound, int32_t at, int32_t end) noexcept nogil


cdef inline int32_t job_at(const line_t *line, int32_t at) noexcept nogil:
    return at if line.job == NULL else line.job[at]


cdef inline int32_t place_in(const queue_t *q, int32_t at, int32_t job) noexcept nogil:
    """The place from `at` on of a job that waits, in a queue in order of numbers."""
    cdef int32_t low = at, high = q.end, mid
    while low < high:
        mid = (low + high) >> 1
        if q.job[mid] < job:
            low = mid + 1
        else:
            high = mid
    return low


cdef inline int32_t place_of(const queue_t *q, const line_t *line, int32_t first, int32_t at) noexcept nogil:
    """The place in the queue, from `first` on, of the job at a place of the line."""
    return at if line.job != NULL else place_in(q, first, at)


cdef inline bint waits_at(const line_t *line, int32_t at) noexcept nogil:
    return line.least[at] <= FLT_MAX


cdef inline int32_t next_place(const line_t *line, int32_t at, int32_t end) noexcept nogil:
    """The first place from `at` on where somebody waits; `end`: none."""
    while at < end and not waits_at(line, at):
        at += 1
    return at


cdef inline int32_t next_group(const line_t *line, const bound_t *bound, int32_t at, int32_t end) noexcept nogil:
    """A place from `at` on before which nobody is whom `bound` lets through; the end or later: there is none."""
    return at if line.rows == NULL or end - at <= SHORT else next_in_rows(line, bound, at, end)
