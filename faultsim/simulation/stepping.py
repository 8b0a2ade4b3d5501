"""`Simulation`: a run, step by step."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks
from faultsim._core.decisions import Decision
from faultsim._core.door import Door
from faultsim.arrays import Integers
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.errors import BusyError, DecisionError, InputError, NotAvailableError, OptionError
from faultsim.machines import Machine
from faultsim.policies import External, HotSpares, Recovery, Scheduler, Slurm
from faultsim.results.reasons import Reason
from faultsim.results.result import Result
from faultsim.results.revision import check_pickle
from faultsim.simulation.execution import Execution, checked_change
from faultsim.simulation.lowering import INFINITY, Unknown
from faultsim.simulation.options import OPTIONS, EngineName, Options, refuse_unknown, takes
from faultsim.simulation.run import Run
from faultsim.simulation.why import why_now
from faultsim.version import MODEL_REVISION

#: Job numbers are int32.
_MOST_JOBS = 2**31 - 1
#: Jobs for which there is room at first with ``live=True``.
_FIRST_ROOM = 64
_NUMBERS = (float, int)
_NO_OTHERS = (None, None, False)


class Simulation(checks.OldNames):
    """A run, step by step: as a backend for other programs, for teaching, and for inspection.

    Takes the parameters of `simulate`, except ``progress``, and three more.

    Parameters
    ----------
    log : Workload or None
        The jobs; with ``live=`` those that are known so far, None for none of them.
    live : bool or int, default False
        Whether the caller owns time, jobs and failures: then `submit`, `finish`, `extend`, `fail`, `down`, `up` and
        `foresee` tell the simulation what happens, and `Decision.changes` what it did.  A number is that of jobs for
        which there is room at first, which saves time; more may come.
    unknown : bool or array_like of bool, shape (n,), default False
        Jobs of the log whose run times nobody knows, as with `submit`; only with ``live=``.
    oracle_runtimes : bool, default False
        Whether ``queue`` and ``running`` of the decisions that `advance` returns have a column ``runtime`` (s): the
        true run times, ``inf`` where unknown, which no scheduler has. For upper bounds only (model.md#oracle).

    Raises
    ------
    BusyError
        By every method and property while another thread is in one that goes on or tells something: nothing has
        changed.  A policy that is asked may look, but not act.

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

    @takes(Options, OPTIONS)
    def __init__(
        self,
        log: Workload | None,
        machine: Machine | str,
        *,
        engine: EngineName = "core",
        live: bool | int = False,
        unknown: bool | ArrayLike = False,
        oracle_runtimes: bool = False,
        **options: Unpack[Options],
    ) -> None:
        refuse_unknown("Simulation", options, OPTIONS)
        checks.flag("oracle_runtimes", oracle_runtimes)
        room = live * _FIRST_ROOM if isinstance(live, bool) else live
        room = checks.whole("live", room, low=0, high=_MOST_JOBS - 1, unit="jobs")
        empty = log is None and room > 0
        if empty:
            log = Workload([0], [0], [1])  # what jobs are like
        if room and isinstance(log, Workload):
            room = max(room, len(log)) + 1
            _check_live(options)
            options.setdefault("failures", FailureTrace([], [], [], span=0))
        run = Run(log, machine, **options)  # type: ignore[arg-type]  # which refuses None
        if room and isinstance(run.recovery, HotSpares):
            raise NotAvailableError("live= is not available with HotSpares: jobs get their spare nodes before the run")
        if empty and run.machine.asks(run.log) is not None:
            raise NotAvailableError("jobs that share nodes ask for them in columns: give a log with the first ones")
        mask = _which("unknown", unknown, run.log)
        if not room and np.any(mask):
            raise OptionError("unknown run times are told later: give live=True")
        self._given = (run, engine, room, False if empty else mask, oracle_runtimes, empty)
        self._begin()
        self._keep_acts()

    def _begin(self) -> None:
        run, engine, live, unknown, oracle, empty = self._given
        self._execution = Execution(run, engine, live=live, unknown=unknown, oracle_runtimes=oracle, empty=empty)
        self._before: tuple[list[object], ...] = ()
        self._last: Decision | None = None
        self._taken: tuple[Scheduler | str | None, Run] = None, run
        self._door = _door_of(self._execution)

    # -- running

    def run(self, until: checks.Duration | None = None) -> None:
        """Run to the end, or until all events with time <= `until` (s) have been handled.

        Ctrl-C stops it between two slices of about 0.03 s; it can continue afterwards, unless that broke off a
        pass that takes much longer.
        """
        last = INFINITY if until is None else checks.number("until", until, finite=False, unit="seconds")
        self._refuse_late(last)
        with self._door.enter():
            begun = self._execution.engine.n_handled
            try:
                self._execution.go_on(last)
            except KeyboardInterrupt:
                self._note("_slice", self._execution.engine.n_handled - begun)
                raise
            except DecisionError:
                self._note("_until_refused", "run", until)
                raise
            self._note("run", until)

    def _refuse_late(self, until: float) -> None:
        """Where the caller owns time, the clock stops at a time that it can show."""
        if checks.LATEST < until < INFINITY and self._given[2]:
            raise OptionError(f"until must be at most {checks.LATEST} seconds, where the clock ends, got {until:g}")

    def _slice(self, events: int) -> None:
        if events:
            self._execution.engine.run(events)

    def _until_refused(self, name: str, *arguments: object) -> None:
        """Time may have passed until it came to a deadlock."""
        with suppress(DecisionError):
            getattr(self, name)(*arguments)

    def _note(self, name: str, *arguments: object, **options: object) -> None:
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
        with self._door.enter():
            try:
                more = bool(self._execution.engine.step())
            except DecisionError:
                self._note("_until_refused", "step")
                raise
            self._note("step")
            return more

    def advance(self, until: checks.Duration | None = None) -> Decision | None:
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
        Exception
            Whatever a queue order in Python raises when the decision is reached; the next call returns that decision.

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
        if until is not None and type(until) is not float:
            until = checks.number("until", until, finite=False, unit="seconds")
        last = INFINITY if until is None else until
        self._refuse_late(last)
        with self._door.enter():
            engine = self._execution.engine
            owed = engine.owed
            try:
                self._last = engine.advance(last)
            except DecisionError:
                self._note("_until_refused", "advance", until)
                raise
            except BaseException:
                if engine.owed and owed != "decide":  # it has come there, and a queue order in Python raised
                    self._note("advance", until)
                raise
            if owed != "decide":
                self._note("advance", until)
            return self._last

    @property
    def decision(self) -> Decision | None:
        """What the caller has to decide now; None if nothing.

        It is what `advance` returned until that is over, and after its `finish` a new one for the same moment.  A copy
        of a simulation has its own.
        """
        look = getattr(self._execution.engine, "look", self._door.enter)  # the reference engine has none
        with look():
            if self._last is None or not self._execution.engine.is_open(self._last):
                self._last = self._execution.engine.decision
            return self._last

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
        with self._door.enter(True):
            other._given, other._execution = self._given, self._execution.copy()
            self._keep_acts()
            other._before, other._last, other._taken = self._before, None, self._taken
        other._door = _door_of(other._execution)
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

    def __deepcopy__(self, memo: dict[int, object]) -> "Simulation":
        return self.copy()

    def rollout(
        self,
        scheduler: Scheduler | str,
        *,
        until: checks.Duration | None = None,
        horizon: checks.Duration | None = None,
    ) -> Result:
        """The result of a copy in which another scheduler decides from now on (model.md#rollout).

        Parameters
        ----------
        scheduler : Scheduler or str
            A built-in one, also as text: ``"easy:order=shortest"``.
        until : float or duration, optional
            When the copy stops, on the clock of the log: the result is that of ``result(partial=True)`` then.  By
            default it runs to its end.
        horizon : float or duration, optional
            The same, as seconds from now.

        Raises
        ------
        DecisionError
            If jobs wait and nothing will ever happen again, unless the copy stops at a time.
        OptionError
            Unless a caller decided so far (``scheduler=External()``) or owns time (``live=``).

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0, 1, 2], runtime=[10, 10, 5], size=[2, 4, 2])
        >>> sim = fs.Simulation(log, fs.Cluster(4), scheduler=fs.External())
        >>> sim.advance().start(0)
        >>> sim.rollout("easy").jobs["start"], sim.rollout(fs.Fcfs()).jobs["start"]
        (array([ 0., 10.,  2.]), array([ 0., 10., 20.]))
        >>> sim.rollout("easy", horizon=7).jobs["start"]
        array([ 0., nan,  2.])
        """
        run, _, live, *_ = self._given
        taking = self._run_by(scheduler)
        decides = taking.scheduler
        if not (live or External is type(run.scheduler)) or type(decides) in (External, Slurm) or decides.is_written():
            raise OptionError("rollout lets a built-in scheduler take over from scheduler=External(), or with live=")
        with self._door.enter(True):
            last = self._end_of_rollout(until, horizon)
            execution = self._execution.copy()
        if live:
            execution.engine.expect_ends()
        execution.take_over(taking)
        if last is None:
            execution.go_on()
            return execution.result()
        execution.engine.advance(last)
        return execution.last_result()

    def _run_by(self, scheduler: Scheduler | str) -> Run:
        """The run with another scheduler; that of the last rollout is not checked again."""
        before, taking = self._taken
        if scheduler is not before and not (isinstance(scheduler, str) and scheduler == before):
            taking = self._given[0].with_options(scheduler=scheduler)  # type: ignore[arg-type]  # which reads any text
            self._taken = scheduler, taking
        return taking

    def _end_of_rollout(self, until: checks.Duration | None, horizon: checks.Duration | None) -> float | None:
        if until is not None and horizon is not None:
            raise OptionError("rollout takes until= or horizon=, not both")
        if horizon is not None:
            return min(self.now + checks.duration("horizon", horizon, low=0.0), checks.LATEST)
        return None if until is None else checks.duration("until", until, low=self.now)

    # -- pickling: what was given, and what was done

    def __getstate__(self) -> dict[str, object]:
        engine = self._execution.engine
        with self._door.enter(True):
            acts = [act for part in (*self._before, engine.acts or []) for act in part]
            so_far = {"given": self._given, "acts": acts, "now": self.now, "n_events": engine.n_events}
            return {"model_revision": MODEL_REVISION, **so_far}

    def __setstate__(self, state: dict[str, Any]) -> None:
        check_pickle("Simulation", state.get("model_revision"))
        self._given = state["given"]
        self._begin()
        for of_decision, name, arguments, options in state["acts"]:
            getattr(self.decision if of_decision else self, name)(*arguments, **options)
        self._execution.engine.acts = list(state["acts"])
        if (self.now, self._execution.engine.n_events) != (state["now"], state["n_events"]):
            raise OptionError("the simulation does not repeat: a policy written in Python behaves differently now")

    # -- what the caller tells (model.md#owned)

    def submit(
        self,
        log: Workload | None = None,
        *,
        submit: ArrayLike | None = None,
        runtime: ArrayLike | None = None,
        size: ArrayLike | None = None,
        estimate: ArrayLike | None = None,
        id: ArrayLike | None = None,
        user: ArrayLike | None = None,
        columns: Mapping[str, ArrayLike] | None = None,
        unknown: bool | ArrayLike = False,
    ) -> None:
        """Jobs arrive, now or later: a log, or one job, or columns of several.

        Parameters
        ----------
        log : Workload, optional
            The jobs, none of them submitted before now.  Their rows follow those of the jobs so far, whatever their
            submit times; so do their ids, if none are given.
        submit, size : float and int, or array_like, optional
            Instead of a log: when (s) and how many nodes, of a job or of several in the order of their submit times.
        runtime, estimate, id, user, columns : float, int, str or array_like, optional
            As of `Workload`.  Without ``runtime`` it is unknown.
        unknown : bool or array_like of bool, shape (n,), default False
            Nobody knows the run times, or those of some: such a job, whose ``runtime`` is not looked at, runs until
            `finish`, or with ``overrun="kill"`` to its estimate.

        Raises
        ------
        DecisionError
            If a job comes too early.
        InputError
            If a job is larger than the machine, has neither a run time nor an estimate, or has the id of another job.

        Examples
        --------
        >>> import faultsim as fs
        >>> sim = fs.Simulation(None, fs.Cluster(2), live=True)
        >>> sim.submit(submit=0, runtime=10, size=2)
        >>> sim.submit(submit=[4, 5], size=[1, 2], estimate=[60, 60])
        >>> sim.advance(until=30).running.index
        array([1], dtype=int32)
        >>> sim.finish(1)
        >>> _ = sim.advance(until=40)
        >>> sim.finish(2)
        >>> sim.run()
        >>> sim.result().jobs["finish"]
        array([10., 30., 40.])
        """
        if log is None and self._submit_one(submit, runtime, size, estimate, id, (user, columns, unknown)):
            return
        if log is None:
            log, unknown = _log_of(submit, runtime, size, estimate, id, user, columns, unknown)
        elif not isinstance(log, Workload):
            raise InputError(f"submit takes a Workload, got {checks.shown(log, 'Workload')}")
        elif not all(each is None for each in (submit, runtime, size, estimate, id, user, columns)):
            raise OptionError("submit takes a log, or columns of jobs, not both")
        mask = _which("unknown", unknown, log)
        with self._door.enter():
            self._note("submit", self._execution.submit(log, unknown=mask), unknown=mask)

    def _submit_one(
        self, submit: Any, runtime: Any, size: object, estimate: Any, id: object, others: tuple[object, ...]
    ) -> bool:
        """Whether this was one job, and is submitted; if not, `submit` does it, or says why not."""
        if (
            type(size) is not int
            or type(submit) not in _NUMBERS
            or any(given is not none for given, none in zip(others, _NO_OTHERS, strict=True))
            or (runtime is not None and type(runtime) not in _NUMBERS)
            or (estimate is not None and type(estimate) not in _NUMBERS)
            or (id is not None and type(id) is not int)
            or not self._given[2]
        ):
            return False
        with self._door.enter():
            number = self._execution.submit_one(submit, runtime, size, estimate, id)
            if number is None:
                return False
            acts = self._execution.engine.acts
            if acts is not None:
                given = {"submit": submit, "runtime": runtime, "size": size, "estimate": estimate, "id": number}
                acts.append((False, "submit", (), given))
        return True

    def finish(self, job: int) -> None:
        """A running job ends now.

        Raises
        ------
        DecisionError
            If it does not run, or ends now already.
        """
        with self._door.enter():
            self._execution.engine.end_job(job)
            self._note("finish", job)

    def withdraw(self, job: int) -> None:
        """A job that waits, or is not eligible yet, ends without a run now; one that runs is killed.

        As a time in the column ``cancel`` of a log, but after everything else of this instant (model.md#withdrawal);
        its state in the result is `JobState.WITHDRAWN`.  Also without ``live=``, between two steps.

        Raises
        ------
        DecisionError
            If it has not been submitted, has ended or ends now, is held for a repair, or runs in a simulation that does
            not follow what running jobs have done (one without failures, ``live=`` and `External`).

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0, 1, 2], runtime=[10, 10, 5], size=[2, 2, 2])
        >>> sim = fs.Simulation(log, fs.Cluster(2))
        >>> sim.run(until=4)
        >>> sim.withdraw(1)
        >>> sim.run()
        >>> sim.result().jobs["state"].tolist(), sim.result().jobs["start"].tolist()
        (['ended', 'withdrawn', 'ended'], [0.0, nan, 10.0])
        """
        with self._door.enter():
            self._execution.engine.withdraw(job)
            self._note("withdraw", job)

    def hold(self, job: int) -> None:
        """A job that waits, or is not eligible yet, is on hold: it is not in the queue until `release`.

        Its wait counts from the release on, unless it has had nodes before (model.md#on-hold).  Also without ``live=``,
        between two steps.

        Raises
        ------
        DecisionError
            If it has not been submitted, has nodes, has ended, or is on hold.

        Examples
        --------
        >>> import faultsim as fs
        >>> sim = fs.Simulation(fs.Workload(submit=[0, 1, 2], runtime=[10, 10, 5], size=[2, 2, 2]), fs.Cluster(2))
        >>> sim.run(until=4)
        >>> sim.hold(1)
        >>> _ = sim.advance(until=12)
        >>> sim.release(1)
        >>> sim.run()
        >>> sim.result().jobs["eligible"].tolist(), sim.result().jobs["start"].tolist()
        ([0.0, 12.0, 2.0], [0.0, 15.0, 10.0])
        """
        with self._door.enter():
            self._execution.engine.hold(job)
            self._note("hold", job)

    def release(self, job: int) -> None:
        """A job that is on hold may enter the queue again: now, if its conditions are met.

        Raises
        ------
        DecisionError
            If it is not on hold.
        """
        with self._door.enter():
            self._execution.engine.release(job)
            self._note("release", job)

    def change(
        self,
        job: int,
        *,
        estimate: checks.Duration | None = None,
        size: int | None = None,
        priority: float | None = None,
        begin: checks.Duration | None = None,
    ) -> None:
        """A job that waits and has had no nodes asks for something else from now on (model.md#changed).

        Parameters
        ----------
        job : int
            Its row.
        estimate : float or duration, optional
            Its requested time, in seconds.
        size : int, optional
            How many nodes it requests.
        priority : float, optional
            Its value in the column ``priority`` of the log, which orders may read.
        begin : float or duration, optional
            Its earliest start, on the clock of the log: a job of the queue leaves it until then.  Alone also with
            ``live=`` and whatever the other changes do not go with.

        Raises
        ------
        DecisionError
            If it has not been submitted, has or had nodes, or has ended; if its size does not fit on the machine; or if
            the log has no priorities.
        NotAvailableError
            With ``live=``, ``checkpointing=`` and ``HotSpares``.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0, 1], runtime=[10, 10], size=[2, 4])
        >>> sim = fs.Simulation(log, fs.Cluster(4))
        >>> _ = sim.advance(until=5)
        >>> sim.change(1, size=2)
        >>> sim.run()
        >>> sim.result().jobs["start"].tolist(), sim.result().jobs["size"].tolist()
        ([0.0, 5.0], [2, 2])
        """
        given = checked_change(estimate, size, priority, begin)
        with self._door.enter():
            self._execution.change(job, **given)
            self._note("change", job, **given)

    def drain(self, node: int) -> None:
        """A node takes no new jobs from now on, until `resume`; a job that holds it goes on (model.md#drained).

        Also without ``live=``, between two steps.  Free nodes that are drained are in the account "drained" of the
        ledger.  On a cluster the simulation must follow the nodes of jobs, as with ``record=True``.

        Raises
        ------
        DecisionError
            If there is no such node, or it is drained.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0, 0, 0], runtime=[10, 20, 5], size=[2, 2, 4])
        >>> sim = fs.Simulation(log, fs.Cluster(4), record=True)
        >>> _ = sim.advance(until=4)
        >>> sim.drain(0)
        >>> _ = sim.advance(until=30)
        >>> sim.drained, sim.queue
        (array([0], dtype=int32), array([2], dtype=int32))
        >>> sim.resume(0)
        >>> sim.run()
        >>> sim.result().jobs["start"].tolist(), sim.result().ledger["drained"]
        ([0.0, 0.0, 30.0], 20.0)
        """
        with self._door.enter():
            self._execution.engine.drain(node)
            self._note("drain", node)

    def resume(self, node: int) -> None:
        """A drained node takes jobs again.

        Raises
        ------
        DecisionError
            If there is no such node, or it is not drained.
        """
        with self._door.enter():
            self._execution.engine.resume(node)
            self._note("resume", node)

    @property
    def drained(self) -> Integers:
        """The nodes that are drained, ascending."""
        nodes: Integers = self._execution.engine.drained()
        return nodes

    def extend(self, job: int, seconds: checks.Duration) -> None:
        """A job that has not ended runs `seconds` longer than was said before (negative: shorter).

        With ``overrun="kill"`` its estimate, at which it is killed, stays.

        Raises
        ------
        DecisionError
            If the run time of the job is unknown, or if it has ended, or would have.
        """
        further = checks.number("seconds", seconds, finite=False, unit="seconds")
        with self._door.enter():
            self._execution.engine.extend_job(job, further)
            self._note("extend", job, further)

    def fail(self, node: int, downtime: checks.Duration) -> None:
        """A node fails now and is down for `downtime` seconds, infinite: for good (model.md#failures).

        Raises
        ------
        DecisionError
            If it is `down` already, until it is `up`, or has a job that ends now.
        """
        down_for = checks.duration("downtime", downtime, low=0.0, endless=True)
        with self._door.enter():
            self._execution.engine.fail_node(node, down_for)
            self._note("fail", node, down_for)

    def down(self, node: int) -> None:
        """A node fails now, and it is unknown when it will be `up` again.

        Raises
        ------
        DecisionError
            As `fail`.
        """
        with self._door.enter():
            self._execution.engine.fail_node(node, INFINITY)
            self._note("down", node)

    def up(self, node: int) -> None:
        """A node that is down is up again, now."""
        with self._door.enter():
            self._execution.engine.repair_node(node)
            self._note("up", node)

    def foresee(
        self,
        *,
        node: ArrayLike,
        time: ArrayLike | None = None,
        begin: ArrayLike | None = None,
        end: ArrayLike | None = None,
        p: float = 1.0,
    ) -> None:
        """Failures are predicted, besides those predicted before: in columns as of `Predictor.predict`.

        Policies that look at predictions when they decide see them (`SafestFirst`, `Balancing`, `TieBreaking`,
        `RiskBased`), and so does `Decision.foreseen`.

        Parameters
        ----------
        node : array_like of int
            Nodes that will fail.
        time : array_like of float, optional
            When (s); or
        begin, end : array_like of float, optional
            from when to when (s).
        p : float, default 1
            Their probability; that of predictions which have not passed is the same.

        Raises
        ------
        OptionError
            If the columns do not fit together, or name nodes that there are not.
        DecisionError
            If predictions of another probability have not passed.
        NotAvailableError
            With `Fars`, `BeforeFailure` and `PredictedWindows`, which plan before the run.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0], runtime=[50], size=[1])
        >>> sim = fs.Simulation(log, fs.Cluster(4), live=9, placement=fs.SafestFirst(), predictor=fs.Blind())
        >>> sim.foresee(node=[0, 1], begin=[20, 30], end=[25, 60])
        >>> sim.advance(until=10).running.where
        [array([2], dtype=int32)]
        """
        columns = {"node": node, "time": time, "begin": begin, "end": end}
        given: dict[str, object] = {"p": p}
        for name, values in columns.items():
            if values is not None:
                given[name] = checks.real_array(f"foresee: {name}", values).copy()
        with self._door.enter():
            self._execution.foresee(given)
            self._note("foresee", **given)

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
    def queue(self) -> Integers:
        """Rows of the waiting jobs, in queue order."""
        rows: Integers = self._execution.engine.queue()
        return rows

    @property
    def drops_jobs(self) -> bool:
        """Whether jobs were left out by ``oversized="drop"``.

        Then rows of decisions are those of the log that was given, and rows of `log` and `running` those of the jobs
        that are simulated.
        """
        return self._execution.drops_jobs

    @property
    def running(self) -> Integers:
        """Rows of the jobs that hold nodes, ascending."""
        rows: Integers = self._execution.engine.running()
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
        with self._door.enter(True):
            return self.n_done == self._execution.n_jobs

    @property
    def log(self) -> Workload:
        """The jobs that are simulated, by submit time: the rows of `queue` and `running` are rows of this.

        With ``live=`` rows are in the order in which jobs were submitted, which may be another one.
        """
        with self._door.enter(True):
            return self._execution.log

    def why(self, job: int) -> Reason:
        """Why a job does not start now, by the rule of the scheduler (model.md#reasons).

        It is what a scheduling pass as of now would say; `Result.why` explains a whole wait.

        Parameters
        ----------
        job : int
            Row of the job in `log`.

        Returns
        -------
        Reason
            The rule, with its numbers; also of jobs that are not submitted yet, run or have ended.

        Raises
        ------
        OptionError
            If there is no such row.
        BusyError
            In the middle of a step, that is, from a policy that is asked.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0, 1, 2], runtime=[10, 5, 20], size=[2, 3, 1])
        >>> sim = fs.Simulation(log, fs.Cluster(3), scheduler=fs.Fcfs())
        >>> sim.run(until=2)
        >>> print(sim.why(1))
        no room: needs 3 nodes, 1 is free; room is expected at 10 s
        >>> sim.why(2).cause, sim.why(2).blocker
        (<Cause.BEHIND_HEAD: 'behind the head'>, 1)
        """
        look = getattr(self._execution.engine, "look", self._door.enter)  # the reference engine has none
        with look():
            return why_now(self._execution, job)

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
        >>> so_far.jobs["state"].tolist(), so_far.jobs["finish"]
        (['ended', 'running', 'waiting'], array([10., nan, nan]))
        >>> so_far.metrics["mean_wait"], so_far.span
        (0.0, (0.0, 10.0))
        """
        partial = checks.flag("partial", partial)
        with self._door.enter(True):
            if not self._execution.n_jobs:
                raise OptionError("no job has been submitted yet: there is no result")
            if self.done:
                return self._execution.result()
            if partial:
                return self._execution.result(partial=True)
            raise OptionError(
                f"the simulation is not finished: at {self.now:g} s {self.n_done:,} of "
                f"{self._execution.n_jobs:,} jobs are done; call run() first, or result(partial=True)"
            )


def _door_of(execution: Execution) -> Door:
    """That of the compiled engine, which objects of the core know too; the reference has none."""
    door: Door | None = getattr(execution.engine, "door", None)
    return Door(BusyError, "simulation") if door is None else door


def _which(name: str, given: bool | ArrayLike, log: Workload) -> Unknown:
    """Of all jobs, or of each."""
    if isinstance(given, bool | np.bool_):
        return bool(given)
    mask = np.asarray(given)
    if mask.dtype != np.bool_ or mask.shape != (len(log),):
        raise OptionError(
            f"{name} must be True, False or one of these for each of {len(log)} jobs, got {checks.shown(given)}"
        )
    return mask.copy()


def _log_of(
    submit: ArrayLike | None,
    runtime: ArrayLike | None,
    size: ArrayLike | None,
    estimate: ArrayLike | None,
    id: ArrayLike | None,
    user: ArrayLike | None,
    columns: Mapping[str, ArrayLike] | None,
    unknown: bool | ArrayLike,
) -> tuple[Workload, bool | ArrayLike]:
    """Columns of jobs that arrive, or values of one, as a log, and which run times are unknown."""
    if submit is None or size is None:
        raise OptionError("submit: give submit= and size= of the jobs, or a log")
    many = checks.real_array("submit", np.atleast_1d(submit)) if np.ndim(submit) <= 1 else np.asarray(submit)
    given = {"runtime": runtime, "size": size, "estimate": estimate, "id": id, "user": user}
    parts: dict[str, Any] = {name: _column(value) for name, value in given.items() if value is not None}
    if runtime is None:
        unknown, parts["runtime"] = True, np.zeros(len(many))
    if columns is not None:
        parts["columns"] = {name: _column(value) for name, value in columns.items()}
    return Workload(many, **parts), unknown


def _column(value: ArrayLike) -> object:
    return [value] if np.ndim(value) == 0 else value


def _check_live(options: Options) -> None:
    if options.get("oversized", "error") != "error" or options.get("estimates", "requested") == "actual":
        raise OptionError("live= takes oversized='error' and no estimates='actual'")
    if getattr(options.get("scheduler"), "at", ("schedule",)) != ("schedule",):
        raise NotAvailableError("live= is not available with External(at=...): its caller knows of failures and ticks")
    recovery = options.get("recovery")
    if isinstance(recovery, Recovery) and recovery.is_written():
        raise NotAvailableError("live= is not available with a Recovery of your own: its caller knows of failures")
