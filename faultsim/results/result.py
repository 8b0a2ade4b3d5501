"""`Result`: the outcome of a run, as columns, with its ledger and its provenance."""

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from faultsim import checks, renames
from faultsim.arrays import Flags, Floats, LongIntegers, RowNumber, Texts, Values
from faultsim.checks import OldNames
from faultsim.data.columns import JOBS
from faultsim.data.event_kinds import FIRST_ENDED, FIRST_WITHOUT_RUN, JOB_STATES, NUMBER_TIMED_OUT
from faultsim.data.failures import FailureTrace
from faultsim.data.further import further_names
from faultsim.data.lowered import EngineOutput
from faultsim.data.notebook import table_html
from faultsim.data.tabular import Columns, ColumnTable, ListedColumns, ReadOnlyDict, TablesOfAResult
from faultsim.data.workload import Workload, as_it_is
from faultsim.errors import OptionError
from faultsim.machines import Machine, machine_from_lowered
from faultsim.results.caveats import caveats
from faultsim.results.dispersal import dispersal_of
from faultsim.results.files import write_jobs_csv, write_schedule
from faultsim.results.goodput import GoodputOfAResult
from faultsim.results.groups import grouped
from faultsim.results.held import Held
from faultsim.results.ledger import LEDGER_ACCOUNTS
from faultsim.results.metric_table import Metric
from faultsim.results.metrics import METRICS
from faultsim.results.part import Part
from faultsim.results.provenance import Record, plain, provenance, revision_of
from faultsim.results.reasons import Why
from faultsim.results.revision import Pickled, caveat

if TYPE_CHECKING:
    from faultsim.results.against_recorded import AgainstRecorded

#: What the engines count.
COUNTERS = (
    "migrations_attempted",
    "migrations_successful",
    "failures",
    "failures_hit",
    "checkpoints",
    "events",
    "passes",
)
_FROM_LOG = ("id", "submit", "size", "user", "estimate")


class JobColumns(ColumnTable, ReadOnlyDict):
    """Read-only columns of a result, one row per job in workload order; derived ones are computed on first use.

    Columns by name, rows by number; the length is the number of jobs.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> fs.simulate(log, fs.Cluster(2)).jobs["wait"]
    array([0., 9.])
    >>> len(fs.simulate(log, fs.Cluster(2)).jobs), fs.simulate(log, fs.Cluster(2)).jobs[-1]["wait"]
    (2, 9.0)
    """

    __slots__ = ("_log", "_made", "_numbers")

    def __init__(
        self,
        made: dict[str, Values],
        log: Mapping[str, Values],
        states: NDArray[np.int8] | None = None,
    ) -> None:
        self._made, self._log, self._numbers = made, log, states

    @overload
    def __getitem__(self, key: str, /) -> Values: ...
    @overload
    def __getitem__(self, key: RowNumber, /) -> dict[str, object]: ...
    @overload
    def __getitem__(self, key: slice | Values | Sequence[bool] | Sequence[int], /) -> ColumnTable: ...
    def __getitem__(self, key: Any, /) -> object:
        return self.column(key) if type(key) is str else super().__getitem__(key)

    def column(self, name: str) -> Values:
        """The column of this name."""
        column = self._made.get(name)
        if column is None:
            if name in (old := renames.renamed("column", "jobs")):
                renames.warn(f"the column {name!r} of jobs", repr(old[name].new), 3)
                return self.column(old[name].new)
            if name not in _DERIVED:
                hint = checks.did_you_mean(name, self)
                raise KeyError(f"no column {name!r}{hint}; columns: {', '.join(self)}")
            column = self._made[name] = _DERIVED[name](self)
            column.setflags(write=False)
        return column

    def __iter__(self) -> Iterator[str]:
        return iter([*(column.name for column in JOBS), *further_names(self._log)])

    def __len__(self) -> int:
        return len(self._made["submit"])

    def __contains__(self, name: object) -> bool:
        return name in self._made or name in _DERIVED

    def __repr__(self) -> str:
        return f"<jobs: {len(self['submit']):,} rows; {', '.join(self)}>"


