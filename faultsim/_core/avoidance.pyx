"""Nodes that starting jobs take last; the contract is in avoidance.pxd."""

from libc.string cimport memset

from faultsim._core.cluster.named cimport count_free, free_nodes, named_of, named_t, open_word, update_word
from faultsim._core.containers.bits cimport mask_count_without
from faultsim._core.state cimport grown, set_window


cdef int32_t free_of(const sim_t *s, const uint64_t *mask) noexcept nogil:
    if not s.machine.placed:
        return count_free(named_of(&s.machine), mask)
    return mask_count_without(mask, s.machine.occ, s.machine.words)


cdef int choose_now(sim_t *s, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit,
                    place_t *out) noexcept nogil:
    """A place without a node to avoid if there is one, else any."""
    cdef permit_t stricter
    cdef int32_t i
    cdef int code
    if s.avoid != NULL and free_of(s, s.avoid) > 0:
        memset(&stricter, 0, sizeof(stricter))
        if permit != NULL:
            stricter = permit[0]
            stricter.same = False
        for i in range(s.machine.words):
            s.hidden[i] = s.avoid[i]
            if stricter.forbidden != NULL:
                s.hidden[i] |= stricter.forbidden[i]
        stricter.forbidden = s.hidden
        code = s.placement.choose(s.placement.state, s, job, occ, size, &stricter, out)
        if code != 0:
            return code
    return s.placement.choose(s.placement.state, s, job, occ, size, permit, out)


cdef int choose_growing(sim_t *s, int32_t job, double t, const uint64_t *occ, int32_t limit, permit_t *permit,
                        bint starts, place_t *out) noexcept nogil:
    cdef int32_t size = s.need[job]
    cdef int code
    set_window(s, job, t)
    while size != 0 and size <= limit:
        if starts:
            code = choose_now(s, job, occ, size, permit, out)
        else:
            code = s.placement.choose(s.placement.state, s, job, occ, size, permit, out)
        if code != 0:
            return size if code > 0 else code
        size = grown(s, job, size)
    return 0


cdef int take_sound_first(sim_t *s, int32_t job, int32_t count) noexcept nogil:
    """What the rule takes of the nodes that are not to be avoided; then, if they are too few, of the others."""
    cdef named_t *m = named_of(&s.machine)
    cdef int32_t avoidable = free_of(s, s.avoid), sound, i
    cdef int code
    if avoidable == 0:
        return s.placement.allot(s.placement.state, s, job, count)
    sound = s.free - avoidable
    if sound > count:
        sound = count
    if sound > 0:
        for i in range(m.words):
            s.hidden[i] = s.avoid[i] & free_nodes(m, i) if s.avoid[i] else 0
            if s.hidden[i]:
                update_word(m, i)
                m.occ[i] |= s.hidden[i]
        code = s.placement.allot(s.placement.state, s, job, sound)
        for i in range(m.words):
            if s.hidden[i]:
                m.occ[i] &= ~s.hidden[i]
                open_word(m, i)
        if code < 0 or sound == count:
            return code
    return s.placement.allot(s.placement.state, s, job, count - sound)
