"""`Told`: the jobs that a caller has told a simulation of, one log after another (model.md#owned)."""

from collections.abc import Iterator, Mapping

import numpy as np

from faultsim.arrays import Values
from faultsim.data.further import check_together
from faultsim.data.workload import Workload, concat
from faultsim.errors import InputError


class Told(Mapping[str, Values]):
    """The columns of several logs by row, which is the order in which they came; made when they are looked at."""

    def __init__(self, *logs: Workload) -> None:
        self._logs = logs
        self._made: dict[str, Values] = {}
        self.n_jobs = sum(map(len, logs))
        self._read_ids()

    def _read_ids(self) -> None:
        """All ids, in a set that the next one goes on with: with more than `_n_ids`, it has those of others too."""
        self._ids: set[object] = {name for log in self._logs for name in log.id.tolist()}
        self._n_ids = len(self._ids)
        self._last = max((name for name in self._ids if isinstance(name, int)), default=0)

    def numbered(self, log: Workload) -> Workload:
        """A log that comes next, with ids of its own: default ones go on after the largest number so far.

        Raises
        ------
        InputError
            If an id is that of another job.
        """
        if self._n_ids != len(self._ids):
            self._read_ids()
        if log._has_default_ids:
            return log._derived(id=np.arange(self._last + 1, self._last + 1 + len(log)))
        seen: set[object] = set()
        for row, name in enumerate(log.id.tolist()):
            if name in self._ids or name in seen:
                on = "" if isinstance(name, str) else f", or no ids: numbers go on from {self._last + 1}"
                raise InputError(
                    f"the jobs submitted, row {row}: another job has the id {name!r}; give each its own{on}"
                )
            seen.add(name)
        return log

    def and_then(self, log: Workload) -> "Told":
        """These, and one more, with the same columns."""
        check_together("the jobs submitted", self._logs[0], log)
        other = Told()
        other._logs, other.n_jobs = (*self._logs, log), self.n_jobs + len(log)
        given = log.id.tolist()
        self._ids.update(given)
        other._ids, other._n_ids = self._ids, len(self._ids)
        other._last = max(self._last, *(name for name in given if isinstance(name, int)), 0)
        return other

    def __getitem__(self, name: str) -> Values:
        if name not in self._made:
            self._made[name] = np.concatenate([log.columns[name] for log in self._logs])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._logs[0].columns)

    def __len__(self) -> int:
        return len(self._logs[0].columns)

    @property
    def logs(self) -> tuple[Workload, ...]:
        """The logs in the order in which they came, which is that of the rows."""
        return self._logs

    @property
    def log(self) -> Workload:
        """All of them, by submit time."""
        return concat(self._logs) if len(self._logs) > 1 else self._logs[0]
