"""The tasks of a sweep: turns cells and replicates into runs, whose inputs are drawn once and kept while needed."""

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from faultsim import checks
from faultsim.data.workflow import Workflow
from faultsim.errors import InputError, OptionError
from faultsim.policies import parse_policy
from faultsim.policies.base import Policy
from faultsim.simulation.run import Run
from faultsim.simulation.workflow_run import WorkflowRun
from faultsim.sweep.grid import Cell, Grid
from faultsim.sweep.kinds import called
from faultsim.sweep.labels import Label
from faultsim.sweep.random_streams import derived_seed, draws_from_seed, generator, run_seed
from faultsim.sweep.task_hash import Texts
from faultsim.sweep.wanted import Wanted

#: Largest seed that the store keeps.
MAX_SEED = 2**63 - 1

#: Bytes of inputs kept for later tasks.
KEPT = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Task:
    """One run of a sweep.

    Parameters
    ----------
    index : int
        ``cell * replicates + replicate``: its place in the table.
    replicate : int
    labels : mapping
        Axis -> what the table shows.
    id : str
        Content hash (`task_id`).
    run : Run or WorkflowRun
    log, failures : str
        Digests of what runs, a log or workflows, and of its failures, None without any.
    inputs : mapping
        Digest -> what has it.
    """

    index: int
    replicate: int
    labels: Mapping[str, Label]
    id: str
    run: Run | WorkflowRun
    log: str
    failures: str | None
    inputs: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _Held:
    """An input and its digest; its source is kept alive, since it is looked up by identity."""

    value: object
    digest: str | None
    source: object


class Inputs:
    """A cache of logs, workflows and failures by their source; the least recently used are evicted.

    Examples
    --------
    >>> kept = Inputs(1000)
    >>> kept.get(("a",), lambda: None).value is None
    True
    """

    def __init__(self, limit: int = KEPT) -> None:
        self._limit, self._bytes = limit, 0
        self._kept: OrderedDict[tuple[object, ...], _Held] = OrderedDict()

    def get(
        self,
        key: tuple[object, ...],
        make: Callable[[], object],
        source: object = None,
        digest: Callable[[object], str] | None = None,
    ) -> _Held:
        """The value cached under `key`, created if missing."""
        held = self._kept.get(key)
        if held is None:
            value = make()
            held = self._kept[key] = _Held(value, None if value is None or digest is None else digest(value), source)
            self._bytes += size_of(value)
            while self._bytes > self._limit and len(self._kept) > 4:
                self._bytes -= size_of(self._kept.popitem(last=False)[1].value)
        else:
            self._kept.move_to_end(key)
        return held


def size_of(value: Any) -> int:
    """Bytes of an input.

    Examples
    --------
    >>> import faultsim as fs
    >>> size_of(fs.FailureTrace([1.0], [0], span=2.0)) == size_of((fs.Workflow([1]),)), size_of(None)
    (False, 0)
    """
    if value is None:
        return 0
    if isinstance(value, tuple):
        return sum(map(size_of, value))
    columns = value._columns if isinstance(value, Workflow) else value.columns
    return sum(int(column.nbytes) for column in columns.values())