def _bounded_slowdown(jobs: JobColumns) -> Floats:
    # [krevat2002] section 3.2, with Gamma = 10 s.
    slowdown: Floats = np.maximum(jobs["response"], 10.0) / np.maximum(jobs["runtime"], 10.0)
    return slowdown


def _state(jobs: JobColumns) -> Texts:
    numbers: Values | None = jobs._numbers
    if numbers is None:  # of a run that is over: a job that ran for less than the log says was cut at its limit
        numbers = np.where(jobs["runtime"] < jobs._log["runtime"], NUMBER_TIMED_OUT, FIRST_ENDED)
    words: Texts = JOB_STATES[numbers]
    return words


_DERIVED: dict[str, Callable[[JobColumns], Values]] = {
    "eligible": lambda jobs: jobs["submit"],  # of a run without conditions
    "wait": lambda jobs: jobs["start"] - jobs["eligible"],
    "response": lambda jobs: jobs["finish"] - jobs["eligible"],
    "bounded_slowdown": _bounded_slowdown,
    "state": _state,
}
#: Columns of the jobs that an engine gives; the others are the log's, or follow.
FROM_ENGINE = tuple(column.name for column in JOBS if column.name not in (*_FROM_LOG, *_DERIVED))
_NEEDED = frozenset(FROM_ENGINE)


class Metrics(Mapping[str, float]):
    """The metrics of a result by name, each computed on first use; see `faultsim.results.metrics.METRICS`.

    Those of jobs count the jobs that have ended and were not withdrawn. Of a run that is not over, those that only a
    whole run has (makespan, capacity_utilized, capacity_lost) are not there: `OptionError`.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> fs.simulate(log, fs.Cluster(2)).metrics["mean_wait"]
    4.5
    """

    __slots__ = ("_is_over", "_made", "_result")

    def __init__(self, result: "Result") -> None:
        self._is_over = result.is_over
        self._result = result
        self._made = result._measured

    def __getitem__(self, name: str) -> float:
        if name not in self._made:
            if name not in METRICS:
                raise KeyError(
                    f"no metric {name!r}{checks.did_you_mean(name, METRICS)}; list(result.metrics) names them"
                )
            if METRICS[name].whole and not self._is_over:
                raise OptionError(f"{name} is not known before the run is over; known so far: {', '.join(self)}")
            of_all = self._result.all_ran or METRICS[name].of_all
            jobs = self._result if of_all else Part(self._result, self._result.ended)
            self._made[name] = METRICS[name].function(jobs)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return (row.name for row in METRICS.values() if self._is_over or not row.whole)

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in METRICS and (self._is_over or not METRICS[name].whole)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{name!r}: {self[name]!r}" for name in self) + "}"


