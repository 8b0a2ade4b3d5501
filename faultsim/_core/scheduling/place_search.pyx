"""The search for a place of a job that starts; the contract is in place_search.pxd."""

from libc.stdint cimport int32_t
from libc.string cimport memset

from faultsim._core.absences cimport absences_of, absences_t, claimed_of_others, closed_to
from faultsim._core.avoidance cimport choose_growing, choose_now
from faultsim._core.containers.bits cimport mask_join
from faultsim._core.containers.memory cimport own_block
from faultsim._core.state cimport asks_shape, end_if_started, grown, set_window, sim_t
from faultsim._core.tables.machine cimport machine_t, permit_t, place_t


cdef int open_search(void *state, search_t *search, const sim_t *s) except -1:
    search.free_pass = search.permit_pass = 1
    return own_block(state, &search.size, <size_t>s.nodes + 1, sizeof(searched_t))


cdef int search_open(sim_t *s, int32_t job, int32_t limit, const permit_t *permit, place_t *place) noexcept nogil:
    cdef absences_t *a = absences_of(s)
    cdef permit_t narrower
    memset(&narrower, 0, sizeof(permit_t))
    if permit != NULL:
        narrower = permit[0]
        narrower.same = False
    if closed_to(s, job, s.now, end_if_started(s, job), a.joined):
        if narrower.forbidden != NULL:
            mask_join(a.joined, narrower.forbidden, a.words)
        narrower.forbidden = a.joined
        narrower.used = claimed_of_others(s, job, end_if_started(s, job))
    return choose_growing(s, job, s.now, s.machine.occ, limit, &narrower, True, place)


cdef int search_place(sim_t *s, search_t *search, int32_t job, int32_t limit, double end, permit_t *permit,
                      place_t *place) noexcept nogil:
    cdef machine_t *m = &s.machine
    cdef int32_t size = s.need[job]
    cdef bint shaped = asks_shape(s, job), restricted = permit != NULL
    cdef searched_t *known
    cdef int code
    if s.absences.state != NULL:
        return search_open(s, job, limit, permit, place)
    set_window(s, job, s.now)
    while size != 0 and size <= limit:
        known = &search.size[size]
        if shaped or not had_none(search, size, restricted, end):
            if not shaped and m.placed.lacks(m.state, size):
                known.none_free = search.free_pass
            else:
                s.work.tried += 1
                code = choose_now(s, job, m.occ, size, permit, place)
                if restricted:
                    permit.same = True       # until the caller changes it
                if code != 0:
                    return code if code < 0 else size
                if shaped:
                    return 0
                if not restricted:
                    known.none_free = search.free_pass
                else:
                    known.none_permitted, known.end = search.permit_pass, end
        size = grown(s, job, size)
    return 0
