"""What a reader should know before believing the numbers of a run: `Result.warnings`.

Nothing here is computed before somebody asks, so that a short run does not pay for it.
"""

import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from faultsim.arrays import Values
from faultsim.data.estimates import doubtful_estimates
from faultsim.data.event_kinds import JobState
from faultsim.data.failures import FailureTrace
from faultsim.data.swf_format import leading_integer
from faultsim.data.unreadable import MOST_UNREADABLE, unreadable
from faultsim.data.workload import MOST_LOAD, Workload
from faultsim.machines import Machine
from faultsim.results.ledger import LEDGER_ACCOUNTS

#: Fewer jobs may come in a burst, whose offered load says nothing.
LEAST_JOBS = 100
#: Share of the failures that its rate over the whole trace would give a run, below which it has few of them.
FEW = 0.1
#: Share of the failures of a trace from which on it matters that they come before the run.
MANY_BEFORE = 0.01
#: Share of the jobs, or of the work, from which on it matters that jobs are cut at their limit.
MANY_CUT = 0.05
#: Share of the time of jobs above which checkpoints can hardly be meant.
MOST_SAVING = 0.5
TOO_LONG = "of the time for which jobs hold nodes: check the units of their cost and interval"
#: Other pauses of jobs: their account, how a sentence begins, and what to check.
_PAUSES = (
    ("restart", "restarts take", "restart_cost"),
    ("migration", "moves take", "the cost of a move"),
    ("start_delay", "start delays take", "start_delay"),
)
#: Share of the capacity of a machine above which its nodes can hardly be meant to be down.
MOST_DOWN = 0.5
_NOT_HELD = ("down", "reserved", "drained", "idle_no_demand", "idle_demand")
_HELD = tuple(account for account in LEDGER_ACCOUNTS if account not in _NOT_HELD)


class Doubtful(Protocol):
    """The part of a `Result` that is looked at; it imports this module."""

    is_over: bool
    all_ran: bool

    @property
    def jobs(self) -> Mapping[str, Values]: ...
    @property
    def ledger(self) -> Mapping[str, float]: ...
    @property
    def metrics(self) -> Mapping[str, float]: ...
    @property
    def span(self) -> tuple[float, float]: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def dropped(self) -> Mapping[str, int]: ...
    @property
    def workload(self) -> Workload: ...
    @property
    def failures(self) -> FailureTrace | None: ...
    @property
    def machine(self) -> Machine: ...
    def __len__(self) -> int: ...


def caveats(result: Doubtful) -> tuple[str, ...]:
    """One sentence for each thing that is odd about a run."""
    begin, end = result.span
    said = [] if result.is_over else [_how_far(result)]
    said += [
        f"{count:,} job{'s' if count != 1 else ''} left out: {reason}"
        for reason, count in result.dropped.items()
        if count
    ]
    said += of_unreadable(result.dropped, len(result))
    columns = result.workload.columns
    if result.settings["estimates"] == "requested":
        missing = int((columns["estimate"] < 0).sum())
        if missing:
            said.append(f"{missing:,} of {len(result):,} jobs have no requested time; their run time is used instead")
        doubt = doubtful_estimates(columns["runtime"], columns["estimate"])
        said += [] if doubt is None else [doubt]
    said += result.settings.get("without_effect", ())
    said += _of_oracles(result.settings)
    said += of_limits(result)
    said += _of_ids(columns["id"])
    said += _of_preceding(columns)
    said += () if result.all_ran else _of_withdrawals(result.jobs["state"])
    said += _of_load(columns, result.machine.capacity_for(columns))
    if result.failures is not None:
        said += of_failures(result.failures, begin, end, is_over=result.is_over)
        said += of_header(result.workload, result.machine.nodes, result.failures)
    said += of_checkpoints(result.ledger)
    said += of_pauses(result.ledger)
    return tuple(said)


def of_unreadable(dropped: Mapping[str, int], jobs: int) -> Iterator[str]:
    """Whether much of a log could not be read.

    Examples
    --------
    >>> list(of_unreadable({"unreadable size": 10}, 90))
    ['10.0 % of the records of the log could not be read: are the remaining jobs typical?']
    """
    count = unreadable(dropped)
    total = jobs + sum(dropped.values())
    if count > MOST_UNREADABLE * total:
        share = f"{100 * count / total:.1f} %"
        yield f"{share} of the records of the log could not be read: are the remaining jobs typical?"


def _how_far(result: Doubtful) -> str:
    """What has become of the jobs of a run that is not over."""
    found = Counter(result.jobs["state"].tolist())
    states = ", ".join(f"{found[state]:,} {state}" for state in JobState if found[state])
    return (
        f"the run is not over: at {result.span[1]:g} s, of {len(result):,} jobs {states}; "
        "metrics of jobs count those that have ended"
    )