class Result(Pickled, TablesOfAResult, GoodputOfAResult, OldNames):
    """The outcome of a run: jobs, metrics, capacity ledger, events and allocations if recorded, provenance.

    `simulate` returns one; `load_result` reads a saved one. It is immutable.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> result = fs.simulate(log, fs.Cluster(2))
    >>> result.jobs["start"], result.metrics["makespan"], result.ledger["useful"]
    (array([ 0., 10.]), 15.0, 30.0)
    """

    _TABLES: ClassVar[tuple[str, ...]] = ("jobs", "events", "allocations")
    #: What `why` calls.  It repeats the run, so `faultsim.simulation`, which imports results, enters it.
    explain: ClassVar[Callable[["Result", int, Mapping[str, Any]], Why]]

    def __init__(self, output: EngineOutput, record: Record) -> None:
        if not isinstance(record, Record) or not getattr(output, "keys", set)() >= _NEEDED:
            raise OptionError("Result: it comes from simulate, Simulation.result, load_result and the like")
        self._output = _with_held(output)
        self._record = record
        made: dict[str, Values] = {name: record.columns[name] for name in (*_FROM_LOG, *further_names(record.columns))}
        for name in FROM_ENGINE:
            column = output[name]
            column.setflags(False)
            made[name] = column
        #: Whether all jobs had ended.
        self.is_over: bool = True
        #: Whether all jobs had ended and none of them without a run.
        self.all_ran: bool = True
        if "eligible" in output:
            made["eligible"] = output["eligible"]
            made["eligible"].setflags(write=False)
        states = output.get("state")
        if states is not None:
            states.setflags(write=False)
            self.is_over = bool((states >= FIRST_ENDED).all())
            self.all_ran = self.is_over and bool((states < FIRST_WITHOUT_RUN).all())
        self._jobs = JobColumns(made, record.columns, states)
        # Not the `Metrics`, which have the result: in a cycle, its columns would wait for the garbage collector.
        self._measured: dict[str, float] = {}
        self._machine: Machine | None = None
        self._counters: dict[str, int] | None = None
        self._dispersal: Floats | None = None
        self._warnings: tuple[str, ...] | None = None

    # -- what happened

    @property
    def jobs(self) -> JobColumns:
        """Columns by name, one row per job in workload order; `faultsim.data.columns.JOBS` describes each.

        Further columns of the log follow these.
        """
        return self._jobs

    @property
    def ended(self) -> Flags:
        """Which jobs have ended in time, at their limit or killed for good, which metrics of jobs count.

        Once the run is over these are all jobs but those that were withdrawn or whose dependency was never satisfied.
        """
        states: NDArray[np.int8] | None = self._output.get("state")
        if states is None:
            return np.ones(len(self), np.bool_)
        ended: Flags = (states >= FIRST_ENDED) & (states < FIRST_WITHOUT_RUN)
        return ended

    @property
    def metrics(self) -> Metrics:
        """Metrics by name, each computed on first use."""
        return Metrics(self)

    @property
    def ledger(self) -> Mapping[str, float]:
        """Account -> node-seconds; every node-second of the machine over the makespan is in exactly one account.

        Where jobs share the nodes of a `Site`, these are core-seconds.
        """
        return MappingProxyType(checks.Named("account", self._output["ledger"]))

    @property
    def counters(self) -> Mapping[str, int]:
        """What the engine counted.

        Migrations attempted and successful (for `Fars`: ticks with suspicious jobs); failures handled between the first
        submit and the last finish, and those that killed a job; requested checkpoints begun; events; scheduling passes.
        """
        if self._counters is None:
            self._counters = {name: int(self._output[name]) for name in COUNTERS}
        return checks.Named("counter", self._counters)

    @property
    def span(self) -> tuple[float, float]:
        """First submit and last finish, in seconds; of a run that is not over, first submit and now."""
        return float(self._output["makespan_begin"]), float(self._output["makespan_end"])

    @property
    def events(self) -> ColumnTable:
        """Columns time (s), kind (see `EventKind`), job (row) and node, in the order in which events happened.

        Job or node is -1 if none is involved: a failure on a free node has no job, an arrival no node.  A job that
        `NodeStealing` stops has a row of kind reschedule.

        Raises
        ------
        OptionError
            If the run was not made with ``record=True``.
        """
        return self._recorded("events_table", "events")

    @property
    def allocations(self) -> ColumnTable:
        """Who held what: columns job, begin, end and the box (torus) or the node list (cluster).

        On a cluster row k holds ``nodes[node_offsets[k]:node_offsets[k + 1]]``; ``nodes`` is made when it is first
        looked at, for it may be larger than all the rest.

        Raises
        ------
        OptionError
            If the run was not made with ``record=True``.
        """
        return self._recorded("allocations", "allocations")

    @property
    def dispersal(self) -> Floats:
        """Mean number of hops between two nodes of each job, those it held last; NaN for jobs of one node.

        Raises
        ------
        OptionError
            If the run was not made with ``record=True``, or on a cluster without a shape.
        """
        if self._dispersal is None:
            self._dispersal = dispersal_of(self.allocations, self.machine, len(self))
            self._dispersal.setflags(write=False)
        return self._dispersal

    @property
    def users(self) -> LongIntegers:
        """User of each job, -1 where missing."""
        users: LongIntegers = self._record.columns["user"]
        return users

    def by(self, column: str | ArrayLike, metrics: Sequence[str] | None = None) -> Columns:
        """The metrics of jobs for each user, class of sizes, or value of any column: a row per group.

        Parameters
        ----------
        column : str or array_like, shape (n_jobs,)
            ``"user"``; ``"size_class"``, that of 1, 2, 3-4, 5-8, ... nodes, named by its largest size; any column of
            `jobs`; or a label for each job.
        metrics : sequence of str, optional
            Names of metrics of jobs; by default all, those of failures only if there were any.

        Returns
        -------
        Columns
            The groups in ascending order, then a column per metric, in the units of `faultsim.METRICS` (a metric with
            the name of the groups' column is called ``metric:NAME``); of a run that is not over, of jobs that have
            ended.

        Raises
        ------
        OptionError
            For an unknown column, or a metric that jobs do not have.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0, 1, 2], runtime=[10, 5, 5], size=[1, 2, 2], user=[7, 7, 3])
        >>> table = fs.simulate(log, fs.Cluster(2)).by("user", ["n_jobs", "max_wait"])
        >>> table["user"], table["n_jobs"], table["max_wait"]
        (array([3, 7]), array([1, 2]), array([13.,  9.]))
        """
        return grouped(self, self.ended, column, metrics)

    def against_recorded(self) -> "AgainstRecorded":
        """Waits of this run beside those that the log recorded: is the model the machine?

        Returns
        -------
        AgainstRecorded
            A mapping of numbers that prints as a table, with tables by size and over time: waits; how many recorded
            starts do not fit on the machine of the run (a wrong machine or log), or pass a waiting job for which enough
            nodes are idle (limits, reservations, decisions by hand); utilization.

        Raises
        ------
        OptionError
            If the log has no `Workload.recorded_wait`.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2], recorded_wait=[0, 12])
        >>> print(fs.simulate(log, fs.Cluster(2)).against_recorded().by_size["simulated_mean_wait"])
        [4.5]
        """
        from faultsim.results.against_recorded import against_recorded

        return against_recorded(self)

    def why(self, job: int, **policies: object) -> Why:
        """Why a job waited: its whole wait in spans, each with the rule of the scheduler (model.md#reasons).

        The run is simulated again up to the end of the wait, and each pass of the wait is explained.

        Parameters
        ----------
        job : int
            Row of the job in `jobs`.
        **policies
            As for `rerun`: needed only for a loaded result that used a policy written in Python, which is not saved.

        Returns
        -------
        Why
            Spans from the submission to the start, and from each kill to the next start or to the end of the hold; they
            cover the wait and have no gap.

        Raises
        ------
        OptionError
            If there is no such row; if the run cannot be repeated, since its decisions came from outside, its caller
            owned time, or a policy written in Python is missing; or if repeating it gives another start.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0, 1, 2], runtime=[10, 5, 20], size=[2, 3, 1])
        >>> result = fs.simulate(log, fs.Cluster(3))
        >>> for begin, end, reason in result.why(2):
        ...     print(begin, end, reason.cause)
        2.0 10.0 would delay the head
        10.0 15.0 no room
        """
        return Result.explain(self, job, policies)

    @property
    def resources(self) -> Columns:
        """The ledger of each resource of a `Site`: core-seconds, MiB-seconds and GPU-seconds by account.

        Columns ``resource``, ``unit``, ``capacity`` and its parts: ``held`` by jobs, ``stranded`` (model.md#stranded),
        ``down`` (free, on nodes that are down) and ``idle``, over the makespan.

        Raises
        ------
        OptionError
            As of `stranded`.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload([0, 0], [10, 10], [1, 1], columns={"cores": [4, 1], "gpus": [0, 1]})
        >>> table = fs.simulate(log, "site:n=1x4cx2v100", record=True).resources
        >>> table["unit"].tolist(), table["held"].tolist(), table["stranded"].tolist()
        (['core-s', 'GPU-s'], [50.0, 10.0], [0.0, 20.0])
        """
        from faultsim.results.site_use import ledger_of

        return Columns(ledger_of(self), "resources")

    def waits_for(self, by: str | ArrayLike | None = None) -> Columns:
        """What jobs of a `Site` waited for, in hours by group (model.md#site-reasons).

        Jobs without room wait for the resources that are short, as "memory beside free GPUs"; jobs with room for "other
        jobs first".  Hours are those in the queue, of jobs that ran, up to each decision to start them.

        Parameters
        ----------
        by : str or array_like, optional
            The groups, as of `by`; without it, jobs that request GPUs and others.

        Returns
        -------
        Columns
            The group, ``reason``, ``hours`` and ``share`` of the hours of the group, the longest first in each.

        Raises
        ------
        OptionError
            As of `stranded`, or for an unknown column.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload([0, 0], [7200, 10], [1, 1], columns={"cores": [1, 1], "gpus": [2, 1]})
        >>> table = fs.simulate(log, "site:n=1x4cx2v100", record=True).waits_for()
        >>> table["group"].tolist(), table["reason"].tolist(), table["hours"].tolist()
        (['GPU jobs'], ['GPUs'], [2.0])
        """
        from faultsim.results.site_waits import waits_for

        return waits_for(self, by)

    def _recorded(self, key: str, what: str) -> ColumnTable:
        if key not in self._output:
            raise OptionError(f"this run recorded no {what}: simulate with record=True to keep them")
        columns: Mapping[str, Values] = self._output[key]
        if isinstance(columns, Held):
            return columns
        return (ListedColumns if "node_offsets" in columns else Columns)(columns, what)

    # -- what made it

    @property
    def machine(self) -> Machine:
        """The machine of the run."""
        if self._machine is None:
            self._machine = machine_from_lowered(self._record.settings["machine"])
        return self._machine

    @property
    def capacity(self) -> int:
        """What sizes of jobs count in all: the nodes of the machine, or the cores of a `Site` whose nodes jobs share.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0], runtime=[10], size=[2])
        >>> fs.simulate(log, fs.Cluster(4)).capacity
        4
        """
        return self.machine.capacity_for(self._record.columns)

    @property
    def utilization(self) -> Mapping[str, float]:
        """Cores, memory and GPUs of a `Site` whose nodes jobs share: the share of each that jobs held.

        Raises
        ------
        OptionError
            If the run was not made with ``record=True``, or jobs take whole nodes.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload([0], [10], [1], columns={"cores": [1], "gpus": [2]})
        >>> fs.simulate(log, "site:n=1x4cx2v100", record=True).utilization["gpus"]
        1.0
        """
        from faultsim.results.site_use import utilization_of

        return MappingProxyType(checks.Named("resource", utilization_of(self)))

    @property
    def stranded(self) -> Mapping[str, float]:
        """Cores, memory and GPUs of a `Site`: the share of each that was free and of no use (model.md#stranded).

        Free GPUs of a node are stranded while jobs wait for GPUs and each of them lacks cores or memory there.  Takes a
        second or so for ten thousand jobs.

        Raises
        ------
        OptionError
            As of `utilization`; or a job of any number of nodes is on several.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload([0, 0], [10, 10], [1, 1], columns={"cores": [4, 1], "gpus": [0, 1]})
        >>> fs.simulate(log, "site:n=1x4cx2v100", record=True).stranded["gpus"]
        0.5
        """
        from faultsim.results.site_use import stranded_of

        return MappingProxyType(checks.Named("resource", stranded_of(self)))

    @property
    def settings(self) -> Mapping[str, Any]:
        """The lowered run: machine, policies and options."""
        return MappingProxyType(self._record.settings)

    @property
    def dropped(self) -> Mapping[str, int]:
        """Reason -> number of jobs that were left out, by the reader and by ``oversized="drop"``."""
        return MappingProxyType(dict(self._record.dropped))

    @property
    def workload(self) -> Workload:
        """The workload as it was run.

        Of a run whose caller owns time, jobs are in the order in which they were told, and run times may be unknown.
        """
        record = self._record
        return as_it_is(record.columns, record.dropped, record.source, record.recorded_wait, record.comments)

    @property
    def record(self) -> Record:
        """All inputs of the run, for `rerun`."""
        return self._record

    @property
    def failures(self) -> FailureTrace | None:
        """The failures of the run, as given."""
        return self._record.failures

    @property
    def provenance(self) -> dict[str, Any]:
        """Versions, settings, input digest and source, seed, time, as plain JSON values."""
        return provenance(self._record)

    @property
    def model_revision(self) -> int | None:
        """The `MODEL_REVISION` that computed it; None if it was saved by a version that did not record it."""
        return revision_of(self._record)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What should be known before the numbers are believed, one sentence each; none is usual.

        Jobs that were left out, have no requested time or share their id; estimates that most jobs run past; jobs cut
        at their limit, if these are 5 % or more of the jobs or of the work; a load that is rather a percentage;
        failures that are not in the run; checkpoints that take more than half of the time; an older model revision.
        """
        if self._warnings is None:
            self._warnings = (*caveat(self.model_revision), *caveats(self))
        return self._warnings

    def __len__(self) -> int:
        return len(self._record.columns["submit"])

    # -- out

    def write_swf(self, path: str | os.PathLike[str]) -> None:
        """Write the schedule as an SWF file, with waits, allocated and requested processors.

        A job that was cut at its limit, killed for good, withdrawn or never satisfied has status 5, all others 1; one
        that has not ended has -1, and -1 for what is not known yet.  Waits count from the submit time; that of a
        withdrawn job ends with it.  `path` may end in .gz, .xz or .bz2; "-" is standard output.
        """
        write_schedule(path, self.jobs, self._record, self._header())

    def write_batsim(self, path: str | os.PathLike[str]) -> None:
        """Write the jobs as CSV in the 17 columns of Batsim's ``_jobs.csv``, which evalys and similar tools read.

        ``allocated_resources`` holds node numbers as interval sets ("0-4 6 8") if the run was made with
        ``record=True``, and is empty otherwise.
        """
        held = self._output.get("allocations")
        write_jobs_csv(path, self.jobs, self._record, held)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save everything in one file (NumPy's .npz with the provenance as JSON), for `load_result`.

        The file includes the workload, failures and predictions, so `rerun` works on a loaded result. It appears
        complete or not at all.
        """
        arrays: dict[str, Values | Held] = {f"jobs/{name}": self._jobs[name] for name in FROM_ENGINE}
        if "state" in self._output:
            arrays["jobs/state"] = self._output["state"]
        if "eligible" in self._output:
            arrays["jobs/eligible"] = self._output["eligible"]
        arrays |= {f"workload/{name}": column for name, column in self._record.columns.items()}
        for key in ("events_table", "allocations"):
            table = self._output.get(key, {})
            for name in table:  # nodes are listed as they are written
                listed = name == "nodes" and isinstance(table, Held)
                arrays[f"{key}/{name}"] = table if listed else table[name]
        if self._record.recorded_wait is not None:
            arrays["recorded/wait"] = self._record.recorded_wait
        trace = self._record.failures
        if trace is not None:
            arrays |= {f"failures/{name}": column for name, column in trace.columns.items()}
        for kind, columns in self._record.arrays.items():
            arrays |= {f"policy/{kind}/{name}": column for name, column in columns.items()}
        facts = {
            "provenance": self.provenance,
            "ledger": dict(self.ledger),
            "span": self.span,
            "counters": self.counters,
            "dropped": dict(self.dropped),
            "comments": list(self._record.comments),
        }
        from faultsim.results.saved_file import save_arrays

        save_arrays(path, arrays, facts)

    # -- print

    def _header(self) -> str:
        s = plain(self._record.settings)
        parts = [s["scheduler"]["name"]]
        order = s["scheduler"]["order"]["name"]
        if order != "arrival":
            parts.append(f"{order} order")
        parts.append(s["placement"]["name"])
        if s["migration"] is not None:
            parts.append(s["migration"]["name"])
        if s["rescheduling"] is not None:
            strategy = s["rescheduling"].get("strategy", {"name": "rescheduling"})
            parts.append(f"{s['rescheduling']['name']} {strategy['name']}")
        if s["checkpointing"] is not None and s["checkpointing"]["name"] != "none":
            parts.append(f"{s['checkpointing']['name']} checkpoints")
        if s["failures"] is not None:
            happened, when = self.counters["failures"], "within the run" if self.is_over else "so far"
            failures = checks.count(s["failures"]["count"], "failures")
            parts.append(f"{failures}, {happened:,} {when}, {s['recovery']['name']}")
        if s["predictor"] is not None:
            parts.append(f"{s['predictor']['name']} predictor")
        jobs, nodes = checks.count(len(self), "jobs"), checks.count(self.machine.nodes, "nodes")
        return f"{jobs} on {self.machine} ({nodes}): {', '.join(parts)}"

    def __repr__(self) -> str:
        return f"<Result: {self._header()}>"

    def _printed(self) -> list[Metric]:
        """The metrics that are printed."""
        return [
            row
            for row in map(METRICS.__getitem__, self.metrics)
            if not row.on_request
            and (not row.quiet or (self.metrics[row.name] and not math.isnan(self.metrics[row.name])))
        ]

    def _repr_html_(self) -> str:
        """The metrics and the warnings, for notebooks."""
        rows = [(row.name, _shown(self.metrics[row.name], row.unit).strip()) for row in self._printed()]
        return table_html(self._header(), ("metric", "value"), rows, [f"note: {text}" for text in self.warnings])

    def __str__(self) -> str:
        lines = [self._header(), ""]
        lines += [f"{row.name:<28}{_shown(self.metrics[row.name], row.unit)}" for row in self._printed()]
        total = sum(self.ledger.values())
        unit = "node" if self.capacity == self.machine.nodes else "core"
        lines += ["", f"capacity ledger             share   {unit}-seconds"]
        for account in LEDGER_ACCOUNTS:
            amount = self.ledger[account]
            if amount:
                share = amount / total if total else float("nan")
                lines.append(f"  {account.replace('_', ' '):<22}{share:>9.2%} {amount:>14,.0f}")
        lines += [f"note: {warning}" for warning in self.warnings]
        return "\n".join(lines)


def _with_held(output: EngineOutput) -> EngineOutput:
    """What an engine returned, with the nodes that jobs held as columns that are listed on demand."""
    held = output.get("allocations", {})
    return {**output, "allocations": Held(held)} if "ranges" in held else output


def _shown(value: float, unit: str) -> str:
    """A metric's value and unit, aligned; a ratio as a percentage, long times also in hours."""
    if unit == "fraction":
        return f"{100 * value:>16,.2f} %"
    if isinstance(value, int):
        return f"{value:>13,}     {unit}".rstrip()
    text = f"{value:>16,.2f} {unit}" if abs(value) >= 1 or value == 0 else f"{value:>16.4g} {unit}"
    if unit == "s" and abs(value) >= 3600:
        text += f"  ({value / 3600:,.2f} h)" if abs(value) < 3 * 86400 else f"  ({value / 86400:,.2f} d)"
    return text.rstrip()
