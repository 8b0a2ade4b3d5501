"""A run in progress on an engine. The only module that imports the job engines.

The policies of a run are lowered to a plain dict; the engine gets that, the columns of the jobs and those of
`faultsim.simulation.engine_inputs`, and runs in slices, so that Ctrl-C and progress live here; what comes out is a
`Result`.
"""

import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from faultsim import checks
from faultsim._core.engine import run_together
from faultsim._core.orders.expressions import values
from faultsim.arrays import Floats
from faultsim.data.event_kinds import FIRST_WITHOUT_RUN, NUMBER_TIMED_OUT
from faultsim.data.workload import Workload
from faultsim.data.world import AskRows
from faultsim.errors import DecisionError, InputError, NotAvailableError, OptionError
from faultsim.policies import External, HotSpares
from faultsim.policies.given_columns import checked_predictions
from faultsim.results.ledger import without_negative
from faultsim.results.provenance import Record
from faultsim.results.result import Result
from faultsim.simulation.absences import user_groups
from faultsim.simulation.core_engine import core_engine, has_inputs, order_inputs, scheduler_parts
from faultsim.simulation.eligibility import refuse_conditions
from faultsim.simulation.jobs import expected_runtimes
from faultsim.simulation.lowering import INFINITY, LoweredRun, Unknown, known_runtimes, lower
from faultsim.simulation.options import RunOptions
from faultsim.simulation.progress import Progress
from faultsim.simulation.told import OneJob, Told
from faultsim.simulation.whole_nodes import as_counts

if TYPE_CHECKING:
    from faultsim.explain.moment import Moment, Moments

#: Seconds that a slice of the engine should take: Ctrl-C takes effect between two slices.
SLICE = 0.03
_MOST_ID = 2**62


class Stopped(Exception):
    """A run was told to stop between two slices: another run failed, or the user pressed Ctrl-C."""


class Wishes(TypedDict, total=False):
    """What a job asks for from now on, where that is other than before; durations in seconds once they are checked."""

    estimate: checks.Duration | None
    size: int | None
    priority: float | None
    begin: checks.Duration | None


class Change(TypedDict, total=False):
    """The same, checked."""

    estimate: float
    size: int
    priority: float
    begin: float


