"""The metrics of a run that is over all at once: the numbers of `faultsim.results.metrics`, bit for bit.

One by one they take longer than a short run.
"""

import math

import numpy as np

from faultsim._core.job_terms import COLUMNS, job_terms
from faultsim.data.lowered import EngineOutput
from faultsim.results.ledger import LEDGER_ACCOUNTS, share_lost
from faultsim.results.metrics import cut_share

#: Rows of terms: slowdowns, which jobs of run time 0 do not have; requested node-seconds; first of those of failures.
_SLOWDOWN, _WORK, _FAILURES = 3, 4, 5
_UNOCCUPIED = ("idle_no_demand", "idle_demand", "down", "reserved", "drained")
_OCCUPIED = tuple(name for name in LEDGER_ACCOUNTS if name not in _UNOCCUPIED)
#: Metrics that are 0 without failures, checkpoints or limits.
_ZERO = dict.fromkeys(
    ("failures", "failures_hit", "service_unit_loss", "failed_jobs", "job_failure_rate", "failure_slowdown",
     "work_loss_ratio", "checkpoint_overhead_ratio", "cut_jobs", "cut_work_ratio"),
    0.0,
)  # fmt: skip


def metrics_at_once(
    output: EngineOutput, nodes: int, begin: int, end: int, *, failures: bool, checkpoints: bool
) -> dict[str, float]:
    """All metrics that sweeps keep, by name.

    Parameters
    ----------
    output : mapping
        What an engine gives of a run that is over, with the columns submit and size; where ``overrun="kill"``, with
        the column cut of booleans: which jobs were cut at their limit.
    nodes : int
        Of the machine.
    begin, end : int
        Rows of the jobs that metrics of jobs count, begin..end - 1, at least one.
    failures, checkpoints : bool
        Whether something may have failed, or been checkpointed: else metrics of that are 0.

    Examples
    --------
    >>> import faultsim as fs
    >>> result = fs.simulate(fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2]), fs.Cluster(2))
    >>> output = {**result.jobs, **result.counters, "ledger": result.ledger, "makespan_begin": 0, "makespan_end": 15}
    >>> metrics = metrics_at_once(output, 2, 0, 2, failures=False, checkpoints=False)
    >>> metrics["mean_wait"], metrics["capacity_utilized"]
    (4.5, 1.0)
    """
    withdrawn = {name: int(np.count_nonzero(output.get(name, 0))) for name in ("withdrawn_jobs", "unmet_jobs")}
    if "without_run" in output:
        output, begin, end = _of_runs(output, begin, end)
        if begin == end:  # no job has run
            return {**_ZERO, **withdrawn, **_without_jobs(output, nodes)}
    terms, ran, moves, backfilled, restarted = job_terms(output, begin, end, failures, checkpoints)
    jobs, n = len(output["submit"]), end - begin
    if ran < n:
        terms[_SLOWDOWN, ran:] = 0.0
    sums: list[float] = np.add.reduce(terms, axis=1).tolist()
    slowdowns = sums[_SLOWDOWN] if ran == n else float(np.add.reduce(terms[_SLOWDOWN, :ran]))  # added in other pairs
    work = sums[_WORK] if n == jobs else float(np.add.reduce(output["size"] * output["runtime"]))
    ledger = output["ledger"]
    makespan = output["makespan_end"] - output["makespan_begin"]
    capacity = nodes * makespan
    utilized, unused = _ratio(work, capacity), _ratio(ledger["idle_no_demand"], capacity)
    made = {
        **_ZERO,
        **withdrawn,
        "n_jobs": n,
        "makespan": makespan,
        "mean_wait": sums[0] / n,
        "mean_response": sums[1] / n,
        "mean_bounded_slowdown": sums[2] / n,
        "mean_slowdown": slowdowns / ran if ran else math.nan,
        "capacity_utilized": utilized,
        "capacity_unused": unused,
        "capacity_lost": share_lost(utilized, unused),
        "utilization": _ratio(math.fsum([ledger[account] for account in _OCCUPIED]), capacity),
        "throughput": _ratio(jobs, makespan),
        "migrations_attempted": output["migrations_attempted"],
        "migrations_successful": output["migrations_successful"],
        "moves": moves,
        "backfilled": backfilled,
    }
    if failures:
        made["failures"], made["failures_hit"] = output["failures"], output["failures_hit"]
        made["service_unit_loss"] = ledger["lost"]
        made["failed_jobs"], made["job_failure_rate"] = restarted, restarted / n
        made["failure_slowdown"], made["work_loss_ratio"] = sums[_FAILURES] / n, sums[_FAILURES + 1] / n
    if checkpoints:
        made["checkpoint_overhead_ratio"] = sums[-1] / n
    if "cut" in output:
        counted = slice(begin, end)
        cut = output["cut"][counted]
        made["cut_jobs"] = int(np.count_nonzero(cut))
        made["cut_work_ratio"] = cut_share(output["size"][counted], output["runtime"][counted], cut)
    return made


def _of_runs(output: EngineOutput, begin: int, end: int) -> tuple[EngineOutput, int, int]:
    """The columns of the jobs that did not end without a run, and which of these count."""
    ran = ~output["without_run"]
    names = [*COLUMNS, *(name for name in ("cut",) if name in output)]
    columns = {name: np.ascontiguousarray(output[name][ran]) for name in names}
    return {**output, **columns}, int(np.count_nonzero(ran[:begin])), int(np.count_nonzero(ran[:end]))


def _without_jobs(output: EngineOutput, nodes: int) -> dict[str, float]:
    """The metrics of a run of which no counted job has run."""
    ledger, makespan = output["ledger"], output["makespan_end"] - output["makespan_begin"]
    capacity, jobs = nodes * makespan, len(output["submit"])
    utilized = _ratio(float(np.add.reduce(output["size"] * output["runtime"])), capacity)
    unused = _ratio(ledger["idle_no_demand"], capacity)
    of_jobs = ("mean_wait", "mean_response", "mean_bounded_slowdown", "mean_slowdown")
    return {
        **dict.fromkeys(of_jobs, math.nan),
        "n_jobs": 0,
        "makespan": makespan,
        "capacity_utilized": utilized,
        "capacity_unused": unused,
        "capacity_lost": 1.0 - utilized - unused,
        "utilization": _ratio(math.fsum([ledger[account] for account in _OCCUPIED]), capacity),
        "throughput": _ratio(jobs, makespan),
        "failures": output["failures"],
        "failures_hit": output["failures_hit"],
        "service_unit_loss": ledger["lost"],
        **{name: output[name] for name in ("migrations_attempted", "migrations_successful")},
        "moves": 0,
        "backfilled": 0,
    }


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
