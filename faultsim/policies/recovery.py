"""What happens to a job that a failure kills (model.md#kill)."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from faultsim import checks
from faultsim.policies.base import Check, Policy, Seconds

__all__ = ["Hold", "Recovery", "Requeue"]


class Recovery(Policy):
    """Base of recovery policies."""

    kind: ClassVar[str] = "recovery"
    restart_cost: Seconds


RestartCost = Annotated[Seconds, Check(checks.number, "restart_cost", low=0.0, unit="seconds")]


@dataclass(frozen=True)
class Requeue(Recovery):
    """The job is requeued; those of its nodes that are up are free at once.

    Work since its last safe point (start or checkpoint) is lost.

    Parameters
    ----------
    place : {"arrival", "tail"}, default "arrival"
        Where it waits: in its old place, by submit time, so that it can become the head, or behind all jobs that wait
        now. The papers do not say.
    restart_cost : float, default 0
        Seconds that each start after a kill takes before work continues.

    References
    ----------
    [oliner2004] section 6; [zhang2004] section 3.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Requeue(restart_cost=30)
    Requeue(place='arrival', restart_cost=30.0)
    """

    name: ClassVar[str] = "requeue"
    place: Annotated[str, Check(checks.choice, "place of a requeued job", known=("arrival", "tail"))] = "arrival"
    restart_cost: RestartCost = 0.0


@dataclass(frozen=True)
class Hold(Recovery):
    """The job stays on its nodes until the failed one is repaired, and continues from its last safe point.

    Further failures on its nodes make it wait longer, but do not kill it again.

    Parameters
    ----------
    restart_cost : float, default 0
        Seconds between the repair and the work.

    References
    ----------
    [li2009] section 5 (the simulator resumes the job on the repaired node).

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Hold(restart_cost=30).lower()
    {'name': 'hold', 'restart_cost': 30.0}
    """

    name: ClassVar[str] = "hold"
    restart_cost: RestartCost = 0.0
