"""SlurmTorus (model.md#slurm-choice): which listed box a job gets; the rule is in torus/listed.pxd."""

from libc.stdint cimport int32_t, uint64_t

import numpy as np

from faultsim._core.containers.memory cimport open_state
from faultsim._core.faults.predictions cimport failing_nodes
from faultsim._core.inputs cimport input_column
from faultsim._core.state cimport sim_t
from faultsim._core.status cimport NO_MEMORY
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport nodes_of, permit_t, place_t
from faultsim._core.torus.listed cimport (
    listed_best, listed_set_free, listed_t, listed_torus_t, permits_t, splitmix64,
)
from faultsim._core.torus.listed_failing cimport listed_best_balanced, listed_best_safe
from faultsim._core.torus.listed_machine cimport (
    add_segment, begin_segments, count_free_boxes, leaves_shape, listed_machine_t, listed_of, permitted_t, segment_of,
)
from faultsim._core.torus.occupancy cimport box_t, occ_drop

# The order of score_t.
SCORES = {"slurm": 0, "first": 1, "next-size": 2, "mfp": 3, "random": 4}
# Scores that look at predictions, of listed_failing.pxd.
cdef enum:
    TIE_BREAKING = 5
    BALANCING = 6
SCORES |= {"tie-breaking": TIE_BREAKING, "balancing": BALANCING}

cdef struct listed_policy_t:
    int score
    uint64_t salt


cdef bint best_listed(const listed_policy_t *p, sim_t *s, int32_t job, int32_t size, const uint64_t *failing,
                      permits_t permits, void *context, box_t *out) noexcept nogil:
    """The box of least score of what is available on the torus."""
    cdef listed_t *r = &listed_of(s.machine.state).rule
    if p.score == TIE_BREAKING:
        return listed_best_safe(r, 0, size, failing, permits, context, out)
    if p.score == BALANCING:
        return listed_best_balanced(r, 0, size, failing, s.predictions.p, permits, context, out)
    return listed_best(r, 0, size, p.score, splitmix64((p.salt << 32) + <uint64_t>job), permits, context, out)


cdef inline const uint64_t *failing_for(const listed_policy_t *p, sim_t *s) noexcept nogil:
    return failing_nodes(s) if p.score >= TIE_BREAKING else NULL


cdef int choose_segments(const listed_policy_t *p, sim_t *s, int32_t job, const uint64_t *occ, int32_t size,
                         int32_t each, const permit_t *permit, place_t *out) noexcept nogil:
    """One box after another (model.md#unlisted); those of a permit with `later` are refused by name."""
    cdef listed_machine_t *m = listed_of(s.machine.state)
    cdef listed_torus_t *t = m.rule.torus
    cdef box_t box
    cdef int32_t count = size // each, _i
    cdef const uint64_t *forbidden = NULL
    cdef const uint64_t *failing
    if permit != NULL:
        forbidden = permit.forbidden
    if count_free_boxes(m, occ, forbidden, each) < count:
        return 0
    failing = failing_for(p, s)
    begin_segments(m, s.now, out)
    for _i in range(count):
        if not best_listed(p, s, job, each, failing, NULL, NULL, &box):
            return NO_MEMORY
        if add_segment(m, out, &box) < 0:
            return NO_MEMORY
        occ_drop(&m.boxes.torus, t.available, &box)
        occ_drop(&m.boxes.torus, t.open, &box)
    return 1


cdef int choose(void *state, void *sim, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit,
                place_t *out) noexcept nogil:
    cdef const listed_policy_t *p = <const listed_policy_t *>state
    cdef listed_machine_t *m = listed_of((<sim_t *>sim).machine.state)
    cdef permitted_t context
    cdef permits_t permits = NULL
    cdef bint found
    cdef int32_t each = nodes_of(size)
    if (<sim_t *>sim).rank != NULL:
        each = segment_of(each, (<sim_t *>sim).rank[job])
    if each < nodes_of(size):
        return choose_segments(p, <sim_t *>sim, job, occ, nodes_of(size), each, permit, out)
    context.machine, context.permit = m, permit
    if permit != NULL and permit.later != NULL and permit.need >= 1:
        permits = leaves_shape
    if permit != NULL:
        listed_set_free(m.rule.torus, occ, permit.forbidden)
    else:
        listed_set_free(m.rule.torus, occ, NULL)
    found = best_listed(p, <sim_t *>sim, job, nodes_of(size), failing_for(p, <sim_t *>sim), permits, &context,
                        <box_t *>out)
    return NO_MEMORY if m.rule.memory.failed else found


cdef int open_slurm_torus(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef listed_policy_t *p = <listed_policy_t *>open_state(&s.placement, sizeof(listed_policy_t))
    cdef const int32_t[::1] rank
    if columns["world"].shape_rank is None and not options["larger"]:
        rank = input_column(columns, np.ones(s.n, np.int32), "rank", np.int32, s.n)
        s.rank = &rank[0]        # so that no job gets a larger size
    p.score, p.salt = SCORES[options["score"]], options["salt"]
    s.placement.choose, s.placement.stable = choose, True
    return 0


SLURM_TORUS = factory(open_slurm_torus)