class Maker:
    """Creates the tasks of a sweep.

    Parameters
    ----------
    base : mapping
        Options of all runs, with ``log`` and ``machine``; log and failures may be factories.
    grid : Grid
    replicates : int
    wanted : Wanted
        What is kept of each run.

    Raises
    ------
    OptionError, InputError
        If nothing says what runs, or where, or a cell has incompatible options.
    """

    def __init__(self, base: Mapping[str, Any], grid: Grid, replicates: int, wanted: Wanted) -> None:
        self.base, self.grid, self.replicates, self.wanted = base, grid, replicates, wanted
        self.kind = wanted.kind
        self._inputs = Inputs()
        self.identify()
        self._check_all()

    def identify(self) -> None:
        """Take policies and metrics that are written in Python as they are now, before any of them runs."""
        self._own, self._texts = self.wanted.content(), Texts()
        for policy in self._policies():
            with contextlib.suppress(OptionError):  # the first task that has it says so
                self._texts.text(policy.lower())

    def __len__(self) -> int:
        return len(self.grid) * self.replicates

    def places(self) -> Iterator[tuple[int, int]]:
        """(cell, replicate) of all tasks, grouped by shared inputs."""
        return ((cell, r) for r in range(self.replicates) for cell in self.grid.running_order())

    def at(self, place: tuple[int, int]) -> Task:
        """The task at a place."""
        return self.task(self.grid[place[0]], place[1])

    def task(self, cell: Cell, replicate: int) -> Task:
        """The task of a cell and a replicate."""
        given = {**self.base, **cell.values}
        seed = given.get("seed", 0)
        work = self._work(given, replicate, seed)
        failures = self._failures(given, work, replicate, seed)
        options = self.kind.options(given)
        if isinstance(predictor := options.get("predictor"), str):
            options["predictor"] = parse_policy("predictor", predictor)
        if draws_from_seed(options.get("predictor")):
            options["seed"] = run_seed(seed, replicate)
        options |= {self.kind.axes.work: work.value, "failures": failures.value}
        run = self.kind.make(options)
        return Task(
            cell.index * self.replicates + replicate,
            replicate,
            cell.labels,
            self.kind.task_id(run, work.digest or "", failures.digest, self.wanted.cut, self._texts, self._own),
            run,
            work.digest or "",
            failures.digest,
            {held.digest: held.value for held in (work, failures) if held.digest is not None},
        )

    def _check_all(self) -> None:
        """Check that the options of every cell are complete and compatible; reject one that is not, by name.

        Nothing is drawn or run.
        """
        for needed in (self.kind.axes.work, self.kind.axes.machine):
            if needed not in self.base and not any(
                all(needed in point for point in dimension.values) for dimension in self.grid.dimensions
            ):
                raise OptionError(f"the base of a sweep needs {needed!r}, unless an axis sets it everywhere")
        for cell in self.grid:
            given = {**self.base, **cell.values}
            try:
                check_seed(given)
                self.kind.check_given(given)
                self.kind.check(given)
            except (OptionError, InputError) as error:
                where = ", ".join(f"{axis}={value}" for axis, value in cell.labels.items())
                if not where or str(error).startswith("axis "):
                    raise
                raise type(error)(f"cell {where}: {error}") from None

    def travelling(self) -> dict[str, object]:
        """What other processes need of the caller's: its policies and its functions, by what messages call them."""
        policies = self._policies()
        found: dict[str, object] = {"a policy": policies} if policies else {}
        return found | {f"metric {name!r}": metric for name, metric in self.wanted.own.items()}

    def _policies(self) -> list[Policy]:
        points = [point for dimension in self.grid.dimensions for point in dimension.values]
        return [value for given in (self.base, *points) for value in given.values() if isinstance(value, Policy)]

    # -- inputs

    def _work(self, given: Mapping[str, object], replicate: int, seed: int) -> _Held:
        """What runs: a log, or workflows."""
        return self._input(self.kind.axes.work, given, {}, (), replicate, seed)

    def _failures(self, given: Mapping[str, object], work: _Held, replicate: int, seed: int) -> _Held:
        if given.get("failures") is None:
            return _Held(None, None, None)
        return self._input("failures", given, {self.kind.axes.work: work.value}, (work.digest,), replicate, seed)

    def _input(
        self,
        what: str,
        given: Mapping[str, object],
        extra: Mapping[str, object],
        depends: tuple[object, ...],
        replicate: int,
        seed: int,
    ) -> _Held:
        """An input as given, or drawn by a factory from the replicate's stream; then changed."""
        source, kind = given[what], self.kind
        key: tuple[object, ...] = (what, id(source))
        if callable(source):
            key += (replicate, seed, given[kind.axes.machine], *depends)

        def make() -> object:
            if not callable(source):
                return kind.taken(what, source, source)
            known = {kind.axes.machine: given[kind.axes.machine], **extra, "replicate": replicate}
            return kind.taken(what, called(source, generator(seed, what, replicate), known), source)

        held = self._inputs.get(key, make, source, kind.digest)
        return self._changed(what, held, key, given, replicate, seed)

    def _changed(
        self, of: str, held: _Held, key: tuple[object, ...], given: Mapping[str, object], replicate: int, seed: int
    ) -> _Held:
        nodes = self.kind.nodes(given, held.value)
        for name, change in self.kind.axes.changes.items():
            value = given.get(name)
            if change.of != of or value is None:
                continue
            own = derived_seed(seed, name, replicate) if change.draws else 0
            before = self.kind.prepared(given, held.value)
            key = (*key, name, value, own, nodes)
            try:
                held = self._inputs.get(
                    key,
                    lambda: change.apply(before, value, nodes, own),  # noqa: B023
                    held.source,
                    self.kind.digest,
                )
            except (InputError, OptionError) as error:
                raise type(error)(f"axis {name} = {value!r}: {error}") from None
        return held


def check_seed(given: Mapping[str, object]) -> None:
    """Reject a seed that the store cannot keep."""
    checks.whole("seed", given.get("seed", 0), low=0, high=MAX_SEED)
