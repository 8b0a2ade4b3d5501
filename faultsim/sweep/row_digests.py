"""Digests of the rows of a store: a row whose numbers or text have changed on the disk is not believed."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from faultsim.arrays import Floats
from faultsim.sweep.row_schema import ALL_COLUMNS


class Table(NamedTuple):
    """Columns of a table: of text and whole numbers, then of numbers, which may be NULL, or missing in older stores."""

    plain: tuple[str, ...]
    numbers: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """All but the digest."""
        return self.plain + self.numbers


#: Table -> its columns, in the order in which the store makes them.
TABLES: Mapping[str, Table] = {
    "sweep": Table(("id", "name", "axes", "replicates", "tasks", "created", "command", "document")),
    "run": Table(("id", "status", "error", "environment"), ALL_COLUMNS),
    "task": Table(("sweep", "task", "replicate", "seed", "axes", "run")),
    "timing": Table(("run",), ("elapsed", "ended")),
    "environment": Table(("id", "versions")),
    "own": Table(("run", "numbers")),
    "whole": Table(("sweep", "content")),
    "model": Table(("revision",)),
}


def plain_digest(table: str, values: Iterable[object]) -> int:
    """Of text and whole numbers, by kind and value.

    Examples
    --------
    >>> plain_digest("own", ["a", "{}"]) == plain_digest("own", ["a", "{}"]), plain_digest("own", [1]) < 2**64
    (True, True)
    >>> plain_digest("own", ["1"]) == plain_digest("own", [1])
    False
    """
    text = "\0".join([table, *[f"{type(value).__name__} {value}" for value in values]])
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


@cache
def _weights(names: tuple[str, ...]) -> NDArray[np.uint64]:
    """An odd number for each name: then no change of a single number leaves the sum as it is."""
    return np.array([plain_digest("weight", [name]) | 1 for name in names], np.uint64)


def number_digests(names: tuple[str, ...], numbers: Floats) -> NDArray[np.uint64]:
    """Of numbers, shape (rows, names); NaN is as if the name were not there, so that columns can be added.

    Examples
    --------
    >>> both = number_digests(("a", "b"), np.array([[1.0, np.nan], [1.0, 2.0]]))
    >>> both[0] == number_digests(("a",), np.array([[1.0]]))[0], both[0] == both[1]
    (np.True_, np.False_)
    """
    bits = (numbers + 0.0).view(np.uint64) + np.uint64(1)  # SQLite knows no -0.0
    bits[np.isnan(numbers)] = 0
    made: NDArray[np.uint64] = (bits * _weights(names)).sum(axis=1, dtype=np.uint64)
    return made


def digests(table: str, rows: Sequence[Sequence[object]], names: tuple[str, ...] | None = None) -> list[int]:
    """Of rows of a table, as the whole numbers that SQLite keeps; `names` are those of the numbers, if not all.

    Raises
    ------
    TypeError, ValueError
        A number that is none.

    Examples
    --------
    >>> digests("timing", [("a", 1.0, 2.0)]) == digests("timing", [("a", 1.0, 2.5)])
    False
    """
    kinds = TABLES[table]
    names, at = kinds.numbers if names is None else names, len(kinds.plain)
    made = np.array([plain_digest(table, row[:at]) for row in rows], np.uint64)
    if names:
        given = [row[at : at + len(names)] for row in rows]
        made += number_digests(names, np.array(given, np.float64).reshape(len(rows), len(names)))
    listed: list[int] = made.view(np.int64).tolist()
    return listed
