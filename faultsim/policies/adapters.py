"""Guards around policies written in Python: what they return is checked before an engine uses it."""

import operator
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faultsim import checks
from faultsim.data.columns import in_seconds
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.data.world import PredictionRows
from faultsim.errors import OptionError
from faultsim.policies.base import SeenJobs, reads_runtimes
from faultsim.policies.checkpointing import Checkpointing
from faultsim.policies.interval_reports import stream
from faultsim.policies.orders import QueueOrder, WaitingJobs
from faultsim.policies.placement import JobToPlace, Occupancy, Placement
from faultsim.policies.predictors import Predictor
from faultsim.policies.settings import Lowered, Settings

__all__ = ["CheckedOrder", "CheckedPlacement", "guarded"]


class CheckedOrder:
    """Calls a `QueueOrder` and requires one number, not NaN, for each waiting job."""

    def __init__(self, order: QueueOrder) -> None:
        self.order = order
        self.ask = order.keys

    def keys(self, queue: WaitingJobs, now: float) -> NDArray[np.float64]:
        """The order's keys as a contiguous float64 array."""
        return self.checked(self.ask(queue, now), queue, now)

    def checked(self, given: Any, queue: WaitingJobs, now: float) -> NDArray[np.float64]:
        """The same of what the order has given already."""
        name, n = type(self.order).__name__, len(queue.index)
        try:
            keys = np.ascontiguousarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise OptionError(f"{name}.keys must return {n} numbers, got {given!r}") from None
        if keys.shape != (n,):
            raise OptionError(
                f"{name}.keys must return one number for each of the {n} waiting jobs, got shape {keys.shape}"
            )
        if np.isnan(keys).any():
            row = int(np.argmax(np.isnan(keys)))
            raise OptionError(f"{name}.keys returned NaN for job {int(queue.index[row])} at time {now:g}")
        return keys


class CheckedRequests:
    """Calls a `Checkpointing` at a request and requires a yes or no."""

    def __init__(self, policy: Checkpointing) -> None:
        self.policy = policy

    def wants(self, decision: Any) -> bool:
        """The policy's answer as a bool."""
        given = self.policy.wants(decision)
        if not isinstance(given, bool | np.bool_):
            raise OptionError(f"{type(self.policy).__name__}.wants must return True or False, got {given!r:.60}")
        return bool(given)


class CheckedPlacement:
    """Calls a `Placement` and requires the index of a candidate."""

    def __init__(self, placement: Placement) -> None:
        self.placement = placement

    def choose(self, job: JobToPlace, candidates: NDArray[np.int32], state: Occupancy) -> int:
        """The placement's choice as an int."""
        given = self.placement.choose(job, candidates, state)
        try:
            index = operator.index(given)  # type: ignore[call-overload, unused-ignore]
        except TypeError:
            index = -1
        if not 0 <= index < len(candidates):
            raise OptionError(
                f"{type(self.placement).__name__}.choose must return a whole number from 0 to "
                f"{len(candidates) - 1}, got {given!r}"
            )
        return index

    def choose_nodes(self, job: JobToPlace, free: NDArray[np.int32], state: Any) -> NDArray[np.int32]:
        """The placement's nodes of a cluster, as int32."""
        name = f"{type(self.placement).__name__}.choose_nodes"
        given = self.placement.choose_nodes(job, free.copy(), state)
        try:
            nodes = np.asarray(given)
        except ValueError:
            nodes = np.empty(0)
        if nodes.dtype.kind not in "iu" or nodes.shape != (job.size,) or len(np.unique(nodes)) != job.size:
            raise OptionError(f"{name} must return {job.size} different nodes, got {given!r:.60}")
        if not np.isin(nodes, free).all():
            taken = int(nodes[~np.isin(nodes, free)][0])
            raise OptionError(f"{name} returned node {taken}, which is not among the free ones")
        return np.ascontiguousarray(nodes, np.int32)


def own_predictions(predictor: Predictor, trace: FailureTrace | None, machine: Any, seed: int) -> PredictionRows:
    """What a `Predictor` written in Python predicts, checked, by begin."""
    name = f"{type(predictor).__name__}.predict"
    given = predictor.predict(trace, machine, stream(seed, "own predictor"))
    if not isinstance(given, Mapping):
        raise OptionError(f"{name} must return a mapping with node, and begin and end or time, got {given!r:.60}")
    table = checked_predictions(f"{name} must return", given, machine, name)
    begin, end = table.begin, table.end
    wrong = np.flatnonzero(np.diff(end, prepend=-np.inf) < 0)
    if len(wrong):
        row = int(wrong[0])
        raise OptionError(
            f"{name}: the prediction from {begin[row]:g} s to {end[row]:g} s ends before one that began earlier; that "
            f"is not supported"
        )
    return table


