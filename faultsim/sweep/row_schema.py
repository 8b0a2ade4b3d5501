"""What the store keeps of a run: its metrics, its ledger and its counters, as one row of numbers."""

import math

from faultsim.errors import OptionError
from faultsim.results.ledger import LEDGER_ACCOUNTS
from faultsim.results.metrics import METRICS
from faultsim.results.part import Part
from faultsim.results.result import COUNTERS, Result

#: Counters of a result that are not metrics.
_COUNTERS = tuple(name for name in COUNTERS if name not in METRICS)
_METRICS = {name: metric for name, metric in METRICS.items() if not metric.recorded and not metric.spread}
#: Columns of a row, in order: metrics, ``ledger_ACCOUNT`` in node-seconds, counters.
COLUMNS: tuple[str, ...] = (*_METRICS, *(f"ledger_{account}" for account in LEDGER_ACCOUNTS), *_COUNTERS)


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
    part: Result | Part = result if cut == (0.0, 0.0) else _without_ends(result, *cut)
    ledger, counters = result.ledger, result.counters
    settings = result.record.settings
    # What must be 0 is not computed: of a short run, metrics are the better half.
    absent: tuple[str, ...] = ()
    if not counters["failures"] and settings["rescheduling"] is None:
        absent = ("failures",) if settings["checkpointing"] else ("failures", "checkpoints")
    row = [
        0.0
        if metric.zero_without in absent
        else float(metric.function(part) if metric.per_job else result.metrics[metric.name])
        for metric in _METRICS.values()
    ]
    row += [float(ledger[account]) for account in LEDGER_ACCOUNTS]
    row += [float(counters[name]) for name in _COUNTERS]
    return row


def _without_ends(result: Result, warmup: float, drain: float) -> Part:
    """The jobs of a result without the first and last to arrive, as job metrics see them."""
    n = len(result)
    begin, end = math.floor(warmup * n), n - math.floor(drain * n)
    if end <= begin:
        raise OptionError(f"warmup={warmup:g} and drain={drain:g} leave none of {n} jobs")
    return Part(result, slice(begin, end))
