"""Guards around policies written in Python: what they return is checked before an engine uses it."""

import operator
from dataclasses import replace
from typing import Any

import numpy as np

from faultsim import checks
from faultsim.arrays import Floats, Integers
from faultsim.data.lowered import Lowered
from faultsim.errors import OptionError
from faultsim.policies.checkpointing import Checkpointing
from faultsim.policies.orders import QueueOrder, WaitingJobs
from faultsim.policies.placement import JobToPlace, Occupancy, Placement
from faultsim.policies.settings import Settings

__all__ = ["CheckedOrder", "CheckedPlacement", "guarded", "guarded_settings"]


class CheckedOrder:
    """Calls a `QueueOrder` and requires one number, not NaN, for each waiting job."""

    def __init__(self, order: QueueOrder) -> None:
        self.order = order
        self.ask = order.keys

    def keys(self, queue: WaitingJobs, now: float) -> Floats:
        """The order's keys as a contiguous float64 array."""
        return self.checked(self.ask(queue, now), queue, now)

    def checked(self, given: object, queue: WaitingJobs, now: float) -> Floats:
        """The same of what the order has given already."""
        name, n = type(self.order).__name__, len(queue.index)
        try:
            keys = np.ascontiguousarray(checks.real_array("keys", given), dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
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

    def wants(self, decision: object) -> bool:
        """The policy's answer as a bool."""
        given = self.policy.wants(decision)
        if not isinstance(given, bool | np.bool_):
            raise OptionError(f"{type(self.policy).__name__}.wants must return True or False, got {given!r:.60}")
        return bool(given)


class CheckedPlacement:
    """Calls a `Placement` and requires the index of a candidate."""

    def __init__(self, placement: Placement) -> None:
        self.placement = placement

    def choose(self, job: JobToPlace, candidates: Integers, state: Occupancy) -> int:
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

    def choose_nodes(self, job: JobToPlace, free: Integers, state: Any) -> Integers:
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


def guarded_settings(settings: Settings) -> Settings:
    """Settings in which each policy written in Python is behind a guard."""
    return replace(
        settings,
        scheduler=guarded(settings.scheduler),
        placement=guarded(settings.placement),
        checkpointing=None if settings.checkpointing is None else guarded(settings.checkpointing),
    )


def guarded(lowered: Lowered) -> Lowered:
    """A lowered policy with its Python object, if it has one, behind a guard; the other parts unchanged."""
    out: dict[str, object] = {}
    for key, value in lowered.items():
        if isinstance(value, dict):
            out[key] = guarded(value)
        elif key == "object" and isinstance(value, QueueOrder):
            out[key] = CheckedOrder(value)
        elif key == "object" and isinstance(value, Placement) and value.is_written():
            out[key] = CheckedPlacement(value)
        elif key == "object" and isinstance(value, Checkpointing) and value.is_asked():
            out[key] = CheckedRequests(value)
        else:
            out[key] = value
    return out
