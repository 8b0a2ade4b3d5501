"""Placement rules of a cluster (placement.pxd): which free nodes a job gets (model.md#cluster-placement)."""

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, uint64_t

from faultsim._core.cluster.least_failed cimport least_failed_open, levels_t, take_least_failed
from faultsim._core.cluster.named cimport is_busy, named_of, named_t, take_lowest, take_word, update_occ
from faultsim._core.contract cimport fs_require
from faultsim._core.tables.factory cimport factory
from faultsim._core.faults.outages cimport counts_open, rank_open
from faultsim._core.state cimport sim_t
from faultsim._core.containers.memory cimport open_state, own_block
from faultsim._core.status cimport NO_MEMORY, OK, PYTHON_ERROR

cdef struct cluster_rule_t:
    PyObject *object         # a rule in Python; the engine keeps it

cdef struct least_failures_rule_t:
    uint64_t *picked         # on small machines: a mask, all zero between calls
    levels_t *levels         # on others


cdef int take_first_fit(void *state, void *sim, int32_t job, int32_t count) noexcept nogil:
    """The lowest numbers."""
    cdef sim_t *s = <sim_t *>sim
    cdef int32_t missing = take_lowest(named_of(&s.machine), job, count, NULL, &s.work.words)
    fs_require(missing <= 0)
    return NO_MEMORY if missing < 0 else OK


cdef int take_least_failures(void *state, void *sim, int32_t job, int32_t count) noexcept nogil:
    """Fewest failures so far, then lowest number ([zhang2004] section 5.2.3)."""
    cdef sim_t *s = <sim_t *>sim
    cdef named_t *m = named_of(&s.machine)
    cdef least_failures_rule_t *p = <least_failures_rule_t *>state
    cdef uint64_t *picked = p.picked
    cdef const uint64_t *occ = m.occ
    cdef const int32_t *rank = s.trace.rank
    cdef uint64_t bit
    cdef int32_t i = 0, node
    if p.levels != NULL:
        return take_least_failed(m, p.levels, s.trace.count, job, count, &s.work.ranked)
    update_occ(m)
    while count > 0:
        fs_require(i < s.nodes)
        node = rank[i]
        i += 1
        bit = (<uint64_t>1) << (node & 63)
        if occ[node >> 6] & bit:
            continue
        picked[node >> 6] |= bit
        count -= 1
    s.work.ranked += i
    for i in range(m.words):             # few: there is a rank of all nodes only on small machines
        if picked[i]:
            if take_word(m, job, i, picked[i]) < 0:
                return NO_MEMORY
            picked[i] = 0
    return OK


cdef int open_first_fit_cluster(void *sim, dict options, dict columns) except -1:
    (<sim_t *>sim).placement.allot = take_first_fit
    return 0


cdef int open_least_failures_rule(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef least_failures_rule_t *p = <least_failures_rule_t *>open_state(&s.placement, sizeof(least_failures_rule_t))
    s.placement.allot = take_least_failures
    if (counts_open(s) if s.nodes > s.limit.ranked_nodes else rank_open(s)) < 0:
        raise MemoryError("no memory for the placement rule")
    if s.nodes > s.limit.ranked_nodes:
        return least_failed_open(named_of(&s.machine), p, &p.levels)
    return own_block(p, &p.picked, s.machine.words, sizeof(uint64_t))


cdef int take_in_python(void *state, void *sim, int32_t job, int32_t count) noexcept nogil:
    """A user's rule: the free nodes that it names."""
    cdef sim_t *s = <sim_t *>sim
    cdef const int32_t[::1] nodes
    with gil:
        try:
            nodes = (<object><PyObject *>s.owner).nodes_by_python(
                <object>(<cluster_rule_t *>state).object, job, s.now, [
                    i for i in range(s.nodes) if not is_busy(named_of(&s.machine), i)], count)
            return s.machine.named.take_nodes(s.machine.state, job, &nodes[0], count)
        except BaseException as error:
            (<object><PyObject *>s.owner).keep_error(error)
            return PYTHON_ERROR


cdef int open_python_cluster_rule(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef cluster_rule_t *p = <cluster_rule_t *>open_state(&s.placement, sizeof(cluster_rule_t))
    p.object = <PyObject *>options["object"]
    s.placement.allot = take_in_python
    return 0


FIRST_FIT = factory(open_first_fit_cluster)
LEAST_FAILURES_FIRST = factory(open_least_failures_rule)
PYTHON = factory(open_python_cluster_rule)
