"""`simulate`: what happens to a job log, in order.  The only module that imports the engine.

A log and a machine become a checked `Run`; its policies are lowered to a plain dict; the engine gets that and five
columns and runs in slices, so that Ctrl-C and progress live here; what comes out is a `Result`.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faultsim import checks
from faultsim._core.engine import Engine, run_together, use_errors
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.errors import EngineError, InputError, OptionError
from faultsim.machines import Cluster, Torus
from faultsim.policies import (
    BOX_ORDERS,
    Checkpointing,
    Migration,
    Placement,
    Predictor,
    Recovery,
    Rescheduling,
    Scheduler,
    from_lowered,
)
from faultsim.policies.adapters import guarded
from faultsim.results.provenance import Record
from faultsim.results.result import Result
from faultsim.simulation.engine_inputs import make_world
from faultsim.simulation.progress import Progress, reporting
from faultsim.simulation.run import DEFAULT_SCHEDULER, RunSpec

__all__ = ["Run", "Simulation", "Stopped", "first_slices", "rerun", "simulate"]

use_errors(EngineError, InputError)  # the core imports nothing from here

#: Seconds that a slice of the engine should take: Ctrl-C is answered between two slices.
SLICE = 0.03
INFINITY = float("inf")
#: What the engine takes of a lowered run as it is.
_ENGINE_SETTINGS = (
    "machine",
    "scheduler",
    "placement",
    "migration",
    "rescheduling",
    "overrun",
    "start_delay",
    "record",
)


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
    rescheduling: Rescheduling | None = None,
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
        What `Balancing`, `TieBreaking`, `SafestFirst`, `BeforeFailure`, `RiskBased` and `Fars` know of coming failures:
        `Confidence`, `Accuracy`, `IntervalPredictor`, `PredictionTrace`, `Buckets`, `Perfect`, `Blind`.
    checkpointing : Checkpointing, optional
        When jobs save their progress: `NoCheckpoint` (as None), `Periodic`, `Young`, `Daly`, `BeforeFailure`,
        `PredictedWindows`, `RiskBased`.
    rescheduling : Rescheduling, optional
        `Fars`: running jobs move away from nodes that are predicted to fail.  It needs a predictor that says where.
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
        Whether jobs larger than the machine (without its spare nodes, with `Static`) are an error, or left out and
        counted in `Result.dropped`.
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
        If the reference engine is asked for what it does not know.

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
                raise Stopped
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
        """Check the invariants (model.md#invariants); `EngineError` if one is broken, which would be a bug."""
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
    for kind in ("scheduler", "placement", "migration", "recovery", "predictor", "checkpointing", "rescheduling"):
        given = {"scheduler": scheduler, "placement": placement}.get(kind)
        options[kind] = from_lowered(kind, options[kind], record.arrays.get(kind)) if given is None else given
    options["failures"] = record.failures
    columns: dict[str, Any] = dict(record.columns)
    log = Workload(**columns, dropped=record.dropped, name=record.source)
    return Run(log, result.machine, **options).simulate(progress=progress, engine=engine)


class Stopped(Exception):
    """A run was told to stop between two slices: another run failed, or the user pressed Ctrl-C."""


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


def first_slices(simulations: Sequence[Simulation]) -> list[int]:
    """Run the first slice of each on the compiled engine; statuses for ``_engine.conclude``.

    The interpreter's lock is let go once for all, which short runs wait for longer than they take.
    """
    return run_together([one._engine for one in simulations], [one._budget for one in simulations])


def _first_budget(run: Run) -> int:
    """Events of the first slice: few where one event can be dear, so that the first slice is short as well."""
    if isinstance(run.machine, Torus):
        return 64 if run.machine.nodes <= 4096 else 1
    return 64 if run.scheduler.name == "conservative" else 4096
