"""SlurmTorus (model.md#slurm-choice): which listed box a job gets; the rule is in torus/listed.pxd."""

from libc.stdint cimport int32_t, int64_t, uint64_t

import numpy as np

from faultsim._core.containers.bits cimport mask_count
from faultsim._core.containers.memory cimport open_state
from faultsim._core.faults.predictions cimport failing_nodes
from faultsim._core.inputs cimport input_column
from faultsim._core.state cimport sim_t
from faultsim._core.status cimport NO_MEMORY
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport nodes_of, permit_t, place_t
from faultsim._core.torus.listed cimport listed_best, listed_drop, permits_t, splitmix64
from faultsim._core.torus.listed_failing cimport listed_best_balanced, listed_best_safe
from faultsim._core.torus.listed_machine cimport (
    add_box, begin_segments, count_free_boxes, free_tori, leaves_shape, listed_machine_t, listed_of, part_of,
    permitted_t, segment_of,
)
from faultsim._core.torus.occupancy cimport box_t

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


cdef bint best_on(const listed_policy_t *p, sim_t *s, int32_t job, int torus, int32_t size, const uint64_t *failing,
                  permits_t permits, void *context, box_t *out) noexcept nogil:
    """The box of least score of what is available on a torus."""
    cdef listed_machine_t *m = listed_of(s.machine.state)
    cdef uint64_t key
    if p.score == TIE_BREAKING:
        return listed_best_safe(&m.rule, torus, size, part_of(m, failing, torus, 2), permits, context, out)
    if p.score == BALANCING:
        return listed_best_balanced(&m.rule, torus, size, part_of(m, failing, torus, 2), s.predictions.p, permits,
                                    context, out)
    # The hash of a box is that of its first node on the joined torus.
    key = splitmix64((p.salt << 32) + <uint64_t>job) + <uint64_t>torus * <uint64_t>m.rule.torus[torus].cells
    return listed_best(&m.rule, torus, size, p.score, key, permits, context, out)


cdef int best_of_tori(const listed_policy_t *p, sim_t *s, int32_t job, int32_t size, const uint64_t *failing,
                      permits_t permits, void *context, box_t *out) noexcept nogil:
    """The torus of the least idle count that has a box, the first of equals, and its box; -1: none has."""
    cdef listed_machine_t *m = listed_of(s.machine.state)
    cdef int64_t done_idle = -1
    cdef int i, _round, at, done = -1
    if m.rule.n_tori == 1:
        return 0 if best_on(p, s, job, 0, size, failing, permits, context, out) else -1
    for i in range(m.rule.n_tori):
        m.idle[i] = mask_count(m.rule.torus[i].available, m.rule.torus[i].words)
    # Invariant: tori of a lower idle count than that of `done`, and the first ones of the same, have no box.
    for _round in range(m.rule.n_tori):
        at = -1
        for i in range(m.rule.n_tori):
            if m.idle[i] < done_idle or (m.idle[i] == done_idle and i <= done):
                continue
            if at < 0 or m.idle[i] < m.idle[at]:
                at = i
        if best_on(p, s, job, at, size, failing, permits, context, out):
            return at
        done, done_idle = at, m.idle[at]
    return -1


cdef inline const uint64_t *failing_for(const listed_policy_t *p, sim_t *s) noexcept nogil:
    return failing_nodes(s) if p.score >= TIE_BREAKING else NULL


cdef int choose_boxes(const listed_policy_t *p, sim_t *s, int32_t job, const uint64_t *occ, int32_t size, int32_t each,
                      const permit_t *permit, place_t *out) noexcept nogil:
    """One box after another (model.md#unlisted); those of a permit with `later` are refused by name."""
    cdef listed_machine_t *m = listed_of(s.machine.state)
    cdef box_t box
    cdef int32_t count = size // each, _i
    cdef const uint64_t *forbidden = NULL
    cdef const uint64_t *failing
    cdef int torus
    if permit != NULL:
        forbidden = permit.forbidden
    if count_free_boxes(m, occ, forbidden, each) < count:
        return 0
    failing = failing_for(p, s)
    begin_segments(m, s.now, out)
    for _i in range(count):
        torus = best_of_tori(p, s, job, each, failing, NULL, NULL, &box)
        if torus < 0 or add_box(m, out, torus, &box) < 0:
            return NO_MEMORY
        listed_drop(&m.rule.torus[torus], &box)
    return 1


cdef int choose(void *state, void *sim, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit,
                place_t *out) noexcept nogil:
    cdef const listed_policy_t *p = <const listed_policy_t *>state
    cdef listed_machine_t *m = listed_of((<sim_t *>sim).machine.state)
    cdef permitted_t context
    cdef permits_t permits = NULL
    cdef const uint64_t *forbidden = NULL
    cdef bint found
    cdef int32_t each = nodes_of(size)
    if (<sim_t *>sim).rank != NULL:
        each = segment_of(each, (<sim_t *>sim).rank[job])
    if each < nodes_of(size) or m.rule.n_tori > 1:
        return choose_boxes(p, <sim_t *>sim, job, occ, nodes_of(size), each, permit, out)
    context.machine, context.permit = m, permit
    if permit != NULL and permit.later != NULL and permit.need >= 1:
        permits = leaves_shape
    if permit != NULL:
        forbidden = permit.forbidden
    free_tori(m, occ, forbidden)
    found = best_on(p, <sim_t *>sim, job, 0, nodes_of(size), failing_for(p, <sim_t *>sim), permits, &context,
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
