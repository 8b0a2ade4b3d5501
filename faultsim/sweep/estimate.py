"""How many runs of a sweep are missing, and how long they will take, by timing some of them."""

import itertools
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultsim.sweep.executors import cores
from faultsim.sweep.runner import places
from faultsim.sweep.tasks import Task
from faultsim.sweep.worker import do

if TYPE_CHECKING:
    from faultsim.sweep.store import Store
    from faultsim.sweep.sweep import Sweep

#: Runs to try, if there are as many and there is time.
SAMPLES = 16


@dataclass(frozen=True)
class Estimate:
    """What is left of a sweep.

    Parameters
    ----------
    rows : int
        Of the sweep, or of its part.
    left : int
        Different runs that are not in the store.
    exact : bool
        Whether all rows were examined; else `left` is extrapolated.
    tried : int
        Runs that were tried.
    each : float
        Seconds per run on one core, including drawing its inputs; NaN if none is left.
    seconds : float
        That all take on `workers` cores.
    workers : int
    """

    rows: int
    left: int
    exact: bool
    tried: int
    each: float
    seconds: float
    workers: int


def estimate(
    sweep: "Sweep",
    store: "Store | None",
    *,
    workers: int | None = None,
    shard: tuple[int, int] | None = None,
    limit: float = 5.0,
) -> Estimate:
    """Spend about `limit` seconds finding what is left, and about as long trying runs.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.synthetic.nasa_like(100, rng=0)
    >>> sweep = fs.Sweep(fs.Run(log, fs.Cluster(128)), {"runtime_factor": [1.0, 1.1, 1.2]})
    >>> found = estimate(sweep, None)
    >>> found.rows, found.left, found.exact, found.seconds < 10
    (3, 3, True, True)
    """
    maker = sweep._maker
    total = len(maker) if shard is None else len(range(shard[0] - 1, len(maker), shard[1]))
    looked, began = 0, time.perf_counter()
    missing: set[str] = set()
    samples: list[Task] = []
    stride = seen = 1
    waiting = iter(places(maker, shard))
    while chosen := list(itertools.islice(waiting, 32)):
        tasks = [maker.at(place) for place in chosen]
        known = store.known({task.id for task in tasks}) if store is not None else {}
        for task in tasks:
            if task.id in known or task.id in missing:
                continue
            missing.add(task.id)
            seen += 1
            if seen % stride == 0:
                samples.append(task)
            if len(samples) == 2 * SAMPLES:  # evenly over the sweep, however long it is
                samples, stride = samples[::2], 2 * stride
        looked += len(tasks)
        if time.perf_counter() - began > limit:
            break
    drawing = (time.perf_counter() - began) / max(1, looked)
    left = round(len(missing) * total / looked) if looked else 0
    tried, spent = 0, 0.0
    # Every other one first, so that the ones there is time for are spread over the sweep too.
    for task in samples[::2] + samples[1::2]:
        began = time.perf_counter()
        do([task.run], maker.wanted)
        spent, tried = spent + time.perf_counter() - began, tried + 1
        if spent > limit:
            break
    each = spent / tried + drawing if tried else math.nan
    count = workers or cores()
    seconds = max(left * each / count, left * drawing) if tried else 0.0
    return Estimate(total, left, looked == total, tried, each, seconds, count)
