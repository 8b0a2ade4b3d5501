"""`Settings`: the machine and the policies of a run in the plain form that both engines read."""

from dataclasses import dataclass
from typing import Literal

from faultsim.data.lowered import Lowered


@dataclass(frozen=True, slots=True)
class Settings:
    """What an engine reads of a run, besides the jobs and the `World`.

    Attributes
    ----------
    machine, scheduler, placement : dict
        The plain forms of what every run has.
    migration, recovery, checkpointing, rescheduling : dict, optional
        The plain forms of what a run may have.
    overrun : {"extend", "kill"}
        What happens to a job that exceeds its estimate.
    start_delay : float
        Seconds between the decision to start a job and its start.
    record : bool
        Whether events and allocations are kept.
    verify : bool
        Whether the reference engine checks its invariants after every instant.
    """

    machine: Lowered
    scheduler: Lowered
    placement: Lowered
    migration: Lowered | None = None
    recovery: Lowered | None = None
    checkpointing: Lowered | None = None
    rescheduling: Lowered | None = None
    overrun: Literal["extend", "kill"] = "extend"
    start_delay: float = 0.0
    record: bool = False
    verify: bool = False

    def policy(self, kind: str) -> Lowered:
        """The plain form of the policy of a kind; empty if the run has none."""
        return getattr(self, kind, None) or {}


@dataclass(frozen=True, slots=True)
class WorkflowSettings:
    """What an engine of workflows reads of a run, besides the tables of jobs and the `World`.

    Attributes
    ----------
    scheduler : dict
        The plain form of the scheduler.
    transfers : {"parallel", "in_turn"}
        Whether a job receives its inputs all at once, or one after another.
    outputs : float, optional
        Seconds of a copy of an output to shared storage; None: outputs stay on their node.
    record : bool
        Whether events are kept.
    """

    scheduler: Lowered
    transfers: str = "parallel"
    outputs: float | None = None
    record: bool = False
