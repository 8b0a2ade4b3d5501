"""Placement rules compiled elsewhere: what they see, and how their choice is checked (faultsim/policy.h)."""

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint64_t, uintptr_t
from libc.stdlib cimport free as c_free
from libc.string cimport memcpy, memset

from faultsim._core.cluster.named cimport free_nodes, named_of, named_t, take_word
from faultsim._core.containers.bits cimport fs_popcount, mask_count
from faultsim._core.containers.memory cimport close_state, copy_state, open_state, own_block
from faultsim._core.faults.outages cimport counts_open
from faultsim._core.faults.predictions cimport failing_nodes
from faultsim._core.state cimport log_row, sim_t
from faultsim._core.status cimport NO_MEMORY, OK, PYTHON_ERROR
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport permit_t, place_t
from faultsim._core.tables.outside cimport (
    FAULTSIM_POLICY_VERSION, faultsim_boxes_t, faultsim_nodes_t, faultsim_placement_t,
)
from faultsim._core.torus.choose cimport largest_free, list_permitted
from faultsim._core.torus.machine cimport torus_machine_t
from faultsim._core.torus.occupancy cimport box_t, occ_fill, occ_node

from faultsim._core.placement.placed_rules import BOX_ORDERS

# What is no choice: `CompiledPlacement.refused` has the words.
cdef enum rule_fault:
    NO_BOX = 0
    NOT_AS_MANY = 1
    NOT_FREE = 2
    RULE_GAVE_UP = 3

cdef struct compiled_rule_t:
    faultsim_boxes_t boxes   # what it sees on a torus
    faultsim_nodes_t nodes   # and on a cluster
    int64_t (*choose)(const faultsim_boxes_t *, void *data) noexcept nogil
    int (*take)(const faultsim_nodes_t *, uint64_t *taken, void *data) noexcept nogil
    void *data               # as these: of the user's object, which the engine keeps
    PyObject *refused        # makes the exception for a choice that is none
    sim_t *s                 # of this question
    int box_order
    box_t *list_             # [torus] the candidates
    long capacity
    const uint64_t *occ      # [torus] of this question
    uint64_t *mask           # [torus] scratch; [cluster] the free nodes
    uint64_t *taken          # [cluster] its answer


cdef int refuse_choice(compiled_rule_t *p, rule_fault what, int32_t row, int64_t given, int64_t most) noexcept nogil:
    with gil:
        try:
            error = (<object>p.refused)(<int>what, row, p.s.now, given, most)
        except BaseException as other:
            error = other
        (<object><PyObject *>p.s.owner).keep_error(error)
    return PYTHON_ERROR


# ---------------------------------------------------------------------------------------------- boxes of a torus

cdef inline torus_machine_t *torus_of(const compiled_rule_t *p) noexcept nogil:
    return <torus_machine_t *>p.s.machine.state


cdef int busy(const faultsim_boxes_t *boxes, int32_t x, int32_t y, int32_t z) noexcept nogil:
    cdef const compiled_rule_t *p = <const compiled_rule_t *>boxes.engine
    if not (0 <= x < boxes.shape[0] and 0 <= y < boxes.shape[1] and 0 <= z < boxes.shape[2]):
        return 1
    return occ_node(&torus_of(p).torus, p.occ, (x * boxes.shape[1] + y) * boxes.shape[2] + z)


cdef int32_t left(const faultsim_boxes_t *boxes, int64_t k) noexcept nogil:
    cdef compiled_rule_t *p = <compiled_rule_t *>boxes.engine
    cdef torus_machine_t *m = torus_of(p)
    if not 0 <= k < boxes.count:
        return 0
    memcpy(p.mask, p.occ, <size_t>p.s.machine.words * sizeof(uint64_t))
    occ_fill(&m.torus, p.mask, &p.list_[k])
    return largest_free(&m.finder, p.mask, NULL)


cdef int32_t failing(const faultsim_boxes_t *boxes, int64_t k) noexcept nogil:
    cdef compiled_rule_t *p = <compiled_rule_t *>boxes.engine
    cdef const uint64_t *nodes
    cdef int32_t i
    if not 0 <= k < boxes.count:
        return 0
    nodes = failing_nodes(p.s)
    if nodes == NULL:
        return 0
    memset(p.mask, 0, <size_t>p.s.machine.words * sizeof(uint64_t))
    occ_fill(&torus_of(p).torus, p.mask, &p.list_[k])
    for i in range(p.s.machine.words):
        p.mask[i] &= nodes[i]
    return mask_count(p.mask, p.s.machine.words)


