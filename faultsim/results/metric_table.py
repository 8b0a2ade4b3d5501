"""What a metric is, and what it is computed from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from faultsim.arrays import Floats, LongIntegers, Values
from faultsim.machines import Machine


class Measured(Protocol):
    """The part of a `Result` that metrics use; `Result` itself imports this module."""

    @property
    def jobs(self) -> Mapping[str, Values]: ...
    @property
    def ledger(self) -> Mapping[str, float]: ...
    @property
    def counters(self) -> Mapping[str, int]: ...
    @property
    def metrics(self) -> Mapping[str, float]: ...
    @property
    def machine(self) -> Machine: ...
    @property
    def capacity(self) -> int: ...
    @property
    def span(self) -> tuple[float, float]: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def dispersal(self) -> Floats: ...
    @property
    def users(self) -> LongIntegers: ...
    @property
    def exposed(self) -> Floats: ...
    def __len__(self) -> int: ...


@dataclass(frozen=True)
class Metric:
    """One metric: its name, formula, unit and source, and the function that computes it."""

    name: str
    formula: str
    unit: str
    source: str
    function: Callable[[Measured], float]
    #: Whether ``print(result)`` omits it when it is 0 or NaN.
    quiet: bool = False
    #: Whether it is a sum or a mean over jobs, of which a sweep may exclude the first and the last.
    per_job: bool = False
    #: What it is 0 without: "failures", "checkpoints" or "limits".
    zero_without: str = ""
    #: Whether only a run that is over has it.
    whole: bool = False
    #: Whether it counts all jobs, also those that were withdrawn.
    of_all: bool = False
    #: Whether it reads what ``record=True`` keeps; sweeps, which record nothing, leave it out.
    recorded: bool = False
    #: Whether it tells how jobs, users or sizes differ: ``print(result)`` omits it, and sweeps unless asked for it.
    spread: bool = False
    #: Whether it tells where the capacity went or what failures do to jobs: left out in the same way.
    goodput: bool = False

    @property
    def on_request(self) -> bool:
        """Whether ``print(result)`` omits it, and sweeps unless asked for it."""
        return self.spread or self.goodput


Function = TypeVar("Function", bound=Callable[..., float])


def adding_to(
    table: dict[str, Metric], formula: str, unit: str, source: str, **facts: Any
) -> Callable[[Function], Function]:
    """Adds the function below to a table of metrics, under its own name."""

    def added(function: Function) -> Function:
        name = function.__name__
        table[name] = Metric(name, formula, unit, source, function, **facts)
        return function

    return added
