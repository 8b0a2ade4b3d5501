"""Where batches of tasks run: threads of this process, processes, or any executor of `concurrent.futures`."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)

from faultsim.errors import WorkerError
from faultsim.policies.registry import KINDS
from faultsim.sweep.importable import advice, lacking, of_main
from faultsim.sweep.tasks import Task
from faultsim.sweep.worker import Done, do

Cut = tuple[float, float]
#: Options of a run that are policies.
_POLICIES = tuple(kind for kind, row in KINDS.items() if row.option)


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

    def submit(self, tasks: Sequence[Task], cut: Cut) -> "Future[Done]":
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

    def submit(self, tasks: Sequence[Task], cut: Cut) -> "Future[Done]":
        """Begin a batch."""
        return self._executor.submit(do, [task.run for task in tasks], cut, self._stop)

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
        self._known: set[str] = set()  # what the processes have of the main program

    def _fresh(self) -> ProcessPoolExecutor:
        # Spawned, not forked: a fork copies locks that other threads hold.
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self.workers, mp_context=context, initializer=_quiet)

    def submit(self, tasks: Sequence[Task], cut: Cut) -> "Future[Done]":
        """Begin a batch; an input shared by its runs is sent once.

        Raises
        ------
        WorkerError
            For a policy whose class other processes do not find; they would die of it, one after another.
        """
        self._refuse_unknown([getattr(task.run, kind) for task in tasks for kind in _POLICIES])
        return self._executor.submit(do, [task.run for task in tasks], cut)

    def _refuse_unknown(self, policies: Iterable[object]) -> None:
        names = [name for name in of_main(policies) if name not in self._known]
        if not names:
            return
        try:
            missing = self._executor.submit(lacking, names).result()
        except BrokenExecutor:  # which is not for want of a class: the batch will say it
            missing = []
            self.revive()
        for name in missing:
            raise WorkerError(f"a policy needs {name}, which other processes do not find: {advice()}")
        self._known.update(names)

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


def _quiet() -> None:
    """Ctrl-C is for the driving process, which ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class Futures(Pool):
    """Any `concurrent.futures.Executor`, which remains the caller's: mpi4py.futures, or your own pool."""

    def __init__(self, executor: Executor, workers: int) -> None:
        self.workers = workers
        self._executor = executor

    def submit(self, tasks: Sequence[Task], cut: Cut) -> "Future[Done]":
        """Begin a batch."""
        return self._executor.submit(do, [task.run for task in tasks], cut)

    def close(self) -> None:
        """Does nothing: it is the caller's."""


def now() -> float:
    """Seconds of a monotonic clock."""
    return time.monotonic()
