"""A run in progress on an engine. The only module that imports the job engines.

The policies of a run are lowered to a plain dict; the engine gets that, the columns of the jobs and those of
`faultsim.simulation.engine_inputs`, and runs in slices, so that Ctrl-C and progress live here; what comes out is a
`Result`.
"""

import time
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faultsim import checks
from faultsim._core.engine import run_together
from faultsim.data.workload import Workload, concat
from faultsim.errors import InputError, NotAvailableError, OptionError
from faultsim.machines import Torus
from faultsim.policies import BOX_ORDERS
from faultsim.policies.adapters import checkpoint_intervals, guarded
from faultsim.policies.registry import from_lowered
from faultsim.results.provenance import Record
from faultsim.results.result import Result
from faultsim.simulation.compatibility import spare_nodes
from faultsim.simulation.core_engine import core_engine, has_inputs, scheduler_parts
from faultsim.simulation.engine_inputs import make_world
from faultsim.simulation.options import RunOptions
from faultsim.simulation.progress import Progress

#: Seconds that a slice of the engine should take: Ctrl-C takes effect between two slices.
SLICE = 0.03
INFINITY = float("inf")
#: Submit time, run time, estimate and size of jobs that the caller has not submitted yet.
_TO_COME = (INFINITY, 0.0, 0.0, 1)
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
    engine : Engine or ReferenceEngine
    """

    def __init__(self, run: RunOptions, engine: str = "core", *, live: int = 0) -> None:
        self._started, self._clock = time.time(), time.perf_counter()
        self._run = run
        self.log = run.fitting_log()
        self._lowered = run.lower()
        self._lowered["engine"] = checks.choice("engine", engine, _ENGINES)
        settings = _engine_settings(self._lowered)
        if run.has_python or "object" in settings["scheduler"]["order"]:
            settings = guarded(settings)
        columns: list[NDArray[Any]] = [
            self.log.submit,
            self.log.runtime,
            run.expected_runtimes(self.log),
            self.log.size,
        ]
        world = {**(make_world(run, float(self.log.submit[0])) or {}), **self._user_rows()}
        policy = run.checkpointing
        if policy is not None and (engine == "core" or policy.is_written()):  # the reference has formulas of its own
            world["checkpoint_interval"] = checkpoint_intervals(policy, self.log)
        if live:
            settings["record"] = True
            world |= {"live": True, "known": len(self.log)}
            if world.get("checkpoint_interval") is not None:
                rest = np.full(live - len(self.log), INFINITY)
                world["checkpoint_interval"] = np.append(world["checkpoint_interval"], rest)
            columns = [
                np.append(column, np.full(live - len(self.log), rest, column.dtype))
                for column, rest in zip(columns, _TO_COME, strict=True)
            ]
        self.engine = _ENGINES[engine](settings, *columns, world)
        self._budget = _first_budget(run)
        self._first_slice: int | None = None

    def _user_rows(self) -> dict[str, Any]:
        """Where the jobs are in the user's log, and all columns of that; rows only if some jobs were dropped."""
        given = self._run.log
        found: dict[str, Any] = {"columns": given.columns}
        if given is not self.log:
            rows = np.flatnonzero(given.size <= self.log.size.max()).astype(np.int32)
            found["rows"], found["jobs"] = rows, np.full(len(given), -1, np.int32)
            found["jobs"][rows] = np.arange(len(rows), dtype=np.int32)
        return found

    def go_on(
        self, until: float = INFINITY, *, report: Progress | None = None, stop: Callable[[], bool] | None = None
    ) -> None:
        """Run the engine in slices of about `SLICE` seconds, to the end or past all events with time <= `until`.

        `report` is called after each slice; raises `Stopped` if `stop` returns True between two.
        """
        engine, total = self.engine, len(self.log)
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

    def submit(self, log: Workload, *, unknown: bool) -> None:
        """Jobs that the caller has got now, behind all that there are."""
        nodes = self._run.machine.nodes - spare_nodes(self._run)
        if int(log.size.max()) > nodes:
            row = int(np.argmax(log.size))
            raise InputError(f"job {log.id[row]} asks for {log.size[row]} nodes, and there are {nodes}")
        estimate = self._run.expected_runtimes(log)
        runtime = np.full(len(log), INFINITY) if unknown else log.runtime
        settings = self.engine.settings
        interval = key = None
        if settings["checkpointing"]:
            interval = checkpoint_intervals(from_lowered("checkpointing", settings["checkpointing"]), log)
        if has_inputs(settings["scheduler"]["order"]["name"]):
            inputs = from_lowered("order", settings["scheduler"]["order"]).inputs(estimate, log.size)
            key = inputs.get("queue_key")
            if getattr(inputs.get("queue_program"), "static", False):
                raise NotAvailableError("live= does not support a fs.Key without `now`, `wait` or `restarts`")
        self.engine.submit(log.submit, runtime, estimate, log.size, interval, key)
        self.log = concat([self.log, log])

    def take_over(self, run: RunOptions) -> None:
        """Go on with another scheduler and queue order, those of `run`."""
        repairs = self._lowered["scheduler"].get("repairs")
        self._run, self._lowered = run, {**run.lower(), "engine": self._lowered["engine"]}
        scheduler = self._lowered["scheduler"]
        if scheduler.get("repairs", repairs) != repairs:
            raise OptionError(f"the simulation has repairs={repairs!r}: give the scheduler that takes over the same")
        columns = self.engine.settings["machine"]["name"], run.expected_runtimes(self.log), self.log.size
        self.engine.take_over(scheduler, *scheduler_parts(scheduler, *columns))

    def copy(self) -> "Execution":
        """An independent copy that continues from here."""
        other = copy(self)
        other.engine = self.engine.copy()
        return other

    def result(self, *, partial: bool = False) -> Result:
        """The result, once everything has happened, or as of now."""
        return Result(
            self.engine.output_so_far() if partial else self.engine.output(),
            Record(
                settings=self._lowered,
                columns=dict(self.log.columns),
                source=self.log.name,
                dropped=dict(self.log.dropped),
                failures=self._run.failures,
                arrays={} if self._run.predictor is None else {"predictor": self._run.predictor.arrays()},
                started=self._started,
                elapsed=time.perf_counter() - self._clock,
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


def _engine_settings(lowered: dict[str, Any]) -> dict[str, Any]:
    """The part of a lowered run that an engine takes."""
    settings = {key: lowered[key] for key in _ENGINE_SETTINGS}
    settings["placement"] = {"box_order": BOX_ORDERS[0], **settings["placement"]}
    settings["recovery"] = lowered["recovery"] if lowered["failures"] else None
    return settings


def _reference(*arguments: Any) -> Any:
    from faultsim.reference.as_engine import ReferenceEngine

    return ReferenceEngine(*arguments)


#: Name -> engine.
_ENGINES: dict[str, Callable[..., Any]] = {"core": core_engine, "reference": _reference}


def _first_budget(run: RunOptions) -> int:
    """Events of the first slice: few if one event can be expensive, so that the first slice is short too."""
    if isinstance(run.machine, Torus):
        return 64 if run.machine.nodes <= 4096 else 1
    return 64 if run.scheduler.is_slow else 4096
