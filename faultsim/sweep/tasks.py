"""The tasks of a sweep: turns cells and replicates into runs, whose inputs are drawn once and kept while needed."""

import inspect
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from faultsim.data.failures import FailureTrace
from faultsim.data.further import TAKEN
from faultsim.data.workload import Workload
from faultsim.errors import InputError, OptionError
from faultsim.machines import Cluster, Torus
from faultsim.policies import Key
from faultsim.policies.base import Policy
from faultsim.simulation.run import Run
from faultsim.sweep.axes import CHANGES, OPTIONS, with_parameters
from faultsim.sweep.grid import Cell, Grid
from faultsim.sweep.input_sources import DrawnLog
from faultsim.sweep.labels import Label
from faultsim.sweep.random_streams import derived_seed, draws_from_seed, generator, run_seed
from faultsim.sweep.task_hash import Texts, task_id
from faultsim.sweep.wanted import Wanted

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
    run : Run
    log, failures : str
        Digests of its inputs; the second is None without failures.
    """

    index: int
    replicate: int
    labels: Mapping[str, Label]
    id: str
    run: Run
    log: str
    failures: str | None


@dataclass(frozen=True, slots=True)
class _Held:
    """An input and its digest; its source is kept alive, since it is looked up by identity."""

    value: Any
    digest: str | None
    source: Any


class Inputs:
    """A cache of logs and failures by their source; the least recently used are evicted.

    Examples
    --------
    >>> kept = Inputs(1000)
    >>> kept.get(("a",), lambda: None).value is None
    True
    """

    def __init__(self, limit: int = KEPT) -> None:
        self._limit, self._bytes = limit, 0
        self._kept: OrderedDict[tuple[Any, ...], _Held] = OrderedDict()

    def get(self, key: tuple[Any, ...], make: Callable[[], Any], source: object = None) -> _Held:
        """The value cached under `key`, created if missing."""
        held = self._kept.get(key)
        if held is None:
            value = make()
            held = self._kept[key] = _Held(value, None if value is None else value.digest(), source)
            self._bytes += _size(value)
            while self._bytes > self._limit and len(self._kept) > 4:
                self._bytes -= _size(self._kept.popitem(last=False)[1].value)
        else:
            self._kept.move_to_end(key)
        return held


def _size(value: Any) -> int:
    return 0 if value is None else sum(column.nbytes for column in value.columns.values())


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
    """

    def __init__(self, base: Mapping[str, Any], grid: Grid, replicates: int, wanted: Wanted) -> None:
        self.base, self.grid, self.replicates, self.wanted = base, grid, replicates, wanted
        self._own = wanted.content()
        self._inputs, self._texts = Inputs(), Texts()

    def __len__(self) -> int:
        return len(self.grid) * self.replicates

    def task(self, cell: Cell, replicate: int) -> Task:
        """The task of a cell and a replicate."""
        given = {**self.base, **cell.values}
        seed = given.get("seed", 0)
        nodes = given["machine"].nodes if hasattr(given.get("machine"), "nodes") else 0
        log = self._log(given, replicate, seed, nodes)
        failures = self._failures(given, log, replicate, seed, nodes)
        options = _options(given)
        if draws_from_seed(options.get("predictor")):
            options["seed"] = run_seed(seed, replicate)
        options |= {"log": log.value, "failures": failures.value}
        run = Run(**options)
        return Task(
            cell.index * self.replicates + replicate,
            replicate,
            cell.labels,
            task_id(run, log.digest or "", failures.digest, self.wanted.cut, self._texts, self._own),
            run,
            log.digest or "",
            failures.digest,
        )

    def check(self, cell: Cell) -> None:
        """Reject a cell with incompatible options, before anything is drawn or run."""
        given = {**self.base, **cell.values}
        options = _options(given)
        log, failures = given.get("log"), given.get("failures")
        options["log"] = _any_log(log, options.get("scheduler")) if callable(log) else log
        options["failures"] = _NO_FAILURES if callable(failures) else failures
        if options["failures"] is None:
            for name, change in CHANGES.items():
                if change.of == "failures" and given.get(name) is not None:
                    raise OptionError(f"axis {name}: there are no failures to change; give failures in the base")
        Run(**options)

    def travelling(self) -> dict[str, object]:
        """What other processes need of the caller's: its policies and its functions, by what messages call them."""
        points = [point for dimension in self.grid.dimensions for point in dimension.values]
        policies = [value for given in (self.base, *points) for value in given.values() if isinstance(value, Policy)]
        found: dict[str, object] = {"a policy": policies} if policies else {}
        return found | {f"metric {name!r}": metric for name, metric in self.wanted.own.items()}

    # -- inputs

    def _log(self, given: Mapping[str, Any], replicate: int, seed: int, nodes: int) -> _Held:
        source = given["log"]
        key: tuple[Any, ...] = ("log", id(source))
        if callable(source):
            key += (replicate, seed, given["machine"])
        held = self._inputs.get(key, lambda: _made("log", source, seed, replicate, given["machine"], None), source)
        return self._changed("log", held, key, given, replicate, seed, nodes)

    def _failures(self, given: Mapping[str, Any], log: _Held, replicate: int, seed: int, nodes: int) -> _Held:
        source = given.get("failures")
        if source is None:
            return _Held(None, None, None)
        key: tuple[Any, ...] = ("failures", id(source))
        if callable(source):
            key += (replicate, seed, given["machine"], log.digest)
        held = self._inputs.get(
            key, lambda: _made("failures", source, seed, replicate, given["machine"], log.value), source
        )
        return self._changed("failures", held, key, given, replicate, seed, nodes)

    def _changed(
        self,
        of: str,
        held: _Held,
        key: tuple[Any, ...],
        given: Mapping[str, Any],
        replicate: int,
        seed: int,
        nodes: int,
    ) -> _Held:
        for name, change in CHANGES.items():
            value = given.get(name)
            if change.of != of or value is None:
                continue
            own = derived_seed(seed, name, replicate) if change.draws else 0
            before = held.value
            key = (*key, name, value, own, nodes)
            try:
                held = self._inputs.get(key, lambda: change.apply(before, value, nodes, own), held.source)  # noqa: B023
            except (InputError, OptionError) as error:
                raise type(error)(f"axis {name} = {value!r}: {error}") from None
        return held


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of the run, with the policy parameters set by axes; log and failures as given."""
    options = {name: given[name] for name in OPTIONS if name in given}
    with_parameters(options, {name: value for name, value in given.items() if "." in name})
    return options


#: Placeholders for inputs that are not drawn yet.
_ANY_LOG = Workload(submit=[0.0], runtime=[1.0], size=[1])
_NO_FAILURES = FailureTrace([], [], span=1.0)
_EXPECTED = {"log": Workload, "failures": FailureTrace}


def _any_log(drawn: object, scheduler: object) -> Workload:
    """The placeholder, with the columns that a key names: a factory written in Python may give them."""
    order = getattr(scheduler, "order", None)
    if isinstance(drawn, DrawnLog) or not isinstance(order, Key):
        return _ANY_LOG
    return _ANY_LOG.with_columns(**{name: [0.0] for name in order.further if name not in TAKEN})


def _made(
    what: str, source: object, seed: int, replicate: int, machine: Cluster | Torus | None, log: Workload | None
) -> Any:
    """An input as given, or drawn by a factory from the replicate's stream."""
    if not callable(source):
        return source
    extra = {"machine": machine, "log": log, "replicate": replicate}
    wanted = inspect.signature(source).parameters
    known = {name: value for name, value in extra.items() if name in wanted and value is not None}
    value = source(generator(seed, what, replicate), **known)
    if not isinstance(value, _EXPECTED[what]):
        raise InputError(f"the factory of {what} must return a {_EXPECTED[what].__name__}, got {value!r:.60}")
    return value
