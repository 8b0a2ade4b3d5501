"""The ids of the jobs that a caller submits, by row, and the rows by id."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

#: Layers below which a job is searched; then all are made one, which takes time for every job.
_MOST_LAYERS = 8


class JobIds:
    """Ids by row.  A copy takes constant time: it shares what there is, and only one of those that share it appends.

    Invariant: the jobs of this layer have the rows from `_first` on, those of lower layers the rows before that.

    Attributes
    ----------
    last : int
        The largest number among the ids, after which default ones go on.
    repeated : dict
        Ids that occur several times, with how often.

    Examples
    --------
    >>> ids = JobIds([1, 2])
    >>> before = ids.copy()
    >>> ids.extend([7])
    >>> ids.row(7), ids[2], len(before), before.row(7), before.last
    (2, 7, 2, None, 2)
    >>> before.extend([9])
    >>> before[2], ids[2], before.row(7), ids.row(9)
    (9, 7, None, None)
    """

    __slots__ = ("_below", "_count", "_depth", "_first", "_ids", "_rows", "last", "repeated")

    def __init__(self, ids: Iterable[int | str] = ()) -> None:
        self._ids = list(ids)
        self._rows = {name: row for row, name in enumerate(self._ids)}
        self._below: JobIds | None = None
        self._first = self._depth = 0
        self._count = len(self._ids)
        self.repeated = {} if len(self._rows) == len(self._ids) else _repeated(self._ids)
        self.last = max((name for name in self._ids if isinstance(name, int)), default=0)

    def copy(self) -> "JobIds":
        """The same ids, which go on without those that this one gets later."""
        other = JobIds.__new__(JobIds)
        other._ids, other._rows, other._below = self._ids, self._rows, self._below
        other._first, other._depth, other._count = self._first, self._depth, self._count
        other.repeated, other.last = self.repeated, self.last
        return other

    def extend(self, names: Sequence[int | str]) -> None:
        """Further jobs, with ids that no other has."""
        if self._count != self._first + len(self._ids):
            self._begin_layer()
        for row, name in enumerate(names, self._count):
            self._rows[name] = row
            if isinstance(name, int) and name > self.last:
                self.last = name
        self._ids.extend(names)
        self._count += len(names)
        self.last = max(self.last, 0)

    def _begin_layer(self) -> None:
        """Another one has appended to what is shared, so that further jobs go elsewhere."""
        if self._depth == _MOST_LAYERS:
            names = [name for part in reversed([*self._parts()]) for name in part]
            self._below, self._first, self._depth = None, 0, 0
            self._ids, self._rows = names, {name: row for row, name in enumerate(names)}
        else:
            self._below, self._first, self._depth = self.copy(), self._count, self._depth + 1
            self._ids, self._rows = [], {}

    def _parts(self) -> Iterator[list[int | str]]:
        """The ids of each layer, from above."""
        layer: JobIds | None = self
        end = self._count
        while layer is not None:
            yield layer._ids[: end - layer._first]
            end, layer = layer._first, layer._below

    def take_back(self, count: int) -> None:
        """The last jobs were refused."""
        for name in self._ids[len(self._ids) - count :]:
            del self._rows[name]
        del self._ids[len(self._ids) - count :]
        self._count -= count

    def row(self, name: object) -> int | None:
        """The row of the job with an id, one of them if there are several; None if there is none."""
        layer: JobIds | None = self
        end = self._count
        while layer is not None:
            row = layer._rows.get(name)  # type: ignore[call-overload]  # any other name is not there
            if row is not None and row < end:
                found: int = row
                return found
            end, layer = layer._first, layer._below
        return None

    def __getitem__(self, row: int) -> int | str:
        layer = self
        while row < layer._first and layer._below is not None:
            layer = layer._below
        return layer._ids[row - layer._first]

    def __len__(self) -> int:
        return self._count


def _repeated(names: list[int | str]) -> dict[int | str, int]:
    """Ids that occur several times, with how often."""
    return {name: count for name, count in Counter(names).items() if count > 1}
