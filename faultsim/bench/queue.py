"""Events per second that the event queue pushes and pops, compared with Python's heapq."""

import heapq

import numpy as np

from faultsim.bench.clock import least
from faultsim.kernels.event_queue import EventQueue


def measure(*, quick: bool = False) -> list[dict[str, float]]:
    """Push n events at random times and pop them all, one Python call each.

    Returns
    -------
    list of dict
        One row per size: events, push_pop_per_s, heapq_push_pop_per_s, ratio.

    Examples
    --------
    >>> measure(quick=True)[0]["events"]
    1000
    """
    rows = []
    for n in (1000, 10_000) if quick else (1000, 10_000, 100_000):
        times = np.random.default_rng(n).random(n).tolist()

        def ours(times: list[float] = times) -> None:
            queue = EventQueue()
            for i, at in enumerate(times):
                queue.push(at, 0, i)
            for _ in times:
                queue.pop()

        def plain(times: list[float] = times) -> None:
            heap: list[tuple[float, int, int]] = []
            for i, at in enumerate(times):
                heapq.heappush(heap, (at, 0, i))
            for _ in times:
                heapq.heappop(heap)

        seconds = [least(task, repeat=3, budget=0.0 if quick else 0.2) for task in (ours, plain)]
        rows.append(
            {
                "events": n,
                "push_pop_per_s": n / seconds[0],
                "heapq_push_pop_per_s": n / seconds[1],
                "ratio": seconds[1] / seconds[0],
            }
        )
    return rows
