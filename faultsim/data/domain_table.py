"""`DomainTable`: the columns of a table of failure domains, and what they take away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np

from faultsim import checks
from faultsim.arrays import Flags, Floats, Integers, LongIntegers, Values
from faultsim.data.columns import read_only
from faultsim.data.slowdowns import Slowdown
from faultsim.data.table import ReadOnly
from faultsim.errors import InputError, OptionError

Effect: TypeAlias = Literal["down", "none"] | Slowdown
# More members than this, in all, come from a mistake in numbers and would fill the memory.
_MOST_MEMBERS = 200_000_000


class Domain(NamedTuple):
    """One row of `Domains`: a name, a kind, the nodes, its own down time or None, and what an outage does."""

    name: str
    kind: str
    members: Integers
    downtime: float | None
    effect: Effect


class DomainTable(ReadOnly):
    """Names, kinds and members of failure domains: what `faultsim.Domains` stands on, which adds ways to make them."""

    __slots__ = (
        "_by_kind",
        "_down",
        "_downtime",
        "_kinds",
        "_members",
        "_names",
        "_nodes",
        "_offsets",
        "_row",
        "_slow",
    )
    _CALLED = "Domains"

    _names: tuple[str, ...]
    _kinds: tuple[str, ...]
    _row: dict[str, int]
    _by_kind: dict[str, LongIntegers]
    _offsets: LongIntegers
    _members: Integers
    _downtime: Floats
    _down: Flags
    _slow: tuple[Slowdown | None, ...]
    _nodes: int

    def _set(
        self,
        *,
        names: tuple[str, ...],
        kinds: tuple[str, ...],
        sizes: LongIntegers,
        members: Values,
        downtime: Floats,
        down: Flags,
        slow: tuple[Slowdown | None, ...],
        nodes: int,
    ) -> Self:
        """Sets the columns of a new table, whose members are known to be valid."""
        row = {name: at for at, name in enumerate(names)}
        if len(row) < len(names):
            twice = next(name for at, name in enumerate(names) if row[name] != at)
            raise InputError(f"domains: {checks.shown(twice)} appears twice; a name is that of one domain")
        for at, name in enumerate(names):
            if slow[at] is not None and sizes[at] < nodes:
                raise OptionError(
                    f"effect of domains: {checks.shown(name)} has {sizes[at]} of {nodes} nodes, and Slowdown is for "
                    f"what all nodes share; 'down' takes its members down, 'none' leaves them up and counts the outage"
                )
        offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
        parts = {
            "names": names,
            "kinds": kinds,
            "row": row,
            "by_kind": _rows_by_kind(kinds),
            "offsets": read_only(offsets),
            "members": read_only(np.ascontiguousarray(members, dtype=np.int32)),
            "downtime": read_only(downtime),
            "down": read_only(down),
            "slow": slow,
            "nodes": nodes,
        }
        for name, value in parts.items():
            object.__setattr__(self, f"_{name}", value)
        return self

    def __reduce__(self) -> tuple[object, ...]:
        sizes = np.diff(self._offsets)
        parts = (self._names, self._kinds, sizes, self._members, self._downtime, self._down, self._slow)
        return _restored, (type(self), *parts, self._nodes)

    @classmethod
    def _same_size(
        cls,
        names: tuple[str, ...],
        kind: str,
        rows: Values,
        nodes: int,
        downtime: checks.Duration | None,
        effect: Effect,
    ) -> Self:
        """Domains with as many members each, a row of nodes for each of them."""
        return object.__new__(cls)._set(
            names=names,
            kinds=(kind,) * len(names),
            sizes=np.full(len(names), rows.shape[1], dtype=np.int64),
            members=rows.ravel(),
            downtime=np.full(len(names), own_downtime(downtime)),
            down=np.full(len(names), is_down(effect)),
            slow=(effect if isinstance(effect, Slowdown) else None,) * len(names),
            nodes=nodes,
        )

    @classmethod
    def join(cls, tables: Iterable[DomainTable]) -> Self:
        """Several tables of one machine as one: the rows of the first, then those of the second, and so on.

        Raises
        ------
        InputError
            Tables of machines of different sizes; a name that appears twice.

        Examples
        --------
        >>> import faultsim as fs
        >>> cubes, switch = fs.Domains.blocks(64, 16, kind="cube"), fs.Domains([range(64)], 64, kind="switch")
        >>> fs.Domains.join([cubes, switch]).rows("switch")
        array([4])
        """
        if not isinstance(tables, Iterable):
            raise InputError(f"join: expected tables of domains, got {checks.shown(tables)}")
        parts = list(tables) if not isinstance(tables, DomainTable) else [tables]
        for at, part in enumerate(parts):
            if not isinstance(part, DomainTable):
                raise InputError(f"join: item {at} must be Domains, got {checks.shown(part)}")
            if part._nodes != parts[0]._nodes:
                raise InputError(
                    f"join: domains of {parts[0]._nodes} nodes and of {part._nodes}; give those of one machine"
                )
        if not parts:
            raise InputError("join: no domains given; expected at least one table")
        return object.__new__(cls)._set(
            names=tuple(name for part in parts for name in part._names),
            kinds=tuple(kind for part in parts for kind in part._kinds),
            sizes=np.concatenate([np.diff(part._offsets) for part in parts]),
            members=np.concatenate([part._members for part in parts]),
            downtime=np.concatenate([part._downtime for part in parts]),
            down=np.concatenate([part._down for part in parts]),
            slow=tuple(effect for part in parts for effect in part._slow),
            nodes=parts[0]._nodes,
        )

    # -- looking -----------------------------------------------------------------------------------------------------

    @property
    def nodes(self) -> int:
        """Nodes of the machine."""
        return self._nodes

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each domain."""
        return self._names

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds there are, in the order of their first rows."""
        return tuple(self._by_kind)

    @property
    def sizes(self) -> LongIntegers:
        """How many nodes each domain takes away; 0 if its outages are routed around, or slow jobs down."""
        return np.where(self._down, np.diff(self._offsets), 0)

    @property
    def downtime(self) -> Floats:
        """The down time of each domain, in seconds; NaN where the failure says it."""
        return self._downtime

    def row(self, name: str) -> int:
        """The row of a domain, by which a trace names it.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Domains.blocks(64, 16, kind="cube").row("cube 3")
        3
        """
        if name not in self:
            if not isinstance(name, str):
                raise InputError(f"domains: a name is text, got {checks.shown(name)}")
            hint = checks.did_you_mean(name, self._names) if len(self) <= 10_000 else ""
            raise InputError(f"domains: no domain {checks.shown(name)}{hint}")
        return self._row[name]

    def rows(self, kind: str) -> LongIntegers:
        """The rows of the domains of a kind.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Domains.blocks(64, 16, kind="cube").rows("cube")
        array([0, 1, 2, 3])
        """
        checks.choice("kind of domains", kind, self.kinds)
        return self._by_kind[kind].copy()

    def taken(self, rows: Values) -> tuple[LongIntegers, Integers]:
        """What outages of these domains take away, one after the other: the place of each in `rows`, and the node.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Domains.blocks(4, 2).taken(np.array([1, 0, 1]))
        (array([0, 0, 1, 1, 2, 2]), array([2, 3, 0, 1, 2, 3], dtype=int32))
        """
        try:
            rows = np.asarray(rows, dtype=np.int64)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"domains: expected numbers of rows, got {rows!r:.60}") from None
        if rows.ndim != 1:
            raise InputError(f"domains: expected rows in one dimension, got {rows.ndim}")
        if ((rows < 0) | (rows >= len(self))).any():
            raise InputError(f"domains: rows {rows.min()} to {rows.max()} of {len(self):,}, which count from 0")
        counts = self.sizes[rows]
        check_count(int(counts.sum()))
        which = np.repeat(np.arange(len(rows)), counts)
        within = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
        return which, self._members[self._offsets[rows][which] + within]

    def begins_with_nodes(self, count: int) -> bool:
        """Whether so many rows, the first ones, are the nodes themselves: row k has node k alone.

        Examples
        --------
        >>> import faultsim as fs
        >>> hosts, racks = fs.Domains.hosts(64), fs.Domains.blocks(64, 16)
        >>> fs.Domains.join([hosts, racks]).begins_with_nodes(64), racks.begins_with_nodes(4)
        (True, False)
        """
        numbers = np.arange(count)
        return (
            count <= len(self)
            and bool(np.array_equal(self._offsets[: count + 1], np.arange(count + 1)))
            and bool(np.array_equal(self._members[:count], numbers))
        )

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, which: int | str) -> Domain:
        if not isinstance(which, str) and not hasattr(which, "__index__"):
            raise InputError(f"domains: expected the name or the number of one row, got {checks.shown(which)}")
        row = self.row(which) if isinstance(which, str) else range(len(self))[which]
        own = float(self._downtime[row])
        return Domain(
            self._names[row],
            self._kinds[row],
            self._members[self._offsets[row] : self._offsets[row + 1]],
            None if np.isnan(own) else own,
            self._slow[row] or ("down" if self._down[row] else "none"),
        )

    def __contains__(self, name: object) -> bool:
        """Whether there is a domain of this name."""
        return isinstance(name, str) and name in self._row

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DomainTable):
            return NotImplemented
        facts = (self._nodes, self._names, self._kinds, self._slow)
        return facts == (other._nodes, other._names, other._kinds, other._slow) and all(
            np.array_equal(getattr(self, name), getattr(other, name), equal_nan=name == "_downtime")
            for name in ("_offsets", "_members", "_downtime", "_down")
        )

    def __hash__(self) -> int:
        return hash((self._nodes, self._names, self._members.tobytes()))

    def __iter__(self) -> Iterator[Domain]:
        return (self[row] for row in range(len(self)))

    def __repr__(self) -> str:
        counts = ", ".join(f"{kind} {len(rows)}" for kind, rows in self._by_kind.items())
        return f"<{self._CALLED} of {self._nodes} nodes: {counts or 'none'}>"


def _restored(cls: type[DomainTable], *parts: Any) -> DomainTable:
    names = ("names", "kinds", "sizes", "members", "downtime", "down", "slow", "nodes")
    return object.__new__(cls)._set(**dict(zip(names, parts, strict=True)))


def _rows_by_kind(kinds: tuple[str, ...]) -> dict[str, LongIntegers]:
    """Kind -> its rows, kinds in the order of their first ones."""
    if kinds and kinds.count(kinds[0]) == len(kinds):  # nearly always
        return {kinds[0]: np.arange(len(kinds))}
    found: dict[str, list[int]] = {}
    for row, kind in enumerate(kinds):
        found.setdefault(kind, []).append(row)
    return {kind: np.array(rows, np.int64) for kind, rows in found.items()}


def own_downtime(downtime: object) -> float:
    """The down time of a domain, NaN if it has none of its own."""
    return (
        float("nan")
        if downtime is None
        else checks.duration("downtime of domains", downtime, low=0.0, unit="s", endless=True)
    )


def is_down(effect: object) -> bool:
    """Whether outages take the members down."""
    if isinstance(effect, Slowdown):
        return False
    if effect == "slowdown":
        raise OptionError("effect of domains: a slowdown needs its speed: give effect=fs.Slowdown(0.95), or another")
    return checks.choice("effect of domains", effect, ("down", "none")) == "down"


def check_count(members: int) -> None:
    """Raise `OptionError` for more members than the memory should hold."""
    if members > _MOST_MEMBERS:
        raise OptionError(f"domains: {members:,} members in all; at most {_MOST_MEMBERS:,} are possible")
