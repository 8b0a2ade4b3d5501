"""The machines that take job logs, by name."""

from faultsim.machines.cluster import Cluster
from faultsim.machines.machine import Machine
from faultsim.machines.pod import Pod
from faultsim.machines.site import Site
from faultsim.machines.torus import Torus

#: Name, as in a lowered machine -> class.
KINDS: dict[str, type[Machine]] = {"cluster": Cluster, "torus": Torus, "pod": Pod, "site": Site}
#: As messages say what a machine may be.
ANY = "a Cluster, a Torus, a Pod or a Site"
