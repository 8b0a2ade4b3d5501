"""`Sweep`: a grid of many runs, with replicates, kept in a store."""

import datetime
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Unpack

from faultsim import checks
from faultsim.data.failures import FailureTrace
from faultsim.data.limits import limits
from faultsim.data.workflow import Workflow
from faultsim.data.workload import Workload
from faultsim.entries import entry
from faultsim.errors import OptionError
from faultsim.machines.resources import Resources
from faultsim.policies.base import Policy
from faultsim.simulation.progress import Progress, reporting
from faultsim.simulation.run import Run
from faultsim.sweep.axes import checked_axes
from faultsim.sweep.grid import Grid, make_grid
from faultsim.sweep.kinds import JOB_RUNS, kind_of
from faultsim.sweep.labels import label
from faultsim.sweep.sweep_rows import FillOptions, SweepDocument, SweepEntry, SweepRow
from faultsim.sweep.table import SweepTable, read_table
from faultsim.sweep.task_hash import by_content, canonical, is_told_by_content, name_of
from faultsim.sweep.tasks import Maker
from faultsim.sweep.wanted import Wanted, own_metrics

if TYPE_CHECKING:
    from faultsim.sweep.store import Store


class Filled(NamedTuple):
    """Outcome of one invocation of a sweep: total rows, rows present, runs made, rows that failed, seconds."""

    total: int
    done: int
    made: int
    failed: int
    seconds: float


