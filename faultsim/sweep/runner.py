"""Drives a sweep: creates tasks, skips what the store has, keeps the workers busy, writes their results.

Tasks are created a few at a time, so a sweep of any length needs memory only for those in progress. Every finished
batch is written at once, in one transaction: whatever happens then, only what was in progress is lost.

What a run costs beside its simulation does not grow with the number of runs.  What it has in common with the one before
is not put into words again (`Texts`), and its metrics are made at once (`metrics_at_once`).
"""

import contextlib
import itertools
import json
import pickle
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from typing import Any, Protocol

from faultsim import checks
from faultsim.errors import OptionError, StoreError, WorkerError
from faultsim.results.provenance import environment
from faultsim.simulation.progress import Progress, reporting
from faultsim.sweep.dask_executor import Dask
from faultsim.sweep.executors import Futures, Pool, Processes, Threads, cores, now
from faultsim.sweep.store import Store
from faultsim.sweep.sweep_rows import SweepRow
from faultsim.sweep.task_hash import canonical, name_of, own_document
from faultsim.sweep.tasks import Task
from faultsim.sweep.wanted import Wanted
from faultsim.sweep.worker import Done

#: Tasks created at once, between two queries of the store: of short runs more, whose inputs are small.
AHEAD, AHEAD_SHORT = 32, 256
#: Seconds of a short run.
SHORT = 0.001
#: Most tasks of a batch, which is a transaction: SQLite writes pages, and rows that are near share one.
MOST = 1024
#: Number of times that a worker may die with the same batch.
TRIES = 3


class Tasks(Protocol):
    """Who creates tasks: the `Maker` of a sweep, or a `RunList`."""

    @property
    def wanted(self) -> Wanted: ...
    def __len__(self) -> int: ...
    def places(self) -> Iterator[object]: ...
    def at(self, place: Any) -> Task: ...
    def travelling(self) -> dict[str, object]: ...


def places(maker: Tasks, shard: tuple[int, int] | None) -> Iterator[Any]:
    """Where all tasks are, or a shard's, grouped by shared inputs."""
    everything = maker.places()
    if shard is None:
        return everything
    part, parts = shard
    return itertools.islice(everything, part - 1, None, parts)


def fill(
    maker: Tasks,
    store: Store,
    pool: Pool,
    row: SweepRow,
    *,
    shard: tuple[int, int] | None = None,
    retry: bool = False,
    progress: bool | Progress = False,
) -> "Drive":
    """Enter a sweep in a store and run what the store does not have; the outcome.

    Raises
    ------
    StoreError, WorkerError, KeyboardInterrupt
        As `Drive.run`; Ctrl-C with how many runs are kept.
    """
    store.add_sweep(row)
    versions = json.dumps(environment(), sort_keys=True)
    store.add_environment(name_of(versions), versions)
    with reporting(progress, "runs") as report:
        drive = Drive(
            maker,
            store,
            pool,
            sweep=row["id"],
            environment=name_of(versions),
            shard=shard,
            retry=retry,
            report=report,
        )
        try:
            drive.run()
        except KeyboardInterrupt:
            # Not `drive.done`: rows that it has not examined yet may be there.
            there = max(drive.done, min(store.outcome(row["id"])[0], drive.total))
            raise KeyboardInterrupt(interrupted(there, drive.total, store.path)) from None
    store.check_rows(row["id"], drive.done)
    return drive


def interrupted(done: int, total: int, store: str) -> str:
    """What Ctrl-C has left.

    Examples
    --------
    >>> interrupted(1, 2000, "a.db")
    '1 of 2,000 runs are kept in a.db; rerun the same to continue'
    """
    if store == ":memory:":
        return f"after {done:,} of {total:,} runs; with a store they would have been kept"
    return f"{done:,} of {total:,} runs are kept in {store}; rerun the same to continue"