class Execution:
    """One run on one engine: what `Run.simulate`, `Simulation`, `simulate_many` and the workers of sweeps drive.

    With `to_the_end`, only its output is read, so that the engine need not know more of it (`as_counts`).

    Attributes
    ----------
    log : Workload
        The jobs that are simulated.
    n_jobs : int
        How many they are.
    engine : Engine or ReferenceEngine
    world : World
        What it was given besides jobs and settings.
    """

    def __init__(
        self,
        run: RunOptions,
        engine: str = "core",
        *,
        live: int = 0,
        unknown: Unknown = False,
        oracle_runtimes: bool = False,
        empty: bool = False,
        to_the_end: bool = False,
    ) -> None:
        self._started, self._clock = time.time(), time.perf_counter()
        checks.choice("engine", engine, _ENGINES)
        given = lower(run, engine, live=live, unknown=unknown, oracle_runtimes=oracle_runtimes, empty=empty)
        self._run, self._log, self._told, self._lowered = run, given.log, given.told, given.provenance
        settings, world = given.settings, given.world
        if to_the_end and engine == "core":
            settings, world = as_counts(settings, given.log.size, world)
        self.engine = _ENGINES[engine](settings, *given.columns, world)
        self.engine.changer = weakref.WeakMethod(self.decided_change)
        self.world = given.world
        self._largest_alone = _largest_alone(run, given)
        self._moments: Moments | None = None
        self.postponed: dict[int, float] = {}  # row of a job in the user's log -> the earliest start that it got
        self._budget = run.machine.first_events(64 if run.scheduler.is_slow else 4096)
        self._first_slice: int | None = None

    @property
    def log(self) -> Workload:
        return self._log if self._told is None else self._told.log

    @property
    def drops_jobs(self) -> bool:
        """Whether jobs were left out of the log; those that come with live= have rows of their own, in order."""
        return self._told is None and self.world.rows is not None

    @property
    def n_jobs(self) -> int:
        return len(self._log) if self._told is None else self._told.n_jobs

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
        refuse_conditions(log, "live=")
        machine = self._run.machine
        log = machine.prepared(self._told.numbered(log))
        told = self._told.and_then(log)
        try:
            self._submit(log, told, unknown)
        except BaseException:
            told.undo()
            raise
        return log

    def _submit(self, log: Workload, told: Told, unknown: Unknown) -> None:
        machine = self._run.machine
        machine.check_log(log)
        self._check_sizes(log)
        runtime, estimate = known_runtimes(self._run, log, unknown), expected_runtimes(self._run, log)
        saving, asks = self._run.checkpointing, machine.asks(log)
        counted = log if asks is None else log._derived(size=machine.job_nodes(log))
        interval = None if saving is None else saving.planned_intervals(counted, estimate)
        rank = self._run.place_ranks(log)
        groups = user_groups(self._run, log.user, more=True)
        key, further = self._keys_of(log, estimate)
        self.engine.submit(log.submit, runtime, estimate, log.size, interval, rank, groups, key, told, further, asks)
        self._told = told
        if asks is not None:
            self._note_asks(asks)

    def _check_sizes(self, log: Workload) -> None:
        """Refuse jobs that the machine cannot hold."""
        for row, why in list(self._run.machine.refusals(log).items())[:1]:
            raise InputError(f"job {log.id[row]} (row {row}) {why}")
        if self._run.machine.asks(log) is not None:
            return
        nodes = self._run.most_nodes
        if int(log.size.max()) > nodes:
            row = int(np.argmax(log.size))
            raise InputError(f"job {log.id[row]} asks for {log.size[row]} nodes, and there are {nodes}")
        for row in np.flatnonzero(self._run.refused_sizes(log.size))[:1].tolist():
            raise InputError(f"job {log.id[row]}: no listed shape has {log.size[row]} nodes")

    def _note_asks(self, asks: AskRows) -> None:
        """The jobs that came last ask for this; `World.asks` is by row."""
        assert self.world.asks is not None
        before = AskRows(*(column[: self.n_jobs - len(asks.nodes)] for column in self.world.asks.columns()))
        self.world, self._moments = replace(self.world, asks=before.and_then(asks)), None

    def submit_one(
        self, submit: float, runtime: float | None, size: int, estimate: float | None, number: int | None
    ) -> int | None:
        """A job with no more than this to tell; its id, or None if only `submit` can take it, or say why not."""
        if not (0.0 <= submit <= checks.LATEST and 1 <= size <= self._largest_alone):
            return None
        expected = runtime if estimate is None else estimate
        if expected is None or not 0.0 <= expected <= checks.LATEST:
            return None
        if runtime is None:
            logged, runtime = 0.0, INFINITY
        elif 0.0 <= runtime <= checks.LATEST:
            logged = runtime
        else:
            return None
        assert self._told is not None  # else `_largest_alone` is 0
        number = self._told.takes_one(number)
        if number is None or not 0 <= number < _MOST_ID:
            return None
        told = self._told.and_one(OneJob(number, submit, logged, -1.0 if estimate is None else estimate, size))
        try:
            self.engine.submit_one(submit, runtime, expected, size, told)
        except BaseException:
            told.undo()
            raise
        self._told = told
        return number

    def _keys_of(self, log: Workload, estimate: Floats) -> tuple[Floats | None, Floats | None]:
        """Of jobs that come later, the keys of an order by which they never change, and the columns that it names."""
        order = self._lowered["scheduler"]["order"]
        if not has_inputs(order["name"]):
            return None, None
        inputs = order_inputs(order, estimate, log.size, log.columns)
        further: Floats | None = inputs.get("queue_columns")
        if not getattr(inputs.get("queue_program"), "static", False):
            return inputs.get("queue_key"), further
        rows = np.arange(self.n_jobs, self.n_jobs + len(log), dtype=np.int32)
        if further is not None:  # by row
            further = np.hstack([np.zeros((len(further), self.n_jobs)), further])
        key: Floats = values(
            inputs["queue_program"], log.submit, estimate, log.size, rows, np.zeros(len(log), np.int32), 0.0, further
        )
        for at in np.flatnonzero(np.isnan(key))[:1].tolist():
            raise inputs["queue_refused"](int(rows[at]), float(log.submit[at]))
        return key, None

    def foresee(self, given: Mapping[str, object]) -> None:
        """Predictions that the caller has got now, in columns as of `Predictor.predict`."""
        for policy in (self._run.rescheduling, self._run.checkpointing):
            if policy is not None and policy.plans_ahead:
                raise NotAvailableError(
                    f"foresee is not available with {policy!r}, which plans its {policy.plans_ahead} before the run"
                )
        table = checked_predictions("foresee takes", given, self._run.machine.nodes, "foresee")
        self.engine.foresee(table.begin, table.end, table.node, table.p)

    def take_over(self, run: RunOptions) -> None:
        """Go on with another scheduler and queue order, those of `run`."""
        repairs = self._lowered["scheduler"].get("repairs")
        self._run, self._lowered = run, {**run.lower(), "engine": self._lowered["engine"]}
        scheduler = self._lowered["scheduler"]
        if scheduler.get("repairs", repairs) != repairs:
            raise OptionError(f"the simulation has repairs={repairs!r}: give the scheduler that takes over the same")
        log = self._log if self._told is None else self._told.rows
        estimate, columns = expected_runtimes(run, log), log.columns  # by row, as the engine numbers jobs
        self.engine.take_over(scheduler, *scheduler_parts(scheduler, run.kind, estimate, log.size, columns))

    def decided_change(self, row: int, given: Wishes) -> None:
        """A decision gives a waiting job other values."""
        self.change(row, **checked_change(**given), decided=True)

    def change(
        self,
        row: int,
        *,
        estimate: float | None = None,
        size: int | None = None,
        priority: float | None = None,
        begin: float | None = None,
        decided: bool = False,
    ) -> None:
        """A waiting job asks for something else; no pass follows by itself if that is `decided`."""
        goes_on = estimate is None and size is None and priority is None
        if not goes_on:
            self._check_change(row, estimate, size, priority)
        if begin is not None:
            self.engine.postpone(row, begin, decided)
            self.postponed = {**self.postponed, row: begin}
        if goes_on:
            self.engine.record_change(row)
            return
        job = self.engine.changeable(row, decided)
        log = self._log
        for name, value in (("estimate", estimate), ("size", size), ("priority", priority)):
            if value is not None:
                column = log.columns[name].astype(np.float64 if name == "priority" else log.columns[name].dtype)
                column[job] = value
                changed: dict[str, Any] = {name: column}
                log = log.with_columns(**changed) if name == "priority" else log._derived(**changed)
        self.engine.change(row, estimate, size, log.columns, decided)
        self.engine.record_change(row)
        self._log, self._moments = log, None
        if isinstance(self._run.scheduler, External) or self._run.scheduler.is_written():
            scheduler = self._lowered["scheduler"]
            expected = expected_runtimes(self._run, log)
            _, order, inputs = scheduler_parts(scheduler, self._run.kind, expected, log.size, log.columns)
            self.engine.order_again(order, inputs)
        else:
            self.take_over(self._run)

    def _check_change(self, row: int, estimate: float | None, size: int | None, priority: float | None) -> None:
        run, what = self._run, None
        if self._told is not None:
            what = "with live=: withdraw the job, and submit another one"
        elif self.world.rows is not None:
            what = "where jobs were dropped from the log: leave them out beforehand"
        elif isinstance(run.recovery, HotSpares):
            what = "with recovery=HotSpares, as jobs get their spare nodes before the run: use Requeue()"
        elif run.checkpointing is not None:
            what = "with checkpointing=, whose interval is planned beforehand: leave it out"
        elif estimate is not None and run.estimates != "requested":
            what = f"for estimates with estimates={run.estimates!r}: use 'requested'"
        elif size is not None and self.world.asks is not None:
            what = "for sizes on a site, where jobs request cores, memory and GPUs"
        elif size is not None and self.world.shape_rank is not None:
            what = "for sizes of jobs that request a shape"
        if what:
            raise NotAvailableError(f"change is not available {what}")
        if size is not None and size > run.machine.largest_job:
            raise DecisionError(
                f"job {row} cannot have {size} nodes: the largest job of {run.machine} has {run.machine.largest_job}"
            )
        if priority is not None and "priority" not in self._log.columns:
            raise DecisionError("the log has no column 'priority' that could change: give it one")

    def moment(self, row: int) -> "Moment":
        """What there is now, for an explanation of the job of a row."""
        from faultsim.explain.moment import Moments, add_absences, of_reference

        ids = self.log.id
        if hasattr(self.engine, "state"):
            return of_reference(self.engine.state, ids)
        if self._moments is None or self._moments.settings is not self.engine.settings:  # another scheduler took over
            self._moments = Moments(self.engine.settings, self.world)
        snapshot = self.engine.snapshot(row, self._moments.most)
        moment = self._moments.of(snapshot, ids)
        drained = self.engine.drained().tolist()
        if self.world.absences is not None or drained:
            held = [self.engine.nodes_of(job) for job in snapshot["running"]] if moment.state.table is None else []
            users = self._run.log.user if self._told is None else self._told["user"]
            groups = user_groups(self._run, users, more=True)
            add_absences(moment, self.world.absences, groups, drained, held)
        return moment

    def copy(self) -> "Execution":
        """An independent copy that continues from here."""
        other = copy(self)
        other._moments = None
        other.engine = self.engine.copy()
        other.engine.changer = weakref.WeakMethod(other.decided_change)
        return other

    def output(self) -> tuple[dict[str, object], int, dict[str, object]]:
        """What `Result` is made of, once everything has happened, for who wants no more than some numbers.

        Columns, counts and ledger by name, the nodes of the machine, and the lowered run.
        """
        output = _settled(self.engine.output())
        output["submit"], output["size"] = output.get("eligible", self._log.submit), self._log.size
        if "eligible" in output:
            output["withdrawn_jobs"] = output["state"] == FIRST_WITHOUT_RUN
            output["unmet_jobs"] = output["state"] > FIRST_WITHOUT_RUN
            output["without_run"] = output["state"] >= FIRST_WITHOUT_RUN
        if self._lowered["overrun"] == "kill":
            states = output.get("state")  # some were killed for good; else states follow from run times
            output["cut"] = output["runtime"] < self._log.runtime if states is None else states == NUMBER_TIMED_OUT
        return output, self._run.capacity, self._lowered

    def result(self, *, partial: bool = False) -> Result:
        """The result, once everything has happened, or as of now."""
        return self._result(self.engine.output_so_far() if partial else self.engine.output())

    def last_result(self) -> Result:
        """The result of as much as has happened, after which nothing else is done with this."""
        over = self.engine.n_done == self.n_jobs
        return self._result(self.engine.output() if over else self.engine.output_so_far(True))

    def _result(self, output: dict[str, Any]) -> Result:
        told = self._told
        about = self._log if told is None else told.about
        return Result(
            _settled(output),
            Record(
                settings=self._lowered,
                columns=self._log.columns.copy() if told is None else dict(told),
                source=about.name,
                dropped=dict(about.dropped),
                failures=self._run.failures,
                arrays={} if self._run.predictor is None else {"predictor": self._run.predictor.arrays()},
                started=self._started,
                elapsed=time.perf_counter() - self._clock,
                recorded_wait=self._log.recorded_wait if told is None else None,
                comments=about.comments,
            ),
        )


