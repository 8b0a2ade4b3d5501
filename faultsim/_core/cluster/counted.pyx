"""A cluster that only counts its nodes (machine.pxd): its state is their number."""

from libc.stdint cimport int32_t

from faultsim._core.tables.factory cimport factory
from faultsim._core.tables.machine cimport machine_t
from faultsim._core.containers.memory cimport open_state


cdef int32_t next_size(const void *state, int32_t size) noexcept nogil:
    return size if size <= (<const int32_t *>state)[0] else 0


cdef int open_counted_cluster(void *target, dict options, dict columns) except -1:
    cdef machine_t *machine = <machine_t *>target
    machine.nodes = options["nodes"]
    (<int32_t *>open_state(machine, sizeof(int32_t)))[0] = machine.nodes
    machine.next_size = next_size
    return 0


COUNTED = factory(open_counted_cluster)
