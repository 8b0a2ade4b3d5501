# The search for a place of a job that starts, with a memory of the sizes that had none.
#
# While jobs only start, the machine only fills: a size that had no free place has none (`free_pass`).  As long as the
# permit also only gets stricter, a size of which no place was permitted has none that is (`permit_pass`); not, if the
# permit holds for jobs that end at a certain time or later, for jobs that end before it.  Shapes are not remembered.

from libc.stdint cimport int32_t

from faultsim._core.state cimport sim_t
from faultsim._core.tables.machine cimport permit_t, place_t

cdef struct searched_t:      # of a size
    int32_t none_free        # there was no free place in this pass
    int32_t none_permitted   # there was none permitted, under this permit, to a job that ends at `end` or later
    double end

cdef struct search_t:
    searched_t *size
    int32_t free_pass        # number of the pass since which jobs have only started
    int32_t permit_pass      # number of the permit


# Whether a size had no place for a job that ends at `end`; `restricted`: where only some places are permitted.
cdef inline bint had_none(const search_t *search, int32_t size, bint restricted, double end) noexcept nogil:
    cdef const searched_t *known = &search.size[size]
    if known.none_free == search.free_pass:
        return True
    return restricted and known.none_permitted == search.permit_pass and known.end <= end


cdef int open_search(void *state, search_t *search, const sim_t *s) except -1
# A place of the smallest size, from the job's own up to `limit`, of which one is permitted (NULL: every free one) to a
# job that ends at `end`; its size; 0: there is none; < 0: a code.
cdef int search_place(sim_t *s, search_t *search, int32_t job, int32_t limit, double end, permit_t *permit,
                      place_t *place) noexcept nogil


# The same where nodes may be closed to the job (absences.pxd), without a memory.
cdef int search_open(sim_t *s, int32_t job, int32_t limit, const permit_t *permit, place_t *place) noexcept nogil


cdef inline void forget_permit(search_t *search) noexcept nogil:
    """Another permit."""
    search.permit_pass += 1


cdef inline void forget_sizes(search_t *search) noexcept nogil:
    """Jobs may have left their places, and the permit may be another one."""
    search.free_pass += 1
    search.permit_pass += 1