class Sweep:
    """A grid of runs, with replicates.

    Parameters
    ----------
    base : Run or mapping
        What all runs have in common. A mapping holds the keywords of `faultsim.Run`, with ``log`` and ``machine``; in
        it (as in axes) ``log`` and ``failures`` may be factories, called for each replicate with a
        `numpy.random.Generator`, and with ``machine``, ``replicate`` and, for failures, ``log`` where they have
        parameters of these names.  With ``workflows`` and ``resources`` in place of ``log`` and ``machine``, the runs
        are of workflows, and it holds the keywords of `simulate_workflows`; factories may have parameters
        ``resources`` and ``workflows``.
    grid : mapping, optional
        Axis -> values, a list or a mapping of names to values; all combinations are run.  An axis is an option of `Run`
        except ``record``; a parameter of a policy such as ``"predictor.probability"``; ``runtime_factor``,
        ``gap_factor``, ``load`` or ``head``, which change the log; ``failure_count`` or ``failure_span`` (s), which
        change the failures; or your own name for bundles: ``{"policy": {"old": {"placement": ...}, "new": {...}}}``.
        Of workflows, it is an option of `simulate_workflows`, a parameter of a policy, ``cost_factor``,
        ``transfer_factor``, ``ccr`` or ``every`` (s between arrivals), or one that changes the failures.
    zipped : mapping or list of mappings, optional
        Axes of equal length that vary together, as one dimension of the grid.
    cells : list of mappings, optional
        Explicit settings, as one dimension of the grid.
    replicates : int, default 1
        How often each cell is run, each time with different random streams. All cells of a replicate share them (common
        random numbers). Without random inputs the replicates are the same run, made once.
    warmup, drain : float, default 0
        Shares of the jobs, in order of arrival, that job metrics exclude at the beginning and at the end; machine
        metrics (utilization, capacity, makespan, ledger) cover the whole run.
    name : str
        What to call it.
    metrics : list of str or mapping of str to callable, optional
        Further columns of the table: names of `faultsim.METRICS` that sweeps leave out (``"p95_wait"``), or your own
        names and functions of a `Result` (or `WorkflowResult`) that return a number.  A function sees all jobs,
        whatever `warmup` and `drain` exclude, and no records.  Runs are kept by the content of these functions, as of
        policies in Python: code, closure, defaults and globals.

    Raises
    ------
    OptionError, InputError
        For an axis that does not exist, values that are given twice, or a cell with incompatible options; the message
        names the cell.

    Examples
    --------
    >>> import faultsim as fs
    >>> base = {
    ...     "log": lambda rng: fs.synthetic.nasa_like(100, rng=rng),
    ...     "machine": fs.Torus(4, 4, 8),
    ... }
    >>> sweep = fs.Sweep(base, {"scheduler": [fs.Fcfs(), fs.EasyBackfill()], "load": [0.7, 0.9]}, replicates=3)
    >>> sweep
    <Sweep: 4 cells (2 scheduler x 2 load), 3 replicates: 12 runs>
    >>> table = sweep.run(workers=2)
    >>> table.select(scheduler="easy", load=0.9)["mean_wait"].shape
    (3,)
    """

    def __init__(
        self,
        base: Run | Mapping[str, object],
        grid: Mapping[str, object] | None = None,
        *,
        zipped: Mapping[str, object] | Sequence[Mapping[str, object]] | None = None,
        cells: Iterable[Mapping[str, object]] | None = None,
        replicates: int = 1,
        warmup: float = 0.0,
        drain: float = 0.0,
        name: str = "",
        metrics: Sequence[str] | Mapping[str, Callable[[object], float] | str] | None = None,
    ) -> None:
        cells = list(cells) if isinstance(cells, Iterable) else cells
        kind = kind_of(checked_axes(base, grid, zipped, cells if isinstance(cells, list) else None))
        self.base: Mapping[str, object] = kind.base_options(base)
        self.grid: Grid = make_grid(grid, zipped, cells)
        self.replicates: int = checks.whole("replicates", replicates, low=1)
        limits().check("a sweep", "replicates", self.replicates)
        self.warmup: float = checks.number("warmup", warmup, low=0.0, high=1.0)
        self.drain: float = checks.number("drain", drain, low=0.0, high=1.0)
        if self.warmup + self.drain >= 1.0:
            raise OptionError(f"warmup={warmup:g} and drain={drain:g} leave no jobs")
        if kind is not JOB_RUNS and (self.warmup or self.drain):
            raise OptionError("warmup and drain exclude jobs of a log; a sweep of workflows has none")
        self.name: str = str(name)
        wanted = Wanted((self.warmup, self.drain), own_metrics(metrics, self.grid.names, kind), kind)
        self._maker = Maker(self.base, self.grid, self.replicates, wanted)

    def __len__(self) -> int:
        """Number of runs: cells times replicates."""
        return len(self._maker)

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the axes."""
        return self.grid.names

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the numbers of each run that its table has, without those that axes have taken.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Sweep({"workflows": fs.Workflow([4]), "resources": fs.Resources(1)}).metrics[:2]
        ('n_workflows', 'n_jobs')
        """
        wanted = self._maker.wanted
        return tuple(f"metric:{name}" if name in self.axes else name for name in (*wanted.kind.columns, *wanted.own))

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        parts = " x ".join(f"{len(d)} {'+'.join(d.names)}" for d in self.grid.dimensions)
        cells = f"{len(self.grid):,} cell{'s' if len(self.grid) != 1 else ''}" + (f" ({parts})" if parts else "")
        times = f"{self.replicates} replicate{'s' if self.replicates != 1 else ''}"
        return f"<Sweep{name}: {cells}, {times}: {len(self):,} run{'s' if len(self) != 1 else ''}>"

    def tasks(self) -> "Iterable[object]":
        """The tasks, one after another: index, labels, replicate, content hash, and the `Run`.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
        >>> sweep = fs.Sweep(fs.Run(log, fs.Cluster(2)), {"runtime_factor": [1.0, 2.0]})
        >>> [task.run.log.runtime[0] for task in sweep.tasks()]
        [np.float64(10.0), np.float64(20.0)]
        """
        self._maker.identify()
        for cell in range(len(self.grid)):
            for replicate in range(self.replicates):
                yield self._maker.task(self.grid[cell], replicate)

    def run(
        self,
        store: str | os.PathLike[str] | None = None,
        *,
        workers: int | None = None,
        executor: object = None,
        progress: bool | Progress = False,
        shard: tuple[int, int] | str | None = None,
        retry: bool = False,
        command: str = "",
    ) -> SweepTable:
        """Run what the store does not have, and return the table.

        Parameters
        ----------
        store : str or path, optional
            SQLite file that keeps the rows; it may hold other sweeps, and shared runs are made once. Without it, only
            the table is kept.
        workers : int, optional
            Threads or processes; by default as many as there are cores.
        executor : "threads", "processes", Executor or distributed.Client, optional
            Where to run: threads (the default; right unless a policy is written in Python), processes (a script needs
            ``if __name__ == "__main__":``), any `concurrent.futures.Executor`, or a Dask cluster.
        progress : bool or callable(done, total, seconds), default False
            As for `simulate`, in runs.
        shard : (i, n) or "i/n", optional
            Only part i, from 1, of n parts of equal size; `merge` combines their stores.
        retry : bool, default False
            Whether runs that failed before are tried again.
        command : str
            Command to record in the store.

        Returns
        -------
        SweepTable
            All rows of this sweep that the store has.

        Raises
        ------
        StoreError
            If the store cannot be written; what was written before is safe.
        WorkerError
            If workers die repeatedly.
        KeyboardInterrupt
            Within a second after Ctrl-C; finished runs are kept, and the same call continues from there.
        """
        from faultsim.sweep.store import open_store

        with open_store(":memory:" if store is None else store) as kept:
            row = self._row(command)
            self._fill(kept, row, workers=workers, executor=executor, progress=progress, shard=shard, retry=retry)
            # Not `self.id`: a policy written in Python may have changed itself since.
            return read_table(kept, pick_sweep(kept.sweeps(), kept.path, row["id"]))

    def fill(self, store: str | os.PathLike[str], *, command: str = "", **options: Unpack[FillOptions]) -> Filled:
        """Like `run`, with the same options, but returns counts instead of the table, which may be large.

        Examples
        --------
        >>> import tempfile, faultsim as fs
        >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
        >>> sweep = fs.Sweep(fs.Run(log, fs.Cluster(2)), {"runtime_factor": [1.0, 2.0]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     first, again = sweep.fill(f"{folder}/sweep.db"), sweep.fill(f"{folder}/sweep.db")
        >>> (first.made, first.done, first.total), (again.made, again.done, again.total)
        ((2, 2, 2), (0, 2, 2))
        """
        from faultsim.sweep.store import open_store

        with open_store(store) as kept:
            return self._fill(kept, self._row(command), **options)

    def _fill(
        self,
        kept: "Store",
        row: SweepRow,
        *,
        workers: int | None = None,
        executor: object = None,
        progress: bool | Progress = False,
        shard: tuple[int, int] | str | None = None,
        retry: bool = False,
    ) -> Filled:
        """Run what the store does not have; `row` is what it keeps of the sweep."""
        from faultsim.sweep.runner import fill, interrupted, make_pool

        part, began = parse_shard(shard), time.perf_counter()
        checks.flag("retry", retry)
        pool = make_pool(executor, workers)
        content = self._content(row["id"])
        if content is not None and part is None and kept.is_whole(row["id"], content):
            done, failed = kept.outcome(row["id"])
            if done == len(self) and not (retry and failed):
                pool.close()
                with reporting(progress, "runs") as report:
                    try:
                        if report is not None:
                            report(done, done, time.perf_counter() - began)
                    except KeyboardInterrupt:
                        raise KeyboardInterrupt(interrupted(done, done, kept.path)) from None
                return Filled(done, done, 0, failed, time.perf_counter() - began)
        drive = fill(self._maker, kept, pool, row, shard=part, retry=retry, progress=progress)
        if content is not None and part is None and drive.done == drive.total:
            kept.set_whole(row["id"], content)
        return Filled(drive.total, drive.done, drive.made, drive.failed, time.perf_counter() - began)

    @property
    def id(self) -> str:
        """Its id in a store: a hash of its name, its replicates, everything its axes set, and its first run.

        Of a factory, it covers only the name and what it draws for the first run.
        """
        self._maker.identify()
        first = self._maker.task(self.grid[0], 0)
        values = [
            [{name: by_content(value) for name, value in point.items()} for point in dimension.values]
            for dimension in self.grid.dimensions
        ]
        document = {"name": self.name, "axes": self._points, "values": values, "replicates": self.replicates}
        return name_of({**document, "first": first.id})

    def _content(self, id_: str) -> str | None:
        """A hash of all that its tasks come from; None where it is not known, as factories draw their inputs.

        The id does not cover a value of the base that the first cell replaces.
        """
        points = [point for dimension in self.grid.dimensions for point in dimension.values]
        if not all(is_told_by_content(value) for given in (self.base, *points) for value in given.values()):
            return None
        base = {name: by_content(value) for name, value in self.base.items()}
        try:
            return name_of([id_, base, self.warmup, self.drain])
        except OptionError:  # of a policy in the base that no cell takes
            return None

    @property
    def _points(self) -> list[list[dict[str, object]]]:
        return [[dict(point) for point in dimension.labels] for dimension in self.grid.dimensions]

    def _row(self, command: str) -> SweepRow:
        """The sweep as recorded in the store."""
        base = {name: _described(value) for name, value in self.base.items() if value is not None}
        document: SweepDocument = {"base": base, "axes": self._points, "warmup": self.warmup, "drain": self.drain}
        sizes = {"replicates": self.replicates, "tasks": len(self)}
        return sweep_row(
            self.id, self.name, self.axes, **sizes, command=command, document=document, wanted=self._maker.wanted
        )


