"""Where batches of tasks run: threads of this process, processes, or any executor of `concurrent.futures`."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)

from faultsim.sweep.importable import by_value, lacking
from faultsim.sweep.tasks import Task
from faultsim.sweep.wanted import Wanted
from faultsim.sweep.worker import Done, do, do_packed


def cores() -> int:
    """As many as this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Pool:
    """A place where batches run.

    Attributes
    ----------
    workers : int
    window : int
        Batches that may be in progress at once.
    target : float
        Seconds that a batch should take.
    """

    workers: int = 1
    target: float = 0.5
    #: Hint if workers die repeatedly.
    advice = "is there enough memory?"
    #: Raised by a batch whose worker died.
    lost: tuple[type[BaseException], ...] = (BrokenExecutor, CancelledError)

    @property
    def window(self) -> int:
        """Batches that may be in progress at once."""
        return 2 * self.workers

    def prepare(self, things: Mapping[str, object]) -> None:
        """Before any work: whether the workers can have the caller's policies and metrics, by what they are called."""

    def submit(self, tasks: Sequence[Task], wanted: Wanted) -> "Future[Done]":
        """Begin a batch."""
        raise NotImplementedError

    def stop(self, futures: Iterable["Future[Done]"]) -> None:
        """End at once: skip what has not begun, tell what runs to stop, and wait for it for less than a second."""
        futures = list(futures)
        for future in futures:
            future.cancel()
        wait(futures, timeout=0.5)

    def renew(self) -> None:
        """A worker died with a batch: be ready to send it again."""

    def revive(self) -> bool:
        """Be ready again after all workers died; False if impossible."""
        return False

    def close(self) -> None:
        """Release the workers; nothing is in progress."""


class Threads(Pool):
    """Threads of this process; the engine releases the global interpreter lock."""

    target = 0.1

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._stop = threading.Event()
        self._executor = ThreadPoolExecutor(workers, thread_name_prefix="faultsim")

    def submit(self, tasks: Sequence[Task], wanted: Wanted) -> "Future[Done]":
        """Begin a batch."""
        return self._executor.submit(do, [task.run for task in tasks], wanted, self._stop)

    def stop(self, futures: Iterable["Future[Done]"]) -> None:
        """The threads check the event between two slices of a run, and return what they have."""
        self._stop.set()
        super().stop(futures)
        self._executor.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Release the threads."""
        self._executor.shutdown(wait=True)


class Processes(Pool):
    """Processes of this machine, for policies written in Python, which hold the global interpreter lock."""

    advice = (
        "is there enough memory, does the script start its work below if __name__ == '__main__':, and are its policies "
        "classes of a module, or of the script above that line?"
    )

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._executor = self._fresh()
        self._dumps: Callable[[object], bytes] | None = None

    def _fresh(self) -> ProcessPoolExecutor:
        # Spawned, not forked: a fork copies locks that other threads hold.
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self.workers, mp_context=context, initializer=_begin_worker)

    def prepare(self, things: Mapping[str, object]) -> None:
        """How the processes get what they do not find by its name.

        Raises
        ------
        WorkerError
            For what they cannot have; they would die of it, one after another.
        """
        self._dumps = by_value(things, self._missing)

    def _missing(self, names: list[str]) -> list[str]:
        try:
            return self._executor.submit(lacking, names).result()
        except BrokenExecutor:  # which is not for want of a class: the batch will say it
            self.revive()
            return []

    def submit(self, tasks: Sequence[Task], wanted: Wanted) -> "Future[Done]":
        """Begin a batch; an input shared by its runs is sent once."""
        return _sent(self._executor, tasks, wanted, self._dumps)

    def stop(self, futures: Iterable["Future[Done]"]) -> None:
        """Processes cannot be told to stop: they are terminated, with the batches that they work on."""
        futures = list(futures)
        processes = list((getattr(self._executor, "_processes", None) or {}).values())
        try:
            wait(futures, timeout=0.1)
        finally:  # also if Ctrl-C is pressed again meanwhile
            # Nothing is cancelled before: the executor's own thread fails at a cancelled future when its processes are
            # gone, and leaves the pipe open into which it still writes a batch, for which Python waits at its end.
            for process in processes:
                process.kill()
        wait(futures, timeout=0.4)
        self._abandon()

    def revive(self) -> bool:
        """New processes in place of dead ones."""
        self._abandon()
        self._executor = self._fresh()
        return True

    def _abandon(self) -> None:
        """Leave an executor whose processes are dead."""
        thread = getattr(self._executor, "_executor_manager_thread", None)
        queue = getattr(self._executor, "_call_queue", None)
        self._executor.shutdown(wait=False, cancel_futures=True)
        # Before Python 3.11.5 its thread waits for ever where a batch is on its way into the pipe that the processes
        # read, and Python waits for the thread when it ends (CPython issue 94777): nobody shall seem to read it.
        if thread is not None and queue is not None:
            thread.join(0.2)
            if thread.is_alive():
                queue._reader.close()

    def close(self) -> None:
        """Release the processes."""
        self._executor.shutdown(wait=True)


def _begin_worker() -> None:
    """Ctrl-C is for the driving process, which ends the others; and they end with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    driver = multiprocessing.parent_process()
    if driver is not None:
        threading.Thread(target=_end_with, args=(driver,), daemon=True).start()


def _end_with(driver: multiprocessing.process.BaseProcess) -> None:
    """Wait for the end of the driving process, which a killed one tells nobody, and end at once."""
    # What tells of it is a pipe that the driver holds.  Who was forked from the driver may hold it too.
    while os.getppid() == driver.pid and driver.is_alive():
        driver.join(1.0)
    os._exit(1)


class Futures(Pool):
    """Any `concurrent.futures.Executor`, which remains the caller's: mpi4py.futures, or your own pool."""

    def __init__(self, executor: Executor, workers: int) -> None:
        self.workers = workers
        self._executor = executor
        self._dumps: Callable[[object], bytes] | None = None

    def prepare(self, things: Mapping[str, object]) -> None:
        """As `Processes`, for an executor that is known to have processes."""
        if isinstance(self._executor, ProcessPoolExecutor):
            self._dumps = by_value(things, self._missing)

    def _missing(self, names: list[str]) -> list[str]:
        try:
            return self._executor.submit(lacking, names).result()
        except BrokenExecutor:
            return []

    def submit(self, tasks: Sequence[Task], wanted: Wanted) -> "Future[Done]":
        """Begin a batch."""
        return _sent(self._executor, tasks, wanted, self._dumps)

    def close(self) -> None:
        """Does nothing: it is the caller's."""


def _sent(
    executor: Executor, tasks: Sequence[Task], wanted: Wanted, dumps: Callable[[object], bytes] | None
) -> "Future[Done]":
    """A batch on its way to another process, by value if `dumps` says how."""
    runs = [task.run for task in tasks]
    if dumps is None:
        return executor.submit(do, runs, wanted)
    return executor.submit(do_packed, dumps((runs, wanted)))


def now() -> float:
    """Seconds of a monotonic clock."""
    return time.monotonic()
