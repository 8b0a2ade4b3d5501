"""Workflow schedulers, and where the outputs of jobs are kept."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypeAlias, get_args

from faultsim import checks
from faultsim.policies.base import Check, Policy, Seconds

__all__ = ["Fifo", "Flaw", "Heft", "Outputs", "RankHybd", "SharedOutputs", "WorkflowScheduler"]

_Across: TypeAlias = Literal["ascending", "descending"]
Across = Annotated[_Across, Check(checks.choice, "order across workflows", known=get_args(_Across))]


class WorkflowScheduler(Policy):
    """Base of workflow schedulers."""

    kind: ClassVar[str] = "workflow_scheduler"

    @property
    def asks(self) -> bool:
        """Whether it consults a predictor before placing a job on a node."""
        return False

    @property
    def plans(self) -> bool:
        """Whether it plans a workflow as a whole when it arrives."""
        return False


@dataclass(frozen=True)
class RankHybd(WorkflowScheduler):
    """RANK_HYBD: ready jobs in the order of their upward ranks, each on the free node that finishes it first.

    Jobs of one workflow go by descending rank, the longest path to the end first; while jobs of several workflows are
    ready, by ascending rank, so that nearly finished workflows get done. A failure puts the job back into the pool.

    Parameters
    ----------
    across : {"ascending", "descending"}, default "ascending"
        The order while jobs of several workflows are ready; Figure 3 of the paper shows only "descending".

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
    across: Across = "ascending"


@dataclass(frozen=True)
class Flaw(WorkflowScheduler):
    """FLAW: `RankHybd` with a predictor; it avoids nodes predicted to fail during the job.

    A job goes to the node that finishes it first among those about which the predictor says no; if it says yes about
    all free nodes, the job waits.  With a predictor that never says yes, it makes the same decisions as `RankHybd`.

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
    across: Across = "ascending"

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
        Whether it consults a predictor, as `Flaw` does.

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
    aware: Annotated[bool, Check(checks.flag, "aware")] = False

    @property
    def asks(self) -> bool:
        """Whether it is `aware`."""
        return self.aware


@dataclass(frozen=True)
class Heft(WorkflowScheduler):
    """HEFT, a baseline: plans a whole workflow when it arrives, job by job into the earliest gap, and follows the plan.

    Unlike the others it may keep a node waiting for a job, and sends outputs as soon as they exist. It ignores
    failures: jobs that they kill are repeated on the same node, and their successors wait.

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
    """Base of the options for where outputs are kept."""

    kind: ClassVar[str] = "outputs"


@dataclass(frozen=True)
class SharedOutputs(Outputs):
    """Outputs are copied to shared storage before their job counts as done: a checkpoint of its results.

    Then no job has to wait for a down node, and a transfer survives the failure of its source.

    Parameters
    ----------
    cost : float
        Seconds that the copy takes, at least 0; a job without successors makes no copy.

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
    cost: Annotated[Seconds, Check(checks.number, "cost of a copy", low=0.0, unit="seconds")]

    if TYPE_CHECKING:

        def __init__(self, cost: checks.Duration) -> None: ...
