"""Queue orders: by which key the waiting jobs are sorted (model.md#orders)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from faultsim.arrays import Floats, Integers, Values
from faultsim.errors import OptionError
from faultsim.policies.base import OwnPolicy

__all__ = [
    "ArrivalOrder",
    "LargestFirst",
    "QueueOrder",
    "ShortestFirst",
    "Unicef",
    "WaitingJobs",
    "Wfp3",
]


class WaitingJobs(Protocol):
    """What `QueueOrder.keys` sees: one row for each waiting job, by (submit, index)."""

    @property
    def index(self) -> Integers:
        """Row of the job in the workload that the run was given."""

    @property
    def submit(self) -> Floats:
        """Submit time in seconds."""

    @property
    def estimate(self) -> Floats:
        """Expected run time in seconds, after ``estimates=``."""

    @property
    def size(self) -> Integers:
        """Requested nodes (before any rounding on a torus)."""

    @property
    def restarts(self) -> Integers:
        """How often failures have killed the job."""


class QueueOrder(OwnPolicy):
    """Base of queue orders; subclass it to write your own in Python.

    Override `keys`.  It is called once at the beginning of each scheduling pass that could start a job
    (model.md#orders), and the queue is processed by ascending key, ties by (submit, index). A Python order runs inside
    the fast engine, with the global interpreter lock held; `Key` does not.

    Examples
    --------
    >>> import faultsim as fs
    >>> class SmallestFirst(fs.QueueOrder):
    ...     def keys(self, queue, now):
    ...         return queue.size
    >>> fs.Fcfs(order=SmallestFirst()).order.name
    'python'
    """

    kind: ClassVar[str] = "order"
    name: ClassVar[str] = "python"

    def keys(self, queue: WaitingJobs, now: float) -> ArrayLike:
        """One number for each waiting job; the smallest is the head of the queue.

        Parameters
        ----------
        queue : object with arrays ``index``, ``submit``, ``estimate``, ``size``, ``restarts``
            The waiting jobs, by (submit, index); further columns of the log are there by their names.
        now : float
            Time of the pass in seconds.

        Returns
        -------
        array of shape (len(queue.index),)
            No NaN.
        """
        raise OptionError(f"{type(self).__name__} must define keys(self, queue, now)")

    def inputs(self, estimate: Floats, size: Integers) -> dict[str, object]:
        """What its compiled part reads, by name: for keys that never change the column of them, ``queue_key``."""
        return {}

    def check_columns(self, columns: Mapping[str, Values]) -> None:
        """Raise `OptionError` if a log with these columns has not what the order asks for."""


@dataclass(frozen=True)
class ArrivalOrder(QueueOrder):
    """First come, first served: by submit time.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.EasyBackfill(order=fs.ArrivalOrder()) == fs.EasyBackfill()
    True
    """

    name: ClassVar[str] = "arrival"

    def keys(self, queue: WaitingJobs, now: float) -> ArrayLike:
        """The submit time."""
        return queue.submit


@dataclass(frozen=True)
class ShortestFirst(QueueOrder):
    """Shortest estimate first.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Fcfs(order="shortest")
    Fcfs(order=ShortestFirst())
    """

    name: ClassVar[str] = "shortest"

    def keys(self, queue: WaitingJobs, now: float) -> ArrayLike:
        """The estimate."""
        return queue.estimate

    def inputs(self, estimate: Floats, size: Integers) -> dict[str, object]:
        """The estimate."""
        return {"queue_key": estimate}


@dataclass(frozen=True)
class LargestFirst(QueueOrder):
    """Most requested nodes first.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Fcfs(order="largest")
    Fcfs(order=LargestFirst())
    """

    name: ClassVar[str] = "largest"

    def keys(self, queue: WaitingJobs, now: float) -> ArrayLike:
        """Minus the requested size."""
        return -np.asarray(queue.size, dtype=np.float64)

    def inputs(self, estimate: Floats, size: Integers) -> dict[str, object]:
        """Minus the requested size."""
        return {"queue_key": -size.astype(np.float64)}


@dataclass(frozen=True)
class Wfp3(QueueOrder):
    """WFP3: key -(wait / estimate)**3 * size ([tang2009]).

    Estimates below 1 s count as 1 s.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Fcfs(order="wfp3")
    Fcfs(order=Wfp3())
    """

    name: ClassVar[str] = "wfp3"

    def keys(self, queue: WaitingJobs, now: float) -> ArrayLike:
        """-((now - submit) / max(estimate, 1))**3 * size."""
        ratio = (now - queue.submit) / np.maximum(queue.estimate, 1.0)
        keys: Floats = -(ratio**3) * queue.size
        return keys


@dataclass(frozen=True)
class Unicef(QueueOrder):
    """UNICEF: key -wait / (log2(size) * estimate), small short jobs first ([tang2009]).

    Sizes below 2 count as 2, estimates below 1 s as 1 s.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Fcfs(order="unicef")
    Fcfs(order=Unicef())
    """

    name: ClassVar[str] = "unicef"

    def keys(self, queue: WaitingJobs, now: float) -> ArrayLike:
        """-(now - submit) / (log2(max(size, 2)) * max(estimate, 1))."""
        weight = np.log2(np.maximum(queue.size, 2)) * np.maximum(queue.estimate, 1.0)
        keys: Floats = -(now - queue.submit) / weight
        return keys
