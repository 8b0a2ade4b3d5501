"""`simulate`: what happens to a job log, in order.  The only module that imports the engine.

A log and a machine become a checked `Run`; its policies are lowered to a plain dict; the engine gets that and five
columns and runs in slices, so that Ctrl-C and progress live here; what comes out is a `Result`.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faultsim import checks
from faultsim._core.engine import Engine, use_errors
from faultsim.errors import EngineError, InputError, OptionError
from faultsim.failures import FailureTrace
from faultsim.machine import Cluster, Torus
from faultsim.policies import (
    BOX_ORDERS,
    Checkpointing,
    Migration,
    Placement,
    Predictor,
    Recovery,
    Scheduler,
    from_lowered,
)
from faultsim.policies.adapters import guarded
from faultsim.prediction import make_world
from faultsim.progress import Progress, reporting
from faultsim.provenance import Record
from faultsim.result import Result
from faultsim.run import DEFAULT_SCHEDULER, RunSpec
from faultsim.workload import Workload

__all__ = ["Run", "Simulation", "rerun", "simulate", "simulate_many"]

use_errors(EngineError, InputError)  # the core imports nothing from here

#: Seconds that a slice of the engine should take: Ctrl-C is answered between two slices.
SLICE = 0.03
INFINITY = float("inf")
#: What the engine takes of a lowered run as it is.
_ENGINE_SETTINGS = ("machine", "scheduler", "placement", "migration", "overrun", "start_delay", "record")


def simulate(
    log: Workload,
    machine: Cluster | Torus,
    *,
    scheduler: Scheduler = DEFAULT_SCHEDULER,
    placement: Placement | None = None,
    migration: Migration | None = None,
    failures: FailureTrace | None = None,
    recovery: Recovery | None = None,
    predictor: Predictor | None = None,
    checkpointing: Checkpointing | None = None,
    rescheduling: None = None,
    estimates: str | float = "requested",
    overrun: str = "extend",
    start_delay: float = 0.0,
    seed: int = 0,
    record: bool = False,
    progress: bool | Progress = False,
    oversized: str = "error",
    engine: str = "core",
) -> Result:
    """Simulate a job log on a machine.

    Parameters
    ----------
    log : Workload
        The jobs; times in seconds, sizes in nodes.
    machine : Cluster or Torus
        Where they run.
    scheduler : Scheduler, default EasyBackfill()
        `Fcfs`, `EasyBackfill` or `ConservativeBackfill`, each with ``order=``.
    placement : Placement, optional
        Which free nodes a job gets.  By default `MaxFreePartition` on a torus and `FirstFit` on a cluster.
    migration : Migration, optional
        `Defragment` on a torus, `LeastFailuresMigration` on a cluster; None: running jobs stay where they are.
    failures : FailureTrace, optional
        When which node fails, and for how long it is down; None means that nothing fails.
    recovery : Recovery, optional
        What happens to a job that a failure kills: `Requeue` (the default) or `Hold`.
    predictor : Predictor, optional
        What `Balancing`, `TieBreaking`, `SafestFirst`, `BeforeFailure` and `RiskBased` know of failures to come:
        `Confidence`, `Accuracy`, `IntervalPredictor`, `PredictionTrace`, `Buckets`, `Perfect`, `Blind`.
    checkpointing : Checkpointing, optional
        When jobs save their progress: `NoCheckpoint` (as None), `Periodic`, `Young`, `Daly`, `BeforeFailure`,
        `PredictedWindows`, `RiskBased`.
    rescheduling : None
        Part of the design, not of this version.
    estimates : "requested", "actual" or float, default "requested"
        What the scheduler goes by: the requested time (the run time where it is missing), the run time, or the run
        time times a factor.
    overrun : {"extend", "kill"}, default "extend"
        What happens to a job that outlives its estimate: it goes on, or ends at the estimate and counts as done.
    start_delay : float, default 0
        Seconds between the decision to start a job and its start; its nodes are held meanwhile.
    seed : int, default 0
        Key of the streams that `IntervalPredictor` draws its reports from; nothing else draws random numbers.
    record : bool, default False
        Keep `Result.events` and `Result.allocations`.
    progress : bool or callable(done, total, now), default False
        True shows progress on stderr if that is a terminal.
    oversized : {"error", "drop"}, default "error"
        Whether jobs larger than the machine are an error, or left out and counted in `Result.dropped`.
    engine : {"core", "reference"}, default "core"
        The compiled engine, or its plain Python twin, which is about a hundred times slower and meant for reading.

    Returns
    -------
    Result

    Raises
    ------
    InputError
        If jobs are larger than the machine, or failures are of nodes that it does not have.
    OptionError
        If an option has a value, or a combination of values, without a meaning.
    NotAvailableError
        If a part of the design is asked for that this version does not have.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1, 2], runtime=[10, 10, 5], size=[2, 4, 2])
    >>> result = fs.simulate(log, fs.Cluster(4))
    >>> result.jobs["start"]
    array([ 0., 10.,  2.])
    >>> result.jobs["backfilled"]
    array([False, False,  True])

    Node 0 fails at 15 s and kills the job on it, which starts again when the node is back:

    >>> failures = fs.FailureTrace([15], [0], [5], span=60)
    >>> result = fs.simulate(log, fs.Cluster(4), failures=failures)
    >>> result.jobs["finish"], result.jobs["lost_work"]
    (array([10., 30.,  7.]), array([ 0., 20.,  0.]))
    """
    run = Run(
        log,
        machine,
        scheduler=scheduler,
        placement=placement,
        migration=migration,
        failures=failures,
        recovery=recovery,
        predictor=predictor,
        checkpointing=checkpointing,
        rescheduling=rescheduling,
        estimates=estimates,
        overrun=overrun,
        start_delay=start_delay,
        seed=seed,
        record=record,
        oversized=oversized,
    )
    return run.simulate(progress=progress, engine=engine)


@dataclass(frozen=True)
class Run(RunSpec):
    """Everything that `simulate` takes, checked and frozen: for `simulate_many`, sweeps and step-by-step use.

    The parameters are those of `simulate` without ``progress`` and ``engine``.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> run = fs.Run(log, fs.Cluster(2), scheduler=fs.Fcfs())
    >>> run.simulate().jobs["wait"]
    array([0., 9.])
    """

    def simulate(self, *, progress: bool | Progress = False, engine: str = "core") -> Result:
        """Run it to the end.

        Raises
        ------
        InputError
            If jobs are larger than the machine.
        """
        simulation = Simulation._of(self, engine)
        if progress is False:
            simulation._drive(INFINITY, None)
        else:
            with reporting(progress, "jobs") as report:
                simulation._drive(INFINITY, report)
        return simulation.result()


class Simulation:
    """A run, step by step: as a backend for other programs, for teaching, and for looking inside.

    Takes what `simulate` takes, without ``progress``.

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
        self._begin(Run(log, machine, **options), engine)

    @classmethod
    def _of(cls, run: Run, engine: str) -> "Simulation":
        simulation = cls.__new__(cls)
        simulation._begin(run, engine)
        return simulation

    def _begin(self, run: Run, engine: str) -> None:
        self._started, self._clock = time.time(), time.perf_counter()
        self._run = run
        self._log = run.fitting_log()
        self._lowered = run.lower()
        self._lowered["engine"] = checks.choice("engine", engine, _ENGINES)
        settings = _engine_settings(self._lowered)
        if run.has_python:
            settings = guarded(settings)
        columns = (self._log.submit, self._log.runtime, run.expected_runtimes(self._log), self._log.size)
        world = make_world(run, float(self._log.submit[0]))
        self._engine = _ENGINES[engine](settings, *columns, world)
        self._budget = _first_budget(run)

    # -- going on

    def run(self, until: float | None = None) -> None:
        """Go on to the end, or until all events with time <= `until` (s) have been handled.

        Ctrl-C stops it between two slices of about 0.03 s; it can go on afterwards.
        """
        last = INFINITY if until is None else checks.number("until", until, finite=False, unit="seconds")
        self._drive(last, None)

    def step(self) -> bool:
        """Handle one instant: all its events and scheduling passes.  False if nothing was left.

        Examples
        --------
        >>> import faultsim as fs
        >>> sim = fs.Simulation(fs.Workload(submit=[3], runtime=[10], size=[2]), fs.Cluster(2))
        >>> sim.step(), sim.now, sim.step(), sim.now, sim.step()
        (True, 3.0, True, 13.0, False)
        """
        return bool(self._engine.step())

    def _drive(self, until: float, report: Progress | None, stop: Callable[[], bool] | None = None) -> None:
        """Run the engine in slices of about `SLICE` seconds."""
        engine, total = self._engine, len(self._log)
        while True:
            began = time.perf_counter()
            if engine.run(self._budget, until) != "budget":
                break
            spent = time.perf_counter() - began
            self._budget = max(1, int(self._budget * min(4.0, max(0.05, SLICE / max(spent, 1e-9)))))
            if report is not None:
                report(engine.n_done, total, engine.now)
            if stop is not None and stop():
                raise _Stopped
        if report is not None:
            report(engine.n_done, total, engine.now)

    def copy(self) -> "Simulation":
        """An independent copy that goes on from here.

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
        other.__dict__.update(self.__dict__)
        other._engine = self._engine.copy()
        return other

    # -- looking

    @property
    def now(self) -> float:
        """Simulated time in seconds."""
        return float(self._engine.now)

    @property
    def queue(self) -> NDArray[np.int32]:
        """Rows of the waiting jobs, in queue order."""
        rows: NDArray[np.int32] = self._engine.queue()
        return rows

    @property
    def running(self) -> NDArray[np.int32]:
        """Rows of the jobs that hold nodes, ascending."""
        rows: NDArray[np.int32] = self._engine.running()
        return rows

    @property
    def free(self) -> int:
        """Number of free nodes."""
        return int(self._engine.free)

    @property
    def n_done(self) -> int:
        """Number of jobs that have ended."""
        return int(self._engine.n_done)

    @property
    def done(self) -> bool:
        """Whether nothing is left to happen."""
        return self.n_done == len(self._log)

    @property
    def log(self) -> Workload:
        """The jobs that are simulated: the rows of `queue` and `running` are rows of this."""
        return self._log

    def verify(self) -> None:
        """Check the invariants of MODEL.md section 16; `EngineError` if one is broken, which would be a bug."""
        self._engine.verify()

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
                f"{len(self._log):,} jobs are done; call run() first"
            )
        log = self._log
        return Result(
            self._engine.output(),
            Record(
                settings=self._lowered,
                columns=dict(log.columns),
                source=log.name,
                dropped=dict(log.dropped),
                failures=self._run.failures,
                arrays={} if self._run.predictor is None else {"predictor": self._run.predictor.arrays()},
                started=self._started,
                elapsed=time.perf_counter() - self._clock,
            ),
        )


class _Stopped(Exception):
    """Another run of the same `simulate_many` failed, or the user pressed Ctrl-C."""


def simulate_many(
    runs: Iterable[Run], *, threads: int | None = None, progress: bool | Progress = False
) -> list[Result]:
    """Simulate many runs on threads; the engine runs without the interpreter's lock.

    Runs with a policy written in Python need the lock all the time: they are done one after the other in the calling
    thread, while the threads work on the others.  The results are the same bytes for every number of threads.

    Parameters
    ----------
    runs : iterable of Run
        What to simulate.
    threads : int, optional
        Number of threads; by default as many as this process may use cores.
    progress : bool or callable(done, total, now), default False
        As for `simulate`, in runs; ``now`` is the number of seconds since the beginning.

    Returns
    -------
    list of Result
        In the order of `runs`.

    Raises
    ------
    InputError, OptionError
        Of the first run that fails; those that have not begun are left out.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> runs = [fs.Run(log, fs.Cluster(nodes)) for nodes in (2, 4)]
    >>> [result.metrics["mean_wait"] for result in fs.simulate_many(runs, threads=2)]
    [4.5, 0.0]
    """
    todo = _checked_runs(runs)
    n_threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if threads is not None:
        n_threads = checks.whole("threads", threads, low=1)
    stop = threading.Event()
    began = time.perf_counter()
    finished = 0

    with reporting(progress, "runs") as report:
        results: list[Result | None] = [None] * len(todo)

        def take(rows: list[int], made: list[Result]) -> None:
            nonlocal finished
            for row, result in zip(rows, made, strict=True):
                results[row] = result
                finished += 1
                if report is not None:
                    report(finished, len(todo), time.perf_counter() - began)

        with ThreadPoolExecutor(n_threads, thread_name_prefix="faultsim") as pool:
            try:
                compiled = [row for row, run in enumerate(todo) if not run.has_python]
                # A task costs as much as a short run, so threads take several at a time where there are many.
                chunk = max(1, min(16, len(compiled) // (8 * n_threads)))
                futures: dict[Future[list[Result]], list[int]] = {}
                for first in range(0, len(compiled), chunk):
                    rows = compiled[first : first + chunk]
                    futures[pool.submit(_to_the_end, [todo[row] for row in rows], stop)] = rows
                for row, run in enumerate(todo):
                    if run.has_python:
                        take([row], [run.simulate()])
                for future in as_completed(futures):
                    take(futures[future], future.result())
            except BaseException:
                stop.set()  # the threads look at it between two slices
                pool.shutdown(wait=True, cancel_futures=True)
                raise
    return [result for result in results if result is not None]


def _to_the_end(runs: list[Run], stop: threading.Event) -> list[Result]:
    results = []
    for run in runs:
        if stop.is_set():
            raise _Stopped
        simulation = Simulation._of(run, "core")
        simulation._drive(INFINITY, None, stop.is_set)
        results.append(simulation.result())
    return results


def _checked_runs(runs: Iterable[Run]) -> Sequence[Run]:
    todo = list(runs)
    for row, run in enumerate(todo):
        if not isinstance(run, Run):
            raise OptionError(f"simulate_many takes Run objects, item {row} is {run!r:.60}")
    return todo


def rerun(
    result: Result,
    *,
    scheduler: Scheduler | None = None,
    placement: Placement | None = None,
    progress: bool | Progress = False,
) -> Result:
    """Run again what made a result; the same version gives the same bytes.

    Parameters
    ----------
    result : Result
        A result of this session, or a loaded one: the workload is inside.
    scheduler, placement : optional
        Needed only for a loaded result that used a policy written in Python, which does not travel.

    Raises
    ------
    OptionError
        If a policy written in Python is needed and not given.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> result = fs.simulate(log, fs.Cluster(2))
    >>> bool((fs.rerun(result).jobs["start"] == result.jobs["start"]).all())
    True
    """
    record = result.record
    options = dict(record.settings)
    options.pop("machine")
    engine = options.pop("engine")
    for kind in ("scheduler", "placement", "migration", "recovery", "predictor", "checkpointing"):
        given = {"scheduler": scheduler, "placement": placement}.get(kind)
        options[kind] = from_lowered(kind, options[kind], record.arrays.get(kind)) if given is None else given
    options["failures"] = record.failures
    columns: dict[str, Any] = dict(record.columns)
    log = Workload(**columns, dropped=record.dropped, name=record.source)
    return Run(log, result.machine, **options).simulate(progress=progress, engine=engine)


# -- engines


def _engine_settings(lowered: dict[str, Any]) -> dict[str, Any]:
    """What an engine takes of a lowered run."""
    settings = {key: lowered[key] for key in _ENGINE_SETTINGS}
    settings["placement"] = {"box_order": BOX_ORDERS[0], **settings["placement"]}
    settings["recovery"] = lowered["recovery"] if lowered["failures"] else None
    checkpointing = lowered["checkpointing"]
    settings["checkpointing"] = checkpointing if checkpointing and checkpointing["name"] != "none" else None
    return settings


def _reference(*arguments: Any) -> Any:
    from faultsim.reference.as_engine import ReferenceEngine

    return ReferenceEngine(*arguments)


#: Name -> engine.
_ENGINES: dict[str, Callable[..., Any]] = {"core": Engine, "reference": _reference}


def _first_budget(run: Run) -> int:
    """Events of the first slice: few where one event can be dear, so that the first slice is short as well."""
    if isinstance(run.machine, Torus):
        return 64 if run.machine.nodes <= 4096 else 1
    return 64 if run.scheduler.name == "conservative" else 4096
