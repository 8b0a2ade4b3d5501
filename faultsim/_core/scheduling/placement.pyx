"""Placement rules of a torus (MODEL 7) as the engine calls them."""

from cpython.ref cimport PyObject
from libc.stdlib cimport free as c_free

from faultsim._core.torus.balance cimport settle_balancing, settle_tie_breaking
from faultsim._core.torus.choose cimport choose_first_fit, choose_max_free, list_permitted
from faultsim._core.torus.finder_bitmap cimport largest_free
from faultsim._core.faults.predictions cimport failing_nodes
from faultsim._core.state cimport NO_MEMORY, PYTHON_ERROR


cdef int place_first_fit(
        sim_t *s, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit, box_t *out) noexcept nogil:
    cdef int found = choose_first_fit(&s.finder, occ, size, s.policy.box_order, permit, out)
    return NO_MEMORY if s.finder.out_of_memory else found


cdef int place_max_free(
        sim_t *s, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit, box_t *out) noexcept nogil:
    cdef int found = choose_max_free(&s.finder, occ, size, s.policy.box_order, permit, out)
    return NO_MEMORY if s.finder.out_of_memory else found


cdef int place_balancing(
        sim_t *s, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit, box_t *out) noexcept nogil:
    cdef int order = s.policy.box_order
    cdef int found = choose_max_free(&s.finder, occ, size, order, permit, out)
    if found:
        settle_balancing(
            &s.finder, occ, size, order, permit, failing_nodes(s), s.faults.p, s.policy.rule_max, out)
    return NO_MEMORY if s.finder.out_of_memory else found


cdef int place_tie_breaking(
        sim_t *s, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit, box_t *out) noexcept nogil:
    cdef int order = s.policy.box_order
    cdef int found = choose_max_free(&s.finder, occ, size, order, permit, out)
    if found:
        settle_tie_breaking(&s.finder, occ, size, order, permit, failing_nodes(s), out)
    return NO_MEMORY if s.finder.out_of_memory else found


cdef int place_python(
        sim_t *s, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit, box_t *out) noexcept nogil:
    cdef box_t *list_ = NULL
    cdef long capacity = 0, count, index
    cdef int code = 1
    count = list_permitted(&s.finder, occ, size, s.policy.box_order, permit, &list_, &capacity)
    if count <= 0:
        c_free(list_)
        return NO_MEMORY if count < 0 else 0
    with gil:
        try:
            index = (<object><PyObject *>s.policy.owner).chosen_by_python(
                <object><PyObject *>s.policy.python_place, job, s.now,
                <bytes>(<char *>list_)[:count * <long>sizeof(box_t)], <bytes>(<char *>occ)[:s.torus.words * 8])
            out[0] = list_[index]
        except BaseException as error:
            (<object><PyObject *>s.policy.owner).keep_error(error)
            code = PYTHON_ERROR
    c_free(list_)
    return code


cdef int32_t current_mfp(sim_t *s) noexcept nogil:
    if s.mfp < 0:
        s.mfp = largest_free(&s.finder, s.occ, NULL)
    return s.mfp
