"""Which of its two controllers a run under `Slurm` has: the compiled one, or that in Python (model.md#slurm-time)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from faultsim._core.slurm import controller as compiled
from faultsim.reference.slurm import controller as written
from faultsim.reference.slurm.compare_priorities import PrioritySite
from faultsim.reference.slurm.limits import Limits
from faultsim.reference.slurm.state import Booked, SlurmNodes, Waiting


class SlurmStart(Protocol):
    """A job that starts."""

    @property
    def job(self) -> int: ...
    @property
    def nodes(self) -> list[int]: ...
    @property
    def cpus(self) -> list[int]: ...


class SlurmActs(Protocol):
    """What is to be done in a second: jobs that end, with whether they wait again, and then jobs that start."""

    @property
    def stop(self) -> list[tuple[int, bool]]: ...
    @property
    def start(self) -> Sequence[SlurmStart]: ...


class SlurmController(Protocol):
    """What both controllers can be told and asked; see `faultsim.reference.slurm.controller.Controller`."""

    def submit(self, job: Waiting, now: float, nice: float = 0.0) -> None: ...
    def withdraw(self, job: int) -> None: ...
    def end(self, job: int, now: float, *, again: float | None = None) -> None: ...
    def node(self, node: int, up: bool) -> None: ...
    def next(self, now: float) -> float: ...
    def decide(self, now: float) -> SlurmActs: ...


def only_in_python(site: SlurmNodes) -> str:
    """What the compiled controller does not know of a site; "" if it knows all of it.

    Parameters
    ----------
    site : SlurmNodes
        Nodes, partitions, QOS, associations and settings.
    """
    if any(len(gpus) > 1 for gpus in site.gpus):
        return "nodes with GPUs of several types"
    if _preempts(site):
        return "preemption"
    if Limits(site).hold:
        return "limits of QOS and associations"
    return ""


def _preempts(site: SlurmNodes) -> bool:
    """Whether some job could ever take the place of another."""
    if not site.preempts:
        return False
    if site.by_qos:
        return any(qos.preempt for qos in site.conf.qos.values())
    parts = site.partitions.values()
    return any(
        one.priority_tier > other.priority_tier
        and other.preempt_mode.upper() != "OFF"
        and not set(one.nodes).isdisjoint(other.nodes)
        for one in parts
        for other in parts
    )


def controller_of(
    site: SlurmNodes, priorities: PrioritySite, begin: float, booked: Sequence[Booked], engine: str
) -> tuple[SlurmController, str]:
    """The controller of a run, and why it is not the compiled one.

    Parameters
    ----------
    site : SlurmNodes
        Nodes, partitions, QOS, associations and settings.
    priorities : PrioritySite
        What priorities depend on.
    begin : float
        The second in which it starts.
    booked : sequence of Booked
        Reservations.
    engine : str
        "core" or "reference".

    Returns
    -------
    controller : SlurmController
        The controller.
    reason : str
        What the compiled one does not know, with ``engine="core"``; else "".
    """
    reason = only_in_python(site) if engine == "core" else ""
    of = written if reason or engine == "reference" else compiled
    return of.Controller(site, priorities, begin, booked), reason
