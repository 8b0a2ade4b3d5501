"""Placement rules of a torus (model.md#torus-placement) and of a pod (pod/choosing.pxd), as the engine calls them
(placement.pxd).
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport free as c_free

from faultsim._core.containers.memory cimport close_state, copy_state, open_state
from faultsim._core.faults.predictions cimport failing_nodes
from faultsim._core.pod.choosing cimport pod_choose
from faultsim._core.pod.slices cimport pod_t
from faultsim._core.state cimport sim_t
from faultsim._core.status cimport NO_MEMORY, PYTHON_ERROR
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport RANK_AT, permit_t, place_t
from faultsim._core.torus.balance cimport settle_balancing, settle_tie_breaking
from faultsim._core.torus.choose cimport choose_first_fit, choose_max_free, list_permitted
from faultsim._core.torus.finder cimport finder_t
from faultsim._core.torus.machine cimport torus_machine_t
from faultsim._core.torus.occupancy cimport box_t

# -------------------------------------------------------------------------------------------------------- of a torus

BOX_ORDERS = {"extents-descending": 0, "extents-ascending": 1, "bases": 2}

cdef struct torus_rule_t:
    finder_t *finder         # the machine's
    int box_order
    bint max_rule            # Balancing: rule="max"
    box_t *list_             # Python: candidates
    long capacity
    PyObject *object         # Python: the user's rule; the engine keeps it


cdef int choose_first(void *state, void *sim, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit,
                      place_t *out) noexcept nogil:
    cdef torus_rule_t *p = <torus_rule_t *>state
    cdef int found = choose_first_fit(p.finder, occ, size, p.box_order, permit, <box_t *>out)
    return NO_MEMORY if p.finder.memory.failed else found


cdef int choose_largest_left(void *state, void *sim, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit,
                             place_t *out) noexcept nogil:
    cdef torus_rule_t *p = <torus_rule_t *>state
    cdef int found = choose_max_free(p.finder, occ, size, p.box_order, permit, <box_t *>out)
    return NO_MEMORY if p.finder.memory.failed else found


cdef int choose_balanced(void *state, void *sim, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit,
                         place_t *out) noexcept nogil:
    cdef torus_rule_t *p = <torus_rule_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef int found = choose_max_free(p.finder, occ, size, p.box_order, permit, <box_t *>out)
    if found:
        settle_balancing(p.finder, occ, size, p.box_order, permit, failing_nodes(s), s.predictions.p, p.max_rule,
                         <box_t *>out)
    return NO_MEMORY if p.finder.memory.failed else found


cdef int choose_breaking_ties(void *state, void *sim, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit,
                              place_t *out) noexcept nogil:
    cdef torus_rule_t *p = <torus_rule_t *>state
    cdef int found = choose_max_free(p.finder, occ, size, p.box_order, permit, <box_t *>out)
    if found:
        settle_tie_breaking(p.finder, occ, size, p.box_order, permit, failing_nodes(<sim_t *>sim), <box_t *>out)
    return NO_MEMORY if p.finder.memory.failed else found


cdef int choose_in_python(void *state, void *sim, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit,
                          place_t *out) noexcept nogil:
    cdef torus_rule_t *p = <torus_rule_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef long count = list_permitted(p.finder, occ, size, p.box_order, permit, &p.list_, &p.capacity), index
    if count <= 0:
        return NO_MEMORY if count < 0 else 0
    with gil:
        try:
            index = (<object><PyObject *>s.owner).chosen_by_python(
                <object>p.object, job, s.now, <bytes>(<char *>p.list_)[:count * <long>sizeof(box_t)],
                <bytes>(<char *>occ)[:s.machine.words * 8], p.finder.torus.field)
            (<box_t *>out)[0] = p.list_[index]
        except BaseException as error:
            (<object><PyObject *>s.owner).keep_error(error)
            return PYTHON_ERROR
    return 1


cdef void close(void *state) noexcept nogil:
    if state != NULL:
        c_free((<torus_rule_t *>state).list_)
        close_state(state)


cdef void *copy(const void *state, const void *sim) noexcept nogil:
    cdef torus_rule_t *p = <torus_rule_t *>copy_state(state, sim)
    if p != NULL:
        p.finder = &(<torus_machine_t *>(<const sim_t *>sim).machine.state).finder
        p.list_, p.capacity = NULL, 0
    return p


cdef torus_rule_t *open_torus_rule(void *sim, dict options) except NULL:
    cdef sim_t *s = <sim_t *>sim
    cdef torus_rule_t *p = <torus_rule_t *>open_state(&s.placement, sizeof(torus_rule_t))
    s.placement.copy, s.placement.close, s.placement.stable = copy, close, True
    p.finder = &(<torus_machine_t *>s.machine.state).finder
    p.box_order = BOX_ORDERS[options["box_order"]]
    return p


cdef int open_first_fit_torus(void *sim, dict options, dict columns) except -1:
    open_torus_rule(sim, options)
    (<sim_t *>sim).placement.choose = choose_first
    return 0


cdef int open_max_free(void *sim, dict options, dict columns) except -1:
    open_torus_rule(sim, options)
    (<sim_t *>sim).placement.choose = choose_largest_left
    return 0


cdef int open_balancing(void *sim, dict options, dict columns) except -1:
    open_torus_rule(sim, options).max_rule = options["rule"] == "max"
    (<sim_t *>sim).placement.choose = choose_balanced
    return 0


cdef int open_tie_breaking(void *sim, dict options, dict columns) except -1:
    open_torus_rule(sim, options)
    (<sim_t *>sim).placement.choose = choose_breaking_ties
    return 0


cdef int open_python_placed_rule(void *sim, dict options, dict columns) except -1:
    open_torus_rule(sim, options).object = <PyObject *>options["object"]
    (<sim_t *>sim).placement.choose = choose_in_python
    (<sim_t *>sim).placement.stable = False
    return 0


# ---------------------------------------------------------------------------------------------------------- of a pod

cdef int choose_first_slice(void *state, void *sim, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit,
                            place_t *out) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    if s.rank != NULL:
        size |= s.rank[job] << RANK_AT       # a job with a shape has exactly this size
    return pod_choose(<pod_t *>s.machine.state, occ, size, permit, out)


cdef int open_first_slice(void *sim, dict options, dict columns) except -1:
    (<sim_t *>sim).placement.choose, (<sim_t *>sim).placement.stable = choose_first_slice, True
    return 0


FIRST_FIT = factory(open_first_fit_torus)
MAX_FREE_PARTITION = factory(open_max_free)
BALANCING = factory(open_balancing)
TIE_BREAKING = factory(open_tie_breaking)
PYTHON = factory(open_python_placed_rule)
FIRST_SLICE = factory(open_first_slice)