def checked_change(
    estimate: checks.Duration | None = None,
    size: int | None = None,
    priority: float | None = None,
    begin: checks.Duration | None = None,
) -> Change:
    """What a job asks for from now on, as `Simulation.change` and `Decision.change` take it."""
    given: Change = {}
    if estimate is not None:
        given["estimate"] = checks.duration("estimate", estimate, low=0.0)
    if size is not None:
        given["size"] = checks.whole("size", size, low=1, unit="nodes")
    if priority is not None:
        given["priority"] = checks.number("priority", priority)
    if begin is not None:
        given["begin"] = checks.duration("begin", begin, low=0.0)
    if not given:
        raise OptionError("change: give estimate=, size=, priority= or begin=, what is to change")
    return given


def _largest_alone(run: RunOptions, given: LoweredRun) -> int:
    """The largest size of jobs that may come with no more than their times; 0: none may."""
    plain = (
        given.told is not None
        and not given.told.has_further
        and given.told.has_numbers
        and run.checkpointing is None
        and run.estimates == "requested"
        and not has_inputs(given.settings.scheduler["order"]["name"])
        and given.world.shape_rank is None
        and given.world.asks is None
        and (run.placement is None or run.placement.unlisted_sizes(run.machine, np.ones(1, np.int32)) is None)
    )
    return run.most_nodes if plain else 0


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


def _settled(output: dict[str, Any]) -> dict[str, Any]:
    """What an engine gives, with no account of the ledger below 0."""
    output["ledger"] = without_negative(output["ledger"])
    return output


def _reference(*arguments: Any) -> object:
    from faultsim.reference.as_engine import ReferenceEngine

    return ReferenceEngine(*arguments)


#: Name -> engine.
_ENGINES: dict[str, Callable[..., Any]] = {"core": core_engine, "reference": _reference}
