"""A cluster whose nodes are only counted (machine.pxd): its state is their number."""

from libc.stdint cimport int32_t
from libc.stdlib cimport free as c_free

from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport machine_t
from faultsim._core.containers.memory cimport duplicate


cdef int32_t next_size(const void *state, int32_t size) noexcept nogil:
    return size if size <= (<const int32_t *>state)[0] else 0


cdef void *copy(const void *state, machine_t *to) noexcept nogil:
    cdef int bad = 0
    return duplicate(state, sizeof(int32_t), &bad)


cdef int open_counted(void *target, dict options, dict columns) except -1:
    cdef machine_t *machine = <machine_t *>target
    machine.nodes = options["nodes"]
    machine.state = copy(&machine.nodes, machine)
    if machine.state == NULL:
        raise MemoryError("no memory for the cluster")
    machine.next_size, machine.copy, machine.close = next_size, copy, c_free
    return 0


COUNTED = factory(open_counted)