def sweep_row(
    id_: str,
    name: str,
    axes: Sequence[str],
    *,
    replicates: int,
    tasks: int,
    command: str,
    document: SweepDocument,
    wanted: Wanted,
) -> SweepRow:
    """A sweep as recorded in a store; `document` is what it consists of, without kind and metrics."""
    if wanted.kind is not JOB_RUNS:
        document["kind"] = wanted.kind.name
    if wanted.own:
        document["metrics"] = list(wanted.own)
    return {
        "id": id_,
        "name": name,
        "axes": canonical(list(axes)),
        "replicates": replicates,
        "tasks": tasks,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": command,
        "document": canonical(document),
    }


def _described(value: object) -> object:
    """What all runs have in common, in words: inputs with their length, or as drawn for each replicate."""
    if isinstance(value, Workload | FailureTrace):
        return f"{label(value)}, {len(value):,} {'jobs' if isinstance(value, Workload) else 'failures'}"
    if isinstance(value, Workflow | list | tuple):
        flows = [flow for flow in ([value] if isinstance(value, Workflow) else value) if isinstance(flow, Workflow)]
        if flows:
            return f"{label(value)}, {len(flows):,} workflows with {sum(map(len, flows)):,} jobs"
    if isinstance(value, Resources):
        return repr(value)
    if callable(value) and not isinstance(value, Policy):
        return f"{str(label(value)).strip('<>')}, drawn for each replicate"
    return label(value)


