"""`Told`: the jobs that a caller has told a simulation of, in the order in which they came (model.md#owned)."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from faultsim.arrays import Values
from faultsim.data.further import check_together
from faultsim.data.workload import Workload, as_it_is, concat
from faultsim.errors import InputError, OptionError


class OneJob(NamedTuple):
    """A job that came alone; its other columns are those of a log that does not give them."""

    id: int
    submit: float
    runtime: float
    estimate: float
    size: int


class About(NamedTuple):
    """What a result keeps of several logs besides their columns, as `concat` has it."""

    names: tuple[str, ...] = ()
    dropped: Mapping[str, int] = MappingProxyType({})
    comments: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """That of all logs together."""
        return "+".join(self.names)

    def and_then(self, log: Workload, *, first: bool) -> "About":
        """With one more log, which is perhaps the `first`."""
        names = (*self.names, log.name) if log.name and log.name not in self.names else self.names
        dropped = {**self.dropped, **{why: self.dropped.get(why, 0) + count for why, count in log.dropped.items()}}
        return About(names, dropped if log.dropped else self.dropped, log.comments if first else self.comments)


class Told(Mapping[str, Values]):
    """The columns of several logs by row, which is the order in which they came; made when they are looked at.

    What came is a list to which only the last of those that share it appends: the next, and copies of a simulation,
    cost nothing of what came before.

    Parameters
    ----------
    first : Workload
        The first jobs.  With `empty` there are none yet, and it gives the columns their names and types.
    """

    def __init__(self, first: Workload, *, empty: bool = False) -> None:
        self._like = first
        self._parts: list[Workload | OneJob] = [] if empty else [first]
        self._n_parts = len(self._parts)
        self.n_jobs = 0 if empty else len(first)
        self._read_ids()
        self._made: dict[str, tuple[Values, int, int]] = {}
        self._rows: Workload | None = None
        self.about = About() if empty else About().and_then(first, first=True)

    def _read_ids(self) -> None:
        """All ids, in a set that the next one goes on with: with more than `n_jobs`, it has those of others too."""
        given = [part.id.tolist() if isinstance(part, Workload) else [part.id] for part in self._parts[: self._n_parts]]
        names = [name for part in given for name in part]
        self._ids: set[object] = set(names)
        self._n_ids = len(self._ids)
        self._last = max((name for name in names if isinstance(name, int)), default=0)

    def numbered(self, log: Workload) -> Workload:
        """A log that comes next, with ids of its own: default ones go on after the largest number so far.

        Raises
        ------
        InputError
            If an id is that of another job.
        """
        self._own_ids()
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

    def _own_ids(self) -> None:
        if self._n_ids != len(self._ids):
            self._read_ids()

    def takes_one(self, number: int | None) -> int | None:
        """The id of a job that comes alone; None if `and_then` must say why not."""
        self._own_ids()
        if number is None:
            return self._last + 1
        return None if number in self._ids else number

    def and_then(self, log: Workload) -> "Told":
        """These, and one more, with the same columns."""
        check_together("the jobs submitted", self._like, log)
        given = log.id.tolist()
        last = max(self._last, *(name for name in given if isinstance(name, int)), 0)
        return self._longer(log, len(log), given, last)

    def and_one(self, job: OneJob) -> "Told":
        """These, and a job with an id of its own (`takes_one`)."""
        return self._longer(job, 1, (job.id,), job.id if job.id > self._last else self._last)

    def _longer(self, part: Workload | OneJob, count: int, ids: list[object] | tuple[int], last: int) -> "Told":
        other = Told.__new__(Told)
        other._like = self._like
        other._parts, other._made = self._parts, self._made
        if self._n_parts != len(self._parts):  # others went on with it
            other._parts, other._made = self._parts[: self._n_parts], {}
        other._parts.append(part)
        self._ids.update(ids)
        other._ids, other._n_ids, other._last, other._rows = self._ids, len(self._ids), last, None
        other.about = self.about.and_then(part, first=not self._n_parts) if isinstance(part, Workload) else self.about
        other._n_parts, other.n_jobs = self._n_parts + 1, self.n_jobs + count
        return other

    def undo(self) -> None:
        """The last part was refused."""
        self._parts.pop()
        self._made.clear()

    def __getitem__(self, name: str) -> Values:
        if name not in self._like.columns:
            raise KeyError(name)
        column, rows, parts = self._made.get(name, (self._like.columns[name][:0], 0, 0))
        if parts < len(self._parts):
            new = _column_of(self._parts[parts:], name, self._like.columns[name])
            kind = np.promote_types(column.dtype, new.dtype) if rows else new.dtype
            if rows + len(new) > len(column) or kind != column.dtype:
                longer = np.empty(max(2 * rows, rows + len(new)), kind)
                longer[:rows] = column[:rows]
                column = longer
            column[rows : rows + len(new)] = new
            self._made[name] = column, rows + len(new), len(self._parts)
        view = column[: self.n_jobs]
        view.flags.writeable = False
        return view

    def __iter__(self) -> Iterator[str]:
        return iter(self._like.columns)

    def __len__(self) -> int:
        return len(self._like.columns)

    @property
    def has_further(self) -> bool:
        """Whether the jobs have columns that a job which comes alone has not."""
        return bool(self._like.further)

    @property
    def has_numbers(self) -> bool:
        """Whether ids are numbers."""
        return self._like.id.dtype.kind == "i"

    @property
    def rows(self) -> Workload:
        """All of them by row, whatever their submit times."""
        if self._rows is None:
            self._rows = as_it_is(dict(self), {}, self._like.name)
        return self._rows

    @property
    def log(self) -> Workload:
        """All of them, by submit time."""
        if not self.n_jobs:
            raise OptionError("no job has been submitted yet: a log has at least one")
        logs = [
            each
            for alone, group in groupby(self._parts[: self._n_parts], lambda part: isinstance(part, OneJob))
            for each in ([_log_of([*group])] if alone else group)  # type: ignore[list-item]
        ]
        return concat(logs) if len(logs) > 1 else logs[0]  # type: ignore[arg-type,return-value]


def _column_of(parts: list[Workload | OneJob], name: str, like: Values) -> Values:
    """A column of several parts, one after another."""
    if name in OneJob._fields and all(isinstance(part, OneJob) for part in parts):
        return np.array([getattr(part, name) for part in parts], like.dtype)
    missing = np.array([-1])
    return np.concatenate(
        [
            part.columns[name] if isinstance(part, Workload) else np.atleast_1d(getattr(part, name, missing))
            for part in parts
        ]
    )


def _log_of(jobs: list[OneJob]) -> Workload:
    jobs.sort(key=lambda job: job.submit)
    number, submit, runtime, estimate, size = zip(*jobs, strict=True)
    return Workload(submit, runtime, size, estimate=estimate, id=number)
