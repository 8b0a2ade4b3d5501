"""`Workload`: an immutable, columnar job log; its columns are those of `faultsim.data.job_table.JobTable`."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks, renames
from faultsim.arrays import Floats, Values
from faultsim.data.column_files import write_csv, write_parquet
from faultsim.data.columns import MAX_NODES, WORKLOAD, by_name
from faultsim.data.further import check_together
from faultsim.data.job_table import JobTable
from faultsim.data.swf_format import FIELDS, header_fields, write_rows
from faultsim.data.table import Pickled, together
from faultsim.data.workload_summary import Summary, offered_load, summarize
from faultsim.entries import entry
from faultsim.errors import InputError

if TYPE_CHECKING:
    import datetime

    from faultsim.data.failures import FailureTrace

_COLUMNS = by_name(WORKLOAD)
#: What reads frames as tables are read: `faultsim.readers.jobs` enters it, for no data import a reader.
reader_of_frames: dict[str, Callable[..., Workload]] = {}
#: Offered loads above it are rather percentages.
MOST_LOAD = 10.0


class Workload(JobTable):
    """A job log: read-only NumPy columns, one row per job, sorted by submit time, never empty.

    Every method that changes something returns a new workload.  Two workloads are equal when their columns are; name,
    header and counts of dropped records are ignored.

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
    id : array_like of int or str, shape (n,), optional
        Job numbers, or names; 1..n by default.
    user : array_like of int, shape (n,), optional
        User numbers, -1 where missing.
    columns : mapping of str to array_like, optional
        Further columns of shape (n,), under names that jobs have not: priority, account, partition, class.  They may be
        of any NumPy type but objects; text is as wide as the longest.  They travel with the jobs, are seen by own
        policies and, if they are numbers, by `Key`, and come back in results.  ``after``, ``begin``, ``array`` with
        ``array_limit``, ``cancel``, and ``preceding_job`` with ``think_time`` say when jobs may begin and are withdrawn
        (model.md#eligibility).
    dropped : mapping of str to int, optional
        Reason and count of the omitted records.
    name : str
        Name for output and figures.
    comments : sequence of str
        Header lines of the file it came from, each beginning with ";".
    recorded_wait : array_like of float, shape (n,), optional
        Waits on the machine that the log was recorded on, in seconds, -1 where missing.

    Attributes
    ----------
    submit, runtime, estimate : numpy.ndarray of float64
    size : numpy.ndarray of int32
    user : numpy.ndarray of int64
    id : numpy.ndarray of int64 or str
    columns : mapping of str to numpy.ndarray
        All of them, further ones last.

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

    __slots__ = ("_lost_runs",)

    _lost_runs: FailureTrace | None

    def _fill(self, **parts: object) -> Self:
        return super()._fill(**{"lost_runs": None, **parts})

    def _made(self, *args: Any, **facts: Any) -> Self:
        return super()._made(*args, **facts)._with_lost_runs(self._lost_runs)

    def _derived(self, dropped: dict[str, int] | None = None, **changed: ArrayLike) -> Self:
        new = super()._derived(dropped, **changed)
        return new._with_lost_runs(None) if "submit" in changed else new

    def __reduce__(self) -> Pickled:
        restore, (kind, parts) = super().__reduce__()
        return restore, (kind, parts if self._lost_runs is None else {**parts, "lost_runs": self._lost_runs})

    def _with_lost_runs(self, lost_runs: FailureTrace | None) -> Self:
        """This new workload, not yet given to a caller, with its lost runs."""
        object.__setattr__(self, "_lost_runs", lost_runs)
        return self

    @property
    def lost_runs(self) -> FailureTrace | None:
        """Runs that ended before their job was done, of a log of `read_sacct` or another accounting file; else None.

        A failure of down time 0 for each, on the log's clock, on the first node of the run: which of its nodes failed
        is not recorded.  Nodes are numbered by name, ``lost_runs.nodes``; runs without a node have their own numbers.
        ``lost_runs.reasons`` says why each ended: a preemption is no failure of a node.  A method that moves submit
        times leaves them out.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workload(submit=[0], runtime=[1], size=[1]).lost_runs is None
        True
        """
        return self._lost_runs

    def renamed(self, name: str) -> Workload:
        """The same workload under another name.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workload(submit=[0], runtime=[1], size=[1]).renamed("one").name
        'one'
        """
        return self._made(self._columns, self._dropped, str(name))

    # -- load --------------------------------------------------------------------------------------------------------

    @renames.arguments("Workload.with_runtime_factor")
    def with_runtime_factor(self, factor: float) -> Workload:
        """Run times and estimates times `factor` (c, the load coefficient of [krevat2002] section 3.3, [oliner2004]).

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workload(submit=[0], runtime=[10], size=[1], estimate=[15]).with_runtime_factor(2).estimate
        array([30.])
        """
        longer = _factor("with_runtime_factor", factor)
        estimate = self.estimate
        with np.errstate(over="ignore"):  # an infinite time is rejected by name
            runtime, requested = self.runtime * longer, estimate * longer
        return self._without_recorded()._derived(runtime=runtime, estimate=np.where(estimate < 0, estimate, requested))

    @renames.arguments("Workload.with_gap_factor")
    def with_gap_factor(self, factor: float) -> Workload:
        """Gaps between arrivals times `factor`; the first arrival is unchanged.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workload(submit=[10, 20, 40], runtime=[1, 1, 1], size=[1, 1, 1]).with_gap_factor(0.5).submit
        array([10., 15., 25.])
        """
        first, wider = self.submit[0], _factor("with_gap_factor", factor)
        if wider == 1:  # where the sum below would round
            return self._derived()
        with np.errstate(over="ignore"):  # an infinite time is rejected by name
            submit = first + (self.submit - first) * wider
        return self._without_recorded()._derived(submit=submit)

    def from_zero(self) -> Workload:
        """The same jobs, on a clock on which the first is submitted at 0 s.

        Logs need not begin at 0, whereas failure traces do: `FailureTrace.align` moves those instead.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workload(submit=[1000, 1060], runtime=[5, 5], size=[1, 1]).from_zero().submit
        array([ 0., 60.])
        """
        return self._derived(submit=self.submit - self.submit[0])

    @renames.arguments("Workload.with_size_factor")
    def with_size_factor(self, factor: int) -> Workload:
        """Sizes times a whole number: a log of supernodes as a log of nodes (512 on BlueGene/L).

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workload(submit=[0], runtime=[1], size=[3]).with_size_factor(512).size
        array([1536], dtype=int32)
        """
        larger = checks.whole("the factor of with_size_factor()", factor, low=1, high=MAX_NODES)
        return self._without_recorded()._derived(size=self.size.astype(np.int64) * larger)

    @renames.arguments("Workload.with_load")
    def with_load(self, load: float, *, nodes: int) -> Workload:
        """Stretch or squeeze the gaps between arrivals so that the offered load becomes `load`.

        Parameters
        ----------
        load : float
            Work / (nodes * span) to reach, for example 0.9; no percentage: above 10 the logger "faultsim" warns.
        nodes : int
            Size of the machine.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0, 100], runtime=[50, 30], size=[1, 1])
        >>> log.with_load(0.5, nodes=2).submit
        array([ 0., 80.])
        """
        there = offered_load(self.submit, self.work, _nodes(nodes))
        if not 0 < there < math.inf:
            raise InputError(f"with_load: the offered load is {there}; this needs work and a time span")
        wanted = checks.number("the load of with_load()", load, above=0.0)
        if wanted > MOST_LOAD:
            _doubt(wanted)
        return self.with_gap_factor(there / wanted)

    def summary(self, nodes: int | None = None) -> Summary:
        """Counts, span, offered load, and mean and standard deviation of size and work.

        Parameters
        ----------
        nodes : int, optional
            Machine size for the offered load and for Krevat's Table 1; by default the one in the header.

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
        """Write the workload as an SWF file of 18 fields (``.gz``, ``.xz``, ``.bz2`` compressed, "-" for standard
        output).

        The header lines of the file it came from are kept, with new counts.  The last line, which the first announces,
        has the count of lines and a digest, so that the reader refuses a file that was cut or altered since.  Reading
        the file returns an equal workload.

        Both size fields (5 and 8) hold the size.  Further columns that have the name of a field (``queue``,
        ``partition``, ``group``) are written there; the format has no place for others.  A job with a
        time in ``cancel`` whose run time is its estimate is written as one that was cancelled while it waited, for
        ``read_swf(path, cancelled="keep")``; other times of ``cancel`` are lost.

        Raises
        ------
        InputError
            If job ids are text, which the format does not have.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workload(submit=[0], runtime=[2.5], size=[4]).write_swf("-")
        ; Complete: if the last line is End, with the count and CRC-32 of the lines before it
        ; Version: 2.2
        ; MaxJobs: 1
        ; MaxRecords: 1
        ; Note: written by faultsim
        1 0 -1 2.5 4 -1 -1 4 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1
        ; End: 6 lines, crc32 108c1338
        """
        fields: dict[str, Values] = {
            "id": self.id,
            "submit": self.submit,
            "runtime": self.runtime,
            "allocated": self.size,
            "requested": self.size,
            "requested_time": self.estimate,
            "user": self.user,
        }
        if self.recorded_wait is not None:
            fields["wait"] = self.recorded_wait
        fields |= {name: self.columns[name] for name in self.further if name in FIELDS}
        if "cancel" in self.further:
            fields |= self._cancelled(fields)
        write_rows(path, fields, self._new_comments())

    def _cancelled(self, fields: Mapping[str, Values]) -> dict[str, Values]:
        """The fields of jobs that are withdrawn, where SWF can say so: with a run time that is the estimate."""
        cancel, missing = self.columns["cancel"], np.full(len(self), -1.0)
        left = (cancel >= 0) & (self.runtime == self.estimate)
        return {
            "wait": np.where(left, cancel - self.submit, fields.get("wait", missing)),
            "runtime": np.where(left, -1.0, self.runtime),
            "status": np.where(left, 5, fields.get("status", missing)).astype(np.int64),
        }

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Write all columns as text (``.gz``, ``.xz``, ``.bz2`` compressed, "-" for standard output).

        `faultsim.read_jobs` returns an equal workload, if no id and no further column is text that reads as numbers.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Workload(submit=[0], runtime=[2.5], size=[4], columns={"queue": ["long"]}).write_csv("-")
        id,submit,runtime,estimate,size,user,queue
        1,0.0,2.5,-1.0,4,-1,long
        """
        write_csv(path, self._columns)

    def write_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write all columns as a Parquet file (needs pyarrow), of which `faultsim.read_jobs` returns an equal workload.

        Raises
        ------
        MissingExtraError
            Without pyarrow.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0], runtime=[2.5], size=[4], columns={"queue": ["long"]})
        >>> log.write_parquet("log.parquet")
        >>> fs.read_jobs("log.parquet") == log
        True
        """
        write_parquet(path, self)

    def _new_comments(self) -> list[str]:
        counts = [f"; MaxJobs: {len(self)}", f"; MaxRecords: {len(self)}"]
        if not self._comments:
            return ["; Version: 2.2", *counts, "; Note: written by faultsim"]
        kept = [line for line in self._comments if not {"MaxJobs", "MaxRecords"} & header_fields([line]).keys()]
        return [*kept, *counts]

    @classmethod
    def from_pandas(
        cls,
        frame: object,
        *,
        submit: str | None = None,
        runtime: str | None = None,
        size: str | None = None,
        estimate: str | None = None,
        id: str | None = None,
        user: str | None = None,
        start: str | None = None,
        finish: str | None = None,
        unit: str | Mapping[str, str] = "s",
        columns: Sequence[str] | Mapping[str, str] | None = None,
        begin: str | datetime.date | float | None = None,
        end: str | datetime.date | float | None = None,
        name: str = "",
        zone: str | None = None,
        strict: bool = False,
    ) -> Workload:
        """A workload from a frame of pandas or polars, or an Arrow table: as `read_jobs` of the same frame as a CSV.

        Parameters
        ----------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            Rows in any order; or any object with the Arrow PyCapsule interface (all but pandas need pyarrow).  The
            index of a frame of pandas is ignored.
        submit, runtime, size, estimate, id, user, start, finish : str, optional
            Names of these columns, by default their own.  Moments may be datetimes, run times timedeltas, users text.
        unit, columns, begin, end, zone, strict : object
            As of `faultsim.read_jobs`.  By default all further columns that a log can have are kept.
        name : str
            Name for output and figures.

        Raises
        ------
        InputError
            A column is missing or looks misspelled; no row is a job.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0, 5], runtime=[1, 2], size=[1, 8])
        >>> fs.Workload.from_pandas(log.to_pandas()) == log
        True
        """
        given = {
            "submit": submit, "runtime": runtime, "size": size, "estimate": estimate, "id": id, "user": user,
            "start": start, "finish": finish,
        }  # fmt: skip
        return reader_of_frames["jobs"](
            frame, given, unit=unit, columns=columns, begin=begin, end=end, name=name, zone=zone, strict=strict
        )


def as_it_is(
    columns: Mapping[str, Values],
    dropped: Mapping[str, int],
    name: str,
    recorded: Floats | None = None,
    comments: Sequence[str] = (),
) -> Workload:
    """The workload with these columns, which are not checked again: what a run was given."""
    parts = {"columns": dict(columns), "dropped": dict(dropped), "name": name}
    facts = {"comments": tuple(comments), "recorded": recorded}
    return object.__new__(Workload)._fill(**parts, **facts)


@lru_cache(1024)
def _doubt(load: float) -> None:
    """Warn once for each."""
    import logging

    logging.getLogger("faultsim").warning(
        "with_load(%g): a load is work over what the machine can do, such as %g; this is %g times that",
        load, load / 100, load,
    )  # fmt: skip


def _factor(what: str, value: float) -> float:
    return checks.number(f"the factor of {what}()", value, above=0.0)


def _nodes(nodes: int) -> int:
    return checks.whole("nodes", nodes, low=1, high=MAX_NODES)


@entry
def concat(logs: Iterable[Workload], *, name: str = "") -> Workload:
    """Several workloads as one, merged by submit time; equal times keep the order in which the logs are given.

    Parameters
    ----------
    logs : iterable of Workload
        At least one, all with the same further columns.  Job numbers are kept, so they may repeat.
    name : str
        Name of the result; by default the names joined with "+".

    Returns
    -------
    Workload
        With the counts of `dropped` added up and the header lines of the first log.

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
    if not isinstance(logs, Iterable):
        raise InputError(f"concat: expected several workloads, in a list, got {checks.shown(logs, 'Workload')}")
    logs = list(logs)
    if not logs:
        raise InputError("concat: no workload given; expected at least one")
    for position, log in enumerate(logs):
        if not isinstance(log, Workload):
            raise InputError(f"concat: item {position} must be a Workload, got {checks.shown(log, 'Workload')}")
    for position, log in enumerate(logs):
        check_together(f"concat: item {position}", logs[0], log)
    values = {key: np.concatenate([log.columns[key] for log in logs]) for key in logs[0].columns}
    order = np.argsort(values["submit"], kind="stable")
    columns: dict[str, Any] = {key: values[key][order] for key in _COLUMNS}
    further = {key: values[key][order] for key in logs[0].further}
    waits = [log.recorded_wait for log in logs if log.recorded_wait is not None]
    return Workload(
        **columns,
        columns=further,
        **together(logs, name),
        comments=logs[0].comments,
        recorded_wait=np.concatenate(waits)[order] if len(waits) == len(logs) else None,
    )
