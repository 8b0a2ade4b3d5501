"""What a pod can promise: slices that are up at once, spare cubes, training time."""

from faultsim.entries import guard as _guard
from faultsim.planning.plans import PodPlan, plan

__all__ = ["PodPlan", "plan"]

_guard(globals())
