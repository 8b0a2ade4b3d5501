"""`JobTable`: the columns of a job log, checked once, then immutable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks, renames
from faultsim.arrays import Floats, Integers, LongIntegers, Values
from faultsim.data.columns import RECORDED_WAIT, WORKLOAD, as_column, by_name, check_order, read_only
from faultsim.data.conditions import TIMES, moved
from faultsim.data.further import further_columns, id_column, in_order
from faultsim.data.swf_format import header_fields, nodes_of_header
from faultsim.data.table import Pickled, Table
from faultsim.errors import InputError
from faultsim.vocabulary import is_unlimited

_COLUMNS = by_name(WORKLOAD)


class JobTable(Table):
    """Read-only NumPy columns, one row per job, sorted by submit time, never empty: what `faultsim.Workload` stands on.

    The parameters, columns and errors are those of `faultsim.Workload`, which adds the methods.
    """

    __slots__ = ("_comments", "_once", "_recorded")
    _CALLED: ClassVar[str] = "Workload"
    _NOUN: ClassVar[str] = "workload"
    _SORTED_BY: ClassVar[str] = "submit"
    _OWN: ClassVar[str] = "comments"

    _comments: tuple[str, ...]
    _once: dict[str, Any]
    _recorded: Floats | None

    @renames.arguments("Workload")
    def __init__(
        self,
        submit: checks.Durations,
        runtime: checks.Durations,
        size: ArrayLike,
        *,
        estimate: checks.Durations | None = None,
        id: ArrayLike | None = None,
        user: ArrayLike | None = None,
        columns: Mapping[str, ArrayLike] | None = None,
        dropped: Mapping[str, int] | None = None,
        name: str = "",
        comments: Sequence[str] = (),
        recorded_wait: checks.Durations | None = None,
    ) -> None:
        first = as_column(submit, _COLUMNS["submit"])
        n = len(first)
        _refuse_empty(n, "")
        given = {
            "id": np.arange(1, n + 1) if id is None else id,
            "submit": first,
            "runtime": runtime,
            "estimate": np.full(n, -1.0) if estimate is None else estimate,
            "size": size,
            "user": np.full(n, -1) if user is None else user,
        }
        checked = {key: _checked(key, values, n) for key, values in given.items()}
        check_order(first, _COLUMNS["submit"])
        if columns is not None:
            checked |= further_columns(columns, n)
        recorded = None if recorded_wait is None else as_column(recorded_wait, RECORDED_WAIT, length=n)
        if recorded is not None and (recorded < 0).all():
            recorded = None
        facts: dict[str, object] = {"name": str(name), "comments": tuple(comments), "recorded": recorded}
        self._fill(columns=checked, dropped=checks.counts_of("dropped", dropped), **facts)
        if id is None:
            self._once["numbered"] = True

    def _fill(self, **parts: object) -> Self:
        # `once`: values computed from columns that many runs share.
        return super()._fill(**{"once": {}, "recorded": None, **parts})

    def __reduce__(self) -> Pickled:
        restored, (kind, parts) = super().__reduce__()
        if self._has_default_ids:
            parts = {**parts, "once": {"numbered": True}}
        return restored, (kind, parts if self._recorded is None else {**parts, "recorded": self._recorded})

    @property
    def _has_default_ids(self) -> bool:
        """Whether no ids were given, so that other numbers do as well."""
        return "numbered" in self._once

    def _derived(self, dropped: dict[str, int] | None = None, **changed: ArrayLike) -> Self:
        """The same jobs with some columns changed (and checked again)."""
        columns = dict(self._columns)
        for key, values in changed.items():
            columns[key] = _checked(key, values, len(self))
        check_order(columns["submit"], _COLUMNS["submit"])
        if "submit" in changed:  # times of a job's own move with it
            for key in TIMES & columns.keys():
                columns[key] = moved(columns[key], columns["submit"] - self.submit)
        return self._made(columns, self._dropped if dropped is None else dropped)

    def _rows(self, rows: slice | Values, dropped: dict[str, int] | None = None) -> Self:
        """Some of the rows, in order, as copies that keep no larger array alive."""
        columns = {key: read_only(values[rows].copy()) for key, values in self._columns.items()}
        _refuse_empty(len(columns["submit"]), f" of the {len(self)} is left")
        recorded = None if self._recorded is None else read_only(self._recorded[rows].copy())
        return self._made(columns, self._dropped if dropped is None else dropped, recorded=recorded)

    def _hashed_columns(self) -> Mapping[str, Values]:
        return in_order(self._columns) if len(self._columns) > len(_COLUMNS) else self._columns

    def _made(
        self, columns: dict[str, Values], dropped: dict[str, int], name: str | None = None, **facts: object
    ) -> Self:
        called = self._name if name is None else name
        new = object.__new__(type(self))
        facts = {"comments": self._comments, "recorded": self._recorded, **facts}
        new._fill(columns=columns, dropped=dict(dropped), name=called, **facts)
        if self._has_default_ids and columns["id"] is self._columns["id"]:
            new._once["numbered"] = True
        return new

    def _without_recorded(self) -> Self:
        """The same jobs, without waits of a machine whose load was another one."""
        return self._made(self._columns, self._dropped, recorded=None)

    # -- columns and facts -------------------------------------------------------------------------------------------

    @property
    def id(self) -> Values:
        """Job numbers, int64, or text."""
        return self._columns["id"]

    @property
    def submit(self) -> Floats:
        """Submit times in seconds, never decreasing."""
        return self._columns["submit"]

    @property
    def runtime(self) -> Floats:
        """Run times in seconds."""
        return self._columns["runtime"]

    @property
    def estimate(self) -> Floats:
        """Requested run times in seconds, -1 where missing; `requested` fills those in."""
        return self._columns["estimate"]

    @property
    def size(self) -> Integers:
        """Nodes, int32."""
        return self._columns["size"]

    @property
    def user(self) -> LongIntegers:
        """User numbers, -1 where missing."""
        return self._columns["user"]

    @property
    def recorded_wait(self) -> Floats | None:
        """Waits of the jobs on the machine that the log was recorded on, in seconds, -1 where missing; None without.

        They are no column: logs that differ only in them are equal, and no policy sees them. `Result.against_recorded`
        compares them with those of a run. Methods that change loads, sizes or run times leave them out.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workload(submit=[0, 1], runtime=[5, 5], size=[1, 1], recorded_wait=[0, 4]).recorded_wait
        array([0., 4.])
        """
        return self._recorded

    @property
    def further(self) -> tuple[str, ...]:
        """Names of the further columns.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workload(submit=[0], runtime=[1], size=[1], columns={"account": ["physics"]}).further
        ('account',)
        """
        return tuple(self._columns)[len(_COLUMNS) :]

    @property
    def requested(self) -> Floats:
        """Requested run times in seconds; the run time if the request is missing (read-only).

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workload(submit=[0, 1], runtime=[5, 6], size=[1, 1], estimate=[-1, 10]).requested
        array([ 5., 10.])
        """
        found: Floats | None = self._once.get("requested")
        if found is None:
            missing = self.estimate < 0
            found = read_only(np.where(missing, self.runtime, self.estimate)) if missing.any() else self.estimate
            self._once["requested"] = found
        return found

    @property
    def _known_columns(self) -> Mapping[str, Values]:
        """What is known of jobs before they end, for policies, which may keep it: all columns but the run times."""
        found: Mapping[str, Values] | None = self._once.get("known")
        if found is None:
            found = MappingProxyType({name: column for name, column in self._columns.items() if name != "runtime"})
            self._once["known"] = found
        return found

    def _sum_and_most(self, name: str) -> tuple[float, float]:
        """Sum and largest value of a column, infinite if a double cannot hold it."""
        found: tuple[float, float] | None = self._once.get(name + " sum")
        if found is None:
            values = getattr(self, name)
            with np.errstate(over="ignore"):
                found = self._once[name + " sum"] = float(values.sum()), float(values.max())
        return found

    @property
    def work(self) -> Floats:
        """Node-seconds of each job (read-only)."""
        return read_only(self.size * self.runtime)

    @property
    def comments(self) -> tuple[str, ...]:
        """Header lines of the file it came from, unchanged."""
        return self._comments

    @property
    def header(self) -> Mapping[str, str]:
        """Header keys of the file it came from, such as ``MaxNodes`` and ``Installation``."""
        return MappingProxyType(header_fields(self._comments))

    @property
    def max_nodes(self) -> int | None:
        """Size of the machine according to the header (``MaxProcs``, else ``MaxNodes``); None if it does not say.

        Sizes of SWF logs count processors, so ``MaxProcs`` comes first.
        """
        return nodes_of_header(self._comments)

    def __repr__(self) -> str:
        name = f" {self._name!r}" if self._name else ""
        jobs = "1 job" if len(self) == 1 else f"{len(self):,} jobs"
        dropped = f", {sum(self._dropped.values()):,} dropped" if self._dropped else ""
        sizes, submit = self.size, self.submit
        return (
            f"<Workload{name}: {jobs}, sizes {sizes.min()}-{sizes.max()}, "
            f"submit {submit[0]:.10g}-{submit[-1]:.10g} s{dropped}>"
        )

    # -- parts -------------------------------------------------------------------------------------------------------

    def head(self, n: int) -> Self:
        """The first `n` jobs (all, if there are fewer).

        Examples
        --------
        >>> import faultsim as fs
        >>> len(fs.Workload(submit=[0, 1, 2], runtime=[1, 1, 1], size=[1, 1, 1]).head(2))
        2
        """
        count = checks.whole("n of head()", n)
        if count < 1:
            raise InputError(f"head({n}): a workload has at least one job")
        return self._rows(slice(0, count))

    def with_columns(self, **columns: ArrayLike) -> Self:
        """With further columns, which may replace those of the same names; None takes one away.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0, 1], runtime=[1, 1], size=[1, 1])
        >>> log.with_columns(priority=[3, 1], account=["a", "b"]).columns["priority"]
        array([3, 1])
        """
        kept = {key: self._columns[key] for key in self.further if key not in columns}
        given = {key: values for key, values in columns.items() if values is not None}
        own = {key: self._columns[key] for key in _COLUMNS}
        return self._made({**own, **kept, **further_columns(given, len(self))}, self._dropped)

    def drop(self, which: ArrayLike, reason: str) -> Self:
        """Remove jobs and count them in `dropped`.

        Parameters
        ----------
        which : array_like of bool, shape (n,)
            True for jobs to remove.
        reason : str
            The reason to count them under.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0, 1], runtime=[1, 1], size=[1, 300])
        >>> dict(log.drop(log.size > 128, "larger than the machine").dropped)
        {'larger than the machine': 1}
        """
        mask = np.asarray(which)
        if mask.dtype != np.bool_ or mask.shape != (len(self),):
            raise InputError(f"drop: expected a mask of {len(self)} booleans, got {mask.dtype}, shape {mask.shape}")
        count = int(mask.sum())
        dropped = dict(self._dropped)
        if count:
            dropped[reason] = dropped.get(reason, 0) + count
        return self._rows(~mask, dropped)


def _checked(key: str, values: object, length: int) -> Values:
    checks.refuse_masked(key, values)
    if key == "estimate":
        values = _without_limit(values)
    check = id_column if key == "id" else as_column
    return check(values, _COLUMNS[key], length=length)


def _without_limit(values: object) -> object:
    """Estimates with -1, the sign of a missing one, where there is no limit: infinite, or a word for it."""
    if isinstance(values, list | tuple):
        return [-1.0 if _is_unlimited(value) else value for value in values]
    array = np.asarray(values)
    if array.ndim != 1:
        return values
    if array.dtype.kind == "f":
        return np.where(array == np.inf, -1.0, array)
    return [-1.0 if _is_unlimited(value) else value for value in array] if array.dtype.kind in "OUT" else values


def _is_unlimited(value: object) -> bool:
    return is_unlimited(value) if isinstance(value, str) else isinstance(value, float) and value == np.inf


def _refuse_empty(n: int, rest: str) -> None:
    if n == 0:
        raise InputError(f"no job{rest}: a workload has at least one")
