"""When each waiting job will start: run times, arrivals and failures of the past, drawn again and again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from faultsim import checks
from faultsim.arrays import Floats, LongIntegers, Texts, Values
from faultsim.data.failures import FailureTrace
from faultsim.data.queue_state import QueueState
from faultsim.data.workload import Workload
from faultsim.entries import entry
from faultsim.errors import InputError
from faultsim.machines import Machine
from faultsim.policies import Scheduler
from faultsim.policies.words import SchedulerWord
from faultsim.simulation.run import Run
from faultsim.simulation.simulate_many import simulate_many

#: A user with fewer jobs in the past is like all users.
FEWEST = 10
#: Columns that say what a job asks of a node (docs/guides/sites.md), and what a job without them asks.
ASKS: Mapping[str, object] = {
    "cores": None, "nodes": 0, "memory": math.nan, "memory_per": "job", "gpus": 0, "gpus_per": "job", "gpu_type": "",
    "exclusive": False, "features": "", "partition": "",
}  # fmt: skip
#: In which the jobs that arrive are drawn, in seconds; later ones rarely matter to those that wait now.
LONGEST = 7 * 86_400.0
#: Of a forecast, with a value per job.
_COLUMNS = ("id", "low", "median", "high", "plan")


@dataclass(frozen=True, eq=False)
class Forecast:
    """When each waiting job will start, in seconds from the moment of the state.

    Attributes
    ----------
    id : array of int
        The jobs that wait, the next to be served first.
    low, median, high : array of float
        The 10th, 50th and 90th percentile of the start; infinite if the job did not start in so many replicates.
    plan : array of float
        The start if no other job came and each ran as long as its limit, under conservative backfilling: what
        ``squeue --start`` shows.
    replicates : int
        How often everything was drawn.
    warnings : tuple of str
        What to know about it, a sentence each.

    Examples
    --------
    >>> import faultsim as fs
    >>> past = fs.Workload([0], [60], [1], estimate=[100])
    >>> jobs = fs.Workload([0, 10], [100, 100], [2, 2], estimate=[100, 100])
    >>> state = fs.QueueState(jobs, [10, float("nan")], now=10)
    >>> found = fs.forecast(fs.Cluster(2), state, past, arrivals=False, replicates=5)
    >>> found, found.rows()
    (Forecast(1 jobs, 5 replicates), [{'id': 2, 'low': 50.0, 'median': 50.0, 'high': 50.0, 'plan': 90.0}])
    """

    id: LongIntegers
    low: Floats
    median: Floats
    high: Floats
    plan: Floats
    replicates: int
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in _COLUMNS:
            column = checks.real_array(name, getattr(self, name))
            if column.ndim != 1 or column.dtype.kind not in "biuf":
                raise InputError(f"{name} of a Forecast must be numbers, one per job, got {checks.shown(column)}")
            object.__setattr__(self, name, column)
        lengths = {name: len(getattr(self, name)) for name in _COLUMNS}
        if len(set(lengths.values())) > 1:
            raise InputError(f"a Forecast has a value per job, got {lengths}")
        object.__setattr__(self, "replicates", checks.whole("replicates", self.replicates, low=0))
        object.__setattr__(self, "warnings", checks.names("warnings", self.warnings))

    def __len__(self) -> int:
        return len(self.id)

    def rows(self) -> list[dict[str, float]]:
        """A dictionary per job."""
        columns = (getattr(self, name).tolist() for name in _COLUMNS)
        return [dict(zip(_COLUMNS, row, strict=True)) for row in zip(*columns, strict=True)]

    def __repr__(self) -> str:
        return f"Forecast({len(self):,} jobs, {self.replicates:,} replicates)"


class Calibration(NamedTuple):
    """How often forecasts of the past were right.

    `jobs` forecasts were made; shares of them started within the 10-90 band (`inside`), before and after it; the median
    distance to the start, in seconds, of the band's middle (`miss`) and of the plan by limits (`plan_miss`).

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Calibration(jobs=200, inside=0.79, before=0.1, after=0.11, miss=600.0, plan_miss=5400.0).inside
    0.79
    """

    jobs: int
    inside: float
    before: float
    after: float
    miss: float
    plan_miss: float


@entry
def forecast(
    machine: Machine,
    state: QueueState,
    history: Workload,
    *,
    scheduler: Scheduler | SchedulerWord = "easy",
    failures: FailureTrace | None = None,
    arrivals: bool = True,
    replicates: int = 200,
    rng: checks.Random = 0,
    threads: int | None = None,
    **settings: Any,
) -> Forecast:
    """When each job that waits will start.

    In each replicate every job has a run time drawn from the past: its limit times the share of the limit that a job of
    the same user ran (of any user, where one has fewer than ten), of those longer than what it has run already. Jobs
    that arrive later are those of a part of the past as long as a week at most, drawn at random, and so are failures.
    The running jobs start first, on nodes that the placement chooses again.

    Parameters
    ----------
    machine : Site, or another machine
    state : QueueState
        From `read_squeue`, or `QueueState.of_log`.
    history : Workload
        Jobs that have ended, with limits, from the accounting.
    scheduler : Scheduler or str
        Under which they start; waiting jobs are in the order of the state.
    failures : FailureTrace, optional
        Of the past, of the nodes of the machine.
    arrivals : bool
        Whether jobs arrive after the moment.
    replicates : int
        Number of draws.
    rng : int, Generator
        Of the draws.
    threads : int, optional
        As of `simulate_many`.
    **settings
        Of `simulate`.

    Returns
    -------
    Forecast

    Raises
    ------
    InputError
        No job waits; the history has no job with a limit; a job that the machine can never hold.

    Examples
    --------
    >>> import faultsim as fs
    >>> past = fs.Workload([0, 0, 50], [50, 100, 25], [1, 1, 1], estimate=[100, 100, 100])
    >>> now = fs.QueueState(fs.Workload([0, 10], [100, 100], [2, 2], estimate=[100, 100]), [10, float("nan")], now=10)
    >>> found = fs.forecast(fs.Cluster(2), now, past, arrivals=False)
    >>> found.low.tolist(), found.high.tolist(), found.plan.tolist()
    ([15.0], [90.0], [90.0])
    """
    draw = checks.generator(rng)
    replicates = checks.whole("replicates", replicates, low=1)
    ratios = _Ratios(history)
    first = np.flatnonzero(state.running)
    first = first[np.argsort(-state.elapsed[first], kind="stable")]
    active = np.concatenate([first, state.served])
    running, waiting = state.running[active], np.arange(len(first), len(active))
    if not len(waiting):
        raise InputError("no job waits for resources, so there is nothing to forecast")
    elapsed = np.where(running, state.elapsed[active], 0.0)
    left = np.maximum(state.jobs.estimate[active] - elapsed, 1.0)
    names = _names(state.jobs)[active]
    drawn = _Draws(state.jobs, active, left, history if arrivals else None)
    run = Run(drawn.log(left, None), machine, scheduler="conservative", **settings)
    planned = run.simulate().jobs["start"]
    late = int((planned[np.flatnonzero(running)] > 0).sum())
    warnings = []
    if late:
        warnings.append(
            f"{late:,} of {int(running.sum()):,} running jobs do not fit beside the others where the placement puts "
            f"them, and start later"
        )

    def runs() -> Iterator[Run]:
        for _ in range(replicates):
            took = np.array(
                [
                    ratios.draw(name, limit, ran, draw)
                    for name, limit, ran in zip(names, left + elapsed, elapsed, strict=True)
                ]
            )
            log = drawn.log(np.maximum(took - elapsed, 1.0), draw)
            part = None if failures is None else _part(failures, draw)
            yield Run(log, machine, scheduler=scheduler, failures=part, oversized="drop", **settings)

    starts = np.full((replicates, len(waiting)), np.inf)
    for at, result in enumerate(simulate_many(list(runs()), threads=threads)):
        place = np.searchsorted(result.jobs["id"], waiting)  # ids are rows, the jobs of the state first
        starts[at] = result.jobs["start"][place]
    low, median, high = np.quantile(starts, (0.1, 0.5, 0.9), axis=0, method="inverted_cdf")
    return Forecast(state.jobs.id[active[waiting]], low, median, high, planned[waiting], replicates, tuple(warnings))


@entry
def calibrate_forecast(
    machine: Machine, log: Workload, *, times: int = 20, rng: checks.Random = 0, **settings: Any
) -> Calibration:
    """Forecast the past of a log that has recorded waits, at times between 30 and 90 % of it, from what was known then.

    Parameters
    ----------
    machine : Site, or another machine
    log : Workload
        With recorded waits, as accounting has them.
    times : int
        How many moments.
    rng : int, Generator
        Of the draws.
    **settings
        Of `forecast`.

    Returns
    -------
    Calibration

    Raises
    ------
    InputError
        The log has no recorded waits, or no job waits at any of the times.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.synthetic.sdsc_like(400, rng=1)
    >>> run = fs.simulate(log, fs.Cluster(128), scheduler="easy")
    >>> past = fs.Workload(log.submit, log.runtime, log.size, estimate=log.estimate, user=log.user,
    ...                    recorded_wait=run.jobs["wait"])
    >>> found = fs.calibrate_forecast(fs.Cluster(128), past, times=5, replicates=20)
    >>> found.jobs > 0, round(found.inside + found.before + found.after, 9)
    (True, 1.0)
    """
    if log.recorded_wait is None:
        raise InputError("calibrate_forecast: the log has no recorded waits to compare with")
    start = log.submit + np.asarray(log.recorded_wait)
    end = start + log.runtime
    first, last = float(log.submit.min()), float(end.max())
    draw = checks.generator(rng)
    inside: list[float] = []
    miss: list[tuple[float, float]] = []
    for share in np.linspace(0.3, 0.9, checks.whole("times", times, low=1)):
        t = first + share * (last - first)
        if not ((log.submit <= t) & (start > t)).any() or (end <= t).sum() < FEWEST:
            continue
        found = forecast(machine, QueueState.of_log(log, t), log[end <= t], rng=draw, **settings)
        order = np.argsort(log.id, kind="stable")
        true = start[order[np.searchsorted(log.id, found.id, sorter=order)]] - t
        inside += np.where(true < found.low, -1.0, np.where(true > found.high, 1.0, 0.0)).tolist()
        miss += zip(np.abs(true - found.median).tolist(), np.abs(true - found.plan).tolist(), strict=True)
    if not inside:
        raise InputError("calibrate_forecast: no job waits at any of the times")
    sides, distance = np.array(inside), np.median(miss, axis=0)
    return Calibration(
        len(sides), float((sides == 0).mean()), float((sides < 0).mean()), float((sides > 0).mean()), *distance.tolist()
    )


class _Ratios:
    """Shares of their limits that jobs of the past ran, by user, each sorted."""

    def __init__(self, history: Workload) -> None:
        limited = history.estimate > 0
        if not limited.any():
            raise InputError("the history has no job with a time limit, from which run times could be drawn")
        share = np.clip(history.runtime[limited] / history.estimate[limited], 0.0, 1.0)
        names = _names(history)[limited]
        self._all = np.sort(share)
        self._of: dict[str, Floats] = {}
        for name in np.unique(names):
            own = share[names == name]
            if len(own) >= FEWEST:
                self._of[str(name)] = np.sort(own)

    def draw(self, name: str, limit: float, ran: float, rng: np.random.Generator) -> float:
        """Seconds that a job of this user and limit takes in all, if it has run for `ran` seconds."""
        for known in (self._of.get(name), self._all):
            if known is not None:
                begin = int(np.searchsorted(known, ran / limit, side="right"))
                if begin < len(known) or ran == 0:
                    return limit * float(known[rng.integers(min(begin, len(known) - 1), len(known))])
        return max(limit, ran)


def _names(log: Workload) -> Texts:
    """What the users are called, or their numbers, as text."""
    found = log.columns["user_name"] if "user_name" in log.further else log.user
    return np.asarray(found).astype(str)


class _Draws:
    """Logs of a replicate: the jobs of the state at 0, then those of a part of the past."""

    def __init__(self, jobs: Workload, active: LongIntegers, left: Floats, history: Workload | None) -> None:
        self._jobs, self._active, self._left, self._history = jobs, active, left, history
        self._asks = [name for name in ASKS if name in jobs.further]
        if history is not None:
            self._asks += [name for name in ASKS if name in history.further and name not in self._asks]

    def log(self, runtime: Floats, rng: np.random.Generator | None) -> Workload:
        jobs, active, history = self._jobs, self._active, self._history
        at = np.zeros(len(active))
        rows = np.zeros(0, np.intp)
        if history is not None and rng is not None and len(history):
            begin, end = float(history.submit.min()), float(history.submit.max())
            span = min(LONGEST, (end - begin) / 2)
            t = begin + rng.uniform(0, max(end - begin - span, 0.0))
            rows = np.flatnonzero((history.submit > t) & (history.submit <= t + span))
            rows = rows[np.argsort(history.submit[rows], kind="stable")]
            at = np.concatenate([at, history.submit[rows] - t])
        later = [
            np.asarray(getattr(history, name))[rows] if len(rows) else rows for name in ("runtime", "size", "estimate")
        ]
        columns = {name: self._column(name, rows) for name in self._asks}
        return Workload(
            at,
            np.concatenate([runtime, later[0]]),
            np.concatenate([jobs.size[active], later[1]]),
            estimate=np.concatenate([self._left, later[2]]),
            id=np.arange(len(at)),
            columns=columns,
        )

    def _column(self, name: str, rows: LongIntegers) -> Values:
        parts = []
        for log, part in ((self._jobs, self._active), (self._history, rows)):
            if log is None or not len(part):
                continue
            if name in log.further:
                parts.append(np.asarray(log.columns[name])[part])
            else:
                parts.append(log.size[part] if name == "cores" else np.full(len(part), cast(Any, ASKS[name])))
        return np.concatenate(parts)


def _part(failures: FailureTrace, rng: np.random.Generator) -> FailureTrace:
    """The failures of a random half of the past, from 0 on."""
    span = float(failures.span)
    begin = rng.uniform(0, span / 2)
    return failures.window(begin, begin + span / 2)
