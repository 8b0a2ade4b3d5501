"""The machines that take job logs, by name."""

from faultsim.machines.cluster import Cluster
from faultsim.machines.machine import Machine
from faultsim.machines.pod import Pod
from faultsim.machines.torus import Torus

#: Name, as in a lowered machine -> class.
KINDS: dict[str, type[Machine]] = {"cluster": Cluster, "torus": Torus, "pod": Pod}
#: As messages say what a machine may be.
ANY = "a Cluster, a Torus or a Pod"