def checked_predictions(must: str, given: Mapping[str, Any], machine: Any, name: str) -> PredictionRows:
    """Predictions in columns as of `Predictor.predict`, checked, by (begin, end, node)."""
    missing = {"node", "time"} - set(given) if "time" in given else {"node", "begin", "end"} - set(given)
    if missing or set(given) - {"node", "time", "begin", "end", "p"}:
        raise OptionError(
            f"{must} node, and begin and end or time, and p; got {', '.join(map(str, given)) or 'nothing'}"
        )
    begin = given.get("begin", given.get("time"))
    begin, end, node = (
        _numbers(name, key, values, timed=key != "node")
        for key, values in (("begin", begin), ("end", given.get("end", begin)), ("node", given["node"]))
    )
    if not len(begin) == len(end) == len(node):
        raise OptionError(
            f"{name}: begin, end and node must have one length, got {len(begin)}, {len(end)}, {len(node)}"
        )
    order = np.lexsort((node, end, begin))
    begin, end, node = begin[order], end[order], node[order]
    wrong = np.flatnonzero(end < begin)
    if len(wrong):
        row = int(wrong[0])
        raise OptionError(f"{name}: the prediction from {begin[row]:g} s to {end[row]:g} s ends before it begins")
    if ((node != np.floor(node)) | (node < 0) | (node >= machine.nodes)).any():
        raise OptionError(f"{name}: nodes must be whole numbers from 0 to {machine.nodes - 1}")
    p = checks.number(f"p of {name}", given.get("p", 1.0), low=0.0, high=1.0)
    return PredictionRows(begin, end, node.astype(np.int32), p)


def checkpoint_intervals(
    policy: Checkpointing, jobs: Workload, estimate: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Seconds of work between two checkpoints of each job; None without a fixed interval."""
    if policy.is_written() and not policy.is_asked():
        return own_intervals(policy, jobs, estimate)
    return policy.work_between(jobs.size)


def planned_intervals(
    policy: Checkpointing | None, jobs: Workload, estimate: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """The same of one whose checkpoints are planned; None for others, whose intervals are between requests."""
    if policy is None or not (policy.planned or (policy.is_written() and not policy.is_asked())):
        return None
    return checkpoint_intervals(policy, jobs, estimate)


def own_intervals(policy: Checkpointing, jobs: Workload, estimate: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a `Checkpointing` written in Python plans, checked: one interval per job."""
    name = type(policy).__name__
    checks.number(f"{name}.cost", getattr(policy, "cost", None), low=0.0, unit="seconds")
    intervals = _numbers(
        f"{name}.intervals", "it", policy.intervals(_seen(policy, jobs, estimate)), finite=False, timed=True
    )
    if intervals.shape != (len(jobs),) or not (intervals > 0).all():
        raise OptionError(f"{name}.intervals must return {len(jobs)} numbers above 0, got {intervals!r:.60}")
    return intervals


def _seen(policy: Checkpointing, jobs: Workload, estimate: NDArray[np.float64]) -> SeenJobs:
    """The columns of jobs that have not run, without their run times unless the policy is an oracle."""
    columns = {name: column for name, column in jobs.columns.items() if name != "runtime" or reads_runtimes(policy)}
    columns["estimate"] = estimate.view()
    columns["estimate"].flags.writeable = False  # the engine goes by these numbers
    return SeenJobs(**columns)


def _numbers(name: str, what: str, given: Any, *, finite: bool = True, timed: bool = False) -> NDArray[np.float64]:
    try:
        array = np.asarray(given)
        if timed:
            array = in_seconds(given, array)
        if array.dtype.kind == "m":
            raise TypeError("NumPy would take 1 h for 1")
        values = np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError):
        raise OptionError(f"{name}: {what} must be numbers, got {given!r:.60}") from None
    if values.ndim != 1 or np.isnan(values).any() or (finite and not np.isfinite(values).all()):
        raise OptionError(f"{name}: {what} must be one row of numbers{', finite ones' if finite else ''}, without NaN")
    return values


def guarded(settings: Settings) -> Settings:
    """Settings in which each policy written in Python is behind a guard."""
    return replace(
        settings,
        scheduler=_guarded(settings.scheduler),
        placement=_guarded(settings.placement),
        checkpointing=None if settings.checkpointing is None else _guarded(settings.checkpointing),
    )


def _guarded(lowered: Lowered) -> Lowered:
    """A lowered policy with its Python object, if it has one, behind a guard; the other parts unchanged."""
    out: dict[str, Any] = {}
    for key, value in lowered.items():
        if isinstance(value, dict):
            out[key] = _guarded(value)
        elif key == "object" and isinstance(value, QueueOrder):
            out[key] = CheckedOrder(value)
        elif key == "object" and isinstance(value, Placement) and value.is_written():
            out[key] = CheckedPlacement(value)
        elif key == "object" and isinstance(value, Checkpointing) and value.is_asked():
            out[key] = CheckedRequests(value)
        else:
            out[key] = value
    return out
