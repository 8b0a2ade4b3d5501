"""What the store keeps of a run: its metrics, its ledger and its counters, as one row of numbers."""

import math
from collections.abc import Mapping
from typing import Any

from faultsim.data.event_kinds import JobState
from faultsim.data.lowered import EngineOutput
from faultsim.errors import OptionError
from faultsim.results.at_once import metrics_at_once
from faultsim.results.ledger import LEDGER_ACCOUNTS
from faultsim.results.metrics import METRICS, cut_jobs_of
from faultsim.results.result import COUNTERS, Result
from faultsim.results.workflow_metrics import WORKFLOW_METRICS

#: Counters of a result that are not metrics.
_COUNTERS = tuple(name for name in COUNTERS if name not in METRICS)
_METRICS = tuple(name for name, metric in METRICS.items() if not metric.recorded and not metric.on_request)
#: Columns of a row, in order: metrics, ``ledger_ACCOUNT`` in node-seconds, counters.
COLUMNS: tuple[str, ...] = (*_METRICS, *(f"ledger_{account}" for account in LEDGER_ACCOUNTS), *_COUNTERS)
#: Columns of a row of a run of workflows.
WORKFLOW_COLUMNS: tuple[str, ...] = tuple(WORKFLOW_METRICS)
#: What a store has columns for; a row has numbers in those of its kind.
ALL_COLUMNS: tuple[str, ...] = tuple(dict.fromkeys((*COLUMNS, *WORKFLOW_COLUMNS)))


def numbers(result: Result, cut: tuple[float, float] = (0.0, 0.0)) -> list[float]:
    """The row of a result, one number for each of `COLUMNS`.

    Parameters
    ----------
    result : Result
    cut : (float, float)
        Shares of the jobs, in order of arrival, that job metrics exclude at the beginning and at the end.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1, 2, 3], runtime=[10, 5, 5, 5], size=[2, 2, 2, 2])
    >>> result = fs.simulate(log, fs.Cluster(2))
    >>> numbers(result)[COLUMNS.index("mean_wait")], numbers(result, (0.25, 0.25))[COLUMNS.index("mean_wait")]
    (9.75, 11.0)
    """
    begin, end = result.span
    output = {**result.jobs, **result.counters, "ledger": result.ledger, "makespan_begin": begin, "makespan_end": end}
    output["cut"] = cut_jobs_of(result)
    output["submit"] = result.jobs["eligible"]
    if not result.all_ran:
        output["without_run"] = ~result.ended
        output["withdrawn_jobs"] = result.jobs["state"] == JobState.WITHDRAWN
        output["unmet_jobs"] = result.jobs["state"] == JobState.UNMET
    return row_of(output, result.capacity, result.settings, cut)


#: Schedulers that stop no job before its end; `Preemptive` and programs of one's own may, without a failure.
_STOPS_NO_JOB = frozenset(("fcfs", "easy", "backfill", "conservative"))


def row_of(
    output: EngineOutput, nodes: int, settings: Mapping[str, Any], cut: tuple[float, float] = (0.0, 0.0)
) -> list[float]:
    """The same of what an engine gives.

    Parameters
    ----------
    output : mapping
        With the columns submit and size, too.
    nodes : int
        Of the machine.
    settings : mapping
        The lowered run.
    cut : (float, float)
    """
    n = len(output["submit"])
    begin, end = (0, n) if cut == (0.0, 0.0) else without_ends(n, *cut)
    stops = settings["rescheduling"] is not None or settings["scheduler"]["name"] not in _STOPS_NO_JOB
    failures = output["failures"] > 0 or stops
    checkpoints = failures or settings["checkpointing"] is not None
    made = metrics_at_once(output, nodes, begin, end, failures=failures, checkpoints=checkpoints)
    ledger = output["ledger"]
    row = [made[name] for name in _METRICS]
    row += [ledger[account] for account in LEDGER_ACCOUNTS]
    row += [output[name] for name in _COUNTERS]
    return row


def without_ends(n: int, warmup: float, drain: float) -> tuple[int, int]:
    """Rows of the jobs without the first and last to arrive, as job metrics see them.

    Examples
    --------
    >>> without_ends(10, 0.1, 0.25)
    (1, 8)
    """
    begin, end = math.floor(warmup * n), n - math.floor(drain * n)
    if end <= begin:
        raise OptionError(f"warmup={warmup:g} and drain={drain:g} leave none of {n} jobs")
    return begin, end
