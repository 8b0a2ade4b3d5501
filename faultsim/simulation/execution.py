"""A run in progress on an engine. The only module that imports the job engines.

The policies of a run are lowered to a plain dict; the engine gets that, the columns of the jobs and those of
`faultsim.simulation.engine_inputs`, and runs in slices, so that Ctrl-C and progress live here; what comes out is a
`Result`.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from faultsim import checks
from faultsim._core.engine import run_together
from faultsim._core.scheduling.expressions import values
from faultsim.data.event_kinds import NUMBER_TIMED_OUT
from faultsim.data.workload import Workload
from faultsim.errors import DecisionError, InputError, NotAvailableError, OptionError
from faultsim.machines import Pod, Torus
from faultsim.machines.pod_jobs import SHAPE, check_shapes, shape_ranks
from faultsim.policies import BOX_ORDERS
from faultsim.policies.adapters import checked_predictions, guarded, planned_intervals
from faultsim.results.ledger import without_negative
from faultsim.results.provenance import Record
from faultsim.results.result import Result
from faultsim.simulation.compatibility import most_nodes
from faultsim.simulation.core_engine import core_engine, has_inputs, order_inputs, scheduler_parts
from faultsim.simulation.engine_inputs import make_world
from faultsim.simulation.options import RunOptions
from faultsim.simulation.progress import Progress
from faultsim.simulation.slowness import clocks
from faultsim.simulation.told import Told
from faultsim.simulation.without_effect import recovers, without_effect

if TYPE_CHECKING:
    from faultsim.explain.moment import Moment, Moments

#: Seconds that a slice of the engine should take: Ctrl-C takes effect between two slices.
SLICE = 0.03
INFINITY = float("inf")
#: Submit time, run time, estimate and size of jobs that the caller has not submitted yet.
_TO_COME = (INFINITY, 0.0, 0.0, 1)
#: Which run times nobody knows: of all jobs, or of each.
Unknown = bool | NDArray[np.bool_]
#: What the engine takes unchanged from a lowered run.
_ENGINE_SETTINGS = (
    "machine",
    "scheduler",
    "placement",
    "migration",
    "checkpointing",
    "rescheduling",
    "overrun",
    "start_delay",
    "record",
)


class Stopped(Exception):
    """A run was told to stop between two slices: another run failed, or the user pressed Ctrl-C."""


class Execution:
    """One run on one engine: what `Run.simulate`, `Simulation`, `simulate_many` and the workers of sweeps drive.

    Attributes
    ----------
    log : Workload
        The jobs that are simulated.
    n_jobs : int
        How many they are.
    engine : Engine or ReferenceEngine
    """

    def __init__(
        self,
        run: RunOptions,
        engine: str = "core",
        *,
        live: int = 0,
        unknown: Unknown = False,
        oracle_runtimes: bool = False,
    ) -> None:
        self._started, self._clock = time.time(), time.perf_counter()
        self._run = run
        self._log = run.fitting_log()
        self._told = Told(self._log) if live else None
        self._lowered = run.lower()
        self._lowered["engine"] = checks.choice("engine", engine, _ENGINES)
        if not live and (unused := without_effect(run)):
            self._lowered["without_effect"] = unused
        settings = _engine_settings(self._lowered, run)
        if run.has_python or "object" in settings["scheduler"]["order"]:
            settings = guarded(settings)
        estimate = run.expected_runtimes(self._log)
        columns: list[NDArray[Any]] = [self._log.submit, self._log.runtime, estimate, self._log.size]
        world = {**(make_world(run, float(self._log.submit[0])) or {}), **self._user_rows()}
        if oracle_runtimes:
            world["oracle_runtimes"] = self._lowered["oracle_runtimes"] = True
        if (slow := clocks(run, self._log)) is not None:
            world["clocks"] = slow
        policy = run.checkpointing
        own = policy is not None and policy.is_written() and not policy.is_asked()
        if policy is not None and (engine == "core" or own):  # the reference has formulas of its own
            world["checkpoint_interval"] = planned_intervals(policy, self._log, estimate)
        if (ranks := _ranks(run, self._log)) is not None:
            world["shape_rank"] = ranks
        if live:
            if run.failures is not None:
                run.failures.refuse_slowdowns("live=")
            columns[1] = self._runtimes(self._log, unknown)
            columns = self._make_room(live, settings, columns, world)
        self.engine = _ENGINES[engine](settings, *columns, world)
        self._world = world
        self._moments: Moments | None = None
        self._budget = _first_budget(run)
        self._first_slice: int | None = None

    def _make_room(
        self, live: int, settings: dict[str, Any], columns: list[NDArray[Any]], world: dict[str, Any]
    ) -> list[NDArray[Any]]:
        """For jobs that the caller has not submitted yet."""
        known, rest = len(self._log), live - len(self._log)
        settings["record"] = self._lowered["live"] = True
        rows, jobs = np.arange(live, dtype=np.int32), np.full(live, -1, np.int32)
        jobs[:known] = rows[:known]
        world |= {"live": True, "known": known, "rows": rows, "jobs": jobs, "columns": self._told}
        if world.get("checkpoint_interval") is not None:
            world["checkpoint_interval"] = np.append(world["checkpoint_interval"], np.full(rest, INFINITY))
        if "shape_rank" in world:
            world["shape_rank"] = np.append(world["shape_rank"], np.zeros(rest, np.int32))
        return [
            np.append(column, np.full(rest, value, column.dtype))
            for column, value in zip(columns, _TO_COME, strict=True)
        ]

    def _runtimes(self, log: Workload, unknown: Unknown) -> NDArray[np.float64]:
        """Run times, infinite where nobody knows them."""
        which = np.broadcast_to(unknown, len(log))
        if not which.any():
            return log.runtime
        if self._run.estimates != "requested":
            raise OptionError(f"estimates={self._run.estimates!r} are of run times, and some are unknown")
        if (log.estimate[which] < 0).any():
            row = int(np.flatnonzero(which & (log.estimate < 0))[0])
            raise InputError(f"job {log.id[row]} has no requested time: one whose run time is unknown needs it")
        return np.where(which, INFINITY, log.runtime)

    @property
    def log(self) -> Workload:
        return self._log if self._told is None else self._told.log

    @property
    def n_jobs(self) -> int:
        return len(self._log) if self._told is None else self._told.n_jobs

    def _user_rows(self) -> dict[str, Any]:
        """Where the jobs are in the user's log, and all columns of that; rows only if some jobs were dropped."""
        given = self._run.log
        found: dict[str, Any] = {"columns": given.columns}
        if given is not self._log:
            rows = np.flatnonzero(given.size <= self._log.size.max()).astype(np.int32)
            found["rows"], found["jobs"] = rows, np.full(len(given), -1, np.int32)
            found["jobs"][rows] = np.arange(len(rows), dtype=np.int32)
        return found

    def go_on(
        self, until: float = INFINITY, *, report: Progress | None = None, stop: Callable[[], bool] | None = None
    ) -> None:
        """Run the engine in slices of about `SLICE` seconds, to the end or past all events with time <= `until`.

        `report` is called after each slice; raises `Stopped` if `stop` returns True between two.
        """
        engine, total = self.engine, self.n_jobs
        code, self._first_slice = self._first_slice, None
        if code is not None and _went(engine.conclude(code)) != "budget":
            return
        while True:
            began = time.perf_counter()
            if _went(engine.run(self._budget, until)) != "budget":
                break
            self._budget = next_budget(self._budget, time.perf_counter() - began)
            if report is not None:
                report(engine.n_done, total, engine.now)
            if stop is not None and stop():
                raise Stopped
        if report is not None:
            report(engine.n_done, total, engine.now)

    def submit(self, log: Workload, *, unknown: Unknown) -> Workload:
        """Jobs that the caller has got now; their rows are behind all that there are.  Returns them with their ids."""
        if self._told is None:
            raise DecisionError("only a simulation that was made with live= takes this")
        log = self._told.numbered(log)
        nodes = most_nodes(self._run)
        if int(log.size.max()) > nodes:
            row = int(np.argmax(log.size))
            raise InputError(f"job {log.id[row]} asks for {log.size[row]} nodes, and there are {nodes}")
        runtime, estimate = self._runtimes(log, unknown), self._run.expected_runtimes(log)
        interval = planned_intervals(self._run.checkpointing, log, estimate)
        told = self._told.and_then(log)
        if isinstance(self._run.machine, Pod):
            check_shapes(self._run.machine, log)
        rank = _ranks(self._run, log)
        key, further = self._keys_of(log, estimate)
        self.engine.submit(log.submit, runtime, estimate, log.size, interval, rank, key, told, further)
        self._told = told
        return log

    def _keys_of(
        self, log: Workload, estimate: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
        """Of jobs that come later, the keys of an order by which they never change, and the columns that it names."""
        order = self._lowered["scheduler"]["order"]
        if not has_inputs(order["name"]):
            return None, None
        inputs = order_inputs(order, estimate, log.size, {"columns": log.columns})
        further: NDArray[np.float64] | None = inputs.get("queue_columns")
        if not getattr(inputs.get("queue_program"), "static", False):
            return inputs.get("queue_key"), further
        rows = np.arange(self.n_jobs, self.n_jobs + len(log), dtype=np.int32)
        if further is not None:  # by row
            further = np.hstack([np.zeros((len(further), self.n_jobs)), further])
        key: NDArray[np.float64] = values(
            inputs["queue_program"], log.submit, estimate, log.size, rows, np.zeros(len(log), np.int32), 0.0, further
        )
        for at in np.flatnonzero(np.isnan(key))[:1].tolist():
            raise inputs["queue_refused"](int(rows[at]), float(log.submit[at]))
        return key, None

    def foresee(self, given: Mapping[str, Any]) -> None:
        """Predictions that the caller has got now, in columns as of `Predictor.predict`."""
        for policy in (self._run.rescheduling, self._run.checkpointing):
            if policy is not None and policy.plans_ahead:
                raise NotAvailableError(
                    f"foresee is not available with {policy!r}, which plans its {policy.plans_ahead} before the run"
                )
        table = checked_predictions("foresee takes", given, self._run.machine, "foresee")
        self.engine.foresee(table["begin"], table["end"], table["node"], table["p"])

    def take_over(self, run: RunOptions) -> None:
        """Go on with another scheduler and queue order, those of `run`."""
        repairs = self._lowered["scheduler"].get("repairs")
        self._run, self._lowered = run, {**run.lower(), "engine": self._lowered["engine"]}
        scheduler = self._lowered["scheduler"]
        if scheduler.get("repairs", repairs) != repairs:
            raise OptionError(f"the simulation has repairs={repairs!r}: give the scheduler that takes over the same")
        columns = self.engine.settings["machine"]["name"], run.expected_runtimes(self.log), self.log.size
        self.engine.take_over(scheduler, *scheduler_parts(scheduler, *columns, self._user_rows()))

    def moment(self, row: int) -> "Moment":
        """What there is now, for an explanation of the job of a row."""
        from faultsim.explain.moment import Moments, of_reference

        ids = self.log.id
        if hasattr(self.engine, "state"):
            return of_reference(self.engine.state, ids)
        if self._moments is None or self._moments.settings is not self.engine.settings:  # another scheduler took over
            self._moments = Moments(self.engine.settings, self._world)
        return self._moments.of(self.engine.snapshot(row, self._moments.most), ids)

    def copy(self) -> "Execution":
        """An independent copy that continues from here."""
        other = copy(self)
        other._moments = None
        other.engine = self.engine.copy()
        return other

    def output(self) -> tuple[dict[str, Any], int, dict[str, Any]]:
        """What `Result` is made of, once everything has happened, for who wants no more than some numbers.

        Columns, counts and ledger by name, the nodes of the machine, and the lowered run.
        """
        output = _settled(self.engine.output())
        output["submit"], output["size"] = self._log.submit, self._log.size
        if self._lowered["overrun"] == "kill":
            states = output.get("state")  # some were killed for good; else states follow from run times
            output["cut"] = output["runtime"] < self._log.runtime if states is None else states == NUMBER_TIMED_OUT
        return output, self._run.machine.nodes, self._lowered

    def result(self, *, partial: bool = False) -> Result:
        """The result, once everything has happened, or as of now."""
        log = self.log
        return Result(
            _settled(self.engine.output_so_far() if partial else self.engine.output()),
            Record(
                settings=self._lowered,
                columns=log.columns.copy() if self._told is None else dict(self._told),
                source=log.name,
                dropped=log.dropped.copy(),
                failures=self._run.failures,
                arrays={} if self._run.predictor is None else {"predictor": self._run.predictor.arrays()},
                started=self._started,
                elapsed=time.perf_counter() - self._clock,
                recorded_wait=log.recorded_wait if self._told is None else None,
                comments=log.comments,
            ),
        )


def first_slices(executions: Sequence[Execution]) -> None:
    """Run the first slice of each, on the compiled engine; `Execution.go_on` says how it ended, and continues.

    The global interpreter lock is released once for all of them; short runs would wait for it longer than they take.
    """
    codes = run_together([one.engine for one in executions], [one._budget for one in executions])
    for one, code in zip(executions, codes, strict=True):
        one._first_slice = code


def next_budget(budget: int, spent: float) -> int:
    """Events of the next slice, so that it takes about `SLICE` seconds, given that `budget` events took `spent`."""
    return max(1, int(budget * min(4.0, max(0.05, SLICE / max(spent, 1e-9)))))


def _went(reason: str) -> str:
    """Why a slice ended, unless it was that nobody decides."""
    if reason == "decide":
        raise OptionError("scheduler=External() leaves every decision to the caller: use Simulation(...).advance()")
    return reason


# -- engines


def _engine_settings(lowered: dict[str, Any], run: RunOptions) -> dict[str, Any]:
    """The part of a lowered run that an engine takes."""
    settings = {key: lowered[key] for key in _ENGINE_SETTINGS}
    settings["placement"] = {"box_order": BOX_ORDERS[0], **settings["placement"]}
    recovery = lowered["recovery"]
    settings["recovery"] = recovery if recovery and (lowered["failures"] or recovers(run)) else None
    return settings


def _settled(output: dict[str, Any]) -> dict[str, Any]:
    """What an engine gives, with no account of the ledger below 0."""
    output["ledger"] = without_negative(output["ledger"])
    return output


def _reference(*arguments: Any) -> Any:
    from faultsim.reference.as_engine import ReferenceEngine

    return ReferenceEngine(*arguments)


#: Name -> engine.
_ENGINES: dict[str, Callable[..., Any]] = {"core": core_engine, "reference": _reference}


def _ranks(run: RunOptions, log: Workload) -> NDArray[np.int32] | None:
    """Which shapes the jobs ask for, where that matters."""
    if isinstance(run.machine, Pod) and run.machine.wiring == "static" and SHAPE in log.further:
        return shape_ranks(run.machine, log)
    return None


def _first_budget(run: RunOptions) -> int:
    """Events of the first slice: few if one event can be expensive, so that the first slice is short too."""
    if isinstance(run.machine, Torus):
        return 64 if run.machine.nodes <= 4096 else 1
    if isinstance(run.machine, Pod):
        return 64
    return 64 if run.scheduler.is_slow else 4096