def _of_oracles(settings: Mapping[str, Any]) -> Iterator[str]:
    """Which policies read true run times (model.md#oracle)."""
    policies = {**settings, "order": settings["scheduler"].get("order")}
    oracles = [
        kind for kind, policy in policies.items() if isinstance(policy, Mapping) and policy.get("oracle_runtimes")
    ]
    oracles += ["caller"] if settings.get("oracle_runtimes") else []
    if oracles:
        readers = "reads" if len(oracles) == 1 else "read"
        yield (
            f"{' and '.join(oracles)} {readers} true run times (oracle_runtimes): an upper bound, which no scheduler "
            f"can reach"
        )


def of_limits(result: Doubtful) -> Iterator[str]:
    """Whether limits cut so much that other numbers are about something else.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2], estimate=[10, 4])
    >>> list(of_limits(fs.simulate(log, fs.Cluster(2), overrun="kill")))  # doctest: +ELLIPSIS
    ['1 of 2 jobs (50.0 %), with 28.6 % of the work, were cut at their limit: ...']
    """
    if result.settings["overrun"] != "kill":
        return
    cut, jobs, share = result.metrics["cut_jobs"], result.metrics["n_jobs"], result.metrics["cut_work_ratio"]
    if cut and (cut >= MANY_CUT * jobs or share >= MANY_CUT):
        work = "" if math.isnan(share) else f", with {100 * share:.1f} % of the work,"
        yield (
            f"{cut:,} of {jobs:,} jobs ({100 * cut / jobs:.1f} %){work} were cut at their limit: that work is not "
            'counted as useful, and run times and slowdowns are of jobs that did not end; overrun="extend" lets '
            "them end"
        )


def _of_ids(ids: Values) -> Iterator[str]:
    if ids.dtype.kind in "iu" and bool((ids[1:] > ids[:-1]).all()):
        return
    again = len(ids) - len(np.unique(ids))
    if again:
        yield f"{again:,} of {len(ids):,} jobs have an id that an earlier job has"


def _of_preceding(columns: Mapping[str, Values]) -> Iterator[str]:
    """Preceding jobs of an SWF log (field 17) that the run does not have."""
    preceding = columns.get("preceding_job")
    if preceding is None or preceding.dtype.kind not in "iuf" or columns["id"].dtype.kind not in "iu":
        return
    count = int(((preceding > 0) & ~np.isin(preceding, columns["id"])).sum())
    if count:
        yield (
            f"{count:,} of {len(preceding):,} jobs name a preceding job (field 17 of the log) that the log does not "
            "have; these begin without waiting for it"
        )


def _of_withdrawals(states: Values) -> Iterator[str]:
    """Jobs that ended without a run."""
    withdrawn, unmet = (int(np.count_nonzero(states == state)) for state in (JobState.WITHDRAWN, JobState.UNMET))
    if withdrawn or unmet:
        yield (
            f"of {len(states):,} jobs {withdrawn:,} were withdrawn and {unmet:,} had a dependency that was never "
            "satisfied; metrics of jobs count the others"
        )


def of_header(log: Workload, machine: int, trace: FailureTrace) -> Iterator[str]:
    """What failures of nodes mean on a machine whose header counts processors, too.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload([0], [1], [1], comments=["; MaxNodes: 2", "; MaxProcs: 80"])
    >>> list(of_header(log, 80, fs.FailureTrace([5], [0])))
    ['the log is of 2 nodes with 80 processors (MaxNodes, MaxProcs): a failure takes 1 processor, not a node of 40']
    >>> list(of_header(log, 2, fs.FailureTrace([5], [0])))
    []
    """
    if not len(trace) or not log.comments:
        return
    header = log.header
    nodes, processors = (leading_integer(header.get(key, "")) or 0 for key in ("MaxNodes", "MaxProcs"))
    if nodes < 1 or processors < 1 or machine == nodes or nodes == processors:
        return
    each = f"a node of {processors / nodes:.4g}" if processors > nodes else "a node"
    yield (
        f"the log is of {nodes:,} nodes with {processors:,} processors (MaxNodes, MaxProcs): "
        f"a failure takes 1 processor, not {each}"
    )


def _of_load(columns: Mapping[str, Values], nodes: int) -> Iterator[str]:
    submit = columns["submit"]
    span = float(submit[-1] - submit[0])
    if len(submit) < LEAST_JOBS or span <= 0:
        return
    load = float((columns["size"] * columns["runtime"]).sum()) / (nodes * span)
    if load > MOST_LOAD:
        yield f"the offered load is {load:,.4g} times what the machine can do, no percentage: jobs wait without end"


