"""How jobs leave suspicious nodes; the contract is in moves.pxd."""

from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcpy, memset

from faultsim._core.cluster.named cimport change_node, named_of, named_t
from faultsim._core.cluster.node_sets cimport nodes_t
from faultsim._core.containers.bits cimport fs_lowest
from faultsim._core.contract cimport fs_require
from faultsim._core.faults.progress cimport progress_moved_end
from faultsim._core.tables.machine cimport permit_t, place_t
from faultsim._core.record cimport close_stay
from faultsim._core.status cimport NO_MEMORY


cdef int move_nodes(sim_t *s, fars_t *f, const suspect_t *suspect) noexcept nogil:
    """The lowest suspicious nodes of the job for the lowest that are free and not suspicious."""
    cdef int32_t job = suspect.job, _i, k, out, into
    cdef named_t *m = named_of(&s.machine)
    cdef const nodes_t *mine = m.held[job]
    cdef uint64_t bits
    if s.record.on:
        close_stay(s, job)
    for _i in range(suspect.leaving):
        k = 0
        while not mine.bits[k] & f.suspicious[mine.word[k]]:
            k += 1
            fs_require(k < mine.n)
        out = (mine.word[k] << 6) + fs_lowest(mine.bits[k] & f.suspicious[mine.word[k]])
        while True:
            bits = ~(m.occ[f.word] | f.suspicious[f.word])
            if bits:
                break
            f.word += 1
        into = (f.word << 6) + fs_lowest(bits)
        fs_require(into < s.nodes)
        if change_node(m, job, out, into) < 0:
            return NO_MEMORY
    if s.migration.failed != NULL:
        s.migration.failed(s.migration.state, s, job, -1)
    return 1


cdef int move_place(sim_t *s, fars_t *f, const suspect_t *suspect) noexcept nogil:
    """Into a place of its size without a suspicious node, if the scheduler lets it."""
    cdef size_t bytes = <size_t>s.machine.words * sizeof(uint64_t)
    cdef int32_t job = suspect.job
    cdef double end = progress_moved_end(s, job, &f.cost)
    cdef place_t place = s.machine.place_of(s.machine.state, job)
    cdef permit_t permit
    cdef int found, code
    if end < s.now:
        end = s.now
    memset(&permit, 0, sizeof(permit))
    memcpy(f.without, s.machine.occ, bytes)
    s.machine.lift(s.machine.state, f.without, &place)
    memcpy(f.forbidden, f.suspicious, bytes)
    permit.forbidden = f.forbidden
    if s.scheduler.guard != NULL and s.queue.head != s.queue.end:
        code = s.scheduler.guard(s.scheduler.state, s, job, end, f.forbidden, &permit)
        if code < 0:
            return code
    s.predictions.window_from = s.now
    s.predictions.window_to = end
    found = s.placement.choose(s.placement.state, s, job, f.without, s.allocated[job], &permit, &place)
    if found < 0:
        return found
    if found:
        if s.record.on:
            close_stay(s, job)
        s.machine.give(s.machine.state, job)
        s.machine.take(s.machine.state, job, &place)
    if s.scheduler.settled != NULL:
        code = s.scheduler.settled(s.scheduler.state, s, job, &place if found else NULL)
        if code < 0:
            return code
    return found
