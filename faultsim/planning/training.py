"""Share of its time in which a long job on a slice works, with each checkpoint rule: formulas and simulation."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.errors import OptionError
from faultsim.machines.pod import Pod
from faultsim.machines.slices import Slice
from faultsim.planning.hosts import Hosts
from faultsim.policies.checkpointing import Checkpointing, NoCheckpoint
from faultsim.policies.recovery import Requeue
from faultsim.policies.registry import POLICIES
from faultsim.policies.text import parse_policy
from faultsim.results.expected_ettr import expected_ettr
from faultsim.simulation.simulate import simulate
from faultsim.synthetic.renewal import renewal_failures

#: Runs of a simulation, by the formula's ratio below which none is made, and failures above which none is.
RUNS, _LEAST, _MOST_FAILURES = 20, 0.02, 2_000_000
#: A mean time between failures that stands for an infinite one, which rules refuse.
_NEVER = 1e30
#: How many times as long as expected failures last, so that a run ends before them.
_LONGER = 20.0
#: By how much more if one does not.
_MORE = 4.0


class Training(NamedTuple):
    """A job: its run time, the cost of a checkpoint and of a restart, and the interval of `Periodic`, in seconds."""

    runtime: float
    cost: float
    restart_cost: float
    interval: float


class Ratio(NamedTuple):
    """Effective training time ratios of one slice and rule; NaN: not known."""

    interval: float
    first_order: float
    renewal: float
    simulated: float
    low: float
    high: float
    #: Failures that hit the job, in all runs.
    hits: float


def usual_rules(job: Training, mtbf: float) -> dict[str, Checkpointing]:
    """Every rule of the registry whose checkpoints do not depend on predictions.

    Examples
    --------
    >>> list(usual_rules(Training(86_400.0, 60.0, 300.0, 3600.0), 1e7))
    ['none', 'periodic', 'young', 'daly', 'max_availability']
    """
    known = {"interval": job.interval, "cost": job.cost, "mtbf": min(mtbf, _NEVER), "downtime": job.restart_cost}
    known |= {"any_rate": True}  # the caller's values were checked, and those that follow from them need no check
    kinds: dict[str, Any] = {row.name: row.cls for row in POLICIES if row.kind == "checkpointing"}
    return {
        name: rule(**{field.name: known[field.name] for field in fields(rule)})
        for name, rule in kinds.items()
        if rule is NoCheckpoint or rule.planned
    }


def named_rules(given: Sequence[object] | str | Checkpointing) -> dict[str, Checkpointing]:
    """Rules from policies and words, by what a table calls them."""
    listed = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    found: dict[str, Checkpointing] = {}
    for each in listed:
        rule = parse_policy("checkpointing", each) if isinstance(each, str) else each
        if not isinstance(rule, Checkpointing):
            raise OptionError(f"checkpointing: expected rules such as 'young:cost=60,mtbf=56d', got {each!r:.60}")
        name = each if isinstance(each, str) else repr(each)
        if name in found:
            raise OptionError(f"checkpointing: {name} is given twice")
        found[name] = rule
    if not found:
        raise OptionError("checkpointing: give at least one rule, or leave it out")
    return found


def ratio(of: Slice, hosts: Hosts, rule: Checkpointing, job: Training) -> Ratio:
    """By the formulas, where failures are independent and a restart waits for no host (goodput.md)."""
    nan = math.nan
    between = None if isinstance(rule, NoCheckpoint) else rule.work_between(np.array([of.hosts]))
    if between is None and not isinstance(rule, NoCheckpoint):
        return Ratio(nan, nan, nan, nan, nan, nan, nan)
    interval = math.inf if between is None else float(between[0])
    if math.isinf(hosts.mtbf):
        exact = 1.0 if interval >= job.runtime else interval / (interval + getattr(rule, "cost", 0.0))
        return Ratio(interval, exact, exact, nan, nan, nan, nan)
    saves = interval < job.runtime
    given: dict[str, float] = {
        "interval": interval if saves else job.runtime,
        "cost": getattr(rule, "cost", 0.0) if saves else 0.0,
        "restart_cost": job.restart_cost,
    }
    found = [
        expected_ettr(of.hosts, hosts.mtbf, **given, rule=name, any_rate=True) for name in ("first-order", "renewal")
    ]
    return Ratio(interval, found[0], found[1], nan, nan, nan, nan)


def simulated(
    pod: Pod,
    of: Slice,
    hosts: Hosts,
    rule: Checkpointing,
    job: Training,
    expected: Ratio,
    *,
    trace: FailureTrace | None,
    seeds: Sequence[int],
    up: float,
) -> tuple[Ratio, str]:
    """The same with a simulation of the job alone on the pod, its waits for a slice included, in 20 runs.

    Failures are independent, and the same for every rule; or, with a trace, those of the trace from 20 moments on, and
    again from its beginning.  `up` is the share of the time with such a slice up, beyond which no job works.  Where
    there is no simulation, the second says why.
    """
    if not expected.renewal * up >= _LEAST:
        return expected, "no formula" if math.isnan(
            expected.renewal
        ) else f"less than {100 * _LEAST:g} % of the time is expected"
    log = Workload([0.0], [job.runtime], [of.hosts], estimate=[job.runtime], columns={"shape": [str(of)]})
    recovery = Requeue(restart_cost=job.restart_cost)
    per_second = pod.nodes / hosts.mtbf if trace is None else len(trace) / trace.span
    span = _LONGER * job.runtime / (expected.renewal * up)
    # A job that outlives the failures would end as though there were no more of them: all runs once again, for longer.
    while span * per_second <= _MOST_FAILURES:
        took: list[float] = []
        hits = 0.0
        for failures in _failures_of_runs(pod, hosts, trace, span, seeds):
            row = simulate(log, pod, failures=failures, checkpointing=rule, recovery=recovery).jobs.row(0)
            if not float(row["finish"]) <= span:
                break
            took.append(float(row["finish"]) - float(row["first_start"]))
            hits += float(row["restarts"])
        else:
            mean, half = float(np.mean(took)), _half_width(took)
            low = job.runtime / (mean + half)
            high = min(1.0, job.runtime / (mean - half)) if mean > half else 1.0
            return expected._replace(simulated=job.runtime / mean, low=low, high=high, hits=hits), ""
        span *= _MORE
    return expected, "jobs did not end while failures lasted, or there are too many of them"


def _failures_of_runs(
    pod: Pod, hosts: Hosts, trace: FailureTrace | None, span: float, seeds: Sequence[int]
) -> Iterator[FailureTrace | None]:
    """What fails in each run, for as long as `span`."""
    if trace is None:
        for seed in seeds:
            never = math.isinf(hosts.mtbf)
            up, down = hosts.mtbf, hosts.downtime
            yield None if never else renewal_failures(pod.nodes, span, up, down, any_rate=True, rng=seed)
        return
    repeated = FailureTrace.concat([trace] * (2 + int(span / trace.span))) if len(trace) else None
    for run in range(len(seeds)):
        begin = run / len(seeds) * trace.span
        yield repeated and repeated.window(begin, begin + span, under_way=True)


def _half_width(values: Sequence[float]) -> float:
    """Of the 95 % interval of a mean by Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(len(values) - 1, 0.975) * np.std(values, ddof=1) / math.sqrt(len(values)))