def of_failures(trace: FailureTrace, begin: float, end: float, *, is_over: bool = True) -> Iterator[str]:
    """How the clock of a trace meets that of a run from `begin` to `end`.

    Examples
    --------
    >>> import faultsim as fs
    >>> list(of_failures(fs.FailureTrace([5, 7], [0, 0], span=100), 40.0, 90.0))
    ['none of the 2 failures is in the run, from 40 s to 90 s: they are from 5 s to 7 s. FailureTrace.align and ...']
    """
    if trace.span < end:
        yield f"the failure trace ends at {trace.span:,.0f} s, the last job at {end:,.0f} s: nothing fails in between"
    time, n = trace.time, len(trace)
    if not n or not is_over:
        return
    first = int(np.searchsorted(time, begin, side="left"))
    # An outage that begins before the run and is under way in it belongs to the run.
    before = first - int(np.count_nonzero(time[:first] + trace.downtime[:first] > begin))
    inside = int(np.searchsorted(time, end, side="right")) - before
    remedy = "FailureTrace.align and Workload.from_zero bring the clocks together"
    run = f"the run, from {begin:,.0f} s to {end:,.0f} s"
    if not inside or inside * trace.span < FEW * n * min(end - begin, trace.span):
        if n == 1:
            yield f"the only failure is not in {run}: it is at {time[0]:,.0f} s. {remedy}"
            return
        are = "is" if inside < 2 else "are"
        how_many = f"{f'only {inside:,}' if inside else 'none'} of the {n:,} failures {are}"
        yield f"{how_many} in {run}: they are from {time[0]:,.0f} s to {time[-1]:,.0f} s. {remedy}"
    elif before >= MANY_BEFORE * n:
        yield f"{before:,} of the {n:,} failures come before {run}. {remedy}"


def of_checkpoints(ledger: Mapping[str, float]) -> Iterator[str]:
    """Whether jobs save more than they work.

    Examples
    --------
    >>> list(of_checkpoints({**dict.fromkeys(LEDGER_ACCOUNTS, 0.0), "useful": 10.0, "checkpoint": 30.0}))
    ['checkpoints take 75.0 % of the time for which jobs hold nodes: check the units of their cost and interval']
    """
    share = float(shares_of_checkpoints(ledger)) if ledger["checkpoint"] else 0.0
    if share > MOST_SAVING:
        yield f"checkpoints take {100 * share:.1f} % {TOO_LONG}"


def of_pauses(ledger: Mapping[str, float]) -> Iterator[str]:
    """Whether jobs restart, move or begin for longer than they do anything else, and whether nodes are mostly down.

    Examples
    --------
    >>> list(of_pauses({**dict.fromkeys(LEDGER_ACCOUNTS, 0.0), "useful": 10.0, "restart": 30.0}))
    ['restarts take 75.0 % of the time for which jobs hold nodes: check the unit of restart_cost']
    """
    held = sum(ledger[account] for account in _HELD)
    for account, verb, what in _PAUSES:
        if ledger[account] > MOST_SAVING * held:
            share = 100 * ledger[account] / held
            yield f"{verb} {share:.1f} % of the time for which jobs hold nodes: check the unit of {what}"
    total = sum(ledger.values())
    if ledger["down"] > MOST_DOWN * total:
        yield f"nodes are down for {100 * ledger['down'] / total:.1f} % of the time: check the unit of the down times"


def shares_of_checkpoints(ledger: Mapping[str, Any]) -> Any:
    """Their shares of the node-seconds that jobs hold, in ledgers of one or many runs.

    Examples
    --------
    >>> print(shares_of_checkpoints({**dict.fromkeys(LEDGER_ACCOUNTS, 0.0), "useful": 10.0, "checkpoint": 30.0}))
    0.75
    """
    saving = ledger["checkpoint"]
    return saving / np.maximum(sum(ledger[account] for account in _HELD), np.finfo(float).tiny)


def is_heard() -> bool:
    """Whether somebody has set up `logging`, so that it is worth the while to look."""
    logging = sys.modules.get("logging")
    return logging is not None and bool(logging.root.handlers or logging.getLogger("faultsim").handlers)


def tell(results: Iterable[Doubtful]) -> None:
    """Log what is odd about runs: each sentence once, with the number of runs."""
    import logging

    said: dict[str, int] = {}
    for result in results:
        for text in caveats(result):
            said[text] = said.get(text, 0) + 1
    for text, runs in said.items():
        logging.getLogger("faultsim").warning(text if runs == 1 else f"{text} ({runs:,} runs)")
