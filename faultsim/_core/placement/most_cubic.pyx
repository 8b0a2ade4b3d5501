"""MostCubic (model.md#most-cubic): the box with the least surface."""

from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.containers.memory cimport open_state
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport permit_t, place_t
from faultsim._core.state cimport sim_t
from faultsim._core.status cimport NO_MEMORY
from faultsim._core.torus.choose cimport choose_candidates, choose_keep, choose_none, choose_open, choose_shape
from faultsim._core.torus.finder cimport finder_t
from faultsim._core.torus.finder_bitmap cimport map_pick
from faultsim._core.torus.machine cimport torus_machine_t
from faultsim._core.torus.occupancy cimport BASES, box_t, shape_t, torus_t

from faultsim._core.placement.placed_rules import BOX_ORDERS

cdef struct cubic_rule_t:
    int box_order


cdef inline int64_t half_surface(const shape_t *s) noexcept nogil:
    return <int64_t>s.a * s.b + <int64_t>s.b * s.c + <int64_t>s.c * s.a


cdef int64_t next_surface(const torus_t *t, int size, int64_t above) noexcept nogil:
    """The least half surface above `above` that a shape of the size has; 0: none."""
    cdef int64_t surface, least = 0
    cdef int k
    for k in range(t.first_shape[size], t.first_shape[size + 1]):
        surface = half_surface(&t.shapes[k])
        if surface > above and (least == 0 or surface < least):
            least = surface
    return least


cdef bint choose_most_cubic(finder_t *f, const uint64_t *occ, int size, int order, permit_t *permit,
                            box_t *out) noexcept nogil:
    cdef const torus_t *t = f.torus
    cdef bint guarded, found = False
    cdef int k, which = choose_open(f, occ, size, permit, &guarded)
    cdef int64_t surface
    cdef const shape_t *s
    cdef box_t base
    if which < 0:
        return False
    surface = next_surface(t, size, 0)
    while surface and not found:
        for k in range(t.first_shape[size + 1] - t.first_shape[size]):
            s = choose_shape(t, size, order, k)
            if half_surface(s) != surface or not choose_candidates(f, which, guarded, s, f.map):
                continue
            map_pick(f, f.map, NULL, &base)
            choose_keep(s, &base, not found, out)
            found = True
            if order != BASES:
                break
        surface = next_surface(t, size, surface)
    if not found:
        choose_none(f, which, guarded, size)
    return found


cdef int choose(void *state, void *sim, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit,
                place_t *out) noexcept nogil:
    cdef finder_t *f = &(<torus_machine_t *>(<sim_t *>sim).machine.state).finder
    cdef bint found = choose_most_cubic(f, occ, size, (<cubic_rule_t *>state).box_order, permit, <box_t *>out)
    return NO_MEMORY if f.memory.failed else found


cdef int open_most_cubic(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef cubic_rule_t *p = <cubic_rule_t *>open_state(&s.placement, sizeof(cubic_rule_t))
    p.box_order = BOX_ORDERS[options["box_order"]]
    s.placement.choose, s.placement.stable = choose, True
    return 0


MOST_CUBIC = factory(open_most_cubic)
