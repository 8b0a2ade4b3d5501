"""`FailureTrace`: an immutable, columnar record of node failures; its columns are those of `FailureTable`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks
from faultsim.arrays import Flags, Floats, LongIntegers, Texts, Values
from faultsim.data.columns import FAILURES, MAX_NODES, by_name, read_only
from faultsim.data.complete_files import with_end
from faultsim.data.failure_summary import FailureSummary, merged_outages, summarize
from faultsim.data.failure_table import priorities
from faultsim.data.grouped_failures import GroupedFailures
from faultsim.data.job_table import JobTable
from faultsim.data.node_parts import amounts_of, joined_parts, units_hit
from faultsim.data.numbering import Numbering, common_numbering
from faultsim.data.table import Pickled, together
from faultsim.data.text_files import shortest, write_text
from faultsim.errors import InputError, OptionError

if TYPE_CHECKING:
    import pandas as pd

#: First line of the files that `FailureTrace.write_csv` writes.
CSV_MARK = "# faultsim failure trace, version 1"
_OUTSIDE = "node outside the machine"
# The stream of the units that fail: any fixed number will do, but another one hits other jobs.
_PART_STREAM = 20_261_129


class FailureTrace(GroupedFailures):
    """Node failures: read-only NumPy columns, one row per failure, sorted by time.  It may be empty.

    Every method that changes something returns a new trace.  Two traces are equal when their columns and spans are;
    names and counts of dropped records are ignored.

    Parameters
    ----------
    time : array_like of float, shape (n,)
        When the node fails, in seconds on the clock of the job log, 0 or more.  Rows are sorted by time; equal times
        keep the order in which they are given.
    node : array_like of int, shape (n,)
        Number of the node, from 0; on a torus ``(x * Y + y) * Z + z``.
    downtime : float or array_like of float, shape (n,)
        How long the node is down, in seconds. With 0 it comes back at once: a transient failure, which kills the job on
        the node.  With infinity it does not return.
    coin : array_like of float, shape (n,), optional
        A uniform number in [0, 1) for each failure, which predictors compare with their probability, so that a better
        predictor sees everything that a worse one does. It stays with its failure through every method. By default,
        coins come from a fixed stream that depends only on `n`.
    part : array_like of str, shape (n,), optional
        The part of the node that fails, on a site whose nodes jobs share: ``"gpus:1"``, ``"cores:4"`` or
        ``"memory:16G"``; empty text for the whole node.  By default all failures are of whole nodes.
    span : float, optional
        The time that the trace covers, in seconds; by default up to the last failure.
    of : int, machine or Domains, optional
        The meaning of the numbers in `node`: nodes of this machine, or of a machine with so many nodes; or rows of
        these domains.  By default it is unknown, and only numbers beyond the machine of a run are refused.
    name : str
        Name for output and figures.
    dropped : mapping of str to int, optional
        Reason and count of the omitted records.

    Attributes
    ----------
    time, downtime, coin : numpy.ndarray of float64
    node : numpy.ndarray of int32
    part : numpy.ndarray of str or None
    span : float
    of : Numbering or None

    Raises
    ------
    InputError
        Columns of different lengths; NaN or negative times or down times; times or finite down times beyond the end of
        the clock (model.md#time); a node that is negative or not whole, or that `of` does not have; a coin outside
        [0, 1); text that names no part of a node; a span before the last failure.  The message names column, row (from
        0) and value.

    Notes
    -----
    Overlapping outages of one node are allowed: the node is down until the last of them ends.

    Source: [oliner2004] section 5.1; [zhang2004] section 3.

    Examples
    --------
    >>> import faultsim as fs
    >>> trace = fs.FailureTrace([600, 60, 90], [2, 0, 2], [120, 0, 30], span=3600)
    >>> trace
    <FailureTrace: 3 failures, nodes 0-2, span 3600 s>
    >>> trace.time, trace.node
    (array([ 60.,  90., 600.]), array([0, 2, 2], dtype=int32))
    >>> fs.FailureTrace([60], [-1])
    Traceback (most recent call last):
    ...
    faultsim.errors.InputError: node, row 0: -1 is negative; expected at least 0
    """

    __slots__ = ("_nodes", "_reasons")

    _nodes: tuple[str, ...]
    _reasons: Texts | None

    def _fill(self, **parts: object) -> Self:
        return super()._fill(**{"nodes": (), "reasons": None, **parts})

    def _made(self, columns: Mapping[str, Values], *args: Any, **facts: Any) -> Self:
        """Names and reasons are kept if the rows and their numbers are the same."""
        new = super()._made(columns, *args, **facts)
        if columns["node"] is not self._columns["node"]:
            return new
        return new._with_names(self._nodes, self._reasons)

    def _rows(self, rows: slice | Values, dropped: Mapping[str, int] | None = None) -> Self:
        return super()._rows(rows, dropped)._with_names(self._nodes, self._reasons_of(rows))

    def __reduce__(self) -> Pickled:
        restore, (kind, parts) = super().__reduce__()
        return restore, (kind, {**parts, "nodes": self._nodes, "reasons": self._reasons})

    def _with_names(self, nodes: Sequence[str], reasons: Sequence[str] | Texts | None) -> Self:
        """This new trace, not yet given to a caller, with the names of its nodes and a reason for each failure."""
        object.__setattr__(self, "_nodes", tuple(nodes))
        object.__setattr__(self, "_reasons", None if reasons is None else read_only(np.array(reasons, dtype=np.str_)))
        return self

    def _reasons_of(self, rows: slice | Values) -> Texts | None:
        return None if self._reasons is None else self._reasons[rows]

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes by their numbers, of a trace that was read from records with names; else empty.

        Methods that renumber nodes, or put traces together, leave them out.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.FailureTrace([60], [3]).nodes
        ()
        """
        return self._nodes

    @property
    def reasons(self) -> Texts | None:
        """A reason for each failure, of a trace whose records have reasons; else None.

        Methods that change which outages there are, but for slices and `window`, leave them out.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.FailureTrace([60], [3]).reasons is None
        True
        """
        return self._reasons

    def renamed(self, name: str) -> FailureTrace:
        """The same trace under another name.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.FailureTrace([1], [0]).renamed("one").name
        'one'
        """
        return self._made(self._columns, name=str(name))

    # -- time --------------------------------------------------------------------------------------------------------

    def window(
        self, t0: checks.Duration, t1: checks.Duration, *, shift: bool = True, under_way: bool = False
    ) -> FailureTrace:
        """The failures with ``t0 <= time < t1``.

        Parameters
        ----------
        t0, t1 : float
            Begin and end in seconds, ``0 <= t0 < t1``; `t1` may be infinite.
        shift : bool
            True: `t0` becomes 0.  False: times stay.
        under_way : bool
            Whether an outage that began before `t0` and lasts beyond it is included, as a failure at `t0` with the rest
            of its down time. By default it is not.

        Returns
        -------
        FailureTrace
            Its span ends at `t1`, or where this trace's ends if that is earlier.

        Examples
        --------
        >>> import faultsim as fs
        >>> trace = fs.FailureTrace([60, 600, 3000], [0, 1, 2], 120, span=7200)
        >>> part = trace.window(500, 3500)
        >>> part.time, part.span
        (array([ 100., 2500.]), 3000.0)
        >>> trace.window(100, 3500, under_way=True).downtime
        array([ 80., 120., 120.])
        """
        begin = checks.duration("t0 of window()", t0, low=0.0, unit="s")
        end = checks.number("t1 of window()", t1, above=begin, unit="s", finite=False)
        shift, under_way = checks.flag("shift", shift), checks.flag("under_way", under_way)
        left = self.time + self.downtime - begin
        caught = (self.time < begin) & (left > 0) & under_way
        rows = caught | ((self.time >= begin) & (self.time < end))
        columns = {key: values[rows] for key, values in self._columns.items()}
        columns["downtime"] = np.where(caught, left, self.downtime)[rows]
        columns["time"] = np.maximum(columns["time"], begin) - (begin if shift else 0.0)
        until = max(min(end, self._span), begin)
        slow = []
        for outage in self._slow:
            rest = outage.time + outage.duration - begin
            is_caught = under_way and outage.time < begin and rest > 0
            if is_caught or begin <= outage.time < end:
                at = max(outage.time, begin) - (begin if shift else 0.0)
                slow.append(outage._replace(time=at, duration=rest if is_caught else outage.duration))
        new = self._made(columns, span=until - begin if shift else until, slow=slow)
        return new._with_names(self._nodes, self._reasons_of(rows))

    def align(self, log: JobTable, begin: checks.Duration = 0.0) -> FailureTrace:
        """The trace on the clock of a log: its second `begin` is the first submit; failures before that are left out.

        Parameters
        ----------
        log : Workload
            Whose first job is submitted at any time; to move the log instead, see `Workload.from_zero`.
        begin : float
            Second of this trace; ``trace.time[0]`` lets the first failure come with the first job.

        Examples
        --------
        A log that begins after a year would otherwise meet the second year of the trace:

        >>> import faultsim as fs
        >>> year = 365 * 86_400
        >>> log = fs.Workload(submit=[year, year + 500], runtime=[100, 100], size=[2, 2])
        >>> trace = fs.FailureTrace([60, 600], [0, 1], 120, span=2 * year)
        >>> fs.simulate(log, fs.Cluster(2), failures=trace)
        <Result: 2 jobs on cluster:2 (2 nodes): easy, first_fit, 2 failures, 0 within the run, requeue>
        >>> fs.simulate(log, fs.Cluster(2), failures=trace.align(log))
        <Result: 2 jobs on cluster:2 (2 nodes): easy, first_fit, 2 failures, 2 within the run, requeue>
        """
        if not isinstance(log, JobTable):
            raise InputError(f"align: the log must be a Workload, got {checks.shown(log, 'Workload')}")
        part = self.window(begin, np.inf)
        first = float(log.submit[0])
        slow = [outage._replace(time=outage.time + first) for outage in part.slowdowns]
        return part._made({**part._columns, "time": part.time + first}, span=part.span + first, slow=slow)

    def with_span(self, span: checks.Duration) -> FailureTrace:
        """Times scaled such that the trace's span becomes `span`; down times are unchanged.

        This gives fewer or more failures per day with the same failures: the order, the nodes, the coins and
        coincidences are kept.  To bring a trace to the last arrival of a job log: ``trace.with_span(log.submit[-1])``.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.FailureTrace([60, 600], [0, 1], 120, span=1000).with_span(2000).time
        array([ 120., 1200.])
        """
        new = checks.duration("span of with_span()", span, above=0.0, unit="s")
        if new == self._span:
            return self
        if self._span == 0:
            if not len(self) and not self._slow:
                return self._made(self._columns, span=new)
            raise InputError("with_span: the trace has no span (all failures are at 0 s); give it one with span=")
        # Divided first: the end of the span comes out as `new` to the bit, and no failure after it.
        slow = [outage._replace(time=outage.time / self._span * new) for outage in self._slow]
        return self._made({**self._columns, "time": self.time / self._span * new}, span=new, slow=slow)

    # -- count -------------------------------------------------------------------------------------------------------

    def with_count(self, count: int, *, rng: checks.Random = 0, repeat: bool = False) -> FailureTrace:
        """Exactly `count` failures; times and span are unchanged.

        Which failures are kept is drawn once for all counts: those kept at 1,000 are among those kept at 2,000, and
        thinning twice equals thinning once. A failure's place in that draw depends only on its coin but reveals nothing
        about it, so that a predictor sees the same share of what is left.

        Parameters
        ----------
        count : int
            Number of failures wanted, 0 or more.
        rng : int, numpy.random.SeedSequence or numpy.random.Generator
            Another seed draws other failures. A generator provides a seed at each call, so two calls with the same
            generator are not nested.
        repeat : bool
            If `count` exceeds the number of failures, first repeat the trace end to end as often as needed. The span
            grows accordingly; `with_span` restores it. Copies have their own coins, and choices are nested only for the
            same number of repeats.

        Raises
        ------
        InputError
            More failures requested than there are, without `repeat`.

        Notes
        -----
        [oliner2004] section 6 scales one trace to 0-4,000 failures; the saturation of its Figure 3 needs nested ones.

        Examples
        --------
        >>> import faultsim as fs
        >>> trace = fs.FailureTrace(range(100), [0] * 100)
        >>> few, more = trace.with_count(10), trace.with_count(30)
        >>> len(few), set(few.time) <= set(more.time), more.with_count(10) == few
        (10, True, True)
        >>> len(trace.with_count(250, repeat=True)), trace.with_count(250, repeat=True).span
        (250, 297.0)
        """
        wanted = checks.whole("count of with_count()", count, low=0, high=10_000_000)
        key = _seed(rng)
        trace = self
        if wanted > len(self):
            if not checks.flag("repeat", repeat) or not len(self):
                more = "; repeat=True repeats it end to end as often as needed" if len(self) else ""
                raise InputError(f"with_count: the trace has {len(self)} failures, {wanted} are requested{more}")
            trace = self._repeated(-(-wanted // len(self)))
        chosen = np.sort(np.argsort(priorities(trace.coin, key), kind="stable")[:wanted])
        return trace._rows(chosen)

    def _repeated(self, copies: int) -> FailureTrace:
        parts = [self]
        for copy in range(1, copies):
            # 53 bits of a hash of the coin: uniform, and the same for the same failure and copy.
            coin = (priorities(self.coin, copy << 32) >> np.uint64(11)) * 2.0**-53
            parts.append(self._made({**self._columns, "coin": coin}))
        return FailureTrace.concat(parts, name=self._name)

    # -- nodes -------------------------------------------------------------------------------------------------------

    def map_nodes(
        self, n: int, how: Literal["modulo", "permute"] | ArrayLike = "modulo", *, rng: checks.Random | None = None
    ) -> FailureTrace:
        """The failures on a machine of `n` nodes.

        Parameters
        ----------
        n : int
            Nodes of the machine.
        how : {"modulo", "permute"} or array_like of int
            - ``"modulo"``: node k becomes ``k % n``.
            - ``"permute"``: the nodes are shuffled first (needs `rng`); each node of the machine stands for the same
              number of old ones, give or take one.
            - an array: entry k is the new number of node k; -1 leaves its failures out and counts them in `dropped`.
        rng : numpy.random.Generator, numpy.random.SeedSequence or int, optional
            For ``"permute"``: source of randomness, or a seed.

        Notes
        -----
        If several old nodes become one, their outages may overlap (see `merge_overlaps`).  `map_domains`, or an array,
        maps numbers of domains.

        Examples
        --------
        >>> import faultsim as fs
        >>> trace = fs.FailureTrace([1, 2, 3], [0, 129, 255])
        >>> trace.map_nodes(128).node
        array([  0,   1, 127], dtype=int32)
        >>> trace[:2].map_nodes(4, [3, *[-1] * 128, 0]).node
        array([3, 0], dtype=int32)
        """
        nodes = checks.whole("n of map_nodes()", n, low=1, high=MAX_NODES)
        if self._slow:
            raise InputError("map_nodes: the trace has slowdowns of another machine: use it before map_domains")
        if isinstance(how, str):
            self.refuse_domains("map_nodes")
            if checks.choice("way to map nodes", how, ("modulo", "permute")) == "modulo":
                return self._made({**self._columns, "node": self.node % nodes})._numbered(Numbering(nodes))
            if rng is None:
                raise OptionError("map_nodes: 'permute' needs rng=, a seed or a generator of NumPy")
            shuffled = checks.generator(rng).permutation(max(nodes, self.min_nodes)) % nodes
            return self._made({**self._columns, "node": shuffled[self.node]})._numbered(Numbering(nodes))
        table = np.asarray(how)
        if table.ndim != 1 or table.dtype.kind not in "iu":
            raise OptionError(f"map_nodes: expected 'modulo', 'permute' or an array of whole numbers, got {how!r}")
        if len(table) < self.min_nodes:
            raise InputError(f"map_nodes: {len(table)} new numbers for the nodes 0-{self.min_nodes - 1}")
        if ((table < -1) | (table >= nodes)).any():
            old = int(np.argmax((table < -1) | (table >= nodes)))
            raise InputError(
                f"map_nodes: node {old} becomes {table[old]}; expected 0-{nodes - 1}, or -1 to leave it out"
            )
        new = table[self.node]
        mapped = self._made({**self._columns, "node": new})._without(new < 0, "node not mapped")
        return mapped._numbered(Numbering(nodes))

    def drop_outside(self, nodes: int) -> FailureTrace:
        """Leave out the failures of nodes that a machine of `nodes` nodes does not have, counted in `dropped`.

        Examples
        --------
        >>> import faultsim as fs
        >>> trace = fs.FailureTrace([1, 2], [0, 200]).drop_outside(128)
        >>> len(trace), dict(trace.dropped)
        (1, {'node outside the machine': 1})
        """
        limit = checks.whole("nodes", nodes, low=1, high=MAX_NODES)
        self.refuse_domains("drop_outside")
        return self._without(self.node >= limit, _OUTSIDE)._numbered(Numbering(limit))

    def check_against(self, nodes: int, what: str = "failures") -> None:
        """Raise `InputError` unless the failures can be of nodes of a machine of `nodes` nodes.

        Refused are numbers of domains, a trace of another machine, and else the first failure of a node that the
        machine does not have.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.FailureTrace([1, 2], [0, 200]).check_against(128)
        Traceback (most recent call last):
        ...
        faultsim.errors.InputError: failures: node, row 1: 200 is outside the machine of 128 nodes (1 of 2 failures);
        map_nodes(128) or drop_outside(128) first
        """
        self.refuse_domains(what)
        outside = self.node >= nodes
        remedy = f"map_nodes({nodes}) or drop_outside({nodes}) first"
        if outside.any():
            row = int(np.argmax(outside))
            raise InputError(
                f"{what}: node, row {row}: {self.node[row]} is outside the machine of {nodes} nodes "
                f"({int(outside.sum())} of {len(self)} failures); {remedy}"
            )
        self.refuse_others(nodes, what, remedy)

    def refuse_others(self, nodes: int, what: str, remedy: str) -> None:
        """Raise `InputError` for a trace of a machine with another number of nodes."""
        if self._of is None or self._of.domains or self._of.nodes == nodes:
            return
        fewer = f": its nodes {self._of.nodes}-{nodes - 1} would never fail" if self._of.nodes < nodes else ""
        raise InputError(
            f"{what}: the trace is of {self._of}, and the machine has {nodes:,}{fewer}; {remedy}, or "
            f"map_domains(domains) where each number stands for several nodes"
        )

    def _without(self, which: Flags, reason: str) -> FailureTrace:
        if not (count := int(which.sum())):
            return self
        return self._rows(~which, {**self._dropped, reason: self._dropped.get(reason, 0) + count})

    # -- parts of nodes ----------------------------------------------------------------------------------------------

    def part_amounts(self) -> LongIntegers | None:
        """Cores, MiB and GPUs of the part of each failure, of shape (n, 3), 0 for whole nodes; None if all are."""
        return None if self.part is None else amounts_of(self.part)

    def part_units(self) -> Floats:
        """A number in [0, 1) for each failure, that reveals nothing about its coin: it says which unit of a node fails.

        The first unit of a part is that number times the units that are up (model.md#site-parts).
        """
        return units_hit(priorities(self.coin, _PART_STREAM))

    def whole_nodes(self) -> FailureTrace:
        """The failures of whole nodes.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.FailureTrace([60, 90], [0, 1], 600, part=["gpus:1", ""]).whole_nodes().time
        array([90.])
        """
        return self if self.part is None else self._rows(self.part == "")

    # -- several -----------------------------------------------------------------------------------------------------

    def merge(self, *others: FailureTrace, name: str = "") -> FailureTrace:
        """This trace and others merged on one clock; at equal times this one's failures come first.

        The span is the longest. Coins are kept: two traces with the same number of failures and default coins have the
        same coins, row by row.

        Examples
        --------
        >>> import faultsim as fs
        >>> a, b = fs.FailureTrace([10, 30], [0, 0], span=50), fs.FailureTrace([20], [1], span=90)
        >>> a.merge(b)
        <FailureTrace: 3 failures, nodes 0-1, span 90 s>
        """
        traces = _traces("merge", [self, *others])
        of = common_numbering("merge", traces)
        joined = _joined(traces)
        slow = [outage for trace in traces for outage in trace.slowdowns]
        span = max(trace.span for trace in traces)
        return self._sorted(joined, **together(traces, name), span=span, slow=slow)._numbered(of)

    @classmethod
    def concat(cls, traces: Iterable[FailureTrace], *, name: str = "") -> FailureTrace:
        """Traces end to end: each begins where the span of the previous one ends.

        Examples
        --------
        >>> import faultsim as fs
        >>> year = fs.FailureTrace([10, 30], [0, 1], span=100)
        >>> fs.FailureTrace.concat([year, year]).time
        array([ 10.,  30., 110., 130.])
        """
        if isinstance(traces, FailureTrace):
            raise InputError("concat: one trace given; expected several, in a list")
        parts = _traces("concat", list(traces))
        if not parts:
            raise InputError("concat: no trace given; expected at least one")
        of = common_numbering("concat", parts)
        begin = np.concatenate([[0.0], np.cumsum([trace.span for trace in parts])])
        joined = _joined(parts)
        joined["time"] = np.concatenate([trace.time + t for trace, t in zip(parts, begin[:-1], strict=True)])
        slow = [
            outage._replace(time=outage.time + float(t))
            for trace, t in zip(parts, begin[:-1], strict=True)
            for outage in trace.slowdowns
        ]
        return parts[0]._sorted(joined, **together(parts, name), span=float(begin[-1]), slow=slow)._numbered(of)

    def merge_overlaps(self) -> FailureTrace:
        """Merge overlapping outages of a node into one, from the first failure to the last repair.

        Failures of one node at one instant are merged too. An outage that begins when another ends stays separate. The
        first failure keeps its coin. `dropped` counts the failures removed.

        Examples
        --------
        >>> import faultsim as fs
        >>> trace = fs.FailureTrace([0, 50, 60], [3, 3, 4], [100, 200, 10]).merge_overlaps()
        >>> trace.time, trace.downtime
        (array([ 0., 60.]), array([250.,  10.]))
        """
        self.refuse_parts("merge_overlaps")
        first, downtime = merged_outages(self._columns)
        if len(first) == len(self):
            return self
        dropped = {**self._dropped}
        dropped["overlapping outage merged"] = dropped.get("overlapping outage merged", 0) + len(self) - len(first)
        columns = {key: values[first] for key, values in self._columns.items()}
        merged = self._made({**columns, "downtime": downtime}, dropped=dropped)
        return merged._with_names(self._nodes, self._reasons_of(first))

    # -- facts -------------------------------------------------------------------------------------------------------

    def summary(self, nodes: int | None = None, *, burst_gap: checks.Duration = 0.0) -> FailureSummary:
        """Counts, rates, gaps, down times, worst nodes, bursts and availability.

        Parameters
        ----------
        nodes : int, optional
            Nodes of the machine; by default those that the trace is of (`of`), else as many as the numbers require.
            Of a trace of domains the summary is of domains, and this is left out.
        burst_gap : float
            Failures at most this many seconds apart belong to one burst; 0: only those at the same instant.

        Returns
        -------
        FailureSummary
            A mapping that prints as a table.

        Examples
        --------
        >>> import faultsim as fs
        >>> trace = fs.FailureTrace([0, 43_200], [0, 1], 864, span=86_400)
        >>> summary = trace.summary(nodes=2)
        >>> summary["per_day"], summary["availability"]
        (2.0, 0.99)
        """
        of_trace = self.min_nodes if self._of is None else self._of.size
        machine = of_trace if nodes is None else checks.whole("nodes", nodes, low=1, high=MAX_NODES)
        if nodes is not None:
            self.check_against(machine, "summary")
        gap = checks.number("burst_gap", burst_gap, low=0.0, unit="s")
        return summarize(
            self._columns, span=self._span, nodes=machine, burst_gap=gap, name=self._name, dropped=self._dropped
        )

    # -- other forms -------------------------------------------------------------------------------------------------

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the trace as text (``.gz``, ``.xz``, ``.bz2`` compressed, "-" for standard output).

        `faultsim.read_failures` returns an identical trace, bit for bit, and refuses a file that was cut or altered.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.FailureTrace([60, 90.5], [0, 2], [0, 30], coin=[0.25, 0.75], span=3600).write_csv("-")
        # Complete: if the last line is End, with the count and CRC-32 of the lines before it
        # faultsim failure trace, version 1
        # span: 3600
        time,node,downtime,coin
        60,0,0,0.25
        90.5,2,30,0.75
        # End: 6 lines, crc32 89e3a10d
        """
        name = f"# name: {' '.join(self._name.split())}\n" if self._name.split() else ""
        slow = "".join(f"# slowdown: {outage.as_text()}\n" for outage in self._slow)
        numbers = f"# numbers: {self._of.as_text()}\n" if self._of else ""
        if self._nodes:
            import json

            numbers += f"# nodes: {json.dumps(self._nodes)}\n"
        span = f"# span: {shortest(np.array([self._span]))[0]}\n"
        head = f"{CSV_MARK}\n{span}{name}{numbers}{slow}{','.join(self._columns)}\n"
        rows = map(",".join, zip(*(shortest(values) for values in self._columns.values()), strict=True))
        write_text(path, with_end("#", head + "".join(row + "\n" for row in rows)))

    @classmethod
    def from_pandas(
        cls, frame: pd.DataFrame, *, span: checks.Duration | None = None, of: object = None, name: str = ""
    ) -> FailureTrace:
        """A trace from a pandas frame with columns time and node, optionally downtime, coin and part.

        Parameters
        ----------
        frame : pandas.DataFrame
            Rows in any order.  Columns with other names are ignored.
        span : float, optional
            The time that the trace covers, in seconds; by default up to the last failure.
        of : int, machine or Domains, optional
            The meaning of the node numbers, as for `FailureTrace`; a frame does not carry it.
        name : str
            Name for output and figures.

        Raises
        ------
        InputError
            A column is missing, looks misspelled, or contains invalid values.

        Examples
        --------
        >>> import faultsim as fs
        >>> trace = fs.FailureTrace([1, 5], [0, 3], 60)
        >>> fs.FailureTrace.from_pandas(trace.to_pandas()) == trace
        True
        """
        from difflib import get_close_matches

        if isinstance(frame, type) or not (hasattr(frame, "columns") and hasattr(frame, "__getitem__")):
            hint = ": read_failures reads files" if isinstance(frame, str | os.PathLike) else ""
            raise InputError(f"from_pandas takes a frame of pandas, got {checks.shown(frame)}{hint}")
        if isinstance(frame, FailureTrace):
            frame = frame.to_pandas()
        there = [str(key) for key in frame.columns]
        for key in by_name(FAILURES):
            if key not in there:
                if near := get_close_matches(key, there, n=1, cutoff=0.85):
                    raise InputError(f"from_pandas: column {near[0]!r} is not known; did you mean {key!r}?")
                if key in ("time", "node"):
                    raise InputError(f"from_pandas: column {key!r} missing; the frame has {', '.join(there)}")
        given = {key: frame[key].to_numpy() for key in (*by_name(FAILURES), "part") if key in there}
        return cls(**given, span=span, of=of, name=name)


def _joined(traces: Sequence[FailureTrace]) -> dict[str, Values]:
    """The columns of several traces, one after another."""
    together = {key: np.concatenate([trace.columns[key] for trace in traces]) for key in by_name(FAILURES)}
    return together | joined_parts(trace.columns for trace in traces)


def _seed(rng: checks.Random) -> int:
    drawn = checks.generator(rng)
    return int(rng) if isinstance(rng, int | np.integer) else int(drawn.integers(2**63))


def _traces(what: str, traces: list[FailureTrace]) -> list[FailureTrace]:
    for position, trace in enumerate(traces):
        if not isinstance(trace, FailureTrace):
            given = checks.shown(trace, "FailureTrace")
            raise InputError(f"{what}: item {position} must be a FailureTrace, got {given}")
    return traces
