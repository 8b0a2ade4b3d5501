"""`Simulation`: a run, step by step."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from faultsim import checks
from faultsim._core.decisions import Decision
from faultsim.data.workload import Workload
from faultsim.errors import OptionError
from faultsim.machines import Cluster, Torus
from faultsim.results.result import Result
from faultsim.simulation.execution import INFINITY, Execution
from faultsim.simulation.run import Run


class Simulation:
    """A run, step by step: as a backend for other programs, for teaching, and for inspection.

    Takes the parameters of `simulate`, except ``progress``.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1, 2], runtime=[10, 10, 5], size=[2, 4, 2])
    >>> sim = fs.Simulation(log, fs.Cluster(4), scheduler=fs.Fcfs())
    >>> sim.run(until=5)
    >>> sim.running, sim.queue, sim.free
    (array([0], dtype=int32), array([1, 2], dtype=int32), 2)
    >>> sim.run()
    >>> sim.result().jobs["start"]
    array([ 0., 10., 20.])
    """

    def __init__(self, log: Workload, machine: Cluster | Torus, **options: Any) -> None:
        engine = options.pop("engine", "core")
        self._execution = Execution(Run(log, machine, **options), engine)

    # -- running

    def run(self, until: float | None = None) -> None:
        """Run to the end, or until all events with time <= `until` (s) have been handled.

        Ctrl-C stops it between two slices of about 0.03 s; it can continue afterwards.
        """
        last = INFINITY if until is None else checks.number("until", until, finite=False, unit="seconds")
        self._execution.go_on(last)

    def step(self) -> bool:
        """Handle one instant: all its events and scheduling passes.  False if nothing was left.

        Examples
        --------
        >>> import faultsim as fs
        >>> sim = fs.Simulation(fs.Workload(submit=[3], runtime=[10], size=[2]), fs.Cluster(2))
        >>> sim.step(), sim.now, sim.step(), sim.now, sim.step()
        (True, 3.0, True, 13.0, False)
        """
        return bool(self._execution.engine.step())

    def advance(self, until: float | None = None) -> Decision | None:
        """Go on to the next decision (model.md#decisions); the one before is over.

        Parameters
        ----------
        until : float, optional
            Stop at this time (s) if no decision comes first; all events with time <= `until` have then been handled.

        Returns
        -------
        Decision or None
            Of kind ``"schedule"`` with ``scheduler=External()``; of kind ``"time"`` at `until`; None once all jobs have
            ended, unless `until` was given.

        Raises
        ------
        DecisionError
            If jobs wait and nothing will ever happen again, or `until` has passed.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
        >>> sim = fs.Simulation(log, fs.Cluster(2), scheduler=fs.Fcfs())
        >>> sim.advance(until=4)
        <Decision: time at 4 s, 1 waiting, 1 running, 0 free>
        >>> sim.advance() is None, sim.now
        (True, 15.0)
        """
        found: Decision | None = self._execution.engine.advance(INFINITY if until is None else until)
        return found

    @property
    def decision(self) -> Decision | None:
        """What the caller has to decide now; None if nothing.  A copy of a simulation has its own."""
        found: Decision | None = self._execution.engine.decision
        return found

    def copy(self) -> "Simulation":
        """An independent copy that continues from here.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
        >>> sim = fs.Simulation(log, fs.Cluster(2))
        >>> sim.run(until=5)
        >>> fork = sim.copy()
        >>> fork.run()
        >>> fork.now, sim.now < fork.now
        (15.0, True)
        """
        other = Simulation.__new__(Simulation)
        other._execution = self._execution.copy()
        return other

    def __copy__(self) -> "Simulation":
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> "Simulation":
        return self.copy()

    # -- inspection

    @property
    def next_time(self) -> float:
        """Time of the next event in seconds, ``inf`` if none is left."""
        return float(self._execution.engine.next_time)

    @property
    def now(self) -> float:
        """Simulated time in seconds."""
        return float(self._execution.engine.now)

    @property
    def queue(self) -> NDArray[np.int32]:
        """Rows of the waiting jobs, in queue order."""
        rows: NDArray[np.int32] = self._execution.engine.queue()
        return rows

    @property
    def running(self) -> NDArray[np.int32]:
        """Rows of the jobs that hold nodes, ascending."""
        rows: NDArray[np.int32] = self._execution.engine.running()
        return rows

    @property
    def free(self) -> int:
        """Number of free nodes."""
        return int(self._execution.engine.free)

    @property
    def n_done(self) -> int:
        """Number of jobs that have ended."""
        return int(self._execution.engine.n_done)

    @property
    def lost_work(self) -> float:
        """Node-seconds of work that jobs have lost so far, by failures or because they were requeued."""
        return float(self._execution.engine.lost_work)

    @property
    def done(self) -> bool:
        """Whether the simulation is finished."""
        return self.n_done == len(self._execution.log)

    @property
    def log(self) -> Workload:
        """The jobs that are simulated: the rows of `queue` and `running` are rows of this."""
        return self._execution.log

    def verify(self) -> None:
        """Check the invariants (model.md#invariants); `EngineError` if one is broken, which would be a bug."""
        self._execution.engine.verify()

    def result(self) -> Result:
        """The result, once everything has happened.

        Raises
        ------
        OptionError
            If jobs are still waiting or running.
        """
        if not self.done:
            raise OptionError(
                f"the simulation is not finished: at {self.now:g} s {self.n_done:,} of "
                f"{len(self._execution.log):,} jobs are done; call run() first"
            )
        return self._execution.result()
