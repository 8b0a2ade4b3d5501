"""Schedulers of workflows, and where the outputs of their jobs live."""

from dataclasses import dataclass
from typing import ClassVar

from faultsim import checks
from faultsim.policies.base import Policy, Seconds

__all__ = ["Fifo", "Flaw", "Heft", "Outputs", "RankHybd", "SharedOutputs", "WorkflowScheduler"]

_ACROSS = ("ascending", "descending")


class WorkflowScheduler(Policy):
    """Base of schedulers of workflows."""

    kind: ClassVar[str] = "workflow_scheduler"

    @property
    def asks(self) -> bool:
        """Whether it asks a predictor before it puts a job on a node."""
        return False

    @property
    def plans(self) -> bool:
        """Whether it plans a workflow as a whole when it arrives."""
        return False


@dataclass(frozen=True)
class RankHybd(WorkflowScheduler):
    """RANK_HYBD: ready jobs in the order of their upward ranks, each on the free node that finishes it first.

    Jobs of one workflow go by descending rank, the longest way to the end first; while jobs of several workflows are
    ready, by ascending rank, so that what is nearly done gets done.  A failure is met by putting the job back.

    Parameters
    ----------
    across : {"ascending", "descending"}, default "ascending"
        The order while jobs of several workflows are ready; Figure 3 of the paper on Flaw shows "descending" only.

    References
    ----------
    [yu2008]; [yu2010] section 4.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.RankHybd().lower()
    {'name': 'rank_hybd', 'across': 'ascending'}
    """

    name: ClassVar[str] = "rank_hybd"
    across: str = "ascending"

    def __post_init__(self) -> None:
        checks.choice("order across workflows", self.across, _ACROSS)


@dataclass(frozen=True)
class Flaw(WorkflowScheduler):
    """FLAW: `RankHybd` that asks a predictor, and leaves nodes alone that would fail under the job.

    A job goes to the node that finishes it first among those about which the predictor says no; if it says yes about
    all free nodes, the job waits.  With a predictor that never says yes this is `RankHybd`, decision by decision.

    Parameters
    ----------
    across : {"ascending", "descending"}, default "ascending"
        As in `RankHybd`.

    References
    ----------
    [yu2010] section 4 and Figure 3.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Flaw(across="descending")
    Flaw(across='descending')
    """

    name: ClassVar[str] = "flaw"
    across: str = "ascending"

    def __post_init__(self) -> None:
        checks.choice("order across workflows", self.across, _ACROSS)

    @property
    def asks(self) -> bool:
        """Always."""
        return True


@dataclass(frozen=True)
class Fifo(WorkflowScheduler):
    """First in, first out: jobs in the order in which they became ready, each on the free node that finishes it first.

    Parameters
    ----------
    aware : bool, default False
        Whether it asks a predictor, as `Flaw` does.

    References
    ----------
    [yu2010] section 5.D (Figure 9).

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Fifo().aware
    False
    """

    name: ClassVar[str] = "fifo"
    aware: bool = False

    def __post_init__(self) -> None:
        checks.flag("aware", self.aware)

    @property
    def asks(self) -> bool:
        """Whether it is `aware`."""
        return self.aware


@dataclass(frozen=True)
class Heft(WorkflowScheduler):
    """HEFT: plans a whole workflow when it arrives, job by job into the earliest gap, and follows the plan; a baseline.

    Unlike the others it may keep a node waiting for a job, and sends outputs as soon as they are there.  It knows
    nothing of failures: what they hit is done again on the same node, and what comes after it waits.

    References
    ----------
    [topcuoglu2002].

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Heft().lower()
    {'name': 'heft'}
    """

    name: ClassVar[str] = "heft"

    @property
    def plans(self) -> bool:
        """Always."""
        return True


class Outputs(Policy):
    """Base of where outputs live."""

    kind: ClassVar[str] = "outputs"


@dataclass(frozen=True)
class SharedOutputs(Outputs):
    """Outputs are copied to shared storage before their job counts as done: a checkpoint of what it gave.

    A node that is down then blocks nobody, and a transfer does not die with the node that its data came from.

    Parameters
    ----------
    cost : float
        Seconds that the copy takes, at least 0; a job without successors makes none.

    References
    ----------
    [robert2012] (checkpoints of workflows).

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.SharedOutputs(60)
    SharedOutputs(cost=60.0)
    """

    name: ClassVar[str] = "shared"
    cost: Seconds

    def __post_init__(self) -> None:
        object.__setattr__(self, "cost", checks.number("cost of a copy", self.cost, low=0.0, unit="seconds"))
