"""`Workload`: an immutable, columnar job log."""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from faultsim import checks
from faultsim.columns import WORKLOAD, as_column, by_name, check_order, read_only
from faultsim.errors import InputError, MissingExtraError
from faultsim.summary import Summary, offered_load, summarize
from faultsim.swf_text import header_fields, leading_integer, write_rows

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Workload", "concat"]

_COLUMNS = by_name(WORKLOAD)
MAX_NODES = 2**31 - 1  # sizes are int32


class Workload:
    """A job log: read-only NumPy columns, one row a job, sorted by submit time, never empty.

    Every method that changes something returns a new workload.  Two workloads are equal when their columns are; name,
    header and the counts of dropped records do not matter.

    Parameters
    ----------
    submit : array_like of float, shape (n,)
        Submit times in seconds, never decreasing.
    runtime : array_like of float, shape (n,)
        Run times in seconds, 0 or more.
    size : array_like of int, shape (n,)
        Nodes, 1 or more.
    estimate : array_like of float, shape (n,), optional
        Requested run times in seconds, -1 where missing.
    id : array_like of int, shape (n,), optional
        Job numbers; 1..n when not given.
    user : array_like of int, shape (n,), optional
        User numbers, -1 where missing.
    dropped : mapping of str to int, optional
        Reason and count of the records that are not here.
    name : str
        What to call it in print and in figures.
    comments : sequence of str
        Header lines of the file it came from, each beginning with ";".

    Attributes
    ----------
    submit, runtime, estimate : numpy.ndarray of float64
    size : numpy.ndarray of int32
    id, user : numpy.ndarray of int64

    Raises
    ------
    InputError
        No job; columns of different lengths; NaN, infinite, negative or decreasing times; a size or number that is not
        whole.  The message names column, row (from 0) and value.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 60, 60], runtime=[100, 30, 5], size=[4, 1, 2], name="three jobs")
    >>> log
    <Workload 'three jobs': 3 jobs, sizes 1-4, submit 0-60 s>
    >>> log.size
    array([4, 1, 2], dtype=int32)
    >>> log[log.size > 1].id
    array([1, 3])
    >>> fs.Workload(submit=[0, 60, 30], runtime=[1, 1, 1], size=[1, 1, 1])
    Traceback (most recent call last):
    ...
    faultsim.errors.InputError: submit, row 2: 30 is less than 60 in the row before; sort the rows by submit first
    """

    __slots__ = ("_columns", "_comments", "_dropped", "_name")

    _columns: dict[str, NDArray[Any]]
    _comments: tuple[str, ...]
    _dropped: dict[str, int]
    _name: str

    def __init__(
        self,
        *,
        submit: ArrayLike,
        runtime: ArrayLike,
        size: ArrayLike,
        estimate: ArrayLike | None = None,
        id: ArrayLike | None = None,
        user: ArrayLike | None = None,
        dropped: Mapping[str, int] | None = None,
        name: str = "",
        comments: Sequence[str] = (),
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
        columns = {key: as_column(values, _COLUMNS[key], length=n) for key, values in given.items()}
        check_order(columns["submit"], _COLUMNS["submit"])
        self._fill(columns, dict(dropped or {}), str(name), tuple(comments))

    def _fill(
        self, columns: dict[str, NDArray[Any]], dropped: dict[str, int], name: str, comments: tuple[str, ...]
    ) -> None:
        object.__setattr__(self, "_columns", columns)
        object.__setattr__(self, "_dropped", dropped)
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_comments", comments)

    def __setattr__(self, key: str, value: Any) -> None:
        raise AttributeError(f"a Workload is read-only: {key} cannot be set; its methods return changed copies")

    def __delattr__(self, key: str) -> None:
        raise AttributeError(f"a Workload is read-only: {key} cannot be deleted")

    def _derived(self, dropped: dict[str, int] | None = None, **changed: ArrayLike) -> Workload:
        """The same jobs with some columns changed (and checked again)."""
        columns = dict(self._columns)
        for key, values in changed.items():
            columns[key] = as_column(values, _COLUMNS[key], length=len(self))
        check_order(columns["submit"], _COLUMNS["submit"])
        return self._made(columns, self._dropped if dropped is None else dropped)

    def _rows(self, rows: Any, dropped: dict[str, int] | None = None) -> Workload:
        """Some of the rows, in order, as copies that keep no larger array alive."""
        columns = {key: read_only(values[rows].copy()) for key, values in self._columns.items()}
        _refuse_empty(len(columns["submit"]), f" of the {len(self)} is left")
        return self._made(columns, self._dropped if dropped is None else dropped)

    def _made(self, columns: dict[str, NDArray[Any]], dropped: dict[str, int]) -> Workload:
        new = object.__new__(type(self))
        new._fill(columns, dict(dropped), self._name, self._comments)
        return new

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._columns, self._dropped, self._name, self._comments)

    # -- columns and facts -------------------------------------------------------------------------------------------

    @property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """All columns by name, in the order of `faultsim.columns.WORKLOAD`."""
        return MappingProxyType(self._columns)

    @property
    def id(self) -> NDArray[np.int64]:
        """Job numbers, int64."""
        return self._columns["id"]

    @property
    def submit(self) -> NDArray[np.float64]:
        """Submit times in seconds, never decreasing."""
        return self._columns["submit"]

    @property
    def runtime(self) -> NDArray[np.float64]:
        """Run times in seconds."""
        return self._columns["runtime"]

    @property
    def estimate(self) -> NDArray[np.float64]:
        """Requested run times in seconds, -1 where missing; `requested` fills those in."""
        return self._columns["estimate"]

    @property
    def size(self) -> NDArray[np.int32]:
        """Nodes, int32."""
        return self._columns["size"]

    @property
    def user(self) -> NDArray[np.int64]:
        """User numbers, -1 where missing."""
        return self._columns["user"]

    @property
    def requested(self) -> NDArray[np.float64]:
        """Requested run times in seconds; the run time where the request is missing (read-only).

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workload(submit=[0, 1], runtime=[5, 6], size=[1, 1], estimate=[-1, 10]).requested
        array([ 5., 10.])
        """
        return read_only(np.where(self.estimate < 0, self.runtime, self.estimate))

    @property
    def work(self) -> NDArray[np.float64]:
        """Node-seconds of each job (read-only)."""
        return read_only(self.size * self.runtime)

    @property
    def dropped(self) -> Mapping[str, int]:
        """Reason and count of the records that the reader, or `drop`, left out."""
        return MappingProxyType(self._dropped)

    @property
    def name(self) -> str:
        """What to call it."""
        return self._name

    @property
    def comments(self) -> tuple[str, ...]:
        """Header lines of the file it came from, as they were."""
        return self._comments

    @property
    def header(self) -> Mapping[str, str]:
        """Header keys of the file it came from, such as ``MaxNodes`` and ``Installation``."""
        return MappingProxyType(header_fields(self._comments))

    @property
    def max_nodes(self) -> int | None:
        """Size of the machine by the header (``MaxProcs``, else ``MaxNodes``); None where it does not say.

        Sizes of SWF logs count processors, so ``MaxProcs`` comes first.
        """
        header = self.header
        for key in ("MaxProcs", "MaxNodes"):
            value = leading_integer(header.get(key, ""))
            if value is not None and value > 0:
                return value
        return None

    def __len__(self) -> int:
        return len(self._columns["submit"])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Workload):
            return NotImplemented
        return len(self) == len(other) and all(
            np.array_equal(values, other._columns[key]) for key, values in self._columns.items()
        )

    def __hash__(self) -> int:
        return hash(self.digest())

    def __repr__(self) -> str:
        name = f" {self._name!r}" if self._name else ""
        jobs = "1 job" if len(self) == 1 else f"{len(self):,} jobs"
        dropped = f", {sum(self._dropped.values()):,} dropped" if self._dropped else ""
        sizes, submit = self.size, self.submit
        return (
            f"<Workload{name}: {jobs}, sizes {sizes.min()}-{sizes.max()}, "
            f"submit {submit[0]:.10g}-{submit[-1]:.10g} s{dropped}>"
        )

    def digest(self) -> str:
        """Hash of the columns (BLAKE2b, 32 hexadecimal digits): equal for equal workloads on every machine.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0], runtime=[10], size=[1])
        >>> log.digest() == fs.Workload(submit=[0.0], runtime=[10.0], size=[1], name="other").digest()
        True
        """
        state = blake2b(digest_size=16)
        for key, values in self._columns.items():
            kind = values.dtype.newbyteorder("<")
            state.update(f"{key} {kind.str} {len(values)};".encode())
            state.update(np.ascontiguousarray(values, dtype=kind).tobytes())
        return state.hexdigest()

    # -- parts -------------------------------------------------------------------------------------------------------

    def __getitem__(self, rows: slice | ArrayLike) -> Workload:
        if isinstance(rows, slice):
            if rows.step is not None and rows.step < 1:
                raise InputError(f"a workload stays sorted by submit: slices go forward, got step {rows.step}")
            return self._rows(rows)
        chosen = np.asarray(rows)
        if chosen.dtype != np.bool_ or chosen.shape != (len(self),):
            raise InputError(
                f"a workload takes a slice or a mask of {len(self)} booleans, got "
                f"{'an array of ' + str(chosen.dtype) if chosen.ndim else type(rows).__name__}, shape {chosen.shape}"
            )
        return self._rows(chosen)

    def head(self, n: int) -> Workload:
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

    def drop(self, which: ArrayLike, reason: str) -> Workload:
        """Leave jobs out and count them in `dropped`.

        Parameters
        ----------
        which : array_like of bool, shape (n,)
            True where a job goes.
        reason : str
            What to count them under.

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

    def renamed(self, name: str) -> Workload:
        """The same workload under another name.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workload(submit=[0], runtime=[1], size=[1]).renamed("one").name
        'one'
        """
        new = object.__new__(type(self))
        new._fill(self._columns, self._dropped, str(name), self._comments)
        return new

    # -- load --------------------------------------------------------------------------------------------------------

    def scale_runtime(self, c: float) -> Workload:
        """Run times and estimates times `c` (the load coefficient of Krevat 2002, section 3.3, and Oliner 2004).

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workload(submit=[0], runtime=[10], size=[1], estimate=[15]).scale_runtime(2).estimate
        array([30.])
        """
        factor = _factor("scale_runtime", c)
        estimate = self.estimate
        with np.errstate(over="ignore"):  # an infinite time is refused by name
            runtime, longer = self.runtime * factor, estimate * factor
        return self._derived(runtime=runtime, estimate=np.where(estimate < 0, estimate, longer))

    def scale_gaps(self, f: float) -> Workload:
        """Gaps between arrivals times `f`; the first arrival stays.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workload(submit=[10, 20, 40], runtime=[1, 1, 1], size=[1, 1, 1]).scale_gaps(0.5).submit
        array([10., 15., 25.])
        """
        first, factor = self.submit[0], _factor("scale_gaps", f)
        with np.errstate(over="ignore"):  # an infinite time is refused by name
            submit = first + (self.submit - first) * factor
        return self._derived(submit=submit)

    def scale_size(self, f: int) -> Workload:
        """Sizes times a whole number: a log of supernodes as a log of nodes (512 on BlueGene/L).

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workload(submit=[0], runtime=[1], size=[3]).scale_size(512).size
        array([1536], dtype=int32)
        """
        factor = checks.whole("scale_size", f, low=1, high=MAX_NODES)
        return self._derived(size=self.size.astype(np.int64) * factor)

    def with_load(self, target: float, *, nodes: int) -> Workload:
        """Stretch or squeeze the gaps between arrivals so that the offered load becomes `target`.

        Parameters
        ----------
        target : float
            Work / (nodes * span) to reach, for example 0.9.
        nodes : int
            Size of the machine.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0, 100], runtime=[50, 30], size=[1, 1])
        >>> log.with_load(0.5, nodes=2).submit
        array([ 0., 80.])
        """
        load = offered_load(self.submit, self.work, _nodes(nodes))
        if not 0 < load < math.inf:
            raise InputError(f"with_load: the offered load is {load}; it takes work and a span of time")
        return self.scale_gaps(load / _factor("with_load", target))

    def summary(self, nodes: int | None = None) -> Summary:
        """Counts, span, offered load, and mean and standard deviation of size and work.

        Parameters
        ----------
        nodes : int, optional
            Machine for the offered load and for Krevat's Table 1; by default the one that the header names.

        Returns
        -------
        Summary
            A mapping that prints as a table.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0, 100], runtime=[50, 30], size=[1, 1])
        >>> log.summary(nodes=2)["offered_load"]
        0.4
        """
        machine = self.max_nodes if nodes is None else _nodes(nodes)
        return summarize(self._columns, nodes=machine, name=self._name, dropped=self._dropped)

    # -- other forms -------------------------------------------------------------------------------------------------

    def write_swf(self, path: str | os.PathLike[str]) -> None:
        """Write the workload as an SWF file of 18 fields (``.gz``, ``.xz``, ``.bz2`` compressed, "-" to the output).

        The header lines of the file it came from are kept, with new counts.  Reading the file gives an equal workload.
        Both size fields (5 and 8) hold the size.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workload(submit=[0], runtime=[2.5], size=[4]).write_swf("-")
        ; Version: 2.2
        ; MaxJobs: 1
        ; MaxRecords: 1
        ; Note: written by faultsim
        1 0 -1 2.5 4 -1 -1 4 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1
        """
        fields: dict[str, NDArray[Any]] = {
            "id": self.id,
            "submit": self.submit,
            "runtime": self.runtime,
            "allocated": self.size,
            "requested": self.size,
            "requested_time": self.estimate,
            "user": self.user,
        }
        write_rows(path, fields, self._new_comments())

    def _new_comments(self) -> list[str]:
        counts = [f"; MaxJobs: {len(self)}", f"; MaxRecords: {len(self)}"]
        if not self._comments:
            return ["; Version: 2.2", *counts, "; Note: written by faultsim"]
        kept = [line for line in self._comments if not {"MaxJobs", "MaxRecords"} & header_fields([line]).keys()]
        return [*kept, *counts]

    def to_pandas(self) -> pd.DataFrame:
        """The columns as a pandas frame (needs pandas).

        Examples
        --------
        >>> import faultsim as fs
        >>> list(fs.Workload(submit=[0], runtime=[1], size=[1]).to_pandas())
        ['id', 'submit', 'runtime', 'estimate', 'size', 'user']
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtraError('to_pandas needs pandas: pip install "faultsim[pandas]"') from error
        return pd.DataFrame({key: values.copy() for key, values in self._columns.items()})

    @classmethod
    def from_pandas(cls, frame: Any, *, name: str = "") -> Workload:
        """A workload from a pandas frame with at least the columns submit, runtime and size.

        NaN in estimate or user means "missing".  Columns with other names are left aside.

        Parameters
        ----------
        frame : pandas.DataFrame
            Rows sorted by submit.
        name : str
            What to call it.

        Raises
        ------
        InputError
            A column is missing, or looks misspelt, or holds bad values.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0, 5], runtime=[1, 2], size=[1, 8])
        >>> fs.Workload.from_pandas(log.to_pandas()) == log
        True
        """
        there = [str(key) for key in frame.columns]
        for needed in ("submit", "runtime", "size"):
            if needed not in there:
                raise InputError(f"from_pandas: column {needed!r} missing; the frame has {', '.join(there)}")
        for key in set(_COLUMNS) - set(there):
            if near := difflib.get_close_matches(key, there, n=1, cutoff=0.85):
                raise InputError(f"from_pandas: column {near[0]!r} is not known; did you mean {key!r}?")
        given = {key: frame[key].to_numpy() for key in _COLUMNS if key in there}
        for key in ("estimate", "user"):
            if key in given and given[key].dtype.kind == "f":
                given[key] = np.where(np.isnan(given[key]), -1.0, given[key])
        return cls(**given, name=name)


