"""A row of the scaling benchmark: the same run at four sizes and more, beside one that users compare it with."""

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from faultsim import Simulation

#: The public logs.
DATA = Path(os.environ.get("FAULTSIM_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data") / "swf"

#: An exponent up to which the cost counts as linear.
LINEAR = 1.15


@dataclass(frozen=True, kw_only=True)
class Row:
    """What is measured.

    `measure` takes a size and gives back the CPU time of the run, that of the run it is compared with (None where it is
    too slow or has no meaning), and the number of jobs (or tasks, or runs) by which cost is divided.  A fourth is the
    CPU time of the run `beside`.
    """

    title: str  # heading of the row
    grows: str  # what the sizes are: "nodes", "jobs", "failures", "waiting jobs"
    sizes: Sequence[int]  # four and more, each at least four times the one before
    measure: Callable[[int], tuple[float, float | None, int] | tuple[float, float | None, int, float]]
    run: str  # what is measured, as a heading of a column
    against: str  # what it is compared with
    beside: str = ""  # another that it is compared with
    reach: str  # the ratio, or the cost, that is wanted
    step: str = ""  # what the cost is made of, if the core counts it as `looked`,
    stepped: Callable[[int], Sequence[Simulation]] | None = None  # in the mean of these simulations, of a size
    bound: str = ""  # where cost a job grows faster than size ** 0.15: why it does, and what bounds it

    def __post_init__(self) -> None:
        steps = zip(self.sizes, self.sizes[1:], strict=False)
        if len(self.sizes) < 4 or any(b < 4 * a for a, b in steps):
            raise ValueError(f"{self.title}: four sizes, each at least four times the one before")


def cpu(call: Callable[[], object], times: int = 3) -> float:
    """CPU time of a call in this process, in seconds: the least of a few."""
    return min(_once(call) for _ in range(times))


def cpu_in_turn(*calls: Callable[[], object], times: int) -> list[float]:
    """The same of several calls, one after the other in rounds, so that what the machine does meanwhile meets all."""
    rounds = [[_once(call) for call in calls] for _ in range(times)]
    return [min(took) for took in zip(*rounds, strict=True)]


def _once(call: Callable[[], object]) -> float:
    begin = time.process_time()
    call()
    return time.process_time() - begin


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Slope of log seconds over log size, by least squares."""
    x, y = [math.log(size) for size in sizes], [math.log(each) for each in seconds]
    middle = sum(x) / len(x)
    return sum((a - middle) * b for a, b in zip(x, y, strict=True)) / sum((a - middle) ** 2 for a in x)