def parse_shard(shard: tuple[int, int] | str | None) -> tuple[int, int] | None:
    """(i, n) with 1 <= i <= n."""
    if shard is None:
        return None
    parts = shard.split("/") if isinstance(shard, str) else list(shard)
    try:
        i, n = (checks.parsed(part, int) if isinstance(part, str) else int(part) for part in parts)
    except (TypeError, ValueError):
        raise OptionError(f"shard must be i/n such as 1/8, got {shard!r}") from None
    if not 1 <= i <= n:
        raise OptionError(f"shard must be i/n with 1 <= i <= n, got {shard!r}")
    return i, n


@entry
def load_sweep(
    store: str | os.PathLike[str], sweep: str | None = None, *, allow_older_results: bool = False
) -> SweepTable:
    """The table of a sweep in a store, as far as it is done, even while it runs.

    Parameters
    ----------
    store : str or path
        File that `Sweep.run` or ``faultsim sweep`` wrote.
    sweep : str, optional
        Name of the sweep, or the beginning of its id; by default the one begun last.
    allow_older_results : bool, default False
        Whether a store of an older `MODEL_REVISION`, whose numbers may differ from those of this version, is read as it
        is; `SweepTable.warnings` says so then.

    Raises
    ------
    StoreError
        If the file cannot be read, or is of another model revision.
    OptionError
        If there is no such sweep, or several.

    Examples
    --------
    >>> import tempfile, faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sweep = fs.Sweep(fs.Run(log, fs.Cluster(2)), {"runtime_factor": [1.0, 2.0]}, name="two")
    ...     _ = sweep.run(f"{folder}/sweep.db")
    ...     fs.load_sweep(f"{folder}/sweep.db")["mean_wait"]
    array([4.5, 9.5])
    """
    from faultsim.sweep.store import Store

    with Store(store, write=False, allow_older_results=allow_older_results) as kept:
        return read_table(kept, pick_sweep(kept.sweeps(), checks.file_name(store), sweep))


def pick_sweep(rows: list[SweepEntry], where: str, wanted: str | None) -> SweepEntry:
    """The row of the requested sweep, by name or id."""
    if not rows:
        raise OptionError(f"{where} holds no sweep")
    if wanted is None:
        return rows[-1]
    found = [row for row in rows if row["name"] == wanted] or [row for row in rows if row["id"].startswith(wanted)]
    if not found:
        names = ", ".join(dict.fromkeys(row["name"] or row["id"][:8] for row in rows))
        raise OptionError(f"{where} has no sweep {wanted!r}; it has: {names}")
    if len(found) > 1:
        ids = ", ".join(f"{row['id'][:8]} ({row['created']})" for row in found)
        raise OptionError(f"{where} has {len(found)} sweeps called {wanted!r}; name one by its id: {ids}")
    return found[0]