def _restored(
    columns: dict[str, NDArray[Any]], dropped: dict[str, int], name: str, comments: tuple[str, ...]
) -> Workload:
    """Unpickle: arrays come back writable."""
    new = object.__new__(Workload)
    new._fill({key: read_only(values) for key, values in columns.items()}, dropped, name, comments)
    return new


def _refuse_empty(n: int, rest: str) -> None:
    if n == 0:
        raise InputError(f"no job{rest}: a workload has at least one")


def _factor(what: str, value: float) -> float:
    return checks.number(f"the factor of {what}", value, above=0.0)


def _nodes(nodes: int) -> int:
    return checks.whole("nodes", nodes, low=1, high=MAX_NODES)


def concat(logs: Iterable[Workload], *, name: str = "") -> Workload:
    """Several workloads as one, merged by submit time; equal times keep the order in which the logs are given.

    Parameters
    ----------
    logs : iterable of Workload
        At least one.  Job numbers are kept, so they may repeat.
    name : str
        What to call the result; the names joined with "+" by default.

    Returns
    -------
    Workload
        With the counts of `dropped` added up, and the header lines of the first log.

    Examples
    --------
    >>> import faultsim as fs
    >>> a = fs.Workload(submit=[0, 10], runtime=[1, 1], size=[1, 1])
    >>> b = fs.Workload(submit=[5], runtime=[2], size=[4])
    >>> fs.concat([a, b]).submit
    array([ 0.,  5., 10.])
    """
    if isinstance(logs, Workload):
        raise InputError("concat: one workload given; expected several, in a list")
    logs = list(logs)
    if not logs:
        raise InputError("concat: no workload given; expected at least one")
    for position, log in enumerate(logs):
        if not isinstance(log, Workload):
            raise InputError(f"concat: item {position} is a {type(log).__name__}; expected a Workload")
    joined = {key: np.concatenate([log.columns[key] for log in logs]) for key in _COLUMNS}
    order = np.argsort(joined["submit"], kind="stable")
    dropped: dict[str, int] = {}
    for log in logs:
        for reason, count in log.dropped.items():
            dropped[reason] = dropped.get(reason, 0) + count
    name = name or "+".join(dict.fromkeys(log.name for log in logs if log.name))
    return Workload(
        **{key: values[order] for key, values in joined.items()}, dropped=dropped, name=name, comments=logs[0].comments
    )
