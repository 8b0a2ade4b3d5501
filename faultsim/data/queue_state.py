"""`QueueState`: which jobs run and which wait at one moment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from faultsim import checks
from faultsim.arrays import Flags, Floats, LongIntegers
from faultsim.data.columns import Column, as_column
from faultsim.data.workload import Workload
from faultsim.entries import entry
from faultsim.errors import InputError

_HELD = Column("held", "?", "1", None, "Whether the job waits for something other than resources.", "", 0)
_ORDER = Column("order", "i8", "1", None, "Row of a waiting job.", "", 0)


@dataclass(frozen=True, eq=False)
class QueueState:
    """The jobs of a site at one moment.

    Attributes
    ----------
    jobs : Workload
        A job per row; the run time is not known, and is the estimate (the limit).
    elapsed : array of float
        Seconds for which each job has run; NaN for one that waits.
    now : float
        The moment, in seconds on the clock of the submit times.
    held : array of bool
        Jobs that wait for something other than resources: held, not yet eligible, or with a dependency.
    order : array of int, optional
        The rows of the waiting jobs, first the next to be served; by default as they were submitted.
    name : str
        Of the file or the log.

    Examples
    --------
    >>> import faultsim as fs
    >>> jobs = fs.Workload([0, 540], [3600, 7200], [4, 2], estimate=[3600, 7200])
    >>> fs.QueueState(jobs, [500, float("nan")], now=600)
    QueueState(1 running, 1 waiting, 0 of them held)
    """

    jobs: Workload
    elapsed: Floats
    now: float
    held: Flags | None = None
    order: LongIntegers | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.jobs, Workload):
            raise InputError(f"jobs of a QueueState must be a Workload, got {checks.shown(self.jobs)}")
        elapsed = checks.real_array("elapsed", self.elapsed)
        if elapsed.dtype.kind not in "biuf" or elapsed.ndim != 1:
            given = checks.shown(self.elapsed)
            raise InputError(f"elapsed of a QueueState must be numbers, NaN for jobs that wait, got {given}")
        object.__setattr__(self, "elapsed", elapsed.astype(np.float64))
        object.__setattr__(self, "now", checks.number("now", self.now))
        held = np.zeros(len(self.jobs), bool) if self.held is None else as_column(self.held, _HELD)
        object.__setattr__(self, "held", held)
        waiting = np.flatnonzero(np.isnan(self.elapsed))
        order = waiting if self.order is None else as_column(self.order, _ORDER)
        if sorted(order.tolist()) != waiting.tolist():
            raise InputError("order of a QueueState: not the rows of the waiting jobs, each once")
        object.__setattr__(self, "order", order)
        if not len(self.jobs) == len(self.elapsed) == len(held):
            raise InputError(
                f"a QueueState has a value per job: {len(self.jobs)} jobs, {len(self.elapsed)} elapsed, "
                f"{len(held)} held"
            )

    @property
    def running(self) -> Flags:
        """Which jobs run."""
        return ~np.isnan(self.elapsed)

    @property
    def waiting(self) -> Flags:
        """Which jobs wait for resources."""
        return np.isnan(self.elapsed) & ~self.is_held

    @property
    def is_held(self) -> Flags:
        """Which jobs wait for something else; as `held`, with a value for each."""
        return np.zeros(len(self.jobs), bool) if self.held is None else self.held

    @property
    def served(self) -> LongIntegers:
        """The rows of the jobs that wait for resources, first the next to be served."""
        order = np.zeros(0, np.int64) if self.order is None else self.order
        return order[~self.is_held[order]]

    def __len__(self) -> int:
        return len(self.jobs)

    def __repr__(self) -> str:
        running, held = int(self.running.sum()), int(self.is_held.sum())
        return f"QueueState({running:,} running, {len(self) - running:,} waiting, {held:,} of them held)"

    @classmethod
    @entry
    def of_log(cls, log: Workload, t: float) -> QueueState:
        """The state at the time `t` of a log that has recorded waits.

        Waiting jobs are by the column ``priority``, the largest first, where the log has it, else by submit time.

        Raises
        ------
        InputError
            The log has no recorded waits, or no job that runs or waits at `t`.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload([0, 0, 50], [100, 100, 10], [1, 1, 1], recorded_wait=[0, 100, 60])
        >>> fs.QueueState.of_log(log, 60.0)
        QueueState(1 running, 2 waiting, 0 of them held)
        """
        if log.recorded_wait is None:
            raise InputError("of_log: the log has no recorded waits, from which it follows which jobs ran")
        t = checks.number("t", t, unit="seconds")
        start = log.submit + np.asarray(log.recorded_wait)
        running = (start <= t) & (t < start + log.runtime)
        waiting = (log.submit <= t) & (start > t)
        rows = np.flatnonzero(running | waiting)
        if not len(rows):
            raise InputError(f"of_log: no job runs or waits at {t:g}")
        limit = np.where(log.estimate > 0, log.estimate, log.runtime)[rows]
        jobs = Workload(
            log.submit[rows],
            limit,
            log.size[rows],
            estimate=limit,
            id=log.id[rows],
            user=log.user[rows],
            columns={name: np.asarray(log.columns[name])[rows] for name in log.further},
        )
        order = np.flatnonzero(waiting[rows])
        if "priority" in log.further:
            order = order[np.argsort(-np.nan_to_num(np.asarray(jobs.columns["priority"], float)[order]), kind="stable")]
        return cls(jobs, np.where(running, t - start, np.nan)[rows], t, order=order, name=log.name)
