"""`RunList`: runs that no grid describes, one by one, kept in a store as those of a sweep are."""

import itertools
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from faultsim.arrays import Floats
from faultsim.errors import OptionError
from faultsim.simulation.progress import Progress
from faultsim.simulation.run import Run
from faultsim.simulation.workflow_run import WorkflowRun
from faultsim.sweep.kinds import JOB_RUNS, AnyKind
from faultsim.sweep.labels import Label
from faultsim.sweep.runner import fill, make_pool
from faultsim.sweep.store import open_store
from faultsim.sweep.sweep import pick_sweep, sweep_row
from faultsim.sweep.sweep_rows import SweepRow
from faultsim.sweep.table import SweepTable, read_table
from faultsim.sweep.task_hash import Texts, name_of
from faultsim.sweep.tasks import Inputs, Task
from faultsim.sweep.wanted import Wanted, own_metrics

#: A named tuple, whose fields are axes.
Key = TypeVar("Key", bound=tuple[Label, ...])
#: Axes within a setting -> their values; "replicate" is the replicate.
Within = Mapping[str, Sequence[Label]]
#: A number of each run: a column that every store has, by its name, or a function of the result.
Columns = Mapping[str, str | Callable[[Any], float]]


class RunList(Generic[Key]):
    """A list of runs of one's own making.

    Parameters
    ----------
    name : str
        What the sweep is called in the store.
    settings : mapping
        Key, a named tuple -> the axes within it, over which its numbers are arrays.  All have the same ones.
    make : callable
        From a key and a value of each axis within it to the `Run` (or `WorkflowRun`), when it is needed.
    columns : mapping
        What is kept of each run, by the caller's names.
    order : callable, optional
        From a key and values as well: runs are made in ascending order of what it gives, as a run that is made after
        one with the same inputs costs less, and a long one should not be the last.
    kind : Kind
        Of the runs.

    Raises
    ------
    OptionError
        No setting or no run at all; a key that is no named tuple; settings whose keys or axes differ; an axis with the
        name of a field.

    Examples
    --------
    >>> import faultsim as fs
    >>> from typing import NamedTuple
    >>> class Setting(NamedTuple):
    ...     nodes: int
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> runs = RunList(
    ...     "two machines",
    ...     {Setting(2): {"c": [1.0, 2.0]}, Setting(4): {"c": [1.0]}},
    ...     lambda setting, c: Run(log.with_runtime_factor(c), fs.Cluster(setting.nodes)),
    ...     {"wait": "mean_wait"},
    ... )
    >>> len(runs), runs.run()[Setting(2)]
    (3, {'wait': array([4.5, 9.5])})
    """

    def __init__(
        self,
        name: str,
        settings: Mapping[Key, Within],
        make: Callable[..., Run | WorkflowRun],
        columns: Columns,
        *,
        order: Callable[..., float | tuple[float, ...]] | None = None,
        kind: AnyKind = JOB_RUNS,
    ) -> None:
        self.name, self.settings, self.columns = name, settings, columns
        self._make, self._order = make, order
        self._points = [
            (key, point) for key, within in settings.items() for point in itertools.product(*within.values())
        ]
        self._check()
        first, within = next(iter(settings.items()))
        self.axes = (*_fields(first), *(axis for axis in within if axis != "replicate"))
        own = {name: column for name, column in columns.items() if column not in kind.columns}
        self.wanted = Wanted(own=own_metrics(own, self.axes, kind), kind=kind)
        self._digests = Inputs()
        self._identify()

    def _identify(self) -> None:
        """Take policies and functions as they are now."""
        self._own, self._texts = self.wanted.content(), Texts()

    def _check(self) -> None:
        first: tuple[tuple[str, ...], set[str]] | None = None
        for key, within in self.settings.items():
            if not isinstance(key, tuple) or not hasattr(key, "_fields"):
                raise OptionError(f"{self.name}: a setting must be a named tuple, got {key!r:.60}")
            if both := [axis for axis in within if axis in key._fields]:
                raise OptionError(f"{self.name}: the axis {both[0]!r} has the name of a field of {key!r:.60}")
            axes = (key._fields, set(within) - {"replicate"})
            first = first or axes
            if axes != first:
                raise OptionError(f"{self.name}: {key!r:.60} has other fields or axes than the setting before it")
        if not self._points:
            raise OptionError(f"{self.name}: no settings, or an axis without values; expected at least one run")

    def __len__(self) -> int:
        return len(self._points)

    # -- what the engine of sweeps asks

    def places(self) -> Iterator[int]:
        """The numbers of the runs, in the order in which they are made."""
        order = self._order
        if order is None:
            return iter(range(len(self)))
        return iter(sorted(range(len(self)), key=lambda place: order(self._points[place][0], *self._points[place][1])))

    def at(self, place: int) -> Task:
        """The task of this number."""
        key, point = self._points[place]
        run = self._make(key, *point)
        work = run.flows if isinstance(run, WorkflowRun) else run.log
        digest = name_of([*map(self._digest, work)]) if isinstance(work, tuple) else self._digest(work)
        failures = None if run.failures is None else self._digest(run.failures)
        inputs = {digest: work} if failures is None else {digest: work, failures: run.failures}
        id_ = self.wanted.kind.task_id(run, digest, failures, self.wanted.cut, self._texts, self._own)
        labels = self._labels(place)
        return Task(place, int(labels.pop("replicate", 0) or 0), labels, id_, run, digest, failures, inputs)

    def travelling(self) -> dict[str, object]:
        """What other processes need of the caller's: its functions, by what messages call them."""
        return {f"metric {name!r}": metric for name, metric in self.wanted.own.items()}

    def _digest(self, value: object) -> str:
        return self._digests.get((id(value),), lambda: value, value, self.wanted.kind.digest).digest or ""

    def _labels(self, place: int) -> dict[str, Label]:
        key, point = self._points[place]
        labels = dict(zip(_fields(key), key, strict=True)) | dict(zip(self.settings[key], point, strict=True))
        return {
            axis: None if isinstance(value, float) and math.isnan(value) else value for axis, value in labels.items()
        }

    # -- what the caller asks

    def run(
        self,
        store: str | os.PathLike[str] | None = None,
        *,
        workers: int | None = None,
        executor: object = None,
        progress: bool | Progress = False,
        command: str = "",
        base: Mapping[str, object] | None = None,
    ) -> dict[Key, dict[str, Floats]]:
        """Run what the store does not have, and what failed before.

        Parameters
        ----------
        store, workers, executor, progress, command
            As for `Sweep.run`.
        base : mapping, optional
            What all runs have in common, in words or numbers: it tells the sweep from another of the same name.

        Returns
        -------
        dict
            Key -> column -> values, an array with a dimension for each axis within the key.

        Raises
        ------
        OptionError
            The error of a run that failed.
        StoreError, WorkerError, KeyboardInterrupt
            As for `Sweep.run`.
        """
        self._identify()
        with open_store(":memory:" if store is None else store) as kept:
            pool, row = make_pool(executor, workers), self._row(command, dict(base or {}))
            fill(self, kept, pool, row, retry=True, progress=progress)
            return self._gathered(read_table(kept, pick_sweep(kept.sweeps(), kept.path, row["id"])))

    def _gathered(self, table: SweepTable) -> dict[Key, dict[str, Floats]]:
        for place, error in table.errors.items():
            where = ", ".join(f"{axis}={value}" for axis, value in self._labels(place).items())
            raise OptionError(f"{self.name}: {where}: {error}")
        kept = {name: name if name in self.wanted.own else str(column) for name, column in self.columns.items()}
        kept = {name: f"metric:{column}" if column in self.axes else column for name, column in kept.items()}
        found, begin = {}, 0
        for key, within in self.settings.items():
            shape = tuple(map(len, within.values()))
            end = begin + math.prod(shape)
            found[key] = {name: table[column][begin:end].reshape(shape) for name, column in kept.items()}
            begin = end
        return found

    def _row(self, command: str, base: dict[str, object]) -> SweepRow:
        """The sweep as recorded in the store."""
        points = [list(self._labels(place).values()) for place in range(len(self))]
        document = {"name": self.name, "axes": self.axes, "points": points, "base": base, "metrics": self._own}
        return sweep_row(
            name_of({**document, "first": self.at(0).id}),
            self.name,
            self.axes,
            replicates=1 + max(int(self._labels(place).get("replicate") or 0) for place in range(len(self))),
            tasks=len(self),
            command=command,
            document={"base": base, "axes": [], "warmup": 0.0, "drain": 0.0},
            wanted=self.wanted,
        )


def _fields(key: tuple[object, ...]) -> tuple[str, ...]:
    fields: tuple[str, ...] = key._fields  # type: ignore[attr-defined]
    return fields
