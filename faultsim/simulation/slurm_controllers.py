"""Which of its two controllers a run under `Slurm` has: the compiled one, or that in Python (model.md#slurm-time)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from faultsim._core.slurm import controller as compiled
from faultsim.reference.slurm import controller as written
from faultsim.reference.slurm.compare_priorities import PrioritySite
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


def controller_of(
    site: SlurmNodes, priorities: PrioritySite, begin: float, booked: Sequence[Booked], engine: str
) -> SlurmController:
    """The controller of a run.

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
    """
    if engine == "reference":
        return written.Controller(site, priorities, begin, booked)
    return compiled.Controller(site, priorities, begin, booked)
