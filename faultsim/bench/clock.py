"""Timing that other programs on the machine disturb little: CPU time, and the least of several."""

import time
from collections.abc import Callable


def least(task: Callable[[], object], *, repeat: int = 3, budget: float = 0.0) -> float:
    """CPU seconds of the calling thread for one `task`: the least of `repeat`, and of more until `budget` s are spent.

    Examples
    --------
    >>> least(lambda: sum(range(1000)), repeat=2) > 0
    True
    """
    best, spent, done = float("inf"), 0.0, 0
    while done < repeat or spent < budget:
        begin = time.thread_time()
        task()
        took = time.thread_time() - begin
        best, spent, done = min(best, took), spent + max(took, 1e-7), done + 1
    return max(best, 1e-9)
