"""Recovery (recovery.pxd): a job that was killed leaves its nodes and waits again."""

from libc.stdint cimport int32_t, int64_t

from faultsim._core.tables.factory cimport factory
from faultsim._core.faults.progress cimport progress_book
from faultsim._core.jobs cimport leave_nodes
from faultsim._core.queue cimport enqueue
from faultsim._core.state cimport sim_t
from faultsim._core.containers.memory cimport blocks_add


cdef int requeue_job(void *state, void *sim, int32_t job) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    leave_nodes(s, job)
    progress_book(s, job, False)
    return enqueue(s, job)


cdef int open_requeue(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef int32_t i
    s.track.restart_cost = options["restart_cost"]
    s.recovery.killed = requeue_job
    if options.get("place") == "tail":
        blocks_add(&s.blocks, s, &s.queue.entry, s.n, sizeof(int64_t))
        if s.blocks.failed:
            raise MemoryError("no memory for the queue")
        for i in range(s.n):
            s.queue.entry[i] = i
        s.queue.next_entry = s.n
    return 0


REQUEUE = factory(open_requeue)
