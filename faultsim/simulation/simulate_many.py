"""`simulate_many`: many runs at once, on threads, without the global interpreter lock."""

import os
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from faultsim import checks
from faultsim.entries import entry
from faultsim.errors import OptionError
from faultsim.results.caveats import is_heard, tell
from faultsim.results.result import Result
from faultsim.simulation.execution import Execution, Stopped
from faultsim.simulation.progress import Progress, reporting
from faultsim.simulation.run import Run

if TYPE_CHECKING:
    from threading import Event


@entry
def simulate_many(
    runs: Iterable[Run], *, threads: int | None = None, progress: bool | Progress = False
) -> list[Result]:
    """Simulate many runs on threads; the engine releases the global interpreter lock.

    Runs with a policy written in Python need the lock all the time: they run one after another in the calling thread,
    while the threads work on the others. The results are the same bytes for any number of threads.

    Parameters
    ----------
    runs : iterable of Run
        What to simulate.
    threads : int, optional
        Number of threads; by default the number of cores that this process may use.
    progress : bool or callable(done, total, now), default False
        As for `simulate`, in runs; ``now`` is the number of seconds since the beginning.

    Returns
    -------
    list of Result
        In the order of `runs`.

    Raises
    ------
    InputError, OptionError
        From the first run that fails; runs not yet begun are skipped.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> runs = [fs.Run(log, fs.Cluster(nodes)) for nodes in (2, 4)]
    >>> [result.metrics["mean_wait"] for result in fs.simulate_many(runs, threads=2)]
    [4.5, 0.0]
    """
    import threading
    from concurrent.futures import Future, ThreadPoolExecutor, as_completed

    todo = _checked_runs(runs)
    n_threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if threads is not None:
        n_threads = checks.whole("threads", threads, low=1)
    stop = threading.Event()
    began = time.perf_counter()
    finished = 0

    with reporting(progress, "runs") as report:
        results: list[Result | None] = [None] * len(todo)

        def take(rows: list[int], made: list[Result]) -> None:
            nonlocal finished
            for row, result in zip(rows, made, strict=True):
                results[row] = result
                finished += 1
                if report is not None:
                    report(finished, len(todo), time.perf_counter() - began)

        with ThreadPoolExecutor(n_threads, thread_name_prefix="faultsim") as pool:
            try:
                compiled = [row for row, run in enumerate(todo) if not run.has_python]
                # A task costs as much as a short run, so with many runs threads take several at a time.
                chunk = max(1, min(16, len(compiled) // (8 * n_threads)))
                futures: dict[Future[list[Result]], list[int]] = {}
                for first in range(0, len(compiled), chunk):
                    rows = compiled[first : first + chunk]
                    futures[pool.submit(_to_the_end, [todo[row] for row in rows], stop)] = rows
                for row, run in enumerate(todo):
                    if run.has_python:
                        take([row], _to_the_end([run], stop))
                for future in as_completed(futures):
                    take(futures[future], future.result())
            except BaseException:
                stop.set()  # the threads look at it between two slices
                pool.shutdown(wait=True, cancel_futures=True)
                raise
    made = [result for result in results if result is not None]
    if is_heard():
        tell(made)
    return made


def _to_the_end(runs: list[Run], stop: "Event") -> list[Result]:
    results = []
    for run in runs:
        if stop.is_set():
            raise Stopped
        execution = Execution(run, to_the_end=True)
        execution.go_on(stop=stop.is_set)
        results.append(execution.result())
    return results


def _checked_runs(runs: Iterable[Run]) -> Sequence[Run]:
    if isinstance(runs, Run):
        raise OptionError("simulate_many takes several Run objects, in a list, got one")
    todo = list(runs)
    for row, run in enumerate(todo):
        if not isinstance(run, Run):
            raise OptionError(f"simulate_many takes Run objects, item {row} is {checks.shown(run)}")
    return todo
