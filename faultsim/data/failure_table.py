"""`FailureTable`: the columns of a failure trace, checked once, then immutable; and the coins of its failures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from faultsim import checks, renames
from faultsim.arrays import Floats, Integers, Texts, Values
from faultsim.data.columns import FAILURES, as_column, by_name, read_only
from faultsim.data.node_parts import parts_column
from faultsim.data.numbering import Numbering, numbering
from faultsim.data.slowdowns import SlowOutage
from faultsim.data.table import Pickled, Table
from faultsim.errors import InputError, NotAvailableError

_COLUMNS = by_name(FAILURES)
# The stream of default coins: any fixed number will do, and changing it changes every prediction.
_COIN_STREAM = 20_041_204


def default_coins(n: int) -> Floats:
    """Default coins for a trace of `n` failures: always the same for the same `n`.

    Examples
    --------
    >>> bool((default_coins(5) == default_coins(5)).all()), bool((default_coins(5) < 1).all())
    (True, True)
    """
    seed = np.random.SeedSequence(_COIN_STREAM, spawn_key=(n,))
    return np.random.Generator(np.random.PCG64DXSM(seed)).random(n)


def priorities(coin: Floats, key: int) -> NDArray[np.uint64]:
    """A pseudorandom number for each failure that depends on its coin, but reveals nothing about it.

    A failure has the same number whatever else is in the trace, so picking failures by these numbers gives nested
    choices. Failures that share a coin are distinguished by how many of them came before.

    Parameters
    ----------
    coin : numpy.ndarray of float64
        Coins.
    key : int
        A different key gives different numbers.

    Examples
    --------
    >>> a = priorities(np.array([0.25, 0.5]), 0)
    >>> b = priorities(np.array([0.125, 0.25, 0.5]), 0)
    >>> bool((a == b[1:]).all())
    True
    """
    order = np.argsort(coin, kind="stable")
    ranks = np.arange(len(coin))
    first = np.zeros(len(coin), dtype=np.int64)
    new = np.flatnonzero(coin[order][1:] != coin[order][:-1]) + 1
    first[new] = new
    twins = np.empty(len(coin), dtype=np.uint64)
    twins[order] = (ranks - np.maximum.accumulate(first)).astype(np.uint64)
    bits = np.ascontiguousarray(coin, dtype=np.float64).view(np.uint64)
    return _mixed(_mixed(_mixed(bits) ^ np.uint64(key % 2**64)) + twins)


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finalizer of SplitMix64 ([steele2014]); integers wrap around."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


class FailureTable(Table):
    """Read-only NumPy columns, one row per failure, sorted by time: what `faultsim.FailureTrace` stands on.

    The parameters, columns and errors are those of `faultsim.FailureTrace`, which adds the methods.
    """

    __slots__ = ("_of", "_slow", "_span")
    _CALLED: ClassVar[str] = "FailureTrace"
    _NOUN: ClassVar[str] = "failure trace"
    _SORTED_BY: ClassVar[str] = "time"
    _OWN: ClassVar[str] = "span"

    _span: float
    _slow: tuple[SlowOutage, ...]
    _of: Numbering | None

    @renames.arguments("FailureTrace")
    def __init__(
        self,
        time: checks.Durations,
        node: ArrayLike,
        downtime: checks.Durations = 0.0,
        *,
        coin: ArrayLike | None = None,
        part: ArrayLike | None = None,
        span: checks.Duration | None = None,
        of: object = None,
        name: str = "",
        dropped: Mapping[str, int] | None = None,
    ) -> None:
        times = as_column(time, _COLUMNS["time"])
        n = len(times)
        if np.asarray(downtime).ndim == 0:  # one for all, checked even without failures
            lasts = checks.seconds(downtime)
            downtime = downtime if lasts is None else lasts
            downtime = as_column(np.full(max(n, 1), downtime), _COLUMNS["downtime"])[:n]
        columns = {
            "time": times,
            "node": as_column(node, _COLUMNS["node"], length=n),
            "downtime": as_column(downtime, _COLUMNS["downtime"], length=n),
        }
        columns["coin"] = read_only(default_coins(n)) if coin is None else _checked_coins(coin, n)
        named = None if part is None else parts_column(part, n)
        if named is not None:
            columns["part"] = named
        if (times[1:] < times[:-1]).any():
            order = np.argsort(times, kind="stable")
            kept = columns["coin"] if coin is None else None  # default coins are of positions, not of failures
            columns = {key: read_only(values[order]) for key, values in columns.items()}
            if kept is not None:
                columns["coin"] = kept
        checked = _checked_span(span, columns["time"])
        meaning = _checked_numbers(numbering(of), columns["node"])
        self._fill(
            columns=columns,
            span=checked,
            of=meaning,
            name=str(name),
            dropped=checks.counts_of("dropped", dropped),
            slow=(),
        )

    def _fill(self, **parts: object) -> Self:
        return super()._fill(**{"of": None, **parts})

    def _made(
        self,
        columns: Mapping[str, Values],
        span: float | None = None,
        dropped: Mapping[str, int] | None = None,
        name: str | None = None,
        slow: Iterable[SlowOutage] | None = None,
    ) -> Self:
        """A trace of rows that are already valid and sorted; the rest is taken from this one."""
        if span is not None and span > checks.LATEST:
            raise InputError(f"span: {span:.15g} s {checks.beyond_the_clock(span)}")
        kept = {key: read_only(np.ascontiguousarray(columns[key], dtype=_COLUMNS[key].dtype)) for key in _COLUMNS}
        if "part" in columns and (columns["part"] != "").any():
            kept["part"] = read_only(np.ascontiguousarray(columns["part"]))
        return object.__new__(type(self))._fill(
            columns=kept,
            span=self._span if span is None else span,
            of=self._of,
            name=self._name if name is None else name,
            dropped=dict(self._dropped if dropped is None else dropped),
            slow=self._slow if slow is None else tuple(sorted(slow, key=lambda outage: outage.time)),
        )

    def _numbered(self, of: Numbering | None) -> Self:
        """The same trace, whose node numbers have this meaning."""
        if of == self._of:
            return self
        parts = {name: getattr(self, f"_{name}") for name in ("columns", "span", "name", "dropped", "slow")}
        return object.__new__(type(self))._fill(**parts, of=of)

    def __reduce__(self) -> Pickled:
        restore, (kind, parts) = super().__reduce__()
        return restore, (kind, {**parts, "slow": self._slow, "of": self._of})

    def _rows(self, rows: slice | Values, dropped: Mapping[str, int] | None = None) -> Self:
        """Some of the rows, in order, as copies that keep no larger array alive."""
        return self._made({key: values[rows].copy() for key, values in self._columns.items()}, dropped=dropped)

    def _sorted(self, columns: Mapping[str, Values], **facts: Any) -> Self:
        """The same from rows in any order; equal times keep their order."""
        order = np.argsort(columns["time"], kind="stable")
        return self._made({key: values[order] for key, values in columns.items()}, **facts)

    # -- columns and facts -------------------------------------------------------------------------------------------

    @property
    def time(self) -> Floats:
        """When each failure happens, in seconds, never decreasing."""
        return self._columns["time"]

    @property
    def node(self) -> Integers:
        """The node that fails, int32, from 0."""
        return self._columns["node"]

    @property
    def downtime(self) -> Floats:
        """How long the node is down, in seconds; 0 if it comes back at once, infinite if never."""
        return self._columns["downtime"]

    @property
    def coin(self) -> Floats:
        """One uniform number in [0, 1) for each failure, which predictors compare with their probability."""
        return self._columns["coin"]

    @property
    def part(self) -> Texts | None:
        """The part of its node that each failure takes: ``gpus:1``, ``cores:4``, ``memory:16384M``; empty text is the
        whole node.  None if all failures are of whole nodes.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.FailureTrace([60, 90], [0, 1], 600, part=["gpus:1", ""]).part
        array(['gpus:1', ''], dtype='<U6')
        >>> fs.FailureTrace([60], [0]).part is None
        True
        """
        return self._columns.get("part")

    @property
    def span(self) -> float:
        """The time that the trace covers, in seconds from 0; there are no failures after it."""
        return self._span

    @property
    def of(self) -> Numbering | None:
        """The meaning of the numbers in `node`: nodes of a machine, or rows of `Domains`; None if it is unknown.

        Synthetic failures have a meaning, as has a trace that was given `of`, or that `map_nodes`, `drop_outside` or
        `map_domains` made.  Every method keeps it, as do copies, pickles and the files of `write_csv`.  A trace of
        another machine, or of domains, is refused where failures of nodes are expected (model.md#numbers).  The
        comparison of traces and `digest` ignore it.

        Examples
        --------
        >>> import faultsim as fs
        >>> racks = fs.Domains.blocks(64, 16, kind="rack")
        >>> trace = fs.FailureTrace([60], [3], 600, of=racks)
        >>> print(trace.of, "->", trace.map_domains(racks).of)
        domains of 64 nodes (rack 4) -> 64 nodes
        """
        return self._of

    @property
    def slowdowns(self) -> tuple[SlowOutage, ...]:
        """The outages that slow jobs down, by time: those of domains whose effect is a `Slowdown`.

        They are no failures, and in no row.  Methods that choose rows leave them as they are; `window`, `align`,
        `with_span`, `merge` and `concat` do with them what they do with failures.

        Examples
        --------
        >>> import faultsim as fs
        >>> network = fs.Domains({"network": range(4)}, 4, effect=fs.Slowdown(0.5))
        >>> fs.FailureTrace([60], [0], 600).map_domains(network).slowdowns
        (SlowOutage(time=60.0, duration=600.0, domain='network', nodes=4, effect=Slowdown(speed=0.5, axis=None)),)
        """
        return self._slow

    def refuse_slowdowns(self, what: str) -> None:
        """Raise `NotAvailableError` if there are any, for those who would overlook them."""
        if self._slow:
            raise NotAvailableError(
                f"{what} does not know outages that slow jobs down, and the trace has {len(self._slow)}: give their "
                f"domains the effect 'none' or 'down'"
            )

    def refuse_parts(self, what: str) -> None:
        """Raise `NotAvailableError` if failures are of parts of nodes: for what treats all as whole nodes."""
        if self.part is not None:
            raise NotAvailableError(
                f"{what} does not know failures of parts of nodes, and the trace has "
                f"{int((self.part != '').sum())}: leave them out, trace[trace.part == '']"
            )

    @property
    def min_nodes(self) -> int:
        """Nodes that a machine needs for this trace: the highest node number plus one; 0 without failures."""
        return int(self.node.max()) + 1 if len(self) else 0

    def __repr__(self) -> str:
        name = f" {self._name!r}" if self._name else ""
        failures = "1 failure" if len(self) == 1 else f"{len(self):,} failures"
        word = self._of.word if self._of else "node"
        nodes = f", {word}s {self.node.min()}-{self.node.max()}" if len(self) else ""
        dropped = f", {sum(self._dropped.values()):,} dropped" if self._dropped else ""
        slow = f", {len(self._slow):,} slowdown{'s' * (len(self._slow) > 1)}" if self._slow else ""
        parts = "" if self.part is None else f", {int((self.part != '').sum()):,} of parts"
        return f"<FailureTrace{name}: {failures}{parts}{nodes}, span {self._span:.10g} s{slow}{dropped}>"

    def _hashed_first(self) -> bytes:
        said = "".join(outage.as_text() + "\n" for outage in self._slow)
        return np.array([self._span], dtype="<f8").tobytes() + said.encode()


def _checked_coins(coin: ArrayLike, n: int) -> Values:
    coins = as_column(coin, _COLUMNS["coin"], length=n)
    if (high := coins >= 1.0).any():
        row = int(np.argmax(high))
        raise InputError(f"coin, row {row}: {coins[row].item()!r} is not below 1; expected 0 <= coin < 1")
    return coins


def _checked_numbers(of: Numbering | None, node: Integers) -> Numbering | None:
    if of is not None and len(node) and int(node.max()) >= of.size:
        row = int(np.argmax(node >= of.size))
        raise InputError(f"node, row {row}: {node[row]} is not below {of.size}; the trace is of={of}")
    return of


def _checked_span(span: checks.Duration | None, time: Floats) -> float:
    last = float(time[-1]) if len(time) else 0.0
    if span is None:
        return last
    value = checks.duration("span", span, low=0.0, unit="s") + 0.0
    if value < last:
        raise InputError(f"span: {value!r} s ends before the last failure at {last!r} s; expected at least that")
    return value