cdef int choose(void *state, void *sim, int32_t job, const uint64_t *occ, int32_t size, permit_t *permit,
                place_t *out) noexcept nogil:
    cdef compiled_rule_t *p = <compiled_rule_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef torus_machine_t *m = <torus_machine_t *>s.machine.state
    cdef long count = list_permitted(&m.finder, occ, size, p.box_order, permit, &p.list_, &p.capacity)
    cdef int64_t index
    if count <= 0:
        return NO_MEMORY if count < 0 else 0
    p.s, p.occ = s, occ
    p.boxes.engine = p           # the state may be a copy of another simulation's
    p.boxes.job, p.boxes.size = log_row(s, job), s.size[job]
    p.boxes.now, p.boxes.submit, p.boxes.estimate, p.boxes.p = s.now, s.submit[job], s.estimate[job], s.predictions.p
    p.boxes.count, p.boxes.box = count, <const int32_t *>p.list_
    index = p.choose(&p.boxes, p.data)
    if m.finder.memory.failed:
        return NO_MEMORY
    if not 0 <= index < count:
        return refuse_choice(p, NO_BOX, p.boxes.job, index, count)
    (<box_t *>out)[0] = p.list_[index]
    return 1


# ---------------------------------------------------------------------------------------------- nodes of a cluster

cdef const uint64_t *failing_in(const faultsim_nodes_t *nodes) noexcept nogil:
    return failing_nodes((<const compiled_rule_t *>nodes.engine).s)


cdef int allot(void *state, void *sim, int32_t job, int32_t count) noexcept nogil:
    cdef compiled_rule_t *p = <compiled_rule_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef named_t *m = named_of(&s.machine)
    cdef int32_t i, found = 0
    cdef bint wrong = False
    cdef int code
    for i in range(m.words):
        p.mask[i] = free_nodes(m, i)
    memset(p.taken, 0, <size_t>m.words * sizeof(uint64_t))
    p.s = s
    p.nodes.engine = p           # as above
    p.nodes.job, p.nodes.count = log_row(s, job), count
    p.nodes.now, p.nodes.submit, p.nodes.estimate, p.nodes.p = s.now, s.submit[job], s.estimate[job], s.predictions.p
    p.nodes.failures = s.trace.count
    code = p.take(&p.nodes, p.taken, p.data)
    if code != 0:
        return refuse_choice(p, RULE_GAVE_UP, p.nodes.job, code, count)
    for i in range(m.words):
        wrong |= (p.taken[i] & ~p.mask[i]) != 0
        found += fs_popcount(p.taken[i])
    if wrong or found != count:
        return refuse_choice(p, NOT_FREE if wrong else NOT_AS_MANY, p.nodes.job, found, count)
    for i in range(m.words):
        if p.taken[i] and take_word(m, job, i, p.taken[i]) < 0:
            return NO_MEMORY
    return OK


# ---------------------------------------------------------------------------------------------- how it is opened

cdef void close(void *state) noexcept nogil:
    if state != NULL:
        c_free((<compiled_rule_t *>state).list_)
        close_state(state)


cdef void *copy(const void *state, const void *sim) noexcept nogil:
    cdef compiled_rule_t *p = <compiled_rule_t *>copy_state(state, sim)
    if p != NULL:
        p.list_, p.capacity = NULL, 0
        p.nodes.free = p.mask
    return p


cdef compiled_rule_t *open_compiled_rule(sim_t *s, dict options, dict columns) except NULL:
    cdef compiled_rule_t *p = <compiled_rule_t *>open_state(&s.placement, sizeof(compiled_rule_t))
    cdef faultsim_placement_t *table
    placement = options["object"]
    refused = placement.refused
    columns["kept"].append((placement, refused))
    table = <faultsim_placement_t *><uintptr_t>placement.address
    p.choose, p.take, p.data = table.choose, table.take, table.data
    p.refused = <PyObject *>refused
    own_block(p, &p.mask, s.machine.words, sizeof(uint64_t))
    s.placement.copy, s.placement.close = copy, close
    return p


cdef int open_on_torus(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef compiled_rule_t *p = open_compiled_rule(s, options, columns)
    cdef torus_machine_t *m = <torus_machine_t *>s.machine.state
    p.box_order = BOX_ORDERS[options["box_order"]]
    p.boxes.version = FAULTSIM_POLICY_VERSION
    p.boxes.shape = [m.torus.x, m.torus.y, m.torus.z]
    p.boxes.busy, p.boxes.left, p.boxes.failing = busy, left, failing
    s.placement.choose = choose
    return 0


cdef int open_on_cluster(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef compiled_rule_t *p = open_compiled_rule(s, options, columns)
    own_block(p, &p.taken, s.machine.words, sizeof(uint64_t))
    if s.track.on and counts_open(s) < 0:
        raise MemoryError("no memory for the placement rule")
    p.nodes.version = FAULTSIM_POLICY_VERSION
    p.nodes.nodes, p.nodes.words, p.nodes.free, p.nodes.failing = s.nodes, s.machine.words, p.mask, failing_in
    s.placement.allot = allot
    return 0


ON_TORUS = factory(open_on_torus)
ON_CLUSTER = factory(open_on_cluster)
