"""`Told`: the jobs that a caller has told a simulation of, in the order in which they came (model.md#owned)."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from faultsim.arrays import Values
from faultsim.data.further import check_together
from faultsim.data.workload import Workload, as_it_is, concat
from faultsim.errors import InputError, OptionError
from faultsim.simulation.job_ids import JobIds


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
        self._ids = JobIds() if empty else JobIds(first.id.tolist())
        self._made: dict[str, tuple[Values, int, int]] = {}
        self._rows: Workload | None = None
        self.about = About() if empty else About().and_then(first, first=True)

    def numbered(self, log: Workload) -> Workload:
        """A log that comes next, with ids of its own: default ones go on after the largest number so far.

        Raises
        ------
        InputError
            If an id is that of another job.
        """
        after = self._ids.last + 1
        if log._has_default_ids:
            return log._derived(id=np.arange(after, after + len(log)))
        seen: set[object] = set()
        for row, name in enumerate(log.id.tolist()):
            if name in seen or self._ids.row(name) is not None:
                on = "" if isinstance(name, str) else f", or no ids: numbers go on from {after}"
                raise InputError(
                    f"the jobs submitted, row {row}: another job has the id {name!r}; give each its own{on}"
                )
            seen.add(name)
        return log

    def takes_one(self, number: int | None) -> int | None:
        """The id of a job that comes alone; None if `and_then` must say why not."""
        if number is None:
            return self._ids.last + 1
        return number if self._ids.row(number) is None else None

    def and_then(self, log: Workload) -> "Told":
        """These, and one more, with the same columns."""
        check_together("the jobs submitted", self._like, log)
        return self._longer(log, log.id.tolist())

    def and_one(self, job: OneJob) -> "Told":
        """These, and a job with an id of its own (`takes_one`)."""
        return self._longer(job, (job.id,))

    def _longer(self, part: Workload | OneJob, ids: Sequence[int | str]) -> "Told":
        other = Told.__new__(Told)
        other._like = self._like
        other._parts, other._made = self._parts, self._made
        if self._n_parts != len(self._parts):  # others went on with it
            other._parts, other._made = self._parts[: self._n_parts], self._made_so_far()
        other._parts.append(part)
        other._ids, other._rows = self._ids.copy(), None
        other._ids.extend(ids)
        other.about = self.about.and_then(part, first=not self._n_parts) if isinstance(part, Workload) else self.about
        other._n_parts, other.n_jobs = self._n_parts + 1, self.n_jobs + len(ids)
        return other

    def _made_so_far(self) -> dict[str, tuple[Values, int, int]]:
        """The columns without the rows of others, unless those have changed the type."""
        made = {}
        for name, like in self._like.columns.items():
            column = self[name]  # in the memory that is shared, so that it is made once
            if column.dtype == like.dtype:
                made[name] = column, self.n_jobs, self._n_parts
        return made

    def undo(self) -> None:
        """The last part was refused."""
        part = self._parts.pop()
        self._ids.take_back(1 if isinstance(part, OneJob) else len(part))
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
    return np.concatenate(
        [
            part.columns[name] if isinstance(part, Workload) else np.array([getattr(part, name, -1)], like.dtype)
            for part in parts
        ]
    )


def _log_of(jobs: list[OneJob]) -> Workload:
    jobs.sort(key=lambda job: job.submit)
    number, submit, runtime, estimate, size = zip(*jobs, strict=True)
    return Workload(submit, runtime, size, estimate=estimate, id=number)
