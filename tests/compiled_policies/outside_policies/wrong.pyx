"""Policies that do what is not possible, and tables that are none."""

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim.policy cimport (
    FAULTSIM_PLACEMENT, FAULTSIM_PLACEMENT_KIND, FAULTSIM_POLICY_VERSION, FAULTSIM_SCHEDULER, FAULTSIM_SCHEDULER_KIND,
    faultsim_boxes_t, faultsim_nodes_t, faultsim_pass_t, faultsim_placement_t, faultsim_scheduler_t,
)


cdef int too_early(faultsim_pass_t *now, void *state, void *data) noexcept nogil:
    cdef int32_t place
    for place in range(now.waiting):
        now.start(now, place)            # an error is not looked at
    return 0


cdef int twice(faultsim_pass_t *now, void *state, void *data) noexcept nogil:
    return now.start(now, 0) or now.start(now, 0)


cdef int outside_(faultsim_pass_t *now, void *state, void *data) noexcept nogil:
    return now.start(now, now.waiting)


cdef int never(faultsim_pass_t *now, void *state, void *data) noexcept nogil:
    return 0


cdef int gives_up(faultsim_pass_t *now, void *state, void *data) noexcept nogil:
    return 7


cdef int itself(faultsim_pass_t *now, void *state, void *data) noexcept nogil:
    return now.backfill(now, 0, 0, 1) if now.waiting else 0


cdef int wakes_before(faultsim_pass_t *now, void *state, void *data) noexcept nogil:
    return now.wake(now, now.now)


cdef int blind(faultsim_pass_t *now, void *state, void *data) noexcept nogil:
    """Questions that have no answer."""
    if now.expected_end(now, -1) == now.expected_end(now, -1) or now.fits(now, -1):
        return 1
    return 2 if now.shadow(now, 0, NULL) == now.shadow(now, 0, NULL) else 0


cdef int64_t no_box(const faultsim_boxes_t *boxes, void *data) noexcept nogil:
    return boxes.count


cdef int64_t middle(const faultsim_boxes_t *boxes, void *data) noexcept nogil:
    return boxes.count // 2


cdef int none_taken(const faultsim_nodes_t *nodes, uint64_t *taken, void *data) noexcept nogil:
    return 0


cdef int all_taken(const faultsim_nodes_t *nodes, uint64_t *taken, void *data) noexcept nogil:
    taken[0] = ~<uint64_t>0
    return 0


cdef int no_idea(const faultsim_nodes_t *nodes, uint64_t *taken, void *data) noexcept nogil:
    return 5


cdef faultsim_scheduler_t[12] schedulers
cdef faultsim_placement_t[5] placements

schedulers[0].name, schedulers[0].schedule = "too_early", too_early
schedulers[1].name, schedulers[1].schedule = "twice", twice
schedulers[2].name, schedulers[2].schedule = "outside", outside_
schedulers[3].name, schedulers[3].schedule = "never", never
schedulers[4].name, schedulers[4].schedule = "gives_up", gives_up
schedulers[5].name, schedulers[5].schedule = "itself", itself
schedulers[6].name, schedulers[6].schedule = "wakes_before", wakes_before
schedulers[7].name, schedulers[7].schedule = "blind", blind
schedulers[8].name, schedulers[8].schedule = "newer", never
schedulers[9].name, schedulers[9].schedule = "of_another_kind", never
schedulers[10].name, schedulers[10].schedule = "empty", NULL
schedulers[11].name, schedulers[11].schedule, schedulers[11].job_bytes = "huge", never, <size_t>-1
placements[0].name, placements[0].choose = "no_box", no_box
placements[1].name, placements[1].take = "none_taken", none_taken
placements[2].name, placements[2].take = "all_taken", all_taken
placements[3].name, placements[3].take = "no_idea", no_idea
placements[4].name, placements[4].choose = "middle", middle
for i in range(12):
    schedulers[i].kind, schedulers[i].version = FAULTSIM_SCHEDULER_KIND, FAULTSIM_POLICY_VERSION
    globals()[schedulers[i].name.decode()] = PyCapsule_New(&schedulers[i], FAULTSIM_SCHEDULER, NULL)
for i in range(5):
    placements[i].kind, placements[i].version = FAULTSIM_PLACEMENT_KIND, FAULTSIM_POLICY_VERSION
    globals()[placements[i].name.decode()] = PyCapsule_New(&placements[i], FAULTSIM_PLACEMENT, NULL)
schedulers[8].version += 1
schedulers[9].kind = FAULTSIM_PLACEMENT_KIND
unnamed = PyCapsule_New(&schedulers[3], NULL, NULL)
misnamed = PyCapsule_New(&schedulers[3], "something else", NULL)
