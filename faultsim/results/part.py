"""Some of the jobs of a result, as metrics see them."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from faultsim.arrays import Values
from faultsim.errors import OptionError
from faultsim.machines import Machine

if TYPE_CHECKING:
    from faultsim.results.metric_table import Measured


class Part:
    """A result with some of its jobs; ledger, counters and span are those of the whole.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1, 2], runtime=[10, 5, 5], size=[2, 2, 2])
    >>> Part(fs.simulate(log, fs.Cluster(2)), slice(1, 3)).jobs["wait"]
    array([ 9., 13.])
    """

    def __init__(self, result: "Measured", rows: "slice | Values") -> None:
        self._result, self._rows = result, rows
        self.jobs: Mapping[str, Values] = _Rows(result.jobs, rows)

    @property
    def ledger(self) -> Mapping[str, float]:
        """That of the result."""
        return self._result.ledger

    @property
    def counters(self) -> Mapping[str, int]:
        """Those of the result."""
        return self._result.counters

    @property
    def metrics(self) -> Mapping[str, float]:
        """Those of the result."""
        return self._result.metrics

    @property
    def machine(self) -> Machine:
        """That of the result."""
        return self._result.machine

    @property
    def capacity(self) -> int:
        """That of the result."""
        return self._result.capacity

    @property
    def span(self) -> tuple[float, float]:
        """That of the result."""
        return self._result.span

    @property
    def settings(self) -> Mapping[str, Any]:
        """Those of the result."""
        return self._result.settings

    @property
    def dispersal(self) -> Values:
        """That of these jobs."""
        dispersal: Values = self._result.dispersal[self._rows]
        return dispersal

    @property
    def users(self) -> Values:
        """Those of these jobs."""
        users: Values = self._result.users[self._rows]
        return users

    @property
    def exposed(self) -> Values:
        """That of these jobs."""
        exposed: Values = self._result.exposed[self._rows]
        return exposed

    def __len__(self) -> int:
        return len(self.jobs["submit"])


def require_over(is_over: bool, what: str) -> None:
    """Raise `OptionError` for what a run that is not over does not have.

    Examples
    --------
    >>> require_over(False, "a report")
    Traceback (most recent call last):
    ...
    faultsim.errors.OptionError: a report is made of runs that are over, and this one is not: run it to its end first
    """
    if not is_over:
        raise OptionError(f"{what} is made of runs that are over, and this one is not: run it to its end first")


class _Rows(Mapping[str, Values]):
    """Some rows of columns."""

    def __init__(self, columns: Mapping[str, Values], rows: "slice | Values") -> None:
        self._columns, self._rows = columns, rows

    def __getitem__(self, name: str) -> Values:
        column: Values = self._columns[name][self._rows]
        return column

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)
