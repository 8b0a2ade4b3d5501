"""The machines: `Cluster` (any free nodes will do), `Torus` (a contiguous box), `Pod` (a slice) and `Site`.

See model.md#machines.  Node numbers are 0..N-1; on a torus node = (x*Y + y)*Z + z.
"""

from faultsim.data.domains import READERS as _DOMAIN_READERS
from faultsim.machines.cluster import Cluster
from faultsim.machines.machine import Machine
from faultsim.machines.node_classes import NodeClass, Partition
from faultsim.machines.pod import Pod, pod_of
from faultsim.machines.reservation import Reservation, parse_reservation
from faultsim.machines.site import Site
from faultsim.machines.text import as_machine, machine_from_lowered, parse_machine
from faultsim.machines.torus import Torus

__all__ = [
    "Cluster", "Machine", "NodeClass", "Partition", "Pod", "Reservation", "Site", "Torus", "as_machine",
    "machine_from_lowered", "parse_machine", "parse_reservation", "pod_of",
]  # fmt: skip

_DOMAIN_READERS["machine"] = parse_machine
