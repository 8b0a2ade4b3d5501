"""Recovery (recovery.pxd): a job has spare nodes, and goes on with one of them when a node fails (model.md#hot-spares).
"""

from libc.stdint cimport int32_t

from faultsim._core.containers.memory cimport open_state, own_block
from faultsim._core.containers.releases cimport release_t, releases_add, releases_all, releases_remove
from faultsim._core.faults.own_clock cimport own_time
from faultsim._core.faults.progress cimport at_t, progress_lead, progress_locate
from faultsim._core.record cimport close_stay, open_stay, record_event
from faultsim._core.recovery.requeue cimport open_requeue
from faultsim._core.state cimport ACC_GROWTH, EV_MOVE, LEAD_RESTART, progress_of, sim_t
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.recovery cimport RELIEVED_SPARE, RELIEVED_WORKING, UNRELIEVED

cdef struct hot_spares_t:
    int32_t unit             # nodes that are exchanged at once: 1, or the hosts of a cube
    int32_t *working         # per job: nodes that are at work
    int32_t *nodes           # those of a job, while they are counted


cdef int roll_back(sim_t *s, int32_t job) noexcept nogil:
    """It loses what is not safe, and goes on in place."""
    cdef at_t at
    s.moves[job] += 1
    if s.start[job] > s.now:
        return OK                # nothing has begun
    progress_locate(s, job, s.now, &at)
    progress_of(s, job).lost += at.unsaved
    s.lost_work[job] += s.size[job] * at.unsaved
    return progress_lead(
        s, job, <int>LEAD_RESTART, own_time(s, job, s.now) + s.track.restart_cost, at.safe, at.safe, 0.0)


cdef int relieve(void *state, void *sim, int32_t job, int32_t node) noexcept nogil:
    cdef const hot_spares_t *p = <const hot_spares_t *>state
    cdef sim_t *s = <sim_t *>sim
    cdef int32_t i, lower = 0, gone, first = node - node % p.unit
    cdef bint works
    if s.allocated[job] == p.working[job]:
        return UNRELIEVED
    for i in range(s.machine.list_nodes(s.machine.state, job, p.nodes)):
        lower += p.nodes[i] < first
    works = lower < p.working[job]
    if works and roll_back(s, job) < 0:
        return NO_MEMORY
    if s.record.on:
        close_stay(s, job)
    gone = s.machine.drop(s.machine.state, job, node)
    if gone < 0:
        return NO_MEMORY
    # What the job had too many, for as long as it had it.
    s.ledger[<int>ACC_GROWTH] += gone * (s.now - s.decision[job])
    releases_remove(&s.releases, s.expected[job], job)
    s.allocated[job] -= gone
    s.free += gone
    if releases_add(&s.releases, s.expected[job], job, s.allocated[job]) < 0:
        return NO_MEMORY
    if s.record.on and (record_event(s, EV_MOVE, job, -1) < 0 or open_stay(s, job) < 0):
        return NO_MEMORY
    return RELIEVED_WORKING if works else RELIEVED_SPARE


cdef const char *check(void *state, void *sim) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef const hot_spares_t *p = <const hot_spares_t *>state
    cdef const release_t *items = releases_all(&s.releases)
    cdef int32_t i, job
    for i in range(s.releases.n):
        job = items[i].job
        if job >= 0 and not (p.working[job] <= s.allocated[job] <= s.need[job]):
            return b"a job has fewer nodes than are at work, or more than it needs"
    return NULL


cdef int open_hot_spares(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef hot_spares_t *p = <hot_spares_t *>open_state(&s.recovery, sizeof(hot_spares_t))
    cdef int32_t count = options["count"], per = options["per"], i, units
    open_requeue(sim, options, columns)
    p.unit = columns["unit"]
    own_block(p, &p.working, s.n, sizeof(int32_t))
    own_block(p, &p.nodes, s.nodes, sizeof(int32_t))
    for i in range(s.n):
        p.working[i] = s.need[i]
        units = s.need[i] // p.unit
        if units > 0:
            s.need[i] += count * (units // per if per > 0 else 1) * p.unit
    s.recovery.relieve, s.recovery.check = relieve, check
    return 0


HOT_SPARES = factory(open_hot_spares)
