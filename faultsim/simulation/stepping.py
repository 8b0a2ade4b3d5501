"""`Simulation`: a run, step by step."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from faultsim import checks
from faultsim._core.decisions import Decision
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.errors import NotAvailableError, OptionError
from faultsim.machines import Cluster, Torus
from faultsim.policies import External, Scheduler
from faultsim.results.result import Result
from faultsim.simulation.execution import INFINITY, Execution
from faultsim.simulation.run import Run


class Simulation:
    """A run, step by step: as a backend for other programs, for teaching, and for inspection.

    Takes the parameters of `simulate`, except ``progress``, and one more.

    Parameters
    ----------
    live : int, default 0
        Most jobs that there will be, if the caller owns time, jobs and failures: then `submit`, `finish`, `extend`,
        `fail`, `down` and `up` tell the simulation what happens, and `Decision.changes` what it did.  0: all is known
        from the start.

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

    def __init__(self, log: Workload, machine: Cluster | Torus, *, live: int = 0, **options: Any) -> None:
        engine = options.pop("engine", "core")
        if checks.whole("live", live, low=0, unit="jobs"):
            _check_live(log, live, engine, options)
            options.setdefault("failures", FailureTrace([], [], [], span=0))
        self._given = (Run(log, machine, **options), engine, live)
        self._execution = Execution(self._given[0], engine, live=live)
        self._before: tuple[list[Any], ...] = ()
        self._keep_acts()

    # -- running

    def run(self, until: float | None = None) -> None:
        """Run to the end, or until all events with time <= `until` (s) have been handled.

        Ctrl-C stops it between two slices of about 0.03 s; it can continue afterwards.
        """
        last = INFINITY if until is None else checks.number("until", until, finite=False, unit="seconds")
        begun = self._execution.engine.n_handled
        try:
            self._execution.go_on(last)
        except KeyboardInterrupt:
            self._note("_slice", self._execution.engine.n_handled - begun)
            raise
        self._note("run", until)

    def _slice(self, events: int) -> None:
        if events:
            self._execution.engine.run(events)

    def _note(self, name: str, *arguments: Any, **options: Any) -> None:
        if self._execution.engine.acts is not None:
            self._execution.engine.acts.append((False, name, arguments, options))

    def step(self) -> bool:
        """Handle one instant: all its events and scheduling passes.  False if nothing was left.

        Examples
        --------
        >>> import faultsim as fs
        >>> sim = fs.Simulation(fs.Workload(submit=[3], runtime=[10], size=[2]), fs.Cluster(2))
        >>> sim.step(), sim.now, sim.step(), sim.now, sim.step()
        (True, 3.0, True, 13.0, False)
        """
        more = bool(self._execution.engine.step())
        self._note("step")
        return more

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
        self._note("advance", until)
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
        other._given, other._execution = self._given, self._execution.copy()
        self._keep_acts()
        other._before = self._before
        other._keep_acts()
        return other

    def _keep_acts(self) -> None:
        """What was done until now is shared with copies; what comes is each one's own."""
        engine = self._execution.engine
        if getattr(engine, "acts", None):
            self._before = (*self._before, engine.acts)
        engine.acts = []

    def __copy__(self) -> "Simulation":
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> "Simulation":
        return self.copy()

    def rollout(self, scheduler: Scheduler) -> Result:
        """The result of a copy that another scheduler takes over now and runs to its end.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0, 1, 2], runtime=[10, 10, 5], size=[2, 4, 2])
        >>> sim = fs.Simulation(log, fs.Cluster(4), scheduler=fs.External())
        >>> sim.advance().start(0)
        >>> sim.rollout(fs.EasyBackfill()).jobs["start"], sim.rollout(fs.Fcfs()).jobs["start"]
        (array([ 0., 10.,  2.]), array([ 0., 10., 20.]))
        """
        run, _, live = self._given
        if live:
            raise NotAvailableError("rollout is not available with live=: nobody knows what will come")
        if External is not type(run.scheduler) or type(scheduler) is External or scheduler.is_written():
            raise OptionError("rollout lets a built-in scheduler take over from scheduler=External()")
        execution = self._execution.copy()
        execution.take_over(run.with_options(scheduler=scheduler))
        execution.go_on()
        return execution.result()

    # -- pickling: what was given, and what was done

    def __getstate__(self) -> dict[str, Any]:
        engine = self._execution.engine
        acts = [act for part in (*self._before, engine.acts or []) for act in part]
        return {"given": self._given, "acts": acts, "now": self.now, "n_events": engine.n_events}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._given, self._before = state["given"], ()
        self._execution = Execution(self._given[0], self._given[1], live=self._given[2])
        decision = None
        for of_decision, name, arguments, options in state["acts"]:
            found = getattr(decision if of_decision else self, name)(*arguments, **options)
            decision = found if isinstance(found, Decision) else decision
        self._execution.engine.acts = list(state["acts"])
        if (self.now, self._execution.engine.n_events) != (state["now"], state["n_events"]):
            raise OptionError("the simulation does not repeat: a policy written in Python behaves differently now")

    # -- what the caller tells (model.md#owned)

    def submit(self, log: Workload, *, unknown: bool = False) -> None:
        """Jobs arrive, now or later.

        Parameters
        ----------
        log : Workload
            The jobs, none of them submitted before now or before those that the simulation has already.  Their rows
            follow those of the log so far.
        unknown : bool, default False
            Nobody knows the run times: each job runs until `finish`, or with ``overrun="kill"`` to its estimate.

        Raises
        ------
        DecisionError
            If a job comes too early, or there is no room for so many.
        InputError
            If a job is larger than the machine.

        Examples
        --------
        >>> import faultsim as fs
        >>> sim = fs.Simulation(fs.Workload(submit=[0], runtime=[10], size=[2]), fs.Cluster(2), live=100)
        >>> sim.submit(fs.Workload(submit=[4], runtime=[0], size=[1], estimate=[60]), unknown=True)
        >>> sim.advance(until=30).running.index
        array([1], dtype=int32)
        >>> sim.finish(1)
        >>> sim.run()
        >>> sim.result().jobs["finish"]
        array([10., 30.])
        """
        self._execution.submit(log, unknown=checks.flag("unknown", unknown))
        self._note("submit", log, unknown=unknown)

    def finish(self, job: int) -> None:
        """A running job ends now."""
        self._execution.engine.end_job(job)
        self._note("finish", job)

    def extend(self, job: int, seconds: float) -> None:
        """A job that has not ended runs `seconds` longer than was said before (negative: shorter)."""
        self._execution.engine.extend_job(job, checks.number("seconds", seconds, finite=False))
        self._note("extend", job, seconds)

    def fail(self, node: int, downtime: float) -> None:
        """A node fails now and is down for `downtime` seconds (model.md#failures)."""
        self._execution.engine.fail_node(node, checks.number("downtime", downtime, low=0.0, unit="seconds"))
        self._note("fail", node, downtime)

    def down(self, node: int) -> None:
        """A node fails now, and nobody knows when it will be `up` again."""
        self._execution.engine.fail_node(node, INFINITY)
        self._note("down", node)

    def up(self, node: int) -> None:
        """A node that is down is up again, now."""
        self._execution.engine.repair_node(node)
        self._note("up", node)

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

    def result(self, *, partial: bool = False) -> Result:
        """The result, once everything has happened, or so far.

        Parameters
        ----------
        partial : bool, default False
            Also of a simulation that is not finished, as of now (model.md#partial): ``jobs["state"]`` says which jobs
            have ended, run, wait or have not arrived, and what is not known yet is NaN.

        Raises
        ------
        OptionError
            If jobs are still waiting or running, without `partial`.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0, 1, 2], runtime=[10, 5, 5], size=[2, 2, 2])
        >>> sim = fs.Simulation(log, fs.Cluster(2))
        >>> sim.run(until=12)
        >>> so_far = sim.result(partial=True)
        >>> [fs.JobState(state).name for state in so_far.jobs["state"]], so_far.jobs["finish"]
        (['ENDED', 'RUNNING', 'WAITING'], array([10., nan, nan]))
        >>> so_far.metrics["mean_wait"], so_far.span
        (0.0, (0.0, 10.0))
        """
        if checks.flag("partial", partial) and not self.done:
            return self._execution.result(partial=True)
        if not self.done:
            raise OptionError(
                f"the simulation is not finished: at {self.now:g} s {self.n_done:,} of "
                f"{len(self._execution.log):,} jobs are done; call run() first, or result(partial=True)"
            )
        return self._execution.result()


def _check_live(log: Workload, live: int, engine: str, options: dict[str, Any]) -> None:
    if live < len(log):
        raise OptionError(f"live={live} must be at least the {len(log)} jobs of the log: how many jobs there will be")
    if engine != "core":
        raise NotAvailableError(f"live= is not available with engine={engine!r}: use engine='core'")
    if options.get("oversized", "error") != "error" or options.get("estimates", "requested") == "actual":
        raise OptionError("live= takes oversized='error' and no estimates='actual'")
