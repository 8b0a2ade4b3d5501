"""The machines that take job logs: who takes any of them says so in one word."""

from typing import TypeAlias

from faultsim.machines.cluster import Cluster
from faultsim.machines.pod import Pod
from faultsim.machines.torus import Torus

Machine: TypeAlias = Cluster | Torus | Pod

#: Name, as in a lowered machine -> class.
KINDS: dict[str, type[Cluster] | type[Torus] | type[Pod]] = {"cluster": Cluster, "torus": Torus, "pod": Pod}
#: As messages say what a machine may be.
ANY = "a Cluster, a Torus or a Pod"