class Drive:
    """One invocation of a sweep.

    Parameters
    ----------
    maker : Tasks
    store : Store
    pool : Pool
    sweep : str
        Id of the sweep in the store.
    environment : str
        Id of the versions in the store.
    shard : (int, int), optional
        Part i of n.
    retry : bool
        Whether runs that failed before are tried again.
    report : callable, optional
        Called with (done, total, seconds).
    """

    def __init__(
        self,
        maker: Tasks,
        store: Store,
        pool: Pool,
        *,
        sweep: str,
        environment: str,
        shard: tuple[int, int] | None = None,
        retry: bool = False,
        report: Progress | None = None,
    ) -> None:
        self._maker, self._store, self._pool = maker, store, pool
        self._sweep, self._environment, self._retry = sweep, environment, retry
        self._report = report
        self._places = places(maker, shard)
        total = len(maker)
        self.total = total if shard is None else len(range(shard[0] - 1, total, shard[1]))
        #: Tasks now in the store; runs made in this invocation; runs that failed.
        self.done, self.made, self.failed = 0, 0, 0
        self._began = now()
        self._ready: deque[Task] = deque()
        #: Runs that are ready or in progress, with the tasks that wait for them.
        self._waiting: dict[str, list[Task]] = {}
        self._links: list[tuple[object, ...]] = []
        self._own: list[tuple[str, str]] = []
        self._flying: dict[Future[Done], list[Task]] = {}
        self._tries: dict[str, int] = {}
        self._seconds = 0.0  # recent seconds per run

    def run(self) -> None:
        """Run the sweep to its end.

        Raises
        ------
        StoreError
            If the store cannot be written.
        WorkerError
            If workers die repeatedly.
        """
        try:
            self._pool.prepare(self._maker.travelling())
            while self._fill():
                finished, _ = wait(self._flying, timeout=1.0, return_when=FIRST_COMPLETED)
                self._take(finished)
            self._write([], [])
        except BaseException:
            self._end()
            raise
        self._pool.close()

    # -- tasks

    def _fill(self) -> bool:
        """Keep the workers busy; False when nothing is left."""
        while len(self._flying) < self._pool.window:
            batch = self._batch()
            if not batch:
                break
            self._submit(batch)
        return bool(self._flying)

    def _submit(self, batch: list[Task]) -> None:
        if not self._store.writable:
            raise StoreError(f"{self._store.path}: is read-only, and lacks runs of this sweep")
        try:
            future = self._pool.submit(batch, self._maker.wanted)
        except BrokenExecutor as error:
            self._survive(error)
            future = self._pool.submit(batch, self._maker.wanted)
        self._flying[future] = batch

    def _batch(self) -> list[Task]:
        size = 1
        if self._seconds:
            left = self.total - self.done
            size = max(1, min(MOST, int(self._pool.target / self._seconds), left // (4 * self._pool.workers)))
        while len(self._ready) < size and self._more():
            pass
        return [self._ready.popleft() for _ in range(min(size, len(self._ready)))]

    def _more(self) -> bool:
        """Create some tasks, and skip those whose run the store has; False at the end."""
        ahead = AHEAD_SHORT if 0.0 < self._seconds < SHORT else AHEAD
        chosen = list(itertools.islice(self._places, ahead))
        if not chosen:
            return False
        tasks = [self._maker.at(place) for place in chosen]
        known = self._store.known({task.id for task in tasks} - self._waiting.keys())
        linked = self._store.linked(self._sweep, [task.index for task in tasks]) if known else {}
        for task in tasks:
            if task.id in self._waiting:
                self._waiting[task.id].append(task)
            elif task.id in known and not (self._retry and known[task.id] == "error"):
                self.done += 1
                self.failed += known[task.id] == "error"
                if linked.get(task.index) != task.id:
                    self._links.append(self._link(task))
            else:
                self._waiting[task.id] = [task]
                self._ready.append(task)
        if len(self._links) >= 1000:
            self._write([], [])
        self._tell()
        return True

    def _link(self, task: Task) -> tuple[object, ...]:
        return (self._sweep, task.index, task.replicate, task.run.seed, canonical(dict(task.labels)), task.id)

    # -- rows

    def _take(self, finished: Iterable[Future[Done]]) -> None:
        """Write finished batches, and set aside those whose worker died."""
        runs: list[tuple[object, ...]] = []
        timing: list[tuple[str, float]] = []
        broken: BrokenExecutor | None = None
        taken = []
        for future in finished:
            batch = self._flying[future]
            try:
                done = future.result()
            except self._pool.lost as error:
                broken = error if isinstance(error, BrokenExecutor) else broken
                self._again(self._flying.pop(future), error)
                continue
            except (pickle.PicklingError, AttributeError, TypeError) as error:
                if all(_travels(task.run) for task in batch):
                    raise
                raise WorkerError(
                    f"a policy cannot be sent to other processes unless its class is defined in a module: {error}"
                ) from None
            taken.append(future)
            runs += self._rows(batch, done)
            timing += [(task.id, took) for task, took in zip(batch, done.elapsed.tolist(), strict=False)]
        self._write(runs, timing)
        for future in taken:
            del self._flying[future]
        if broken is not None:
            self._survive(broken)

    def _rows(self, batch: Sequence[Task], done: Done) -> list[tuple[object, ...]]:
        rows, width = [], len(self._maker.wanted.kind.columns)
        for position, (task, values) in enumerate(zip(batch, done.rows.tolist(), strict=False)):
            error = done.errors.get(position)
            numbers, own = values[:width], values[width:]
            rows.append((task.id, "ok" if error is None else "error", error, self._environment, *numbers))
            if own and error is None:
                self._own.append((task.id, own_document(dict(zip(self._maker.wanted.own, own, strict=True)))))
            self._links += [self._link(each) for each in self._waiting.get(task.id, ())]
        if len(done):
            lately = float(done.elapsed.mean())
            self._seconds = lately if not self._seconds else 0.7 * self._seconds + 0.3 * lately
        return rows

    def _write(self, runs: list[tuple[Any, ...]], timing: list[tuple[str, float]]) -> None:
        if not runs and not self._links:
            return
        columns = self._maker.wanted.kind.columns
        self._store.add(runs, self._links, timing, own=self._own, retry=self._retry, columns=columns)
        self._links, self._own = [], []
        for row in runs:
            tasks = self._waiting.pop(row[0], ())
            self.made += 1
            self.done += len(tasks)
            self.failed += len(tasks) * (row[1] == "error")
        self._tell()

    def _tell(self) -> None:
        if self._report is not None:
            self._report(self.done, self.total, now() - self._began)

    # -- what goes wrong

    def _again(self, batch: list[Task], error: BaseException) -> None:
        """A worker died with a batch: retry it in halves, so that a single bad run fails alone."""
        for task in batch:
            self._tries[task.id] = self._tries.get(task.id, 0) + 1
            if self._tries[task.id] > TRIES:
                labels = ", ".join(f"{axis}={value}" for axis, value in task.labels.items())
                raise WorkerError(
                    f"a worker died {TRIES + 1} times on a batch with the run {labels or task.id}, replicate "
                    f"{task.replicate}: {self._pool.advice} What is done is kept ({error})"
                )
        self._pool.renew()
        self._ready.extendleft(reversed(batch))
        self._seconds = max(self._seconds, 2 * self._pool.target / max(1, len(batch)))

    def _survive(self, error: BrokenExecutor) -> None:
        """The workers died with everything in progress: retry it on new ones."""
        for future in list(self._flying):
            self._again(self._flying.pop(future), error)
        if not self._pool.revive():
            raise WorkerError(f"the executor's workers died; finished runs are kept: {error}") from None

    def _end(self) -> None:
        """Ctrl-C, a full disk or a bug of ours: stop the workers, keep what they have."""
        self._pool.stop(self._flying)
        runs: list[tuple[object, ...]] = []
        timing: list[tuple[str, float]] = []
        self._links, self._own = [], []
        for future, batch in self._flying.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                done = future.result()
                runs += self._rows(batch, done)
                timing += [(task.id, took) for task, took in zip(batch, done.elapsed.tolist(), strict=False)]
        with contextlib.suppress(Exception):  # the first error is the one to report
            self._write(runs, timing)


def _travels(value: object) -> bool:
    """Whether a value can be sent to another process."""
    try:
        pickle.dumps(value)
    except (pickle.PicklingError, AttributeError, TypeError):  # it depends on the version of Python
        return False
    return True


def make_pool(executor: Any, workers: int | None) -> Pool:
    """The requested pool.

    Parameters
    ----------
    executor : "threads", "processes", Executor or distributed.Client
    workers : int, optional
        By default as many as there are cores, or as the executor has.
    """
    if workers is not None:
        checks.whole("workers", workers, low=1)
    if executor is None:
        return Threads(workers or cores())
    if isinstance(executor, str):
        if executor == "threads":
            return Threads(workers or cores())
        if executor == "processes":
            return Processes(workers or cores())
        hint = checks.did_you_mean(executor, ("threads", "processes"))
        raise OptionError(f"unknown executor {executor!r}{hint}; known: 'threads', 'processes', or an object")
    if hasattr(executor, "scheduler_info") and hasattr(executor, "scatter"):
        return Dask(executor)
    if callable(getattr(executor, "submit", None)):
        return Futures(executor, workers or int(getattr(executor, "_max_workers", 0) or cores()))
    raise OptionError(
        f"executor must be 'threads', 'processes', a concurrent.futures.Executor or a dask client, "
        f"got {checks.shown(executor)}"
    )
