"""What a sweep keeps of each run: the numbers of every row, and metrics of the caller's own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from faultsim.errors import FaultsimError, OptionError
from faultsim.results.metrics import METRICS
from faultsim.sweep.identity import identity
from faultsim.sweep.kinds import JOB_RUNS, AnyKind, Begun


class NoNumberError(OptionError):
    """A metric is no metric: the mistake of the caller, and not the failure of one run."""


#: Names that columns of the table have besides metrics.
_TAKEN = ("replicate", "seed", "run", "status", "run:seed")
#: A metric of `faultsim.METRICS` by its name, or a function of a `Result` (of workflows: of a `WorkflowResult`).
Own = Mapping[str, "str | Callable[[Any], float]"]


@dataclass(frozen=True)
class Wanted:
    """What is kept of each run.

    Parameters
    ----------
    cut : (float, float)
        Shares of the jobs that job metrics exclude at the beginning and at the end.
    own : mapping
        Further metrics by name.
    kind : Kind
        Of the runs.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> Wanted(own={"jobs": len}).own_row(fs.simulate(log, fs.Cluster(2)))
    [2.0]
    """

    cut: tuple[float, float] = (0.0, 0.0)
    own: Own = field(default_factory=dict)
    kind: AnyKind = JOB_RUNS

    @property
    def width(self) -> int:
        """How many numbers that is."""
        return len(self.kind.columns) + len(self.own)

    def row(self, run: Begun[object]) -> list[float]:
        """The numbers of a run that is over: those of its kind, then its own."""
        if not self.own:
            return self.kind.row(run, self.cut)
        result = run.result()
        return [*self.kind.row_beside(run, result, self.cut), *self.own_row(result)]

    def own_row(self, result: object) -> list[float]:
        """Its own numbers."""
        return [self._own(name, metric, result) for name, metric in self.own.items()]

    def _own(self, name: str, metric: "str | Callable[[object], float]", result: object) -> float:
        if isinstance(metric, str):
            return self.kind.metric(metric, result, self.cut)
        try:
            value = metric(result)
        except FaultsimError:
            raise
        except Exception as error:  # the caller's function may raise anything
            raise OptionError(f"metric {name!r}: {type(error).__name__}: {error}") from error
        try:
            kind = getattr(getattr(value, "dtype", None), "kind", "f")
            if isinstance(value, str | bytes) or np.ndim(value) or kind not in "biuf":
                raise TypeError("float would read or unwrap it")
            return float(value)
        except (TypeError, ValueError):
            raise NoNumberError(
                f"metric {name!r} must return a number, got {value!r:.60}; where there is none, return float('nan')"
            ) from None

    def content(self) -> dict[str, object]:
        """What its own metrics are, for the hash of a run: names of `faultsim.METRICS`, and identities of functions.

        Raises
        ------
        OptionError
            For a function that cannot be identified by content.
        """
        return {
            name: metric if isinstance(metric, str) else {"function": identity(metric, f"metric {name!r:.40}")}
            for name, metric in self.own.items()
        }


def own_metrics(given: object, axes: Sequence[str], kind: AnyKind = JOB_RUNS) -> Own:
    """Metrics of the caller's own, checked: names of `faultsim.METRICS`, or a mapping of names to functions.

    Raises
    ------
    OptionError
        For a name that the table has already, an unknown metric, or what is no function.

    Examples
    --------
    >>> own_metrics(["p95_wait"], [])
    {'p95_wait': 'p95_wait'}
    """
    if given is None:
        return {}
    if isinstance(given, str) or not isinstance(given, Mapping | Sequence):
        raise OptionError(f"metrics must map names to functions, or list names of faultsim.METRICS, got {given!r:.60}")
    found: dict[str, str | Callable[[object], float]] = {}
    for name, metric in given.items() if isinstance(given, Mapping) else [(name, name) for name in given]:
        if isinstance(metric, str):
            kind.check_metric(metric)
        elif not callable(metric):
            raise OptionError(f"metrics: {name!r} must be a function of a Result, got {metric!r:.60}")
        if not isinstance(name, str) or not name.isprintable() or not name:
            raise OptionError(f"metrics: a name is printable text, got {name!r:.60}")
        if name in kind.columns or name in _TAKEN or name in axes or (name in METRICS and metric != name):
            raise OptionError(f"metrics: the table has a column {name!r} already; choose another name")
        if name in found:
            raise OptionError(f"metrics: {name!r} is given twice")
        found[name] = metric
    return found
