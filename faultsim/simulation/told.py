"""`Told`: the jobs that a caller has told a simulation of, one log after another (model.md#owned)."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faultsim.data.further import check_together
from faultsim.data.workload import Workload, concat


class Told(Mapping[str, NDArray[Any]]):
    """The columns of several logs by row, which is the order in which they came; made when they are looked at."""

    def __init__(self, *logs: Workload) -> None:
        self._logs = logs
        self._made: dict[str, NDArray[Any]] = {}
        self.n_jobs = sum(map(len, logs))

    def and_then(self, log: Workload) -> "Told":
        """These, and one more, with the same columns."""
        check_together("the jobs submitted", self._logs[0], log)
        other = Told()
        other._logs, other.n_jobs = (*self._logs, log), self.n_jobs + len(log)
        return other

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._made:
            self._made[name] = np.concatenate([log.columns[name] for log in self._logs])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._logs[0].columns)

    def __len__(self) -> int:
        return len(self._logs[0].columns)

    @property
    def log(self) -> Workload:
        """All of them, by submit time."""
        return concat(self._logs) if len(self._logs) > 1 else self._logs[0]
